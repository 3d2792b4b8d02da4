//! Dates as pages write them, with their zone.
//!
//! * What this is: one reader for machine dates (`2026-01-31T23:59:59+01:00`, RFC 822) and for
//!   dates in running text in some twenty languages (`31. Januar 2026`, `Jan 31, 2026`,
//!   `2026年1月31日`).
//! * Its place: `facts` asks for the first date in a text it took from the page.
//! * Invariants: a date that does not exist is none; years are 1990 to 2100; the zone is kept as
//!   it was written, and none is made up.
//! * What is not here: whether the date is that of the article.

use super::zones::is_summer;
use crate::date::days;
use argiope_model::Time;

/// A date that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) time: Time,
    /// Minutes east of Greenwich, when written.
    pub(crate) zone: Option<i16>,
    /// Whether a time of day was written.
    pub(crate) clock: bool,
    /// Where it begins and ends in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Minutes east of Greenwich, and whose clocks go an hour ahead in summer, if any.
pub(super) type Zone = (i16, Option<Summers>);

/// Where clocks go an hour ahead in summer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Summers {
    America,
    Europe,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece<'t> {
    Number { value: i64, digits: usize },
    Word(&'t str),
    Sign(char),
}

/// The first date in a text. `day_first` says how `3/4/2026` is meant.
pub(crate) fn first(text: &str, day_first: bool) -> Option<Read> {
    let pieces = pieces(text);
    (0..pieces.len()).find_map(|at| {
        if at > 0 && joined(&pieces, at) {
            return None;
        }
        let (year, month, day, next) = date(&pieces, at, day_first)?;
        let days = days(year, month, day)?;
        let behind = clock(&pieces, next).map(|(seconds, zone, last)| (at, seconds, zone, last));
        let clock = behind.or_else(|| {
            let (start, seconds, zone) = clock_before(&pieces, at)?;
            Some((start, seconds, zone, next))
        });
        let (start, seconds, zone, last) = clock.unwrap_or((at, 0, None, next));
        let zone = zone.map(|(east, summers)| {
            let is_summer = match summers {
                Some(Summers::America) => is_american_summer(year, days, seconds),
                Some(Summers::Europe) => is_summer(Time(days * 86_400_000)),
                None => false,
            };
            if is_summer { east + 60 } else { east }
        });
        let shift = i64::from(zone.unwrap_or(0)) * 60;
        let end = pieces.get(last).map_or(text.len(), |p| p.0);
        Some(Read {
            time: Time((days * 86_400 + seconds - shift) * 1000),
            zone,
            clock: clock.is_some(),
            start: pieces[start].0,
            end,
        })
    })
}

/// Whether clocks of America are ahead then: from two in the morning of the second Sunday of March to that of the first
/// of November.
fn is_american_summer(year: i64, day: i64, seconds: i64) -> bool {
    // 1970-01-01 was a Thursday.
    let sunday_from = |month, first| {
        let first = days(year, month, first)?;
        Some((first + (3 - first).rem_euclid(7), 2 * 3600))
    };
    let (from, to) = (sunday_from(3, 8), sunday_from(11, 1));
    from.zip(to).is_some_and(|(from, to)| (from..to).contains(&(day, seconds)))
}

/// Whether a number goes on from before: `v1.2026.3` is no date.
fn joined(pieces: &[(usize, Piece<'_>)], at: usize) -> bool {
    matches!(pieces[at].1, Piece::Number { .. })
        && matches!(pieces[at - 1].1, Piece::Sign('.' | '-' | '/' | ':' | ','))
        && at > 1
        && matches!(pieces[at - 2].1, Piece::Number { .. })
        && pieces[at - 1].0 + 1 == pieces[at].0
}

pub(super) fn pieces(text: &str) -> Vec<(usize, Piece<'_>)> {
    let mut out = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        if let Some(first) = digit(c) {
            let (mut value, mut digits) = (i64::from(first), 1);
            while let Some((_, c)) = chars.peek() {
                let Some(more) = digit(*c) else { break };
                value = (value * 10 + i64::from(more)).min(1 << 40);
                digits += 1;
                chars.next();
            }
            out.push((at, Piece::Number { value, digits }));
        } else if c.is_alphabetic() && !is_ideograph(c) {
            let mut end = at + c.len_utf8();
            while let Some((next, c)) = chars.peek() {
                if !c.is_alphabetic() || is_ideograph(*c) {
                    break;
                }
                end = next + c.len_utf8();
                chars.next();
            }
            out.push((at, Piece::Word(&text[at..end])));
        } else {
            out.push((at, Piece::Sign(c)));
        }
        if out.len() >= 4000 {
            break;
        }
    }
    out
}

/// The value of a digit: ours, those of Arabic and Persian, and wide ones.
fn digit(c: char) -> Option<u32> {
    let zero = match c {
        '0'..='9' => '0',
        '٠'..='٩' => '٠',
        '۰'..='۹' => '۰',
        '０'..='９' => '０',
        _ => return None,
    };
    Some(u32::from(c) - u32::from(zero))
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Year, month, day and the piece behind them.
fn date(
    pieces: &[(usize, Piece<'_>)],
    at: usize,
    day_first: bool,
) -> Option<(i64, i64, i64, usize)> {
    let piece = |i: usize| pieces.get(i).map(|p| p.1);
    let number = |i: usize, most: usize| match piece(i) {
        Some(Piece::Number { value, digits }) if digits <= most => Some(value),
        _ => None,
    };
    let year = |i: usize| match piece(i) {
        Some(Piece::Number { value, digits: 4 }) if (1990..=2100).contains(&value) => Some(value),
        _ => None,
    };
    let month = |i: usize| match piece(i) {
        Some(Piece::Word(word)) => month(word),
        _ => None,
    };
    // Signs and small words that stand between the parts.
    let skip = |mut i: usize| {
        for _ in 0..2 {
            match piece(i) {
                Some(Piece::Sign('.' | ',' | '،' | '-' | '/' | '·' | '’' | '\'' | '°')) => {
                    i += 1
                }
                Some(Piece::Word(
                    "de" | "del" | "of" | "er" | "st" | "nd" | "rd" | "th" | "º" | "do" | "da"
                    | "den" | "г",
                )) => i += 1,
                _ => break,
            }
        }
        i
    };
    if let Piece::Number { value, digits: 8 } = pieces[at].1 {
        // 20260131, alone.
        let (y, m, d) = (value / 10_000, value / 100 % 100, value % 100);
        return ((1990..=2100).contains(&y) && (1..=12).contains(&m) && (1..=31).contains(&d))
            .then_some((y, m, d, at + 1));
    }
    if let Some(y) = year(at) {
        if let Some(m) = number(skip(at + 1), 2)
            .filter(|_| matches!(piece(at + 1), Some(Piece::Sign('-' | '/' | '.'))))
        {
            let to = skip(at + 1) + 1;
            let d = skip(to);
            if d > to
                && let Some(day) = number(d, 2)
            {
                return Some((y, m, day, d + 1));
            }
        }
        let unit = |i: usize, units: &[char]| matches!(piece(i), Some(Piece::Sign(c)) if units.contains(&c));
        if unit(at + 1, &['年', '년']) {
            let m = number(at + 2, 2)?;
            if unit(at + 3, &['月', '월']) {
                let d = number(at + 4, 2)?;
                return Some((y, m, d, at + 6));
            }
        }
        let m = skip(at + 1);
        if let Some(m_value) = month(m) {
            let d = skip(m + 1);
            return Some((y, m_value, number(d, 2)?, d + 1));
        }
        return None;
    }
    if let Some(m) = month(at) {
        let d = skip(at + 1);
        let day = number(d, 2)?;
        let y = skip(d + 1);
        // `Mon Aug 03 12:45:00 EDT 2015`: the year stands behind the clock, which is read from the day on.
        if let Some((_, _, next)) = clock_at(pieces, d + 1, None) {
            let last = if year(next).is_some() { next } else { next + 1 };
            return Some((year(last)?, m, day, d + 1));
        }
        return Some((year(y)?, m, day, y + 1));
    }
    let first = number(at, 2)?;
    let second_at = skip(at + 1);
    if let Some(m) = month(second_at) {
        let y = skip(second_at + 1);
        return Some((year(y)?, m, first, y + 1));
    }
    let Some(Piece::Sign(sign @ ('.' | '/' | '-'))) = piece(at + 1) else { return None };
    let second = number(at + 2, 2)?;
    if piece(at + 3) != Some(Piece::Sign(sign)) {
        return None;
    }
    let y = match piece(at + 4) {
        Some(Piece::Number { value, digits: 4 }) if (1990..=2100).contains(&value) => value,
        Some(Piece::Number { value, digits: 2 }) if sign == '.' && value < 60 => 2000 + value,
        _ => return None,
    };
    let day_first = match sign {
        '.' => true,
        _ if first > 12 => true,
        _ if second > 12 => false,
        _ => day_first,
    };
    let (d, m) = if day_first { (first, second) } else { (second, first) };
    Some((y, m, d, at + 5))
}

/// Seconds of the day and zone, when they stand within a few pieces.
pub(super) fn clock(
    pieces: &[(usize, Piece<'_>)],
    from: usize,
) -> Option<(i64, Option<Zone>, usize)> {
    let at = (from..(from + 7).min(pieces.len()))
        .find(|&at| matches!(pieces[at].1, Piece::Number { .. }))?;
    // The day of a change is no clock.
    if date(pieces, at, true).is_some() {
        return None;
    }
    // 下午, 오후, 午後.
    let half = pieces[from..at].iter().find_map(|(_, piece)| match piece {
        Piece::Sign('下' | '후' | '後') => Some('p'),
        Piece::Sign('上' | '전' | '前') => Some('a'),
        _ => None,
    });
    clock_at(pieces, at, half)
}

/// A time of day right before a date: `16:47 GMT, 16 November 2026`.
pub(super) fn clock_before(
    pieces: &[(usize, Piece<'_>)],
    at: usize,
) -> Option<(usize, i64, Option<Zone>)> {
    (at.saturating_sub(9)..at).find_map(|start| {
        let (seconds, zone, next) = clock_at(pieces, start, None)?;
        let between = pieces.get(next..at)?;
        let near = between.len() <= 2
            && between.iter().all(|(_, piece)| !matches!(piece, Piece::Number { .. }))
            && !(start > 0 && joined(pieces, start));
        near.then_some((start, seconds, zone))
    })
}

/// Seconds of the day and zone at a place. `half` is the half of the day told before.
fn clock_at(
    pieces: &[(usize, Piece<'_>)],
    at: usize,
    half: Option<char>,
) -> Option<(i64, Option<Zone>, usize)> {
    let piece = |i: usize| pieces.get(i).map(|p| p.1);
    let Some(Piece::Number { value: mut hour, digits: 1..=2 }) = piece(at) else { return None };
    let minutes = match piece(at + 2) {
        Some(Piece::Number { value, digits: 2 }) => Some(value),
        _ => None,
    };
    let (minute, mut next) = match (piece(at + 1)?, minutes) {
        (Piece::Sign(':' | '：' | '.' | '时' | '時' | '시'), Some(minute)) => (minute, at + 3),
        (Piece::Word("h" | "H"), Some(minute)) => (minute, at + 3),
        // Whole hours.
        (Piece::Sign('时' | '時' | '시') | Piece::Word("Uhr" | "uhr"), None) => (0, at + 2),
        (Piece::Word("h"), None) if pieces[at + 1].0 <= pieces[at].0 + 2 => (0, at + 2),
        (Piece::Word("am" | "pm" | "AM" | "PM" | "a" | "p"), None) => (0, at + 1),
        _ => return None,
    };
    let mut second = 0;
    if let (Some(Piece::Sign(':')), Some(Piece::Number { value, digits: 2 })) =
        (piece(next), piece(next + 1))
    {
        second = value;
        next += 2;
        if let (Some(Piece::Sign('.' | ',')), Some(Piece::Number { .. })) =
            (piece(next), piece(next + 1))
        {
            next += 2;
        }
    }
    let mut half = half;
    if let Some(Piece::Word(word)) = piece(next) {
        let lower = word.to_ascii_lowercase();
        let dotted = matches!(piece(next + 1), Some(Piece::Sign('.')))
            && matches!(piece(next + 2), Some(Piece::Word("m" | "M")));
        if matches!(lower.as_str(), "am" | "pm") || (dotted && matches!(lower.as_str(), "a" | "p"))
        {
            half = lower.chars().next();
            next += if dotted { 4 } else { 1 };
        } else if next == at + 1 {
            return None;
        }
    }
    match half {
        Some('p') if hour < 12 => hour += 12,
        Some('a') if hour == 12 => hour = 0,
        _ => {}
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    // Words and signs for hours and minutes, and brackets, before the zone.
    while matches!(
        piece(next),
        Some(
            Piece::Sign('分' | '분' | '(') | Piece::Word("Uhr" | "uhr" | "h" | "hs" | "hrs" | "ч")
        )
    ) {
        next += 1;
    }
    let (zone, next) = match zone(pieces, next) {
        // Behind a comma, or `по`, only words: `12:30, +12 °C` is no zone.
        (None, next) if matches!(piece(next), Some(Piece::Sign(',') | Piece::Word("по"))) => {
            let (zone, behind) = clocks_of(pieces, next + 1);
            (zone, if zone.is_some() { behind } else { next })
        }
        found => found,
    };
    Some((hour * 3600 + minute * 60 + second, zone, next))
}

/// The zone at a place, and the piece behind it.
fn zone(pieces: &[(usize, Piece<'_>)], at: usize) -> (Option<Zone>, usize) {
    let piece = |i: usize| pieces.get(i).map(|p| p.1);
    match piece(at) {
        Some(Piece::Sign(sign @ ('+' | '-' | '−'))) => {
            let (hours, minutes, next) = match (piece(at + 1), piece(at + 2), piece(at + 3)) {
                (Some(Piece::Number { value, digits: 4 }), _, _) => {
                    (value / 100, value % 100, at + 2)
                }
                (
                    Some(Piece::Number { value, digits: 1..=2 }),
                    Some(Piece::Sign(':')),
                    Some(Piece::Number { value: minutes, digits: 2 }),
                ) => (value, minutes, at + 4),
                (Some(Piece::Number { value, digits: 2 }), _, _) => (value, 0, at + 2),
                _ => return (None, at),
            };
            if hours > 14 || minutes > 59 {
                return (None, at);
            }
            let east = (hours * 60 + minutes) as i16;
            (Some((if sign == '+' { east } else { -east }, None)), next)
        }
        Some(Piece::Word(word)) => {
            let hours = match word {
                "Z" | "z" | "GMT" | "UTC" | "UT" | "WET" => 0,
                "BST" | "CET" | "MEZ" | "WEST" => 1,
                "CEST" | "MESZ" | "EET" | "SAST" => 2,
                "EEST" | "MSK" | "МСК" | "мск" | "TRT" => 3,
                "PKT" => 5,
                "WIB" => 7,
                "HKT" | "SGT" => 8,
                "JST" | "KST" => 9,
                "AEST" => 10,
                "AEDT" => 11,
                "NZST" => 12,
                "NZDT" => 13,
                "EDT" => -4,
                "EST" | "CDT" | "ET" => -5,
                "CST" | "MDT" => -6,
                "MST" | "PDT" => -7,
                "PST" | "PT" => -8,
                _ => return clocks_of(pieces, at),
            };
            if hours == 0 {
                // UTC+8, and (GMT-3) without a space, which `GMT - 3 comments` has.
                if let (Some(zone), next) = self::zone(pieces, at + 1) {
                    return (Some(zone), next);
                }
                let end = pieces[at].0 + word.len();
                if let (Some(Piece::Sign(sign)), Some(Piece::Number { value, digits: 1 })) =
                    (piece(at + 1), piece(at + 2))
                    && matches!(sign, '+' | '-' | '−')
                    && pieces[at + 1].0 == end
                    && pieces[at + 2].0 == end + sign.len_utf8()
                {
                    let hours = if sign == '+' { value } else { -value };
                    return (Some((hours as i16 * 60, None)), at + 3);
                }
            }
            let summers = matches!(word, "ET" | "PT").then_some(Summers::America);
            (Some((hours * 60, summers)), at + 1)
        }
        _ => (None, at),
    }
}

/// A zone by whose clocks are meant (`heure de Paris`, `Moscow time`), and the piece behind it.
fn clocks_of(pieces: &[(usize, Piece<'_>)], at: usize) -> (Option<Zone>, usize) {
    let word = |i: usize| match pieces.get(i).map(|p| p.1) {
        Some(Piece::Word(word)) => Some(word.to_lowercase()),
        _ => None,
    };
    let (first, second) = (word(at).unwrap_or_default(), word(at + 1).unwrap_or_default());
    let (place, next) = match (&*first, &*second) {
        ("heure" | "hora" | "ora" | "horário", "de" | "di") => {
            (word(at + 2).unwrap_or_default(), at + 3)
        }
        ("hora" | "heure", _) => (second, at + 2),
        (_, "time" | "zeit" | "времени" | "время") => (first, at + 2),
        _ => return (None, at),
    };
    let is_meant = |places: &str| places.split(' ').any(|p| p == place);
    match CLOCKS.iter().find(|(places, ..)| is_meant(places)) {
        Some((_, hours, summers)) => (Some((hours * 60, *summers)), next),
        None => (None, at),
    }
}

/// Whose clocks are named, the hours by which they go before Greenwich, and whose summers they have.
const CLOCKS: [(&str, i16, Option<Summers>); 8] = [
    (
        "paris pariser bruxelles brussels madrid españa peninsular roma rome berlin berliner wiener zürcher genève",
        1,
        Some(Summers::Europe),
    ),
    ("london londoner londres lisboa uk", 0, Some(Summers::Europe)),
    ("kyiv киевскому athens helsinki", 2, Some(Summers::Europe)),
    ("moscow moskauer moscou moscú mosca московское московскому istanbul", 3, None),
    ("beijing pekinger pékin pekín", 8, None),
    ("tokyo", 9, None),
    ("eastern", -5, Some(Summers::America)),
    ("pacific", -8, Some(Summers::America)),
];

/// The months in the languages we read, full and short, January first.
const MONTHS: [&str; 12] = [
    "january jan januar jänner jaenner janvier janv enero ene gennaio gen janeiro januari styczeń stycznia январь января янв ocak leden ledna január tammikuu tammikuuta ianuarie gener ιανουαρίου січня يناير sty oca січень ιανουάριος ιαν",
    "february feb febr februar feber février fevrier févr fevr febrero febbraio fevereiro fev februari luty lutego февраль февраля фев şubat únor února február helmikuu helmikuuta februarie febrer φεβρουαρίου лютого فبراير lut şub лютий φεβρουάριος φεβ شباط",
    "march mar märz maerz mrz mär mars marzo março marco maart mrt marzec marca март марта мар mart březen března március maaliskuu maaliskuuta martie març μαρτίου березня مارس marts березень μάρτιος μαρ آذار",
    "april apr avril avr abril abr aprile kwiecień kwietnia апрель апреля апр nisan duben dubna április huhtikuu huhtikuuta aprilie απριλίου квітня أبريل ابريل kwi nis dub квітень απρίλιος απρ نيسان",
    "may mai mayo maggio mag maio mei maj maja май мая mayıs květen května május toukokuu toukokuuta maig μαΐου травня مايو kvě травень μάιος أيار",
    "june jun juni juin junio giugno giu junho czerwiec czerwca июнь июня июн haziran červen června június kesäkuu kesäkuuta iunie juny ιουνίου червня يونيو cze haz червень ιούνιος ιουν حزيران",
    "july jul juli juillet juil julio luglio lug julho lipiec lipca июль июля июл temmuz červenec července július heinäkuu heinäkuuta iulie juliol ιουλίου липня يوليو lip tem липень ιούλιος ιουλ تموز",
    "august aug août aout agosto ago augustus sierpień sierpnia август августа авг ağustos srpen srpna augusztus elokuu elokuuta agost αυγούστου серпня أغسطس اغسطس augusti sie ağu srp серпень αύγουστος αυγ آب",
    "september sep sept septembre septiembre setembro settembre set wrzesień września сентябрь сентября сен eylül září szeptember syyskuu syyskuuta septembrie setembre σεπτεμβρίου вересня سبتمبر wrz eyl вересень σεπτέμβριος σεπ сент أيلول",
    "october oct oktober okt octobre octubre ottobre ott outubro out październik października октябрь октября окт ekim říjen října október lokakuu lokakuuta octombrie οκτωβρίου жовтня أكتوبر اكتوبر paź eki жовтень οκτώβριος οκτ",
    "november nov novembre noviembre novembro listopad listopada ноябрь ноября ноя kasım listopadu marraskuu marraskuuta noiembrie νοεμβρίου листопада نوفمبر lis kas νοέμβριος νοε нояб",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro grudzień grudnia декабрь декабря дек aralık prosinec prosince joulukuu joulukuuta decembrie desembre δεκεμβρίου грудня ديسمبر gru ara desember des грудень δεκέμβριος δεκ",
];

fn month(word: &str) -> Option<i64> {
    if word.len() < 3 || word.len() > 26 {
        return None;
    }
    let lower = word.to_lowercase();
    MONTHS
        .iter()
        .position(|names| names.split(' ').any(|name| name == lower))
        .map(|at| at as i64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let Some(read) = first(text, true) else { return "none".to_owned() };
        let zone = read.zone.map_or_else(String::new, |z| format!(" {z}"));
        let to = if read.clock { 16 } else { 10 };
        let local = Time(read.time.0 + i64::from(read.zone.unwrap_or(0)) * 60_000);
        format!("{}{zone}", &local.iso_seconds()[..to])
    }

    #[test]
    fn days_and_clocks_are_read_in_many_languages() {
        for (text, want) in [
            ("16 November 2026, 16:47 GMT", "2026-11-16T16:47 0"),
            ("16:47 BST, 16 June 2026", "2026-06-16T16:47 60"),
            ("22:15, 16 ноября 2026", "2026-11-16T22:15"),
            ("16 ноября 2026 г. в 22:15 (МСК)", "2026-11-16T22:15 180"),
            ("15.11.2026, 21:01 Uhr", "2026-11-15T21:01"),
            ("15.11.2026 um 21 Uhr MEZ", "2026-11-15T21:00 60"),
            ("Publié le 16 novembre 2026 à 16h44", "2026-11-16T16:44"),
            ("le 16 novembre 2026 à 16h", "2026-11-16T16:00"),
            ("16 novembre 2026, alle ore 16:44", "2026-11-16T16:44"),
            ("16 de noviembre de 2026 a las 16:44 h", "2026-11-16T16:44"),
            ("16 de novembro de 2026 às 16h44", "2026-11-16T16:44"),
            ("16 november 2026 om 16:44", "2026-11-16T16:44"),
            ("16. marts 2026 kl. 16.44", "2026-03-16T16:44"),
            ("16. desember 2026 kl. 16.44", "2026-12-16T16:44"),
            ("16 listopada 2026 r., godz. 16:44", "2026-11-16T16:44"),
            ("16. listopadu 2026 v 16:44", "2026-11-16T16:44"),
            ("16 листопада 2026, 22:15", "2026-11-16T22:15"),
            ("16 Kasım 2026 Pazartesi 16:44", "2026-11-16T16:44"),
            ("16 Νοεμβρίου 2026, 16:44", "2026-11-16T16:44"),
            ("2026年11月16日(月) 午後4時05分", "2026-11-16T16:05"),
            ("2026年11月17日 00:39", "2026-11-17T00:39"),
            ("2026년 11월 16일 오후 4:05", "2026-11-16T16:05"),
            ("２０２６年１１月１６日", "2026-11-16"),
            ("١٦ نوفمبر ٢٠٢٦، ٢٢:١٥", "2026-11-16T22:15"),
            ("Nov 16, 2026 at 5 p.m. EST", "2026-11-16T17:00 -300"),
            ("Nov 16, 2026 at 5 p.m. ET", "2026-11-16T17:00 -300"),
            ("July 6, 2026 10:00 AM ET", "2026-07-06T10:00 -240"),
            ("10:00 AM PT, July 6, 2026", "2026-07-06T10:00 -420"),
            ("March 8, 2026 1:59 AM ET", "2026-03-08T01:59 -300"),
            ("March 8, 2026 3:00 AM ET", "2026-03-08T03:00 -240"),
            ("November 1, 2026 1:30 AM ET", "2026-11-01T01:30 -240"),
            ("November 1, 2026 2:00 AM ET", "2026-11-01T02:00 -300"),
            ("Nov 16, 2026 · 5 min read", "2026-11-16"),
            ("05.04.2025 - Güncelleme : 05.04.2025", "2025-04-05"),
            ("05.04.2025, 12.30", "2025-04-05T12:30"),
            ("Mon Aug 03 12:45:00 EDT 2015", "2015-08-03T12:45 -240"),
            ("Mon Aug 03 12:45:00 UTC 2015", "2015-08-03T12:45 0"),
            ("16 de noviembre de 2026, 10:20 (GMT-3)", "2026-11-16T10:20 -180"),
            ("16 November 2026, 10:20 GMT - 3 comments", "2026-11-16T10:20 0"),
            ("Mon Aug 03 12:45:00 2015", "2015-08-03T12:45"),
            ("16 November 2026, 5 a day", "2026-11-16"),
            ("Publié le 18 novembre 2026 à 18h25 (heure de Paris)", "2026-11-18T18:25 60"),
            ("le 18 juillet 2026 à 18h25, heure de Paris", "2026-07-18T18:25 120"),
            ("18 de julio de 2026, 18:25 (hora peninsular)", "2026-07-18T18:25 120"),
            ("18.11.2026 um 18:25 Uhr Moskauer Zeit", "2026-11-18T18:25 180"),
            ("18 ноября 2026, 18:25 по московскому времени", "2026-11-18T18:25 180"),
            ("18 July 2026, 18:25 London time", "2026-07-18T18:25 60"),
            ("July 18, 2026 6:25 p.m. Eastern Time", "2026-07-18T18:25 -240"),
            ("18 July 2026, 18:25 Time to read", "2026-07-18T18:25"),
            ("18 July 2026, 18:25, +12 °C in London", "2026-07-18T18:25"),
        ] {
            assert_eq!(shown(text), want, "{text}");
        }
    }
}
