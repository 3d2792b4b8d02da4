//! Several jobs in one directory, and changing them while a crawl runs.

use crate::raw::{Raw, missing, page};
use crate::resume::truth;
use crate::support::{
    Place, Running, now, order, plain, requests, served, settings, single_file, within,
};
use argiope_crawl::{Ended, EngineSettings, NewJob};
use argiope_model::{JobId, JobState, Limits, ScopeRule};
use argiope_store::{Batch, JobChange, UrlState};
use argiope_testweb::{ServeOptions, Served, Web, WebSpec, serve};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

async fn slow(spec: WebSpec) -> Served {
    let options = ServeOptions { latency: Duration::from_millis(15), ..ServeOptions::default() };
    serve(Arc::new(Web::new(spec)), options).await.expect("loopback ports")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wider_job_looks_at_stored_links_and_asks_only_for_what_is_new() {
    let served = served(plain(3, 40)).await;
    let place = Place::new();
    place.crawl(settings(), order(&served.bases()[..1])).await;
    assert_eq!(requests(&served), 40);
    let mut wide = order(&served.bases()[..1]);
    wide.rule = ScopeRule::Any;
    let summary = place.crawl(settings(), wide).await;
    assert_eq!(summary.ended, Ended::Done);
    let expected = served.web().expected_crawl(&[0]).len() as u64;
    assert_eq!(requests(&served), expected, "what the first job read is not asked for again");
    assert_eq!(summary.jobs.iter().find(|j| j.job.id == JobId(2)).unwrap().counters.queued, 0);
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched).len() as u64, expected);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deeper_job_goes_on_where_the_shallow_one_turned_back() {
    let served = served(plain(1, 120)).await;
    let place = Place::new();
    let mut shallow = order(&served.bases());
    shallow.limits = Limits { depth: Some(1), ..Limits::default() };
    let first = place.crawl(settings(), shallow).await;
    assert!(first.fetched < 120);
    let second = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!(second.ended, Ended::Done);
    assert_eq!(requests(&served), 120);
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched), truth(&served, 0));
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shorter_way_found_late_lets_deeper_pages_in() {
    // /far is met first over a long way, at the limit; the short way is slow to answer.
    let server = Raw::start(|asked| match asked.path.as_str() {
        "/" => page(&["/slow", "/a"]),
        "/a" => page(&["/b"]),
        "/b" => page(&["/far"]),
        "/slow" => {
            std::thread::sleep(Duration::from_millis(700));
            page(&["/far"])
        }
        "/far" => page(&["/farther"]),
        "/farther" => page(&[]),
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let mut limited = order(&[server.url("/")]);
    limited.limits = Limits { depth: Some(3), ..Limits::default() };
    let summary = place.crawl(settings(), limited).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 6));
    assert_eq!(place.rows()[&server.url("/farther")].depth, 3);
    assert!(server.counts().values().all(|n| *n == 1), "{:?}", server.counts());
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_job_rests_and_a_resumed_one_goes_on() {
    let served = slow(plain(2, 240)).await;
    let place = Place::new();
    // A second job keeps the crawl alive while the first rests.
    let running = place.start(settings(), Some(order(&served.bases()[..1])));
    running.until_fetched(5).await;
    running.stop().await;
    let running = place.start(settings(), Some(order(&served.bases()[1..])));
    running.set_job(JobId(1), JobState::Paused).await;
    tokio::time::sleep(Duration::from_millis(250)).await;
    let resting = served.hits().iter().filter(|h| h.site == Some(0)).count();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(served.hits().iter().filter(|h| h.site == Some(0)).count(), resting);
    running.set_job(JobId(1), JobState::Open).await;
    let summary = running.end().await;
    assert_eq!(summary.ended, Ended::Done);
    assert!(summary.jobs.iter().all(|job| job.state == JobState::Done), "{:?}", summary.jobs);
    assert_eq!(requests(&served), 480);
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_paused_for_good_ends_the_run_and_the_same_order_resumes_it() {
    let served = slow(plain(1, 150)).await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    running.until_fetched(10).await;
    running.set_job(JobId(1), JobState::Paused).await;
    let summary = running.end().await;
    assert_eq!(summary.jobs[0].state, JobState::Paused);
    assert!(summary.jobs[0].counters.queued > 0);
    place.open().assert_verified();
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 150));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_job_is_left_alone_and_its_order_given_again_is_a_new_one() {
    let served = slow(plain(1, 150)).await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    running.until_fetched(10).await;
    running.set_job(JobId(1), JobState::Dropped).await;
    let summary = running.end().await;
    assert_eq!(summary.jobs[0].state, JobState::Dropped);
    let before = requests(&served);
    let again = place.crawl(settings(), order(&served.bases())).await;
    let new = again.jobs.iter().find(|j| j.job.id == JobId(2)).expect("a new job");
    assert_eq!((again.ended, new.state), (Ended::Done, JobState::Done));
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched), truth(&served, 0));
    opened.assert_verified();
    assert_eq!(requests(&served), 150, "{before} of them before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_for_a_job_that_is_not_there_changes_nothing() {
    let served = slow(plain(1, 60)).await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    running.until_fetched(3).await;
    running.set_job(JobId(99), JobState::Paused).await;
    let summary = running.end().await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 60));
}

/// Two corners of one host; pages of the first take a moment, one of the second a long one.
async fn corners() -> Raw {
    let many: Vec<String> = (0..400).map(|n| format!("/a/{n}")).collect();
    Raw::start(move |asked| match asked.path.as_str() {
        "/a/" => page(&many.iter().map(String::as_str).collect::<Vec<_>>()),
        "/b/" => page(&["/b/1", "/b/slow", "/b/2"]),
        "/b/slow" => {
            std::thread::sleep(Duration::from_millis(600));
            page(&[])
        }
        path => {
            std::thread::sleep(Duration::from_millis(if path.starts_with("/a/") { 20 } else { 1 }));
            page(&[])
        }
    })
    .await
}

fn corner(server: &Raw, path: &str, pages: Option<u64>) -> NewJob {
    let mut job = order(&[server.url(path)]);
    (job.rule, job.limits.pages) = (ScopeRule::Prefix, pages);
    job
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_resumed_while_another_works_on_its_host_is_not_forgotten() {
    let server = corners().await;
    let place = Place::new();
    let running = place.start(single_file(), Some(corner(&server, "/a/", Some(30))));
    running.until_fetched(2).await;
    running.stop().await;
    let opened = place.open();
    let pause = JobChange::State(JobId(1), JobState::Paused);
    opened.store.commit(Batch { now: now(), jobs: vec![pause], ..Batch::default() }).unwrap();
    let asked = server.paths().len();
    // The host is loaded for the second job, its rows of the first passed over.
    let running = Running::start(opened, single_file(), Some(corner(&server, "/b/", None)));
    within(10, async {
        while !server.paths().contains(&"/b/slow".to_owned()) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
    assert!(!server.paths()[asked..].iter().any(|path| path.starts_with("/a/")));
    running.set_job(JobId(1), JobState::Open).await;
    let summary = running.end().await;
    let [first, second] = &summary.jobs[..] else { panic!("{:?}", summary.jobs) };
    assert_eq!((first.counters.fetched, second.counters.fetched), (30, 4));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_at_its_limit_does_not_stand_in_the_way_of_another_on_its_host() {
    let server = corners().await;
    let place = Place::new();
    // So little memory that the first job's rows fill all that is held of the host.
    let small = EngineSettings { memory: 1 << 20, ..single_file() };
    let running = place.start(small.clone(), Some(corner(&server, "/a/", Some(60))));
    running.until_fetched(2).await;
    let stopped = running.stop().await;
    assert_eq!(stopped.jobs[0].state, JobState::Open, "{:?}", stopped.jobs);
    let summary = place.crawl(small, corner(&server, "/b/", None)).await;
    let [first, second] = &summary.jobs[..] else { panic!("{:?}", summary.jobs) };
    assert_eq!((first.counters.fetched, second.counters.fetched), (60, 4));
    assert_eq!((first.state, second.state), (JobState::Limited, JobState::Done));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_open_jobs_that_meet_the_same_pages_are_both_complete() {
    let served = slow(plain(3, 60)).await;
    let place = Place::new();
    // The narrow job is interrupted with pages of its site still queued.
    let running = place.start(settings(), Some(order(&served.bases()[..1])));
    running.until_fetched(8).await;
    running.stop().await;
    let mut wide = order(&served.bases()[..1]);
    wide.rule = ScopeRule::Any;
    let summary = place.crawl(settings(), wide).await;
    assert_eq!(summary.ended, Ended::Done);
    let expected: BTreeSet<String> = served
        .web()
        .expected_crawl(&[0])
        .into_iter()
        .map(|e| format!("{}{}", served.web().origin(e.site), e.path))
        .collect();
    assert_eq!(place.open().in_state(UrlState::Fetched), expected);
}
