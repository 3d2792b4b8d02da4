//! Delays as the servers see them.
//!
//! A server waits before every answer, so the end of an answer is at least that long after its
//! request: from one request to the next must pass that wait and the delay.

use crate::support::{Place, order, plain, settings};
use argiope_crawl::EngineSettings;
use argiope_testweb::{Hit, ServeOptions, Served, Web, serve};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const WAIT: Duration = Duration::from_millis(40);
const DELAY: Duration = Duration::from_millis(150);
/// Our clock counts whole milliseconds.
const GRAIN: Duration = Duration::from_millis(2);

async fn slow(sites: usize, pages: usize) -> Served {
    let options = ServeOptions { latency: WAIT, ..ServeOptions::default() };
    serve(Arc::new(Web::new(plain(sites, pages))), options).await.expect("loopback ports")
}

fn polite(per_host: usize) -> EngineSettings {
    EngineSettings { delay: DELAY, connections: 16, per_host, ..settings() }
}

fn by_site(served: &Served) -> BTreeMap<usize, Vec<Hit>> {
    let mut sites: BTreeMap<usize, Vec<Hit>> = BTreeMap::new();
    for hit in served.hits() {
        sites.entry(hit.site.expect("a site")).or_default().push(hit);
    }
    sites
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_is_left_alone_from_the_end_of_an_answer_for_its_delay() {
    let served = slow(6, 8).await;
    let place = Place::new();
    let summary = place.crawl(polite(1), order(&served.bases())).await;
    assert_eq!(summary.fetched, 48);
    for (site, hits) in by_site(&served) {
        for pair in hits.windows(2) {
            let gap = pair[1].began - pair[0].began;
            assert!(gap + GRAIN >= WAIT + DELAY, "site {site}: {gap:?}");
        }
    }
    // Six hosts side by side: seven delays and a little, not forty-two.
    assert!(summary.elapsed < Duration::from_secs(4), "{:?}", summary.elapsed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_allowed_connection_of_a_host_keeps_its_own_delay() {
    let served = slow(1, 16).await;
    let place = Place::new();
    let summary = place.crawl(polite(2), order(&served.bases())).await;
    assert_eq!(summary.fetched, 16);
    for hits in by_site(&served).values() {
        for three in hits.windows(3) {
            let gap = three[2].began - three[0].began;
            assert!(gap + GRAIN >= WAIT + DELAY, "three requests in {gap:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_every_host_waits_a_full_delay() {
    let served = slow(4, 10).await;
    let place = Place::new();
    let mut careful = polite(1);
    careful.delay = Duration::from_millis(500);
    let running = place.start(careful.clone(), Some(order(&served.bases())));
    running.until_fetched(4).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    running.abandon();
    // The server is still busy with what was asked last.
    tokio::time::sleep(2 * WAIT).await;
    let before = served.hits().len();
    let opened = place.open();
    let claims = opened.store.claims().expect("claims").len();
    assert_eq!(claims, 4, "hosts that were being asked stay claimed");
    drop(opened);
    let restarted = served.started().elapsed();
    let running = place.start(careful.clone(), Some(order(&served.bases())));
    running.until_fetched(8).await;
    running.stop().await;
    let after: Vec<Hit> = served.hits().split_off(before);
    assert!(!after.is_empty());
    for hit in &after {
        assert!(hit.began + GRAIN >= restarted + careful.delay, "{hit:?} after {restarted:?}");
    }
    for (site, hits) in by_site(&served) {
        for pair in hits.windows(2) {
            let gap = pair[1].began - pair[0].began;
            assert!(gap + GRAIN >= careful.delay, "site {site}: {gap:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_stop_the_rest_of_a_delay_is_kept() {
    let served = slow(3, 6).await;
    let place = Place::new();
    let mut careful = polite(1);
    careful.delay = Duration::from_millis(700);
    let running = place.start(careful.clone(), Some(order(&served.bases())));
    running.until_fetched(3).await;
    running.stop().await;
    assert!(place.open().store.claims().expect("claims").is_empty(), "they are given back");
    let mut four = order(&served.bases());
    four.limits.pages = Some(6);
    let summary = place.crawl(careful.clone(), four).await;
    assert_eq!(summary.jobs[0].counters.fetched, 6);
    for (site, hits) in by_site(&served) {
        for pair in hits.windows(2) {
            let gap = pair[1].began - pair[0].began;
            assert!(gap + GRAIN >= WAIT + careful.delay, "site {site}: {gap:?}");
        }
    }
}
