//! Glyph names and the encodings of one byte.
//!
//! * What this is: what a glyph is called and which characters that means (`glyphs.txt`, and the
//!   names that say it themselves, as `uni00E9` does), the tables that fonts refer to by name, and
//!   the widths of the fonts that every reader has.
//! * Its place: `font` and `text` ask it; it calls nobody.
//! * What is not here: character maps, see `cmap`.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The characters of a glyph name; `None` where nobody knows them.
pub(super) fn named(name: &str) -> Option<String> {
    // What follows a dot tells the shape, as in `a.sc`.
    let stem = name.split('.').next().filter(|stem| !stem.is_empty())?;
    let mut text = String::new();
    for part in stem.split('_') {
        text.push_str(&one(part)?);
    }
    Some(text)
}

fn one(name: &str) -> Option<String> {
    static NAMES: OnceLock<HashMap<&str, char>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let rows = include_str!("glyphs.txt").lines();
        rows.filter_map(|row| {
            let (name, code) = row.split_once(' ')?;
            Some((name, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))
        })
        .collect()
    });
    if name.chars().count() == 1 {
        return Some(name.to_owned());
    }
    if let Some(&found) = names.get(name) {
        return Some(found.into());
    }
    let from = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
    let hex = |digits: &str| digits.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some(digits) = name.strip_prefix("uni").filter(|d| d.len() >= 4 && hex(d)) {
        let chars = (0..digits.len() / 4).filter_map(|i| from(&digits[4 * i..4 * i + 4]));
        return Some(chars.collect());
    }
    let digits = name.strip_prefix('u').filter(|d| (4..=6).contains(&d.len()) && hex(d))?;
    from(digits).map(String::from)
}

/// The letter that an accent set over another makes, as old writers do it.
pub(super) fn accented(accent: char, letter: char) -> Option<char> {
    let accent = match accent {
        '`' | 'ˋ' => "grave",
        '´' | 'ˊ' => "acute",
        'ˆ' | '^' => "circumflex",
        '¨' => "dieresis",
        '˜' | '~' => "tilde",
        'ˇ' => "caron",
        '¸' => "cedilla",
        '˘' => "breve",
        '¯' | 'ˉ' => "macron",
        '˚' => "ring",
        '˝' => "hungarumlaut",
        '˙' => "dotaccent",
        '˛' => "ogonek",
        _ => return None,
    };
    let letter = if letter == 'ı' { 'i' } else { letter };
    one(&format!("{letter}{accent}"))?.chars().next().filter(|_| letter.is_ascii_alphabetic())
}

/// A table of one-byte codes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Standard,
    Windows,
    Mac,
}

impl Table {
    pub(super) fn char(self, code: u8) -> Option<char> {
        let by = |encoding: &'static encoding_rs::Encoding| {
            encoding.decode_without_bom_handling(&[code]).0.chars().next()
        };
        match (self, code) {
            (_, 0..0x20 | 0x7f) => None,
            (Table::Standard, b'\'') => Some('’'),
            (Table::Standard, b'`') => Some('‘'),
            (_, 0x20..0x7f) => Some(code.into()),
            (Table::Standard, _) => standard(code),
            (Table::Windows, _) => by(encoding_rs::WINDOWS_1252),
            (Table::Mac, _) => by(encoding_rs::MACINTOSH),
        }
    }
}

fn standard(code: u8) -> Option<char> {
    const HIGH: &str = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—";
    let at = |from: u8, row: &str| row.chars().nth(usize::from(code - from));
    let found = match code {
        0xa1..=0xd0 => at(0xa1, HIGH),
        0xe1..=0xeb => at(0xe1, "Æ\0ª\0\0\0\0ŁØŒº"),
        0xf1..=0xfb => at(0xf1, "æ\0\0\0ı\0\0łøœß"),
        _ => None,
    };
    found.filter(|&c| c != '\0')
}

/// A character of the encoding that titles and the like are written in.
pub(super) fn document_char(code: u8) -> char {
    const LOW: &str = "˘ˇˆ˙˝˛˚˜";
    const HIGH: &str = "•†‡…—–ƒ⁄‹›−‰„“”‘’‚™ﬁﬂŁŒŠŸŽıłœšž\0€";
    let found = match code {
        0x18..0x20 => LOW.chars().nth(usize::from(code - 0x18)),
        0x80..=0xa0 => HIGH.chars().nth(usize::from(code - 0x80)),
        _ => Some(code.into()),
    };
    found.unwrap_or(' ')
}

/// How wide a character is in a font that is not brought along, in thousandths.
pub(super) fn usual_width(font: &str, c: char) -> f64 {
    const TIMES: [u16; 95] = [
        250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500,
        500, 500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667,
        722, 611, 556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722,
        722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500,
        500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500,
        444, 480, 200, 480, 541,
    ];
    const HELVETICA: [u16; 95] = [
        278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556,
        556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722,
        722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722,
        667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
        556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,
        500, 334, 260, 334, 584,
    ];
    if font.contains("Courier") || font.contains("Mono") {
        return 600.0;
    }
    let table = if font.contains("Times") { &TIMES } else { &HELVETICA };
    let at = (c as usize).checked_sub(32).and_then(|at| table.get(at));
    // Letters with accents are about as wide as an `a`, capitals as an `A`.
    let other = if c.is_uppercase() { table[33] } else { table[65] };
    f64::from(*at.unwrap_or(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_characters() {
        for (name, text) in [
            ("eacute", Some("é")),
            ("A", Some("A")),
            ("f_f_i", Some("ffi")),
            ("a.sc", Some("a")),
            ("uni00E900E8", Some("éè")),
            ("u1F600", Some("😀")),
            ("afii10065", Some("а")),
            ("hyphen", Some("-")),
            (".notdef", None),
            ("g27", None),
            ("uniXYZW", None),
        ] {
            assert_eq!(named(name).as_deref(), text, "{name}");
        }
        assert_eq!(accented('´', 'e'), Some('é'));
        assert_eq!(accented('¨', 'ı'), Some('ï'));
        assert_eq!(accented('´', '('), None);
    }

    #[test]
    fn tables_agree_where_they_should() {
        for code in 0x20..0x7f {
            assert_eq!(Table::Windows.char(code), Some(code.into()));
            assert_eq!(Table::Mac.char(code), Some(code.into()));
        }
        assert_eq!(Table::Standard.char(0xfb), Some('ß'));
        assert_eq!(Table::Standard.char(0xd0), Some('—'));
        assert_eq!(Table::Standard.char(0xb0), None);
        assert_eq!(Table::Mac.char(0x8e), Some('é'));
        assert_eq!(document_char(0xa0), '€');
        assert_eq!(document_char(0x92), '™');
    }
}
