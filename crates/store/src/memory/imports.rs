//! Captures that were made elsewhere.

use super::Tables;
use crate::StoreError;
use crate::batch::PageResult;
use crate::imports::{count_in, end_of, first_imported, take_in};
use crate::row::{Change, Ended, HostRow, PayloadRow, UrlRow, UrlState, disk_of};
use argiope_model::{DocId, Time};

impl Tables {
    pub(super) fn import(&mut self, page: PageResult, now: Time) -> Result<(), StoreError> {
        let (k, job) = (page.entry.key, page.entry.job);
        let Some(mut capture) = page.capture.clone() else { return Ok(()) };
        let fresh = !self.urls.contains_key(&k);
        let first = self.urls.get(&k).is_none_or(|row| row.visits == 0);
        let origin = page.entry.url.origin();
        let host = self.hosts.entry(k.host).or_insert_with(|| HostRow::new(origin));
        let new_host = fresh && host.known == 0;
        host.known += u64::from(fresh);
        host.bytes += capture.bytes;
        host.disk = host.disk.map(|sum| sum + disk_of(&capture));
        host.fetched += u64::from(first && end_of(&page) == UrlState::Fetched);
        let counters = &mut self.job(job)?.counters;
        counters.known += u64::from(fresh);
        counters.hosts += u64::from(new_host);
        count_in(counters, &page);
        if fresh {
            let part = k.host.part;
            let running = self.urls.keys().filter(|u| u.host.part == part).count() as u64;
            let head = first_imported(&page, DocId::new(running, part), now);
            self.urls.insert(k, UrlRow { head, url: page.entry.url.clone() });
        }
        let row = self.url(k)?;
        let newest = take_in(&mut row.head, &page);
        capture.doc = row.head.doc;
        if let Some(blob) = page.links.filter(|_| newest) {
            self.links.insert(k, blob);
        }
        let n = 1 + self.log.range((k.host.part, 0)..=(k.host.part, u64::MAX)).count() as u64;
        let (time, changed, doc) = (capture.time, page.changed, capture.doc);
        // What is older than the last visit decides nothing.
        let ended = if newest { Ended::of(&page.next) } else { Ended::Open };
        self.log.insert((k.host.part, n), Change { n, key: k, time, changed, doc, ended });
        if let Some(p) = page.payload {
            let (url, time, text) = (page.entry.url, capture.time, capture.text);
            self.payloads.insert((p.site, p.digest), PayloadRow { url, time, text });
        }
        self.captures.insert((k, capture.time), capture);
        Ok(())
    }
}
