//! All hosts, in a table that can be sorted and narrowed.

use super::page::badge;
use super::parts::{Asked, Wanted, pager, site_at};
use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{bytes, count, number, plural, seconds, text};
use argiope_crawl::Question;
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;
use std::cmp::Reverse;

/// Hosts on a page.
const SHOWN: usize = 50;

/// The columns: what a row calls it, its name, whether it is a number.
const COLUMNS: [(&str, &str, bool); 9] = [
    ("host", "Host", false),
    ("state", "State", false),
    ("pages", "Pages", true),
    ("queued", "Queued", true),
    ("known", "Known", true),
    ("errors", "Errors", true),
    ("bytes", "Received", true),
    ("disk", "On disk", true),
    ("delay_s", "Delay", true),
];

/// The name of a host, or of a site of which no host is known.
pub(crate) fn name_of(row: &Value) -> &str {
    match text(row, "host") {
        "" => text(row, "site"),
        host => host,
    }
}

pub(crate) async fn sites(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let rows = app.ask(Question::Sites { filter: None }).await?;
    let frame = Frame { title: "Sites", tab: Tab::Sites, query: Some("") };
    Ok(page(&app, caller, &frame, whole(rows, &wanted)))
}

/// The rows that are wanted, in the order that is wanted.
fn chosen(mut rows: Vec<Value>, find: &str, by: &str) -> Vec<Value> {
    let find = find.to_lowercase();
    rows.retain(|row| {
        let has = |name: &str| text(row, name).to_lowercase().contains(&find);
        find.is_empty() || ["host", "site", "state"].into_iter().any(has)
    });
    match COLUMNS.iter().find(|(name, _, _)| *name == by) {
        Some(("delay_s", _, _)) => {
            rows.sort_by(|a, b| {
                b["delay_s"]
                    .as_f64()
                    .unwrap_or(-1.0)
                    .total_cmp(&a["delay_s"].as_f64().unwrap_or(-1.0))
            });
        }
        Some((name, _, true)) => rows.sort_by_key(|row| Reverse(number(row, name))),
        Some((name, _, false)) => rows.sort_by(|a, b| text(a, name).cmp(text(b, name))),
        // As they come: those first that have something to say for themselves.
        None => {}
    }
    rows
}

fn whole(rows: Vec<Value>, wanted: &Wanted) -> Markup {
    let sum = |name: &str| rows.iter().map(|row| number(row, name)).sum::<u64>();
    let (pages, queued, errors, received) =
        (sum("pages"), sum("queued"), sum("errors"), sum("bytes"));
    let hosts = rows.iter().filter(|row| !row["host"].is_null()).count() as u64;
    let (find, by) = (wanted.get("find"), wanted.get("by"));
    let rows = chosen(rows, find, by);
    let last = rows.len().div_ceil(SHOWN).max(1) as u64;
    let here = wanted.number("page").min(last);
    let shown: Vec<&Value> = rows.iter().skip((here as usize - 1) * SHOWN).take(SHOWN).collect();
    html! {
        h1 { "Sites" }
        p { (plural(hosts, "host", "hosts")) ": " (plural(pages, "page", "pages")) ", " (count(queued)) " queued, "
            (plural(errors, "error", "errors")) ", " (bytes(received)) " received. "
            a href="/broken" { "Broken links" } " · " a href="/top?of=sites&by=rank" { "Top sites" } }
        form.row action="/sites" {
            label for="find" { "Find" }
            input id="find" name="find" type="text" value=(find) size="26" placeholder="part of a name, or a state";
            @if !by.is_empty() { input type="hidden" name="by" value=(by); }
            button type="submit" { "Find" }
            @if !find.is_empty() { a href=(wanted.with("find", "").at("/sites")) { "Show all" } }
        }
        @if shown.is_empty() {
            @if hosts == 0 { p.note { "No site is known yet. " a href="/crawl" { "Start a crawl" } " to meet some." } }
            @else { p.note { "No host is called so." } }
        } @else {
            div.scroll {
                table.sites {
                    thead { tr {
                        @for (name, title, number) in COLUMNS {
                            th.n[number] scope="col" aria-sort=[(by == name).then_some(if number { "descending" } else { "ascending" })] {
                                a href=(wanted.with("by", name).at("/sites")) { (title) }
                            }
                        }
                    } }
                    tbody { @for row in shown { (line(row)) } }
                }
            }
            (pager(here, last, |page| wanted.at_page("/sites", page)))
        }
    }
}

fn line(row: &Value) -> Markup {
    html! {
        tr {
            th.wrap scope="row" { a href=(site_at(name_of(row))) { bdi { (name_of(row)) } } }
            td { (badge(text(row, "state"))) }
            @for name in ["pages", "queued", "known", "errors"] { td.n { (count(number(row, name))) } }
            @for name in ["bytes", "disk"] { td.n { (bytes(number(row, name))) } }
            td.n { (row["delay_s"].as_f64().map_or("-".to_owned(), seconds)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hosts_are_found_and_sorted() {
        let row = |host: &str, pages: u64| json!({ "host": host, "site": "a.test", "state": "ok", "pages": pages, "delay_s": 1.0 });
        let rows =
            vec![row("http://b.a.test", 1), row("http://c.a.test", 9), row("http://d.test", 5)];
        let names = |find: &str, by: &str| {
            let rows = chosen(rows.clone(), find, by);
            rows.iter().map(|row| name_of(row)[7..8].to_owned()).collect::<String>()
        };
        assert_eq!(names("", ""), "bcd");
        assert_eq!(names("", "pages"), "cdb");
        assert_eq!(names("D.TEST", "host"), "d");
        assert_eq!(names("nobody", "host"), "");
        assert_eq!(names("", "no column"), "bcd");
    }
}
