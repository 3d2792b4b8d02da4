//! `import`: archives that other tools made.

use super::crawl::{follow, own};
use super::wiring::engine_settings;
use super::{load, now, print_json, visit};
use crate::args::{Format, Global, Import, ImportWhat};
use crate::config::Flags;
use crate::output::{self, bytes, count, plural, seconds};
use anyhow::Context;
use argiope_crawl::{
    Access, DataDir, Followers, ImportOrder, ImportProblem, ImportSummary, ImportWatch, Live,
    Owner, import_warc, listen,
};
use argiope_store::{MemoryStore, Store};
use serde_json::json;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

pub fn import(global: &Global, args: Import) -> anyhow::Result<ExitCode> {
    let ImportWhat::Warc { files, dry_run } = args.what;
    let loaded = load(global, Flags { own: &[], set: &[] })?;
    let begun = Instant::now();
    // A dry run makes no directory; where there is none, nothing is known.
    let mut nowhere = None;
    let (dir, store): (Arc<DataDir>, Arc<dyn Store>) = match dry_run {
        false => own(global, &loaded.settings)?,
        true if global.data.join("manifest.json").exists() => visit(global)?,
        true => {
            let place = tempfile::tempdir().context("cannot make a directory for a dry run")?;
            let dir = DataDir::open(&place.path().join("data"), Access::Own, now())?;
            nowhere = Some(place);
            (Arc::new(dir), Arc::new(MemoryStore::new()))
        }
    };
    let order = ImportOrder { files, dry_run };
    let json = global.format == Format::Json;
    let live = Arc::new(Live::default());
    live.importing(&ImportSummary::default());
    let terminal = output::on_terminal() && !json;
    let mut watch = Watch { json, terminal, live: live.clone(), failed: None };
    let engine = engine_settings(&loaded.settings);
    // Visitors are answered meanwhile; changes, which a crawl would obey, are refused.
    let (orders, _) = mpsc::channel(1);
    let followers = Followers::new(&dir, &store, &engine);
    let owner = || Owner {
        dir: dir.clone(),
        store: store.clone(),
        followers: followers.clone(),
        live,
        settings: engine.clone(),
        orders: Some(orders),
        leave: None,
    };
    let _listening = match dry_run {
        false => Some(listen(owner()).context("cannot open the control socket")?),
        true => None,
    };
    let following = match dry_run {
        false => follow(&loaded.settings, &followers)?,
        true => Vec::new(),
    };
    let done = import_warc(&dir, store.clone(), &engine, &order, &mut watch);
    watch.clear();
    let whole = done.is_ok();
    following.into_iter().for_each(|following| following.finish(whole));
    drop(nowhere);
    let done = done?;
    if let Some(failed) = watch.failed {
        return Err(failed);
    }
    let elapsed = begun.elapsed().as_secs_f64();
    if json {
        let mut row = json!(done);
        row["dry_run"] = json!(dry_run);
        row["elapsed_s"] = json!(elapsed);
        print_json(&[row])?;
    } else {
        output::print(sentences(&done, dry_run, elapsed))?;
    }
    // Where not one record could be read, the files are something else.
    Ok(ExitCode::from(u8::from(done.records == 0 && done.damages > 0)))
}

fn sentences(done: &ImportSummary, dry_run: bool, elapsed: f64) -> Vec<String> {
    let taken = match (dry_run, done.job) {
        (true, _) => "would come in".to_owned(),
        (false, Some(job)) => format!("came in as job {job}"),
        (false, None) => "came in".to_owned(),
    };
    let mut lines = vec![format!(
        "{} ({}) of {} {taken}, from {} ({}) in {}.",
        plural(done.captures, "capture", "captures"),
        bytes(done.bytes),
        plural(done.records, "record", "records"),
        plural(done.files, "file", "files"),
        bytes(done.file_bytes),
        seconds(elapsed),
    )];
    let mut rest = Vec::new();
    let mut say = |n: u64, what: String| {
        if n > 0 {
            rest.push(what);
        }
    };
    say(done.known, format!("{} were here already", count(done.known)));
    say(done.forgotten, format!("{} were forgotten on request", count(done.forgotten)));
    say(done.skipped, format!("{} stay out", count(done.skipped)));
    say(done.damages, format!("{} cannot be read", plural(done.damages, "part", "parts")));
    let others: Vec<String> =
        done.others.iter().map(|(k, n)| format!("{} {k}", count(*n))).collect();
    say(done.others.len() as u64, format!("no captures: {}", others.join(", ")));
    if !rest.is_empty() {
        lines.push(format!("{}.", rest.join("; ")));
    }
    lines
}

/// Prints problems as they come and shows how far it is.
struct Watch {
    json: bool,
    terminal: bool,
    live: Arc<Live>,
    failed: Option<anyhow::Error>,
}

impl Watch {
    fn clear(&self) {
        if self.terminal {
            output::line("");
        }
    }
}

impl ImportWatch for Watch {
    fn problem(&mut self, problem: ImportProblem) {
        self.clear();
        let printed = if self.json {
            print_json(&[json!(problem)])
        } else {
            let ImportProblem { file, offset, url, problem, skipped } = &problem;
            let url = url.as_ref().map_or(String::new(), |url| format!(" {url}:"));
            let out = if *skipped { "stays out: " } else { "" };
            output::print([format!("{} at {offset}:{url} {out}{problem}", file.display())])
        };
        if let Err(e) = printed {
            self.failed.get_or_insert(e);
        }
    }

    fn progress(&mut self, so_far: &ImportSummary) {
        self.live.importing(so_far);
        if self.terminal {
            let line = format!("{} captures, {}", count(so_far.captures), bytes(so_far.bytes));
            output::line(line);
        }
    }
}
