//! What is being done right now, for whoever asks.
//!
//! A visit costs its entry here and one byte that it writes when the answer begins; everything
//! else is put together when somebody asks.

use super::{Director, GROUP_BYTES, GROUP_PAGES};
use crate::ask::{kind_of, skipped};
use crate::group::PageDone;
use crate::live::{Look, Worker};
use argiope_frontier::{Brake, Entry};
use argiope_model::{CanonicalUrl, HostKey, Time};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::time::Duration;

/// Hosts that are waited for, told at most.
const MOST_WAITING: usize = 10;

const LOCATING: u8 = 0;
const ROBOTS: u8 = 1;
const ASKING: u8 = 2;
const READING: u8 = 3;
const PARSING: u8 = 4;

/// How far a visit is; the visit itself says when the answer begins.
#[derive(Clone)]
pub(crate) struct Stage(Arc<AtomicU8>);

impl Stage {
    /// The head of the answer is there.
    pub(crate) fn is_reading(&self) {
        self.0.store(READING, Relaxed);
    }
}

/// A visit under way.
pub(super) struct Doing {
    pub(super) host: HostKey,
    /// Bytes of the body it is working on.
    pub(super) bytes: u64,
    url: CanonicalUrl,
    since: Time,
    stage: Stage,
}

impl Doing {
    fn new(host: HostKey, url: &CanonicalUrl, stage: u8, since: Time) -> Self {
        let stage = Stage(Arc::new(AtomicU8::new(stage)));
        Doing { host, bytes: 0, url: url.clone(), since, stage }
    }

    pub(super) fn locating(host: HostKey, url: &CanonicalUrl, now: Time) -> Self {
        Self::new(host, url, LOCATING, now)
    }

    pub(super) fn robots(host: HostKey, url: &CanonicalUrl, now: Time) -> Self {
        Self::new(host, url, ROBOTS, now)
    }

    pub(super) fn visiting(entry: &Entry, now: Time) -> Self {
        Self::new(entry.key.host, &entry.url, if entry.expand { PARSING } else { ASKING }, now)
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage.clone()
    }

    /// The answer has ended.
    pub(super) fn answered(&mut self, bytes: u64) {
        self.bytes = bytes;
        self.stage.0.store(PARSING, Relaxed);
    }

    fn words(&self) -> &'static str {
        match self.stage.0.load(Relaxed) {
            LOCATING => "locating",
            ROBOTS => "robots.txt",
            ASKING => "waiting for the answer",
            READING => "reading",
            _ => "parsing",
        }
    }
}

fn worker(stage: &str, url: &CanonicalUrl, since: Time, now: Time) -> Worker {
    let (host, url) = (url.origin().to_owned(), url.as_str().to_owned());
    Worker { stage: stage.to_owned(), host, url, for_s: now.since(since).as_secs_f64() }
}

impl Director {
    /// What is being done.
    pub(super) fn look(&self, now: Time) -> Look {
        let mut workers: Vec<Worker> =
            self.under_way.values().map(|d| worker(d.words(), &d.url, d.since, now)).collect();
        workers.sort_by(|a, b| b.for_s.total_cmp(&a.for_s));
        // What was refused was no visit.
        let waits = |page: &PageDone| {
            let capture = page.capture.as_ref()?;
            let end = capture.time.plus(Duration::from_millis(capture.elapsed_ms.into()));
            Some(worker("waiting for commit", &page.entry.url, end, now))
        };
        workers.extend(self.held.values().chain(&self.pending).filter_map(waits));
        Look { workers, queues: self.queues(), jobs: self.job_rows(), waiting: self.waits(now) }
    }

    fn queues(&self) -> Value {
        let hosts = self.frontier.counts();
        let requests = self.frontier.out();
        let answered = self.under_way.len() - requests.min(self.under_way.len());
        json!({
            "urls": self.jobs.values().map(|a| a.row.counters.queued).sum::<u64>(),
            "rows_loaded": { "now": self.frontier.rows(), "most": self.settings.window_rows() },
            "hosts": {
                "loaded": hosts.loaded,
                "ready": hosts.ready,
                "waiting": hosts.waiting,
                "asked": hosts.asked,
            },
            "requests": { "now": requests, "most": self.settings.connections },
            "parsing": { "now": answered, "most": GROUP_PAGES },
            "commit": {
                "waiting": self.held.len() + self.pending.len(),
                "committing": self.committing,
                "most": GROUP_PAGES,
                "bytes": self.pending_bytes,
                "most_bytes": 4 * GROUP_BYTES,
                "last_ms": self.commit_took.as_millis() as u64,
            },
        })
    }

    fn job_rows(&self) -> Vec<Value> {
        let row = |active: &super::Active| {
            let counters = &active.row.counters;
            json!({
                "job": active.row.job.id.0,
                "kind": kind_of(&active.row.job),
                "state": active.row.state.name(),
                "queued": counters.queued,
                "fetched": counters.fetched + counters.unchanged,
                "failed": counters.failed,
                "out": active.out,
                "skipped": skipped(counters),
            })
        };
        self.jobs.values().map(row).collect()
    }

    /// Who is waited for, why, and until when.
    fn waits(&self, now: Time) -> Vec<Value> {
        let row = |waiting: argiope_frontier::Waiting| {
            let why = match waiting.brake {
                Brake::Delay => "delay",
                Brake::Hand => "by hand",
                Brake::Robots => "robots.txt",
                Brake::Temper => "slow or failing",
            };
            json!({
                "host": waiting.url.origin(),
                "next": waiting.at.to_string(),
                "in_s": waiting.at.since(now).as_secs_f64(),
                "every_s": waiting.gap.as_secs_f64(),
                "why": why,
                "url": waiting.url.as_str(),
            })
        };
        self.frontier.waiting_hosts(MOST_WAITING).into_iter().map(row).collect()
    }
}
