//! A closer look at the best: what the words alone do not tell.
//!
//! Each extra is a share of what the words gave, so that a score is the sum of its parts and
//! none of them can lift a page that hardly holds the words.

use super::collect::Found;
use super::plan::{Item, Plan, Whole};
use super::weights::{BACKLINKS, CLOSELY, EARLY, FRESH, NEAR, WHOLE_HEADING, WHOLE_TITLE};
use crate::analyse::{BEGIN, END};
use crate::query::Scope;
use crate::schema::NO_SNIPPET;
use crate::view::{Columns, View};
use argiope_model::{DocId, Location, Time};
use tantivy::columnar::{Column, StrColumn};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhraseQuery, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption, Value};
use tantivy::{DocAddress, DocSet, Result, SeekDangerResult, SegmentReader, TantivyDocument, Term};

/// Words whose places are looked at.
const MAX_WORDS: usize = 8;
/// Places of one word that are looked at.
const MAX_PLACES: usize = 256;
/// After so long a page is half as new.
const HALF_LIFE_MS: f32 = 30.0 * 86_400_000.0;

/// Scores the best anew and sorts them; those after them stay behind.
pub(crate) fn closely(view: &View, plan: &Plan, found: &mut [Found], now: Time) -> Result<()> {
    let count = found.len().min(CLOSELY);
    let close = &mut found[..count];
    let words: Vec<&Item> = near_items(plan);
    let titles = plan.whole.as_ref().map(|whole| whole_of(view, whole, view.fields.title));
    let headings = plan.whole.as_ref().map(|whole| whole_of(view, whole, view.fields.headings));
    let titles = titles.transpose()?.flatten();
    let headings = headings.transpose()?.flatten();
    let mut order: Vec<usize> = (0..close.len()).collect();
    order.sort_unstable_by_key(|n| close[*n].address);
    let mut at = 0;
    while at < order.len() {
        let ord = close[order[at]].address.segment_ord;
        let segment = view.searcher.segment_reader(ord);
        let mut places = Places::open(view, segment, &words)?;
        let mut titles = titles.as_deref().map(|weight| Exactly::new(weight, segment));
        let mut headings = headings.as_deref().map(|weight| Exactly::new(weight, segment));
        let backlinks = segment.fast_fields().u64("backlinks")?;
        let changed = segment.fast_fields().i64("changed")?;
        while at < order.len() && close[order[at]].address.segment_ord == ord {
            let one = &mut close[order[at]];
            at += 1;
            let doc = one.address.doc_id;
            let mut extra = |name, share: f32| {
                if share > 0.0 {
                    one.extras.push((name, share * one.words));
                }
            };
            if !words.is_empty() {
                let (near, early) = places.look(doc, &words);
                extra("the words are near each other", NEAR * near);
                extra("the words stand early", EARLY * early);
            }
            if let Some(titles) = &mut titles {
                extra("the title is the query", WHOLE_TITLE * titles.is(doc)?);
            }
            if let Some(headings) = &mut headings {
                extra("a heading is the query", WHOLE_HEADING * headings.is(doc)?);
            }
            let linked = backlinks.first(doc).unwrap_or(0) as f32;
            extra("pages link to it", BACKLINKS * (1.0 + linked).ln());
            if plan.fresh {
                let age = (now.0 - changed.first(doc).unwrap_or(0)).max(0) as f32;
                extra("it changed lately", FRESH * 0.5f32.powf(age / HALF_LIFE_MS));
            }
            one.score = one.words + one.extras.iter().map(|(_, amount)| amount).sum::<f32>();
        }
    }
    close.sort_by(|a, b| {
        (a.partial.cmp(&b.partial))
            .then_with(|| b.score.total_cmp(&a.score))
            .then_with(|| a.address.cmp(&b.address))
    });
    Ok(())
}

/// The words whose places in bodies are compared.
fn near_items(plan: &Plan) -> Vec<&Item> {
    let placed =
        |item: &&Item| item.scope == Scope::Anywhere && !item.stop && !item.terms.is_empty();
    plan.items.iter().filter(placed).take(MAX_WORDS).collect()
}

/// Pages whose title, or one of whose headings, is the query.
fn whole_of(view: &View, whole: &Whole, field: Field) -> Result<Option<Box<dyn Weight>>> {
    let term = |text: &str| Term::from_field_text(field, text);
    let mut terms = vec![(0, term(BEGIN))];
    terms.extend(whole.terms.iter().map(|(at, word)| (at + 1, term(word))));
    terms.push((whole.places + 1, term(END)));
    let scoring = EnableScoring::disabled_from_searcher(&view.searcher);
    PhraseQuery::new_with_offset(terms).weight(scoring).map(Some)
}

/// Asks document by document, in their order.
struct Exactly<'a> {
    weight: &'a dyn Weight,
    segment: &'a SegmentReader,
    scorer: Option<Box<dyn Scorer>>,
    /// No document before this one is it.
    bound: u32,
}

impl<'a> Exactly<'a> {
    fn new(weight: &'a dyn Weight, segment: &'a SegmentReader) -> Self {
        Exactly { weight, segment, scorer: None, bound: 0 }
    }

    fn is(&mut self, doc: u32) -> Result<f32> {
        if doc < self.bound {
            return Ok(0.0);
        }
        let result = match &mut self.scorer {
            Some(scorer) => scorer.seek_danger(doc),
            None => {
                let (result, scorer) = self.weight.scorer_danger(self.segment, doc, 1.0)?;
                self.scorer = Some(scorer);
                result
            }
        };
        Ok(match result {
            SeekDangerResult::Found => 1.0,
            SeekDangerResult::SeekLowerBound(bound) => {
                self.bound = bound;
                0.0
            }
        })
    }
}

/// Where the words of a query stand in bodies.
struct Places {
    /// Of each word: itself, and its stem where that is a word.
    postings: Vec<Vec<SegmentPostings>>,
    found: Vec<Vec<u32>>,
}

impl Places {
    fn open(view: &View, segment: &SegmentReader, words: &[&Item]) -> Result<Self> {
        let index = segment.inverted_index(view.fields.body)?;
        let mut postings = Vec::with_capacity(words.len());
        for item in words {
            let mut forms: Vec<&str> = vec![&item.terms[0].1];
            forms.extend(item.stems.iter().map(|stem| &**stem).filter(|s| *s != item.terms[0].1));
            let mut lists = Vec::with_capacity(forms.len());
            for form in forms {
                let term = Term::from_field_text(view.fields.body, form);
                let option = IndexRecordOption::WithFreqsAndPositions;
                lists.extend(index.read_postings(&term, option)?);
            }
            postings.push(lists);
        }
        Ok(Places { found: vec![Vec::new(); words.len()], postings })
    }

    /// How near to each other and how early the words stand, both up to 1.
    fn look(&mut self, doc: u32, words: &[&Item]) -> (f32, f32) {
        let mut early = 0.0;
        for (lists, found) in self.postings.iter_mut().zip(&mut self.found) {
            found.clear();
            let mut any = 0;
            for postings in lists {
                if postings.doc() <= doc && postings.seek(doc) == doc {
                    postings.append_positions_with_offset(0, found);
                    any += 1;
                }
            }
            if any > 1 {
                found.sort_unstable();
            }
            found.truncate(MAX_PLACES);
            if let Some(first) = found.first() {
                early += 1.0 / (1.0 + *first as f32 / 50.0);
            }
        }
        early /= words.len() as f32;
        let mut near = 0.0;
        for n in 1..words.len() {
            let apart = words[n].position as i64 - words[n - 1].position as i64;
            near += closeness(&self.found[n - 1], &self.found[n], apart);
        }
        if words.len() > 1 {
            near /= (words.len() - 1) as f32;
        }
        (near, early)
    }
}

/// 1 when two words stand as far apart as in the query, in its order; less the further.
fn closeness(first: &[u32], second: &[u32], apart: i64) -> f32 {
    let mut best = i64::MAX;
    let (mut a, mut b) = (0, 0);
    while let (Some(&x), Some(&y)) = (first.get(a), second.get(b)) {
        let gap = i64::from(y) - i64::from(x);
        // The other way round is never as good as in order.
        let off = if gap >= 0 { (gap - apart).abs() } else { -gap + 1 };
        best = best.min(off);
        if gap > 0 { a += 1 } else { b += 1 }
    }
    if best == i64::MAX { 0.0 } else { 1.0 / (1.0 + best as f32) }
}

/// What a score is made of; the parts add up to it.
pub(crate) fn parts(view: &View, plan: &Plan, found: &Found) -> Result<Vec<(String, f32)>> {
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

impl View {
    /// Where the words of a query stand in the body of a document, word by word.
    pub(super) fn places(&self, plan: &Plan, at: DocAddress) -> Result<Vec<Vec<u32>>> {
        let words = near_items(plan);
        let segment = self.searcher.segment_reader(at.segment_ord);
        let mut places = Places::open(self, segment, &words)?;
        places.look(at.doc_id, &words);
        Ok(places.found)
    }
}

/// What of a document is shown and compared.
pub(crate) struct Looks {
    columns: Columns,
    sketch: Column<u64>,
    flags: Column<u64>,
    fetched: Column<i64>,
    changed: Column<i64>,
    site: Option<StrColumn>,
    language: Option<StrColumn>,
}

/// The looks of all segments, each opened when it is first asked for.
pub(crate) struct AllLooks<'v> {
    view: &'v View,
    opened: Vec<Option<Looks>>,
}

impl<'v> AllLooks<'v> {
    pub fn new(view: &'v View) -> Self {
        let mut opened = Vec::new();
        opened.resize_with(view.searcher.segment_readers().len(), || None);
        AllLooks { view, opened }
    }

    pub fn of(&mut self, segment: u32) -> Result<&Looks> {
        match &mut self.opened[segment as usize] {
            Some(looks) => Ok(looks),
            none => Ok(none.insert(Looks::open(self.view.searcher.segment_reader(segment))?)),
        }
    }
}

impl Looks {
    fn open(segment: &SegmentReader) -> Result<Self> {
        let fast = segment.fast_fields();
        Ok(Looks {
            columns: Columns::open(segment)?,
            sketch: fast.u64("sketch")?,
            flags: fast.u64("flags")?,
            fetched: fast.i64("fetched")?,
            changed: fast.i64("changed")?,
            site: fast.str("site")?,
            language: fast.str("language")?,
        })
    }

    pub fn doc(&self, doc: u32) -> DocId {
        self.columns.doc(doc)
    }

    pub fn location(&self, doc: u32) -> Location {
        self.columns.location(doc)
    }

    pub fn sketch(&self, doc: u32) -> u64 {
        self.sketch.first(doc).unwrap_or(0)
    }

    pub fn no_snippet(&self, doc: u32) -> bool {
        self.flags.first(doc).unwrap_or(0) & NO_SNIPPET != 0
    }

    pub fn fetched(&self, doc: u32) -> Time {
        Time(self.fetched.first(doc).unwrap_or(0))
    }

    pub fn changed(&self, doc: u32) -> Time {
        Time(self.changed.first(doc).unwrap_or(0))
    }

    pub fn site(&self, doc: u32) -> String {
        text(&self.site, doc).unwrap_or_default()
    }

    pub fn language(&self, doc: u32) -> Option<String> {
        text(&self.language, doc)
    }
}

fn text(column: &Option<StrColumn>, doc: u32) -> Option<String> {
    let column = column.as_ref()?;
    let ord = column.term_ords(doc).next()?;
    let mut out = String::new();
    column.ord_to_str(ord, &mut out).ok()?;
    Some(out)
}

pub(crate) fn stored_url(document: &TantivyDocument, field: Field) -> String {
    let url = document.get_first(field).and_then(|value| value.as_str());
    url.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::closeness;

    #[test]
    fn words_in_order_and_side_by_side_are_nearest() {
        assert_eq!(closeness(&[5], &[6], 1), 1.0);
        assert_eq!(closeness(&[1, 50], &[20, 51], 1), 1.0);
        assert_eq!(closeness(&[5], &[7], 2), 1.0, "a stop word between them");
        assert!(closeness(&[5], &[6], 1) > closeness(&[5], &[8], 1));
        assert!(closeness(&[5], &[6], 1) > closeness(&[6], &[5], 1));
        assert!(closeness(&[6], &[5], 1) > closeness(&[5], &[60], 1));
        assert_eq!(closeness(&[], &[5], 1), 0.0);
    }
}
