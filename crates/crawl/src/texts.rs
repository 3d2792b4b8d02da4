//! Texts made again from the archive.
//!
//! ```text
//!  lost files ──▶ their lengths ──▶ index ──▶ every capture without a text it could have:
//!  noticed        in the store      gone      record read, parsed, text appended; in groups:
//!                                             texts synced, then one store batch
//! ```
//!
//! * What this is: `reindex --from-archive`. A text can be made again from the record it was taken
//!   from: where its file is gone or damaged, where an older parser made it, or where there was no
//!   parser for its type when it was fetched.
//! * States: a text is whole and of today, or it is made again. What was made is committed group by
//!   group, so the same command goes on where a kill cut it short.
//! * Invariants: new texts never come to lie where lost ones lay, so that no capture is ever given
//!   the text of another: a new segment is begun first. A text that several captures have in common
//!   stays common to them. The index is thrown away before the first text moves: it holds places.
//! * What is not here: the index (`words`), links (those of a page are kept as they were).

use crate::content::{content_of, first_bytes};
use crate::data_dir::DataDir;
use crate::disk;
use crate::run::EngineError;
use crate::settings::EngineSettings;
use crate::world::Clock;
use argiope_archive::{
    ArchiveError, Prepared, SegmentKind as ArchiveKind, Segments, http_status, open_record,
    read_text, text_segment_name,
};
use argiope_fetch::{Fetcher, Head};
use argiope_model::{Capture, Location, OutcomeKind, Role, UrlKey};
use argiope_parse as parse;
use argiope_store::{
    Batch, Forget, Moved, Payload, SegmentKind, Store, StoreError, UrlRow, UrlState,
};
use serde::Serialize;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Captures committed together, and bytes of their texts.
const GROUP: usize = 256;
const GROUP_BYTES: u64 = 16 << 20;

/// What became of the texts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Texts {
    /// Captures looked at.
    pub captures: u64,
    /// Texts that were as they should be.
    pub whole: u64,
    /// Texts made again.
    pub made: u64,
    /// Texts that are lost: their pages were not archived.
    pub lost: u64,
    /// Texts that are lost until their records can be read again.
    pub unreadable: u64,
}

/// Why texts were not made again.
#[derive(Debug, thiserror::Error)]
pub enum TextsError {
    /// Something of ours failed.
    #[error(
        "the texts cannot be made again; what was made stays, and the same command goes on later"
    )]
    Failed(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// There is too little room.
    #[error("only {free} bytes are free where {} lies, {wanted} are to be left; what was made stays, and the same command goes on later", path.display())]
    Full {
        /// The data directory.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes to be left.
        wanted: u64,
    },
}

fn failed(e: impl std::error::Error + Send + Sync + 'static) -> TextsError {
    TextsError::Failed(Arc::new(e))
}

impl From<StoreError> for TextsError {
    fn from(e: StoreError) -> Self {
        failed(e)
    }
}

impl From<ArchiveError> for TextsError {
    fn from(e: ArchiveError) -> Self {
        failed(e)
    }
}

/// Makes every text again that is missing, damaged or of an older parser, from the records of a
/// directory that the caller has locked.
pub fn texts_again(
    dir: &DataDir,
    store: &dyn Store,
    settings: &EngineSettings,
    mut progress: impl FnMut(&Texts),
) -> Result<Texts, TextsError> {
    let mut fetch = settings.fetch.clone();
    fetch.spool_dir = dir.spool().join("bodies");
    fetch.body_memory = settings.body_memory();
    let fetcher = Fetcher::new(fetch).map_err(|e| failed(EngineError::Start(e.into())))?;
    mend_segments(dir, store)?;
    let committed = store.segments(SegmentKind::Text)?;
    let text = Segments::open(&dir.text(), ArchiveKind::Text, &committed, settings.segment_bytes)?;
    let committed = committed.into_iter().collect();
    let mut work = Work {
        dir,
        store,
        settings,
        fetcher,
        text,
        committed,
        moved: Vec::new(),
        weight: 0,
        out: Texts::default(),
    };
    let mut after = None;
    loop {
        let page = store.scan_urls(after, 512)?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        for (key, row) in page {
            if row.state == UrlState::Forgotten {
                continue;
            }
            for capture in store.captures(key)? {
                work.capture(key, &row, capture)?;
            }
        }
        progress(&work.out);
    }
    work.commit()?;
    progress(&work.out);
    Ok(work.out)
}

/// Files that are gone or cut short are known to the store as what is left of them, and a new
/// segment is begun, all in one batch.
fn mend_segments(dir: &DataDir, store: &dyn Store) -> Result<(), TextsError> {
    let committed = store.segments(SegmentKind::Text)?;
    let at = dir.text();
    fs::create_dir_all(&at).map_err(failed)?;
    let mut segments = Vec::new();
    for (segment, length) in &committed {
        let path = at.join(text_segment_name(*segment));
        let found = match fs::metadata(&path) {
            Ok(meta) => Some(meta.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(failed(e)),
        };
        // One that was lost before is known as empty, and is to be there all the same.
        if found.is_none_or(|found| found < *length) {
            let found = found.unwrap_or(0);
            File::options().append(true).create(true).open(&path).map_err(failed)?;
            segments.push((SegmentKind::Text, *segment, found));
        }
    }
    if segments.is_empty() {
        return Ok(());
    }
    let next = committed.iter().map(|(segment, _)| *segment).max().unwrap_or(0) + 1;
    // What a crash left under that name was never committed.
    File::create(at.join(text_segment_name(next))).map_err(failed)?;
    segments.push((SegmentKind::Text, next, 0));
    File::open(&at).and_then(|at| at.sync_all()).map_err(failed)?;
    store.commit(Batch { now: Clock::System.now(), segments, ..Batch::default() })?;
    Ok(())
}

struct Work<'a> {
    dir: &'a DataDir,
    store: &'a dyn Store,
    settings: &'a EngineSettings,
    fetcher: Fetcher,
    text: Segments,
    /// How far the segments reach, as far as that is committed.
    committed: HashMap<u32, u64>,
    /// What is to be committed next, and the bytes of it.
    moved: Vec<Moved>,
    weight: u64,
    out: Texts,
}

/// What a record gives.
enum Read {
    Text(Vec<u8>),
    /// It says nothing.
    Nothing,
    /// It cannot be read.
    Damaged,
}

impl Work<'_> {
    fn capture(&mut self, key: UrlKey, row: &UrlRow, capture: Capture) -> Result<(), TextsError> {
        self.out.captures += 1;
        match capture.text {
            Some(at) if self.is_whole(at) => {
                self.out.whole += 1;
                return Ok(());
            }
            None if !could_have_text(row, &capture) => return Ok(()),
            _ => {}
        }
        let before = capture.text;
        let site = self.dir.suffixes().site_key(row.url.host());
        let payload = Payload { site, digest: capture.payload_digest };
        let first = self.store.payloads(&[(site, capture.payload_digest)])?.pop().flatten();
        let is_first = first.as_ref().is_some_and(|f| f.url == row.url && f.time == capture.time);
        let shared = first.as_ref().filter(|_| !is_first && capture.revisit).and_then(|f| f.text);
        let text = match shared.filter(|at| self.is_whole(*at)) {
            Some(at) => Some(at),
            None => {
                let record = match (capture.revisit, &first) {
                    (false, _) => capture.record,
                    (true, Some(first)) => {
                        let captures = self.store.captures(first.url.key(self.dir.suffixes()))?;
                        let held = captures.into_iter().find(|c| c.time == first.time);
                        held.filter(|c| !c.revisit).and_then(|c| c.record)
                    }
                    (true, None) => None,
                };
                let read = match record {
                    Some(at) => self.read(row, at)?,
                    None if before.is_some() => {
                        self.out.lost += 1;
                        Read::Nothing
                    }
                    None => return Ok(()),
                };
                match read {
                    Read::Text(text) => {
                        self.weight += text.len() as u64;
                        Some(self.text.append(Prepared::Bytes(text))?)
                    }
                    Read::Nothing => None,
                    Read::Damaged => {
                        self.out.unreadable += u64::from(before.is_some());
                        return Ok(());
                    }
                }
            }
        };
        if text == before {
            return Ok(());
        }
        self.out.made += u64::from(text.is_some());
        let capture = Capture { text, ..capture };
        self.moved.push(Moved { key, capture, payload: is_first.then_some(payload) });
        match self.moved.len() >= GROUP || self.weight >= GROUP_BYTES {
            true => self.commit(),
            false => Ok(()),
        }
    }

    /// Whether a text can be read and is what the parser of today makes.
    fn is_whole(&self, at: Location) -> bool {
        let end = at.offset.saturating_add(at.length);
        let known = self.committed.get(&at.segment).is_some_and(|length| end <= *length);
        known
            && read_text(&self.dir.text(), at)
                .is_ok_and(|text| text.parser_version >= parse::PARSER_VERSION)
    }

    /// Reads a record as a visit reads an answer.
    fn read(&self, row: &UrlRow, at: Location) -> Result<Read, TextsError> {
        let told = |e: &dyn std::fmt::Display| {
            tracing::warn!("the record of {} cannot be read: {e}", row.url);
            Ok(Read::Damaged)
        };
        let mut record = match open_record(&self.dir.warc(), at) {
            Ok(record) => record,
            Err(e) => return told(&e),
        };
        let raw = record.http_head().to_vec();
        let body = match self.fetcher.gather(&mut record) {
            Ok(body) => body,
            Err(e) => return told(&e),
        };
        let head = Head::archived(http_status(&raw).unwrap_or(0), raw);
        let coding = head.content_encoding().unwrap_or_default().into_owned();
        let Ok(plain) = self.fetcher.decode(&body, &coding) else { return Ok(Read::Nothing) };
        let (declared, ending) = (head.content_type(), row.url.extension());
        let first = first_bytes(&plain).map_err(failed)?;
        let media = parse::media_type(declared.as_deref(), &first, ending.as_deref());
        let content = content_of(&row.url, &media, &plain, None).map_err(failed)?;
        Ok(content.text.map_or(Read::Nothing, Read::Text))
    }

    /// Makes what was gathered durable: texts first, then the captures that point to them.
    fn commit(&mut self) -> Result<(), TextsError> {
        if self.moved.is_empty() {
            return Ok(());
        }
        let (path, wanted) = (self.dir.path(), self.settings.min_free_disk);
        let free = disk::free_bytes(path).unwrap_or(u64::MAX);
        if free < wanted {
            return Err(TextsError::Full { path: path.to_owned(), free, wanted });
        }
        match fs::remove_dir_all(self.dir.index()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        self.text.sync()?;
        let lengths = self.text.lengths();
        for (segment, length) in &lengths {
            self.committed.insert(*segment, *length);
        }
        let segments = lengths.into_iter().map(|(n, len)| (SegmentKind::Text, n, len)).collect();
        let forget = Forget { moved: std::mem::take(&mut self.moved), ..Forget::default() };
        self.weight = 0;
        let now = Clock::System.now();
        self.store.commit(Batch { now, segments, forget, ..Batch::default() })?;
        Ok(())
    }
}

/// Whether a page that has no text would be given one today.
fn could_have_text(row: &UrlRow, capture: &Capture) -> bool {
    capture.outcome.kind == OutcomeKind::Fetched
        && row.role == Role::Page
        && matches!(parse::type_group(&capture.mime), "html" | "text" | "pdf")
}
