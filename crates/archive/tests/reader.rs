//! Walking through files: sound, cut, overwritten, glued together, and random.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use proptest::prelude::*;
use std::io::{self, Read};
use support::*;

/// A segment of five pages and the place of each.
fn sample() -> (Vec<u8>, Vec<(u64, u64)>) {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let pages = (0..5).map(|n| page(&format!("http://a.example/{n}"), NOON, &noise(n, 700)));
    let (places, _) = store(&mut segments, pages.collect());
    let bytes = std::fs::read(dir.path().join(warc_segment_name(1))).unwrap();
    (bytes, places.iter().map(|p| (p.offset, p.length)).collect())
}

fn plain(gzipped: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(gzipped).read_to_end(&mut out).unwrap();
    out
}

fn uris(bytes: &[u8]) -> (Vec<String>, Vec<Damage>) {
    let (mut found, mut damages) = (Vec::new(), Vec::new());
    for item in WarcReader::new(bytes) {
        match item {
            Ok(entry) => found.push(entry.headers.target_uri().unwrap_or("info").to_owned()),
            Err(damage) => damages.push(damage),
        }
    }
    (found, damages)
}

const ALL: [&str; 6] = [
    "info",
    "http://a.example/0",
    "http://a.example/1",
    "http://a.example/2",
    "http://a.example/3",
    "http://a.example/4",
];

#[test]
fn places_digests_and_payloads_are_given() {
    let (bytes, places) = sample();
    let entries: Vec<_> =
        WarcReader::new(&bytes[..]).keep_payloads(1000).map(Result::unwrap).collect();
    assert_eq!(entries.len(), 6);
    for (n, (entry, place)) in entries[1..].iter().zip(&places).enumerate() {
        assert_eq!((entry.offset, entry.length), (place.0, Some(place.1)));
        assert_eq!((&entry.digest, entry.status()), (&DigestCheck::Right, Some(200)));
        assert_eq!(entry.payload.as_deref(), Some(&noise(n as u64, 700)[..]));
        assert_eq!(entry.payload_digest, payload_digest(&noise(n as u64, 700)));
    }
    let unkept = WarcReader::new(&bytes[..]).keep_payloads(699).nth(1).unwrap().unwrap();
    assert_eq!((unkept.payload, unkept.payload_len), (None, 700));
}

#[test]
fn a_plain_file_and_one_great_member_are_read_too() {
    let (bytes, _) = sample();
    let plain = plain(&bytes);
    assert_eq!(uris(&plain), (ALL.map(String::from).to_vec(), vec![]));
    let entries: Vec<_> = WarcReader::new(&plain[..]).map(Result::unwrap).collect();
    for pair in entries.windows(2) {
        assert_eq!(pair[0].offset + pair[0].length.unwrap() + 4, pair[1].offset);
    }
    let mut gzip = flate2::read::GzEncoder::new(&plain[..], flate2::Compression::fast());
    let mut great = Vec::new();
    gzip.read_to_end(&mut great).unwrap();
    assert_eq!(uris(&great), (ALL.map(String::from).to_vec(), vec![]));
    assert!(WarcReader::new(&great[..]).all(|e| e.unwrap().length.is_none()));
}

#[test]
fn behind_an_overwritten_record_the_next_is_found() {
    let (bytes, places) = sample();
    let (start, length) = places[2];
    for at in (start..start + length).step_by(5) {
        let mut bad = bytes.clone();
        for byte in &mut bad[at as usize..(at as usize + 9).min((start + length) as usize)] {
            *byte = !*byte;
        }
        let (found, damages) = uris(&bad);
        // A gzip header's time and system bytes may change without harm.
        if damages.is_empty() {
            assert!(at < start + 10, "damage at {at} was not noticed");
            continue;
        }
        assert_eq!(found.len(), 5, "damage at {at}: {damages:?}");
        assert_eq!(damages.len(), 1);
        assert_eq!((damages[0].offset, damages[0].length), (start, length), "{damages:?}");
    }
}

#[test]
fn a_file_cut_anywhere_gives_its_whole_records_and_one_damage() {
    let (bytes, places) = sample();
    for cut in 0..bytes.len() {
        let whole = places.iter().filter(|(o, l)| o + l <= cut as u64).count();
        let (found, damages) = uris(&bytes[..cut]);
        let ends = cut == 0 || places.iter().any(|(o, l)| [*o, o + l].contains(&(cut as u64)));
        assert_eq!(damages.len(), usize::from(!ends), "cut at {cut}: {damages:?}");
        assert_eq!(found.len(), whole + usize::from(cut as u64 >= places[0].0), "cut at {cut}");
    }
}

#[test]
fn damage_in_a_plain_file_costs_only_its_record() {
    let (bytes, _) = sample();
    let text = plain(&bytes);
    let third = memchr::memmem::find_iter(&text, b"WARC/1.1").nth(3).unwrap();
    let mut bad = text.clone();
    bad[third..third + 4].copy_from_slice(b"warc");
    let (found, damages) = uris(&bad);
    assert_eq!((found.len(), damages.len()), (5, 1));
    assert_eq!(damages[0].offset, third as u64);
    let mut glued = b"what is this?\r\n".to_vec();
    glued.extend_from_slice(&text);
    glued.extend_from_slice(b"and this");
    let (found, damages) = uris(&glued);
    assert_eq!(found, ALL);
    assert_eq!(damages.iter().map(|d| d.length).collect::<Vec<_>>(), [15, 8]);
}

#[test]
fn a_wrong_digest_is_told() {
    let (bytes, _) = sample();
    let mut text = plain(&bytes);
    let end = text.len() - 10;
    text[end] ^= 1;
    let last = WarcReader::new(&text[..]).last().unwrap().unwrap();
    assert!(matches!(last.digest, DigestCheck::Wrong { .. }), "{:?}", last.digest);
}

#[test]
fn a_failing_disk_is_told_and_ends_the_walk() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("no more"))
        }
    }
    let (bytes, _) = sample();
    let items: Vec<_> = WarcReader::new((&bytes[..]).chain(Failing)).collect();
    assert_eq!(items.len(), 7);
    let damage = items[6].as_ref().unwrap_err();
    assert_eq!(damage.reason, "cannot read on: no more");
}

/// Pieces from which nearly sound files are glued.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        Just(b"\x1f\x8b\x08".to_vec()),
        Just(b"\r\n\r\n".to_vec()),
        Just(b"\nWARC/1.1\r\n".to_vec()),
        Just(b"Content-Length: 18446744073709551615\r\n".to_vec()),
        Just(
            b"Content-Length: 3\r\nWARC-Type: response\r\nContent-Type: application/http\r\n\r\n"
                .to_vec()
        ),
        (0usize..2000, 0usize..500).prop_map(|(start, len)| {
            let (bytes, _) = sample();
            let start = start.min(bytes.len());
            bytes[start..(start + len).min(bytes.len())].to_vec()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_do_harm_and_none_is_unaccounted_for(
        pieces in proptest::collection::vec(piece(), 0..12),
    ) {
        let bytes = pieces.concat();
        let mut end = 0;
        for item in WarcReader::new(&bytes[..]) {
            match item {
                Ok(entry) => prop_assert!(entry.offset >= end || entry.length.is_none()),
                Err(damage) => {
                    prop_assert!(damage.offset >= end);
                    end = damage.offset + damage.length;
                }
            }
            prop_assert!(end <= bytes.len() as u64);
        }
    }
}
