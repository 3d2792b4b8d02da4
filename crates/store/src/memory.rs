//! The in-memory store: the model the real ones are compared with.
//!
//! Plain maps, no bytes, no caches, every answer computed from the rows each time. It is
//! right by being simple; nothing survives it.

use crate::batch::{Batch, Committed, Discovery, JobChange, Next, PageResult};
use crate::row::{
    Change, HostRow, JobCounters, JobRow, PayloadRow, SegmentKind, UrlHead, UrlRow, UrlState,
    damaged,
};
use crate::rule::{Again, found_again, outdated, was_handed_out};
use crate::{Store, StoreError};
use argiope_frontier::{Entry, HostWindow, Place, Refill};
use argiope_model::{
    Capture, DocId, HostKey, JobId, JobState, OutcomeKind, PayloadDigest, SiteKey, Time, UrlKey,
};
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
    /// Hosts that sleep until one of their jobs is worked on.
    asleep: BTreeMap<HostKey, bool>,
    ready: BTreeMap<(HostKey, Place), UrlKey>,
    calendar: BTreeMap<(Time, UrlKey), Place>,
    captures: BTreeMap<(UrlKey, Time), Capture>,
    links: BTreeMap<UrlKey, Vec<u8>>,
    log: BTreeMap<(u16, u64), (UrlKey, Time, bool)>,
    payloads: BTreeMap<(SiteKey, PayloadDigest), PayloadRow>,
    segments: BTreeMap<(SegmentKind, u32), u64>,
    jobs: BTreeMap<JobId, JobRow>,
    next_page: u64,
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
        let row = |(&(_, n), &(key, time, changed)): (&(u16, u64), &(UrlKey, Time, bool))| Change {
            n,
            key,
            time,
            changed,
        };
        Ok(rows.map(row).collect())
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(self.tables().next_page.max(1))
    }
}

impl Tables {
    fn apply(&mut self, batch: Batch) -> Result<Committed, StoreError> {
        let now = batch.now;
        let before = self.jobs.clone();
        // As it stood before the batch: what is put there now comes back with a later one.
        let due: Vec<(Time, UrlKey)> =
            self.calendar.keys().copied().take_while(|(t, _)| *t <= now).collect();
        let mut queued: Vec<UrlKey> = Vec::new();
        for change in batch.jobs {
            match change {
                JobChange::New(job) => {
                    let counters = JobCounters::default();
                    let row = JobRow { job: *job, state: JobState::Open, counters };
                    self.jobs.insert(row.job.id, row);
                }
                JobChange::Renew(job) => {
                    let row = self.job(job.id)?;
                    (row.job, row.state) = (*job, JobState::Open);
                    self.asleep.clear();
                }
                JobChange::State(id, state) => {
                    self.job(id)?.state = state;
                    if state == JobState::Open {
                        self.asleep.clear();
                    }
                }
                JobChange::Ran(id, time) => {
                    self.job(id)?.counters.run_ms += time.as_millis() as u64;
                }
            }
        }
        for page in batch.pages {
            queued.extend(self.page(page)?);
        }
        for release in batch.releases {
            let host = self.host(release.host)?;
            host.claimed = false;
            host.not_before = release.not_before;
            // Who put it to sleep did not know of the rows that this batch queued.
            if release.asleep && queued.iter().all(|k| k.host != release.host) {
                self.asleep.insert(release.host, true);
            }
        }
        for at in due {
            let place = self.calendar.remove(&at).expect("listed above");
            self.url(at.1)?.head.due = None;
            self.enqueue(at.1, place);
            queued.push(at.1);
        }
        let mut discoveries = batch.discoveries;
        discoveries.sort_by_key(|d| d.key);
        for found in discoveries {
            queued.extend(self.discovery(found, now)?);
        }
        for (kind, segment, length) in batch.segments {
            self.segments.insert((kind, segment), length);
        }
        self.next_page = self.next_page.max(batch.next_page);
        let due = |t: &Tables, k: &HostKey, h: &HostRow| {
            !h.claimed
                && t.ready_of(*k) > 0
                && !t.asleep.contains_key(k)
                && seconds(h.not_before) <= seconds(now)
        };
        let claimed: Vec<HostKey> = self
            .hosts
            .iter()
            .filter(|(k, h)| due(self, k, h))
            .map(|(k, _)| *k)
            .take(batch.claims.hosts)
            .collect();
        let mut answer = Committed::default();
        for refill in &batch.refills {
            answer.refills.push(self.window(refill));
        }
        for k in &claimed {
            self.host(*k)?.claimed = true;
            let window = self.window(&Refill { host: *k, after: None, limit: batch.claims.window });
            answer.claimed.push(HostWindow { not_before: self.hosts[k].not_before, ..window });
        }
        let told = queued.into_iter().filter(|k| self.hosts[&k.host].claimed);
        answer.queued = told
            .filter(|k| !claimed.contains(&k.host))
            .filter_map(|k| self.urls[&k].place.map(|place| self.entry(k, place)))
            .collect();
        for (k, host) in &mut self.hosts {
            host.ready = self.ready.range(range_of(*k)).count() as u64;
        }
        let rows = self.jobs.values().filter(|row| before.get(&row.job.id) != Some(row));
        answer.jobs = rows.cloned().collect();
        let wake = self
            .hosts
            .iter()
            .filter(|(k, h)| !h.claimed && h.ready > 0 && !self.asleep.contains_key(k));
        let wake = wake.map(|(_, h)| Time(seconds(h.not_before) * 1000)).min();
        let due = self.calendar.keys().next().map(|(t, _)| *t);
        answer.next_due = wake.into_iter().chain(due).min();
        Ok(answer)
    }

    fn job(&mut self, id: JobId) -> Result<&mut JobRow, StoreError> {
        self.jobs.get_mut(&id).ok_or_else(|| damaged("jobs", format!("no job {id}")))
    }

    fn host(&mut self, k: HostKey) -> Result<&mut HostRow, StoreError> {
        self.hosts.get_mut(&k).ok_or_else(|| damaged("hosts", "a URL without its host"))
    }

    fn url(&mut self, k: UrlKey) -> Result<&mut UrlRow, StoreError> {
        self.urls.get_mut(&k).ok_or_else(|| damaged("URLs", "handed out and unknown"))
    }

    fn ready_of(&self, host: HostKey) -> usize {
        self.ready.range(range_of(host)).count()
    }

    fn enqueue(&mut self, k: UrlKey, place: Place) {
        self.asleep.remove(&k.host);
        self.ready.insert((k.host, place), k);
    }

    fn entry(&self, k: UrlKey, place: Place) -> Entry {
        let row = &self.urls[&k];
        Entry {
            key: k,
            place,
            url: row.url.clone(),
            doc: row.doc,
            job: row.job(),
            depth: row.depth,
            attempts: row.attempts,
            expand: row.expand,
        }
    }

    fn window(&self, refill: &Refill) -> HostWindow {
        let open = |k: &UrlKey| {
            self.jobs.get(&self.urls[k].job()).is_some_and(|j| j.state == JobState::Open)
        };
        let rows: Vec<(Place, UrlKey)> = self
            .ready
            .range(range_of(refill.host))
            .filter(|((_, place), _)| refill.after.is_none_or(|after| *place > after))
            .map(|((_, place), k)| (*place, *k))
            .collect();
        let mut out = HostWindow {
            host: refill.host,
            entries: Vec::new(),
            cursor: refill.after,
            more: false,
            not_before: Time(0),
        };
        for (place, k) in rows {
            if out.entries.len() == refill.limit {
                out.more = true;
                break;
            }
            out.cursor = Some(place);
            if open(&k) {
                out.entries.push(self.entry(k, place));
            }
        }
        out
    }

    fn page(&mut self, page: PageResult) -> Result<Option<UrlKey>, StoreError> {
        let PageResult { entry, next, capture, payload, links, changed, words, link_count } = page;
        let k = entry.key;
        self.ready.remove(&(k.host, entry.place));
        let counters = &mut self.job(entry.job)?.counters;
        counters.words += words;
        counters.links += link_count;
        if let Some(c) = &capture {
            counters.bytes += c.bytes;
            match &next {
                Next::Done(UrlState::Fetched) if c.outcome.kind == OutcomeKind::NotModified => {
                    counters.unchanged += 1;
                }
                Next::Done(UrlState::Fetched) => counters.fetched += 1,
                Next::Done(UrlState::Redirected) => counters.redirects += 1,
                Next::Done(UrlState::Skipped(reason)) => *counters.skipped_mut(*reason) += 1,
                Next::Done(UrlState::Failed) => counters.failed += 1,
                Next::Done(UrlState::Queued) | Next::Retry(_) | Next::Expanded => {}
            }
            if matches!(next, Next::Done(UrlState::Failed) | Next::Retry(_)) {
                counters.errors += 1;
            }
            let host = self.host(k.host)?;
            host.bytes += c.bytes;
            host.fetched += u64::from(next == Next::Done(UrlState::Fetched));
            host.failed += u64::from(matches!(next, Next::Done(UrlState::Failed) | Next::Retry(_)));
        }
        let row = self.url(k)?;
        if !was_handed_out(&row.head, &entry) {
            return Err(damaged("URLs", format!("{} has a result and no ready row", entry.url)));
        }
        let (owner, url) = (row.job(), row.url.clone());
        let limited = self.job(owner)?.job.limits.depth.is_some();
        let head = &mut self.url(k)?.head;
        if let Some(c) = &capture {
            head.fetched_at = Some(c.time);
        }
        let mut requeued = None;
        if let Next::Retry(due) = next {
            head.attempts = head.attempts.saturating_add(1);
            head.due = Some(due);
            self.calendar.insert((due, k), entry.place);
        } else {
            let mut follow = true;
            if let Next::Done(state) = next {
                head.state = state;
                head.attempts = 0;
                follow = matches!(state, UrlState::Fetched | UrlState::Redirected);
                if state == UrlState::Fetched {
                    head.visits += 1;
                    head.changes += u32::from(changed && head.visits > 1);
                    if changed {
                        head.changed_at = capture.as_ref().map(|c| c.time);
                    }
                }
            }
            if follow && outdated(head, &entry, limited) {
                (head.place, head.due, head.expand) = (Some(entry.place), None, true);
                self.enqueue(k, entry.place);
                requeued = Some(k);
            } else {
                (head.place, head.due, head.expand) = (None, None, false);
                self.job(owner)?.counters.queued -= 1;
            }
        }
        if let Some(blob) = links {
            self.links.insert(k, blob);
        }
        if let Some(capture) = capture {
            let n = 1 + self.log.range((k.host.part, 0)..=(k.host.part, u64::MAX)).count() as u64;
            self.log.insert((k.host.part, n), (k, capture.time, changed));
            if let Some(p) = payload {
                let first = PayloadRow { url, time: capture.time, text: capture.text };
                self.payloads.insert((p.site, p.digest), first);
            }
            self.captures.insert((k, capture.time), capture);
        }
        Ok(requeued)
    }

    fn discovery(&mut self, found: Discovery, now: Time) -> Result<Option<UrlKey>, StoreError> {
        let k = found.key;
        if !self.urls.contains_key(&k) {
            return self.new_url(found, now);
        }
        let owner = self.urls[&k].job();
        let owner_state = self.jobs.get(&owner).map_or(JobState::Dropped, |j| j.state);
        let limited = self.job(found.job)?.job.limits.depth.is_some();
        let row = self.url(k)?;
        match found_again(&mut row.head, &found, owner_state, limited) {
            Again::Nothing | Again::Row => Ok(None),
            Again::TakeOver => {
                let waiting = row.due.is_some();
                self.job(owner)?.counters.queued -= 1;
                self.job(found.job)?.counters.queued += 1;
                if waiting {
                    return Ok(None);
                }
                self.asleep.remove(&k.host);
                Ok(Some(k))
            }
            again => {
                row.head.place = Some(found.place);
                row.head.expand = again == Again::Expand;
                if let Again::Queue(_) = again {
                    row.head.state = UrlState::Queued;
                }
                let counters = &mut self.job(found.job)?.counters;
                counters.queued += 1;
                if let Again::Queue(Some(reason)) = again {
                    *counters.skipped_mut(reason) -= 1;
                }
                self.enqueue(k, found.place);
                Ok(Some(k))
            }
        }
    }

    fn new_url(&mut self, found: Discovery, now: Time) -> Result<Option<UrlKey>, StoreError> {
        let k = found.key;
        let part = k.host.part;
        let running = self.urls.keys().filter(|u| u.host.part == part).count() as u64;
        let new_host = !self.hosts.contains_key(&k.host);
        self.hosts
            .entry(k.host)
            .or_insert_with(|| HostRow {
                origin: found.url.origin().into(),
                ready: 0,
                claimed: false,
                wake: None,
                not_before: Time(0),
                known: 0,
                fetched: 0,
                failed: 0,
                bytes: 0,
            })
            .known += 1;
        let counters = &mut self.job(found.job)?.counters;
        counters.known += 1;
        counters.hosts += u64::from(new_host);
        match found.skip {
            Some(reason) => *counters.skipped_mut(reason) += 1,
            None => counters.queued += 1,
        }
        let head = UrlHead {
            doc: DocId::new(running, part),
            state: found.skip.map_or(UrlState::Queued, UrlState::Skipped),
            depth: found.depth,
            jobs: vec![found.job],
            first_seen: now,
            fetched_at: None,
            visits: 0,
            changes: 0,
            changed_at: None,
            attempts: 0,
            place: found.skip.is_none().then_some(found.place),
            due: None,
            expand: false,
        };
        self.urls.insert(k, UrlRow { head, url: found.url });
        if found.skip.is_some() {
            return Ok(None);
        }
        self.enqueue(k, found.place);
        Ok(Some(k))
    }
}

/// Whole seconds, rounded up: the schedule is no finer.
fn seconds(time: Time) -> i64 {
    (time.0.max(0) + 999) / 1000
}

fn range_of(host: HostKey) -> std::ops::RangeInclusive<(HostKey, Place)> {
    let all = Place { order: u64::MAX, seq: u64::MAX };
    (host, Place { order: 0, seq: 0 })..=(host, all)
}
