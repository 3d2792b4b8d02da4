//! Results of URLs that were handed out.

use super::overlay::Work;
use super::{Base, Marks, Table, key};
use crate::StoreError;
use crate::batch::{Next, PageResult};
use crate::row::{self, PayloadRow, UrlState, damaged};
use crate::rule::{after_result, count_result, is_news, was_handed_out};
use argiope_frontier::Entry;
use argiope_model::{JobState, Role};

impl<B: Base> Work<'_, B> {
    pub(super) fn page(&mut self, page: PageResult) -> Result<(), StoreError> {
        self.delete(Table::Queue, key::ready(page.entry.key.host, page.entry.place));
        let Some(row) = self.row(page.entry.key)? else {
            let why = format!("{} was handed out and is unknown", page.entry.url);
            return Err(damaged("URLs", why));
        };
        let (before, first) = (row.head.state, row.head.visits == 0);
        count_result(self.counters(page.entry.job)?, before, first, &page);
        let PageResult { entry, next, capture, .. } = page;
        let host = self.known_host(entry.key.host)?;
        host.ready = host.ready.saturating_sub(1);
        if let Some(capture) = &capture {
            host.bytes += capture.bytes;
            match next {
                Next::Done(UrlState::Fetched) if first && entry.role == Role::Page => {
                    host.fetched += 1
                }
                Next::Done(UrlState::Failed) | Next::Retry(_) => host.failed += 1,
                _ => {}
            }
        }
        if let Some(capture) = &capture {
            self.weigh(entry.key.host, capture)?;
        }
        let row = self.read_row(entry.key);
        if !was_handed_out(&row.head, &entry) {
            return Err(damaged("URLs", format!("{} has a result and no ready row", entry.url)));
        }
        row.dirty = true;
        let head = &mut row.head;
        head.plan = page.plan.or(head.plan);
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
            Next::Later(place) => {
                head.place = Some(place);
                self.enqueue(Entry { place, ..entry.clone() })?;
            }
        }
        let news = is_news(before, &next, page.changed, page.links.is_some());
        if let Some(blob) = page.links {
            self.put(Table::Links, entry.key.to_bytes(), blob);
        }
        if let Some(capture) = capture {
            if news {
                let part = entry.key.host.part;
                let n = self.next_change(part)?;
                let ended = row::Ended::of(&next);
                let value =
                    row::encode_change(entry.key, capture.time, page.changed, entry.doc, ended);
                self.put(Table::Log, key::log(part, n), value);
            }
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
            again: head.is_again(),
            ..entry.clone()
        });
        for job in done {
            self.counters(job)?.queued -= 1;
        }
        next.map_or(Ok(()), |entry| self.enqueue(entry))
    }
}
