//! Undoing chunked framing that other archivers leave in their records.
//!
//! Our own records never hold it. A head may name the coding though the framing is gone: then
//! the first line is no length, and the payload is what it is.

use std::io::{self, BufRead, Read, Write};

/// What became of a payload whose head says that it is chunked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dechunked {
    /// The framing is undone.
    Whole,
    /// Undone as far as it went: the payload ends early or the framing breaks off.
    Part,
    /// There is no framing; nothing was written.
    Not,
}

/// Longest line of framing: a length and whatever extensions follow it.
const MAX_LINE: u64 = 4 << 10;

/// Writes the payload without its framing.
pub fn dechunk(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Dechunked> {
    let mut first = true;
    loop {
        let mut line = Vec::new();
        input.take(MAX_LINE).read_until(b'\n', &mut line)?;
        let Some(length) = length_of(&line) else {
            return Ok(if first { Dechunked::Not } else { Dechunked::Part });
        };
        if length == 0 {
            // Trailers are of no use to anybody by now.
            return Ok(Dechunked::Whole);
        }
        first = false;
        if io::copy(&mut input.take(length), out)? != length {
            return Ok(Dechunked::Part);
        }
        let mut end = Vec::new();
        input.take(2).read_until(b'\n', &mut end)?;
        if !matches!(&end[..], b"\r\n" | b"\n") {
            return Ok(Dechunked::Part);
        }
    }
}

fn length_of(line: &[u8]) -> Option<u64> {
    let line = line.strip_suffix(b"\n")?;
    let digits = line.split(|b| *b == b';').next()?.trim_ascii();
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undone(input: &str) -> (Dechunked, String) {
        let mut out = Vec::new();
        let became = dechunk(&mut input.as_bytes(), &mut out).unwrap();
        (became, String::from_utf8(out).unwrap())
    }

    #[test]
    fn framing_is_undone_and_what_has_none_is_left_alone() {
        let whole = undone("5;x=1\r\nhello\r\n1 \r\n!\r\n0\r\nA: b\r\n\r\n");
        assert_eq!(whole, (Dechunked::Whole, "hello!".to_owned()));
        assert_eq!(undone("5\nhello\n0\n"), (Dechunked::Whole, "hello".to_owned()));
        assert_eq!(undone("5\r\nhel"), (Dechunked::Part, "hel".to_owned()));
        assert_eq!(undone("5\r\nhello0\r\n"), (Dechunked::Part, "hello".to_owned()));
        assert_eq!(undone("<html>abc"), (Dechunked::Not, String::new()));
        assert_eq!(undone(""), (Dechunked::Not, String::new()));
        assert_eq!(undone("fffffffffffffffff\r\n"), (Dechunked::Not, String::new()));
    }
}
