//! Feeds by the real binary, read by another parser and held against RFC 4287.
//!
//! A site is crawled in rounds, each into a directory of its own, and the archives are imported into
//! one. Between rounds a page is edited, one has nothing but a clock that moves, one goes away and comes
//! back, one comes late, and one has markup in its title and its words.

use crate::rig::{Rig, SHORT_LIMIT, files_ending};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process;
use xtask::tools;

const ROUNDS: usize = 4;
const PAGES: [&str; 6] = ["index", "edited", "clock", "away", "late", "odd"];

/// What a page is in a round.
fn body(page: &str, round: usize) -> Option<String> {
    let filler = "Words that nobody touches. ".repeat(60);
    Some(match page {
        "index" => PAGES[1..].iter().fold("<title>Start</title>".to_owned(), |out, page| {
            out + &format!("<a href={page}.html>{page}</a> ")
        }),
        "edited" => {
            let spun = ["evening", "evening", "morning", "night"][round];
            format!("<title>Spiders</title><p>It builds a web every {spun}.<p>{filler}")
        }
        "clock" => format!("<title>Clock</title><p>Server time: 10:2{round}:00<p>{filler}"),
        "away" if round == 1 || round == 2 => return None,
        "away" => format!("<title>Away</title><p>Here for a while. {filler}"),
        "late" if round < 2 => return None,
        "late" => format!("<title>Late</title><p>It came late. {filler}"),
        _ => {
            let more =
                if round == 3 { "<p>Is 1 &lt; 2 &amp;&amp; 3 &gt; 2, or ]]&gt;?" } else { "" };
            format!("<title>Knives &amp; &lt;forks&gt; \"here\"</title><p>{filler}{more}")
        }
    })
}

fn put(root: &Path, round: usize) -> Result<()> {
    let _ = std::fs::remove_dir_all(root);
    std::fs::create_dir_all(root)?;
    for page in PAGES {
        if let Some(body) = body(page, round) {
            std::fs::write(root.join(format!("{page}.html")), body)?;
        }
    }
    Ok(())
}

/// The entries of a feed, as another parser reads them.
fn parsed(rig: &Rig, file: &Path) -> Result<Vec<Value>> {
    let mut command = Command::new(tools::find("python3").context("no python3")?);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/atom.py")).arg(file);
    let done = process::run(&mut command, &rig.dir, "atom", SHORT_LIMIT)?;
    let said = done.err.clone();
    let out = done.ok().context(said)?.out_text().to_owned();
    Ok(out.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[test]
fn a_feed_tells_what_is_new_changed_gone_and_back_and_nothing_else() -> Result<()> {
    let Some(rig) = Rig::new("feed", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.dir.join("site");
    put(&root, 0)?;
    let nginx = Nginx::serve(&root, &rig.dir, "charset utf-8;")?;
    let at = |page: &str| format!("{}/{page}.html", nginx.origin);
    for round in 0..ROUNDS {
        put(&root, round)?;
        let data = format!("round{round}");
        rig.crawl(&data, &[&at("index"), "--scope", "host"])?;
        let files = files_ending(&rig.dir.join(&data), ".warc.gz")?;
        let files: Vec<String> = files.iter().map(|f| f.to_string_lossy().into_owned()).collect();
        let mut args = vec!["import", "warc"];
        args.extend(files.iter().map(String::as_str));
        rig.run("all", &args)?.ok().context("import")?;
        std::thread::sleep(Duration::from_millis(1100));
    }
    let file = rig.dir.join("news.xml");
    let name = file.to_string_lossy().into_owned();
    rig.run("all", &["feed", "-o", &name])?.ok()?;
    let entries = parsed(&rig, &file)?;
    let told = |rows: &[Value], page: &str| -> Vec<String> {
        let of = rows.iter().rev().filter(|row| row["url"] == at(page));
        of.map(|row| row["news"].as_str().unwrap_or_default().to_owned()).collect()
    };
    ensure!(told(&entries, "index") == ["new"], "{entries:#?}");
    ensure!(told(&entries, "edited") == ["new", "changed", "changed"], "{entries:#?}");
    ensure!(told(&entries, "clock") == ["new"], "a clock is no news: {entries:#?}");
    ensure!(told(&entries, "away") == ["new", "gone", "back"], "{entries:#?}");
    ensure!(told(&entries, "late") == ["new"], "{entries:#?}");
    ensure!(told(&entries, "odd") == ["new", "changed"], "{entries:#?}");
    ensure!(entries.len() == 11, "{entries:#?}");
    let self_link = entries[0]["self"][0].as_str().unwrap_or_default();
    ensure!(self_link.starts_with("file:///") && self_link.ends_with("/news.xml"), "{self_link}");
    let beside = std::fs::read_dir(&rig.dir)?.flatten().map(|entry| entry.file_name());
    ensure!(beside.into_iter().all(|name| !name.to_string_lossy().ends_with(".part")));

    // Each entry names its version and says what came and went.
    let of = |page: &str, news: &str| {
        let found = entries.iter().find(|row| row["url"] == at(page) && row["news"] == news);
        found.cloned().with_context(|| format!("no {news} {page}"))
    };
    let edited = of("edited", "changed")?;
    let summary = edited["summary"].as_str().unwrap_or_default();
    ensure!(summary.contains("Removed: morning") && summary.contains("Added: night"), "{summary}");
    ensure!(edited["title"] == "Spiders", "{edited}");
    let odd = of("odd", "changed")?;
    ensure!(odd["title"] == "Knives & <forks> \"here\"", "{odd}");
    let summary = odd["summary"].as_str().unwrap_or_default();
    ensure!(summary.contains("Is 1 < 2 && 3 > 2, or ]]>?"), "{summary}");
    let gone = of("away", "gone")?;
    ensure!(gone["title"] == "Away" && gone["summary"] == "Gone (status 404).", "{gone}");
    for row in &entries {
        let (url, time) = (row["url"].as_str().unwrap_or_default(), row["time"].clone());
        let versions = rig.rows("all", &["history", url])?;
        ensure!(versions.iter().any(|version| version["time"] == time), "{row}");
    }

    // The same in rows, by site and by page; fewer where fewer are wanted; ids stay.
    let rows = rig.rows("all", &["feed"])?;
    let ids = |rows: &[Value]| -> Vec<Value> { rows.iter().map(|row| row["id"].clone()).collect() };
    ensure!(ids(&rows) == ids(&entries), "{rows:#?}");
    ensure!(ids(&rig.rows("all", &["feed", "127.0.0.1"])?) == ids(&entries));
    ensure!(ids(&rig.rows("all", &["feed", "--limit", "3"])?) == ids(&entries)[..3]);
    let page = rig.rows("all", &["feed", &at("away"), &at("odd")])?;
    ensure!(page.len() == 5 && told(&page, "away").len() == 3, "{page:#?}");
    rig.run(
        "all",
        &["feed", "--search", "spiders night", "-o", &name, "--address", "https://me.test/a.xml"],
    )?
    .ok()?;
    let found = parsed(&rig, &file)?;
    ensure!(found.len() == 3 && told(&found, "edited").len() == 3, "{found:#?}");
    ensure!(found[0]["self"][0] == "https://me.test/a.xml", "{found:#?}");
    rig.run("all", &["feed", "--search", "nothingofthekind", "-o", &name])?.ok()?;
    ensure!(parsed(&rig, &file)?.is_empty(), "a feed without an entry is one too");
    let unknown = rig.run("all", &["feed", "other.example"])?;
    ensure!(unknown.code == Some(1) && unknown.err.contains("argiope sites"), "{}", unknown.err);
    let nowhere = rig.run("all", &["feed", "-o", "none/news.xml"])?;
    ensure!(nowhere.code == Some(1) && nowhere.err.contains("cannot write"), "{}", nowhere.err);

    // A page that lost its first versions is not new again.
    rig.run("all", &["prune", "--keep", "last:1"])?.ok()?;
    let left = rig.rows("all", &["feed"])?;
    ensure!(told(&left, "edited").is_empty() && told(&left, "index") == ["new"], "{left:#?}");
    Ok(())
}
