//! Points in time as people write them.
//!
//! What is written without its end means the end: a day is over when the next begins, so that `2026-11-15` shows a page
//! as that day left it. All times are UTC.

use argiope_index::span_of;
use argiope_model::Time;

/// What somebody means by a time; `None` where it is none. A year alone is as likely the beginning of something that was
/// cut short.
pub fn moment_of(text: &str, now: Time) -> Option<Time> {
    let whole = text.contains('-') || text.trim().parse::<u16>().is_err();
    let (from, until) = span_of(text, now).filter(|_| whole)?;
    Some(Time(until.0 - 1).max(from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_archive::warc_date;

    #[test]
    fn what_is_written_short_means_its_end() {
        let now = warc_date("2026-11-16T10:22:33Z").expect("a date");
        let at = |text: &str| moment_of(text, now).map(|t| t.to_string());
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
