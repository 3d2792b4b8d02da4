//! Pages and bytes that a job with a limit may still fetch: given out in blocks, so that all workers together
//! never fetch more.
//!
//! * Every worker has a row for each such job: what it was given, and how much of that it has committed.
//!   The second is written with the pages themselves, in the same transaction. What was given to all is
//!   never more than the limit.
//! * Giving out happens under a lock of the job's row; a block is small where little is left. What a worker does
//!   not need it gives back. What somebody had who is gone comes back when somebody else asks: whoever is not
//!   among the workers any more has lost its partitions before, and commits nothing.
//! * All rows of a job lie in its own partition: on one node, whatever the number of nodes.

use super::PostgresStore;
use super::link::{Call, call, plain};
use super::load::sum_counts;
use super::plan::job_part;
use super::row::add;
use crate::StoreError;
use crate::row::JobCounters;
use argiope_model::JobId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::Row;

const LOCK: &str = "SELECT job FROM jobs WHERE part = $1 AND job = $2 FOR UPDATE";
const SESSIONS: &str = "SELECT session FROM workers WHERE part = $1";
const RECLAIM: &str = "UPDATE quotas SET granted = used, bytes_granted = bytes_used
    WHERE part = $1 AND job = $2 AND session <> 0 AND session <> ALL($3)
    AND (granted <> used OR bytes_granted <> bytes_used)";
const GRANTED: &str = "SELECT session, granted, bytes_granted, bytes_used FROM quotas
    WHERE part = $1 AND job = $2";
const COUNTED: &str = "SELECT job, c FROM job_counts WHERE job = $1";
const BEGIN: &str =
    "INSERT INTO quotas (part, job, session, granted, used, bytes_granted, bytes_used)
    VALUES ($1, $2, 0, $3, $3, $4, $4)";
const GRANT: &str =
    "INSERT INTO quotas (part, job, session, granted, used, bytes_granted, bytes_used)
    VALUES ($1, $2, $3, $4, 0, $5, 0)
    ON CONFLICT (part, job, session) DO UPDATE SET granted = quotas.granted + excluded.granted,
        bytes_granted = quotas.bytes_granted + excluded.bytes_granted";
const RETURN: &str = "UPDATE quotas SET granted = used, bytes_granted = bytes_used
    WHERE part = $1 AND job = $2 AND session = $3";
/// Written with the pages.
pub(super) const USE: &str = "UPDATE quotas SET used = used + $4, bytes_used = bytes_used + $5
    WHERE part = $1 AND job = $2 AND session = $3";

/// What came of asking for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// There are as many as were needed.
    Given,
    /// Others have them, and may not use them all.
    Later,
    /// With so many more the limit would be exceeded.
    Never,
}

/// What this worker may still fetch of jobs with a limit: pages and bytes.
#[derive(Default)]
pub(super) struct Quotas(Mutex<BTreeMap<JobId, (u64, u64)>>);

impl Quotas {
    fn change(&self, job: JobId, how: impl FnOnce(&mut (u64, u64))) -> (u64, u64) {
        let mut quotas = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = quotas.entry(job).or_default();
        how(left);
        *left
    }

    /// So much is committed.
    pub fn used(&self, job: JobId, pages: u64, bytes: u64) {
        self.change(job, |left| {
            *left = (left.0.saturating_sub(pages), left.1.saturating_sub(bytes));
        });
    }

    /// A new session begins with nothing.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What was given out of a job, seen under its lock.
struct Standing {
    workers: u64,
    /// Session, pages given, bytes given, bytes used.
    rows: Vec<(i64, u64, u64, u64)>,
}

impl PostgresStore {
    /// Asks for so many pages of a job with this limit; how many more may be fetched then. Nothing may
    /// mean that others have it all, for now.
    pub fn take_quota(&self, job: JobId, limit: u64, want: u64) -> Result<u64, StoreError> {
        self.giving(job, |session, standing| {
            let granted: u64 = standing.rows.iter().map(|row| row.1).sum();
            let left = limit.saturating_sub(granted);
            let block = want.min((left / (2 * standing.workers)).max(1)).min(left);
            let given = call!(GRANT, job_part(job), job.0 as i32, session, block as i64, 0i64);
            ((block > 0).then_some(given), (block, 0), ())
        })?;
        Ok(self.quota_left(job))
    }

    /// Asks for bytes of a job with this limit: so many beside those that are kept, for pages on their way to
    /// a commit. Where they cannot be had, what is not kept goes back.
    pub fn take_bytes(
        &self,
        job: JobId,
        limit: u64,
        keep: u64,
        need: u64,
    ) -> Result<Share, StoreError> {
        self.giving(job, |session, standing| {
            let others = || standing.rows.iter().filter(|row| row.0 != session);
            let (granted, used): (u64, u64) =
                others().fold((0, 0), |sum, row| (sum.0 + row.2, sum.1 + row.3));
            let mine = standing.rows.iter().find(|row| row.0 == session);
            let (have, mine) = mine.map_or((0, 0), |row| (row.2, row.3));
            let free = limit.saturating_sub(granted + mine);
            let wanted = keep + need;
            let (share, total) = match free >= wanted {
                true => {
                    let more = wanted + free / (2 * standing.workers);
                    (Share::Given, more.min(free).max(have.saturating_sub(mine)))
                }
                false if limit < used + mine + wanted => (Share::Never, keep),
                false => (Share::Later, keep),
            };
            let delta = (mine + total) as i64 - have as i64;
            // What was not enough is not given to anybody by asking for more.
            let delta = if share == Share::Given { delta } else { delta.min(0) };
            let given = call!(GRANT, job_part(job), job.0 as i32, session, 0i64, delta);
            ((delta != 0).then_some(given), (0, delta), share)
        })
    }

    /// Looks at what was given out of a job, gives more or takes some back, all under a lock.
    fn giving<T>(
        &self,
        job: JobId,
        decide: impl FnOnce(i64, &Standing) -> (Option<Call>, (u64, i64), T),
    ) -> Result<T, StoreError> {
        let (session, _) = self.session()?;
        let given = self.give(job, session, decide).inspect_err(|_| self.aside.hang_up());
        let ((pages, bytes), told) = given?;
        self.quotas.change(job, |left| {
            *left = (left.0 + pages, left.1.saturating_add_signed(bytes));
        });
        Ok(told)
    }

    fn give<T>(
        &self,
        job: JobId,
        session: i64,
        decide: impl FnOnce(i64, &Standing) -> (Option<Call>, (u64, i64), T),
    ) -> Result<((u64, i64), T), StoreError> {
        let action = "ask for a share of a job";
        let (part, id) = (job_part(job), job.0 as i32);
        let calls = vec![plain("BEGIN"), call!(LOCK, part, id), call!(SESSIONS, 0i16)];
        let sessions = self.aside.run(action, calls)?.pop().unwrap_or_default();
        let sessions: Vec<i64> = sessions.iter().map(|row| row.get(0)).collect();
        let (workers, alive) = (sessions.len().max(1) as u64, sessions.contains(&session));
        let calls = vec![call!(RECLAIM, part, id, sessions), call!(GRANTED, part, id)];
        let rows = self.aside.run(action, calls)?.pop().unwrap_or_default();
        let number = |row: &Row, at: usize| row.get::<_, i64>(at).max(0) as u64;
        let row = |row: &Row| (row.get(0), number(row, 1), number(row, 2), number(row, 3));
        let mut standing = Standing { workers, rows: rows.iter().map(row).collect() };
        let mut calls = Vec::new();
        if standing.rows.is_empty() {
            // What was fetched before anything was given out is given out.
            let (pages, bytes) = self.done(id)?;
            calls.push(call!(BEGIN, part, id, pages as i64, bytes as i64));
            standing.rows.push((0, pages, bytes, bytes));
        }
        let (given, delta, told) = decide(session, &standing);
        calls.extend(given.filter(|_| alive));
        calls.push(plain("COMMIT"));
        self.aside.run(action, calls)?;
        if alive { Ok((delta, told)) } else { Err(StoreError::LeaseEnded) }
    }

    /// Pages and bytes that all have fetched of a job.
    fn done(&self, job: i32) -> Result<(u64, u64), StoreError> {
        let rows = self.reader.read("read a job", call!(COUNTED, job))?;
        let mut counters = JobCounters::default();
        sum_counts(&rows).values().for_each(|sums| add(&mut counters, sums));
        Ok((counters.fetched + counters.unchanged, counters.bytes))
    }

    /// Gives back what is left of a job; nothing of it is under way here.
    pub fn return_quota(&self, job: JobId) -> Result<(), StoreError> {
        let (session, _) = self.session()?;
        self.quotas.change(job, |left| *left = (0, 0));
        let call = call!(RETURN, job_part(job), job.0 as i32, session);
        self.aside.run("give a share of a job back", vec![call]).map(|_| ())
    }

    /// How many more pages of a job this worker may commit.
    pub fn quota_left(&self, job: JobId) -> u64 {
        self.quotas.change(job, |_| {}).0
    }

    /// How many more bytes of a job this worker may commit.
    pub fn bytes_left(&self, job: JobId) -> u64 {
        self.quotas.change(job, |_| {}).1
    }
}
