//! A closer look at the best: what the words alone do not tell.
//!
//! Each extra is a share of what the words gave, so that a score is the sum of its parts and
//! none of them can lift a page that hardly holds the words.

use super::collect::Found;
use super::exactly::Exactly;
use super::places::{Places, near_items};
use super::plan::{Item, Plan};
use super::weights::{
    BACKLINKS, CLOSELY, EARLY, FRESH, NEAR, RANK, WHOLE_HEADING, WHOLE_LINK, WHOLE_TITLE,
};
use crate::links::Links;
use crate::view::View;
use argiope_model::Time;
use tantivy::query::EnableScoring;
use tantivy::schema::{Field, Value};
use tantivy::{DocSet, Result, TantivyDocument};

/// After so long a page is half as new.
const HALF_LIFE_MS: f32 = 30.0 * 86_400_000.0;
/// Pages whose words' places are looked at together.
const BATCH: usize = 16;

/// The best of what was found while it is looked at closely.
///
/// What is quickly told is told of all; the places of the words, which cost most, only as far as
/// they can still change which pages come first.
pub(crate) struct Closely<'s, 'v> {
    view: &'s View,
    plan: &'s Plan<'v>,
    words: Vec<&'s Item>,
    close: Vec<Found>,
    /// Those of them whose words' places are known.
    looked: usize,
    rest: Vec<Found>,
}

impl<'s, 'v> Closely<'s, 'v> {
    pub fn new(
        view: &'s View,
        plan: &'s Plan<'v>,
        mut found: Vec<Found>,
        links: Option<&dyn Links>,
        now: Time,
    ) -> Result<Self> {
        let rest = found.split_off(found.len().min(CLOSELY));
        let mut close = found;
        if let Some(links) = links {
            rank(view, links, &mut close)?;
        }
        each_segment(&mut close, |ord, ones| {
            let mut titles = Exactly::open(view, plan, ord, view.fields.title)?;
            let mut headings = Exactly::open(view, plan, ord, view.fields.headings)?;
            let mut called = match links {
                Some(_) => Exactly::open(view, plan, ord, view.fields.links)?,
                None => None,
            };
            let looks = view.looks(ord)?;
            for one in ones {
                let doc = one.address.doc_id;
                let mut extra = |name, share: f32| {
                    if share > 0.0 {
                        one.extras.push((name, share * one.words));
                    }
                };
                if titles.as_mut().is_some_and(|titles| titles.is(doc)) {
                    extra("the title is the query", WHOLE_TITLE);
                }
                if headings.as_mut().is_some_and(|headings| headings.is(doc)) {
                    extra("a heading is the query", WHOLE_HEADING);
                }
                if called.as_mut().is_some_and(|called| called.is(doc)) {
                    extra("others call it so", WHOLE_LINK);
                }
                if links.is_some() {
                    let linked = looks.backlinks(doc) as f32;
                    extra("pages link to it", BACKLINKS * (1.0 + linked).ln());
                }
                if plan.fresh {
                    let age = (now.0 - looks.changed(doc).0).max(0) as f32;
                    extra("it changed lately", FRESH * 0.5f32.powf(age / HALF_LIFE_MS));
                }
                one.score = one.words + one.extras.iter().map(|(_, amount)| amount).sum::<f32>();
            }
            Ok(())
        })?;
        let words = near_items(plan);
        let looked = if words.is_empty() { close.len() } else { 0 };
        close.sort_by(|a, b| best_first(a, b, bound(a), bound(b)));
        if looked > 0 {
            close.sort_by(|a, b| best_first(a, b, a.score, b.score));
        }
        Ok(Closely { view, plan, words, close, looked, rest })
    }

    /// Makes sure that the first `wanted` are the best and in their order.
    pub fn settle(&mut self, wanted: usize) -> Result<()> {
        while self.looked < self.close.len() {
            if let Some(last) = wanted.checked_sub(1).filter(|last| *last < self.looked) {
                let (known, next) = (&self.close[last], &self.close[self.looked]);
                if best_first(known, next, known.score, bound(next)).is_lt() {
                    break;
                }
            }
            let end = (self.looked + BATCH).min(self.close.len());
            let (view, plan, words) = (self.view, self.plan, &self.words);
            each_segment(&mut self.close[self.looked..end], |ord, ones| {
                let mut places = Places::open(plan, view, ord, words)?;
                for one in ones {
                    let (near, early) = places.look(one.address.doc_id, words);
                    let shares = [
                        ("the words are near each other", NEAR * near),
                        ("the words stand early", EARLY * early),
                    ];
                    for (name, share) in shares.into_iter().filter(|(_, share)| *share > 0.0) {
                        one.extras.push((name, share * one.words));
                        one.score += share * one.words;
                    }
                }
                Ok(())
            })?;
            self.close[..end].sort_by(|a, b| best_first(a, b, a.score, b.score));
            self.looked = end;
        }
        Ok(())
    }

    /// Everything, as far as it is settled the best first.
    pub fn all(&self) -> impl Iterator<Item = &Found> {
        self.close.iter().chain(&self.rest)
    }

    /// How many are settled at the most.
    pub fn settles(&self) -> usize {
        self.close.len()
    }
}

/// Adds what the rank of each page is worth, where it is known.
fn rank(view: &View, links: &dyn Links, close: &mut [Found]) -> Result<()> {
    let mut docs = Vec::with_capacity(close.len());
    for one in &*close {
        docs.push(view.looks(one.address.segment_ord)?.doc(one.address.doc_id));
    }
    for (one, rank) in close.iter_mut().zip(links.ranks(&docs)) {
        if let Some(rank) = rank {
            let share = RANK * (1.0 + rank as f32).ln();
            one.extras.push(("its rank among all pages", share * one.words));
        }
    }
    Ok(())
}

/// What a page's score may still become.
fn bound(one: &Found) -> f32 {
    one.score + (NEAR + EARLY) * one.words
}

fn best_first(a: &Found, b: &Found, a_score: f32, b_score: f32) -> std::cmp::Ordering {
    (a.partial.cmp(&b.partial))
        .then_with(|| b_score.total_cmp(&a_score))
        .then_with(|| a.address.cmp(&b.address))
}

/// Shows pages segment by segment, in the order of the index.
fn each_segment(
    found: &mut [Found],
    mut each: impl FnMut(u32, &mut [Found]) -> Result<()>,
) -> Result<()> {
    found.sort_unstable_by_key(|one| one.address);
    for ones in found.chunk_by_mut(|a, b| a.address.segment_ord == b.address.segment_ord) {
        each(ones[0].address.segment_ord, ones)?;
    }
    Ok(())
}

/// What a score is made of; the parts add up to it.
pub(crate) fn parts(view: &View, plan: &Plan<'_>, found: &Found) -> Result<Vec<(String, f32)>> {
    let mut out = Vec::new();
    let segment = view.searcher.segment_reader(found.address.segment_ord);
    let mut told = 0.0;
    for item in &plan.items {
        let scoring = EnableScoring::enabled_from_searcher(&view.searcher);
        let mut scorer = item.query.weight(scoring)?.scorer(segment, 1.0)?;
        let doc = found.address.doc_id;
        if scorer.doc() <= doc && scorer.seek(doc) == doc {
            let score = scorer.score();
            told += score;
            out.push((item.name.clone(), score));
        }
    }
    let rest = found.words - told;
    if rest.abs() > 0.001 * found.words.abs() {
        out.push(("pieces of the words".to_owned(), rest));
    }
    out.extend(found.extras.iter().map(|(name, amount)| ((*name).to_owned(), *amount)));
    Ok(out)
}

pub(crate) fn stored_url(document: &TantivyDocument, field: Field) -> String {
    let url = document.get_first(field).and_then(|value| value.as_str());
    url.unwrap_or_default().to_owned()
}
