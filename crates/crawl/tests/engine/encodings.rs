//! Bodies on their way: compressed, chunked, large.

use crate::raw::{Raw, http, page};
use crate::support::{Place, order, settings};
use argiope_archive::{body_digest, read_text};
use argiope_crawl::{Ended, EngineError};
use argiope_model::OutcomeKind;
use argiope_store::UrlState;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;

const TEXT: &str = "<!doctype html><title>packed</title><p>Orb webs hold the morning dew. \
                    <a href=/found>found</a>";

fn pack(coding: &str) -> Vec<u8> {
    let level = Compression::default();
    let text = TEXT.as_bytes();
    match coding {
        "gzip" => {
            let mut out = GzEncoder::new(Vec::new(), level);
            out.write_all(text).unwrap();
            out.finish().unwrap()
        }
        "deflate" => {
            let mut out = ZlibEncoder::new(Vec::new(), level);
            out.write_all(text).unwrap();
            out.finish().unwrap()
        }
        "raw-deflate" => {
            let mut out = DeflateEncoder::new(Vec::new(), level);
            out.write_all(text).unwrap();
            out.finish().unwrap()
        }
        "zstd" => zstd::encode_all(text, 3).unwrap(),
        // One block that is not compressed at all is brotli, too.
        "br" => stored_brotli(text),
        _ => text.to_vec(),
    }
}

/// RFC 7932: window 16 bits, one uncompressed block, an empty last block.
fn stored_brotli(text: &[u8]) -> Vec<u8> {
    let length = (text.len() - 1) as u32;
    // Bits from the lowest: WBITS 0, ISLAST 0, MNIBBLES 00, sixteen bits of length, then
    // ISUNCOMPRESSED 1.
    let bits: u32 = (length << 4) | (1 << 20);
    let mut out = bits.to_le_bytes()[..3].to_vec();
    out.extend_from_slice(text);
    out.push(3);
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn packed_bodies_are_read_and_stored_as_they_came() {
    const CODINGS: [&str; 6] = ["gzip", "deflate", "raw-deflate", "br", "zstd", "identity"];
    let server = Raw::start(|asked| match asked.path.trim_start_matches('/') {
        "" => page(&CODINGS),
        "found" => page(&[]),
        coding => {
            let named = coding.trim_start_matches("raw-");
            let headers = [("Content-Type", "text/html"), ("Content-Encoding", named)];
            http("200 OK", &headers, pack(coding))
        }
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 8));
    let opened = place.open();
    for coding in CODINGS {
        let address = server.url(&format!("/{coding}"));
        let capture = opened.capture(&address);
        assert_eq!(capture.body_digest, body_digest(TEXT.as_bytes()), "{coding}");
        assert_eq!(capture.bytes, pack(coding).len() as u64, "bytes as received");
        let text = read_text(&opened.dir.text(), capture.text.expect("a text")).unwrap();
        assert_eq!(text.title, "packed", "{coding}");
        assert!(text.text.contains("morning dew"), "{coding}");
        if capture.revisit {
            continue;
        }
        let record = opened.record(&address);
        let head = String::from_utf8_lossy(&record.http_head).to_lowercase();
        if coding == "zstd" {
            // Readers of archives lack it, so it is undone.
            assert_eq!(record.payload, TEXT.as_bytes());
            assert!(!head.lines().any(|l| l.starts_with("content-encoding")), "{head}");
        } else {
            assert_eq!(record.payload, pack(coding), "{coding}");
        }
        assert!(head.contains(&format!("content-length: {}", record.payload.len())), "{head}");
    }
    assert_eq!(opened.rows()[&server.url("/found")].state, UrlState::Fetched);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_not_what_it_says_is_tried_again_and_kept_as_it_came() {
    let server = Raw::start(|_| {
        let headers = [("Content-Type", "text/html"), ("Content-Encoding", "gzip")];
        http("200 OK", &headers, "this is not gzip")
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.failed), (Ended::Done, 1));
    let opened = place.open();
    let captures = opened.captures(&server.url("/"));
    assert_eq!(captures.len(), 3);
    assert!(captures.iter().all(|c| c.outcome.kind == OutcomeKind::BadEncoding));
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_are_joined_and_their_frames_are_not_kept() {
    let server = Raw::start(|_| {
        let mut out = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\
                        Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            .to_vec();
        for piece in TEXT.as_bytes().chunks(13) {
            out.extend(format!("{:x}\r\n", piece.len()).bytes());
            out.extend(piece);
            out.extend(b"\r\n");
        }
        out.extend(b"0\r\n\r\n");
        out
    })
    .await;
    let place = Place::new();
    let mut alone = order(&[server.url("/")]);
    alone.rule = argiope_model::ScopeRule::List;
    assert_eq!(place.crawl(settings(), alone).await.fetched, 1);
    let opened = place.open();
    let record = opened.record(&server.url("/"));
    assert_eq!(record.payload, TEXT.as_bytes());
    let head = String::from_utf8_lossy(&record.http_head).to_lowercase();
    assert!(!head.lines().any(|line| line.starts_with("transfer-encoding")), "{head}");
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_body_waits_on_disk_and_leaves_nothing_there() {
    let large = || {
        let mut body = b"<!doctype html><title>large</title><a href=/end>end</a>".to_vec();
        while body.len() < 5 << 20 {
            let line = format!("<p>paragraph {} of many</p>\n", body.len());
            body.extend(line.bytes());
        }
        body.extend(b"<a href=/last>last</a>");
        body
    };
    let server = Raw::start(move |asked| match asked.path.as_str() {
        "/" => http("200 OK", &[("Content-Type", "text/html")], large()),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 3));
    let opened = place.open();
    assert_eq!(opened.record(&server.url("/")).payload, large());
    assert_eq!(opened.capture(&server.url("/")).body_digest, body_digest(&large()));
    opened.assert_verified();
    let mut left = Vec::new();
    for room in ["bodies", "records"] {
        let files = std::fs::read_dir(opened.dir.spool().join(room)).unwrap().flatten();
        left.extend(files.filter(|f| f.metadata().unwrap().len() > 0).map(|f| f.path()));
    }
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spool_that_is_gone_ends_the_crawl_with_a_sentence_and_not_with_endless_tries() {
    let server = Raw::start(|asked| match asked.path.as_str() {
        "/" => {
            std::thread::sleep(std::time::Duration::from_millis(300));
            page(&["/large"])
        }
        _ => http("200 OK", &[("Content-Type", "text/html")], vec![b' '; 3 << 20]),
    })
    .await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&[server.url("/")])));
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    std::fs::remove_dir_all(place.path.join("spool")).unwrap();
    assert!(matches!(running.result().await, Err(EngineError::Failed(_))));
    assert!(server.counts()["/large"] < 3, "{:?}", server.counts());
    // A new start makes its rooms anew.
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 2));
    place.open().assert_verified();
}
