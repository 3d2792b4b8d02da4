//! Words: the index kept beside the crawl, and the questions asked of it.
//!
//! * What this is: [`Words`], the one place of a data directory's word index in a process. A
//!   [`Following`](crate::Following) thread reads the change log while a crawl runs; pages are
//!   taken in as they come and become findable with the next commit of the index.
//! * Pace: a commit costs the same for one page as for a thousand. So there is one every few
//!   seconds while pages pour in, and one soon after a page that came alone. Where pages come
//!   faster than their words can be taken in, the crawl is held for a moment ([`Hold`]): a page is
//!   findable a few seconds after it was fetched, always.
//! * The past: what pages were before is kept as they change, and asked only by who names a time.
//! * Link words: a page is indexed with what others were heard to call it by then. When a crawl is
//!   done, and now and then while it is calm, a round looks for pages that are called otherwise by now.
//! * Its place: beside the engine. The index can be made again from the texts: a damaged one is,
//!   and a failure here ends no crawl.
//! * What is not here: what a word is, how pages are ranked (`index`).

use crate::ask_words::SearchOrder;
use crate::backlinks::{Backlinks, chain};
use crate::data_dir::DataDir;
use crate::follow::{Failure, Follower};
use argiope_graph::{View as Graph, links_of};
use argiope_index::{
    Answer, Hit, Index, IndexError, IndexSettings, LinkError, LinkedAs, Links, NoLinks, RoundOf,
    SearchError, SearchOptions, View, made_with,
};
use argiope_model::{CanonicalUrl, DocId, Suffixes, UrlKey};
use argiope_store::Store;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Rows of the change log taken in before anybody looks at the clock again.
const PIECE: usize = 1_024;
/// While pages pour in, a commit this often.
const BUSY: Duration = Duration::from_secs(4);
/// When nothing more is waiting, a commit this long after the last.
const CALM: Duration = Duration::from_millis(1_500);
/// While pages pour in, a page waits so long to hear what others call it: what is known when it is
/// taken in need not be taken in again.
const LISTEN: Duration = Duration::from_secs(4);
/// Rows of the change log whose links are heard before their pages are taken in.
const AHEAD: u64 = 20_000;
/// Rows of the change log within that time that are called pouring.
const POURING: u64 = 500;
/// Pages waiting for longer than this hold the crawl.
const BEHIND: Duration = Duration::from_secs(5);
/// Pages looked at together in a round over the links: each piece reads the links of all pages that
/// lead to one of them.
const ROUND: usize = 100_000;
/// While a crawl runs and pages do not pour in, a round this often, in pieces of so many pages: what is
/// read meanwhile waits.
const ROUNDS: Duration = Duration::from_secs(600);
const CALM_ROUND: usize = 5_000;
/// Linking pages whose words are read for one page.
const SOURCES: usize = 500;

/// Whether a crawl is to wait before it asks for more.
#[derive(Clone, Debug, Default)]
pub struct Hold(Arc<AtomicBool>);

impl Hold {
    /// Whether it is to wait now.
    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}

/// The word index of a data directory.
pub struct Words {
    dir: PathBuf,
    texts: PathBuf,
    settings: IndexSettings,
    pinned: Arc<Suffixes>,
    store: Arc<dyn Store>,
    links: Option<Arc<Backlinks>>,
    index: Mutex<Option<Index>>,
    /// What was committed last: asked without waiting for whoever is writing.
    view: Mutex<Option<View>>,
    pace: Mutex<Pace>,
    hold: Hold,
    followed: AtomicBool,
    /// Pages left out since it was opened, because their texts cannot be read.
    unreadable: AtomicU64,
}

/// When the index was last committed, and how quickly it goes.
struct Pace {
    committed: Instant,
    /// Pages taken in per second, over the last pieces.
    speed: f64,
    /// When the last round over the links ended.
    rounded: Instant,
    /// How long the change log was, and when, the oldest first.
    heads: VecDeque<(Instant, BTreeMap<u16, u64>)>,
}

impl Pace {
    /// How far the change log is to be read now, and whether that is less than there is.
    fn until(&mut self, now: Instant, heads: BTreeMap<u16, u64>) -> (BTreeMap<u16, u64>, bool) {
        let rows = |heads: &BTreeMap<u16, u64>| heads.values().sum::<u64>();
        self.heads.push_back((now, heads.clone()));
        while self.heads.get(1).is_some_and(|(then, _)| now - *then >= LISTEN) {
            self.heads.pop_front();
        }
        match self.heads.front() {
            Some((_, then)) if rows(&heads).saturating_sub(rows(then)) >= POURING => {
                (then.clone(), true)
            }
            _ => (heads, false),
        }
    }
}

/// How far a catching up is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indexing {
    /// Rows of the change log read.
    pub done: u64,
    /// Rows to be read.
    pub total: u64,
}

impl Words {
    /// The index of a directory; opened when it is first needed. `links` are those of the same
    /// directory, `hold` is that of the crawl it follows.
    pub(crate) fn new(
        dir: &DataDir,
        store: Arc<dyn Store>,
        links: Option<Arc<Backlinks>>,
        settings: IndexSettings,
        hold: Hold,
    ) -> Self {
        Words {
            dir: dir.index(),
            texts: dir.text(),
            settings,
            pinned: dir.suffixes().clone(),
            store,
            links,
            index: Mutex::new(None),
            view: Mutex::new(None),
            pace: Mutex::new(Pace {
                committed: Instant::now(),
                speed: 500.0,
                rounded: Instant::now(),
                heads: VecDeque::new(),
            }),
            hold,
            followed: AtomicBool::new(false),
            unreadable: AtomicU64::new(0),
        }
    }

    /// Whether it is kept up to date while a crawl runs.
    pub(crate) fn is_followed(&self) -> bool {
        self.followed.load(Ordering::Relaxed)
    }

    /// Does something with the index. What is damaged is thrown away and made again, once.
    fn with<T>(
        &self,
        mut work: impl FnMut(&mut Index) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        let mut slot = lock(&self.index);
        let mut attempt = |rebuild: bool| {
            let mut index = match (slot.take(), rebuild) {
                (Some(index), false) => index,
                (_, false) => Index::open(&self.dir, &self.as_made()?)?,
                (old, true) => {
                    drop(old);
                    Index::rebuild(&self.dir, &self.settings)?
                }
            };
            let done = work(&mut index);
            *slot = Some(index);
            done
        };
        match attempt(false) {
            Err(e @ IndexError::Damaged { .. }) => {
                tracing::warn!("{}; it is being made again", chain(&e));
                *lock(&self.view) = None;
                attempt(true)
            }
            done => done,
        }
    }

    /// The settings that the index was made with: what is looked for must be what was kept.
    fn as_made(&self) -> Result<IndexSettings, IndexError> {
        let Some(made) = made_with(&self.dir, self.settings.memory)? else {
            return Ok(self.settings.clone());
        };
        if made != self.settings {
            tracing::warn!(
                "the word index was made with other stop words or another language than the \
                 configuration says; `argiope reindex` makes it again"
            );
        }
        Ok(made)
    }

    fn commit(&self, index: &mut Index) -> Result<(), IndexError> {
        index.commit()?;
        *lock(&self.view) = Some(index.view());
        lock(&self.pace).committed = Instant::now();
        Ok(())
    }

    /// Takes in what the store has committed, a piece of it, and commits when that is due. Says
    /// whether there is more. The crawl is held while it is ahead by too much.
    fn follow(&self) -> Result<bool, IndexError> {
        let graph = GraphLinks::new(self)?;
        self.with(|index| {
            let begun = Instant::now();
            let heads = self.store.log_heads()?.into_iter().collect();
            let (until, held) = lock(&self.pace).until(begun, heads);
            if held {
                index.listen(&*self.store, &graph, AHEAD)?;
            }
            let (store, texts) = (&*self.store, &self.texts);
            let done = index.catch_up_to(store, texts, &self.pinned, &graph, &until, PIECE)?;
            self.unreadable.fetch_add(done.unreadable, Ordering::Relaxed);
            let taken = done.rows as f64 / begun.elapsed().as_secs_f64().max(0.001);
            let waiting = match done.more {
                true => index.waiting(&*self.store)?,
                false => 0,
            };
            let (since, speed) = {
                let mut pace = lock(&self.pace);
                if done.rows as usize >= PIECE / 2 {
                    pace.speed = 0.7 * pace.speed + 0.3 * taken;
                }
                (pace.committed.elapsed(), pace.speed)
            };
            let behind = waiting as f64 / speed.max(1.0);
            self.hold.set(behind > BEHIND.as_secs_f64());
            let often = if done.more || held { BUSY } else { CALM };
            if index.pending() > 0 && since > often {
                self.commit(index)?;
            }
            if !done.more && !held && lock(&self.pace).rounded.elapsed() > ROUNDS {
                self.piece_of_round(index, &graph, RoundOf::News, CALM_ROUND)?;
            }
            Ok(done.more)
        })
    }

    /// Takes in all that the store has committed and makes it findable. With a round, pages
    /// that others call otherwise by now are taken in again.
    pub fn catch_up(
        &self,
        round: bool,
        mut progress: impl FnMut(Indexing),
    ) -> Result<(), IndexError> {
        let graph = GraphLinks::new(self)?;
        let mut total = None;
        let mut read = 0;
        loop {
            let more = self.with(|index| {
                let waiting = index.waiting(&*self.store)?;
                let total = *total.get_or_insert(waiting);
                index.listen(&*self.store, &graph, AHEAD)?;
                let done =
                    index.catch_up(&*self.store, &self.texts, &self.pinned, &graph, PIECE)?;
                read += done.rows;
                self.unreadable.fetch_add(done.unreadable, Ordering::Relaxed);
                progress(Indexing { done: read, total: total.max(read) });
                if lock(&self.pace).committed.elapsed() > 8 * BUSY || !done.more {
                    self.commit(index)?;
                }
                Ok(done.more)
            })?;
            if !more {
                break;
            }
        }
        if round { self.round(RoundOf::News) } else { Ok(()) }
    }

    /// Takes in again what others call otherwise by now.
    fn round(&self, of: RoundOf) -> Result<(), IndexError> {
        let graph = GraphLinks::new(self)?;
        let mut next = Some(of);
        while let Some(of) = next {
            next = self.with(|index| self.piece_of_round(index, &graph, of, ROUND))?;
        }
        Ok(())
    }

    /// The same for some pages; says how to go on.
    fn piece_of_round(
        &self,
        index: &mut Index,
        graph: &GraphLinks<'_>,
        of: RoundOf,
        pages: usize,
    ) -> Result<Option<RoundOf>, IndexError> {
        self.commit(index)?;
        let (store, texts) = (&*self.store, &self.texts);
        let round = index.links_round(store, texts, &self.pinned, graph, of, pages)?;
        self.commit(index)?;
        let (looked_at, again) = (round.checked, round.indexed);
        tracing::debug!(looked_at, again, "a round over the links");
        if round.next.is_none() {
            lock(&self.pace).rounded = Instant::now();
        }
        Ok(round.next)
    }

    /// How many rows of the change log wait to be taken in.
    pub fn waiting(&self) -> Result<u64, IndexError> {
        self.with(|index| index.waiting(&*self.store))
    }

    /// How many pages were left out because their texts cannot be read.
    pub fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// Throws the index away and makes it again from the texts.
    pub fn rebuild(&self, progress: impl FnMut(Indexing)) -> Result<(), IndexError> {
        {
            let mut slot = lock(&self.index);
            *lock(&self.view) = None;
            drop(slot.take());
            *slot = Some(Index::rebuild(&self.dir, &self.settings)?);
        }
        self.catch_up(true, progress)?;
        self.with(|index| {
            index.settle()?;
            *lock(&self.view) = Some(index.view());
            Ok(())
        })
    }

    /// Takes in what is new, and leaves nothing in its files of pages that have left: neither their
    /// words nor what they called others.
    pub(crate) fn purge(&self) -> Result<(), IndexError> {
        self.catch_up(false, |_| {})?;
        // Where links have gone, nobody tells where they led.
        self.round(RoundOf::All(None))?;
        self.with(Index::settle)
    }

    /// What was committed last. Where nobody has opened it, it is opened.
    pub fn view(&self) -> Result<View, IndexError> {
        if let Some(view) = &*lock(&self.view) {
            return Ok(view.clone());
        }
        let view = self.with(|index| Ok(index.view()))?;
        Ok(lock(&self.view).get_or_insert(view).clone())
    }

    /// Searches.
    pub(crate) fn search(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Result<Answer, SearchError> {
        let graph = GraphLinks::new(self)?;
        self.view()?.search(query, &self.texts, &graph, options)
    }
}

impl Follower for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn begin(&self) {
        self.followed.store(true, Ordering::Relaxed);
    }

    fn step(&self) -> Result<bool, Failure> {
        Ok(self.follow()?)
    }

    fn finish(&self, all: bool) -> Result<(), Failure> {
        self.hold.set(false);
        match all {
            true => Ok(self.catch_up(true, |_| {})?),
            false => Ok(self.with(|index| self.commit(index))?),
        }
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The links between pages, as the index asks for them.
struct GraphLinks<'a> {
    /// `None` where they are not counted.
    graph: Option<Graph>,
    links: Option<&'a Backlinks>,
    store: &'a dyn Store,
    pinned: &'a Suffixes,
}

impl<'a> GraphLinks<'a> {
    fn new(words: &'a Words) -> Result<Self, IndexError> {
        let graph = words.links.as_ref().map(|links| links.view_for_search()).transpose();
        let graph = graph.map_err(|e| IndexError::Links(e.into()))?;
        let links = words.links.as_deref();
        Ok(GraphLinks { graph, links, store: &*words.store, pinned: &words.pinned })
    }
}

impl Links for GraphLinks<'_> {
    fn linked_as(&self, pages: &[(DocId, UrlKey)]) -> Result<Vec<LinkedAs>, LinkError> {
        let Some(graph) = &self.graph else { return NoLinks.linked_as(pages) };
        let keys: Vec<UrlKey> = pages.iter().map(|(_, key)| *key).collect();
        let called = graph.called(self.store, self.pinned, &keys, SOURCES)?;
        let linked = called.into_iter().map(|called| {
            let mut phrases = called.words;
            phrases.retain(|(words, _)| !words.is_empty());
            phrases.truncate(argiope_index::LINK_PHRASES);
            LinkedAs { backlinks: called.backlinks, phrases }
        });
        Ok(linked.collect())
    }

    fn links_of(
        &self,
        pages: &[UrlKey],
        each: &mut dyn FnMut(usize, UrlKey, &str),
    ) -> Result<(), LinkError> {
        match self.graph {
            Some(_) => Ok(links_of(self.store, self.pinned, pages, each)?),
            None => Ok(()),
        }
    }

    fn linking_to(&self, url: &str) -> Result<Vec<DocId>, LinkError> {
        let Some(graph) = &self.graph else { return NoLinks.linking_to(url) };
        // As people write it: `example.org/x` is enough.
        let texts = match url.contains("://") {
            true => vec![url.to_owned()],
            false => vec![format!("https://{url}"), format!("http://{url}")],
        };
        let mut docs = Vec::new();
        for text in texts {
            let url = CanonicalUrl::parse(&text)?;
            docs.extend(graph.sources(url.key(self.pinned))?);
        }
        docs.sort_unstable();
        docs.dedup();
        Ok(docs)
    }

    fn ranks(&self, pages: &[DocId]) -> Vec<Option<f64>> {
        match self.links {
            Some(links) => links.ranks_to_average(pages),
            None => NoLinks.ranks(pages),
        }
    }
}

/// The row of a hit, as `search` shows it.
pub(crate) fn hit_row(hit: &Hit, order: &SearchOrder) -> Value {
    // Marks are bytes of the snippet as it is shown, which may begin with an ellipsis.
    let before = if hit.snippet.cut_before { '…'.len_utf8() } else { 0 };
    let marks = hit.snippet.marks.iter().map(|mark| [before + mark.start, before + mark.end]);
    let mut row = json!({
        "rank": hit.rank,
        "score": (f64::from(hit.score) * 1e4).round() / 1e4,
        "doc": hit.doc.0,
        "url": hit.url,
        "title": hit.title,
        "snippet": hit.snippet.marked("", ""),
        "marks": marks.collect::<Vec<_>>(),
        "marked": hit.snippet.marked("\u{2}", "\u{3}"),
        "site": hit.site,
        "language": hit.language,
        "fetched_at": hit.fetched_at.to_string(),
        "changed_at": hit.changed_at.to_string(),
        "partial": hit.partial,
        "alike": hit.alike.iter().map(|page| page.doc.0).collect::<Vec<_>>(),
        "alike_urls": hit.alike.iter().map(|page| &*page.url).collect::<Vec<_>>(),
    });
    if let Some(at) = order.at {
        row["at"] = json!(at.to_string());
        row["from"] = json!(hit.from.to_string());
        row["until"] = json!(hit.until.map(|until| until.to_string()));
    }
    if order.explain {
        let parts = hit.parts.iter();
        let parts: Vec<Value> =
            parts.map(|(name, part)| json!({ "part": name, "score": part })).collect();
        row["explain"] = json!(parts);
    }
    row
}
