//! The HTTP head as it goes into the archive: as received, except where it would lie about the
//! stored body.
//!
//! Bodies are stored without chunking, with their true length, and zstd bodies decoded. A line
//! that no longer holds is renamed with the prefix `X-Archive-Orig-`, so that it can still be
//! read; no other byte is changed. What is not here: reading a head for its meaning (`fetch`).

/// What the names of lines that no longer hold are prefixed with.
const PREFIX: &[u8] = b"X-Archive-Orig-";

/// Makes the head of a received response agree with its stored body.
///
/// `stored_len` is the length of the stored body, `dechunked` says whether a transfer-encoding
/// was removed from it, `decoded` whether its content-encoding was. A response whose status
/// allows no body (1xx, 204, 304) keeps its `Content-Length`, which then speaks of another
/// response's body. The result always ends with an empty line.
pub fn http_head_for_archive(
    raw: &[u8],
    stored_len: u64,
    dechunked: bool,
    decoded: bool,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len() + 64);
    let mut newline: &[u8] = b"\r\n";
    let mut length_is_true = false;
    for (number, field) in Fields::new(raw).enumerate() {
        if number == 0 {
            if !field.ends_with(b"\r\n") && field.ends_with(b"\n") {
                newline = b"\n";
            }
            length_is_true = status_without_body(field);
        } else if let Some((name, value)) = split(field) {
            let renamed = if name.eq_ignore_ascii_case(b"transfer-encoding") {
                dechunked
            } else if name.eq_ignore_ascii_case(b"content-encoding") {
                decoded
            } else if name.eq_ignore_ascii_case(b"content-length") && !status_without_body(raw) {
                let holds = number_of(value) == Some(stored_len);
                length_is_true |= holds;
                !holds
            } else {
                false
            };
            if renamed {
                out.extend_from_slice(PREFIX);
            }
        }
        out.extend_from_slice(field);
        if !field.ends_with(b"\n") {
            out.extend_from_slice(newline);
        }
    }
    if !length_is_true {
        out.extend_from_slice(b"Content-Length: ");
        out.extend_from_slice(stored_len.to_string().as_bytes());
        out.extend_from_slice(newline);
    }
    out.extend_from_slice(newline);
    out
}

/// The status line and the fields of a head, each with its folded lines and line ends.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn new(head: &'a [u8]) -> Self {
        Fields { rest: head }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() || self.rest.starts_with(b"\r\n") || self.rest.starts_with(b"\n") {
            return None;
        }
        let mut end = 0;
        loop {
            end = match memchr::memchr(b'\n', &self.rest[end..]) {
                Some(at) => end + at + 1,
                None => self.rest.len(),
            };
            // A line that begins with white space continues the field before it (obs-fold).
            if !matches!(self.rest.get(end), Some(b' ' | b'\t')) {
                break;
            }
        }
        let (field, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(field)
    }
}

/// Name and value of a field; `None` for a line without a colon.
fn split(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', field)?;
    Some((field[..colon].trim_ascii(), field[colon + 1..].trim_ascii()))
}

fn number_of(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}

fn status_without_body(status_line: &[u8]) -> bool {
    let line = status_line.split(|b| *b == b'\n').next().unwrap_or_default();
    let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty());
    matches!(words.nth(1), Some([b'1', _, _] | b"204" | b"304"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(raw: &str, len: u64, dechunked: bool, decoded: bool) -> String {
        let out = http_head_for_archive(raw.as_bytes(), len, dechunked, decoded);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_true_head_stays_byte_for_byte() {
        let raw = "HTTP/1.1 200\r\nServer:  x \r\ncontent-length:  5\r\nX-Odd\r\n\r\n";
        assert_eq!(text(raw, 5, false, false), raw);
        let lf = "HTTP/1.0 404 Not Found\nContent-Length: 0\n\n";
        assert_eq!(text(lf, 0, true, true), lf);
    }

    #[test]
    fn a_chunked_head_is_renamed_and_gets_its_length() {
        assert_eq!(
            text("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nA: b\r\n\r\n", 7, true, false),
            "HTTP/1.1 200 OK\r\nX-Archive-Orig-transfer-encoding: chunked\r\nA: b\r\n\
             Content-Length: 7\r\n\r\n"
        );
    }

    #[test]
    fn a_decoded_head_is_renamed_and_its_length_corrected() {
        assert_eq!(
            text("HTTP/1.1 200 OK\nContent-Encoding: zstd\nContent-Length: 9\n\n", 20, false, true),
            "HTTP/1.1 200 OK\nX-Archive-Orig-Content-Encoding: zstd\n\
             X-Archive-Orig-Content-Length: 9\nContent-Length: 20\n\n"
        );
    }

    #[test]
    fn folded_lines_stay_with_their_field() {
        assert_eq!(
            text(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\nA: b\r\n\tc\r\n\r\n",
                1,
                true,
                false
            ),
            "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding:\r\n chunked\r\nA: b\r\n\tc\r\n\
             Content-Length: 1\r\n\r\n"
        );
    }

    #[test]
    fn a_status_without_body_keeps_its_length_line() {
        let raw = "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n";
        assert_eq!(text(raw, 0, false, false), raw);
        assert_eq!(text("HTTP/1.1 204\r\n\r\n", 0, false, false), "HTTP/1.1 204\r\n\r\n");
    }

    #[test]
    fn a_head_without_end_is_ended() {
        assert_eq!(
            text("HTTP/1.1 200 OK\r\nA: b", 3, false, false),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\n"
        );
    }

    proptest! {
        #[test]
        fn every_received_byte_survives_and_twice_is_once(
            raw in "HTTP/1.1 [0-9]{3}( [a-z]*)?(\r\n|\n)(([A-Za-z-]{1,20}|content-length|Transfer-Encoding): ?[a-z0-9]{0,8}(\r\n|\n)){0,6}(\r\n|\n)",
            len in 0u64..50, dechunked: bool, decoded: bool,
        ) {
            let once = http_head_for_archive(raw.as_bytes(), len, dechunked, decoded);
            let twice = http_head_for_archive(&once, len, dechunked, decoded);
            prop_assert_eq!(&once, &twice);
            let plain = String::from_utf8(once).unwrap().replace("X-Archive-Orig-", "");
            for line in raw.lines() {
                prop_assert!(plain.contains(line));
            }
        }

        #[test]
        fn arbitrary_bytes_do_no_harm(raw: Vec<u8>, len: u64, a: bool, b: bool) {
            let out = http_head_for_archive(&raw, len, a, b);
            prop_assert!(out.ends_with(b"\n"));
        }
    }
}
