//! Indexes of earlier days, kept in the tree: one of this format must open and say what it said, older
//! ones are told from damage and made again.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_index::{Index, IndexError, Settings, View};
use scene::Scene;
use std::path::{Path, PathBuf};

const MAKE: &str = "ARGIOPE_INDEX_FREEZE";

fn frozen() -> PathBuf {
    sample("v3")
}

fn sample(format: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen").join(format)
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &to);
        } else if !entry.file_name().to_string_lossy().ends_with(".lock") {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// How the sample was made: with the variable set, into the tree.
#[test]
fn the_sample_is_made_on_demand() {
    if std::env::var_os(MAKE).is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "Garden spider", "The garden spider's e-mail about 中国人");
    scene.page("http://b.test/2", "Web", "A web of threads");
    scene.page("http://b.test/2", "Web", "A web of words");
    let mut index = scene.indexed(dir.path());
    index.settle().unwrap();
    drop(index.finish().unwrap());
    copied(&dir.path().join("index"), &frozen());
}

#[test]
fn an_index_of_format_3_is_read_and_written_on() {
    let copy = tempfile::tempdir().unwrap();
    copied(&frozen(), copy.path());
    let check = |view: &View| {
        assert_eq!(view.size().unwrap().documents, 2);
        assert_eq!(view.watermarks().unwrap().iter().map(|(_, n)| n).sum::<u64>(), 3);
        assert_eq!(view.postings("email").unwrap()[0].positions, [4]);
        assert_eq!(view.postings("国人").unwrap()[0].positions, [8]);
        assert_eq!(view.postings("words").unwrap()[0].url, "http://b.test/2");
        assert!(view.postings("threads").unwrap().is_empty());
        let mut past = Vec::new();
        view.each_past(|_, held| past.push((held.from.0, held.until.unwrap().0))).unwrap();
        assert_eq!(past, [(2_000, 3_000)]);
    };
    check(&View::open(copy.path()).unwrap());
    let mut index = Index::open(copy.path(), &Settings::default()).unwrap();
    check(&index.view());
    index.remove(index.view().postings("words").unwrap()[0].doc).unwrap();
    index.commit().unwrap();
    assert_eq!(index.view().size().unwrap().documents, 1);
}

#[test]
fn an_older_index_is_told_from_a_newer_one_and_made_again() {
    for format in ["v1", "v2"] {
        let copy = tempfile::tempdir().unwrap();
        copied(&sample(format), copy.path());
        let error = View::open(copy.path()).err().unwrap();
        assert!(error.to_string().contains("an older Argiope made it"), "{error}");
        assert!(matches!(error, IndexError::Damaged { .. }), "{error:?}");
        assert!(Index::open(copy.path(), &Settings::default()).is_err());
        let index = Index::rebuild(copy.path(), &Settings::default()).unwrap();
        assert_eq!(index.view().size().unwrap().documents, 0);
    }
}
