//! `jobs`, `doc`: questions answered beside a running crawl and without one.

use super::wiring::engine_settings;
use super::{load, now, print_json, visit};
use crate::Usage;
use crate::args::{Doc, Format, Global, JobAction, Jobs};
use crate::config::{self, Flags};
use crate::output::{self, bytes, count, plural, table};
use anyhow::bail;
use argiope_crawl::{
    Access, Asked, DataDir, DataDirError, EngineSettings, Followers, Indexing, NewsAct, Question,
    answer, ask_owner, ask_worker,
};
use argiope_store::Store;
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Asks the owner of the directory, or the directory itself where there is none.
pub fn ask(global: &Global, question: &Question) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    ask_pieces(global, question, |rows| {
        all.extend(rows);
        Ok(true)
    })?;
    Ok(all)
}

/// Asks, and shows the answer piece by piece for as long as more is wanted.
pub fn ask_pieces(
    global: &Global,
    question: &Question,
    mut show: impl FnMut(Vec<Value>) -> anyhow::Result<bool>,
) -> anyhow::Result<()> {
    let mut next = Some(question.clone());
    let mut here: Option<Visit> = None;
    while let Some(question) = next.take() {
        let owner = match here {
            None => ask_whoever_works(global, &question)?,
            Some(_) => None,
        };
        let asked = match (owner, &mut here) {
            (Some(asked), _) => asked,
            (None, Some(here)) => here.answer(&question),
            (None, here) => here.insert(Visit::new(global, &question)?).answer(&question),
        };
        match asked {
            Asked::Rows(rows) => {
                show(rows)?;
            }
            Asked::Piece(rows, rest) => {
                if show(rows)? {
                    next = rest.map(|rest| *rest);
                }
            }
            Asked::Sorry(why) | Asked::Unknown(why) => bail!("{why}"),
            Asked::Wrong(why) => return Err(Usage(why).into()),
        }
    }
    // What was read of the change log need not be read again.
    if let Some(here) = here
        && let Err(e) = here.followers.links.keep()
    {
        tracing::debug!("back-links are counted again next time: {e}");
    }
    Ok(())
}

/// Asks the owner of the directory, or a worker of a fleet that has its place there, about what a worker
/// can tell.
pub fn ask_whoever_works(global: &Global, question: &Question) -> anyhow::Result<Option<Asked>> {
    let asked = ask_owner(&global.data, question)?;
    let of_crawl = matches!(
        question,
        Question::Status
            | Question::Jobs
            | Question::SetJob(..)
            | Question::Sites { .. }
            | Question::Exclude { .. }
            | Question::Forgive { .. }
            | Question::Delay { .. }
            | Question::Explain { .. }
            | Question::Filter { .. }
            | Question::SetFilter { .. }
    );
    if asked.is_some() || !of_crawl || super::fleet::is_meant(global)? {
        return Ok(asked);
    }
    Ok(ask_worker(&global.data, question)?)
}

/// A directory that no crawl owns.
struct Visit {
    dir: Arc<DataDir>,
    store: Arc<dyn Store>,
    followers: Followers,
    settings: EngineSettings,
}

impl Visit {
    fn new(global: &Global, question: &Question) -> anyhow::Result<Self> {
        let (dir, store) = match visit(global) {
            Err(e) if is_of_news(question) && is_missing(&e) => before_news(global, question)?,
            opened => opened?,
        };
        let settings = as_crawled(global, question)?;
        let settings = super::fleet::with_delay(global, question, settings);
        let followers = Followers::new(&dir, &store, &settings);
        let of_words = matches!(
            question,
            Question::Search(_)
                | Question::Word { .. }
                | Question::Words(_)
                | Question::DocWords(_)
                | Question::DocNear(_)
        ) || matches!(question, Question::News(order) | Question::NewsAct(NewsAct::ReadAll { order, .. })
            if order.query.is_some());
        if of_words {
            index_rest(&followers).map_err(|e| super::fleet::or_absent(global, e))?;
        }
        Ok(Visit { dir, store, followers, settings })
    }

    fn answer(&self, question: &Question) -> Asked {
        let Visit { dir, store, followers, settings } = self;
        answer(question, dir, &**store, followers, settings, None)
    }
}

fn is_of_news(question: &Question) -> bool {
    use Question::{News, NewsAct, NewsFeeds, NewsOverview, Story};
    matches!(question, News(_) | Story(_) | NewsOverview | NewsFeeds | NewsAct(_))
}

fn is_missing(e: &anyhow::Error) -> bool {
    matches!(e.downcast_ref(), Some(DataDirError::Missing(_)))
}

/// Rules and views may be made before anything was collected; there is nothing else to be asked then.
fn before_news(
    global: &Global,
    question: &Question,
) -> anyhow::Result<(Arc<DataDir>, Arc<dyn Store>)> {
    let makes = matches!(question, Question::NewsAct(NewsAct::AddRule(_) | NewsAct::Save(_)));
    if !makes {
        bail!(
            "there are no news in {} yet; `argiope news sites add URL` follows a site, `argiope news collect` fetches \
             its articles",
            global.data.display()
        );
    }
    drop(DataDir::open(&global.data, Access::Own, now())?);
    visit(global)
}

/// Brings the index up to date: a crawl that was killed leaves some pages to be indexed, one with
/// --no-index all of them.
fn index_rest(followers: &Followers) -> anyhow::Result<()> {
    let mut line = Line::new();
    followers.words.catch_up(false, |at| line.show(at))?;
    Ok(())
}

/// How far indexing is, on a terminal.
pub struct Line {
    begun: Instant,
    shown: Option<Instant>,
    terminal: bool,
}

impl Line {
    pub fn new() -> Self {
        Line { begun: Instant::now(), shown: None, terminal: output::on_terminal() }
    }

    pub fn show(&mut self, at: Indexing) {
        let now = Instant::now();
        let young = self.begun.elapsed() < Duration::from_secs(1);
        let just = self.shown.is_some_and(|shown| now - shown < Duration::from_millis(200));
        if !self.terminal || young || just {
            return;
        }
        self.shown = Some(now);
        let rate = at.done as f64 / self.begun.elapsed().as_secs_f64();
        let left = (at.total - at.done.min(at.total)) as f64 / rate.max(1.0);
        output::line(format!(
            "Indexing: {} of {} pages, {rate:.0} pages/s, {} left",
            count(at.done),
            count(at.total),
            output::seconds(left)
        ));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.shown.is_some() {
            output::line("");
        }
    }
}

/// How the directory would be crawled. Whoever asks for nothing that depends on it gets an answer
/// even where the configuration is wrong.
fn as_crawled(global: &Global, question: &Question) -> anyhow::Result<EngineSettings> {
    let settings = match (load(global, Flags::default()), question) {
        (Ok(loaded), _) => loaded.settings,
        (Err(e), Question::Explain { .. } | Question::Sites { .. }) => return Err(e),
        (Err(_), _) => config::defaults(),
    };
    Ok(engine_settings(&settings))
}

pub fn jobs(global: &Global, args: &Jobs) -> anyhow::Result<ExitCode> {
    let (job, state) = match args.action {
        None | Some(JobAction::List) => return list(global),
        Some(JobAction::Pause { job }) => (job, "paused"),
        Some(JobAction::Resume { job }) => (job, "open"),
        Some(JobAction::Drop { job }) => (job, "dropped"),
    };
    let rows = ask(global, &Question::Jobs)?;
    let Some(row) = rows.iter().find(|row| row["job"] == job) else {
        bail!("there is no job {job}; `argiope jobs` lists them");
    };
    if row["state"] == "dropped" {
        bail!("job {job} was dropped; crawl its start URLs again to begin anew");
    }
    ask(global, &Question::SetJob(job, state.to_owned()))?;
    let said = match state {
        "paused" => format!("Job {job} is paused; `argiope jobs resume {job}` goes on."),
        "open" => format!("Job {job} is open; `argiope crawl` works on it."),
        _ => format!("Job {job} is dropped; what it fetched stays."),
    };
    output::talk(said);
    Ok(ExitCode::SUCCESS)
}

fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let rows = ask(global, &Question::Jobs)?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let number = |name: &str| count(row[name].as_u64().unwrap_or(0));
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let seeds = row["seeds"].as_array().map_or(&[][..], Vec::as_slice);
            let first = seeds.first().and_then(Value::as_str).unwrap_or_default();
            let files = row["files"].as_array().map_or(0, Vec::len) as u64;
            let start = match seeds.len() {
                0 if files > 0 => format!("import of {}", plural(files, "file", "files")),
                _ if row["kind"] == "news" => {
                    let front = plural(seeds.len() as u64, "front page", "front pages");
                    format!("news of {front}")
                }
                0 | 1 => first.to_owned(),
                n => format!("{first} and {} more", n - 1),
            };
            vec![
                row["job"].to_string(),
                text("state"),
                number("fetched"),
                number("queued"),
                number("failed"),
                bytes(row["bytes"].as_u64().unwrap_or(0)),
                start,
            ]
        })
        .collect();
    let head = [">job", "state", ">pages", ">queued", ">failed", ">received", "start"];
    output::print(table(&head, &cells))?;
    Ok(ExitCode::SUCCESS)
}

pub fn doc(global: &Global, args: &Doc) -> anyhow::Result<ExitCode> {
    if args.words {
        return super::search::doc_words(global, &args.target);
    }
    if args.near {
        return super::search::doc_near(global, &args.target);
    }
    let rows = ask(global, &Question::Doc(args.target.clone()))?;
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = rows.into_iter().next().unwrap_or_default();
    let names = [
        "url",
        "doc",
        "state",
        "outcome",
        "status",
        "detail",
        "type",
        "bytes",
        "title",
        "description",
        "language",
        "backlinks",
        "rank",
        "depth",
        "first_seen",
        "fetched_at",
        "last_modified",
        "changed_at",
        "visits",
        "changes",
        "attempts",
        "due",
        "cycle",
        "change_rate",
        "captures",
        "job",
    ];
    let shown = names.iter().filter(|name| !row[**name].is_null()).map(|name| {
        let value = match &row[*name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        format!("{:14} {value}", name.replace('_', " "))
    });
    output::print(shown)?;
    Ok(ExitCode::SUCCESS)
}
