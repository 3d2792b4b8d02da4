//! Words and lines out of glyphs set on a sheet.
//!
//! * What this is: [`Lines`]. A PDF says where every glyph stands, not where a word ends: that is
//!   told by the gap to the next, measured by the size of the letters.
//! * Its place: `text` tells it of every glyph; it calls nobody but `glyph`.
//! * Invariants: white space is folded; a line that goes on in the next row is one line; a word
//!   cut by a hyphen at the end of a row is one word; nothing beyond the limit is kept.
//! * What is not here: columns and tables. The order is the one the glyphs were set in.

use super::glyph::accented;

/// A gap wider than this part of the letters' size ends a word.
const GAP: f64 = 0.14;
/// A step back by more than this part ends one too.
const BACK: f64 = 0.6;
/// Rows further apart than so many sizes are no longer the same paragraph.
const APART: f64 = 1.75;

pub(super) type Point = (f64, f64);

pub(super) struct Lines {
    pub(super) text: String,
    limit: usize,
    pub(super) truncated: bool,
    last: Option<Last>,
}

/// The last glyph.
#[derive(Clone, Copy)]
struct Last {
    begin: Point,
    end: Point,
    size: f64,
}

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Lines { text: String::new(), limit, truncated: false, last: None }
    }

    /// Whether there is room for no more.
    pub(super) fn is_full(&self) -> bool {
        self.truncated
    }

    /// Ends the line.
    pub(super) fn break_line(&mut self) {
        self.last = None;
        self.end_line();
    }

    fn end_line(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    fn break_word(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    /// A row ends and the next goes on with it.
    fn break_row(&mut self, next: &str) {
        let cut = self.text.strip_suffix(['-', '\u{ad}', '‐']).filter(|before| {
            before.chars().next_back().is_some_and(char::is_alphabetic)
                && next.chars().next().is_some_and(char::is_lowercase)
        });
        match cut.map(str::len) {
            Some(length) => self.text.truncate(length),
            None => self.break_word(),
        }
    }

    /// Sets characters between two points, for letters of a size.
    pub(super) fn set(&mut self, text: &str, begin: Point, end: Point, size: f64, across: Point) {
        if self.text.len() + text.len() > self.limit {
            self.truncated = true;
            return;
        }
        if let Some(last) = self.last {
            let step = (begin.0 - last.end.0, begin.1 - last.end.1);
            let along = step.0 * across.0 + step.1 * across.1;
            let up = step.1 * across.0 - step.0 * across.1;
            let aside = up.abs();
            let larger = size.max(last.size);
            let back = (begin.0 - last.begin.0) * across.0 + (begin.1 - last.begin.1) * across.1;
            if aside > 0.5 * larger {
                let alike = (size - last.size).abs() < 0.15 * larger;
                match aside < APART * larger && alike && along < size {
                    true => self.break_row(text),
                    false if aside < 0.9 * larger && along.abs() < size => self.break_word(),
                    false => self.end_line(),
                }
            } else if along > GAP * size || self.is_note(text, up, size, last.size) {
                self.break_word();
            } else if along < 0.1 * -size && self.over(text, back, size) {
                self.last = Some(Last { begin, end, size });
                return;
            } else if along < -BACK * larger {
                // Set again a hair aside, to look bold.
                let again = back.abs() < 0.15 * size && self.text.ends_with(text);
                if again && !text.is_empty() {
                    return;
                }
                self.break_word();
            }
        }
        self.last = Some(Last { begin, end, size });
        for c in text.chars() {
            match c {
                'ﬀ' => self.text.push_str("ff"),
                'ﬁ' => self.text.push_str("fi"),
                'ﬂ' => self.text.push_str("fl"),
                'ﬃ' => self.text.push_str("ffi"),
                'ﬄ' => self.text.push_str("ffl"),
                'ﬅ' | 'ﬆ' => self.text.push_str("st"),
                c if c.is_whitespace() => self.break_word(),
                c => self.text.push(c),
            }
        }
    }

    /// Whether the number of a note begins here, above the end of a word, or ends before one.
    fn is_note(&self, text: &str, up: f64, size: f64, last_size: f64) -> bool {
        let begins = |wanted: fn(char) -> bool| text.chars().next().is_some_and(wanted);
        let is_digit = |c: char| c.is_ascii_digit();
        if size < 0.85 * last_size && up > 0.2 * last_size {
            let mut before = self.text.chars().rev();
            return begins(is_digit)
                && (0..3).all(|_| before.next().is_some_and(char::is_alphabetic));
        }
        if last_size < 0.85 * size && up < -0.2 * size {
            let word = self.text.rsplit([' ', '\n']).next().unwrap_or_default();
            return begins(char::is_alphabetic) && word.chars().all(is_digit);
        }
        false
    }

    /// An accent and the letter under it, set one over the other, become one letter.
    fn over(&mut self, text: &str, back: f64, size: f64) -> bool {
        let mut chars = text.chars();
        let (Some(c), None) = (chars.next(), chars.next()) else { return false };
        let Some(last) = self.text.chars().next_back() else { return false };
        if back.abs() > 0.6 * size {
            return false;
        }
        let letter = accented(last, c).or_else(|| accented(c, last));
        if let Some(letter) = letter {
            self.text.pop();
            self.text.push(letter);
        }
        letter.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets words of letters half as wide as they are high, at points.
    fn set(rows: &[(&str, f64, f64)]) -> String {
        let mut lines = Lines::new(1000);
        for &(text, x, y) in rows {
            for (i, c) in text.chars().enumerate() {
                let x = x + 5.0 * i as f64;
                lines.set(&c.to_string(), (x, y), (x + 5.0, y), 10.0, (1.0, 0.0));
            }
        }
        lines.text
    }

    #[test]
    fn gaps_end_words_and_rows_go_on() {
        assert_eq!(set(&[("two", 0.0, 0.0), ("words", 18.0, 0.0)]), "two words");
        assert_eq!(set(&[("ker", 0.0, 0.0), ("ned", 14.5, 0.0)]), "kerned");
        assert_eq!(set(&[("one", 0.0, 12.0), ("line", 0.0, 0.0)]), "one line");
        assert_eq!(set(&[("one", 0.0, 40.0), ("two", 0.0, 0.0)]), "one\ntwo");
        assert_eq!(set(&[("infor-", 0.0, 12.0), ("mation", 0.0, 0.0)]), "information");
        assert_eq!(set(&[("Jean-", 0.0, 12.0), ("Paul", 0.0, 0.0)]), "Jean- Paul");
        assert_eq!(set(&[("ofﬁce", 0.0, 0.0)]), "office");
    }

    #[test]
    fn the_number_of_a_note_is_no_part_of_a_word() {
        let mut lines = Lines::new(1000);
        let mut x = 0.0;
        for (text, y, size) in [("note", 0.0, 10.0), ("12", 4.0, 6.0), ("x", -30.0, 10.0)] {
            for c in text.chars() {
                lines.set(&c.to_string(), (x, y), (x + 5.0, y), size, (1.0, 0.0));
                x += 5.0;
            }
        }
        assert_eq!(lines.text, "note 12\nx");
        assert_eq!(set(&[("H", 0.0, 0.0), ("2O", 5.0, 0.0)]), "H2O");
    }

    #[test]
    fn an_accent_set_over_a_letter_is_part_of_it() {
        assert_eq!(set(&[("caf´", 0.0, 0.0), ("e", 15.0, 0.0)]), "café");
    }
}
