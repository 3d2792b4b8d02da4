//! A run: the reverse links of many pages, sorted by target, in one file that never changes.
//!
//! * Place: the buffer is written out as a run, runs are merged into larger ones ([`mod@write`]);
//!   questions are answered by reading a few blocks of each ([`read`]).
//! * Form: `magic · blocks of targets, popular ones between · blocks of pages · footer · footer's length and checksum
//!   · magic`. Each block ends with its checksum. The footer holds the first key and the place of
//!   every block; it is what stays in memory.
//! * A block of targets is a row of *pieces*: a target's key, how much it counts, and its
//!   sources. A target with very many sources has several pieces, one after the other, so that
//!   no block is large.
//! * A block of popular targets repeats what the targets linked to by at least [`POPULAR`] of
//!   the run's pages count, so that the most linked ones are found without passing all others.
//! * A block of pages lists the pages whose whole link sets are in this run, with what else is
//!   known of each: broken, with unreadable references, with links at all.
//!
//! Invariants: of a page in a newer run's list, nothing in an older run holds any more; in one
//! run a page links to a target once; no text is in here, only fingerprints and numbers.

mod read;
mod write;

pub(crate) use read::{Cursor, Pages, Popular, Run};
pub(crate) use write::RunWriter;

use serde::{Deserialize, Serialize};

/// The version written today.
pub(crate) const VERSION: u32 = 1;
/// How a run begins and ends.
const MAGIC: [u8; 8] = *b"ArgioLnk";
/// A block is closed when it is this long.
const BLOCK: usize = 8 << 10;
/// A piece is closed when it is this long.
const PIECE: usize = 4 << 10;
/// A target with so many back-links in a run is a popular one.
pub(crate) const POPULAR: u64 = 16;
/// Checksums at the end of blocks.
const SUM: usize = 8;
/// Footer length, its checksum, magic.
const TRAILER: usize = 8 + SUM + MAGIC.len();
/// Version and magic.
const HEADER: usize = MAGIC.len() + 4;

/// A piece has the host of the one before it in its block.
const SAME_HOST: u8 = 1;
/// A piece goes on with the target of the one before it.
const GOES_ON: u8 = 2;

/// Where everything is.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Footer {
    targets: Vec<([u8; 16], Place)>,
    popular: Vec<Place>,
    pages: Vec<(u64, Place)>,
    totals: Totals,
}

/// Where a block lies, checksum included.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    offset: u64,
    length: u32,
}

/// How much a run holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub targets: u64,
    pub links: u64,
    pub pages: u64,
}

impl Totals {
    /// What merging it costs.
    pub fn weight(&self) -> u64 {
        self.links + self.pages
    }
}
