//! The versions of a page: a timeline and a table.

use super::parts::{Wanted, diff_to, memento, page_link, pager, safe, second, short, text_of};
use super::plot::{Mark, Visit, WHOLE, both, timeline};
use crate::words::{bytes, count, minute, number, plural, text};
use maud::{Markup, html};
use serde_json::Value;

/// Versions on a page of the table.
const SHOWN: usize = 20;

/// What a visit found, in words.
pub(crate) fn found(row: &Value) -> String {
    let share = row["change"].as_f64().unwrap_or(0.0) * 100.0;
    let reason = text(row, "reason");
    match (row["changed"] == true, reason) {
        (true, "type") => "another type".to_owned(),
        (true, "bytes") => "other bytes".to_owned(),
        (true, "title") => "another title".to_owned(),
        (true, _) if share < 0.1 => "changed by less than 0.1 %".to_owned(),
        (true, _) => format!("changed by {share:.1} %"),
        (_, "new") => "first seen".to_owned(),
        (_, "identical") => "same bytes".to_owned(),
        (_, "same") => "same words".to_owned(),
        (_, "noise") => "only clocks, counters, boxes".to_owned(),
        (_, "order") => "other order".to_owned(),
        (_, "error-page") => "error page in its place".to_owned(),
        (_, "parser") => "read by another version".to_owned(),
        (_, "back") => "back as it was".to_owned(),
        (_, "moved") => "moved".to_owned(),
        (_, "gone") => "gone".to_owned(),
        (_, "failed" | "error") => text(row, "outcome").to_owned(),
        (_, reason) => reason.to_owned(),
    }
}

fn mark(row: &Value) -> Mark {
    match (row["changed"] == true, text(row, "reason")) {
        (true, _) => Mark::Changed,
        (_, "new") => Mark::First,
        (_, "failed" | "error" | "gone" | "moved" | "error-page") => Mark::Error,
        _ => Mark::Same,
    }
}

/// The visits of a page for its timeline.
pub(crate) fn visits_of(url: &str, rows: &[Value]) -> Vec<Visit> {
    let visit = |row: &Value| {
        let time = text(row, "time").to_owned();
        let mark = mark(row);
        let href = if mark == Mark::Changed { diff_to(url, &time) } else { text_of(url, &time) };
        Visit { said: format!("{}: {}", second(&time), found(row)), time, mark, href }
    };
    rows.iter().map(visit).collect()
}

/// The timeline and the table, newest first.
pub(crate) fn shown_versions(
    url: &str,
    rows: &[Value],
    visits: &[Visit],
    wanted: &Wanted,
    left_out: usize,
) -> Markup {
    if rows.is_empty() {
        return html! { p { "It was not fetched yet." } };
    }
    let pages = rows.len().div_ceil(SHOWN) as u64;
    let here = wanted.number("versions").min(pages);
    let newest: Vec<&Value> =
        rows.iter().rev().skip((here as usize - 1) * SHOWN).take(SHOWN).collect();
    let changes = rows.iter().filter(|row| row["changed"] == true).count() as u64;
    let label = format!(
        "{}, {}",
        plural(rows.len() as u64, "visit", "visits"),
        plural(changes, "change", "changes")
    );
    let base = wanted.with("versions", "").at("/page");
    html! {
        figure {
            (both(WHOLE, |width| timeline(&label, visits, width)))
            figcaption.legend.quiet {
                (label) ": "
                span { (sample(Mark::First)) " first seen" } span { (sample(Mark::Changed)) " changed" }
                span { (sample(Mark::Same)) " the same" } span { (sample(Mark::Error)) " gone, moved or failed" }
            }
        }
        @if left_out > 0 { p.quiet { "The newest " (count(rows.len() as u64)) " visits are shown; " (count(left_out as u64)) " are older." } }
        div.scroll {
            table.versions {
                thead { tr {
                    th scope="col" { "Seen (UTC)" } th.n scope="col" { "Status" } th scope="col" { "What was found" }
                    th.n scope="col" { "Size" } th.n scope="col" { "Words" } th scope="col" { "Last modified" } th scope="col" { "Look at it" }
                } }
                tbody { @for row in newest { (version(url, row)) } }
            }
        }
        (pager(here, pages, |page| format!("{base}&versions={page}#versions")))
    }
}

fn sample(mark: Mark) -> Markup {
    html! {
        svg.key viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" {
            @match mark {
                Mark::First => { rect.first x="2" y="2" width="12" height="12" rx="2" {} }
                Mark::Changed => { circle.changed cx="8" cy="8" r="7" {} }
                Mark::Same => { circle.same cx="8" cy="8" r="4" {} }
                Mark::Error => { path.error d="M3 3l10 10m0 -10l-10 10" {} }
            }
        }
    }
}

fn version(url: &str, row: &Value) -> Markup {
    let time = text(row, "time");
    let is_document = matches!(text(row, "outcome"), "fetched" | "not-modified");
    let detail = text(row, "detail");
    html! {
        tr {
            td.nowrap { time datetime=(time) { (second(time)) } }
            td.n { (row["status"].as_u64().map_or("-".to_owned(), |s| s.to_string())) }
            td class=(if row["changed"] == true { "wrap changed" } else { "wrap" }) {
                (found(row))
                @if !detail.is_empty() && !is_document {
                    @if safe(detail).is_some() { " to " (page_link(detail)) } @else { ": " (short(detail, 80)) }
                }
            }
            td.n { (bytes(number(row, "bytes"))) }
            td.n { (row["words"].as_u64().map_or("-".to_owned(), count)) }
            td.nowrap { (row["last_modified"].as_str().map_or("-".to_owned(), minute)) }
            td.nowrap {
                @if is_document { a href=(text_of(url, time)) { "text" } " " }
                @if is_document || row["status"].is_u64() { a href=(memento(url, time)) { "as kept" } " " }
                @if is_document && !matches!(text(row, "reason"), "new" | "identical" | "back") { a href=(diff_to(url, time)) { "what changed" } }
            }
        }
    }
}

/// Times of the versions of a page that have a text of their own, newest first, for a field to choose from.
pub(crate) fn times(rows: &[Value]) -> Vec<(String, String)> {
    let own = rows.iter().rev().filter(|row| row["outcome"] == "fetched");
    own.map(|row| {
        let time = text(row, "time").to_owned();
        (time.clone(), format!("{} · {}", second(&time), found(row)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn visits_lead_to_their_version_and_changes_to_what_changed() {
        let rows = [
            json!({ "time": "2026-01-01T00:00:00.000Z", "reason": "new", "outcome": "fetched" }),
            json!({ "time": "2026-01-02T00:00:00.000Z", "reason": "text", "changed": true, "change": 0.5, "outcome": "fetched" }),
            json!({ "time": "2026-01-03T00:00:00.000Z", "reason": "gone", "outcome": "client-error", "status": 404 }),
        ];
        let visits = visits_of("http://a.test/", &rows);
        let marks: Vec<Mark> = visits.iter().map(|visit| visit.mark).collect();
        assert_eq!(marks, [Mark::First, Mark::Changed, Mark::Error]);
        assert!(
            visits[1].href.starts_with("/page/diff?") && visits[0].href.starts_with("/page/text?")
        );
        assert_eq!(visits[1].said, "2026-01-02 00:00:00: changed by 50.0 %");
        assert_eq!(times(&rows).len(), 2);
        let shown =
            shown_versions("http://a.test/", &rows, &visits, &Wanted::default(), 0).into_string();
        assert!(shown.contains("3 visits, 1 change") && !shown.contains("style="), "{shown}");
    }
}
