//! Canonical URLs: one text for one page.
//!
//! The form is the WHATWG serialisation (scheme and host lower case, default port dropped,
//! dot segments resolved, tabs and newlines removed), and beyond it: no fragment, no user
//! name or password, percent-escapes in upper case, escaped unreserved characters unescaped
//! (RFC 3986 section 6.2.2). Only `http` and `https` exist here. Where this differs from the
//! standard and from others is listed in `docs/urls.md`.
//!
//! Invariant: parsing the text of a canonical URL gives the same text.

use crate::{HostKey, Suffixes, UrlKey, odd_host};
use std::borrow::Cow;
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// The longest URL that is accepted, in bytes of its canonical form.
pub const MAX_URL_BYTES: usize = 8192;

/// Why a text is not a URL we could fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The text cannot be read as a URL.
    #[error("not a URL: {0}")]
    Malformed(&'static str),
    /// A scheme that is not fetched: `mailto:`, `javascript:`, `ftp:` …
    #[error("not an http or https URL")]
    Scheme,
    /// Longer than [`MAX_URL_BYTES`].
    #[error("longer than 8192 bytes")]
    TooLong,
}

/// A URL in canonical form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalUrl {
    text: Box<str>,
    /// Where the host name begins: after `://`.
    host_start: u16,
    /// Where the host name ends.
    host_end: u16,
    /// Where the path begins: after the port, if there is one.
    path_start: u16,
}

impl CanonicalUrl {
    /// The version of the canonical form, pinned in the manifest of a data directory.
    pub const FORM_VERSION: u32 = 2;

    /// Reads an absolute URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > 4 * MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        match url::Url::parse(text) {
            Ok(url) => Self::from_whatwg(url, None),
            Err(e) => {
                let odd = disguised(text, None, e)?;
                Self::from_whatwg(url::Url::parse(&odd.text).map_err(explain)?, Some(&odd.host))
            }
        }
    }

    /// Reads a reference as a page at `self` (or its `<base>`) would mean it.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        self.joiner().join(reference)
    }

    /// Prepares for joining many references to this URL.
    pub fn joiner(&self) -> Joiner {
        const PARSES: &str = "a canonical URL parses";
        match url::Url::parse(&self.text) {
            Ok(base) => Joiner { base, odd_host: None },
            Err(_) => {
                let odd = odd_host::disguise(&self.text, None).expect(PARSES);
                let base = url::Url::parse(&odd.text).expect(PARSES);
                Joiner { base, odd_host: Some(odd.host.into()) }
            }
        }
    }

    /// Makes a parsed URL canonical; `odd_host` is the real host where `url` has a stand-in.
    fn from_whatwg(mut url: url::Url, odd_host: Option<&str>) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme);
        }
        if url.fragment().is_some() {
            url.set_fragment(None);
        }
        if !url.username().is_empty() || url.password().is_some() {
            // Neither can fail for a URL that has a host.
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        let mut text = String::from(url);
        if let Some(host) = odd_host {
            odd_host::reveal(&mut text, host);
        }
        let text = escape_carets(normalise_escapes(text));
        if text.len() > MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        let host_start = text.find("://").ok_or(UrlError::Malformed("no host"))? + 3;
        let path_start =
            host_start + text[host_start..].find('/').ok_or(UrlError::Malformed("no path"))?;
        let authority = &text[host_start..path_start];
        let host_len = match authority.rfind(':') {
            Some(colon) if !authority[colon..].contains(']') => colon,
            _ => authority.len(),
        };
        if host_len == 0 {
            return Err(UrlError::Malformed("no host"));
        }
        Ok(CanonicalUrl {
            host_start: host_start as u16,
            host_end: (host_start + host_len) as u16,
            path_start: path_start as u16,
            text: text.into_boxed_str(),
        })
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &str {
        if self.is_https() { "https" } else { "http" }
    }

    /// Whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.text.as_bytes()[4] == b's'
    }

    /// The host name or address; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.text[usize::from(self.host_start)..usize::from(self.host_end)]
    }

    /// The port, the scheme's default where none is written.
    pub fn port(&self) -> u16 {
        let written = &self.text[usize::from(self.host_end)..usize::from(self.path_start)];
        match written.strip_prefix(':').and_then(|p| p.parse().ok()) {
            Some(port) => port,
            None if self.is_https() => 443,
            None => 80,
        }
    }

    /// Host name and port as a `Host` header writes them.
    pub fn authority(&self) -> &str {
        &self.text[usize::from(self.host_start)..usize::from(self.path_start)]
    }

    /// Scheme, host name and port: the unit of politeness. `https://example.com:8443`.
    pub fn origin(&self) -> &str {
        &self.text[..usize::from(self.path_start)]
    }

    /// Path and query, as a request line writes them.
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.path_start)..]
    }

    /// The path without the query.
    pub fn path(&self) -> &str {
        let pq = self.path_and_query();
        pq.split_once('?').map_or(pq, |(path, _)| path)
    }

    /// The query without its question mark.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query().split_once('?').map(|(_, q)| q)
    }

    /// The ending of the last path segment, lower case, without the dot.
    pub fn extension(&self) -> Option<String> {
        let name = self.path().rsplit('/').next()?;
        let (stem, ext) = name.rsplit_once('.')?;
        (!stem.is_empty() && !ext.is_empty()).then(|| ext.to_ascii_lowercase())
    }

    /// The same URL without its query.
    pub fn without_query(&self) -> Self {
        let len = usize::from(self.path_start) + self.path().len();
        self.with_text(self.text[..len].into())
    }

    /// The same URL with the parameters of its query sorted; equal names keep their order.
    pub fn with_sorted_query(&self) -> Self {
        let Some(query) = self.query() else { return self.clone() };
        let mut parts: Vec<&str> = query.split('&').collect();
        parts.sort_by_key(|p| p.split('=').next().unwrap_or(""));
        let head = usize::from(self.path_start) + self.path().len();
        let text = format!("{}?{}", &self.text[..head], parts.join("&"));
        self.with_text(text.into_boxed_str())
    }

    /// The robots.txt that rules over this URL: that of its origin (RFC 9309, section 2.3).
    pub fn robots_txt(&self) -> Self {
        self.with_text([self.origin(), "/robots.txt"].concat().into_boxed_str())
    }

    /// Another text with the same origin.
    fn with_text(&self, text: Box<str>) -> Self {
        let CanonicalUrl { host_start, host_end, path_start, .. } = *self;
        CanonicalUrl { text, host_start, host_end, path_start }
    }

    /// Fingerprint of the whole text, for caches.
    pub fn fingerprint(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }

    /// The key of this URL's host, given the suffix list the data directory was made with.
    pub fn host_key(&self, pinned: &Suffixes) -> HostKey {
        let part = Suffixes::partition_of_site(pinned.site_of(self.host()));
        let [_, _, host @ ..] = xxh3_64(self.origin().as_bytes()).to_be_bytes();
        HostKey { part, host }
    }

    /// The key of this URL, given the suffix list the data directory was made with.
    pub fn key(&self, pinned: &Suffixes) -> UrlKey {
        let url = xxh3_64(self.path_and_query().as_bytes());
        UrlKey { host: self.host_key(pinned), url }
    }
}

/// A base URL, parsed once for many references.
#[derive(Debug)]
pub struct Joiner {
    base: url::Url,
    /// The real host of the base, where `base` has a stand-in for it.
    odd_host: Option<Box<str>>,
}

impl Joiner {
    /// Reads a reference relative to the base.
    pub fn join(&self, reference: &str) -> Result<CanonicalUrl, UrlError> {
        if reference.len() > 4 * MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        let reference = one_authority(reference);
        match self.base.join(&reference) {
            Ok(url) => {
                let inherited = |_: &&str| !odd_host::names_a_host(&reference, self.base.scheme());
                CanonicalUrl::from_whatwg(url, self.odd_host.as_deref().filter(inherited))
            }
            Err(e) => {
                let odd = disguised(&reference, Some(self.base.scheme()), e)?;
                let url = self.base.join(&odd.text).map_err(explain)?;
                CanonicalUrl::from_whatwg(url, Some(&odd.host))
            }
        }
    }
}

/// A second chance for what the parser refused, if all that is wrong is an odd host.
#[cold]
fn disguised(
    text: &str,
    base_scheme: Option<&str>,
    error: url::ParseError,
) -> Result<odd_host::Disguised, UrlError> {
    let odd = match error {
        url::ParseError::IdnaError => odd_host::disguise(text, base_scheme),
        _ => None,
    };
    odd.ok_or_else(|| explain(error))
}

/// `///host` and `/\\\host` mean `//host` to browsers; the parser sees an empty host there.
fn one_authority(reference: &str) -> Cow<'_, str> {
    let start = reference.trim_start_matches(|c: char| c <= ' ');
    let rest = start.trim_start_matches(['/', '\\', '\t', '\n', '\r']);
    let slashes = start[..start.len() - rest.len()].matches(['/', '\\']).count();
    if slashes > 2 { Cow::Owned(format!("//{rest}")) } else { Cow::Borrowed(reference) }
}

fn explain(e: url::ParseError) -> UrlError {
    UrlError::Malformed(match e {
        url::ParseError::EmptyHost => "the host is empty",
        url::ParseError::IdnaError => "the international domain name is invalid",
        url::ParseError::InvalidPort => "the port is invalid",
        url::ParseError::InvalidIpv4Address => "the IPv4 address is invalid",
        url::ParseError::InvalidIpv6Address => "the IPv6 address is invalid",
        url::ParseError::InvalidDomainCharacter => "the domain has an invalid character",
        url::ParseError::RelativeUrlWithoutBase => "it has no scheme such as https://",
        url::ParseError::RelativeUrlWithCannotBeABaseBase => "the base cannot be a base",
        url::ParseError::Overflow => "it is too long",
        _ => "it cannot be read",
    })
}

/// A caret in a path is escaped (URL standard, path percent-encode set); the parser does not know
/// that yet.
fn escape_carets(text: String) -> String {
    let path = text.find('?').unwrap_or(text.len());
    if !text.as_bytes()[..path].contains(&b'^') {
        return text;
    }
    text[..path].replace('^', "%5E") + &text[path..]
}

/// Upper-case hex in escapes; escapes of unreserved characters undone.
fn normalise_escapes(text: String) -> String {
    if !text.as_bytes().contains(&b'%') {
        return text;
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(bytes.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        match unescape(&rest.as_bytes()[at..]) {
            Some(b)
                if (b.is_ascii_alphanumeric() || b"-._~".contains(&b)) && !completes(&out, b) =>
            {
                out.push(char::from(b));
                rest = &rest[at + 3..];
            }
            Some(b) => {
                out.push_str(&format!("%{b:02X}"));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Whether `next` would make an escape of a `%` that stood alone: `%%41b` is not `%AB`.
fn completes(out: &str, next: u8) -> bool {
    let lone = match out.as_bytes() {
        [.., b'%'] => true,
        [.., b'%', digit] => digit.is_ascii_hexdigit(),
        _ => false,
    };
    lone && next.is_ascii_hexdigit()
}

/// The byte that an escape at the start of `bytes` stands for.
pub(crate) fn unescape(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let digit = |b: &u8| char::from(*b).to_digit(16);
    Some((digit(high)? * 16 + digit(low)?) as u8)
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.text)
    }
}

impl serde::Serialize for CanonicalUrl {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.text)
    }
}

impl<'de> serde::Deserialize<'de> for CanonicalUrl {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        CanonicalUrl::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canon(text: &str) -> String {
        CanonicalUrl::parse(text).map_or_else(|e| format!("! {e}"), |u| u.to_string())
    }

    #[test]
    fn the_canonical_form_is_one_text_for_one_page() {
        for (raw, want) in [
            ("HTTP://Example.COM:80", "http://example.com/"),
            ("https://example.com:443/a/../b/./c#frag", "https://example.com/b/c"),
            ("http://u:p@example.com/", "http://example.com/"),
            ("http://example.com/%7euser/%e4%bd%A0", "http://example.com/~user/%E4%BD%A0"),
            ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
            ("http://example.com/100%", "http://example.com/100%"),
            ("http://[::1]:8080/x", "http://[::1]:8080/x"),
            ("http://example.com/a b", "http://example.com/a%20b"),
            ("http://example.com/a^b?c^d", "http://example.com/a%5Eb?c^d"),
            ("http://example.com/%%41e", "http://example.com/%%41e"),
            ("http://example.com/?†\\−\u{e}A", "http://example.com/?%E2%80%A0\\%E2%88%92%0EA"),
            ("mailto:someone@example.com", "! not an http or https URL"),
            ("example.com", "! not a URL: it has no scheme such as https://"),
        ] {
            assert_eq!(canon(raw), want, "{raw}");
        }
    }

    #[test]
    fn parts_are_where_they_should_be() {
        let u = CanonicalUrl::parse("https://[::1]:8443/a/b.HTML?x=1&a=2").unwrap();
        assert_eq!((u.host(), u.port(), u.authority()), ("[::1]", 8443, "[::1]:8443"));
        assert_eq!((u.path(), u.query()), ("/a/b.HTML", Some("x=1&a=2")));
        assert_eq!(u.origin(), "https://[::1]:8443");
        assert_eq!(u.extension().as_deref(), Some("html"));
        assert_eq!(u.path_and_query(), "/a/b.HTML?x=1&a=2");
        assert_eq!(CanonicalUrl::parse("http://h.test").unwrap().path_and_query(), "/");
        let robots = u.robots_txt();
        assert_eq!(robots.as_str(), "https://[::1]:8443/robots.txt");
        assert_eq!(CanonicalUrl::parse(robots.as_str()), Ok(robots));
        assert_eq!(u.without_query().as_str(), "https://[::1]:8443/a/b.HTML");
        assert_eq!(u.with_sorted_query().as_str(), "https://[::1]:8443/a/b.HTML?a=2&x=1");
    }

    #[test]
    fn references_join_as_a_browser_joins_them() {
        let base = CanonicalUrl::parse("http://h.test/d/e/f?q=1").unwrap();
        for (r, want) in [
            ("../x", "http://h.test/d/x"),
            ("?y", "http://h.test/d/e/f?y"),
            ("//other.test", "http://other.test/"),
            ("#top", "http://h.test/d/e/f?q=1"),
            ("", "http://h.test/d/e/f?q=1"),
            ("\n\\a\tb", "http://h.test/ab"),
        ] {
            assert_eq!(base.join(r).unwrap().as_str(), want, "{r:?}");
        }
    }

    #[test]
    fn ascii_hosts_are_taken_as_they_are_whatever_their_punycode() {
        for (raw, want) in [
            ("http://XN--a.Example:80/x", "http://xn--a.example/x"),
            ("http://u:p@www.xn--.example:81", "http://www.xn--.example:81/"),
            ("http://%78n--a.example/%7e", "http://xn--a.example/~"),
            ("http://xn--a.xx--a/", "http://xn--a.xx--a/"),
            ("http://xn--a.1/", "! not a URL: the IPv4 address is invalid"),
            ("http://xn--a b/", "! not a URL: the international domain name is invalid"),
            ("http://ü.xn--a/", "! not a URL: the international domain name is invalid"),
        ] {
            assert_eq!(canon(raw), want, "{raw}");
        }
    }

    #[test]
    fn references_join_to_an_odd_host_as_to_any_other() {
        let base = CanonicalUrl::parse("http://xn--a.test:81/d/e?q=1").unwrap();
        for (r, want) in [
            ("../x", "http://xn--a.test:81/x"),
            ("?y", "http://xn--a.test:81/d/e?y"),
            ("", "http://xn--a.test:81/d/e?q=1"),
            ("http:x", "http://xn--a.test:81/d/x"),
            ("https:x", "https://x/"),
            ("//xx--a.test/", "http://xx--a.test/"),
            ("http://u@xx--a.test:81/x", "http://xx--a.test:81/x"),
            ("///xn--b.test", "http://xn--b.test/"),
            ("\\\\XN--b.test\\y", "http://xn--b.test/y"),
            ("https:xn--b.test", "https://xn--b.test/"),
        ] {
            assert_eq!(base.join(r).unwrap().as_str(), want, "{r:?}");
        }
        assert_eq!(base.join("mailto:a@xn--a.test"), Err(UrlError::Scheme));
        assert!(base.join("//ü.xn--a/").is_err());
    }

    proptest! {
        #[test]
        fn odd_hosts_too_are_canonical_once(s in "http://(([xX][nN]--|a|[.]|%41|ü){1,4}@)?([xX][nN]--|[a-zA-Z0-9.]|%6E|[-]){1,8}(:8)?/[a.%/]{0,8}") {
            if let Ok(u) = CanonicalUrl::parse(&s) {
                prop_assert_eq!(CanonicalUrl::parse(u.as_str()), Ok(u.clone()));
                prop_assert_eq!(u.join(""), Ok(u.clone()));
                let robots = u.join("/robots.txt");
                prop_assert_eq!(robots, Ok(u.robots_txt()));
            }
        }

        #[test]
        fn canonical_twice_is_canonical_once(s in "(http|https)://[a-z0-9.%]{1,12}(:[0-9]{1,5})?/[a-zA-Z0-9%/.?&=#~ é]{0,24}") {
            if let Ok(u) = CanonicalUrl::parse(&s) {
                prop_assert_eq!(CanonicalUrl::parse(u.as_str()).unwrap(), u);
            }
        }
    }
}
