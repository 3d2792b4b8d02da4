//! Taking hints to connect out of copies that a browser is going to show.
//!
//! * A policy keeps a page from fetching anything, but not from hints: `<link rel=preconnect>`, and a frame before it is
//!   refused, make a browser open a connection to whoever is named there. Neither has another use under our
//!   policy, so their names are spoilt, in place and without changing any length.
//! * Invariants: works on a stream, whatever pieces it comes in; one-byte encodings, UTF-8 and UTF-16 alike, since
//!   the name of an element is always written in plain letters. In SVG the names of other namespaces, and entities that
//!   could make them up, are spoilt too.
//! * What is not here: scripts, frames, pictures. The policy keeps those out.

/// What is looked for, in small letters, and which of its letters is spoilt.
const HTML: [(&str, usize); 3] = [("<link", 2), ("<iframe", 2), ("<frame", 2)];
const SVG: [(&str, usize); 7] = [
    ("<link", 2),
    ("<iframe", 2),
    ("<frame", 2),
    (":link", 2),
    (":iframe", 2),
    (":frame", 2),
    ("<!entity", 5),
];
/// What a spoilt letter becomes.
const SPOILT: u8 = b'1';

/// A stream without such hints.
pub(super) struct Defused {
    patterns: Vec<(Vec<u8>, usize)>,
    longest: usize,
    held: Vec<u8>,
}

impl Defused {
    pub fn html() -> Self {
        Self::of(&HTML)
    }

    pub fn svg() -> Self {
        Self::of(&SVG)
    }

    fn of(patterns: &[(&str, usize)]) -> Self {
        let narrow = patterns.iter().map(|(text, at)| (text.as_bytes().to_vec(), *at));
        let wide = patterns.iter().map(|(text, at)| {
            let mut bytes: Vec<u8> = text.bytes().flat_map(|b| [b, 0]).collect();
            bytes.pop();
            (bytes, 2 * at)
        });
        let patterns: Vec<_> = narrow.chain(wide).collect();
        let longest = patterns.iter().map(|(p, _)| p.len()).max().unwrap_or(1);
        Defused { patterns, longest, held: Vec::new() }
    }

    /// The next piece; what may be the beginning of a hint is held back.
    pub fn feed(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        for (pattern, at) in &self.patterns {
            let mut from = 0;
            while let Some(found) = find(&self.held[from..], pattern) {
                self.held[from + found + at] = SPOILT;
                from += found + 1;
            }
        }
        let ready = self.held.len().saturating_sub(self.longest - 1);
        let rest = self.held.split_off(ready);
        std::mem::replace(&mut self.held, rest)
    }

    /// What was held back.
    pub fn end(self) -> Vec<u8> {
        self.held
    }
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window.eq_ignore_ascii_case(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(mut defused: Defused, bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut out: Vec<u8> = bytes.chunks(piece).flat_map(|p| defused.feed(p)).collect();
        out.extend(defused.end());
        out
    }

    #[test]
    fn hints_are_spoilt_whatever_pieces_they_come_in() {
        let page =
            b"<p>a:link <LINK rel=preconnect href=//x><link/><blink> <iFrame src=x> <lin<link\nx>";
        let spoilt =
            b"<p>a:link <L1NK rel=preconnect href=//x><l1nk/><blink> <i1rame src=x> <lin<l1nk\nx>";
        for piece in 1..page.len() + 1 {
            let out = through(Defused::html(), page, piece);
            assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(spoilt), "{piece}");
        }
    }

    #[test]
    fn wide_letters_and_other_namespaces_are_seen() {
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let wide = |text: &str| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
            let out = through(Defused::html(), &wide("ä<link>"), 3);
            assert_eq!(out, wide("ä<l1nk>"));
        }
        let svg = b"<!DOCTYPE svg [<!ENTITY x '&#60;h:l&#105;nk/>'>]><h:Link rel='preconnect'/>";
        let out = through(Defused::svg(), svg, 7);
        let text = String::from_utf8_lossy(&out).to_ascii_lowercase();
        assert!(!text.contains("<!entity") && !text.contains(":link"), "{text}");
        assert_eq!(out.len(), svg.len());
    }
}
