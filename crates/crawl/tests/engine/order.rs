//! On one connection the order of visits is exact: held against a simulation of its own.

use crate::raw::{Raw, http, missing, redirect};
use crate::support::{Place, order, single_file};
use argiope_crawl::Ended;
use argiope_frontier::Score;
use argiope_model::{Limits, Order};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What a path of the little site holds.
enum Item {
    /// A page with these links, and so many bytes of padding.
    Page(Vec<String>, usize),
    To(String),
    Nothing,
}

type Site = BTreeMap<String, Item>;

/// A small generator of numbers, so that the site is the same every time.
fn draw(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

/// Pages of very different size, so that a long one is still being read when short ones are.
fn site(seed: u64, pages: u64) -> Site {
    let mut state = seed;
    let mut site = Site::new();
    for n in 0..pages {
        let count = 2 + draw(&mut state, 7);
        let mut link = || match draw(&mut state, 12) {
            0 => format!("/lost{}", draw(&mut state, 5)),
            1 => format!("/go{}", draw(&mut state, 9)),
            _ => format!("/p{}", draw(&mut state, pages)),
        };
        let links = (0..count).map(|_| link()).collect();
        let padding = if draw(&mut state, 6) == 0 { 600_000 } else { draw(&mut state, 3000) };
        site.insert(format!("/p{n}"), Item::Page(links, padding as usize));
    }
    for n in 0..9 {
        let to = if n % 3 == 0 { format!("/go{}", n + 1) } else { format!("/p{}", n * 3) };
        site.insert(format!("/go{n}"), Item::To(to));
    }
    for n in 0..5 {
        site.insert(format!("/lost{n}"), Item::Nothing);
    }
    site
}

/// Breadth: first come, first served. Depth: the newest page's links first, as they stand. A
/// URL keeps its first place; the target of a redirect is the same visit and comes next.
fn simulate(site: &Site, first: &[&str], order: Order) -> Vec<String> {
    let mut known: BTreeSet<String> = first.iter().map(|f| (*f).to_owned()).collect();
    let mut queue: VecDeque<String> = first.iter().map(|f| (*f).to_owned()).collect();
    let mut visited = Vec::new();
    while let Some(path) = queue.pop_front() {
        match &site[&path] {
            Item::Nothing => {}
            Item::To(target) => {
                if known.insert(target.clone()) {
                    queue.push_front(target.clone());
                }
            }
            Item::Page(links, _) => {
                let new: Vec<String> =
                    links.iter().filter(|l| known.insert((*l).clone())).cloned().collect();
                match order {
                    Order::Breadth => queue.extend(new),
                    _ => new.into_iter().rev().for_each(|l| queue.push_front(l)),
                }
            }
        }
        visited.push(path);
    }
    visited
}

/// A URL of the simulation below: what it was given, by how many links, its score where that is known.
#[derive(Clone, Copy)]
struct Known {
    cash: f32,
    links: f32,
    score: Score,
}

/// Best: start URLs have 1, a page shares what it has among its links, and what is queued goes by what it
/// has been given times the links to it, halving by halving, then by the visit that found it.
fn simulate_best(site: &Site, first: &[&str]) -> Vec<String> {
    let mut queue: BTreeMap<(u16, u64, u64), String> = BTreeMap::new();
    let mut places: BTreeMap<String, (u16, u64, u64)> = BTreeMap::new();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (index, path) in first.iter().enumerate() {
        places.insert((*path).to_owned(), (0, 0, (index as u64) << 16));
        queue.insert((0, 0, (index as u64) << 16), (*path).to_owned());
    }
    let mut visited: Vec<String> = Vec::new();
    while let Some((at, path)) = queue.pop_first() {
        let own = Score::at_level(at.0);
        let cash = match known.remove(&path) {
            Some(k) if own > k.score => f64::from(k.cash) + own.worth(),
            Some(k) => f64::from(k.cash),
            None => own.worth(),
        };
        visited.push(path.clone());
        let (mut links, redirects) = match &site[&path] {
            Item::Nothing => continue,
            Item::To(target) => (vec![target.clone()], true),
            Item::Page(links, _) => (links.clone(), false),
        };
        let mut met = BTreeSet::new();
        links.retain(|link| met.insert(link.clone()));
        let share = (cash / links.len() as f64) as f32;
        for (index, link) in links.into_iter().enumerate().filter(|(_, l)| !visited.contains(l)) {
            let new = Known { cash: 0.0, links: 0.0, score: Score::WORST };
            let row = known.entry(link.clone()).or_insert(new);
            (row.cash, row.links) = (row.cash + share, row.links + 1.0);
            let score = Score::of_worth(f64::from(row.cash) * f64::from(row.links));
            row.score = row.score.max(score);
            let place = match places.get(&link) {
                Some((level, page, seq)) if score.level() < *level => (score.level(), *page, *seq),
                Some(_) => continue,
                None if redirects => {
                    row.score = row.score.max(own);
                    (at.0, at.1, at.2 + 1)
                }
                None => (score.level(), visited.len() as u64, (index as u64) << 16),
            };
            if let Some(old) = places.insert(link.clone(), place) {
                queue.remove(&old);
            }
            queue.insert(place, link);
        }
    }
    visited
}

async fn compare(order_of_visits: Order, seed: u64) {
    let site = Arc::new(site(seed, 60));
    let told = site.clone();
    let server = Raw::start(move |asked| match told.get(&asked.path) {
        Some(Item::Page(links, padding)) => {
            let links: String = links.iter().map(|l| format!("<a href={l}>{l}</a> ")).collect();
            let padding = "<p>words of padding</p>".repeat(padding / 23);
            http("200 OK", &[("Content-Type", "text/html")], format!("{links}{padding}"))
        }
        Some(Item::To(target)) => redirect(target),
        _ => missing(),
    })
    .await;
    let first = ["/p0", "/p1", "/go3"];
    let seeds: Vec<String> = first.iter().map(|path| server.url(path)).collect();
    let mut job = order(&seeds);
    job.order = order_of_visits;
    let place = Place::new();
    let summary = place.crawl(single_file(), job).await;
    assert_eq!(summary.ended, Ended::Done);
    let want = match order_of_visits {
        Order::Best => simulate_best(&site, &first),
        _ => simulate(&site, &first, order_of_visits),
    };
    assert_eq!(server.paths(), want);
    assert_eq!(want.len(), want.iter().collect::<BTreeSet<_>>().len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn breadth_first_is_first_come_first_served() {
    for seed in 1..3 {
        compare(Order::Breadth, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn depth_first_follows_the_newest_page() {
    for seed in 1..3 {
        compare(Order::Depth, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn best_first_follows_what_urls_were_given_so_far() {
    for seed in 1..4 {
        compare(Order::Best, seed).await;
    }
}

/// A start page with thirty leaves, and a page that each leaf links to, the last of what it links to first.
async fn leaves() -> Raw {
    Raw::start(|asked| {
        let links: Vec<String> = match asked.path.as_str() {
            "/" => (0..30).map(|n| format!("/leaf{n}")).collect(),
            "/hub" => vec!["/".to_owned(), "/behind".to_owned()],
            path if path.starts_with("/leaf") => {
                let rare = path.replace("leaf", "rare");
                [rare.clone(), format!("{rare}b"), "/hub".to_owned()].to_vec()
            }
            path if path.starts_with("/rare") || path == "/behind" => Vec::new(),
            _ => return missing(),
        };
        let links: String = links.iter().map(|l| format!("<a href={l}>{l}</a> ")).collect();
        http("200 OK", &[("Content-Type", "text/html")], links)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_many_pages_link_to_comes_early_and_nothing_is_left_out() {
    let mut where_hub_is = Vec::new();
    for order_of_visits in [Order::Breadth, Order::Best] {
        let server = leaves().await;
        let mut job = order(&[server.url("/")]);
        job.order = order_of_visits;
        let summary = Place::new().crawl(single_file(), job).await;
        assert_eq!(summary.ended, Ended::Done);
        let paths = server.paths();
        assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 93);
        assert_eq!(paths.len(), 93);
        where_hub_is.push(paths.iter().position(|path| path == "/hub").expect("it is fetched"));
    }
    assert!(where_hub_is[0] > 30 && where_hub_is[1] < 8, "{where_hub_is:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crawl_that_goes_on_goes_on_with_the_best() {
    let (server, place) = (leaves().await, Place::new());
    let job = |pages| {
        let mut job = order(&[server.url("/")]);
        (job.order, job.limits) = (Order::Best, Limits { pages, ..Limits::default() });
        job
    };
    // The page that many link to has begun to rise and was not asked for yet.
    let summary = place.crawl(single_file(), job(Some(3))).await;
    assert_eq!((summary.ended, server.paths().len()), (Ended::Limit, 3));
    let hub = place.rows().into_iter().find(|(url, _)| url.ends_with("/hub")).expect("known").1;
    let others = place.rows().into_iter().filter(|(url, _)| url.contains("/leaf"));
    let waiting = others.filter_map(|(_, row)| row.place).min().expect("leaves wait");
    let hub = hub.place.expect("it waits");
    assert_eq!(place.crawl(single_file(), job(None)).await.ended, Ended::Done);
    let paths = server.paths();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 93);
    let at = paths.iter().position(|path| path == "/hub").expect("it is fetched");
    // Its score went on from where it was: two leaves more, or none.
    assert!(at <= if hub < waiting { 4 } else { 8 }, "{at}: {paths:?}");
}
