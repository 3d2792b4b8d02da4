//! On one connection the order of visits is exact: held against a simulation of its own.

use crate::raw::{Raw, http, missing, redirect};
use crate::support::{Place, order, single_file};
use argiope_crawl::Ended;
use argiope_model::Order;
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
                    Order::Depth => new.into_iter().rev().for_each(|l| queue.push_front(l)),
                }
            }
        }
        visited.push(path);
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
    assert_eq!(server.paths(), simulate(&site, &first, order_of_visits));
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
