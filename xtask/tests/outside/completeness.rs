//! Every page of a real site, each once.
//!
//! Documentation packages are served by nginx. An independent walk (`walk.py`) says which pages there
//! are; the server's log says what the crawl asked for. A page of the walk that was not asked for is
//! lost; a request the walk cannot explain is an error; so is any URL asked for twice; and every
//! page must be in the archive's listing.

use crate::rig::{CRAWL_LIMIT, Rig, knob, skip, some};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use xtask::docs::{self, Docs};
use xtask::nginx::Nginx;
use xtask::process;

#[test]
fn every_page_of_a_real_site_is_fetched_once() -> Result<()> {
    let Some(rig) = Rig::new("complete", &["nginx", "python3"])? else { return Ok(()) };
    for docs in docs::chosen() {
        match docs {
            Ok(docs) => {
                let name = docs.name.replace('/', "-");
                one_site(&rig.beneath(&name)?, &docs).with_context(|| format!("site {name}"))?;
            }
            Err(error) => skip("a site of every_page", &format!("{error:#}"))?,
        }
    }
    Ok(())
}

/// What the walk found under a URL.
struct Walked {
    is_page: bool,
    strict: bool,
}

fn one_site(rig: &Rig, docs: &Docs) -> Result<()> {
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let walk = walk(rig, &start)?;
    let wanted: BTreeSet<&String> = walk
        .iter()
        .filter(|(_, found)| found.strict && found.is_page)
        .map(|(uri, _)| uri)
        .collect();
    ensure!(wanted.len() > 100, "the walk found only {} pages", wanted.len());

    for run in 0..knob("ARGIOPE_REPEAT", 1)? {
        let data = format!("data-{run}");
        nginx.clear()?;
        rig.crawl(&data, &[&start, "--scope", "host", "--connections-per-host", "8"])?;

        let hits = nginx.hits()?;
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for hit in &hits {
            *times.entry(normal(&hit.uri)).or_default() += 1;
        }
        let is_page = |hit: &&xtask::nginx::Hit| hit.status == 200 && hit.kind == "text/html";
        let got: BTreeSet<String> =
            hits.iter().filter(is_page).map(|hit| normal(&hit.uri)).collect();
        let lost = wanted.iter().filter(|uri| !got.contains(**uri));
        let lost: Vec<_> = lost.collect();
        ensure!(lost.is_empty(), "run {run}: pages lost, {}", some(lost));
        let twice = times.iter().filter(|(_, count)| **count > 1);
        let twice: Vec<_> = twice.collect();
        ensure!(twice.is_empty(), "run {run}: asked for more than once, {}", some(twice));
        let strange = times.keys().filter(|uri| !walk.contains_key(*uri) && *uri != "/robots.txt");
        let strange: Vec<_> = strange.collect();
        ensure!(strange.is_empty(), "run {run}: nobody links to these, {}", some(strange));

        let captured = rig.captures(&data)?.into_iter();
        let captured: BTreeSet<String> = captured
            .filter_map(|capture| capture.url.strip_prefix(&nginx.origin).map(normal))
            .collect();
        let missing = wanted.iter().filter(|uri| !captured.contains(**uri));
        let missing: Vec<_> = missing.collect();
        ensure!(missing.is_empty(), "run {run}: not in the archive, {}", some(missing));
        rig.verify(&data)?;
        std::fs::remove_dir_all(rig.dir.join(&data))?;
    }
    Ok(())
}

fn walk(rig: &Rig, start: &str) -> Result<BTreeMap<String, Walked>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/walk.py");
    let mut command = Command::new("python3");
    command.args([script, start]);
    let done = process::run(&mut command, &rig.dir, "walk", CRAWL_LIMIT)?.ok().context("walk")?;
    let mut found = BTreeMap::new();
    for line in done.out_text().lines() {
        let row: Value = serde_json::from_str(line)?;
        let is_page = row["status"] == 200 && row["type"] == "text/html";
        let uri = row["uri"].as_str().context("a walked URL")?;
        found.insert(normal(uri), Walked { is_page, strict: row["strict"] == true });
    }
    Ok(found)
}

/// One spelling per path: unreserved characters plain, every other escape in upper case.
fn normal(uri: &str) -> String {
    let mut out = String::new();
    let mut rest = uri.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = hex.filter(|_| first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        let (byte, escaped, skip) = match code {
            Some(byte) => (byte, true, 3),
            None => (first, false, 1),
        };
        let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if plain || (!escaped && byte.is_ascii_graphic()) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        rest = &rest[skip..];
    }
    out
}

#[test]
fn one_path_has_one_spelling() {
    assert_eq!(normal("/a%7eb%2fc d/%e4?x=%41"), "/a~b%2Fc%20d/%E4?x=A");
    assert_eq!(normal("/%zz%"), "/%zz%");
}
