//! From a text to its words in folded form, each with its position.
//!
//! * What this is: what [`split`](super::split) finds, folded, and the variants beside it: the
//!   whole of a dotted or hyphenated word without its signs (`nodejs`; of a number with dots, with
//!   them), at the position of its first part; a number without its commas; the pairs of
//!   neighbouring characters where a script has no spaces, at the position of the first.
//! * Invariants: a position is the place of a word in the text, from 1; every part and every
//!   character takes one, whether anything is emitted for it or not. The same text gives the
//!   same words and positions in a page and in a query.

use super::fold::fold_into;
use super::split::{Event, Kind, events};

/// Words longer than this are not words; they take their position.
const MAX_WORD_BYTES: usize = 128;
/// A buffer larger than this is not kept.
const KEPT: usize = 1 << 20;
/// Bytes that a word of more than two parts may have to be found as a whole: `U.S.A` is looked for
/// as `usa`, a path or a name in a program never without its dots, and there are many of them.
const MAX_WHOLE_BYTES: usize = 16;

/// One word of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The folded word; empty when the place is taken by something too long or too odd.
    pub text: &'a str,
    /// As it is written; of a variant, nothing.
    pub raw: &'a str,
    /// Its place in the text, from 1.
    pub position: u32,
    /// Its first byte in the text.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    pub form: Form,
    /// Whether it may hold an underscore or an apostrophe.
    pub signs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A word, or a part of a dotted or hyphenated one.
    Word,
    /// The whole of words emitted before: without the signs between them, unless they are
    /// numbers with dots.
    Whole,
    /// A character of a script without spaces.
    Single,
    /// Two such characters.
    Pair,
}

/// Buffers that are used again from text to text.
#[derive(Default)]
pub(crate) struct Walk {
    /// The text with its ASCII letters lowered: most words are then folded where they stand.
    lower: String,
    word: String,
    before: String,
    variant: String,
    /// Where the last character of a script without spaces began.
    unit: usize,
}

/// A dotted or hyphenated word while it grows.
#[derive(Clone, Copy)]
struct Compound {
    parts: usize,
    position: u32,
    start: usize,
    end: usize,
    letters: bool,
    hyphens: bool,
}

impl Walk {
    /// Shows the words of a text in their order, until `each` says that it has enough. A whole
    /// comes after its parts, a pair after its second character.
    pub fn tokens(&mut self, text: &str, mut each: impl FnMut(Token<'_>) -> bool) {
        let mut lower = std::mem::take(&mut self.lower);
        lowered(text, &mut lower);
        let mut position = 0;
        let mut compound =
            Compound { parts: 0, position: 0, start: 0, end: 0, letters: false, hyphens: false };
        let mut more = true;
        events(&lower, |event| {
            position += 1;
            let end = event.start + event.text.len();
            match event.kind {
                Kind::AfterDot | Kind::AfterHyphen => {
                    compound.parts += 1;
                    compound.end = end;
                    compound.letters |= !is_number(event.text);
                    compound.hyphens |= event.kind == Kind::AfterHyphen;
                }
                _ => {
                    if compound.parts > 1 {
                        more = self.whole(&lower, compound, &mut each);
                    }
                    let (start, letters) = (event.start, !is_number(event.text));
                    compound = Compound { parts: 1, position, start, end, letters, hyphens: false };
                }
            }
            more = more
                && match event.kind {
                    Kind::Unit | Kind::NextUnit => self.unit(event, position, &mut each),
                    _ => self.part(event, position, &mut each),
                };
            more
        });
        if more && compound.parts > 1 {
            self.whole(&lower, compound, &mut each);
        }
        if lower.capacity() < KEPT {
            self.lower = lower;
        }
    }

    #[inline]
    fn part(
        &mut self,
        event: Event<'_>,
        position: u32,
        each: &mut impl FnMut(Token<'_>) -> bool,
    ) -> bool {
        let (start, end) = (event.start, event.start + event.text.len());
        let (raw, form) = (event.text, Form::Word);
        if event.plain && event.text.len() <= MAX_WORD_BYTES {
            let token = Token { text: raw, raw, position, start, end, form, signs: event.signs };
            return each(token) && (!has_commas(raw) || self.without_commas(token, each));
        }
        let mut word = std::mem::take(&mut self.word);
        word.clear();
        if event.text.len() <= MAX_WORD_BYTES {
            fold_into(event.text, &mut word);
        }
        let token = Token { text: &word, raw, position, start, end, form, signs: event.signs };
        let more = each(token) && (!has_commas(&word) || self.without_commas(token, each));
        self.word = word;
        more
    }

    #[cold]
    fn without_commas(
        &mut self,
        token: Token<'_>,
        each: &mut impl FnMut(Token<'_>) -> bool,
    ) -> bool {
        self.variant.clear();
        self.variant.extend(token.text.chars().filter(|c| *c != ','));
        each(Token { text: &self.variant, raw: "", form: Form::Whole, ..token })
    }

    fn unit(
        &mut self,
        event: Event<'_>,
        position: u32,
        each: &mut impl FnMut(Token<'_>) -> bool,
    ) -> bool {
        std::mem::swap(&mut self.word, &mut self.before);
        self.word.clear();
        if event.text.len() <= MAX_WORD_BYTES {
            fold_into(event.text, &mut self.word);
        }
        let end = event.start + event.text.len();
        let first = std::mem::replace(&mut self.unit, event.start);
        let (text, raw, form) = (&*self.word, event.text, Form::Single);
        let more = each(Token { text, raw, position, start: event.start, end, form, signs: false });
        if !more || event.kind == Kind::Unit || self.before.is_empty() || self.word.is_empty() {
            return more;
        }
        self.variant.clear();
        self.variant.push_str(&self.before);
        self.variant.push_str(&self.word);
        let (text, raw, form) = (&*self.variant, "", Form::Pair);
        each(Token { text, raw, position: position - 1, start: first, end, form, signs: false })
    }

    /// A dotted or hyphenated word has ended: what it is as a whole.
    fn whole(
        &mut self,
        lower: &str,
        compound: Compound,
        each: &mut impl FnMut(Token<'_>) -> bool,
    ) -> bool {
        let Compound { parts, position, start, end, letters, hyphens } = compound;
        let most = if parts > 2 { MAX_WHOLE_BYTES } else { MAX_WORD_BYTES };
        if end - start > most {
            return true;
        }
        self.variant.clear();
        let raw = &lower[start..end];
        // 3.14 is not 314, but a number in groups is written with hyphens and without.
        if letters || hyphens {
            for part in raw.split(['.', '-', '\u{2010}', '\u{2011}']) {
                fold_into(part, &mut self.variant);
            }
        } else {
            fold_into(raw, &mut self.variant);
        }
        let (text, raw, form) = (&*self.variant, "", Form::Whole);
        each(Token { text, raw, position, start, end, form, signs: false })
    }
}

/// A text with its ASCII letters lowered, and with spaces for the commonest signs beyond ASCII that
/// part words anyway, byte for byte: a word beside one of them is then read the quick way.
fn lowered(text: &str, out: &mut String) {
    let mut bytes = std::mem::take(out).into_bytes();
    bytes.clear();
    bytes.extend_from_slice(text.as_bytes());
    bytes.make_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = bytes[from..].iter().position(|b| !b.is_ascii()) {
        let at = from + found;
        let length = match bytes[at..] {
            // No-break space, ©, «, ®, ».
            [0xC2, 0xA0 | 0xA9 | 0xAB | 0xAE | 0xBB, ..] => 2,
            // Dashes, double quotes, bullet, ellipsis.
            [0xE2, 0x80, 0x93 | 0x94 | 0x9C..=0x9E | 0xA2 | 0xA6, ..] => 3,
            _ => 0,
        };
        bytes[at..at + length].fill(b' ');
        from = at + length.max(1);
    }
    *out = String::from_utf8(bytes).unwrap_or_default();
}

#[inline]
fn is_number(text: &str) -> bool {
    text.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

/// Only a number has commas inside.
#[inline]
fn has_commas(text: &str) -> bool {
    is_number(text) && text.contains(',')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let mut out = Vec::new();
        Walk::default().tokens(text, |t| {
            out.push(format!("{}@{}", t.text, t.position));
            true
        });
        out.join(" ")
    }

    #[test]
    fn every_word_has_its_place() {
        assert_eq!(shown("The quick, brown FOX"), "the@1 quick@2 brown@3 fox@4");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn a_dotted_or_hyphenated_word_is_there_whole_at_its_first_part() {
        assert_eq!(shown("use Node.js now"), "use@1 node@2 js@3 nodejs@2 now@4");
        assert_eq!(shown("an e-mail"), "an@1 e@2 mail@3 email@2");
        assert_eq!(shown("3.14 is"), "3@1 14@2 3.14@1 is@3");
        assert_eq!(shown("555-1234"), "555@1 1234@2 5551234@1");
        assert_eq!(shown("v1.2"), "v1@1 2@2 v12@1");
        assert_eq!(shown("1,000 x"), "1,000@1 1000@1 x@2");
        assert_eq!(shown("U.S.A"), "u@1 s@2 a@3 usa@1");
        assert_eq!(shown("2026-11-15"), "2026@1 11@2 15@3 20261115@1");
        let many = "java.util.concurrent";
        assert_eq!(shown(many), "java@1 util@2 concurrent@3", "too much for one word");
    }

    #[test]
    fn scripts_without_spaces_give_characters_and_pairs() {
        assert_eq!(shown("中国人"), "中@1 国@2 中国@1 人@3 国人@2");
        assert_eq!(shown("a中国 b"), "a@1 中@2 国@3 中国@2 b@4");
        assert_eq!(shown("東京、大阪"), "東@1 京@2 東京@1 大@3 阪@4 大阪@3");
        assert_eq!(shown("ｶﾞｽ"), "ガ@1 ス@2 ガス@1");
    }

    #[test]
    fn what_is_too_long_takes_its_place() {
        let long = "x".repeat(200);
        assert_eq!(shown(&format!("a {long} b")), "a@1 @2 b@3");
    }

    proptest! {
        #[test]
        fn positions_count_the_words(text in "[ab.é中国\u{a0}\u{2014}\u{201c}\u{2026}\u{2019}\u{2011} -]{0,20}") {
            let mut count = 0;
            events(&text, |_| { count += 1; true });
            let mut last = 0;
            Walk::default().tokens(&text, |t| {
                assert!(t.position >= 1 && t.position <= count);
                if matches!(t.form, Form::Word | Form::Single) {
                    last += 1;
                    assert_eq!(t.position, last);
                }
                true
            });
            prop_assert_eq!(last, count);
        }
    }
}
