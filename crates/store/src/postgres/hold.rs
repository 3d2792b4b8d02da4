//! The whole store held by one, for as long as something takes that nobody may disturb.
//!
//! A copy joins as a worker does and takes every partition: nobody else can write to one, and what is
//! read from one table fits what is read from the next. Its own thread renews the lease meanwhile.

use super::PostgresStore;
use super::lease::WorkerReport;
use super::link::call;
use crate::batch::Batch;
use crate::copy::{Copied, KINDS};
use crate::row::damaged;
use crate::{SegmentKind, Store, StoreError};
use argiope_model::{PARTITIONS, Time};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const WAITING: &str = "SELECT count(*) FROM (SELECT 1 FROM inbox LIMIT $1) AS few";
const SEGMENTS: &str =
    "SELECT kind, number, length, archive FROM segments WHERE part >= $1 ORDER BY kind, number";
const NUMBER: &str = "SELECT n FROM numbers WHERE part = 0 AND name = $1";

/// A segment of some archive of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FleetSegment {
    /// What it holds.
    pub kind: SegmentKind,
    /// Its number, which no other of its kind in the fleet has.
    pub number: u32,
    /// Its committed length.
    pub length: u64,
    /// Whose it is.
    pub archive: String,
}

impl PostgresStore {
    /// Takes every partition under a name while `work` is done, and gives them back.
    ///
    /// # Errors
    /// [`StoreError::LeaseLost`] where somebody else holds one; [`StoreError::LeaseEnded`] where the
    /// lease could not be kept to the end: what `work` has read may not fit together then.
    pub fn holding<T, E: From<StoreError>>(
        &self,
        name: &str,
        lease: Duration,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let held = self.join(name, "", lease, Instant::now())?;
        let taken = self.acquire(&held.free)?;
        if let Some(part) = (0..PARTITIONS).find(|part| taken.binary_search(part).is_err()) {
            self.leave()?;
            return Err(StoreError::LeaseLost { part }.into());
        }
        let (over, ended) = mpsc::channel::<()>();
        let (done, kept) = std::thread::scope(|scope| {
            let keeper = scope.spawn(move || self.keep(lease, held.deadline, &ended));
            let done = work();
            drop(over);
            let kept = keeper.join().unwrap_or(Err(StoreError::LeaseEnded));
            (done, kept)
        });
        let left = if kept.is_ok() { self.leave() } else { Ok(()) };
        let done = done?;
        kept?;
        left?;
        Ok(done)
    }

    fn keep(
        &self,
        lease: Duration,
        mut deadline: Instant,
        ended: &Receiver<()>,
    ) -> Result<(), StoreError> {
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(lease / 5) {
            match self.renew(&WorkerReport::default(), Instant::now()) {
                Ok(held) => {
                    if let Some(part) = held.lost.first() {
                        return Err(StoreError::LeaseLost { part: *part });
                    }
                    deadline = held.deadline;
                }
                Err(e) if e.is_passing() && Instant::now() < deadline => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Takes in everything that workers have told each other and nobody has heard yet. All
    /// partitions must be held.
    pub(super) fn deliver(&self, now: Time) -> Result<(), StoreError> {
        const MANY: i64 = 1 << 40;
        let mut before = MANY;
        loop {
            let rows = self.reader.read("look at the inboxes", call!(WAITING, MANY))?;
            let left = rows.first().map_or(0, |row| row.get(0));
            if left == 0 {
                return Ok(());
            }
            if left >= before {
                return Err(damaged("the inbox", "messages stay where they are"));
            }
            before = left;
            self.kept().more_messages = true;
            self.commit(Batch { now, ..Batch::default() })?;
        }
    }

    /// How many rows there are, each kind counted up to `limit`.
    pub fn count_rows(&self, limit: u64) -> Result<Copied, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let calls = KINDS.iter().map(|kind| call!(counting(kind), limit)).collect();
        let answers = self.reader.read_all("count rows", calls)?;
        let count = |rows: &Vec<tokio_postgres::Row>| {
            rows.first().map_or(0, |row| row.get::<_, i64>(0) as u64)
        };
        let rows = KINDS.into_iter().zip(answers.iter().map(count)).collect();
        Ok(Copied { rows, bytes: 0 })
    }

    /// The segments of all archives.
    pub fn all_segments(&self) -> Result<Vec<FleetSegment>, StoreError> {
        let rows = self.reader.read("read segments", call!(SEGMENTS, 0i16))?;
        let read = |row: &tokio_postgres::Row| {
            let kind = match row.get::<_, i16>(0) {
                0 => SegmentKind::Warc,
                1 => SegmentKind::Text,
                other => return Err(damaged("segments", format!("an unknown kind {other}"))),
            };
            let number = u32::try_from(row.get::<_, i64>(1)).map_err(|e| damaged("segments", e))?;
            let length = row.get::<_, i64>(2) as u64;
            Ok(FleetSegment { kind, number, length, archive: row.get(3) })
        };
        rows.iter().map(read).collect()
    }

    /// A number that the fleet has agreed on; `None` where it has not.
    pub fn agreed(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        let rows = self.reader.read("read a number", call!(NUMBER, name))?;
        Ok(rows.first().map(|row| row.get::<_, i64>(0) as u64))
    }
}

/// The statement that counts rows of a kind.
fn counting(kind: &str) -> &'static str {
    macro_rules! count {
        ($table:literal) => {
            concat!("SELECT count(*) FROM (SELECT 1 FROM ", $table, " LIMIT $1) AS few")
        };
    }
    match kind {
        "urls" => count!("urls"),
        "hosts" => count!("hosts"),
        "ready" => count!("ready"),
        "calendar" => count!("calendar"),
        "schedule" => count!("schedule"),
        "claims" => count!("claims"),
        "captures" => count!("captures"),
        "links" => count!("links"),
        "payloads" => count!("payloads"),
        "robots" => count!("robots"),
        "changes" => count!("log"),
        "jobs" => count!("jobs"),
        "segments" => count!("segments"),
        "exclusions" => count!("exclusions"),
        other => unreachable!("there are no rows of {other}"),
    }
}
