//! Working in a fleet: `worker`, `status --fleet`, and what `crawl --store` and `verify --store` need.

use super::crawl::execute;
use super::wiring::{engine_settings, opening};
use super::{load, now, print_json};
use crate::args::{FleetStore, Format, Global, Worker};
use crate::config::{Flags, Override, Settings};
use crate::output::{self, bytes, count, plural, seconds, table};
use anyhow::Context;
use argiope_crawl::{Access, DataDir, Fleet, Picked};
use argiope_model::PARTITIONS;
use argiope_store::{FleetRows, PostgresOptions, PostgresStore, Store, Waiting};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A place in a fleet: the directory of this worker, the store of all, its name.
pub struct Place {
    pub dir: Arc<DataDir>,
    pub store: Arc<PostgresStore>,
    pub name: String,
}

/// Where a worker keeps its pages.
pub fn archive_dir(global: &Global, fleet: &FleetStore) -> PathBuf {
    fleet.archive.clone().unwrap_or_else(|| global.data.clone())
}

/// Opens the store of a fleet, and the directory of one of its workers.
pub fn open(url: &str, path: &Path, access: Access, memory: u64) -> anyhow::Result<Place> {
    let mut store = look_in(url, memory)?;
    // Somebody has to be the first; what it says only has to be unlike what others say.
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let fleet = store.agree("fleet", begun.as_nanos() as u64 >> 1)?;
    let (dir, archive) = DataDir::open_member(path, access, fleet, now())?;
    dir.agrees(store.agree("suffixes", dir.suffix_number()?)?)?;
    store.write_into(archive.clone());
    Ok(Place { dir: Arc::new(dir), store: Arc::new(store), name: archive })
}

/// Opens the store of a fleet, to look at it.
fn look_in(url: &str, memory: u64) -> anyhow::Result<PostgresStore> {
    let options = PostgresOptions { memory, ..PostgresOptions::default() };
    PostgresStore::open(url, options).context("cannot open the store of the fleet")
}

impl Place {
    /// What the engine is told of it.
    pub fn fleet(&self, settings: &Settings, stays: bool) -> Fleet {
        let (store, name) = (self.store.clone(), self.name.clone());
        let metrics = String::new();
        Fleet { store, name, metrics, lease: settings.store.lease, stays }
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
        format!("What is known is in {}, the pages of this worker in {dir}.", self.store.name())
    }
}

pub fn worker(global: &Global, args: &Worker) -> anyhow::Result<ExitCode> {
    let mut own: Vec<Override> = Vec::new();
    let flags = [
        ("crawl.delay", &args.delay, "--delay"),
        ("crawl.connections", &args.connections, "--connections"),
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
    let path = args.archive.clone().unwrap_or_else(|| global.data.clone());
    let memory = engine_settings(settings).store_memory();
    let mut place = open(&args.store, &path, Access::Own, memory)?;
    if let Some(name) = &args.name {
        place.name.clone_from(name);
    }
    let quiet = global.format == Format::Json;
    if !quiet {
        output::talk(format!("{} joins the fleet of {}.", place.name, place.store.name()));
        opening(settings, output::on_terminal()).iter().for_each(output::talk);
    }
    let fleet = place.fleet(settings, true);
    let store: Arc<dyn Store> = place.store.clone();
    let summary = execute(place.dir.clone(), store, settings, None, Some(fleet), quiet)?;
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

pub fn status(global: &Global, url: &str) -> anyhow::Result<ExitCode> {
    let store = look_in(url, super::VISIT_MEMORY)?;
    let FleetRows { workers, free, waiting } = store.fleet()?;
    let jobs = store.jobs()?;
    let alive = || workers.iter().filter(|worker| worker.left.is_some());
    let speed: f64 = alive().map(|worker| worker.speed).sum();
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
