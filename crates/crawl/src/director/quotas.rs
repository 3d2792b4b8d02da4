//! Limits of jobs that several workers keep together.
//!
//! * What this is: when this worker asks for more pages of a job whose number is limited, and when it gives back
//!   what it does not use. What it was given is counted by the store ([`argiope_store::PostgresStore::quota_left`]).
//! * Invariant: what is handed out and what is back and not yet committed is never more than what is left of the
//!   share; so all workers together never fetch more than the limit.
//! * A share that nobody uses for a second goes back: others may wait for it.

use super::{Director, GROUP_PAGES};
use argiope_model::{JobId, JobState, Time};
use std::time::Duration;

/// With fewer left more is asked for.
const FEW: u64 = 8;
/// How long it is not asked again when there was nothing.
const AGAIN: Duration = Duration::from_millis(200);
/// How often it is looked whether there are rows that need one.
const LOOK: Duration = Duration::from_millis(50);
/// After this long what is not used goes back.
const UNUSED: Duration = Duration::from_secs(1);

impl Director {
    /// Asks for shares that are needed and gives back those that are not.
    pub(super) fn watch_quotas(&mut self, now: Time) {
        let Some(member) = &self.member else { return };
        let (loaded, busy) = (self.frontier.counts().loaded as u64, self.busy);
        let most = (self.settings.connections + GROUP_PAGES) as u64;
        let want = most.min(FEW + 4 * loaded);
        let mut begun = Vec::new();
        for (id, active) in &mut self.jobs {
            let Some(limit) = active.job.limits.pages else {
                active.quota = None;
                continue;
            };
            if active.quota.is_none() {
                begun.push(*id);
            }
            let works = active.row.state == JobState::Open && !active.at_limit();
            let (out, pages) = (active.out, active.pages);
            let quota = active.quota.get_or_insert_default();
            let unused = out + pages == 0 && !busy && quota.left > 0 && !quota.asked;
            quota.idle = quota.idle.or(Some(now)).filter(|_| unused);
            let long = quota.idle.is_some_and(|since| now.since(since) >= UNUSED);
            if long || (unused && (!works || self.stopping)) {
                (quota.left, quota.asked, quota.returned, quota.idle) = (0, true, true, None);
                // Whoever has just given it back has no use for more.
                quota.again = now.plus(UNUSED);
                member.return_quota(*id);
                continue;
            }
            let few = quota.left < FEW + out + pages;
            let may = works && !self.stopping && !quota.asked && now >= quota.again;
            if few && may {
                quota.asked = self.frontier.holds_rows_of(*id);
                match quota.asked {
                    true => member.ask_quota(*id, limit, want),
                    false => quota.again = now.plus(LOOK),
                }
            }
        }
        for id in begun {
            self.frontier.gate(id, true, now);
        }
    }

    /// It was asked for more of a job, or given back.
    pub(super) fn quota_came(&mut self, job: JobId, now: Time) {
        let Some(member) = &self.member else { return };
        let left = member.store.quota_left(job);
        if let Some(quota) = self.jobs.get_mut(&job).and_then(|active| active.quota.as_mut()) {
            (quota.asked, quota.returned) = (false, false);
            let more = left > quota.left;
            quota.left = left;
            if !more {
                quota.again = quota.again.max(now.plus(AGAIN));
            }
        }
        self.regate(now);
    }

    /// What is left after a commit.
    pub(super) fn count_quotas(&mut self) {
        let Some(member) = &self.member else { return };
        for (id, active) in &mut self.jobs {
            if let Some(quota) = active.quota.as_mut().filter(|quota| !quota.returned) {
                quota.left = member.store.quota_left(*id);
            }
        }
    }
}
