//! Reading: what visitors ask. Every partition is read, whoever holds it, but for claims: they are
//! asked for by who is to give them back.

use super::PostgresStore;
use super::before::{Keys, captures_call, hosts_call};
use super::link::{Call, call};
use super::load::{number, sum_counts};
use super::row::{Place as At, SELECT_URLS, add, host_key, state_of, url_key};
use super::window::{COUNT_BEFORE, ready_key};
use crate::batch::{Batch, Committed};
use crate::row::{
    self, Change, HostRow, JobCounters, JobRow, PayloadRow, SegmentKind, UrlRow, damaged,
};
use crate::work::key;
use crate::{Store, StoreError};
use argiope_frontier::{Place, RobotsFile, Trap};
use argiope_model::{Capture, DocId, HostKey, PayloadDigest, SiteKey, Time, UrlKey};
use std::collections::{BTreeMap, HashMap};
use tokio_postgres::Row;

const SCAN_URLS: &str = "SELECT part, k, v FROM urls
    WHERE (part, k) > ($1, $2) ORDER BY part, k LIMIT $3";
const HOST_URLS: &str = "SELECT part, k, v FROM urls
    WHERE part = $1 AND k > $2 AND k <= $3 ORDER BY k LIMIT $4";
const SCAN_HOSTS: &str = "SELECT part, k, v FROM hosts
    WHERE (part, k) > ($1, $2) ORDER BY part, k LIMIT $3";
const DOCS: &str = "SELECT doc, part, k FROM urls WHERE (part, doc) IN
    (SELECT * FROM unnest($1::smallint[], $2::bigint[]))";
const EXCLUSIONS: &str = "SELECT name, v FROM exclusions WHERE part = $1 ORDER BY name";
const CLAIMS: &str = "SELECT part, k FROM claims WHERE part = ANY($1) ORDER BY part, k";
const JOBS: &str = "SELECT job, state, v FROM jobs WHERE part >= $1 ORDER BY job";
const COUNTS: &str = "SELECT job, c FROM job_counts WHERE part >= $1";
const SEGMENTS: &str = "SELECT number, length FROM segments
    WHERE kind = $1 AND (archive = $2 OR $2 = '') ORDER BY number";
/// Statements sent before the first answer is waited for.
const PIPELINED: usize = 256;
const CHANGES: &str = "SELECT n, v FROM log WHERE part = $1 AND n > $2 ORDER BY n LIMIT $3";
const HEADS: &str = "SELECT part, log FROM parts WHERE log > $1 ORDER BY part";

fn limited(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn url_rows(rows: &[Row]) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
    let read = |row: &Row| Ok((url_key(row.get(0), row.get(1))?, UrlRow::decode(row.get(2))?));
    rows.iter().map(read).collect()
}

impl PostgresStore {
    fn look(&self, action: &'static str, call: Call) -> Result<Vec<Row>, StoreError> {
        self.reader.read(action, call)
    }

    /// Rows by their keys, in the order in which they were asked for.
    fn by_key<T: Clone>(
        &self,
        sql: &'static str,
        keys: &[(u16, Vec<u8>)],
        read: impl Fn(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Vec<Option<T>>, StoreError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut asked = Keys::default();
        keys.iter().for_each(|(part, rest)| asked.push(*part, rest));
        let rows = self.look("read rows", asked.call(sql))?;
        let mut found: HashMap<(u16, &[u8]), T> = HashMap::with_capacity(rows.len());
        for row in &rows {
            let part = row.get::<_, i16>(0) as u16;
            found.insert((part, row.get(1)), read(row.get(2))?);
        }
        let find = |(part, rest): &(u16, Vec<u8>)| found.get(&(*part, rest.as_slice())).cloned();
        Ok(keys.iter().map(find).collect())
    }
}

fn url_keys(keys: &[UrlKey]) -> Vec<(u16, Vec<u8>)> {
    keys.iter().map(|k| (k.host.part, k.to_bytes()[2..].to_vec())).collect()
}

impl Store for PostgresStore {
    fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.apply(batch)
    }

    fn urls(&self, keys: &[UrlKey]) -> Result<Vec<Option<UrlRow>>, StoreError> {
        self.by_key(SELECT_URLS, &url_keys(keys), UrlRow::decode)
    }

    fn scan_urls(
        &self,
        after: Option<UrlKey>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let (part, k) =
            after.map_or((-1, Vec::new()), |k| (k.host.part as i16, k.to_bytes()[2..].to_vec()));
        url_rows(&self.look("read URLs", call!(SCAN_URLS, part, k, limited(limit)))?)
    }

    fn docs(&self, docs: &[DocId]) -> Result<Vec<Option<UrlKey>>, StoreError> {
        let parts: Vec<i16> = docs.iter().map(|doc| doc.part() as i16).collect();
        let numbers: Vec<i64> = docs.iter().map(|doc| doc.0 as i64).collect();
        let rows = self.look("read documents", call!(DOCS, parts, numbers))?;
        let mut found = HashMap::new();
        for row in rows {
            found.insert(DocId(row.get::<_, i64>(0) as u64), url_key(row.get(1), row.get(2))?);
        }
        Ok(docs.iter().map(|doc| found.get(doc).copied()).collect())
    }

    fn captures(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        Ok(self.captures_many(&[key])?.pop().unwrap_or_default())
    }

    fn captures_many(&self, keys: &[UrlKey]) -> Result<Vec<Vec<Capture>>, StoreError> {
        let mut all = Vec::with_capacity(keys.len());
        for keys in keys.chunks(PIPELINED) {
            let call = |key: &UrlKey| captures_call(key.host.part, &key.to_bytes()[2..]);
            let answers = self.reader.read_all("read captures", keys.iter().map(call).collect())?;
            for rows in answers {
                let captures = rows.iter().map(|row| row::decode("captures", row.get(0)));
                all.push(captures.collect::<Result<_, StoreError>>()?);
            }
        }
        Ok(all)
    }

    fn links(&self, keys: &[UrlKey]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.by_key(At::Links.select(), &url_keys(keys), |v| Ok(v.to_vec()))
    }

    fn payloads(
        &self,
        keys: &[(SiteKey, PayloadDigest)],
    ) -> Result<Vec<Option<PayloadRow>>, StoreError> {
        let key = |(site, digest): &(SiteKey, PayloadDigest)| {
            (site.part, [&site.site[..], &digest[..]].concat())
        };
        let keys: Vec<(u16, Vec<u8>)> = keys.iter().map(key).collect();
        self.by_key(At::Payloads.select(), &keys, |v| row::decode("payloads", v))
    }

    fn hosts(&self, keys: &[HostKey]) -> Result<Vec<Option<HostRow>>, StoreError> {
        let Some(call) = hosts_call(keys) else { return Ok(Vec::new()) };
        let mut found = BTreeMap::new();
        for row in self.look("read hosts", call)? {
            let host: HostRow = row::decode("hosts", row.get(2))?;
            found.insert(host_key(row.get(0), row.get(1))?, host);
        }
        Ok(keys.iter().map(|k| found.get(k).cloned()).collect())
    }

    fn scan_hosts(
        &self,
        after: Option<HostKey>,
        limit: usize,
    ) -> Result<Vec<(HostKey, HostRow)>, StoreError> {
        let (part, k) = after.map_or((-1, Vec::new()), |k| (k.part as i16, k.host.to_vec()));
        let rows = self.look("read hosts", call!(SCAN_HOSTS, part, k, limited(limit)))?;
        let read =
            |row: &Row| Ok((host_key(row.get(0), row.get(1))?, row::decode("hosts", row.get(2))?));
        rows.iter().map(read).collect()
    }

    fn ready_before(&self, host: HostKey, place: Place, limit: usize) -> Result<usize, StoreError> {
        let (first, last) = (host.host.to_vec(), ready_key(host.host, place));
        let call = call!(COUNT_BEFORE, host.part as i16, first, last, limited(limit));
        let rows = self.look("count a queue", call)?;
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0) as usize))
    }

    fn host_urls(
        &self,
        host: HostKey,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<(UrlKey, UrlRow)>, StoreError> {
        let key = |url: u64| [&host.host[..], &url.to_be_bytes()].concat();
        let first = after.map_or(host.host.to_vec(), key);
        let call = call!(HOST_URLS, host.part as i16, first, key(u64::MAX), limited(limit));
        url_rows(&self.look("read URLs", call)?)
    }

    fn host_disk(&self, host: HostKey) -> Result<u64, StoreError> {
        let rows = self.look("read captures", captures_call(host.part, &host.host))?;
        let sizes = rows.iter().map(|row| Ok(row::disk_of(&row::decode("captures", row.get(0))?)));
        sizes.sum()
    }

    fn exclusions(&self) -> Result<Vec<(Box<str>, Time)>, StoreError> {
        let rows = self.look("read what is excluded", call!(EXCLUSIONS, 0i16))?;
        let read =
            |row: &Row| Ok((row.get::<_, &str>(0).into(), row::decode("exclusions", row.get(1))?));
        let names = rows.iter().filter(|row| key::is_excluded_name(row.get(0)));
        names.map(read).collect()
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        let rows = self.look("read the delays set by hand", call!(EXCLUSIONS, 0i16))?;
        let read = |row: &Row| {
            let name = row.get::<_, &str>(0).strip_prefix(key::DELAY)?;
            Some(row::decode("delays", row.get(1)).map(|ms| (name.into(), ms)))
        };
        rows.iter().filter_map(read).collect()
    }

    fn traps(&self) -> Result<Vec<(Box<str>, Trap)>, StoreError> {
        let rows = self.look("read what is a trap", call!(EXCLUSIONS, 0i16))?;
        let read = |row: &Row| {
            let name = row.get::<_, &str>(0).strip_prefix(key::TRAP)?;
            Some(row::decode("traps", row.get(1)).map(|trap| (name.into(), trap)))
        };
        rows.iter().filter_map(read).collect()
    }

    fn robots(&self, keys: &[HostKey]) -> Result<Vec<Option<RobotsFile>>, StoreError> {
        let keys: Vec<(u16, Vec<u8>)> = keys.iter().map(|k| (k.part, k.host.to_vec())).collect();
        self.by_key(At::Robots.select(), &keys, row::decode_robots)
    }

    /// Of the partitions that this worker holds.
    fn claims(&self) -> Result<Vec<HostKey>, StoreError> {
        self.claims_in(&self.held())
    }

    fn jobs(&self) -> Result<Vec<JobRow>, StoreError> {
        let calls = vec![call!(JOBS, 0i16), call!(COUNTS, 0i16)];
        let mut answers = self.reader.read_all("read the jobs", calls)?;
        let sums = sum_counts(&answers.pop().unwrap_or_default());
        let mut jobs = Vec::new();
        for row in answers.pop().unwrap_or_default() {
            let mut job: JobRow = row::decode("jobs", row.get(2))?;
            job.state = state_of(row.get(1))?;
            job.counters = JobCounters::default();
            if let Some(sum) = sums.get(&job.job.id) {
                add(&mut job.counters, sum);
            }
            jobs.push(job);
        }
        Ok(jobs)
    }

    /// Of the archive that this worker writes.
    fn segments(&self, kind: SegmentKind) -> Result<Vec<(u32, u64)>, StoreError> {
        let call = call!(SEGMENTS, kind as i16, self.options.archive.clone());
        let rows = self.look("read segments", call)?;
        let read = |row: &Row| {
            let number = u32::try_from(row.get::<_, i64>(0)).map_err(|e| damaged("segments", e))?;
            Ok((number, row.get::<_, i64>(1) as u64))
        };
        rows.iter().map(read).collect()
    }

    fn changes(&self, part: u16, after: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let call = call!(CHANGES, part as i16, after, limited(limit));
        let rows = self.look("read the change log", call)?;
        let read = |row: &Row| {
            let ((key, time, changed), later) = row::decode_change(row.get(1))?;
            let (doc, ended) = later.ok_or_else(|| damaged("the change log", "no end"))?;
            Ok(Change { n: row.get::<_, i64>(0) as u64, key, time, changed, doc, ended })
        };
        rows.iter().map(read).collect()
    }

    fn log_heads(&self) -> Result<Vec<(u16, u64)>, StoreError> {
        let rows = self.look("read the change log", call!(HEADS, 0i64))?;
        Ok(rows.iter().map(|r| (r.get::<_, i16>(0) as u16, r.get::<_, i64>(1) as u64)).collect())
    }

    fn next_page(&self) -> Result<u64, StoreError> {
        Ok(number(&self.reader, "page")?.unwrap_or(1))
    }
}

impl PostgresStore {
    /// Hosts whose claim is open in these partitions: what a worker that takes them over gives back
    /// before it asks any of them.
    pub fn claims_in(&self, parts: &[u16]) -> Result<Vec<HostKey>, StoreError> {
        let parts: Vec<i16> = parts.iter().map(|part| *part as i16).collect();
        let rows = self.look("read claims", call!(CLAIMS, parts))?;
        rows.iter().map(|row| host_key(row.get(0), row.get(1))).collect()
    }
}
