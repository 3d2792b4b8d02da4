//! Every matching document, counted; the best of them, kept.

use super::Facets;
use crate::query::year_of;
use crate::view::View;
use argiope_model::Time;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::time::Instant;
use tantivy::columnar::{Column, StrColumn};
use tantivy::query::{EmptyQuery, EnableScoring, Query};
use tantivy::{DocAddress, DocSet, Result, SegmentReader, TERMINATED};

/// Documents between two looks at the clock.
const TICK: u64 = 1024;
/// Values of a facet that are told.
const MOST: usize = 50;

pub(crate) struct Wanted {
    pub keep: usize,
    pub by_date: bool,
    pub facets: bool,
    pub deadline: Instant,
}

/// A document found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub address: DocAddress,
    /// What it is ordered by.
    pub score: f32,
    /// What its words alone gave.
    pub words: f32,
    pub partial: bool,
    /// What was added to that.
    pub extras: Vec<(&'static str, f32)>,
    /// Pages that were left out for it.
    pub alike: Vec<DocAddress>,
}

impl Found {
    pub fn new(address: DocAddress, score: f32) -> Self {
        let (extras, alike) = (Vec::new(), Vec::new());
        Found { address, score, words: score, partial: false, extras, alike }
    }
}

#[derive(Default)]
pub(crate) struct Collected {
    pub total: u64,
    /// Best first.
    pub found: Vec<Found>,
    pub timed_out: bool,
    pub facets: Facets,
}

/// Greater is better; what is equal in score comes in the order of the index.
#[derive(Clone, Copy, PartialEq)]
struct Key(f64, f32, DocAddress);

impl Eq for Key {}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then_with(|| other.2.cmp(&self.2))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

pub(crate) fn collect(view: &View, query: &dyn Query, wanted: &Wanted) -> Result<Collected> {
    if query.is::<EmptyQuery>() {
        return Ok(Collected::default());
    }
    let weight = query.weight(EnableScoring::enabled_from_searcher(&view.searcher))?;
    let mut out = Collected::default();
    // The worst of the best is on top.
    let mut best: BinaryHeap<std::cmp::Reverse<Key>> = BinaryHeap::new();
    let mut spread = Spread::default();
    'segments: for (ord, segment) in view.searcher.segment_readers().iter().enumerate() {
        let mut scorer = weight.scorer(segment, 1.0)?;
        let alive = segment.alive_bitset();
        let changed = wanted.by_date.then(|| segment.fast_fields().i64("changed")).transpose()?;
        let mut facets = wanted.facets.then(|| SegmentSpread::open(segment)).transpose()?;
        let mut doc = scorer.doc();
        let mut seen = 0u64;
        while doc != TERMINATED {
            seen += 1;
            if seen.is_multiple_of(TICK) && Instant::now() > wanted.deadline {
                out.timed_out = true;
                break 'segments;
            }
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                out.total += 1;
                let score = scorer.score();
                let order = match &changed {
                    Some(changed) => changed.first(doc).unwrap_or(0) as f64,
                    None => f64::from(score),
                };
                let better =
                    best.len() < wanted.keep || best.peek().is_some_and(|worst| order > worst.0.0);
                if better {
                    let address = DocAddress::new(ord as u32, doc);
                    best.push(std::cmp::Reverse(Key(order, score, address)));
                    if best.len() > wanted.keep {
                        best.pop();
                    }
                }
                if let Some(facets) = &mut facets {
                    facets.count(doc);
                }
            }
            doc = scorer.advance();
        }
        if let Some(facets) = facets {
            facets.add_to(&mut spread)?;
        }
    }
    let mut keys: Vec<Key> = best.into_iter().map(|key| key.0).collect();
    keys.sort_unstable_by(|a, b| b.cmp(a));
    out.found = keys.into_iter().map(|Key(_, score, address)| Found::new(address, score)).collect();
    out.facets = spread.finish();
    Ok(out)
}

#[derive(Default)]
struct Spread {
    sites: HashMap<String, u64>,
    languages: HashMap<String, u64>,
    years: HashMap<String, u64>,
}

impl Spread {
    fn finish(self) -> Facets {
        let sorted = |counts: HashMap<String, u64>| {
            let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
            counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            counts.truncate(MOST);
            counts
        };
        Facets {
            sites: sorted(self.sites),
            languages: sorted(self.languages),
            years: sorted(self.years),
        }
    }
}

struct SegmentSpread {
    site: Option<StrColumn>,
    language: Option<StrColumn>,
    changed: Column<i64>,
    sites: HashMap<u64, u64>,
    languages: HashMap<u64, u64>,
    /// By day: years are told from it once per day and not once per page.
    days: HashMap<i64, u64>,
}

const DAY: i64 = 86_400_000;

impl SegmentSpread {
    fn open(segment: &SegmentReader) -> Result<Self> {
        let fast = segment.fast_fields();
        Ok(SegmentSpread {
            site: fast.str("site")?,
            language: fast.str("language")?,
            changed: fast.i64("changed")?,
            sites: HashMap::new(),
            languages: HashMap::new(),
            days: HashMap::new(),
        })
    }

    fn count(&mut self, doc: tantivy::DocId) {
        let first = |column: &Option<StrColumn>| column.as_ref()?.term_ords(doc).next();
        if let Some(site) = first(&self.site) {
            *self.sites.entry(site).or_default() += 1;
        }
        if let Some(language) = first(&self.language) {
            *self.languages.entry(language).or_default() += 1;
        }
        let day = self.changed.first(doc).unwrap_or(0).div_euclid(DAY);
        *self.days.entry(day).or_default() += 1;
    }

    fn add_to(self, spread: &mut Spread) -> Result<()> {
        let mut text = String::new();
        for (column, counts, out) in [
            (&self.site, self.sites, &mut spread.sites),
            (&self.language, self.languages, &mut spread.languages),
        ] {
            let Some(column) = column else { continue };
            for (ord, count) in counts {
                text.clear();
                column.ord_to_str(ord, &mut text)?;
                *out.entry(text.clone()).or_default() += count;
            }
        }
        for (day, count) in self.days {
            let year = year_of(Time(day * DAY)).to_string();
            *spread.years.entry(year).or_default() += count;
        }
        Ok(())
    }
}
