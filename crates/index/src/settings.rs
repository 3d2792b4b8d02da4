//! What decides about an index.

use crate::analyse::DEFAULT_STOP_WORDS;

/// How an index is made and how much it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that pages on their way and words not yet written may take; at least
    /// [`Settings::MIN_MEMORY`].
    pub memory: u64,
    /// Words that are left out of bodies. An index with other stop words must be made again.
    pub stop_words: Vec<String>,
    /// The language whose rules stem the words of pages of which none is known; empty = none.
    pub language: String,
}

impl Settings {
    /// The least memory that it works with.
    pub const MIN_MEMORY: u64 = 20 << 20;
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            memory: 64 << 20,
            stop_words: DEFAULT_STOP_WORDS.iter().map(|word| (*word).to_owned()).collect(),
            language: "en".to_owned(),
        }
    }
}
