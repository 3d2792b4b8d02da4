//! `selective`: whether an unchanged page is expanded again, from what its children did.

use super::state::PageState;
use argiope_model::Time;

/// The gate. Step and bounds are ours; the document gives only the first threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selective {
    /// How far the threshold moves when all children agree.
    pub step: f64,
    /// The lowest threshold.
    pub least: f64,
    /// The highest threshold.
    pub most: f64,
}

impl Default for Selective {
    fn default() -> Self {
        Selective { step: 0.1, least: 0.10, most: 0.90 }
    }
}

/// What the database knows of a page's direct internal children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// Those with at least two records.
    pub counted: u32,
    /// Those of them whose latest record differs and is newer than the page's last turn.
    pub changed: u32,
}

impl Children {
    /// Counts a child's state for a page that had its last turn then.
    pub fn count(&mut self, child: &PageState, last_turn: Option<Time>) {
        if child.records < 2 {
            return;
        }
        self.counted += 1;
        if child.latest_differs() && child.last > last_turn {
            self.changed += 1;
        }
    }
}

impl Selective {
    /// At the turn of a page found unchanged: whether it is expanded, and its next threshold in
    /// ten-thousandths. A page without children that count is left as it is.
    pub fn decide(&self, threshold: u16, children: Children) -> (bool, u16) {
        let Children { counted, changed } = children;
        if counted == 0 {
            return (false, threshold);
        }
        let changed = changed.min(counted);
        // In whole numbers: 4 of 10 at 0.40 are enough.
        let expand = u64::from(changed) * 10_000 >= u64::from(threshold) * u64::from(counted);
        let unchanged = counted - changed;
        let lean = (f64::from(changed) - f64::from(unchanged)) / f64::from(counted);
        let moved = f64::from(threshold) / 10_000.0 + self.step * lean;
        let next = moved.clamp(self.least, self.most.max(self.least));
        (expand, (next * 10_000.0).round() as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(threshold: u16, changed: u32, counted: u32) -> (bool, u16) {
        Selective::default().decide(threshold, Children { counted, changed })
    }

    #[test]
    fn four_of_ten_at_forty_percent_expand_and_lower_the_threshold() {
        assert_eq!(decide(4_000, 4, 10), (true, 3_800));
        assert_eq!(decide(4_000, 3, 10), (false, 3_600));
        assert_eq!(decide(3_800, 4, 10), (true, 3_600));
    }

    #[test]
    fn the_threshold_stays_within_its_bounds() {
        assert_eq!(decide(1_000, 0, 7), (false, 1_000));
        assert_eq!(decide(1_050, 0, 7), (false, 1_000));
        assert_eq!(decide(9_000, 7, 7), (true, 9_000));
        assert_eq!(decide(8_950, 7, 7), (true, 9_000));
    }

    #[test]
    fn without_children_nothing_happens() {
        assert_eq!(decide(4_000, 0, 0), (false, 4_000));
    }

    #[test]
    fn only_children_with_two_records_count_and_only_news_since_the_last_turn() {
        let child = |records, changes, last| PageState {
            records,
            changes,
            last: Some(Time(last)),
            ..PageState::default()
        };
        let mut seen = Children::default();
        seen.count(&child(1, 0, 9_000), Some(Time(5_000)));
        seen.count(&child(2, 0b1, 9_000), Some(Time(5_000)));
        seen.count(&child(2, 0b1, 5_000), Some(Time(5_000))); // Not newer.
        seen.count(&child(9, 0b10, 9_000), Some(Time(5_000))); // Differed once, not now.
        assert_eq!(seen, Children { counted: 3, changed: 1 });
    }
}
