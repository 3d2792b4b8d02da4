//! Our segments in other people's hands: warcio, where Python has it.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use argiope_model::{Location, Time};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::*;

const URLS: [&str; 6] = [
    "http://example.com/",
    "http://example.com/gzip",
    "http://example.com/br",
    "http://example.com/old",
    "http://example.com/none",
    "http://example.com/chunked?b=2&a=1",
];

/// A segment with the kinds of answers the web gives; the last records are revisits: same bytes,
/// 304, and 304 without a head.
fn sample(dir: &Path) -> (PathBuf, Vec<Location>) {
    let html = "<title>Example</title><p>Hello, archive.".repeat(50).into_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&html).unwrap();
    let gzip = gzip.finish().unwrap();
    let opaque = noise(5, 3000);
    let answers: [(&str, &[u8], Compression); 6] = [
        ("200 OK\r\nContent-Type: text/html; charset=utf-8", &html, Compression::Level1),
        ("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &gzip, Compression::Stored),
        ("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br", &opaque, Compression::Stored),
        ("301 Moved Permanently\r\nLocation: http://example.com/", b"", Compression::Level1),
        ("404 Not Found\r\nContent-Type: text/plain", b"nothing here", Compression::Level1),
        (
            "200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\nContent-Encoding: zstd",
            &html,
            Compression::Level1,
        ),
    ];
    let mut records = Vec::new();
    for (n, (url, (start, body, compression))) in URLS.iter().zip(answers).enumerate() {
        let raw = format!("HTTP/1.1 {start}\r\n\r\n");
        let last = n == 5;
        let http_head = http_head_for_archive(raw.as_bytes(), body.len() as u64, last, last);
        let head = head(url, Time(NOON.0 + n as i64 * 1000), &http_head, body);
        records.push(response_record(&head, Payload::Memory(body), compression, dir).unwrap());
    }
    let raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nX-Visit: 2\r\n\r\n";
    let http_head = http_head_for_archive(raw, html.len() as u64, false, false);
    let again = head(URLS[0], Time(NOON.0 + 86_400_000), &http_head, &html);
    records.push(revisit_record(&again, URLS[0], NOON));
    let unmodified = b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n";
    let again = head(URLS[1], Time(NOON.0 + 86_400_000), unmodified, &gzip);
    records.push(not_modified_record(&again, URLS[1], Time(NOON.0 + 1000)));
    let again = head(URLS[5], Time(NOON.0 + 86_400_000), b"", &html);
    records.push(not_modified_record(&again, URLS[5], Time(NOON.0 + 5000)));
    let mut segments = Segments::open(dir, warc_kind(), &[], 1 << 30).unwrap();
    let (places, _) = store(&mut segments, records);
    (dir.join(warc_segment_name(1)), places)
}

#[test]
fn warcio_checks_and_indexes_our_segments() {
    let probe = Command::new("python3").args(["-c", "import warcio"]).output();
    if !probe.is_ok_and(|out| out.status.success()) {
        println!("SKIPPED: python3 with warcio is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (file, places) = sample(dir.path());
    let warcio = |args: &[&str]| {
        let out = Command::new("python3")
            .args(["-c", "from warcio.cli import main; main()"])
            .args(args)
            .arg(&file)
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        assert!(out.status.success(), "{text}{}", String::from_utf8_lossy(&out.stderr));
        text
    };
    let check = warcio(&["check", "-v"]);
    assert_eq!(check.matches("digest pass").count(), 6, "{check}");
    assert_eq!(check.matches("not checked (revisit)").count(), 3, "{check}");
    assert!(!check.contains("fail"), "{check}");

    let index = warcio(&[
        "index",
        "-f",
        "offset,length,warc-type,warc-target-uri,warc-refers-to-date,http:status,http:content-length",
    ]);
    let rows: Vec<serde_json::Value> =
        index.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0]["warc-type"], "warcinfo");
    for (row, place) in rows[1..].iter().zip(&places) {
        assert_eq!(row["offset"], place.offset.to_string());
        assert_eq!(row["length"], place.length.to_string());
    }
    let statuses: Vec<_> = rows[1..9].iter().map(|row| row["http:status"].clone()).collect();
    assert_eq!(statuses, ["200", "200", "200", "301", "404", "200", "200", "304"]);
    assert_eq!(rows[6]["http:content-length"], "2000");
    assert_eq!(rows[7]["warc-type"], "revisit");
    assert_eq!(rows[7]["warc-refers-to-date"], "2026-01-31T12:00:00Z");
}
