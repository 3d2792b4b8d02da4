//! Several runs read as one: targets in order, of each the sources that still hold.
//!
//! Runs come oldest first, each with the set of its pages that newer runs have replaced. A
//! target that only one run knows, none of whose pages were replaced, is passed or copied
//! without looking at its sources.

use crate::error::GraphError;
use crate::run::{Cursor, Pages, Run, RunWriter};
use crate::source::{DocSet, Near, Source, doc_at};
use argiope_model::UrlKey;
use std::io::{self, Write};
use std::sync::Arc;

/// How often a URL is linked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counts {
    /// Distinct pages that link here.
    pub backlinks: u64,
    /// Distinct sites of those pages.
    pub sites: u64,
}

/// A run, and its pages that newer runs have replaced.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub run: Arc<Run>,
    pub dead: Arc<DocSet>,
}

struct Lane {
    cursor: Cursor,
    dead: Arc<DocSet>,
    near: Near,
    /// The next source of the target being read.
    head: Option<Source>,
}

impl Lane {
    /// The next source that still holds.
    fn step(&mut self) -> Result<(), GraphError> {
        loop {
            self.head = self.cursor.next_source()?;
            match self.head {
                Some(source) if self.dead.contains_near(source.doc(), &mut self.near) => {}
                _ => return Ok(()),
            }
        }
    }

    /// Passes the sources of a site, if it stands on them; says how many count.
    fn pass_site(&mut self, site: u64) -> Result<u64, GraphError> {
        let mut number = 0;
        while let Some(source) = self.head.filter(|source| source.site == site) {
            number += u64::from(source.counts());
            self.step()?;
        }
        Ok(number)
    }
}

/// Several runs read as one.
pub(crate) struct Merged {
    lanes: Vec<Lane>,
    /// The lanes that hold the target being read.
    same: Vec<usize>,
}

impl Merged {
    pub fn first(layers: &[Layer]) -> Result<Self, GraphError> {
        Self::open(layers, Cursor::first)
    }

    pub fn seek(layers: &[Layer], key: UrlKey) -> Result<Self, GraphError> {
        Self::open(layers, |run| Cursor::seek(run, key))
    }

    fn open(
        layers: &[Layer],
        open: impl Fn(Arc<Run>) -> Result<Cursor, GraphError>,
    ) -> Result<Self, GraphError> {
        let lane = |layer: &Layer| {
            let cursor = open(layer.run.clone())?;
            Ok(Lane { cursor, dead: layer.dead.clone(), near: Near::default(), head: None })
        };
        let lanes = layers.iter().map(lane).collect::<Result<Vec<Lane>, GraphError>>()?;
        Ok(Merged { lanes, same: Vec::new() })
    }

    /// The next target; what one does with it moves on.
    pub fn target(&mut self) -> Option<UrlKey> {
        self.same.clear();
        let mut least: Option<UrlKey> = None;
        for (n, lane) in self.lanes.iter().enumerate() {
            let Some(key) = lane.cursor.target() else { continue };
            match least {
                Some(least) if key > least => {}
                Some(least) if key == least => self.same.push(n),
                _ => {
                    least = Some(key);
                    self.same.clear();
                    self.same.push(n);
                }
            }
        }
        least
    }

    /// How often the target is linked to.
    pub fn counts(&mut self) -> Result<Counts, GraphError> {
        let mut out = Counts::default();
        if let [n] = self.same[..]
            && self.lanes[n].dead.is_empty()
        {
            (out.backlinks, out.sites) = self.lanes[n].cursor.pass()?;
            return Ok(out);
        }
        for &n in &self.same {
            self.lanes[n].step()?;
        }
        loop {
            let heads = self.same.iter().filter_map(|&n| self.lanes[n].head);
            let Some(site) = heads.map(|source| source.site).min() else { return Ok(out) };
            let mut of_site = 0;
            for &n in &self.same {
                of_site += self.lanes[n].pass_site(site)?;
            }
            out.backlinks += of_site;
            out.sites += u64::from(of_site > 0);
        }
    }

    /// Shows the sources of the target, in order.
    pub fn sources(
        &mut self,
        mut each: impl FnMut(Source) -> Result<(), GraphError>,
    ) -> Result<(), GraphError> {
        if let [n] = self.same[..] {
            let lane = &mut self.lanes[n];
            lane.step()?;
            while let Some(source) = lane.head {
                each(source)?;
                lane.step()?;
            }
            return Ok(());
        }
        for &n in &self.same {
            self.lanes[n].step()?;
        }
        loop {
            let heads = self.same.iter().filter_map(|&n| Some((self.lanes[n].head?, n)));
            let Some((source, n)) = heads.min() else { return Ok(()) };
            each(source)?;
            self.lanes[n].step()?;
        }
    }

    /// More than this the counts of the target cannot be; `None` where that is not known
    /// without looking.
    pub fn bound(&self) -> Option<Counts> {
        self.same.iter().try_fold(Counts::default(), |sum, &n| {
            let (backlinks, sites) = self.lanes[n].cursor.bound()?;
            Some(Counts { backlinks: sum.backlinks + backlinks, sites: sum.sites + sites })
        })
    }

    /// Passes the target by.
    pub fn pass(&mut self) -> Result<(), GraphError> {
        for &n in &self.same {
            self.lanes[n].cursor.pass()?;
        }
        Ok(())
    }

    fn copy_to<W: Write>(&mut self, key: UrlKey, out: &mut RunWriter<W>) -> Result<(), Failure> {
        if let [n] = self.same[..]
            && self.lanes[n].dead.is_empty()
        {
            return self.lanes[n].cursor.pass_pieces(|key, piece, list| {
                out.copy(key, piece, list).map_err(Failure::Write)
            });
        }
        let mut begun = false;
        let mut failed = None;
        let read = self.sources(|source| {
            let mut put = || {
                if !begun {
                    out.target(key)?;
                    begun = true;
                }
                out.source(source)
            };
            if failed.is_none() {
                failed = put().err();
            }
            Ok(())
        });
        read?;
        failed.map_or(Ok(()), |e| Err(Failure::Write(e)))
    }
}

/// Why a merge failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Read(GraphError),
    Write(io::Error),
}

impl From<GraphError> for Failure {
    fn from(e: GraphError) -> Self {
        Failure::Read(e)
    }
}

/// Writes several runs as one. `oldest`: no run is older, so that nothing needs to be said of
/// pages without links.
pub(crate) fn merge<W: Write>(
    layers: &[Layer],
    oldest: bool,
    out: &mut RunWriter<W>,
) -> Result<(), Failure> {
    let mut merged = Merged::first(layers)?;
    while let Some(key) = merged.target() {
        merged.copy_to(key, out)?;
    }
    for page in MergedPages::new(layers) {
        let (order, flags) = page?;
        if flags != 0 || !oldest {
            out.page(order, flags).map_err(Failure::Write)?;
        }
    }
    Ok(())
}

/// The pages of several runs, in order, each as the newest run has it.
pub(crate) struct MergedPages {
    lanes: Vec<(Pages, Arc<DocSet>, Near)>,
    heads: Vec<Option<(u64, u8)>>,
    begun: bool,
}

impl MergedPages {
    pub fn new(layers: &[Layer]) -> Self {
        Self::open(layers, Pages::first)
    }

    fn open(layers: &[Layer], open: impl Fn(Arc<Run>) -> Pages) -> Self {
        let lane = |l: &Layer| (open(l.run.clone()), l.dead.clone(), Near::default());
        let lanes = layers.iter().map(lane).collect();
        MergedPages { lanes, heads: vec![None; layers.len()], begun: false }
    }

    /// From a document on.
    pub fn from(layers: &[Layer], doc: argiope_model::DocId) -> Self {
        Self::open(layers, |run| Pages::from(run, doc))
    }

    fn step(&mut self, n: usize) -> Result<(), GraphError> {
        let (pages, dead, near) = &mut self.lanes[n];
        loop {
            self.heads[n] = pages.next().transpose()?;
            match self.heads[n] {
                Some((order, _)) if dead.contains_near(doc_at(order), near) => {}
                _ => return Ok(()),
            }
        }
    }

    fn read(&mut self) -> Result<Option<(u64, u8)>, GraphError> {
        if !self.begun {
            self.begun = true;
            (0..self.lanes.len()).try_for_each(|n| self.step(n))?;
        }
        let heads = self.heads.iter().enumerate();
        let Some(((order, flags), n)) = heads.filter_map(|(n, head)| Some(((*head)?, n))).min()
        else {
            return Ok(None);
        };
        self.step(n)?;
        Ok(Some((order, flags)))
    }
}

impl Iterator for MergedPages {
    type Item = Result<(u64, u8), GraphError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Adds to each layer the pages that a newer run has replaced.
pub(crate) fn bury(layers: &mut [Layer], newer: &Arc<Run>) -> Result<(), GraphError> {
    for layer in layers {
        let mut old = Pages::first(layer.run.clone());
        let mut new = Pages::first(newer.clone());
        let (mut a, mut b) = (old.next().transpose()?, new.next().transpose()?);
        let mut found: Option<DocSet> = None;
        while let (Some((x, _)), Some((y, _))) = (a, b) {
            if x == y {
                found.get_or_insert_with(|| (*layer.dead).clone()).insert(doc_at(x));
            }
            if x <= y {
                a = old.next().transpose()?;
            }
            if y <= x {
                b = new.next().transpose()?;
            }
        }
        if let Some(found) = found {
            layer.dead = Arc::new(found);
        }
    }
    Ok(())
}
