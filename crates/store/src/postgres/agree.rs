//! Numbers that a whole fleet agrees on.

use super::PostgresStore;
use super::around::DELAY;
use super::link::call;
use crate::StoreError;
use crate::row::damaged;
use std::time::Duration;

const SET: &str = "INSERT INTO numbers (part, name, n) VALUES (0, $1, $2)
    ON CONFLICT (part, name) DO NOTHING";
const SAY: &str = "INSERT INTO numbers (part, name, n) VALUES (0, $1, $2)
    ON CONFLICT (part, name) DO UPDATE SET n = excluded.n WHERE numbers.n <> excluded.n";
const GET: &str = "SELECT n FROM numbers WHERE part = 0 AND name = $1";

impl PostgresStore {
    /// What the fleet goes by: the value of whoever said one first.
    pub fn agree(&self, name: &'static str, value: u64) -> Result<u64, StoreError> {
        let calls = vec![call!(SET, name, value as i64), call!(GET, name)];
        let answers = self.leases.run("agree on a number", calls)?;
        let row = answers.last().and_then(|rows| rows.first());
        Ok(row.map_or(value, |row| row.get::<_, i64>(0) as u64))
    }

    /// Says how long all workers wait from the end of an answer to the next request to the same host,
    /// or asks how long that is; `None`: nobody has said.
    pub fn delay(&self, said: Option<Duration>) -> Result<Option<Duration>, StoreError> {
        if let Some(said) = said {
            let ms = i64::try_from(said.as_millis()).unwrap_or(i64::MAX);
            self.leases.run("say a delay", vec![call!(SAY, DELAY, ms)])?;
            return Ok(Some(said));
        }
        let rows = self.reader.read("ask for the delay", call!(GET, DELAY))?;
        Ok(rows.first().map(|row| Duration::from_millis(row.get::<_, i64>(0).max(0) as u64)))
    }

    /// A number for a new job, larger than this and given to nobody else.
    pub fn take_job(&self, above: u32) -> Result<u32, StoreError> {
        loop {
            let job = self.take_number("job", 1)?;
            let job = u32::try_from(job).map_err(|e| damaged("jobs", e))?;
            if job > above {
                return Ok(job);
            }
        }
    }
}
