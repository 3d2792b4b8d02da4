//! What is known of an answer, and what a URL is made of.

use argiope_model::CanonicalUrl;
use std::borrow::Cow;

/// What is known of the answer of a URL so far; `None`: not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known<'a> {
    /// The type (`text/html`) and the group it belongs to (`html`).
    pub kind: Option<(&'a str, &'a str)>,
    /// Bytes of the body as they are sent.
    pub size: Option<u64>,
    /// The language, or that nobody can tell.
    pub language: Option<Option<&'a str>>,
}

/// The parts of a path, empty ones left out.
pub(crate) fn segments(url: &CanonicalUrl) -> impl Iterator<Item = &str> {
    url.path().split('/').filter(|segment| !segment.is_empty())
}

/// How deep a path is.
pub(crate) fn path_depth(url: &CanonicalUrl) -> u32 {
    u32::try_from(segments(url).count()).unwrap_or(u32::MAX)
}

/// The parameters of the query as they are written: names and values.
pub(crate) fn raw_params(url: &CanonicalUrl) -> impl Iterator<Item = (&str, &str)> {
    let parts = url.query().unwrap_or("").split(['&', ';']).filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, "")))
}

/// The names of the parameters.
pub(crate) fn param_names(url: &CanonicalUrl) -> impl Iterator<Item = Cow<'_, str>> {
    raw_params(url).map(|(name, _)| plain(name))
}

/// A text of a query as it is meant: escapes undone, a plus is a space.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
                at += 1;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        let url = CanonicalUrl::parse("http://a.test//b/c/?x=1&y&z%5b%5d=a+b%2&;w=").unwrap();
        assert_eq!(segments(&url).collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(path_depth(&url), 2);
        assert_eq!(param_names(&url).collect::<Vec<_>>(), ["x", "y", "z[]", "w"]);
        assert_eq!(plain("a+b%2"), "a b%2");
        assert_eq!(plain("%E4"), "\u{fffd}");
        assert_eq!(plain("%ä1"), "%ä1");
    }
}
