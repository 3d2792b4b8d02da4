//! Rows of hosts lately touched: nearly every URL found belongs to one of them.
//!
//! Two generations: what is used moves into the young one; when that is full, the old one is
//! forgotten and the young becomes old. What is here is what the disk holds.

use crate::row::HostRow;
use argiope_model::HostKey;
use std::collections::HashMap;

/// A row with its name and its place in a map, about.
const ROW_BYTES: u64 = 296;

#[derive(Default)]
pub(crate) struct HostCache {
    young: HashMap<HostKey, HostRow>,
    old: HashMap<HostKey, HostRow>,
    generation: usize,
}

impl HostCache {
    pub fn with_bytes(bytes: u64) -> Self {
        let generation = (bytes / ROW_BYTES / 2) as usize;
        HostCache { generation, ..HostCache::default() }
    }

    /// Takes a row out, to be changed and kept again once that is written.
    pub fn take(&mut self, key: HostKey) -> Option<HostRow> {
        self.young.remove(&key).or_else(|| self.old.remove(&key))
    }

    pub fn get(&self, key: HostKey) -> Option<&HostRow> {
        self.young.get(&key).or_else(|| self.old.get(&key))
    }

    pub fn keep(&mut self, key: HostKey, row: HostRow) {
        if self.young.len() >= self.generation {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, row);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}
