//! The store on PostgreSQL (15 and later): many workers, one crawl.
//!
//! * Its place: every worker of a fleet opens one; PostgreSQL, or Citus, holds the rows. What a
//!   batch does to them is decided by [`crate::work`], as in the embedded store, in the worker's
//!   memory: the database is asked for rows by key and given rows by key, and computes nothing.
//! * One writer per partition. A worker leases partitions ([`lease`]); it alone writes their rows, so that
//!   what it has read stays true until it writes, and hosts and counters are kept in memory. What is
//!   found of other partitions goes into their owners' inboxes ([`inbox`]).
//! * The commit. One round trip reads what a batch is about; one sends `BEGIN`, everything that is
//!   written and everything that is to be answered; a third is `COMMIT`. The first statement
//!   advances the numbers of the partitions touched *where owner and epoch are still ours*: if it
//!   meets fewer rows than it names, the lease is lost ([`StoreError::LeaseLost`]) and nothing is
//!   written. Those rows stay locked until the end, so that a partition changes hands before a
//!   commit or after it, never within.
//! * Lost connections. Every failure that may pass is [`StoreError::Unreachable`]; the next call
//!   makes a new connection. A commit does not give up at once: it is sent again for as long as
//!   [`PostgresOptions::patience`] says. Where the line was cut while `COMMIT` was under way nobody
//!   knows whether it holds: each group of a worker has a number, written into the rows of the
//!   partitions it touches, and sent again it changes only rows whose number is lower. If none is, it was
//!   applied, and its answer is read again. Should that also fail, the error is told, what is kept in memory
//!   is thrown away, and the next commit begins from what the database holds.
//! * Durability: `COMMIT` with `synchronous_commit` on at least.
//! * Formats: values are those of [`crate::row`]; keys as in `schema/*.sql`, changed by numbered
//!   steps ([`migrate`]).
//! * What is not here: who runs when (`crawl`).

mod address;
mod agree;
mod around;
mod before;
mod commit;
mod copy_in;
mod copy_out;
mod fleet;
mod hold;
mod inbox;
mod lease;
mod link;
mod load;
mod marks;
mod migrate;
mod plan;
mod quota;
mod read;
mod row;
mod server;
mod share;
mod tls;
mod window;

pub use address::Turn;
pub use around::Around;
pub use copy_in::CopyInto;
pub use fleet::{FleetRows, Waiting, WorkerRow};
pub use hold::FleetSegment;
pub use lease::{Held, WorkerReport};
pub use link::store_retries;
pub use migrate::SCHEMA_VERSION;
pub use quota::Share;
pub use share::{Rebalance, fair_share, rebalance};

use crate::StoreError;
use crate::work;
use lease::Lease;
use link::{Link, Threads};
use load::Loaded;
use server::Server;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How the store is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// Bound of what is kept in memory, in bytes.
    pub memory: u64,
    /// Whose segments this worker writes and is told of: the name of its archive. Workers that write
    /// into one archive still need numbers of their own ([`PostgresStore::take_segments`]).
    pub archive: String,
    /// How long a commit or a read goes on trying when the server cannot be reached.
    pub patience: Duration,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        PostgresOptions {
            memory: 64 << 20,
            archive: String::new(),
            patience: Duration::from_secs(20),
        }
    }
}

/// The store on PostgreSQL.
pub struct PostgresStore {
    /// For commits.
    writer: Link,
    /// For those who only look.
    reader: Link,
    /// For leases: a renewal must not wait behind a commit.
    leases: Link,
    /// For turns at addresses, and for looking around: neither may wait for the others.
    aside: Link,
    lease: Mutex<Lease>,
    kept: Mutex<Loaded>,
    quotas: quota::Quotas,
    options: PostgresOptions,
    /// The server as it is told to people.
    name: String,
}

type Kept = work::Kept<marks::PartMarks>;

impl PostgresStore {
    /// Opens the store that a URL names (`postgres://user@host/database`), making its tables where
    /// there are none. No partition is held yet: see [`PostgresStore::join`].
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        Self::open_at(url, options, SCHEMA_VERSION)
    }

    /// Opens it with the schema of an older program; for tests of what is migrated.
    #[doc(hidden)]
    pub fn open_at(url: &str, options: PostgresOptions, schema: i32) -> Result<Self, StoreError> {
        let server = Arc::new(Server::parse(url)?);
        let threads = Arc::new(Threads::start()?);
        let link = |patience| Link::new(server.clone(), threads.clone(), patience);
        let writer = link(options.patience);
        // Whoever starts wants to hear at once that the server is not there.
        migrate::check_server(&link(Duration::ZERO))?;
        migrate::migrate(&writer, schema)?;
        Ok(PostgresStore {
            writer,
            reader: link(options.patience),
            // A renewal has its own pace.
            leases: link(Duration::ZERO),
            aside: link(Duration::ZERO),
            lease: Mutex::default(),
            kept: Mutex::new(Loaded::new(options.memory / 2)),
            quotas: quota::Quotas::default(),
            options,
            name: server.name.clone(),
        })
    }

    /// Names the archive that this worker writes into, before anything is written.
    pub fn write_into(&mut self, archive: String) {
        self.options.archive = archive;
    }

    /// The server and the database, without a password.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn lease(&self) -> std::sync::MutexGuard<'_, Lease> {
        self.lease.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Loaded> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
