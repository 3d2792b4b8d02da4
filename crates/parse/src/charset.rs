//! Which character encoding a body has, and its text in UTF-8.
//!
//! * What this is: the decision in the order of the HTML standard: byte order mark, header,
//!   declaration in the page, guess; and the decoding, in memory or from a stream.
//! * Its place: `page` calls it before the tokenizer runs.
//! * Invariants: a body that is valid UTF-8 is not copied; no body is refused: what cannot be
//!   decoded becomes U+FFFD.
//! * What is not here: the encoding of URL queries. References are read as UTF-8.

use crate::prescan;
use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{CoderResult, Decoder, Encoding, REPLACEMENT, UTF_8, WINDOWS_1252};
use std::borrow::Cow;
use std::io::{self, Read};

/// How far the standard looks for a declaration.
const PRESCAN_BYTES: usize = 1024;
/// How far this crate looks, up to the end of the head: browsers find such late declarations
/// too, while parsing.
pub(crate) const HEAD_BYTES: usize = 64 << 10;

/// The encoding of a body, and how many bytes of byte order mark stand before the text.
///
/// `head` is the body or its beginning; `declares` says whether it is a page that may declare
/// its encoding itself.
pub(crate) fn decide(
    head: &[u8],
    header: Option<&str>,
    declares: bool,
) -> (&'static Encoding, usize) {
    if let Some((encoding, len)) = Encoding::for_bom(head) {
        return (encoding, len);
    }
    // The replacement encoding protects browsers from scripts in disguise. Nothing runs here,
    // and a page read with a wrong guess is better than none.
    let known = |e: &&'static Encoding| *e != REPLACEMENT;
    let from_header = header.and_then(|h| Encoding::for_label(h.as_bytes())).filter(known);
    let declared = || {
        let window = &head[..head.len().min(PRESCAN_BYTES)];
        let early = prescan::declared(window, false);
        early.or_else(|| prescan::declared(&head[..head.len().min(HEAD_BYTES)], true))
    };
    let encoding = from_header
        .or_else(|| declares.then(declared).flatten().filter(known))
        .unwrap_or_else(|| guess(head));
    (encoding, 0)
}

fn guess(head: &[u8]) -> &'static Encoding {
    let first = match std::str::from_utf8(head) {
        // What browsers call a page of plain ASCII.
        Ok(text) if text.is_ascii() => return WINDOWS_1252,
        Ok(_) => return UTF_8,
        // Only the last character is cut off.
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => return UTF_8,
        Err(_) => head.iter().position(|b| !b.is_ascii()).unwrap_or(0),
    };
    // The detector is slow, and ASCII tells it little.
    let window = &head[first.saturating_sub(256)..];
    let window = &window[..window.len().min(HEAD_BYTES)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(window, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// The text of a body in memory; borrowed when it needs no conversion.
pub(crate) fn decode<'b>(bytes: &'b [u8], encoding: &'static Encoding) -> Cow<'b, str> {
    encoding.decode_without_bom_handling(bytes).0
}

/// A stream of any encoding as a stream of UTF-8.
pub(crate) struct Transcoder<R> {
    reader: R,
    decoder: Decoder,
    input: Box<[u8]>,
    /// The part of `input` that is not decoded yet.
    pending: std::ops::Range<usize>,
    output: Vec<u8>,
    /// How much of `output` was handed out.
    taken: usize,
    ended: bool,
}

impl<R: Read> Transcoder<R> {
    pub(crate) fn new(reader: R, encoding: &'static Encoding) -> Self {
        Transcoder {
            reader,
            decoder: encoding.new_decoder_without_bom_handling(),
            input: vec![0; 16 << 10].into_boxed_slice(),
            pending: 0..0,
            output: vec![0; 32 << 10],
            taken: 32 << 10,
            ended: false,
        }
    }

    /// Decodes the next piece; leaves `output` empty at the end of the stream.
    fn refill(&mut self) -> io::Result<()> {
        self.output.resize(32 << 10, 0);
        self.taken = 0;
        let mut filled = 0;
        while filled == 0 && !self.ended {
            if self.pending.is_empty() {
                let n = loop {
                    match self.reader.read(&mut self.input) {
                        Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                        other => break other?,
                    }
                };
                self.pending = 0..n;
            }
            let last = self.pending.is_empty();
            let source = &self.input[self.pending.clone()];
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(source, &mut self.output, last);
            self.pending.start += read;
            filled = written;
            self.ended = last && result == CoderResult::InputEmpty;
        }
        self.output.truncate(filled);
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.taken >= self.output.len() {
            self.refill()?;
        }
        let ready = &self.output[self.taken..];
        let n = ready.len().min(buf.len());
        buf[..n].copy_from_slice(&ready[..n]);
        self.taken += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(bytes: &[u8], header: Option<&str>) -> &'static str {
        decide(bytes, header, true).0.name()
    }

    #[test]
    fn the_order_is_mark_header_declaration_guess() {
        let page = b"\xEF\xBB\xBF<meta charset=gbk>";
        assert_eq!(name(page, Some("big5")), "UTF-8");
        assert_eq!(name(&page[3..], Some("big5")), "Big5");
        assert_eq!(name(&page[3..], Some("no such thing")), "GBK");
        assert_eq!(name(&page[3..], None), "GBK");
        assert_eq!(name("é".as_bytes(), None), "UTF-8");
        assert_eq!(name(b"caf\xe9 au lait", None), "windows-1252");
        assert_eq!(name(b"\xff\xfea\0", Some("utf-8")), "UTF-16LE");
    }

    #[test]
    fn a_late_declaration_counts_in_the_head_only() {
        let late = format!("<!-- {} --><meta charset=gbk>", "x".repeat(3000));
        assert_eq!(name(late.as_bytes(), None), "GBK");
        let body = format!("<!-- {} --></head><meta charset=gbk>", "x".repeat(3000));
        assert_eq!(name(body.as_bytes(), None), "windows-1252");
    }

    #[test]
    fn a_cut_last_character_is_still_utf_8() {
        assert_eq!(name(&"größe".as_bytes()[..4], None), "UTF-8");
    }

    #[test]
    fn a_stream_decodes_like_the_whole() {
        let text = "日本語テキスト ".repeat(9000);
        let (bytes, encoding, _) = encoding_rs::SHIFT_JIS.encode(&text);
        let mut out = String::new();
        Transcoder::new(&*bytes, encoding).read_to_string(&mut out).unwrap();
        assert_eq!(out, text);
        assert_eq!(decode(&bytes, encoding), text);
        let mut cut = String::new();
        Transcoder::new(&b"a\xe3\x81"[..], UTF_8).read_to_string(&mut cut).unwrap();
        assert_eq!(cut, "a\u{fffd}");
    }
}
