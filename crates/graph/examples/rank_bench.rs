//! The rank benchmark: time and memory of PageRank and harmonic centrality over a large graph.
//!
//! * What is measured: from the lists of who links where to the file of ranks: rounds, seconds, the
//!   most memory the process ever had.
//! * Corpus: made up from a seed. Every page is linked to by 20 others on average: few by very many,
//!   most by a handful; two links in three come from pages found about the same time, as on real
//!   sites, the rest from anywhere; one page in five links nowhere.
//! * How to run: `cargo run --release -p argiope-graph --example rank_bench -- --pages 1000000
//!   --measure pagerank --dir DIR`. One JSON line on stdout. `cargo xtask bench rank` does it for
//!   one, three and ten million pages.
//! * What would falsify it: more than 2 GB for ten million pages, or memory that grows faster than
//!   the pages do.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use argiope_graph::rank::{ListWriter, Measure, Of, RankOrder, Web, solve};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

/// Links to a page, on average, those twice from one page included: without them there are 20.
const LINKS: u64 = 21;
/// How far away a page found about the same time is.
const NEAR: u64 = 2_000;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n.max(1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut pages, mut measure, mut dir) = (1_000_000u64, Measure::PageRank, PathBuf::new());
    let mut given = std::env::args().skip(1);
    while let Some(flag) = given.next() {
        let value = given.next().ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--pages" => pages = value.parse()?,
            "--measure" if value == "pagerank" => measure = Measure::PageRank,
            "--measure" if value == "harmonic" => measure = Measure::Harmonic,
            "--dir" => dir = value.into(),
            other => return Err(format!("{other} {value} is not known").into()),
        }
    }
    if dir.as_os_str().is_empty() {
        return Err("--dir DIR is needed: a directory for the lists and the ranks".into());
    }
    std::fs::create_dir_all(&dir)?;
    let began = Instant::now();
    let web = made_up(pages, &dir)?;
    let (links, bytes) = (web.lists.links(), web.lists.bytes());
    let made_s = began.elapsed().as_secs_f64();
    let began = Instant::now();
    let order = RankOrder { dir: &dir, measure, of: Of::Pages, now_ms: 0, calm: false };
    let ranks = solve(web, &order, BTreeMap::new(), began)?;
    let solved_s = began.elapsed().as_secs_f64();
    let best = ranks.top_docs(1)?;
    println!(
        "{{\"pages\":{pages},\"links\":{links},\"bytes_per_link\":{:.3},\"rounds\":{},\
         \"error\":{:.3},\"made_s\":{made_s:.1},\"solved_s\":{solved_s:.1},\"best\":{:e},\
         \"file_mb\":{:.1},\"peak_mb\":{:.1}}}",
        bytes as f64 / links as f64,
        ranks.about().rounds,
        ranks.about().error,
        best.first().map_or(0.0, |(_, value)| *value),
        std::fs::metadata(ranks.path())?.len() as f64 / 1e6,
        peak_mb()?,
    );
    Ok(())
}

/// The graph, list by list; no list is in memory for longer than it takes to write it.
fn made_up(pages: u64, dir: &std::path::Path) -> Result<Web, Box<dyn std::error::Error>> {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut out = vec![0u32; pages as usize];
    let mut lists = ListWriter::new(dir)?;
    let mut sources: Vec<u32> = Vec::new();
    for page in 0..pages {
        // The n-th page in some order is linked to in proportion to one over the root of n.
        let place = dice.roll(pages) + 1;
        let often = (LINKS as f64 / 2.0 * (pages as f64 / place as f64).sqrt()) as u64;
        sources.clear();
        for _ in 0..often {
            let near = dice.roll(3) > 0;
            let source = match near {
                true => (page + pages - NEAR / 2 + dice.roll(NEAR)) % pages,
                false => dice.roll(pages),
            };
            // One in five links nowhere.
            sources.push((if source % 5 == 0 { (source + 1) % pages } else { source }) as u32);
        }
        sources.sort_unstable();
        sources.dedup();
        if !sources.is_empty() {
            sources.iter().for_each(|source| out[*source as usize] += 1);
            lists.add(page as u32, &sources)?;
        }
    }
    Ok(Web { ids: (0..pages).collect(), out, lists: lists.finish(false)? })
}

/// The most memory this process ever had.
fn peak_mb() -> Result<f64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    let kb: f64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kb / 1024.0)
}
