//! Which lines of a page surround what it says: menus, headers, footers, sidebars.
//!
//! * What this is: two signs that markup gives. Lines inside of `<nav>`, `<header>`, `<footer>` and
//!   `<aside>` surround the page, and so do lines of which most is links.
//! * Its place: `extract` tells what opens and closes, and asks at the end. The lines stay in the
//!   text; who compares pages may weigh them otherwise.
//! * Invariants: an element that is never closed surrounds nothing, so that a mistake in the markup
//!   takes no page away; what is remembered is bounded.
//! * What is not here: names of classes, which mean what their author likes.

use std::ops::Range;

/// Elements open inside of each other that are followed.
const MAX_DEPTH: usize = 32;
/// Elements and links that are remembered.
const MAX_MARKS: usize = 100_000;

/// What surrounds a page, while it is read. Places are bytes of the text.
#[derive(Debug, Default)]
pub(crate) struct Around {
    open: Vec<(u8, usize)>,
    elements: Vec<Range<usize>>,
    links: Vec<Range<usize>>,
}

impl Around {
    /// An element of some kind begins.
    pub(crate) fn open(&mut self, kind: u8, at: usize) {
        if self.open.len() < MAX_DEPTH {
            self.open.push((kind, at));
        }
    }

    /// The last element of a kind ends, and what was left open in it.
    pub(crate) fn close(&mut self, kind: u8, at: usize) {
        let Some(n) = self.open.iter().rposition(|(open, _)| *open == kind) else { return };
        let begin = self.open[n].1;
        self.open.truncate(n);
        if begin < at && self.elements.len() < MAX_MARKS {
            self.elements.push(begin..at);
        }
    }

    /// The words of a link.
    pub(crate) fn link(&mut self, words: Range<usize>) {
        if !words.is_empty() && self.links.len() < MAX_MARKS {
            self.links.push(words);
        }
    }

    /// The lines of the text that surround it, by their numbers.
    pub(crate) fn lines(mut self, text: &[u8]) -> Vec<Range<u32>> {
        let mut out: Vec<Range<u32>> = Vec::new();
        if self.elements.is_empty() && self.links.is_empty() {
            return out;
        }
        self.elements.sort_unstable_by_key(|element| element.start);
        let (mut elements, mut links) = (self.elements.iter(), self.links.iter().peekable());
        // Up to where everything lies inside of an element.
        let mut inside = elements.next().cloned().unwrap_or(0..0);
        let mut start = 0;
        for (n, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let end = start + line.len();
            while inside.end < end {
                match elements.next() {
                    Some(next) => inside = next.clone(),
                    None => break,
                }
            }
            let mut linked = 0;
            while let Some(link) = links.peek().filter(|link| link.start < end) {
                linked += link.end.min(end).saturating_sub(link.start.max(start));
                if link.end > end {
                    break;
                }
                links.next();
            }
            let around = inside.start <= start && end <= inside.end || 2 * linked > line.len();
            if around && !line.is_empty() {
                let n = n as u32;
                match out.last_mut().filter(|last| last.end == n) {
                    Some(last) => last.end += 1,
                    None => out.push(n..n + 1),
                }
            }
            start = end + 1;
        }
        out
    }
}
