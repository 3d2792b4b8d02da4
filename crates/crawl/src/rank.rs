//! Ranks: made when they are asked for, kept beside the link graph.
//!
//! * What this is: the part of [`Backlinks`] that has pages and sites ranked (`graph::rank`), keeps
//!   the figures open and tells which stand first.
//! * When one is made: when somebody asks for the first by rank and the one kept is older than the
//!   graph; at the end of a crawl, where that takes moments. While a crawl runs it is made with half
//!   of a thread's time, and not again before ten times as long has passed as the last one took.
//! * Searches and `doc` take what is kept and make nothing.
//! * A damaged file is made again.

use crate::backlinks::{Backlinks, chain};
use argiope_graph::rank::{Measure, Of, RankOrder, Ranks, make};
use argiope_graph::{GraphError, host_of};
use argiope_model::{DocId, Time, UrlKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// Links up to which pages are ranked at the end of a crawl.
const AT_ONCE: u64 = 5_000_000;
/// Of the time, how much goes into ranks while a crawl runs, at the most: one part in so many.
const SHARE: i64 = 10;
/// How long an asker waits for a rank while a crawl runs.
const WAITING: Duration = Duration::from_secs(20);
/// How much others go before, while a crawl runs.
const NICE: i32 = 10;
/// Hosts looked at together.
const HOSTS: usize = 1_000;

/// Who asks for a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub now: Time,
    /// While a crawl runs.
    pub live: bool,
}

/// The ranks of a data directory that are open, and whoever makes one.
#[derive(Default)]
pub(crate) struct Kept {
    open: Mutex<Vec<Arc<Ranks>>>,
    making: Mutex<()>,
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn get(&self, measure: Measure, of: Of) -> Option<Arc<Ranks>> {
        let is = |ranks: &&Arc<Ranks>| (ranks.about().measure, ranks.about().of) == (measure, of);
        lock(&self.open).iter().find(is).cloned()
    }

    fn put(&self, ranks: Ranks) -> Arc<Ranks> {
        let ranks = Arc::new(ranks);
        self.drop(ranks.about().measure, ranks.about().of);
        lock(&self.open).push(ranks.clone());
        ranks
    }

    fn drop(&self, measure: Measure, of: Of) {
        let other = |ranks: &Arc<Ranks>| (ranks.about().measure, ranks.about().of) != (measure, of);
        lock(&self.open).retain(other);
    }
}

impl Backlinks {
    /// A rank as it was last made, however old; nothing where there is none, or a damaged one.
    fn kept_ranks(&self, measure: Measure, of: Of) -> Result<Option<Arc<Ranks>>, GraphError> {
        if let Some(ranks) = self.kept.get(measure, of) {
            return Ok(Some(ranks));
        }
        match Ranks::open(self.dir(), measure, of) {
            Ok(ranks) => Ok(ranks.map(|ranks| self.kept.put(ranks))),
            Err(e @ GraphError::Damaged { .. }) => {
                tracing::warn!("{}", chain(&e));
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// A rank that is as new as the graph. While a crawl runs, nearly so: it is made beside, and
    /// whoever has waited for long is given the one before.
    fn ranks(
        self: &Arc<Self>,
        measure: Measure,
        of: Of,
        asking: Asking,
    ) -> Result<Arc<Ranks>, GraphError> {
        if !asking.live {
            return self.made(measure, of, asking);
        }
        let (links, (tell, told)) = (self.clone(), mpsc::channel());
        let spawned = std::thread::Builder::new().name("rank".to_owned()).spawn(move || {
            // Of this thread alone. Where it may not be, half of its time is left to others anyway.
            let _ = rustix::process::nice(NICE);
            let _ = tell.send(links.made(measure, of, asking));
        });
        match spawned.map(|_| told.recv_timeout(WAITING)) {
            Ok(Ok(made)) => made,
            _ => self.kept_ranks(measure, of)?.ok_or(GraphError::NotYet),
        }
    }

    fn made(&self, measure: Measure, of: Of, asking: Asking) -> Result<Arc<Ranks>, GraphError> {
        let view = self.view()?;
        let fresh = |ranks: &Arc<Ranks>| {
            let about = ranks.about();
            let rests = about.made_ms + about.took_ms as i64 * (SHARE + 1);
            about.read == *view.read() || (asking.live && asking.now.0 < rests)
        };
        if let Some(ranks) = self.kept_ranks(measure, of)?.filter(fresh) {
            return Ok(ranks);
        }
        let _one = lock(&self.kept.making);
        // Somebody else may have made it meanwhile.
        if let Some(ranks) = self.kept.get(measure, of).filter(fresh) {
            return Ok(ranks);
        }
        let order =
            RankOrder { dir: self.dir(), measure, of, now_ms: asking.now.0, calm: asking.live };
        Ok(self.kept.put(make(&view, self.store(), self.pinned(), &order)?))
    }

    /// Does something with a rank. A damaged one is made again, once.
    fn with_ranks<T>(
        self: &Arc<Self>,
        measure: Measure,
        of: Of,
        asking: Asking,
        work: impl Fn(&Ranks) -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        match work(&*self.ranks(measure, of, asking)?) {
            Err(e @ GraphError::Damaged { .. }) => {
                tracing::warn!("{}; it is being made again", chain(&e));
                let path = self.ranks(measure, of, asking)?.path().to_owned();
                let _ = std::fs::remove_file(path);
                self.kept.drop(measure, of);
                work(&*self.ranks(measure, of, asking)?)
            }
            done => done,
        }
    }

    /// Ranks the pages at the end of a crawl, where that takes moments.
    pub(crate) fn rank_at_end(&self, now: Time) -> Result<(), GraphError> {
        match self.size()?.links <= AT_ONCE {
            true => self.made(Measure::PageRank, Of::Pages, Asking { now, live: false }).map(drop),
            false => Ok(()),
        }
    }

    /// What these documents are worth, as was last told.
    pub(crate) fn ranks_of(&self, measure: Measure, docs: &[DocId]) -> Vec<Option<f64>> {
        let kept = self.kept_ranks(measure, Of::Pages);
        let told = kept.and_then(|ranks| ranks.map(|ranks| ranks.of_docs(docs)).transpose());
        let told = told.unwrap_or_else(|e| {
            tracing::warn!("{}; `argiope top --by rank` makes it again", chain(&e));
            None
        });
        told.unwrap_or_else(|| vec![None; docs.len()])
    }

    /// How these documents rank among all, as was last told: one is the average.
    pub(crate) fn ranks_to_average(&self, docs: &[DocId]) -> Vec<Option<f64>> {
        let mut ranks = self.ranks_of(Measure::PageRank, docs);
        let kept = self.kept.get(Measure::PageRank, Of::Pages);
        let nodes = kept.map_or(1.0, |ranks| ranks.about().nodes as f64);
        ranks.iter_mut().flatten().for_each(|rank| *rank *= nodes);
        ranks
    }

    /// The pages that rank highest.
    pub(crate) fn top_pages(
        self: &Arc<Self>,
        measure: Measure,
        limit: usize,
        asking: Asking,
    ) -> Result<Vec<Value>, GraphError> {
        let best = self.with_ranks(measure, Of::Pages, asking, |ranks| ranks.top_docs(limit))?;
        let docs: Vec<DocId> = best.iter().map(|(doc, _)| *doc).collect();
        let keys = self.store().docs(&docs)?;
        let wanted: Vec<UrlKey> = keys.iter().flatten().copied().collect();
        let counts = self.view()?.counts(&wanted)?;
        let rows = self.store().urls(&wanted)?;
        let mut about: BTreeMap<UrlKey, _> =
            wanted.into_iter().zip(counts.into_iter().zip(rows)).collect();
        let named = best.into_iter().zip(keys).filter_map(|((doc, value), key)| {
            let (counts, row) = about.remove(&key?)?;
            let mut told = json!({ "doc": doc.0, "url": row?.url.as_str(),
                "backlinks": counts.backlinks, "sites": counts.sites });
            told[name_of(measure)] = json!(value);
            Some(told)
        });
        let mut named: Vec<Value> = named.collect();
        if measure == Measure::Harmonic {
            for (row, rank) in named.iter_mut().zip(self.ranks_of(Measure::PageRank, &docs)) {
                row["rank"] = json!(rank);
            }
        }
        Ok(named)
    }

    /// The sites that rank highest.
    pub(crate) fn top_sites(
        self: &Arc<Self>,
        measure: Measure,
        limit: usize,
        asking: Asking,
    ) -> Result<Vec<Value>, GraphError> {
        self.with_ranks(measure, Of::Sites, asking, |ranks| {
            let mut sites: BTreeMap<String, (f64, u64)> = BTreeMap::new();
            let mut after = None;
            loop {
                let rows = self.store().scan_hosts(after, HOSTS)?;
                let Some((last, _)) = rows.last() else { break };
                after = Some(*last);
                for (key, row) in &rows {
                    let Some(value) = ranks.of_site(*key, &row.origin, self.pinned())? else {
                        continue;
                    };
                    let site = self.pinned().site_of(host_of(&row.origin)).to_owned();
                    sites.entry(site).or_insert((value, 0)).1 += row.fetched;
                }
            }
            let mut sites: Vec<(String, (f64, u64))> = sites.into_iter().collect();
            sites.sort_by(|a, b| b.1.0.total_cmp(&a.1.0).then_with(|| a.0.cmp(&b.0)));
            sites.truncate(limit);
            let row = |(site, (value, pages)): (String, (f64, u64))| {
                let mut told = json!({ "site": site, "pages": pages });
                told[name_of(measure)] = json!(value);
                told
            };
            Ok(sites.into_iter().map(row).collect())
        })
    }
}

/// The field of a row that a measure stands in.
fn name_of(measure: Measure) -> &'static str {
    match measure {
        Measure::PageRank => "rank",
        Measure::Harmonic => "harmonic",
    }
}
