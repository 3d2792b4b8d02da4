//! The loaded hosts, by the time each may be asked again.
//!
//! Invariants: a host is in `waiting` or in `ready` or in neither, as its `spot` says; a host
//! with no unclaimed row it may fetch, or with all connections out, is in neither. Every
//! unclaimed row up to a host's cursor is in its window. Rows handed out are `open` until the
//! store has deleted them, so that a refill cannot hand them out twice.

use crate::order::{Place, place_of_redirect};
use argiope_model::{CanonicalUrl, DocId, HostKey, JobId, Time, UrlKey};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// One row of a ready queue, with what a fetch needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The URL's key.
    pub key: UrlKey,
    /// Its place in the ready queue of its host.
    pub place: Place,
    /// The URL.
    pub url: CanonicalUrl,
    /// Its number.
    pub doc: DocId,
    /// The job that wants it.
    pub job: JobId,
    /// Links from a start URL.
    pub depth: u16,
    /// Tries so far.
    pub attempts: u8,
    /// Not to be requested: its stored links are to be looked at again.
    pub expand: bool,
}

/// The first rows of a host's ready queue, as read from the store.
#[derive(Clone, Debug)]
pub struct HostWindow {
    /// The host.
    pub host: HostKey,
    /// Rows in order.
    pub entries: Vec<Entry>,
    /// Everything up to here has been read; `None` when nothing was there.
    pub cursor: Option<Place>,
    /// Whether there are rows beyond.
    pub more: bool,
    /// No request before this time.
    pub not_before: Time,
}

/// A wish for more rows of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refill {
    /// The host.
    pub host: HostKey,
    /// Rows after this place.
    pub after: Option<Place>,
    /// At most so many.
    pub limit: usize,
}

/// A host to be given back to the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The host.
    pub host: HostKey,
    /// No request before this time.
    pub not_before: Time,
    /// All rows it has belong to jobs that are not worked on: it sleeps until one is.
    pub asleep: bool,
}

/// What the frontier would like from the store.
#[derive(Debug, Default)]
pub struct Wants {
    /// So many more hosts.
    pub hosts: usize,
    /// More rows of these.
    pub refills: Vec<Refill>,
    /// Give these back.
    pub releases: Vec<Release>,
}

impl Wants {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.hosts == 0 && self.refills.is_empty() && self.releases.is_empty()
    }
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    Nowhere,
    Waiting(Time),
    Ready(Place),
}

#[derive(Debug)]
struct Host {
    window: BTreeMap<Place, Entry>,
    cursor: Option<Place>,
    more: bool,
    refilling: bool,
    /// The times from which each connection not in use may be used.
    free: Vec<Time>,
    /// Handed out and not yet deleted from the queue, each with the first place that what it
    /// leads to could get.
    open: HashMap<Place, Place>,
    spot: Spot,
}

/// The loaded hosts.
#[derive(Debug)]
pub struct Frontier {
    rules: Politeness,
    hosts: HashMap<HostKey, Host>,
    waiting: BTreeSet<(Time, HostKey)>,
    ready: BTreeSet<(Place, HostKey)>,
    /// Jobs whose rows must not be handed out now.
    gated: HashSet<JobId>,
    out: usize,
}

impl Frontier {
    /// An empty frontier.
    pub fn new(rules: Politeness) -> Self {
        Frontier {
            rules,
            hosts: HashMap::new(),
            waiting: BTreeSet::new(),
            ready: BTreeSet::new(),
            gated: HashSet::new(),
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

    /// Whether a host is loaded.
    pub fn is_loaded(&self, host: HostKey) -> bool {
        self.hosts.contains_key(&host)
    }

    /// How many hosts are where.
    pub fn counts(&self) -> Counts {
        Counts {
            loaded: self.hosts.len(),
            waiting: self.waiting.len(),
            ready: self.ready.len(),
            asked: self.hosts.values().filter(|h| h.free.len() < self.rules.per_host).count(),
        }
    }

    /// Takes in a host whose claim is durable, or more rows of a loaded one.
    pub fn load(&mut self, read: HostWindow, now: Time) {
        let per_host = self.rules.per_host;
        let host = self.hosts.entry(read.host).or_insert_with(|| Host {
            window: BTreeMap::new(),
            cursor: None,
            more: false,
            refilling: false,
            free: vec![read.not_before; per_host],
            open: HashMap::new(),
            spot: Spot::Nowhere,
        });
        host.refilling = false;
        host.more = read.more;
        host.cursor = read.cursor.max(host.cursor);
        for entry in read.entries {
            if !host.open.contains_key(&entry.place) {
                host.window.insert(entry.place, entry);
            }
        }
        self.settle_spot(read.host, now);
    }

    /// Takes in a row that has just been added to the queue. Rows of hosts that are not loaded,
    /// and rows beyond what a host's window covers, are left to be read later.
    pub fn offer(&mut self, entry: Entry, now: Time) {
        let key = entry.key.host;
        let window = self.window();
        let Some(host) = self.hosts.get_mut(&key) else { return };
        if host.more || host.refilling {
            // Beyond the cursor there are rows unseen; this one may come after them.
            if host.cursor.is_none_or(|cursor| entry.place > cursor) {
                host.more = true;
                return;
            }
        }
        host.cursor = host.cursor.max(Some(entry.place));
        host.window.insert(entry.place, entry);
        // Twice the window before rows are dropped again, so that this stays rare.
        if host.window.len() > 2 * window {
            while host.window.len() > window {
                host.window.pop_last();
            }
            host.more = true;
            host.cursor = host.window.last_key_value().map(|(place, _)| *place);
        }
        self.settle_spot(key, now);
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
        if self.rules.connections == 1 {
            let open = self.hosts.values().flat_map(|h| h.open.values());
            if open.min().is_some_and(|first| *first <= place) {
                return None;
            }
        }
        let host = self.hosts.get_mut(&key).expect("a ready host is loaded");
        let entry = host.window.remove(&place).expect("a ready host has its first row");
        host.open.insert(place, leads_to(&entry));
        // The connection that has been free longest.
        let first = host.free.iter().enumerate().min_by_key(|(_, t)| **t).map(|(i, _)| i);
        host.free.swap_remove(first.expect("a ready host has a free connection"));
        self.out += 1;
        self.settle_spot(key, now);
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
        self.out -= 1;
        let Some(loaded) = self.hosts.get_mut(&host) else { return };
        loaded.free.push(answer.end.map_or(now, |end| end.plus(self.rules.delay)));
        if answer.redirect {
            loaded.open.insert(place, place_of_redirect(place));
        }
        self.settle_spot(host, now);
    }

    /// The store has deleted the row (or put it on the calendar).
    pub fn settled(&mut self, host: HostKey, place: Place, now: Time) {
        if let Some(loaded) = self.hosts.get_mut(&host) {
            loaded.open.remove(&place);
            self.settle_spot(host, now);
        }
    }

    /// Takes back a row that was handed out and whose result does not count.
    pub fn give_back(&mut self, entry: Entry, now: Time) {
        let key = entry.key.host;
        if let Some(host) = self.hosts.get_mut(&key) {
            host.open.remove(&entry.place);
            host.window.insert(entry.place, entry);
            self.settle_spot(key, now);
        }
    }

    /// Lets a job's rows be handed out, or not.
    pub fn gate(&mut self, job: JobId, shut: bool, now: Time) {
        let changed = if shut { self.gated.insert(job) } else { self.gated.remove(&job) };
        if changed {
            let keys: Vec<HostKey> = self.hosts.keys().copied().collect();
            keys.into_iter().for_each(|key| self.settle_spot(key, now));
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
        let mut wants = Wants::default();
        let limit = self.window();
        let low = limit / 4;
        for (key, host) in &mut self.hosts {
            if host.more && !host.refilling && host.window.len() <= low {
                host.refilling = true;
                let after = host.cursor;
                wants.refills.push(Refill { host: *key, after, limit });
            }
        }
        let finished: Vec<HostKey> = self
            .hosts
            .iter()
            .filter(|(_, h)| h.window.is_empty() && !h.more && !h.refilling && h.open.is_empty())
            .map(|(key, _)| *key)
            .collect();
        wants.releases.extend(finished.into_iter().map(|key| self.release(key, true)));
        // Twice what could be handed out now, so that the next look-up comes in time.
        let busy = self.out + self.ready.len();
        if busy < self.rules.connections {
            let missing = 2 * (self.rules.connections - busy);
            let room = self.rules.max_hosts.saturating_sub(self.hosts.len());
            wants.hosts = missing.min(room);
            if room == 0 {
                let idle: Vec<HostKey> = self
                    .waiting
                    .iter()
                    .rev()
                    .map(|(_, key)| *key)
                    .filter(|key| self.hosts[key].open.is_empty() && !self.hosts[key].refilling)
                    .take(missing.min(self.rules.max_hosts / 8 + 1))
                    .collect();
                wants.releases.extend(idle.into_iter().map(|key| self.release(key, false)));
            }
        }
        wants
    }

    /// Gives every host back that has nothing under way.
    pub fn release_all(&mut self) -> Vec<Release> {
        let keys: Vec<HostKey> = self
            .hosts
            .iter()
            .filter(|(_, h)| h.open.is_empty() && !h.refilling)
            .map(|(key, _)| *key)
            .collect();
        keys.into_iter().map(|key| self.release(key, false)).collect()
    }

    fn release(&mut self, key: HostKey, asleep: bool) -> Release {
        self.unspot(key);
        let host = self.hosts.remove(&key).expect("only loaded hosts are released");
        let not_before = host.free.iter().max().copied().unwrap_or_default();
        Release { host: key, not_before, asleep }
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
        let first = first.filter(|place| {
            self.rules.per_host > 1 || host.open.values().all(|leads_to| leads_to > place)
        });
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
