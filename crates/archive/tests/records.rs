//! What goes in comes out: records of every kind through segment files and back.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use argiope_model::Time;
use proptest::prelude::*;
use std::fs;
use std::io::Read;
use support::*;

#[test]
fn a_response_comes_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let body = b"<p>hello".repeat(1000);
    let (places, lengths) = store(&mut segments, vec![page("http://example.com/", NOON, &body)]);
    assert_eq!(lengths, [(1, places[0].offset + places[0].length)]);

    let record = read_record(dir.path(), places[0]).unwrap();
    assert_eq!(record.payload, body);
    assert_eq!(record.http_head, html_head(body.len()));
    let fields: Vec<_> = record.headers.iter().filter(|(n, _)| *n != "WARC-Record-ID").collect();
    let digest = format!("sha1:{}", digest_base32(&payload_digest(&body)));
    let length = (record.http_head.len() + body.len()).to_string();
    assert_eq!(record.headers.version(), "WARC/1.1");
    assert_eq!(
        fields,
        [
            ("WARC-Type", "response"),
            ("WARC-Date", "2026-01-31T12:00:00Z"),
            ("WARC-Target-URI", "http://example.com/"),
            ("WARC-IP-Address", "192.0.2.7"),
            ("WARC-Payload-Digest", digest.as_str()),
            ("Content-Type", "application/http; msgtype=response"),
            ("Content-Length", length.as_str()),
        ]
    );
}

#[test]
fn a_revisit_holds_the_head_and_names_its_original() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let http_head = html_head(5);
    let mut head = head("http://example.com/b", NOON, &http_head, b"hello");
    head.truncated = Some("length");
    let same = revisit_record(&head, "http://example.com/a", Time(0));
    let unmodified = not_modified_record(&head, "http://example.com/a", Time(0));
    let (places, _) = store(&mut segments, vec![same, unmodified]);

    let record = read_record(dir.path(), places[0]).unwrap();
    let get = |name| record.headers.get(name).unwrap();
    assert_eq!(record.headers.record_type(), "revisit");
    assert!(get("WARC-Profile").ends_with("/1.1/revisit/identical-payload-digest"));
    assert_eq!(get("WARC-Refers-To-Target-URI"), "http://example.com/a");
    assert_eq!(get("WARC-Refers-To-Date"), "1970-01-01T00:00:00Z");
    assert_eq!(get("WARC-Truncated"), "length");
    assert_eq!((record.http_head, record.payload), (http_head.clone(), Vec::new()));
    let record = read_record(dir.path(), places[1]).unwrap();
    assert!(record.headers.get("WARC-Profile").unwrap().ends_with("/server-not-modified"));
}

#[test]
fn a_large_payload_passes_through_files() {
    let dir = tempfile::tempdir().unwrap();
    let spool = tempfile::tempdir().unwrap();
    let mut body = noise(1, 10 << 20);
    body.resize(20 << 20, b' ');
    let path = spool.path().join("body");
    fs::write(&path, &body).unwrap();
    let len = body.len() as u64;
    let http_head = html_head(body.len());
    let head = head("http://example.com/large", NOON, &http_head, &body);
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let records = [Compression::Level1, Compression::Stored].map(|compression| {
        response_record(&head, Payload::File { path: &path, len }, compression, spool.path())
            .unwrap()
    });
    assert_eq!(fs::read_dir(spool.path()).unwrap().count(), 3);
    assert!(records[0].len() < records[1].len());
    let (places, lengths) = store(&mut segments, records.into());
    assert_eq!(fs::read_dir(spool.path()).unwrap().count(), 1, "spool files are removed");
    let segment = dir.path().join(warc_segment_name(1));
    assert_eq!(fs::metadata(&segment).unwrap().len(), lengths[0].1);

    for place in places {
        let mut reader = open_record(dir.path(), place).unwrap();
        assert_eq!((reader.payload_len(), reader.http_head()), (len, &http_head[..]));
        let mut hasher = PayloadHasher::new();
        let mut piece = vec![0; 1 << 16];
        loop {
            match reader.read(&mut piece).unwrap() {
                0 => break,
                n => hasher.update(&piece[..n]),
            }
        }
        assert_eq!(hasher.finish(), head.payload_digest);
    }
}

#[test]
fn a_payload_file_of_another_length_is_refused_and_leaves_nothing() {
    let spool = tempfile::tempdir().unwrap();
    let path = spool.path().join("body");
    fs::write(&path, b"12345").unwrap();
    let head = head("http://example.com/", NOON, b"HTTP/1.1 200 OK\r\n\r\n", b"12345");
    for len in [4, 6] {
        let payload = Payload::File { path: &path, len };
        let error = response_record(&head, payload, Compression::Level1, spool.path()).unwrap_err();
        assert!(matches!(error, ArchiveError::PayloadLength { .. }), "{error}");
    }
    assert_eq!(fs::read_dir(spool.path()).unwrap().count(), 1);
}

#[test]
fn a_damaged_record_is_an_error_that_names_the_place() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let body = noise(3, 2000);
    let (places, _) = store(&mut segments, vec![page("http://example.com/", NOON, &body)]);
    let path = dir.path().join(warc_segment_name(1));
    let sound = fs::read(&path).unwrap();
    let record = usize::try_from(places[0].offset).unwrap()..sound.len();
    for at in record.step_by(7) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x40;
        fs::write(&path, &bytes).unwrap();
        // Flag bits and times in the gzip header may change without harm to the content.
        match read_record(dir.path(), places[0]) {
            Ok(record) => assert_eq!(record.payload, body, "byte {at}"),
            Err(error) => assert!(error.to_string().contains("damaged at byte"), "{error}"),
        }
    }
}

#[test]
fn level_1_compresses_and_stored_does_not() {
    let body = b"<p>hello</p>".repeat(1000);
    let head = head("http://a.example/", NOON, b"HTTP/1.1 200 OK\r\n\r\n", &body);
    let [small, large] = [Compression::Level1, Compression::Stored].map(|compression| {
        response_record(&head, Payload::Memory(&body), compression, "unused".as_ref()).unwrap()
    });
    assert!(small.len() < 1000 && large.len() > 12_000, "{} {}", small.len(), large.len());
}

#[test]
fn equal_input_gives_equal_bytes() {
    let (Prepared::Bytes(a), Prepared::Bytes(b)) =
        (page("http://a.example/", NOON, b"x"), page("http://a.example/", NOON, b"x"))
    else {
        panic!("small records stay in memory")
    };
    assert_eq!(a, b);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn heads_and_payloads_survive(
        lines in proptest::collection::vec("[A-Za-z-]{1,12}: [ -~]{0,30}", 0..6),
        newline in "\r\n|\n",
        payload in proptest::collection::vec(any::<u8>(), 0..3000),
        stored: bool,
        time in 0i64..4_000_000_000_000,
    ) {
        let mut http_head = format!("HTTP/1.1 200 OK{newline}");
        for line in lines {
            http_head += &line;
            http_head += &newline;
        }
        http_head += &newline;
        let dir = tempfile::tempdir().unwrap();
        let compression = if stored { Compression::Stored } else { Compression::Level1 };
        let head = head("http://example.com/?q=%20", Time(time), http_head.as_bytes(), &payload);
        let record =
            response_record(&head, Payload::Memory(&payload), compression, dir.path()).unwrap();
        let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
        let (places, _) = store(&mut segments, vec![record]);
        let back = read_record(dir.path(), places[0]).unwrap();
        prop_assert_eq!(back.payload, payload);
        prop_assert_eq!(back.http_head, http_head.as_bytes());
    }
}
