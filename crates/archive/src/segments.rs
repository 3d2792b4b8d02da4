//! Numbered files that only grow at their end: the archive and the text store.
//!
//! * Its place: one thread of `crawl` owns a [`Segments`] per store; the store's batch carries
//!   what [`Segments::lengths`] returns.
//! * States: records are appended (in a buffer or written), then synced, then committed by the
//!   store. A failed write leaves the end unknown: nothing more is taken until a rollback to the
//!   last sync.
//! * Invariants: a record lies in one segment; a new segment begins only between records;
//!   segments are numbered from 1 without gaps, unless somebody else gives the numbers; every WARC segment opens with a `warcinfo` record.
//! * What is not here: locking (the owner of the data directory is alone) and reading (`open`).

use crate::ArchiveError;
use crate::prepared::Prepared;
use crate::record::warcinfo_record;
use crate::segment_files::{SegmentKind, cut, remove_later, sync_dir};
use argiope_model::{Location, Time};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Records wait in memory until this many bytes are together.
const BUFFER_BYTES: usize = 256 << 10;

/// A place in the sequence of segments: all of the earlier ones and so much of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct End {
    segment: u32,
    length: u64,
}

/// Gives the number of the next segment, larger than all before, where several writers share them.
pub type NextNumber = Box<dyn FnMut() -> Result<u32, Box<dyn Error + Send + Sync>> + Send + Sync>;

struct Numbers(NextNumber);

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Numbers")
    }
}

/// The writing side of a directory of segments.
#[derive(Debug)]
pub struct Segments {
    dir: PathBuf,
    kind: SegmentKind,
    max_segment_bytes: u64,
    /// The end, buffered bytes included.
    end: End,
    /// The end at the last sync.
    synced: End,
    /// The segment of `end`, once it was written to.
    file: Option<File>,
    buffer: Vec<u8>,
    touched: BTreeMap<u32, u64>,
    file_created: bool,
    failed: bool,
    /// Who numbers new segments; `None`: they are counted here.
    numbers: Option<Numbers>,
}

impl Segments {
    /// Opens the directory, making it if need be, and cuts it back to what the store committed.
    ///
    /// `committed` names every segment the store knows, with its committed length. What a crash
    /// left beyond that is cut off, later segments are removed. A segment that is missing or
    /// too short is an error: acknowledged captures would be lost.
    pub fn open(
        dir: &Path,
        kind: SegmentKind,
        committed: &[(u32, u64)],
        max_segment_bytes: u64,
    ) -> Result<Segments, ArchiveError> {
        if !dir.exists() {
            fs::create_dir_all(dir).map_err(ArchiveError::io("create directory", dir))?;
            if let Some(parent) = dir.parent().filter(|p| !p.as_os_str().is_empty()) {
                sync_dir(parent)?;
            }
        }
        for &(segment, length) in committed {
            cut(&dir.join(kind.name(segment)), length)?;
        }
        let end = committed
            .iter()
            .max()
            .map_or(End::default(), |&(segment, length)| End { segment, length });
        remove_later(dir, &kind, end.segment)?;
        Ok(Segments {
            dir: dir.to_owned(),
            kind,
            max_segment_bytes,
            end,
            synced: end,
            file: None,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            touched: BTreeMap::new(),
            file_created: false,
            failed: false,
            numbers: None,
        })
    }

    /// Has the numbers of new segments given by somebody else.
    pub fn numbered_by(mut self, next: NextNumber) -> Self {
        self.numbers = Some(Numbers(next));
        self
    }

    /// Sets the time that the next new segment's `warcinfo` record will carry.
    pub fn set_time(&mut self, now: Time) {
        if let SegmentKind::Warc { info } = &mut self.kind {
            info.time = now;
        }
    }

    /// Takes a record in and says where it will lie. It is safe only after [`Segments::sync`].
    pub fn append(&mut self, record: Prepared) -> Result<Location, ArchiveError> {
        self.guarded(|segments| segments.append_unguarded(&record))
    }

    /// Brings everything appended so far to the disk.
    pub fn sync(&mut self) -> Result<(), ArchiveError> {
        self.guarded(|segments| {
            segments.flush()?;
            if segments.end != segments.synced {
                segments.sync_file()?;
            }
            if segments.file_created {
                sync_dir(&segments.dir)?;
                segments.file_created = false;
            }
            segments.synced = segments.end;
            Ok(())
        })
    }

    /// The segments that grew since the last call, with their lengths: what the store commits
    /// after a [`Segments::sync`].
    pub fn lengths(&mut self) -> Vec<(u32, u64)> {
        std::mem::take(&mut self.touched).into_iter().collect()
    }

    /// Forgets everything appended since the last sync, after a write failed (full disk) or when
    /// the batch is given up. The locations handed out since then are void.
    pub fn rollback(&mut self) -> Result<(), ArchiveError> {
        self.failed = true;
        self.buffer.clear();
        self.file = None;
        for segment in self.synced.segment + 1..=self.end.segment {
            let path = self.dir.join(self.kind.name(segment));
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(ArchiveError::io("remove", &path)(e));
                }
                _ => {}
            }
        }
        if self.synced.segment > 0 {
            cut(&self.path_of(self.synced.segment), self.synced.length)?;
        }
        self.end = self.synced;
        self.touched.retain(|segment, _| *segment <= self.synced.segment);
        if let Some(length) = self.touched.get_mut(&self.synced.segment) {
            *length = self.synced.length;
        }
        self.failed = false;
        Ok(())
    }

    fn append_unguarded(&mut self, record: &Prepared) -> Result<Location, ArchiveError> {
        if self.end.segment == 0 || self.end.length >= self.max_segment_bytes {
            self.start_segment()?;
        }
        let location =
            Location { segment: self.end.segment, offset: self.end.length, length: record.len() };
        match record {
            Prepared::Bytes(bytes) => self.put(bytes)?,
            Prepared::File(spooled) => {
                self.flush()?;
                self.copy_in(spooled.path(), record.len())?;
            }
        }
        Ok(location)
    }

    fn start_segment(&mut self) -> Result<(), ArchiveError> {
        self.flush()?;
        if self.end != self.synced {
            self.sync_file()?;
        }
        let segment = match &mut self.numbers {
            None => self.end.segment + 1,
            Some(Numbers(next)) => next().map_err(ArchiveError::Number)?,
        };
        let name = self.kind.name(segment);
        let path = self.dir.join(&name);
        // The end moves first, so that a rollback removes a file that was only half made.
        self.end = End { segment, length: 0 };
        self.file_created = true;
        let file = File::options().write(true).create_new(true).open(&path);
        self.file = Some(file.map_err(ArchiveError::io("create", &path))?);
        if let SegmentKind::Warc { info } = &self.kind {
            let record = warcinfo_record(&name, info.time, &info.software, &info.fields);
            self.put(&record)?;
        }
        Ok(())
    }

    /// Adds bytes to the end through the buffer.
    fn put(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= BUFFER_BYTES {
            self.write(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        self.grow(bytes.len() as u64);
        Ok(())
    }

    fn copy_in(&mut self, spooled: &Path, len: u64) -> Result<(), ArchiveError> {
        let mut source = File::open(spooled).map_err(ArchiveError::io("open", spooled))?;
        let path = self.path_of(self.end.segment);
        let file = self.opened()?;
        let copied =
            io::copy(&mut source, file).map_err(ArchiveError::io("append a record to", &path))?;
        if copied != len {
            let path = spooled.to_owned();
            return Err(ArchiveError::PayloadLength { path, expected: len, found: copied });
        }
        self.grow(len);
        Ok(())
    }

    fn grow(&mut self, bytes: u64) {
        self.end.length += bytes;
        self.touched.insert(self.end.segment, self.end.length);
    }

    fn flush(&mut self) -> Result<(), ArchiveError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        let written = self.write(&buffer);
        buffer.clear();
        self.buffer = buffer;
        written
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        let path = self.path_of(self.end.segment);
        self.opened()?.write_all(bytes).map_err(ArchiveError::io("write", &path))
    }

    fn sync_file(&mut self) -> Result<(), ArchiveError> {
        let path = self.path_of(self.end.segment);
        self.opened()?.sync_data().map_err(ArchiveError::io("sync", &path))
    }

    /// The file of the last segment, positioned at its end; a segment found at open is opened
    /// with its first record.
    fn opened(&mut self) -> Result<&mut File, ArchiveError> {
        let path = self.path_of(self.end.segment);
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let opened = File::options().write(true).open(&path).and_then(|mut file| {
                    file.seek(SeekFrom::End(0))?;
                    Ok(file)
                });
                opened.map_err(ArchiveError::io("open", &path))?
            }
        };
        Ok(self.file.insert(file))
    }

    fn path_of(&self, segment: u32) -> PathBuf {
        self.dir.join(self.kind.name(segment))
    }

    /// Runs an action unless an earlier one failed, and remembers its failure.
    fn guarded<T>(
        &mut self,
        action: impl FnOnce(&mut Self) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        if self.failed {
            return Err(ArchiveError::RollbackNeeded { path: self.dir.clone() });
        }
        let result = action(self);
        self.failed = result.is_err();
        result
    }
}
