//! Why a copy cannot be made.

use crate::data_dir::DataDirError;
use argiope_store::StoreError;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Why a copy cannot be made; what it would have become is not there, or says that it is not whole.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A directory cannot be used.
    #[error(transparent)]
    Dir(#[from] DataDirError),
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Somebody works in the fleet.
    #[error(
        "the fleet is at work: {workers}; end them first (SIGTERM or Ctrl-C there); one that was killed is taken for dead when its lease has run out"
    )]
    Alive {
        /// Who, and for how long each is taken for alive.
        workers: String,
    },
    /// The store to copy into is in use.
    #[error(
        "the store in {server} is not empty: {holds}; copy into an empty database (createdb makes one)"
    )]
    NotEmpty {
        /// The server and its database.
        server: String,
        /// Which tables hold what.
        holds: String,
    },
    /// Pages are known and not there.
    #[error(
        "pages of {archives} are not among the directories given; name the directory of each with --archive"
    )]
    NoPages {
        /// The archives whose pages are missing.
        archives: String,
    },
    /// A file of pages is not as it is known.
    #[error(
        "{} {found}, and the store knows {wanted} bytes of it; put it back from a backup, then copy", path.display()
    )]
    Segment {
        /// The file.
        path: PathBuf,
        /// What is known of it.
        wanted: u64,
        /// What is there.
        found: String,
    },
    /// There is a crawl where the copy is to be.
    #[error("{0} holds a crawl already; give a new or empty directory")]
    Taken(PathBuf),
    /// Something else is where the copy is to be.
    #[error("{0} holds other files; give a new or empty directory")]
    Foreign(PathBuf),
    /// Another copy is there.
    #[error("another copy is being made in {0}; wait for its end, or end it first")]
    UnderWay(PathBuf),
    /// A copy that was cut short belongs to another database.
    #[error(
        "{} is part of a copy into {server} that was cut short; make that copy again, or remove the directory", path.display()
    )]
    OtherCopy {
        /// What is left of it.
        path: PathBuf,
        /// Where it was to go.
        server: String,
    },
    /// Keys of the fleet are made otherwise.
    #[error(
        "the fleet in {0} was begun with another list of public suffixes, and its keys are not those of this crawl; copy into an empty database"
    )]
    OtherSuffixes(String),
    /// The disk is full.
    #[error(
        "the disk that {} is on is full; make room and copy again: what was begun is cleared up then", path.display()
    )]
    Full {
        /// Where the copy was to be.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Box<CopyError>,
    },
}

impl CopyError {
    /// Names a full disk for what it is, wherever the failure comes from.
    pub(super) fn named(self, path: &Path) -> Self {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&self);
        while let Some(e) = cause {
            let io = e.downcast_ref::<io::Error>();
            let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
            if io.is_some_and(|io| full.contains(&io.kind())) {
                return CopyError::Full { path: path.to_owned(), source: Box::new(self) };
            }
            cause = e.source();
        }
        self
    }
}

pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CopyError {
    let path = path.to_owned();
    move |source| CopyError::Io { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_however_deep_it_lies() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let here = Path::new("/there");
        let file = io_error("write", here)(full()).named(here);
        assert!(matches!(file, CopyError::Full { .. }), "{file}");
        let dir = DataDirError::Io { action: "write", path: here.into(), source: full() };
        assert!(matches!(CopyError::Dir(dir).named(here), CopyError::Full { .. }));
        let other = io_error("write", here)(io::ErrorKind::NotFound.into()).named(here);
        assert!(matches!(other, CopyError::Io { .. }), "{other}");
    }
}
