//! `cargo xtask bench links`: what the reverse links of a page cost: a crawl that follows its own
//! change log against the same crawl with `--no-links`.
//!
//! **Measured**: user and system seconds of the crawling process, from start to end, from `wait4`;
//! the link graph is complete on disk at the end of the one and not begun in the other. Nothing else
//! differs: the same binary, site, server and flags.
//!
//! **Corpus**: Debian documentation packages served by nginx on loopback, by default PostgreSQL;
//! `--site` names others, or folders.
//!
//! **How**: `cargo xtask bench links --runs 10`. One warm-up each, then pairs, the order of each pair
//! the other way round; every run starts in an empty directory, and what the last one left to be
//! written is flushed before. The number that counts is the median of the ratios of the pairs, with
//! the spread in brackets. Where valgrind is installed the instructions of one run each are counted
//! too (`--counts 0` leaves that out): these hardly depend on who else uses the machine.
//! `--against BINARY` compares two programs instead, both with `--no-links`: the first is BINARY.
//!
//! **Would be falsified by**: a median ratio above 1.15, or instruction counts above that.

use super::measure::{Cost, measure, median, spread};
use super::table::aligned;
use crate::docs::{self, Docs};
use crate::nginx::Nginx;
use crate::{argiope_bin, process, scratch, test, tools};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const MOST_RATIO: f64 = 1.15;
const LIMIT: Duration = Duration::from_secs(1800);

/// One of the two that are compared.
struct Side {
    name: String,
    binary: PathBuf,
    flags: Vec<&'static str>,
}

/// What was asked for.
struct Order {
    runs: usize,
    counts: usize,
    connections: String,
    /// The cheaper side first: ratios are of the second to the first.
    sides: [Side; 2],
}

/// Reads the flags and measures every site.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut runs, mut counts, mut connections) = (10, 1, "8".to_string());
    let (mut sites, mut against) = (Vec::new(), None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--runs" => runs = value.parse().context("--runs takes a number")?,
            "--counts" => counts = value.parse().context("--counts takes a number")?,
            "--connections-per-host" => connections = (*value).to_string(),
            "--site" => sites.push((*value).to_string()),
            "--against" => against = Some(PathBuf::from(value)),
            _ => bail!("unknown flag {word}"),
        }
    }
    tools::prepare(tools::FOR_BENCH);
    let binary = match argiope_bin() {
        Some(bin) => bin,
        None => test::build()?,
    };
    let side = |name: &str, binary: &Path, flags: &[&'static str]| Side {
        name: name.to_string(),
        binary: binary.to_path_buf(),
        flags: flags.to_vec(),
    };
    let sides = match &against {
        None => [side("--no-links", &binary, &["--no-links"]), side("links on", &binary, &[])],
        Some(other) => {
            let knows = knows_no_links(other)?;
            let flags: &[&'static str] = if knows { &["--no-links"] } else { &[] };
            [side("the other", other, flags), side("this one", &binary, &["--no-links"])]
        }
    };
    let order = Order { runs, counts, connections, sides };
    let chosen: Vec<Docs> = match sites.is_empty() {
        true => vec![docs::first_of(docs::EVERYDAY[0])?],
        false => sites.iter().map(|name| docs::site(name)).collect::<Result<_>>()?,
    };
    for docs in chosen {
        one_site(&docs.past_refresh(), &order)?;
    }
    Ok(())
}

/// A program from before there were back-links does not know the flag.
fn knows_no_links(binary: &Path) -> Result<bool> {
    let help = process::output(Command::new(binary).args(["help", "crawl"]))?;
    Ok(help.contains("--no-links"))
}

fn one_site(docs: &Docs, order: &Order) -> Result<()> {
    let dir = scratch().join("bench-links");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let nginx = Nginx::serve(&docs.root, &dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let mut costs: [Vec<Cost>; 2] = [Vec::new(), Vec::new()];
    let mut pages = None;
    for round in 0..=order.runs {
        for turn in 0..2 {
            let at = (turn + round) % 2;
            if std::io::stderr().is_terminal() {
                eprint!("\r{}: pair {round} of {} ", docs.name, order.runs);
            }
            let cost = one_run(&order.sides[at], order, &start, &dir)?;
            let fetched = pages_of(&cost.out)?;
            ensure!(*pages.get_or_insert(fetched) == fetched, "{pages:?} pages, then {fetched}");
            if round > 0 {
                costs[at].push(cost);
            }
        }
    }
    eprintln!();
    let pages = pages.context("no run")?;
    let mut counted = Vec::new();
    if tools::find("valgrind").is_some() {
        for _ in 0..order.counts {
            counted.push([
                instructions(&order.sides[0], order, &start, &dir)?,
                instructions(&order.sides[1], order, &start, &dir)?,
            ]);
        }
    }
    report(docs, order, pages as f64, &costs, &counted);
    Ok(())
}

fn command(side: &Side, order: &Order, start: &str, keep: &Path) -> Command {
    let mut command = Command::new(&side.binary);
    command.arg("--data").arg(keep).args(["--format", "json", "crawl", start]);
    command.args(["--delay", "0s", "--allow-private"]);
    command.args(["--connections-per-host", &order.connections]).args(&side.flags);
    command
}

fn fresh(dir: &Path) -> PathBuf {
    let keep = dir.join("keep");
    let _ = std::fs::remove_dir_all(&keep);
    let _ = Command::new("sync").status();
    keep
}

fn one_run(side: &Side, order: &Order, start: &str, dir: &Path) -> Result<Cost> {
    measure(&command(side, order, start, &fresh(dir)), &[0], dir, "crawl", LIMIT)
}

/// Instructions of one crawl, all threads, without the kernel's.
fn instructions(side: &Side, order: &Order, start: &str, dir: &Path) -> Result<f64> {
    let plain = command(side, order, start, &fresh(dir));
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(plain.get_program()).args(plain.get_args());
    let done = process::run(&mut command, dir, "valgrind", LIMIT)?.ok()?;
    let line = done.err.lines().find_map(|line| line.split_once("I   refs:"));
    let (_, number) = line.context("valgrind told no count")?;
    number.trim().replace(',', "").parse().context("a count of instructions")
}

fn pages_of(out: &str) -> Result<u64> {
    let last = out.lines().last().context("the crawl printed no summary")?;
    let summary: Value = serde_json::from_str(last).context("the summary is not JSON")?;
    summary["fetched"].as_u64().context("no number of pages")
}

fn report(docs: &Docs, order: &Order, pages: f64, costs: &[Vec<Cost>; 2], counted: &[[f64; 2]]) {
    let shown = |values: &[f64]| {
        let (low, high) = spread(values);
        format!("{:.3} ({low:.3}-{high:.3})", median(values))
    };
    let mut rows = Vec::new();
    for (at, side) in order.sides.iter().enumerate() {
        let cpu: Vec<f64> = costs[at].iter().map(|cost| cost.cpu_s * 1000.0 / pages).collect();
        let peak: Vec<f64> = costs[at].iter().map(|cost| cost.peak_mb).collect();
        let millions: Vec<f64> = counted.iter().map(|pair| pair[at] / pages / 1e6).collect();
        rows.push(vec![
            side.name.clone(),
            shown(&cpu),
            format!("{:.0}", median(&peak)),
            if counted.is_empty() { "-".into() } else { format!("{:.3}", median(&millions)) },
        ]);
    }
    println!("\n{}, {pages:.0} pages, {} pairs", docs.name, order.runs);
    let heads = ["", "CPU s per 1,000 pages", "peak MB", "million instructions per page"];
    print!("{}", aligned(&heads, &rows));
    let pairs = costs[0].iter().zip(&costs[1]);
    let ratios: Vec<f64> = pairs.map(|(off, on)| on.cpu_s / off.cpu_s).collect();
    let by_count: Vec<f64> = counted.iter().map(|pair| pair[1] / pair[0]).collect();
    println!("ratio of the pairs: {}", shown(&ratios));
    if !by_count.is_empty() {
        println!("ratio of the instructions: {:.3}", median(&by_count));
    }
    let worst = median(&ratios).max(if by_count.is_empty() { 0.0 } else { median(&by_count) });
    let verdict = if worst <= MOST_RATIO { "holds" } else { "DOES NOT HOLD" };
    println!("{verdict}: {worst:.3}, at most {MOST_RATIO}");
}
