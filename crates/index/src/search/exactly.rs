//! Pages whose title, or one of whose headings, is the query and nothing else, or that others call so.
//!
//! Both ends of a title, of every heading and of the words of every link are marked in the index, so
//! that a query is the whole of one where its words stand at their distances between the two marks. Marks are everywhere:
//! the words are looked for first, the rarest before the others.

use super::collect::Found;
use super::plan::Plan;
use super::weights::CLOSELY;
use crate::analyse::{BEGIN, END};
use crate::view::View;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::EnableScoring;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, Result, TERMINATED};

/// Pages that may be added.
const MOST: usize = 20;
/// Pages of a segment that may hold the rarest word of a heading that is looked for everywhere.
const RARE: u32 = 256;

pub(super) struct Exactly {
    /// Words and marks with their distances from the first mark; the rarest first.
    lists: Vec<(u32, SegmentPostings)>,
    norms: Option<FieldNormReader>,
    /// How many words a title has that may be the query.
    lengths: std::ops::RangeInclusive<u32>,
    places: Vec<u32>,
    others: Vec<u32>,
}

impl Exactly {
    /// Nothing where the query is no such thing, or the segment has none.
    pub fn open(
        view: &View,
        plan: &Plan<'_>,
        segment: u32,
        field: Field,
    ) -> Result<Option<Exactly>> {
        let Some(whole) = &plan.whole else { return Ok(None) };
        let words = whole.terms.iter().map(|(at, word)| (*at as u32 + 1, &**word));
        for (_, word) in words.clone() {
            if !plan.lookups.holds(segment, field, word)? {
                return Ok(None);
            }
        }
        let marks = [(0, BEGIN), (whole.places as u32 + 1, END)];
        let mut lists = Vec::with_capacity(whole.terms.len() + 2);
        for (at, word) in words.chain(marks) {
            let option = IndexRecordOption::WithFreqsAndPositions;
            match plan.lookups.postings(segment, field, word, option)? {
                Some(list) => lists.push((at, list)),
                None => return Ok(None),
            }
        }
        lists.sort_by_key(|(_, list)| list.doc_freq());
        // A title is one; a page has many headings. A word may stand there in three ways.
        let reader = view.searcher.segment_reader(segment);
        let places = u32::try_from(whole.places).unwrap_or(u32::MAX / 4);
        let (norms, lengths) = if field == view.fields.title {
            (
                reader.fieldnorms_readers().get_field(field)?,
                whole.terms.len() as u32..=3 * places + 2,
            )
        } else {
            (None, 0..=0)
        };
        Ok(Some(Exactly { lists, norms, lengths, places: Vec::new(), others: Vec::new() }))
    }

    /// Whether a document is such a page; documents are asked for in their order.
    pub fn is(&mut self, doc: u32) -> bool {
        if let Some(norms) = &self.norms
            && !self.lengths.contains(&norms.fieldnorm(doc))
        {
            return false;
        }
        for (_, list) in &mut self.lists {
            if list.doc() > doc || list.seek(doc) != doc {
                return false;
            }
        }
        self.together()
    }

    /// The next document that is such a page, from one on.
    pub fn next(&mut self, from: u32) -> u32 {
        let mut doc = from;
        loop {
            let first = &mut self.lists[0].1;
            doc = if first.doc() < doc { first.seek(doc) } else { first.doc() };
            if doc == TERMINATED || self.is(doc) {
                return doc;
            }
            doc += 1;
        }
    }

    /// Whether the words stand as they do in the query, in the document all lists are at.
    fn together(&mut self) -> bool {
        for (n, (at, list)) in self.lists.iter_mut().enumerate() {
            self.others.clear();
            list.append_positions_with_offset(0, &mut self.others);
            let begins = self.others.iter().filter_map(|place| place.checked_sub(*at));
            if n == 0 {
                self.places.clear();
                self.places.extend(begins);
            } else {
                let begins: Vec<u32> = begins.collect();
                self.places.retain(|place| begins.binary_search(place).is_ok());
            }
            if self.places.is_empty() {
                return false;
            }
        }
        true
    }
}

/// Adds the pages whose title, or a heading or link of rare words, is the query, where their words alone did not bring them among the
/// best: they match, so they are counted already.
pub(super) fn add(view: &View, plan: &Plan<'_>, links: bool, found: &mut Vec<Found>) -> Result<()> {
    if plan.whole.is_none() || found.len() < CLOSELY {
        return Ok(());
    }
    let mut added: Vec<DocAddress> = Vec::new();
    for ord in 0..view.searcher.segment_readers().len() as u32 {
        let fields = [view.fields.title, view.fields.headings, view.fields.links];
        for field in &fields[..if links { 3 } else { 2 }] {
            let Some(mut names) = Exactly::open(view, plan, ord, *field)? else { continue };
            // Headings and links are many, and nothing but their words tells them apart.
            if *field != view.fields.title && names.lists[0].1.doc_freq() > RARE {
                continue;
            }
            let mut doc = names.next(0);
            while doc != TERMINATED && added.len() < MOST {
                let address = DocAddress::new(ord, doc);
                let known = found.iter().map(|one| &one.address).chain(&added);
                if !known.into_iter().any(|known| *known == address) {
                    added.push(address);
                }
                doc = names.next(doc + 1);
            }
        }
    }
    let scoring = || EnableScoring::enabled_from_searcher(&view.searcher);
    for address in added {
        let segment = view.searcher.segment_reader(address.segment_ord);
        let mut scorer = plan.strict.weight(scoring())?.scorer(segment, 1.0)?;
        let doc = address.doc_id;
        if !segment.is_deleted(doc) && scorer.doc() <= doc && scorer.seek(doc) == doc {
            found.insert(0, Found::new(address, scorer.score()));
        }
    }
    Ok(())
}
