//! What a discovery means for a URL that is known already: shared by all stores, so that they
//! cannot disagree on it.

use crate::batch::Discovery;
use crate::row::{UrlHead, UrlState};
use argiope_model::JobState;

/// What becomes of a known URL that was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing changes.
    Nothing,
    /// Only its row: depth, or the jobs that have met it.
    Row,
    /// It is requested.
    Queue,
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
        if nearer {
            row.depth = found.depth;
            return Again::Row;
        }
        return Again::Nothing;
    }
    match row.state {
        UrlState::Queued | UrlState::Failed if !new_job => Again::Nothing,
        UrlState::Skipped(reason) if !new_job && reason != argiope_frontier::SkipReason::Depth => {
            Again::Nothing
        }
        UrlState::Queued | UrlState::Failed | UrlState::Skipped(_) => {
            note(row, found);
            Again::Queue
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

fn note(row: &mut UrlHead, found: &Discovery) {
    row.jobs.retain(|j| *j != found.job);
    row.jobs.push(found.job);
    row.depth = found.depth;
}
