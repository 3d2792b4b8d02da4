//! What `docs/backup.md` promises, tried: copies, restored parts, directories made again from the
//! archive alone, and a directory of an earlier version of the program.

use crate::backlinks::{compared, walked};
use crate::rig::{CRAWL_LIMIT, Rig, count, files_ending};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::nginx::Nginx;
use xtask::process;

const PAGES: usize = 300;

/// A made-up site with a dead link, served, and counted without us.
fn served(rig: &Rig, seed: u64) -> Result<(Nginx, String, PathBuf)> {
    let root = rig.folder("site")?;
    Graph::made_up(PAGES, seed).write(&root, 1500)?;
    let first = root.join(&Graph::uri(0)[1..]);
    let text = std::fs::read_to_string(&first)? + r#"<a href="/dead.html">dead</a>"#;
    std::fs::write(&first, text)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let walk = walked(rig, &start, "walk")?;
    Ok((nginx, start, walk))
}

/// Copies a folder as `cp -a` does.
fn copied(rig: &Rig, from: &str, to: &str) -> Result<()> {
    let _ = std::fs::remove_dir_all(rig.dir.join(to));
    let mut command = Command::new("cp");
    command.arg("-a").arg(rig.dir.join(from)).arg(rig.dir.join(to));
    process::run(&mut command, &rig.dir, "cp", CRAWL_LIMIT)?.ok().map(drop)
}

/// What can be asked of a directory: its captures, its counts, what is broken.
fn answers(rig: &Rig, data: &str) -> Result<Vec<String>> {
    let mut all: Vec<String> =
        rig.captures(data)?.into_iter().map(|capture| format!("{capture:?}")).collect();
    for args in [&["top", "--all", "--limit", "1000000"][..], &["broken"]] {
        for mut row in rig.rows(data, args)? {
            // A document has another number in another directory.
            row["doc"] = Value::Null;
            // A rank is told as it was last made, which may be before this graph or not yet.
            if let Some(row) = row.as_object_mut() {
                row.remove("rank");
            }
            all.push(row.to_string());
        }
    }
    all.sort();
    Ok(all)
}

#[test]
fn a_copy_of_a_stopped_directory_is_sound_and_says_the_same() -> Result<()> {
    let Some(rig) = Rig::new("backup-copy", &["nginx", "python3"])? else { return Ok(()) };
    let (_nginx, start, walk) = served(&rig, 31)?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let before = answers(&rig, "data")?;
    copied(&rig, "data", "copy")?;
    std::fs::remove_dir_all(rig.dir.join("data"))?;
    rig.verify("copy")?;
    ensure!(answers(&rig, "copy")? == before, "the copy says something else");
    // The graph is made from the store: a copy without it is complete too.
    std::fs::remove_dir_all(rig.dir.join("copy/graph"))?;
    compared(&rig, "copy", &[&walk], &[], 10)?;
    rig.verify("copy")
}

#[test]
fn an_older_copy_goes_on_where_it_stood_whatever_graph_lies_beside_it() -> Result<()> {
    let Some(rig) = Rig::new("backup-older", &["nginx", "python3"])? else { return Ok(()) };
    let (_nginx, start, walk) = served(&rig, 32)?;
    rig.crawl("data", &[&start, "--scope", "host", "--max-pages", "100"])?;
    copied(&rig, "data", "older")?;
    let then = answers(&rig, "older")?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    compared(&rig, "data", &[&walk], &[], 10)?;
    // The parts of the older copy, with the graph of today: it knows too much, and is made again.
    std::fs::remove_dir_all(rig.dir.join("older/graph"))?;
    copied(&rig, "data/graph", "older/graph")?;
    ensure!(answers(&rig, "older")? == then, "a graph that is ahead was believed");
    rig.verify("older")?;
    rig.crawl("older", &[&start, "--scope", "host"])?;
    compared(&rig, "older", &[&walk], &[], 10)?;
    rig.verify("older")
}

#[test]
fn the_archive_alone_gives_the_same_pages_and_back_links() -> Result<()> {
    let Some(rig) = Rig::new("backup-warc", &["nginx", "python3"])? else { return Ok(()) };
    let (_nginx, start, walk) = served(&rig, 33)?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let before = answers(&rig, "data")?;
    let out = rig.dir.join("archive").to_string_lossy().into_owned();
    rig.run("data", &["export", "warc", "--out", &out])?.ok()?;
    for (from, into) in [(PathBuf::from(out), "exported"), (rig.dir.join("data/warc"), "files")] {
        imported(&rig, into, &from)?;
        rig.verify(into)?;
        ensure!(answers(&rig, into)? == before, "{into}: other pages, counts or broken links");
        compared(&rig, into, &[&walk], &[], 10)?;
    }
    Ok(())
}

fn imported(rig: &Rig, data: &str, from: &Path) -> Result<()> {
    let files = files_ending(from, ".warc.gz")?;
    ensure!(!files.is_empty(), "no archive in {}", from.display());
    let mut args = vec!["import", "warc"];
    args.extend(files.iter().filter_map(|file| file.to_str()));
    rig.run(data, &args)?.ok().context("import warc").map(drop)
}

#[test]
fn a_directory_without_its_store_is_left_alone() -> Result<()> {
    let Some(rig) = Rig::new("backup-no-store", &["nginx", "python3"])? else { return Ok(()) };
    let (_nginx, start, walk) = served(&rig, 34)?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let archive = rig.dir.join("data/warc");
    let size = || -> Result<u64> {
        let files = files_ending(&archive, ".warc.gz")?;
        Ok(files.iter().filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum())
    };
    let whole = size()?;
    std::fs::remove_dir_all(rig.dir.join("data/store"))?;
    for args in [&["status"][..], &["crawl", &start, "--allow-private"]] {
        let done = rig.run("data", args)?;
        ensure!(done.code == Some(1) && done.err.contains("import warc"), "{:?}", done.err);
    }
    ensure!(size()? == whole, "the archive was cut");
    imported(&rig, "again", &archive)?;
    compared(&rig, "again", &[&walk], &[], 10).map(drop)
}

#[test]
fn the_archive_of_a_running_crawl_can_be_copied_at_any_time() -> Result<()> {
    let Some(rig) = Rig::new("backup-running", &["nginx", "python3"])? else { return Ok(()) };
    let (nginx, start, _) = served(&rig, 35)?;
    nginx.clear()?;
    let mut running = rig.start_crawl("data", &[&start, "--scope", "host"])?;
    let enough = rig.dir.join("data/warc/argiope-000001.warc.gz");
    process::wait_until("some pages", CRAWL_LIMIT, || {
        let some = enough.metadata().is_ok_and(|meta| meta.len() > 30_000);
        Ok(some || !running.is_running()?)
    })?;
    copied(&rig, "data/warc", "warc-then")?;
    running.wait(CRAWL_LIMIT)?.ok()?;
    // The last record may be torn; all others come in.
    imported(&rig, "then", &rig.dir.join("warc-then"))?;
    rig.verify("then")?;
    let (then, now) = (rig.documents("then")?, rig.documents("data")?);
    ensure!(then.len() >= 10 && then.is_subset(&now), "{} of {}", then.len(), now.len());
    Ok(())
}

/// Made by the program as it was before robots.txt, back-links and forgetting: a site of 40 pages
/// and a crawl that a limit ended after 25.
const FIRST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen/first.tar.xz");
/// Where that crawl found its pages. Nobody else listens on this address.
const FIRST_ORIGIN: &str = "127.77.0.1:18077";

#[test]
fn a_directory_of_the_first_version_opens_answers_and_goes_on() -> Result<()> {
    let Some(rig) = Rig::new("backup-first", &["nginx", "python3", "tar", "xz"])? else {
        return Ok(());
    };
    let mut tar = Command::new("tar");
    tar.args(["-xJf", FIRST, "-C"]).arg(&rig.dir);
    process::run(&mut tar, &rig.dir, "tar", CRAWL_LIMIT)?.ok()?;
    let (data, start) = ("data", format!("http://{FIRST_ORIGIN}/0.html"));
    std::fs::rename(rig.dir.join("first/data"), rig.dir.join(data))?;
    let listen = format!("listen {FIRST_ORIGIN};");
    let _nginx = Nginx::serve(&rig.dir.join("first/site"), &rig.dir, &listen)?;

    let status = rig.rows(data, &["status"])?.pop().context("status says nothing")?;
    ensure!(count(&status, "fetched")? == 25 && count(&status, "queued")? == 15, "{status}");
    rig.verify(data)?;
    let doc = rig.doc(data, &start)?;
    ensure!(doc["state"] == "fetched" && doc["title"] == "Page 0", "{doc}");
    let shown = rig.run(data, &["show", &start])?.ok()?;
    let page = std::fs::read(rig.dir.join("first/site/0.html"))?;
    ensure!(std::fs::read(&shown.out)? == page, "the page is another one");
    let gone = format!("http://{FIRST_ORIGIN}/gone.html");
    let broken = rig.rows(data, &["broken"])?;
    ensure!(!broken.is_empty() && broken.iter().all(|row| row["url"] == *gone), "{broken:?}");

    let done = rig.crawl(data, &[&start, "--scope", "host"])?;
    ensure!(count(&done, "fetched")? == 40, "{done}");
    rig.verify(data)?;
    // Old pages keep the first words of each target only; who links where is complete.
    let walk = walked(&rig, &start, "walk")?;
    let mut expected = BTreeMap::<String, u64>::new();
    for line in std::fs::read_to_string(walk)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let links = row["links"].as_array().context("the links of a page")?.iter();
        let targets: BTreeSet<&str> = links.filter_map(|link| link[0].as_str()).collect();
        for target in targets {
            *expected.entry(target.to_owned()).or_default() += 1;
        }
    }
    let rows = rig.rows(data, &["top", "--all", "--limit", "1000"])?;
    let told = rows.iter().map(|row| Ok((row["url"].to_string(), count(row, "backlinks")?)));
    let told = told.collect::<Result<BTreeMap<_, _>>>()?;
    let expected = expected.into_iter().map(|(url, n)| (format!("{url:?}"), n)).collect();
    ensure!(told == expected, "{told:?} instead of {expected:?}");
    Ok(())
}
