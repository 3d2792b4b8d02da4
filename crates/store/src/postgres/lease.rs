//! Leases: which partitions a worker may write, and until when.
//!
//! * A worker that joins gets a session: a number nobody had before. Partitions name their owner's
//!   session and count an epoch, which grows whenever they change hands. How long a worker lives is
//!   told by one row of its own, so that a renewal costs one row, however many partitions it holds.
//! * Time is that of the database: a worker that has not renewed by `expires` is dead, whatever it
//!   thinks. Whoever renews next buries the dead: their rows are deleted and their partitions free.
//!   Deleting the row and renewing it exclude each other, so that a worker is dead for everybody at
//!   once; the dead do not come back, they join again.
//! * The worker's own deadline counts from when it *sent* the renewal ([`Held::deadline`]): the
//!   database counts from later, so that the worker stops before anybody else may start.
//! * A line may fall silent without being cut. A renewal waits for its answer only a part of the lease
//!   ([`answer_in`]), so that there is time for another on a new line. Whoever is dead is buried by the
//!   way: what that waits for does not hold a renewal up.
//! * What a lease is worth is decided inside each commit (see the head of [`super`]).
//! * Who takes how many: [`super::rebalance`]. Partitions are given back only when the worker says
//!   so, after it has given back the hosts in them.

use super::PostgresStore;
use super::around::MOVES;
use super::link::{Call, Link, call, plain};
use crate::StoreError;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const NUMBER: &str = "INSERT INTO numbers (part, name, n) VALUES (0, $1, $2)
    ON CONFLICT (part, name) DO UPDATE SET n = numbers.n + excluded.n RETURNING n";
const PAGES: &str = "INSERT INTO numbers (part, name, n) VALUES (0, 'page', 1 + $1::bigint)
    ON CONFLICT (part, name) DO UPDATE SET n = numbers.n + $1::bigint RETURNING n";
const JOIN: &str = "INSERT INTO workers
    (part, session, name, address, started, heard, expires, pages, speed, archive)
    VALUES (0, $1, $2, $3, clock_timestamp(), clock_timestamp(),
        clock_timestamp() + $4::bigint * interval '1 millisecond', 0, 0, $5)";
const REPLACE: &str = "DELETE FROM workers WHERE part = 0 AND archive = $1 RETURNING session";
const RENEW: &str = "UPDATE workers SET heard = clock_timestamp(),
    expires = clock_timestamp() + $2::bigint * interval '1 millisecond', pages = $3, speed = $4
    WHERE part = 0 AND session = $1 AND expires > clock_timestamp() RETURNING session";
const LIVING: &str = "SELECT session, expires <= clock_timestamp() FROM workers
    WHERE part = $1 ORDER BY session";
const BURY: &str = "DELETE FROM workers WHERE part = 0 AND session = ANY($1)
    AND expires <= clock_timestamp() RETURNING session";
const FREE: &str = "UPDATE parts SET owner = NULL, epoch = epoch + 1
    WHERE owner = ANY($1) RETURNING part";
const OWNERS: &str = "SELECT part, owner, epoch FROM parts WHERE part >= $1";
/// Whoever takes partitions lives, and does until that is committed.
const ALIVE: &str = "UPDATE workers SET heard = clock_timestamp()
    WHERE part = 0 AND session = $1 AND expires > clock_timestamp() RETURNING session";
const TAKE: &str = "UPDATE parts SET owner = $1, epoch = epoch + 1
    WHERE part = ANY($2) AND owner IS NULL RETURNING part, epoch";
const GIVE: &str = "UPDATE parts SET owner = NULL, epoch = epoch + 1
    WHERE part = ANY($2) AND owner = $1 RETURNING part";
const LEAVE: &str = "DELETE FROM workers WHERE part = 0 AND session = $1";

/// What this worker holds, as far as it knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Lease {
    session: Option<i64>,
    length: Duration,
    parts: BTreeMap<u16, i64>,
    /// Grows with every change.
    version: u64,
}

impl Lease {
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn session(&self) -> i64 {
        self.session.unwrap_or(0)
    }

    pub fn parts(&self) -> &BTreeMap<u16, i64> {
        &self.parts
    }

    fn set(&mut self, parts: BTreeMap<u16, i64>) {
        if parts != self.parts {
            self.version += 1;
            self.parts = parts;
        }
    }
}

/// What a worker tells of itself with each renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkerReport {
    /// Pages fetched since it started.
    pub pages: u64,
    /// Pages per second lately.
    pub speed: f64,
}

/// How a worker stands after a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// No request may be sent after this, unless another renewal succeeds.
    pub deadline: Instant,
    /// The partitions it holds, in order.
    pub parts: Vec<u16>,
    /// Those that it held before and has lost.
    pub lost: Vec<u16>,
    /// Workers that live.
    pub workers: usize,
    /// Its place among them, from 0.
    pub rank: usize,
    /// Partitions that nobody holds.
    pub free: Vec<u16>,
}

impl PostgresStore {
    /// Joins the fleet under a name; `sent` is the time now. The lease lasts so long from each
    /// renewal on; a third of that is a good pace to renew.
    ///
    /// Whoever wrote the same archive before is dead, since that has one owner: what it held is free at
    /// once. Only then do the lengths of the archive's segments stay what they are.
    pub fn join(
        &self,
        name: &str,
        address: &str,
        length: Duration,
        sent: Instant,
    ) -> Result<Held, StoreError> {
        let archive = self.options.archive.clone();
        // There is no lease yet that time could run out for.
        self.leases.answer_within(None);
        if !archive.is_empty() {
            let replace = vec![plain("BEGIN"), call!(REPLACE, archive.clone())];
            free_those_of(&self.leases, replace)?;
        }
        let session = self.take_number("session", 1)? as i64;
        self.quotas.clear();
        let ms = length.as_millis() as i64;
        let join = call!(JOIN, session, name.to_owned(), address.to_owned(), ms, archive);
        self.leases.run("join the fleet", vec![join, moved()])?;
        {
            let mut lease = self.lease();
            (lease.session, lease.length) = (Some(session), length);
            lease.set(BTreeMap::new());
        }
        self.leases.answer_within(Some(answer_in(length)));
        self.standing(sent)
    }

    /// Renews the lease and buries who has not; `sent` is the time now.
    ///
    /// # Errors
    /// [`StoreError::LeaseEnded`] when it had run out: everything is lost, and the worker has to
    /// join again. [`StoreError::Unreachable`] leaves the old deadline as it is.
    pub fn renew(&self, report: &WorkerReport, sent: Instant) -> Result<Held, StoreError> {
        let (session, length) = self.session()?;
        let (ms, pages) = (length.as_millis() as i64, report.pages as i64);
        let renew = call!(RENEW, session, ms, pages, report.speed);
        let renewed = self.leases.run("renew the lease", vec![renew])?;
        if renewed.first().is_none_or(Vec::is_empty) {
            self.lost_everything();
            return Err(StoreError::LeaseEnded);
        }
        self.standing(sent)
    }

    /// Takes partitions that are free, these or fewer; says which.
    pub fn acquire(&self, parts: &[u16]) -> Result<Vec<u16>, StoreError> {
        let (session, _) = self.session()?;
        let wanted: Vec<i16> = parts.iter().map(|part| *part as i16).collect();
        let calls = vec![plain("BEGIN"), call!(ALIVE, session), call!(TAKE, session, wanted)];
        let link = &self.leases;
        let mut answers = link.run("take partitions", calls).inspect_err(|_| link.hang_up())?;
        let rows = answers.pop().unwrap_or_default();
        if answers.pop().is_none_or(|alive| alive.is_empty()) {
            link.run("take nothing", vec![plain("ROLLBACK")])?;
            self.lost_everything();
            return Err(StoreError::LeaseEnded);
        }
        // Should the end be unknown, the next renewal tells what is held.
        link.run("take partitions", vec![plain("COMMIT")])?;
        let mut lease = self.lease();
        let mut held = lease.parts.clone();
        held.extend(rows.iter().map(|row| (row.get::<_, i16>(0) as u16, row.get::<_, i64>(1))));
        lease.set(held);
        let mut taken: Vec<u16> = rows.iter().map(|row| row.get::<_, i16>(0) as u16).collect();
        taken.sort_unstable();
        Ok(taken)
    }

    /// Gives partitions back; the hosts in them have been given back before.
    pub fn release(&self, parts: &[u16]) -> Result<(), StoreError> {
        let (session, _) = self.session()?;
        // Not even tried any more, whatever the database says.
        {
            let mut lease = self.lease();
            let mut held = lease.parts.clone();
            held.retain(|part, _| !parts.contains(part));
            lease.set(held);
        }
        let given: Vec<i16> = parts.iter().map(|part| *part as i16).collect();
        let calls = vec![call!(GIVE, session, given), moved()];
        self.leases.run("give partitions back", calls)?;
        Ok(())
    }

    /// Leaves the fleet: everything held is free at once.
    pub fn leave(&self) -> Result<(), StoreError> {
        let (session, _) = self.session()?;
        self.lost_everything();
        let calls = vec![
            plain("BEGIN"),
            call!(FREE, vec![session]),
            call!(LEAVE, session),
            moved(),
            plain("COMMIT"),
        ];
        let left = self.leases.run("leave the fleet", calls);
        left.inspect_err(|_| self.leases.hang_up()).map(|_| ())
    }

    /// The partitions held, as of the last renewal.
    pub fn held(&self) -> Vec<u16> {
        self.lease().parts.keys().copied().collect()
    }

    /// Sets running numbers aside for this worker alone; the first of so many.
    ///
    /// Places in the queue are made from the numbers of pages: workers that share a crawl must not
    /// use the same. Below the last of them [`crate::Batch::next_page`] is not written.
    pub fn take_pages(&self, count: u64) -> Result<u64, StoreError> {
        let answers = self.leases.run("set numbers aside", vec![call!(PAGES, count as i64)])?;
        let row = answers.first().and_then(|rows| rows.first());
        let end = row.map_or(0, |row| row.get::<_, i64>(0) as u64);
        let mut loaded = self.kept();
        loaded.kept.next_page = loaded.kept.next_page.max(end);
        Ok(end.saturating_sub(count))
    }

    /// Sets numbers of segments aside for this worker alone; the first of so many, from 1 on. A
    /// segment's number says where a capture lies, whoever wrote it.
    pub fn take_segments(&self, count: u32) -> Result<u32, StoreError> {
        let last = self.take_number("segment", u64::from(count))?;
        let first = (last + 1).saturating_sub(u64::from(count));
        u32::try_from(first).map_err(|e| crate::row::damaged("segments", e))
    }

    /// Advances a number that only grows; what it is then.
    pub(super) fn take_number(&self, name: &'static str, count: u64) -> Result<u64, StoreError> {
        let call = call!(NUMBER, name, count as i64);
        let answers = self.leases.run("take a number", vec![call])?;
        let row = answers.first().and_then(|rows| rows.first());
        Ok(row.map_or(0, |row| row.get::<_, i64>(0) as u64))
    }

    pub(super) fn session(&self) -> Result<(i64, Duration), StoreError> {
        let lease = self.lease();
        lease.session.map(|session| (session, lease.length)).ok_or(StoreError::LeaseEnded)
    }

    fn lost_everything(&self) {
        let mut lease = self.lease();
        lease.session = None;
        lease.set(BTreeMap::new());
    }

    /// Buries the dead, then looks who holds what.
    fn standing(&self, sent: Instant) -> Result<Held, StoreError> {
        let (session, length) = self.session()?;
        let link = &self.leases;
        let workers = link.read("look at the fleet", call!(LIVING, 0i16))?;
        let dead: Vec<i64> =
            workers.iter().filter(|row| row.get(1)).map(|row| row.get::<_, i64>(0)).collect();
        if !dead.is_empty() {
            match bury(link, dead) {
                Err(failed) if failed.is_passing() => {
                    tracing::warn!(error = %failed, "the dead are buried with the next renewal");
                }
                buried => buried?,
            }
        }
        let living: Vec<i64> =
            workers.iter().filter(|row| !row.get::<_, bool>(1)).map(|row| row.get(0)).collect();
        let rows = link.read("look at the partitions", call!(OWNERS, 0i16))?;
        let (mut held, mut free) = (BTreeMap::new(), Vec::new());
        for row in rows {
            let part = row.get::<_, i16>(0) as u16;
            match row.get::<_, Option<i64>>(1) {
                None => free.push(part),
                Some(owner) if owner == session => {
                    held.insert(part, row.get::<_, i64>(2));
                }
                Some(_) => {}
            }
        }
        free.sort_unstable();
        let mut lease = self.lease();
        let lost = lease.parts.iter().filter(|(p, e)| held.get(p) != Some(e)).map(|(p, _)| *p);
        let lost = lost.collect();
        let parts = held.keys().copied().collect();
        lease.set(held);
        Ok(Held {
            deadline: sent + length,
            parts,
            lost,
            workers: living.len(),
            rank: living.iter().position(|s| *s == session).unwrap_or(0),
            free,
        })
    }
}

/// Tells the others that something has changed: they look sooner than they would.
fn moved() -> Call {
    call!(NUMBER, MOVES, 1i64)
}

/// How long an answer is awaited under a lease of this length.
fn answer_in(lease: Duration) -> Duration {
    (lease / 4).max(Duration::from_secs(1))
}

/// Nothing is waited for long, on the nodes of Citus neither.
const NOT_LONG: &str = "BEGIN; SET LOCAL citus.propagate_set_commands = 'local';
    SET LOCAL lock_timeout = '500ms'";

/// Frees what the dead held. That somebody is dead is decided under a lock on its row. A commit of theirs
/// that is under way is not waited for long: the next renewal comes soon.
fn bury(link: &Link, dead: Vec<i64>) -> Result<(), StoreError> {
    let begin = vec![plain(NOT_LONG), call!(BURY, dead)];
    free_those_of(link, begin)
}

/// Frees what those held whom the last of these calls deletes and answers. It waits for a commit of
/// theirs that is under way: afterwards none can come.
fn free_those_of(link: &Link, begin: Vec<Call>) -> Result<(), StoreError> {
    let mut answers = link.run("bury the dead", begin).inspect_err(|_| link.hang_up())?;
    let buried: Vec<i64> = answers.pop().unwrap_or_default().iter().map(|row| row.get(0)).collect();
    let rest = vec![call!(FREE, buried), moved(), plain("COMMIT")];
    link.run("free partitions", rest).inspect_err(|_| link.hang_up())?;
    Ok(())
}
