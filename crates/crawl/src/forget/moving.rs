//! Captures that stay and have the same bytes as one that goes: they get records of their own.
//!
//! The oldest of them becomes a response, with its own head, its own time and the payload read
//! from the record that goes. The others refer to that one from now on.

use super::look::{ForgetPlan, Survivor};
use super::{ForgetError, io_error};
use crate::data_dir::DataDir;
use argiope_archive::{
    Compression, Payload as Bytes, PayloadHasher, RecordHead, Segments, not_modified_record,
    open_record, read_record, response_record, revisit_record,
};
use argiope_model::{CanonicalUrl, Capture, Location, OutcomeKind, Time, UrlKey};
use argiope_store::{Moved, Payload, Store};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

/// Appends the new records and says what the captures are now.
pub(super) fn move_copies(
    dir: &DataDir,
    store: &dyn Store,
    plan: &ForgetPlan,
    warc: &mut Segments,
) -> Result<Vec<Moved>, ForgetError> {
    let mut out = Vec::new();
    let scratch = dir.spool().join("forget");
    if !plan.moves.is_empty() {
        fs::create_dir_all(&scratch).map_err(io_error("make the directory", &scratch))?;
    }
    for group in &plan.moves {
        let mut first: Option<&Survivor> = None;
        for survivor in &group.to {
            let (url, key, mut capture) = capture_of(dir, store, survivor)?;
            let mut payload = None;
            let record = match first {
                None => {
                    let site = dir.suffixes().site_key(url.host());
                    payload = Some(Payload { site, digest: capture.payload_digest });
                    capture.revisit = false;
                    let file = scratch.join("payload");
                    let held = read_payload(dir, group.from, &capture, survivor, &file)?;
                    let bytes = match &held {
                        Held::Memory(bytes) => Bytes::Memory(bytes),
                        Held::File(len) => Bytes::File { path: &file, len: *len },
                    };
                    with_head(dir, survivor, &capture, |head| {
                        response_record(head, bytes, Compression::Level1, &scratch)
                    })??
                }
                Some(first) => with_head(dir, survivor, &capture, |head| {
                    let time = Time(first.time_ms);
                    match capture.outcome.kind {
                        OutcomeKind::NotModified => not_modified_record(head, &first.url, time),
                        _ => revisit_record(head, &first.url, time),
                    }
                })?,
            };
            capture.record = Some(warc.append(record)?);
            first.get_or_insert(survivor);
            out.push(Moved { key, capture, payload });
        }
    }
    Ok(out)
}

fn no_copy(survivor: &Survivor, why: impl ToString) -> ForgetError {
    ForgetError::NoCopy { url: survivor.url.clone(), why: why.to_string() }
}

fn capture_of(
    dir: &DataDir,
    store: &dyn Store,
    survivor: &Survivor,
) -> Result<(CanonicalUrl, UrlKey, Capture), ForgetError> {
    let url = CanonicalUrl::parse(&survivor.url).map_err(|e| no_copy(survivor, e))?;
    let key = url.key(dir.suffixes());
    let captures = store.captures(key)?;
    let capture = captures.into_iter().find(|c| c.time.0 == survivor.time_ms);
    Ok((url, key, capture.ok_or_else(|| no_copy(survivor, "its capture is gone"))?))
}

/// Payloads up to this length are copied in memory.
const IN_MEMORY: u64 = 1 << 20;

/// A payload on its way: in memory, or in a file of this length.
enum Held {
    Memory(Vec<u8>),
    File(u64),
}

/// Reads the payload of a record, a long one into a file, and checks that it is the one meant.
fn read_payload(
    dir: &DataDir,
    from: Location,
    capture: &Capture,
    survivor: &Survivor,
    to: &Path,
) -> Result<Held, ForgetError> {
    let mut record = open_record(&dir.warc(), from)?;
    let mut hasher = PayloadHasher::new();
    let held = if record.payload_len() <= IN_MEMORY {
        let mut bytes = Vec::new();
        record.read_to_end(&mut bytes).map_err(|e| no_copy(survivor, e))?;
        hasher.update(&bytes);
        Held::Memory(bytes)
    } else {
        let mut file = File::create(to).map_err(io_error("write", to))?;
        let (mut piece, mut len) = (vec![0; 256 << 10], 0);
        loop {
            let n = record.read(&mut piece).map_err(|e| no_copy(survivor, e))?;
            if n == 0 {
                break Held::File(len);
            }
            hasher.update(&piece[..n]);
            file.write_all(&piece[..n]).map_err(io_error("write", to))?;
            len += n as u64;
        }
    };
    if hasher.finish() != capture.payload_digest {
        return Err(no_copy(survivor, "the payload is not the one that was stored"));
    }
    Ok(held)
}

/// Calls `make` with the head that a capture's record has.
fn with_head<T>(
    dir: &DataDir,
    survivor: &Survivor,
    capture: &Capture,
    make: impl FnOnce(&RecordHead<'_>) -> T,
) -> Result<T, ForgetError> {
    let record = read_record(&dir.warc(), survivor.record)?;
    Ok(make(&RecordHead {
        url: &survivor.url,
        time: capture.time,
        ip: record.headers.get("WARC-IP-Address").and_then(|ip| ip.parse().ok()),
        http_head: &record.http_head,
        payload_digest: capture.payload_digest,
        truncated: record.headers.get("WARC-Truncated"),
    }))
}
