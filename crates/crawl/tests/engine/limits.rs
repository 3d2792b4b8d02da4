//! Limits stop at exactly their number, and raising them goes on.

use crate::support::{Place, order, plain, requests, served, settings};
use argiope_crawl::{Ended, EngineSettings};
use argiope_frontier::SkipReason;
use argiope_model::{JobState, Limits};
use argiope_store::UrlState;
use argiope_testweb::{Kind, ServeOptions, Web, WebSpec, serve};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn with(connections: usize) -> EngineSettings {
    EngineSettings { connections, per_host: connections, ..settings() }
}

fn pages(limit: u64) -> Limits {
    Limits { pages: Some(limit), ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_limit_is_met_exactly_with_any_number_of_connections() {
    let served = served(WebSpec { redirects_per_mille: 100, broken_per_mille: 50, ..plain(3, 40) });
    let served = served.await;
    for connections in [1, 8, 64] {
        let place = Place::new();
        let mut so_far = 0;
        for limit in [1, 7, 70] {
            let before = requests(&served);
            let mut order = order(&served.bases());
            order.limits = pages(limit);
            let summary = place.crawl(with(connections), order).await;
            let counters = &summary.jobs[0].counters;
            assert_eq!((counters.fetched, summary.ended), (limit, Ended::Limit));
            assert_eq!(summary.fetched, limit - so_far, "{connections} connections");
            assert_eq!(summary.jobs[0].state, JobState::Limited);
            so_far = limit;
            // What was asked for and was no page is on record as well: nothing is wasted.
            assert!(requests(&served) - before >= summary.fetched);
        }
        let opened = place.open();
        assert_eq!(opened.in_state(UrlState::Fetched).len(), 70);
        opened.assert_verified();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_limit_it_goes_on_to_the_end_and_asks_for_nothing_twice() {
    let served = served(plain(2, 50)).await;
    let place = Place::new();
    let mut few = order(&served.bases());
    few.limits = pages(33);
    assert_eq!(place.crawl(with(8), few).await.fetched, 33);
    let rest = place.crawl(with(8), order(&served.bases())).await;
    assert_eq!((rest.ended, rest.fetched), (Ended::Done, 67));
    assert_eq!(rest.jobs.len(), 1, "the same order is the same job");
    assert_eq!(requests(&served), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_byte_limit_is_never_exceeded_and_can_be_raised() {
    let served = served(plain(2, 60)).await;
    let place = Place::new();
    for limit in [1_000, 20_000, 60_000] {
        let mut order = order(&served.bases());
        order.limits = Limits { bytes: Some(limit), ..Limits::default() };
        let summary = place.crawl(with(16), order).await;
        let bytes = summary.jobs[0].counters.bytes;
        assert_eq!(summary.ended, Ended::Limit);
        // The page that did not fit is at most as large as the largest.
        assert!(bytes <= limit && bytes + 20_000 > limit, "{bytes} of {limit}");
        place.open().assert_verified();
    }
    let rest = place.crawl(with(16), order(&served.bases())).await;
    assert_eq!((rest.ended, rest.jobs[0].counters.fetched), (Ended::Done, 120));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_depth_limit_reaches_exactly_the_pages_of_that_depth() {
    let served = served(WebSpec { redirects_per_mille: 80, ..plain(3, 40) }).await;
    let truth = served.web().expected_crawl(&[0, 1, 2]);
    for connections in [1, 48] {
        for depth in [0, 1, 2] {
            let place = Place::new();
            let mut order = order(&served.bases());
            order.limits = Limits { depth: Some(depth), ..Limits::default() };
            let summary = place.crawl(with(connections), order).await;
            assert_eq!(summary.ended, Ended::Done);
            let near: BTreeSet<String> = truth
                .iter()
                .filter(|e| e.kind == Kind::Page && e.depth <= u32::from(depth))
                .map(|e| format!("{}{}", served.web().origin(e.site), e.path))
                .collect();
            let opened = place.open();
            assert_eq!(opened.in_state(UrlState::Fetched), near, "depth {depth}");
            let beyond = opened.in_state(UrlState::Skipped(SkipReason::Depth)).len() as u64;
            assert_eq!(opened.store.jobs().unwrap()[0].counters.skipped_depth, beyond);
            opened.assert_verified();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_ends_the_run_and_the_next_goes_on() {
    let options = ServeOptions { latency: Duration::from_millis(30), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(1, 80)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let mut short = order(&served.bases());
    short.limits = Limits { time_ms: Some(600), ..Limits::default() };
    let summary = place.crawl(with(2), short).await;
    assert_eq!(summary.ended, Ended::Limit);
    assert_eq!(summary.jobs[0].state, JobState::Limited);
    assert!(summary.elapsed >= Duration::from_millis(600), "{:?}", summary.elapsed);
    assert!(summary.elapsed < Duration::from_millis(2500), "{:?}", summary.elapsed);
    assert!(summary.fetched > 0 && summary.fetched < 80, "{}", summary.fetched);
    let rest = place.crawl(with(16), order(&served.bases())).await;
    assert_eq!((rest.ended, rest.jobs[0].counters.fetched), (Ended::Done, 80));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_of_one_job_is_not_another_jobs() {
    let options = ServeOptions { latency: Duration::from_millis(20), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(2, 120)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let mut short = order(&served.bases()[..1]);
    short.limits = Limits { time_ms: Some(400), ..Limits::default() };
    let running = place.start(with(2), Some(short));
    running.until_fetched(2).await;
    running.stop().await;
    // Both are worked on; the first is cut off again, the second goes on to its end.
    let summary = place.crawl(with(2), order(&served.bases()[1..])).await;
    let [first, second] = &summary.jobs[..] else { panic!("{:?}", summary.jobs) };
    assert_eq!((second.state, second.counters.fetched), (JobState::Done, 120));
    assert_eq!((summary.ended, first.state), (Ended::Limit, JobState::Limited));
    assert!(first.counters.fetched < 120);
}
