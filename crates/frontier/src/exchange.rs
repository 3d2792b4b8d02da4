//! What the frontier and the store say to each other.

use crate::order::Place;
use crate::temper::Temper;
use argiope_model::{CanonicalUrl, DocId, FetchOutcome, HostKey, JobId, Role, Time, UrlKey};
use serde::{Deserialize, Serialize};

/// One row of a ready queue, with what a fetch needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The URL's key.
    pub key: UrlKey,
    /// Its place in the ready queue of its host.
    pub place: Place,
    /// The URL.
    pub url: CanonicalUrl,
    /// Its number.
    pub doc: DocId,
    /// The job that wants it.
    pub job: JobId,
    /// Links from a start URL.
    pub depth: u16,
    /// Tries so far.
    pub attempts: u8,
    /// Not to be requested: its stored links are to be looked at again.
    pub expand: bool,
    /// What it is asked for.
    pub role: Role,
    /// Redirects that led here, one after the other.
    pub hops: u8,
    /// It was visited before: this is to see what has become of it. No limit of its job counts it.
    pub again: bool,
}

/// A host's robots.txt as it was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsFile {
    /// When it was asked for.
    pub asked: Time,
    /// When it is asked for again.
    pub until: Time,
    /// How that ended: the last answer of the chain, where it redirects.
    pub outcome: FetchOutcome,
    /// The file, where there is one, cut at the length that is read.
    pub body: Vec<u8>,
}

/// The first rows of a host's ready queue, as read from the store.
#[derive(Clone, Debug)]
pub struct HostWindow {
    /// The host.
    pub host: HostKey,
    /// Rows in order.
    pub entries: Vec<Entry>,
    /// Everything up to here has been read; `None` when nothing was there.
    pub cursor: Option<Place>,
    /// Whether there are rows beyond.
    pub more: bool,
    /// No request before this time.
    pub not_before: Time,
    /// How it has behaved.
    pub temper: Temper,
    /// Its robots.txt as kept, when the host is claimed; not told with a refill.
    pub robots: Option<RobotsFile>,
}

/// A wish for more rows of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refill {
    /// The host.
    pub host: HostKey,
    /// Rows after this place.
    pub after: Option<Place>,
    /// At most so many.
    pub limit: usize,
}

/// A host to be given back to the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The host.
    pub host: HostKey,
    /// No request before this time.
    pub not_before: Time,
    /// How it has behaved.
    pub temper: Temper,
    /// All rows it has belong to jobs that are not worked on: it sleeps until one is.
    pub asleep: bool,
}

/// What must be known of a loaded host should this run end here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostNote {
    /// The host.
    pub host: HostKey,
    /// No request before this time.
    pub not_before: Time,
    /// How it has behaved.
    pub temper: Temper,
}

/// A host that is to be loaded whatever its schedule says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Named {
    /// The host.
    pub host: HostKey,
    /// Scheme, host name and port.
    pub origin: Box<str>,
}

/// What the frontier would like from the store.
#[derive(Debug, Default)]
pub struct Wants {
    /// So many more hosts.
    pub hosts: usize,
    /// More rows of these.
    pub refills: Vec<Refill>,
    /// Give these back.
    pub releases: Vec<Release>,
    /// Load these, whatever the schedule says.
    pub named: Vec<Named>,
}

impl Wants {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.hosts + self.refills.len() + self.releases.len() + self.named.len() == 0
    }
}
