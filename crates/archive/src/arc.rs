//! ARC: the format before WARC, read as if it were WARC.
//!
//! A record is one line, `URL address 14-digit-time type length`, and so many bytes; the second
//! version of the format has ten words, the length being the last. The first record of a file
//! has a URL of the scheme `filedesc`. Its place: `reader` asks here when a file began so.

use crate::headers::{damage, early_end, read_line};
use crate::{WarcHeaders, warc_date};
use std::io::{self, BufRead};

/// How every ARC file begins.
pub(crate) const ARC_MAGIC: &[u8] = b"filedesc://";

/// Longest line that is believed to describe a record.
const MAX_LINE: usize = 16 << 10;

/// Reads the line of a record as the headers a WARC record would have.
pub(crate) fn read_arc_headers(input: &mut impl BufRead) -> io::Result<WarcHeaders> {
    let mut line = Vec::new();
    let mut budget = MAX_LINE;
    read_line(input, &mut line, &mut budget)?;
    if !line.ends_with(b"\n") {
        return Err(early_end("the line of an ARC record"));
    }
    headers_of(&line).ok_or_else(|| damage("not the line of an ARC record"))
}

fn headers_of(line: &[u8]) -> Option<WarcHeaders> {
    let line = std::str::from_utf8(line.trim_ascii_end()).ok()?;
    // A URL may hold spaces; the words behind it do not.
    let words: Vec<&str> = line.split(' ').collect();
    if words.len() < 5 {
        return None;
    }
    let length = words.last().filter(|w| w.parse::<u64>().is_ok())?;
    let dated = |at: usize| (at >= 2).then(|| words[at]).and_then(digits_as_iso);
    let version_1 = words.len() - 3;
    let version_2 = words.len().checked_sub(8);
    let (date, at) = match (dated(version_1), version_2.and_then(dated)) {
        (Some(date), _) => (date, version_1),
        (None, Some(date)) => (date, version_2?),
        (None, None) => return None,
    };
    let url = words[..at - 1].join(" ");
    if !url.contains(':') {
        return None;
    }
    let mime = words[at + 1];
    let mut headers = WarcHeaders::of_version("ARC/1");
    let (kind, block) = match url.split_once(':').map_or("", |(scheme, _)| scheme) {
        "filedesc" => ("warcinfo", mime),
        "http" | "https" => ("response", "application/http; msgtype=response"),
        _ => ("resource", mime),
    };
    headers.push("WARC-Type", kind);
    headers.push("WARC-Target-URI", &url);
    headers.push("WARC-Date", &date);
    headers.push("WARC-IP-Address", words[at - 1]);
    headers.push("Content-Type", block);
    headers.push("Content-Length", length);
    Some(headers)
}

/// The 14 digits as WARC writes a time; `None` for anything else.
fn digits_as_iso(digits: &str) -> Option<String> {
    if digits.len() != 14 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| &digits[from..to];
    let (year, month, day) = (part(0, 4), part(4, 6), part(6, 8));
    let (hour, minute, second) = (part(8, 10), part(10, 12), part(12, 14));
    let iso = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    warc_date(&iso).map(|_| iso)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_versions_are_read_and_others_refused() {
        let read = |line: &str| headers_of(line.as_bytes());
        let one = read("http://a.test/x y 192.0.2.1 20080430204825 text/html 782\n").unwrap();
        assert_eq!(one.target_uri(), Some("http://a.test/x y"));
        assert_eq!(one.get("WARC-Date"), Some("2008-04-30T20:48:25Z"));
        assert_eq!((one.record_type(), one.get("Content-Length")), ("response", Some("782")));
        let two = "http://a.test/ 192.0.2.1 20080430204825 text/html 200 ck - 123 f.arc 40\n";
        assert_eq!(read(two).unwrap().get("Content-Length"), Some("40"));
        let dns = read("dns:a.test 192.0.2.1 20080430204825 text/dns 56\n").unwrap();
        assert_eq!(dns.record_type(), "resource");
        for odd in [
            "",
            "http://a.test/ 192.0.2.1 20080430204825 text/html -1",
            "http://a.test/ 192.0.2.1 20089930204825 text/html 5",
            "http://a.test/ 192.0.2.1 201404010000000000 text/html 5",
            "some words of a page which end in 5",
        ] {
            assert!(read(odd).is_none(), "{odd}");
        }
    }
}
