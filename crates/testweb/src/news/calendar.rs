//! Days and clocks as pages write them.
//!
//! Times are milliseconds since 1970; a zone is its distance from Greenwich in hours.

use super::sites::Lang;

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

const EN_DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const DE_DAYS: [&str; 7] =
    ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"];
const ZH_DAYS: [&str; 7] = ["周一", "周二", "周三", "周四", "周五", "周六", "周日"];
const EN_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DE_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// A time on a calendar and a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) year: i64,
    pub(crate) month: usize,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    /// From Monday, which is 0.
    pub(crate) weekday: usize,
    zone: i64,
}

impl Moment {
    /// What calendar and clock show in a zone.
    pub(crate) fn at(ms: i64, zone: i64) -> Self {
        let local = ms + zone * HOUR;
        let days = local.div_euclid(DAY);
        let rest = local.rem_euclid(DAY);
        // Years that begin in March, so that the odd day is the last.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        Moment {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month: month as usize,
            day: of_year - (153 * from_march + 2) / 5 + 1,
            hour: rest / HOUR,
            minute: rest % HOUR / MINUTE,
            weekday: (days + 3).rem_euclid(7) as usize,
            zone,
        }
    }

    /// `2026-11-16T08:13:00+01:00`.
    pub(crate) fn iso(&self) -> String {
        let zone = match self.zone {
            0 => "Z".to_owned(),
            hours => format!("+{hours:02}:00"),
        };
        format!("{}T{:02}:{:02}:00{zone}", self.ymd("-"), self.hour, self.minute)
    }

    /// `Mon, 16 Nov 2026 08:13:00 +0100`.
    pub(crate) fn mail(&self) -> String {
        let Moment { year, day, hour, minute, zone, .. } = self;
        let (name, month) = (&EN_DAYS[self.weekday][..3], &EN_MONTHS[self.month - 1][..3]);
        format!("{name}, {day:02} {month} {year} {hour:02}:{minute:02}:00 +{zone:02}00")
    }

    /// Year, month and day with something between them.
    pub(crate) fn ymd(&self, between: &str) -> String {
        format!("{}{between}{:02}{between}{:02}", self.year, self.month, self.day)
    }

    /// As readers of a language see it; the second style is the other usual one.
    pub(crate) fn shown(&self, lang: Lang, style: usize) -> String {
        let Moment { year, month, day, hour, minute, .. } = self;
        let clock = format!("{hour:02}:{minute:02}");
        match (lang, style % 2) {
            (Lang::En, 0) => format!("{day} {} {year}, {clock}", EN_MONTHS[month - 1]),
            (Lang::En, _) => {
                let name = EN_DAYS[self.weekday];
                format!("{name}, {} {day}, {year} {clock}", EN_MONTHS[month - 1])
            }
            (Lang::De, 0) => format!("{day:02}.{month:02}.{year}, {clock} Uhr"),
            (Lang::De, _) => format!("{day}. {} {year}, {clock} Uhr", DE_MONTHS[month - 1]),
            (Lang::Zh, 0) => format!("{year}年{month:02}月{day:02}日 {clock}"),
            (Lang::Zh, _) => format!("{} {clock}", self.ymd("-")),
        }
    }

    /// The name of the day.
    pub(crate) fn day_name(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => EN_DAYS[self.weekday],
            Lang::De => DE_DAYS[self.weekday],
            Lang::Zh => ZH_DAYS[self.weekday],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_pages_write_it() {
        let moment = Moment::at(1_794_812_400_000, 1);
        assert_eq!(moment.iso(), "2026-11-16T08:00:00+01:00");
        assert_eq!(moment.mail(), "Mon, 16 Nov 2026 08:00:00 +0100");
        assert_eq!(moment.shown(Lang::De, 1), "16. November 2026, 08:00 Uhr");
        assert_eq!(Moment::at(951_782_400_000, 0).ymd("/"), "2000/02/29");
    }
}
