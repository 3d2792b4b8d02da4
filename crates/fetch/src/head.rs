//! The head of a response: status line and headers, exactly as they came.
//!
//! Headers are looked up in the raw bytes. Heads are small and only a handful of fields is ever
//! asked for, so a scan is cheaper than a map, and the client's read buffer is not kept alive.

use crate::wire::{Language, Tap};
use argiope_model::Time;
use hyper::http::response::Parts;
use memchr::memchr;
use std::borrow::Cow;
use std::time::Duration;

/// Fields of one connection, not of the answer.
const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Status line and headers of a response.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The bytes as received, from the status line to the blank line. Interim (1xx) heads are
    /// not part of it. A head that came over HTTP/2 is written down as HTTP/1.1 would write it.
    pub raw: Vec<u8>,
    pub(crate) length: Option<u64>,
    pub(crate) http2: bool,
}

impl Head {
    /// Writes down a head that came over HTTP/2, where it has no text of its own: archives and
    /// everything that reads them know the form of HTTP/1.1. Fields that speak of one connection
    /// have no place in HTTP/2 and are left out, since the form would give them a meaning.
    pub(crate) fn from_http2(parts: &Parts, length: Option<u64>) -> Self {
        let reason = parts.status.canonical_reason().unwrap_or_default();
        let mut raw = format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16()).into_bytes();
        for (name, value) in &parts.headers {
            if !HOP_BY_HOP.contains(&name.as_str()) {
                raw.extend_from_slice(name.as_str().as_bytes());
                raw.extend_from_slice(b": ");
                raw.extend_from_slice(value.as_bytes());
                raw.extend_from_slice(b"\r\n");
            }
        }
        raw.extend_from_slice(b"\r\n");
        Head { status: parts.status.as_u16(), raw, length, http2: true }
    }

    /// A head read back from an archive, of this program or another.
    pub fn archived(status: u16, raw: Vec<u8>) -> Self {
        Head { status, raw, length: None, http2: false }
    }

    /// Whether it came over HTTP/2, so that [`Head::raw`] is our writing.
    pub fn is_http2(&self) -> bool {
        self.http2
    }

    /// The first value of a header, whatever its case. Bytes that are not UTF-8 are replaced.
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        self.values(name).next()
    }

    /// All values of a header in the order they came.
    pub fn get_all(&self, name: &str) -> Vec<Cow<'_, str>> {
        self.values(name).collect()
    }

    /// `Content-Type`; the last one, which is the one browsers believe.
    pub fn content_type(&self) -> Option<Cow<'_, str>> {
        self.values("content-type").last()
    }

    /// How many body bytes the server promised; `None` where only the end will tell.
    pub fn content_length(&self) -> Option<u64> {
        self.length
    }

    /// `Content-Encoding`, several headers joined by commas.
    pub fn content_encoding(&self) -> Option<Cow<'_, str>> {
        self.joined("content-encoding")
    }

    /// `Location` as sent.
    pub fn location(&self) -> Option<Cow<'_, str>> {
        self.get("location")
    }

    /// `Last-Modified` as sent.
    pub fn last_modified(&self) -> Option<Cow<'_, str>> {
        self.get("last-modified")
    }

    /// `ETag` as sent.
    pub fn etag(&self) -> Option<Cow<'_, str>> {
        self.get("etag")
    }

    /// When to come back, as `Retry-After` says: a number of seconds from `now`, or a date.
    /// A date that is past is `now`. `None` without the header or where it says neither.
    pub fn retry_after(&self, now: Time) -> Option<Time> {
        let text = self.get("retry-after")?;
        let text = text.trim();
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            // A number beyond all measure is still a number: it means never.
            let seconds = text.parse::<u32>().unwrap_or(u32::MAX);
            return Some(now.plus(Duration::from_secs(seconds.into())));
        }
        Time::from_http_date(text).map(|at| at.max(now))
    }

    /// The values of all `X-Robots-Tag` headers in the order they came, one for each header:
    /// `noindex, nofollow` or `otherbot: noarchive`. What they mean is for the caller.
    pub fn x_robots_tags(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.values("x-robots-tag")
    }

    /// Whether the body came in chunks.
    pub fn is_chunked(&self) -> bool {
        self.joined("transfer-encoding").is_some_and(|codings| {
            codings.rsplit(',').next().is_some_and(|c| c.trim().eq_ignore_ascii_case("chunked"))
        })
    }

    fn joined(&self, name: &str) -> Option<Cow<'_, str>> {
        let mut values = self.values(name);
        let mut text = values.next()?;
        for more in values {
            let text = text.to_mut();
            text.push_str(", ");
            text.push_str(&more);
        }
        Some(text)
    }

    fn values<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = Cow<'a, str>> + use<'a, 'n> {
        self.fields()
            .filter(move |(n, _)| n.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value.text())
    }

    fn fields(&self) -> Fields<'_> {
        let start = memchr(b'\n', &self.raw).map_or(self.raw.len(), |at| at + 1);
        Fields { rest: &self.raw[start..] }
    }
}

/// Reads the head of an HTTP/1 answer from bytes as they may come over the wire, for fuzzing: the
/// parts of the reading that are ours and not the client's. `None` if there is no complete head
/// with a status.
#[doc(hidden)]
pub fn head_from_bytes(bytes: &[u8]) -> Option<Head> {
    let mut tap = Tap::new(Language::Http1, 64 << 10);
    for piece in bytes.chunks(1 + bytes.len() / 3) {
        tap.feed(piece).ok()?;
    }
    let raw = tap.complete_head()?;
    let status = raw.get(9..12).filter(|_| raw.starts_with(b"HTTP/1."))?;
    let status = std::str::from_utf8(status).ok()?.parse().ok()?;
    Some(Head { status, raw, length: None, http2: false })
}

/// Walks over the header lines; lines that are no header are passed over.
struct Fields<'a> {
    rest: &'a [u8],
}

/// A header value, which old servers may fold over several lines.
struct Value<'a>(&'a [u8]);

impl<'a> Value<'a> {
    fn text(&self) -> Cow<'a, str> {
        if memchr(b'\n', self.0).is_none() {
            return String::from_utf8_lossy(self.0);
        }
        let lines: Vec<_> = self.0.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).collect();
        Cow::Owned(String::from_utf8_lossy(&lines.join(&b' ')).into_owned())
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (&'a [u8], Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let mut end = memchr(b'\n', self.rest).unwrap_or(self.rest.len());
            while matches!(self.rest.get(end + 1), Some(b' ' | b'\t')) {
                let more = &self.rest[end + 1..];
                end += 1 + memchr(b'\n', more).unwrap_or(more.len());
            }
            let line = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if let Some(colon) = memchr(b':', line) {
                return Some((
                    line[..colon].trim_ascii_end(),
                    Value(line[colon + 1..].trim_ascii()),
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(raw: &str) -> Head {
        Head { status: 200, raw: raw.as_bytes().to_vec(), length: None, http2: false }
    }

    #[test]
    fn headers_are_found_whatever_their_case_and_order() {
        let h = head(
            "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nnonsense\r\nX-Fold : one\r\n  two\r\n\tthree\r\n\
             content-type:text/html \r\nContent-Encoding: gzip\r\ncontent-encoding: br\r\n\
             Transfer-Encoding: gzip, Chunked\r\n\r\n",
        );
        assert_eq!(h.get("x-fold").as_deref(), Some("one two three"));
        assert_eq!(h.content_type().as_deref(), Some("text/html"));
        assert_eq!(h.content_encoding().as_deref(), Some("gzip, br"));
        assert_eq!(h.get_all("CONTENT-TYPE").len(), 2);
        assert!(h.is_chunked());
        assert_eq!(h.location(), None);
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let now = Time::from_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let after = |value: &str| {
            let h = head(&format!("HTTP/1.1 503 Busy\r\nRetry-After: {value}\r\n\r\n"));
            h.retry_after(now).map(|t| t.since(now).as_secs())
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("0"), Some(0));
        assert_eq!(after("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(after("Sunday, 06-Nov-94 08:50:37 GMT"), Some(60));
        assert_eq!(after("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0), "a past date is now");
        assert_eq!(after("99999999999999999999"), Some(u64::from(u32::MAX)));
        for nonsense in ["", "-1", "1.5", "soon", "+3", "12 s"] {
            assert_eq!(after(nonsense), None, "{nonsense:?}");
        }
        assert_eq!(head("HTTP/1.1 503 Busy\r\n\r\n").retry_after(now), None);
    }

    #[test]
    fn every_robots_header_counts() {
        let h = head(
            "HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex, nofollow\r\nA: b\r\nx-robots-tag: other: none\r\n\r\n",
        );
        assert_eq!(h.x_robots_tags().collect::<Vec<_>>(), ["noindex, nofollow", "other: none"]);
    }

    #[test]
    fn a_head_is_found_in_what_comes_over_the_wire() {
        let h = head_from_bytes(b"HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 404 No\r\nA: b\r\n\r\nrest");
        let h = h.unwrap();
        assert_eq!((h.status, h.get("a").as_deref()), (404, Some("b")));
        for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\n", b"\r\n\r\n", b"nonsense\r\n\r\n"] {
            assert!(head_from_bytes(bytes).is_none());
        }
    }

    #[test]
    fn odd_bytes_do_not_stop_the_lookup() {
        let h = Head {
            status: 200,
            raw: b"HTTP/1.1 200\nLocation: /\xe4\nA: b".to_vec(),
            length: None,
            http2: false,
        };
        assert_eq!(h.location().as_deref(), Some("/\u{fffd}"));
        assert_eq!(head("").get("a"), None);
        assert_eq!(head("x\ny:1\n z").get("y").as_deref(), Some("1 z"));
        assert_eq!(head("x\ny:1\n z\n").get("y").as_deref(), Some("1 z"));
    }
}
