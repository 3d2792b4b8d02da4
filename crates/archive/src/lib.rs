//! What exactly did we see.
//!
//! * What this is: the archive of a data directory. Responses become WARC 1.1 records, one gzip
//!   member each, in numbered segment files; extracted texts become zstd blobs in segment files
//!   of their own; everything stored can be found again, listed and checked.
//! * Its place: `crawl` prepares records on any thread ([`response_record`], [`revisit_record`],
//!   [`encode_text`]), one thread appends them ([`Segments`]), and the store commits the lengths
//!   that [`Segments::lengths`] names. Readers ([`open_record`], [`read_text`]) need no lock.
//! * States of a segment: growing (appended to, maybe ahead of the disk), synced, committed (the
//!   store knows its length), full. At open, what was not committed is cut. What is committed changes
//!   only where something is forgotten ([`blank_records`]), and then in its place.
//! * Invariants: a record never spans segments; a [`Location`](argiope_model::Location) below a
//!   committed length always resolves; no clock and no randomness is used, so equal input gives
//!   equal bytes.
//! * What is not here: which captures exist and which are revisits (`store`, `crawl`), what a
//!   body means (`parse`), redaction of secrets (the caller's, before anything comes here).
//!
//! ```
//! use argiope_archive::*;
//! use argiope_model::Time;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = tempfile::tempdir()?;
//! # let (warc, spool) = (data.path().join("warc"), data.path().join("spool"));
//! let body = b"<p>hello";
//! let received = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
//! let http_head = http_head_for_archive(received, body.len() as u64, true, false);
//! let head = RecordHead {
//!     url: "http://example.com/",
//!     time: Time(1_769_860_800_000),
//!     ip: None,
//!     http_head: &http_head,
//!     payload_digest: payload_digest(body),
//!     truncated: None,
//! };
//! let record = response_record(&head, Payload::Memory(body), Compression::Level1, &spool)?;
//!
//! let info = WarcInfo { software: "argiope/0.1.0".into(), ..WarcInfo::default() };
//! let mut segments = Segments::open(&warc, SegmentKind::Warc { info }, &[], 1 << 30)?;
//! let location = segments.append(record)?;
//! segments.sync()?;
//! let _for_the_store_to_commit = segments.lengths();
//!
//! assert_eq!(read_record(&warc, location)?.payload, body);
//! # Ok(())
//! # }
//! ```

mod arc;
mod cdxj;
mod change;
mod chunked;
mod date;
mod digest;
mod elsewhere;
mod error;
mod head;
mod headers;
mod near;
mod open;
mod prepared;
mod reader;
mod record;
mod segment_files;
mod segments;
mod session;
mod source;
mod surt;
mod text;
mod tombstone;
mod wacz;
mod zip;

pub use cdxj::cdxj_line;
pub use change::{
    Change, Commons, Piece, Reason, Sight, Volatile, Watcher, compare, compare_on_site, line_hash,
    steady, word_diff,
};
pub use chunked::{Dechunked, dechunk};
pub use date::warc_date;
pub use digest::{
    BodyHasher, DigestCheck, PayloadHasher, body_digest, digest_base32, payload_digest,
    payload_digest_from_text,
};
pub use elsewhere::{look_elsewhere, open_segment};
pub use error::ArchiveError;
pub use head::http_head_for_archive;
pub use headers::{WarcHeaders, http_status};
pub use near::{Fingerprint, Known, Siblings, TitlePrint, near_among};
pub use open::{Record, RecordReader, open_record, read_record};
pub use prepared::{Compression, Prepared, SpoolFile};
pub use reader::{Damage, WarcEntry, WarcReader};
pub use record::{Payload, RecordHead, not_modified_record, response_record, revisit_record};
pub use segment_files::{SegmentKind, WarcInfo, text_segment_name, warc_segment_name};
pub use segments::{NextNumber, Segments};
pub use surt::surt;
pub use text::{
    TEXT_FORMAT_VERSION, TextBlob, TextReader, TextRef, decode_text, encode_text, read_text,
};
pub use tombstone::{blank_records, blank_texts, is_tombstone, merge_places};
pub use wacz::{WaczIndex, WaczInfo, WaczPage, WaczPages, WaczWriter};
