//! The schema: numbered steps, each applied once, in order, in one transaction.
//!
//! * A database that has none is made by all steps; an older one goes on from where it stands.
//! * Two programs that open it at once take turns: the steps run under a lock of the database.
//! * A step that is out in the world never changes; what is to be different is a new step.
//! * A schema newer than this program is refused with a sentence.
//! * On Citus, a schema that holds nothing yet is distributed (`schema/0005-citus.sql`). One that holds
//!   rows is left as it is: moving them takes a while, and whoever runs the database says when.

use super::link::{Answer, Link, call, plain};
use crate::StoreError;

/// The steps; the number of a step is its place, from 1.
const STEPS: &[&str] = &[
    include_str!("schema/0001-crawl.sql"),
    include_str!("schema/0002-fleet.sql"),
    include_str!("schema/0003-archive.sql"),
    include_str!("schema/0004-together.sql"),
    include_str!("schema/0005-citus.sql"),
];

/// The schema that this program knows.
pub const SCHEMA_VERSION: i32 = STEPS.len() as i32;

/// A number nobody else uses for a lock.
const LOCK: i64 = 0x6172_6769_6f70_6501;

/// Changes of the log per partition that lie in one table.
pub(super) const LOG_RANGE: u64 = 1 << 18;

/// The step from which on the tables can be distributed, and how that is done; `true` says that rows may
/// be moved.
const DISTRIBUTES: i32 = 5;
const DISTRIBUTE: &str = "SELECT argiope.distribute($1)::text";

/// The oldest that is tried.
const OLDEST_SERVER: i32 = 150_000;

/// A server that is too old is refused before anything is made in it.
pub(super) fn check_server(link: &Link) -> Result<(), StoreError> {
    const VERSION: &str = "SELECT current_setting($1)::integer, version()";
    let rows = link.read("ask for the server's version", call!(VERSION, "server_version_num"))?;
    match rows.first().map(|row| (row.get::<_, i32>(0), row.get::<_, String>(1))) {
        Some((number, name)) if number < OLDEST_SERVER => Err(StoreError::Address {
            why: format!("it is {name}, and PostgreSQL 15 or later is needed"),
        }),
        _ => Ok(()),
    }
}

/// Brings the schema up to a version, the newest but for tests.
pub(super) fn migrate(link: &Link, to: i32) -> Result<(), StoreError> {
    const LOOK: &str = "SELECT to_regclass('argiope.meta') IS NOT NULL AND $1::bigint <> 0";
    const VERSION: &str = "SELECT n FROM argiope.meta WHERE name = $1";
    let version = |link: &Link| -> Result<i32, StoreError> {
        let there = link.run("look at the schema", vec![call!(LOOK, LOCK)])?;
        if !flag(&there) {
            return Ok(0);
        }
        let found = link.read("read the version of the schema", call!(VERSION, "schema"))?;
        Ok(found.first().map_or(0, |row| row.get(0)))
    };
    let found = version(link)?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION });
    }
    if found >= to {
        return Ok(());
    }
    let locked = (|| {
        link.run("wait for the schema", vec![call!("SELECT pg_advisory_lock($1)::text", LOCK)])?;
        let found = version(link)?;
        if found > SCHEMA_VERSION {
            return Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION });
        }
        for number in found..to {
            step(link, number)?;
        }
        if to >= DISTRIBUTES {
            link.run("distribute the tables", vec![call!(DISTRIBUTE, false)])?;
        }
        Ok(())
    })();
    let unlock = call!("SELECT pg_advisory_unlock($1)::text", LOCK);
    let unlocked = link.run("let go of the schema", vec![unlock]);
    locked.and(unlocked.map(|_| ()))
}

fn flag(answers: &[Answer]) -> bool {
    answers.first().and_then(|rows| rows.first()).is_some_and(|row| row.get(0))
}

/// Applies the step after this many.
fn step(link: &Link, done: i32) -> Result<(), StoreError> {
    let sql = STEPS[done as usize];
    const NOTE: &str = "INSERT INTO meta (name, n) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET n = excluded.n";
    let first = "CREATE SCHEMA IF NOT EXISTS argiope;
        CREATE TABLE IF NOT EXISTS argiope.meta (name text PRIMARY KEY, n integer NOT NULL)";
    let begin = vec![plain("BEGIN"), plain(first), plain(sql)];
    // The statement that notes the version can be prepared only once its table is there.
    let note = vec![call!(NOTE, "schema", done + 1), plain("COMMIT")];
    let applied =
        link.run("make the schema", begin).and_then(|_| link.run("note the schema", note));
    if applied.is_err() {
        link.hang_up();
    }
    applied.map(|_| ())
}
