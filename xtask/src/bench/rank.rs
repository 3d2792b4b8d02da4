//! `cargo xtask bench rank`: time and memory of ranks over millions of pages.
//!
//! **Measured**: the example `rank_bench` of the graph, one process for each size and measure: from
//! the lists of who links where to the file of ranks. The most memory the process ever had is the
//! kernel's figure (`VmHWM`). Before it, the lists are made from the store and the runs, which takes
//! 36 bytes a page and is over by then.
//!
//! **Corpus**: made up, 20 links to a page on average; see the example.
//!
//! **How**: `cargo xtask bench rank`, with `--pages N` for other sizes than one, three and ten
//! million and `--measure` for one of both.
//!
//! **Would be falsified by**: more than 2 GB at ten million pages, or memory for PageRank that grows
//! faster than the pages do.

use super::table::aligned;
use crate::{check, process, scratch, target};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const SIZES: [u64; 3] = [1_000_000, 3_000_000, 10_000_000];
const MOST_MB: f64 = 2_048.0;
const LIMIT: Duration = Duration::from_secs(3 * 3600);

/// Reads the flags and measures.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut sizes, mut measures) = (Vec::new(), Vec::new());
    for pair in args.chunks(2) {
        match pair {
            ["--pages", count] => sizes.push(count.parse().context("--pages takes a number")?),
            ["--measure", name @ ("pagerank" | "harmonic")] => measures.push(*name),
            _ => bail!("--pages N and --measure pagerank|harmonic are known here"),
        }
    }
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    if measures.is_empty() {
        measures = vec!["pagerank", "harmonic"];
    }
    let example = ["--release", "--package", "argiope-graph", "--example", "rank_bench"];
    process::must(check::cargo().arg("build").args(example))?;
    let dir = scratch().join("bench-rank");
    let mut rows = Vec::new();
    let mut most: f64 = 0.0;
    for measure in measures {
        for pages in &sizes {
            let _ = std::fs::remove_dir_all(&dir);
            std::fs::create_dir_all(&dir)?;
            let mut command = Command::new(target().join("release/examples/rank_bench"));
            command.args(["--pages", &pages.to_string(), "--measure", measure, "--dir"]).arg(&dir);
            let told = process::run(&mut command, &dir, "rank", LIMIT)?.ok()?.out_text();
            let told: Value = serde_json::from_str(told.trim()).context("the example's figures")?;
            let figure = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
            most = most.max(figure("peak_mb"));
            let row = [
                measure.to_owned(),
                format!("{:.0}", pages / 1_000_000),
                format!("{:.1}", figure("links") / 1e6),
                format!("{:.2}", figure("bytes_per_link")),
                format!("{:.0}", figure("rounds")),
                format!("{:.0}", figure("solved_s")),
                format!("{:.0}", figure("error") * 100.0),
                format!("{:.0}", figure("peak_mb")),
                format!("{:.0}", figure("peak_mb") * 1_048_576.0 / *pages as f64),
            ];
            eprintln!("{}", row.join("  "));
            rows.push(row.to_vec());
        }
    }
    let heads = [
        "measure",
        "million pages",
        "million links",
        "bytes a link",
        "rounds",
        "seconds",
        "error %",
        "peak MB",
        "bytes a page",
    ];
    println!("{}", aligned(&heads, &rows));
    ensure!(most <= MOST_MB, "{most:.0} MB are more than {MOST_MB}");
    println!("holds: at most {most:.0} MB, {MOST_MB} allowed");
    Ok(())
}
