//! The texts of a feed without their markup.
//!
//! * What this is: entities, and plain text from what may be text, escaped HTML, a piece of
//!   XHTML or base64.
//! * Its place: `feed::tree` and `feed::read` call it; the HTML goes to the parser of pages.
//! * Invariants: a title is one line; a body has a line per block.
//! * What is not here: HTML to be shown. Nothing of it leaves this crate.

use crate::fold::one_line;
use crate::page;
use crate::xml;
use std::borrow::Cow;

/// The bytes of the longest entity of HTML, and a little more.
const LONGEST_ENTITY: usize = 34;
/// Bytes of a line.
const MAX_LINE_BYTES: usize = 4096;

/// The text with its entities replaced, those of HTML too: many feeds use them undeclared.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    unescaped_with(text, |_| None)
}

/// The same with entities that the document defines.
pub(super) fn unescaped_with<'e>(
    text: &str,
    defined: impl Fn(&str) -> Option<&'e str>,
) -> Cow<'_, str> {
    xml::unescaped_with(text, LONGEST_ENTITY, |entity, out| {
        if let Some(value) = defined(entity) {
            out.push_str(value);
            return true;
        }
        // Browsers read the numbers that no character has as an old encoding, and feeds mean it.
        match xml::character(entity).filter(|c| !('\u{80}'..'\u{a0}').contains(c)) {
            Some(c) => {
                out.push(c);
                true
            }
            None => of_html(entity, out),
        }
    })
}

/// Asks the reader of pages what an entity of HTML stands for.
fn of_html(entity: &str, out: &mut String) -> bool {
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'#';
    if entity.is_empty() || !entity.bytes().all(is_name) {
        return false;
    }
    let text = page::text_of_html(&format!("&{entity};"));
    if text.is_empty() || text.len() > 1 && text.ends_with(';') {
        return false;
    }
    out.push_str(&text);
    true
}

/// A text of a feed, before it is known how it is to be read.
#[derive(Clone, Debug)]
pub(super) enum Raw<'t> {
    /// Characters that mean themselves.
    Plain(Cow<'t, str>),
    /// Markup.
    Html(Cow<'t, str>),
    /// Either, as it looks.
    Unsure(Cow<'t, str>),
}

impl Raw<'_> {
    fn html(&self) -> Option<&str> {
        match self {
            Raw::Html(html) => Some(html),
            Raw::Unsure(text) if looks_like_html(text) => Some(text),
            _ => None,
        }
    }

    fn characters(&self) -> &str {
        match self {
            Raw::Plain(text) | Raw::Html(text) | Raw::Unsure(text) => text,
        }
    }

    /// In one line.
    pub(super) fn line(&self) -> String {
        match self.html() {
            Some(html) => one_line(page::text_of_html(html).as_bytes(), MAX_LINE_BYTES),
            None => one_line(self.characters().as_bytes(), MAX_LINE_BYTES),
        }
    }

    /// With a line per block.
    pub(super) fn body(&self) -> String {
        match self.html() {
            Some(html) => page::text_of_html(html),
            None => self.characters().trim().replace("\r\n", "\n"),
        }
    }

    /// The address of the first picture in the markup, as written.
    pub(super) fn picture(&self) -> Option<String> {
        let html = self.html()?;
        xml::pieces(html).find_map(|piece| match piece {
            xml::Piece::Open(element) if element.name.eq_ignore_ascii_case("img") => {
                // Counting pixels have no size worth showing.
                let tiny = |name| {
                    element.attribute(name).is_some_and(|v| matches!(v.trim(), "0" | "1" | "1px"))
                };
                let src = element.attribute("src").filter(|src| !src.starts_with("data:"))?;
                (!tiny("width") && !tiny("height")).then(|| src.trim().to_owned())
            }
            _ => None,
        })
    }
}

/// Whether a text that may be either is markup: it has an entity, an end tag or an empty element.
fn looks_like_html(text: &str) -> bool {
    let last_end = text.rfind('>').unwrap_or(0);
    let mut rest = text;
    while let Some(at) = rest.find(['<', '&']) {
        let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
        rest = after;
        if sign == b'&' {
            let window = &after.as_bytes()[..after.len().min(LONGEST_ENTITY)];
            let end = memchr::memchr(b';', window);
            if end.is_some_and(|end| of_html(&after[..end], &mut String::new())) {
                return true;
            }
            continue;
        }
        let is_end = after.starts_with('/');
        let name = after.trim_start_matches('/');
        let name = &name[..name.bytes().take_while(u8::is_ascii_alphanumeric).count()];
        let name = name.to_ascii_lowercase();
        if text.len() - after.len() < last_end
            && (is_end && !name.is_empty() || matches!(&*name, "br" | "img" | "p" | "hr"))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_of_html_are_read_and_others_stay() {
        assert_eq!(
            unescaped("a &eacute;&#233;&#x2019;&#146; &lt;b&gt; AT&T &c; &bogus;"),
            "a éé’’ <b> AT&T &c; &bogus;"
        );
        assert_eq!(unescaped_with("&x; &amp;", |n| (n == "x").then_some("y")), "y &");
    }

    #[test]
    fn what_may_be_either_is_read_as_it_looks() {
        let line = |text: &str| Raw::Unsure(Cow::Borrowed(text)).line();
        assert_eq!(line("5 < 6 & 7 > 4"), "5 < 6 & 7 > 4");
        assert_eq!(line("a <b>bold</b>  word"), "a bold word");
        assert_eq!(line("Q&amp;A"), "Q&A");
        assert_eq!(line("the <marquee> tag"), "the <marquee> tag");
    }

    #[test]
    fn counting_pixels_are_no_pictures() {
        let html = "<img src=a.gif width=1><p><IMG alt='' src=' b.jpg '>";
        assert_eq!(Raw::Html(Cow::Borrowed(html)).picture().as_deref(), Some("b.jpg"));
    }
}
