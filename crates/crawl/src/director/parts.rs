//! Working as one of many: partitions that come and go, jobs that others change, the end of a crawl
//! that no single worker can see.
//!
//! * What this is: what the director does differently in a fleet. Whoever crawls alone has no
//!   [`Membership`], and nothing here happens.
//! * Invariants: a partition is let go of only when no host of it is loaded and no commit is under way;
//!   a job is called done only after a fresh look at the store, where what is on its way between
//!   workers counts as queued.

use super::Director;
use super::active::Active;
use crate::fleet::PartsNews;
use crate::group::Settled;
use crate::run::{Ended, EngineError};
use crate::settings::gap;
use argiope_frontier::{Exclusions, Refill, RobotsFile};
use argiope_model::{CanonicalUrl, FetchOutcome, HostKey, JobId, JobState, OutcomeKind, Time};
use argiope_store::{JobChange, JobProgress, StoreError};
use std::sync::Arc;

/// Rows read of a host that somebody else left.
pub(super) const FIRST_ROWS: usize = 64;

impl Director {
    /// Partitions were taken, or are to be given to somebody else.
    pub(super) fn parts_changed(&mut self, news: PartsNews, now: Time) {
        match news {
            PartsNews::Taken(claims) => {
                // When their hosts were last asked is unknown: they wait from now on.
                self.unclean_since = now;
                let refill = |host| Refill { host, after: None, limit: FIRST_ROWS };
                self.batch.refills.extend(claims.into_iter().map(refill));
                self.look_soon();
            }
            PartsNews::Leave(parts) => {
                for errand in self.frontier.leave(&parts, now) {
                    let file = elsewhere(&errand.url, now);
                    self.errand_ended(&errand, file, now);
                }
                self.await_nothing_for(&parts, now);
                self.leaving = Some(parts);
                // Asks for a commit that gives back what is idle.
                self.look_soon();
            }
            PartsNews::Turns(turns) => {
                turns.into_iter().for_each(|(ip, turn)| self.frontier.turn(ip, turn, now));
            }
            PartsNews::Wanted(mut ips) => {
                // Whoever is not told now asks again, and so we hear of it again.
                ips.retain(|ip| self.frontier.share_address(*ip));
                if let Some(member) = &self.member {
                    member.share(ips);
                }
            }
            PartsNews::Bytes(job, share) => self.bytes_came(job, share, now),
            PartsNews::Quota(job) => self.quota_came(job, now),
            PartsNews::Excluded(names, traps, delays) => {
                self.excluded_by_others = Some(names);
                self.delays_of_others(delays, now);
                for (name, trap) in traps {
                    self.shared.traps.know(&name, Some(trap));
                }
            }
            PartsNews::Filters(filters) => self.filters_of_others(filters),
            PartsNews::Delay(delay) if delay != self.settings.delay => {
                tracing::info!("all workers wait {delay:?} between requests to a host from now on");
                self.settings.delay = delay;
                self.frontier.set_delay(delay, gap(self.settings.address_gap, delay));
            }
            PartsNews::Delay(_) => {}
            PartsNews::Left => {
                self.frontier.left();
                self.look_soon();
            }
        }
    }

    /// Asks for a commit that looks at the store as it is from now on. One that is under way has looked
    /// before, and what it says is due holds no longer.
    fn look_soon(&mut self) {
        (self.next_due, self.look_again) = (Some(Time(0)), self.busy);
    }

    /// Takes over which sites are excluded, here or by anybody else.
    pub(super) fn exclude_as_others(&mut self, now: Time) {
        // What was asked for here and is not written down yet is newer.
        let ours = !self.batch.exclusions.is_empty() || !self.to_forgive.is_empty();
        if self.excluded_by_others.is_none() || self.busy || ours {
            return;
        }
        let names = self.excluded_by_others.take().unwrap_or_default();
        let before = self.frontier.loaded_hosts(|url| self.is_excluded(url));
        self.exclusions = Exclusions::new(names, self.shared.pinned.clone());
        let after = self.frontier.loaded_hosts(|url| self.is_excluded(url));
        for host in before.iter().filter(|host| !after.contains(host)) {
            self.frontier.readmit(*host, now);
        }
        for host in after {
            self.leave_alone(host, now);
        }
    }

    /// Whether a commit is worth making for what others do: for partitions that are to leave, and for
    /// messages and jobs, which are looked at with every commit.
    pub(super) fn looks_at_others(&self, now: Time) -> bool {
        let due = !self.stopping && self.next_due.is_some_and(|due| due <= now);
        self.member.is_some() && (due || self.leaving.is_some())
    }

    /// Lets go of partitions of which nothing is left here; called when nothing is being committed.
    pub(super) fn let_go(&mut self) {
        if self.leaving.is_none() || self.frontier.holds_leaving() || self.busy {
            return;
        }
        if let (Some(parts), Some(member)) = (self.leaving.take(), &self.member) {
            member.release(parts);
        }
    }

    /// Whether this worker may write rows of a host.
    pub(super) fn is_ours(&self, host: HostKey) -> bool {
        let held = |parts: Vec<u16>| parts.binary_search(&host.part).is_ok();
        let stays = self.leaving.as_ref().is_none_or(|parts| !parts.contains(&host.part));
        stays && self.member.as_ref().is_none_or(|member| held(member.store.held()))
    }

    /// What is known of a robots.txt that lies with a host of another worker's: what that worker has read,
    /// where it is that host's own.
    pub(super) fn anothers_robots(&self, url: &CanonicalUrl, now: Time) -> Option<RobotsFile> {
        let at = url.host_key(&self.shared.pinned);
        let read = match url.robots_txt() == *url {
            true => self.shared.blocking(|| self.shared.store.robots(&[at])).ok(),
            false => None,
        };
        let known = read.and_then(|mut files| files.pop().flatten());
        known.filter(|file| file.until > now)
    }

    /// Counts what this process brought in.
    pub(super) fn count_own(&self, settled: &Settled) {
        self.shared.tenure.count(settled.pages, settled.bytes);
        let counted = self.live.counted();
        counted.commit(self.commit_took, settled.pages, settled.bytes, &settled.outcomes);
    }

    /// A job came further, here or elsewhere.
    pub(super) fn job_came_further(&mut self, progress: JobProgress) {
        let (id, state) = (progress.id, progress.state);
        let Some(active) = self.jobs.get_mut(&id) else {
            if self.member.is_some() && state == JobState::Open {
                self.take_up(id);
            }
            return;
        };
        let before = active.row.state;
        active.row.advance(progress);
        if before == state || self.member.is_none() {
            return;
        }
        // Somebody else has changed it.
        active.limited = state != JobState::Open;
        if state == JobState::Open {
            self.take_up(id);
        }
        self.read_anew = true;
    }

    /// Works on a job from now on that somebody else has given or opened again.
    fn take_up(&mut self, id: JobId) {
        let Some(row) = self.stored_job(id) else { return };
        if let Err(e) = self.shared.filters.hold(&row.job) {
            tracing::error!(job = id.0, "{e}");
            return;
        }
        if !self.jobs.contains_key(&id) {
            self.fetched_before += row.counters.fetched;
            self.bytes_before += row.counters.bytes;
        }
        let out = self.jobs.get(&id).map_or(0, |active| active.out);
        let before = self.jobs.get(&id);
        let quota = before.and_then(|active| active.quota);
        let bytes_quota = before.and_then(|active| active.bytes_quota);
        self.jobs.insert(id, Active { out, quota, bytes_quota, ..Active::new(row) });
        self.shared.seen.clear();
        self.cover_jobs();
        self.read_anew = true;
    }

    /// Whether a worker's run is over; called when nothing is under way here.
    pub(super) fn over_in_fleet(
        &mut self,
        stays: bool,
        job: Option<JobId>,
    ) -> Result<Option<Ended>, EngineError> {
        let open = |a: &Active| a.row.state == JobState::Open;
        if self.jobs.values().any(|a| open(a) && a.row.counters.queued == 0) {
            self.look_at_jobs().map_err(|e| EngineError::Failed(Arc::new(e)))?;
        }
        let mut ended = Vec::new();
        for (id, active) in self.jobs.iter_mut().filter(|(_, a)| open(a)) {
            let state = match active.row.counters.queued {
                0 => JobState::Done,
                _ if active.at_limit() => JobState::Limited,
                _ => continue,
            };
            active.row.state = state;
            ended.push(JobChange::State(*id, state));
        }
        if !ended.is_empty() {
            self.batch.jobs.extend(ended);
            return Ok(None);
        }
        let ours = |id: &JobId| job.is_none_or(|job| job == *id);
        let any = |state| self.jobs.iter().any(|(id, a)| ours(id) && a.row.state == state);
        if stays || any(JobState::Open) {
            return Ok(None);
        }
        Ok(Some(if any(JobState::Limited) {
            Ended::Limit
        } else if any(JobState::Paused) {
            Ended::Stopped
        } else {
            Ended::Done
        }))
    }

    /// Asks the store how far all have come.
    fn look_at_jobs(&mut self) -> Result<(), StoreError> {
        let rows = self.shared.blocking(|| self.shared.store.jobs())?;
        for row in rows {
            self.job_came_further(row.progress());
        }
        Ok(())
    }
}

/// What there is of a robots.txt that lies with a host of another worker's: nothing, for now.
pub(super) fn elsewhere(url: &CanonicalUrl, now: Time) -> RobotsFile {
    let why = format!("it lies at {url}, which another worker asks");
    let outcome = FetchOutcome::with_detail(OutcomeKind::ConnectionLost, 0, why);
    RobotsFile { asked: now, until: now, outcome, body: Vec::new() }
}
