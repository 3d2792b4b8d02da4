//! `prune` by the real binary: what stays by a rule is read byte for byte as it was served, whoever
//! held its bytes before; what went is said to have gone; and a kill at any moment loses nothing.
//!
//! A site is crawled in rounds, two on each of three days: the archive of every round is given the
//! dates of its day by a script that shares nothing with the program, and all are imported into one
//! directory. Some pages change in every round, some once, some never, some go back and forth, some
//! are away for a day; twins have the bytes of their pages for two days, so that they refer to records
//! of other URLs.

use crate::forget::copy;
use crate::readers::warcio_check;
use crate::rig::{CRAWL_LIMIT, Rig, files_ending, knob};
use crate::sites::Dice;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;
use xtask::process::{self, Running};
use xtask::tools;

const ROUNDS: usize = 6;
const PAGES: usize = 36;
/// The hours of the two rounds of a day.
const HOURS: [usize; 2] = [6, 18];

const REDATE: &str = r"
import gzip, re, sys
day, hour, out, files = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
with open(out, 'wb') as to:
    for name in files:
        data = gzip.open(name, 'rb').read()
        now = (r'\g<1>' + day + 'T' + hour + ':').encode()
        to.write(re.sub(rb'(WARC-(?:Refers-To-)?Date: )\d{4}-\d\d-\d\dT\d\d:', now, data))
";

/// What a page or its twin is in a round; nothing where it is gone.
fn body(page: usize, twin: bool, round: usize) -> Option<String> {
    let state = match page % 6 {
        0 => round,
        1 => round / 3,
        2 => 0,
        3 => round % 2,
        4 if round / 2 == 1 => return None,
        4 => round,
        _ => round / 2,
    };
    let own = if twin && round >= 4 { " of the twin" } else { "" };
    let words = format!("Page {page} in state {state}{own}. ");
    Some(format!("<!doctype html><title>{words}</title><p>{}", words.repeat(40)))
}

fn name(page: usize, twin: bool) -> String {
    format!("{}{page}.html", if twin { 't' } else { 'p' })
}

fn all() -> impl Iterator<Item = (usize, bool)> {
    (0..PAGES).flat_map(|page| [(page, false), (page, true)])
}

fn put(root: &Path, round: usize) -> Result<()> {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root)?;
    let links: String =
        all().map(|(page, twin)| format!("<a href={}>x</a> ", name(page, twin))).collect();
    std::fs::write(root.join("index.html"), format!("<title>Start</title><p>{links}"))?;
    for (page, twin) in all() {
        if let Some(body) = body(page, twin, round) {
            std::fs::write(root.join(name(page, twin)), body)?;
        }
    }
    Ok(())
}

/// The rounds whose versions stay when one a day does: the last that was there, as it was first seen
/// that day; and the latest of all.
fn daily(page: usize) -> Vec<usize> {
    let of_day = |day: usize| match (body(page, false, 2 * day), body(page, false, 2 * day + 1)) {
        (early, late) if late.is_some() && early == late => 2 * day,
        (Some(_), None) => 2 * day,
        _ => 2 * day + 1,
    };
    let mut rounds: Vec<usize> = (0..ROUNDS / 2).map(of_day).collect();
    if rounds.last() != Some(&(ROUNDS - 1)) {
        rounds.push(ROUNDS - 1);
    }
    rounds
}

/// The rounds of a history, by the dates that the archives were given.
fn rounds(rows: &[Value]) -> Result<Vec<usize>> {
    let of = |row: &Value| {
        let time = row["time"].as_str().context("no time")?;
        let (day, hour): (usize, usize) = (time[8..10].parse()?, time[11..13].parse()?);
        Ok(2 * (day - 1) + usize::from(hour == HOURS[1]))
    };
    rows.iter().map(of).collect()
}

struct Scene {
    rig: Rig,
    nginx: Nginx,
}

impl Scene {
    fn at(&self, page: usize, twin: bool) -> String {
        format!("{}/{}", self.nginx.origin, name(page, twin))
    }

    /// A time as it is in the middle between a round and the next.
    fn behind(round: usize) -> String {
        format!("2026-01-{:02}T{:02}:59:59", 1 + round / 2, HOURS[round % 2] + 1)
    }

    /// Every version that stays is there as it was served, and of every other it is told what is true.
    fn check(&self, data: &str, staying: impl Fn(usize) -> Vec<usize>, every: usize) -> Result<()> {
        let rig = &self.rig;
        rig.verify(data)?;
        warcio_check(rig, data, &files_ending(&rig.dir.join(data), ".warc.gz")?)?;
        for left in ["forgetting.json", "spool"] {
            ensure!(!rig.dir.join(data).join(left).exists(), "{left} is left over");
        }
        let pages = all().filter(|(page, twin)| (page + usize::from(*twin)).is_multiple_of(every));
        for (page, twin) in pages {
            let (url, stays) = (self.at(page, twin), staying(page));
            let rows = rig.rows(data, &["history", &url])?;
            let found = rounds(&rows)?;
            ensure!(found == stays, "{url}: {found:?}, expected {stays:?}");
            for (round, row) in stays.iter().zip(&rows) {
                let Some(body) = body(page, twin, *round) else {
                    ensure!(row["reason"] == "gone", "{row}");
                    continue;
                };
                let time = row["time"].as_str().context("no time")?;
                let shown = rig.run(data, &["show", &url, "--at", time])?.ok()?;
                ensure!(shown.out_text() == body, "{url} of round {round}");
            }
            for round in 0..ROUNDS {
                let before = stays.iter().rev().find(|kept| **kept <= round);
                let there = body(page, twin, round);
                let shown = rig.run(data, &["show", &url, "--at", &Scene::behind(round)])?;
                let same = before.is_some_and(|kept| body(page, twin, *kept) == there);
                match there {
                    Some(there) if same => {
                        ensure!(shown.ok()?.out_text() == there, "{url} behind round {round}");
                    }
                    None if before == Some(&round) => {
                        ensure!(shown.err.contains("was gone"), "{url} {round}: {}", shown.err);
                    }
                    // Where it was gone once and gone again, that it was is what is told.
                    None if same => ensure!(shown.code != Some(0), "{url} behind round {round}"),
                    _ => {
                        ensure!(shown.code == Some(1), "{url} behind round {round} is shown");
                        ensure!(shown.err.contains("was pruned"), "{url} {round}: {}", shown.err);
                    }
                }
            }
        }
        Ok(())
    }
}

#[test]
fn what_stays_by_a_rule_is_as_it_was_served_however_often_it_is_killed() -> Result<()> {
    let needs = ["nginx", "python3", "warcio", "cp"];
    let Some(rig) = Rig::new("prune", &needs)? else { return Ok(()) };
    let (kills, seed) = (knob("ARGIOPE_KILLS", 4)?, knob("ARGIOPE_SEED", 1)?);
    let root = rig.dir.join("site");
    put(&root, 0)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    let scene = Scene { rig, nginx };
    let rig = &scene.rig;
    for round in 0..ROUNDS {
        put(&root, round)?;
        let data = format!("round{round}");
        let start = format!("{}/index.html", scene.nginx.origin);
        rig.crawl(&data, &[&start, "--scope", "host"])?;
        let dated = rig.dir.join(format!("{data}.warc"));
        let mut command = Command::new(tools::find("python3").context("no python3")?);
        command.args(["-c", REDATE, &format!("2026-01-{:02}", 1 + round / 2)]);
        command.arg(format!("{:02}", HOURS[round % 2])).arg(&dated);
        command.args(files_ending(&rig.dir.join(&data), ".warc.gz")?);
        process::run(&mut command, &rig.dir, "redate", CRAWL_LIMIT)?.ok()?;
        let dated = dated.to_string_lossy().into_owned();
        rig.run("data", &["import", "warc", &dated])?.ok().context("import")?;
    }
    rig.run("data", &["search", "state"])?.ok().context("an index")?;
    rig.verify("data")?;
    let revisits = rig.captures("data")?.iter().filter(|c| c.mime == "warc/revisit").count();
    ensure!(revisits > PAGES, "{revisits} revisit records are too few to break");

    // Nothing is said, nothing is done.
    let asked = rig.run("data", &["prune"])?;
    ensure!(asked.code == Some(2) && asked.err.contains("--keep daily"), "{}", asked.err);
    let wrong = rig.run("data", &["prune", "--keep", "some"])?;
    ensure!(wrong.code == Some(2) && wrong.err.contains("last:5"), "{}", wrong.err);
    let young = rig.rows("data", &["prune", "--keep", "last:1", "--older-than", "36500d"])?;
    ensure!(young[0]["captures"] == 0, "{young:?}");
    let file = rig.dir.join("data/warc/argiope-000001.warc.gz");
    let before = std::fs::read(&file)?;
    let args = ["--format", "json", "prune", "--keep", "daily"];
    let dry = rig.rows("data", &["prune", "--keep", "daily", "--dry-run"])?;
    ensure!(dry[0]["captures"].as_u64() > Some(PAGES as u64) && std::fs::read(&file)? == before);

    copy(rig, "data", "calm")?;
    let begun = Instant::now();
    let done = rig.run("calm", &args)?.ok().context("prune")?;
    let took = begun.elapsed();
    let receipt: Value = serde_json::from_str(done.out_text().trim())?;
    ensure!(receipt["captures"] == dry[0]["captures"], "{receipt}");
    ensure!(receipt["moved"].as_array().is_some_and(|moved| !moved.is_empty()), "{receipt}");
    scene.check("calm", daily, 2)?;
    let url = scene.at(0, false);
    let gone = rig.run("calm", &["diff", &url, "--from", &Scene::behind(0)])?;
    ensure!(gone.code == Some(1) && gone.err.contains("was pruned"), "{}", gone.err);
    rig.run("calm", &["diff", &url, "--from", &Scene::behind(1)])?.ok()?;
    let told = rig.run("calm", &["history", &url])?.ok()?;
    ensure!(told.err.contains("others were pruned"), "{}", told.err);
    let again = rig.rows("calm", &["prune", "--keep", "daily"])?;
    ensure!(again[0]["captures"] == 0, "what stays by a rule stays: {again:?}");
    let row = rig.doc("calm", &scene.at(0, false))?;
    ensure!(row["visits"] == rig.doc("data", &scene.at(0, false))?["visits"], "{row}");
    let found = rig.rows("calm", &["search", "twin"])?;
    ensure!(found.len() > 1, "the latest versions are found by their words");

    let mut dice = Dice::new(seed);
    let mut landed = 0;
    for number in 0..kills {
        let data = format!("torn{number}");
        copy(rig, "data", &data)?;
        for _ in 0..3 {
            let running = Running::start(&mut rig.argiope(&data, &args), &rig.dir, &data)?;
            std::thread::sleep(Duration::from_micros(dice.below(took.as_micros() as u64)));
            landed += usize::from(running.kill()?.signal == Some(9));
        }
        rig.verify(&data).with_context(|| format!("seed {seed}, after kill {number}"))?;
        rig.run(&data, &args)?.ok().context("the same command again")?;
        scene.check(&data, daily, 5).with_context(|| format!("seed {seed}, kill {number}"))?;
    }
    ensure!(landed > 0, "no kill found it at work");

    // One page alone, then a site by the configuration, and at last one version of everything.
    rig.run("calm", &["prune", "--keep", "last:1", &scene.at(0, false)])?.ok()?;
    ensure!(rounds(&rig.rows("calm", &["history", &scene.at(0, false)])?)? == [5]);
    ensure!(rounds(&rig.rows("calm", &["history", &scene.at(0, true)])?)? == daily(0));
    let host = scene.nginx.origin.trim_start_matches("http://");
    std::fs::write(
        rig.dir.join("calm/argiope.toml"),
        format!("[retention]\nsites = [\"{host}=monthly\"]\n"),
    )?;
    rig.run("calm", &["prune"])?.ok().context("by the configuration")?;
    for (page, twin) in all() {
        let url = scene.at(page, twin);
        let latest = body(page, twin, ROUNDS - 1);
        // As it was first seen of what was left, and the latest.
        let left = if (page, twin) == (0, false) { vec![5] } else { daily(page) };
        let alike = left.iter().rev().take_while(|round| body(page, twin, **round) == latest);
        let mut expected: Vec<usize> = alike.last().into_iter().copied().collect();
        expected.extend((expected != [ROUNDS - 1]).then_some(ROUNDS - 1));
        let found = rounds(&rig.rows("calm", &["history", &url])?)?;
        ensure!(found == expected, "{url}: {found:?}, expected {expected:?}");
        let shown = rig.run("calm", &["show", &url])?.ok()?.out_text().to_owned();
        ensure!(Some(shown) == latest, "{url}");
    }
    rig.verify("calm")?;
    let receipts = files_ending(&rig.dir.join("calm/receipts"), ".json")?;
    ensure!(receipts.len() == 3, "{receipts:?}");
    Ok(())
}
