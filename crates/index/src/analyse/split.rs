//! Where words begin and end.
//!
//! * What this is: the boundaries of Unicode Annex 29, as events over a text: a *part* is a word
//!   between spaces, signs, dots and hyphens; a *unit* is one character of a script that writes
//!   without spaces (Chinese, Japanese, Korean, Thai and their like), with its marks.
//! * Its place: `tokens` folds what comes out of here; `snippet` counts with it.
//! * Invariants: every event takes one position, so that counting events is counting positions;
//!   events come in the order of the text and do not overlap.
//! * Where we differ from the Annex: a dot inside a word parts it (`node.js` is two parts joined
//!   by a dot, found together and apart), a colon always does, and the characters of Katakana
//!   and Hangul words are units, so that any two of them are found.

use unicode_segmentation::UnicodeSegmentation;

/// Something that takes a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event<'t> {
    /// As it is written.
    pub text: &'t str,
    /// Its first byte in the text.
    pub start: usize,
    pub kind: Kind,
    /// Whether it is known to be ASCII.
    pub plain: bool,
    /// Whether it may hold an underscore or an apostrophe.
    pub signs: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word.
    Part,
    /// A word that a dot joins to the part before it.
    AfterDot,
    /// A word that a hyphen joins to the part before it.
    AfterHyphen,
    /// A character of a script without spaces.
    Unit,
    /// The same, directly after another.
    NextUnit,
}

/// What an ASCII byte is.
const SPACE: u8 = 0;
const SIGN: u8 = 1;
const LETTER: u8 = 2;
const DIGIT: u8 = 3;
const JOINER: u8 = 4;
const HIGH: u8 = 5;

const CLASS: [u8; 256] = {
    let mut class = [SIGN; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        class[byte] = if c <= b' ' || c == 0x7f {
            SPACE
        } else if c.is_ascii_alphabetic() {
            LETTER
        } else if c.is_ascii_digit() {
            DIGIT
        } else if c == b'_' {
            JOINER
        } else if c >= 0x80 {
            HIGH
        } else {
            SIGN
        };
        byte += 1;
    }
    class
};

/// Shows the events of a text in order, until `each` says that it has enough.
///
/// ASCII is read byte by byte. From a word on that has or touches anything else, the rest up to
/// the next white space, which always parts, is looked at closely.
pub(crate) fn events<'t>(text: &'t str, mut each: impl FnMut(Event<'t>) -> bool) {
    let bytes = text.as_bytes();
    let class = |at: usize| bytes.get(at).map_or(SPACE, |b| CLASS[usize::from(*b)]);
    let mut at = 0;
    let mut kind = Kind::Part;
    while at < bytes.len() {
        let first = CLASS[usize::from(bytes[at])];
        if first < LETTER {
            at += 1;
            kind = Kind::Part;
            continue;
        }
        let start = at;
        let (mut wordy, mut signs) = (false, false);
        let mut foreign = first == HIGH;
        while !foreign {
            loop {
                match class(at) {
                    LETTER | DIGIT => wordy = true,
                    JOINER => signs = true,
                    _ => break,
                }
                at += 1;
            }
            if class(at) == SPACE {
                break;
            }
            let (before, after) = (class(at - 1), class(at + 1));
            foreign = class(at) == HIGH || after == HIGH;
            let joins = match bytes.get(at) {
                Some(b'\'') => before == after && matches!(before, LETTER | DIGIT),
                Some(b',') => before == DIGIT && after == DIGIT,
                _ => false,
            };
            if !joins {
                break;
            }
            signs = true;
            at += 1;
        }
        if foreign {
            while class(at) != SPACE {
                at += 1;
            }
            if !careful(&text[start..at], start, kind, &mut each) {
                return;
            }
            kind = Kind::Part;
            continue;
        }
        // Underscores alone are no word.
        if wordy && !each(Event { text: &text[start..at], start, kind, plain: true, signs }) {
            return;
        }
        kind = Kind::Part;
        if wordy && matches!(class(at + 1), LETTER | DIGIT | JOINER) {
            match bytes[at] {
                b'.' => kind = Kind::AfterDot,
                b'-' => kind = Kind::AfterHyphen,
                _ => {}
            }
            at += usize::from(kind != Kind::Part);
        }
    }
}

/// The events of any text without ASCII white space.
/// `first` is how what is at its start is joined to what came before.
fn careful<'t>(
    chunk: &'t str,
    base: usize,
    first: Kind,
    each: &mut impl FnMut(Event<'t>) -> bool,
) -> bool {
    // Where the last word ended; where the next must begin to be joined to it, and how.
    let mut ended = usize::MAX;
    let mut joint = (0, first);
    let mut unit_ended = usize::MAX;
    for (start, segment) in chunk.split_word_bound_indices() {
        if !segment.contains(char::is_alphanumeric) {
            joint = match segment {
                "-" | "\u{2010}" | "\u{2011}" if start == ended => {
                    (start + segment.len(), Kind::AfterHyphen)
                }
                "." if start == ended => (start + 1, Kind::AfterDot),
                _ => (usize::MAX, Kind::Part),
            };
            continue;
        }
        for (offset, piece, units) in scripts(segment) {
            let start = start + offset;
            if units {
                for (offset, unit) in piece.grapheme_indices(true) {
                    let start = start + offset;
                    let next = unit_ended == start;
                    let kind = if next { Kind::NextUnit } else { Kind::Unit };
                    if !each(Event {
                        text: unit,
                        start: base + start,
                        kind,
                        plain: false,
                        signs: true,
                    }) {
                        return false;
                    }
                    unit_ended = start + unit.len();
                }
                continue;
            }
            let mut at = start;
            for part in piece.split_inclusive(['.', ':']) {
                let word = part.trim_end_matches(['.', ':']);
                let start = at;
                at += part.len();
                if word.contains(char::is_alphanumeric) {
                    let kind = if joint.0 == start { joint.1 } else { Kind::Part };
                    if !each(Event {
                        text: word,
                        start: base + start,
                        kind,
                        plain: false,
                        signs: true,
                    }) {
                        return false;
                    }
                    ended = start + word.len();
                    if part.ends_with('.') {
                        joint = (at, Kind::AfterDot);
                    }
                }
            }
        }
    }
    true
}

/// Cuts a word where it changes between scripts with spaces and scripts without.
fn scripts(word: &str) -> impl Iterator<Item = (usize, &str, bool)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &word[at..];
        let units = is_unit(rest.chars().next()?);
        // Marks belong to the character before them, whatever its script.
        let other = |c: char| c.is_alphanumeric() && is_unit(c) != units;
        let length = rest.find(other).unwrap_or(rest.len());
        let start = at;
        at += length;
        Some((start, &rest[..length], units))
    })
}

/// Whether a character belongs to a script that writes without spaces, or whose words are so
/// long that their pieces are looked for.
fn is_unit(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F | 0xA9E0..=0xA9FF | 0xAA60..=0xAA7F // Myanmar
        | 0x1780..=0x17FF // Khmer
        | 0x1100..=0x11FF | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul
        | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 // Han, old and odd
        | 0x3031..=0x3035 | 0x3038..=0x303C
        | 0x3041..=0x318F | 0x31A0..=0x31BF | 0x31F0..=0x31FF // Kana, Bopomofo, Jamo
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF // Han
        | 0xFF66..=0xFFDC // half-width Kana and Hangul
        | 0x1AFF0..=0x1B16F | 0x20000..=0x3FFFF // more Kana, more Han
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        events(text, |e| {
            assert_eq!(&text[e.start..e.start + e.text.len()], e.text);
            let sign = match e.kind {
                Kind::Part => "|",
                Kind::AfterDot => ".",
                Kind::AfterHyphen => "-",
                Kind::Unit => "/",
                Kind::NextUnit => "~",
            };
            out += sign;
            out += e.text;
            true
        });
        out
    }

    #[test]
    fn words_end_at_spaces_and_signs() {
        assert_eq!(shown("Hello, (big) world!"), "|Hello|big|world");
        assert_eq!(shown("  \n\t… — !? "), "");
        assert_eq!(shown("std::vec a:b http://x/y"), "|std|vec|a|b|http|x|y");
        assert_eq!(shown("don't 'quoted' rock'n'roll it’s"), "|don't|quoted|rock'n'roll|it’s");
        assert_eq!(shown("1,000.50 foo,bar snake_case __ _x"), "|1,000.50|foo|bar|snake_case|_x");
    }

    #[test]
    fn dots_and_hyphens_inside_a_word_join_its_parts() {
        assert_eq!(shown("node.js, e-mail. end"), "|node.js|e-mail|end");
        assert_eq!(shown("v1.2.3-beta -x a--b a..b"), "|v1.2.3-beta|x|a|b|a|b");
        assert_eq!(shown("naïve.site café-bar été.2 ü-1"), "|naïve.site|café-bar|été.2|ü-1");
        assert_eq!(shown("kühl:warm x\u{2011}ä"), "|kühl|warm|x-ä");
    }

    #[test]
    fn characters_of_scripts_without_spaces_stand_alone() {
        assert_eq!(shown("中国人 English混合"), "/中~国~人|English/混~合");
        assert_eq!(shown("東京、大阪"), "/東~京/大~阪");
        assert_eq!(shown("カタカナとひらがな"), "/カ~タ~カ~ナ~と~ひ~ら~が~な");
        assert_eq!(shown("한국어 LG전자"), "/한~국~어|LG/전~자");
        assert_eq!(shown("ภาษาไทย"), "/ภ~า~ษ~า~ไ~ท~ย");
        assert_eq!(shown("กี่ ที่นี่"), "/กี่/ที่~นี่");
    }

    #[test]
    fn other_scripts_have_words() {
        assert_eq!(shown("Привет, мир! العربية جميلة"), "|Привет|мир|العربية|جميلة");
        assert_eq!(shown("हिन्दी भाषा"), "|हिन्दी|भाषा");
    }

    proptest! {
        /// Our quick way for ASCII says what the Annex says, apart from dots and colons.
        #[test]
        fn ascii_words_are_those_of_the_annex(text in "[a-c0-2_', -]{0,24}") {
            let mut ours = Vec::new();
            events(&text, |e| { ours.push(e.text); true });
            let theirs: Vec<&str> = text.unicode_words().collect();
            prop_assert_eq!(ours, theirs);
        }

        /// The quick way and the careful one agree, wherever the first gives way to the second.
        #[test]
        fn both_ways_agree(text in "[a-c0-2_',.:é中() -]{0,16}") {
            let (mut quick, mut slow) = (Vec::new(), Vec::new());
            events(&text, |e| { quick.push(Event { plain: false, signs: true, ..e }); true });
            let mut at = 0;
            for chunk in text.split_inclusive(' ') {
                careful(chunk.trim_end(), at, Kind::Part, &mut |e| { slow.push(e); true });
                at += chunk.len();
            }
            prop_assert_eq!(quick, slow);
        }

        #[test]
        fn any_text_has_events_in_order(text: String) {
            let mut last = 0;
            events(&text, |e| {
                assert!(e.start >= last && !e.text.is_empty());
                last = e.start + e.text.len();
                assert_eq!(&text[e.start..last], e.text);
                true
            });
        }
    }
}
