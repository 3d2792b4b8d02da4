//! Pages with some of several words, or with one word: read list by list.
//!
//! Where every page of every list is wanted, going from page to page and asking each list whether it
//! is there costs more than the lists themselves. Here a stretch of documents is taken at a time, each
//! list is read through it, and what words count is added up beside one another; the scores are those
//! of [`WordQuery`], to the order in which numbers are added.

use super::weights::{EXACT, K1};
use super::word::{List, Role, WordQuery, occurrences};
use tantivy::postings::Postings;
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Result, Score, SegmentReader, TERMINATED, TantivyError};

/// Documents of a stretch.
const STRETCH: usize = 1024;
const WORDS: usize = STRETCH / 64;

/// Words of which one is enough, with what each counts.
#[derive(Clone, Debug)]
pub(crate) struct SomeQuery {
    pub words: Vec<(WordQuery, f32)>,
}

impl Query for SomeQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        let scoring = matches!(scoring, EnableScoring::Enabled { .. });
        Ok(Box::new(SomeWeight { query: self.clone(), scoring }))
    }
}

struct SomeWeight {
    query: SomeQuery,
    scoring: bool,
}

impl Weight for SomeWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        let mut words = Vec::with_capacity(self.query.words.len());
        for (word, share) in &self.query.words {
            let lists = word.lists(reader, self.scoring)?;
            if !lists.is_empty() {
                words.push((lists, word.weight() * share * boost));
            }
        }
        if words.is_empty() {
            return Ok(Box::new(EmptyScorer));
        }
        let mut scorer = SomeScorer {
            words,
            base: 0,
            bits: [0; WORDS],
            next: WORDS,
            counts: Box::new([[0.0; STRETCH]; 3]),
            totals: Box::new([0.0; STRETCH]),
            doc: 0,
            score: 0.0,
        };
        scorer.advance();
        Ok(Box::new(scorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("some of the words", scorer.score()))
    }
}

struct SomeScorer {
    words: Vec<(Vec<List>, f32)>,
    /// The first document of the stretch.
    base: DocId,
    /// The documents of the stretch that are still to come.
    bits: [u64; WORDS],
    next: usize,
    /// What the word at hand counts, by its role.
    counts: Box<[[f32; STRETCH]; 3]>,
    /// What all words count.
    totals: Box<[f32; STRETCH]>,
    doc: DocId,
    score: f32,
}

impl SomeScorer {
    /// Reads the next stretch that has a document; whether there is one.
    fn read(&mut self) -> bool {
        let lists = self.words.iter().flat_map(|(lists, _)| lists);
        let first = lists.map(|list| list.postings.doc()).min().unwrap_or(TERMINATED);
        if first == TERMINATED {
            return false;
        }
        (self.base, self.next) = (first, 0);
        let end = first + STRETCH as u32;
        for (lists, weight) in &mut self.words {
            let mut held = [0u64; WORDS];
            for list in lists {
                let counts = &mut self.counts[list.role as usize];
                let mut doc = list.postings.doc();
                while doc < end {
                    let at = (doc - first) as usize;
                    let length = usize::from(list.norms.fieldnorm_id(doc));
                    let often = occurrences(list.steps, list.postings.term_freq());
                    counts[at] += often * list.weight * list.lengths[length];
                    held[at / 64] |= 1 << (at % 64);
                    doc = list.postings.advance();
                }
            }
            for (n, held) in held.into_iter().enumerate() {
                self.bits[n] |= held;
                let mut left = held;
                while left != 0 {
                    let at = n * 64 + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let mut take = |role: Role| std::mem::take(&mut self.counts[role as usize][at]);
                    let (beside, exact, forms) =
                        (take(Role::Beside), take(Role::Exact), take(Role::Form));
                    // As in a word alone.
                    let counts = beside + forms.max(exact) + EXACT * exact;
                    self.totals[at] += *weight * counts / (K1 + counts);
                }
            }
        }
        true
    }
}

impl DocSet for SomeScorer {
    fn advance(&mut self) -> DocId {
        loop {
            while self.next < WORDS {
                let bits = &mut self.bits[self.next];
                if *bits != 0 {
                    let at = self.next * 64 + bits.trailing_zeros() as usize;
                    *bits &= *bits - 1;
                    self.score = std::mem::take(&mut self.totals[at]);
                    self.doc = self.base + at as u32;
                    return self.doc;
                }
                self.next += 1;
            }
            if !self.read() {
                self.doc = TERMINATED;
                return TERMINATED;
            }
        }
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target >= self.base.saturating_add(STRETCH as u32) && self.doc < target {
            // What lies between is not read at all.
            self.bits = [0; WORDS];
            self.totals.fill(0.0);
            self.next = WORDS;
            for list in self.words.iter_mut().flat_map(|(lists, _)| lists) {
                if list.postings.doc() < target {
                    list.postings.seek(target);
                }
            }
            return self.advance();
        }
        while self.doc < target {
            self.advance();
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let lists = self.words.iter().flat_map(|(lists, _)| lists);
        lists.map(|list| list.postings.doc_freq()).max().unwrap_or(0)
    }

    fn cost(&self) -> u64 {
        let lists = self.words.iter().flat_map(|(lists, _)| lists);
        lists.map(|list| u64::from(list.postings.doc_freq())).sum()
    }
}

impl Scorer for SomeScorer {
    fn score(&mut self) -> Score {
        self.score
    }
}
