//! What the engine does with pages, without fetching them: hand out, find, commit, settle.

use crate::corpus::{Corpus, LINKS, Link};
use argiope_frontier::{
    Answered, Entry, Frontier, Heard, Place, Politeness, SeenCache, Task, place_of_link,
    place_of_seed,
};
use argiope_model::{
    CanonicalUrl, Capture, Directives, FetchOutcome, Job, JobId, Limits, Location, Order,
    OutcomeKind, PayloadDigest, QueryPolicy, Role, Scope, ScopeRule, SiteKey, Time, UrlKey, Wanted,
};
use argiope_store::{
    Batch, Claims, Discovery, JobChange, Next, PageResult, Payload, SegmentKind, Store, StoreError,
    UrlState,
};
use std::time::Duration;

const GROUP_PAGES: usize = 64;
const JOB: JobId = JobId(1);
const SEEDS: u64 = 64;
/// Virtual time between two groups.
const GROUP_MS: i64 = 50;

pub struct Crawl {
    store: Box<dyn Store>,
    frontier: Frontier,
    seen: SeenCache,
    corpus: Corpus,
    now: Time,
    next_due: Option<Time>,
    next_page: u64,
    written: u64,
    pub pages: u64,
    pub links: u64,
    /// Links that the cache did not answer.
    pub looked_up: u64,
}

fn job() -> Job {
    Job {
        id: JOB,
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

fn discovery(url: CanonicalUrl, key: UrlKey, depth: u16, place: Place) -> Discovery {
    let (role, hops, again) = (Role::Page, 0, false);
    Discovery { url, key, job: JOB, depth, place, skip: None, role, hops, again }
}

impl Crawl {
    /// Begins a crawl on an empty store; `memory` bounds what it keeps beside.
    pub fn begin(
        store: Box<dyn Store>,
        memory: u64,
        mut corpus: Corpus,
    ) -> Result<Self, StoreError> {
        let rows = (memory / 16 / 256) as usize;
        let connections = 2 * GROUP_PAGES;
        let frontier = Frontier::new(Politeness {
            delay: Duration::ZERO,
            per_host: 1,
            connections,
            max_hosts: (rows / 16).max(2 * connections),
            rows,
            ..Politeness::default()
        });
        let now = Time(1_700_000_000_000);
        let seeds = (0..SEEDS).map(|n| {
            let (url, key) = corpus.url(n);
            let place = place_of_seed(Order::Breadth, 1, n as usize);
            discovery(url, key, 0, place)
        });
        let discoveries = seeds.collect();
        let jobs = vec![JobChange::New(Box::new(job()))];
        store.commit(Batch { now, jobs, discoveries, next_page: 2, ..Batch::default() })?;
        corpus.known = SEEDS;
        let seen = SeenCache::with_bytes((memory / 16) as usize);
        let next_due = Some(now);
        let (pages, links, looked_up, written, next_page) = (0, 0, 0, 0, 2);
        Ok(Crawl {
            store,
            frontier,
            seen,
            corpus,
            now,
            next_due,
            next_page,
            written,
            pages,
            links,
            looked_up,
        })
    }

    pub fn known(&self) -> u64 {
        self.corpus.known
    }

    pub fn state(&self) -> String {
        let counts = self.frontier.counts();
        format!("{} hosts loaded, {} rows held", counts.loaded, self.frontier.rows())
    }

    /// One group: pages handed out, visited and committed.
    pub fn round(&mut self) -> Result<(), StoreError> {
        self.now = Time(self.now.0 + GROUP_MS);
        let now = self.now;
        let mut batch = Batch { now, ..Batch::default() };
        while batch.pages.len() < GROUP_PAGES {
            let leads_to =
                |e: &Entry| place_of_link(Order::Breadth, e.depth + 1, self.next_page, 0);
            let Some(task) = self.frontier.next(now, leads_to, |_| None) else {
                break;
            };
            let Task::Visit(entry) = task else { unreachable!("no robots.txt, no addresses") };
            let answer = Answered { end: Some(now), redirect: false, heard: Heard::default() };
            self.frontier.answered(entry.key.host, Some(entry.place), answer, now);
            let page = self.visit(entry, &mut batch.discoveries);
            batch.pages.push(page);
        }
        let payloads: Vec<(SiteKey, PayloadDigest)> = batch
            .pages
            .iter()
            .filter_map(|p| p.payload.as_ref().map(|p| (p.site, p.digest)))
            .collect();
        assert!(self.store.payloads(&payloads)?.iter().all(Option::is_none), "all are new");
        let wants = self.frontier.wants(now);
        let due = self.next_due.is_some_and(|due| due <= now);
        batch.claims = Claims {
            named: wants.named,
            hosts: if due { wants.hosts } else { 0 },
            window: self.frontier.window(),
        };
        batch.notes = self.frontier.take_notes();
        (batch.refills, batch.releases) = (wants.refills, wants.releases);
        batch.segments = vec![(SegmentKind::Warc, 1, self.written), (SegmentKind::Text, 1, 1)];
        batch.next_page = self.next_page;
        let settled: Vec<(argiope_model::HostKey, Place)> =
            batch.pages.iter().map(|p| (p.entry.key.host, p.entry.place)).collect();
        self.pages += batch.pages.len() as u64;
        let told = self.store.commit(batch)?;
        told.queued.into_iter().for_each(|entry| self.frontier.offer(entry, now));
        settled.into_iter().for_each(|(host, place)| self.frontier.settled(host, place, now));
        let windows = told.refills.into_iter().chain(told.claimed);
        windows.for_each(|window| self.frontier.load(window, now));
        self.next_due = told.next_due;
        Ok(())
    }

    fn visit(&mut self, entry: Entry, found: &mut Vec<Discovery>) -> PageResult {
        let (number, depth) = (self.next_page, entry.depth + 1);
        self.next_page += 1;
        let mut links = Vec::new();
        self.corpus.links(number, &mut links);
        self.links += LINKS;
        for (index, link) in links.iter().enumerate() {
            let (Link::New(n) | Link::Late(n) | Link::Old(n)) = *link;
            let fingerprint = self.corpus.fingerprint(n);
            // The job has no depth limit: a shorter way is no news. While few URLs are known the
            // cache would answer for old ones too; the share looked up is to be the same.
            if self.seen.knows(fingerprint, 0) && !matches!(link, Link::Old(_)) {
                continue;
            }
            self.seen.remember(fingerprint, 0);
            self.looked_up += u64::from(!matches!(link, Link::New(_)));
            let (url, key) = self.corpus.url(n);
            let place = place_of_link(Order::Breadth, depth, number, index);
            found.push(discovery(url, key, depth, place));
        }
        self.result(entry)
    }

    fn result(&mut self, entry: Entry) -> PageResult {
        let mut random = || self.corpus.random().to_le_bytes();
        let links: Vec<u8> = (0..128).flat_map(|_| random()).collect();
        let (mut payload_digest, mut body_digest) = ([0; 20], [0; 32]);
        payload_digest.copy_from_slice(&links[..20]);
        body_digest.copy_from_slice(&links[32..64]);
        self.written += 5_000;
        let at = Location { segment: 1, offset: self.written, length: 5_000 };
        let part = entry.key.host.part;
        let site = SiteKey { part, site: entry.key.host.host };
        let capture = Capture {
            doc: entry.doc,
            job: JOB,
            time: self.now,
            outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
            record: Some(at),
            revisit: false,
            text: Some(at),
            mime: "text/html".into(),
            bytes: 15_000,
            payload_digest,
            body_digest,
            last_modified: Some(Time(1_600_000_000_000)),
            etag: Some("\"5f3c2a1b-3a98\"".into()),
            elapsed_ms: 120,
            directives: Directives::default(),
            verdict: None,
        };
        PageResult {
            next: Next::Done(UrlState::Fetched),
            capture: Some(capture),
            payload: Some(Payload { site, digest: payload_digest }),
            links: Some(links),
            changed: true,
            words: 400,
            link_count: LINKS,
            plan: None,
            entry,
        }
    }
}
