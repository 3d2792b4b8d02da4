//! Dates as sitemaps and feeds write them.
//!
//! * What this is: one reader for three families: `2026-01-31T23:59:59+01:00` with everything
//!   behind the year optional (W3C, RFC 3339) and the same in the signs of East Asia; words and
//!   numbers in any order (`Sat, 31 Jan 2026 23:59:59 GMT`, `Jan 31 23:59:59 CET 2026`), with
//!   the months of a dozen languages; and seconds since 1970.
//! * Its place: `sitemap` asks for the time of a change, `feed` for all times of its entries.
//! * Invariants: a date that does not exist is none; a time without a zone is UTC; what cannot
//!   be read is `None`, never a guess. The lenient way keeps the day where only the time of day
//!   or the zone cannot be read.
//! * What is not here: days and months in an order that depends on the country, and the dates
//!   in the text of a page.

use argiope_model::Time;

/// The point in time a text names.
pub(crate) fn read(text: &str) -> Option<Time> {
    let (day, rest) = date(text.trim())?;
    let rest = rest.trim();
    if rest.is_empty() { time(day, 0, 0, 0, 0) } else { clock(rest, day).map(|(time, _)| time) }
}

/// The point in time a text names as far as it can be read, and minutes east of Greenwich if it
/// names a zone.
pub(crate) fn read_with_zone(text: &str) -> Option<(Time, Option<i16>)> {
    let text = text.trim();
    if let Some(found) = seconds(text) {
        return Some((found, None));
    }
    let (day, rest) = date(text)?;
    clock(rest.trim(), day).or_else(|| {
        // A zone nobody knows.
        let time_only = rest.trim().trim_end_matches(|c: char| !c.is_ascii_digit());
        clock(time_only, day).or_else(|| Some((time(day, 0, 0, 0, 0)?, None)))
    })
}

/// The day a text names, and what it says about the time of day.
fn date(text: &str) -> Option<(i64, String)> {
    numeric(text)
        .map(|(day, rest)| (day, rest.to_owned()))
        .or_else(|| eastern(text))
        .or_else(|| named(text))
}

/// Seconds or milliseconds since 1970, as many digits as they have in our time.
fn seconds(text: &str) -> Option<Time> {
    let number: i64 = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())??;
    match text.len() {
        10 => Some(Time(number * 1000)),
        13 => Some(Time(number)),
        _ => None,
    }
}

/// `2026`, `2026-01`, `2026-01-31`, `20260131`, `2026-031`, with a time behind it.
fn numeric(text: &str) -> Option<(i64, &str)> {
    let mut scan = Scan(text);
    let year = scan.digits(4, 4)?;
    let mut parts = [1, 1];
    if scan.0.starts_with(|c: char| c.is_ascii_digit()) {
        for part in &mut parts {
            *part = scan.digits(2, 2)?;
        }
    } else {
        for part in &mut parts {
            if !scan.eat(&['-', '/', '.']) {
                break;
            }
            let mut number = Scan(scan.0);
            if let Some(of_year) = number.digits(3, 3) {
                let day = days(year, 1, 1)? + of_year - 1;
                return (day < days(year + 1, 1, 1)?).then_some((day, number.0));
            }
            *part = scan.digits(1, 2)?;
        }
    }
    let day = days(year, parts[0], parts[1])?;
    if !scan.0.is_empty() && !scan.eat(&['T', 't', ' ', '_', ',']) {
        return None;
    }
    Some((day, scan.0))
}

/// `2026年1月31日 下午 11:59`, `2026년 1월 31일`.
fn eastern(text: &str) -> Option<(i64, String)> {
    let mut scan = Scan(text);
    let year = scan.digits(4, 4)?;
    scan.0 = scan.0.strip_prefix(['年', '년'])?.trim_start();
    let month = scan.digits(1, 2)?;
    scan.0 = scan.0.strip_prefix(['月', '월'])?.trim_start();
    let day = scan.digits(1, 2)?;
    let rest = scan.0.strip_prefix(['日', '일', '号'])?.trim_start();
    let rest = rest.replace(['时', '分'], ":").replace('秒', "");
    let rest = rest.trim_end_matches(':');
    let half = [
        ("下午", "PM"),
        ("오후", "PM"),
        ("午後", "PM"),
        ("上午", "AM"),
        ("오전", "AM"),
        ("午前", "AM"),
    ];
    let named = half.iter().find_map(|(word, half)| Some((rest.strip_prefix(word)?, half)));
    let rest = match named {
        Some((clock, half)) => format!("{} {half}", clock.trim()),
        None => rest.to_owned(),
    };
    Some((days(year, month, day)?, rest))
}

/// The first letters of the months: English, German, French, Spanish, Italian, Portuguese, Dutch,
/// Swedish, Polish, Turkish, Russian, Greek.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän", "ene", "gen", "янв", "ιαν", "sty", "oca"],
    &["feb", "fev", "fév", "фев", "φεβ", "lut", "şub"],
    &["mar", "mär", "mrz", "maa", "мар", "μάρ", "μαρ"],
    &["apr", "avr", "abr", "апр", "απρ", "kwi", "nis"],
    &["may", "mai", "maj", "mei", "mag", "май", "мая", "μαϊ", "μάι"],
    &["jun", "juin", "giu", "июн", "ιουν", "ιούν", "cze", "haz"],
    &["jul", "juil", "lug", "июл", "ιουλ", "ιούλ", "lip", "tem"],
    &["aug", "aoû", "aou", "ago", "авг", "αυγ", "αύγ", "sie", "ağu"],
    &["sep", "set", "сен", "σεπ", "wrz", "eyl"],
    &["oct", "okt", "ott", "out", "окт", "οκτ", "paź", "eki"],
    &["nov", "ноя", "νοε", "νοέ", "lis", "kas"],
    &["dec", "dez", "dic", "déc", "дек", "δεκ", "gru", "ara"],
];

fn month(word: &str) -> Option<i64> {
    let word = word.to_lowercase();
    let is_it = |names: &&[&str]| names.iter().any(|name| word.starts_with(name));
    MONTHS.iter().position(is_it).map(|at| at as i64 + 1)
}

/// `Sat, 31 Jan 2026 23:59:59 GMT`, `31-Jan-26`, `January 31, 2026`, `Sat Jan 31 23:59:59 CET 2026`.
fn named(text: &str) -> Option<(i64, String)> {
    let (mut day, mut named_month, mut year) = (None, None, None);
    let mut clock = String::new();
    let is_gap = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    for token in text.split(is_gap).filter(|token| !token.is_empty()) {
        let is_time = token.contains(':') && token.starts_with(|c: char| c.is_ascii_digit());
        if is_time || token.starts_with(['+', '-', '(']) {
            clock.push(' ');
            clock.push_str(token);
            continue;
        }
        for part in token.split(['-', '/']).filter(|part| !part.is_empty()) {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let number = part[..digits].parse::<i64>().ok();
            match number {
                // 31st, 31.
                Some(number) if digits <= 2 && day.is_none() => day = Some(number),
                Some(number) if year.is_none() && (digits == 4 || digits == 2) => {
                    year = Some(match number {
                        short @ 0..50 if digits == 2 => 2000 + short,
                        short if digits == 2 => 1900 + short,
                        year => year,
                    });
                }
                Some(_) => return None,
                // The last word counts: some weekdays begin like a month.
                None if clock.is_empty() && month(part).is_some() => named_month = month(part),
                None if clock.is_empty() => {}
                None => {
                    clock.push(' ');
                    clock.push_str(part);
                }
            }
        }
    }
    Some((days(year?, named_month?, day?)?, clock))
}

/// `23:59`, `23:59:59.123`, `11:59 PM`, with a zone behind it; at midnight if there is nothing.
fn clock(text: &str, day: i64) -> Option<(Time, Option<i16>)> {
    let text = text.trim();
    let mut scan = Scan(text);
    if text.is_empty() || text.starts_with(['+', 'Z', 'z']) {
        let zone = zone(text)?;
        return Some((time(day, 0, 0, 0, zone.unwrap_or(0))?, zone.map(|z| z as i16)));
    }
    let mut hour = scan.digits(1, 2)?;
    // The short form has no colons.
    let colon = scan.eat(&[':']);
    if !colon && !scan.0.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let minute = scan.digits(2, 2)?;
    let more = scan.eat(&[':']) || !colon && scan.0.starts_with(|c: char| c.is_ascii_digit());
    let second = if more { scan.digits(1, 2)? } else { 0 };
    if scan.eat(&['.', ',']) {
        scan.0 = scan.0.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let mut rest = scan.0.trim();
    let half = rest.get(..2).map(str::to_ascii_uppercase);
    if let Some(half @ ("AM" | "PM")) = half.as_deref()
        && !rest[2..].starts_with(|c: char| c.is_ascii_alphabetic())
        && (1..=12).contains(&hour)
    {
        hour = hour % 12 + if half == "PM" { 12 } else { 0 };
        rest = rest[2..].trim();
    }
    let zone = zone(rest)?;
    Some((time(day, hour, minute, second, zone.unwrap_or(0))?, zone.map(|z| z as i16)))
}

/// Minutes east of Greenwich; `Some(None)` if nothing is said, `None` if it cannot be read.
fn zone(text: &str) -> Option<Option<i64>> {
    let text = text.trim().trim_start_matches('(');
    if text.is_empty() {
        return Some(None);
    }
    let name = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text.split_at(name);
    let name = name.to_ascii_uppercase();
    let by_name = match name.as_str() {
        "Z" | "GMT" | "UT" | "UTC" | "WET" => 0,
        "BST" | "CET" | "MEZ" | "WEST" => 60,
        "CEST" | "MESZ" | "EET" | "SAST" => 120,
        "EEST" | "MSK" => 180,
        "IST" => 330,
        "SGT" | "HKT" | "AWST" => 480,
        "JST" | "KST" => 540,
        "ACST" => 570,
        "AEST" => 600,
        "ACDT" => 630,
        "AEDT" => 660,
        "NZST" => 720,
        "NZDT" => 780,
        "BRT" | "ART" | "ADT" => -180,
        "NST" => -210,
        "EDT" | "AST" => -240,
        "EST" | "CDT" => -300,
        "CST" | "MDT" => -360,
        "MST" | "PDT" => -420,
        "PST" | "AKDT" => -480,
        "AKST" => -540,
        "HST" => -600,
        "" => 0,
        _ => return None,
    };
    let sign = match rest.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        // A comment, or the name of a place, tells no more.
        _ if !name.is_empty() => return Some(Some(by_name)),
        _ => return None,
    };
    let mut scan = Scan(&rest[1..]);
    let mut hours = scan.digits(1, 2)?;
    scan.eat(&[':']);
    let mut minutes =
        if scan.0.starts_with(|c: char| c.is_ascii_digit()) { scan.digits(1, 2)? } else { 0 };
    // `+530` is five hours and a half.
    if hours > 23 && minutes < 10 {
        (hours, minutes) = (hours / 10, hours % 10 * 10 + minutes);
    }
    if scan.0.starts_with(|c: char| !c.is_ascii() || c.is_ascii_digit()) {
        return None;
    }
    (hours < 24 && minutes < 60).then_some(Some(by_name + sign * (hours * 60 + minutes)))
}

fn time(day: i64, hour: i64, minute: i64, second: i64, zone: i64) -> Option<Time> {
    // Leap seconds are written as 60, and midnight sometimes as 24:00.
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    Some(Time((day * 86_400 + hour * 3600 + (minute - zone) * 60 + second) * 1000))
}

/// Days since 1970-01-01.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    Time::of_day(year, month, day).map(|time| time.0 / 86_400_000)
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
            ("20040102", "2004-01-02T00:00:00Z"),
            ("20040102T101112Z", "2004-01-02T10:11:12Z"),
            ("2003-335", "2003-12-01T00:00:00Z"),
            ("Sun Jan  4 16:29:06 PST 2004", "2004-01-05T00:29:06Z"),
            ("Mon, 26 January 2004 16:31:00 EDT", "2004-01-26T20:31:00Z"),
            ("January 5th, 2004 10:11 PM", "2004-01-05T22:11:00Z"),
            ("Tue, 17 Nov 2026 08:00:00 GMT+0200", "2026-11-17T06:00:00Z"),
            ("mar., 03 févr. 2026 08:00:00 +0100", "2026-02-03T07:00:00Z"),
            ("Di, 13 Okt 2026 08:00:00 MESZ", "2026-10-13T06:00:00Z"),
            ("Вт, 13 окт 2026 08:00:00 +0300", "2026-10-13T05:00:00Z"),
            ("2004년 05월 28일  오후 01:31:15", "2004-05-28T13:31:15Z"),
            ("2026年11月16日 08:05", "2026-11-16T08:05:00Z"),
            ("2004-07-08 23:56:58.0", "2004-07-08T23:56:58Z"),
            ("2004-07-08T23:56:58 +0530 (IST)", "2004-07-08T18:26:58Z"),
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
            "20041302",
            "2003-366",
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
    fn zones_are_told_and_days_survive_what_stands_behind_them() {
        let shown = |text: &str| {
            let found = read_with_zone(text);
            found.map(|(time, zone)| (time.iso_seconds(), zone))
        };
        let at = |time: &str, zone| Some((time.to_owned(), zone));
        assert_eq!(shown("Sat, 31 Jan 2026 10:00 -0330"), at("2026-01-31T13:30:00Z", Some(-210)));
        assert_eq!(shown("2026-01-31T10:00:00"), at("2026-01-31T10:00:00Z", None));
        assert_eq!(shown("2026-01-31T10:00 XYZ"), at("2026-01-31T10:00:00Z", None));
        assert_eq!(shown("2026-01-31T99:99"), at("2026-01-31T00:00:00Z", None));
        assert_eq!(shown("1769853600"), at("2026-01-31T10:00:00Z", None));
        assert_eq!(shown("soon"), None);
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
