//! Going back in time: a field for a day, and a slider over it for those with scripts.

use super::parts::Wanted;
use crate::app::App;
use crate::words::{minute, text};
use argiope_archive::warc_date;
use argiope_crawl::Question;
use argiope_model::Time;
use maud::{Markup, html};

/// A day.
const DAY: i64 = 86_400_000;
/// Ticks under the slider.
const TICKS: i64 = 10;

/// From the first visit to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: Time,
    pub last: Time,
}

impl Span {
    /// What the directory spans; nothing where nothing was visited or nobody can tell.
    pub async fn of(app: &App) -> Option<Span> {
        let rows = app.ask(Question::Span).await.ok()?;
        let row = rows.first()?;
        Some(Span { first: warc_date(text(row, "first"))?, last: warc_date(text(row, "last"))? })
    }

    /// Whether days tell its times apart.
    fn is_long(&self) -> bool {
        self.last.0 - self.first.0 > 2 * DAY
    }
}

/// The seconds at which ticks stand: evenly, both ends included.
pub(crate) fn ticks(first: i64, last: i64) -> Vec<i64> {
    let mut out: Vec<i64> = (0..=TICKS).map(|n| first + (last - first) * n / TICKS).collect();
    out.dedup();
    out
}

/// The form that asks for the pages of another time.
pub(crate) fn slider(wanted: &Wanted, span: Option<Span>, at: Option<Time>, now: Time) -> Markup {
    let Some(span) = span else { return html! {} };
    let (first, last) = (span.first.0.div_euclid(1000), now.0.max(span.last.0).div_euclid(1000));
    let long = span.is_long();
    // A field for a day holds a day, one for a time holds seconds.
    let written = |time: Time| {
        let iso = time.to_string();
        if long { iso[..10].to_owned() } else { iso[..19].to_owned() }
    };
    let value = at.map(written).unwrap_or_default();
    let here = at.map_or(last, |at| at.0.div_euclid(1000).clamp(first, last));
    html! {
        form.then action="/search" data-slider {
            (wanted.hidden(&["at"]))
            label for="at" { "As it was on" span.quiet { " (UTC)" } }
            @if long {
                input id="at" name="at" type="date" value=(value) min=(written(span.first)) max=(written(now));
            } @else {
                input id="at" name="at" type="datetime-local" step="1" value=(value) min=(written(span.first)) max=(written(now));
            }
            button.second type="submit" { "Show" }
            @if at.is_some() { a href=(wanted.with("at", "").at("/search")) { "Back to today" } }
            span.slide hidden {
                input type="range" aria-label="As it was on (slide through time)" min=(first) max=(last) value=(here)
                    list="ticks" data-days=[long.then_some("1")];
                datalist id="ticks" { @for tick in ticks(first, last) { option value=(tick) {} } }
                span.ends.quiet { span { (minute(&span.first.to_string())) } output { @if at.is_none() { "today" } @else { (value.replace('T', " ")) } } span { "today" } }
            }
        }
        @if let Some(at) = at {
            p.note { "These are the pages as they were at " strong { (minute(&at.to_string())) } " UTC, those included that are gone now." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_stand_evenly_and_once() {
        assert_eq!(ticks(0, 100), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
        assert_eq!(ticks(5, 5), [5]);
    }

    #[test]
    fn a_short_time_is_told_by_the_second() {
        let span = |last| Some(Span { first: Time(0), last: Time(last) });
        let drawn = |last| slider(&Wanted::default(), span(last), None, Time(last)).into_string();
        assert!(drawn(60_000).contains("datetime-local"));
        assert!(drawn(9 * DAY).contains("type=\"date\""));
        assert!(slider(&Wanted::default(), None, None, Time(0)).into_string().is_empty());
    }
}
