//! PageRank, as NetworkX defines it, solved as a system of linear equations.
//!
//! The rank `x` of a node is `(1-d)/n + d·(Σ x(u)/out(u) over all u that link there + w/n)`, where
//! `w` is the rank of all nodes without links: theirs is spread over all nodes alike. What begins
//! anywhere and what is spread there are the same vector, so `x` is in proportion to the solution
//! of `y = 1 + d·Σ y(u)/out(u)`, whatever `w` is. That is solved by Gauss-Seidel: one array, each
//! value used as soon as it is known, about half the rounds of repeated multiplication.

use super::lists::InLists;
use std::io;

/// How often a link is followed, rather than beginning anywhere.
pub const DAMPING: f64 = 0.85;
/// A round that changes less than this share of everything is the last. What is still missing is
/// less than six times that.
pub const TOLERANCE: f64 = 1e-11;
/// Far more rounds than there can be: each takes at least the damping off what is missing.
const MOST_ROUNDS: u32 = 1_000;

/// Ranks, solved.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The rank of each node; they add up to one.
    pub values: Vec<f64>,
    /// How many rounds it took.
    pub rounds: u32,
}

/// The PageRank of every node; `out` is how many others each links to.
pub fn pagerank(lists: &impl InLists, out: &[u32]) -> io::Result<Solved> {
    let share = |node: usize| f64::from(out[node].max(1));
    // What each gives to every node it links to; of those that link nowhere what they have.
    let mut gives: Vec<f64> = (0..out.len()).map(|node| 1.0 / share(node)).collect();
    let mut total = out.len() as f64;
    let mut rounds = 0;
    while rounds < MOST_ROUNDS {
        rounds += 1;
        let mut changed = 0.0;
        lists.each(&mut |node, sources| {
            let node = node as usize;
            let sum: f64 = sources.iter().map(|source| gives[*source as usize]).sum();
            let new = (1.0 + DAMPING * sum) / share(node);
            let change = (new - gives[node]) * share(node);
            gives[node] = new;
            changed += change.abs();
            total += change;
        })?;
        if changed <= TOLERANCE * total {
            break;
        }
    }
    let mut values = gives;
    values.iter_mut().enumerate().for_each(|(node, value)| *value *= share(node));
    let sum: f64 = values.iter().sum();
    values.iter_mut().for_each(|value| *value /= sum);
    Ok(Solved { values, rounds })
}

#[cfg(test)]
mod tests {
    use super::super::tests::Small;
    use super::*;
    use proptest::prelude::*;

    /// By its definition, with the whole matrix.
    fn by_definition(graph: &Small) -> Vec<f64> {
        let (n, out) = (graph.nodes as usize, graph.out());
        let mut x = vec![1.0 / n as f64; n];
        for _ in 0..400 {
            let lost: f64 = (0..n).filter(|u| out[*u] == 0).map(|u| x[u]).sum();
            let mut next = vec![(1.0 - DAMPING + DAMPING * lost) / n as f64; n];
            for (from, to) in &graph.edges {
                next[*to as usize] += DAMPING * x[*from as usize] / f64::from(out[*from as usize]);
            }
            x = next;
        }
        x
    }

    fn agrees(graph: &Small) {
        let solved = pagerank(graph, &graph.out()).unwrap();
        let wanted = by_definition(graph);
        for (node, (found, wanted)) in solved.values.iter().zip(&wanted).enumerate() {
            assert!((found - wanted).abs() < 1e-9, "{node}: {found} is not {wanted}");
        }
        if graph.nodes > 0 {
            assert!((solved.values.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert!(solved.rounds < 200, "{} rounds", solved.rounds);
    }

    #[test]
    fn small_graphs_agree_with_the_definition() {
        agrees(&Small::new(0, []));
        agrees(&Small::new(1, []));
        agrees(&Small::new(1, [(0, 0)]));
        agrees(&Small::new(5, []));
        agrees(&Small::new(4, [(0, 1), (1, 2), (2, 0), (0, 0), (2, 3)]));
        // A ring is the slowest there is.
        agrees(&Small::new(50, (0..50).map(|n| (n, (n + 1) % 50))));
        agrees(&Small::new(50, (1..50).map(|n| (n, n - 1))));
    }

    #[test]
    fn known_figures_of_networkx_are_met() {
        // What networkx.pagerank(graph, alpha=0.85, tol=1e-14) says; node 4 links nowhere.
        let graph = Small::new(5, [(0, 1), (0, 2), (1, 2), (1, 4), (2, 0), (3, 2), (3, 3)]);
        let wanted = [
            0.3037085671950923,
            0.1809741960779577,
            0.2962476613824137,
            0.0902574869913725,
            0.128812088353164,
        ];
        let found = pagerank(&graph, &graph.out()).unwrap().values;
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
        }
    }

    proptest! {
        #[test]
        fn any_graph_agrees_with_the_definition(nodes in 1u32..60, degree in 1u32..8, seed: u64) {
            agrees(&Small::random(nodes, degree, seed));
        }
    }
}
