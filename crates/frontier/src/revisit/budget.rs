//! How many visits a day, for everything and for each site.
//!
//! * What this is: [`Allowance`] hands out visits evenly over the day, never more than the budget;
//!   [`Spending`] does the same for a site and makes its visits dearer for as long as more of its
//!   pages are due than it may have, so that the best of them are visited, not the first.
//! * Invariants: in any stretch of time there are no more visits than the budget of that stretch and
//!   one hour more, or one visit and a half where that is more. Visits do not fall on the same times
//!   every day.
//! * What is not here: the delay between requests to one host, which the heap keeps.

use super::timing::{DAY_MS, days_between, unit};
use argiope_model::Time;
use serde::{Deserialize, Serialize};

/// Visits that may be saved up, in days of the budget.
const SAVED_DAYS: f64 = 1.0 / 24.0;

/// What must at most be saved for a visit.
const MOST_NEEDED: f64 = 1.5;

/// A budget of visits a day, handed out evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allowance {
    per_day: f64,
    saved: f64,
    at: Time,
    handed_out: u64,
}

impl Allowance {
    /// So many visits a day, from now on.
    pub fn new(per_day: f64, now: Time) -> Self {
        Allowance { per_day: per_day.max(0.0), saved: MOST_NEEDED, at: now, handed_out: 0 }
    }

    /// Another budget; what was saved stays.
    pub fn set(&mut self, per_day: f64, now: Time) {
        self.catch_up(now);
        self.per_day = per_day.max(0.0);
    }

    fn catch_up(&mut self, now: Time) {
        let most = (self.per_day * SAVED_DAYS).max(MOST_NEEDED);
        self.saved = (self.saved + days_between(self.at, now) * self.per_day).min(most);
        self.at = self.at.max(now);
    }

    /// From when on a visit is allowed: `now` where it already is; `None` with a budget of nothing.
    pub fn next(&mut self, now: Time) -> Option<Time> {
        self.catch_up(now);
        let needed = self.needed();
        if self.saved >= needed - 1e-9 {
            return Some(now);
        }
        let days = (needed - self.saved) / self.per_day;
        days.is_finite().then(|| Time(now.0.saturating_add((days * DAY_MS).ceil().max(1.0) as i64)))
    }

    /// What must be saved for the next visit: a little more or less each time, or a budget of 24 a
    /// day would visit on the hour, every day.
    fn needed(&self) -> f64 {
        1.0 + (MOST_NEEDED - 1.0) * unit(0xA110_3A9C, self.handed_out)
    }

    /// A visit was begun.
    pub fn spend(&mut self, now: Time) {
        self.catch_up(now);
        self.saved -= 1.0;
        self.handed_out = self.handed_out.wrapping_add(1);
    }
}

/// A site's own budget, and what it does to the price of its visits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    allowance: Allowance,
    dearness: f64,
}

impl Spending {
    /// So many visits a day for a site.
    pub fn new(per_day: f64, now: Time) -> Self {
        Spending { allowance: Allowance::new(per_day, now), dearness: 1.0 }
    }

    /// How much dearer a visit is than elsewhere: [`super::Page::dearness`].
    pub fn dearness(&self) -> f64 {
        self.dearness
    }

    /// From when on the site allows a visit.
    pub fn next(&mut self, now: Time) -> Option<Time> {
        self.allowance.next(now)
    }

    /// A page of the site was visited that was due then. What comes late makes all dearer, what
    /// comes in time cheaper again, a hundredth at a time.
    pub fn spend(&mut self, due: Time, now: Time) {
        self.allowance.spend(now);
        let waits = 2.0 / self.allowance.per_day.max(1e-9);
        let late = days_between(due, now) > waits.max(SAVED_DAYS);
        let step = if late { 1.01 } else { 1.0 / 1.01 };
        self.dearness = (self.dearness * step).clamp(1.0, 1e6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_handed_out_than_the_budget_and_an_hour() {
        let mut allowance = Allowance::new(2400.0, Time(0));
        let (mut now, mut visits) = (Time(0), Vec::new());
        while now < Time(3 * 86_400_000) {
            now = allowance.next(now).unwrap();
            // Nothing was due for the whole of the first day.
            if now >= Time(86_400_000) {
                visits.push(now);
                allowance.spend(now);
            } else {
                now = Time(86_400_000);
            }
        }
        let in_day = visits.iter().filter(|at| at.0 < 2 * 86_400_000).count();
        assert!((2400..=2501).contains(&in_day), "{in_day}");
    }

    #[test]
    fn a_budget_of_nothing_allows_nothing_and_can_be_raised() {
        let mut allowance = Allowance::new(0.0, Time(0));
        allowance.spend(Time(0));
        assert_eq!(allowance.next(Time(1_000_000_000)), None);
        allowance.set(86_400.0, Time(1_000_000_000));
        let soon = allowance.next(Time(1_000_000_000)).unwrap();
        assert!((1..=1000).contains(&(soon.0 - 1_000_000_000)), "{soon}");
    }

    #[test]
    fn one_visit_a_day_comes_at_another_hour_each_day_and_none_is_lost() {
        let (mut allowance, mut now) = (Allowance::new(1.0, Time(0)), Time(0));
        let mut hours = std::collections::BTreeSet::new();
        for _ in 0..100 {
            now = allowance.next(now).unwrap();
            allowance.spend(now);
            hours.insert(now.0 % 86_400_000 / 3_600_000);
        }
        assert!((98..=101).contains(&(now.0 / 86_400_000)), "{now}");
        assert!(hours.len() > 8, "{hours:?}");
    }

    #[test]
    fn a_site_that_falls_behind_becomes_dear_and_cheap_again() {
        let mut site = Spending::new(24.0, Time(0));
        for hour in 0..100 {
            site.spend(Time(0), Time(hour * 3_600_000));
        }
        assert!(site.dearness() > 2.0, "{}", site.dearness());
        for hour in 100..400 {
            site.spend(Time(hour * 3_600_000), Time(hour * 3_600_000));
        }
        assert_eq!(site.dearness(), 1.0);
    }
}
