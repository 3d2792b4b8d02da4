//! What the frontier hands out.

use crate::admit::SkipReason;
use crate::exchange::Entry;
use argiope_model::{CanonicalUrl, HostKey, JobId};
use std::net::IpAddr;

/// Something to be done now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Find the address of this URL's host; nothing is requested. Answered by `located`.
    Locate(HostKey, CanonicalUrl),
    /// Ask for a turn at this address; nothing is requested. Answered by `turn`.
    Turn(IpAddr),
    /// Ask for the robots.txt of this URL's host; the URL itself is handed out meanwhile.
    Robots(Entry),
    /// Ask for what a robots.txt redirects to.
    Errand(Errand),
    /// Ask for this URL (or look at its stored links again).
    Visit(Entry),
    /// Do not ask for this URL, for this reason. It holds no connection: only `settled` is owed.
    Refuse(Entry, SkipReason),
}

/// A request on another host's behalf: a robots.txt that lies elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errand {
    /// The host whose robots.txt it is.
    pub robots_of: HostKey,
    /// The host that is asked.
    pub at: HostKey,
    /// What is asked for.
    pub url: CanonicalUrl,
    /// Redirects so far.
    pub hops: u8,
    /// The job that wanted to know.
    pub job: JobId,
}
