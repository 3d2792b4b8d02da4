//! Finished records on their way to a segment, and the gzip that finishes them.
//!
//! Its place: `record` composes, this compresses, `segments` appends. Compressors and buffers
//! live per thread, so that a page costs one compression call and one copy of the result.

use crate::ArchiveError;
use libdeflater::{CompressionLvl, Compressor};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Buffers that grew beyond this are given back after use.
const KEPT_BUFFER_BYTES: usize = 4 << 20;
/// Size of the pieces in which files are copied and compressed.
pub(crate) const COPY_BYTES: usize = 128 << 10;

/// How much work a record is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Level 1: most of the gain for little time.
    Level1,
    /// Level 0: for payloads that are compressed already.
    Stored,
}

/// A finished record or blob, ready to be appended.
#[derive(Debug)]
pub enum Prepared {
    /// In memory.
    Bytes(Vec<u8>),
    /// In a file of the spool directory, removed once appended or dropped.
    File(SpoolFile),
}

impl Prepared {
    /// Length in bytes as it will be stored.
    pub fn len(&self) -> u64 {
        match self {
            Prepared::Bytes(bytes) => bytes.len() as u64,
            Prepared::File(file) => file.len,
        }
    }

    /// Whether nothing would be stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Vec<u8>> for Prepared {
    fn from(bytes: Vec<u8>) -> Self {
        Prepared::Bytes(bytes)
    }
}

/// A file that lives as long as this value.
#[derive(Debug)]
pub struct SpoolFile {
    path: PathBuf,
    len: u64,
}

impl SpoolFile {
    /// A file that was just made.
    pub(crate) fn new(path: PathBuf, len: u64) -> Self {
        SpoolFile { path, len }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        // Nothing to be done about a failure here; the spool directory is emptied at start.
        let _ = fs::remove_file(&self.path);
    }
}

struct Workbench {
    level1: Compressor,
    level0: Compressor,
    plain: Vec<u8>,
    packed: Vec<u8>,
}

thread_local! {
    static WORKBENCH: RefCell<Workbench> = RefCell::new(Workbench {
        level1: Compressor::new(CompressionLvl::new(1).expect("level 1 exists")),
        level0: Compressor::new(CompressionLvl::new(0).expect("level 0 exists")),
        plain: Vec::new(),
        packed: Vec::new(),
    });
}

/// One gzip member of what `compose` writes.
pub(crate) fn gzip_member(compression: Compression, compose: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    WORKBENCH.with_borrow_mut(|bench| {
        let Workbench { level1, level0, plain, packed } = bench;
        plain.clear();
        compose(plain);
        let compressor = match compression {
            Compression::Level1 => level1,
            Compression::Stored => level0,
        };
        let bound = compressor.gzip_compress_bound(plain.len());
        if packed.len() < bound {
            packed.resize(bound, 0);
        }
        let len = compressor.gzip_compress(plain, packed).expect("the bound is enough");
        let member = packed[..len].to_vec();
        if plain.capacity() > KEPT_BUFFER_BYTES {
            *plain = Vec::new();
            *packed = Vec::new();
        }
        member
    })
}

/// One gzip member, as short as it gets; for a few hundred bytes now and then.
pub(crate) fn gzip_member_small(plain: &[u8]) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::best());
    let mut packed = vec![0; compressor.gzip_compress_bound(plain.len())];
    let len = compressor.gzip_compress(plain, &mut packed).expect("the bound is enough");
    packed.truncate(len);
    packed
}

/// One gzip member in the file `spool`: `before`, the file `payload` of length `len`, `after`.
pub(crate) fn gzip_member_of_file(
    spool: PathBuf,
    compression: Compression,
    before: &[u8],
    (payload, len): (&Path, u64),
    after: &[u8],
) -> Result<SpoolFile, ArchiveError> {
    let mut source = File::open(payload).map_err(ArchiveError::io("open payload", payload))?;
    let target = File::create(&spool).map_err(ArchiveError::io("create", &spool))?;
    let mut made = SpoolFile { path: spool, len: 0 };
    let level = match compression {
        Compression::Level1 => flate2::Compression::fast(),
        Compression::Stored => flate2::Compression::none(),
    };
    let target = BufWriter::with_capacity(COPY_BYTES, target);
    let mut gzip = flate2::GzBuilder::new().operating_system(255).write(target, level);
    gzip.write_all(before).map_err(ArchiveError::io("write", &made.path))?;
    let mut piece = vec![0; COPY_BYTES];
    let mut copied = 0;
    loop {
        let n = source.read(&mut piece).map_err(ArchiveError::io("read payload", payload))?;
        copied += n as u64;
        if n == 0 || copied > len {
            break;
        }
        gzip.write_all(&piece[..n]).map_err(ArchiveError::io("write", &made.path))?;
    }
    if copied != len {
        return Err(ArchiveError::PayloadLength {
            path: payload.to_owned(),
            expected: len,
            found: copied.min(len + 1),
        });
    }
    let written = gzip
        .write_all(after)
        .and_then(|()| gzip.finish())
        .and_then(|buffered| buffered.into_inner().map_err(std::io::IntoInnerError::into_error))
        .and_then(|file| file.metadata())
        .map_err(ArchiveError::io("write", &made.path))?;
    made.len = written.len();
    Ok(made)
}
