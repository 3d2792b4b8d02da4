//! `kill -9`, for real: the crawl is a process of its own, this binary called once more.

use crate::resume::{repeats, truth};
use crate::support::{Place, Running, open, order, plain, settings};
use argiope_crawl::Ended;
use argiope_store::UrlState;
use argiope_testweb::{ServeOptions, Web, serve};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const CHILD: &str = "ARGIOPE_TEST_CRAWL";

/// What the killed process runs; without an order in its environment it has nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (path, seed) = told.split_once('|').expect("a directory and a URL");
    let opened = open(&PathBuf::from(path));
    Running::start(opened, settings(), Some(order(&[seed.to_owned()]))).end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_moment_it_ends_with_the_same_pages() {
    let options = ServeOptions { latency: Duration::from_millis(10), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(1, 900)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let this = std::env::current_exe().expect("this test");
    let mut kills = 0;
    for millis in [60, 190, 110, 330, 150, 240, 90, 280] {
        let mut child = Command::new(&this)
            .args(["killed::child", "--exact"])
            .env(CHILD, format!("{}|{}", place.path.display(), served.base(0)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test as a child");
        tokio::time::sleep(Duration::from_millis(millis)).await;
        kills += usize::from(child.try_wait().expect("the child's state").is_none());
        child.kill().expect("kill -9");
        child.wait().expect("it is dead");
        place.open().assert_verified();
    }
    assert!(kills >= 4, "too quick to be killed: {kills}");
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 900));
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched), truth(&served, 0));
    opened.assert_verified();
    // Two groups and what was under way, a kill.
    assert!(repeats(&served) <= kills * (2 * 64 + 16), "{} repeats", repeats(&served));
}
