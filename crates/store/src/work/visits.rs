//! Results of URLs that were handed out.

use super::overlay::Work;
use super::{Base, Marks, Table, key};
use crate::StoreError;
use crate::batch::{Next, PageResult};
use crate::row::{self, PayloadRow, UrlState, damaged};
use crate::rule::{after_result, was_handed_out};
use argiope_frontier::Entry;
use argiope_model::{JobState, OutcomeKind, Role};

impl<B: Base> Work<'_, B> {
    pub(super) fn page(&mut self, page: PageResult) -> Result<(), StoreError> {
        let PageResult { entry, next, capture, .. } = page;
        self.delete(Table::Queue, key::ready(entry.key.host, entry.place));
        let is_page = entry.role == Role::Page;
        let host = self.known_host(entry.key.host)?;
        host.ready = host.ready.saturating_sub(1);
        if let Some(capture) = &capture {
            host.bytes += capture.bytes;
            match next {
                Next::Done(UrlState::Fetched) if is_page => host.fetched += 1,
                Next::Done(UrlState::Failed) | Next::Retry(_) => host.failed += 1,
                _ => {}
            }
        }
        if let Some(capture) = &capture {
            self.weigh(entry.key.host, capture)?;
        }
        let counters = self.counters(entry.job)?;
        if is_page {
            counters.words += page.words;
            counters.links += page.link_count;
        }
        // It may be left alone, or given up, without being asked for.
        match next {
            Next::Done(UrlState::Skipped(reason)) => *counters.skipped_mut(reason) += 1,
            Next::Done(UrlState::Failed) => counters.failed += 1,
            _ => {}
        }
        if let Some(capture) = &capture {
            counters.bytes += capture.bytes;
            match next {
                Next::Done(UrlState::Fetched) if !is_page => counters.sitemaps += 1,
                Next::Done(UrlState::Fetched)
                    if capture.outcome.kind == OutcomeKind::NotModified =>
                {
                    counters.unchanged += 1;
                }
                Next::Done(UrlState::Fetched) => counters.fetched += 1,
                Next::Done(UrlState::Redirected) => counters.redirects += 1,
                Next::Done(UrlState::Failed) | Next::Retry(_) => counters.errors += 1,
                _ => {}
            }
        }
        let Some(row) = self.row(entry.key)? else {
            return Err(damaged("URLs", format!("{} was handed out and is unknown", entry.url)));
        };
        if !was_handed_out(&row.head, &entry) {
            return Err(damaged("URLs", format!("{} has a result and no ready row", entry.url)));
        }
        row.dirty = true;
        let head = &mut row.head;
        if let Some(capture) = &capture {
            head.fetched_at = Some(capture.time);
        }
        match next {
            Next::Retry(due) => {
                head.attempts = head.attempts.saturating_add(1);
                head.due = Some(due);
                let value = row::encode(&(entry.place, head.job()));
                self.kept.marks.due(due, entry.key);
                self.put(Table::Queue, key::calendar(due, entry.key), value);
            }
            Next::Done(state) => {
                head.state = state;
                head.attempts = 0;
                if state == UrlState::Fetched {
                    head.visits += 1;
                    if page.changed && head.visits > 1 {
                        head.changes += 1;
                    }
                    if page.changed {
                        head.changed_at = capture.as_ref().map(|c| c.time);
                    }
                }
                self.whose_turn(&entry)?;
            }
            Next::Expanded => self.whose_turn(&entry)?,
        }
        if let Some(blob) = page.links {
            self.put(Table::Links, entry.key.to_bytes(), blob);
        }
        if let Some(capture) = capture {
            let part = entry.key.host.part;
            let n = self.next_change(part)?;
            let ended = row::Ended::of(&next);
            let value = row::encode_change(entry.key, capture.time, page.changed, entry.doc, ended);
            self.put(Table::Log, key::log(part, n), value);
            if let Some(payload) = page.payload {
                let first =
                    PayloadRow { url: entry.url.clone(), time: capture.time, text: capture.text };
                let k = key::payload(payload.site, &payload.digest);
                self.put(Table::Payloads, k, row::encode(&first));
            }
            let k = key::capture(entry.key, capture.time);
            self.put(Table::Captures, k, row::encode(&capture));
        }
        Ok(())
    }

    /// Takes the URL out of the queue, or gives it to who has it next.
    fn whose_turn(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let (row, jobs) = self.row_and_jobs(entry.key);
        let done = after_result(
            &mut row.head,
            entry,
            |job| jobs.get(&job).map_or(JobState::Dropped, |row| row.state),
            |job| jobs.get(&job).is_some_and(|row| row.job.limits.depth.is_some()),
        );
        let head = &row.head;
        let next = head.place.map(|place| Entry {
            place,
            job: head.job(),
            depth: head.depth,
            attempts: 0,
            expand: head.expand,
            ..entry.clone()
        });
        for job in done {
            self.counters(job)?.queued -= 1;
        }
        next.map_or(Ok(()), |entry| self.enqueue(entry))
    }
}
