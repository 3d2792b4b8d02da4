//! Best-first, seen from the server.
//!
//! A made-up site whose important pages lie far from the start: a hundred of 950 pages that all others
//! link to, behind the last link of pages that breadth-first reads level by level. What is important is
//! told by PageRank over the whole site.

use crate::rig::{CRAWL_LIMIT, Rig, count, summary};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use xtask::bench::order::{fetches, page_rank};
use xtask::nginx::Nginx;

const SECTIONS: usize = 20;
const LEAVES: usize = 800;
const CORE: usize = 100;

struct Site {
    rig: Rig,
    nginx: Nginx,
    start: String,
    ranks: BTreeMap<String, f64>,
}

/// What each page links to.
fn links() -> Vec<(String, Vec<String>)> {
    let (core, leaf) = (|n: usize| format!("/core{}.html", n % CORE), |n| format!("/leaf{n}.html"));
    let section = |n: usize| format!("/section{n}.html");
    let mut pages = vec![("/index.html".to_owned(), (0..SECTIONS).map(section).collect())];
    let of_section = |n| (0..LEAVES).filter(move |leaf| leaf % SECTIONS == n);
    pages.extend((0..SECTIONS).map(|n| (section(n), of_section(n).map(leaf).collect())));
    let of_leaf = |n| vec![leaf((n * 7 + 3) % LEAVES), core(n), core(n * n)];
    pages.extend((0..LEAVES).map(|n| (leaf(n), of_leaf(n))));
    pages.extend((0..CORE).map(|n| (core(n), vec![core(n + 1), core(n * 3), core(n / 2)])));
    pages
}

fn site(name: &str) -> Result<Option<Site>> {
    let Some(rig) = Rig::new(name, &["nginx"])? else { return Ok(None) };
    let root = rig.folder("site")?;
    let pages = links();
    for (path, links) in &pages {
        let mut text = format!("<title>{path}</title><p>The page {path}.</p>");
        for to in links {
            let _ = writeln!(text, "<a href=\"{to}\">to {to}</a>");
        }
        std::fs::write(root.join(&path[1..]), text)?;
    }
    let names: Vec<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    let edge = |(from, to): &'_ (String, Vec<String>)| {
        to.iter().map(|to| (from.clone(), to.clone())).collect::<Vec<_>>()
    };
    let edges: Vec<(String, String)> = pages.iter().flat_map(edge).collect();
    let edges = edges.iter().map(|(from, to)| (from.as_str(), to.as_str()));
    let ranks = page_rank(&names, edges);
    let ranks = ranks.into_iter().map(|(path, rank)| (path.to_owned(), rank)).collect();
    let nginx = Nginx::serve(&root, &rig.dir, "")?;
    let start = format!("{}/index.html", nginx.origin);
    Ok(Some(Site { rig, nginx, start, ranks }))
}

impl Site {
    fn visited(&self) -> Result<Vec<String>> {
        Ok(self.nginx.pages()?.into_iter().map(|hit| hit.uri).collect())
    }

    fn worth(&self, visited: &[String]) -> Result<Vec<f64>> {
        let rank = |path| self.ranks.get(path).copied().context("a page that is not there");
        visited.iter().map(rank).collect()
    }

    /// Every page once.
    fn is_whole(&self, visited: &[String]) -> Result<()> {
        let distinct: BTreeSet<&String> = visited.iter().collect();
        let all: BTreeSet<&String> = self.ranks.keys().collect();
        ensure!(distinct == all, "{} of {} pages", distinct.len(), all.len());
        ensure!(visited.len() == all.len(), "{} requests", visited.len());
        Ok(())
    }
}

#[test]
fn best_first_has_most_of_the_rank_long_before_breadth_first_and_leaves_nothing_out() -> Result<()>
{
    let Some(site) = site("best-mass")? else { return Ok(()) };
    let (mut taken, mut first_200) = (Vec::new(), Vec::new());
    for order in ["breadth", "best"] {
        site.nginx.clear()?;
        site.rig.crawl(order, &[&site.start, "--order", order])?;
        let visited = site.visited()?;
        site.is_whole(&visited)?;
        let worth = site.worth(&visited)?;
        taken.push(fetches(&worth, 0.8));
        first_200.push(worth[..200].iter().sum::<f64>());
    }
    let [breadth, best] = taken[..] else { anyhow::bail!("two orders") };
    ensure!(best * 10 <= breadth * 6, "best-first {best}, breadth-first {breadth}");

    // With a limit, what is had is what came first.
    site.nginx.clear()?;
    let told = site.rig.crawl("few", &[&site.start, "--order", "best", "--max-pages", "200"])?;
    ensure!(count(&told, "fetched")? == 200, "{told}");
    let had: f64 = site.worth(&site.visited()?)?.iter().sum();
    let [breadth, best] = first_200[..] else { anyhow::bail!("two orders") };
    ensure!((had - best).abs() < 1e-9, "{had:.3} with a limit, {best:.3} without");
    ensure!(had > 3.0 * breadth, "{had:.3}, breadth-first {breadth:.3}");
    Ok(())
}

#[test]
fn scores_survive_a_kill_and_are_explained() -> Result<()> {
    let Some(site) = site("best-kill")? else { return Ok(()) };
    let args = [site.start.as_str(), "--order", "best"];
    let mut running = site.rig.start_crawl("data", &args)?;
    let end = std::time::Instant::now() + CRAWL_LIMIT;
    while site.visited()?.len() < 60 {
        ensure!(running.is_running()?, "it ended: {}", running.err_so_far());
        ensure!(std::time::Instant::now() < end, "the crawl hangs");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    ensure!(running.kill()?.signal == Some(9), "the kill came too late");
    let before: BTreeSet<String> = site.visited()?.into_iter().collect();
    let queued = site.ranks.keys().filter(|path| !before.contains(*path));
    let mut explained = 0;
    for path in queued.filter(|path| path.starts_with("/leaf")).take(20) {
        let url = format!("{}{path}", site.nginx.origin);
        let rows = site.rig.rows("data", &["explain", &url])?;
        let score = rows.iter().find(|row| row["rule"] == "score");
        let words = score.and_then(|row| row["detail"].as_str()).unwrap_or_default();
        explained += usize::from(words.contains("halved") && words.contains("link to it"));
    }
    ensure!(explained > 0, "no score of a queued page is explained");

    site.nginx.clear()?;
    let last = site.rig.start_crawl("data", &args)?.wait(CRAWL_LIMIT)?.ok()?;
    summary(&last)?;
    site.rig.verify("data")?;
    let after = site.visited()?;
    let all: BTreeSet<&String> = before.iter().chain(&after).collect();
    ensure!(all.len() == site.ranks.len(), "{} of {} pages", all.len(), site.ranks.len());
    // After the kill most of the core that is left comes early, not after the level that was begun.
    let core = |path: &&String| path.starts_with("/core");
    let left = after.iter().filter(core).count();
    let early = after.iter().take(after.len() / 2).filter(core).count();
    ensure!(early * 3 >= left * 2, "{early} of {left} in the first half of {}", after.len());
    Ok(())
}
