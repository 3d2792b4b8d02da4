//! What can go wrong with our own files; damage in foreign files is data ([`crate::Damage`]).

use std::io;
use std::path::{Path, PathBuf};

/// A failed action of the archive and what it failed on.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried: "write", "sync" …
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Whoever numbers segments gave none.
    #[error("a new segment could not be given a number")]
    Number(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store counts on a segment that is gone.
    #[error(
        "segment {} is missing, but the store counts on {committed} bytes of it; restore the file \
         from a backup, or run `argiope verify` to see what is lost",
        path.display()
    )]
    MissingSegment {
        /// Where it should be.
        path: PathBuf,
        /// The length the store committed.
        committed: u64,
    },
    /// The store counts on more of a segment than is there.
    #[error(
        "segment {} holds {found} bytes, but the store counts on {committed}; it was cut by \
         something else than argiope, restore the file from a backup",
        path.display()
    )]
    ShortSegment {
        /// The file.
        path: PathBuf,
        /// The length the store committed.
        committed: u64,
        /// The length it has.
        found: u64,
    },
    /// A record or blob is not what it should be.
    #[error("{} is damaged at byte {offset}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Offset of the record or blob.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// The bytes of a text blob are not one.
    #[error("not a text blob: {0}")]
    NotText(String),
    /// A text blob of a format this program does not know.
    #[error(
        "the text blob has format {found}, this program reads formats up to {known}; it was \
         written by a newer argiope, use that or a newer one"
    )]
    NewerText {
        /// The version that was found.
        found: u8,
        /// The newest version that is understood.
        known: u8,
    },
    /// A spooled payload is not as long as its record says.
    #[error("payload file {} holds {found} bytes instead of {expected}", path.display())]
    PayloadLength {
        /// The payload.
        path: PathBuf,
        /// Bytes announced.
        expected: u64,
        /// Bytes found; when there are more than announced, one more than announced.
        found: u64,
    },
    /// A write failed before, so the end of the segment is not known to be whole.
    #[error("an earlier write to {} failed; roll back before writing more", path.display())]
    RollbackNeeded {
        /// The directory of the segments.
        path: PathBuf,
    },
}

impl ArchiveError {
    /// For `map_err`: names action and object of an I/O error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| ArchiveError::Io { action, path: path.to_owned(), source }
    }

    /// For `map_err` while reading a record: what the bytes cannot be is damage, the rest is I/O.
    pub(crate) fn reading(path: &Path, offset: u64) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::UnexpectedEof => {
                ArchiveError::Damaged { path: path.to_owned(), offset, reason: source.to_string() }
            }
            _ => ArchiveError::Io { action: "read", path: path.to_owned(), source },
        }
    }
}
