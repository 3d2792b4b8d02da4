//! Canonical URLs: one text for one page.
//!
//! The form is the WHATWG serialisation (scheme and host lower case, default port dropped,
//! dot segments resolved, tabs and newlines removed), and beyond it: no fragment, no user
//! name or password, percent-escapes in upper case, escaped unreserved characters unescaped
//! (RFC 3986 section 6.2.2). Only `http` and `https` exist here.
//!
//! Invariant: parsing the text of a canonical URL gives the same text.

use crate::{HostKey, Suffixes, UrlKey};
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
    pub const FORM_VERSION: u32 = 1;

    /// Reads an absolute URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        if text.len() > 4 * MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        Self::from_whatwg(url::Url::parse(text).map_err(explain)?)
    }

    /// Reads a reference as a page at `self` (or its `<base>`) would mean it.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        self.joiner().join(reference)
    }

    /// Prepares for joining many references to this URL.
    pub fn joiner(&self) -> Joiner {
        Joiner { base: url::Url::parse(&self.text).expect("a canonical URL parses") }
    }

    fn from_whatwg(mut url: url::Url) -> Result<Self, UrlError> {
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
        let text = normalise_escapes(String::from(url));
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
}

impl Joiner {
    /// Reads a reference relative to the base.
    pub fn join(&self, reference: &str) -> Result<CanonicalUrl, UrlError> {
        if reference.len() > 4 * MAX_URL_BYTES {
            return Err(UrlError::TooLong);
        }
        let reference = one_authority(reference);
        CanonicalUrl::from_whatwg(self.base.join(&reference).map_err(explain)?)
    }
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
        let hex = rest.as_bytes().get(at + 1..at + 3).and_then(|h| {
            let hi = char::from(h[0]).to_digit(16)?;
            let lo = char::from(h[1]).to_digit(16)?;
            Some((hi * 16 + lo) as u8)
        });
        match hex {
            Some(b) if b.is_ascii_alphanumeric() || b"-._~".contains(&b) => {
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

    proptest! {
        #[test]
        fn canonical_twice_is_canonical_once(s in "(http|https)://[a-z0-9.%]{1,12}(:[0-9]{1,5})?/[a-zA-Z0-9%/.?&=#~ é]{0,24}") {
            if let Ok(u) = CanonicalUrl::parse(&s) {
                prop_assert_eq!(CanonicalUrl::parse(u.as_str()).unwrap(), u);
            }
        }
    }
}
