//! The commit of the embedded store: [`Work`] applies the batch, the outcome is written as one
//! fjall batch.

use super::key::{self, AFTER_SCHEDULE, ASLEEP};
use super::{EmbeddedStore, EmbeddedWork, Firsts, Kept, Table};
use crate::StoreError;
use crate::batch::{Batch, Committed};
use crate::row::{self, JobRow, damaged};
use crate::work::{Applied, Base, DueRow, MAX_DUE, PartCounters, TABLES, Work};
use argiope_frontier::Place;
use argiope_model::{Capture, DocId, HostKey, JobId, Time, UrlKey};
use fjall::PersistMode;
use std::collections::HashSet;

const NEVER: Time = Time(i64::MAX);

impl EmbeddedStore {
    pub(super) fn apply(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut kept = self.kept();
        let answer = self.apply_to(&mut kept, batch);
        if answer.is_err() {
            // Whole or not at all: what was counted in memory was not written.
            self.read_kept(&mut kept)?;
        }
        answer
    }

    fn apply_to(&self, kept: &mut Kept, batch: Batch) -> Result<Committed, StoreError> {
        let mut work = Work::new(self, kept, batch.now);
        let Applied { refills, claimed, again } = work.apply(batch)?;
        let touched = work.jobs.clone();
        self.write(&mut work)?;
        let queued = work.committed();

        let mut answer = Committed { queued, again, ..Committed::default() };
        for refill in &refills {
            answer.refills.push(self.window(refill, kept)?);
        }
        for refill in &claimed {
            answer.claimed.push(self.window(refill, kept)?);
        }
        // A window read after the commit holds the rows just queued; they are not told twice.
        if !answer.claimed.is_empty() {
            let new: HashSet<HostKey> = answer.claimed.iter().map(|w| w.host).collect();
            answer.queued.retain(|e| !new.contains(&e.key.host));
        }
        let touched = touched.iter().filter_map(|id| kept.jobs.get(id));
        answer.jobs = touched.map(JobRow::progress).collect();
        answer.next_due = self.next_due(&mut kept.marks)?;
        Ok(answer)
    }

    fn write(&self, work: &mut EmbeddedWork<'_>) -> Result<(), StoreError> {
        let mut out = work.take_writes();
        let rows = work.changed_urls().into_iter();
        let rows = rows.map(|(k, row)| (k.to_bytes().into(), row.head.encode(&row.url).into()));
        out[Table::Urls as usize].extend(rows.map(|(k, v)| (k, Some(v))));
        let hosts = work.touched_hosts().into_iter();
        let hosts = hosts.map(|(k, host)| (k.to_bytes().into(), Some(row::encode(host).into())));
        out[Table::Hosts as usize].extend(hosts);
        let meta = &mut out[Table::Meta as usize];
        for id in std::mem::take(&mut work.orders) {
            let value = row::encode(&work.kept.jobs[&id]);
            meta.push((key::job(id).into(), Some(value.into())));
        }
        for id in std::mem::take(&mut work.jobs) {
            let value = row::encode(&work.kept.jobs[&id].progress());
            meta.push((key::progress(id).into(), Some(value.into())));
        }
        let mut batch = self.db.batch().durability(Some(PersistMode::SyncData));
        for table in TABLES {
            let keyspace = &self.tables[table];
            for (key, value) in out[table as usize].drain(..) {
                match value {
                    Some(value) => batch.insert(keyspace, key, value),
                    None => batch.remove(keyspace, key),
                }
            }
        }
        batch.commit().map_err(self.failed("commit"))?;
        self.tables.make_room().map_err(self.failed("write a table out"))
    }

    /// When the first host wakes or the first calendar row is due.
    fn next_due(&self, marks: &mut Firsts) -> Result<Option<Time>, StoreError> {
        let queue = &self.tables[Table::Queue];
        let mut wake = NEVER;
        if marks.scheduled < AFTER_SCHEDULE {
            let first = queue.range(marks.scheduled..AFTER_SCHEDULE).next();
            marks.scheduled = AFTER_SCHEDULE;
            if let Some(pair) = first {
                let k = pair.key().map_err(self.failed("read the schedule"))?;
                let short = || damaged("the schedule", "short key");
                marks.scheduled = (*k).try_into().map_err(|_| short())?;
                wake = match key::schedule_parts(&k).ok_or_else(short)? {
                    (ASLEEP, _) => NEVER,
                    (wake, _) => Time(i64::from(wake) * 1000),
                };
            }
        }
        if marks.due < NEVER {
            let none = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
            let start = key::calendar(marks.due, none);
            let first = queue.range(start..key::after_calendar()).next();
            marks.due = NEVER;
            if let Some(pair) = first {
                let k = pair.key().map_err(self.failed("read the calendar"))?;
                marks.due = key::calendar_parts(&k).map_or(NEVER, |(due, _)| due);
            }
        }
        Ok(Some(wake.min(marks.due)).filter(|due| *due != NEVER))
    }
}

impl Base for EmbeddedStore {
    type Marks = Firsts;

    fn get<T>(
        &self,
        table: Table,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let value = self.tables[table].get(key).map_err(self.failed("read a row"))?;
        value.map(|v| read(&v)).transpose()
    }

    fn captures_of(&self, key: UrlKey) -> Result<Vec<Capture>, StoreError> {
        self.tables[Table::Captures]
            .prefix(key.to_bytes())
            .map(|pair| {
                let value = pair.value().map_err(self.failed("read captures"))?;
                row::decode("captures", &value)
            })
            .collect()
    }

    fn captured_bytes(&self, host: HostKey) -> Result<u64, StoreError> {
        let mut sum = 0;
        for pair in self.tables[Table::Captures].prefix(host.to_bytes()) {
            let value = pair.value().map_err(self.failed("read captures"))?;
            sum += row::disk_of(&row::decode("captures", &value)?);
        }
        Ok(sum)
    }

    /// Counts a partition: from what was last written down, by looking.
    fn part_counters(&self, part: u16) -> Result<PartCounters, StoreError> {
        let [a, b] = part.to_be_bytes();
        let read = |v: &[u8]| row::decode("counters", v);
        let mut docs: u64 = self.get(Table::Meta, &[b'p', a, b], read)?.unwrap_or(0);
        let known = |n: u64| self.get(Table::Docs, &key::doc(DocId::new(n, part)), |_| Ok(()));
        while known(docs)?.is_some() {
            docs += 1;
        }
        let last = self.tables[Table::Log].prefix(part.to_be_bytes()).next_back();
        let log = match last {
            Some(pair) => {
                let k = pair.key().map_err(self.failed("read the change log"))?;
                key::log_number(&k).ok_or_else(|| damaged("the change log", "short key"))?
            }
            None => 0,
        };
        Ok(PartCounters { docs, log })
    }

    fn due(
        &self,
        marks: &Firsts,
        now: Time,
        excluded: &[HostKey],
    ) -> Result<Vec<DueRow>, StoreError> {
        let zero = UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: 0 };
        let start = key::calendar(marks.due, zero);
        let now = key::calendar(Time(now.0 + 1), zero);
        let end = if excluded.is_empty() { now } else { key::after_calendar() };
        let mut out = Vec::new();
        if start >= end {
            return Ok(out);
        }
        let mut in_time = 0;
        for pair in self.tables[Table::Queue].range(start..end) {
            let (k, v) = pair.into_inner().map_err(self.failed("read the calendar"))?;
            let Some((due, url)) = key::calendar_parts(&k) else {
                return Err(damaged("the calendar", "short key"));
            };
            if !excluded.contains(&url.host) {
                if in_time == MAX_DUE && excluded.is_empty() {
                    break;
                }
                if in_time == MAX_DUE || *k >= now[..] {
                    continue;
                }
                in_time += 1;
            }
            let (place, job): (Place, JobId) = row::decode("the calendar", &v)?;
            out.push(DueRow { due, url, place, job });
        }
        Ok(out)
    }

    fn scheduled(
        &self,
        marks: &Firsts,
        until: u32,
        limit: usize,
    ) -> Result<Vec<HostKey>, StoreError> {
        let end = key::schedule(until + 1, HostKey { part: 0, host: [0; 6] });
        let mut due = Vec::new();
        for pair in self.tables[Table::Queue].range(marks.scheduled.min(end)..end).take(limit) {
            let k = pair.key().map_err(self.failed("read the schedule"))?;
            due.extend(key::schedule_parts(&k).map(|(_, host)| host));
        }
        Ok(due)
    }

    fn sleepers(&self) -> Result<Vec<HostKey>, StoreError> {
        let start = key::schedule(ASLEEP, HostKey { part: 0, host: [0; 6] });
        let mut sleepers = Vec::new();
        for pair in self.tables[Table::Queue].range(start..AFTER_SCHEDULE) {
            let k = pair.key().map_err(self.failed("read the schedule"))?;
            sleepers.extend(key::schedule_parts(&k).map(|(_, host)| host));
        }
        Ok(sleepers)
    }
}
