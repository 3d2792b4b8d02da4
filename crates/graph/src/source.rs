//! Sources: who links, and sets of them.
//!
//! Sources are sorted by partition, site, running number: the pages of one site stand together,
//! so that linking sites are counted in passing and the steps between numbers are small.

use argiope_model::DocId;
use std::collections::HashMap;

/// The link counts as a back-link: a reader can follow it.
pub(crate) const COUNTS: u8 = 1;
/// The link asks not to be followed.
pub(crate) const NOFOLLOW: u8 = 2;

/// The page's latest visit ended broken.
pub(crate) const BROKEN: u8 = 1;
/// The page holds references that cannot be read.
pub(crate) const MALFORMED: u8 = 2;
/// The page has links.
pub(crate) const LINKS: u8 = 4;

/// A page that links to some target, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source {
    /// `part << 32 | site`
    pub site: u64,
    /// `running << 2 | flags`
    rest: u64,
}

impl Source {
    pub fn new(site: u64, running: u64, flags: u8) -> Self {
        Source { site, rest: running << 2 | u64::from(flags) }
    }

    pub fn doc(self) -> DocId {
        DocId::new(self.running(), (self.site >> 32) as u16 & 0xfff)
    }

    pub fn running(self) -> u64 {
        self.rest >> 2
    }

    pub fn flags(self) -> u8 {
        (self.rest & 3) as u8
    }

    pub fn counts(self) -> bool {
        self.rest & u64::from(COUNTS) != 0
    }
}

/// Where a document stands among the sources of a run: partition first.
pub(crate) fn order_of(doc: DocId) -> u64 {
    u64::from(doc.part()) << 40 | doc.running()
}

/// The document at a place.
pub(crate) fn doc_at(order: u64) -> DocId {
    DocId::new(order & ((1 << 40) - 1), (order >> 40) as u16 & 0xfff)
}

/// A set of documents, in pieces of 512 neighbours.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocSet {
    pieces: HashMap<u64, [u64; 8]>,
    number: u64,
}

/// Where in a set a document was looked for last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Near {
    piece: Option<u64>,
    words: [u64; 8],
}

impl DocSet {
    pub fn insert(&mut self, doc: DocId) {
        let (piece, word, bit) = Self::place(doc);
        let word = &mut self.pieces.entry(piece).or_default()[word];
        self.number += u64::from(*word & bit == 0);
        *word |= bit;
    }

    #[cfg(test)]
    pub fn contains(&self, doc: DocId) -> bool {
        self.contains_near(doc, &mut Near::default())
    }

    /// Whether it holds a document; `near` remembers where the last one was looked for, since
    /// the next is most often close to it.
    #[inline]
    pub fn contains_near(&self, doc: DocId, near: &mut Near) -> bool {
        if self.pieces.is_empty() {
            return false;
        }
        let (piece, word, bit) = Self::place(doc);
        if near.piece != Some(piece) {
            near.piece = Some(piece);
            near.words = self.pieces.get(&piece).copied().unwrap_or_default();
        }
        near.words[word] & bit != 0
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.number
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    fn place(doc: DocId) -> (u64, usize, u64) {
        let order = order_of(doc);
        (order >> 9, (order >> 6 & 7) as usize, 1 << (order & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it_and_nothing_else() {
        let mut set = DocSet::default();
        let doc = |n, part| DocId::new(n, part);
        assert!(set.is_empty() && !set.contains(doc(0, 0)));
        for d in [doc(0, 0), doc(511, 1), doc(512, 1), doc((1 << 40) - 1, 4095)] {
            set.insert(d);
            assert!(set.contains(d));
            assert_eq!(doc_at(order_of(d)), d);
        }
        set.insert(doc(0, 0));
        assert_eq!(set.len(), 4);
        assert!(!set.contains(doc(1, 0)) && !set.contains(doc(512, 2)) && !set.contains(doc(0, 1)));
    }

    #[test]
    fn a_source_keeps_its_parts() {
        let s = Source::new(17 << 32 | 0xffff_ffff, (1 << 40) - 1, COUNTS | NOFOLLOW);
        assert_eq!(s.doc(), DocId::new((1 << 40) - 1, 17));
        assert_eq!((s.flags(), s.counts()), (3, true));
        assert!(s < Source::new(18 << 32, 0, 0));
    }
}
