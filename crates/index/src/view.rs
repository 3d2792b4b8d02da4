//! What the index held at one moment, to be asked.
//!
//! A view stays as it is while the index goes on: tantivy keeps the segments it reads until
//! nobody reads them. Visitors of another process open their own with [`View::open`].

use crate::analyse::StopList;
use crate::error::IndexError;
use crate::index::{open_known, payload_of};
use crate::schema::Fields;
use argiope_model::{DocId, Location};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::columnar::Column;
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
        View { dir, searcher, fields, stop, language }
    }

    /// Opens the index in a directory for reading, as it was last committed, beside the process
    /// that writes it or without one.
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        if !dir.join("meta.json").exists() {
            return Err(IndexError::Missing(dir.to_owned()));
        }
        let index = open_known(dir, Arc::default())?;
        let failed = IndexError::tantivy("open", dir);
        let Some(payload) = payload_of(&index, dir)? else {
            return Err(IndexError::Missing(dir.to_owned()));
        };
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader: tantivy::IndexReader = reader.try_into().map_err(&failed)?;
        let stop = Arc::new(StopList::new(&payload.stop_words));
        let (_, fields) = Fields::schema();
        Ok(View::new(dir.to_owned(), reader.searcher(), fields, stop, payload.language))
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

    /// Whether a document is in the index, and where the text lies that was indexed for it.
    pub fn text_of(&self, doc: DocId) -> Result<Option<Location>, IndexError> {
        let Some(at) = self.find(doc)? else { return Ok(None) };
        let segment = self.searcher.segment_reader(at.segment_ord);
        let columns = Columns::open(segment).map_err(self.failed("read"))?;
        Ok(Some(columns.location(at.doc_id)))
    }

    /// Where a document stands.
    pub(crate) fn find(&self, doc: DocId) -> Result<Option<DocAddress>, IndexError> {
        let term = Term::from_field_u64(self.fields.doc, doc.0);
        let look = || {
            for (ord, segment) in self.searcher.segment_readers().iter().enumerate() {
                let index = segment.inverted_index(self.fields.doc)?;
                let Some(mut found) = index.read_postings(&term, IndexRecordOption::Basic)? else {
                    continue;
                };
                while found.doc() != TERMINATED {
                    if !segment.is_deleted(found.doc()) {
                        return Ok(Some(DocAddress::new(ord as u32, found.doc())));
                    }
                    found.advance();
                }
            }
            Ok(None)
        };
        look().map_err(self.failed("look up a document"))
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
