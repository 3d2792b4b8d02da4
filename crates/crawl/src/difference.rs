//! What changed on a page from one version to another, word by word.
//!
//! * What this is: [`Difference`], two versions and what they say; as rows for programs, as lines for whoever shows
//!   them to people.
//! * Its place: `argiope diff` and the pages of `serve`.
//! * What is not here: which words went and came (`archive`), colours and markup.

use crate::versions::{Shelf, VersionError, Versions};
use argiope_archive::{Piece, Sight, TextBlob, Volatile, compare, word_diff};
use argiope_model::Time;
use serde_json::{Value, json};

/// Two versions of a page and what they say.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The page.
    pub url: String,
    /// When the versions were seen, the older first.
    pub times: [Time; 2],
    texts: [TextBlob; 2],
}

/// Why two versions are not compared.
#[derive(Debug, thiserror::Error)]
pub enum NoDifference {
    /// There are no two.
    #[error("{0}")]
    NoPair(String),
    /// The page asks that no copy of it be shown.
    #[error("{0} asks that no copy of it be shown (noarchive)")]
    Hidden(String),
    /// One of them has no text.
    #[error("no text was extracted from the version of {}", .0.iso_seconds())]
    NoText(Time),
    /// One of them cannot be read.
    #[error(transparent)]
    Unreadable(#[from] VersionError),
}

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine<'a> {
    /// Its pieces, and whether space stands before each.
    pub pieces: Vec<(bool, Piece<'a>)>,
    /// Whether anything in it changed.
    pub changed: bool,
}

impl Difference {
    /// The difference between the last document until `to` and the last until `from`, or the last before it with
    /// another text. `hidden`: also of a page that asks not to be shown.
    pub fn between(
        shelf: &Shelf<'_>,
        page: &Versions,
        from: Option<Time>,
        to: Option<Time>,
        hidden: bool,
    ) -> Result<Self, NoDifference> {
        let (old, new) = shelf.pair(page, from, to)?.map_err(NoDifference::NoPair)?;
        let captures = [&page.captures[old], &page.captures[new]];
        if captures.iter().any(|c| c.directives.noarchive) && !hidden {
            return Err(NoDifference::Hidden(page.url.to_string()));
        }
        let text = |n: usize| {
            let text = shelf.text(page, n)?;
            text.ok_or(NoDifference::NoText(page.captures[n].time))
        };
        let texts = [text(old)?, text(new)?];
        Ok(Self::of(page.url.to_string(), captures.map(|c| c.time), texts))
    }

    /// The difference between two texts.
    pub fn of(url: String, times: [Time; 2], texts: [TextBlob; 2]) -> Self {
        Difference { url, times, texts }
    }

    /// The language of the newer version.
    pub fn language(&self) -> Option<&str> {
        self.texts[1].language.as_deref()
    }

    /// Title and text with what was done to them.
    fn pieces(&self) -> [Vec<Piece<'_>>; 2] {
        let [old, new] = &self.texts;
        let title = match old.title == new.title {
            true => Vec::new(),
            false => word_diff(&old.title, &new.title),
        };
        [title, word_diff(&old.text, &new.text)]
    }

    /// Whether there was space before a piece, in the text that it is a part of.
    fn is_spaced(&self, piece: &Piece<'_>) -> bool {
        let (which, part) = match piece {
            Piece::Gone(part) => (0, part),
            Piece::Same(part) | Piece::Come(part) => (1, part),
        };
        let TextBlob { title, text, .. } = &self.texts[which];
        [title, text].into_iter().any(|whole| {
            let begin = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
            whole.get(..begin).is_some_and(|before| before.ends_with(char::is_whitespace))
        })
    }

    /// Title and text line by line; no line of a title that stayed.
    pub fn lines(&self) -> [Vec<DiffLine<'_>>; 2] {
        self.pieces().map(|pieces| self.by_lines(&pieces))
    }

    fn by_lines<'a>(&'a self, pieces: &[Piece<'a>]) -> Vec<DiffLine<'a>> {
        let empty = || DiffLine { pieces: Vec::new(), changed: false };
        let (mut out, mut here) = (Vec::new(), empty());
        for piece in pieces {
            let (text, make): (&'a str, fn(&'a str) -> Piece<'a>) = match piece {
                Piece::Same(text) => (text, Piece::Same),
                Piece::Gone(text) => (text, Piece::Gone),
                Piece::Come(text) => (text, Piece::Come),
            };
            for (n, part) in text.split('\n').enumerate() {
                if n > 0 {
                    out.push(std::mem::replace(&mut here, empty()));
                }
                if !part.trim().is_empty() {
                    here.changed |= !matches!(piece, Piece::Same(_));
                    let piece = make(part.trim());
                    let spaced = !here.pieces.is_empty() && self.is_spaced(&piece);
                    here.pieces.push((spaced, piece));
                }
            }
        }
        out.push(here);
        out.retain(|line| !line.pieces.is_empty());
        out
    }

    /// As rows: one of totals, and one for each change.
    pub fn rows(&self) -> Vec<Value> {
        let sight = |n: usize| Sight {
            title: &self.texts[n].title,
            text: &self.texts[n].text,
            time: Some(self.times[n]),
        };
        let change = compare(&sight(0), &sight(1), &Volatile::default());
        let [title, text] = self.pieces();
        let (mut gone, mut come) = (0, 0);
        let mut out = Vec::new();
        for (field, pieces) in [("title", title), ("text", text)] {
            let mut line = 1;
            let mut at = 0;
            while at < pieces.len() {
                let (old, new) = match (&pieces[at], pieces.get(at + 1)) {
                    (Piece::Same(same), _) => {
                        line += same.matches('\n').count();
                        at += 1;
                        continue;
                    }
                    (Piece::Gone(old), Some(Piece::Come(new))) => (*old, *new),
                    (Piece::Gone(old), _) => (*old, ""),
                    (Piece::Come(new), _) => ("", *new),
                };
                out.push(json!({ "field": field, "line": line, "removed": old, "added": new }));
                (gone, come) = (gone + count(old), come + count(new));
                line += new.matches('\n').count();
                at += if old.is_empty() || new.is_empty() { 1 } else { 2 };
            }
        }
        let head = json!({
            "url": self.url,
            "from": self.times[0].to_string(),
            "to": self.times[1].to_string(),
            "words_removed": gone,
            "words_added": come,
            "changed": change.counts,
            "change": (change.share * 10_000.0).round() / 10_000.0,
            "reason": change.reason,
        });
        [head].into_iter().chain(out).collect()
    }
}

/// Which lines stand near a change: at most `around` lines away.
pub fn near_changes(lines: &[DiffLine<'_>], around: usize) -> Vec<bool> {
    let near = |n: usize| {
        let last = lines.len().min(n + around + 1);
        lines[n.saturating_sub(around)..last].iter().any(|line| line.changed)
    };
    (0..lines.len()).map(near).collect()
}

fn count(text: &str) -> usize {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(old: &str, new: &str) -> Difference {
        let blob = |text: &str| TextBlob { text: text.to_owned(), ..TextBlob::default() };
        Difference::of("http://a.test/".into(), [Time(0), Time(1000)], [blob(old), blob(new)])
    }

    #[test]
    fn pieces_are_spaced_as_their_words_were() {
        let close = difference("at 10:20:00", "at 10:23:00");
        let [title, text] = close.lines();
        assert!(title.is_empty());
        let told: Vec<(bool, Piece<'_>)> = text[0].pieces.clone();
        let expected = [
            (false, Piece::Same("at 10:")),
            (false, Piece::Gone("20")),
            (false, Piece::Come("23")),
            (false, Piece::Same(":00")),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn rows_tell_what_went_and_came_and_where() {
        let same = "one\ntwo\nthree\nfour\nfive";
        let two = difference(
            &format!("{same}\nThe web, spun."),
            &format!("{same}\nThe net, spun.\nAnd more"),
        );
        let rows = two.rows();
        assert_eq!((&rows[1]["removed"], &rows[1]["added"]), (&json!("web"), &json!("net")));
        assert_eq!((&rows[0]["words_removed"], &rows[0]["words_added"]), (&json!(1), &json!(3)));
        assert_eq!(rows[0]["changed"], true);
        let [_, lines] = two.lines();
        assert_eq!(near_changes(&lines, 1), [false, false, false, false, true, true, true]);
    }
}
