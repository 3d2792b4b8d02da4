//! What is kept in memory between commits: read when partitions come, dropped when they go or when
//! it is not sure any more.

use super::lease::Lease;
use super::link::{Link, Pause, call};
use super::row::{add, fields, state_of};
use super::{Kept, migrate::LOG_RANGE};
use crate::StoreError;
use crate::row::{self, JobCounters, JobProgress, JobRow, damaged};
use crate::work::PartCounters;
use argiope_model::{JobId, JobState, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const PARTS: &str = "SELECT p.part, p.epoch, p.docs, p.log, p.grp,
    (SELECT s.k FROM schedule s WHERE s.part = p.part ORDER BY s.k LIMIT 1),
    (SELECT c.k FROM calendar c WHERE c.part = p.part ORDER BY c.k LIMIT 1)
    FROM parts p WHERE p.part = ANY($1) AND p.owner = $2";
/// Waits for whatever still changes these rows.
const SETTLE: &str =
    "UPDATE parts SET grp = grp WHERE part = ANY($1) AND owner = $2 RETURNING part";
const UNSEEN: &str = "SELECT part FROM parts WHERE part = ANY($1) AND grp < $2 LIMIT 1";
const JOB_STATES: &str = "SELECT job, state, version FROM jobs WHERE part >= $1";
const JOB_ORDERS: &str = "SELECT v FROM jobs WHERE job = ANY($1)";
const JOB_COUNTS: &str = "SELECT job, c FROM job_counts WHERE part >= $1";
const NUMBER: &str = "SELECT n FROM numbers WHERE part = 0 AND name = $1";
const LOG_TABLE: &str = "SELECT log_range($1, $2)::text";

/// How often it is looked into the inboxes: soon again while something comes, then after pauses that double,
/// up to this long; longer where no job is open.
const LOOK_MS: i64 = 100;
const LOOK_MOST_MS: i64 = 500;
const LOOK_IDLE_MS: i64 = 1_000;
/// How often it is looked at what others have done to the jobs, at most.
const JOBS_MS: i64 = 500;

pub(super) struct Loaded {
    pub kept: Kept,
    /// The partitions held and their epochs, as this was read under.
    pub parts: BTreeMap<u16, i64>,
    pub session: i64,
    /// How often the jobs' orders have changed.
    versions: BTreeMap<JobId, i64>,
    /// The number of the last group.
    pub group: i64,
    /// Tables of the change log that are there.
    log_tables: u64,
    /// A job was opened by somebody else: hosts that slept for it are to wake.
    pub reopened: bool,
    looked: Option<Time>,
    jobs_looked: Option<Time>,
    /// How long it is not looked into the inboxes after the last look.
    pause_ms: i64,
    /// Not all messages fitted into the last commit.
    pub more_messages: bool,
    /// How far the jobs had come when that was last told.
    pub told: BTreeMap<JobId, JobProgress>,
    /// What is here may not be what the database holds.
    pub stale: bool,
    /// How the leases were numbered when they were read.
    seen: u64,
    /// The last group and the partitions it wrote to, on Citus, until it was seen there.
    written: Option<(i64, Vec<i16>)>,
}

/// The number of a counter among those that only grow.
pub(super) fn number(link: &Link, name: &'static str) -> Result<Option<u64>, StoreError> {
    let rows = link.read("read a number", call!(NUMBER, name))?;
    Ok(rows.first().map(|row| row.get::<_, i64>(0) as u64))
}

impl Loaded {
    pub fn new(host_bytes: u64) -> Self {
        Loaded {
            kept: Kept::new(host_bytes),
            parts: BTreeMap::new(),
            session: 0,
            versions: BTreeMap::new(),
            group: 0,
            log_tables: 0,
            reopened: false,
            looked: None,
            jobs_looked: None,
            pause_ms: LOOK_MS,
            more_messages: false,
            told: BTreeMap::new(),
            stale: true,
            seen: 0,
            written: None,
        }
    }

    /// The partition that this worker counts under.
    pub fn home(&self) -> Option<u16> {
        self.parts.keys().next().copied()
    }

    /// Makes sure that what is here is what the database holds; says whether it is time to look at
    /// what others have done. With `jobs`, what they have done to the jobs is looked at in any case.
    pub fn freshen(
        &mut self,
        link: &Link,
        version: u64,
        lease: impl FnOnce() -> Lease,
        now: Time,
        jobs: bool,
    ) -> Result<bool, StoreError> {
        if self.stale {
            // A commit whose end nobody heard may still be under way on the server.
            let parts: Vec<i16> = self.parts.keys().map(|part| *part as i16).collect();
            if !parts.is_empty() {
                link.read("wait for the last group", call!(SETTLE, parts, self.session))?;
            }
            self.written = None;
            self.kept.clear();
            (self.parts, self.versions) = (BTreeMap::new(), BTreeMap::new());
            (self.looked, self.jobs_looked, self.seen) = (None, None, 0);
            self.told.clear();
            self.kept.next_page = number(link, "page")?.unwrap_or(1);
        }
        let anew = self.stale || self.seen != version;
        if anew {
            self.load_parts(link, &lease())?;
        }
        let over = |last: Option<Time>, ms| last.is_none_or(|at| (now.0 - at.0).abs() >= ms);
        let due = over(self.looked, self.pause_ms) || anew || self.more_messages;
        if anew || jobs || (due && over(self.jobs_looked, JOBS_MS)) {
            self.look_at_jobs(link)?;
            self.jobs_looked = Some(now);
        }
        if due {
            self.looked = Some(now);
        }
        self.stale = false;
        Ok(due)
    }

    /// So many messages came with a look; the next comes the sooner.
    pub fn came(&mut self, messages: usize) {
        let open = self.kept.jobs.values().any(|job| job.state == JobState::Open);
        let most = if open { LOOK_MOST_MS } else { LOOK_IDLE_MS };
        self.pause_ms = if messages > 0 { LOOK_MS } else { (self.pause_ms * 2).min(most) };
    }

    /// When it is to be looked again at what others do.
    pub fn look_due(&self, now: Time) -> Time {
        Time(self.looked.map_or(now.0, |at| at.0.max(now.0 - self.pause_ms)) + self.pause_ms)
    }

    fn load_parts(&mut self, link: &Link, lease: &Lease) -> Result<(), StoreError> {
        let held = lease.parts();
        let gone: Vec<u16> =
            self.parts.iter().filter(|(p, e)| held.get(p) != Some(e)).map(|(p, _)| *p).collect();
        for part in &gone {
            self.parts.remove(part);
            self.kept.parts.remove(part);
            self.kept.marks.calendar.set(*part, None);
            self.kept.marks.schedule.set(*part, None);
        }
        if !gone.is_empty() {
            self.kept.hosts.clear();
        }
        let new: Vec<i16> =
            held.keys().filter(|p| !self.parts.contains_key(p)).map(|p| *p as i16).collect();
        self.session = lease.session();
        if !new.is_empty() {
            let rows = link.read("read partitions", call!(PARTS, new, self.session))?;
            for row in rows {
                let (part, epoch): (i16, i64) = (row.get(0), row.get(1));
                let part = part as u16;
                // What is no longer ours is not loaded; what is written to it will be refused.
                if held.get(&part) != Some(&epoch) {
                    continue;
                }
                let (docs, log): (i64, i64) = (row.get(2), row.get(3));
                let counters = PartCounters { docs: docs as u64, log: log as u64 };
                self.kept.parts.insert(part, counters);
                self.group = self.group.max(row.get(4));
                let schedule: Option<&[u8]> = row.get(5);
                let calendar: Option<&[u8]> = row.get(6);
                let marks = &mut self.kept.marks;
                marks.schedule.set(part, schedule.map(wake_at).transpose()?);
                marks.calendar.set(part, calendar.map(due_at).transpose()?);
                self.parts.insert(part, epoch);
            }
        }
        self.seen = lease.version();
        Ok(())
    }

    /// Reads what others have done to the jobs.
    pub fn look_at_jobs(&mut self, link: &Link) -> Result<(), StoreError> {
        let calls = vec![call!(JOB_STATES, 0i16), call!(JOB_COUNTS, 0i16)];
        let mut answers = link.read_all("read the jobs", calls)?.into_iter();
        let (states, counts) =
            (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
        let is_known = |job: JobId, version: i64| self.versions.get(&job) == Some(&version);
        let rows = states.iter().map(|row| (JobId(row.get::<_, i32>(0) as u32), row.get(2)));
        let new: Vec<i32> =
            rows.clone().filter(|(j, v)| !is_known(*j, *v)).map(|(j, _)| j.0 as i32).collect();
        self.versions = rows.collect();
        if !new.is_empty() {
            for row in link.read("read the jobs", call!(JOB_ORDERS, new))? {
                let order: JobRow = row::decode("jobs", row.get(0))?;
                match self.kept.jobs.get_mut(&order.job.id) {
                    Some(known) => known.job = order.job,
                    None => {
                        self.kept.jobs.insert(order.job.id, order);
                    }
                }
            }
        }
        for row in states {
            let (id, state) = (JobId(row.get::<_, i32>(0) as u32), state_of(row.get(1))?);
            let job = self.kept.jobs.get_mut(&id).ok_or_else(|| damaged("jobs", "no order"))?;
            if job.state != state && state == JobState::Open {
                self.reopened = true;
            }
            job.state = state;
        }
        for (id, sums) in sum_counts(&counts) {
            if let Some(job) = self.kept.jobs.get_mut(&id) {
                job.counters = JobCounters::default();
                add(&mut job.counters, &sums);
            }
        }
        Ok(())
    }

    /// A group was committed that writes to these partitions.
    pub fn note_written(&mut self, link: &Link, parts: impl Iterator<Item = i16>) {
        if link.is_citus() {
            self.written = Some((self.group, parts.collect()));
        }
    }

    /// Waits until every node of Citus shows the last group. One that broke down while it was being
    /// committed shows it only when Citus has settled it there, some time after it is back; what is read
    /// before that would be written over what is settled.
    pub fn await_written(&mut self, link: &Link, patience: Duration) -> Result<(), StoreError> {
        let mut pause = Pause::new(patience);
        while let Some((group, parts)) = &self.written {
            let unseen = call!(UNSEEN, parts.clone(), *group);
            if link.read("look for the last group", unseen)?.is_empty() {
                self.written = None;
                break;
            }
            let why = "a node of Citus has not settled the last group yet".into();
            pause.or(link.unreachable("read what a group is about", why))?;
        }
        Ok(())
    }

    /// Jobs to be told of: these, and those that others have brought further.
    pub fn tell_jobs(&mut self, touched: &BTreeSet<JobId>) -> Vec<JobProgress> {
        let now: BTreeMap<JobId, JobProgress> =
            self.kept.jobs.iter().map(|(id, row)| (*id, row.progress())).collect();
        let before = std::mem::take(&mut self.told);
        let is_news = |(id, row): &(&JobId, &JobProgress)| {
            touched.contains(id) || before.get(id).is_none_or(|old| old != *row)
        };
        let news = now.iter().filter(is_news).map(|(_, row)| row.clone()).collect();
        self.told = now;
        news
    }

    /// Makes sure that the change log has tables for these partitions, before they are needed.
    pub fn make_log_tables(
        &mut self,
        link: &Link,
        parts: &BTreeSet<u16>,
    ) -> Result<(), StoreError> {
        let last = parts.iter().filter_map(|p| self.kept.parts.get(p)).map(|p| p.log).max();
        let wanted = (last.unwrap_or(0) + LOG_RANGE / 2) / LOG_RANGE + 1;
        for range in self.log_tables..wanted {
            let call = call!(LOG_TABLE, range as i64, LOG_RANGE as i64);
            link.read("make a table for the change log", call)?;
            self.log_tables = range + 1;
        }
        Ok(())
    }
}

/// What all writers have counted together.
pub(super) fn sum_counts(rows: &[tokio_postgres::Row]) -> BTreeMap<JobId, Vec<i64>> {
    let width = fields(&mut JobCounters::default()).len();
    let mut sums: BTreeMap<JobId, Vec<i64>> = BTreeMap::new();
    for row in rows {
        let counted: Vec<i64> = row.get(1);
        let sum = sums.entry(JobId(row.get::<_, i32>(0) as u32)).or_insert(vec![0; width]);
        sum.iter_mut().zip(counted).for_each(|(sum, n)| *sum += n);
    }
    sums
}

/// When the host of a row of the schedule wakes.
pub(super) fn wake_at(key: &[u8]) -> Result<i64, StoreError> {
    let wake = key.first_chunk().ok_or_else(|| damaged("the schedule", "short key"))?;
    Ok(i64::from(u32::from_be_bytes(*wake)))
}

/// When a row of the calendar is due.
pub(super) fn due_at(key: &[u8]) -> Result<i64, StoreError> {
    let due = key.first_chunk().ok_or_else(|| damaged("the calendar", "short key"))?;
    Ok(i64::from_be_bytes(*due))
}
