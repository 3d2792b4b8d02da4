//! The frontier benchmark: how much processor time and memory a discovered URL costs, and
//! whether that holds as millions become known.
//!
//! * What is measured: everything between a parsed page and its durable commit, without the
//!   network: the cache of seen URLs, the frontier's windows, one store batch per 64 pages
//!   (rows, queue moves, captures, links, payloads, change log), claims, refills, releases.
//! * Corpus: made up from a seed at IRLbot's ratios. A page has 62 links, 6.5 of them new; of
//!   the others nine in ten were seen lately, the rest are old ones that only the store knows.
//!   URLs spread over `urls / 50` hosts, few large and many small. A page's links weigh 1 KB.
//! * How to run: `cargo run --release -p argiope-store --example frontier_bench -- \
//!   --urls 2000000 --memory 512MB --dir DIR [--seed 1]`. One JSON line on stdout, one line of
//!   progress per tenth on stderr. The memory given covers the store (3/8), the cache (1/16)
//!   and the windows (1/16), as in a crawl.
//! * What would falsify it: `peak_anon_mb` above the memory given, or `cpu_us_per_url` at 20
//!   million above 1.5 times that at 2 million, on the same machine. `corpus_us_per_url` is
//!   the part of it that goes into making up the corpus.

#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "frontier_bench/corpus.rs"]
mod corpus;
#[path = "frontier_bench/crawl.rs"]
mod crawl;
#[path = "frontier_bench/gauge.rs"]
mod gauge;

use argiope_store::EmbeddedStore;
use corpus::Corpus;
use crawl::Crawl;
use gauge::Gauge;
use std::path::PathBuf;

struct Arguments {
    urls: u64,
    memory: u64,
    dir: PathBuf,
    seed: u64,
}

fn arguments() -> Result<Arguments, String> {
    let mut out = Arguments { urls: 200_000, memory: 512_000_000, dir: PathBuf::new(), seed: 1 };
    let mut given = std::env::args().skip(1);
    while let Some(flag) = given.next() {
        let value = given.next().ok_or(format!("{flag} needs a value"))?;
        let number = |text: &str| text.parse::<u64>().map_err(|e| format!("{flag} {text}: {e}"));
        match flag.as_str() {
            "--urls" => out.urls = number(&value)?,
            "--memory" => out.memory = number(value.trim_end_matches("MB"))? * 1_000_000,
            "--dir" => out.dir = value.into(),
            "--seed" => out.seed = number(&value)?,
            other => return Err(format!("{other} is not known")),
        }
    }
    match out.dir.as_os_str().is_empty() {
        true => Err("--dir DIR is needed: an empty directory on the disk to be measured".into()),
        false => Ok(out),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { urls, memory, dir, seed } = arguments()?;
    let corpus_us = corpus::cost_us(urls, seed);
    let mut gauge = Gauge::new();
    let store = Box::new(EmbeddedStore::open(&dir, memory * 3 / 8)?);
    let mut crawl = Crawl::begin(store, memory, Corpus::new(urls, seed))?;
    let mut tenth = 1;
    while crawl.known() < urls {
        crawl.round()?;
        gauge.sample();
        if crawl.known() * 10 >= urls * tenth {
            eprintln!("{}", gauge.lap(crawl.known(), crawl.state()));
            tenth += 1;
        }
    }
    let (pages, links, known) = (crawl.pages, crawl.links, crawl.known());
    let looked_up = crawl.looked_up;
    drop(crawl);
    let (cpu, elapsed) = (gauge.cpu_s(), gauge.elapsed_s());
    let per_url = |amount: f64| amount / known as f64;
    println!(
        "{{\"urls\":{known},\"pages\":{pages},\"links\":{links},\"looked_up\":{looked_up},\
         \"cpu_s\":{cpu:.2},\"cpu_us_per_url\":{:.2},\"corpus_us_per_url\":{corpus_us:.2},\
         \"peak_anon_mb\":{:.0},\"disk_bytes_per_url\":{:.0},\"written_bytes_per_url\":{:.0},\"elapsed_s\":{elapsed:.1}}}",
        per_url(cpu * 1e6),
        gauge.peak_anon_mb(),
        per_url(gauge::disk_bytes(&dir) as f64),
        per_url(gauge::written_bytes()),
    );
    Ok(())
}
