//! Every page, once, and nothing that is not there.

use crate::support::{Place, order, plain, requests, served, settings};
use argiope_crawl::Ended;
use argiope_frontier::SkipReason;
use argiope_model::{JobState, ScopeRule};
use argiope_store::UrlState;
use argiope_testweb::{Expected, Kind, ServeOptions, Served, Web, WebSpec, serve};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

fn odd(sites: usize, pages: usize) -> WebSpec {
    WebSpec { sites, pages_per_site: pages, mean_page_bytes: 2500, ..WebSpec::demo() }
}

fn address(served: &Served, expected: &Expected) -> String {
    format!("{}{}", served.web().origin(expected.site), expected.path)
}

/// What a finished crawl must know of each kind.
fn state_of(kind: Kind) -> UrlState {
    match kind {
        Kind::Page | Kind::Variant => UrlState::Fetched,
        Kind::Forbidden => UrlState::Skipped(SkipReason::Robots),
        Kind::Redirect => UrlState::Redirected,
        Kind::File => UrlState::Skipped(SkipReason::Extension),
        Kind::Missing => UrlState::Failed,
    }
}

/// Holds what was crawled, and what the server was asked, against the truth.
fn assert_true(served: &Served, place: &Place, expected: &[Expected]) {
    let opened = place.open();
    let truth: BTreeMap<String, UrlState> =
        expected.iter().map(|e| (address(served, e), state_of(e.kind))).collect();
    let found: BTreeMap<String, UrlState> =
        opened.rows().into_iter().map(|(url, row)| (url, row.state)).collect();
    for (url, state) in &truth {
        assert_eq!(found.get(url), Some(state), "{url}");
    }
    let more: Vec<&String> = found.keys().filter(|url| !truth.contains_key(*url)).collect();
    assert!(more.is_empty(), "not in the truth: {more:?}");
    let hits = served.hits().into_iter().filter(|hit| hit.path != "/robots.txt");
    let asked: Vec<(usize, String)> =
        hits.map(|hit| (hit.site.expect("a site"), hit.path)).collect();
    let wanted: BTreeSet<(usize, String)> = expected
        .iter()
        .filter(|e| !matches!(e.kind, Kind::File | Kind::Forbidden))
        .map(|e| (e.site, e.path.clone()))
        .collect();
    assert_eq!(asked.len(), wanted.len(), "something was asked for twice");
    assert_eq!(asked.into_iter().collect::<BTreeSet<_>>(), wanted);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_of_an_odd_site_is_fetched_exactly_once() {
    let served = served(odd(1, 150)).await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!(summary.ended, Ended::Done);
    assert_eq!(summary.jobs[0].state, JobState::Done);
    assert_eq!(summary.jobs[0].counters.queued, 0);
    assert_true(&served, &place, &served.web().expected_urls(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_site_that_links_lead_to_is_crawled_whole() {
    let served = served(odd(8, 25)).await;
    let place = Place::new();
    let mut wide = order(&served.bases()[..1]);
    wide.rule = ScopeRule::Any;
    // Links that lead off the made-up web are none of this test's business.
    let summary = place.crawl(settings(), wide).await;
    assert_eq!(summary.ended, Ended::Done);
    let expected = served.web().expected_crawl(&[0]);
    assert!(expected.iter().map(|e| e.site).collect::<BTreeSet<_>>().len() > 4);
    assert_true(&served, &place, &expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_servers_are_asked_side_by_side() {
    let options = ServeOptions { latency: Duration::from_millis(100), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(24, 12)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let mut fast = settings();
    (fast.connections, fast.per_host) = (96, 4);
    let summary = place.crawl(fast, order(&served.bases())).await;
    assert_eq!(summary.fetched, 24 * 12);
    // One after another it would take half a minute.
    assert!(summary.elapsed < Duration::from_secs(10), "{:?}", summary.elapsed);
    assert_eq!(requests(&served), 24 * 12);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_finished_crawl_finds_nothing_more_to_do() {
    let served = served(plain(1, 20)).await;
    let place = Place::new();
    place.crawl(settings(), order(&served.bases())).await;
    let again = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((again.ended, again.fetched), (Ended::Done, 0));
    assert_eq!(requests(&served), 20);
}
