//! `cargo xtask bench fleet`: what more workers are worth, and what PostgreSQL costs.
//!
//! **Measured**: *scaling*, seconds from the giving of a crawl to its end with one worker and with
//! several, in pairs. Each worker has 16 connections, every server takes 200 ms, and every host is a site of
//! its own: a worker is the limit. *Cost*, user and system seconds of the crawling process and of
//! PostgreSQL with everything it has started, per page, against the same crawl into the embedded store; neither
//! side indexes words or counts links, both compress, digest and sync. Statements, rows and bytes
//! of write-ahead log per page are the server's own counts.
//!
//! **Corpus**: made-up hosts on loopback addresses, each with a tree of pages and a link next door; for the
//! cost a Debian documentation package served by nginx, by default PostgreSQL's.
//!
//! **How**: `cargo xtask bench fleet --runs 3`. It starts a PostgreSQL of its own with the settings that the
//! package comes with, and `pg_stat_statements`.
//!
//! **Would be falsified by**: four workers less than 3.5 times as fast as one; fewer than half
//! the pages per CPU second of the embedded store.

#[path = "../../../crates/store/tests/support/cluster.rs"]
mod cluster;

use super::measure::{measure, median, spread};
use super::table::aligned;
use crate::docs;
use crate::nginx::Nginx;
use crate::process::Running;
use crate::{argiope_bin, process, scratch, test};
use anyhow::{Context, Result, ensure};
use cluster::{Cluster, name_in};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

const LEAST_SPEED_UP: f64 = 3.5;
const LEAST_SHARE: f64 = 0.5;
const CONNECTIONS: &str = "16";
const ANSWER: Duration = Duration::from_millis(200);
const LIMIT: Duration = Duration::from_secs(1800);
const SETTINGS: &str = "shared_preload_libraries = 'pg_stat_statements'\n";

/// Reads the flags and measures both.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut runs, mut workers, mut hosts, mut pages) = (3, 4, 400, 30);
    let mut site = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        let number = || value.parse().with_context(|| format!("{word} takes a number"));
        match *word {
            "--runs" => runs = number()?,
            "--workers" => workers = number()?,
            "--hosts" => hosts = number()?,
            "--pages" => pages = number()?,
            "--site" => site = Some(*value),
            other => anyhow::bail!("{other} is no flag of bench fleet"),
        }
    }
    let binary = match argiope_bin() {
        Some(binary) => binary,
        None => test::build()?,
    };
    let dir = scratch().join("bench-fleet");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let cluster = Cluster::start(SETTINGS).context("PostgreSQL is not installed")?;
    let bench = Bench { binary, dir, cluster };
    bench.scaling(runs, workers, hosts, pages)?;
    bench.cost(runs, site)
}

struct Bench {
    binary: PathBuf,
    dir: PathBuf,
    cluster: Cluster,
}

impl Bench {
    fn argiope(&self, data: &str, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.arg("--data").arg(self.dir.join(data)).args(["--format", "json"]).args(args);
        command
    }

    fn scaling(&self, runs: usize, workers: usize, hosts: usize, pages: usize) -> Result<()> {
        let web = Web::start(hosts, pages)?;
        let seeds = self.dir.join("seeds.txt");
        std::fs::write(&seeds, web.seeds())?;
        let mut speeds = [Vec::new(), Vec::new()];
        for _ in 0..runs {
            for (side, workers) in [1, workers].into_iter().enumerate() {
                let speed = self.one_fleet(workers, &seeds, hosts * pages)?;
                println!("{workers} at work: {speed:.1} pages/s");
                speeds[side].push(speed);
            }
        }
        let ratios: Vec<f64> =
            speeds[0].iter().zip(&speeds[1]).map(|(one, all)| all / one).collect();
        let (low, high) = spread(&ratios);
        let ratio = median(&ratios);
        println!(
            "\n{hosts} hosts, {} pages, {CONNECTIONS} connections each, answers after {ANSWER:?}: \
             {workers} workers {ratio:.2} times one ({low:.2}-{high:.2})",
            hosts * pages
        );
        if workers == 4 {
            verdict(ratio >= LEAST_SPEED_UP, ratio, LEAST_SPEED_UP);
        }
        Ok(())
    }

    /// Pages a second of so many workers, the one that gives the order included.
    fn one_fleet(&self, workers: usize, seeds: &Path, pages: usize) -> Result<f64> {
        let root = self.dir.join("pages");
        let _ = std::fs::remove_dir_all(&root);
        let url = self.cluster.database();
        let seeds = seeds.display().to_string();
        let archive = root.display().to_string();
        let always = ["--store", &url, "--archive", &archive, "--allow-private", "--delay", "0s"];
        let always = [&always[..], &["--connections", CONNECTIONS]].concat();
        let mut others = Vec::new();
        for number in 1..workers {
            let mut command = self.argiope("reader", &[&["worker"][..], &always].concat());
            others.push(Running::start(&mut command, &self.dir, &format!("worker-{number}"))?);
        }
        let joined = || {
            let status = self.argiope("reader", &["status", "--fleet", "--store", &url]);
            let rows = process::output(&mut { status })?;
            let row: Value = serde_json::from_str(rows.lines().next().unwrap_or("null"))?;
            Ok::<_, anyhow::Error>(row["workers"] == workers - 1 && row["free"] == 0)
        };
        while workers > 1 && !joined()? {
            std::thread::sleep(Duration::from_millis(200));
        }
        let order = ["crawl", "--seeds", &seeds, "--scope", "any"];
        let begun = Instant::now();
        let mut command = self.argiope("reader", &[&order[..], &always].concat());
        let done = process::run(&mut command, &self.dir, "giver", LIMIT)?.ok()?;
        let elapsed = begun.elapsed().as_secs_f64();
        for worker in others {
            process::must(Command::new("kill").arg("-TERM").arg(worker.id().to_string()))?;
            worker.wait(Duration::from_secs(60))?.ok()?;
        }
        let fetched = fetched(&done.out_text())?;
        ensure!(fetched == pages as u64, "{fetched} of {pages} pages");
        Ok(pages as f64 / elapsed)
    }

    fn cost(&self, runs: usize, site: Option<&str>) -> Result<()> {
        let docs = match site {
            Some(name) => docs::site(name)?,
            None => docs::first_of(docs::EVERYDAY[0])?,
        };
        let docs = docs.past_refresh();
        let nginx = Nginx::serve(&docs.root, &self.dir, "")?;
        let start = format!("{}{}", nginx.origin, docs.start);
        let flags = ["--delay", "0s", "--allow-private", "--connections-per-host", "8"];
        let embedded = ["--no-links", "--no-index"];
        let (mut alone, mut shared, mut servers) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = Vec::new();
        let mut pages = 0.0;
        // The first of each warms up.
        for round in 0..=runs {
            let fresh = |name: &str| {
                let _ = std::fs::remove_dir_all(self.dir.join(name));
                let _ = Command::new("sync").status();
            };
            fresh("alone");
            let crawl =
                self.argiope("alone", &[&["crawl", &start], &flags[..], &embedded].concat());
            let own = measure(&crawl, &[0], &self.dir, "alone", LIMIT)?;
            pages = fetched(&own.out)? as f64;
            fresh("shared");
            let url = self.cluster.database();
            let crawl =
                self.argiope("shared", &[&["crawl", &start, "--store", &url], &flags[..]].concat());
            let before = self.cluster.cpu_seconds();
            let first = self.counted(name_in(&url));
            let other = measure(&crawl, &[0], &self.dir, "shared", LIMIT)?;
            let server = self.cluster.cpu_seconds() - before;
            ensure!(fetched(&other.out)? as f64 == pages, "the two fetched different pages");
            if round > 0 {
                alone.push(own.cpu_s / pages * 1e3);
                shared.push((other.cpu_s + server) / pages * 1e3);
                servers.push(server / pages * 1e3);
                let last = self.counted(name_in(&url));
                counts.push([0, 1, 2].map(|at| (last[at] - first[at]) / pages));
            }
        }
        println!("\n{}, {pages:.0} pages, {runs} runs, CPU ms a page", docs.name);
        let shown = |values: &[f64]| {
            let (low, high) = spread(values);
            format!("{:.3} ({low:.3}-{high:.3})", median(values))
        };
        let rows = vec![
            vec!["embedded store".to_owned(), shown(&alone), String::new()],
            vec!["PostgreSQL, all of it".to_owned(), shown(&shared), shown(&servers)],
        ];
        print!("{}", aligned(&["", "all", "the server's part"], &rows));
        let of = |at: usize| median(&counts.iter().map(|c| c[at]).collect::<Vec<_>>());
        println!(
            "a page: {:.2} statements, {:.1} rows, {:.0} bytes of write-ahead log",
            of(0),
            of(1),
            of(2)
        );
        let share = median(&alone) / median(&shared);
        verdict(share >= LEAST_SHARE, share, LEAST_SHARE);
        Ok(())
    }

    /// Statements, rows and bytes of log so far, of one database but for the log.
    fn counted(&self, database: &str) -> [f64; 3] {
        let _ = self.cluster.sql(database, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
        let sql = "SELECT coalesce(sum(calls), 0), coalesce(sum(rows), 0), \
            (SELECT wal_bytes FROM pg_stat_wal) FROM pg_stat_statements s \
            JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database()";
        let row = self.cluster.sql(database, sql);
        let mut numbers = row.trim().split('|').map(|n| n.parse().unwrap_or(f64::NAN));
        [(); 3].map(|()| numbers.next().unwrap_or(f64::NAN))
    }
}

fn verdict(holds: bool, found: f64, wanted: f64) {
    let word = if holds { "holds" } else { "DOES NOT HOLD" };
    println!("{word}: {found:.2}, at least {wanted}");
}

fn fetched(out: &str) -> Result<u64> {
    let last = out.lines().last().context("the crawl printed no summary")?;
    let summary: Value = serde_json::from_str(last).context("the summary is not JSON")?;
    summary["fetched"].as_u64().context("no number of pages")
}

/// Hosts that take their time.
struct Web {
    addresses: Arc<Vec<SocketAddr>>,
}

impl Web {
    fn start(hosts: usize, pages: usize) -> Result<Web> {
        let bind = |host: usize| {
            let address = Ipv4Addr::new(127, 2, (host / 250) as u8, (host % 250 + 1) as u8);
            TcpListener::bind((address, 0)).context("bind a loopback address")
        };
        let listeners: Vec<TcpListener> = (0..hosts).map(bind).collect::<Result<_>>()?;
        let addresses =
            listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?;
        let addresses = Arc::new(addresses);
        for (host, listener) in listeners.into_iter().enumerate() {
            let addresses = Arc::clone(&addresses);
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    let addresses = Arc::clone(&addresses);
                    std::thread::spawn(move || answer_all(&stream, host, pages, &addresses));
                }
            });
        }
        Ok(Web { addresses })
    }

    fn seeds(&self) -> String {
        self.addresses.iter().map(|address| format!("http://{address}/1\n")).collect()
    }
}

fn answer_all(
    stream: &TcpStream,
    host: usize,
    pages: usize,
    addresses: &[SocketAddr],
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    loop {
        let (mut path, mut line) = (String::new(), String::new());
        while lines.read_line(&mut line)? > 0 && !line.trim().is_empty() {
            if path.is_empty() {
                path = line.split(' ').nth(1).unwrap_or("/").to_owned();
            }
            line.clear();
        }
        if path.is_empty() {
            return Ok(());
        }
        std::thread::sleep(ANSWER);
        let page = path.trim_start_matches('/').parse().ok().filter(|n| (1..=pages).contains(n));
        let (status, body) = match page {
            None => ("404 Not Found", "none".to_owned()),
            Some(page) => ("200 OK", body(host, page, pages, addresses)),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        (&*stream).write_all(&[head.as_bytes(), body.as_bytes()].concat())?;
    }
}

/// A page leads to its children on the same host and to its like next door.
fn body(host: usize, page: usize, pages: usize, addresses: &[SocketAddr]) -> String {
    let mut text = format!("<title>Page {page} of host {host}</title>\n");
    for child in [2 * page, 2 * page + 1].into_iter().filter(|child| *child <= pages) {
        let _ = writeln!(text, "<a href=\"/{child}\">{child}</a>");
    }
    let next = addresses[(host + 1) % addresses.len()];
    let _ = writeln!(text, "<a href=\"http://{next}/{page}\">next door</a>");
    text
}
