//! Rows as version 3 wrote them where that differs from today, and what they are today. Rows of URLs
//! and captures of version 2 were the same.
//!
//! Read only: a row is written in today's form when it next changes.

use super::{UrlHead, UrlState, Wish};
use argiope_frontier::Place;
use argiope_model::{
    Capture, Directives, DocId, FetchOutcome, JobId, Location, PayloadDigest, Role, Time,
};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct UrlHeadV3 {
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
    role: Role,
    hops: u8,
}

impl From<UrlHeadV3> for UrlHead {
    fn from(old: UrlHeadV3) -> Self {
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
            role: old.role,
            hops: old.hops,
            plan: None,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct CaptureV3 {
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
    directives: Directives,
}

impl From<CaptureV3> for Capture {
    fn from(old: CaptureV3) -> Self {
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
            directives: old.directives,
            verdict: None,
        }
    }
}
