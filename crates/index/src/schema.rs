//! The fields of a document in tantivy.
//!
//! Texts arrive analysed (see `analyse::feed`); nothing but the URL is stored, since everything
//! else that is shown comes from the text blobs and the store.

use crate::analyse::{Flow, Parents, Replay};
use std::sync::Arc;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

/// The format of an index; another one is made anew.
pub(crate) const FORMAT: u32 = 3;

#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// With positions.
    pub title: Field,
    pub headings: Field,
    pub body: Field,
    pub address: Field,
    pub links: Field,
    /// Without: stems and pieces of words.
    pub loose: Field,
    /// To be filtered by.
    pub host: Field,
    pub language: Field,
    pub kind: Field,
    pub doc: Field,
    /// To be looked up.
    pub site: Field,
    pub first_seen: Field,
    pub changed: Field,
    pub fetched: Field,
    pub size: Field,
    pub backlinks: Field,
    pub link_digest: Field,
    pub link_extra: Field,
    /// What it is compared with other pages by; see `near`.
    pub marks: Field,
    pub called: Field,
    pub segment: Field,
    pub offset: Field,
    pub length: Field,
    pub flags: Field,
    /// From when on it was as it is.
    pub from: Field,
    /// To be shown.
    pub url: Field,
}

/// What a document of the past has beside the fields of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PastFields {
    /// When it was there no more.
    pub until: Field,
    /// Its page and when it began: what it is replaced and removed by.
    pub version: Field,
}

/// The column of [`PastFields::until`]; only documents of the past have it.
pub(crate) const UNTIL: &str = "until";

/// The page asks that no piece of it be shown.
pub(crate) const NO_SNIPPET: u64 = 1;

impl Fields {
    pub fn schema() -> (Schema, Fields) {
        let (schema, fields) = Self::builder();
        (schema.build(), fields)
    }

    /// The fields of past versions: those of pages, and some more behind them.
    pub fn past_schema() -> (Schema, Fields, PastFields) {
        let (mut schema, fields) = Self::builder();
        let past = PastFields {
            until: schema.add_i64_field(UNTIL, FAST),
            version: schema.add_text_field("version", STRING),
        };
        (schema.build(), fields, past)
    }

    fn builder() -> (SchemaBuilder, Fields) {
        let mut schema = Schema::builder();
        let words = |record| {
            let indexing = TextFieldIndexing::default().set_tokenizer("replay");
            TextOptions::default().set_indexing_options(indexing.set_index_option(record))
        };
        let placed = words(IndexRecordOption::WithFreqsAndPositions);
        let hosts = TextFieldIndexing::default()
            .set_tokenizer("parents")
            .set_fieldnorms(false)
            .set_index_option(IndexRecordOption::Basic);
        let hosts = TextOptions::default().set_indexing_options(hosts).set_fast("raw");
        let fields = Fields {
            title: schema.add_text_field("title", placed.clone()),
            headings: schema.add_text_field("headings", placed.clone()),
            body: schema.add_text_field("body", placed.clone()),
            address: schema.add_text_field("address", placed.clone()),
            links: schema.add_text_field("links", placed),
            loose: schema.add_text_field("loose", words(IndexRecordOption::WithFreqs)),
            host: schema.add_text_field("host", hosts),
            language: schema.add_text_field("language", STRING | FAST),
            kind: schema.add_text_field("kind", STRING | FAST),
            doc: schema.add_u64_field("doc", INDEXED | FAST),
            site: schema.add_text_field("site", TextOptions::default().set_fast("raw")),
            first_seen: schema.add_i64_field("first_seen", FAST),
            changed: schema.add_i64_field("changed", FAST),
            fetched: schema.add_i64_field("fetched", FAST),
            size: schema.add_u64_field("size", FAST),
            backlinks: schema.add_u64_field("backlinks", FAST),
            link_digest: schema.add_u64_field("link_digest", FAST),
            link_extra: schema.add_u64_field("link_extra", FAST),
            marks: schema.add_u64_field("marks", FAST),
            called: schema.add_u64_field("called", FAST),
            segment: schema.add_u64_field("segment", FAST),
            offset: schema.add_u64_field("offset", FAST),
            length: schema.add_u64_field("length", FAST),
            flags: schema.add_u64_field("flags", FAST),
            from: schema.add_i64_field("from", FAST),
            url: schema.add_text_field("url", STORED),
        };
        (schema, fields)
    }
}

/// The tokenizers that the schema names; what they read makes room in `flow`.
pub(crate) fn tokenizers(flow: Arc<Flow>) -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register("replay", TextAnalyzer::from(Replay::new(flow)));
    manager.register("parents", TextAnalyzer::from(Parents::default()));
    manager
}
