//! Dates that are counted from the day of the visit: `Today, 10:20`, `gestern`, `2 часа назад`.
//!
//! * What this is: a reader for such words in some twenty languages; what it finds is a number of days back, or a
//!   span of time, not yet a date.
//! * Its place: `dates` asks where bylines stand, after all dates that are written in full; `people` takes it away
//!   from names.
//! * Invariants: spans of months and years are none, since nobody knows their day.
//! * What is not here: when the visit was.

use crate::article::people::PUBLISHING;
use crate::article::when::{Piece, clock, clock_before, pieces};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Words for the day of the visit; the parts of one word are those that `when` makes of it.
const TODAY: &str = "today|сегодня|сьогодні|днес|hoy|heute|aujourd ' hui|aujourd ’ hui|oggi|hoje|avui|vandaag|idag|i dag|\
    dzisiaj|dziś|dnes|bugün|tänään|astăzi|σήμερα|اليوم|今 天|今 日|오 늘";
/// For the day before.
const YESTERDAY: &str = "yesterday|вчера|вчора|ayer|gestern|hier|ieri|ontem|ahir|gisteren|igår|i går|i går|wczoraj|včera|\
    dün|eilen|tegnap|χθες|أمس|昨 天|昨 日|어 제";
/// And for that before it.
const BEFORE_YESTERDAY: &str = "позавчера|позавчора|anteayer|antier|vorgestern|avant - hier|anteontem|eergisteren|\
    przedwczoraj|předevčírem|önceki gün|前 天|一 昨 日|그 저 께";

/// What stands before a span that lies behind.
const LEADS: &str = "vor|hace|il y a|há|fa|před|pred|acum|πριν|πριν από|منذ";
/// What stands behind it.
const TAILS: &str = "ago|назад|тому назад|тому|преди|geleden|sedan|siden|temu|önce|fa|atrás|sitten|前|之 前|以 前|전";
/// What stands before its number.
const ABOUT: &str =
    "about|over|almost|etwa|ca|circa|rund|environ|unas|unos|около|примерно|cerca de|約|约";
/// One.
const ONE: &str =
    "a|an|one|un|una|uno|un '|un ’|une|um|uma|ein|eine|einer|einem|een|en|ett|et|один|одну|одна";
/// What stands between hours and minutes.
const AND: &str = "and|und|et|y|e|и|,";
/// What stands between a day and its clock.
const AT: &str = "at|à|a|las|um|в|о|у|om|kl|klo|alle|ore|às|as|o|v|w|ve|saat|godz|στις|la|les";
/// What stands before all of it, besides what tells of publishing.
const ON: &str = "on|at|le|il|el|em|am|du|since";
/// What stands behind.
const BY: &str = "by|in|von|par|por|di|de|от|·";

/// Units that are words of their own.
const EXACT: &[(&str, i64)] = &[
    ("个 小 时", HOUR),
    ("個 小 時", HOUR),
    ("小 时", HOUR),
    ("小 時", HOUR),
    ("時 間", HOUR),
    ("시 간", HOUR),
    ("分 钟", MINUTE),
    ("分 鐘", MINUTE),
    ("分", MINUTE),
    ("분", MINUTE),
    ("天", DAY),
    ("日", DAY),
    ("일", DAY),
    ("周", 7 * DAY),
    ("h", HOUR),
    ("ч", HOUR),
    ("m", MINUTE),
    ("d", DAY),
    ("w", 7 * DAY),
    ("ore", HOUR),
    ("ora", HOUR),
    ("oră", HOUR),
    ("time", HOUR),
    ("timer", HOUR),
    ("dia", DAY),
    ("dias", DAY),
    ("dies", DAY),
    ("día", DAY),
    ("días", DAY),
    ("dag", DAY),
    ("dage", DAY),
    ("dagen", DAY),
    ("dager", DAY),
    ("dagar", DAY),
    ("tag", DAY),
    ("tagen", DAY),
    ("dzień", DAY),
    ("dni", DAY),
    ("den", DAY),
    ("dny", DAY),
    ("day", DAY),
    ("days", DAY),
    ("день", DAY),
    ("дня", DAY),
    ("дней", DAY),
    ("дні", DAY),
    ("днів", DAY),
    ("gün", DAY),
    ("ημέρες", DAY),
];

/// Beginnings of units.
const BEGINNINGS: &[(&str, i64)] = &[
    ("min", MINUTE),
    ("мин", MINUTE),
    ("хвил", MINUTE),
    ("dakika", MINUTE),
    ("λεπτ", MINUTE),
    ("دقيقة", MINUTE),
    ("دقائق", MINUTE),
    ("hour", HOUR),
    ("hr", HOUR),
    ("std", HOUR),
    ("stund", HOUR),
    ("heure", HOUR),
    ("hora", HOUR),
    ("hores", HOUR),
    ("uur", HOUR),
    ("uren", HOUR),
    ("час", HOUR),
    ("годин", HOUR),
    ("godz", HOUR),
    ("hodin", HOUR),
    ("timm", HOUR),
    ("saat", HOUR),
    ("tunti", HOUR),
    ("ώρ", HOUR),
    ("ساع", HOUR),
    ("jour", DAY),
    ("giorn", DAY),
    ("week", 7 * DAY),
    ("woche", 7 * DAY),
    ("semaine", 7 * DAY),
    ("semana", 7 * DAY),
    ("settiman", 7 * DAY),
    ("недел", 7 * DAY),
];

/// How far back a date lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// So many days before that of the visit, at a time of day in seconds.
    Day(i64, Option<i64>),
    /// So many milliseconds before the visit.
    Span(i64),
}

/// What was found, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ago {
    pub(crate) past: Past,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it stands for itself and is no part of a sentence.
    pub(crate) alone: bool,
}

/// A text in pieces, and their words in small letters.
struct Words<'t> {
    pieces: Vec<(usize, Piece<'t>)>,
    small: Vec<String>,
}

/// The first such date in a short text.
pub(crate) fn first(text: &str) -> Option<Ago> {
    if text.len() > 300 {
        return None;
    }
    let pieces = pieces(text);
    let small = pieces.iter().map(|(_, piece)| match piece {
        Piece::Word(word) => word.to_lowercase(),
        Piece::Sign(sign) => sign.to_string(),
        Piece::Number { .. } => String::new(),
    });
    let words = Words { small: small.collect(), pieces };
    (0..words.small.len()).find_map(|at| {
        let (past, from, next) = words
            .span(at)
            .map(|(ms, next)| (Past::Span(ms), at, next))
            .or_else(|| words.day(at))?;
        let place = |at: usize| words.pieces.get(at).map_or(text.len(), |piece| piece.0);
        let is_bare = matches!(past, Past::Day(_, None));
        let alone = words.may_begin(from) && words.may_end(next, is_bare);
        Some(Ago { past, start: place(from), end: place(next), alone })
    })
}

impl Words<'_> {
    /// Where the longest phrase of a list ends that stands here.
    fn phrase(&self, at: usize, list: &str) -> Option<usize> {
        let fits = |phrase: &str| {
            let mut next = at;
            for part in phrase.split(' ') {
                if self.small.get(next).is_none_or(|word| word != part) {
                    return None;
                }
                next += 1;
            }
            Some(next)
        };
        list.split('|').filter_map(fits).max()
    }

    /// Behind a phrase if it is there.
    fn behind(&self, at: usize, list: &str) -> usize {
        self.phrase(at, list).unwrap_or(at)
    }

    /// A number and a unit.
    fn amount(&self, at: usize) -> Option<(i64, usize)> {
        let at = self.behind(at, ABOUT);
        let (number, next) = match self.pieces.get(at)?.1 {
            Piece::Number { value, digits: 1..=3 } => (value, at + 1),
            _ => (1, self.phrase(at, ONE)?),
        };
        let (unit, next) = self.unit(next)?;
        Some((number * unit, next))
    }

    fn unit(&self, at: usize) -> Option<(i64, usize)> {
        let exact = EXACT.iter().find_map(|(word, ms)| Some((*ms, self.phrase(at, word)?)));
        let word = self.small.get(at)?;
        exact.or_else(|| {
            let (_, ms) = BEGINNINGS.iter().find(|(beginning, _)| word.starts_with(beginning))?;
            Some((*ms, at + 1))
        })
    }

    /// A span that lies behind.
    fn span(&self, at: usize) -> Option<(i64, usize)> {
        let lead = self.phrase(at, LEADS);
        let from = lead.unwrap_or(at);
        // `час назад`
        let (mut whole, mut next) = self
            .amount(from)
            .or_else(|| self.unit(from).filter(|_| lead.is_none() && self.is_word(at)))?;
        if let Some((more, last)) = self.amount(self.behind(next, AND)).filter(|a| a.0 < whole) {
            (whole, next) = (whole + more, last);
        }
        let dot = usize::from(self.small.get(next).is_some_and(|sign| sign == "."));
        let end = self.phrase(next, TAILS).or_else(|| self.phrase(next + dot, TAILS));
        end.or(lead.map(|_| next)).map(|end| (whole, end))
    }

    fn is_word(&self, at: usize) -> bool {
        matches!(self.pieces[at].1, Piece::Word(word) if word.chars().count() > 2)
    }

    /// A day with its clock, and where both begin and end.
    fn day(&self, at: usize) -> Option<(Past, usize, usize)> {
        let days = [TODAY, YESTERDAY, BEFORE_YESTERDAY];
        let back = |back: usize| Some((back as i64, self.phrase(at, days[back])?));
        let (back, next) = (0..days.len()).find_map(back)?;
        let clock_at = (next..(next + 5).min(self.pieces.len()))
            .find(|&i| matches!(self.pieces[i].1, Piece::Number { .. }));
        let is_near = |to: &usize| {
            (next..*to).all(|i| match self.pieces[i].1 {
                Piece::Word(_) => AT.split('|').any(|word| word == self.small[i]),
                _ => true,
            })
        };
        if clock_at.is_some_and(|to| is_near(&to))
            && let Some((seconds, _, last)) = clock(&self.pieces, next)
        {
            return Some((Past::Day(back, Some(seconds)), at, last));
        }
        if let Some((start, seconds, _)) = clock_before(&self.pieces, at) {
            return Some((Past::Day(back, Some(seconds)), start, next));
        }
        Some((Past::Day(back, None), at, next))
    }

    /// Whether a date may begin here: at the start, behind a sign or what tells of publishing.
    fn may_begin(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        let small = self.small[before].as_str();
        match self.pieces[before].1 {
            Piece::Word(_) => {
                ON.split('|').any(|word| word == small)
                    || PUBLISHING.split_ascii_whitespace().any(|word| word == small)
            }
            Piece::Sign(sign) if sign.is_alphabetic() => "于於在布表開新信".contains(sign),
            Piece::Sign(sign) => !matches!(sign, '\'' | '’' | '.' | '-' | '«' | '"' | '“' | '„'),
            Piece::Number { .. } => false,
        }
    }

    /// Whether it may end here. What is `bare` is the only thing between two bars.
    fn may_end(&self, next: usize, bare: bool) -> bool {
        match self.pieces.get(next).map(|piece| piece.1) {
            None => true,
            Some(Piece::Sign('|' | '•' | '·' | '/' | ')' | '–' | '—' | '-')) => true,
            Some(Piece::Sign(sign)) if sign.is_alphabetic() => !bare && "发發公更配".contains(sign),
            Some(Piece::Sign(sign)) => !bare && !matches!(sign, '\'' | '’'),
            Some(Piece::Word(_)) => !bare && self.phrase(next, BY).is_some(),
            Some(Piece::Number { .. }) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Past> {
        first(text).filter(|ago| ago.alone).map(|ago| ago.past)
    }

    #[test]
    fn days_counted_from_today_are_read_in_many_languages() {
        let clock = Some(10 * 3600 + 20 * 60);
        for (text, want) in [
            ("Сегодня, 10:20", Past::Day(0, clock)),
            ("Сегодня в 10:20", Past::Day(0, clock)),
            ("10:20, сегодня", Past::Day(0, clock)),
            ("Вчера, 18:05", Past::Day(1, Some(18 * 3600 + 300))),
            ("Позавчера, 10:20", Past::Day(2, clock)),
            ("Today, 10:20", Past::Day(0, clock)),
            ("Today at 10:20 am", Past::Day(0, clock)),
            ("Yesterday, 10:20", Past::Day(1, clock)),
            ("Hoy, 10:20", Past::Day(0, clock)),
            ("Hoy a las 10:20", Past::Day(0, clock)),
            ("Ayer", Past::Day(1, None)),
            ("heute, 10:20 Uhr", Past::Day(0, clock)),
            ("gestern", Past::Day(1, None)),
            ("aujourd'hui à 10h20", Past::Day(0, clock)),
            ("Publié aujourd’hui à 10h20", Past::Day(0, clock)),
            ("hier", Past::Day(1, None)),
            ("avant-hier", Past::Day(2, None)),
            ("oggi", Past::Day(0, None)),
            ("ieri alle 10:20", Past::Day(1, clock)),
            ("hoje", Past::Day(0, None)),
            ("ontem", Past::Day(1, None)),
            ("今天 10:20", Past::Day(0, clock)),
            ("今天上午10:20", Past::Day(0, clock)),
            ("昨天", Past::Day(1, None)),
            ("今日", Past::Day(0, None)),
            ("Ann Lee | Today", Past::Day(0, None)),
        ] {
            assert_eq!(found(text), Some(want), "{text}");
        }
    }

    #[test]
    fn spans_that_lie_behind_are_read_in_many_languages() {
        for (text, want) in [
            ("2 часа назад", 2 * HOUR),
            ("час назад", HOUR),
            ("2 hours ago", 2 * HOUR),
            ("2h ago", 2 * HOUR),
            ("an hour ago", HOUR),
            ("1 hour 20 minutes ago", 80 * MINUTE),
            ("Published 35 minutes ago", 35 * MINUTE),
            ("By Ann Lee, 35 mins ago", 35 * MINUTE),
            ("hace 2 horas", 2 * HOUR),
            ("hace una hora", HOUR),
            ("vor 2 Stunden", 2 * HOUR),
            ("vor einer Stunde", HOUR),
            ("vor 3 Tagen", 3 * DAY),
            ("il y a 2 heures", 2 * HOUR),
            ("2 ore fa", 2 * HOUR),
            ("un'ora fa", HOUR),
            ("há 2 horas", 2 * HOUR),
            ("2 uur geleden", 2 * HOUR),
            ("2小时前", 2 * HOUR),
            ("3分钟前", 3 * MINUTE),
            ("発表 2時間前", 2 * HOUR),
            ("2 days ago", 2 * DAY),
        ] {
            let found = found(text);
            assert_eq!(found, Some(Past::Span(want)), "{text}");
        }
    }

    #[test]
    fn words_of_a_sentence_tell_no_date() {
        for text in [
            "Today's weather",
            "Hoy en portada",
            "USA Today",
            "Chris Hoy",
            "The bridge fell 2 hours ago",
            "5 min read",
            "2 hours of music",
            "Hier lesen Sie mehr",
            "今天的新闻",
            "Today, the council met",
            "2 months ago",
            "vor Ort",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
