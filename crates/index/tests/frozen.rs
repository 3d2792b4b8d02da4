//! An index written by format 1, kept in the tree: it must open and say what it said.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_index::{Index, Settings, View};
use scene::Scene;
use std::path::{Path, PathBuf};

const MAKE: &str = "ARGIOPE_INDEX_FREEZE";

fn frozen() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen/v1")
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
    scene.page("http://b.test/2", "Web", "A web of words");
    let mut index = scene.indexed(dir.path());
    index.settle().unwrap();
    drop(index.finish().unwrap());
    std::fs::create_dir_all(frozen()).unwrap();
    for entry in std::fs::read_dir(dir.path().join("index")).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().ends_with(".lock") {
            std::fs::copy(entry.path(), frozen().join(entry.file_name())).unwrap();
        }
    }
}

#[test]
fn an_index_of_format_1_is_read_and_written_on() {
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(frozen()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let check = |view: &View| {
        assert_eq!(view.size().unwrap().documents, 2);
        assert_eq!(view.watermarks().unwrap().iter().map(|(_, n)| n).sum::<u64>(), 2);
        assert_eq!(view.postings("email").unwrap()[0].positions, [4]);
        assert_eq!(view.postings("国人").unwrap()[0].positions, [8]);
        assert_eq!(view.postings("words").unwrap()[0].url, "http://b.test/2");
    };
    check(&View::open(copy.path()).unwrap());
    let mut index = Index::open(copy.path(), &Settings::default()).unwrap();
    check(&index.view());
    index.remove(index.view().postings("words").unwrap()[0].doc).unwrap();
    index.commit().unwrap();
    assert_eq!(index.view().size().unwrap().documents, 1);
}
