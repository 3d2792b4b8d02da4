//! The follower: reads the change log, analyses the pages that changed, commits them.
//!
//! Life of a page here: its row in the change log → its latest capture with a text → the text
//! blob → its words → tantivy's memory → a segment, visible after the next commit, which also
//! says how far the change log is in it. What was not committed is read again after a crash.
//!
//! Invariants: a document stands in the index once, under its number; the commit that makes
//! pages visible holds the watermarks that say so.

use crate::analyse::{Flow, StopList};
use crate::error::IndexError;
use crate::links::Links;
use crate::page::{Page, Press};
use crate::schema::{FORMAT, Fields, tokenizers};
use crate::settings::Settings;
use crate::view::View;
use argiope_archive::{ArchiveError, read_text};
use argiope_model::{Capture, DocId, Location, OutcomeKind, Suffixes, Time, UrlKey};
use argiope_store::{Change, Ended, Store, UrlRow};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyError, Term};

/// Rows of the change log taken at once.
const BATCH: usize = 256;

/// The least memory that tantivy's writer takes.
const LEAST: usize = 16 << 20;

/// The word index, following the change log of a store.
pub struct Index {
    dir: PathBuf,
    fields: Fields,
    index: tantivy::Index,
    writer: IndexWriter,
    reader: IndexReader,
    press: Press,
    flow: Arc<Flow>,
    /// Bytes that may be under way.
    room: usize,
    stop: Arc<StopList>,
    settings: Settings,
    /// As committed.
    committed: BTreeMap<u16, u64>,
    /// What was read, the uncommitted included.
    read: BTreeMap<u16, u64>,
    /// Pages changed since the last commit.
    pending: u64,
}

/// What a commit says beside its documents.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Payload {
    pub format: u32,
    pub stop_words: Vec<String>,
    pub language: String,
    pub read: BTreeMap<u16, u64>,
}

/// What came of following the change log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows of the change log read.
    pub rows: u64,
    /// Pages whose words were taken in.
    pub indexed: u64,
    /// Pages that left.
    pub removed: u64,
    /// Pages whose text could not be read; they are not in the index.
    pub unreadable: u64,
    /// Whether there were more rows than were wanted.
    pub more: bool,
    /// The store knows less than was read from it (a backup came back): all was read anew.
    pub rebuilt: bool,
}

/// What came of a round over the links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Pages looked at.
    pub checked: u64,
    /// Pages that are linked to in other words than before, indexed again.
    pub indexed: u64,
    /// After which document to go on; `None` when the round is over.
    pub next: Option<DocId>,
}

impl Index {
    /// Opens the index in a directory, making it where there is none.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self, IndexError> {
        let failed = IndexError::tantivy("open", dir);
        fs::create_dir_all(dir).map_err(io("make", dir))?;
        let (schema, fields) = Fields::schema();
        let flow = Arc::new(Flow::default());
        let directory = MmapDirectory::open(dir).map_err(|e| failed(e.into()))?;
        let exists = tantivy::Index::exists(&directory).map_err(|e| failed(e.into()))?;
        let index = if exists {
            open_known(dir, flow.clone())?
        } else {
            let builder = tantivy::Index::builder().schema(schema);
            let builder = builder.tokenizers(tokenizers(flow.clone()));
            builder.open_or_create(directory).map_err(&failed)?
        };
        let stop = Arc::new(StopList::new(&settings.stop_words));
        let payload = payload_of(&index, dir)?;
        if let Some(payload) = &payload {
            if StopList::new(&payload.stop_words) != *stop {
                return Err(IndexError::Settings { what: "stop list" });
            }
            if payload.language != settings.language {
                return Err(IndexError::Settings { what: "default language" });
            }
        }
        // An eighth for pages on their way, the rest for what they become.
        let memory = usize::try_from(settings.memory).unwrap_or(usize::MAX).min(3 << 30);
        let room = memory / 8;
        let memory = (memory - room).max(LEAST);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(memory)
            .num_merge_threads(1)
            .build();
        let writer = index.writer_with_options(options).map_err(|e| match e {
            TantivyError::LockFailure(LockError::LockBusy, _) => IndexError::Locked(dir.to_owned()),
            e => failed(e),
        })?;
        writer.set_merge_policy(Box::new(LogMergePolicy::default()));
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reader.try_into().map_err(&failed)?;
        let committed = payload.as_ref().map(|p| p.read.clone()).unwrap_or_default();
        let mut opened = Index {
            dir: dir.to_owned(),
            fields,
            index,
            writer,
            reader,
            press: Press::new(stop.clone(), settings.language.clone()),
            flow,
            room,
            stop,
            settings: settings.clone(),
            read: committed.clone(),
            committed,
            pending: 0,
        };
        if payload.is_none() {
            // The settings are part of the index from its first moment.
            opened.write()?;
        }
        Ok(opened)
    }

    /// Throws away what there is, damaged or not, and begins anew: the next call of
    /// [`Index::catch_up`] reads the change log from its start.
    pub fn rebuild(dir: &Path, settings: &Settings) -> Result<Self, IndexError> {
        if dir.join("meta.json").exists() {
            // Without it the rest is no index; files of a crash go with it.
            fs::remove_dir_all(dir).map_err(io("delete", dir))?;
        }
        Self::open(dir, settings)
    }

    /// Reads at most about `limit` rows of the change log. `texts` is where the text blobs lie,
    /// `pinned` the list that the store's keys are made with. What was read is visible after
    /// [`Index::commit`]; when that is called is the caller's to decide.
    pub fn catch_up(
        &mut self,
        store: &dyn Store,
        texts: &Path,
        pinned: &Suffixes,
        links: &dyn Links,
        limit: usize,
    ) -> Result<Progress, IndexError> {
        let mut progress = Progress::default();
        let heads: BTreeMap<u16, u64> = store.log_heads()?.into_iter().collect();
        let behind = |(part, n): (&u16, &u64)| heads.get(part).is_none_or(|head| head < n);
        if self.read.iter().any(behind) {
            tracing::warn!("the word index is ahead of the store and is made again");
            self.begin_anew()?;
            progress.rebuilt = true;
        }
        let source = Source { store, texts, pinned, links };
        let mut batch: Vec<Change> = Vec::with_capacity(BATCH);
        for (part, head) in heads {
            let mut after = self.read.get(&part).copied().unwrap_or(0);
            while after < head {
                let room = limit.saturating_sub(progress.rows as usize);
                if room == 0 {
                    progress.more = true;
                    break;
                }
                let rows = store.changes(part, after, room.min(BATCH - batch.len()))?;
                let Some(last) = rows.last() else { break };
                after = last.n;
                progress.rows += rows.len() as u64;
                batch.extend(rows);
                if batch.len() >= BATCH {
                    self.take(&source, &mut batch, &mut progress)?;
                }
            }
        }
        self.take(&source, &mut batch, &mut progress)?;
        Ok(progress)
    }

    /// Takes rows of the change log in, and only then notes that they were.
    fn take(
        &mut self,
        source: &Source<'_>,
        batch: &mut Vec<Change>,
        progress: &mut Progress,
    ) -> Result<(), IndexError> {
        let mut latest: HashMap<DocId, usize> = HashMap::new();
        for (n, change) in batch.iter().enumerate().filter(|(_, c)| c.ended != Ended::Open) {
            latest.insert(change.doc, n);
        }
        let mut wanted: Vec<&Change> = Vec::new();
        let view = self.view();
        for (n, change) in batch.iter().enumerate() {
            if latest.get(&change.doc) != Some(&n) {
                continue;
            }
            if change.ended == Ended::WithPage {
                wanted.push(change);
            } else {
                self.remove(change.doc)?;
                progress.removed += 1;
            }
        }
        let keys: Vec<UrlKey> = wanted.iter().map(|change| change.key).collect();
        let rows = source.store.urls(&keys)?;
        let pages: Vec<(DocId, UrlKey)> = wanted.iter().map(|c| (c.doc, c.key)).collect();
        let linked = source.links.linked_as(&pages).map_err(IndexError::Links)?;
        for ((change, row), linked) in wanted.into_iter().zip(rows).zip(linked) {
            let found = match &row {
                Some(row) => shown(&source.store.captures(change.key)?).map(|shown| (row, shown)),
                None => None,
            };
            let Some((row, shown)) = found else {
                self.remove(change.doc)?;
                progress.removed += 1;
                continue;
            };
            if !change.changed && view.text_of(change.doc)? == Some(shown.location) {
                continue;
            }
            match self.put_shown(source, change.doc, row, &shown, linked)? {
                true => progress.indexed += 1,
                false => progress.unreadable += 1,
            }
        }
        for change in batch.drain(..) {
            self.read.insert(change.key.host.part, change.n);
        }
        Ok(())
    }

    /// Whether the text could be read.
    fn put_shown(
        &mut self,
        source: &Source<'_>,
        doc: DocId,
        row: &UrlRow,
        shown: &Shown,
        links: crate::LinkedAs,
    ) -> Result<bool, IndexError> {
        let text = match read_text(source.texts, shown.location) {
            Ok(text) => text,
            Err(e @ (ArchiveError::Damaged { .. } | ArchiveError::NotText(_))) => {
                // One damaged text must not keep all others out; `verify` tells of it.
                tracing::warn!(url = %row.url, doc = doc.0, error = %e, "a text is not indexed");
                self.remove(doc)?;
                return Ok(false);
            }
            Err(e) => return Err(e.into()),
        };
        self.put(&Page {
            doc,
            url: &row.url,
            site: source.pinned.site_of(row.url.host()),
            text: &text,
            location: shown.location,
            mime: &shown.mime,
            bytes: shown.bytes,
            first_seen: row.first_seen,
            changed: row.changed_at.unwrap_or(shown.time),
            fetched: shown.fetched,
            no_snippet: shown.no_snippet,
            links,
        })?;
        Ok(true)
    }

    /// Takes a page in, in place of what was known of its number.
    pub fn put(&mut self, page: &Page<'_>) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("add a page", &self.dir);
        let (document, bytes) = self.press.document(&self.fields, page);
        self.remove(page.doc)?;
        self.flow.put(bytes, self.room);
        self.writer.add_document(document).map_err(&failed)?;
        Ok(())
    }

    /// Takes a page out.
    pub fn remove(&mut self, doc: DocId) -> Result<(), IndexError> {
        self.writer.delete_term(Term::from_field_u64(self.fields.doc, doc.0));
        self.pending += 1;
        Ok(())
    }

    /// Looks at `limit` pages after a document whether they are linked to in other words than
    /// when they were indexed, and indexes those again. A round over all pages is made now and
    /// then, not at every new link.
    pub fn links_round(
        &mut self,
        store: &dyn Store,
        texts: &Path,
        pinned: &Suffixes,
        links: &dyn Links,
        after: Option<DocId>,
        limit: usize,
    ) -> Result<Round, IndexError> {
        let source = Source { store, texts, pinned, links };
        let mut round = Round::default();
        let view = self.view();
        let known = view.link_digests(after, limit)?;
        let docs: Vec<DocId> = known.iter().map(|(doc, _)| *doc).collect();
        round.next = docs.last().copied().filter(|_| docs.len() >= limit.max(1));
        let mut pages = Vec::new();
        for ((doc, digest), key) in known.into_iter().zip(store.docs(&docs)?) {
            if let Some(key) = key {
                pages.push((doc, key, digest));
            }
        }
        for pages in pages.chunks(BATCH) {
            let asked: Vec<_> = pages.iter().map(|(doc, key, _)| (*doc, *key)).collect();
            let keys: Vec<UrlKey> = asked.iter().map(|(_, key)| *key).collect();
            let linked = links.linked_as(&asked).map_err(IndexError::Links)?;
            let rows = store.urls(&keys)?;
            for (((doc, key, digest), linked), row) in pages.iter().zip(linked).zip(rows) {
                round.checked += 1;
                if linked.digest() == *digest {
                    continue;
                }
                let Some(row) = row else { continue };
                if let Some(shown) = shown(&store.captures(*key)?)
                    && self.put_shown(&source, *doc, &row, &shown, linked)?
                {
                    round.indexed += 1;
                }
            }
        }
        Ok(round)
    }

    /// Makes everything read so far visible and durable, together with how far that is.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        if self.pending > 0 || self.read != self.committed {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("commit", &self.dir);
        let payload = Payload {
            format: FORMAT,
            stop_words: self.stop.words().map(str::to_owned).collect(),
            language: self.settings.language.clone(),
            read: self.read.clone(),
        };
        let payload = serde_json::to_string(&payload).map_err(|e| failed(e.into()))?;
        let mut commit = self.writer.prepare_commit().map_err(&failed)?;
        commit.set_payload(&payload);
        commit.commit().map_err(&failed)?;
        self.committed.clone_from(&self.read);
        self.pending = 0;
        self.reader.reload().map_err(&failed)
    }

    /// Rows of the change log that were not read yet.
    pub fn waiting(&self, store: &dyn Store) -> Result<u64, IndexError> {
        let unread = |(part, head): (u16, u64)| {
            head.saturating_sub(self.read.get(&part).copied().unwrap_or(0))
        };
        Ok(store.log_heads()?.into_iter().map(unread).sum())
    }

    /// Pages changed since the last commit.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// Commits, and merges everything into one segment: the smallest and quickest form.
    pub fn settle(&mut self) -> Result<(), IndexError> {
        self.commit()?;
        let failed = IndexError::tantivy("merge", &self.dir);
        let segments = self.index.searchable_segment_ids().map_err(&failed)?;
        let deletes = self.index.searchable_segment_metas().map_err(&failed)?;
        if segments.len() > 1 || deletes.iter().any(|meta| meta.has_deletes()) {
            self.writer.merge(&segments).wait().map_err(&failed)?;
            self.writer.garbage_collect_files().wait().map_err(&failed)?;
            self.reader.reload().map_err(&failed)?;
        }
        Ok(())
    }

    /// Commits, waits until segments that are being merged are, and lets go of the directory;
    /// what is there can still be asked.
    pub fn finish(mut self) -> Result<View, IndexError> {
        self.commit()?;
        let failed = IndexError::tantivy("merge", &self.dir);
        let Index { dir, fields, writer, reader, stop, settings, .. } = self;
        writer.wait_merging_threads().map_err(&failed)?;
        reader.reload().map_err(&failed)?;
        Ok(View::new(dir, reader.searcher(), fields, stop, settings.language))
    }

    fn begin_anew(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("begin anew", &self.dir);
        self.writer.rollback().map_err(&failed)?;
        self.flow.clear();
        self.writer.delete_all_documents().map_err(&failed)?;
        self.read.clear();
        self.write()
    }

    /// What was committed last, to be asked; it stays as it is while the index goes on.
    pub fn view(&self) -> View {
        View::new(
            self.dir.clone(),
            self.reader.searcher(),
            self.fields.clone(),
            self.stop.clone(),
            self.settings.language.clone(),
        )
    }
}

/// Everything a page is read from.
struct Source<'a> {
    store: &'a dyn Store,
    texts: &'a Path,
    pinned: &'a Suffixes,
    links: &'a dyn Links,
}

/// The settings that the index in a directory was made with; `None` where there is no index.
pub fn made_with(dir: &Path, memory: u64) -> Result<Option<Settings>, IndexError> {
    if !dir.join("meta.json").exists() {
        return Ok(None);
    }
    let payload = payload_of(&open_known(dir, Arc::default())?, dir)?;
    let settings = |Payload { stop_words, language, .. }| Settings { memory, stop_words, language };
    Ok(payload.map(settings))
}

/// What of a page is to be found: its latest text, as far as it may be.
pub(crate) struct Shown {
    pub location: Location,
    pub mime: Box<str>,
    pub bytes: u64,
    /// Of the capture with the text.
    pub time: Time,
    /// Of the latest capture.
    pub fetched: Time,
    pub no_snippet: bool,
}

/// What is to be found of a page with these captures, if anything is.
pub(crate) fn shown(captures: &[Capture]) -> Option<Shown> {
    let told = |c: &&Capture| c.outcome.is_success() || c.outcome.kind == OutcomeKind::Redirect;
    let mut good = captures.iter().rev().filter(told);
    let latest = good.next()?;
    if latest.directives.noindex {
        return None;
    }
    // An unchanged page is told by a capture before it.
    let found = std::iter::once(latest).chain(good).find(|capture| {
        capture.outcome.kind != OutcomeKind::NotModified || capture.text.is_some()
    })?;
    if found.outcome.kind == OutcomeKind::Redirect || found.directives.noindex {
        return None;
    }
    Some(Shown {
        location: found.text?,
        mime: found.mime.clone(),
        bytes: found.bytes,
        time: found.time,
        fetched: latest.time,
        no_snippet: found.directives.nosnippet || latest.directives.nosnippet,
    })
}

/// The text of a page with these captures that belongs into the index, if one does.
pub fn indexed_text(captures: &[Capture]) -> Option<Location> {
    shown(captures).map(|shown| shown.location)
}

/// Opens an index that is there, for reading or writing.
pub(crate) fn open_known(dir: &Path, flow: Arc<Flow>) -> Result<tantivy::Index, IndexError> {
    let failed = IndexError::tantivy("open", dir);
    let mut index = tantivy::Index::open_in_dir(dir).map_err(|e| match e {
        TantivyError::DataCorruption(e) => {
            IndexError::Damaged { path: dir.to_owned(), why: format!("{e:?}") }
        }
        e => failed(e),
    })?;
    let payload = payload_of(&index, dir)?;
    if let Some(Payload { format, .. }) = payload
        && format > FORMAT
    {
        return Err(IndexError::Newer { found: format, known: FORMAT });
    }
    if index.schema() != Fields::schema().0 {
        let why = "it has other fields".to_owned();
        return Err(IndexError::Damaged { path: dir.to_owned(), why });
    }
    index.set_tokenizers(tokenizers(flow));
    Ok(index)
}

/// What the last commit says; `None` before the first.
pub(crate) fn payload_of(
    index: &tantivy::Index,
    dir: &Path,
) -> Result<Option<Payload>, IndexError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let failed = IndexError::tantivy("read", dir);
    let Some(text) = index.load_metas().map_err(failed)?.payload else { return Ok(None) };
    let damaged = |e: serde_json::Error| IndexError::Damaged {
        path: dir.to_owned(),
        why: format!("its watermarks cannot be read: {e}"),
    };
    let Format { format } = serde_json::from_str(&text).map_err(damaged)?;
    if format > FORMAT {
        return Err(IndexError::Newer { found: format, known: FORMAT });
    }
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> IndexError {
    let path = path.to_owned();
    move |source| IndexError::Io { action, path, source }
}
