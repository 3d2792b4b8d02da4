//! `kill -9` at any moment, the same command again, and in the end nothing is lost or done twice.
//!
//! The moments are drawn from a seed: a share of the undisturbed crawl's access log to wait for, then
//! a few milliseconds more; one kill comes while the program is still opening its directory. In the
//! end the documents (URL and digest) must equal the undisturbed crawl's, `verify` must be clean, and
//! per kill no more requests may be repeated than one open group and the requests in flight.

use crate::rig::{CRAWL_LIMIT, Rig, knob, some, summary};
use crate::sites::{Dice, Graph};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use xtask::docs;
use xtask::nginx::Nginx;

const CONNECTIONS: usize = 8;
const GROUP: usize = 64;

#[test]
fn a_crawl_killed_again_and_again_ends_with_the_same_documents() -> Result<()> {
    let Some(rig) = Rig::new("kill", &["nginx"])? else { return Ok(()) };
    let kills = knob("ARGIOPE_KILLS", 5)? as usize;
    let seed = knob("ARGIOPE_SEED", 1)?;
    let (root, start) = site(&rig)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{start}", nginx.origin);
    let connections = CONNECTIONS.to_string();
    let args = [&start, "--scope", "host", "--connections-per-host", &connections];

    rig.crawl("calm", &args).context("the undisturbed crawl")?;
    let calm_bytes = nginx.log_bytes();
    let wanted = rig.documents("calm")?;
    ensure!(wanted.len() > 500, "the site has only {} documents", wanted.len());
    nginx.clear()?;

    let mut dice = Dice::new(seed);
    let mut moments: Vec<u64> = (0..kills).map(|_| dice.below(calm_bytes * 9 / 10)).collect();
    moments.sort_unstable();
    if let Some(early) = moments.get_mut(1) {
        *early = 0;
    }
    let mut landed = 0;
    for (number, moment) in moments.iter().enumerate() {
        let mut running = rig.start_crawl("torn", &args)?;
        let end = Instant::now() + CRAWL_LIMIT;
        while nginx.log_bytes() < *moment {
            ensure!(running.is_running()?, "before kill {number}: {}", running.err_so_far());
            ensure!(Instant::now() < end, "kill {number}: the crawl hangs");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(dice.below(40_000)));
        landed += usize::from(running.kill()?.signal == Some(9));
    }
    ensure!(landed * 2 > kills, "only {landed} of {kills} kills found the crawl running");
    let last = rig.start_crawl("torn", &args)?.wait(CRAWL_LIMIT)?.ok().context("the last run")?;
    summary(&last)?;

    let got = rig.documents("torn")?;
    let lost: Vec<_> = wanted.difference(&got).collect();
    let extra: Vec<_> = got.difference(&wanted).collect();
    ensure!(lost.is_empty(), "seed {seed}: documents lost, {}", some(lost));
    ensure!(extra.is_empty(), "seed {seed}: documents too many, {}", some(extra));
    rig.verify("torn")?;

    let pages = nginx.pages()?;
    let distinct: BTreeSet<&str> = pages.iter().map(|hit| hit.uri.as_str()).collect();
    let repeated = pages.len() - distinct.len();
    let most = landed * (GROUP + CONNECTIONS);
    ensure!(
        repeated <= most,
        "seed {seed}: {landed} kills, {repeated} requests repeated, at most {most}"
    );
    Ok(())
}

/// Made-up pages, or the real ones of `ARGIOPE_KILL_SITE`. Most made-up pages have one link leading
/// to them, so that a single lost link is a lost page; real sites forgive much.
fn site(rig: &Rig) -> Result<(PathBuf, String)> {
    if let Ok(name) = std::env::var("ARGIOPE_KILL_SITE") {
        let docs = docs::site(&name)?;
        return Ok((docs.root, docs.start));
    }
    let root = rig.folder("site")?;
    Graph::made_up(knob("ARGIOPE_KILL_PAGES", 2000)? as usize, 11).write(&root, 6000)?;
    Ok((root, Graph::uri(0)))
}
