//! A page without its advertisements, as far as its markup names them.
//!
//! * Its place: only where two versions of a page are compared. What is stored and indexed is the
//!   whole page.
//! * What is cut: elements whose `class` or `id` says that they are advertisements, up to the end tag
//!   that belongs to them. Whoever leaves such an element open loses nothing: it is not cut then.
//! * Invariants: one pass, bounded; pages without such elements are given back as they are.

use crate::tag::is_void;
use std::borrow::Cow;

/// Parts of names, between hyphens and the like, that mean an advertisement.
const NAMES: &[&[u8]] = &[
    b"ad",
    b"ads",
    b"adv",
    b"advert",
    b"adverts",
    b"advertisement",
    b"advertisements",
    b"advertising",
    b"adbox",
    b"adslot",
    b"adunit",
    b"adbanner",
    b"adsense",
    b"adsbygoogle",
    b"banneradd",
    b"bannerad",
    b"sponsor",
    b"sponsored",
    b"sponsors",
    b"promoted",
    b"werbung",
    b"anzeige",
    b"anzeigen",
    b"publicite",
    b"publicidad",
];
/// Elements whose content is not markup.
const RAW: &[&[u8]] = &[b"script", b"style", b"textarea", b"title"];
/// The page itself is no advertisement, whatever it is called.
const WHOLE: &[&[u8]] = &[b"html", b"body", b"head", b"main", b"article"];
/// More is not cut from one page.
const MOST: usize = 1_000;

/// The page without elements that are advertisements by their names.
pub fn without_boxes(html: &[u8]) -> Cow<'_, [u8]> {
    let mut cuts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(tag) = next_tag(html, at) {
        at = tag.end;
        if tag.closes {
            continue;
        }
        let name = tag.name(html);
        if RAW.contains(&&*name) {
            at = end_of_raw(html, tag.end, &name);
        } else if !is_void(&name)
            && !WHOLE.contains(&&*name)
            && is_box(&html[tag.start..tag.end])
            && let Some(end) = end_of(html, &tag, &name)
        {
            cuts.push((tag.start, end));
            at = end;
            if cuts.len() == MOST {
                break;
            }
        }
    }
    if cuts.is_empty() {
        return Cow::Borrowed(html);
    }
    let mut out = Vec::with_capacity(html.len());
    let mut from = 0;
    for (start, end) in cuts {
        out.extend_from_slice(&html[from..start]);
        out.push(b' ');
        from = end;
    }
    out.extend_from_slice(&html[from..]);
    Cow::Owned(out)
}

struct Found {
    start: usize,
    end: usize,
    closes: bool,
    name: (usize, usize),
}

impl Found {
    fn name(&self, html: &[u8]) -> Vec<u8> {
        html[self.name.0..self.name.1].to_ascii_lowercase()
    }
}

/// The next tag; comments are passed over.
fn next_tag(html: &[u8], mut at: usize) -> Option<Found> {
    loop {
        at += html.get(at..)?.iter().position(|b| *b == b'<')?;
        let rest = &html[at..];
        if rest.starts_with(b"<!--") {
            at += 4 + find(&rest[4..], b"-->")?;
            continue;
        }
        let closes = rest.get(1) == Some(&b'/');
        let first = at + 1 + usize::from(closes);
        if !html.get(first).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
            continue;
        }
        let is_name = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'-';
        let last = first + html[first..].iter().take_while(is_name).count();
        let end = end_of_tag(html, last)?;
        return Some(Found { start: at, end, closes, name: (first, last) });
    }
}

/// Behind the `>` of a tag; quoted ones do not count.
fn end_of_tag(html: &[u8], from: usize) -> Option<usize> {
    let mut quote = None;
    for (n, b) in html.get(from..)?.iter().enumerate() {
        match (quote, *b) {
            (None, b'>') => return Some(from + n + 1),
            (None, b'"' | b'\'') if html[from + n - 1] == b'=' => quote = Some(*b),
            (Some(open), b) if b == open => quote = None,
            _ => {}
        }
    }
    None
}

fn end_of_raw(html: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(n) = html.get(at..).and_then(|rest| find(rest, b"</")) {
        at += n;
        let named = html.get(at + 2..at + 2 + name.len());
        if named.is_some_and(|named| named.eq_ignore_ascii_case(name)) {
            return at;
        }
        at += 2;
    }
    html.len()
}

/// Behind the end tag of an element.
fn end_of(html: &[u8], tag: &Found, name: &[u8]) -> Option<usize> {
    let (mut open, mut at) = (1_u32, tag.end);
    while let Some(next) = next_tag(html, at) {
        at = next.end;
        let same = next.name(html) == name;
        match (same, next.closes) {
            (true, true) => open -= 1,
            (true, false) => open += 1,
            (false, false) if RAW.contains(&&*next.name(html)) => {
                at = end_of_raw(html, next.end, &next.name(html));
            }
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|piece| piece == what)
}

/// Whether a start tag names an advertisement.
fn is_box(tag: &[u8]) -> bool {
    let lower = tag.to_ascii_lowercase();
    let values = [&b"class="[..], b"id=", b"data-ad", b"aria-label="];
    values.iter().any(|attribute| {
        let mut from = 0;
        while let Some(n) = find(&lower[from..], attribute) {
            let at = from + n;
            from = at + attribute.len();
            let apart = lower[at - 1].is_ascii_whitespace();
            if apart && (*attribute == b"data-ad" || names_box(value(&lower[from..]))) {
                return true;
            }
        }
        false
    })
}

/// The value of an attribute, from behind its `=`.
fn value(text: &[u8]) -> &[u8] {
    match text.first() {
        Some(quote @ (b'"' | b'\'')) => text[1..].split(|b| b == quote).next().unwrap_or_default(),
        _ => text.split(|b| b.is_ascii_whitespace() || *b == b'>').next().unwrap_or_default(),
    }
}

fn names_box(value: &[u8]) -> bool {
    value.split(|b| !b.is_ascii_alphabetic()).any(|part| NAMES.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(html: &str) -> String {
        String::from_utf8_lossy(&without_boxes(html.as_bytes())).into_owned()
    }

    #[test]
    fn what_is_named_an_advertisement_is_cut_with_all_that_is_in_it() {
        assert_eq!(cut("<p>a<div class=ad>b<div>c</div>d</div>e"), "<p>a e");
        assert_eq!(cut("x<aside id='top-ads' x=1><p>y</aside>z"), "x z");
        assert_eq!(cut("x<DIV CLASS=\"box sponsored\"><!-- </div> --><br>y</DIV>z"), "x z");
        assert_eq!(
            cut("x<ins class=adsbygoogle data-ad-slot=1><script>'</ins>'</script></ins>z"),
            "x z"
        );
        assert_eq!(cut("1<div class=ad>a</div>2<div class=ad>b</div>3"), "1 2 3");
    }

    #[test]
    fn everything_else_stays() {
        for html in [
            "<div class=header>a</div>",
            "<div class=\"shadow added roads\">a</div>",
            "<p title='class=ad'>a</p>",
            "<script>var x = '<div class=ad>';</script><div>a</div>",
            "<div class=ad>never closed <p>and all the rest",
            "<body class=ads><p>the whole page</body>",
            "<img class=ad><p>a</p>",
            "a < b and <3",
        ] {
            assert_eq!(cut(html), html);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(html in "[a-z<>/ =\"'!-]{0,200}") {
            prop_assert!(without_boxes(html.as_bytes()).len() <= html.len());
        }
    }
}
