//! `cargo xtask bench news`: what collected news are worth, on several made-up news webs.
//!
//! **Measured**: of every web, a round of `news collect` over its twenty sites in its first edition, and one
//! more in each later edition: articles found and not, titles, dates and authors right, pairs of articles of
//! one story together and apart, by language; seconds and requests' worth of a round.
//!
//! **Corpus**: the example `newsweb` of the crate `testweb`, seeds from 1 on. The truth comes with it.
//!
//! **How**: `cargo xtask bench news --seeds 3`, a minute or two for each seed (one site asks for a second
//! between requests).
//!
//! **Would be falsified by**: precision or recall of articles below 0.95, of pairs below 0.9.

use crate::news::{Figures, measure};
use crate::process::{self, Finished};
use crate::{argiope_bin, check, scratch, test};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const LEAST_ARTICLES: f64 = 0.95;
const LEAST_PAIRS: f64 = 0.9;
const LIMIT: Duration = Duration::from_secs(600);

/// Reads the flags, measures every seed, prints the figures.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut seeds, mut editions, mut is_long) = (1, 1, false);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64> {
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            value.parse().with_context(|| format!("{word} takes a number"))
        };
        match *word {
            "--seeds" => seeds = number()?,
            "--editions" => editions = number()?.clamp(1, 4),
            "--mistakes" => is_long = true,
            other => bail!("{other} is no flag of bench news"),
        }
    }
    let binary = match argiope_bin() {
        Some(binary) => binary,
        None => test::build()?,
    };
    let example = ["--package", "argiope-testweb", "--example", "newsweb"];
    process::must(check::cargo().arg("build").args(example))?;
    let mut holds = true;
    for seed in 1..=seeds {
        let bench = Bench::start(binary.clone(), seed)?;
        for edition in 0..editions {
            if edition > 0 {
                bench.desk("/next")?;
            }
            let began = Instant::now();
            bench.argiope(&[
                "news",
                "collect",
                "--delay",
                "0s",
                "--allow-private",
                "--set",
                &bench.hosts,
            ])?;
            let took = began.elapsed();
            let figures = bench.figures()?;
            println!("seed {seed}, edition {edition}, {took:.1?}\n{}", figures.table());
            if is_long {
                figures.mistakes.iter().for_each(|line| println!("{line}"));
            }
            let (articles, pairs) = (figures.all_articles(), figures.all_pairs());
            holds &= articles.precision().min(articles.recall()) >= LEAST_ARTICLES;
            holds &= pairs.precision().min(pairs.recall()) >= LEAST_PAIRS;
        }
    }
    let verdict = if holds { "holds" } else { "DOES NOT HOLD" };
    println!(
        "{verdict}: articles at least {LEAST_ARTICLES}, pairs at least {LEAST_PAIRS}, precision and recall"
    );
    Ok(())
}

struct Bench {
    binary: PathBuf,
    dir: PathBuf,
    web: Child,
    port: u16,
    hosts: String,
}

impl Bench {
    fn start(binary: PathBuf, seed: u64) -> Result<Bench> {
        let dir = scratch().join(format!("bench-news-{seed}"));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir)?;
        let mut web = Command::new(crate::target().join("debug/examples/newsweb"))
            .args(["--seed", &seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start the news web")?;
        let out = web.stdout.take().context("the news web has no output")?;
        let (mut fronts, mut hosts) = (Vec::new(), String::new());
        for line in BufReader::new(out).lines() {
            let line = line?;
            if line.starts_with("fetch.hosts=") {
                hosts = line;
                break;
            }
            fronts.extend((!line.is_empty()).then_some(line));
        }
        let first = fronts.first().context("the news web has no sites")?;
        let port = first.rsplit(':').next().and_then(|end| end.trim_end_matches('/').parse().ok());
        let bench = Bench { binary, dir, web, port: port.context("no port")?, hosts };
        let add: Vec<&str> =
            ["news", "sites", "add"].into_iter().chain(fronts.iter().map(String::as_str)).collect();
        bench.argiope(&add)?;
        Ok(bench)
    }

    fn argiope(&self, args: &[&str]) -> Result<Finished> {
        let mut command = Command::new(&self.binary);
        command.arg("--data").arg(self.dir.join("data")).args(["--format", "json"]).args(args);
        process::run(&mut command, &self.dir, args[1], LIMIT)?.ok()
    }

    /// What the desk of the news web says.
    fn desk(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: desk.test\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").context("no answer of the desk")?;
        Ok(body.to_owned())
    }

    fn figures(&self) -> Result<Figures> {
        let truth: Value = serde_json::from_str(&self.desk("/truth.json")?)?;
        let listed = self.argiope(&["news", "list", "--articles", "--limit", "100000"])?;
        let rows = listed
            .out_text()
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<Vec<Value>, _>>()?;
        Ok(measure(&truth, &rows))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.web.kill();
        let _ = self.web.wait();
    }
}
