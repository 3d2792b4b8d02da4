//! Pages that a job with a limit may still fetch: given out in blocks, so that all workers together never fetch
//! more.
//!
//! * Every worker has a row for each such job: what it was given, and how much of that it has committed.
//!   The second is written with the pages themselves, in the same transaction. What was given to all is
//!   never more than the limit.
//! * Giving out happens under a lock of the job's row; a block is small where little is left. What a worker does
//!   not need it gives back. What somebody had who is gone comes back when somebody else asks: whoever is not
//!   among the workers any more has lost its partitions before, and commits nothing.
//! * All rows of a job lie in its own partition: on one node, whatever the number of nodes.

use super::PostgresStore;
use super::link::{call, plain};
use super::load::sum_counts;
use super::plan::job_part;
use super::row::add;
use crate::StoreError;
use crate::row::JobCounters;
use argiope_model::JobId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const LOCK: &str = "SELECT job FROM jobs WHERE part = $1 AND job = $2 FOR UPDATE";
const SESSIONS: &str = "SELECT session FROM workers WHERE part = $1";
const RECLAIM: &str = "UPDATE quotas SET granted = used
    WHERE part = $1 AND job = $2 AND session <> 0 AND granted <> used AND session <> ALL($3)";
const GRANTED: &str =
    "SELECT count(*), coalesce(sum(granted), 0)::bigint FROM quotas WHERE part = $1 AND job = $2";
const COUNTED: &str = "SELECT job, c FROM job_counts WHERE job = $1";
const GRANT: &str = "INSERT INTO quotas (part, job, session, granted, used)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (part, job, session) DO UPDATE SET granted = quotas.granted + excluded.granted";
const RETURN: &str =
    "UPDATE quotas SET granted = used WHERE part = $1 AND job = $2 AND session = $3";
/// Written with the pages.
pub(super) const USE: &str =
    "UPDATE quotas SET used = used + $4 WHERE part = $1 AND job = $2 AND session = $3";

/// What this worker may still fetch of jobs with a limit.
#[derive(Default)]
pub(super) struct Quotas(Mutex<BTreeMap<JobId, u64>>);

impl Quotas {
    fn change(&self, job: JobId, how: impl FnOnce(&mut u64)) -> u64 {
        let mut quotas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = quotas.entry(job).or_default();
        how(left);
        *left
    }

    /// So many pages are committed.
    pub fn used(&self, job: JobId, pages: u64) {
        self.change(job, |left| *left = left.saturating_sub(pages));
    }

    /// A new session begins with nothing.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl PostgresStore {
    /// Asks for so many pages of a job with this limit; what there is now to be fetched. Nothing more may
    /// mean that others have it all, for now.
    pub fn take_quota(&self, job: JobId, limit: u64, want: u64) -> Result<u64, StoreError> {
        let (session, _) = self.session()?;
        let (part, id) = (job_part(job), job.0 as i32);
        let given = self.grant(part, id, session, limit, want);
        let given = given.inspect_err(|_| self.aside.hang_up())?;
        Ok(self.quotas.change(job, |left| *left += given))
    }

    fn grant(
        &self,
        part: i16,
        job: i32,
        session: i64,
        limit: u64,
        want: u64,
    ) -> Result<u64, StoreError> {
        let action = "ask for pages of a job";
        let calls = vec![plain("BEGIN"), call!(LOCK, part, job), call!(SESSIONS, 0i16)];
        let sessions = self.aside.run(action, calls)?.pop().unwrap_or_default();
        let sessions: Vec<i64> = sessions.iter().map(|row| row.get(0)).collect();
        let workers = sessions.len().max(1) as u64;
        let alive = sessions.contains(&session);
        let calls = vec![call!(RECLAIM, part, job, sessions), call!(GRANTED, part, job)];
        let rows = self.aside.run(action, calls)?.pop().unwrap_or_default();
        let first = rows.first().filter(|row| row.get::<_, i64>(0) > 0);
        let mut calls = Vec::new();
        let granted = match first.map(|row| row.get::<_, i64>(1)) {
            Some(granted) => granted,
            None => {
                // What was fetched before anything was given out is given out.
                let done = self.done(job)?;
                calls.push(call!(GRANT, part, job, 0i64, done, done));
                done
            }
        };
        let left = limit.saturating_sub(granted.max(0) as u64);
        let block = want.min((left / (2 * workers)).max(1)).min(left);
        let block = if alive { block } else { 0 };
        if block > 0 {
            calls.push(call!(GRANT, part, job, session, block as i64, 0i64));
        }
        calls.push(plain("COMMIT"));
        self.aside.run(action, calls)?;
        if alive { Ok(block) } else { Err(StoreError::LeaseEnded) }
    }

    /// Pages that all have fetched of a job.
    fn done(&self, job: i32) -> Result<i64, StoreError> {
        let rows = self.reader.read("read a job", call!(COUNTED, job))?;
        let mut counters = JobCounters::default();
        sum_counts(&rows).values().for_each(|sums| add(&mut counters, sums));
        Ok((counters.fetched + counters.unchanged) as i64)
    }

    /// Gives back what is left of a job; nothing of it is under way here.
    pub fn return_quota(&self, job: JobId) -> Result<(), StoreError> {
        let (session, _) = self.session()?;
        self.quotas.change(job, |left| *left = 0);
        let call = call!(RETURN, job_part(job), job.0 as i32, session);
        self.aside.run("give pages of a job back", vec![call]).map(|_| ())
    }

    /// How many more pages of a job this worker may commit.
    pub fn quota_left(&self, job: JobId) -> u64 {
        self.quotas.change(job, |_| {})
    }
}
