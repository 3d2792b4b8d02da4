//! Working in a fleet: `worker`, `status --fleet`, and what `crawl --store` and `verify --store` need.

use super::crawl::{Order, execute};
use super::wiring::{engine_settings, opening};
use super::{load, now, print_json};
use crate::Usage;
use crate::args::{Format, Global, Worker};
use crate::config::{Flags, Loaded, Override};
use crate::output::{self, bytes, count, plural, seconds, table};
use anyhow::Context;
use argiope_crawl::{
    Absent, Access, DataDir, EngineSettings, Fleet, Follows, Picked, Question, follows,
};
use argiope_model::PARTITIONS;
use argiope_store::{FleetRows, PostgresOptions, PostgresStore, Store, Waiting};
use serde_json::json;
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A place in a fleet: the directory of this worker, the store of all, its name.
pub struct Place {
    pub dir: Arc<DataDir>,
    pub store: Arc<PostgresStore>,
    pub name: String,
}

/// Somebody who reads what a fleet has crawled.
pub struct Reader {
    pub dir: Arc<DataDir>,
    pub store: Arc<PostgresStore>,
    pub follows: Follows,
}

/// Whether a fleet is spoken of: by a flag, or because the directory is that of a reader.
pub fn is_meant(global: &Global) -> anyhow::Result<bool> {
    Ok(global.store.is_some() || follows(&global.data)?.is_some())
}

/// The address of the fleet's store.
fn address(global: &Global) -> anyhow::Result<Option<String>> {
    match &global.store {
        Some(url) => Ok(Some(url.clone())),
        None => Ok(follows(&global.data)?.map(|follows| follows.store)),
    }
}

fn asked_for(global: &Global) -> anyhow::Result<String> {
    let usage = "give the store of the fleet: --store postgres://user@host/database, or ARGIOPE_STORE in the environment";
    address(global)?.ok_or_else(|| Usage(usage.to_owned()).into())
}

/// Takes a place among the workers of a fleet.
pub fn open(global: &Global, url: &str, name: Option<&str>, memory: u64) -> anyhow::Result<Place> {
    let root = match &global.archive[..] {
        [] => &global.data,
        [root] => root,
        _ => return Err(Usage("a worker keeps its pages in one --archive".to_owned()).into()),
    };
    let mut store = look_in(url, memory)?;
    let (dir, archive) = DataDir::take_seat(root, name, fleet_number(&store)?, now())?;
    dir.agrees(store.agree("suffixes", dir.suffix_number()?)?)?;
    store.write_into(archive.clone());
    let name = name.map_or(archive, str::to_owned);
    Ok(Place { dir: Arc::new(dir), store: Arc::new(store), name })
}

/// Opens the directory of somebody who reads a fleet; `None` where no fleet is spoken of.
pub fn reader(global: &Global, access: Access, memory: u64) -> anyhow::Result<Option<Reader>> {
    let Some(url) = address(global)? else { return Ok(None) };
    let store = look_in(&url, memory)?;
    let number = fleet_number(&store)?;
    let (dir, follows) =
        DataDir::open_reader(&global.data, access, number, &url, &global.archive, now())?;
    dir.agrees(store.agree("suffixes", dir.suffix_number()?)?)?;
    Ok(Some(Reader { dir: Arc::new(dir), store: Arc::new(store), follows }))
}

impl Reader {
    /// Segments that lie in none of the roots that were named, and whose they are.
    pub fn absent(&self) -> anyhow::Result<(Absent, BTreeSet<String>)> {
        absent(&self.store, &self.follows)
    }
}

fn absent(store: &PostgresStore, follows: &Follows) -> anyhow::Result<(Absent, BTreeSet<String>)> {
    let here = follows.archives_here()?;
    let mut names = BTreeSet::new();
    let mut absent = Absent::new();
    for segment in store.all_segments()? {
        if !here.contains(&segment.archive) {
            absent.insert((segment.kind, segment.number));
            names.insert(segment.archive);
        }
    }
    Ok((absent, names))
}

/// Why a text could not be read, where the reason is that nobody said where it lies.
pub fn or_absent(global: &Global, error: anyhow::Error) -> anyhow::Error {
    let names = || {
        let follows = follows(&global.data).ok()??;
        let store = look_in(&follows.store, super::VISIT_MEMORY).ok()?;
        absent_line(&absent(&store, &follows).ok()?.1)
    };
    match names() {
        Some(line) => anyhow::Error::msg(line.trim_end_matches('.').to_owned()),
        None => error,
    }
}

/// The settings with the delay that the fleet keeps, for questions that it matters to.
pub fn with_delay(
    global: &Global,
    question: &Question,
    settings: EngineSettings,
) -> EngineSettings {
    let asked = matches!(question, Question::Explain { .. } | Question::Sites { .. });
    let said = || {
        let url = address(global).ok()??;
        look_in(&url, super::VISIT_MEMORY).ok()?.delay(None).ok()?
    };
    match asked.then(said).flatten() {
        Some(delay) => EngineSettings { delay, ..settings },
        None => settings,
    }
}

/// What to say of pages that are kept where nobody looks.
pub fn absent_line(names: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Pages of {} are not in the directories that were named: give theirs with --archive as well.",
            names.join(", ")
        )
    })
}

/// The number that a fleet goes by. Somebody has to be the first; what it says only has to be unlike
/// what others say.
fn fleet_number(store: &PostgresStore) -> anyhow::Result<u64> {
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(store.agree("fleet", begun.as_nanos() as u64 >> 1)?)
}

/// Opens the store of a fleet, to look at it.
fn look_in(url: &str, memory: u64) -> anyhow::Result<PostgresStore> {
    let options = PostgresOptions { memory, ..PostgresOptions::default() };
    PostgresStore::open(url, options).context("cannot open the store of the fleet")
}

impl Place {
    /// What the engine is told of it.
    pub fn fleet(&self, loaded: &Loaded, stays: bool) -> Fleet {
        let (store, name) = (self.store.clone(), self.name.clone());
        let (metrics, settings) = (String::new(), &loaded.settings);
        let delay = loaded.is_said("crawl.delay").then_some(settings.crawl.delay);
        Fleet { store, name, metrics, lease: settings.store.lease, stays, delay }
    }

    /// Gives a new job a number that nobody else gives at the same time.
    pub fn number(&self, picked: &mut Picked) -> anyhow::Result<()> {
        if let Picked::New(job) = picked {
            job.id.0 = self.store.take_job(job.id.0 - 1)?;
        }
        Ok(())
    }

    /// Where things are, for people.
    pub fn is_where(&self) -> String {
        let dir = self.dir.path().display();
        format!(
            "What is known is in {}, the pages of this worker in {dir}; `argiope index` makes them searchable.",
            self.store.name()
        )
    }
}

pub fn worker(global: &Global, args: &Worker) -> anyhow::Result<ExitCode> {
    let mut own: Vec<Override> = Vec::new();
    let flags = [
        ("crawl.delay", &args.delay, "--delay"),
        ("crawl.connections", &args.connections, "--connections"),
        ("crawl.connections_per_host", &args.connections_per_host, "--connections-per-host"),
        ("crawl.robots", &args.robots, "--robots"),
        ("crawl.workers", &args.workers, "--workers"),
        ("metrics.listen", &args.metrics, "--metrics"),
    ];
    for (key, value, flag) in flags {
        own.extend(value.clone().map(|value| (key, value, flag)));
    }
    if args.allow_private {
        own.push(("fetch.allow_private", "true".to_owned(), "--allow-private"));
    }
    let loaded = load(global, Flags { own: &own, set: &args.set })?;
    let settings = &loaded.settings;
    let memory = engine_settings(settings).store_memory();
    let url = asked_for(global)?;
    if let Some(name) = &args.name
        && (name.is_empty() || name.starts_with('.') || name.contains(['/', '\\']))
    {
        return Err(Usage(format!("{name:?} is no name for a worker")).into());
    }
    let place = open(global, &url, args.name.as_deref(), memory)?;
    let quiet = global.format == Format::Json;
    if !quiet {
        output::talk(format!("{} joins the fleet of {}.", place.name, place.store.name()));
        opening(settings, output::on_terminal()).iter().for_each(output::talk);
    }
    let fleet = place.fleet(&loaded, true);
    let store: Arc<dyn Store> = place.store.clone();
    let summary = execute(
        place.dir.clone(),
        store,
        settings,
        Order { fleet: Some(fleet), quiet, ..Order::default() },
    )?;
    if quiet {
        let row = json!({ "ended": summary.ended, "worker": place.name,
            "fetched": summary.fetched, "bytes": summary.bytes,
            "elapsed_s": summary.elapsed.as_secs_f64() });
        print_json(&[row])?;
    } else {
        output::talk(format!(
            "{} has left after {}: {}, {}.",
            place.name,
            seconds(summary.elapsed.as_secs_f64()),
            plural(summary.fetched, "page", "pages"),
            bytes(summary.bytes)
        ));
        output::talk(place.is_where());
    }
    Ok(ExitCode::SUCCESS)
}

/// What was found for a worker and it has not taken yet.
fn on_the_way(waiting: &Waiting) -> String {
    match waiting.messages {
        0 => "nothing".to_owned(),
        n => {
            let links = plural(n, "message", "messages");
            format!("{links}, the oldest for {}", seconds(waiting.lag.as_secs_f64()))
        }
    }
}

pub fn status(global: &Global) -> anyhow::Result<ExitCode> {
    let store = look_in(&asked_for(global)?, super::VISIT_MEMORY)?;
    let FleetRows { workers, free, waiting } = store.fleet()?;
    let jobs = store.jobs()?;
    let alive = || workers.iter().filter(|worker| worker.left.is_some());
    let speed = alive().map(|worker| worker.speed).fold(0.0, |all, one| all + one);
    let pages: u64 = jobs.iter().map(|row| row.counters.fetched + row.counters.unchanged).sum();
    let queued: u64 = jobs.iter().map(|row| row.counters.queued).sum();
    let round = |x: f64| (x * 10.0).round() / 10.0;
    if global.format == Format::Json {
        let mut rows = vec![json!({ "workers": alive().count(), "partitions": PARTITIONS,
            "free": free, "pages": pages, "queued": queued, "pages_per_s": round(speed),
            "messages": waiting.messages, "lag_s": waiting.lag.as_secs_f64() })];
        rows.extend(workers.iter().map(|worker| {
            json!({ "worker": worker.name, "alive": worker.left.is_some(),
                "partitions": worker.parts, "pages": worker.pages,
                "pages_per_s": round(worker.speed), "started": worker.started.to_string(),
                "silent_s": worker.silent.as_secs_f64(),
                "lease_s": worker.left.map(|left| left.as_secs_f64()),
                "messages": worker.waiting.messages,
                "lag_s": worker.waiting.lag.as_secs_f64(),
                "metrics": Some(&worker.address).filter(|address| !address.is_empty()) })
        }));
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let held = u64::from(PARTITIONS).saturating_sub(free);
    output::print([
        format!("workers      {}", count(alive().count() as u64)),
        format!("partitions   {} of {} held", count(held), count(u64::from(PARTITIONS))),
        format!("pages        {}, {speed:.1} a second", count(pages)),
        format!("queued       {}", count(queued)),
        format!("on the way   {}", on_the_way(&waiting)),
    ])?;
    if workers.is_empty() {
        output::talk("Nobody works: `argiope worker --store … --archive DIR` starts one.");
        return Ok(ExitCode::SUCCESS);
    }
    let rows = workers.iter().map(|worker| {
        let heard = seconds(worker.silent.as_secs_f64());
        let heard = match worker.left {
            Some(_) => format!("{heard} ago"),
            None => format!("{heard} ago, taken for dead"),
        };
        let speed = format!("{:.1}", worker.speed);
        let lag = on_the_way(&worker.waiting);
        vec![worker.name.clone(), count(worker.parts), count(worker.pages), speed, heard, lag]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    output::print([String::new()])?;
    output::print(table(
        &["worker", ">partitions", ">pages", ">a second", "heard", "on the way to it"],
        &rows,
    ))?;
    Ok(ExitCode::SUCCESS)
}
