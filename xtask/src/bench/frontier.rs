//! `cargo xtask bench frontier`: what a discovered URL costs, at 2 and at 20 million.
//!
//! **Measured**: the store's own example `frontier_bench`, which feeds made-up pages with the links
//! and new URLs of real ones through the embedded store and reports CPU per discovered URL, peak
//! anonymous memory and bytes on disk per URL. **Memory**: 512 MB. **How**:
//! `cargo xtask bench frontier` (about 15 GB of disk for a moment), or `--urls N` once per size.
//! **Would be falsified by**: CPU per URL at the largest size above 1.5 times that at the smallest,
//! or more than 512 MB of anonymous memory.

use super::table::aligned;
use crate::{check, process, scratch};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const MOST_RATIO: f64 = 1.5;
const MEMORY_MB: f64 = 512.0;
const LIMIT: Duration = Duration::from_secs(7200);

/// Reads the flags, runs every size in a fresh directory and prints the table.
pub fn run(args: &[&str]) -> Result<()> {
    let mut sizes = Vec::new();
    for pair in args.chunks(2) {
        match pair {
            ["--urls", count] => sizes.push(count.parse::<u64>().context("--urls takes a number")?),
            _ => bail!("only --urls N is known here"),
        }
    }
    if sizes.is_empty() {
        sizes = vec![2_000_000, 20_000_000];
    }
    let example = ["--release", "--package", "argiope-store", "--example", "frontier_bench"];
    process::must(check::cargo().arg("build").args(example))?;
    let rows = sizes.iter().map(|&urls| one_size(urls)).collect::<Result<Vec<_>>>()?;

    let number = |row: &Value, key: &str| row[key].as_f64().with_context(|| format!("no {key}"));
    let base = number(&rows[0], "cpu_us_per_url")?;
    let mut cells = Vec::new();
    for row in &rows {
        let cpu = number(row, "cpu_us_per_url")?;
        cells.push(vec![
            format!("{:.0}", number(row, "urls")?),
            format!("{cpu:.2}"),
            format!("{:.2}", cpu / base),
            format!("{:.0}", number(row, "peak_anon_mb")?),
            format!("{:.0}", number(row, "disk_bytes_per_url")?),
        ]);
    }
    let heads = ["URLs", "CPU us per URL", "to the first", "peak anon MB", "disk bytes per URL"];
    print!("{}", aligned(&heads, &cells));
    let last = rows.last().context("no size")?;
    let ratio = number(last, "cpu_us_per_url")? / base;
    let peak = number(last, "peak_anon_mb")?;
    let holds = ratio <= MOST_RATIO && peak <= MEMORY_MB;
    let verdict = if holds { "holds" } else { "DOES NOT HOLD" };
    println!("{verdict}: ratio {ratio:.2} of {MOST_RATIO}, {peak:.0} MB of {MEMORY_MB:.0}");
    Ok(())
}

fn one_size(urls: u64) -> Result<Value> {
    let dir = scratch().join("frontier");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    eprintln!("{urls} URLs ...");
    let mut command = Command::new(crate::target().join("release/examples/frontier_bench"));
    command.args(["--urls", &urls.to_string(), "--memory", "512MB", "--dir"]);
    command.arg(dir.join("store"));
    let done = process::run(&mut command, &dir, "frontier_bench", LIMIT)?.ok()?;
    let out = done.out_text();
    let _ = std::fs::remove_dir_all(&dir);
    let line = out.lines().last().context("the example printed nothing")?;
    serde_json::from_str(line).with_context(|| format!("not a JSON line: {line}"))
}
