//! What a fleet has fetched, read by somebody else: the index follows while workers work, is killed
//! and goes on, and knows in the end what a crawl on one machine knows.

use crate::cluster::{CARELESS, Cluster};
use crate::fleet::Web;
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, count, some, summary};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::process::Running;

const HOSTS: usize = 12;
const PAGES: usize = 40;

struct Fleet {
    rig: Rig,
    url: String,
    root: String,
}

impl Fleet {
    fn start(&self, data: &str, name: &str, args: &[&str]) -> Result<Running> {
        let always = ["--format", "json", "--store", &self.url, "--archive", &self.root];
        let mut command = self.rig.argiope(data, &[&always[..], args].concat());
        Running::start(&mut command, &self.rig.dir, name)
    }

    /// How many pages a search finds.
    fn found(&self, data: &str, words: &str) -> Result<u64> {
        let rows = self.rig.rows(data, &["search", words])?;
        let last = rows.last().context("no last row")?;
        last["total"].as_u64().context("no total")
    }
}

/// The body of a page, as the server sends it to whoever asks.
fn body(url: &str) -> Result<Vec<u8>> {
    let (host, path) = url.trim_start_matches("http://").split_once('/').context("no path")?;
    let mut stream = TcpStream::connect(host)?;
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let at = all.windows(4).position(|w| w == b"\r\n\r\n").context("no head")?;
    Ok(all.split_off(at + 4))
}

/// The rows of two places, without what depends on when and by whom pages were met.
fn same(one: &[Value], other: &[Value], names: &[&str]) -> Result<()> {
    let kept = |rows: &[Value]| {
        let pick = |row: &Value| names.iter().map(|n| row[n].to_string()).collect::<Vec<_>>();
        let mut rows: Vec<Vec<String>> = rows.iter().map(pick).collect();
        rows.sort();
        rows
    };
    let (one, other) = (kept(one), kept(other));
    ensure!(one == other, "{} and {}", some(one), some(other));
    Ok(())
}

#[test]
fn what_a_fleet_fetched_is_indexed_meanwhile_and_read_as_that_of_one_crawl() -> Result<()> {
    let Some(rig) = Rig::new("fleet-read", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let root = rig.folder("pages")?.display().to_string();
    let fleet = Fleet { rig, url: cluster.database(), root };
    let web = Web::start(HOSTS, PAGES)?;
    let pages = (HOSTS * PAGES) as u64;
    let polite = ["--allow-private", "--delay", "200ms"];
    let workers: Vec<Running> = ["one", "two"]
        .iter()
        .map(|name| fleet.start("none", name, &[&["worker"], &polite[..]].concat()))
        .collect::<Result<_>>()?;
    let mut index = fleet.start("reader", "index", &["index"])?;
    let start = web.start_url();
    let order = [&["crawl", &start, "--scope", "any"], &polite[..]].concat();
    let mut crawl = fleet.start("none", "crawl", &order)?;
    // Killed twice while pages come in; whoever searches meanwhile gets an answer.
    let (mut killed, mut early) = (0, 0);
    while crawl.is_running()? {
        std::thread::sleep(Duration::from_millis(1_500));
        early = early.max(fleet.found("reader", "host")?);
        if killed < 2 {
            killed += 1;
            index.kill()?;
            // Without an owner whoever asks indexes the rest.
            early = early.max(fleet.found("reader", "host")?);
            index = fleet.start("reader", "index", &["index"])?;
        }
    }
    let told = summary(&crawl.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == pages, "{told}");
    ensure!(killed == 2 && early > 0, "nothing was found while it ran");
    let begun = Instant::now();
    while fleet.found("reader", "host")? < pages {
        ensure!(begun.elapsed() < SHORT_LIMIT, "{} found", fleet.found("reader", "host")?);
        std::thread::sleep(Duration::from_millis(200));
    }
    let status = fleet.rig.rows("reader", &["status"])?;
    ensure!(status[0]["state"] == "following" && status[0]["fetched"] == pages, "{}", status[0]);

    // The same web crawled alone: the same words, links and pages.
    let alone = ["crawl", &start, "--scope", "any", "--allow-private", "--delay", "0s"];
    fleet.rig.run("alone", &alone)?.ok()?;
    let (words, top) = (&["words", "--limit", "0"], &["top", "--limit", "1000"]);
    for (args, names) in [
        (&words[..], &["word", "documents", "occurrences"][..]),
        (&top[..], &["url", "backlinks", "sites"]),
        (&["links", &start], &["source", "words", "kind"]),
    ] {
        same(&fleet.rig.rows("reader", args)?, &fleet.rig.rows("alone", args)?, names)
            .with_context(|| format!("{args:?}"))?;
    }
    let page = format!("http://{}/7", web.addresses[5]);
    let shown = fleet.rig.run("reader", &["show", &page])?.ok()?;
    ensure!(shown.out_text().as_bytes() == body(&page)?, "{}", shown.out_text());

    // Changes are written down by whoever only reads, too.
    let host = web.addresses[3].ip().to_string();
    let row = fleet.rig.rows("reader", &["sites", "exclude", &host])?;
    ensure!(row.len() == 1, "{row:?}");
    let explained =
        fleet.rig.rows("reader", &["explain", &format!("http://{}/x", web.addresses[3])])?;
    ensure!(explained.iter().any(|row| row["verdict"] == "no"), "{}", some(explained));

    for running in workers.into_iter().chain([index]) {
        let ended = Command::new("kill").arg("-TERM").arg(running.id().to_string()).status()?;
        ensure!(ended.success());
        running.wait(SHORT_LIMIT)?.ok()?;
    }
    let rows = fleet.rig.rows("reader", &["verify"])?;
    ensure!(rows.len() == 1 && rows[0]["checked"]["documents"] == pages, "{}", some(&rows));

    // Parts are of use alone, and say what they lack.
    let links = ["index", "--once", "--only", "links"];
    let links = [&links[..], &["--store", &fleet.url, "--archive", &fleet.root]].concat();
    fleet.rig.run("links-alone", &links)?.ok()?;
    same(
        &fleet.rig.rows("links-alone", top)?,
        &fleet.rig.rows("alone", top)?,
        &["url", "backlinks"],
    )?;
    let elsewhere = fleet.rig.folder("elsewhere")?.display().to_string();
    let lost = ["--store", &fleet.url, "--archive", &elsewhere];
    for asked in [&["index", "--once"][..], &["search", "host"]] {
        let refused = fleet.rig.run("lost", &[asked, &lost[..]].concat())?;
        ensure!(refused.code == Some(1) && refused.err.contains("--archive"), "{}", refused.err);
    }
    let refused = fleet.rig.run("reader", &["forget", &page])?;
    ensure!(refused.code == Some(2) && refused.err.contains("store copy"), "{}", refused.err);
    Ok(())
}

#[test]
fn what_a_crawl_has_left_to_index_is_indexed_when_that_is_asked_for() -> Result<()> {
    let Some(rig) = Rig::new("index-alone", &[])? else { return Ok(()) };
    let web = Web::start(2, 10)?;
    let start = web.start_url();
    let crawl = ["crawl", &start, "--scope", "any", "--allow-private", "--delay", "0s"];
    rig.run("data", &[&crawl[..], &["--no-index", "--no-links"]].concat())?.ok()?;
    let told = rig.rows("data", &["index"])?;
    ensure!(told[0]["documents"] == 20 && told[0]["left_out"] == 0, "{told:?}");
    let rows = rig.rows("data", &["verify"])?;
    ensure!(rows[0]["checked"]["documents"] == 20 && rows.len() == 1, "{}", some(&rows));
    Ok(())
}

#[test]
fn the_delay_that_whoever_gives_the_work_has_said_is_kept_by_all() -> Result<()> {
    let Some(rig) = Rig::new("fleet-delay", &[])? else { return Ok(()) };
    let Some(cluster) = Cluster::start(CARELESS) else { return Ok(()) };
    let root = rig.folder("pages")?.display().to_string();
    let fleet = Fleet { rig, url: cluster.database(), root };
    let web = Web::start(8, 10)?;
    // It has been told nothing, and would wait ten seconds between two pages.
    let worker = fleet.start("none", "worker", &["worker", "--allow-private"])?;
    let fleet_of = |n: u64| -> Result<bool> {
        let rows = fleet.rig.rows("none", &["status", "--fleet", "--store", &fleet.url])?;
        Ok(rows[0]["workers"] == n && rows[0]["free"] == 0)
    };
    let begun = Instant::now();
    while !fleet_of(1)? {
        ensure!(begun.elapsed() < SHORT_LIMIT, "nobody works: {}", worker.err_so_far());
        std::thread::sleep(Duration::from_millis(100));
    }
    let start = web.start_url();
    let order = ["crawl", &start, "--scope", "any", "--allow-private", "--delay", "300ms"];
    let told = summary(&fleet.start("none", "crawl", &order)?.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(count(&told, "fetched")? == 80, "{told}");
    let took = told["elapsed_s"].as_f64().context("no time")?;
    // Ten pages at ten seconds would be a hundred.
    ensure!(took < 60.0, "somebody kept another delay: {took} s");
    crate::fleet::pauses_were_kept(&web.seen())?;
    // The gap of an address has gone with the delay: a second of it, for ten seconds, would be felt.
    for (host, seen) in web.seen() {
        let pauses = seen.windows(2).map(|pair| pair[1].began - pair[0].began);
        let least = pauses.min().context("asked once")?;
        ensure!(least < Duration::from_millis(900), "host {host} had a pause of {least:?} always");
    }
    let sites = fleet.rig.rows("reader", &["sites", "--store", &fleet.url])?;
    ensure!(sites.iter().all(|row| row["delay_s"] == 0.3), "{}", some(&sites));
    drop(worker);
    Ok(())
}
