//! Nearly the same page: a fingerprint of a text, and whether two of them are of one page.
//!
//! * What this is: [`Fingerprint`], 64 *marks* of a text. A mark is the hash of three words in a row;
//!   the smallest hashes are kept, so that two texts that share most of their word runs share most of
//!   their marks, wherever on the page the runs stand (a bottom-k sketch).
//! * What surrounds a page: menus, notices and footers are short lines, an article is long ones, so
//!   runs of short lines are seldom taken. What then is left of it is told from other pages of the
//!   same site ([`Siblings`]): a mark that several of them have says nothing about this one.
//! * Its place: pure. `index` keeps the marks of every page and folds what is near in searches;
//!   whoever follows links may ask whether pages go on being the same.
//! * Invariants: equal texts have equal fingerprints on every machine; time grows with the text
//!   only, memory does not grow; a text that is too short has no marks and is near to nothing.
//! * What is not here: what changed between two texts (`change`), which pages there are (`index`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// A fingerprint of a text: what it shares with another tells how much the texts share.
///
/// ```
/// use argiope_archive::Fingerprint;
/// let text = |who: &str| format!("The {who} spins a wheel of silk, sits down in the middle of it, \
///     and waits for whatever may fly by on a late summer morning when the grass is wet. \
///     Before the sun is high it eats the old web and begins another one in the same place, \
///     with a zigzag band below the hub of which nobody quite knows what it is good for.");
/// let [one, other] = ["garden spider", "writing spider"].map(|who| Fingerprint::of(&text(who)));
/// assert!(one.near(&other));
/// assert!(!one.near(&Fingerprint::of("Something else that is just as long. ".repeat(9).as_str())));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint {
    /// Ascending, each once.
    marks: [u32; Self::MARKS],
    len: u8,
}

/// Bits of a mark: enough that different runs are seldom taken for the same, and not more to keep.
const BITS: u32 = 24;
/// Words of a mark.
const RUN: usize = 3;
/// Lines with so many words are taken whole, of shorter ones one run in so many: the shorter a line,
/// the less it is of an article. Of lines that surround the page it is one in [`AROUND`]: enough
/// where there is nothing else.
const LINES: [(usize, u64); 4] = [(40, 1), (20, 2), (10, 4), (0, 16)];
const AROUND: u64 = 64;
/// Marks that two pages must share to be near.
const LEAST: u32 = 3;
/// Shared of all marks of both, where nothing is known of the site they are from.
const ALONE: f32 = 0.5;
/// Where neither has anything of its own: what they share with the site included.
const BARE: f32 = 0.95;
/// Shared of what is their own, on two sites, which have no menus in common: where both are called the
/// same, where their titles say nothing, where they are called nearly the same, and where differently.
const ACROSS: [f32; 5] = [0.1, 0.2, 0.2, 0.3, 0.3];

impl Fingerprint {
    /// The most marks that a fingerprint has.
    pub const MARKS: usize = 64;

    /// The fingerprint of a text whose lines are blocks of a page.
    pub fn of(text: &str) -> Self {
        Self::of_page(text, &[])
    }

    /// The same, where markup says which of its lines, by their numbers from 0, surround the page:
    /// `TextBlob::around`.
    pub fn of_page(text: &str, around: &[Range<u32>]) -> Self {
        let mut smallest = Smallest::default();
        let mut run = [0; RUN];
        let mut seen = 0;
        let mut line: Vec<u64> = Vec::new();
        let mut around = around.iter().peekable();
        for (n, one) in text.lines().enumerate() {
            while around.peek().is_some_and(|run| run.end <= n as u32) {
                around.next();
            }
            let is_around = around.peek().is_some_and(|run| run.start <= n as u32);
            line.clear();
            words(one, |word, _| line.push(word));
            let by_length = LINES.iter().find(|(words, _)| line.len() >= *words);
            let every = if is_around { AROUND } else { by_length.map_or(1, |(_, every)| *every) };
            for word in &line {
                run = [run[1], run[2], *word];
                seen += 1;
                if seen < RUN {
                    continue;
                }
                let hash = mixed(run[0].rotate_left(42) ^ run[1].rotate_left(21) ^ run[2]);
                if hash & (every - 1) == 0 {
                    smallest.put((hash >> (64 - BITS)) as u32);
                }
            }
        }
        smallest.finish()
    }

    /// A fingerprint from its marks, as they were kept.
    pub fn from_marks(marks: impl IntoIterator<Item = u32>) -> Self {
        let mut smallest = Smallest::default();
        marks.into_iter().for_each(|mark| smallest.put(mark));
        smallest.finish()
    }

    /// Its marks, ascending.
    pub fn marks(&self) -> &[u32] {
        &self.marks[..usize::from(self.len)]
    }

    /// Whether the text was too short to be like another.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Which part of the word runs of both texts is in both, estimated.
    pub fn resemblance(&self, other: &Self) -> f32 {
        self.shared(other, Marks::NONE, Marks::NONE).part()
    }

    /// Whether two texts are nearly the same, where nothing is known of the pages around them.
    ///
    /// Texts with one word in twenty changed are; so are different pages of a site that consist
    /// mostly of what all its pages have. Who knows other pages of the site asks [`near_among`].
    pub fn near(&self, other: &Self) -> bool {
        let all = self.shared(other, Marks::NONE, Marks::NONE);
        all.both >= LEAST && all.part() >= ALONE
    }

    /// Whether they may be near whatever else is known; quickly told.
    pub fn may_be_near(&self, other: &Self) -> bool {
        let (a, b) = (self.marks(), other.marks());
        let (mut i, mut j, mut both) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            // Without a branch: which is smaller nobody can guess.
            let (x, y) = (a[i], b[j]);
            both += u32::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
        both >= LEAST
    }

    /// What two texts share beside the marks that are left out of each.
    fn shared(&self, other: &Self, left_out: Marks, left_out_there: Marks) -> Shared {
        // Of a long text only the smallest marks are known: what is beyond them is not compared.
        let until = self.last().min(other.last());
        let mut found = Shared::default();
        let (a, b) = (self.marks(), other.marks());
        let (mut i, mut j) = (0, 0);
        loop {
            let next = |marks: &[u32], at: usize| marks.get(at).filter(|m| **m <= until).copied();
            let (here, there) = (next(a, i), next(b, j));
            let least = match (here, there) {
                (None, None) => return found,
                (Some(x), None) | (None, Some(x)) => x,
                (Some(x), Some(y)) => x.min(y),
            };
            let (in_a, in_b) = (here == Some(least), there == Some(least));
            let counts = !(in_a && left_out.has(i) || in_b && left_out_there.has(j));
            if counts {
                found.here += u32::from(in_a);
                found.there += u32::from(in_b);
                found.both += u32::from(in_a && in_b);
            }
            i += usize::from(in_a);
            j += usize::from(in_b);
        }
    }

    fn last(&self) -> u32 {
        if self.is_whole() { u32::MAX } else { self.marks[Self::MARKS - 1] }
    }

    /// Whether it has all marks of a text, which then is a short one.
    fn is_whole(&self) -> bool {
        usize::from(self.len) < Self::MARKS
    }
}

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Fingerprint").field(&self.marks()).finish()
    }
}

/// Marks of one fingerprint, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marks(u64);

impl Marks {
    const NONE: Marks = Marks(0);

    fn has(self, n: usize) -> bool {
        self.0 >> n & 1 == 1
    }
}

/// Marks that two texts have and share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shared {
    both: u32,
    here: u32,
    there: u32,
}

impl Shared {
    /// Of all that both have.
    fn part(self) -> f32 {
        self.both as f32 / (self.here + self.there - self.both).max(1) as f32
    }

    /// Of what the one with less has: all of it, where the other has the same text and more around.
    fn part_of_less(self) -> f32 {
        self.both as f32 / self.here.min(self.there).max(1) as f32
    }
}

/// Other pages of a site: what many of them have is not what makes one of them.
///
/// Some hundred pages are enough, taken from all over the site.
#[derive(Clone, Debug, Default)]
pub struct Siblings {
    pages: HashMap<u64, (Fingerprint, TitlePrint)>,
    /// How many of the pages have a mark, and a word in their titles.
    marks: Counts<u32>,
    words: Counts<u16>,
    /// Up to where the marks of each page are known, ascending.
    reach: Vec<u32>,
}

/// As many pages with a mark as make it the site's, where there are many pages.
const MANY: u32 = 6;
/// The same for marks that few of the pages would show, if they had them: of a long text only the
/// smallest marks are kept. More than an article has copies.
const SHOWN: u32 = 4;
/// So few pages that copies among them are looked for.
const FEW: usize = 16;

impl Siblings {
    /// Takes a page in, under a number of its own; what was known of that number is replaced.
    pub fn see(&mut self, page: u64, print: &Fingerprint, title: TitlePrint) {
        if let Some((print, title)) = self.pages.insert(page, (*print, title)) {
            for mark in print.marks() {
                self.marks.entry(*mark).and_modify(|n| *n -= 1);
            }
            if let Ok(at) = self.reach.binary_search(&print.last()) {
                self.reach.remove(at);
            }
            for word in title.words() {
                self.words.entry(word).and_modify(|n| *n -= 1);
            }
        }
        self.reach.insert(self.reach.partition_point(|last| *last < print.last()), print.last());
        for mark in print.marks() {
            *self.marks.entry(*mark).or_default() += 1;
        }
        for word in title.words() {
            *self.words.entry(word).or_default() += 1;
        }
    }

    /// How many pages are known.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The marks of a page that are the site's, asked of pages other than the two and their copies;
    /// and of how many.
    fn common(&self, of: Known<'_>, but: [u64; 2]) -> (Marks, u32) {
        // Where there are many pages, copies are too few to be taken for what all have.
        let few = self.pages.len() <= FEW;
        let is_copy = |(print, title): &(Fingerprint, TitlePrint)| {
            self.own(*title).is_like(self.own(of.title)) && of.print.resemblance(print) >= ALONE
        };
        let besides: Vec<&Fingerprint> = match few {
            true => {
                let pages = self.pages.iter();
                let besides = pages.filter(|(n, page)| but.contains(n) || is_copy(page));
                besides.map(|(_, (print, _))| print).collect()
            }
            false => {
                let pages = but.iter().filter_map(|page| self.pages.get(page));
                pages.map(|(print, _)| print).collect()
            }
        };
        let others = (self.pages.len() - besides.len()) as u32;
        if others < 2 {
            // One page alone may be a copy that nobody recognised.
            return (Marks::NONE, 0);
        }
        let need = others.div_ceil(2).clamp(2, MANY);
        let mut out = 0;
        for (n, mark) in of.print.marks().iter().enumerate() {
            let all = self.marks.get(mark).copied().unwrap_or(0);
            if all < need.min(SHOWN) {
                continue;
            }
            let held = |page: &&&Fingerprint| page.marks().binary_search(mark).is_ok();
            let others = all - besides.iter().filter(held).count() as u32;
            let is_common = others >= need || others >= SHOWN && others >= self.share(*mark);
            out |= u64::from(is_common) << n;
        }
        (Marks(out), others)
    }

    /// What [`MANY`] pages are of all, of those whose marks reach as far as this one.
    fn share(&self, mark: u32) -> u32 {
        let shown = self.reach.len() - self.reach.partition_point(|last| *last < mark);
        (shown as u32 * MANY).div_ceil(self.pages.len().max(1) as u32)
    }

    /// The words of a title that are not the site's.
    fn own(&self, title: TitlePrint) -> TitlePrint {
        TitlePrint::from_words(title.words().filter(|word| !self.says(*word)))
    }

    /// Whether a word in titles is the site's.
    fn says(&self, word: u16) -> bool {
        let many = (self.pages.len() as u32).div_ceil(2).clamp(4, MANY);
        self.words.get(&word).is_some_and(|pages| *pages >= many)
    }
}

/// What a page is called: a number for each of the first eight words of its title.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TitlePrint {
    /// Each once; 0 where there is no more.
    words: [u16; Self::WORDS],
}

impl TitlePrint {
    /// The most words that count.
    pub const WORDS: usize = 8;
    /// Set in words with digits.
    const DIGITS: u16 = 1;

    /// The print of a title.
    pub fn of(title: &str) -> Self {
        let mut out = TitlePrint::default();
        words(title, |word, digits| {
            out.put((mixed(word) >> 48) as u16 & !Self::DIGITS | u16::from(digits) | 2);
        });
        out
    }

    /// A print from its words, as they were kept.
    pub fn from_words(words: impl IntoIterator<Item = u16>) -> Self {
        let mut out = TitlePrint::default();
        words.into_iter().for_each(|word| out.put(word));
        out
    }

    fn put(&mut self, word: u16) {
        if !self.words.contains(&word)
            && let Some(slot) = self.words.iter_mut().find(|slot| **slot == 0)
        {
            *slot = word;
        }
    }

    /// Whether at least half of the words of both are in both; not so where there are none.
    fn is_like(&self, other: Self) -> bool {
        let (here, there) = (self.words().count(), other.words().count());
        let both = self.words().filter(|word| other.words.contains(word)).count();
        both > 0 && 2 * both >= here + there - both
    }

    /// Its words, in their order.
    pub fn words(&self) -> impl Iterator<Item = u16> {
        self.words.into_iter().take_while(|word| *word != 0)
    }
}

/// Words that make a title one that no other page has by chance.
const NAME: usize = 4;

/// How two pages are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Called {
    Same,
    /// One of them has no title, or one that all pages of its site have.
    Unknown,
    /// Nearly the same, by several words.
    Nearly,
    /// By a few words: names of things of one kind.
    Akin,
    Differently,
}

impl Called {
    /// Compares what is their own in two titles: words that are not those of the site.
    fn of(a: Known<'_>, b: Known<'_>, one_site: bool) -> Self {
        let own = |of: Known<'_>| of.siblings.own(of.title);
        let whole = if one_site { (a.title, b.title) } else { (own(a), own(b)) };
        let (a, b) = (own(a), own(b));
        // "Part 1" is not "Part 2", whatever else is in the title.
        let numbered = |a: &TitlePrint, b: &TitlePrint| {
            a.words().any(|word| word & TitlePrint::DIGITS != 0 && !b.words.contains(&word))
        };
        if numbered(&whole.0, &whole.1) && numbered(&whole.1, &whole.0) {
            return Called::Differently;
        }
        let (here, there) = (a.words().count(), b.words().count());
        let both = a.words().filter(|word| b.words.contains(word)).count();
        let least = here.min(there);
        if least == 0 {
            return Called::Unknown;
        }
        // A name of the site may stand beside it, on another site always; but where each has a word
        // that the other lacks, both may be words of many titles and still tell the two apart.
        let lacks = |a: &TitlePrint, b: &TitlePrint| a.words().any(|word| !b.words.contains(&word));
        let same = match one_site {
            true => {
                let other = lacks(&whole.0, &whole.1) && lacks(&whole.1, &whole.0);
                (here == there || least >= NAME) && !other
            }
            false => true,
        };
        match one_site {
            _ if both == least && same => Called::Same,
            true if a.is_like(b) && both >= NAME => Called::Nearly,
            true if a.is_like(b) => Called::Akin,
            false if 2 * both >= least => Called::Nearly,
            _ => Called::Differently,
        }
    }

    /// Whether two pages of one site share enough of what is their own. Pages made from one pattern,
    /// such as those of functions in a manual, share most of their words and are called differently,
    /// the shorter the more: `short` says that one of them has few words. Otherwise it is enough that
    /// what the one says is a part of the other, which may have more around it.
    fn is_enough(self, shared: Shared, short: bool) -> bool {
        match self {
            Called::Same => shared.part_of_less() >= 0.25,
            Called::Unknown => shared.part_of_less() >= 0.4,
            Called::Nearly => shared.part_of_less() >= if short { 0.8 } else { 0.5 },
            Called::Akin => shared.part() >= if short { 0.85 } else { 0.55 },
            Called::Differently => shared.part() >= 0.97,
        }
    }
}

/// A page to be compared, with what is known of its site.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Its number among its siblings.
    pub page: u64,
    /// The fingerprint of its text.
    pub print: &'a Fingerprint,
    /// That of its title.
    pub title: TitlePrint,
    /// Pages of its site, itself included or not.
    pub siblings: &'a Siblings,
}

/// Whether two pages are nearly the same, apart from what other pages of their sites have as well.
/// `one_site` says whether both are of the same site.
pub fn near_among(a: Known<'_>, b: Known<'_>, one_site: bool) -> bool {
    let all = a.print.shared(b.print, Marks::NONE, Marks::NONE);
    if all.both < LEAST {
        return false;
    }
    let (common_a, others) = a.siblings.common(a, [a.page, b.page]);
    let (common_b, _) = b.siblings.common(b, [a.page, b.page]);
    let own = a.print.shared(b.print, common_a, common_b);
    let called = Called::of(a, b, one_site);
    if own.here.min(own.there) < LEAST {
        // Nothing of their own but what they are called.
        return matches!(called, Called::Same | Called::Unknown) && all.part() >= BARE;
    }
    let short = a.print.is_whole() || b.print.is_whole();
    own.both >= LEAST
        && match (one_site, called) {
            (true, Called::Same | Called::Unknown) if others == 0 => own.part() >= ALONE,
            (true, called) => called.is_enough(own, short),
            (false, called) => own.part() >= ACROSS[called as usize],
        }
}

/// The smallest marks of many, each once.
struct Smallest {
    marks: Vec<u32>,
    /// What is not below it is not among them any more.
    until: u32,
}

impl Default for Smallest {
    fn default() -> Self {
        Smallest { marks: Vec::with_capacity(4 * Fingerprint::MARKS), until: u32::MAX }
    }
}

impl Smallest {
    #[inline]
    fn put(&mut self, mark: u32) {
        if mark < self.until {
            self.marks.push(mark);
            if self.marks.len() >= 4 * Fingerprint::MARKS {
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        self.marks.sort_unstable();
        self.marks.dedup();
        if self.marks.len() >= Fingerprint::MARKS {
            self.marks.truncate(Fingerprint::MARKS);
            self.until = self.marks.last().copied().unwrap_or(u32::MAX);
        }
    }

    fn finish(mut self) -> Fingerprint {
        self.settle();
        let mut marks = [0; Fingerprint::MARKS];
        marks[..self.marks.len()].copy_from_slice(&self.marks);
        Fingerprint { marks, len: self.marks.len() as u8 }
    }
}

const K: u64 = 0x9E37_79B9_7F4A_7C15;

/// Shows the hash of every word of a line and whether it has digits: runs of letters and digits,
/// whatever their case; characters of scripts without spaces one by one.
fn words(line: &str, mut each: impl FnMut(u64, bool)) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let mut digits = false;
        while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
            digits |= bytes[at] < b'A';
            at += 1;
        }
        if at < bytes.len() && !bytes[at].is_ascii() {
            at = start + foreign(&line[start..], &mut each);
            continue;
        }
        if at > start {
            each(hashed(&bytes[start..at]), digits);
        }
        at += 1;
    }
}

/// The same for what begins with a word that is not of ASCII alone, or with a sign that is not; up to
/// the end of that word or sign. Says how many bytes that is.
fn foreign(text: &str, each: &mut impl FnMut(u64, bool)) -> usize {
    let mut word: Vec<u8> = Vec::new();
    let mut end = 0;
    let mut letters = [0; 4];
    for c in text.chars() {
        let alone = crate::change::stands_alone(c);
        if alone || !c.is_alphanumeric() {
            if !word.is_empty() {
                break;
            }
            end += c.len_utf8();
            if alone {
                each(hashed(c.encode_utf8(&mut letters).as_bytes()), false);
            }
            return end;
        }
        end += c.len_utf8();
        for c in c.to_lowercase() {
            word.extend_from_slice(c.encode_utf8(&mut letters).as_bytes());
        }
    }
    each(hashed(&word), word.iter().any(u8::is_ascii_digit));
    end
}

/// The hash of a word. Setting one bit of every byte makes ASCII letters small ones and leaves digits as
/// they are; the few other letters that then look alike are seldom all that tells two words apart.
#[inline]
fn hashed(word: &[u8]) -> u64 {
    const SMALL: u64 = 0x2020_2020_2020_2020;
    let mut hash = (word.len() as u64).wrapping_mul(K);
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        let mut eight = [0; 8];
        eight.copy_from_slice(chunk);
        hash = step(hash ^ (u64::from_le_bytes(eight) | SMALL));
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let tail = rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte | 0x20));
        hash = step(hash ^ tail);
    }
    hash
}

#[inline]
fn step(hash: u64) -> u64 {
    let hash = hash.wrapping_add(K).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 32)
}

/// A table of counts by numbers that are hashes already.
type Counts<T> = HashMap<T, u32, BuildHasherDefault<Spread>>;

#[derive(Clone, Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(K);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[inline]
fn mixed(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
