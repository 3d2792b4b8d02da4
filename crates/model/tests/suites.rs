//! Canonical URLs against real cases: web-platform-tests for parsing, crawler-commons for
//! resolving. Skipped visibly where the suites are absent.

#![allow(clippy::print_stdout)] // What was skipped and what was compared is to be seen.

use argiope_model::{CanonicalUrl, UrlError};
use serde_json::Value;
use std::path::PathBuf;

/// The cases of a file, or none (and a line that says so).
fn cases(name: &str) -> Vec<Value> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let suites = std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(suites.join(name)) else {
        println!("SKIPPED: {name} not found in {}", suites.display());
        return Vec::new();
    };
    text.lines().map(|line| serde_json::from_str(line).expect("a case a line")).collect()
}

fn read(case: &Value) -> Result<CanonicalUrl, UrlError> {
    let url = case["input"]["url"].as_str().expect("a URL");
    match case["input"]["base"].as_str().filter(|base| !base.is_empty()) {
        Some(base) => CanonicalUrl::parse(base)?.join(url),
        None => CanonicalUrl::parse(url),
    }
}

/// What a standard serialisation becomes in our form: it must parse, and to the same thing.
fn canonical(href: &str) -> String {
    CanonicalUrl::parse(href).map_or_else(|e| e.to_string(), |u| u.to_string())
}

#[test]
fn urls_parse_as_the_url_standard_says() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in cases("url-wpt.jsonl") {
        if case["kind"] != "url-parse" {
            continue;
        }
        let base = case["input"]["base"].as_str();
        if base.is_some_and(|b| !b.starts_with("http://") && !b.starts_with("https://")) {
            continue; // Pages have http URLs: other bases do not occur.
        }
        let expected = &case["expected"];
        if expected["hostname"] == "xn--" {
            // An ASCII name whose Punycode is broken: the standard lets it pass, we refuse it.
            continue;
        }
        let ours = read(&case);
        let protocol = expected["protocol"].as_str().unwrap_or_default();
        let right = match expected["href"].as_str() {
            Some(href) if matches!(protocol, "http:" | "https:") => {
                let host = expected["hostname"].as_str().unwrap_or_default();
                ours.as_ref().is_ok_and(|u| u.host() == host && u.as_str() == canonical(href))
            }
            Some(_) => ours == Err(UrlError::Scheme),
            None => ours.is_err(),
        };
        checked += 1;
        if !right {
            wrong.push(format!("{} gave {ours:?}, expected {expected}", case["input"]));
        }
    }
    println!("url-wpt: {checked} cases, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn references_resolve_as_crawler_commons_says() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for case in cases("url-crawlercommons.jsonl") {
        if case["kind"] != "url-resolve" || case["input"]["base"] == "file:///tmp/mock/path" {
            continue;
        }
        let ours = read(&case).map(|u| u.to_string());
        let expected = case["expected"]["url"].as_str().unwrap_or_default();
        checked += 1;
        if ours.as_deref() != Ok(canonical(expected).as_str()) {
            wrong.push(format!("{} gave {ours:?}, expected {expected}", case["input"]));
        }
    }
    println!("url-resolve: {checked} cases, {} differ", wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
