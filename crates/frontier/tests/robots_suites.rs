//! robots.txt against the cases of others: the suites of google/robotstxt and crawler-commons,
//! and four hundred real files. Skipped visibly where the suites are absent.
//!
//! Every case in which we differ from a suite stands in [`DIFFERENCES`] with the paragraph of
//! RFC 9309 that decides it; `docs/robots.md` tells the same to readers.

#![allow(clippy::print_stdout)] // What was skipped and what was compared is to be seen.

use argiope_frontier::{Robots, is_product_token};
use argiope_model::CanonicalUrl;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Cases decided against the suite: its name, the paragraph, the reason.
const DIFFERENCES: [(&str, &str, &str); 3] = [
    ("robots-crawlercommons/testBigCrawlDelay", "2.2.4", "a long delay forbids nothing by itself"),
    ("robots-crawlercommons/testDirectiveTypos", "2.2.4", "`Desallow` is an unknown record"),
    ("robots-crawlercommons/testDirectiveTypos#4", "2.2.4", "`useg-agent` is an unknown record"),
];

/// Kinds that ask for something this module does not do, and who does it.
const SKIPPED_KINDS: [(&str, &str); 2] = [
    ("robots-lines", "counts of lines are not told; behaviours in the unit tests cover them"),
    ("robots-path", "paths are cut from URLs by the model's canonical URL"),
];

fn suites() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites");
    std::env::var_os("ARGIOPE_SUITES").map_or_else(beside, PathBuf::from)
}

/// The cases of a file, or none (and a line that says so).
fn cases(name: &str) -> Vec<Value> {
    let suites = suites();
    let Ok(text) = std::fs::read_to_string(suites.join(name)) else {
        println!("SKIPPED: {name} not found in {}", suites.display());
        return Vec::new();
    };
    text.lines().map(|line| serde_json::from_str(line).expect("a case a line")).collect()
}

fn string<'a>(case: &'a Value, field: &str) -> &'a str {
    case["input"][field].as_str().unwrap_or_default()
}

/// The file of a case: text, or bytes as `{"b64": …}`.
fn file(case: &Value) -> Vec<u8> {
    match &case["input"]["robots_txt"] {
        Value::String(text) => text.clone().into_bytes(),
        other => base64(other["b64"].as_str().expect("text or base64")),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        bits = bits << 6 | u32::from(digit(byte));
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held & 0xFF) as u8);
        }
    }
    out
}

/// Path and query as the suites' URLs have them, nothing normalised.
fn written_path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find(['/', '?']).map_or("", |at| &rest[at..])
}

fn allowed(case: &Value) -> bool {
    let robots = Robots::parse(&file(case), string(case, "user_agent"));
    robots.verdict(written_path(string(case, "url"))).allowed
}

/// Compares and counts; what differs must stand in the table, and what stands there must differ.
struct Tally {
    suite: &'static str,
    checked: BTreeMap<String, usize>,
    differ: Vec<String>,
}

impl Tally {
    fn new(suite: &'static str) -> Tally {
        Tally { suite, checked: BTreeMap::new(), differ: Vec::new() }
    }

    fn check<T: PartialEq>(&mut self, case: &Value, ours: T, expected: T) {
        let kind = case["kind"].as_str().expect("a kind").to_owned();
        *self.checked.entry(kind).or_default() += 1;
        if ours != expected {
            self.differ.push(case["id"].as_str().expect("a name").to_owned());
        }
    }

    /// True when there was something to compare; then it was this much, and no other difference.
    fn holds(self, checked: &[(&str, usize)]) -> bool {
        if self.checked.is_empty() {
            return false;
        }
        println!("{}: {:?}, {} differ", self.suite, self.checked, self.differ.len());
        let checked = checked.iter().map(|&(kind, count)| (kind.to_owned(), count)).collect();
        assert_eq!(self.checked, checked, "compared in {}", self.suite);
        let ours = |name: &&str| name.split('/').next() == Some(self.suite);
        let known: Vec<&str> = DIFFERENCES.iter().map(|row| row.0).filter(ours).collect();
        assert_eq!(self.differ, known, "differences from {}", self.suite);
        true
    }
}

#[test]
fn rules_are_read_as_googles_tests_say() {
    let mut tally = Tally::new("robots-google");
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    let cases = cases("robots-google.jsonl");
    for case in &cases {
        let kind = case["kind"].as_str().expect("a kind");
        let expected = &case["expected"];
        match kind {
            "robots-allowed" => {
                tally.check(case, Some(allowed(case)), expected["allowed"].as_bool());
            }
            "robots-agent-valid" => {
                let ours = is_product_token(string(case, "user_agent"));
                tally.check(case, Some(ours), expected["valid"].as_bool());
            }
            "robots-sitemap" => {
                let ours: Vec<Value> = Robots::parse(&file(case), "argiope")
                    .sitemaps()
                    .iter()
                    .map(|url| Value::from(&**url))
                    .collect();
                tally.check(case, Value::from(ours), expected["sitemaps"].clone());
            }
            "robots-escape" => {
                // What is escaped alike is compared alike: each forbids the other.
                let pair = [string(case, "pattern"), expected["escaped"].as_str().expect("text")];
                let forbids = |rule: &str, path: &str| {
                    let file = format!("user-agent: *\ndisallow: /{rule}$");
                    !Robots::parse(file.as_bytes(), "a").verdict(&format!("/{path}")).allowed
                };
                tally.check(case, forbids(pair[0], pair[1]) && forbids(pair[1], pair[0]), true);
            }
            _ => {
                let known = SKIPPED_KINDS.iter().find(|row| row.0 == kind).expect("a known kind");
                *skipped.entry(known.0).or_default() += 1;
            }
        }
    }
    for (kind, why) in SKIPPED_KINDS {
        println!("SKIPPED: {} of {kind}: {why}", skipped.get(kind).copied().unwrap_or_default());
    }
    let checked = [
        ("robots-agent-valid", 11),
        ("robots-allowed", 145),
        ("robots-escape", 4),
        ("robots-sitemap", 2),
    ];
    if tally.holds(&checked) {
        assert_eq!(skipped, BTreeMap::from([("robots-lines", 15), ("robots-path", 19)]));
    }
}

#[test]
fn rules_are_read_as_crawler_commons_says() {
    let mut tally = Tally::new("robots-crawlercommons");
    let mut prefix = 0;
    for case in cases("robots-crawlercommons.jsonl") {
        if case["input"]["agent_match"] == "prefix" {
            prefix += 1; // A mode from before RFC 9309: names are beginnings of names.
            continue;
        }
        let expected = &case["expected"];
        let robots = Robots::parse(&file(&case), string(&case, "user_agent"));
        match case["kind"].as_str() {
            Some("robots-allowed") => {
                tally.check(&case, Some(allowed(&case)), expected["allowed"].as_bool());
            }
            Some("robots-crawl-delay") => {
                let ours = robots.crawl_delay().map(|delay| delay.as_millis() as u64);
                tally.check(&case, ours, expected["crawl_delay_ms"].as_u64());
            }
            Some("robots-sitemap-count") => {
                let ours = robots.sitemaps().len() as u64;
                tally.check(&case, Some(ours), expected["count"].as_u64());
            }
            Some("robots-sitemap-at") => {
                let index = case["input"]["index"].as_u64().expect("a number") as usize;
                let ours = robots.sitemaps().get(index).map(|url| &**url);
                tally.check(&case, ours, expected["url"].as_str());
            }
            other => panic!("an unknown kind {other:?}"),
        }
    }
    let checked = [
        ("robots-allowed", 142),
        ("robots-crawl-delay", 7),
        ("robots-sitemap-at", 1),
        ("robots-sitemap-count", 3),
    ];
    if tally.holds(&checked) {
        println!("SKIPPED: {prefix} of agent_match prefix");
        assert_eq!(prefix, 120);
    }
}

/// The paths as written, and as they are after our own canonical form.
#[test]
fn real_files_are_read_as_googles_matcher_reads_them() {
    let mut tally = Tally::new("robots-real");
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut canonical_differ = Vec::new();
    for case in cases("robots-real.jsonl") {
        let name = string(&case, "robots_txt_file");
        let read = || std::fs::read(suites().join(name)).expect("a file of the suite");
        let file = files.entry(name.to_owned()).or_insert_with(read);
        let robots = Robots::parse(file, string(&case, "user_agent"));
        let expected = case["expected"]["allowed"].as_bool();
        let url = string(&case, "url");
        tally.check(&case, Some(robots.verdict(written_path(url)).allowed), expected);
        let canonical = CanonicalUrl::parse(url).expect("a URL");
        if Some(robots.verdict(canonical.path_and_query()).allowed) != expected {
            canonical_differ.push(url.to_owned());
        }
    }
    if tally.holds(&[("robots-allowed", 9_263)]) {
        assert_eq!(files.len(), 400);
        assert_eq!(canonical_differ, Vec::<String>::new());
    }
}

/// Lines of a small alphabet, so that rules meet paths.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("user-agent: argiope".to_owned()),
        Just("user-agent: *".to_owned()),
        Just("user-agent: other".to_owned()),
        "(dis)?allow: [/ab*$%?]{0,6}",
        "(dis)?allow: /%(2F|61|3A|c3)[ab*/?]{0,3}\\$?",
        "[ :#a*/-]{0,8}",
    ]
}

fn path() -> impl Strategy<Value = String> {
    "/(a|b|/|%61|%2F|%3A|\\?|:|\\*|\\$|é){0,8}"
}

/// Rule and path compared octet by octet with every way a `*` may go: slow, plainly right.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    match pattern {
        [] => true,
        b"$" => path.is_empty(),
        [b'*', rest @ ..] => (0..=path.len()).any(|at| fits(rest, &path[at..])),
        [first, rest @ ..] => path.first() == Some(first) && fits(rest, &path[1..]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_and_judged(bytes: Vec<u8>, agent: String, path: String) {
        let robots = Robots::parse(&bytes, &agent);
        let _ = (robots.verdict(&path), robots.crawl_delay(), robots.heap_bytes());
    }

    #[test]
    fn any_lines_are_read_and_the_rule_that_decides_is_in_the_file(
        lines in prop::collection::vec(line(), 0..20), path in path(),
    ) {
        let file = lines.join("\n");
        let robots = Robots::parse(file.as_bytes(), "argiope");
        let verdict = robots.verdict(&path);
        match verdict.rule {
            None => prop_assert!(verdict.allowed),
            Some(rule) => {
                let written = &lines[rule.line as usize - 1];
                prop_assert_eq!(rule.allow, verdict.allowed);
                prop_assert_eq!(rule.allow, written.starts_with("allow"));
                prop_assert!(written.trim_end().ends_with(rule.pattern));
            }
        }
    }

    #[test]
    fn disallowing_all_in_our_group_without_an_allow_forbids_all(
        lines in prop::collection::vec(line(), 0..20), path in path(),
    ) {
        let mut lines: Vec<String> = lines;
        lines.retain(|line| !line.starts_with("allow"));
        lines.extend(["user-agent: ArgiOpe/2".to_owned(), "Disallow: /".to_owned()]);
        let robots = Robots::parse(lines.join("\r\n").as_bytes(), "argiope");
        prop_assert!(!robots.verdict(&path).allowed);
    }

    #[test]
    fn one_more_disallow_never_allows_more(
        lines in prop::collection::vec(line(), 0..20), rule in "[/ab*$%]{1,6}", path in path(),
    ) {
        let file = lines.join("\n") + "\nuser-agent: argiope\n";
        let more = format!("{file}disallow: {rule}\n");
        let allowed = |file: &str| Robots::parse(file.as_bytes(), "argiope").verdict(&path).allowed;
        prop_assert!(allowed(&file) || !allowed(&more));
    }

    #[test]
    fn the_rule_that_decides_is_the_one_a_plain_search_finds(
        rules in prop::collection::vec((any::<bool>(), "/[/ab*]{0,6}\\$?"), 1..8),
        path in "/[/ab]{0,8}",
    ) {
        let mut file = "user-agent: *\n".to_owned();
        for (allow, pattern) in &rules {
            file += &format!("{}: {pattern}\n", if *allow { "allow" } else { "disallow" });
        }
        let best = rules
            .iter()
            .filter(|(_, pattern)| fits(pattern.as_bytes(), path.as_bytes()))
            .map(|(allow, pattern)| (pattern.len(), *allow))
            .max();
        let robots = Robots::parse(file.as_bytes(), "argiope");
        let ours = robots.verdict(&path).rule.map(|rule| (rule.pattern.len(), rule.allow));
        prop_assert_eq!(ours, best);
    }
}
