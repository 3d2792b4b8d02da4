//! Copying everything that is known from one store into another, row by row.
//!
//! * Its place: `argiope store copy`; the pages themselves are copied by `crawl`.
//! * How: both stores that keep bytes hold the same rows in the same encoding, so that a copy moves
//!   tables, not URLs: nothing is looked up, applied or counted on the way. What one store leaves out
//!   because another row tells it (`docs` and the values of ready rows in the embedded store) is made
//!   from that row.
//! * Invariants: a copy is whole or is not there. Into PostgreSQL it is one transaction; a directory
//!   becomes a store when all of it is written and synced. Numbers stay what they are: those of
//!   documents, jobs, segments and of the change log, so that whoever has followed it goes on from
//!   where it was.
//! * Memory: rows pass through in pieces of some hundred kilobytes, whatever there is of them.
//! * Claims that are open are copied as they are: in the new place they are what a crash leaves, and
//!   their hosts wait a full delay.

use std::collections::BTreeMap;

/// Rows that were copied, or are there to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// How many of each kind.
    pub rows: BTreeMap<&'static str, u64>,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// Hears how far a copy is, now and then: the kind of rows that is under way, and all so far.
pub type CopyWatch<'a> = &'a mut dyn FnMut(&'static str, &Copied);

/// The kinds of rows, in the order in which they are copied.
pub(crate) const KINDS: [&str; 14] = [
    "urls",
    "hosts",
    "ready",
    "calendar",
    "schedule",
    "claims",
    "captures",
    "links",
    "payloads",
    "robots",
    "changes",
    "jobs",
    "segments",
    "exclusions",
];

/// Rows between two words to who watches.
const TELL_EVERY: u64 = 4_096;

impl Copied {
    /// All rows.
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }

    /// How many rows there are of a kind.
    pub fn of(&self, kind: &str) -> u64 {
        self.rows.get(kind).copied().unwrap_or(0)
    }

    /// Counts a row of so many bytes, and says so now and then.
    pub(crate) fn count(&mut self, kind: &'static str, bytes: usize, watch: CopyWatch<'_>) {
        let rows = self.rows.entry(kind).or_default();
        *rows += 1;
        self.bytes += bytes as u64;
        if *rows % TELL_EVERY == 1 {
            watch(kind, self);
        }
    }
}
