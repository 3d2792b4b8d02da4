//! The pages of a copy: segment files, linked where that is safe, else copied.
//!
//! A segment that is full is never written again but to blank what is forgotten, and that unties it
//! first (`archive`): both places may share its bytes. The last one of its kind in a directory is
//! still written to: it is copied, and only as far as the store knows it.

use super::problem::{CopyError, io_error};
use crate::data_dir::{news_dir, receipts_dir, text_dir, warc_dir};
use argiope_archive::{text_segment_name, warc_segment_name};
use argiope_store::SegmentKind;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A segment and where it lies.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub kind: SegmentKind,
    pub number: u32,
    pub length: u64,
    /// The directory of the crawl or the worker that it lies in.
    pub home: PathBuf,
    /// Somebody may still write to it.
    pub last: bool,
}

impl Segment {
    fn path_in(&self, home: &Path) -> PathBuf {
        match self.kind {
            SegmentKind::Warc => warc_dir(home).join(warc_segment_name(self.number)),
            SegmentKind::Text => text_dir(home).join(text_segment_name(self.number)),
        }
    }

    /// Makes sure that all that is known of it is there.
    pub fn check(&self) -> Result<(), CopyError> {
        let path = self.path_in(&self.home);
        let found = match fs::metadata(&path) {
            Ok(meta) if meta.len() >= self.length => return Ok(()),
            Ok(meta) => format!("has {} bytes", meta.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => "is missing".to_owned(),
            Err(e) => return Err(io_error("read", &path)(e)),
        };
        Err(CopyError::Segment { path, wanted: self.length, found })
    }

    /// Puts it into another directory; says whether it had to be copied.
    pub fn put(&self, to: &Path) -> Result<bool, CopyError> {
        self.check()?;
        let (from, to) = (self.path_in(&self.home), self.path_in(to));
        let whole = fs::metadata(&from).is_ok_and(|meta| meta.len() == self.length);
        if whole && !self.last && link(&from, &to) {
            return Ok(false);
        }
        let source = File::open(&from).map_err(io_error("read", &from))?;
        let mut copy = File::create(&to).map_err(io_error("write", &to))?;
        let copied = io::copy(&mut source.take(self.length), &mut copy);
        copied.and_then(|_| copy.sync_all()).map_err(io_error("write", &to))?;
        Ok(true)
    }
}

/// A name for what a symbolic link leads to, not for the link itself.
fn link(from: &Path, to: &Path) -> bool {
    let from = fs::canonicalize(from).unwrap_or_else(|_| from.to_owned());
    fs::hard_link(from, to).is_ok()
}

/// Marks the last of each kind in each directory.
pub(super) fn mark_last(segments: &mut [Segment]) {
    let mut last: BTreeMap<(PathBuf, SegmentKind), u32> = BTreeMap::new();
    for one in segments.iter() {
        let seen = last.entry((one.home.clone(), one.kind)).or_default();
        *seen = one.number.max(*seen);
    }
    for one in segments {
        one.last = last.get(&(one.home.clone(), one.kind)) == Some(&one.number);
    }
}

/// What was done about files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Put {
    pub linked: u64,
    pub copied: u64,
    pub bytes: u64,
}

/// Puts segments into a directory, synced; `tell` hears of each.
pub(super) fn put_all(
    segments: &[Segment],
    to: &Path,
    mut tell: impl FnMut(&Put),
) -> Result<Put, CopyError> {
    for dir in [warc_dir(to), text_dir(to)] {
        fs::create_dir_all(&dir).map_err(io_error("make the directory", &dir))?;
    }
    let mut done = Put::default();
    for segment in segments {
        tell(&done);
        match segment.put(to)? {
            true => done.copied += 1,
            false => done.linked += 1,
        }
        done.bytes += segment.length;
    }
    for dir in [warc_dir(to), text_dir(to)] {
        sync(&dir)?;
    }
    Ok(done)
}

/// Copies what nobody can make again: the receipts of what was forgotten, the sites whose news are followed and what their
/// reader has.
pub(super) fn put_own(from: &Path, to: &Path) -> Result<(), CopyError> {
    for name in ["sites.toml", "removed.toml", "reader.json"] {
        let (from, to) = (news_dir(from), news_dir(to));
        if from.join(name).exists() {
            fs::create_dir_all(&to).map_err(io_error("make the directory", &to))?;
            put_file(&from.join(name), &to.join(name))?;
        }
    }
    let (from, to) = (receipts_dir(from), receipts_dir(to));
    let Ok(listing) = fs::read_dir(&from) else { return Ok(()) };
    for entry in listing.flatten() {
        fs::create_dir_all(&to).map_err(io_error("make the directory", &to))?;
        put_file(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Copies one small file, synced.
pub(super) fn put_file(from: &Path, to: &Path) -> Result<(), CopyError> {
    fs::copy(from, to).map_err(io_error("copy", from))?;
    sync(to)
}

/// Makes a file, or the names in a directory, durable.
pub(super) fn sync(path: &Path) -> Result<(), CopyError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(io_error("sync", path))
}
