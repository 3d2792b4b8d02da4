//! A page on its way into the index: everything that is known of it, and its words.

use crate::analyse::{BEGIN, END, Feed, Form, Rules, Stems, StopList, Token, Walk, quick_hash};
use crate::links::{LINK_PHRASES, LinkedAs};
use crate::schema::{Fields, NO_SNIPPET};
use argiope_archive::{Fingerprint, TextBlob, TitlePrint};
use argiope_model::{CanonicalUrl, DocId, Location, Time};
use std::sync::Arc;
use tantivy::TantivyDocument;

/// Positions between two headings or two phrases: no phrase spans them.
pub(crate) const GAP: u32 = 8;

/// A page to be indexed.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// Its number.
    pub doc: DocId,
    /// Its URL.
    pub url: &'a CanonicalUrl,
    /// Its site.
    pub site: &'a str,
    /// Its text.
    pub text: &'a TextBlob,
    /// Where that text lies.
    pub location: Location,
    /// Its media type.
    pub mime: &'a str,
    /// Body bytes received.
    pub bytes: u64,
    /// When it was first seen.
    pub first_seen: Time,
    /// When its text last changed.
    pub changed: Time,
    /// When it was last asked for.
    pub fetched: Time,
    /// From when on it was as it is: what it is found by in the past.
    pub from: Time,
    /// It asks that no piece of its text be shown.
    pub no_snippet: bool,
    /// How it is linked to.
    pub links: LinkedAs,
}

/// Turns pages into documents, one after the other, with buffers that are used again.
pub(crate) struct Press {
    stop: Arc<StopList>,
    language: String,
    walk: Walk,
    stems: Stems,
    feed: Feed,
    loose: Feed,
    /// Pages so far: their names for the stems.
    pages: u32,
}

impl Press {
    pub fn new(stop: Arc<StopList>, language: String) -> Self {
        Press {
            stop,
            language,
            walk: Walk::default(),
            stems: Stems::default(),
            feed: Feed::default(),
            loose: Feed::default(),
            pages: 0,
        }
    }

    /// The document of a page, and how many bytes its words take on their way.
    pub fn document(&mut self, fields: &Fields, page: &Page<'_>) -> (TantivyDocument, usize) {
        let mut out = TantivyDocument::default();
        let mut bytes = 0;
        let mut put = |feed: &mut Feed, field| {
            if !feed.is_empty() {
                bytes += feed.text().len();
                out.add_text(field, feed.text());
            }
            feed.clear();
        };
        self.pages = self.pages.wrapping_add(1).max(1);
        let language = page.text.language.as_deref().unwrap_or(&self.language);
        let rules = Rules::of(language);
        self.phrase(&page.text.title, rules, true);
        put(&mut self.feed, fields.title);
        for heading in &page.text.headings {
            self.phrase(heading, None, true);
        }
        put(&mut self.feed, fields.headings);
        let extra = self.extra(page.text, page.url, &page.links);
        self.address(page.url);
        put(&mut self.feed, fields.address);
        for (phrase, _) in page.links.phrases.iter().take(LINK_PHRASES) {
            self.phrase(phrase, None, true);
        }
        put(&mut self.feed, fields.links);
        self.body(&page.text.text, rules);
        put(&mut self.loose, fields.loose);
        // The largest last: a document is a buffer that grows.
        put(&mut self.feed, fields.body);

        out.add_text(fields.host, page.url.host());
        if let Some(language) = &page.text.language {
            out.add_text(fields.language, language);
        }
        out.add_text(fields.kind, page.mime);
        out.add_u64(fields.doc, page.doc.0);
        out.add_text(fields.site, page.site);
        out.add_i64(fields.first_seen, page.first_seen.0);
        out.add_i64(fields.changed, page.changed.0);
        out.add_i64(fields.fetched, page.fetched.0);
        out.add_u64(fields.size, page.bytes);
        out.add_u64(fields.backlinks, page.links.backlinks);
        out.add_u64(fields.link_digest, page.links.digest());
        for word in extra {
            out.add_u64(fields.link_extra, word);
        }
        for mark in Fingerprint::of_page(&page.text.text, &page.text.around).marks() {
            out.add_u64(fields.marks, u64::from(*mark));
        }
        for word in TitlePrint::of(&page.text.title).words() {
            out.add_u64(fields.called, u64::from(word));
        }
        out.add_u64(fields.segment, u64::from(page.location.segment));
        out.add_u64(fields.offset, page.location.offset);
        out.add_u64(fields.length, page.location.length);
        out.add_u64(fields.flags, if page.no_snippet { NO_SNIPPET } else { 0 });
        out.add_i64(fields.from, page.from.0);
        out.add_text(fields.url, page.url.as_str());
        (out, bytes)
    }

    /// The words that others call a page by and that it does not say itself in its title, headings
    /// or URL, as numbers in their order.
    pub fn extra(&mut self, text: &TextBlob, url: &CanonicalUrl, links: &LinkedAs) -> Vec<u64> {
        let mut called: Vec<u64> = Vec::new();
        for (phrase, _) in links.phrases.iter().take(LINK_PHRASES) {
            self.hashes(phrase, &mut called);
        }
        called.retain(|word| !self.stop.holds_hash(*word));
        if called.is_empty() {
            return called;
        }
        let mut own: Vec<u64> = Vec::new();
        self.hashes(&text.title, &mut own);
        text.headings.iter().for_each(|heading| self.hashes(heading, &mut own));
        for piece in url_pieces(url) {
            self.hashes(&piece, &mut own);
        }
        own.sort_unstable();
        called.retain(|word| own.binary_search(word).is_err());
        // Half of the bits tell words apart well enough, and take half the room.
        called.iter_mut().for_each(|word| *word >>= 32);
        called.sort_unstable();
        called.dedup();
        called
    }

    fn hashes(&mut self, text: &str, out: &mut Vec<u64>) {
        self.walk.tokens(text, |token| {
            if !token.text.is_empty() && matches!(token.form, Form::Word | Form::Single) {
                out.push(quick_hash(token.text));
            }
            true
        });
    }

    /// The words of the text without the stop words, and their stems.
    fn body(&mut self, text: &str, rules: Option<Rules>) {
        let Press { stop, walk, stems, feed, loose, pages, .. } = self;
        walk.tokens(text, |token| {
            match token.form {
                _ if token.text.is_empty() => {}
                Form::Word => {
                    let hash = quick_hash(token.text);
                    if !stop.holds_hash(hash) {
                        feed.push(token.text, token.position);
                        loosen(stems, loose, rules, token, (hash, *pages));
                    }
                }
                Form::Single | Form::Whole | Form::Pair => feed.push(token.text, token.position),
            }
            true
        });
    }

    /// Words that belong together, all of them, after those before with a gap between. With
    /// ends, a query that is the whole of it can be told.
    fn phrase(&mut self, text: &str, rules: Option<Rules>, ends: bool) {
        let Press { walk, stems, feed, loose, pages, .. } = self;
        let base = if feed.is_empty() { 0 } else { feed.position() + GAP };
        let mut last = 0;
        walk.tokens(text, |token| {
            if token.text.is_empty() {
                return true;
            }
            if last == 0 && ends {
                feed.push(BEGIN, base);
            }
            last = last.max(token.position);
            feed.push(token.text, base + token.position);
            if token.form == Form::Word {
                let hash = quick_hash(token.text);
                loosen(stems, loose, rules, token, (hash, *pages));
            }
            true
        });
        if last > 0 && ends {
            feed.push(END, base + last + 1);
        }
    }

    /// The words of a URL.
    fn address(&mut self, url: &CanonicalUrl) {
        for piece in url_pieces(url) {
            self.phrase(&piece, None, false);
        }
    }
}

/// The texts in a URL: its host and path, unescaped; not the scheme, nor `www`.
fn url_pieces(url: &CanonicalUrl) -> Vec<String> {
    let host = url.host();
    let mut out = vec![host.strip_prefix("www.").unwrap_or(host).to_owned()];
    let readable = unescaped(url.path_and_query());
    out.extend(address_pieces(&readable).map(str::to_owned));
    out
}

/// Adds what a word is found by beside itself: its stem, the pieces of an identifier or of a
/// word with an apostrophe.
fn loosen(
    stems: &mut Stems,
    loose: &mut Feed,
    rules: Option<Rules>,
    token: Token<'_>,
    (hash, page): (u64, u32),
) {
    let (raw, folded) = (token.raw, token.text);
    if token.signs {
        let pieces = folded.split(['_', '\'']).filter(|piece| piece.len() > 1);
        for piece in pieces {
            if stems.first_on(piece, page) {
                loose.push(piece, 0);
            }
        }
    }
    let wordy = folded.len() > 2 && !folded.as_bytes()[0].is_ascii_digit();
    if let Some(rules) = rules.filter(|_| wordy)
        && let Some(stem) = stems.once(rules, raw, folded, hash, page)
    {
        loose.push(stem, 0);
    }
}

/// The pieces of a path and query that are words by themselves.
pub(crate) fn address_pieces(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '?', '&', '=', '_', '+']).filter(|piece| !piece.is_empty())
}

/// A path with its escapes undone, where they are text.
fn unescaped(path: &str) -> String {
    if !path.contains('%') {
        return path.to_owned();
    }
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |n: usize| bytes.get(at + n).and_then(|b| char::from(*b).to_digit(16));
        match (bytes[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
