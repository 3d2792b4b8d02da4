//! Searching in the past by the real binary: at any time the pages that were served then, and no others.
//!
//! A made-up site is served in rounds. Between them pages come, change, go and come back, as dice say
//! that are thrown before anything is crawled; the words of each page in each round are known from
//! that alone. Every round is crawled into a directory of its own and its archive imported into one, not
//! in the order of time. When each page was visited is told by `history`; what is searched for at random
//! times must be what the files held that were served at the last visit before.

use crate::forget::search;
use crate::rig::{Rig, files_ending, knob};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process::Running;

const PAGES: usize = 40;
const ROUNDS: usize = 5;
/// Words that several pages have.
const COMMON: usize = 12;
/// The order in which archives are taken in: some come late.
const ORDER: [usize; ROUNDS] = [0, 2, 1, 4, 3];

fn word(dice: &mut Dice, letters: usize) -> String {
    (0..letters).map(|_| char::from(b'a' + dice.below(26) as u8)).collect()
}

fn common(n: u64) -> String {
    word(&mut Dice::new(90_000 + n), 12)
}

/// The words that a page holds in an edition: one of its own, and some that others have as well.
fn words(page: usize, edition: u64) -> BTreeSet<String> {
    let mut dice = Dice::new(1 + edition * 1000 + page as u64);
    let own = word(&mut dice, 20);
    let mut words: BTreeSet<String> = (0..3).map(|_| common(dice.below(COMMON as u64))).collect();
    words.insert(own);
    words
}

/// What is served in each round: the edition of every page, where it is there.
fn plan(seed: u64) -> Vec<Vec<Option<u64>>> {
    let mut dice = Dice::new(seed);
    let mut rounds: Vec<Vec<Option<u64>>> = Vec::new();
    let mut edition = 0;
    for round in 0..ROUNDS {
        let mut next = || {
            edition += 1;
            Some(edition)
        };
        let pages = (0..PAGES).map(|page| {
            let was = round.checked_sub(1).and_then(|before| rounds[before][page]);
            match dice.below(10) {
                // Every fourth page comes later than the first round.
                _ if round == 0 => (page % 4 != 3).then(&mut next).flatten(),
                0..3 => was,
                3..7 => next(),
                7..9 => None,
                _ => rounds.iter().rev().find_map(|round| round[page]).or(was),
            }
        });
        let pages = pages.collect();
        rounds.push(pages);
    }
    rounds
}

fn put(root: &Path, pages: &[Option<u64>]) -> Result<()> {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root)?;
    let mut links = String::from("<!doctype html><title>Start</title><p>Start");
    for (page, edition) in pages.iter().enumerate() {
        write!(links, " <a href=p{page}.html>page {page}</a>")?;
        let Some(edition) = edition else { continue };
        let mut dice = Dice::new(5_000_000 + edition * 1000 + page as u64);
        // Enough words that no two pages are nearly the same.
        let mut text = format!("<!doctype html><title>Page {page} {edition}</title><p>");
        for said in words(page, *edition) {
            write!(text, "{said} {} ", word(&mut dice, 9))?;
        }
        for _ in 0..40 {
            write!(text, "{} ", word(&mut dice, 9))?;
        }
        std::fs::write(root.join(format!("p{page}.html")), text)?;
    }
    std::fs::write(root.join("index.html"), links)?;
    Ok(())
}

struct Past {
    origin: String,
    /// What was served when, by page: the times of the visits, and the edition they found.
    visits: BTreeMap<usize, Vec<(String, Option<u64>)>>,
    times: Vec<String>,
}

impl Past {
    /// What `history` says of when pages were visited, and the plan of what they were then.
    fn read(rig: &Rig, origin: &str, plan: &[Vec<Option<u64>>]) -> Result<Past> {
        let mut visits = BTreeMap::new();
        let mut times = BTreeSet::new();
        for page in 0..PAGES {
            let rows = rig.rows("all", &["history", &format!("{origin}/p{page}.html")])?;
            ensure!(rows.len() == ROUNDS, "page {page} was visited {} times", rows.len());
            let mut of_page = Vec::new();
            for (row, round) in rows.iter().zip(plan) {
                let time = row["time"].as_str().context("no time")?.to_owned();
                ensure!((row["status"] == 200) == round[page].is_some(), "{row}");
                times.insert(time.clone());
                of_page.push((time, round[page]));
            }
            visits.insert(page, of_page);
        }
        Ok(Past { origin: origin.to_owned(), visits, times: times.into_iter().collect() })
    }

    /// The edition of a page at a time: that of the last visit until then.
    fn edition(&self, page: usize, time: &str) -> Option<u64> {
        self.visits[&page].iter().rev().find(|(visit, _)| visit.as_str() <= time)?.1
    }

    fn url(&self, page: usize) -> String {
        format!("{}/p{page}.html", self.origin)
    }

    /// The pages that hold a word at a time, as the served files say.
    fn holders(&self, word: &str, time: &str, forgotten: &BTreeSet<usize>) -> BTreeSet<String> {
        let holds = |page: &usize| {
            self.edition(*page, time).is_some_and(|edition| words(*page, edition).contains(word))
        };
        let pages = (0..PAGES).filter(|page| !forgotten.contains(page));
        pages.filter(holds).map(|page| self.url(page)).collect()
    }

    /// Random words at random times, and every page's words of today without a time.
    fn check(&self, rig: &Rig, dice: &mut Dice, forgotten: &BTreeSet<usize>) -> Result<()> {
        let (mut some, mut gone) = (0, 0);
        let last = self.times.last().context("no visit")?.clone();
        for n in 0..knob("ARGIOPE_QUERIES", 60)? {
            let time = &self.times[dice.below(self.times.len() as u64) as usize];
            // A visit's own second, or a moment behind it.
            let time = if n % 2 == 0 { time.clone() } else { time.replace(".000Z", ".500Z") };
            let page = dice.below(PAGES as u64) as usize;
            let rounds = &self.visits[&page];
            let edition = rounds[dice.below(rounds.len() as u64) as usize].1;
            let word = match edition.filter(|_| n % 3 != 0) {
                Some(edition) => {
                    words(page, edition).into_iter().max_by_key(String::len).unwrap_or_default()
                }
                None => common(dice.below(COMMON as u64)),
            };
            let wanted = self.holders(&word, &time, forgotten);
            let found = found(rig, &[&word, "--limit", "1000", "--at", &time])?;
            ensure!(found == wanted, "{word} at {time}: {found:?}, not {wanted:?}");
            some += usize::from(!wanted.is_empty());
            let today = self.holders(&word, &last, forgotten);
            gone += wanted.difference(&today).count();
            let found = self::found(rig, &[&word, "--limit", "1000"])?;
            ensure!(found == today, "{word} today: {found:?}, not {today:?}");
        }
        ensure!(some > 15 && gone > 10, "{some} searches found something, {gone} pages of then");
        Ok(())
    }
}

/// The pages that a search finds with all its words.
fn found(rig: &Rig, args: &[&str]) -> Result<BTreeSet<String>> {
    let rows = rig.rows("all", &[&["search"], args].concat())?;
    let (last, hits) = rows.split_last().context("no answer")?;
    let url = |row: &Value| row["url"].as_str().unwrap_or_default().to_owned();
    let found: BTreeSet<String> = hits.iter().map(url).collect();
    ensure!(last["total"] == found.len() && found.len() == hits.len(), "{args:?}: {rows:?}");
    Ok(found)
}

#[test]
fn at_any_time_the_pages_that_were_served_then_are_found() -> Result<()> {
    let Some(rig) = Rig::new("search-past", &["nginx", "python3"])? else { return Ok(()) };
    let seed = knob("ARGIOPE_SEED", 1)?;
    let plan = plan(seed);
    let root = rig.dir.join("site");
    put(&root, &plan[0])?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    for (round, pages) in plan.iter().enumerate() {
        put(&root, pages)?;
        let start = format!("{}/index.html", nginx.origin);
        rig.crawl(&format!("round{round}"), &[&start, "--scope", "host"])?;
        // Archives tell times in seconds.
        std::thread::sleep(Duration::from_millis(1100));
    }
    for round in ORDER {
        let files = files_ending(&rig.dir.join(format!("round{round}")), ".warc.gz")?;
        let files: Vec<String> = files.iter().map(|f| f.to_string_lossy().into_owned()).collect();
        let mut args = vec!["import", "warc"];
        args.extend(files.iter().map(String::as_str));
        rig.run("all", &args)?.ok().context("import")?;
    }
    let past = Past::read(&rig, &nginx.origin, &plan)?;
    let mut dice = Dice::new(seed + 1);
    let mut none = BTreeSet::new();
    past.check(&rig, &mut dice, &none).context("as it was taken in")?;
    rig.verify("all")?;

    let began = Instant::now();
    rig.run("all", &["reindex"])?.ok().context("reindex")?;
    let took = began.elapsed().as_millis() as u64;
    past.check(&rig, &mut dice, &none).context("made again")?;
    rig.verify("all")?;

    // Killed while it is made again, some of it committed and some not.
    let mut killed = 0;
    for _ in 0..40 {
        let mut command = rig.argiope("all", &["reindex"]);
        let running = Running::start(&mut command, &rig.dir, "reindex")?;
        std::thread::sleep(Duration::from_millis(10 + dice.below(took)));
        killed += usize::from(running.kill()?.signal == Some(9));
        if killed == 6 {
            break;
        }
    }
    ensure!(killed == 6, "it was killed at its work {killed} times; it takes {took} ms");
    past.check(&rig, &mut dice, &none).context("killed")?;
    rig.verify("all")?;

    // A past that is damaged or lost is made again.
    std::fs::write(rig.dir.join("all/index/past/meta.json"), "{}")?;
    past.check(&rig, &mut dice, &none).context("damaged")?;
    std::fs::remove_dir_all(rig.dir.join("all/index/past"))?;
    past.check(&rig, &mut dice, &none).context("lost")?;
    rig.verify("all")?;

    // What is forgotten was never there, and no file holds its words.
    none.extend((0..PAGES).filter(|page| page % 5 == 2));
    let editions = |page: &usize| -> Vec<u64> {
        past.visits[page].iter().filter_map(|(_, edition)| *edition).collect()
    };
    let own = |page: usize, edition: u64| words(page, edition).into_iter().max_by_key(String::len);
    let gone: BTreeSet<String> = none
        .iter()
        .flat_map(|page| editions(page).into_iter().filter_map(|edition| own(*page, edition)))
        .collect();
    let list: Vec<String> = gone.iter().cloned().collect();
    std::fs::write(rig.dir.join("words"), list.join("\n"))?;
    ensure!(search(&rig, "all", "words")?.0 == list.len(), "there is nothing to be found");
    let urls: Vec<String> = none.iter().map(|page| past.url(*page)).collect();
    let args: Vec<&str> = ["forget"].into_iter().chain(urls.iter().map(String::as_str)).collect();
    rig.run("all", &args)?.ok().context("forget")?;
    let (left, listed) = search(&rig, "all", "words")?;
    ensure!(left == 0, "{left} of {} words are still there:\n{listed}", list.len());
    past.check(&rig, &mut dice, &none).context("forgotten")?;
    rig.verify("all")
}

#[test]
fn a_page_of_then_is_shown_with_its_time_and_dates_can_be_asked_for() -> Result<()> {
    let Some(rig) = Rig::new("search-then", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    for (round, word) in ["evening", "morning"].into_iter().enumerate() {
        std::fs::write(
            root.join("index.html"),
            format!("<title>Web</title><p>It spins every {word}."),
        )?;
        let data = format!("round{round}");
        rig.crawl(&data, &[&start, "--scope", "host"])?;
        for file in files_ending(&rig.dir.join(&data), ".warc.gz")? {
            rig.run("all", &["import", "warc", &file.to_string_lossy()])?.ok()?;
        }
        std::thread::sleep(Duration::from_millis(1100));
    }
    let history = rig.rows("all", &["history", &start])?;
    let time = |n: usize| history[n]["time"].as_str().unwrap_or_default().to_owned();
    let rows = rig.rows("all", &["search", "evening", "--at", &time(0)])?;
    let hit = &rows[0];
    ensure!(hit["from"] == time(0).as_str() && hit["until"] == time(1).as_str(), "{hit:#}");
    ensure!(hit["at"] == time(0).as_str() && rows[1]["at"] == time(0).as_str(), "{rows:?}");
    ensure!(hit["snippet"] == "It spins every evening.", "{hit:#}");
    let now = rig.rows("all", &["search", "morning", "--at", "now"])?;
    ensure!(now[0]["from"] == time(1).as_str() && now[0]["until"].is_null(), "{now:?}");
    ensure!(rig.rows("all", &["search", "evening"])?[0]["total"] == 0, "it is no more");
    let plain = &rig.rows("all", &["search", "morning"])?[0];
    ensure!(plain.get("from").is_none() && plain.get("at").is_none(), "{plain:#}");
    let said = rig.run("all", &["search", "evening", "--at", &time(0)])?.ok()?;
    ensure!(said.out_text().contains("so from 20"), "{}", said.out_text());
    let says = said.out_text() + &said.err;
    ensure!(says.contains("argiope show URL --at"), "{says}");
    // What it suggests is so.
    let shown = rig.run("all", &["show", &start, "--at", &time(0)])?.ok()?;
    ensure!(shown.out_text().contains("every evening"), "{}", shown.out_text());

    let total = |query: &str| -> Result<Value> {
        let rows = rig.rows("all", &["search", query])?;
        Ok(rows.last().context("no answer")?["total"].clone())
    };
    for (query, pages) in [
        ("morning changed-after:yesterday", 1),
        ("morning changed-before:yesterday", 0),
        ("morning changed-after:\"1 hour ago\"", 1),
        (&format!("morning changed-after:{}", time(1)), 1),
        (&format!("morning changed-before:{}", time(1)), 0),
        ("morning first-seen:today", 1),
        ("morning first-seen:yesterday..today", 1),
        ("morning first-seen:2001..2002", 0),
        ("morning first-seen-before:2001", 0),
        ("morning -first-seen:today", 0),
    ] {
        ensure!(total(query)? == pages, "{query}: {}", total(query)?);
    }
    for wrong in ["a changed-after:soon", "a first-seen:2026-99", "a first-seen:2026..never"] {
        let said = rig.run("all", &["search", wrong])?;
        ensure!(said.code == Some(2) && said.err.contains("is no day"), "{wrong}: {}", said.err);
    }
    let wrong = rig.run("all", &["search", "a", "--at", "soon"])?;
    ensure!(wrong.code == Some(2) && wrong.err.contains("--at soon"), "{}", wrong.err);
    Ok(())
}
