//! `store copy`: a crawl moves between a data directory and a fleet.

use super::{VISIT_MEMORY, now, open_embedded, print_json};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_store::{Copy, Store, StoreAction};
use crate::output::{self, bytes, count, plural, seconds, table};
use anyhow::Context;
use argiope_crawl::{
    Access, CopyPlan, CopyStep, CopySummary, DataDir, copy_to_dir, copy_to_fleet, plan_to_dir,
    plan_to_fleet,
};
use argiope_store::{Copied, EmbeddedStore, PostgresOptions, PostgresStore};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often the line on a terminal is drawn.
const REDRAW: Duration = Duration::from_millis(100);

pub fn store(global: &Global, args: &Store) -> anyhow::Result<ExitCode> {
    match &args.action {
        StoreAction::Copy(args) => copy(global, args),
    }
}

fn copy(global: &Global, args: &Copy) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let quiet = global.format == Format::Json;
    let mut shown = Shown { begun, drawn: None, on: output::on_terminal() && !quiet };
    let servers = (is_server(&args.from), is_server(&args.to));
    if servers.0 != servers.1 && global.archive.is_empty() {
        let why = "say where the workers of the fleet keep their pages: --archive ROOT";
        return Err(Usage(why.into()).into());
    }
    match servers {
        (false, true) => {
            let [root] = &global.archive[..] else {
                let why = "the pages come into one directory: give --archive once";
                return Err(Usage(why.into()).into());
            };
            let name = args.name.as_deref();
            if name.is_some_and(|name| !is_plain(name)) {
                return Err(Usage("--name is a name, not a path".into()).into());
            }
            let (dir, from) = open_dir(Path::new(&args.from))?;
            let to = open_server(&args.to)?;
            if args.dry_run {
                return planned(quiet, &plan_to_fleet(&dir, &from, &to, root, name)?);
            }
            let watch = &mut |step: CopyStep<'_>| shown.step(&step);
            let done = copy_to_fleet(&dir, &from, &to, root, name, now(), watch)?;
            drop(shown);
            told(quiet, &done, begun, "into", to.name(), &args.from)
        }
        (true, false) => {
            if args.name.is_some() {
                return Err(Usage("--name is for copies into a fleet".into()).into());
            }
            let (from, to) = (open_server(&args.from)?, Path::new(&args.to));
            if args.dry_run {
                return planned(quiet, &plan_to_dir(&from, &global.archive, to)?);
            }
            let watch = &mut |step: CopyStep<'_>| shown.step(&step);
            let done = copy_to_dir(&from, &global.archive, to, now(), watch)?;
            drop(shown);
            told(quiet, &done, begun, "from", from.name(), &args.to)
        }
        (false, false) => Err(Usage(
            "one of --from and --to is the store of a fleet (postgres://…); a data directory is copied \
             with any tool that copies files, while no crawl runs"
                .into(),
        )
        .into()),
        (true, true) => Err(Usage(
            "one of --from and --to is a data directory; a database is copied with PostgreSQL's own \
             tools (pg_dump)"
                .into(),
        )
        .into()),
    }
}

/// Whether it names a server: a URL, or the words that PostgreSQL takes in its place.
fn is_server(text: &str) -> bool {
    let url = ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme));
    let words = || text.split_whitespace();
    let named = |word: &str| word.starts_with("host=") || word.starts_with("dbname=");
    url || (words().all(|word| word.contains('=')) && words().any(named))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\'])
}

fn open_dir(path: &Path) -> anyhow::Result<(DataDir, EmbeddedStore)> {
    let dir = DataDir::open(path, Access::Visit, now())?;
    let store = open_embedded(&dir, VISIT_MEMORY)?;
    Ok((dir, store))
}

fn open_server(url: &str) -> anyhow::Result<PostgresStore> {
    PostgresStore::open(url, PostgresOptions { memory: VISIT_MEMORY, ..Default::default() })
        .context("cannot open the store of the fleet")
}

/// What is seen of a copy on its way.
struct Shown {
    begun: Instant,
    drawn: Option<Instant>,
    on: bool,
}

impl Shown {
    fn step(&mut self, step: &CopyStep<'_>) {
        if !self.on || self.drawn.is_some_and(|at| at.elapsed() < REDRAW) {
            return;
        }
        self.drawn = Some(Instant::now());
        output::line(match step {
            CopyStep::Waiting(left) => format!(
                "A copy that was cut short is taken for dead in {}",
                seconds(left.as_secs_f64())
            ),
            CopyStep::Files(done, of, size) => {
                format!("Pages: {} of {} files, {}", count(*done), count(*of), bytes(*size))
            }
            CopyStep::Rows(kind, copied) => {
                let rows = copied.total();
                let speed = rows as f64 / self.begun.elapsed().as_secs_f64().max(0.001);
                format!(
                    "Rows: {} · {} · {} a second · now {kind}",
                    count(rows),
                    bytes(copied.bytes),
                    count(speed as u64)
                )
            }
        });
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if self.on && self.drawn.is_some() {
            output::line("");
        }
    }
}

fn rows_json(rows: &Copied) -> Value {
    json!(rows.rows)
}

fn planned(quiet: bool, plan: &CopyPlan) -> anyhow::Result<ExitCode> {
    if quiet {
        print_json(&[json!({ "dry_run": true, "rows": plan.rows.total(),
            "tables": rows_json(&plan.rows), "files": plan.files, "file_bytes": plan.bytes,
            "place": plan.place })])?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> =
        plan.rows.rows.iter().map(|(kind, n)| vec![(*kind).to_owned(), count(*n)]).collect();
    output::print(table(&["rows", ">number"], &rows))?;
    output::print([format!(
        "{} and {} of pages ({}) would be copied; the pages to {}.",
        plural(plan.rows.total(), "row", "rows"),
        plural(plan.files, "file", "files"),
        bytes(plan.bytes),
        plan.place.display()
    )])?;
    Ok(ExitCode::SUCCESS)
}

fn told(
    quiet: bool,
    done: &CopySummary,
    begun: Instant,
    way: &str,
    server: &str,
    dir: &str,
) -> anyhow::Result<ExitCode> {
    let (elapsed, rows) = (begun.elapsed().as_secs_f64(), done.rows.total());
    if quiet {
        print_json(&[json!({ "rows": rows, "tables": rows_json(&done.rows),
            "files": done.linked + done.copied, "files_linked": done.linked,
            "file_bytes": done.bytes, "place": done.place, "finished": done.finished,
            "elapsed_s": elapsed })])?;
        return Ok(ExitCode::SUCCESS);
    }
    if done.finished {
        output::print([format!(
            "The copy had been cut short after its last row; now it is whole, with its pages in {}.",
            done.place.display()
        )])?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print([
        format!(
            "{} URLs, {} captures, {} in all copied {way} {server} in {} ({} a second).",
            count(done.rows.of("urls")),
            count(done.rows.of("captures")),
            plural(rows, "row", "rows"),
            seconds(elapsed),
            count((rows as f64 / elapsed.max(0.001)) as u64),
        ),
        format!(
            "Their pages are in {}: {} ({}), {} of them shared with what they were copied from.",
            done.place.display(),
            plural(done.linked + done.copied, "file", "files"),
            bytes(done.bytes),
            count(done.linked),
        ),
    ])?;
    let next = match way {
        "into" => format!(
            "{dir} stays as it was. `argiope worker --store … --archive …` goes on with the copy."
        ),
        _ => format!(
            "`argiope --data {dir} crawl` goes on with it; index and back-links are made again when they are asked for."
        ),
    };
    output::talk(next);
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_from_a_directory() {
        for server in ["postgres://a@b/c", "postgresql://b/c", "host=/run dbname=t user=me"] {
            assert!(is_server(server), "{server}");
        }
        for dir in ["argiope-data", "/var/lib/host=1", "./dbname=x y", "C:\\data"] {
            assert!(!is_server(dir), "{dir}");
        }
        assert!(is_plain("worker-3") && !is_plain("a/b") && !is_plain("..") && !is_plain(""));
    }
}
