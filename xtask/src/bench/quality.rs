//! `cargo xtask bench quality`: what links and rank are worth to a search.
//!
//! **Measured**: known-item and hub queries, each asked twice of the same index: by the pages' own
//! words (`search --own-words`), and as searches are by default, with what other pages call a page,
//! its back-links and its rank. Told are how many pages came first, how many among ten, and the mean
//! of one over the place.
//!
//! **Corpus**: documentation packages, by default PostgreSQL, Rust and the Linux kernel. One page in
//! ten is held back: it is neither crawled nor indexed, and the queries are what these pages call
//! others. Hubs come from folders or from what pages name as the one above them. `quality.py` makes
//! both with a parser of its own and knows nothing of our ranking.
//!
//! **How**: `cargo xtask bench quality`; `--pages N` bounds each site, `--most N` the queries of a
//! kind.
//!
//! **Would be falsified by**: a mean that is not higher with links and rank, over all sites.

use super::table::aligned;
use crate::docs;
use crate::nginx::Nginx;
use crate::{argiope_bin, process, scratch, test, tools};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SITES: [&[&str]; 3] = [
    docs::EVERYDAY[0],
    &["rust-doc"],
    &["linux-doc-6.1", "linux-doc-6.12", "linux-doc-6.6", "linux-doc-5.10"],
];
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/quality.py");
const LIMIT: Duration = Duration::from_secs(3600);

/// Reads the flags, crawls every site and asks.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut sites, mut pages, mut most) = (Vec::new(), "3000", "200");
    for pair in args.chunks(2) {
        match pair {
            ["--site", name] => sites.push(docs::site(name)),
            ["--pages", count] => pages = count,
            ["--most", count] => most = count,
            _ => bail!("--site PACKAGE|DIR, --pages N and --most N are known here"),
        }
    }
    if sites.is_empty() {
        sites = SITES.iter().map(|names| docs::first_of(names)).collect();
    }
    tools::prepare(tools::FOR_BENCH);
    let binary = match argiope_bin() {
        Some(bin) => bin,
        None => test::build()?,
    };
    let (mut rows, mut sums) = (Vec::new(), [[0.0; 2]; 2]);
    for docs in sites {
        let docs = match docs {
            Ok(docs) => docs.past_refresh(),
            Err(error) => {
                eprintln!("SKIPPED a site: {error:#}");
                continue;
            }
        };
        let dir = scratch().join("bench-quality").join(docs.name.replace('/', "-"));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir)?;
        let (root, start) = (docs.root.to_string_lossy(), &docs.start[1..]);
        let out = dir.to_string_lossy();
        let made = ["make", &root, start, &out, "--pages", pages, "--most", most];
        eprintln!("{}: {}", docs.name, script(&dir, &made)?);
        let nginx = Nginx::serve(&dir.join("site"), &dir, "")?;
        let data = dir.join("data");
        let mut crawl = Command::new(&binary);
        crawl.arg("--data").arg(&data).args(["--format", "json", "crawl", "--scope", "host"]);
        crawl.args(["--delay", "0s", "--allow-private", "--connections-per-host", "8"]);
        crawl.arg(format!("{}/{start}", nginx.origin));
        process::run(&mut crawl, &dir, "crawl", LIMIT)?.ok()?;
        let (bin, data) = (binary.to_string_lossy(), data.to_string_lossy());
        let told = script(&dir, &["ask", &bin, &data, &nginx.origin, &out])?;
        for (at, kind) in ["link", "hub"].into_iter().enumerate() {
            let asked = told[kind]["asked"].as_f64().context("how many were asked")?;
            for (side, name) in ["own_words", "with_links"].into_iter().enumerate() {
                let figure = |what: &str| told[kind][name][what].as_f64().unwrap_or(0.0);
                sums[at][side] += figure("mrr") * asked;
                let share = |what: &str| format!("{:.1}", 100.0 * figure(what) / asked.max(1.0));
                rows.push(vec![
                    docs.name.clone(),
                    kind.to_owned(),
                    format!("{asked:.0}"),
                    name.replace('_', " "),
                    share("first"),
                    share("ten"),
                    format!("{:.3}", figure("mrr")),
                ]);
            }
        }
    }
    let heads = ["site", "queries", "asked", "search", "first %", "in ten %", "mean 1/place"];
    println!("{}", aligned(&heads, &rows));
    for (kind, [own, with]) in ["known items", "hubs"].into_iter().zip(sums) {
        ensure!(with > own, "{kind} are found no better with links and rank");
        println!("{kind}: {:.1} % better with links and rank", 100.0 * (with / own - 1.0));
    }
    Ok(())
}

fn script(dir: &Path, args: &[&str]) -> Result<Value> {
    let mut command = Command::new("python3");
    let done = process::run(command.arg(SCRIPT).args(args), dir, args[0], LIMIT)?.ok()?;
    serde_json::from_str(done.out_text().trim()).context("what the script says")
}
