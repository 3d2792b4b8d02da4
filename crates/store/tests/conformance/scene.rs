//! What a behaviour needs to speak of: jobs, URLs, places, results, and a store to try them on.

#![allow(dead_code, clippy::unwrap_used)] // Each test program uses a part of it.

use argiope_frontier::{Entry, HostWindow, Place, Refill, Release, SkipReason};
use argiope_model::{
    CanonicalUrl, Capture, FetchOutcome, HostKey, Job, JobId, JobState, Limits, Order, OutcomeKind,
    QueryPolicy, Scope, ScopeRule, Suffixes, Time, UrlKey, Wanted,
};
use argiope_store::{
    Batch, Claims, Committed, Discovery, EmbeddedStore, HostRow, JobChange, JobCounters, JobRow,
    MemoryStore, Next, PageResult, Store, UrlRow, UrlState,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

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
    Discovery { url, key, job: JobId(job), depth, place: at, skip: None }
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
        entry,
    }
}

pub fn ended(entry: Entry, time: i64, state: UrlState) -> PageResult {
    let kind = match state {
        UrlState::Fetched | UrlState::Queued => OutcomeKind::Fetched,
        UrlState::Redirected => OutcomeKind::Redirect,
        UrlState::Failed => OutcomeKind::ServerError,
        UrlState::Skipped(_) => OutcomeKind::UnwantedType,
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

pub fn expanded(entry: Entry) -> PageResult {
    PageResult { words: 0, link_count: 0, ..result(entry, Next::Expanded, None) }
}

pub fn at(now: i64) -> Batch {
    Batch { now: Time(now), ..Batch::default() }
}

pub fn release(host: HostKey, not_before: i64) -> Release {
    Release { host, not_before: Time(not_before), asleep: false }
}

/// A wish for more hosts than any test has.
pub const ALL: Claims = Claims { hosts: 100, window: 100 };

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
    }
    let hosts = store.scan_hosts(None, usize::MAX).unwrap();
    let claimed: Vec<HostKey> = hosts.iter().filter(|(_, h)| h.claimed).map(|(k, _)| *k).collect();
    assert_eq!(store.claims().unwrap(), claimed, "claims are listed");
    for (k, host) in hosts {
        assert_eq!(host.ready, ready.get(&k).copied().unwrap_or(0), "ready rows of {k:?}");
        let of_host = |u: &&(UrlKey, UrlRow)| u.0.host == k;
        assert_eq!(host.known, urls.iter().filter(of_host).count() as u64);
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
