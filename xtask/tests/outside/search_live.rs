//! The index follows a crawl: pages are found soon after they were fetched, and `kill -9` at any
//! moment loses none and doubles none.
//!
//! When a page was fetched is read from the crawl log; when it is found, by asking the running crawl
//! again and again. Kills come at moments drawn from a seed, in crawls slow enough for the index to
//! have been written to several times.

use crate::rig::{CRAWL_LIMIT, Rig, knob, skip, some};
use crate::sites::{Dice, Graph};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use xtask::docs;
use xtask::nginx::Nginx;
use xtask::process::Running;

/// A page must be found so soon after its fetch when the crawl is slow, and half of them must be
/// sooner; the rest is what a machine busy with other tests may add.
const CALM_MEDIAN: f64 = 3.0;
const CALM_MOST: f64 = 6.0;
/// The same at full speed.
const BUSY_MOST: f64 = 15.0;

/// A word that only this page has; all of them begin alike.
fn own(page: usize) -> String {
    let mut dice = Dice::new(page as u64 + 77);
    let tail = (0..14).map(|_| char::from(b'a' + dice.below(26) as u8));
    "qzunique".chars().chain(tail).collect()
}

/// Made-up pages, each with its own word.
fn site(root: &Path, pages: usize, weight: usize) -> Result<()> {
    Graph::made_up(pages, 11).write(root, weight)?;
    for page in 0..pages {
        let path = root.join(&Graph::uri(page)[1..]);
        let text = std::fs::read_to_string(&path)?;
        std::fs::write(&path, format!("{text}<p>{}.", own(page)))?;
    }
    Ok(())
}

#[test]
fn after_kills_at_any_moment_every_page_is_found_once_by_its_own_word() -> Result<()> {
    let Some(rig) = Rig::new("search-kill", &["nginx"])? else { return Ok(()) };
    let (kills, seed) = (knob("ARGIOPE_KILLS", 6)?, knob("ARGIOPE_SEED", 1)?);
    let pages = knob("ARGIOPE_KILL_PAGES", 1500)? as usize;
    let root = rig.folder("site")?;
    site(&root, pages, 3000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let args = [start.as_str(), "--scope", "host", "--delay", "10ms", "--allow-private"];

    let mut dice = Dice::new(seed);
    let (mut landed, mut before) = (0, 0);
    for number in 0..kills {
        let running = rig.start_plain("data", &args)?;
        std::thread::sleep(Duration::from_micros(100_000 + dice.below(4_500_000)));
        landed += u64::from(running.kill()?.signal == Some(9));
        if number % 2 == 1 {
            // Asked in between, the index is somewhere else than the store when it is killed next.
            let found = own_words(&rig)?.len();
            ensure!(found >= before, "kill {number}: {found} pages found, {before} before");
            before = found;
        }
    }
    ensure!(landed * 2 > kills, "only {landed} of {kills} kills found the crawl running");
    ensure!(before > 0 && before < pages, "{before} of {pages} pages between the kills");
    rig.crawl("data", &[&start, "--scope", "host"])?;
    rig.verify("data").with_context(|| format!("seed {seed}"))?;

    let wanted: BTreeSet<String> = (0..pages).map(own).collect();
    let words = own_words(&rig)?;
    let lost: Vec<&String> = wanted.iter().filter(|word| !words.contains_key(*word)).collect();
    ensure!(lost.is_empty(), "seed {seed}: pages not found, {}", some(lost));
    ensure!(words.len() == pages, "seed {seed}: words nobody wrote, {}", some(words.keys()));
    let twice: Vec<_> = words.iter().filter(|(_, counts)| **counts != (1, 1)).collect();
    ensure!(twice.is_empty(), "seed {seed}: found twice, {}", some(twice));
    for page in (0..pages).step_by(pages / 40) {
        let rows = rig.rows("data", &["search", &own(page)])?;
        let url = format!("{}{}", nginx.origin, Graph::uri(page));
        ensure!(rows.len() == 2 && rows[0]["url"] == url && rows[1]["total"] == 1, "{rows:?}");
    }
    Ok(())
}

/// The words of the dictionary that only one page should have: documents and occurrences.
fn own_words(rig: &Rig) -> Result<BTreeMap<String, (u64, u64)>> {
    let rows = rig.rows("data", &["words", "--prefix", "qzunique", "--limit", "0"])?;
    let row = |row: &Value| {
        let number = |key: &str| row[key].as_u64().unwrap_or(0);
        let word = row["word"].as_str().unwrap_or_default().to_owned();
        (word, (number("documents"), number("occurrences")))
    };
    let words: BTreeMap<_, _> = rows.iter().map(row).collect();
    ensure!(words.len() == rows.len(), "a word is listed twice");
    Ok(words)
}

#[test]
fn a_page_of_a_slow_crawl_is_found_within_seconds_of_its_fetch() -> Result<()> {
    let Some(rig) = Rig::new("search-slow", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let pages = 16;
    site(&root, pages, 2000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let args = [start.as_str(), "--scope", "host", "--delay", "1s", "--allow-private"];
    let mut running = rig.start_plain("data", &args)?;
    let word_of: BTreeMap<String, String> = (0..pages)
        .map(|page| (format!("{}{}", nginx.origin, Graph::uri(page)), own(page)))
        .collect();
    let waits = watch(&rig, &mut running, 1, |url| {
        let word = word_of.get(url)?;
        Some(vec!["search".into(), word.clone()])
    })?;
    told("delay 1 s", &waits)?;
    ensure!(waits.len() >= pages - 3, "only {} pages were watched", waits.len());
    let median = waits[waits.len() / 2];
    ensure!(median <= CALM_MEDIAN, "half the pages took more than {median:.2} s: {waits:.2?}");
    let most = waits.last().copied().unwrap_or_default();
    ensure!(most <= CALM_MOST, "a page took {most:.2} s: {waits:.2?}");
    Ok(())
}

#[test]
fn a_page_of_a_crawl_at_full_speed_is_found_within_fifteen_seconds() -> Result<()> {
    let Some(rig) = Rig::new("search-fast", &["nginx"])? else { return Ok(()) };
    let name = std::env::var("ARGIOPE_FAST_SITE");
    let docs = match docs::site(name.as_deref().unwrap_or("openjdk-17-doc")) {
        Ok(docs) => docs.past_refresh(),
        Err(error) => return skip("found_within_fifteen_seconds", &format!("{error:#}")),
    };
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let args = [start.as_str(), "--scope", "host", "--connections-per-host", "8"];
    let mut running = rig.start_crawl("data", &args)?;
    let waits = watch(&rig, &mut running, 97, |url| {
        // The whole path, as words side by side: few pages have it, and ours is among them, though perhaps behind
        // another that says nearly the same.
        let path = url.strip_prefix(&nginx.origin)?.strip_suffix(".html")?;
        (path.len() > 8).then(|| vec!["search".into(), "--all".into(), format!("inurl:{path}")])
    })?;
    told("full speed", &waits)?;
    ensure!(waits.len() >= 10, "only {} pages were watched", waits.len());
    let most = waits.last().copied().unwrap_or_default();
    ensure!(most <= BUSY_MOST, "a page took {most:.2} s: {waits:.2?}");
    Ok(())
}

/// Watches a crawl to its end: of every `every`th page that `ask` has a question for, how many
/// seconds passed from its fetch until the question found it. Sorted.
fn watch(
    rig: &Rig,
    running: &mut Running,
    every: usize,
    ask: impl Fn(&str) -> Option<Vec<String>>,
) -> Result<Vec<f64>> {
    let log = rig.dir.join("data/log/crawl.log");
    let (mut read, mut fetched) = (0, 0);
    let mut waiting: Vec<(f64, String, Vec<String>)> = Vec::new();
    let mut waits = Vec::new();
    let end = Instant::now() + CRAWL_LIMIT;
    loop {
        let goes_on = running.is_running()?;
        ensure!(Instant::now() < end, "the crawl hangs: {}", running.err_so_far());
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        for line in text.get(read..whole).unwrap_or_default().lines() {
            let fields: Vec<&str> = line.splitn(10, ' ').collect();
            let [time, "fetched", _, _, _, _, _, _, url, ..] = fields.as_slice() else { continue };
            fetched += 1;
            if let (0, Some(question)) = (fetched % every, ask(url)) {
                waiting.push((seconds(time)?, (*url).to_owned(), question));
            }
        }
        read = whole;
        let mut still = Vec::new();
        for (since, url, question) in waiting {
            let args: Vec<&str> = question.iter().map(String::as_str).collect();
            let rows = match rig.rows("data", &[&args[..], &["--limit", "100"]].concat()) {
                Ok(rows) => rows,
                // Between the end of the crawl and ours nobody may answer.
                Err(_) if !running.is_running()? => Vec::new(),
                Err(error) => return Err(error),
            };
            match rows.iter().any(|row| row["url"] == url.as_str()) {
                true => waits.push(now()? - since),
                false => still.push((since, url, question)),
            }
        }
        waiting = still;
        if !goes_on {
            if let Some((_, url, question)) = waiting.first() {
                bail!("{url} is not found by {question:?} after the crawl");
            }
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    waits.sort_by(f64::total_cmp);
    Ok(waits)
}

fn told(what: &str, waits: &[f64]) -> Result<()> {
    let at = |share: usize| waits.get((waits.len().max(1) - 1) * share / 100).copied();
    let (median, most) = (at(50).unwrap_or(f64::NAN), at(100).unwrap_or(f64::NAN));
    let line =
        format!("{what}: {} pages, found after {median:.2} s, at most {most:.2} s\n", waits.len());
    std::io::stderr().write_all(line.as_bytes()).context("write to standard error")
}

fn now() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("the clock")?.as_secs_f64())
}

/// Seconds since 1970 of a time of today, as the log has it.
fn seconds(time: &str) -> Result<f64> {
    let clock = time.get(11..23).with_context(|| format!("not a time: {time}"))?;
    let mut parts = clock.split(':').map(str::parse::<f64>);
    let mut next = || -> Result<f64> { parts.next().context("too short")?.context("a number") };
    let today = next()? * 3600.0 + next()? * 60.0 + next()?;
    // The day is that of now, or the one before when it has just begun.
    let midnight = (now()? / 86_400.0).floor() * 86_400.0;
    let since = midnight + today;
    Ok(if since > now()? + 3600.0 { since - 86_400.0 } else { since })
}
