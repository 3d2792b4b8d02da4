//! Texts of pages shown lately, kept unpacked for the next snippet.
//!
//! * Why: pages with much text hold many words and come up again and again; unpacking one of them
//!   costs more than everything else of a search, while there are few of them. Short texts are
//!   unpacked every time, where they are read. In long ones the places of some words are
//!   remembered as well, so that nobody counts through them twice.
//! * Invariants: the texts kept take at most [`MOST`] bytes in all, per view of the index; those
//!   that were not asked for longest go first.

use argiope_archive::{ArchiveError, TextReader, TextRef};
use argiope_model::Location;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::analyse::events;

/// Bytes of all texts kept.
const MOST: usize = 48 << 20;
/// Texts shorter than this are not kept.
const LONG: usize = 1 << 10;
/// Texts shorter than this have no milestones: a word in them is quickly found.
const COUNTED: usize = 32 << 10;
/// Words between two milestones in a text.
const APART: u32 = 256;

#[derive(Default)]
pub(crate) struct Texts {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Where they lie; of another folder, other texts have the same places.
    dir: PathBuf,
    bytes: usize,
    /// Counts what is asked for.
    now: u64,
    texts: HashMap<(u32, u64), (u64, Arc<Long>)>,
}

struct Long {
    title: String,
    description: String,
    language: Option<String>,
    text: String,
    milestones: OnceLock<Vec<(u32, usize)>>,
}

/// What a snippet is cut out of.
pub(crate) struct Shown<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub language: Option<&'a str>,
    pub text: &'a str,
    long: Option<&'a Long>,
}

impl<'a> Shown<'a> {
    /// Positions of words and where they begin, some way apart; none in a text that is short or
    /// new here. The first who asks counts.
    pub fn milestones(&self) -> &'a [(u32, usize)] {
        match self.long {
            Some(long) => long.milestones.get_or_init(|| milestones(&long.text)),
            None => &[],
        }
    }
}

impl Texts {
    /// Shows the text at a place, of those that `reader` reads in `dir`.
    pub fn show<R>(
        &self,
        dir: &Path,
        reader: &mut TextReader<'_>,
        at: Location,
        show: impl FnOnce(Shown<'_>) -> R,
    ) -> Result<R, ArchiveError> {
        if let Some(long) = self.kept(dir, at) {
            return Ok(show(Shown {
                title: &long.title,
                description: &long.description,
                language: long.language.as_deref(),
                text: &long.text,
                long: Some(&*long).filter(|long| long.text.len() >= COUNTED),
            }));
        }
        reader.read(at, |text| {
            if text.text.len() >= LONG {
                self.keep(dir, at, &text);
            }
            show(Shown {
                title: text.title,
                description: text.description,
                language: text.language,
                text: text.text,
                long: None,
            })
        })
    }

    fn kept(&self, dir: &Path, at: Location) -> Option<Arc<Long>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.dir != dir {
            *kept = Kept { dir: dir.to_owned(), ..Kept::default() };
        }
        kept.now += 1;
        let now = kept.now;
        let (asked, long) = kept.texts.get_mut(&(at.segment, at.offset))?;
        *asked = now;
        Some(long.clone())
    }

    fn keep(&self, dir: &Path, at: Location, text: &TextRef<'_>) {
        let bytes = text.text.len();
        let long = Arc::new(Long {
            title: text.title.to_owned(),
            description: text.description.to_owned(),
            language: text.language.map(str::to_owned),
            text: text.text.to_owned(),
            milestones: OnceLock::new(),
        });
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.dir != dir || bytes > MOST / 8 {
            return;
        }
        while kept.bytes + bytes > MOST {
            let Some((&oldest, _)) = kept.texts.iter().min_by_key(|(_, (asked, _))| *asked) else {
                break;
            };
            if let Some((_, gone)) = kept.texts.remove(&oldest) {
                kept.bytes -= gone.text.len();
            }
        }
        let now = kept.now;
        if kept.texts.insert((at.segment, at.offset), (now, long)).is_none() {
            kept.bytes += bytes;
        }
    }
}

/// Positions of words and where they begin. Each stands behind white space, so that counting can
/// begin there.
fn milestones(text: &str) -> Vec<(u32, usize)> {
    let mut out = Vec::new();
    let (mut position, mut next) = (0, APART);
    events(text, |event| {
        position += 1;
        let before = event.start.checked_sub(1).map(|at| text.as_bytes()[at]);
        if position >= next && before.is_some_and(|byte| byte.is_ascii_whitespace()) {
            out.push((position, event.start));
            next = position + APART;
        }
        true
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_archive::{SegmentKind, Segments, TextBlob, encode_text};

    #[test]
    fn long_texts_are_kept_and_those_asked_for_last_stay() {
        let dir = tempfile::tempdir().unwrap();
        let mut segments = Segments::open(dir.path(), SegmentKind::Text, &[], 1 << 30).unwrap();
        let mut add = |word: &str, bytes: usize| {
            let text = word.repeat(bytes / word.len());
            let blob = TextBlob { title: word.into(), text, ..TextBlob::default() };
            segments.append(encode_text(&blob).into()).unwrap()
        };
        let short = add("short ", LONG - 10);
        let places: Vec<Location> =
            (0..15).map(|n| add(&format!("long{n:02} "), MOST / 10)).collect();
        segments.sync().unwrap();
        let texts = Texts::default();
        let mut reader = TextReader::new(dir.path());
        let mut title = |at: Location| {
            texts.show(dir.path(), &mut reader, at, |shown| shown.title.to_owned()).unwrap()
        };
        assert_eq!(title(short), "short ");
        for at in &places {
            title(*at);
            assert_eq!(title(places[0]), "long00 ");
        }
        let kept = texts.kept.lock().unwrap();
        let is_kept = |at: &Location| kept.texts.contains_key(&(at.segment, at.offset));
        assert!(is_kept(&places[0]) && is_kept(&places[14]) && !is_kept(&places[1]));
        assert!(!is_kept(&short) && kept.bytes <= MOST);
    }

    #[test]
    fn milestones_tell_positions() {
        let text = "node.js ünd x-y 中国人 ".repeat(300);
        for (position, start) in milestones(&text) {
            let (mut count, mut found) = (0, None);
            events(&text, |event| {
                count += 1;
                found = (count == position).then_some(event.start);
                found.is_none()
            });
            assert_eq!(found, Some(start));
        }
        assert!(milestones(&text).len() > 5);
    }
}
