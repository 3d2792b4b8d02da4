//! The embedded store at either end of a copy: its rows as they lie, and a new store made of rows.
//!
//! A new store is filled table by table in the order of the keys, past the journal. Nothing of it
//! counts before [`Filling::finish`] has returned; who fills it says so to others (a store that is half
//! filled looks like any other).

use super::EmbeddedStore;
use super::rewrite::sync_tree;
use super::tables::Tables;
use crate::StoreError;
use crate::copy::{Copied, KINDS};
use crate::row::{self, damaged};
use crate::work::{Base, PartCounters, TABLES, Table, key};
use argiope_model::PARTITIONS;
use fjall::{Database, PersistMode};
use std::path::{Path, PathBuf};

impl EmbeddedStore {
    /// How many rows there are to copy. All of them are read.
    pub fn count_rows(&self) -> Result<Copied, StoreError> {
        let mut out = Copied { rows: KINDS.map(|kind| (kind, 0)).into(), bytes: 0 };
        self.scan_rows(|table, k, v| {
            if let Some(kind) = kind_of(table, k) {
                *out.rows.entry(kind).or_default() += 1;
                out.bytes += (k.len() + v.len()) as u64;
            }
        })?;
        Ok(out)
    }

    /// Every row of every table, as it lies.
    #[doc(hidden)]
    pub fn scan_rows(
        &self,
        mut each: impl FnMut(&'static str, &[u8], &[u8]),
    ) -> Result<(), StoreError> {
        for table in TABLES {
            self.each(table, &[], |k, v| {
                each(table.name(), k, v);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The rows of a table whose keys begin so, in their order.
    pub(crate) fn each(
        &self,
        table: Table,
        prefix: &[u8],
        mut each: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for pair in self.tables[table].prefix(prefix) {
            let (k, v) = pair.into_inner().map_err(self.failed("read it to copy it"))?;
            each(&k, &v)?;
        }
        Ok(())
    }

    /// A row of the change log as it is written today: with what older rows leave to be looked up.
    pub(crate) fn whole_change(&self, value: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let ((key, time, changed), later) = row::decode_change(value)?;
        if later.is_some() {
            return Ok(None);
        }
        let (doc, ended) = self.ended_before(key, time)?;
        Ok(Some(row::encode_change(key, time, changed, doc, ended)))
    }

    /// How far all partitions have counted.
    pub(crate) fn all_counters(&self) -> Result<Vec<(u16, PartCounters)>, StoreError> {
        (0..PARTITIONS).map(|part| Ok((part, self.part_counters(part)?))).collect()
    }
}

/// What a row is counted as; `None` for those that are made from others.
fn kind_of(table: &str, k: &[u8]) -> Option<&'static str> {
    Some(match (table, k.first().copied()) {
        ("docs", _) => return None,
        ("log", _) => "changes",
        ("queue", Some(key::READY)) => "ready",
        ("queue", Some(key::CALENDAR)) => "calendar",
        ("queue", Some(key::SCHEDULE)) => "schedule",
        ("queue", Some(key::CLAIM)) => "claims",
        ("meta", Some(b'j')) => "jobs",
        ("meta", Some(b's')) => "segments",
        ("meta", Some(key::EXCLUSION)) => "exclusions",
        ("meta", _) => return None,
        (name, _) => KINDS.into_iter().find(|kind| *kind == name)?,
    })
}

/// A store that is being filled.
pub(crate) struct Filling {
    path: PathBuf,
    db: Database,
    tables: Tables,
}

/// Takes the next row of a table; keys come in their order.
pub(crate) type Put<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError>;

impl Filling {
    /// Begins a new store where there is nothing.
    pub fn begin(path: &Path) -> Result<Self, StoreError> {
        let opened = || {
            let builder = Database::builder(path).worker_threads(1).manual_journal_persist(true);
            let db = builder.open()?;
            let tables = Tables::open(&db, u64::MAX)?;
            Ok((db, tables))
        };
        let (db, tables) = opened().map_err(|e| failed(path, e))?;
        Ok(Filling { path: path.to_owned(), db, tables })
    }

    /// Fills one table with what `fill` puts in.
    pub fn table(
        &self,
        table: Table,
        fill: impl FnOnce(Put<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let fail = |e: fjall::Error| failed(&self.path, e);
        let mut rows = self.tables[table].start_ingestion().map_err(fail)?;
        let mut last: Vec<u8> = Vec::new();
        fill(&mut |k, v| {
            if k <= &last[..] {
                return Err(damaged(
                    table.name(),
                    "its keys are not in order, or one is there twice",
                ));
            }
            last.clear();
            last.extend_from_slice(k);
            rows.write(k, v).map_err(fail)
        })?;
        rows.finish().map_err(fail)
    }

    /// Brings all of it to the disk.
    pub fn finish(self) -> Result<(), StoreError> {
        let Filling { path, db, tables } = self;
        db.persist(PersistMode::SyncAll).map_err(|e| failed(&path, e))?;
        drop((tables, db));
        // The database syncs its files; that they are there is known to their directories.
        sync_tree(&path).map_err(|e| failed(&path, fjall::Error::Io(e)))
    }
}

fn failed(path: &Path, source: fjall::Error) -> StoreError {
    let action = "take in a copy";
    StoreError::Database { path: path.to_owned(), action, source: Box::new(source) }
}
