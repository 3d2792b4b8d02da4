//! Best-first: what a page hands to its links, and the rows that move for it.
//!
//! * What this is: telling [`argiope_frontier::Merits`] what was read, and having rows moved whose scores
//!   have risen, in the batch of the page that raised them.
//! * Invariant: a row that is out is never moved, and one that is being moved is not handed out before the
//!   store has told where it is: its result names its place.
//! * What is not here: what a URL is worth (`frontier`), moving rows (`store`). Jobs in another order have
//!   nothing of this.

use super::Director;
use crate::group::{Found, KnownLink, PageDone};
use argiope_frontier::{HostWindow, Score};
use argiope_model::{Job, JobId, Order, Time, UrlKey};
use argiope_store::{Move, Next, UrlState};
use std::collections::BTreeMap;

impl Director {
    /// What each link of a page gets. A redirect's one target gets all.
    pub(super) fn share_of(&self, page: &PageDone) -> f64 {
        let entry = &page.entry;
        if !matches!(page.next, Next::Done(_) | Next::Expanded) {
            return 0.0;
        }
        let mut merits = self.live.merits();
        if page.capture.is_some() {
            let good = matches!(page.next, Next::Done(UrlState::Fetched | UrlState::Redirected));
            merits.answered(entry.key.host, good);
        }
        let cash = merits.spend(entry.job, entry.key, entry.place);
        let new = page.found.iter().filter(|found| found.skip.is_none()).count();
        cash / (new + page.known.len()).max(1) as f64
    }

    /// What a URL is worth that may be new.
    pub(super) fn score(
        &self,
        job: &Job,
        found: &Found,
        share: f64,
        moves: &mut Vec<Move>,
    ) -> Score {
        if found.skip.is_some() {
            return Score::WORST;
        }
        // A job that is about something has said it already.
        if let Some(score) = found.score {
            return score;
        }
        let given = self.live.merits().give(job.id, found.key, share, found.other_site);
        let (score, risen) = given;
        if risen {
            moves.push(raised(job.id, found.key, score));
        }
        score
    }

    /// What is known already gets its share too, but from a page that has handed it out before. A job that is
    /// about something goes by that alone.
    pub(super) fn raise_known(
        &self,
        job: &Job,
        page: &mut PageDone,
        share: f64,
        moves: &mut Vec<Move>,
    ) {
        let known = std::mem::take(&mut page.known);
        if page.entry.again || job.aim.is_some() {
            return;
        }
        for KnownLink { key, other_site } in known {
            let risen = self.live.merits().raise(job.id, key, share, other_site);
            moves.extend(risen.map(|score| raised(job.id, key, score)));
        }
    }

    /// Only the last word on a row counts, and only on one that is not out.
    pub(super) fn put_moved_aside(&mut self, moves: &mut Vec<Move>, now: Time) {
        if moves.is_empty() {
            return;
        }
        let last: BTreeMap<UrlKey, Move> = moves.drain(..).map(|to| (to.key, to)).collect();
        let rows: Vec<UrlKey> = last.keys().copied().collect();
        let out = self.frontier.put_aside(&rows, now);
        moves.extend(last.into_values().filter(|to| !out.contains(&to.key)));
    }

    /// Rows that were read bring their scores with them.
    pub(super) fn learn_scores(&self, window: &HostWindow) {
        let collects = |job: &Job| job.order == Order::Best && job.aim.is_none();
        if !self.jobs.values().any(|active| collects(&active.job)) {
            return;
        }
        for entry in window.entries.iter().filter(|entry| !entry.again && !entry.expand) {
            if self.jobs.get(&entry.job).is_some_and(|active| collects(&active.job)) {
                self.live.merits().learn(entry.job, entry.key, entry.place);
            }
        }
    }
}

fn raised(job: JobId, key: UrlKey, score: Score) -> Move {
    Move { key, job, score, may_fall: false }
}
