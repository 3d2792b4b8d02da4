//! Extracted text, kept so that snippets, diffs and reindexing need no parsing.
//!
//! A blob is one zstd frame (level 1, with checksum). Inside, version 1: format version (1 byte),
//! parser version (2 bytes), then language (empty = unknown), title, description, the number of
//! headings (4 bytes) and each heading, text. Numbers are little-endian; a string is its length
//! in 4 bytes and its UTF-8 bytes. Version 2 goes on with the lines that surround the page: for each
//! run of them how many lines lie before it, since the last, and how many it has, in groups of seven
//! bits. A text segment is blob after blob, so the zstd tool reads it.
//!
//! Invariant: a blob of a newer format is refused, never guessed at.

use crate::ArchiveError;
use crate::elsewhere::open_segment;
use crate::segment_files::text_segment_name;
use argiope_model::Location;
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zstd::zstd_safe::{CParameter, DCtx, find_frame_compressed_size, get_frame_content_size};

/// The blob format that is written.
pub const TEXT_FORMAT_VERSION: u8 = 2;

/// No blob is larger than this when unpacked; what claims to be is damaged.
const MAX_TEXT_BYTES: u64 = 1 << 30;

/// What the parser made of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextBlob {
    /// Version of the parser; another version's text is not a change of the web.
    pub parser_version: u16,
    /// The title.
    pub title: String,
    /// The description from its meta tags.
    pub description: String,
    /// The headings in their order.
    pub headings: Vec<String>,
    /// The language, where known.
    pub language: Option<String>,
    /// The visible text.
    pub text: String,
    /// Its lines, by their numbers from 0, that surround what the page says: menus, footers.
    pub around: Vec<Range<u32>>,
}

struct Workbench {
    compressor: zstd::bulk::Compressor<'static>,
    plain: Vec<u8>,
}

thread_local! {
    static WORKBENCH: RefCell<Workbench> = RefCell::new(Workbench {
        compressor: compressor(),
        plain: Vec::new(),
    });
}

fn compressor() -> zstd::bulk::Compressor<'static> {
    let mut compressor = zstd::bulk::Compressor::new(1).expect("level 1 exists");
    compressor.set_parameter(CParameter::ChecksumFlag(true)).expect("the flag exists");
    compressor
}

/// Packs a blob for the text store.
pub fn encode_text(blob: &TextBlob) -> Vec<u8> {
    WORKBENCH.with_borrow_mut(|Workbench { compressor, plain }| {
        plain.clear();
        plain.push(TEXT_FORMAT_VERSION);
        plain.extend_from_slice(&blob.parser_version.to_le_bytes());
        put(plain, blob.language.as_deref().unwrap_or_default());
        put(plain, &blob.title);
        put(plain, &blob.description);
        put_number(plain, blob.headings.len());
        for heading in &blob.headings {
            put(plain, heading);
        }
        put(plain, &blob.text);
        let mut last = 0;
        for run in &blob.around {
            put_small(plain, run.start.saturating_sub(last));
            put_small(plain, run.end.saturating_sub(run.start));
            last = run.end;
        }
        let packed = compressor.compress(plain).expect("the buffer is as large as it can need");
        if plain.capacity() > 4 << 20 {
            *plain = Vec::new();
        }
        packed
    })
}

/// A blob that was unpacked, read where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextRef<'a> {
    /// Version of the parser.
    pub parser_version: u16,
    /// The title.
    pub title: &'a str,
    /// The description from its meta tags.
    pub description: &'a str,
    /// The language, where known.
    pub language: Option<&'a str>,
    /// The visible text.
    pub text: &'a str,
    headings: Fields<'a>,
    around: Fields<'a>,
}

impl TextRef<'_> {
    /// Its lines, by their numbers from 0, that surround what the page says.
    pub fn around(&self) -> Vec<Range<u32>> {
        let (mut runs, mut last) = (self.around, 0u32);
        let run = || {
            let start = last.saturating_add(runs.small()?);
            last = start.saturating_add(runs.small()?);
            Some(start..last)
        };
        std::iter::from_fn(run).collect()
    }

    /// The blob, copied.
    pub fn to_blob(&self) -> TextBlob {
        let mut headings = self.headings;
        TextBlob {
            parser_version: self.parser_version,
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            headings: std::iter::from_fn(|| headings.text().map(str::to_owned)).collect(),
            language: self.language.map(str::to_owned),
            text: self.text.to_owned(),
            around: self.around(),
        }
    }
}

/// Unpacks a blob.
pub fn decode_text(packed: &[u8]) -> Result<TextBlob, ArchiveError> {
    unpacked(packed, |text| text.to_blob())
}

/// Unpacks a blob into buffers of the thread and shows it there.
fn unpacked<R>(packed: &[u8], show: impl FnOnce(TextRef<'_>) -> R) -> Result<R, ArchiveError> {
    // Taken and given back, so that whoever is shown a text may read another one.
    let mut bench = UNPACKING.take().unwrap_or_default();
    bench.plain.clear();
    let out = bench.unpack(packed).and_then(|()| parsed(&bench.plain)).map(show);
    if bench.plain.capacity() > KEPT {
        bench.plain = Vec::new();
    }
    UNPACKING.set(Some(bench));
    out
}

fn does_not_fit(reason: &str) -> ArchiveError {
    ArchiveError::NotText(reason.to_owned())
}

/// A buffer larger than this is not kept.
const KEPT: usize = 4 << 20;

thread_local! {
    static UNPACKING: Cell<Option<Unpacking>> = const { Cell::new(None) };
}

#[derive(Default)]
struct Unpacking {
    context: DCtx<'static>,
    plain: Vec<u8>,
}

impl Unpacking {
    fn unpack(&mut self, packed: &[u8]) -> Result<(), ArchiveError> {
        let told = get_frame_content_size(packed).ok().flatten();
        // What a damaged frame claims is not believed: room is made as the text comes.
        if let Some(size) = told.filter(|size| *size <= KEPT as u64) {
            if find_frame_compressed_size(packed).is_ok_and(|n| n < packed.len()) {
                return Err(does_not_fit("something follows its frame"));
            }
            self.plain.reserve(size as usize);
            self.context.decompress(&mut self.plain, packed).map_err(not_zstd)?;
            return Ok(());
        }
        let bad = |e: std::io::Error| ArchiveError::NotText(e.to_string());
        let decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(bad)?;
        let mut decoder = decoder.single_frame();
        (&mut decoder).take(MAX_TEXT_BYTES).read_to_end(&mut self.plain).map_err(bad)?;
        match decoder.finish().is_empty() {
            true => Ok(()),
            false => Err(does_not_fit("something follows its frame")),
        }
    }
}

fn not_zstd(code: zstd::zstd_safe::ErrorCode) -> ArchiveError {
    ArchiveError::NotText(zstd::zstd_safe::get_error_name(code).to_owned())
}

fn parsed(plain: &[u8]) -> Result<TextRef<'_>, ArchiveError> {
    let (&version, rest) = plain.split_first().ok_or_else(|| does_not_fit("it is empty"))?;
    if version > TEXT_FORMAT_VERSION {
        return Err(ArchiveError::NewerText { found: version, known: TEXT_FORMAT_VERSION });
    }
    let mut fields = Fields { rest };
    match fields.blob(version) {
        Some(blob) if version > 0 && fields.rest.is_empty() => Ok(blob),
        _ => Err(does_not_fit("its fields do not fit")),
    }
}

/// Reads the blob at `location` of the text store in `dir`.
pub fn read_text(dir: &Path, location: Location) -> Result<TextBlob, ArchiveError> {
    TextReader::new(dir).read(location, |text| text.to_blob())
}

/// Reads blobs of one text store; a file stays open from one to the next.
pub struct TextReader<'d> {
    dir: &'d Path,
    open: Option<(u32, File)>,
    packed: Vec<u8>,
}

impl<'d> TextReader<'d> {
    /// A reader of the text store in `dir`.
    pub fn new(dir: &'d Path) -> Self {
        TextReader { dir, open: None, packed: Vec::new() }
    }

    /// Shows the blob at `location` where it was unpacked.
    pub fn read<R>(
        &mut self,
        location: Location,
        show: impl FnOnce(TextRef<'_>) -> R,
    ) -> Result<R, ArchiveError> {
        self.fetch(location)?;
        unpacked(&self.packed, show).map_err(|e| self.placed(e, location))
    }

    fn path(&self, location: Location) -> PathBuf {
        self.dir.join(text_segment_name(location.segment))
    }

    fn damaged(&self, location: Location, reason: String) -> ArchiveError {
        ArchiveError::Damaged { path: self.path(location), offset: location.offset, reason }
    }

    fn placed(&self, error: ArchiveError, location: Location) -> ArchiveError {
        match error {
            ArchiveError::NotText(reason) => self.damaged(location, reason),
            other => other,
        }
    }

    /// Reads the packed bytes.
    fn fetch(&mut self, location: Location) -> Result<(), ArchiveError> {
        self.packed.clear();
        if self.open.as_ref().is_none_or(|(segment, _)| *segment != location.segment) {
            let name = text_segment_name(location.segment);
            let opened = open_segment(self.dir, &name);
            let file = opened.map_err(ArchiveError::io("open", &self.path(location)))?;
            self.open = Some((location.segment, file));
        }
        let ended = "the file ends within a text blob";
        let length = usize::try_from(location.length);
        let Some(length) = length.ok().filter(|length| *length as u64 <= MAX_TEXT_BYTES) else {
            return Err(self.damaged(location, ended.to_owned()));
        };
        let read = match &mut self.open {
            Some((_, file)) if length <= 1 << 20 => {
                self.packed.resize(length, 0);
                file.read_exact_at(&mut self.packed, location.offset)
            }
            Some((_, file)) => {
                // A length that is wrong runs out of bytes, not of memory.
                let begin = file.seek(SeekFrom::Start(location.offset));
                begin
                    .and_then(|_| file.take(location.length).read_to_end(&mut self.packed))
                    .map(drop)
            }
            None => Ok(()),
        };
        match read {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                Err(self.damaged(location, ended.to_owned()))
            }
            Err(e) => Err(ArchiveError::io("read", &self.path(location))(e)),
            Ok(()) if self.packed.len() != length => Err(self.damaged(location, ended.to_owned())),
            Ok(()) => Ok(()),
        }
    }
}

fn put(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

/// A number that is mostly small, in groups of seven bits.
fn put_small(out: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).expect("a page's text is below 4 GB");
    out.extend_from_slice(&number.to_le_bytes());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn blob(&mut self, version: u8) -> Option<TextRef<'a>> {
        let format = version;
        let (version, rest) = self.rest.split_first_chunk::<2>()?;
        self.rest = rest;
        let language = self.text()?;
        let title = self.text()?;
        let description = self.text()?;
        let count = self.number()?;
        let begin = self.rest;
        for _ in 0..count {
            self.text()?;
        }
        let headings = Fields { rest: &begin[..begin.len() - self.rest.len()] };
        Some(TextRef {
            parser_version: u16::from_le_bytes(*version),
            title,
            description,
            headings,
            language: (!language.is_empty()).then_some(language),
            text: self.text()?,
            around: self.runs(format)?,
        })
    }

    /// The rest, if it is what this format has there.
    fn runs(&mut self, format: u8) -> Option<Fields<'a>> {
        let runs = *self;
        if format > 1 {
            while !self.rest.is_empty() {
                self.small()?;
                self.small()?;
            }
        }
        Some(Fields { rest: &runs.rest[..runs.rest.len() - self.rest.len()] })
    }

    fn small(&mut self) -> Option<u32> {
        let mut out = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            out |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(out);
            }
        }
        None
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_newer_format_is_refused_with_a_sentence() {
        let newer = zstd::bulk::compress(&[3, 0, 0, 9, 9, 9], 1).unwrap();
        let error = decode_text(&newer).unwrap_err().to_string();
        assert!(error.contains("format 3") && error.contains("newer argiope"), "{error}");
    }

    #[test]
    fn damage_is_noticed() {
        let packed = encode_text(&TextBlob { text: "word ".repeat(100), ..Default::default() });
        for cut in 0..packed.len() {
            assert!(decode_text(&packed[..cut]).is_err(), "cut at {cut}");
        }
        for flipped in 0..packed.len() {
            let mut bad = packed.clone();
            bad[flipped] ^= 0x20;
            let _ = decode_text(&bad);
        }
    }

    #[test]
    fn a_reader_goes_from_text_to_text() {
        let dir = tempfile::tempdir().unwrap();
        let blob =
            |text: String| TextBlob { text, headings: vec!["a".into()], ..Default::default() };
        let blobs = [blob("wörd ".repeat(200_000)), blob("x".into()), blob("y ".repeat(3_000_000))];
        let mut locations = Vec::new();
        for (n, blob) in blobs.iter().enumerate() {
            let packed = encode_text(blob);
            let location = Location { segment: n as u32, offset: 3, length: packed.len() as u64 };
            let file = dir.path().join(text_segment_name(location.segment));
            std::fs::write(file, [b"...", &*packed].concat()).unwrap();
            locations.push(location);
        }
        let mut reader = TextReader::new(dir.path());
        for n in [0, 1, 1, 2, 0] {
            assert_eq!(reader.read(locations[n], |text| text.to_blob()).unwrap(), blobs[n]);
        }
        let short = Location { length: locations[1].length + 1, ..locations[1] };
        let error = reader.read(short, |_| ()).unwrap_err().to_string();
        assert!(error.contains("ends within"), "{error}");
    }

    proptest! {
        #[test]
        fn a_blob_survives(
            parser_version: u16,
            title: String,
            description: String,
            headings: Vec<String>,
            language in proptest::option::of("[a-z]{2,3}"),
            text: String,
            runs in proptest::collection::vec((1u32..9_000, 1u32..200), 0..9),
        ) {
            let mut last = 0;
            let around = runs.iter().map(|(before, lines)| {
                let start = last + before;
                last = start + lines;
                start..last
            });
            let around = around.collect();
            let blob =
                TextBlob { parser_version, title, description, headings, language, text, around };
            prop_assert_eq!(decode_text(&encode_text(&blob)).unwrap(), blob);
        }

        #[test]
        fn foreign_bytes_do_no_harm(bytes: Vec<u8>) {
            let _ = decode_text(&bytes);
            let packed = zstd::bulk::compress(&bytes, 1).unwrap();
            let _ = decode_text(&packed);
        }
    }
}
