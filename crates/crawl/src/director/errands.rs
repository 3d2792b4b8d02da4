//! A robots.txt that lies with a host of another worker's: its owner is asked for it, as one asks for anything
//! else that only an owner may do, and answers.
//!
//! * What this is: both sides of it. Who wants to know sends the errand to whoever owns the host it leads
//!   to, and waits for so long; the owner runs it under that host's rules of politeness, like an errand of
//!   its own, and sends back what came of it. Where it leads on, it is sent on.
//! * Invariants: nobody waits for ever: what is not heard of in time counts as not to be had, and is asked for
//!   again as such files are. What comes later is still of use: it is written down.
//! * Whoever crawls alone owns every host, and nothing here happens.

use super::Director;
use super::parts::elsewhere;
use super::sites::out_of_reach;
use argiope_frontier::{Errand, RobotsFile, RobotsUse};
use argiope_model::{CanonicalUrl, HostKey, Time};
use argiope_store::RobotsTold;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long an answer is waited for, at least; a host may have to be waited for itself.
const WAIT: Duration = Duration::from_secs(30);

impl Director {
    /// Asks the owner of another host for a robots.txt that lies there.
    pub(super) fn ask_owner(&mut self, errand: Errand, now: Time) {
        let of = errand.robots_of;
        if self.leaving.as_ref().is_some_and(|parts| parts.contains(&of.part)) {
            // Whoever has the host next asks for itself.
            self.frontier.robots_answered(of, &elsewhere(&errand.url, now), true, now);
            return;
        }
        if self.answers_for(of) {
            let until = now.plus(WAIT.max(self.settings.delay * 3));
            self.asked_elsewhere.insert(of, (until, errand.url.clone()));
        }
        self.batch.errands.push(errand);
    }

    /// Whether a host's rules are of use here; one that is loaded may be about to leave.
    pub(super) fn answers_for(&self, host: HostKey) -> bool {
        self.frontier.is_loaded(host) || self.is_ours(host)
    }

    /// An errand came to nothing, or to a file: whoever wanted it hears of it.
    pub(super) fn errand_ended(&mut self, errand: &Errand, file: RobotsFile, now: Time) {
        let Errand { robots_of: of, url, job, .. } = errand;
        if self.answers_for(*of) {
            self.frontier.robots_answered(*of, &file, true, now);
        } else {
            let told = RobotsTold { of: *of, url: url.clone(), job: *job, file };
            self.batch.robots_told.push(told);
        }
    }

    /// Others want to know what lies with hosts of ours.
    pub(super) fn run_errands(&mut self, errands: Vec<Errand>, now: Time) {
        for errand in errands {
            if self.is_excluded(&errand.url) {
                self.errand_ended(&errand, out_of_reach(&errand.url, now), now);
            } else if !self.is_ours(errand.at) {
                self.errand_ended(&errand, elsewhere(&errand.url, now), now);
            } else {
                self.frontier.robots_elsewhere(errand, now);
            }
        }
    }

    /// Others tell what they have read for us.
    pub(super) fn take_robots(&mut self, told: Vec<RobotsTold>, now: Time) {
        for RobotsTold { of, url, job, file } in told {
            let waited = self.asked_elsewhere.remove(&of).is_some();
            let of_use = (200..500).contains(&file.outcome.status) && file.outcome.status != 429;
            // Nobody waits any more for what could not be had.
            if !self.is_ours(of) || !(waited || of_use) {
                continue;
            }
            if !self.frontier.is_loaded(of) {
                if of_use {
                    self.batch.robots.push((of, file));
                    self.oldest.get_or_insert(now);
                }
            } else if self.frontier.robots_answered(of, &file, true, now) == RobotsUse::Taken {
                self.learn(of, &url, [job].into(), now);
                self.batch.robots.push((of, file));
                self.oldest.get_or_insert(now);
            }
        }
    }

    /// Gives up waiting for what was not heard of in time.
    pub(super) fn watch_errands(&mut self, now: Time) {
        if self.asked_elsewhere.values().any(|(until, _)| *until <= now) {
            self.wait_no_longer(|_, until| until <= now, now);
        }
    }

    /// Gives up waiting for what hosts of these partitions asked for.
    pub(super) fn await_nothing_for(&mut self, parts: &BTreeSet<u16>, now: Time) {
        self.wait_no_longer(|host, _| parts.contains(&host.part), now);
    }

    fn wait_no_longer(&mut self, which: impl Fn(HostKey, Time) -> bool, now: Time) {
        let over: Vec<(HostKey, CanonicalUrl)> = self
            .asked_elsewhere
            .iter()
            .filter(|(host, (until, _))| which(**host, *until))
            .map(|(host, (_, url))| (*host, url.clone()))
            .collect();
        for (host, url) in over {
            self.asked_elsewhere.remove(&host);
            self.frontier.robots_answered(host, &elsewhere(&url, now), true, now);
        }
    }
}
