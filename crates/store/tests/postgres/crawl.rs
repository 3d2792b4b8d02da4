//! Three workers on one made-up crawl, killed and stalled again and again: every page once.
//!
//! No network: a worker "visits" a row by making up the links of its page. What is tried is what
//! the store promises them: one writer per partition at any time, whole commits, nothing lost on the
//! way from one worker to another.

use crate::cluster;
use crate::scene::*;
use argiope_frontier::{Entry, HostWindow, Refill, place_of_link, place_of_seed};
use argiope_model::{JobId, Order, Time};
use argiope_store::{
    Batch, Claims, Discovery, PageResult, PostgresOptions, PostgresStore, Store, StoreError,
    UrlState, WorkerReport, rebalance,
};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const HOSTS: u64 = 40;
const PAGES: u64 = 12;
const LEASE: Duration = Duration::from_millis(1_500);

/// The text of a page's URL; two hosts make a site.
fn page_url(host: u64, page: u64) -> String {
    format!("http://w{}.site{}.test/{page}", host, host / 2)
}

/// Where a page leads: on along its host, and to two others.
fn links_of(url: &str) -> Vec<String> {
    let (host, page) = url["http://w".len()..].split_once(".site").unwrap();
    let page = page.rsplit_once('/').unwrap().1;
    let (host, page): (u64, u64) = (host.parse().unwrap(), page.parse().unwrap());
    let mut links =
        vec![page_url((host * 7 + page) % HOSTS, page), page_url((host + 1) % HOSTS, 0)];
    if page + 1 < PAGES {
        links.push(page_url(host, page + 1));
    }
    links
}

struct Worker<'a> {
    url: &'a str,
    begun: Instant,
    random: u64,
    done: &'a AtomicBool,
    refused: &'a AtomicUsize,
    /// Groups until it is stopped past its lease for certain.
    stall_in: u64,
}

impl Worker<'_> {
    fn roll(&mut self, sides: u64) -> bool {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33).is_multiple_of(sides)
    }

    fn now(&self) -> i64 {
        1_000_000 + self.begun.elapsed().as_millis() as i64
    }

    /// Lives, dies and lives again until the crawl is done.
    fn run(&mut self) {
        while !self.done.load(Relaxed) {
            match self.live() {
                Ok(()) => {}
                Err(StoreError::LeaseLost { .. } | StoreError::LeaseEnded) => {
                    self.refused.fetch_add(1, Relaxed);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }

    fn live(&mut self) -> Result<(), StoreError> {
        let store = PostgresStore::open(self.url, PostgresOptions::default())?;
        let mut held = store.join("worker", "", LEASE, Instant::now())?;
        let mut renewed = Instant::now();
        let mut number = store.take_pages(1_000)?;
        let mut in_hand: Vec<HostWindow> = Vec::new();
        let mut known: BTreeSet<u16> = BTreeSet::new();
        let report = WorkerReport::default();
        while !self.done.load(Relaxed) {
            if renewed.elapsed() > LEASE / 4 || held.free.len() > held.parts.len() {
                renewed = Instant::now();
                held = store.renew(&report, renewed)?;
                let todo = rebalance(held.workers, held.rank, held.parts.len(), held.free.len());
                store.acquire(&held.free[..todo.take])?;
                let given = held.parts[held.parts.len() - todo.give..].to_vec();
                // What is in hand there is given back before the partition is.
                let is_given = |window: &&HostWindow| given.contains(&window.host.part);
                let releases =
                    in_hand.iter().filter(is_given).map(|w| release(w.host, 0)).collect();
                store.commit(Batch { releases, ..at(self.now()) })?;
                in_hand.retain(|window| !given.contains(&window.host.part));
                store.release(&given)?;
            }
            // Partitions that are new: their claims were left open by somebody else.
            let parts: BTreeSet<u16> = store.held().into_iter().collect();
            let new: Vec<u16> = parts.difference(&known).copied().collect();
            let left = if new.is_empty() { Vec::new() } else { store.claims_in(&new)? };
            known = parts;
            let left = left.into_iter().filter(|host| in_hand.iter().all(|w| w.host != *host));
            let refill = |host| Refill { host, after: None, limit: 50 };
            let refills: Vec<Refill> = left.map(refill).collect();

            if self.roll(40) {
                return Ok(()); // Killed: nobody is told.
            }
            self.stall_in = self.stall_in.saturating_sub(u64::from(!in_hand.is_empty()));
            if self.stall_in == 1 || self.roll(60) {
                self.stall_in = 0;
                std::thread::sleep(LEASE * 3 / 2); // Stopped, and continued past its lease.
            }
            let mut batch = Batch { refills, ..at(self.now()) };
            batch.claims = Claims { named: Vec::new(), hosts: 6, window: 50 };
            for window in in_hand.drain(..) {
                batch.releases.push(release(window.host, 0));
                for entry in window.entries {
                    number += 1;
                    let (page, found) = visit(entry, number, batch.now);
                    batch.pages.push(page);
                    batch.discoveries.extend(found);
                }
            }
            let idle = batch.pages.is_empty();
            let told = store.commit(batch)?;
            in_hand.extend(told.refills.into_iter().chain(told.claimed));
            if idle {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(())
    }
}

fn visit(entry: Entry, number: u64, now: Time) -> (PageResult, Vec<Discovery>) {
    let links = links_of(entry.url.as_str()).into_iter().enumerate();
    let found = links.map(|(n, link)| {
        let place = place_of_link(Order::Breadth, entry.depth + 1, number, n);
        found(&link, 1, entry.depth + 1, place)
    });
    let found = found.collect();
    (fetched(entry, now.0), found)
}

#[test]
fn workers_that_die_and_stall_fetch_every_page_once() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let begun = Instant::now();
    let visitor = PostgresStore::open(&url, PostgresOptions::default()).unwrap();
    let page = visitor.take_pages(1).unwrap();
    let seed = found(&page_url(0, 0), 1, 0, place_of_seed(Order::Breadth, page, 0));
    give(&visitor, 1_000_000, vec![new_job(job(1))], vec![seed]);
    let (done, refused) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for random in 1..=3 {
            let (url, done, refused) = (&url, &done, &refused);
            let stall_in = random * 4;
            scope.spawn(move || {
                Worker { url, begun, random, done, refused, stall_in }.run();
            });
        }
        while counters(&visitor, 1).queued > 0 && begun.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(50));
        }
        done.store(true, Relaxed);
    });
    // Those that were killed are buried first.
    std::thread::sleep(LEASE);
    let store = sole_worker(&url);
    let left = store.renew(&WorkerReport::default(), Instant::now()).unwrap();
    store.acquire(&left.free).unwrap();
    assert_eq!(store.held().len(), 4096);
    assert!(refused.load(Relaxed) > 0, "who was stopped was told so");
    let rows = all_urls(&store);
    assert_eq!(rows.len() as u64, HOSTS * PAGES);
    for (key, row) in &rows {
        assert_eq!((row.state, row.visits), (UrlState::Fetched, 1), "{}", row.url);
        assert_eq!(store.captures(*key).unwrap().len(), 1, "{}", row.url);
    }
    let docs: BTreeSet<u64> = rows.iter().map(|(_, row)| row.doc.0).collect();
    assert_eq!(docs.len(), rows.len(), "a number is one URL's");
    let mut changes = 0;
    for (part, head) in store.log_heads().unwrap() {
        let log = store.changes(part, 0, 9_999).unwrap();
        assert!(log.iter().map(|change| change.n).eq(1..=head), "partition {part} has holes");
        changes += log.len();
    }
    assert_eq!(changes, rows.len());
    assert_eq!(counters(&store, 1).fetched, HOSTS * PAGES);
    assert!(store.jobs().unwrap().iter().all(|row| row.job.id == JobId(1)));
    check(&store);
}
