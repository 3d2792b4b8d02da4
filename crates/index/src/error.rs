//! What can go wrong, always on our side.

use argiope_archive::ArchiveError;
use argiope_store::StoreError;
use std::path::PathBuf;

/// A failure of our own disk, or a damaged index. The index can always be made again from the
/// texts. A query that is written wrongly is a [`Mistake`](crate::Mistake), not an error.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index failed.
    #[error("the word index in {path} failed to {action}")]
    Tantivy {
        /// Its directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The cause.
        #[source]
        source: Box<tantivy::TantivyError>,
    },
    /// A file could not be read or written.
    #[error("the word index failed to {action} {path}")]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Another process writes the index.
    #[error("the word index in {0} is in use by another process")]
    Locked(PathBuf),
    /// The directory holds something else.
    #[error("{path} is not a word index ({why}); it can be made again with `reindex`")]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Written by a newer program.
    #[error(
        "the word index was written by a newer Argiope (format {found}, this one knows {known}); use that version, or make it again with `reindex`"
    )]
    Newer {
        /// Version found.
        found: u32,
        /// Newest version known.
        known: u32,
    },
    /// Made with other settings that decide which words are in it.
    #[error("the word index was made with another {what}; make it again with `reindex`")]
    Settings {
        /// What differs.
        what: &'static str,
    },
    /// There is no index yet.
    #[error("there is no word index in {0}")]
    Missing(PathBuf),
    /// The links to a page could not be read.
    #[error("the links to a page could not be read")]
    Links(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The texts could not be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
}

impl IndexError {
    pub(crate) fn tantivy(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl Fn(tantivy::TantivyError) -> IndexError + use<> {
        let path = path.to_owned();
        move |source| IndexError::Tantivy { path: path.clone(), action, source: Box::new(source) }
    }
}
