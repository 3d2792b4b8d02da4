//! Several workers, one crawl: nothing is lost, nothing is hurried, whoever is killed.
//!
//! A made-up web on many loopback addresses, each a site of its own, with links from every page to its
//! children and to its like on two other hosts. The server notes when each host was asked, so that the pauses are
//! seen from the other side. The store is a PostgreSQL of our own.
//!
//! Larger runs: `ARGIOPE_FLEET_PAGES=20000`, `ARGIOPE_FLEET_KILL_MS=1500`.

use crate::cluster::{CARELESS, Cluster, name_in};
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, count, knob, summary};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use xtask::process::{self, Running};

const HOSTS: usize = 64;
const DELAY: Duration = Duration::from_millis(300);
const LEASE: Duration = Duration::from_secs(3);
/// The clock of the one and the clock of the other count in milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);

/// One request as a host saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    path: String,
    pub began: Instant,
    ended: Instant,
}

pub struct Web {
    pub addresses: Arc<Vec<SocketAddr>>,
    seen: Arc<Mutex<BTreeMap<usize, Vec<Seen>>>>,
}

impl Web {
    pub fn start(hosts: usize, pages: usize) -> Result<Web> {
        let listeners: Vec<TcpListener> = (0..hosts)
            .map(|host| {
                let address = Ipv4Addr::new(127, 1, (host / 250) as u8, (host % 250 + 1) as u8);
                TcpListener::bind((address, 0)).context("bind a loopback address")
            })
            .collect::<Result<_>>()?;
        let addresses = listeners.iter().map(TcpListener::local_addr);
        let addresses: Vec<SocketAddr> = addresses.collect::<Result<_, _>>()?;
        let (addresses, seen) = (Arc::new(addresses), Arc::<Mutex<BTreeMap<_, _>>>::default());
        for (host, listener) in listeners.into_iter().enumerate() {
            let (addresses, seen) = (Arc::clone(&addresses), Arc::clone(&seen));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let (addresses, seen) = (Arc::clone(&addresses), Arc::clone(&seen));
                    std::thread::spawn(move || answer_all(&stream, host, pages, &addresses, &seen));
                }
            });
        }
        Ok(Web { addresses, seen })
    }

    pub fn start_url(&self) -> String {
        format!("http://{}/1", self.addresses[0])
    }

    pub fn seen(&self) -> BTreeMap<usize, Vec<Seen>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen.values_mut().for_each(|all| all.sort_by_key(|one| one.began));
        seen
    }
}

fn answer_all(
    stream: &TcpStream,
    host: usize,
    pages: usize,
    addresses: &[SocketAddr],
    seen: &Mutex<BTreeMap<usize, Vec<Seen>>>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    loop {
        let (mut path, mut line) = (String::new(), String::new());
        while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap_or("/").to_owned();
            }
            line.clear();
        }
        if path.is_empty() {
            return Ok(());
        }
        let began = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        let page = path.trim_start_matches('/').parse().ok().filter(|n| (1..=pages).contains(n));
        let (status, body) = match page {
            None => ("404 Not Found", "none".to_owned()),
            Some(page) => ("200 OK", body(host, page, pages, addresses)),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        // Noted before the answer leaves: whoever has it may ask again a delay later.
        let one = Seen { path, began, ended: Instant::now() };
        seen.lock().unwrap_or_else(PoisonError::into_inner).entry(host).or_default().push(one);
        (&*stream).write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    }
}

/// Every page is led to by its parent on the same host, and by its like on another.
fn body(host: usize, page: usize, pages: usize, addresses: &[SocketAddr]) -> String {
    let children =
        |n: usize, most: usize| [2 * n, 2 * n + 1].into_iter().filter(move |c| *c <= most);
    let mut text = format!("<title>Page {page} of host {host}</title>\n");
    children(page, pages).for_each(|child| text += &format!("<a href=\"/{child}\">{child}</a>\n"));
    for child in children(host + 1, addresses.len()) {
        text += &format!("<a href=\"http://{}/{page}\">next door</a>\n", addresses[child - 1]);
    }
    text
}

/// Workers that share a store, each with a directory of its own.
pub struct Fleet {
    pub rig: Rig,
    pub url: String,
}

impl Fleet {
    fn args<'a>(&'a self, command: &[&'a str]) -> Vec<&'a str> {
        let always = ["--store", &self.url, "--delay", "300ms", "--allow-private"];
        let lease = ["--set", "store.lease=3s", "--set", "crawl.retry_delay=1s"];
        [&["--format", "json"], command, &always, &lease].concat()
    }

    fn worker(&self, name: &str) -> Result<Running> {
        let args = self.args(&["worker", "--name", name]);
        Running::start(&mut self.rig.argiope(name, &args), &self.rig.dir, name)
    }

    fn crawl(&self, name: &str, start: &str) -> Result<Running> {
        let args = self.args(&["crawl", start, "--scope", "any"]);
        Running::start(&mut self.rig.argiope(name, &args), &self.rig.dir, name)
    }

    fn verify(&self, name: &str) -> Result<()> {
        let args = ["--format", "json", "verify", "--store", &self.url];
        let done =
            process::run(&mut self.rig.argiope(name, &args), &self.rig.dir, "verify", CRAWL_LIMIT)?;
        let out = done.out_text();
        done.ok().with_context(|| format!("verify of {name}:\n{out}"))?;
        Ok(())
    }
}

/// Nobody was asked before its pause was over.
pub fn pauses_were_kept(seen: &BTreeMap<usize, Vec<Seen>>) -> Result<()> {
    for (host, all) in seen {
        for pair in all.windows(2) {
            let pause = pair[1].began.saturating_duration_since(pair[0].ended);
            ensure!(
                pause + ROUNDING >= DELAY,
                "host {host} was asked for {} only {pause:?} after {}",
                pair[1].path,
                pair[0].path
            );
        }
    }
    Ok(())
}

fn repeated(seen: &BTreeMap<usize, Vec<Seen>>) -> usize {
    let mut times: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (host, all) in seen {
        for one in all.iter().filter(|one| one.path != "/robots.txt") {
            *times.entry((*host, &one.path)).or_default() += 1;
        }
    }
    times.values().map(|n| n - 1).sum()
}

#[test]
fn one_worker_on_postgresql_crawls_everything_once_and_says_so() -> Result<()> {
    let Some(rig) = Rig::new("fleet-of-one", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let fleet = Fleet { rig, url: cluster.database() };
    let web = Web::start(8, 15)?;
    let told = summary(&fleet.crawl("one", &web.start_url())?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 120 && told["ended"] == "done", "{told}");
    let seen = web.seen();
    ensure!(repeated(&seen) == 0, "pages were asked for twice");
    pauses_were_kept(&seen)?;
    fleet.verify("one")?;
    // The same again has nothing to do.
    let told = fleet.crawl("one", &web.start_url())?.wait(SHORT_LIMIT)?.ok()?;
    ensure!(told.out_text().contains("\"fetched\":0"), "{}", told.out_text());
    // The directory belongs to the fleet, and to no other.
    let alone = fleet.rig.run("one", &["crawl", &web.start_url()])?;
    ensure!(alone.code == Some(1) && alone.err.contains("--store"), "{}", alone.err);
    let other = Fleet { rig: fleet.rig.beneath(".")?, url: cluster.database() };
    let refused = other.crawl("one", &web.start_url())?.wait(SHORT_LIMIT)?;
    ensure!(refused.err.contains("another fleet"), "{}", refused.err);
    Ok(())
}

#[test]
fn a_worker_that_waits_alone_does_its_part_of_every_crawl_that_begins() -> Result<()> {
    let Some(rig) = Rig::new("fleet-waits", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let fleet = Fleet { rig, url: cluster.database() };
    let _worker = fleet.worker("other")?;
    for round in 1..=5 {
        // By then it holds everything again, and nothing is due.
        std::thread::sleep(Duration::from_secs(3));
        let web = Web::start(16, 4)?;
        let done = fleet.crawl("giver", &web.start_url())?.wait(SHORT_LIMIT);
        let told = summary(&done.with_context(|| format!("round {round}"))?.ok()?)?;
        ensure!(count(&told, "fetched")? == 64 && told["ended"] == "done", "{round}: {told}");
        pauses_were_kept(&web.seen())?;
    }
    fleet.verify("other")
}

#[test]
fn a_server_that_is_not_there_is_told_at_once_and_without_the_password() -> Result<()> {
    let Some(rig) = Rig::new("fleet-away", &[])? else { return Ok(()) };
    for (url, said) in [
        ("postgres://me:s3cret@127.0.0.1:1/argiope", "could not be reached"),
        ("postgres://me:s3cret@127.0.0.1:1/argiope?sslmode=often", "sslmode=often is not known"),
        ("s3cret@nonsense", "cannot be used"),
    ] {
        let begun = Instant::now();
        let done = rig.run("data", &["worker", "--store", url])?;
        ensure!(done.code == Some(1), "{url}: {:?} {}", done.code, done.err);
        ensure!(done.err.contains(said), "{url}: {}", done.err);
        ensure!(!done.err.contains("s3cret"), "{url}: {}", done.err);
        ensure!(begun.elapsed() < Duration::from_secs(5), "{url}: {:?}", begun.elapsed());
    }
    Ok(())
}

#[test]
fn workers_killed_again_and_again_lose_nothing_and_hurry_nobody() -> Result<()> {
    let Some(rig) = Rig::new("fleet-kill", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let pages = knob("ARGIOPE_FLEET_PAGES", 2_000)? as usize / HOSTS;
    let pace = Duration::from_millis(knob("ARGIOPE_FLEET_KILL_MS", 3_000)?);
    let fleet = Fleet { rig, url: cluster.database() };
    let web = Web::start(HOSTS, pages)?;
    // All keep their pages in one directory; each takes the first place that is free.
    let root = fleet.rig.folder("pages")?.display().to_string();
    let worker = |name: &str| {
        let args = fleet.args(&["worker", "--archive", &root]);
        Running::start(&mut fleet.rig.argiope("none", &args), &fleet.rig.dir, name)
    };
    let names = ["first", "second", "third"];
    let mut workers: Vec<Running> = names.iter().map(|name| worker(name)).collect::<Result<_>>()?;
    let mut crawl = fleet.crawl("giver", &web.start_url())?;
    let (begun, mut last, mut kills) = (Instant::now(), Instant::now(), 0);
    while crawl.is_running()? {
        ensure!(begun.elapsed() < CRAWL_LIMIT, "it hangs: {}", crawl.err_so_far());
        std::thread::sleep(Duration::from_millis(20));
        if last.elapsed() < pace {
            continue;
        }
        (last, kills) = (Instant::now(), kills + 1);
        // The one that has lived longest.
        workers.remove(0).kill()?;
        workers.push(worker(names[(kills - 1) % names.len()])?);
    }
    let told = summary(&crawl.wait(SHORT_LIMIT)?.ok().context("the crawl that gave the work")?)?;
    let wanted = (HOSTS * pages) as u64;
    ensure!(count(&told, "fetched")? == wanted && told["ended"] == "done", "{kills} kills: {told}");
    ensure!(kills >= 2, "it was over before anybody was killed");
    // Who lives buries who was killed last.
    std::thread::sleep(LEASE + LEASE / 2);
    for worker in workers {
        let ended = Command::new("kill").arg("-TERM").arg(worker.id().to_string()).status()?;
        ensure!(ended.success());
        worker.wait(Duration::from_secs(20))?.ok().context("a worker that was to leave")?;
    }
    let database = name_in(&fleet.url);
    let rows = |sql: &str| cluster.sql(database, &format!("SET search_path = argiope; {sql}"));
    let documents = rows("SELECT count(*), count(DISTINCT (part, doc)) FROM urls");
    ensure!(documents.trim() == format!("{wanted}|{wanted}"), "documents: {documents}");
    let captures = rows("SELECT count(*) FROM captures");
    ensure!(captures.trim() == wanted.to_string(), "captures: {captures}");
    ensure!(rows("SELECT count(*) FROM workers").trim() == "0", "somebody has not left");
    let seen = web.seen();
    pauses_were_kept(&seen)?;
    let again = repeated(&seen);
    // An open group and what is in flight, of each that was killed.
    ensure!(again <= kills * 128, "{kills} kills, {again} requests repeated");
    let giver = fleet.rig.folder("giver")?.display().to_string();
    let all = ["verify", "--store", &fleet.url, "--archive", &root, "--archive", &giver];
    let rows = fleet.rig.rows("reader", &all)?;
    ensure!(rows.len() == 1 && rows[0]["problems"] == 0, "{}", crate::rig::some(&rows));
    ensure!(rows[0]["not_here"].as_array().is_some_and(Vec::is_empty), "{}", rows[0]);
    ensure!(rows[0]["checked"]["texts"] == wanted, "{}", rows[0]);
    let seats = std::fs::read_dir(&root)?.count();
    ensure!(seats == 3, "{seats} places for three workers");
    // Of one directory alone, what lies in others is no fault.
    fleet.verify("giver")
}

#[test]
fn a_worker_stopped_past_its_lease_asks_nobody_before_it_has_joined_again() -> Result<()> {
    let Some(rig) = Rig::new("fleet-stopped", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let fleet = Fleet { rig, url: cluster.database() };
    let web = Web::start(16, 110)?;
    let sleeper = fleet.worker("sleeper")?;
    let mut crawl = fleet.crawl("giver", &web.start_url())?;
    let send = |signal: &str, to: &Running| -> Result<()> {
        let sent = Command::new("kill").arg(signal).arg(to.id().to_string()).status()?;
        ensure!(sent.success(), "kill {signal}");
        Ok(())
    };
    for _ in 0..2 {
        std::thread::sleep(2 * LEASE);
        send("-STOP", &sleeper)?;
        std::thread::sleep(2 * LEASE);
        send("-CONT", &sleeper)?;
    }
    ensure!(crawl.is_running()?, "it was over too soon: {}", crawl.err_so_far());
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 1_760 && told["ended"] == "done", "{told}");
    let said = sleeper.err_so_far();
    ensure!(said.contains("begins again"), "it has not noticed: {said}");
    send("-TERM", &sleeper)?;
    sleeper.wait(Duration::from_secs(20))?.ok()?;
    let seen = web.seen();
    pauses_were_kept(&seen)?;
    ensure!(repeated(&seen) <= 2 * 128, "{} requests repeated", repeated(&seen));
    fleet.verify("sleeper")?;
    fleet.verify("giver")
}

#[test]
fn a_server_that_is_started_again_in_the_middle_costs_nothing_but_time() -> Result<()> {
    let Some(rig) = Rig::new("fleet-restart", &[])? else { return Ok(()) };
    let Some(mut cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let fleet = Fleet { rig, url: cluster.database() };
    let web = Web::start(16, 40)?;
    let worker = fleet.worker("other")?;
    let mut crawl = fleet.crawl("giver", &web.start_url())?;
    std::thread::sleep(Duration::from_secs(4));
    let rows = fleet.rig.rows("giver", &["status", "--fleet", "--store", &fleet.url])?;
    ensure!(rows.len() == 3 && rows[0]["workers"] == 2, "{rows:?}");
    let held: u64 = rows[1..].iter().filter_map(|row| row["partitions"].as_u64()).sum();
    let fair = rows[1..].iter().all(|row| row["partitions"] == 2048);
    ensure!(fair && held == 4096 && rows[0]["free"] == 0, "{rows:?}");
    for _ in 0..3 {
        std::thread::sleep(Duration::from_secs(3));
        ensure!(crawl.is_running()?, "it was over too soon: {}", crawl.err_so_far());
        cluster.restart();
    }
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 640 && told["ended"] == "done", "{told}");
    drop(worker);
    pauses_were_kept(&web.seen())?;
    fleet.verify("other")?;
    fleet.verify("giver")
}

/// Stops all processes of the server, or lets them go on: the line is there, and nobody answers.
fn server(cluster: &Cluster, signal: &str) -> Result<()> {
    let pid = std::fs::read_to_string(cluster.dir().join("data/postmaster.pid"))?;
    let pid = pid.lines().next().context("no process number")?.to_owned();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    let all = std::iter::once(pid.as_str()).chain(children.split_whitespace());
    let sent = Command::new("kill").arg(signal).args(all).status()?;
    ensure!(sent.success(), "kill {signal}");
    Ok(())
}

#[test]
fn past_its_lease_a_worker_without_its_server_asks_nobody() -> Result<()> {
    let Some(rig) = Rig::new("fleet-cut", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let fleet = Fleet { rig, url: cluster.database() };
    let web = Web::start(16, 60)?;
    let worker = fleet.worker("other")?;
    let mut crawl = fleet.crawl("giver", &web.start_url())?;
    std::thread::sleep(3 * LEASE);
    ensure!(crawl.is_running()?, "it was over too soon: {}", crawl.err_so_far());
    server(&cluster, "-STOP")?;
    let silent_from = Instant::now() + LEASE + Duration::from_millis(100);
    std::thread::sleep(3 * LEASE);
    let silent_to = Instant::now();
    server(&cluster, "-CONT")?;
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 960 && told["ended"] == "done", "{told}");
    drop(worker);
    let seen = web.seen();
    let asked = |one: &&Seen| one.began > silent_from && one.began < silent_to;
    let late: Vec<&Seen> = seen.values().flatten().filter(asked).collect();
    ensure!(late.is_empty(), "asked without a lease: {late:?}");
    let after = seen.values().flatten().filter(|one| one.began > silent_to).count();
    ensure!(after > 100, "only {after} requests came after it: the cut was too late");
    pauses_were_kept(&seen)?;
    fleet.verify("other")?;
    fleet.verify("giver")
}
