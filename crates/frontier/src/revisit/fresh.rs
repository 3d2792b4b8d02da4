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

use super::belief::{Belief, ChangeRate, Plan, Probe, place_of};
use super::crowd::{Crowd, Knowledge, Member};
use super::fixed::{cycle_by_hand, retry};
use super::optimum::find_price;
use super::state::{PageState, Trust};
use super::timing::{after, days_between, moved};
use super::{Event, Hint, Page, Revisit, Step, Visit};
use argiope_model::Time;
use std::time::Duration;

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
            horizon_rounds: 12.0,
        }
    }
}

/// The policy and what it has learned of all pages together.
#[derive(Clone, Debug)]
pub struct Fresh {
    settings: FreshSettings,
    crowd: Crowd,
    price: f64,
    /// What a probe must be worth, and what part of the budget probes take.
    threshold: f64,
    exploring: f64,
    /// Since the price was last found.
    since: Option<Time>,
    visits: u64,
    late_days: f64,
    explored: f64,
    all_visits: u64,
    /// Visits a day that are possible: fewer than the budget where sites allow no more.
    able: f64,
    /// Pages there are, where that was told.
    told_pages: f64,
}

/// The largest part of the budget that exploring takes.
const MOST_EXPLORING: f64 = 0.3;

/// The least a probe must be worth, in prices of it.
const LEAST_WORTH: f64 = 0.2;

const KNOWLEDGE_VERSION: u8 = 1;

impl Fresh {
    /// A policy that knows nothing yet.
    pub fn new(settings: FreshSettings) -> Self {
        Fresh {
            settings,
            crowd: Crowd::default(),
            price: 1.0,
            threshold: 1.0,
            exploring: 0.0,
            since: None,
            visits: 0,
            late_days: 0.0,
            explored: 0.0,
            all_visits: 0,
            able: settings.per_day,
            told_pages: 0.0,
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
            if sound(known.price) {
                fresh.price = known.price;
            }
            if sound(known.threshold) && known.exploring.is_finite() {
                fresh.threshold = known.threshold;
                fresh.exploring = known.exploring.clamp(0.0, MOST_EXPLORING);
            }
        }
        fresh
    }

    /// What to write down for the next start.
    pub fn knowledge(&self) -> Knowledge {
        Knowledge {
            version: KNOWLEDGE_VERSION,
            price: self.price,
            threshold: self.threshold,
            exploring: self.exploring,
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
            (self.since, self.visits, self.late_days, self.explored) = (None, 0, 0.0, 0.0);
        }
    }

    /// What is believed of a page's change rate, in changes a day.
    pub fn change_rate(&self, state: &PageState) -> ChangeRate {
        Belief::of(&state.evidence, self.crowd.prior()).change_rate()
    }

    /// How many pages there are. Without it they are counted as they come, which after a restart
    /// takes until many of them have come.
    pub fn set_pages(&mut self, pages: u64) {
        self.told_pages = pages as f64;
    }

    /// Puts a page before the crowd without a visit: after a restart, for any fair part of the
    /// pages, so that what they are like need not be learned from their next visits.
    pub fn introduce(&mut self, page: &Page, state: &PageState) {
        self.crowd.note(member(page, state));
    }

    fn pages(&self) -> f64 {
        self.crowd.pages().max(self.told_pages)
    }

    /// Days for the budget to go through all pages once.
    fn round_days(&self) -> f64 {
        (self.pages() / self.settings.per_day.max(1e-9)).max(1e-6)
    }

    /// The longest interval, in days.
    fn longest(&self, round_days: f64) -> f64 {
        let latest = self.settings.latest.as_secs_f64() / 86_400.0;
        (round_days / self.settings.kept_for_dropped.max(1e-6)).min(latest).max(1e-3)
    }

    fn plan(&self, member: &Member) -> Plan {
        let round_days = self.round_days();
        let belief = Belief::of(&member.evidence, self.crowd.prior());
        let horizon = (self.settings.horizon_rounds * round_days) as f32;
        let longest = place_of(self.longest(round_days));
        belief.plan(member.weight, scaled(self.price, member), horizon, longest)
    }

    /// The interval for a page that was just visited, in days, before it is moved, and whether it
    /// is one to be thought over again.
    fn interval(&mut self, member: &Member) -> (f64, bool) {
        let plan = self.plan(member);
        let worth = |probe: &Probe| f64::from(probe.wins / probe.extra);
        let probe = plan.probe.filter(|probe| worth(probe) > self.threshold);
        let cost = probe.map_or(0.0, |probe| f64::from(probe.extra));
        // The threshold finds the level above which probes take their part of the budget.
        self.threshold *= (0.05 * (cost - MOST_EXPLORING)).exp();
        self.threshold = self.threshold.clamp(LEAST_WORTH, 1e6);
        self.explored += cost;
        let days = probe.map_or(plan.days, |probe| probe.days);
        let soonest = self.settings.soonest.as_secs_f64() / 86_400.0;
        // What is put off for long is thought over once in a round: prices move.
        let (days, long) = (f64::from(days).max(soonest), self.round_days().max(soonest));
        if days > 1.5 * long { (long, true) } else { (days, false) }
    }

    /// The turn of a page that was visited before: whether it is visited, and otherwise until when
    /// it is put off, in days from its last visit.
    fn turn(&mut self, member: &Member, elapsed: f64) -> Option<(f64, bool)> {
        let plan = self.plan(member);
        let (round, days) = (self.round_days(), f64::from(plan.days));
        if elapsed >= 0.9 * days {
            return None;
        }
        let probe = plan.probe.filter(|probe| f64::from(probe.wins / probe.extra) > self.threshold);
        if let Some(probe) = probe {
            if elapsed < f64::from(probe.days) {
                return Some((f64::from(probe.days), false));
            }
            // Too late for it: now a visit, and the probe after that.
            if f64::from((probe.wins - 1.0) / (1.0 + probe.extra)) > self.threshold {
                self.explored += 1.0;
                return None;
            }
        }
        // Its own time is near: no more thinking over.
        if days < elapsed + 1.5 * round {
            Some((days, false))
        } else {
            Some((elapsed + round, true))
        }
    }

    /// Finds prior and price anew where enough has happened.
    fn tune(&mut self, now: Time) {
        let pages = self.pages();
        let often = (pages.min(self.all_visits as f64) / 8.0).max(32.0);
        let first = self.since.is_none();
        if !first && (self.visits as f64) < often {
            return;
        }
        let round_days = self.round_days();
        // Late visits are a queue, early ones an empty one; its length in rounds of all pages.
        let queue = self.late_days / self.visits.max(1) as f64 / round_days;
        let correction = 1.0 - (0.5 * queue).clamp(-0.2, 0.2);
        self.able = match self.since {
            // What waits although the budget is not used cannot be had: plan for what can.
            Some(since) if queue > 0.05 => self.visits as f64 / days_between(since, now).max(1e-9),
            Some(_) => 1.1 * self.able,
            None => self.settings.per_day,
        };
        self.able = self.able.min(self.settings.per_day);
        self.crowd.learn(if first { 10 } else { 3 });
        let beliefs = self.crowd.beliefs();
        let scale = pages / beliefs.len().max(1) as f64;
        let budget = self.able.max(1e-9) / scale;
        let place = place_of(self.longest(round_days));
        let steady = |price: f64| {
            let rate = |(member, belief): &(Member, Belief)| {
                1.0 / f64::from(belief.steady_interval(member.weight, scaled(price, member), place))
            };
            beliefs.iter().map(rate).sum::<f64>()
        };
        let price =
            find_price(budget * correction * (1.0 - self.exploring), self.price, 0.01, steady);
        // After a restart a few pages do not speak for all.
        let enough = beliefs.len() as f64 >= 0.25 * pages.min(1000.0);
        if enough && price.is_finite() && price > 0.0 {
            self.price = price;
        }
        let explored = self.explored / self.visits.max(1) as f64;
        self.exploring += 0.3 * (explored.min(0.5) - self.exploring);
        (self.since, self.visits, self.late_days, self.explored) = (Some(now), 0, 0.0, 0.0);
    }

    fn visited(&mut self, page: &Page, state: &mut PageState, visit: Visit, now: Time) {
        if let Some(last) = state.last.filter(|last| now > *last) {
            let days = days_between(last, now);
            let quiet = state.trust.weigh(&visit, last, now);
            state.evidence.add(days, visit.changed, quiet);
            if state.records % 32 == 31 && state.records < u16::MAX {
                state.evidence.fade(3, 4, (state.records / 32) as u8);
            }
            // What was looked at out of turn says nothing of the queue.
            let late = days_between(state.due, now) - days_between(now, state.due);
            self.late_days += late.clamp(-self.round_days(), self.round_days());
        }
        if visit.changed {
            state.trust.idle_hints = 0;
        }
        state.add_record(visit.changed);
        state.last = Some(PageState::whole(now));
        (self.visits, self.all_visits) = (self.visits + 1, self.all_visits + 1);
        self.introduce(page, state);
        self.tune(now);
        let (days, parked) = match cycle_by_hand(state) {
            Some(days) => (days, false),
            None => self.interval(&member(page, state)),
        };
        // What is taken early, since there was budget left, counts from when it was due: the whole
        // calendar moves faster then, for frequent pages and rare ones alike. What was looked at
        // long before its time was so for another reason.
        let early = match state.cycle {
            0 => days_between(now, state.due).min(0.5 * days),
            _ => 0.0,
        };
        state.parked = parked;
        let days = early + moved(days, page.key, state.records.into());
        state.due = PageState::whole(after(now, days));
    }
}

/// The price of a visit to a member.
fn scaled(price: f64, member: &Member) -> f32 {
    (price * f64::from(member.dearness)).clamp(1e-30, 1e30) as f32
}

fn member(page: &Page, state: &PageState) -> Member {
    Member {
        key: page.key,
        weight: page.weight as f32,
        dearness: page.dearness as f32,
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
            Event::MadeDue => (state.due, state.parked) = (PageState::whole(now), false),
            Event::Turn => return self.turned(page, state, now),
            Event::Visited(visit) => self.visited(page, &mut state, visit, now),
            Event::Failed => {
                let interval =
                    state.last.map_or(1.0, |last| days_between(last, state.due).max(0.04));
                state.parked = false;
                retry(&mut state, interval, page, now);
            }
            Event::Hint(hint) => self.hinted(&mut state, hint, now),
        }
        Step::only(state)
    }

    fn eager(&self) -> bool {
        true
    }

    fn forget(&mut self, page: &Page) {
        self.crowd.forget(page.key);
    }
}

impl Fresh {
    fn turned(&mut self, page: &Page, mut state: PageState, now: Time) -> Step {
        // What is taken early is thought over as of its time.
        let last = state.last.filter(|_| state.parked && state.cycle == 0);
        let put_off = last.and_then(|last| {
            let elapsed = days_between(last, now.max(state.due));
            let (days, parked) = self.turn(&member(page, &state), elapsed)?;
            Some((PageState::whole(after(last, days.max(elapsed + 0.001))), parked))
        });
        match put_off {
            Some((due, parked)) => {
                (state.due, state.parked) = (due, parked);
                Step::only(state)
            }
            None => Step { visit: true, ..Step::only(state) },
        }
    }

    /// A hint makes a page due earlier, the less so the more of them led to no change.
    fn hinted(&self, state: &mut PageState, hint: Hint, now: Time) {
        let Some(last) = state.last else { return };
        let believed = 1.0 / f64::from(1_u32 << state.trust.idle_hints.min(3));
        let share = match hint {
            Hint::Modified(at) if at <= last => return,
            Hint::Modified(_) => 1.0 - believed,
            Hint::Mentioned => 1.0 - 0.5 * believed,
        };
        let soonest = last.plus(self.settings.soonest);
        let sooner = after(now, share * days_between(now, state.due)).max(soonest);
        if sooner < state.due {
            (state.due, state.parked) = (PageState::whole(sooner), false);
            state.trust.idle_hints = (state.trust.idle_hints + 1).min(3);
        }
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
            self.lied = (self.lied + 1).min(3);
            self.agreed = self.agreed.saturating_sub(2);
        }
        (visit.changed && since_visit && !always_now && believed).then(|| days_between(said, now))
    }
}
