//! How a host has behaved, and what that does to the next request.
//!
//! * What this is: `(state, what was heard, now) -> (state, not before)`. 429, 503 and answers
//!   that are slow to begin push the next request further away, each time further; a good answer
//!   heals half of it. A host that has not answered for a set time is given up.
//! * Its place: the heap keeps one per loaded host; the store keeps it with the host, so that a
//!   restart does not forget that a server was tired.
//! * A host whose site was excluded by hand is refused like one that was given up, for as long as
//!   that holds.
//! * What is not here: the ordinary delay and Crawl-delay. What this adds comes on top.

use crate::admit::SkipReason;
use argiope_model::{FetchOutcome, OutcomeKind, Time};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How patient we are with hosts that do not answer well.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The first pause after 429, 503 or no answer; doubled each time.
    pub backoff: Duration,
    /// The longest such pause.
    pub backoff_max: Duration,
    /// An answer that takes longer than this to begin is slow.
    pub slow_answer: Duration,
    /// A host that has not answered for so long is given up.
    pub give_up_after: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            backoff: Duration::from_secs(10),
            backoff_max: Duration::from_secs(3600),
            slow_answer: Duration::from_secs(2),
            give_up_after: Duration::from_secs(1800),
        }
    }
}

/// A host that was given up is tried again after this long.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(86_400);
/// A `Retry-After` or a Crawl-delay longer than this is as good as a no.
const LONGEST_WAIT: Duration = Duration::from_secs(7 * 86_400);
/// One lost request does not make a host dead, however long ago the last one was.
const FAILURES_AT_LEAST: u32 = 3;

/// How an answer reflects on its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// It answered, whatever it said.
    #[default]
    Good,
    /// It answered with an error of its own: no reason to slow down, none to speed up.
    Troubled,
    /// It asks us to slow down: 429 or 503.
    Busy,
    /// It did not answer.
    Silent,
}

impl Manner {
    /// What an outcome says of the host.
    pub fn of(outcome: &FetchOutcome) -> Self {
        match outcome.kind {
            // It had begun to answer: that page is broken, not the host.
            OutcomeKind::ConnectionLost if outcome.status != 0 => Manner::Troubled,
            OutcomeKind::NoAddress
            | OutcomeKind::ConnectFailed
            | OutcomeKind::ConnectionLost
            | OutcomeKind::TimedOut
            | OutcomeKind::TlsFailed => Manner::Silent,
            _ => Self::of_status(outcome.status),
        }
    }

    /// What a status says of the host; 0 when the outcome has none.
    pub fn of_status(status: u16) -> Self {
        match status {
            429 | 503 => Manner::Busy,
            500.. => Manner::Troubled,
            _ => Manner::Good,
        }
    }
}

/// What was heard of a host with an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// How it reflects on the host.
    pub manner: Manner,
    /// From the request to the first byte of the answer.
    pub waited: Duration,
    /// The host asks not to be asked before this time.
    pub retry_after: Option<Time>,
}

/// How a host has behaved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temper {
    /// The pause after each answer, beyond the ordinary delay, in milliseconds.
    pub pause_ms: u64,
    /// Since when it has not answered well.
    pub failing_since: Option<Time>,
    /// Requests in a row that it did not answer well.
    pub failures: u32,
    /// When it was given up.
    pub given_up: Option<Time>,
    /// Its site was excluded by hand: nothing it does changes that.
    pub excluded: bool,
}

impl Temper {
    /// Takes in an answer that ended then; says before when the host must not be asked again,
    /// where that is more than the ordinary delay.
    pub fn hear(&mut self, heard: &Heard, patience: &Patience, end: Time) -> Option<Time> {
        let millis = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let most = millis(patience.backoff_max);
        match heard.manner {
            Manner::Good => {
                (self.failing_since, self.failures, self.given_up) = (None, 0, None);
                self.pause_ms /= 2;
                // Below the first step there is nothing left to heal.
                if self.pause_ms < millis(patience.backoff) / 2 {
                    self.pause_ms = 0;
                }
                if heard.waited > patience.slow_answer {
                    let pause = millis(heard.waited).saturating_mul(2).min(most);
                    self.pause_ms = self.pause_ms.max(pause);
                }
            }
            Manner::Troubled => {}
            Manner::Busy | Manner::Silent => {
                let first = millis(patience.backoff);
                self.pause_ms = self.pause_ms.saturating_mul(2).clamp(first.min(most), most);
                let since = *self.failing_since.get_or_insert(end);
                self.failures = self.failures.saturating_add(1);
                if self.failures >= FAILURES_AT_LEAST && end.since(since) >= patience.give_up_after
                {
                    self.given_up.get_or_insert(end);
                }
            }
        }
        let asked = heard.retry_after.filter(|until| *until > end);
        if let Some(until) = asked {
            self.wait_until(until, end);
        }
        let pause = (self.pause_ms > 0).then(|| end.plus(Duration::from_millis(self.pause_ms)));
        asked.max(pause)
    }

    /// The host wants to be left alone until then. Where that is too long, it is given up, for as
    /// long as it says and not for a day only.
    pub fn wait_until(&mut self, until: Time, now: Time) {
        if until.since(now) > LONGEST_WAIT {
            let day = i64::try_from(TRY_AGAIN_AFTER.as_millis()).unwrap_or(i64::MAX);
            self.given_up = Some(Time(until.0.saturating_sub(day)));
        }
    }

    /// Whether nothing is asked of the host any more, for now.
    pub fn is_given_up(&self, now: Time) -> bool {
        self.given_up.is_some_and(|at| now.since(at) < TRY_AGAIN_AFTER)
    }

    /// Why nothing is asked of the host, where that is so: its rows are refused, and need not
    /// wait for that until it could be asked.
    pub fn refuses(&self, now: Time) -> Option<SkipReason> {
        match self {
            Temper { excluded: true, .. } => Some(SkipReason::Excluded),
            temper if temper.is_given_up(now) => Some(SkipReason::GivenUp),
            _ => None,
        }
    }

    /// A host given up long ago gets another chance.
    pub fn reconsider(&mut self, now: Time) {
        if self.given_up.is_some() && !self.is_given_up(now) {
            *self = Temper { excluded: self.excluded, ..Temper::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(manner: Manner) -> Heard {
        Heard { manner, ..Heard::default() }
    }

    fn patience() -> Patience {
        Patience { backoff: Duration::from_secs(10), ..Patience::default() }
    }

    #[test]
    fn a_busy_host_is_asked_ever_more_rarely_and_success_heals_it() {
        let (mut temper, rules) = (Temper::default(), patience());
        let mut pauses = Vec::new();
        for manner in [Manner::Busy, Manner::Busy, Manner::Busy, Manner::Good, Manner::Good] {
            temper.hear(&heard(manner), &rules, Time(0));
            pauses.push(temper.pause_ms);
        }
        assert_eq!(pauses, [10_000, 20_000, 40_000, 20_000, 10_000]);
        temper.hear(&heard(Manner::Good), &rules, Time(0));
        assert_eq!(temper.hear(&heard(Manner::Good), &rules, Time(0)), None);
    }

    #[test]
    fn the_pause_has_a_longest() {
        let (mut temper, rules) = (Temper::default(), patience());
        for _ in 0..100 {
            temper.hear(&heard(Manner::Busy), &rules, Time(0));
        }
        assert_eq!(temper.pause_ms, 3_600_000);
    }

    #[test]
    fn retry_after_counts_where_it_is_longer() {
        let rules = patience();
        let asks = |ms| Heard { retry_after: Some(Time(ms)), ..heard(Manner::Busy) };
        assert_eq!(Temper::default().hear(&asks(500), &rules, Time(0)), Some(Time(10_000)));
        assert_eq!(Temper::default().hear(&asks(50_000), &rules, Time(0)), Some(Time(50_000)));
        // On a good answer it is a wish as well.
        let good = Heard { retry_after: Some(Time(500)), ..Heard::default() };
        assert_eq!(Temper::default().hear(&good, &rules, Time(0)), Some(Time(500)));
    }

    #[test]
    fn a_host_is_given_up_after_its_time_and_not_for_one_lost_request() {
        let (mut temper, rules) = (Temper::default(), patience());
        let hour = 3_600_000;
        temper.hear(&heard(Manner::Silent), &rules, Time(0));
        temper.hear(&heard(Manner::Silent), &rules, Time(hour));
        assert!(!temper.is_given_up(Time(hour)), "two are too few");
        temper.hear(&heard(Manner::Silent), &rules, Time(hour + 1));
        assert!(temper.is_given_up(Time(hour + 1)));
        let mut quick = Temper::default();
        for n in 0..20 {
            quick.hear(&heard(Manner::Silent), &rules, Time(n));
        }
        assert!(!quick.is_given_up(Time(20)), "its time is not up");
        temper.reconsider(Time(hour + 2));
        assert!(temper.is_given_up(Time(hour + 2)));
        temper.reconsider(Time(26 * hour));
        assert_eq!(temper, Temper::default());
    }

    #[test]
    fn an_answer_of_any_kind_ends_the_silence_but_trouble_heals_nothing() {
        let (mut temper, rules) = (Temper::default(), patience());
        temper.hear(&heard(Manner::Silent), &rules, Time(0));
        temper.hear(&heard(Manner::Troubled), &rules, Time(1));
        assert_eq!((temper.pause_ms, temper.failures), (10_000, 1));
        temper.hear(&heard(Manner::Good), &rules, Time(2));
        assert_eq!((temper.failing_since, temper.failures), (None, 0));
    }

    #[test]
    fn a_host_that_asks_for_a_year_is_given_up_for_a_year() {
        let mut temper = Temper::default();
        let year = 365 * 86_400_000;
        let asks = Heard { retry_after: Some(Time(year)), ..heard(Manner::Busy) };
        assert_eq!(temper.hear(&asks, &patience(), Time(0)), Some(Time(year)));
        assert!(temper.is_given_up(Time(0)) && temper.is_given_up(Time(year - 1)));
        assert!(!temper.is_given_up(Time(year)));
    }

    #[test]
    fn an_excluded_host_stays_so_whatever_it_does_and_whenever_it_is_looked_at() {
        let mut temper = Temper { excluded: true, given_up: Some(Time(0)), ..Temper::default() };
        temper.hear(&heard(Manner::Good), &patience(), Time(1));
        temper.given_up = Some(Time(0));
        temper.reconsider(Time(90_000_000));
        assert_eq!(temper, Temper { excluded: true, ..Temper::default() });
        assert_eq!(temper.refuses(Time(i64::MAX)), Some(SkipReason::Excluded));
        assert_eq!(Temper::default().refuses(Time(0)), None);
    }

    #[test]
    fn a_slow_answer_slows_its_host() {
        let slow = Heard { waited: Duration::from_secs(7), ..Heard::default() };
        let mut temper = Temper::default();
        assert_eq!(temper.hear(&slow, &patience(), Time(0)), Some(Time(14_000)));
        let quick = Heard { waited: Duration::from_secs(1), ..Heard::default() };
        assert_eq!(Temper::default().hear(&quick, &patience(), Time(0)), None);
    }
}
