//! Encodings: any label and any bytes give a text, the same whether read at once or in pieces.
//!
//! Input: a line with the label, a byte that sizes the pieces, the body.
#![no_main]

use argiope_parse::{media_type, parse_html, parse_html_reader, parse_text};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Read};

fuzz_target!(|data: &[u8]| {
    let Some(end) = data.iter().position(|&b| b == b'\n') else { return };
    let label = String::from_utf8_lossy(&data[..end]);
    let Some((&size, body)) = data[end + 1..].split_first() else { return };
    let media = media_type(Some(&label), body, Some("html"));
    assert!(media.essence.contains('/'));
    for label in [Some(&*label), media.charset.as_deref(), None] {
        let text = parse_text(body, label).text;
        assert!(!text.contains(['\0', '\r']));
        let page = parse_html(body, label);
        let pieces = Pieces { rest: body, size: usize::from(size % 9) + 1 };
        let streamed = parse_html_reader(pieces, label).expect("memory can be read");
        if body.len() <= 64 << 10 {
            assert_eq!(page, streamed, "a page is the same in pieces");
        }
    }
});

/// Hands out a few bytes at a time.
struct Pieces<'b> {
    rest: &'b [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let (piece, rest) = self.rest.split_at(self.size.min(self.rest.len()).min(room.len()));
        room[..piece.len()].copy_from_slice(piece);
        self.rest = rest;
        Ok(piece.len())
    }
}
