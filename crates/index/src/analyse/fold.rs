//! The folded form of a word: what two spellings of it have in common.
//!
//! * What this is: lower case, accents of Latin and Greek letters and the vowel points of Arabic
//!   and Hebrew removed, compatibility forms (full width, ligatures, presentation forms) undone,
//!   digits of other scripts as ASCII digits.
//! * Invariants: folding twice is folding once; a folded word holds no control characters.
//! * Kept apart on purpose: marks that make another letter (й, ї, が, the vowel signs of India).

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use std::sync::LazyLock;

const NFKD: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizerBorrowed::new_nfkd();
const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizerBorrowed::new_nfc();

/// Characters whose folded forms are looked up: Latin, Greek, Cyrillic, Hebrew, Arabic.
const TABLE: u32 = 0x0700;

/// A folded character of at most seven bytes.
type Short = ([u8; 7], u8);

static SHORT: LazyLock<Vec<Short>> = LazyLock::new(|| {
    let short = |c: u32| {
        let mut form = ([0; 7], 0);
        let mut out = String::new();
        if let Some(c) = char::from_u32(c) {
            fold_char(c, &mut out);
        }
        debug_assert!(out.len() <= 7);
        form.0[..out.len()].copy_from_slice(out.as_bytes());
        form.1 = out.len() as u8;
        form
    };
    (0..TABLE).map(short).collect()
});

/// Appends the folded form of a word.
pub(crate) fn fold_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
        return;
    }
    let start = out.len();
    let mut rare = false;
    for c in word.chars() {
        match SHORT.get(c as usize) {
            Some((bytes, length)) => {
                out.push_str(std::str::from_utf8(&bytes[..usize::from(*length)]).unwrap_or(""));
            }
            None => {
                rare = true;
                fold_char(c, out);
            }
        }
    }
    if rare {
        // What was taken apart is put together again: syllables of Hangul, voiced Kana.
        let composed = NFC.normalize(&out[start..]).into_owned();
        out.truncate(start);
        out.push_str(&composed);
    }
}

/// The folded form of a word.
pub(crate) fn folded(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    fold_into(word, &mut out);
    out
}

fn fold_char(c: char, out: &mut String) {
    match c {
        // Letters of their own that a decomposition would take for another.
        'й' | 'Й' => return out.push('й'),
        'ї' | 'Ї' => return out.push('ї'),
        'ў' | 'Ў' => return out.push('ў'),
        'İ' => return out.push('i'),
        _ => {}
    }
    for part in NFKD.normalize_iter(std::iter::once(c)) {
        for lower in part.to_lowercase() {
            // Lowering may decompose once more.
            match lower {
                c if is_dropped(c) => {}
                'ß' => out.push_str("ss"),
                'æ' => out.push_str("ae"),
                'œ' => out.push_str("oe"),
                'þ' => out.push_str("th"),
                'ø' => out.push('o'),
                'đ' | 'ð' => out.push('d'),
                'ł' => out.push('l'),
                'ħ' => out.push('h'),
                'ı' => out.push('i'),
                'ŋ' => out.push('n'),
                'ς' => out.push('σ'),
                '’' | '‘' | 'ʼ' | '＇' => out.push('\''),
                c => out.push(digit(c).unwrap_or(c)),
            }
        }
    }
}

/// Marks that a word is found without, and characters that nobody sees.
fn is_dropped(c: char) -> bool {
    matches!(u32::from(c),
        0..=0x1F | 0x7F..=0x9F // controls
        | 0x0300..=0x036F // accents
        | 0x0591..=0x05C7 // Hebrew points
        | 0x0610..=0x061A | 0x0640 | 0x064B..=0x065F | 0x0670 | 0x06D6..=0x06ED // Arabic points
        | 0x00AD | 0x200B..=0x200F | 0x2060..=0x2064 | 0xFEFF // invisible
        | 0xFE00..=0xFE0F // variants
    )
}

fn digit(c: char) -> Option<char> {
    let zero = match u32::from(c) {
        0x0660..=0x0669 => 0x0660,
        0x06F0..=0x06F9 => 0x06F0,
        0x0966..=0x096F => 0x0966,
        0x09E6..=0x09EF => 0x09E6,
        0x0E50..=0x0E59 => 0x0E50,
        _ => return None,
    };
    char::from_digit(u32::from(c) - zero, 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_and_accents_fold() {
        for (word, form) in [
            ("HELLO", "hello"),
            ("Café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("Straße", "strasse"),
            ("ÆRØ", "aero"),
            ("Łódź", "lodz"),
            ("ΌΔΟΣ", "οδοσ"),
            ("ὁδός", "οδοσ"),
            ("İstanbul", "istanbul"),
            ("ﬁsh", "fish"),
            ("ＡＢＣ１", "abc1"),
            ("it’s", "it's"),
            ("Việt", "viet"),
        ] {
            assert_eq!(folded(word), form);
        }
    }

    #[test]
    fn what_makes_another_letter_stays() {
        for (word, form) in [
            ("Ёлка", "елка"),
            ("Йод", "йод"),
            ("й".chars().as_str(), "й"),
            ("ガ", "ガ"),
            ("ｶﾞ", "ガ"),
            ("が", "が"),
            ("한국", "한국"),
            ("हिन्दी", "हिन्दी"),
            ("กี่", "กี่"),
            ("أَهْلاً", "اهلا"),
            ("شَـــدّة", "شدة"),
            ("שָׁלוֹם", "שלום"),
            ("٤٢", "42"),
        ] {
            assert_eq!(folded(word), form);
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(word: String) {
            let once = folded(&word);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
