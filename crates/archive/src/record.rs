//! WARC records: what each kind says in its headers.
//!
//! Its place: called on any thread for every capture; `prepared` compresses, `segments` appends.
//! Invariants: the record id is derived from URL, time, digest and kind, so equal input gives
//! equal bytes; the block of a response is head and payload, that of a revisit the head alone.

use crate::prepared::{gzip_member, gzip_member_of_file};
use crate::{ArchiveError, Compression, Prepared, digest_base32};
use argiope_model::{PayloadDigest, Time};
use std::borrow::Cow;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::Xxh3;

const SAME_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const HTTP_RESPONSE: &str = "application/http; msgtype=response";
const END: &[u8] = b"\r\n\r\n";

/// Tells spool files of one process apart; names are reused by the next process, which
/// overwrites what a crash left.
static SPOOLED: AtomicU64 = AtomicU64::new(0);

/// What is known of a response besides its payload.
#[derive(Clone, Copy, Debug)]
pub struct RecordHead<'a> {
    /// The URL that was asked for.
    pub url: &'a str,
    /// When it was asked for.
    pub time: Time,
    /// The address that answered.
    pub ip: Option<IpAddr>,
    /// The response head, as [`crate::http_head_for_archive`] makes it.
    pub http_head: &'a [u8],
    /// SHA-1 of the stored payload (for a revisit: of the payload it stands for).
    pub payload_digest: PayloadDigest,
    /// Why the payload is not whole: `length`, `time`, `disconnect` or `unspecified`.
    pub truncated: Option<&'a str>,
}

/// Where a payload is.
#[derive(Clone, Copy, Debug)]
pub enum Payload<'a> {
    /// In memory.
    Memory(&'a [u8]),
    /// In a file that holds exactly `len` bytes.
    File {
        /// The file; it is only read.
        path: &'a Path,
        /// Its length.
        len: u64,
    },
}

/// Makes a `response` record. A payload in a file is compressed into a file in `spool_dir`,
/// in constant memory.
pub fn response_record(
    head: &RecordHead<'_>,
    payload: Payload<'_>,
    compression: Compression,
    spool_dir: &Path,
) -> Result<Prepared, ArchiveError> {
    let ending = missing_head_end(head.http_head);
    match payload {
        Payload::Memory(bytes) => Ok(Prepared::Bytes(gzip_member(compression, |out| {
            response_start(out, head, ending, bytes.len() as u64);
            out.extend_from_slice(bytes);
            out.extend_from_slice(END);
        }))),
        Payload::File { path, len } => {
            let number = SPOOLED.fetch_add(1, Ordering::Relaxed);
            let mut start = Vec::with_capacity(1024 + head.http_head.len());
            response_start(&mut start, head, ending, len);
            let spool = spool_dir.join(format!("record-{number}.warc.gz"));
            gzip_member_of_file(spool, compression, &start, (path, len), END).map(Prepared::File)
        }
    }
}

/// Makes a `revisit` record: the payload is the same as the one of `refers_to_url` at
/// `refers_to_time`.
pub fn revisit_record(
    head: &RecordHead<'_>,
    refers_to_url: &str,
    refers_to_time: Time,
) -> Prepared {
    revisit(head, SAME_PAYLOAD, refers_to_url, refers_to_time)
}

/// Makes a `revisit` record for a 304 answer: the server says that the payload is still the one
/// of `refers_to_url` at `refers_to_time`.
///
/// With the 304 head as block, pywb replays an empty 304; with an empty `http_head` it replays
/// the original response, so a head is only worth keeping where nobody will replay.
pub fn not_modified_record(
    head: &RecordHead<'_>,
    refers_to_url: &str,
    refers_to_time: Time,
) -> Prepared {
    revisit(head, NOT_MODIFIED, refers_to_url, refers_to_time)
}

fn revisit(head: &RecordHead<'_>, profile: &str, url: &str, time: Time) -> Prepared {
    let ending = missing_head_end(head.http_head);
    Prepared::Bytes(gzip_member(Compression::Level1, |out| {
        start(out, "revisit", head);
        line(out, "WARC-Profile", profile);
        line(out, "WARC-Refers-To-Target-URI", &one_line(url));
        line(out, "WARC-Refers-To-Date", &time.iso_seconds());
        block(out, HTTP_RESPONSE, (head.http_head.len() + ending.len()) as u64);
        out.extend_from_slice(head.http_head);
        out.extend_from_slice(ending);
        out.extend_from_slice(END);
    }))
}

/// Makes the `warcinfo` record that opens a segment.
pub(crate) fn warcinfo_record(
    file_name: &str,
    time: Time,
    software: &str,
    fields: &[(String, String)],
) -> Vec<u8> {
    gzip_member(Compression::Level1, |out| {
        let mut body = Vec::new();
        line(&mut body, "software", &one_line(software));
        line(&mut body, "format", "WARC File Format 1.1");
        line(
            &mut body,
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        );
        for (name, value) in fields {
            line(&mut body, &one_line(name), &one_line(value));
        }
        out.extend_from_slice(b"WARC/1.1\r\n");
        line(out, "WARC-Type", "warcinfo");
        line(out, "WARC-Record-ID", &record_id("warcinfo", file_name, time, &[]));
        line(out, "WARC-Date", &time.iso_seconds());
        line(out, "WARC-Filename", file_name);
        block(out, "application/warc-fields", body.len() as u64);
        out.extend_from_slice(&body);
        out.extend_from_slice(END);
    })
}

fn response_start(out: &mut Vec<u8>, head: &RecordHead<'_>, ending: &[u8], payload_len: u64) {
    start(out, "response", head);
    block(out, HTTP_RESPONSE, (head.http_head.len() + ending.len()) as u64 + payload_len);
    out.extend_from_slice(head.http_head);
    out.extend_from_slice(ending);
}

/// The headers that responses and revisits share.
fn start(out: &mut Vec<u8>, kind: &str, head: &RecordHead<'_>) {
    out.extend_from_slice(b"WARC/1.1\r\n");
    line(out, "WARC-Type", kind);
    line(out, "WARC-Record-ID", &record_id(kind, head.url, head.time, &head.payload_digest));
    line(out, "WARC-Date", &head.time.iso_seconds());
    line(out, "WARC-Target-URI", &one_line(head.url));
    if let Some(ip) = head.ip {
        line(out, "WARC-IP-Address", &ip.to_string());
    }
    let mut digest = String::from("sha1:");
    digest.push_str(&digest_base32(&head.payload_digest));
    line(out, "WARC-Payload-Digest", &digest);
    if let Some(reason) = head.truncated {
        line(out, "WARC-Truncated", &one_line(reason));
    }
}

pub(crate) fn line(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// The last headers and the empty line before the block.
fn block(out: &mut Vec<u8>, content_type: &str, len: u64) {
    line(out, "Content-Type", content_type);
    write!(out, "Content-Length: {len}\r\n\r\n").expect("a Vec takes all bytes");
}

/// A header value cannot hold line ends; canonical URLs never do, other input might.
fn one_line(value: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\r', b'\n', value.as_bytes()).is_none() {
        return Cow::Borrowed(value);
    }
    Cow::Owned(value.replace('\r', "%0D").replace('\n', "%0A"))
}

/// What a head lacks of an empty line at its end; without it the payload would be read as head.
/// No head at all lacks nothing.
fn missing_head_end(head: &[u8]) -> &'static [u8] {
    if head.is_empty() || head.ends_with(b"\n\r\n") || head.ends_with(b"\n\n") {
        b""
    } else if head.ends_with(b"\n") {
        b"\r\n"
    } else {
        b"\r\n\r\n"
    }
}

/// A UUID from what makes a record unique: version 8 (its makers' own) of RFC 9562.
pub(crate) fn record_id(kind: &str, url: &str, time: Time, digest: &[u8]) -> String {
    let mut hash = Xxh3::new();
    for part in [kind.as_bytes(), &[0], url.as_bytes(), &[0], &time.0.to_le_bytes(), digest] {
        hash.update(part);
    }
    let bits = hash.digest128() & !(0xf000 << 64) & !(0b11 << 62) | 0x8000 << 64 | 0b10 << 62;
    let (a, b, c) = (bits >> 96, bits >> 80 & 0xffff, bits >> 64 & 0xffff);
    let (d, e) = (bits >> 48 & 0xffff, bits & 0xffff_ffff_ffff);
    format!("<urn:uuid:{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_id_is_a_uuid_of_its_input() {
        let id = record_id("response", "http://a/", Time(1), &[1; 20]);
        assert_eq!(id.len(), "<urn:uuid:00000000-0000-0000-0000-000000000000>".len());
        assert_eq!(&id[24..25], "8");
        assert!(matches!(&id[29..30], "8" | "9" | "a" | "b"), "{id}");
        assert_eq!(id, record_id("response", "http://a/", Time(1), &[1; 20]));
        assert_ne!(id, record_id("revisit", "http://a/", Time(1), &[1; 20]));
        assert_ne!(id, record_id("response", "http://a/", Time(2), &[1; 20]));
    }

    #[test]
    fn line_ends_cannot_enter_a_header() {
        assert_eq!(one_line("http://a/\r\nWARC-Type: x"), "http://a/%0D%0AWARC-Type: x");
    }
}
