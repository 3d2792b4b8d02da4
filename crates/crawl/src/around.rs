//! The neighbourhood of a page: the most important pages that link to it, and those it links to.
//!
//! * Its place: the answer to [`Question::Around`](crate::Question::Around), which a picture is drawn from.
//! * Invariants: of the linking pages at most [`LOOKED_AT`] are looked at, of its own links as many.

use crate::backlinks::Backlinks;
use argiope_graph::rank::Measure;
use argiope_graph::{GraphError, outgoing};
use argiope_model::{CanonicalUrl, DocId, UrlKey};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Pages looked at on each side.
const LOOKED_AT: usize = 300;
/// Pages named on each side, at most.
const MOST: usize = 50;

impl Backlinks {
    /// Rows of both sides, the highest ranking first: `side` is `in` or `out`.
    pub(crate) fn around(
        &self,
        url: &str,
        key: UrlKey,
        limit: usize,
    ) -> Result<Vec<Value>, GraphError> {
        let limit = limit.min(MOST);
        let found = self.view()?.incoming(self.store(), self.pinned(), key, None, LOOKED_AT)?;
        let sources = found.rows.into_iter().map(|link| (link.source, link.words));
        let mut rows = self.best("in", url, sources, limit)?;
        let page = outgoing(self.store(), key)?;
        let targets = page.links.into_iter().map(|link| (link.url, link.words.to_string()));
        rows.extend(self.best("out", url, targets.take(LOOKED_AT), limit)?);
        Ok(rows)
    }

    fn best(
        &self,
        side: &str,
        of: &str,
        links: impl Iterator<Item = (CanonicalUrl, String)>,
        limit: usize,
    ) -> Result<Vec<Value>, GraphError> {
        let mut met = HashSet::new();
        let links: Vec<(CanonicalUrl, String)> =
            links.filter(|(url, _)| url.as_str() != of && met.insert(url.to_string())).collect();
        let keys: Vec<UrlKey> = links.iter().map(|(url, _)| url.key(self.pinned())).collect();
        let rows = self.store().urls(&keys)?;
        let docs: Vec<DocId> = rows.iter().flatten().map(|row| row.doc).collect();
        let mut ranks = self.ranks_of(Measure::PageRank, &docs).into_iter();
        let mut out: Vec<(f64, Value)> = Vec::new();
        for ((url, words), row) in links.into_iter().zip(rows) {
            let rank = row.as_ref().and_then(|_| ranks.next().flatten());
            let state = row.as_ref().map(|row| row.state.name());
            let told = json!({ "side": side, "url": url.as_str(), "words": words, "rank": rank,
                "state": state });
            // What somebody has met comes before what nobody has.
            let worth = rank.unwrap_or(if row.is_some() { 0.0 } else { -1.0 });
            out.push((worth, told));
        }
        out.sort_by(|a, b| b.0.total_cmp(&a.0));
        let all = out.len();
        let named = out.into_iter().take(limit).map(|(_, mut row)| {
            row["of"] = json!(all);
            row
        });
        Ok(named.collect())
    }
}
