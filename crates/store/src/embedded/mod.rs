//! The embedded store, on fjall: one directory, one owner, nothing to install.
//!
//! * Its place: opened by the process that owns a data directory; one committer writes, any
//!   thread reads.
//! * Durability: a commit is one fjall batch, its journal synced before it returns. What fjall
//!   has acknowledged survives `kill -9` and power loss.
//! * Memory: bounded at open; shared by the block cache, the memtables of all tables and the
//!   rows of hosts lately touched.
//! * Kept in memory beside it: job rows, and the counters of partitions touched.

mod commit;
mod copy;
#[cfg(test)]
mod frozen;
mod read;
mod rewrite;
mod tables;

use crate::StoreError;
use crate::row::{self, JobProgress, JobRow};
use crate::work::key::{self, ScheduleKey};
use crate::work::{self, Base, Marks, Table, Work};
use argiope_model::{HostKey, Time, UrlKey};
use fjall::Database;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tables::Tables;

pub(crate) use copy::{Filling, Put};

/// The embedded store.
pub struct EmbeddedStore {
    path: PathBuf,
    db: Database,
    tables: Tables,
    kept: Mutex<Kept>,
}

/// What is kept in memory.
type Kept = work::Kept<Firsts>;
type EmbeddedWork<'a> = Work<'a, EmbeddedStore>;

/// Nothing is scheduled before this key, nothing on the calendar before this time. What was
/// there is deleted and not yet gone: looking for the first would pass all of it.
pub(crate) struct Firsts {
    scheduled: ScheduleKey,
    due: Time,
}

impl Default for Firsts {
    fn default() -> Self {
        Firsts { scheduled: key::FIRST_SCHEDULED, due: Time(0) }
    }
}

impl Marks for Firsts {
    fn wakes(&mut self, wake: u32, host: HostKey) {
        self.scheduled = self.scheduled.min(key::schedule(wake, host));
    }

    fn due(&mut self, due: Time, _: UrlKey) {
        self.due = self.due.min(due);
    }
}

impl EmbeddedStore {
    /// Opens the store in a directory, making it where there is none; `memory` bounds what it
    /// holds in memory.
    pub fn open(path: &Path, memory: u64) -> Result<Self, StoreError> {
        let fail = |action: &'static str| {
            move |source: fjall::Error| match source {
                fjall::Error::Locked => StoreError::Locked(path.to_owned()),
                source => {
                    StoreError::Database { path: path.to_owned(), action, source: Box::new(source) }
                }
            }
        };
        let open = |path: &Path| {
            let db = Database::builder(path)
                .cache_size(memory / 3)
                .worker_threads(1)
                .max_journaling_size(memory.max(64 << 20))
                .manual_journal_persist(true)
                .open()
                .map_err(fail("open"))?;
            let tables = Tables::open(&db, memory / 4).map_err(fail("open a table"))?;
            Ok((db, tables))
        };
        rewrite::finish(path).map_err(|e| fail("finish writing it anew")(fjall::Error::Io(e)))?;
        // The database cannot open what was half made when the power went: it is made beside
        // and gets its name when it is whole.
        if !path.exists() {
            let part = path.with_extension("part");
            let io = |e: std::io::Error| fail("make a new store")(fjall::Error::Io(e));
            if part.exists() {
                std::fs::remove_dir_all(&part).map_err(io)?;
            }
            drop(open(&part)?);
            std::fs::rename(&part, path).map_err(io)?;
        }
        let (db, tables) = open(path)?;
        let kept = Kept::new(memory / 8);
        let store = EmbeddedStore { path: path.to_owned(), db, tables, kept: Mutex::new(kept) };
        store.read_kept(&mut store.kept())?;
        Ok(store)
    }

    /// Reads anew what is kept in memory.
    fn read_kept(&self, kept: &mut Kept) -> Result<(), StoreError> {
        kept.clear();
        for pair in self.tables[Table::Meta].prefix(b"j") {
            let (_, value) = pair.into_inner().map_err(self.failed("read the jobs"))?;
            let row: JobRow = row::decode("jobs", &value)?;
            kept.jobs.insert(row.job.id, row);
        }
        for pair in self.tables[Table::Meta].prefix(b"c") {
            let (_, value) = pair.into_inner().map_err(self.failed("read the jobs"))?;
            let progress: JobProgress = row::decode("jobs", &value)?;
            if let Some(row) = kept.jobs.get_mut(&progress.id) {
                row.advance(progress);
            }
        }
        let read = |v: &[u8]| row::decode("counters", v);
        kept.next_page = self.get(Table::Meta, b"n", read)?.unwrap_or(1);
        Ok(())
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.db.disk_space().unwrap_or(0)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, action: &'static str) -> impl Fn(fjall::Error) -> StoreError + '_ {
        move |source| StoreError::Database {
            path: self.path.clone(),
            action,
            source: Box::new(source),
        }
    }
}
