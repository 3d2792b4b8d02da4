//! Hrefs: the many ways to write one address.
//!
//! Whatever is drawn, resolving it against the page's address (or its `<base>`) gives the target,
//! apart from a fragment.

use crate::draw::Draw;
use crate::web::Web;
use std::borrow::Cow;

/// Appends an attribute (`href="…"`) that leads to `path` of a site.
///
/// `here` is the site of the page and the path that its relative references are relative to.
pub(crate) fn attribute(
    out: &mut String,
    draw: &mut Draw,
    web: &Web,
    name: &str,
    here: (usize, &str),
    (site, path): (usize, &str),
) {
    let plain = web.spec().plain;
    let origin = web.origin(site);
    let (lead, reference) = if site != here.0 {
        match draw.below(if plain { 3 } else { 4 }) {
            3 => (Cow::from(without_scheme(origin)), Cow::from(path)),
            _ => (Cow::from(origin), Cow::from(path)),
        }
    } else {
        match draw.below(if plain { 8 } else { 12 }) {
            0..4 => (Cow::from(""), Cow::from(path)),
            4..7 => (Cow::from(""), Cow::from(relative(here.1, path))),
            7 => (Cow::from(origin), Cow::from(path)),
            8 => (Cow::from(without_scheme(origin)), Cow::from(path)),
            9 => (Cow::from(origin.replacen("http", "HTTP", 1)), Cow::from(path)),
            10 => (Cow::from("/elsewhere/.."), Cow::from(path)),
            _ => (Cow::from("./"), Cow::from(relative(here.1, path))),
        }
    };
    let fragment =
        if !plain && draw.below(8) == 0 { draw.pick(&["#top", "#more", "#notes"]) } else { "" };
    let bare = !path.ends_with('/') && !path.contains('?');
    let (open, close) = match if plain { 0 } else { draw.below(16) } {
        0..11 => ("=\"", "\""),
        11 | 12 => ("='", "'"),
        13 => (" = \"", "\""),
        14 => ("=\" ", "\n\""),
        _ if bare => ("=", ""),
        _ => ("=\"", "\""),
    };
    for part in [" ", name, open, &lead] {
        out.push_str(part);
    }
    for (nth, part) in reference.split('&').enumerate() {
        out.push_str(if nth > 0 { "&amp;" } else { "" });
        out.push_str(part);
    }
    out.push_str(fragment);
    out.push_str(close);
}

/// Appends a link that leads nowhere: another scheme, or not an address at all.
pub(crate) fn hopeless(out: &mut String, draw: &mut Draw) {
    out.push_str(draw.pick(&[
        "<a href=\"mailto:editor@example.test\">write to us</a>",
        "<a href=\"javascript:void(0)\" onclick=\"return false\">unfold</a>",
        "<a href=\"tel:+15550100\">call us</a>",
        "<a href=\"data:text/plain,nothing\">a note</a>",
        "<a href=\"ftp://files.example.test/old/\">the old archive</a>",
        "<a href=\"http://\">an unfinished link</a>",
        "<a href=\"http://[::1/\">an open bracket</a>",
        "<a href=\"http://two words.test/\">a host with a space</a>",
        "<a href=\"http://example.test:port/\">a port that is a word</a>",
        "<a name=\"notes\">an anchor without an address</a>",
    ]));
}

fn without_scheme(origin: &str) -> &str {
    origin.find("//").map_or(origin, |at| &origin[at..])
}

/// Writes `path` (with its query) as seen from the page at `base`.
pub(crate) fn relative(base: &str, path: &str) -> String {
    let directory = |text: &str| {
        let end = text.find('?').unwrap_or(text.len());
        text[..end].rfind('/').map_or(0, |slash| slash + 1)
    };
    let (from, to) = (&base[..directory(base)], &path[..directory(path)]);
    let mut shared = 0;
    for (at, (a, b)) in from.bytes().zip(to.bytes()).enumerate() {
        if a != b {
            break;
        }
        if a == b'/' {
            shared = at + 1;
        }
    }
    let mut reference = "../".repeat(from[shared..].matches('/').count());
    reference.push_str(&path[shared..]);
    if reference.is_empty() || reference.starts_with('?') {
        reference.insert_str(0, "./");
    }
    reference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_references_climb_and_descend() {
        for (base, path, reference) in [
            ("/", "/silk/a-1.html", "silk/a-1.html"),
            ("/silk/a-1.html", "/silk/b-2.html", "b-2.html"),
            ("/silk/a-1/", "/silk/b-2.html", "../b-2.html"),
            ("/silk/2004/a-1", "/", "../../"),
            ("/silk/a-1/", "/silk/a-1/", "./"),
            ("/silk/x", "/silken/y?a=/b", "../silken/y?a=/b"),
            ("/catalogue?section=silk&item=3", "/?from=menu", "./?from=menu"),
        ] {
            assert_eq!(relative(base, path), reference, "{base} -> {path}");
        }
    }
}
