//! What one run of a program cost, and the medians of many.

use crate::process;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What one run cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// User and system seconds of the program, all threads.
    pub cpu_s: f64,
    /// Seconds from start to end.
    pub elapsed_s: f64,
    /// Largest resident memory, MB.
    pub peak_mb: f64,
    /// Its standard output.
    pub out: String,
}

/// Runs `command` in its own process and tells what it cost. An exit code beyond `codes` is an
/// error: a benchmark of half a crawl says nothing.
pub fn measure(
    command: &Command,
    codes: &[i64],
    dir: &Path,
    name: &str,
    limit: Duration,
) -> Result<Cost> {
    let report = dir.join(format!("{name}.cost"));
    let _ = std::fs::remove_file(&report);
    let mut wrapped = Command::new("python3");
    wrapped.args(["-c", include_str!("measure.py")]).arg(&report);
    wrapped.arg(command.get_program()).args(command.get_args());
    let done = process::run(&mut wrapped, dir, name, limit)?.ok()?;
    let text = std::fs::read_to_string(&report).with_context(|| format!("cost of {name}"))?;
    let cost: Value = serde_json::from_str(&text).context("read a cost report")?;
    let number = |key: &str| cost[key].as_f64().with_context(|| format!("no {key} in {text}"));
    if !cost["code"].as_i64().is_some_and(|code| codes.contains(&code)) {
        bail!("{name} ended with {}:\n{}", cost["code"], done.last_words());
    }
    Ok(Cost {
        cpu_s: number("user_s")? + number("system_s")?,
        elapsed_s: number("elapsed_s")?,
        peak_mb: number("peak_kb")? / 1024.0,
        out: done.out_text(),
    })
}

/// The middle of the values; the mean of the two middles of an even number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Smallest and largest value.
pub fn spread(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(*value), high.max(*value))
    })
}

/// Bytes of all files beneath `dir`, as allocated on disk.
pub fn disk_bytes(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => disk_bytes(&entry.path()),
            Ok(meta) => meta.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_in_the_middle() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        assert_eq!(spread(&[2.0, 1.0, 3.0]), (1.0, 3.0));
    }
}
