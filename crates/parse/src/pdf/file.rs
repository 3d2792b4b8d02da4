//! A PDF as a set of numbered objects.
//!
//! * What this is: [`File`]. It is not read by its table of contents but by looking for the
//!   objects themselves, from the first byte to the last: of two with the same number the later
//!   counts, as it does in a file that was added to. So a damaged, cut or missing table costs
//!   nothing, and there is one way to read instead of four.
//! * Its place: `text` asks it for pages, fonts and streams; it calls `object` and `filter`.
//! * Invariants: the work of a look-up is paid for ([`Limits`]); no chain of references and no
//!   tree of pages makes it run in circles; what is held unpacked is at most [`HELD`].
//! * What is not here: decryption.

use super::filter::unpack;
use super::object::{Dict, Lexer, Limits, Object, is_white};
use memchr::memmem;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Streams are unpacked up to this length.
const STREAM: usize = 16 << 20;
/// Objects that were packed together are held up to this length, all of them.
const HELD: usize = 48 << 20;
/// References may lead to references this often.
const HOPS: usize = 16;
/// Pages that are looked at.
const PAGES: usize = 20_000;
/// Objects that are known.
const OBJECTS: usize = 1_000_000;

/// A page: its number, and the resources of those above it.
pub(super) type PageAt = (u32, Option<Rc<Object>>);

/// Where an object is.
#[derive(Clone, Copy)]
enum Place {
    /// In the file; where the data of a stream lies.
    File(usize, Option<(usize, usize)>),
    /// In one of the unpacked pieces.
    Piece(usize, usize),
}

pub(super) struct File<'a> {
    data: &'a [u8],
    limits: &'a Limits,
    places: HashMap<u32, Place>,
    pieces: Vec<Vec<u8>>,
    /// What the trailers say, the later the truer.
    trailer: Dict,
}

impl<'a> File<'a> {
    /// Finds the objects of a file.
    pub(super) fn open(data: &'a [u8], limits: &'a Limits) -> Self {
        let mut file =
            File { data, limits, places: HashMap::new(), pieces: Vec::new(), trailer: Dict::new() };
        file.scan();
        if !file.trailer.contains_key(&b"Root"[..])
            && let Some(number) = file.called(b"Catalog").first()
        {
            file.trailer.insert((*b"Root").into(), Object::Reference(*number));
        }
        file
    }

    fn scan(&mut self) {
        let (mut at, mut held, mut closed) = (0, 0, true);
        for found in memmem::find_iter(self.data, b"obj") {
            if found < at {
                continue;
            }
            if self.places.len() >= OBJECTS {
                break;
            }
            let Some(number) = numbered(&self.data[..found]) else { continue };
            let body = found + 3;
            let mut lexer = Lexer::new(self.data, body, self.limits);
            let Some(object) = lexer.next() else {
                if self.limits.is_spent() {
                    return;
                }
                continue;
            };
            let after = lexer.at;
            let Object::Dict(dict) = object else {
                self.places.insert(number, Place::File(body, None));
                at = after;
                continue;
            };
            let Some(begin) = stream_begin(self.data, after) else {
                self.places.insert(number, Place::File(body, None));
                at = after;
                continue;
            };
            let stated = dict.get(&b"Length"[..]).and_then(Object::count);
            let stated = stated.map(|length| begin.saturating_add(length as usize));
            let end = match stated.filter(|&end| is_stream_end(self.data, end)) {
                Some(end) => end,
                // Without an end once, there is none for any that follows.
                None if !closed => self.data.len(),
                None => match memmem::find(&self.data[begin..], b"endstream") {
                    Some(length) => begin + length,
                    None => {
                        closed = false;
                        self.data.len()
                    }
                },
            };
            at = if closed { end } else { begin };
            self.places.insert(number, Place::File(body, Some((begin, end))));
            let kind = dict.get(&b"Type"[..]);
            if kind.is_some_and(|kind| kind.is_name(b"ObjStm")) && held < HELD {
                held += self.take_apart(dict, begin, end);
            } else if kind.is_some_and(|kind| kind.is_name(b"XRef")) {
                self.hear(dict);
            }
        }
        for found in memmem::find_iter(self.data, b"trailer") {
            let mut lexer = Lexer::new(self.data, found + 7, self.limits);
            match lexer.next() {
                Some(Object::Dict(dict)) => self.hear(dict),
                Some(_) => {}
                None => return,
            }
        }
    }

    /// Believes a trailer.
    fn hear(&mut self, dict: Dict) {
        for (key, value) in dict {
            if matches!(&*key, b"Root" | b"Info" | b"Encrypt") {
                self.trailer.insert(key, value);
            }
        }
    }

    /// Finds the objects that are packed together in a stream; how many bytes are held for them.
    fn take_apart(&mut self, dict: Dict, begin: usize, end: usize) -> usize {
        let count = dict.get(&b"N"[..]).and_then(Object::count).unwrap_or(0);
        let first = dict.get(&b"First"[..]).and_then(Object::count).unwrap_or(0) as usize;
        let Some(piece) = self.unpacked(&dict, begin, end) else { return 0 };
        let mut lexer = Lexer::new(&piece, 0, self.limits);
        for _ in 0..count.min(OBJECTS as u32) {
            let (Some(number), Some(offset)) = (lexer.next(), lexer.next()) else { break };
            let (Some(number), Some(offset)) = (number.count(), offset.count()) else { break };
            if self.places.len() >= OBJECTS {
                break;
            }
            let place = Place::Piece(self.pieces.len(), first.saturating_add(offset as usize));
            self.places.insert(number, place);
        }
        let length = piece.len();
        self.pieces.push(piece);
        length
    }

    /// The object of a number.
    pub(super) fn get(&self, number: u32) -> Object {
        match self.places.get(&number) {
            None => Object::Null,
            Some(&Place::Piece(piece, offset)) => {
                let piece = self.pieces.get(piece).map_or(&[][..], |piece| piece);
                Lexer::new(piece, offset, self.limits).next().unwrap_or(Object::Null)
            }
            Some(&Place::File(body, stream)) => {
                let object = Lexer::new(self.data, body, self.limits).next();
                match (object, stream) {
                    (Some(Object::Dict(dict)), Some((begin, end))) => {
                        Object::Stream(dict, begin, end)
                    }
                    (object, _) => object.unwrap_or(Object::Null),
                }
            }
        }
    }

    /// What an object is, where it stands for one elsewhere.
    pub(super) fn resolve(&self, object: &Object) -> Object {
        // A copy of what stands here costs as much as reading it again.
        if !matches!(object, Object::Reference(_)) && !self.limits.spend(object.weight()) {
            return Object::Null;
        }
        let mut object = object.clone();
        for _ in 0..HOPS {
            match object {
                Object::Reference(number) => object = self.get(number),
                found => return found,
            }
        }
        Object::Null
    }

    /// An entry of a dictionary.
    pub(super) fn entry(&self, dict: &Dict, key: &[u8]) -> Object {
        dict.get(key).map_or(Object::Null, |value| self.resolve(value))
    }

    /// An entry that is a dictionary itself.
    pub(super) fn dict(&self, dict: &Dict, key: &[u8]) -> Option<Dict> {
        self.entry(dict, key).into_dict()
    }

    /// The data of a stream, unpacked as far as limits allow.
    pub(super) fn stream(&self, object: &Object) -> Option<Vec<u8>> {
        match object {
            Object::Stream(dict, begin, end) => self.unpacked(dict, *begin, *end),
            _ => None,
        }
    }

    fn unpacked(&self, dict: &Dict, begin: usize, end: usize) -> Option<Vec<u8>> {
        let list = |long: &[u8], short: &[u8]| {
            let key = if dict.contains_key(long) { long } else { short };
            match self.entry(dict, key) {
                Object::Array(items) => items.iter().map(|item| self.resolve(item)).collect(),
                Object::Null => Vec::new(),
                one => vec![one],
            }
        };
        let (filters, params) = (list(b"Filter", b"F"), list(b"DecodeParms", b"DP"));
        let packed = self.data.get(begin..end)?;
        let limit = STREAM.min(usize::try_from(self.limits.room()).unwrap_or(STREAM));
        if filters.is_empty() {
            return Some(packed[..packed.len().min(limit)].to_vec());
        }
        // More in a row than anybody writes are there to cost time.
        let mut data = None;
        for (i, filter) in filters.iter().enumerate().take(4) {
            let params = params.get(i).cloned().and_then(Object::into_dict).unwrap_or_default();
            let from = data.as_deref().unwrap_or(packed);
            let plain = unpack(from, filter.name()?, &params, limit)?;
            self.limits.unpacked(plain.len());
            data = Some(plain);
        }
        data
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.trailer.contains_key(&b"Encrypt"[..])
    }

    /// Whether there is anything in it.
    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The catalogue: what all else hangs from.
    pub(super) fn catalog(&self) -> Option<Dict> {
        self.dict(&self.trailer, b"Root")
    }

    /// What is said about the document.
    pub(super) fn info(&self) -> Option<Dict> {
        self.dict(&self.trailer, b"Info")
    }

    /// The pages in their order.
    pub(super) fn pages(&self) -> Vec<PageAt> {
        let mut pages: Vec<PageAt> = Vec::new();
        let root = self.catalog().and_then(|catalog| catalog.get(&b"Pages"[..]).cloned());
        let mut waiting: Vec<PageAt> = Vec::new();
        if let Some(Object::Reference(root)) = root {
            waiting.push((root, None));
        }
        let mut seen = HashSet::new();
        while let Some((number, inherited)) = waiting.pop()
            && pages.len() < PAGES
        {
            if !seen.insert(number) {
                continue;
            }
            let Some(mut dict) = self.get(number).into_dict() else { continue };
            if let Object::Array(kids) = self.entry(&dict, b"Kids") {
                let own = dict.remove(&b"Resources"[..]).map(Rc::new).or(inherited);
                let numbers = kids.into_iter().rev().filter_map(|kid| match kid {
                    Object::Reference(number) => Some(number),
                    _ => None,
                });
                waiting.extend(numbers.map(|number| (number, own.clone())));
            } else if dict.contains_key(&b"Contents"[..]) || dict.contains_key(&b"Annots"[..]) {
                pages.push((number, inherited));
            }
        }
        if pages.is_empty() {
            // Without a tree: whatever calls itself a page.
            pages.extend(self.called(b"Page").into_iter().take(PAGES).map(|page| (page, None)));
        }
        pages
    }

    /// A page with all that it has.
    pub(super) fn page(&self, (number, inherited): &PageAt) -> Dict {
        let mut dict = self.get(*number).into_dict().unwrap_or_default();
        if let Some(inherited) = inherited
            && !dict.contains_key(&b"Resources"[..])
        {
            dict.insert((*b"Resources").into(), self.resolve(inherited));
        }
        dict
    }

    /// The numbers of the objects that call themselves so.
    fn called(&self, kind: &[u8]) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        numbers.retain(|number| {
            let dict = self.get(*number).into_dict().unwrap_or_default();
            dict.get(&b"Type"[..]).is_some_and(|stated| stated.is_name(kind))
        });
        numbers
    }

    pub(super) fn limits(&self) -> &'a Limits {
        self.limits
    }
}

/// The number in front of `obj`, as in `12 0 obj`.
fn numbered(before: &[u8]) -> Option<u32> {
    let mut end = before.len();
    let mut back = |wanted: fn(u8) -> bool, most: usize| {
        let last = end;
        while end > 0 && wanted(before[end - 1]) && last - end < most {
            end -= 1;
        }
        &before[end..last]
    };
    back(is_white, 8);
    if back(|b| b.is_ascii_digit(), 5).is_empty() || back(is_white, 8).is_empty() {
        return None;
    }
    let digits = back(|b| b.is_ascii_digit(), 10);
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Where the data begins, if what follows a dictionary is a stream.
fn stream_begin(data: &[u8], at: usize) -> Option<usize> {
    let rest = &data[at..];
    let space = rest.iter().take_while(|&&b| is_white(b)).count();
    let rest = rest[space..].strip_prefix(b"stream")?;
    let rest = rest.strip_prefix(b"\r\n").or(rest.strip_prefix(b"\n")).or(rest.strip_prefix(b"\r"));
    let rest = rest.unwrap_or(&data[at + space + 6..]);
    Some(data.len() - rest.len())
}

fn is_stream_end(data: &[u8], at: usize) -> bool {
    data.get(at..).is_some_and(|rest| {
        let space = rest.iter().take(8).take_while(|&&b| is_white(b)).count();
        rest[space..].starts_with(b"endstream")
    })
}
