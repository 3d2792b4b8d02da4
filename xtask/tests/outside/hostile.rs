//! Servers that lie, stall, flood and break, all in one crawl with a good one.
//!
//! Every hostile URL must end as a recorded outcome within its limits, the memory must stay inside
//! its setting, and the good host must not notice: it is crawled alone first, to compare with.

use crate::certificates::Authority;
use crate::rig::{CRAWL_LIMIT, Rig, summary};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process;

const GOOD_PAGES: usize = 300;
const MEMORY: u64 = 256_000_000;
const PAGE_LIMIT: Duration = Duration::from_secs(3);
/// An attempt may take a little longer than its limit to be noticed on a busy machine.
const LONGEST: Duration = Duration::from_secs(5);
const LINKS: usize = 100_000;
const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

/// What a hostile host does with every page, and how that may be recorded.
struct Case {
    name: &'static str,
    outcomes: &'static [&'static str],
    answer: Box<dyn Fn(&Asked) -> Answer + Send + Sync>,
}

fn case(
    name: &'static str,
    outcomes: &'static [&'static str],
    answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static,
) -> Case {
    Case { name, outcomes, answer: Box::new(answer) }
}

/// A case that writes bytes and closes.
fn bytes(
    name: &'static str,
    outcomes: &'static [&'static str],
    parts: &'static [&'static [u8]],
) -> Case {
    case(name, outcomes, move |_| Answer::wild(move |stream| stream.write_all(&parts.concat())))
}

/// Writes a piece for ever, with a pause after each.
fn for_ever(stream: &mut TcpStream, head: &[u8], piece: &[u8], pause: Duration) -> io::Result<()> {
    stream.write_all(head)?;
    loop {
        stream.write_all(piece)?;
        std::thread::sleep(pause);
    }
}

const NO_PAUSE: Duration = Duration::ZERO;
const DRIP: Duration = Duration::from_millis(100);
const LATE: &[&str] = &["timed-out"];
const LOST: &[&str] = &["connection-lost"];
const BAD: &[&str] = &["bad-response"];
const BROKEN: &[&str] = &["bad-response", "connection-lost"];
const LARGE: &[&str] = &["too-large"];
const FETCHED: &[&str] = &["fetched"];

/// All of them; `bomb` is a piece of a gzip stream that unpacks to ten million zeros.
fn cases(bomb: Vec<u8>) -> Vec<Case> {
    let bomb = Arc::new(bomb);
    let mut cases = silent_and_slow();
    cases.extend(broken());
    cases.extend(vec![
        case("endless body", &["too-large", "timed-out"], |_| {
            Answer::wild(|s| for_ever(s, &[OK, b"\r\n"].concat(), &[b'x'; 65_536], NO_PAUSE))
        }),
        case("endless chunks", &["too-large", "timed-out"], |_| {
            let head = [OK, b"Transfer-Encoding: chunked\r\n\r\n"].concat();
            let piece = [&b"8000\r\n"[..], &[b'y'; 0x8000], b"\r\n"].concat();
            Answer::wild(move |stream| for_ever(stream, &head, &piece, NO_PAUSE))
        }),
        case("endless headers", &["bad-response", "too-large"], |_| {
            Answer::wild(|s| for_ever(s, OK, b"X-More: and more and more\r\n", NO_PAUSE))
        }),
        case("one endless header", &["bad-response", "too-large"], |_| {
            let head = [OK, b"X-More: "].concat();
            Answer::wild(move |stream| for_ever(stream, &head, &[b'z'; 4096], NO_PAUSE))
        }),
        case("endless informational answers", &["bad-response", "timed-out"], |_| {
            Answer::wild(|s| for_ever(s, b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", NO_PAUSE))
        }),
        // Ten gigabytes of zeros in ten megabytes.
        case("gzip bomb", LARGE, move |_| {
            let bomb = bomb.clone();
            Answer::wild(move |stream| {
                let length = 10 + bomb.len() * 1000;
                let more = format!("Content-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
                stream.write_all(&[OK, more.as_bytes()].concat())?;
                stream.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])?;
                (0..1000).try_for_each(|_| stream.write_all(&bomb))
            })
        }),
        case("redirects in a circle", &["redirect"], |asked| {
            Answer::to(if asked.path == "/" { "/round" } else { "/" })
        }),
        case("a redirect to itself", &["redirect"], |_| Answer::to("/")),
        case("redirects without end", &["redirect"], |asked| {
            let number: usize = asked.path.trim_matches('/').parse().unwrap_or(0);
            Answer::to(&format!("/{}", number + 1))
        }),
        case("a wrong charset", FETCHED, |_| {
            let bytes = b"<title>\xe4\xf6\xfc \xff\xfe\xc3</title><p>\x80\x81 \xed\xa0\x80 text";
            Answer::of("text/html; charset=utf-32-made-up", bytes.to_vec())
        }),
        // They lie deeper than is allowed: met, not followed.
        case("a hundred thousand links", FETCHED, |asked| match asked.path.as_str() {
            "/" => page("door", ["/many"]),
            _ => page("many", (0..LINKS).map(|n| format!("/l/{n}"))),
        }),
        case("ten megabytes on one line", FETCHED, |_| {
            let text = "word <b>and</b> more &amp; ".repeat(10_000_000 / 25);
            Answer::html(format!("<title>one line</title><p>{text}"))
        }),
        case("ten megabytes of open tags", FETCHED, |_| {
            Answer::html("<div class=deep>".repeat(10_000_000 / 16))
        }),
    ]);
    cases
}

fn silent_and_slow() -> Vec<Case> {
    vec![
        case("never answers", LATE, |_| {
            Answer::wild(|_| {
                std::thread::sleep(Duration::from_secs(20));
                Ok(())
            })
        }),
        case("drips its body", LATE, |_| {
            let head = [OK, b"Content-Length: 100000\r\n\r\n"].concat();
            Answer::wild(move |stream| for_ever(stream, &head, b"a", DRIP))
        }),
        case("drips its headers", LATE, |_| Answer::wild(|s| for_ever(s, OK, b"X", DRIP))),
        case("drips its chunks", LATE, |_| {
            let head = [OK, b"Transfer-Encoding: chunked\r\n\r\n"].concat();
            Answer::wild(move |stream| for_ever(stream, &head, b"1\r\na\r\n", DRIP))
        }),
    ]
}

fn broken() -> Vec<Case> {
    vec![
        case("resets before the answer", LOST, |_| Answer::Reset(Vec::new())),
        case("resets inside the body", LOST, |_| {
            Answer::Reset([OK, b"Content-Length: 1000\r\n\r\nhalf"].concat())
        }),
        bytes("closes without a word", LOST, &[]),
        bytes("is shorter than it says", LOST, &[OK, b"Content-Length: 999\r\n\r\nshort"]),
        bytes("breaks off inside a chunk", BROKEN, &[OK, CHUNKED, b"ff\r\nshort"]),
        bytes("has no last chunk", BROKEN, &[OK, CHUNKED, b"5\r\nshort\r\n"]),
        bytes("has a chunk of no number", BROKEN, &[OK, CHUNKED, b"zz\r\nshort\r\n0\r\n\r\n"]),
        bytes(
            "has a chunk of a huge number",
            BROKEN,
            &[OK, CHUNKED, b"ffffffffffffffffff\r\nshort\r\n0\r\n\r\n"],
        ),
        bytes(
            "has a chunk without its end",
            BROKEN,
            &[OK, CHUNKED, b"5\r\nshortandmore\r\n0\r\n\r\n"],
        ),
        bytes("has a length of no number", BAD, &[OK, b"Content-Length: some\r\n\r\nbody"]),
        bytes("has a negative length", BAD, &[OK, b"Content-Length: -5\r\n\r\nbody"]),
        bytes(
            "has two lengths",
            BAD,
            &[OK, b"Content-Length: 3\r\nContent-Length: 7\r\n\r\nbodybod"],
        ),
        bytes("promises an exabyte", &["too-large", "connection-lost"], &[OK, EXABYTE]),
        bytes("is longer than it says", FETCHED, &[OK, b"Content-Length: 4\r\n\r\nbody and more"]),
        bytes("does not speak HTTP", BAD, &[b"220 mail.example ESMTP ready\r\n"]),
        bytes("sends noise", BAD, &[&[0, 255, 22, 3, 1, 13, 10, 13, 10, 7, 8, 9]]),
        bytes("has a strange status", BAD, &[b"HTTP/1.1 99999 What\r\n\r\n"]),
        bytes(
            "is not the gzip it says",
            &["bad-encoding"],
            &[OK, b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain"],
        ),
        bytes(
            "redirects to nonsense",
            &["bad-redirect"],
            &[b"HTTP/1.1 302 Go\r\nLocation: http://[broken\r\nContent-Length: 0\r\n\r\n"],
        ),
        bytes(
            "redirects nowhere",
            &["bad-redirect"],
            &[b"HTTP/1.1 302 Go\r\nContent-Length: 0\r\n\r\n"],
        ),
    ]
}

const CHUNKED: &[u8] = b"Transfer-Encoding: chunked\r\n\r\n";
const EXABYTE: &[u8] = b"Content-Length: 1000000000000000000\r\n\r\nbegins well";

/// A name, a URL, and how it may be recorded.
type Listed = (&'static str, String, &'static [&'static str]);

/// A port each for three certificates that must not be accepted, and one that must.
fn tls(rig: &Rig) -> Result<(Nginx, Vec<Listed>)> {
    let authority = Authority::new(&rig.dir)?;
    authority.sign("fine", "IP:127.0.2.50", 2020..2045)?;
    authority.sign("expired", "IP:127.0.2.50", 2020..2022)?;
    authority.sign("other", "DNS:elsewhere.test,IP:127.0.0.9", 2020..2045)?;
    authority.self_signed("selfmade", "IP:127.0.2.50")?;
    let root = rig.folder("tls-site")?;
    std::fs::write(root.join("index.html"), "<title>Behind TLS</title>")?;
    let (mut settings, mut urls) = (String::new(), Vec::new());
    for name in ["fine", "expired", "other", "selfmade"] {
        let port = TcpListener::bind("127.0.2.50:0")?.local_addr()?.port();
        let outcomes: &[&str] = if name == "fine" { FETCHED } else { &["tls-failed"] };
        urls.push((name, format!("https://127.0.2.50:{port}/"), outcomes));
        // Another server block: the last one is closed by the rest of the configuration.
        settings.push_str(&format!(
            "}} server {{ listen 127.0.2.50:{port} ssl; root \"{}\"; {}",
            root.display(),
            authority.nginx(name)
        ));
    }
    Ok((Nginx::serve(&root, &rig.dir, &settings)?, urls))
}

/// A piece of a deflate stream, ten million zeros long, that can be repeated at will.
fn bomb(rig: &Rig) -> Result<Vec<u8>> {
    let script = "import sys, zlib\n\
        c = zlib.compressobj(9, zlib.DEFLATED, -15)\n\
        sys.stdout.buffer.write(c.compress(bytes(10000000)) + c.flush(zlib.Z_FULL_FLUSH))\n";
    let mut python = Command::new("python3");
    let done = process::run(python.args(["-c", script]), &rig.dir, "bomb", CRAWL_LIMIT)?.ok()?;
    std::fs::read(&done.out).context("read the bomb")
}

#[test]
fn hostile_servers_end_as_recorded_outcomes_and_slow_nobody_down() -> Result<()> {
    let Some(rig) = Rig::new("hostile", &["python3", "nginx", "openssl"])? else { return Ok(()) };
    let cases = Arc::new(cases(bomb(&rig)?));
    let (_nginx, tls) = tls(&rig)?;
    let good = Watched::start(&[loopback(1)], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("good", (1..GOOD_PAGES).map(|n| format!("/{n}"))),
        path => page(path, ["/"]),
    })?;
    let addresses = (0..cases.len() as u8).map(|n| IpAddr::V4(Ipv4Addr::new(127, 0, 4, n + 1)));
    let served = cases.clone();
    let hostile =
        Watched::start(&addresses.collect::<Vec<_>>(), move |asked| match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            _ => (served[asked.host].answer)(asked),
        })?;
    let trust = format!("fetch.extra_ca={}", rig.dir.join("ca.pem").display());
    let mut settings = vec!["--allow-private", "--delay", "10ms", "--connections", "100"];
    settings.extend(["--max-depth", "1", "--set", "fetch.page_timeout=3s"]);
    settings.extend(["--set", "fetch.connect_timeout=2s", "--set", "crawl.retries=0"]);
    settings.extend(["--set", "fetch.max_body=20MB", "--set", "fetch.max_decoded=50MB"]);
    settings.extend(["--set", "store.memory=256MB", "--set", "crawl.backoff=100ms"]);
    settings.extend(["--set", "crawl.address_gap=0s", "--set", &trust]);

    let begin = Instant::now();
    rig.crawl_plain("alone", &[&settings[..], &[&good.url(0, "/")]].concat())?;
    let alone = begin.elapsed();
    good.saw_exactly(0, paths_of_good())?;
    let before = good.seen(0).len();

    let starts = hostile.starts();
    let mut args = settings;
    args.extend(starts.iter().map(String::as_str));
    args.extend(tls.iter().map(|(_, url, _)| url.as_str()));
    let start = good.url(0, "/");
    args.push(&start);
    let begin = Instant::now();
    let done = rig.start_plain("data", &args)?.wait(CRAWL_LIMIT)?.ok().context("crawl")?;
    summary(&done)?;

    // The good host did not notice.
    let among = good.seen(0).last().context("a request")?.arrived - begin;
    ensure!(good.seen(0).len() == 2 * before, "the good host was not crawled whole");
    ensure!(
        among <= alone * 3 + Duration::from_secs(2),
        "the good host took {among:?} among hostile ones and {alone:?} alone"
    );
    // Nor did the memory.
    let peak_mb = done.peak_anon / 1_000_000;
    ensure!(done.peak_anon > 0, "the crawl's memory was never seen");
    ensure!(done.peak_anon <= MEMORY, "{peak_mb} MB of anonymous memory, more than 256");
    // Everything has an outcome.
    let recorded = rig.outcomes("data")?;
    let mut wrong = Vec::new();
    let named = cases.iter().zip(&starts).map(|(case, url)| (case.name, url, case.outcomes));
    for (name, url, outcomes) in named.chain(tls.iter().map(|(n, url, o)| (*n, url, *o))) {
        match recorded.get(url) {
            Some(last) if outcomes.contains(&last.outcome.as_str()) => {}
            other => wrong.push(format!("{name}: {other:?} instead of {outcomes:?}")),
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    let slow = rig.crawl_log("data")?.into_iter();
    let slow: Vec<_> = slow.filter(|line| u128::from(line.ms) > LONGEST.as_millis()).collect();
    ensure!(slow.is_empty(), "attempts longer than {PAGE_LIMIT:?}: {slow:?}");

    let host_of = |name: &str| cases.iter().position(|case| case.name == name).context("a case");
    let links = host_of("a hundred thousand links")?;
    hostile.saw_exactly(links, ["/robots.txt", "/", "/many"])?;
    let row = rig.doc("data", &hostile.url(links, "/many"))?;
    ensure!(row["outcome"] == "fetched", "a hundred thousand links: {row}");
    let row = rig.doc("data", &hostile.url(host_of("gzip bomb")?, "/"))?;
    ensure!(row["outcome"] == "too-large", "the bomb: {row}");
    let chain = hostile.seen(host_of("redirects without end")?).len();
    ensure!((11..=13).contains(&chain), "{chain} requests along redirects without end");
    let circle = hostile.seen(host_of("redirects in a circle")?).len();
    ensure!(circle == 3, "{circle} requests around a circle of two");
    let ends = recorded.values().filter(|line| line.outcome == "bad-redirect");
    ensure!(ends.count() == 3, "the end of the redirects is not in the log");
    rig.verify("data")
}

fn paths_of_good() -> Vec<String> {
    let others = (1..GOOD_PAGES).map(|n| format!("/{n}"));
    ["/".to_string(), "/robots.txt".to_string()].into_iter().chain(others).collect()
}
