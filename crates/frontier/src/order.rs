//! Places in the ready queue: which URL of a host comes first.
//!
//! A place is two numbers compared in turn. Breadth-first sorts by level, then by the running
//! number of the page that held the link; depth-first inverts that number, so that the newest
//! page's links come first. Within a page, links keep the order in which they stand. A
//! redirect's target takes the place right behind its source: it is the same visit.

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
}

/// Room between two links of a page for the targets of redirects.
const STEP: u64 = 1 << 16;
const PAGE_BITS: u32 = 48;

/// The place of the `index`-th link of the `page`-th page a crawl has read.
pub fn place_of_link(order: Order, depth: u16, page: u64, index: usize) -> Place {
    let page = page & ((1 << PAGE_BITS) - 1);
    let order = match order {
        Order::Breadth => u64::from(depth) << PAGE_BITS | page,
        Order::Depth => !page,
    };
    Place { order, seq: index as u64 * STEP }
}

/// The place of the `index`-th start URL given in the `page`-th step of a crawl.
pub fn place_of_seed(order: Order, page: u64, index: usize) -> Place {
    place_of_link(order, 0, page, index)
}

/// The number of the page, or step, that a place was given by.
pub fn page_of(order: Order, place: Place) -> u64 {
    let page = match order {
        Order::Breadth => place.order,
        Order::Depth => !place.order,
    };
    page & ((1 << PAGE_BITS) - 1)
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
    fn a_redirect_is_followed_before_the_next_link() {
        let link = place_of_link(Order::Breadth, 1, 7, 3);
        let target = place_of_redirect(link);
        assert!(link < target && target < place_of_link(Order::Breadth, 1, 7, 4));
    }
}
