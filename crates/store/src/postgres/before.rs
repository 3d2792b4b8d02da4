//! The rows as they were before a batch: what it will ask for is fetched at once, in one round
//! trip; what was not foreseen is fetched when it is asked for.

use super::link::{Bytes, Call, Link, Sql, call};
use super::marks::PartMarks;
use super::row::{Place, SELECT_URLS, host_key, locate, url_key};
use crate::StoreError;
use crate::batch::Batch;
use crate::row::{self, damaged};
use crate::work::{Base, DueRow, HostCache, MAX_DUE, PartCounters, Table, key};
use argiope_frontier::Place as QueuePlace;
use argiope_model::{Capture, HostKey, JobId, Time, UrlKey};
use std::collections::{BTreeSet, HashMap};
use tokio_postgres::Row;

/// Partitions whose schedules are looked at for one batch.
const MAX_PARTS: usize = 256;

const DUE: &str = "SELECT c.part, c.k, c.v, u.v FROM calendar c
    JOIN urls u ON u.part = c.part AND u.k = substr(c.k, 9, 14)
    WHERE c.part = $1 AND c.k < $2 ORDER BY c.k LIMIT $3";
const WAITING: &str = "SELECT c.part, c.k, c.v, u.v FROM calendar c
    JOIN urls u ON u.part = c.part AND u.k = substr(c.k, 9, 14)
    WHERE c.part = $1 AND substr(c.k, 9, 6) = $2 ORDER BY c.k";
const SCHEDULED: &str = "SELECT s.part, s.k, h.v FROM schedule s
    JOIN hosts h ON h.part = s.part AND h.k = substr(s.k, 5, 6)
    WHERE s.part = $1 AND s.k < $2 ORDER BY s.k LIMIT $3";
const SLEEPERS: &str = "SELECT part, substr(k, 5, 6) FROM schedule
    WHERE part = ANY($1) AND k >= '\\xffffffff'::bytea";
const CAPTURES: &str = "SELECT v FROM captures
    WHERE part = $1 AND k > $2 AND k <= $3 ORDER BY k";
const EXCLUDED: &str = "SELECT v FROM exclusions WHERE part = 0 AND name = $1";

/// Partitions and the rest of keys, as parameters.
#[derive(Default)]
pub(super) struct Keys {
    parts: Vec<i16>,
    rest: Bytes,
}

impl Keys {
    pub fn push(&mut self, part: u16, rest: &[u8]) {
        self.parts.push(part as i16);
        self.rest.push(rest);
    }

    pub fn call(self, sql: impl Into<Sql>) -> Call {
        call!(sql.into(), self.parts, self.rest)
    }
}

/// All captures of what begins so.
pub(super) fn captures_call(part: u16, prefix: &[u8]) -> Call {
    let end = [prefix, &[0xff; 16]].concat();
    call!(CAPTURES, part as i16, prefix.to_vec(), end)
}

pub(super) struct Before<'a> {
    link: &'a Link,
    /// The partitions that are held.
    parts: Vec<i16>,
    urls: HashMap<UrlKey, Option<Vec<u8>>>,
    hosts: HashMap<HostKey, Option<Vec<u8>>>,
    due: Vec<(UrlKey, Time, QueuePlace, JobId)>,
    scheduled: Vec<(u32, HostKey)>,
}

impl<'a> Before<'a> {
    /// Fetches what a batch will ask for.
    pub fn fetch(
        link: &'a Link,
        parts: Vec<i16>,
        batch: &Batch,
        marks: &PartMarks,
        cached: &HostCache,
    ) -> Result<Self, StoreError> {
        let mut before = Before {
            link,
            parts,
            urls: HashMap::new(),
            hosts: HashMap::new(),
            due: Vec::new(),
            scheduled: Vec::new(),
        };
        let (urls, hosts) = wanted(batch);
        let mut calls = Vec::new();
        if !urls.is_empty() {
            let mut keys = Keys::default();
            urls.iter().for_each(|k| keys.push(k.host.part, &k.to_bytes()[2..]));
            calls.push(keys.call(SELECT_URLS));
            before.urls = urls.into_iter().map(|k| (k, None)).collect();
        }
        let hosts: Vec<HostKey> = hosts.into_iter().filter(|k| cached.get(*k).is_none()).collect();
        before.hosts = hosts.iter().map(|k| (*k, None)).collect();
        calls.extend(hosts_call(&hosts));
        let calendar = before.calendar_calls(batch, marks);
        let schedule = schedule_calls(batch, marks);
        let first_schedule = calls.len() + calendar.len();
        let first_calendar = calls.len();
        calls.extend(calendar);
        calls.extend(schedule);
        let has_urls = !before.urls.is_empty();
        let answers = link.read_all("read what a group is about", calls)?;
        for (n, rows) in answers.into_iter().enumerate() {
            match n {
                0 if has_urls => before.take_urls(rows)?,
                _ if n < first_calendar => before.take_hosts(rows)?,
                _ if n < first_schedule => before.take_due(rows)?,
                _ => before.take_scheduled(rows)?,
            }
        }
        before.in_order(batch);
        // Hosts of what is due are known only now.
        let hosts: BTreeSet<HostKey> = before.due.iter().map(|(k, ..)| k.host).collect();
        let unknown = |k: &HostKey| cached.get(*k).is_none() && !before.hosts.contains_key(k);
        let hosts: Vec<HostKey> = hosts.into_iter().filter(unknown).collect();
        if let Some(call) = hosts_call(&hosts) {
            let rows = link.read("read hosts", call)?;
            before.take_hosts(rows)?;
        }
        Ok(before)
    }

    fn calendar_calls(&self, batch: &Batch, marks: &PartMarks) -> Vec<Call> {
        let now = (batch.now.0 + 1).max(0).to_be_bytes();
        let due = marks.calendar.until(batch.now.0);
        let due = due.map(|part| call!(DUE, part as i16, now.to_vec(), MAX_DUE as i64));
        let waiting = batch.exclude.iter().map(|k| call!(WAITING, k.part as i16, k.host.to_vec()));
        due.chain(waiting).collect()
    }

    fn take_urls(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        for row in rows {
            self.urls.insert(url_key(row.get(0), row.get(1))?, Some(row.get(2)));
        }
        Ok(())
    }

    fn take_hosts(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        for row in rows {
            self.hosts.insert(host_key(row.get(0), row.get(1))?, Some(row.get(2)));
        }
        Ok(())
    }

    fn take_due(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        for row in rows {
            let (part, k): (i16, &[u8]) = (row.get(0), row.get(1));
            let (due, rest) =
                k.split_first_chunk().ok_or_else(|| damaged("the calendar", "short key"))?;
            let url = url_key(part, rest)?;
            let (place, job) = row::decode("the calendar", row.get(2))?;
            self.due.push((url, Time(i64::from_be_bytes(*due)), place, job));
            self.urls.insert(url, Some(row.get(3)));
        }
        Ok(())
    }

    fn take_scheduled(&mut self, rows: Vec<Row>) -> Result<(), StoreError> {
        for row in rows {
            let (part, k): (i16, &[u8]) = (row.get(0), row.get(1));
            let (wake, rest) =
                k.split_first_chunk().ok_or_else(|| damaged("the schedule", "short key"))?;
            let host = host_key(part, rest)?;
            self.scheduled.push((u32::from_be_bytes(*wake), host));
            self.hosts.insert(host, Some(row.get(2)));
        }
        Ok(())
    }

    /// What came partition by partition, by time; what is asked for twice counts once.
    fn in_order(&mut self, batch: &Batch) {
        self.due.sort_by_key(|(url, due, ..)| (*due, *url));
        self.due.dedup_by_key(|(url, ..)| *url);
        let mut in_time = 0;
        self.due.retain(|(url, ..)| {
            let at_once = batch.exclude.contains(&url.host);
            in_time += usize::from(!at_once);
            at_once || in_time <= MAX_DUE
        });
        self.scheduled.sort_unstable();
        self.scheduled.truncate(batch.claims.hosts);
    }
}

/// What a batch will ask for.
fn wanted(batch: &Batch) -> (BTreeSet<UrlKey>, BTreeSet<HostKey>) {
    let pages = batch.pages.iter().chain(&batch.imports).map(|page| page.entry.key);
    let found = batch.discoveries.iter().map(|found| found.key);
    let moved = batch.forget.moved.iter().map(|moved| moved.key);
    let thinned = batch.forget.captures.iter().map(|(k, _)| *k);
    let forgotten = batch.forget.urls.iter().copied().chain(thinned);
    let again = batch.again.iter().map(|(key, _)| *key);
    let plans = batch.plans.iter().map(|(key, _)| *key);
    let placed = batch.moves.iter().map(|to| to.key);
    let urls = pages.chain(found).chain(moved).chain(forgotten).chain(again).chain(plans);
    let urls = urls.chain(placed);
    let urls: BTreeSet<UrlKey> = urls.collect();
    let mut hosts: BTreeSet<HostKey> = urls.iter().map(|k| k.host).collect();
    hosts.extend(batch.notes.iter().map(|note| note.host));
    hosts.extend(batch.releases.iter().map(|release| release.host));
    hosts.extend(batch.forgive.iter().chain(&batch.exclude));
    hosts.extend(batch.claims.named.iter().map(|named| named.host));
    (urls, hosts)
}

pub(super) fn hosts_call(hosts: &[HostKey]) -> Option<Call> {
    let mut keys = Keys::default();
    hosts.iter().for_each(|k| keys.push(k.part, &k.host));
    (!hosts.is_empty()).then(|| keys.call(Place::Hosts.select()))
}

fn schedule_calls(batch: &Batch, marks: &PartMarks) -> Vec<Call> {
    let wanted = batch.claims.hosts;
    if wanted == 0 {
        return Vec::new();
    }
    let now = key::wake_of(batch.now);
    let parts: Vec<u16> =
        marks.schedule.until(i64::from(now)).take(wanted.min(MAX_PARTS)).collect();
    let each = wanted.div_ceil(parts.len().max(1)) as i64;
    let until = (now + 1).to_be_bytes();
    let call = |part: u16| call!(SCHEDULED, part as i16, until.to_vec(), each);
    parts.into_iter().map(call).collect()
}

impl Base for Before<'_> {
    type Marks = PartMarks;

    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let fetched = match (table, key.len()) {
            (Table::Urls, 16) => url_key(i16::from_be_bytes([key[0], key[1]]), &key[2..])
                .map(|k| self.urls.get(&k))?,
            (Table::Hosts, 8) => host_key(i16::from_be_bytes([key[0], key[1]]), &key[2..])
                .map(|k| self.hosts.get(&k))?,
            _ => None,
        };
        if let Some(fetched) = fetched {
            return fetched.as_deref().map(read).transpose();
        }
        let rows = match (table, key) {
            (Table::Meta, [key::EXCLUSION, name @ ..]) => {
                let name = String::from_utf8_lossy(name).into_owned();
                self.link.read("read what is excluded", call!(EXCLUDED, name))?
            }
            (Table::Urls, _) => {
                let mut keys = Keys::default();
                keys.push(u16::from_be_bytes([key[0], key[1]]), &key[2..]);
                self.link.read("read a row", keys.call(SELECT_URLS))?
            }
            _ => {
                let Some((place, part, rest)) = locate(table, key)? else { return Ok(None) };
                let mut keys = Keys::default();
                keys.push(part, &rest);
                self.link.read("read a row", keys.call(place.select()))?
            }
        };
        let Some(row) = rows.first() else { return Ok(None) };
        read(row.get::<_, &[u8]>(row.len() - 1)).map(Some)
    }

    fn captures_of(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        let rows =
            self.link.read("read captures", captures_call(key.host.part, &key.to_bytes()[2..]))?;
        rows.iter().map(|row| row::decode("captures", row.get(0))).collect()
    }

    fn captured_bytes(&self, host: HostKey) -> Result<u64, StoreError> {
        let rows = self.link.read("read captures", captures_call(host.part, &host.host))?;
        let sizes = rows.iter().map(|row| Ok(row::disk_of(&row::decode("captures", row.get(0))?)));
        sizes.sum()
    }

    fn part_counters(&self, part: u16) -> Result<PartCounters, StoreError> {
        Err(StoreError::LeaseLost { part })
    }

    fn due(&self, _: &PartMarks, _: Time, _: &[HostKey]) -> Result<Vec<DueRow>, StoreError> {
        let rows = self.due.iter();
        let row = |(url, due, place, job): &(UrlKey, Time, QueuePlace, JobId)| DueRow {
            due: *due,
            url: *url,
            place: *place,
            job: *job,
        };
        Ok(rows.map(row).collect())
    }

    fn scheduled(&self, _: &PartMarks, _: u32, limit: usize) -> Result<Vec<HostKey>, StoreError> {
        Ok(self.scheduled.iter().take(limit).map(|(_, host)| *host).collect())
    }

    fn sleepers(&self) -> Result<Vec<HostKey>, StoreError> {
        let rows = self.link.read("look for hosts asleep", call!(SLEEPERS, self.parts.clone()))?;
        rows.iter().map(|row| host_key(row.get(0), row.get(1))).collect()
    }
}
