//! What is left of a URL that is forgotten: shared by all stores, so that they cannot disagree
//! on it.
//!
//! The row stays, with its number, its jobs and when it was first seen: it is what keeps a link
//! from leading there again. What its jobs have done stays counted, for they did it; what they
//! have yet to do, or count as given up and left alone, is taken back.

use crate::row::{HostRow, JobCounters, UrlHead, UrlState};
use argiope_frontier::Place;
use argiope_model::{JobId, Role, Time};

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
