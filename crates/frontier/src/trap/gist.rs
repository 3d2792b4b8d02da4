//! What a page says, as far as it matters whether it says anything new.
//!
//! * Words that stand in its own URL or in those of its links do not count: a page of a series that
//!   never ends repeats its address, and names where it leads. Names of months and days do not count.
//! * Three neighbouring words of a line are a *phrase*; a shorter line is one as it is. Lines are what
//!   the text has as lines, so that the same lines in another order say the same.
//! * Words and phrases are numbers of 32 bits: a few may fall together, and nothing depends on one.

use argiope_model::CanonicalUrl;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// A number that is a hash already.
#[derive(Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers are hashed")
    }
    fn write_u32(&mut self, n: u32) {
        self.0 = u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

pub(crate) type Numbers = HashSet<u32, BuildHasherDefault<AsIs>>;

/// More phrases than this are sampled: one of eight.
const MANY: usize = 1024;
/// No more words than this are looked at.
const MAX_WORDS: usize = 1 << 16;
/// Links whose URLs are looked at for words.
const MAX_LINKS: usize = 256;

/// The words and phrases of a page, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gist {
    /// Words and numbers of three signs or more.
    pub words: Vec<u32>,
    /// Phrases.
    pub phrases: Vec<u32>,
}

impl Gist {
    /// What a page at a URL says, with links to these.
    pub fn of<'a>(
        text: &str,
        url: &CanonicalUrl,
        links: impl Iterator<Item = &'a CanonicalUrl>,
    ) -> Gist {
        let mut named = Numbers::default();
        let mut name = |text: &str| {
            each_word(text, |word, _| {
                named.insert(word);
            })
        };
        name(url.path_and_query());
        for link in links.take(MAX_LINKS) {
            name(link.path_and_query());
        }
        let mut words = Vec::new();
        let mut phrases = Vec::new();
        let mut seen = 0;
        for line in text.lines() {
            let (mut before, mut last, mut length) = (0, 0, 0usize);
            each_word(line, |word, signs| {
                if named.contains(&word) || is_of_the_calendar(word) {
                    return;
                }
                if signs >= 3 {
                    words.push(word);
                }
                length += 1;
                if length >= 3 {
                    phrases.push(mix(mix(before, last), word));
                }
                (before, last) = (last, word);
            });
            if length == 1 || length == 2 {
                phrases.push(mix(before, last));
            }
            seen += length;
            if seen > MAX_WORDS {
                break;
            }
        }
        once(&mut words);
        once(&mut phrases);
        if phrases.len() > MANY {
            phrases.retain(|phrase| phrase.is_multiple_of(8));
        }
        Gist { words, phrases }
    }
}

fn once(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
}

pub(crate) fn mix(a: u32, b: u32) -> u32 {
    let mixed = (u64::from(a) << 32 | u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// A word with one sign more; quick, and good enough for what [`mix`] then makes of it.
fn with_sign(hash: u32, sign: char) -> u32 {
    (hash.rotate_left(5) ^ u32::from(sign)).wrapping_mul(0x9e37_79b9)
}

/// The number of each word and how many signs it has. A change between letters and digits ends a word,
/// so that `page17` in a URL is the `page` and the `17` of a heading.
fn each_word(text: &str, mut tell: impl FnMut(u32, usize)) {
    let (mut hash, mut signs, mut digit) = (0u32, 0usize, false);
    let mut end = |hash: &mut u32, signs: &mut usize| {
        if *signs > 0 {
            tell(mix(*hash, *signs as u32), *signs);
        }
        (*hash, *signs) = (0, 0);
    };
    for c in text.chars() {
        if !c.is_alphanumeric() {
            end(&mut hash, &mut signs);
            continue;
        }
        if signs > 0 && c.is_ascii_digit() != digit {
            end(&mut hash, &mut signs);
        }
        digit = c.is_ascii_digit();
        signs += 1;
        if c.is_ascii() {
            hash = with_sign(hash, c.to_ascii_lowercase());
        } else {
            c.to_lowercase().for_each(|c| hash = with_sign(hash, c));
        }
    }
    end(&mut hash, &mut signs);
}

const CALENDAR: [&str; 38] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "sept",
];

fn is_of_the_calendar(word: u32) -> bool {
    static NAMES: std::sync::OnceLock<Numbers> = std::sync::OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = Numbers::default();
        for name in CALENDAR {
            each_word(name, |word, _| {
                names.insert(word);
            });
        }
        names
    });
    names.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gist(text: &str, url: &str) -> Gist {
        Gist::of(text, &CanonicalUrl::parse(url).unwrap(), std::iter::empty())
    }

    #[test]
    fn words_of_the_address_say_nothing() {
        let at =
            |n: u32| gist(&format!("This is page {n} of all"), &format!("http://a.test/p/{n}"));
        assert_eq!(at(17), at(18));
        assert_ne!(at(17), gist("This is page 17 of none", "http://a.test/p/17"));
        let link = CanonicalUrl::parse("http://a.test/maze/amber-fox").unwrap();
        let url = CanonicalUrl::parse("http://a.test/maze/").unwrap();
        let with = Gist::of("go to amber fox", &url, [&link].into_iter());
        assert_eq!(with, Gist::of("go to", &url, std::iter::empty()));
    }

    #[test]
    fn the_order_of_lines_does_not_matter_and_that_of_words_does() {
        let (one, other) =
            ("one two three four\nfive six\nseven", "seven\none two three four\nfive six");
        assert_eq!(gist(one, "http://a.test/"), gist(other, "http://a.test/"));
        let turned = gist("four three two one\nfive six\nseven", "http://a.test/");
        assert_ne!(turned.phrases, gist(one, "http://a.test/").phrases);
        assert_eq!(turned.words, gist(one, "http://a.test/").words);
    }

    #[test]
    fn a_month_says_as_much_as_another() {
        let (may, june) = ("Monday 3 May\nno events", "Friday 3 June\nno events");
        assert_eq!(gist(may, "http://a.test/"), gist(june, "http://a.test/"));
    }
}
