//! What the body of an answer says: the text and the links of a page, the URLs that a sitemap or a feed
//! lists.
//!
//! * Its place: a visit asks it once it has a good answer; `texts` and second looks ask it for the same
//!   bytes later.
//! * Invariants: no bytes make it fail; equal bytes say the same.
//! * What is not here: which of the links are followed (`links`, `gather`), and what is stored.

use crate::before::Compared;
use crate::gather::Gathered;
use crate::visit::VisitError;
use argiope_archive::{TextBlob, encode_text};
use argiope_fetch::{Body, decoded_reader};
use argiope_model::{CanonicalUrl, Directives, Link, LinkKind, Time};
use argiope_parse as parse;
use argiope_store::MalformedLink;
use std::io::{self, Read};

/// Sitemaps are read up to this length (the protocol's limit).
const MAX_SITEMAP: u64 = 50 << 20;
/// No text is taken from a longer PDF: it is read whole.
const MAX_PDF: u64 = 32 << 20;

/// What the body of a good answer holds.
#[derive(Default)]
pub(crate) struct Content {
    pub text: Option<Vec<u8>>,
    /// The same as it is, and the title.
    pub plain: Option<String>,
    /// Why there is none, where there should be one.
    pub no_text: Option<String>,
    /// Its language, where that can be told.
    pub language: Option<String>,
    pub links: Vec<Link>,
    /// Where each link stands in the text.
    pub at: Vec<u32>,
    /// References that should have been links and cannot be read.
    pub malformed: Vec<MalformedLink>,
    pub words: u64,
    pub directives: Directives,
    /// Of a sitemap: the URLs it lists are sitemaps themselves.
    pub index: bool,
    /// Of a sitemap: when pages were changed, as it says.
    pub modified: Vec<(CanonicalUrl, Time)>,
    /// The text without advertisements, where the markup names some and it is to be compared.
    pub bare: Option<TextBlob>,
    /// Of a page of a news job: what is to be asked for next.
    pub gathered: Vec<Gathered>,
    /// What was compared, where a second look should tell whether it has changed.
    pub unsure: Option<Compared>,
}

/// What a body says.
pub(crate) fn content_of(
    url: &CanonicalUrl,
    media: &parse::MediaType,
    body: &Body,
    agent: Option<&str>,
) -> Result<Content, VisitError> {
    let charset = media.charset.as_deref();
    let mut no_text = None;
    let page = match (parse::type_group(&media.essence), body.bytes()) {
        ("html", Some(bytes)) => parse::parse_html(bytes, charset),
        ("html", None) => parse::parse_html_reader(body.reader()?, charset)?,
        ("text", Some(bytes)) => parse::parse_text(bytes, charset),
        ("text", None) => {
            let mut head = Vec::new();
            body.reader()?.take(4 << 20).read_to_end(&mut head)?;
            parse::parse_text(&head, charset)
        }
        ("pdf", _) if body.len() > MAX_PDF => {
            let no_text = Some(format!("it is longer than {} MB", MAX_PDF >> 20));
            return Ok(Content { no_text, ..Content::default() });
        }
        ("pdf", bytes) => {
            let mut whole = Vec::new();
            if bytes.is_none() {
                body.reader()?.read_to_end(&mut whole)?;
            }
            let (page, why) = parse::parse_pdf(bytes.unwrap_or(&whole));
            no_text = why.map(|why| why.to_string());
            page
        }
        _ => return Ok(Content::default()),
    };
    let parse::Resolved { links, at, malformed } = parse::resolve(&page, url);
    let malformed = malformed.into_iter().map(|m| MalformedLink {
        href: m.href.into(),
        words: m.words.into(),
        reason: m.reason.to_string().into(),
    });
    let malformed = malformed.collect();
    let directives = agent.map(|agent| parse::meta_directives(&page.robots, agent));
    let words = page.text.split_ascii_whitespace().count() as u64;
    let language = page.language.clone();
    // A scanned document is known by its title at least.
    let is_mute = no_text.is_some() && page.title.is_empty();
    let blob = TextBlob {
        parser_version: parse::PARSER_VERSION,
        title: page.title,
        description: page.description,
        headings: page.headings.into_iter().map(|h| h.text).collect(),
        language: page.language,
        text: page.text,
        around: page.around,
    };
    let text = (!is_mute).then(|| encode_text(&blob));
    let plain = no_text.is_none().then(|| {
        let TextBlob { mut text, title, .. } = blob;
        text.push('\n');
        text.push_str(&title);
        text
    });
    Ok(Content {
        text,
        plain,
        no_text,
        language,
        links,
        at,
        malformed,
        words,
        directives: directives.unwrap_or_default(),
        ..Content::default()
    })
}

pub(crate) fn first_bytes(body: &Body) -> Result<Vec<u8>, VisitError> {
    let mut first = Vec::new();
    body.reader()?.take(1500).read_to_end(&mut first)?;
    Ok(first)
}

/// What a sitemap lists, as links.
pub(crate) fn sitemap(url: &CanonicalUrl, body: &Body) -> Result<Content, VisitError> {
    let bytes = listing(body)?;
    let sitemap = parse::parse_sitemap(&bytes, url);
    let index = sitemap.kind == parse::SitemapKind::Index;
    let link =
        |url| Link { url, words: "".into(), kind: LinkKind::Seed, nofollow: false, count: 1 };
    let modified = |listed: &parse::SitemapUrl| Some((listed.url.clone(), listed.last_modified?));
    let modified = sitemap.urls.iter().filter_map(modified).collect();
    let links = sitemap.urls.into_iter().map(|listed| link(listed.url)).collect();
    Ok(Content { links, index, modified, ..Content::default() })
}

/// The bytes of a sitemap or a feed, unpacked.
pub(crate) fn listing(body: &Body) -> Result<Vec<u8>, VisitError> {
    let mut bytes = Vec::new();
    let mut reader = body.reader()?;
    reader.by_ref().take(2).read_to_end(&mut bytes)?;
    let packed = bytes == [0x1f, 0x8b];
    let rest = io::Cursor::new(bytes).chain(reader);
    let plain = decoded_reader(rest, if packed { "gzip" } else { "" })?;
    let mut bytes = Vec::new();
    // A damaged end does not make the beginning worthless.
    let _ = plain.take(MAX_SITEMAP).read_to_end(&mut bytes);
    Ok(bytes)
}
