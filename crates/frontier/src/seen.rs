//! The lossy cache of recently seen URLs: answers "known already" for the nine links in ten
//! that are, so that only the rest is looked up in the store.
//!
//! A table of fixed size shared by all workers without a lock. An entry is overwritten by
//! whatever falls on its slot: the cache may forget, it never invents. Each entry remembers
//! the depth at which the URL was met: met nearer to a start URL, it is news again, since a
//! depth limit may now let it in.

use std::sync::atomic::{AtomicU64, Ordering};

/// The lossy cache.
#[derive(Debug)]
pub struct SeenCache {
    slots: Vec<AtomicU64>,
}

impl SeenCache {
    /// A cache of at most `bytes` bytes.
    pub fn with_bytes(bytes: usize) -> Self {
        // A power of two of at least 2^16 slots, so that slot and tag cover the fingerprint.
        let wanted = (bytes / 8).max(1 << 16);
        let slots = if wanted.is_power_of_two() { wanted } else { wanted.next_power_of_two() / 2 };
        SeenCache { slots: (0..slots).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Slot, and tag: the upper 48 bits. Slots use the lower bits, so both together are the
    /// whole fingerprint and two URLs are confused only where their keys would be.
    fn locate(&self, fingerprint: u64) -> (&AtomicU64, u64) {
        let slot = fingerprint as usize & (self.slots.len() - 1);
        (&self.slots[slot], fingerprint >> 16)
    }

    /// Whether the URL was seen, at this depth or a smaller one.
    pub fn knows(&self, fingerprint: u64, depth: u16) -> bool {
        let (slot, tag) = self.locate(fingerprint);
        let entry = slot.load(Ordering::Relaxed);
        entry >> 16 == tag && entry != 0 && (entry & 0xffff) as u16 <= depth
    }

    /// Remembers a URL.
    pub fn remember(&self, fingerprint: u64, depth: u16) {
        let (slot, tag) = self.locate(fingerprint);
        slot.store(tag << 16 | u64::from(depth), Ordering::Relaxed);
    }

    /// Forgets everything: what was known under one job's rules is news under another's.
    pub fn clear(&self) {
        for slot in &self.slots {
            slot.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_shorter_way_is_news() {
        let cache = SeenCache::with_bytes(1 << 20);
        assert!(!cache.knows(42, 7));
        cache.remember(42, 3);
        assert!(cache.knows(42, 3) && cache.knows(42, 9));
        assert!(!cache.knows(42, 2));
    }

    proptest! {
        #[test]
        fn it_forgets_but_never_invents(ops in prop::collection::vec((0u64..40, 0u16..4), 1..400)) {
            let cache = SeenCache::with_bytes(0);
            let mut truth: HashMap<u64, u16> = HashMap::new();
            for (n, depth) in ops {
                // Many fingerprints on few slots.
                let fp = 1 + (n % 4) + ((n / 4) << 40);
                if cache.knows(fp, depth) {
                    prop_assert!(truth.get(&fp).is_some_and(|d| *d <= depth));
                }
                cache.remember(fp, depth);
                truth.insert(fp, depth);
            }
        }
    }
}
