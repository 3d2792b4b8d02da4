//! Captures: one stored response each, and where its bytes lie.

use crate::{DocId, FetchOutcome, JobId, Time};
use serde::{Deserialize, Serialize};

/// Where a record lies: segment number, first byte, length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// Number of the segment file, from 1.
    pub segment: u32,
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes as stored (compressed).
    pub length: u64,
}

/// SHA-1 of the stored payload: the digest WARC tools compare.
pub type PayloadDigest = [u8; 20];

/// What a page asks of those who read it: meta robots and `X-Robots-Tag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Directives {
    /// It is not to be found by a search.
    pub noindex: bool,
    /// Its links are not to be followed.
    pub nofollow: bool,
    /// No copy of it is to be shown.
    pub noarchive: bool,
    /// No piece of its text is to be shown.
    pub nosnippet: bool,
}

impl Directives {
    /// What either of two sources asks.
    pub fn and(self, other: Self) -> Self {
        Directives {
            noindex: self.noindex | other.noindex,
            nofollow: self.nofollow | other.nofollow,
            noarchive: self.noarchive | other.noarchive,
            nosnippet: self.nosnippet | other.nosnippet,
        }
    }
}

/// What a visit says of a page, against the last visit that saw the page itself.
///
/// Names and order are kept in rows: new ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ChangeReason {
    /// It was seen for the first time.
    New,
    /// The same bytes, or the server says so.
    Identical,
    /// Other bytes, the same words.
    Same,
    /// Other words.
    Text,
    /// Only another title.
    Title,
    /// Only what moves by itself: clocks, counters, rotating boxes.
    Noise,
    /// The same lines in another order.
    Order,
    /// In place of the page stands an error or a request to log in.
    ErrorPage,
    /// It is of another type.
    Type,
    /// Other bytes of something that has no text.
    Bytes,
    /// Another parser read it: no change that can be told.
    Parser,
    /// It was gone, and is as it was.
    Back,
}

impl ChangeReason {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Identical => "identical",
            Self::Same => "same",
            Self::Text => "text",
            Self::Title => "title",
            Self::Noise => "noise",
            Self::Order => "order",
            Self::ErrorPage => "error-page",
            Self::Type => "type",
            Self::Bytes => "bytes",
            Self::Parser => "parser",
            Self::Back => "back",
        }
    }

    /// Whether a visit that found this has found a change.
    pub fn counts(self) -> bool {
        matches!(self, Self::Text | Self::Title | Self::Type | Self::Bytes)
    }
}

/// Whether a page had changed when it was visited, how much, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Verdict {
    /// Why.
    pub reason: ChangeReason,
    /// Words that went and came, of all words of both, in ten-thousandths.
    pub share: u16,
    /// What the server says of the page's age was found to be untrue.
    pub lied: bool,
}

impl Verdict {
    /// One without a measure.
    pub fn of(reason: ChangeReason) -> Self {
        let share = if reason.counts() { 10_000 } else { 0 };
        Verdict { reason, share, lied: false }
    }
}

/// One answer of the web, as kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The document it belongs to.
    pub doc: DocId,
    /// The job that asked.
    pub job: JobId,
    /// When the request was sent.
    pub time: Time,
    /// How it ended.
    pub outcome: FetchOutcome,
    /// The WARC record; `None` where nothing was received or the archive is off.
    pub record: Option<Location>,
    /// Whether that record is a revisit: the payload stands in an earlier record.
    pub revisit: bool,
    /// The extracted text; `None` where there is none.
    pub text: Option<Location>,
    /// Media type without parameters, lower case; the bytes decide where the header is silent.
    pub mime: Box<str>,
    /// Body bytes received, in the content-encoding the server used.
    pub bytes: u64,
    /// SHA-1 of the stored payload.
    pub payload_digest: PayloadDigest,
    /// SHA-256 of the decoded body.
    pub body_digest: [u8; 32],
    /// `Last-Modified` as the server gave it.
    pub last_modified: Option<Time>,
    /// `ETag` as the server gave it.
    pub etag: Option<Box<str>>,
    /// How long the answer took, from request to last byte.
    pub elapsed_ms: u32,
    /// What the page asks of those who read it.
    pub directives: Directives,
    /// What had become of the page; `None` where nobody compared: no document, or one from elsewhere.
    pub verdict: Option<Verdict>,
}
