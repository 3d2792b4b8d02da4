//! Segments that lie in other folders.
//!
//! * What this is: a folder of segments may hold a file `elsewhere`, a line for each place where further
//!   segments are to be found. Whoever reads the pages of a fleet keeps such a folder: the segments
//!   themselves lie with the workers, each in a place of its own, and no two have the same name.
//! * A place is a directory with a folder of the same name in it (`PLACE/warc`), or with directories
//!   that have one (`PLACE/worker-1/warc`). What was found once is linked, so that it is not looked
//!   for again, and is looked for again when the link leads nowhere.
//! * Invariant: nothing in such a place is ever written.

use crate::ArchiveError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Lists the places, in a folder of segments.
const LIST: &str = "elsewhere";

/// Says where further segments of a folder are to be found.
pub fn look_elsewhere(dir: &Path, places: &[PathBuf]) -> Result<(), ArchiveError> {
    let list = dir.join(LIST);
    let lines: String = places.iter().map(|place| format!("{}\n", place.display())).collect();
    if fs::read_to_string(&list).is_ok_and(|before| before == lines) {
        return Ok(());
    }
    let part = dir.join(format!("{LIST}.part"));
    let write = || {
        fs::create_dir_all(dir)?;
        let mut file = File::create(&part)?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, &list)
    };
    write().map_err(ArchiveError::io("write", &list))
}

/// Opens a segment, wherever it lies.
pub fn open_segment(dir: &Path, name: &str) -> io::Result<File> {
    match File::open(dir.join(name)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => match find(dir, name) {
            Some(path) => File::open(path),
            None => Err(e),
        },
        opened => opened,
    }
}

/// Looks for a segment in the places of a folder, and remembers where it is.
fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let list = fs::read_to_string(dir.join(LIST)).ok()?;
    let kind = dir.file_name()?;
    let here = fs::canonicalize(dir).ok()?;
    let held = |place: &Path| {
        let folder = fs::canonicalize(place.join(kind)).ok()?;
        let path = folder.join(name);
        (folder != here && path.is_file()).then_some(path)
    };
    let found = list.lines().map(Path::new).find_map(|place| {
        let below = || fs::read_dir(place).ok()?.flatten().find_map(|entry| held(&entry.path()));
        held(place).or_else(below)
    })?;
    remember(&found, &dir.join(name));
    Some(found)
}

/// A link saves looking again; without one it is looked for again.
fn remember(found: &Path, link: &Path) {
    if fs::symlink_metadata(link).is_ok_and(|meta| meta.is_symlink()) {
        let _ = fs::remove_file(link);
    }
    let _ = std::os::unix::fs::symlink(found, link);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn read(dir: &Path, name: &str) -> io::Result<String> {
        let mut text = String::new();
        open_segment(dir, name)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn put(dir: &Path, name: &str) {
        fs::create_dir_all(dir).unwrap();
        fs::write(dir.join(name), dir.display().to_string()).unwrap();
    }

    #[test]
    fn a_segment_is_found_wherever_it_lies_and_after_it_was_moved() {
        let place = tempfile::tempdir().unwrap();
        let (first, second) = (place.path().join("a/text"), place.path().join("b/one/text"));
        put(&first, "1");
        put(&second, "2");
        put(&place.path().join("b/one/warc"), "3");
        let reader = place.path().join("reader/text");
        let roots = [place.path().join("a"), place.path().join("b")];
        look_elsewhere(&reader, &roots).unwrap();
        assert_eq!(read(&reader, "1").unwrap(), first.display().to_string());
        assert_eq!(read(&reader, "2").unwrap(), second.display().to_string());
        assert_eq!(read(&reader, "3").unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::rename(place.path().join("b/one"), place.path().join("b/two")).unwrap();
        assert_eq!(read(&reader, "2").unwrap(), second.display().to_string());
    }

    #[test]
    fn a_reader_inside_a_place_finds_the_segments_beside_it() {
        let place = tempfile::tempdir().unwrap();
        let held = place.path().join("worker-1/text");
        put(&held, "1");
        let reader = place.path().join("text");
        look_elsewhere(&reader, &[place.path().to_owned()]).unwrap();
        assert_eq!(read(&reader, "1").unwrap(), held.display().to_string());
        fs::remove_file(held.join("1")).unwrap();
        assert!(read(&reader, "1").is_err(), "a link to itself");
    }
}
