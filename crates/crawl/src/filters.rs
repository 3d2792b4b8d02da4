//! The filters of the jobs being worked on, and what changing one means.
//!
//! * What this is: a compiled filter for each open job, shared by all visits, and the way from a
//!   filter's text to a job that obeys it: written down, and what only the former filter refused queued
//!   again.
//! * Its place: the director holds and changes filters; visits ask them of links and answers; the
//!   control socket, `answer` and `crawl` change them.
//! * Invariants: start URLs and sitemaps are asked for whatever a filter says. A filter holds in
//!   memory before whoever set it hears so, and is in the store by then.
//! * What is not here: what rules mean (`filter`), and where users write them (`cli`).

use argiope_filter::{Explanation, Filter, Known, Problem, Saved, Verdict};
use argiope_frontier::{SkipReason, place_of_link};
use argiope_model::{CanonicalUrl, Job, JobId, JobState, Role, Suffixes, Time};
use argiope_parse::type_group;
use argiope_store::{Batch, Discovery, JobChange, JobRow, Store, StoreError, UrlState};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Rows read, and URLs queued again, at a time.
const PIECE: usize = 1000;
/// Kinds of failures of scripts that are told; more say nothing new.
const MAX_TOLD: usize = 100;

/// The filters of the jobs being worked on.
#[derive(Default)]
pub(crate) struct Filters {
    held: RwLock<HashMap<JobId, Arc<Filter>>>,
    /// Failures of scripts that were told.
    told: Mutex<HashSet<String>>,
}

impl Filters {
    /// Obeys a filter from now on, or none.
    pub(crate) fn put(&self, job: JobId, filter: Option<Arc<Filter>>) {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        match filter {
            Some(filter) => held.insert(job, filter),
            None => held.remove(&job),
        };
    }

    /// Obeys the filter of a job from now on.
    pub(crate) fn hold(&self, job: &Job) -> Result<(), Problem> {
        self.put(job.id, compiled(job.filter.as_deref())?);
        Ok(())
    }

    /// The filter of a job.
    pub(crate) fn of(&self, job: JobId) -> Option<Arc<Filter>> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.get(&job).cloned()
    }

    /// Whether a filter keeps a job from a URL, by what is known of its answer; from start URLs it never
    /// does. A script that fails is told of, once for each of its lines and ways to fail.
    pub(crate) fn refuses(
        &self,
        filter: &Filter,
        job: &Job,
        url: &CanonicalUrl,
        suffixes: &Suffixes,
        known: Known<'_>,
    ) -> bool {
        let judged = filter.judge(url, suffixes, known);
        if judged.verdict != Verdict::No || is_start(job, url) {
            return false;
        }
        if let Some(failure) = judged.failure {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MAX_TOLD && told.insert(failure.to_string()) {
                tracing::warn!("{failure}; {url} is not asked for, nor are others that end so");
            }
        }
        true
    }

    /// Why the filter of a job refuses an answer, where it does.
    pub(crate) fn refuses_answer(
        &self,
        job: &Job,
        url: &CanonicalUrl,
        suffixes: &Suffixes,
        known: Known<'_>,
    ) -> Option<String> {
        let filter = self.of(job.id)?;
        let refused = self.refuses(&filter, job, url, suffixes, known);
        refused.then(|| filter.explain(url, suffixes, known).detail)
    }

    /// Whether the filter of a job refuses what is queued, now that its turn has come.
    pub(crate) fn refuses_queued(
        &self,
        job: &Job,
        url: &CanonicalUrl,
        role: Role,
        suffixes: &Suffixes,
    ) -> bool {
        let filter = self.of(job.id).filter(|_| role == Role::Page);
        filter.is_some_and(|filter| self.refuses(&filter, job, url, suffixes, Known::default()))
    }
}

/// Whether a URL is one the job starts at.
pub(crate) fn is_start(job: &Job, url: &CanonicalUrl) -> bool {
    job.seeds.iter().any(|seed| seed == url || job.query.apply(seed.clone()) == *url)
}

fn compiled(text: Option<&str>) -> Result<Option<Arc<Filter>>, Problem> {
    text.map(|text| Filter::from_text(text).map(Arc::new)).transpose()
}

/// What the filter of a job is called.
pub(crate) fn name_of(text: Option<&str>) -> Option<String> {
    let saved = Saved::from_text(text?);
    Some(saved.map_or_else(|_| "?".to_owned(), |saved| saved.name))
}

/// What the filter of a job says of a URL; `None` where it has none.
pub(crate) fn explained(
    job: &Job,
    url: &CanonicalUrl,
    suffixes: &Suffixes,
) -> Result<Option<Explanation>, Problem> {
    let filter = compiled(job.filter.as_deref())?;
    Ok(filter.map(|filter| filter.explain(url, suffixes, Known::default())))
}

/// The start URLs that a filter would refuse were they links, and why.
pub fn refused_starts(job: &Job) -> Result<Vec<(CanonicalUrl, String)>, Problem> {
    let Some(filter) = compiled(job.filter.as_deref())? else { return Ok(Vec::new()) };
    let suffixes = Suffixes::built_in();
    let refused = |url: &CanonicalUrl| {
        let why = filter.explain(url, &suffixes, Known::default());
        (why.verdict == Verdict::No).then(|| (url.clone(), why.detail))
    };
    Ok(job.seeds.iter().filter_map(refused).collect())
}

/// A filter that a job is to obey from now on.
#[derive(Clone, Debug)]
pub struct FilterChange {
    /// The job.
    pub job: JobId,
    /// The text of its filter; `None`: it has none any more.
    pub text: Option<String>,
    /// The same, ready.
    pub filter: Option<Arc<Filter>>,
    /// As long as somebody else has this, a crawl does not end: what comes back is being looked for.
    pub looking: Arc<()>,
}

/// Which job is meant: the one of that number, or the only one that is not over and done with.
pub(crate) fn meant(store: &dyn Store, job: Option<u32>) -> Result<JobRow, String> {
    let mut rows = store.jobs().map_err(|e| e.to_string())?;
    if let Some(id) = job {
        let found = rows.into_iter().find(|row| row.job.id == JobId(id));
        return found.ok_or_else(|| format!("there is no job {id}; `argiope jobs` lists them"));
    }
    rows.retain(|row| row.state != JobState::Dropped && !crate::import::is_import(&row.job));
    if rows.len() > 1 {
        let open: Vec<&JobRow> = rows.iter().filter(|row| row.state != JobState::Done).collect();
        if let [one] = open[..] {
            return Ok(one.clone());
        }
        return Err(
            "there are several jobs; name one with --job N (`argiope jobs` lists them)".to_owned()
        );
    }
    rows.pop().ok_or_else(|| "there is no job here yet; give `crawl` the filter".to_owned())
}

/// Reads what a job is to obey, and says what it obeyed before.
pub(crate) fn to_change(
    store: &dyn Store,
    job: Option<u32>,
    text: Option<&str>,
) -> Result<(FilterChange, JobRow, Value), String> {
    let row = meant(store, job)?;
    let filter = compiled(text).map_err(|e| e.to_string())?;
    let former = row.job.filter.as_deref();
    let told = json!({
        "job": row.job.id.0,
        "filter": name_of(text),
        "former": name_of(former),
        "changed": former != text,
    });
    let text = text.map(str::to_owned);
    let change = FilterChange { job: row.job.id, text, filter, looking: Arc::default() };
    Ok((change, row, told))
}

/// Finds the URLs that only a filter kept a job from, as far as its new filter lets them through, and
/// hands them on in pieces, to be queued for the job as if found on the page of that number; stops
/// where nobody wants more. Says how many there were.
pub(crate) fn returning(
    store: &dyn Store,
    job: &Job,
    filter: Option<&Filter>,
    mut hand_on: impl FnMut(Vec<Discovery>) -> Result<bool, StoreError>,
) -> Result<u64, StoreError> {
    let suffixes = Suffixes::built_in();
    let (mut after, mut number) = (None, 0);
    let mut piece = Vec::new();
    loop {
        let rows = store.scan_urls(after, PIECE)?;
        let Some((last, _)) = rows.last() else { break };
        after = Some(*last);
        for (key, row) in rows {
            let left = row.state == UrlState::Skipped(SkipReason::Filter);
            if !left || row.in_queue() || !row.jobs.contains(&job.id) {
                continue;
            }
            if let Some(filter) = filter {
                // Where it was the answer that was refused, its type is known.
                let captures = if row.visits > 0 { store.captures(key)? } else { Vec::new() };
                let mime = captures.last().map(|c| &*c.mime).filter(|mime| !mime.is_empty());
                let kind = mime.map(|mime| (mime, type_group(mime)));
                let known = Known { kind, ..Known::default() };
                if filter.judge(&row.url, &suffixes, known).verdict == Verdict::No {
                    continue;
                }
            }
            piece.push(Discovery {
                key,
                job: job.id,
                depth: row.depth,
                place: place_of_link(job.order, row.depth, 0, piece.len()),
                skip: None,
                role: row.role,
                hops: row.hops,
                again: true,
                url: row.url,
            });
        }
        if piece.len() >= PIECE {
            number += piece.len() as u64;
            if !hand_on(std::mem::take(&mut piece))? {
                return Ok(number);
            }
        }
    }
    number += piece.len() as u64;
    if !piece.is_empty() {
        hand_on(piece)?;
    }
    Ok(number)
}

/// Puts URLs behind everything that was found so far.
pub(crate) fn placed(mut found: Vec<Discovery>, job: &Job, page: u64) -> Vec<Discovery> {
    for (index, discovery) in found.iter_mut().enumerate() {
        discovery.place = place_of_link(job.order, discovery.depth, page, index);
    }
    found
}

/// Has a job that nobody works on obey another filter, or none; says what that came to, or why it
/// cannot be.
pub fn set_filter(
    store: &dyn Store,
    job: Option<u32>,
    text: Option<&str>,
    now: Time,
) -> Result<Value, String> {
    let (change, row, mut told) = to_change(store, job, text)?;
    let said = |e: StoreError| e.to_string();
    let renewed = Job { filter: change.text, ..row.job };
    let again = JobChange::State(renewed.id, row.state);
    let jobs = vec![JobChange::Renew(Box::new(renewed.clone())), again];
    store.commit(Batch { now, jobs, ..Batch::default() }).map_err(said)?;
    let number = returning(store, &renewed, change.filter.as_deref(), |found| {
        let page = store.next_page()?;
        let discoveries = placed(found, &renewed, page);
        // A job that was done has something to do again.
        let reopened = row.state == JobState::Done;
        let jobs = reopened.then_some(JobChange::State(renewed.id, JobState::Open));
        let jobs = jobs.into_iter().collect();
        store.commit(Batch { now, jobs, discoveries, next_page: page + 1, ..Batch::default() })?;
        Ok(true)
    });
    told["urls"] = json!(number.map_err(said)?);
    Ok(told)
}
