//! What comes of a request, and what the caller may say about it on the way.

use crate::body::Body;
use crate::head::Head;
use argiope_model::{FetchOutcome, Time};
use std::net::IpAddr;
use std::time::Duration;

/// What the caller wants of a response, having seen its head.
#[derive(Debug)]
pub enum Take {
    /// Read the body.
    Body,
    /// Read the body, but no more than this many bytes of it: where it is longer, it is cut and
    /// the connection is closed. The answer counts as complete.
    First(u64),
    /// Leave the body; the fetch ends so. The connection is closed unless the body is small.
    Nothing(FetchOutcome),
}

/// What came of a request.
#[derive(Debug)]
pub struct Answer {
    /// How it ended, if it is over already: a failure on the way or the judge's verdict.
    /// `None`: a complete response was received.
    pub outcome: Option<FetchOutcome>,
    /// The head, if one was received.
    pub head: Option<Head>,
    /// The body in the content-encoding the server used, without chunk framing; empty unless a
    /// complete response was received.
    pub body: Body,
    /// The address that was asked.
    pub ip: Option<IpAddr>,
    /// Bytes received: heads, body, chunk framing.
    pub wire_bytes: u64,
    /// When it began.
    pub started: Time,
    /// From then to the last byte.
    pub elapsed: Duration,
    /// From the request being sent to the head received; zero if none came.
    /// Name lookup, connecting and the body are not part of it: it tells how busy the server is.
    pub waited: Duration,
}
