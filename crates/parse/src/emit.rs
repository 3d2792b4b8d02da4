//! The tokenizer's side of the extractor: events in, calls out.
//!
//! * What this is: the implementation of the tokenizer's `Emitter` for [`Extractor`].
//! * Its place: the tokenizer calls it for every piece of input; it fills the current tag and
//!   calls `extract` when a tag is complete or characters arrive.
//! * Invariants: no event allocates; errors in the markup are not even looked for.
//! * What is not here: any decision about the page.

use crate::extract::{Extractor, Mode};
use crate::tag::Name;
use html5gum::{Emitter, Error, State};
use std::convert::Infallible;

impl Emitter for Extractor<'_> {
    type Token = Infallible;

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn emit_error(&mut self, _: Error) {}

    #[inline]
    fn pop_token(&mut self) -> Option<Infallible> {
        None
    }

    fn set_last_start_tag(&mut self, last_start_tag: Option<&[u8]>) {
        self.tags.last_start = Name::default();
        self.tags.last_start.push(last_start_tag.unwrap_or_default());
    }

    fn emit_eof(&mut self) {
        self.finish();
    }

    #[inline]
    fn emit_string(&mut self, s: &[u8]) {
        match self.mode {
            Mode::Shown => self.text.push(s),
            Mode::Title => self.title.push(s),
            Mode::Hidden => {}
        }
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.tags.begin(false);
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.tags.begin(true);
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let tag = self.tags.tag();
        self.tags.end_attribute_name();
        if self.tags.is_end {
            self.end_tag(tag);
            return None;
        }
        self.tags.last_start = self.tags.name;
        self.start_tag(tag)
    }

    #[inline]
    fn set_self_closing(&mut self) {
        self.tags.self_closing = true;
    }

    #[inline]
    fn push_tag_name(&mut self, s: &[u8]) {
        self.tags.name.push(s);
    }

    #[inline]
    fn init_attribute(&mut self) {
        self.tags.tag();
        if self.tags.wanted != 0 {
            self.tags.end_attribute_name();
        }
        self.tags.slot = None;
    }

    #[inline]
    fn push_attribute_name(&mut self, s: &[u8]) {
        if self.tags.wanted != 0 {
            self.tags.attribute.push(s);
        }
    }

    #[inline]
    fn init_attribute_value(&mut self) {
        self.tags.end_attribute_name();
    }

    #[inline]
    fn push_attribute_value(&mut self, s: &[u8]) {
        self.tags.push_value(s);
    }

    #[inline]
    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.tags.is_end && self.tags.last_start == self.tags.name
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        self.foreign > 0
    }

    // Comments and document types hold nothing.
    fn init_comment(&mut self) {}
    fn emit_current_comment(&mut self) {}
    fn push_comment(&mut self, _: &[u8]) {}
    fn init_doctype(&mut self) {}
    fn emit_current_doctype(&mut self) {}
    fn set_force_quirks(&mut self) {}
    fn push_doctype_name(&mut self, _: &[u8]) {}
    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}
    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}
}
