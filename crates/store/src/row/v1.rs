//! Rows as version 1 wrote them, and what they are today.
//!
//! Read only: a row is written in today's form when it next changes.

use super::v4::JobV4;
use super::{HostRow, JobCounters, JobRow, UrlHead, UrlState, Wish};
use argiope_frontier::{Place, Temper};
use argiope_model::{
    Capture, Directives, DocId, FetchOutcome, JobId, JobState, Location, PayloadDigest, Role, Time,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct UrlHeadV1 {
    doc: DocId,
    state: UrlState,
    depth: u16,
    jobs: Vec<JobId>,
    first_seen: Time,
    fetched_at: Option<Time>,
    visits: u32,
    changes: u32,
    changed_at: Option<Time>,
    attempts: u8,
    place: Option<Place>,
    due: Option<Time>,
    expand: bool,
    wishes: Vec<Wish>,
}

impl From<UrlHeadV1> for UrlHead {
    fn from(old: UrlHeadV1) -> Self {
        UrlHead {
            doc: old.doc,
            state: old.state,
            depth: old.depth,
            jobs: old.jobs,
            first_seen: old.first_seen,
            fetched_at: old.fetched_at,
            visits: old.visits,
            changes: old.changes,
            changed_at: old.changed_at,
            attempts: old.attempts,
            place: old.place,
            due: old.due,
            expand: old.expand,
            wishes: old.wishes,
            role: Role::Page,
            hops: 0,
            plan: None,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct HostRowV1 {
    origin: Box<str>,
    ready: u64,
    claimed: bool,
    wake: Option<u32>,
    not_before: Time,
    known: u64,
    fetched: u64,
    failed: u64,
    bytes: u64,
}

impl From<HostRowV1> for HostRow {
    fn from(old: HostRowV1) -> Self {
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
            temper: Temper::default(),
            disk: None,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct JobRowV1 {
    job: JobV4,
    state: JobState,
    counters: JobCountersV1,
}

#[derive(Deserialize)]
struct JobCountersV1 {
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
}

impl From<JobRowV1> for JobRow {
    fn from(old: JobRowV1) -> Self {
        let counted = old.counters;
        let counters = JobCounters {
            queued: counted.queued,
            fetched: counted.fetched,
            unchanged: counted.unchanged,
            failed: counted.failed,
            skipped_extension: counted.skipped_extension,
            skipped_depth: counted.skipped_depth,
            skipped_type: counted.skipped_type,
            skipped_size: counted.skipped_size,
            redirects: counted.redirects,
            errors: counted.errors,
            bytes: counted.bytes,
            hosts: counted.hosts,
            known: counted.known,
            words: counted.words,
            links: counted.links,
            run_ms: counted.run_ms,
            ..JobCounters::default()
        };
        JobRow { job: old.job.into(), state: old.state, counters }
    }
}

#[derive(Deserialize)]
pub(crate) struct CaptureV1 {
    doc: DocId,
    job: JobId,
    time: Time,
    outcome: FetchOutcome,
    record: Option<Location>,
    revisit: bool,
    text: Option<Location>,
    mime: Box<str>,
    bytes: u64,
    payload_digest: PayloadDigest,
    body_digest: [u8; 32],
    last_modified: Option<Time>,
    etag: Option<Box<str>>,
    elapsed_ms: u32,
}

impl From<CaptureV1> for Capture {
    fn from(old: CaptureV1) -> Self {
        Capture {
            doc: old.doc,
            job: old.job,
            time: old.time,
            outcome: old.outcome,
            record: old.record,
            revisit: old.revisit,
            text: old.text,
            mime: old.mime,
            bytes: old.bytes,
            payload_digest: old.payload_digest,
            body_digest: old.body_digest,
            last_modified: old.last_modified,
            etag: old.etag,
            elapsed_ms: old.elapsed_ms,
            directives: Directives::default(),
            verdict: None,
        }
    }
}
