//! Character maps: which code means which characters.
//!
//! * What this is: [`CMap`], read from the stream a font brings along: how long its codes are, what
//!   they mean (`bfchar`, `bfrange`), or which glyph number they stand for (`cidrange`).
//! * Its place: `font` reads one per font.
//! * Invariants: what is kept is bounded by the stream and paid for, a range is kept as one row.
//! * What is not here: the maps that a reader is expected to have; see `font` for those.

use super::object::{Lexer, Limits, Object};
use std::collections::HashMap;

/// Objects between two words; writers end a table after a hundred rows.
const MOST: usize = 200_000;

/// A map from codes.
#[derive(Default)]
pub(super) struct CMap {
    /// First and last code of each space, and how many bytes they have.
    spaces: Vec<(usize, u32, u32)>,
    single: HashMap<u32, Box<str>>,
    /// First and last code, and the characters of the first in UTF-16.
    ranges: Vec<(u32, u32, Vec<u16>)>,
    /// First and last code, and the glyph number of the first.
    glyphs: Vec<(u32, u32, u32)>,
}

impl CMap {
    /// Reads a map.
    pub(super) fn read(data: &[u8], limits: &Limits) -> Self {
        let mut map = CMap::default();
        let mut lexer = Lexer::new(data, 0, limits);
        let mut held: Vec<Object> = Vec::new();
        while let Some(object) = lexer.next() {
            let Object::Word(word) = object else {
                if held.len() < MOST {
                    held.push(object);
                }
                continue;
            };
            // Rows are kept as long as the document lives: they cost more than what is read.
            if !limits.spend(8 * held.len() as u64) {
                break;
            }
            match &*word {
                b"endcodespacerange" => {
                    for pair in held.chunks_exact(2) {
                        if let (Some((length, low)), Some((_, high))) =
                            (code(&pair[0]), code(&pair[1]))
                        {
                            map.spaces.push((length, low, high));
                        }
                    }
                }
                b"endbfchar" => {
                    for pair in held.chunks_exact(2) {
                        if let (Some((_, code)), Object::String(to)) = (code(&pair[0]), &pair[1]) {
                            map.single.insert(code, text(&units(to)));
                        }
                    }
                }
                b"endbfrange" => held.chunks_exact(3).for_each(|row| map.range(row)),
                b"endcidchar" => {
                    for pair in held.chunks_exact(2) {
                        if let (Some((_, code)), Some(to)) = (code(&pair[0]), pair[1].count()) {
                            map.glyphs.push((code, code, to));
                        }
                    }
                }
                b"endcidrange" => {
                    for row in held.chunks_exact(3) {
                        if let (Some((_, low)), Some((_, high)), Some(to)) =
                            (code(&row[0]), code(&row[1]), row[2].count())
                        {
                            map.glyphs.push((low, high, to));
                        }
                    }
                }
                _ => {}
            }
            held.clear();
        }
        map.ranges.sort_by_key(|range| range.0);
        map.glyphs.sort_unstable();
        map
    }

    fn range(&mut self, row: &[Object]) {
        let (Some((_, low)), Some((_, high))) = (code(&row[0]), code(&row[1])) else { return };
        match &row[2] {
            Object::String(to) => self.ranges.push((low, high, units(to))),
            Object::Array(list) => {
                for (code, to) in (low..=high).zip(list) {
                    if let Object::String(to) = to {
                        self.single.insert(code, text(&units(to)));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether it says what codes mean.
    pub(super) fn has_text(&self) -> bool {
        !self.single.is_empty() || !self.ranges.is_empty()
    }

    /// What a code means.
    pub(super) fn text(&self, code: u32, take: &mut String) -> bool {
        if let Some(text) = self.single.get(&code) {
            take.push_str(text);
            return true;
        }
        let upto = self.ranges.partition_point(|range| range.0 <= code);
        let found = self.ranges[..upto].iter().rev().take(4).find(|range| code <= range.1);
        let Some((low, _, first)) = found else { return false };
        let mut units = first.clone();
        if let Some(last) = units.last_mut() {
            *last = last.wrapping_add((code - low) as u16);
        }
        take.push_str(&text(&units));
        true
    }

    /// The glyph number of a code.
    pub(super) fn glyph(&self, code: u32) -> Option<u32> {
        let upto = self.glyphs.partition_point(|range| range.0 <= code);
        let (low, high, to) = *self.glyphs[..upto].last()?;
        (code <= high).then(|| to.saturating_add(code - low))
    }

    /// The first code of a string, and how many bytes it has.
    pub(super) fn first_code(&self, bytes: &[u8], usual: usize) -> (u32, usize) {
        let mut code = 0;
        for (i, byte) in bytes.iter().enumerate().take(4) {
            code = code << 8 | u32::from(*byte);
            let fits = |space: &(usize, u32, u32)| space.0 == i + 1 && within(code, space);
            if self.spaces.iter().take(64).any(fits) {
                return (code, i + 1);
            }
        }
        let length = usual.min(bytes.len()).max(1);
        (bytes.iter().take(length).fold(0, |code, &b| code << 8 | u32::from(b)), length)
    }
}

/// Every byte of a code lies between those of the first and the last of its space.
fn within(code: u32, (length, low, high): &(usize, u32, u32)) -> bool {
    (0..*length).all(|i| {
        let byte = |n: u32| (n >> (8 * i)) as u8;
        (byte(*low)..=byte(*high)).contains(&byte(code))
    })
}

fn code(object: &Object) -> Option<(usize, u32)> {
    match object {
        Object::String(bytes) if (1..=4).contains(&bytes.len()) => {
            Some((bytes.len(), bytes.iter().fold(0, |code, &b| code << 8 | u32::from(b))))
        }
        _ => None,
    }
}

fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [one] => vec![u16::from(*one)],
        _ => bytes.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]])).take(64).collect(),
    }
}

fn text(units: &[u16]) -> Box<str> {
    char::decode_utf16(units.iter().copied()).filter_map(Result::ok).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_every_code_its_characters() {
        let limits = Limits::new(10_000, 0);
        let map = CMap::read(
            b"1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
              2 beginbfchar <0003> <0020> <0010> <D83DDE00> endbfchar\n\
              2 beginbfrange <0024> <0026> <0041> <0030> <0031> [<00660069> <00E9>] endbfrange",
            &limits,
        );
        let text = |code| {
            let mut text = String::new();
            map.text(code, &mut text).then_some(text)
        };
        assert_eq!(text(0x26).as_deref(), Some("C"));
        assert_eq!(text(0x27), None);
        assert_eq!(text(0x30).as_deref(), Some("fi"));
        assert_eq!(text(0x31).as_deref(), Some("é"));
        assert_eq!(text(0x10).as_deref(), Some("😀"));
        assert_eq!(map.first_code(&[0, 3, 0, 4], 1), (3, 2));
    }

    #[test]
    fn codes_have_the_length_of_their_space() {
        let limits = Limits::new(10_000, 0);
        let map = CMap::read(
            b"2 begincodespacerange <00> <80> <8140> <9FFC> endcodespacerange \
              1 begincidrange <8140> <817e> 633 endcidrange",
            &limits,
        );
        assert_eq!(map.first_code(b"A\x81\x40", 2), (0x41, 1));
        assert_eq!(map.first_code(b"\x81\x42", 1), (0x8142, 2));
        assert_eq!(map.glyph(0x8142), Some(635));
        assert_eq!(map.glyph(0x9000), None);
    }
}
