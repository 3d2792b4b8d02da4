//! A copy into PostgreSQL: everything an embedded store knows, in one transaction.
//!
//! * What is large comes by `COPY … FROM STDIN` in binary form, one statement a table, its rows packed
//!   here and sent in pieces while the next are read. What is small comes as parameters.
//! * The transaction's first statement writes the numbers of all partitions where they are ours,
//!   and with that locks them: nobody can take one before the end.
//! * Cut short at any moment, nothing was written.

use super::PostgresStore;
use super::link::{Bytes as Array, Call, Link, Started, call, plain};
use super::migrate::LOG_RANGE;
use super::plan::{job_part, segment_part};
use super::row::{Place, fields, locate, ready_url, state_number};
use crate::copy::{Copied, CopyWatch, KINDS};
use crate::embedded::EmbeddedStore;
use crate::row::{UrlHead, damaged};
use crate::work::{PartCounters, Table, key};
use crate::{SegmentKind, Store, StoreError};
use bytes::Bytes;
use futures_util::SinkExt;
use std::pin::pin;
use tokio::sync::mpsc;

/// All partitions at once, where they are still ours.
const PARTS: &str = "INSERT INTO parts (part, owner, docs, log)
    SELECT * FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[])
    ON CONFLICT (part) DO UPDATE SET docs = excluded.docs, log = excluded.log
    WHERE parts.owner = excluded.owner RETURNING part";
const LOG_TABLE: &str = "SELECT log_range($1, $2)::text";
const JOB: &str = "INSERT INTO jobs (part, job, state, version, v) VALUES ($1, $2, $3, 1, $4)";
const COUNTS: &str = "INSERT INTO job_counts (part, job, c) VALUES ($1, $2, $3)";
const SEGMENTS: &str = "INSERT INTO segments (part, kind, number, length, archive)
    SELECT s.*, $5 FROM unnest($1::smallint[], $2::smallint[], $3::bigint[], $4::bigint[]) AS s";
const EXCLUSIONS: &str = "INSERT INTO exclusions (part, name, v)
    SELECT 0, s.* FROM unnest($1::text[], $2::bytea[]) AS s";
/// Nobody has taken one of these before, nor can until the end.
const NUMBERS: &str = "INSERT INTO numbers (part, name, n) VALUES
    (0, 'page', $1), (0, 'segment', $2), (0, 'job', $3), (0, 'copied', $4)";

/// It takes as long as it takes: neither a statement nor a pause for reading ends it.
pub(super) const PATIENT: &str = "SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL work_mem = '64MB'";

/// Bytes that are sent at a time.
const PIECE: usize = 256 << 10;
/// Rows that go as parameters of one statement.
const SOME: usize = 4_096;

const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: [u8; 2] = (-1i16).to_be_bytes();

/// What a copy is to be in its new place.
#[derive(Clone, Debug)]
pub struct CopyInto {
    /// Whose the segments are.
    pub archive: String,
    /// A number by which this copy is known once it holds.
    pub id: u64,
}

impl PostgresStore {
    /// Copies everything in. All partitions must be held, and no rows be there
    /// ([`PostgresStore::holding`], [`PostgresStore::count_rows`]).
    ///
    /// # Errors
    /// Nothing was written, but where the end of the last statement was not heard
    /// ([`StoreError::Unreachable`]): then [`PostgresStore::agreed`] tells, under `copied`, whether
    /// this copy holds.
    pub fn copy_in(
        &self,
        from: &EmbeddedStore,
        into: &CopyInto,
        watch: CopyWatch<'_>,
    ) -> Result<Copied, StoreError> {
        let counters = from.all_counters()?;
        let last = counters.iter().map(|(_, part)| part.log).max().unwrap_or(0);
        for range in 0..=last / LOG_RANGE {
            let call = call!(LOG_TABLE, range as i64, LOG_RANGE as i64);
            self.writer.read("make a table for the change log", call)?;
        }
        let line = self.writer.apart();
        let begin = vec![plain("BEGIN"), plain(PATIENT), self.parts_call(&counters)];
        let begun = line.run("begin a copy", begin)?;
        if begun.last().is_none_or(|rows| rows.len() != counters.len()) {
            return Err(StoreError::LeaseEnded);
        }
        line.run("write down numbers", vec![numbers_call(from, into)?])?;
        let mut copied = Copied { rows: KINDS.map(|kind| (kind, 0)).into(), bytes: 0 };
        for kind in Kind::ALL {
            kind.copy(from, &line, &mut copied, watch)?;
        }
        copy_jobs(from, &line, &mut copied, watch)?;
        copy_segments(from, &line, into, &mut copied, watch)?;
        copy_exclusions(from, &line, &mut copied, watch)?;
        line.run("end a copy", vec![plain("COMMIT")])?;
        // What was loaded before is no longer so.
        self.kept().stale = true;
        Ok(copied)
    }

    fn parts_call(&self, counters: &[(u16, PartCounters)]) -> Call {
        let session = self.lease().session();
        let parts: Vec<i16> = counters.iter().map(|(part, _)| *part as i16).collect();
        let docs: Vec<i64> = counters.iter().map(|(_, c)| c.docs as i64).collect();
        let log: Vec<i64> = counters.iter().map(|(_, c)| c.log as i64).collect();
        let owners = vec![session; parts.len()];
        call!(PARTS, parts, owners, docs, log)
    }
}

/// What pages, segments and jobs are counted on from.
fn numbers_call(from: &EmbeddedStore, into: &CopyInto) -> Result<Call, StoreError> {
    let mut segment = 0;
    for kind in [SegmentKind::Warc, SegmentKind::Text] {
        let last = from.segments(kind)?.iter().map(|(number, _)| *number).max();
        segment = segment.max(last.unwrap_or(0));
    }
    let job = from.jobs()?.iter().map(|row| row.job.id.0).max().unwrap_or(0);
    let page = from.next_page()? as i64;
    Ok(call!(NUMBERS, page, i64::from(segment), i64::from(job), into.id as i64))
}

/// Rows that come by `COPY`.
struct Kind {
    name: &'static str,
    table: Table,
    /// What their keys begin with.
    prefix: &'static [u8],
    sql: &'static str,
}

macro_rules! copy {
    ($columns:literal) => {
        concat!("COPY ", $columns, " FROM STDIN (FORMAT binary)")
    };
}

impl Kind {
    #[rustfmt::skip]
    const ALL: [Kind; 11] = [
        Kind { name: "urls", table: Table::Urls, prefix: b"", sql: copy!("urls (part, k, doc, v)") },
        Kind { name: "hosts", table: Table::Hosts, prefix: b"", sql: copy!("hosts (part, k, v)") },
        Kind { name: "ready", table: Table::Queue, prefix: &[key::READY], sql: copy!("ready (part, k, u)") },
        Kind { name: "calendar", table: Table::Queue, prefix: &[key::CALENDAR], sql: copy!("calendar (part, k, v)") },
        Kind { name: "schedule", table: Table::Queue, prefix: &[key::SCHEDULE], sql: copy!("schedule (part, k)") },
        Kind { name: "claims", table: Table::Queue, prefix: &[key::CLAIM], sql: copy!("claims (part, k)") },
        Kind { name: "captures", table: Table::Captures, prefix: b"", sql: copy!("captures (part, k, v)") },
        Kind { name: "links", table: Table::Links, prefix: b"", sql: copy!("links (part, k, v)") },
        Kind { name: "payloads", table: Table::Payloads, prefix: b"", sql: copy!("payloads (part, k, v)") },
        Kind { name: "robots", table: Table::Robots, prefix: b"", sql: copy!("robots (part, k, v)") },
        Kind { name: "changes", table: Table::Log, prefix: b"", sql: copy!("log (part, n, v)") },
    ];

    fn copy(
        &self,
        from: &EmbeddedStore,
        line: &Link,
        copied: &mut Copied,
        watch: CopyWatch<'_>,
    ) -> Result<(), StoreError> {
        let mut sending = Sending::begin(line, self.sql)?;
        let done = from.each(self.table, self.prefix, |k, v| {
            copied.count(self.name, k.len() + v.len(), watch);
            if self.table == Table::Urls {
                let (part, rest) = k.split_first_chunk::<2>().ok_or_else(|| short(self.name))?;
                let (head, _) = UrlHead::decode(v)?;
                return sending.row(&[part, rest, &head.doc.0.to_be_bytes(), v]);
            }
            let located = locate(self.table, k)?;
            let (place, part, rest) = located.ok_or_else(|| short(self.name))?;
            let part = &part.to_be_bytes()[..];
            match place {
                Place::Schedule | Place::Claims => sending.row(&[part, &rest]),
                Place::Ready => sending.row(&[part, &rest, &ready_url(v)?.to_be_bytes()]),
                Place::Log => {
                    let whole = from.whole_change(v)?;
                    sending.row(&[part, &rest, whole.as_deref().unwrap_or(v)])
                }
                _ => sending.row(&[part, &rest, v]),
            }
        });
        let (refused, whole) = (sending.refused, done.is_ok());
        match (done, sending.end(whole)) {
            // The server knows why it has ended it.
            (Err(_), Err(e)) if refused => Err(e),
            (Err(e), _) | (Ok(()), Err(e)) => Err(e),
            (Ok(()), Ok(rows)) if rows != copied.of(self.name) => {
                Err(damaged(self.name, format!("the server has taken {rows} rows of it")))
            }
            (Ok(()), Ok(_)) => Ok(()),
        }
    }
}

fn short(what: &'static str) -> StoreError {
    damaged(what, "short key")
}

/// Rows on their way to the server.
struct Sending<'a> {
    pieces: mpsc::Sender<Bytes>,
    taken: Started<'a, u64>,
    piece: Vec<u8>,
    /// Nobody takes any more.
    refused: bool,
}

impl<'a> Sending<'a> {
    fn begin(line: &'a Link, sql: &'static str) -> Result<Self, StoreError> {
        let (pieces, mut sent) = mpsc::channel::<Bytes>(4);
        let taken = line.start("take in a copy", |connection| async move {
            let mut sink = pin!(connection.client.copy_in(sql).await?);
            while let Some(piece) = sent.recv().await {
                sink.send(piece).await?;
            }
            sink.finish().await
        })?;
        Ok(Sending { pieces, taken, piece: HEAD.to_vec(), refused: false })
    }

    fn row(&mut self, fields: &[&[u8]]) -> Result<(), StoreError> {
        self.piece.extend_from_slice(&(fields.len() as i16).to_be_bytes());
        for field in fields {
            self.piece.extend_from_slice(&(field.len() as i32).to_be_bytes());
            self.piece.extend_from_slice(field);
        }
        if self.piece.len() >= PIECE { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), StoreError> {
        let next = Vec::with_capacity(PIECE + PIECE / 4);
        let piece = Bytes::from(std::mem::replace(&mut self.piece, next));
        self.refused = self.pieces.blocking_send(piece).is_err();
        if self.refused { Err(damaged("a copy", "the server takes no more")) } else { Ok(()) }
    }

    /// Sends what is left; says how many rows were taken.
    fn end(mut self, whole: bool) -> Result<u64, StoreError> {
        if whole {
            self.piece.extend_from_slice(&TRAILER);
            // Should it be refused, the end tells why.
            let _ = self.send();
        }
        drop(self.pieces);
        self.taken.end()
    }
}

/// The order as it was written, and beside it what is known of it today.
fn copy_jobs(
    from: &EmbeddedStore,
    line: &Link,
    copied: &mut Copied,
    watch: CopyWatch<'_>,
) -> Result<(), StoreError> {
    for mut job in from.jobs()? {
        let id = job.job.id;
        let mut order = None;
        from.each(Table::Meta, &key::job(id), |_, v| {
            order = Some(v.to_vec());
            Ok(())
        })?;
        let order = order.ok_or_else(|| damaged("jobs", "no order"))?;
        copied.count("jobs", order.len(), watch);
        let counts: Vec<i64> = fields(&mut job.counters).into_iter().map(|n| *n as i64).collect();
        let (part, number) = (job_part(id), id.0 as i32);
        let calls = vec![
            call!(JOB, part, number, state_number(job.state), order),
            call!(COUNTS, part, number, counts),
        ];
        line.run("take in jobs", calls)?;
    }
    Ok(())
}

fn copy_segments(
    from: &EmbeddedStore,
    line: &Link,
    into: &CopyInto,
    copied: &mut Copied,
    watch: CopyWatch<'_>,
) -> Result<(), StoreError> {
    for kind in [SegmentKind::Warc, SegmentKind::Text] {
        for rows in from.segments(kind)?.chunks(SOME) {
            rows.iter().for_each(|_| copied.count("segments", 14, watch));
            let parts: Vec<i16> = rows.iter().map(|(number, _)| segment_part(*number)).collect();
            let kinds = vec![kind as i16; rows.len()];
            let numbers: Vec<i64> = rows.iter().map(|(number, _)| i64::from(*number)).collect();
            let lengths: Vec<i64> = rows.iter().map(|(_, length)| *length as i64).collect();
            let archive = into.archive.clone();
            let call = call!(SEGMENTS, parts, kinds, numbers, lengths, archive);
            line.run("take in segments", vec![call])?;
        }
    }
    Ok(())
}

fn copy_exclusions(
    from: &EmbeddedStore,
    line: &Link,
    copied: &mut Copied,
    watch: CopyWatch<'_>,
) -> Result<(), StoreError> {
    let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
    from.each(Table::Meta, &[key::EXCLUSION], |k, v| {
        copied.count("exclusions", k.len() + v.len(), watch);
        let name = std::str::from_utf8(&k[1..]).map_err(|e| damaged("exclusions", e))?;
        rows.push((name.to_owned(), v.to_vec()));
        Ok(())
    })?;
    for rows in rows.chunks(SOME) {
        let names: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
        let mut values = Array::default();
        rows.iter().for_each(|(_, v)| values.push(v));
        line.run("take in exclusions", vec![call!(EXCLUSIONS, names, values)])?;
    }
    Ok(())
}
