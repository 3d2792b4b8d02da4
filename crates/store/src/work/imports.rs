//! Captures that were made elsewhere.

use super::overlay::{Row, Work};
use super::{Base, Table, key};
use crate::StoreError;
use crate::batch::PageResult;
use crate::imports::{count_in, end_of, first_imported, take_in};
use crate::row::{self, Ended, HostRow, PayloadRow, UrlState};

impl<B: Base> Work<'_, B> {
    pub(super) fn import(&mut self, mut page: PageResult) -> Result<(), StoreError> {
        let (k, job) = (page.entry.key, page.entry.job);
        let Some(mut capture) = page.capture.clone() else { return Ok(()) };
        if self.host(k.host)?.is_none() {
            self.new_host(k.host, HostRow::new(page.entry.url.origin()));
        }
        let known = self.row(k)?.map(|row| row.head.visits > 0);
        let (fresh, first) = (known.is_none(), known != Some(true));
        let state = end_of(&page);
        let host = self.known_host(k.host)?;
        let new_host = fresh && host.known == 0;
        host.known += u64::from(fresh);
        host.bytes += capture.bytes;
        host.fetched += u64::from(first && state == UrlState::Fetched);
        self.weigh(k.host, &capture)?;
        let counters = self.counters(job)?;
        counters.known += u64::from(fresh);
        counters.hosts += u64::from(new_host);
        count_in(counters, &page);
        if fresh {
            let doc = self.next_doc(k.host.part)?;
            self.put(Table::Docs, key::doc(doc), k.to_bytes());
            let head = first_imported(&page, doc, self.now);
            self.new_row(
                k,
                Row { head, url: page.entry.url.as_str().into(), dirty: true, fresh: true },
            );
        }
        let row = self.read_row(k);
        row.dirty = true;
        let newest = take_in(&mut row.head, &page);
        capture.doc = row.head.doc;
        if let Some(blob) = page.links.take().filter(|_| newest) {
            self.put(Table::Links, k.to_bytes(), blob);
        }
        let n = self.next_change(k.host.part)?;
        // What is older than the last visit decides nothing.
        let ended = if newest { Ended::of(&page.next) } else { Ended::Open };
        let value = row::encode_change(k, capture.time, page.changed, capture.doc, ended);
        self.put(Table::Log, key::log(k.host.part, n), value);
        if let Some(payload) = page.payload {
            let (url, time, text) = (page.entry.url, capture.time, capture.text);
            let first = PayloadRow { url, time, text };
            let at = key::payload(payload.site, &payload.digest);
            self.put(Table::Payloads, at, row::encode(&first));
        }
        self.put(Table::Captures, key::capture(k, capture.time), row::encode(&capture));
        Ok(())
    }
}
