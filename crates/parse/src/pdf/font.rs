//! Fonts: which characters a string shows, and how wide they are.
//!
//! * What this is: [`Font`], read from a font's dictionary. What a code means is asked of the
//!   font's map to Unicode first, then of its encoding.
//! * Its place: `text` asks it for every string shown; it calls `cmap`, `glyph`, `file`.
//! * Invariants: any string gives some characters or none, and its whole length is used up.
//! * What is not here: outlines. Where only they would tell what a code means, nothing is said.

use super::cmap::CMap;
use super::file::File;
use super::glyph::{Table, named, usual_width};
use super::object::{Dict, Object};
use encoding_rs::Encoding;

/// A font.
pub(super) struct Font {
    map: Option<CMap>,
    kind: Kind,
    /// How large its letters are for a size of 1.
    pub(super) em: f64,
}

enum Kind {
    /// Codes of one byte: characters and widths of all of them.
    Simple { table: Vec<Box<str>>, widths: Vec<f64> },
    /// Longer codes: first and last glyph number, and their width.
    Composite { coding: Coding, widths: Vec<(u32, u32, f64)>, default: f64 },
}

/// How the codes of a composite font are written.
enum Coding {
    /// Two bytes, the number of the glyph.
    Pairs,
    /// As its own map says.
    Map(Box<CMap>),
    /// UTF-16.
    Utf16,
    /// An encoding of the East.
    Legacy(&'static Encoding),
}

impl Font {
    /// Reads a font.
    pub(super) fn read(file: &File<'_>, dict: &Dict) -> Self {
        let map = file.stream(&file.entry(dict, b"ToUnicode"));
        let map = map.map(|data| CMap::read(&data, file.limits())).filter(CMap::has_text);
        let kind = match file.entry(dict, b"Subtype").name() {
            Some(b"Type0") => composite(file, dict),
            _ => simple(file, dict),
        };
        let em = match (&kind, file.entry(dict, b"Subtype").name()) {
            // Pictures of letters are drawn at any scale: letters are about half as wide as high.
            (Kind::Simple { widths, .. }, Some(b"Type3")) => {
                let wide: Vec<f64> = widths.iter().copied().filter(|width| *width > 0.0).collect();
                2.0 * wide.iter().sum::<f64>() / wide.len().max(1) as f64
            }
            _ => 1.0,
        };
        Font { map, kind, em }
    }

    /// Goes through a string: the characters of each code, its width for a size of 1, and whether
    /// it is the space of one byte.
    pub(super) fn each(&self, bytes: &[u8], mut take: impl FnMut(&str, f64, bool)) {
        let mut rest = bytes;
        let mut text = String::new();
        while !rest.is_empty() {
            text.clear();
            let (code, length) = self.first_code(rest);
            let (now, later) = rest.split_at(length.min(rest.len()));
            rest = later;
            let known = self.map.as_ref().is_some_and(|map| map.text(code, &mut text));
            if !known || !text.chars().any(is_meant) {
                text.clear();
                self.spell(code, now, &mut text);
            }
            text.retain(is_meant);
            take(&text, self.width(code), now == b" ");
        }
    }

    fn first_code(&self, bytes: &[u8]) -> (u32, usize) {
        let pair = || {
            let length = bytes.len().min(2);
            (bytes[..length].iter().fold(0, |code, &b| code << 8 | u32::from(b)), length)
        };
        match &self.kind {
            Kind::Simple { .. } => (u32::from(bytes[0]), 1),
            Kind::Composite { coding: Coding::Pairs, .. } => pair(),
            Kind::Composite { coding: Coding::Map(map), .. } => map.first_code(bytes, 2),
            Kind::Composite { coding: Coding::Utf16, .. } => match bytes {
                [0xd8..=0xdb, _, 0xdc..=0xdf, _, ..] => (pair().0, 4),
                _ => pair(),
            },
            Kind::Composite { coding: Coding::Legacy(encoding), .. } => match bytes[0] {
                byte @ (0..0x80 | 0xff) => (u32::from(byte), 1),
                byte @ 0xa0..=0xdf if *encoding == encoding_rs::SHIFT_JIS => (u32::from(byte), 1),
                _ => pair(),
            },
        }
    }

    /// What a code means where no map to Unicode says it.
    fn spell(&self, code: u32, bytes: &[u8], text: &mut String) {
        match &self.kind {
            Kind::Simple { table, .. } => {
                text.push_str(table.get(code as usize).map_or("", |text| text));
            }
            Kind::Composite { coding: Coding::Utf16, .. } => {
                let units = bytes.chunks_exact(2).map(|c| u16::from_be_bytes([c[0], c[1]]));
                text.extend(char::decode_utf16(units).filter_map(Result::ok));
            }
            Kind::Composite { coding: Coding::Legacy(encoding), .. } => {
                text.push_str(&encoding.decode_without_bom_handling(bytes).0);
            }
            Kind::Composite { .. } => {}
        }
    }

    fn width(&self, code: u32) -> f64 {
        match &self.kind {
            Kind::Simple { widths, .. } => widths.get(code as usize).copied().unwrap_or(0.0),
            Kind::Composite { coding, widths, default } => {
                let glyph = match coding {
                    Coding::Pairs => code,
                    Coding::Map(map) => map.glyph(code).unwrap_or(code),
                    // Which glyph it is nobody told; Latin is half as wide as the rest.
                    Coding::Utf16 | Coding::Legacy(_) => {
                        return if code < 0x100 { default / 2.0 } else { *default };
                    }
                };
                let upto = widths.partition_point(|range| range.0 <= glyph);
                let found = widths[..upto].last().filter(|range| glyph <= range.1);
                found.map_or(*default, |range| range.2)
            }
        }
    }
}

/// Whether a character says something: controls and private ones do not.
fn is_meant(c: char) -> bool {
    !c.is_control() && c != '\u{fffd}' && !matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{feff}')
}

fn composite(file: &File<'_>, dict: &Dict) -> Kind {
    let encoding = file.entry(dict, b"Encoding");
    let coding = match (&encoding, encoding.name()) {
        (Object::Stream(..), _) => match file.stream(&encoding) {
            Some(data) => Coding::Map(Box::new(CMap::read(&data, file.limits()))),
            None => Coding::Pairs,
        },
        (_, Some(name)) => predefined(name),
        _ => Coding::Pairs,
    };
    let below = match file.entry(dict, b"DescendantFonts") {
        Object::Array(list) => list.first().and_then(|first| file.resolve(first).into_dict()),
        _ => None,
    };
    let below = below.unwrap_or_default();
    let default = file.entry(&below, b"DW").number().unwrap_or(1000.0) / 1000.0;
    let mut widths = Vec::new();
    if let Object::Array(list) = file.entry(&below, b"W") {
        let mut items = list.iter();
        while let (Some(first), Some(next)) = (items.next(), items.next()) {
            let Some(first) = first.count() else { break };
            match file.resolve(next) {
                // Kept as long as the document lives.
                Object::Array(row) if !file.limits().spend(4 * row.len() as u64) => break,
                Object::Array(row) => {
                    for (glyph, width) in (first..=u32::MAX).zip(&row) {
                        widths.push((glyph, glyph, width.number().unwrap_or(0.0) / 1000.0));
                    }
                }
                last => {
                    let (Some(last), Some(width)) = (last.count(), items.next()) else { break };
                    widths.push((first, last, width.number().unwrap_or(0.0) / 1000.0));
                }
            }
        }
    }
    widths.sort_by_key(|range| range.0);
    Kind::Composite { coding, widths, default }
}

/// The coding of a map that a reader is expected to know.
fn predefined(name: &[u8]) -> Coding {
    let name = String::from_utf8_lossy(name);
    if name.contains("UCS2") || name.contains("UTF16") {
        return Coding::Utf16;
    }
    let has = |part: &str| name.contains(part);
    if has("RKSJ") {
        Coding::Legacy(encoding_rs::SHIFT_JIS)
    } else if has("GBK") || has("GB-EUC") || has("GBpc") {
        Coding::Legacy(encoding_rs::GBK)
    } else if has("B5") {
        Coding::Legacy(encoding_rs::BIG5)
    } else if has("KSC") {
        Coding::Legacy(encoding_rs::EUC_KR)
    } else if has("EUC-") {
        Coding::Legacy(encoding_rs::EUC_JP)
    } else {
        Coding::Pairs
    }
}

fn simple(file: &File<'_>, dict: &Dict) -> Kind {
    let kind = file.entry(dict, b"Subtype");
    let base_name = file.entry(dict, b"BaseFont");
    let base_name = String::from_utf8_lossy(base_name.name().unwrap_or_default()).into_owned();
    let table = table(file, dict, &kind);
    let first = file.entry(dict, b"FirstChar").count().unwrap_or(0) as usize;
    let descriptor = file.dict(dict, b"FontDescriptor").unwrap_or_default();
    let mut scale = 0.001;
    if kind.is_name(b"Type3")
        && let Object::Array(matrix) = file.entry(dict, b"FontMatrix")
    {
        scale = matrix.first().and_then(Object::number).unwrap_or(scale).abs();
    }
    let missing = file.entry(&descriptor, b"MissingWidth").number().unwrap_or(0.0);
    let widths = match file.entry(dict, b"Widths") {
        Object::Array(list) => {
            let width = |code: usize| match code.checked_sub(first).and_then(|i| list.get(i)) {
                Some(width) => file.resolve(width).number().unwrap_or(0.0),
                None => missing,
            };
            (0..256).map(|code| width(code) * scale).collect()
        }
        _ => {
            let width = |text: &str| usual_width(&base_name, text.chars().next().unwrap_or(' '));
            table.iter().map(|text| width(text) * 0.001).collect()
        }
    };
    Kind::Simple { table, widths }
}

/// What the codes of one byte mean.
fn table(file: &File<'_>, dict: &Dict, kind: &Object) -> Vec<Box<str>> {
    let encoding = file.entry(dict, b"Encoding");
    let by_name = |name: Option<&[u8]>| match name {
        Some(b"WinAnsiEncoding") => Some(Table::Windows),
        Some(b"MacRomanEncoding") => Some(Table::Mac),
        Some(b"StandardEncoding") => Some(Table::Standard),
        _ => None,
    };
    let encoding_dict = encoding.clone().into_dict().unwrap_or_default();
    let stated = by_name(encoding.name())
        .or_else(|| by_name(file.entry(&encoding_dict, b"BaseEncoding").name()));
    let base = stated.unwrap_or(match kind.is_name(b"TrueType") {
        true => Table::Windows,
        false => Table::Standard,
    });
    let mut table: Vec<Box<str>> = (0..=255)
        .map(|code| base.char(code).map(String::from).unwrap_or_default().into())
        .collect();
    if stated.is_none() {
        built_in(file, dict, &mut table);
    }
    let bitmap = kind.is_name(b"Type3");
    if let Object::Array(list) = file.entry(&encoding_dict, b"Differences") {
        let mut code = 0;
        for item in &list {
            match item {
                Object::Number(_) => code = item.count().unwrap_or(256) as usize,
                Object::Name(name) => {
                    if let Some(slot) = table.get_mut(code) {
                        let name = String::from_utf8_lossy(name);
                        let text = named(&name).or_else(|| numbered(&name, code, bitmap));
                        *slot = text.unwrap_or_default().into();
                    }
                    code += 1;
                }
                _ => {}
            }
        }
    }
    table
}

/// Glyphs that are called by their number (`a65`, `g65`): in pictures of old fonts the number is
/// the code, and the code mostly the character.
fn numbered(name: &str, code: usize, bitmap: bool) -> Option<String> {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number: usize = digits.parse().ok()?;
    let fits = bitmap && number == code && name.len() - digits.len() <= 2;
    let code = u8::try_from(code).ok().filter(|_| fits)?;
    Table::Standard.char(code).map(String::from)
}

/// The encoding that a font of the first type brings along, in its readable part.
fn built_in(file: &File<'_>, dict: &Dict, table: &mut [Box<str>]) {
    let Some(descriptor) = file.dict(dict, b"FontDescriptor") else { return };
    let Some(program) = file.stream(&file.entry(&descriptor, b"FontFile")) else { return };
    let head = &program[..program.len().min(64 << 10)];
    let Some(at) = memchr::memmem::find(head, b"/Encoding") else { return };
    let head = &head[at..];
    let end = memchr::memmem::find(head, b"eexec").unwrap_or(head.len());
    let words = head[..end].split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    let words: Vec<&[u8]> = words.take(4_000).collect();
    if words.get(1) == Some(&&b"StandardEncoding"[..]) {
        return;
    }
    table.fill("".into());
    for row in words.windows(3).filter(|row| row[0] == b"dup") {
        let (code, name) = (std::str::from_utf8(row[1]), std::str::from_utf8(row[2]));
        let (Ok(code), Ok(name)) = (code, name) else { continue };
        let (Ok(code), Some(name)) = (code.parse::<usize>(), name.strip_prefix('/')) else {
            continue;
        };
        if let (Some(slot), Some(text)) = (table.get_mut(code), named(name)) {
            *slot = text.into();
        }
    }
}
