//! What irregular visits say of a page's change rate, and what that is worth.
//!
//! * What this is: a page changes at an unknown rate, one of a grid of [`RATES`]. Its [`Evidence`]
//!   gives the likelihood of each (Cho & Garcia-Molina 2003, irregular visits): a visit after τ
//!   days that found no change has e^(−rate·τ), one that found a change 1 − e^(−rate·τ), a change
//!   whose time is known rate·e^(−rate·quiet). Together with what is known of all pages ([`Prior`])
//!   that is a belief: a weight for each rate. A page never seen to change, and one that changed at
//!   every visit, get a sensible rate that way, where the plain estimate would be 0 or endless.
//! * Rates are not estimated and then used as if they were true: what a visit rate is worth is
//!   averaged over the belief ([`Belief::steady`]), and a visit is also worth what it will teach
//!   ([`Belief::next_interval`]).
//! * Invariants: beliefs add up to 1; the answers depend on the arguments alone. A day is the unit.
//! * What is not here: where the prior and the price come from ([`super::crowd`]).

use super::optimum::gain;
use super::state::{Evidence, SPANS};
use std::sync::OnceLock;

/// How many rates are told apart.
pub(super) const RATES: usize = 48;
/// The decades that they span: from once in 86 years to every 86 seconds.
const LEAST_RATE: f64 = -4.5;
const MOST_RATE: f64 = 3.0;

/// How many intervals are weighed, from ten minutes to three years.
pub(super) const INTERVALS: usize = 64;
const LEAST_INTERVAL: f64 = -2.16;
const MOST_INTERVAL: f64 = 3.04;

/// A number for each rate.
pub(super) type PerRate = [f32; RATES];

/// How likely each rate is before a page was ever looked at, in logarithms.
pub(super) type Prior = PerRate;

/// Everything that depends on rates and intervals only.
pub(super) struct Tables {
    pub(super) rates: PerRate,
    ln_rates: PerRate,
    pub(super) intervals: [f32; INTERVALS],
    /// The chance of no change in an interval.
    same: Box<[PerRate; INTERVALS]>,
    /// Days fresh of an interval.
    fresh: Box<[PerRate; INTERVALS]>,
    /// What one visit per day more would win in share of time fresh.
    gain: Box<[PerRate; INTERVALS]>,
    /// ln of the chance of a change, by interval class of the evidence.
    changed: [PerRate; SPANS],
}

fn span_days(span: usize) -> f64 {
    4_f64.powi(span as i32) / 64.0
}

impl Tables {
    pub(super) fn get() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Tables::make)
    }

    fn make() -> Tables {
        let on_grid = |n: usize, of: usize, from: f64, to: f64| {
            10_f64.powf(from + (to - from) * n as f64 / (of - 1) as f64)
        };
        let rates: [f64; RATES] = std::array::from_fn(|n| on_grid(n, RATES, LEAST_RATE, MOST_RATE));
        let intervals: [f64; INTERVALS] =
            std::array::from_fn(|n| on_grid(n, INTERVALS, LEAST_INTERVAL, MOST_INTERVAL));
        let table = |f: &dyn Fn(f64, f64) -> f64| -> Box<[PerRate; INTERVALS]> {
            Box::new(intervals.map(|days| rates.map(|rate| f(rate, days) as f32)))
        };
        Tables {
            rates: rates.map(|rate| rate as f32),
            ln_rates: rates.map(|rate| rate.ln() as f32),
            intervals: intervals.map(|days| days as f32),
            same: table(&|rate, days| (-rate * days).exp()),
            fresh: table(&|rate, days| -(-rate * days).exp_m1() / rate),
            gain: table(&|rate, days| gain(rate * days) / rate),
            changed: std::array::from_fn(|span| {
                rates.map(|rate| (-(-rate * span_days(span)).exp_m1()).ln() as f32)
            }),
        }
    }
}

impl Evidence {
    /// Takes in a visit after `days`. `quiet`: the days since the page's last change, where that is
    /// known.
    pub(super) fn add(&mut self, days: f64, changed: bool, quiet: Option<f64>) {
        match quiet {
            _ if !changed => self.quiet_days += days as f32,
            Some(quiet) => {
                self.quiet_days += quiet.min(days) as f32;
                self.exact = self.exact.saturating_add(1);
            }
            None => {
                // In quarters between the two nearest classes: what lies between is interpolated.
                let place = (3.0 + days.max(1e-9).log2() / 2.0).clamp(0.0, (SPANS - 1) as f64);
                let (low, upper) = (place.floor(), (4.0 * place.fract()).round() as u8);
                let low = low as usize;
                self.spans[low] = self.spans[low].saturating_add(4 - upper);
                if upper > 0 {
                    self.spans[low + 1] = self.spans[low + 1].saturating_add(upper);
                }
            }
        }
        if self.exact > 250 || self.spans.iter().any(|count| *count > 250) {
            self.fade(2, 4, 1);
        }
    }

    /// Old evidence counts for less: pages change their ways. `turn` spreads the rounding.
    pub(super) fn fade(&mut self, keep: u8, of: u8, turn: u8) {
        let part = |count: u8| {
            let sum = u16::from(count) * u16::from(keep) + u16::from(turn % of);
            u8::try_from(sum / u16::from(of)).unwrap_or(u8::MAX)
        };
        self.quiet_days *= f32::from(keep) / f32::from(of);
        self.exact = part(self.exact);
        self.spans = self.spans.map(part);
    }

    /// Visits that found a change, old ones counted for less.
    pub fn changes(&self) -> f64 {
        let spans: u32 = self.spans.iter().map(|count| u32::from(*count)).sum();
        f64::from(spans) / 4.0 + f64::from(self.exact)
    }
}

/// How likely each rate is for a page.
#[derive(Clone, Debug)]
pub(super) struct Belief(pub(super) PerRate);

/// When to look at a page again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// The interval that is best to keep for ever, in days.
    pub(super) days: f32,
    /// A sooner visit that teaches more than it costs.
    pub(super) probe: Option<Probe>,
}

/// A visit that teaches something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    /// Its interval in days.
    pub(super) days: f32,
    /// How much of a visit it costs beyond those of the steady interval.
    pub(super) extra: f32,
    /// What it wins beyond its cost, in prices of a visit.
    pub(super) wins: f32,
}

/// What is believed of a page's change rate, in changes per day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRate {
    /// The mean of what is believed.
    pub mean: f64,
    /// One in ten is below.
    pub low: f64,
    /// One in ten is above.
    pub high: f64,
}

fn dot(a: &PerRate, b: &PerRate) -> f32 {
    // Eight sums beside each other, which the machine can do at once.
    let mut sums = [0.0_f32; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for n in 0..8 {
            sums[n] += a[n] * b[n];
        }
    }
    sums.iter().sum()
}

impl Belief {
    /// The belief about a page with this evidence.
    pub(super) fn of(evidence: &Evidence, prior: &Prior) -> Self {
        let tables = Tables::get();
        let mut logs = *prior;
        let (quiet, exact) = (evidence.quiet_days, f32::from(evidence.exact));
        for ((log, ln_rate), rate) in logs.iter_mut().zip(&tables.ln_rates).zip(&tables.rates) {
            *log += exact * ln_rate - quiet * rate;
        }
        for (count, changed) in evidence.spans.iter().zip(&tables.changed) {
            if *count > 0 {
                let count = f32::from(*count) / 4.0;
                logs.iter_mut().zip(changed).for_each(|(log, changed)| *log += count * changed);
            }
        }
        let most = logs.iter().fold(f32::NEG_INFINITY, |most, log| most.max(*log));
        let mut belief = logs.map(|log| if log - most < -30.0 { 0.0 } else { (log - most).exp() });
        let total: f32 = belief.iter().sum();
        belief.iter_mut().for_each(|share| *share /= total);
        Belief(belief)
    }

    /// Mean and spread.
    pub(super) fn change_rate(&self) -> ChangeRate {
        let tables = Tables::get();
        let quantile = |wanted: f32| {
            let mut sum = 0.0;
            let place = self.0.iter().position(|share| {
                sum += share;
                sum >= wanted
            });
            f64::from(tables.rates[place.unwrap_or(RATES - 1)])
        };
        let mean = f64::from(dot(&self.0, &tables.rates));
        ChangeRate { mean, low: quantile(0.1), high: quantile(0.9) }
    }

    /// The best interval to keep for ever, as a place in the grid, and what it is worth per day
    /// after the price of the visits; `None` where no interval up to `longest` is worth its price.
    fn steady(&self, weight: f32, price: f32, longest: usize) -> Option<(usize, f32)> {
        let tables = Tables::get();
        // What a visit wins grows with the interval: the best one is where it equals its price.
        let wins = |place: usize| weight * dot(&self.0, &tables.gain[place]) >= price;
        if !wins(longest) {
            return None;
        }
        let (mut low, mut high) = (0, longest);
        while low < high {
            let middle = (low + high) / 2;
            if wins(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some((high, self.worth(high, weight, price)))
    }

    /// What an interval is worth per day.
    fn worth(&self, place: usize, weight: f32, price: f32) -> f32 {
        let tables = Tables::get();
        (weight * dot(&self.0, &tables.fresh[place]) - price) / tables.intervals[place]
    }

    /// The interval that is best to keep for ever, in days.
    pub(super) fn steady_interval(&self, weight: f32, price: f32, longest: usize) -> f32 {
        self.interval_of(self.steady(weight, price, longest), weight, price, longest)
    }

    fn interval_of(
        &self,
        steady: Option<(usize, f32)>,
        weight: f32,
        price: f32,
        longest: usize,
    ) -> f32 {
        let tables = Tables::get();
        match steady {
            None => tables.intervals[longest],
            Some((0, _)) => tables.intervals[0],
            // Between two places of the grid, where the gain equals the price.
            Some((place, _)) => {
                let upper = weight * dot(&self.0, &tables.gain[place]);
                let lower = weight * dot(&self.0, &tables.gain[place - 1]);
                let share = ((price - lower) / (upper - lower)).clamp(0.0, 1.0);
                let (from, to) = (tables.intervals[place - 1], tables.intervals[place]);
                from * (to / from).powf(share)
            }
        }
    }

    /// The plan for a page: the steady interval, and a shorter one where a visit teaches something.
    /// `horizon`: how many days what is learned is of use. `longest`: the longest interval, as a
    /// place.
    pub(super) fn plan(&self, weight: f32, price: f32, horizon: f32, longest: usize) -> Plan {
        let tables = Tables::get();
        let steady = self.steady(weight, price, longest);
        let days = self.interval_of(steady, weight, price, longest);
        // Where few rates have nearly all of the belief there is nothing to learn.
        if horizon <= 0.0 || self.0.windows(4).any(|few| few.iter().sum::<f32>() > 0.95) {
            return Plan { days, probe: None };
        }
        // What waiting is worth: nothing learned, and all of the horizon as it is.
        let base = steady.map_or(0.0, |(_, worth)| worth) * horizon;
        let best = steady.map_or(longest, |(place, _)| place);
        let still = base.max(self.value(best, weight, price, horizon, longest));
        let (mut most, mut chosen) = (still, None);
        let mut place = best;
        while place >= 3 {
            place -= 3;
            let value = self.value(place, weight, price, horizon, longest);
            if value > most {
                (most, chosen) = (value, Some(place));
            }
        }
        let probe = chosen.map(|place| {
            let sooner = tables.intervals[place];
            let extra = (1.0 - sooner / days).clamp(0.01, 1.0);
            Probe { days: sooner, extra, wins: (most - still) / price }
        });
        Plan { days, probe }
    }

    /// What is won up to the horizon with one visit after this interval and then the best that is
    /// known by then.
    fn value(&self, place: usize, weight: f32, price: f32, horizon: f32, longest: usize) -> f32 {
        let tables = Tables::get();
        let days = tables.intervals[place];
        let now = weight * dot(&self.0, &tables.fresh[place]) - price;
        let left = horizon - days;
        if left <= 0.0 {
            return now;
        }
        let (mut same, mut other) = (self.clone(), self.clone());
        let mut chance = 0.0;
        for n in 0..RATES {
            same.0[n] *= tables.same[place][n];
            other.0[n] -= same.0[n];
            chance += same.0[n];
        }
        // Neither is made to add up to 1: price and worth are scaled instead.
        let later = |belief: &Belief, chance: f32| {
            let steady = belief.steady(weight, price * chance, longest);
            steady.map_or(0.0, |(_, worth)| worth)
        };
        now + left * (later(&same, chance) + later(&other, 1.0 - chance))
    }
}

/// The place in the grid of the longest interval not above so many days.
pub(super) fn place_of(days: f64) -> usize {
    let step = (MOST_INTERVAL - LEAST_INTERVAL) / (INTERVALS - 1) as f64;
    let place = (days.max(1e-9).log10() - LEAST_INTERVAL) / step + 1e-6;
    place.clamp(0.0, (INTERVALS - 1) as f64) as usize
}

/// What is thought of pages before any was looked at: from changes every few hours to every few
/// years nearly alike, a little less likely beyond.
pub(super) fn first_prior() -> PerRate {
    let tables = Tables::get();
    let mut shares = tables.ln_rates.map(|ln| {
        let decades = (ln / std::f32::consts::LN_10 + 1.2) / 1.8;
        1.0 / (1.0 + decades.powi(4))
    });
    let total: f32 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= total);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ln(shares: PerRate) -> Prior {
        shares.map(f32::ln)
    }

    fn believed(visits: &[(f64, bool)]) -> ChangeRate {
        let mut evidence = Evidence::default();
        visits.iter().for_each(|(days, changed)| evidence.add(*days, *changed, None));
        Belief::of(&evidence, &ln(first_prior())).change_rate()
    }

    #[test]
    fn regular_visits_give_back_the_rate_that_made_them() {
        // At rate 0.5 and visits every two days, 63 % of visits find a change.
        let visits: Vec<(f64, bool)> = (0..100).map(|n| (2.0, n % 100 < 63)).collect();
        let rate = believed(&visits);
        assert!((0.42..0.58).contains(&rate.mean), "{rate:?}");
        // The naive count, changes by days, would say 0.315.
        assert!(rate.low > 0.33 && rate.high < 0.72, "{rate:?}");
    }

    #[test]
    fn irregular_visits_do_too() {
        // Between classes and across them: the likelihood of classes is close to the true one.
        for rate in [0.03_f64, 0.2, 1.0, 4.0] {
            let (mut evidence, mut carry) = (Evidence::default(), [0.5; 5]);
            for n in 0..120 {
                let kind = n % 5;
                let days = [0.15, 0.5, 1.4, 6.0, 11.0][kind];
                carry[kind] += 1.0 - (-rate * days).exp();
                let changed = carry[kind] >= 1.0;
                carry[kind] -= f64::from(u8::from(changed));
                evidence.add(days, changed, None);
            }
            let mean = Belief::of(&evidence, &ln(first_prior())).change_rate().mean;
            assert!((0.75..1.35).contains(&(mean / rate)), "{mean} for {rate}");
        }
    }

    #[test]
    fn pages_never_or_always_seen_to_change_get_a_rate_in_between() {
        let never = believed(&[(1.0, false); 10]);
        let longer = believed(&[(1.0, false); 100]);
        assert!(never.mean > longer.mean && longer.mean > 0.0, "{never:?} {longer:?}");
        assert!(never.mean < 0.1, "{never:?}");
        let always = believed(&[(1.0, true); 10]);
        assert!(always.mean > 2.0 && always.mean.is_finite(), "{always:?}");
        let nothing = believed(&[]);
        assert!(nothing.high / nothing.low > 100.0, "{nothing:?}");
    }

    #[test]
    fn a_known_time_of_change_says_more_than_a_change_between_visits() {
        let (mut told, mut untold) = (Evidence::default(), Evidence::default());
        for _ in 0..10 {
            told.add(30.0, true, Some(1.0));
            untold.add(30.0, true, None);
        }
        let of = |evidence| Belief::of(evidence, &ln(first_prior())).change_rate();
        let (told, untold) = (of(&told), of(&untold));
        assert!((0.6..1.6).contains(&told.mean), "{told:?}");
        assert!(untold.high / untold.low > 3.0 * told.high / told.low, "{untold:?} {told:?}");
    }

    #[test]
    fn evidence_fades_without_leaning_to_one_side() {
        let mut evidence = Evidence { quiet_days: 100.0, exact: 100, spans: [100; SPANS] };
        for turn in 0..4 {
            evidence.fade(3, 4, turn);
        }
        let share = f64::from(evidence.quiet_days) / 100.0;
        assert!((evidence.changes() / 300.0 - share).abs() < 0.02, "{evidence:?} {share}");
    }

    #[test]
    fn a_certain_belief_gets_the_rate_of_the_solver() {
        use crate::revisit::{Demand, Goal, visit_rate};
        for (change, price) in [(0.05, 0.3), (0.5, 0.3), (2.0, 0.1)] {
            let near = Tables::get().rates.iter().position(|rate| *rate >= change).unwrap();
            let mut shares = [0.0; RATES];
            shares[near] = 1.0;
            let change = f64::from(Tables::get().rates[near]);
            let exact = visit_rate(Goal::Even, Demand { change, weight: 2.0 }, price);
            let days = Belief(shares).plan(2.0, price as f32, 100.0, INTERVALS - 1).days;
            assert!((f64::from(days) * exact - 1.0).abs() < 0.02, "{days} {}", 1.0 / exact);
        }
    }

    #[test]
    fn what_is_unknown_and_could_be_worth_it_is_looked_at_sooner() {
        // Slow or far too fast: one early visit tells which.
        let rate = |wanted: f32| Tables::get().rates.iter().position(|r| *r >= wanted).unwrap();
        let mut shares = [0.0; RATES];
        shares[rate(0.1)] = 0.5;
        shares[rate(20.0)] = 0.5;
        let belief = Belief(shares);
        let plan = belief.plan(1.0, 1.0, 300.0, INTERVALS - 1);
        let probe = plan.probe.unwrap();
        assert!(probe.days < 0.5 * plan.days && probe.wins > 1.0, "{plan:?}");
        assert_eq!(belief.plan(1.0, 1.0, 0.0, INTERVALS - 1).probe, None);
    }

    #[test]
    fn places_are_those_of_the_grid() {
        for (place, days) in Tables::get().intervals.iter().enumerate() {
            assert_eq!(place_of(f64::from(*days) * 1.0001), place);
        }
        assert_eq!((place_of(0.0), place_of(1e9)), (0, INTERVALS - 1));
    }
}
