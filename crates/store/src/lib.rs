//! What we know about every URL.
//!
//! * What this is: the [`Store`] trait, the in-memory model [`MemoryStore`], the embedded
//!   store [`EmbeddedStore`] on fjall, and [`PostgresStore`] for many workers. One conformance
//!   suite (`tests/conformance.rs`) runs the same behaviours on each.
//! * Its place: `crawl` is its only writer, through one committer thread; visitors read beside
//!   it. It knows the shapes of `model` and `frontier` and decides nothing about the web.
//! * The commit: one [`Batch`] holds everything a group of pages changes: document rows,
//!   captures with their places in the archive, forward links, queue moves, host state, robots
//!   files, job counters, committed segment lengths and the change log. It is applied whole or not at
//!   all, and when [`Store::commit`] returns it is durable.
//! * Invariants: a URL has one row and one DocId for life; it is in the ready queue or on the
//!   calendar exactly while its row says so; a host's `ready` is the number of its ready rows;
//!   a job's `queued` is the number of rows it owns or waits for, so that zero means done;
//!   of a URL that is forgotten there is its row and nothing else.
//! * What is not here: what to fetch next (`frontier`), the pages themselves (`archive`).
//!
//! Stores speak in batches: there is no call per URL on the hot path.

mod batch;
mod copy;
mod embedded;
mod forgetting;
mod imports;
mod links;
mod memory;
mod postgres;
mod row;
mod rule;
mod work;

pub use batch::{
    Batch, Claims, Committed, Discovery, Forget, JobChange, Move, Moved, Next, PageResult, Payload,
    RobotsTold,
};
pub use copy::{Copied, CopyWatch};
pub use embedded::EmbeddedStore;
pub use links::{
    LinkRef, MalformedLink, PageLinks, decode_links, decode_page_links, encode_links,
    encode_page_links, scan_links,
};
pub use memory::MemoryStore;
pub use postgres::{
    Around, CopyInto, FleetRows, FleetSegment, Held, PostgresOptions, PostgresStore, Rebalance,
    SCHEMA_VERSION, Share, Turn, Waiting, WorkerReport, WorkerRow, fair_share, rebalance,
    store_retries,
};
pub use row::{
    Change, Ended, HostRow, JobCounters, JobProgress, JobRow, PayloadRow, SegmentKind, UrlHead,
    UrlRow, UrlState, Wish, disk_of,
};

use argiope_frontier::{Place, RobotsFile, Trap};
use argiope_model::{Capture, DocId, HostKey, PayloadDigest, SiteKey, Time, UrlKey};
use std::path::PathBuf;

/// A failure of our own disk or a damaged store; never something the web did.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database failed.
    #[error("the store in {path} failed while it was to {action}")]
    Database {
        /// The store's directory.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The cause.
        #[source]
        source: Box<fjall::Error>,
    },
    /// Another process has the store open.
    #[error("the store in {0} is in use by another process")]
    Locked(PathBuf),
    /// A row cannot be read.
    #[error("a row of {what} in the store is damaged: {why}")]
    Damaged {
        /// The kind of row.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The rows were written by a newer program.
    #[error(
        "the store was written by a newer Argiope (row version {found}, this one knows {known}); use that version"
    )]
    Newer {
        /// Version found.
        found: u8,
        /// Newest version known.
        known: u8,
    },
    /// The URL of a server cannot be used.
    #[error("the URL of the PostgreSQL server cannot be used: {why}")]
    Address {
        /// What is wrong with it.
        why: String,
    },
    /// The server cannot be reached, or not now; the same call may succeed later.
    #[error(
        "PostgreSQL at {server} could not be reached to {action} ({why}); it is tried again with the next call"
    )]
    Unreachable {
        /// The server and its database.
        server: String,
        /// What was being done.
        action: &'static str,
        /// The cause.
        why: String,
    },
    /// The server refused a statement: our bug, or a database that is not as we made it.
    #[error("PostgreSQL at {server} refused to {action}")]
    Server {
        /// The server and its database.
        server: String,
        /// What was being done.
        action: &'static str,
        /// The cause.
        #[source]
        source: Box<tokio_postgres::Error>,
    },
    /// The tables were made by a newer program.
    #[error(
        "the tables in PostgreSQL were made by a newer Argiope (schema {found}, this one knows {known}); use that version"
    )]
    NewerSchema {
        /// Version found.
        found: i32,
        /// Newest version known.
        known: i32,
    },
    /// Another worker may have a partition that this one wrote to: nothing was written.
    #[error("partition {part} is no longer leased to this worker; nothing was written")]
    LeaseLost {
        /// The partition, one of perhaps several.
        part: u16,
    },
    /// This worker is taken for dead: it holds nothing any more.
    #[error(
        "this worker's lease has run out, and others may have its partitions; it has to join again"
    )]
    LeaseEnded,
}

impl StoreError {
    /// Whether the same call may succeed later without anybody doing anything.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable { .. })
    }
}

/// What we know about every URL, in batches.
pub trait Store: Send + Sync {
    /// Applies a batch whole, durably, and answers what it asked for.
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError>;

    /// The rows of these URLs.
    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError>;

    /// Rows after a key in key order, at most `limit`.
    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError>;

    /// The URLs with these numbers.
    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError>;

    /// All captures of a URL, oldest first.
    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError>;

    /// All captures of each of these URLs, oldest first.
    fn captures_many(&self, keys: &[UrlKey]) -> Result<Vec<Vec<Capture>>, StoreError> {
        keys.iter().map(|key| self.captures(*key)).collect()
    }

    /// The forward links of these pages, as [`encode_links`] made them.
    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// Where these payloads were stored first, per site.
    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError>;

    /// The rows of these hosts.
    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError>;

    /// Hosts after a key in key order, at most `limit`.
    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError>;

    /// How many ready rows of a host come before a place, counted up to `limit`.
    fn ready_before(&self, host: HostKey, place: Place, limit: usize) -> Result<usize, StoreError>;

    /// Rows of one host after a URL's part of the key, in key order, at most `limit`.
    fn host_urls(
        &self,
        host: HostKey,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError>;

    /// Bytes that the captures of a host take up on disk, counted one by one; for rows that do
    /// not tell.
    ///
    /// A store that can count them faster than URL by URL does so.
    fn host_disk(&self, host: HostKey) -> Result<u64, StoreError> {
        let (mut after, mut sum) = (None, 0);
        loop {
            let rows = self.host_urls(host, after, 1024)?;
            let Some((last, _)) = rows.last() else { return Ok(sum) };
            after = Some(last.url);
            for (key, _) in rows {
                sum += self.captures(key)?.iter().map(disk_of).sum::<u64>();
            }
        }
    }

    /// The names that are excluded, and since when.
    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError>;

    /// The patterns that are traps, or were and are forgiven.
    fn traps(&self) -> Result<Vec<(Box<str>, Trap)>, StoreError>;

    /// The delays that were set by hand, in milliseconds, by the names they are set for.
    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError>;

    /// The robots files of these hosts, as they were answered.
    fn robots(&self, keys: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError>;

    /// Hosts whose claim is open: asked by a run that did not give them back.
    fn claims(&self) -> Result<Vec<HostKey>, StoreError>;

    /// All jobs in the order of their numbers.
    fn jobs(&self) -> Result<Vec<JobRow>, StoreError>;

    /// Committed lengths of all segments of a kind.
    fn segments(&self, kind: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError>;

    /// The change log of a partition after `n`, at most `limit` rows.
    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// The last number in the change log of each partition that has one.
    ///
    /// A store that can tell them faster than by reading its log does so.
    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        let mut heads = Vec::new();
        for part in 0..argiope_model::PARTITIONS {
            let mut last = 0;
            while let Some(row) = self.changes(part, last, 1024)?.last() {
                last = row.n;
            }
            if last > 0 {
                heads.push((part, last));
            }
        }
        Ok(heads)
    }

    /// The running number for the next page read.
    fn next_page(&self) -> Result<u64, StoreError>;
}
