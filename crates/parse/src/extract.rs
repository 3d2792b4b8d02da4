//! One pass over the tokens of a page: what every tag does to it.
//!
//! * What this is: the receiver of the tokenizer's events. It holds what is open (an anchor, a
//!   heading, a template) as marks into the growing text, so that link words and headings are
//!   cut out of the text and nothing is kept twice.
//! * Its place: `page` runs the tokenizer with it. `emit` calls it for
//!   every complete tag; it calls `fold` for text and `collect` for links and the head.
//! * States of the text: shown, part of the title, or not shown (scripts, styles, templates).
//!   The tokenizer is told to read raw text where HTML has it; `<noscript>` and `<noframes>`
//!   are markup, because scripts do not run here and frames are not drawn.
//! * Invariants: every list and every value has a limit, so an endless page ends in
//!   `truncated`.
//! * What is not here: resolving (`resolve`), and the tree. An element left open ends where the
//!   next of its kind begins.

use crate::around::Around;
use crate::collect::Anchor;
use crate::current::CurrentTag;
use crate::fold::{Folded, one_line};
use crate::page::{Heading, Page};
use crate::tag::Tag;
use argiope_model::LinkKind;
use html5gum::State;

/// Bytes of visible text that are kept.
pub(crate) const MAX_TEXT_BYTES: usize = 16 << 20;
/// Bytes of one heading, of the title, of the description.
pub(crate) const MAX_LINE_BYTES: usize = 2048;
/// Headings that are kept.
const MAX_HEADINGS: usize = 10_000;

/// Where characters go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Shown,
    Title,
    Hidden,
}

/// The receiver of tokens. It writes into a page it borrows, since the tokenizer keeps it.
#[derive(Debug)]
pub(crate) struct Extractor<'p> {
    pub(crate) page: &'p mut Page,
    pub(crate) text: Folded,
    pub(crate) title: Folded,
    pub(crate) mode: Mode,
    /// A description made for sharing, for pages that have no other.
    pub(crate) shared_description: String,
    pub(crate) anchor: Option<Anchor>,
    /// The `title` of the anchor, used again for the next: most anchors have words.
    pub(crate) anchor_title: Vec<u8>,
    /// Bytes that the links take, see `collect`.
    pub(crate) link_bytes: usize,
    heading: Option<(u8, usize)>,
    pub(crate) around: Around,
    templates: u32,
    /// How deep inside `svg` or `math`; 0 = HTML.
    pub(crate) foreign: u32,
    /// Where to return to when HTML inside SVG ends.
    islands: Vec<u32>,
    pub(crate) tags: CurrentTag,
}

impl<'p> Extractor<'p> {
    /// An extractor for a page of about `size` bytes.
    pub(crate) fn new(page: &'p mut Page, size: usize) -> Self {
        Extractor {
            page,
            // Documentation has a third of text, shops and newspapers a tenth.
            text: Folded::new(MAX_TEXT_BYTES, size / 8),
            title: Folded::new(MAX_LINE_BYTES, 0),
            mode: Mode::Shown,
            shared_description: String::new(),
            anchor: None,
            anchor_title: Vec::new(),
            link_bytes: 0,
            heading: None,
            around: Around::default(),
            templates: 0,
            foreign: 0,
            islands: Vec::new(),
            tags: CurrentTag::default(),
        }
    }

    /// Moves the texts into the page. The tokenizer says when the input has ended.
    pub(crate) fn finish(&mut self) {
        self.close_anchor();
        self.close_heading();
        self.page.truncated |= self.text.is_full();
        self.page.text = std::mem::replace(&mut self.text, Folded::new(0, 0)).into_string();
        self.page.around = std::mem::take(&mut self.around).lines(self.page.text.as_bytes());
        if self.page.description.is_empty() {
            self.page.description = std::mem::take(&mut self.shared_description);
        }
        let title = std::mem::replace(&mut self.title, Folded::new(0, 0)).into_string();
        self.page.title = one_line(title.as_bytes(), MAX_LINE_BYTES);
    }

    fn shown_or_hidden(&self) -> Mode {
        if self.templates > 0 { Mode::Hidden } else { Mode::Shown }
    }

    pub(crate) fn start_tag(&mut self, tag: Tag) -> Option<State> {
        match tag {
            Tag::Other => {}
            Tag::Block => {
                self.break_out();
                self.text.break_line();
            }
            Tag::Around(kind) => {
                self.break_out();
                self.text.break_line();
                self.around.open(kind, self.text.mark());
            }
            Tag::Cell => {
                self.break_out();
                self.text.break_word();
            }
            Tag::Br => self.text.break_line(),
            Tag::A => self.open_anchor(),
            Tag::Img => self.image(),
            Tag::Heading(level) => {
                self.break_out();
                self.close_heading();
                self.text.break_line();
                self.heading = Some((level, self.text.mark()));
            }
            Tag::Area => self.area(),
            Tag::Frame => self.frame(LinkKind::Frame),
            Tag::Iframe => {
                self.frame(LinkKind::Iframe);
                return self.raw(Mode::Hidden, State::RawText);
            }
            Tag::Link => self.link_element(),
            Tag::Meta => self.meta(),
            Tag::Base => self.base(),
            Tag::Html => self.html(),
            Tag::Script => return self.raw(Mode::Hidden, State::ScriptData),
            Tag::Raw => return self.raw(Mode::Hidden, State::RawText),
            Tag::Title if self.foreign > 0 => {
                // The name of a picture: markup, and not shown.
                self.mode = Mode::Hidden;
            }
            Tag::Title => {
                let mode = if self.title.is_empty() { Mode::Title } else { Mode::Hidden };
                return self.raw(mode, State::RcData);
            }
            Tag::Textarea => {
                self.text.break_line();
                return self.raw(self.shown_or_hidden(), State::RcData);
            }
            Tag::Xmp => {
                self.text.break_line();
                return self.raw(self.shown_or_hidden(), State::RawText);
            }
            Tag::Plaintext => {
                self.text.break_line();
                return self.raw(self.shown_or_hidden(), State::PlainText);
            }
            Tag::Template => {
                if self.foreign == 0 {
                    self.templates += 1;
                    self.mode = Mode::Hidden;
                }
            }
            Tag::Foreign => {
                self.text.break_word();
                if !self.tags.self_closing {
                    self.foreign = self.foreign.saturating_add(1);
                }
            }
            Tag::Island => {
                // Bounded, because nesting costs memory.
                if self.foreign > 0 && !self.tags.self_closing && self.islands.len() < 64 {
                    self.islands.push(self.foreign);
                    self.foreign = 0;
                }
            }
        }
        None
    }

    pub(crate) fn end_tag(&mut self, tag: Tag) {
        self.mode = self.shown_or_hidden();
        match tag {
            Tag::Block | Tag::Textarea | Tag::Xmp | Tag::Br => self.text.break_line(),
            Tag::Around(kind) => {
                self.text.break_line();
                self.around.close(kind, self.text.mark());
            }
            Tag::Cell => self.text.break_word(),
            Tag::A => self.close_anchor(),
            Tag::Heading(_) => {
                self.close_heading();
                self.text.break_line();
            }
            Tag::Template => {
                self.templates = self.templates.saturating_sub(1);
                self.mode = self.shown_or_hidden();
            }
            Tag::Foreign => {
                self.text.break_word();
                self.foreign = self.foreign.saturating_sub(1);
            }
            Tag::Island => {
                if let Some(foreign) = self.islands.pop() {
                    self.foreign = foreign;
                }
            }
            _ => {}
        }
    }

    /// HTML's own elements end an `<svg>` that was left open.
    fn break_out(&mut self) {
        if self.foreign > 0 {
            self.foreign = 0;
            self.islands.clear();
        }
    }

    /// The element's content is read raw. Not so an empty element of SVG: it has none, and
    /// waiting for its end tag would swallow the rest of the page.
    fn raw(&mut self, mode: Mode, state: State) -> Option<State> {
        if self.foreign > 0 && self.tags.self_closing {
            return None;
        }
        self.mode = if self.templates > 0 { Mode::Hidden } else { mode };
        Some(state)
    }

    fn close_heading(&mut self) {
        let Some((level, mark)) = self.heading.take() else { return };
        let text = self.text.since(mark, MAX_LINE_BYTES);
        if !text.is_empty() && self.page.headings.len() < MAX_HEADINGS {
            self.page.headings.push(Heading { level, text });
        }
    }
}
