//! How a fetch ended. What the web does is data: every ending is stored history.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum OutcomeKind {
    /// 2xx with a body we wanted.
    Fetched,
    /// 304: the page is as it was.
    NotModified,
    /// 3xx with a usable target, which is queued on its own.
    Redirect,
    /// 3xx whose target is missing or malformed.
    BadRedirect,
    /// 4xx.
    ClientError,
    /// 5xx.
    ServerError,
    /// The header or the bytes name a type that was not asked for; the body was not taken.
    UnwantedType,
    /// Larger than the limit; the body was not taken.
    TooLarge,
    /// The host name has no address.
    NoAddress,
    /// The address is private, loopback or link-local and `--allow-private` was not given.
    ForbiddenAddress,
    /// No connection could be made.
    ConnectFailed,
    /// The connection ended before the answer did.
    ConnectionLost,
    /// The answer took longer than the limit.
    TimedOut,
    /// The TLS handshake failed.
    TlsFailed,
    /// What came is not HTTP.
    BadResponse,
    /// The body does not follow its declared content-encoding.
    BadEncoding,
}

impl OutcomeKind {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::NotModified => "not-modified",
            Self::Redirect => "redirect",
            Self::BadRedirect => "bad-redirect",
            Self::ClientError => "client-error",
            Self::ServerError => "server-error",
            Self::UnwantedType => "unwanted-type",
            Self::TooLarge => "too-large",
            Self::NoAddress => "no-address",
            Self::ForbiddenAddress => "forbidden-address",
            Self::ConnectFailed => "connect-failed",
            Self::ConnectionLost => "connection-lost",
            Self::TimedOut => "timed-out",
            Self::TlsFailed => "tls-failed",
            Self::BadResponse => "bad-response",
            Self::BadEncoding => "bad-encoding",
        }
    }
}

/// How a fetch ended, with the status and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchOutcome {
    /// The kind of ending.
    pub kind: OutcomeKind,
    /// The HTTP status; 0 when none was received.
    pub status: u16,
    /// A redirect's target as sent, a type that was refused, the cause of a failure.
    pub detail: Option<Box<str>>,
}

impl FetchOutcome {
    /// An ending without detail.
    pub fn new(kind: OutcomeKind, status: u16) -> Self {
        FetchOutcome { kind, status, detail: None }
    }

    /// An ending with something to say.
    pub fn with_detail(kind: OutcomeKind, status: u16, detail: impl Into<Box<str>>) -> Self {
        FetchOutcome { kind, status, detail: Some(detail.into()) }
    }

    /// Whether a document was received (or known to be as it was).
    pub fn is_success(&self) -> bool {
        matches!(self.kind, OutcomeKind::Fetched | OutcomeKind::NotModified)
    }

    /// Whether it was left alone on purpose rather than failed.
    pub fn is_skip(&self) -> bool {
        matches!(
            self.kind,
            OutcomeKind::Redirect | OutcomeKind::UnwantedType | OutcomeKind::TooLarge
        )
    }

    /// Whether trying again later may end better.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            OutcomeKind::ConnectFailed
            | OutcomeKind::ConnectionLost
            | OutcomeKind::TimedOut
            | OutcomeKind::NoAddress
            | OutcomeKind::BadEncoding => true,
            OutcomeKind::ServerError => self.status != 501 && self.status != 505,
            OutcomeKind::ClientError => matches!(self.status, 408 | 425 | 429),
            _ => false,
        }
    }
}

impl fmt::Display for FetchOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.status != 0 {
            write!(f, " {}", self.status)?;
        }
        match &self.detail {
            Some(detail) => write!(f, ": {detail}"),
            None => Ok(()),
        }
    }
}
