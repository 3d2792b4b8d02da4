//! Filters of a query: what narrows the pages found and adds nothing to their scores.

use super::plan::{Boxed, Planner, boolean};
use crate::query::Filter;
use argiope_model::{DocId, Time};
use std::ops::Bound;
use tantivy::Term;
use tantivy::query::{
    ConstScoreQuery, EmptyQuery, InvertedIndexRangeQuery, Occur, RangeQuery, TermQuery,
    TermSetQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

impl Planner<'_> {
    pub(super) fn filter(&mut self, filter: &Filter) -> Boxed {
        let fields = &self.view.fields;
        let exact = |field: Field, text: &str| -> Boxed {
            let term = Term::from_field_text(field, text);
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        };
        let time = |at: i64| Term::from_field_i64(fields.changed, at);
        let query: Boxed = match filter {
            Filter::Site(host) => exact(fields.host, host),
            Filter::Language(language) => {
                exact(fields.language, language.split(['-', '_']).next().unwrap_or(language))
            }
            Filter::Kind(kind) if kind.contains('/') => exact(fields.kind, kind),
            Filter::Kind(kind) => {
                let mut kinds = vec![
                    format!("application/{kind}"),
                    format!("text/{kind}"),
                    format!("application/x-{kind}"),
                ];
                match &**kind {
                    "html" => kinds.push("application/xhtml+xml".into()),
                    "text" | "txt" => kinds.push("text/plain".into()),
                    _ => {}
                }
                let terms = kinds.iter().map(|kind| Term::from_field_text(fields.kind, kind));
                let mut ways: Vec<(Occur, Boxed)> =
                    vec![(Occur::Should, Box::new(TermSetQuery::new(terms)))];
                if matches!(&**kind, "image" | "audio" | "video" | "font") {
                    let range = InvertedIndexRangeQuery::new(
                        Bound::Included(Term::from_field_text(fields.kind, &format!("{kind}/"))),
                        Bound::Excluded(Term::from_field_text(fields.kind, &format!("{kind}0"))),
                    );
                    ways.push((Occur::Should, Box::new(range)));
                }
                boolean(ways)
            }
            Filter::Before(at) => {
                Box::new(RangeQuery::new(Bound::Unbounded, Bound::Excluded(time(at.0))))
            }
            Filter::After(at) => {
                self.fresh = true;
                Box::new(RangeQuery::new(Bound::Included(time(at.0)), Bound::Unbounded))
            }
            Filter::FirstSeen(from, before) => {
                let seen = |at: &Time| Term::from_field_i64(fields.first_seen, at.0);
                let from = from.as_ref().map_or(Bound::Unbounded, |at| Bound::Included(seen(at)));
                let before =
                    before.as_ref().map_or(Bound::Unbounded, |at| Bound::Excluded(seen(at)));
                Box::new(RangeQuery::new(from, before))
            }
            Filter::Link(url) => match (self.linking)(url) {
                Ok(docs) => {
                    let term = |doc: DocId| Term::from_field_u64(fields.doc, doc.0);
                    Box::new(TermSetQuery::new(docs.into_iter().map(term)))
                }
                Err(e) => {
                    self.failure = Some(e);
                    Box::new(EmptyQuery)
                }
            },
        };
        Box::new(ConstScoreQuery::new(query, 0.0))
    }
}
