//! `fixed`: every page after the same interval.

use super::state::PageState;
use super::timing::{DAY_MS, after, moved};
use super::{Event, Hint, Page, Revisit, Step};
use argiope_model::Time;
use std::time::Duration;

/// Every page after the same interval, moved a little so that the hour of the visit wanders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// The interval.
    pub every: Duration,
}

impl Default for Fixed {
    fn default() -> Self {
        Fixed { every: Duration::from_secs(86_400) }
    }
}

impl Revisit for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn step(&mut self, page: &Page, mut state: PageState, event: Event, now: Time) -> Step {
        let interval = cycle_by_hand(&state).unwrap_or(self.every.as_millis() as f64 / DAY_MS);
        match event {
            Event::Found | Event::MadeDue => state.due = PageState::whole(now),
            Event::Visited(visit) => {
                state.add_record(visit.changed);
                state.last = Some(PageState::whole(now));
                let days = moved(interval, page.key, state.records.into());
                state.due = PageState::whole(after(now, days));
            }
            Event::Turn => return Step { visit: true, ..Step::only(state) },
            Event::Failed => retry(&mut state, interval, page, now),
            Event::Hint(Hint::Modified(_) | Hint::Mentioned) => {}
        }
        Step::only(state)
    }
}

/// The cycle set by hand, in days.
pub(super) fn cycle_by_hand(state: &PageState) -> Option<f64> {
    (state.cycle > 0).then(|| f64::from(state.cycle) / 96.0)
}

/// A visit that failed is tried again soon, then ever later, and never later than a visit would be.
pub(super) fn retry(state: &mut PageState, interval: f64, page: &Page, now: Time) {
    let hours = f64::from(1_u32 << state.failures.min(12));
    state.failures = state.failures.saturating_add(1);
    let days = moved((hours / 24.0).min(interval), page.key, state.failures.into());
    state.due = PageState::whole(after(now, days));
}
