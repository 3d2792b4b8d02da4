//! Looking around: what others have done that no message tells.
//!
//! One small question, asked once or twice a second whatever is crawled: which of our addresses others
//! want, and whether the names that are excluded have changed.

use super::PostgresStore;
use super::link::call;
use crate::StoreError;
use std::net::IpAddr;

const NUMBER: &str = "SELECT n FROM numbers WHERE part = 0 AND name = $1";
/// Grows whenever a name is excluded, or no longer.
pub(super) const EXCLUDED: &str = "excluded";
/// Grows whenever somebody joins, leaves, or gives partitions back.
pub(super) const MOVES: &str = "moves";

/// What a look showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    /// Addresses that this worker holds and others want.
    pub wanted: Vec<IpAddr>,
    /// How often the names that are excluded have changed.
    pub exclusions: u64,
    /// How often the fleet has changed: who is in it, or what is free.
    pub moves: u64,
}

impl PostgresStore {
    /// Looks around.
    pub fn looks_around(&self) -> Result<Around, StoreError> {
        let (session, _) = self.session()?;
        let calls = vec![Self::wanted_call(session), call!(NUMBER, EXCLUDED), call!(NUMBER, MOVES)];
        let mut answers = self.aside.read_all("look around", calls)?;
        let mut number = || {
            let rows = answers.pop().unwrap_or_default();
            rows.first().map_or(0, |row| row.get::<_, i64>(0) as u64)
        };
        let (moves, exclusions) = (number(), number());
        let wanted = answers.pop().unwrap_or_default();
        let wanted = wanted.iter().filter_map(|row| row.get::<_, &str>(0).parse().ok());
        Ok(Around { wanted: wanted.collect(), exclusions, moves })
    }
}
