//! The graph benchmark: what the reverse links of a page cost, and how fast questions are
//! answered when a million pages are known.
//!
//! * What is measured: everything the follower does with a page: reading its row of the change
//!   log, unpacking its stored links, fingerprints, buffer, runs, merges. The store behind it is
//!   made up and costs next to nothing; with `--embedded N` so many pages are first committed to
//!   the embedded store and followed there, every 2,048 pages.
//! * Corpus: made up from a seed. A page has 62 links: 20 to the front pages of its site, 6.5 to
//!   URLs never met before, 24 to others of its site, the rest to other sites, few of them very
//!   often. One URL in forty is broken. URLs spread over `pages / 50` sites, few large and many
//!   small.
//! * How to run: `cargo run --release -p argiope-graph --example graph_bench -- \
//!   --pages 1000000 --memory 64MB --dir DIR`. One JSON line on stdout, progress on stderr.
//! * What would falsify it: any question above a second at a million pages, `peak_mb` above the
//!   memory given, or `cpu_us_per_page` above 25 on the machine where a page costs 400.

#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "graph_bench/corpus.rs"]
mod corpus;
#[path = "graph_bench/embedded.rs"]
mod embedded;

use argiope_graph::rank::{Measure, Of, RankOrder, make};
use argiope_graph::{By, Graph, GraphError};
use argiope_store::Store;
use corpus::Corpus;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CHUNK: u32 = 20_000;

struct Arguments {
    pages: u32,
    embedded: u32,
    memory: u64,
    dir: PathBuf,
}

fn arguments() -> Result<Arguments, String> {
    let mut out =
        Arguments { pages: 1_000_000, embedded: 0, memory: 64 << 20, dir: PathBuf::new() };
    let mut given = std::env::args().skip(1);
    while let Some(flag) = given.next() {
        let value = given.next().ok_or(format!("{flag} needs a value"))?;
        let bad = |e| format!("{flag} {value}: {e}");
        match flag.as_str() {
            "--pages" => out.pages = value.parse().map_err(bad)?,
            "--embedded" => out.embedded = value.parse().map_err(bad)?,
            "--memory" => {
                out.memory = value.trim_end_matches("MB").parse::<u64>().map_err(bad)? << 20;
            }
            "--dir" => out.dir = value.into(),
            other => return Err(format!("{other} is not known")),
        }
    }
    match out.dir.as_os_str().is_empty() {
        true => Err("--dir DIR is needed: a directory on the disk to be measured".into()),
        false => Ok(out),
    }
}

/// Processor seconds of this process.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn anon_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("RssAnon:"));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

static PEAK_KB: AtomicU64 = AtomicU64::new(0);
static WATCHED: AtomicBool = AtomicBool::new(false);

fn timed<T>(work: impl FnOnce() -> Result<T, GraphError>) -> Result<(T, f64), GraphError> {
    let begun = Instant::now();
    let out = work()?;
    Ok((out, begun.elapsed().as_secs_f64() * 1e3))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { pages, embedded, memory, dir } = arguments()?;
    if embedded > 0 {
        let cpu = embedded::follow(embedded, memory, &dir.join("embedded"), cpu_s)?;
        println!(
            "{{\"embedded_pages\":{embedded},\"cpu_us_per_page\":{:.2}}}",
            cpu * 1e6 / f64::from(embedded)
        );
    }
    std::thread::spawn(|| {
        loop {
            if WATCHED.load(Ordering::Relaxed) {
                PEAK_KB.fetch_max(anon_kb(), Ordering::Relaxed);
            }
            std::thread::sleep(Duration::from_millis(3));
        }
    });
    let mut corpus = Corpus::new(pages);
    let mut graph = Graph::open(&dir.join("graph"), memory)?;
    let (mut cpu, mut made, mut peak_kb) = (0.0, 0, 0);
    while made < pages {
        let chunk = CHUNK.min(pages - made);
        corpus.make(chunk);
        let before_kb = anon_kb().saturating_sub(graph.size().memory / 1024);
        PEAK_KB.store(0, Ordering::Relaxed);
        WATCHED.store(true, Ordering::Relaxed);
        let begun = cpu_s();
        graph.catch_up(&corpus, &corpus.suffixes, usize::MAX)?;
        let lap = cpu_s() - begun;
        WATCHED.store(false, Ordering::Relaxed);
        peak_kb = peak_kb.max(PEAK_KB.load(Ordering::Relaxed).saturating_sub(before_kb));
        cpu += lap;
        made += chunk;
        if made % (CHUNK * 5) == 0 || made == pages {
            let size = graph.size();
            eprintln!(
                "{made} pages: {:.1} us/page lately, {:.1} on the whole, {size:?}",
                lap * 1e6 / f64::from(chunk),
                cpu * 1e6 / f64::from(made)
            );
        }
    }
    let begun = cpu_s();
    graph.flush()?;
    cpu += cpu_s() - begun;
    let size = graph.size();
    println!(
        "{{\"pages\":{pages},\"links\":{},\"cpu_us_per_page\":{:.2},\"peak_mb\":{:.0},\"bytes_per_link\":{:.2},\"runs\":{}}}",
        size.links,
        cpu * 1e6 / f64::from(pages),
        peak_kb as f64 / 1024.0,
        size.disk as f64 / size.links as f64,
        size.runs
    );
    ask("as followed", &mut graph, &corpus)?;
    corpus.change(pages / 20);
    let begun = cpu_s();
    graph.catch_up(&corpus, &corpus.suffixes, usize::MAX)?;
    let again = (cpu_s() - begun) * 1e6 / f64::from(pages / 20);
    eprintln!("pages read again: {again:.1} us/page");
    ask("a twentieth read again", &mut graph, &corpus)?;
    let begun = cpu_s();
    graph.settle()?;
    eprintln!("one run: {:.1} us/page", (cpu_s() - begun) * 1e6 / f64::from(pages));
    ask("one run", &mut graph, &corpus)?;
    rank(&mut graph, &corpus, &dir.join("graph"))?;
    Ok(())
}

/// PageRank of all pages, from the store and the runs to its file.
fn rank(graph: &mut Graph, corpus: &Corpus, dir: &Path) -> Result<(), GraphError> {
    // What the made-up store makes for this is not ours.
    corpus.scan_urls(None, 1)?;
    let view = graph.view()?;
    let before_kb = anon_kb();
    PEAK_KB.store(0, Ordering::Relaxed);
    WATCHED.store(true, Ordering::Relaxed);
    let (measure, of) = (Measure::PageRank, Of::Pages);
    let order = RankOrder { dir, measure, of, now_ms: 0, calm: false };
    let (ranks, ms) = timed(|| make(&view, corpus, &corpus.suffixes, &order))?;
    WATCHED.store(false, Ordering::Relaxed);
    let about = ranks.about();
    println!(
        "{{\"rank_of\":{},\"edges\":{},\"rounds\":{},\"seconds\":{:.1},\"added_mb\":{:.0}}}",
        about.nodes,
        about.edges,
        about.rounds,
        ms / 1e3,
        PEAK_KB.load(Ordering::Relaxed).saturating_sub(before_kb) as f64 / 1024.0,
    );
    Ok(())
}

fn ask(when: &str, graph: &mut Graph, corpus: &Corpus) -> Result<(), GraphError> {
    let suffixes = &corpus.suffixes;
    let (view, view_ms) = timed(|| graph.view())?;
    let (top, top_ms) = timed(|| view.top(By::Backlinks, 100))?;
    let (sites, sites_ms) = timed(|| view.top(By::Sites, 100))?;
    let most = top[0].0;
    let (incoming, links_ms) = timed(|| view.incoming(corpus, suffixes, most, None, 100))?;
    let keys = corpus.some_keys(1000);
    let ((), one_ms) = timed(|| {
        for key in &keys[..100] {
            view.incoming(corpus, suffixes, *key, None, 100)?;
        }
        Ok(())
    })?;
    let (_, counts_ms) = timed(|| view.counts(&keys))?;
    let (broken, broken_ms) = timed(|| view.broken(corpus, suffixes, None, 1000))?;
    println!(
        "{{\"when\":\"{when}\",\"view_ms\":{view_ms:.1},\"top_ms\":{top_ms:.0},\"top_sites_ms\":{sites_ms:.0},\"links_of_most_ms\":{links_ms:.1},\"links_ms\":{:.2},\"count_ms\":{:.3},\"broken_ms\":{broken_ms:.0},\"most\":{},\"most_sites\":{},\"broken\":{}}}",
        one_ms / 100.0,
        counts_ms / 1000.0,
        incoming.counts.backlinks,
        sites[0].1.sites,
        broken.rows.len(),
    );
    Ok(())
}
