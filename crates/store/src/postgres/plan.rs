//! What a batch writes, as statements: one for each table and kind of change, whatever the number
//! of rows, and in front of them the one that holds the lease to its word.

use super::around::{EXCLUDED, ORDERS};
use super::link::{Bytes, Call, Link, Pause, Sql, call, plain};
use super::load::Loaded;
use super::quota::USE;
use super::row::{INSERT_URLS, Place, Rows, Sorted, UPSERT_URLS, fields, ready_url, state_number};
use crate::StoreError;
use crate::row::{self, JobCounters, JobProgress, JobRow};
use argiope_model::{JobId, UrlKey};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;

macro_rules! lease {
    ($only:literal) => {
        concat!(
            "UPDATE parts p SET docs = x.docs, log = x.log, grp = x.grp
            FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
                $6::bigint[]) AS x(part, owner, epoch, docs, log, grp)
            WHERE p.part = x.part AND p.owner = x.owner AND p.epoch = x.epoch AND p.grp < x.grp ",
            $only,
            " RETURNING p.part"
        )
    };
}

/// Advances the numbers of partitions that are still ours, unless this very group has.
const LEASE: Sql = Sql {
    plain: lease!(""),
    // It need not ask the shards that hold none of them.
    citus: lease!("AND p.part = ANY($1)"),
};
/// What is held, under which epoch, and the last group of each.
pub(super) const LOOK: &str =
    "SELECT part, epoch, grp FROM parts WHERE part = ANY($1) AND owner = $2";
const COUNT: &str = "INSERT INTO job_counts (part, job, c) VALUES ($1, $2, $3)
    ON CONFLICT (part, job) DO UPDATE SET c = ARRAY(
        SELECT coalesce(t.a, 0) + coalesce(t.b, 0)
        FROM unnest(job_counts.c, excluded.c) WITH ORDINALITY AS t(a, b, i) ORDER BY t.i)";
const ORDER: &str = "INSERT INTO jobs (part, job, state, version, v) VALUES ($1, $2, $3, 1, $4)
    ON CONFLICT (part, job) DO UPDATE
    SET state = excluded.state, v = excluded.v, version = jobs.version + 1";
const STATE: &str = "UPDATE jobs SET state = $3 WHERE part = $1 AND job = $2";
const SEGMENT: &str = "INSERT INTO segments (part, kind, number, length, archive)
    SELECT s.*, $5 FROM unnest($1::smallint[], $2::smallint[], $3::bigint[], $4::bigint[]) AS s
    ON CONFLICT (part, kind, number) DO UPDATE SET length = excluded.length";
const EXCLUDE: &str = "INSERT INTO exclusions (part, name, v) VALUES (0, $1, $2)
    ON CONFLICT (part, name) DO UPDATE SET v = excluded.v 
    WHERE excluded.name LIKE 'trap %' OR excluded.name LIKE 'delay %'";
const INCLUDE: &str = "DELETE FROM exclusions WHERE part = 0 AND name = $1";
const CHANGED: &str = "INSERT INTO numbers (part, name, n) VALUES (0, $1, 1)
    ON CONFLICT (part, name) DO UPDATE SET n = numbers.n + 1";
const NEXT_PAGE: &str = "INSERT INTO numbers (part, name, n) VALUES (0, 'page', $1)
    ON CONFLICT (part, name) DO UPDATE SET n = greatest(numbers.n, excluded.n)";

/// What a job has come to in a batch.
pub(super) struct JobWrite {
    pub delta: Vec<i64>,
    /// Pages fetched and their bytes, where either is limited.
    pub pages: i64,
    pub bytes: i64,
    pub order: Option<Vec<u8>>,
    pub state: Option<i16>,
}

/// A commit, ready to be sent, and to be sent again.
pub(super) struct Plan {
    /// From `BEGIN` on, everything but `COMMIT`; empty where nothing is written.
    writes: Arc<Vec<Call>>,
    reads: Arc<Vec<Call>>,
    /// The partitions that are written to and their epochs.
    touched: BTreeMap<i16, i64>,
    session: i64,
    group: i64,
}

/// The partition that rows of a job lie in, but for what workers count under their own.
pub(super) fn job_part(job: JobId) -> i16 {
    (job.0 % u32::from(argiope_model::PARTITIONS)) as i16
}

/// The partition that a segment lies in.
pub(super) fn segment_part(number: u32) -> i16 {
    (number % u32::from(argiope_model::PARTITIONS)) as i16
}

/// What the jobs have come to: compared with what they were.
pub(super) fn job_writes(
    before: &BTreeMap<JobId, JobProgress>,
    after: &BTreeMap<JobId, JobRow>,
    orders: &BTreeSet<JobId>,
) -> BTreeMap<JobId, JobWrite> {
    let mut out = BTreeMap::new();
    for (id, job) in after {
        let old = before.get(id);
        let mut counters = old.map(|old| old.counters.clone()).unwrap_or_default();
        let mut now = job.counters.clone();
        let pairs = fields(&mut now).into_iter().zip(fields(&mut counters));
        let delta: Vec<i64> = pairs.map(|(now, old)| now.wrapping_sub(*old) as i64).collect();
        let order = orders
            .contains(id)
            .then(|| row::encode(&JobRow { counters: JobCounters::default(), ..job.clone() }));
        // An order is written with its state, also where that ends as it was.
        let state = order.is_some() || old.is_none_or(|old| old.state != job.state);
        let state = state.then(|| state_number(job.state));
        if order.is_some() || state.is_some() || delta.iter().any(|n| *n != 0) {
            let limits = &job.job.limits;
            // Fetched, and found unchanged.
            let (pages, bytes) = match limits.pages.is_some() || limits.bytes.is_some() {
                true => (delta[1] + delta[2], delta[10]),
                false => (0, 0),
            };
            out.insert(*id, JobWrite { delta, pages, bytes, order, state });
        }
    }
    out
}

/// The row of a URL that is to be written.
pub(super) struct UrlWrite {
    pub key: UrlKey,
    pub doc: i64,
    pub value: Vec<u8>,
    pub fresh: bool,
}

/// Everything that is to be written.
pub(super) struct Writes {
    pub sorted: Sorted,
    pub urls: Vec<UrlWrite>,
    pub jobs: BTreeMap<JobId, JobWrite>,
    /// Whose the segments are.
    pub archive: String,
}

impl Writes {
    pub fn is_empty(&self) -> bool {
        let Sorted { places, segments, exclusions, next_page } = &self.sorted;
        places.is_empty()
            && segments.is_empty()
            && exclusions.is_empty()
            && next_page.is_none()
            && self.urls.is_empty()
            && self.jobs.is_empty()
    }

    /// Partitions whose rows change, but for inboxes that are only added to.
    pub fn touched(&self) -> BTreeSet<u16> {
        let rows = self.sorted.places.iter().flat_map(|(place, rows)| {
            let counts = move |v: &Option<Vec<u8>>| *place != Place::Inbox || v.is_none();
            rows.iter().filter(move |(_, v)| counts(v)).map(|((part, _), _)| *part)
        });
        rows.chain(self.urls.iter().map(|url| url.key.host.part)).collect()
    }
}

impl Plan {
    /// Puts the statements in order; `reads` are asked after everything is written.
    pub fn new(writes: Writes, loaded: &Loaded, reads: Vec<Call>) -> Result<Self, StoreError> {
        let mut touched = writes.touched();
        let home = loaded.home();
        let counts_or_sends =
            !writes.jobs.is_empty() || writes.sorted.places.contains_key(&Place::Inbox);
        if counts_or_sends {
            touched.extend(home);
        }
        if let Some(part) = touched.iter().find(|part| !loaded.parts.contains_key(part)) {
            return Err(StoreError::LeaseLost { part: *part });
        }
        let mut calls = Vec::new();
        if !writes.is_empty() {
            calls.push(plain("BEGIN"));
            if !touched.is_empty() {
                calls.push(lease_call(&touched, loaded));
            }
            for (place, rows) in &writes.sorted.places {
                calls.extend(place_calls(*place, rows)?);
            }
            calls.extend(url_call(INSERT_URLS.into(), writes.urls.iter().filter(|url| url.fresh)));
            calls.extend(url_call(UPSERT_URLS, writes.urls.iter().filter(|url| !url.fresh)));
            calls.extend(job_calls(writes.jobs, home, loaded.session));
            calls.extend(other_calls(&writes.sorted, &writes.archive));
        }
        let (group, session) = (loaded.group, loaded.session);
        let touched = touched.iter().map(|part| (*part as i16, loaded.parts[part])).collect();
        let (writes, reads) = (Arc::new(calls), Arc::new(reads));
        Ok(Plan { writes, reads, touched, session, group })
    }

    /// The partitions that are written to.
    pub fn touched(&self) -> impl Iterator<Item = i16> + '_ {
        self.touched.keys().copied()
    }

    /// Commits; answers what was to be read.
    pub fn perform(&self, link: &Link, patience: Duration) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut pause = Pause::new(patience);
        loop {
            let mut in_doubt = false;
            match self.attempt(link, &mut in_doubt) {
                // Without a partition nothing tells whether it was applied.
                Err(failed) if failed.is_passing() && !(in_doubt && self.touched.is_empty()) => {
                    pause.or(failed)?;
                }
                done => return done,
            }
        }
    }

    fn attempt(&self, link: &Link, in_doubt: &mut bool) -> Result<Vec<Vec<Row>>, StoreError> {
        if self.writes.is_empty() {
            return link.run_all("read a queue", &[&self.reads]);
        }
        let sent = link.run_all("commit a group", &[&self.writes, &self.reads]);
        let mut answers = match sent {
            Ok(answers) => answers,
            // A row that was to be new is there: somebody else's, or ours from the first attempt.
            Err(refused @ StoreError::Server { .. }) if !self.touched.is_empty() => {
                link.hang_up();
                return self.settle(link, Some(refused));
            }
            Err(failed) => {
                link.hang_up();
                return Err(failed);
            }
        };
        // The lease comes first, behind BEGIN.
        if !self.touched.is_empty() && answers[1].len() != self.touched.len() {
            link.run("take a group back", vec![plain("ROLLBACK")])?;
            return self.settle(link, None);
        }
        let reads = answers.split_off(self.writes.len());
        let done = link.run("commit a group", vec![plain("COMMIT")]);
        *in_doubt = done.is_err();
        done.inspect_err(|_| link.hang_up())?;
        Ok(reads)
    }

    /// Nothing was written: the lease is lost, the group was applied when it was sent before, or
    /// the server has refused it for another reason.
    fn settle(
        &self,
        link: &Link,
        refused: Option<StoreError>,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let parts: Vec<i16> = self.touched.keys().copied().collect();
        let look = call!(LOOK, parts, self.session);
        let rows = link.read("look whether a group was applied", look)?;
        let ours: BTreeMap<i16, (i64, i64)> =
            rows.iter().map(|row| (row.get(0), (row.get(1), row.get(2)))).collect();
        let held = |(part, epoch): &(&i16, &i64)| ours.get(part).is_some_and(|(e, _)| e == *epoch);
        // Others may be lost too; one is enough to know.
        if let Some((part, _)) = self.touched.iter().find(|touched| !held(touched)) {
            return Err(StoreError::LeaseLost { part: *part as u16 });
        }
        match refused {
            _ if ours.values().all(|(_, group)| *group == self.group) => {
                link.run_all("read the answer", &[&self.reads])
            }
            Some(refused) => Err(refused),
            None => Err(row::damaged("partitions", "a group is behind the last")),
        }
    }
}

fn lease_call(touched: &BTreeSet<u16>, loaded: &Loaded) -> Call {
    let parts: Vec<i16> = touched.iter().map(|part| *part as i16).collect();
    let n = parts.len();
    let epochs: Vec<i64> = touched.iter().map(|part| loaded.parts[part]).collect();
    let counters = |part: &u16| loaded.kept.parts.get(part).copied().unwrap_or_default();
    let docs: Vec<i64> = touched.iter().map(|part| counters(part).docs as i64).collect();
    let log: Vec<i64> = touched.iter().map(|part| counters(part).log as i64).collect();
    call!(LEASE, parts, vec![loaded.session; n], epochs, docs, log, vec![loaded.group; n])
}

fn place_calls(place: Place, rows: &Rows) -> Result<Vec<Call>, StoreError> {
    let (mut gone, mut gone_parts) = (Bytes::default(), Vec::new());
    let (mut keys, mut parts, mut values) = (Bytes::default(), Vec::new(), Bytes::default());
    let mut numbers: Vec<i64> = Vec::new();
    for ((part, k), value) in rows {
        let Some(value) = value else {
            gone_parts.push(*part as i16);
            gone.push(k);
            continue;
        };
        parts.push(*part as i16);
        match place {
            Place::Ready => {
                keys.push(k);
                numbers.push(ready_url(value)?);
            }
            Place::Log => {
                let n = k
                    .as_slice()
                    .try_into()
                    .map_err(|_| row::damaged("the change log", "short key"))?;
                numbers.push(i64::from_be_bytes(n));
                values.push(value);
            }
            _ => {
                keys.push(k);
                values.push(value);
            }
        }
    }
    let mut calls = Vec::new();
    if !gone_parts.is_empty() {
        calls.push(call!(place.delete(), gone_parts, gone));
    }
    if !parts.is_empty() {
        let sql = place.upsert();
        calls.push(match place {
            Place::Ready => call!(sql, parts, keys, numbers),
            Place::Log => call!(sql, parts, numbers, values),
            Place::Schedule | Place::Claims => call!(sql, parts, keys),
            _ => call!(sql, parts, keys, values),
        });
    }
    Ok(calls)
}

fn url_call<'a>(sql: Sql, urls: impl Iterator<Item = &'a UrlWrite>) -> Option<Call> {
    let (mut keys, mut values) = (Bytes::default(), Bytes::default());
    let (mut parts, mut docs) = (Vec::new(), Vec::new());
    for url in urls {
        parts.push(url.key.host.part as i16);
        keys.push(&url.key.to_bytes()[2..]);
        docs.push(url.doc);
        values.push(&url.value);
    }
    (!docs.is_empty()).then(|| call!(sql, parts, keys, docs, values))
}

fn job_calls(jobs: BTreeMap<JobId, JobWrite>, home: Option<u16>, session: i64) -> Vec<Call> {
    let mut calls = Vec::new();
    for (id, job) in jobs {
        let (part, number) = (job_part(id), id.0 as i32);
        match (job.order, job.state) {
            (Some(order), state) => {
                calls.push(call!(ORDER, part, number, state.unwrap_or(0), order));
                calls.push(call!(CHANGED, ORDERS));
            }
            (None, Some(state)) => calls.push(call!(STATE, part, number, state)),
            (None, None) => {}
        }
        if job.pages + job.bytes > 0 {
            calls.push(call!(USE, part, number, session, job.pages, job.bytes));
        }
        let home = home.map_or(part, |home| home as i16);
        if job.delta.iter().any(|n| *n != 0) {
            calls.push(call!(COUNT, home, number, job.delta));
        }
    }
    calls
}

fn other_calls(sorted: &Sorted, archive: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    if !sorted.segments.is_empty() {
        let rows = || sorted.segments.iter();
        let parts: Vec<i16> = rows().map(|((_, number), _)| segment_part(*number)).collect();
        let kinds: Vec<i16> = rows().map(|((kind, _), _)| i16::from(*kind)).collect();
        let numbers: Vec<i64> = rows().map(|((_, number), _)| i64::from(*number)).collect();
        let lengths: Vec<i64> = rows().map(|(_, length)| *length as i64).collect();
        calls.push(call!(SEGMENT, parts, kinds, numbers, lengths, archive.to_owned()));
    }
    for (name, since) in &sorted.exclusions {
        calls.push(match since {
            Some(since) => call!(EXCLUDE, name.clone(), since.clone()),
            None => call!(INCLUDE, name.clone()),
        });
    }
    if !sorted.exclusions.is_empty() {
        calls.push(call!(CHANGED, EXCLUDED));
    }
    calls.extend(sorted.next_page.map(|n| call!(NEXT_PAGE, n as i64)));
    calls
}
