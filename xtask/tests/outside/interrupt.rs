//! Ctrl-C: the open group is finished, the program says how to go on, and going on repeats nothing
//! but the requests that were in flight.

use crate::rig::{Rig, SHORT_LIMIT};
use crate::sites::Graph;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;
use xtask::nginx::Nginx;
use xtask::process::{self, wait_until};

const PAGES: usize = 1500;
const CONNECTIONS: usize = 4;

#[test]
fn an_interrupted_crawl_finishes_its_group_and_goes_on_later() -> Result<()> {
    let Some(rig) = Rig::new("interrupt", &["nginx"])? else { return Ok(()) };
    let root = rig.folder("site")?;
    Graph::made_up(PAGES, 23).write(&root, 4000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    let connections = CONNECTIONS.to_string();
    let args = [start.as_str(), "--connections-per-host", &connections];

    let mut running = rig.start_crawl("data", &args)?;
    wait_until("the crawl to begin", Duration::from_secs(60), || {
        ensure!(running.is_running()?, "the crawl ended: {}", running.err_so_far());
        Ok(nginx.log_bytes() > 10_000)
    })?;
    process::output(Command::new("kill").args(["-INT", &running.id().to_string()]))?;
    let done = running.wait(SHORT_LIMIT).context("after Ctrl-C")?;
    ensure!(done.signal.is_none(), "Ctrl-C killed it instead of ending it: {done:?}");
    ensure!(!done.err.trim().is_empty(), "it did not say how to go on");
    let before = nginx.pages()?.len();
    ensure!(before < PAGES, "the crawl was over before it was interrupted");
    rig.verify("data")?;

    rig.crawl("data", &args).context("going on")?;
    let pages = nginx.pages()?;
    let distinct: BTreeSet<&str> = pages.iter().map(|hit| hit.uri.as_str()).collect();
    let repeated = pages.len() - distinct.len();
    ensure!(distinct.len() == PAGES, "{} of {PAGES} pages in the end", distinct.len());
    ensure!(repeated <= CONNECTIONS, "{repeated} requests repeated, at most {CONNECTIONS}");
    rig.verify("data")
}
