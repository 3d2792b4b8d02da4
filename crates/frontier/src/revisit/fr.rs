//! `fr` and `selective`: the adaptive, selective visiting of rounds.
//!
//! `fr_max` is an interval in rounds. In each round fr = max(0, fr − 1), and at 0 the page is due.
//! Nobody counts down hundreds of millions of pages: what fr is in a round follows from what it
//! was at the last visit ([`Fr::fr_at`]), and so does the round in which it will be 0. A round that
//! could not fetch leaves it at 0.

use super::children::Selective;
use super::fixed::cycle_by_hand;
use super::records::next_fr_max;
use super::state::PageState;
use super::timing::{after, moved, round_of, turn_in};
use super::{Event, Page, Revisit, Step};
use argiope_model::Time;
use std::time::Duration;

/// Visiting in rounds, each page every `fr_max` of them, learned from its records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fr {
    /// The length of a round.
    pub round: Duration,
    /// How many records are looked at, at most 64.
    pub limit: u32,
    /// The gate for unchanged pages, where wanted.
    pub selective: Option<Selective>,
}

impl Default for Fr {
    fn default() -> Self {
        Fr { round: Duration::from_secs(86_400), limit: 20, selective: None }
    }
}

impl Fr {
    /// `fr` with the `selective` gate.
    pub fn selective() -> Self {
        Fr { selective: Some(Selective::default()), ..Fr::default() }
    }

    /// What `fr` of a page is in the round of `now`; at 0 the page is due.
    pub fn fr_at(&self, state: &PageState, now: Time) -> u8 {
        let Some(last) = state.last else { return 0 };
        let rounds = round_of(now, self.round) - round_of(last, self.round);
        state.fr.saturating_sub(u8::try_from(rounds.max(0)).unwrap_or(u8::MAX))
    }

    fn visited(&self, page: &Page, state: &mut PageState, changed: bool, now: Time) {
        state.add_record(changed);
        state.last = Some(PageState::whole(now));
        let (counter, _) = state.differing(self.limit);
        state.fr_max = next_fr_max(state.fr_max, state.records.into(), counter, self.limit).max(1);
        state.fr = state.fr_max;
        state.due = match cycle_by_hand(state) {
            Some(days) => PageState::whole(after(now, moved(days, page.key, state.records.into()))),
            None => {
                let number = round_of(now, self.round) + i64::from(state.fr);
                PageState::whole(turn_in(number, self.round, page.key)).max(after(now, 0.0))
            }
        };
    }
}

impl Revisit for Fr {
    fn name(&self) -> &'static str {
        if self.selective.is_some() { "selective" } else { "fr" }
    }

    fn step(&mut self, page: &Page, mut state: PageState, event: Event, now: Time) -> Step {
        match event {
            Event::Found | Event::MadeDue => {
                state.fr = 0;
                state.due = PageState::whole(now);
            }
            Event::Turn => return Step { visit: true, ..Step::only(state) },
            Event::Visited(visit) => {
                // A changed page is taken in like any new one. Of an unchanged one the children
                // are asked whether it is worth it.
                let gate = self.selective.filter(|_| !visit.changed && state.records > 0);
                let mut expand = false;
                if let Some(gate) = gate {
                    (expand, state.threshold) = gate.decide(state.threshold, visit.children);
                }
                self.visited(page, &mut state, visit.changed, now);
                return Step { expand, ..Step::only(state) };
            }
            Event::Failed => {
                state.fr = 0;
                state.failures = state.failures.saturating_add(1);
                let next = round_of(now, self.round) + 1;
                state.due = PageState::whole(turn_in(next, self.round, page.key));
            }
            Event::Hint(_) => {}
        }
        Step::only(state)
    }
}
