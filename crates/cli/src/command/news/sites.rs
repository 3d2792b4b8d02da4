//! `news sites`: the sites whose news are followed, in `news/sites.toml` of the data directory.

use super::{follow, opml, test};
use crate::args::{Format, Global};
use crate::args_news::{NewsSites, NewsSitesAction};
use crate::command::ask::ask;
use crate::command::print_json;
use crate::config::human_duration;
use crate::output::{self, count, table};
use anyhow::Context;
use argiope_crawl::Question;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// A list of feeds that is longer is none.
const MAX_OPML: u64 = 16 << 20;

pub fn sites(global: &Global, args: &NewsSites) -> anyhow::Result<ExitCode> {
    match &args.action {
        None | Some(NewsSitesAction::List) => list(global),
        Some(NewsSitesAction::Add { sites }) => add(global, sites),
        Some(NewsSitesAction::Remove { sites }) => {
            each(sites, |site| follow::unfollow(global, site).map(|said| vec![said]))
        }
        Some(NewsSitesAction::Test(args)) => test::test(global, args),
        Some(NewsSitesAction::Import { file }) => {
            let bytes = read(file)?;
            let done = opml::import(global, &bytes)?;
            output::talk(done.said());
            Ok(ExitCode::SUCCESS)
        }
        Some(NewsSitesAction::Export) => {
            // Where nothing was collected yet, no feed was found.
            let read = ask(global, &Question::NewsFeeds).unwrap_or_default();
            output::exact().write_all(opml::export(global, &read)?.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A file, or standard input.
fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let name = || format!("cannot read {}", file.display());
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_OPML).read_to_end(&mut bytes).with_context(name)?;
    } else {
        let opened = std::fs::File::open(file).with_context(name)?;
        opened.take(MAX_OPML).read_to_end(&mut bytes).with_context(name)?;
    }
    Ok(bytes)
}

fn add(global: &Global, sites: &[String]) -> anyhow::Result<ExitCode> {
    each(sites, |site| match site.ends_with(".toml") && !site.contains("://") {
        true => follow::follow_file(global, Path::new(site)),
        false => follow::follow(global, site).map(|followed| vec![followed.said]),
    })
}

/// Does something with each; one that fails does not stop the others.
fn each(
    sites: &[String],
    act: impl Fn(&str) -> anyhow::Result<Vec<String>>,
) -> anyhow::Result<ExitCode> {
    let mut failed = None;
    for site in sites {
        match act(site) {
            Ok(said) => said.iter().for_each(output::talk),
            Err(e) if sites.len() == 1 => return Err(e),
            Err(e) => {
                output::talk(format!("argiope: {}", output::sentence(&e)));
                failed = Some(if e.is::<crate::Usage>() { 2 } else { 1 });
            }
        }
    }
    Ok(failed.map_or(ExitCode::SUCCESS, ExitCode::from))
}

fn list(global: &Global) -> anyhow::Result<ExitCode> {
    let recipes = follow::read(global)?;
    let overview = figures(global, !recipes.is_empty());
    let of = |site: &str| {
        let rows = overview.as_ref().and_then(|row| row["sites"].as_array());
        rows.into_iter().flatten().find(|row| row["site"] == site)
    };
    let rows: Vec<Value> = recipes
        .iter()
        .map(|recipe| {
            let known = of(&recipe.site);
            let figure = |name: &str| known.map_or(Value::Null, |row| row[name].clone());
            // Rules hide articles from lists, not from figures.
            let with = |name: &str, hidden: &str| match figure(name).as_u64() {
                Some(n) => json!(n + figure(hidden).as_u64().unwrap_or(0)),
                None => Value::Null,
            };
            let own = recipe.cycle.map(human_duration).map(Value::String);
            json!({
                "name": match figure("name") {
                    // What its pages call it, where it has no name of its own.
                    Value::String(name) => name,
                    _ => recipe.name.clone(),
                },
                "site": recipe.site,
                "front": recipe.front,
                "feeds": recipe.feeds,
                "cycle": own.unwrap_or_else(|| figure("cycle")),
                "articles": with("articles", "hidden"),
                "unread": with("unread", "hidden_unread"),
                "last": figure("last"),
                "looked": figure("looked"),
            })
        })
        .collect();
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        output::talk("No site is followed yet; `argiope news sites add example.org` follows one.");
        return Ok(ExitCode::SUCCESS);
    }
    let lines: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let fronts = row["front"].as_array().map_or(&[][..], Vec::as_slice);
            let mut front = fronts.first().and_then(Value::as_str).unwrap_or_default().to_owned();
            if fronts.len() > 1 {
                front += &format!(" +{}", fronts.len() - 1);
            }
            let number = |name: &str| row[name].as_u64().map_or_else(|| "-".to_owned(), count);
            let cycle = if text("cycle").is_empty() { "-".to_owned() } else { text("cycle") };
            let time =
                |name| text(name).get(..16).map_or_else(|| "-".to_owned(), |t| t.replace('T', " "));
            vec![
                output::cut(&text("name"), 30),
                text("site"),
                output::cut(&front, 60),
                cycle,
                number("articles"),
                number("unread"),
                time("last"),
                time("looked"),
            ]
        })
        .collect();
    let head =
        ["name", "site", "front page", ">cycle", ">articles", ">unread", "newest", "looked at"];
    let whole = table(&head, &lines);
    let widest = whole.iter().map(|line| output::wide(line)).max().unwrap_or(0);
    match output::is_shown() && widest > output::width() {
        true => output::print(lines.iter().flat_map(|cells| below(&head, cells, output::width())))?,
        false => output::print(whole)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A row of a table that the terminal has no room for, in lines.
fn below(head: &[&str], cells: &[String], width: usize) -> Vec<String> {
    let named = head.iter().map(|name| name.trim_start_matches('>')).zip(cells).skip(3);
    let figures: Vec<String> = named.map(|(name, cell)| format!("{name} {cell}")).collect();
    let name = if cells[0] == cells[1] { String::new() } else { format!(" ({})", cells[1]) };
    let mut lines = output::wrapped(&format!("{}{name}", cells[0]), width);
    lines.push(format!("    {}", cells[2]));
    let figures = output::wrapped(&figures.join(", "), width.saturating_sub(4).max(20));
    lines.extend(figures.into_iter().map(|line| format!("    {line}")));
    lines
}

/// What was collected, where there is a data directory.
fn figures(global: &Global, wanted: bool) -> Option<Value> {
    let there = global.data.join("manifest.json").exists() || global.store.is_some();
    if !there || !wanted {
        return None;
    }
    match ask(global, &Question::NewsOverview) {
        Ok(rows) => rows.into_iter().next(),
        Err(e) => {
            output::talk(format!("Figures are left out: {}", output::sentence(&e)));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_room_stands_in_lines() {
        let head = ["name", "site", "front page", ">cycle", ">articles", ">unread", "newest"];
        let cells = ["A", "a.test", "https://a.test/", "15m", "8", "2", "2026-11-16 08:00"];
        let lines = below(&head, &cells.map(str::to_owned), 40);
        assert_eq!(
            lines,
            [
                "A (a.test)",
                "    https://a.test/",
                "    cycle 15m, articles 8, unread 2,",
                "    newest 2026-11-16 08:00"
            ]
        );
    }
}
