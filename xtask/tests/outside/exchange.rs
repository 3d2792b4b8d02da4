//! What goes to other people's programs and what comes from them: a WACZ that pywb replays, links
//! that NetworkX reads, archives that wget made, and the odd files of the suites.

use crate::readers::replay;
use crate::rig::{CRAWL_LIMIT, Rig, skip};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::nginx::Nginx;
use xtask::{process, tools};

const PAGES: usize = 60;

#[test]
fn a_wacz_is_valid_and_pywb_replays_it() -> Result<()> {
    let Some(rig) = Rig::new("wacz", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(PAGES, 3).write(&root, 2000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let out = rig.dir.join("site.wacz");
    let out_text = out.to_string_lossy().into_owned();
    let args = ["--format", "json", "export", "wacz", "--text", "--out", &out_text];
    let done = rig.run("data", &args)?.ok().context("export wacz")?;
    let row: Value = serde_json::from_str(done.out_text().trim())?;
    ensure!(row["pages"] == PAGES, "{row}");

    if let Some(wacz) = tools::find("wacz") {
        let mut command = Command::new(wacz);
        command.args(["validate", "-f"]).arg(&out);
        let done = process::run(&mut command, &rig.dir, "wacz", CRAWL_LIMIT)?;
        let said = done.out_text();
        done.ok().with_context(|| format!("wacz validate:\n{said}"))?;
        ensure!(said.contains("is valid"), "wacz validate says:\n{said}");
    } else {
        skip("the validating part of a_wacz_is_valid", "py-wacz is not installed")?;
    }

    let urls: Vec<String> =
        (0..PAGES).map(|n| format!("{}{}", nginx.origin, Graph::uri(n))).collect();
    std::fs::write(rig.dir.join("urls"), urls.join("\n"))?;
    replay(&rig, &["add", "--unpack-wacz", "c"], &[out])
}

#[test]
fn networkx_reads_the_links_and_all_forms_agree() -> Result<()> {
    let Some(rig) = Rig::new("graph", &["nginx", "python3"])? else { return Ok(()) };
    let Some(python) = python_with("networkx") else {
        return skip("networkx_reads_the_links", "networkx is not installed");
    };
    let root = rig.folder("site")?;
    let graph = Graph::made_up(PAGES, 4);
    graph.write(&root, 500)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let mut files = Vec::new();
    for (form, name) in
        [("graphml", "links.graphml"), ("edges", "links.tsv"), ("webgraph", "links")]
    {
        let file = rig.dir.join(name).to_string_lossy().into_owned();
        let args = ["export", "graph", "--as", form, "--out", &file];
        rig.run("data", &args)?.ok().with_context(|| format!("export graph --as {form}"))?;
        files.push(file);
    }
    let mut command = Command::new(python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graph.py")).args(&files);
    let done = process::run(&mut command, &rig.dir, "graph", CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().with_context(|| format!("the forms differ:\n{said}"))?;
    // Counted without us: every pair of pages that the site was written with.
    let mut pairs = 0;
    for out in &graph.0 {
        let mut out = out.clone();
        out.sort_unstable();
        out.dedup();
        pairs += out.len();
    }
    let expected = format!("{PAGES} nodes, {pairs} edges");
    ensure!(said.starts_with(&expected), "expected {expected}, got {said}");
    Ok(())
}

#[test]
fn what_wget_archived_comes_in_byte_for_byte() -> Result<()> {
    let Some(rig) = Rig::new("wget", &["nginx", "wget"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(PAGES, 5).write(&root, 1500)?;
    let nginx = Nginx::serve(&root, &rig.dir, "gzip on; gzip_min_length 100;")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let folder = rig.folder("wget")?;
    let mut command = Command::new(tools::find("wget").context("no wget")?);
    command.args(["--recursive", "--level=inf", "--quiet", "--warc-file=site", "--warc-cdx"]);
    // Chunks as they come, which is what wget writes for packed answers.
    command.args(["--header=Accept-Encoding: gzip", "--compression=auto", &start]);
    command.current_dir(&folder);
    process::run(&mut command, &folder, "wget", CRAWL_LIMIT)?;
    let warc = folder.join("site.warc.gz").to_string_lossy().into_owned();
    let done = imported(&rig, "data", &[&warc])?;
    let captures = rig.captures("data")?;
    let pages = captures.iter().filter(|c| c.status == "200").count();
    ensure!(pages >= PAGES, "{pages} pages of {PAGES}; {done}");
    for page in [0, 1, 7, PAGES - 1] {
        let uri = Graph::uri(page);
        let shown = rig.run("data", &["show", &format!("{}{uri}", nginx.origin)])?.ok()?;
        let file = std::fs::read(root.join(&uri[1..]))?;
        ensure!(std::fs::read(&shown.out)? == file, "{uri} differs");
    }
    rig.verify("data")?;
    let again = imported(&rig, "data", &[&warc])?;
    ensure!(again["captures"] == 0 && again["known"] == done["captures"], "{again}");
    Ok(())
}

#[test]
fn the_odd_files_of_the_suites_come_in_as_far_as_they_go() -> Result<()> {
    let Some(rig) = Rig::new("suites", &[])? else { return Ok(()) };
    let Some(suites) = suites() else {
        return skip("the_odd_files_of_the_suites", "there are no suites here");
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(suites.join("warc"))? {
        files.push(entry?.path().to_string_lossy().into_owned());
    }
    files.sort();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let done = imported(&rig, "data", &files)?;
    // One record is twice there; one holds no answer of HTTP; three parts are no records.
    let counts = ["captures", "known", "skipped", "damages"].map(|name| done[name].as_u64());
    ensure!(counts == [Some(208), Some(1), Some(1), Some(3)], "{done}");
    rig.verify("data")?;
    let again = imported(&rig, "data", &files)?;
    ensure!(again["captures"] == 0 && again["known"] == 209, "{again}");
    Ok(())
}

/// Imports files and gives the summary.
fn imported(rig: &Rig, data: &str, files: &[&str]) -> Result<Value> {
    let mut args = vec!["--format", "json", "import", "warc"];
    args.extend(files);
    let done = rig.run(data, &args)?.ok().context("import warc")?;
    let out = done.out_text();
    let last = out.lines().last().context("no summary")?;
    serde_json::from_str(last).with_context(|| format!("not JSON: {last}"))
}

fn suites() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/suites");
    let dir = std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from);
    dir.is_dir().then_some(dir)
}

/// A Python that has this module: the system's, or our own.
pub fn python_with(module: &str) -> Option<PathBuf> {
    let own = tools::find("wayback").and_then(|w| Some(w.parent()?.join("python3")));
    let all = tools::find("python3").into_iter().chain(own.filter(|p| p.is_file()));
    let has = |python: &PathBuf| {
        process::output(Command::new(python).args(["-c", &format!("import {module}")])).is_ok()
    };
    all.into_iter().find(has)
}
