//! Writing the store anew, so that its files hold nothing but its rows.
//!
//! * Why: what is deleted stays in fjall's tables, blob files and journals until it happens to be
//!   merged away. After forgetting it has to be gone from the disk, and surely.
//! * How: every row is copied into a new database beside the old one, which then takes its place.
//!
//! ```text
//!  store               at work
//!  store  store.new    being copied: what is half made is thrown away
//!  store.old store.new copied and synced: the new one gets the name
//!  store  store.old    done but for clearing up
//! ```
//!
//! * Invariant: `store.old` exists only once `store.new` is whole, so that [`finish`], which runs
//!   before every opening, knows what to do after a crash at any moment.

use super::EmbeddedStore;
use super::tables::Tables;
use crate::StoreError;
use crate::work::TABLES;
use fjall::{Database, PersistMode};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

fn beside(path: &Path) -> (PathBuf, PathBuf) {
    (path.with_extension("new"), path.with_extension("old"))
}

/// Finishes what a crash has cut short.
pub(super) fn finish(path: &Path) -> io::Result<()> {
    let (new, old) = beside(path);
    if !path.exists() && old.exists() {
        let whole = if new.exists() { &new } else { &old };
        fs::rename(whole, path)?;
        sync_parent(path)?;
    }
    for left in [new, old] {
        if path.exists() && left.exists() {
            fs::remove_dir_all(left)?;
        }
    }
    Ok(())
}

impl EmbeddedStore {
    /// Writes the store in a directory anew: afterwards no file of it holds a byte of what was
    /// deleted. Nobody may have it open; for a while it takes its size on disk again.
    pub fn rewrite(path: &Path, memory: u64) -> Result<(), StoreError> {
        let store = EmbeddedStore::open(path, memory)?;
        let io = |e: io::Error| store.failed("write it anew")(fjall::Error::Io(e));
        let (new, old) = beside(path);
        store.copy_to(&new).map_err(store.failed("write it anew"))?;
        // The database syncs its files; that they are there is known to their directories.
        sync_tree(&new).map_err(io)?;
        let path = store.path.clone();
        let failed = |source: io::Error| StoreError::Database {
            path: path.clone(),
            action: "put the new store in its place",
            source: Box::new(fjall::Error::Io(source)),
        };
        drop(store);
        fs::rename(&path, &old).map_err(failed)?;
        sync_parent(&path).map_err(failed)?;
        finish(&path).map_err(failed)?;
        // A new journal has room set aside for it, which the first opening gives back.
        drop(EmbeddedStore::open(&path, memory)?);
        Ok(())
    }

    fn copy_to(&self, path: &Path) -> Result<(), fjall::Error> {
        let db = Database::builder(path).worker_threads(1).manual_journal_persist(true).open()?;
        let tables = Tables::open(&db, u64::MAX)?;
        for table in TABLES {
            let mut copy = tables[table].start_ingestion()?;
            for pair in self.tables[table].iter() {
                let (key, value) = pair.into_inner()?;
                copy.write(key, value)?;
            }
            copy.finish()?;
        }
        db.persist(PersistMode::SyncAll)
    }
}

pub(super) fn sync_tree(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            sync_tree(&entry?.path())?;
        }
    }
    File::open(path)?.sync_all()
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}
