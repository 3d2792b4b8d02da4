//! Stems: what the forms of a word have in common, by the rules of a language.
//!
//! Stems are a help to find more, never the word itself: they live in a field of their own, and
//! only where they differ from the word. Stemming costs more than everything else that is done
//! to a word, so the stems of recent words are remembered, in a table of fixed size.

use super::fold::fold_into;
use super::hash::quick_hash;
use frostem::{Algorithm, Stemmer};

/// Stems remembered: words are far from evenly spread, these hold most of a text.
const REMEMBERED: usize = 1 << 14;

/// Makes a word that is kept as it is another one than the same word with a stem.
const BESIDE: u64 = 0x5851_F42D_4C95_7F2D;

/// Bytes of stems that are remembered.
const BYTES: usize = 256 << 10;

#[derive(Clone, Copy, Default)]
struct Remembered {
    word: u64,
    /// The page that last held the word.
    page: u32,
    /// Where its stem is; nothing = the word is its own stem.
    length: u16,
    start: u32,
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

/// The languages that have stems and rules of their own.
pub(super) const LANGUAGES: [&str; 21] = [
    "ar", "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "hu", "id", "it", "nb", "nl", "pl",
    "pt", "ro", "ru", "sv", "tr",
];

/// Whether words of a language have stems.
pub(crate) fn has_stems(language: &str) -> bool {
    algorithm(language).is_some()
}

/// Makes stems, and remembers them.
pub(crate) struct Stems {
    table: Vec<Remembered>,
    /// The stems, one after the other.
    stems: String,
    scratch: String,
}

impl Default for Stems {
    fn default() -> Self {
        Self::remembering(REMEMBERED)
    }
}

impl Stems {
    /// For a few words: a table of another size, a power of two.
    pub fn remembering(words: usize) -> Self {
        Stems {
            table: vec![Remembered::default(); words.next_power_of_two()],
            stems: String::new(),
            scratch: String::new(),
        }
    }

    #[inline]
    fn place(&self, word: u64) -> usize {
        word as usize & (self.table.len() - 1)
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
        Some(Rules { stemmer, salt: quick_hash(language) | 1, elides })
    }
}

impl Stems {
    /// The folded stem of a word, if it differs from the folded word. `raw` is the word as it is
    /// written, `folded` its folded form and `hash` a hash of that.
    pub fn of(&mut self, rules: Rules, raw: &str, folded: &str, hash: u64) -> Option<&str> {
        let slot = self.slot(rules, raw, folded, hash);
        self.stem(slot)
    }

    /// The same for a word of a page, at its first occurrence there, as far as is remembered: how
    /// often a stem occurs changes little in what is found first, and costs.
    pub fn once(
        &mut self,
        rules: Rules,
        raw: &str,
        folded: &str,
        hash: u64,
        page: u32,
    ) -> Option<&str> {
        let slot = self.slot(rules, raw, folded, hash);
        let entry = &mut self.table[slot];
        let before = std::mem::replace(&mut entry.page, page);
        if entry.length == 0 || before == page { None } else { self.stem(slot) }
    }

    /// Whether a word that is kept beside the stems was not met on a page before, as far as is
    /// remembered.
    pub fn first_on(&mut self, word: &str, page: u32) -> bool {
        let word = quick_hash(word) ^ BESIDE;
        let slot = self.place(word);
        let entry = &mut self.table[slot];
        if entry.word == word && entry.page == page {
            return false;
        }
        *entry = Remembered { word, page, ..Remembered::default() };
        true
    }

    /// Where a word stands in the table.
    #[inline]
    fn slot(&mut self, rules: Rules, raw: &str, folded: &str, hash: u64) -> usize {
        // Accents decide about stems, so words that differ in them are not mixed up.
        let same = if raw.len() == folded.len() { hash } else { quick_hash(raw) };
        let word = same ^ rules.salt;
        let slot = self.place(word);
        if self.table[slot].word != word {
            self.remember(slot, word, rules, raw, folded);
        }
        slot
    }

    #[inline]
    fn stem(&self, slot: usize) -> Option<&str> {
        let Remembered { start, length, .. } = self.table[slot];
        let start = start as usize;
        (length > 0).then(|| &self.stems[start..start + usize::from(length)])
    }

    #[cold]
    fn remember(&mut self, slot: usize, word: u64, rules: Rules, raw: &str, folded: &str) {
        self.scratch.clear();
        make(rules, raw, folded, &mut self.scratch);
        if self.stems.len() + self.scratch.len() > BYTES {
            // All anew: places in the old stems mean nothing any more.
            self.stems.clear();
            self.table.fill(Remembered::default());
        }
        let mut entry = Remembered { word, ..Remembered::default() };
        if self.scratch != folded && self.scratch.len() < BYTES / 4 {
            entry.length = u16::try_from(self.scratch.len()).unwrap_or(0);
            entry.start = self.stems.len() as u32;
            self.stems.push_str(&self.scratch);
        }
        self.table[slot] = entry;
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
        let hash = quick_hash(&folded);
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
