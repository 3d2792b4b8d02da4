//! The in-memory store: the model the real ones are compared with.
//!
//! Plain maps, no bytes, no caches, every answer computed from the rows each time. It is
//! right by being simple; nothing survives it.

mod apply;
mod forget;
mod imports;

use crate::batch::{Batch, Committed};
use crate::row::{Change, HostRow, JobRow, PayloadRow, SegmentKind, UrlRow};
use crate::{Store, StoreError};
use argiope_frontier::{Place, RobotsFile, Trap};
use argiope_model::{Capture, DocId, HostKey, JobId, PayloadDigest, SiteKey, Time, UrlKey};
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The in-memory store.
#[derive(Default)]
pub struct MemoryStore(Mutex<Tables>);

#[derive(Clone, Default)]
struct Tables {
    urls: BTreeMap<UrlKey, UrlRow>,
    hosts: BTreeMap<HostKey, HostRow>,
    robots: BTreeMap<HostKey, RobotsFile>,
    /// Hosts that sleep until one of their jobs is worked on.
    asleep: BTreeMap<HostKey, bool>,
    ready: BTreeMap<(HostKey, Place), UrlKey>,
    calendar: BTreeMap<(Time, UrlKey), Place>,
    captures: BTreeMap<(UrlKey, Time), Capture>,
    links: BTreeMap<UrlKey, Vec<u8>>,
    log: BTreeMap<(u16, u64), Change>,
    payloads: BTreeMap<(SiteKey, PayloadDigest), PayloadRow>,
    segments: BTreeMap<(SegmentKind, u32), u64>,
    jobs: BTreeMap<JobId, JobRow>,
    next_page: u64,
    exclusions: BTreeMap<Box<str>, Time>,
    traps: BTreeMap<Box<str>, Trap>,
    delays: BTreeMap<Box<str>, u64>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn after<K: Ord + Copy, V: Clone>(map: &BTreeMap<K, V>, k: Option<K>, n: usize) -> Vec<(K, V)> {
    let start = k.map_or(Unbounded, Excluded);
    map.range((start, Unbounded)).take(n).map(|(k, v)| (*k, v.clone())).collect()
}

impl Store for MemoryStore {
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut tables = self.tables();
        // Whole or not at all: a batch that is refused half-way has changed a copy.
        let mut changed = tables.clone();
        let answer = changed.apply(batch)?;
        *tables = changed;
        Ok(answer)
    }

    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        let tables = self.tables();
        Ok(keys.iter().map(|k| tables.urls.get(k).cloned()).collect())
    }

    fn scan_urls(
        &self,
        from: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        Ok(after(&self.tables().urls, from, limit))
    }

    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        let tables = self.tables();
        let find = |id: &DocId| tables.urls.iter().find(|(_, r)| r.doc == *id).map(|(k, _)| *k);
        Ok(docs.iter().map(find).collect())
    }

    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        let tables = self.tables();
        let all = tables.captures.range((key, Time(i64::MIN))..=(key, Time(i64::MAX)));
        Ok(all.map(|(_, c)| c.clone()).collect())
    }

    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let tables = self.tables();
        Ok(keys.iter().map(|k| tables.links.get(k).cloned()).collect())
    }

    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        let tables = self.tables();
        Ok(keys.iter().map(|k| tables.payloads.get(k).cloned()).collect())
    }

    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        let tables = self.tables();
        Ok(keys.iter().map(|k| tables.hosts.get(k).cloned()).collect())
    }

    fn scan_hosts(
        &self,
        from: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        Ok(after(&self.tables().hosts, from, limit))
    }

    fn ready_before(&self, host: HostKey, place: Place, limit: usize) -> Result<usize, StoreError> {
        let rows = (host, Place::FIRST)..(host, place);
        Ok(self.tables().ready.range(rows).take(limit).count())
    }

    fn host_urls(
        &self,
        host: HostKey,
        from: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let all = after(&self.tables().urls, None, usize::MAX).into_iter();
        let of_host = all.filter(|(k, _)| k.host == host && from.is_none_or(|url| k.url > url));
        Ok(of_host.take(limit).collect())
    }

    fn robots(&self, keys: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        let tables = self.tables();
        Ok(keys.iter().map(|k| tables.robots.get(k).cloned()).collect())
    }

    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError> {
        Ok(self.tables().exclusions.clone().into_iter().collect())
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        Ok(self.tables().delays.clone().into_iter().collect())
    }

    fn traps(&self) -> Result<Vec<(Box<str>, Trap)>, StoreError> {
        Ok(self.tables().traps.clone().into_iter().collect())
    }

    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        let tables = self.tables();
        Ok(tables.hosts.iter().filter(|(_, h)| h.claimed).map(|(k, _)| *k).collect())
    }

    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        Ok(self.tables().jobs.values().cloned().collect())
    }

    fn segments(&self, kind: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        let tables = self.tables();
        let all = tables.segments.range((kind, 0)..=(kind, u32::MAX));
        Ok(all.map(|((_, n), len)| (*n, *len)).collect())
    }

    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let tables = self.tables();
        let rows = tables.log.range((part, after + 1)..=(part, u64::MAX)).take(limit);
        Ok(rows.map(|(_, change)| change.clone()).collect())
    }

    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        let heads: BTreeMap<u16, u64> = self.tables().log.keys().copied().collect();
        Ok(heads.into_iter().collect())
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(self.tables().next_page.max(1))
    }
}
