//! Forgetting URLs and single captures.

use super::Tables;
use crate::StoreError;
use crate::batch::{Forget, Moved};
use crate::forgetting::{Before, as_it_stands, empty};
use crate::row::{Change, Ended, PayloadRow, damaged, disk_of};
use argiope_model::{DocId, Time, UrlKey};
use std::collections::BTreeSet;

impl Tables {
    pub(super) fn forget(&mut self, mut forget: Forget, now: Time) -> Result<(), StoreError> {
        forget.take_out_twice();
        for k in forget.urls {
            self.forget_url(k, now)?;
        }
        let thinned: BTreeSet<UrlKey> = forget.captures.iter().map(|(k, _)| *k).collect();
        for (k, time) in forget.captures {
            self.url(k)?;
            let gone = self.captures.remove(&(k, time)).map_or(0, |capture| disk_of(&capture));
            if let Some(host) = self.hosts.get_mut(&k.host) {
                host.disk = host.disk.map(|sum| sum.saturating_sub(gone));
            }
        }
        for k in thinned {
            let head = &self.url(k)?.head;
            let (doc, ended, time) = (head.doc, as_it_stands(head.state), head.fetched_at);
            self.log_change(k, time.unwrap_or(now), false, doc, ended);
        }
        for host in forget.hosts {
            self.robots.remove(&host);
        }
        for payload in forget.payloads {
            self.payloads.remove(&(payload.site, payload.digest));
        }
        for Moved { key, capture, payload } in forget.moved {
            let url = self.url(key)?.url.clone();
            if let Some(p) = payload {
                let first = PayloadRow { url, time: capture.time, text: capture.text };
                self.payloads.insert((p.site, p.digest), first);
            }
            let new = disk_of(&capture);
            let old = self.captures.insert((key, capture.time), capture);
            let old = old.map_or(0, |old| disk_of(&old));
            if let Some(host) = self.hosts.get_mut(&key.host) {
                host.disk = host.disk.map(|sum| sum.saturating_sub(old) + new);
            }
        }
        Ok(())
    }

    fn forget_url(&mut self, k: UrlKey, now: Time) -> Result<(), StoreError> {
        let row = self.urls.get_mut(&k);
        let row = row.ok_or_else(|| damaged("URLs", "one is to be forgotten and is unknown"))?;
        let (doc, before) = (row.head.doc, empty(&mut row.head));
        match before.queued {
            Some((place, None)) => {
                self.ready.remove(&(k.host, place));
            }
            Some((_, Some(due))) => {
                self.calendar.remove(&(due, k));
            }
            None => {}
        }
        let captures = self.captures.iter().filter(|((url, _), _)| *url == k);
        let bytes: u64 = captures.map(|(_, capture)| disk_of(capture)).sum();
        if let Some(host) = self.hosts.get_mut(&k.host) {
            before.uncount_pages(host);
            host.disk = host.disk.map(|sum| sum.saturating_sub(bytes));
        }
        if self.ready.keys().all(|(host, _)| *host != k.host) {
            self.asleep.remove(&k.host);
        }
        for job in &before.queued_for {
            Before::unqueue(&mut self.job(*job)?.counters);
        }
        let (job, state) = before.counted;
        self.job(job)?.counters.take_back(state);
        self.captures.retain(|(url, _), _| *url != k);
        self.links.remove(&k);
        self.log_change(k, now, true, doc, Ended::Forgotten);
        Ok(())
    }

    fn log_change(&mut self, key: UrlKey, time: Time, changed: bool, doc: DocId, ended: Ended) {
        let part = key.host.part;
        let n = 1 + self.log.range((part, 0)..=(part, u64::MAX)).count() as u64;
        self.log.insert((part, n), Change { n, key, time, changed, doc, ended });
    }
}
