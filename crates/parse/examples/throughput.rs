//! How many megabytes of HTML are read per second of CPU.
//!
//! * Measured: `parse_html` and `resolve` together, one thread, bodies already in memory.
//! * Corpus: every `.html` and `.htm` file below the directory given, read beforehand.
//! * Run: `cargo run --release -p argiope-parse --example throughput -- DIR [ROUNDS]`
//! * What would falsify the figure: a system that does not tell the CPU time of a thread
//!   (then the wall clock counts), or a corpus that does not fit into memory.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use argiope_model::CanonicalUrl;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(dir) = args.next() else {
        eprintln!("usage: throughput DIR [ROUNDS]");
        std::process::exit(2);
    };
    let rounds: u32 = args.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut files = Vec::new();
    collect(Path::new(&dir), &mut files);
    files.sort();
    let bodies: Vec<Vec<u8>> = files.iter().filter_map(|f| std::fs::read(f).ok()).collect();
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    let url = CanonicalUrl::parse("https://docs.example.org/api/java/base/page.html")
        .expect("a literal URL parses");

    let (mut parse, mut both) = (Duration::MAX, Duration::MAX);
    let (mut links, mut resolved, mut text) = (0, 0, 0);
    for _ in 0..rounds {
        let start = Clock::now();
        for body in &bodies {
            std::hint::black_box(argiope_parse::parse_html(body, Some("utf-8")));
        }
        parse = parse.min(start.elapsed());
        (links, resolved, text) = (0, 0, 0);
        let start = Clock::now();
        for body in &bodies {
            let page = argiope_parse::parse_html(body, Some("utf-8"));
            let found = argiope_parse::resolve(&page, &url);
            links += page.links.len();
            resolved += found.links.len();
            text += page.text.len();
        }
        both = both.min(start.elapsed());
    }
    let mb = bytes as f64 / 1e6;
    println!("{} files, {mb:.1} MB, {links} links, {resolved} distinct", bodies.len());
    println!("{:.1} MB of text", text as f64 / 1e6);
    let resolve = both.saturating_sub(parse).as_secs_f64();
    println!("parse    {:7.1} MB/s", mb / parse.as_secs_f64());
    println!("together {:7.1} MB/s", mb / both.as_secs_f64());
    println!("resolve  {:7.2} µs a link", resolve * 1e6 / links.max(1) as f64);
}

/// Time this thread has run: from the kernel where it tells, else the wall clock.
struct Clock(Option<Duration>, Instant);

impl Clock {
    fn now() -> Self {
        Clock(Self::cpu(), Instant::now())
    }

    fn cpu() -> Option<Duration> {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    }

    fn elapsed(&self) -> Duration {
        match (self.0, Self::cpu()) {
            (Some(start), Some(now)) => now - start,
            _ => self.1.elapsed(),
        }
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "html" || e == "htm") {
            files.push(path);
        }
    }
}
