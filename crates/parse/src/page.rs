//! A page and the three ways to read one.
//!
//! * What this is: [`Page`], and the entry points that decide the encoding, run the tokenizer
//!   or not, and settle the language.
//! * Its place: called by `crawl` for every fetched body; calls `charset`, `extract`,
//!   `language`.
//! * Invariants: reading from memory and from a stream give the same page, as long as the
//!   encoding shows in the first 64 KB and the limits are not reached.
//! * What is not here: the links as URLs, see `resolve`.

use crate::charset::{self, HEAD_BYTES, Transcoder};
use crate::extract::{Extractor, MAX_TEXT_BYTES};
use crate::fold::floor_boundary;
use crate::language;
use argiope_model::LinkKind;
use html5gum::{IoReader, Tokenizer};
use std::io::{self, Read};
use std::ops::Range;

/// What a body says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The first title that is not empty, in one line. Not part of the text.
    pub title: String,
    /// `<meta name=description>`, else `og:description`.
    pub description: String,
    /// `<h1>` to `<h6>` in document order; their words are part of the text too.
    pub headings: Vec<Heading>,
    /// The visible text: a line per block, white space folded.
    pub text: String,
    /// Lines of the text, by their numbers from 0, that surround what the page says: menus,
    /// headers, footers, sidebars, lists of links. Ascending and apart.
    pub around: Vec<Range<u32>>,
    /// The language as a primary tag (`en`): declared, unless that has another script than the text; else guessed
    /// when that is reliable.
    pub language: Option<String>,
    /// The name of the character encoding the body was read in.
    pub charset: &'static str,
    /// The `href` of the first `<base>` that has one, as written.
    pub base: Option<String>,
    /// The `<meta>` tags that forbid something to robots, all of them or one of them; what they
    /// mean for us says `meta_directives`.
    pub robots: Vec<RobotsTag>,
    /// The links in document order, as written; links into the page itself (`#…`) left out.
    pub links: Vec<RawLink>,
    /// Whether something was left out because the page is beyond all limits.
    pub truncated: bool,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// Its words, in one line.
    pub text: String,
}

/// A `<meta>` tag that forbids something to robots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsTag {
    /// `robots`, or the name of the one it is meant for, as written.
    pub name: String,
    /// What it says, as written.
    pub content: String,
}

/// A link as it is written in the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawLink {
    /// The reference: entities decoded, white space around it removed, not resolved.
    pub href: String,
    /// The words inside the element, or its `alt` or `title`; one line, at most 512 bytes.
    pub words: String,
    /// The element it came from.
    pub kind: LinkKind,
    /// Whether `rel` holds `nofollow`.
    pub nofollow: bool,
    /// Where it stands in the text: the byte its words begin at; beyond its end where nobody knows.
    pub at: u32,
}

/// Reads an HTML page. `header_charset` is the `charset` of its `Content-Type`, if any.
pub fn parse_html(bytes: &[u8], header_charset: Option<&str>) -> Page {
    let (encoding, mark) = charset::decide(bytes, header_charset, true);
    let text = charset::decode(&bytes[mark..], encoding);
    let mut page = Page { charset: encoding.name(), ..Page::default() };
    let extractor = Extractor::new(&mut page, text.len());
    let Ok(()) = Tokenizer::new_with_emitter(&*text, extractor).finish();
    settle_language(&mut page);
    page
}

/// Reads an HTML page of any size in bounded memory. What exceeds the limits is left out and
/// `truncated` is set. An error is one of the reader.
pub fn parse_html_reader(mut reader: impl Read, header_charset: Option<&str>) -> io::Result<Page> {
    let mut head = Vec::new();
    reader.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    let (encoding, mark) = charset::decide(&head, header_charset, true);
    let mut page = Page { charset: encoding.name(), ..Page::default() };
    let text = Transcoder::new(head[mark..].chain(reader), encoding);
    let extractor = Extractor::new(&mut page, 0);
    Tokenizer::new_with_emitter(IoReader::new(text), extractor).finish()?;
    settle_language(&mut page);
    Ok(page)
}

/// Reads plain text: the text as it is, with line feeds as line ends, and nothing else.
pub fn parse_text(bytes: &[u8], header_charset: Option<&str>) -> Page {
    let (encoding, mark) = charset::decide(bytes, header_charset, false);
    let mut text = charset::decode(&bytes[mark..], encoding).into_owned();
    if text.contains('\r') {
        text = text.replace("\r\n", "\n").replace('\r', "\n");
    }
    // No store takes it, and no text means it.
    text.retain(|c| c != '\0');
    let truncated = text.len() > MAX_TEXT_BYTES;
    text.truncate(floor_boundary(text.as_bytes(), MAX_TEXT_BYTES));
    let mut page = Page { charset: encoding.name(), text, truncated, ..Page::default() };
    settle_language(&mut page);
    page
}

/// The visible text of a piece of HTML.
pub(crate) fn text_of_html(html: &str) -> String {
    let mut page = Page::default();
    let extractor = Extractor::new(&mut page, html.len());
    let Ok(()) = Tokenizer::new_with_emitter(html, extractor).finish();
    page.text
}

fn settle_language(page: &mut Page) {
    page.language = match page.language.take() {
        None => language::guess(&page.text),
        declared => language::by_script(declared, &page.text),
    };
}
