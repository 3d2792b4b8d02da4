//! The words of Argiope: what everything else talks about.
//!
//! * What this is: the vocabulary shared by every other crate: canonical URL, site, host,
//!   partition, DocId, time, job, fetch outcome, capture, link.
//! * Its place: it knows nobody; everybody knows it. It does no I/O, reads no clock.
//! * Invariants: [`CanonicalUrl::parse`] and [`CanonicalUrl::join`] are the only ways to make
//!   a URL; a [`UrlKey`] depends on the URL text and the pinned public-suffix list alone.
//! * What is not here: how things are stored (`store`), decided (`frontier`) or fetched
//!   (`fetch`).

mod capture;
pub mod figures;
mod id;
mod job;
mod link;
mod odd_host;
mod outcome;
mod session;
mod site;
mod time;
mod url;

pub use capture::{Capture, ChangeReason, Directives, Location, PayloadDigest, Verdict};
pub use id::{DocId, HostKey, JobId, PARTITIONS, SiteKey, UrlKey, WordId};
pub use job::{Aim, Job, JobState, Limits, Order, QueryPolicy, Role, Scope, ScopeRule, Wanted};
pub use link::{Link, LinkKind};
pub use outcome::{FetchOutcome, OutcomeKind};
pub use site::{PUBLIC_SUFFIX_VERSION, SuffixError, Suffixes};
pub use time::{Time, zone_text};
pub use url::{CanonicalUrl, Joiner, MAX_URL_BYTES, UrlError};
