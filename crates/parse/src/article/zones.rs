//! The zone of a time that was written without one.
//!
//! * What this is: a country with one zone tells it, by the end of the host; so does a language that is written in one
//!   zone. Elsewhere a time without a zone is read as UTC, unless it would then lie ahead of now: then it was
//!   written further east, and the country or the language tells where.
//! * Its place: `article` asks for each date it has found.
//! * Invariants: what was written is never changed; a date without a clock stays as it is.
//! * What is not here: zones west of Greenwich, which nothing tells for certain.

use crate::article::{Sure, When};
use crate::date::days;
use argiope_model::Time;

/// How far a time may lie ahead because of its zone.
pub(super) const AHEAD: i64 = 14 * 3_600_000;

/// A zone.
struct Zone {
    /// Ends of hosts.
    hosts: &'static str,
    /// Whether these countries have no other zone.
    is_all: bool,
    /// Languages that are written in this zone alone.
    written: &'static str,
    /// Languages of many countries, of which those in Europe or nearest to it are here.
    also: &'static str,
    /// Minutes east of Greenwich.
    minutes: i16,
    /// Whether European summers count.
    summers: bool,
}

/// One line of the table.
const fn row(
    hosts: &'static str,
    is_all: bool,
    written: &'static str,
    also: &'static str,
    minutes: i16,
    summers: bool,
) -> Zone {
    Zone { hosts, is_all, written, also, minutes, summers }
}

/// The zones in the order in which they are asked.
const EAST: &[Zone] = &[
    row(".de .at .ch .li", true, "de", "", 60, true),
    row(".fr .be .lu .mc", true, "", "fr", 60, true),
    row(".es .cat", true, "ca eu gl", "es", 60, true),
    row(".it .va .sm .mt", true, "it", "", 60, true),
    row(".nl", true, "nl", "", 60, true),
    row(".se .dk .no", true, "sv da no nb nn", "", 60, true),
    row(".pl .cz .sk .hu", true, "pl cs sk hu", "", 60, true),
    row(".si .hr .rs .ba .mk .al", true, "sl hr sr bs mk sq", "", 60, true),
    // Some of its names are no country's.
    row(".me", false, "", "", 60, true),
    row(".fi .ee .lv .lt", true, "fi et lv lt", "", 120, true),
    row(".gr .cy .ro .bg .md", true, "el ro bg", "", 120, true),
    row(".ua", true, "uk", "", 120, true),
    row(".ru .su .by .рф .xn--p1ai", false, "", "ru be", 180, false),
    row(".tr", true, "tr", "", 180, false),
    row(".sa .iq .qa .kw .jo .sy", true, "", "ar", 180, false),
    // Its summers are not those of Europe.
    row(".il", false, "", "he", 120, true),
    row(".ir", true, "fa", "", 210, false),
    row(".ae .om", true, "", "", 240, false),
    row(".az .ge .am", true, "az ka hy", "", 240, false),
    row(".pk .uz", true, "ur uz", "", 300, false),
    row(".in .lk", true, "hi mr ta te", "", 330, false),
    row(".bd", true, "bn", "", 360, false),
    row(".th .vn", true, "th vi", "", 420, false),
    row(".id", false, "", "id", 420, false),
    row(".sg .my .ph .hk .tw .cn", true, "zh ms tl", "", 480, false),
    row(".jp .kr", true, "ja ko", "", 540, false),
    row(".au", false, "", "", 600, false),
    row(".nz", false, "", "", 720, false),
];

/// The zone in which a page is most likely read at `now`, in minutes east of Greenwich.
pub(crate) fn likely(language: Option<&str>, host: &str, now: Time) -> Option<i16> {
    // What is a moment ahead asks for any zone.
    let (time, offset_minutes) = (Time(now.0 + 1), None);
    let when = When { time, offset_minutes, has_clock: true, has_zone: false, sure: Sure::Guessed };
    placed(when, language, host, now).offset_minutes
}

/// A date with the zone that language and host tell, when it has none.
pub(crate) fn placed(when: When, language: Option<&str>, host: &str, now: Time) -> When {
    if !when.has_clock || when.offset_minutes.is_some() {
        return when;
    }
    let is_one = |list: &str| list.split(' ').any(|l| Some(l) == language);
    let ends = |list: &str| list.split(' ').any(|end| host.ends_with(end));
    let by_host = EAST.iter().find(|zone| ends(zone.hosts));
    // Those east of Europe are written in one zone whatever the host; a Swiss page in English is Swiss.
    let certain = EAST
        .iter()
        .find(|zone| zone.minutes >= 480 && is_one(zone.written))
        .or_else(|| by_host.filter(|zone| zone.is_all))
        .or_else(|| EAST.iter().find(|zone| by_host.is_none() && is_one(zone.written)));
    let is_ahead = (1..=AHEAD).contains(&(when.time.0 - now.0));
    let likely = || {
        let by_language = || EAST.iter().find(|zone| is_one(zone.written) || is_one(zone.also));
        is_ahead.then(|| by_host.or_else(by_language)).flatten()
    };
    let zone = certain.or_else(likely).map(|zone| {
        let summer = zone.summers && is_summer(when.time);
        zone.minutes + if summer { 60 } else { 0 }
    });
    let shift = i64::from(zone.unwrap_or(0)) * 60_000;
    When { time: Time(when.time.0 - shift), offset_minutes: zone, ..when }
}

/// Whether European clocks are ahead that day: from the last Sunday of March to that of October.
pub(super) fn is_summer(time: Time) -> bool {
    let day = time.0.div_euclid(86_400_000);
    let year: Option<i64> = time.iso_seconds().get(..4).and_then(|y| y.parse().ok());
    // 1970-01-01 was a Thursday.
    let last_sunday = |month| {
        let last = days(year?, month, 31)?;
        Some(last - (last + 4).rem_euclid(7))
    };
    last_sunday(3).zip(last_sunday(10)).is_some_and(|(from, to)| (from..to).contains(&day))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16T12:00:00Z.
    const NOW: Time = Time(1_794_830_400_000);
    const HOUR: i64 = 3_600_000;

    fn zone(hours: i64, language: &str, host: &str, now: Time) -> Option<i16> {
        let time = Time(now.0 + hours * HOUR);
        let when = When {
            time,
            offset_minutes: None,
            has_clock: true,
            has_zone: false,
            sure: Sure::Likely,
        };
        let out = placed(when, Some(language), host, now);
        assert_eq!(out.time.0, time.0 - i64::from(out.offset_minutes.unwrap_or(0)) * 60_000);
        out.offset_minutes
    }

    #[test]
    fn one_zone_is_certain_and_others_are_told_by_times_ahead() {
        assert_eq!(zone(-50, "ja", "a.example", NOW), Some(540));
        assert_eq!(zone(-50, "zh", "a.example", NOW), Some(480));
        assert_eq!(zone(-1, "de", "a.de", NOW), Some(60));
        assert_eq!(zone(-1, "en", "a.ch", NOW), Some(60));
        assert_eq!(zone(-1, "pl", "a.example", NOW), Some(60));
        assert_eq!(zone(-1, "en", "a.in", NOW), Some(330));
        assert_eq!(zone(-1, "hi", "a.example", NOW), Some(330));
        // French is written in many zones, and so is what a Russian host says.
        assert_eq!(zone(-1, "fr", "a.example", NOW), None);
        assert_eq!(zone(1, "fr", "a.example", NOW), Some(60));
        assert_eq!(zone(-1, "ru", "a.ru", NOW), None);
        assert_eq!(zone(-1, "de", "a.ru", NOW), None);
        assert_eq!(zone(2, "en", "a.ru", NOW), Some(180));
        assert_eq!(zone(2, "en", "a.example", NOW), None);
        assert_eq!(zone(15, "ru", "a.ru", NOW), None);
        // 2026-07-16.
        assert_eq!(zone(1, "fr", "a.fr", Time(NOW.0 - 123 * 24 * HOUR)), Some(120));
    }

    #[test]
    fn what_was_written_stays() {
        let written = When {
            time: NOW,
            offset_minutes: Some(0),
            has_clock: true,
            has_zone: true,
            sure: Sure::Likely,
        };
        assert_eq!(placed(written, Some("ja"), "a.jp", NOW), written);
        let day = When { offset_minutes: None, has_clock: false, has_zone: false, ..written };
        assert_eq!(placed(day, Some("ja"), "a.jp", NOW), day);
    }

    #[test]
    fn summers_begin_and_end_on_sundays() {
        let at = |text: &str| is_summer(crate::date::read(text).expect("a date"));
        assert!(!at("2026-03-28") && at("2026-03-29"));
        assert!(at("2026-10-24") && !at("2026-10-25"));
    }
}
