//! Sinking: hosts whose sites are over their budget come behind the others.
//!
//! Within budget hosts are ordered by place, as ever. Over it they come after all that are not, the less
//! they are over the sooner. Hosts of a branch that is *held* get nothing while another host has something
//! to do that is not held, or has less behind each link: even if that one waits for its delay, or for what
//! its last page led to. Idle connections must not pour into what nobody vouches for. One request of 128
//! goes there all the same, so that they can show what they are. They also give way where there is no room
//! to load others. Nothing is dropped: when the others are done, they go on.

use crate::budget::{Budgets, HELD, SiteBudget};
use crate::exchange::Entry;
use crate::heap::Frontier;
use crate::order::Place;
use crate::window::Host;
use argiope_model::{HostKey, JobId, SiteKey, Time};
use std::time::Duration;

/// A host that gave way is not loaded again before.
const STAND_ASIDE: Duration = Duration::from_secs(5);
/// How often hosts give way.
const GIVE_WAY_MS: i64 = 1000;
/// Before all keys.
const FIRST_KEY: HostKey = HostKey { part: 0, host: [0; 6] };

impl Frontier {
    /// From now on sites have budgets.
    pub fn set_budgets(&mut self, budgets: Budgets) {
        self.budgets = Some(budgets);
    }

    /// What sites may take, where a job has budgets.
    pub fn budgets(&self) -> Option<&Budgets> {
        self.budgets.as_ref()
    }

    /// What sites may take, to tell it of links and jobs.
    pub fn budgets_mut(&mut self) -> Option<&mut Budgets> {
        self.budgets.as_mut()
    }

    /// A loaded host belongs to a site.
    pub fn belongs(&mut self, key: HostKey, site: SiteKey, now: Time) {
        let Some(budgets) = &mut self.budgets else { return };
        let Some(host) = self.hosts.get_mut(&key).filter(|host| host.site.is_none()) else {
            return;
        };
        host.site = Some(budgets.loaded(site));
        self.settle_spot(key, now);
    }

    /// Whether the rows of a job are handed out of a loaded host, or not, for the time being.
    pub fn shut(&mut self, key: HostKey, job: JobId, shut: bool, now: Time) {
        if self.hosts.get(&key).is_some_and(|host| host.shut.contains(&job) != shut) {
            self.change(key, now, |host, _| match shut {
                true => host.shut.push(job),
                false => host.shut.retain(|j| *j != job),
            });
        }
    }

    /// Whether a row of a host may be handed out, as far as its job is concerned.
    pub(crate) fn is_open(&self, host: &Host, entry: &Entry) -> bool {
        entry.again || !(self.gated.contains(&entry.job) || host.shut.contains(&entry.job))
    }

    /// What the site of a host may take.
    pub fn budget_of(&self, site: SiteKey) -> Option<SiteBudget> {
        self.budgets.as_ref()?.of(site)
    }

    /// Loaded hosts that are held now, because others have something to do.
    pub fn held_back(&self) -> usize {
        let Some(first) = self.first_awaited() else { return 0 };
        self.ready.range((HELD.max(first + 1), Place::FIRST, FIRST_KEY)..).count()
    }

    /// Judges all sites anew where that is due.
    pub(crate) fn judge_budgets(&mut self, now: Time) {
        let Some(budgets) = self.budgets.as_mut().filter(|budgets| budgets.are_due()) else {
            return;
        };
        budgets.judge(now);
        let mut keys: Vec<HostKey> = self
            .hosts
            .iter()
            .filter(|(_, host)| host.site.is_some())
            .map(|(key, _)| *key)
            .collect();
        keys.sort_unstable();
        keys.into_iter().for_each(|key| self.settle_spot(key, now));
    }

    /// Whether a ready host of this tier has to wait for others.
    pub(crate) fn gives_way(&self, tier: u8) -> bool {
        let probes = || self.budgets.as_ref().is_some_and(Budgets::may_probe);
        tier >= HELD && self.first_awaited().is_some_and(|first| first < tier) && !probes()
    }

    /// The first tier in which a host has something to do.
    fn first_awaited(&self) -> Option<u8> {
        self.awaited.first_key_value().map(|(tier, _)| *tier)
    }

    /// The tier of a host whose first row has this place.
    pub(crate) fn tier_of(&self, host: &Host, first: Place) -> u8 {
        let (Some(budgets), Some(site)) = (&self.budgets, host.site) else { return 0 };
        let sinks = host.errands.is_empty()
            && host.window.get(&first).is_some_and(|entry| is_covered(budgets, entry));
        if sinks { budgets.tier(site) } else { 0 }
    }

    /// The first row of a host, but for rows that sink: of a host over its budget, the first that no budget
    /// is about, where there is one.
    pub(crate) fn first_afloat(&self, host: &Host, first: Place) -> Place {
        if self.tier_of(host, first) == 0 {
            return first;
        }
        let Some(budgets) = &self.budgets else { return first };
        let mut rows = host.window.values();
        let afloat = rows.find(|e| !is_covered(budgets, e) && self.is_open(host, e));
        afloat.map_or(first, |entry| entry.place)
    }

    /// Counts a host among those that are waited for, or not.
    pub(crate) fn recount(&mut self, key: HostKey) {
        if self.budgets.is_none() {
            return;
        }
        let Some(host) = self.hosts.get(&key) else { return };
        let first = host.window.first_key_value().map(|(place, _)| self.first_afloat(host, *place));
        let tier = match (first, host.site, &self.budgets) {
            (Some(first), ..) => self.tier_of(host, first),
            // Its rows are out, or still to be read.
            (None, Some(site), Some(budgets)) => budgets.tier(site),
            _ => 0,
        };
        let tier = if tier < HELD { 0 } else { tier };
        let awaited = host.is_alive(self.rules.per_host).then_some(tier);
        if let Some(host) = self.hosts.get_mut(&key)
            && host.awaited != awaited
        {
            let before = std::mem::replace(&mut host.awaited, awaited);
            self.await_no_more(before);
            if let Some(tier) = awaited {
                *self.awaited.entry(tier).or_default() += 1;
            }
        }
    }

    fn await_no_more(&mut self, before: Option<u8>) {
        let Some(tier) = before else { return };
        if let Some(count) = self.awaited.get_mut(&tier) {
            *count -= 1;
            if *count == 0 {
                self.awaited.remove(&tier);
            }
        }
    }

    /// A host is given back.
    pub(crate) fn left_behind(&mut self, host: &Host, empty: bool) {
        self.await_no_more(host.awaited);
        if let (Some(budgets), Some(site)) = (&mut self.budgets, host.site) {
            budgets.unloaded(site, empty);
        }
    }

    /// Counts the request that a host is about to get.
    pub(crate) fn charge(&mut self, key: HostKey, place: Place) {
        let Some(host) = self.hosts.get(&key) else { return };
        let (Some(budgets), Some(site)) = (&mut self.budgets, host.site) else { return };
        let errand = !host.errands.is_empty();
        if errand || host.window.get(&place).is_some_and(|entry| is_covered(budgets, entry)) {
            budgets.asked(site);
        }
    }

    /// Whether all loaded hosts that have something to do are held: there may be better ones on disk.
    pub(crate) fn has_only_held(&self) -> bool {
        self.budgets.is_some()
            && self.first_awaited().is_none_or(|tier| tier >= HELD)
            && !self.ready.is_empty()
    }

    /// Hosts that could be asked now and do not have to wait for others, counted up to `enough`.
    pub(crate) fn ready_within(&self, enough: usize) -> usize {
        match self.budgets {
            None => self.ready.len(),
            _ => self.ready.range(..(HELD, Place::FIRST, FIRST_KEY)).take(enough).count(),
        }
    }

    /// Hosts that give way to others on disk, and until when they stand aside; now and then.
    pub(crate) fn give_way(&mut self, enough: usize, now: Time) -> Vec<(HostKey, Time)> {
        if self.budgets.is_none() || now.0 - self.gave_way.0 < GIVE_WAY_MS {
            return Vec::new();
        }
        let held = self.ready.range((HELD, Place::FIRST, FIRST_KEY)..).rev().map(|(.., key)| *key);
        let idle = held.filter(|key| self.hosts[key].idle(self.rules.per_host));
        let out: Vec<(HostKey, Time)> =
            idle.take(enough).map(|key| (key, now.plus(STAND_ASIDE))).collect();
        if !out.is_empty() {
            self.gave_way = now;
        }
        out
    }
}

fn is_covered(budgets: &Budgets, entry: &Entry) -> bool {
    !entry.again && budgets.cover(entry.job)
}
