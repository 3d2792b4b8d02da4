//! Odd hosts: ASCII names with a label that begins with `xn--` and is no valid Punycode.
//!
//! The URL standard takes an ASCII name as it is, in lower case, whatever its labels decode to
//! (section 3.3, domain parser); the parser underneath still decodes them and refuses what the
//! IDNA tables refuse. So such a URL is read with a stand-in for its host, and the real name is
//! put into the result. Only [`crate::CanonicalUrl`] and [`crate::Joiner`] call this, and only
//! after the parser has complained: every other URL never comes here.
//!
//! Invariants: a stand-in is as long as the name it stands for, and no label of it begins with
//! `xn--`. A name with non-ASCII characters is never odd: the standard has IDNA decide on it.

use crate::url::unescape;
use std::borrow::Cow;
use std::ops::Range;

/// A URL or reference whose odd host was replaced.
pub(crate) struct Disguised {
    /// The text with the stand-in.
    pub text: String,
    /// The host it really names.
    pub host: String,
}

/// Replaces the host that `text` itself names, if it is an odd one.
///
/// `base_scheme` is the scheme of the base when `text` is a reference.
pub(crate) fn disguise(text: &str, base_scheme: Option<&str>) -> Option<Disguised> {
    let text = without_ignored(text);
    let at = named_host(&text, base_scheme)?;
    let host = ascii_domain(&text[at.clone()])?;
    let mut stand_in = String::with_capacity(host.len());
    for label in host.split_inclusive('.') {
        match label.strip_prefix("xn--") {
            Some(rest) => stand_in.extend(["xx--", rest]),
            None => stand_in.push_str(label),
        }
    }
    if stand_in == host {
        return None; // Whatever is wrong with it, it is not its Punycode.
    }
    let text = [&text[..at.start], &stand_in, &text[at.end..]].concat();
    Some(Disguised { text, host })
}

/// Whether a reference names a host itself, so that the host of its base does not matter.
pub(crate) fn names_a_host(reference: &str, base_scheme: &str) -> bool {
    named_host(&without_ignored(reference), Some(base_scheme)).is_some()
}

/// Puts the real name into a serialised URL without user info that has a stand-in for it.
pub(crate) fn reveal(text: &mut String, host: &str) {
    if let Some(colon) = text.find("://") {
        let start = colon + "://".len();
        text.replace_range(start..start + host.len(), host);
    }
}

/// Drops what the standard drops before it reads: controls and spaces around, tabs and
/// newlines everywhere.
fn without_ignored(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    if text.contains(['\t', '\n', '\r']) {
        Cow::Owned(text.replace(['\t', '\n', '\r'], ""))
    } else {
        Cow::Borrowed(text)
    }
}

/// Where the host stands in a text, if that text has an authority of `http` or `https`.
fn named_host(text: &str, base_scheme: Option<&str>) -> Option<Range<usize>> {
    const SLASHES: [char; 2] = ['/', '\\'];
    let scheme = text.split_once(':').map(|(s, _)| s).filter(|s| is_scheme(s));
    let after = match scheme {
        Some(s) if ["http", "https"].iter().any(|web| s.eq_ignore_ascii_case(web)) => {
            &text[s.len() + 1..]
        }
        Some(_) => return None,
        None => text,
    };
    let rest = after.trim_start_matches(SLASHES);
    let optional = match (scheme, base_scheme) {
        (Some(own), Some(base)) => !own.eq_ignore_ascii_case(base), // `http:a` is `a` at home,
        (Some(_), None) => true,                                    // elsewhere `http://a`.
        (None, _) => false,
    };
    if after.len() - rest.len() < 2 && !optional {
        return None;
    }
    let authority = &rest[..rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let start = text.len() - rest.len() + authority.len() - host.len();
    // A colon in brackets does not end the host, but brackets end our interest in it.
    Some(start..start + host.find(':').unwrap_or(host.len()))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
}

/// The domain that a host of ASCII characters means: unescaped, in lower case.
fn ascii_domain(host: &str) -> Option<String> {
    let mut domain = String::with_capacity(host.len());
    let mut rest = host.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match unescape(rest) {
            Some(byte) => (byte, &rest[3..]),
            None => (*first, after),
        };
        if !byte.is_ascii() || byte.is_ascii_control() || b" #/:<>?@[\\]^|%".contains(&byte) {
            return None; // Not ASCII, or a forbidden domain code point.
        }
        domain.push(char::from(byte.to_ascii_lowercase()));
        rest = after;
    }
    Some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_ascii_names_with_a_punycode_label_are_disguised() {
        for (text, want) in [
            ("http://xn--a/", Some(("http://xx--a/", "xn--a"))),
            ("http://u@A.XN--a:80/x", Some(("http://u@a.xx--a:80/x", "a.xn--a"))),
            ("http:\\\\%58n--a?", Some(("http:\\\\xx--a?", "xn--a"))),
            (" http://x\tn--a", Some(("http://xx--a", "xn--a"))),
            ("http://xx--a.xn--", Some(("http://xx--a.xx--", "xx--a.xn--"))),
            ("http://axn--a/", None),
            ("http://xn--ü/", None),
            ("http://xn--a%C3%BC/", None),
            ("http://xn--a%2525/", None),
            ("http://xn--a%2Fb/", None),
            ("ftp://xn--a/", None),
            ("//xn--a/", Some(("//xx--a/", "xn--a"))),
            ("/xn--a/", None),
            ("", None),
        ] {
            let got = disguise(text, None);
            assert_eq!(got.as_ref().map(|d| (&*d.text, &*d.host)), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_host_is_named_where_the_parser_sees_one(
            reference in "[ \t]{0,1}((http|HTTPS|ftp|x):)?[/\\\\\t]{0,2}[a-c@:./\\\\?#\t]{0,8}"
        ) {
            let join = |base: &str| url::Url::parse(base).unwrap().join(&reference);
            if let (Ok(a), Ok(b)) = (join("http://one.test/p"), join("http://two.test/p"))
                && a.scheme().starts_with("http")
            {
                prop_assert_eq!(names_a_host(&reference, "http"), a.host() == b.host());
            }
        }
    }
}
