//! A batch, step by step.

use super::overlay::Work;
use super::{Base, Table, key};
use crate::StoreError;
use crate::batch::{Batch, Claims, JobChange};
use crate::row::{self, JobCounters, JobRow};
use argiope_frontier::Refill;
use argiope_model::{HostKey, JobState};
use std::collections::BTreeMap;

/// What is left to be done for a batch once its rows are written.
pub(crate) struct Applied {
    /// Rows to be read, as asked.
    pub refills: Vec<Refill>,
    /// Hosts that were claimed, each with how many rows of it are wanted.
    pub claimed: Vec<Refill>,
    /// URLs that were queued to be visited again.
    pub again: u64,
}

impl<B: Base> Work<'_, B> {
    /// Applies a batch to the overlay.
    pub fn apply(&mut self, batch: Batch) -> Result<Applied, StoreError> {
        for change in batch.jobs {
            self.job_change(change)?;
        }
        for page in batch.pages {
            self.page(page)?;
        }
        for page in batch.imports {
            self.import(page)?;
        }
        for note in batch.notes {
            self.note(note)?;
        }
        for release in batch.releases {
            self.release(release)?;
        }
        for host in batch.forgive {
            self.forgive(host)?;
        }
        for host in &batch.exclude {
            self.exclude(*host)?;
        }
        for (name, on) in batch.exclusions.into_iter().collect::<BTreeMap<_, _>>() {
            self.exclusion(&name, on)?;
        }
        for (name, trap) in batch.traps.into_iter().collect::<BTreeMap<_, _>>() {
            self.trap(&name, trap.as_ref());
        }
        for (name, ms) in batch.delays.into_iter().collect::<BTreeMap<_, _>>() {
            self.delay(&name, ms);
        }
        self.calendar(&batch.exclude)?;
        let mut discoveries = batch.discoveries;
        discoveries.sort_by_key(|d| d.key);
        for found in discoveries {
            self.discovery(found)?;
        }
        let mut again = 0;
        for (key, place) in batch.again {
            again += u64::from(self.visit_again(key, place)?);
        }
        for to in &batch.moves {
            self.move_row(to)?;
        }
        for (key, plan) in batch.plans {
            self.plan(key, plan)?;
        }
        self.forget(batch.forget)?;
        let Claims { named, hosts, window } = batch.claims;
        let mut claimed = self.claim_named(named)?;
        claimed.extend(self.claim(hosts)?);
        for (host, file) in &batch.robots {
            self.put(Table::Robots, host.to_bytes(), row::encode_robots(file));
        }
        for (kind, segment, length) in batch.segments {
            self.put(Table::Meta, key::segment(kind, segment), row::encode(&length));
        }
        if batch.next_page > self.kept.next_page {
            self.kept.next_page = batch.next_page;
            self.put(Table::Meta, *b"n", row::encode(&batch.next_page));
        }
        let refill = |host: HostKey| Refill { host, after: None, limit: window };
        let claimed = claimed.into_iter().map(refill).collect();
        Ok(Applied { refills: batch.refills, claimed, again })
    }

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
