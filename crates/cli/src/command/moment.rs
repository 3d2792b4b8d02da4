//! Points in time as people write them.
//!
//! What is written without its end means the end: a day is over when the next begins, so that
//! `--at 2026-11-15` shows the page as that day left it. All times are UTC.

use crate::Usage;
use argiope_archive::warc_date;
use argiope_model::Time;

const SECOND: i64 = 1000;
const DAY: i64 = 86_400 * SECOND;

/// Reads a time, or says how one is written.
pub fn moment(flag: &str, text: &str, now: Time) -> anyhow::Result<Time> {
    let wrong = || {
        Usage(format!(
            "{flag} {text}: no time; write 2026-01-31, 2026-01-31T12:00, '2 days ago' or yesterday"
        ))
    };
    read(text, now).ok_or_else(|| wrong().into())
}

fn read(text: &str, now: Time) -> Option<Time> {
    let text = text.trim();
    let today = now.0.div_euclid(DAY) * DAY;
    match text.to_lowercase().as_str() {
        "now" => return Some(now),
        "today" => return Some(Time(today + DAY - 1)),
        "yesterday" => return Some(Time(today - 1)),
        _ => {}
    }
    if let Some(time) = ago(text, now) {
        return Some(time);
    }
    // `20261115100000`, as archives have it in their addresses.
    if text.len() == 14 && text.bytes().all(|b| b.is_ascii_digit()) {
        let (date, clock) = text.split_at(8);
        let part = |t: &str, from: usize| t[from..from + 2].to_owned();
        let iso = format!(
            "{}-{}-{}T{}:{}:{}Z",
            &date[..4],
            part(date, 4),
            part(date, 6),
            part(clock, 0),
            part(clock, 2),
            part(clock, 4)
        );
        return warc_date(&iso).map(|t| Time(t.0 + SECOND - 1));
    }
    let time = warc_date(text)?;
    let clock = text.split_once(['T', 't', ' ']).map(|(_, clock)| clock);
    let length = match (clock, text.matches('-').count()) {
        (None, 0) => return None,
        (None, 1) => month_after(time).0 - time.0,
        (None, _) => DAY,
        (Some(clock), _) => match clock.matches(':').count() {
            _ if clock.contains('.') => 1,
            1 if !clock.contains(['+', '-']) => 60 * SECOND,
            _ => SECOND,
        },
    };
    Some(Time(time.0 + length - 1))
}

/// The same day of the next month; of months whose first day is given.
fn month_after(time: Time) -> Time {
    let digits = time.digits14();
    let number = |from: usize, to: usize| digits[from..to].parse::<i64>().unwrap_or(1);
    let (year, month) = (number(0, 4), number(4, 6));
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    warc_date(&format!("{year:04}-{month:02}-01")).unwrap_or(time)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_short_means_its_end() {
        let now = warc_date("2026-11-16T10:22:33Z").expect("a date");
        let at = |text: &str| read(text, now).map(|t| t.to_string());
        for (text, expected) in [
            ("2026-11-15", "2026-11-15T23:59:59.999Z"),
            ("2024-02", "2024-02-29T23:59:59.999Z"),
            ("2026-11-15T10:00", "2026-11-15T10:00:59.999Z"),
            ("2026-11-15 10:00:07", "2026-11-15T10:00:07.999Z"),
            ("2026-11-15T10:00:07.250Z", "2026-11-15T10:00:07.250Z"),
            ("20261115100007", "2026-11-15T10:00:07.999Z"),
            ("2 days ago", "2026-11-14T10:22:33.000Z"),
            ("an hour ago", "2026-11-16T09:22:33.000Z"),
            ("3h ago", "2026-11-16T07:22:33.000Z"),
            ("yesterday", "2026-11-15T23:59:59.999Z"),
            ("now", "2026-11-16T10:22:33.000Z"),
        ] {
            assert_eq!(at(text).as_deref(), Some(expected), "{text}");
        }
        for wrong in ["", "soon", "2026", "2026-13-01", "days ago", "2026-11-31"] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }
}
