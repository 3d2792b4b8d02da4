//! Worlds in which everything must hold, whatever happens on the way.

use argiope_sim::{Report, Scenario, simulate};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/seeds.txt");

fn report(scenario: &Scenario) -> Report {
    simulate(scenario).expect("a place for the data directory")
}

/// Simulates small worlds. Seeds that fail are kept for all later runs, where that is possible.
fn small_worlds_hold(seeds: impl Iterator<Item = u64>) {
    let mut failed = String::new();
    for seed in seeds {
        let report = report(&Scenario::small(seed));
        if report.violated > 0 {
            keep(seed, &report);
            let again = format!("cargo run -p argiope-sim -- --small --seed {seed} --log");
            let _ = writeln!(failed, "{report}\n  {again}");
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

fn keep(seed: u64, report: &Report) {
    let known = std::fs::read_to_string(SEEDS).unwrap_or_default();
    if seeds_in(&known).any(|known| known == seed) {
        return;
    }
    let why = report.violations.first().map(|v| v.to_string()).unwrap_or_default();
    let _ = std::fs::write(SEEDS, format!("{known}{seed}  # {why}\n"));
}

fn seeds_in(text: &str) -> impl Iterator<Item = u64> + '_ {
    let before_comment = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    let lines = text.lines().map(before_comment).filter(|line| !line.is_empty());
    lines.map(|line| line.parse().expect("seeds.txt holds numbers and comments"))
}

#[test]
fn small_worlds_with_crashes_hold() {
    small_worlds_hold(1..=14);
}

#[test]
fn more_small_worlds_with_crashes_hold() {
    small_worlds_hold(1001..=1014);
}

#[test]
fn seeds_that_failed_once_hold() {
    assert!(Path::new(SEEDS).exists());
    let text = std::fs::read_to_string(SEEDS).expect("seeds.txt");
    small_worlds_hold(seeds_in(&text).collect::<Vec<_>>().into_iter());
}

#[test]
fn a_larger_world_holds_over_days() {
    let scenario = Scenario {
        pages_per_host: 10,
        crashes: 3,
        connections: 64,
        // No more than 128 hosts are loaded at once.
        memory: 4 << 20,
        ..Scenario::large(5, 300, 6.0)
    };
    let report = report(&scenario);
    assert_eq!(report.violated, 0, "{report}");
    assert!(report.passed > Duration::from_secs(3 * 86_400), "{report}");
    assert!(report.expected > 500, "{report}");
}

#[test]
fn a_seed_repeats_itself() {
    for seed in [2, 5, 9, 5081] {
        let scenario = Scenario { log: true, ..Scenario::small(seed) };
        let (first, second) = (report(&scenario), report(&scenario));
        let differ = first.log.iter().zip(&second.log).find(|(a, b)| a != b);
        assert_eq!(differ, None, "{first}");
        assert_eq!((first.digest, first.requests), (second.digest, second.requests));
        assert_eq!((first.passed, first.commits), (second.passed, second.commits));
    }
}
