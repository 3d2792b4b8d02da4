//! What a page costs here.
//!
//! Measured: microseconds per page for preparing a response record (level 1 and stored), for
//! its two digests, for packing its text, and for appending with a sync every 64 pages.
//! Corpus: real pages where a folder of them is named (`record_cost DIR`), gzipped or not, else
//! one made-up page of 20 KB. Each figure is the best of five rounds on one thread.
//! Run: `cargo run --release -p argiope-archive --example record_cost [DIR]`.
//! Falsified by: preparing costing much more than the bare compression call printed beside it.
#![allow(clippy::print_stdout)]

use argiope_archive::*;
use argiope_model::Time;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: u32 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pages = match std::env::args_os().nth(1) {
        Some(dir) => pages_in(Path::new(&dir))?,
        None => vec![made_up_page(); 500],
    };
    let bytes: usize = pages.iter().map(Vec::len).sum();
    println!("{} pages, {:.1} KB on average", pages.len(), bytes as f64 / pages.len() as f64 / 1e3);

    let mut bare = libdeflater::Compressor::new(libdeflater::CompressionLvl::new(1).expect("1"));
    let mut out = vec![0; 1 << 24];
    measure("bare libdeflate level 1", &pages, |page| {
        bare.gzip_compress(page, &mut out).expect("16 MB are enough") as u64
    });
    let spool = std::env::temp_dir();
    for compression in [Compression::Level1, Compression::Stored] {
        measure(&format!("response_record {compression:?}"), &pages, |page| {
            prepare(page, compression, &spool).len()
        });
    }
    measure("payload_digest (SHA-1)", &pages, |page| payload_digest(page)[0].into());
    measure("body_digest (SHA-256)", &pages, |page| body_digest(page)[0].into());
    measure("encode_text of half the page", &pages, |page| {
        let text = String::from_utf8_lossy(&page[..page.len() / 2]).into_owned();
        encode_text(&TextBlob { text, ..TextBlob::default() }).len() as u64
    });

    let dir = spool.join(format!("argiope-record-cost-{}", std::process::id()));
    let kind = SegmentKind::Warc { info: WarcInfo::default() };
    let mut segments = Segments::open(&dir, kind, &[], 1 << 30)?;
    let records: Vec<_> =
        pages.iter().map(|page| prepare(page, Compression::Level1, &spool)).collect();
    let start = Instant::now();
    for (n, record) in records.into_iter().enumerate() {
        segments.append(record)?;
        if n % 64 == 63 {
            segments.sync()?;
        }
    }
    segments.sync()?;
    report("append, synced every 64 pages", start.elapsed(), pages.len(), 0);
    std::fs::remove_dir_all(&dir)?;
    Ok(())
}

fn prepare(page: &[u8], compression: Compression, spool: &Path) -> Prepared {
    let head = RecordHead {
        url: "https://www.example.com/a/page/of/ordinary/length.html",
        time: Time(1_769_860_800_000),
        ip: None,
        http_head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\
            Server: nginx\r\nDate: Sat, 31 Jan 2026 12:00:00 GMT\r\nContent-Length: 20000\r\n\r\n",
        payload_digest: [7; 20],
        truncated: None,
    };
    response_record(&head, Payload::Memory(page), compression, spool).expect("it is in memory")
}

fn measure(name: &str, pages: &[Vec<u8>], mut work: impl FnMut(&[u8]) -> u64) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let made = pages.iter().map(|page| work(page)).sum();
        best = best.min((start.elapsed(), made));
    }
    report(name, best.0, pages.len(), best.1);
}

fn report(name: &str, elapsed: Duration, pages: usize, made: u64) {
    let each = elapsed.as_secs_f64() * 1e6 / pages as f64;
    println!("{name:32} {each:8.1} us per page   (sum {made})");
}

fn pages_in(dir: &Path) -> std::io::Result<Vec<Vec<u8>>> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let bytes = std::fs::read(&path)?;
        let mut page = Vec::new();
        if bytes.starts_with(&[0x1f, 0x8b]) {
            flate2::read::MultiGzDecoder::new(&bytes[..]).read_to_end(&mut page)?;
        } else {
            page = bytes;
        }
        // Around 20 KB, so that the figures compare with the made-up page.
        if (10_000..40_000).contains(&page.len()) {
            pages.push(page);
        }
    }
    Ok(pages)
}

/// Markup that compresses about as pages do: repeated tags, varied words.
fn made_up_page() -> Vec<u8> {
    let mut page = b"<!doctype html><title>A page</title>".to_vec();
    let mut state = 1u32;
    while page.len() < 20_000 {
        page.extend_from_slice(b"<p class=\"text\"><a href=\"/section/");
        for _ in 0..12 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let word = state >> 20;
            page.extend_from_slice(format!("{:x} word{} ", word, word % 97).as_bytes());
        }
        page.extend_from_slice(b"</a></p>\n");
    }
    page
}
