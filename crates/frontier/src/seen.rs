//! The lossy cache of recently seen URLs: answers "known already" for the nine links in ten
//! that are, so that only the rest is looked up in the store.
//!
//! A table of fixed size shared by all workers without a lock, in sets of eight: a set is one
//! line of the processor's cache, and what is newest in it pushes out what is oldest. Workers
//! that write at once may lose an entry: the cache may forget, it never invents. Each entry
//! remembers the depth at which the URL was met: met nearer to a start URL, it is news again,
//! since a depth limit may now let it in.

use std::sync::atomic::{AtomicU64, Ordering};

/// At least so many sets, so that set and tag together are the whole fingerprint.
const MIN_SETS: usize = 1 << 16;
const WAYS: usize = 8;

/// The lossy cache.
#[derive(Debug)]
pub struct SeenCache {
    slots: Vec<AtomicU64>,
    ways: usize,
}

impl SeenCache {
    /// A cache of at most `bytes` bytes, but for half a megabyte that it needs at least.
    pub fn with_bytes(bytes: usize) -> Self {
        let slots = (bytes / 8).max(MIN_SETS);
        let ways = (slots / MIN_SETS).min(WAYS);
        let slots = slots / ways * ways;
        SeenCache { slots: (0..slots).map(|_| AtomicU64::new(0)).collect(), ways }
    }

    /// Set, and tag: the lower 48 bits. The set follows the upper bits, of which there are at
    /// least 2^16 ranges, so that two URLs are confused only where their keys would be.
    fn locate(&self, fingerprint: u64) -> (&[AtomicU64], u64) {
        let sets = (self.slots.len() / self.ways) as u128;
        let set = ((u128::from(fingerprint) * sets) >> 64) as usize;
        (&self.slots[set * self.ways..(set + 1) * self.ways], fingerprint << 16)
    }

    /// Whether the URL was seen, at this depth or a smaller one.
    pub fn knows(&self, fingerprint: u64, depth: u16) -> bool {
        let (set, tag) = self.locate(fingerprint);
        set.iter().any(|slot| {
            let entry = slot.load(Ordering::Relaxed);
            entry & !0xffff == tag && entry != 0 && (entry & 0xffff) as u16 <= depth
        })
    }

    /// Remembers a URL.
    pub fn remember(&self, fingerprint: u64, depth: u16) {
        let (set, tag) = self.locate(fingerprint);
        // It comes first; the others move on by one, up to where it stood before.
        let mut carried = tag | u64::from(depth);
        for slot in set {
            let entry = slot.swap(carried, Ordering::Relaxed);
            if entry == 0 || entry & !0xffff == tag {
                return;
            }
            carried = entry;
        }
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

    #[test]
    fn what_was_seen_lately_is_known_until_as_much_again_was_seen() {
        let cache = SeenCache::with_bytes(8 << 20);
        let fingerprint = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..500_000).for_each(|n| cache.remember(fingerprint(n), 0));
        let known = (0..500_000).filter(|n| cache.knows(fingerprint(*n), 0)).count();
        assert!(known > 495_000, "{known} of 500000 in a cache of a million");
        (500_000..4_000_000).for_each(|n| cache.remember(fingerprint(n), 0));
        let lately = (3_750_000..4_000_000).filter(|n| cache.knows(fingerprint(*n), 0)).count();
        assert!(lately > 247_000, "{lately} of the last 250000");
    }

    #[test]
    fn a_url_remembered_again_takes_one_place() {
        let cache = SeenCache::with_bytes(8 << 20);
        for n in 0..100 {
            cache.remember(7, 9);
            cache.remember(1 + (n << 20), 9);
        }
        let set = cache.locate(7).0.iter().map(|slot| slot.load(Ordering::Relaxed));
        assert_eq!(set.filter(|entry| *entry >> 16 == 7).count(), 1);
        assert!(cache.knows(7, 9));
    }

    proptest! {
        #[test]
        fn it_forgets_but_never_invents(
            ops in prop::collection::vec((0u64..40, 0u16..4), 1..400),
            bytes in prop_oneof![Just(0usize), Just(1_500_000), Just(10_000_000)],
        ) {
            let cache = SeenCache::with_bytes(bytes);
            let mut truth: HashMap<u64, u16> = HashMap::new();
            for (n, depth) in ops {
                // Many fingerprints in few sets, some alike in their lower bits.
                let fp = 1 + (n / 4) + ((n % 4) << 48);
                if cache.knows(fp, depth) {
                    prop_assert!(truth.get(&fp).is_some_and(|d| *d <= depth));
                }
                cache.remember(fp, depth);
                truth.insert(fp, depth);
            }
        }
    }
}
