//! The commit: fetch, apply, write, answer.

use super::before::{Before, Keys};
use super::inbox::{self, Message};
use super::link::{Call, call};
use super::load::{Loaded, due_at, wake_at};
use super::plan::{JobWrite, LOOK, Plan, UrlWrite, Writes, job_writes};
use super::row::{Place, Sorted, fields, host_key};
use super::window::Reading;
use super::{Kept, PostgresStore};
use crate::StoreError;
use crate::batch::{Batch, Committed};
use crate::row::{self, JobCounters, JobProgress, JobRow};
use crate::work::key::ASLEEP;
use crate::work::{Applied, Base, TABLES, Table, Work, read_host};
use argiope_frontier::{Entry, HostWindow, Refill};
use argiope_model::{HostKey, JobId, Time};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use tokio_postgres::Row;

/// Added to the counters while a batch is applied: what another worker has queued and this one
/// takes out may be unknown here yet.
const BIAS: u64 = 1 << 48;

/// Messages taken in with one commit.
const MAX_MESSAGES: i64 = 2_048;

const INBOX: &str = "SELECT part, k, v FROM inbox WHERE part = ANY($1) LIMIT $2";
const FIRST_SCHEDULED: &str = "SELECT k FROM schedule WHERE part = $1 ORDER BY k LIMIT 1";
const FIRST_DUE: &str = "SELECT k FROM calendar WHERE part = $1 ORDER BY k LIMIT 1";

/// Messages that were taken in, by which they are deleted and counted.
type Taken = Vec<(u16, Vec<u8>, Option<JobId>)>;

impl PostgresStore {
    pub(super) fn apply(&self, batch: Batch) -> Result<Committed, StoreError> {
        let mut loaded = self.kept();
        let answer = self.apply_to(&mut loaded, batch);
        let Err(failed) = answer else { return answer };
        // What was counted in memory may not be what was written.
        loaded.stale = true;
        // Rows that make no sense are another's work, where they are another's by now.
        let lost = match failed {
            StoreError::Damaged { .. } | StoreError::Server { .. } => self.lost(&loaded)?,
            _ => None,
        };
        Err(lost.map_or(failed, |part| StoreError::LeaseLost { part }))
    }

    /// A partition that is not held any more.
    fn lost(&self, loaded: &Loaded) -> Result<Option<u16>, StoreError> {
        let parts: Vec<i16> = loaded.parts.keys().map(|part| *part as i16).collect();
        let rows = self.writer.read("look at the lease", call!(LOOK, parts, loaded.session))?;
        let ours: BTreeMap<u16, i64> =
            rows.iter().map(|row| (row.get::<_, i16>(0) as u16, row.get(1))).collect();
        let lost = loaded.parts.iter().find(|(part, epoch)| ours.get(part) != Some(epoch));
        Ok(lost.map(|(part, _)| *part))
    }

    fn apply_to(&self, loaded: &mut Loaded, mut batch: Batch) -> Result<Committed, StoreError> {
        let now = batch.now;
        let version = self.lease().version();
        // Whoever ends a job tells what all have done by then.
        let jobs = !batch.jobs.is_empty();
        let look = loaded.freshen(&self.writer, version, || self.lease().clone(), now, jobs)?;
        let mine = |part: u16| loaded.parts.contains_key(&part);
        if let Some(part) = inbox::foreign(&batch, mine) {
            return Err(StoreError::LeaseLost { part });
        }
        let told = inbox::split(&mut batch, mine);
        let taken = if look { self.take_messages(loaded, &mut batch)? } else { Taken::new() };
        let errands = std::mem::take(&mut batch.errands);
        let robots_told = std::mem::take(&mut batch.robots_told);
        let parts: Vec<i16> = loaded.parts.keys().map(|part| *part as i16).collect();
        loaded.await_written(&self.writer, self.options.patience)?;
        let kept = &loaded.kept;
        let before = Before::fetch(&self.writer, parts, &batch, &kept.marks, &kept.hosts)?;

        let mut worked = work_out(&before, loaded, batch, &told, &taken)?;
        self.send(loaded, &mut worked.sorted, told)?;
        for (part, k, _) in taken {
            worked.sorted.put(Place::Inbox, part, k, None);
        }
        let Worked { sorted, urls, jobs, .. } = worked;
        let used: Vec<(JobId, i64, i64)> =
            jobs.iter().map(|(id, job)| (*id, job.pages, job.bytes)).collect();
        let writes = Writes { sorted, urls, jobs, archive: self.options.archive.clone() };
        loaded.make_log_tables(&self.writer, &writes.touched())?;

        let first_claimed = worked.refills.len();
        let windows = worked.refills.into_iter().chain(worked.claimed);
        let mut windows: Vec<Reading> = windows.map(Reading::new).collect();
        let described: Vec<HostKey> =
            windows.iter().filter(|w| w.describes_host()).map(|w| w.out.host).collect();
        let mut reads: Vec<Call> = windows.iter().map(Reading::call).collect();
        reads.extend(robots_call(&described));
        let plan = Plan::new(writes, loaded, reads)?;
        let mut rows = plan.perform(&self.writer, self.options.patience)?;
        loaded.note_written(&self.writer, plan.touched());
        for (job, pages, bytes) in used.into_iter().filter(|used| used.1 + used.2 > 0) {
            self.quotas.used(job, pages.max(0) as u64, bytes.max(0) as u64);
        }

        let kept = &mut loaded.kept;
        if !described.is_empty() {
            describe(&mut windows, &rows.pop().unwrap_or_default(), kept, &before)?;
        }
        for (window, rows) in windows.iter_mut().zip(&rows) {
            if !window.take(rows, &kept.jobs)? {
                window.finish(&self.writer, &kept.jobs)?;
            }
        }
        let mut windows = windows.into_iter().map(|window| window.out);
        let refills = windows.by_ref().take(first_claimed).collect();
        let claimed: Vec<HostWindow> = windows.collect();
        // A window read after the commit holds the rows just queued; they are not told twice.
        let new: HashSet<HostKey> = claimed.iter().map(|window| window.host).collect();
        let mut queued = worked.queued;
        queued.retain(|entry| !new.contains(&entry.key.host));
        let mut next_due = self.next_due(kept)?;
        // Something may come from others at any time: they are to be looked at again soon.
        if loaded.parts.len() < usize::from(argiope_model::PARTITIONS) {
            let soon = loaded.look_due(now);
            next_due = Some(next_due.map_or(soon, |due| due.min(soon)));
        }
        let jobs = loaded.tell_jobs(&worked.touched);
        let again = worked.again;
        Ok(Committed { queued, refills, claimed, again, jobs, next_due, errands, robots_told })
    }

    /// Lays messages into the inboxes of other owners.
    fn send(
        &self,
        loaded: &mut Loaded,
        sorted: &mut Sorted,
        told: Vec<(u16, Message)>,
    ) -> Result<(), StoreError> {
        loaded.group = match loaded.home() {
            // A visitor has no groups of its own.
            None if !told.is_empty() => self.take_number("visitor", 1)? as i64,
            _ => loaded.group + 1,
        };
        let sender = loaded.home().unwrap_or(u16::MAX).to_be_bytes();
        for (n, (part, message)) in told.into_iter().enumerate() {
            let k = [&sender[..], &loaded.group.to_be_bytes(), &(n as u32).to_be_bytes()].concat();
            sorted.put(Place::Inbox, part, k, Some(message.encode()));
        }
        Ok(())
    }

    fn take_messages(&self, loaded: &mut Loaded, batch: &mut Batch) -> Result<Taken, StoreError> {
        let parts: Vec<i16> = loaded.parts.keys().map(|part| *part as i16).collect();
        if parts.is_empty() {
            return Ok(Taken::new());
        }
        let rows = self.writer.read("read the inboxes", call!(INBOX, parts, MAX_MESSAGES))?;
        loaded.more_messages = rows.len() as i64 == MAX_MESSAGES;
        loaded.came(rows.len());
        let mut taken = Taken::new();
        for row in rows {
            let (part, k) = (row.get::<_, i16>(0) as u16, row.get(1));
            let message = Message::decode(row.get(2))?;
            taken.push((part, k, message.job()));
            message.add_to(batch, part)?;
        }
        // Jobs that were not there when the jobs were read, a moment ago.
        let known = |job: &JobId| loaded.kept.jobs.contains_key(job);
        if !taken.iter().filter_map(|(.., job)| job.as_ref()).all(known) {
            loaded.look_at_jobs(&self.writer)?;
        }
        Ok(taken)
    }

    /// When the first host wakes or the first calendar row is due.
    fn next_due(&self, kept: &mut Kept) -> Result<Option<Time>, StoreError> {
        let marks = &mut kept.marks;
        let wake = loop {
            let parts = match marks.schedule.first() {
                Ok(first) => break first,
                Err(parts) => parts,
            };
            let calls = parts.iter().map(|part| call!(FIRST_SCHEDULED, *part as i16)).collect();
            let answers = self.writer.read_all("read the schedule", calls)?;
            for (part, rows) in parts.into_iter().zip(answers) {
                let first = rows.first().map(|row| wake_at(row.get(0))).transpose()?;
                marks.schedule.set(part, first);
            }
        };
        let due = loop {
            let parts = match marks.calendar.first() {
                Ok(first) => break first,
                Err(parts) => parts,
            };
            let calls = parts.iter().map(|part| call!(FIRST_DUE, *part as i16)).collect();
            let answers = self.writer.read_all("read the calendar", calls)?;
            for (part, rows) in parts.into_iter().zip(answers) {
                let first = rows.first().map(|row| due_at(row.get(0))).transpose()?;
                marks.calendar.set(part, first);
            }
        };
        let wake = wake.filter(|wake| *wake != i64::from(ASLEEP)).map(|wake| Time(wake * 1000));
        Ok(wake.into_iter().chain(due.map(Time)).min())
    }
}

/// What came of a batch, before any of it is written.
struct Worked {
    sorted: Sorted,
    urls: Vec<UrlWrite>,
    jobs: BTreeMap<JobId, JobWrite>,
    /// Jobs that the batch is about.
    touched: BTreeSet<JobId>,
    queued: Vec<Entry>,
    refills: Vec<Refill>,
    claimed: Vec<Refill>,
    again: u64,
}

/// Applies a batch to the rows it is about, in memory.
fn work_out(
    before: &Before<'_>,
    loaded: &mut Loaded,
    batch: Batch,
    told: &[(u16, Message)],
    taken: &Taken,
) -> Result<Worked, StoreError> {
    let reopened = std::mem::take(&mut loaded.reopened);
    let known: BTreeMap<JobId, JobProgress> =
        loaded.kept.jobs.iter().map(|(id, row)| (*id, row.progress())).collect();
    bias(&mut loaded.kept.jobs);
    let mut work = Work::new(before, &mut loaded.kept, batch.now);
    if reopened {
        work.wake_sleepers()?;
    }
    let Applied { refills, claimed, again } = work.apply(batch)?;
    // What is on its way is queued; what has arrived is counted as what it is.
    for job in taken.iter().filter_map(|(.., job)| *job) {
        work.counters(job)?.queued -= 1;
    }
    for job in told.iter().filter_map(|(_, message)| message.job()) {
        work.counters(job)?.queued += 1;
    }
    let mut sorted = Sorted::default();
    for (table, rows) in TABLES.into_iter().zip(work.take_writes()) {
        rows.into_iter().try_for_each(|write| sorted.add(table, write))?;
    }
    for (k, host) in work.touched_hosts() {
        sorted.put(Place::Hosts, k.part, k.host.to_vec(), Some(row::encode(host)));
    }
    let urls = work.changed_urls().into_iter().map(|(key, row)| UrlWrite {
        key,
        doc: row.head.doc.0 as i64,
        value: row.head.encode(&row.url),
        fresh: row.fresh,
    });
    let urls = urls.collect();
    let touched = work.jobs.clone();
    let orders = std::mem::take(&mut work.orders);
    let queued = work.committed();
    unbias(&mut loaded.kept.jobs, &known);
    let jobs = job_writes(&known, &loaded.kept.jobs, &orders);
    loaded.kept.jobs.values_mut().for_each(|job| no_less_than_nothing(&mut job.counters));
    note_gone(&mut loaded.kept, &sorted)?;
    Ok(Worked { sorted, urls, jobs, touched, queued, refills, claimed, again })
}

fn bias(jobs: &mut BTreeMap<JobId, JobRow>) {
    for job in jobs.values_mut() {
        fields(&mut job.counters).into_iter().for_each(|n| *n += BIAS);
    }
}

fn unbias(jobs: &mut BTreeMap<JobId, JobRow>, known: &BTreeMap<JobId, JobProgress>) {
    for job in jobs.values_mut().filter(|job| known.contains_key(&job.job.id)) {
        fields(&mut job.counters).into_iter().for_each(|n| *n = n.wrapping_sub(BIAS));
    }
}

/// What others have queued and is not known here yet counts as nothing until it is.
fn no_less_than_nothing(counters: &mut JobCounters) {
    for n in fields(counters) {
        *n = if *n > i64::MAX as u64 { 0 } else { *n };
    }
}

/// What was first in a partition and is taken away has to be looked for again.
fn note_gone(kept: &mut Kept, sorted: &Sorted) -> Result<(), StoreError> {
    for (place, rows) in &sorted.places {
        let gone = rows.iter().filter(|(_, value)| value.is_none());
        for ((part, k), _) in gone {
            match place {
                Place::Schedule => kept.marks.schedule.gone(*part, wake_at(k)?),
                Place::Calendar => kept.marks.calendar.gone(*part, due_at(k)?),
                _ => {}
            }
        }
    }
    Ok(())
}

fn robots_call(hosts: &[HostKey]) -> Option<Call> {
    let mut keys = Keys::default();
    hosts.iter().for_each(|k| keys.push(k.part, &k.host));
    (!hosts.is_empty()).then(|| keys.call(Place::Robots.select()))
}

/// Writes what is known of hosts into their windows.
fn describe(
    windows: &mut [Reading],
    robots: &[Row],
    kept: &Kept,
    before: &Before<'_>,
) -> Result<(), StoreError> {
    let mut files = BTreeMap::new();
    for row in robots {
        files.insert(host_key(row.get(0), row.get(1))?, row::decode_robots(row.get(2))?);
    }
    for window in windows.iter_mut().filter(|window| window.describes_host()) {
        let out = &mut window.out;
        out.robots = files.get(&out.host).cloned();
        if let Some(host) = kept.hosts.get(out.host) {
            (out.not_before, out.temper) = (host.not_before, host.temper.clone());
        } else if let Some(host) = before.get(Table::Hosts, &out.host.to_bytes(), read_host)? {
            (out.not_before, out.temper) = (host.not_before, host.temper);
        }
    }
    Ok(())
}
