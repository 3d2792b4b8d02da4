//! What workers of a fleet keep together: the gap of an address, rules that lie with another's host,
//! limits of a job, and what somebody elsewhere has said.

use crate::cluster::{CARELESS, Cluster, name_in};
use crate::nameserver::{NameServer, Said};
use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use crate::watched::{Answer, Asked, Seen, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::process::Running;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Workers with settings of the test's own.
pub struct Team {
    pub rig: Rig,
    pub url: String,
    args: Vec<String>,
    workers: Vec<(String, Running)>,
}

impl Team {
    pub fn new(rig: Rig, cluster: &Cluster, args: &[&str]) -> Team {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Team { rig, url: cluster.database(), args, workers: Vec::new() }
    }

    fn command(&self, name: &str, own: &[&str]) -> Command {
        let always = ["--store", &self.url, "--allow-private", "--set", "store.lease=3s"];
        let args = [&["--format", "json"], own, &always].concat();
        let mut command = self.rig.argiope(name, &args);
        command.args(&self.args);
        command
    }

    /// Starts workers and waits until the partitions are shared out among them.
    pub fn start(&mut self, names: &[&str]) -> Result<()> {
        for name in names {
            let mut command = self.command(name, &["worker", "--name", name]);
            let running = Running::start(&mut command, &self.rig.dir, name)?;
            self.workers.push(((*name).to_owned(), running));
        }
        let begun = Instant::now();
        loop {
            std::thread::sleep(ms(100));
            let rows = self.rig.rows("look", &["status", "--fleet", "--store", &self.url])?;
            let fair = 4096 / names.len() as u64;
            let shared = rows.len() == names.len() + 1;
            if shared && rows[1..].iter().all(|r| r["partitions"].as_u64() >= Some(fair)) {
                return Ok(());
            }
            ensure!(begun.elapsed() < Duration::from_secs(60), "not shared out: {rows:?}");
        }
    }

    pub fn crawl(&self, own: &[&str]) -> Result<Running> {
        let args = [&["crawl", "--scope", "any"], own].concat();
        Running::start(&mut self.command("giver", &args), &self.rig.dir, "giver")
    }

    /// Kills the one that has lived longest, and starts it again.
    fn kill_and_restart_one(&mut self) -> Result<()> {
        let (name, worker) = self.workers.remove(0);
        worker.kill()?;
        let mut again = self.command(&name, &["worker", "--name", &name]);
        let running = Running::start(&mut again, &self.rig.dir, &name)?;
        self.workers.push((name, running));
        Ok(())
    }

    pub fn end(self) -> Result<Rig> {
        for (name, worker) in self.workers {
            let ended = Command::new("kill").arg("-TERM").arg(worker.id().to_string()).status()?;
            ensure!(ended.success());
            worker.wait(Duration::from_secs(30))?.ok().with_context(|| format!("{name} ends"))?;
        }
        Ok(self.rig)
    }
}

/// How many lines of a worker's log are about hosts whose names begin so.
fn asked_by(rig: &Rig, name: &str, begins: &str) -> Result<usize> {
    let begins = format!("http://{begins}");
    let place = if name == "giver" { "worker-1" } else { name };
    Ok(rig
        .crawl_log(&format!("{name}/{place}"))?
        .iter()
        .filter(|line| line.url.starts_with(&begins))
        .count())
}

/// Twelve sites on one address, four on an address each.
fn twelve_and_four(first: u8) -> Result<(Watched, NameServer, Vec<String>)> {
    let addresses: Vec<_> = (first..first + 5).map(loopback).collect();
    let hosts = Watched::start(&addresses, |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("index", (1..if asked.host == 0 { 4 } else { 12 }).map(|n| format!("/{n}"))),
        path => page(path, ["/"]),
    })?;
    let names = NameServer::start(move |question, _| {
        let number = question.name.trim_end_matches(".test").get(1..).and_then(|n| n.parse().ok());
        match (question.name.as_bytes().first(), number) {
            (Some(b's'), Some(0..=11)) => Said::Addresses(vec![loopback(first)], 3600),
            (Some(b'o'), Some(n @ 1..=4)) => Said::Addresses(vec![loopback(first + n)], 3600),
            _ => Said::Unknown(60),
        }
    })?;
    let port = |host: usize| hosts.address(host).port();
    let mut starts: Vec<String> =
        (0..12).map(|n| format!("http://s{n}.test:{}/", port(0))).collect();
    starts.extend((1..=4).map(|n| format!("http://o{n}.test:{}/", port(n))));
    Ok((hosts, names, starts))
}

/// As where one crawls alone: a single request may be late on its way, the whole is no shorter.
fn gap_was_kept(seen: &[Seen], gap: Duration) -> Result<Duration> {
    let (first, last) = (seen.first().context("no request")?, seen.last().context("none")?);
    let all = last.arrived - first.arrived;
    let least = gap * (seen.len() as u32 - 1) - ms(300);
    ensure!(all >= least, "{} requests to one address within {all:?}", seen.len());
    let pauses: Vec<Duration> =
        seen.windows(2).map(|two| two[1].arrived - two[0].arrived).collect();
    let close = pauses.iter().filter(|pause| **pause < gap / 2).count();
    ensure!(close <= 4, "{close} requests to one address came at half its pause: {pauses:?}");
    Ok(all)
}

const GAP: [&str; 4] = ["--delay", "300ms", "--set", "crawl.address_gap=200ms"];

#[test]
fn workers_keep_the_gap_of_an_address_together_and_slow_nobody_else() -> Result<()> {
    let Some(rig) = Rig::new("fleet-address", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let (hosts, names, starts) = twelve_and_four(1)?;
    let mut team = Team::new(rig, &cluster, &[&GAP[..], &["--set", &names.setting()]].concat());
    let workers = ["first", "second", "third"];
    team.start(&workers)?;
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let told = summary(&team.crawl(&starts)?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 12 * 4 + 4 * 12, "{told}");
    let rig = team.end()?;
    let seen = hosts.seen(0);
    ensure!(seen.len() == 12 * 5, "{} requests instead of 60", seen.len());
    let by: Vec<usize> = workers
        .iter()
        .chain(&["giver"])
        .map(|name| asked_by(&rig, name, "s").unwrap_or(0))
        .collect();
    ensure!(by.iter().filter(|n| **n >= 5).count() >= 3, "shared by {by:?}");
    let all = gap_was_kept(&seen, ms(200))?;
    ensure!(all < ms(59 * 400), "the address was hardly used: {all:?}");
    for host in 1..=4 {
        hosts.keeps_pause(host, ms(300))?;
        let seen = hosts.seen(host);
        ensure!(seen.len() == 13, "{} requests of host {host}", seen.len());
        // The second half: nobody waits to be located or shared any more.
        let mean = (seen[12].arrived - seen[4].arrived) / 8;
        ensure!(mean < ms(450), "host {host} was asked every {mean:?}, for a delay of 300 ms");
    }
    Ok(())
}

#[test]
fn the_gap_of_an_address_holds_whoever_is_killed_and_comes_back() -> Result<()> {
    let Some(rig) = Rig::new("fleet-address-kill", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let (hosts, names, starts) = twelve_and_four(51)?;
    let mut team = Team::new(rig, &cluster, &[&GAP[..], &["--set", &names.setting()]].concat());
    team.start(&["first", "second", "third"])?;
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let mut crawl = team.crawl(&starts)?;
    let mut kills = 0;
    while crawl.is_running()? {
        std::thread::sleep(ms(2_500));
        team.kill_and_restart_one()?;
        kills += 1;
        ensure!(kills < 100, "it hangs: {}", crawl.err_so_far());
    }
    ensure!(kills >= 3, "it was over before anybody was killed");
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "done", "{told}");
    let seen = hosts.seen(0);
    ensure!(seen.len() >= 12 * 5, "{} requests instead of 60", seen.len());
    gap_was_kept(&seen, ms(200))?;
    team.end()?;
    Ok(())
}

/// Rules that lie elsewhere: `r` sites keep theirs with `k0`, one by way of another site.
fn led_elsewhere(asked: &Asked, port: u16) -> Answer {
    match asked.path.as_str() {
        // What kind of site it is its host's place tells.
        "/robots.txt" if asked.host == 0 => Answer::to(&format!("http://k0.test:{port}/rules.txt")),
        "/robots.txt" => Answer::status(404),
        "/rules.txt" => Answer::text("User-agent: *\nDisallow: /2\n"),
        "/" => page("index", (1..4).map(|n| format!("/{n}"))),
        path => page(path, ["/"]),
    }
}

#[test]
fn rules_that_lie_with_a_host_of_another_worker_are_had_and_keep_its_pause() -> Result<()> {
    let Some(rig) = Rig::new("fleet-rules", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let keeper = port.clone();
    let addresses = [21, 22].map(loopback);
    let hosts = Watched::start(&addresses, move |asked: &Asked| {
        led_elsewhere(asked, *keeper.get().unwrap_or(&0))
    })?;
    port.set(hosts.address(1).port()).map_err(|_| anyhow::anyhow!("set once"))?;
    let names = NameServer::start(|question, _| match question.name.as_bytes().first() {
        Some(b'r') => Said::Addresses(vec![loopback(21)], 3600),
        Some(b'k') => Said::Addresses(vec![loopback(22)], 3600),
        _ => Said::Unknown(60),
    })?;
    let dns = names.setting();
    let own = ["--delay", "300ms", "--set", &dns, "--set", "crawl.address_gap=0"];
    let mut team = Team::new(rig, &cluster, &own);
    team.start(&["first", "second", "third"])?;
    let mut starts: Vec<String> =
        (0..9).map(|n| format!("http://r{n}.test:{}/", hosts.address(0).port())).collect();
    starts.push(format!("http://k0.test:{}/", hosts.address(1).port()));
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let begun = Instant::now();
    let told = summary(&team.crawl(&starts)?.wait(CRAWL_LIMIT)?.ok()?)?;
    // Nine sites whose rules forbid one page of four, and one without rules.
    ensure!(count(&told, "fetched")? == 9 * 3 + 4 && told["ended"] == "done", "{told}");
    ensure!(begun.elapsed() < Duration::from_secs(25), "somebody waited: {:?}", begun.elapsed());
    team.end()?;
    ensure!(!hosts.paths(0).contains_key("/2"), "what was forbidden was asked for");
    let asked = hosts.paths(1);
    ensure!(asked["/rules.txt"] == 9, "{asked:?}");
    hosts.keeps_pause(1, ms(300))
}

#[test]
fn rules_that_lie_with_a_host_that_may_not_be_asked_are_not_waited_for_for_ever() -> Result<()> {
    let Some(rig) = Rig::new("fleet-rules-away", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let keeper = port.clone();
    let hosts = Watched::start(&[41, 42].map(loopback), move |asked: &Asked| match asked.host {
        0 => led_elsewhere(asked, *keeper.get().unwrap_or(&0)),
        _ => Answer::status(503).header("Retry-After: 600"),
    })?;
    port.set(hosts.address(1).port()).map_err(|_| anyhow::anyhow!("set once"))?;
    let names = NameServer::start(|question, _| match question.name.as_bytes().first() {
        Some(b'r') => Said::Addresses(vec![loopback(41)], 3600),
        Some(b'k') => Said::Addresses(vec![loopback(42)], 3600),
        _ => Said::Unknown(60),
    })?;
    let dns = names.setting();
    let own = ["--delay", "100ms", "--set", &dns, "--set", "crawl.backoff=1s"];
    let mut team = Team::new(rig, &cluster, &own);
    team.start(&["first", "second", "third"])?;
    let mut starts = vec![format!("http://k0.test:{}/", hosts.address(1).port())];
    starts.extend((0..9).map(|n| format!("http://r{n}.test:{}/", hosts.address(0).port())));
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let crawl = team.crawl(&starts)?;
    let begun = Instant::now();
    // Whoever was told nothing has given up waiting, and asks once more.
    let asked_late = || {
        let late = hosts.seen(0).into_iter().filter(|seen| seen.arrived > begun + ms(25_000));
        let site = |head: &str| head.find(".test").map(|at| head[..at].to_owned());
        late.filter_map(|seen| site(&seen.head)).collect::<std::collections::BTreeSet<_>>().len()
    };
    while asked_late() < 3 {
        ensure!(begun.elapsed() < Duration::from_secs(90), "{} ask again", asked_late());
        std::thread::sleep(ms(200));
    }
    ensure!(hosts.seen(1).len() < 10, "a host that asked for quiet was asked on");
    drop(crawl);
    team.end()?;
    Ok(())
}

#[test]
fn what_is_excluded_or_paused_at_one_worker_is_left_alone_by_all_within_a_second() -> Result<()> {
    let Some(rig) = Rig::new("fleet-excluded", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    // Sites without an end.
    let addresses = [31, 32, 33, 34, 35, 36].map(loopback);
    let hosts = Watched::start(&addresses, |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        path => {
            let number: u64 = path.trim_start_matches('/').parse().unwrap_or(0);
            page(path, [format!("/{}", number + 1), format!("/{}", number + 2)])
        }
    })?;
    let names = NameServer::start(|question, _| {
        let number = question.name.trim_end_matches(".test").get(1..).and_then(|n| n.parse().ok());
        number.map_or(Said::Unknown(60), |n: u8| Said::Addresses(vec![loopback(n)], 3600))
    })?;
    let dns = names.setting();
    let mut team = Team::new(rig, &cluster, &["--delay", "100ms", "--set", &dns]);
    team.start(&["first", "second", "third"])?;
    let starts: Vec<String> =
        (0..6).map(|n| format!("http://x{}.test:{}/", n + 31, hosts.address(n).port())).collect();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    let crawl = team.crawl(&starts)?;
    let begun = Instant::now();
    while !(0..6).all(|host| hosts.seen(host).len() > 10) {
        ensure!(begun.elapsed() < Duration::from_secs(60), "{}", crawl.err_so_far());
        std::thread::sleep(ms(50));
    }
    let mut excluded = Vec::new();
    for host in 0..4 {
        team.rig.rows("first", &["sites", "exclude", &format!("x{}.test", host + 31)])?;
        excluded.push((host, Instant::now()));
    }
    std::thread::sleep(ms(2_500));
    for (host, at) in excluded {
        let late = hosts.seen(host).iter().filter(|seen| seen.arrived > at + ms(1_000)).count();
        ensure!(late == 0, "{late} requests to site {host} a second after it was excluded");
    }
    for host in [4, 5] {
        let late = hosts.seen(host).iter().filter(|s| s.arrived.elapsed() < ms(1_000)).count();
        ensure!(late > 2, "site {host} was left alone too");
    }
    team.rig.run("first", &["jobs", "pause", "1"])?.ok()?;
    let paused = Instant::now();
    let told = summary(&crawl.wait(Duration::from_secs(20))?.ok()?)?;
    ensure!(told["ended"] == "stopped", "{told}");
    std::thread::sleep(ms(1_500));
    let late = hosts.all().iter().filter(|seen| seen.arrived > paused + ms(1_100)).count();
    ensure!(late == 0, "{late} requests after the job was paused");
    team.end()?;
    Ok(())
}

/// Twenty sites of 250 pages each, every one led to by its parent.
pub fn twenty_sites(first: u8) -> Result<Watched> {
    let addresses: Vec<_> = (first..first + 20).map(loopback).collect();
    Watched::start(&addresses, |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        path => {
            let n: u64 = path.trim_start_matches('/').parse().unwrap_or(1);
            page(path, [2 * n, 2 * n + 1].iter().filter(|n| **n <= 250).map(|n| format!("/{n}")))
        }
    })
}

fn pages_asked(hosts: &Watched) -> usize {
    hosts.all().iter().filter(|seen| seen.path != "/robots.txt").count()
}

#[test]
fn a_limit_of_pages_is_met_exactly_by_workers_that_share_it() -> Result<()> {
    let Some(rig) = Rig::new("fleet-limit", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let hosts = twenty_sites(100)?;
    let mut team = Team::new(rig, &cluster, &["--delay", "20ms"]);
    team.start(&["first", "second", "third"])?;
    let starts = hosts.starts();
    let mut args = vec!["--max-pages", "500"];
    args.extend(starts.iter().map(String::as_str));
    let told = summary(&team.crawl(&args)?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "limit", "{told}");
    let rows = team.rig.rows("look", &["status", "--fleet", "--store", &team.url])?;
    ensure!(rows[0]["pages"] == 500, "{rows:?}");
    // Nobody asks for more than it may keep.
    std::thread::sleep(ms(500));
    ensure!(pages_asked(&hosts) == 500, "{} pages were asked for", pages_asked(&hosts));
    // More may be had later, and what was fetched counts.
    args[1] = "620";
    let told = summary(&team.crawl(&args)?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "limit", "{told}");
    let rows = team.rig.rows("look", &["status", "--fleet", "--store", &team.url])?;
    ensure!(rows[0]["pages"] == 620, "{rows:?}");
    team.end()?;
    Ok(())
}

#[test]
fn a_limit_of_bytes_is_never_exceeded_by_workers_that_share_it() -> Result<()> {
    let Some(rig) = Rig::new("fleet-bytes", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let hosts = twenty_sites(190)?;
    let mut team = Team::new(rig, &cluster, &["--delay", "20ms"]);
    team.start(&["first", "second", "third"])?;
    let starts = hosts.starts();
    let mut args = vec!["--max-bytes", "60KB"];
    args.extend(starts.iter().map(String::as_str));
    let told = summary(&team.crawl(&args)?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "limit", "{told}");
    std::thread::sleep(ms(1_500));
    let counted = cluster.sql(name_in(&team.url), "SELECT sum(c[11]) FROM argiope.job_counts");
    let bytes: u64 = counted.trim().parse().with_context(|| counted.clone())?;
    // The largest page has some 200 bytes; nobody is left with a share that others lack.
    ensure!((58_000..=60_000).contains(&bytes), "{bytes} bytes for a limit of 60,000");
    team.end()?;
    Ok(())
}

#[test]
fn a_limit_of_pages_is_never_exceeded_whoever_is_killed() -> Result<()> {
    let Some(rig) = Rig::new("fleet-limit-kill", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let hosts = twenty_sites(130)?;
    let mut team = Team::new(rig, &cluster, &["--delay", "300ms"]);
    team.start(&["first", "second", "third"])?;
    let starts = hosts.starts();
    let mut args = vec!["--max-pages", "500"];
    args.extend(starts.iter().map(String::as_str));
    let mut crawl = team.crawl(&args)?;
    let (begun, mut kills) = (Instant::now(), 0);
    while crawl.is_running()? {
        ensure!(begun.elapsed() < CRAWL_LIMIT, "it hangs: {}", crawl.err_so_far());
        std::thread::sleep(ms(1_500));
        team.kill_and_restart_one()?;
        kills += 1;
    }
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    let rows = team.rig.rows("look", &["status", "--fleet", "--store", &team.url])?;
    // What the killed had not used has come back: it is met exactly here too.
    ensure!(rows[0]["pages"] == 500 && told["ended"] == "limit", "{kills} kills: {rows:?} {told}");
    ensure!(kills >= 3, "it was over before anybody was killed");
    team.end()?;
    Ok(())
}
