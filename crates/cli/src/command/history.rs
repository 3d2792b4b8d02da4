//! `history`: the versions of a page. The owner of the directory says which there are; the files
//! are read without asking anybody.

use super::ask::ask;
use super::print_json;
use crate::args::{Format, Global};
use crate::args_history::History;
use crate::output::{self, bytes, count, cut, table};
use anyhow::{Context, bail};
use argiope_crawl::{Question, Shelf, Versions, pruned_between};
use argiope_model::{CanonicalUrl, Capture, Time};
use serde_json::Value;
use std::path::Path;
use std::process::ExitCode;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// All captures of a page.
pub fn versions(global: &Global, target: &str) -> anyhow::Result<Versions> {
    let mut rows = ask(global, &Question::Versions(target.to_owned()))?.into_iter();
    let page = rows.next().context("nothing is said of the page")?;
    let url = page["url"].as_str().unwrap_or_default();
    let url = CanonicalUrl::parse(url).with_context(|| format!("{url} is no URL"))?;
    let captures = rows.map(serde_json::from_value).collect::<Result<Vec<Capture>, _>>()?;
    if captures.is_empty() && page["state"] == "forgotten" {
        bail!("{url} was forgotten on request; nothing of it is kept");
    }
    if captures.is_empty() {
        bail!("{url} is known and was not fetched yet; `argiope doc` says more");
    }
    Ok(Versions { url, captures })
}

/// Calls `act` with where the versions lie.
pub fn with_shelf<T>(global: &Global, act: impl FnOnce(&Shelf<'_>) -> T) -> T {
    let captures_of = |url: &str| -> Result<Vec<Capture>, Failure> {
        Ok(versions(global, url).map_err(|e| e.to_string())?.captures)
    };
    act(&Shelf {
        warc: global.data.join("warc"),
        text: global.data.join("text"),
        captures_of: &captures_of,
    })
}

/// Whether the version of a time was pruned, in words: what stands beside it is not it.
pub fn pruned(data: &Path, page: &Versions, shown: Option<Time>, at: Time) -> Option<String> {
    let (time, when) = pruned_between(data, page.url.as_str(), shown, at)?;
    let kept = |c: &&Capture| c.outcome.is_success();
    let before = page.captures.iter().rev().filter(|c| c.time <= at).find(kept);
    let after = page.captures.iter().filter(|c| c.time > at).find(kept);
    let near: Vec<String> = [(before, "before"), (after, "after")]
        .into_iter()
        .filter_map(|(c, word)| Some(format!("--at {} the one {word} it", c?.time)))
        .collect();
    Some(format!(
        "the version of {} that was seen {} was pruned ({}); {}",
        page.url,
        time.iso_seconds(),
        when.iso_seconds(),
        match near.is_empty() {
            true => "`argiope history` lists those that stay".to_owned(),
            false => format!("{} is kept", near.join(" and ")),
        }
    ))
}

pub fn history(global: &Global, args: &History) -> anyhow::Result<ExitCode> {
    let page = versions(global, &args.target)?;
    let mut rows = with_shelf(global, |shelf| argiope_crawl::history(shelf, &page))?;
    if args.changed {
        rows.retain(|row| row["changed"] == true || row["reason"] == "new");
    }
    let first = args.limit.map_or(0, |limit| rows.len().saturating_sub(limit));
    rows.drain(..first);
    if global.format == Format::Json {
        print_json(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["time", ">status", ">bytes", ">words", "change", "last modified", "title"];
    output::print(table(&head, &rows.iter().map(cells).collect::<Vec<_>>()))?;
    let changes = rows.iter().filter(|row| row["changed"] == true).count() as u64;
    let gone = pruned_between(&global.data, page.url.as_str(), None, Time(i64::MAX));
    output::talk(format!(
        "{} of {}, {}{}",
        output::plural(rows.len() as u64, "version", "versions"),
        page.url,
        output::plural(changes, "change", "changes"),
        if gone.is_some() { "; others were pruned" } else { "" },
    ));
    Ok(ExitCode::SUCCESS)
}

fn cells(row: &Value) -> Vec<String> {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let seconds = |name: &str| text(name).get(..19).map(|t| format!("{t}Z")).unwrap_or_default();
    let status = match row["status"].as_u64() {
        Some(status) => status.to_string(),
        None => "-".to_owned(),
    };
    vec![
        seconds("time"),
        status,
        bytes(row["bytes"].as_u64().unwrap_or(0)),
        row["words"].as_u64().map_or("-".to_owned(), count),
        change(row),
        seconds("last_modified"),
        cut(&text("title"), 50),
    ]
}

/// How much and why, in words.
fn change(row: &Value) -> String {
    let share = row["change"].as_f64().unwrap_or(0.0) * 100.0;
    let reason = row["reason"].as_str().unwrap_or_default();
    match (row["changed"] == true, reason) {
        (true, "type") => "other type".to_owned(),
        (true, "bytes") => "other bytes".to_owned(),
        (true, reason) if share < 0.1 => format!("<0.1 % {reason}"),
        (true, reason) => format!("{share:.1} % {reason}"),
        (_, "new") => "first seen".to_owned(),
        (_, "identical") => "same bytes".to_owned(),
        (_, "same") => "same words".to_owned(),
        (_, "noise") => "only clocks, counters, boxes".to_owned(),
        (_, "order") => "other order".to_owned(),
        (_, "error-page") => "error page in its place".to_owned(),
        (_, "parser") => "read by another version".to_owned(),
        (_, "back") => "back as it was".to_owned(),
        (_, "moved") => format!("moved to {}", cut(row["detail"].as_str().unwrap_or("?"), 50)),
        (_, "failed" | "error") => cut(row["outcome"].as_str().unwrap_or(reason), 40),
        (_, reason) => reason.to_owned(),
    }
}
