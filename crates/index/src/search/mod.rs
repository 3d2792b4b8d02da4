//! Searching: a question, its answer, and how one is made from the other.
//!
//! * The way of a query: parsed ([`crate::query`]), planned (`plan`), collected: every matching
//!   document is counted and scored by its words (`word`), the best are kept; the best hundred
//!   are looked at closely (`rank`): nearness and order of the words, how early they stand,
//!   whether they are the whole title or a whole heading, links, freshness; near-duplicates are
//!   folded; what is shown gets its snippet from the text blobs.
//! * Where fewer than ten pages hold all the words, pages that hold some of them follow.
//! * Invariants: the total is exact unless the time ran out, which the answer then says; the
//!   order of results does not depend on the page of results that is asked for.

mod apart;
mod collect;
mod exactly;
mod filter;
mod lookups;
mod places;
mod plan;
mod rank;
mod some;
mod then;
mod weights;
mod wide;
mod word;

use crate::error::IndexError;
use crate::links::Links;
use crate::near::Folding;
use crate::query::{Filter, Mistake, Node, Sign, parse};
use crate::snippet::{self, Snippet};
use crate::view::View;
use argiope_archive::TextReader;
use argiope_model::{DocId, Time};
use collect::{Collected, Found, Wanted};
use places::{Stands, near_items};
use plan::{Plan, Planner};
use rank::Closely;
use std::path::Path;
use std::time::{Duration, Instant};
use tantivy::DocAddress;
use weights::{CLOSELY, FEW};
use wide::Clock;

pub(crate) use lookups::Lookups;
pub(crate) use places::Stand;
pub(crate) use plan::Item;
pub(crate) use rank::stored_url;

/// In which order hits come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The best first.
    #[default]
    Relevance,
    /// The last changed first.
    Date,
}

/// What is wanted of a search beside its query.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Hits wanted.
    pub limit: usize,
    /// Hits to leave out before them.
    pub offset: usize,
    /// Their order.
    pub sort: Sort,
    /// Count the pages by site, language and year.
    pub facets: bool,
    /// Tell what each score is made of.
    pub explain: bool,
    /// Raise pages that changed shortly before [`SearchOptions::now`]. `after:` in a query asks
    /// for it as well.
    pub fresh: bool,
    /// The time of the search, for freshness.
    pub now: Time,
    /// Search the pages as they were at this time, not as they are.
    pub at: Option<Time>,
    /// Cut a piece out of every hit's text.
    pub snippets: bool,
    /// Hits that are nearly the same page stand under one.
    pub fold: bool,
    /// Look for other spellings where nothing is found.
    pub suggest: bool,
    /// What other pages say of a page counts: how they call it, how many link to it, its rank.
    pub links: bool,
    /// How long it may take.
    pub time_limit: Duration,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            limit: 10,
            offset: 0,
            sort: Sort::Relevance,
            facets: false,
            explain: false,
            fresh: false,
            now: Time(0),
            at: None,
            snippets: true,
            fold: true,
            suggest: true,
            links: true,
            time_limit: Duration::from_secs(2),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Pages that match, all of them counted.
    pub total: u64,
    /// Pages that hold only some of the words, which follow where `total` is small.
    pub partial: u64,
    /// The time ran out: the total is a lower bound, and better hits may be missing.
    pub timed_out: bool,
    /// The hits asked for.
    pub hits: Vec<Hit>,
    /// How the pages are spread, where that was asked for.
    pub facets: Option<Facets>,
    /// The query with words spelled as the index knows them, where it knows better.
    pub did_you_mean: Option<String>,
    /// Stop words of the query: looked for in titles, headings, URLs and links only.
    pub ignored: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// One page found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Its place, from 1.
    pub rank: usize,
    /// The score it was ordered by.
    pub score: f32,
    /// Its number.
    pub doc: DocId,
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: String,
    /// A piece of its text.
    pub snippet: Snippet,
    /// Its site.
    pub site: String,
    /// Its language, where known.
    pub language: Option<String>,
    /// When it was asked for, as the index knows.
    pub fetched_at: Time,
    /// When its text last changed.
    pub changed_at: Time,
    /// From when on the page was as it was found.
    pub from: Time,
    /// Until when; `None` where it still is, as far as is known.
    pub until: Option<Time>,
    /// It holds only some of the words.
    pub partial: bool,
    /// Pages that are nearly the same and were left out for it.
    pub alike: Vec<Alike>,
    /// What the score is made of, where that was asked for; the parts add up to it.
    pub parts: Vec<(String, f32)>,
}

/// A page that was left out for another that is nearly the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// Its number.
    pub doc: DocId,
    /// Its URL.
    pub url: String,
}

/// How the pages found are spread, most first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// By site.
    pub sites: Vec<(String, u64)>,
    /// By language; pages of unknown language are left out.
    pub languages: Vec<(String, u64)>,
    /// By the year of their last change.
    pub years: Vec<(String, u64)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is written wrongly.
    #[error(transparent)]
    Mistake(#[from] Mistake),
    /// Something of ours failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl View {
    /// Searches the pages as they are, or as they were at the time that the options name. `texts` is
    /// where the text blobs lie, for titles and snippets; `links` answers `link:`.
    pub fn search(
        &self,
        query: &str,
        texts: &Path,
        links: &dyn Links,
        options: &SearchOptions,
    ) -> Result<Answer, SearchError> {
        match options.at {
            None => self.search_here(query, texts, links, options),
            Some(_) => self.search_then(query, texts, links, options),
        }
    }

    /// Searches the documents of this index.
    fn search_here(
        &self,
        query: &str,
        texts: &Path,
        links: &dyn Links,
        options: &SearchOptions,
    ) -> Result<Answer, SearchError> {
        let began = Instant::now();
        let deadline = began + options.time_limit;
        let parsed = parse(query, options.now)?;
        let linking = |url: &str| links.linking_to(url).map_err(IndexError::Links);
        let languages = self.query_languages(&parsed.node)?;
        let clock = Clock::new(deadline);
        let mut plan =
            Planner::new(self, &languages, clock.clone(), options.links, &linking).plan(&parsed)?;
        if let Some(at) = options.at {
            plan.only_at(self, at);
        }
        plan.fresh |= options.fresh;
        let shown = options.offset.saturating_add(options.limit);
        let wanted = Wanted {
            keep: shown.max(CLOSELY),
            by_date: options.sort == Sort::Date,
            facets: options.facets,
            deadline,
        };
        let failed = self.failed("search");
        let strict = collect::collect(self, &*plan.strict, &wanted).map_err(&failed)?;
        let mut answer = Answer { total: strict.total, ..Answer::default() };
        let mut best = strict;
        if best.total < FEW
            && let Some(loose) = plan.loose.as_ref().filter(|_| !best.timed_out)
        {
            best = self.with_partial(best, &**loose, &wanted).map_err(&failed)?;
            answer.partial = best.total - answer.total;
        }
        answer.timed_out = best.timed_out || clock.is_over();
        answer.facets = options.facets.then(|| std::mem::take(&mut best.facets));
        let found = if options.sort == Sort::Relevance {
            self.closely(&plan, best.found, links, options, shown).map_err(&failed)?
        } else {
            self.shown(best.found.iter(), options, shown).map_err(&failed)?.0
        };
        let found: Vec<Found> = found.into_iter().skip(options.offset).collect();
        answer.hits = self.hits(&plan, found, texts, options)?;
        if answer.total == 0 && options.suggest && Instant::now() < deadline {
            answer.did_you_mean = self.did_you_mean(query, &plan.items, &plan.lookups)?;
        }
        answer.ignored = plan.ignored;
        answer.took = began.elapsed();
        Ok(answer)
    }

    /// The best in their order, as many as are shown.
    fn closely(
        &self,
        plan: &Plan<'_>,
        mut found: Vec<Found>,
        links: &dyn Links,
        options: &SearchOptions,
        wanted: usize,
    ) -> tantivy::Result<Vec<Found>> {
        exactly::add(self, plan, options.links, &mut found)?;
        let links = options.links.then_some(links);
        let mut closely = Closely::new(self, plan, found, links, options.now)?;
        let mut settled = wanted;
        loop {
            closely.settle(settled)?;
            let (shown, read) = self.shown(closely.all(), options, wanted)?;
            // Where pages were folded, more than were wanted must be in their order.
            if read <= settled || settled >= closely.settles() {
                return Ok(shown);
            }
            settled = read + wanted;
        }
    }

    /// All pages with some of the words; those with all of them first.
    fn with_partial(
        &self,
        strict: Collected,
        loose: &dyn tantivy::query::Query,
        wanted: &Wanted,
    ) -> tantivy::Result<Collected> {
        let mut all = collect::collect(self, loose, wanted)?;
        for found in &mut all.found {
            found.partial = !strict.found.iter().any(|s| s.address == found.address);
        }
        // What the loose question scored too low to be kept is there all the same.
        for found in strict.found {
            if !all.found.iter().any(|known| known.address == found.address) {
                all.found.push(found);
            }
        }
        if !wanted.by_date {
            all.found.sort_by_key(|found| found.partial);
        }
        all.total = all.total.max(strict.total);
        Ok(all)
    }

    /// Takes `wanted` pages, with what is nearly the same page as one before under that; and
    /// how many it looked at.
    fn shown<'f>(
        &self,
        found: impl Iterator<Item = &'f Found>,
        options: &SearchOptions,
        wanted: usize,
    ) -> tantivy::Result<(Vec<Found>, usize)> {
        let mut kept: Vec<Found> = Vec::new();
        let mut folding = Folding::new(self);
        let mut read = 0;
        for found in found {
            if kept.len() >= wanted {
                break;
            }
            read += 1;
            // Only the first: comparing all with all grows with the square.
            if !options.fold || read > 2 * CLOSELY {
                kept.push(found.clone());
                continue;
            }
            match folding.place(found.address)? {
                Some(same) => kept[same].alike.push(found.address),
                None => kept.push(found.clone()),
            }
        }
        Ok((kept, read))
    }

    fn hits(
        &self,
        plan: &Plan<'_>,
        shown: Vec<Found>,
        texts: &Path,
        options: &SearchOptions,
    ) -> Result<Vec<Hit>, IndexError> {
        let mut hits = Vec::with_capacity(shown.len());
        let failed = self.failed("read a hit");
        for (n, found) in shown.iter().enumerate() {
            let at = found.address.doc_id;
            let looks = self.looks(found.address.segment_ord).map_err(&failed)?;
            let stored: tantivy::TantivyDocument =
                self.searcher.doc(found.address).map_err(&failed)?;
            let mut hit = Hit {
                rank: options.offset + n + 1,
                score: found.score,
                doc: looks.doc(at),
                url: rank::stored_url(&stored, self.fields.url),
                title: String::new(),
                snippet: Snippet::default(),
                site: looks.site(at),
                language: looks.language(at),
                fetched_at: looks.fetched(at),
                changed_at: looks.changed(at),
                from: looks.from(at),
                until: looks.until(at),
                partial: found.partial,
                alike: self.alike(&found.alike).map_err(&failed)?,
                parts: Vec::new(),
            };
            if options.explain {
                hit.parts = rank::parts(self, plan, found).map_err(&failed)?;
            }
            hits.push(hit);
        }
        if options.snippets {
            self.cut_snippets(plan, &shown, texts, &mut hits).map_err(&failed)?;
        }
        Ok(hits)
    }

    fn alike(&self, pages: &[DocAddress]) -> tantivy::Result<Vec<Alike>> {
        let alike = |at: &DocAddress| {
            let stored: tantivy::TantivyDocument = self.searcher.doc(*at)?;
            let doc = self.looks(at.segment_ord)?.doc(at.doc_id);
            Ok(Alike { doc, url: rank::stored_url(&stored, self.fields.url) })
        };
        pages.iter().map(alike).collect()
    }

    /// Reads the texts of the hits for their titles and snippets, in the order of the index: so
    /// every posting list is opened once.
    fn cut_snippets(
        &self,
        plan: &Plan<'_>,
        shown: &[Found],
        texts: &Path,
        hits: &mut [Hit],
    ) -> tantivy::Result<()> {
        let items = near_items(plan);
        let mut marker = snippet::Marker::new(&plan.items);
        let mut reader = TextReader::new(texts);
        let mut order: Vec<usize> = (0..shown.len()).collect();
        order.sort_unstable_by_key(|n| shown[*n].address);
        let mut stands: Option<(u32, Stands<'_>)> = None;
        for n in order {
            let DocAddress { segment_ord: ord, doc_id } = shown[n].address;
            let looks = self.looks(ord)?;
            if stands.as_ref().is_none_or(|(opened, _)| *opened != ord) {
                stands = Some((ord, Stands::open(plan, self, ord, &items)?));
            }
            let quiet = looks.no_snippet(doc_id);
            let (places, loose) = match &mut stands {
                Some((_, stands)) if !quiet => stands.look(doc_id),
                _ => (Vec::new(), false),
            };
            let hit = &mut hits[n];
            let at = looks.location(doc_id);
            let read = self.known.texts.show(texts, &mut reader, at, |text| {
                let snippet = match quiet {
                    true => Snippet::default(),
                    false => marker.cut(&text, &places, loose),
                };
                (text.title.to_owned(), snippet)
            });
            match read {
                Ok((title, snippet)) => (hit.title, hit.snippet) = (title, snippet),
                // The page was fetched again, or its text is damaged: the hit stands.
                Err(e) => tracing::debug!(doc = hit.doc.0, error = %e, "no snippet"),
            }
        }
        Ok(())
    }

    /// The languages whose rules stem the words of a query: the one it names, else those that
    /// many pages are in.
    fn query_languages(&self, tree: &Node) -> Result<Vec<String>, IndexError> {
        fn named(node: &Node) -> Option<String> {
            match node {
                Node::Filter(Filter::Language(language)) => Some(language.clone()),
                Node::All(parts) => {
                    parts.iter().find_map(|(sign, n)| named(n).filter(|_| *sign != Sign::Not))
                }
                _ => None,
            }
        }
        if let Some(language) = named(tree) {
            return Ok(vec![language]);
        }
        let counts = self.languages()?.iter().cloned();
        let all: u64 = counts.clone().map(|(_, n)| n).sum();
        let mut out: Vec<String> = counts
            .filter(|(language, n)| n * 20 >= all && crate::analyse::has_stems(language))
            .map(|(language, _)| language)
            .take(3)
            .collect();
        if out.is_empty() {
            out.push(self.language.clone());
        }
        Ok(out)
    }
}
