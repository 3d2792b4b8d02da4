//! Stopped, crashed, failed: the next run goes on as if nothing had happened.

use crate::support::{Opened, Place, Running, order, plain, served, served_slowly, settings};
use argiope_crawl::{Ended, EngineError};
use argiope_frontier::{Place as Rank, RobotsFile};
use argiope_model::{Capture, DocId, HostKey, JobState, PayloadDigest, SiteKey, Time, UrlKey};
use argiope_store::{
    Batch, Change, Committed, HostRow, JobRow, PayloadRow, SegmentKind, Store, StoreError, UrlRow,
    UrlState,
};
use argiope_testweb::{Kind, ServeOptions, Served, Web, serve};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is on its way when a run is cut off: two groups and the requests under way.
const OPEN_GROUPS: usize = 2 * 64 + 16;

pub fn truth(served: &Served, site: usize) -> BTreeSet<String> {
    let pages = served.web().expected_urls(site).into_iter().filter(|e| e.kind == Kind::Page);
    pages.map(|e| format!("{}{}", served.web().origin(site), e.path)).collect()
}

/// How many requests asked for something that had been asked for before.
pub fn repeats(served: &Served) -> usize {
    let mut counts: HashMap<(Option<usize>, String), usize> = HashMap::new();
    served.hits().into_iter().for_each(|h| *counts.entry((h.site, h.path)).or_default() += 1);
    counts.values().map(|n| n - 1).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_midway_it_goes_on_and_asks_for_nothing_twice() {
    let options = ServeOptions { latency: Duration::from_millis(5), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(1, 300)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    for stop_at in [20, 100, 200] {
        let running = place.start(settings(), Some(order(&served.bases())));
        running.until_fetched(stop_at).await;
        let summary = running.stop().await;
        assert_eq!((summary.ended, summary.jobs[0].state), (Ended::Stopped, JobState::Open));
        place.open().assert_verified();
    }
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 300));
    assert_eq!(place.open().in_state(UrlState::Fetched), truth(&served, 0));
    assert_eq!(repeats(&served), 0, "an orderly stop wastes nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_jobs_go_on_without_being_named() {
    let served = served_slowly(plain(1, 120)).await;
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    running.until_fetched(10).await;
    running.stop().await;
    let summary = place.start(settings(), None).end().await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 120));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_does_not_wait_for_servers_that_do_not_answer() {
    let options = ServeOptions { latency: Duration::from_secs(40), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(2, 5)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let running = place.start(settings(), Some(order(&served.bases())));
    tokio::time::sleep(Duration::from_millis(300)).await;
    let summary = running.stop().await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Stopped, 0));
    assert!(summary.elapsed < Duration::from_secs(8), "{:?}", summary.elapsed);
    let opened = place.open();
    assert_eq!(opened.store.jobs().unwrap()[0].counters.queued, 2);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_crash_torn_tails_are_cut_and_at_most_the_open_groups_are_asked_again() {
    let served = served_slowly(plain(1, 400)).await;
    let place = Place::new();
    for crash_at in [30, 150, 260] {
        let running = place.start(settings(), Some(order(&served.bases())));
        running.until_fetched(crash_at).await;
        running.abandon();
        let opened = place.open();
        tear(&opened);
        // Torn is not damaged: what was acknowledged is whole.
        opened.assert_verified();
    }
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 400));
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched), truth(&served, 0));
    opened.assert_verified();
    assert!(repeats(&served) <= 3 * OPEN_GROUPS, "{}", repeats(&served));
    for (kind, dir) in
        [(SegmentKind::Warc, opened.dir.warc()), (SegmentKind::Text, opened.dir.text())]
    {
        let committed: Vec<u64> =
            opened.store.segments(kind).unwrap().into_iter().map(|(_, length)| length).collect();
        let mut files: Vec<_> = fs::read_dir(dir).unwrap().flatten().collect();
        files.sort_by_key(|f| f.file_name());
        let lengths: Vec<u64> = files.iter().map(|f| f.metadata().unwrap().len()).collect();
        assert_eq!(lengths, committed, "nothing but what was committed is left");
    }
}

/// What a power cut may leave: half a record behind the last whole one, and a segment that was
/// begun and never committed.
fn tear(opened: &Opened) {
    for (dir, next) in [
        (opened.dir.warc(), argiope_archive::warc_segment_name(2)),
        (opened.dir.text(), argiope_archive::text_segment_name(2)),
    ] {
        let last = fs::read_dir(&dir).unwrap().flatten().map(|f| f.path()).max().unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(last).unwrap();
        file.write_all(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]).unwrap();
        fs::write(dir.join(next), b"begun").unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_ends_the_run_with_a_sentence_and_loses_nothing() {
    let served = served(plain(1, 150)).await;
    let place = Place::new();
    for (commits, how) in [(0, Failing::Refuse), (2, Failing::Refuse), (4, Failing::Panic)] {
        let opened = place.open();
        let store = Arc::new(Brittle { inner: opened.store, left: AtomicUsize::new(commits), how });
        let opened = Opened { dir: opened.dir, store };
        let failed = Running::start(opened, settings(), Some(order(&served.bases()))).result();
        match failed.await {
            Err(EngineError::Failed(_)) => {}
            other => panic!("after {commits} commits: {other:?}"),
        }
        // The archive was ahead of the store: exactly what a crash between the two leaves.
        place.open().assert_verified();
    }
    let summary = place.crawl(settings(), order(&served.bases())).await;
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, 150));
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched), truth(&served, 0));
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_fails_while_the_crawl_is_ending_does_not_hang_it() {
    let options = ServeOptions { latency: Duration::from_millis(20), ..ServeOptions::default() };
    let web = Arc::new(Web::new(plain(1, 200)));
    let served = serve(web, options).await.expect("loopback ports");
    let place = Place::new();
    let opened = place.open();
    let brittle = Arc::new(Brittle {
        inner: opened.store,
        left: AtomicUsize::new(usize::MAX),
        how: Failing::Refuse,
    });
    let opened = Opened { dir: opened.dir, store: brittle.clone() };
    let running = Running::start(opened, settings(), Some(order(&served.bases())));
    running.until_fetched(20).await;
    brittle.left.store(0, Ordering::SeqCst);
    running.stop.send(true).expect("it listens");
    assert!(matches!(running.result().await, Err(EngineError::Failed(_))));
}

#[derive(Clone, Copy, PartialEq)]
enum Failing {
    Refuse,
    Panic,
}

/// A store whose disk gives out after some commits.
struct Brittle {
    inner: Arc<dyn Store>,
    left: AtomicUsize,
    how: Failing,
}

impl Store for Brittle {
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        let spent = |n: usize| n.checked_sub(1);
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spent).is_err() {
            assert!(self.how == Failing::Refuse, "a bug of the store");
            return Err(StoreError::Damaged { what: "disk", why: "it gave out".to_owned() });
        }
        self.inner.commit(batch)
    }

    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        self.inner.urls(keys)
    }

    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        self.inner.scan_urls(after, limit)
    }

    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        self.inner.docs(docs)
    }

    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        self.inner.captures(key)
    }

    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.inner.links(keys)
    }

    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        self.inner.payloads(keys)
    }

    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        self.inner.hosts(keys)
    }

    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        self.inner.scan_hosts(after, limit)
    }

    fn ready_before(&self, host: HostKey, at: Rank, limit: usize) -> Result<usize, StoreError> {
        self.inner.ready_before(host, at, limit)
    }

    fn host_urls(
        &self,
        host: HostKey,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        self.inner.host_urls(host, after, limit)
    }

    fn robots(&self, keys: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        self.inner.robots(keys)
    }

    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError> {
        self.inner.exclusions()
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        self.inner.delays()
    }

    fn traps(&self) -> Result<Vec<(Box<str>, argiope_frontier::Trap)>, StoreError> {
        self.inner.traps()
    }

    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        self.inner.claims()
    }

    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        self.inner.jobs()
    }

    fn segments(&self, kind: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        self.inner.segments(kind)
    }

    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        self.inner.log_heads()
    }

    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.inner.changes(part, after, limit)
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        self.inner.next_page()
    }
}
