//! Harmonic centrality: how near a node is to all that lead there.
//!
//! It is the sum of `1/d(u, v)` over all other nodes `u` from which `v` can be reached. Of a small
//! graph it is told exactly, by a walk from every node. Of a large one by HyperBall (Boldi and
//! Vigna, 2013): every node has a HyperLogLog counter of the nodes within `t` steps, and that within
//! `t+1` is the union of those of all that link there. Counters are about right; how much so, the
//! number of their registers says.

use super::lists::InLists;
use std::io;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Steps of walks, nodes times links, up to which it is told exactly.
pub const EXACT_WORK: u64 = 1_000_000_000;
/// Bytes that counters may take, at the most.
pub const ABOUT_MOST: u64 = 1 << 30;
/// Registers of a counter, as powers of two.
const REGISTERS: std::ops::RangeInclusive<u32> = 4..=8;
/// Steps that are looked at; what is further away would count less than a two hundred and fiftieth.
const MOST_STEPS: u32 = 256;

/// Exactly.
pub fn exact(lists: &impl InLists, nodes: u32) -> io::Result<Vec<f64>> {
    let mut starts: Vec<(usize, usize)> = vec![(0, 0); nodes as usize];
    let mut all: Vec<u32> = Vec::new();
    lists.each(&mut |node, sources| {
        starts[node as usize] = (all.len(), all.len() + sources.len());
        all.extend_from_slice(sources);
    })?;
    let mut met = vec![u32::MAX; nodes as usize];
    let mut queue: Vec<u32> = Vec::new();
    let walk = |node: u32| {
        queue.clear();
        queue.push(node);
        met[node as usize] = node;
        let (mut at, mut distance, mut sum) = (0, 1u32, 0.0);
        while at < queue.len() {
            let end = queue.len();
            for n in at..end {
                let (from, to) = starts[queue[n] as usize];
                for &source in &all[from..to] {
                    if met[source as usize] != node {
                        met[source as usize] = node;
                        queue.push(source);
                    }
                }
            }
            sum += (queue.len() - end) as f64 / f64::from(distance);
            distance += 1;
            at = end;
        }
        sum
    };
    Ok((0..nodes).map(walk).collect())
}

/// About: with counters that take at most so many bytes together. Also told is the standard error
/// of one counter.
pub fn about(lists: &impl InLists, nodes: u32, memory: u64) -> io::Result<(Vec<f64>, f64)> {
    let room = memory / (2 * u64::from(nodes.max(1)));
    let bits = room.max(1).ilog2().clamp(*REGISTERS.start(), *REGISTERS.end());
    let registers = 1usize << bits;
    let mut old = vec![0u8; nodes as usize * registers];
    for node in 0..nodes {
        let hash = xxh3_64_with_seed(&node.to_le_bytes(), 0x5eed);
        let register = (hash >> (64 - bits)) as usize;
        // The longest run of zeros is bounded by the bits that are left.
        let rest = (hash << bits | 1 << (bits - 1)).leading_zeros() + 1;
        old[node as usize * registers + register] = rest as u8;
    }
    let mut new = old.clone();
    let powers: [f64; 66] = std::array::from_fn(|n| 0.5f64.powi(n as i32));
    let mut sizes = vec![1.0f32; nodes as usize];
    let mut sums = vec![0.0f64; nodes as usize];
    let (mut moved, mut moves) = (vec![true; nodes as usize], vec![false; nodes as usize]);
    for step in 1..=MOST_STEPS {
        moves.fill(false);
        let mut any = false;
        lists.each(&mut |node, sources| {
            let node = node as usize;
            let news = moved[node] || sources.iter().any(|source| moved[*source as usize]);
            if !news {
                return;
            }
            let place = node * registers..(node + 1) * registers;
            let (was, now) = (&old[place.clone()], &mut new[place]);
            now.copy_from_slice(was);
            for source in sources {
                let from = *source as usize * registers;
                let theirs = &old[from..from + registers];
                now.iter_mut().zip(theirs).for_each(|(a, b)| *a = (*a).max(*b));
            }
            if now != was {
                (moves[node], any) = (true, true);
                let size = estimate(now, &powers);
                let more = size - f64::from(sizes[node]);
                if more > 0.0 {
                    sums[node] += more / f64::from(step);
                    sizes[node] = size as f32;
                }
            }
        })?;
        std::mem::swap(&mut old, &mut new);
        std::mem::swap(&mut moved, &mut moves);
        if !any {
            break;
        }
    }
    Ok((sums, 1.04 / (registers as f64).sqrt()))
}

/// How many were counted.
fn estimate(registers: &[u8], powers: &[f64; 66]) -> f64 {
    let m = registers.len() as f64;
    let alpha = match registers.len() {
        16 => 0.673,
        32 => 0.697,
        64 => 0.709,
        _ => 0.7213 / (1.0 + 1.079 / m),
    };
    let sum: f64 = registers.iter().map(|r| powers[usize::from(*r)]).sum();
    let raw = alpha * m * m / sum;
    let empty = registers.iter().filter(|r| **r == 0).count() as f64;
    if raw <= 2.5 * m && empty > 0.0 { m * (m / empty).ln() } else { raw }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Small;
    use super::*;

    #[test]
    fn known_figures_of_networkx_are_met() {
        let graph = Small::new(5, [(0, 1), (0, 2), (1, 2), (1, 4), (2, 0), (3, 2), (3, 3)]);
        let found = exact(&graph, 5).unwrap();
        let wanted = [2.0, 11.0 / 6.0, 3.0, 0.0, 25.0 / 12.0];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} is not {wanted}");
        }
        assert!(exact(&Small::new(0, []), 0).unwrap().is_empty());
    }

    #[test]
    fn counters_are_about_right() {
        let graph = Small::random(600, 4, 7);
        let wanted = exact(&graph, 600).unwrap();
        let (found, error) = about(&graph, 600, ABOUT_MOST).unwrap();
        assert!(error < 0.07, "{error}");
        // Of nodes that many lead to; a node alone has none.
        let mut off = 0.0;
        for (found, wanted) in found.iter().zip(&wanted) {
            if *wanted == 0.0 {
                assert_eq!(*found, 0.0);
            } else {
                off += (found - wanted).abs() / wanted / 600.0;
            }
        }
        assert!(off < 2.0 * error, "off by {off} in the mean");
    }

    #[test]
    fn a_chain_is_counted_step_by_step() {
        let graph = Small::new(40, (1..40).map(|n| (n, n - 1)));
        let (found, error) = about(&graph, 40, ABOUT_MOST).unwrap();
        let wanted = exact(&graph, 40).unwrap();
        assert!((found[0] - wanted[0]).abs() / wanted[0] < 3.0 * error, "{found:?}");
        assert_eq!(found[39], 0.0);
    }
}
