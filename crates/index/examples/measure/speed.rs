//! How quickly queries are answered, against bare tantivy.
//!
//! Both sides are asked the same lines, one after the other, in three rounds through all of them;
//! of each query the best time counts. Bare tantivy reads them with its own parser (words side by
//! side are a union there) over the five text fields of the very index that ours asks, so both
//! look at the same words, postings and segments, and collects the ten best and the number of
//! all. Ours is asked as a user asks: ten hits with snippets, near-duplicates folded, the exact
//! total, other spellings where nothing is found. What these cost is told by leaving them out:
//! `LEAVE_OUT=snippets,suggest`.

use argiope_index::{NoLinks, SearchOptions, View};
use std::path::Path;
use std::time::{Duration, Instant};
use tantivy::Searcher;
use tantivy::collector::{Count, TopDocs};
use tantivy::query::QueryParser;
use tantivy::tokenizer::{LowerCaser, SimpleTokenizer, TextAnalyzer};

const ROUNDS: usize = 3;
const FIELDS: &[&str] = &["title", "headings", "body", "address", "links"];

pub struct Query {
    text: String,
    kind: String,
}

pub fn read(path: &Path) -> Vec<Query> {
    let lines = std::fs::read_to_string(path).unwrap();
    let query = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = value["query"].as_str().unwrap().to_owned();
        Query { text, kind: value["tags"][0].as_str().unwrap_or("other").to_owned() }
    };
    lines.lines().map(query).collect()
}

/// tantivy's parser and searcher over an index.
fn bare(dir: &Path) -> (QueryParser, Searcher) {
    let index = tantivy::Index::open_in_dir(dir).unwrap();
    // Ours are packed words when pages are taken in; what is typed is split and lowered.
    let plain = || TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser).build();
    index.tokenizers().register("replay", plain());
    index.tokenizers().register("parents", plain());
    let schema = index.schema();
    let fields = FIELDS.iter().filter_map(|name| schema.get_field(name).ok()).collect();
    (QueryParser::for_index(&index, fields), index.reader().unwrap().searcher())
}

struct Times {
    theirs: Duration,
    /// Over tantivy's own words: its tokenizer, an index of its own.
    own: Duration,
    ours: Duration,
    /// Of the first round, when nothing is remembered yet.
    first: Option<Duration>,
    hits: bool,
}

pub fn mix(queries: &[Query], dir: &Path, view: &View, texts: &Path) {
    let sides = [bare(&dir.join("index")), bare(&dir.join("bare"))];
    let left_out = std::env::var("LEAVE_OUT").unwrap_or_default();
    let options = SearchOptions {
        snippets: !left_out.contains("snippets"),
        suggest: !left_out.contains("suggest"),
        ..SearchOptions::default()
    };
    let mut times: Vec<Times> = Vec::new();
    times.resize_with(queries.len(), || Times {
        theirs: Duration::MAX,
        own: Duration::MAX,
        ours: Duration::MAX,
        first: None,
        hits: false,
    });
    for _ in 0..ROUNDS {
        for (query, best) in queries.iter().zip(&mut times) {
            for ((parser, searcher), best) in sides.iter().zip([&mut best.theirs, &mut best.own]) {
                let begin = Instant::now();
                let query = parser.parse_query_lenient(&query.text).0;
                let wanted = (TopDocs::with_limit(10).order_by_score(), Count);
                std::hint::black_box(searcher.search(&query, &wanted).unwrap());
                *best = begin.elapsed().min(*best);
            }
            let begin = Instant::now();
            let answer = view.search(&query.text, texts, &NoLinks, &options);
            best.ours = begin.elapsed().min(best.ours);
            best.first.get_or_insert(best.ours);
            best.hits = answer.as_ref().is_ok_and(|answer| !answer.hits.is_empty());
            let _ = std::hint::black_box(answer);
        }
    }
    let found = times.iter().filter(|times| times.hits).count();
    println!("{} queries, {found} with hits", queries.len());
    let all: Vec<&Times> = times.iter().collect();
    for (name, of) in [("tantivy", (|t| t.theirs) as fn(&Times) -> Duration), ("ours", |t| t.ours)]
    {
        let [a, b, c] = [50, 90, 99].map(|p| at(&all, of, p));
        println!("{name:8} median {a:.3} ms, 90 % {b:.3} ms, 99 % {c:.3} ms");
    }
    let [a, b, c] = [50, 90, 99].map(|p| at(&all, |t| t.first.unwrap_or_default(), p));
    println!("the first round: median {a:.3} ms, 90 % {b:.3} ms, 99 % {c:.3} ms");
    println!(
        "{:20} {:>7} {:>20} {:>20} {:>14} {:>20}",
        "", "queries", "tantivy 50, 99 % ms", "ours 50, 99 % ms", "ratios", "its own words"
    );
    let mut kinds: Vec<&str> = queries.iter().map(|query| &*query.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    row("all", &all);
    row("with hits", &times.iter().filter(|times| times.hits).collect::<Vec<_>>());
    row("without", &times.iter().filter(|times| !times.hits).collect::<Vec<_>>());
    for kind in kinds {
        let of = |hits: Option<bool>| -> Vec<&Times> {
            let both = queries.iter().zip(&times);
            let wanted = both.filter(|(q, t)| q.kind == kind && hits.is_none_or(|h| h == t.hits));
            wanted.map(|(_, times)| times).collect()
        };
        row(kind, &of(None));
        row("  with hits", &of(Some(true)));
    }
    let mut worst: Vec<(&Times, &Query)> = times.iter().zip(queries).collect();
    worst.sort_by_key(|(times, _)| std::cmp::Reverse(times.ours));
    for (times, query) in worst.iter().take(12) {
        println!("  {:.3} ms, {:.3} ms  {}", ms(times.theirs), ms(times.ours), query.text);
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn at(times: &[&Times], of: fn(&Times) -> Duration, percent: usize) -> f64 {
    let mut times: Vec<Duration> = times.iter().map(|times| of(times)).collect();
    times.sort_unstable();
    ms(times[(times.len() - 1) * percent / 100])
}

fn row(name: &str, times: &[&Times]) {
    if times.is_empty() {
        return;
    }
    let pair = |of| (at(times, of, 50), at(times, of, 99));
    let (theirs, ours, own) = (pair(|t| t.theirs), pair(|t| t.ours), pair(|t| t.own));
    let shown = |(a, b): (f64, f64)| format!("{a:.3} {b:.3}");
    println!(
        "{name:20} {:>7} {:>20} {:>20} {:>14} {:>20}",
        times.len(),
        shown(theirs),
        shown(ours),
        format!("{:.2} {:.2}", ours.0 / theirs.0, ours.1 / theirs.1),
        shown(own)
    );
}
