//! Bodies as the rest of the program holds them: nothing, bytes in memory, or a file.
//!
//! Invariant: bytes in memory hold their share of the memory budget and a spool file its place
//! on disk exactly as long as the value lives.

use crate::spool::Share;
use crate::{FetchError, spool};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A body, in the content-encoding the server used or decoded.
#[derive(Debug, Default)]
pub enum Body {
    /// No bytes, or none that were wanted.
    #[default]
    Empty,
    /// Bytes in memory.
    Memory(BodyBytes),
    /// Bytes in a spool file.
    Spooled(SpoolFile),
}

impl Body {
    /// Bytes that were never on the wire, for webs that are made up: they count against no budget.
    #[doc(hidden)]
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        match bytes.is_empty() {
            true => Body::Empty,
            false => Body::Memory(BodyBytes { bytes, _share: Share::uncounted() }),
        }
    }

    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        match self {
            Body::Empty => 0,
            Body::Memory(bytes) => bytes.len() as u64,
            Body::Spooled(file) => file.len,
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes, unless they lie in a file.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Body::Empty => Some(&[]),
            Body::Memory(bytes) => Some(bytes),
            Body::Spooled(_) => None,
        }
    }

    /// Reads from the start, wherever the bytes are.
    pub fn reader(&self) -> Result<BodyReader<'_>, FetchError> {
        Ok(BodyReader(match self {
            Body::Empty => Source::Memory(&[]),
            Body::Memory(bytes) => Source::Memory(bytes),
            Body::Spooled(file) => Source::File(BufReader::with_capacity(64 << 10, file.open()?)),
        }))
    }
}

/// Body bytes in memory.
#[derive(Debug)]
pub struct BodyBytes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) _share: Share,
}

impl Deref for BodyBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body in a file of the spool directory, deleted when this value goes.
#[derive(Debug)]
pub struct SpoolFile {
    pub(crate) path: PathBuf,
    pub(crate) len: u64,
}

impl SpoolFile {
    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for reading.
    pub fn open(&self) -> Result<File, FetchError> {
        File::open(&self.path).map_err(|e| spool::failed(&self.path, e))
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a spool file stays behind");
        }
    }
}

/// Reads a body from its start.
#[derive(Debug)]
pub struct BodyReader<'a>(Source<'a>);

#[derive(Debug)]
enum Source<'a> {
    Memory(&'a [u8]),
    File(BufReader<File>),
}

impl Read for BodyReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Source::Memory(bytes) => bytes.read(buf),
            Source::File(file) => file.read(buf),
        }
    }
}

impl BufRead for BodyReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.0 {
            Source::Memory(bytes) => bytes.fill_buf(),
            Source::File(file) => file.fill_buf(),
        }
    }

    fn consume(&mut self, n: usize) {
        match &mut self.0 {
            Source::Memory(bytes) => bytes.consume(n),
            Source::File(file) => file.consume(n),
        }
    }
}
