//! Rounds over the links: pages that are called otherwise by now are taken in again.
//!
//! * A page is indexed with what others called it until then. Pages read later may call it
//!   otherwise, and nobody tells it; so now and then the links of the pages that were read since
//!   the last round are followed, and the pages they lead to are looked at.
//! * A page is taken in again when it is called by words that it does not say itself, in its title,
//!   its headings or its URL, and that it was not found by before (in a round over all pages also when
//!   words have gone); or when its back-links have
//!   grown or shrunk by an order of magnitude. Other words would find what is found already.
//! * How far the rounds are is in the commits, as it is for pages: what a crash undid is done again.

use crate::error::IndexError;
use crate::index::{BATCH, Found, Index, Source, shown};
use crate::links::{LinkedAs, Links};
use crate::view::View;
use argiope_model::{DocId, Suffixes, Time, UrlKey};
use argiope_store::{Ended, Store, UrlRow};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

/// Which pages a round looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundOf {
    /// Those that the pages read since the last round link to.
    News,
    /// All, after a document: where links have gone, nobody tells where they led.
    All(Option<DocId>),
}

/// What came of a piece of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Pages looked at.
    pub checked: u64,
    /// Pages that are linked to in other words than before, indexed again.
    pub indexed: u64,
    /// How to go on; `None` when the round is over.
    pub next: Option<RoundOf>,
}

/// What the index knows of the links to a page.
struct Marks {
    digest: u64,
    /// The words it is found by because others use them, in their order.
    extra: Vec<u64>,
    backlinks: u64,
    /// From when on the page was as it is.
    from: Time,
}

impl Index {
    /// Makes a piece of a round, over about `limit` pages that are linked to. What was indexed
    /// again is visible after [`Index::commit`]. Pages that are not committed are not looked at.
    pub fn links_round(
        &mut self,
        store: &dyn Store,
        texts: &Path,
        pinned: &Suffixes,
        links: &dyn Links,
        of: RoundOf,
        limit: usize,
    ) -> Result<Round, IndexError> {
        let source = Source { store, texts, pinned, links };
        let mut round = Round::default();
        let view = self.view();
        let gone = matches!(of, RoundOf::All(_));
        let mut linked = None;
        let pages = match of {
            RoundOf::News => {
                let (targets, until, more) = self.targets(&source, limit)?;
                linked = Some(until);
                round.next = more.then_some(RoundOf::News);
                known_targets(store, targets)?
            }
            RoundOf::All(after) => {
                let docs = view.documents_after(after, limit)?;
                let last = docs.last().copied().filter(|_| docs.len() >= limit.max(1));
                round.next = last.map(|last| RoundOf::All(Some(last)));
                let keys = store.docs(&docs)?;
                docs.into_iter().zip(keys).filter_map(|(doc, key)| Some((doc, key?))).collect()
            }
        };
        let marks = view.link_marks(&pages)?;
        let pages: Vec<(DocId, UrlKey)> =
            pages.into_iter().filter(|(doc, _)| marks.contains_key(doc)).collect();
        let called = links.linked_as(&pages).map_err(IndexError::Links)?;
        round.checked = pages.len() as u64;
        let mut other: Vec<(DocId, UrlKey, LinkedAs)> = Vec::new();
        for ((doc, key), called) in pages.into_iter().zip(called) {
            let marks = &marks[&doc];
            if called.digest() != marks.digest || called.grown(marks.backlinks) {
                other.push((doc, key, called));
            }
        }
        for pages in other.chunks(BATCH) {
            let keys: Vec<UrlKey> = pages.iter().map(|(_, key, _)| *key).collect();
            for ((doc, key, called), row) in pages.iter().zip(store.urls(&keys)?) {
                let Some(row) = row else { continue };
                let again = self.again(&source, gone, (*doc, *key), &row, called, &marks[doc])?;
                round.indexed += u64::from(again);
            }
        }
        if let Some(until) = linked {
            self.linked = until;
            self.rounded = true;
        }
        Ok(round)
    }

    /// Takes a page in again if what it is called now would find it otherwise.
    fn again(
        &mut self,
        source: &Source<'_>,
        gone: bool,
        (doc, key): (DocId, UrlKey),
        row: &UrlRow,
        called: &LinkedAs,
        marks: &Marks,
    ) -> Result<bool, IndexError> {
        let Some(shown) = shown(&source.store.captures(key)?) else { return Ok(false) };
        let found = Found { doc, row, shown: &shown, first: false, from: marks.from };
        let Some(text) = self.text_of(source, &found)? else { return Ok(false) };
        let extra = self.press.extra(&text, &row.url, called);
        let known = match gone {
            // What nobody says any more is not to be found.
            true => extra == marks.extra,
            false => extra.iter().all(|word| marks.extra.binary_search(word).is_ok()),
        };
        if known && !called.grown(marks.backlinks) {
            return Ok(false);
        }
        self.put_text(source, &found, &text, called.clone())?;
        Ok(true)
    }

    /// Where the pages link to that were read since the last round, how far the change log is
    /// then looked at, and whether there is more.
    #[allow(clippy::type_complexity)]
    fn targets(
        &self,
        source: &Source<'_>,
        limit: usize,
    ) -> Result<(HashSet<UrlKey>, BTreeMap<u16, u64>, bool), IndexError> {
        let mut targets: HashSet<UrlKey> = HashSet::new();
        let mut until = self.linked.clone();
        for (&part, &head) in &self.read {
            let mut after = until.get(&part).copied().unwrap_or(0);
            while after < head {
                if targets.len() >= limit.max(1) {
                    return Ok((targets, until, true));
                }
                let rows = source.store.changes(part, after, BATCH)?;
                let Some(last) = rows.last() else { break };
                after = last.n.min(head);
                let told = rows.iter().filter(|row| row.n <= head && row.changed);
                let told = told.filter(|row| row.ended == Ended::WithPage);
                let pages: Vec<UrlKey> = told.map(|row| row.key).collect();
                let mut note = |_: usize, target: UrlKey, _: &str| {
                    targets.insert(target);
                };
                source.links.links_of(&pages, &mut note).map_err(IndexError::Links)?;
                until.insert(part, after);
            }
        }
        Ok((targets, until, false))
    }
}

/// Those of these URLs that have a number.
fn known_targets(
    store: &dyn Store,
    targets: HashSet<UrlKey>,
) -> Result<Vec<(DocId, UrlKey)>, IndexError> {
    // In the order of keys, as the store has them.
    let mut keys: Vec<UrlKey> = targets.into_iter().collect();
    keys.sort_unstable();
    let mut out = Vec::with_capacity(keys.len());
    for keys in keys.chunks(BATCH) {
        let rows = store.urls(keys)?;
        out.extend(rows.into_iter().zip(keys).filter_map(|(row, key)| Some((row?.doc, *key))));
    }
    Ok(out)
}

impl View {
    /// What is known of the links to those of these pages that are in the index.
    fn link_marks(&self, pages: &[(DocId, UrlKey)]) -> Result<HashMap<DocId, Marks>, IndexError> {
        let wanted: HashSet<DocId> = pages.iter().map(|(doc, _)| *doc).collect();
        let mut found = HashMap::with_capacity(wanted.len());
        let failed = self.failed("read");
        for segment in self.searcher.segment_readers() {
            let columns = segment.fast_fields();
            let column = |name| columns.u64(name).map_err(&failed);
            let (docs, backlinks) = (column("doc")?, column("backlinks")?);
            let froms = columns.i64("from").map_err(&failed)?;
            let (digests, extras) = (column("link_digest")?, column("link_extra")?);
            for at in segment.doc_ids_alive() {
                let doc = DocId(docs.first(at).unwrap_or(0));
                if wanted.contains(&doc) {
                    let mut extra: Vec<u64> = extras.values_for_doc(at).collect();
                    extra.sort_unstable();
                    let marks = Marks {
                        digest: digests.first(at).unwrap_or(0),
                        extra,
                        backlinks: backlinks.first(at).unwrap_or(0),
                        from: Time(froms.first(at).unwrap_or(0)),
                    };
                    found.insert(doc, marks);
                }
            }
        }
        Ok(found)
    }

    /// The first `limit` documents after one, in their order.
    fn documents_after(
        &self,
        after: Option<DocId>,
        limit: usize,
    ) -> Result<Vec<DocId>, IndexError> {
        let mut found = Vec::new();
        let failed = self.failed("read");
        for segment in self.searcher.segment_readers() {
            let docs = segment.fast_fields().u64("doc").map_err(&failed)?;
            let docs = segment.doc_ids_alive().map(|at| DocId(docs.first(at).unwrap_or(0)));
            found.extend(docs.filter(|doc| after.is_none_or(|after| *doc > after)));
        }
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }
}
