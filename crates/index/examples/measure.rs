//! What the index costs and how quickly it answers, against bare tantivy in the same run.
//!
//! Measured: CPU time of taking pages in (texts in memory, one writer thread each, one commit at
//! the end) and the size of the index, against tantivy's own tokenizer over title and body with
//! positions; then the time of each query of a mix with exact totals and, on our side, snippets,
//! against tantivy over the same fields. At last, how often a title or heading that is unique
//! in its site finds its page.
//!
//! ```text
//! cargo run --release -p argiope-index --example measure -- PAGES [QUERIES.jsonl [PARTS]]
//! ```
//!
//! `PAGES` is a folder with a folder per site, each with HTML files below it; `QUERIES.jsonl`
//! has a line `{"query": …}` each. What would falsify the claims: a ratio above 1.3 (CPU), 0.6
//! (size) or 2 (median and 99th percentile of queries), fewer than 90 % of pages found first.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use argiope_archive::{SegmentKind, Segments, TextBlob, encode_text};
use argiope_index::{Index, LinkedAs, NoLinks, Page, SearchOptions, Settings, View};
use argiope_model::{CanonicalUrl, DocId, Location, Time};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::QueryParser;
use tantivy::schema::{Schema, TEXT};
use tantivy::{IndexWriter, TantivyDocument};

struct Doc {
    site: String,
    url: CanonicalUrl,
    text: TextBlob,
    location: Location,
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let Some(folder) = args.next().map(PathBuf::from) else {
        println!("usage: measure PAGES [QUERIES.jsonl [search|known|none]]");
        return;
    };
    let queries = args.next().map(PathBuf::from);
    let parts =
        args.next().map_or("search known".into(), |part| part.to_string_lossy().into_owned());
    let dir = tempfile::tempdir().unwrap();
    let texts = dir.path().join("text");
    let docs = read(&folder, &texts);
    let bytes: usize = docs.iter().map(|doc| doc.text.text.len() + doc.text.title.len()).sum();
    let blobs: u64 = docs.iter().map(|doc| doc.location.length).sum();
    println!(
        "{} pages, {:.1} MB of text, {:.1} MB of blobs",
        docs.len(),
        mb(bytes),
        mb(blobs as usize)
    );

    let begin = cpu();
    let bare = bare(&docs, &dir.path().join("bare"));
    let bare_cpu = cpu() - begin;
    let bare_size = size_of(&dir.path().join("bare"));
    let begin = cpu();
    let view = ours(&docs, &dir.path().join("index"));
    let ours_cpu = cpu() - begin;
    let ours_size = size_of(&dir.path().join("index"));
    println!(
        "tantivy: {:.2} CPU-s, {:.1} MB = {:.3} of the text",
        bare_cpu.as_secs_f64(),
        mb(bare_size),
        bare_size as f64 / bytes as f64
    );
    println!(
        "ours:    {:.2} CPU-s, {:.1} MB = {:.3} of the text",
        ours_cpu.as_secs_f64(),
        mb(ours_size),
        ours_size as f64 / bytes as f64
    );
    println!(
        "CPU ratio {:.2}, {:.0} µs per page",
        ours_cpu.as_secs_f64() / bare_cpu.as_secs_f64(),
        ours_cpu.as_micros() as f64 / docs.len() as f64
    );

    if let Some(queries) = queries.filter(|_| parts.contains("search")) {
        let lines = std::fs::read_to_string(queries).unwrap();
        let queries: Vec<String> = lines
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["query"]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        mix(&queries, &bare, &view, &texts);
    }
    if parts.contains("known") {
        known(&docs, &view, &texts);
    }
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// CPU time of the process, all threads.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

fn size_of(dir: &Path) -> usize {
    let files = std::fs::read_dir(dir).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len() as usize).sum()
}

fn read(folder: &Path, texts: &Path) -> Vec<Doc> {
    let mut blobs = Segments::open(texts, SegmentKind::Text, &[], 1 << 30).unwrap();
    let mut docs = Vec::new();
    let mut sites: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    sites.sort();
    for site in sites.into_iter().filter(|site| site.is_dir()) {
        let name = site.file_name().unwrap().to_string_lossy().to_lowercase();
        let name: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let mut stack = vec![site.clone()];
        while let Some(path) = stack.pop() {
            let mut entries: Vec<PathBuf> =
                std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                if path.is_symlink() {
                    continue;
                }
                if path.is_dir() {
                    stack.push(path);
                    continue;
                }
                if !path.extension().is_some_and(|e| e == "html" || e == "htm") {
                    continue;
                }
                let relative = path.strip_prefix(&site).unwrap().to_string_lossy();
                let site = format!("x{}.test", name.trim_matches('-'));
                let Ok(url) = CanonicalUrl::parse(&format!("http://{site}/{relative}")) else {
                    continue;
                };
                let page = argiope_parse::parse_html(&std::fs::read(&path).unwrap(), None);
                let text = TextBlob {
                    parser_version: 1,
                    title: page.title,
                    description: page.description,
                    headings: page.headings.into_iter().map(|h| h.text).collect(),
                    language: page.language,
                    text: page.text,
                };
                let location = blobs.append(encode_text(&text).into()).unwrap();
                docs.push(Doc { site, url, text, location });
            }
        }
    }
    blobs.sync().unwrap();
    docs
}

fn bare(docs: &[Doc], dir: &Path) -> tantivy::Index {
    std::fs::create_dir_all(dir).unwrap();
    let mut schema = Schema::builder();
    let fields: Vec<_> = ["title", "headings", "body", "address"]
        .iter()
        .map(|f| schema.add_text_field(f, TEXT))
        .collect();
    let index = tantivy::Index::create_in_dir(dir, schema.build()).unwrap();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 64 << 20).unwrap();
    for doc in docs {
        let mut document = TantivyDocument::default();
        document.add_text(fields[0], &doc.text.title);
        document.add_text(fields[1], doc.text.headings.join("\n"));
        document.add_text(fields[2], &doc.text.text);
        document.add_text(fields[3], doc.url.as_str());
        writer.add_document(document).unwrap();
    }
    writer.commit().unwrap();
    writer.wait_merging_threads().unwrap();
    index
}

fn ours(docs: &[Doc], dir: &Path) -> View {
    let mut index = Index::open(dir, &Settings::default()).unwrap();
    for (n, doc) in docs.iter().enumerate() {
        index
            .put(&Page {
                doc: DocId(n as u64 + 1),
                url: &doc.url,
                site: &doc.site,
                text: &doc.text,
                location: doc.location,
                mime: "text/html",
                bytes: 0,
                first_seen: Time(0),
                changed: Time(0),
                fetched: Time(0),
                no_snippet: false,
                links: LinkedAs::default(),
            })
            .unwrap();
    }
    index.commit().unwrap();
    index.finish().unwrap()
}

/// Each query on both, one after the other, the better of two runs.
fn mix(queries: &[String], bare: &tantivy::Index, view: &View, texts: &Path) {
    let reader = bare.reader().unwrap();
    let searcher = reader.searcher();
    let schema = bare.schema();
    let fields: Vec<_> = schema.fields().map(|(field, _)| field).collect();
    let parser = QueryParser::for_index(bare, fields);
    let options = SearchOptions::default();
    let (mut theirs, mut ours, mut found) = (Vec::new(), Vec::new(), 0);
    for query in queries {
        let time = |f: &mut dyn FnMut()| {
            let mut best = Duration::MAX;
            for _ in 0..2 {
                let begin = Instant::now();
                f();
                best = best.min(begin.elapsed());
            }
            best
        };
        theirs.push(time(&mut || {
            let query = parser.parse_query_lenient(query).0;
            let (hits, _) = searcher
                .search(&query, &(TopDocs::with_limit(10).order_by_score(), Count))
                .unwrap();
            std::hint::black_box(hits);
        }));
        let mut answered = false;
        ours.push(time(&mut || {
            let answer = view.search(query, texts, &NoLinks, &options);
            answered = answer.as_ref().is_ok_and(|answer| !answer.hits.is_empty());
            let _ = std::hint::black_box(answer);
        }));
        found += usize::from(answered);
    }
    let mut worst: Vec<(Duration, &String)> = ours.iter().copied().zip(queries).collect();
    worst.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    println!("{} queries, {found} with hits", queries.len());
    for (name, times) in [("tantivy", &mut theirs), ("ours", &mut ours)] {
        times.sort();
        let at = |p: usize| times[(times.len() - 1) * p / 100].as_secs_f64() * 1e3;
        println!("{name:8} median {:.3} ms, 90 % {:.3} ms, 99 % {:.3} ms", at(50), at(90), at(99));
    }
    for (time, query) in worst.iter().take(6) {
        println!("  {:.2} ms  {query}", time.as_secs_f64() * 1e3);
    }
}

/// Titles and headings that are unique in their site, as queries.
fn known(docs: &[Doc], view: &View, texts: &Path) {
    let fold = |text: &str| -> String {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| !w.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut owners: HashMap<(&str, String), (usize, usize)> = HashMap::new();
    let mut asked: Vec<(usize, &str, &'static str)> = Vec::new();
    for (n, doc) in docs.iter().enumerate() {
        let mut own: Vec<(String, &str, &'static str)> =
            vec![(fold(&doc.text.title), &doc.text.title, "title")];
        own.extend(doc.text.headings.iter().map(|h| (fold(h), &**h, "heading")));
        own.sort();
        own.dedup_by(|a, b| a.0 == b.0);
        for (folded, text, kind) in own {
            if folded.is_empty() {
                continue;
            }
            let entry = owners.entry((&doc.site, folded)).or_insert((0, n));
            entry.0 += 1;
            entry.1 = n;
            asked.push((n, text, kind));
        }
    }
    let unique: Vec<_> = asked
        .into_iter()
        .filter(|(n, text, _)| owners[&(&*docs[*n].site, fold(text))].0 == 1)
        .collect();
    for kind in ["title", "heading"] {
        let unique: Vec<_> = unique.iter().filter(|(_, _, k)| *k == kind).collect();
        let step = (unique.len() / 1500).max(1);
        let (mut first, mut ten, mut count, mut wrong) = (0u32, 0u32, 0u32, 0u32);
        let mut missed = Vec::new();
        for (n, text, _) in unique.iter().step_by(step) {
            let doc = DocId(*n as u64 + 1);
            let options = SearchOptions { snippets: false, ..SearchOptions::default() };
            count += 1;
            match view.search(&format!("{text} site:{}", docs[*n].site), texts, &NoLinks, &options)
            {
                Ok(answer) => {
                    let rank = answer
                        .hits
                        .iter()
                        .position(|hit| hit.doc == doc || hit.alike.contains(&doc));
                    first += u32::from(rank == Some(0));
                    ten += u32::from(rank.is_some());
                    if rank != Some(0) {
                        missed.push(format!(
                            "{rank:?} {text} ({}) {:?}",
                            docs[*n].url,
                            answer.hits.first().map(|h| &h.url)
                        ));
                    }
                }
                Err(e) => {
                    wrong += 1;
                    missed.push(format!("{text}: {e}"));
                }
            }
        }
        println!(
            "{kind}: {count} known pages, first {:.1} %, in ten {:.1} %, refused {wrong}",
            100.0 * f64::from(first) / f64::from(count),
            100.0 * f64::from(ten) / f64::from(count),
        );
        for line in missed.iter().step_by((missed.len() / 20).max(1)) {
            println!("  {line}");
        }
    }
}
