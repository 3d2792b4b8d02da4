//! The loaded hosts, by the time each may be asked again.
//!
//! Invariants: a host is in `waiting` or in `ready` or in neither, as its `spot` says; a host
//! with no unclaimed row it may fetch, or with all connections out, is in neither. A host
//! about which anything has changed since the last `wants` is in `touched`.

use crate::address::{Addresses, Network, Turn};
use crate::admit::SkipReason;
use crate::budget::Budgets;
use crate::delays::Delays;
use crate::exchange::{Entry, HostNote, HostWindow, Named, Refill, Release, Wants};
use crate::order::Place;
use crate::task::{Errand, Task};
use crate::temper::{Heard, Manner, Patience};
use crate::window::{Host, Spot};
use argiope_model::{HostKey, JobId, Time, UrlKey};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::net::IpAddr;
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
    /// Bytes of robots rules held over all hosts, about.
    pub rule_bytes: usize,
    /// From the start of one request to an address to the start of the next; zero: none.
    pub address_gap: Duration,
    /// Addresses without such a gap.
    pub address_exempt: Vec<Network>,
    /// Whether others ask at the same time: turns at addresses are asked for.
    pub address_turns: bool,
    /// The name under which robots.txt is obeyed; `None`: it is neither asked for nor obeyed.
    pub robots: Option<String>,
    /// How patient we are with hosts that do not answer well.
    pub patience: Patience,
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness {
            delay: Duration::from_secs(10),
            per_host: 1,
            connections: 64,
            max_hosts: 1024,
            rows: 1 << 16,
            rule_bytes: 16 << 20,
            address_gap: Duration::ZERO,
            address_exempt: Vec::new(),
            address_turns: false,
            robots: None,
            patience: Patience::default(),
        }
    }
}

/// How an answer ended, as far as the frontier cares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// When; `None` when nothing was requested.
    pub end: Option<Time>,
    /// Whether it leads elsewhere.
    pub redirect: bool,
    /// How it reflects on the host.
    pub heard: Heard,
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

/// The same for the same keys in every run, so that a simulation repeats itself.
type Steady = BuildHasherDefault<DefaultHasher>;

/// The loaded hosts.
#[derive(Debug)]
pub struct Frontier {
    pub(crate) rules: Politeness,
    pub(crate) hosts: HashMap<HostKey, Host, Steady>,
    addresses: Addresses,
    /// Delays that were set by hand.
    pub(crate) delays: Delays,
    /// Errands to hosts that are not loaded, and whether those were asked for.
    pub(crate) strangers: BTreeMap<HostKey, (Vec<Errand>, bool)>,
    /// What is to be known of loaded hosts should the run end.
    pub(crate) notes: Vec<HostNote>,
    waiting: BTreeSet<(Time, HostKey)>,
    /// By tier (all in the first, unless they are over a budget), then by place.
    pub(crate) ready: BTreeSet<(u8, Place, HostKey)>,
    /// What sites may take, where a job has budgets.
    pub(crate) budgets: Option<Budgets>,
    /// How many hosts have something to do, by tier; all that are not held are in the first.
    pub(crate) awaited: BTreeMap<u8, usize>,
    /// When hosts that are held last gave way to others.
    pub(crate) gave_way: Time,
    touched: BTreeSet<HostKey>,
    /// Jobs whose rows must not be handed out now.
    pub(crate) gated: HashSet<JobId>,
    /// Jobs whose poorer rows wait for better ones, see `choosing`.
    pub(crate) choosy: HashSet<JobId>,
    /// How long nothing is handed out because something better is near.
    pub(crate) chooses_until: Option<Time>,
    /// Partitions that are being given to somebody else: nothing more of them is handed out.
    pub(crate) leaving: BTreeSet<u16>,
    /// Rows in all windows.
    held: usize,
    /// Hosts with a connection out.
    asked: usize,
    out: usize,
}

/// Hosts asked for at a time, at least.
const MIN_HOSTS: usize = 64;

impl Frontier {
    /// From now on answers are followed by this delay, and requests to an address by this gap; whoever
    /// waits already, waits as was said then.
    pub fn set_delay(&mut self, delay: Duration, gap: Duration) {
        (self.rules.delay, self.rules.address_gap) = (delay, gap);
        self.addresses.set_gap(gap);
    }

    /// An empty frontier.
    pub fn new(rules: Politeness) -> Self {
        Frontier {
            addresses: Addresses::new(
                rules.address_gap,
                rules.address_exempt.clone(),
                rules.address_turns,
            ),
            delays: Delays::default(),
            strangers: BTreeMap::new(),
            notes: Vec::new(),
            rules,
            hosts: HashMap::default(),
            waiting: BTreeSet::new(),
            ready: BTreeSet::new(),
            budgets: None,
            awaited: BTreeMap::new(),
            gave_way: Time(0),
            touched: BTreeSet::new(),
            gated: HashSet::new(),
            choosy: HashSet::new(),
            chooses_until: None,
            leaving: BTreeSet::new(),
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
        if !self.hosts.contains_key(&key) {
            let mut host = Host::new(read.not_before, per_host);
            host.temper = read.temper.clone();
            host.temper.reconsider(now);
            if let (Some(agent), Some(file)) = (&self.rules.robots, &read.robots) {
                host.rules.take_in(file, agent);
            }
            if let Some((errands, _)) = self.strangers.remove(&key) {
                host.errands.extend(errands);
            }
            self.hosts.insert(key, host);
        }
        self.change(key, now, |host, window| {
            host.load(read);
            host.trim_if_over(window);
        });
        self.name_host(key);
    }

    /// Takes in a host whose claim was left open by a run that did not end well: when it was
    /// last asked is unknown, so it waits as long as it ever has to, from the start of this run.
    pub fn load_unclean(&mut self, mut read: HostWindow, begun: Time, now: Time) {
        let by_hand = read.entries.first().and_then(|entry| self.delays.of(&entry.url));
        let delay = by_hand.map_or(self.rules.delay, |(_, delay)| delay);
        let mut wait = delay.max(Duration::from_millis(read.temper.pause_ms));
        if let (Some(agent), Some(file)) = (&self.rules.robots, &read.robots) {
            let mut rules = crate::window::Rules::default();
            rules.take_in(file, agent);
            wait = wait.max(rules.crawl_delay().unwrap_or_default());
        }
        read.not_before = read.not_before.max(begun.plus(wait));
        self.load(read, now);
    }

    /// Takes in a row that has just been added to the queue. Rows of hosts that are not loaded,
    /// and rows beyond what a host's window covers, are left to be read later.
    pub fn offer(&mut self, entry: Entry, now: Time) {
        let key = entry.key.host;
        self.change(key, now, |host, window| {
            host.offer(entry);
            host.trim_if_over(window);
        });
        self.name_host(key);
    }

    /// Rows are about to be moved within their queues: until they are offered again they are not handed
    /// out. Says which are out already, and so must not be moved.
    pub fn put_aside(&mut self, rows: &[UrlKey], now: Time) -> HashSet<UrlKey> {
        let mut hosts: BTreeMap<HostKey, HashSet<u64>> = BTreeMap::new();
        for row in rows.iter().filter(|row| self.is_loaded(row.host)) {
            hosts.entry(row.host).or_default().insert(row.url);
        }
        let mut out = HashSet::new();
        for (host, urls) in hosts {
            let open = self.change(host, now, |host, _| host.put_aside(&urls)).unwrap_or_default();
            out.extend(open.into_iter().map(|url| UrlKey { host, url }));
        }
        out
    }

    /// The next thing that may be done now. A URL is handed out: `answered` gives the
    /// connection back, `settled` says that the store has taken the result. `leads_to` tells
    /// the first place that its links could get, `refuses` why a URL is not to be asked for.
    ///
    /// On one connection (to a host, or at all) the order is exact: a row waits while an open
    /// one could still put something before it.
    pub fn next(
        &mut self,
        now: Time,
        leads_to: impl FnOnce(&Entry) -> Place,
        refuses: impl Fn(&Entry) -> Option<SkipReason>,
    ) -> Option<Task> {
        self.judge_budgets(now);
        self.wake(now);
        loop {
            let (tier, place, key) = *self.ready.first()?;
            if self.gives_way(tier) {
                return None;
            }
            let host = self.hosts.get(&key).expect("a ready host is loaded");
            let left_alone = host.temper.refuses(now);
            if let Some(entry) = host.window.get(&place).filter(|_| host.errands.is_empty())
                && !entry.expand
            {
                let refusal = match host.rules.robots.as_ref().filter(|_| self.obeys(host, now)) {
                    _ if left_alone.is_some() => left_alone,
                    Some(r) if !r.verdict(entry.url.path_and_query()).allowed => {
                        Some(SkipReason::Robots)
                    }
                    _ => refuses(entry),
                };
                if let Some(reason) = refusal {
                    let entry = self.change(key, now, |host, _| host.refuse(place))?;
                    return Some(Task::Refuse(entry, reason));
                }
            }
            if self.out >= self.rules.connections {
                return None;
            }
            let job = host.window.get(&place).map(|entry| entry.job);
            if job.is_some_and(|job| self.chooses(job, place, now)) {
                return None;
            }
            let host = self.hosts.get(&key).expect("a ready host is loaded");
            let alone = self.rules.connections == 1;
            if alone && self.hosts.values().any(|h| h.may_lead_before(place)) {
                return None;
            }
            let expand = host.window.get(&place).is_some_and(|e| e.expand);
            let expand = expand && host.errands.is_empty();
            if !expand {
                if self.addresses.matter() && now >= host.address.until {
                    let url = match host.errands.front() {
                        Some(errand) => errand.url.clone(),
                        None => host.window.get(&place)?.url.clone(),
                    };
                    self.change(key, now, |host, _| host.address.asking = true);
                    return Some(Task::Locate(key, url));
                }
                let address = host.address.ip;
                if self.addresses.free_at(address) > now || self.addresses.is_asked(address) {
                    // Another host of the address was asked since, or wants to be.
                    self.settle_spot(key, now);
                    continue;
                }
                if let Some(ip) = self.addresses.wants_turn(address, now) {
                    self.settle_spot(key, now);
                    return Some(Task::Turn(ip));
                }
                self.addresses.taken(address, now);
            }
            let ask_robots = !expand && self.rules.robots.is_some() && host.rules.are_stale(now);
            let per_host = self.rules.per_host;
            if !expand {
                self.charge(key, place);
            }
            let host = self.hosts.get(&key)?;
            let first_out = host.free.len() == per_host;
            self.out += 1;
            self.asked += usize::from(first_out);
            return self.change(key, now, |host, _| {
                if let Some(errand) = host.errands.pop_front() {
                    host.take_connection();
                    return Task::Errand(errand);
                }
                let entry = host.hand_out(place, now, leads_to);
                if ask_robots {
                    host.rules.asking = true;
                    return Task::Robots(entry);
                }
                Task::Visit(entry)
            });
        }
    }

    /// Whether the rules of the host's robots.txt may be relied on now.
    fn obeys(&self, host: &Host, now: Time) -> bool {
        self.rules.robots.is_some() && !host.rules.are_stale(now)
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
    /// requested at all. A redirect leads to the place right behind its own. An errand has no
    /// place.
    pub fn answered(&mut self, key: HostKey, place: Option<Place>, answer: Answered, now: Time) {
        let (delay, per_host) = (self.rules.delay, self.rules.per_host);
        let patience = self.rules.patience.clone();
        let told = self.change(key, now, |host, _| {
            let delay = host.delay.unwrap_or(delay);
            let free_at = answer.end.map_or(now, |end| end.plus(delay));
            host.free.push(free_at);
            if let Some(place) = place {
                host.answered(place, answer.redirect);
            }
            let mut note = false;
            if let Some(end) = answer.end {
                host.last_end = host.last_end.max(end);
                let pause = host.temper.hear(&answer.heard, &patience, end);
                host.not_before = host.not_before.max(pause.unwrap_or_default());
                host.keep_crawl_delay();
                // What a host asked of us must not be forgotten in a crash.
                note = matches!(answer.heard.manner, Manner::Busy | Manner::Silent)
                    || answer.heard.retry_after.is_some();
            }
            let all_back = host.free.len() == per_host;
            (all_back, note.then(|| host.note(key)))
        });
        self.out -= 1;
        if let Some((all_back, note)) = told {
            self.asked -= usize::from(all_back);
            self.notes.extend(note);
        }
    }

    /// The address of a host is known, or is known not to be; until when.
    pub fn located(&mut self, key: HostKey, ip: Option<IpAddr>, until: Time, now: Time) {
        self.change(key, now, |host, _| {
            host.address.asking = false;
            host.address.ip = ip;
            // Never at once again: a name that changes by the moment must not be a loop.
            host.address.until = until.max(now.plus(Duration::from_secs(1)));
        });
    }

    /// How it stands with an address that a turn was asked for.
    pub fn turn(&mut self, ip: IpAddr, turn: Turn, now: Time) {
        for key in self.addresses.turn(ip, turn) {
            self.settle_spot(key, now);
        }
    }

    /// Others want to ask an address too: each request there needs a turn from now on. Says whether that holds,
    /// so that others may be told; while a turn is being asked for it does not.
    pub fn share_address(&mut self, ip: IpAddr) -> bool {
        self.addresses.share(ip)
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

    /// Whether a loaded host has a row of this job.
    pub fn holds_rows_of(&self, job: JobId) -> bool {
        let has = |host: &Host| host.window.values().any(|entry| entry.job == job);
        self.hosts.values().any(has)
    }

    /// When the next waiting host may be asked.
    pub fn next_wake(&self) -> Option<Time> {
        let host = self.waiting.first().map(|(time, _)| *time);
        host.into_iter().chain(self.chooses_until).min()
    }

    /// The hosts that wait, in the order of their times.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Time, HostKey)> + '_ {
        self.waiting.iter().copied()
    }

    /// Whether a host could be asked now.
    pub fn has_ready(&mut self, now: Time) -> bool {
        self.wake(now);
        let waits = self.chooses_until.is_some_and(|until| until > now);
        !waits && self.ready.first().is_some_and(|(tier, ..)| !self.gives_way(*tier))
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
            if self.leaving.contains(&key.part) {
                if host.idle(per_host) {
                    wants.releases.push(self.release(key, false));
                }
            } else if host.more && !host.refilling {
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
        for (host, (errands, asked)) in &mut self.strangers {
            let stays = !self.leaving.contains(&host.part);
            if let Some(errand) = errands.first().filter(|_| !*asked && stays) {
                *asked = true;
                wants.named.push(Named { host: *host, origin: errand.url.origin().into() });
            }
        }
        // Twice what could be handed out now, so that the next look-up comes in time; never few,
        // so that a crawl on one connection goes from host to host in order.
        let within = self.ready_within(self.rules.connections);
        let busy = if self.has_only_held() { within } else { self.out + within };
        // Who chooses wants to know all there is to choose from.
        if busy < self.rules.connections || !self.choosy.is_empty() {
            let missing = (2 * self.rules.connections.saturating_sub(busy)).max(MIN_HOSTS);
            // Hosts with long rules take the room of several.
            let most = self.most_hosts();
            let room = most.saturating_sub(self.hosts.len());
            // Hosts of partitions that leave would be among them.
            wants.hosts = if self.leaving.is_empty() { missing.min(room) } else { 0 };
            if room == 0 {
                let over = self.hosts.len().saturating_sub(most);
                let enough = missing.min(most / 8 + 1).max(over);
                let aside = self.give_way(enough, now);
                let spare = self.spare(enough - aside.len());
                for (key, until) in aside {
                    let release = self.release(key, false);
                    let not_before = release.not_before.max(until);
                    wants.releases.push(Release { not_before, ..release });
                }
                wants.releases.extend(spare.into_iter().map(|key| self.release(key, false)));
            }
        }
        wants
    }

    /// How many hosts may be loaded: fewer where their rules are long.
    fn most_hosts(&self) -> usize {
        let all: usize = self.hosts.values().map(|host| host.rules.bytes).sum();
        if all <= self.rules.rule_bytes {
            return self.rules.max_hosts;
        }
        let mean = all / self.hosts.len().max(1) + 1;
        (self.rules.rule_bytes / mean).clamp(1, self.rules.max_hosts)
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
        self.left_behind(&host, asleep);
        Release { host: key, not_before: host.holds_until(), temper: host.temper, asleep }
    }

    /// Changes a loaded host and puts it where it then belongs.
    pub(crate) fn change<T>(
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
            Spot::Ready(tier, place) => {
                self.ready.remove(&(tier, place, key));
            }
        }
    }

    /// Where a host belongs whose first row that may be handed out has this place.
    fn spot_of(&self, host: &Host, first: Option<Place>, now: Time) -> Spot {
        if host.address.asking {
            return Spot::Nowhere;
        }
        let first = match first {
            _ if !host.errands.is_empty() => Place::FIRST,
            // What is not asked for any more need not wait to be refused.
            Some(place) if host.temper.refuses(now).is_some() && !host.free.is_empty() => {
                return Spot::Ready(0, place);
            }
            Some(place) if !host.rules.asking => place,
            _ => return Spot::Nowhere,
        };
        let out = host.free.len() < self.rules.per_host;
        let Some(free) = host.free.iter().min().filter(|_| !(out && host.one_at_a_time())) else {
            return Spot::Nowhere;
        };
        if self.addresses.is_asked(host.address.ip) {
            return Spot::Nowhere;
        }
        let address = self.addresses.free_at(host.address.ip);
        let time = (*free).max(host.not_before).max(address);
        if time <= now {
            Spot::Ready(self.tier_of(host, first), first)
        } else {
            Spot::Waiting(time)
        }
    }

    /// Puts a host where it belongs after anything about it has changed.
    pub(crate) fn settle_spot(&mut self, key: HostKey, now: Time) {
        let Some(host) = self.hosts.get(&key) else { return };
        let first = if self.gated.is_empty() && host.shut.is_empty() {
            host.window.first_key_value().map(|(place, _)| *place)
        } else {
            let open = |e: &&Entry| self.is_open(host, e);
            host.window.values().find(open).map(|e| e.place)
        };
        // One connection: nothing overtakes what an open row may still lead to.
        let first = first.filter(|place| self.rules.per_host > 1 || !host.may_lead_before(*place));
        let first = first.map(|place| self.first_afloat(host, place));
        let leaves = self.leaving.contains(&key.part);
        let spot = if leaves { Spot::Nowhere } else { self.spot_of(host, first, now) };
        if spot == Spot::Nowhere {
            self.addresses.waits(host.address.ip, key);
        }
        if spot == host.spot {
            return self.recount(key);
        }
        self.unspot(key);
        match spot {
            Spot::Nowhere => {}
            Spot::Waiting(time) => {
                self.waiting.insert((time, key));
            }
            Spot::Ready(tier, place) => {
                self.ready.insert((tier, place, key));
            }
        }
        self.hosts.get_mut(&key).expect("looked up above").spot = spot;
        self.recount(key);
    }
}
