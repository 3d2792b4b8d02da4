//! The same pages through the embedded store: what reading its change log and its links adds.

use crate::corpus::Corpus;
use argiope_frontier::Place;
use argiope_graph::Graph;
use argiope_model::{
    Capture, Directives, FetchOutcome, Job, JobId, Limits, Order, OutcomeKind, QueryPolicy, Role,
    Scope, ScopeRule, Time, Wanted,
};
use argiope_store::{
    Batch, Claims, Discovery, EmbeddedStore, JobChange, Next, PageResult, Store, UrlState,
};
use std::path::Path;

const GROUP: usize = 64;

fn job() -> Job {
    Job {
        id: JobId(1),
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

/// Commits pages in groups as a crawl does and follows every few groups; says how much
/// processor time following cost, in seconds.
pub fn follow(
    pages: u32,
    memory: u64,
    dir: &Path,
    cpu_s: fn() -> f64,
) -> Result<f64, Box<dyn std::error::Error>> {
    let store = EmbeddedStore::open(&dir.join("store"), memory * 4)?;
    let mut graph = Graph::open(&dir.join("graph"), memory)?;
    let mut corpus = Corpus::new(pages);
    let jobs = vec![JobChange::New(Box::new(job()))];
    store.commit(Batch { jobs, ..Batch::default() })?;
    let (mut made, mut cpu) = (0, 0.0);
    while made < pages {
        corpus.make(2_048);
        made += 2_048;
        let all = corpus.made();
        for (n, group) in all.chunks(GROUP).enumerate() {
            let now = Time(i64::from(made) * 1_000 + n as i64);
            let discoveries = group.iter().enumerate().map(|(i, (url, key, _))| Discovery {
                url: url.clone(),
                key: *key,
                job: JobId(1),
                depth: 0,
                place: Place { order: u64::from(made), seq: (n * GROUP + i) as u64 },
                skip: None,
                role: Role::Page,
                hops: 0,
                again: false,
            });
            let discoveries = discoveries.collect();
            let claims = Claims { named: Vec::new(), hosts: 100_000, window: 1_000 };
            let told = store.commit(Batch { now, discoveries, claims, ..Batch::default() })?;
            let rows = told.claimed.into_iter().flat_map(|window| window.entries);
            let pages = rows.chain(told.queued).map(|entry| {
                let found = group.iter().find(|(_, key, _)| *key == entry.key);
                let capture = Capture {
                    doc: entry.doc,
                    job: JobId(1),
                    time: now,
                    outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
                    record: None,
                    revisit: false,
                    text: None,
                    mime: "text/html".into(),
                    bytes: 1,
                    payload_digest: [1; 20],
                    body_digest: [1; 32],
                    last_modified: None,
                    etag: None,
                    elapsed_ms: 1,
                    directives: Directives::default(),
                    verdict: None,
                };
                PageResult {
                    entry,
                    next: Next::Done(UrlState::Fetched),
                    capture: Some(capture),
                    payload: None,
                    links: found.and_then(|(_, _, blob)| blob.clone()),
                    changed: true,
                    words: 1,
                    link_count: 62,
                    plan: None,
                }
            });
            let pages = pages.collect();
            store.commit(Batch { now, pages, ..Batch::default() })?;
        }
        let begun = cpu_s();
        graph.catch_up(&store, &corpus.suffixes, usize::MAX)?;
        cpu += cpu_s() - begun;
    }
    eprintln!("{:?}", graph.size());
    Ok(cpu)
}
