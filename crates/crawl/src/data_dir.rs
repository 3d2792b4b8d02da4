//! A data directory: its files, its manifest, its one owner.
//!
//! ```text
//!  manifest.json   versions of the formats and of what keys depend on
//!  suffixes.dat    the public-suffix list keys are made with, for life
//!  lock            held by the owner; holds its process number
//!  control.json    where the owner listens, while there is one
//!  store/          what we know            warc/   what we saw
//!  text/           what it says            spool/  bodies on their way, emptied at start
//!  graph/          who links to whom       index/  every word; both can be made again
//!  news/           the sites followed, their articles, what was read
//!  receipts/       what was forgotten      forgetting.json  while that is under way
//! ```
//!
//! What belongs to a fleet has no `store/`: see `member`.
//!
//! Invariant: whoever holds the lock is the only one that opens the store.

use crate::ask::{Asked, Question};
use crate::control::ask_owner;
use crate::member::{SEAT, is_of_fleet};
use argiope_model::{CanonicalUrl, PUBLIC_SUFFIX_VERSION, Suffixes, Time};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The version of the layout written today.
const FORMAT: u32 = 1;
/// What may lie in a directory before its manifest does, a start that was killed included.
const BEFORE_MANIFEST: [&str; 7] = [
    "lock",
    "suffixes.dat",
    "suffixes.dat.part",
    "manifest.json.part",
    "argiope.toml",
    "news",
    "lost+found",
];

/// Stands behind the process number in the lock of one who only keeps a directory open.
const KEPT: &str = " keeps";
/// Whoever has a directory open is asked to leave it this often.
const ASKING: Duration = Duration::from_millis(200);
/// Whoever leaves a directory to another has left it after this long.
const LEAVING: Duration = Duration::from_secs(20);

/// Says of a directory that a copy into it is not whole.
pub(crate) const COPYING: &str = "copying.json";

/// What a data directory was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub format: u32,
    /// Version of the canonical form of URLs.
    pub url_form: u32,
    /// Version of the public-suffix list in `suffixes.dat`.
    pub suffixes: String,
    /// When it was made.
    pub created: String,
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// There is none.
    #[error("there is no crawl in {0} yet; `argiope crawl URL` starts one")]
    Missing(PathBuf),
    /// The path is something else.
    #[error("{0} is a file, not a directory; give another place with --data")]
    NotADirectory(PathBuf),
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
    /// A directory with other files in it.
    #[error("{0} holds files but no crawl; give an empty or new directory with --data")]
    Foreign(PathBuf),
    /// The pages in it are known to another store.
    #[error("{0} holds pages of a fleet; give its store as well: --store postgres://…")]
    OfFleet(PathBuf),
    /// A crawl of its own is in it.
    #[error(
        "{0} holds a crawl of its own; give what belongs to a fleet another directory with --data or --archive"
    )]
    OwnCrawl(PathBuf),
    /// The pages in it are known to a third store.
    #[error(
        "{0} belongs to another fleet; give that fleet's store with --store, or another directory with --data or --archive"
    )]
    OtherFleet(PathBuf),
    /// Too many work in it.
    #[error("{0} has no seat left for a worker; give another directory with --archive")]
    NoSeat(PathBuf),
    /// The keys of the fleet are made with another list.
    #[error(
        "{0} has another list of public suffixes than the fleet, and its keys would not be the fleet's; give a new directory with --archive, made by the version of Argiope that the others are"
    )]
    OtherSuffixes(PathBuf),
    /// A copy into it has not come to its end.
    #[error(
        "{0} is not whole: a copy into it is under way or was cut short; the same `argiope store copy` again makes it whole"
    )]
    CutShort(PathBuf),
    /// Nothing can be written there.
    #[error(
        "{0} cannot be written, and only directories that can be are opened yet; make a copy elsewhere (`cp -a {0} COPY`) and look into that: --data COPY"
    )]
    ReadOnly(String),
    /// Another process owns it.
    #[error("another argiope (process {pid}) is working in {}; `argiope status` asks it how far it is, Ctrl-C there ends it", path.display())]
    Owned {
        /// The directory.
        path: PathBuf,
        /// The owner's process number.
        pid: String,
    },
    /// Made by a newer program.
    #[error("{} was made by a newer Argiope (format {found}, this one knows {FORMAT}); use that version", path.display())]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// What is known of the archive is gone: a crawl would take all of it for a torn tail.
    #[error(
        "{0}/store is missing, and {0}/warc holds pages; put store back from a backup, or make a new directory of the pages: `argiope --data NEW import warc {0}/warc/*.warc.gz`"
    )]
    StoreGone(String),
    /// A file of it cannot be read.
    #[error("{} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Why a directory is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To crawl: made if there is none; refused at once when it has an owner.
    Own,
    /// To take it if nobody has: as to crawl, and refused at once whoever has it.
    Seat,
    /// To keep it open for others to look at, and to leave it to whoever wants to work: as the one before.
    Keep,
    /// To look: must exist; waits a moment for another visitor to leave.
    Visit,
}

/// An open data directory; the lock is held as long as this lives.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    manifest: Manifest,
    suffixes: Arc<Suffixes>,
    _lock: File,
}

impl DataDir {
    /// Opens a directory with a store in it.
    pub fn open(path: &Path, access: Access, now: Time) -> Result<Self, DataDirError> {
        let dir = Self::open_any(path, access, now).map_err(|e| match e {
            DataDirError::Missing(_) | DataDirError::Foreign(_) if is_of_fleet(path) => {
                DataDirError::OfFleet(path.to_owned())
            }
            e => e,
        })?;
        if is_of_fleet(path) {
            return Err(DataDirError::OfFleet(path.to_owned()));
        }
        // The store is made before the first page is written, so this is no crash of ours; while it
        // is written anew, the old one bears another name for a moment.
        let known = path.join("store").exists() || path.join("store.old").exists();
        if !known && holds_bytes(&warc_dir(path)) {
            return Err(DataDirError::StoreGone(path.display().to_string()));
        }
        Ok(dir)
    }

    /// Opens a directory whatever is in it.
    pub(crate) fn open_any(path: &Path, access: Access, now: Time) -> Result<Self, DataDirError> {
        let fail = |action: &'static str, at: PathBuf| {
            move |source: io::Error| DataDirError::Io { action, path: at, source }
        };
        if path.is_file() {
            return Err(DataDirError::NotADirectory(path.to_owned()));
        }
        if path.join(COPYING).exists() {
            return Err(DataDirError::CutShort(path.to_owned()));
        }
        let manifest_path = path.join("manifest.json");
        if !manifest_path.exists() {
            if access == Access::Visit {
                return Err(DataDirError::Missing(path.to_owned()));
            }
            fs::create_dir_all(path).map_err(fail("make the directory", path.to_owned()))?;
            let listing = fs::read_dir(path).map_err(fail("read", path.to_owned()))?;
            // Beside the seats of workers their pages may be read.
            let foreign = |e: &fs::DirEntry| {
                !BEFORE_MANIFEST.iter().any(|o| e.file_name() == *o)
                    && !e.path().join(SEAT).exists()
            };
            if listing.flatten().any(|e| foreign(&e)) {
                return Err(DataDirError::Foreign(path.to_owned()));
            }
        }
        let lock = lock(path, access)?;
        // Asked again: another owner may have made it between the first look and the lock.
        let manifest = if manifest_path.exists() {
            read_manifest(&manifest_path, path)?
        } else {
            write_new(path, now)?
        };
        let list_path = path.join("suffixes.dat");
        let list = fs::read_to_string(&list_path).map_err(fail("read", list_path.clone()))?;
        let suffixes = Suffixes::from_text(&list)
            .map_err(|e| DataDirError::Damaged { path: list_path, why: e.to_string() })?;
        Ok(DataDir { path: path.to_owned(), manifest, suffixes: Arc::new(suffixes), _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it was made with.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The suffix list its keys are made with.
    pub fn suffixes(&self) -> &Arc<Suffixes> {
        &self.suffixes
    }

    /// Where the store is.
    pub fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    /// Where the archive is.
    pub fn warc(&self) -> PathBuf {
        warc_dir(&self.path)
    }

    /// Where the texts are.
    pub fn text(&self) -> PathBuf {
        text_dir(&self.path)
    }

    /// Where the reverse links are.
    pub fn graph(&self) -> PathBuf {
        self.path.join("graph")
    }

    /// Where the word index is.
    pub fn index(&self) -> PathBuf {
        self.path.join("index")
    }

    /// Where the news are: the sites that are followed, articles, and what the reader has.
    pub fn news(&self) -> PathBuf {
        news_dir(&self.path)
    }

    /// Where bodies wait.
    pub fn spool(&self) -> PathBuf {
        self.path.join("spool")
    }
}

/// Where the archive of a data directory is; reading it needs no lock.
pub(crate) fn warc_dir(data: &Path) -> PathBuf {
    data.join("warc")
}

/// Where the texts of a data directory are; reading them needs no lock.
pub(crate) fn text_dir(data: &Path) -> PathBuf {
    data.join("text")
}

/// Where the news of a data directory are.
pub(crate) fn news_dir(data: &Path) -> PathBuf {
    data.join("news")
}

/// Where the receipts of what was forgotten are.
pub(crate) fn receipts_dir(data: &Path) -> PathBuf {
    data.join("receipts")
}

/// Where the crawl log of a data directory is.
pub(crate) fn log_dir(data: &Path) -> PathBuf {
    data.join("log")
}

/// Whether a folder holds a file that is not empty.
pub(crate) fn holds_bytes(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.into_iter().any(|e| e.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0))
}

/// Whether the lock is held by one who only keeps the directory open.
fn is_kept(lock: &mut File) -> bool {
    let mut said = String::new();
    let read = lock.rewind().and_then(|()| lock.read_to_string(&mut said));
    read.is_ok() && said.ends_with(KEPT)
}

/// Whether whoever has a directory open only keeps it, and leaves it to us; `None` where nobody answers.
fn leaves(path: &Path) -> Option<bool> {
    let asked = ask_owner(path, &Question::Leave).ok()??;
    Some(matches!(asked, Asked::Rows(_)))
}

/// Why a directory cannot be locked.
fn refused(path: &Path, access: Access, e: io::Error) -> DataDirError {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    match e.kind() {
        ReadOnlyFilesystem | PermissionDenied if access == Access::Visit => {
            DataDirError::ReadOnly(path.display().to_string())
        }
        _ => DataDirError::Io { action: "write", path: path.join("lock"), source: e },
    }
}

pub(crate) fn lock(path: &Path, access: Access) -> Result<File, DataDirError> {
    let lock_path = path.join("lock");
    let io = |action: &'static str| {
        let path = lock_path.clone();
        move |source| DataDirError::Io { action, path, source }
    };
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&lock_path)
        .map_err(|e| refused(path, access, e))?;
    // A visitor leaves in a moment, a keeper when it is asked to; an owner, who listens, does not.
    let mut patience = match access {
        Access::Seat | Access::Keep => Duration::ZERO,
        Access::Own => Duration::from_millis(500),
        Access::Visit => Duration::from_secs(10),
    };
    let begun = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock)
                if !patience.is_zero() && asked.is_none_or(|t| t.elapsed() > ASKING) =>
            {
                asked = Some(Instant::now());
                // A keeper that has only just come cannot be asked yet.
                match leaves(path) {
                    _ if is_kept(&mut file) => patience = LEAVING,
                    Some(true) => patience = LEAVING,
                    Some(false) if access == Access::Own => patience = Duration::ZERO,
                    _ => {}
                }
            }
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = file.rewind().and_then(|()| file.read_to_string(&mut pid));
                let pid = pid.split_whitespace().next().unwrap_or("?").to_owned();
                return Err(DataDirError::Owned { path: path.to_owned(), pid });
            }
            Err(TryLockError::Error(e)) => return Err(io("lock")(e)),
        }
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        let kept = if access == Access::Keep { KEPT } else { "" };
        write!(file, "{}{kept}", std::process::id())
    };
    write(&mut file).map_err(io("write"))?;
    Ok(file)
}

fn read_manifest(file: &Path, dir: &Path) -> Result<Manifest, DataDirError> {
    let text = fs::read_to_string(file).map_err(|source| DataDirError::Io {
        action: "read",
        path: file.to_owned(),
        source,
    })?;
    let damaged = |why: String| DataDirError::Damaged { path: file.to_owned(), why };
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let Version { format } = serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
    if format > FORMAT {
        return Err(DataDirError::Newer { path: dir.to_owned(), found: format });
    }
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
    if manifest.url_form > CanonicalUrl::FORM_VERSION {
        let found = manifest.url_form;
        return Err(DataDirError::Newer { path: dir.to_owned(), found });
    }
    Ok(manifest)
}

/// The manifest is written last and by renaming: a directory has one whole or none.
pub(crate) fn write_new(dir: &Path, now: Time) -> Result<Manifest, DataDirError> {
    let manifest = Manifest {
        format: FORMAT,
        url_form: CanonicalUrl::FORM_VERSION,
        suffixes: PUBLIC_SUFFIX_VERSION.to_owned(),
        created: now.to_string(),
    };
    let text = serde_json::to_string_pretty(&manifest).expect("strings and numbers are JSON");
    for (name, content) in [("suffixes.dat", Suffixes::built_in_text()), ("manifest.json", &text)] {
        write_whole(dir, name, content)?;
    }
    Ok(manifest)
}

/// Writes a file by renaming: it is there whole or not at all.
pub(crate) fn write_whole(dir: &Path, name: &str, content: &str) -> Result<(), DataDirError> {
    let (part, whole) = (dir.join(format!("{name}.part")), dir.join(name));
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&part, &whole)
    };
    write().map_err(|source| DataDirError::Io { action: "write", path: whole.clone(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_looks_into_a_directory_that_cannot_be_written_is_told_what_to_do() {
        let why = |access, kind: io::ErrorKind| {
            refused(Path::new("/cdrom/data"), access, kind.into()).to_string()
        };
        let said = why(Access::Visit, io::ErrorKind::ReadOnlyFilesystem);
        assert!(said.contains("`cp -a /cdrom/data COPY`"), "{said}");
        let said = why(Access::Own, io::ErrorKind::ReadOnlyFilesystem);
        assert_eq!(said, "cannot write /cdrom/data/lock");
    }
}
