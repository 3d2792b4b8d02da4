//! Whether a page has changed, and how much.
//!
//! ```text
//!  two texts ──▶ lines with stand-ins ──▶ where lines differ ──▶ what of it only moves ──▶ the rest:
//!                for what moves            (`diff`)              about (boxes, order)      the change
//! ```
//!
//! * Its place: pure; whoever has an old and a new text of a page and what is remembered of it
//!   ([`Volatile`]) asks [`compare`].
//! * Invariant: equal arguments, equal answer.

use super::diff::{Hunk, hunks};
use super::noise::{Around, still};
use super::words::{Words, numbered, words_changed};
use argiope_model::Time;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// A page as it was seen once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sight<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its visible text, a line per block.
    pub text: &'a str,
    /// When; a clock on the page is known by it.
    pub time: Option<Time>,
}

/// Why two texts count as changed, or do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Word for word the same.
    Same,
    /// Other words.
    Text,
    /// Only another title.
    Title,
    /// Only what moves by itself: clocks, counters, rotating boxes.
    Noise,
    /// The same lines in another order.
    Order,
    /// In place of the page stands an error or a request to log in.
    ErrorPage,
}

/// What became of a page from one visit to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Whether it counts.
    pub counts: bool,
    /// Words that went and came, of all words of both; 0 where it does not count.
    pub share: f64,
    /// Why.
    pub reason: Reason,
    /// It is small enough to be a box that turned.
    pub small: bool,
}

/// What is remembered of a page: lines that came and went, and places where they did. Small, and
/// of a fixed size at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volatile {
    /// Lines that have come or gone, the latest last.
    lines: Vec<Wandering>,
    /// Places, the latest last.
    places: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Wandering {
    line: u64,
    /// It is not there now.
    away: bool,
    /// How often it came back.
    back: u8,
}

/// A place, known by the lines around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    above: u64,
    below: u64,
    changed: u8,
    /// How often what came had been there before.
    back: u8,
}

const MAX_LINES: usize = 128;
const MAX_PLACES: usize = 32;
/// A box has at most so many words, or such a part of the page.
const BOX_WORDS: usize = 60;
const BOX_PART: usize = 4;

const LABELS: &[&str] = &[
    "advertisement",
    "advertisements",
    "sponsored",
    "promoted",
    "anzeige",
    "werbung",
    "publicité",
    "publicidad",
    "sponsor",
    "ad:",
    "ads",
];

const ERRORS: &[&str] = &[
    "not found",
    "page cannot be found",
    "page can't be found",
    "does not exist",
    "no longer available",
    "internal server error",
    "server error",
    "bad gateway",
    "service unavailable",
    "temporarily unavailable",
    "something went wrong",
    "an error occurred",
    "an error has occurred",
    "try again later",
    "too many requests",
    "access denied",
    "forbidden",
    "please log in",
    "please login",
    "please sign in",
    "sign in to continue",
    "log in to continue",
    "login required",
    "you must be logged in",
    "you need to log in",
    "session has expired",
    "session expired",
    "captcha",
    "verify you are human",
    "are you a robot",
    "under maintenance",
    "down for maintenance",
    "enable javascript",
    "enable cookies",
    "seite nicht gefunden",
    "nicht verfügbar",
    "bitte anmelden",
    "bitte melden sie sich an",
    "fehler ist aufgetreten",
    "wartungsarbeiten",
    "zugriff verweigert",
];

/// Compares two sights of a page.
pub fn compare(old: &Sight<'_>, new: &Sight<'_>, memory: &Volatile) -> Change {
    compare_on_site(old, new, memory, &|_| false)
}

/// As [`compare`], with lines that several pages of the site have in common: one of them in place
/// of another is a box of the site, not a change of the page. `common` is asked for the
/// [`line_hash`] of lines.
pub fn compare_on_site(
    old: &Sight<'_>,
    new: &Sight<'_>,
    memory: &Volatile,
    common: &dyn Fn(u64) -> bool,
) -> Change {
    let none = |reason| Change { counts: false, share: 0.0, reason, small: false };
    if old.text == new.text && old.title == new.title {
        return none(Reason::Same);
    }
    let (a, b) = (Lines::of(old), Lines::of(new));
    let found = differences(&a, &b);
    let mut real = Real::default();
    let (mut in_boxes, mut small) = (false, true);
    for hunk in &found {
        let judged = judge(&a, &b, hunk, memory, common);
        small &= (judged.0.is_empty() && judged.1.is_empty()) || is_small(&a, &b, hunk);
        in_boxes |= judged.0.len() < hunk.old.len() || judged.1.len() < hunk.new.len();
        real.old.extend(judged.0);
        real.new.extend(judged.1);
    }
    let title = still(old.title, Around::default(), old.time)
        != still(new.title, Around::default(), new.time)
        && bare_title(old.title) != bare_title(new.title);
    if is_error_page(old, new, &a, &b, &real, title) {
        return none(Reason::ErrorPage);
    }
    let moved = real.drop_moved(&a, &b);
    let total: usize = [old.text, new.text].iter().map(|text| Words::of(text).count()).sum();
    if real.old.is_empty() && real.new.is_empty() {
        return match title {
            true => {
                let (gone, come) = words_changed(old.title, new.title);
                let share = (gone + come) as f64 / (total + gone + come).max(1) as f64;
                Change { counts: true, share, reason: Reason::Title, small: true }
            }
            false if moved && !in_boxes => none(Reason::Order),
            false => none(Reason::Noise),
        };
    }
    let joined = |numbers: &[usize], lines: &Lines<'_>| {
        numbers.iter().map(|n| lines.raw[*n]).collect::<Vec<_>>().join("\n")
    };
    let (gone, come) = words_changed(&joined(&real.old, &a), &joined(&real.new, &b));
    // Signs alone are a change too, if a small one.
    let changed = (gone + come).max(1);
    let share = (changed as f64 / total.max(1) as f64).min(1.0);
    Change { counts: true, share, reason: Reason::Text, small }
}

/// What two sights differ in, after what only moves is left out: numbers of lines.
#[derive(Default)]
struct Real {
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Real {
    /// Leaves out lines that only stand elsewhere; says whether there were any.
    fn drop_moved(&mut self, a: &Lines<'_>, b: &Lines<'_>) -> bool {
        let mut there: HashMap<u64, usize> = HashMap::new();
        self.new.iter().for_each(|n| *there.entry(b.hashes[*n]).or_default() += 1);
        let mut taken: HashMap<u64, usize> = HashMap::new();
        let before = self.old.len();
        self.old.retain(|n| match there.get_mut(&a.hashes[*n]).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                *taken.entry(a.hashes[*n]).or_default() += 1;
                false
            }
            None => true,
        });
        self.new.retain(|n| match taken.get_mut(&b.hashes[*n]).filter(|left| **left > 0) {
            Some(left) => {
                *left -= 1;
                false
            }
            None => true,
        });
        before > self.old.len()
    }
}

/// The lines of a sight: as they stand, and with stand-ins.
struct Lines<'a> {
    raw: Vec<&'a str>,
    /// A date that is that of the visit taken for a clock.
    still: Vec<String>,
    /// A date taken for what it says.
    plain: Vec<String>,
    hashes: Vec<u64>,
    words: usize,
}

impl<'a> Lines<'a> {
    fn of(sight: &Sight<'a>) -> Self {
        let raw: Vec<&str> = sight.text.lines().filter(|l| !l.trim().is_empty()).collect();
        let line = |n: usize| raw.get(n).copied().unwrap_or_default();
        let around =
            |n: usize| Around { above: n.checked_sub(1).map_or("", line), below: line(n + 1) };
        let at = |time| -> Vec<String> {
            raw.iter().enumerate().map(|(n, l)| still(l, around(n), time)).collect()
        };
        let (still, plain) = (at(sight.time), at(None));
        let hashes = still.iter().map(|l| xxh3_64(l.as_bytes())).collect();
        let words = raw.iter().map(|l| l.split_whitespace().count()).sum();
        Lines { raw, still, plain, hashes, words }
    }

    fn hash(&self, n: Option<usize>) -> u64 {
        n.and_then(|n| self.hashes.get(n)).copied().unwrap_or(0)
    }

    /// Whether a line is an advertisement or stands beneath the word that says so.
    fn is_labelled(&self, n: usize) -> bool {
        let says = |line: &str| {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or_default().to_lowercase();
            LABELS.contains(&first.trim_end_matches([':', '.', '-']))
                || first == "ad:"
                || (first == "ads" && words.next().is_some_and(|w| w.eq_ignore_ascii_case("by")))
        };
        let short = |line: &str| line.split_whitespace().count() <= 3;
        says(self.raw[n])
            || (1..=2).any(|up| {
                n.checked_sub(up).is_some_and(|at| says(self.raw[at]) && short(self.raw[at]))
            })
    }

    fn words_of(&self, range: std::ops::Range<usize>) -> usize {
        range.map(|n| self.raw[n].split_whitespace().count()).sum()
    }
}

/// Where the lines of two sights differ. A date that was that of the visit once and stands there
/// still is no clock: a line that the other sight has too is compared with it as it is.
fn differences(a: &Lines<'_>, b: &Lines<'_>) -> Vec<Hunk> {
    let set = |lines: &Lines<'_>| lines.plain.iter().map(|l| xxh3_64(l.as_bytes())).collect();
    let (of_a, of_b): (HashSet<u64>, HashSet<u64>) = (set(a), set(b));
    let both = |plain: &String| {
        let hash = xxh3_64(plain.as_bytes());
        of_a.contains(&hash) && of_b.contains(&hash)
    };
    let key = |(plain, still)| if both(plain) { plain.as_str() } else { String::as_str(still) };
    let (x, y) = numbered([
        &mut a.plain.iter().zip(&a.still).map(key),
        &mut b.plain.iter().zip(&b.still).map(key),
    ]);
    hunks(&x, &y)
}

/// Whether a place is small enough to be a box.
fn is_small(a: &Lines<'_>, b: &Lines<'_>, hunk: &Hunk) -> bool {
    let fits = |lines: &Lines<'_>, range: &std::ops::Range<usize>| {
        let words = lines.words_of(range.clone());
        words <= BOX_WORDS || words * BOX_PART <= lines.words
    };
    fits(a, &hunk.old) && fits(b, &hunk.new)
}

/// The lines of a place that only move about are left out of what is given back.
fn judge(
    a: &Lines<'_>,
    b: &Lines<'_>,
    hunk: &Hunk,
    memory: &Volatile,
    common: &dyn Fn(u64) -> bool,
) -> (Vec<usize>, Vec<usize>) {
    let mut old: Vec<usize> = hunk.old.clone().filter(|n| !a.is_labelled(*n)).collect();
    let mut new: Vec<usize> = hunk.new.clone().filter(|n| !b.is_labelled(*n)).collect();
    if !is_small(a, b, hunk) {
        return (old, new);
    }
    let returning = |n: &usize| memory.line(b.hashes[*n]).is_some_and(|w| w.away);
    let came_back = new.iter().any(returning);
    old.retain(|n| !memory.line(a.hashes[*n]).is_some_and(|w| w.back > 0 || came_back));
    new.retain(|n| !returning(n));
    // One box of the site for another.
    if !hunk.old.is_empty()
        && !hunk.new.is_empty()
        && old.iter().all(|n| common(a.hashes[*n]))
        && new.iter().all(|n| common(b.hashes[*n]))
        && is_other(a, b, &old, &new)
    {
        return (Vec::new(), Vec::new());
    }
    let place = memory.place(above(a, hunk), below(a, hunk));
    let turns = place.is_some_and(|p| p.back > 0 && u32::from(p.back) * 4 >= u32::from(p.changed));
    // One line more or less is not another turn of the box: something came to stand beside it.
    let as_long = hunk.old.len() == hunk.new.len();
    match turns && as_long && old.len() <= 3 && new.len() <= 3 {
        true => (Vec::new(), Vec::new()),
        false => (old, new),
    }
}

/// Whether lines have little in common: a box turns to another, an edit leaves most of a line.
fn is_other(a: &Lines<'_>, b: &Lines<'_>, old: &[usize], new: &[usize]) -> bool {
    let joined = |numbers: &[usize], lines: &Lines<'_>| {
        numbers.iter().map(|n| lines.raw[*n]).collect::<Vec<_>>().join("\n")
    };
    let (old, new) = (joined(old, a), joined(new, b));
    let (gone, come) = words_changed(&old, &new);
    (gone + come) * 2 >= Words::of(&old).count() + Words::of(&new).count()
}

fn above(a: &Lines<'_>, hunk: &Hunk) -> u64 {
    a.hash(hunk.old.start.checked_sub(1))
}

fn below(a: &Lines<'_>, hunk: &Hunk) -> u64 {
    a.hash(Some(hunk.old.end))
}

impl Volatile {
    /// Learns from what a page was and is. Pages that stand in for others are not learned from.
    pub fn learn(&mut self, old: &Sight<'_>, new: &Sight<'_>) {
        let (a, b) = (Lines::of(old), Lines::of(new));
        for hunk in differences(&a, &b).iter().filter(|hunk| is_small(&a, &b, hunk)) {
            let mut back = false;
            for n in hunk.new.clone() {
                back |= self.comes(b.hashes[n]);
            }
            for n in hunk.old.clone() {
                self.goes(a.hashes[n]);
            }
            self.changes(above(&a, hunk), below(&a, hunk), back);
        }
        let beyond = self.lines.len().saturating_sub(MAX_LINES);
        self.lines.drain(..beyond);
        let beyond = self.places.len().saturating_sub(MAX_PLACES);
        self.places.drain(..beyond);
    }

    /// Learns that what two sights differ in moves by itself: they were a moment apart, or it is known
    /// that the page had not changed.
    pub fn turns(&mut self, old: &Sight<'_>, new: &Sight<'_>) {
        let (a, b) = (Lines::of(old), Lines::of(new));
        for hunk in differences(&a, &b).iter().filter(|hunk| is_small(&a, &b, hunk)) {
            for n in hunk.old.clone() {
                self.goes(a.hashes[n]);
                self.returns(a.hashes[n]);
            }
            for n in hunk.new.clone() {
                self.comes(b.hashes[n]);
                self.returns(b.hashes[n]);
            }
            self.changes(above(&a, hunk), below(&a, hunk), true);
        }
    }

    /// A line counts as one that comes back.
    fn returns(&mut self, line: u64) {
        if let Some(known) = self.lines.iter_mut().find(|w| w.line == line) {
            known.back = known.back.max(1);
        }
    }

    /// Only what has come back at least once: what holds for every two sights of the page, whichever
    /// came first.
    pub fn settled(mut self) -> Self {
        self.lines.retain(|w| w.back > 0);
        self.lines.iter_mut().for_each(|w| w.away = true);
        self.places.retain(|p| p.back > 0);
        self
    }

    fn line(&self, line: u64) -> Option<&Wandering> {
        self.lines.iter().find(|w| w.line == line)
    }

    fn place(&self, above: u64, below: u64) -> Option<&Place> {
        self.places.iter().find(|p| p.above == above && p.below == below)
    }

    /// A line comes; whether it had been there and gone.
    fn comes(&mut self, line: u64) -> bool {
        let known = self.lines.iter().position(|w| w.line == line).map(|at| self.lines.remove(at));
        let back = known.as_ref().is_some_and(|w| w.away);
        let times = known.map_or(0, |w| w.back).saturating_add(u8::from(back));
        self.lines.push(Wandering { line, away: false, back: times });
        back
    }

    fn goes(&mut self, line: u64) {
        let known = self.lines.iter().position(|w| w.line == line).map(|at| self.lines.remove(at));
        self.lines.push(Wandering { line, away: true, back: known.map_or(0, |w| w.back) });
    }

    fn changes(&mut self, above: u64, below: u64, back: bool) {
        let at = self.places.iter().position(|p| p.above == above && p.below == below);
        let known = at.map(|at| self.places.remove(at));
        let mut place = known.unwrap_or(Place { above, below, changed: 0, back: 0 });
        place.changed = place.changed.saturating_add(1);
        place.back = place.back.saturating_add(u8::from(back));
        if place.changed >= 32 {
            // What was long ago counts less.
            (place.changed, place.back) = (place.changed / 2, place.back / 2);
        }
        self.places.push(place);
    }
}

/// What stands for a line where lines of several pages are compared.
pub fn line_hash(line: &str) -> u64 {
    xxh3_64(still(line, Around::default(), None).as_bytes())
}

/// A title without the number of what is new before it: `(3) Inbox`.
fn bare_title(title: &str) -> &str {
    let rest = title.trim().strip_prefix('(').and_then(|t| t.split_once(')'));
    match rest {
        Some((n, rest)) if n.bytes().all(|b| b.is_ascii_digit()) => rest.trim(),
        _ => title.trim(),
    }
}

/// Whether what came is an error or a wall in place of much that was there.
fn is_error_page(
    old: &Sight<'_>,
    new: &Sight<'_>,
    a: &Lines<'_>,
    b: &Lines<'_>,
    real: &Real,
    title: bool,
) -> bool {
    let words = |numbers: &[usize], lines: &Lines<'_>| -> usize {
        numbers.iter().map(|n| lines.raw[*n].split_whitespace().count()).sum()
    };
    let (gone, come) = (words(&real.old, a), words(&real.new, b));
    if come > 80 || gone < come || gone * 2 < a.words {
        return false;
    }
    let says = |text: &str| {
        let text = text.to_lowercase().replace('\u{2019}', "'");
        ERRORS.iter().any(|error| text.contains(error))
    };
    // A page that is about errors is none.
    if says(old.title) || real.old.iter().any(|n| says(a.raw[*n])) {
        return false;
    }
    (title && says(new.title)) || real.new.iter().any(|n| says(b.raw[*n]))
}
