//! PDF: the text, title, language and links of a document.
//!
//! * What this is: [`parse_pdf`]. `object` reads bytes, `filter` unpacks, `file` finds numbered
//!   objects, `cmap`, `glyph` and `font` say which characters are meant, `text` follows what a page
//!   shows and `lines` makes words of it.
//! * Its place: beside HTML and plain text; `crawl` calls it for what is a PDF.
//! * Invariants: no bytes make it fail, panic or run for long: objects, unpacked bytes, depths and
//!   text are limited, all of them by counting, so that equal bytes give an equal page.
//! * What is not here: decryption, pictures, and fonts that only a reader of outlines could tell.

mod cmap;
mod file;
mod filter;
mod font;
mod glyph;
mod lines;
mod object;
mod text;

use crate::extract::MAX_TEXT_BYTES;
use crate::fold::one_line;
use crate::language;
use crate::page::{Page, RawLink};
use argiope_model::LinkKind;
use file::File;
use object::{Dict, Limits, Object};

/// Objects read of one document.
const WORK: u64 = 24_000_000;
/// Bytes unpacked of one document, all streams together.
const UNPACKED: u64 = 512 << 20;
/// Titles are kept up to this length.
const MAX_TITLE: usize = 512;
/// Longer references lead nowhere.
const MAX_HREF: usize = 8 << 10;
/// Links of one document.
const MAX_LINKS: usize = 20_000;

/// Why a PDF has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoText {
    /// Nothing in it is an object of a PDF.
    NotPdf,
    /// It is encrypted.
    Encrypted,
    /// Its pages show no text: scanned sheets, drawings.
    Pictures,
    /// It shows text in fonts that do not tell their characters.
    Fonts,
}

impl std::fmt::Display for NoText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NoText::NotPdf => "it is damaged or no PDF at all",
            NoText::Encrypted => "it is encrypted",
            NoText::Pictures => "its pages hold no text",
            NoText::Fonts => "its fonts do not tell which characters they show",
        })
    }
}

/// Reads a PDF. Where no text can be taken from it, the page holds what else there is (a title,
/// links), and why is told beside it.
pub fn parse_pdf(bytes: &[u8]) -> (Page, Option<NoText>) {
    let mut page = Page { charset: "UTF-8", ..Page::default() };
    let limits = Limits::new(WORK, UNPACKED);
    let file = File::open(bytes, &limits);
    if file.is_encrypted() {
        return (page, Some(NoText::Encrypted));
    }
    if file.is_empty() {
        return (page, Some(NoText::NotPdf));
    }
    let mut reader = text::Reader::new(&file, MAX_TEXT_BYTES);
    let pages = file.pages();
    for sheet in &pages {
        let sheet = file.page(sheet);
        reader.page(&sheet);
        links(&file, &sheet, &mut page.links);
        if limits.is_spent() || reader.lines.is_full() {
            break;
        }
    }
    page.truncated = limits.is_spent() || reader.lines.is_full();
    let (mut text, unknown) = (reader.lines.text, reader.unknown);
    text.truncate(text.trim_end().len());
    page.text = text;
    page.title = title(&file).unwrap_or_else(|| first_line(&page.text));
    page.language = declared_language(&file).or_else(|| language::guess(&page.text));
    let why = match (page.text.is_empty(), unknown, pages.is_empty()) {
        (false, ..) => None,
        (_, true, _) => Some(NoText::Fonts),
        (_, _, true) => Some(NoText::NotPdf),
        _ => Some(NoText::Pictures),
    };
    (page, why)
}

/// A text outside of pages: UTF-16 or UTF-8 where it says so, else the encoding of documents.
fn text_string(bytes: &[u8]) -> String {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|c| unit([c[0], c[1]]));
        char::decode_utf16(units).filter_map(Result::ok).collect()
    };
    let text: String = match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().map(|&code| glyph::document_char(code)).collect(),
    };
    text.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect()
}

/// The title as the document states it, unless it is the name of a file or of nothing.
fn title(file: &File<'_>) -> Option<String> {
    let info = file.info().unwrap_or_default();
    let stated = match file.entry(&info, b"Title") {
        Object::String(bytes) => meant(&text_string(&bytes)),
        _ => None,
    };
    stated.or_else(|| {
        let catalog = file.catalog()?;
        let data = file.stream(&file.entry(&catalog, b"Metadata"))?;
        meant(&described_title(&String::from_utf8_lossy(&data))?)
    })
}

/// A title somebody wrote, in one line.
fn meant(title: &str) -> Option<String> {
    let title = one_line(title.as_bytes(), MAX_TITLE);
    let title = title.strip_prefix("Microsoft Word - ").unwrap_or(&title).trim();
    let title = title.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(title);
    let lower = title.to_lowercase();
    let name = [".doc", ".docx", ".dvi", ".tex", ".indd", ".qxd", ".pdf", ".ps", ".eps", ".ppt"];
    let is_name = !title.contains(' ') && name.iter().any(|ending| lower.ends_with(ending));
    let is_none = matches!(&*lower, "" | "untitled" | "title" | "anonymous" | "none");
    (!is_name && !is_none && title.chars().any(char::is_alphanumeric)).then(|| title.to_owned())
}

/// The title in a description in XML: the first item of `dc:title`.
fn described_title(xml: &str) -> Option<String> {
    let inside = xml.split_once("<dc:title")?.1.split_once("</dc:title>")?.0;
    let item = inside.split_once("<rdf:li")?.1.split_once('>')?.1.split_once('<')?.0;
    let plain = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Some(plain.iter().fold(item.to_owned(), |text, (from, to)| text.replace(from, to)))
}

/// Without a title, a document is known by how it begins.
fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| line.chars().any(char::is_alphabetic)).unwrap_or_default();
    let mut title = one_line(line.as_bytes(), 160);
    if title.len() < line.len()
        && let Some(end) = title.rfind(' ')
    {
        title.truncate(end);
    }
    title
}

fn declared_language(file: &File<'_>) -> Option<String> {
    match file.entry(&file.catalog()?, b"Lang") {
        Object::String(bytes) => language::primary_tag(text_string(&bytes).as_bytes()),
        _ => None,
    }
}

/// Takes the links of a page that lead out of the document.
fn links(file: &File<'_>, page: &Dict, links: &mut Vec<RawLink>) {
    let Object::Array(notes) = file.entry(page, b"Annots") else { return };
    for note in notes.iter().take(MAX_LINKS.saturating_sub(links.len())) {
        let Some(note) = file.resolve(note).into_dict() else { continue };
        let Some(action) = file.dict(&note, b"A") else { continue };
        let Object::String(target) = file.entry(&action, b"URI") else { continue };
        let href = String::from_utf8_lossy(&target).trim().to_owned();
        if !href.is_empty() && href.len() <= MAX_HREF && !href.starts_with('#') {
            let words = String::new();
            // Nobody knows where in the text it stands.
            let (kind, nofollow, at) = (LinkKind::Anchor, false, u32::MAX);
            links.push(RawLink { href, words, kind, nofollow, at });
        }
    }
}
