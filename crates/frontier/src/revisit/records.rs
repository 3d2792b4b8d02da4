//! The record history of a page, as change bits, and the rule of `fr` that reads it.

use super::state::PageState;

/// The longest history: the bits of a word.
pub const MOST_RECORDS: u32 = 64;

impl PageState {
    /// Adds the record of a completed visit. The first has nothing to differ from.
    pub(super) fn add_record(&mut self, changed: bool) {
        let differs = changed && self.records > 0;
        self.changes = self.changes << 1 | u64::from(differs);
        self.records = self.records.saturating_add(1);
        self.failures = 0;
    }

    /// How many neighbours differ among the last `limit` records, and how many records these are.
    pub fn differing(&self, limit: u32) -> (u32, u32) {
        let looked_at = u32::from(self.records).min(limit.clamp(1, MOST_RECORDS));
        // x records have x − 1 neighbours: the oldest is compared with none.
        let mask = (1_u64 << looked_at.saturating_sub(1)) - 1;
        ((self.changes & mask).count_ones(), looked_at)
    }

    /// Whether the latest record differs from the one before it.
    pub fn latest_differs(&self) -> bool {
        self.records >= 2 && self.changes & 1 == 1
    }
}

/// The new `fr_max`: floor((fr_max + b) / 2), where b is x without a change and x / counter
/// otherwise; from two records on.
pub fn next_fr_max(fr_max: u8, records: u32, counter: u32, limit: u32) -> u8 {
    let x = u64::from(records.min(limit.clamp(1, MOST_RECORDS)));
    if x < 2 {
        return fr_max;
    }
    // Over one denominator, so that x / counter is not cut before the halves are added.
    let counter = u64::from(counter.max(1));
    let next = (u64::from(fr_max) * counter + x) / (2 * counter);
    u8::try_from(next).unwrap_or(u8::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_of_the_document() {
        assert_eq!(next_fr_max(3, 45, 10, 20), 2);
    }

    #[test]
    fn unchanged_pages_are_visited_ever_more_rarely() {
        let steps: Vec<u8> = std::iter::successors(Some(3), |fr| Some(next_fr_max(*fr, 20, 0, 20)))
            .skip(1)
            .take(6)
            .collect();
        assert_eq!(steps, [11, 15, 17, 18, 19, 19]);
    }

    #[test]
    fn the_quotient_is_not_cut_before_the_halves_are_added() {
        // (4 + 20/3) / 2 = 5.33, and (5 + 20/3) / 2 = 5.83; cut first, both quotients were 6.
        assert_eq!((next_fr_max(4, 20, 3, 20), next_fr_max(5, 20, 3, 20)), (5, 5));
        // (2 + 20/7) / 2 = 2.43; (1 + 3/2) / 2 = 1.25.
        assert_eq!((next_fr_max(2, 20, 7, 20), next_fr_max(1, 3, 2, 20)), (2, 1));
    }

    #[test]
    fn one_record_says_nothing() {
        assert_eq!(next_fr_max(7, 1, 0, 20), 7);
        assert_eq!(next_fr_max(7, 0, 0, 20), 7);
    }

    #[test]
    fn only_neighbours_inside_the_limit_count() {
        let mut state = PageState::default();
        for n in 0..45 {
            state.add_record(n <= 25 || n % 2 == 1);
        }
        // Records 25 to 44 (from 0): 26 is unchanged, and the difference of 25 to 24 lies outside.
        assert_eq!(state.differing(20), (9, 20));
        assert_eq!(state.differing(64), (34, 45));
        assert_eq!(state.differing(1), (0, 1));
        assert_eq!(PageState::default().differing(20), (0, 0));
    }

    #[test]
    fn the_first_record_differs_from_nothing() {
        let mut state = PageState::default();
        state.add_record(true);
        assert!(!state.latest_differs());
        assert_eq!(state.changes, 0);
        state.add_record(true);
        assert!(state.latest_differs());
    }
}
