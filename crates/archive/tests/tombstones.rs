//! Removing records and texts in place.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use argiope_model::Location;
use std::fs;
use std::io::Read;
use support::*;

fn bodies() -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> =
        (0..20).map(|n| format!("<p>the words of page {n}.").into_bytes()).collect();
    out.push(b"much of the same ".repeat(9_000));
    out.push(noise(7, 200_000));
    out.push(Vec::new());
    out
}

#[test]
fn a_removed_record_leaves_nothing_of_itself_and_its_neighbours_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let bodies = bodies();
    let url = |n: usize| format!("http://a.example/{n}");
    let records = (0..bodies.len()).map(|n| page(&url(n), NOON, &bodies[n])).collect();
    let (places, _) = store(&mut segments, records);
    drop(segments);
    let path = dir.path().join(warc_segment_name(1));
    let before = fs::read(&path).unwrap();
    let gone: Vec<Location> = places.iter().copied().skip(1).step_by(2).collect();
    blank_records(dir.path(), &gone, NOON).unwrap();
    let after = fs::read(&path).unwrap();
    assert_eq!(before.len(), after.len());
    for at in &places {
        let (from, to) = (at.offset as usize, (at.offset + at.length) as usize);
        assert_eq!(before[from..to] == after[from..to], !gone.contains(at));
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(&after[..]).read_to_end(&mut plain).unwrap();
    let holds = |words: &[u8]| plain.windows(words.len()).any(|w| w == words);
    for n in 0..20 {
        let kept = n % 2 == 0;
        assert_eq!(holds(format!("words of page {n}.").as_bytes()), kept, "{n}");
        assert_eq!(holds(format!("http://a.example/{n}\r\n").as_bytes()), kept, "{n}");
    }
    assert!(holds(b"much of the same") && !holds(&bodies[21][..16]));
    let all: Vec<WarcEntry> = WarcReader::new(&after[..]).map(Result::unwrap).collect();
    assert_eq!(all.len(), 1 + places.len());
    let tombs: Vec<u64> =
        all.iter().filter(|e| is_tombstone(&e.headers)).map(|e| e.offset).collect();
    assert_eq!(tombs, gone.iter().map(|at| at.offset).collect::<Vec<_>>());
    // A second time, as after a crash, it is done already.
    blank_records(dir.path(), &gone, NOON).unwrap();
    assert_eq!(fs::read(&path).unwrap(), after);
}

#[test]
fn a_removed_text_leaves_nothing_and_the_others_are_read_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), SegmentKind::Text, &[], 1 << 30).unwrap();
    let text = |n: usize| TextBlob { text: format!("the words of page {n}"), ..Default::default() };
    let records = (0..4).map(|n| Prepared::Bytes(encode_text(&text(n)))).collect();
    let (places, _) = store(&mut segments, records);
    drop(segments);
    blank_texts(dir.path(), &[places[3], places[1]]).unwrap();
    blank_texts(dir.path(), &[places[1]]).unwrap();
    for n in [0, 2] {
        assert_eq!(read_text(dir.path(), places[n]).unwrap(), text(n));
    }
    assert!(read_text(dir.path(), places[1]).is_err());
    let file = fs::read(dir.path().join(text_segment_name(1))).unwrap();
    let plain = zstd::stream::decode_all(&file[..]).unwrap();
    let plain = String::from_utf8_lossy(&plain);
    assert!(plain.contains("page 0") && plain.contains("page 2"));
    assert!(!plain.contains("page 1") && !plain.contains("page 3"));
    assert!(!file.windows(6).any(|w| w == b"page 1" || w == b"page 3"));
}

#[test]
fn what_lies_outside_of_the_file_changes_nothing_and_damage_does_not_protect_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1 << 30).unwrap();
    let records = ["http://a.example/1", "http://a.example/2"].map(|u| page(u, NOON, b"words"));
    let (places, _) = store(&mut segments, records.into());
    drop(segments);
    let path = dir.path().join(warc_segment_name(1));
    let mut before = fs::read(&path).unwrap();
    let beyond = Location { length: places[1].length + 1, ..places[1] };
    let elsewhere = Location { segment: 9, ..places[0] };
    let short = Location { length: 7, ..places[0] };
    for wrong in [vec![places[0], beyond], vec![elsewhere], vec![places[1], short]] {
        assert!(blank_records(dir.path(), &wrong, NOON).is_err());
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    before[places[0].offset as usize] = 0;
    fs::write(&path, &before).unwrap();
    blank_records(dir.path(), &[places[0]], NOON).unwrap();
    let after = fs::read(&path).unwrap();
    let all: Vec<WarcEntry> = WarcReader::new(&after[..]).map(Result::unwrap).collect();
    assert_eq!(all.len(), 3);
    assert!(is_tombstone(&all[1].headers) && !is_tombstone(&all[2].headers));
}
