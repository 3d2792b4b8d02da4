//! What is left of a URL that is forgotten: shared by all stores, so that they cannot disagree
//! on it.
//!
//! The row stays, with its number, its jobs and when it was first seen: it is what keeps a link
//! from leading there again. What its jobs have done stays counted, for they did it; what they
//! have yet to do, or count as given up and left alone, is taken back.
//!
//! Of a URL that loses single captures the row stays as it is.

use crate::batch::Forget;
use crate::row::{Ended, HostRow, JobCounters, UrlHead, UrlState};
use argiope_frontier::Place;
use argiope_model::{JobId, Role, Time, UrlKey};
use std::collections::HashSet;

/// What a URL was before it was forgotten: what the tables around it must let go of.
pub(crate) struct Before {
    /// Its place, where it was queued, and when it was due, where it was on the calendar.
    pub queued: Option<(Place, Option<Time>)>,
    /// The jobs it was queued for.
    pub queued_for: Vec<JobId>,
    /// The last of its jobs, and what that has it counted as.
    pub counted: (JobId, UrlState),
    /// Pages its host has counted for it.
    pub pages: u64,
}

/// Empties a row and says what it held.
pub(crate) fn empty(head: &mut UrlHead) -> Before {
    let before = Before {
        queued: head.place.map(|place| (place, head.due)),
        queued_for: head.queued_for().collect(),
        counted: (head.job(), head.state),
        pages: u64::from(head.role == Role::Page && head.visits > 0),
    };
    head.state = UrlState::Forgotten;
    (head.fetched_at, head.visits, head.changes, head.changed_at) = (None, 0, 0, None);
    (head.place, head.due, head.expand, head.attempts) = (None, None, false, 0);
    head.wishes.clear();
    head.plan = None;
    before
}

impl Before {
    /// Takes its pages from its host.
    pub(crate) fn uncount_pages(&self, host: &mut HostRow) {
        host.fetched = host.fetched.saturating_sub(self.pages);
    }

    /// Takes it from a job's counters: one by one, for every job it was queued for.
    pub(crate) fn unqueue(counters: &mut JobCounters) {
        counters.queued = counters.queued.saturating_sub(1);
    }
}

/// What the change log says of a URL that has lost captures: as it stands, so that those who follow
/// look at it again and find it as it was.
pub(crate) fn as_it_stands(state: UrlState) -> Ended {
    match state {
        UrlState::Fetched | UrlState::Redirected => Ended::WithPage,
        UrlState::Failed => Ended::Broken,
        UrlState::Skipped(_) => Ended::LeftAlone,
        UrlState::Queued => Ended::Open,
        UrlState::Forgotten => Ended::Forgotten,
    }
}

impl Forget {
    /// Leaves every capture in it once, and none of a URL that goes whole.
    pub(crate) fn take_out_twice(&mut self) {
        let whole: HashSet<UrlKey> = self.urls.iter().copied().collect();
        self.captures.retain(|(k, _)| !whole.contains(k));
        self.captures.sort_unstable();
        self.captures.dedup();
    }
}
