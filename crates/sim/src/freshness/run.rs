//! A policy on a web for a while, and how fresh it kept it.

use super::web::Web;
use argiope_frontier::revisit::{
    Allowance, Demand, Event, Fixed, Fr, Fresh, FreshSettings, Goal, Optimum, Page, PageState,
    Revisit, Spending, Step, Visit, mean_freshness, optimal_rates,
};
use argiope_model::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// The policies that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Every page after the same interval, the one that uses the budget.
    Fixed,
    /// The adaptive frequency of rounds of a day.
    Fr,
    /// The same with the selective gate.
    Selective,
    /// Learned rates, best visits.
    Fresh,
    /// The same, where servers tell the truth about Last-Modified.
    FreshTold,
    /// The optimum as if the rates were known: what can be reached.
    Known,
}

impl Policy {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Fixed => "fixed",
            Policy::Fr => "fr",
            Policy::Selective => "fr + selective",
            Policy::Fresh => "fresh",
            Policy::FreshTold => "fresh, Last-Modified",
            Policy::Known => "rates known",
        }
    }
}

/// What may be spent, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Visits a day for each page, in the mean.
    pub per_page: f64,
    /// For how long after the first visits, in visits per page.
    pub rounds: usize,
    /// The delay between two visits to a site.
    pub delay: Duration,
    /// Visits a day that a site allows, where it has a budget of its own.
    pub per_site: Option<f64>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Importance-weighted share of time fresh, in each round of the budget through all pages.
    pub fresh: Vec<f64>,
    /// Importance-weighted age in days, in each round.
    pub age: Vec<f64>,
    /// Visits, those of the first crawl included.
    pub visits: u64,
    /// Visits that found a change.
    pub detected: u64,
    /// The most visits in a day, against the budget of a day.
    pub most_per_day: f64,
    /// The least seconds between two visits to a site.
    pub least_gap_s: f64,
    /// Pages whose next visits, a day or more apart, fell into the same five minutes of the day,
    /// as a share of all such visits.
    pub same_hour: f64,
    /// The days that were simulated.
    pub days: f64,
}

impl Measured {
    /// The mean freshness of some rounds.
    pub fn fresh_in(&self, rounds: std::ops::Range<usize>) -> f64 {
        mean(&self.fresh[rounds.start.min(self.fresh.len())..rounds.end.min(self.fresh.len())])
    }

    /// The mean age in some rounds.
    pub fn age_in(&self, rounds: std::ops::Range<usize>) -> f64 {
        mean(&self.age[rounds.start.min(self.age.len())..rounds.end.min(self.age.len())])
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The optimum for a web's true rates, evenly spaced, and its freshness.
pub fn best_for(web: &Web, per_page: f64) -> (Optimum, f64) {
    let pages: Vec<Demand> = web
        .rates
        .iter()
        .zip(&web.weights)
        .map(|(change, weight)| Demand { change: *change, weight: *weight })
        .collect();
    let best = optimal_rates(Goal::Even, &pages, per_page * pages.len() as f64);
    let fresh = mean_freshness(Goal::Even, &pages, &best.rates);
    (best, fresh)
}

/// Visits at given rates, evenly spaced: the optimum where the rates are right.
pub struct Known {
    /// Visits a day of each page; the page's key is its place.
    pub rates: Vec<f64>,
}

impl Revisit for Known {
    fn name(&self) -> &'static str {
        "known"
    }

    fn step(&mut self, page: &Page, mut state: PageState, event: Event, now: Time) -> Step {
        let rate = self.rates.get(page.key as usize).copied().unwrap_or(0.0);
        state.due = match event {
            Event::Turn => state.due,
            Event::Found => now,
            _ if rate <= 0.0 => Time(now.0 + 1_000_000 * DAY),
            // The first interval is a part only, or all pages of a rate would come at once.
            _ if state.records == 0 => {
                let part = (page.key as f64 * 0.618_033_988_75).fract();
                Time(now.0 + (part / rate * DAY as f64) as i64)
            }
            _ => Time(now.0 + (DAY as f64 / rate) as i64),
        };
        if let Event::Visited(_) = event {
            state.records = state.records.saturating_add(1);
            state.last = Some(now);
        }
        Step { state, visit: event == Event::Turn, expand: false }
    }
}

const DAY: i64 = 86_400_000;
/// The first day of the simulation.
const BEGIN: i64 = 20_000 * DAY;

/// Runs a policy.
pub fn simulate(web: &Web, policy: Policy, budget: &Budget) -> Measured {
    let pages = web.rates.len();
    let per_day = budget.per_page * pages as f64;
    let mut chosen: Box<dyn Revisit> = match policy {
        Policy::Fixed => {
            Box::new(Fixed { every: Duration::from_secs_f64(86_400.0 / budget.per_page) })
        }
        Policy::Fr => Box::new(Fr::default()),
        Policy::Selective => Box::new(Fr::selective()),
        Policy::Fresh | Policy::FreshTold => Box::new(Fresh::new(FreshSettings::new(per_day))),
        Policy::Known => Box::new(Known { rates: best_for(web, budget.per_page).0.rates }),
    };
    Run::new(web, policy, budget).through(chosen.as_mut())
}

/// A page as the simulation keeps it.
#[derive(Clone, Copy)]
struct Held {
    state: PageState,
    /// The last visit in days since the beginning, and the first change after it.
    visited: f64,
    changes: f64,
    /// When it is in the queue for; other places of it there are left behind.
    queued: i64,
}

struct Run<'a> {
    web: &'a Web,
    policy: Policy,
    per_day: f64,
    delay: i64,
    /// A round of the budget through all pages, in days; measuring begins after one.
    round: f64,
    rounds: usize,
    copies: Vec<Held>,
    queue: BinaryHeap<Reverse<(i64, u32)>>,
    free: Vec<i64>,
    sites: Vec<Spending>,
    fresh: Vec<f64>,
    age: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(web: &'a Web, policy: Policy, budget: &Budget) -> Self {
        let pages = web.rates.len();
        let sites = pages / web.site_pages + 1;
        let nothing =
            Held { state: PageState::default(), visited: f64::NAN, changes: 0.0, queued: 0 };
        Run {
            web,
            policy,
            per_day: budget.per_page * pages as f64,
            delay: budget.delay.as_millis() as i64,
            round: 1.0 / budget.per_page,
            rounds: budget.rounds,
            copies: vec![nothing; pages],
            queue: BinaryHeap::new(),
            free: vec![i64::MIN; sites],
            sites: budget
                .per_site
                .map(|per_day| vec![Spending::new(per_day, Time(BEGIN)); sites])
                .unwrap_or_default(),
            fresh: vec![0.0; budget.rounds],
            age: vec![0.0; budget.rounds],
        }
    }

    fn enqueue(&mut self, page: usize, at: i64) {
        self.copies[page].queued = at;
        self.queue.push(Reverse((at, page as u32)));
    }

    fn page(&self, page: usize) -> Page {
        let site = self.sites.get(page / self.web.site_pages);
        Page {
            key: page as u64,
            weight: self.web.weights[page],
            dearness: site.map_or(1.0, Spending::dearness),
        }
    }

    /// From the time a page's copy was made to now: how long it was fresh, and how old it became.
    fn settle(&mut self, page: usize, now: f64) {
        let Held { visited, changes, .. } = self.copies[page];
        if visited.is_nan() {
            return;
        }
        let weight = self.web.weights[page];
        let begin = self.round;
        let first = ((visited - begin) / self.round).floor().max(0.0) as usize;
        for round in first..self.rounds {
            let (from, to) =
                (begin + round as f64 * self.round, begin + (round + 1) as f64 * self.round);
            if from >= now {
                break;
            }
            let (from, to) = (from.max(visited), to.min(now));
            if to <= from {
                continue;
            }
            self.fresh[round] += weight * (changes.min(to) - from).max(0.0);
            if changes < to {
                let (young, old) = ((from - changes).max(0.0), to - changes);
                self.age[round] += weight * (old * old - young * young) / 2.0;
            }
        }
    }

    fn through(mut self, policy: &mut dyn Revisit) -> Measured {
        let pages = self.copies.len();
        for page in 0..pages {
            let found =
                policy.step(&self.page(page), PageState::default(), Event::Found, Time(BEGIN));
            self.copies[page].state = found.state;
            // In an order that has nothing to do with sites.
            let turn = (page as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44;
            self.enqueue(page, BEGIN - (1 << 20) + turn as i64);
        }
        let end = BEGIN + ((1.0 + self.rounds as f64) * self.round * DAY as f64) as i64;
        let mut allowance = Allowance::new(self.per_day, Time(BEGIN));
        let (mut visits, mut detected, mut least_gap) = (0_u64, 0_u64, i64::MAX);
        let (mut day, mut in_day, mut most_in_day) = (0, 0_u64, 0_u64);
        let (mut same_hour, mut day_apart) = (0_u64, 0_u64);
        let mut now = BEGIN;
        while let Some(next) = allowance.next(Time(now)) {
            now = next.0;
            let Some(Reverse((due, page))) = self.queue.pop() else { break };
            if self.copies[page as usize].queued != due {
                continue;
            }
            if due > now && !policy.eager() {
                self.queue.push(Reverse((due, page)));
                now = due;
                if now >= end {
                    break;
                }
                continue;
            }
            if now >= end {
                break;
            }
            let page = page as usize;
            let site = page / self.web.site_pages;
            if let Some(allowed) = self.sites.get_mut(site).and_then(|site| site.next(Time(now))) {
                self.free[site] = self.free[site].max(allowed.0);
            }
            if self.free[site] > now {
                self.enqueue(page, due.max(self.free[site]));
                // Nothing else is due before: what is taken early waits for its site.
                if due >= self.free[site] {
                    now = self.free[site];
                }
                continue;
            }
            let turn =
                policy.step(&self.page(page), self.copies[page].state, Event::Turn, Time(now));
            if !turn.visit {
                self.copies[page].state = turn.state;
                self.enqueue(page, turn.state.due.0.max(now + 1));
                continue;
            }
            if self.free[site] != i64::MIN {
                least_gap = least_gap.min(now - self.free[site] + self.delay);
            }
            self.free[site] = now + self.delay;
            allowance.spend(Time(now));
            if let Some(site) = self.sites.get_mut(site) {
                site.spend(self.copies[page].state.due, Time(now));
            }
            visits += 1;
            if (now - BEGIN) / DAY != day {
                (day, in_day) = ((now - BEGIN) / DAY, 0);
            }
            in_day += 1;
            most_in_day = most_in_day.max(in_day);
            if let Some(last) = self.copies[page].state.last.filter(|last| now - last.0 > DAY / 2) {
                day_apart += 1;
                let off = (now - last.0).rem_euclid(DAY);
                same_hour += u64::from(off.min(DAY - off) < 150_000);
            }
            detected += u64::from(self.visit(policy, page, now));
        }
        let last = (end - BEGIN) as f64 / DAY as f64;
        (0..pages).for_each(|page| self.settle(page, last));
        let scale = self.round * self.web.weights.iter().sum::<f64>();
        Measured {
            fresh: self.fresh.iter().map(|sum| sum / scale).collect(),
            age: self.age.iter().map(|sum| sum / scale).collect(),
            visits,
            detected,
            most_per_day: most_in_day as f64 / self.per_day,
            least_gap_s: least_gap as f64 / 1000.0,
            same_hour: same_hour as f64 / day_apart.max(1) as f64,
            days: last,
        }
    }

    /// A visit: whether it found a change.
    fn visit(&mut self, policy: &mut dyn Revisit, page: usize, now: i64) -> bool {
        let at = (now - BEGIN) as f64 / DAY as f64;
        self.settle(page, at);
        let copy = self.copies[page];
        let first = copy.visited.is_nan();
        let changed = !first && copy.changes <= at;
        let mut visit = Visit { changed, ..Visit::default() };
        if self.policy == Policy::FreshTold {
            let modified = self.web.last_change(page, at);
            visit.modified = modified.map(|days| Time(BEGIN + (days * DAY as f64) as i64));
        }
        if self.policy == Policy::Selective && !changed {
            for child in self.children(page) {
                visit.children.count(&self.copies[child].state, copy.state.last);
            }
        }
        let step = policy.step(&self.page(page), copy.state, Event::Visited(visit), Time(now));
        let changes = self.web.next_change(page, at);
        self.copies[page] = Held { state: step.state, visited: at, changes, queued: 0 };
        self.enqueue(page, step.state.due.0.max(now + 1));
        if step.expand {
            for child in self.children(page) {
                self.make_due(policy, child, now);
            }
        }
        changed
    }

    /// A child of an expanded page is due now.
    fn make_due(&mut self, policy: &mut dyn Revisit, page: usize, now: i64) {
        let copy = self.copies[page];
        if copy.state.due.0 > now && !copy.visited.is_nan() {
            let step = policy.step(&self.page(page), copy.state, Event::MadeDue, Time(now));
            self.copies[page].state = step.state;
            self.enqueue(page, now);
        }
    }

    /// The direct children: each page of a site links to ten more.
    fn children(&self, page: usize) -> std::ops::Range<usize> {
        let site = page / self.web.site_pages * self.web.site_pages;
        let end = (site + self.web.site_pages).min(self.copies.len());
        let first = site + (page - site) * 10 + 1;
        first.min(end)..(first + 10).min(end)
    }
}
