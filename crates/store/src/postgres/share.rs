//! Fair shares: how many partitions a worker is to hold.
//!
//! Arithmetic alone: who lives and what is held comes in as numbers. Every worker computes its own
//! share from the same list of sessions, so nobody has to be asked.

use argiope_model::PARTITIONS;

/// The share of a worker: the `rank`-th, from 0, of so many that live.
///
/// The shares of all differ by one at most and together are all partitions.
pub fn fair_share(workers: usize, rank: usize) -> usize {
    let (parts, workers) = (usize::from(PARTITIONS), workers.max(1));
    parts / workers + usize::from(rank < parts % workers)
}

/// What a worker is to do about its partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebalance {
    /// So many free ones are to be taken.
    pub take: usize,
    /// So many are to be given back, once nothing of them is under way.
    pub give: usize,
}

/// Compares what is held with the share. Surplus is given back only while somebody else lives who
/// lacks it, so that partitions do not wander for nothing.
pub fn rebalance(workers: usize, rank: usize, held: usize, free: usize) -> Rebalance {
    let share = fair_share(workers, rank);
    let take = share.saturating_sub(held).min(free);
    // Whoever lacks some takes what is free first.
    let surplus = if workers > 1 { held.saturating_sub(share) } else { 0 };
    Rebalance { take, give: surplus.saturating_sub(free) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_and_together_everything() {
        for workers in [1, 2, 3, 5, 7, 64, 4095, 4096, 5000] {
            let shares: Vec<usize> = (0..workers).map(|rank| fair_share(workers, rank)).collect();
            assert_eq!(shares.iter().sum::<usize>(), 4096);
            assert!(shares[0] - shares[workers - 1] <= 1, "{workers}");
        }
        assert_eq!(fair_share(0, 0), 4096);
    }

    #[test]
    fn one_worker_takes_what_is_free_and_gives_nothing_back() {
        assert_eq!(rebalance(1, 0, 0, 4096), Rebalance { take: 4096, give: 0 });
        assert_eq!(rebalance(1, 0, 4096, 0), Rebalance::default());
    }

    #[test]
    fn a_newcomer_is_given_its_share_and_no_more() {
        // The first holds all; the second finds nothing free.
        assert_eq!(rebalance(2, 0, 4096, 0), Rebalance { take: 0, give: 2048 });
        assert_eq!(rebalance(2, 1, 0, 0), Rebalance::default());
        // Given back, they are free and the second takes them; the first keeps its half.
        assert_eq!(rebalance(2, 0, 2048, 2048), Rebalance::default());
        assert_eq!(rebalance(2, 1, 0, 2048), Rebalance { take: 2048, give: 0 });
    }

    #[test]
    fn a_balance_is_reached_and_kept_whatever_it_began_with() {
        for begun in [vec![4096, 0, 0], vec![1000, 3000, 96], vec![0, 0, 0], vec![2, 2, 4000]] {
            let mut held = begun.clone();
            let mut moves = 0;
            for _ in 0..10 {
                for rank in 0..held.len() {
                    let free = 4096 - held.iter().sum::<usize>();
                    let Rebalance { take, give } = rebalance(held.len(), rank, held[rank], free);
                    moves += give;
                    held[rank] = held[rank] + take - give;
                }
            }
            assert_eq!(held.iter().sum::<usize>(), 4096, "{begun:?} leaves some alone");
            let shares: Vec<usize> = (0..3).map(|rank| fair_share(3, rank)).collect();
            assert_eq!(held, shares, "{begun:?}");
            // Only what was too much has moved.
            let surplus: usize = begun.iter().zip(&shares).map(|(b, s)| b.saturating_sub(*s)).sum();
            assert!(moves <= surplus, "{begun:?} moved {moves}, not {surplus}");
        }
    }
}
