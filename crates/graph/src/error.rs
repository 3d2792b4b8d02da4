//! What can go wrong, always on our side.

use argiope_store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// A failure of our own disk, or a damaged graph. The graph can always be made again from the
/// store.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// A file could not be read or written.
    #[error("the link graph failed to {action} {path}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file is not what was written.
    #[error("the link graph is damaged ({path}: {why}); it can be made again from the store")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file was written by a newer program.
    #[error(
        "the link graph was written by a newer Argiope (format {found}, this one knows {known}); use that version, or have it made again from the store"
    )]
    Newer {
        /// Version found.
        found: u32,
        /// Newest version known.
        known: u32,
    },
    /// There are more nodes than ranks are made for.
    #[error("{nodes} URLs are too many for a rank; it is made for 4,294,967,295 at most")]
    TooLarge {
        /// How many there are.
        nodes: u64,
    },
    /// It is being made, which takes longer than an answer may.
    #[error("the rank is still being made, beside the crawl; ask again in a few minutes")]
    NotYet,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(crate) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GraphError {
    let path = path.to_owned();
    move |source| GraphError::Io { action, path, source }
}
