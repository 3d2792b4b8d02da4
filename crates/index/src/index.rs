//! The follower: reads the change log, analyses the pages that changed, commits them.
//!
//! Life of a page here: its row in the change log → its latest capture with a text → the text
//! blob → its words → tantivy's memory → a segment, visible after the next commit, which also
//! says how far the change log is in it. What was not committed is read again after a crash.
//!
//! What a page was before is kept as well, by whoever reads the log (`past`): each version until
//! another took its place.
//!
//! Invariants: a document stands in the index once, under its number; the commit that makes
//! pages visible holds the watermarks that say so.

use crate::analyse::{Flow, StopList};
use crate::error::IndexError;
use crate::heard::Heard;
use crate::links::{LinkedAs, Links};
use crate::page::{Page, Press};
use crate::past::Past;
use crate::schema::{FORMAT, Fields, tokenizers};
use crate::settings::Settings;
use crate::versions::Hints;
use crate::view::View;
use argiope_archive::{ArchiveError, TextBlob, read_text};
use argiope_model::{
    Capture, ChangeReason, DocId, Location, OutcomeKind, Suffixes, Time, UrlKey, Verdict,
};
use argiope_store::{Change, Ended, Store, UrlRow, UrlState};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::schema::Schema;
use tantivy::{IndexReader, IndexWriter, ReloadPolicy, TantivyError, Term};

/// Rows of the change log taken at once.
pub(crate) const BATCH: usize = 256;

/// The least memory that tantivy's writer takes.
const LEAST: usize = 16 << 20;

/// The word index, following the change log of a store.
pub struct Index {
    dir: PathBuf,
    fields: Fields,
    index: tantivy::Index,
    writer: IndexWriter,
    reader: IndexReader,
    pub(crate) press: Press,
    /// What pages were before.
    pub(crate) past: Past,
    flow: Arc<Flow>,
    /// Bytes that may be under way.
    room: usize,
    stop: Arc<StopList>,
    settings: Settings,
    /// As committed.
    committed: BTreeMap<u16, u64>,
    /// What was read, the uncommitted included.
    pub(crate) read: BTreeMap<u16, u64>,
    /// How far the links of the pages read are with the pages that they lead to.
    pub(crate) linked: BTreeMap<u16, u64>,
    /// Whether `linked` went on since the last commit.
    pub(crate) rounded: bool,
    /// What pages that may come are called.
    heard: Heard,
    /// How far the links of pages were heard; what was read before this process was not.
    listened: BTreeMap<u16, u64>,
    /// Documents put in since the last commit, with from when on they are so and where their text
    /// lies; nothing for those taken out.
    fresh: HashMap<DocId, Option<(Time, Location)>>,
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
    /// How far rounds over the links are.
    #[serde(default)]
    pub linked: BTreeMap<u16, u64>,
    /// How often the past was committed that belongs to it.
    #[serde(default)]
    pub past: u64,
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
    /// Versions of pages that ended, taken in.
    pub past: u64,
    /// Pages whose text could not be read; they are not in the index.
    pub unreadable: u64,
    /// Whether there were more rows than were wanted.
    pub more: bool,
    /// The store knows less than was read from it (a backup came back): all was read anew.
    pub rebuilt: bool,
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
            open_known(dir, &schema, flow.clone())?
        } else {
            // What is left of another index is not this one's.
            Past::remove(dir)?;
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
        // An eighth for pages on their way, one for what is heard of them, the rest for what they
        // become.
        let memory = usize::try_from(settings.memory).unwrap_or(usize::MAX).min(3 << 30);
        let room = memory / 8;
        let memory = (memory - 2 * room).max(LEAST);
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
        let linked = payload.as_ref().map(|p| p.linked.clone()).unwrap_or_default();
        let known = payload.as_ref().map_or(0, |payload| payload.past);
        let past = Past::open(dir, known, Arc::default(), room)?;
        let mut opened = Index {
            past,
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
            linked,
            rounded: false,
            heard: Heard::new(room),
            listened: BTreeMap::new(),
            fresh: HashMap::new(),
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
        let heads = store.log_heads()?.into_iter().collect();
        self.catch_up_to(store, texts, pinned, links, &heads, limit)
    }

    /// The same, not further than to these rows. A page that waits a moment is indexed with what
    /// others call it meanwhile, for [`Index::listen`] hears that.
    pub fn catch_up_to(
        &mut self,
        store: &dyn Store,
        texts: &Path,
        pinned: &Suffixes,
        links: &dyn Links,
        until: &BTreeMap<u16, u64>,
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
        for (&part, &head) in until {
            let mut after = self.read.get(&part).copied().unwrap_or(0);
            while after < head {
                let room = limit.saturating_sub(progress.rows as usize);
                if room == 0 {
                    progress.more = true;
                    break;
                }
                let room = room.min(BATCH - batch.len());
                let rows = store.changes(part, after, room.min((head - after) as usize))?;
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

    /// Hears what the pages in the next `ahead` rows of each partition's change log call others,
    /// before they are taken in.
    pub fn listen(
        &mut self,
        store: &dyn Store,
        links: &dyn Links,
        ahead: u64,
    ) -> Result<(), IndexError> {
        for (part, head) in store.log_heads()? {
            let read = self.read.get(&part).copied().unwrap_or(0);
            let mut after = self.listened.get(&part).copied().unwrap_or(0).max(read);
            let until = head.min(read.saturating_add(ahead));
            while after < until {
                let rows = store.changes(part, after, BATCH.min((until - after) as usize))?;
                let Some(last) = rows.last() else { break };
                after = last.n;
                self.hear(links, &rows)?;
                self.listened.insert(part, after);
            }
        }
        Ok(())
    }

    fn hear(&mut self, links: &dyn Links, rows: &[Change]) -> Result<(), IndexError> {
        let pages = rows.iter().filter(|row| row.ended == Ended::WithPage && row.changed);
        let pages: Vec<UrlKey> = pages.map(|row| row.key).collect();
        let mut linking = usize::MAX;
        let mut hear = |page: usize, target: UrlKey, words: &str| {
            if page != linking {
                linking = page;
                self.heard.next_page();
            }
            self.heard.add(target, words);
        };
        links.links_of(&pages, &mut hear).map_err(IndexError::Links)
    }

    /// Takes rows of the change log in, and only then notes that they were.
    fn take(
        &mut self,
        source: &Source<'_>,
        batch: &mut Vec<Change>,
        progress: &mut Progress,
    ) -> Result<(), IndexError> {
        let listened = |row: &Change| {
            self.listened.get(&row.key.host.part).is_some_and(|listened| *listened >= row.n)
        };
        if let Some(at) = batch.iter().position(|row| !listened(row)) {
            let rows: Vec<Change> =
                batch[at..].iter().filter(|row| !listened(row)).cloned().collect();
            self.hear(source.links, &rows)?;
            for row in rows {
                self.listened.insert(row.key.host.part, row.n);
            }
        }
        let mut latest: HashMap<DocId, (usize, Hints)> = HashMap::new();
        for (n, change) in batch.iter().enumerate() {
            let (last, hints) = latest.entry(change.doc).or_insert((n, Hints::default()));
            if change.ended != Ended::Open || batch[*last].ended == Ended::Open {
                *last = n;
            }
            hints.hear(change);
        }
        let mut wanted: Vec<&Change> = Vec::new();
        let view = self.view();
        for (n, change) in batch.iter().enumerate() {
            if latest.get(&change.doc).is_none_or(|(last, _)| *last != n) {
                continue;
            }
            if change.ended == Ended::WithPage || self.has_been(&view, change, batch)? {
                wanted.push(change);
            }
            if !matches!(change.ended, Ended::WithPage | Ended::Open) {
                self.remove(change.doc)?;
                progress.removed += 1;
            }
        }
        let keys: Vec<UrlKey> = wanted.iter().map(|change| change.key).collect();
        let rows = source.store.urls(&keys)?;
        let captures = source.store.captures_many(&keys)?;
        let mut found: Vec<(&Change, &UrlRow, Shown, (bool, Time))> =
            Vec::with_capacity(keys.len());
        for ((change, row), captures) in wanted.into_iter().zip(&rows).zip(captures) {
            let mut open = None;
            if let (Some(row), Some((_, hints))) = (row, latest.get_mut(&change.doc))
                && (captures.len() > 1 || self.is_past(&view, change.doc)?)
            {
                let page = (change.doc, row);
                open = self.keep_past(source, &view, page, &captures, hints, progress)?;
            }
            if !matches!(change.ended, Ended::WithPage | Ended::Open) {
                continue;
            }
            let Some((row, shown)) = row.as_ref().zip(shown(&captures)) else {
                self.remove(change.doc)?;
                progress.removed += 1;
                continue;
            };
            let from = open.unwrap_or(shown.time);
            let held = view.held(change.doc)?;
            let today = match self.fresh.get(&change.doc) {
                Some(fresh) => *fresh,
                None => held.first().map(|held| (held.from, held.location)),
            };
            let is_new = change.ended == Ended::WithPage && change.changed;
            if change.ended == Ended::Open && (open.is_none() || row.state != UrlState::Fetched) {
                // What came late says nothing of today.
                continue;
            }
            if is_new || today != Some((from, shown.location)) {
                let first = today.is_none() && held.is_empty();
                found.push((change, row, shown, (first, from)));
            }
        }
        let known = found.iter().filter(|(.., (first, _))| !first);
        let known: Vec<(DocId, UrlKey)> = known.map(|(c, ..)| (c.doc, c.key)).collect();
        let called = source.links.linked_as(&known).map_err(IndexError::Links)?;
        let mut called = called.into_iter();
        for (change, row, shown, (first, from)) in &found {
            let called = match first {
                true => self.heard.take(change.key),
                false => called.next().unwrap_or_default(),
            };
            let page = Found { doc: change.doc, row, shown, first: *first, from: *from };
            match self.text_of(source, &page)? {
                Some(text) => {
                    self.put_text(source, &page, &text, called)?;
                    progress.indexed += 1;
                }
                None => {
                    self.remove(change.doc)?;
                    progress.unreadable += 1;
                }
            }
        }
        for change in batch.drain(..) {
            self.read.insert(change.key.host.part, change.n);
        }
        Ok(())
    }

    /// The text of a page; `None` where it is damaged.
    pub(crate) fn text_of(
        &self,
        source: &Source<'_>,
        found: &Found<'_>,
    ) -> Result<Option<TextBlob>, IndexError> {
        match read_text(source.texts, found.shown.location) {
            Ok(text) => Ok(Some(text)),
            Err(e @ (ArchiveError::Damaged { .. } | ArchiveError::NotText(_))) => {
                // One damaged text must not keep all others out; `verify` tells of it.
                let (url, doc) = (&found.row.url, found.doc.0);
                tracing::warn!(%url, doc, error = %e, "a text is not indexed");
                Ok(None)
            }
            Err(e) => Err(e.into()),
        }
    }

    pub(crate) fn put_text(
        &mut self,
        source: &Source<'_>,
        found: &Found<'_>,
        text: &TextBlob,
        links: LinkedAs,
    ) -> Result<(), IndexError> {
        let page = found.page(source, text, links);
        if found.first { self.add(&page) } else { self.put(&page) }
    }

    /// Whether there may be versions of a page that a row says is not there, or nothing of: most
    /// failures are those of pages that never were.
    fn has_been(&self, view: &View, change: &Change, rows: &[Change]) -> Result<bool, IndexError> {
        // One that came late decides nothing, and is there.
        let page = |row: &Change| row.ended == Ended::WithPage || row.changed;
        Ok(rows.iter().any(|row| row.doc == change.doc && page(row))
            || self.fresh.get(&change.doc).is_some_and(Option::is_some)
            || self.is_past(view, change.doc)?
            || view.find(change.doc)?.is_some())
    }

    /// Whether there are versions of a page in the past.
    fn is_past(&self, view: &View, doc: DocId) -> Result<bool, IndexError> {
        let past = view.past.as_deref();
        Ok(self.past.fresh(doc).is_some()
            || past.map_or(Ok(None), |past| past.find(doc))?.is_some())
    }

    /// Takes a page in, in place of what was known of its number.
    pub fn put(&mut self, page: &Page<'_>) -> Result<(), IndexError> {
        self.writer.delete_term(Term::from_field_u64(self.fields.doc, page.doc.0));
        self.add(page)
    }

    /// Takes a page in that is not here yet; whoever calls has looked.
    fn add(&mut self, page: &Page<'_>) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("add a page", &self.dir);
        let (document, bytes) = self.press.document(&self.fields, page);
        self.pending += 1;
        self.fresh.insert(page.doc, Some((page.from, page.location)));
        self.flow.put(bytes, self.room);
        self.writer.add_document(document).map_err(&failed)?;
        Ok(())
    }

    /// Takes a page out.
    pub fn remove(&mut self, doc: DocId) -> Result<(), IndexError> {
        self.writer.delete_term(Term::from_field_u64(self.fields.doc, doc.0));
        self.fresh.insert(doc, None);
        self.pending += 1;
        Ok(())
    }

    /// Makes everything read so far visible and durable, together with how far that is.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        if self.pending > 0 || self.past.is_pending() || self.rounded || self.read != self.committed
        {
            self.write()?;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("commit", &self.dir);
        // First, so that nothing is said to be read that is not there.
        self.past.commit()?;
        let payload = Payload {
            format: FORMAT,
            past: self.past.commits(),
            stop_words: self.stop.words().map(str::to_owned).collect(),
            language: self.settings.language.clone(),
            read: self.read.clone(),
            linked: self.linked.clone(),
        };
        let payload = serde_json::to_string(&payload).map_err(|e| failed(e.into()))?;
        let mut commit = self.writer.prepare_commit().map_err(&failed)?;
        commit.set_payload(&payload);
        commit.commit().map_err(&failed)?;
        self.committed.clone_from(&self.read);
        (self.pending, self.rounded) = (0, false);
        self.fresh.clear();
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
        self.past.settle()
    }

    /// Commits, waits until segments that are being merged are, and lets go of the directory;
    /// what is there can still be asked.
    pub fn finish(mut self) -> Result<View, IndexError> {
        self.commit()?;
        let failed = IndexError::tantivy("merge", &self.dir);
        let Index { dir, fields, writer, reader, past, stop, settings, .. } = self;
        writer.wait_merging_threads().map_err(&failed)?;
        reader.reload().map_err(&failed)?;
        let mut view = View::new(dir, reader.searcher(), fields, stop, settings.language);
        if let Some(past) = past.finish()? {
            view.keep_past(past);
        }
        Ok(view)
    }

    fn begin_anew(&mut self) -> Result<(), IndexError> {
        let failed = IndexError::tantivy("begin anew", &self.dir);
        self.writer.rollback().map_err(&failed)?;
        self.flow.clear();
        self.writer.delete_all_documents().map_err(&failed)?;
        self.past.clear()?;
        self.read.clear();
        self.linked.clear();
        self.listened.clear();
        self.fresh.clear();
        self.write()
    }

    /// What was committed last, to be asked; it stays as it is while the index goes on.
    pub fn view(&self) -> View {
        let mut view = View::new(
            self.dir.clone(),
            self.reader.searcher(),
            self.fields.clone(),
            self.stop.clone(),
            self.settings.language.clone(),
        );
        if let Some(past) = self.past.searcher() {
            view.keep_past(past);
        }
        view
    }
}

/// Everything a page is read from.
pub(crate) struct Source<'a> {
    pub store: &'a dyn Store,
    pub texts: &'a Path,
    pub pinned: &'a Suffixes,
    pub links: &'a dyn Links,
}

/// A page whose text belongs into the index.
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub doc: DocId,
    pub row: &'a UrlRow,
    pub shown: &'a Shown,
    /// Whether it cannot be there yet.
    pub first: bool,
    /// From when on it was so.
    pub from: Time,
}

impl<'a> Found<'a> {
    /// The page with its text.
    pub fn page<'t>(&self, source: &Source<'t>, text: &'t TextBlob, links: LinkedAs) -> Page<'t>
    where
        'a: 't,
    {
        let Found { doc, row, shown, from, .. } = *self;
        Page {
            doc,
            url: &row.url,
            site: source.pinned.site_of(row.url.host()),
            text,
            location: shown.location,
            mime: &shown.mime,
            bytes: shown.bytes,
            first_seen: row.first_seen,
            changed: row.changed_at.unwrap_or(shown.time),
            fetched: shown.fetched,
            from,
            no_snippet: shown.no_snippet,
            links,
        }
    }
}

/// The settings that the index in a directory was made with; `None` where there is no index.
pub fn made_with(dir: &Path, memory: u64) -> Result<Option<Settings>, IndexError> {
    if !dir.join("meta.json").exists() {
        return Ok(None);
    }
    let payload = payload_of(&open_known(dir, &Fields::schema().0, Arc::default())?, dir)?;
    let settings = |Payload { stop_words, language, .. }| Settings { memory, stop_words, language };
    Ok(payload.map(settings))
}

/// What of a page is to be found: its latest text, as far as it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Whether a capture tells what there is of a page.
pub(crate) fn told(capture: &Capture) -> bool {
    capture.outcome.is_success() || capture.outcome.kind == OutcomeKind::Redirect
}

/// Whether a capture brings a text to be found by: not where nothing had changed, and not where other
/// words count for nothing (a clock, an error page in place of the page).
pub(crate) fn tells(capture: &Capture) -> bool {
    let own = capture.outcome.kind != OutcomeKind::NotModified || capture.text.is_some();
    let counts = |v: Verdict| v.reason == ChangeReason::New || v.reason.counts();
    own && capture.verdict.is_none_or(counts)
}

impl Shown {
    /// What is to be found of a page that was last as `latest` says; `found` is the last capture that
    /// tells more than that nothing has changed.
    pub fn of(found: Option<&Capture>, latest: &Capture) -> Option<Shown> {
        let found = found?;
        let hidden = latest.directives.noindex || found.directives.noindex;
        if hidden || found.outcome.kind == OutcomeKind::Redirect {
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
}

/// What is to be found of a page with these captures, if anything is.
pub(crate) fn shown(captures: &[Capture]) -> Option<Shown> {
    let mut good = captures.iter().rev().filter(|capture| told(capture));
    let latest = good.next()?;
    // An unchanged page is told by a capture before it.
    let found = std::iter::once(latest).chain(good).find(|capture| tells(capture));
    Shown::of(found, latest)
}

/// The text of a page with these captures that belongs into the index, if one does.
pub fn indexed_text(captures: &[Capture]) -> Option<Location> {
    shown(captures).map(|shown| shown.location)
}

/// Opens an index that is there, for reading or writing.
pub(crate) fn open_known(
    dir: &Path,
    schema: &Schema,
    flow: Arc<Flow>,
) -> Result<tantivy::Index, IndexError> {
    let failed = IndexError::tantivy("open", dir);
    let mut index = tantivy::Index::open_in_dir(dir).map_err(|e| match e {
        TantivyError::DataCorruption(e) => {
            IndexError::Damaged { path: dir.to_owned(), why: format!("{e:?}") }
        }
        e => failed(e),
    })?;
    said(&index, dir)?;
    if index.schema() != *schema {
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
    let Some(text) = said(index, dir)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(unreadable(dir))
}

/// The text of the last commit, where its format is known.
pub(crate) fn said(index: &tantivy::Index, dir: &Path) -> Result<Option<String>, IndexError> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let failed = IndexError::tantivy("read", dir);
    let Some(text) = index.load_metas().map_err(failed)?.payload else { return Ok(None) };
    let Format { format } = serde_json::from_str(&text).map_err(unreadable(dir))?;
    if format > FORMAT {
        return Err(IndexError::Newer { found: format, known: FORMAT });
    }
    if format < FORMAT {
        let why = "an older Argiope made it".to_owned();
        return Err(IndexError::Damaged { path: dir.to_owned(), why });
    }
    Ok(Some(text))
}

pub(crate) fn unreadable(dir: &Path) -> impl FnOnce(serde_json::Error) -> IndexError {
    let path = dir.to_owned();
    move |e| IndexError::Damaged { path, why: format!("its watermarks cannot be read: {e}") }
}

pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> IndexError {
    let path = path.to_owned();
    move |source| IndexError::Io { action, path, source }
}
