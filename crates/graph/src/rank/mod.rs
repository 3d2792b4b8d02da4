//! Rank: how much the links of all pages say of each of them, and of each site.
//!
//! * What this is: PageRank (`pagerank`) and harmonic centrality (`harmonic`) over the
//!   whole link graph, made by [`make`] from a [`View`](crate::View) and a store, kept in a file of
//!   its own beside the runs ([`Ranks`]).
//! * Its place: asked for, never in the way: nothing here is read or written while pages are
//!   crawled or indexed, and a new rank rewrites no document.
//! * The graph: a node for each URL that the store has a row for, fetched or not; an edge where
//!   the latest capture of one links to another by what counts as a back-link, once however many
//!   links there are, `nofollow` and links to itself included. These are the nodes and edges of
//!   `export graph`. Of sites: an edge where a page of one links to a page of another.
//! * Form: every list of who links to a URL, as steps between numbers of seven bits a byte, in a
//!   file that is read from start to end once a round ([`Lists`]). In memory are a few numbers a
//!   node.
//! * Invariants: both measures ask only who links *to* a node, so that one direction is enough and
//!   it is the one the runs have. Every file has a version and checksums, takes its name when it is
//!   whole, and can be made again.
//! * What is not here: what a search makes of a rank (`index`).

mod file;
mod harmonic;
mod lists;
mod make;
mod pagerank;

pub use file::{Ranks, RanksAbout};
pub use harmonic::{ABOUT_MOST, EXACT_WORK, about, exact};
pub use lists::{InLists, ListWriter, Lists};
pub(crate) use make::site_id;
pub use make::{RankOrder, Web, make, solve};
pub use pagerank::{DAMPING, Solved, TOLERANCE, pagerank};

use serde::{Deserialize, Serialize};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// The share of time that one who follows links at random, and now and then begins anywhere,
    /// spends there; all shares add up to one.
    PageRank,
    /// How near it is to all that lead there: the sum of one over the distance.
    Harmonic,
}

/// Of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Of {
    /// Of URLs, by their document numbers.
    Pages,
    /// Of sites.
    Sites,
}

/// The name of the file that holds one.
pub(crate) fn file_name(measure: Measure, of: Of) -> &'static str {
    match (measure, of) {
        (Measure::PageRank, Of::Pages) => "pages-pagerank.rank",
        (Measure::PageRank, Of::Sites) => "sites-pagerank.rank",
        (Measure::Harmonic, Of::Pages) => "pages-harmonic.rank",
        (Measure::Harmonic, Of::Sites) => "sites-harmonic.rank",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::lists::InLists;
    use std::collections::BTreeSet;
    use std::io;

    /// A graph in memory, for tests.
    pub struct Small {
        pub nodes: u32,
        pub edges: BTreeSet<(u32, u32)>,
    }

    impl Small {
        /// Makes one from pairs of source and target.
        pub fn new(nodes: u32, edges: impl IntoIterator<Item = (u32, u32)>) -> Self {
            Small { nodes, edges: edges.into_iter().collect() }
        }

        /// How many others each node links to.
        pub fn out(&self) -> Vec<u32> {
            let mut out = vec![0; self.nodes as usize];
            self.edges.iter().for_each(|(from, _)| out[*from as usize] += 1);
            out
        }

        /// A graph from a seed: some nodes without links, some linked to by many.
        pub fn random(nodes: u32, degree: u32, seed: u64) -> Self {
            let mut state = seed | 1;
            let mut roll = |n: u32| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                ((state >> 33) % u64::from(n)) as u32
            };
            let mut edges = BTreeSet::new();
            for from in 0..nodes {
                if roll(5) == 0 {
                    continue;
                }
                for _ in 0..=roll(2 * degree) {
                    let to = roll(nodes);
                    edges.insert((from, if roll(3) == 0 { to } else { roll(to + 1) }));
                }
            }
            Small { nodes, edges }
        }
    }

    impl InLists for Small {
        fn each(&self, take: &mut dyn FnMut(u32, &[u32])) -> io::Result<()> {
            for node in 0..self.nodes {
                let all = self.edges.iter().filter(|(_, to)| *to == node);
                let sources: Vec<u32> = all.map(|(from, _)| *from).collect();
                if !sources.is_empty() {
                    take(node, &sources);
                }
            }
            Ok(())
        }
    }
}
