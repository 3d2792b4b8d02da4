//! Order and limits, exact.
//!
//! A made-up site of 200 pages with cross links; the expected order comes from a model of a few lines
//! (`Graph::order`), the order that happened from the server's log.

use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use crate::sites::Graph;
use crate::slow_server::SlowServer;
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use xtask::nginx::Nginx;

const PAGES: usize = 200;

struct Site {
    rig: Rig,
    graph: Graph,
    nginx: Nginx,
    start: String,
}

fn site(name: &str) -> Result<Option<Site>> {
    let Some(rig) = Rig::new(name, &["nginx"])? else { return Ok(None) };
    let graph = Graph::made_up(PAGES, 17);
    let root = rig.folder("site")?;
    graph.write(&root, 2000)?;
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}{}", nginx.origin, Graph::uri(0));
    Ok(Some(Site { rig, graph, nginx, start }))
}

impl Site {
    fn visited(&self) -> Result<Vec<String>> {
        Ok(self.nginx.pages()?.into_iter().map(|hit| hit.uri).collect())
    }

    fn visits_in_order(&self, order: &str, depth_first: bool) -> Result<()> {
        self.rig.crawl("data", &[&self.start, "--connections", "1", "--order", order])?;
        let wanted: Vec<String> =
            self.graph.order(depth_first).into_iter().map(Graph::uri).collect();
        let got = self.visited()?;
        if let Some(at) =
            (0..wanted.len().max(got.len())).find(|at| wanted.get(*at) != got.get(*at))
        {
            let wanted = &wanted[at.min(wanted.len())..wanted.len().min(at + 5)];
            let got = &got[at.min(got.len())..got.len().min(at + 5)];
            anyhow::bail!("visit {at}: {wanted:?} should come, {got:?} came");
        }
        Ok(())
    }
}

#[test]
fn breadth_first_visits_in_the_order_of_discovery() -> Result<()> {
    let Some(site) = site("breadth")? else { return Ok(()) };
    site.visits_in_order("breadth", false)
}

#[test]
fn depth_first_visits_the_newest_pages_links_first() -> Result<()> {
    let Some(site) = site("depth")? else { return Ok(()) };
    site.visits_in_order("depth", true)
}

#[test]
fn max_pages_stops_at_exactly_that_number() -> Result<()> {
    let Some(site) = site("max-pages")? else { return Ok(()) };
    for (number, connections) in [("1", "1"), ("57", "1"), ("57", "16"), ("150", "16")] {
        site.nginx.clear()?;
        let data = format!("data-{number}-{connections}");
        let args = ["--max-pages", number, "--connections-per-host", connections];
        let args = [&[site.start.as_str()], args.as_slice()].concat();
        let told = count(&site.rig.crawl(&data, &args)?, "fetched")?;
        let visited = site.visited()?.len() as u64;
        let wanted: u64 = number.parse()?;
        ensure!(told == wanted, "--max-pages {number}: the summary says {told} fetched");
        ensure!(visited == wanted, "--max-pages {number}: the server saw {visited} requests");
        let kept = site.rig.captures(&data)?;
        let kept = kept.iter().filter(|capture| !capture.url.ends_with("/robots.txt")).count();
        ensure!(kept as u64 == wanted, "--max-pages {number}: the archive holds {kept}");
        site.rig.verify(&data)?;
    }
    Ok(())
}

#[test]
fn max_depth_visits_exactly_the_pages_within() -> Result<()> {
    let Some(site) = site("max-depth")? else { return Ok(()) };
    for depth in [0, 1, 2, 3] {
        site.nginx.clear()?;
        let (data, depth_text) = (format!("data-{depth}"), depth.to_string());
        let flags = ["--max-depth", &depth_text, "--connections-per-host", "4"];
        site.rig.crawl(&data, &[&[site.start.as_str()], flags.as_slice()].concat())?;
        let wanted: BTreeSet<String> =
            site.graph.within(depth).into_iter().map(Graph::uri).collect();
        let got: BTreeSet<String> = site.visited()?.into_iter().collect();
        let (missing, extra) = (wanted.difference(&got), got.difference(&wanted));
        ensure!(
            wanted == got,
            "--max-depth {depth}: not visited {:?}, too deep {:?}",
            missing.collect::<Vec<_>>(),
            extra.collect::<Vec<_>>()
        );
    }
    Ok(())
}

#[test]
fn max_bytes_stops_within_one_page_of_that_number() -> Result<()> {
    let Some(site) = site("max-bytes")? else { return Ok(()) };
    let told =
        site.rig.crawl("data", &[&site.start, "--max-bytes", "50KB", "--connections", "1"])?;
    let visited = site.visited()?.len();
    // Pages weigh about 2 KB, so 50 KB are about 25 of the 200, headers counted or not.
    ensure!((20..=27).contains(&visited), "--max-bytes 50KB took {visited} pages of 2 KB: {told}");
    Ok(())
}

#[test]
fn max_time_ends_a_crawl_that_would_go_on() -> Result<()> {
    let Some(rig) = Rig::new("max-time", &[])? else { return Ok(()) };
    let server = SlowServer::start(1, 10_000, Duration::from_millis(200))?;
    let begin = Instant::now();
    let running = rig.start_crawl("data", &[&server.urls()[0], "--max-time", "3s"])?;
    summary(&running.wait(CRAWL_LIMIT)?.ok()?)?;
    let took = begin.elapsed();
    let range = Duration::from_millis(2500)..Duration::from_secs(8);
    ensure!(range.contains(&took), "--max-time 3s took {took:?}");
    rig.verify("data")
}
