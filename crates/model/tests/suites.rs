//! Canonical URLs against real cases: web-platform-tests for parsing and international names,
//! crawler-commons for resolving, normalising and registrable domains, jwarc for hosts.
//!
//! Where our form differs on purpose, the case is named here and the reason stands in
//! `docs/urls.md`; every other case must agree. Skipped visibly where the suites are absent.

#![allow(clippy::print_stdout)] // What was skipped and what was compared is to be seen.

use argiope_model::{CanonicalUrl, Suffixes, UrlError};
use serde_json::Value;
use std::path::PathBuf;

/// The cases of some kinds in a file, or none (and a line that says so).
fn cases(name: &str, kinds: &[&str]) -> Vec<Value> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    let suites = std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(suites.join(name)) else {
        println!("SKIPPED: {name} not found in {}", suites.display());
        return Vec::new();
    };
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case a line"));
    all.filter(|case| kinds.iter().any(|kind| case["kind"] == *kind)).collect()
}

/// What became of the cases of a kind.
#[derive(Default)]
struct Tally {
    agree: usize,
    /// The names of the cases that do not agree, and what they said.
    differ: Vec<(String, String)>,
}

impl Tally {
    fn note(&mut self, case: &Value, right: bool, ours: impl std::fmt::Debug) {
        if right {
            self.agree += 1;
            return;
        }
        let id = case["id"].as_str().expect("a name").to_owned();
        let story = format!("{} gave {ours:?}, expected {}", case["input"], case["expected"]);
        self.differ.push((id, story));
    }

    /// Exactly so many cases agree, and exactly the named ones do not.
    fn settle(self, what: &str, agree: usize, differ: &[&str]) {
        if self.agree == 0 && self.differ.is_empty() {
            return; // Skipped, and said so.
        }
        println!("{what}: {} cases agree, {} differ", self.agree, self.differ.len());
        let stories: Vec<String> = self.differ.iter().map(|(id, s)| format!("{id}: {s}")).collect();
        let names: Vec<&str> =
            self.differ.iter().map(|(id, _)| id.split_once('/').map_or("", |(_, n)| n)).collect();
        assert_eq!(names, differ, "{what}\n{}", stories.join("\n"));
        assert_eq!(self.agree, agree, "{what}");
    }
}

const NO_SCHEME: UrlError = UrlError::Malformed("it has no scheme such as https://");

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case["input"][name].as_str().unwrap_or_default()
}

/// Reads the URL of a case. A base of another scheme is no base: no page has such a URL.
fn read(case: &Value) -> Result<CanonicalUrl, UrlError> {
    match CanonicalUrl::parse(text(case, "base")) {
        Ok(base) => base.join(text(case, "url")),
        Err(_) => CanonicalUrl::parse(text(case, "url")),
    }
}

/// What a standard serialisation becomes in our form: it must parse, and to the same thing.
fn canonical(href: &str) -> String {
    CanonicalUrl::parse(href).map_or_else(|e| e.to_string(), |u| u.to_string())
}

#[test]
fn urls_parse_as_the_url_standard_says() {
    let mut tally = Tally::default();
    for case in cases("url-wpt.jsonl", &["url-parse"]) {
        let (ours, expected) = (read(&case), &case["expected"]);
        let right = match expected["href"].as_str() {
            Some(href) if href.starts_with("http:") || href.starts_with("https:") => {
                let host = expected["hostname"].as_str().unwrap_or_default();
                ours.as_ref().is_ok_and(|u| u.host() == host && u.as_str() == canonical(href))
            }
            // Another scheme: seen as such, unless it would come from a base we do not have.
            Some(_) => ours == Err(UrlError::Scheme) || ours == Err(NO_SCHEME),
            None => ours.is_err(),
        };
        tally.note(&case, right, ours);
    }
    tally.settle("url-parse", 468, &[]);
}

#[test]
fn host_names_become_what_the_url_standard_says() {
    let mut tally = Tally::default();
    for case in cases("url-wpt.jsonl", &["url-idna", "url-toascii"]) {
        let ours = CanonicalUrl::parse(&format!("https://{}/x", text(&case, "domain")));
        let host = ours.as_ref().ok().map(CanonicalUrl::host);
        tally.note(&case, host == case["expected"]["ascii"].as_str(), &ours);
        if let Ok(url) = ours {
            assert_eq!(CanonicalUrl::parse(url.as_str()).as_ref(), Ok(&url));
            assert_eq!(url.join("/x"), Ok(url));
        }
    }
    tally.settle("url-idna", 1579, &[]);
}

#[test]
fn references_resolve_as_crawler_commons_says() {
    let mut tally = Tally::default();
    for case in cases("url-crawlercommons.jsonl", &["url-resolve"]) {
        let ours = read(&case).map(|u| u.to_string());
        let expected = canonical(case["expected"]["url"].as_str().unwrap_or_default());
        tally.note(&case, ours == Ok(expected), ours);
    }
    // A base of another scheme.
    tally.settle("url-resolve", 11, &["resolve/3#3"]);
}

#[test]
fn urls_normalise_as_crawler_commons_says() {
    let mut tally = Tally::default();
    for case in cases("url-crawlercommons.jsonl", &["url-normalize"]) {
        let ours = read(&case).map(|u| u.to_string());
        let right = ours.as_deref().ok() == case["expected"]["url"].as_str();
        tally.note(&case, right, ours);
    }
    let differ = [
        "weird/4#2",              // `[` in a query stays
        "weird/10",               // slashes stay
        "weird/10#2",             // slashes stay
        "weird/10#5",             // not http
        "weird/10#6",             // not http
        "weird/11",               // no host
        "weird/11#2",             // no host
        "weird/11#3",             // an empty query stays
        "weird/11#5",             // an empty query stays
        "weird/11#6",             // a lone `%` stays
        "weird/13",               // a backtick in a query stays
        "weird/13#2",             // `|` stays
        "weird/13#3",             // a lone `%` stays
        "weird/13#4",             // a lone `%` stays
        "weird/13#5",             // a lone `%` stays
        "weird/15",               // not http
        "weird/15#2",             // not http
        "weird/15#3",             // the order of a query stays
        "weird/15#4",             // the order of a query stays
        "weird/15#6",             // the order of a query stays
        "testNoIdnNormalization", // host names are in ASCII
    ];
    tally.settle("url-normalize", 38, &differ);
}

#[test]
fn registrable_domains_are_what_crawler_commons_says() {
    let suffixes = Suffixes::built_in();
    let in_our_form = |host: &str| {
        let url = CanonicalUrl::parse(&format!("http://{host}/")).ok()?;
        Some(url.host().to_owned())
    };
    let mut tally = Tally::default();
    for case in cases("url-crawlercommons.jsonl", &["url-domain"]) {
        let host = case["input"]["args"][0].as_str().and_then(in_our_form);
        let ours = host.as_deref().map(|host| suffixes.site_of(host));
        // A name without a registrable domain is its own site.
        let expected = case["expected"]["value"].as_str().and_then(in_our_form).or(host.clone());
        tally.note(&case, ours == expected.as_deref(), ours);
    }
    let differ = [
        "EffectiveTldFinderTest/testPrivateDomain#2", // private suffixes count
        "EffectiveTldFinderTest/testInvalidHostname", // an empty label is a label
        "EffectiveTldFinderTest/testInvalidHostname#5", // U+FFFD: not a host
        "PaidLevelDomainTest/testGermanDomains",      // private suffixes count
        "PaidLevelDomainTest/testGermanDomains#2",    // private suffixes count
        "PaidLevelDomainTest/testPrivateDomains",     // private suffixes count
    ];
    tally.settle("url-domain", 66, &differ);
}

#[test]
fn hosts_and_ports_are_those_of_jwarc() {
    let mut tally = Tally::default();
    for case in cases("url-jwarc.jsonl", &["url-function"]) {
        let url = CanonicalUrl::parse(case["input"]["args"][0].as_str().unwrap_or_default());
        let ours = url.map(|url| {
            let (www, bare) = url.host().split_once('.').unwrap_or(("", url.host()));
            let digits = www.strip_prefix("www").unwrap_or("no");
            let host = if digits.bytes().all(|b| b.is_ascii_digit()) { bare } else { url.host() };
            let mut labels: Vec<&str> = host.split('.').collect();
            labels.reverse();
            format!("{}{})", labels.join(","), &url.authority()[url.host().len()..])
        });
        let expected = case["expected"]["value"].as_str().unwrap_or_default();
        let right = ours.as_ref().is_ok_and(|surt| expected.starts_with(surt));
        tally.note(&case, right, ours);
    }
    let differ = [
        "URIsTest/toNormalizedSurt/0",   // not an absolute URL
        "URIsTest/toNormalizedSurt/0#2", // not http
        "URIsTest/toNormalizedSurt/0#4", // not http
        "URIsTest/toNormalizedSurt/0#5", // not http
        "URIsTest/toNormalizedSurt/0#6", // not http
        "URIsTest/toNormalizedSurt/0#7", // not http
        "URIsTest/toNormalizedSurt/2#4", // IPv6 addresses have one spelling
        "URIsTest/toNormalizedSurt/2#5", // IPv6 addresses have one spelling
        "URIsTest/toNormalizedSurt/2#6", // IPv6 addresses have one spelling
        "URIsTest/toNormalizedSurt/3#2", // a space in the scheme
        "URIsTest/toNormalizedSurt/3#5", // `#` in the host
        "URIsTest/toNormalizedSurt/4#2", // not an absolute URL
        "URIsTest/toNormalizedSurt/4#3", // not an absolute URL
        "URIsTest/toNormalizedSurt/4#4", // not http
    ];
    tally.settle("url-function", 22, &differ);
}

#[test]
fn what_version_1_made_of_the_suites_it_still_makes() {
    let mut texts = Vec::new();
    for case in cases("url-wpt.jsonl", &["url-parse", "url-idna", "url-toascii"]) {
        let base = text(&case, "base").to_owned();
        match case["input"]["domain"].as_str() {
            Some(domain) => texts.push((base, format!("https://{domain}/x"))),
            None => texts.push((base, text(&case, "url").to_owned())),
        }
    }
    for case in cases("url-crawlercommons.jsonl", &["url-normalize", "url-resolve"]) {
        texts.push((text(&case, "base").to_owned(), text(&case, "url").to_owned()));
    }
    if texts.is_empty() {
        return; // Skipped, and said so.
    }
    let (mut count, mut all) = (0, String::new());
    for (base, text) in texts {
        // What the first version read, it read as this parser does.
        let first = match url::Url::parse(&base) {
            Ok(base) => base.join(&text),
            Err(_) => url::Url::parse(&text),
        };
        let ours = match CanonicalUrl::parse(&base) {
            Ok(base) => base.join(&text),
            Err(_) => CanonicalUrl::parse(&text),
        };
        if let (Ok(_), Ok(ours)) = (first, ours) {
            count += 1;
            all.extend([&base, "\n", &text, "\n", ours.as_str(), "\n"]);
        }
    }
    assert_eq!((count, xxhash_rust::xxh3::xxh3_64(all.as_bytes())), (657, 965_365_295_701_605_375));
}
