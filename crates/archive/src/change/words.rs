//! Two texts word by word: what went, what came, what stayed.
//!
//! A word is a run of letters and digits; a character of a script without spaces is a word of its
//! own; so is every sign and every line end. Space between words is no difference.

use super::diff::hunks;
use std::collections::HashMap;

/// A piece of the difference of two texts. Its words stand as they stood there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// In both; as the new text has it.
    Same(&'a str),
    /// Only in the old one.
    Gone(&'a str),
    /// Only in the new one.
    Come(&'a str),
}

/// Words of a text and how many of them there are.
pub(super) struct Words<'a> {
    text: &'a str,
    /// Begin and end of each token.
    at: Vec<(usize, usize)>,
}

impl<'a> Words<'a> {
    pub fn of(text: &'a str) -> Self {
        let mut at = Vec::new();
        let mut begin: Option<usize> = None;
        for (n, c) in text.char_indices() {
            let of_word = c.is_alphanumeric() && !stands_alone(c);
            if let Some(first) = begin.filter(|_| !of_word) {
                at.push((first, n));
                begin = None;
            }
            if of_word {
                begin.get_or_insert(n);
            } else if c == '\n' || !c.is_whitespace() {
                at.push((n, n + c.len_utf8()));
            }
        }
        at.extend(begin.map(|first| (first, text.len())));
        Words { text, at }
    }

    fn token(&self, n: usize) -> &'a str {
        let (begin, end) = self.at[n];
        &self.text[begin..end]
    }

    /// Whether a token is a word, not a sign or a line end.
    fn is_word(&self, n: usize) -> bool {
        self.token(n).starts_with(char::is_alphanumeric)
    }

    pub fn count(&self) -> usize {
        (0..self.at.len()).filter(|n| self.is_word(*n)).count()
    }

    /// Tokens from one to another, with what stands between them.
    fn piece(&self, tokens: std::ops::Range<usize>) -> &'a str {
        match tokens.is_empty() {
            true => "",
            false => &self.text[self.at[tokens.start].0..self.at[tokens.end - 1].1],
        }
    }
}

/// Scripts that write without spaces: a character is a word there.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF
        | 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

/// Every token as a number, equal ones the same on both sides.
pub(super) fn numbered(sides: [&mut dyn Iterator<Item = &str>; 2]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<&str, u32> = HashMap::new();
    let [old, new] = sides.map(|side| {
        let number = |token| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(token).or_insert(next)
        };
        side.map(number).collect::<Vec<u32>>()
    });
    (old, new)
}

/// What stayed, went and came, in the order of the texts: what went stands before what came.
///
/// Time and memory are bounded for texts of any length: where two have too little in common, what
/// lies between the words they share is told as gone and come.
pub fn word_diff<'a>(old: &'a str, new: &'a str) -> Vec<Piece<'a>> {
    let (old, new) = (Words::of(old), Words::of(new));
    let mut out = Vec::new();
    let mut y = 0;
    for hunk in differences(&old, &new) {
        if hunk.new.start > y {
            out.push(Piece::Same(new.piece(y..hunk.new.start)));
        }
        if !hunk.old.is_empty() {
            out.push(Piece::Gone(old.piece(hunk.old)));
        }
        y = hunk.new.end;
        if !hunk.new.is_empty() {
            out.push(Piece::Come(new.piece(hunk.new)));
        }
    }
    if y < new.at.len() {
        out.push(Piece::Same(new.piece(y..new.at.len())));
    }
    out
}

/// How many words went and how many came.
pub(super) fn words_changed(old: &str, new: &str) -> (usize, usize) {
    let (old, new) = (Words::of(old), Words::of(new));
    let (mut gone, mut come) = (0, 0);
    for hunk in differences(&old, &new) {
        gone += hunk.old.filter(|n| old.is_word(*n)).count();
        come += hunk.new.filter(|n| new.is_word(*n)).count();
    }
    (gone, come)
}

fn differences(old: &Words<'_>, new: &Words<'_>) -> Vec<super::diff::Hunk> {
    let (a, b) = numbered([
        &mut (0..old.at.len()).map(|n| old.token(n)),
        &mut (0..new.at.len()).map(|n| new.token(n)),
    ]);
    hunks(&a, &b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_signs_and_line_ends_are_told_apart() {
        let found = word_diff("The web, spun\nby a spider.", "The net, spun by\na spider!");
        let expected = [
            Piece::Same("The"),
            Piece::Gone("web"),
            Piece::Come("net"),
            Piece::Same(", spun"),
            Piece::Gone("\n"),
            Piece::Same("by"),
            Piece::Come("\n"),
            Piece::Same("a spider"),
            Piece::Gone("."),
            Piece::Come("!"),
        ];
        assert_eq!(found, expected);
        assert_eq!(words_changed("one two three", "one 2 three four"), (1, 2));
    }

    #[test]
    fn where_words_have_no_spaces_a_character_is_one() {
        let found = word_diff("蜘蛛の網", "蜘蛛の巣");
        assert_eq!(found, [Piece::Same("蜘蛛の"), Piece::Gone("網"), Piece::Come("巣")]);
        assert_eq!(Words::of("蜘蛛の巣 web").count(), 5);
    }

    #[test]
    fn equal_texts_have_one_piece_and_empty_ones_none() {
        assert_eq!(word_diff("a b", "a  b"), [Piece::Same("a  b")]);
        assert_eq!(word_diff("", ""), []);
        assert_eq!(word_diff("", "a"), [Piece::Come("a")]);
    }

    proptest! {
        #[test]
        fn the_pieces_hold_every_word_of_both_texts(old in "[ab ,\n]{0,40}", new in "[ab ,\n]{0,40}") {
            let bare = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            let pieces = word_diff(&old, &new);
            let side = |is_new: bool| pieces.iter().filter_map(|p| match p {
                Piece::Same(text) => Some(*text),
                Piece::Gone(text) => (!is_new).then_some(*text),
                Piece::Come(text) => is_new.then_some(*text),
            }).collect::<String>();
            prop_assert_eq!(bare(&side(true)), bare(&new));
            prop_assert_eq!(bare(&side(false)), bare(&old));
        }
    }
}
