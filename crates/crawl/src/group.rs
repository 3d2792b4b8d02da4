//! What travels between the director, the visits and the committer.

use crate::before::Compared;
use crate::fleet::PartsNews;
use crate::metrics::Outcomes;
use crate::robots::Asker;
use crate::topic::TopicPage;
use crate::traps::Named;
use argiope_archive::Prepared;
use argiope_frontier::revisit::{Children, Hint, PageState};
use argiope_frontier::{Answered, Entry, Held, Place, RobotsFile, Score, SkipReason};
use argiope_model::{
    CanonicalUrl, Capture, FetchOutcome, HostKey, OutcomeKind, PayloadDigest, Role, SiteKey, Time,
    UrlKey,
};
use argiope_store::{Batch, Committed, Next, UrlState};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// A URL found on a page and not known to the cache.
#[derive(Debug)]
pub(crate) struct Found {
    pub url: CanonicalUrl,
    pub key: UrlKey,
    pub depth: u16,
    /// Its position on the page, or that it is the target of a redirect.
    pub index: Option<usize>,
    pub skip: Option<SkipReason>,
    pub role: Role,
    pub hops: u8,
    /// How many pages without news, one found on the other, led to it.
    pub line: u8,
    /// It is to wait until everything else of its host is done.
    pub back: Option<Held>,
    /// Where the job goes best-first: whether it lies on another site than the page.
    pub other_site: bool,
    /// Where the job has an aim: what the link promises.
    pub score: Option<Score>,
}

/// A link to a URL that is known already, of a page of a job that goes best-first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownLink {
    pub key: UrlKey,
    pub other_site: bool,
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
    /// Why the payload is not whole, as an imported record says it.
    pub truncated: Option<Box<str>>,
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
    /// Links to what is known already; of a job that goes best-first only.
    pub known: Vec<KnownLink>,
    /// Its words, where its job is about something.
    pub topic: Option<Box<TopicPage>>,
    /// The other sites it links to, each once, and whether a URL of them was found.
    pub sites: Vec<(SiteKey, bool)>,
    pub words: u64,
    pub link_count: u64,
    /// The running number of the visit, by which its links are placed.
    pub number: u64,
    /// The address that answered.
    pub ip: Option<IpAddr>,
    /// Of a page that was visited before: what was known of it, and of those around it.
    pub again: Option<Box<Revisited>>,
    /// What is remembered of its visits from now on; the director writes it.
    pub plan: Option<PageState>,
    /// The text that was compared, where a second look should tell whether it has changed.
    pub unsure: Option<Box<Compared>>,
    /// When it was looked at once more, and how long that took, in milliseconds.
    pub looks: Vec<(Time, u64)>,
    /// The patterns of a series without end that it was one page too many of.
    pub traps: Vec<Named>,
}

/// A visit to a page that was visited before.
#[derive(Debug, Default)]
pub(crate) struct Revisited {
    /// What was remembered of its visits.
    pub plan: PageState,
    /// When it was found.
    pub first_seen: Option<Time>,
    /// The pages of its site that it links to, where they may become due.
    pub children: Vec<UrlKey>,
    /// What these did since its last turn.
    pub seen: Children,
    /// Pages of which this one says that they may have changed.
    pub hints: Vec<(UrlKey, PageState, Hint)>,
}

impl PageDone {
    /// A page about which nothing but its end is known.
    pub(crate) fn bare(entry: Entry, number: u64, next: Next) -> Self {
        PageDone {
            entry,
            next,
            capture: None,
            recorded: None,
            text: None,
            links: None,
            found: Vec::new(),
            known: Vec::new(),
            topic: None,
            sites: Vec::new(),
            words: 0,
            link_count: 0,
            number,
            ip: None,
            again: None,
            plan: None,
            unsure: None,
            looks: Vec::new(),
            traps: Vec::new(),
        }
    }

    /// A page that was not requested, for this reason.
    pub(crate) fn refused(entry: Entry, number: u64, reason: SkipReason) -> Self {
        // What was visited before stays what it is.
        let next = match entry.again {
            true => Next::Expanded,
            false => Next::Done(UrlState::Skipped(reason)),
        };
        PageDone::bare(entry, number, next)
    }

    /// Whether a page was read.
    pub(crate) fn is_page(&self) -> bool {
        self.next == Next::Done(UrlState::Fetched) && self.entry.role == Role::Page
    }

    /// Whether it counts as a page against the limits of its job.
    pub(crate) fn is_new_page(&self) -> bool {
        self.is_page() && !self.entry.again
    }

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
    /// Lines for the crawl log besides those of the pages.
    pub log: Vec<String>,
}

/// What came of asking for a robots.txt.
pub(crate) struct RobotsDone {
    pub number: u64,
    pub asker: Asker,
    pub url: CanonicalUrl,
    pub ip: Option<IpAddr>,
    pub started: Time,
    pub elapsed: Duration,
    pub status: u16,
    pub bytes: u64,
    pub answered: Answered,
    pub result: RobotsResult,
}

/// Where a robots.txt is.
pub(crate) enum RobotsResult {
    /// Here, or nowhere.
    File(RobotsFile),
    /// Behind another URL.
    Elsewhere(CanonicalUrl),
}

impl RobotsDone {
    /// How the request ended.
    pub(crate) fn outcome(&self) -> FetchOutcome {
        match &self.result {
            RobotsResult::File(file) => file.outcome.clone(),
            RobotsResult::Elsewhere(to) => {
                FetchOutcome::with_detail(OutcomeKind::Redirect, self.status, to.as_str())
            }
        }
    }
}

/// What the committer says when a group is durable.
#[derive(Debug)]
pub(crate) struct Settled {
    /// Rows that left the queues.
    pub rows: Vec<(HostKey, Place)>,
    /// How many of them are pages, and their bytes.
    pub pages: u64,
    pub bytes: u64,
    /// How the requests ended.
    pub outcomes: Outcomes,
    pub committed: Committed,
}

/// What happens to the director.
pub(crate) enum Event {
    /// An answer has ended: the visit's number, its row, how it ended, bytes of its body.
    Answered(u64, HostKey, Place, Answered, u64),
    /// A page is ready to be committed.
    Done(Box<PageDone>),
    /// A robots.txt was asked for.
    Robots(Box<RobotsDone>),
    /// The address of a host was looked for: the task's number, the host, until when it holds.
    Located(u64, HostKey, Option<IpAddr>, Time),
    /// The disk refused a body on its way: the URL goes back, the crawl waits for room.
    NoRoom(Box<Entry>, u64, String),
    /// Partitions come or go.
    Parts(PartsNews),
    /// A group is durable.
    Settled(Box<Settled>),
    /// The committer failed: our disk, our database or our bug.
    Failed(Arc<dyn std::error::Error + Send + Sync>),
}
