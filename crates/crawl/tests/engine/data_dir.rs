//! Data directories as they are found: new, foreign, damaged, from the future.

use crate::support::{Place, now};
use argiope_crawl::{Access, DataDir, DataDirError};
use std::error::Error;
use std::fs;
use std::path::Path;

fn own(path: &Path) -> Result<DataDir, DataDirError> {
    DataDir::open(path, Access::Own, now())
}

/// The failure and its causes as a person reads them.
fn sentence(path: &Path) -> String {
    let failure = own(path).expect_err("it cannot be used");
    let mut text = failure.to_string();
    let mut cause = failure.source();
    while let Some(e) = cause {
        text.push_str(&format!(": {e}"));
        cause = e.source();
    }
    text
}

#[test]
fn a_directory_is_made_once_and_found_again() {
    let place = Place::new();
    let first = own(&place.path.join("a/b")).expect("made").manifest().clone();
    let again = own(&place.path.join("a/b")).expect("found");
    assert_eq!(again.manifest(), &first);
    assert!(again.path().join("suffixes.dat").exists());
}

#[test]
fn visitors_make_nothing() {
    let place = Place::new();
    let missing = DataDir::open(&place.path, Access::Visit, now()).expect_err("nothing there");
    assert!(matches!(missing, DataDirError::Missing(_)));
    assert!(!place.path.exists());
}

#[test]
fn a_file_and_a_strange_directory_are_refused_and_left_as_they_are() {
    let place = Place::new();
    fs::write(&place.path, "a file").unwrap();
    assert!(sentence(&place.path).contains("is a file, not a directory"));
    assert!(sentence(&place.path.join("below")).contains("cannot make the directory"));
    assert_eq!(fs::read_to_string(&place.path).unwrap(), "a file");
    fs::remove_file(&place.path).unwrap();
    fs::create_dir(&place.path).unwrap();
    fs::write(place.path.join("thesis.tex"), "years").unwrap();
    assert!(sentence(&place.path).contains("holds files but no crawl"));
    assert_eq!(fs::read_dir(&place.path).unwrap().count(), 1, "nothing was written");
}

#[test]
fn a_start_that_was_killed_can_be_repeated() {
    let place = Place::new();
    fs::create_dir(&place.path).unwrap();
    for left in ["lock", "argiope.toml", "suffixes.dat.part", "suffixes.dat", "manifest.json.part"]
    {
        fs::write(place.path.join(left), "ha").unwrap();
        let dir = own(&place.path).unwrap_or_else(|e| panic!("{left}: {e}"));
        assert_eq!(dir.suffixes().site_of("a.b.co.uk"), "b.co.uk");
        drop(dir);
        fs::remove_file(place.path.join("manifest.json")).unwrap();
    }
}

#[test]
fn damage_and_the_future_are_told_in_a_sentence() {
    let place = Place::new();
    drop(own(&place.path).unwrap());
    let manifest = place.path.join("manifest.json");
    let whole = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, &whole[..whole.len() / 2]).unwrap();
    assert!(sentence(&place.path).contains("manifest.json is damaged"));
    fs::write(&manifest, "").unwrap();
    assert!(sentence(&place.path).contains("manifest.json is damaged"));
    fs::write(&manifest, r#"{"format": 99, "anything": true}"#).unwrap();
    assert!(sentence(&place.path).contains("made by a newer Argiope"));
    fs::write(&manifest, &whole).unwrap();
    fs::write(place.path.join("suffixes.dat"), [0xff, 0xfe, 0]).unwrap();
    assert!(sentence(&place.path).contains("suffixes.dat"));
    fs::remove_file(place.path.join("suffixes.dat")).unwrap();
    assert!(sentence(&place.path).contains("cannot read"));
    assert_eq!(fs::read_to_string(&manifest).unwrap(), whole);
}

#[cfg(unix)]
#[test]
fn an_unwritable_directory_is_told_in_a_sentence() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::create_dir(&place.path).unwrap();
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may write everywhere is not refused.
    if fs::write(place.path.join("lock"), "").is_err() {
        assert!(sentence(&place.path).contains("cannot write"));
    }
    fs::set_permissions(&place.path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_archive_of_a_worker_belongs_to_one_fleet_and_keeps_its_name() {
    let place = Place::new();
    let member = |fleet| DataDir::take_seat(&place.path, None, fleet, now());
    let (dir, name) = member(7).expect("a new one");
    let (second, other) = member(7).expect("a second seat");
    assert!(other != name && second.path() != dir.path());
    drop(second);
    assert_eq!(member(7).expect("the second again").1, other);
    let number = dir.suffix_number().expect("a list");
    dir.agrees(number).expect("its own list");
    let other = dir.agrees(number + 1).expect_err("another list").to_string();
    assert!(other.contains("public suffixes"), "{other}");
    drop(dir);
    assert_eq!(member(7).expect("the same again").1, name);
    let refused = member(8).expect_err("another fleet's store would cut it").to_string();
    assert!(refused.contains("another fleet"), "{refused}");
    let refused = own(&place.path).expect_err("its store is elsewhere").to_string();
    assert!(refused.contains("--store"), "{refused}");
}

#[test]
fn a_crawl_of_its_own_does_not_become_a_workers_archive() {
    let place = Place::new();
    drop(own(&place.path).expect("a new one"));
    std::fs::create_dir(place.path.join("store")).expect("as the store does");
    let refused = DataDir::take_seat(&place.path, None, 7, now());
    let refused = refused.expect_err("it has a store").to_string();
    assert!(refused.contains("--archive"), "{refused}");
    own(&place.path).expect("and is what it was");
}
