//! Segments across crashes, full disks and size limits.
#![allow(clippy::unwrap_used)] // A panic is how a test fails.

mod support;

use argiope_archive::*;
use std::fs;
use std::path::Path;
use support::*;

fn open(dir: &Path, committed: &[(u32, u64)]) -> Result<Segments, ArchiveError> {
    Segments::open(dir, warc_kind(), committed, 1 << 30)
}

#[test]
fn an_unfinished_end_is_cut_wherever_the_crash_came() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(warc_segment_name(1));
    let mut segments = open(dir.path(), &[]).unwrap();
    let (kept, committed) = store(&mut segments, vec![page("http://a.example/", NOON, b"first")]);
    store(&mut segments, vec![page("http://a.example/2", NOON, b"second")]);
    drop(segments);
    let whole = fs::read(&path).unwrap();
    let committed_len = usize::try_from(committed[0].1).unwrap();
    for torn in committed_len..=whole.len() {
        fs::write(&path, &whole[..torn]).unwrap();
        let mut segments = open(dir.path(), &committed).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole[..committed_len], "torn at {torn}");
        let (again, lengths) =
            store(&mut segments, vec![page("http://a.example/2", NOON, b"second")]);
        assert_eq!(again[0].offset, committed[0].1);
        assert_eq!(lengths, [(1, whole.len() as u64)]);
        assert_eq!(read_record(dir.path(), kept[0]).unwrap().payload, b"first");
        assert_eq!(read_record(dir.path(), again[0]).unwrap().payload, b"second");
    }
}

#[test]
fn segments_the_store_never_heard_of_are_removed_and_foreign_files_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1).unwrap();
    let (_, first) = store(&mut segments, vec![page("http://a.example/", NOON, b"1")]);
    store(&mut segments, vec![page("http://a.example/", NOON, b"2")]);
    for foreign in ["notes.txt", "argiope-3.warc.gz", "argiope-00000x.warc.gz", "000009.text.zst"] {
        fs::write(dir.path().join(foreign), "mine").unwrap();
    }
    assert!(dir.path().join(warc_segment_name(2)).exists());
    open(dir.path(), &first).unwrap();
    assert!(dir.path().join(warc_segment_name(1)).exists());
    assert!(!dir.path().join(warc_segment_name(2)).exists());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5);
}

#[test]
fn a_missing_or_shortened_segment_is_an_error_with_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = open(dir.path(), &[]).unwrap();
    let (_, committed) = store(&mut segments, vec![page("http://a.example/", NOON, b"1")]);
    let path = dir.path().join(warc_segment_name(1));
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    let error = open(dir.path(), &committed).unwrap_err();
    assert!(matches!(error, ArchiveError::ShortSegment { found: 10, .. }), "{error}");
    assert!(error.to_string().contains("holds 10 bytes"), "{error}");
    fs::remove_file(&path).unwrap();
    let error = open(dir.path(), &committed).unwrap_err();
    assert!(matches!(error, ArchiveError::MissingSegment { .. }), "{error}");
}

#[test]
fn a_new_segment_begins_between_records_when_one_is_full() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 10_000).unwrap();
    let bodies: Vec<_> = (0..40).map(|n| noise(n, 1500)).collect();
    let records = bodies.iter().map(|body| page("http://a.example/", NOON, body)).collect();
    let (places, lengths) = store(&mut segments, records);
    assert!(lengths.len() > 4, "{lengths:?}");
    for (n, (segment, length)) in lengths.iter().enumerate() {
        assert_eq!(*segment as usize, n + 1);
        let path = dir.path().join(warc_segment_name(*segment));
        assert_eq!(fs::metadata(&path).unwrap().len(), *length);
        assert!(*length < 12_500);
        let first = WarcReader::new(fs::File::open(path).unwrap()).next().unwrap().unwrap();
        assert_eq!(first.headers.record_type(), "warcinfo");
        assert_eq!(first.headers.get("WARC-Filename"), Some(&*warc_segment_name(*segment)));
    }
    for (place, body) in places.iter().zip(&bodies) {
        assert_eq!(&read_record(dir.path(), *place).unwrap().payload, body);
    }
    assert_eq!(segments.lengths(), [], "each length is told once");

    let mut again = Segments::open(dir.path(), warc_kind(), &lengths, 1).unwrap();
    let (places, more) = store(&mut again, vec![page("http://a.example/", NOON, b"more")]);
    assert_eq!(places[0].segment, lengths.len() as u32 + 1);
    assert_eq!(more.len(), 1);
}

#[test]
fn numbers_given_by_somebody_else_may_have_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let small = |committed: &[(u32, u64)], numbers: Vec<u32>| {
        let mut numbers = numbers.into_iter();
        let next: NextNumber =
            Box::new(move || numbers.next().ok_or_else(|| "none is left".into()));
        Segments::open(dir.path(), warc_kind(), committed, 1).unwrap().numbered_by(next)
    };
    let mut segments = small(&[], vec![3, 8]);
    let (kept, mut committed) = store(&mut segments, vec![page("http://a.example/", NOON, b"1")]);
    let (_, more) = store(&mut segments, vec![page("http://a.example/", NOON, b"2")]);
    committed.extend(more);
    assert_eq!(committed.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [3, 8]);
    drop(segments);
    // A number that was taken and never committed is not used again.
    let mut segments = small(&committed, vec![20]);
    let (again, _) = store(&mut segments, vec![page("http://a.example/", NOON, b"3")]);
    assert_eq!(again[0].segment, 20);
    assert_eq!(read_record(dir.path(), kept[0]).unwrap().payload, b"1");
    let refused = segments.append(page("http://a.example/", NOON, b"4")).unwrap_err();
    assert!(refused.to_string().contains("number"), "{refused}");
    segments.rollback().unwrap();
    assert_eq!(read_record(dir.path(), again[0]).unwrap().payload, b"3");
}

#[test]
fn a_rollback_goes_back_to_the_last_sync() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 3000).unwrap();
    segments.append(page("http://a.example/", NOON, b"kept")).unwrap();
    segments.sync().unwrap();
    let before = fs::read(dir.path().join(warc_segment_name(1))).unwrap();
    for n in 0..10 {
        segments.append(page("http://a.example/", NOON, &noise(n, 1000))).unwrap();
    }
    assert!(dir.path().join(warc_segment_name(3)).exists());
    segments.rollback().unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    assert_eq!(fs::read(dir.path().join(warc_segment_name(1))).unwrap(), before);
    assert_eq!(segments.lengths(), [(1, before.len() as u64)]);
    let (places, lengths) = store(&mut segments, vec![page("http://a.example/", NOON, b"next")]);
    assert_eq!(places[0].offset, before.len() as u64);
    assert_eq!(lengths, [(1, places[0].offset + places[0].length)]);
    assert_eq!(read_record(dir.path(), places[0]).unwrap().payload, b"next");
}

#[test]
fn after_a_failed_write_nothing_is_taken_until_the_rollback() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), warc_kind(), &[], 1).unwrap();
    let (_, committed) = store(&mut segments, vec![page("http://a.example/", NOON, b"1")]);
    // A directory in the place of the next segment makes its creation fail.
    let next = dir.path().join(warc_segment_name(2));
    fs::create_dir(&next).unwrap();
    let error = segments.append(page("http://a.example/", NOON, b"2")).unwrap_err();
    assert!(error.to_string().starts_with("cannot create"), "{error}");
    for error in [
        segments.append(page("http://a.example/", NOON, b"2")).unwrap_err(),
        segments.sync().unwrap_err(),
    ] {
        assert!(matches!(error, ArchiveError::RollbackNeeded { .. }), "{error}");
    }
    fs::remove_dir(&next).unwrap();
    segments.rollback().unwrap();
    let (places, lengths) = store(&mut segments, vec![page("http://a.example/", NOON, b"2")]);
    assert_eq!((places[0].segment, lengths[0].0), (2, 2));
    assert_eq!(committed[0].0, 1);
}

#[test]
fn text_blobs_live_in_segments_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut segments = Segments::open(dir.path(), SegmentKind::Text, &[], 100).unwrap();
    let blobs: Vec<_> = (0..5)
        .map(|n| TextBlob { title: format!("Page {n}"), text: "word ".repeat(n), ..blob() })
        .collect();
    let records = blobs.iter().map(|blob| encode_text(blob).into()).collect();
    let (places, lengths) = store(&mut segments, records);
    assert!(lengths.len() > 1);
    for (place, blob) in places.iter().zip(&blobs) {
        assert_eq!(&read_text(dir.path(), *place).unwrap(), blob);
    }
    let mut wrong = places[0];
    wrong.offset += 1;
    let error = read_text(dir.path(), wrong).unwrap_err();
    assert!(error.to_string().contains("damaged at byte 1"), "{error}");
}

fn blob() -> TextBlob {
    TextBlob { parser_version: 3, language: Some("en".into()), ..Default::default() }
}
