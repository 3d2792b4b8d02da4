//! Times as archives write them.
//!
//! WARC 1.0 wants `2026-01-31T23:59:59Z`; WARC 1.1 allows fractions and less than a second
//! (`2026-01`); some tools write an offset, which is against both.

use argiope_model::Time;

/// Reads a `WARC-Date`; `None` if it is none.
pub fn warc_date(text: &str) -> Option<Time> {
    let text = text.trim();
    let (date, clock) = match text.split_once(['T', 't', ' ']) {
        Some((date, clock)) => (date, Some(clock)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |m| number(m, 2))?;
    let day = parts.next().map_or(Some(1), |d| number(d, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let Time(at) = Time::of_day(year, month, day)?;
    let of_day = clock.map_or(Some(0), clock_ms)?;
    Some(Time(at + of_day))
}

/// Milliseconds of the day, the offset undone.
fn clock_ms(text: &str) -> Option<i64> {
    let (clock, offset) = if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else if let Some(at) = text.rfind(['+', '-']) {
        let (hours, minutes) = text[at + 1..].split_once(':').unwrap_or((&text[at + 1..], "00"));
        let ms = (number(hours, 2)? * 60 + number(minutes, 2)?) * 60_000;
        (&text[..at], if text.as_bytes()[at] == b'+' { ms } else { -ms })
    } else {
        (text, 0)
    };
    let mut parts = clock.splitn(3, ':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let (second, ms) = match parts.next() {
        None => (0, 0),
        Some(rest) => {
            let (second, fraction) = rest.split_once('.').unwrap_or((rest, ""));
            if !fraction.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            let digits: String = fraction.chars().chain("000".chars()).take(3).collect();
            (number(second, 2)?, digits.parse::<i64>().ok()?)
        }
    };
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some((hour * 3600 + minute * 60 + second) * 1000 + ms - offset)
}

fn number(text: &str, length: usize) -> Option<i64> {
    let digits = text.len() == length && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_of_writing_a_time_are_read() {
        let ms = |text: &str| warc_date(text).map(|t| t.0);
        assert_eq!(ms("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(ms("2000-02-29T00:00:00Z"), Some(951_782_400_000));
        assert_eq!(ms("2000-02-29T00:00:00.123456789Z"), Some(951_782_400_123));
        assert_eq!(ms("2000-02-29T01:30:00+01:30"), Some(951_782_400_000));
        assert_eq!(ms("2000-02-28T23:00:00-0100"), None, "not ISO 8601 with its colon elsewhere");
        assert_eq!(ms("2000-02-29"), Some(951_782_400_000));
        assert_eq!(ms("2000-02-29T00:00Z"), Some(951_782_400_000));
        assert_eq!(ms("1970"), Some(0));
        for wrong in ["", "2001-02-29T00:00:00Z", "20140101000000", "2014-13-01", "now", "2014-1-1"]
        {
            assert_eq!(ms(wrong), None, "{wrong}");
        }
        let t = Time(1_709_164_801_000);
        assert_eq!(warc_date(&t.iso_seconds()), Some(t));
    }
}
