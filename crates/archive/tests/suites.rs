//! Files and keys that other archive tools made, from the shared suites.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use argiope_model::{Location, Time};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use support::suites;

fn cases(suites: &Path, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(suites.join(file)).unwrap();
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn of_kind<'a>(cases: &'a [Value], kind: &str) -> Vec<&'a Value> {
    cases.iter().filter(|case| case["kind"] == kind).collect()
}

fn walk(path: &Path) -> (Vec<WarcEntry>, Vec<Damage>) {
    let (mut entries, mut damages) = (Vec::new(), Vec::new());
    for item in WarcReader::new(fs::File::open(path).unwrap()) {
        match item {
            Ok(entry) => entries.push(entry),
            Err(damage) => damages.push(damage),
        }
    }
    (entries, damages)
}

#[test]
fn records_are_found_where_others_find_them() {
    let Some(suites) = suites() else { return };
    let all = cases(&suites, "warc.jsonl");
    let cases = of_kind(&all, "warc-records");
    assert!(cases.len() >= 10);
    for case in cases {
        let file = case["input"]["file"].as_str().unwrap();
        let (entries, damages) = walk(&suites.join(file));
        if file.ends_with(".arc") {
            arc_records(file, &entries, &damages, &case["expected"]["records"]);
            continue;
        }
        let count = case["expected"]["fastwarc_count"].as_u64().unwrap() as usize;
        assert_eq!((entries.len(), damages), (count, vec![]), "{file}");
        if !case["expected"]["error"].is_null() {
            continue; // One gzip member for all records: others stop, all are read here.
        }
        for (entry, wanted) in entries.iter().zip(case["expected"]["records"].as_array().unwrap()) {
            let place = format!("{file} at {}", wanted["offset"]);
            assert_eq!(wanted["offset"], entry.offset, "{place}");
            assert_eq!(wanted["length"].as_u64(), entry.length, "{place}");
            assert_eq!(wanted["type"], entry.headers.record_type(), "{place}");
            assert_eq!(wanted["uri"].as_str(), entry.headers.target_uri(), "{place}");
            assert_eq!(wanted["date"].as_str(), entry.headers.get("WARC-Date"), "{place}");
            if entry.headers.record_type() == "response" {
                let status = entry.status().map(|s| s.to_string());
                assert_eq!(wanted["status"].as_str(), status.as_deref(), "{place}");
            }
        }
    }
}

/// ARC files: the two of the suite are a made-up one, in which most lines lie about their length,
/// and the beginning of a real one, of which others read the first record only.
fn arc_records(file: &str, entries: &[WarcEntry], damages: &[Damage], wanted: &Value) {
    let wanted = wanted.as_array().unwrap();
    let offsets: Vec<u64> = entries.iter().map(|e| e.offset).collect();
    let uri = |n: usize| entries[n].headers.target_uri();
    if file.ends_with("bad.arc") {
        // Lengths of -1 and abc: others read such records as empty, here they are damage.
        assert_eq!(offsets, [202]);
        assert_eq!((wanted[2]["offset"].as_u64(), wanted[2]["uri"].as_str()), (Some(202), uri(0)));
        let places: Vec<(u64, u64)> = damages.iter().map(|d| (d.offset, d.length)).collect();
        assert_eq!(places, [(0, 202), (262, 69)]);
        return;
    }
    assert_eq!((wanted[0]["offset"].as_u64(), wanted[0]["uri"].as_str()), (Some(0), uri(0)));
    let types: Vec<&str> = entries.iter().map(|e| e.headers.record_type()).collect();
    assert_eq!(types[..4], ["warcinfo", "resource", "response", "response"]);
    let statuses: Vec<u16> = entries.iter().filter_map(WarcEntry::status).collect();
    assert_eq!((entries.len(), damages.len()), (ARC_RECORDS, 0), "{damages:?}");
    assert!(statuses.len() == ARC_RECORDS - 2 && statuses.contains(&200), "{statuses:?}");
    assert_eq!(entries[2].headers.get("WARC-Date"), Some("2008-04-30T20:48:25Z"));
}

/// Records in the real ARC file, the one about the file and a name look-up included.
const ARC_RECORDS: usize = 9;

#[test]
fn every_case_of_the_suite_is_of_a_kind_that_is_tested() {
    let Some(suites) = suites() else { return };
    let all = cases(&suites, "warc.jsonl");
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &all {
        *kinds.entry(case["kind"].as_str().unwrap()).or_default() += 1;
    }
    let kinds: Vec<(&str, usize)> = kinds.into_iter().collect();
    let known = [
        ("cdx11", 19),
        ("cdxj", 184),
        ("gzip-members", 1),
        ("warc-check", 11),
        ("warc-records", 13),
    ];
    assert_eq!(kinds, known);
}

#[test]
fn digests_are_right_where_others_find_them_right() {
    let Some(suites) = suites() else { return };
    let all = cases(&suites, "warc.jsonl");
    for case in of_kind(&all, "warc-check") {
        let file = case["input"]["file"].as_str().unwrap();
        let (entries, _) = walk(&suites.join(file));
        let wrong: Vec<_> = entries
            .iter()
            .filter(|e| matches!(e.digest, DigestCheck::Wrong { .. }))
            .map(|e| e.headers.get("WARC-Record-ID").unwrap())
            .collect();
        let expected: Vec<_> = case["expected"]["bad_records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|id| id.as_str().unwrap())
            .collect();
        assert_eq!(wrong, expected, "{file}");
    }
}

#[test]
fn broken_gzip_is_damage_not_a_crash() {
    let Some(suites) = suites() else { return };
    let all = cases(&suites, "warc.jsonl");
    for case in of_kind(&all, "gzip-members") {
        let (entries, damages) = walk(&suites.join(case["input"]["file"].as_str().unwrap()));
        assert!(entries.is_empty());
        assert_eq!(damages.len(), 1, "{damages:?}");
    }
    // Every sample, cut and overwritten in many places, is walked to its end.
    for entry in fs::read_dir(suites.join("warc")).unwrap() {
        let whole = fs::read(entry.unwrap().path()).unwrap();
        let whole = &whole[..whole.len().min(50_000)];
        for n in 1..20 {
            let at = whole.len() * n / 20;
            let _ = WarcReader::new(&whole[..at]).count();
            let mut bad = whole.to_vec();
            bad[at] ^= 0xff;
            let _ = WarcReader::new(&bad[..]).count();
        }
    }
}

/// What the CDX says of the time, as ours; seconds are enough.
fn time_of(digits: &str) -> Time {
    let n = |at: std::ops::Range<usize>| digits[at].parse::<i64>().unwrap();
    let (y, m, d) = (n(0..4), n(4..6), n(6..8));
    let (y, m) = if m <= 2 { (y - 1, m + 9) } else { (y, m - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d - 1 - 719_468;
    Time((days * 86_400 + n(8..10) * 3600 + n(10..12) * 60 + n(12..14)) * 1000)
}

fn mime(http_head: &[u8]) -> String {
    let head = String::from_utf8_lossy(http_head).to_ascii_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("content-type:"));
    line.and_then(|v| v.split(';').next()).unwrap_or_default().trim().to_owned()
}

/// Index lines whose key is compared, and those compared as a whole: the records they speak of
/// are in the suite.
const KEYS: usize = 195;
const LINES: usize = 172;

#[test]
fn index_lines_are_the_ones_replay_tools_make() {
    let Some(suites) = suites() else { return };
    let all = cases(&suites, "warc.jsonl");
    let mut files: BTreeMap<String, Vec<WarcEntry>> = BTreeMap::new();
    let (mut keys, mut lines) = (0, 0);
    for case in all.iter().filter(|c| c["kind"] == "cdxj" || c["kind"] == "cdx11") {
        let expected = &case["expected"];
        let fields = if case["kind"] == "cdxj" { &expected["fields"] } else { expected };
        let (url, key) = (fields["url"].as_str().unwrap(), expected["key"].as_str().unwrap());
        let id = case["id"].as_str().unwrap();
        // Keys that are not of the URL alone: POST data, a made-up domain, another key form.
        if key.contains("__wb_method") || id.contains("arc-test") || id.contains("non-surt") {
            continue;
        }
        assert_eq!(surt(url), key, "{id}");
        keys += 1;
        let name = fields["filename"].as_str().unwrap();
        let path = suites.join("warc").join(format!("webrecorder_pywb__{name}"));
        if !path.exists() || case["kind"] != "cdxj" {
            continue;
        }
        let entries = files.entry(name.to_owned()).or_insert_with(|| walk(&path).0);
        let offset: u64 = fields["offset"].as_str().unwrap().parse().unwrap();
        let entry = entries.iter().find(|e| e.offset == offset).unwrap();
        let revisit = entry.headers.record_type() == "revisit";
        let digest = entry.headers.get("WARC-Payload-Digest").unwrap().replace("sha1:", "");
        let digest = data_encoding::BASE32.decode(digest.as_bytes()).unwrap();
        let location = Location { segment: 0, offset, length: entry.length.unwrap() };
        let line = cdxj_line(
            entry.headers.target_uri().unwrap(),
            time_of(expected["timestamp"].as_str().unwrap()),
            &mime(&entry.http_head),
            entry.status().unwrap_or(0),
            &digest.try_into().unwrap(),
            location,
            name,
            revisit,
        );
        let mut parts = line.splitn(3, ' ');
        assert_eq!(parts.next(), Some(key));
        assert_eq!(parts.next(), expected["timestamp"].as_str());
        assert_eq!(&serde_json::from_str::<Value>(parts.next().unwrap()).unwrap(), fields, "{id}");
        lines += 1;
    }
    // Not compared: 8 keys of POST data, a made-up domain and another key form.
    println!("{keys} keys, {lines} whole lines");
    assert_eq!((keys, lines), (KEYS, LINES));
}

#[test]
fn keys_agree_with_jwarc_but_for_two() {
    let Some(suites) = suites() else { return };
    let mut different = Vec::new();
    for case in cases(&suites, "url-jwarc.jsonl") {
        if case["input"]["function"] == "toNormalizedSurt" {
            let url = case["input"]["args"][0].as_str().unwrap();
            if surt(url) != case["expected"]["value"] {
                different.push(url.to_owned());
            }
        }
    }
    // pywb's keys win: `-` for nothing, and `..` above the root is kept.
    assert_eq!(different, ["", "http://example.org/a/././b/../c/../../../../.."]);
}
