//! `cargo xtask bench order`: what each order of visits has gathered after so many fetches.
//!
//! **Measured**: from the access log of the server, the order in which pages were asked for; from the graph
//! that the crawl exports, the PageRank of every page (damping 0.85, parallel links counted once, pages
//! without links spread over all, as NetworkX does it). The *mass* of an order after n fetches is the sum
//! of the rank of the pages it has asked for by then. The number that counts is how many fetches it takes
//! to 80 % of the mass, against breadth-first. *Ideal* knows the ranks beforehand and follows no links.
//!
//! **Corpus**: Debian documentation packages served by nginx on loopback, by default those of PostgreSQL
//! and Rust; `--site` names others, or folders. And made-up webs of six topics ([`topics`]), where what
//! counts is the part of the pages on one topic that an order has at 20 % of the fetches.
//!
//! **How**: `cargo xtask bench order --site rust-doc --webs 2`. One connection and no delay, so that orders are exact.
//! Tables and plots are left in `target/outside/bench-order/`.
//!
//! **Would be falsified by**: best-first above 0.6 of the fetches of breadth-first on a site where the ideal
//! order is not near that itself; an order that leaves out a page that another has.

use super::plot::{Series, shares};
use super::table::aligned;
use super::topics;
use crate::docs::{self, Docs};
use crate::nginx::Nginx;
use crate::{argiope_bin, process, scratch, test, tools};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const ORDERS: [&str; 3] = ["breadth", "depth", "best"];
const SITES: [&str; 2] = ["postgresql-doc-15", "rust-doc"];
const SHARES: [f64; 3] = [0.5, 0.8, 0.9];
const MOST_RATIO: f64 = 0.6;
const LIMIT: Duration = Duration::from_secs(3 * 3600);
/// Points of a plotted line.
const POINTS: usize = 101;

/// Reads the flags and crawls every site in every order.
pub fn run(args: &[&str]) -> Result<()> {
    let (mut sites, mut webs) = (Vec::new(), 2);
    for pair in args.chunks(2) {
        match pair {
            ["--site", name] => sites.push(*name),
            ["--webs", count] => webs = count.parse().context("--webs takes a number")?,
            _ => bail!("--site NAME, any number of times, and --webs N are known here"),
        }
    }
    tools::prepare(tools::FOR_BENCH);
    let binary = match argiope_bin() {
        Some(bin) => bin,
        None => test::build()?,
    };
    let dir = scratch().join("bench-order");
    let _ = std::fs::remove_dir_all(&dir);
    let mut report = String::new();
    for seed in 1..=webs {
        let dir = dir.join(format!("topic-{seed}"));
        report.push_str(&topic_web(seed, &binary, &dir)?);
    }
    for name in if sites.is_empty() { SITES.to_vec() } else { sites } {
        let docs = docs::site(name)?.past_refresh();
        let dir = dir.join(Path::new(name).file_name().unwrap_or_default());
        report.push_str(&one_site(&docs, &binary, &dir)?);
    }
    print!("{report}");
    std::fs::write(dir.join("report.txt"), &report)?;
    println!("\ntables and plots: {}", dir.display());
    Ok(())
}

/// A site being crawled in one order after another.
struct Site<'a> {
    docs: &'a Docs,
    binary: &'a Path,
    dir: &'a Path,
    nginx: Nginx,
}

/// An order by name, and what asks for it.
type Asked = (&'static str, Vec<&'static str>);

impl<'a> Site<'a> {
    fn serve(docs: &'a Docs, binary: &'a Path, dir: &'a Path) -> Result<Self> {
        std::fs::create_dir_all(dir)?;
        Ok(Site { docs, binary, dir, nginx: Nginx::serve(&docs.root, dir, "")? })
    }

    /// Crawls in an order: the pages as they were asked for, and the links between them where they
    /// are wanted.
    fn crawl(&self, (name, flags): &Asked, links: bool) -> Result<(Vec<String>, String)> {
        let Site { docs, binary, dir, nginx } = self;
        eprintln!("{}, {name} ...", docs.name);
        nginx.clear()?;
        let (keep, start) = (dir.join(name), format!("{}{}", nginx.origin, docs.start));
        let mut crawl = Command::new(binary);
        crawl.arg("--data").arg(&keep).args(["--format", "json", "crawl", &start]).args(flags);
        crawl.args(["--delay", "0s", "--allow-private", "--no-index", "--no-archive"]);
        crawl.args(["--connections-per-host", "1"]);
        process::run(&mut crawl, dir, name, LIMIT)?.ok()?;
        let pages = nginx.pages()?.into_iter().filter(|hit| hit.status == 200);
        let pages = pages.map(|hit| format!("{}{}", nginx.origin, hit.uri)).collect();
        let mut graph = String::new();
        if links {
            let mut export = Command::new(binary);
            export.arg("--data").arg(&keep).args(["export", "graph", "--out"]);
            process::run(export.arg(dir.join("links.tsv")), dir, "export", LIMIT)?.ok()?;
            graph = std::fs::read_to_string(dir.join("links.tsv"))?;
        }
        std::fs::remove_dir_all(&keep)?;
        Ok((pages, graph))
    }

    /// What each page is worth, in every order and in the ideal one; drawn, too.
    fn gathered(
        &self,
        what: &str,
        visits: &[(&str, Vec<String>)],
        worth: &BTreeMap<&str, f64>,
    ) -> Result<Vec<Series>> {
        let mut orders: Vec<Series> = Vec::new();
        for (name, pages) in visits {
            let distinct: BTreeSet<&str> = pages.iter().map(String::as_str).collect();
            let same = distinct.len() == pages.len() && distinct.iter().eq(worth.keys());
            ensure!(same, "{name} asked for {} pages, breadth for {}", pages.len(), worth.len());
            let of = pages.iter().map(|page| worth[page.as_str()]);
            orders.push(((*name).to_string(), of.collect()));
        }
        let mut ideal: Vec<f64> = worth.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        orders.push(("ideal".to_string(), ideal));
        let curves: Vec<Series> = orders.iter().map(|(n, all)| (n.clone(), curve(all))).collect();
        let title = format!("{what} gathered: {}, {} pages", self.docs.name, worth.len());
        let plot = shares(&title, what, "pages fetched, of all", &curves);
        std::fs::write(self.dir.join("gathered.svg"), plot)?;
        Ok(orders)
    }
}

fn one_site(docs: &Docs, binary: &Path, dir: &Path) -> Result<String> {
    let site = Site::serve(docs, binary, dir)?;
    let (mut visits, mut graph) = (Vec::new(), String::new());
    for asked in plain_orders() {
        let (pages, links) = site.crawl(&asked, graph.is_empty())?;
        graph = if graph.is_empty() { links } else { graph };
        visits.push((asked.0, pages));
    }
    let edges = graph.lines().skip(1).filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?))
    });
    let pages: Vec<String> = visits.first().context("no order")?.1.clone();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    let ranks = page_rank(&pages, edges);
    let ranks: BTreeMap<&str, f64> = pages.iter().map(|page| (*page, ranks[page])).collect();
    table(docs, &site.gathered("PageRank mass", &visits, &ranks)?)
}

fn plain_orders() -> Vec<Asked> {
    ORDERS.into_iter().map(|order| (order, vec!["--order", order])).collect()
}

/// Made-up webs of six topics: which part of the pages on one of them each order has at 20 % of the
/// fetches. Where the program knows `--about`, that is asked too.
fn topic_web(seed: u64, binary: &Path, dir: &Path) -> Result<String> {
    let _ = std::fs::remove_dir_all(dir);
    let root = dir.join("web");
    std::fs::create_dir_all(&root)?;
    let wanted = topics::write(seed, &root)?;
    let docs = Docs { name: format!("topic web {seed}"), root, start: "/p0.html".to_string() };
    let site = Site::serve(&docs, binary, dir)?;
    let mut orders = plain_orders();
    if process::output(Command::new(binary).args(["help", "crawl"]))?.contains("--about") {
        orders.push(("about", vec!["--about", topics::ABOUT]));
    }
    let mut visits = Vec::new();
    for asked in orders {
        visits.push((asked.0, site.crawl(&asked, false)?.0));
    }
    let part = 1.0 / wanted.len().max(1) as f64;
    let is_wanted = |page: &str| page.rsplit('/').next().is_some_and(|name| wanted.contains(name));
    let pages: Vec<String> = visits.first().context("no order")?.1.clone();
    let worth = |page: &String| if is_wanted(page) { part } else { 0.0 };
    let worth: BTreeMap<&str, f64> = pages.iter().map(|p| (p.as_str(), worth(p))).collect();
    let mut rows = Vec::new();
    for (name, all) in site.gathered("on-topic pages", &visits, &worth)? {
        let at_fifth: f64 = all.iter().take(all.len() / 5).sum();
        rows.push(vec![name, format!("{:.1} %", 100.0 * at_fifth)]);
    }
    let heads = ["", "on-topic pages at 20 % of the fetches"];
    let (name, number) = (&docs.name, wanted.len());
    let of = pages.len();
    Ok(format!("\n{name}, {number} of {of} pages on the topic\n{}", aligned(&heads, &rows)))
}

/// The mass gathered at each percent of the fetches.
fn curve(worth: &[f64]) -> Vec<f64> {
    let (mut sum, mut sums) = (0.0, vec![0.0]);
    for value in worth {
        sum += value;
        sums.push(sum);
    }
    (0..POINTS).map(|n| sums[n * worth.len() / (POINTS - 1)]).collect()
}

/// How many fetches it takes to a share of the mass.
pub fn fetches(worth: &[f64], share: f64) -> usize {
    let (mut sum, all) = (0.0, worth.iter().sum::<f64>());
    let more = |value: &&f64| {
        sum += **value;
        sum < share * all
    };
    worth.iter().take_while(more).count() + 1
}

fn table(docs: &Docs, orders: &[(String, Vec<f64>)]) -> Result<String> {
    let breadth = &orders.first().context("no order")?.1;
    let mut rows = Vec::new();
    let mut verdict = String::new();
    for (name, worth) in orders {
        let mut row = vec![name.clone()];
        for share in SHARES {
            let taken = fetches(worth, share);
            let ratio = taken as f64 / fetches(breadth, share) as f64;
            row.push(format!("{taken} ({ratio:.3})"));
            if name == "best" && share == 0.8 {
                let holds = if ratio <= MOST_RATIO { "holds" } else { "DOES NOT HOLD" };
                let _ =
                    writeln!(verdict, "{holds}: best-first takes {ratio:.3}, at most {MOST_RATIO}");
            }
        }
        rows.push(row);
    }
    let heads = ["", "fetches to 50 % (of breadth)", "to 80 %", "to 90 %"];
    let pages = breadth.len();
    Ok(format!("\n{}, {pages} pages\n{}{verdict}", docs.name, aligned(&heads, &rows)))
}

/// PageRank of pages among themselves: damping 0.85, until nothing moves by 1e-12 in all.
pub fn page_rank<'a>(
    pages: &[&'a str],
    edges: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<&'a str, f64> {
    let number: BTreeMap<&str, usize> = pages.iter().enumerate().map(|(n, p)| (*p, n)).collect();
    let mut links: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); pages.len()];
    for (from, to) in edges {
        if let (Some(from), Some(to)) = (number.get(from), number.get(to)) {
            links[*from].insert(*to);
        }
    }
    let count = pages.len() as f64;
    let mut ranks = vec![1.0 / count; pages.len()];
    for _ in 0..1000 {
        let mute = (0..pages.len()).filter(|n| links[*n].is_empty()).map(|n| ranks[n]).sum::<f64>();
        let mut next = vec![(0.15 + 0.85 * mute) / count; pages.len()];
        for (from, to) in links.iter().enumerate() {
            to.iter().for_each(|to_page| next[*to_page] += 0.85 * ranks[from] / to.len() as f64);
        }
        let moved = ranks.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum::<f64>();
        ranks = next;
        if moved < 1e-12 {
            break;
        }
    }
    pages.iter().copied().zip(ranks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_networkx() {
        // nx.pagerank(nx.DiGraph([(0, 1), (0, 2), (1, 2), (2, 0), (3, 2)]), tol=1e-14), and a page alone.
        let edges = [("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "c"), ("a", "b")];
        let ranks = page_rank(&["a", "b", "c", "d"], edges.into_iter());
        let want = [0.372_526_85, 0.195_823_91, 0.394_149_24, 0.0375];
        for (page, want) in ["a", "b", "c", "d"].iter().zip(want) {
            assert!((ranks[page] - want).abs() < 1e-6, "{page}: {}", ranks[page]);
        }
        let alone = page_rank(&["a", "b"], [("a", "b")].into_iter());
        assert!((alone.values().sum::<f64>() - 1.0).abs() < 1e-9 && alone["b"] > alone["a"]);
    }

    #[test]
    fn fetches_are_counted_to_the_page_that_makes_it() {
        let worth = [0.5, 0.25, 0.125, 0.125];
        assert_eq!((fetches(&worth, 0.5), fetches(&worth, 0.8), fetches(&worth, 1.0)), (1, 3, 4));
        let drawn = curve(&worth);
        assert_eq!((drawn.len(), drawn[0], drawn[25], drawn[100]), (101, 0.0, 0.5, 1.0));
    }
}
