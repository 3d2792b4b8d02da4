//! The committer: one thread that makes groups durable, in the order archive, texts, store.
//!
//! It owns the writing side of the segments. Whatever fails here is ours: the crawl ends with
//! a sentence, and what was not acknowledged is given back by the next start.

use crate::group::{Event, Group, PageDone, Recorded, Settled};
use crate::log::{CrawlLog, page_line};
use crate::metrics::Outcomes;
use argiope_archive::{Prepared, RecordHead, Segments, revisit_record};
use argiope_model::{ChangeReason, PayloadDigest, SiteKey};
use argiope_store::{PageResult, Payload, PayloadRow, SegmentKind, Store};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use tokio::sync::mpsc::Sender;

type Failure = Box<dyn std::error::Error + Send + Sync>;

pub(crate) struct Committer {
    pub store: Arc<dyn Store>,
    pub warc: Option<Segments>,
    pub text: Segments,
    pub log: CrawlLog,
}

impl Committer {
    /// Commits groups until the director hangs up.
    pub(crate) fn run(mut self, groups: Receiver<Group>, events: Sender<Event>) {
        for group in groups {
            let event = self.perform(group);
            let failed = matches!(event, Event::Failed(_));
            if events.blocking_send(event).is_err() || failed {
                return;
            }
        }
    }

    /// Commits a group and says how that went.
    pub(crate) fn perform(&mut self, group: Group) -> Event {
        // A panic must not leave the director waiting for an answer that never comes.
        match catch_unwind(AssertUnwindSafe(|| self.commit(group))) {
            Ok(Ok(settled)) => Event::Settled(Box::new(settled)),
            Ok(Err(e)) => Event::Failed(e.into()),
            Err(_) => Event::Failed(Failure::from("the committer panicked").into()),
        }
    }

    fn commit(&mut self, group: Group) -> Result<Settled, Failure> {
        self.commit_as(group, false)
    }

    /// Commits a group of captures that were made elsewhere: no row was handed out for them.
    pub(crate) fn commit_import(&mut self, group: Group) -> Result<Settled, Failure> {
        self.commit_as(group, true)
    }

    fn commit_as(&mut self, group: Group, import: bool) -> Result<Settled, Failure> {
        let Group { pages, mut batch, log } = group;
        let mut lines = log.concat();
        if let Some(warc) = &mut self.warc {
            warc.set_time(batch.now);
        }
        let mut stored = self.stored_before(&pages)?;
        let mut rows = Vec::with_capacity(pages.len());
        let count = pages.iter().filter(|page| page.is_page()).count() as u64;
        let bytes = pages.iter().map(PageDone::bytes).sum();
        let mut outcomes = Outcomes::new();
        for capture in pages.iter().filter_map(|page| page.capture.as_ref()) {
            *outcomes.entry(capture.outcome.kind.name()).or_default() += 1;
        }
        for page in pages {
            rows.push((page.entry.key.host, page.entry.place));
            lines.push_str(&page_line(&page, batch.now));
            let result = self.append(page, &mut stored)?;
            match import {
                true => batch.imports.push(result),
                false => batch.pages.push(result),
            }
        }
        if let Some(warc) = &mut self.warc {
            warc.sync()?;
            let lengths = warc.lengths();
            batch.segments.extend(lengths.into_iter().map(|(n, len)| (SegmentKind::Warc, n, len)));
        }
        self.text.sync()?;
        let lengths = self.text.lengths();
        batch.segments.extend(lengths.into_iter().map(|(n, len)| (SegmentKind::Text, n, len)));
        let committed = self.store.commit(batch)?;
        self.log.add(&lines);
        Ok(Settled { rows, pages: count, bytes, outcomes, committed })
    }

    /// Which payloads of the group are stored already.
    fn stored_before(
        &self,
        pages: &[PageDone],
    ) -> Result<HashMap<(SiteKey, PayloadDigest), PayloadRow>, Failure> {
        let keys: Vec<(SiteKey, PayloadDigest)> =
            pages.iter().filter_map(|p| p.recorded.as_ref()?.payload).collect();
        let rows = self.store.payloads(&keys)?;
        Ok(keys.into_iter().zip(rows).filter_map(|(k, row)| Some((k, row?))).collect())
    }

    fn append(
        &mut self,
        page: PageDone,
        stored: &mut HashMap<(SiteKey, PayloadDigest), PayloadRow>,
    ) -> Result<PageResult, Failure> {
        let PageDone { entry, mut capture, recorded, text, .. } = page;
        let mut first = None;
        let mut same_text = None;
        if let (Some(capture), Some(recorded), Some(warc)) =
            (&mut capture, recorded, &mut self.warc)
        {
            let Recorded { record, http_head, ip, payload, truncated } = recorded;
            let before = payload.as_ref().and_then(|key| stored.get(key));
            let record = match before {
                Some(first) => {
                    capture.revisit = true;
                    same_text = first.text;
                    let head = RecordHead {
                        url: entry.url.as_str(),
                        time: capture.time,
                        ip,
                        http_head: &http_head,
                        payload_digest: capture.payload_digest,
                        truncated: truncated.as_deref(),
                    };
                    revisit_record(&head, first.url.as_str(), first.time)
                }
                None => record,
            };
            capture.record = Some(warc.append(record)?);
            if before.is_none() {
                first = payload;
            }
        }
        if let (Some(capture), Some(text)) = (&mut capture, text) {
            capture.text = match same_text {
                Some(at) => Some(at),
                None => Some(self.text.append(Prepared::Bytes(text))?),
            };
        }
        if let (Some(key), Some(capture)) = (first, &capture) {
            let row = PayloadRow { url: entry.url.clone(), time: capture.time, text: capture.text };
            stored.insert(key, row);
        }
        Ok(PageResult {
            next: page.next,
            changed: capture.as_ref().is_some_and(|c| match c.verdict {
                Some(verdict) if verdict.reason != ChangeReason::New => verdict.reason.counts(),
                _ => c.text.is_some(),
            }),
            capture,
            payload: first.map(|(site, digest)| Payload { site, digest }),
            links: page.links,
            words: page.words,
            link_count: page.link_count,
            plan: page.plan,
            entry,
        })
    }
}
