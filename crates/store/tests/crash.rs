//! What a crash leaves: the files as they are when a commit has returned, without a clean end.
//!
//! The store stays open while its directory is copied, so nothing that closing would write is
//! in the copy: this is what the next start finds after `kill -9`.

#![allow(clippy::unwrap_used)]

#[path = "conformance/scene.rs"]
mod scene;

use argiope_frontier::{HostNote, Refill};
use argiope_model::Time;
use argiope_store::{Batch, EmbeddedStore, HostRow, JobRow, SegmentKind, Store, UrlRow};
use scene::*;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Opens the copy of a store that is still open.
fn after_crash(path: &Path) -> (tempfile::TempDir, EmbeddedStore) {
    let dir = tempfile::tempdir().unwrap();
    copy(path, &dir.path().join("store"));
    let store = EmbeddedStore::open(&dir.path().join("store"), MEMORY).unwrap();
    (dir, store)
}

type Seen = (Vec<(argiope_model::UrlKey, UrlRow)>, Vec<HostRow>, Vec<JobRow>, Vec<(u32, u64)>);

fn seen(store: &dyn Store) -> Seen {
    let hosts = store.scan_hosts(None, usize::MAX).unwrap();
    let hosts = hosts.into_iter().map(|(_, h)| h).collect();
    (all_urls(store), hosts, store.jobs().unwrap(), store.segments(SegmentKind::Warc).unwrap())
}

#[test]
fn everything_acknowledged_is_there_after_a_crash_at_any_commit() {
    let home = Embedded::new();
    let path = home.path().join("store");
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![found("http://h0.test/0", 1, 0, place(0))]);
    let mut rows = claim_rows(store, 0);
    for n in 1..=12u64 {
        let entry = rows.remove(0);
        let mut page = fetched(entry.clone(), n as i64);
        page.links = Some(vec![n as u8; 2_000]);
        let found = (0..20).map(|i| {
            let u = format!("http://h{}.test/{n}/{i}", i % 3);
            found(&u, 1, n as u16, place(n * 100 + i))
        });
        let batch = Batch {
            pages: vec![page],
            discoveries: found.collect(),
            segments: vec![(SegmentKind::Warc, 1, n * 1_000)],
            next_page: n,
            robots: vec![(entry.key.host, robots(n as i64, 600))],
            notes: vec![HostNote {
                host: entry.key.host,
                not_before: Time(n as i64 * 1_000),
                temper: temper(n as u32),
            }],
            claims: ALL,
            ..at(n as i64)
        };
        let told = store.commit(batch).unwrap();
        rows.extend(told.queued);
        rows.extend(told.claimed.into_iter().flat_map(|w| w.entries));
        let (_dir, found_again) = after_crash(&path);
        assert_eq!(seen(&found_again), seen(store), "after commit {n}");
        let links = found_again.links(&[entry.key]).unwrap();
        assert_eq!(links, [Some(vec![n as u8; 2_000])]);
        let refills = vec![Refill { host: entry.key.host, after: None, limit: 1 }];
        let window = found_again.commit(Batch { refills, ..at(0) }).unwrap().refills.remove(0);
        assert_eq!((window.not_before, window.temper), (Time(n as i64 * 1_000), temper(n as u32)));
        assert_eq!(window.robots, Some(robots(n as i64, 600)));
        assert_eq!(found_again.next_page().unwrap(), n.max(1));
        check(&found_again);
    }
}

#[test]
fn everything_is_there_when_much_was_written_out_and_much_was_not() {
    let home = Embedded::new();
    let path = home.path().join("store");
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![]);
    // Enough for tables to be written out while others are being filled.
    for n in 0..60u64 {
        let found = (0..300).map(|i| {
            let u = format!("http://h{}.test/a-rather-long-path/{n}/{i}", i % 7);
            found(&u, 1, 1, place(n * 1_000 + i))
        });
        give(store, n as i64, vec![], found.collect());
    }
    let (_dir, found_again) = after_crash(&path);
    assert_eq!(all_urls(&found_again).len(), 60 * 300);
    assert_eq!(seen(&found_again), seen(store));
}

#[test]
fn a_commit_torn_by_a_crash_leaves_the_one_before() {
    let home = Embedded::new();
    let path = home.path().join("store");
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![found("http://a.test/1", 1, 0, place(1))]);
    let (before, one) = (seen(store), std::fs::read(journal(&path)).unwrap());
    let many = (0..40).map(|n| found(&format!("http://b.test/{n}"), 1, 1, place(n)));
    give(store, 1, vec![], many.collect());
    let (after, two) = (seen(store), std::fs::read(journal(&path)).unwrap());
    let used = |bytes: &[u8]| bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
    let (start, end) = (used(&one), used(&two));
    assert!(end > start + 1_000, "the second commit is in the journal");
    for (cut, want) in [(start, &before), (start + 9, &before), (end - 9, &before), (end, &after)] {
        for padded in [true, false] {
            let dir = tempfile::tempdir().unwrap();
            let torn = dir.path().join("store");
            copy(&path, &torn);
            let mut bytes = two[..cut].to_vec();
            bytes.resize(if padded { two.len() } else { cut }, 0);
            std::fs::write(journal(&torn), bytes).unwrap();
            let store = EmbeddedStore::open(&torn, MEMORY).unwrap();
            assert_eq!(seen(&store), *want, "cut at {cut} of {start}..{end}, padded {padded}");
            check(&store);
        }
    }
}

/// The journal being written.
fn journal(path: &Path) -> std::path::PathBuf {
    let files = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path());
    files.filter(|f| f.extension().is_some_and(|e| e == "jnl")).max().expect("there is a journal")
}

#[test]
fn a_second_opener_is_refused_with_a_sentence() {
    let home = Embedded::new();
    let second = EmbeddedStore::open(&home.path().join("store"), MEMORY);
    let refused = second.err().expect("one owner").to_string();
    assert!(refused.contains("in use by another process"), "{refused}");
}
