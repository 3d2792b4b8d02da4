//! `cargo xtask fuzz`: feeds made-up bytes to everything that parses foreign ones.
//!
//! The targets are the files of `fuzz/fuzz_targets`, one program each. They are built with the
//! stable compiler: the compiler's own coverage pass marks every branch, and the fuzzer, which is
//! linked in, keeps each input that reaches a new one. What it learned lies in
//! `target/fuzz/corpus` and is the start of the next run; the first begins with `fuzz/seeds`.
//!
//! A finding is an input that makes a target panic, take ten seconds or two gigabytes. It is kept
//! in `target/fuzz/findings`, and the command fails.

use crate::bench::table::aligned;
use crate::{check, process, root, target};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What makes the compiler tell the fuzzer where an input went.
const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";
const SECONDS: u64 = 600;
const MAX_BYTES: u64 = 64 << 10;
/// The largest input of the second, shorter run that pages get.
const MAX_PAGE_BYTES: u64 = 1 << 20;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    /// One target; none means all.
    name: Option<String>,
    seconds: u64,
}

/// How a run ended.
struct Outcome {
    name: String,
    runs: u64,
    branches: u64,
    peak_mb: u64,
    finding: Option<PathBuf>,
}

/// Reads the flags, builds, runs the targets one after another and prints the table.
pub fn run(args: &[&str]) -> Result<()> {
    let order = order(args)?;
    let mut names = targets(&root().join("fuzz/fuzz_targets"))?;
    if let Some(wanted) = &order.name {
        names.retain(|name| name == wanted);
        if names.is_empty() {
            bail!("there is no target {wanted}");
        }
    }
    let programs = build()?;
    let outcomes = names
        .iter()
        .map(|name| one(name, &programs, order.seconds))
        .collect::<Result<Vec<Outcome>>>()?;
    report(&outcomes)
}

/// The plain build, to see that the targets fit the code they test. What the product's own build
/// left behind is used again.
pub fn check() -> Result<()> {
    let mut build = check::cargo();
    build.args(["build", "--quiet", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"]);
    process::must(build.arg(target()))
}

fn order(args: &[&str]) -> Result<Order> {
    let mut order = Order { name: None, seconds: SECONDS };
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--seconds" => {
                let count = rest.next().context("--seconds takes a number")?;
                order.seconds = count.parse().context("--seconds takes a number")?;
            }
            "all" => order.name = None,
            flag if flag.starts_with('-') => bail!("only --seconds N is known here"),
            name => order.name = Some(name.to_owned()),
        }
    }
    Ok(order)
}

/// The names of the targets, in order.
fn targets(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| format!("list {}", dir.display()))? {
        let path = entry.context("list the fuzz targets")?.path();
        if path.extension().is_some_and(|ext| ext == "rs") {
            let stem = path.file_stem().context("a file without a name")?;
            names.push(stem.to_string_lossy().replace('_', "-"));
        }
    }
    names.sort();
    Ok(names)
}

/// Builds every target with coverage and tells where the programs lie.
fn build() -> Result<PathBuf> {
    // With a target named, the flags do not reach build scripts, which could not link with them.
    let about = process::output(Command::new("rustc").arg("-vV"))?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).context("no host")?;
    let dir = target().join("fuzz");
    let mut build = check::cargo();
    build.args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    build.arg("--target-dir").arg(&dir).env("RUSTFLAGS", COVERAGE);
    process::must(&mut build)?;
    Ok(dir.join(host).join("release"))
}

/// Runs one target; pages also with inputs that are large.
fn one(name: &str, programs: &Path, seconds: u64) -> Result<Outcome> {
    if name != "html" {
        return once(name, programs, seconds, MAX_BYTES);
    }
    let outcome = once(name, programs, seconds - seconds / 10, MAX_BYTES)?;
    if outcome.finding.is_some() || seconds < 10 {
        return Ok(outcome);
    }
    let large = once(name, programs, seconds / 10, MAX_PAGE_BYTES)?;
    Ok(Outcome { runs: outcome.runs + large.runs, ..large })
}

fn once(name: &str, programs: &Path, seconds: u64, max_bytes: u64) -> Result<Outcome> {
    let work = target().join("fuzz");
    let (corpus, findings) = (work.join("corpus").join(name), work.join("findings"));
    let logs = work.join("logs");
    for dir in [&corpus, &findings, &logs] {
        std::fs::create_dir_all(dir).with_context(|| format!("create {}", dir.display()))?;
    }
    let mut command = Command::new(programs.join(name));
    command.args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-max_len={max_bytes}"));
    command.arg(format!("-artifact_prefix={}/{name}-", findings.display()));
    let words = root().join("fuzz/words").join(format!("{name}.txt"));
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    command.arg(&corpus);
    let seeds = root().join("fuzz/seeds").join(name);
    if seeds.is_dir() {
        command.arg(seeds);
    }
    eprintln!("fuzz: {name}, {seconds} s, inputs of up to {max_bytes} bytes");
    // Reading a large corpus is not part of the time the fuzzer counts.
    let limit = Duration::from_secs(seconds + 600);
    let done = process::run(&mut command, &logs, name, limit)?;
    let stat = |key| number_after(&done.err, key).unwrap_or(0);
    let mut outcome = Outcome {
        name: name.to_owned(),
        runs: stat("stat::number_of_executed_units:"),
        branches: stat("cov:"),
        peak_mb: stat("stat::peak_rss_mb:"),
        finding: None,
    };
    if done.code != Some(0) {
        let kept = done.err.lines().find_map(|line| line.split_once("Test unit written to "));
        let Some((_, path)) = kept else { bail!("{name} did not run:\n{}", done.last_words()) };
        outcome.finding = Some(PathBuf::from(path.trim()));
    }
    Ok(outcome)
}

/// The last number behind `key`.
fn number_after(text: &str, key: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(key)?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

fn report(outcomes: &[Outcome]) -> Result<()> {
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .map(|outcome| {
            let finding = outcome.finding.as_ref().map(|path| path.display().to_string());
            vec![
                outcome.name.clone(),
                outcome.runs.to_string(),
                outcome.branches.to_string(),
                outcome.peak_mb.to_string(),
                finding.unwrap_or_else(|| "none".to_owned()),
            ]
        })
        .collect();
    print!("{}", aligned(&["target", "runs", "branches", "peak MB", "finding"], &rows));
    let found = outcomes.iter().filter(|outcome| outcome.finding.is_some()).count();
    if found > 0 {
        bail!("{found} of {} targets have a finding", outcomes.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_names_one_target_or_all() {
        let all = Order { name: None, seconds: SECONDS };
        assert_eq!(order(&[]).unwrap(), all);
        assert_eq!(order(&["all"]).unwrap(), all);
        let one = Order { name: Some("url".into()), seconds: 5 };
        assert_eq!(order(&["url", "--seconds", "5"]).unwrap(), one);
        assert!(order(&["--seconds"]).is_err() && order(&["--second", "5"]).is_err());
    }

    #[test]
    fn every_target_has_a_row_in_the_manifest() {
        let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let names = targets(&root().join("fuzz/fuzz_targets")).unwrap();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
    }

    #[test]
    fn figures_are_the_last_ones_told() {
        let log = "#1 INITED cov: 7 ft: 8\n#2 NEW cov: 19 ft: 20\nstat::peak_rss_mb:  33\n";
        assert_eq!(number_after(log, "cov:"), Some(19));
        assert_eq!(number_after(log, "stat::peak_rss_mb:"), Some(33));
        assert_eq!(number_after(log, "absent:"), None);
    }
}
