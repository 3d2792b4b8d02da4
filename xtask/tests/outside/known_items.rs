//! Known items: a title or main heading that only one page of a documentation site has, asked for as
//! it is written, puts that page first in most cases and among the first ten in nearly all.

use crate::rig::{Rig, count, knob, skip};
use crate::search::script;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use xtask::docs::{self, Docs};
use xtask::nginx::Nginx;

/// Of a hundred, at least so many first and so many in ten.
const FIRST: u64 = 90;
const TEN: u64 = 99;

#[test]
fn a_page_is_found_by_its_title_and_by_its_main_heading() -> Result<()> {
    let Some(rig) = Rig::new("known-items", &["nginx", "python3"])? else { return Ok(()) };
    let mut missed = Vec::new();
    for docs in docs::chosen() {
        match docs {
            Ok(docs) => {
                let name = docs.name.replace('/', "-");
                missed.extend(one_site(&rig.beneath(&name)?, &docs.past_refresh())?);
            }
            Err(error) => skip("a site of known_items", &format!("{error:#}"))?,
        }
    }
    ensure!(missed.is_empty(), "{}", missed.join("\n"));
    Ok(())
}

/// What falls short, with the queries that did.
fn one_site(rig: &Rig, docs: &Docs) -> Result<Vec<String>> {
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    rig.crawl("data", &[&start, "--scope", "host", "--connections-per-host", "8"])?;
    let most = knob("ARGIOPE_KNOWN", 300)?.to_string();
    let root = docs.root.to_str().context("a path that is no text")?;
    let args = [nginx.origin.as_str(), root, &docs.start, "--most", &most];
    let (told, said) = script(rig, "known", "data", &args)?;
    let mut missed = Vec::new();
    for kind in ["title", "heading"] {
        let [asked, first, ten] = ["asked", "first", "ten"].map(|key| count(&told[kind], key));
        let (asked, first, ten) = (asked?, first?, ten?);
        let line = format!("{} {kind}: {first} first, {ten} in ten of {asked}\n", docs.name);
        std::io::stderr().write_all(line.as_bytes())?;
        ensure!(asked > 100, "{}: too little to ask for: {told}", docs.name);
        if first * 100 < FIRST * asked || ten * 100 < TEN * asked {
            missed.push(line + &said);
        }
    }
    Ok(missed)
}
