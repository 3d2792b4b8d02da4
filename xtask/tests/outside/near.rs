//! Near-duplicates by the real binary: articles inside of sites that have more words around than they
//! have in them.
//!
//! Three sites. The second has some articles of the first inside of its own menus, sidebar and footer;
//! the third is the first with two articles in each other's place. The first also has an article twice,
//! one word in twenty changed. Searches must show each article once, tell where its copies are, and
//! keep the articles of a site apart, for all that they share.

use crate::rig::{Rig, some};
use crate::sites::Dice;
use crate::watched::{Answer, Asked, Watched, loopback};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Articles of the first site; the second has the last three of them and three others.
const ARTICLES: usize = 6;
const OTHERS: usize = 3;
/// The article that the first site has twice.
const TWICE: usize = 1;

/// Made-up prose in lines of twenty-five words.
fn prose(seed: u64, words: usize) -> Vec<String> {
    let mut dice = Dice::new(seed);
    let mut word = || {
        let length = 3 + dice.below(6);
        (0..length).map(|_| char::from(b'a' + dice.below(26) as u8)).collect::<String>()
    };
    let all: Vec<String> = (0..words).map(|_| word()).collect();
    all.chunks(25).map(|line| line.join(" ")).collect()
}

/// A word that only one article has.
fn key(article: usize) -> String {
    format!("qkey{}", ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis"][article])
}

/// Every twentieth word is another.
fn edited(line: &str, n: usize) -> String {
    let words = line.split(' ').enumerate();
    let words = words.map(|(at, word)| if (at + n) % 20 == 7 { "changed" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn page(site: usize, article: usize, changed: bool) -> String {
    let item = |line: &String| format!("<p>{line}</p>\n");
    let around: Vec<String> = prose(1_000 + site as u64, 500).iter().map(item).collect();
    let menu: String = prose(2_000 + site as u64, 75).iter().map(item).collect();
    let lines = prose(article as u64, 250).into_iter().enumerate();
    let lines = lines.map(|(n, line)| if changed { edited(&line, n) } else { line });
    let text: String = lines.map(|line| item(&line)).collect();
    let name = ["The Almanac", "Other News"][site];
    // One says in its markup what surrounds the article, the other does not.
    let [top, side] = [["nav", "aside"], ["div", "div"]][site];
    format!(
        "<!doctype html><title>About {0} - {name}</title><{top}>{menu}</{top}>\
         <h1>About {0}</h1><p>qarticle {0}</p>{text}<{side}>{1}</{side}>",
        key(article),
        around.concat()
    )
}

fn articles(host: usize) -> Vec<usize> {
    match host {
        1 => (ARTICLES - OTHERS..ARTICLES + OTHERS).collect(),
        _ => (0..ARTICLES).collect(),
    }
}

fn answer(asked: &Asked) -> Answer {
    let number = |path: &str| path.strip_prefix("/a")?.parse::<usize>().ok();
    match (&*asked.path, number(&asked.path)) {
        ("/", _) => {
            let mut links: Vec<String> =
                articles(asked.host).iter().map(|n| format!("<a href=/a{n}>{n}</a>")).collect();
            if asked.host == 0 {
                links.push("<a href=/again>again</a>".to_owned());
            }
            Answer::html(format!("<title>Start</title>{}", links.concat()))
        }
        ("/again", _) if asked.host == 0 => Answer::html(page(0, TWICE, true)),
        (_, Some(n)) if articles(asked.host).contains(&n) => {
            let article = if asked.host == 2 && n < 2 { 1 - n } else { n };
            Answer::html(page(asked.host % 2, article, false))
        }
        _ => Answer::status(404),
    }
}

/// Where each article stands.
fn copies(hosts: &Watched) -> BTreeMap<usize, BTreeSet<String>> {
    let mut out: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    for host in 0..3 {
        for n in articles(host) {
            let article = if host == 2 && n < 2 { 1 - n } else { n };
            out.entry(article).or_default().insert(hosts.url(host, &format!("/a{n}")));
        }
    }
    out.entry(TWICE).or_default().insert(hosts.url(0, "/again"));
    out
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn each_article_is_shown_once_with_its_copies_on_any_site() -> Result<()> {
    let Some(rig) = Rig::new("near", &[])? else { return Ok(()) };
    let hosts = Watched::start(&[121, 122, 123].map(loopback), answer)?;
    let starts = hosts.starts();
    let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
    rig.crawl("data", &[&starts[..], &["--scope", "host"]].concat())?;
    let copies = copies(&hosts);
    let pages: usize = copies.values().map(BTreeSet::len).sum();

    // All articles at once.
    let mut rows = rig.rows("data", &["search", "qarticle", "--limit", "50"])?;
    let last = rows.pop().context("no last row")?;
    ensure!(last["total"] == pages, "all pages are counted: {last}");
    let groups: BTreeSet<BTreeSet<String>> = rows
        .iter()
        .map(|row| {
            let url = row["url"].as_str().unwrap_or_default().to_owned();
            texts(&row["alike_urls"]).into_iter().chain([url]).collect()
        })
        .collect();
    let wanted: BTreeSet<BTreeSet<String>> = copies.values().cloned().collect();
    ensure!(groups == wanted, "folded otherwise: {}", some(groups.symmetric_difference(&wanted)));

    for (article, urls) in &copies {
        let key = key(*article);
        let rows = rig.rows("data", &["search", &key])?;
        ensure!(rows.len() == 2, "{key}: one hit and the last row, not {}", some(&rows));
        let alike = rows[0]["alike"].as_array().map_or(0, Vec::len);
        ensure!(alike == urls.len() - 1, "{key}: {alike} copies");
        let rows = rig.rows("data", &["search", &key, "--all"])?;
        let all = rows.iter().filter_map(|row| row["url"].as_str()).map(str::to_owned);
        ensure!(all.collect::<BTreeSet<_>>() == *urls, "{key}: not all are shown with --all");
        for url in urls {
            let rows = rig.rows("data", &["doc", url, "--near"])?;
            let near = rows.iter().filter_map(|row| row["url"].as_str()).map(str::to_owned);
            let near: BTreeSet<String> = near.chain([url.clone()]).collect();
            ensure!(near == *urls, "{url}: near are {}", some(near));
        }
    }
    let shown = rig.run("data", &["search", &key(TWICE)])?.ok()?.out_text();
    ensure!(shown.contains("2 pages nearly the same") && shown.contains("= http://"), "{shown}");
    let alone = rig.run("data", &["doc", &hosts.url(1, "/a8"), "--near"])?.ok()?;
    let said = alone.out_text() + &alone.err;
    ensure!(said.contains("No other page is nearly the same"), "{said}");
    Ok(())
}
