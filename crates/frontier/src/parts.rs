//! Partitions that go to another worker.
//!
//! * What this is: how the hosts of some partitions leave the frontier in good order. Nothing more of
//!   them is handed out at once; each is given back with the next [`crate::Frontier::wants`] once
//!   nothing of it is under way.
//! * Its place: `crawl` says which partitions go, and when they are gone. Whoever crawls alone never
//!   calls this.
//! * Invariant: while partitions leave no new host is wished for: it could be one of theirs.

use crate::heap::Frontier;
use crate::task::Errand;
use argiope_model::{HostKey, Time};
use std::collections::BTreeSet;

impl Frontier {
    /// Nothing more is handed out of these partitions. Says whose robots.txt were to be asked for
    /// there: it will not be done here.
    pub fn leave(&mut self, parts: &BTreeSet<u16>, now: Time) -> Vec<Errand> {
        self.leaving.extend(parts);
        let mut dropped = Vec::new();
        let mut keys: Vec<HostKey> = self.hosts.keys().copied().collect();
        keys.retain(|key| parts.contains(&key.part));
        keys.sort();
        for key in keys {
            let errands = self.change(key, now, |host, _| std::mem::take(&mut host.errands));
            dropped.extend(errands.into_iter().flatten());
        }
        let strange = |key: &&HostKey| parts.contains(&key.part);
        let strangers: Vec<HostKey> = self.strangers.keys().filter(strange).copied().collect();
        for key in strangers {
            dropped.extend(self.strangers.remove(&key).into_iter().flat_map(|(all, _)| all));
        }
        dropped
    }

    /// Whether a host of the partitions that leave is still here.
    pub fn holds_leaving(&self) -> bool {
        !self.leaving.is_empty() && self.hosts.keys().any(|key| self.leaving.contains(&key.part))
    }

    /// The partitions that were to leave are gone.
    pub fn left(&mut self) {
        self.leaving.clear();
    }
}
