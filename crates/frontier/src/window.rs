//! One loaded host: its window onto the ready queue, and its connections.
//!
//! Invariants: every unclaimed row up to the cursor is in the window, but for rows of gated
//! jobs where `passed` says so. Rows handed out are `open` until the store has deleted them,
//! so that what is read meanwhile cannot hand them out twice.

use crate::exchange::{Entry, HostWindow};
use crate::order::{Place, place_of_redirect};
use argiope_model::{JobId, Time};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Nowhere,
    Waiting(Time),
    Ready(Place),
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
    /// Handed out and not yet deleted from the queue.
    open: HashMap<Place, Open>,
    pub spot: Spot,
}

/// A row that is out.
#[derive(Debug)]
struct Open {
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
            open: HashMap::new(),
            spot: Spot::Nowhere,
        }
    }

    /// Whether nothing of it is under way: only then may it be given back.
    pub fn idle(&self, per_host: usize) -> bool {
        self.open.is_empty() && !self.refilling && self.free.len() == per_host
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
    pub fn hand_out(&mut self, place: Place, leads_to: impl FnOnce(&Entry) -> Place) -> Entry {
        let entry = self.window.remove(&place).expect("a ready host has its first row");
        self.open.insert(place, Open { leads_to: leads_to(&entry), newer: None });
        let first = self.free.iter().enumerate().min_by_key(|(_, t)| **t).map(|(i, _)| i);
        self.free.swap_remove(first.expect("a ready host has a free connection"));
        entry
    }

    /// Whether what is out could still put a row before this place.
    pub fn may_lead_before(&self, place: Place) -> bool {
        self.open.values().any(|open| open.leads_to <= place)
    }

    /// A connection is back; it may be used again from then on.
    pub fn answered(&mut self, place: Place, free_at: Time, redirect: bool) {
        self.free.push(free_at);
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
            let usable = self.window.values().filter(|e| !gated.contains(&e.job)).take(few + 1);
            if usable.count() <= few {
                self.window.retain(|_, e| !gated.contains(&e.job));
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
