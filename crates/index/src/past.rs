//! The past: versions of pages that are no more, in an index of their own.
//!
//! * What this is: a second index below the first, with a document for every version of a page that
//!   ended: when another text took its place, or the page went. Its fields are those of pages, and when
//!   it ended. It is made with the first such version; a crawl that sees every page once never makes it.
//! * Its place: the follower ([`Index`]) puts a page's versions here as rows of the change log come by
//!   ([`Index::keep_past`]); only searches that name a time look here.
//! * Invariants: a version stands here once, under its page and its beginning; what is here is what
//!   `versions` makes of the captures, whatever was here before. It is committed before the index that
//!   says how far the log was read, so that after a crash it may know more, never less; what is read
//!   again is put in the same place. An index whose past is missing or older is made again.
//! * Links: others call a page by what it is today. Versions are found by their own words, title,
//!   headings and URL.

use crate::analyse::Flow;
use crate::error::IndexError;
use crate::index::{Found, Index, Progress, Source, io, open_known, said, unreadable};
use crate::links::LinkedAs;
use crate::page::Press;
use crate::schema::{FORMAT, Fields, PastFields, tokenizers};
use crate::versions::{Held, Hints, Version, versions};
use argiope_model::{Capture, DocId, Time};
use argiope_store::UrlRow;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyError, Term};

/// Its name below the directory of the index.
const DIR: &str = "past";
/// Memory of its writer: the least that tantivy takes.
const MEMORY: usize = 16 << 20;

pub(crate) struct Past {
    dir: PathBuf,
    fields: Fields,
    more: PastFields,
    flow: Arc<Flow>,
    /// Bytes that may be under way.
    room: usize,
    /// `None` where nothing has ended yet.
    index: Option<tantivy::Index>,
    reader: Option<IndexReader>,
    /// Opened when something is written.
    writer: Option<IndexWriter>,
    /// How often it was committed.
    commits: u64,
    pending: bool,
    /// The versions of pages that were looked at since the last commit, today's included.
    fresh: HashMap<DocId, Vec<Held>>,
}

/// What a commit says.
#[derive(Serialize, Deserialize)]
struct Payload {
    format: u32,
    commits: u64,
}

impl Past {
    /// Opens the past of an index; `commits` is what the index knows of it.
    pub fn open(
        index: &Path,
        commits: u64,
        flow: Arc<Flow>,
        room: usize,
    ) -> Result<Self, IndexError> {
        let (schema, fields, more) = Fields::past_schema();
        let mut past = Past {
            dir: index.join(DIR),
            fields,
            more,
            flow,
            room,
            index: None,
            reader: None,
            writer: None,
            commits: 0,
            pending: false,
            fresh: HashMap::new(),
        };
        if past.dir.join("meta.json").exists() {
            let opened = open_known(&past.dir, &schema, past.flow.clone())?;
            if let Some(text) = said(&opened, &past.dir)? {
                let payload = serde_json::from_str::<Payload>(&text);
                past.commits = payload.map_err(unreadable(&past.dir))?.commits;
            }
            past.take(opened)?;
        }
        if past.commits < commits {
            let why = "it is older than the index it belongs to".to_owned();
            return Err(IndexError::Damaged { path: past.dir, why });
        }
        Ok(past)
    }

    /// Throws away what lies where the past of an index would.
    pub fn remove(index: &Path) -> Result<(), IndexError> {
        let dir = index.join(DIR);
        match fs::remove_dir_all(&dir) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io("delete", &dir)(e)),
            _ => Ok(()),
        }
    }

    fn take(&mut self, index: tantivy::Index) -> Result<(), IndexError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.try_into().map_err(IndexError::tantivy("open", &self.dir))?;
        (self.index, self.reader) = (Some(index), Some(reader));
        Ok(())
    }

    pub fn searcher(&self) -> Option<Searcher> {
        self.reader.as_ref().map(IndexReader::searcher)
    }

    /// How often it was committed: what the index it belongs to says of it.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// What was put in or left since the last commit of a page's versions.
    pub fn fresh(&self, doc: DocId) -> Option<&Vec<Held>> {
        self.fresh.get(&doc)
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, IndexError> {
        let failed = IndexError::tantivy("open", &self.dir);
        if self.index.is_none() {
            fs::create_dir_all(&self.dir).map_err(io("make", &self.dir))?;
            let directory = MmapDirectory::open(&self.dir).map_err(|e| failed(e.into()))?;
            let builder = tantivy::Index::builder().schema(Fields::past_schema().0);
            let builder = builder.tokenizers(tokenizers(self.flow.clone()));
            let index = builder.open_or_create(directory).map_err(&failed)?;
            self.take(index)?;
        }
        if let (None, Some(index)) = (&self.writer, &self.index) {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .memory_budget_per_thread(MEMORY)
                .num_merge_threads(1)
                .build();
            let writer = index.writer_with_options(options).map_err(|e| match e {
                TantivyError::LockFailure(LockError::LockBusy, _) => {
                    IndexError::Locked(self.dir.clone())
                }
                e => failed(e),
            })?;
            writer.set_merge_policy(Box::new(LogMergePolicy::default()));
            self.writer = Some(writer);
        }
        self.pending = true;
        Ok(self.writer.as_mut().expect("it was opened just now"))
    }

    fn name(doc: DocId, from: Time) -> String {
        format!("{}@{}", doc.0, from.0)
    }

    fn drop_version(&mut self, doc: DocId, from: Time) -> Result<(), IndexError> {
        let term = Term::from_field_text(self.more.version, &Self::name(doc, from));
        self.writer()?.delete_term(term);
        Ok(())
    }

    /// Puts a version in; whoever calls has dropped what was there of it.
    fn put(
        &mut self,
        press: &mut Press,
        page: &crate::Page<'_>,
        until: Time,
    ) -> Result<(), IndexError> {
        let (mut document, bytes) = press.document(&self.fields, page);
        document.add_i64(self.more.until, until.0);
        document.add_text(self.more.version, Self::name(page.doc, page.from));
        let (flow, room) = (self.flow.clone(), self.room);
        let failed = IndexError::tantivy("add a version", &self.dir);
        let writer = self.writer()?;
        flow.put(bytes, room);
        writer.add_document(document).map_err(failed)?;
        Ok(())
    }

    /// Makes durable and visible what was put in.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        self.fresh.clear();
        let (Some(writer), true) = (&mut self.writer, self.pending) else { return Ok(()) };
        let failed = IndexError::tantivy("commit", &self.dir);
        let payload = Payload { format: FORMAT, commits: self.commits + 1 };
        let payload = serde_json::to_string(&payload).map_err(|e| failed(e.into()))?;
        let mut commit = writer.prepare_commit().map_err(&failed)?;
        commit.set_payload(&payload);
        commit.commit().map_err(&failed)?;
        self.commits += 1;
        self.pending = false;
        self.reader.as_ref().map_or(Ok(()), IndexReader::reload).map_err(&failed)
    }

    /// Throws away what was put in, and what was there.
    pub fn clear(&mut self) -> Result<(), IndexError> {
        self.fresh.clear();
        if self.index.is_none() {
            return Ok(());
        }
        let failed = IndexError::tantivy("begin anew", &self.dir);
        let writer = self.writer()?;
        writer.rollback().map_err(&failed)?;
        writer.delete_all_documents().map_err(&failed)?;
        self.flow.clear();
        Ok(())
    }

    /// Merges everything into one segment, so that its files hold nothing that has left.
    pub fn settle(&mut self) -> Result<(), IndexError> {
        let Some(index) = self.index.clone() else { return Ok(()) };
        let failed = IndexError::tantivy("merge", &self.dir);
        let segments = index.searchable_segment_metas().map_err(&failed)?;
        if segments.len() > 1 || segments.iter().any(|meta| meta.has_deletes()) {
            let ids: Vec<_> = segments.iter().map(|meta| meta.id()).collect();
            let was = self.pending;
            let writer = self.writer()?;
            writer.merge(&ids).wait().map_err(&failed)?;
            writer.garbage_collect_files().wait().map_err(&failed)?;
            self.pending = was;
            self.reader.as_ref().map_or(Ok(()), IndexReader::reload).map_err(&failed)?;
        }
        Ok(())
    }

    /// Waits until segments that are being merged are, and lets go.
    pub fn finish(self) -> Result<Option<Searcher>, IndexError> {
        let failed = IndexError::tantivy("merge", &self.dir);
        if let Some(writer) = self.writer {
            writer.wait_merging_threads().map_err(&failed)?;
        }
        let Some(reader) = self.reader else { return Ok(None) };
        reader.reload().map_err(&failed)?;
        Ok(Some(reader.searcher()))
    }
}

impl Index {
    /// Brings the past of a page up to date, and tells from when on it is as it is today; `None` where
    /// there is nothing of it today.
    pub(crate) fn keep_past(
        &mut self,
        source: &Source<'_>,
        view: &crate::View,
        (doc, row): (DocId, &UrlRow),
        captures: &[Capture],
        hints: &mut Hints,
        progress: &mut Progress,
    ) -> Result<Option<Time>, IndexError> {
        let held = match self.past.fresh(doc) {
            Some(held) => held.clone(),
            None => {
                let mut held =
                    view.past.as_deref().map_or(Ok(Vec::new()), |past| past.held(doc))?;
                held.extend(view.held(doc)?);
                held
            }
        };
        hints.hold(held.clone());
        hints.state(row.state);
        let all = versions(captures, hints);
        let wanted: Vec<Held> = all.iter().map(Version::held).collect();
        for old in held.iter().filter(|old| old.until.is_some() && !wanted.contains(old)) {
            self.past.drop_version(doc, old.from)?;
        }
        for version in &all {
            let (Some(until), false) = (version.until, held.contains(&version.held())) else {
                continue;
            };
            let found = Found { doc, row, shown: &version.shown, first: true, from: version.from };
            // What a killed process has put there without telling is replaced.
            self.past.drop_version(doc, version.from)?;
            let Some(text) = self.text_of(source, &found)? else {
                progress.unreadable += 1;
                continue;
            };
            let mut page = found.page(source, &text, LinkedAs::default());
            page.changed = version.from;
            self.past.put(&mut self.press, &page, until)?;
            progress.past += 1;
        }
        let open = all.last().filter(|last| last.until.is_none()).map(|last| last.from);
        self.past.fresh.insert(doc, wanted);
        Ok(open)
    }
}
