//! `cargo xtask bench crawl`: CPU seconds per 1,000 pages, beside wget2 and the fetch-only limit.
//!
//! **Measured**: user and system seconds of the crawling process with all its threads, from `wait4`;
//! the server is a process of its own and not counted. Argiope runs with the settings a user gets
//! (archive, digests, compression, syncs) except `--delay 0s`, `--allow-private` and
//! `--connections-per-host`; wget2 writes plain files and asks with as many connections.
//!
//! **Corpus**: Debian documentation packages served by nginx on loopback, by default PostgreSQL
//! (1,169 pages of 14 KB) and the JDK (10,137 pages of 27 KB); `--site` names others, or folders.
//! A page is an answer with status 200 and type `text/html`, counted in the server's log; a run in
//! which the programs do not fetch the same pages is an error, not a result.
//!
//! **How**: `cargo xtask bench crawl --runs 5`. One warm-up per program, then the runs interleaved,
//! the order turning by one each time; every run starts in an empty directory, and what the last
//! run left to be written is flushed before the next begins. Medians, with the spread in brackets.
//!
//! **Would be falsified by**: a median ratio to wget2 above 1.5; different pages; a spread so wide
//! that the ratio could fall on either side (then the machine was too busy: run again).

use super::measure::{Cost, disk_bytes, measure, median, spread};
use super::rivals::{Order, Program, wrk_script};
use super::table::aligned;
use crate::docs::{self, Docs};
use crate::nginx::Nginx;
use crate::{argiope_bin, scratch, test, tools};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const MOST_RATIO: f64 = 1.5;
const LIMIT: Duration = Duration::from_secs(1800);

struct Sample {
    cost: Cost,
    /// Distinct pages; for the load generator, answers.
    pages: usize,
    /// Requests that were not new pages.
    others: usize,
    disk: u64,
}

/// Reads the flags and measures every site.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut runs, mut connections, mut sites) = (5_usize, 8_usize, Vec::new());
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--runs" => runs = value.parse().context("--runs takes a number")?,
            "--connections-per-host" => connections = value.parse().context("takes a number")?,
            "--site" => sites.push((*value).to_string()),
            _ => bail!("unknown flag {word}"),
        }
    }
    tools::prepare(tools::FOR_BENCH);
    let argiope = match argiope_bin() {
        Some(bin) => bin,
        None => test::build()?,
    };
    let chosen: Vec<Docs> = match sites.is_empty() {
        true => vec![docs::first_of(docs::EVERYDAY[0])?, docs::site("openjdk-17-doc")?],
        false => sites.iter().map(|name| docs::site(name)).collect::<Result<_>>()?,
    };
    for docs in chosen {
        one_site(&docs.past_refresh(), runs, connections, &argiope)?;
    }
    Ok(())
}

fn one_site(docs: &Docs, runs: usize, connections: usize, argiope: &Path) -> Result<()> {
    let dir = scratch().join("bench");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let nginx = Nginx::serve(&docs.root, &dir, "")?;
    let order = Order {
        argiope: argiope.to_path_buf(),
        origin: nginx.origin.clone(),
        start: format!("{}{}", nginx.origin, docs.start),
        connections,
        wrk_script: dir.join("uris.lua"),
    };
    let programs: Vec<Program> = Program::ALL.into_iter().filter(|p| p.is_here()).collect();
    let mut samples: Vec<Vec<Sample>> = programs.iter().map(|_| Vec::new()).collect();
    for round in 0..=runs {
        for turn in 0..programs.len() {
            // In the warm-up the order is fixed: the load generator needs a crawl's list of pages.
            let at = if round == 0 { turn } else { (turn + round) % programs.len() };
            if std::io::stderr().is_terminal() {
                eprint!("\r{}: round {round} of {runs}, {:<24}", docs.name, programs[at].name());
            }
            let sample = one_run(programs[at], &order, &nginx, &dir)?;
            if round > 0 {
                samples[at].push(sample);
            }
        }
    }
    eprintln!();
    report(docs, runs, connections, &programs, &samples)
}

fn one_run(program: Program, order: &Order, nginx: &Nginx, dir: &Path) -> Result<Sample> {
    let keep = dir.join("keep");
    let _ = std::fs::remove_dir_all(&keep);
    let _ = Command::new("sync").status();
    nginx.clear()?;
    let cost =
        measure(&program.command(order, &keep)?, program.good_codes(), dir, program.slug(), LIMIT)?;
    if program == Program::Wrk {
        let answers = cost.out.lines().find_map(|line| line.strip_prefix("answers "));
        let answers = answers.context("wrk told no count")?.trim().parse()?;
        return Ok(Sample { cost, pages: answers, others: 0, disk: 0 });
    }
    let hits = nginx.hits()?;
    let is_page = |hit: &&crate::nginx::Hit| hit.status == 200 && hit.kind == "text/html";
    let pages: BTreeSet<&str> = hits.iter().filter(is_page).map(|hit| hit.uri.as_str()).collect();
    if !order.wrk_script.exists() {
        let uris: Vec<String> = pages.iter().map(ToString::to_string).collect();
        std::fs::write(&order.wrk_script, wrk_script(&uris))?;
    }
    let others = hits.len() - pages.len();
    Ok(Sample { cost, pages: pages.len(), others, disk: disk_bytes(&keep) })
}

fn report(
    docs: &Docs,
    runs: usize,
    connections: usize,
    programs: &[Program],
    samples: &[Vec<Sample>],
) -> Result<()> {
    let per_1000 = |sample: &Sample| sample.cost.cpu_s * 1000.0 / sample.pages as f64;
    let medians: Vec<f64> =
        samples.iter().map(|runs| median(&runs.iter().map(per_1000).collect::<Vec<_>>())).collect();
    let of = |wanted: Program| {
        programs.iter().position(|program| *program == wanted).map(|at| medians[at])
    };
    let wget2 = of(Program::Wget2);
    let mut rows = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        let column =
            |value: fn(&Sample) -> f64| median(&samples[at].iter().map(value).collect::<Vec<_>>());
        let (low, high) = spread(&samples[at].iter().map(per_1000).collect::<Vec<_>>());
        rows.push(vec![
            program.name().to_string(),
            format!("{:.0}", column(|s| s.pages as f64)),
            format!("{:.0}", column(|s| s.others as f64)),
            format!("{:.3} ({low:.3}-{high:.3})", medians[at]),
            wget2.map_or("-".into(), |base| format!("{:.2}", medians[at] / base)),
            format!("{:.0}", column(|s| s.pages as f64 / s.cost.elapsed_s)),
            format!("{:.1}", column(|s| s.disk as f64 / 1e6)),
            format!("{:.0}", column(|s| s.cost.peak_mb)),
        ]);
    }
    println!("\n{}, {runs} runs, {connections} connections to the host", docs.name);
    let heads =
        ["", "pages", "other", "CPU s per 1,000", "to wget2", "pages/s", "MB on disk", "peak MB"];
    print!("{}", aligned(&heads, &rows));
    let crawlers = programs.iter().zip(samples).filter(|(program, _)| **program != Program::Wrk);
    let counts: BTreeSet<usize> = crawlers.flat_map(|(_, s)| s.iter().map(|s| s.pages)).collect();
    ensure!(counts.len() <= 1, "the programs fetched different numbers of pages: {counts:?}");
    match (of(Program::Argiope), wget2) {
        (Some(ours), Some(base)) if ours / base <= MOST_RATIO => {
            println!("holds: {:.2} times wget2, at most {MOST_RATIO}", ours / base);
        }
        (Some(ours), Some(base)) => {
            println!("DOES NOT HOLD: {:.2} times wget2, more than {MOST_RATIO}", ours / base);
        }
        _ => println!("no verdict: wget2 is not here"),
    }
    Ok(())
}
