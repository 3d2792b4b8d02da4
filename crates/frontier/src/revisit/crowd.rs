//! What is known of all pages together: how their change rates are spread, and the price of a visit.
//!
//! * What this is: a sample of pages that stays fair however many there are (those with the
//!   smallest mixed keys), the prior that makes the sample's evidence most likely, and the price at
//!   which the sample, scaled up, uses the budget.
//! * Its place: [`super::Fresh`] puts every visited page before it and asks it for prior and price.
//! * Invariants: memory is bounded by the sample's size; with fewer pages than that, nothing is
//!   sampled and all is exact.

use super::belief::{Belief, PerRate, Prior, RATES, first_prior};
use super::state::Evidence;
use super::timing::mixed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The pages that stand for all.
const SAMPLE: usize = 2048;

/// How many pages the first prior counts for.
const FIRST_COUNTS: f32 = 6.0;

/// A page of the sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) key: u64,
    pub(super) weight: f32,
    pub(super) dearness: f32,
    pub(super) evidence: Evidence,
}

/// All pages together.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    members: BTreeMap<u64, Member>,
    shares: PerRate,
    prior: Prior,
}

/// What is written down of the crowd, so that a restart begins with what was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knowledge {
    /// The layout of this.
    pub version: u8,
    /// The price of a visit.
    pub price: f64,
    /// What a probe must be worth.
    pub threshold: f64,
    /// The part of the budget that exploring takes.
    pub exploring: f64,
    /// How likely each change rate is.
    pub shares: Vec<f32>,
}

impl Default for Crowd {
    fn default() -> Self {
        Crowd::new(first_prior())
    }
}

impl Crowd {
    fn new(shares: PerRate) -> Self {
        Crowd { members: BTreeMap::new(), shares, prior: shares.map(f32::ln) }
    }

    /// A crowd that begins with shares learned before; `None` where they are no such.
    pub(super) fn with(shares: &[f32]) -> Option<Self> {
        let shares: PerRate = shares.try_into().ok()?;
        let sound = shares.iter().all(|share| share.is_finite() && *share > 0.0);
        sound.then(|| Crowd::new(shares))
    }

    pub(super) fn shares(&self) -> &PerRate {
        &self.shares
    }

    pub(super) fn prior(&self) -> &Prior {
        &self.prior
    }

    /// Puts a page before the sample, or what has become of it.
    pub(super) fn note(&mut self, member: Member) {
        let place = mixed(member.key, 0x5eed);
        let full = self.members.len() >= SAMPLE;
        if full && self.members.last_key_value().is_some_and(|(last, _)| place > *last) {
            return;
        }
        self.members.insert(place, member);
        if self.members.len() > SAMPLE {
            self.members.pop_last();
        }
    }

    pub(super) fn forget(&mut self, key: u64) {
        self.members.remove(&mixed(key, 0x5eed));
    }

    /// How many pages there are: counted, or estimated from how close together the sample lies.
    pub(super) fn pages(&self) -> f64 {
        match self.members.last_key_value() {
            Some((last, _)) if self.members.len() >= SAMPLE => {
                (SAMPLE - 1) as f64 / (*last as f64 / u64::MAX as f64)
            }
            _ => self.members.len() as f64,
        }
    }

    /// Learns how change rates are spread: some steps of expectation and maximisation.
    pub(super) fn learn(&mut self, steps: usize) {
        let first = first_prior();
        for _ in 0..steps {
            let mut sums = first.map(|share| share * FIRST_COUNTS);
            for member in self.members.values() {
                let belief = Belief::of(&member.evidence, &self.prior);
                sums.iter_mut().zip(&belief.0).for_each(|(sum, share)| *sum += share);
            }
            let total: f32 = sums.iter().sum();
            // A little of each share is given to its neighbours: spikes are chance.
            for n in 0..RATES {
                let (left, right) = (sums[n.saturating_sub(1)], sums[(n + 1).min(RATES - 1)]);
                self.shares[n] = (0.9 * sums[n] + 0.05 * (left + right)) / total;
            }
            self.prior = self.shares.map(f32::ln);
        }
    }

    /// The members with what is believed of them.
    pub(super) fn beliefs(&self) -> Vec<(Member, Belief)> {
        let of = |member: &Member| (*member, Belief::of(&member.evidence, &self.prior));
        self.members.values().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(key: u64) -> Member {
        let evidence = Evidence::default();
        Member { key, weight: 1.0, dearness: 1.0, evidence }
    }

    #[test]
    fn the_sample_is_bounded_and_counts_pages_well_enough() {
        let mut crowd = Crowd::default();
        for key in 0..300_000 {
            crowd.note(member(key));
            crowd.note(member(key));
        }
        assert_eq!(crowd.members.len(), SAMPLE);
        assert!((crowd.pages() / 300_000.0 - 1.0).abs() < 0.1, "{}", crowd.pages());
        let mut few = Crowd::default();
        (0..100).for_each(|key| few.note(member(key)));
        few.forget(7);
        assert_eq!(few.pages(), 99.0);
    }

    #[test]
    fn two_kinds_of_pages_are_told_apart() {
        let mut crowd = Crowd::default();
        for key in 0..1000 {
            let mut evidence = Evidence::default();
            for _ in 0..10 {
                evidence.add(1.0, key % 2 == 0, None);
            }
            crowd.note(Member { evidence, ..member(key) });
        }
        crowd.learn(20);
        let below: f32 = crowd.shares()[..20].iter().sum(); // Rates below 0.05 a day.
        let above: f32 = crowd.shares()[30..].iter().sum(); // Rates above 1.9 a day.
        assert!((0.4..0.56).contains(&below) && (0.4..0.56).contains(&above), "{below} {above}");
    }
}
