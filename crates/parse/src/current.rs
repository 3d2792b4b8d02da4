//! The tag that is being read: its name and those of its attributes that are wanted.
//!
//! * What this is: the tokenizer hands over a tag in pieces; here they come together.
//! * Its place: `emit` fills it, `extract` reads it when the tag is complete.
//! * Invariants: of equal attributes the first counts; attributes nobody wants cost one test;
//!   all values share one buffer that is used again for the next tag.
//! * What is not here: what the tag means for the page, see `extract`.

use crate::fold::one_line;
use crate::tag::{Name, SLOTS, Slot, Tag};
use argiope_model::MAX_URL_BYTES;

/// Bytes of one attribute. A reference longer than four times the longest URL is refused by
/// `CanonicalUrl`, so one byte more is enough to know that.
const MAX_VALUE_BYTES: usize = 4 * MAX_URL_BYTES + 1;

/// The tag that is being read.
#[derive(Debug, Default)]
pub(crate) struct CurrentTag {
    pub(crate) name: Name,
    /// The name of the last start tag: raw text ends with an end tag of that name.
    pub(crate) last_start: Name,
    pub(crate) is_end: bool,
    pub(crate) self_closing: bool,
    /// What `name` means, once it is complete.
    tag: Option<Tag>,
    /// Slots still wanted of this tag.
    pub(crate) wanted: u16,
    pub(crate) attribute: Name,
    /// The slot that values go to.
    pub(crate) slot: Option<Slot>,
    /// Slots that were present.
    present: u16,
    /// All values one after another, and where each is.
    values: Vec<u8>,
    ranges: [(u32, u32); SLOTS],
}

impl CurrentTag {
    /// A new tag.
    pub(crate) fn begin(&mut self, is_end: bool) {
        self.name = Name::default();
        self.is_end = is_end;
        self.self_closing = false;
        self.tag = None;
        self.wanted = 0;
        self.attribute = Name::default();
        self.slot = None;
        self.present = 0;
        self.values.clear();
    }

    /// The meaning of the tag; its name is complete when the first attribute begins.
    #[inline]
    pub(crate) fn tag(&mut self) -> Tag {
        match self.tag {
            Some(tag) => tag,
            None => {
                let tag = self.name.tag();
                self.tag = Some(tag);
                self.wanted = if self.is_end { 0 } else { tag.slots() };
                tag
            }
        }
    }

    /// The attribute's name is complete: choose where its value goes.
    #[inline]
    pub(crate) fn end_attribute_name(&mut self) {
        if self.attribute.is_empty() {
            return;
        }
        let slot = self.attribute.slot().filter(|s| self.wanted & s.bit() != 0);
        self.attribute = Name::default();
        self.slot = slot;
        if let Some(slot) = slot {
            self.wanted &= !slot.bit();
            self.present |= slot.bit();
            let at = self.values.len() as u32;
            self.ranges[slot as usize] = (at, at);
        }
    }

    /// Adds to the value of the attribute, if it is wanted.
    #[inline]
    pub(crate) fn push_value(&mut self, s: &[u8]) {
        let Some(slot) = self.slot else { return };
        let (start, end) = &mut self.ranges[slot as usize];
        let room = MAX_VALUE_BYTES.saturating_sub((*end - *start) as usize);
        let s = &s[..s.len().min(room)];
        self.values.extend_from_slice(s);
        *end += s.len() as u32;
    }

    /// The value of an attribute; `None` when the tag has no such attribute.
    pub(crate) fn value(&self, slot: Slot) -> Option<&[u8]> {
        (self.present & slot.bit() != 0).then(|| {
            let (start, end) = self.ranges[slot as usize];
            &self.values[start as usize..end as usize]
        })
    }

    /// A value folded into one line.
    pub(crate) fn line(&self, slot: Slot, cap: usize) -> String {
        self.value(slot).map_or_else(String::new, |v| one_line(v, cap))
    }

    /// Whether one of the words of a value is `word`, whatever its case.
    pub(crate) fn has_word(&self, slot: Slot, word: &str) -> bool {
        self.value(slot).is_some_and(|v| {
            v.split(|b| b.is_ascii_whitespace()).any(|w| w.eq_ignore_ascii_case(word.as_bytes()))
        })
    }

    /// Whether a value is `text`, whatever its case.
    pub(crate) fn is(&self, slot: Slot, text: &str) -> bool {
        self.value(slot).is_some_and(|v| v.trim_ascii().eq_ignore_ascii_case(text.as_bytes()))
    }
}
