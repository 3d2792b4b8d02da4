//! Back-links: the link graph kept beside the crawl, and the questions asked of it.
//!
//! * What this is: [`Backlinks`], the one place of a data directory's link graph in a process.
//!   While a crawl runs a [`Following`](crate::Following) thread reads the change log about once a second; whoever
//!   asks has the rest read first, so that an answer knows every committed page.
//! * Its place: beside the engine, never in its way. The graph can be made again from the store:
//!   a damaged one is, and a failure here ends no crawl.
//! * What is not here: what counts as a back-link and how it is kept (`graph`).

use crate::data_dir::DataDir;
use crate::follow::{Failure, Follower};
use crate::rank::Kept;
use crate::world::Clock;
use argiope_graph::rank::Measure;
use argiope_graph::{
    By, Graph, GraphError, GraphSize, SourcePlace, View, outgoing, seen_so, site_of,
};
use argiope_model::{CanonicalUrl, DocId, HostKey, Suffixes, UrlKey};
use argiope_store::{HostRow, Store};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows of the change log read before somebody else may ask.
const PIECE: usize = 2_048;
/// Hosts looked at to know how many sites there are.
const FEW_HOSTS: usize = 1_024;

/// The link graph of a data directory.
pub struct Backlinks {
    dir: PathBuf,
    memory: u64,
    pinned: Arc<Suffixes>,
    store: Arc<dyn Store>,
    graph: Mutex<Option<Graph>>,
    /// Whether a thread keeps it up to date.
    followed: AtomicBool,
    pub(crate) kept: Kept,
}

/// Links to or from a URL, as far as was asked.
pub(crate) struct LinkPage {
    pub rows: Vec<Value>,
    pub next: Option<SourcePlace>,
}

impl Backlinks {
    /// The graph of a directory; opened when it is first needed. `memory` bounds what it holds.
    pub fn new(dir: &DataDir, store: Arc<dyn Store>, memory: u64) -> Self {
        let (pinned, dir) = (dir.suffixes().clone(), dir.graph());
        Backlinks {
            dir,
            memory,
            pinned,
            store,
            graph: Mutex::new(None),
            followed: AtomicBool::new(false),
            kept: Kept::default(),
        }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    pub(crate) fn pinned(&self) -> &Suffixes {
        &self.pinned
    }

    /// How large the graph is.
    pub(crate) fn size(&self) -> Result<GraphSize, GraphError> {
        self.with(|graph| Ok(graph.size()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Graph>> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the graph. What is damaged is thrown away and made again, once.
    fn with<T>(
        &self,
        mut work: impl FnMut(&mut Graph) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        let mut slot = self.lock();
        let mut attempt = |rebuild: bool| {
            let mut graph = match (slot.take(), rebuild) {
                (Some(graph), false) => graph,
                (_, false) => Graph::open(&self.dir, self.memory)?,
                (_, true) => Graph::rebuild(&self.dir, self.memory)?,
            };
            let done = work(&mut graph);
            *slot = Some(graph);
            done
        };
        match attempt(false) {
            Err(e @ GraphError::Damaged { .. }) => {
                tracing::warn!("{e}; it is being made again");
                attempt(true)
            }
            done => done,
        }
    }

    /// Reads some of what the store has committed; says whether there is more.
    fn follow(&self) -> Result<bool, GraphError> {
        self.with(|graph| Ok(graph.catch_up(&*self.store, &self.pinned, PIECE)?.more))
    }

    /// Reads all that the store has committed and keeps it on disk.
    pub fn catch_up(&self) -> Result<(), GraphError> {
        self.with(|graph| {
            while graph.catch_up(&*self.store, &self.pinned, PIECE)?.more {}
            graph.flush()
        })
    }

    /// Keeps on disk what was read of the change log.
    pub fn keep(&self) -> Result<(), GraphError> {
        self.lock().as_mut().map_or(Ok(()), Graph::flush)
    }

    /// What is known now.
    pub(crate) fn view(&self) -> Result<View, GraphError> {
        while self.follow()? {}
        self.with(Graph::view)
    }

    /// The links as far as they are read, where a thread reads them on: while a crawl runs there is always more to read,
    /// and a search does not wait for it.
    pub(crate) fn view_for_search(&self) -> Result<View, GraphError> {
        match self.followed.load(Relaxed) {
            true => self.with(Graph::view),
            false => self.view(),
        }
    }

    /// How many pages link to a URL and, where that is wanted, the words most of them use for it.
    pub(crate) fn about(
        &self,
        key: UrlKey,
        words: bool,
    ) -> Result<(u64, Option<String>), GraphError> {
        let view = self.view()?;
        let counts = view.counts(&[key])?;
        let words = match words {
            true => view.description(&*self.store, &self.pinned, key)?,
            false => None,
        };
        Ok((counts.first().map_or(0, |c| c.backlinks), words))
    }

    /// Who links to a URL. The first piece begins with a row of totals.
    pub(crate) fn incoming(
        &self,
        target: &str,
        key: UrlKey,
        after: Option<SourcePlace>,
        limit: usize,
    ) -> Result<LinkPage, GraphError> {
        let found = self.view()?.incoming(&*self.store, &self.pinned, key, after, limit)?;
        let mut rows = Vec::with_capacity(found.rows.len() + 1);
        if after.is_none() {
            rows.push(json!({ "target": target, "backlinks": found.counts.backlinks,
                "sites": found.counts.sites, "others": found.others }));
        }
        rows.extend(found.rows.into_iter().map(|link| {
            json!({
                "source": link.source.as_str(),
                "target": target,
                "words": link.words,
                "kind": link.kind.name(),
                "nofollow": link.nofollow,
                "count": link.count,
                "first_seen": link.first_seen.to_string(),
                "last_seen": link.last_seen.to_string(),
            })
        }));
        Ok(LinkPage { rows, next: found.next })
    }

    /// The links of a page.
    pub(crate) fn outgoing(&self, source: &str, key: UrlKey) -> Result<Vec<Value>, GraphError> {
        let seen = seen_so(&self.store.captures(key)?);
        let time =
            |pick: fn((_, _)) -> _| seen.map(pick).map(|t: argiope_model::Time| t.to_string());
        let (first, last) = (time(|seen| seen.0), time(|seen| seen.1));
        let page = outgoing(&*self.store, key)?;
        let links = page.links.iter().map(|link| {
            json!({
                "source": source,
                "target": link.url.as_str(),
                "words": &*link.words,
                "kind": link.kind.name(),
                "nofollow": link.nofollow,
                "count": link.count,
                "first_seen": first,
                "last_seen": last,
            })
        });
        Ok(links.collect())
    }

    /// The most linked URLs; `all` says whether those too that no job has met.
    pub(crate) fn top(&self, by: By, limit: usize, all: bool) -> Result<Vec<Value>, GraphError> {
        let view = self.view()?;
        let most = match by {
            By::Sites => self.most_sites()?,
            By::Backlinks => u64::MAX,
        };
        let mut asked = limit;
        loop {
            let best = view.top_at_most(by, asked, most)?;
            let keys: Vec<UrlKey> = best.iter().map(|(key, _)| *key).collect();
            let rows = self.store.urls(&keys)?;
            let known = rows.iter().filter(|row| row.is_some()).count();
            if !all && known < limit && best.len() >= asked {
                // Links that lead out of the crawl were in between.
                asked = asked.saturating_mul(4);
                continue;
            }
            let texts = match all {
                true => view.texts(&*self.store, &self.pinned, &keys)?,
                false => vec![None; keys.len()],
            };
            let named = best.into_iter().zip(rows).zip(texts).filter_map(|((best, row), text)| {
                let doc = row.as_ref().map(|row| row.doc);
                let url = row.map(|row| row.url.to_string()).or(text)?;
                let rank = doc.and_then(|doc| self.ranks_of(Measure::PageRank, &[doc])[0]);
                Some(json!({ "doc": doc.map(|doc| doc.0), "url": url,
                    "backlinks": best.1.backlinks, "sites": best.1.sites, "rank": rank }))
            });
            return Ok(named.take(limit).collect());
        }
    }

    /// How many sites there are. Only worth knowing where they are few.
    fn most_sites(&self) -> Result<u64, GraphError> {
        let hosts = self.store.scan_hosts(None, FEW_HOSTS)?;
        if hosts.len() >= FEW_HOSTS {
            return Ok(u64::MAX);
        }
        let site = |(key, row): &(HostKey, HostRow)| (key.part, site_of(&row.origin, &self.pinned));
        Ok(hosts.iter().map(site).collect::<HashSet<_>>().len() as u64)
    }

    /// Links that lead nowhere, after a document: about `limit` rows, and where to go on.
    pub(crate) fn broken(
        &self,
        after: Option<DocId>,
        limit: usize,
    ) -> Result<(Vec<Value>, Option<DocId>), GraphError> {
        let found = self.view()?.broken(&*self.store, &self.pinned, after, limit)?;
        let rows = found.rows.into_iter().map(|link| {
            json!({
                "url": link.url,
                "outcome": link.outcome,
                "source": link.source.as_ref().map(CanonicalUrl::as_str),
                "words": link.words,
                "malformed": link.malformed,
            })
        });
        Ok((rows.collect(), found.next))
    }
}

impl Follower for Backlinks {
    fn name(&self) -> &'static str {
        "back-links"
    }

    fn begin(&self) {
        self.followed.store(true, Relaxed);
    }

    fn step(&self) -> Result<bool, Failure> {
        Ok(self.follow()?)
    }

    fn finish(&self, all: bool) -> Result<(), Failure> {
        self.followed.store(false, Relaxed);
        // It takes less time than it would to do it later.
        self.catch_up()?;
        match all {
            true => Ok(self.rank_at_end(Clock::System.now())?),
            false => Ok(()),
        }
    }
}

/// An error and its causes as one sentence.
pub(crate) fn chain(e: &dyn std::error::Error) -> String {
    let mut out = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        out.push_str(&format!(": {e}"));
        cause = e.source();
    }
    out
}
