//! What the index costs and how quickly it answers, against bare tantivy in the same run.
//!
//! Measured: CPU time of taking pages in (texts in memory, one writer thread each, one commit at
//! the end) and the size of the index, against tantivy's own tokenizer over title and body with
//! positions; then the time of each query of a mix (`speed`); at last, how often a title or
//! heading that is unique in its site finds its page (`known`).
//!
//! ```text
//! cargo run --release -p argiope-index --example measure -- PAGES [QUERIES.jsonl [PARTS [KEPT]]]
//! ```
//!
//! `PAGES` is a folder with a folder per site, each with HTML files below it; `QUERIES.jsonl`
//! has a line `{"query": …, "tags": [KIND, …]}` each; `PARTS` is `search`, `known` or both; what
//! was made is left in the folder `KEPT` and asked there the next time. What would falsify the
//! claims: a ratio above 1.3 (CPU), 0.6 (size) or 2 (median and 99th percentile of queries),
//! fewer than 90 % of pages found first.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod known;
mod speed;

use argiope_archive::{SegmentKind, Segments, TextBlob, encode_text, read_text};
use argiope_index::{Index, LinkedAs, Page, Settings, View};
use argiope_model::{CanonicalUrl, DocId, Location, Time};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tantivy::schema::{Schema, TEXT};
use tantivy::{IndexWriter, TantivyDocument};

/// A page; its number is its place in the list, from 1.
struct Doc {
    site: String,
    url: CanonicalUrl,
    text: TextBlob,
    location: Location,
}

fn main() {
    let mut args = std::env::args_os().skip(1);
    let Some(folder) = args.next().map(PathBuf::from) else {
        println!("usage: measure PAGES [QUERIES.jsonl [search|known|none [KEPT]]]");
        return;
    };
    let queries = args.next().map(PathBuf::from);
    let parts =
        args.next().map_or("search known".into(), |part| part.to_string_lossy().into_owned());
    let temporary = tempfile::tempdir().unwrap();
    let dir = args.next().map_or(temporary.path().to_owned(), PathBuf::from);
    let texts = dir.join("text");
    let (docs, view) = if dir.join("list").exists() {
        let view = View::open(&dir.join("index")).unwrap();
        let docs = if parts.contains("known") { kept(&dir, &texts, &view) } else { Vec::new() };
        (docs, view)
    } else {
        taken_in(&folder, &dir, &texts)
    };
    if let Some(queries) = queries.filter(|_| parts.contains("search")) {
        speed::mix(&speed::read(&queries), &dir, &view, &texts);
    }
    if parts.contains("known") {
        known::known(&docs, &view, &texts);
    }
}

/// Reads all pages, takes them in on both sides and tells what that costs.
fn taken_in(folder: &Path, dir: &Path, texts: &Path) -> (Vec<Doc>, View) {
    let docs = read(folder, texts);
    let bytes: usize = docs.iter().map(|doc| doc.text.text.len() + doc.text.title.len()).sum();
    let blobs: u64 = docs.iter().map(|doc| doc.location.length).sum();
    println!(
        "{} pages, {:.1} MB of text, {:.1} MB of blobs",
        docs.len(),
        mb(bytes),
        mb(blobs as usize)
    );
    let begin = cpu();
    bare(&docs, &dir.join("bare"));
    let bare_cpu = cpu() - begin;
    let bare_size = size_of(&dir.join("bare"));
    let begin = cpu();
    let view = ours(&docs, &dir.join("index"));
    let ours_cpu = cpu() - begin;
    let ours_size = size_of(&dir.join("index"));
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
    let line = |doc: &Doc| format!("{} {}\n", doc.site, doc.url);
    std::fs::write(dir.join("list"), docs.iter().map(line).collect::<String>()).unwrap();
    (docs, view)
}

/// The pages of an index made before.
fn kept(dir: &Path, texts: &Path, view: &View) -> Vec<Doc> {
    let mut locations: HashMap<DocId, Location> = HashMap::new();
    view.each_document(|doc, location| {
        locations.insert(doc, location);
    })
    .unwrap();
    let list = std::fs::read_to_string(dir.join("list")).unwrap();
    let doc = |(n, line): (usize, &str)| {
        let (site, url) = line.split_once(' ').unwrap();
        let location = locations[&DocId(n as u64 + 1)];
        let text = read_text(texts, location).unwrap();
        Doc { site: site.to_owned(), url: CanonicalUrl::parse(url).unwrap(), text, location }
    };
    list.lines().enumerate().map(doc).collect()
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
                    around: page.around,
                };
                let location = blobs.append(encode_text(&text).into()).unwrap();
                docs.push(Doc { site, url, text, location });
            }
        }
    }
    blobs.sync().unwrap();
    docs
}

fn bare(docs: &[Doc], dir: &Path) {
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
                from: Time(0),
                no_snippet: false,
                links: LinkedAs::default(),
            })
            .unwrap();
    }
    index.commit().unwrap();
    index.finish().unwrap()
}
