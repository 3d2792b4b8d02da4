//! The graph behind the embedded store, as a crawl fills it.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_frontier::{Entry, Place};
use argiope_graph::{By, Counts, Graph};
use argiope_model::{
    Capture, Directives, FetchOutcome, Job, JobId, Limits, Link, Order, OutcomeKind, QueryPolicy,
    Role, Scope, ScopeRule, Time, Wanted,
};
use argiope_store::{
    Batch, Claims, Discovery, EmbeddedStore, Forget, JobChange, Next, PageResult, Store, UrlState,
    encode_links,
};
use scene::{SUFFIXES, a, key, url};
use std::path::Path;

const MEMORY: u64 = 8 << 20;

fn job(id: u32) -> JobChange {
    JobChange::New(Box::new(Job {
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
    }))
}

/// A job finds these URLs and gets the rows to fetch.
fn found(store: &dyn Store, id: u32, urls: &[&str]) -> Vec<Entry> {
    let discovery = |(n, text): (u64, &&str)| Discovery {
        url: url(text),
        key: key(text),
        job: JobId(id),
        depth: 0,
        place: Place { order: n, seq: u64::from(id) },
        skip: None,
        role: Role::Page,
        hops: 0,
        again: false,
    };
    let discoveries = (0..).zip(urls).map(discovery).collect();
    let claims = Claims { named: Vec::new(), hosts: 99, window: 99 };
    let batch = Batch { jobs: vec![job(id)], discoveries, claims, ..Batch::default() };
    let told = store.commit(batch).unwrap();
    told.claimed.into_iter().flat_map(|w| w.entries).chain(told.queued).collect()
}

fn fetched(entry: Entry, time: i64, links: &[Link]) -> PageResult {
    let capture = Capture {
        doc: entry.doc,
        job: entry.job,
        time: Time(time),
        outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
        record: None,
        revisit: false,
        text: None,
        mime: "text/html".into(),
        bytes: 1,
        payload_digest: [1; 20],
        body_digest: [time as u8; 32],
        last_modified: None,
        etag: None,
        elapsed_ms: 1,
        directives: Directives::default(),
        verdict: None,
    };
    let next = Next::Done(UrlState::Fetched);
    let links = Some(encode_links(links));
    let (capture, payload, changed) = (Some(capture), None, true);
    PageResult {
        entry,
        next,
        capture,
        payload,
        links,
        changed,
        words: 1,
        link_count: 1,
        plan: None,
    }
}

fn failed(entry: Entry, time: i64) -> PageResult {
    let mut page = fetched(entry, time, &[]);
    page.next = Next::Done(UrlState::Failed);
    page.links = None;
    if let Some(capture) = &mut page.capture {
        capture.outcome = FetchOutcome::new(OutcomeKind::ServerError, 500);
    }
    page
}

fn graph(store: &dyn Store, dir: &Path) -> Graph {
    let mut graph = Graph::open(dir, MEMORY).unwrap();
    graph.catch_up(store, &SUFFIXES, usize::MAX).unwrap();
    graph
}

#[test]
fn a_crawl_of_several_jobs_is_followed_across_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let (at, graph_at) = (dir.path().join("store"), dir.path().join("graph"));
    const URLS: [&str; 4] =
        ["http://a.test/1", "http://a.test/2", "https://b.test/", "http://c.test/lost"];
    let [one, two, b, lost] = URLS;
    let store = EmbeddedStore::open(&at, MEMORY).unwrap();
    let links = |n: &str| match n {
        "http://a.test/1" => vec![a(two, "second"), a(lost, "lost"), a(one, "me")],
        "http://a.test/2" => vec![a(one, "first"), a(lost, "also lost")],
        _ => vec![a(two, "second"), a("http://out.test/", "out")],
    };
    for (id, urls) in [(1, &URLS[..2]), (2, &URLS[2..])] {
        let rows = found(&store, id, urls).into_iter();
        let result = |entry: Entry| match entry.url.as_str() {
            "http://c.test/lost" => failed(entry, 5),
            text => {
                let links = links(text);
                fetched(entry, i64::from(id), &links)
            }
        };
        store.commit(Batch { pages: rows.map(result).collect(), ..Batch::default() }).unwrap();
        graph(&store, &graph_at).flush().unwrap();
    }
    drop(store);
    let store = EmbeddedStore::open(&at, MEMORY).unwrap();
    let view = graph(&store, &graph_at).view().unwrap();
    let counts = |backlinks, sites| Counts { backlinks, sites };
    let got = view.counts(&[one, two, b, lost, "http://out.test/"].map(key)).unwrap();
    assert_eq!(got, [counts(2, 1), counts(2, 2), counts(0, 0), counts(2, 1), counts(1, 1)]);
    assert_eq!(view.top(By::Sites, 1).unwrap(), [(key(two), counts(2, 2))]);
    let broken = view.broken(&store, &SUFFIXES, None, 9).unwrap().rows;
    let mut words: Vec<&str> = broken.iter().map(|row| &*row.words).collect();
    words.sort_unstable();
    assert_eq!(words, ["also lost", "lost"]);
    assert!(broken.iter().all(|row| row.url == lost && row.outcome == "server-error 500"));
    let texts = view.texts(&store, &SUFFIXES, &[key("http://out.test/")]).unwrap();
    assert_eq!(texts, [Some("http://out.test/".to_owned())]);
    let rows = view.incoming(&store, &SUFFIXES, key(two), None, 9).unwrap().rows;
    let mut seen: Vec<(&str, i64)> =
        rows.iter().map(|row| (row.source.as_str(), row.last_seen.0)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(one, 1), (b, 2)]);
    // A third job finds what was lost, and it links on.
    let rows = found(&store, 3, &[lost]);
    let pages = rows.into_iter().map(|entry| fetched(entry, 9, &[a(b, "b")])).collect();
    store.commit(Batch { pages, ..Batch::default() }).unwrap();
    let view = graph(&store, &graph_at).view().unwrap();
    assert_eq!(view.counts(&[key(b)]).unwrap(), [counts(1, 1)]);
    assert!(view.broken(&store, &SUFFIXES, None, 9).unwrap().rows.is_empty());
}

#[test]
fn a_forgotten_page_links_nowhere_and_others_links_to_it_still_count() {
    let dir = tempfile::tempdir().unwrap();
    let (at, graph_at) = (dir.path().join("store"), dir.path().join("graph"));
    let (gone, other, target) = ("http://a.test/gone", "http://b.test/", "http://c.test/");
    let store = EmbeddedStore::open(&at, MEMORY).unwrap();
    let pages = found(&store, 1, &[gone, other]).into_iter().map(|entry| {
        let links = match entry.url.as_str() {
            "http://b.test/" => vec![a(target, "there"), a(gone, "the one")],
            _ => vec![a(target, "over there"), a(other, "and there")],
        };
        fetched(entry, 1, &links)
    });
    store.commit(Batch { pages: pages.collect(), ..Batch::default() }).unwrap();
    let counts = |backlinks, sites| Counts { backlinks, sites };
    let keys = [target, other, gone].map(key);
    let before = graph(&store, &graph_at).view().unwrap();
    assert_eq!(before.counts(&keys).unwrap(), [counts(2, 2), counts(1, 1), counts(1, 1)]);
    let forget = Forget { urls: vec![key(gone)], ..Forget::default() };
    store.commit(Batch { forget, now: Time(5), ..Batch::default() }).unwrap();
    drop(store);
    EmbeddedStore::rewrite(&at, MEMORY).unwrap();
    let store = EmbeddedStore::open(&at, MEMORY).unwrap();
    // Who followed on, and who begins only now, say the same.
    for at in [graph_at, dir.path().join("anew")] {
        let view = graph(&store, &at).view().unwrap();
        assert_eq!(view.counts(&keys).unwrap(), [counts(1, 1), counts(0, 0), counts(1, 1)]);
        let rows = view.incoming(&store, &SUFFIXES, key(target), None, 9).unwrap();
        let words: Vec<&str> = rows.rows.iter().map(|row| row.source.as_str()).collect();
        assert_eq!(words, [other]);
        assert!(view.broken(&store, &SUFFIXES, None, 9).unwrap().rows.is_empty());
    }
}
