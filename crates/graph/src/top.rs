//! What is linked most.
//!
//! Each run lists its popular targets. A target in none of the lists has few back-links, and what
//! a list says is the most there can be of its run: so the best are among those of which most is
//! said, and looking closely at a few of these is enough. Where that does not settle it (the
//! graph is small, or nearly all of it is asked for), every target is looked at.

use crate::error::GraphError;
use crate::merge::{Counts, Layer, Merged};
use crate::run::{POPULAR, Popular};
use argiope_model::UrlKey;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Candidates kept for each URL wanted.
const CANDIDATES: usize = 32;
/// Candidates kept at least.
const FEW: usize = 4_096;

/// By what the most linked URLs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Pages that link there.
    Backlinks,
    /// Sites that link there.
    Sites,
}

/// What a target is ordered by: the number asked for, then the other one.
type Rank = (u64, u64);

impl By {
    fn rank(self, Counts { backlinks, sites }: Counts) -> Rank {
        match self {
            By::Backlinks => (backlinks, sites),
            By::Sites => (sites, backlinks),
        }
    }
}

/// The best of those seen: the larger numbers first, then the smaller key.
struct Best {
    heap: BinaryHeap<Reverse<(Rank, Reverse<UrlKey>)>>,
    limit: usize,
}

impl Best {
    fn new(limit: usize) -> Self {
        Best { heap: BinaryHeap::new(), limit }
    }

    fn add(&mut self, n: Rank, key: UrlKey) {
        if n.0 > 0 && self.least().is_none_or(|least| n >= least) {
            self.heap.push(Reverse((n, Reverse(key))));
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
    }

    /// The least that is in, once nothing more fits.
    fn least(&self) -> Option<Rank> {
        let full = self.heap.len() >= self.limit;
        self.heap.peek().filter(|_| full).map(|Reverse((n, _))| *n)
    }

    fn sorted(self) -> impl Iterator<Item = (Rank, UrlKey)> {
        let all = self.heap.into_sorted_vec().into_iter();
        all.map(|Reverse((n, Reverse(key)))| (n, key))
    }
}

fn exact(layers: &[Layer], by: By, key: UrlKey) -> Result<Rank, GraphError> {
    let mut merged = Merged::seek(layers, key)?;
    if merged.target() != Some(key) {
        return Ok((0, 0));
    }
    Ok(by.rank(merged.counts()?))
}

/// The best, by the lists of popular targets; `None` where these do not settle it. None is linked
/// to by more than `sites` sites.
pub(crate) fn popular(
    layers: &[Layer],
    by: By,
    limit: usize,
    sites: u64,
) -> Result<Option<Vec<UrlKey>>, GraphError> {
    // What a run can hold of a target that is not in its list.
    let unlisted = POPULAR - 1;
    let mut lists: Vec<Popular> = layers.iter().map(|l| Popular::first(l.run.clone())).collect();
    let mut heads = lists.iter_mut().map(Popular::read).collect::<Result<Vec<_>, _>>()?;
    let mut candidates = Best::new(limit.saturating_mul(CANDIDATES).max(FEW));
    let rank = |most: Counts| by.rank(Counts { sites: most.sites.min(sites), ..most });
    while let Some(key) = heads.iter().flatten().map(|(key, ..)| *key).min() {
        let mut most = Counts::default();
        for (head, list) in heads.iter_mut().zip(&mut lists) {
            match *head {
                Some((k, backlinks, sites)) if k == key => {
                    most.backlinks += backlinks;
                    most.sites += sites;
                    *head = list.read()?;
                }
                _ => {
                    most.backlinks += unlisted;
                    most.sites += unlisted;
                }
            }
        }
        candidates.add(rank(most), key);
    }
    // Nothing that is not among the candidates has more than this.
    let nowhere = unlisted * layers.len() as u64;
    let nowhere = rank(Counts { backlinks: nowhere, sites: nowhere });
    let others = candidates.least().map_or(nowhere, |least| least.max(nowhere));
    let mut best = Best::new(limit);
    for (most, key) in candidates.sorted() {
        // One with the same number and a smaller key would still come in.
        if best.least().is_some_and(|least| most < least) {
            break;
        }
        best.add(exact(layers, by, key)?, key);
    }
    let settled = limit == 0 || best.least().is_some_and(|least| least > others);
    Ok(settled.then(|| best.sorted().map(|(_, key)| key).collect()))
}

/// The best, by looking at every target.
pub(crate) fn all(layers: &[Layer], by: By, limit: usize) -> Result<Vec<UrlKey>, GraphError> {
    let mut best = Best::new(limit);
    let mut merged = Merged::first(layers)?;
    while let Some(key) = merged.target() {
        // Keys come in order: later ones lose where they are equal.
        let least = best.least().unwrap_or((0, 0));
        if merged.bound().is_some_and(|most| by.rank(most) <= least) {
            merged.pass()?;
            continue;
        }
        best.add(by.rank(merged.counts()?), key);
    }
    Ok(best.sorted().map(|(_, key)| key).collect())
}
