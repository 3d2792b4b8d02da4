//! Records and directories that several test files need.
// Each test file uses its share; a panic is how a test fails.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

use argiope_archive::*;
use argiope_model::{Location, Time};
use std::path::{Path, PathBuf};

/// 2026-01-31T12:00:00Z
pub const NOON: Time = Time(1_769_860_800_000);

pub fn warc_kind() -> SegmentKind {
    let info = WarcInfo {
        software: "argiope/0.1.0".into(),
        time: NOON,
        fields: vec![("robots".into(), "obey".into()), ("operator".into(), "nobody".into())],
    };
    SegmentKind::Warc { info }
}

pub fn head<'a>(url: &'a str, time: Time, http_head: &'a [u8], payload: &[u8]) -> RecordHead<'a> {
    RecordHead {
        url,
        time,
        ip: Some([192, 0, 2, 7].into()),
        http_head,
        payload_digest: payload_digest(payload),
        truncated: None,
    }
}

pub fn html_head(len: usize) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len}\r\n\r\n")
        .into_bytes()
}

/// A response record with an HTML head.
pub fn page(url: &str, time: Time, body: &[u8]) -> Prepared {
    let http_head = html_head(body.len());
    let head = head(url, time, &http_head, body);
    response_record(&head, Payload::Memory(body), Compression::Level1, Path::new("unused")).unwrap()
}

/// Appends, syncs and says what the store would commit.
pub fn store(segments: &mut Segments, records: Vec<Prepared>) -> (Vec<Location>, Vec<(u32, u64)>) {
    let places = records.into_iter().map(|r| segments.append(r).unwrap()).collect();
    segments.sync().unwrap();
    (places, segments.lengths())
}

/// Bytes that look random and are always the same.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The folder of shared cases; `None`, said aloud, where it is not.
pub fn suites() -> Option<PathBuf> {
    let dir = std::env::var_os("ARGIOPE_SUITES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites"),
        PathBuf::from,
    );
    if dir.is_dir() {
        return Some(dir);
    }
    println!("SKIPPED: suites not found at {}", dir.display());
    None
}
