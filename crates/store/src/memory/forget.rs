//! Forgetting URLs.

use super::Tables;
use crate::StoreError;
use crate::batch::{Forget, Moved};
use crate::forgetting::{Before, empty};
use crate::row::{Change, Ended, PayloadRow, damaged, disk_of};
use argiope_model::{Time, UrlKey};

impl Tables {
    pub(super) fn forget(&mut self, forget: Forget, now: Time) -> Result<(), StoreError> {
        for k in forget.urls {
            self.forget_url(k, now)?;
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
        let part = k.host.part;
        let n = 1 + self.log.range((part, 0)..=(part, u64::MAX)).count() as u64;
        let ended = Ended::Forgotten;
        let change = Change { n, key: k, time: now, changed: true, doc, ended };
        self.log.insert((part, n), change);
        Ok(())
    }
}
