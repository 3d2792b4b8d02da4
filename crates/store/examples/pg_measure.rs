//! What a page costs on PostgreSQL: statements, rows, bytes and log written, and processor time of
//! the server and of the worker, as millions of URLs become known.
//!
//! * What is measured: the same groups that the frontier benchmark commits (64 pages each with 62
//!   links, 6.5 of them new, rows, queue moves, captures, 1 KB of links, payloads, change log, claims and
//!   refills), by one worker that holds every partition, over a Unix socket, synced at each commit.
//! * Corpus and seed: those of `frontier_bench`.
//! * How to run: `cargo run --release -p argiope-store --example pg_measure -- --urls 1000000`. It
//!   starts a PostgreSQL of its own in the temporary directory (`TMPDIR`) with the settings below. One
//!   JSON line per tenth about that tenth alone, a last one about all. `ARGIOPE_TEST_CITUS=8` makes it a
//!   Citus of 8 shards with a coordinator and two workers: processor time is that of all three, statements, rows and
//!   log are those of the coordinator alone.
//! * What would falsify it: a tenth at 10 million URLs that costs more than 1.5 times the tenth at
//!   1 million, in statements, rows, bytes of log or processor time per page.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used)]

#[path = "../tests/support/cluster.rs"]
mod cluster;
#[allow(dead_code)] // Of the three, what only the frontier benchmark uses.
#[path = "frontier_bench/corpus.rs"]
mod corpus;
#[allow(dead_code)]
#[path = "frontier_bench/crawl.rs"]
mod crawl;
#[allow(dead_code)]
#[path = "frontier_bench/gauge.rs"]
mod gauge;

use argiope_store::{PostgresOptions, PostgresStore};
use cluster::{Cluster, name_in};
use corpus::Corpus;
use crawl::Crawl;
use gauge::Gauge;
use std::time::{Duration, Instant};

/// A small server that was given thought: the rest is as it comes.
const SETTINGS: &str = "shared_buffers = 2GB
max_wal_size = 8GB
checkpoint_timeout = 15min
wal_compression = lz4
shared_preload_libraries = 'pg_stat_statements'
";

/// What has been counted so far.
#[derive(Clone, Copy, Default)]
struct Counts {
    urls: f64,
    pages: f64,
    seconds: f64,
    client_cpu: f64,
    server_cpu: f64,
    statements: f64,
    rows: f64,
    wal: f64,
    images: f64,
    disk: f64,
}

impl Counts {
    fn take(cluster: &Cluster, database: &str, crawl: &Crawl, gauge: &Gauge) -> Counts {
        let sql = "SELECT (SELECT sum(calls) FROM pg_stat_statements),
            tup_inserted + tup_updated + tup_deleted, (SELECT wal_bytes FROM pg_stat_wal),
            (SELECT wal_fpi FROM pg_stat_wal), pg_database_size(datname)
            FROM pg_stat_database WHERE datname = current_database()";
        let told = cluster.sql(database, sql);
        let n: Vec<f64> = told.trim().split('|').map(|n| n.parse().unwrap_or(0.0)).collect();
        Counts {
            urls: crawl.known() as f64,
            pages: crawl.pages as f64,
            seconds: gauge.elapsed_s(),
            client_cpu: gauge.cpu_s(),
            server_cpu: cluster.nodes().map(Cluster::cpu_seconds).sum::<f64>(),
            statements: n[0],
            rows: n[1],
            wal: n[2],
            images: n[3],
            disk: n[4],
        }
    }

    /// One line about what came since.
    fn line(&self, before: &Counts) -> String {
        let pages = self.pages - before.pages;
        let per_page = |now: f64, before: f64| (now - before) / pages;
        let (client, server) = (
            per_page(self.client_cpu, before.client_cpu) * 1e6,
            per_page(self.server_cpu, before.server_cpu) * 1e6,
        );
        let seconds = self.seconds - before.seconds;
        format!(
            "{{\"urls\":{},\"pages\":{pages},\"urls_per_s\":{:.0},\"pages_per_s\":{:.0},\
             \"client_cpu_us_per_page\":{client:.0},\"server_cpu_us_per_page\":{server:.0},\
             \"pages_per_cpu_s\":{:.0},\"statements_per_page\":{:.2},\"rows_per_page\":{:.1},\
             \"wal_bytes_per_page\":{:.0},\"page_images_per_page\":{:.2},\"disk_bytes_per_url\":{:.0}}}",
            self.urls,
            (self.urls - before.urls) / seconds,
            pages / seconds,
            1e6 / (client + server),
            per_page(self.statements, before.statements),
            per_page(self.rows, before.rows),
            per_page(self.wal, before.wal),
            per_page(self.images, before.images),
            self.disk / self.urls,
        )
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let (mut urls, mut memory, mut statements) = (1_000_000, 512_000_000, false);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or(format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--urls" => urls = value.parse()?,
            "--memory" => memory = value.trim_end_matches("MB").parse::<u64>()? * 1_000_000,
            "--statements" => statements = value == "yes",
            other => return Err(format!("{other} is not known").into()),
        }
    }
    let cluster = Cluster::start(SETTINGS).ok_or("PostgreSQL is needed")?;
    let url = cluster.database();
    let database = name_in(&url);
    cluster.sql(database, "CREATE EXTENSION pg_stat_statements");
    let options = PostgresOptions { memory: memory / 8, ..PostgresOptions::default() };
    let store = PostgresStore::open(&url, options)?;
    let held = store.join("measure", "", Duration::from_secs(86_400), Instant::now())?;
    store.acquire(&held.free)?;
    let mut crawl = Crawl::begin(Box::new(store), memory, Corpus::new(urls, 1))?;
    let gauge = Gauge::new();
    let first = Counts::take(&cluster, database, &crawl, &gauge);
    let (mut last, mut tenth) = (first, 1);
    while crawl.known() < urls {
        crawl.round()?;
        if crawl.known() * 10 >= urls * tenth {
            let now = Counts::take(&cluster, database, &crawl, &gauge);
            println!("{}", now.line(&last));
            (last, tenth) = (now, tenth + 1);
        }
    }
    println!("{}", last.line(&first));
    if statements {
        let sql = "SELECT calls, round(total_exec_time)::text || ' ms', rows,
            regexp_replace(query, '\\s+', ' ', 'g') FROM pg_stat_statements
            ORDER BY total_exec_time DESC LIMIT 24";
        eprintln!("{}", cluster.sql(database, sql));
    }
    Ok(())
}
