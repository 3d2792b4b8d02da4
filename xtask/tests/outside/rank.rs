//! Ranks against NetworkX: on real sites, on made-up ones, after a site has changed and after the file
//! was damaged; and while a crawl runs.

use crate::exchange::python_with;
use crate::rig::{CRAWL_LIMIT, Rig, knob, skip};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::docs;
use xtask::nginx::Nginx;
use xtask::process;

/// Holds the ranks of a data directory against NetworkX.
fn compared(rig: &Rig, python: &Path, data: &str, flags: &[&str]) -> Result<Value> {
    let file = rig.dir.join(format!("{data}.graphml"));
    let out = file.to_string_lossy();
    rig.run(data, &["export", "graph", "--as", "graphml", "--out", &out])?
        .ok()
        .context("export")?;
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rank.py"));
    command.arg(rig.argiope(data, &[]).get_program()).arg(rig.dir.join(data)).arg(&file);
    let done = process::run(command.args(flags), &rig.dir, "rank", CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().with_context(|| format!("the ranks differ:\n{said}"))?;
    let last = said.lines().last().context("the comparison said nothing")?;
    serde_json::from_str(last).with_context(|| format!("not a summary: {last}"))
}

#[test]
fn ranks_of_a_real_site_are_those_of_networkx() -> Result<()> {
    let Some(rig) = Rig::new("rank", &["nginx", "python3"])? else { return Ok(()) };
    let Some(python) = python_with("networkx") else {
        return skip("ranks_of_a_real_site", "networkx is not installed");
    };
    let docs = match docs::first_of(docs::EVERYDAY[0]) {
        Ok(docs) => docs.past_refresh(),
        Err(error) => return skip("ranks_of_a_real_site", &format!("{error:#}")),
    };
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    // Half of the site is known and not fetched, then all of it is there.
    rig.crawl("data", &[&start, "--scope", "host", "--max-pages", "400"])?;
    let half = compared(&rig, &python, "data", &[])?;
    rig.crawl("data", &[&start, "--scope", "host", "--connections-per-host", "8"])?;
    let whole = compared(&rig, &python, "data", &[])?;
    ensure!(half["edges"].as_u64() < whole["edges"].as_u64(), "{half} {whole}");
    // The rank is there without being asked for, and `doc` tells it.
    let doc = rig.doc("data", &start)?;
    let top = rig.rows("data", &["top", "--by", "rank", "--limit", "1"])?;
    ensure!(doc["rank"].as_f64().is_some_and(|rank| rank > 0.0), "{doc}");
    ensure!(top[0]["rank"].as_f64() >= doc["rank"].as_f64(), "{top:?}");
    Ok(())
}

#[test]
fn ranks_follow_the_graph_and_a_damaged_file_is_made_again() -> Result<()> {
    let Some(rig) = Rig::new("rank-again", &["nginx", "python3"])? else { return Ok(()) };
    let Some(python) = python_with("networkx") else {
        return skip("ranks_follow_the_graph", "networkx is not installed");
    };
    let seed = knob("ARGIOPE_SEED", 9)?;
    let root = rig.folder("site")?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    for (round, pages) in [80, 120, 60].into_iter().enumerate() {
        Graph::made_up(pages, seed + round as u64).write(&root, 500)?;
        let data = "data";
        match round {
            0 => rig.crawl(data, &[&start, "--scope", "host"]).map(drop)?,
            _ => rig.refresh(data, &["--all"]).map(drop)?,
        }
        compared(&rig, &python, data, &[])?;
    }
    let file = rig.dir.join("data/graph/pages-pagerank.rank");
    let whole = std::fs::read(&file).context("read the rank")?;
    for (at, length) in [(40, whole.len()), (whole.len() - 30, whole.len()), (0, 20), (0, 0)] {
        let mut bytes = whole[..length].to_vec();
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 0x40;
        }
        std::fs::write(&file, &bytes)?;
        compared(&rig, &python, "data", &["--no-harmonic"])?;
        ensure!(std::fs::read(&file)?.len() == whole.len(), "byte {at} of {length}");
    }
    Ok(())
}

#[test]
fn rank_is_told_while_a_crawl_runs() -> Result<()> {
    let Some(rig) = Rig::new("rank-live", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(300, 21).write(&root, 500)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let args = ["--delay", "50ms", "--allow-private", "--scope", "host", &start];
    let running = rig.start_plain("data", &args)?;
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let rows = rig.rows("data", &["top", "--by", "rank", "--limit", "1000"]);
        let told = rows
            .as_ref()
            .map_or(0.0, |rows| rows.iter().filter_map(|row| row["rank"].as_f64()).sum::<f64>());
        if (told - 1.0).abs() < 1e-9 {
            break;
        }
        ensure!(Instant::now() < end, "no rank while it crawls: {rows:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
    running.wait(CRAWL_LIMIT)?.ok().context("crawl")?;
    Ok(())
}
