//! URLs found: new ones, and known ones met again.

use super::overlay::{Row, Work};
use super::{Base, ReadyRow, Table, key};
use crate::StoreError;
use crate::batch::{Discovery, Move};
use crate::row::{self, HostRow, UrlHead, UrlState, damaged};
use crate::rule::{Again, first_met, found_again, moved, visited_again};
use argiope_frontier::revisit::PageState;
use argiope_frontier::{Entry, Place};
use argiope_model::{CanonicalUrl, JobState, UrlKey};

impl<B: Base> Work<'_, B> {
    pub(super) fn discovery(&mut self, found: Discovery) -> Result<(), StoreError> {
        if self.row(found.key)?.is_none() {
            return self.new_url(found);
        }
        let row = self.row(found.key)?.expect("read above");
        let owner = row.head.job();
        let owner_state = self.kept.jobs.get(&owner).map_or(JobState::Dropped, |job| job.state);
        let (limited, news) = (self.is_shallow(found.job), self.is_for_news(found.job));
        let row = self.read_row(found.key);
        let again = found_again(&mut row.head, &found, owner_state, limited, news);
        if again == Again::Nothing {
            return Ok(());
        }
        row.dirty = true;
        match again {
            Again::Nothing | Again::Row => Ok(()),
            Again::Wait => {
                self.counters(found.job)?.queued += 1;
                self.rewrite_ready(&found)
            }
            Again::TakeOver { owner_waits, waited } => {
                self.counters(owner)?.queued -= u64::from(!owner_waits);
                self.counters(found.job)?.queued += u64::from(!waited);
                self.take_over(found)
            }
            Again::Queue(_) | Again::Expand => {
                let expand = again == Again::Expand;
                row.head.place = Some(found.place);
                row.head.expand = expand;
                if !expand {
                    row.head.state = UrlState::Queued;
                }
                let entry = entry_of(&found, &row.head, found.place);
                let counters = self.counters(found.job)?;
                counters.queued += 1;
                if let Again::Queue(Some(ended)) = again {
                    counters.take_back(ended);
                }
                self.enqueue(entry)
            }
        }
    }

    /// Queues a URL that was asked for before, for whoever has it; says whether that is a visit again.
    pub(super) fn visit_again(&mut self, k: UrlKey, place: Place) -> Result<bool, StoreError> {
        let Some(row) = self.row(k)? else { return Ok(false) };
        let Some(counted) = visited_again(&mut row.head, place) else { return Ok(false) };
        row.dirty = true;
        let entry = self.entry_at(k, place)?;
        let (counters, again) = (self.counters(entry.job)?, entry.again);
        counters.queued += 1;
        counters.take_back(counted);
        self.enqueue(entry)?;
        Ok(again)
    }

    /// Moves a queued row to where its score belongs, and tells where it is now.
    pub(super) fn move_row(&mut self, to: &Move) -> Result<(), StoreError> {
        let Some(row) = self.row(to.key)? else { return Ok(()) };
        let from = moved(&mut row.head, to);
        row.dirty |= from.is_some();
        let (Some(place), None) = (row.head.place, row.head.due) else { return Ok(()) };
        let ready = ReadyRow::of(to.key, &row.head);
        let entry = self.entry_at(to.key, place)?;
        if let Some(from) = from {
            self.delete(Table::Queue, key::ready(to.key.host, from));
            self.put(Table::Queue, key::ready(to.key.host, place), row::encode(&ready));
        }
        if self.known_host(to.key.host)?.claimed {
            self.queued.push(entry);
        }
        Ok(())
    }

    /// A row as it is handed out.
    fn entry_at(&mut self, k: UrlKey, place: Place) -> Result<Entry, StoreError> {
        let Row { head, url, .. } = self.read_row(k);
        Ok(Entry {
            key: k,
            place,
            url: CanonicalUrl::parse(url).map_err(|e| damaged("URLs", e))?,
            doc: head.doc,
            job: head.job(),
            depth: head.depth,
            attempts: 0,
            expand: false,
            role: head.role,
            hops: head.hops,
            again: head.is_again(),
        })
    }

    /// Writes down what is remembered of a URL's visits.
    pub(super) fn plan(&mut self, k: UrlKey, plan: PageState) -> Result<(), StoreError> {
        if let Some(row) = self.row(k)?.filter(|row| row.head.state != UrlState::Forgotten) {
            (row.head.plan, row.dirty) = (Some(plan), true);
        }
        Ok(())
    }

    /// A row that waits on the calendar goes on waiting; a ready one is told anew.
    fn take_over(&mut self, found: Discovery) -> Result<(), StoreError> {
        let head = &self.read_row(found.key).head;
        let place = head.place.expect("a queued URL has a place");
        let entry = entry_of(&found, head, place);
        if let Some(due) = head.due {
            let value = row::encode(&(place, found.job));
            self.put(Table::Queue, key::calendar(due, found.key), value);
            return Ok(());
        }
        self.rewrite_ready(&found)?;
        // Where the host is loaded, the row was passed over as another job's.
        if self.known_host(found.key.host)?.claimed {
            self.queued.push(entry);
            return Ok(());
        }
        self.schedule(found.key.host)
    }

    /// Writes the ready row of a URL anew, if it stands in the ready queue.
    fn rewrite_ready(&mut self, found: &Discovery) -> Result<(), StoreError> {
        let head = &self.read_row(found.key).head;
        if let (Some(place), None) = (head.place, head.due) {
            let ready = ReadyRow::of(found.key, head);
            self.put(Table::Queue, key::ready(found.key.host, place), row::encode(&ready));
        }
        Ok(())
    }

    fn new_url(&mut self, found: Discovery) -> Result<(), StoreError> {
        let host_key = found.key.host;
        if self.host(host_key)?.is_none() {
            self.new_host(host_key, HostRow::new(found.url.origin()));
        }
        let host = self.known_host(host_key)?;
        // It may have been asked for its robots.txt before anything on it was known.
        let new_host = host.known == 0;
        host.known += 1;
        let doc = self.next_doc(host_key.part)?;
        self.put(Table::Docs, key::doc(doc), found.key.to_bytes());
        let counters = self.counters(found.job)?;
        counters.known += 1;
        counters.hosts += u64::from(new_host);
        match found.skip {
            Some(reason) => *counters.skipped_mut(reason) += 1,
            None => counters.queued += 1,
        }
        let head = first_met(&found, doc, self.now);
        let entry = entry_of(&found, &head, found.place);
        self.new_row(
            found.key,
            Row { head, url: found.url.as_str().into(), dirty: true, fresh: true },
        );
        match found.skip {
            Some(_) => Ok(()),
            None => self.enqueue(entry),
        }
    }
}

fn entry_of(found: &Discovery, head: &UrlHead, place: Place) -> Entry {
    Entry {
        key: found.key,
        place,
        url: found.url.clone(),
        doc: head.doc,
        job: found.job,
        depth: found.depth,
        attempts: 0,
        expand: head.expand,
        role: head.role,
        hops: head.hops,
        again: head.is_again(),
    }
}
