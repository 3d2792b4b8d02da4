//! Extracted text, kept so that snippets, diffs and reindexing need no parsing.
//!
//! A blob is one zstd frame (level 1, with checksum). Inside, version 1: format version (1 byte),
//! parser version (2 bytes), then language (empty = unknown), title, description, the number of
//! headings (4 bytes) and each heading, text. Numbers are little-endian; a string is its length
//! in 4 bytes and its UTF-8 bytes. A text segment is blob after blob, so the zstd tool reads it.
//!
//! Invariant: a blob of a newer format is refused, never guessed at.

use crate::ArchiveError;
use crate::segment_files::text_segment_name;
use argiope_model::Location;
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use zstd::zstd_safe::CParameter;

/// The blob format that is written.
pub const TEXT_FORMAT_VERSION: u8 = 1;

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
        let packed = compressor.compress(plain).expect("the buffer is as large as it can need");
        if plain.capacity() > 4 << 20 {
            *plain = Vec::new();
        }
        packed
    })
}

/// Unpacks a blob.
pub fn decode_text(packed: &[u8]) -> Result<TextBlob, ArchiveError> {
    let bad = |e: std::io::Error| ArchiveError::NotText(e.to_string());
    let mut decoder = zstd::stream::read::Decoder::with_buffer(packed).map_err(bad)?.single_frame();
    let mut plain = Vec::new();
    (&mut decoder).take(MAX_TEXT_BYTES).read_to_end(&mut plain).map_err(bad)?;
    if !decoder.finish().is_empty() {
        return Err(ArchiveError::NotText("something follows its frame".into()));
    }
    let (&version, rest) =
        plain.split_first().ok_or_else(|| ArchiveError::NotText("it is empty".into()))?;
    if version > TEXT_FORMAT_VERSION {
        return Err(ArchiveError::NewerText { found: version, known: TEXT_FORMAT_VERSION });
    }
    let mut fields = Fields { rest };
    let blob = fields.blob();
    match blob {
        Some(blob) if version == TEXT_FORMAT_VERSION && fields.rest.is_empty() => Ok(blob),
        _ => Err(ArchiveError::NotText("its fields do not fit".into())),
    }
}

/// Reads the blob at `location` of the text store in `dir`.
pub fn read_text(dir: &Path, location: Location) -> Result<TextBlob, ArchiveError> {
    let path = dir.join(text_segment_name(location.segment));
    let mut file = File::open(&path).map_err(ArchiveError::io("open", &path))?;
    file.seek(SeekFrom::Start(location.offset)).map_err(ArchiveError::io("read", &path))?;
    let mut packed = Vec::with_capacity(usize::try_from(location.length).unwrap_or(0).min(1 << 20));
    file.take(location.length).read_to_end(&mut packed).map_err(ArchiveError::io("read", &path))?;
    if packed.len() as u64 != location.length {
        let reason = "the file ends within a text blob".to_owned();
        return Err(ArchiveError::Damaged { path, offset: location.offset, reason });
    }
    decode_text(&packed).map_err(|e| match e {
        ArchiveError::NotText(reason) => {
            ArchiveError::Damaged { path, offset: location.offset, reason }
        }
        other => other,
    })
}

fn put(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).expect("a page's text is below 4 GB");
    out.extend_from_slice(&number.to_le_bytes());
}

struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    fn blob(&mut self) -> Option<TextBlob> {
        let (version, rest) = self.rest.split_first_chunk::<2>()?;
        self.rest = rest;
        let language = self.text()?;
        let title = self.text()?;
        let description = self.text()?;
        let count = self.number()?;
        // Collected one by one: a lying count runs out of bytes, not of memory.
        let headings = (0..count).map(|_| self.text()).collect::<Option<Vec<_>>>()?;
        Some(TextBlob {
            parser_version: u16::from_le_bytes(*version),
            title,
            description,
            headings,
            language: (!language.is_empty()).then_some(language),
            text: self.text()?,
        })
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.rest.split_first_chunk::<4>()?;
        self.rest = rest;
        usize::try_from(u32::from_le_bytes(*number)).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_newer_format_is_refused_with_a_sentence() {
        let newer = zstd::bulk::compress(&[2, 0, 0, 9, 9, 9], 1).unwrap();
        let error = decode_text(&newer).unwrap_err().to_string();
        assert!(error.contains("format 2") && error.contains("newer argiope"), "{error}");
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

    proptest! {
        #[test]
        fn a_blob_survives(
            parser_version: u16,
            title: String,
            description: String,
            headings: Vec<String>,
            language in proptest::option::of("[a-z]{2,3}"),
            text: String,
        ) {
            let blob = TextBlob { parser_version, title, description, headings, language, text };
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
