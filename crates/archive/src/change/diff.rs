//! The difference of two sequences of numbers, in bounded time.
//!
//! * What this is: Myers' difference in linear space. Where two sequences have too little in common
//!   for it, what occurs once in both is matched first (patience), and what lies between is compared
//!   again; where even that fails, the rest counts as replaced.
//! * Invariants: the result is always a correct difference, only not always the smallest; the work
//!   is bounded whatever the sequences are; memory grows with their length.
//! * What is not here: what the numbers stand for (`words`, lines in `judge`).

use std::collections::HashMap;
use std::ops::Range;

/// A place where two sequences differ: what is gone and what has come, at least one not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// Edits that Myers' search goes through in one piece before anchors are looked for.
const MAX_EDITS: usize = 3000;
/// Steps of the search in all.
const MAX_WORK: u64 = 60_000_000;
/// How deep anchors lie within anchors.
const MAX_DEPTH: u32 = 12;

/// Where two sequences differ, in order.
pub(crate) fn hunks(old: &[u32], new: &[u32]) -> Vec<Hunk> {
    let mut work = Work {
        gone: vec![false; old.len()],
        come: vec![false; new.len()],
        left: MAX_WORK,
        forward: Vec::new(),
        backward: Vec::new(),
    };
    work.compare(old, new, 0..old.len(), 0..new.len(), 0);
    let Work { gone, come, .. } = work;
    let (mut x, mut y, mut out) = (0, 0, Vec::new());
    while x < gone.len() || y < come.len() {
        let (x0, y0) = (x, y);
        while x < gone.len() && gone[x] {
            x += 1;
        }
        while y < come.len() && come[y] {
            y += 1;
        }
        if x > x0 || y > y0 {
            out.push(Hunk { old: x0..x, new: y0..y });
        } else {
            x += 1;
            y += 1;
        }
    }
    out
}

struct Work {
    gone: Vec<bool>,
    come: Vec<bool>,
    left: u64,
    forward: Vec<usize>,
    backward: Vec<usize>,
}

impl Work {
    fn compare(
        &mut self,
        a: &[u32],
        b: &[u32],
        mut old: Range<usize>,
        mut new: Range<usize>,
        depth: u32,
    ) {
        while !old.is_empty() && !new.is_empty() && a[old.start] == b[new.start] {
            (old.start, new.start) = (old.start + 1, new.start + 1);
        }
        while !old.is_empty() && !new.is_empty() && a[old.end - 1] == b[new.end - 1] {
            (old.end, new.end) = (old.end - 1, new.end - 1);
        }
        if old.is_empty() || new.is_empty() {
            return self.replaced(old, new);
        }
        let (n, m) = (old.len(), new.len());
        match self.middle(&a[old.clone()], &b[new.clone()]) {
            // A split at a corner would not make the pieces smaller.
            Some((x, y)) if x <= n && y <= m && (x, y) != (0, 0) && (x, y) != (n, m) => {
                let (x, y) = (old.start + x, new.start + y);
                self.compare(a, b, old.start..x, new.start..y, depth);
                self.compare(a, b, x..old.end, y..new.end, depth);
            }
            _ => self.by_anchors(a, b, old, new, depth),
        }
    }

    fn replaced(&mut self, old: Range<usize>, new: Range<usize>) {
        self.gone[old].fill(true);
        self.come[new].fill(true);
    }

    /// A point in the middle of a shortest way from one sequence to the other; `None` if it is
    /// longer than we care to search.
    fn middle(&mut self, a: &[u32], b: &[u32]) -> Option<(usize, usize)> {
        let (n, m) = (a.len(), b.len());
        let delta = n as isize - m as isize;
        let odd = delta & 1 != 0;
        let most = (n + m).div_ceil(2).min(MAX_EDITS);
        let offset = most as isize + 2;
        let room = 2 * most + 5;
        for side in [&mut self.forward, &mut self.backward] {
            side.clear();
            side.resize(room, 0);
        }
        let at = |k: isize| (k + offset) as usize;
        for d in 0..=most as isize {
            if self.left == 0 {
                return None;
            }
            self.left = self.left.saturating_sub(2 * d as u64 + 1);
            for k in (-d..=d).step_by(2) {
                let v = &mut self.forward;
                let down = k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]);
                let begin = if down { v[at(k + 1)] } else { v[at(k - 1)] + 1 };
                let mut x = begin;
                let Ok(mut y) = usize::try_from(x as isize - k) else { continue };
                let first = (x, y);
                while x < n && y < m && a[x] == b[y] {
                    (x, y) = (x + 1, y + 1);
                }
                self.left = self.left.saturating_sub((x - begin) as u64);
                v[at(k)] = x;
                if odd && (k - delta).abs() < d && x + self.backward[at(delta - k)] >= n {
                    return Some(first);
                }
            }
            for k in (-d..=d).step_by(2) {
                let v = &mut self.backward;
                let down = k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)]);
                let begin = if down { v[at(k + 1)] } else { v[at(k - 1)] + 1 };
                let mut x = begin;
                let Ok(mut y) = usize::try_from(x as isize - k) else { continue };
                while x < n && y < m && a[n - 1 - x] == b[m - 1 - y] {
                    (x, y) = (x + 1, y + 1);
                }
                self.left = self.left.saturating_sub((x - begin) as u64);
                v[at(k)] = x;
                if !odd && (k - delta).abs() <= d && x + self.forward[at(delta - k)] >= n {
                    return Some((n.checked_sub(x)?, m.checked_sub(y)?));
                }
            }
        }
        None
    }

    /// Matches what stands once on both sides, and compares what lies between.
    fn by_anchors(
        &mut self,
        a: &[u32],
        b: &[u32],
        old: Range<usize>,
        new: Range<usize>,
        depth: u32,
    ) {
        let anchors = match depth < MAX_DEPTH && self.left > 0 {
            true => anchors(a, b, &old, &new),
            false => Vec::new(),
        };
        if anchors.is_empty() {
            return self.replaced(old, new);
        }
        self.left = self.left.saturating_sub((old.len() + new.len()) as u64);
        let (mut x0, mut y0) = (old.start, new.start);
        for (x, y) in anchors {
            self.compare(a, b, x0..x, y0..y, depth + 1);
            (x0, y0) = (x + 1, y + 1);
        }
        self.compare(a, b, x0..old.end, y0..new.end, depth + 1);
    }
}

/// The longest row of pairs that stand once on both sides and in the same order on both.
fn anchors(a: &[u32], b: &[u32], old: &Range<usize>, new: &Range<usize>) -> Vec<(usize, usize)> {
    // How often it stands there and here, and where.
    let mut seen: HashMap<u32, (u32, u32, usize)> = HashMap::new();
    for token in &a[old.clone()] {
        seen.entry(*token).or_default().0 += 1;
    }
    for y in new.clone() {
        if let Some((_, here, at)) = seen.get_mut(&b[y]) {
            (*here, *at) = (*here + 1, y);
        }
    }
    let pairs = old.clone().filter_map(|x| match seen.get(&a[x]) {
        Some((1, 1, y)) => Some((x, *y)),
        _ => None,
    });
    let pairs: Vec<(usize, usize)> = pairs.collect();
    // Ends of the best rows of every length so far, and who stands before each pair.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (n, (_, y)) in pairs.iter().enumerate() {
        let at = ends.partition_point(|end| pairs[*end].1 < *y);
        before.push(at.checked_sub(1).map(|last| ends[last]));
        match ends.get_mut(at) {
            Some(end) => *end = n,
            None => ends.push(n),
        }
    }
    let mut row = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(n) = next {
        row.push(pairs[n]);
        next = before[n];
    }
    row.reverse();
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether leaving the hunks out gives the same on both sides.
    fn is_right(old: &[u32], new: &[u32], found: &[Hunk]) -> bool {
        let (mut a, mut b) = (old.to_vec(), new.to_vec());
        for hunk in found.iter().rev() {
            a.drain(hunk.old.clone());
            b.drain(hunk.new.clone());
        }
        a == b && found.iter().all(|h| !h.old.is_empty() || !h.new.is_empty())
    }

    fn size(found: &[Hunk]) -> usize {
        found.iter().map(|h| h.old.len() + h.new.len()).sum()
    }

    /// The smallest difference, by the table that everybody knows.
    fn smallest(a: &[u32], b: &[u32]) -> usize {
        let mut row: Vec<usize> = vec![0; b.len() + 1];
        for x in a {
            let mut corner = 0;
            for (y, z) in b.iter().enumerate() {
                let above = row[y + 1];
                row[y + 1] = if x == z { corner + 1 } else { above.max(row[y]) };
                corner = above;
            }
        }
        a.len() + b.len() - 2 * row[b.len()]
    }

    proptest! {
        #[test]
        fn a_difference_is_right_and_smallest(
            a in proptest::collection::vec(0u32..4, 0..40),
            b in proptest::collection::vec(0u32..4, 0..40),
        ) {
            let found = hunks(&a, &b);
            prop_assert!(is_right(&a, &b, &found));
            prop_assert_eq!(size(&found), smallest(&a, &b));
        }

        #[test]
        fn an_edited_sequence_is_found_again(
            a in proptest::collection::vec(0u32..1000, 0..300),
            cut in 0usize..300, length in 0usize..20, put in proptest::collection::vec(0u32..1000, 0..20),
        ) {
            let begin = cut.min(a.len());
            let end = (begin + length).min(a.len());
            let mut b = a.clone();
            b.splice(begin..end, put.iter().copied());
            let found = hunks(&a, &b);
            prop_assert!(is_right(&a, &b, &found));
            prop_assert!(size(&found) <= end - begin + put.len());
        }
    }

    #[test]
    fn a_hundred_thousand_words_that_have_little_in_common_take_no_longer_than_we_care_for() {
        let many = |step: u32| -> Vec<u32> {
            let mut x = step;
            let mut next = move |_| {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                x >> 22
            };
            (0..100_000).map(&mut next).collect()
        };
        let (a, b) = (many(1), many(2));
        assert!(is_right(&a, &b, &hunks(&a, &b)));
        // What is unlike everywhere but for a few rare words is held together by these.
        let rare =
            |words: &mut Vec<u32>| (1..50).for_each(|n| words[n * 2000] = 1_000_000 + n as u32);
        let (mut a, mut b) = (a, b);
        rare(&mut a);
        rare(&mut b);
        let found = hunks(&a, &b);
        assert!(is_right(&a, &b, &found) && found.len() >= 50, "{}", found.len());
    }
}
