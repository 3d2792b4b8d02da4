//! The live status of a crawl: written by the director, read by whoever shows it.

use crate::director::Tally;
use crate::metrics::Counted;
use crate::tenure::Tenure;
use crate::trail::Trail;
use argiope_frontier::topic::Topic;
use argiope_frontier::{Counts, Merits, Trap};
use argiope_model::{JobId, Time};
use argiope_store::{JobRow, PostgresStore};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Speed is measured over this many milliseconds.
const SPAN_MS: i64 = 10_000;

/// How a crawl stands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// What it is doing: `crawling`, `stopping`, `paused`, `ending`, `idle`, `importing`.
    pub state: String,
    /// Why it waits, where it does.
    pub note: Option<String>,
    /// Why politeness is what holds the crawl back, where it is.
    #[serde(default)]
    pub brake: Option<String>,
    /// Sites with rows that are over their budget.
    #[serde(default)]
    pub sites_over_budget: usize,
    /// Sites that have reached the cap on their pages, as far as this run has noticed.
    #[serde(default)]
    pub sites_capped: usize,
    /// Pages fetched by all jobs being worked on.
    pub fetched: u64,
    /// URLs queued.
    pub queued: u64,
    /// URLs given up.
    pub failed: u64,
    /// Tries that ended badly.
    pub errors: u64,
    /// Body bytes received.
    pub bytes: u64,
    /// Requests under way.
    pub requests: usize,
    /// Connections open, idle ones included.
    pub connections: usize,
    /// Hosts loaded.
    pub hosts: usize,
    /// Hosts waiting for their delay.
    pub hosts_waiting: usize,
    /// Hosts that could be asked now.
    pub hosts_ready: usize,
    /// Hosts being asked.
    pub hosts_asked: usize,
    /// Milliseconds until the next waiting host may be asked.
    pub next_host_ms: Option<u64>,
    /// Pages per second, over the last ten.
    pub pages_per_s: f64,
    /// Megabytes per minute, over the last ten seconds.
    pub mb_per_min: f64,
    /// Seconds left, where it can be known.
    pub left_s: Option<u64>,
    /// Seconds since the start.
    pub elapsed_s: f64,
    /// The page taken in last.
    pub newest: Option<String>,
    /// What visits to known pages came to, in this run.
    #[serde(default)]
    pub again: Tally,
    /// When the next known page is to be visited, while a watch waits for it.
    #[serde(default)]
    pub next_visit: Option<Time>,
    /// Patterns of series without end that are paused.
    #[serde(default)]
    pub traps: usize,
    /// Patterns that are suspected and not paused, the most suspicious first.
    #[serde(default)]
    pub suspects: Vec<(Box<str>, Trap)>,
}

/// What is being done at one moment, in detail: made when somebody asks, and only then.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Look {
    /// What each visit is doing, those first that began first.
    pub workers: Vec<Worker>,
    /// The queues between the stages, their lengths and their bounds.
    pub queues: Value,
    /// The jobs being worked on.
    pub jobs: Vec<Value>,
    /// The hosts that are waited for, those first that may be asked next.
    pub waiting: Vec<Value>,
}

/// A visit, and what it is doing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// `locating`, `robots.txt`, `waiting for the answer`, `reading`, `parsing` or `waiting for
    /// commit`.
    pub stage: String,
    /// Scheme, host name and port.
    pub host: String,
    /// What is asked for.
    pub url: String,
    /// Seconds since it began.
    pub for_s: f64,
}

/// The live status.
#[derive(Default)]
pub struct Live {
    snapshot: Mutex<Snapshot>,
    counted: Counted,
    /// What is remembered for those who come later.
    trail: Mutex<Trail>,
    /// What queued URLs are worth, where a job goes best-first.
    merits: Mutex<Merits>,
    /// What was learned of what jobs are about.
    topics: Mutex<BTreeMap<JobId, Topic>>,
    /// The lease of a worker, and the store that it is held in.
    place: Mutex<Option<(Arc<Tenure>, Arc<PostgresStore>)>>,
}

impl Live {
    /// How the crawl stands.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, snapshot: Snapshot) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }

    /// What is remembered for those who come later.
    pub(crate) fn trail(&self) -> MutexGuard<'_, Trail> {
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is counted for those who watch from outside.
    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// What queued URLs are worth.
    pub(crate) fn merits(&self) -> MutexGuard<'_, Merits> {
        self.merits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was learned of what jobs are about.
    pub(crate) fn topics(&self) -> MutexGuard<'_, BTreeMap<JobId, Topic>> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is a worker's.
    pub(crate) fn is_placed(&self, tenure: Arc<Tenure>, store: Arc<PostgresStore>) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = Some((tenure, store));
    }

    /// How many partitions a worker holds, and for how long; `None` for whoever crawls alone.
    pub(crate) fn standing(&self) -> Option<(usize, Duration)> {
        let place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().map(|(tenure, store)| (store.held().len(), tenure.left()))
    }
}

/// Speed over the last seconds.
#[derive(Default)]
pub(crate) struct Meter {
    samples: VecDeque<(Time, u64, u64, u64)>,
}

impl Meter {
    /// Notes how far it is: pages, bytes, rows queued.
    pub(crate) fn note(&mut self, now: Time, pages: u64, bytes: u64, queued: u64) {
        if self.samples.back().is_some_and(|(t, ..)| now.0 - t.0 < 250) {
            return;
        }
        self.samples.push_back((now, pages, bytes, queued));
        while self.samples.front().is_some_and(|(t, ..)| now.0 - t.0 > SPAN_MS) {
            self.samples.pop_front();
        }
    }

    /// Fills in speed and the time left: known when a page limit says how much is to come, or
    /// when the queue has been shrinking.
    pub(crate) fn fill(&self, out: &mut Snapshot, to_come: Option<u64>) {
        let (Some(first), Some(last)) = (self.samples.front(), self.samples.back()) else { return };
        let seconds = (last.0.0 - first.0.0) as f64 / 1000.0;
        if seconds <= 0.0 {
            return;
        }
        out.pages_per_s = last.1.saturating_sub(first.1) as f64 / seconds;
        out.mb_per_min = last.2.saturating_sub(first.2) as f64 / 1e6 / seconds * 60.0;
        let shrinking = first.3.saturating_sub(last.3) as f64 / seconds;
        let by_limit = to_come.filter(|_| out.pages_per_s > 0.0);
        let by_limit = by_limit.map(|pages| pages as f64 / out.pages_per_s);
        let by_queue = (shrinking > 0.0).then(|| out.queued as f64 / shrinking);
        let left = match (by_limit, by_queue) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        out.left_s = left.map(|s| s.ceil() as u64);
    }
}

/// Sums the jobs being worked on into a snapshot.
pub(crate) fn summed<'a>(jobs: impl Iterator<Item = &'a JobRow>, hosts: Counts) -> Snapshot {
    let mut out = Snapshot {
        hosts: hosts.loaded,
        hosts_waiting: hosts.waiting,
        hosts_ready: hosts.ready,
        hosts_asked: hosts.asked,
        ..Snapshot::default()
    };
    for row in jobs {
        out.fetched += row.counters.fetched;
        out.queued += row.counters.queued;
        out.failed += row.counters.failed;
        out.errors += row.counters.errors;
        out.bytes += row.counters.bytes;
    }
    out
}
