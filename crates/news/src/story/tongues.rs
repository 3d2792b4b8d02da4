//! What every language says in its own words.
//!
//! * What this is: a table of places and of what happens, with the words that eleven languages have
//!   for it; numbers as words, in thousands and in millions; names by their sound, whatever letters
//!   they are written in.
//! * Its place: `gist` marks with it what articles have in common that are written in other words.
//! * What is not here: a dictionary. It has what news are about, and knows no grammar: a word is
//!   told by how it begins.

use super::gist::{BASIS, with};
use crate::letters::folded;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

const TEXT: &str = include_str!("tongues.txt");
/// What stands in the table for any language.
const ANY: u16 = 0;
/// Characters of the longest beginning, and of the longest word in a script without spaces.
const LONGEST: usize = 20;
const WIDEST: usize = 8;

/// The things that a word may be, each with the language that says so.
type Meanings = HashMap<u64, Vec<(u16, u16)>>;

/// Words by their hashes.
#[derive(Default)]
struct Table {
    whole: Meanings,
    begins: Meanings,
    ends: Meanings,
    /// Languages that make one word of several.
    joining: HashSet<u16>,
    /// Things that are reported anew on every day.
    daily: HashSet<u16>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut out = Table::default();
    let lines = TEXT.lines().filter(|line| line.contains('|'));
    for (thing, line) in (0..).zip(lines) {
        if line.starts_with('~') {
            out.daily.insert(thing);
        }
        for part in line.split('|').skip(1) {
            let mut words = part.split_whitespace();
            let language = words.next().map_or(ANY, code_of);
            for word in words {
                let kind = match word.as_bytes()[0] {
                    b'=' => &mut out.whole,
                    b'-' => &mut out.ends,
                    _ => &mut out.begins,
                };
                if word.starts_with('-') {
                    out.joining.insert(language);
                }
                let bare = folded(word.trim_start_matches(['=', '-']));
                kind.entry(hash(&bare)).or_default().push((language, thing));
            }
        }
    }
    out
});

fn code_of(language: &str) -> u16 {
    match language.as_bytes() {
        [a, b] => u16::from_le_bytes([*a, *b]),
        _ => ANY,
    }
}

fn hash(word: &str) -> u64 {
    word.bytes().fold(BASIS, with)
}

/// The hashes of the beginnings of a word, the shortest first.
fn beginnings(word: &str, most: usize) -> impl Iterator<Item = u64> + '_ {
    word.chars().take(most).scan(BASIS, |hash, c| {
        let mut bytes = [0; 4];
        *hash = c.encode_utf8(&mut bytes).bytes().fold(*hash, with);
        Some(*hash)
    })
}

/// Hands over those that hold in a language.
fn hand(found: Option<&Vec<(u16, u16)>>, language: u16, take: &mut impl FnMut(u16)) {
    let found = found.into_iter().flatten();
    found.filter(|(of, _)| *of == language || *of == ANY).for_each(|(_, thing)| take(*thing));
}

/// The things that a folded word tells of, by their numbers.
pub(super) fn things(language: u16, word: &str, mut take: impl FnMut(u16)) {
    let table = &*TABLE;
    hand(table.whole.get(&hash(word)), language, &mut take);
    for beginning in beginnings(word, LONGEST) {
        hand(table.begins.get(&beginning), language, &mut take);
    }
    if table.joining.contains(&language) {
        for (at, _) in word.char_indices().skip(1) {
            hand(table.ends.get(&hash(&word[at..])), language, &mut take);
        }
    }
}

/// Whether a thing is reported anew on every day, as the weather is.
pub(super) fn is_daily(thing: u16) -> bool {
    TABLE.daily.contains(&thing)
}

/// The things that a run of characters without spaces tells of.
pub(super) fn things_within(language: u16, run: &str, mut take: impl FnMut(u16)) {
    for (from, _) in run.char_indices() {
        for some in beginnings(&run[from..], WIDEST) {
            hand(TABLE.begins.get(&some), language, &mut take);
        }
    }
}

/// Numbers as words, folded.
const NUMBERS: &[(u32, &str)] = &[
    (10, "ten zehn dix diez dieci dez tien dziesiec десять"),
    (11, "eleven elf onze once undici elf jedenascie одиннадцать"),
    (12, "twelve zwolf douze doce dodici doze twaalf dwanascie двенадцать"),
    (13, "thirteen dreizehn treize trece tredici treze dertien trzynascie тринадцать"),
    (
        14,
        "fourteen vierzehn quatorze catorce quattordici catorze veertien czternascie четырнадцать",
    ),
    (15, "fifteen funfzehn quinze quince quindici vijftien pietnascie пятнадцать"),
    (16, "sixteen sechzehn seize dieciseis sedici dezesseis zestien szesnascie шестнадцать"),
    (17, "seventeen siebzehn diecisiete diciassette dezessete zeventien siedemnascie семнадцать"),
    (18, "eighteen achtzehn dieciocho diciotto dezoito achttien osiemnascie восемнадцать"),
    (19, "nineteen neunzehn diecinueve diciannove dezenove negentien dziewietnascie девятнадцать"),
    (20, "twenty zwanzig vingt veinte venti vinte twintig dwadziescia двадцать"),
    (30, "thirty dreissig trente treinta trenta trinta dertig trzydziesci тридцать"),
    (40, "forty vierzig quarante cuarenta quaranta quarenta veertig czterdziesci сорок"),
    (50, "fifty funfzig cinquante cincuenta cinquanta cinquenta vijftig piecdziesiat пятьдесят"),
    (60, "sixty sechzig soixante sesenta sessanta sessenta zestig szescdziesiat шестьдесят"),
    (70, "seventy siebzig setenta settanta zeventig siedemdziesiat семьдесят"),
    (80, "eighty achtzig ochenta ottanta oitenta tachtig osiemdziesiat восемьдесят"),
    (90, "ninety neunzig noventa novanta negentig dziewiecdziesiat девяносто"),
    (100, "hundred hundert cent cien cento honderd sto сто"),
];

/// What makes a number greater, by how it begins, folded.
const GREATER: &[(f64, &str)] = &[
    (1e3, "thousand tausend mille mil mila duizend tysiac тысяч 千"),
    (1e4, "万 萬"),
    (1e6, "million millon milion milhao milhoe миллион mln млн"),
    (1e8, "亿 億"),
    (1e9, "billion milliard miliard bilhao bilhoe миллиард mrd млрд"),
];

static COUNTED: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let all = NUMBERS.iter();
    all.flat_map(|(number, words)| words.split_whitespace().map(|word| (word, *number))).collect()
});

/// The number that a folded word is.
pub(super) fn number(word: &str) -> Option<u32> {
    COUNTED.get(word).copied()
}

/// How many times a number is meant, by the folded word behind it.
pub(super) fn times(behind: &str) -> f64 {
    let is_begun = |words: &str| {
        words.split_whitespace().any(|word| {
            // "mil" and "mille" are thousands, "military" is not.
            behind == word || (word.chars().count() != 3 && behind.starts_with(word))
        })
    };
    GREATER.iter().rev().find(|(_, words)| is_begun(words)).map_or(1.0, |(times, _)| *times)
}

/// The consonants of a folded name as they sound, roughly, in Latin, Cyrillic or Greek letters; nothing if they are few.
pub(super) fn sound(name: &str) -> Option<String> {
    let mut out = String::new();
    let mut last = "";
    let mut letters = name.chars().peekable();
    while let Some(c) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let (sound, is_two) = match (c, next) {
            ('p', 'h') => ("f", true),
            ('c', 'h') | ('t', 's' | 'z' | 'c') => ("s", true),
            ('c', 'k') => ("k", true),
            ('c', 'e' | 'i' | 'y' | 'z') => ("s", false),
            _ => (sound_of(c), false),
        };
        if is_two {
            letters.next();
        }
        // A double one is said once.
        if sound != last {
            out.push_str(sound);
        }
        last = sound;
    }
    (out.len() >= 3).then_some(out)
}

/// The sound of a consonant, nothing of a vowel.
fn sound_of(letter: char) -> &'static str {
    match letter {
        'b' | 'б' | 'β' => "b",
        'p' | 'п' | 'π' => "p",
        'f' | 'ф' | 'φ' => "f",
        'v' | 'w' | 'в' => "v",
        't' | 'т' | 'τ' | 'θ' => "t",
        'd' | 'д' | 'δ' => "d",
        'c' | 'k' | 'q' | 'к' | 'κ' | 'х' | 'χ' => "k",
        'g' | 'г' | 'γ' => "g",
        'l' | 'л' | 'λ' => "l",
        'm' | 'м' | 'μ' => "m",
        'n' | 'н' | 'ν' => "n",
        'r' | 'р' | 'ρ' => "r",
        's' | 'z' | 'с' | 'з' | 'ц' | 'ч' | 'ш' | 'щ' | 'ж' | 'σ' | 'ζ' => "s",
        'x' | 'ξ' => "ks",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(language: &str, word: &str) -> Vec<u16> {
        let mut out = Vec::new();
        let folded = folded(word);
        if word.chars().any(|c| c > '\u{3000}') {
            things_within(code_of(language), &folded, |thing| out.push(thing));
        } else {
            things(code_of(language), &folded, |thing| out.push(thing));
        }
        out
    }

    #[test]
    fn words_of_all_languages_lead_to_one_thing() {
        for words in [
            &[
                ("en", "Munich"),
                ("de", "München"),
                ("es", "Múnich"),
                ("pl", "Monachium"),
                ("ru", "Мюнхене"),
            ][..],
            &[
                ("en", "Geneva"),
                ("de", "Genf"),
                ("fr", "Genève"),
                ("it", "Ginevra"),
                ("zh", "在日内瓦"),
                ("ja", "ジュネーブ"),
            ],
            &[
                ("en", "blaze"),
                ("de", "Waldbrand"),
                ("fr", "incendie"),
                ("es", "incendios"),
                ("nl", "bosbranden"),
                ("ru", "пожара"),
                ("zh", "发生火灾"),
            ],
            &[
                ("en", "strikers"),
                ("de", "Warnstreik"),
                ("fr", "grève"),
                ("it", "sciopero"),
                ("pl", "strajku"),
                ("ja", "ストライキ"),
            ],
        ] {
            let sets: Vec<Vec<u16>> = words.iter().map(|(l, w)| found(l, w)).collect();
            let shared = sets[0].iter().find(|thing| sets.iter().all(|set| set.contains(thing)));
            assert!(shared.is_some(), "{words:?}: {sets:?}");
        }
        // A word of one language is none of another.
        assert!(found("en", "brand").is_empty());
        assert!(found("en", "sale").is_empty() || found("en", "sale") != found("de", "Saal"));
    }

    #[test]
    fn no_line_of_the_table_is_wrong() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        let mut names = HashSet::new();
        for line in lines {
            let (name, rest) = line.split_once(" | ").unwrap_or_else(|| panic!("{line}"));
            assert!(names.insert(name), "{name} twice");
            for part in rest.split(" | ") {
                let mut words = part.split(' ');
                let language = words.next().unwrap_or_default();
                assert!(language == "*" || language.len() == 2, "{name}: {language}");
                for word in words {
                    let bare = word.trim_start_matches(['=', '-']);
                    assert!(bare.chars().count() >= 2, "{name}: {word}");
                    assert!(bare.chars().all(char::is_alphanumeric), "{name}: {word}");
                    let most = if bare.chars().any(|c| c > '\u{3000}') { WIDEST } else { LONGEST };
                    let is_whole = word.starts_with(['=', '-']);
                    assert!(is_whole || folded(bare).chars().count() <= most, "{name}: {word}");
                }
            }
        }
    }

    #[test]
    fn names_sound_alike_in_other_letters() {
        for (a, b) in [
            ("Шевченко", "Shevchenko"),
            ("Шевченко", "Chevtchenko"),
            ("Петров", "Petrov"),
            ("Меркель", "Merkel"),
            ("Линдквист", "Lindqvist"),
        ] {
            let sounds = [a, b].map(|name| sound(&folded(name)));
            assert!(sounds[0].is_some(), "{a}");
            assert_eq!(sounds[0], sounds[1], "{a} {b}");
        }
        assert_eq!(sound("li"), None);
    }

    #[test]
    fn numbers_are_told_by_words_too() {
        assert_eq!(number("zwolf"), Some(12));
        assert_eq!(number("word"), None);
        for (behind, expected) in [
            ("million", 1e6),
            ("millionen", 1e6),
            ("milliarden", 1e9),
            ("mille", 1e3),
            ("mil", 1e3),
            ("万人", 1e4),
            ("亿元", 1e8),
            ("military", 1.0),
            ("people", 1.0),
        ] {
            assert_eq!(times(behind), expected, "{behind}");
        }
    }
}
