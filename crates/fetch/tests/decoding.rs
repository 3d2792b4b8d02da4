//! Content codings: undone alone and in stacks, from memory and from files, whole and broken.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{Answer, Body, DecodeError, Decoded};
use argiope_model::OutcomeKind;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Write;
use support::{Kit, Server, bytes, noise};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn raw_deflate(data: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::encode_all(data, 1).unwrap()
}

/// Brotli in stored blocks: real brotli, only not small.
fn brotli(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (n, block) in data.chunks(60_000).enumerate() {
        let len = block.len() as u32 - 1;
        // The first block header follows a window size of one bit.
        let header = if n == 0 { len << 4 | 1 << 20 } else { len << 3 | 1 << 19 };
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out.push(if data.is_empty() { 0x06 } else { 0x03 });
    out
}

async fn fetched(kit: &Kit, body: &[u8]) -> Answer {
    let mut reply =
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    reply.extend(body);
    let server = Server::one_shot(reply).await;
    let answer = kit.get(&server.url("/")).await;
    assert_eq!(answer.outcome, None);
    answer
}

type Encoder = fn(&[u8]) -> Vec<u8>;
const CODINGS: [(&str, Encoder); 7] = [
    ("gzip", gzip),
    ("x-gzip", gzip),
    ("deflate", zlib),
    ("deflate", raw_deflate),
    ("br", brotli),
    ("zstd", zstd),
    (" GZip ", gzip),
];

#[tokio::test]
async fn every_coding_is_undone_in_memory_and_in_files() {
    let pages = [b"hello".to_vec(), b"so much text ".repeat(20_000), noise(300_000)];
    for spool_above in [1 << 20, 1000] {
        let kit = Kit::with(|s| s.spool_above = spool_above);
        for page in &pages {
            for (name, encode) in CODINGS {
                let answer = fetched(&kit, &encode(page)).await;
                let decoded = kit.fetcher.decode(&answer.body, name).unwrap();
                assert!(bytes(&decoded) == *page, "{name}, {} bytes", page.len());
                assert_eq!(decoded.bytes().is_none(), page.len() > spool_above);
            }
        }
        assert_eq!((kit.spooled_files(), kit.fetcher.body_memory_used()), (0, 0));
    }
}

#[tokio::test]
async fn stacked_codings_are_undone_in_reverse() {
    let kit = Kit::new();
    let page = b"layer upon layer ".repeat(1000);
    for (header, body) in [
        ("gzip, br", brotli(&gzip(&page))),
        ("br,gzip", gzip(&brotli(&page))),
        ("identity, deflate, zstd, ", zstd(&zlib(&page))),
        ("gzip, gzip, gzip, gzip, gzip", (0..5).fold(page.clone(), |p, _| gzip(&p))),
    ] {
        let answer = fetched(&kit, &body).await;
        let decoded = kit.fetcher.decode(&answer.body, header).unwrap();
        assert!(bytes(&decoded) == page, "{header}");
    }
}

#[tokio::test]
async fn nothing_to_undo_costs_nothing() {
    let kit = Kit::new();
    let answer = fetched(&kit, b"plain").await;
    // Names that are no codings are server mistakes; the body is plain.
    for header in ["", "identity", "utf-8", "none", "8bit", ", ,", "text/html"] {
        let decoded = kit.fetcher.decode(&answer.body, header).unwrap();
        assert!(matches!(decoded, Decoded::Same(_)), "{header:?}");
    }
    let empty = fetched(&kit, b"").await;
    for (header, _) in CODINGS {
        assert!(kit.fetcher.decode(&empty.body, header).unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_broken_but_not_lost() {
    let page = noise(200_000);
    for spool_above in [1 << 20, 1000] {
        let kit = Kit::with(|s| s.spool_above = spool_above);
        for (name, encode) in CODINGS {
            let whole = encode(&page);
            for cut in [1, 2, 5, 1000, whole.len() / 2, whole.len() - 1] {
                let answer = fetched(&kit, &whole[..cut]).await;
                match kit.fetcher.decode(&answer.body, name) {
                    Err(DecodeError::Broken { so_far, cause, .. }) => {
                        assert!(page.starts_with(&bytes(&so_far)), "{name} cut at {cut}: {cause}");
                        assert!(cut < 150_000 || so_far.len() > 10_000, "{name} cut at {cut}");
                    }
                    other => panic!("{name} cut at {cut}: {other:?}"),
                }
            }
        }
        assert_eq!((kit.spooled_files(), kit.fetcher.body_memory_used()), (0, 0));
    }
}

#[tokio::test]
async fn a_body_in_another_coding_is_a_bad_encoding() {
    let kit = Kit::new();
    for (name, _) in CODINGS {
        let answer = fetched(&kit, b"<!doctype html><title>I am not encoded at all").await;
        let error = kit.fetcher.decode(&answer.body, name).unwrap_err();
        let outcome = error.into_outcome(200).unwrap();
        assert_eq!((outcome.kind, outcome.status), (OutcomeKind::BadEncoding, 200), "{name}");
        let words = outcome.detail.unwrap();
        assert!(words.starts_with("not valid ") && words.contains(name), "{words}");
    }
}

#[tokio::test]
async fn several_gzip_members_are_one_body_and_padding_is_ignored() {
    let kit = Kit::new();
    for tail in [&b""[..], b"\0\0\0\0", b"<!-- cached -->", b"\n"] {
        let same = gzip(b"same");
        for (members, page) in [
            ([gzip(b"one "), gzip(b""), gzip(b"two")].concat(), &b"one two"[..]),
            ([&same[..], &same, &same].concat(), b"samesamesame"),
            (same.clone(), b"same"),
        ] {
            let answer = fetched(&kit, &[&members, tail].concat()).await;
            let decoded = kit.fetcher.decode(&answer.body, "gzip").unwrap();
            assert_eq!(bytes(&decoded), page);
        }
    }
}

#[tokio::test]
async fn bombs_stop_at_the_limit() {
    let kit = Kit::with(|s| s.max_decoded_bytes = 1 << 20);
    let zeros = vec![0; 2 << 20];
    for (name, encode) in CODINGS {
        let encoded = encode(&zeros);
        let answer = fetched(&kit, &encoded).await;
        let error = kit.fetcher.decode(&answer.body, name).unwrap_err();
        assert!(matches!(error, DecodeError::TooLarge { limit: 1_048_576 }), "{name}");
        assert_eq!(error.into_outcome(200).unwrap().kind, OutcomeKind::TooLarge);
        let exact = fetched(&kit, &encode(&zeros[..1 << 20])).await;
        assert_eq!(kit.fetcher.decode(&exact.body, name).unwrap().len(), 1 << 20);
    }
    let nested = (0..4).fold(vec![0; 50 << 20], |page, _| gzip(&page));
    let answer = fetched(&kit, &nested).await;
    let error = kit.fetcher.decode(&answer.body, "gzip,gzip,gzip,gzip").unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { .. }));
}

#[tokio::test]
async fn codings_that_are_not_spoken_are_said_so() {
    let kit = Kit::new();
    let answer = fetched(&kit, b"x").await;
    for header in ["compress", "gzip, dcb", "br,br,br,br,br,br"] {
        let error = kit.fetcher.decode(&answer.body, header).unwrap_err();
        assert!(matches!(error, DecodeError::Unsupported { .. }), "{header}");
        assert_eq!(error.into_outcome(200).unwrap().kind, OutcomeKind::BadEncoding);
    }
}

#[tokio::test]
async fn random_bytes_crash_no_decoder() {
    let kit = Kit::new();
    let noise = noise(100_000);
    for (n, (name, encode)) in CODINGS.iter().enumerate() {
        let good = encode(&noise[..500]);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= noise[at * 7 + n] | 1;
            let _ = kit.fetcher.decode(&memory(&kit, &bad).await, name);
        }
    }
}

async fn memory(kit: &Kit, bytes: &[u8]) -> Body {
    fetched(kit, bytes).await.body
}
