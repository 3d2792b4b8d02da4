//! Real cases that nobody here wrote: articles, links, encodings, media types, tokens, sitemaps, feeds.
//!
//! The cases lie outside the repository, in the folder named by `ARGIOPE_SUITES` or in
//! `shared/suites` beside the checkout. Where they are not, these tests say so and pass.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod articles;
mod encoding;
mod feeds;
mod links;
mod media;
mod robustness;
mod sitemaps;
mod trees;

use serde_json::Value;
use std::path::PathBuf;

/// The folder of the suites, or a line saying that the test is skipped.
fn folder() -> Option<PathBuf> {
    let path = std::env::var_os("ARGIOPE_SUITES").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/suites")),
        PathBuf::from,
    );
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: suites not found at {}", path.display());
    None
}

/// The cases of a kind in a suite; `None` when there are no suites here.
fn cases(suite: &str, kind: &str) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(folder()?.join(format!("{suite}.jsonl"))).unwrap();
    let all = text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    let cases: Vec<Value> = all.filter(|c| c["kind"] == kind).collect();
    assert!(!cases.is_empty(), "{suite} has cases of kind {kind}");
    Some(cases)
}

/// Text, or bytes as `{"b64": …}`.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(s) => s.clone().into_bytes(),
        other => {
            let b64 = other["b64"].as_str().expect("bytes are text or base64");
            data_encoding::BASE64.decode(b64.as_bytes()).unwrap()
        }
    }
}

/// A gzipped page.
fn page(path: &str) -> Vec<u8> {
    use std::io::Read;
    let file = std::fs::File::open(folder().expect("the suites are here").join(path)).unwrap();
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut out).unwrap();
    out
}

/// Fails with all disagreements at once.
fn assert_none(disagreements: &[String], of: usize) {
    assert!(
        disagreements.is_empty(),
        "{} of {of} disagree:\n{}",
        disagreements.len(),
        disagreements.join("\n")
    );
}
