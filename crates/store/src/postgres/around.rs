//! Looking around: what others have done that no message tells.
//!
//! One small question, asked once or twice a second whatever is crawled: which of our addresses others
//! want, whether the names that are excluded, the jobs or the fleet have changed, and which delay all keep.

use super::PostgresStore;
use super::link::call;
use crate::StoreError;
use std::net::IpAddr;
use std::time::Duration;

const NUMBERS: &str = "SELECT name, n FROM numbers WHERE part = 0 AND name = ANY($1)";
/// Grows whenever a name is excluded, or no longer.
pub(super) const EXCLUDED: &str = "excluded";
/// Grows whenever a job is given, or goes on under another order.
pub(super) const ORDERS: &str = "orders";
/// Grows whenever somebody joins, leaves, or gives partitions back.
pub(super) const MOVES: &str = "moves";
/// The delay that all keep, in milliseconds, where somebody has said one.
pub(super) const DELAY: &str = "delay";

/// What a look showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Addresses that this worker holds and others want.
    pub wanted: Vec<IpAddr>,
    /// How often the names that are excluded have changed.
    pub exclusions: u64,
    /// How often jobs were given or changed.
    pub orders: u64,
    /// How often the fleet has changed: who is in it, or what is free.
    pub moves: u64,
    /// The delay that all keep, where somebody has said one.
    pub delay: Option<Duration>,
}

impl PostgresStore {
    /// Looks around.
    pub fn looks_around(&self) -> Result<Around, StoreError> {
        let (session, _) = self.session()?;
        let names = vec![EXCLUDED, ORDERS, MOVES, DELAY];
        let calls = vec![Self::wanted_call(session), call!(NUMBERS, names)];
        let mut answers = self.aside.read_all("look around", calls)?;
        let numbers = answers.pop().unwrap_or_default();
        let number = |name: &str| {
            let row = numbers.iter().find(|row| row.get::<_, &str>(0) == name);
            row.map(|row| row.get::<_, i64>(1).max(0) as u64)
        };
        let wanted = answers.pop().unwrap_or_default();
        let wanted = wanted.iter().filter_map(|row| row.get::<_, &str>(0).parse().ok());
        Ok(Around {
            wanted: wanted.collect(),
            exclusions: number(EXCLUDED).unwrap_or(0),
            orders: number(ORDERS).unwrap_or(0),
            moves: number(MOVES).unwrap_or(0),
            delay: number(DELAY).map(Duration::from_millis),
        })
    }
}
