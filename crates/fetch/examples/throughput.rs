//! What one request costs: fetches a URL again and again and counts CPU time.
//!
//! Measured: requests per CPU second of this process (user and system), over K connections, the
//! body taken into memory and dropped. Corpus: whatever the URL serves; run any local server.
//!
//! ```text
//! cargo run --release -p argiope-fetch --example throughput -- http://127.0.0.1:8080/12k.html 200000 16
//! ```
//!
//! Falsified by: fewer requests per CPU second than the HTTP client alone reaches on the same
//! machine in the same minute.

use argiope_fetch::{FetchSettings, Fetcher, Take};
use argiope_model::CanonicalUrl;
use std::time::Instant;

#[allow(clippy::print_stdout)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let url = args.next().ok_or("usage: throughput URL [REQUESTS] [CONNECTIONS] [THREADS]")?;
    let url = CanonicalUrl::parse(&url)?;
    let mut number = |default| args.next().map_or(Ok(default), |n| n.parse::<usize>());
    let (requests, connections, threads) = (number(100_000)?, number(16)?, number(1)?);
    let spool_dir = std::env::temp_dir().join(format!("argiope-throughput-{}", std::process::id()));
    let fetcher = Fetcher::new(FetchSettings {
        allow_private: true,
        spool_dir: spool_dir.clone(),
        ..FetchSettings::default()
    })?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let (clock, cpu) = (Instant::now(), cpu_seconds()?);
    let bytes: u64 = runtime.block_on(async {
        let each = requests / connections;
        let tasks: Vec<_> = (0..connections)
            .map(|_| {
                let (fetcher, url) = (fetcher.clone(), url.clone());
                tokio::spawn(async move {
                    let mut bytes = 0;
                    for _ in 0..each {
                        let answer =
                            fetcher.get(&url, |_| Take::Body).await.map_err(|e| e.to_string())?;
                        if let Some(outcome) = answer.outcome {
                            return Err(outcome.to_string());
                        }
                        bytes += answer.body.len();
                    }
                    Ok(bytes)
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await??;
        }
        Ok::<u64, Box<dyn std::error::Error>>(sum)
    })?;
    let (elapsed, cpu) = (clock.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
    let done = (requests / connections * connections) as f64;
    println!(
        "{done} requests of {:.0} bytes: {:.0} per CPU second ({:.1} µs each), {:.0} per second",
        bytes as f64 / done,
        done / cpu,
        cpu / done * 1e6,
        done / elapsed
    );
    std::fs::remove_dir_all(spool_dir)?;
    Ok(())
}

/// User and system time of this process.
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("unreadable /proc/self/stat")?.1;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<f64>);
    let (user, system) = (ticks.next().ok_or("short")??, ticks.next().ok_or("short")??);
    // Linux counts in hundredths whatever the kernel's own tick is.
    Ok((user + system) / 100.0)
}
