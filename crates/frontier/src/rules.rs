//! What the frontier learns of a host's robots.txt, and when it forgives or excludes a host.

use crate::exchange::{HostNote, RobotsFile};
use crate::heap::Frontier;
use crate::robots::Robots;
use crate::task::Errand;
use crate::temper::{Heard, Manner, Temper};
use crate::window::Host;
use argiope_model::{CanonicalUrl, HostKey, Time};
use std::sync::Arc;
use std::time::Duration;

/// A robots.txt that was known and cannot be had now is asked for again after this long.
const ASK_AGAIN: Duration = Duration::from_secs(3600);

/// What came of a robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RobotsUse {
    /// Its rules hold from now on.
    Taken,
    /// It cannot be had; the rules known before go on to hold.
    OlderHolds,
    /// It cannot be had and no rules are known: not now.
    None,
}

/// What makes a host wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brake {
    /// Our own delay.
    Delay,
    /// The delay that was set for it by hand.
    Hand,
    /// The delay its robots.txt names.
    Robots,
    /// It answered slowly, or badly.
    Temper,
}

/// A host that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The host.
    pub host: HostKey,
    /// When it may be asked.
    pub at: Time,
    /// How far apart requests to it are.
    pub gap: Duration,
    /// Who wants it so.
    pub brake: Brake,
    /// What is asked for then.
    pub url: CanonicalUrl,
}

impl Frontier {
    /// The robots.txt of a host was answered; says whether it is of use. Where it is not, the
    /// rules known before go on to hold, or else the host is asked for nothing but this file.
    ///
    /// Where the file was asked for elsewhere, `answered` has told how that host behaved; it is
    /// this one that has to wait before it sends us there again.
    pub fn robots_answered(
        &mut self,
        key: HostKey,
        file: &RobotsFile,
        elsewhere: bool,
        now: Time,
    ) -> RobotsUse {
        let Some(agent) = self.rules.robots.clone() else { return RobotsUse::Taken };
        let patience = self.rules.patience.clone();
        let used = self.change(key, now, |host, _| {
            host.rules.asking = false;
            if host.rules.take_in(file, &agent) {
                host.keep_crawl_delay();
                return RobotsUse::Taken;
            }
            if host.rules.robots.is_some() {
                host.rules.until = now.plus(ASK_AGAIN);
                return RobotsUse::OlderHolds;
            }
            if elsewhere {
                let silent = Heard { manner: Manner::Silent, ..Heard::default() };
                let pause = host.temper.hear(&silent, &patience, now);
                host.not_before = host.not_before.max(pause.unwrap_or_default());
            }
            RobotsUse::None
        });
        used.unwrap_or(RobotsUse::None)
    }

    /// The robots.txt of a host lies elsewhere: it is asked for there, under that host's rules
    /// of politeness.
    pub fn robots_elsewhere(&mut self, errand: Errand, now: Time) {
        let at = errand.at;
        if self.is_loaded(at) {
            self.change(at, now, |host, _| host.errands.push_back(errand));
        } else {
            self.strangers.entry(at).or_default().0.push(errand);
        }
    }

    /// Whether a robots.txt lies with hosts that are yet to be loaded.
    pub fn awaits_hosts(&self) -> bool {
        !self.strangers.is_empty()
    }

    /// The rules of a loaded host, where they are known.
    pub fn robots(&self, key: HostKey) -> Option<Arc<Robots>> {
        self.hosts.get(&key)?.rules.robots.clone()
    }

    /// Before when a loaded host is not asked, and how it has behaved.
    pub fn note_of(&self, key: HostKey) -> Option<HostNote> {
        self.hosts.get(&key).map(|host| host.note(key))
    }

    /// How far apart requests are to the host that may be asked next, and who wants it so.
    pub fn next_gap(&self) -> Option<(Duration, Brake)> {
        let (_, next) = self.waiting().next()?;
        self.hosts.get(&next).map(|host| self.gap(host))
    }

    fn gap(&self, host: &Host) -> (Duration, Brake) {
        let named = host.rules.crawl_delay().unwrap_or_default();
        let pause = Duration::from_millis(host.temper.pause_ms);
        let delay = host.delay.unwrap_or(self.rules.delay);
        match delay.max(named).max(pause) {
            gap if gap == delay && host.delay.is_some() => (gap, Brake::Hand),
            gap if gap == delay => (gap, Brake::Delay),
            gap if gap == named => (gap, Brake::Robots),
            gap => (gap, Brake::Temper),
        }
    }

    /// Whether a host waits for nothing but its ordinary pause.
    pub fn has_well(&self, now: Time) -> bool {
        self.waiting().any(|(at, key)| {
            self.hosts.get(&key).is_some_and(|host| {
                let gap = self.gap(host).0.max(self.rules.address_gap);
                host.temper.failures == 0 && at.since(now) <= gap
            })
        })
    }

    /// What must be written down of loaded hosts at once.
    pub fn take_notes(&mut self) -> Vec<HostNote> {
        std::mem::take(&mut self.notes)
    }

    /// Whether something must be written down at once.
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Forgets what a loaded host has done. What it was promised is kept: its waiting time. Whether
    /// it is excluded is nothing it has done.
    pub fn forgive(&mut self, key: HostKey, now: Time) {
        self.change(key, now, |host, _| {
            host.temper = Temper { excluded: host.temper.excluded, ..Temper::default() };
        });
    }

    /// A host that was excluded may be asked again.
    pub fn readmit(&mut self, key: HostKey, now: Time) {
        self.change(key, now, |host, _| host.temper.excluded = false);
    }

    /// The loaded hosts that have a row of which this holds.
    pub fn loaded_hosts(&self, is_one: impl Fn(&CanonicalUrl) -> bool) -> Vec<HostKey> {
        let first = |host: &Host| host.window.values().next().is_some_and(|e| is_one(&e.url));
        let mut keys: Vec<HostKey> =
            self.hosts.iter().filter(|(_, host)| first(host)).map(|(key, _)| *key).collect();
        keys.sort();
        keys
    }

    /// From now on nothing is asked of a host; its rows are refused. Says whose robots.txt were to
    /// be asked for there: nobody will. A request under way may end.
    pub fn exclude(&mut self, key: HostKey, now: Time) -> Vec<Errand> {
        let mut dropped =
            self.strangers.remove(&key).map(|(errands, _)| errands).unwrap_or_default();
        let errands = self.change(key, now, |host, _| {
            host.temper.excluded = true;
            std::mem::take(&mut host.errands)
        });
        dropped.extend(errands.into_iter().flatten());
        dropped
    }

    /// The hosts that wait, those first that may be asked next, with a URL of each and who wants
    /// it to wait.
    pub fn waiting_hosts(&self, most: usize) -> Vec<Waiting> {
        let hosts = self.waiting().take(most).filter_map(|(at, key)| {
            let host = self.hosts.get(&key)?;
            let (gap, brake) = self.gap(host);
            let errand = host.errands.front().map(|errand| &errand.url);
            let first = host.window.values().next().map(|entry| &entry.url);
            Some(Waiting { host: key, at, gap, brake, url: errand.or(first)?.clone() })
        });
        hosts.collect()
    }
}
