//! Paths and patterns brought to one spelling before they are compared (RFC 9309, 2.2.2).
//!
//! Called by the rules module. Two texts that name the same path must look alike: octets that
//! are not printable ASCII stand as `%XX`, hexadecimal digits are upper case, and an escape
//! that needs none is undone. Where an escape and its character are equal only in one part of
//! a URL (`/` and `%2F` after the `?`), there is a second, *loose* spelling, because a pattern
//! with `*` does not say which part it is in. A rule speaks when any spelling of it matches
//! any spelling of the path.
//!
//! Invariant: a spelled text is ASCII, and [`WILD`] stands in it for `*` in a pattern only.

use memchr::memchr_iter;
use std::borrow::Cow;

/// A `*` of a pattern, so that the character `*` itself can be spelled plainly.
pub(super) const WILD: u8 = 0x01;

/// How far escapes are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// None: as written.
    Written,
    /// Those of unreserved characters and of reserved ones that separate nothing: the rule.
    Plain,
    /// Also those of separators in a part of the URL where they separate nothing.
    Loose,
}

/// The part of a URL a place of the text is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Query,
    /// After a `*`: either.
    Either,
}

/// Appends the spelling of a pattern (without the `$` that ends it).
pub(super) fn spell_pattern(pattern: &[u8], depth: Depth, out: &mut Vec<u8>) {
    spell(pattern, depth, Some(WILD), out);
}

/// The spellings of a path with query, the plain one first, each once.
pub(super) fn spell_path(path: &[u8]) -> impl Iterator<Item = Cow<'_, [u8]>> {
    let (mut loose, mut written) = (None, None);
    let plain = if path.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'%') {
        Cow::Borrowed(path)
    } else {
        let [plain, other, raw] = [Depth::Plain, Depth::Loose, Depth::Written].map(|depth| {
            let mut out = Vec::with_capacity(path.len() + 16);
            spell(path, depth, None, &mut out);
            out
        });
        loose = (other != plain).then_some(Cow::Owned(other));
        written = (raw != plain).then_some(Cow::Owned(raw));
        Cow::Owned(plain)
    };
    std::iter::once(plain).chain(loose).chain(written)
}

fn spell(text: &[u8], depth: Depth, wild: Option<u8>, out: &mut Vec<u8>) {
    let mut part = Part::Path;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'%' => match escaped(&text[at..]) {
                Some(octet) => {
                    at += 2;
                    if undone(octet, depth, part) { out.push(octet) } else { escape(octet, out) }
                }
                None => out.push(b'%'),
            },
            b'*' if wild.is_some() => {
                out.extend(wild);
                if part == Part::Path {
                    part = Part::Either;
                }
            }
            b'?' => {
                out.push(b'?');
                part = Part::Query;
            }
            b' '..=b'~' => out.push(byte),
            _ => escape(byte, out),
        }
    }
}

/// Whether an escape and its octet mean the same here.
fn undone(octet: u8, depth: Depth, part: Part) -> bool {
    match octet {
        // Controls, octets of UTF-8 sequences, and `%` itself stay escaped in every spelling.
        0..=0x1F | 0x7F.. | b'%' | b'#' => false,
        b'/' | b'?' => depth == Depth::Loose && part == Part::Query,
        b'&' | b'=' | b'+' | b';' => depth == Depth::Loose && part == Part::Path,
        _ => depth != Depth::Written,
    }
}

/// Whether a text escapes an unreserved character, which nobody needs to.
pub(super) fn escapes_needlessly(text: &[u8]) -> bool {
    let unreserved = |octet: u8| octet.is_ascii_alphanumeric() || b"-._~".contains(&octet);
    let mut escapes = memchr_iter(b'%', text).filter_map(|at| escaped(&text[at + 1..]));
    escapes.any(unreserved)
}

/// The octet that two hexadecimal digits name.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

fn escape(octet: u8, out: &mut Vec<u8>) {
    let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value)];
    out.extend([b'%', digit(octet >> 4), digit(octet & 15)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str) -> Vec<String> {
        spell_path(path.as_bytes()).map(|s| String::from_utf8_lossy(&s).into_owned()).collect()
    }

    fn pattern(text: &str, depth: Depth) -> String {
        let mut out = Vec::new();
        spell_pattern(text.as_bytes(), depth, &mut out);
        String::from_utf8(out).expect("ASCII").replace('\u{1}', "<any>")
    }

    #[test]
    fn a_path_without_escapes_has_one_spelling_itself() {
        assert_eq!(paths("/a/b;c=1?x=/y&z=*$"), ["/a/b;c=1?x=/y&z=*$"]);
    }

    #[test]
    fn escapes_of_unreserved_and_of_harmless_reserved_characters_are_undone() {
        assert_eq!(paths("/%7ejim/%62%3A%28"), ["/~jim/b:(", "/%7Ejim/%62%3A%28"]);
    }

    #[test]
    fn separators_are_equal_to_their_escapes_only_where_they_separate_nothing() {
        assert_eq!(paths("/a%2Fb"), ["/a%2Fb"]);
        assert_eq!(paths("/a?u=b%2Fc"), ["/a?u=b%2Fc", "/a?u=b/c"]);
        assert_eq!(paths("/a%2Bb?u=%2B"), ["/a%2Bb?u=%2B", "/a+b?u=%2B"]);
    }

    #[test]
    fn octets_beyond_ascii_and_controls_are_escaped_in_upper_case() {
        assert_eq!(paths("/ツ\u{1}%e3"), ["/%E3%83%84%01%E3"]);
    }

    #[test]
    fn a_percent_sign_without_two_digits_stays() {
        assert_eq!(paths("/a%2%zz%"), ["/a%2%zz%"]);
        assert_eq!(paths("/%2541"), ["/%2541"]);
    }

    #[test]
    fn escapes_of_letters_digits_and_a_few_signs_are_needless() {
        assert!(escapes_needlessly(b"/%7Ejim") && escapes_needlessly(b"/a%2fb%41"));
        assert!(!escapes_needlessly(b"/~jim%2F%3A%C3%A9%4"));
    }

    #[test]
    fn a_pattern_tells_its_wildcards_from_escaped_stars() {
        assert_eq!(pattern("/a*%2A%24", Depth::Plain), "/a<any>*$");
        assert_eq!(pattern("/%62%3a", Depth::Written), "/%62%3A");
        assert_eq!(pattern("/*%2F?%2F", Depth::Loose), "/<any>%2F?/");
    }
}
