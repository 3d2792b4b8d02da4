//! A word in all the fields it may stand in, as one query.
//!
//! BM25F: what a word counts in each field is added up, weighted and set against the field's
//! length, before it saturates. A page that holds a word in its title and in its text is not
//! found twice, and a word and its other forms share one rarity.

use super::weights::{EXACT, K1};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Result, Score, SegmentReader, TERMINATED, TantivyError, Term};

/// A word in one field.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub term: Term,
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

#[derive(Clone, Debug)]
pub(crate) struct WordQuery {
    pub parts: Vec<Part>,
}

impl Query for WordQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        let mut weight = WordWeight { parts: Vec::new(), idf: 1.0, scoring: false };
        let EnableScoring::Enabled { searcher, statistics_provider: known } = scoring else {
            weight.parts = self.parts.iter().map(|part| (part.clone(), Vec::new())).collect();
            return Ok(Box::new(weight));
        };
        weight.scoring = true;
        let documents = known.total_num_docs()?.max(1);
        let (mut single, mut forms) = (0, 0);
        let mut averages: Vec<(Field, f32)> = Vec::new();
        for part in &self.parts {
            let count = searcher.doc_freq(&part.term)?;
            if count == 0 {
                continue;
            }
            match part.role {
                Role::Form => forms += count,
                _ => single = count.max(single),
            }
            let average = match averages.iter().find(|(field, _)| *field == part.norm) {
                Some((_, average)) => *average,
                None => {
                    let average = known.total_num_tokens(part.norm)? as f32 / documents as f32;
                    averages.push((part.norm, average));
                    average
                }
            };
            let average = average.max(1.0);
            let inverse = |id: u8| {
                let length = FieldNormReader::id_to_fieldnorm(id) as f32;
                part.weight / (1.0 - part.b + part.b * length / average)
            };
            weight.parts.push((part.clone(), (0..=255).map(inverse).collect()));
        }
        let count = forms.max(single).min(documents) as f32;
        weight.idf = (1.0 + (documents as f32 - count + 0.5) / (count + 0.5)).ln();
        Ok(Box::new(weight))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.parts.iter().for_each(|part| visitor(&part.term, false));
    }
}

struct WordWeight {
    /// With what one occurrence counts, by the length of the field.
    parts: Vec<(Part, Vec<f32>)>,
    idf: f32,
    scoring: bool,
}

impl Weight for WordWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        let mut lists: Vec<List> = Vec::new();
        for (part, table) in &self.parts {
            let index = reader.inverted_index(part.term.field())?;
            let Some(info) = index.get_term_info(&part.term)? else { continue };
            let (option, norms) = if self.scoring {
                let norms = reader.fieldnorms_readers().get_field(part.norm)?;
                let norms = norms.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1));
                (IndexRecordOption::WithFreqs, norms)
            } else {
                (IndexRecordOption::Basic, FieldNormReader::constant(reader.max_doc(), 1))
            };
            let postings = index.read_postings_from_terminfo(&info, option)?;
            let mut counts = [0.0; 256];
            counts.iter_mut().zip(table).for_each(|(to, from)| *to = *from);
            let (role, steps) = (part.role, part.steps);
            lists.push(List { postings, norms, role, steps, counts: Box::new(counts) });
        }
        if lists.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer = WordScorer { lists, weight: boost * self.idf * (1.0 + K1), doc: 0 };
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

struct List {
    postings: SegmentPostings,
    norms: FieldNormReader,
    role: Role,
    steps: bool,
    counts: Box<[f32; 256]>,
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
                let often = list.postings.term_freq();
                let often = match list.steps {
                    true => STEPS[(often as usize).min(STEPS.len() - 1)],
                    false => often as f32,
                };
                let count = often * list.counts[length];
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
