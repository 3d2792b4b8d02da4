//! The piece of a page's text that shows why it was found.
//!
//! * What this is: the best passage, with the words that matched marked in it.
//! * How: the index knows at which positions the words stand, so the passage is chosen before
//!   the text is looked at; it is then found by searching the text for the word it begins with,
//!   as often as that stands before it. Words are counted only where that cannot tell. Where the
//!   index has no positions (other forms of a word), the text is searched for the stem.
//! * Invariants: a snippet begins and ends between words, or between characters where words have
//!   no spaces, never inside a character with its marks; marks lie on such borders too.

use crate::analyse::{Form, Rules, Stems, Walk, events, quick_hash};
use crate::search::{Item, Stand};
use crate::texts::Shown;
use memchr::memchr2;
use std::ops::Range;

/// Characters of a snippet, about; wide ones count twice.
const COLUMNS: usize = 240;
/// Positions that a passage is chosen from.
const SPAN: u32 = 28;
/// Positions shown before the first word that matched.
const LEAD: u32 = 6;
/// Positions up to which a word is searched for rather than counted to.
const FAR: u32 = 4000;
/// Bytes of a text that are read where the index knows no positions.
const READ: usize = 32 << 10;
/// Bytes of it that are read for forms of a word that do not begin as its stem does.
const FORMS: usize = 4 << 10;
/// Bytes before the first word that matched in which the words shown before it are looked for.
const BEFORE: usize = 96;

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
    exact: Vec<&'i str>,
    stems: Vec<&'i str>,
    prefixes: Vec<&'i str>,
    near: Vec<(&'i str, u8)>,
    /// The first bytes of all words and stems.
    begins: [bool; 256],
    walk: Walk,
    table: Option<Stems>,
}

impl<'i> Marker<'i> {
    pub fn new(items: &'i [Item]) -> Self {
        let meant = items.iter().filter(|item| !item.stop);
        let words = meant.clone().flat_map(|item| item.terms.iter().map(|(_, word)| &**word));
        let exact: Vec<&str> = words.chain(meant.filter_map(|i| i.whole.as_deref())).collect();
        let stems: Vec<&str> = items.iter().flat_map(|i| i.stems.iter().map(|s| &**s)).collect();
        let mut begins = [false; 256];
        for byte in exact.iter().chain(&stems).filter_map(|word| word.as_bytes().first()) {
            begins[usize::from(*byte)] = true;
        }
        Marker {
            exact,
            stems,
            prefixes: items.iter().filter_map(|item| item.prefix.as_deref()).collect(),
            near: items.iter().filter_map(|i| i.near.as_ref().map(|(w, d)| (&**w, *d))).collect(),
            begins,
            walk: Walk::default(),
            table: None,
        }
    }

    /// Cuts the best passage out of a text; `stands` are the places of the words in it, `loose`
    /// tells that other forms of them are there.
    pub fn cut(&mut self, page: &Shown<'_>, stands: &[Stand], loose: bool) -> Snippet {
        let text = page.text;
        let rules = page.language.and_then(Rules::of);
        let from = match passage(stands) {
            Some((stand, place)) => {
                // Far in a text counting is quicker, once somebody has counted.
                let milestones = if place > FAR { page.milestones() } else { &[] };
                let counted = || byte_of(text, milestones, place.saturating_sub(LEAD).max(1));
                if !milestones.is_empty() {
                    counted()
                } else {
                    let found = nth_of(text, &stand.word, nth(stand, place));
                    found.map(|byte| some_before(text, byte)).or_else(counted)
                }
            }
            None if loose || !self.prefixes.is_empty() || !self.near.is_empty() => {
                let stem = self.stems.iter().filter_map(|stem| self.like(text, stem)).min();
                let stem = stem.map(|byte| some_before(text, byte));
                // The rules know more forms than these, but reading on for them takes long.
                let read = if loose { FORMS } else { READ };
                let read = &text[..floor(text, read.min(text.len()))];
                stem.or_else(|| self.first_match(read, rules))
            }
            None => None,
        };
        let Some(from) = from else {
            // Nothing in the text matches: what the page says of itself, or how it begins.
            if !page.description.is_empty() {
                return self.marked(page.description, 0, rules);
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
        let mut found = None;
        // A few words before it are shown as well.
        let mut last = [0; LEAD as usize];
        let mut walk = std::mem::take(&mut self.walk);
        walk.tokens(text, |token| {
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

    /// Where a word first begins as another form of a stem does: nearly all forms share all of
    /// it but its last letter. What is shown is marked by the rules; this only looks for it.
    fn like(&self, text: &str, stem: &str) -> Option<usize> {
        let begin = stem.get(..stem.len().checked_sub(1)?).filter(|begin| begin.len() >= 3)?;
        let text = &text[..floor(text, READ.min(text.len()))];
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(found) = find(text, begin, at) {
            let letters = bytes[found..].iter().take_while(|b| b.is_ascii_alphabetic()).count();
            let begins = found == 0 || !bytes[found - 1].is_ascii_alphanumeric();
            // Longer endings than these make other words of it.
            if begins && letters <= stem.len() + 5 {
                return Some(found);
            }
            at = found + 1;
        }
        None
    }

    fn matches(&mut self, word: &str, raw: &str, form: Form, rules: Option<Rules>) -> bool {
        let begins = word.as_bytes().first().is_some_and(|byte| self.begins[usize::from(*byte)]);
        if begins && self.exact.contains(&word) {
            return true;
        }
        if form != Form::Word {
            return false;
        }
        if word.contains(['\'', '_'])
            && word.split(['\'', '_']).any(|p| self.exact.contains(&p) || self.stems.contains(&p))
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
        if begins && self.stems.contains(&word) {
            return true;
        }
        let Some(rules) = rules else { return false };
        // Stemming is slow; most words begin otherwise than all that are looked for.
        if raw.is_ascii() && !begins {
            return false;
        }
        let table = self.table.get_or_insert_with(|| Stems::remembering(1024));
        let stem = table.of(rules, raw, word, quick_hash(word));
        stem.is_some_and(|stem| self.stems.contains(&stem))
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

/// Where the passage begins that holds most of the words, and those most often: the form of a
/// word that begins it, and its place.
fn passage(stands: &[Stand]) -> Option<(&Stand, u32)> {
    let mut all: Vec<(u32, usize)> = Vec::new();
    for (n, stand) in stands.iter().enumerate() {
        all.extend(stand.chosen.iter().map(|place| (*place, n)));
    }
    all.sort_unstable();
    let mut best: Option<(usize, usize)> = None;
    let items = stands.iter().map(|stand| stand.item + 1).max().unwrap_or(0);
    let mut counts = vec![0usize; items];
    let (mut distinct, mut end) = (0, 0);
    for begin in 0..all.len() {
        while end < all.len() && all[end].0 < all[begin].0 + SPAN {
            let count = &mut counts[stands[all[end].1].item];
            *count += 1;
            distinct += usize::from(*count == 1);
            end += 1;
        }
        let worth = distinct * 8 + (end - begin).min(7);
        if best.is_none_or(|(known, _)| worth > known) {
            best = Some((worth, begin));
        }
        let count = &mut counts[stands[all[begin].1].item];
        *count -= 1;
        distinct -= usize::from(*count == 0);
    }
    best.map(|(_, begin)| (&stands[all[begin].1], all[begin].0))
}

/// How often a word stands before one of its places.
fn nth(stand: &Stand, place: u32) -> usize {
    stand.places.partition_point(|other| *other < place)
}

/// The first byte of a word that stands `before` times before it; nothing where searching cannot
/// tell, as words are folded and parted by more rules than these.
fn nth_of(text: &str, word: &str, before: usize) -> Option<usize> {
    let mut left = before;
    let mut at = 0;
    while let Some(found) = find(text, word, at) {
        at = found + 1;
        let (first, last) = (word.chars().next()?, word.chars().next_back()?);
        let mut rest = text[found + word.len()..].chars();
        let mut head = text[..found].chars().rev();
        let alone =
            !joins(first, head.next(), head.next())? && !joins(last, rest.next(), rest.next())?;
        if alone && left == 0 {
            return Some(found);
        }
        left -= usize::from(alone);
    }
    None
}

/// Whether a character beside the end of a word makes it part of a longer one; nothing where that
/// is not easily told.
fn joins(end: char, beside: Option<char>, behind: Option<char>) -> Option<bool> {
    let alike = |behind: Option<char>| match end.is_ascii_digit() {
        true => behind.is_some_and(|c| c.is_ascii_digit()),
        false => behind.is_some_and(|c| c.is_ascii_alphabetic()),
    };
    match beside {
        None => Some(false),
        Some('\'') if behind.is_none_or(|c| c.is_ascii()) => Some(alike(behind)),
        Some(',') if behind.is_none_or(|c| c.is_ascii()) => {
            Some(end.is_ascii_digit() && alike(behind))
        }
        Some(',' | '\'') => None,
        Some(c) if c.is_ascii() => Some(c.is_ascii_alphanumeric() || c == '_'),
        // Spaces, dashes, quotation marks, arrows, signs for sections and paragraphs.
        Some(
            '\u{A0}' | '§' | '¶' | '«' | '»' | '\u{2010}'..='\u{2018}' | '\u{201A}'..='\u{2022}',
        ) => Some(false),
        Some('…' | '\u{2190}'..='\u{21FF}') => Some(false),
        Some(_) => None,
    }
}

/// How rare a letter is in texts: its place here, the rarest first.
const RARE: &[u8] = b"0123456789zqxjkvbpygfwmucldrhsnioate";

/// Where ASCII letters and digits stand next in a text, large or small; nothing else is looked for.
fn find(text: &str, word: &str, from: usize) -> Option<usize> {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    let rarity = |byte: u8| RARE.iter().position(|rare| *rare == byte);
    let rarities: Option<Vec<usize>> = word.iter().map(|byte| rarity(*byte)).collect();
    let rarest = rarities?.into_iter().enumerate().min_by_key(|(_, rarity)| *rarity)?.0;
    let (small, large) = (word[rarest], word[rarest].to_ascii_uppercase());
    let mut at = from + rarest;
    loop {
        at += memchr2(small, large, bytes.get(at..)?)?;
        let begin = at - rarest;
        if bytes.get(begin..begin + word.len())?.eq_ignore_ascii_case(word) {
            return Some(begin);
        }
        at += 1;
    }
}

/// Where a few words before a place begin, as far as that is easily told.
fn some_before(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut begin = from;
    let mut words = 0;
    for at in (from.saturating_sub(BEFORE)..from).rev() {
        let space = |at: usize| bytes[at].is_ascii_whitespace();
        if !space(at) && (at == 0 || space(at - 1)) {
            begin = at;
            words += 1;
            if words == LEAD {
                break;
            }
        }
    }
    begin
}

/// The first byte of the word at a position, counted from the last milestone before it.
fn byte_of(text: &str, milestones: &[(u32, usize)], position: u32) -> Option<usize> {
    let passed = milestones.partition_point(|(milestone, _)| *milestone <= position);
    let (milestone, base) = passed.checked_sub(1).map_or((1, 0), |n| milestones[n]);
    let mut count = milestone - 1;
    let mut found = None;
    events(&text[base..], |event| {
        count += 1;
        if count == position {
            found = Some(base + event.start);
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
        let stand = |item, places: &[u32]| Stand {
            item,
            word: "x".into(),
            places: places.to_vec(),
            chosen: places.to_vec(),
        };
        let place = |stands: &[Stand]| passage(stands).map(|(_, place)| place);
        assert_eq!(place(&[stand(0, &[1, 100]), stand(1, &[105])]), Some(100));
        assert_eq!(place(&[stand(0, &[7])]), Some(7));
        assert_eq!(place(&[stand(0, &[]), stand(1, &[])]), None);
    }

    #[test]
    fn a_word_is_found_where_counting_finds_it() {
        let text = "Spiders and spider_webs: a spider, SPIDER's; x-spider.Spider spider";
        let places: Vec<(u32, usize)> = {
            let mut places = Vec::new();
            Walk::default().tokens(text, |token| {
                if token.text == "spider" && token.form == Form::Word {
                    places.push((token.position, token.start));
                }
                true
            });
            places
        };
        assert_eq!(places.len(), 4);
        for (n, (_, start)) in places.iter().enumerate() {
            assert_eq!(nth_of(text, "spider", n), Some(*start), "{n}");
        }
        assert_eq!(nth_of("1,000 100,1 (100), 100—", "100", 0), Some(13));
        assert_eq!(nth_of("1,000 100,1 (100), 100—", "100", 1), Some(19));
        assert_eq!(nth_of("spideré spider", "spider", 0), None, "left to those who count");
        assert_eq!(nth_of("a spider", "spider", 1), None);
        assert_eq!(nth_of("über é spider", "é", 0), None);
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
