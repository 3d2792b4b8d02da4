//! The loaded hosts, by the time each may be asked again.
//!
//! Invariants: a host is in `waiting` or in `ready` or in neither, as its `spot` says; a host
//! with no unclaimed row it may fetch, or with all connections out, is in neither. A host
//! about which anything has changed since the last `wants` is in `touched`.

use crate::exchange::{Entry, HostWindow, Refill, Release, Wants};
use crate::order::Place;
use crate::window::{Host, Spot};
use argiope_model::{HostKey, JobId, Time};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// The rules of politeness and the bounds of memory.
#[derive(Clone, Debug)]
pub struct Politeness {
    /// From the end of one answer to the start of the next request.
    pub delay: Duration,
    /// Requests to one host at once.
    pub per_host: usize,
    /// Requests at once.
    pub connections: usize,
    /// Hosts loaded at once.
    pub max_hosts: usize,
    /// Rows held over all hosts, about.
    pub rows: usize,
}

/// How an answer ended, as far as the frontier cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// When; `None` when nothing was requested.
    pub end: Option<Time>,
    /// Whether it leads elsewhere.
    pub redirect: bool,
}

/// How many hosts are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Hosts loaded.
    pub loaded: usize,
    /// Hosts waiting for their delay.
    pub waiting: usize,
    /// Hosts that could be asked now.
    pub ready: usize,
    /// Hosts being asked.
    pub asked: usize,
}

/// The loaded hosts.
#[derive(Debug)]
pub struct Frontier {
    rules: Politeness,
    hosts: HashMap<HostKey, Host>,
    waiting: BTreeSet<(Time, HostKey)>,
    ready: BTreeSet<(Place, HostKey)>,
    touched: BTreeSet<HostKey>,
    /// Jobs whose rows must not be handed out now.
    gated: HashSet<JobId>,
    /// Rows in all windows.
    held: usize,
    /// Hosts with a connection out.
    asked: usize,
    out: usize,
}

/// Hosts asked for at a time, at least.
const MIN_HOSTS: usize = 64;

impl Frontier {
    /// An empty frontier.
    pub fn new(rules: Politeness) -> Self {
        Frontier {
            rules,
            hosts: HashMap::new(),
            waiting: BTreeSet::new(),
            ready: BTreeSet::new(),
            touched: BTreeSet::new(),
            gated: HashSet::new(),
            held: 0,
            asked: 0,
            out: 0,
        }
    }

    /// How many rows of a host are read at a time: many of few hosts, few of many.
    pub fn window(&self) -> usize {
        (self.rules.rows / (2 * self.hosts.len().max(1))).clamp(8, 1024)
    }

    /// Requests under way.
    pub fn out(&self) -> usize {
        self.out
    }

    /// Rows held.
    pub fn rows(&self) -> usize {
        self.held
    }

    /// Whether a host is loaded.
    pub fn is_loaded(&self, host: HostKey) -> bool {
        self.hosts.contains_key(&host)
    }

    /// How many hosts are where.
    pub fn counts(&self) -> Counts {
        let (waiting, ready) = (self.waiting.len(), self.ready.len());
        Counts { loaded: self.hosts.len(), waiting, ready, asked: self.asked }
    }

    /// Takes in a host whose claim is durable, or more rows of a loaded one.
    pub fn load(&mut self, read: HostWindow, now: Time) {
        let (key, per_host) = (read.host, self.rules.per_host);
        let fresh = || Host::new(read.not_before, per_host);
        self.hosts.entry(key).or_insert_with(fresh);
        self.change(key, now, |host, window| {
            host.load(read);
            host.trim_if_over(window);
        });
    }

    /// Takes in a row that has just been added to the queue. Rows of hosts that are not loaded,
    /// and rows beyond what a host's window covers, are left to be read later.
    pub fn offer(&mut self, entry: Entry, now: Time) {
        self.change(entry.key.host, now, |host, window| {
            host.offer(entry);
            host.trim_if_over(window);
        });
    }

    /// The next URL that may be requested now. It is handed out: `answered` gives the
    /// connection back, `settled` says that the store has taken the result. `leads_to` tells
    /// the first place that its links could get.
    ///
    /// On one connection (to a host, or at all) the order is exact: a row waits while an open
    /// one could still put something before it.
    pub fn next(&mut self, now: Time, leads_to: impl FnOnce(&Entry) -> Place) -> Option<Entry> {
        if self.out >= self.rules.connections {
            return None;
        }
        self.wake(now);
        let (place, key) = *self.ready.first()?;
        if self.rules.connections == 1 && self.hosts.values().any(|h| h.may_lead_before(place)) {
            return None;
        }
        let per_host = self.rules.per_host;
        let (entry, first_out) = self.change(key, now, |host, _| {
            let first_out = host.free.len() == per_host;
            (host.hand_out(place, leads_to), first_out)
        })?;
        self.out += 1;
        self.asked += usize::from(first_out);
        Some(entry)
    }

    fn wake(&mut self, now: Time) {
        while let Some((time, key)) = self.waiting.first().copied() {
            if time > now {
                break;
            }
            self.settle_spot(key, now);
        }
    }

    /// The answer has ended (or never came): the delay runs from `end`, unless nothing was
    /// requested at all. A redirect leads to the place right behind its own.
    pub fn answered(&mut self, host: HostKey, place: Place, answer: Answered, now: Time) {
        let free_at = answer.end.map_or(now, |end| end.plus(self.rules.delay));
        let per_host = self.rules.per_host;
        let all_back = self.change(host, now, |host, _| {
            host.answered(place, free_at, answer.redirect);
            host.free.len() == per_host
        });
        self.out -= 1;
        self.asked -= usize::from(all_back == Some(true));
    }

    /// The store has deleted the row (or put it on the calendar).
    pub fn settled(&mut self, host: HostKey, place: Place, now: Time) {
        self.change(host, now, |host, _| host.settled(place));
    }

    /// Takes back a row that was handed out and whose result does not count.
    pub fn give_back(&mut self, entry: Entry, now: Time) {
        self.change(entry.key.host, now, |host, _| host.give_back(entry));
    }

    /// Lets a job's rows be handed out, or not.
    pub fn gate(&mut self, job: JobId, shut: bool, now: Time) {
        let changed = if shut { self.gated.insert(job) } else { self.gated.remove(&job) };
        if changed {
            let keys: Vec<HostKey> = self.hosts.keys().copied().collect();
            for key in keys {
                self.change(key, now, |host, _| {
                    if host.passed && !shut {
                        host.read_again();
                    }
                });
            }
        }
    }

    /// When the next waiting host may be asked.
    pub fn next_wake(&self) -> Option<Time> {
        self.waiting.first().map(|(time, _)| *time)
    }

    /// Whether a host could be asked now.
    pub fn has_ready(&mut self, now: Time) -> bool {
        self.wake(now);
        !self.ready.is_empty()
    }

    /// What the store should bring, and what it may take back. Asking marks the refills as
    /// under way and forgets the released hosts: what is returned must be performed.
    pub fn wants(&mut self, now: Time) -> Wants {
        self.wake(now);
        self.make_room(now);
        let mut wants = Wants::default();
        let limit = self.window();
        let per_host = self.rules.per_host;
        for key in std::mem::take(&mut self.touched) {
            let Some(host) = self.hosts.get_mut(&key) else { continue };
            if host.more && !host.refilling {
                let held = host.window.len();
                if host.running_low(limit / 4, &self.gated) {
                    host.refilling = true;
                    wants.refills.push(Refill { host: key, after: host.cursor, limit });
                    self.held -= held - host.window.len();
                }
            } else if host.window.is_empty() && !host.passed && host.idle(per_host) {
                wants.releases.push(self.release(key, true));
            }
        }
        // Twice what could be handed out now, so that the next look-up comes in time; never few,
        // so that a crawl on one connection goes from host to host in order.
        let busy = self.out + self.ready.len();
        if busy < self.rules.connections {
            let missing = (2 * (self.rules.connections - busy)).max(MIN_HOSTS);
            let room = self.rules.max_hosts.saturating_sub(self.hosts.len());
            wants.hosts = missing.min(room);
            if room == 0 {
                let enough = missing.min(self.rules.max_hosts / 8 + 1);
                let spare = self.spare(enough);
                wants.releases.extend(spare.into_iter().map(|key| self.release(key, false)));
            }
        }
        wants
    }

    /// Windows were read when fewer hosts were loaded: together they may hold too much.
    fn make_room(&mut self, now: Time) {
        if self.held > self.rules.rows {
            let keys: Vec<HostKey> = self.hosts.keys().copied().collect();
            for key in keys {
                self.change(key, now, |host, window| host.trim(window));
            }
        }
    }

    /// Loaded hosts that can best be spared: those that have nothing to hand out while jobs
    /// are gated, then those that wait longest.
    fn spare(&self, enough: usize) -> Vec<HostKey> {
        let idle = |key: &HostKey| self.hosts[key].idle(self.rules.per_host);
        let mut spare: Vec<HostKey> = Vec::new();
        if !self.gated.is_empty() {
            let nowhere = self.hosts.iter().filter(|(_, h)| h.spot == Spot::Nowhere);
            spare.extend(nowhere.map(|(key, _)| *key).filter(idle));
            spare.sort();
        }
        spare.extend(self.waiting.iter().rev().map(|(_, key)| *key).filter(idle));
        spare.truncate(enough);
        spare
    }

    /// Gives every host back that has nothing under way. The others are read again from the
    /// start: this is asked for when other rows than before may be handed out.
    pub fn release_all(&mut self) -> Vec<Release> {
        let per_host = self.rules.per_host;
        let mut keys: Vec<HostKey> = Vec::new();
        for (key, host) in &mut self.hosts {
            if host.idle(per_host) {
                keys.push(*key);
            } else {
                host.read_again();
                self.touched.insert(*key);
            }
        }
        keys.sort();
        keys.into_iter().map(|key| self.release(key, false)).collect()
    }

    fn release(&mut self, key: HostKey, asleep: bool) -> Release {
        self.unspot(key);
        let host = self.hosts.remove(&key).expect("only loaded hosts are released");
        self.held -= host.window.len();
        let not_before = host.free.iter().max().copied().unwrap_or_default();
        Release { host: key, not_before, asleep }
    }

    /// Changes a loaded host and puts it where it then belongs.
    fn change<T>(
        &mut self,
        key: HostKey,
        now: Time,
        how: impl FnOnce(&mut Host, usize) -> T,
    ) -> Option<T> {
        let window = self.window();
        let host = self.hosts.get_mut(&key)?;
        let before = host.window.len();
        let out = how(host, window);
        self.held = self.held + host.window.len() - before;
        self.touched.insert(key);
        self.settle_spot(key, now);
        Some(out)
    }

    fn unspot(&mut self, key: HostKey) {
        let Some(host) = self.hosts.get_mut(&key) else { return };
        match std::mem::replace(&mut host.spot, Spot::Nowhere) {
            Spot::Nowhere => {}
            Spot::Waiting(time) => {
                self.waiting.remove(&(time, key));
            }
            Spot::Ready(place) => {
                self.ready.remove(&(place, key));
            }
        }
    }

    /// Puts a host where it belongs after anything about it has changed.
    fn settle_spot(&mut self, key: HostKey, now: Time) {
        let Some(host) = self.hosts.get(&key) else { return };
        let first = if self.gated.is_empty() {
            host.window.first_key_value().map(|(place, _)| *place)
        } else {
            let open = |e: &&Entry| !self.gated.contains(&e.job);
            host.window.values().find(open).map(|e| e.place)
        };
        // One connection: nothing overtakes what an open row may still lead to.
        let first = first.filter(|place| self.rules.per_host > 1 || !host.may_lead_before(*place));
        let spot = match (first, host.free.iter().min()) {
            (Some(place), Some(time)) if *time <= now => Spot::Ready(place),
            (Some(_), Some(time)) => Spot::Waiting(*time),
            _ => Spot::Nowhere,
        };
        if spot == host.spot {
            return;
        }
        self.unspot(key);
        match spot {
            Spot::Nowhere => {}
            Spot::Waiting(time) => {
                self.waiting.insert((time, key));
            }
            Spot::Ready(place) => {
                self.ready.insert((place, key));
            }
        }
        self.hosts.get_mut(&key).expect("looked up above").spot = spot;
    }
}
