//! The cap on the pages of a site is met exactly, whatever hosts and connections it has, and can be raised.

use crate::support::{Place, order, plain, requests, served, settings};
use argiope_crawl::{Ended, EngineSettings};
use argiope_frontier::SkipReason;
use argiope_model::Limits;
use argiope_store::UrlState;
use argiope_testweb::{ServeOptions, Served, Web, WebSpec, serve};
use std::sync::Arc;
use std::time::Duration;

fn with(connections: usize) -> EngineSettings {
    EngineSettings { connections, per_host: connections, ..settings() }
}

fn cap(site_pages: u64) -> Limits {
    Limits { site_pages: Some(site_pages), ..Limits::default() }
}

/// Three hosts of one site: three ports of one address. Says where they begin.
async fn three_hosts(latency: Duration) -> (Vec<Served>, Vec<String>) {
    let mut hosts = Vec::new();
    for seed in 1..4 {
        let spec = WebSpec { redirects_per_mille: 100, broken_per_mille: 50, seed, ..plain(1, 40) };
        let options = ServeOptions { latency, ..ServeOptions::default() };
        hosts.push(serve(Arc::new(Web::new(spec)), options).await.expect("loopback ports"));
    }
    let bases = hosts.iter().map(|host| host.base(0)).collect();
    (hosts, bases)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_gives_exactly_its_cap_over_all_its_hosts_and_goes_on_when_that_is_raised() {
    let (_hosts, bases) = three_hosts(Duration::ZERO).await;
    let whole = Place::new();
    let all = whole.crawl(with(16), order(&bases)).await.fetched;
    for connections in [1, 16] {
        let place = Place::new();
        let mut so_far = 0;
        for most in [1, 7, 70] {
            let mut order = order(&bases);
            order.limits = cap(most);
            let summary = place.crawl(with(connections), order).await;
            let counters = &summary.jobs[0].counters;
            assert_eq!((counters.fetched, summary.ended), (most, Ended::Done), "{connections}");
            assert_eq!((summary.fetched, summary.capped_sites), (most - so_far, 1));
            assert!(counters.skipped_site_pages > 0);
            so_far = most;
        }
        let opened = place.open();
        assert_eq!(opened.in_state(UrlState::Fetched).len(), 70);
        assert!(!opened.in_state(UrlState::Skipped(SkipReason::SitePages)).is_empty());
        opened.assert_verified();
        drop(opened);
        let rest = place.crawl(with(connections), order(&bases)).await;
        assert_eq!((rest.ended, rest.jobs[0].counters.fetched), (Ended::Done, all));
        assert_eq!(rest.jobs[0].counters.skipped_site_pages, 0, "what was left alone came back");
        assert_eq!(rest.jobs.len(), 1, "the same order is the same job");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_smaller_cap_or_the_same_leaves_a_finished_job_alone() {
    let served = served(plain(1, 60)).await;
    let place = Place::new();
    let capped = |most| {
        let mut order = order(&served.bases());
        order.limits = cap(most);
        order
    };
    place.crawl(with(8), capped(20)).await;
    let before = requests(&served);
    for most in [20, 5] {
        let again = place.crawl(with(8), capped(most)).await;
        assert_eq!((again.ended, again.fetched), (Ended::Done, 0));
    }
    assert_eq!(requests(&served), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_again_and_again_a_site_still_gives_exactly_its_cap() {
    let (_hosts, bases) = three_hosts(Duration::from_millis(20)).await;
    let place = Place::new();
    let capped = || {
        let mut order = order(&bases);
        order.limits = cap(33);
        order
    };
    for millis in [60, 90, 40, 120] {
        let running = place.start(with(4), Some(capped()));
        tokio::time::sleep(Duration::from_millis(millis)).await;
        running.stop().await;
        assert!(place.open().in_state(UrlState::Fetched).len() <= 33);
    }
    let last = place.crawl(with(4), capped()).await;
    assert_eq!((last.ended, last.jobs[0].counters.fetched), (Ended::Done, 33));
    place.open().assert_verified();
}
