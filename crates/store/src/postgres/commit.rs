//! The commit: fetch, apply, write, answer.

use super::before::{Before, Keys};
use super::inbox::{self, Message};
use super::link::{Call, call};
use super::load::{LOOK_MS, Loaded, due_at, wake_at};
use super::plan::{LOOK, Plan, UrlWrite, Writes, job_writes};
use super::row::{Place, Sorted, fields, host_key};
use super::window::Reading;
use super::{Kept, PostgresStore};
use crate::StoreError;
use crate::batch::{Batch, Committed};
use crate::row::{self, JobCounters, JobProgress, JobRow};
use crate::work::key::ASLEEP;
use crate::work::{Applied, Base, TABLES, Work, read_host};
use argiope_frontier::HostWindow;
use argiope_model::{HostKey, JobId, Time};
use std::collections::{BTreeMap, HashSet};

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
        let asked_at = batch.now;
        let version = self.lease().version();
        let look = loaded.freshen(&self.writer, version, || self.lease().clone(), batch.now)?;
        let mine = |part: u16| loaded.parts.contains_key(&part);
        if let Some(part) = inbox::foreign(&batch, mine) {
            return Err(StoreError::LeaseLost { part });
        }
        let told = inbox::split(&mut batch, mine);
        let taken = if look { self.take_messages(loaded, &mut batch)? } else { Taken::new() };
        let parts: Vec<i16> = loaded.parts.keys().map(|part| *part as i16).collect();
        let kept = &loaded.kept;
        let before = Before::fetch(&self.writer, parts, &batch, &kept.marks, &kept.hosts)?;

        let reopened = std::mem::take(&mut loaded.reopened);
        let known: BTreeMap<JobId, JobProgress> =
            loaded.kept.jobs.iter().map(|(id, row)| (*id, row.progress())).collect();
        bias(&mut loaded.kept.jobs);
        let mut work = Work::new(&before, &mut loaded.kept, batch.now);
        if reopened {
            work.wake_sleepers()?;
        }
        let Applied { refills, claimed } = work.apply(batch)?;
        let mut sorted = Sorted::default();
        for (_, _, job) in &taken {
            if let Some(job) = job {
                work.counters(*job)?.queued -= 1;
            }
        }
        for job in told.iter().filter_map(|(_, message)| message.job()) {
            work.counters(job)?.queued += 1;
        }
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

        if told.is_empty() || loaded.home().is_some() {
            loaded.group += 1;
        } else {
            // A visitor has no groups of its own.
            loaded.group = self.take_number("visitor", 1)? as i64;
        }
        let sender = loaded.home().unwrap_or(u16::MAX).to_be_bytes();
        for (n, (part, message)) in told.into_iter().enumerate() {
            let k = [&sender[..], &loaded.group.to_be_bytes(), &(n as u32).to_be_bytes()].concat();
            sorted.put(Place::Inbox, part, k, Some(message.encode()));
        }
        for (part, k, _) in taken {
            sorted.put(Place::Inbox, part, k, None);
        }
        let writes = Writes { sorted, urls, jobs, archive: self.options.archive.clone() };
        loaded.make_log_tables(&self.writer, &writes.touched())?;

        let first_claimed = refills.len();
        let mut windows: Vec<Reading> =
            refills.into_iter().chain(claimed).map(Reading::new).collect();
        let described: Vec<HostKey> =
            windows.iter().filter(|w| w.describes_host()).map(|w| w.out.host).collect();
        let mut reads: Vec<Call> = windows.iter().map(Reading::call).collect();
        reads.extend(robots_call(&described));
        let plan = Plan::new(writes, loaded, reads)?;
        let mut rows = plan.perform(&self.writer, self.options.patience)?;

        let kept = &mut loaded.kept;
        if !described.is_empty() {
            let robots = rows.pop().unwrap_or_default();
            let mut files = BTreeMap::new();
            for row in robots {
                let file = row::decode_robots(row.get(2))?;
                files.insert(host_key(row.get(0), row.get(1))?, file);
            }
            for window in windows.iter_mut().filter(|w| w.describes_host()) {
                describe(&mut window.out, kept, &before)?;
                window.out.robots = files.get(&window.out.host).cloned();
            }
        }
        for (window, rows) in windows.iter_mut().zip(&rows) {
            if !window.take(rows, &kept.jobs)? {
                window.finish(&self.writer, &kept.jobs)?;
            }
        }
        let mut windows = windows.into_iter().map(|window| window.out);
        let refills = windows.by_ref().take(first_claimed).collect();
        let mut answer =
            Committed { queued, refills, claimed: windows.collect(), ..Committed::default() };
        // A window read after the commit holds the rows just queued; they are not told twice.
        if !answer.claimed.is_empty() {
            let new: HashSet<HostKey> = answer.claimed.iter().map(|w| w.host).collect();
            answer.queued.retain(|e| !new.contains(&e.key.host));
        }
        answer.next_due = self.next_due(kept)?;
        let now: BTreeMap<JobId, JobProgress> =
            kept.jobs.iter().map(|(id, row)| (*id, row.progress())).collect();
        // What others have done to them counts too.
        let news = |id: &JobId, row: &JobProgress| {
            touched.contains(id) || loaded.told.get(id).is_none_or(|old| old != row)
        };
        answer.jobs =
            now.iter().filter(|(id, row)| news(id, row)).map(|(_, r)| r.clone()).collect();
        loaded.told = now;
        // Something may come from others at any time: they are to be looked at again soon.
        if loaded.parts.len() < usize::from(argiope_model::PARTITIONS) {
            let soon = Time(asked_at.0 + LOOK_MS);
            answer.next_due = Some(answer.next_due.map_or(soon, |due| due.min(soon)));
        }
        Ok(answer)
    }

    fn take_messages(&self, loaded: &mut Loaded, batch: &mut Batch) -> Result<Taken, StoreError> {
        let parts: Vec<i16> = loaded.parts.keys().map(|part| *part as i16).collect();
        if parts.is_empty() {
            return Ok(Taken::new());
        }
        let rows = self.writer.read("read the inboxes", call!(INBOX, parts, MAX_MESSAGES))?;
        loaded.more_messages = rows.len() as i64 == MAX_MESSAGES;
        let mut taken = Taken::new();
        for row in rows {
            let (part, k) = (row.get::<_, i16>(0) as u16, row.get(1));
            let message = Message::decode(row.get(2))?;
            taken.push((part, k, message.job()));
            message.add_to(batch, part)?;
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

/// Writes what is known of a host into its window.
fn describe(out: &mut HostWindow, kept: &Kept, before: &Before<'_>) -> Result<(), StoreError> {
    if let Some(host) = kept.hosts.get(out.host) {
        (out.not_before, out.temper) = (host.not_before, host.temper.clone());
    } else if let Some(host) =
        before.get(crate::work::Table::Hosts, &out.host.to_bytes(), read_host)?
    {
        (out.not_before, out.temper) = (host.not_before, host.temper);
    }
    Ok(())
}
