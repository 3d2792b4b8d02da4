//! The stop list: words that are everywhere and say nothing.

use super::fold::folded;
use super::hash::quick_hash;
use std::collections::BTreeSet;

/// The words that are left out of bodies unless the settings say otherwise.
pub const DEFAULT_STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// The stop words of an index, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StopList {
    words: BTreeSet<Box<str>>,
    /// Their hashes, each at its place or after it; 0 = free. One look tells of most words that
    /// they are none.
    table: Vec<u64>,
}

impl StopList {
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        let folded = words.into_iter().map(|word| folded(word.as_ref().trim()).into_boxed_str());
        let words: BTreeSet<Box<str>> = folded.filter(|word| !word.is_empty()).collect();
        let mut table = vec![0; (words.len() * 8).next_power_of_two()];
        for word in &words {
            let hash = quick_hash(word);
            let mut at = hash as usize & (table.len() - 1);
            while table[at] != 0 {
                at = (at + 1) & (table.len() - 1);
            }
            table[at] = hash;
        }
        StopList { words, table }
    }

    /// Whether a folded word is one of them.
    pub fn holds(&self, folded: &str) -> bool {
        self.words.contains(folded)
    }

    /// The same by the word's hash, quickly.
    #[inline]
    pub fn holds_hash(&self, hash: u64) -> bool {
        if self.words.is_empty() {
            return false;
        }
        let mask = self.table.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.table[at] {
                0 => return false,
                known if known == hash => return true,
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// All of them, sorted.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_told_by_their_hashes_too() {
        let list = StopList::new(DEFAULT_STOP_WORDS);
        for word in DEFAULT_STOP_WORDS {
            assert!(list.holds(word) && list.holds_hash(quick_hash(word)), "{word}");
        }
        for word in ["", "spider", "Th", "isn"] {
            assert!(!list.holds(word) && !list.holds_hash(quick_hash(word)), "{word}");
        }
        assert!(!StopList::new::<&str>([]).holds_hash(7));
    }
}
