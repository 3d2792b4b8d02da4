//! Why a URL whose turn has come is not asked for, besides what its host says.
//!
//! Everything that may refuse a queued URL for its job's sake is asked here, in order, each time one is
//! about to be handed out: what was queued under other rules does not slip through.

use super::active::Active;
use super::caps::Caps;
use crate::visit::Shared;
use argiope_frontier::{Entry, SkipReason};
use argiope_model::JobId;
use std::collections::BTreeMap;

/// The reason, if there is one.
pub(super) fn refusal(
    shared: &Shared,
    jobs: &BTreeMap<JobId, Active>,
    caps: &Caps,
    entry: &Entry,
) -> Option<SkipReason> {
    let job = &jobs.get(&entry.job)?.job;
    let filters = &shared.filters;
    let refused = filters.refuses_queued(job, &entry.url, entry.role, &shared.suffixes);
    let trap = || shared.traps.holds(entry, job.order).map(|_| SkipReason::Trap);
    let cap = || caps.refuses(jobs, entry);
    // News of a site that is not followed any more.
    let left = job.news && shared.gather.site_of(&entry.url).is_none();
    let left = left.then_some(SkipReason::Excluded);
    left.or(refused.then_some(SkipReason::Filter)).or_else(trap).or_else(cap)
}
