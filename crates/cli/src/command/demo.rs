//! `demo`: the whole product on a built-in made-up web, offline, in a minute.
//!
//! At a terminal it is a tour: the page shows the crawl while it runs, two new editions of the web come out and are
//! visited, and the page stays with links to what is worth a look.

use super::crawl::{Order, execute, own, summary_json};
use super::now;
use super::serve::Page;
use super::wiring::{engine_settings, new_job};
use crate::args::{Format, Global};
use crate::args_serve::Demo;
use crate::config::{self, Flags, Settings};
use crate::output::{self, bytes, count, seconds, table};
use anyhow::{Context, anyhow};
use argiope_crawl::{
    Asked, Ended, Followers, Question, Return, SearchOrder, TopBy, answer, pick_job, verify,
};
use argiope_model::{CanonicalUrl, Suffixes};
use argiope_store::Store;
use argiope_testweb::{ServeOptions, Web, WebSpec, serve};
use serde_json::Value;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// How long the made-up web takes to answer on a tour.
const LATENCY: Duration = Duration::from_millis(60);
/// New editions on a tour.
const EDITIONS: usize = 2;

pub fn demo(global: &Global, args: &Demo) -> anyhow::Result<ExitCode> {
    let scratch = tempfile::tempdir().context("cannot make a directory for the demo")?;
    let data = args.keep.clone().unwrap_or_else(|| scratch.path().join("data"));
    let overrides = [
        ("crawl.delay", "0s".to_owned(), "demo"),
        ("crawl.connections_per_host", "2".to_owned(), "demo"),
        ("fetch.allow_private", "true".to_owned(), "demo"),
    ];
    let flags = Flags { own: &overrides, set: &[] };
    let loaded = config::load(None, &data, flags).map_err(|e| anyhow!("{e}"))?;
    let settings = &loaded.settings;
    let (format, data_dir) = (global.format, data.clone());
    let global = Global { data: data_dir, config: None, format, store: None, archive: Vec::new() };
    let quiet = global.format == Format::Json;

    let tour = !quiet && !args.quick && (args.stay || output::on_terminal());
    let web = Arc::new(Web::new(WebSpec::demo()));
    // A crawl that is over before the page is there is nothing to look at.
    let latency = if tour { LATENCY } else { ServeOptions::default().latency };
    let options = ServeOptions { latency, ..ServeOptions::default() };
    let server =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let served = server
        .block_on(serve(web, options))
        .context("cannot serve the made-up web on this machine's loopback")?;
    let bases = served.bases();
    if !quiet {
        output::talk(format!(
            "A made-up web of {} sites is being served on this machine, from {} on.",
            bases.len(),
            bases[0]
        ));
        output::talk(format!(
            "Crawling it: argiope --data {} crawl {} …\n",
            data.display(),
            bases[0]
        ));
    }
    let urls: Result<Vec<CanonicalUrl>, _> = bases.iter().map(|b| CanonicalUrl::parse(b)).collect();
    let page = match tour {
        true => Some(Page::beside(&global, args.listen.as_deref(), !args.no_open)?),
        false => None,
    };
    let (dir, store) = own(&global, settings)?;
    let picked = pick_job(new_job(settings, urls?), &store.jobs()?, &Suffixes::built_in(), now());
    let summary = execute(
        dir.clone(),
        store.clone(),
        settings,
        Order { picked: Some(picked), quiet, ..Order::default() },
    )?;
    if quiet {
        output::print([summary_json(&summary).to_string()])?;
        return Ok(ExitCode::SUCCESS);
    }
    output::talk(format!(
        "Fetched {} pages in {} ({:.0} pages/s).\n",
        count(summary.fetched),
        seconds(summary.elapsed.as_secs_f64()),
        summary.fetched as f64 / summary.elapsed.as_secs_f64().max(0.001)
    ));
    let hosts = store.scan_hosts(None, 100)?;
    let mut rows: Vec<Vec<String>> = hosts
        .iter()
        .map(|(_, h)| {
            let title = title_of(&dir, &*store, &h.origin);
            let cells = [count(h.known), count(h.fetched), count(h.failed), bytes(h.bytes)];
            let mut row = vec![h.origin.to_string()];
            row.extend(cells);
            row.push(title.unwrap_or_default());
            row
        })
        .collect();
    rows.sort();
    output::print(table(
        &["site", ">known", ">fetched", ">failed", ">received", "front page"],
        &rows,
    ))?;
    let most = Question::Top { by: TopBy::Backlinks, of_sites: false, limit: 5, all: false };
    let engine = engine_settings(settings);
    let followers = Followers::new(&dir, &store, &engine);
    if let Asked::Rows(rows) = answer(&most, &dir, &*store, &followers, &engine, None) {
        let cell = |row: &Value, name: &str| count(row[name].as_u64().unwrap_or(0));
        let url = |row: &Value| row["url"].as_str().unwrap_or_default().to_owned();
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| vec![cell(row, "backlinks"), cell(row, "sites"), url(row)])
            .collect();
        output::talk("\nThe pages that most others link to:");
        output::print(table(&[">back-links", ">sites", "page"], &cells))?;
    }
    if let Some(title) = title_of(&dir, &*store, &bases[0]) {
        followers.words.catch_up(false, |_| {})?;
        let order = SearchOrder { query: title.clone(), limit: 3, ..SearchOrder::default() };
        let asked = answer(&Question::Search(order), &dir, &*store, &followers, &engine, None);
        if let Asked::Rows(rows) = asked {
            let total = rows.last().and_then(|row| row["total"].as_u64()).unwrap_or(0);
            let cell = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let hits = rows.iter().filter(|row| row["rank"].is_u64());
            let cells: Vec<Vec<String>> =
                hits.map(|row| vec![cell(row, "title"), cell(row, "url")]).collect();
            let total = count(total);
            output::talk(format!("\nA search for “{title}” finds {total} pages, first of all:"));
            output::print(table(&["title", "page"], &cells))?;
        }
    }
    let checked = verify(&dir, &*store, &Default::default(), |_| {})?;
    output::talk(format!(
        "\nVerified: {} archive records against {} captures, {} problems.",
        count(checked.records),
        count(checked.captures),
        checked.problem_count
    ));
    drop((followers, store, dir));
    let stopped = summary.ended == Ended::Stopped;
    match page {
        Some(page) if !stopped && editions(&global, settings, served.web())? => {
            sights(&page, &bases[0], &data, args.keep.is_some());
            page.stay()?;
        }
        Some(page) => page.finish(),
        None => after(&data, &bases[0], args.keep.is_some()),
    }
    drop(served);
    let good = summary.ended == Ended::Done && checked.problem_count == 0;
    Ok(ExitCode::from(u8::from(!good)))
}

/// Two editions of the web come out, one after the other, and all pages are visited again. Says whether that came
/// to its end.
fn editions(global: &Global, settings: &Settings, web: &Web) -> anyhow::Result<bool> {
    output::talk(
        "\nThe authors of the made-up web are at work; all pages are visited again: argiope refresh --all",
    );
    for _ in 0..EDITIONS {
        web.next_edition();
        let (dir, store) = own(global, settings)?;
        let order = Order { keep: Return::All, ..Order::default() };
        let summary = execute(dir, store, settings, order)?;
        if summary.ended == Ended::Stopped {
            return Ok(false);
        }
        let again = summary.again;
        output::talk(format!(
            "{} of {} pages had changed.",
            count(again.changed),
            count(again.visited)
        ));
    }
    Ok(true)
}

/// What is worth a look.
fn sights(page: &Page, first: &str, data: &std::path::Path, kept: bool) {
    let (at, first) = (page.url(), argiope_web::encoded(first));
    output::talk("\nHave a look:");
    for (what, path) in [
        ("search", "search?q=spider".to_owned()),
        ("a page, its versions and links", format!("page?url={first}")),
        ("what changed", "new".to_owned()),
        ("sites", "sites".to_owned()),
        ("every word", "words".to_owned()),
        ("the crawl", "crawl".to_owned()),
    ] {
        output::talk(format!("  {what:32} {at}{path}"));
    }
    output::talk(match kept {
        true => format!("\nEverything stays in {}.", data.display()),
        false => "\nThe demo's data is removed at the end; `argiope demo --keep DIR` keeps it."
            .to_owned(),
    });
}

fn title_of(dir: &argiope_crawl::DataDir, store: &dyn Store, origin: &str) -> Option<String> {
    let url = CanonicalUrl::parse(origin).ok()?;
    let captures = store.captures(url.key(dir.suffixes())).ok()?;
    let at = captures.iter().rev().find_map(|c| c.text)?;
    Some(argiope_archive::read_text(&dir.text(), at).ok()?.title)
}

fn after(data: &std::path::Path, first: &str, kept: bool) {
    let data: PathBuf = data.to_owned();
    if kept {
        output::talk(format!("\nIt stays in {}. Look around:", data.display()));
        for command in ["doc", "links", "show --text", "show"] {
            output::talk(format!("  argiope --data {} {command} {first}", data.display()));
        }
    } else {
        output::talk(
            "\nThe demo's data is removed now; `argiope demo --keep DIR` keeps it to look around in.",
        );
        output::talk("For a real site: argiope crawl https://example.org/");
    }
}
