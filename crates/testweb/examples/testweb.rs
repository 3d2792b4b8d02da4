//! Serves a made-up web for a crawler in another process.
//!
//! `cargo run --release -p argiope-testweb --example testweb -- --sites 50 --pages 400`
//!
//! Prints the URL of every site's front page, one per line, then an empty line, and serves until
//! its standard input closes. `--demo` serves the odd pages of the demo instead of plain ones.

use argiope_testweb::{Bind, ServeOptions, Web, WebSpec, serve};
use std::error::Error;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

const USAGE: &str = "usage: testweb [--sites N] [--pages N] [--page-bytes N] [--links N] \
    [--seed N] [--latency-ms N] [--workers N] [--max-connections N] [--by-host] [--no-keep-alive] [--demo]";

fn main() -> Result<(), Box<dyn Error>> {
    let mut spec = WebSpec::bench(50, 400);
    let mut options = ServeOptions { log: false, ..ServeOptions::default() };
    let mut workers = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let mut number = || -> Result<u64, Box<dyn Error>> {
            let value = arguments.next().ok_or_else(|| format!("{flag} needs a number"))?;
            value.parse().map_err(|_| format!("{flag} needs a number, not {value}").into())
        };
        match flag.as_str() {
            "--sites" => spec.sites = number()? as usize,
            "--pages" => spec.pages_per_site = number()? as usize,
            "--page-bytes" => spec.mean_page_bytes = number()? as usize,
            "--links" => spec.links_per_page = number()? as usize,
            "--seed" => spec.seed = number()?,
            "--latency-ms" => options.latency = Duration::from_millis(number()?),
            "--workers" => workers = number()?.max(1) as usize,
            "--max-connections" => options.max_connections = number()? as usize,
            "--by-host" => options.bind = Bind::ByHost,
            "--no-keep-alive" => options.keep_alive = false,
            "--demo" => {
                let WebSpec { seed, sites, pages_per_site, .. } = spec;
                spec = WebSpec { seed, sites, pages_per_site, ..WebSpec::demo() };
            }
            _ => return Err(format!("unknown argument {flag}\n{USAGE}").into()),
        }
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?;
    // Spawned, so that the accepting tasks start on the workers and not on this thread.
    let served = runtime.block_on(runtime.spawn(serve(Arc::new(Web::new(spec)), options)))??;
    let mut out = std::io::stdout().lock();
    for base in served.bases() {
        writeln!(out, "{base}")?;
    }
    writeln!(out)?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
