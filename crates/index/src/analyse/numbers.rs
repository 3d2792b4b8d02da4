//! Words as numbers, for whoever compares texts and never shows them.
//!
//! * What this is: the words of a text as the index knows them: folded, without stop words, forms of a word
//!   by the rules of the text's language brought to their stem.
//! * Invariant: equal words give equal numbers in every run and on every machine.

use super::hash::quick_hash;
use super::stem::{LANGUAGES, Rules, Stems};
use super::stop::{DEFAULT_STOP_WORDS, StopList};
use super::tokens::{Form, Walk};

/// Makes numbers of words; its buffers are used again from text to text.
pub struct WordNumbers {
    walk: Walk,
    stems: Stems,
    stop: StopList,
}

impl Default for WordNumbers {
    fn default() -> Self {
        let (walk, stems) = (Walk::default(), Stems::default());
        WordNumbers { walk, stems, stop: StopList::new(DEFAULT_STOP_WORDS) }
    }
}

impl WordNumbers {
    /// Adds the words of a text in a language, in their order, up to `most` in all.
    pub fn add(&mut self, text: &str, language: Option<&str>, most: usize, out: &mut Vec<u32>) {
        let rules = language.and_then(Rules::of);
        let WordNumbers { walk, stems, stop } = self;
        walk.tokens(text, |token| {
            // Characters of scripts without spaces say little alone, their pairs do.
            let counts = matches!(token.form, Form::Word | Form::Pair) && !token.text.is_empty();
            let hash = quick_hash(token.text);
            if counts && (token.form == Form::Pair || is_word(token.text)) && !stop.holds_hash(hash)
            {
                let stem = rules.filter(|_| token.form == Form::Word);
                let stem = stem.and_then(|rules| stems.of(rules, token.raw, token.text, hash));
                out.push(number(stem.map_or(hash, quick_hash)));
            }
            out.len() < most
        });
    }

    /// Each word of a text whose language nobody knows, in all the forms that it could have.
    pub fn forms(&mut self, text: &str) -> Vec<Vec<u32>> {
        let WordNumbers { walk, stems, stop } = self;
        let mut out: Vec<Vec<u32>> = Vec::new();
        walk.tokens(text, |token| {
            let counts = matches!(token.form, Form::Word | Form::Pair) && !token.text.is_empty();
            let hash = quick_hash(token.text);
            if counts && (token.form == Form::Pair || is_word(token.text)) && !stop.holds_hash(hash)
            {
                let mut forms = vec![number(hash)];
                for rules in LANGUAGES.iter().filter_map(|language| Rules::of(language)) {
                    let stem = stems.of(rules, token.raw, token.text, hash);
                    forms.extend(stem.map(|stem| number(quick_hash(stem))));
                }
                let mut seen = std::collections::HashSet::new();
                forms.retain(|form| seen.insert(*form));
                out.push(forms);
            }
            true
        });
        out
    }
}

/// Single letters and digits tell nothing.
fn is_word(text: &str) -> bool {
    text.chars().nth(1).is_some() && text.chars().any(char::is_alphabetic)
}

fn number(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, language: Option<&str>) -> Vec<u32> {
        let mut out = Vec::new();
        WordNumbers::default().add(text, language, 100, &mut out);
        out
    }

    #[test]
    fn forms_of_a_word_are_one_where_the_language_is_known() {
        assert_eq!(numbers("Spiders", Some("en")), numbers("the spider", Some("en")));
        assert_ne!(numbers("spiders", None), numbers("spider", None));
        assert_eq!(numbers("Spinnen", Some("de")), numbers("spinne", Some("de")));
        assert!(numbers("the of 7 a 2026", Some("en")).is_empty());
        assert_eq!(numbers("\u{4e2d}\u{56fd}", None).len(), 1, "a pair of characters");
    }

    #[test]
    fn a_word_of_unknown_language_has_all_its_forms() {
        let forms = WordNumbers::default().forms("garden spiders");
        assert_eq!(forms.len(), 2);
        for (text, language) in [("spider", "en"), ("spiders", "de"), ("Spiders", "fi")] {
            assert!(forms[1].contains(&numbers(text, Some(language))[0]), "{text} {language}");
        }
        assert!(WordNumbers::default().forms("the of !").is_empty());
    }

    #[test]
    fn no_more_than_was_asked_for() {
        let mut out = Vec::new();
        WordNumbers::default().add(&"word ".repeat(50), None, 7, &mut out);
        assert_eq!(out.len(), 7);
    }
}
