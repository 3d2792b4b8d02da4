//! Hundreds of connections and many sites at once are ordinary, and no host sees more than its share.

use crate::rig::{Rig, count};
use crate::slow_server::SlowServer;
use anyhow::{Result, ensure};
use std::time::Duration;

const HOSTS: usize = 80;
const PAGES: usize = 30;
const PER_HOST: usize = 5;

#[test]
fn three_hundred_connections_and_64_sites_at_once_on_slow_servers() -> Result<()> {
    let Some(rig) = Rig::new("many", &[])? else { return Ok(()) };
    let server = SlowServer::start(HOSTS, PAGES, Duration::from_millis(200))?;
    std::fs::write(rig.dir.join("seeds"), server.urls().join("\n"))?;
    let per_host = PER_HOST.to_string();
    let flags = ["--seeds", "seeds", "--connections", "400", "--connections-per-host", &per_host];
    let told = rig.crawl("data", &flags)?;
    let seen = server.counts();
    ensure!(count(&told, "fetched")? as usize == HOSTS * PAGES, "not every page: {told}");
    ensure!(seen.pages == HOSTS * PAGES, "{} requests for {} pages", seen.pages, HOSTS * PAGES);
    // Requests being answered, not connections: an idle one kept open for later proves nothing.
    ensure!(seen.answering >= 300, "at most {} connections worked at once", seen.answering);
    ensure!(seen.hosts >= 64, "at most {} sites were asked at once", seen.hosts);
    ensure!(seen.per_host <= PER_HOST, "a host was asked {} times at once", seen.per_host);
    rig.verify("data")
}

#[test]
fn a_host_sees_one_request_at_a_time_unless_told_otherwise() -> Result<()> {
    let Some(rig) = Rig::new("one-at-a-time", &[])? else { return Ok(()) };
    let server = SlowServer::start(4, 10, Duration::from_millis(20))?;
    let urls = server.urls();
    let args: Vec<&str> = urls.iter().map(String::as_str).collect();
    rig.crawl("data", &args)?;
    let seen = server.counts();
    ensure!(seen.per_host == 1, "a host was asked {} times at once", seen.per_host);
    ensure!(seen.pages == 40, "{} requests for 40 pages", seen.pages);
    Ok(())
}
