//! `news collect`: the news of the sites that are followed, once or until it is stopped.
//!
//! * Flags become settings as for `watch`; the engine runs for news alone, so that other jobs of the
//!   directory rest.
//! * At the end each site has a row: what was read, and what is new.

use super::why::{is_out_of_reach, unread};
use super::{follow, followed_sites, unfollow};
use crate::Usage;
use crate::args::{Format, Global};
use crate::args_news::Collect;
use crate::command::crawl::{OnlyNews, Order, execute, own, summary_json};
use crate::command::watch::not_in_a_fleet;
use crate::command::wiring::opening;
use crate::command::{load, now, print_json};
use crate::config::{Flags, Override};
use crate::output::{self, bytes, count, plural, seconds, table};
use argiope_crawl::{Ended, NewsTally, PutOff, Return, Summary};
use argiope_frontier::Manner;
use argiope_model::Time;
use argiope_news::Recipe;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Duration;

/// The flags that stand for a setting.
fn overrides(args: &Collect) -> Vec<Override> {
    let mut out: Vec<Override> = Vec::new();
    let mut given = |key, value: &Option<String>, flag| {
        out.extend(value.clone().map(|value| (key, value, flag)));
    };
    given("news.cycle", &args.cycle, "--cycle");
    given("crawl.delay", &args.delay, "--delay");
    given("crawl.connections", &args.connections, "--connections");
    given("crawl.connections_per_host", &args.connections_per_host, "--connections-per-host");
    given("crawl.robots", &args.robots, "--robots");
    given("metrics.listen", &args.metrics, "--metrics");
    if args.allow_private {
        out.push(("fetch.allow_private", "true".to_owned(), "--allow-private"));
    }
    out
}

pub fn collect(global: &Global, args: Collect) -> anyhow::Result<ExitCode> {
    not_in_a_fleet(global, "news collect")?;
    let loaded = load(global, Flags { own: &overrides(&args), set: &args.set })?;
    let settings = &loaded.settings;
    let quiet = global.format == Format::Json;
    let before = followed_sites(global)?;
    let mut sites: Vec<String> = Vec::new();
    for what in args.sites.iter().filter(|what| !what.trim().is_empty()) {
        let followed = follow(global, what)?;
        if followed.new && !quiet {
            output::talk(&followed.said);
        }
        if !sites.contains(&followed.recipe.site) {
            sites.push(followed.recipe.site);
        }
    }
    let recipes = followed_sites(global)?;
    if recipes.is_empty() {
        return Err(Usage(format!(
            "no site is followed in {}; name one: argiope news sites add https://www.example.org/, or argiope news collect --sites example.org",
            global.data.display()
        ))
        .into());
    }
    let subject = args.subject.as_deref().map(str::trim).filter(|subject| !subject.is_empty());
    let named = sites.clone();
    let news = OnlyNews { sites, subject: subject.map(str::to_owned) };
    let (dir, store) = own(global, settings)?;
    if !quiet {
        opening(settings, output::on_terminal()).iter().for_each(output::talk);
        let of = match news.sites.len() {
            0 => plural(recipes.len() as u64, "site", "sites"),
            n => plural(n as u64, "site", "sites"),
        };
        output::talk(match args.watch {
            true => format!(
                "Collecting the news of {of}, each in its own cycle, until stopped (Ctrl-C)."
            ),
            false => format!("Collecting the news of {of}."),
        });
    }
    let keep = if args.watch { Return::Watch } else { Return::Due };
    let order = Order { keep, news: Some(news), quiet, ..Order::default() };
    let summary = execute(dir.clone(), store.clone(), settings, order)?;
    let code = report(global, &summary, &recipes, settings.fetch.allow_private)?;
    // Whoever was named here for the first time and is not there was a slip of the pen, or is gone.
    let is_new = |r: &&Recipe| {
        summary.ended != Ended::Stopped
            && named.contains(&r.site)
            && before.iter().all(|known| known.site != r.site)
            && summary.news.get(&r.site).is_some_and(is_silent)
    };
    let mut left: Vec<String> = Vec::new();
    for recipe in recipes.iter().filter(is_new) {
        if is_out_of_reach(&dir, &*store, recipe)? {
            unfollow(global, &recipe.site)?;
            left.push(recipe.site.clone());
        }
    }
    if !quiet {
        let now = now();
        let put_off = summary.put_off.iter().filter(|(site, _)| !left.contains(site));
        put_off.for_each(|(site, left)| output::talk(left_words(site, left, now)));
        let blind = |r: &&Recipe| summary.news.get(&r.site).is_some_and(is_blind);
        let silent = |r: &&Recipe| {
            blind(r) && (left.contains(&r.site) || !summary.put_off.contains_key(&r.site))
        };
        for recipe in recipes.iter().filter(silent) {
            unread(&dir, &*store, recipe)?.iter().for_each(output::talk);
        }
    }
    for site in left {
        output::talk(format!(
            "{site} could not be reached, so it is not followed; `argiope news sites add {site}` follows it all the same."
        ));
    }
    Ok(code)
}

fn is_silent(tally: &NewsTally) -> bool {
    let NewsTally { fronts, feeds, new, changed, unchanged, .. } = *tally;
    fronts + feeds + new + changed + unchanged == 0
}

/// Whether no front page of a site could be read.
fn is_blind(tally: &NewsTally) -> bool {
    tally.fronts == 0
}

/// A time to wait, for people.
fn span(wait: Duration) -> String {
    match wait.as_secs() {
        s if s >= 36 * 3_600 => plural((s + 43_200) / 86_400, "day", "days"),
        s if s >= 90 * 60 => plural((s + 1_800) / 3_600, "hour", "hours"),
        s if s >= 90 => plural((s + 30) / 60, "minute", "minutes"),
        s => plural(s.max(1), "second", "seconds"),
    }
}

/// Why something of a site is left to the next round.
fn left_words(site: &str, left: &PutOff, now: Time) -> String {
    let wait = span(left.until.since(now));
    let asked = left.outcome.as_ref().is_some_and(|o| Manner::of(o) == Manner::Busy);
    let why = match &left.outcome {
        _ if left.until <= now => "could not be asked in time".to_owned(),
        _ if asked => format!("asked to wait {wait}"),
        Some(outcome) => format!("could not be had ({outcome}), and is tried again in {wait}"),
        None => format!("is not asked for another {wait}"),
    };
    format!("{site} {why}: left to the next round.")
}

fn row(site: &str, name: &str, tally: &NewsTally) -> Value {
    json!({
        "site": site,
        "name": name,
        "fronts": tally.fronts,
        "feeds": tally.feeds,
        "new": tally.new,
        "changed": tally.changed,
        "unchanged": tally.unchanged,
        "moved": tally.moved,
        "gone": tally.gone,
        "failed": tally.failed + tally.unread,
    })
}

/// What was read for headlines. Most sites have fronts of sections too: these are pages of a site, not sites.
fn looked_at(total: &NewsTally, sites: usize) -> String {
    let feeds = plural(total.feeds, "feed", "feeds");
    match total.fronts {
        fronts if fronts == sites as u64 => {
            format!("{} and {feeds}", plural(fronts, "front page", "front pages"))
        }
        fronts => format!(
            "front pages of {}, with their sections {} pages, and {feeds}",
            plural(sites as u64, "site", "sites"),
            count(fronts)
        ),
    }
}

/// Says what came of it. Where nothing could be had of any site, that is a failure.
fn report(
    global: &Global,
    summary: &Summary,
    recipes: &[Recipe],
    private: bool,
) -> anyhow::Result<ExitCode> {
    let name = |site: &str| {
        let recipe = recipes.iter().find(|recipe| recipe.site == site);
        recipe
            .map(|recipe| recipe.name.as_str())
            .filter(|name| !name.is_empty())
            .unwrap_or(site)
            .to_owned()
    };
    let mut total = NewsTally::default();
    for tally in summary.news.values() {
        total.fronts += tally.fronts;
        total.feeds += tally.feeds;
        total.new += tally.new;
        total.changed += tally.changed;
        total.unchanged += tally.unchanged;
        total.moved += tally.moved;
        total.gone += tally.gone;
        total.failed += tally.failed;
        total.unread += tally.unread;
    }
    let failed = summary.ended != Ended::Stopped && is_silent(&total);
    let code = if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS };
    let sites = summary.news.iter();
    if global.format == Format::Json {
        let mut said = row("", "", &total);
        if let Some(said) = said.as_object_mut() {
            said.remove("site");
            said.remove("name");
        }
        let run = summary_json(summary);
        for key in ["ended", "queued", "elapsed_s"] {
            said[key] = run[key].clone();
        }
        said["bytes"] = json!(summary.bytes);
        let rows = sites.map(|(site, tally)| {
            let mut row = row(site, &name(site), tally);
            if let Some(left) = summary.put_off.get(site) {
                row["left"] = json!({
                    "pages": left.pages,
                    "until": left.until.to_string(),
                    "why": left.outcome.as_ref().map(ToString::to_string),
                });
            }
            row
        });
        said["sites"] = rows.collect();
        print_json(&[said])?;
        return Ok(code);
    }
    let cells: Vec<Vec<String>> = sites
        .map(|(site, tally)| {
            let numbers = [
                tally.fronts,
                tally.feeds,
                tally.new,
                tally.changed,
                tally.unchanged,
                tally.moved,
                tally.gone,
                tally.failed + tally.unread,
            ];
            std::iter::once(site.clone()).chain(numbers.map(count)).collect()
        })
        .collect();
    let head = [
        "site",
        ">fronts and sections",
        ">feeds",
        ">new",
        ">changed",
        ">unchanged",
        ">moved",
        ">gone",
        ">failed",
    ];
    output::print(table(&head, &cells))?;
    let verb = if summary.ended == Ended::Stopped { "Stopped" } else { "Done" };
    output::talk(format!(
        "{verb} after {}: {}, {} changed, {} as they were; {} read, {} received.",
        seconds(summary.elapsed.as_secs_f64()),
        plural(total.new, "new article", "new articles"),
        count(total.changed),
        count(total.unchanged),
        looked_at(&total, summary.news.values().filter(|tally| !is_blind(tally)).count()),
        bytes(summary.bytes)
    ));
    let data = global.data.display();
    if failed {
        let private = match private {
            true => "",
            false => " Private and loopback addresses need --allow-private.",
        };
        output::talk(format!(
            "Nothing could be read of any site; `argiope --data {data} doc URL` with the URL of a front page says why.{private}"
        ));
    } else if summary.ended == Ended::Stopped {
        output::talk("The same command goes on.");
    } else if total.new + total.changed > 0 {
        output::talk(format!("`argiope --data {data} news list` shows them."));
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts_of_sections_are_no_sites() {
        let total = |fronts, feeds| NewsTally { fronts, feeds, ..NewsTally::default() };
        assert_eq!(looked_at(&total(1, 0), 1), "1 front page and 0 feeds");
        assert_eq!(looked_at(&total(20, 3), 20), "20 front pages and 3 feeds");
        assert_eq!(
            looked_at(&total(180, 15), 20),
            "front pages of 20 sites, with their sections 180 pages, and 15 feeds"
        );
    }
}
