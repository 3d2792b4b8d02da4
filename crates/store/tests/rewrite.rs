//! What was deleted and what is in the files: after the store is written anew, nothing is there
//! but its rows.
//!
//! Markers that no packing can shorten are put where pages leave their words: the ETag of a
//! capture, the packed links (long ones, which lie in files of their own), robots files. Files
//! are searched as they lie on disk while the store is closed: an open one may be moving its rows
//! from one file to the next.

#![allow(clippy::unwrap_used)]

#[path = "conformance/scene.rs"]
mod scene;

use argiope_store::{Batch, EmbeddedStore, Forget, UrlState};
use scene::*;
use std::fs;
use std::path::Path;

/// Sixteen letters that look like chance, the same every time.
fn marker(n: u64) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes()))
}

fn files_with(dir: &Path, words: &str) -> Vec<String> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files_with(&path, words));
        } else if fs::read(&path).unwrap().windows(words.len()).any(|w| w == words.as_bytes()) {
            out.push(path.display().to_string());
        }
    }
    out
}

const PAGES: u64 = 300;

/// A store of many pages, closed and opened in between so that journals, tables and blob files
/// all come to hold some of them.
fn filled(home: &mut Embedded) -> Vec<String> {
    let urls: Vec<String> = (0..PAGES).map(|n| format!("http://a.test/{n}")).collect();
    let refs: Vec<&str> = urls.iter().map(String::as_str).collect();
    give(home.store(), 0, vec![new_job(job(1))], vec![]);
    for (piece, some) in refs.chunks(100).enumerate() {
        let places = (piece as u64 * 100..).map(place);
        let found = some.iter().zip(places).map(|(u, at)| found(u, 1, 0, at)).collect();
        give(home.store(), 0, vec![], found);
    }
    let rows = window(home.store(), host("http://a.test/"), 1_000);
    for (piece, some) in rows.chunks(50).enumerate() {
        let pages = some.iter().map(|row| {
            let n: u64 = row.url.as_str().rsplit('/').next().unwrap().parse().unwrap();
            let mut page = fetched(row.clone(), n as i64 + 1);
            page.capture.as_mut().unwrap().etag = Some(marker(n).into());
            // Every second one is long enough for a file of its own.
            let times = if n.is_multiple_of(2) { 1 } else { 100 };
            page.links = Some(marker(n).repeat(times).into_bytes());
            page
        });
        finish(home.store(), piece as i64, pages.collect());
        if piece % 2 == 1 {
            home.reopen();
        }
    }
    urls
}

#[test]
fn after_it_is_written_anew_no_file_holds_what_was_deleted() {
    let mut home = Embedded::new();
    let urls = filled(&mut home);
    // What was written over is deleted too.
    home.rewrite();
    home.close();
    for n in 0..PAGES {
        assert!(!files_with(home.path(), &marker(n)).is_empty(), "page {n} is not there to find");
    }
    home.reopen();
    let gone: Vec<u64> = (0..PAGES).filter(|n| n % 3 != 0).collect();
    let keys = gone.iter().map(|n| key(&urls[*n as usize])).collect();
    let forget = Forget { urls: keys, ..Forget::default() };
    home.store().commit(Batch { forget, ..at(999) }).unwrap();
    let before = all_urls(home.store());
    home.rewrite();
    assert_eq!(all_urls(home.store()), before);
    check(home.store());
    let states: Vec<UrlState> = urls.iter().map(|url| row(home.store(), url).state).collect();
    home.close();
    for (n, state) in (0..PAGES).zip(states) {
        let found = files_with(home.path(), &marker(n));
        if gone.contains(&n) {
            assert_eq!((state, found), (UrlState::Forgotten, Vec::new()), "page {n}");
        } else {
            assert!(state == UrlState::Fetched && !found.is_empty(), "page {n}");
        }
    }
}

#[test]
fn a_kill_at_any_moment_of_writing_it_anew_loses_nothing() {
    let mut home = Embedded::new();
    filled(&mut home);
    let want = all_urls(home.store());
    let dir = home.path().to_owned();
    let (store, new, old) = (dir.join("store"), dir.join("store.new"), dir.join("store.old"));
    let opened = || {
        let opened = EmbeddedStore::open(&store, MEMORY).unwrap();
        assert_eq!(all_urls(&opened), want);
        assert!(!new.exists() && !old.exists(), "cleared up");
    };
    home.close();
    // While it was copied: the new one is half made.
    fs::create_dir(&new).unwrap();
    fs::write(new.join("half"), "half").unwrap();
    opened();
    // Copied, the old one out of the way.
    copy(&store, &new);
    fs::rename(&store, &old).unwrap();
    opened();
    // The new one in its place.
    copy(&store, &old);
    fs::write(old.join("older"), "older").unwrap();
    opened();
    // The old one out of the way and the new one gone: nobody's doing, and still all is there.
    fs::rename(&store, &old).unwrap();
    opened();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).unwrap()),
        }
    }
}
