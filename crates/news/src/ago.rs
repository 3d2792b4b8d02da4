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

/// The point in time a text names at `now`.
pub(crate) fn read_time(text: &str, now: Time) -> Option<Time> {
    let text = text.trim();
    if let Some(found) = read_date(text) {
        return Some(found.time);
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
        let today = now.0.div_euclid(DAY) * DAY + number * HOUR + minutes * MINUTE;
        // A time of day that is still to come was that of yesterday.
        return Some(Time(if today > now.0 + HOUR { today - DAY } else { today }));
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
        for text in ["", "new", "5 min read", "12 comments", "3 hours of music"] {
            assert_eq!(read_time(text, now), None, "{text}");
        }
    }
}
