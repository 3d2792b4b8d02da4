//! What is new and what has changed, by day, newest first.

use super::parts::{Asked, Wanted, about, diff_to, memento, out_link, page_link, short, text_of};
use crate::app::Shared;
use crate::failure::Failure;
use crate::guard::Caller;
use crate::layout::{Frame, Tab, page_with};
use crate::words::{encoded, plural, text};
use argiope_crawl::{FeedOrder, Question};
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::Html;
use maud::{Markup, html};
use serde_json::Value;

/// Entries shown first, and at most.
const SHOWN: usize = 50;
const MOST: usize = 400;

pub(crate) async fn new(
    State(app): Shared,
    Extension(caller): Extension<Caller>,
    Query(asked): Asked,
) -> Result<Html<String>, Failure> {
    let wanted = Wanted::of(asked);
    let site = wanted.get("site");
    let limit = wanted.get("n").parse().unwrap_or(SHOWN).clamp(1, MOST);
    let targets = if site.is_empty() { Vec::new() } else { vec![site.to_owned()] };
    let asked = app.ask(Question::Feed(FeedOrder { targets, limit })).await;
    let (rows, sorry) = match asked {
        Ok(rows) => (rows, None),
        Err(why) if why.status == StatusCode::CONFLICT => (Vec::new(), Some(why.why)),
        Err(why) => return Err(why),
    };
    let feed = if site.is_empty() {
        "/feed.atom".to_owned()
    } else {
        format!("/feed.atom?site={}", encoded(site))
    };
    let head =
        html! { link rel="alternate" type="application/atom+xml" title="What is new" href=(feed); };
    let body = html! {
        h1 { "What is new" }
        form.row action="/new" {
            label for="site" { "Site" }
            input id="site" name="site" type="text" value=(site) placeholder="all of them";
            button type="submit" { "Show" }
            a href=(feed) { "Follow (Atom)" }
        }
        @if let Some(why) = &sorry { p.note { (why) } }
        @else if rows.is_empty() {
            p.note { "Nothing has happened yet. Pages that are new, changed, gone, moved or back are listed here, newest first. " a href="/crawl" { "A crawl" } " brings the first." }
        }
        @for (day, rows) in days(&rows) {
            section {
                h2 { (day) " " span.quiet { (plural(rows.len() as u64, "entry", "entries")) } }
                @for row in rows { (entry(row)) }
            }
        }
        @if rows.len() == limit && limit < MOST {
            p { a.button.second href=(wanted.with("n", &(2 * limit).min(MOST).to_string()).at("/new")) { "Show more" } }
        }
    };
    let frame = Frame { title: "What is new", tab: Tab::New, query: Some("") };
    Ok(page_with(&app, caller, &frame, head, body))
}

/// Rows of one day together, in their order.
fn days(rows: &[Value]) -> Vec<(&str, Vec<&Value>)> {
    let mut out: Vec<(&str, Vec<&Value>)> = Vec::new();
    for row in rows {
        let day = text(row, "time").get(..10).unwrap_or_default();
        match out.last_mut() {
            Some((last, rows)) if *last == day => rows.push(row),
            _ => out.push((day, vec![row])),
        }
    }
    out
}

fn entry(row: &Value) -> Markup {
    let (url, time, news) = (text(row, "url"), text(row, "time"), text(row, "news"));
    let title = match text(row, "title").trim() {
        "" => url,
        title => title,
    };
    let class = match news {
        "new" | "back" => "badge good",
        "gone" => "badge bad",
        _ => "badge",
    };
    let share = row["change"].as_f64().unwrap_or(0.0) * 100.0;
    html! {
        article.entry {
            h3 { a href=(about(url)) { bdi { (short(title, 160)) } } }
            p.quiet.about {
                span class=(class) { (news) }
                @if news == "changed" { span { (match text(row, "reason") {
                    "type" => "another type".to_owned(),
                    "bytes" => "other bytes".to_owned(),
                    "title" => "another title".to_owned(),
                    _ => format!("{share:.1} %"),
                }) } }
                time datetime=(time) { (time.get(11..16).unwrap_or_default()) " UTC" }
                @if news == "changed" { a href=(diff_to(url, time)) { "what changed" } }
                @if matches!(news, "new" | "changed" | "back") { a href=(text_of(url, time)) { "text" } a href=(memento(url, time)) { "as kept" } }
            }
            p.address { (out_link(url)) }
            @if let Some(to) = row["moved_to"].as_str() { p { "It leads to " (page_link(to)) " now." } }
            @if !text(row, "removed").is_empty() { p.words { span.unseen { "Went: " } del { (text(row, "removed")) } } }
            @if !text(row, "added").is_empty() {
                @if news == "new" { p.words { (text(row, "added")) } }
                @else { p.words { span.unseen { "Came: " } ins { (text(row, "added")) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_stand_under_their_day() {
        let at = |time: &str| json!({ "time": time, "url": "http://a.test/" });
        let rows = [
            at("2026-01-02T10:00:00.000Z"),
            at("2026-01-02T09:00:00.000Z"),
            at("2026-01-01T09:00:00.000Z"),
        ];
        let days: Vec<(&str, usize)> =
            days(&rows).into_iter().map(|(day, rows)| (day, rows.len())).collect();
        assert_eq!(days, [("2026-01-02", 2), ("2026-01-01", 1)]);
    }

    #[test]
    fn what_came_and_went_is_text() {
        let row = json!({ "time": "2026-01-02T10:00:00.000Z", "url": "http://a.test/", "news": "changed", "change": 0.5,
            "reason": "text", "added": "<b>x</b>", "removed": "<i>y</i>", "title": "<u>", "moved_to": "javascript:x" });
        let shown = entry(&row).into_string();
        assert!(
            !shown.contains("<b>") && !shown.contains("<i>") && !shown.contains("<u>"),
            "{shown}"
        );
        assert!(!shown.contains("href=\"javascript") && shown.contains("50.0 %"), "{shown}");
    }
}
