//! What travels between the director, the visits and the committer.

use argiope_archive::Prepared;
use argiope_frontier::{Answered, Entry, Place, SkipReason};
use argiope_model::{CanonicalUrl, Capture, HostKey, PayloadDigest, SiteKey, UrlKey};
use argiope_store::{Batch, Committed, Next};
use std::net::IpAddr;
use std::sync::Arc;

/// A URL found on a page and not known to the cache.
#[derive(Debug)]
pub(crate) struct Found {
    pub url: CanonicalUrl,
    pub key: UrlKey,
    pub depth: u16,
    /// Its position on the page, or that it is the target of a redirect.
    pub index: Option<usize>,
    pub skip: Option<SkipReason>,
}

/// A response as it is to be archived.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The finished record.
    pub record: Prepared,
    /// The head as stored, should it become a revisit.
    pub http_head: Vec<u8>,
    /// The address that answered.
    pub ip: Option<IpAddr>,
    /// Where an identical payload would be looked for; `None` for an empty one.
    pub payload: Option<(SiteKey, PayloadDigest)>,
}

/// The result of a visit.
#[derive(Debug)]
pub(crate) struct PageDone {
    pub entry: Entry,
    pub next: Next,
    /// The answer, without its places in the segments; `None` when nothing was requested.
    pub capture: Option<Capture>,
    pub recorded: Option<Recorded>,
    /// The packed text.
    pub text: Option<Vec<u8>>,
    /// The packed forward links.
    pub links: Option<Vec<u8>>,
    pub found: Vec<Found>,
    pub words: u64,
    pub link_count: u64,
    /// The running number of the visit, by which its links are placed.
    pub number: u64,
}

impl PageDone {
    /// Bytes it will add to the disk, about.
    pub(crate) fn weight(&self) -> u64 {
        let record = self.recorded.as_ref().map_or(0, |r| r.record.len());
        let text = self.text.as_ref().map_or(0, Vec::len) as u64;
        record + text + self.links.as_ref().map_or(0, Vec::len) as u64
    }

    /// Body bytes received.
    pub(crate) fn bytes(&self) -> u64 {
        self.capture.as_ref().map_or(0, |c| c.bytes)
    }
}

/// Pages to be committed together; the batch holds everything but their results.
#[derive(Debug)]
pub(crate) struct Group {
    pub pages: Vec<PageDone>,
    pub batch: Batch,
}

/// What the committer says when a group is durable.
#[derive(Debug)]
pub(crate) struct Settled {
    /// Rows that left the queues.
    pub rows: Vec<(HostKey, Place)>,
    pub committed: Committed,
}

/// What happens to the director.
pub(crate) enum Event {
    /// An answer has ended: the visit's number, its row, how it ended, bytes of its body.
    Answered(u64, HostKey, Place, Answered, u64),
    /// A page is ready to be committed.
    Done(Box<PageDone>),
    /// The disk refused a body on its way: the URL goes back, the crawl waits for room.
    NoRoom(Box<Entry>, u64, String),
    /// A group is durable.
    Settled(Box<Settled>),
    /// The committer failed: our disk, our database or our bug.
    Failed(Arc<dyn std::error::Error + Send + Sync>),
}
