//! Serves the news web for a collector in another process.
//!
//! `cargo run -p argiope-testweb --example newsweb -- --port 26001 --seed 1`
//!
//! Prints the front page of every site, one per line, then an empty line, then the value of
//! `fetch.hosts` that a collector needs, and serves until its standard input closes. The `Host`
//! `desk.test` gives the truth (`/truth.json`) and the next edition (`/next`).

use argiope_testweb::{NewsSpec, serve_news};
use std::error::Error;
use std::io::{Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> Result<(), Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
    let mut spec = NewsSpec { seed: 1, base_ms: now, port: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a number"))?;
        match flag.as_str() {
            "--seed" => spec.seed = value.parse()?,
            "--port" => spec.port = value.parse()?,
            "--base-ms" => spec.base_ms = value.parse()?,
            _ => return Err("usage: newsweb [--seed N] [--port N] [--base-ms N]".into()),
        }
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let served = runtime.block_on(runtime.spawn(serve_news(spec)))??;
    let mut out = std::io::stdout().lock();
    for front in served.web().fronts() {
        writeln!(out, "{front}")?;
    }
    let hosts: Vec<String> =
        served.web().hosts().iter().map(|host| format!("{host}=127.0.0.1")).collect();
    writeln!(out, "\nfetch.hosts={}", hosts.join(","))?;
    out.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
