//! The files of a directory of segments: their names, and what is done to them at open.
//!
//! Its place: `segments` writes through this, `open` and `text` find files by these names.
//! Invariant: only files that carry a segment's name are ever cut or removed.

use crate::ArchiveError;
use argiope_model::Time;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// What a directory of segments holds.
#[derive(Clone, Debug)]
pub enum SegmentKind {
    /// WARC records, in `argiope-000001.warc.gz` and so on.
    Warc {
        /// What each segment says about its making.
        info: WarcInfo,
    },
    /// Text blobs, in `000001.text.zst` and so on.
    Text,
}

/// What the `warcinfo` record at the head of each segment says.
#[derive(Clone, Debug, Default)]
pub struct WarcInfo {
    /// Name and version of the program: `argiope/0.1.0`.
    pub software: String,
    /// When the writer was opened; [`crate::Segments::set_time`] moves it on.
    pub time: Time,
    /// Further fields: `robots`, `http-header-user-agent`, `operator` …
    pub fields: Vec<(String, String)>,
}

/// File name of a WARC segment.
pub fn warc_segment_name(segment: u32) -> String {
    format!("argiope-{segment:06}.warc.gz")
}

/// File name of a text segment.
pub fn text_segment_name(segment: u32) -> String {
    format!("{segment:06}.text.zst")
}

impl SegmentKind {
    pub(crate) fn name(&self, segment: u32) -> String {
        match self {
            SegmentKind::Warc { .. } => warc_segment_name(segment),
            SegmentKind::Text => text_segment_name(segment),
        }
    }

    /// The number in a file name that this kind would give; `None` for foreign files.
    fn number(&self, name: &str) -> Option<u32> {
        let digits = match self {
            SegmentKind::Warc { .. } => name.strip_prefix("argiope-")?.strip_suffix(".warc.gz")?,
            SegmentKind::Text => name.strip_suffix(".text.zst")?,
        };
        let number = digits.parse().ok()?;
        (self.name(number) == name).then_some(number)
    }
}

/// Cuts a segment to its committed length.
pub(crate) fn cut(path: &Path, committed: u64) -> Result<(), ArchiveError> {
    let found = match fs::metadata(path) {
        Ok(meta) => meta.len(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(ArchiveError::MissingSegment { path: path.to_owned(), committed });
        }
        Err(e) => return Err(ArchiveError::io("look at", path)(e)),
    };
    if found < committed {
        return Err(ArchiveError::ShortSegment { path: path.to_owned(), committed, found });
    }
    if found > committed {
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| {
                file.set_len(committed)?;
                file.sync_data()
            })
            .map_err(ArchiveError::io("cut the unfinished end of", path))?;
    }
    Ok(())
}

/// Removes segments that were begun after the last commit.
pub(crate) fn remove_later(dir: &Path, kind: &SegmentKind, last: u32) -> Result<(), ArchiveError> {
    for entry in fs::read_dir(dir).map_err(ArchiveError::io("list", dir))? {
        let entry = entry.map_err(ArchiveError::io("list", dir))?;
        let number = entry.file_name().to_str().and_then(|name| kind.number(name));
        if number.is_some_and(|number| number > last) {
            let path = entry.path();
            fs::remove_file(&path).map_err(ArchiveError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Makes new names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), ArchiveError> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(ArchiveError::io("sync directory", dir))
}
