//! The truth: every URL a crawler can come to, and how far away it is.
//!
//! Computed by walking the structure, never the HTML. Places that a crawler should not enter
//! (forbidden by `robots.txt`) or that hold no links (files, nothing) are listed but not walked
//! through.

use crate::place::Place;
use crate::web::Web;
use std::collections::{HashMap, VecDeque};

/// What is found at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An HTML page at its canonical address.
    Page,
    /// The same HTML as a page, at a second address with a query string.
    Variant,
    /// A redirect.
    Redirect,
    /// A file that is not HTML.
    File,
    /// Nothing: 404.
    Missing,
    /// A page that `robots.txt` forbids.
    Forbidden,
}

/// One URL that can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The site it belongs to.
    pub site: usize,
    /// Path and query.
    pub path: String,
    /// What is found there.
    pub kind: Kind,
    /// The fewest links from a start, following redirects for free.
    pub depth: u32,
    /// The fewest steps from a start, counting redirects like links.
    pub steps: u32,
}

impl Web {
    /// Every HTML page of a site that can be reached from its `/` without leaving the site:
    /// [`Kind::Page`] and [`Kind::Variant`], nearest first.
    pub fn expected_pages(&self, site: usize) -> Vec<Expected> {
        let mut found = self.expected_urls(site);
        found.retain(|url| matches!(url.kind, Kind::Page | Kind::Variant));
        found
    }

    /// Every URL of a site that can be reached from its `/` without leaving the site, of every
    /// kind, nearest first.
    pub fn expected_urls(&self, site: usize) -> Vec<Expected> {
        self.expect(&[site], true)
    }

    /// Every URL of every site that can be reached from the front pages of `starts`, following
    /// links between sites, nearest first.
    pub fn expected_crawl(&self, starts: &[usize]) -> Vec<Expected> {
        self.expect(starts, false)
    }

    fn expect(&self, starts: &[usize], stay: bool) -> Vec<Expected> {
        let steps = self.distances(starts, stay, 1);
        let mut found: Vec<Expected> = self
            .distances(starts, stay, 0)
            .into_iter()
            .map(|((site, place), depth)| Expected {
                site,
                path: self.path(site, place),
                kind: kind(place),
                depth,
                steps: steps[&(site, place)],
            })
            .collect();
        found.sort_by(|a, b| (a.depth, a.site, &a.path).cmp(&(b.depth, b.site, &b.path)));
        found
    }

    /// Fewest steps to every place, where a redirect counts `redirect` (nought or one).
    fn distances(
        &self,
        starts: &[usize],
        stay: bool,
        redirect: u32,
    ) -> HashMap<(usize, Place), u32> {
        let mut nearest = HashMap::new();
        let mut open: VecDeque<_> = starts
            .iter()
            .filter(|&&site| site < self.spec().sites)
            .map(|&site| (site, Place::Page(0), 0))
            .collect();
        while let Some((site, place, distance)) = open.pop_front() {
            // The queue is in order of distance, so the first arrival is the nearest.
            if nearest.contains_key(&(site, place)) {
                continue;
            }
            nearest.insert((site, place), distance);
            match place {
                Place::Page(page) | Place::Variant(page) => {
                    for edge in self.edges(site, page) {
                        if !(stay && edge.site != site) {
                            open.push_back((edge.site, edge.place, distance + 1));
                        }
                    }
                }
                Place::Moved { page, hops } => {
                    let next = (site, Web::hop(page, hops), distance + redirect);
                    if redirect == 0 { open.push_front(next) } else { open.push_back(next) }
                }
                Place::File(_) | Place::Private(_) | Place::Lost(_) => {}
            }
        }
        nearest
    }
}

fn kind(place: Place) -> Kind {
    match place {
        Place::Page(_) => Kind::Page,
        Place::Variant(_) => Kind::Variant,
        Place::Moved { .. } => Kind::Redirect,
        Place::File(_) => Kind::File,
        Place::Private(_) => Kind::Forbidden,
        Place::Lost(_) => Kind::Missing,
    }
}
