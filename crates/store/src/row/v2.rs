//! Rows as version 2 wrote them where that differs from today, and what they are today.
//!
//! Read only: a row is written in today's form when it next changes.

use super::v4::JobV4;
use super::{HostRow, JobCounters, JobProgress, JobRow};
use argiope_frontier::Temper;
use argiope_model::{JobId, JobState, Time};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct HostRowV2 {
    origin: Box<str>,
    ready: u64,
    claimed: bool,
    wake: Option<u32>,
    not_before: Time,
    known: u64,
    fetched: u64,
    failed: u64,
    bytes: u64,
    temper: TemperV2,
}

#[derive(Deserialize)]
struct TemperV2 {
    pause_ms: u64,
    failing_since: Option<Time>,
    failures: u32,
    given_up: Option<Time>,
}

impl From<HostRowV2> for HostRow {
    fn from(old: HostRowV2) -> Self {
        let TemperV2 { pause_ms, failing_since, failures, given_up } = old.temper;
        HostRow {
            origin: old.origin,
            ready: old.ready,
            claimed: old.claimed,
            wake: old.wake,
            not_before: old.not_before,
            known: old.known,
            fetched: old.fetched,
            failed: old.failed,
            bytes: old.bytes,
            temper: Temper { pause_ms, failing_since, failures, given_up, excluded: false },
            disk: None,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct JobRowV2 {
    job: JobV4,
    state: JobState,
    counters: JobCountersV2,
}

#[derive(Deserialize)]
pub(crate) struct JobProgressV2 {
    id: JobId,
    state: JobState,
    counters: JobCountersV2,
}

#[derive(Deserialize)]
struct JobCountersV2 {
    queued: u64,
    fetched: u64,
    unchanged: u64,
    failed: u64,
    skipped_extension: u64,
    skipped_depth: u64,
    skipped_type: u64,
    skipped_size: u64,
    redirects: u64,
    errors: u64,
    bytes: u64,
    hosts: u64,
    known: u64,
    words: u64,
    links: u64,
    run_ms: u64,
    skipped_robots: u64,
    skipped_given_up: u64,
    sitemaps: u64,
}

impl From<JobRowV2> for JobRow {
    fn from(old: JobRowV2) -> Self {
        JobRow { job: old.job.into(), state: old.state, counters: old.counters.into() }
    }
}

impl From<JobProgressV2> for JobProgress {
    fn from(old: JobProgressV2) -> Self {
        JobProgress { id: old.id, state: old.state, counters: old.counters.into() }
    }
}

impl From<JobCountersV2> for JobCounters {
    fn from(old: JobCountersV2) -> Self {
        JobCounters {
            queued: old.queued,
            fetched: old.fetched,
            unchanged: old.unchanged,
            failed: old.failed,
            skipped_extension: old.skipped_extension,
            skipped_depth: old.skipped_depth,
            skipped_type: old.skipped_type,
            skipped_size: old.skipped_size,
            redirects: old.redirects,
            errors: old.errors,
            bytes: old.bytes,
            hosts: old.hosts,
            known: old.known,
            words: old.words,
            links: old.links,
            run_ms: old.run_ms,
            skipped_robots: old.skipped_robots,
            skipped_given_up: old.skipped_given_up,
            sitemaps: old.sitemaps,
            ..JobCounters::default()
        }
    }
}
