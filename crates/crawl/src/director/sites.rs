//! Sites that are excluded by hand, forgiven, or asked at another pace, while a crawl runs.
//!
//! * What this is: the names that are excluded, and what they mean for hosts that are loaded.
//! * Invariant: from the moment an exclusion is heard of, nothing is handed out of a host that it
//!   means: every host is looked at when it is loaded, every row when it is offered, every URL when
//!   it is found. Who asked for it is told when it is written down.
//! * What is not here: refusing the rows (`frontier`), keeping the names (`store`).

use super::Director;
use crate::group::PageDone;
use crate::run::{EngineError, SiteChange};
use argiope_frontier::{Delays, RobotsFile, SkipReason};
use argiope_model::{CanonicalUrl, FetchOutcome, HostKey, OutcomeKind, Time};
use argiope_store::{Next, UrlState};
use std::collections::{BTreeSet, VecDeque};
use std::sync::mpsc as blocking;
use std::time::Duration;

/// What there is of a robots.txt that lies with an excluded site: nothing, and nobody asks.
pub(super) fn out_of_reach(url: &CanonicalUrl, now: Time) -> RobotsFile {
    let why = format!("it lies at {url}, and that site is excluded");
    let outcome = FetchOutcome::with_detail(OutcomeKind::ForbiddenAddress, 0, why);
    RobotsFile { asked: now, until: now, outcome, body: Vec::new() }
}

impl Director {
    pub(super) fn is_excluded(&self, url: &CanonicalUrl) -> bool {
        self.exclusions.covering(url).is_some()
    }

    /// Sites are to be left alone, or to be asked again.
    pub(super) fn change_sites(&mut self, change: SiteChange) {
        if !change.exclude {
            // What is being committed may leave alone what is to be asked again.
            self.to_forgive.push(change);
            return;
        }
        let now = self.now();
        // Who was to be forgiven before is excluded after that.
        for earlier in &mut self.to_forgive {
            earlier.names.retain(|name| !change.names.contains(name));
            earlier.hosts.retain(|host| !change.hosts.contains(host));
        }
        for name in change.names {
            self.exclusions.add(&name, now);
            self.batch.exclusions.push((name, true));
        }
        let loaded = self.frontier.loaded_hosts(|url| self.is_excluded(url));
        let hosts: BTreeSet<HostKey> = change.hosts.into_iter().chain(loaded).collect();
        for host in hosts {
            self.leave_alone(host, now);
            self.batch.exclude.push(host);
        }
        self.told_next.extend(change.done);
    }

    /// Requests to the hosts of a name keep this delay from now on, or the one that is configured.
    pub(super) fn set_delay(
        &mut self,
        name: Box<str>,
        ms: Option<u64>,
        done: blocking::SyncSender<()>,
    ) {
        self.delays.set(&name, ms.map(Duration::from_millis));
        self.frontier.set_delays(self.delays.clone(), self.now());
        self.batch.delays.push((name, ms));
        self.told_next.push(done);
    }

    /// Takes over the delays that were set by hand, here or by anybody else.
    pub(super) fn delays_of_others(&mut self, delays: Vec<(Box<str>, u64)>, now: Time) {
        // What was asked for here and is not written down yet is newer.
        if self.batch.delays.is_empty() && self.told_now.is_empty() {
            self.delays = Delays::new(delays, self.shared.pinned.clone());
            self.frontier.set_delays(self.delays.clone(), now);
        }
    }

    /// Nothing is asked of a host from now on.
    pub(super) fn leave_alone(&mut self, host: HostKey, now: Time) {
        for errand in self.frontier.exclude(host, now) {
            let file = out_of_reach(&errand.url, now);
            self.errand_ended(&errand, file, now);
        }
    }

    /// Forgives who is to be forgiven, as soon as nothing is being committed: then the store knows
    /// everything that was left alone.
    pub(super) fn forgive_sites(&mut self) -> Result<(), EngineError> {
        if self.busy {
            return Ok(());
        }
        for change in std::mem::take(&mut self.to_forgive) {
            let now = self.now();
            let named = |url: &CanonicalUrl| {
                let by = self.exclusions.covering(url);
                by.is_some_and(|(name, _)| change.names.iter().any(|n| **n == *name))
            };
            let loaded = self.frontier.loaded_hosts(named);
            let hosts: BTreeSet<HostKey> = change.hosts.into_iter().chain(loaded).collect();
            for name in change.names {
                self.exclusions.remove(&name);
                self.batch.exclusions.push((name, false));
            }
            for (name, trap) in change.traps {
                self.forgive_trap(name, trap, now);
            }
            self.batch.exclude.retain(|host| !hosts.contains(host));
            self.take_back_refused(&hosts, now);
            for host in hosts {
                self.frontier.readmit(host, now);
                self.forgive(host)?;
            }
            self.told_next.extend(change.done);
            self.again.look_anew();
        }
        Ok(())
    }

    /// What was refused of these hosts and is not committed yet was not refused.
    fn take_back_refused(&mut self, hosts: &BTreeSet<HostKey>, now: Time) {
        self.take_back(now, |_, page| {
            let reasons = [SkipReason::Excluded, SkipReason::GivenUp, SkipReason::Trap];
            reasons.map(|r| Next::Done(UrlState::Skipped(r))).contains(&page.next)
                && hosts.contains(&page.entry.key.host)
        });
    }

    /// What was not asked for and is not committed yet is queued as it was, where that holds of it.
    pub(super) fn take_back(&mut self, now: Time, holds: impl Fn(&Self, &PageDone) -> bool) {
        let pending = std::mem::take(&mut self.pending).into_iter();
        let (back, rest): (VecDeque<PageDone>, _) =
            pending.partition(|page| page.capture.is_none() && holds(self, page));
        self.pending = rest;
        for page in back {
            self.frontier.give_back(page.entry, now);
        }
    }

    /// A page that would be tried again, of a site that was excluded meanwhile, is left alone now.
    pub(super) fn no_more_tries(&self, page: &mut PageDone) {
        if matches!(page.next, Next::Retry(_)) && self.is_excluded(&page.entry.url) {
            page.next = Next::Done(UrlState::Skipped(SkipReason::Excluded));
        }
    }

    /// A commit is made: who waited for it is told.
    pub(super) fn tell_done(&mut self) {
        for done in self.told_now.drain(..) {
            let _ = done.try_send(());
        }
    }
}
