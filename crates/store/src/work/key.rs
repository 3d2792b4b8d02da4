//! The keys of the embedded store.
//!
//! One process owns every partition here, so in the two tables that are read by time (the
//! calendar and the host schedule) time leads the key and one scan finds what is due; where
//! partitions have different owners, the partition leads (`docs/decisions/0003`).

use crate::row::SegmentKind;
use argiope_frontier::Place;
use argiope_model::{DocId, HostKey, JobId, PayloadDigest, SiteKey, Time, UrlKey};

/// Ready rows: `R·part·host·order·seq`.
pub(crate) const READY: u8 = b'R';
/// Calendar rows: `C·due·part·host·url`.
pub(crate) const CALENDAR: u8 = b'C';
/// Host schedule: `H·wake·part·host`.
pub(crate) const SCHEDULE: u8 = b'H';
/// Open claims: `K·part·host`.
pub(crate) const CLAIM: u8 = b'K';

/// Names that are excluded: `x·name`.
pub(crate) const EXCLUSION: u8 = b'x';

/// The wake time of a host that sleeps until one of its jobs is worked on.
pub(crate) const ASLEEP: u32 = u32::MAX;

fn join<const N: usize>(tag: u8, parts: &[&[u8]]) -> [u8; N] {
    let mut out = [0; N];
    out[0] = tag;
    let mut at = 1;
    for part in parts {
        out[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    debug_assert_eq!(at, N);
    out
}

pub(crate) fn ready_prefix(host: HostKey) -> [u8; 9] {
    join(READY, &[&host.to_bytes()])
}

pub(crate) fn ready(host: HostKey, place: Place) -> [u8; 25] {
    let (order, seq) = (place.order.to_be_bytes(), place.seq.to_be_bytes());
    join(READY, &[&host.to_bytes(), &order, &seq])
}

pub(crate) fn ready_place(key: &[u8]) -> Option<Place> {
    let rest = key.get(9..25)?;
    let (order, seq) = rest.split_first_chunk::<8>()?;
    Some(Place { order: u64::from_be_bytes(*order), seq: u64::from_be_bytes(seq.try_into().ok()?) })
}

pub(crate) fn calendar(due: Time, key: UrlKey) -> [u8; 25] {
    join(CALENDAR, &[&due.0.max(0).to_be_bytes(), &key.to_bytes()])
}

pub(crate) fn calendar_parts(key: &[u8]) -> Option<(Time, UrlKey)> {
    let due = i64::from_be_bytes(key.get(1..9)?.try_into().ok()?);
    Some((Time(due), UrlKey::from_bytes(key.get(9..25)?.try_into().ok()?)))
}

/// Behind all of the calendar.
pub(crate) fn after_calendar() -> [u8; 25] {
    join(CALENDAR + 1, &[&[0; 24]])
}

pub(crate) type ScheduleKey = [u8; 13];

/// Before all of the schedule.
pub(crate) const FIRST_SCHEDULED: ScheduleKey = [SCHEDULE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Behind all of the schedule, sleepers included.
pub(crate) const AFTER_SCHEDULE: ScheduleKey = [SCHEDULE + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

pub(crate) fn schedule(wake: u32, host: HostKey) -> ScheduleKey {
    join(SCHEDULE, &[&wake.to_be_bytes(), &host.to_bytes()])
}

pub(crate) fn schedule_parts(key: &[u8]) -> Option<(u32, HostKey)> {
    let wake = u32::from_be_bytes(key.get(1..5)?.try_into().ok()?);
    Some((wake, HostKey::from_bytes(key.get(5..13)?.try_into().ok()?)))
}

pub(crate) fn claim(host: HostKey) -> [u8; 9] {
    join(CLAIM, &[&host.to_bytes()])
}

/// The number itself: partitions grow alike, so what is new comes last in the table.
pub(crate) fn doc(id: DocId) -> [u8; 8] {
    id.0.to_be_bytes()
}

pub(crate) fn capture(key: UrlKey, time: Time) -> [u8; 24] {
    let mut out = [0; 24];
    out[..16].copy_from_slice(&key.to_bytes());
    out[16..].copy_from_slice(&time.0.max(0).to_be_bytes());
    out
}

pub(crate) fn log(part: u16, n: u64) -> [u8; 10] {
    let mut out = [0; 10];
    out[..2].copy_from_slice(&part.to_be_bytes());
    out[2..].copy_from_slice(&n.to_be_bytes());
    out
}

pub(crate) fn log_part(key: &[u8]) -> Option<u16> {
    key.get(..2).and_then(|b| b.try_into().ok()).map(u16::from_be_bytes)
}

pub(crate) fn log_number(key: &[u8]) -> Option<u64> {
    key.get(2..10).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes)
}

pub(crate) fn job(id: JobId) -> [u8; 5] {
    join(b'j', &[&id.0.to_be_bytes()])
}

/// How far a job has come.
pub(crate) fn progress(id: JobId) -> [u8; 5] {
    join(b'c', &[&id.0.to_be_bytes()])
}

pub(crate) fn exclusion(name: &str) -> Vec<u8> {
    [&[EXCLUSION], name.as_bytes()].concat()
}

/// Patterns lie among the names that are excluded; no name begins so.
pub(crate) const TRAP: &str = "trap ";

pub(crate) fn trap(name: &str) -> Vec<u8> {
    [&[EXCLUSION], TRAP.as_bytes(), name.as_bytes()].concat()
}

/// Delays set by hand lie there too.
pub(crate) const DELAY: &str = "delay ";

pub(crate) fn delay(name: &str) -> Vec<u8> {
    [&[EXCLUSION], DELAY.as_bytes(), name.as_bytes()].concat()
}

/// Whether what lies among the excluded names is one.
pub(crate) fn is_excluded_name(name: &str) -> bool {
    !name.starts_with(TRAP) && !name.starts_with(DELAY)
}

pub(crate) fn segment(kind: SegmentKind, number: u32) -> [u8; 6] {
    join(b's', &[&[kind as u8], &number.to_be_bytes()])
}

pub(crate) fn payload(site: SiteKey, digest: &PayloadDigest) -> [u8; 28] {
    let mut out = [0; 28];
    out[..2].copy_from_slice(&site.part.to_be_bytes());
    out[2..8].copy_from_slice(&site.site);
    out[8..].copy_from_slice(digest);
    out
}

/// Whole seconds, rounded up: a host never wakes early.
pub(crate) fn wake_of(time: Time) -> u32 {
    u32::try_from((time.0.max(0) + 999) / 1000).unwrap_or(ASLEEP - 1).min(ASLEEP - 1)
}
