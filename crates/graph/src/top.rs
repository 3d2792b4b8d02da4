//! What is linked most.
//!
//! Each run lists its popular targets. A target in none of the lists has few back-links, and what
//! a list says is the most there can be of its run: so the best are among those of which most is
//! said, and looking closely at a few of these is enough. Where that does not settle it (the
//! graph is small, or nearly all of it is asked for), every target is looked at.

use crate::error::GraphError;
use crate::merge::{Layer, Merged};
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

/// The best of those seen: the larger number first, then the smaller key.
struct Best {
    heap: BinaryHeap<Reverse<(u64, Reverse<UrlKey>)>>,
    limit: usize,
}

impl Best {
    fn new(limit: usize) -> Self {
        Best { heap: BinaryHeap::new(), limit }
    }

    fn add(&mut self, n: u64, key: UrlKey) {
        if n > 0 && self.least().is_none_or(|least| n >= least) {
            self.heap.push(Reverse((n, Reverse(key))));
            if self.heap.len() > self.limit {
                self.heap.pop();
            }
        }
    }

    /// The least number that is in, once nothing more fits.
    fn least(&self) -> Option<u64> {
        let full = self.heap.len() >= self.limit;
        self.heap.peek().filter(|_| full).map(|Reverse((n, _))| *n)
    }

    fn sorted(self) -> impl Iterator<Item = (u64, UrlKey)> {
        let all = self.heap.into_sorted_vec().into_iter();
        all.map(|Reverse((n, Reverse(key)))| (n, key))
    }
}

fn exact(layers: &[Layer], by: By, key: UrlKey) -> Result<u64, GraphError> {
    let mut merged = Merged::seek(layers, key)?;
    if merged.target() != Some(key) {
        return Ok(0);
    }
    let counts = merged.counts(by == By::Sites)?;
    Ok(if by == By::Sites { counts.sites } else { counts.backlinks })
}

/// The best, by the lists of popular targets; `None` where these do not settle it. None has more
/// than `ceiling`.
pub(crate) fn popular(
    layers: &[Layer],
    by: By,
    limit: usize,
    ceiling: u64,
) -> Result<Option<Vec<UrlKey>>, GraphError> {
    // What a run can hold of a target that is not in its list.
    let unlisted = POPULAR - 1;
    let mut lists: Vec<Popular> = layers.iter().map(|l| Popular::first(l.run.clone())).collect();
    let mut heads = lists.iter_mut().map(Popular::read).collect::<Result<Vec<_>, _>>()?;
    let mut candidates = Best::new(limit.saturating_mul(CANDIDATES).max(FEW));
    while let Some(key) = heads.iter().flatten().map(|(key, ..)| *key).min() {
        let mut most = 0;
        for (head, list) in heads.iter_mut().zip(&mut lists) {
            match *head {
                Some((k, count, sites)) if k == key => {
                    most += if by == By::Sites { sites } else { count };
                    *head = list.read()?;
                }
                _ => most += unlisted,
            }
        }
        candidates.add(most.min(ceiling), key);
    }
    // Nothing that is not among the candidates has more than this.
    let others = candidates.least().unwrap_or(0).max(unlisted * layers.len() as u64);
    let mut best = Best::new(limit);
    for (most, key) in candidates.sorted() {
        // One with the same number and a smaller key would still come in.
        if best.least().is_some_and(|least| most < least) {
            break;
        }
        if best.least().is_some_and(|least| least >= ceiling) {
            // Nothing is better; the smallest keys of those as good are found by passing all.
            return Ok(None);
        }
        best.add(exact(layers, by, key)?, key);
    }
    let settled = limit == 0 || best.least().is_some_and(|least| least > others);
    Ok(settled.then(|| best.sorted().map(|(_, key)| key).collect()))
}

/// The best, by looking at every target until no better one can come.
pub(crate) fn all(
    layers: &[Layer],
    by: By,
    limit: usize,
    ceiling: u64,
) -> Result<Vec<UrlKey>, GraphError> {
    let mut best = Best::new(limit);
    let mut merged = Merged::first(layers)?;
    while let Some(key) = merged.target() {
        // Keys come in order: later ones lose where they are equal.
        let least = best.least().unwrap_or(0);
        if least >= ceiling {
            break;
        }
        if merged.bound(by == By::Sites).is_some_and(|most| most <= least) {
            merged.pass()?;
            continue;
        }
        let counts = merged.counts(by == By::Sites)?;
        best.add(if by == By::Sites { counts.sites } else { counts.backlinks }, key);
    }
    Ok(best.sorted().map(|(_, key)| key).collect())
}
