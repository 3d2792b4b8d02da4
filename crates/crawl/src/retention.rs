//! Which versions of a page are kept.
//!
//! * What this is: [`Keep`], a rule as people write it, and [`going`], which of a page's captures
//!   go by it. Nothing is read or changed here.
//! * Its place: `prune` asks for every page.
//! * Invariants, whatever the rule: the last capture stays, so do the last that tells how the page
//!   is and the last that has its bytes; nothing younger than the given time goes; a capture that says
//!   "as it was" stays together with the one that says how that was.
//! * What is not here: bytes that other captures refer to (`forget`), which are moved, not kept.

use argiope_model::{Capture, OutcomeKind, Time};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const DAY: i64 = 86_400_000;

/// Which versions of a page are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Keep {
    /// All of them.
    #[default]
    All,
    /// The last so many; visits that found the same belong to one version.
    Last(u32),
    /// The last of every day, as it was first seen that day.
    Daily,
    /// The last of every week, which begins on a Monday.
    Weekly,
    /// The last of every month.
    Monthly,
    /// The last of every year.
    Yearly,
}

/// What is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no rule; write all, daily, weekly, monthly, yearly or, for example, last:5")]
pub struct NoRule(String);

impl FromStr for Keep {
    type Err = NoRule;

    fn from_str(text: &str) -> Result<Self, NoRule> {
        let last = |count: &str| count.parse().ok().filter(|n| *n > 0).map(Keep::Last);
        let keep = match text {
            "all" => Some(Keep::All),
            "daily" => Some(Keep::Daily),
            "weekly" => Some(Keep::Weekly),
            "monthly" => Some(Keep::Monthly),
            "yearly" => Some(Keep::Yearly),
            other => other.strip_prefix("last:").and_then(last),
        };
        keep.ok_or_else(|| NoRule(text.to_owned()))
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::All => f.write_str("all"),
            Keep::Last(n) => write!(f, "last:{n}"),
            Keep::Daily => f.write_str("daily"),
            Keep::Weekly => f.write_str("weekly"),
            Keep::Monthly => f.write_str("monthly"),
            Keep::Yearly => f.write_str("yearly"),
        }
    }
}

impl TryFrom<String> for Keep {
    type Error = NoRule;
    fn try_from(text: String) -> Result<Self, NoRule> {
        text.parse()
    }
}

impl From<Keep> for String {
    fn from(keep: Keep) -> String {
        keep.to_string()
    }
}

/// Whether a capture tells how the page is; failures on the way tell nothing.
fn tells(c: &Capture) -> bool {
    c.outcome.is_success() || !(c.outcome.is_transient() || c.outcome.status == 0)
}

fn has_bytes(c: &Capture) -> bool {
    c.outcome.kind == OutcomeKind::Fetched
}

/// The capture that says what "as it was" means at the capture `n`.
fn base(captures: &[Capture], n: usize) -> Option<usize> {
    captures[..n].iter().rposition(has_bytes)
}

/// Which captures of a page go, of those older than `before`; captures are in the order of their
/// times.
pub(crate) fn going(captures: &[Capture], keep: Keep, before: Time) -> Vec<bool> {
    let mut stays: Vec<bool> = captures.iter().map(|c| c.time >= before).collect();
    let latest = [
        captures.len().checked_sub(1),
        captures.iter().rposition(tells),
        captures.iter().rposition(|c| c.outcome.is_success()),
        captures.iter().rposition(has_bytes),
    ];
    latest.into_iter().flatten().for_each(|n| stays[n] = true);
    match keep {
        Keep::All => stays.fill(true),
        Keep::Last(n) => stays[first_of_last(captures, n as usize)..].fill(true),
        Keep::Daily | Keep::Weekly | Keep::Monthly | Keep::Yearly => {
            let old = captures.partition_point(|c| c.time < before);
            let mut from = 0;
            for period in captures[..old].chunk_by(|a, b| period(keep, a) == period(keep, b)) {
                let best = period.iter().rposition(has_bytes).map(|n| first_alike(period, n));
                let best = best.or_else(|| period.iter().rposition(|c| c.outcome.is_success()));
                let best = best.or_else(|| period.iter().rposition(tells));
                stays[from + best.unwrap_or(period.len() - 1)] = true;
                from += period.len();
            }
        }
    }
    for n in 0..captures.len() {
        let refers = stays[n] && captures[n].outcome.kind == OutcomeKind::NotModified;
        if let Some(base) = refers.then(|| base(captures, n)).flatten() {
            stays[base] = true;
        }
    }
    stays.into_iter().map(|stays| !stays).collect()
}

/// The first of the visits one after another that found what the visit `n` did. Its record is the one
/// that the others refer to, as a rule: what it holds need not be copied.
fn first_alike(captures: &[Capture], n: usize) -> usize {
    let mut first = n;
    for (at, c) in captures[..n].iter().enumerate().rev().filter(|(_, c)| tells(c)) {
        match c.outcome.kind {
            OutcomeKind::Fetched if c.body_digest == captures[n].body_digest => first = at,
            OutcomeKind::NotModified => {}
            _ => break,
        }
    }
    first
}

/// The number of a period; two captures of one period follow each other.
fn period(keep: Keep, c: &Capture) -> i64 {
    let day = c.time.0.div_euclid(DAY);
    let digits = |n: usize| c.time.digits14().get(..n).and_then(|d| d.parse().ok()).unwrap_or(day);
    match keep {
        // The first day of all was a Thursday.
        Keep::Weekly => (day + 3).div_euclid(7),
        Keep::Monthly => digits(6),
        Keep::Yearly => digits(4),
        _ => day,
    }
}

/// Where the `n` last versions begin. A version is what visits one after another have found the
/// same; a page that never told anything has its visits.
fn first_of_last(captures: &[Capture], n: usize) -> usize {
    let alike = |a: &Capture, b: &Capture| match (has_bytes(a), has_bytes(b)) {
        (true, true) => a.body_digest == b.body_digest,
        (false, false) => {
            (a.outcome.status, &a.outcome.detail) == (b.outcome.status, &b.outcome.detail)
        }
        _ => false,
    };
    let mut begins: Vec<usize> = Vec::new();
    let mut last: Option<&Capture> = None;
    for (at, c) in captures.iter().enumerate().filter(|(_, c)| tells(c)) {
        // As it was: also behind an error.
        let same = c.outcome.kind == OutcomeKind::NotModified
            && last.is_some_and(|l| l.outcome.is_success());
        if !same && last.is_none_or(|last| !alike(last, c)) {
            begins.push(at);
        }
        if !same {
            last = Some(c);
        }
    }
    match begins.len().checked_sub(n) {
        Some(skip) => begins.get(skip).copied().unwrap_or(0),
        None if begins.is_empty() => captures.len().saturating_sub(n),
        None => 0,
    }
}

/// Which of the captures that go were versions of their own: those at whose times the page was
/// otherwise than what is shown for them from now on.
pub(crate) fn lost(captures: &[Capture], goes: &[bool]) -> Vec<Time> {
    let held = |n: usize| match captures[n].outcome.kind {
        OutcomeKind::NotModified => base(captures, n).unwrap_or(n),
        _ => n,
    };
    let alike = |a: usize, b: usize| {
        let (a, b) = (&captures[held(a)], &captures[held(b)]);
        has_bytes(a) && has_bytes(b) && a.body_digest == b.body_digest
    };
    let mut shown: Option<usize> = None;
    let mut out = Vec::new();
    for n in (0..captures.len()).filter(|n| tells(&captures[*n])) {
        if !goes[n] {
            shown = Some(n);
        } else if shown.is_none_or(|shown| !alike(shown, n)) {
            out.push(captures[n].time);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{Directives, DocId, FetchOutcome, JobId};
    use serde_json::json;

    const HOUR: i64 = 3_600_000;
    const LATER: Time = Time(i64::MAX);

    /// A visit at an hour: a letter is a body, `=` is 304, `4` is 404, `x` is a failure on the way.
    fn visits(told: &[(i64, char)]) -> Vec<Capture> {
        let visit = |&(hour, what): &(i64, char)| {
            let outcome = match what {
                '=' => FetchOutcome::new(OutcomeKind::NotModified, 304),
                '4' => FetchOutcome::new(OutcomeKind::ClientError, 404),
                'x' => FetchOutcome::new(OutcomeKind::TimedOut, 0),
                _ => FetchOutcome::new(OutcomeKind::Fetched, 200),
            };
            serde_json::from_value(json!({
                "doc": DocId(1),
                "job": JobId(1),
                "time": Time(hour * HOUR),
                "outcome": outcome,
                "revisit": false,
                "mime": "text/html",
                "bytes": 1,
                "payload_digest": vec![what as u8; 20],
                "body_digest": vec![what as u8; 32],
                "elapsed_ms": 0,
                "directives": Directives::default(),
            }))
            .expect("a capture")
        };
        told.iter().map(visit).collect()
    }

    /// The hours that stay.
    fn kept(told: &[(i64, char)], keep: &str, before: Time) -> Vec<i64> {
        let all = visits(told);
        let goes = going(&all, keep.parse().unwrap(), before);
        all.iter().zip(goes).filter(|(_, goes)| !goes).map(|(c, _)| c.time.0 / HOUR).collect()
    }

    #[test]
    fn a_rule_is_read_as_it_is_written() {
        for text in ["all", "daily", "weekly", "monthly", "yearly", "last:5"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        for text in ["", "last", "last:", "last:0", "last:-1", "last:x", "hourly", "Daily"] {
            assert!(text.parse::<Keep>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_of_every_day_stays_and_everything_young() {
        let told = [(1, 'a'), (5, 'b'), (23, 'c'), (25, 'd'), (30, 'e'), (50, 'f'), (51, 'g')];
        assert_eq!(kept(&told, "daily", LATER), [23, 30, 51]);
        assert_eq!(kept(&told, "daily", Time(30 * HOUR)), [23, 25, 30, 50, 51]);
        assert_eq!(kept(&told, "all", LATER).len(), told.len());
        assert_eq!(kept(&told, "yearly", LATER), [51]);
    }

    #[test]
    fn of_visits_that_found_the_same_on_a_day_the_first_stays() {
        let told =
            [(1, 'a'), (2, 'b'), (3, 'x'), (4, '='), (5, 'b'), (30, 'b'), (31, 'b'), (60, 'c')];
        assert_eq!(kept(&told, "daily", LATER), [2, 30, 60]);
        // The latest stays as well.
        assert_eq!(kept(&told[..7], "daily", LATER), [2, 30, 31]);
        // Back as it was is not as it was all the time.
        assert_eq!(kept(&[(1, 'a'), (2, 'b'), (3, 'a'), (30, 'c')], "daily", LATER), [3, 30]);
        assert_eq!(kept(&[(1, 'a'), (2, '4'), (3, 'a'), (30, 'c')], "daily", LATER), [3, 30]);
    }

    #[test]
    fn weeks_begin_on_monday_and_months_with_their_first_day() {
        // Hour 0 is Thursday, 1 January 1970; Monday is the 5th.
        let told = [(0, 'a'), (4 * 24 - 1, 'b'), (4 * 24, 'c'), (31 * 24 - 1, 'd'), (31 * 24, 'e')];
        assert_eq!(kept(&told, "weekly", LATER), [95, 96, 744]);
        assert_eq!(kept(&told, "monthly", LATER), [743, 744]);
    }

    #[test]
    fn visits_that_found_the_same_are_one_version() {
        let told = [(1, 'a'), (2, 'b'), (3, 'b'), (4, 'x'), (5, '='), (6, 'c'), (7, '=')];
        assert_eq!(kept(&told, "last:1", LATER), [6, 7]);
        assert_eq!(kept(&told, "last:2", LATER), [2, 3, 4, 5, 6, 7]);
        assert_eq!(kept(&told, "last:9", LATER).len(), told.len());
        let away = [(1, 'a'), (2, '4'), (3, '4'), (4, 'b')];
        assert_eq!(kept(&away, "last:2", LATER), [2, 3, 4]);
        let never = [(1, 'x'), (2, 'x'), (3, 'x')];
        assert_eq!(kept(&never, "last:2", LATER), [2, 3]);
    }

    #[test]
    fn the_latest_and_the_latest_good_version_stay_whatever_the_rule() {
        let told = [(1, 'a'), (2, 'b'), (30, '4'), (60, 'x')];
        assert_eq!(kept(&told, "last:1", LATER), [2, 30, 60]);
        assert_eq!(kept(&told, "yearly", LATER), [2, 30, 60]);
    }

    #[test]
    fn what_is_as_it_was_stays_with_how_it_was() {
        // The 304 of the second day means the version of the first, which is not that day's last.
        let told = [(1, 'a'), (2, 'b'), (3, '='), (30, '='), (60, 'c')];
        assert_eq!(kept(&told, "daily", LATER), [2, 30, 60]);
        assert_eq!(kept(&told, "monthly", LATER), [60]);
        assert_eq!(kept(&told, "monthly", Time(30 * HOUR)), [2, 30, 60]);
    }

    /// All pasts of six visits, ten hours apart.
    fn pasts() -> impl Iterator<Item = Vec<Capture>> {
        let told = ['a', 'b', '=', '4', 'x'];
        (0..told.len().pow(6)).map(move |n| {
            let visit = |at: u32| (i64::from(at) * 10, told[n / told.len().pow(at) % told.len()]);
            visits(&(0..6).map(visit).collect::<Vec<_>>())
        })
    }

    #[test]
    fn every_rule_keeps_what_must_stay_and_twice_is_once() {
        for all in pasts() {
            for rule in ["last:1", "last:2", "daily", "yearly"] {
                let (keep, before) = (rule.parse().unwrap(), Time(45 * HOUR));
                let goes = going(&all, keep, before);
                let told: String = all.iter().map(|c| c.body_digest[0] as char).collect();
                let stays = |n: Option<usize>| n.is_none_or(|n| !goes[n]);
                assert!(!goes[5], "{rule} {told}: the last visit");
                assert!(stays(all.iter().rposition(tells)), "{rule} {told}: how it is");
                assert!(stays(all.iter().rposition(has_bytes)), "{rule} {told}: its bytes");
                for n in 0..6 {
                    assert!(!(goes[n] && all[n].time >= before), "{rule} {told}: {n} is young");
                    if !goes[n] && all[n].outcome.kind == OutcomeKind::NotModified {
                        assert!(stays(base(&all, n)), "{rule} {told}: what {n} refers to");
                    }
                }
                let kept = all.iter().zip(&goes).filter(|(_, goes)| !**goes);
                let kept: Vec<Capture> = kept.map(|(c, _)| c.clone()).collect();
                let again = going(&kept, keep, before);
                assert!(!again.contains(&true), "{rule} {told}: {goes:?}, then {again:?}");
                let gone = lost(&all, &goes);
                assert!(
                    gone.iter().all(|t| all.iter().zip(&goes).any(|(c, g)| c.time == *t && *g))
                );
            }
        }
    }

    #[test]
    fn a_version_is_lost_when_what_is_shown_in_its_place_is_another() {
        let told = [(1, 'a'), (2, 'a'), (3, 'b'), (4, '='), (5, 'x'), (6, 'c')];
        let all = visits(&told);
        let hours = |goes: [bool; 6]| -> Vec<i64> {
            lost(&all, &goes).iter().map(|t| t.0 / HOUR).collect()
        };
        assert_eq!(hours([false, true, true, true, true, false]), [3, 4]);
        assert_eq!(hours([false, true, false, true, true, false]), [] as [i64; 0]);
        assert_eq!(hours([true, true, true, true, true, false]), [1, 2, 3, 4]);
    }
}
