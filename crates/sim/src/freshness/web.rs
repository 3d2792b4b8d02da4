//! Pages that change at known rates, at times that can be asked for in any order.
//!
//! The changes of a page are drawn in stretches of time, each from its own seed, so that "the first
//! change after t" costs a few draws wherever t lies: pages nobody visits cost nothing.

use super::mixture::{Importance, Mixture};
use crate::draw::{About, Draw};

/// How a page's changes lie in time, at the same mean rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rhythm {
    /// Each change independent of the others.
    Poisson,
    /// Several at once, then long nothing.
    Bursty,
    /// Six times as many in the twelve hours of the day as at night.
    Daily,
}

/// A web of pages.
#[derive(Clone, Debug)]
pub struct Web {
    seed: u64,
    rhythm: Rhythm,
    /// Changes per day of each page.
    pub rates: Vec<f64>,
    /// How much each page counts.
    pub weights: Vec<f64>,
    /// Pages to a site: page n belongs to site n / this.
    pub site_pages: usize,
}

/// Mean changes in a burst and the longest burst.
const BURST: f64 = 5.0;
const LONGEST_BURST: u64 = 12;
/// The length of a stretch, in mean gaps.
const STRETCH: f64 = 8.0;
/// Where the day begins and ends, and how busy the night is.
const MORNING: f64 = 1.0 / 3.0;
const EVENING: f64 = 5.0 / 6.0;
const NIGHT: f64 = 2.0 / 7.0;
const NOON: f64 = 12.0 / 7.0;

impl Web {
    /// A web drawn from a mixture.
    pub fn draw(
        seed: u64,
        pages: usize,
        mixture: &Mixture,
        importance: Importance,
        rhythm: Rhythm,
    ) -> Self {
        let mut draw = Draw::new(seed, About::Rates, 0);
        let rates = (0..pages).map(|_| mixture.rate(&mut draw)).collect();
        Web::of(seed, rates, importance.weights(pages, &mut draw), rhythm)
    }

    /// A web of given pages.
    pub fn of(seed: u64, rates: Vec<f64>, weights: Vec<f64>, rhythm: Rhythm) -> Self {
        Web { seed, rhythm, rates, weights, site_pages: 100 }
    }

    /// The first change of a page after a time, in days; endless where there is none.
    pub fn next_change(&self, page: usize, after: f64) -> f64 {
        let rate = self.rates[page];
        if rate <= 0.0 {
            return f64::INFINITY;
        }
        match self.rhythm {
            Rhythm::Poisson => self.next_event(page, rate, after),
            Rhythm::Daily => self.next_of_day(page, rate, after),
            Rhythm::Bursty => self.next_of_burst(page, rate, after),
        }
    }

    /// The last change of a page up to a time, looking back a bounded while.
    pub fn last_change(&self, page: usize, until: f64) -> Option<f64> {
        let rate = self.rates[page];
        if rate <= 0.0 {
            return None;
        }
        let mut from = until;
        for _ in 0..40 {
            from -= 2.0 / rate;
            let mut change = self.next_change(page, from);
            if change > until {
                continue;
            }
            loop {
                let next = self.next_change(page, change);
                if next > until {
                    return Some(change);
                }
                change = next;
            }
        }
        None
    }

    fn stretch(&self, page: usize, number: i64) -> Draw {
        Draw::new(
            self.seed ^ (number as u64).wrapping_mul(0xA24B_AED4_963E_E407),
            About::Changes,
            page as u64,
        )
    }

    /// The first event of a Poisson process after a time.
    fn next_event(&self, page: usize, rate: f64, after: f64) -> f64 {
        let length = STRETCH / rate;
        let mut number = (after / length).floor();
        loop {
            let mut draw = self.stretch(page, number as i64);
            let (mut at, end) = (number * length, (number + 1.0) * length);
            loop {
                at += draw.waiting() / rate;
                if at >= end {
                    break;
                }
                if at > after {
                    return at;
                }
            }
            number += 1.0;
        }
    }

    /// The first change after a time, where the day is busier than the night.
    fn next_of_day(&self, page: usize, rate: f64, after: f64) -> f64 {
        let mut busy = to_busy(after);
        loop {
            busy = self.next_event(page, rate, busy);
            // There and back again may round to just before: then it is the change asked from.
            let change = from_busy(busy);
            if change > after {
                return change;
            }
        }
    }

    /// The first change after a time, where each event is a burst of changes.
    fn next_of_burst(&self, page: usize, rate: f64, after: f64) -> f64 {
        let bursts = rate / BURST;
        let gap = (1.0 / 24.0_f64).min(0.02 / bursts);
        let length = STRETCH / bursts;
        // A burst may reach beyond its stretch, never by a whole one.
        let mut number = (after / length).floor() - 1.0;
        let mut first = f64::INFINITY;
        loop {
            let mut draw = self.stretch(page, number as i64);
            let (mut at, end) = (number * length, (number + 1.0) * length);
            loop {
                at += draw.waiting() / bursts;
                if at >= end {
                    break;
                }
                if at >= first {
                    return first;
                }
                let mut inner = draw.fork();
                let mut change = at;
                for n in 0..LONGEST_BURST {
                    if change > after {
                        first = first.min(change);
                        break;
                    }
                    let more = n + 1 < LONGEST_BURST && inner.unit() < 1.0 - 1.0 / BURST;
                    if !more {
                        break;
                    }
                    change += inner.waiting() * gap;
                }
            }
            number += 1.0;
            if first < number * length {
                return first;
            }
        }
    }
}

/// Time in which a page with a daily rhythm changes evenly.
fn to_busy(at: f64) -> f64 {
    let (day, part) = (at.floor(), at - at.floor());
    let night = part.min(MORNING) + (part - EVENING).max(0.0);
    let noon = (part.min(EVENING) - MORNING).max(0.0);
    day + NIGHT * night + NOON * noon
}

fn from_busy(at: f64) -> f64 {
    let (day, part) = (at.floor(), at - at.floor());
    let (morning, evening) = (NIGHT * MORNING, NIGHT * MORNING + NOON * (EVENING - MORNING));
    let inside = if part < morning {
        part / NIGHT
    } else if part < evening {
        MORNING + (part - morning) / NOON
    } else {
        EVENING + (part - evening) / NIGHT
    };
    day + inside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn web(rhythm: Rhythm) -> Web {
        Web::of(3, vec![0.5, 20.0, 0.0], vec![1.0; 3], rhythm)
    }

    fn changes(web: &Web, page: usize, days: f64) -> Vec<f64> {
        let times = std::iter::successors(Some(web.next_change(page, 0.0)), |at| {
            Some(web.next_change(page, *at))
        });
        times.take_while(|at| *at < days).take(100_000).collect()
    }

    #[test]
    fn pages_change_at_their_rates_whatever_the_rhythm() {
        for rhythm in [Rhythm::Poisson, Rhythm::Daily, Rhythm::Bursty] {
            let web = web(rhythm);
            for (page, rate) in [(0, 0.5), (1, 20.0)] {
                let days = 20_000.0 / rate;
                let count = changes(&web, page, days).len() as f64 / 20_000.0;
                // Bursts are cut at their longest, and vary more.
                assert!((0.88..1.06).contains(&count), "{rhythm:?} {rate}: {count}");
            }
            assert_eq!(web.next_change(2, 5.0), f64::INFINITY);
        }
    }

    #[test]
    fn the_answer_is_the_same_from_wherever_it_is_asked() {
        for rhythm in [Rhythm::Poisson, Rhythm::Daily, Rhythm::Bursty] {
            let web = web(rhythm);
            let all = changes(&web, 0, 400.0);
            for n in 0..4000 {
                let at = f64::from(n) / 10.0;
                let next = all.iter().find(|change| **change > at);
                if let Some(next) = next {
                    assert_eq!(web.next_change(0, at), *next, "{rhythm:?} after {at}");
                }
                let last = all.iter().rev().find(|change| **change <= at);
                if let (Some(last), Some(found)) = (last, web.last_change(0, at)) {
                    assert!((found - last).abs() < 1e-9, "{rhythm:?} before {at}");
                }
            }
        }
    }

    #[test]
    fn the_night_is_quiet_where_there_is_a_rhythm() {
        let at_night = |at: &&f64| !(MORNING..EVENING).contains(&(**at - at.floor()));
        let daily = changes(&web(Rhythm::Daily), 1, 500.0);
        let share = daily.iter().filter(at_night).count() as f64 / daily.len() as f64;
        assert!((0.12..0.17).contains(&share), "{share}");
    }
}
