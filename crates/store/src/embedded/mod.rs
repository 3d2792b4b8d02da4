//! The embedded store, on fjall: one directory, one owner, nothing to install.
//!
//! * Its place: opened by the process that owns a data directory; one committer writes, any
//!   thread reads.
//! * Durability: a commit is one fjall batch, its journal synced before it returns. What fjall
//!   has acknowledged survives `kill -9` and power loss.
//! * Memory: fjall gives every keyspace its own memtable, so there are few keyspaces and the
//!   memtables are small; the bound is given at open.
//! * Kept in memory beside it: job rows, and the counters of partitions touched.

mod commit;
#[cfg(test)]
mod frozen;
mod key;

use crate::batch::{Batch, Committed};
use crate::row::{self, Change, HostRow, JobRow, PayloadRow, SegmentKind, UrlRow, damaged};
use crate::{Store, StoreError};
use argiope_frontier::{Entry, HostWindow, Place, Refill};
use argiope_model::{
    Capture, DocId, HostKey, JobId, JobState, PayloadDigest, SiteKey, Time, UrlKey,
};
use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Rows of jobs that are not worked on that one look-up passes over before it pauses.
const MAX_PASSED_OVER: usize = 4096;

/// The embedded store.
pub struct EmbeddedStore {
    path: PathBuf,
    db: Database,
    urls: Keyspace,
    docs: Keyspace,
    queue: Keyspace,
    hosts: Keyspace,
    captures: Keyspace,
    links: Keyspace,
    log: Keyspace,
    payloads: Keyspace,
    meta: Keyspace,
    kept: Mutex<Kept>,
}

/// What is kept in memory.
struct Kept {
    jobs: BTreeMap<JobId, JobRow>,
    parts: HashMap<u16, PartCounters>,
    next_page: u64,
}

/// The running numbers of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PartCounters {
    docs: u64,
    log: u64,
}

/// The value of a ready row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ReadyRow {
    url: u64,
    job: JobId,
    attempts: u8,
    expand: bool,
}

impl EmbeddedStore {
    /// Opens the store in a directory, making it where there is none; `memory` bounds its
    /// memtables and block cache together.
    pub fn open(path: &Path, memory: u64) -> Result<Self, StoreError> {
        let fail = |action: &'static str| {
            move |source: fjall::Error| match source {
                fjall::Error::Locked => StoreError::Locked(path.to_owned()),
                source => {
                    StoreError::Database { path: path.to_owned(), action, source: Box::new(source) }
                }
            }
        };
        let db = Database::builder(path)
            .cache_size(memory / 3)
            .worker_threads(1)
            .max_journaling_size((memory).max(64 << 20))
            .manual_journal_persist(true)
            .open()
            .map_err(fail("open"))?;
        // Shares of the memtable memory by how fast each keyspace grows. Two of each may be
        // alive at once: the one being filled and the one being written out.
        let unit = memory / 3 / 16;
        let keyspace = |name: &str, share: u64, blobs: bool| {
            let size = (unit * share).max(256 << 10);
            db.keyspace(name, || {
                let options = KeyspaceCreateOptions::default().max_memtable_size(size);
                options.with_kv_separation(
                    blobs.then(|| KvSeparationOptions::default().separation_threshold(512)),
                )
            })
            .map_err(fail("open a table"))
        };
        let store = EmbeddedStore {
            urls: keyspace("urls", 3, false)?,
            docs: keyspace("docs", 1, false)?,
            queue: keyspace("queue", 1, false)?,
            hosts: keyspace("hosts", 1, false)?,
            captures: keyspace("captures", 1, false)?,
            links: keyspace("links", 2, true)?,
            log: keyspace("log", 1, false)?,
            payloads: keyspace("payloads", 1, false)?,
            meta: keyspace("meta", 1, false)?,
            kept: Mutex::new(Kept { jobs: BTreeMap::new(), parts: HashMap::new(), next_page: 1 }),
            path: path.to_owned(),
            db,
        };
        *store.kept() = store.read_kept()?;
        Ok(store)
    }

    fn read_kept(&self) -> Result<Kept, StoreError> {
        let mut kept = Kept { jobs: BTreeMap::new(), parts: HashMap::new(), next_page: 1 };
        for pair in self.meta.prefix(b"j") {
            let (_, value) = pair.into_inner().map_err(self.failed("read the jobs"))?;
            let row: JobRow = row::decode("jobs", &value)?;
            kept.jobs.insert(row.job.id, row);
        }
        if let Some(value) = self.meta.get(b"n").map_err(self.failed("read the counters"))? {
            kept.next_page = row::decode("counters", &value)?;
        }
        Ok(kept)
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

    fn get<T>(
        &self,
        keyspace: &Keyspace,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let value = keyspace.get(key).map_err(self.failed("read a row"))?;
        value.map(|v| read(&v)).transpose()
    }

    /// Reads the first ready rows of a host after a place, those of open jobs only.
    fn window(
        &self,
        refill: &Refill,
        jobs: &BTreeMap<JobId, JobRow>,
    ) -> Result<HostWindow, StoreError> {
        let prefix = key::ready_prefix(refill.host);
        let start = match refill.after {
            Some(place) => Bound::Excluded(key::ready(refill.host, place).to_vec()),
            None => Bound::Included(prefix.to_vec()),
        };
        let last = Place { order: u64::MAX, seq: u64::MAX };
        let end = Bound::Included(key::ready(refill.host, last).to_vec());
        let mut out = HostWindow {
            host: refill.host,
            entries: Vec::new(),
            cursor: refill.after,
            more: false,
            not_before: Time(0),
        };
        let mut passed_over = 0;
        for pair in self.queue.range::<Vec<u8>, _>((start, end)) {
            if out.entries.len() == refill.limit || passed_over == MAX_PASSED_OVER {
                out.more = true;
                break;
            }
            let (k, v) = pair.into_inner().map_err(self.failed("read a queue"))?;
            let place = key::ready_place(&k).ok_or_else(|| damaged("queues", "short key"))?;
            out.cursor = Some(place);
            let ready: ReadyRow = row::decode("queues", &v)?;
            if jobs.get(&ready.job).is_none_or(|job| job.state != JobState::Open) {
                passed_over += 1;
                continue;
            }
            let url_key = UrlKey { host: refill.host, url: ready.url };
            let Some(row) = self.get(&self.urls, &url_key.to_bytes(), UrlRow::decode)? else {
                return Err(damaged("queues", "a row without its URL"));
            };
            out.entries.push(Entry {
                key: url_key,
                place,
                doc: row.doc,
                job: ready.job,
                depth: row.depth,
                attempts: ready.attempts,
                expand: ready.expand,
                url: row.url,
            });
        }
        Ok(out)
    }
}

impl Store for EmbeddedStore {
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.apply(batch)
    }

    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        keys.iter().map(|key| self.get(&self.urls, &key.to_bytes(), UrlRow::decode)).collect()
    }

    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let start = after.map_or(Bound::Unbounded, |k| Bound::Excluded(k.to_bytes()));
        let rows = self.urls.range::<[u8; 16], _>((start, Bound::Unbounded));
        rows.take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read URLs"))?;
                let k: [u8; 16] = (*k).try_into().map_err(|_| damaged("URLs", "short key"))?;
                Ok((UrlKey::from_bytes(k), UrlRow::decode(&v)?))
            })
            .collect()
    }

    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        let read = |v: &[u8]| {
            let bytes: [u8; 16] = v.try_into().map_err(|_| damaged("documents", "short"))?;
            Ok(UrlKey::from_bytes(bytes))
        };
        docs.iter().map(|id| self.get(&self.docs, &key::doc(*id), read)).collect()
    }

    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        self.captures
            .prefix(key.to_bytes())
            .map(|pair| {
                let value = pair.value().map_err(self.failed("read captures"))?;
                row::decode_capture(&value)
            })
            .collect()
    }

    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let read = |v: &[u8]| Ok(v.to_vec());
        keys.iter().map(|key| self.get(&self.links, &key.to_bytes(), read)).collect()
    }

    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        keys.iter()
            .map(|(site, digest)| {
                let read = |v: &[u8]| row::decode("payloads", v);
                self.get(&self.payloads, &key::payload(*site, digest), read)
            })
            .collect()
    }

    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        let read = |v: &[u8]| row::decode("hosts", v);
        keys.iter().map(|key| self.get(&self.hosts, &key.to_bytes(), read)).collect()
    }

    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        let start = after.map_or(Bound::Unbounded, |k| Bound::Excluded(k.to_bytes()));
        let rows = self.hosts.range::<[u8; 8], _>((start, Bound::Unbounded));
        rows.take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read hosts"))?;
                let k: [u8; 8] = (*k).try_into().map_err(|_| damaged("hosts", "short key"))?;
                Ok((HostKey::from_bytes(k), row::decode("hosts", &v)?))
            })
            .collect()
    }

    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        self.queue
            .prefix([key::CLAIM])
            .map(|pair| {
                let k = pair.key().map_err(self.failed("read claims"))?;
                let host: [u8; 8] = k
                    .get(1..)
                    .and_then(|b| b.try_into().ok())
                    .ok_or_else(|| damaged("claims", "short key"))?;
                Ok(HostKey::from_bytes(host))
            })
            .collect()
    }

    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        Ok(self.kept().jobs.values().cloned().collect())
    }

    fn segments(&self, kind: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        self.meta
            .prefix([b's', kind as u8])
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read segments"))?;
                let number: [u8; 4] = k
                    .get(2..)
                    .and_then(|b| b.try_into().ok())
                    .ok_or_else(|| damaged("segments", "short key"))?;
                Ok((u32::from_be_bytes(number), row::decode("segments", &v)?))
            })
            .collect()
    }

    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let rows = self.log.range(key::log(part, after + 1)..=key::log(part, u64::MAX));
        rows.take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read the change log"))?;
                let n = k.get(2..10).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
                let n = n.ok_or_else(|| damaged("the change log", "short key"))?;
                let (key, time, changed) = row::decode("the change log", &v)?;
                Ok(Change { n, key, time, changed })
            })
            .collect()
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(self.kept().next_page)
    }
}
