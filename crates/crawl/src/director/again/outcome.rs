//! What came of a visit: what the policy is told, when the page is looked at next, and which others
//! it makes due.

use super::{LATER, Return, cycle_of};
use crate::ask::cycled;
use crate::director::Director;
use crate::gather::{Kind, SLOW};
use crate::group::PageDone;
use crate::run::EngineError;
use argiope_frontier::revisit::{Event, Page, Visit};
use argiope_model::{ChangeReason, OutcomeKind, Role, Time, UrlKey, Verdict};
use argiope_store::{Next, UrlState};
use std::sync::Arc;

impl Director {
    /// A page has come back: what is remembered of it, and what it says of others.
    pub(in crate::director) fn plan(&mut self, page: &mut PageDone, now: Time) {
        if let Next::Retry(_) = page.next {
            return;
        }
        if page.entry.again {
            self.again.out = self.again.out.saturating_sub(1);
            self.again.rechecks.back(page.entry.key, now);
        }
        if page.entry.expand {
            let job = self.jobs.get(&page.entry.job);
            if job.is_some_and(|active| active.job.news) && self.again.keep != Return::Never {
                self.again.taken_over.push(page.entry.key);
            }
            return;
        }
        let known = page.again.take();
        let verdict = page.capture.as_mut().and_then(|capture| {
            let new = !page.entry.again && capture.outcome.kind == OutcomeKind::Fetched;
            if new {
                capture.verdict = Some(Verdict::of(ChangeReason::New));
            }
            capture.verdict
        });
        let changed = verdict.is_some_and(|verdict| verdict.reason.counts());
        // An error in place of the page is no record of it.
        let stands_in = verdict.is_some_and(|v| v.reason == ChangeReason::ErrorPage);
        self.count_news(page, changed, stands_in);
        let mut before = known.as_ref().map(|known| known.plan).unwrap_or_default();
        // What was set by hand while it was out holds.
        if let Some(cycle) = self.again.cycles.get(&page.entry.key) {
            before.cycle = *cycle;
        }
        let event = match page.next {
            Next::Done(UrlState::Fetched | UrlState::Redirected) => Event::Visited(Visit {
                changed,
                modified: page.capture.as_ref().and_then(|c| c.last_modified),
                children: known.as_ref().map(|known| known.seen).unwrap_or_default(),
            }),
            Next::Done(UrlState::Failed) => Event::Failed,
            // It was not asked for: later.
            Next::Expanded if page.entry.again => Event::Failed,
            _ => return,
        };
        let event = if stands_in { Event::Failed } else { event };
        self.count_visit(page, changed, stands_in);
        let (key, url) = (page.entry.key, page.entry.url.clone());
        if let (Return::Watch, false, Some(allowance)) =
            (self.again.keep, page.entry.again, &mut self.again.allowance)
        {
            allowance.spend(now);
        }
        if let Some(allowance) = &mut self.again.allowance {
            page.looks.iter().for_each(|_| allowance.spend(now));
        }
        // A page that was not asked for has no plan at hand: it stays as it was planned, and comes again later.
        if known.is_none() && page.entry.again {
            let kind = (Kind::of(page.entry.role, page.entry.depth), false);
            let cadence = self.cadence_of(page.entry.job, &url, kind, now, 1, now);
            let wait = cycle_of(&before, &self.again.said(&url), cadence).unwrap_or(LATER);
            self.again.near(now.plus(wait), key);
            return;
        }
        let mut step = self.again.step(&Page::new(key.url), &url, before, event, now);
        let first_seen = known.as_ref().and_then(|known| known.first_seen).unwrap_or(now);
        let moved = page.next == Next::Done(UrlState::Redirected);
        let kind = (Kind::of(page.entry.role, page.entry.depth), moved);
        let failures = step.state.failures;
        let cadence = self.cadence_of(page.entry.job, &url, kind, first_seen, failures, now);
        if let Some(every) = cycle_of(&before, &self.again.said(&url), cadence) {
            step.state.due = now.plus(every);
            if self.is_gone(page) {
                // It may come back, but not before long.
                step.state.due = now.plus(every.max(SLOW));
            }
        }
        page.plan = Some(step.state);
        self.again.near(step.state.due, key);
        let Some(known) = known else { return };
        if step.expand {
            for child in known.children {
                self.make_due(child, now);
            }
        }
        for (other, plan, hint) in known.hints {
            // Whose rules hold for it is not looked up: a hint is only a hint.
            let name = self.again.policies.settings.policy;
            let step = self.again.policies.get(name).step(
                &Page::new(other.url),
                plan,
                Event::Hint(hint),
                now,
            );
            if step.state.due < plan.due {
                self.batch.plans.push((other, step.state));
                self.again.near(step.state.due, other);
            }
        }
    }

    /// How often a page is visited was set by hand.
    pub(in crate::director) fn set_cycle(
        &mut self,
        key: UrlKey,
        every: Option<u64>,
    ) -> Result<(), EngineError> {
        let rows = self.shared.blocking(|| self.shared.store.urls(&[key]));
        let rows = rows.map_err(|e| EngineError::Failed(Arc::new(e)))?;
        if let Some(row) = rows.into_iter().flatten().next() {
            let plan = cycled(&row, every);
            self.batch.plans.push((key, plan));
            self.again.cycles.insert(key, plan.cycle);
            self.again.near(plan.due, key);
        }
        Ok(())
    }

    /// A child of a page that was expanded again is due this round.
    fn make_due(&mut self, key: UrlKey, now: Time) {
        let rows = self.shared.blocking(|| self.shared.store.urls(&[key]));
        let Ok(rows) = rows else { return };
        let Some(row) = rows.into_iter().flatten().next() else { return };
        let seen_now = row.fetched_at.is_some_and(|at| at >= self.begun);
        if row.in_queue() || seen_now || !self.is_kept(&row.head, &row.url) {
            return;
        }
        match self.again.keep {
            Return::Due | Return::All => self.visit_again(key, &row.head),
            Return::Watch => {
                let plan = row.plan.unwrap_or_default();
                let page = Page::new(key.url);
                let step = self.again.step(&page, &row.url, plan, Event::MadeDue, now);
                self.batch.plans.push((key, step.state));
                self.again.near(step.state.due, key);
            }
            Return::Never => {}
        }
    }

    fn count_visit(&mut self, page: &PageDone, changed: bool, stands_in: bool) {
        // What was refused was not visited.
        if !page.entry.again || page.entry.role != Role::Page || page.capture.is_none() {
            return;
        }
        let tally = &mut self.again.tally;
        tally.visited += 1;
        match page.next {
            Next::Done(UrlState::Fetched) if stands_in => tally.failed += 1,
            Next::Done(UrlState::Fetched) if changed => tally.changed += 1,
            Next::Done(UrlState::Fetched) => tally.unchanged += 1,
            Next::Done(UrlState::Redirected) => tally.gone += 1,
            Next::Done(UrlState::Failed) => {
                let status = page.capture.as_ref().map_or(0, |c| c.outcome.status);
                match status {
                    404 | 410 => tally.gone += 1,
                    _ => tally.failed += 1,
                }
            }
            _ => tally.failed += 1,
        }
    }
}
