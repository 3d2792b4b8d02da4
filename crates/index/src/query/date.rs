//! Days and moments, as people write them: in a query, and behind a flag.

use argiope_archive::warc_date;
use argiope_model::Time;

const SECOND: i64 = 1000;
const DAY: i64 = 86_400 * SECOND;

/// What somebody means by a day or a moment: its first millisecond, and the first behind it. A year,
/// a month, a day, a time of day; `today`, `yesterday`, `now`, `2 days ago`; the 14 digits of archives.
/// All in UTC.
pub fn span_of(text: &str, now: Time) -> Option<(Time, Time)> {
    let text = text.trim();
    let span = |from: i64, length: i64| Some((Time(from), Time(from.checked_add(length)?)));
    let today = now.0.div_euclid(DAY) * DAY;
    match text.to_lowercase().as_str() {
        "now" => return span(now.0, 1),
        "today" => return span(today, DAY),
        "yesterday" => return span(today - DAY, DAY),
        _ => {}
    }
    if let Some(time) = ago(text, now) {
        return span(time.0, 1);
    }
    // `20261115100000`, as archives have it in their addresses.
    if text.len() == 14 && text.bytes().all(|b| b.is_ascii_digit()) {
        let (date, clock) = text.split_at(8);
        let part = |t: &str, from: usize| t[from..from + 2].to_owned();
        let (month, day) = (part(date, 4), part(date, 6));
        let (hour, minute, second) = (part(clock, 0), part(clock, 2), part(clock, 4));
        let iso = format!("{}-{month}-{day}T{hour}:{minute}:{second}Z", &date[..4]);
        return warc_date(&iso).and_then(|t| span(t.0, SECOND));
    }
    if let Some(from) = beginning(text) {
        let parts: Vec<i64> = text.split('-').filter_map(|part| part.parse().ok()).collect();
        let until = match parts[..] {
            [year] | [year, 12] => Time::of_day(year + 1, 1, 1)?,
            [year, month] => Time::of_day(year, month + 1, 1)?,
            _ => Time(from.0 + DAY),
        };
        return Some((from, until));
    }
    let (_, clock) = text.split_once(['T', 't', ' '])?;
    let length = match clock.matches(':').count() {
        _ if clock.contains('.') => 1,
        1 if !clock.contains(['+', '-']) => 60 * SECOND,
        _ => SECOND,
    };
    span(warc_date(text)?.0, length)
}

/// `2 days ago`, `an hour ago`, `3h ago`.
fn ago(text: &str, now: Time) -> Option<Time> {
    let rest = text.strip_suffix("ago")?.trim();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = match digits {
        0 => (1, rest.strip_prefix("an ").or(rest.strip_prefix("a "))?),
        n => (rest[..n].parse::<i64>().ok()?, &rest[n..]),
    };
    let unit = match unit.trim().trim_end_matches('s') {
        "" | "sec" | "second" => SECOND,
        "m" | "min" | "minute" => 60 * SECOND,
        "h" | "hour" => 3600 * SECOND,
        "d" | "day" => DAY,
        "w" | "week" => 7 * DAY,
        "month" => 30 * DAY,
        "y" | "year" => 365 * DAY,
        _ => return None,
    };
    Some(Time(now.0.saturating_sub(number.checked_mul(unit)?)))
}

/// The beginning of a year, month or day: `2024`, `2024-05`, `2024-05-31`.
pub(crate) fn beginning(text: &str) -> Option<Time> {
    let mut parts = text.split('-');
    let mut number = |digits: usize| -> Option<Option<i64>> {
        match parts.next() {
            None => Some(None),
            Some(part) if part.len() <= digits && part.bytes().all(|b| b.is_ascii_digit()) => {
                part.parse().ok().map(Some)
            }
            Some(_) => None,
        }
    };
    let year = number(4)??;
    let month = number(2)?.unwrap_or(1);
    let day = number(2)?.unwrap_or(1);
    if parts.next().is_some() || year == 0 || !(1..=12).contains(&month) {
        return None;
    }
    Time::of_day(year, month, day)
}

/// The year of a time.
pub(crate) fn year_of(time: Time) -> i64 {
    time.iso_seconds().split('-').next().and_then(|year| year.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read() {
        let told = |text| beginning(text).map(|t| t.iso_seconds());
        assert_eq!(told("2024-02-29").as_deref(), Some("2024-02-29T00:00:00Z"));
        assert_eq!(told("1999").as_deref(), Some("1999-01-01T00:00:00Z"));
        assert_eq!(told("2023-12").as_deref(), Some("2023-12-01T00:00:00Z"));
        for bad in ["", "2023-02-29", "2024-13", "2024-1-1-1", "x", "20245", "-5", "2024-", "0"] {
            assert_eq!(beginning(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_moment_is_from_its_beginning_to_its_end() {
        let now = warc_date("2026-11-16T10:22:33Z").unwrap();
        let told = |text| {
            let (from, until) = span_of(text, now)?;
            Some(format!("{from} {until}").replace(".000Z", "").replace("T00:00:00", ""))
        };
        for (text, expected) in [
            ("2024", "2024-01-01 2025-01-01"),
            ("2024-02", "2024-02-01 2024-03-01"),
            ("2023-12", "2023-12-01 2024-01-01"),
            ("2024-02-29", "2024-02-29 2024-03-01"),
            ("2026-11-15T10:00", "2026-11-15T10:00:00 2026-11-15T10:01:00"),
            ("2026-11-15 10:00:07", "2026-11-15T10:00:07 2026-11-15T10:00:08"),
            ("20261115100007", "2026-11-15T10:00:07 2026-11-15T10:00:08"),
            ("yesterday", "2026-11-15 2026-11-16"),
            ("Today", "2026-11-16 2026-11-17"),
            ("2 days ago", "2026-11-14T10:22:33 2026-11-14T10:22:33.001Z"),
        ] {
            assert_eq!(told(text).as_deref(), Some(expected), "{text}");
        }
        for bad in ["", "soon", "2026-13-01", "days ago", "2026-11-31", "2026-11-15T25:00", "T"] {
            assert_eq!(told(bad), None, "{bad}");
        }
    }
}
