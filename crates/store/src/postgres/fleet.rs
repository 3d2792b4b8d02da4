//! The fleet as it is told to people: who lives, what they hold, how fast they are.

use super::PostgresStore;
use super::link::call;
use crate::StoreError;
use argiope_model::Time;
use std::collections::BTreeMap;
use std::time::Duration;

const WORKERS: &str = "SELECT session, name, address,
    (extract(epoch FROM started) * 1000)::bigint,
    (extract(epoch FROM clock_timestamp() - heard) * 1000)::bigint,
    (extract(epoch FROM expires - clock_timestamp()) * 1000)::bigint, pages, speed
    FROM workers WHERE part = $1 ORDER BY session";
const OWNED: &str = "SELECT owner, count(*) FROM parts WHERE part >= $1 GROUP BY owner";

/// What waits to be taken by whom, and since when; both tables lie together.
const WAITING: &str = "SELECT p.owner, count(*),
    (extract(epoch FROM clock_timestamp() - min(i.sent)) * 1000)::bigint
    FROM inbox i JOIN parts p ON p.part = i.part WHERE i.part >= $1 GROUP BY p.owner";

/// Messages that wait to be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many.
    pub messages: u64,
    /// Since when the oldest does.
    pub lag: Duration,
}

/// A worker of the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRow {
    /// Its number.
    pub session: i64,
    /// Its name.
    pub name: String,
    /// Where its metrics are.
    pub address: String,
    /// When it joined.
    pub started: Time,
    /// How long ago it was heard.
    pub silent: Duration,
    /// How long it may go on without a renewal; `None` when that is over.
    pub left: Option<Duration>,
    /// Pages it has fetched.
    pub pages: u64,
    /// Pages per second lately.
    pub speed: f64,
    /// Partitions it holds.
    pub parts: u64,
    /// What others have found for it and it has not taken yet.
    pub waiting: Waiting,
}

/// A fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetRows {
    /// All workers, the eldest first.
    pub workers: Vec<WorkerRow>,
    /// Partitions that nobody holds.
    pub free: u64,
    /// What waits to be taken, by anybody.
    pub waiting: Waiting,
}

impl PostgresStore {
    /// The fleet as it is now.
    pub fn fleet(&self) -> Result<FleetRows, StoreError> {
        let calls = vec![call!(WORKERS, 0i16), call!(OWNED, 0i16), call!(WAITING, 0i16)];
        let mut answers = self.reader.read_all("look at the fleet", calls)?;
        let waiting = answers.pop().unwrap_or_default();
        let owned = answers.pop().unwrap_or_default();
        let owned: BTreeMap<Option<i64>, i64> =
            owned.iter().map(|row| (row.get(0), row.get(1))).collect();
        let count = |owner: Option<i64>| owned.get(&owner).map_or(0, |n| *n as u64);
        let ms = |n: i64| Duration::from_millis(n.max(0) as u64);
        let waiting: BTreeMap<Option<i64>, Waiting> = waiting
            .iter()
            .map(|row| {
                let (messages, lag) = (row.get::<_, i64>(1) as u64, ms(row.get(2)));
                (row.get(0), Waiting { messages, lag })
            })
            .collect();
        let all = waiting.values().fold(Waiting::default(), |all, one| Waiting {
            messages: all.messages + one.messages,
            lag: all.lag.max(one.lag),
        });
        let workers = answers.pop().unwrap_or_default();
        let workers = workers.iter().map(|row| WorkerRow {
            session: row.get(0),
            name: row.get(1),
            address: row.get(2),
            started: Time(row.get(3)),
            silent: ms(row.get(4)),
            left: Some(row.get::<_, i64>(5)).filter(|left| *left > 0).map(ms),
            pages: row.get::<_, i64>(6) as u64,
            speed: row.get(7),
            parts: count(Some(row.get(0))),
            waiting: waiting.get(&Some(row.get(0))).copied().unwrap_or_default(),
        });
        Ok(FleetRows { workers: workers.collect(), free: count(None), waiting: all })
    }
}
