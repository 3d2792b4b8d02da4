//! What pages must not hold.
//!
//! tantivy asks for the documents to leave out one after the other, also for such as it has passed
//! already, which its phrases do not expect: builds with assertions stop there. Everything that is
//! left out goes through here and is asked for what lies ahead only.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Result, Score, SegmentReader};

#[derive(Debug)]
pub(super) struct Apart(pub Box<dyn Query>);

impl Clone for Apart {
    fn clone(&self) -> Self {
        Apart(self.0.box_clone())
    }
}

impl Query for Apart {
    fn weight(&self, scoring: EnableScoring<'_>) -> Result<Box<dyn Weight>> {
        Ok(Box::new(ApartWeight(self.0.weight(scoring)?)))
    }
}

struct ApartWeight(Box<dyn Weight>);

impl Weight for ApartWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(ApartScorer(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> Result<Explanation> {
        self.0.explain(reader, doc)
    }
}

struct ApartScorer(Box<dyn Scorer>);

impl DocSet for ApartScorer {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.0.doc() >= target { self.0.doc() } else { self.0.seek(target) }
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for ApartScorer {
    fn score(&mut self) -> Score {
        self.0.score()
    }
}
