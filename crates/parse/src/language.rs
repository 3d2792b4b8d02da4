//! The language of a page: what it says of itself, else what its words look like.
//!
//! * Its place: `extract` reads attributes with [`primary_tag`], `page` guesses from the text
//!   with [`guess`] when there was none.
//! * Invariants: a language is a primary tag in lower case, two letters where ISO 639-1 has
//!   them (`en`, not `en-GB` or `eng`); an unreliable guess is no guess.
//! * What is not here: several languages in one page; the first and main one counts.

use crate::fold::floor_boundary;
use whatlang::Lang;

/// How much text is looked at for a guess: more costs time and hardly changes the answer.
const SAMPLE_BYTES: usize = 1200;

/// Small words that are frequent in English and rare in every other language.
const ENGLISH: [&str; 16] = [
    "the", "of", "and", "to", "is", "that", "with", "for", "this", "are", "which", "by", "from",
    "be", "it", "you",
];

/// The primary tag of a `lang` attribute or `Content-Language`.
pub(crate) fn primary_tag(value: &[u8]) -> Option<String> {
    let value = std::str::from_utf8(value).ok()?.trim();
    let primary = value.split(['-', '_', ',', ';', ' ']).next()?;
    if !(2..=3).contains(&primary.len()) || !primary.bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    let tag = primary.to_ascii_lowercase();
    if matches!(tag.as_str(), "und" | "mul" | "zxx" | "xx") {
        return None;
    }
    Some(match Lang::from_code(tag.as_str()) {
        Some(lang) if tag.len() == 3 => two_letters(lang).to_owned(),
        _ => tag,
    })
}

/// The language of a text, when that is beyond reasonable doubt.
pub(crate) fn guess(text: &str) -> Option<String> {
    // The middle is more often prose than the beginning, which is navigation.
    let middle = text.len().saturating_sub(SAMPLE_BYTES) / 2;
    let start = floor_boundary(text.as_bytes(), middle);
    let end = floor_boundary(text.as_bytes(), start + SAMPLE_BYTES);
    let sample = &text[start..end];
    if is_plainly_english(sample) {
        return Some("en".to_owned());
    }
    let info = whatlang::detect(sample)?;
    if !info.is_reliable() {
        return None;
    }
    Some(two_letters(info.lang()).to_owned())
}

/// A shortcut for the most frequent case: comparing with the profiles of seventy languages
/// takes longer than parsing the page. In doubt the answer is no.
fn is_plainly_english(sample: &str) -> bool {
    let (mut words, mut hits, mut distinct) = (0, 0, 0u16);
    for word in sample.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()) {
        words += 1;
        if word.len() <= 5
            && let Some(i) = ENGLISH.iter().position(|e| e.eq_ignore_ascii_case(word))
        {
            hits += 1;
            distinct |= 1 << i;
        }
    }
    hits >= 8 && hits * 8 >= words && distinct.count_ones() >= 4
}

/// The two-letter code of a language.
fn two_letters(lang: Lang) -> &'static str {
    match lang {
        Lang::Afr => "af",
        Lang::Aka => "ak",
        Lang::Amh => "am",
        Lang::Ara => "ar",
        Lang::Aze => "az",
        Lang::Bel => "be",
        Lang::Ben => "bn",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Cym => "cy",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Epo => "eo",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Guj => "gu",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Hye => "hy",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jav => "jv",
        Lang::Jpn => "ja",
        Lang::Kan => "kn",
        Lang::Kat => "ka",
        Lang::Khm => "km",
        Lang::Kor => "ko",
        Lang::Lat => "la",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Mal => "ml",
        Lang::Mar => "mr",
        Lang::Mkd => "mk",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Ori => "or",
        Lang::Pan => "pa",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Sin => "si",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Sna => "sn",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tam => "ta",
        Lang::Tel => "te",
        Lang::Tgl => "tl",
        Lang::Tha => "th",
        Lang::Tuk => "tk",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Uzb => "uz",
        Lang::Vie => "vi",
        Lang::Yid => "yi",
        Lang::Zul => "zu",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_its_primary_tag() {
        for (value, want) in [
            ("en-US", Some("en")),
            ("DE", Some("de")),
            ("pt_BR", Some("pt")),
            ("eng", Some("en")),
            ("haw", Some("haw")),
            ("zh-Hans-CN", Some("zh")),
            ("de, en", Some("de")),
            ("{{ lang }}", None),
            ("", None),
            ("english", None),
            ("und", None),
        ] {
            assert_eq!(primary_tag(value.as_bytes()).as_deref(), want, "{value:?}");
        }
    }

    #[test]
    fn a_guess_needs_enough_words() {
        let german = "Der schnelle braune Fuchs springt über den faulen Hund, und niemand weiß, \
                      warum er das jeden Morgen aufs Neue tut.";
        assert_eq!(guess(german).as_deref(), Some("de"));
        assert_eq!(guess("これは日本語の文章です。").as_deref(), Some("ja"));
        let english = "The quick brown fox jumps over the lazy dog, and nobody of us knows why it \
                       is that this happens to be repeated for all of the days of the year.";
        assert!(is_plainly_english(english) && !is_plainly_english(german));
        assert_eq!(guess(english).as_deref(), Some("en"));
        assert_eq!(guess("OK"), None);
        assert_eq!(guess(""), None);
        assert_eq!(guess(&"é".repeat(5000)), guess(&"é".repeat(5000)));
    }
}
