//! The words of one search, looked up in the dictionaries once.
//!
//! A search asks for a word several times: how rare it is, where its pages are, where it stands in
//! them. Each dictionary of each segment is asked when the word is first wanted; most searches for
//! what is not there end with that.

use crate::view::View;
use std::cell::RefCell;
use std::sync::Arc;
use tantivy::postings::{SegmentPostings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Result, Term};

/// What each segment knows of a word in a field.
pub(crate) type Infos = Arc<[Option<TermInfo>]>;

pub(crate) struct Lookups<'v> {
    view: &'v View,
    known: RefCell<Vec<(Field, String, Infos)>>,
}

impl<'v> Lookups<'v> {
    pub fn new(view: &'v View) -> Self {
        Lookups { view, known: RefCell::default() }
    }

    /// What the segments know of a word; nothing where none of them holds it.
    pub fn of(&self, field: Field, word: &str) -> Result<Option<Infos>> {
        let some = |infos: &Infos| (!infos.is_empty()).then(|| infos.clone());
        let known = self.known.borrow();
        if let Some((.., infos)) = known.iter().find(|(f, w, _)| *f == field && w == word) {
            return Ok(some(infos));
        }
        drop(known);
        let term = Term::from_field_text(field, word);
        let mut infos = Vec::with_capacity(self.view.searcher.segment_readers().len());
        for segment in self.view.searcher.segment_readers() {
            infos.push(segment.inverted_index(field)?.get_term_info(&term)?);
        }
        if infos.iter().all(Option::is_none) {
            infos.clear();
        }
        let infos: Infos = infos.into();
        self.known.borrow_mut().push((field, word.to_owned(), infos.clone()));
        Ok(some(&infos))
    }

    /// In how many documents a word stands in a field, deleted ones included.
    pub fn documents(&self, field: Field, word: &str) -> Result<u64> {
        Ok(self.of(field, word)?.as_deref().map_or(0, documents))
    }

    /// Whether a segment holds a word.
    pub fn holds(&self, segment: u32, field: Field, word: &str) -> Result<bool> {
        Ok(self.of(field, word)?.is_some_and(|infos| infos[segment as usize].is_some()))
    }

    /// The postings of a word in a segment.
    pub fn postings(
        &self,
        segment: u32,
        field: Field,
        word: &str,
        option: IndexRecordOption,
    ) -> Result<Option<SegmentPostings>> {
        let Some(infos) = self.of(field, word)? else { return Ok(None) };
        let Some(info) = &infos[segment as usize] else { return Ok(None) };
        let index = self.view.searcher.segment_reader(segment).inverted_index(field)?;
        Ok(Some(index.read_postings_from_terminfo(info, option)?))
    }
}

pub(super) fn documents(infos: &[Option<TermInfo>]) -> u64 {
    infos.iter().flatten().map(|info| u64::from(info.doc_freq)).sum()
}
