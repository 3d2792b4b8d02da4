//! Turns at addresses that serve several hosts: workers together keep the gap that one alone keeps.
//!
//! * An address has a *holder*: the worker that asked for it first. It needs no further turns: nobody
//!   else asks there. Most addresses serve one site, and cost one row and no statement per page.
//! * Another that wants it notes that. The holder hears of it ([`PostgresStore::looks_around`]), stops taking the
//!   address for its own, and says so ([`PostgresStore::share`]); or it is dead, and the other holds it. Until
//!   then nobody but the holder asks.
//! * A *shared* address is asked in slots that follow each other, by the clock of the database; whoever takes
//!   one waits for it by its own. A worker that has been the only one for a while holds it again.
//! * No clock is read where a row is changed: the time comes with the row that is to be written, as
//!   Citus wants it.

use super::PostgresStore;
use super::link::{Call, call};
use crate::StoreError;
use argiope_model::PARTITIONS;
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::Row;

/// Somebody else holds it: shared it is not, and the holder is not dead.
macro_rules! theirs {
    () => {
        "(a.shared <= excluded.asked AND a.holder <> excluded.holder AND a.holder <> ALL($5::bigint[]))"
    };
}
macro_rules! written {
    ($shared:literal) => {
        concat!(
            "INSERT INTO addresses AS a (part, address, next, asked, holder, shared)
            SELECT n.part, n.address, n.now + n.gap * interval '1 millisecond', n.now, $4::bigint, ",
            $shared,
            " FROM (SELECT *, clock_timestamp() AS now
                FROM unnest($1::smallint[], $2::text[], $3::bigint[]) AS l(part, address, gap)) AS n
            ON CONFLICT (part, address) DO UPDATE SET asked = excluded.asked, "
        )
    };
}
/// Of whom died nobody knows when it last asked: a gap has to pass.
const RESERVE: &str = concat!(
    written!("'-infinity'"),
    "next = CASE WHEN ",
    theirs!(),
    " THEN a.next
        WHEN a.shared <= excluded.asked AND a.holder <> excluded.holder
        THEN greatest(a.next, excluded.next) + (excluded.next - excluded.asked)
        ELSE greatest(a.next, excluded.asked) + (excluded.next - excluded.asked) END,
    holder = CASE WHEN ",
    theirs!(),
    " THEN a.holder ELSE excluded.holder END,
    shared = CASE WHEN a.shared > excluded.asked AND a.holder <> excluded.holder
        THEN excluded.asked + greatest(interval '60 seconds', 4 * (excluded.next - excluded.asked))
        ELSE a.shared END,
    wanted = coalesce(",
    theirs!(),
    ", false)
    RETURNING address, holder, shared > asked, wanted,
        (extract(epoch FROM next - asked) * 1000)::bigint"
);
const SHARE: &str = concat!(
    written!("n.now + interval '60 seconds'"),
    "next = greatest(a.next, excluded.next), wanted = false,
    shared = excluded.asked + greatest(interval '60 seconds', 4 * (excluded.next - excluded.asked))
    WHERE a.holder = excluded.holder"
);
const WANTED: &str = "SELECT address FROM addresses WHERE holder = $1 AND wanted";
const LIVING: &str = "SELECT session FROM workers WHERE part = $1 AND expires > clock_timestamp()";
const CLEAR: &str = "DELETE FROM addresses
    WHERE next < now() - $1::bigint * interval '1 millisecond'
    AND (holder IS NULL OR holder <> ALL($2))";

/// What came of asking for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is this worker's alone, from so long after the question on, until it shares it.
    Alone(Duration),
    /// It is shared: one request, so long after the question.
    Slot(Duration),
    /// Another holds it and has not shared it yet: to be asked for again soon.
    Theirs,
}

/// The partition that an address lies in.
fn part_of(address: &str) -> i16 {
    let sum = address.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    ((sum >> 32) % u64::from(PARTITIONS)) as i16
}

/// Partitions, names and gaps, in one order for all, so that nobody waits for who waits for him.
fn columns(addresses: &[(IpAddr, Duration)]) -> (Vec<i16>, Vec<String>, Vec<i64>) {
    let mut names: Vec<(i16, String, i64)> = addresses
        .iter()
        .map(|(ip, gap)| {
            let name = ip.to_string();
            (part_of(&name), name, gap.as_millis() as i64)
        })
        .collect();
    names.sort();
    let parts = names.iter().map(|(part, ..)| *part).collect();
    let gaps = names.iter().map(|(.., gap)| *gap).collect();
    (parts, names.into_iter().map(|(_, name, _)| name).collect(), gaps)
}

impl PostgresStore {
    /// Asks for the next turn at each of these addresses, all different, each for so long.
    pub fn reserve(&self, addresses: &[(IpAddr, Duration)]) -> Result<Vec<Turn>, StoreError> {
        let (session, _) = self.session()?;
        let mut rows = self.reserve_unless(addresses, session, Vec::new())?;
        let holder = |row: &Row| row.get::<_, bool>(3).then(|| row.get::<_, i64>(1));
        let holders: Vec<i64> = rows.iter().filter_map(holder).collect();
        if !holders.is_empty() {
            let dead = self.dead(holders)?;
            let of_dead = |row: &Row| holder(row).is_some_and(|session| dead.contains(&session));
            let names: Vec<String> =
                rows.iter().filter(|row| of_dead(row)).map(|row| row.get(0)).collect();
            let again: Vec<(IpAddr, Duration)> = addresses
                .iter()
                .filter(|(ip, _)| names.contains(&ip.to_string()))
                .copied()
                .collect();
            rows.retain(|row| !of_dead(row));
            rows.extend(self.reserve_unless(&again, session, dead)?);
        }
        let turn = |(ip, gap): &(IpAddr, Duration)| {
            let name = ip.to_string();
            let row = rows.iter().find(|row| row.get::<_, &str>(0) == name);
            let Some(row) = row.filter(|row| !row.get::<_, bool>(3)) else { return Turn::Theirs };
            // The turn begins a gap before the next.
            let wait = row.get::<_, i64>(4) - gap.as_millis() as i64;
            let wait = Duration::from_millis(wait.max(0) as u64);
            if row.get(2) { Turn::Slot(wait) } else { Turn::Alone(wait) }
        };
        Ok(addresses.iter().map(turn).collect())
    }

    fn reserve_unless(
        &self,
        addresses: &[(IpAddr, Duration)],
        session: i64,
        dead: Vec<i64>,
    ) -> Result<Vec<Row>, StoreError> {
        if addresses.is_empty() {
            return Ok(Vec::new());
        }
        let (parts, names, gaps) = columns(addresses);
        let call = call!(RESERVE, parts, names, gaps, session, dead);
        let mut answers = self.aside.run("ask for a turn at an address", vec![call])?;
        Ok(answers.pop().unwrap_or_default())
    }

    /// Those of these workers that are dead.
    fn dead(&self, sessions: Vec<i64>) -> Result<Vec<i64>, StoreError> {
        let living = self.living()?;
        Ok(sessions.into_iter().filter(|session| !living.contains(session)).collect())
    }

    fn living(&self) -> Result<Vec<i64>, StoreError> {
        let rows = self.aside.read("look who lives", call!(LIVING, 0i16))?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// This worker takes turns at these addresses from now on, and has not asked there for longer than the
    /// gaps say, or asks now.
    pub fn share(&self, addresses: &[(IpAddr, Duration)]) -> Result<(), StoreError> {
        let (session, _) = self.session()?;
        let (parts, names, gaps) = columns(addresses);
        let call = call!(SHARE, parts, names, gaps, session);
        self.aside.run("share an address", vec![call]).map(|_| ())
    }

    /// What asks which of the addresses that a worker holds others want.
    pub(super) fn wanted_call(session: i64) -> Call {
        call!(WANTED, session)
    }

    /// Forgets addresses that nobody holds and nobody has asked for so long.
    pub fn clear_addresses(&self, unused: Duration) -> Result<(), StoreError> {
        let call = call!(CLEAR, unused.as_millis() as i64, self.living()?);
        self.aside.run("forget addresses", vec![call]).map(|_| ())
    }
}
