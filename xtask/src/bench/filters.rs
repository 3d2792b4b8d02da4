//! `cargo xtask bench filters`: what asking a filter costs for one URL.
//!
//! **Measured**: the example `filter_bench` of the crate `filter`, which asks filters of 20,000 made-up
//! URLs, kinds in turn, 21 rounds, medians: domains (10, 10,000 and 100,000), expressions (1, 20 and 200
//! in one automaton), a script. **How**: `cargo xtask bench filters`, less than a minute.
//! **Would be falsified by**: 10,000 domains costing more than 1.5 times what 10 cost in the same run, or
//! fewer than 100,000 calls of a script in a second.

use super::table::aligned;
use crate::{check, process, scratch};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const MOST_RATIO: f64 = 1.5;
const LEAST_CALLS: f64 = 100_000.0;
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the example and prints the table.
pub fn run(args: &[&str]) -> Result<()> {
    if !args.is_empty() {
        bail!("bench filters takes no flags");
    }
    let example = ["--release", "--package", "argiope-filter", "--example", "filter_bench"];
    process::must(check::cargo().arg("build").args(example))?;
    let dir = scratch().join("filters");
    std::fs::create_dir_all(&dir)?;
    let mut command = Command::new(crate::target().join("release/examples/filter_bench"));
    let done = process::run(&mut command, &dir, "filter_bench", LIMIT)?.ok()?;
    let rows =
        done.out_text().lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let ns = |kind: &str| {
        let row = rows.iter().find(|row| row["kind"] == kind);
        row.and_then(|row| row["ns"].as_f64()).with_context(|| format!("no figure of {kind}"))
    };
    let cells = rows.iter().map(|row| {
        let ns = row["ns"].as_f64().unwrap_or_default();
        let kind = row["kind"].as_str().unwrap_or_default().to_owned();
        vec![kind, format!("{ns:.0}"), format!("{:.0}", 1e9 / ns.max(0.1))]
    });
    print!("{}", aligned(&["filter", "ns per URL", "URLs per second"], &cells.collect::<Vec<_>>()));
    let ratio = ns("domains, 10,000")? / ns("domains, 10")?;
    let calls = 1e9 / ns("script")?;
    let holds = ratio <= MOST_RATIO && calls >= LEAST_CALLS;
    let verdict = if holds { "holds" } else { "DOES NOT HOLD" };
    println!(
        "{verdict}: 10,000 domains cost {ratio:.2} of {MOST_RATIO} times what 10 cost, {calls:.0} calls of a script in a second of {LEAST_CALLS:.0}"
    );
    Ok(())
}
