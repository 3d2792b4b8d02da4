//! Making a measure: nodes from the store, links from the runs, the figures into a file.
//!
//! Nodes are numbered in the order of their document numbers: pages that were found together stand
//! together, and steps between numbers are small. Lists come in the order of the runs, which is that
//! of URL keys; the rows of the store come in the same order, so that both are read once, side by
//! side.

use super::file::{Ranks, RanksAbout};
use super::harmonic::{ABOUT_MOST, EXACT_WORK, about, exact};
use super::lists::{Breath, ListWriter, Lists};
use super::pagerank::pagerank;
use super::{Measure, Of};
use crate::error::{GraphError, io_error};
use crate::keys::site_of;
use crate::merge::Merged;
use crate::source::order_of;
use crate::view::View;
use argiope_model::{DocId, HostKey, Suffixes, UrlKey};
use argiope_store::{Store, StoreError};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Instant;

/// Rows of the store taken at once.
const PIECE: usize = 1_000;
/// Links between sites that are kept before those said twice are thrown out.
const PAIRS: usize = 4 << 20;

/// What is to be made.
#[derive(Clone, Copy, Debug)]
pub struct RankOrder<'a> {
    /// The directory of the graph.
    pub dir: &'a Path,
    /// What is measured.
    pub measure: Measure,
    /// Of what.
    pub of: Of,
    /// The time, milliseconds since 1970.
    pub now_ms: i64,
    /// Leave half of the time to others.
    pub calm: bool,
}

/// A graph to be measured.
pub struct Web {
    /// What each node is found by, rising.
    pub ids: Vec<u64>,
    /// How many nodes each links to.
    pub out: Vec<u32>,
    /// Who links to each.
    pub lists: Lists,
}

/// Measures a graph as a view has it and keeps the figures.
pub fn make(
    view: &View,
    store: &dyn Store,
    pinned: &Suffixes,
    order: &RankOrder<'_>,
) -> Result<Ranks, GraphError> {
    let began = Instant::now();
    let web = match order.of {
        Of::Pages => pages(view, store, order)?,
        Of::Sites => sites(view, store, pinned, order)?,
    };
    solve(web, order, view.read().clone(), began)
}

/// Measures a graph and keeps the figures; `read` says how far the change log is in it.
pub fn solve(
    web: Web,
    order: &RankOrder<'_>,
    read: BTreeMap<u16, u64>,
    began: Instant,
) -> Result<Ranks, GraphError> {
    let Web { ids, out, lists } = web;
    let nodes = out.len() as u32;
    let failed = io_error("rank", order.dir);
    let (values, rounds, error) = match order.measure {
        Measure::PageRank => {
            let solved = pagerank(&lists, &out).map_err(failed)?;
            (solved.values, solved.rounds, 0.0)
        }
        Measure::Harmonic if u64::from(nodes) * (lists.links() + 1) <= EXACT_WORK => {
            (exact(&lists, nodes).map_err(failed)?, 1, 0.0)
        }
        Measure::Harmonic => {
            let (values, error) = about(&lists, nodes, ABOUT_MOST).map_err(failed)?;
            (values, 1, error)
        }
    };
    let about = RanksAbout {
        measure: order.measure,
        of: order.of,
        nodes: u64::from(nodes),
        edges: lists.links(),
        rounds,
        error,
        made_ms: order.now_ms,
        took_ms: began.elapsed().as_millis() as u64,
        read,
    };
    Ranks::write(order.dir, about, ids.into_iter().zip(values))
}

/// Numbers of documents, found quickly.
struct Numbers {
    orders: Vec<u64>,
    /// Where each partition begins.
    parts: BTreeMap<u16, usize>,
}

impl Numbers {
    fn new(mut orders: Vec<u64>) -> Result<Self, GraphError> {
        orders.sort_unstable();
        if u32::try_from(orders.len()).is_err() {
            return Err(GraphError::TooLarge { nodes: orders.len() as u64 });
        }
        let mut parts = BTreeMap::new();
        for (n, order) in orders.iter().enumerate() {
            parts.entry(crate::source::doc_at(*order).part()).or_insert(n);
        }
        Ok(Numbers { orders, parts })
    }

    /// The number of a document. Those of a partition have no gaps as a rule, so that one look is
    /// enough.
    fn of(&self, doc: DocId) -> Option<u32> {
        let (order, first) = (order_of(doc), *self.parts.get(&doc.part())?);
        let guess = first as u64 + order.checked_sub(*self.orders.get(first)?)?;
        if self.orders.get(guess as usize) == Some(&order) {
            return Some(guess as u32);
        }
        self.orders.binary_search(&order).ok().map(|n| n as u32)
    }
}

/// Every URL that is known is a node.
fn pages(view: &View, store: &dyn Store, order: &RankOrder<'_>) -> Result<Web, GraphError> {
    let known = known(store, order.calm)?;
    let numbers = Numbers::new(known.iter().map(|(_, doc)| order_of(*doc)).collect())?;
    let failed = |e| io_error("rank", order.dir)(e);
    let mut out = vec![0u32; numbers.orders.len()];
    let mut lists = ListWriter::new(order.dir).map_err(failed)?;
    let mut sources: Vec<u32> = Vec::new();
    each_target(view, order.calm, known, |_, doc, merged| {
        sources.clear();
        merged.sources(|source| {
            if source.counts() {
                sources.extend(numbers.of(source.doc()));
            }
            Ok(())
        })?;
        let Some(target) = numbers.of(doc).filter(|_| !sources.is_empty()) else { return Ok(()) };
        sources.sort_unstable();
        sources.iter().for_each(|source| out[*source as usize] += 1);
        lists.add(target, &sources).map_err(failed)
    })?;
    let lists = lists.finish(order.calm).map_err(failed)?;
    Ok(Web { ids: numbers.orders, out, lists })
}

/// Every site with a host that is known is a node; links inside a site are none.
fn sites(
    view: &View,
    store: &dyn Store,
    pinned: &Suffixes,
    order: &RankOrder<'_>,
) -> Result<Web, GraphError> {
    let mut hosts: Vec<(HostKey, u64)> = Vec::new();
    let mut after = None;
    loop {
        let rows = store.scan_hosts(after, PIECE)?;
        let Some((last, _)) = rows.last() else { break };
        after = Some(*last);
        hosts.extend(rows.iter().map(|(key, row)| (*key, site_id(*key, &row.origin, pinned))));
    }
    let mut ids: Vec<u64> = hosts.iter().map(|(_, site)| *site).collect();
    ids.sort_unstable();
    ids.dedup();
    let number = |site: u64| ids.binary_search(&site).ok().map(|n| n as u32);
    let of_host: HashMap<HostKey, u32> =
        hosts.into_iter().filter_map(|(host, site)| Some((host, number(site)?))).collect();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut room = PAIRS;
    each_target(view, order.calm, known(store, order.calm)?, |key, _, merged| {
        let Some(target) = of_host.get(&key.host).copied() else { return merged.pass() };
        let mut last = None;
        merged.sources(|source| {
            if source.counts() && last.replace(source.site) != Some(source.site) {
                let source = number(source.site).filter(|source| *source != target);
                pairs.extend(source.map(|source| (target, source)));
            }
            Ok(())
        })?;
        if pairs.len() >= room {
            pairs.sort_unstable();
            pairs.dedup();
            room = PAIRS.max(2 * pairs.len());
        }
        Ok(())
    })?;
    pairs.sort_unstable();
    pairs.dedup();
    let failed = |e| io_error("rank", order.dir)(e);
    let mut out = vec![0u32; ids.len()];
    let mut lists = ListWriter::new(order.dir).map_err(failed)?;
    for list in pairs.chunk_by(|a, b| a.0 == b.0) {
        let sources: Vec<u32> = list.iter().map(|(_, source)| *source).collect();
        sources.iter().for_each(|source| out[*source as usize] += 1);
        lists.add(list[0].0, &sources).map_err(failed)?;
    }
    let lists = lists.finish(order.calm).map_err(failed)?;
    Ok(Web { ids, out, lists })
}

/// The number of a site: that of its partition, and the site in it.
pub(crate) fn site_id(host: HostKey, origin: &str, pinned: &Suffixes) -> u64 {
    u64::from(host.part) << 32 | u64::from(site_of(origin, pinned))
}

/// All URLs of the store, in the order of their keys.
fn known(store: &dyn Store, calm: bool) -> Result<Vec<(UrlKey, DocId)>, StoreError> {
    let mut breath = Breath::new(calm);
    let mut known: Vec<(UrlKey, DocId)> = Vec::new();
    loop {
        let rows = store.scan_urls(known.last().map(|(key, _)| *key), PIECE)?;
        if rows.is_empty() {
            return Ok(known);
        }
        known.extend(rows.iter().map(|(key, row)| (*key, row.doc)));
        breath.rest();
    }
}

/// Shows every known URL that is linked to; whoever is shown it reads its sources or passes it.
fn each_target(
    view: &View,
    calm: bool,
    known: Vec<(UrlKey, DocId)>,
    mut each: impl FnMut(UrlKey, DocId, &mut Merged) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let mut breath = Breath::new(calm);
    let mut merged = Merged::first(view.layers())?;
    let mut known = known.into_iter().peekable();
    let mut shown = 0;
    while let Some(target) = merged.target() {
        while known.next_if(|(key, _)| *key < target).is_some() {}
        match known.next_if(|(key, _)| *key == target) {
            Some((key, doc)) => each(key, doc, &mut merged)?,
            None => merged.pass()?,
        }
        shown += 1;
        if shown % PIECE == 0 {
            breath.rest();
        }
    }
    Ok(())
}
