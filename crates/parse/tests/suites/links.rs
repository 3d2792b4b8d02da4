//! Links found on real pages and in the tests of another extractor.

use crate::{assert_none, bytes, cases, page};
use argiope_model::{CanonicalUrl, Link, LinkKind};
use argiope_parse::{parse_html, resolve};
use serde_json::Value;
use std::collections::BTreeSet;

/// A URL without what authorities write differently and canonical forms may leave open:
/// escapes of `^[]|`, an empty query.
fn loosely(url: &CanonicalUrl) -> String {
    let mut text = url.to_string();
    for (escaped, plain) in [("%5E", "^"), ("%5B", "["), ("%5D", "]"), ("%7C", "|")] {
        text = text.replace(escaped, plain);
    }
    text.strip_suffix('?').unwrap_or(&text).to_owned()
}

/// Expected URLs; what is no web URL does not count.
fn expected<'v>(urls: impl Iterator<Item = &'v Value>) -> BTreeSet<String> {
    let urls = urls.filter_map(|u| CanonicalUrl::parse(u.as_str().unwrap()).ok());
    urls.map(|u| loosely(&u)).collect()
}

/// The links the other extractors look for.
fn found(links: &[Link]) -> BTreeSet<String> {
    let kinds = [LinkKind::Anchor, LinkKind::Area];
    links.iter().filter(|l| kinds.contains(&l.kind)).map(|l| loosely(&l.url)).collect()
}

#[test]
fn links_of_real_pages_are_found() {
    let Some(cases) = cases("links-real", "links") else { return };
    let (mut must, mut hit, mut all, mut right) = (0, 0, 0, 0);
    let mut wrong = Vec::new();
    for case in &cases {
        let url = CanonicalUrl::parse(case["input"]["url"].as_str().unwrap()).unwrap();
        let body = page(case["input"]["html_file"].as_str().unwrap());
        let mut got = found(&resolve(&parse_html(&body, None), &url).links);
        let list = |name: &str| expected(case["expected"][name].as_array().unwrap().iter());
        let mut wanted = list("must");
        // A link into the page itself is left out on purpose: it leads nowhere new.
        wanted.remove(&loosely(&url));
        got.remove(&loosely(&url));
        let allowed: BTreeSet<_> = wanted.union(&list("may")).cloned().collect();
        must += wanted.len();
        hit += wanted.intersection(&got).count();
        all += got.len();
        right += got.intersection(&allowed).count();
        wrong.extend(wanted.difference(&got).map(|u| format!("missing {} {u}", case["id"])));
        wrong.extend(got.difference(&allowed).map(|u| format!("extra {} {u}", case["id"])));
    }
    println!("recall {hit} of {must}, precision {right} of {all}");
    assert_none(&wrong, must);
}

/// With its query sorted, which is a setting of the job here.
fn sorted(url: &str) -> String {
    CanonicalUrl::parse(url).unwrap().with_sorted_query().to_string()
}

/// Options that choose among the links; without them all links are expected.
const FILTERS: [&str; 11] = [
    "allow",
    "deny",
    "allow_domains",
    "deny_domains",
    "restrict_xpaths",
    "restrict_css",
    "restrict_text",
    "deny_extensions",
    "canonicalize",
    "unique",
    "process_value",
];

#[test]
fn links_of_another_extractors_tests_are_found() {
    let Some(cases) = cases("links-scrapy", "call") else { return };
    let (mut checked, mut skipped) = (0, 0);
    let mut wrong = Vec::new();
    for case in &cases {
        let options = case["input"]["args"][0].as_object().unwrap();
        // Attributes and elements that are no links by themselves, and functions in Python.
        if ["tags", "attrs", "unrepresentable"].iter().any(|o| options.contains_key(*o)) {
            skipped += 1;
            continue;
        }
        checked += 1;
        let response = &case["input"]["args"][1];
        let url = CanonicalUrl::parse(response["url"].as_str().unwrap()).unwrap();
        let html = parse_html(&bytes(&response["body"]), response["encoding"].as_str());
        let resolved = resolve(&html, &url);
        let values = case["expected"]["value"].as_array().unwrap();
        let mut want = expected(values.iter().map(|v| &v["url"]));
        let mut got = found(&resolved.links);
        if options.contains_key("canonicalize") {
            (want, got) =
                (want.iter().map(|u| sorted(u)).collect(), got.iter().map(|u| sorted(u)).collect());
        }
        wrong.extend(want.difference(&got).map(|u| format!("missing {} {u}", case["id"])));
        if FILTERS.iter().any(|f| options.contains_key(*f)) {
            continue;
        }
        // Scrapy leaves out file names that are no pages; here the filters of a job do.
        let extra = got.difference(&want).filter(|u| !u.ends_with(".jpg"));
        wrong.extend(extra.map(|u| format!("extra {} {u}", case["id"])));
        for value in values {
            let Ok(url) = CanonicalUrl::parse(value["url"].as_str().unwrap()) else { continue };
            let (text, nofollow) = (value["text"].as_str().unwrap(), &value["nofollow"]);
            // Scrapy keeps apart what differs in the fragment, and has no words for `<area>`.
            let is_it = |l: &&Link| {
                l.url == url
                    && l.kind == LinkKind::Anchor
                    && !value["url"].as_str().unwrap().contains('#')
            };
            if let Some(link) = resolved.links.iter().find(is_it)
                && (&*link.words != text || link.nofollow != nofollow.as_bool().unwrap())
            {
                wrong.push(format!("words {} {link:?}, not {value}", case["id"]));
            }
        }
    }
    println!("{checked} checked, {skipped} ask for what is no link here");
    assert_none(&wrong, checked);
}
