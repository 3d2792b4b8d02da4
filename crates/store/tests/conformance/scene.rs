//! What a behaviour needs to speak of: jobs, URLs, places, results, and a store to try them on.

#![allow(dead_code, clippy::unwrap_used)] // Each test program uses a part of it.

use argiope_frontier::{
    Entry, HostWindow, Named, Place, Refill, Release, RobotsFile, SkipReason, Temper,
};
use argiope_model::{
    CanonicalUrl, Capture, Directives, FetchOutcome, HostKey, Job, JobId, JobState, Limits, Order,
    OutcomeKind, QueryPolicy, Role, Scope, ScopeRule, Suffixes, Time, UrlKey, Wanted,
};
use argiope_store::{
    Batch, Claims, Committed, Discovery, EmbeddedStore, HostRow, JobChange, JobCounters, JobRow,
    MemoryStore, Next, PageResult, PostgresOptions, PostgresStore, Store, UrlRow, UrlState,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub static SUFFIXES: LazyLock<Suffixes> = LazyLock::new(Suffixes::built_in);

/// A place where a store lives, so that it can be left and entered again.
pub trait Home {
    fn store(&self) -> &dyn Store;
    /// Closes the store and opens it again.
    fn reopen(&mut self);
}

/// The model is its own home: what it holds is taken as written.
pub struct InMemory(MemoryStore);

impl InMemory {
    pub fn new() -> Self {
        InMemory(MemoryStore::new())
    }
}

impl Home for InMemory {
    fn store(&self) -> &dyn Store {
        &self.0
    }
    fn reopen(&mut self) {}
}

pub struct Embedded {
    dir: tempfile::TempDir,
    store: Option<EmbeddedStore>,
}

/// Little memory, so that a test costs little.
pub const MEMORY: u64 = 8 << 20;

impl Embedded {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(&dir.path().join("store"), MEMORY).unwrap();
        Embedded { dir, store: Some(store) }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Closes the store and leaves its files.
    pub fn close(&mut self) {
        self.store = None;
    }

    /// Closes the store, writes its files anew and opens it again.
    pub fn rewrite(&mut self) {
        self.store = None;
        EmbeddedStore::rewrite(&self.dir.path().join("store"), MEMORY).unwrap();
        self.reopen();
    }
}

impl Home for Embedded {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().expect("open between calls")
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(EmbeddedStore::open(&self.dir.path().join("store"), MEMORY).unwrap());
    }
}

/// A database of its own, and one worker that holds every partition.
pub struct Postgres {
    url: String,
    store: PostgresStore,
}

impl Postgres {
    pub fn new(url: String) -> Self {
        let store = sole_worker(&url);
        Postgres { url, store }
    }
}

/// Opens the store and takes all that is free.
pub fn sole_worker(url: &str) -> PostgresStore {
    let store = PostgresStore::open(url, PostgresOptions::default()).unwrap();
    let held = store.join("test", "", Duration::from_secs(600), Instant::now()).unwrap();
    store.acquire(&held.free).unwrap();
    store
}

impl Home for Postgres {
    fn store(&self) -> &dyn Store {
        &self.store
    }

    fn reopen(&mut self) {
        self.store.leave().unwrap();
        self.store = sole_worker(&self.url);
    }
}

pub fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

pub fn key(text: &str) -> UrlKey {
    url(text).key(&SUFFIXES)
}

pub fn host(text: &str) -> HostKey {
    key(text).host
}

pub fn place(order: u64) -> Place {
    Place { order, seq: 0 }
}

pub fn job(id: u32) -> Job {
    Job {
        id: JobId(id),
        created: Time(0),
        seeds: Vec::new(),
        scope: Scope { rule: ScopeRule::Any, names: Default::default() },
        order: Order::Breadth,
        limits: Limits::default(),
        wanted: Wanted { types: Default::default(), skip_extensions: Default::default() },
        query: QueryPolicy::Keep,
        filter: None,
        aim: None,
        news: false,
    }
}

/// A job that goes only so deep.
pub fn shallow_job(id: u32, depth: u16) -> Job {
    Job { limits: Limits { depth: Some(depth), ..Limits::default() }, ..job(id) }
}

pub fn new_job(job: Job) -> JobChange {
    JobChange::New(Box::new(job))
}

pub fn set(id: u32, state: JobState) -> JobChange {
    JobChange::State(JobId(id), state)
}

pub fn found(text: &str, job: u32, depth: u16, at: Place) -> Discovery {
    let url = url(text);
    let key = url.key(&SUFFIXES);
    let (role, hops, again) = (Role::Page, 0, false);
    Discovery { url, key, job: JobId(job), depth, place: at, skip: None, role, hops, again }
}

/// Found as a sitemap.
pub fn sitemap(text: &str, job: u32, at: Place) -> Discovery {
    Discovery { role: Role::Sitemap, ..found(text, job, 0, at) }
}

/// To be asked for even if the job has given it up.
pub fn asked_again(text: &str, job: u32, at: Place) -> Discovery {
    Discovery { again: true, ..found(text, job, 0, at) }
}

pub fn skipped(text: &str, job: u32, depth: u16, reason: SkipReason) -> Discovery {
    Discovery { skip: Some(reason), ..found(text, job, depth, place(0)) }
}

pub fn capture(entry: &Entry, time: Time, kind: OutcomeKind) -> Capture {
    Capture {
        doc: entry.doc,
        job: entry.job,
        time,
        outcome: FetchOutcome::new(kind, 200),
        record: None,
        revisit: false,
        text: None,
        mime: "text/html".into(),
        bytes: 100,
        payload_digest: [1; 20],
        body_digest: [2; 32],
        last_modified: None,
        etag: None,
        elapsed_ms: 5,
        directives: Directives { nofollow: entry.depth > 1, ..Directives::default() },
        verdict: None,
    }
}

pub fn result(entry: Entry, next: Next, capture: Option<Capture>) -> PageResult {
    PageResult {
        next,
        capture,
        payload: None,
        links: None,
        changed: false,
        words: 10,
        link_count: 2,
        plan: None,
        entry,
    }
}

pub fn ended(entry: Entry, time: i64, state: UrlState) -> PageResult {
    let kind = match state {
        UrlState::Fetched | UrlState::Queued => OutcomeKind::Fetched,
        UrlState::Redirected => OutcomeKind::Redirect,
        UrlState::Failed => OutcomeKind::ServerError,
        UrlState::Skipped(_) | UrlState::Forgotten => OutcomeKind::UnwantedType,
    };
    let capture = capture(&entry, Time(time), kind);
    result(entry, Next::Done(state), Some(capture))
}

pub fn fetched(entry: Entry, time: i64) -> PageResult {
    ended(entry, time, UrlState::Fetched)
}

pub fn retried(entry: Entry, time: i64, due: i64) -> PageResult {
    let capture = capture(&entry, Time(time), OutcomeKind::TimedOut);
    result(entry, Next::Retry(Time(due)), Some(capture))
}

/// Left alone without a request.
pub fn left_alone(entry: Entry, reason: SkipReason) -> PageResult {
    let next = Next::Done(UrlState::Skipped(reason));
    PageResult { words: 0, link_count: 0, ..result(entry, next, None) }
}

pub fn expanded(entry: Entry) -> PageResult {
    PageResult { words: 0, link_count: 0, ..result(entry, Next::Expanded, None) }
}

pub fn at(now: i64) -> Batch {
    Batch { now: Time(now), ..Batch::default() }
}

pub fn release(host: HostKey, not_before: i64) -> Release {
    let (not_before, temper) = (Time(not_before), Temper::default());
    Release { host, not_before, temper, asleep: false }
}

/// A host that was busy so often.
pub fn temper(failures: u32) -> Temper {
    let failing_since = (failures > 0).then_some(Time(1));
    let pause_ms = 1_000 * u64::from(failures);
    Temper { pause_ms, failing_since, failures, ..Temper::default() }
}

/// A robots file of so many bytes.
pub fn robots(asked: i64, length: usize) -> RobotsFile {
    let outcome = FetchOutcome::new(OutcomeKind::Fetched, 200);
    let body = b"Disallow: /x\n".iter().copied().cycle().take(length).collect();
    RobotsFile { asked: Time(asked), until: Time(asked + 1_000), outcome, body }
}

pub fn named(text: &str) -> Named {
    Named { host: host(text), origin: url(text).origin().into() }
}

/// A wish for more hosts than any test has.
pub const ALL: Claims = Claims { named: Vec::new(), hosts: 100, window: 100 };

/// Commits jobs and discoveries.
pub fn give(store: &dyn Store, now: i64, jobs: Vec<JobChange>, found: Vec<Discovery>) -> Committed {
    store.commit(Batch { jobs, discoveries: found, ..at(now) }).unwrap()
}

/// Claims every host that is due.
pub fn claim(store: &dyn Store, now: i64) -> Vec<HostWindow> {
    store.commit(Batch { claims: ALL, ..at(now) }).unwrap().claimed
}

/// Claims and flattens: every row that is handed out.
pub fn claim_rows(store: &dyn Store, now: i64) -> Vec<Entry> {
    claim(store, now).into_iter().flat_map(|w| w.entries).collect()
}

/// A first job, these URLs found by it at places 1, 2, …, their hosts claimed.
pub fn begun(store: &dyn Store, job: Job, urls: &[&str]) -> Vec<Entry> {
    let id = job.id.0;
    let found = urls.iter().zip(1..).map(|(u, n)| found(u, id, 0, place(n))).collect();
    give(store, 0, vec![new_job(job)], found);
    let mut rows = claim_rows(store, 0);
    rows.sort_by_key(|e| e.place);
    rows
}

pub fn finish(store: &dyn Store, now: i64, pages: Vec<PageResult>) -> Committed {
    store.commit(Batch { pages, ..at(now) }).unwrap()
}

pub fn row(store: &dyn Store, text: &str) -> UrlRow {
    store.urls(&[key(text)]).unwrap().remove(0).expect("the URL is known")
}

pub fn host_row(store: &dyn Store, text: &str) -> HostRow {
    store.hosts(&[host(text)]).unwrap().remove(0).expect("the host is known")
}

pub fn job_row(store: &dyn Store, id: u32) -> JobRow {
    let jobs = store.jobs().unwrap();
    jobs.into_iter().find(|row| row.job.id == JobId(id)).expect("the job is known")
}

pub fn counters(store: &dyn Store, id: u32) -> JobCounters {
    job_row(store, id).counters
}

/// All rows of a host that open jobs want, page by page.
pub fn window(store: &dyn Store, host: HostKey, limit: usize) -> Vec<Entry> {
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let refills = vec![Refill { host, after, limit }];
        let mut answer = store.commit(Batch { refills, ..at(0) }).unwrap();
        let read = answer.refills.remove(0);
        assert!(read.entries.len() <= limit);
        out.extend(read.entries);
        if !read.more {
            return out;
        }
        assert!(read.cursor > after, "a page of a window leads on");
        after = read.cursor;
    }
}

pub fn all_urls(store: &dyn Store) -> Vec<(UrlKey, UrlRow)> {
    store.scan_urls(None, usize::MAX).unwrap()
}

fn counted(counters: &JobCounters, state: UrlState) -> u64 {
    match state {
        UrlState::Failed => counters.failed,
        UrlState::Skipped(SkipReason::Extension) => counters.skipped_extension,
        UrlState::Skipped(SkipReason::Depth) => counters.skipped_depth,
        UrlState::Skipped(SkipReason::Type) => counters.skipped_type,
        UrlState::Skipped(SkipReason::Size) => counters.skipped_size,
        UrlState::Skipped(SkipReason::Robots) => counters.skipped_robots,
        UrlState::Skipped(SkipReason::GivenUp) => counters.skipped_given_up,
        UrlState::Skipped(SkipReason::Excluded) => counters.skipped_excluded,
        UrlState::Skipped(SkipReason::Filter) => counters.skipped_filter,
        UrlState::Skipped(SkipReason::Trap) => counters.skipped_trap,
        UrlState::Skipped(SkipReason::SitePages) => counters.skipped_site_pages,
        UrlState::Queued | UrlState::Fetched | UrlState::Redirected | UrlState::Forgotten => {
            u64::MAX
        }
    }
}

/// What holds in every store at all times.
pub fn check(store: &dyn Store) {
    let urls = all_urls(store);
    let mut queued: BTreeMap<JobId, u64> = BTreeMap::new();
    let mut ready: BTreeMap<HostKey, u64> = BTreeMap::new();
    for (k, row) in &urls {
        assert_eq!(row.url.key(&SUFFIXES), *k, "a row lies under its key");
        assert_eq!(store.docs(&[row.doc]).unwrap(), [Some(*k)], "a DocId leads to its URL");
        row.queued_for().for_each(|job| *queued.entry(job).or_default() += 1);
        if row.in_queue() {
            *ready.entry(k.host).or_default() += u64::from(row.due.is_none());
        } else {
            assert!(row.due.is_none() && !row.expand && row.state != UrlState::Queued);
            assert!(row.wishes.is_empty(), "who waits, waits for a row");
        }
    }
    let jobs = store.jobs().unwrap();
    for row in &jobs {
        let want = queued.get(&row.job.id).copied().unwrap_or(0);
        assert_eq!(row.counters.queued, want, "rows of job {}", row.job.id);
        for (_, url) in urls.iter().filter(|(_, url)| url.job() == row.job.id) {
            let alike = |u: &&(UrlKey, UrlRow)| u.1.job() == row.job.id && u.1.state == url.state;
            let alike = urls.iter().filter(alike).count() as u64;
            let counted = counted(&row.counters, url.state);
            assert!(counted >= alike, "{:?} counts for job {}", url.state, row.job.id);
        }
    }
    let hosts = store.scan_hosts(None, usize::MAX).unwrap();
    let claimed: Vec<HostKey> = hosts.iter().filter(|(_, h)| h.claimed).map(|(k, _)| *k).collect();
    assert_eq!(store.claims().unwrap(), claimed, "claims are listed");
    for (k, host) in hosts {
        assert_eq!(host.ready, ready.get(&k).copied().unwrap_or(0), "ready rows of {k:?}");
        let of_host = |u: &&(UrlKey, UrlRow)| u.0.host == k;
        let rows: Vec<(UrlKey, UrlRow)> = urls.iter().filter(of_host).cloned().collect();
        assert_eq!(host.known, rows.len() as u64);
        assert_eq!(store.host_urls(k, None, usize::MAX).unwrap(), rows, "URLs of {k:?}");
        let open = |job: JobId| jobs.iter().any(|r| r.job.id == job && r.state == JobState::Open);
        let mut want: Vec<(Place, UrlKey)> = urls
            .iter()
            .filter(of_host)
            .filter(|(_, r)| r.due.is_none() && r.queued_for().any(open))
            .filter_map(|(k, r)| Some((r.place?, *k)))
            .collect();
        want.sort();
        let rows = window(store, k, 3);
        let have: Vec<(Place, UrlKey)> = rows.iter().map(|e| (e.place, e.key)).collect();
        assert_eq!(have, want, "the ready queue of {k:?}");
    }
}
