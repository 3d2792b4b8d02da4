//! WARC headers and HTTP heads, read line by line with bounds.
//!
//! Its place: `open` and `reader` read records with this. Invariant: no input makes it take more
//! than [`MAX_HEAD_BYTES`] of memory.

use std::io::{self, BufRead};

/// The longest header block, WARC or HTTP, that is accepted.
pub(crate) const MAX_HEAD_BYTES: usize = 1 << 20;

/// The named fields at the head of a WARC record, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarcHeaders {
    version: String,
    fields: Vec<(String, String)>,
}

impl WarcHeaders {
    /// No fields yet.
    pub(crate) fn of_version(version: &str) -> Self {
        WarcHeaders { version: version.to_owned(), fields: Vec::new() }
    }

    /// Adds a field.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    /// The version line: `WARC/1.1`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The first value of a field; names are compared without regard to case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All fields as (name, value).
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// The kind of record: `response`, `revisit` …; empty if the record does not say.
    pub fn record_type(&self) -> &str {
        self.get("WARC-Type").unwrap_or_default()
    }

    /// The URL the record is about. WARC 1.0 writers put it in angle brackets.
    pub fn target_uri(&self) -> Option<&str> {
        let uri = self.get("WARC-Target-URI")?;
        Some(uri.strip_prefix('<').and_then(|u| u.strip_suffix('>')).unwrap_or(uri))
    }

    /// Length of the block.
    pub(crate) fn content_length(&self) -> io::Result<u64> {
        let text = self.get("Content-Length").ok_or_else(|| damage("no Content-Length"))?;
        text.parse().map_err(|_| damage(format!("Content-Length is {text:?}")))
    }

    /// Whether the block begins with an HTTP head.
    pub(crate) fn holds_http(&self) -> bool {
        let http = |t: &str| {
            t.get(..16).is_some_and(|start| start.eq_ignore_ascii_case("application/http"))
        };
        match self.record_type() {
            // A response that does not say what it holds is one of HTTP if it begins as one.
            "response" => self.get("Content-Type").is_none_or(http),
            "request" | "revisit" => self.get("Content-Type").is_some_and(http),
            _ => false,
        }
    }

    /// Reads the version line and the fields up to the empty line.
    pub(crate) fn read(input: &mut impl BufRead) -> io::Result<WarcHeaders> {
        let mut budget = MAX_HEAD_BYTES;
        let mut line = Vec::new();
        read_line(input, &mut line, &mut budget)?;
        if !line.starts_with(b"WARC/") {
            return Err(damage("no WARC version line"));
        }
        let mut headers = WarcHeaders { version: text_of(&line), fields: Vec::new() };
        loop {
            line.clear();
            read_line(input, &mut line, &mut budget)?;
            if line.is_empty() {
                return Err(early_end("the WARC headers"));
            }
            let folded = matches!(line[0], b' ' | b'\t');
            let text = text_of(&line);
            if text.is_empty() {
                return Ok(headers);
            }
            match headers.fields.last_mut() {
                Some((_, value)) if folded => {
                    value.push(' ');
                    value.push_str(&text);
                }
                // A line without a colon says nothing that could be looked up.
                _ => {
                    if let Some((name, value)) = text.split_once(':') {
                        headers.fields.push((name.trim().to_owned(), value.trim().to_owned()));
                    }
                }
            }
        }
    }
}

/// The status code of an HTTP response head.
pub fn http_status(head: &[u8]) -> Option<u16> {
    let line = head.split(|b| *b == b'\n').next()?;
    let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
    let protocol = words.next()?;
    // Odd servers say `HTTPX/1.1`, radio stations `ICY`.
    if !protocol.starts_with(b"HTTP") && protocol != b"ICY" {
        return None;
    }
    let code = words.next()?;
    if code.len() != 3 || !code.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(code).ok()?.parse().ok()
}

/// Reads an HTTP head with its empty line from a block of `block_len` bytes. A block without an
/// empty line is all head; one of a `response` that does not begin as HTTP has none.
pub(crate) fn read_http_head(
    input: &mut impl BufRead,
    block_len: u64,
    response: bool,
) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut block = io::Read::take(input, block_len);
    if response && !matches!(block.fill_buf()?.first(), Some(b'H' | b'I')) {
        return Ok(head);
    }
    let mut budget = MAX_HEAD_BYTES;
    loop {
        let start = head.len();
        read_line(&mut block, &mut head, &mut budget)?;
        if matches!(&head[start..], b"" | b"\r\n" | b"\n") {
            return Ok(head);
        }
    }
}

/// Appends the next line with its line end; nothing at the end of input.
pub(crate) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    budget: &mut usize,
) -> io::Result<()> {
    let read = io::Read::take(&mut *input, *budget as u64).read_until(b'\n', line)?;
    *budget -= read;
    if *budget == 0 {
        return Err(damage(format!("headers longer than {MAX_HEAD_BYTES} bytes")));
    }
    Ok(())
}

fn text_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line.trim_ascii()).into_owned()
}

/// Bytes that cannot be what they should be.
pub(crate) fn damage(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason.into())
}

/// The input ended inside something.
pub(crate) fn early_end(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, format!("the file ends within {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_without_regard_to_case_and_folds_are_joined() {
        let mut input =
            &b"WARC/1.0\r\nwarc-type: response\r\nWARC-Target-URI: <http://a/>\r\nX: a\r\n\tb\r\nodd\r\n\r\nrest"[..];
        let headers = WarcHeaders::read(&mut input).unwrap();
        assert_eq!((headers.version(), headers.record_type()), ("WARC/1.0", "response"));
        assert_eq!(headers.target_uri(), Some("http://a/"));
        assert_eq!(headers.get("x"), Some("a b"));
        assert_eq!(input, b"rest");
    }

    #[test]
    fn an_endless_header_is_refused() {
        let mut input = io::BufReader::new(io::Read::chain(&b"WARC/1.0\r\n"[..], io::repeat(b'a')));
        assert!(WarcHeaders::read(&mut input).unwrap_err().to_string().contains("longer"));
    }

    #[test]
    fn a_status_needs_no_reason() {
        assert_eq!(http_status(b"HTTP/1.1 302\r\n\r\n"), Some(302));
        assert_eq!(http_status(b"HTTP/2 404 Gone fishing\r\n"), Some(404));
        assert_eq!(http_status(b"ICY 200 OK\r\n"), Some(200));
        assert_eq!(http_status(b"GET 200 HTTP/1.1\r\n"), None);
    }
}
