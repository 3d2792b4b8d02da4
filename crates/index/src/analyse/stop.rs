//! The stop list: words that are everywhere and say nothing.

use super::fold::folded;

/// The words that are left out of bodies unless the settings say otherwise.
pub const DEFAULT_STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// The stop words of an index, folded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StopList {
    /// By the first byte: most words are told by theirs, and a list is short.
    words: Vec<Vec<Box<str>>>,
}

impl StopList {
    pub fn new<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Self {
        let mut list = StopList { words: vec![Vec::new(); 256] };
        for word in words {
            let word = folded(word.as_ref().trim());
            if let Some(&first) = word.as_bytes().first() {
                let same = &mut list.words[usize::from(first)];
                if !same.iter().any(|known| **known == *word) {
                    same.push(word.into());
                }
            }
        }
        list.words.iter_mut().for_each(|same| same.sort());
        list
    }

    #[inline]
    pub fn holds(&self, folded: &str) -> bool {
        let Some(first) = folded.as_bytes().first() else { return false };
        let same = self.words.get(usize::from(*first));
        same.is_some_and(|same| same.iter().any(|word| **word == *folded))
    }

    /// All of them, sorted.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().flatten().map(|word| &**word)
    }
}
