//! Letters: what two spellings of one have in common, and which scripts write without spaces.
//!
//! * What this is: folding (lower case, no accents, full width and foreign digits as ASCII) and the
//!   kinds of characters that words are cut by.
//! * Its place: `rule_words` and `story` compare texts by it.
//! * Invariants: folding twice is folding once.
//! * What is not here: normal forms of Unicode. A letter and its mark fold like the two in one for
//!   the scripts named here, which is what news are written in.

/// What a character is for cutting words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Between words.
    Gap,
    /// A part of a word, of a script with spaces.
    Letter,
    /// A digit.
    Digit,
    /// A character of a script that is not cut by spaces, or not by spaces alone.
    Unit,
    /// A mark that folding takes away.
    Mark,
}

/// The kind of a character.
pub(crate) fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' => Kind::Letter,
        '0'..='9' => Kind::Digit,
        _ if c.is_ascii() => Kind::Gap,
        '\u{300}'..='\u{36f}'
        | '\u{591}'..='\u{5bd}'
        | '\u{5bf}'
        | '\u{5c1}'
        | '\u{5c2}'
        | '\u{5c4}'
        | '\u{5c5}'
        | '\u{5c7}'
        | '\u{640}'
        | '\u{64b}'..='\u{65f}'
        | '\u{670}'
        | '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{feff}' => Kind::Mark,
        // Thai, Lao, Myanmar, Khmer, with their vowel signs.
        '\u{e01}'..='\u{e4e}'
        | '\u{e81}'..='\u{ece}'
        | '\u{1000}'..='\u{103f}'
        | '\u{1780}'..='\u{17d3}'
        // Kana, Bopomofo, Hangul, Han.
        | '\u{1100}'..='\u{11ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{312f}'
        | '\u{3131}'..='\u{318e}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Kind::Unit,
        _ if c.is_numeric() => Kind::Digit,
        // The vowel signs of India are parts of words, whatever their class.
        '\u{900}'..='\u{963}' | '\u{970}'..='\u{dff}' => Kind::Letter,
        _ if c.is_alphabetic() => Kind::Letter,
        _ => Kind::Gap,
    }
}

/// Appends the folded form of a character.
pub(crate) fn fold_into(c: char, out: &mut String) {
    if c.is_ascii() {
        return out.push(c.to_ascii_lowercase());
    }
    // Full width, and the digits of other scripts.
    let code = c as u32;
    let plain = match code {
        0xff01..=0xff5e => char::from_u32(code - 0xfee0).map(|c| c.to_ascii_lowercase()),
        0x660..=0x669 => char::from_u32(code - 0x660 + 48),
        0x6f0..=0x6f9 => char::from_u32(code - 0x6f0 + 48),
        0x966..=0x96f => char::from_u32(code - 0x966 + 48),
        0xe50..=0xe59 => char::from_u32(code - 0xe50 + 48),
        _ => None,
    };
    if let Some(plain) = plain {
        return out.push(plain);
    }
    if kind(c) == Kind::Mark {
        return;
    }
    for small in c.to_lowercase() {
        let base = match small {
            'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ'..='ặ' => 'a',
            'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
            'ď' | 'đ' | 'ð' => 'd',
            'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ'..='ệ' => 'e',
            'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
            'ĥ' | 'ħ' => 'h',
            'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ǐ' | 'ỉ' | 'ị' => 'i',
            'ĵ' => 'j',
            'ķ' => 'k',
            'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => 'l',
            'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
            'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ǒ' | 'ọ'..='ợ' => 'o',
            'ŕ' | 'ŗ' | 'ř' => 'r',
            'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => 's',
            'ţ' | 'ť' | 'ŧ' | 'ț' => 't',
            'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ǔ' | 'ụ'..='ự' => {
                'u'
            }
            'ŵ' => 'w',
            'ý' | 'ÿ' | 'ŷ' | 'ỳ'..='ỹ' => 'y',
            'ź' | 'ż' | 'ž' => 'z',
            'ß' => {
                out.push_str("ss");
                continue;
            }
            'æ' => {
                out.push_str("ae");
                continue;
            }
            'œ' => {
                out.push_str("oe");
                continue;
            }
            'ά' => 'α',
            'έ' => 'ε',
            'ή' => 'η',
            'ί' | 'ϊ' | 'ΐ' => 'ι',
            'ό' => 'ο',
            'ύ' | 'ϋ' | 'ΰ' => 'υ',
            'ώ' => 'ω',
            'ς' => 'σ',
            'ё' => 'е',
            'й' => 'и',
            'ї' => 'і',
            'أ' | 'إ' | 'آ' | 'ٱ' => 'ا',
            'ى' | 'ی' => 'ي',
            'ک' => 'ك',
            'ة' => 'ه',
            _ => small,
        };
        if kind(base) != Kind::Mark {
            out.push(base);
        }
    }
}

/// The folded form of a text.
pub(crate) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| fold_into(c, &mut out));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_word_fold_alike() {
        for (a, b) in [
            ("Élysée", "elysee"),
            ("Straße", "STRASSE"),
            ("Ｔｏｋｙｏ２０", "tokyo20"),
            ("Ёлка", "елка"),
            ("Cafe\u{301}", "café"),
            ("Αθήνα", "αθηνα"),
            ("Łódź", "lodz"),
            ("Việt", "viet"),
            ("٢٠٢٦", "2026"),
        ] {
            assert_eq!(folded(a), folded(b), "{a}");
            assert_eq!(folded(&folded(a)), folded(a), "{a}");
        }
    }

    #[test]
    fn every_character_folds_once() {
        for c in '\0'..=char::MAX {
            let mut once = String::new();
            fold_into(c, &mut once);
            assert_eq!(folded(&once), once, "{c:?} {:x}", c as u32);
        }
    }
}
