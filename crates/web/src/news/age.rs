//! How long ago something was, and which day it was, as people say it.

use crate::words::minute;
use argiope_archive::warc_date;
use argiope_model::Time;
use maud::{Markup, html};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAY: i64 = 86_400_000;

/// A time as its age, with the exact time behind it; nothing where it is none.
pub(super) fn age(time: &str, now: Time) -> Markup {
    html! {
        @if let Some(at) = warc_date(time) {
            time datetime=(at) title={ (minute(&at.to_string())) " UTC" } { (ago(at, now)) }
        }
    }
}

/// How long ago: minutes, hours, days, and then the date.
pub(super) fn ago(at: Time, now: Time) -> String {
    let minutes = (now.0 - at.0).div_euclid(60_000);
    let many = |n: i64, unit: &str| match n {
        1 => format!("1 {unit} ago"),
        n => format!("{n} {unit}s ago"),
    };
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => many(minutes, "minute"),
        60..1_440 => many(minutes / 60, "hour"),
        1_440..10_080 => many(minutes / 1_440, "day"),
        _ => date(&at.to_string(), now),
    }
}

/// The day a time is in (UTC): `2026-11-14`.
pub(super) fn day_of(time: &str) -> String {
    warc_date(time).map(|at| at.to_string().chars().take(10).collect()).unwrap_or_default()
}

/// A day as a heading: today, yesterday, or its date.
pub(super) fn day_heading(day: &str, now: Time) -> String {
    let is = |of: i64| Time(of).to_string().starts_with(day);
    match day {
        "" => "Without a date".to_owned(),
        _ if is(now.0) => "Today".to_owned(),
        _ if is(now.0 - DAY) => "Yesterday".to_owned(),
        _ => date(day, now),
    }
}

/// A date without its year where it is of this one.
fn date(iso: &str, now: Time) -> String {
    let words = day_words(iso.get(..10).unwrap_or(iso));
    let year = now.to_string().get(..4).map(|year| format!(" {year}")).unwrap_or_default();
    words.strip_suffix(&year).map(str::to_owned).unwrap_or(words)
}

/// A date with its year: `14 November 2026`; as it is written where it is none.
pub(super) fn day_words(day: &str) -> String {
    let read = || {
        let mut parts = day.split('-');
        let (year, month) = (parts.next()?, parts.next()?.parse::<usize>().ok()?);
        let day = parts.next()?.parse::<u8>().ok()?;
        Some(format!("{day} {} {year}", MONTHS.get(month.checked_sub(1)?)?))
    };
    read().unwrap_or_else(|| day.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_as_people_say_them() {
        let now = warc_date("2026-11-16T12:00:00Z").unwrap();
        for (at, said) in [
            ("2026-11-16T12:30:00Z", "just now"),
            ("2026-11-16T11:59:30Z", "just now"),
            ("2026-11-16T11:59:00Z", "1 minute ago"),
            ("2026-11-16T11:01:00Z", "59 minutes ago"),
            ("2026-11-16T10:59:00Z", "1 hour ago"),
            ("2026-11-15T12:00:00Z", "1 day ago"),
            ("2026-11-10T11:00:00Z", "6 days ago"),
            ("2026-11-02T11:00:00Z", "2 November"),
            ("2025-12-31T11:00:00Z", "31 December 2025"),
        ] {
            assert_eq!(ago(warc_date(at).unwrap(), now), said, "{at}");
        }
        assert!(age("soon", now).into_string().is_empty());
        let shown = age("2026-11-16T12:30:00+02:00", now).into_string();
        assert!(shown.contains("title=\"2026-11-16 10:30 UTC\""), "{shown}");
    }

    #[test]
    fn days_have_names() {
        let now = warc_date("2026-11-16T00:30:00Z").unwrap();
        let said = |day: &str| day_heading(day, now);
        assert_eq!(said("2026-11-16"), "Today");
        assert_eq!(said("2026-11-15"), "Yesterday");
        assert_eq!(said("2026-11-14"), "14 November");
        assert_eq!(said("2025-11-14"), "14 November 2025");
        assert_eq!((said(""), said("soon")), ("Without a date".into(), "soon".into()));
        assert_eq!(day_of("2026-11-16T01:00:00+02:00"), "2026-11-15");
    }
}
