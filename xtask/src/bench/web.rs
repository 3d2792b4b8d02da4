//! `cargo xtask bench web`: what a reader of the pages and a crawl cost each other.
//!
//! **Measured**: first, milliseconds of `GET /api/search` over a directory that holds one site: while
//! nothing else runs, and while another process crawls a second site into the same directory at full speed.
//! Second, user and system seconds of a crawl (from `wait4`) with the live view of it open in one browser
//! (`/api/events`, read to the end) and with nobody looking; the server is there both times.
//!
//! **Corpus**: Debian documentation packages served by nginx on loopback: PostgreSQL's is searched, the
//! larger JDK's is crawled meanwhile. `--searched` and `--crawled` name others, or folders.
//!
//! **How**: `cargo xtask bench web --searches 60 --runs 5`. Searches are those of `WORDS`, one after the
//! other, twenty a second, after one round that warms up. Crawls are pairs, the order of each pair the other
//! way round, each into an empty directory, `--pages` pages each.
//!
//! **Would be falsified by**: a median search that takes more than five times as long beside a crawl, or a
//! median ratio of the crawls' CPU above 1.05. What nine of ten searches do not exceed is shown beside it.

use super::measure::{Cost, measure, median, spread};
use super::table::aligned;
use crate::docs::{self, Docs};
use crate::nginx::Nginx;
use crate::process::{Running, wait_until};
use crate::{argiope_bin, scratch, test, tools};
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "string",
    "memory",
    "error+result",
    "thread",
    "transaction",
    "index+scan",
    "%22foreign+key%22",
    "sort+order",
    "create+table",
];
const LIMIT: Duration = Duration::from_secs(900);
const SOON: Duration = Duration::from_secs(60);
/// A crawl is at full speed after this long.
const UNDER_WAY: Duration = Duration::from_secs(2);
const MOST_MEDIAN: f64 = 5.0;
const MOST_VIEW: f64 = 1.05;

/// What was asked for.
struct Order {
    binary: PathBuf,
    dir: PathBuf,
    searches: usize,
    runs: usize,
    pages: String,
}

/// Reads the flags and measures.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut searches, mut runs, mut pages) = (60, 5, "2000".to_string());
    let (mut searched, mut crawled) = (None, None);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match *word {
            "--searches" => searches = value.parse().context("--searches takes a number")?,
            "--runs" => runs = value.parse().context("--runs takes a number")?,
            "--pages" => pages = (*value).to_string(),
            "--searched" => searched = Some((*value).to_string()),
            "--crawled" => crawled = Some((*value).to_string()),
            _ => bail!("unknown flag {word}"),
        }
    }
    tools::prepare(tools::FOR_BENCH);
    let binary = match argiope_bin() {
        Some(bin) => bin,
        None => test::build()?,
    };
    let small = match searched {
        Some(name) => docs::site(&name)?,
        None => docs::first_of(docs::EVERYDAY[0])?,
    };
    let large = docs::site(crawled.as_deref().unwrap_or("openjdk-17-doc"))?.past_refresh();
    let dir = scratch().join("bench-web");
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    let order = Order { binary, dir, searches, runs, pages };
    let beside = searches_beside(&order, &small, &large)?;
    let viewed = crawls_with_view(&order, &large)?;
    let verdict = if beside && viewed { "holds" } else { "DOES NOT HOLD" };
    println!("{verdict}");
    Ok(())
}

/// A server of pages over a data directory.
struct Served {
    address: SocketAddr,
    running: Running,
}

impl Served {
    fn start(order: &Order, data: &Path) -> Result<Served> {
        let mut command = Command::new(&order.binary);
        command.arg("--data").arg(data).args(["--format", "json", "serve", "--no-open"]);
        command.args(["--listen", "127.0.0.1:0", "--token", "bench-bench"]);
        let mut running = Running::start(&mut command, &order.dir, "serve")?;
        let mut url = String::new();
        wait_until("the pages", SOON, || {
            ensure!(running.is_running()?, "it ended: {}", running.err_so_far());
            let out = std::fs::read_to_string(order.dir.join("serve.out")).unwrap_or_default();
            let row: Option<Value> = out.lines().next().and_then(|l| serde_json::from_str(l).ok());
            url = row.and_then(|row| row["url"].as_str().map(str::to_owned)).unwrap_or_default();
            Ok(!url.is_empty())
        })?;
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse()?;
        Ok(Served { address, running })
    }

    fn ask(&self, path: &str) -> Result<TcpStream> {
        let mut stream = TcpStream::connect_timeout(&self.address, SOON)?;
        stream.set_read_timeout(Some(SOON))?;
        let host = self.address;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        Ok(stream)
    }

    fn get(&self, path: &str) -> Result<String> {
        let mut answer = String::new();
        self.ask(path)?.read_to_string(&mut answer).with_context(|| format!("read {path}"))?;
        ensure!(answer.starts_with("HTTP/1.1 200 "), "{path}: {:.200}", answer);
        Ok(answer)
    }

    /// Milliseconds of searches, twenty a second.
    fn search(&self, count: usize) -> Result<Vec<f64>> {
        let mut took = Vec::with_capacity(count);
        for word in WORDS.iter().cycle().take(count) {
            let begun = Instant::now();
            self.get(&format!("/api/search?q={word}"))?;
            took.push(begun.elapsed().as_secs_f64() * 1000.0);
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(took)
    }
}

fn crawl(order: &Order, data: &Path, start: &str) -> Command {
    let mut command = Command::new(&order.binary);
    command.arg("--data").arg(data).args(["--format", "json", "crawl", start]);
    command.args(["--delay", "0s", "--allow-private", "--connections-per-host", "8"]);
    command
}

/// Searches while nothing else runs, and while a crawl does; whether the ratios hold.
fn searches_beside(order: &Order, small: &Docs, large: &Docs) -> Result<bool> {
    let (first, second) = (order.dir.join("small"), order.dir.join("large"));
    [&first, &second].into_iter().try_for_each(std::fs::create_dir_all)?;
    let (near, far) =
        (Nginx::serve(&small.root, &first, "")?, Nginx::serve(&large.root, &second, "")?);
    let data = order.dir.join("searched");
    let start = format!("{}{}", near.origin, small.start);
    measure(&crawl(order, &data, &start), &[0], &order.dir, "first", LIMIT)?;
    let served = Served::start(order, &data)?;
    served.search(WORDS.len())?;
    let idle = served.search(order.searches)?;
    let start = format!("{}{}", far.origin, large.start);
    let begun = Instant::now();
    let mut other = Running::start(&mut crawl(order, &data, &start), &order.dir, "second")?;
    std::thread::sleep(UNDER_WAY);
    let busy = served.search(order.searches)?;
    ensure!(
        other.is_running()?,
        "the crawl ended before the searches did; give a larger --crawled"
    );
    let speed = far.pages()?.len() as f64 / begun.elapsed().as_secs_f64();
    drop(other);
    drop(served);
    let shown = |name: &str, values: &[f64]| {
        let (middle, ninetieth) = (median(values), ninetieth(values));
        let most = spread(values).1;
        let figures = [middle, ninetieth, most].map(|ms| format!("{ms:.1}"));
        [vec![name.to_owned()], figures.to_vec()].concat()
    };
    println!(
        "\n{} searched, {} crawled meanwhile at {speed:.0} requests a second",
        small.name, large.name
    );
    let rows = [shown("nothing else", &idle), shown("beside the crawl", &busy)];
    print!("{}", aligned(&["ms of a search", "median", "90 %", "most"], &rows));
    let ratios = (median(&busy) / median(&idle), ninetieth(&busy) / ninetieth(&idle));
    println!("ratios: median {:.2} (at most {MOST_MEDIAN}), 90 % {:.2}", ratios.0, ratios.1);
    Ok(ratios.0 <= MOST_MEDIAN)
}

/// What nine of ten do not exceed.
fn ninetieth(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(f64::NAN)
}

/// Crawls that somebody watches and that nobody does; whether the ratio holds.
fn crawls_with_view(order: &Order, docs: &Docs) -> Result<bool> {
    let dir = order.dir.join("viewed");
    std::fs::create_dir_all(&dir)?;
    let nginx = Nginx::serve(&docs.root, &dir, "")?;
    let start = format!("{}{}", nginx.origin, docs.start);
    let mut costs: [Vec<Cost>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=order.runs {
        for turn in 0..2 {
            let at = (turn + round) % 2;
            let cost = one_crawl(order, &start, at == 1)?;
            if round > 0 {
                costs[at].push(cost);
            }
        }
    }
    let row = |name: &str, costs: &[Cost]| {
        let cpu: Vec<f64> = costs.iter().map(|cost| cost.cpu_s).collect();
        let (low, high) = spread(&cpu);
        vec![name.to_owned(), format!("{:.2} ({low:.2}-{high:.2})", median(&cpu))]
    };
    println!("\n{}, {} pages, {} pairs", docs.name, order.pages, order.runs);
    let rows = [row("nobody looks", &costs[0]), row("the crawl view is open", &costs[1])];
    print!("{}", aligned(&["", "CPU s of the crawl"], &rows));
    let pairs = costs[0].iter().zip(&costs[1]);
    let ratio = median(&pairs.map(|(off, on)| on.cpu_s / off.cpu_s).collect::<Vec<_>>());
    println!("ratio of the pairs: {ratio:.3} (at most {MOST_VIEW})");
    Ok(ratio <= MOST_VIEW)
}

fn one_crawl(order: &Order, start: &str, viewed: bool) -> Result<Cost> {
    let data = order.dir.join("crawled");
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data)?;
    let served = Served::start(order, &data)?;
    let mut command = crawl(order, &data, start);
    command.args(["--max-pages", &order.pages]);
    let over = AtomicBool::new(false);
    let cost = std::thread::scope(|scope| {
        let viewer = viewed.then(|| scope.spawn(|| look(&served, &over)));
        let cost = measure(&command, &[0], &order.dir, "crawl", LIMIT);
        over.store(true, Relaxed);
        let told = viewer.map_or(Ok(1), |viewer| viewer.join().unwrap_or(Ok(0)))?;
        ensure!(told > 0, "the view was told nothing");
        cost
    })?;
    drop(served.running);
    Ok(cost)
}

/// Reads the events of a crawl until it is over; how many bytes there were.
fn look(served: &Served, over: &AtomicBool) -> Result<usize> {
    let mut stream = served.ask("/api/events")?;
    stream.set_read_timeout(Some(Duration::from_millis(500)))?;
    let (mut told, mut piece) = (0, vec![0; 1 << 16]);
    while !over.load(Relaxed) {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => told += n,
            Err(e)
                if matches!(
                    e.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) => {}
            Err(e) => return Err(e).context("read events"),
        }
    }
    Ok(told)
}
