//! The zone of a time that was written without one.
//!
//! * What this is: Japanese, Korean and Chinese are written in one zone each, so their times are
//!   read in it. Elsewhere a time without a zone is read as UTC, unless it would then lie ahead of
//!   now: then it was written further east, and the country of the domain or the language tells where.
//! * Its place: `article` asks for each date it has found.
//! * Invariants: what was written is never changed; a date without a clock stays as it is.
//! * What is not here: zones west of Greenwich, which nothing tells for certain.

use crate::article::When;
use crate::date::days;
use argiope_model::Time;

/// How far a time may lie ahead because of its zone.
const AHEAD: i64 = 14 * 3_600_000;

/// Ends of hosts, languages, minutes east of Greenwich, and whether European summers count.
/// Languages of many countries stand with the one in Europe: only it is east.
const EAST: &[(&str, &str, i16, bool)] = &[
    (".de .at .ch .li", "de", 60, true),
    (".fr .be .lu .mc", "fr", 60, true),
    (".es .cat", "es ca eu gl", 60, true),
    (".it .va .sm .mt", "it", 60, true),
    (".nl", "nl", 60, true),
    (".se .dk .no", "sv da no nb nn", 60, true),
    (".pl .cz .sk .hu", "pl cs sk hu", 60, true),
    (".si .hr .rs .ba .me .mk .al", "sl hr sr bs mk sq", 60, true),
    (".fi .ee .lv .lt", "fi et lv lt", 120, true),
    (".gr .cy .ro .bg .md", "el ro bg", 120, true),
    (".ua", "uk", 120, true),
    (".ru .su .by .рф .xn--p1ai", "ru be", 180, false),
    (".tr", "tr", 180, false),
    (".sa .iq .qa .kw .jo .sy", "ar", 180, false),
    (".il", "he", 120, true),
    (".ir", "fa", 210, false),
    (".ae .om .az .ge .am", "az ka hy", 240, false),
    (".pk .uz", "ur uz", 300, false),
    (".in .lk", "hi mr ta te bn", 330, false),
    (".th .vn", "th vi", 420, false),
    (".id", "id", 420, false),
    (".sg .my .ph .hk .tw .cn", "ms tl", 480, false),
    (".jp .kr", "", 540, false),
    (".au", "", 600, false),
    (".nz", "", 720, false),
];

/// A date with the zone that language and host tell, when it has none.
pub(crate) fn placed(when: When, language: Option<&str>, host: &str, now: Time) -> When {
    if !when.has_clock || when.offset_minutes.is_some() {
        return when;
    }
    let certain = match language {
        Some("ja" | "ko") => Some(540),
        Some("zh") => Some(480),
        _ => None,
    };
    let ahead = when.time.0 - now.0;
    let zone = certain.or_else(|| {
        let listed = |list: &str, is: &dyn Fn(&str) -> bool| list.split(' ').any(is);
        let by_host = EAST.iter().find(|e| listed(e.0, &|end| host.ends_with(end)));
        let by_language = || EAST.iter().find(|e| listed(e.1, &|l| Some(l) == language));
        let (_, _, minutes, summers) =
            (0 < ahead && ahead <= AHEAD).then(|| by_host.or_else(by_language)).flatten()?;
        Some(minutes + if *summers && is_summer(when.time) { 60 } else { 0 })
    });
    let shift = i64::from(zone.unwrap_or(0)) * 60_000;
    When { time: Time(when.time.0 - shift), offset_minutes: zone, ..when }
}

/// Whether European clocks are ahead that day: from the last Sunday of March to that of October.
fn is_summer(time: Time) -> bool {
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
    use crate::article::Sure;

    /// 2026-11-16T12:00:00Z.
    const NOW: Time = Time(1_794_830_400_000);
    const HOUR: i64 = 3_600_000;

    fn zone(hours: i64, language: &str, host: &str, now: Time) -> Option<i16> {
        let time = Time(now.0 + hours * HOUR);
        let when = When { time, offset_minutes: None, has_clock: true, sure: Sure::Likely };
        let out = placed(when, Some(language), host, now);
        assert_eq!(out.time.0, time.0 - i64::from(out.offset_minutes.unwrap_or(0)) * 60_000);
        out.offset_minutes
    }

    #[test]
    fn one_zone_is_certain_and_others_are_told_by_times_ahead() {
        assert_eq!(zone(-50, "ja", "a.example", NOW), Some(540));
        assert_eq!(zone(-50, "zh", "a.example", NOW), Some(480));
        assert_eq!(zone(-1, "de", "a.de", NOW), None);
        assert_eq!(zone(1, "de", "a.example", NOW), Some(60));
        assert_eq!(zone(2, "en", "a.ru", NOW), Some(180));
        assert_eq!(zone(2, "en", "a.example", NOW), None);
        assert_eq!(zone(15, "ru", "a.ru", NOW), None);
        // 2026-07-16.
        assert_eq!(zone(1, "fr", "a.fr", Time(NOW.0 - 123 * 24 * HOUR)), Some(120));
    }

    #[test]
    fn what_was_written_stays() {
        let written =
            When { time: NOW, offset_minutes: Some(0), has_clock: true, sure: Sure::Likely };
        assert_eq!(placed(written, Some("ja"), "a.jp", NOW), written);
        let day = When { offset_minutes: None, has_clock: false, ..written };
        assert_eq!(placed(day, Some("ja"), "a.jp", NOW), day);
    }

    #[test]
    fn summers_begin_and_end_on_sundays() {
        let at = |text: &str| is_summer(crate::date::read(text).expect("a date"));
        assert!(!at("2026-03-28") && at("2026-03-29"));
        assert!(at("2026-10-24") && !at("2026-10-25"));
    }
}
