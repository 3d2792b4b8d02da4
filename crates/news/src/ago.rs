//! Times as front pages show them: a date, a time of today, or how long ago.
//!
//! * What this is: one reader for all three.
//! * Its place: `headlines` asks for the time of a block; `now` comes from the caller.
//! * Invariants: what cannot be read is `None`.
//! * What is not here: the zone of the site; a time without one is read as UTC.

use argiope_model::Time;
use argiope_parse::read_date;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Beginnings of words for spans of time, the longer ones of a language first.
const UNITS: &[(&str, i64)] = &[
    ("秒", 1000),
    ("分", MINUTE),
    ("小时", HOUR),
    ("時間", HOUR),
    ("시간", HOUR),
    ("天", DAY),
    ("日", DAY),
    ("sec", 1000),
    ("sek", 1000),
    ("seg", 1000),
    ("мин", MINUTE),
    ("час", HOUR),
    ("дн", DAY),
    ("ден", DAY),
    ("min", MINUTE),
    ("hour", HOUR),
    ("hr", HOUR),
    ("std", HOUR),
    ("stund", HOUR),
    ("heure", HOUR),
    ("hora", HOUR),
    ("ore", HOUR),
    ("ora", HOUR),
    ("uur", HOUR),
    ("day", DAY),
    ("tag", DAY),
    ("jour", DAY),
    ("día", DAY),
    ("dia", DAY),
    ("giorn", DAY),
    ("week", 7 * DAY),
    ("woche", 7 * DAY),
    ("semaine", 7 * DAY),
    ("h", HOUR),
    ("m", MINUTE),
    ("d", DAY),
];

/// Words that say that a span lies behind.
const BEHIND: &[&str] =
    &["ago", "vor", "il y a", "hace", "há", "fa", "назад", "geleden", "前", "전", "sedan", "siden"];

/// Words for the day before.
const YESTERDAY: &[&str] = &[
    "yesterday",
    "gestern",
    "hier,",
    "hier à",
    "ayer",
    "ieri",
    "ontem",
    "gisteren",
    "wczoraj",
    "včera",
    "вчера",
    "вчора",
    "dün",
    "igår",
    "i går",
    "昨日",
    "昨天",
    "어제",
    "أمس",
    "कल",
];

/// Nobody wrote for the web before 1990, or will have by 2100: what is not between is a number of something else.
const OURS: std::ops::Range<i64> = 631_152_000_000..4_102_444_800_000;

/// The point in time a text names at `now`.
pub(crate) fn read_time(text: &str, now: Time) -> Option<Time> {
    let text = text.trim();
    if let Some(found) = read_date(text) {
        return Some(found.time).filter(|time| OURS.contains(&time.0));
    }
    let small = text.to_lowercase();
    let digits = small.find(|c: char| c.is_ascii_digit())?;
    let rest = &small[digits..];
    let count = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = rest[..count].parse().ok().filter(|n| *n < 10_000)?;
    let unit = rest[count..].trim_start();
    if let Some(minutes) = unit.strip_prefix(':').and_then(|m| m.get(..2)?.parse::<i64>().ok())
        && number < 24
        && minutes < 60
    {
        let behind = unit.get(3..).unwrap_or_default().trim_start();
        // Films last `0:37`, `1:37` and `2:05 min`.
        let is_length = count == 1 && (number == 0 || text.len() == 4) || behind.starts_with("min");
        if is_length || behind.starts_with(['/', ':']) && count == 1 {
            return None;
        }
        let is_late = number < 12 && (behind.starts_with("pm") || behind.starts_with("p.m"));
        // Five past midnight.
        let is_first = number == 12 && (behind.starts_with("am") || behind.starts_with("a.m"));
        let hours = if is_first { 0 } else { number + if is_late { 12 } else { 0 } };
        let today = now.0.div_euclid(DAY) * DAY + hours * HOUR + minutes * MINUTE;
        // A time of day that is still to come was that of yesterday.
        let is_over = today > now.0 + HOUR || YESTERDAY.iter().any(|word| small.contains(word));
        return Some(Time(if is_over { today - DAY } else { today }));
    }
    let (word, length) = UNITS.iter().find(|(word, _)| unit.starts_with(word))?;
    let is_behind = BEHIND.iter().any(|word| {
        small.contains(word) && (!word.is_ascii() || small.split(' ').any(|w| word.starts_with(w)))
    });
    // `3h` alone says the same.
    let is_short = unit.len() == word.len() && word.len() == 1 && small.len() < 6;
    (is_behind || is_short).then_some(Time(now.0 - number * length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_times_and_spans_are_read() {
        let now = Time(1_794_830_400_000); // 2026-11-16T12:00:00Z
        for (text, want) in [
            ("2026-11-16T08:00:00+01:00", "2026-11-16T07:00:00Z"),
            ("16 November 2026", "2026-11-16T00:00:00Z"),
            ("3 hours ago", "2026-11-16T09:00:00Z"),
            ("vor 45 Minuten", "2026-11-16T11:15:00Z"),
            ("il y a 2 jours", "2026-11-14T12:00:00Z"),
            ("hace 1 hora", "2026-11-16T11:00:00Z"),
            ("5小时前", "2026-11-16T07:00:00Z"),
            ("3h", "2026-11-16T09:00:00Z"),
            ("10:30", "2026-11-16T10:30:00Z"),
            ("23:30", "2026-11-15T23:30:00Z"),
        ] {
            assert_eq!(
                read_time(text, now).map(Time::iso_seconds).as_deref(),
                Some(want),
                "{text}"
            );
        }
        for (text, want) in [
            ("9:05 pm", "2026-11-15T21:05:00Z"),
            ("9:05 am", "2026-11-16T09:05:00Z"),
            ("12:05 am", "2026-11-16T00:05:00Z"),
            ("12:05 a.m.", "2026-11-16T00:05:00Z"),
            ("12:05 pm", "2026-11-16T12:05:00Z"),
            ("Вчера, 10:15", "2026-11-15T10:15:00Z"),
            ("gestern, 9:15 Uhr", "2026-11-15T09:15:00Z"),
        ] {
            let found = read_time(text, now).map(Time::iso_seconds);
            assert_eq!(found.as_deref(), Some(want), "{text}");
        }
        let none =
            ["1661", "6851 comments", "0:37", "1:37", "0:37 Minuten", "0:00/2:57", "2:05 min"];
        for text in
            ["", "new", "5 min read", "12 comments", "3 hours of music"].into_iter().chain(none)
        {
            assert_eq!(read_time(text, now), None, "{text}");
        }
    }
}
