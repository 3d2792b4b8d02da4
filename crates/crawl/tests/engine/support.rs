//! What the tests share: a crawl in a directory, started, stopped and looked at.

use argiope_crawl::{
    Access, DataDir, DataDirError, EngineError, EngineSettings, Followers, Instruction, Live,
    NewJob, Return, Run, Summary, pick_job, run,
};
use argiope_fetch::FetchSettings;
use argiope_frontier::Patience;
use argiope_model::{
    CanonicalUrl, Capture, JobId, JobState, Limits, Order, QueryPolicy, ScopeRule, Suffixes, Time,
    UrlKey, Wanted,
};
use argiope_store::{EmbeddedStore, Store, StoreError, UrlRow, UrlState};
use argiope_testweb::{ServeOptions, Served, Web, WebSpec, serve};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// No test takes longer; a hang is a failure with a name.
pub async fn within<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(seconds);
    tokio::time::timeout(limit, work).await.expect("it should have ended long ago")
}

pub fn now() -> Time {
    Time::from_system(SystemTime::now())
}

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).expect("the test's URL")
}

/// Quick and impolite: what a test says otherwise, it changes.
pub fn settings() -> EngineSettings {
    EngineSettings {
        news: Default::default(),
        software: "argiope/test".to_owned(),
        delay: Duration::ZERO,
        connections: 16,
        per_host: 4,
        robots: true,
        sitemaps: true,
        traps: true,
        address_gap: Some(Duration::ZERO),
        address_exempt: Vec::new(),
        patience: Patience {
            backoff: Duration::from_millis(20),
            backoff_max: Duration::from_millis(200),
            ..Patience::default()
        },
        max_redirects: 10,
        retries: 2,
        retry_delay: Duration::from_millis(50),
        memory: 64 << 20,
        archive: true,
        segment_bytes: 1 << 30,
        min_free_disk: 0,
        links: true,
        index: Default::default(),
        hold: Default::default(),
        budgets: true,
        revisit: Default::default(),
        fetch: FetchSettings { allow_private: true, ..FetchSettings::default() },
    }
}

/// One connection, one after another.
pub fn single_file() -> EngineSettings {
    EngineSettings { connections: 1, per_host: 1, ..settings() }
}

/// An order for HTML, as the command line would give it.
pub fn order(seeds: &[String]) -> NewJob {
    NewJob {
        seeds: seeds.iter().map(|s| url(s)).collect(),
        rule: ScopeRule::Host,
        domains: Vec::new(),
        order: Order::Breadth,
        limits: Limits::default(),
        wanted: wanted(&["html", "text"]),
        query: QueryPolicy::Keep,
        filter: None,
        aim: None,
    }
}

pub fn wanted(types: &[&str]) -> Wanted {
    let types: BTreeSet<String> = types.iter().map(|t| (*t).to_owned()).collect();
    Wanted { skip_extensions: argiope_parse::default_skip_extensions(&types), types }
}

pub async fn served(spec: WebSpec) -> Served {
    serve(Arc::new(Web::new(spec)), ServeOptions::default()).await.expect("loopback ports")
}

/// The same, on servers that take their time: quick ones are done before they can be disturbed.
pub async fn served_slowly(spec: WebSpec) -> Served {
    let options = ServeOptions { latency: Duration::from_millis(20), ..ServeOptions::default() };
    serve(Arc::new(Web::new(spec)), options).await.expect("loopback ports")
}

/// Requests for anything but robots.txt.
pub fn requests(served: &Served) -> u64 {
    served.hits().iter().filter(|hit| hit.path != "/robots.txt").count() as u64
}

/// A small web in which every page is ordinary.
pub fn plain(sites: usize, pages: usize) -> WebSpec {
    WebSpec {
        mean_page_bytes: 1500,
        links_per_page: 8,
        cross_site_links: 1,
        ..WebSpec::bench(sites, pages)
    }
}

/// A directory for one crawl and everything asked of it.
pub struct Place {
    pub path: PathBuf,
    _kept: TempDir,
}

/// A directory that is open.
pub struct Opened {
    pub dir: Arc<DataDir>,
    pub store: Arc<dyn Store>,
}

impl Opened {
    /// What follows the directory.
    pub fn followers(&self) -> Followers {
        Followers::new(&self.dir, &self.store, &settings())
    }
}

impl Place {
    pub fn new() -> Self {
        let kept = tempfile::tempdir().expect("a directory for the test");
        Place { path: kept.path().join("data"), _kept: kept }
    }

    pub fn open(&self) -> Opened {
        open(&self.path)
    }

    /// A whole run, from opening to closing.
    pub async fn crawl(&self, settings: EngineSettings, order: NewJob) -> Summary {
        self.start(settings, Some(order)).end().await
    }

    pub fn start(&self, settings: EngineSettings, order: Option<NewJob>) -> Running {
        Running::start(self.open(), settings, order)
    }

    /// A round, from opening to closing.
    pub async fn come_back(&self, settings: EngineSettings, keep: Return) -> Summary {
        Running::begin(self.open(), settings, None, keep).end().await
    }

    /// Everything known, by URL.
    pub fn rows(&self) -> BTreeMap<String, UrlRow> {
        self.open().rows()
    }
}

/// Opens a directory as its owner, once whoever had it is gone.
pub fn open(path: &Path) -> Opened {
    let begun = Instant::now();
    let patient = || begun.elapsed() < Duration::from_secs(10);
    loop {
        let dir = match DataDir::open(path, Access::Own, now()) {
            Err(DataDirError::Owned { .. }) if patient() => {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            opened => opened.expect("the test's directory"),
        };
        match EmbeddedStore::open(&dir.store(), settings().store_memory()) {
            Err(StoreError::Locked(_)) if patient() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            store => {
                let store = Arc::new(store.expect("the test's store"));
                return Opened { dir: Arc::new(dir), store };
            }
        }
    }
}

impl Opened {
    pub fn all(&self) -> Vec<(UrlKey, UrlRow)> {
        let mut all = Vec::new();
        loop {
            let after = all.last().map(|(key, _)| *key);
            let page = self.store.scan_urls(after, 1000).expect("rows");
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    pub fn rows(&self) -> BTreeMap<String, UrlRow> {
        self.all().into_iter().map(|(_, row)| (row.url.as_str().to_owned(), row)).collect()
    }

    /// URLs in a state, as text.
    pub fn in_state(&self, state: UrlState) -> BTreeSet<String> {
        self.rows().into_iter().filter(|(_, r)| r.state == state).map(|(u, _)| u).collect()
    }

    pub fn captures(&self, address: &str) -> Vec<Capture> {
        self.store.captures(url(address).key(self.dir.suffixes())).expect("captures")
    }

    /// The only capture of a URL.
    pub fn capture(&self, address: &str) -> Capture {
        let mut captures = self.captures(address);
        assert_eq!(captures.len(), 1, "{address}: {captures:?}");
        captures.pop().expect("counted above")
    }

    /// The record a URL's capture points to.
    pub fn record(&self, address: &str) -> argiope_archive::Record {
        let at = self.capture(address).record.expect("an archived capture");
        argiope_archive::read_record(&self.dir.warc(), at).expect("a readable record")
    }

    pub fn assert_verified(&self) {
        let verified = argiope_crawl::verify(&self.dir, &*self.store, &Default::default(), |_| {})
            .expect("verify");
        assert_eq!(verified.problems, [], "{verified:?}");
    }
}

/// A crawl under way.
pub struct Running {
    pub live: Arc<Live>,
    pub stop: watch::Sender<bool>,
    pub orders: mpsc::Sender<Instruction>,
    task: JoinHandle<Result<Summary, EngineError>>,
}

impl Running {
    pub fn start(opened: Opened, settings: EngineSettings, order: Option<NewJob>) -> Self {
        Running::begin(opened, settings, order, Return::Never)
    }

    pub fn begin(
        opened: Opened,
        settings: EngineSettings,
        order: Option<NewJob>,
        keep: Return,
    ) -> Self {
        let rows = opened.store.jobs().expect("jobs");
        let picked = order.map(|order| pick_job(order, &rows, &Suffixes::built_in(), now()));
        let (stop, stopped) = watch::channel(false);
        let (orders, ordered) = mpsc::channel(16);
        let live = Arc::new(Live::default());
        let task = tokio::spawn(run(Run {
            dir: opened.dir,
            store: opened.store,
            settings,
            picked,
            live: live.clone(),
            stop: stopped,
            orders: ordered,
            fleet: None,
            keep,
            made_up: None,
        }));
        Running { live, stop, orders, task }
    }

    pub async fn set_job(&self, id: JobId, state: JobState) {
        self.orders.send(Instruction::Job(id, state, None)).await.expect("it listens");
    }

    pub async fn result(self) -> Result<Summary, EngineError> {
        let Running { task, stop: _stop, .. } = self;
        within(30, task).await.expect("the engine does not panic")
    }

    pub async fn end(self) -> Summary {
        self.result().await.expect("a crawl that ends well")
    }

    pub async fn stop(self) -> Summary {
        self.stop.send(true).expect("it listens");
        self.end().await
    }

    /// Ends it without a word, as a crash would; the group being committed may still be.
    pub fn abandon(self) {
        self.task.abort();
    }

    /// Waits until so many pages are committed.
    pub async fn until_fetched(&self, pages: u64) {
        within(20, async {
            while self.live.snapshot().fetched < pages {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}
