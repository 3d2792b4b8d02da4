//! Questions about a data directory, and their answers as JSON rows.
//!
//! One set of questions for all who ask: the owner answers them over its control socket, and
//! where there is no owner the asker opens the directory and answers itself.

use crate::ask_words::{PlaceOrder, SearchOrder, WordOrder, about_words};
use crate::backlinks::Backlinks;
use crate::cdx::CdxOrder;
use crate::data_dir::{DataDir, text_dir};
use crate::disk;
use crate::explain::explain;
use crate::feed::FeedOrder;
use crate::filters::{meant, name_of, set_filter};
use crate::follow::Followers;
use crate::import::is_import;
use crate::live::{Live, Look, summed};
use crate::news::{NewsAct, NewsOrder};
use crate::rank::Asking;
use crate::settings::EngineSettings;
use crate::sites::{changed_row, forgive_site, rows, to_delay, to_exclude};
use crate::trail::Trail;
use crate::world::Clock;
use argiope_archive::{digest_base32, read_text, warc_segment_name};
use argiope_frontier::revisit::{Fresh, FreshSettings, PageState};
use argiope_graph::rank::Measure;
use argiope_graph::{By, GraphError, SourcePlace};
use argiope_model::{
    CanonicalUrl, Capture, Directives, DocId, Job, JobId, JobState, Suffixes, Time, UrlKey,
};
use argiope_store::{Batch, JobChange, JobCounters, JobRow, Store, StoreError, UrlRow, UrlState};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// How the crawl stands.
    Status,
    /// All jobs.
    Jobs,
    /// What is known of a URL or a document number.
    Doc(String),
    /// The captures of a URL or a document number, oldest first.
    Captures(String),
    /// The captures of a URL or a document number whole, oldest first, behind a row of its URL.
    Versions(String),
    /// What is new and what has changed, newest first.
    Feed(FeedOrder),
    /// Set a job to a state: `open`, `paused`, `dropped`.
    SetJob(u32, String),
    /// Why a URL was or was not fetched, and when it will be.
    Explain {
        /// The URL, known or not.
        url: String,
    },
    /// The hosts, or those of one name.
    Sites {
        /// A site, a host or an origin.
        filter: Option<String>,
    },
    /// Leave the hosts of a name alone, those included that are not known yet.
    Exclude {
        /// A site, a host or an origin.
        name: String,
    },
    /// Try the hosts of a name again, whatever they have done.
    Forgive {
        /// A site, a host or an origin.
        name: String,
    },
    /// How long to wait between requests to the hosts of a name, those included that are not known yet.
    Delay {
        /// A site, a host or an origin.
        name: String,
        /// Milliseconds; `None`: as configured.
        delay_ms: Option<u64>,
    },
    /// How often a page is visited from now on.
    Cycle {
        /// The URL or the document number.
        target: String,
        /// Seconds from one visit to the next; `None` leaves it to the policy.
        every: Option<u64>,
    },
    /// The filter of a job: its name and its text.
    Filter {
        /// The number of the job; `None`: the only one.
        job: Option<u32>,
    },
    /// A job obeys another filter from now on.
    SetFilter {
        /// The number of the job; `None`: the only one.
        job: Option<u32>,
        /// The text of the filter; `None`: none.
        text: Option<String>,
    },
    /// Links to a URL or a document number: a row of totals, and a row for each link.
    Links {
        /// The URL, known or not, or the number.
        target: String,
        /// Which of them.
        order: LinkOrder,
    },
    /// The links of a page.
    LinksOut {
        /// The URL or the number of the page.
        source: String,
    },
    /// What stands first among pages, or among sites.
    Top {
        /// By what.
        by: TopBy,
        /// Sites, not pages; only by rank and harmonic centrality.
        of_sites: bool,
        /// How many.
        limit: usize,
        /// Also URLs that no job has met.
        all: bool,
    },
    /// Pages that hold words; a last row tells how many there are.
    Search(SearchOrder),
    /// Where a word stands, page by page.
    Word {
        /// The word.
        word: String,
    },
    /// Where a word stands, a piece at a time.
    Places(PlaceOrder),
    /// The dictionary.
    Words(WordOrder),
    /// Words that begin so, the most frequent first; quick, for somebody types.
    Suggest {
        /// The beginning.
        prefix: String,
        /// How many.
        limit: usize,
    },
    /// The words of a page, with their places.
    DocWords(String),
    /// Pages that are nearly the same as a URL or a document number.
    DocNear(String),
    /// Links that lead nowhere, those to one URL together.
    Broken {
        /// After this document.
        after: Option<u64>,
        /// About how many rows.
        limit: usize,
    },
    /// What a site, a host or an origin is made of and what its pages have been through, in one row.
    Site {
        /// A site, a host or an origin.
        name: String,
    },
    /// The first and the last visit, in one row.
    Span,
    /// The most important pages that link to a page, and those it links to.
    Around {
        /// The URL, known or not, or the number.
        target: String,
        /// How many on each side.
        limit: usize,
    },
    /// Where a word stands: a row of totals, and the pages that hold it most often.
    WordPages {
        /// The word.
        word: String,
        /// How many pages.
        limit: usize,
    },
    /// Captures as archive tools list them.
    Cdx(CdxOrder),
    /// Collected news: stories or articles, newest first, a piece at a time.
    News(NewsOrder),
    /// One story: a row of the story, then its articles, newest first.
    Story(u64),
    /// What there is of news, in one row: sites, subjects, days, rules, saved views, what is unread.
    NewsOverview,
    /// The feeds that were read of the sites that are followed, a row each: site and URL.
    NewsFeeds,
    /// A change to what was read, to rules or saved views; the answer is one row.
    NewsAct(NewsAct),
    /// The metrics of a running crawl, as Prometheus reads them; no row where none runs.
    Metrics,
    /// Whoever crawls here is to end in order; what is open goes on with the next start.
    Stop,
    /// Whoever only keeps the directory open is to leave it to the asker.
    Leave,
}

/// By what pages stand first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TopBy {
    /// Pages that link there.
    Backlinks,
    /// Sites that link there.
    Sites,
    /// PageRank.
    Rank,
    /// Harmonic centrality.
    Harmonic,
}

/// Which links are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkOrder {
    /// Those of pages after this one, as an answer named it.
    pub after: Option<SourcePlace>,
    /// Those of at most so many pages.
    pub pages: usize,
}

/// What is said of words while a crawl runs that does not index them.
const NOT_INDEXED: &str = "whoever works in this directory does not index words while it runs; when it is over, \
    `argiope search` indexes what is there";

/// What is said to whoever wants a crawl to end where none runs.
const NO_CRAWL: &str = "no crawl is running here";
/// What is said to whoever wants a directory that is being worked in.
const WORKS: &str = "somebody is working in this directory";

/// What is said to whoever wants sites by what is only counted of pages.
const ONLY_RANKED: &str =
    "sites stand first by rank or by harmonic: `argiope top --of sites --by rank`";

/// An answer: rows, or a sentence saying why there are none.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// The rows.
    Rows(Vec<Value>),
    /// A piece of them, and what to ask for the next one; nothing at the end.
    Piece(Vec<Value>, Option<Box<Question>>),
    /// Nothing is known of what was asked about.
    Unknown(String),
    /// Why there are none.
    Sorry(String),
    /// The question is written wrongly, and how.
    Wrong(String),
}

/// Answers a question from the store; `live` where a crawl is running.
pub fn answer(
    question: &Question,
    dir: &DataDir,
    store: &dyn Store,
    followers: &Followers,
    settings: &EngineSettings,
    live: Option<&Live>,
) -> Asked {
    let links = &followers.links;
    let now = Clock::System.now();
    let last;
    let settings = match live {
        Some(_) => settings,
        None => {
            last = settings.as_in_last_run(dir.path());
            &last
        }
    };
    let rows = match question {
        Question::Status => return status(store, live.map(|live| (live, Look::default()))),
        Question::Metrics => {
            Ok(live.map(|live| vec![json!({ "text": crate::metrics::page(live) })]))
        }
        Question::Cdx(order) => return crate::cdx::listed(order, dir.suffixes(), store),
        Question::News(_)
        | Question::Story(_)
        | Question::NewsOverview
        | Question::NewsFeeds
        | Question::NewsAct(_) => {
            let searched = matches!(question, Question::News(order) | Question::NewsAct(NewsAct::ReadAll { order, .. })
                if order.query.is_some());
            if searched && live.is_some() && !followers.words.is_followed() {
                return Asked::Sorry(NOT_INDEXED.to_owned());
            }
            return followers.news.answered(question, followers, now);
        }
        Question::Stop => return Asked::Sorry(NO_CRAWL.to_owned()),
        Question::Leave => return Asked::Sorry(WORKS.to_owned()),
        Question::Jobs => jobs(store),
        Question::Doc(target) => find(target, dir.suffixes(), store).and_then(|found| {
            found.map(|(key, row)| doc(dir.path(), store, links, key, &row)).transpose()
        }),
        Question::Captures(target) => find(target, dir.suffixes(), store)
            .and_then(|found| found.map(|(key, _)| captures(store, key)).transpose()),
        Question::Versions(target) => find(target, dir.suffixes(), store)
            .and_then(|found| found.map(|(key, row)| versions(store, key, &row)).transpose()),
        Question::Feed(order) => {
            return match crate::feed::news(dir, store, order) {
                Ok(entries) => Asked::Rows(crate::feed::rows(&entries)),
                Err(e) => Asked::Sorry(e.to_string()),
            };
        }
        Question::SetJob(id, state) => match job_state(store, *id, state) {
            Ok(state) => {
                let jobs = vec![JobChange::State(JobId(*id), state)];
                store.commit(Batch { now, jobs, ..Batch::default() }).map(|_| None)
            }
            Err(why) => return Asked::Sorry(why),
        },
        Question::Explain { url } => match CanonicalUrl::parse(url) {
            Ok(canonical) => {
                explain(url, &canonical, dir, store, (links, live), settings, now).map(Some)
            }
            Err(e) => Ok(Some(vec![
                json!({ "rule": "url", "verdict": "no", "detail": e.to_string() }),
                json!({ "url": url, "state": "never fetched", "due": null }),
            ])),
        },
        Question::Sites { filter } => {
            let filter = filter.as_deref();
            let suspects = live.map(|live| live.snapshot().suspects).unwrap_or_default();
            match rows(store, settings, dir, filter, &suspects, now) {
                Ok(rows) if rows.is_empty() && filter.is_some() => {
                    return Asked::Unknown(unknown_site(filter.unwrap_or_default()));
                }
                rows => rows.map(Some),
            }
        }
        Question::Exclude { name } => match to_exclude(store, dir.suffixes(), name) {
            Ok((change, queued)) => {
                let mut row = changed_row(name, &change);
                row["queued"] = json!(queued);
                let exclusions = change.names.into_iter().map(|name| (name, true)).collect();
                let batch = Batch { now, exclusions, exclude: change.hosts, ..Batch::default() };
                store.commit(batch).map(|_| Some(vec![row]))
            }
            Err(why) => return Asked::Sorry(why),
        },
        Question::Forgive { name } => match forgive_site(dir, store, name, now) {
            Ok(row) => Ok(Some(vec![row])),
            Err(why) => return Asked::Sorry(why),
        },
        Question::Delay { name, delay_ms } => {
            match to_delay(dir.suffixes(), store, name, *delay_ms) {
                Ok((name, row)) => {
                    let delays = vec![(name, *delay_ms)];
                    store.commit(Batch { now, delays, ..Batch::default() }).map(|_| Some(vec![row]))
                }
                Err(why) => return Asked::Sorry(why),
            }
        }
        Question::Filter { job } => match meant(store, *job) {
            Ok(row) => {
                let text = row.job.filter.as_deref();
                let (id, name) = (row.job.id.0, name_of(text));
                Ok(Some(vec![json!({ "job": id, "filter": name, "text": text })]))
            }
            Err(why) => return Asked::Sorry(why),
        },
        Question::SetFilter { job, text } => match set_filter(store, *job, text.as_deref(), now) {
            Ok(row) => Ok(Some(vec![row])),
            Err(why) => return Asked::Sorry(why),
        },
        Question::Cycle { target, every } => {
            find(target, dir.suffixes(), store).and_then(|found| {
                let Some((key, row)) = found else { return Ok(None) };
                let plan = cycled(&row, *every);
                let plans = vec![(key, plan)];
                store.commit(Batch { now, plans, ..Batch::default() })?;
                Ok(Some(vec![cycle_row(&row.url, &plan)]))
            })
        }
        Question::Site { name } => match crate::overview::site(name, dir, store, links, settings) {
            Ok(None) => return Asked::Unknown(unknown_site(name)),
            row => row.map(|row| row.map(|row| vec![row])),
        },
        Question::Span => crate::overview::span(store).map(|row| Some(vec![row])),
        Question::Search(_)
        | Question::Word { .. }
        | Question::WordPages { .. }
        | Question::Places(_)
        | Question::Words(_)
        | Question::Suggest { .. }
        | Question::DocWords(_)
        | Question::DocNear(_) => {
            if live.is_some() && !followers.words.is_followed() {
                return Asked::Sorry(NOT_INDEXED.to_owned());
            }
            return about_words(question, dir, store, &followers.words, now);
        }
        Question::Links { .. }
        | Question::Around { .. }
        | Question::LinksOut { .. }
        | Question::Top { .. }
        | Question::Broken { .. } => {
            let asking = Asking { now, live: live.is_some() };
            return match linked(question, dir.suffixes(), store, links, asking) {
                Ok(asked) => asked,
                Err(GraphError::Store(e)) => Asked::Sorry(e.to_string()),
                Err(e) => Asked::Sorry(crate::backlinks::chain(&e)),
            };
        }
    };
    match (rows, question) {
        (Ok(Some(rows)), _) => Asked::Rows(rows),
        (
            Ok(None),
            Question::Doc(target)
            | Question::Captures(target)
            | Question::Versions(target)
            | Question::Cycle { target, .. },
        ) => Asked::Unknown(format!("{target} is not known here; no job has met it")),
        (Ok(None), _) => Asked::Rows(Vec::new()),
        (Err(e), _) => Asked::Sorry(e.to_string()),
    }
}

/// Answers a question about links.
fn linked(
    question: &Question,
    pinned: &Suffixes,
    store: &dyn Store,
    links: &Arc<Backlinks>,
    asking: Asking,
) -> Result<Asked, GraphError> {
    let named = |target: &str| -> Result<Result<(String, UrlKey), Asked>, StoreError> {
        let found = find(target, pinned, store)?.map(|(key, row)| (row.url.to_string(), key));
        // A link may lead where no job has been.
        let unmet = || match (target.parse::<u64>(), CanonicalUrl::parse(target)) {
            (Ok(number), _) => Err(Asked::Unknown(format!("no document has the number {number}"))),
            (_, Ok(url)) => Ok((url.to_string(), url.key(pinned))),
            (_, Err(e)) => Err(Asked::Wrong(format!("{target}: {e}"))),
        };
        Ok(found.map_or_else(unmet, Ok))
    };
    Ok(match question {
        Question::Links { target, order } => match named(target)? {
            Ok((url, key)) => {
                let page = links.incoming(&url, key, order.after, order.pages)?;
                let rest = |after| {
                    let order = LinkOrder { after: Some(after), ..*order };
                    Box::new(Question::Links { target: target.clone(), order })
                };
                Asked::Piece(page.rows, page.next.map(rest))
            }
            Err(sorry) => sorry,
        },
        Question::Around { target, limit } => match named(target)? {
            Ok((url, key)) => Asked::Rows(links.around(&url, key, *limit)?),
            Err(sorry) => sorry,
        },
        Question::LinksOut { source } => match named(source)? {
            Ok((url, key)) if store.urls(&[key])?.pop().flatten().is_some() => {
                Asked::Rows(links.outgoing(&url, key)?)
            }
            Ok(_) => Asked::Unknown(format!("{source} is not known here; no job has met it")),
            Err(sorry) => sorry,
        },
        Question::Top { by, of_sites, limit, all } => {
            let measure = match by {
                TopBy::Backlinks => Err(By::Backlinks),
                TopBy::Sites => Err(By::Sites),
                TopBy::Rank => Ok(Measure::PageRank),
                TopBy::Harmonic => Ok(Measure::Harmonic),
            };
            match measure {
                Ok(measure) if *of_sites => Asked::Rows(links.top_sites(measure, *limit, asking)?),
                Ok(measure) => Asked::Rows(links.top_pages(measure, *limit, asking)?),
                Err(_) if *of_sites => Asked::Wrong(ONLY_RANKED.to_owned()),
                Err(by) => Asked::Rows(links.top(by, *limit, *all)?),
            }
        }
        Question::Broken { after, limit } => {
            let (rows, next) = links.broken(after.map(DocId), *limit)?;
            let rest =
                |doc: DocId| Box::new(Question::Broken { after: Some(doc.0), limit: *limit });
            Asked::Piece(rows, next.map(rest))
        }
        _ => Asked::Rows(Vec::new()),
    })
}

/// The state that a job is to be set to.
pub(crate) fn job_state(store: &dyn Store, id: u32, state: &str) -> Result<JobState, String> {
    let state = match state {
        "open" => JobState::Open,
        "paused" => JobState::Paused,
        "dropped" => JobState::Dropped,
        other => return Err(format!("a job cannot be set to {other}")),
    };
    match store.jobs() {
        Ok(rows) if rows.iter().any(|row| row.job.id == JobId(id)) => Ok(state),
        Ok(_) => Err(format!("there is no job {id}; `argiope jobs` lists them")),
        Err(e) => Err(e.to_string()),
    }
}

/// What to say of a name that no host here has.
pub(crate) fn unknown_site(name: &str) -> String {
    format!("no host of {name} is known here; `argiope sites` lists those that are")
}

type Rows = Result<Option<Vec<Value>>, StoreError>;

pub(crate) fn find(
    target: &str,
    pinned: &Suffixes,
    store: &dyn Store,
) -> Result<Option<(UrlKey, UrlRow)>, StoreError> {
    let key = match (target.parse::<u64>(), CanonicalUrl::parse(target)) {
        (Ok(id), _) => store.docs(&[DocId(id)])?.pop().flatten(),
        (_, Ok(url)) => Some(url.key(pinned)),
        _ => None,
    };
    let Some(key) = key else { return Ok(None) };
    Ok(store.urls(&[key])?.pop().flatten().map(|row| (key, row)))
}

/// How the crawl stands, and what it is doing where one runs.
pub(crate) fn status(store: &dyn Store, live: Option<(&Live, Look)>) -> Asked {
    let jobs = match store.jobs() {
        Ok(jobs) => jobs,
        Err(e) => return Asked::Sorry(e.to_string()),
    };
    let runs = live.is_some();
    let mut trail = Value::Null;
    let (total, look) = match live {
        Some((live, look)) => {
            trail = left_behind(&live.trail());
            (live.snapshot(), look)
        }
        None => {
            let mut total = summed(jobs.iter(), Default::default());
            total.state = "idle".to_owned();
            (total, Look::default())
        }
    };
    let mut row = serde_json::to_value(total).unwrap_or_default();
    let mut all = JobCounters::default();
    jobs.iter().for_each(|row| all.add_skipped(&row.counters));
    row["skipped"] = skipped(&all);
    row["workers"] = json!(look.workers);
    row["queues"] = if look.queues.is_null() { json!({}) } else { look.queues };
    let all_jobs = || jobs.iter().map(job_row).collect();
    row["jobs"] = if look.jobs.is_empty() { all_jobs() } else { look.jobs.into() };
    row["waiting"] = json!(look.waiting);
    row["memory"] = match runs {
        true => json!({ "now": disk::memory(), "peak": disk::peak_memory() }),
        false => Value::Null,
    };
    if let (Value::Object(row), Value::Object(trail)) = (&mut row, trail) {
        row.extend(trail);
    }
    Asked::Rows(vec![row])
}

/// Speed over time, and the newest pages and errors.
fn left_behind(trail: &Trail) -> Value {
    json!({
        "speed": trail.speed(),
        "newest_pages": trail.newest_pages(),
        "newest_errors": trail.newest_errors(),
    })
}

/// URLs left alone, by reason.
pub(crate) fn skipped(counters: &JobCounters) -> Value {
    counters.skipped().into_iter().map(|(name, n)| (name.to_owned(), json!(n))).collect()
}

/// What a job is for.
pub(crate) fn kind_of(job: &Job) -> &'static str {
    match job.news {
        true => "news",
        false if is_import(job) => "import",
        false => "crawl",
    }
}

/// The row of a job, as `jobs` shows it.
pub(crate) fn job_row(row: &JobRow) -> Value {
    let counters = &row.counters;
    let seeds: Vec<&str> = row.job.seeds.iter().map(CanonicalUrl::as_str).collect();
    json!({
        "job": row.job.id.0,
        "kind": kind_of(&row.job),
        "state": row.state.name(),
        "seeds": seeds,
        "files": is_import(&row.job).then_some(&row.job.scope.names),
        "scope": format!("{:?}", row.job.scope.rule).to_lowercase(),
        "order": format!("{:?}", row.job.order).to_lowercase(),
        "filter": name_of(row.job.filter.as_deref()),
        "fetched": counters.fetched,
        "queued": counters.queued,
        "failed": counters.failed,
        "skipped": skipped(counters),
        "bytes": counters.bytes,
        "created": row.job.created.to_string(),
        "run_s": counters.run_ms as f64 / 1000.0,
        "limits": {
            "pages": row.job.limits.pages,
            "depth": row.job.limits.depth,
            "time_s": row.job.limits.time_ms.map(|ms| ms as f64 / 1000.0),
            "bytes": row.job.limits.bytes,
        },
    })
}

fn jobs(store: &dyn Store) -> Rows {
    Ok(Some(store.jobs()?.iter().map(job_row).collect()))
}

fn doc(
    data: &Path,
    store: &dyn Store,
    links: &Backlinks,
    key: UrlKey,
    row: &UrlRow,
) -> Result<Vec<Value>, StoreError> {
    let captures = store.captures(key)?;
    let last = captures.last();
    // What is as it was is said where it was seen.
    let seen = captures.iter().rev().find(|c| !c.mime.is_empty()).or(last);
    let text = captures.iter().rev().find_map(|c| c.text);
    let text = text.and_then(|at| read_text(&text_dir(data), at).ok());
    // What others call a page says what it is about where it does not say so itself.
    let own = text.as_ref().map(|t| t.description.clone()).filter(|own| !own.is_empty());
    // A graph that cannot be read keeps nobody from the rest.
    let (backlinks, words) = match links.about(key, own.is_none()) {
        Ok((number, words)) => (Some(number), words),
        Err(e) => {
            tracing::warn!("{}", crate::backlinks::chain(&e));
            (None, None)
        }
    };
    let time = |t: Option<Time>| t.map(|t| t.to_string());
    let plan = row.plan.filter(|_| row.state != UrlState::Forgotten);
    let state = match row.state {
        UrlState::Skipped(reason) => format!("skipped: {}", reason.name()),
        UrlState::Queued if row.due.is_some() => "waiting".to_owned(),
        state => state.name().to_owned(),
    };
    Ok(vec![json!({
        "doc": row.doc.0,
        "url": row.url.as_str(),
        "state": state,
        "outcome": last.map(|c| c.outcome.kind.name()),
        "detail": last.and_then(|c| c.outcome.detail.as_deref()),
        "status": last.map(|c| c.outcome.status).filter(|s| *s != 0),
        "type": seen.map(|c| &*c.mime).filter(|m| !m.is_empty()),
        "bytes": seen.map(|c| c.bytes),
        "first_seen": row.first_seen.to_string(),
        "fetched_at": time(row.fetched_at),
        "last_modified": time(captures.iter().rev().find_map(|c| c.last_modified)),
        "changed_at": time(row.changed_at),
        "visits": row.visits,
        "changes": row.changes,
        "change_rate": plan.map(|plan| changes_a_day(&plan)),
        "due": time(row.due.or(plan.map(|plan| plan.due)).filter(|_| !row.is_again())),
        "cycle": plan.map(|plan| cycle_text(&plan)),
        "cycle_s": plan.and_then(|plan| cycle_seconds(&plan)),
        "cycle_by": plan.map(|plan| if plan.cycle > 0 { "hand" } else { "policy" }),
        "lied": captures.iter().any(|c| c.verdict.is_some_and(|verdict| verdict.lied)),
        "records": plan.map(|plan| plan.records),
        "fr_max": plan.map(|plan| plan.fr_max),
        "depth": row.depth,
        "backlinks": backlinks,
        "rank": links.ranks_of(Measure::PageRank, &[row.doc])[0],
        "title": text.as_ref().map(|t| &t.title),
        "description": own.as_deref().or(words.as_deref()),
        "described_by": match (&own, &words) {
            (Some(_), _) => Some("page"),
            (None, Some(_)) => Some("links"),
            (None, None) => None,
        },
        "language": text.as_ref().and_then(|t| t.language.as_ref()),
        "asks": seen.map(|c| asks(c.directives)),
        "job": row.job().0,
        "attempts": row.attempts,
        "captures": captures.len(),
    })])
}

/// What is remembered of a page, with another cycle.
pub(crate) fn cycled(row: &UrlRow, every: Option<u64>) -> PageState {
    let mut plan = row.plan.unwrap_or_default();
    let quarters = every.map(|seconds| (seconds.div_ceil(900)).clamp(1, u16::MAX.into()) as u16);
    plan.cycle = quarters.unwrap_or(0);
    if let (Some(quarters), Some(last)) = (quarters, plan.last) {
        plan.due = last.plus(Duration::from_secs(900 * u64::from(quarters)));
        plan.parked = false;
    }
    plan
}

/// The row that says which cycle a page has.
pub(crate) fn cycle_row(url: &CanonicalUrl, plan: &PageState) -> Value {
    json!({
        "url": url.as_str(),
        "cycle": cycle_text(plan),
        "cycle_s": cycle_seconds(plan),
        "cycle_by": if plan.cycle > 0 { "hand" } else { "policy" },
        "due": plan.due.to_string(),
    })
}

/// From one visit to the next, as it is planned.
fn cycle_seconds(plan: &PageState) -> Option<u64> {
    if plan.cycle > 0 {
        return Some(900 * u64::from(plan.cycle));
    }
    plan.last.map(|last| plan.due.since(last).as_secs())
}

fn cycle_text(plan: &PageState) -> String {
    let every = cycle_seconds(plan).map_or_else(
        || "not visited yet".to_owned(),
        |seconds| match seconds {
            0..3_600 => format!("every {} min", seconds.div_ceil(60)),
            3_600..172_800 => format!("every {:.1} h", seconds as f64 / 3_600.0),
            _ => format!("every {:.1} days", seconds as f64 / 86_400.0),
        },
    );
    format!("{every}, {}", if plan.cycle > 0 { "set by hand" } else { "as its policy has it" })
}

/// What is believed of a page's changes, in changes a day.
fn changes_a_day(plan: &PageState) -> Value {
    let rate = Fresh::new(FreshSettings::new(1.0)).change_rate(plan);
    let round = |x: f64| (x * 10_000.0).round() / 10_000.0;
    json!(round(rate.mean))
}

/// What a page asks of those who read it, in its own words.
fn asks(d: Directives) -> Vec<&'static str> {
    let words = [
        (d.noindex, "noindex"),
        (d.nofollow, "nofollow"),
        (d.noarchive, "noarchive"),
        (d.nosnippet, "nosnippet"),
    ];
    words.into_iter().filter(|(said, _)| *said).map(|(_, word)| word).collect()
}

fn captures(store: &dyn Store, key: UrlKey) -> Result<Vec<Value>, StoreError> {
    Ok(store.captures(key)?.iter().map(capture_row).collect())
}

fn versions(store: &dyn Store, key: UrlKey, row: &UrlRow) -> Result<Vec<Value>, StoreError> {
    let captures = store.captures(key)?;
    let head = json!({ "url": row.url.as_str(), "doc": row.doc.0, "state": row.state.name() });
    Ok([head].into_iter().chain(captures.iter().map(|c| json!(c))).collect())
}

/// A capture with what is needed to read it from the archive.
fn capture_row(capture: &Capture) -> Value {
    json!({
        "time": capture.time.to_string(),
        "outcome": capture.outcome.to_string(),
        "status": capture.outcome.status,
        "type": &*capture.mime,
        "bytes": capture.bytes,
        "digest": format!("sha1:{}", digest_base32(&capture.payload_digest)),
        "revisit": capture.revisit,
        "noindex": capture.directives.noindex,
        "noarchive": capture.directives.noarchive,
        "file": capture.record.map(|r| warc_segment_name(r.segment)),
        "record": capture.record,
        "text": capture.text,
    })
}
