//! The piece of a page's text that shows why it was found.
//!
//! * What this is: the best passage, with the words that matched marked in it.
//! * How: the index knows at which positions the words stand, so the passage is chosen before
//!   the text is looked at; the text is then only counted through to where it begins. Where the
//!   index has no positions (other forms of a word), the text is read.
//! * Invariants: a snippet begins and ends between words, or between characters where words have
//!   no spaces, never inside a character with its marks; marks lie on such borders too.

use crate::analyse::{Form, Rules, Stems, Walk, events, quick_hash};
use crate::search::Item;
use argiope_archive::TextBlob;
use std::collections::HashSet;
use std::ops::Range;

/// Characters of a snippet, about; wide ones count twice.
const COLUMNS: usize = 240;
/// Positions that a passage is chosen from.
const SPAN: u32 = 28;
/// Positions shown before the first word that matched.
const LEAD: u32 = 6;
/// Bytes of a text that are read where the index knows no positions.
const READ: usize = 128 << 10;

/// A piece of text with marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The text, in one line.
    pub text: String,
    /// The bytes of `text` that matched, in order, apart from each other.
    pub marks: Vec<Range<usize>>,
    /// Whether the page's text goes on before it.
    pub cut_before: bool,
    /// Whether the page's text goes on after it.
    pub cut_after: bool,
}

impl Snippet {
    /// The text with every match between two strings, and an ellipsis where it was cut.
    pub fn marked(&self, begin: &str, end: &str) -> String {
        let mut out = String::with_capacity(self.text.len() + 64);
        if self.cut_before {
            out.push('…');
        }
        let mut at = 0;
        for mark in &self.marks {
            out.push_str(&self.text[at..mark.start]);
            out.push_str(begin);
            out.push_str(&self.text[mark.clone()]);
            out.push_str(end);
            at = mark.end;
        }
        out.push_str(&self.text[at..]);
        if self.cut_after {
            out.push('…');
        }
        out
    }
}

/// Cuts snippets for one query.
pub(crate) struct Marker<'i> {
    exact: HashSet<&'i str>,
    stems: HashSet<&'i str>,
    prefixes: Vec<&'i str>,
    near: Vec<(&'i str, u8)>,
    walk: Walk,
    table: Option<Stems>,
}

impl<'i> Marker<'i> {
    pub fn new(items: &'i [Item]) -> Self {
        let meant = items.iter().filter(|item| !item.stop);
        Marker {
            exact: meant.flat_map(|item| item.terms.iter().map(|(_, word)| &**word)).collect(),
            stems: items.iter().flat_map(|item| item.stems.iter().map(|s| &**s)).collect(),
            prefixes: items.iter().filter_map(|item| item.prefix.as_deref()).collect(),
            near: items.iter().filter_map(|i| i.near.as_ref().map(|(w, d)| (&**w, *d))).collect(),
            walk: Walk::default(),
            table: None,
        }
    }

    /// Cuts the best passage out of a text; `places` are the positions of the words in it.
    pub fn cut(&mut self, blob: &TextBlob, places: &[Vec<u32>]) -> Snippet {
        let text = &*blob.text;
        let rules = blob.language.as_deref().and_then(Rules::of);
        let from = match passage(places) {
            Some(position) => byte_of(text, position.saturating_sub(LEAD).max(1)),
            None => self.first_match(text, rules),
        };
        let Some(from) = from else {
            // Nothing in the text matches: what the page says of itself, or how it begins.
            if !blob.description.is_empty() {
                return self.marked(&blob.description, 0, rules);
            }
            return self.marked(text, 0, rules);
        };
        self.marked(text, begin_of_line(text, from), rules)
    }

    /// Where the first word stands that matches by its stem, its beginning or its likeness.
    fn first_match(&mut self, text: &str, rules: Option<Rules>) -> Option<usize> {
        if self.stems.is_empty() && self.prefixes.is_empty() && self.near.is_empty() {
            return None;
        }
        let end = floor(text, READ.min(text.len()));
        let mut found = None;
        // A few words before it are shown as well.
        let mut last = [0; LEAD as usize];
        let mut walk = std::mem::take(&mut self.walk);
        walk.tokens(&text[..end], |token| {
            if self.matches(token.text, token.raw, token.form, rules) {
                let before = last[token.position as usize % LEAD as usize];
                found = Some(if token.position > LEAD { before } else { 0 });
                return false;
            }
            last[token.position as usize % LEAD as usize] = token.start;
            true
        });
        self.walk = walk;
        found
    }

    fn matches(&mut self, word: &str, raw: &str, form: Form, rules: Option<Rules>) -> bool {
        if self.exact.contains(word) {
            return true;
        }
        if form != Form::Word {
            return false;
        }
        if word.contains(['\'', '_'])
            && word.split(['\'', '_']).any(|p| self.exact.contains(p) || self.stems.contains(p))
        {
            return true;
        }
        if self.prefixes.iter().any(|prefix| word.starts_with(prefix)) {
            return true;
        }
        if self.near.iter().any(|(other, distance)| within(word, other, *distance)) {
            return true;
        }
        if self.stems.is_empty() {
            return false;
        }
        if self.stems.contains(word) {
            return true;
        }
        let Some(rules) = rules else { return false };
        // Stemming is slow; most words begin otherwise than all that are looked for.
        let begins = |stem: &&str| stem.as_bytes().first() == word.as_bytes().first();
        if raw.is_ascii() && !self.stems.iter().any(begins) {
            return false;
        }
        let table = self.table.get_or_insert_with(|| Stems::remembering(1024));
        let stem = table.of(rules, raw, word, quick_hash(word));
        stem.is_some_and(|stem| self.stems.contains(stem))
    }

    /// The text from a place on, as long as a snippet is, with its marks.
    fn marked(&mut self, text: &str, from: usize, rules: Option<Rules>) -> Snippet {
        let to = end_of(text, from);
        let piece = &text[from..to];
        let mut marks: Vec<Range<usize>> = Vec::new();
        let mut walk = std::mem::take(&mut self.walk);
        walk.tokens(piece, |token| {
            if self.matches(token.text, token.raw, token.form, rules) {
                marks.push(token.start..token.end);
            }
            true
        });
        self.walk = walk;
        let marks = joined(marks, piece);
        // Lines become spaces; both are one byte.
        let text_of = piece.replace(['\n', '\r', '\t'], " ");
        let cut_before = !text[..from].trim().is_empty();
        let cut_after = !text[to..].trim().is_empty();
        Snippet { text: text_of, marks, cut_before, cut_after }
    }
}

/// Where the passage begins that holds most of the words, and those most often.
fn passage(places: &[Vec<u32>]) -> Option<u32> {
    let mut all: Vec<(u32, usize)> = Vec::new();
    for (word, places) in places.iter().enumerate() {
        all.extend(places.iter().map(|place| (*place, word)));
    }
    all.sort_unstable();
    let mut best: Option<(usize, u32)> = None;
    let mut counts = vec![0usize; places.len()];
    let (mut distinct, mut end) = (0, 0);
    for begin in 0..all.len() {
        while end < all.len() && all[end].0 < all[begin].0 + SPAN {
            counts[all[end].1] += 1;
            distinct += usize::from(counts[all[end].1] == 1);
            end += 1;
        }
        let worth = distinct * 8 + (end - begin).min(7);
        if best.is_none_or(|(known, _)| worth > known) {
            best = Some((worth, all[begin].0));
        }
        counts[all[begin].1] -= 1;
        distinct -= usize::from(counts[all[begin].1] == 0);
    }
    best.map(|(_, place)| place)
}

/// The first byte of the word at a position.
fn byte_of(text: &str, position: u32) -> Option<usize> {
    let mut count = 0;
    let mut found = None;
    events(text, |event| {
        count += 1;
        if count == position {
            found = Some(event.start);
        }
        count < position
    });
    found
}

/// The beginning of the line, where that is hardly before.
fn begin_of_line(text: &str, from: usize) -> usize {
    let near = floor(text, from.saturating_sub(48));
    match text[near..from].rfind('\n') {
        Some(line) => near + line + 1,
        None if near == 0 => 0,
        None => from,
    }
}

/// Where a snippet ends that begins at a place: after the last word that fits.
fn end_of(text: &str, from: usize) -> usize {
    let rest = &text[from..];
    // No character takes more than four bytes, no column less than one; marks take none.
    let window = &rest[..floor(rest, (COLUMNS * 8).min(rest.len()))];
    let mut columns = 0;
    let mut limit = window.len();
    for (at, c) in window.char_indices() {
        columns += width(c);
        if columns > COLUMNS {
            limit = at;
            break;
        }
    }
    if from + limit == text.len() {
        return text.len();
    }
    let mut end = 0;
    events(window, |event| {
        let ends = event.start + event.text.len();
        if ends <= limit {
            end = ends;
        }
        ends <= limit
    });
    // One word longer than a snippet is cut between characters.
    if end == 0 { from + grapheme_floor(window, limit) } else { from + end }
}

/// Columns a character takes on a terminal.
fn width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x0E31 | 0x0E34..=0x0E3A | 0x0E47..=0x0E4E => 0,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF => 2,
        0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF => 2,
        0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

fn grapheme_floor(text: &str, at: usize) -> usize {
    use unicode_segmentation::UnicodeSegmentation;
    let mut last = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        if start + cluster.len() > at {
            break;
        }
        last = start + cluster.len();
    }
    if last == 0 { text.graphemes(true).next().map_or(0, str::len) } else { last }
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Marks that touch or overlap become one.
fn joined(mut marks: Vec<Range<usize>>, text: &str) -> Vec<Range<usize>> {
    marks.sort_unstable_by_key(|mark| (mark.start, mark.end));
    let mut out: Vec<Range<usize>> = Vec::new();
    for mark in marks {
        match out.last_mut() {
            Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
            // Parts of a dotted or hyphenated word are one match.
            Some(last) if matches!(&text[last.end..mark.start], "." | "-") => last.end = mark.end,
            _ => out.push(mark),
        }
    }
    out
}

/// Whether two words are at most so many letters apart.
fn within(a: &str, b: &str, distance: u8) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > usize::from(distance) || a.len() > 64 {
        return false;
    }
    // The last three rows of the table; a swap of neighbours is one step.
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *y && b[j - 1] == *x {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()] <= usize::from(distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_passage_with_most_of_the_words_is_taken() {
        assert_eq!(passage(&[vec![1, 100], vec![105]]), Some(100));
        assert_eq!(passage(&[vec![7]]), Some(7));
        assert_eq!(passage(&[vec![], vec![]]), None);
    }

    #[test]
    fn words_a_few_letters_apart_are_told() {
        assert!(within("spider", "spidre", 1) && within("spider", "spidder", 1));
        assert!(!within("spider", "sipdre", 1) && within("spider", "sipdre", 2));
        assert!(!within("a", "abcd", 2));
    }

    #[test]
    fn a_word_longer_than_a_snippet_is_cut_between_characters() {
        let text = "e\u{301}".repeat(1000);
        let end = end_of(&text, 0);
        assert!(end > 0 && end < text.len() && end.is_multiple_of(3), "{end}");
    }
}
