//! The objects of a PDF, and the reading of them from bytes.
//!
//! * What this is: [`Object`] and [`Lexer`]. The same reader serves files, content streams and
//!   character maps: all are made of the same numbers, names, strings, arrays and dictionaries.
//! * Its place: everything in `pdf` reads with it; it calls nobody.
//! * Invariants: reading ends, whatever the bytes are; an object is at most [`DEPTH`] deep and made of
//!   [`PARTS`] others; every object is paid for out of [`Limits`], and when that is used up there is nothing more to read.
//! * What is not here: what a number of an object leads to, see `file`.

use std::cell::Cell;
use std::collections::BTreeMap;

/// How deep arrays and dictionaries may nest.
const DEPTH: usize = 40;
/// How many objects one may be made of.
const PARTS: usize = 500_000;

/// What may be spent on one PDF, in all.
pub(super) struct Limits {
    /// Objects read, in content streams too.
    work: Cell<u64>,
    /// Bytes that unpacking may still give.
    unpacked: Cell<u64>,
}

impl Limits {
    pub(super) fn new(work: u64, unpacked: u64) -> Self {
        Limits { work: Cell::new(work), unpacked: Cell::new(unpacked) }
    }

    /// Takes so much of what is left; `false` when that is not enough.
    pub(super) fn spend(&self, work: u64) -> bool {
        let left = self.work.get();
        self.work.set(left.saturating_sub(work));
        left >= work
    }

    /// Whether there was less than was needed.
    pub(super) fn is_spent(&self) -> bool {
        self.work.get() == 0 || self.unpacked.get() == 0
    }

    /// How many bytes may be unpacked.
    pub(super) fn room(&self) -> u64 {
        self.unpacked.get()
    }

    pub(super) fn unpacked(&self, bytes: usize) {
        self.unpacked.set(self.unpacked.get().saturating_sub(bytes as u64));
    }
}

/// A dictionary.
pub(super) type Dict = BTreeMap<Box<[u8]>, Object>;

/// An object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Object {
    Null,
    Bool(bool),
    Number(f64),
    String(Vec<u8>),
    Name(Box<[u8]>),
    Array(Vec<Object>),
    Dict(Dict),
    /// A dictionary, and from where to where in the file its data lies, still packed.
    Stream(Dict, usize, usize),
    /// The number of an object elsewhere.
    Reference(u32),
    /// An operator, `obj`, `endobj` and the like.
    Word(Box<[u8]>),
}

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Object::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// A number that counts something.
    pub(super) fn count(&self) -> Option<u32> {
        self.number().filter(|n| (0.0..4_294_967_295.0).contains(n)).map(|n| n as u32)
    }

    pub(super) fn name(&self) -> Option<&[u8]> {
        match self {
            Object::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_name(&self, name: &[u8]) -> bool {
        self.name() == Some(name)
    }

    /// How many objects it is made of: what a copy costs.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Object::Array(items) => 1 + items.iter().map(Object::weight).sum::<u64>(),
            Object::Dict(dict) | Object::Stream(dict, ..) => {
                1 + dict.values().map(|value| 1 + value.weight()).sum::<u64>()
            }
            Object::String(bytes) => 1 + bytes.len() as u64 / 16,
            _ => 1,
        }
    }

    /// The dictionary, that of a stream too.
    pub(super) fn into_dict(self) -> Option<Dict> {
        match self {
            Object::Dict(dict) | Object::Stream(dict, ..) => Some(dict),
            _ => None,
        }
    }
}

/// Reads objects from bytes.
pub(super) struct Lexer<'a> {
    pub(super) data: &'a [u8],
    pub(super) at: usize,
    limits: &'a Limits,
    /// Objects that the one being read is made of, so far.
    parts: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(data: &'a [u8], at: usize, limits: &'a Limits) -> Self {
        Lexer { data, at: at.min(data.len()), limits, parts: 0 }
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if is_white(byte) {
                self.at += 1;
            } else if byte == b'%' {
                let rest = &self.data[self.at..];
                self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            } else {
                break;
            }
        }
    }

    /// The next object; `None` at the end, or when enough was spent.
    pub(super) fn next(&mut self) -> Option<Object> {
        self.parts = 0;
        self.read(0)
    }

    fn read(&mut self, depth: usize) -> Option<Object> {
        let before = self.at;
        self.parts += 1;
        if self.parts > PARTS {
            return None;
        }
        self.skip_space();
        let begin = self.at;
        let byte = self.peek()?;
        self.at += 1;
        let object = match byte {
            b'/' => Object::Name(self.name()),
            b'(' => Object::String(self.string()),
            b'<' if self.peek() == Some(b'<') => {
                self.at += 1;
                let mut dict = Dict::new();
                let mut items = self.items(b">>", depth)?.into_iter();
                while let (Some(key), Some(value)) = (items.next(), items.next()) {
                    if let Object::Name(key) = key {
                        dict.insert(key, value);
                    }
                }
                Object::Dict(dict)
            }
            b'<' => Object::String(self.hex()),
            b'[' => Object::Array(self.items(b"]", depth)?),
            b'>' if self.peek() == Some(b'>') => {
                self.at += 1;
                Object::Word((*b">>").into())
            }
            b']' | b')' | b'>' | b'{' | b'}' => Object::Word([byte].into()),
            b'+' | b'-' | b'.' | b'0'..=b'9' => Object::Number(self.digits()),
            _ => {
                while self.peek().is_some_and(is_regular) {
                    self.at += 1;
                }
                match &self.data[begin..self.at] {
                    b"true" => Object::Bool(true),
                    b"false" => Object::Bool(false),
                    b"null" => Object::Null,
                    word => Object::Word(word.into()),
                }
            }
        };
        let cost = 1 + (self.at - before) as u64 / 16;
        self.limits.spend(cost).then_some(object)
    }

    /// The objects before a closing word; `n g R` among them becomes a reference.
    fn items(&mut self, close: &[u8], depth: usize) -> Option<Vec<Object>> {
        if depth >= DEPTH {
            return None;
        }
        let mut items = Vec::new();
        loop {
            match self.read(depth + 1) {
                None if self.limits.is_spent() => return None,
                // Cut off: what was there counts.
                None => return (self.at >= self.data.len()).then_some(items),
                Some(Object::Word(word)) if *word == *close => return Some(items),
                Some(Object::Word(word)) if *word == *b"R" && items.len() >= 2 => {
                    items.pop();
                    let number = items.pop().as_ref().and_then(Object::count);
                    items.push(number.map_or(Object::Null, Object::Reference));
                }
                // The end of what holds it all: the closing word was forgotten.
                Some(Object::Word(word)) if matches!(&*word, b"endobj" | b"stream") => {
                    self.at -= word.len();
                    return Some(items);
                }
                Some(Object::Word(_)) => {}
                Some(object) => items.push(object),
            }
        }
    }

    fn name(&mut self) -> Box<[u8]> {
        let mut name = Vec::new();
        while let Some(byte) = self.peek().filter(|&b| is_regular(b)) {
            self.at += 1;
            let code = self.data.get(self.at..self.at + 2).filter(|_| byte == b'#');
            match code.and_then(|c| Some(hex_digit(c[0])? << 4 | hex_digit(c[1])?)) {
                Some(escaped) => {
                    name.push(escaped);
                    self.at += 2;
                }
                None => name.push(byte),
            }
        }
        name.into()
    }

    fn digits(&mut self) -> f64 {
        let begin = self.at - 1;
        while self.peek().is_some_and(|b| matches!(b, b'0'..=b'9' | b'.' | b'-')) {
            self.at += 1;
        }
        let (mut value, mut scale, mut negative, mut fraction) = (0.0, 1.0, false, false);
        for (i, &byte) in self.data[begin..self.at].iter().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    value = value * 10.0 + f64::from(byte - b'0');
                    scale *= if fraction { 10.0 } else { 1.0 };
                }
                b'.' if !fraction => fraction = true,
                b'-' if i == 0 => negative = true,
                b'+' if i == 0 => {}
                // Two signs are one; anything later ends the number.
                b'-' if value == 0.0 => {}
                _ => break,
            }
        }
        let value: f64 = value / scale;
        let value = if value.is_finite() { value } else { 0.0 };
        if negative { -value } else { value }
    }

    fn string(&mut self) -> Vec<u8> {
        let (mut out, mut open) = (Vec::new(), 1);
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut out);
                    continue;
                }
                _ => {}
            }
            out.push(byte);
        }
        out
    }

    fn escape(&mut self, out: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'b' | b'f' => out.push(b' '),
            b'\r' if self.peek() == Some(b'\n') => self.at += 1,
            b'\r' | b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                out.push(code as u8);
            }
            other => out.push(other),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        let (mut out, mut half) = (Vec::new(), None);
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex_digit(byte) else { continue };
            half = match half {
                None => Some(digit << 4),
                Some(high) => {
                    out.push(high | digit);
                    None
                }
            };
        }
        out.extend(half);
        out
    }
}

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn is_regular(byte: u8) -> bool {
    !is_white(byte)
        && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Object {
        let limits = Limits::new(10_000, 0);
        Lexer::new(text.as_bytes(), 0, &limits).next().unwrap_or(Object::Null)
    }

    #[test]
    fn objects_are_read_as_they_are_written() {
        assert_eq!(read(" % note\n-12.50 "), Object::Number(-12.5));
        assert_eq!(read("--.5"), Object::Number(-0.5));
        assert_eq!(read("(a\\(b\\051 \\(c) (d\\\ne)"), Object::String(b"a(b) (c".into()));
        assert_eq!(read("(x (y) \\101)"), Object::String(b"x (y) A".into()));
        assert_eq!(read("<48 656C6c6F2>"), Object::String(b"Hello ".into()));
        assert_eq!(read("/A#20b"), Object::Name((*b"A b").into()));
        let list = Object::Array(vec![Object::Number(1.0), Object::Reference(7), Object::Null]);
        assert_eq!(read("[1 7 0 R null]"), list);
        let Object::Dict(dict) = read("<< /K [<</L 3>>] /M true >>") else { panic!("no dict") };
        assert_eq!(dict.len(), 2);
        assert_eq!(dict[&b"M"[..]], Object::Bool(true));
    }

    #[test]
    fn reading_ends_at_any_depth_and_any_length() {
        assert_eq!(read(&"[".repeat(100_000)), Object::Null);
        assert_eq!(read(&"<<".repeat(100_000)), Object::Null);
        assert_eq!(read(&format!("[{}]", "1 ".repeat(20_000))), Object::Null, "too much work");
        assert_eq!(read("(never closed"), Object::String(b"never closed".into()));
    }
}
