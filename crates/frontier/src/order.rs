//! Places in the ready queue: which URL of a host comes first.
//!
//! A place is two numbers compared in turn. Breadth-first sorts by level, then by the running
//! number of the page that held the link; depth-first inverts that number, so that the newest
//! page's links come first. Within a page, links keep the order in which they stand. A
//! redirect's target takes the place right behind its source: it is the same visit. Best-first
//! sorts by [`Score`], what scores alike in the order of discovery; a row whose score has changed
//! moves to another level and keeps the rest of its place, so that no two rows meet.
//!
//! ```text
//!  order:  level (16 bits), page (48)     breadth-first
//!          0, inverted page               depth-first (older programs: 0xffff, inverted page)
//!          steps below the best (16), page (48)    best-first
//!          0xff00 + 255 - line, inverted page      held back: behind all of the above
//!  seq:    position on the page (48), line (8), redirects (8)
//! ```
//!
//! The *line* of a row is how many pages without news, one found on the other, led to it (see
//! [`crate::Traps`]). What is held back goes by the longest line, then by the newest page.

use argiope_model::Order;
use serde::{Deserialize, Serialize};

/// A place in the ready queue of a host; smaller comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// What the order policy says.
    pub order: u64,
    /// The position within equal order.
    pub seq: u64,
}

impl Place {
    /// Before every other.
    pub const FIRST: Place = Place { order: 0, seq: 0 };
    /// Behind every other.
    pub const LAST: Place = Place { order: u64::MAX, seq: u64::MAX };

    /// How many pages without news, one found on the other, led here.
    pub fn line(self) -> u8 {
        (self.seq >> LINE_BITS) as u8
    }

    /// The same place at the end of such a line.
    pub fn with_line(self, line: u8) -> Self {
        let seq = self.seq & !(0xff << LINE_BITS) | u64::from(line) << LINE_BITS;
        Place { seq, ..self }
    }

    /// Whether it lies behind every place that is not held back.
    pub fn is_held_back(self) -> bool {
        (BACK..0xffff).contains(&(self.order >> PAGE_BITS))
    }

    /// The place behind every other of its host, for a row of a job with this order.
    pub fn held_back(self, order: Order) -> Self {
        let band = BACK + u64::from((u8::MAX - self.line()).min(u8::MAX - 1));
        let page = !page_of(order, self) & PAGES;
        Place { order: band << PAGE_BITS | page, ..self }
    }

    /// What a row of a job that goes best-first was found to be worth; `None` for one that is held
    /// back.
    pub fn score(self) -> Option<Score> {
        (!self.is_held_back()).then(|| Score::at_level((self.order >> PAGE_BITS) as u16))
    }

    /// Where such a row goes that is worth this now; `None` where it stays: it is held back, or stands
    /// there already, or would fall and must not.
    pub fn moved(self, score: Score, may_fall: bool) -> Option<Self> {
        let now = self.score()?;
        let order = u64::from(score.level()) << PAGE_BITS | self.order & PAGES;
        (score > now || may_fall && score < now).then_some(Place { order, ..self })
    }
}

/// What a URL is worth to a job that goes best-first: a number of steps below the best there is. The
/// greater comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u16);

impl Score {
    /// What a start URL is worth.
    pub const BEST: Score = Score(BACK as u16 - 1);
    /// The least.
    pub const WORST: Score = Score(0);

    /// So many steps below the best.
    pub fn at_level(level: u16) -> Self {
        Score(Self::BEST.0.saturating_sub(level))
    }

    /// How many steps below the best.
    pub fn level(self) -> u16 {
        Self::BEST.0 - self.0
    }

    /// Of a worth without a lower bound, where a start URL has 1: a step for each halving.
    pub fn of_worth(worth: f64) -> Self {
        let halvings = -worth.clamp(f64::MIN_POSITIVE, 1.0).log2();
        Score::at_level(halvings.ceil() as u16)
    }

    /// The least that is worth so much.
    pub fn worth(self) -> f64 {
        (-f64::from(self.level())).exp2()
    }

    /// Of a share from 0 to 1: steps of the same width, [`SHARES`] of them.
    pub fn of_share(share: f64) -> Self {
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        Score::at_level(((1.0 - share) * f64::from(SHARES)).round() as u16)
    }
}

/// Steps from a share of 1 down to one of 0.
pub const SHARES: u16 = 256;

/// Room between two links of a page for the targets of redirects.
const STEP: u64 = 1 << 16;
const PAGE_BITS: u32 = 48;
const PAGES: u64 = (1 << PAGE_BITS) - 1;
const LINE_BITS: u32 = 8;
/// Above the deepest level.
const BACK: u64 = 0xff00;

/// The place of the `index`-th link of the `page`-th page a crawl has read.
pub fn place_of_link(order: Order, depth: u16, page: u64, index: usize) -> Place {
    let page = page & PAGES;
    let order = match order {
        Order::Breadth => u64::from(depth).min(BACK - 1) << PAGE_BITS | page,
        Order::Depth => !page & PAGES,
        // Nothing is known in its favour.
        Order::Best => u64::from(SHARES) << PAGE_BITS | page,
    };
    Place { order, seq: index as u64 * STEP }
}

/// The place of such a link in a job that goes best-first.
pub fn place_of_score(score: Score, page: u64, index: usize) -> Place {
    let order = u64::from(score.level()) << PAGE_BITS | page & PAGES;
    Place { order, seq: index as u64 * STEP }
}

/// The place of the `index`-th start URL given in the `page`-th step of a crawl.
pub fn place_of_seed(order: Order, page: u64, index: usize) -> Place {
    match order {
        Order::Best => place_of_score(Score::BEST, page, index),
        _ => place_of_link(order, 0, page, index),
    }
}

/// The first place that links of the `page`-th page could get or be moved to.
pub fn first_place_of_links(order: Order, depth: u16, page: u64) -> Place {
    match order {
        Order::Best => Place::FIRST,
        _ => place_of_link(order, depth, page, 0),
    }
}

/// The number of the page, or step, that a place was given by.
pub fn page_of(order: Order, place: Place) -> u64 {
    let page = match order {
        Order::Breadth | Order::Best if !place.is_held_back() => place.order,
        _ => !place.order,
    };
    page & PAGES
}

/// The place of a redirect's target: right behind the URL that redirected.
pub fn place_of_redirect(source: Place) -> Place {
    Place { order: source.order, seq: source.seq + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breadth_first_goes_level_by_level_in_the_order_of_discovery() {
        let order = Order::Breadth;
        let mut places = vec![
            place_of_link(order, 2, 1, 0),
            place_of_link(order, 1, 9, 1),
            place_of_link(order, 1, 9, 0),
            place_of_seed(order, 0, 0),
            place_of_link(order, 1, 3, 5),
        ];
        places.sort();
        let want = [
            place_of_seed(order, 0, 0),
            place_of_link(order, 1, 3, 5),
            place_of_link(order, 1, 9, 0),
            place_of_link(order, 1, 9, 1),
            place_of_link(order, 2, 1, 0),
        ];
        assert_eq!(places, want);
    }

    #[test]
    fn depth_first_takes_the_newest_page_first_and_its_links_as_they_stand() {
        let order = Order::Depth;
        assert!(place_of_link(order, 1, 5, 0) < place_of_link(order, 1, 4, 0));
        assert!(place_of_link(order, 9, 5, 0) < place_of_link(order, 1, 5, 1));
        assert_eq!(page_of(order, place_of_link(order, 9, 5, 0)), 5);
        assert_eq!(page_of(Order::Breadth, place_of_link(Order::Breadth, 9, 5, 0)), 5);
    }

    #[test]
    fn what_is_held_back_comes_last_and_by_the_longest_line() {
        for order in [Order::Breadth, Order::Depth, Order::Best] {
            let at = |depth, page, line| place_of_link(order, depth, page, 3).with_line(line);
            let back = at(2, 7, 4).held_back(order);
            assert!(back.is_held_back() && back.line() == 4 && page_of(order, back) == 7);
            assert!(!at(2, 7, 4).is_held_back() && page_of(order, at(2, 7, 4)) == 7);
            assert!(back > at(u16::MAX, 9, 0) && back > at(0, 0, 255));
            assert!(at(2, 7, 5).held_back(order) < back, "a longer line comes first");
            assert!(at(2, 8, 4).held_back(order) < back, "then a newer page");
            assert_eq!(back.held_back(order), back);
            assert!(at(0, 1, 0).held_back(order).is_held_back() && back < Place::LAST);
        }
        let link = place_of_link(Order::Breadth, 1, 7, 3).with_line(9);
        assert_eq!(place_of_redirect(link).line(), 9);
        assert!(link > place_of_link(Order::Breadth, 1, 7, 2).with_line(200));
        // A row that an older program queued depth-first is not one that is held back.
        assert!(!Place { order: !7, seq: 0 }.is_held_back());
        assert_eq!(page_of(Order::Depth, Place { order: !7, seq: 0 }), 7);
    }

    #[test]
    fn best_first_goes_by_score_and_what_scores_alike_in_the_order_of_discovery() {
        let half = Score::of_worth(0.5);
        assert!(place_of_score(Score::BEST, 9, 9) < place_of_score(half, 1, 0));
        assert!(place_of_score(half, 1, 7) < place_of_score(half, 2, 0));
        assert!(place_of_score(half, 2, 0) < place_of_score(half, 2, 1));
        assert_eq!(place_of_seed(Order::Best, 3, 1), place_of_score(Score::BEST, 3, 1));
        assert!(
            place_of_score(Score::WORST, 1, 0) < place_of_score(half, 1, 0).held_back(Order::Best)
        );
        assert_eq!(page_of(Order::Best, place_of_score(half, 77, 3)), 77);
    }

    #[test]
    fn a_score_is_a_number_of_halvings_or_of_equal_steps() {
        assert_eq!(Score::of_worth(1.0), Score::BEST);
        assert_eq!(Score::of_worth(7.0), Score::BEST);
        assert_eq!(Score::of_worth(0.25).level(), 2);
        assert_eq!(Score::of_worth(0.26).level(), 2);
        assert_eq!(Score::of_worth(0.25).worth(), 0.25);
        assert!(Score::of_worth(0.0) < Score::of_worth(1e-300));
        assert!(Score::of_worth(0.0) > Score::WORST && Score::of_worth(f64::NAN) <= Score::BEST);
        assert_eq!(Score::of_share(1.0), Score::BEST);
        assert_eq!(Score::of_share(0.0).level(), SHARES);
        assert_eq!(Score::of_share(f64::NAN).level(), SHARES);
        assert!(Score::of_share(0.51) > Score::of_share(0.5));
    }

    #[test]
    fn a_row_that_is_moved_keeps_all_of_its_place_but_the_score() {
        let at = |worth| place_of_score(Score::of_worth(worth), 7, 3).with_line(2);
        assert_eq!(at(0.1).moved(Score::of_worth(0.5), false), Some(at(0.5)));
        assert_eq!(at(0.1).score(), Some(Score::of_worth(0.1)));
        assert_eq!(at(0.5).moved(Score::of_worth(0.1), false), None);
        assert_eq!(at(0.5).moved(Score::of_worth(0.1), true), Some(at(0.1)));
        assert_eq!(at(0.5).moved(Score::of_worth(0.5), true), None);
        let target = place_of_redirect(at(0.1));
        assert_eq!(target.moved(Score::BEST, false), Some(place_of_redirect(at(1.0))));
        let back = at(0.1).held_back(Order::Best);
        assert_eq!((back.score(), back.moved(Score::BEST, true)), (None, None));
    }

    #[test]
    fn a_redirect_is_followed_before_the_next_link() {
        let link = place_of_link(Order::Breadth, 1, 7, 3);
        let target = place_of_redirect(link);
        assert!(link < target && target < place_of_link(Order::Breadth, 1, 7, 4));
    }
}
