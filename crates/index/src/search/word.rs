//! A word in all the fields it may stand in, as one query.
//!
//! BM25F: what a word counts in each field is added up, weighted and set against the field's
//! length, before it saturates. A page that holds a word in its title and in its text is not
//! found twice, and a word and its other forms share one rarity.

use super::lookups::{Infos, documents};
use super::weights::{EXACT, K1};
use crate::view::View;
use std::sync::Arc;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{
    Bm25StatisticsProvider, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Result, Score, SegmentReader, TERMINATED, TantivyError};

/// A word in one field, where some segment holds it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub field: Field,
    pub infos: Infos,
    /// What it counts there.
    pub weight: f32,
    /// The field whose length it is set against, and how much that matters.
    pub norm: Field,
    pub b: f32,
    pub role: Role,
    /// Occurrences are told at the 1st, 2nd, 4th … only.
    pub steps: bool,
}

/// What occurrences that were told in steps stand for.
const STEPS: [f32; 8] = [0.0, 1.0, 2.4, 5.0, 10.0, 20.0, 40.0, 80.0];

/// What a part says of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It stands beside the text: in the title, a heading, a link.
    Beside,
    /// It stands in the text, in this form.
    Exact,
    /// It stands in the text, in any form: this part knows some of them.
    Form,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WordQuery {
    /// With what the length of its field makes of an occurrence.
    parts: Arc<[(Part, Arc<[f32; 256]>)]>,
    idf: f32,
    segments: Arc<[SegmentId]>,
}

impl WordQuery {
    pub fn new(view: &View, parts: Vec<Part>) -> Result<Self> {
        let (mut single, mut forms) = (0, 0);
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            let count = documents(&part.infos);
            match part.role {
                Role::Form => forms += count,
                _ => single = count.max(single),
            }
            let lengths = lengths(view, part.norm, part.b)?;
            all.push((part, lengths));
        }
        let documents = view.searcher.total_num_docs()?.max(1);
        let count = forms.max(single).min(documents) as f32;
        let idf = (1.0 + (documents as f32 - count + 0.5) / (count + 0.5)).ln();
        Ok(WordQuery { parts: all.into(), idf, segments: view.known.segments.clone() })
    }

    /// What it counts at the most.
    pub(super) fn weight(&self) -> f32 {
        self.idf * (1.0 + K1)
    }

    /// Its lists in a segment.
    pub(super) fn lists(&self, reader: &SegmentReader, scoring: bool) -> Result<Vec<List>> {
        let id = reader.segment_id();
        let ord = self.segments.iter().position(|segment| *segment == id);
        let other = || TantivyError::InvalidArgument("a segment of another view".to_owned());
        let ord = ord.ok_or_else(other)?;
        let mut lists: Vec<List> = Vec::with_capacity(self.parts.len());
        for (part, lengths) in self.parts.iter() {
            let Some(info) = &part.infos[ord] else { continue };
            let index = reader.inverted_index(part.field)?;
            let (option, norms) = if scoring {
                let norms = reader.fieldnorms_readers().get_field(part.norm)?;
                let norms = norms.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1));
                (IndexRecordOption::WithFreqs, norms)
            } else {
                (IndexRecordOption::Basic, FieldNormReader::constant(reader.max_doc(), 1))
            };
            let postings = index.read_postings_from_terminfo(info, option)?;
            let (role, steps, weight) = (part.role, part.steps, part.weight);
            lists.push(List { postings, norms, role, steps, weight, lengths: lengths.clone() });
        }
        Ok(lists)
    }

    /// Whether no document holds it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// What the lengths of a field make of an occurrence in it; the same for all words of a view.
fn lengths(view: &View, field: Field, b: f32) -> Result<Arc<[f32; 256]>> {
    let known = &view.known.lengths[field.field_id() as usize];
    if let Some(lengths) = known.get() {
        return Ok(lengths.clone());
    }
    let documents = view.searcher.total_num_docs()?.max(1);
    let average = view.searcher.total_num_tokens(field)? as f32 / documents as f32;
    let average = average.max(1.0);
    let inverse = |id: usize| {
        let length = FieldNormReader::id_to_fieldnorm(id as u8) as f32;
        1.0 / (1.0 - b + b * length / average)
    };
    Ok(known.get_or_init(|| Arc::new(std::array::from_fn(inverse))).clone())
}

impl Query for WordQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        let scoring = matches!(scoring, EnableScoring::Enabled { .. });
        Ok(Box::new(WordWeight { word: self.clone(), scoring }))
    }
}

struct WordWeight {
    word: WordQuery,
    scoring: bool,
}

impl Weight for WordWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        let lists = self.word.lists(reader, self.scoring)?;
        if lists.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer = WordScorer { lists, weight: boost * self.word.weight(), doc: 0 };
        scorer.settle();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("the word in its fields", scorer.score()))
    }
}

/// A part in a segment.
pub(super) struct List {
    pub postings: SegmentPostings,
    pub norms: FieldNormReader,
    pub role: Role,
    pub steps: bool,
    pub weight: f32,
    pub lengths: Arc<[f32; 256]>,
}

/// What the occurrences that a list tells stand for.
#[inline]
pub(super) fn occurrences(steps: bool, often: u32) -> f32 {
    match steps {
        true => STEPS[(often as usize).min(STEPS.len() - 1)],
        false => often as f32,
    }
}

struct WordScorer {
    lists: Vec<List>,
    weight: f32,
    doc: DocId,
}

impl WordScorer {
    #[inline]
    fn settle(&mut self) -> DocId {
        let first = self.lists.iter().map(|list| list.postings.doc()).min();
        self.doc = first.unwrap_or(TERMINATED);
        self.doc
    }
}

impl DocSet for WordScorer {
    #[inline]
    fn advance(&mut self) -> DocId {
        let doc = self.doc;
        if doc == TERMINATED {
            return doc;
        }
        let mut next = TERMINATED;
        for list in &mut self.lists {
            let mut at = list.postings.doc();
            if at == doc {
                at = list.postings.advance();
            }
            next = next.min(at);
        }
        self.doc = next;
        next
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        for list in &mut self.lists {
            if list.postings.doc() < target {
                list.postings.seek(target);
            }
        }
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.lists.iter().map(|list| list.postings.doc_freq()).max().unwrap_or(0)
    }

    fn cost(&self) -> u64 {
        self.lists.iter().map(|list| u64::from(list.postings.doc_freq())).sum()
    }
}

impl Scorer for WordScorer {
    #[inline]
    fn score(&mut self) -> Score {
        let (mut beside, mut exact, mut forms) = (0.0, 0.0, 0.0);
        for list in &self.lists {
            if list.postings.doc() == self.doc {
                let length = usize::from(list.norms.fieldnorm_id(self.doc));
                let often = occurrences(list.steps, list.postings.term_freq());
                let count = often * list.weight * list.lengths[length];
                match list.role {
                    Role::Beside => beside += count,
                    Role::Exact => exact += count,
                    Role::Form => forms += count,
                }
            }
        }
        // A word in this form is also a word in any form, where the page's language is known.
        let counts = beside + forms.max(exact) + EXACT * exact;
        self.weight * counts / (K1 + counts)
    }
}
