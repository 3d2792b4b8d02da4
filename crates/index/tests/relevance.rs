//! Relevance, against a collection whose judgements nobody here made: Cranfield, 225 questions
//! over 1,400 abstracts. The weights of the ranking are frozen; what they must reach is what
//! plain BM25 with Porter stems reaches there.
//!
//! Skipped visibly where the suites are absent.

#![allow(clippy::unwrap_used)]
#![allow(clippy::print_stdout)] // What was skipped and what was reached is to be seen.

use argiope_archive::TextBlob;
use argiope_index::{Index, LinkedAs, NoLinks, Page, SearchError, SearchOptions, Settings, View};
use argiope_model::{CanonicalUrl, DocId, Location, Time};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;

fn lines(name: &str) -> Vec<Value> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let suites = std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(suites.join(name)) else {
        println!("SKIPPED: {name} not found in {}", suites.display());
        return Vec::new();
    };
    text.lines().map(|line| serde_json::from_str(line).expect("a case a line")).collect()
}

/// Average precision and nDCG at 10 of a ranking.
fn judged(ranking: &[u64], grades: &HashMap<u64, f64>) -> (f64, f64) {
    let relevant = grades.values().filter(|grade| **grade > 0.0).count();
    if relevant == 0 {
        return (0.0, 0.0);
    }
    let (mut hits, mut precision, mut gain) = (0.0, 0.0, 0.0);
    for (n, doc) in ranking.iter().enumerate() {
        let grade = grades.get(doc).copied().unwrap_or(0.0);
        if grade > 0.0 {
            hits += 1.0;
            precision += hits / (n + 1) as f64;
        }
        if n < 10 {
            gain += grade / ((n + 2) as f64).log2();
        }
    }
    let mut ideal: Vec<f64> = grades.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best: f64 =
        ideal.iter().take(10).enumerate().map(|(n, g)| g / ((n + 2) as f64).log2()).sum();
    (precision / relevant as f64, gain / best)
}

fn indexed(dir: &std::path::Path, docs: &[Value], headings: bool) -> View {
    let mut index = Index::open(dir, &Settings::default()).unwrap();
    for doc in docs {
        let id: u64 = doc["id"].as_str().unwrap().parse().unwrap();
        let title = doc["title"].as_str().unwrap_or_default().to_owned();
        let text = TextBlob {
            headings: if headings { vec![title.clone()] } else { Vec::new() },
            title,
            text: doc["text"].as_str().unwrap_or_default().to_owned(),
            language: Some("en".into()),
            ..TextBlob::default()
        };
        index
            .put(&Page {
                doc: DocId(id),
                url: &CanonicalUrl::parse(&format!("http://cranfield.example/{id}")).unwrap(),
                site: "cranfield.example",
                text: &text,
                location: Location { segment: 1, offset: 0, length: 0 },
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
    index.view()
}

#[test]
fn the_frozen_weights_reach_what_plain_bm25_with_stems_reaches() {
    let (docs, queries) = (lines("cranfield.docs.jsonl"), lines("cranfield.jsonl"));
    if docs.is_empty() || queries.is_empty() {
        return;
    }
    // The abstracts as plain pages, and with their titles as headings too.
    for headings in [false, true] {
        let (precision, gain) = reached(&docs, &queries, headings);
        println!("Cranfield, headings {headings}: MAP {precision:.4}, nDCG@10 {gain:.4}");
        assert!(precision >= 0.296, "MAP {precision}");
        assert!(gain >= 0.360, "nDCG@10 {gain}");
    }
}

/// Mean average precision and mean nDCG at 10.
fn reached(docs: &[Value], queries: &[Value], headings: bool) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let view = indexed(dir.path(), docs, headings);
    let options =
        SearchOptions { limit: 1000, snippets: false, fold: false, ..SearchOptions::default() };
    let (mut precision, mut gain, mut count) = (0.0, 0.0, 0.0);
    for query in queries {
        let text = query["input"]["text"].as_str().unwrap();
        let grades: HashMap<u64, f64> = query["expected"]["qrels"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(doc, grade)| (doc.parse().unwrap(), grade.as_f64().unwrap()))
            .collect();
        let answer = view.search(text, dir.path(), &NoLinks, &options);
        let ranking: Vec<u64> = match answer {
            Ok(answer) => answer.hits.iter().map(|hit| hit.doc.0).collect(),
            Err(SearchError::Mistake(mistake)) => panic!("{text}: {mistake}"),
            Err(e) => panic!("{text}: {e}"),
        };
        let (p, g) = judged(&ranking, &grades);
        (precision, gain, count) = (precision + p, gain + g, count + 1.0);
    }
    (precision / count, gain / count)
}
