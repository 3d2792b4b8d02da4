//! XML as it is really sent: tags and text, read from left to right, never refused.
//!
//! * What this is: a scanner for documents of which a few elements matter. It hands out start
//!   tags, end tags and pieces of text, and does not care whether they fit together.
//! * Its place: `sitemap` and `feed` read with it.
//! * Invariants: no text makes it fail; every byte is looked at a bounded number of times, so a
//!   search that found no end is not made again.
//! * What is not here: namespaces (a prefix is only a part of the name), document types and the
//!   entities they may define, and checks of any kind.

use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    /// A start tag, or an element without content.
    Open(Element<'t>),
    /// An end tag, with its name.
    Close(&'t str),
    /// Characters between tags, entities as written.
    Text(&'t str),
    /// The inside of a CDATA section: characters that mean themselves.
    Verbatim(&'t str),
}

/// A start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'t> {
    /// Its name, prefix included.
    pub(crate) name: &'t str,
    /// Whether it is its own end tag.
    pub(crate) is_empty: bool,
    attributes: &'t str,
}

/// The pieces of a document, in order.
#[derive(Debug)]
pub(crate) struct Pieces<'t> {
    rest: &'t str,
    /// There is no `-->` ahead.
    no_comment_end: bool,
    /// There is no `]]>` ahead.
    no_verbatim_end: bool,
    /// There is no `?>` ahead.
    no_instruction_end: bool,
}

/// The pieces of `text`.
pub(crate) fn pieces(text: &str) -> Pieces<'_> {
    Pieces { rest: text, no_comment_end: false, no_verbatim_end: false, no_instruction_end: false }
}

/// The name without its prefix, in lower case since many get that wrong, and the prefix.
pub(crate) fn local_name(name: &str) -> (Cow<'_, str>, &str) {
    let (prefix, local) = name.rsplit_once(':').unwrap_or(("", name));
    let local = match local.bytes().any(|b| b.is_ascii_uppercase()) {
        true => Cow::Owned(local.to_ascii_lowercase()),
        false => Cow::Borrowed(local),
    };
    (local, prefix)
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        loop {
            let mut rest = self.rest;
            if rest.is_empty() {
                return None;
            }
            if !rest.starts_with('<') {
                return Some(Piece::Text(self.take_text(0)));
            }
            if let Some(inside) = rest.strip_prefix("<!--") {
                if self.pass(inside, "-->", |s| &mut s.no_comment_end).is_some() {
                    continue;
                }
                rest = inside;
            } else if let Some(inside) = rest.strip_prefix("<![CDATA[") {
                if let Some(text) = self.pass(inside, "]]>", |s| &mut s.no_verbatim_end) {
                    return Some(Piece::Verbatim(text));
                }
                rest = inside;
            } else if let Some(inside) = rest.strip_prefix("<?") {
                if self.pass(inside, "?>", |s| &mut s.no_instruction_end).is_some() {
                    continue;
                }
                rest = inside;
            } else if let Some(inside) = rest.strip_prefix("<!") {
                // A document type. What stands in its brackets is passed over in the same way.
                let end = memchr2(b'>', b'<', inside.as_bytes()).unwrap_or(inside.len());
                rest = &inside[end..];
                rest = rest.strip_prefix('>').unwrap_or(rest);
            } else if let Some(inside) = rest.strip_prefix("</") {
                let (tag, after) = inside_of_tag(inside);
                self.rest = after;
                return Some(Piece::Close(tag.trim_ascii()));
            } else if rest[1..].starts_with(is_name_start) {
                let (tag, after) = inside_of_tag(&rest[1..]);
                self.rest = after;
                return Some(Piece::Open(Element::new(tag)));
            } else {
                return Some(Piece::Text(self.take_text(1)));
            }
            self.rest = rest;
        }
    }
}

impl<'t> Pieces<'t> {
    /// How many bytes are still ahead.
    pub(crate) fn ahead(&self) -> usize {
        self.rest.len()
    }

    /// Takes what stands before the next `<`, which is looked for after `from` bytes.
    fn take_text(&mut self, from: usize) -> &'t str {
        let end = memchr(b'<', &self.rest.as_bytes()[from..]);
        let (text, rest) = self.rest.split_at(end.map_or(self.rest.len(), |at| from + at));
        self.rest = rest;
        text
    }

    /// Goes behind the next `end` and answers what stands before it; `None` if there is none.
    fn pass(
        &mut self,
        inside: &'t str,
        end: &str,
        absent: impl Fn(&mut Self) -> &mut bool,
    ) -> Option<&'t str> {
        if *absent(self) {
            return None;
        }
        let Some(at) = memmem::find(inside.as_bytes(), end.as_bytes()) else {
            *absent(self) = true;
            return None;
        };
        self.rest = &inside[at + end.len()..];
        Some(&inside[..at])
    }
}

/// What stands inside the angle brackets, and what comes after. A tag that is not closed ends
/// before the next one.
fn inside_of_tag(text: &str) -> (&str, &str) {
    let mut quote = None;
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        match (byte, quote) {
            (b'<', _) => return (&text[..at], &text[at..]),
            (b'>', None) => return (&text[..at], &text[at + 1..]),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    (text, "")
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == ':'
}

impl<'t> Element<'t> {
    /// From what stands inside the angle brackets.
    fn new(inside: &'t str) -> Self {
        let is_empty = inside.ends_with('/');
        let end = inside.find(|c: char| c.is_ascii_whitespace() || c == '/');
        let (name, attributes) = inside.split_at(end.unwrap_or(inside.len()));
        Element { name, is_empty, attributes }
    }

    /// The prefixes it declares, and what they stand for.
    pub(crate) fn declared(&self) -> impl Iterator<Item = (&'t str, Cow<'t, str>)> {
        self.attributes().filter_map(|(key, value)| {
            let prefix = key.strip_prefix("xmlns")?;
            let name = prefix.strip_prefix(':').unwrap_or(prefix);
            (name.is_empty() == prefix.is_empty()).then(|| (name, unescaped(value)))
        })
    }

    /// The value of an attribute, by its full name.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'t, str>> {
        self.attributes().find(|(key, _)| *key == name).map(|(_, value)| unescaped(value))
    }

    /// The attributes that have a value, as written.
    fn attributes(&self) -> impl Iterator<Item = (&'t str, &'t str)> + use<'t> {
        let mut rest = self.attributes;
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_ascii_start();
            let quote = after.chars().next().filter(|q| matches!(q, '"' | '\''));
            let (value, after) = match quote {
                Some(q) => after[1..].split_once(q).unwrap_or((&after[1..], "")),
                None => {
                    let after = after.strip_suffix('/').unwrap_or(after);
                    after.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((after, ""))
                }
            };
            rest = after;
            // Attributes without a value may stand before this one.
            Some((key.split_ascii_whitespace().next_back().unwrap_or_default(), value))
        })
    }
}

/// The text with its entities replaced: the five of XML and numbers. What is not one of them
/// stays as it is, since a bare `&` in a URL is the commonest mistake of all.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    // The longest is a number with its leading zeros; farther off it belongs to another.
    unescaped_with(text, 12, |entity, out| character(entity).map(|c| out.push(c)).is_some())
}

/// The same with entities of another's choice, of fewer than `longest` bytes: `known` adds what
/// an entity stands for, and says whether it is one.
pub(crate) fn unescaped_with(
    text: &str,
    longest: usize,
    mut known: impl FnMut(&str, &mut String) -> bool,
) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let window = &rest.as_bytes()[..rest.len().min(longest)];
        match memchr(b';', window).filter(|&end| known(&rest[..end], &mut out)) {
            Some(end) => rest = &rest[end + 1..],
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

pub(crate) fn character(entity: &str) -> Option<char> {
    match entity {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = entity.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let show = |piece| match piece {
            Piece::Open(element) => format!("<{}", element.name),
            Piece::Close(name) => format!("/{name}"),
            Piece::Text(text) => unescaped(text).into_owned(),
            Piece::Verbatim(text) => format!("[{text}]"),
        };
        pieces(text).map(show).collect()
    }

    #[test]
    fn tags_and_text_come_in_order_and_the_rest_is_passed_over() {
        assert_eq!(
            shown(
                "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><!-- <x> --><s:a b='>'>t&amp;<![CDATA[<&amp;]]></s:a ><b/>"
            ),
            ["]>", "<s:a", "t&", "[<&amp;]", "/s:a", "<b"]
        );
    }

    #[test]
    fn ill_formed_text_is_read_as_far_as_it_goes() {
        assert_eq!(shown("<a<b c='>d<e>"), ["<a", "<b", "<e"]);
        assert_eq!(shown("1 < 2 <> 3"), ["1 ", "< 2 ", "<> 3"]);
        assert_eq!(shown("<!-- <a>"), [" ", "<a"]);
        assert_eq!(shown("<![CDATA[ <a>"), [" ", "<a"]);
        assert_eq!(shown("<?xml <a></"), ["xml ", "<a", "/"]);
        assert_eq!(shown("<"), ["<"]);
    }

    #[test]
    fn attributes_are_found_by_name() {
        let Some(Piece::Open(e)) = pieces("<a lone x:b = 'c&#38;d' e=f g=\"h i\"/>").next() else {
            panic!("a start tag")
        };
        assert_eq!(e.attribute("x:b").as_deref(), Some("c&d"));
        assert_eq!(e.attribute("e").as_deref(), Some("f"));
        assert_eq!(e.attribute("g").as_deref(), Some("h i"));
        assert_eq!(e.attribute("b"), None);
    }

    #[test]
    fn what_is_no_entity_stays() {
        assert_eq!(
            unescaped("?a=1&b=2&lang=x&#x41;&#0066;&#xD800;&"),
            "?a=1&b=2&lang=xAB&#xD800;&"
        );
    }
}
