//! A job being worked on, and how near it is to its limits.

use argiope_model::{Job, Time};
use argiope_store::JobRow;
use std::sync::Arc;
use std::time::Duration;

/// A job being worked on.
pub(super) struct Active {
    pub(super) job: Arc<Job>,
    pub(super) row: JobRow,
    /// Handed out and not yet back.
    pub(super) out: u64,
    /// Pages back and not yet committed.
    pub(super) pages: u64,
    /// Their bytes.
    pub(super) bytes: u64,
    /// A limit is reached: nothing more is handed out.
    pub(super) limited: bool,
    /// Its new pages wait for the budget of a day.
    pub(super) held: bool,
    /// Not worked on in this run, which is for news alone.
    pub(super) rests: bool,
    /// In a fleet, where pages are limited: how many this worker may still commit.
    pub(super) quota: Option<Quota>,
    /// The same of bytes, where they are limited.
    pub(super) bytes_quota: Option<BytesQuota>,
}

/// This worker's share of the bytes of a job.
#[derive(Clone, Copy, Default)]
pub(super) struct BytesQuota {
    pub(super) left: u64,
    /// More is being asked for, or it is being given back: no page is taken in meanwhile.
    pub(super) asked: bool,
    /// It is being given back: there is none until that is heard of.
    pub(super) returned: bool,
    /// It is asked for again then.
    pub(super) again: Option<Time>,
    /// Since when nothing of it is used.
    pub(super) idle: Option<Time>,
}

/// This worker's share of what a job may fetch.
#[derive(Clone, Copy, Default)]
pub(super) struct Quota {
    pub(super) left: u64,
    /// More is being asked for, or it is being given back.
    pub(super) asked: bool,
    /// It is being given back: there is none until that is heard of.
    pub(super) returned: bool,
    /// It is not asked for before.
    pub(super) again: Time,
    /// Since when nothing of it is used.
    pub(super) idle: Option<Time>,
}

impl Active {
    pub(super) fn new(row: JobRow) -> Self {
        let job = Arc::new(row.job.clone());
        Active {
            job,
            row,
            out: 0,
            pages: 0,
            bytes: 0,
            limited: false,
            held: false,
            rests: false,
            quota: None,
            bytes_quota: None,
        }
    }

    /// Pages that are or may be fetched when everything handed out comes back well.
    pub(super) fn pages_at_most(&self) -> u64 {
        let counters = &self.row.counters;
        counters.fetched + self.pages + self.out
    }

    /// Whether it stays full, whatever becomes of what is handed out.
    pub(super) fn at_limit(&self) -> bool {
        let done = self.row.counters.fetched;
        self.limited || self.job.limits.pages.is_some_and(|limit| done >= limit)
    }

    /// Whether it could go on if this worker were given more of its pages.
    pub(super) fn awaits_quota(&self) -> bool {
        (self.quota.is_some() || self.bytes_quota.is_some()) && !self.at_limit()
    }

    /// When its time is up, in a run begun then.
    pub(super) fn time_end(&self, begun: Time) -> Option<Time> {
        self.job.limits.time_ms.map(|ms| begun.plus(Duration::from_millis(ms)))
    }

    /// Whether nothing more may be handed out, for now or at all.
    pub(super) fn full(&self) -> bool {
        if self.held || self.rests || self.bytes_quota.is_some_and(|quota| quota.asked) {
            return true;
        }
        if let Some(quota) = &self.quota {
            return self.limited || self.pages + self.out >= quota.left;
        }
        self.limited || self.job.limits.pages.is_some_and(|limit| self.pages_at_most() >= limit)
    }
}
