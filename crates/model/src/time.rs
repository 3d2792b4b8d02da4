//! Points in time, as milliseconds since 1970, and the three ways they are written.
//!
//! No clock is read here: the caller brings the time.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time in milliseconds since the Unix epoch (UTC).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(pub i64);

impl Time {
    /// The time of a system clock reading.
    pub fn from_system(t: SystemTime) -> Self {
        match t.duration_since(UNIX_EPOCH) {
            Ok(d) => Time(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)),
            Err(e) => Time(-i64::try_from(e.duration().as_millis()).unwrap_or(i64::MAX)),
        }
    }

    /// Reads an HTTP date (`Last-Modified` and the like); `None` if it is not one.
    pub fn from_http_date(text: &str) -> Option<Self> {
        httpdate::parse_http_date(text.trim()).ok().map(Self::from_system)
    }

    /// Writes an HTTP date, in whole seconds; `None` before 1970.
    pub fn http_date(self) -> Option<String> {
        let since = Duration::from_secs(u64::try_from(self.0.div_euclid(1000)).ok()?);
        // The format ends with the year 9999.
        (since.as_secs() < 253_402_300_800).then(|| httpdate::fmt_http_date(UNIX_EPOCH + since))
    }

    /// This time and a duration later.
    pub fn plus(self, d: Duration) -> Self {
        Time(self.0.saturating_add(i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero if it is not after.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The beginning of a day of the Gregorian calendar, in UTC; months and days count from 1. `None` for a day that
    /// does not exist.
    pub fn of_day(year: i64, month: i64, day: i64) -> Option<Self> {
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = match month {
            2 => 28 + i64::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if !(1..=length).contains(&day) {
            return None;
        }
        // Years begin in March, so that the leap day ends them.
        let year = if month <= 2 { year - 1 } else { year };
        let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        Some(Time(days * 86_400_000))
    }

    /// Year, month, day, hour, minute, second, millisecond in UTC.
    fn civil(self) -> (i64, i64, i64, i64, i64, i64, i64) {
        let ms = self.0.rem_euclid(1000);
        let secs = self.0.div_euclid(1000);
        let (days, rest) = (secs.div_euclid(86_400), secs.rem_euclid(86_400));
        // Days are counted from 0000-03-01 so that leap days end the 400-year era.
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        (year, month, day, rest / 3600, rest / 60 % 60, rest % 60, ms)
    }

    /// The 14 digits archive tools use: `20260131235959`.
    pub fn digits14(self) -> String {
        let (y, mo, d, h, mi, s, _) = self.civil();
        format!("{y:04}{mo:02}{d:02}{h:02}{mi:02}{s:02}")
    }

    /// Seconds precision, as WARC wants it: `2026-01-31T23:59:59Z`.
    pub fn iso_seconds(self) -> String {
        let (y, mo, d, h, mi, s, _) = self.civil();
        format!("{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}Z")
    }
}

impl Time {
    /// With its zone, minutes east of Greenwich, to the second: `2026-01-31T23:59:59-05:00`.
    pub fn iso_in(self, minutes: i16) -> String {
        let there = Time(self.0.saturating_add(i64::from(minutes) * 60_000)).iso_seconds();
        match minutes {
            0 => there,
            _ => format!("{}{}", there.trim_end_matches('Z'), zone_text(minutes)),
        }
    }
}

/// A zone as ISO 8601 writes it, from minutes east of Greenwich: `+05:30`.
pub fn zone_text(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// ISO 8601 with milliseconds: `2026-01-31T23:59:59.123Z`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (y, mo, d, h, mi, s, ms) = self.civil();
        write!(f, "{y:04}-{mo:02}-{d:02}T{h:02}:{mi:02}:{s:02}.{ms:03}Z")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_with_its_zone() {
        let time = Time(1_763_300_000_000);
        assert_eq!(
            [0, -300, 330].map(|zone| time.iso_in(zone)),
            ["2025-11-16T13:33:20Z", "2025-11-16T08:33:20-05:00", "2025-11-16T19:03:20+05:30"]
        );
    }

    #[test]
    fn zones_are_written_with_their_sign() {
        assert_eq!(
            [0, 60, 330, -210, -30].map(zone_text),
            ["+00:00", "+01:00", "+05:30", "-03:30", "-00:30"]
        );
    }

    #[test]
    fn days_begin_when_they_do() {
        for (day, shown) in [
            ((1970, 1, 1), "1970-01-01T00:00:00Z"),
            ((2024, 2, 29), "2024-02-29T00:00:00Z"),
            ((1900, 3, 1), "1900-03-01T00:00:00Z"),
            ((2026, 12, 31), "2026-12-31T00:00:00Z"),
        ] {
            let time = Time::of_day(day.0, day.1, day.2).unwrap();
            assert_eq!(time.iso_seconds(), shown);
        }
        for day in [(2026, 2, 29), (2026, 13, 1), (2026, 4, 31), (2026, 1, 0), (1900, 2, 29)] {
            assert_eq!(Time::of_day(day.0, day.1, day.2), None);
        }
    }

    #[test]
    fn known_days_are_written_right() {
        assert_eq!(Time(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Time(951_782_400_000).iso_seconds(), "2000-02-29T00:00:00Z");
        assert_eq!(Time(1_709_164_800_000).digits14(), "20240229000000");
        assert_eq!(Time(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn http_dates_agree_with_our_own_writing() {
        let t = Time::from_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        assert_eq!(t.iso_seconds(), "1994-11-06T08:49:37Z");
        assert_eq!(t.http_date().as_deref(), Some("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(Time::from_http_date("yesterday"), None);
        assert_eq!((Time(-1).http_date(), Time(i64::MAX).http_date()), (None, None));
    }
}
