//! Simulates a crawl and tells what came of it.
//!
//! ```console
//! $ cargo run --release -p argiope-sim -- --hosts 10000 --days 30 --seed 7
//! $ cargo run -p argiope-sim -- --small --seed 7 --log     # one of the small worlds of the tests
//! $ cargo run -p argiope-sim -- --small --seed 7 --count 100
//! ```

use anyhow::{Context, Result, bail};
use argiope_sim::{Scenario, simulate_shown};
use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;

struct Asked {
    small: bool,
    log: bool,
    seed: u64,
    count: u64,
    hosts: Option<usize>,
    days: Option<f64>,
    pages: Option<usize>,
    crashes: Option<usize>,
}

fn main() -> Result<ExitCode> {
    let asked = read(std::env::args().skip(1))?;
    let mut failed = false;
    for seed in asked.seed..asked.seed + asked.count {
        let mut scenario = match asked.small {
            true => Scenario::small(seed),
            false => Scenario::large(seed, 10_000, 30.0),
        };
        scenario.hosts = asked.hosts.unwrap_or(scenario.hosts).max(1);
        scenario.days = asked.days.unwrap_or(scenario.days);
        scenario.pages_per_host = asked.pages.unwrap_or(scenario.pages_per_host).max(1);
        scenario.crashes = asked.crashes.unwrap_or(scenario.crashes);
        scenario.log = asked.log;
        if asked.log {
            writeln!(std::io::stdout(), "{scenario:#?}")?;
        }
        let report = simulate_shown(&scenario, |line| {
            let _ = writeln!(std::io::stderr(), "{line}");
        })?;
        for line in &report.log {
            writeln!(std::io::stdout(), "{line}")?;
        }
        writeln!(std::io::stdout(), "{report}")?;
        failed |= report.violated > 0;
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn read(mut args: impl Iterator<Item = String>) -> Result<Asked> {
    let mut asked = Asked {
        small: false,
        log: false,
        seed: 1,
        count: 1,
        hosts: None,
        days: None,
        pages: None,
        crashes: None,
    };
    while let Some(name) = args.next() {
        match name.as_str() {
            "--small" => asked.small = true,
            "--log" => asked.log = true,
            "--seed" => asked.seed = value(&name, args.next())?,
            "--count" => asked.count = value(&name, args.next())?,
            "--hosts" => asked.hosts = Some(value(&name, args.next())?),
            "--days" => asked.days = Some(value(&name, args.next())?),
            "--pages" => asked.pages = Some(value(&name, args.next())?),
            "--crashes" => asked.crashes = Some(value(&name, args.next())?),
            _ => bail!(
                "{name} is not known; there are --small, --log, --seed N, --count N, --hosts N, \
                 --days N, --pages N and --crashes N"
            ),
        }
    }
    Ok(asked)
}

fn value<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    name: &str,
    text: Option<String>,
) -> Result<T> {
    let text = text.with_context(|| format!("{name} needs a number"))?;
    text.parse().with_context(|| format!("{name} needs a number, not {text}"))
}
