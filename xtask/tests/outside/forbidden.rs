//! No request leaves for an address that is nobody's business, however it is written, whoever
//! leads there and whatever a name server says meanwhile.
//!
//! On loopback every address is forbidden, so the direct ways in are tried there. The ways that
//! need an allowed server first (redirects, names that change, robots.txt and sitemaps elsewhere)
//! are tried in a network of their own, where every address leads back to the test and nothing can
//! leave: the test starts itself again inside `unshare --net`.

use crate::nameserver::{NameServer, Said};
use crate::rig::{Attempt, Rig, count, skip};
use crate::watched::{Answer, Watched, loopback, page, thread};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use xtask::process;

/// A listener that only counts who comes.
struct Trap {
    port: u16,
    caught: Arc<Mutex<Vec<String>>>,
}

impl Trap {
    /// Everywhere on this machine, over both families.
    fn set() -> Result<Trap> {
        let listener = TcpListener::bind("[::]:0").context("bind all addresses")?;
        let port = listener.local_addr()?.port();
        let caught = Arc::new(Mutex::new(Vec::new()));
        let list = caught.clone();
        thread(move || {
            for stream in listener.incoming().flatten() {
                let at = stream.local_addr().map_or_else(|e| e.to_string(), |at| at.to_string());
                list.lock().unwrap_or_else(PoisonError::into_inner).push(at);
            }
        });
        Ok(Trap { port, caught })
    }

    fn caught(&self) -> Vec<String> {
        self.caught.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Hosts that are loopback, private or link-local, as somebody might write them.
const FORBIDDEN: &[&str] = &[
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0.0.0.0",
    "localhost",
    "sub.localhost",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
];

/// How many different hosts these are.
const DIFFERENT: usize = 16;

/// Every attempt was refused before anything left.
fn all_forbidden<'a>(mut attempts: impl Iterator<Item = &'a Attempt>) -> Result<()> {
    match attempts.find(|attempt| attempt.outcome != "forbidden-address") {
        Some(attempt) => anyhow::bail!("not refused: {attempt:?}"),
        None => Ok(()),
    }
}

#[test]
fn without_leave_no_connection_is_made_to_a_private_address() -> Result<()> {
    let Some(rig) = Rig::new("forbidden", &[])? else { return Ok(()) };
    let trap = Trap::set()?;
    let port = trap.port;
    // The name server says what an attacker's would, from the start and for no time at all.
    let names = NameServer::start(|question, _| match question.name.as_str() {
        "all.test" => Said::Addresses(vec![[127, 0, 0, 1].into(), Ipv6Addr::LOCALHOST.into()], 0),
        "mapped.test" => Said::Addresses(vec![Ipv4Addr::LOCALHOST.to_ipv6_mapped().into()], 0),
        _ => Said::Addresses(vec![[127, 0, 0, 1].into()], 0),
    })?;
    let named = ["all.test", "mapped.test", "other.test", "evil.test"];
    let urls: Vec<String> = FORBIDDEN
        .iter()
        .chain(&named)
        .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:{port}/")))
        .collect();
    let dns = names.setting();
    let mut args = vec!["--delay", "0s", "--set", &dns, "--set", "crawl.retries=0"];
    args.extend(["--set", "fetch.hosts=evil.test=127.0.0.1"]);
    args.extend(urls.iter().map(String::as_str));
    let told = rig.crawl_plain("data", &args)?;
    ensure!(count(&told, "fetched")? == 0, "something was fetched: {told}");
    let outcomes = rig.outcomes("data")?;
    all_forbidden(outcomes.values())?;
    for url in urls.iter().step_by(7) {
        let row = rig.doc("data", url)?;
        ensure!(row["outcome"] == "forbidden-address", "{url}: doc says {row}");
    }
    ensure!(trap.caught().is_empty(), "connections were made to {:?}", trap.caught());
    ensure!(!names.asked("all.test").is_empty(), "the name server was not asked");
    ensure!(names.asked("evil.test").is_empty(), "a name given in the settings was asked for");
    ensure!(names.asked("localhost").is_empty(), "localhost is no question for a name server");

    // The same URLs with leave: the trap does catch what comes.
    let mut args = vec!["--allow-private", "--delay", "0s", "--set", &dns];
    args.extend(["--set", "crawl.retries=0", "--set", "fetch.connect_timeout=500ms"]);
    args.extend(["--set", "fetch.page_timeout=500ms"]);
    let direct = format!("http://127.0.0.1:{port}/");
    args.push(&direct);
    rig.crawl_plain("allowed", &args)?;
    ensure!(!trap.caught().is_empty(), "the trap does not work");
    Ok(())
}

#[test]
fn a_proxy_is_never_asked_for_a_private_address() -> Result<()> {
    let Some(rig) = Rig::new("forbidden-proxy", &[])? else { return Ok(()) };
    let trap = Trap::set()?;
    let port = trap.port;
    let list: Vec<String> = FORBIDDEN.iter().map(|host| format!("http://{host}:{port}/")).collect();
    let linked = list.clone();
    // It plays the whole web: whatever it is asked for, it answers itself.
    let proxy = Watched::start(&[loopback(1)], move |asked| {
        let path = asked.path.strip_prefix("http://11.0.0.1").unwrap_or("elsewhere");
        match path {
            "/robots.txt" => Answer::status(404),
            "/" => {
                let jumps = (0..linked.len()).map(|n| format!("/jump/{n}"));
                page("index", jumps.chain(linked.iter().cloned()))
            }
            _ => match path.strip_prefix("/jump/").and_then(|n| n.parse::<usize>().ok()) {
                Some(number) => Answer::to(&format!("{}jumped", linked[number])),
                None => page(path, ["/"]),
            },
        }
    })?;
    let through = format!("fetch.proxy=http://{}", proxy.address(0));
    let names = NameServer::start(|_, _| Said::Addresses(vec![[127, 0, 0, 1].into()], 0))?;
    let (dns, named) = (names.setting(), format!("http://inside.test:{port}/"));
    let mut args = vec!["--delay", "0s", "--scope", "any", "--set", &through, "--set", &dns];
    args.extend(["--set", "crawl.retries=0", "http://11.0.0.1/", &named]);
    rig.crawl_plain("data", &args)?;

    let asked = proxy.paths(0);
    ensure!(asked.contains_key("http://11.0.0.1/"), "the proxy was not used: {asked:?}");
    let forbidden: Vec<_> = asked.keys().filter(|p| !p.starts_with("http://11.0.0.1/")).collect();
    ensure!(forbidden.is_empty(), "the proxy was asked for {forbidden:?}");
    ensure!(trap.caught().is_empty(), "connections were made to {:?}", trap.caught());
    let outcomes = rig.outcomes("data")?;
    let elsewhere = outcomes.values().filter(|line| !line.url.starts_with("http://11.0.0.1/"));
    all_forbidden(elsewhere.clone())?;
    let jumped = elsewhere.clone().filter(|line| line.url.ends_with("/jumped")).count();
    ensure!(jumped == DIFFERENT, "{jumped} redirects to {DIFFERENT} places are in the log");
    ensure!(outcomes.contains_key(&named), "a name with a private address is not in the log");

    // A tunnel is not asked for either.
    let tunnels = Arc::new(Mutex::new(Vec::<String>::new()));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let through = format!("fetch.proxy=http://{}", listener.local_addr()?);
    let list = tunnels.clone();
    thread(move || {
        for mut stream in listener.incoming().flatten() {
            let mut line = String::new();
            let _ = BufReader::new(&stream).read_line(&mut line);
            list.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            let _ = stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let mut args = vec!["--delay", "0s", "--set", &through, "--set", "crawl.retries=0"];
    let private = format!("https://127.0.0.1:{port}/");
    args.extend([private.as_str(), "https://[::1]/", "https://11.0.0.1/"]);
    rig.crawl_plain("tunnels", &args)?;
    let tunnels = tunnels.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ensure!(tunnels.iter().any(|line| line.starts_with("CONNECT 11.0.0.1:443")), "{tunnels:?}");
    let private: Vec<_> = tunnels.iter().filter(|line| !line.contains("11.0.0.1")).collect();
    ensure!(private.is_empty(), "tunnels were asked for: {private:?}");
    Ok(())
}

const INSIDE: &str = "ARGIOPE_CLOSED_NETWORK";
const NAME: &str = "forbidden::redirects_and_names_that_change_lead_nowhere_private";

#[test]
fn redirects_and_names_that_change_lead_nowhere_private() -> Result<()> {
    if std::env::var_os(INSIDE).is_some() {
        return inside();
    }
    let name = "closed-network";
    let Some(rig) = Rig::new(name, &["unshare", "ip", "sh"])? else { return Ok(()) };
    // Every address is this machine's, and there is no way out of it.
    let network = "ip link set lo up && ip route add local 0.0.0.0/0 dev lo";
    let closed = |script: &str| {
        let mut command = Command::new("unshare");
        let root = if xtask::tools::is_root() { "--net" } else { "--map-root-user" };
        command.args([root, "--net", "sh", "-c", &format!("{network} && {script}")]);
        command
    };
    if let Err(error) = process::output(&mut closed("true")) {
        return skip(name, &format!("no network of its own: {error:#}"));
    }
    let mut command = closed("exec \"$0\" \"$@\"");
    command.arg(std::env::current_exe()?).args(["--exact", NAME, "--nocapture"]).env(INSIDE, "1");
    let done = process::run(&mut command, &rig.dir, "inside", Duration::from_secs(180))?;
    let told = format!("{}\n{}", done.out_text(), done.err);
    ensure!(done.code == Some(0) && told.contains("1 passed"), "inside:\n{told}");
    Ok(())
}

/// In a network where every address leads here.
fn inside() -> Result<()> {
    let Some(rig) = Rig::new("closed-network-inside", &[])? else { return Ok(()) };
    let trap = Trap::set()?;
    let port = trap.port;
    let (public, public2) = (Ipv4Addr::new(11, 0, 0, 1), Ipv4Addr::new(11, 0, 0, 2));
    let v4: Vec<String> = FORBIDDEN.iter().map(|host| format!("http://{host}:{port}/")).collect();
    let linked = v4.clone();
    let allowed = Watched::start(&[public.into(), public2.into()], move |asked| {
        match (asked.host, asked.path.as_str()) {
            (0, "/robots.txt") => {
                Answer::text(format!("Sitemap: http://127.0.0.1:{port}/sitemap.xml\n"))
            }
            (_, "/robots.txt") => Answer::to(&format!("http://10.1.2.3:{port}/robots.txt")),
            (0, "/") => {
                let jumps = (0..linked.len()).map(|n| format!("/jump/{n}"));
                page("index", jumps.chain(linked.iter().cloned()).chain(["/hop".into()]))
            }
            // By way of another allowed host.
            (0, "/hop") => Answer::to(&format!("http://127.0.0.1:{port}/hopped")),
            (_, path) => match path.strip_prefix("/jump/").and_then(|n| n.parse::<usize>().ok()) {
                Some(number) => Answer::to(&format!("{}jumped", linked[number])),
                None => page(path, ["/"]),
            },
        }
    })?;

    // A name that is public when first asked for and loopback ever after; and one that is both at
    // once. The same port listens at both addresses.
    let names = NameServer::start(move |question, before| match question.name.as_str() {
        "both.test" => Said::Addresses(vec![[127, 0, 0, 1].into(), public.into()], 0),
        _ if before == 0 => Said::Addresses(vec![public.into()], 0),
        _ => Said::Addresses(vec![[127, 0, 0, 1].into()], 0),
    })?;
    let site = |asked: &crate::watched::Asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404).header("Connection: close"),
        "/" => page("index", (1..10).map(|n| format!("/{n}"))).header("Connection: close"),
        path => page(path, ["/"]).header("Connection: close"),
    };
    let outer = Watched::start(&[public.into()], site)?;
    let same = outer.address(0).port();
    let inner = Watched::start_at(&[SocketAddr::new(IpAddr::from([127, 0, 0, 1]), same)], site)?;
    let (dns, start) = (names.setting(), format!("http://change.test:{same}/"));
    let rest = ["--set", "crawl.retries=0", "--set", &dns, "--set", "crawl.backoff=100ms"];
    let rest = [&rest[..], &["--set", "crawl.give_up_after=1s"]].concat();
    let changing = [&["--delay", "5s", "--set", "crawl.address_gap=0s", &start], &rest[..]];
    let changing = rig.start_plain("changing", &changing.concat())?;

    let starts = allowed.starts();
    let both = format!("http://both.test:{same}/");
    let args = ["--delay", "0s", "--scope", "any", &starts[0], &starts[1], &both];
    rig.crawl_plain("data", &[&args[..], &rest[..]].concat())?;
    let row = rig.doc("data", &starts[0])?;
    ensure!(row["outcome"] == "fetched", "the allowed host was not crawled: {row}");
    allowed.saw_exactly(1, ["/robots.txt"])?;
    let row = rig.doc("data", &starts[1])?;
    ensure!(row["state"] != "fetched", "robots.txt lies in a private place: {row}");
    let outcomes = rig.outcomes("data")?;
    let trapped = outcomes.values().filter(|line| line.url.contains(&format!(":{port}/")));
    all_forbidden(trapped.clone())?;
    for path in ["/jumped", "/"] {
        let met = trapped.clone().filter(|line| line.url.ends_with(&format!(":{port}{path}")));
        let met = met.count();
        ensure!(met == DIFFERENT, "{met} of {DIFFERENT} places with {path} are in the log");
    }
    for path in ["hopped", "sitemap.xml"] {
        let there = outcomes.contains_key(&format!("http://127.0.0.1:{port}/{path}"));
        ensure!(there, "/{path} is not in the log");
    }
    let row = rig.doc("data", &both)?;
    ensure!(row["outcome"] == "fetched", "a name with one good address: {row}");
    ensure!(trap.caught().is_empty(), "connections were made to {:?}", trap.caught());

    let changed = changing.wait(Duration::from_secs(120))?.ok().context("the changing name")?;
    drop(changed);
    ensure!(names.asked("change.test").len() >= 4, "the name was not asked for again");
    ensure!(!outer.seen(0).is_empty(), "the name was never public");
    ensure!(inner.all().is_empty(), "the name led inside: {:?}", inner.paths(0));
    let log = rig.crawl_log("changing")?;
    let first = log.iter().filter(|line| line.outcome == "fetched").count();
    let then = log.iter().filter(|line| line.outcome == "forbidden-address").count();
    ensure!(first > 1 && then > 0, "{first} pages fetched, {then} refused after the change");
    Ok(())
}
