//! Stems: what the forms of a word have in common, by the rules of a language.
//!
//! Stems are a help to find more, never the word itself: they live in a field of their own, and
//! only where they differ from the word. Stemming costs more than everything else that is done
//! to a word, so the stems of recent words are remembered, in a table of fixed size.

use super::fold::fold_into;
use frostem::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

/// Stems remembered: words are far from evenly spread, these hold most of a text.
const REMEMBERED: usize = 1 << 14;

/// A stem that fits into the table.
const SHORT: usize = 22;

#[derive(Clone, Copy)]
struct Remembered {
    word: u64,
    /// `u8::MAX`: the word is its own stem.
    length: u8,
    stem: [u8; SHORT],
}

/// The languages that have stems, by their primary tags.
fn algorithm(language: &str) -> Option<Algorithm> {
    Some(match language {
        "ar" => Algorithm::Arabic,
        "ca" => Algorithm::Catalan,
        "cs" => Algorithm::Czech,
        "da" => Algorithm::Danish,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "en" => Algorithm::English,
        "es" => Algorithm::Spanish,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "hu" => Algorithm::Hungarian,
        "id" => Algorithm::Indonesian,
        "it" => Algorithm::Italian,
        "nb" | "nn" | "no" => Algorithm::Norwegian,
        "nl" => Algorithm::Dutch,
        "pl" => Algorithm::Polish,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "sv" => Algorithm::Swedish,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

/// Whether words of a language have stems.
pub(crate) fn has_stems(language: &str) -> bool {
    algorithm(language).is_some()
}

/// Makes stems, and remembers them.
pub(crate) struct Stems {
    table: Vec<Remembered>,
    scratch: String,
}

impl Default for Stems {
    fn default() -> Self {
        let empty = Remembered { word: 0, length: 0, stem: [0; SHORT] };
        Stems { table: vec![empty; REMEMBERED], scratch: String::new() }
    }
}

/// The rules of one language.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    stemmer: Stemmer,
    /// Makes words of different languages different in the table.
    salt: u64,
    /// Whether short words lean on the next with an apostrophe (`l'eau`).
    elides: bool,
}

impl Rules {
    /// The rules of a language, if it has any.
    pub fn of(language: &str) -> Option<Rules> {
        let stemmer = Stemmer::new(algorithm(language)?);
        let elides = matches!(language, "fr" | "it" | "ca");
        Some(Rules { stemmer, salt: xxh3_64(language.as_bytes()) | 1, elides })
    }
}

impl Stems {
    /// The folded stem of a word, if it differs from the folded word. `raw` is the word as it is
    /// written, `folded` its folded form and `hash` a hash of that.
    pub fn of(&mut self, rules: Rules, raw: &str, folded: &str, hash: u64) -> Option<&str> {
        // Accents decide about stems, so words that differ in them are not mixed up.
        let same = if raw.is_ascii() { hash } else { xxh3_64(raw.as_bytes()) };
        let word = same ^ rules.salt;
        let slot = word as usize % REMEMBERED;
        if self.table[slot].word != word {
            self.scratch.clear();
            make(rules, raw, folded, &mut self.scratch);
            if self.scratch.len() > SHORT {
                return (self.scratch != folded).then_some(&self.scratch);
            }
            let entry = &mut self.table[slot];
            entry.word = word;
            if self.scratch == folded || self.scratch.is_empty() {
                entry.length = u8::MAX;
            } else {
                entry.length = self.scratch.len() as u8;
                entry.stem[..self.scratch.len()].copy_from_slice(self.scratch.as_bytes());
            }
        }
        let entry = &self.table[slot];
        match entry.length {
            u8::MAX => None,
            length => std::str::from_utf8(&entry.stem[..usize::from(length)]).ok(),
        }
    }
}

/// Stems a word. The rules want accents, what is compared does not.
fn make(rules: Rules, raw: &str, folded: &str, out: &mut String) {
    let lower;
    let mut word = folded;
    if !raw.is_ascii() {
        lower = raw.to_lowercase().replace('’', "'");
        word = &lower;
    }
    if rules.elides
        && let Some((article, rest)) = word.split_once('\'')
        && article.chars().count() <= 5
        && rest.chars().count() > 1
    {
        word = rest;
    }
    fold_into(&rules.stemmer.stem(word), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(language: &str, word: &str) -> Option<String> {
        let folded = super::super::fold::folded(word);
        let mut stems = Stems::default();
        let rules = Rules::of(language).unwrap();
        let hash = xxh3_64(folded.as_bytes());
        let first = stems.of(rules, word, &folded, hash).map(str::to_owned);
        assert_eq!(stems.of(rules, word, &folded, hash).map(str::to_owned), first, "remembered");
        first
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (language, word, form) in [
            ("en", "connections", Some("connect")),
            ("en", "connect", None),
            ("en", "world's", Some("world")),
            ("de", "Häuser", Some("haus")),
            ("fr", "l'homme", Some("homm")),
            ("ru", "книгами", Some("книг")),
            ("es", "naciones", Some("nacion")),
        ] {
            assert_eq!(stem(language, word).as_deref(), form, "{language} {word}");
        }
        assert!(Rules::of("zh").is_none() && !has_stems("xx"));
    }

    #[test]
    fn words_longer_than_the_table_are_stemmed_too() {
        let word = "internationalisationalisations";
        assert!(stem("en", word).is_some());
    }
}
