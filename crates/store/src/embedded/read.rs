//! Reading the embedded store: what visitors ask, and the windows onto ready queues.

use super::{EmbeddedStore, Kept, Table, key};
use crate::batch::{Batch, Committed};
use crate::row::{
    self, Change, Ended, HostRow, JobRow, PayloadRow, SegmentKind, UrlRow, UrlState, damaged,
};
use crate::rule::handed_to;
use crate::work::{Base, ReadyRow, is_open, read_host};
use crate::{Store, StoreError};
use argiope_frontier::{Entry, HostWindow, Place, Refill, RobotsFile, Temper, Trap};
use argiope_model::{Capture, DocId, HostKey, PayloadDigest, SiteKey, Time, UrlKey};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Rows of jobs that are not worked on that one look-up passes over before it pauses.
const MAX_PASSED_OVER: usize = 4096;

impl EmbeddedStore {
    /// Reads the first ready rows of a host after a place, those of open jobs only; from the
    /// start, also what is known of the host itself.
    pub(super) fn window(&self, refill: &Refill, kept: &Kept) -> Result<HostWindow, StoreError> {
        let jobs = &kept.jobs;
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
            temper: Temper::default(),
            robots: None,
        };
        if refill.after.is_none() {
            self.describe(&mut out, kept)?;
        }
        let mut passed_over = 0;
        for pair in self.tables[Table::Queue].range::<Vec<u8>, _>((start, end)) {
            if out.entries.len() == refill.limit || passed_over == MAX_PASSED_OVER {
                out.more = true;
                break;
            }
            let (k, v) = pair.into_inner().map_err(self.failed("read a queue"))?;
            let place = key::ready_place(&k).ok_or_else(|| damaged("queues", "short key"))?;
            out.cursor = Some(place);
            let ready: ReadyRow = row::decode("queues", &v)?;
            let owner_open = is_open(jobs, ready.job);
            if !owner_open && !ready.waited {
                passed_over += 1;
                continue;
            }
            let url_key = UrlKey { host: refill.host, url: ready.url };
            let Some(row) = self.get(Table::Urls, &url_key.to_bytes(), UrlRow::decode)? else {
                return Err(damaged("queues", "a row without its URL"));
            };
            let Some((job, depth)) = handed_to(&row, |job| is_open(jobs, job)) else {
                passed_over += 1;
                continue;
            };
            out.entries.push(Entry {
                key: url_key,
                place,
                doc: row.doc,
                job,
                depth,
                attempts: ready.attempts,
                expand: ready.expand,
                role: row.head.role,
                hops: row.head.hops,
                again: row.head.is_again(),
                url: row.url,
            });
        }
        Ok(out)
    }

    fn urls_between(
        &self,
        start: Bound<UrlKey>,
        end: Bound<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let (start, end) = (start.map(UrlKey::to_bytes), end.map(UrlKey::to_bytes));
        self.tables[Table::Urls]
            .range::<[u8; 16], _>((start, end))
            .take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read URLs"))?;
                let k: [u8; 16] = (*k).try_into().map_err(|_| damaged("URLs", "short key"))?;
                Ok((UrlKey::from_bytes(k), UrlRow::decode(&v)?))
            })
            .collect()
    }

    /// What a row of the change log leaves to be looked up, where it was written before such
    /// was noted.
    pub(super) fn ended_before(
        &self,
        key: UrlKey,
        time: Time,
    ) -> Result<(DocId, Ended), StoreError> {
        let Some(row) = self.get(Table::Urls, &key.to_bytes(), UrlRow::decode)? else {
            return Err(damaged("the change log", "a row without its URL"));
        };
        let read = |v: &[u8]| row::decode::<Capture>("captures", v);
        let capture = self.get(Table::Captures, &key::capture(key, time), read)?;
        let queued = row.state == UrlState::Queued;
        let ended = capture.map_or(Ended::Open, |c| Ended::of_capture(&c.outcome, queued));
        Ok((row.doc, ended))
    }

    /// The last row of each partition's change log, found by leaping from one to the next.
    fn find_log_heads(&self) -> Result<BTreeMap<u16, u64>, StoreError> {
        let log = &self.tables[Table::Log];
        let short = || damaged("the change log", "short key");
        let mut heads = BTreeMap::new();
        let mut from = 0;
        while let Some(first) = log.range(key::log(from, 0)..).next() {
            let k = first.key().map_err(self.failed("read the change log"))?;
            let part = key::log_part(&k).ok_or_else(short)?;
            let last = log.range(key::log(part, 0)..=key::log(part, u64::MAX)).next_back();
            let last = last.ok_or_else(short)?;
            let k = last.key().map_err(self.failed("read the change log"))?;
            heads.insert(part, key::log_number(&k).ok_or_else(short)?);
            from = part + 1;
        }
        Ok(heads)
    }

    fn describe(&self, out: &mut HostWindow, kept: &Kept) -> Result<(), StoreError> {
        let k = out.host.to_bytes();
        if let Some(host) = kept.hosts.get(out.host) {
            (out.not_before, out.temper) = (host.not_before, host.temper.clone());
        } else if let Some(host) = self.get(Table::Hosts, &k, read_host)? {
            (out.not_before, out.temper) = (host.not_before, host.temper);
        }
        out.robots = self.get(Table::Robots, &k, row::decode_robots)?;
        Ok(())
    }
}

impl Store for EmbeddedStore {
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.apply(batch)
    }

    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        keys.iter().map(|key| self.get(Table::Urls, &key.to_bytes(), UrlRow::decode)).collect()
    }

    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.urls_between(start, Bound::Unbounded, limit)
    }

    fn ready_before(&self, host: HostKey, place: Place, limit: usize) -> Result<usize, StoreError> {
        let rows = key::ready(host, Place::FIRST)..key::ready(host, place);
        let mut count = 0;
        for pair in self.tables[Table::Queue].range(rows).take(limit) {
            pair.key().map_err(self.failed("read the ready queue"))?;
            count += 1;
        }
        Ok(count)
    }

    fn host_urls(
        &self,
        host: HostKey,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let first = Bound::Included(UrlKey { host, url: 0 });
        let start = after.map_or(first, |url| Bound::Excluded(UrlKey { host, url }));
        self.urls_between(start, Bound::Included(UrlKey { host, url: u64::MAX }), limit)
    }

    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        let read = |v: &[u8]| {
            let bytes: [u8; 16] = v.try_into().map_err(|_| damaged("documents", "short"))?;
            Ok(UrlKey::from_bytes(bytes))
        };
        docs.iter().map(|id| self.get(Table::Docs, &key::doc(*id), read)).collect()
    }

    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        self.captures_of(key)
    }

    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let read = |v: &[u8]| Ok(v.to_vec());
        keys.iter().map(|key| self.get(Table::Links, &key.to_bytes(), read)).collect()
    }

    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        keys.iter()
            .map(|(site, digest)| {
                let read = |v: &[u8]| row::decode("payloads", v);
                self.get(Table::Payloads, &key::payload(*site, digest), read)
            })
            .collect()
    }

    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        keys.iter().map(|key| self.get(Table::Hosts, &key.to_bytes(), read_host)).collect()
    }

    fn robots(&self, keys: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        let read = row::decode_robots;
        keys.iter().map(|key| self.get(Table::Robots, &key.to_bytes(), read)).collect()
    }

    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        let start = after.map_or(Bound::Unbounded, |k| Bound::Excluded(k.to_bytes()));
        let rows = self.tables[Table::Hosts].range::<[u8; 8], _>((start, Bound::Unbounded));
        rows.take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read hosts"))?;
                let k: [u8; 8] = (*k).try_into().map_err(|_| damaged("hosts", "short key"))?;
                Ok((HostKey::from_bytes(k), row::decode("hosts", &v)?))
            })
            .collect()
    }

    fn host_disk(&self, host: HostKey) -> Result<u64, StoreError> {
        self.captured_bytes(host)
    }

    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError> {
        let mut out = Vec::new();
        self.each(Table::Meta, &[key::EXCLUSION], |k, v| {
            let name = std::str::from_utf8(&k[1..]).map_err(|e| damaged("exclusions", e))?;
            if key::is_excluded_name(name) {
                out.push((name.into(), row::decode("exclusions", v)?));
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        let mut out = Vec::new();
        self.each(Table::Meta, &key::delay(""), |k, v| {
            let name = &k[key::delay("").len()..];
            let name = std::str::from_utf8(name).map_err(|e| damaged("delays", e))?;
            out.push((name.into(), row::decode("delays", v)?));
            Ok(())
        })?;
        Ok(out)
    }

    fn traps(&self) -> Result<Vec<(Box<str>, Trap)>, StoreError> {
        let mut out = Vec::new();
        self.each(Table::Meta, &key::trap(""), |k, v| {
            let name = &k[key::trap("").len()..];
            let name = std::str::from_utf8(name).map_err(|e| damaged("traps", e))?;
            out.push((name.into(), row::decode("traps", v)?));
            Ok(())
        })?;
        Ok(out)
    }

    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        self.tables[Table::Queue]
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
        self.tables[Table::Meta]
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
        let rows =
            self.tables[Table::Log].range(key::log(part, after + 1)..=key::log(part, u64::MAX));
        rows.take(limit)
            .map(|pair| {
                let (k, v) = pair.into_inner().map_err(self.failed("read the change log"))?;
                let n = key::log_number(&k);
                let n = n.ok_or_else(|| damaged("the change log", "short key"))?;
                let ((key, time, changed), later) = row::decode_change(&v)?;
                let (doc, ended) = match later {
                    Some(later) => later,
                    None => self.ended_before(key, time)?,
                };
                Ok(Change { n, key, time, changed, doc, ended })
            })
            .collect()
    }

    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        let mut kept = self.kept();
        if kept.log_heads.is_none() {
            kept.log_heads = Some(self.find_log_heads()?);
        }
        let heads = kept.log_heads.iter().flatten();
        Ok(heads.map(|(part, n)| (*part, *n)).collect())
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(self.kept().next_page)
    }
}
