//! The head of a response: status line and headers, exactly as they came.
//!
//! Headers are looked up in the raw bytes. Heads are small and only a handful of fields is ever
//! asked for, so a scan is cheaper than a map, and the client's read buffer is not kept alive.

use memchr::memchr;
use std::borrow::Cow;

/// Status line and headers of a response.
#[derive(Clone, Debug)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The bytes as received, from the status line to the blank line. Interim (1xx) heads are
    /// not part of it.
    pub raw: Vec<u8>,
    pub(crate) length: Option<u64>,
}

impl Head {
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
        Head { status: 200, raw: raw.as_bytes().to_vec(), length: None }
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
    fn odd_bytes_do_not_stop_the_lookup() {
        let h = Head {
            status: 200,
            raw: b"HTTP/1.1 200\nLocation: /\xe4\nA: b".to_vec(),
            length: None,
        };
        assert_eq!(h.location().as_deref(), Some("/\u{fffd}"));
        assert_eq!(head("").get("a"), None);
        assert_eq!(head("x\ny:1\n z").get("y").as_deref(), Some("1 z"));
        assert_eq!(head("x\ny:1\n z\n").get("y").as_deref(), Some("1 z"));
    }
}
