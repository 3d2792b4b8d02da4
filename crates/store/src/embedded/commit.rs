//! The commit of the embedded store: reads what a batch touches into an overlay, applies the
//! batch to it, writes the overlay as one fjall batch.
//!
//! Order matters and is: jobs, results, notes, releases, forgiving, excluding, calendar, discoveries,
//! forgetting, claims. A host that is given back and found again in the same batch is thus scheduled, not
//! forgotten.

use super::key::{self, AFTER_SCHEDULE, ASLEEP};
use super::overlay::Work;
use super::tables::Table;
use super::{EmbeddedStore, Kept};
use crate::StoreError;
use crate::batch::{Batch, Committed, JobChange};
use crate::row::{self, JobCounters, JobRow, damaged};
use argiope_frontier::Refill;
use argiope_model::{HostKey, JobState, Time, UrlKey};
use std::collections::{BTreeMap, HashSet};

const NEVER: Time = Time(i64::MAX);

impl EmbeddedStore {
    pub(super) fn apply(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut kept = self.kept();
        let answer = self.apply_to(&mut kept, batch);
        if answer.is_err() {
            // Whole or not at all: what was counted in memory was not written.
            self.read_kept(&mut kept)?;
        }
        answer
    }

    fn apply_to(&self, kept: &mut Kept, batch: Batch) -> Result<Committed, StoreError> {
        let mut work = Work::new(self, kept, batch.now);
        for change in batch.jobs {
            work.job_change(change)?;
        }
        for page in batch.pages {
            work.page(page)?;
        }
        for page in batch.imports {
            work.import(page)?;
        }
        for note in batch.notes {
            work.note(note)?;
        }
        for release in batch.releases {
            work.release(release)?;
        }
        for host in batch.forgive {
            work.forgive(host)?;
        }
        for host in &batch.exclude {
            work.exclude(*host)?;
        }
        for (name, on) in batch.exclusions.into_iter().collect::<BTreeMap<_, _>>() {
            work.exclusion(&name, on)?;
        }
        work.calendar(&batch.exclude)?;
        let mut discoveries = batch.discoveries;
        discoveries.sort_by_key(|d| d.key);
        for found in discoveries {
            work.discovery(found)?;
        }
        work.forget(batch.forget)?;
        let mut claimed = work.claim_named(batch.claims.named)?;
        claimed.extend(work.claim(batch.claims.hosts)?);
        for (host, file) in &batch.robots {
            work.put(Table::Robots, host.to_bytes(), row::encode_robots(file));
        }
        for (kind, segment, length) in batch.segments {
            work.put(Table::Meta, key::segment(kind, segment), row::encode(&length));
        }
        if batch.next_page > work.kept.next_page {
            work.kept.next_page = batch.next_page;
            work.put(Table::Meta, *b"n", row::encode(&batch.next_page));
        }
        let touched = work.jobs.clone();
        let queued = work.finish()?;

        let mut answer = Committed { queued, ..Committed::default() };
        for refill in &batch.refills {
            answer.refills.push(self.window(refill, kept)?);
        }
        for host in claimed {
            let refill = Refill { host, after: None, limit: batch.claims.window };
            answer.claimed.push(self.window(&refill, kept)?);
        }
        // A window read after the commit holds the rows just queued; they are not told twice.
        if !answer.claimed.is_empty() {
            let new: HashSet<HostKey> = answer.claimed.iter().map(|w| w.host).collect();
            answer.queued.retain(|e| !new.contains(&e.key.host));
        }
        let touched = touched.iter().filter_map(|id| kept.jobs.get(id));
        answer.jobs = touched.map(JobRow::progress).collect();
        answer.next_due = self.next_due(kept)?;
        Ok(answer)
    }

    /// When the first host wakes or the first calendar row is due.
    fn next_due(&self, kept: &mut Kept) -> Result<Option<Time>, StoreError> {
        let queue = &self.tables[Table::Queue];
        let mut wake = NEVER;
        if kept.first_scheduled < AFTER_SCHEDULE {
            let first = queue.range(kept.first_scheduled..AFTER_SCHEDULE).next();
            kept.first_scheduled = AFTER_SCHEDULE;
            if let Some(pair) = first {
                let k = pair.key().map_err(self.failed("read the schedule"))?;
                let short = || damaged("the schedule", "short key");
                kept.first_scheduled = (*k).try_into().map_err(|_| short())?;
                wake = match key::schedule_parts(&k).ok_or_else(short)? {
                    (ASLEEP, _) => NEVER,
                    (wake, _) => Time(i64::from(wake) * 1000),
                };
            }
        }
        if kept.first_due < NEVER {
            let none = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
            let start = key::calendar(kept.first_due, none);
            let first = queue.range(start..key::after_calendar()).next();
            kept.first_due = NEVER;
            if let Some(pair) = first {
                let k = pair.key().map_err(self.failed("read the calendar"))?;
                kept.first_due = key::calendar_parts(&k).map_or(NEVER, |(due, _)| due);
            }
        }
        Ok(Some(wake.min(kept.first_due)).filter(|due| *due != NEVER))
    }
}

impl Work<'_> {
    fn job_change(&mut self, change: JobChange) -> Result<(), StoreError> {
        match change {
            JobChange::New(job) => {
                self.jobs.insert(job.id);
                self.orders.insert(job.id);
                let row =
                    JobRow { job: *job, state: JobState::Open, counters: JobCounters::default() };
                self.kept.jobs.insert(row.job.id, row);
            }
            JobChange::Renew(job) => {
                self.orders.insert(job.id);
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
}
