//! `fresh`: visits close to the optimum for a budget, with change rates learned on the way.
//!
//! * What this is: each visit adds to the page's evidence; what is believed of its change rate and
//!   the price of a visit give the next interval, evenly spaced but for a little movement. The
//!   price follows the budget: it is found on a sample of all pages and corrected by how late
//!   visits are and how much of the budget is used.
//! * Dropped pages: a page that changes so often that no visit is worth its price gets the rest of
//!   the budget's few hundredths that are kept for looking at what was given up.
//! * Invariants: no interval is shorter than `soonest` or longer than `latest`; equal histories
//!   give equal plans.
//! * What is not here: who counts visits per site ([`super::Spending`]); politeness.

use super::belief::{Belief, ChangeRate, place_of};
use super::crowd::{Crowd, Member};
use super::fixed::{cycle_by_hand, retry};
use super::state::{Evidence, PageState, Trust};
use super::timing::{after, days_between, moved, unit};
use super::{Event, Hint, Page, Revisit, Step, Visit};
use argiope_model::Time;
use std::time::Duration;

pub use super::crowd::Knowledge;

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreshSettings {
    /// Visits a day for all pages together.
    pub per_day: f64,
    /// No page is visited sooner after a visit, whatever it is worth.
    pub soonest: Duration,
    /// No page is left alone for longer, where the budget allows it.
    pub latest: Duration,
    /// The share of the budget that goes to pages that are not worth their price.
    pub kept_for_dropped: f64,
    /// How long what is learned of a page is of use, in rounds of the budget through all pages.
    pub horizon_rounds: f64,
}

impl FreshSettings {
    /// The defaults for a budget.
    pub fn new(per_day: f64) -> Self {
        FreshSettings {
            per_day,
            soonest: Duration::from_secs(600),
            latest: Duration::from_secs(3 * 365 * 86_400),
            kept_for_dropped: 0.03,
            horizon_rounds: 15.0,
        }
    }
}

/// The policy and what it has learned of all pages together.
#[derive(Clone, Debug)]
pub struct Fresh {
    settings: FreshSettings,
    crowd: Crowd,
    price: f64,
    /// How much of the budget is planned, relative to it: the controller's correction.
    planned: f64,
    /// Since the price was last found.
    since: Option<Time>,
    visits: u64,
    late_days: f64,
    all_visits: u64,
    all_noted: u64,
}

const KNOWLEDGE_VERSION: u8 = 1;

impl Fresh {
    /// A policy that knows nothing yet.
    pub fn new(settings: FreshSettings) -> Self {
        Fresh {
            settings,
            crowd: Crowd::default(),
            price: 1.0,
            planned: 1.0,
            since: None,
            visits: 0,
            late_days: 0.0,
            all_visits: 0,
            all_noted: 0,
        }
    }

    /// Goes on with what was learned before; what is not understood is learned anew.
    pub fn with_knowledge(settings: FreshSettings, known: &Knowledge) -> Self {
        let mut fresh = Fresh::new(settings);
        if known.version == KNOWLEDGE_VERSION {
            if let Some(crowd) = Crowd::with(&known.shares) {
                fresh.crowd = crowd;
            }
            let sound = |x: f64| x.is_finite() && x > 0.0;
            if sound(known.price) && sound(known.planned) {
                (fresh.price, fresh.planned) = (known.price, known.planned.clamp(0.5, 2.0));
            }
        }
        fresh
    }

    /// What to write down for the next start.
    pub fn knowledge(&self) -> Knowledge {
        Knowledge {
            version: KNOWLEDGE_VERSION,
            price: self.price,
            planned: self.planned,
            shares: self.crowd.shares().to_vec(),
        }
    }

    /// The price of a visit, in days of freshness of a page of weight 1.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Another budget from now on; the price follows at the next visits.
    pub fn set_budget(&mut self, per_day: f64) {
        if per_day != self.settings.per_day {
            self.settings.per_day = per_day;
            self.since = None;
        }
    }

    /// What is believed of a page's change rate, in changes a day.
    pub fn change_rate(&self, state: &PageState) -> ChangeRate {
        Belief::of(&state.evidence, self.crowd.prior()).change_rate()
    }

    /// Puts a page before the crowd without a visit, so that prices are right from the start:
    /// after a restart, for any fair part of the pages.
    pub fn introduce(&mut self, page: &Page, state: &PageState) {
        self.all_noted += 1;
        self.crowd.note(Member {
            key: page.key,
            weight: page.weight as f32,
            dearness: page.dearness as f32,
            records: state.records,
            evidence: state.evidence,
        });
    }

    /// Days for the budget to go through all pages once.
    fn round_days(&self) -> f64 {
        (self.crowd.pages() / self.settings.per_day.max(1e-9)).max(1e-6)
    }

    /// The interval for a page at a price, in days, before it is moved.
    fn interval(&self, member: &Member, price: f64, round_days: f64) -> f64 {
        let settings = &self.settings;
        let latest = settings.latest.as_secs_f64() / 86_400.0;
        let longest = (round_days / settings.kept_for_dropped.max(1e-6)).min(latest);
        // Not all pages are explored at once: some are found more curious than others, and at
        // each visit others.
        let curiosity = 0.25 * 16_f64.powf(unit(member.key, u64::from(member.records) + 1_000_003));
        let horizon = settings.horizon_rounds * round_days * curiosity;
        let belief = Belief::of(&member.evidence, self.crowd.prior());
        let price = (price * f64::from(member.dearness)).clamp(1e-30, 1e30) as f32;
        let days =
            belief.next_interval(member.weight, price, horizon as f32, place_of(longest));
        f64::from(days).clamp(settings.soonest.as_secs_f64() / 86_400.0, longest.max(1e-3))
    }

    /// Finds prior and price anew where enough has happened.
    fn tune(&mut self, now: Time) {
        let pages = self.crowd.pages();
        let often = (pages.min(self.all_visits as f64) / 8.0).max(32.0);
        let first = self.since.is_none();
        if !first && (self.visits as f64) < often {
            return;
        }
        let per_day = self.settings.per_day.max(1e-9);
        if let Some(since) = self.since {
            let days = days_between(since, now).max(1e-9);
            let used = self.visits as f64 / (days * per_day);
            // Late visits are a queue; its length in rounds of all pages.
            let queue = self.late_days / self.visits as f64 / self.round_days();
            let correction = if queue > 0.02 {
                1.0 - (queue - 0.02).clamp(0.0, 0.3)
            } else {
                1.0 + 0.5 * (1.0 - used).clamp(0.0, 0.3)
            };
            self.planned = (self.planned * correction).clamp(0.5, 2.0);
        }
        self.crowd.learn(if first { 10 } else { 3 });
        let round_days = self.round_days();
        let price = self.crowd.price(per_day * self.planned, self.price, |member, price| {
            1.0 / self.interval(member, price, round_days)
        });
        if price.is_finite() && price > 0.0 {
            self.price = price;
        }
        (self.since, self.visits, self.late_days) = (Some(now), 0, 0.0);
    }

    fn visited(&mut self, page: &Page, state: &mut PageState, visit: Visit, now: Time) {
        if let Some(last) = state.last.filter(|last| now > *last) {
            let days = days_between(last, now);
            let quiet = state.trust.weigh(&visit, last, now);
            state.evidence.add(days, visit.changed, quiet);
            if state.records % 32 == 31 {
                state.evidence.fade(3, 4, (state.records / 32) as u8);
            }
            self.late_days += days_between(state.due, now);
        }
        state.add_record(visit.changed);
        state.last = Some(PageState::whole(now));
        (self.visits, self.all_visits) = (self.visits + 1, self.all_visits + 1);
        self.introduce(page, state);
        self.tune(now);
        let days = match cycle_by_hand(state) {
            Some(days) => days,
            None => self.interval(&member(page, state), self.price, self.round_days()),
        };
        let days = moved(days, page.key, state.records.into());
        state.due = PageState::whole(after(now, days));
    }
}

fn member(page: &Page, state: &PageState) -> Member {
    Member {
        key: page.key,
        weight: page.weight as f32,
        dearness: page.dearness as f32,
        records: state.records,
        evidence: state.evidence,
    }
}

impl Revisit for Fresh {
    fn name(&self) -> &'static str {
        "fresh"
    }

    fn step(&mut self, page: &Page, mut state: PageState, event: Event, now: Time) -> Step {
        match event {
            Event::Found => {
                self.introduce(page, &state);
                state.due = PageState::whole(now);
            }
            Event::MadeDue => state.due = PageState::whole(now),
            Event::Visited(visit) => self.visited(page, &mut state, visit, now),
            Event::Failed => {
                let interval = state.last.map_or(1.0, |last| days_between(last, state.due).max(0.04));
                retry(&mut state, interval, page, now);
            }
            Event::Hint(hint) => self.hinted(page, &mut state, hint, now),
        }
        Step::only(state)
    }

    fn forget(&mut self, page: &Page) {
        self.crowd.forget(page.key);
    }
}

impl Fresh {
    /// A hint makes a page due earlier, the less so the more often hints led nowhere.
    fn hinted(&self, _page: &Page, state: &mut PageState, hint: Hint, now: Time) {
        let Some(last) = state.last else { return };
        let believed = 1.0 / f64::from(1_u32 << state.trust.idle_hints.min(3));
        let share = match hint {
            Hint::Modified(at) if at <= last => return,
            Hint::Modified(_) => 1.0 - believed,
            Hint::Mentioned => 1.0 - 0.5 * believed,
        };
        let soonest = last.plus(self.settings.soonest);
        let sooner = after(now, share * days_between(now, state.due)).max(soonest);
        state.due = PageState::whole(sooner.min(state.due));
    }
}

impl Trust {
    /// Whether Last-Modified may be taken for the time of a change.
    pub fn believed(&self) -> bool {
        self.agreed >= 2 + 3 * self.lied
    }

    /// Compares what a server says of a page's last change with what was seen, and gives the days
    /// since that change, where it changed and the server is believed.
    fn weigh(&mut self, visit: &Visit, last: Time, now: Time) -> Option<f64> {
        let said = visit.modified?;
        let since_visit = said > last;
        // A server that says "just now" to everybody knows nothing.
        let always_now = days_between(said, now) * 86_400.0 < 5.0;
        let believed = self.believed();
        if since_visit == visit.changed && !always_now {
            self.agreed = (self.agreed + 1).min(7);
        } else {
            self.lied = (self.lied + 1).min(7);
            self.agreed = self.agreed.saturating_sub(2);
        }
        (visit.changed && since_visit && !always_now && believed)
            .then(|| days_between(said, now))
    }
}

/// For tests of what evidence is worth.
#[cfg(test)]
impl Fresh {
    pub(super) fn interval_of(&self, page: &Page, evidence: Evidence) -> f64 {
        let state = PageState { evidence, records: 9, ..PageState::default() };
        self.interval(&member(page, &state), self.price, self.round_days())
    }
}
