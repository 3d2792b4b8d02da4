//! `forget` by the real binary: killed at any moment it is finished by the next command, nothing of
//! the pages is found in any file, and other people's programs still read the archive.
//!
//! Every page has a word of its own; every third page has a twin with the same bytes, so that there
//! are revisit records whose originals go. Files are searched by a script that shares nothing with
//! the program. The moments of the kills are drawn from a seed over the length of an undisturbed run.

use crate::readers::{replay, warcio_check};
use crate::rig::{CRAWL_LIMIT, Rig, SHORT_LIMIT, files_ending, knob};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process::{self, Running};
use xtask::tools;

const PAGES: usize = 240;

/// A word that only this page has.
fn word(page: usize) -> String {
    let mut dice = Dice::new(page as u64 + 1);
    (0..24).map(|_| char::from(b'a' + dice.below(26) as u8)).collect()
}

/// Page 0 links to all, the others to their neighbours; a twin is the same file again.
fn site(root: &Path) -> Result<()> {
    for page in 0..PAGES {
        let mut body = format!("<!doctype html><title>{0}</title><p>{0} stands here. ", word(page));
        let links: Vec<String> = match page {
            0 => (1..PAGES).map(|n| format!("p{n}.html")).collect(),
            n => vec![format!("p{}.html", n % (PAGES - 1) + 1), format!("t{}.html", n / 3 * 3)],
        };
        for to in links {
            writeln!(body, "<a href={to}>{} to {to}</a>", word(page))?;
        }
        std::fs::write(root.join(format!("p{page}.html")), &body)?;
        if page % 3 == 0 {
            std::fs::write(root.join(format!("t{page}.html")), &body)?;
        }
    }
    Ok(())
}

#[test]
fn forgotten_pages_are_in_no_file_however_often_it_is_killed() -> Result<()> {
    let needs = ["nginx", "python3", "warcio", "cp"];
    let Some(rig) = Rig::new("forget", &needs)? else { return Ok(()) };
    let (kills, seed) = (knob("ARGIOPE_KILLS", 5)?, knob("ARGIOPE_SEED", 1)?);
    let root = rig.folder("site")?;
    site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let at = |name: String| format!("{}/{name}.html", nginx.origin);
    let start = at("p0".to_owned());
    rig.crawl("data", &[&start, "--scope", "host"])?;

    // Of the pages with a twin some go alone, some with their twins, which leave nothing behind.
    let mut gone: Vec<String> = (1..PAGES).step_by(2).map(|n| at(format!("p{n}"))).collect();
    let alone = |n: usize| n % 2 == 1 && n.is_multiple_of(3) && !n.is_multiple_of(9);
    gone.extend(
        (0..PAGES).step_by(3).filter(|n| n % 2 == 1 && !alone(*n)).map(|n| at(format!("t{n}"))),
    );
    let wordless = (1..PAGES).step_by(2).filter(|n| !alone(*n));
    let words: Vec<String> = wordless.map(word).collect();
    std::fs::write(rig.dir.join("words"), words.join("\n"))?;
    let kept: Vec<String> = (0..PAGES).filter(|n| n % 2 == 0 || alone(*n)).map(word).collect();
    std::fs::write(rig.dir.join("kept"), kept.join("\n"))?;
    ensure!(search(&rig, "data", "words")?.0 == words.len(), "there is nothing to be found");
    let args: Vec<&str> =
        ["--format", "json", "forget"].into_iter().chain(gone.iter().map(String::as_str)).collect();

    let dry: Vec<&str> = args.iter().copied().chain(["--dry-run"]).collect();
    let before = std::fs::read(rig.dir.join("data/warc/argiope-000001.warc.gz"))?;
    rig.run("data", &dry)?.ok().context("a dry run")?;
    ensure!(std::fs::read(rig.dir.join("data/warc/argiope-000001.warc.gz"))? == before);
    ensure!(search(&rig, "data", "words")?.0 == words.len(), "a dry run has changed something");

    copy(&rig, "data", "calm")?;
    let begun = Instant::now();
    let done = rig.run("calm", &args)?.ok().context("forget")?;
    let took = begun.elapsed();
    let receipt: serde_json::Value = serde_json::from_str(done.out_text().trim())?;
    ensure!(receipt["urls"].as_array().is_some_and(|urls| urls.len() == gone.len()));
    ensure!(receipt["moved"].as_array().is_some_and(|moved| !moved.is_empty()), "{receipt}");
    is_forgotten(&rig, "calm", &kept, words.len())?;

    let mut dice = Dice::new(seed);
    let mut landed = 0;
    for number in 0..kills {
        let data = format!("torn{number}");
        copy(&rig, "data", &data)?;
        for _ in 0..3 {
            let running = Running::start(&mut rig.argiope(&data, &args), &rig.dir, &data)?;
            std::thread::sleep(Duration::from_micros(dice.below(took.as_micros() as u64)));
            landed += usize::from(running.kill()?.signal == Some(9));
        }
        rig.verify(&data).with_context(|| format!("seed {seed}, after kill {number}"))?;
        // Where a kill came before anything was decided, it is asked for again.
        let state = rig.doc(&data, &gone[0])?["state"].clone();
        if state != "forgotten" {
            rig.run(&data, &args)?.ok().context("the same command again")?;
        }
        is_forgotten(&rig, &data, &kept, words.len())
            .with_context(|| format!("seed {seed}, kill {number}"))?;
    }
    ensure!(landed > 0, "no kill found it at work");

    // A crawl that goes on asks for none of them.
    nginx.clear()?;
    rig.crawl("calm", &[&start, &at("p2".to_owned()), "--scope", "host"])?;
    let asked = nginx.pages()?;
    ensure!(asked.iter().all(|hit| !gone.contains(&format!("{}{}", nginx.origin, hit.uri))));
    let urls: Vec<String> = rig.captures("calm")?.into_iter().map(|found| found.url).collect();
    std::fs::write(rig.dir.join("urls"), urls.join("\n"))?;
    replay(&rig, &["add", "c"], &files_ending(&rig.dir.join("calm"), ".warc.gz")?)
}

#[test]
fn a_running_crawl_is_not_disturbed_and_what_is_unknown_is_said() -> Result<()> {
    let Some(rig) = Rig::new("forget-busy", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    site(&root)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/p0.html", nginx.origin);
    let running = rig.start_plain("data", &[&start, "--allow-private", "--delay", "20s"])?;
    let control = rig.dir.join("data/control.json");
    let end = Instant::now() + SHORT_LIMIT;
    while !control.exists() {
        ensure!(Instant::now() < end, "the crawl does not begin: {}", running.err_so_far());
        std::thread::sleep(Duration::from_millis(10));
    }
    let refused = rig.run("data", &["forget", &start])?;
    ensure!(refused.last_words().contains("stop it"), "{}", refused.last_words());
    ensure!(refused.ok().is_err(), "it was not refused");
    running.kill()?;
    for (target, words) in [
        (format!("{}/never.html", nginx.origin), "not known here"),
        ("other.example".to_owned(), "no host of other.example is known"),
    ] {
        let done = rig.run("data", &["forget", &target])?;
        ensure!(done.last_words().contains(words), "{}", done.last_words());
        ensure!(done.ok().is_err(), "{target} was forgotten");
    }
    rig.verify("data")
}

/// No word of the pages that went, every word of those that stay, and everybody reads the rest.
fn is_forgotten(rig: &Rig, data: &str, kept: &[String], gone: usize) -> Result<()> {
    let (found, listed) = search(rig, data, "words")?;
    ensure!(found == 0, "{found} of {gone} words are still there:\n{listed}");
    let (found, _) = search(rig, data, "kept")?;
    ensure!(found == kept.len(), "{found} of {} words that stay", kept.len());
    rig.verify(data)?;
    warcio_check(rig, data, &files_ending(&rig.dir.join(data), ".warc.gz")?)?;
    for left in ["forgetting.json", "store.new", "store.old"] {
        ensure!(!rig.dir.join(data).join(left).exists(), "{left} is left over");
    }
    let receipts = files_ending(&rig.dir.join(data).join("receipts"), ".json")?;
    ensure!(receipts.len() == 1, "{receipts:?}");
    Ok(())
}

pub fn search(rig: &Rig, data: &str, words: &str) -> Result<(usize, String)> {
    let mut command = Command::new(tools::find("python3").context("no python3")?);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/search.py"));
    command.arg(rig.dir.join(data)).arg(rig.dir.join(words));
    let done = process::run(&mut command, &rig.dir, "search", CRAWL_LIMIT)?.ok()?;
    let out = done.out_text();
    let (count, listed) = out.split_once('\n').unwrap_or((&out, ""));
    Ok((count.trim().parse().with_context(|| out.clone())?, listed.to_owned()))
}

pub fn copy(rig: &Rig, from: &str, to: &str) -> Result<()> {
    let mut command = Command::new("cp");
    command.args(["-r", "--sparse=always"]).arg(rig.dir.join(from)).arg(rig.dir.join(to));
    process::must(&mut command)
}
