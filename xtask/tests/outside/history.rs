//! The past of a site that changes: what `history` says of it, what `show --at`, `diff` and `export
//! tree` give back, against the very files that were served.
//!
//! A site is crawled in rounds, each into a directory of its own, and the archives of all rounds are
//! imported into one: so every page has as many versions as there were rounds. Between rounds a clock
//! and a counter move, a page is edited, one is removed, and one stays as it is.

use crate::rig::{Rig, files_ending};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use xtask::nginx::Nginx;

const ROUNDS: usize = 5;

/// What is served in a round, by name; what is not there is gone.
fn site(round: usize) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let links = "<a href=page.html>page</a> <a href=stays.html>stays</a> <a href=gone.html>gone</a> \
                 <a href='Dir/Case.html?q=1&amp;r=..%2F..'>odd</a> <a href=dir/case.html>even</a>";
    let clock = format!("10:2{round}:0{round}");
    out.insert("index.html".into(), format!("<title>Start</title><p>{links}"));
    let spun = if round < 2 { "evening" } else { "morning" };
    let body = format!(
        "<title>Spiders</title><h1>Spiders</h1><p>It builds a web every {spun}.<p>Server time: {clock}\
         <p>{} views<p>{}",
        100 + round.min(3) * 7,
        "Words that nobody touches. ".repeat(80)
    );
    // The last round serves the bytes of the one before.
    let body = if round == 4 { site(3)["page.html"].clone() } else { body };
    out.insert("page.html".into(), body);
    out.insert("stays.html".into(), "<title>Stays</title><p>As it always was.".into());
    if round < 2 || round == 4 {
        out.insert("gone.html".into(), "<title>Gone</title><p>Here for a while.".into());
    }
    out.insert("Dir/Case.html".into(), format!("<p>Capitals and a query {}", round / 2));
    out.insert("dir/case.html".into(), "<p>Small letters".into());
    out
}

fn put(root: &Path, round: usize) -> Result<()> {
    let _ = std::fs::remove_dir_all(root);
    for (name, body) in site(round) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        std::fs::write(path, body)?;
    }
    Ok(())
}

#[test]
fn every_version_is_shown_as_it_was_served_and_changes_are_told() -> Result<()> {
    let Some(rig) = Rig::new("history", &["nginx"])? else { return Ok(()) };
    let root = rig.dir.join("site");
    put(&root, 0)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    let at = |name: &str| format!("{}/{name}", nginx.origin);
    for round in 0..ROUNDS {
        put(&root, round)?;
        let data = format!("round{round}");
        rig.crawl(&data, &[&at("index.html"), "--scope", "host"])?;
        let files = files_ending(&rig.dir.join(&data), ".warc.gz")?;
        let files: Vec<String> = files.iter().map(|f| f.to_string_lossy().into_owned()).collect();
        let mut args = vec!["import", "warc"];
        args.extend(files.iter().map(String::as_str));
        rig.run("all", &args)?.ok().context("import")?;
        // Archives tell times in seconds.
        std::thread::sleep(Duration::from_millis(1100));
    }
    rig.verify("all")?;

    let history = |name: &str| rig.rows("all", &["history", &at(name)]);
    let reasons = |rows: &[Value]| -> Vec<String> {
        rows.iter().map(|row| row["reason"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let page = history("page.html")?;
    ensure!(reasons(&page) == ["new", "noise", "text", "noise", "identical"], "{page:#?}");
    let changed: Vec<bool> = page.iter().map(|row| row["changed"] == true).collect();
    ensure!(changed == [false, false, true, false, false], "{page:#?}");
    let share = page[2]["change"].as_f64().context("no measure")?;
    ensure!(share > 0.0 && share < 0.05, "{share}");
    ensure!(page[4]["revisit"] == true && page[3]["digest"] == page[4]["digest"], "{page:#?}");
    for field in ["time", "status", "bytes", "digest", "last_modified", "changed", "change"] {
        ensure!(page[0].get(field).is_some(), "no field {field}");
    }
    let gone = history("gone.html")?;
    ensure!(reasons(&gone) == ["new", "identical", "gone", "gone", "back"], "{gone:#?}");
    ensure!(reasons(&history("stays.html")?)[1..].iter().all(|reason| reason == "identical"));

    // What was served then, byte for byte.
    for name in ["page.html", "stays.html"] {
        for (round, row) in history(name)?.iter().enumerate() {
            let time = row["time"].as_str().context("no time")?;
            let shown = rig.run("all", &["show", &at(name), "--at", time])?.ok()?;
            ensure!(shown.out_text() == site(round)[name], "{name} of round {round}");
        }
    }
    let time = |rows: &[Value], n: usize| rows[n]["time"].as_str().unwrap_or_default().to_owned();
    let seconds = |time: &str| format!("{}Z", &time[..19]);
    let early = rig.run("all", &["show", &at("page.html"), "--at", "2001-01-01"])?;
    ensure!(early.code != Some(0) && early.err.contains("no version"), "{}", early.err);
    // Half a second behind the visit that found it gone.
    let late = time(&gone, 2).replace(".000Z", ".500Z");
    let away = rig.run("all", &["show", &at("gone.html"), "--at", &late])?;
    ensure!(away.code != Some(0) && away.err.contains("was gone"), "{}", away.err);
    let bad = rig.run("all", &["show", &at("page.html"), "--at", "soon"])?;
    ensure!(bad.code == Some(2), "a wrong date is wrong usage");

    let diff = rig.rows("all", &["diff", &at("page.html"), "--to", &seconds(&time(&page, 2))])?;
    ensure!(diff[0]["changed"] == true, "{diff:#?}");
    ensure!(
        diff.iter().any(|row| row["removed"] == "evening" && row["added"] == "morning"),
        "{diff:#?}"
    );
    let whole = ["diff", &at("page.html"), "--from", &seconds(&time(&page, 0))];
    let said = rig.run("all", &whole)?.ok()?.out_text();
    ensure!(said.contains("[-evening-] {+morning+}") && !said.contains('\x1b'), "{said}");
    let file = rig.dir.join("diff.html").to_string_lossy().into_owned();
    rig.run("all", &[&whole[..], &["--html", &file]].concat())?.ok()?;
    let browser = std::fs::read_to_string(&file)?;
    ensure!(browser.contains("<del>evening</del>") && browser.contains("<ins>morning</ins>"));

    let text = rig.run("all", &["history", &at("page.html")])?.ok()?.out_text();
    ensure!(text.lines().count() == ROUNDS + 1 && text.contains("same bytes"), "{text}");
    Ok(())
}

#[test]
fn a_tree_of_files_holds_every_version_byte_for_byte() -> Result<()> {
    let Some(rig) = Rig::new("tree", &["nginx"])? else { return Ok(()) };
    let root = rig.dir.join("site");
    put(&root, 0)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    for round in [0, 2] {
        put(&root, round)?;
        let data = format!("round{round}");
        rig.crawl(&data, &[&format!("{}/index.html", nginx.origin), "--scope", "host"])?;
        let files = files_ending(&rig.dir.join(&data), ".warc.gz")?;
        let files: Vec<String> = files.iter().map(|f| f.to_string_lossy().into_owned()).collect();
        let mut args = vec!["import", "warc"];
        args.extend(files.iter().map(String::as_str));
        rig.run("all", &args)?.ok().context("import")?;
        std::thread::sleep(Duration::from_millis(1100));
    }
    let folder = |name: &str, more: &[&str]| -> Result<Vec<Value>> {
        let out = rig.dir.join(name);
        let text = out.to_string_lossy().into_owned();
        rig.run("all", &[&["export", "tree", "--out", &text], more].concat())?.ok()?;
        let index = std::fs::read_to_string(out.join("index.jsonl"))?;
        let rows = index.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>();
        Ok(rows?)
    };
    let all = folder("tree-all", &["--all-versions"])?;
    let served: usize = [0, 2].map(|round| site(round).len()).iter().sum();
    ensure!(all.len() == served, "{} of {served}", all.len());
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for row in &all {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let name = text("url").replace(&format!("{}/", nginx.origin), "");
        let name = name.split('?').next().unwrap_or_default().to_owned();
        let nth = seen.entry(text("url")).or_default();
        let round = [0, 2][*nth];
        *nth += 1;
        let held = std::fs::read_to_string(rig.dir.join("tree-all").join(text("path")))?;
        ensure!(held == site(round)[&name], "{row}");
    }
    let paths: std::collections::BTreeSet<String> =
        all.iter().map(|row| row["path"].as_str().unwrap_or_default().to_lowercase()).collect();
    ensure!(paths.len() == all.len(), "two files would be one where capitals do not count");
    let latest = folder("tree-latest", &[])?;
    ensure!(latest.len() == site(0).len(), "{}", latest.len());
    ensure!(folder("tree-again", &["--all-versions"])? == all, "two exports differ");
    Ok(())
}
