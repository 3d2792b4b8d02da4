//! A copy out of PostgreSQL: everything the fleet knows becomes an embedded store.
//!
//! * All of it is read in one snapshot, table by table, in the order of the embedded store's keys,
//!   by `COPY … TO STDOUT` in binary form: rows pass through as they come, none is held.
//! * Slices of partitions bound what one statement sends, and what Citus has to gather for it.

use super::PostgresStore;
use super::copy_in::PATIENT;
use super::link::{Link, call, plain};
use super::load::sum_counts;
use super::row::{add, state_of, url_key};
use crate::copy::{Copied, CopyWatch, KINDS};
use crate::embedded::{Filling, Put};
use crate::row::{self, JobCounters, JobProgress, UrlHead, damaged};
use crate::work::{PartCounters, ReadyRow, Table, key};
use crate::{SegmentKind, StoreError};
use argiope_model::{JobId, PARTITIONS, Time};
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use tokio::sync::mpsc;
use tokio_postgres::binary_copy::{BinaryCopyOutRow, BinaryCopyOutStream};
use tokio_postgres::types::Type;

const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const WAITING: &str = "SELECT count(*) FROM (SELECT 1 FROM inbox LIMIT $1) AS few";
const JOBS: &str = "SELECT job, state, v FROM jobs WHERE part >= $1 ORDER BY job";
const COUNTS: &str = "SELECT job, c FROM job_counts WHERE part >= $1";
const PARTS: &str = "SELECT part, docs FROM parts WHERE part >= $1 AND docs > 0";
const SEGMENTS: &str = "SELECT kind, number, length FROM segments WHERE part >= $1";
const EXCLUSIONS: &str = "SELECT name, v FROM exclusions WHERE part = $1";
const PAGE: &str = "SELECT n FROM numbers WHERE part = 0 AND name = $1";

/// The key of most tables.
const KEY: (&str, &str) = ("part", "k");
/// Partitions that one statement reads.
const SLICE: u16 = 256;
/// Rows, and bytes, that are handed over at a time.
const ROWS: usize = 512;
const PIECE: usize = 256 << 10;

impl PostgresStore {
    /// Copies everything out into a new embedded store in a directory that is not there. All
    /// partitions must be held ([`PostgresStore::holding`]). Where this fails, what is in the
    /// directory is of no use.
    pub fn copy_out(
        &self,
        to: &Path,
        now: Time,
        watch: CopyWatch<'_>,
    ) -> Result<Copied, StoreError> {
        let line = self.begin_reading(now)?;
        let filling = Filling::begin(to)?;
        let mut copied = Copied { rows: KINDS.map(|kind| (kind, 0)).into(), bytes: 0 };
        for (kind, table) in [
            ("urls", Table::Urls),
            ("hosts", Table::Hosts),
            ("captures", Table::Captures),
            ("links", Table::Links),
            ("payloads", Table::Payloads),
            ("robots", Table::Robots),
        ] {
            filling.table(table, |put| {
                let what = format!("part, k, v FROM {kind}");
                sliced(&line, &what, KEY, &[Type::BYTEA, Type::BYTEA], &mut |row| {
                    let (k, v) = (joined(&[], part(row)?, bytes(row, 1)?), bytes(row, 2)?);
                    copied.count(kind, k.len() + v.len(), watch);
                    put(&k, v)
                })
            })?;
        }
        filling.table(Table::Log, |put| {
            let (what, types) = ("part, n, v FROM log", [Type::INT8, Type::BYTEA]);
            sliced(&line, what, ("part", "n"), &types, &mut |row| {
                let k = key::log(part(row)?, number(row, 1)? as u64);
                copied.count("changes", k.len() + bytes(row, 2)?.len(), watch);
                put(&k, bytes(row, 2)?)
            })
        })?;
        filling.table(Table::Docs, |put| docs(&line, put))?;
        filling.table(Table::Queue, |put| queues(&line, put, &mut copied, watch))?;
        let meta = meta(&line, &mut copied, watch)?;
        filling.table(Table::Meta, |put| meta.iter().try_for_each(|(k, v)| put(k, v)))?;
        line.run("end a copy", vec![plain("COMMIT")])?;
        filling.finish()?;
        Ok(copied)
    }

    /// Takes in what workers have told each other, and begins to read where nothing is on its way.
    fn begin_reading(&self, now: Time) -> Result<Link, StoreError> {
        loop {
            self.deliver(now)?;
            let line = self.reader.apart();
            let begin = vec![plain(BEGIN), plain(PATIENT), call!(WAITING, 1i64)];
            let begun = line.run("begin a copy", begin)?;
            let waiting = begun.last().and_then(|rows| rows.first());
            // Who gives a job needs no partition to do so: something may have come meanwhile.
            if waiting.is_none_or(|row| row.get::<_, i64>(0) == 0) {
                return Ok(line);
            }
        }
    }
}

type EachRow<'a> = &'a mut dyn FnMut(&BinaryCopyOutRow) -> Result<(), StoreError>;

/// Reads a table in the order of its key, slice by slice: the columns of `what`, which begin with the
/// partition and go on with those types.
fn sliced(
    line: &Link,
    what: &str,
    (part, rest): (&str, &str),
    types: &[Type],
    each: EachRow<'_>,
) -> Result<(), StoreError> {
    for first in (0..PARTITIONS).step_by(usize::from(SLICE)) {
        let end = first + SLICE;
        let select = format!(
            "SELECT {what} WHERE {part} >= {first} AND {part} < {end} ORDER BY {part}, {rest}"
        );
        stream(line, &select, types, each)?;
    }
    Ok(())
}

/// Reads everything a statement answers; the first column is a partition.
fn stream(line: &Link, select: &str, types: &[Type], each: EachRow<'_>) -> Result<(), StoreError> {
    let sql = format!("COPY ({select}) TO STDOUT (FORMAT binary)");
    let types: Vec<Type> = [&[Type::INT2], types].concat();
    let (pieces, mut sent) = mpsc::channel::<Vec<BinaryCopyOutRow>>(2);
    let reading = line.start("read a copy", |connection| async move {
        let answer = connection.client.copy_out(&sql).await?;
        let mut rows = pin!(BinaryCopyOutStream::new(answer, &types));
        let (mut piece, mut size) = (Vec::new(), 0);
        while let Some(row) = rows.next().await {
            let row = row?;
            size += types.len() * 8 + row.try_get::<&[u8]>(types.len() - 1).map_or(0, <[u8]>::len);
            piece.push(row);
            if piece.len() == ROWS || size >= PIECE {
                size = 0;
                // Nobody wants them any more.
                if pieces.send(std::mem::take(&mut piece)).await.is_err() {
                    return Ok(());
                }
            }
        }
        let _ = pieces.send(piece).await;
        Ok(())
    })?;
    while let Some(piece) = sent.blocking_recv() {
        piece.iter().try_for_each(&mut *each)?;
    }
    reading.end()
}

fn unread(e: tokio_postgres::Error) -> StoreError {
    damaged("a copy", e)
}

fn part(row: &BinaryCopyOutRow) -> Result<u16, StoreError> {
    row.try_get::<i16>(0).map(|part| part as u16).map_err(unread)
}

fn bytes(row: &BinaryCopyOutRow, at: usize) -> Result<&[u8], StoreError> {
    row.try_get(at).map_err(unread)
}

fn number(row: &BinaryCopyOutRow, at: usize) -> Result<i64, StoreError> {
    row.try_get(at).map_err(unread)
}

/// A key: what comes before the partition, the partition, the rest.
fn joined(before: &[u8], part: u16, rest: &[u8]) -> Vec<u8> {
    [before, &part.to_be_bytes(), rest].concat()
}

/// Which URL has a number, in the order of the numbers.
fn docs(line: &Link, put: Put<'_>) -> Result<(), StoreError> {
    // By its index this would be read in no order of the disk's.
    line.run("read a copy", vec![plain("SET LOCAL enable_seqscan = on")])?;
    let select = "SELECT part, doc, k FROM urls ORDER BY doc";
    stream(line, select, &[Type::INT8, Type::BYTEA], &mut |row| {
        put(&number(row, 1)?.to_be_bytes(), &joined(&[], part(row)?, bytes(row, 2)?))
    })?;
    line.run("read a copy", vec![plain("SET LOCAL enable_seqscan = off")]).map(|_| ())
}

/// What waits, in the order of the embedded store: time leads where it is read by time.
fn queues(
    line: &Link,
    put: Put<'_>,
    copied: &mut Copied,
    watch: CopyWatch<'_>,
) -> Result<(), StoreError> {
    let mut row = |kind: &'static str, k: &[u8], v: &[u8]| {
        copied.count(kind, k.len() + v.len(), watch);
        put(k, v)
    };
    let calendar = "SELECT part, k, v FROM calendar ORDER BY substr(k, 1, 8), part, k";
    stream(line, calendar, &[Type::BYTEA, Type::BYTEA], &mut |read| {
        let (due, url) = bytes(read, 1)?.split_at_checked(8).ok_or_else(short)?;
        let k = joined(&[&[key::CALENDAR], due].concat(), part(read)?, url);
        row("calendar", &k, bytes(read, 2)?)
    })?;
    let schedule = "SELECT part, k FROM schedule ORDER BY substr(k, 1, 4), part, k";
    stream(line, schedule, &[Type::BYTEA], &mut |read| {
        let (wake, host) = bytes(read, 1)?.split_at_checked(4).ok_or_else(short)?;
        let k = joined(&[&[key::SCHEDULE], wake].concat(), part(read)?, host);
        row("schedule", &k, &[])
    })?;
    stream(line, "SELECT part, k FROM claims ORDER BY part, k", &[Type::BYTEA], &mut |read| {
        row("claims", &joined(&[key::CLAIM], part(read)?, bytes(read, 1)?), &[])
    })?;
    let ready = "r.part, r.k, r.u, u.v FROM ready r
        JOIN urls u ON u.part = r.part AND u.k = substr(r.k, 1, 6) || int8send(r.u)";
    let types = [Type::BYTEA, Type::INT8, Type::BYTEA];
    sliced(line, ready, ("r.part", "r.k"), &types, &mut |read| {
        let (part, rest, url) = (part(read)?, bytes(read, 1)?, number(read, 2)?);
        let host = rest.get(..6).ok_or_else(short)?;
        let url = url_key(part as i16, &[host, &url.to_be_bytes()].concat())?;
        let (head, _) = UrlHead::decode(bytes(read, 3)?)?;
        let value = row::encode(&ReadyRow::of(url, &head));
        row("ready", &joined(&[key::READY], part, rest), &value)
    })
}

fn short() -> StoreError {
    damaged("queues", "short key")
}

/// Jobs, lengths of segments, exclusions, numbers: few, so they are put in order here.
fn meta(
    line: &Link,
    copied: &mut Copied,
    watch: CopyWatch<'_>,
) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, StoreError> {
    let calls = vec![
        call!(JOBS, 0i16),
        call!(COUNTS, 0i16),
        call!(PARTS, 0i16),
        call!(SEGMENTS, 0i16),
        call!(EXCLUSIONS, 0i16),
        call!(PAGE, "page"),
    ];
    let answers = line.run("read jobs and numbers", calls)?;
    let [jobs, counts, parts, segments, exclusions, pages] = &answers[..] else {
        return Err(damaged("a copy", "an answer is missing"));
    };
    let mut out = BTreeMap::new();
    let mut keep = |kind: &'static str, k: Vec<u8>, v: Vec<u8>| {
        copied.count(kind, k.len() + v.len(), watch);
        out.insert(k, v);
    };
    let sums = sum_counts(counts);
    let mut progress = Vec::new();
    for row in jobs {
        let id = JobId(row.get::<_, i32>(0) as u32);
        let mut counters = JobCounters::default();
        if let Some(sum) = sums.get(&id) {
            add(&mut counters, sum);
        }
        progress.push(JobProgress { id, state: state_of(row.get(1))?, counters });
        keep("jobs", key::job(id).to_vec(), row.get(2));
    }
    for row in segments {
        let kind = match row.get::<_, i16>(0) {
            0 => SegmentKind::Warc,
            _ => SegmentKind::Text,
        };
        let number = u32::try_from(row.get::<_, i64>(1)).map_err(|e| damaged("segments", e))?;
        let length = row.get::<_, i64>(2) as u64;
        keep("segments", key::segment(kind, number).to_vec(), row::encode(&length));
    }
    for row in exclusions {
        keep("exclusions", key::exclusion(row.get(0)), row.get(1));
    }
    for job in progress {
        out.insert(key::progress(job.id).to_vec(), row::encode(&job));
    }
    for row in parts {
        // As it is noted while URLs come in: now and then; the rest is counted by looking.
        let noted = row.get::<_, i64>(1) as u64 / PartCounters::NOTED * PartCounters::NOTED;
        if noted > 0 {
            let [a, b] = row.get::<_, i16>(0).to_be_bytes();
            out.insert(vec![b'p', a, b], row::encode(&noted));
        }
    }
    // The first is not written down.
    if let Some(next) = pages.first().map(|row| row.get::<_, i64>(0) as u64).filter(|n| *n > 1) {
        out.insert(b"n".to_vec(), row::encode(&next));
    }
    Ok(out)
}
