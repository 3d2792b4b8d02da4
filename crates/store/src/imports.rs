//! What a capture that was made elsewhere means for a URL's row: shared by all stores, so that
//! they cannot disagree on it.
//!
//! An import asks for nothing and queues nothing. A URL that a job wants stays in its queue and
//! is fetched in its turn; what was seen before it was imported keeps the last word where it is
//! newer. Import jobs own a row only where no queue row hangs on it.

use crate::batch::{Next, PageResult};
use crate::row::{JobCounters, UrlHead, UrlState};
use argiope_model::{DocId, OutcomeKind, Role, Time};

/// The row of a URL that nobody met before.
pub(crate) fn first_imported(page: &PageResult, doc: DocId, now: Time) -> UrlHead {
    let seen = page.capture.as_ref().map_or(now, |c| c.time.min(now));
    UrlHead {
        doc,
        state: end_of(page),
        depth: 0,
        jobs: vec![page.entry.job],
        first_seen: seen,
        fetched_at: None,
        visits: 0,
        changes: 0,
        changed_at: None,
        attempts: 0,
        place: None,
        due: None,
        expand: false,
        wishes: Vec::new(),
        role: Role::Page,
        hops: 0,
        plan: None,
    }
}

/// Writes an imported capture into the row; says whether it is the newest of its URL.
pub(crate) fn take_in(head: &mut UrlHead, page: &PageResult) -> bool {
    let Some(capture) = &page.capture else { return false };
    let newest = head.fetched_at.is_none_or(|last| last <= capture.time);
    head.first_seen = head.first_seen.min(capture.time);
    let state = end_of(page);
    if state == UrlState::Fetched {
        head.visits += 1;
        head.changes += u32::from(page.changed && head.visits > 1);
        if page.changed {
            head.changed_at = head.changed_at.max(Some(capture.time));
        }
    }
    let job = page.entry.job;
    if newest {
        head.fetched_at = Some(capture.time);
    }
    if newest && !head.in_queue() {
        head.state = state;
        head.jobs.retain(|known| *known != job);
        head.jobs.push(job);
    } else if !head.jobs.contains(&job) {
        head.jobs.insert(0, job);
    }
    newest
}

/// Counts an imported capture for its job.
pub(crate) fn count_in(counters: &mut JobCounters, page: &PageResult) {
    let Some(capture) = &page.capture else { return };
    counters.words += page.words;
    counters.links += page.link_count;
    counters.bytes += capture.bytes;
    match end_of(page) {
        UrlState::Fetched if capture.outcome.kind == OutcomeKind::NotModified => {
            counters.unchanged += 1;
        }
        UrlState::Fetched => counters.fetched += 1,
        UrlState::Redirected => counters.redirects += 1,
        UrlState::Failed => {
            counters.failed += 1;
            counters.errors += 1;
        }
        UrlState::Skipped(reason) => *counters.skipped_mut(reason) += 1,
        UrlState::Queued | UrlState::Forgotten => {}
    }
}

/// How an imported capture ended; nobody tries it again.
pub(crate) fn end_of(page: &PageResult) -> UrlState {
    match page.next {
        Next::Done(UrlState::Queued) | Next::Retry(_) => UrlState::Failed,
        Next::Expanded | Next::Later(_) => UrlState::Failed,
        Next::Done(state) => state,
    }
}
