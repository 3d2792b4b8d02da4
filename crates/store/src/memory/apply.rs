//! A batch applied to the model, in the order every store keeps: jobs, results, imports, notes,
//! releases, forgiving, excluding, calendar, discoveries, visits again, forgetting, claims.

use super::Tables;
use crate::StoreError;
use crate::batch::{Batch, Committed, Discovery, JobChange, Next, PageResult};
use crate::row::{
    Change, Ended, HostRow, JobCounters, JobRow, PayloadRow, UrlRow, UrlState, damaged, disk_of,
};
use crate::rule::{
    Again, after_result, count_result, first_met, found_again, handed_to, is_news, moved,
    visited_again, was_handed_out,
};
use argiope_frontier::{Entry, HostWindow, Place, Refill, Temper};
use argiope_model::{DocId, HostKey, JobId, JobState, Role, Time, UrlKey};
use std::collections::BTreeMap;

impl Tables {
    pub(super) fn apply(&mut self, batch: Batch) -> Result<Committed, StoreError> {
        let now = batch.now;
        let before = self.jobs.clone();
        // As it stood before the batch: what is put there now comes back with a later one.
        let at_once = |(t, k): &(Time, UrlKey)| *t <= now || batch.exclude.contains(&k.host);
        let due: Vec<(Time, UrlKey)> = self.calendar.keys().copied().filter(at_once).collect();
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
        for page in batch.imports {
            self.import(page, now)?;
        }
        for note in batch.notes {
            if let Some(host) = self.hosts.get_mut(&note.host).filter(|host| host.claimed) {
                (host.not_before, host.temper) = (note.not_before, note.temper);
            }
        }
        for release in batch.releases {
            let host = self.host(release.host)?;
            host.claimed = false;
            (host.not_before, host.temper) = (release.not_before, release.temper);
            // Who put it to sleep did not know of the rows that this batch queued.
            if release.asleep && queued.iter().all(|k| k.host != release.host) {
                self.asleep.insert(release.host, true);
            }
        }
        for k in batch.forgive {
            if let Some(host) = self.hosts.get_mut(&k) {
                host.temper = Temper::default();
            }
        }
        for k in &batch.exclude {
            if let Some(host) = self.hosts.get_mut(k) {
                host.temper.excluded = true;
            }
        }
        for (name, on) in batch.exclusions.into_iter().collect::<BTreeMap<_, _>>() {
            match on {
                true => {
                    self.exclusions.entry(name).or_insert(now);
                }
                false => {
                    self.exclusions.remove(&name);
                }
            }
        }
        for (name, trap) in batch.traps.into_iter().collect::<BTreeMap<_, _>>() {
            match trap {
                Some(trap) => self.traps.insert(name, trap),
                None => self.traps.remove(&name),
            };
        }
        for (name, ms) in batch.delays.into_iter().collect::<BTreeMap<_, _>>() {
            match ms {
                Some(ms) => self.delays.insert(name, ms),
                None => self.delays.remove(&name),
            };
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
        let mut again = 0;
        for (k, place) in batch.again {
            let Some(row) = self.urls.get_mut(&k) else { continue };
            let Some(counted) = visited_again(&mut row.head, place) else { continue };
            again += u64::from(row.is_again());
            let job = row.job();
            let counters = &mut self.job(job)?.counters;
            counters.queued += 1;
            counters.take_back(counted);
            self.enqueue(k, place);
            queued.push(k);
        }
        for to in &batch.moves {
            let Some(row) = self.urls.get_mut(&to.key) else { continue };
            if let Some(from) = moved(&mut row.head, to)
                && let Some(place) = row.head.place
            {
                self.ready.remove(&(to.key.host, from));
                self.ready.insert((to.key.host, place), to.key);
            }
            if self.urls[&to.key].due.is_none() {
                queued.push(to.key);
            }
        }
        for (k, plan) in batch.plans {
            if let Some(row) = self.urls.get_mut(&k).filter(|r| r.state != UrlState::Forgotten) {
                row.head.plan = Some(plan);
            }
        }
        self.forget(batch.forget, now)?;
        for (kind, segment, length) in batch.segments {
            self.segments.insert((kind, segment), length);
        }
        self.next_page = self.next_page.max(batch.next_page);
        self.robots.extend(batch.robots);
        let mut claimed: Vec<HostKey> = Vec::new();
        for named in batch.claims.named {
            let host = self.hosts.entry(named.host);
            let host = host.or_insert_with(|| HostRow::new(&named.origin));
            if !host.claimed {
                host.claimed = true;
                self.asleep.remove(&named.host);
                claimed.push(named.host);
            }
        }
        let due = |t: &Tables, k: &HostKey, h: &HostRow| {
            !h.claimed
                && t.ready_of(*k) > 0
                && !t.asleep.contains_key(k)
                && seconds(h.wakes_at()) <= seconds(now)
        };
        let scheduled = self.hosts.iter().filter(|(k, h)| due(self, k, h)).map(|(k, _)| *k);
        claimed.extend(scheduled.take(batch.claims.hosts));
        let mut answer = Committed { again, ..Committed::default() };
        for refill in &batch.refills {
            answer.refills.push(self.window(refill));
        }
        for k in &claimed {
            self.host(*k)?.claimed = true;
            let refill = Refill { host: *k, after: None, limit: batch.claims.window };
            answer.claimed.push(self.window(&refill));
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
        answer.jobs = rows.map(JobRow::progress).collect();
        let wake = self
            .hosts
            .iter()
            .filter(|(k, h)| !h.claimed && h.ready > 0 && !self.asleep.contains_key(k));
        let wake = wake.map(|(_, h)| Time(seconds(h.wakes_at()) * 1000)).min();
        let due = self.calendar.keys().next().map(|(t, _)| *t);
        answer.next_due = wake.into_iter().chain(due).min();
        Ok(answer)
    }

    pub(super) fn job(&mut self, id: JobId) -> Result<&mut JobRow, StoreError> {
        self.jobs.get_mut(&id).ok_or_else(|| damaged("jobs", format!("no job {id}")))
    }

    fn host(&mut self, k: HostKey) -> Result<&mut HostRow, StoreError> {
        self.hosts.get_mut(&k).ok_or_else(|| damaged("hosts", "a URL without its host"))
    }

    pub(super) fn url(&mut self, k: UrlKey) -> Result<&mut UrlRow, StoreError> {
        self.urls.get_mut(&k).ok_or_else(|| damaged("URLs", "handed out and unknown"))
    }

    fn ready_of(&self, host: HostKey) -> usize {
        self.ready.range(range_of(host)).count()
    }

    fn enqueue(&mut self, k: UrlKey, place: Place) {
        self.asleep.remove(&k.host);
        self.ready.insert((k.host, place), k);
    }

    fn is_open(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|row| row.state == JobState::Open)
    }

    fn entry(&self, k: UrlKey, place: Place) -> Entry {
        let row = &self.urls[&k];
        let to = handed_to(row, |job| self.is_open(job));
        let (job, depth) = to.unwrap_or((row.job(), row.depth));
        Entry {
            key: k,
            place,
            url: row.url.clone(),
            doc: row.doc,
            job,
            depth,
            attempts: row.attempts,
            expand: row.expand,
            role: row.role,
            hops: row.hops,
            again: row.is_again(),
        }
    }

    fn window(&self, refill: &Refill) -> HostWindow {
        let open = |k: &UrlKey| handed_to(&self.urls[k], |job| self.is_open(job)).is_some();
        let rows: Vec<(Place, UrlKey)> = self
            .ready
            .range(range_of(refill.host))
            .filter(|((_, place), _)| refill.after.is_none_or(|after| *place > after))
            .map(|((_, place), k)| (*place, *k))
            .collect();
        // What is known of the host itself comes with the first rows.
        let host = self.hosts.get(&refill.host).filter(|_| refill.after.is_none());
        let robots = self.robots.get(&refill.host).filter(|_| refill.after.is_none());
        let mut out = HostWindow {
            host: refill.host,
            entries: Vec::new(),
            cursor: refill.after,
            more: false,
            not_before: host.map_or(Time(0), |h| h.not_before),
            temper: host.map(|h| h.temper.clone()).unwrap_or_default(),
            robots: robots.cloned(),
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
        let k = page.entry.key;
        self.ready.remove(&(k.host, page.entry.place));
        let head = &self.url(k)?.head;
        let (before, first) = (head.state, head.visits == 0);
        count_result(&mut self.job(page.entry.job)?.counters, before, first, &page);
        let PageResult { entry, next, capture, payload, links, changed, plan, .. } = page;
        let is_page = entry.role == Role::Page;
        if let Some(c) = &capture {
            let host = self.host(k.host)?;
            host.bytes += c.bytes;
            host.disk = host.disk.map(|sum| sum + disk_of(c));
            host.fetched += u64::from(first && is_page && next == Next::Done(UrlState::Fetched));
            host.failed += u64::from(matches!(next, Next::Done(UrlState::Failed) | Next::Retry(_)));
        }
        let row = self.url(k)?;
        if !was_handed_out(&row.head, &entry) {
            return Err(damaged("URLs", format!("{} has a result and no ready row", entry.url)));
        }
        let url = row.url.clone();
        let head = &mut row.head;
        head.plan = plan.or(head.plan);
        if let Some(c) = &capture {
            head.fetched_at = Some(c.time);
        }
        let mut requeued = None;
        if let Next::Retry(due) = next {
            head.attempts = head.attempts.saturating_add(1);
            head.due = Some(due);
            self.calendar.insert((due, k), entry.place);
        } else if let Next::Later(place) = next {
            head.place = Some(place);
            self.enqueue(k, place);
            requeued = Some(k);
        } else {
            if let Next::Done(state) = next {
                head.state = state;
                head.attempts = 0;
                if state == UrlState::Fetched {
                    head.visits += 1;
                    head.changes += u32::from(changed && head.visits > 1);
                    if changed {
                        head.changed_at = capture.as_ref().map(|c| c.time);
                    }
                }
            }
            let head = &mut self.urls.get_mut(&k).expect("read above").head;
            let jobs = &self.jobs;
            let state = |job: JobId| jobs.get(&job).map_or(JobState::Dropped, |row| row.state);
            let shallow = |job: JobId| jobs[&job].job.limits.depth.is_some();
            let done = after_result(head, &entry, state, shallow);
            if let Some(place) = head.place {
                self.enqueue(k, place);
                requeued = Some(k);
            }
            for job in done {
                self.job(job)?.counters.queued -= 1;
            }
        }
        let news = is_news(before, &next, changed, links.is_some());
        if let Some(blob) = links {
            self.links.insert(k, blob);
        }
        if let Some(capture) = capture {
            let n = 1 + self.log.range((k.host.part, 0)..=(k.host.part, u64::MAX)).count() as u64;
            let (time, doc, ended) = (capture.time, entry.doc, Ended::of(&next));
            let change = Change { n, key: k, time, changed, doc, ended };
            if news {
                self.log.insert((k.host.part, n), change);
            }
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
        let job = &self.job(found.job)?.job;
        let (limited, news) = (job.limits.depth.is_some(), job.news);
        let row = self.url(k)?;
        match found_again(&mut row.head, &found, owner_state, limited, news) {
            Again::Nothing | Again::Row => Ok(None),
            Again::Wait => {
                self.job(found.job)?.counters.queued += 1;
                Ok(None)
            }
            Again::TakeOver { owner_waits, waited } => {
                let waiting = row.due.is_some();
                self.job(owner)?.counters.queued -= u64::from(!owner_waits);
                self.job(found.job)?.counters.queued += u64::from(!waited);
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
                if let Again::Queue(Some(ended)) = again {
                    counters.take_back(ended);
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
        let host = self.hosts.entry(k.host).or_insert_with(|| HostRow::new(found.url.origin()));
        host.known += 1;
        let new_host = host.known == 1;
        let counters = &mut self.job(found.job)?.counters;
        counters.known += 1;
        counters.hosts += u64::from(new_host);
        match found.skip {
            Some(reason) => *counters.skipped_mut(reason) += 1,
            None => counters.queued += 1,
        }
        let head = first_met(&found, DocId::new(running, part), now);
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
