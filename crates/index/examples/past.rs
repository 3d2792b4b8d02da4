//! What the past costs: the index of pages with so many versions each, and the time of searches in it.
//!
//! Measured: CPU time of following the change log, the size of the index and of its past, the time of a
//! search for today's pages and of the same one at a time in the past. Pages are those of a folder; each
//! version says something else than the one before in so many of a hundred words. Queries are words
//! drawn from the dictionary, one to three of them, the same for every number of versions.
//!
//! ```text
//! cargo run --release -p argiope-index --example past -- PAGES [PERCENT]
//! ```
//!
//! What would falsify the claims: a search for today's pages that is slower with a past than without, or
//! a version that takes more room than a page.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/scene/mod.rs"]
mod scene;

use argiope_archive::TextBlob;
use argiope_index::{SearchOptions, View};
use argiope_model::{Directives, OutcomeKind, Time};
use argiope_store::Ended;
use scene::Scene;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const QUERIES: usize = 400;

fn main() {
    let mut args = std::env::args_os().skip(1);
    let Some(folder) = args.next().map(PathBuf::from) else {
        println!("usage: past PAGES [PERCENT]");
        return;
    };
    let percent = args.next().map_or(5, |n| n.to_string_lossy().parse().unwrap());
    let mut pages = Vec::new();
    read(&folder, &mut pages);
    let bytes: usize = pages.iter().map(|(_, blob)| blob.text.len()).sum();
    println!(
        "{} pages, {:.1} MB of text, {percent} % of words other",
        pages.len(),
        mb(bytes as u64)
    );
    println!("versions  CPU-s  index MB  past MB  today µs (99 %)  then µs (99 %)");
    let mut queries: Vec<String> = Vec::new();
    for versions in [1, 2, 5, 10] {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::new(dir.path());
        for version in 0..versions {
            for (url, blob) in &pages {
                let blob = edited(blob, version, percent);
                let text = Some(scene.blob_later(&blob));
                let plain = Directives::default();
                scene.visit(url, Ended::WithPage, OutcomeKind::Fetched, text, true, plain);
            }
        }
        scene.blob(&TextBlob::default());
        let begin = cpu();
        let mut index = scene.indexed(dir.path());
        index.settle().unwrap();
        let spent = cpu() - begin;
        let view = index.view();
        if queries.is_empty() {
            queries = drawn(&view);
        }
        let (size, past) = (view.size().unwrap(), view.past_size().unwrap());
        assert_eq!(past.documents, (versions as u64 - 1) * size.documents);
        let now = SearchOptions { now: Time(scene.now), ..SearchOptions::default() };
        // The middle of the past.
        let then = SearchOptions { at: Some(Time(scene.now / 2)), ..now.clone() };
        let [today, then] = [now, then].map(|options| timed(&scene, &view, &queries, &options));
        println!(
            "{versions:>8}  {:>5.1}  {:>8.2}  {:>7.2}  {today}  {then}",
            spent.as_secs_f64(),
            mb(size.disk),
            mb(past.disk)
        );
    }
}

/// Median and 99th percentile, after a first round that nobody counts.
fn timed(scene: &Scene, view: &View, queries: &[String], options: &SearchOptions) -> String {
    let mut times = Vec::new();
    for _ in 0..3 {
        times.clear();
        for query in queries {
            let begin = Instant::now();
            scene.search_with(view, query, options);
            times.push(begin.elapsed());
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100].as_micros();
    format!("{:>8} ({:>5})", at(50), at(99))
}

fn drawn(view: &View) -> Vec<String> {
    let words = view.words("", None, 1_000_000).unwrap();
    let words: Vec<String> = words.into_iter().map(|word| word.word).collect();
    let mut seed = 7u64;
    let mut draw = |end: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % end
    };
    let mut query = || {
        let count = 1 + draw(3);
        (0..count).map(|_| words[draw(words.len())].clone()).collect::<Vec<_>>().join(" ")
    };
    let mut queries: Vec<String> = (0..QUERIES).map(|_| query()).collect();
    queries.retain(|query| query.chars().all(|c| c.is_alphanumeric() || c == ' '));
    queries
}

/// A version of a text.
fn edited(blob: &TextBlob, version: usize, percent: usize) -> TextBlob {
    let mut n = 0;
    let other = |word: &str| {
        n += 1;
        match (n * 7919 + version * 104_729) % 100 < percent && version > 0 {
            true => format!("v{version}{word}"),
            false => word.to_owned(),
        }
    };
    let text: Vec<String> = blob.text.split_whitespace().map(other).collect();
    TextBlob { text: text.join(" "), ..blob.clone() }
}

fn read(folder: &Path, out: &mut Vec<(String, TextBlob)>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            read(&path, out);
        } else if path.extension().is_some_and(|end| end == "html") {
            let url = format!("http://pages.test/{}", out.len());
            let page = argiope_parse::parse_html(&std::fs::read(&path).unwrap(), None);
            let language = Some("en".into());
            let (title, text) = (page.title, page.text);
            out.push((url, TextBlob { title, text, language, ..TextBlob::default() }));
        }
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}
