//! Series of pages without end: what is held back, what is paused.

use super::Director;
use crate::group::PageDone;
use crate::log::trap_line;
use argiope_frontier::{Entry, Held, Place, SkipReason, Trap};
use argiope_model::{Order, Time};

impl Director {
    /// Where a row goes that is only to wait until everything else of its host is done; `None` for one
    /// that is refused.
    pub(super) fn later(&self, entry: &Entry, reason: SkipReason) -> Option<Place> {
        let order = self.jobs.get(&entry.job).map_or(Order::Breadth, |active| active.job.order);
        let held = self.shared.traps.holds(entry, order).filter(|_| reason == SkipReason::Trap)?;
        (held != Held::Paused).then(|| entry.place.held_back(order, held == Held::Last))
    }

    /// A pattern is wanted after all.
    pub(super) fn forgive_trap(&mut self, name: Box<str>, mut trap: Trap, now: Time) {
        trap.forgiven = Some(now);
        self.shared.traps.know(&name, Some(trap.clone()));
        self.batch.traps.push((name, Some(trap)));
    }

    /// A page was one too many of a series: that is written down with it, and what hangs on it.
    pub(super) fn pause_trap(&mut self, page: &mut PageDone, now: Time) {
        if page.traps.is_empty() {
            return;
        }
        for (name, mut trap) in std::mem::take(&mut page.traps) {
            trap.since = now;
            tracing::warn!(
                pattern = &*name,
                pages = trap.pages,
                deepest = trap.deepest,
                "pages without end: no more of them are asked for; see `argiope sites`"
            );
            self.log.push(trap_line(&name, &trap, &page.entry, now));
            self.shared.traps.know(&name, Some(trap.clone()));
            self.batch.traps.push((name, Some(trap)));
        }
        // What is refused from now on may be found elsewhere yet.
        self.shared.seen.clear();
    }
}
