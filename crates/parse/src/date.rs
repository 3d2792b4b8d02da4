//! Dates as sitemaps and feeds write them.
//!
//! * What this is: one reader for the two families: `2026-01-31T23:59:59+01:00` with everything
//!   behind the year optional (W3C, RFC 3339), and `Sat, 31 Jan 2026 23:59:59 GMT` (RFC 822).
//! * Its place: `sitemap` asks for the time of a change.
//! * Invariants: a date that does not exist is none; a time without a zone is UTC; what cannot
//!   be read is `None`, never a guess.
//! * What is not here: other languages, and the dates in the text of a page.

use argiope_model::Time;

/// The point in time a text names.
pub(crate) fn read(text: &str) -> Option<Time> {
    let text = text.trim();
    numeric(text).or_else(|| named(text))
}

/// `2026`, `2026-01`, `2026-01-31`, with a time behind it.
fn numeric(text: &str) -> Option<Time> {
    let mut scan = Scan(text);
    let year = scan.digits(4, 4)?;
    let mut parts = [1, 1];
    for part in &mut parts {
        if !scan.eat(&['-', '/']) {
            break;
        }
        *part = scan.digits(1, 2)?;
    }
    let day = days(year, parts[0], parts[1])?;
    if scan.0.is_empty() {
        return time(day, 0, 0, 0, 0);
    }
    if !scan.eat(&['T', 't', ' ']) {
        return None;
    }
    clock(scan.0.trim_start(), day)
}

/// `Sat, 31 Jan 2026`, with a time behind it.
fn named(text: &str) -> Option<Time> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let text = text.split_once(',').map_or(text, |(_, rest)| rest).trim_start();
    let mut scan = Scan(text);
    let day = scan.digits(1, 2)?;
    scan.eat(&[' ', '-']).then_some(())?;
    let (month, rest) = scan.0.trim_start().split_once([' ', '-'])?;
    let month = month.get(..3)?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|m| **m == month)? as i64 + 1;
    let mut scan = Scan(rest.trim_start());
    let year = match scan.digits(2, 4)? {
        short @ 0..50 => 2000 + short,
        short @ 50..100 => 1900 + short,
        year => year,
    };
    let day = days(year, month, day)?;
    match scan.0.trim_start() {
        "" => time(day, 0, 0, 0, 0),
        rest => clock(rest, day),
    }
}

/// `23:59`, `23:59:59.123`, with a zone behind it.
fn clock(text: &str, day: i64) -> Option<Time> {
    let mut scan = Scan(text);
    let hour = scan.digits(1, 2)?;
    scan.eat(&[':']).then_some(())?;
    let minute = scan.digits(2, 2)?;
    let second = if scan.eat(&[':']) { scan.digits(2, 2)? } else { 0 };
    if scan.eat(&['.', ',']) {
        scan.0 = scan.0.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    time(day, hour, minute, second, zone(scan.0.trim())?)
}

/// Minutes east of Greenwich.
fn zone(text: &str) -> Option<i64> {
    let mut scan = Scan(text);
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => {
            let hours = match text.to_ascii_uppercase().as_str() {
                "" | "Z" | "GMT" | "UT" | "UTC" => 0,
                "EDT" => -4,
                "EST" | "CDT" => -5,
                "CST" | "MDT" => -6,
                "MST" | "PDT" => -7,
                "PST" => -8,
                _ => return None,
            };
            return Some(hours * 60);
        }
    };
    scan.0 = &scan.0[1..];
    let hours = scan.digits(2, 2)?;
    scan.eat(&[':']);
    let minutes = if scan.0.is_empty() { 0 } else { scan.digits(2, 2)? };
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

fn time(day: i64, hour: i64, minute: i64, second: i64, zone: i64) -> Option<Time> {
    // Leap seconds are written as 60, and midnight sometimes as 24:00.
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    Some(Time((day * 86_400 + hour * 3600 + (minute - zone) * 60 + second) * 1000))
}

/// Days since 1970-01-01, counted in years that begin in March so that leap days come last.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let since_march = (month + 9) % 12;
    let day_of_year = (153 * since_march + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leap_days + day_of_year - 719_468)
}

/// What is left of the text.
struct Scan<'t>(&'t str);

impl Scan<'_> {
    /// A number of so many digits.
    fn digits(&mut self, least: usize, most: usize) -> Option<i64> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at_checked(count.max(least))?;
        self.0 = rest;
        (count >= least).then(|| digits.parse().ok()).flatten()
    }

    fn eat(&mut self, any: &[char]) -> bool {
        let rest = self.0.strip_prefix(any);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        read(text).map_or_else(|| "none".to_owned(), Time::iso_seconds)
    }

    #[test]
    fn both_families_are_read() {
        for (text, want) in [
            ("2004", "2004-01-01T00:00:00Z"),
            ("2004-02", "2004-02-01T00:00:00Z"),
            (" 2004-02-29 ", "2004-02-29T00:00:00Z"),
            ("2004-12-23T18:00:15+00:00", "2004-12-23T18:00:15Z"),
            ("2004-12-23T18:00:15-02:30", "2004-12-23T20:30:15Z"),
            ("2004-12-23 18:00", "2004-12-23T18:00:00Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59Z"),
            ("Mon, 06 Sep 2010 00:01:00 +0000 ", "2010-09-06T00:01:00Z"),
            ("6 September 10 00:01 EST", "2010-09-06T05:01:00Z"),
            ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            ("31 Dec 1999", "1999-12-31T00:00:00Z"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "yesterday",
            "2004-02-30",
            "2004-13-01",
            "20040102",
            "2004-01-01T25:00",
            "é",
            "2004-01-01Txx",
            "2004-01-01T10:00+é",
            "1 é 2000",
            "32 Jan 2000",
            "2004-01-01T10:00 XYZ",
        ] {
            assert_eq!(shown(text), "none", "{text}");
        }
    }

    #[test]
    fn days_agree_with_the_way_time_is_written() {
        for day in (-800_000..800_000).step_by(97) {
            let written = Time(day * 86_400_000).iso_seconds();
            if !written.starts_with('-') && written.len() == 20 {
                assert_eq!(read(&written), Some(Time(day * 86_400_000)), "{written}");
            }
        }
    }
}
