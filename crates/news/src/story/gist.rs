//! What an article is compared by.
//!
//! * What this is: the marks of an article with their weights. A mark is a hash: of a word without
//!   its ending, of two characters where words have no spaces between them, of a name, a pair of
//!   names, or a number.
//! * How it is weighed: title and lead count most, later words less; what is often said counts more,
//!   but not much more. Only the heaviest marks are kept, so that long and short articles compare.
//! * Names are words that stand with a capital within sentences and hardly without; in German
//!   these are the nouns too. Where there are no capitals, what is said often is taken
//!   for one. Two names that follow each other are a mark of their own.
//! * Beside them stands what any language says: a fire, Munich, 1.2 million, a name by its sound.
//! * Invariants: equal articles have equal gists; a gist has at most [`MAX_MARKS`] marks, sorted.
//! * What is not here: which marks are rare. That is known by [`super::Stories`] only.

use super::stop::COMMON;
use super::tongues;
use crate::letters::{Kind, fold_into, kind};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Marks of a gist.
pub(super) const MAX_MARKS: usize = 160;
/// Marks of what any language says.
const MAX_SHARED: usize = 64;
/// Words of an article that are looked at.
const MAX_WORDS: usize = 3000;
/// Words that are the lead.
const LEAD: usize = 60;
/// Words that are, with the title, its opening: what it is about stands there.
const OPENING: usize = 40;
/// Words that are the beginning.
const BEGINNING: usize = 250;
/// What a word counts in the title, the lead, the beginning and the rest.
const IN_TITLE: f32 = 2.0;
const IN_LEAD: f32 = 1.5;
const IN_BEGINNING: f32 = 1.0;
const IN_REST: f32 = 0.4;
/// How often what has no capitals must be said to be taken for a name.
const OFTEN: u32 = 3;
/// Letters of a word that count.
const STEM: usize = 7;

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Word,
    Name,
    Number,
    /// Two names that follow each other; of what any language says, what is reported anew on every day.
    Pair,
}

impl Sort {
    /// As it stands in the two highest bits of a weight.
    fn of(weight: u8) -> Sort {
        match weight >> 6 {
            0 => Sort::Word,
            1 => Sort::Name,
            2 => Sort::Number,
            _ => Sort::Pair,
        }
    }

    pub fn is_name(self) -> bool {
        matches!(self, Sort::Name | Sort::Pair)
    }
}

/// What is kept of an article to compare it by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gist {
    /// The language, or what its script tells.
    language: u16,
    /// Sorted.
    marks: Vec<u32>,
    /// Of each mark: eight times its weight, and its sort in the two highest bits.
    weights: Vec<u8>,
    /// The places of those that the title has.
    title: Vec<u8>,
    /// The places of those that the opening has, the title with it.
    opening: Vec<u8>,
    /// What any language says, as [`super::tongues`] knows it, sorted: things are words there, and names their sound.
    shared: Vec<u32>,
    /// Of each of these what a weight is above.
    shared_weights: Vec<u8>,
}

impl Gist {
    pub(super) fn language(&self) -> u16 {
        self.language
    }

    /// The marks of the title, and what each stands for.
    pub(super) fn title(&self) -> impl Iterator<Item = (u32, Sort)> + '_ {
        self.at(&self.title)
    }

    /// Those of the opening.
    pub(super) fn opening(&self) -> impl Iterator<Item = (u32, Sort)> + '_ {
        self.at(&self.opening)
    }

    fn at<'a>(&'a self, places: &'a [u8]) -> impl Iterator<Item = (u32, Sort)> + 'a {
        places.iter().filter_map(|at| {
            let at = usize::from(*at);
            Some((*self.marks.get(at)?, Sort::of(*self.weights.get(at)?)))
        })
    }

    pub(super) fn has(&self, mark: u32) -> bool {
        self.marks.binary_search(&mark).is_ok()
    }

    /// The marks with weight and sort, in the order of their hashes.
    pub(super) fn marks(&self) -> impl Iterator<Item = (u32, f32, Sort)> + '_ {
        unpacked(&self.marks, &self.weights)
    }

    /// What any language says, in the same way.
    pub(super) fn shared(&self) -> impl Iterator<Item = (u32, f32, Sort)> + '_ {
        unpacked(&self.shared, &self.shared_weights)
    }
}

fn unpacked<'a>(
    marks: &'a [u32],
    weights: &'a [u8],
) -> impl Iterator<Item = (u32, f32, Sort)> + 'a {
    marks
        .iter()
        .zip(weights)
        .map(|(&mark, &weight)| (mark, f32::from(weight & 63) / 8.0, Sort::of(weight)))
}

/// Common words and the languages they are of.
static STOP: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
    let mut out: HashMap<String, Vec<usize>> = HashMap::new();
    for (language, (_, words)) in COMMON.iter().enumerate() {
        for word in words.split_whitespace() {
            let mut folded = String::new();
            word.chars().for_each(|c| fold_into(c, &mut folded));
            let known = out.entry(folded).or_default();
            if !known.contains(&language) {
                known.push(language);
            }
        }
    }
    out
});

/// A piece of a text.
struct Piece {
    folded: String,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A word without a capital.
    Small,
    /// A word with one, within a sentence.
    Capital,
    /// A word with one where any word has one.
    First,
    Number,
    /// Characters of a script without spaces.
    Units,
}

/// What an article is compared by.
pub fn gist(title: &str, text: &str, language: Option<&str>) -> Gist {
    let title = pieces(title, MAX_WORDS / 10);
    let text = pieces(text, MAX_WORDS);
    // Pages often name a wrong language; of those that are known the words tell better.
    let named = language.filter(|l| l.len() >= 2).map(|l| l.as_bytes());
    let named = named.map(|code| u16::from_le_bytes([code[0] | 32, code[1] | 32]));
    let is_listed = |code: u16| COMMON.iter().any(|(l, _)| l.as_bytes() == code.to_le_bytes());
    let language = match (named, guess(&title, &text)) {
        (Some(named), 0) => named,
        (Some(named), _) if !is_listed(named) => named,
        (_, guessed) => guessed,
    };
    let names = Names::of(&text);
    let often = units_of(title.iter().chain(&text));
    let mut marks: HashMap<u32, Mark> = HashMap::new();
    let mut put = |mark: u32, weight: f32, sort: Sort, is_title: bool, opens: bool| {
        let new = Mark { sum: 0.0, sort, is_title, opens: false };
        let known = marks.entry(mark).or_insert(new);
        known.opens |= opens;
        known.sum += weight;
        if sort != Sort::Word {
            known.sort = sort;
        }
    };
    let mut read = |pieces: &[Piece], is_title: bool| {
        let mut place = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let weight = weight_at(place, is_title);
            let opens = is_title || place < OPENING;
            let mut put = |mark, weight, sort| put(mark, weight, sort, is_title, opens);
            match piece.what {
                What::Units => {
                    let chars: Vec<char> = piece.folded.chars().collect();
                    let step = if chars.iter().all(|c| is_wide(*c)) { 2 } else { 4 };
                    for some in chars.windows(step.min(chars.len())) {
                        let mark = hash(b'u', some.iter().collect::<String>().as_bytes());
                        let is_fact = often.get(&mark).is_some_and(|n| *n >= OFTEN);
                        put(mark, weight, if is_fact { Sort::Name } else { Sort::Word });
                    }
                    place += chars.len() / 2;
                    continue;
                }
                // A year tells of the time, not of the event.
                What::Number if is_year(&piece.folded) => {
                    put(hash(b'n', piece.folded.as_bytes()), weight / 2.0, Sort::Word);
                }
                What::Number => put(hash(b'n', piece.folded.as_bytes()), weight, Sort::Number),
                _ => {
                    if STOP.contains_key(&piece.folded) || piece.folded.chars().count() < 2 {
                        place += 1;
                        continue;
                    }
                    let sort = if names.holds(&piece.folded) { Sort::Name } else { Sort::Word };
                    put(hash(b'w', stem(&piece.folded).as_bytes()), weight, sort);
                    if let Some(next) = pieces.get(at + 1)
                        && names.is_pair(piece, next)
                    {
                        let pair = format!("{} {}", stem(&piece.folded), stem(&next.folded));
                        put(hash(b'p', pair.as_bytes()), weight, Sort::Pair);
                    }
                }
            }
            place += 1;
        }
    };
    read(&title, true);
    read(&text, false);
    let shared = shared(language, &title, &text, &names);
    let mut all: Vec<(u32, f32, Mark)> =
        marks.into_iter().map(|(hash, mark)| (hash, damped(mark.sum), mark)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(MAX_MARKS);
    all.sort_by_key(|(mark, ..)| *mark);
    let places = |has: fn(&Mark) -> bool| {
        let with = all.iter().enumerate().filter(|(_, (_, _, mark))| has(mark));
        with.map(|(at, _)| at as u8).collect()
    };
    Gist {
        language,
        marks: all.iter().map(|(mark, ..)| *mark).collect(),
        weights: all.iter().map(|(_, weight, mark)| packed(*weight, mark.sort)).collect(),
        title: places(|mark| mark.is_title),
        opening: places(|mark| mark.opens),
        shared: shared.iter().map(|(mark, _)| *mark).collect(),
        shared_weights: shared.iter().map(|(_, weight)| *weight).collect(),
    }
}

/// What any language says: places and what happens, numbers by their worth, names by their sound.
fn shared(language: u16, title: &[Piece], text: &[Piece], names: &Names) -> Vec<(u32, u8)> {
    let mut sums: HashMap<u32, (f32, Sort)> = HashMap::new();
    let mut read = |pieces: &[Piece], is_title: bool| {
        let mut place = 0;
        for (at, piece) in pieces.iter().enumerate() {
            let weight = weight_at(place, is_title);
            let mut put = |kind: u8, what: &str, sort: Sort| {
                sums.entry(hash(kind, what.as_bytes())).or_insert((0.0, sort)).0 += weight;
            };
            place += 1;
            match piece.what {
                What::Number if is_year(&piece.folded) => {}
                What::Number => {
                    let behind = pieces.get(at + 1).map_or("", |next| &next.folded);
                    if let Ok(number) = piece.folded.parse::<f64>() {
                        put(b'#', &worth(number * tongues::times(behind)), Sort::Number);
                    }
                }
                What::Units => {
                    tongues::things_within(language, &piece.folded, |thing| {
                        put(b't', &thing.to_string(), sort_of(thing));
                    });
                    place += piece.folded.chars().count() / 2;
                }
                _ => {
                    if let Some(number) = tongues::number(&piece.folded) {
                        put(b'#', &worth(f64::from(number)), Sort::Number);
                    }
                    let mut is_thing = false;
                    tongues::things(language, &piece.folded, |thing| {
                        put(b't', &thing.to_string(), sort_of(thing));
                        is_thing = true;
                    });
                    if !is_thing
                        && piece.what != What::Small
                        && names.holds(&piece.folded)
                        && let Some(sound) = tongues::sound(&piece.folded)
                    {
                        put(b's', &sound, Sort::Name);
                    }
                }
            }
        }
    };
    read(title, true);
    read(text, false);
    let mut all: Vec<(u32, f32, Sort)> =
        sums.into_iter().map(|(mark, (sum, sort))| (mark, damped(sum), sort)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all.truncate(MAX_SHARED);
    all.sort_by_key(|(mark, ..)| *mark);
    all.into_iter().map(|(mark, weight, sort)| (mark, packed(weight, sort))).collect()
}

fn sort_of(thing: u16) -> Sort {
    if tongues::is_daily(thing) { Sort::Pair } else { Sort::Word }
}

/// A number to three digits, so that 1.2 million and 1,200 thousand are one.
fn worth(number: f64) -> String {
    format!("{number:.2e}")
}

/// What a word counts where it stands.
fn weight_at(place: usize, is_title: bool) -> f32 {
    match place {
        _ if is_title => IN_TITLE,
        0..LEAD => IN_LEAD,
        LEAD..BEGINNING => IN_BEGINNING,
        _ => IN_REST,
    }
}

/// What is said often counts more, but not much more.
fn damped(sum: f32) -> f32 {
    if sum > 1.0 { 1.0 + sum.ln() } else { sum }
}

/// Weight and sort in a byte.
fn packed(weight: f32, sort: Sort) -> u8 {
    let sort = match sort {
        Sort::Word => 0,
        Sort::Name => 64,
        Sort::Number => 128,
        Sort::Pair => 192,
    };
    ((weight * 8.0).round() as u8).clamp(1, 63) | sort
}

/// What is known of a mark while an article is read.
struct Mark {
    sum: f32,
    sort: Sort,
    is_title: bool,
    opens: bool,
}

/// Han, Kana and Hangul: two of them say about as much as a word.
fn is_wide(c: char) -> bool {
    c >= '\u{1100}' && !('\u{1780}'..='\u{17ff}').contains(&c)
}

/// How often each run of characters is said that says about as much as a word.
fn units_of<'a>(pieces: impl Iterator<Item = &'a Piece>) -> HashMap<u32, u32> {
    let mut out = HashMap::new();
    for piece in pieces.filter(|piece| piece.what == What::Units) {
        let chars: Vec<char> = piece.folded.chars().collect();
        let step = if chars.iter().all(|c| is_wide(*c)) { 2 } else { 4 };
        for some in chars.windows(step.min(chars.len())) {
            *out.entry(hash(b'u', some.iter().collect::<String>().as_bytes())).or_default() += 1;
        }
    }
    out
}

/// Words that are names.
struct Names {
    /// With a capital within sentences: how often, and how often without.
    seen: HashMap<String, (u32, u32)>,
}

impl Names {
    fn of(text: &[Piece]) -> Names {
        let mut seen: HashMap<String, (u32, u32)> = HashMap::new();
        for piece in text {
            match piece.what {
                What::Capital => seen.entry(piece.folded.clone()).or_default().0 += 1,
                What::Small => seen.entry(piece.folded.clone()).or_default().1 += 1,
                _ => {}
            }
        }
        Names { seen }
    }

    fn holds(&self, folded: &str) -> bool {
        self.seen.get(folded).is_some_and(|(with, without)| *with > 2 * without)
    }

    fn is_pair(&self, first: &Piece, second: &Piece) -> bool {
        let fits = |piece: &Piece| {
            matches!(piece.what, What::Capital | What::First)
                && !STOP.contains_key(&piece.folded)
                && self.holds(&piece.folded)
        };
        second.what == What::Capital && fits(first) && fits(second)
    }
}

/// The language by its common words, or a number for the script.
fn guess(title: &[Piece], text: &[Piece]) -> u16 {
    let mut hits = vec![0_u32; COMMON.len()];
    let (mut units, mut words) = (0, 0);
    for piece in title.iter().chain(text).take(400) {
        match piece.what {
            What::Units => units += piece.folded.chars().count(),
            What::Number => {}
            _ => words += 1,
        }
        for language in STOP.get(&piece.folded).into_iter().flatten() {
            hits[*language] += 1;
        }
    }
    if units > words {
        let chars = || {
            let runs = text.iter().chain(title).filter(|p| p.what == What::Units).take(200);
            runs.flat_map(|p| p.folded.chars())
        };
        let code = if chars().any(|c| ('\u{3041}'..='\u{30ff}').contains(&c)) {
            *b"ja"
        } else if chars().any(|c| ('\u{ac00}'..='\u{d7a3}').contains(&c)) {
            *b"ko"
        } else if chars().any(|c| c >= '\u{3400}') {
            *b"zh"
        } else {
            *b"th"
        };
        return u16::from_le_bytes(code);
    }
    let best = (0..COMMON.len()).max_by_key(|l| (hits[*l], COMMON.len() - l)).unwrap_or(0);
    let code = COMMON[best].0.as_bytes();
    if hits[best] == 0 { 0 } else { u16::from_le_bytes([code[0], code[1]]) }
}

/// Cuts a text into words, numbers and runs of characters.
fn pieces(text: &str, limit: usize) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    let mut start = true;
    let mut chars = text.char_indices().peekable();
    let mut folded = String::new();
    while let Some((_, c)) = chars.next() {
        if out.len() >= limit {
            break;
        }
        let first = kind(c);
        match first {
            Kind::Gap => {
                start |= matches!(
                    c,
                    '.' | '!'
                        | '?'
                        | ':'
                        | '\n'
                        | '"'
                        | '“'
                        | '„'
                        | '«'
                        | '…'
                        | '–'
                        | '•'
                        | '|'
                        | '»'
                        | '”'
                );
                continue;
            }
            Kind::Mark => continue,
            _ => {}
        }
        folded.clear();
        fold_into(c, &mut folded);
        let mut last = c;
        while let Some(&(place, next)) = chars.peek() {
            let same = match (first, kind(next)) {
                (_, Kind::Mark) => true,
                (Kind::Letter, Kind::Letter | Kind::Digit) | (Kind::Unit, Kind::Unit) => true,
                (Kind::Digit, Kind::Digit | Kind::Letter) => next.is_alphanumeric(),
                // 1,500 and 3.5 and 2:1 are one number.
                (Kind::Digit, Kind::Gap) if matches!(next, '.' | ',' | ':') => {
                    kind(last) == Kind::Digit
                        && text[place + next.len_utf8()..]
                            .chars()
                            .next()
                            .is_some_and(|c| kind(c) == Kind::Digit)
                }
                _ => false,
            };
            if !same {
                break;
            }
            fold_into(next, &mut folded);
            last = next;
            chars.next();
        }
        let what = match first {
            Kind::Unit => What::Units,
            Kind::Digit => What::Number,
            _ if !c.is_uppercase() => What::Small,
            _ if start => What::First,
            _ => What::Capital,
        };
        start = false;
        if what == What::Number {
            let number = plain_number(&folded);
            if number.len() < 2 {
                continue;
            }
            out.push(Piece { folded: number, what });
        } else {
            out.push(Piece { folded: folded.clone(), what });
        }
    }
    out
}

fn is_year(number: &str) -> bool {
    number.len() == 4
        && number.bytes().all(|b| b.is_ascii_digit())
        && (number.starts_with("19") || number.starts_with("20"))
}

/// A number without signs between its thousands, and without letters behind it: 4.1bn is 4.1, as in "4.1 billion".
fn plain_number(written: &str) -> String {
    let bare = written.trim_end_matches(char::is_alphabetic);
    let written = if bare.chars().count() >= 2 { bare } else { written };
    let mut out = String::new();
    let mut rest = written;
    while let Some(at) = rest.find([',', '.']) {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
        if digits != 3 {
            out.push('.');
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// A word without what inflection adds, roughly and for all languages alike.
fn stem(folded: &str) -> &str {
    let mut end = folded.len();
    let mut length = folded.chars().count();
    let mut dropped = 0;
    while length > 4 && dropped < 2 {
        let Some(last) = folded[..end].chars().next_back() else { break };
        let falls = matches!(
            last,
            'a' | 'e'
                | 'i'
                | 'o'
                | 'u'
                | 'y'
                | 's'
                | 'n'
                | 'm'
                | 'а'
                | 'е'
                | 'и'
                | 'о'
                | 'у'
                | 'ы'
                | 'я'
                | 'ю'
                | 'ь'
                | 'м'
                | 'х'
                | 'э'
                | 'і'
                | 'α'
                | 'ε'
                | 'η'
                | 'ι'
                | 'ο'
                | 'υ'
                | 'ω'
                | 'σ'
                | 'ν'
        );
        if !falls {
            break;
        }
        end -= last.len_utf8();
        length -= 1;
        dropped += 1;
    }
    let cut = folded[..end].char_indices().nth(STEM).map_or(end, |(at, _)| at);
    &folded[..cut]
}

/// FNV-1a, folded to 32 bits.
fn hash(sort: u8, bytes: &[u8]) -> u32 {
    let start = with(BASIS, sort);
    let hash = bytes.iter().copied().fold(start, with);
    (hash ^ (hash >> 32)) as u32
}

/// What FNV-1a begins with, and one byte more.
pub(super) const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

pub(super) fn with(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}
