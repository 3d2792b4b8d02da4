//! Words that begin so, or are spelled nearly so: many words of the dictionary as one query.
//!
//! tantivy has such queries; they read every word of the range before they answer. This one looks
//! at the clock meanwhile, and what it has by then is the answer, marked as cut short.

use crate::spelling::Near;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation};
use tantivy::query::{FuzzyTermQuery, Query, Scorer, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::termdict::TermStreamer;
use tantivy::{DocId, DocSet, Result, Score, SegmentReader, TERMINATED, TantivyError, Term};
use tantivy_fst::Automaton;

/// What each document counts that holds such a word.
const SCORE: Score = 0.5;
/// Words between two looks at the clock.
const TICK: usize = 64;

/// The clock of a search.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    deadline: Instant,
    over: Arc<AtomicBool>,
}

impl Clock {
    pub fn new(deadline: Instant) -> Self {
        Clock { deadline, over: Arc::default() }
    }

    /// Whether something was cut short.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn ticks(&self) -> bool {
        let goes_on = !self.is_over() && Instant::now() <= self.deadline;
        if !goes_on {
            self.over.store(true, Ordering::Relaxed);
        }
        goes_on
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Like {
    Prefix,
    /// With so many letters wrong at the most.
    Near(u8),
}

/// All words in a field that are like one.
#[derive(Clone, Debug)]
pub(crate) struct WideQuery {
    pub field: Field,
    pub text: String,
    pub like: Like,
    pub clock: Clock,
}

impl Query for WideQuery {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        Ok(Box::new(WideWeight { query: self.clone() }))
    }
}

struct WideWeight {
    query: WideQuery,
}

impl Weight for WideWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        let WideQuery { field, text, like, clock } = &self.query;
        let index = reader.inverted_index(*field)?;
        let mut found = Documents::new(reader.max_doc());
        let mut add = |info: &tantivy::postings::TermInfo| -> Result<()> {
            let option = IndexRecordOption::Basic;
            found.add(index.read_block_postings_from_terminfo(info, option)?);
            Ok(())
        };
        match like {
            Like::Prefix => {
                let end = format!("{text}{}", char::MAX);
                let words = index.terms().range().ge(text).lt(&end).into_stream()?;
                each(words, clock, &mut add)?;
            }
            Like::Near(distance) => match Near::to(text, usize::from(*distance)) {
                Some(near) => each(index.terms().search(&near).into_stream()?, clock, &mut add)?,
                None => {
                    let term = Term::from_field_text(*field, text);
                    let near = FuzzyTermQuery::new(term, *distance, true).automaton()?;
                    each(index.terms().search(&near).into_stream()?, clock, &mut add)?;
                }
            },
        }
        match found.first() {
            true => Ok(Box::new(ConstScorer::new(found, SCORE * boost))),
            false => Ok(Box::new(EmptyScorer)),
        }
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> Result<Explanation> {
        let mut scorer = self.scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("a word like it", SCORE))
    }
}

fn each<A: Automaton>(
    mut words: TermStreamer<'_, A>,
    clock: &Clock,
    mut add: impl FnMut(&tantivy::postings::TermInfo) -> Result<()>,
) -> Result<()>
where
    A::State: Clone,
{
    let mut seen = 0;
    while words.advance() {
        if seen % TICK == 0 && !clock.ticks() {
            break;
        }
        seen += 1;
        add(words.value())?;
    }
    Ok(())
}

/// A set of documents.
struct Documents {
    bits: Vec<u64>,
    count: u32,
    doc: DocId,
}

impl Documents {
    fn new(documents: u32) -> Self {
        let bits = vec![0; documents as usize / 64 + 1];
        Documents { bits, count: 0, doc: 0 }
    }

    fn add(&mut self, mut postings: BlockSegmentPostings) {
        while postings.block_len() > 0 {
            for doc in postings.docs() {
                let (word, bit) = (&mut self.bits[*doc as usize / 64], 1 << (doc % 64));
                self.count += u32::from(*word & bit == 0);
                *word |= bit;
            }
            postings.advance();
        }
    }

    /// Goes to the first; whether there is one.
    fn first(&mut self) -> bool {
        self.doc = self.from(0);
        self.doc != TERMINATED
    }

    /// The first from one on.
    fn from(&self, doc: DocId) -> DocId {
        let at = doc as usize / 64;
        let Some(word) = self.bits.get(at) else { return TERMINATED };
        let rest = word & (u64::MAX << (doc % 64));
        let later = || (at + 1..self.bits.len()).map(|n| (n, self.bits[n]));
        let mut words = std::iter::once((at, rest)).chain(later());
        let found = words.find(|(_, word)| *word != 0);
        found.map_or(TERMINATED, |(n, word)| n as u32 * 64 + word.trailing_zeros())
    }
}

impl DocSet for Documents {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.doc = self.from(self.doc + 1);
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            self.doc = if target == TERMINATED { TERMINATED } else { self.from(target) };
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.count
    }
}
