//! `cargo xtask bench search`: how quickly searches are answered, and what a page's words cost.
//!
//! **Measured**: (1) the time of every query of the mix, with exact totals and snippets, against bare
//! tantivy over the same fields, without ranking extras and without snippets; CPU of taking the pages
//! in and the size of the index, against tantivy alone on the same text: by the example `measure` of
//! the index, in one process. (2) User and system seconds of a whole crawl against the same crawl
//! with `--no-index`, from `wait4`; what is added per page is held against tantivy alone on the text
//! of the same pages. The sizes are those of the data directory at the end.
//!
//! **Corpus**: Debian documentation packages, more than 30,000 pages together; for the crawls, served
//! by nginx on loopback, by default PostgreSQL's (`--site` names others). The queries are those of
//! `shared/suites/search-queries.txt` beside the checkout, or below `ARGIOPE_SUITES`.
//!
//! **How**: `cargo xtask bench search --runs 10`; `--runs 0` leaves the crawls out, `--pages PACKAGE`
//! chooses what is searched, `--measure BINARY` is the example, built already. One warm-up each, then pairs, the order of each the other way round.
//! The number that counts is the median of the differences of the pairs.
//!
//! **Would be falsified by**: a median or 99th percentile above 2 times tantivy's, CPU above 1.3 times
//! tantivy's, an index above 0.6 of the text, texts above 0.4 of it.

use super::measure::{Cost, disk_bytes, measure, median, spread};
use super::table::aligned;
use crate::docs::{self, Docs};
use crate::nginx::Nginx;
use crate::{argiope_bin, check, process, root, scratch, target, test, tools};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const MOST_TIME: f64 = 2.0;
const MOST_CPU: f64 = 1.3;
const MOST_INDEX: f64 = 0.6;
const MOST_TEXTS: f64 = 0.4;
const LIMIT: Duration = Duration::from_secs(3600);
const PACKAGES: &[&str] = &["rust-doc", "openjdk-17-doc", "libboost1.74-doc"];

/// Reads the flags and measures.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut runs, mut sites, mut pages, mut example) = (10, Vec::new(), Vec::new(), None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--runs" => runs = value.parse().context("--runs takes a number")?,
            "--site" => sites.push(docs::site(value)?),
            "--pages" => pages.push(docs::site(value)?),
            "--measure" => example = Some(PathBuf::from(value)),
            _ => bail!("unknown flag {word}"),
        }
    }
    tools::prepare(tools::FOR_BENCH);
    if sites.is_empty() {
        sites.push(docs::first_of(docs::EVERYDAY[0])?);
    }
    if pages.is_empty() {
        pages = docs::EVERYDAY.iter().map(|names| docs::first_of(names)).collect::<Result<_>>()?;
        pages.extend(PACKAGES.iter().map(|name| docs::site(name)).collect::<Result<Vec<_>>>()?);
    }
    let dir = scratch().join("bench-search");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let example = match example {
        Some(built) => built,
        None => self::example()?,
    };
    answers(&example, &pages, &dir)?;
    if runs > 0 {
        let binary = match argiope_bin() {
            Some(bin) => bin,
            None => test::build()?,
        };
        for docs in sites {
            crawls(&binary, &example, &docs.past_refresh(), runs, &dir)?;
        }
    }
    Ok(())
}

/// The measuring program of the index.
fn example() -> Result<PathBuf> {
    let flags = ["build", "--release", "--package", "argiope-index", "--example", "measure"];
    process::must(check::cargo().args(flags))?;
    Ok(target().join("release/examples/measure"))
}

/// Queries over many pages.
fn answers(example: &Path, pages: &[Docs], dir: &Path) -> Result<()> {
    let suites = match std::env::var_os("ARGIOPE_SUITES") {
        Some(path) => PathBuf::from(path),
        None => root().join("../shared/suites"),
    };
    let queries = suites.join("search-queries.txt");
    ensure!(queries.is_file(), "{} is not there", queries.display());
    let told = told(example, pages, Some(&queries), dir)?;
    print!("{}", told.all);
    let [theirs, ours] = told.times.context("the measuring told no times")?;
    let mut rows = Vec::new();
    for (at, name) in ["median", "99 %"].iter().enumerate() {
        let ratio = ours[at] / theirs[at];
        let cells = [format!("{:.3}", theirs[at]), format!("{:.3}", ours[at])];
        rows.push([vec![(*name).to_string()], cells.to_vec(), verdict(ratio, MOST_TIME)].concat());
    }
    let ms = "ms";
    let heads = ["time of a query", &format!("tantivy {ms}"), &format!("ours {ms}"), "ratio", ""];
    println!("\n{}", aligned(&heads, &rows));
    let rows = [
        [vec!["CPU of indexing to tantivy's".into()], verdict(told.cpu[1] / told.cpu[0], MOST_CPU)],
        [vec!["index to text".into()], verdict(told.sizes[1], MOST_INDEX)],
        [vec!["text blobs to text".into()], verdict(told.blobs_mb / told.text_mb, MOST_TEXTS)],
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.concat()).collect();
    println!("{}", aligned(&["the index alone", "ratio", ""], &rows));
    Ok(())
}

/// A ratio, and whether it is within its bound.
fn verdict(ratio: f64, most: f64) -> Vec<String> {
    let holds = if ratio <= most { "holds" } else { "DOES NOT HOLD" };
    vec![format!("{ratio:.2}"), format!("{holds}, at most {most}")]
}

/// What the measuring program tells: tantivy first, then ours.
struct Told {
    all: String,
    text_mb: f64,
    blobs_mb: f64,
    cpu: [f64; 2],
    sizes: [f64; 2],
    /// Median and 99th percentile, milliseconds.
    times: Option<[[f64; 2]; 2]>,
}

fn told(example: &Path, pages: &[Docs], queries: Option<&Path>, dir: &Path) -> Result<Told> {
    let folder = dir.join("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    for docs in pages {
        let name = docs.name.replace('/', "-");
        std::os::unix::fs::symlink(docs.root.canonicalize()?, folder.join(name))?;
    }
    let mut command = Command::new(example);
    command.arg(&folder).args(queries);
    let done = process::run(&mut command, dir, "measure", LIMIT)?.ok()?;
    let all = done.out_text();
    let line = |begin: &str, holding: &str| {
        let mut lines = all.lines();
        let found = lines.find(|line| line.starts_with(begin) && line.contains(holding));
        found.map(numbers).with_context(|| format!("no line {begin} … {holding} in:\n{all}"))
    };
    let first = numbers(all.lines().next().context("the measuring told nothing")?);
    let [_, text_mb, blobs_mb] = first[..] else { bail!("not three numbers: {first:?}") };
    let (theirs, ours) = (line("tantivy", "CPU-s")?, line("ours", "CPU-s")?);
    let at = |numbers: &[f64], at: usize| numbers.get(at).copied().context("a number is missing");
    let times = match queries {
        None => None,
        Some(_) => {
            let (theirs, ours) = (line("tantivy", "median")?, line("ours", "median")?);
            // Between the two stand the ninetieth percentile and the names of both.
            Some([[at(&theirs, 0)?, at(&theirs, 4)?], [at(&ours, 0)?, at(&ours, 4)?]])
        }
    };
    Ok(Told {
        text_mb,
        blobs_mb,
        cpu: [at(&theirs, 0)?, at(&ours, 0)?],
        sizes: [at(&theirs, 2)?, at(&ours, 2)?],
        times,
        all: all.clone(),
    })
}

/// The numbers of a line.
fn numbers(line: &str) -> Vec<f64> {
    line.split(|c: char| !c.is_ascii_digit() && c != '.').filter_map(|n| n.parse().ok()).collect()
}

/// A crawl with and without the index.
fn crawls(binary: &Path, example: &Path, docs: &Docs, runs: usize, dir: &Path) -> Result<()> {
    let alone = told(example, std::slice::from_ref(docs), None, dir)?;
    let nginx = Nginx::serve(&docs.root, dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let keep = dir.join("keep");
    let mut costs: [Vec<Cost>; 2] = [Vec::new(), Vec::new()];
    let (mut pages, mut sizes) = (None, [0, 0]);
    for round in 0..=runs {
        for turn in 0..2 {
            let at = (turn + round) % 2;
            let _ = std::fs::remove_dir_all(&keep);
            let _ = Command::new("sync").status();
            let mut command = Command::new(binary);
            command.arg("--data").arg(&keep).args(["--format", "json", "crawl", &start]);
            command.args(["--delay", "0s", "--allow-private", "--connections-per-host", "8"]);
            if at == 0 {
                command.arg("--no-index");
            }
            let cost = measure(&command, &[0], dir, "crawl", LIMIT)?;
            let last = cost.out.lines().last().context("the crawl printed no summary")?;
            let summary: Value = serde_json::from_str(last).context("the summary is not JSON")?;
            let fetched = summary["fetched"].as_u64().context("no number of pages")?;
            ensure!(*pages.get_or_insert(fetched) == fetched, "{pages:?} pages, then {fetched}");
            if at == 1 {
                sizes = [disk_bytes(&keep.join("index")), disk_bytes(&keep.join("text"))];
                ensure!(sizes[0] > 0 && sizes[1] > 0, "no index or no texts in {}", keep.display());
            }
            if round > 0 {
                costs[at].push(cost);
            }
        }
    }
    let pages = pages.context("no run")? as f64;
    let shown = |values: &[f64]| {
        let (low, high) = spread(values);
        format!("{:.3} ({low:.3}-{high:.3})", median(values))
    };
    let per_page = |cost: &Cost| cost.cpu_s * 1000.0 / pages;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (costs, name) in costs.iter().zip(["--no-index", "index on"]) {
        let cpu: Vec<f64> = costs.iter().map(per_page).collect();
        let peak: Vec<f64> = costs.iter().map(|cost| cost.peak_mb).collect();
        rows.push(vec![name.into(), shown(&cpu), format!("{:.0}", median(&peak))]);
    }
    let pairs = costs[0].iter().zip(&costs[1]);
    let added: Vec<f64> = pairs.map(|(off, on)| per_page(on) - per_page(off)).collect();
    rows.push(vec!["added".into(), shown(&added), String::new()]);
    let theirs = alone.cpu[0] * 1000.0 / pages;
    rows.push(vec!["tantivy alone".into(), format!("{theirs:.3}"), String::new()]);
    println!("\n{}, {pages:.0} pages, {runs} pairs", docs.name);
    print!("{}", aligned(&["", "CPU ms per page", "peak MB"], &rows));
    let text = alone.text_mb * 1e6;
    let rows = [
        [vec!["CPU added to tantivy's".into()], verdict(median(&added) / theirs, MOST_CPU)],
        [vec!["index to text".into()], verdict(sizes[0] as f64 / text, MOST_INDEX)],
        [vec!["text blobs to text".into()], verdict(sizes[1] as f64 / text, MOST_TEXTS)],
    ];
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.concat()).collect();
    println!("\n{}", aligned(&["the crawl", "ratio", ""], &rows));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn the_numbers_of_a_line_are_read_in_their_order() {
        let line = "ours:    1.25 CPU-s, 3.5 MB = 0.412 of the text";
        assert_eq!(numbers(line), [1.25, 3.5, 0.412]);
        let line = "tantivy  median 0.512 ms, 90 % 2.000 ms, 99 % 8.100 ms";
        assert_eq!(numbers(line), [0.512, 90.0, 2.0, 99.0, 8.1]);
    }
}
