//! What the index held at one moment, to be asked.
//!
//! A view stays as it is while the index goes on: tantivy keeps the segments it reads until
//! nobody reads them. Visitors of another process open their own with [`View::open`].

use crate::analyse::StopList;
use crate::error::IndexError;
use crate::index::{open_known, payload_of};
use crate::past::Past;
use crate::schema::{Fields, NO_SNIPPET, UNTIL};
use crate::texts::Texts;
use crate::versions::Held;
use argiope_archive::{Fingerprint, Siblings, TitlePrint};
use argiope_model::{DocId, Location, Time};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tantivy::columnar::{Column, StrColumn};
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, ReloadPolicy, Searcher, SegmentReader, TERMINATED, Term};

/// The index as it was committed at one moment.
#[derive(Clone)]
pub struct View {
    pub(crate) dir: PathBuf,
    pub(crate) searcher: Searcher,
    pub(crate) fields: Fields,
    pub(crate) stop: Arc<StopList>,
    pub(crate) language: String,
    /// The versions that are no more, where there are any.
    pub(crate) past: Option<Arc<View>>,
    /// What does not change while the view stands, read when it is first asked for.
    pub(crate) known: Arc<Known>,
}

/// What searches ask of a view again and again.
#[derive(Default)]
pub(crate) struct Known {
    /// How many documents are in each language, most first.
    pub languages: OnceLock<Vec<(String, u64)>>,
    /// The segments, in their order.
    pub segments: Arc<[SegmentId]>,
    /// The columns of each segment.
    pub looks: Vec<OnceLock<Looks>>,
    /// What a field's length makes of a word in it, by the field and the number of its length.
    pub lengths: Vec<OnceLock<Arc<[f32; 256]>>>,
    /// Long texts that snippets were cut from.
    pub texts: Texts,
    /// Pages of a site that others of it are compared with.
    pub siblings: Mutex<HashMap<String, Arc<Siblings>>>,
}

/// How large an index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexSize {
    /// Documents in it.
    pub documents: u64,
    /// Segments on disk.
    pub segments: usize,
    /// Bytes on disk.
    pub disk: u64,
}

impl View {
    pub(crate) fn new(
        dir: PathBuf,
        searcher: Searcher,
        fields: Fields,
        stop: Arc<StopList>,
        language: String,
    ) -> Self {
        let ids = searcher.segment_readers().iter().map(SegmentReader::segment_id);
        let mut known = Known { segments: ids.collect(), ..Known::default() };
        known.looks.resize_with(searcher.segment_readers().len(), OnceLock::new);
        known.lengths.resize_with(searcher.schema().num_fields(), OnceLock::new);
        View { dir, searcher, fields, stop, language, past: None, known: Arc::new(known) }
    }

    /// Opens the index in a directory for reading, as it was last committed, beside the process
    /// that writes it or without one.
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        if !dir.join("meta.json").exists() {
            return Err(IndexError::Missing(dir.to_owned()));
        }
        let index = open_known(dir, &Fields::schema().0, Arc::default())?;
        let failed = IndexError::tantivy("open", dir);
        let Some(payload) = payload_of(&index, dir)? else {
            return Err(IndexError::Missing(dir.to_owned()));
        };
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader: tantivy::IndexReader = reader.try_into().map_err(&failed)?;
        let stop = Arc::new(StopList::new(&payload.stop_words));
        let (_, fields) = Fields::schema();
        let mut view = View::new(dir.to_owned(), reader.searcher(), fields, stop, payload.language);
        if let Some(past) = Past::open(dir, payload.past, Arc::default(), 0)?.searcher() {
            view.keep_past(past);
        }
        Ok(view)
    }

    /// Remembers what was before.
    pub(crate) fn keep_past(&mut self, past: Searcher) {
        let (dir, fields) = (self.dir.clone(), self.fields.clone());
        let past = View::new(dir, past, fields, self.stop.clone(), self.language.clone());
        self.past = Some(Arc::new(past));
    }

    /// How far each partition's change log is in it.
    pub fn watermarks(&self) -> Result<Vec<(u16, u64)>, IndexError> {
        let payload = payload_of(self.searcher.index(), &self.dir)?;
        Ok(payload.map(|payload| payload.read.into_iter().collect()).unwrap_or_default())
    }

    /// How large it is.
    pub fn size(&self) -> Result<IndexSize, IndexError> {
        let usage = self.searcher.space_usage().map_err(|e| self.failed("measure")(e.into()))?;
        Ok(IndexSize {
            documents: self.searcher.num_docs(),
            segments: self.searcher.segment_readers().len(),
            disk: usage.total().get_bytes(),
        })
    }

    /// Shows every document and where the text lies that was indexed for it, in no order: what
    /// a check compares with the store.
    pub fn each_document(&self, mut each: impl FnMut(DocId, Location)) -> Result<(), IndexError> {
        for segment in self.searcher.segment_readers() {
            let columns = Columns::open(segment).map_err(self.failed("read"))?;
            for doc in segment.doc_ids_alive() {
                each(columns.doc(doc), columns.location(doc));
            }
        }
        Ok(())
    }

    /// Shows every version that is no more, in no order, with what a check compares.
    pub fn each_past(&self, mut each: impl FnMut(DocId, Held)) -> Result<(), IndexError> {
        self.past.as_deref().map_or(Ok(()), |past| past.each_version(&mut each))
    }

    /// Shows every document as a version of its page.
    pub fn each_version(&self, each: &mut dyn FnMut(DocId, Held)) -> Result<(), IndexError> {
        for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
            let looks = self.looks(ord as u32).map_err(self.failed("read"))?;
            for doc in segment.doc_ids_alive() {
                each(looks.doc(doc), looks.held(doc));
            }
        }
        Ok(())
    }

    /// How large what it keeps of the past is.
    pub fn past_size(&self) -> Result<IndexSize, IndexError> {
        self.past.as_deref().map_or(Ok(IndexSize::default()), View::size)
    }

    /// Whether a document is in the index, and where the text lies that was indexed for it.
    pub fn text_of(&self, doc: DocId) -> Result<Option<Location>, IndexError> {
        let Some(at) = self.find(doc)? else { return Ok(None) };
        let segment = self.searcher.segment_reader(at.segment_ord);
        let columns = Columns::open(segment).map_err(self.failed("read"))?;
        Ok(Some(columns.location(at.doc_id)))
    }

    /// Where a document stands.
    pub(crate) fn find(&self, doc: DocId) -> Result<Option<DocAddress>, IndexError> {
        let mut found = None;
        self.find_all(doc, |at| {
            found = Some(at);
            false
        })?;
        Ok(found)
    }

    /// The versions of a document that are here.
    pub(crate) fn held(&self, doc: DocId) -> Result<Vec<Held>, IndexError> {
        let mut places = Vec::new();
        self.find_all(doc, |at| {
            places.push(at);
            true
        })?;
        let held = |at: DocAddress| Ok(self.looks(at.segment_ord)?.held(at.doc_id));
        let held: tantivy::Result<Vec<Held>> = places.into_iter().map(held).collect();
        held.map_err(self.failed("look up a document"))
    }

    /// Shows where a document stands, for as long as more is wanted.
    fn find_all(
        &self,
        doc: DocId,
        mut each: impl FnMut(DocAddress) -> bool,
    ) -> Result<(), IndexError> {
        let term = Term::from_field_u64(self.fields.doc, doc.0);
        let mut look = || {
            for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
                let index = segment.inverted_index(self.fields.doc)?;
                let Some(mut found) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                    continue;
                };
                while found.doc() != TERMINATED {
                    let at = DocAddress::new(ord as u32, found.doc());
                    if !segment.is_deleted(found.doc()) && !each(at) {
                        return Ok(());
                    }
                    found.advance();
                }
            }
            Ok(())
        };
        look().map_err(self.failed("look up a document"))
    }

    /// What of a segment's documents is shown and compared.
    pub(crate) fn looks(&self, segment: u32) -> tantivy::Result<&Looks> {
        let known = &self.known.looks[segment as usize];
        if let Some(looks) = known.get() {
            return Ok(looks);
        }
        let looks = Looks::open(self.searcher.segment_reader(segment))?;
        Ok(known.get_or_init(|| looks))
    }

    pub(crate) fn failed(
        &self,
        action: &'static str,
    ) -> impl Fn(tantivy::TantivyError) -> IndexError + use<> {
        IndexError::tantivy(action, &self.dir)
    }
}

fn column(segment: &SegmentReader, name: &str) -> tantivy::Result<Column<u64>> {
    segment.fast_fields().u64(name)
}

/// What of a document is looked up.
pub(crate) struct Columns {
    doc: Column<u64>,
    segment: Column<u64>,
    offset: Column<u64>,
    length: Column<u64>,
}

impl Columns {
    pub fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        Ok(Columns {
            doc: column(segment, "doc")?,
            segment: column(segment, "segment")?,
            offset: column(segment, "offset")?,
            length: column(segment, "length")?,
        })
    }

    pub fn doc(&self, doc: tantivy::DocId) -> DocId {
        DocId(self.doc.first(doc).unwrap_or(0))
    }

    pub fn location(&self, doc: tantivy::DocId) -> Location {
        let of = |column: &Column<u64>| column.first(doc).unwrap_or(0);
        Location {
            segment: u32::try_from(of(&self.segment)).unwrap_or(0),
            offset: of(&self.offset),
            length: of(&self.length),
        }
    }
}

/// What of a document is shown and compared.
pub(crate) struct Looks {
    columns: Columns,
    marks: Column<u64>,
    called: Column<u64>,
    flags: Column<u64>,
    fetched: Column<i64>,
    changed: Column<i64>,
    from: Column<i64>,
    until: Option<Column<i64>>,
    backlinks: Column<u64>,
    site: Names,
    language: Names,
}

/// A column of texts that are few; those asked for are remembered.
struct Names {
    column: Option<StrColumn>,
    known: Mutex<HashMap<u64, String>>,
}

/// Names that are remembered of a column.
const NAMES: usize = 1024;

impl Names {
    fn new(column: Option<StrColumn>) -> Self {
        Names { column, known: Mutex::default() }
    }

    fn of(&self, doc: u32) -> Option<String> {
        let column = self.column.as_ref()?;
        let ord = column.term_ords(doc).next()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known.get(&ord) {
            return Some(name.clone());
        }
        let mut name = String::new();
        column.ord_to_str(ord, &mut name).ok()?;
        if known.len() < NAMES {
            known.insert(ord, name.clone());
        }
        Some(name)
    }
}

impl Looks {
    fn open(segment: &SegmentReader) -> tantivy::Result<Self> {
        let fast = segment.fast_fields();
        Ok(Looks {
            columns: Columns::open(segment)?,
            marks: fast.u64("marks")?,
            called: fast.u64("called")?,
            flags: fast.u64("flags")?,
            fetched: fast.i64("fetched")?,
            changed: fast.i64("changed")?,
            from: fast.i64("from")?,
            until: fast.column_opt(UNTIL)?,
            backlinks: fast.u64("backlinks")?,
            site: Names::new(fast.str("site")?),
            language: Names::new(fast.str("language")?),
        })
    }

    pub fn doc(&self, doc: u32) -> DocId {
        self.columns.doc(doc)
    }

    pub fn location(&self, doc: u32) -> Location {
        self.columns.location(doc)
    }

    pub fn print(&self, doc: u32) -> Fingerprint {
        Fingerprint::from_marks(self.marks.values_for_doc(doc).map(|mark| mark as u32))
    }

    pub fn title(&self, doc: u32) -> TitlePrint {
        TitlePrint::from_words(self.called.values_for_doc(doc).map(|word| word as u16))
    }

    pub fn no_snippet(&self, doc: u32) -> bool {
        self.flags.first(doc).unwrap_or(0) & NO_SNIPPET != 0
    }

    pub fn fetched(&self, doc: u32) -> Time {
        Time(self.fetched.first(doc).unwrap_or(0))
    }

    pub fn changed(&self, doc: u32) -> Time {
        Time(self.changed.first(doc).unwrap_or(0))
    }

    pub fn from(&self, doc: u32) -> Time {
        Time(self.from.first(doc).unwrap_or(0))
    }

    pub fn until(&self, doc: u32) -> Option<Time> {
        self.until.as_ref()?.first(doc).map(Time)
    }

    pub fn held(&self, doc: u32) -> Held {
        Held {
            from: self.from(doc),
            until: self.until(doc),
            fetched: self.fetched(doc),
            location: self.location(doc),
        }
    }

    pub fn backlinks(&self, doc: u32) -> u64 {
        self.backlinks.first(doc).unwrap_or(0)
    }

    pub fn site(&self, doc: u32) -> String {
        self.site.of(doc).unwrap_or_default()
    }

    pub fn language(&self, doc: u32) -> Option<String> {
        self.language.of(doc)
    }
}
