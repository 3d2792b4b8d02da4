//! The commit of the embedded store: reads what a batch touches into an overlay, applies the
//! batch to it, writes the overlay as one fjall batch.
//!
//! Order matters and is: jobs, results, releases, calendar, discoveries, claims. A host that
//! is given back and found again in the same batch is thus scheduled, not forgotten.

use super::key::{self, ASLEEP};
use super::{EmbeddedStore, Kept, PartCounters, ReadyRow};
use crate::StoreError;
use crate::batch::{Batch, Committed, Discovery, JobChange, Next, PageResult};
use crate::row::{self, HostRow, JobCounters, JobRow, PayloadRow, UrlHead, UrlState, damaged};
use crate::rule::{Again, found_again, outdated, was_handed_out};
use argiope_frontier::{Entry, HostWindow, Place, Refill, Release};
use argiope_model::{CanonicalUrl, DocId, HostKey, JobId, JobState, OutcomeKind, Time, UrlKey};
use fjall::{OwnedWriteBatch, PersistMode};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Calendar rows moved per commit; the rest follows with the next.
const MAX_DUE: usize = 1024;

struct Row {
    head: UrlHead,
    url: Box<str>,
    dirty: bool,
}

struct Work<'a> {
    store: &'a EmbeddedStore,
    kept: &'a mut Kept,
    out: OwnedWriteBatch,
    now: Time,
    rows: HashMap<UrlKey, Row>,
    hosts: HashMap<HostKey, HostRow>,
    parts: BTreeSet<u16>,
    jobs: BTreeSet<JobId>,
    queued: Vec<Entry>,
}

impl EmbeddedStore {
    pub(super) fn apply(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut kept = self.kept();
        let answer = self.apply_to(&mut kept, batch);
        if answer.is_err() {
            // Whole or not at all: what was counted in memory was not written.
            *kept = self.read_kept()?;
        }
        answer
    }

    fn apply_to(&self, kept: &mut Kept, batch: Batch) -> Result<Committed, StoreError> {
        let mut work = Work {
            store: self,
            kept: &mut *kept,
            out: self.db.batch().durability(Some(PersistMode::SyncData)),
            now: batch.now,
            rows: HashMap::new(),
            hosts: HashMap::new(),
            parts: BTreeSet::new(),
            jobs: BTreeSet::new(),
            queued: Vec::new(),
        };
        for change in batch.jobs {
            work.job_change(change)?;
        }
        for page in batch.pages {
            work.page(page)?;
        }
        for release in batch.releases {
            work.release(release)?;
        }
        work.calendar()?;
        let mut discoveries = batch.discoveries;
        discoveries.sort_by_key(|d| d.key);
        for found in discoveries {
            work.discovery(found)?;
        }
        let claimed = work.claim(batch.claims.hosts)?;
        for (kind, segment, length) in batch.segments {
            let mut k = vec![b's', kind as u8];
            k.extend_from_slice(&segment.to_be_bytes());
            work.out.insert(&self.meta, k, row::encode(&length));
        }
        if batch.next_page > work.kept.next_page {
            work.kept.next_page = batch.next_page;
            work.out.insert(&self.meta, *b"n", row::encode(&batch.next_page));
        }
        let touched = work.jobs.clone();
        let queued = work.finish()?;

        let mut answer = Committed { queued, ..Committed::default() };
        for refill in &batch.refills {
            answer.refills.push(self.window(refill, &kept.jobs)?);
        }
        for (host, not_before) in claimed {
            let refill = Refill { host, after: None, limit: batch.claims.window };
            let window = self.window(&refill, &kept.jobs)?;
            answer.claimed.push(HostWindow { not_before, ..window });
        }
        // A window read after the commit holds the rows just queued; they are not told twice.
        if !answer.claimed.is_empty() {
            let new: HashSet<HostKey> = answer.claimed.iter().map(|w| w.host).collect();
            answer.queued.retain(|e| !new.contains(&e.key.host));
        }
        answer.jobs = touched.iter().filter_map(|id| kept.jobs.get(id).cloned()).collect();
        answer.next_due = self.next_due()?;
        Ok(answer)
    }

    fn next_due(&self) -> Result<Option<Time>, StoreError> {
        let wake = match self.queue.prefix([key::SCHEDULE]).next() {
            Some(pair) => {
                let k = pair.key().map_err(self.failed("read the schedule"))?;
                key::schedule_parts(&k).filter(|(wake, _)| *wake != ASLEEP)
            }
            None => None,
        };
        let due = match self.queue.prefix([key::CALENDAR]).next() {
            Some(pair) => {
                let k = pair.key().map_err(self.failed("read the calendar"))?;
                key::calendar_parts(&k).map(|(due, _)| due)
            }
            None => None,
        };
        let wake = wake.map(|(wake, _)| Time(i64::from(wake) * 1000));
        Ok(match (wake, due) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        })
    }
}

impl Work<'_> {
    fn job(&mut self, id: JobId) -> Result<&mut JobRow, StoreError> {
        self.jobs.insert(id);
        self.kept.jobs.get_mut(&id).ok_or_else(|| damaged("jobs", format!("no job {id}")))
    }

    fn counters(&mut self, id: JobId) -> Result<&mut JobCounters, StoreError> {
        Ok(&mut self.job(id)?.counters)
    }

    fn job_change(&mut self, change: JobChange) -> Result<(), StoreError> {
        match change {
            JobChange::New(job) => {
                self.jobs.insert(job.id);
                let row =
                    JobRow { job: *job, state: JobState::Open, counters: JobCounters::default() };
                self.kept.jobs.insert(row.job.id, row);
            }
            JobChange::Renew(job) => {
                let row = self.job(job.id)?;
                row.job = *job;
                row.state = JobState::Open;
                self.wake_sleepers()?;
            }
            JobChange::State(id, state) => {
                self.job(id)?.state = state;
                if state == JobState::Open {
                    self.wake_sleepers()?;
                }
            }
            JobChange::Ran(id, time) => {
                self.counters(id)?.run_ms += time.as_millis() as u64;
            }
        }
        Ok(())
    }

    /// Hosts that slept because none of their jobs was worked on are due again.
    fn wake_sleepers(&mut self) -> Result<(), StoreError> {
        let start = key::schedule(ASLEEP, HostKey { part: 0, host: [0; 6] });
        let mut sleepers = Vec::new();
        for pair in self.store.queue.range(start..[key::SCHEDULE + 1; 13]) {
            let k = pair.key().map_err(self.store.failed("read the schedule"))?;
            sleepers.extend(key::schedule_parts(&k).map(|(_, host)| host));
        }
        sleepers.into_iter().try_for_each(|host| self.schedule(host))
    }

    fn row(&mut self, k: UrlKey) -> Result<Option<&mut Row>, StoreError> {
        if !self.rows.contains_key(&k) {
            let store = self.store;
            let read = |bytes: &[u8]| {
                let (head, rest) = UrlHead::decode(bytes)?;
                let url = std::str::from_utf8(rest).map_err(|e| damaged("URLs", e))?;
                Ok(Row { head, url: url.into(), dirty: false })
            };
            match store.get(&store.urls, &k.to_bytes(), read)? {
                Some(row) => {
                    self.rows.insert(k, row);
                }
                None => return Ok(None),
            }
        }
        Ok(self.rows.get_mut(&k))
    }

    fn host(&mut self, k: HostKey) -> Result<Option<&mut HostRow>, StoreError> {
        if !self.hosts.contains_key(&k) {
            let store = self.store;
            let read = |v: &[u8]| row::decode("hosts", v);
            match store.get(&store.hosts, &k.to_bytes(), read)? {
                Some(host) => {
                    self.hosts.insert(k, host);
                }
                None => return Ok(None),
            }
        }
        Ok(self.hosts.get_mut(&k))
    }

    fn known_host(&mut self, k: HostKey) -> Result<&mut HostRow, StoreError> {
        self.host(k)?.ok_or_else(|| damaged("hosts", "a URL without its host"))
    }

    fn part(&mut self, part: u16) -> Result<&mut PartCounters, StoreError> {
        if !self.kept.parts.contains_key(&part) {
            let [a, b] = part.to_be_bytes();
            let store = self.store;
            let read = |v: &[u8]| row::decode("counters", v);
            let found = store.get(&store.meta, &[b'p', a, b], read)?;
            self.kept.parts.insert(part, found.unwrap_or_default());
        }
        self.parts.insert(part);
        Ok(self.kept.parts.get_mut(&part).expect("inserted above"))
    }

    /// Adds a ready row and, where its host is not loaded, makes sure it is scheduled.
    fn enqueue(&mut self, entry: Entry) -> Result<(), StoreError> {
        let host_key = entry.key.host;
        let ready = ReadyRow {
            url: entry.key.url,
            job: entry.job,
            attempts: entry.attempts,
            expand: entry.expand,
        };
        let k = key::ready(host_key, entry.place);
        self.out.insert(&self.store.queue, k, row::encode(&ready));
        let host = self.known_host(host_key)?;
        host.ready += 1;
        if host.claimed {
            self.queued.push(entry);
            return Ok(());
        }
        self.schedule(host_key)
    }

    /// Puts an unclaimed host with ready rows on the schedule, as early as it may be asked.
    fn schedule(&mut self, k: HostKey) -> Result<(), StoreError> {
        let now = self.now;
        let host = self.known_host(k)?;
        let wake = key::wake_of(host.not_before.max(Time(now.0 / 1000 * 1000)));
        if host.claimed || host.ready == 0 || host.wake.is_some_and(|w| w <= wake) {
            return Ok(());
        }
        let old = host.wake.replace(wake);
        if let Some(old) = old {
            self.out.remove(&self.store.queue, key::schedule(old, k));
        }
        self.out.insert(&self.store.queue, key::schedule(wake, k), []);
        Ok(())
    }

    fn page(&mut self, page: PageResult) -> Result<(), StoreError> {
        let PageResult { entry, next, capture, .. } = page;
        self.out.remove(&self.store.queue, key::ready(entry.key.host, entry.place));
        let host = self.known_host(entry.key.host)?;
        host.ready = host.ready.saturating_sub(1);
        if let Some(capture) = &capture {
            host.bytes += capture.bytes;
            match next {
                Next::Done(UrlState::Fetched) => host.fetched += 1,
                Next::Done(UrlState::Failed) | Next::Retry(_) => host.failed += 1,
                _ => {}
            }
        }
        let counters = self.counters(entry.job)?;
        counters.words += page.words;
        counters.links += page.link_count;
        if let Some(capture) = &capture {
            counters.bytes += capture.bytes;
            match next {
                Next::Done(UrlState::Fetched)
                    if capture.outcome.kind == OutcomeKind::NotModified =>
                {
                    counters.unchanged += 1;
                }
                Next::Done(UrlState::Fetched) => counters.fetched += 1,
                Next::Done(UrlState::Redirected) => counters.redirects += 1,
                Next::Done(UrlState::Skipped(reason)) => *counters.skipped_mut(reason) += 1,
                Next::Done(UrlState::Failed) => {
                    counters.failed += 1;
                    counters.errors += 1;
                }
                Next::Retry(_) => counters.errors += 1,
                _ => {}
            }
        }
        let Some(row) = self.row(entry.key)? else {
            return Err(damaged("URLs", format!("{} was handed out and is unknown", entry.url)));
        };
        if !was_handed_out(&row.head, &entry) {
            return Err(damaged("URLs", format!("{} has a result and no ready row", entry.url)));
        }
        let owner = row.head.job();
        let limited = self.kept.jobs.get(&owner).is_some_and(|j| j.job.limits.depth.is_some());
        let row = self.rows.get_mut(&entry.key).expect("read above");
        row.dirty = true;
        let head = &mut row.head;
        if let Some(capture) = &capture {
            head.fetched_at = Some(capture.time);
        }
        let mut again = false;
        match next {
            Next::Retry(due) => {
                head.attempts = head.attempts.saturating_add(1);
                head.due = Some(due);
            }
            Next::Done(state) => {
                head.state = state;
                head.attempts = 0;
                if state == UrlState::Fetched {
                    head.visits += 1;
                    if page.changed && head.visits > 1 {
                        head.changes += 1;
                    }
                    if page.changed {
                        head.changed_at = capture.as_ref().map(|c| c.time);
                    }
                }
                (head.place, head.due, head.expand) = (None, None, false);
                again = matches!(state, UrlState::Fetched | UrlState::Redirected);
            }
            Next::Expanded => {
                (head.place, head.due, head.expand) = (None, None, false);
                again = true;
            }
        }
        let requeue = (again && outdated(head, &entry, limited)).then(|| {
            (head.place, head.expand) = (Some(entry.place), true);
            Entry { job: owner, depth: head.depth, expand: true, attempts: 0, ..entry.clone() }
        });
        let (still_queued, due) = (head.place.is_some(), head.due);
        if let Some(due) = due {
            let value = row::encode(&(entry.place, owner));
            self.out.insert(&self.store.queue, key::calendar(due, entry.key), value);
        }
        if !still_queued {
            self.counters(owner)?.queued -= 1;
        }
        if let Some(entry) = requeue {
            self.enqueue(entry)?;
        }
        if let Some(blob) = page.links {
            self.out.insert(&self.store.links, entry.key.to_bytes(), blob);
        }
        if let Some(capture) = capture {
            let part = entry.key.host.part;
            let counters = self.part(part)?;
            counters.log += 1;
            let n = counters.log;
            let value = row::encode(&(entry.key, capture.time, page.changed));
            self.out.insert(&self.store.log, key::log(part, n), value);
            if let Some(payload) = page.payload {
                let first =
                    PayloadRow { url: entry.url.clone(), time: capture.time, text: capture.text };
                let k = key::payload(payload.site, &payload.digest);
                self.out.insert(&self.store.payloads, k, row::encode(&first));
            }
            let k = key::capture(entry.key, capture.time);
            self.out.insert(&self.store.captures, k, row::encode(&capture));
        }
        Ok(())
    }

    fn release(&mut self, release: Release) -> Result<(), StoreError> {
        self.out.remove(&self.store.queue, key::claim(release.host));
        let host = self.known_host(release.host)?;
        host.claimed = false;
        host.not_before = release.not_before;
        let idle = host.ready > 0 && host.wake.is_none();
        // Who put it to sleep did not know of the rows that this batch queued.
        let asleep = release.asleep && self.queued.iter().all(|e| e.key.host != release.host);
        if asleep && idle {
            let host = self.known_host(release.host)?;
            host.wake = Some(ASLEEP);
            let k = key::schedule(ASLEEP, release.host);
            self.out.insert(&self.store.queue, k, []);
            return Ok(());
        }
        self.schedule(release.host)
    }

    /// Moves what is due from the calendar into the ready queues.
    fn calendar(&mut self) -> Result<(), StoreError> {
        let zero = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
        let (start, end) =
            (key::calendar(Time(0), zero), key::calendar(Time(self.now.0 + 1), zero));
        let mut due = Vec::new();
        for pair in self.store.queue.range(start..end).take(MAX_DUE) {
            let (k, v) = pair.into_inner().map_err(self.store.failed("read the calendar"))?;
            let Some((_, url)) = key::calendar_parts(&k) else {
                return Err(damaged("the calendar", "short key"));
            };
            let (place, job): (Place, JobId) = row::decode("the calendar", &v)?;
            due.push((k, url, place, job));
        }
        for (k, url_key, place, job) in due {
            self.out.remove(&self.store.queue, k);
            let Some(row) = self.row(url_key)? else {
                return Err(damaged("the calendar", "a row without its URL"));
            };
            row.dirty = true;
            row.head.due = None;
            let entry = Entry {
                key: url_key,
                place,
                url: CanonicalUrl::parse(&row.url).map_err(|e| damaged("URLs", e))?,
                doc: row.head.doc,
                job,
                depth: row.head.depth,
                attempts: row.head.attempts,
                expand: row.head.expand,
            };
            self.enqueue(entry)?;
        }
        Ok(())
    }

    fn discovery(&mut self, found: Discovery) -> Result<(), StoreError> {
        if self.row(found.key)?.is_none() {
            return self.new_url(found);
        }
        let row = self.row(found.key)?.expect("read above");
        let owner = row.head.job();
        let owner_state = self.kept.jobs.get(&owner).map_or(JobState::Dropped, |job| job.state);
        let limited = self.kept.jobs.get(&found.job).is_some_and(|j| j.job.limits.depth.is_some());
        let row = self.rows.get_mut(&found.key).expect("read above");
        let again = found_again(&mut row.head, &found, owner_state, limited);
        if again == Again::Nothing {
            return Ok(());
        }
        row.dirty = true;
        let doc = row.head.doc;
        match again {
            Again::Nothing | Again::Row => Ok(()),
            Again::TakeOver => {
                self.counters(owner)?.queued -= 1;
                self.counters(found.job)?.queued += 1;
                let row = self.rows.get(&found.key).expect("read above");
                let place = row.head.place.expect("a queued URL has a place");
                let (attempts, expand) = (row.head.attempts, row.head.expand);
                match row.head.due {
                    Some(due) => {
                        let value = row::encode(&(place, found.job));
                        self.out.insert(&self.store.queue, key::calendar(due, found.key), value);
                    }
                    None => {
                        let ready =
                            ReadyRow { url: found.key.url, job: found.job, attempts, expand };
                        let k = key::ready(found.key.host, place);
                        self.out.insert(&self.store.queue, k, row::encode(&ready));
                        // Where the host is loaded, the row was passed over as another job's.
                        let entry = Entry { attempts, ..entry_of(&found, doc, place, expand) };
                        if self.known_host(found.key.host)?.claimed {
                            self.queued.push(entry);
                        } else {
                            self.schedule(found.key.host)?;
                        }
                    }
                }
                Ok(())
            }
            Again::Queue(_) | Again::Expand => {
                let expand = again == Again::Expand;
                row.head.place = Some(found.place);
                row.head.expand = expand;
                if !expand {
                    row.head.state = UrlState::Queued;
                }
                let counters = self.counters(found.job)?;
                counters.queued += 1;
                if let Again::Queue(Some(reason)) = again {
                    *counters.skipped_mut(reason) -= 1;
                }
                self.enqueue(entry_of(&found, doc, found.place, expand))
            }
        }
    }

    fn new_url(&mut self, found: Discovery) -> Result<(), StoreError> {
        let host_key = found.key.host;
        let new_host = self.host(host_key)?.is_none();
        if new_host {
            let host = HostRow {
                origin: found.url.origin().into(),
                ready: 0,
                claimed: false,
                wake: None,
                not_before: Time(0),
                known: 0,
                fetched: 0,
                failed: 0,
                bytes: 0,
            };
            self.hosts.insert(host_key, host);
        }
        self.known_host(host_key)?.known += 1;
        let part = self.part(host_key.part)?;
        let doc = DocId::new(part.docs, host_key.part);
        part.docs += 1;
        self.out.insert(&self.store.docs, key::doc(doc), found.key.to_bytes());
        let counters = self.counters(found.job)?;
        counters.known += 1;
        counters.hosts += u64::from(new_host);
        match found.skip {
            Some(reason) => *counters.skipped_mut(reason) += 1,
            None => counters.queued += 1,
        }
        let head = UrlHead {
            doc,
            state: found.skip.map_or(UrlState::Queued, UrlState::Skipped),
            depth: found.depth,
            jobs: vec![found.job],
            first_seen: self.now,
            fetched_at: None,
            visits: 0,
            changes: 0,
            changed_at: None,
            attempts: 0,
            place: found.skip.is_none().then_some(found.place),
            due: None,
            expand: false,
        };
        if found.skip.is_none() {
            self.enqueue(entry_of(&found, doc, found.place, false))?;
        }
        self.rows.insert(found.key, Row { head, url: found.url.as_str().into(), dirty: true });
        Ok(())
    }

    /// Claims hosts that are due, those scheduled by this very batch included.
    fn claim(&mut self, limit: usize) -> Result<Vec<(HostKey, Time)>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let now = key::wake_of(self.now);
        let none = HostKey { part: 0, host: [0; 6] };
        let mut due: Vec<HostKey> = Vec::new();
        for pair in self.store.queue.range(key::schedule(0, none)..key::schedule(now + 1, none)) {
            if due.len() >= limit {
                break;
            }
            let k = pair.key().map_err(self.store.failed("read the schedule"))?;
            due.extend(key::schedule_parts(&k).map(|(_, host)| host));
        }
        let fresh = self.hosts.iter().filter(|(_, h)| h.wake.is_some_and(|w| w <= now));
        due.extend(fresh.map(|(k, _)| *k));
        let mut claimed = Vec::new();
        for k in due {
            if claimed.len() >= limit {
                break;
            }
            let host = self.known_host(k)?;
            // The schedule was read as it stood before this batch.
            let Some(wake) = host.wake.filter(|w| *w <= now && !host.claimed) else { continue };
            host.wake = None;
            host.claimed = true;
            claimed.push((k, host.not_before));
            self.out.remove(&self.store.queue, key::schedule(wake, k));
            self.out.insert(&self.store.queue, key::claim(k), []);
        }
        Ok(claimed)
    }

    /// Writes the overlay and commits.
    fn finish(mut self) -> Result<Vec<Entry>, StoreError> {
        let store = self.store;
        for (k, row) in &self.rows {
            if row.dirty {
                self.out.insert(&store.urls, k.to_bytes(), row.head.encode(&row.url));
            }
        }
        for (k, host) in &self.hosts {
            self.out.insert(&store.hosts, k.to_bytes(), row::encode(host));
        }
        for part in &self.parts {
            let [a, b] = part.to_be_bytes();
            let counters = self.kept.parts[part];
            self.out.insert(&store.meta, [b'p', a, b], row::encode(&counters));
        }
        for id in &self.jobs {
            let [a, b, c, d] = id.0.to_be_bytes();
            self.out.insert(&store.meta, [b'j', a, b, c, d], row::encode(&self.kept.jobs[id]));
        }
        self.out.commit().map_err(store.failed("commit"))?;
        // Who gave a host back does not want its rows told.
        self.queued.retain(|entry| self.hosts[&entry.key.host].claimed);
        // A row may have changed after it was queued: met on a shorter way, taken over.
        for entry in &mut self.queued {
            let head = &self.rows[&entry.key].head;
            entry.job = head.job();
            (entry.depth, entry.attempts, entry.expand) = (head.depth, head.attempts, head.expand);
        }
        Ok(self.queued)
    }
}

fn entry_of(found: &Discovery, doc: DocId, place: Place, expand: bool) -> Entry {
    Entry {
        key: found.key,
        place,
        url: found.url.clone(),
        doc,
        job: found.job,
        depth: found.depth,
        attempts: 0,
        expand,
    }
}
