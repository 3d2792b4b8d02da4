//! Forgetting URLs: their rows say so, everything else of them is deleted; and single captures.
//!
//! What is deleted here is out of reach at once; that it is gone from the disk too is the store's
//! affair.

use super::overlay::Work;
use super::{Base, Table, key};
use crate::StoreError;
use crate::batch::{Forget, Moved};
use crate::forgetting::{Before, as_it_stands, empty};
use crate::row::{self, Ended, PayloadRow, damaged};
use argiope_model::{CanonicalUrl, Time, UrlKey};
use std::collections::BTreeSet;

impl<B: Base> Work<'_, B> {
    pub(super) fn forget(&mut self, mut forget: Forget) -> Result<(), StoreError> {
        forget.take_out_twice();
        let before = self.written(Table::Captures);
        for k in forget.urls {
            self.forget_url(k)?;
            for capture in self.withdraw(Table::Captures, before, &k.to_bytes()) {
                self.reweigh(k.host, row::disk_of(&row::decode("captures", &capture)?), 0)?;
            }
        }
        let thinned: BTreeSet<UrlKey> = forget.captures.iter().map(|(k, _)| *k).collect();
        for (k, time) in forget.captures {
            self.forget_capture(k, time, before)?;
        }
        for k in thinned {
            self.tell_of(k)?;
        }
        for host in forget.hosts {
            self.delete(Table::Robots, host.to_bytes());
        }
        for payload in forget.payloads {
            self.delete(Table::Payloads, key::payload(payload.site, &payload.digest));
        }
        for moved in forget.moved {
            self.moved(moved)?;
        }
        Ok(())
    }

    fn forget_url(&mut self, k: UrlKey) -> Result<(), StoreError> {
        let Some(row) = self.row(k)? else {
            return Err(damaged("URLs", "one is to be forgotten and is unknown"));
        };
        row.dirty = true;
        let (doc, before) = (row.head.doc, empty(&mut row.head));
        let ready = match before.queued {
            Some((place, None)) => {
                self.delete(Table::Queue, key::ready(k.host, place));
                true
            }
            Some((_, Some(due))) => {
                self.delete(Table::Queue, key::calendar(due, k));
                false
            }
            None => false,
        };
        let host = self.known_host(k.host)?;
        before.uncount_pages(host);
        host.ready = host.ready.saturating_sub(u64::from(ready));
        // A host without rows is not on the schedule.
        if host.ready == 0
            && let Some(wake) = host.wake.take()
        {
            self.delete(Table::Queue, key::schedule(wake, k.host));
        }
        for job in &before.queued_for {
            Before::unqueue(self.counters(*job)?);
        }
        let (job, state) = before.counted;
        self.counters(job)?.take_back(state);
        self.queued.retain(|entry| entry.key != k);
        for capture in self.base.captures_of(k)? {
            self.reweigh(k.host, row::disk_of(&capture), 0)?;
            self.delete(Table::Captures, key::capture(k, capture.time));
        }
        self.delete(Table::Links, k.to_bytes());
        let n = self.next_change(k.host.part)?;
        let value = row::encode_change(k, self.now, true, doc, Ended::Forgotten);
        self.put(Table::Log, key::log(k.host.part, n), value);
        Ok(())
    }

    /// Deletes a capture, also one of the first so many that this batch has written.
    fn forget_capture(&mut self, k: UrlKey, time: Time, before: usize) -> Result<(), StoreError> {
        if self.row(k)?.is_none() {
            return Err(damaged("URLs", "a capture is to be forgotten and its URL is unknown"));
        }
        let at = key::capture(k, time);
        for capture in self.withdraw(Table::Captures, before, &at) {
            self.reweigh(k.host, row::disk_of(&row::decode("captures", &capture)?), 0)?;
        }
        let held = self.base.get(Table::Captures, &at, |b| row::decode("captures", b))?;
        if let Some(held) = held {
            self.reweigh(k.host, row::disk_of(&held), 0)?;
            self.delete(Table::Captures, at);
        }
        Ok(())
    }

    /// Tells those who follow the change log to look at a URL again.
    fn tell_of(&mut self, k: UrlKey) -> Result<(), StoreError> {
        let now = self.now;
        let head = &self.read_row(k).head;
        let (doc, ended, time) = (head.doc, as_it_stands(head.state), head.fetched_at);
        let n = self.next_change(k.host.part)?;
        let value = row::encode_change(k, time.unwrap_or(now), false, doc, ended);
        self.put(Table::Log, key::log(k.host.part, n), value);
        Ok(())
    }

    fn moved(&mut self, moved: Moved) -> Result<(), StoreError> {
        let Moved { key: k, capture, payload } = moved;
        let Some(row) = self.row(k)? else {
            return Err(damaged("URLs", "a capture is to be moved and its URL is unknown"));
        };
        if let Some(payload) = payload {
            let url = CanonicalUrl::parse(&row.url).map_err(|e| damaged("URLs", e))?;
            let first = PayloadRow { url, time: capture.time, text: capture.text };
            let at = key::payload(payload.site, &payload.digest);
            self.put(Table::Payloads, at, row::encode(&first));
        }
        let at = key::capture(k, capture.time);
        let before = self.base.get(Table::Captures, &at, |b| row::decode("captures", b))?;
        let before = before.map_or(0, |before| row::disk_of(&before));
        self.reweigh(k.host, before, row::disk_of(&capture))?;
        self.put(Table::Captures, at, row::encode(&capture));
        Ok(())
    }
}
