//! What the frontier and the store say to each other.

use crate::order::Place;
use argiope_model::{CanonicalUrl, DocId, HostKey, JobId, Time, UrlKey};

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
    /// All rows it has belong to jobs that are not worked on: it sleeps until one is.
    pub asleep: bool,
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
}

impl Wants {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.hosts == 0 && self.refills.is_empty() && self.releases.is_empty()
    }
}
