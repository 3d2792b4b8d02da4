//! Coming back: rounds over sites whose every change is known, against what was served.

use crate::rig::{CRAWL_LIMIT, Rig, count, files_ending, knob, skip, summary};
use crate::watched::{Answer, Asked, Watched, loopback, page};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process::Running;

const QUICK: [&str; 3] = ["--allow-private", "--delay", "0s"];

impl Rig {
    /// Starts a round.
    fn start_refresh(&self, data: &str, args: &[&str]) -> Result<Running> {
        let args = [&["--format", "json", "refresh"], &QUICK[..], args].concat();
        Running::start(&mut self.argiope(data, &args), &self.dir, &format!("refresh-{data}"))
    }

    /// A round to its end.
    pub fn refresh(&self, data: &str, args: &[&str]) -> Result<Value> {
        summary(&self.start_refresh(data, args)?.wait(CRAWL_LIMIT)?.ok().context("refresh")?)
    }
}

/// Asks a process to end in order.
fn end(running: &Running) -> Result<()> {
    let sent = Command::new("kill").arg("-TERM").arg(running.id().to_string()).status()?;
    ensure!(sent.success(), "it is not there any more");
    Ok(())
}

fn bytes_in(dir: &Path) -> Result<u64> {
    let files = files_ending(dir, "")?;
    files.iter().map(|file| Ok(std::fs::metadata(file)?.len())).sum()
}

/// Packaged documentation behind a real server: the second round asks and is told that nothing has
/// changed.
#[test]
fn a_site_that_stays_costs_no_bodies_and_hardly_any_disk_the_second_time() -> Result<()> {
    let Some(rig) = Rig::new("again-unchanged", &["nginx"])? else { return Ok(()) };
    let docs = Path::new("/usr/share/doc/postgresql-doc-15/html");
    if !docs.join("index.html").exists() {
        return skip("again-unchanged", "postgresql-doc-15 is not installed");
    }
    let nginx = Nginx::serve(docs, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    let crawled = rig.crawl("data", &[&start, "--scope", "host"])?;
    let pages = count(&crawled, "fetched")?;
    ensure!(pages > 1_000, "{crawled}");
    let data = rig.dir.join("data");
    let first = bytes_in(&data)?;
    let mut before = first;
    for round in 2..=4 {
        let told = rig.refresh("data", &["--all"])?;
        ensure!(count(&told, "visited")? == pages && count(&told, "unchanged")? == pages, "{told}");
        ensure!(count(&told, "bytes")? == count(&crawled, "bytes")?, "bodies were sent: {told}");
        let now = bytes_in(&data)?;
        let grown = now as f64 - before as f64;
        eprintln!(
            "round {round}: {:+.2} % of the first round's {first} bytes",
            100.0 * grown / first as f64
        );
        ensure!(grown < 0.02 * first as f64, "round {round} took {grown} of {first} bytes");
        before = now;
    }
    let due = rig.refresh("data", &[])?;
    ensure!(count(&due, "visited")? == 0, "nothing is due yet: {due}");
    let doc = rig.doc("data", &start)?;
    ensure!(doc["visits"] == 4 && doc["changes"] == 0, "{doc}");
    ensure!(doc["due"].is_string() && doc["cycle"].is_string(), "{doc}");
    rig.verify("data")?;
    // Whoever wants a record of every visit has one, and the same page from it.
    let told = rig.refresh("data", &["--all", "--set", "archive.unchanged=true"])?;
    ensure!(count(&told, "unchanged")? == pages, "{told}");
    let kept: Vec<_> = rig.captures("data")?;
    ensure!(kept.len() as u64 >= 2 * pages, "{} records", kept.len());
    let shown = rig.run("data", &["show", &start])?.ok()?.out_text();
    ensure!(shown == std::fs::read_to_string(docs.join("index.html"))?, "another page is shown");
    rig.verify("data")
}

/// A generator of numbers that repeats itself.
#[derive(Clone)]
struct Lot(u64);

impl Lot {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

const NOUNS: [&str; 16] = [
    "spider", "web", "thread", "silk", "garden", "orb", "leaf", "dew", "fly", "moth", "branch",
    "dusk", "dawn", "anchor", "spiral", "hub",
];
const VERBS: [&str; 8] =
    ["spins", "holds", "crosses", "catches", "mends", "leaves", "eats", "waits for"];

fn sentence(lot: &mut Lot) -> String {
    let (a, b, c) = (lot.below(16), lot.below(8), lot.below(16));
    let n = lot.below(900) + 100;
    format!(
        "The {} {} the {} beside post {n}.",
        NOUNS[a as usize], VERBS[b as usize], NOUNS[c as usize]
    )
}

/// A site in rounds: what a page says, and all that moves on it by itself.
struct Moving {
    pages: usize,
    /// Sentences of each page, round by round.
    texts: Vec<Vec<Vec<String>>>,
    round: AtomicUsize,
    asked: Mutex<Lot>,
    /// Bodies as they were served, by page and round; `None` for errors in place of a page.
    served: Mutex<BTreeMap<(usize, usize), Option<String>>>,
}

impl Moving {
    fn new(pages: usize, rounds: usize, seed: u64) -> Self {
        let mut lot = Lot(seed);
        let mut texts = Vec::new();
        for _ in 0..pages {
            let mut text: Vec<String> = (0..12).map(|_| sentence(&mut lot)).collect();
            let mut all = vec![text.clone()];
            for _ in 1..rounds {
                match lot.below(12) {
                    0 => text[3] = sentence(&mut lot),
                    1 => text.push(sentence(&mut lot)),
                    2 if text.len() > 6 => {
                        text.remove(5);
                    }
                    _ => {}
                }
                all.push(text.clone());
            }
            texts.push(all);
        }
        let (round, asked) = (AtomicUsize::new(0), Mutex::new(Lot(seed ^ 0xabcdef)));
        Moving { pages, texts, round, asked, served: Mutex::default() }
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let path = asked.path.split('?').next().unwrap_or_default();
        let mut lot = self.asked.lock().expect("no panic");
        let mut session = || format!("{:016x}{:08x}", lot.next() * 77_777, lot.next());
        let link = |n: usize, session: String| {
            format!("<li><a href=\"/p{n}?PHPSESSID={session}7\">Page {n}</a>")
        };
        if path == "/" {
            let links: Vec<String> = (0..self.pages).map(|n| link(n, session())).collect();
            return Answer::html(format!("<title>Start</title><ul>{}</ul>", links.concat()));
        }
        let Some(n) = path.strip_prefix("/p").and_then(|n| n.parse::<usize>().ok()) else {
            return Answer::status(404);
        };
        let round = self.round.load(Ordering::SeqCst);
        let other = link((n * 7 + 1) % self.pages, session());
        // One visit in 25 sees an error, or a wall, in place of the page: with a good status.
        let error = round > 0 && lot.below(25) == 0;
        let body = if error {
            let walls = [
                "<title>Sorry</title><h1>Sorry</h1><p>Something went wrong. Please try again later.",
                "<title>Sign in</title><form>Please log in to continue.</form>",
            ];
            walls[lot.below(2) as usize].to_owned()
        } else {
            let ads = [
                "Shoes for eight feet, half price today",
                "Silk by the metre, delivered at dusk",
                "Learn to knit in a single night",
                "Flies, fresh every morning at the corner",
                "A tent that puts itself up in the wind",
                "Insurance for webs of every size",
            ];
            let ad = ads[lot.below(6) as usize];
            let text = self.texts[n][round].iter().map(|s| format!("<p>{s}")).collect::<String>();
            format!(
                "<title>Page {n}</title><nav><a href=/>Home</a> {other}</nav><h1>Page {n} of the garden</h1>\
                 {text}<div class=ad>{ad}</div><p>Server time: {:02}:{:02}:{:02}<p>{} views<p>Imprint",
                lot.below(24),
                lot.below(60),
                lot.below(60),
                1_000 + lot.below(100_000)
            )
        };
        let mut served = self.served.lock().expect("no panic");
        // What is looked at once more in a round is not what is kept of it.
        served.entry((n, round)).or_insert_with(|| (!error).then(|| body.clone()));
        Answer::html(body)
    }
}

#[test]
fn clocks_counters_boxes_sessions_and_soft_errors_are_no_changes_and_edits_are() -> Result<()> {
    let Some(rig) = Rig::new("again-moving", &[])? else { return Ok(()) };
    let pages = usize::try_from(knob("ARGIOPE_MOVING", 60)?)?;
    let rounds = 8;
    let site = Arc::new(Moving::new(pages, rounds, knob("ARGIOPE_SEED", 11)?));
    let made = site.clone();
    let hosts = Watched::start(&[loopback(71)], move |asked: &Asked| made.answer(asked))?;
    rig.crawl("data", &[&hosts.url(0, "/"), "--scope", "host", "--connections-per-host", "4"])?;
    for round in 1..rounds {
        site.round.store(round, Ordering::SeqCst);
        // Times are told in milliseconds, and rounds apart.
        std::thread::sleep(Duration::from_millis(20));
        let told = rig.refresh("data", &["--all", "--connections-per-host", "4"])?;
        ensure!(count(&told, "visited")? == pages as u64 + 1, "round {round}: {told}");
        ensure!(count(&told, "new")? == 0, "sessions led to new pages: {told}");
    }
    let served = site.served.lock().expect("no panic").clone();
    let (mut quiet, mut real, mut falsely, mut missed) = (0, 0, Vec::new(), Vec::new());
    for n in 0..pages {
        let url = hosts.url(0, &format!("/p{n}"));
        let rows = rig.rows("data", &["history", &url])?;
        ensure!(rows.len() == rounds, "{} visits of {url} instead of {rounds}", rows.len());
        let mut last = 0;
        for round in 1..rounds {
            let is_error = served[&(n, round)].is_none();
            let differs = !is_error && site.texts[n][round] != site.texts[n][last];
            if !is_error {
                last = round;
            }
            let told = rows[round]["changed"] == true;
            match differs {
                true => real += 1,
                false => quiet += 1,
            }
            match (differs, told) {
                (true, false) => missed.push((n, round, rows[round]["reason"].clone())),
                (false, true) => falsely.push((n, round, rows[round]["reason"].clone())),
                _ => {}
            }
        }
    }
    eprintln!(
        "{quiet} visits without a change, {} taken for one; {real} changes, {} missed",
        falsely.len(),
        missed.len()
    );
    ensure!(real > 50 && quiet > 200, "too little happened: {real} {quiet}");
    ensure!(falsely.len() * 100 < quiet, "taken for changes: {falsely:?}");
    ensure!(missed.len() * 100 < real, "missed: {missed:?}");
    // What was served then, byte for byte.
    for n in (0..pages).step_by(7) {
        let url = hosts.url(0, &format!("/p{n}"));
        for (round, row) in rig.rows("data", &["history", &url])?.iter().enumerate() {
            let Some(Some(body)) = served.get(&(n, round)) else { continue };
            let time = row["time"].as_str().context("no time")?;
            let shown = rig.run("data", &["show", &url, "--at", time])?.ok()?;
            ensure!(shown.out_text() == *body, "{url} of round {round}");
        }
    }
    rig.verify("data")
}

#[test]
fn a_server_that_says_wrongly_that_nothing_has_changed_is_found_out() -> Result<()> {
    let Some(rig) = Rig::new("again-liar", &[])? else { return Ok(()) };
    let round = Arc::new(AtomicUsize::new(0));
    let now = round.clone();
    let hosts = Watched::start(&[loopback(72)], move |asked: &Asked| {
        let conditional = asked.head.to_lowercase().contains("if-none-match");
        if asked.path == "/robots.txt" {
            return Answer::status(404);
        }
        // It knows one version of everything, whatever it is.
        if conditional {
            return Answer::status(304).header("ETag: \"only-one\"");
        }
        let mut lot = Lot(1 + now.load(Ordering::SeqCst) as u64);
        let text = format!("<title>T</title><p>{} {}", sentence(&mut lot), sentence(&mut lot));
        let links = (0..4).map(|n| format!("<a href=/p{n}>p</a>")).collect::<String>();
        Answer::html(format!("{text}{links}")).header("ETag: \"only-one\"")
    })?;
    rig.crawl("data", &[&hosts.url(0, "/"), "--scope", "host"])?;
    // It is believed for a while, and not for ever.
    let mut seen = BTreeSet::new();
    for n in 1..=20 {
        round.store(n, Ordering::SeqCst);
        let told = rig.refresh("data", &["--all"])?;
        if count(&told, "changed")? > 0 {
            seen.insert(n);
        }
    }
    ensure!(!seen.is_empty(), "it was never found out");
    let first = *seen.first().context("empty")?;
    ensure!(first > 2, "it was never believed");
    // From then on it is asked without conditions: every change is seen.
    let rows = rig.rows("data", &["history", &hosts.url(0, "/")])?;
    let late: Vec<&Value> = rows.iter().rev().take(3).collect();
    ensure!(late.iter().all(|row| row["changed"] == true && row["status"] == 200), "{rows:#?}");
    ensure!(rows.iter().any(|row| row["lied"] == true), "{rows:#?}");
    Ok(())
}

const WORDS: [&str; 8] = ["one", "two", "three", "four", "five", "six", "seven", "eight"];

#[test]
fn a_round_killed_again_and_again_ends_with_every_page_visited() -> Result<()> {
    let Some(rig) = Rig::new("again-kill", &[])? else { return Ok(()) };
    let pages = 400;
    let round = Arc::new(AtomicUsize::new(0));
    let now = round.clone();
    let hosts = Watched::start(&[73, 74].map(loopback), move |asked: &Asked| {
        let n = now.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            "/" => page("start", (0..pages).map(|n| format!("/p{n}"))),
            path => Answer::html(format!("<title>{path}</title><p>Round {} of it.", WORDS[n])),
        }
    })?;
    let starts = hosts.starts();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    rig.crawl(
        "data",
        &[&starts[..], &["--scope", "host", "--connections-per-host", "4"]].concat(),
    )?;
    round.store(1, Ordering::SeqCst);
    let mut kills = 0;
    let told = loop {
        let mut run = rig.start_refresh("data", &["--all", "--connections-per-host", "2"])?;
        std::thread::sleep(Duration::from_millis(250 + 130 * kills));
        if kills < 5 && run.is_running()? {
            run.kill()?;
            kills += 1;
            continue;
        }
        break summary(&run.wait(CRAWL_LIMIT)?.ok()?)?;
    };
    ensure!(kills >= 2, "it was over before it could be killed");
    ensure!(told["ended"] == "done", "{told}");
    for host in 0..2 {
        for n in (0..pages).step_by(37) {
            let url = hosts.url(host, &format!("/p{n}"));
            let doc = rig.doc("data", &url)?;
            ensure!(doc["changes"] == 1 && doc["state"] == "fetched", "{doc}");
            let shown = rig.run("data", &["show", &url])?.ok()?.out_text();
            ensure!(shown.contains("Round two of it."), "{shown}");
        }
    }
    rig.verify("data")
}

#[test]
fn a_watch_sees_changes_new_pages_and_pages_that_are_gone_and_keeps_to_its_budget() -> Result<()> {
    let Some(rig) = Rig::new("again-watch", &[])? else { return Ok(()) };
    let round = Arc::new(AtomicUsize::new(0));
    let now = round.clone();
    let hosts = Watched::start(&[loopback(75)], move |asked: &Asked| {
        let later = now.load(Ordering::SeqCst) > 0;
        match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            "/" => page("start", ["/a", "/b", "/c"].into_iter().chain(later.then_some("/new"))),
            "/b" if later => Answer::status(404),
            "/a" if later => Answer::html("<title>a</title><p>Quite other words about a moth."),
            path => Answer::html(format!("<title>{path}</title><p>What stands on {path}.")),
        }
    })?;
    let start = hosts.url(0, "/");
    rig.crawl_plain("data", &[&start, "--scope", "host", "--delay", "50ms", "--allow-private"])?;
    let args =
        ["--format", "json", "watch", "--round", "1s", "--policy", "fixed", "--allow-private"];
    let args = [&args[..], &["--delay", "50ms"]].concat();
    let watch = Running::start(&mut rig.argiope("data", &args), &rig.dir, "watch")?;
    std::thread::sleep(Duration::from_secs(3));
    round.store(1, Ordering::SeqCst);
    std::thread::sleep(Duration::from_secs(6));
    let status = rig.rows("data", &["status"])?.pop().context("no status")?;
    ensure!(status["state"] == "watching", "{status}");
    ensure!(status["again"]["visited"].as_u64().unwrap_or(0) > 10, "{status}");
    // Set by hand while it runs.
    let set = rig.rows("data", &["cycle", &hosts.url(0, "/c"), "2d"])?;
    ensure!(set[0]["cycle_s"] == 172_800 && set[0]["cycle_by"] == "hand", "{set:?}");
    end(&watch)?;
    let told = summary(&watch.wait(CRAWL_LIMIT)?.ok()?)?;
    ensure!(told["ended"] == "stopped", "{told}");
    ensure!(count(&told, "changed")? >= 2 && count(&told, "gone")? >= 1, "{told}");
    ensure!(count(&told, "new")? == 1, "{told}");
    ensure!(rig.doc("data", &hosts.url(0, "/new"))?["state"] == "fetched");
    // It may have been queued once more when the watch was stopped.
    let gone = rig.doc("data", &hosts.url(0, "/b"))?;
    ensure!(gone["status"] == 404 && gone["state"] != "fetched", "{gone}");
    ensure!(rig.doc("data", &hosts.url(0, "/c"))?["cycle_by"] == "hand");
    let found = rig.rows("data", &["search", "moth"])?;
    ensure!(found.iter().any(|row| row["url"] == hosts.url(0, "/a")), "{found:?}");
    hosts.keeps_pause(0, Duration::from_millis(50))?;
    rig.verify("data")?;
    // A budget of a few a day is one of very few in seconds.
    let before = hosts.all().len();
    let args = [&args[..], &["--per-day", "1000"]].concat();
    let watch = Running::start(&mut rig.argiope("data", &args), &rig.dir, "watch-budget")?;
    std::thread::sleep(Duration::from_secs(5));
    end(&watch)?;
    watch.wait(CRAWL_LIMIT)?.ok()?;
    let asked = hosts.all().len() - before;
    ensure!(asked <= 5, "{asked} requests in five seconds, for a budget of 1000 a day");
    // What a rule says of some pages holds for these, and for no others.
    let before = hosts.paths(0);
    let rules = format!("revisit.rules={}/* at most 24 a day,*/a never", hosts.address(0));
    let first = args.len() - 2;
    let args = [&args[..first], &["--set", &rules]].concat();
    let watch = Running::start(&mut rig.argiope("data", &args), &rig.dir, "watch-rules")?;
    std::thread::sleep(Duration::from_secs(5));
    end(&watch)?;
    watch.wait(CRAWL_LIMIT)?.ok()?;
    let after = hosts.paths(0);
    ensure!(before.get("/a") == after.get("/a"), "what is never to be visited was");
    let asked = after.values().sum::<usize>() - before.values().sum::<usize>();
    ensure!((1..=4).contains(&asked), "{asked} requests, for a rule of 24 a day");
    Ok(())
}

/// Rounds, and everything that is asked of them afterwards: the past is found by its words, told by a
/// feed, and thinned out by a rule.
#[test]
fn what_rounds_have_seen_is_found_in_the_past_told_and_pruned() -> Result<()> {
    let Some(rig) = Rig::new("again-past", &[])? else { return Ok(()) };
    const OWN: [&str; 4] = ["aldebaran", "betelgeuse", "capella", "deneb"];
    let round = Arc::new(AtomicUsize::new(0));
    let now = round.clone();
    let hosts = Watched::start(&[loopback(76)], move |asked: &Asked| {
        let n = now.load(Ordering::SeqCst);
        let same = "Words that stay as they are on this page. ".repeat(10);
        match asked.path.as_str() {
            "/robots.txt" => Answer::status(404),
            "/" => page("start", ["/changes", "/goes", "/stays"]),
            "/goes" if n >= 2 => Answer::status(404),
            "/changes" => Answer::html(format!("<title>changes</title><p>{} {same}", OWN[n])),
            path => Answer::html(format!("<title>{path}</title><p>vega {same}")),
        }
    })?;
    let at = |path: &str| hosts.url(0, path);
    let tree = rig.dir.join("tree");
    let tree_flag = tree.to_string_lossy().into_owned();
    rig.crawl("data", &[&at("/"), "--scope", "host", "--tree", &tree_flag])?;
    let tree_set = format!("archive.tree={tree_flag}");
    let mut between = Vec::new();
    for n in 1..4 {
        std::thread::sleep(Duration::from_millis(1_100));
        let time = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output()?.stdout;
        between.push(String::from_utf8(time)?.trim().to_owned());
        std::thread::sleep(Duration::from_millis(1_100));
        round.store(n, Ordering::SeqCst);
        let told = rig.refresh("data", &["--all", "--set", &tree_set])?;
        ensure!(count(&told, "changed")? == 1, "round {n}: {told}");
    }
    // The files that were written meanwhile: each version of what changes, once of what stays.
    let lines =
        std::fs::read_to_string(tree.join("index.jsonl")).context("no index of the tree")?;
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines.lines() {
        let row: Value = serde_json::from_str(line)?;
        let path = tree.join(row["path"].as_str().context("no path")?);
        let url = row["url"].as_str().context("no URL")?.to_owned();
        files.entry(url).or_default().push(std::fs::read_to_string(path)?);
    }
    let versions = files.get(&at("/changes")).context("what changes has no file")?;
    ensure!(versions.len() == 4, "{versions:?}");
    ensure!(versions.iter().zip(OWN).all(|(file, word)| file.contains(word)), "{versions:?}");
    ensure!(files.get(&at("/stays")).map(Vec::len) == Some(1), "{files:?}");
    let found = |words: &str, time: Option<&str>| -> Result<BTreeSet<String>> {
        let mut args = vec!["search", words];
        args.extend(time.iter().flat_map(|time| ["--at", time]));
        let rows = rig.rows("data", &args)?;
        Ok(rows.iter().filter_map(|row| row["url"].as_str().map(str::to_owned)).collect())
    };
    let one = |path: &str| BTreeSet::from([at(path)]);
    let past_is_found = || -> Result<()> {
        for (n, time) in between.iter().enumerate() {
            ensure!(found(OWN[n], Some(time))? == one("/changes"), "{} at {time}", OWN[n]);
            ensure!(found(OWN[n], None)?.is_empty(), "{} is found today", OWN[n]);
            ensure!(found(OWN[n + 1], Some(time))?.is_empty(), "{} at {time}", OWN[n + 1]);
        }
        ensure!(found(OWN[3], None)? == one("/changes"));
        let vega = found("vega", Some(&between[0]))?;
        ensure!(vega == BTreeSet::from([at("/goes"), at("/stays")]), "{vega:?}");
        ensure!(found("vega", None)? == one("/stays"), "what is gone is found today");
        Ok(())
    };
    past_is_found().context("as it was seen")?;
    let changed = format!("changed-after:{} deneb", &between[2][..10]);
    ensure!(found(&changed, None)? == one("/changes"), "{changed}");
    rig.run("data", &["reindex"])?.ok()?;
    past_is_found().context("made again")?;
    let feed = rig.rows("data", &["feed"])?;
    let told = |path: &str, what: &str| {
        let meant = |row: &&Value| row["url"] == at(path) && row["news"] == what;
        feed.iter().filter(meant).count()
    };
    ensure!(told("/changes", "changed") == 3 && told("/goes", "gone") == 1, "{feed:#?}");
    ensure!(told("/stays", "changed") == 0 && told("/stays", "new") == 1, "{feed:#?}");
    rig.verify("data")?;
    rig.run("data", &["prune", "--keep", "last:2", "--yes"])?.ok()?;
    let left = rig.rows("data", &["history", &at("/changes")])?;
    ensure!(left.len() == 2, "{left:#?}");
    for (row, word) in left.iter().zip(&OWN[2..]) {
        let time = row["time"].as_str().context("no time")?;
        let shown = rig.run("data", &["show", &at("/changes"), "--at", time])?.ok()?.out_text();
        ensure!(shown.contains(word), "{shown}");
    }
    let stays = rig.run("data", &["show", &at("/stays")])?.ok()?.out_text();
    ensure!(stays.contains("vega"), "{stays}");
    rig.verify("data")?;
    let told = rig.refresh("data", &["--all"])?;
    ensure!(count(&told, "changed")? == 0, "after pruning: {told}");
    rig.verify("data")
}
