//! Limits of jobs that several workers keep together.
//!
//! * What this is: when this worker asks for more pages of a job whose number is limited, and when it gives back
//!   what it does not use. What it was given is counted by the store ([`argiope_store::PostgresStore::quota_left`]).
//! * Bytes are known only when a page is there: one for which the share is too small waits, as if it were still
//!   under way, until more was given, or until that cannot be; then its URL stays queued and the job is at its limit.
//! * Invariant: what is handed out and what is back and not yet committed is never more than what is left of the
//!   share; so all workers together never fetch more than the limit.
//! * A share that nobody uses for a second goes back: others may wait for it.

use super::active::{Active, BytesQuota};
use super::{Director, GROUP_PAGES};
use crate::fleet::Membership;
use crate::group::PageDone;
use argiope_model::{JobId, JobState, Time};
use argiope_store::Share;
use std::time::Duration;

/// With fewer left more is asked for.
const FEW: u64 = 8;
/// How long it is not asked again when there was nothing.
const AGAIN: Duration = Duration::from_millis(200);
/// How often it is looked whether there are rows that need one.
const LOOK: Duration = Duration::from_millis(50);
/// After this long what is not used goes back.
const UNUSED: Duration = Duration::from_secs(1);

/// Whether a page may be taken in.
pub(super) enum Fit {
    Yes,
    /// Not before more was given.
    Wait,
    No,
}

impl Director {
    /// Asks for shares that are needed and gives back those that are not.
    pub(super) fn watch_quotas(&mut self, now: Time) {
        if self.member.is_none() {
            return;
        }
        if self.stopping {
            // Nobody waits for a share any more.
            std::mem::take(&mut self.short).into_iter().for_each(|page| self.not_taken(page, now));
        }
        let (loaded, busy) = (self.frontier.counts().loaded as u64, self.busy);
        let most = (self.settings.connections + GROUP_PAGES) as u64;
        let want = most.min(FEW + 4 * loaded);
        self.ask_bytes_again(now);
        let Some(member) = &self.member else { return };
        let mut begun = Vec::new();
        for (id, active) in &mut self.jobs {
            let idle = active.out + active.pages == 0 && active.bytes == 0 && !busy;
            if active.job.limits.bytes.is_some() {
                active.bytes_quota.get_or_insert_default();
            }
            let Some(limit) = active.job.limits.pages else {
                active.quota = None;
                give_bytes_back(active, idle, now, *id, member);
                continue;
            };
            if give_bytes_back(active, idle, now, *id, member) {
                continue;
            }
            if active.quota.is_none() {
                begun.push(*id);
            }
            let works = active.row.state == JobState::Open && !active.at_limit();
            let (out, pages) = (active.out, active.pages);
            let quota = active.quota.get_or_insert_default();
            let unused = idle && quota.left > 0 && !quota.asked;
            quota.idle = quota.idle.or(Some(now)).filter(|_| unused);
            let long = quota.idle.is_some_and(|since| now.since(since) >= UNUSED);
            if long || (unused && (!works || self.stopping)) {
                (quota.left, quota.asked, quota.returned, quota.idle) = (0, true, true, None);
                // Whoever has just given it back has no use for more.
                quota.again = now.plus(UNUSED);
                if let Some(bytes) = active.bytes_quota.as_mut() {
                    (bytes.left, bytes.asked, bytes.returned) = (0, true, true);
                }
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
        let bytes = member.store.bytes_left(job);
        let quota = self.jobs.get_mut(&job).and_then(|active| active.bytes_quota.as_mut());
        if let Some(quota) = quota.filter(|quota| quota.returned) {
            (quota.left, quota.asked, quota.returned) = (bytes, false, false);
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
            if let Some(quota) = active.bytes_quota.as_mut().filter(|quota| !quota.returned) {
                quota.left = member.store.bytes_left(*id);
            }
        }
    }

    /// Whether this worker's share of its job's bytes has room for a page; more is asked for where it has not.
    pub(super) fn fits(&mut self, page: &PageDone) -> Fit {
        let Some(member) = &self.member else { return Fit::Yes };
        let (id, need) = (page.entry.job, page.bytes());
        let Some(active) = self.jobs.get_mut(&id) else { return Fit::Yes };
        let (Some(limit), keep) = (active.job.limits.bytes, active.bytes) else { return Fit::Yes };
        let quota = active.bytes_quota.get_or_insert_default();
        match quota.asked {
            false if keep + need <= quota.left => return Fit::Yes,
            _ if self.stopping || active.limited => return Fit::No,
            false => {
                quota.asked = true;
                member.ask_bytes(id, limit, keep, need);
            }
            true => {}
        }
        Fit::Wait
    }

    /// What came of asking for bytes.
    fn bytes_share(&mut self, job: JobId, now: Time, again: bool) -> Vec<PageDone> {
        let left = self.member.as_ref().map_or(0, |member| member.store.bytes_left(job));
        let quota = self.jobs.get_mut(&job).and_then(|active| active.bytes_quota.as_mut());
        if let Some(quota) = quota {
            quota.left = left;
            quota.asked = again;
            quota.again = again.then(|| now.plus(AGAIN));
        }
        if again {
            return Vec::new();
        }
        let (mine, others) =
            std::mem::take(&mut self.short).into_iter().partition(|page| page.entry.job == job);
        self.short = others;
        mine
    }

    /// More bytes were given, or not.
    pub(super) fn bytes_came(&mut self, job: JobId, share: Share, now: Time) {
        let pages = self.bytes_share(job, now, share == Share::Later);
        for page in pages {
            match share {
                Share::Never => {
                    if let Some(active) = self.jobs.get_mut(&job) {
                        active.limited = true;
                    }
                    self.not_taken(page, now);
                }
                _ => self.done(page, now),
            }
        }
        self.regate(now);
    }

    /// Asks again for what others had.
    fn ask_bytes_again(&mut self, now: Time) {
        let Some(member) = &self.member else { return };
        for page in &self.short {
            let Some(active) = self.jobs.get_mut(&page.entry.job) else { continue };
            let (Some(limit), keep) = (active.job.limits.bytes, active.bytes) else { continue };
            let Some(quota) = &mut active.bytes_quota else { continue };
            if quota.again.is_some_and(|again| now >= again) {
                quota.again = None;
                member.ask_bytes(page.entry.job, limit, keep, page.bytes());
            }
        }
    }
}

/// Gives back a share of bytes that is not used, and of pages with it; says whether it did.
fn give_bytes_back(
    active: &mut Active,
    idle: bool,
    now: Time,
    id: JobId,
    member: &Membership,
) -> bool {
    let asked = active.quota.is_some_and(|quota| quota.asked);
    let Some(bytes) = &mut active.bytes_quota else { return false };
    let unused = idle && bytes.left > 0 && !bytes.asked && !asked;
    bytes.idle = bytes.idle.or(Some(now)).filter(|_| unused);
    let long = bytes.idle.is_some_and(|since| now.since(since) >= UNUSED);
    if long {
        *bytes = BytesQuota { asked: true, returned: true, ..BytesQuota::default() };
        if let Some(quota) = &mut active.quota {
            (quota.left, quota.asked, quota.returned, quota.idle) = (0, true, true, None);
        }
        member.return_quota(id);
    }
    long
}
