//! `watch`, `refresh` and `cycle`: coming back to what was crawled.

use super::ask::ask;
use super::crawl::{Order, crawl_kept, execute, own, summary_json};
use super::wiring::opening;
use super::{load, now, print_json};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_watch::{Budget, Cycle, Refresh, Watch};
use crate::config::{Flags, Override};
use crate::output::{self, bytes, count, plural, seconds};
use argiope_crawl::{Access, DataDir, Ended, Question, Return, Summary, dir_bytes};
use argiope_frontier::revisit::{Pattern, interval};
use argiope_model::JobState;
use argiope_store::EmbeddedStore;
use serde_json::{Value, json};
use std::process::ExitCode;

/// A larger store is not written anew after a round.
const TIDY_MOST: u64 = 256 << 20;

/// The flags of a budget that stand for a setting.
fn overrides(budget: &Budget) -> Vec<Override> {
    let mut out: Vec<Override> = Vec::new();
    let mut given = |key, value: &Option<String>, flag| {
        out.extend(value.clone().map(|value| (key, value, flag)));
    };
    given("revisit.policy", &budget.policy, "--policy");
    given("revisit.round", &budget.round, "--round");
    given("revisit.per_day", &budget.per_day, "--per-day");
    given("revisit.per_site_day", &budget.per_site_day, "--per-site-day");
    given("fetch.max_bandwidth", &budget.max_bandwidth, "--max-bandwidth");
    out
}

pub fn not_in_a_fleet(global: &Global, what: &str) -> anyhow::Result<()> {
    if super::fleet::is_meant(global)? {
        return Err(Usage(format!(
            "{what} works on a directory of its own, not yet on a fleet; `argiope store copy` makes one of a fleet"
        ))
        .into());
    }
    Ok(())
}

fn is_crawled(global: &Global) -> anyhow::Result<()> {
    if global.data.join("manifest.json").exists() {
        return Ok(());
    }
    Err(Usage(format!(
        "there is nothing to come back to in {}; crawl something first, argiope crawl https://example.org/, or follow the news of a site: argiope news sites add https://www.example.org/",
        global.data.display()
    ))
    .into())
}

pub fn watch(global: &Global, args: Watch) -> anyhow::Result<ExitCode> {
    not_in_a_fleet(global, "watch")?;
    let asked = !args.crawl.urls.is_empty() || args.crawl.seeds.is_some();
    if !asked && super::news::followed_sites(global)?.is_empty() {
        is_crawled(global)?;
    }
    let summary = crawl_kept(global, args.crawl, &overrides(&args.budget), Return::Watch)?;
    match summary {
        Some(summary) => report(global, &summary, Return::Watch),
        None => Ok(ExitCode::SUCCESS),
    }
}

pub fn refresh(global: &Global, args: &Refresh) -> anyhow::Result<ExitCode> {
    not_in_a_fleet(global, "refresh")?;
    is_crawled(global)?;
    let mut own_flags = overrides(&args.budget);
    let mut given = |key, value: &Option<String>, flag| {
        own_flags.extend(value.clone().map(|value| (key, value, flag)));
    };
    given("crawl.delay", &args.delay, "--delay");
    given("crawl.connections", &args.connections, "--connections");
    given("crawl.connections_per_host", &args.connections_per_host, "--connections-per-host");
    given("crawl.robots", &args.robots, "--robots");
    given("metrics.listen", &args.metrics, "--metrics");
    let flags = [
        (args.allow_private, "fetch.allow_private", "true", "--allow-private"),
        (args.no_links, "crawl.links", "false", "--no-links"),
        (args.no_index, "crawl.index", "false", "--no-index"),
    ];
    let said = flags.iter().filter(|(on, ..)| *on);
    own_flags.extend(said.map(|(_, key, value, flag)| (*key, (*value).to_owned(), *flag)));
    let loaded = load(global, Flags { own: &own_flags, set: &args.set })?;
    let settings = &loaded.settings;
    let (dir, store) = own(global, settings)?;
    let rows = store.jobs()?;
    if rows.iter().all(|row| matches!(row.state, JobState::Dropped | JobState::Paused)) {
        return Err(Usage(format!(
            "no job in {} is being worked on; `argiope jobs` lists them, `argiope jobs resume N` takes one up",
            global.data.display()
        ))
        .into());
    }
    let keep = if args.all || !args.only.is_empty() { Return::All } else { Return::Due };
    let quiet = global.format == Format::Json;
    if !quiet {
        opening(settings, false).iter().for_each(output::talk);
    }
    let only = args.only.iter().map(|text| Pattern::new(text)).collect();
    let order = Order { keep, only, quiet, ..Order::default() };
    let summary = execute(dir, store, settings, order)?;
    tidy(global);
    report(global, &summary, keep)
}

/// A round has written every row anew; a small store is brought to its size at once, a large one by
/// and by.
fn tidy(global: &Global) {
    let Ok(dir) = DataDir::open(&global.data, Access::Own, now()) else { return };
    let path = dir.store();
    if dir_bytes(&path) > TIDY_MOST {
        return;
    }
    if let Err(e) = EmbeddedStore::rewrite(&path, super::VISIT_MEMORY) {
        tracing::warn!("the store was not tidied up: {e}");
    }
}

fn report(global: &Global, summary: &Summary, keep: Return) -> anyhow::Result<ExitCode> {
    let mut row = summary_json(summary);
    let tally = summary.again;
    row["visited"] = json!(tally.visited);
    row["changed"] = json!(tally.changed);
    row["unchanged"] = json!(tally.unchanged);
    row["gone"] = json!(tally.gone);
    row["not_had"] = json!(tally.failed);
    row["new"] = json!(summary.fetched);
    if global.format == Format::Json {
        print_json(&[row])?;
        return Ok(ExitCode::SUCCESS);
    }
    let verb = match summary.ended {
        Ended::Stopped => "Stopped",
        Ended::Done | Ended::Limit => "Done",
    };
    if tally.visited == 0 && summary.fetched == 0 && keep == Return::Due {
        output::talk("Nothing is due; `argiope refresh --all` visits everything now.");
        return Ok(ExitCode::SUCCESS);
    }
    if tally.visited == 0 && summary.fetched == 0 && keep == Return::All {
        output::talk("No page that was crawled here is meant; `argiope sites` lists the hosts.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut parts = vec![
        format!("{} changed", count(tally.changed)),
        format!("{} as they were", count(tally.unchanged)),
    ];
    if tally.gone > 0 {
        parts.push(format!("{} gone", count(tally.gone)));
    }
    if tally.failed > 0 {
        parts.push(format!("{} not to be had this time", count(tally.failed)));
    }
    output::talk(format!(
        "{verb} after {}: {} visited again: {}; {}, {} received.",
        seconds(summary.elapsed.as_secs_f64()),
        plural(tally.visited, "page", "pages"),
        parts.join(", "),
        plural(summary.fetched, "new page", "new pages"),
        bytes(summary.bytes)
    ));
    let data = global.data.display();
    if tally.changed > 0 {
        output::talk(format!(
            "`argiope --data {data} diff URL` shows what changed on a page, `history URL` when."
        ));
    }
    if summary.ended == Ended::Stopped {
        output::talk("The same command goes on.");
    }
    Ok(ExitCode::SUCCESS)
}

pub fn cycle(global: &Global, args: &Cycle) -> anyhow::Result<ExitCode> {
    let every = match args.every.as_deref() {
        None => {
            let rows = ask(global, &Question::Doc(args.target.clone()))?;
            return show(global, &rows);
        }
        Some("auto") => None,
        Some(text) => {
            let every = interval(text).ok_or_else(|| {
                Usage(format!("{text} is no time; write 15m, 6h, 2d, 1w, or auto"))
            })?;
            Some(every.as_secs())
        }
    };
    let rows = ask(global, &Question::Cycle { target: args.target.clone(), every })?;
    show(global, &rows)
}

fn show(global: &Global, rows: &[Value]) -> anyhow::Result<ExitCode> {
    let names = ["url", "cycle", "cycle_s", "cycle_by", "due"];
    let rows = rows.iter().map(|row| {
        names.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect::<Value>()
    });
    let rows: Vec<Value> = rows.collect();
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    for row in &rows {
        let text = |name: &str| row[name].as_str().unwrap_or("-").to_owned();
        let lines = [("url", "url"), ("cycle", "cycle"), ("next visit", "due")];
        output::print(lines.map(|(shown, name)| format!("{shown:14} {}", text(name))))?;
    }
    Ok(ExitCode::SUCCESS)
}
