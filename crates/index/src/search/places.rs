//! Where the words of a query stand in the bodies of pages.
//!
//! Two want to know: the ranking, how near to each other and how early ([`Places`]); and the
//! snippets, which piece of a text to show ([`Stands`]). Both look at documents of one segment in
//! their order, so that every posting list is opened and read through once.

use super::plan::{Item, Plan};
use crate::query::Scope;
use crate::view::View;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Result};

/// Words whose places are looked at.
const MAX_WORDS: usize = 8;
/// Places of one word that are looked at.
const MAX_PLACES: usize = 256;

/// The words whose places in bodies are compared.
pub(super) fn near_items<'p>(plan: &'p Plan<'_>) -> Vec<&'p Item> {
    let placed =
        |item: &&Item| item.scope == Scope::Anywhere && !item.stop && !item.terms.is_empty();
    plan.items.iter().filter(placed).take(MAX_WORDS).collect()
}

/// The forms of a word that bodies may hold: itself, and its stem where that is a word.
fn forms(item: &Item) -> impl Iterator<Item = &str> {
    let first = &*item.terms[0].1;
    let stems = item.stems.iter().map(|stem| &**stem).filter(move |stem| *stem != first);
    std::iter::once(first).chain(stems)
}

/// Where the words of a query stand in the bodies of a segment.
pub(super) struct Places {
    /// Of each word, the lists of its forms.
    postings: Vec<Vec<SegmentPostings>>,
    found: Vec<Vec<u32>>,
}

impl Places {
    pub fn open(plan: &Plan<'_>, view: &View, segment: u32, words: &[&Item]) -> Result<Self> {
        let (body, option) = (view.fields.body, IndexRecordOption::WithFreqsAndPositions);
        let mut postings = Vec::with_capacity(words.len());
        for item in words {
            let mut lists = Vec::with_capacity(2);
            for form in forms(item) {
                lists.extend(plan.lookups.postings(segment, body, form, option)?);
            }
            postings.push(lists);
        }
        Ok(Places { found: vec![Vec::new(); words.len()], postings })
    }

    /// How near to each other and how early the words stand, both up to 1.
    pub fn look(&mut self, doc: u32, words: &[&Item]) -> (f32, f32) {
        let mut early = 0.0;
        for (lists, found) in self.postings.iter_mut().zip(&mut self.found) {
            found.clear();
            let mut any = 0;
            for postings in lists {
                if at(postings, doc) {
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

/// Whether a list holds a document; documents are asked for in their order.
fn at(postings: &mut SegmentPostings, doc: u32) -> bool {
    postings.doc() <= doc && postings.seek(doc) == doc
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
        if best == 0 {
            break;
        }
        if gap > 0 { a += 1 } else { b += 1 }
    }
    if best == i64::MAX { 0.0 } else { 1.0 / (1.0 + best as f32) }
}

/// A form of a word that stands in a text, and where.
#[derive(Debug)]
pub(crate) struct Stand {
    /// The word or phrase of the query, counted from 0.
    pub item: usize,
    /// The form, folded.
    pub word: String,
    /// All its places in the text, in order.
    pub places: Vec<u32>,
    /// Those of them that count: of a phrase, where it stands as a whole.
    pub chosen: Vec<u32>,
}

/// Where the words shown in a snippet stand.
pub(super) struct Stands<'p> {
    words: Vec<(usize, &'p str, SegmentPostings)>,
    /// The rest of what was typed as one: distances and words.
    rest: Vec<(usize, u32, SegmentPostings)>,
    /// Other forms, whose places nobody knows.
    loose: Vec<SegmentPostings>,
}

impl<'p> Stands<'p> {
    pub fn open(plan: &'p Plan<'_>, view: &View, segment: u32, items: &[&'p Item]) -> Result<Self> {
        let (body, loose) = (view.fields.body, view.fields.loose);
        let option = IndexRecordOption::WithFreqsAndPositions;
        let mut out = Stands { words: Vec::new(), rest: Vec::new(), loose: Vec::new() };
        for (n, item) in items.iter().enumerate() {
            for form in forms(item).chain(item.whole.as_deref()) {
                let list = plan.lookups.postings(segment, body, form, option)?;
                out.words.extend(list.map(|list| (n, form, list)));
            }
            for (offset, word) in item.terms.iter().skip(1) {
                let list = plan.lookups.postings(segment, body, word, option)?;
                out.rest.extend(list.map(|list| (n, *offset, list)));
            }
            for stem in &item.stems {
                let basic = IndexRecordOption::Basic;
                out.loose.extend(plan.lookups.postings(segment, loose, stem, basic)?);
            }
        }
        Ok(out)
    }

    /// Where they stand in a document, and whether other forms of them do.
    pub fn look(&mut self, doc: u32) -> (Vec<Stand>, bool) {
        let mut out: Vec<Stand> = Vec::new();
        for (item, word, list) in &mut self.words {
            if at(list, doc) {
                let mut places = Vec::new();
                list.append_positions_with_offset(0, &mut places);
                let chosen = places.iter().copied().take(MAX_PLACES).collect();
                out.push(Stand { item: *item, word: (*word).to_owned(), places, chosen });
            }
        }
        for (item, offset, list) in &mut self.rest {
            let Some(first) = out.iter_mut().find(|stand| stand.item == *item) else { continue };
            let mut others = Vec::new();
            if at(list, doc) {
                list.append_positions_with_offset(0, &mut others);
            }
            let whole = |place: &u32| others.binary_search(&(place + *offset)).is_ok();
            let together: Vec<u32> = first.chosen.iter().copied().filter(whole).collect();
            if !together.is_empty() {
                first.chosen = together;
            }
        }
        let loose = out.is_empty() && self.loose.iter_mut().any(|list| at(list, doc));
        (out, loose)
    }
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
