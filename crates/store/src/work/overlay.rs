//! A commit under way: the rows it has read, as it has changed them, and what it will write.

use super::{Base, HostCache, Kept, PartCounters, TABLES, Table, read_host};
use crate::StoreError;
use crate::row::{self, HostRow, JobCounters, JobRow, UrlHead, damaged};
use crate::rule::handed_to;
use argiope_frontier::Entry;
use argiope_model::{Capture, DocId, HostKey, JobId, JobState, Time, UrlKey};
use fjall::{UserKey, UserValue};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) struct Row {
    pub head: UrlHead,
    pub url: Box<str>,
    pub dirty: bool,
    /// Nobody knew the URL before.
    pub fresh: bool,
}

pub(crate) fn is_open(jobs: &BTreeMap<JobId, JobRow>, job: JobId) -> bool {
    jobs.get(&job).is_some_and(|row| row.state == JobState::Open)
}

/// A key and its new value; `None` deletes it. Short ones lie in place, whoever writes them.
pub(crate) type Write = (UserKey, Option<UserValue>);

pub(crate) struct Work<'a, B: Base> {
    pub base: &'a B,
    pub kept: &'a mut Kept<B::Marks>,
    pub now: Time,
    rows: HashMap<UrlKey, Row>,
    hosts: HashMap<HostKey, HostRow>,
    /// Jobs whose rows have changed.
    pub jobs: BTreeSet<JobId>,
    /// Jobs whose orders are new or changed.
    pub orders: BTreeSet<JobId>,
    /// Rows queued of hosts that are loaded.
    pub queued: Vec<Entry>,
    /// Table by table: neighbours are written one after another.
    out: [Vec<Write>; TABLES.len()],
}

impl<'a, B: Base> Work<'a, B> {
    pub fn new(base: &'a B, kept: &'a mut Kept<B::Marks>, now: Time) -> Self {
        Work {
            base,
            kept,
            now,
            rows: HashMap::new(),
            hosts: HashMap::new(),
            jobs: BTreeSet::new(),
            orders: BTreeSet::new(),
            queued: Vec::new(),
            out: Default::default(),
        }
    }

    pub fn put(&mut self, table: Table, key: impl Into<UserKey>, value: impl Into<UserValue>) {
        self.out[table as usize].push((key.into(), Some(value.into())));
    }

    pub fn delete(&mut self, table: Table, key: impl Into<UserKey>) {
        self.out[table as usize].push((key.into(), None));
    }

    /// How much of a table this batch has written so far.
    pub fn written(&self, table: Table) -> usize {
        self.out[table as usize].len()
    }

    /// Deletes, of the first so many rows that this batch has written, those under a prefix; gives
    /// back what they held.
    pub fn withdraw(&mut self, table: Table, first: usize, prefix: &[u8]) -> Vec<UserValue> {
        let rows = self.out[table as usize].iter_mut().take(first);
        let ours = rows.filter(|(key, _)| key.starts_with(prefix));
        ours.filter_map(|(_, value)| value.take()).collect()
    }

    pub fn job(&mut self, id: JobId) -> Result<&mut JobRow, StoreError> {
        self.jobs.insert(id);
        self.kept.jobs.get_mut(&id).ok_or_else(|| damaged("jobs", format!("no job {id}")))
    }

    pub fn counters(&mut self, id: JobId) -> Result<&mut JobCounters, StoreError> {
        Ok(&mut self.job(id)?.counters)
    }

    /// Whether a job goes only so deep.
    pub fn is_shallow(&self, id: JobId) -> bool {
        self.kept.jobs.get(&id).is_some_and(|row| row.job.limits.depth.is_some())
    }

    /// Whether a job gathers news.
    pub fn is_for_news(&self, id: JobId) -> bool {
        self.kept.jobs.get(&id).is_some_and(|row| row.job.news)
    }

    pub fn row(&mut self, k: UrlKey) -> Result<Option<&mut Row>, StoreError> {
        if !self.rows.contains_key(&k) {
            let read = |bytes: &[u8]| {
                let (head, rest) = UrlHead::decode(bytes)?;
                let url = std::str::from_utf8(rest).map_err(|e| damaged("URLs", e))?;
                Ok(Row { head, url: url.into(), dirty: false, fresh: false })
            };
            match self.base.get(Table::Urls, &k.to_bytes(), read)? {
                Some(row) => {
                    self.rows.insert(k, row);
                }
                None => return Ok(None),
            }
        }
        Ok(self.rows.get_mut(&k))
    }

    /// A row that has been read before.
    pub fn read_row(&mut self, k: UrlKey) -> &mut Row {
        self.rows.get_mut(&k).expect("read before")
    }

    /// A row that has been read before, and the jobs.
    pub fn row_and_jobs(&mut self, k: UrlKey) -> (&mut Row, &BTreeMap<JobId, JobRow>) {
        (self.rows.get_mut(&k).expect("read before"), &self.kept.jobs)
    }

    pub fn new_row(&mut self, k: UrlKey, row: Row) {
        self.rows.insert(k, row);
    }

    pub fn host(&mut self, k: HostKey) -> Result<Option<&mut HostRow>, StoreError> {
        if !self.hosts.contains_key(&k) {
            let found = match self.kept.hosts.take(k) {
                Some(host) => Some(host),
                None => self.base.get(Table::Hosts, &k.to_bytes(), read_host)?,
            };
            match found {
                Some(host) => {
                    self.hosts.insert(k, host);
                }
                None => return Ok(None),
            }
        }
        Ok(self.hosts.get_mut(&k))
    }

    pub fn known_host(&mut self, k: HostKey) -> Result<&mut HostRow, StoreError> {
        self.host(k)?.ok_or_else(|| damaged("hosts", "a URL without its host"))
    }

    /// Counts what a capture takes up on disk. Where that was not counted before, what lies there
    /// already is counted first, once.
    pub fn weigh(&mut self, k: HostKey, capture: &Capture) -> Result<(), StoreError> {
        let base = self.base;
        let host = self.known_host(k)?;
        let before = host.disk.map_or_else(|| base.captured_bytes(k), Ok)?;
        host.disk = Some(before + row::disk_of(capture));
        Ok(())
    }

    /// A capture that took up so much takes up another amount now; what was never counted is
    /// counted later, as it is then.
    pub fn reweigh(&mut self, k: HostKey, before: u64, now: u64) -> Result<(), StoreError> {
        let host = self.known_host(k)?;
        host.disk = host.disk.map(|sum| sum.saturating_sub(before) + now);
        Ok(())
    }

    pub fn new_host(&mut self, k: HostKey, host: HostRow) {
        self.hosts.insert(k, host);
    }

    /// Hosts that this batch has scheduled for then or sooner.
    pub fn scheduled(&self, wake: u32) -> Vec<HostKey> {
        let due = self.hosts.iter().filter_map(|(k, host)| Some((host.wake?, *k)));
        let mut due: Vec<(u32, HostKey)> = due.filter(|(at, _)| *at <= wake).collect();
        // The same every time: not all of them may be claimed.
        due.sort_unstable();
        due.into_iter().map(|(_, k)| k).collect()
    }

    /// The next number for a document of a partition.
    pub fn next_doc(&mut self, part: u16) -> Result<DocId, StoreError> {
        let counters = self.part(part)?;
        let doc = DocId::new(counters.docs, part);
        counters.docs += 1;
        let docs = counters.docs;
        if docs % PartCounters::NOTED == 0 {
            let [a, b] = part.to_be_bytes();
            self.put(Table::Meta, [b'p', a, b], row::encode(&docs));
        }
        Ok(doc)
    }

    /// The next number in the change log of a partition.
    pub fn next_change(&mut self, part: u16) -> Result<u64, StoreError> {
        let counters = self.part(part)?;
        counters.log += 1;
        let n = counters.log;
        if let Some(heads) = &mut self.kept.log_heads {
            heads.insert(part, n);
        }
        Ok(n)
    }

    fn part(&mut self, part: u16) -> Result<&mut PartCounters, StoreError> {
        if !self.kept.parts.contains_key(&part) {
            let found = self.base.part_counters(part)?;
            self.kept.parts.insert(part, found);
        }
        Ok(self.kept.parts.get_mut(&part).expect("inserted above"))
    }

    /// Rows of URLs that have changed, in the order of their keys.
    pub fn changed_urls(&self) -> Vec<(UrlKey, &Row)> {
        let rows = self.rows.iter().filter(|(_, row)| row.dirty);
        let mut dirty: Vec<(UrlKey, &Row)> = rows.map(|(k, row)| (*k, row)).collect();
        dirty.sort_unstable_by_key(|(k, _)| *k);
        dirty
    }

    /// Rows of hosts that were read, in the order of their keys.
    pub fn touched_hosts(&self) -> Vec<(HostKey, &HostRow)> {
        let mut hosts: Vec<(HostKey, &HostRow)> =
            self.hosts.iter().map(|(k, host)| (*k, host)).collect();
        hosts.sort_unstable_by_key(|(k, _)| *k);
        hosts
    }

    /// What is to be written beside rows of URLs and hosts, table by table.
    pub fn take_writes(&mut self) -> [Vec<Write>; TABLES.len()] {
        std::mem::take(&mut self.out)
    }

    /// Now that it is written: which rows of loaded hosts were queued.
    pub fn committed(mut self) -> Vec<Entry> {
        // Who gave a host back does not want its rows told.
        self.queued.retain(|entry| self.hosts[&entry.key.host].claimed);
        // A row may have changed after it was queued: met on a shorter way, taken over, moved.
        let jobs = &self.kept.jobs;
        self.queued.retain_mut(|entry| {
            let head = &self.rows[&entry.key].head;
            let now = handed_to(head, |job| is_open(jobs, job));
            (entry.job, entry.depth) = now.unwrap_or((head.job(), head.depth));
            (entry.attempts, entry.expand) = (head.attempts, head.expand);
            (entry.role, entry.hops) = (head.role, head.hops);
            entry.again = head.is_again();
            head.place == Some(entry.place)
        });
        let cache: &mut HostCache = &mut self.kept.hosts;
        self.hosts.into_iter().for_each(|(k, host)| cache.keep(k, host));
        self.queued
    }
}
