//! The structure: which places a page points to, and by which element.
//!
//! Pages of a site form a tree (page `p` has the children `k·p+1 ..= k·p+k`), which makes every
//! page reachable; further links are drawn at random on top. This is the truth that the HTML
//! repeats and that `truth` walks. How a link is spelt (relative, absolute, quoted …) is not
//! decided here but in `href`.

use crate::draw::{Draw, Stream};
use crate::place::{MAX_HOPS, Place};
use crate::web::Web;

/// The element that holds a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Anchor,
    Area,
    Iframe,
    Frame,
    Refresh,
}

/// One link of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) site: usize,
    pub(crate) place: Place,
    pub(crate) how: How,
    /// The words of a navigation link; other links carry the title of their target.
    pub(crate) label: Option<&'static str>,
}

/// The build of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Navigation, text, links.
    Ordinary,
    /// The same, with a `<base>` that its relative links are relative to.
    Based,
    /// The same, with a meta refresh to its first child.
    Refreshing,
    /// Nothing but frames, one for each child.
    Frameset,
}

impl Web {
    fn fan_out(&self) -> usize {
        (self.spec().links_per_page / 3).clamp(1, 12)
    }

    /// The page above a page in the tree.
    pub(crate) fn parent(&self, page: usize) -> Option<usize> {
        (page > 0).then(|| (page - 1) / self.fan_out())
    }

    /// The pages below a page in the tree.
    pub(crate) fn children(&self, page: usize) -> std::ops::Range<usize> {
        let first = page.saturating_mul(self.fan_out()).saturating_add(1);
        let end = self.spec().pages_per_site;
        first.min(end)..first.saturating_add(self.fan_out()).min(end)
    }

    /// The neighbour of a page under the same parent, one step on.
    pub(crate) fn next(&self, page: usize) -> Option<usize> {
        let next = page + 1;
        (page > 0 && next < self.spec().pages_per_site && self.parent(next) == self.parent(page))
            .then_some(next)
    }

    /// The neighbour of a page under the same parent, one step back.
    pub(crate) fn previous(&self, page: usize) -> Option<usize> {
        (page > 1 && self.parent(page - 1) == self.parent(page)).then(|| page - 1)
    }

    /// How a page is built.
    pub(crate) fn layout(&self, site: usize, page: usize) -> Layout {
        if page == 0 || self.spec().plain {
            return Layout::Ordinary;
        }
        let is_leaf = self.children(page).is_empty();
        match Draw::new(self.spec().seed, site, page, Stream::Layout).below(100) {
            0..10 => Layout::Based,
            10..18 if !is_leaf => Layout::Refreshing,
            18..26 if !is_leaf => Layout::Frameset,
            _ => Layout::Ordinary,
        }
    }

    /// Every link of a page that leads somewhere, in the order of importance.
    pub(crate) fn edges(&self, site: usize, page: usize) -> Vec<Edge> {
        let spec = self.spec();
        let layout = self.layout(site, page);
        let mut draw = Draw::new(spec.seed, site, page, Stream::Links);
        let mut edges = Vec::with_capacity(spec.links_per_page + spec.cross_site_links + 4);
        let link = |place, how| Edge { site, place, how, label: None };

        let children = self.children(page);
        for child in children.clone() {
            let how = match layout {
                Layout::Frameset => How::Frame,
                Layout::Refreshing if child == children.start => How::Refresh,
                _ if spec.plain => How::Anchor,
                _ => match draw.below(24) {
                    0 | 1 => How::Area,
                    2 => How::Iframe,
                    _ => How::Anchor,
                },
            };
            edges.push(link(self.perhaps_moved(&mut draw, child), how));
        }
        if layout == Layout::Frameset {
            return edges;
        }

        let navigation = [
            ("Home", (page > 0).then_some(0)),
            ("Up", self.parent(page)),
            ("Previous", self.previous(page)),
            ("Next", self.next(page)),
        ];
        for (label, target) in navigation {
            if let Some(target) = target {
                let edge = link(Place::Page(target), How::Anchor);
                edges.push(Edge { label: Some(label), ..edge });
            }
        }
        for _ in children.len()..spec.links_per_page {
            let number = draw.below(spec.pages_per_site);
            let place = if draw.per_mille(spec.broken_per_mille) {
                Place::Lost(number)
            } else if draw.per_mille(spec.files_per_mille) {
                Place::File(number)
            } else if !spec.plain && draw.per_mille(15) {
                Place::Private(number)
            } else if !spec.plain && draw.per_mille(25) {
                Place::Variant(number)
            } else {
                // Half of the links prefer pages near the front, so that some pages are popular.
                let number = if draw.below(2) == 0 { draw.below(number + 1) } else { number };
                self.perhaps_moved(&mut draw, number)
            };
            edges.push(link(place, How::Anchor));
        }
        if spec.sites > 1 {
            for _ in 0..spec.cross_site_links {
                let other = (site + 1 + draw.below(spec.sites - 1)) % spec.sites;
                let front = draw.below(2) == 0;
                let number = if front { 0 } else { draw.below(spec.pages_per_site) };
                edges.push(Edge { site: other, ..link(Place::Page(number), How::Anchor) });
            }
        }
        edges
    }

    fn perhaps_moved(&self, draw: &mut Draw, page: usize) -> Place {
        if draw.per_mille(self.spec().redirects_per_mille) {
            Place::Moved { page, hops: 1 + draw.below(MAX_HOPS) }
        } else {
            Place::Page(page)
        }
    }

    /// Where a redirect leads next.
    pub(crate) fn hop(page: usize, hops: usize) -> Place {
        if hops > 1 { Place::Moved { page, hops: hops - 1 } } else { Place::Page(page) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebSpec;

    #[test]
    fn every_page_but_the_front_is_the_child_of_its_parent() {
        let web = Web::new(WebSpec::demo());
        assert_eq!(web.parent(0), None);
        for page in 1..web.spec().pages_per_site {
            let parent = web.parent(page).expect("only the front page has none");
            assert!(parent < page && web.children(parent).contains(&page));
        }
    }

    #[test]
    fn the_smallest_web_has_one_page_and_no_neighbours() {
        let web = Web::new(WebSpec { sites: 0, pages_per_site: 0, ..WebSpec::demo() });
        assert!(web.children(0).is_empty());
        assert!(web.edges(0, 0).iter().all(|edge| edge.site == 0));
    }
}
