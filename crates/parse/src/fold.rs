//! Text with its white space folded, built from pieces of any size.
//!
//! * What this is: the buffer behind the visible text and the title of a page.
//! * Its place: `extract` pushes what the tokenizer emits.
//! * Invariants: never two separators in a row, none at the beginning; a separator is one
//!   space, or one line feed where a block begins or ends; no controls.
//! * What is not here: Unicode spaces. Only the white space of HTML folds; a no-break space
//!   is a character of the text.

use std::borrow::Cow;

/// What stands between the last word and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
}

/// A growing text. Bytes and not `str`, because the tokenizer may hand over a character in
/// two pieces; it is checked once, at the end.
#[derive(Debug)]
pub(crate) struct Folded {
    bytes: Vec<u8>,
    gap: Gap,
    limit: usize,
    full: bool,
}

/// The white space of HTML.
#[inline]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}

impl Folded {
    /// An empty text that takes at most `limit` bytes.
    pub(crate) fn new(limit: usize, capacity: usize) -> Self {
        Folded {
            bytes: Vec::with_capacity(capacity.min(limit)),
            gap: Gap::None,
            limit,
            full: false,
        }
    }

    /// A place to take words from later, see [`Folded::since`].
    pub(crate) fn mark(&self) -> usize {
        self.bytes.len()
    }

    /// The words added after `mark` was taken, in one line of at most `cap` bytes.
    pub(crate) fn since(&self, mark: usize, cap: usize) -> String {
        let words = self.bytes.get(mark..).unwrap_or_default().trim_ascii();
        let mut line = words[..floor_boundary(words, cap)].to_vec();
        for b in &mut line {
            if *b == b'\n' {
                *b = b' ';
            }
        }
        trimmed(into_text(line))
    }

    /// Whether something was left out because the limit was reached.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether no word has been added yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next word stands on its own line.
    pub(crate) fn break_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// The next word is apart from the last one.
    pub(crate) fn break_word(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// Adds characters. Words with single spaces between them are copied in one go.
    pub(crate) fn push(&mut self, s: &[u8]) {
        // A reference such as `&#155;` comes alone; controls that were written out never come.
        if matches!(s, [0x7f] | [0xc2, 0x80..=0x9f]) {
            return;
        }
        let mut at = 0;
        while at < s.len() {
            if is_space(s[at]) {
                self.break_word();
                at += 1;
                continue;
            }
            if s[at] < b' ' {
                at += 1;
                continue;
            }
            let start = at;
            loop {
                // Everything above the space is part of a word: one comparison per byte.
                while at < s.len() && s[at] > b' ' {
                    at += 1;
                }
                match s.get(at + 1) {
                    Some(&next) if s[at] == b' ' && next > b' ' => at += 1,
                    _ => break,
                }
            }
            self.append(&s[start..at]);
        }
    }

    fn append(&mut self, words: &[u8]) {
        if self.full {
            return;
        }
        if self.bytes.len() + words.len() >= self.limit {
            self.full = true;
            self.append_up_to_limit(words);
            return;
        }
        if self.gap != Gap::None {
            if !self.bytes.is_empty() {
                self.bytes.push(if self.gap == Gap::Line { b'\n' } else { b' ' });
            }
            self.gap = Gap::None;
        }
        self.bytes.extend_from_slice(words);
    }

    #[cold]
    fn append_up_to_limit(&mut self, words: &[u8]) {
        if self.gap != Gap::None && !self.bytes.is_empty() {
            self.bytes.push(if self.gap == Gap::Line { b'\n' } else { b' ' });
        }
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&words[..floor_boundary(words, room)]);
    }

    /// The whole text.
    pub(crate) fn into_string(self) -> String {
        into_text(self.bytes)
    }
}

/// Bytes that should be UTF-8 as a text: no copy when they are.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// The largest length up to `cap` that does not cut a character in two.
pub(crate) fn floor_boundary(bytes: &[u8], cap: usize) -> usize {
    if cap >= bytes.len() {
        return bytes.len();
    }
    let lowest = cap.saturating_sub(3);
    (lowest..=cap).rev().find(|&i| bytes[i] & 0xC0 != 0x80).unwrap_or(cap)
}

/// How many bytes of white space or of a line's end a text begins with: that of HTML, the line and
/// paragraph separators of Unicode, and controls, which `&#27;` makes of harmless bytes.
fn gap_at(bytes: &[u8]) -> usize {
    match bytes {
        [0..=b' ' | 0x7f, ..] => 1,
        [0xc2, 0x80..=0x9f, ..] => 2,
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
        _ => 0,
    }
}

/// Folds bytes into one line of at most `cap` bytes, trimmed.
pub(crate) fn one_line(bytes: &[u8], cap: usize) -> String {
    let mut line = Vec::with_capacity(bytes.len().min(cap));
    let mut rest = bytes;
    let mut gap = false;
    while let Some((&b, behind)) = rest.split_first() {
        let skip = gap_at(rest);
        if skip > 0 {
            gap = !line.is_empty();
            rest = &rest[skip..];
            continue;
        }
        // What turns the letters behind it around makes one thing look like another.
        if let [0xe2, 0x80, 0xaa..=0xae, behind @ ..] | [0xe2, 0x81, 0xa6..=0xa9, behind @ ..] =
            rest
        {
            rest = behind;
            continue;
        }
        if gap {
            line.push(b' ');
            gap = false;
        }
        line.push(b);
        rest = behind;
        if line.len() > cap {
            break;
        }
    }
    line.truncate(floor_boundary(&line, cap));
    trimmed(into_text(line))
}

/// Without the spaces around it, no-break spaces included.
fn trimmed(line: String) -> String {
    let trimmed = line.trim();
    if trimmed.len() == line.len() { line } else { trimmed.to_owned() }
}

/// A text without the characters that HTML forbids: the tokenizer keeps an error for each of them,
/// and a page of nothing else would fill the memory.
pub(crate) fn without_controls(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_bad = |c: char| {
        c.is_control() && !matches!(c, '\t' | '\n' | '\u{c}' | '\r')
            || matches!(c, '\u{fdd0}'..='\u{fdef}')
            || u32::from(c) & 0xfffe == 0xfffe
    };
    if !text.contains(is_bad) {
        return text;
    }
    text.chars()
        .filter_map(|c| match c {
            '\u{85}' => Some(' '),
            c => (!is_bad(c)).then_some(c),
        })
        .collect::<String>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_does_not_turn_its_letters_around() {
        assert_eq!(
            one_line("a \u{202e}gnp.exe\u{202d} b\u{2028}c".as_bytes(), 100),
            "a gnp.exe b c"
        );
        assert_eq!(one_line("\u{202a}a\u{2066}b\u{2069}c\u{200f}".as_bytes(), 100), "abc\u{200f}");
    }

    #[test]
    fn controls_are_gaps_however_they_were_written() {
        assert_eq!(
            one_line("a\x1b]0;x\x07\x7fb\u{9b}31m\u{a0}c".as_bytes(), 100),
            "a ]0;x b 31m\u{a0}c"
        );
        assert_eq!(folded(&["a", "\x1b", "]0;x", "\x07", "b\x01c d"]), "a]0;xbc d");
        assert_eq!(folded(&["a", "\x7f", "b", "\u{9b}", "c"]), "abc");
    }

    fn folded(pieces: &[&str]) -> String {
        let mut f = Folded::new(1000, 0);
        for p in pieces {
            f.push(p.as_bytes());
        }
        f.into_string()
    }

    #[test]
    fn white_space_folds_across_pieces() {
        assert_eq!(folded(&["  a b\t\nc ", " d", "e  "]), "a b c de");
        assert_eq!(folded(&["\n", " ", ""]), "");
        assert_eq!(folded(&["a\u{a0} b"]), "a\u{a0} b");
        assert_eq!(folded(&["\0a\0 \0b", "\0", "c d\0"]), "a bc d");
    }

    #[test]
    fn a_line_break_is_stronger_than_a_space() {
        let mut f = Folded::new(1000, 0);
        f.break_line();
        f.push(b"a ");
        f.break_line();
        f.push(b" ");
        f.break_word();
        f.push(b"b");
        assert_eq!(f.into_string(), "a\nb");
    }

    #[test]
    fn the_limit_never_cuts_a_character() {
        let mut f = Folded::new(4, 0);
        f.push("abcé".as_bytes());
        f.push(b"x");
        assert!(f.is_full());
        assert_eq!(f.into_string(), "abc");
        assert_eq!(one_line("ééé".as_bytes(), 3), "é");
        assert_eq!(one_line(b" \n a \n b ", 512), "a b");
        assert_eq!(one_line("\u{2028}a\u{2029}\u{85} b\u{2028}".as_bytes(), 512), "a b");
    }
}
