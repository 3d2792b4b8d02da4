//! The links of a page and what its head says, taken from complete tags.
//!
//! * What this is: the other half of the extractor: `extract` follows the text, this collects
//!   links, the base, the language, the description and the orders to robots.
//! * Its place: `extract` calls a method per element. It calls `refresh` and `language`.
//! * Invariants: the first `<base href>` counts; a link into the page itself (`#…`) is none;
//!   the links of one page are bounded in number and in bytes.
//! * What is not here: resolving, see `resolve`.

use crate::directives;
use crate::extract::{Extractor, MAX_LINE_BYTES};
use crate::fold::{into_text, one_line};
use crate::language::primary_tag;
use crate::page::{RawLink, RobotsTag};
use crate::refresh;
use crate::tag::Slot;
use argiope_model::Directives;
use argiope_model::LinkKind;

/// Links that are kept.
const MAX_LINKS: usize = 200_000;
/// Bytes of references and words that are kept.
const MAX_LINK_BYTES: usize = 64 << 20;
/// Tags for robots that are kept.
const MAX_ROBOTS_TAGS: usize = 64;
/// Bytes of the words of one link.
const MAX_WORDS_BYTES: usize = 512;

/// An `<a>` that has not ended yet.
#[derive(Debug)]
pub(crate) struct Anchor {
    /// Its place in the list of links.
    link: usize,
    /// Where its words begin in the text.
    mark: usize,
    /// What to call it when it has no words: the first `alt` inside.
    alt: String,
}

impl Extractor<'_> {
    /// Adds a link; `None` when there is no reference, or only one into this page.
    fn link(&mut self, slot: Slot, kind: LinkKind, words: String) -> Option<usize> {
        let href = self.tags.value(slot)?.trim_ascii();
        if href.first() == Some(&b'#') {
            return None;
        }
        let href = into_text(href.to_vec());
        let nofollow = self.tags.has_word(Slot::Rel, "nofollow");
        let at = self.text.mark() as u32;
        self.push_link(RawLink { href, words, kind, nofollow, at })
    }

    fn push_link(&mut self, link: RawLink) -> Option<usize> {
        self.link_bytes += link.href.len() + link.words.len();
        if self.page.links.len() >= MAX_LINKS || self.link_bytes > MAX_LINK_BYTES {
            self.page.truncated = true;
            return None;
        }
        self.page.links.push(link);
        Some(self.page.links.len() - 1)
    }

    /// `<a>`
    pub(crate) fn open_anchor(&mut self) {
        self.close_anchor();
        let slot = match self.tags.value(Slot::Href) {
            Some(_) => Slot::Href,
            None => Slot::XlinkHref,
        };
        if let Some(link) = self.link(slot, LinkKind::Anchor, String::new()) {
            self.anchor = Some(Anchor { link, mark: self.text.mark(), alt: String::new() });
            self.anchor_title.clear();
            self.anchor_title.extend_from_slice(self.tags.value(Slot::Title).unwrap_or_default());
        }
    }

    /// The anchor has ended: now its words are known.
    pub(crate) fn close_anchor(&mut self) {
        let Some(Anchor { link, mark, alt }) = self.anchor.take() else { return };
        self.around.link(mark..self.text.mark());
        let mut words = self.text.since(mark, MAX_WORDS_BYTES);
        if words.is_empty() {
            words = alt;
        }
        if words.is_empty() {
            words = one_line(&self.anchor_title, MAX_WORDS_BYTES);
        }
        self.link_bytes += words.len();
        self.page.links[link].words = words;
    }

    /// Inside a link without words an image lends it its `alt`.
    pub(crate) fn image(&mut self) {
        if let Some(anchor) = self.anchor.as_mut().filter(|a| a.alt.is_empty()) {
            anchor.alt = self.tags.line(Slot::Alt, MAX_WORDS_BYTES);
        }
    }

    /// `<area>`
    pub(crate) fn area(&mut self) {
        let mut words = self.tags.line(Slot::Alt, MAX_WORDS_BYTES);
        if words.is_empty() {
            words = self.tags.line(Slot::Title, MAX_WORDS_BYTES);
        }
        self.link(Slot::Href, LinkKind::Area, words);
    }

    /// `<frame>` and `<iframe>`
    pub(crate) fn frame(&mut self, kind: LinkKind) {
        let words = self.tags.line(Slot::Title, MAX_WORDS_BYTES);
        self.link(Slot::Src, kind, words);
    }

    /// `<base>`
    pub(crate) fn base(&mut self) {
        if let (None, Some(href)) = (&self.page.base, self.tags.value(Slot::Href)) {
            self.page.base = Some(into_text(href.trim_ascii().to_vec()));
        }
    }

    /// `<html>`
    pub(crate) fn html(&mut self) {
        if self.page.language.is_none() {
            let lang = self.tags.value(Slot::Lang).or_else(|| self.tags.value(Slot::XmlLang));
            self.page.language = lang.and_then(primary_tag);
        }
    }

    /// `<link>`
    pub(crate) fn link_element(&mut self) {
        let rel = |word| self.tags.has_word(Slot::Rel, word);
        let kind = if rel("canonical") {
            LinkKind::Canonical
        } else if rel("alternate") && !rel("stylesheet") {
            LinkKind::Alternate
        } else if rel("next") || rel("prev") || rel("previous") {
            LinkKind::Sequence
        } else {
            return;
        };
        let words = self.tags.line(Slot::Title, MAX_WORDS_BYTES);
        self.link(Slot::Href, kind, words);
    }

    /// `<meta>`
    pub(crate) fn meta(&mut self) {
        let Some(content) = self.tags.value(Slot::Content) else { return };
        if self.tags.is(Slot::HttpEquiv, "refresh") {
            let content = String::from_utf8_lossy(content);
            if let Some(href) = refresh::target(&content).filter(|u| !u.starts_with('#')) {
                let (href, words) = (href.trim_ascii().to_owned(), String::new());
                let (kind, nofollow, at) = (LinkKind::Refresh, false, self.text.mark() as u32);
                self.push_link(RawLink { href, words, kind, nofollow, at });
            }
        } else if self.tags.is(Slot::HttpEquiv, "content-language") {
            if self.page.language.is_none() {
                self.page.language = primary_tag(content);
            }
        } else if self.tags.is(Slot::Name, "description") && self.page.description.is_empty() {
            self.page.description = one_line(content, MAX_LINE_BYTES);
        } else if self.tags.is(Slot::Property, "og:description") {
            self.shared_description = one_line(content, MAX_LINE_BYTES);
        } else if content.len() <= MAX_LINE_BYTES
            && self.page.robots.len() < MAX_ROBOTS_TAGS
            && let Some(name) = self.tags.value(Slot::Name)
        {
            // Any name may be the one of a robot; only what forbids something matters.
            let content = String::from_utf8_lossy(content.trim_ascii());
            if directives::words(&content) != Directives::default() {
                let name = one_line(name, MAX_WORDS_BYTES);
                self.page.robots.push(RobotsTag { name, content: content.into_owned() });
            }
        }
    }
}
