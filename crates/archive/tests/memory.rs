//! A payload in a file costs no memory, however long it is.
//!
//! Alone in its file: the peak that the system reports is that of the whole process.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use support::*;

fn peak_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?.split_whitespace().next()?.parse().ok()
}

#[test]
fn a_long_payload_is_written_and_read_in_constant_memory() {
    let Some(before) = peak_kb() else {
        println!("SKIPPED: this system does not tell a process's peak memory");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("body");
    let piece = noise(9, 1 << 16);
    let mut file = File::create(&path).unwrap();
    let mut hasher = PayloadHasher::new();
    for _ in 0..1024 {
        file.write_all(&piece).unwrap();
        hasher.update(&piece);
    }
    let len = 1024 << 16;
    let mut head = head("http://example.com/", NOON, b"HTTP/1.1 200 OK\r\n\r\n", b"");
    head.payload_digest = hasher.finish();
    let payload = Payload::File { path: &path, len };
    let record = response_record(&head, payload, Compression::Level1, dir.path()).unwrap();
    let warc = dir.path().join("warc");
    let mut segments = Segments::open(&warc, warc_kind(), &[], 1 << 30).unwrap();
    let (places, _) = store(&mut segments, vec![record]);
    let mut reader = open_record(&warc, places[0]).unwrap();
    assert_eq!(io::copy(&mut reader.by_ref(), &mut io::sink()).unwrap(), len);
    let file = File::open(warc.join(warc_segment_name(1))).unwrap();
    assert_eq!(WarcReader::new(file).last().unwrap().unwrap().digest, DigestCheck::Right);

    let grown = peak_kb().unwrap() - before;
    println!("64 MB through write, read and walk: {grown} KB more memory");
    assert!(grown < 8 << 10, "{grown} KB");
}
