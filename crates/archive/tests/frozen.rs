//! Files written by earlier versions, which every later version must read.
//!
//! A new format version adds a folder; the old ones stay as they are.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use argiope_model::Location;
use std::fs;
use std::path::{Path, PathBuf};
use support::*;

const BODY: &[u8] = b"<title>Frozen</title><p>This page was kept on the day the format was born.";
/// Places of the response and the revisit in `v1/warc`, of the blob in `v1/text`.
const RESPONSE: Location = Location { segment: 1, offset: 295, length: 348 };
const REVISIT: Location = Location { segment: 1, offset: 643, length: 361 };
const TEXT: Location = Location { segment: 1, offset: 0, length: 115 };
/// Length of the blob in `v2/text`.
const TEXT_2: u64 = 122;

fn frozen(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen").join(name)
}

fn blob() -> TextBlob {
    TextBlob {
        parser_version: 7,
        title: "Frozen".into(),
        description: "What was kept".into(),
        headings: vec!["The first".into(), "Über uns".into()],
        language: Some("en".into()),
        text: "This page was kept on the day the format was born.".into(),
        around: Vec::new(),
    }
}

#[test]
fn warc_segments_of_version_1_open() {
    let dir = frozen("v1/warc");
    let record = read_record(&dir, RESPONSE).unwrap();
    assert_eq!(record.payload, BODY);
    assert_eq!(http_status(&record.http_head), Some(200));
    let revisit = read_record(&dir, REVISIT).unwrap();
    assert_eq!(revisit.headers.get("WARC-Refers-To-Date"), Some("2026-01-31T12:00:00Z"));

    let file = fs::File::open(dir.join(warc_segment_name(1))).unwrap();
    let entries: Vec<_> = WarcReader::new(file).map(Result::unwrap).collect();
    let kinds: Vec<_> = entries.iter().map(|e| e.headers.record_type()).collect();
    assert_eq!(kinds, ["warcinfo", "response", "revisit"]);
    assert_eq!(entries[1].digest, DigestCheck::Right);
    assert_eq!(
        entries[1].headers.get("WARC-Record-ID"),
        Some("<urn:uuid:044dcaa7-ee57-88ca-ab57-c6c4b3f570f0>"),
        "record ids are part of the format"
    );
}

#[test]
fn text_segments_of_version_1_open() {
    assert_eq!(read_text(&frozen("v1/text"), TEXT).unwrap(), blob());
}

#[test]
fn text_segments_of_version_2_open() {
    let place = Location { segment: 1, offset: 0, length: TEXT_2 };
    let around = vec![0..2, 5..6, 300..500];
    assert_eq!(read_text(&frozen("v2/text"), place).unwrap(), TextBlob { around, ..blob() });
}

#[test]
fn segments_of_version_1_can_be_continued() {
    let dir = tempfile::tempdir().unwrap();
    let name = warc_segment_name(1);
    fs::copy(frozen("v1/warc").join(&name), dir.path().join(&name)).unwrap();
    let committed = [(1, REVISIT.offset + REVISIT.length)];
    let mut segments = Segments::open(dir.path(), warc_kind(), &committed, 1 << 20).unwrap();
    let (places, _) = store(&mut segments, vec![page("http://a.example/", NOON, b"new")]);
    assert_eq!(read_record(dir.path(), places[0]).unwrap().payload, b"new");
    assert_eq!(read_record(dir.path(), RESPONSE).unwrap().payload, BODY);
}
