//! The language of a page: what it says of itself, else what its words look like.
//!
//! * Its place: `extract` reads attributes with [`primary_tag`], `page` guesses from the text
//!   with [`guess`] when there was none. What is said is not believed against the script of the text; articles, of
//!   which there is enough, are asked for their words too ([`settled`]).
//! * Invariants: a language is a primary tag in lower case, two letters where ISO 639-1 has
//!   them (`en`, not `en-GB` or `eng`); an unreliable guess is no guess.
//! * What is not here: several languages in one page; the first and main one counts.

use crate::fold::floor_boundary;
use whatlang::{Lang, Script};

/// How much text is looked at for a guess: more costs time and hardly changes the answer.
const SAMPLE_BYTES: usize = 1200;

/// How much text is needed to know better than the page.
const SURE_BYTES: usize = 600;

/// The same where the page says English and there are hardly any English words.
const SURE_NOT_ENGLISH: usize = 160;

/// How much of a text its script is counted in: a page in several languages begins with the one that it says.
const COUNTED_BYTES: usize = 32 << 10;

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

/// What a page says of its language, unless its text is plainly in another.
pub(crate) fn settled(declared: Option<String>, text: &str) -> Option<String> {
    let Some(declared) = by_script(declared, text) else { return guess(text) };
    // English is what templates say whose owners have not looked.
    let is_left = bare(&declared) == "en" && is_hardly_english(text);
    let sure = if is_left { SURE_NOT_ENGLISH } else { SURE_BYTES };
    if text.len() < sure || !Lang::all().iter().any(|l| two_letters(*l) == bare(&declared)) {
        return Some(declared);
    }
    // Beginning and middle have to say the same, of a short text its halves.
    let first = SAMPLE_BYTES.min(text.len() / 2);
    let (first, rest) = text.split_at(floor_boundary(text.as_bytes(), first));
    let text = if rest.len() > SAMPLE_BYTES { text } else { rest };
    match guess(first).filter(|found| !is_like(found, &declared)) {
        Some(found) if guess(text).as_ref() == Some(&found) => Some(found),
        _ => Some(declared),
    }
}

/// What a page says of its language, unless it is not written in the script of the text.
pub(crate) fn by_script(declared: Option<String>, text: &str) -> Option<String> {
    let declared = declared?;
    let middle = text.len().saturating_sub(SAMPLE_BYTES) / 2;
    let start = floor_boundary(text.as_bytes(), middle);
    let sample = &text[start..floor_boundary(text.as_bytes(), start + SAMPLE_BYTES)];
    let (mut latin, mut others) = (0, 0);
    let counted = &text[..floor_boundary(text.as_bytes(), COUNTED_BYTES)];
    for c in counted.chars().filter(|c| c.is_alphabetic()) {
        match c {
            '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => latin += 1,
            _ => others += 1,
        }
    }
    // A few words of another script are names.
    let mixed = others * 2 <= latin * 3 && latin <= others * 4;
    if mixed || latin + others < 60 {
        return Some(declared);
    }
    let contradicts = match script_of(bare(&declared)) {
        Some(Script::Latin) => others > latin,
        // Japanese in English letters is English, or no text.
        Some(_) if latin > others => true,
        Some(script) => {
            let found = whatlang::detect_script(sample);
            let cjk = |s: Script| {
                matches!(s, Script::Mandarin | Script::Hiragana | Script::Katakana | Script::Hangul)
            };
            found.is_some_and(|found| found != script && !(cjk(found) && cjk(script)))
        }
        None => false,
    };
    match contradicts {
        true => whatlang::detect(sample).map(|info| two_letters(info.lang()).to_owned()),
        false => Some(declared),
    }
}

/// A tag as [`two_letters`] writes it.
fn bare(tag: &str) -> &str {
    match tag {
        "no" | "nn" => "nb",
        "iw" => "he",
        "in" => "id",
        other => other,
    }
}

/// The script of languages that have one.
fn script_of(tag: &str) -> Option<Script> {
    Some(match tag {
        "ru" | "uk" | "bg" | "mk" | "be" => Script::Cyrillic,
        "el" => Script::Greek,
        "ar" | "fa" | "ur" | "ps" => Script::Arabic,
        "he" | "yi" => Script::Hebrew,
        "zh" => Script::Mandarin,
        "ja" => Script::Hiragana,
        "ko" => Script::Hangul,
        "th" => Script::Thai,
        "hi" | "mr" | "ne" => Script::Devanagari,
        "bn" => Script::Bengali,
        "ka" => Script::Georgian,
        "hy" => Script::Armenian,
        "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "sv" | "da" | "nb" | "fi" | "et"
        | "lv" | "lt" | "pl" | "cs" | "sk" | "sl" | "hr" | "hu" | "ro" | "tr" | "ca" | "gl"
        | "eu" | "is" | "ga" | "cy" | "vi" | "id" | "ms" | "tl" | "af" | "sq" => Script::Latin,
        _ => return None,
    })
}

/// Whether two languages are so alike that a guess may take one for the other.
fn is_like(one: &str, other: &str) -> bool {
    const LIKE: [&str; 13] = [
        "nb da sv nn no",
        "id ms jv su",
        "hr sr bs sl mk bg",
        "cs sk",
        "es gl ca pt",
        "af nl fy",
        "de lb nds",
        "ru uk be bg",
        "hi mr ne",
        "fa ar ur ps",
        "tr az tk uz",
        "en sco",
        "la it ro",
    ];
    let (one, other) = (bare(one), bare(other));
    let has = |list: &str, tag: &str| list.split(' ').any(|of| of == tag);
    one == other || LIKE.iter().any(|list| has(list, one) && has(list, other))
}

/// A shortcut for the most frequent case: comparing with the profiles of seventy languages
/// takes longer than parsing the page. In doubt the answer is no.
fn is_plainly_english(sample: &str) -> bool {
    let (words, hits, distinct) = english_words(sample);
    hits >= 8 && hits * 8 >= words && distinct >= 4
}

/// Whether a text has hardly any of the small words of English.
fn is_hardly_english(text: &str) -> bool {
    let (words, hits, _) = english_words(&text[..floor_boundary(text.as_bytes(), SAMPLE_BYTES)]);
    hits * 20 < words
}

/// How many words a text has, how many of them are small words of English, and how many different ones.
fn english_words(sample: &str) -> (usize, usize, u32) {
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
    (words, hits, distinct.count_ones())
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

    const RUSSIAN: &str = "Совет города во вторник после четырёх часов споров решил починить старый мост до прихода зимы, \
        о чём жители долины просили много лет. Работы начнутся в апреле и продлятся около года, сообщил мэр.";
    const GERMAN: &str = "Der Rat der Stadt hat am Dienstag nach vier Stunden beschlossen, die alte Brücke noch vor dem Winter zu \
        erneuern, worum die Leute im Tal seit Jahren gebeten hatten. Die Arbeiten beginnen im April und dauern etwa ein Jahr, sagte der \
        Bürgermeister. Die Kosten trägt zur Hälfte das Land, und niemand weiß, warum es so lange gedauert hat.";

    #[test]
    fn a_text_is_believed_before_what_its_page_says() {
        let settled = |declared: &str, text: &str| {
            settled(Some(declared.to_owned()), text).unwrap_or_default()
        };
        assert_eq!(settled("en", RUSSIAN), "ru");
        assert_eq!(by_script(Some("en".to_owned()), RUSSIAN).as_deref(), Some("ru"));
        assert_eq!(settled("ru", RUSSIAN), "ru");
        let long = format!("{GERMAN} {GERMAN}");
        assert_eq!(settled("en", &long), "de");
        assert_eq!(settled("ru", &long), "de");
        // English is declared by who has not looked; another language is not.
        let short = &GERMAN[..200];
        assert_eq!(
            (settled("en", short), settled("fr", short)),
            ("de".to_owned(), "fr".to_owned())
        );
        let names = "Miller, Smith, Brown, Jones beat Adams, Wright, Clark, Lewis 3-1, 3-0, 2-2, 4-1, 2-0, 1-1. \
            Scores: Northolme 3, Rovers 1, Albion 2, United 2, Athletic 4, City 1, Town 0, Wanderers 2, County 1.";
        assert_eq!(settled("en", names), "en");
        // Little text, what nobody can tell apart, and languages that no guess knows.
        assert_eq!(settled("en", &GERMAN[..90]), "en");
        assert_eq!(settled("nds", &long), "nds");
        assert_eq!(settled("uk", RUSSIAN), "uk");
        assert_eq!(settled("zh", "東京でこの日本語の文章を書いている人がいます。"), "zh");
        // Names of another script.
        let named = format!("{long} Совет города Калининград");
        assert_eq!(settled("de", &named), "de");
        // Several languages in one page.
        assert_eq!(settled("de", &format!("{long} {RUSSIAN} {long}")), "de");
    }
}
