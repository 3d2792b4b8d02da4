//! Rows as version 4 wrote them where that differs from today, and what they are today. Orders were the
//! same in all versions before.
//!
//! Read only: a row is written in today's form when it next changes.

use super::{JobCounters, JobProgress, JobRow};
use argiope_model::{
    CanonicalUrl, Job, JobId, JobState, Limits, Order, QueryPolicy, Scope, Time, Wanted,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct JobV4 {
    id: JobId,
    created: Time,
    seeds: Vec<CanonicalUrl>,
    scope: Scope,
    order: Order,
    limits: LimitsV4,
    wanted: Wanted,
    query: QueryPolicy,
}

#[derive(Deserialize)]
struct LimitsV4 {
    pages: Option<u64>,
    depth: Option<u16>,
    time_ms: Option<u64>,
    bytes: Option<u64>,
}

impl From<JobV4> for Job {
    fn from(old: JobV4) -> Self {
        let LimitsV4 { pages, depth, time_ms, bytes } = old.limits;
        Job {
            id: old.id,
            created: old.created,
            seeds: old.seeds,
            scope: old.scope,
            order: old.order,
            limits: Limits { pages, depth, time_ms, bytes, site_pages: None },
            wanted: old.wanted,
            query: old.query,
            filter: None,
            aim: None,
            news: false,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct JobRowV4 {
    job: JobV4,
    state: JobState,
    counters: JobCountersV4,
}

#[derive(Deserialize)]
pub(crate) struct JobProgressV4 {
    id: JobId,
    state: JobState,
    counters: JobCountersV4,
}

#[derive(Deserialize)]
struct JobCountersV4 {
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
    skipped_excluded: u64,
}

impl From<JobRowV4> for JobRow {
    fn from(old: JobRowV4) -> Self {
        JobRow { job: old.job.into(), state: old.state, counters: old.counters.into() }
    }
}

impl From<JobProgressV4> for JobProgress {
    fn from(old: JobProgressV4) -> Self {
        JobProgress { id: old.id, state: old.state, counters: old.counters.into() }
    }
}

impl From<JobCountersV4> for JobCounters {
    fn from(old: JobCountersV4) -> Self {
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
            skipped_excluded: old.skipped_excluded,
            ..JobCounters::default()
        }
    }
}
