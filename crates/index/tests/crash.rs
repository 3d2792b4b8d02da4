//! `kill -9` at any moment: a child follows a store again and again and is killed; what it left
//! is opened, catches up, and must hold exactly the words of the texts, document by document.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_index::{Index, Settings};
use argiope_model::{Directives, DocId, Location, OutcomeKind, Time};
use argiope_store::{Ended, Store};
use scene::{SUFFIXES, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const CHILD: &str = "ARGIOPE_INDEX_CHILD";
const VISITS: u32 = 400;

/// The same history in parent and child; the texts are the same bytes at the same places.
fn history(dir: &Path) -> Scene {
    let mut scene = Scene::new(dir);
    for n in 0..VISITS {
        let url = format!("http://s{}.test/{}", n % 5, (n * 7) % 120);
        if n % 9 == 4 {
            let plain = Directives::default();
            scene.visit(&url, Ended::Broken, OutcomeKind::ClientError, None, false, plain);
        } else {
            scene.page(&url, "", &format!("all w{} v{}", n % 13, n));
        }
    }
    scene
}

/// The child: commits after every few rows, so that it is always writing or merging.
#[test]
fn a_child_that_follows_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let texts = tempfile::tempdir().unwrap();
    let scene = history(texts.path());
    let mut index = Index::open(&dir.join("index"), &Settings::default()).unwrap();
    loop {
        let links = &scene.told;
        let progress = index.catch_up(&scene, &scene.texts, &SUFFIXES, links, 5).unwrap();
        index.commit().unwrap();
        if progress.rows == 0 {
            break;
        }
    }
    std::fs::write(dir.join("done"), "").unwrap();
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_files(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn index_and_store_agree_after_a_kill_at_any_moment() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let texts = tempfile::tempdir().unwrap();
    let scene = history(texts.path());
    // What should be there: of every page its latest text, unless its last visit found none.
    let mut wanted: BTreeMap<DocId, Location> = BTreeMap::new();
    for (key, row) in &scene.urls {
        let captures = scene.captures(*key).unwrap();
        if let Some(text) = captures.last().unwrap().text {
            wanted.insert(row.doc, text);
        }
    }
    // And of every page each text that another took the place of, or that went.
    let mut ended: BTreeSet<(DocId, Time, Time, Location)> = BTreeSet::new();
    for (key, row) in &scene.urls {
        let captures = scene.captures(*key).unwrap();
        for pair in captures.windows(2) {
            if let Some(text) = pair[0].text {
                ended.insert((row.doc, pair[0].time, pair[1].time, text));
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut kills, mut wait) = (0, 150);
    while kills < 12 && !dir.path().join("done").exists() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_child_that_follows_until_it_is_killed"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        wait += 37;
        if !dir.path().join("index").exists() {
            continue;
        }
        // As the next start would find it, without writing anything that is not its own.
        let copy = tempfile::tempdir().unwrap();
        copy_files(&dir.path().join("index"), copy.path());
        let mut index = Index::open(copy.path(), &Settings::default()).unwrap();
        scene.catch_up(&mut index);
        index.commit().unwrap();
        let view = index.view();
        let mut found = BTreeMap::new();
        view.each_document(|doc, location| {
            assert_eq!(found.insert(doc, location), None, "{doc} is there twice");
        })
        .unwrap();
        assert_eq!(found, wanted, "after kill {kills}");
        let mut past = BTreeSet::new();
        view.each_past(|doc, held| {
            let version = (doc, held.from, held.until.unwrap(), held.location);
            assert!(past.insert(version), "{doc} of {} is there twice", held.from);
        })
        .unwrap();
        assert_eq!(past, ended, "after kill {kills}");
        let all = view.postings("all").unwrap();
        assert!(all.iter().all(|posting| posting.positions == [1]));
        assert_eq!(all.len(), wanted.len(), "after kill {kills}");
    }
    assert!(kills >= 3, "it was killed in the middle of its work, {kills} times");
}
