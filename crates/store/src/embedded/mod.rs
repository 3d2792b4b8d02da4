//! The embedded store, on fjall: one directory, one owner, nothing to install.
//!
//! * Its place: opened by the process that owns a data directory; one committer writes, any
//!   thread reads.
//! * Durability: a commit is one fjall batch, its journal synced before it returns. What fjall
//!   has acknowledged survives `kill -9` and power loss.
//! * Memory: bounded at open; shared by the block cache, the memtables of all tables and the
//!   rows of hosts lately touched.
//! * Kept in memory beside it: job rows, and the counters of partitions touched.

mod cache;
mod commit;
mod finds;
mod forget;
#[cfg(test)]
mod frozen;
mod imports;
mod key;
mod overlay;
mod read;
mod rewrite;
mod schedule;
mod tables;
mod visits;

use crate::StoreError;
use crate::row::{self, JobProgress, JobRow, Row, UrlHead, damaged};
use argiope_model::{DocId, JobId, Time, UrlKey};
use cache::HostCache;
use fjall::Database;
use key::ScheduleKey;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tables::{Table, Tables};

/// The embedded store.
pub struct EmbeddedStore {
    path: PathBuf,
    db: Database,
    tables: Tables,
    kept: Mutex<Kept>,
}

/// What is kept in memory.
struct Kept {
    jobs: BTreeMap<JobId, JobRow>,
    parts: HashMap<u16, PartCounters>,
    hosts: HostCache,
    next_page: u64,
    /// The last row of each partition's change log; looked for when first asked.
    log_heads: Option<BTreeMap<u16, u64>>,
    /// Nothing is scheduled before this key, nothing on the calendar before this time. What was
    /// there is deleted and not yet gone: looking for the first would pass all of it.
    first_scheduled: ScheduleKey,
    first_due: Time,
}

/// The running numbers of a partition.
#[derive(Clone, Copy, Debug, Default)]
struct PartCounters {
    docs: u64,
    log: u64,
}

impl PartCounters {
    /// How often the number of documents is written down; between, it is counted when asked
    /// for the first time.
    const NOTED: u64 = 16;
}

/// The value of a ready row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ReadyRow {
    url: u64,
    job: JobId,
    attempts: u8,
    expand: bool,
    /// Whether other jobs wait for it.
    waited: bool,
}

impl Row for ReadyRow {
    type First = Self;
    type Second = Self;
}

impl ReadyRow {
    fn of(key: UrlKey, head: &UrlHead) -> Self {
        ReadyRow {
            url: key.url,
            job: head.job(),
            attempts: head.attempts,
            expand: head.expand,
            waited: !head.wishes.is_empty(),
        }
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
        let kept = Kept {
            jobs: BTreeMap::new(),
            parts: HashMap::new(),
            hosts: HostCache::with_bytes(memory / 8),
            next_page: 1,
            log_heads: None,
            first_scheduled: key::FIRST_SCHEDULED,
            first_due: Time(0),
        };
        let store = EmbeddedStore { path: path.to_owned(), db, tables, kept: Mutex::new(kept) };
        store.read_kept(&mut store.kept())?;
        Ok(store)
    }

    /// Reads anew what is kept in memory.
    fn read_kept(&self, kept: &mut Kept) -> Result<(), StoreError> {
        kept.jobs.clear();
        kept.parts.clear();
        kept.hosts.clear();
        kept.log_heads = None;
        (kept.first_scheduled, kept.first_due) = (key::FIRST_SCHEDULED, Time(0));
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

    /// Counts a partition: from what was last written down, by looking.
    fn part_counters(&self, part: u16) -> Result<PartCounters, StoreError> {
        let [a, b] = part.to_be_bytes();
        let read = |v: &[u8]| row::decode("counters", v);
        let mut docs: u64 = self.get(Table::Meta, &[b'p', a, b], read)?.unwrap_or(0);
        let known = |n: u64| self.get(Table::Docs, &key::doc(DocId::new(n, part)), |_| Ok(()));
        while known(docs)?.is_some() {
            docs += 1;
        }
        let last = self.tables[Table::Log].prefix(part.to_be_bytes()).next_back();
        let log = match last {
            Some(pair) => {
                let k = pair.key().map_err(self.failed("read the change log"))?;
                key::log_number(&k).ok_or_else(|| damaged("the change log", "short key"))?
            }
            None => 0,
        };
        Ok(PartCounters { docs, log })
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

    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let value = self.tables[table].get(key).map_err(self.failed("read a row"))?;
        value.map(|v| read(&v)).transpose()
    }
}
