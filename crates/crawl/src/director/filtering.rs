//! Filters that are changed while a crawl runs.
//!
//! * What this is: taking over a job's new filter, and queueing again what only the former one refused.
//! * Invariant: nothing is asked for against a filter from the moment it is heard of: every link, every
//!   answer and every row that is offered is judged by the newest. Who asked for it is told
//!   when it is written down.
//! * What is not here: finding what comes back, which reads the whole store and is done aside
//!   (`control`).

use super::Director;
use crate::filters::{FilterChange, placed};
use argiope_filter::Filter;
use argiope_frontier::SkipReason;
use argiope_model::{Job, JobId, JobState};
use argiope_store::{Discovery, JobChange, Next, UrlState};
use std::collections::VecDeque;
use std::sync::{Arc, mpsc as blocking};

const REFUSED: Next = Next::Done(UrlState::Skipped(SkipReason::Filter));

impl Director {
    /// A job obeys another filter from now on.
    pub(super) fn change_filter(&mut self, change: FilterChange, done: blocking::SyncSender<()>) {
        let Some((job, state)) = self.known_job(change.job) else { return };
        self.looked_for.push(Arc::downgrade(&change.looking));
        let renewed = Job { filter: change.text, ..job };
        self.obey(&renewed, change.filter);
        self.batch.jobs.push(JobChange::Renew(Box::new(renewed)));
        if state != JobState::Open {
            self.batch.jobs.push(JobChange::State(change.job, state));
        }
        self.told_next.push(done);
    }

    /// The filters of all jobs by the word of the store, where somebody else may have changed one.
    pub(super) fn filters_of_others(&mut self, filters: Vec<(JobId, Option<String>)>) {
        // What was asked for here and is not written down yet is newer.
        if self.batch.jobs.iter().any(|change| matches!(change, JobChange::Renew(_))) {
            return;
        }
        for (id, text) in filters {
            let Some(active) = self.jobs.get(&id).filter(|a| a.job.filter != text) else {
                continue;
            };
            let filter = text.as_deref().map(Filter::from_text).transpose();
            let renewed = Job { filter: text, ..active.row.job.clone() };
            match filter {
                Ok(filter) => self.obey(&renewed, filter.map(Arc::new)),
                Err(e) => tracing::error!(job = id.0, "its new filter is not obeyed: {e}"),
            }
        }
    }

    fn known_job(&self, id: JobId) -> Option<(Job, JobState)> {
        match self.jobs.get(&id) {
            Some(active) => Some((active.row.job.clone(), active.row.state)),
            None => self.stored_job(id).map(|row| (row.job, row.state)),
        }
    }

    fn obey(&mut self, job: &Job, filter: Option<Arc<Filter>>) {
        self.shared.filters.put(job.id, filter);
        if let Some(active) = self.jobs.get_mut(&job.id) {
            active.row.job.filter.clone_from(&job.filter);
            Arc::make_mut(&mut active.job).filter.clone_from(&job.filter);
        }
        // What was passed over may be news now.
        self.shared.seen.clear();
        let now = self.now();
        let refused = |page: &crate::group::PageDone| {
            page.capture.is_none() && page.next == REFUSED && page.entry.job == job.id
        };
        let (back, rest): (VecDeque<_>, _) =
            std::mem::take(&mut self.pending).into_iter().partition(refused);
        self.pending = rest;
        for page in back {
            self.frontier.give_back(page.entry, now);
        }
    }

    /// URLs that only a former filter refused are queued again.
    pub(super) fn queue_again(&mut self, id: JobId, found: Vec<Discovery>) {
        let Some((job, state)) = self.known_job(id) else { return };
        if state == JobState::Done {
            self.reorder(id, JobState::Open);
        }
        let page = self.next_page;
        self.next_page += 1;
        self.batch.discoveries.extend(placed(found, &job, page));
    }

    /// Whether somebody still looks for what comes back.
    pub(super) fn is_looked_for(&self) -> bool {
        self.looked_for.iter().any(|looking| looking.strong_count() > 0)
    }

    /// A link that a visit left alone under a filter which has been changed since.
    pub(super) fn still_skipped(
        &self,
        job: &Job,
        found: &crate::group::Found,
    ) -> Option<SkipReason> {
        let shared = &self.shared;
        let lets = |filter: Arc<Filter>| {
            let known = Default::default();
            !shared.filters.refuses(&filter, job, &found.url, &shared.suffixes, known)
        };
        match found.skip {
            Some(SkipReason::Filter) if shared.filters.of(job.id).is_none_or(lets) => None,
            skip => skip,
        }
    }
}
