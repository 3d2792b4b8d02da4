//! The words of a page, counted, and what is known of words in general.

use super::Word;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Different words of a page that count: its first ones.
const MOST_WORDS: usize = 400;
/// Words of a page that are looked at.
const MOST_READ: usize = 4000;
/// Different words that are remembered.
const MOST_KNOWN: usize = 400_000;

/// The different words of a page in ascending order, each with how much it stands out there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bag {
    pub words: Vec<(Word, f32)>,
}

impl Bag {
    /// The words of a text, given in their order.
    pub fn of(text: &[Word]) -> Self {
        let mut counts: HashMap<Word, u32> = HashMap::new();
        for word in text.iter().take(MOST_READ) {
            if counts.len() < MOST_WORDS || counts.contains_key(word) {
                *counts.entry(*word).or_default() += 1;
            }
        }
        let weight = |(word, count)| (word, 1.0 + (count as f32).ln());
        let mut words: Vec<(Word, f32)> = counts.into_iter().map(weight).collect();
        words.sort_unstable_by_key(|(word, _)| *word);
        Bag { words }
    }
}

/// On how many pages a word was met.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Known {
    pub pages: u32,
    counts: HashMap<Word, u32>,
}

impl Known {
    /// A page was read.
    pub fn add(&mut self, bag: &Bag) {
        self.pages += 1;
        if self.counts.len() + bag.words.len() > MOST_KNOWN {
            self.counts.retain(|_, count| *count > 1);
        }
        let room = self.counts.len() + bag.words.len() <= MOST_KNOWN;
        for (word, _) in &bag.words {
            match self.counts.get_mut(word) {
                Some(count) => *count += 1,
                None if room => {
                    self.counts.insert(*word, 1);
                }
                None => {}
            }
        }
    }

    /// Whether a word was met.
    pub fn has(&self, word: Word) -> bool {
        self.counts.contains_key(&word)
    }

    /// How much a word tells: the rarer, the more.
    pub fn rarity(&self, word: Word) -> f32 {
        let count = self.counts.get(&word).copied().unwrap_or(0) as f32;
        let pages = self.pages as f32;
        // A crawl that goes well meets the wanted words on most pages: they must not come to nothing.
        (0.3 + (pages + 2.0) / (count + 1.0)).ln().max(0.02)
    }
}

/// A direction in the space of words; its length is 1.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Direction {
    weights: HashMap<Word, f32>,
}

impl Direction {
    /// The `most` heaviest of the given weights that are above zero.
    pub fn of(weights: HashMap<Word, f32>, most: usize) -> Self {
        let mut kept: Vec<(Word, f32)> = weights.into_iter().filter(|(_, w)| *w > 0.0).collect();
        kept.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        kept.truncate(most);
        let length = kept.iter().map(|(_, w)| w * w).sum::<f32>().sqrt().max(1e-9);
        Direction { weights: kept.into_iter().map(|(word, w)| (word, w / length)).collect() }
    }

    /// The weight of a word.
    pub fn weight(&self, word: Word) -> f32 {
        self.weights.get(&word).copied().unwrap_or(0.0)
    }

    /// How much a page points there, 0 to 1.
    pub fn likeness(&self, bag: &Bag, known: &Known) -> f32 {
        let (mut along, mut length) = (0.0, 0.0);
        for (word, count) in &bag.words {
            let weight = count * known.rarity(*word);
            length += weight * weight;
            along += weight * self.weights.get(word).copied().unwrap_or(0.0);
        }
        if along > 0.0 { along / length.sqrt() } else { 0.0 }
    }
}
