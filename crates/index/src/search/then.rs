//! A search in the past: pages as they were at a time.
//!
//! * What was there then is what is there today and was so already, and what has ended since. The first
//!   is in the index, the other in its past; both are asked the same question, narrowed to the time, and
//!   their answers are put together.
//! * Scores are comparable, not the same: a word is as rare as the index says it stands in.
//! * What is not here: which version held when (`versions`).

use super::plan::Plan;
use super::weights::FEW;
use super::{Answer, Facets, Hit, SearchError, SearchOptions, Sort};
use crate::links::Links;
use crate::schema::UNTIL;
use crate::view::View;
use argiope_model::Time;
use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use std::path::Path;
use std::time::Instant;
use tantivy::Term;
use tantivy::query::{BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, Query, RangeQuery};

impl Plan<'_> {
    /// Narrows both questions to what was there at a time.
    pub(super) fn only_at(&mut self, view: &View, at: Time) {
        let mut times: Vec<Box<dyn Query>> = Vec::new();
        let from = Bound::Included(Term::from_field_i64(view.fields.from, at.0));
        times.push(Box::new(RangeQuery::new(Bound::Unbounded, from)));
        if let Ok(until) = view.searcher.schema().get_field(UNTIL) {
            let after = Bound::Excluded(Term::from_field_i64(until, at.0));
            times.push(Box::new(RangeQuery::new(after, Bound::Unbounded)));
        }
        for question in std::iter::once(&mut self.strict).chain(&mut self.loose) {
            if question.is::<EmptyQuery>() {
                continue;
            }
            let mut clauses = vec![(Occur::Must, question.box_clone())];
            clauses.extend(times.iter().map(|time| {
                let time = ConstScoreQuery::new(time.box_clone(), 0.0);
                (Occur::Must, Box::new(time) as Box<dyn Query>)
            }));
            *question = Box::new(BooleanQuery::new(clauses));
        }
    }
}

impl View {
    pub(super) fn search_then(
        &self,
        query: &str,
        texts: &Path,
        links: &dyn Links,
        options: &SearchOptions,
    ) -> Result<Answer, SearchError> {
        let began = Instant::now();
        // What comes first of both is among the first of each.
        let shown = options.offset.saturating_add(options.limit);
        let mut wide = SearchOptions { limit: shown, offset: 0, ..options.clone() };
        let mut answer = self.search_here(query, texts, links, &wide)?;
        if let Some(past) = &self.past {
            wide.time_limit = wide.time_limit.saturating_sub(began.elapsed());
            let then = past.search_here(query, texts, links, &wide)?;
            answer = together(answer, then, options.sort);
        }
        let hits = std::mem::take(&mut answer.hits);
        answer.hits = hits.into_iter().skip(options.offset).take(options.limit).collect();
        for (n, hit) in answer.hits.iter_mut().enumerate() {
            hit.rank = options.offset + n + 1;
        }
        answer.took = began.elapsed();
        Ok(answer)
    }
}

/// Two answers as one; the hits of both in their order.
fn together(mut today: Answer, then: Answer, sort: Sort) -> Answer {
    today.total += then.total;
    today.partial += then.partial;
    today.timed_out |= then.timed_out;
    today.hits.extend(then.hits);
    if today.total >= FEW {
        // One of them alone had too few.
        today.hits.retain(|hit| !hit.partial);
        today.partial = 0;
    }
    match sort {
        Sort::Relevance => today.hits.sort_by(best_first),
        Sort::Date => today.hits.sort_by_key(|hit| std::cmp::Reverse(hit.changed_at)),
    }
    // Between two commits a version may stand in both.
    let mut seen = HashSet::new();
    today.hits.retain(|hit| seen.insert(hit.doc));
    today.facets = today.facets.zip(then.facets).map(|(a, b)| summed(a, b));
    today.did_you_mean = today.did_you_mean.or(then.did_you_mean).filter(|_| today.total == 0);
    today
}

fn best_first(a: &Hit, b: &Hit) -> std::cmp::Ordering {
    (a.partial.cmp(&b.partial))
        .then_with(|| b.score.total_cmp(&a.score))
        .then_with(|| a.doc.cmp(&b.doc))
}

fn summed(a: Facets, b: Facets) -> Facets {
    let sum = |a: Vec<(String, u64)>, b: Vec<(String, u64)>| {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for (value, pages) in a.into_iter().chain(b) {
            *counts.entry(value).or_default() += pages;
        }
        let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
        counts.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    };
    Facets {
        sites: sum(a.sites, b.sites),
        languages: sum(a.languages, b.languages),
        years: sum(a.years, b.years),
    }
}
