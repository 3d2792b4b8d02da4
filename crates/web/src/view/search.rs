//! The search: what was found, and ways to find less, more, or what was there before.
//!
//! * Invariants: a query that is written wrongly is answered with a sentence on the same page; everything works as
//!   links and forms.

use super::help;
use super::parts::{
    Asked, Wanted, about, choice, clock, language, marked, out_link, pager, second, short, text_of,
};
use super::slider::{Span, slider};
use crate::app::{App, Shared};
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::words::{count, encoded, list, minute, number, plural, text};
use argiope_crawl::{Clock, Question, SearchOrder, moment_of};
use argiope_model::Time;
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde_json::Value;

/// Hits on a page.
const HITS: u64 = 10;
/// Pages that can be leafed through.
const PAGES: u64 = 100;
/// Values of a facet that are named at once.
const FACET: usize = 8;
/// Pages nearly the same that are named under a hit.
const ALIKE: usize = 20;

pub(crate) async fn search(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Response, Failure> {
    let wanted = Wanted::of(asked);
    let now = Clock::System.now();
    let span = Span::of(&app).await;
    if whole_query(&wanted).is_empty() {
        let note = html! { p.quiet { "Type what you look for." } };
        return Ok(shown(
            &app,
            caller,
            &wanted,
            StatusCode::OK,
            html! { (note) (help::language()) },
        ));
    }
    let at = match wanted.get("at") {
        "" => None,
        written => match moment_of(written, now) {
            Some(time) => Some(time),
            None => {
                let note = sentence(&format!(
                    "{written} is no time: write 2026-01-31 or 2026-01-31T12:00."
                ));
                return Ok(shown(&app, caller, &wanted, StatusCode::BAD_REQUEST, note));
            }
        },
    };
    let here = wanted.number("page").min(PAGES);
    let order = SearchOrder {
        query: whole_query(&wanted),
        limit: HITS as usize,
        offset: ((here - 1) * HITS) as usize,
        by_date: wanted.get("sort") == "date",
        facets: true,
        all: wanted.has("all"),
        at,
        ..SearchOrder::default()
    };
    let mut rows = match app.ask(Question::Search(order)).await {
        Ok(rows) => rows,
        Err(why) if matches!(why.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT) => {
            let note = html! { (sentence(&why.why)) (help::language()) };
            return Ok(shown(&app, caller, &wanted, why.status, note));
        }
        Err(why) => return Err(why),
    };
    let last = rows.pop().unwrap_or_default();
    let body = answer(&wanted, &rows, &last, at, span, here, now);
    Ok(shown(&app, caller, &wanted, StatusCode::OK, body))
}

/// What is asked of the index: what was typed, and what was narrowed by links.
pub(crate) fn whole_query(wanted: &Wanted) -> String {
    let mut out = wanted.get("q").to_owned();
    for (name, field) in [("site", "site"), ("lang", "lang")] {
        let value: String =
            wanted.get(name).chars().filter(|c| *c != '"' && !c.is_control()).collect();
        if !value.is_empty() {
            out.push_str(&format!(" {field}:\"{value}\""));
        }
    }
    if let Ok(year) = wanted.get("year").parse::<u16>()
        && (1..9999).contains(&year)
    {
        out.push_str(&format!(" after:{year:04} before:{:04}", year + 1));
    }
    out.trim().to_owned()
}

fn sentence(why: &str) -> Markup {
    html! { p.note role="alert" { (why) } }
}

/// The page around what was found.
fn shown(app: &App, caller: Caller, wanted: &Wanted, status: StatusCode, body: Markup) -> Response {
    let query = wanted.get("q");
    let feed = format!("/feed.atom?q={}", encoded(&whole_query(wanted)));
    let head = html! {
        @if !whole_query(wanted).is_empty() {
            link rel="alternate" type="application/atom+xml" title=(format!("What is found by {query}")) href=(feed);
        }
    };
    let body = html! {
        h1.unseen { "Search" }
        form.find.large.left action="/search" role="search" {
            label.unseen for="q" { "Search" }
            input id="q" name="q" type="search" value=(query) autocomplete="off" data-suggest
                placeholder="Words, \"a phrase\", site:example.org";
            (wanted.hidden(&["q", "all"]))
            button type="submit" { "Search" }
        }
        (body)
    };
    let title = if query.is_empty() { "Search".to_owned() } else { short(query, 60) };
    let frame = Frame { title: &title, tab: Tab::Search, query: None };
    (status, page_with(app, caller, &frame, head, body)).into_response()
}

fn answer(
    wanted: &Wanted,
    rows: &[Value],
    last: &Value,
    at: Option<Time>,
    span: Option<Span>,
    here: u64,
    now: Time,
) -> Markup {
    let total = number(last, "total");
    let pages = total.div_ceil(HITS);
    let to = |page: u64| wanted.at_page("/search", page);
    html! {
        (slider(wanted, span, at, now))
        (narrowed(wanted))
        p.said role="status" { (totals(last)) }
        @if let Some(meant) = last["did_you_mean"].as_str() {
            p { "Did you mean " a.meant href=(wanted.with("q", meant).at("/search")) { (meant) } "?" }
        }
        @let ignored: Vec<&str> = list(last, "ignored").iter().filter_map(Value::as_str).collect();
        @if !ignored.is_empty() {
            p.quiet { "Looked for in titles, headings and links only, for nearly every page holds it: " (ignored.join(", ")) "." }
        }
        @if rows.is_empty() && total == 0 {
            (nothing(wanted, at))
        } @else {
            div.results {
                div.found {
                    div.row.spread {
                        (choice("Sorted by", if wanted.get("sort") == "date" { "date" } else { "" },
                            &[("", "relevance"), ("date", "last change")], |by| wanted.with("sort", by).at("/search")))
                        @if wanted.has("all") {
                            a href=(wanted.with("all", "").at("/search")) { "Fold pages that are nearly the same" }
                        }
                    }
                    @if rows.is_empty() {
                        p.note { "There is nothing on this page of the list. " a href=(to(1)) { "To the first page" } }
                    }
                    ol.hits start=((here - 1) * HITS + 1) {
                        @for row in rows { (hit(row, wanted, at)) }
                    }
                    @if pages > PAGES && here == PAGES {
                        p.note { "The list ends here; more words find less." }
                    }
                    (pager(here, pages.min(PAGES), to))
                }
                (facets(wanted, last))
            }
        }
    }
}

/// How many there are, and how long that took.
fn totals(last: &Value) -> Markup {
    let total = number(last, "total");
    let partial = number(last, "partial");
    let took = last["took_ms"].as_f64().unwrap_or(0.0);
    html! {
        @if total == 0 { "No page holds that" } @else {
            @if last["timed_out"] == true { "At least " }
            strong { (plural(total, "page", "pages")) }
            @if partial > 0 { ", " (plural(partial, "of them", "of them")) " with some of the words only" }
        }
        " · " (format!("{took:.1}")) " ms"
        @if last["timed_out"] == true { " (the time ran out before all were counted)" }
    }
}

fn nothing(wanted: &Wanted, at: Option<Time>) -> Markup {
    html! {
        section.card {
            h2 { "Nothing was found" }
            ul {
                @if at.is_some() {
                    li { a href=(wanted.with("at", "").at("/search")) { "Look among the pages of today" } ", not among those of then." }
                }
                @if ["site", "lang", "year"].iter().any(|name| wanted.has(name)) {
                    li { a href=(Wanted::default().with("q", wanted.get("q")).at("/search")) { "Look everywhere" } " with the same words." }
                }
                li { "Leave a word out, or write its beginning and a star: " code { "gard*" } "." }
                li { "Look for words that are spelled nearly so: " code { "spidre~2" } "." }
                li { a href="/words" { "The dictionary" } " lists every word that is known." }
            }
        }
        (help::language())
    }
}

/// What the query is narrowed by, each with a way out.
fn narrowed(wanted: &Wanted) -> Markup {
    let chips = [
        ("site", "Site", wanted.get("site").to_owned()),
        ("lang", "Language", language(wanted.get("lang"))),
        ("year", "Changed in", wanted.get("year").to_owned()),
    ];
    let chips: Vec<_> = chips.into_iter().filter(|(name, _, _)| wanted.has(name)).collect();
    html! {
        @if !chips.is_empty() {
            p.chips {
                @for (name, said, value) in chips {
                    a.chip href=(wanted.with(name, "").at("/search")) aria-label=(format!("{said} {value}: take this away")) {
                        (said) ": " bdi { (value) } " ×"
                    }
                }
            }
        }
    }
}

/// One page that was found.
fn hit(row: &Value, wanted: &Wanted, at: Option<Time>) -> Markup {
    let url = text(row, "url");
    let title = match text(row, "title").trim() {
        "" => url,
        title => title,
    };
    let alike: Vec<&str> = list(row, "alike_urls").iter().filter_map(Value::as_str).collect();
    let then = at.map(|at| at.to_string()).unwrap_or_default();
    let href = if at.is_some() { text_of(url, &then) } else { about(url) };
    html! {
        li.hit {
            h2 { a.title href=(href) data-hit { bdi { (short(title, 160)) } } }
            p.address { (out_link(url)) }
            @if !text(row, "marked").is_empty() { p.snippet { (marked(text(row, "marked"))) } }
            p.quiet.about {
                @if row["partial"] == true { span { "some of the words" } }
                @match (text(row, "from"), text(row, "until")) {
                    ("", _) => { span { "changed " (clock(text(row, "changed_at"))) } }
                    (from, "") => { span { "so since " (second(from)) ", and today" } }
                    (from, until) => { span { "so from " (second(from)) " until " (second(until)) } }
                }
                @if !text(row, "language").is_empty() { span { (language(text(row, "language"))) } }
                a href=(text_of(url, &then)) { "text" }
                a href=(format!("{}#versions", about(url))) { "versions" }
                a href=(format!("{}#links", about(url))) { "links" }
            }
            @if !alike.is_empty() {
                details.alike {
                    summary { (plural(alike.len() as u64, "page is nearly the same", "pages are nearly the same")) }
                    ul { @for url in alike.iter().take(ALIKE) { li { (super::parts::page_link(url)) } } }
                    @if alike.len() > ALIKE { p.quiet { "and " (count((alike.len() - ALIKE) as u64)) " more" } }
                    p { a href=(wanted.with("all", "1").at("/search")) { "List them one by one" } }
                }
            }
        }
    }
}

/// How the pages are spread, as links that narrow the query.
fn facets(wanted: &Wanted, last: &Value) -> Markup {
    let all = &last["facets"];
    let groups = [
        ("site", "site", "Site"),
        ("language", "lang", "Language"),
        ("year", "year", "Year of the last change"),
    ];
    html! {
        aside.facets aria-label="Narrow the search" {
            @for (name, parameter, title) in groups {
                @let values = list(all, name);
                @if !values.is_empty() {
                    details open[wanted.has(parameter) || name == "site"] data-facet {
                        summary { (title) }
                        ul {
                            @for row in values.iter().take(FACET) {
                                @let value = text(row, "value");
                                @let said = if name == "language" { language(value) } else { value.to_owned() };
                                li {
                                    @if wanted.get(parameter) == value { strong { (said) } }
                                    @else if value.is_empty() { span { "not known" } }
                                    @else { a.wrap href=(wanted.with(parameter, value).at("/search")) { bdi { (said) } } }
                                    " " span.quiet.count { (count(number(row, "pages"))) }
                                }
                            }
                        }
                        @if values.len() > FACET { p.quiet { "and " (count((values.len() - FACET) as u64)) " more" } }
                    }
                }
            }
            p.feed { a href=(format!("/feed.atom?q={}", encoded(&whole_query(wanted)))) { "Follow this search (Atom)" } }
            @if let Some(at) = last["at"].as_str() { p.quiet { "As it was at " (minute(at)) " UTC." } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wanted(pairs: &[(&str, &str)]) -> Wanted {
        Wanted::of(pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn what_is_narrowed_by_links_is_a_part_of_the_query() {
        let asked =
            wanted(&[("q", "spider"), ("site", "a.test\" OR b"), ("lang", "en"), ("year", "2026")]);
        assert_eq!(
            whole_query(&asked),
            "spider site:\"a.test OR b\" lang:\"en\" after:2026 before:2027"
        );
        assert_eq!(whole_query(&wanted(&[("site", "a.test")])), "site:\"a.test\"");
        assert_eq!(whole_query(&wanted(&[("q", "x"), ("year", "soon")])), "x");
    }

    #[test]
    fn a_hit_shows_nothing_of_the_page_as_markup() {
        let row = json!({ "url": "http://a.test/?a&b", "title": "<script>1</script>",
            "marked": "\u{2}<img>\u{3} x", "alike_urls": ["javascript:alert(1)"], "changed_at": "2026-01-01T00:00:00.000Z" });
        let shown = hit(&row, &wanted(&[("q", "x")]), None).into_string();
        assert!(!shown.contains("<script>") && !shown.contains("<img>"), "{shown}");
        assert!(
            !shown.contains("href=\"javascript") && shown.contains("<mark>&lt;img&gt;</mark>"),
            "{shown}"
        );
    }
}
