//! Sitemaps of every form, broken ones included.

use crate::{assert_none, bytes, cases};
use argiope_model::CanonicalUrl;
use argiope_parse::{Sitemap, SitemapKind, is_sitemap, parse_sitemap};
use serde_json::Value;
use std::io::Read;

/// The sitemap of a case, unpacked as the caller of the parser does it.
fn sitemap(case: &Value) -> (Sitemap, bool) {
    let mut body = bytes(&case["input"]["bytes"]);
    if body.starts_with(&[0x1f, 0x8b]) {
        let mut unpacked = Vec::new();
        flate2::read::MultiGzDecoder::new(&*body).read_to_end(&mut unpacked).unwrap();
        body = unpacked;
    }
    let url = CanonicalUrl::parse(case["input"]["url"].as_str().unwrap()).unwrap();
    (parse_sitemap(&body, &url), is_sitemap(&body))
}

/// What is expected and what was found.
fn check(kind: &str, agrees: impl Fn(&Value, &Sitemap) -> bool) {
    let Some(cases) = cases("sitemap-crawlercommons", kind) else { return };
    let mut wrong = Vec::new();
    for case in &cases {
        let (sitemap, known) = sitemap(case);
        if !known || !agrees(&case["expected"], &sitemap) {
            wrong.push(format!("{} {known} {} {sitemap:?}", case["id"], case["expected"]));
        }
    }
    assert_none(&wrong, cases.len());
}

#[test]
fn indexes_are_told_from_lists() {
    check("sitemap-index", |expected, found| {
        expected["index"].as_bool().unwrap() == (found.kind == SitemapKind::Index)
    });
}

#[test]
fn every_entry_is_found() {
    check("sitemap-count", |expected, found| {
        let (name, kind) = match found.kind {
            SitemapKind::Index => ("sitemaps", SitemapKind::Index),
            SitemapKind::Urls => ("urls", SitemapKind::Urls),
        };
        expected[name].as_u64() == Some(found.urls.len() as u64) && found.kind == kind
    });
}

#[test]
fn entries_are_the_urls_that_are_meant() {
    check("sitemap-contains", |expected, found| {
        let want = expected["sitemap"].as_str().or(expected["url"].as_str()).unwrap();
        found.urls.iter().any(|entry| entry.url.as_str() == want)
    });
}
