//! Back-links and their words, counted again without us.
//!
//! `backlinks.py` asks the server for every page, reads it with a parser of its own, joins the
//! references itself, and compares: `top` (every URL's count), `links` (every visited URL: pages,
//! words, kinds, how often), `doc`, `broken`, as JSON and as CSV. The counts must be equal on real
//! sites, and equal again after pages changed, came and went, and after `kill -9`.

use crate::rig::{CRAWL_LIMIT, Rig, count, knob, skip};
use crate::sites::{Dice, Graph};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use xtask::docs::{self, Docs};
use xtask::nginx::Nginx;
use xtask::{process, tools};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/backlinks.py");

/// Counts the links of everything that can be reached from `start`, without our program.
pub fn walked(rig: &Rig, start: &str, name: &str) -> Result<PathBuf> {
    let mut command = Command::new("python3");
    command.args([SCRIPT, "walk", start]);
    Ok(process::run(&mut command, &rig.dir, name, CRAWL_LIMIT)?.ok().context("walk")?.out)
}

/// Holds a data directory against walks: what a later one says of a URL replaces what an earlier
/// one said, and the pages `without` are not there at all. All counts are compared, and the words
/// of the links to one page in `every`. Gives how much was compared.
pub fn compared(
    rig: &Rig,
    data: &str,
    walks: &[&Path],
    without: &[&str],
    every: u64,
) -> Result<Value> {
    let every = knob("ARGIOPE_EVERY", every)?.to_string();
    let mut args = vec!["--every", &every];
    args.extend(without.iter().flat_map(|url| ["--without", *url]));
    let walks: Vec<&str> = walks.iter().filter_map(|path| path.to_str()).collect();
    script(rig, Path::new("python3"), "check", data, &[walks, args].concat())
}

fn script(rig: &Rig, python: &Path, mode: &str, data: &str, args: &[&str]) -> Result<Value> {
    let mut command = Command::new(python);
    let argiope = rig.argiope(data, &[]);
    command.args([SCRIPT, mode]).arg(argiope.get_program()).arg(rig.dir.join(data)).args(args);
    let done = process::run(&mut command, &rig.dir, mode, CRAWL_LIMIT)?;
    let said = done.out_text();
    done.ok().with_context(|| format!("{data} disagrees:\n{said}"))?;
    let last = said.lines().last().context("the comparison said nothing")?;
    serde_json::from_str(last).with_context(|| format!("not a summary: {last}"))
}

#[test]
fn back_links_and_words_equal_an_independent_count() -> Result<()> {
    let Some(rig) = Rig::new("backlinks", &["nginx", "python3"])? else { return Ok(()) };
    for docs in docs::chosen() {
        match docs {
            Ok(docs) => {
                let name = docs.name.replace('/', "-");
                one_site(&rig.beneath(&name)?, &docs).with_context(|| format!("site {name}"))?;
            }
            Err(error) => skip("a site of back_links", &format!("{error:#}"))?,
        }
    }
    Ok(())
}

fn one_site(rig: &Rig, docs: &Docs) -> Result<()> {
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let walk = walked(rig, &start, "walk")?;
    rig.crawl("data", &[&start, "--scope", "host", "--connections-per-host", "8"])?;
    let told = compared(rig, "data", &[&walk], &[], 1)?;
    ensure!(count(&told, "pages")? > 100 && count(&told, "rows")? > 1000, "too little: {told}");
    degrees(rig, "data")
}

/// NetworkX loads both forms of the graph, and its in-degrees are our counts.
fn degrees(rig: &Rig, data: &str) -> Result<()> {
    let Some(python) = python_with_networkx() else {
        return skip("the degrees of back_links", "networkx is not installed");
    };
    let mut files = Vec::new();
    for (form, name) in [("graphml", "links.graphml"), ("edges", "links.tsv")] {
        let file = rig.dir.join(name).to_string_lossy().into_owned();
        rig.run(data, &["export", "graph", "--as", form, "--out", &file])?.ok()?;
        files.push(file);
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    script(rig, &python, "degrees", data, &files).map(drop)
}

fn python_with_networkx() -> Option<PathBuf> {
    let own = tools::find("wayback").and_then(|w| Some(w.parent()?.join("python3")));
    let all = tools::find("python3").into_iter().chain(own.filter(|p| p.is_file()));
    let has = |python: &PathBuf| {
        process::output(Command::new(python).args(["-c", "import networkx"])).is_ok()
    };
    all.into_iter().find(has)
}

#[test]
fn counts_are_right_again_after_pages_changed_came_and_went() -> Result<()> {
    let Some(rig) = Rig::new("backlinks-change", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let pages = 400;
    Graph::made_up(pages, 21).write(&root, 800)?;
    let dead = r#"<p><a href="/later.html">comes later</a> <a href="/p/1/1.html">one</a>"#;
    append(&root, 5, dead)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let first = walked(&rig, &start, "walk-1")?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let told = compared(&rig, "data", &[&first], &[], 4)?;
    ensure!(count(&told, "broken")? == 1, "one link should be dead: {told}");

    // A page that was missing is there now, and leads on: another job asks for it again.
    let new = r#"<title>Late</title><a href="/p/3/3.html">three</a><a href="/new.html">new</a>"#;
    std::fs::write(root.join("later.html"), new)?;
    std::fs::write(root.join("new.html"), r#"<a href="/later.html">back</a>"#)?;
    let second = walked(&rig, &start, "walk-2")?;
    rig.crawl("data", &[&start, "--scope", "prefix"])?;
    let told = compared(&rig, "data", &[&first, &second], &[], 4)?;
    ensure!(count(&told, "broken")? == 0, "nothing should be dead: {told}");

    // Words and links change, links go, pages go: seen by another crawl, taken in from its archive.
    let changed = Graph::made_up(pages, 22);
    for page in (10..pages).step_by(10) {
        let mut text = format!("<!doctype html><title>Page {page} anew</title>");
        for link in &changed.0[page] {
            text.push_str(&format!("<a href=\"{}\">now {link}</a>", Graph::uri(*link)));
        }
        std::fs::write(root.join(&Graph::uri(page)[1..]), text)?;
    }
    for page in (13..pages).step_by(31) {
        std::fs::remove_file(root.join(&Graph::uri(page)[1..]))?;
    }
    append(&root, 0, r#"<p><a href="/p/2/2.html">to 2</a> <a href="/p/2/2.html">two!</a>"#)?;
    let third = walked(&rig, &start, "walk-3")?;
    rig.crawl("other", &[&start, "--scope", "host"])?;
    let out = rig.dir.join("archive").to_string_lossy().into_owned();
    rig.run("other", &["export", "warc", "--out", &out])?.ok()?;
    let files = crate::rig::files_ending(Path::new(&out), ".warc.gz")?;
    let mut args = vec!["import", "warc"];
    args.extend(files.iter().filter_map(|file| file.to_str()));
    let other = compared(&rig, "other", &[&third], &[], 4)?;
    ensure!(count(&other, "broken")? > 5, "pages went: {other}");
    rig.run("data", &args)?.ok().context("import warc")?;
    let told = compared(&rig, "data", &[&first, &second, &third], &[], 4)?;
    ensure!(count(&told, "broken")? >= count(&other, "broken")?, "{told} after {other}");
    rig.verify("data")?;

    // Made again from nothing the graph says the same.
    std::fs::remove_dir_all(rig.dir.join("data/graph")).context("delete the graph")?;
    let again = compared(&rig, "data", &[&first, &second, &third], &[], 4)?;
    ensure!(again == told, "{again} after {told}");
    Ok(())
}

fn append(root: &Path, page: usize, text: &str) -> Result<()> {
    let path = root.join(&Graph::uri(page)[1..]);
    let old = std::fs::read_to_string(&path)?;
    std::fs::write(&path, format!("{old}{text}")).context("change a page")
}

#[test]
fn counts_are_right_after_pages_were_forgotten() -> Result<()> {
    let Some(rig) = Rig::new("backlinks-forget", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(200, 23).write(&root, 800)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let walk = walked(&rig, &start, "walk")?;
    rig.crawl("data", &[&start, "--scope", "host"])?;
    let before = compared(&rig, "data", &[&walk], &[], 10)?;
    let gone = [0, 7, 50, 199].map(|page| format!("{}{}", nginx.origin, Graph::uri(page)));
    let gone: Vec<&str> = gone.iter().map(String::as_str).collect();
    rig.run("data", &[&["forget", "--yes"], &gone[..]].concat())?.ok().context("forget")?;
    let after = compared(&rig, "data", &[&walk], &gone, 2)?;
    ensure!(count(&after, "backlinks")? < count(&before, "backlinks")?, "{after} after {before}");
    rig.verify("data")
}

#[test]
fn counts_are_right_after_kills_at_any_moment() -> Result<()> {
    let Some(rig) = Rig::new("backlinks-kill", &["nginx", "python3"])? else { return Ok(()) };
    let docs = match docs::first_of(docs::EVERYDAY[0]) {
        Ok(docs) => docs,
        Err(error) => return skip("counts_are_right_after_kills", &format!("{error:#}")),
    };
    let nginx = Nginx::serve(&docs.root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let walk = walked(&rig, &start, "walk")?;
    let whole = nginx.log_bytes();
    nginx.clear()?;
    let args = [start.as_str(), "--scope", "host", "--connections-per-host", "8"];
    let (kills, seed) = (knob("ARGIOPE_KILLS", 6)?, knob("ARGIOPE_SEED", 1)?);
    let mut dice = Dice::new(seed);
    let mut moments: Vec<u64> = (0..kills).map(|_| dice.below(whole * 9 / 10)).collect();
    moments.sort_unstable();
    let mut landed = 0;
    for (number, moment) in moments.iter().enumerate() {
        let mut running = rig.start_crawl("data", &args)?;
        let end = Instant::now() + CRAWL_LIMIT;
        while nginx.log_bytes() < *moment && running.is_running()? {
            ensure!(Instant::now() < end, "kill {number}: the crawl hangs");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(dice.below(40_000)));
        landed += usize::from(running.kill()?.signal == Some(9));
        if number % 2 == 0 {
            // Asked in between, the graph is somewhere else than the store when it is killed next.
            rig.rows("data", &["top"])?;
        }
    }
    ensure!(landed as u64 * 2 > kills, "only {landed} of {kills} kills found the crawl running");
    rig.crawl("data", &args)?;
    compared(&rig, "data", &[&walk], &[], 5).with_context(|| format!("seed {seed}"))?;
    rig.verify("data")
}

#[test]
fn broken_and_malformed_links_are_told_with_every_page_and_its_words() -> Result<()> {
    let Some(rig) = Rig::new("backlinks-broken", &["nginx", "python3"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    let holders = 300;
    let mut index = String::from(
        r##"<!doctype html><title>Odd</title>
        <a href="http://[/">a bracket, "quoted"</a> <a href="http://[/">again</a>
        <a href="http://a b/">a space,
        and a line</a> <a href="https://host:99999/x"><img src=x.png alt="a port"></a>
        <a href="//exa mple/">no scheme; one space</a> <a href="http://%zz/" title="from a title"></a>
        <a href="mailto:x@y">mail</a> <a href="javascript:void(0)">script</a> <a href="#here">here</a>
        <a href="gone.html">gone</a> <a href="gone.html#part">gone</a> <a href="./gone.html">lost</a>
        <a href="gone.html" rel="nofollow">gone</a> <a href="moved">moved away</a>
        <map><area href="gone.html" alt="on a map"></map><iframe src="/frame.html" title="Inside"></iframe>
        <a href="/only-nofollow.html" rel=nofollow>not followed</a> <a href="">itself</a>
        <a href="/p/0.html"><b>bo</b>ld<br>and <i>more</i> <script>no()</script>words</a>
        <a href="/p/0.html?q=a b&amp;c='d'">query</a> <a href="\p\1.html">back</a>
        <a href="/p/%7e%2E%2e/../2.html">dots</a> <a href="HTTP:/p/3.html">odd</a>
        <a href="http://user:pw@Example.TEST:80/%e4?x#y">elsewhere&nbsp;and &amp; more</a>
        "##,
    );
    for page in 0..holders {
        index.push_str(&format!("<a href=\"/p/{page}.html\">page {page}</a>\n"));
    }
    std::fs::write(root.join("index.html"), index)?;
    std::fs::write(root.join("frame.html"), r#"<base href="/p/"><a href="4.html">based</a>"#)?;
    std::fs::create_dir(root.join("p"))?;
    for page in 0..holders {
        let text = format!(
            "<meta name=description content=\"About {page}\"><a href=\"/gone.html\">way {}, \
             \"{page}\"</a><a href=\"http://:{page}/\">no host</a><a href=\"/moved\">there</a>",
            page % 7
        );
        std::fs::write(root.join(format!("p/{page}.html")), text)?;
    }
    let rules = "location = /moved { return 301 /vanished.html; }";
    let nginx = Nginx::serve(&root, &rig.dir, rules)?;
    let start = format!("{}/index.html", nginx.origin);
    let walk = walked(&rig, &start, "walk")?;
    rig.crawl("data", &[&start, "--scope", "host", "--connections-per-host", "8"])?;
    let told = compared(&rig, "data", &[&walk], &[], 3)?;
    // For each holder a dead link, a malformed one and one that is redirected; those of the index.
    ensure!(count(&told, "broken")? > 3 * holders, "too little is broken: {told}");
    degrees(&rig, "data")
}
