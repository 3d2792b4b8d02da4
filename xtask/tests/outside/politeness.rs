//! No host hears from us sooner than it should, whatever happens on our side.
//!
//! The hosts measure: from the last byte of one answer to the first byte of the next request,
//! robots.txt included. What the delay is follows from `--delay`, from `Crawl-delay`, from
//! `Retry-After` and from how long answers take; a `kill -9` changes nothing about it.

use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, count, knob, summary};
use crate::sites::Dice;
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::net::IpAddr;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};
use xtask::process::{self, wait_until};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A host of `pages` pages beside robots.txt, all linked from the first.
fn index_of(asked: &Asked, pages: usize) -> Answer {
    match asked.path.as_str() {
        "/" => page("index", (1..pages).map(|n| format!("/{n}"))),
        path => page(path, ["/"]),
    }
}

/// The paths of such a host, robots.txt among them.
fn paths_of(pages: usize) -> Vec<String> {
    let others = (1..pages).map(|n| format!("/{n}"));
    ["/".to_string(), "/robots.txt".to_string()].into_iter().chain(others).collect()
}

/// A time as a web server writes it.
fn http_date(time: SystemTime) -> Result<String> {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
    let mut date = Command::new("date");
    date.env("LC_ALL", "C").args(["-u", "-d", &format!("@{seconds}")]);
    let text = process::output(date.arg("+%a, %d %b %Y %H:%M:%S GMT"))?;
    Ok(text.trim().to_string())
}

const PLAIN: usize = 6;
const CRAWL_DELAY: usize = 6;
const ASKS_SECONDS: usize = 7;
const ASKS_DATE: usize = 8;
const SLOW: usize = 9;
const RULES_LATER: usize = 10;

#[test]
fn every_host_gets_its_pause_with_many_workers() -> Result<()> {
    let Some(rig) = Rig::new("pauses", &["date"])? else { return Ok(()) };
    // Six plain hosts on three addresses; five that ask for more, each on its own.
    let mut addresses: Vec<IpAddr> = (0..PLAIN as u8).map(|n| loopback(n / 2 + 1)).collect();
    addresses.extend((10..15).map(loopback));
    // A full second, long after the page that names it has been asked for.
    let date = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs() + 10;
    let date = SystemTime::UNIX_EPOCH + Duration::from_secs(date);
    let date_text = http_date(date)?;
    let hosts = Watched::start(&addresses, move |asked| {
        match (asked.host, asked.path.as_str(), asked.before) {
            (CRAWL_DELAY, "/robots.txt", _) => {
                Answer::text("User-agent: *\nCrawl-delay: 1\nDisallow: /never\n")
            }
            (SLOW, "/robots.txt", _) => Answer::text("User-agent: *\nDisallow: /never\n"),
            (RULES_LATER, "/robots.txt", 0) => Answer::status(429).header("Retry-After: 2"),
            (_, "/robots.txt", _) => Answer::status(404),
            (ASKS_SECONDS, "/2", 0) => Answer::status(429).header("Retry-After: 2"),
            (ASKS_DATE, "/2", 0) => {
                Answer::status(503).header(&format!("Retry-After: {date_text}"))
            }
            (SLOW, "/2", _) => index_of(asked, 5).later(ms(700)),
            (..PLAIN, ..) => index_of(asked, 12),
            _ => index_of(asked, 5),
        }
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "200ms", "--connections", "64"];
    args.extend(["--workers", "4", "--set", "crawl.retry_delay=50ms", "--set"]);
    args.extend(["crawl.backoff=50ms", "--set", "crawl.slow_answer=500ms"]);
    args.extend(starts.iter().map(String::as_str));
    let told = rig.crawl_plain("data", &args)?;
    ensure!(count(&told, "fetched")? as usize == PLAIN * 12 + 5 * 5, "not every page: {told}");

    for host in 0..PLAIN {
        hosts.saw_exactly(host, paths_of(12))?;
        hosts.keeps_pause(host, ms(200))?;
    }
    for host in [CRAWL_DELAY, ASKS_SECONDS, ASKS_DATE, SLOW, RULES_LATER] {
        hosts.saw_exactly(host, paths_of(5))?;
        hosts.keeps_pause(host, ms(200))?;
    }
    hosts.keeps_pause(CRAWL_DELAY, ms(1000)).context("Crawl-delay: 1")?;

    // What comes after the answer that asked for patience.
    let after = |host: usize, path: &str| -> Result<(Instant, Instant)> {
        let seen = hosts.seen(host);
        let at = seen.iter().position(|s| s.path == path).context("it was never asked for")?;
        let end = seen[at].answered.context("it was not answered")?;
        Ok((end, seen.get(at + 1).context("nothing came after it")?.arrived))
    };
    for (host, path) in [(ASKS_SECONDS, "/2"), (RULES_LATER, "/robots.txt")] {
        let (end, next) = after(host, path)?;
        ensure!(next - end >= ms(2000), "Retry-After: 2 was followed by {:?}", next - end);
    }
    let (_, next) = after(ASKS_DATE, "/2")?;
    let next = SystemTime::now() - next.elapsed();
    ensure!(next >= date, "a request came {:?} before its date", date.duration_since(next)?);
    let (end, next) = after(SLOW, "/2")?;
    ensure!(
        next - end >= ms(700),
        "a host that took 700 ms was asked again {:?} later",
        next - end
    );
    Ok(())
}

#[test]
fn pauses_hold_across_kills() -> Result<()> {
    let Some(rig) = Rig::new("pauses-killed", &[])? else { return Ok(()) };
    let (delay, named, asked_for) = (ms(300), ms(900), ms(4000));
    let addresses = [1, 1, 2, 3, 4].map(loopback);
    let (crawl_delay, busy) = (3, 4);
    let hosts = Watched::start(&addresses, move |asked| {
        match (asked.host, asked.path.as_str(), asked.before) {
            (3, "/robots.txt", _) => Answer::text("User-agent: *\nCrawl-delay: 0.9\n"),
            (_, "/robots.txt", _) => Answer::text("User-agent: *\nDisallow: /never\n"),
            (4, "/3", 0) => Answer::status(429).header("Retry-After: 4"),
            _ => index_of(asked, 500),
        }
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "300ms", "--connections", "64"];
    args.extend(["--workers", "4", "--set", "crawl.retry_delay=50ms"]);
    args.extend(["--set", "crawl.backoff=50ms"]);
    args.extend(starts.iter().map(String::as_str));

    let seed = knob("ARGIOPE_SEED", 1)?;
    let mut dice = Dice::new(seed);
    let log = rig.dir.join("data/log/crawl.log");
    let rules = format!(" {} ", hosts.url(crawl_delay, "/robots.txt"));
    for kill in 0..8 {
        let mut running = rig.start_plain("data", &args)?;
        let before = hosts.all().len();
        let what = format!("a request before kill {kill} of seed {seed}");
        wait_until(&what, CRAWL_LIMIT, || {
            ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
            Ok(hosts.all().len() > before + 1)
        })?;
        // What was asked of us counts once it is durable; the log says when that is.
        let durable = match kill {
            0 => Some(rules.trim_end()),
            2 => Some(" 429 "),
            _ => None,
        };
        if let Some(words) = durable {
            wait_until(&format!("{words} in the crawl log"), CRAWL_LIMIT, || {
                ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
                Ok(std::fs::read_to_string(&log).is_ok_and(|text| text.contains(words)))
            })?;
        } else {
            std::thread::sleep(ms(dice.below(1200)));
        }
        if kill % 3 == 1 {
            // Ctrl-C, by way of comparison: what is under way may end first.
            process::output(Command::new("kill").args(["-INT", &running.id().to_string()]))?;
            running.wait(SHORT_LIMIT)?;
            continue;
        }
        let killed = running.kill()?;
        ensure!(killed.signal == Some(9), "kill {kill} did not find the crawl running");
    }
    let mut running = rig.start_plain("data", &args)?;
    wait_until("a request after the 429 and others", CRAWL_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        let seen = hosts.seen(busy);
        let at = seen.iter().position(|s| s.path == "/3");
        let often = (0..addresses.len()).all(|host| hosts.seen(host).len() > 6);
        Ok(often && at.is_some_and(|at| at + 1 < seen.len()))
    })?;
    running.kill()?;

    for host in 0..addresses.len() {
        hosts.keeps_pause(host, delay).with_context(|| format!("seed {seed}"))?;
    }
    hosts.keeps_pause(crawl_delay, named).with_context(|| format!("seed {seed}"))?;
    let seen = hosts.seen(busy);
    let at = seen.iter().position(|s| s.path == "/3").context("/3 was never asked for")?;
    let end = seen[at].answered.context("/3 was not answered")?;
    let next = seen.get(at + 1).context("nothing came after the 429")?.arrived;
    ensure!(
        next - end >= asked_for,
        "seed {seed}: a committed Retry-After of {asked_for:?} was followed by {:?}",
        next - end
    );
    Ok(())
}

#[test]
fn connections_per_host_are_a_limit_and_a_named_delay_means_one() -> Result<()> {
    let Some(rig) = Rig::new("per-host", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1), loopback(2)], |asked| {
        match (asked.host, asked.path.as_str()) {
            (0, "/robots.txt") => Answer::text("User-agent: *\nDisallow:\n").later(ms(100)),
            (_, "/robots.txt") => Answer::text("User-agent: *\nCrawl-delay: 0.3\n"),
            (0, _) => index_of(asked, 40).later(ms(60)),
            _ => index_of(asked, 8).later(ms(60)),
        }
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "0s", "--connections-per-host", "3"];
    args.extend(starts.iter().map(String::as_str));
    rig.crawl_plain("data", &args)?;
    hosts.saw_exactly(0, paths_of(40))?;
    hosts.saw_exactly(1, paths_of(8))?;
    let most = hosts.most_at_once(0);
    ensure!((2..=3).contains(&most), "{most} requests at once where 3 are allowed");
    let seen = hosts.seen(0);
    ensure!(seen[0].path == "/robots.txt", "{} came before robots.txt", seen[0].path);
    let known = seen[0].answered.context("robots.txt was not answered")?;
    ensure!(seen[1].arrived >= known, "{} came before robots.txt was there", seen[1].path);
    let most = hosts.most_at_once(1);
    ensure!(most == 1, "{most} requests at once to a host that named a delay");
    hosts.keeps_pause(1, ms(300)).context("Crawl-delay: 0.3")
}

#[test]
fn a_host_that_hangs_up_instead_of_answering_is_not_asked_again_at_once() -> Result<()> {
    let Some(rig) = Rig::new("hangs-up", &[])? else { return Ok(()) };
    // It closes the connection that it kept open so far, with the request in its hands.
    let hosts = Watched::start(&[loopback(1), loopback(2)], |asked| {
        match (asked.host, asked.path.as_str(), asked.before) {
            (_, "/robots.txt", _) => Answer::status(404),
            (0, "/2", 0) => Answer::wild(|_| Ok(())),
            (1, "/2", 0) => Answer::Reset(Vec::new()),
            _ => index_of(asked, 4),
        }
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "200ms", "--set", "crawl.backoff=100ms"];
    args.extend(["--set", "crawl.retry_delay=100ms", &starts[0], &starts[1]]);
    rig.crawl_plain("data", &args)?;
    for host in [0, 1] {
        hosts.saw_exactly(host, paths_of(4))?;
        hosts.keeps_pause(host, ms(200))?;
    }
    Ok(())
}

#[test]
fn hosts_of_one_address_share_its_pause() -> Result<()> {
    let Some(rig) = Rig::new("address-gap", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1); 5], |asked| match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        _ => index_of(asked, 4),
    })?;
    let starts = hosts.starts();
    let mut args = vec!["--allow-private", "--delay", "0s", "--connections-per-host", "2"];
    args.extend(["--set", "crawl.address_gap=150ms"]);
    args.extend(starts.iter().map(String::as_str));
    let running = rig.start_plain("data", &args)?;
    summary(&running.wait(CRAWL_LIMIT)?.ok()?)?;
    let seen = hosts.all();
    ensure!(seen.len() == 5 * 5, "{} requests instead of 25", seen.len());
    // The pause runs from start to start, and the way here takes its time: any single request may
    // be late, but not so many of them that the whole would be shorter.
    let all = seen[24].arrived - seen[0].arrived;
    ensure!(all >= ms(24 * 150 - 300), "25 requests to one address within {all:?}");
    let close = seen.windows(2).filter(|two| two[1].arrived - two[0].arrived < ms(75)).count();
    ensure!(close <= 4, "{close} requests to one address came at half its pause");
    Ok(())
}
