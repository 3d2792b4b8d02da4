//! A commit under way, for the stores that keep bytes: what a batch does to the rows it touches.
//!
//! * Its place: the embedded store and the PostgreSQL store read through a [`Base`], let [`Work`]
//!   apply the batch to an overlay of rows, and write down what came of it. What a batch means is
//!   decided here once, so that they cannot disagree.
//! * The order every store keeps: jobs, results, imports, notes, releases, forgiving, excluding,
//!   calendar, discoveries, forgetting, claims. A host that is given back and found again in the same batch is
//!   thus scheduled, not forgotten.
//! * Invariant: one writer per partition. What is read before the writing stays true until then.
//! * What is not here: where rows lie and how they are made durable.

mod apply;
mod cache;
mod finds;
mod forget;
mod imports;
pub(crate) mod key;
mod overlay;
mod schedule;
mod visits;

pub(crate) use apply::Applied;
pub(crate) use cache::HostCache;
pub(crate) use overlay::{Work, Write, is_open};

use crate::StoreError;
use crate::row::{self, HostRow, JobRow, Row as Versioned, UrlHead};
use argiope_frontier::Place;
use argiope_model::{Capture, HostKey, JobId, Time, UrlKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// What a row is about; each store keeps them in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Table {
    /// What we know of each URL, by its key.
    Urls,
    /// Which URL has a number.
    Docs,
    /// Ready rows, the calendar, the host schedule, claims.
    Queue,
    Hosts,
    Captures,
    Links,
    /// The change log.
    Log,
    Payloads,
    /// Jobs, counters, segment lengths.
    Meta,
    /// Robots files, by host.
    Robots,
}

use Table::{Captures, Docs, Hosts, Links, Log, Meta, Payloads, Queue, Robots, Urls};

pub(crate) const TABLES: [Table; 10] =
    [Urls, Docs, Queue, Hosts, Captures, Links, Log, Payloads, Meta, Robots];

/// What is kept in memory between commits.
pub(crate) struct Kept<M> {
    pub jobs: BTreeMap<JobId, JobRow>,
    pub parts: HashMap<u16, PartCounters>,
    pub hosts: HostCache,
    pub next_page: u64,
    /// The last row of each partition's change log; looked for when first asked.
    pub log_heads: Option<BTreeMap<u16, u64>>,
    /// When something is due.
    pub marks: M,
}

impl<M: Default> Kept<M> {
    /// Nothing yet; of hosts, as many as fit into so many bytes.
    pub fn new(host_bytes: u64) -> Self {
        Kept {
            jobs: BTreeMap::new(),
            parts: HashMap::new(),
            hosts: HostCache::with_bytes(host_bytes),
            next_page: 1,
            log_heads: None,
            marks: M::default(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.jobs.clear();
        self.parts.clear();
        self.hosts.clear();
        (self.log_heads, self.next_page, self.marks) = (None, 1, M::default());
    }
}

/// What a store remembers of when something is due, so that it need not look.
pub(crate) trait Marks: Default {
    /// A host was put on the schedule.
    fn wakes(&mut self, wake: u32, host: HostKey);
    /// A URL was put on the calendar.
    fn due(&mut self, due: Time, url: UrlKey);
}

/// The running numbers of a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartCounters {
    pub docs: u64,
    pub log: u64,
}

impl PartCounters {
    /// How often the number of documents is written down among the other rows; between, it is
    /// counted when asked for the first time.
    pub const NOTED: u64 = 16;
}

/// A row of the calendar.
pub(crate) struct DueRow {
    pub due: Time,
    pub url: UrlKey,
    pub place: Place,
    pub job: JobId,
}

/// The rows as they were before the batch.
pub(crate) trait Base {
    type Marks: Marks;

    /// One row, as `read` understands it.
    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError>;

    /// All captures of a URL.
    fn captures_of(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError>;

    /// Bytes that the captures of a host take up on disk.
    fn captured_bytes(&self, host: HostKey) -> Result<u64, StoreError>;

    /// How far a partition has counted.
    fn part_counters(&self, part: u16) -> Result<PartCounters, StoreError>;

    /// What is due on the calendar, at most [`MAX_DUE`] rows, and everything that waits
    /// for these hosts.
    fn due(
        &self,
        marks: &Self::Marks,
        now: Time,
        excluded: &[HostKey],
    ) -> Result<Vec<DueRow>, StoreError>;

    /// The first hosts on the schedule that wake then or sooner.
    fn scheduled(
        &self,
        marks: &Self::Marks,
        until: u32,
        limit: usize,
    ) -> Result<Vec<HostKey>, StoreError>;

    /// Hosts that sleep because none of their jobs was worked on.
    fn sleepers(&self) -> Result<Vec<HostKey>, StoreError>;
}

/// The value of a ready row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadyRow {
    pub url: u64,
    pub job: JobId,
    pub attempts: u8,
    pub expand: bool,
    /// Whether other jobs wait for it.
    pub waited: bool,
}

impl Versioned for ReadyRow {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}

impl ReadyRow {
    pub fn of(key: UrlKey, head: &UrlHead) -> Self {
        ReadyRow {
            url: key.url,
            job: head.job(),
            attempts: head.attempts,
            expand: head.expand,
            waited: !head.wishes.is_empty(),
        }
    }
}

pub(crate) fn read_host(bytes: &[u8]) -> Result<HostRow, StoreError> {
    row::decode("hosts", bytes)
}

/// Calendar rows moved per commit; the rest follows with the next.
pub(crate) const MAX_DUE: usize = 1024;
