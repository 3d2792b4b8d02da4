//! A host that is down is tried again; one that stays down is given up, shown, and can be forgiven.

use crate::rig::{Rig, SHORT_LIMIT, count, summary};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use xtask::process::wait_until;

fn site(asked: &Asked) -> Answer {
    match asked.path.as_str() {
        "/robots.txt" => Answer::status(404),
        "/" => page("index", ["/a", "/b"]),
        path => page(path, ["/"]),
    }
}

/// An address where nobody listens now.
fn deserted(last: u8) -> Result<SocketAddr> {
    Ok(TcpListener::bind((loopback(last), 0))?.local_addr()?)
}

#[test]
fn a_host_that_is_down_for_a_while_is_crawled_when_it_is_back() -> Result<()> {
    let Some(rig) = Rig::new("down-a-while", &[])? else { return Ok(()) };
    let down = deserted(201)?;
    let up = Watched::start(&[loopback(202)], site)?;
    let (start, other) = (format!("http://{down}/"), up.url(0, "/"));
    let mut args = vec!["--allow-private", "--delay", "50ms", "--set", "crawl.retry_delay=300ms"];
    args.extend(["--set", "crawl.backoff=200ms", "--set", "crawl.retries=8", &start, &other]);
    let mut running = rig.start_plain("data", &args)?;
    let log = rig.dir.join("data/log/crawl.log");
    wait_until("two tries in vain", SHORT_LIMIT, || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        // The host that is up does not wait for the other.
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let failed = text.lines().filter(|line| line.contains("connect-failed")).count();
        Ok(failed >= 2 && up.seen(0).len() == 4)
    })?;
    let back = Watched::start_at(&[down], site)?;
    let told = summary(&running.wait(SHORT_LIMIT)?.ok()?)?;
    back.saw_exactly(0, ["/robots.txt", "/", "/a", "/b"])?;
    ensure!(count(&told, "fetched")? == 6, "the summary says {told}");
    let sites = rig.rows("data", &["sites"])?;
    ensure!(sites.iter().all(|row| row["state"] != "given up"), "{sites:?}");
    rig.verify("data")
}

#[test]
fn a_host_that_stays_down_is_given_up_and_can_be_forgiven() -> Result<()> {
    let Some(rig) = Rig::new("given-up", &[])? else { return Ok(()) };
    let down = deserted(201)?;
    let up = Watched::start(&[loopback(202)], site)?;
    let (start, other) = (format!("http://{down}/"), up.url(0, "/"));
    let mut args = vec!["--allow-private", "--delay", "50ms", "--set", "crawl.retry_delay=100ms"];
    args.extend(["--set", "crawl.backoff=100ms", "--set", "crawl.backoff_max=300ms"]);
    args.extend(["--set", "crawl.retries=50", "--set", "crawl.give_up_after=1s"]);
    let first = [&args[..], &[&start, &other]].concat();
    rig.start_plain("data", &first)?.wait(SHORT_LIMIT)?.ok().context("giving up")?;
    up.saw_exactly(0, ["/robots.txt", "/", "/a", "/b"])?;

    let host = |down: &str| -> Result<serde_json::Value> {
        let rows = rig.rows("data", &["sites", down])?;
        ensure!(rows.len() == 1, "sites {down} says {rows:?}");
        Ok(rows[0].clone())
    };
    let name = down.ip().to_string();
    let row = host(&name)?;
    ensure!(row["state"] == "given up", "sites says {row}");
    let text = rig.run("data", &["sites"])?.ok()?.out_text();
    let line = text.lines().find(|line| line.contains(&down.to_string()));
    let line = line.with_context(|| format!("the table lacks the host: {text}"))?;
    ensure!(line.contains("given up") && line.contains("forgive"), "the table says {line}");
    let rows = rig.rows("data", &["explain", &start])?;
    let said = rows.iter().find(|row| row["rule"] == "host").context("no row of the host")?;
    ensure!(said["verdict"] == "no", "explain says {said}");

    // It is back, but nobody asks it before it is forgiven.
    let back = Watched::start_at(&[down], site)?;
    rig.crawl_plain("data", &first)?;
    ensure!(back.all().is_empty(), "a host that was given up was asked: {:?}", back.paths(0));
    let done = rig.run("data", &["sites", "forgive", &name])?.ok()?;
    ensure!(done.err.contains("1 host"), "forgive says {}", done.err);
    rig.crawl_plain("data", &args)?;
    back.saw_exactly(0, ["/robots.txt", "/", "/a", "/b"])?;
    let row = host(&name)?;
    ensure!(row["state"] == "ok" && row["pages"] == 3, "sites says {row}");
    ensure!(up.seen(0).len() == 4, "the other host was asked again: {:?}", up.paths(0));
    rig.verify("data")
}

#[test]
fn a_host_that_asks_for_a_year_is_given_up_at_once() -> Result<()> {
    let Some(rig) = Rig::new("a-year", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[loopback(1)], |asked| match asked.path.as_str() {
        "/a" => Answer::status(503).header("Retry-After: 31536000"),
        _ => site(asked),
    })?;
    let args = ["--allow-private", "--delay", "50ms", &hosts.url(0, "/")];
    rig.start_plain("data", &args)?.wait(Duration::from_secs(30))?.ok()?;
    hosts.saw_exactly(0, ["/robots.txt", "/", "/a"])?;
    let rows = rig.rows("data", &["sites"])?;
    ensure!(rows[0]["state"] == "given up", "sites says {rows:?}");
    Ok(())
}
