//! One loaded host: its window onto the ready queue, and its connections.
//!
//! Invariants: every unclaimed row up to the cursor is in the window, but for rows of gated
//! jobs where `passed` says so. Rows handed out are `open` until the store has deleted them,
//! so that what is read meanwhile cannot hand them out twice.

use crate::exchange::{Entry, HostNote, HostWindow, RobotsFile};
use crate::order::{Place, place_of_redirect};
use crate::robots::Robots;
use crate::task::Errand;
use crate::temper::Temper;
use argiope_model::{CanonicalUrl, HostKey, JobId, OutcomeKind, Time};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Nowhere,
    Waiting(Time),
    /// Its tier, and the place of its first row.
    Ready(u8, Place),
}

#[derive(Debug)]
pub(crate) struct Host {
    pub window: BTreeMap<Place, Entry>,
    pub cursor: Option<Place>,
    /// There may be rows beyond the cursor.
    pub more: bool,
    /// Rows are being read.
    pub refilling: bool,
    /// What is being read will not do: it must be read again from the start.
    reread: bool,
    /// Rows of gated jobs were dropped from the window to see what lies behind them.
    pub passed: bool,
    /// The times from which each connection not in use may be used.
    pub free: Vec<Time>,
    /// Before this time no connection may be used.
    pub not_before: Time,
    /// When the last answer ended.
    pub last_end: Time,
    pub temper: Temper,
    /// The delay that was set for it by hand.
    pub delay: Option<Duration>,
    /// Whether that was looked up.
    pub named: bool,
    pub rules: Rules,
    pub address: Address,
    /// Requests on other hosts' behalf; they come before its own rows.
    pub errands: VecDeque<Errand>,
    /// Handed out and not yet deleted from the queue.
    open: HashMap<Place, Open>,
    pub spot: Spot,
    /// The number of its site among those with budgets.
    pub site: Option<u32>,
    /// Jobs whose rows are not handed out while what is out may fill their cap on the site.
    pub shut: Vec<JobId>,
    /// The tier in which it has something to do: hosts that are held and come later wait for it.
    pub awaited: Option<u8>,
}

/// What the host's robots.txt says, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    pub robots: Option<Arc<Robots>>,
    /// Memory they take, about.
    pub bytes: usize,
    /// When it must be asked for again.
    pub until: Time,
    /// It is being asked for: no page is requested meanwhile.
    pub asking: bool,
}

impl Rules {
    /// Whether it must be asked for before a page is.
    pub fn are_stale(&self, now: Time) -> bool {
        self.robots.is_none() || now >= self.until
    }

    /// Takes in what was answered; says whether it is of use. What cannot be had leaves the
    /// rules as they were: the file is asked for again.
    pub fn take_in(&mut self, file: &RobotsFile, agent: &str) -> bool {
        let robots = match file.outcome.status {
            200..300 if file.outcome.kind == OutcomeKind::Fetched => {
                Robots::parse(&file.body, agent)
            }
            // "Too many requests" says "not now".
            429 => return false,
            // Anything else of the kind, and redirects without an end, say that there is none.
            300..500 => Robots::allow_all(),
            _ => return false,
        };
        self.bytes = robots.heap_bytes();
        // Where the next request may come no sooner than the file would be asked for again, there
        // would never be one for a page: the file holds until one was made.
        let pause = robots.crawl_delay().unwrap_or_default();
        self.until = file.until.max(file.asked.plus(pause.saturating_mul(2)));
        self.robots = Some(Arc::new(robots));
        true
    }

    pub fn crawl_delay(&self) -> Option<Duration> {
        self.robots.as_ref().and_then(|robots| robots.crawl_delay())
    }
}

/// Where the host is.
#[derive(Debug, Default)]
pub(crate) struct Address {
    pub ip: Option<IpAddr>,
    /// When it must be looked up again.
    pub until: Time,
    /// It is being looked up.
    pub asking: bool,
}

/// A row that is out.
#[derive(Debug)]
struct Open {
    /// Its URL within the host.
    url: u64,
    /// When it was handed out.
    since: Time,
    /// The first place that what it leads to could get.
    leads_to: Place,
    /// The row as it has been queued since: taken over by another job, or to be expanded.
    newer: Option<Entry>,
}

impl Host {
    pub fn new(not_before: Time, per_host: usize) -> Self {
        Host {
            window: BTreeMap::new(),
            cursor: None,
            more: false,
            refilling: false,
            reread: false,
            passed: false,
            free: vec![not_before; per_host],
            not_before,
            last_end: Time::default(),
            temper: Temper::default(),
            delay: None,
            named: false,
            rules: Rules::default(),
            address: Address::default(),
            errands: VecDeque::new(),
            open: HashMap::new(),
            spot: Spot::Nowhere,
            site: None,
            shut: Vec::new(),
            awaited: None,
        }
    }

    /// A URL of it, where one is at hand.
    pub fn any_url(&self) -> Option<&CanonicalUrl> {
        let row = self.window.values().next().map(|entry| &entry.url);
        row.or_else(|| self.errands.front().map(|errand| &errand.url))
    }

    /// Whether nothing of it is under way: only then may it be given back.
    pub fn idle(&self, per_host: usize) -> bool {
        let asking = self.rules.asking || self.address.asking || !self.errands.is_empty();
        self.open.is_empty() && !self.refilling && !asking && self.free.len() == per_host
    }

    /// Whether it has rows to hand out sooner or later, or something out that may lead to some.
    pub fn is_alive(&self, per_host: usize) -> bool {
        let unread = self.more && self.window.is_empty();
        self.spot != Spot::Nowhere || unread || !self.idle(per_host)
    }

    /// Whether it is asked on one connection whatever the setting: it named a delay of its own,
    /// or it is not well.
    pub fn one_at_a_time(&self) -> bool {
        self.temper.pause_ms > 0 || self.rules.crawl_delay().is_some_and(|d| !d.is_zero())
    }

    /// No request before this time.
    pub fn holds_until(&self) -> Time {
        let free = self.free.iter().max().copied().unwrap_or_default();
        free.max(self.not_before)
    }

    /// What must be known of it should this run end here.
    pub fn note(&self, key: HostKey) -> HostNote {
        HostNote { host: key, not_before: self.holds_until(), temper: self.temper.clone() }
    }

    /// The next request keeps the delay that the host's robots.txt names.
    pub fn keep_crawl_delay(&mut self) {
        if let Some(delay) = self.rules.crawl_delay() {
            let until = self.last_end.plus(delay);
            self.not_before = self.not_before.max(until);
            self.temper.wait_until(until, self.last_end);
        }
    }

    /// Takes in what was read.
    pub fn load(&mut self, read: HostWindow) {
        self.refilling = false;
        if std::mem::take(&mut self.reread) {
            (self.cursor, self.more) = (None, true);
        } else {
            self.more = read.more;
            self.cursor = read.cursor.max(self.cursor);
        }
        read.entries.into_iter().for_each(|entry| self.insert(entry));
    }

    /// Takes in a row that was just queued, unless it lies beyond what the window covers.
    pub fn offer(&mut self, entry: Entry) {
        if self.more || self.refilling {
            // Beyond the cursor there are rows unseen; this one may come after them.
            if self.cursor.is_none_or(|cursor| entry.place > cursor) {
                self.more = true;
                return;
            }
        }
        self.cursor = self.cursor.max(Some(entry.place));
        self.insert(entry);
    }

    fn insert(&mut self, entry: Entry) {
        match self.open.get_mut(&entry.place) {
            // It is out. Should it come back unused, it comes back as it is now.
            Some(open) => open.newer = Some(entry),
            None => {
                self.window.insert(entry.place, entry);
            }
        }
    }

    /// Hands out a row on the connection that has been free longest.
    pub fn hand_out(
        &mut self,
        place: Place,
        since: Time,
        leads_to: impl FnOnce(&Entry) -> Place,
    ) -> Entry {
        self.take_connection();
        let entry = self.window.remove(&place).expect("a ready host has its first row");
        let (url, leads_to) = (entry.key.url, leads_to(&entry));
        self.open.insert(place, Open { url, since, leads_to, newer: None });
        entry
    }

    /// Whether it has a row before this place that is out since then, or follows one that is, or may be
    /// handed out by some time.
    pub fn has_better(&self, place: Place, since: Time, by: Time) -> bool {
        let mut lately = self.open.iter().filter(|(_, open)| open.since > since);
        let soon = match self.spot {
            Spot::Waiting(time) => time <= by,
            _ => lately.clone().next().is_some(),
        };
        let first = self.window.keys().next().filter(|_| soon);
        first.is_some_and(|first| *first < place) || lately.any(|(out, _)| *out < place)
    }

    /// Puts rows aside that are to be moved, but for those that are out: these are said.
    pub fn put_aside(&mut self, urls: &HashSet<u64>) -> Vec<u64> {
        let out = self.open.values().map(|open| open.url).filter(|url| urls.contains(url));
        let out: Vec<u64> = out.collect();
        self.window.retain(|_, entry| !urls.contains(&entry.key.url));
        out
    }

    /// Hands out a row that will not be requested and leads nowhere.
    pub fn refuse(&mut self, place: Place) -> Entry {
        let entry = self.window.remove(&place).expect("a ready host has its first row");
        let (url, leads_to) = (entry.key.url, Place::LAST);
        let since = Time::default();
        self.open.insert(place, Open { url, since, leads_to, newer: None });
        entry
    }

    pub fn take_connection(&mut self) {
        let first = self.free.iter().enumerate().min_by_key(|(_, t)| **t).map(|(i, _)| i);
        self.free.swap_remove(first.expect("a ready host has a free connection"));
    }

    /// Whether what is out could still put a row before this place.
    pub fn may_lead_before(&self, place: Place) -> bool {
        self.open.values().any(|open| open.leads_to <= place)
    }

    /// The answer to a row has come.
    pub fn answered(&mut self, place: Place, redirect: bool) {
        if let Some(open) = self.open.get_mut(&place).filter(|_| redirect) {
            open.leads_to = place_of_redirect(place);
        }
    }

    /// The store has taken the result of a row.
    pub fn settled(&mut self, place: Place) {
        let newer = self.open.remove(&place).and_then(|open| open.newer);
        // After a result a row is there again only to be expanded; anything else told of it
        // meanwhile went with the result.
        if let Some(entry) = newer.filter(|entry| entry.expand) {
            self.window.insert(place, entry);
        }
    }

    /// Takes back a row that was handed out.
    pub fn give_back(&mut self, entry: Entry) {
        let newer = self.open.remove(&entry.place).and_then(|open| open.newer);
        let entry = newer.unwrap_or(entry);
        self.window.insert(entry.place, entry);
    }

    /// Drops the last rows down to `keep`; they are read again later. Never while rows are
    /// being read: those follow the cursor as it was.
    pub fn trim(&mut self, keep: usize) {
        if self.refilling || self.window.len() <= keep {
            return;
        }
        while self.window.len() > keep {
            self.window.pop_last();
        }
        self.more = true;
        self.cursor = self.cursor.min(self.window.last_key_value().map(|(place, _)| *place));
    }

    /// Twice the window before rows are dropped again, so that this stays rare.
    pub fn trim_if_over(&mut self, window: usize) {
        if self.window.len() > 2 * window {
            self.trim(window);
        }
    }

    /// Whether few rows are left that may be handed out. Where gated rows fill the window,
    /// they are dropped, to see what lies behind them.
    pub fn running_low(&mut self, few: usize, gated: &HashSet<JobId>) -> bool {
        if self.window.len() > few && !gated.is_empty() {
            let usable =
                self.window.values().filter(|e| e.again || !gated.contains(&e.job)).take(few + 1);
            if usable.count() <= few {
                self.window.retain(|_, e| e.again || !gated.contains(&e.job));
                self.passed = true;
            }
        }
        self.window.len() <= few
    }

    /// Rows that were passed over when the window was read matter now.
    pub fn read_again(&mut self) {
        self.passed = false;
        self.reread = self.refilling;
        (self.cursor, self.more) = (None, true);
    }
}
