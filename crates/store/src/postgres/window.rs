//! Windows onto ready queues: one statement for each host, all in one round trip.

use super::link::{Answer, Call, Link, call};
use crate::StoreError;
use crate::row::{JobRow, UrlRow, damaged};
use crate::rule::handed_to;
use crate::work::is_open;
use argiope_frontier::{Entry, HostWindow, Place, Refill, Temper};
use argiope_model::{JobId, Time, UrlKey};
use std::collections::BTreeMap;

const WINDOW: &str = "SELECT r.k, r.u, u.v FROM ready r
    JOIN urls u ON u.part = r.part AND u.k = substr(r.k, 1, 6) || int8send(r.u)
    WHERE r.part = $1 AND r.k > $2 AND r.k <= $3 ORDER BY r.k LIMIT $4";
pub(super) const COUNT_BEFORE: &str = "SELECT count(*) FROM (SELECT 1 FROM ready
    WHERE part = $1 AND k > $2 AND k < $3 LIMIT $4) AS before";

/// Rows of jobs that are not worked on that one look-up passes over before it pauses.
const MAX_PASSED_OVER: usize = 4096;
/// Rows read at a time, once some were passed over.
const NEXT_ROWS: usize = 512;

/// The rest of the key of a ready row.
pub(super) fn ready_key(host: [u8; 6], place: Place) -> Vec<u8> {
    [&host[..], &place.order.to_be_bytes(), &place.seq.to_be_bytes()].concat()
}

fn place_of(key: &[u8]) -> Result<Place, StoreError> {
    let short = || damaged("queues", "short key");
    let number = |at: usize| -> Result<u64, StoreError> {
        let bytes = key.get(at..at + 8).ok_or_else(short)?;
        Ok(u64::from_be_bytes(bytes.try_into().map_err(|_| short())?))
    };
    Ok(Place { order: number(6)?, seq: number(14)? })
}

/// A window being read.
pub(super) struct Reading {
    refill: Refill,
    pub out: HostWindow,
    asked: usize,
    passed_over: usize,
}

impl Reading {
    pub fn new(refill: Refill) -> Self {
        let out = HostWindow {
            host: refill.host,
            entries: Vec::new(),
            cursor: refill.after,
            more: false,
            not_before: Time(0),
            temper: Temper::default(),
            robots: None,
        };
        // One more than is wanted says whether there are more.
        let asked = refill.limit.saturating_add(1);
        Reading { refill, out, asked, passed_over: 0 }
    }

    /// Whether what is known of the host itself comes with it.
    pub fn describes_host(&self) -> bool {
        self.refill.after.is_none()
    }

    pub fn call(&self) -> Call {
        let host = self.refill.host;
        let after = self.out.cursor.map_or(host.host.to_vec(), |at| ready_key(host.host, at));
        let last = ready_key(host.host, Place { order: u64::MAX, seq: u64::MAX });
        let asked = i64::try_from(self.asked).unwrap_or(i64::MAX);
        call!(WINDOW, host.part as i16, after, last, asked)
    }

    /// Takes in rows; says whether that is all.
    pub fn take(
        &mut self,
        rows: &Answer,
        jobs: &BTreeMap<JobId, JobRow>,
    ) -> Result<bool, StoreError> {
        for row in rows {
            if self.out.entries.len() == self.refill.limit || self.passed_over == MAX_PASSED_OVER {
                self.out.more = true;
                return Ok(true);
            }
            let place = place_of(row.get(0))?;
            self.out.cursor = Some(place);
            let key = UrlKey { host: self.refill.host, url: row.get::<_, i64>(1) as u64 };
            let url = UrlRow::decode(row.get(2))?;
            let Some((job, depth)) = handed_to(&url, |job| is_open(jobs, job)) else {
                self.passed_over += 1;
                continue;
            };
            self.out.entries.push(Entry {
                key,
                place,
                doc: url.doc,
                job,
                depth,
                attempts: url.attempts,
                expand: url.expand,
                role: url.role,
                hops: url.hops,
                again: url.is_again(),
                url: url.url,
            });
        }
        let all = rows.len() < self.asked;
        self.asked = NEXT_ROWS.max(self.refill.limit.saturating_add(1));
        Ok(all)
    }

    /// Reads on until the window is full or the queue is at its end.
    pub fn finish(
        &mut self,
        link: &Link,
        jobs: &BTreeMap<JobId, JobRow>,
    ) -> Result<(), StoreError> {
        loop {
            let rows = link.read("read a queue", self.call())?;
            if self.take(&rows, jobs)? {
                return Ok(());
            }
        }
    }
}
