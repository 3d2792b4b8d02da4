//! What a discovery means for a URL that is known already: shared by all stores, so that they
//! cannot disagree on it.

use crate::batch::Discovery;
use crate::row::{UrlHead, UrlState};
use argiope_frontier::{Entry, SkipReason};
use argiope_model::JobState;

/// What becomes of a known URL that was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing changes.
    Nothing,
    /// Only its row: depth, or the jobs that have met it.
    Row,
    /// It is requested; the reason for which this job had left it alone no longer counts.
    Queue(Option<SkipReason>),
    /// Its stored links are looked at under the job's rules.
    Expand,
    /// The queue row changes owner: the job that owned it is not being worked on.
    TakeOver,
}

/// Decides, and writes depth and jobs into the row.
pub(crate) fn found_again(
    row: &mut UrlHead,
    found: &Discovery,
    owner: JobState,
    depth_matters: bool,
) -> Again {
    let new_job = !row.jobs.contains(&found.job);
    let nearer = found.depth < row.depth;
    if found.skip.is_some() {
        return Again::Nothing;
    }
    if row.in_queue() {
        let owned_by_other = row.job() != found.job;
        if owned_by_other && owner != JobState::Open {
            note(row, found);
            return Again::TakeOver;
        }
        // The depth is the owner's: another job's shorter way would lead it too deep.
        if nearer && !owned_by_other {
            row.depth = found.depth;
            return Again::Row;
        }
        return Again::Nothing;
    }
    match row.state {
        UrlState::Queued | UrlState::Failed if !new_job => Again::Nothing,
        UrlState::Skipped(reason) if !new_job && reason != SkipReason::Depth => Again::Nothing,
        UrlState::Queued | UrlState::Failed => {
            note(row, found);
            Again::Queue(None)
        }
        UrlState::Skipped(reason) => {
            note(row, found);
            // Another job's reason stays counted there: that job did leave it alone.
            Again::Queue((!new_job).then_some(reason))
        }
        UrlState::Fetched | UrlState::Redirected if new_job || (nearer && depth_matters) => {
            note(row, found);
            Again::Expand
        }
        UrlState::Fetched | UrlState::Redirected if nearer => {
            row.depth = found.depth;
            Again::Row
        }
        UrlState::Fetched | UrlState::Redirected => Again::Nothing,
    }
}

/// Whether the links just followed were judged by rules that no longer hold: the URL was taken
/// over by another job while it was out, or met on a shorter way where depth is limited.
pub(crate) fn outdated(row: &UrlHead, entry: &Entry, depth_matters: bool) -> bool {
    row.job() != entry.job || (row.depth < entry.depth && depth_matters)
}

/// Whether a result is that of a row which stands in the ready queue.
pub(crate) fn was_handed_out(row: &UrlHead, entry: &Entry) -> bool {
    row.place == Some(entry.place) && row.due.is_none()
}

fn note(row: &mut UrlHead, found: &Discovery) {
    row.jobs.retain(|j| *j != found.job);
    row.jobs.push(found.job);
    row.depth = found.depth;
}
