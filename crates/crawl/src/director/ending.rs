//! Limits, room on the disk, and the end of a run.

use super::active::Active;
use super::{Director, GROUP_BYTES, unless_panicked};
use crate::disk;
use crate::group::{Event, PageDone};
use crate::run::{Ended, EngineError};
use argiope_model::{JobState, Time};
use argiope_store::JobChange;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the disk is left alone before free room is asked for again.
const DISK_MS: i64 = 20;
/// How long the size of the store is taken for what it was.
const STORE_MS: i64 = 10_000;
/// Room a group needs beyond its own bytes: the store's journal and tables.
const COMMIT_ROOM: u64 = 16 << 20;

impl Director {
    /// Stops the jobs whose time is up; says whether that is all that are worked on.
    pub(super) fn watch_time(&mut self, now: Time) -> bool {
        let begun = self.begun;
        let up = |a: &Active| a.time_end(begun).is_some_and(|end| now >= end);
        let mut changed = false;
        for active in self.jobs.values_mut().filter(|a| !a.limited && up(a)) {
            active.limited = true;
            changed = true;
        }
        if changed {
            self.regate(now);
        }
        let mut open = self.jobs.values().filter(|a| a.row.state == JobState::Open).peekable();
        open.peek().is_some() && open.all(up)
    }

    /// A job at its limit, beside others that go on, is no longer open: its rows must not fill
    /// the windows that the others' rows are behind.
    pub(super) fn set_limited_aside(&mut self) {
        let going_on = |a: &Active| a.row.state == JobState::Open && !a.at_limit();
        if !self.jobs.values().any(going_on) {
            return;
        }
        for (id, active) in &mut self.jobs {
            if active.row.state == JobState::Open && active.at_limit() && active.out == 0 {
                active.row.state = JobState::Limited;
                self.batch.jobs.push(JobChange::State(*id, JobState::Limited));
                self.read_anew = true;
            }
        }
    }

    /// Whether the run is over; called when nothing is under way.
    pub(super) fn over(&mut self, now: Time) -> Result<Option<Ended>, EngineError> {
        if self.stopping {
            return Ok(Some(Ended::Stopped));
        }
        if !self.batch.jobs.is_empty() {
            return Ok(None);
        }
        if let Some((stays, job)) = self.member.as_ref().map(|m| (m.stays, m.job)) {
            return self.over_in_fleet(stays, job);
        }
        let waiting = |a: &Active| a.row.state == JobState::Open && !a.full();
        let left: u64 =
            self.jobs.values().filter(|a| waiting(a)).map(|a| a.row.counters.queued).sum();
        if left == 0 && !self.again.is_over() {
            return Ok(None);
        }
        if left == 0 {
            let worked_on = self.jobs.values().filter(|active| !active.rests);
            let rows = worked_on.map(|a| &a.row).filter(|r| r.counters.queued > 0);
            let any = |state| rows.clone().any(|row| row.state == state);
            return Ok(Some(if any(JobState::Open) || any(JobState::Limited) {
                Ended::Limit
            } else if any(JobState::Paused) {
                Ended::Stopped
            } else {
                Ended::Done
            }));
        }
        if self.puts_off_rest(now)? {
            return Ok(Some(Ended::Limit));
        }
        // Something is queued: it waits for room, for a delay, for its hour, or to be loaded.
        let waits = self.no_room.is_some()
            || self.settings.hold.is_on()
            || self.frontier.has_ready(now)
            || self.frontier.next_wake().is_some()
            || self.frontier.awaits_hosts()
            || self.next_due.is_some();
        // A URL may wait for the turn of a job that rests in this run.
        let rests = self.jobs.values().any(|active| active.rests);
        match (waits, rests && self.again.is_over()) {
            (true, _) => Ok(None),
            (false, true) => Ok(Some(Ended::Limit)),
            (false, false) => Err(EngineError::Stuck(left)),
        }
    }

    /// The last commit: states of the jobs, time spent, hosts given back.
    pub(super) async fn close(
        &mut self,
        inbox: &mut mpsc::Receiver<Event>,
        ended: Ended,
    ) -> Result<Ended, EngineError> {
        let now = self.now();
        (self.stopping, self.closing) = (true, true);
        let ran = now.since(self.begun);
        self.again.note(now, true);
        self.keep_budgets(now, true);
        self.keep_topics(now, true);
        self.jobs.values_mut().for_each(|active| active.held = false);
        for (id, active) in self.jobs.iter().filter(|(_, active)| !active.rests) {
            let counters = &active.row.counters;
            let state = match active.row.state {
                // Others go on with it.
                state if self.member.is_some() => state,
                JobState::Open if counters.queued == 0 => JobState::Done,
                JobState::Open if active.full() => JobState::Limited,
                state => state,
            };
            if state != active.row.state {
                self.batch.jobs.push(JobChange::State(*id, state));
            }
            self.batch.jobs.push(JobChange::Ran(*id, ran));
        }
        let releases = self.frontier.release_all();
        self.batch.releases.extend(releases);
        self.commit(now, true);
        while self.busy {
            let Some(event) = inbox.recv().await else { break };
            self.hear(event)?;
        }
        self.shown = Time(0);
        self.show(self.now());
        Ok(ended)
    }

    /// Lets requests under way end, within a limit, when nothing more is to be handed out.
    pub(super) async fn drain(
        &mut self,
        inbox: &mut mpsc::Receiver<Event>,
        grace: Duration,
    ) -> Result<(), EngineError> {
        let end = tokio::time::Instant::now() + grace;
        while !self.visits.is_empty() {
            tokio::select! {
                biased;
                event = inbox.recv() => match event {
                    Some(event) => self.hear(event)?,
                    None => break,
                },
                Some(ended) = self.visits.join_next() => unless_panicked(ended)?,
                () = tokio::time::sleep_until(end) => break,
            }
            let now = self.now();
            self.commit(now, false);
            self.show(now);
        }
        // What has not ended by now is asked for again by the next run.
        self.visits.shutdown().await;
        while let Ok(event) = inbox.try_recv() {
            self.hear(event)?;
        }
        self.jobs.values_mut().for_each(|a| a.out = 0);
        self.caps.nothing_is_out();
        self.short.clear();
        let left: Vec<u64> = self.under_way.keys().copied().collect();
        let now = self.now();
        left.into_iter().for_each(|number| self.came_back(number, now));
        Ok(())
    }

    /// What the next group needs on the disk.
    pub(super) fn room_needed(&self) -> u64 {
        let largest = self.pending.front().map_or(0, PageDone::weight);
        largest.max(self.pending_bytes.min(2 * GROUP_BYTES)) + COMMIT_ROOM
    }

    pub(super) fn watch_disk(&mut self, now: Time) {
        if now.0 - self.disk_asked.0 < DISK_MS || !self.shared.threads {
            return;
        }
        self.disk_asked = now;
        let Ok(free) = disk::free_bytes(self.dir.path()) else { return };
        // Below the first line nothing new is asked for; what is under way is still committed.
        // Below the second it waits, in memory and in the spool.
        let needed = self.room_needed();
        self.full_disk = free < needed;
        // The store needs room to rewrite its tables, the more the larger they are.
        if now.0 - self.store_asked.0 >= STORE_MS {
            self.store_asked = now;
            self.store_room = disk::dir_bytes(&self.dir.store()) / 8;
        }
        let least = self.settings.min_free_disk.max(self.store_room).max(needed);
        // A little more is asked for before going on, so that it does not stutter.
        let enough = if self.no_room.is_some() { least + least / 10 } else { least };
        self.no_room = (free < enough).then(|| {
            format!(
                "the disk has {} MB left and {} MB are kept free (archive.min_free_disk, or an eighth of the store); waiting for room",
                free / 1_000_000,
                least / 1_000_000
            )
        });
    }
}
