//! A site, or one of its hosts: how large it is, how it behaves, what robots.txt says, what is broken.

use super::lists::broken_of;
use super::page::badge;
use super::parts::{
    Asked, Wanted, clock, figure, language, out_link, page_link, safe, second, short, site_at,
    with_minutes,
};
use super::plot::{Bar, HALF, bars, both};
use super::sites::name_of;
use crate::app::{App, Desk, Shared, heard};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page};
use crate::words::{bytes, count, encoded, list, number, plural, seconds, text};
use argiope_archive::warc_date;
use argiope_crawl::{Question, SearchOrder};
use axum::extract::{Extension, Query, State};
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Broken links that are named at once.
const BROKEN: usize = 10;
/// Hosts that are named at once.
const HOSTS: usize = 50;
/// Languages that are named.
const LANGUAGES: usize = 10;

/// Everything that is known of a site.
struct Known {
    hosts: Vec<Value>,
    site: Value,
    languages: Vec<Value>,
    broken: Vec<Value>,
}

pub(crate) async fn site(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let name = wanted.get("name").to_owned();
    if name.is_empty() {
        return Err(Failure::wrong("which site? Write /site?name=example.org"));
    }
    let of = name.clone();
    let known = app.with_desk(move |desk| gather(desk, &of)).await??;
    let frame = Frame { title: &short(&name, 60), tab: Tab::Sites, query: Some("") };
    Ok(page(&app, caller, &frame, whole(&app, caller, &name, &known)))
}

fn gather(desk: &dyn Desk, name: &str) -> Result<Known, Failure> {
    let hosts = heard(desk.ask(&Question::Sites { filter: Some(name.to_owned()) }))?.0;
    // A name that is excluded and that no host has yet is known all the same.
    let site =
        heard(desk.ask(&Question::Site { name: name.to_owned() })).map(|(mut rows, _)| rows.pop());
    let host = name.split_once("://").map_or(name, |(_, rest)| rest);
    let order = SearchOrder {
        query: format!("site:\"{}\"", host.replace('"', "")),
        limit: 0,
        facets: true,
        ..SearchOrder::default()
    };
    let found = heard(desk.ask(&Question::Search(order))).map(|(mut rows, _)| rows.pop());
    let facets = found.ok().flatten().unwrap_or_default();
    Ok(Known {
        hosts,
        site: site.ok().flatten().unwrap_or_default(),
        languages: list(&facets["facets"], "language").to_vec(),
        broken: broken_of(desk, name, None, BROKEN).map(|(rows, _)| rows).unwrap_or_default(),
    })
}

fn whole(app: &App, caller: Caller, name: &str, known: &Known) -> Markup {
    let sum = |field: &str| known.hosts.iter().map(|row| number(row, field)).sum::<u64>();
    let first = known.hosts.first().unwrap_or(&Value::Null);
    let is_host = known.hosts.len() == 1;
    let states: Vec<(&String, &Value)> =
        known.site["states"].as_object().into_iter().flatten().collect();
    let of_state = |state: &str| {
        states.iter().find(|(name, _)| *name == state).map_or(0, |(_, n)| n.as_u64().unwrap_or(0))
    };
    html! {
        p.crumb { a href="/sites" { "Sites" }
            @if is_host && text(first, "site") != name && !text(first, "site").is_empty() { " › " a href=(site_at(text(first, "site"))) { (text(first, "site")) } } }
        h1 { bdi { (name) } " " @if is_host { (badge(text(first, "state"))) } }
        @if is_host { p.address { (out_link(name_of(first))) } }
        @for row in known.hosts.iter().filter(|row| !text(row, "note").is_empty()).take(5) {
            p.note { @if !is_host { strong { (name_of(row)) } ": " } (with_minutes(text(row, "note"))) }
        }
        dl.numbers {
            (figure("Pages", count(sum("pages"))))
            (figure("Failed", count(sum("errors"))))
            (figure("Queued", count(sum("queued"))))
            (figure("URLs known", count(sum("known"))))
            (figure("Received", bytes(sum("bytes"))))
            (figure("On disk", bytes(sum("disk"))))
            @if of_state("redirected") > 0 { (figure("Redirects", count(of_state("redirected")))) }
        }
        p { a.button.second href=(format!("/search?q={}", encoded(&format!("site:{}", name.split_once("://").map_or(name, |(_, rest)| rest))))) { "Search here" } " "
            a href=(format!("/new?site={}", encoded(name))) { "What is new here" } " · "
            a href=(format!("/broken?site={}", encoded(name))) { "Broken links" } }
        section { h2 { "What may be done" } (crate::live::site_forms(app, caller, name, first)) }
        @if !is_host { (hosts(&known.hosts)) }
        (over_time(&known.site))
        (made_of(known, &states))
        (traps(&known.hosts))
        (budget(&known.hosts))
        (robots(&known.site, &known.hosts))
        (broken(name, &known.broken))
        (top(&known.site))
    }
}

fn hosts(rows: &[Value]) -> Markup {
    html! {
        section {
            h2 { "Hosts" }
            div.scroll {
                table {
                    thead { tr { th scope="col" { "Host" } th scope="col" { "State" } th.n scope="col" { "Pages" } th.n scope="col" { "Queued" } th.n scope="col" { "Errors" } th.n scope="col" { "Received" } } }
                    tbody { @for row in rows.iter().take(HOSTS) { tr {
                        th.wrap scope="row" { a href=(site_at(name_of(row))) { bdi { (name_of(row)) } } }
                        td { (badge(text(row, "state"))) }
                        @for field in ["pages", "queued", "errors"] { td.n { (count(number(row, field))) } }
                        td.n { (bytes(number(row, "bytes"))) }
                    } } }
                }
            }
            @if rows.len() > HOSTS { p.quiet { "and " (count((rows.len() - HOSTS) as u64)) " more" } }
        }
    }
}

/// The bars of a plot: a whole and a part of each step, and what is said of them.
fn steps(site: &Value, of: impl Fn(&Value) -> (f64, f64, String)) -> Vec<Bar> {
    let bar = |row: &Value| {
        let (whole, part, said) = of(row);
        let time = warc_date(text(row, "time"))?.0;
        Some(Bar { time, whole, part, said: format!("{}: {said}", second(text(row, "time"))) })
    };
    list(site, "times").iter().filter_map(bar).collect()
}

fn over_time(site: &Value) -> Markup {
    let step = number(site, "step_s") as i64 * 1000;
    let visits = steps(site, |row| {
        let (visits, errors) = (number(row, "visits"), number(row, "errors"));
        (
            visits as f64,
            errors as f64,
            format!("{}, {}", plural(visits, "visit", "visits"), plural(errors, "error", "errors")),
        )
    });
    // Of visits that could find a change.
    let again = |row: &Value| number(row, "again");
    let rate = steps(site, |row| {
        let (again, changes) = (again(row), number(row, "changes"));
        let share = if again > 0 { 100.0 * changes as f64 / again as f64 } else { 0.0 };
        (
            share,
            0.0,
            format!(
                "{} in {}, {share:.1} %",
                plural(changes, "change", "changes"),
                plural(again, "visit again", "visits again")
            ),
        )
    });
    let changes: u64 = list(site, "times").iter().map(|row| number(row, "changes")).sum();
    let seen_again: u64 = list(site, "times").iter().map(again).sum();
    html! {
        section {
            h2 { "Over time" }
            @if visits.is_empty() { p.quiet { "Nothing was visited yet." } } @else {
                div.plots {
                    figure {
                        figcaption { "Visits and " span.bad { "errors" } ", by " (text(site, "step")) }
                        (both(HALF, |width| bars("Visits and errors over time", &visits, step, |most| count(most as u64), width)))
                    }
                    figure {
                        figcaption { "Change rate: visits that found a page changed, by " (text(site, "step")) }
                        @if seen_again == 0 { p.quiet { "No page was visited twice yet." } } @else {
                            (both(HALF, |width| bars("Share of visits that found a change, over time", &rate, step, |most| format!("{most:.0} %"), width)))
                        }
                    }
                }
                @if seen_again > 0 { p { (plural(changes, "change", "changes")) " in " (plural(seen_again, "visit", "visits")) " of pages that were known." } }
                @if site["cut"] == true { p.note { "The site is large: this was told from its first " (plural(number(site, "urls"), "URL", "URLs")) " and " (plural(number(site, "captures"), "visit", "visits")) "." } }
            }
        }
    }
}

fn made_of(known: &Known, states: &[(&String, &Value)]) -> Markup {
    let site = &known.site;
    html! {
        div.cards {
            @if !states.is_empty() { section.card {
                h2 { "What became of its URLs" }
                table { tbody { @for (state, n) in states { tr { th scope="row" { (state) } td.n { (count(n.as_u64().unwrap_or(0))) } } } } }
            } }
            @if !list(site, "errors").is_empty() { section.card {
                h2 { "Errors by kind" }
                table { tbody { @for row in list(site, "errors") { tr {
                    th scope="row" { (text(row, "kind")) @if let Some(status) = row["status"].as_u64() { " " (status) } }
                    td.n { (count(number(row, "urls"))) }
                    td { @if safe(text(row, "example")).is_some() { a href=(super::parts::about(text(row, "example"))) { "one" } } }
                } } } }
            } }
            @if !list(site, "types").is_empty() { section.card {
                h2 { "Types" }
                table { tbody { @for row in list(site, "types") { tr { th.wrap scope="row" { (text(row, "type")) } td.n { (count(number(row, "urls"))) } } } } }
            } }
            @if !known.languages.is_empty() { section.card {
                h2 { "Languages" }
                table { tbody { @for row in known.languages.iter().take(LANGUAGES) { tr {
                    th scope="row" { @if text(row, "value").is_empty() { "not known" } @else { (language(text(row, "value"))) } }
                    td.n { (count(number(row, "pages"))) }
                } } } }
            } }
        }
    }
}

fn traps(hosts: &[Value]) -> Markup {
    let mut all: Vec<&Value> = Vec::new();
    for trap in hosts.iter().flat_map(|row| list(row, "traps")) {
        if all.iter().all(|known| known["pattern"] != trap["pattern"]) {
            all.push(trap);
        }
    }
    html! {
        @if !all.is_empty() {
            section {
                h2 { "Suspicion: series without end" }
                @for trap in all.iter().take(HOSTS) {
                    div.card {
                        h3.wrap { bdi { (short(text(trap, "pattern"), 160)) } }
                        p { (badge(text(trap, "state"))) " suspicion " (number(trap, "suspicion")) " of 100"
                            @if let Some(since) = trap["since"].as_str() { ", since " (clock(since)) } }
                        p { (with_minutes(text(trap, "evidence"))) }
                        @let examples = list(trap, "examples");
                        @if !examples.is_empty() { ul { @for url in examples.iter().filter_map(Value::as_str).take(5) { li { (page_link(url)) } } } }
                    }
                }
            }
        }
    }
}

fn budget(hosts: &[Value]) -> Markup {
    let Some(budget) = hosts.iter().find_map(|row| row["budget"].as_object()) else {
        return html! {};
    };
    html! {
        section {
            h2 { "Budget" }
            p.quiet { "What the site may take of a crawl without borders." }
            dl.facts { @for (name, value) in budget {
                dt { (name.replace('_', " ")) }
                dd { @match value {
                    Value::String(said) => { (with_minutes(said)) }
                    Value::Null => { "-" }
                    Value::Bool(said) => { (if *said { "yes" } else { "no" }) }
                    other => { (other) }
                } }
            } }
        }
    }
}

fn robots(site: &Value, hosts: &[Value]) -> Markup {
    let files = list(site, "robots");
    html! {
        @if !files.is_empty() {
            section {
                h2 { "robots.txt and delay" }
                @for file in files {
                    div.card {
                        @if files.len() > 1 { h3 { (text(file, "host")) } }
                        @let row = hosts.iter().find(|row| row["host"] == file["host"]);
                        @let by_hand = row.is_some_and(|row| row["delay_by_hand_s"].is_number());
                        @let delay = row.and_then(|row| row["delay_s"].as_f64()).or(file["delay_s"].as_f64());
                        p { "Delay: " strong { (seconds(delay.unwrap_or(0.0))) } ": " (if by_hand { "it was set by hand" } else { text(file, "delay_why") }) "." }
                        p {
                            @if file["obeyed"] != true { "robots.txt is ignored here (crawl.robots). " }
                            @match (file["asked"].as_str(), file["text"].as_str()) {
                                (None, _) => { "robots.txt was not asked for yet." }
                                (Some(asked), None) => { "There are no rules: robots.txt answered " (number(file, "status")) " on " (clock(asked)) "." }
                                (Some(asked), Some(_)) => { "Read " (clock(asked)) @if let Some(again) = file["again"].as_str() { ", read again from " (clock(again)) " on" } "." }
                            }
                        }
                        @if let Some(written) = file["text"].as_str() {
                            @if written.trim().is_empty() { p.quiet { "The file is empty: everything is allowed." } } @else {
                                details { summary { "The rules as they were read" } pre.file tabindex="0" { (written) @if file["cut"] == true { "\n…" } } }
                            }
                        }
                        @let maps: Vec<&str> = list(file, "sitemaps").iter().filter_map(Value::as_str).collect();
                        @if !maps.is_empty() { p { "Sitemaps: " @for map in maps { (page_link(map)) " " } } }
                    }
                }
                @if number(site, "hosts") > files.len() as u64 { p.quiet { "The first " (files.len()) " hosts are shown." } }
            }
        }
    }
}

fn broken(name: &str, rows: &[Value]) -> Markup {
    html! {
        section {
            h2 { "Broken links" }
            @if rows.is_empty() { p.quiet { "None is known." } } @else {
                (super::lists::broken_table(rows))
                p { a href=(format!("/broken?site={}", encoded(name))) { "All broken links of this site" } }
            }
        }
    }
}

fn top(site: &Value) -> Markup {
    let rows = list(site, "top");
    html! {
        @if !rows.is_empty() {
            section {
                h2 { "Its first pages" }
                div.scroll { table {
                    thead { tr { th scope="col" { "Page" } th.n scope="col" { "Links to it" } th.n scope="col" { "Rank" } } }
                    tbody { @for row in rows { tr {
                        td.wrap { (page_link(text(row, "url"))) }
                        td.n { (count(number(row, "backlinks"))) }
                        td.n { (row["rank"].as_f64().map_or("-".to_owned(), |rank| format!("{rank:.5}"))) }
                    } } }
                } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_series_without_end_is_told_once_with_what_speaks_against_it() {
        let trap = json!({ "pattern": "http://a.test/<cal>…", "state": "paused", "suspicion": 80,
            "since": "2026-01-01T00:00:00.000Z", "evidence": "90 of 100 pages say the same",
            "examples": ["http://a.test/cal?1", "javascript:alert(1)"] });
        let hosts = [
            json!({ "traps": [trap] }),
            json!({ "traps": [trap], "budget": { "share": 0.5, "held": false } }),
        ];
        let shown = traps(&hosts).into_string();
        assert_eq!(shown.matches("suspicion 80 of 100").count(), 1, "{shown}");
        assert!(shown.contains("90 of 100 pages") && !shown.contains("<cal>"), "{shown}");
        assert!(!shown.contains("href=\"javascript"), "{shown}");
        assert!(budget(&hosts).into_string().contains("<dt>held</dt><dd>no</dd>"));
        assert!(traps(&[]).into_string().is_empty() && budget(&[]).into_string().is_empty());
    }

    #[test]
    fn the_change_rate_is_of_visits_that_could_find_a_change() {
        let site = json!({ "step": "day", "step_s": 86_400, "times": [
            { "time": "2026-01-01T00:00:00.000Z", "visits": 10, "new": 8, "again": 0, "changes": 0, "errors": 2 },
            { "time": "2026-01-02T00:00:00.000Z", "visits": 10, "new": 0, "again": 8, "changes": 4, "errors": 2 },
        ] });
        let shown = over_time(&site).into_string();
        assert!(shown.contains("4 changes in 8 visits again, 50.0 %"), "{shown}");
        assert!(shown.contains("10 visits, 2 errors"), "{shown}");
        let empty = over_time(&json!({ "times": [] })).into_string();
        assert!(empty.contains("Nothing was visited yet"), "{empty}");
    }
}
