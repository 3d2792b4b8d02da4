//! How a crawl stands, and what it came to.

use super::{Director, Return};
use crate::disk;
use crate::live::{Snapshot, summed};
use crate::run::{Ended, Summary};
use crate::traps::Named;
use argiope_frontier::Budgets;
use argiope_model::Time;
use argiope_store::JobRow;
use std::sync::atomic::Ordering::Relaxed;

/// The status is written anew this often; looking at every host costs.
const SHOW_MS: i64 = 50;

/// Suspects that are shown.
const SUSPECTS: usize = 20;

/// Traps are looked through this often.
const TRAPS_MS: i64 = 1000;

impl Director {
    /// How many patterns are paused, and which are suspected.
    fn traps_to_show(&mut self, now: Time) -> (usize, Vec<Named>) {
        if now.0 - self.traps_shown.0.0 >= TRAPS_MS {
            let known = self.shared.traps.known();
            let paused = known.iter().filter(|(_, trap)| trap.forgiven.is_none()).count();
            let mut suspects = self.shared.traps.suspects();
            suspects.truncate(SUSPECTS);
            self.traps_shown = (now, paused, suspects);
        }
        (self.traps_shown.1, self.traps_shown.2.clone())
    }

    pub(super) fn show(&mut self, now: Time) {
        self.show_due = Some(Time(self.shown.0 + SHOW_MS)).filter(|due| *due > now);
        if self.show_due.is_some() {
            return;
        }
        self.shown = now;
        let counts = self.frontier.counts();
        let rows = self.jobs.values().map(|a| &a.row);
        let mut out: Snapshot = summed(rows, counts);
        out.again = self.again.tally;
        (out.traps, out.suspects) = self.traps_to_show(now);
        out.next_visit = self.again.next(now).filter(|at| *at > now);
        let pages = out.fetched + out.again.visited;
        self.meter.note(now, pages, out.bytes, out.queued);
        self.live.trail().note(now, pages, out.errors, out.queued);
        let limits = self.jobs.values().map(|a| {
            let done = a.row.counters.fetched;
            a.job.limits.pages.map(|limit| limit.saturating_sub(done))
        });
        let to_come = limits.sum::<Option<u64>>();
        self.meter.fill(&mut out, to_come);
        out.state = match (self.stopping, &self.no_room) {
            (true, _) if self.closing => "ending",
            (true, _) => "stopping",
            (false, Some(_)) => "paused",
            (false, None) if self.again.keep == Return::Watch => "watching",
            (false, None) => "crawling",
        }
        .to_owned();
        out.note = self.no_room.clone();
        out.brake = match self.settings.hold.is_on() {
            true => Some("words are being indexed as fast as they can".to_owned()),
            false => self.brake(now),
        };
        out.requests = self.frontier.out();
        out.sites_over_budget = self.frontier.budgets().map_or(0, Budgets::over);
        out.sites_capped = self.caps.reached();
        out.connections = self.shared.web.open_connections();
        out.elapsed_s = now.since(self.begun).as_secs_f64();
        out.newest = self.newest.as_ref().map(|u| u.as_str().to_owned());
        let wake = self.frontier.next_wake().or(self.next_due);
        out.next_host_ms = wake.map(|t| t.since(now).as_millis() as u64);
        let answered = self.under_way.len() - out.requests.min(self.under_way.len());
        let waiting = self.held.len() + self.pending.len() + self.committing;
        let counted = self.live.counted();
        counted.parsing.store(answered as u64, Relaxed);
        counted.to_commit.store(waiting as u64, Relaxed);
        counted.rows.store(self.frontier.rows() as u64, Relaxed);
        self.live.set(out);
    }

    /// Whether the order that the run began with is in the store.
    pub(crate) fn is_given(&self) -> bool {
        self.given
    }

    /// Hangs up on the committer, ends what is still under way, and says what the run came to.
    pub(crate) async fn end(mut self) -> Summary {
        self.committer = None;
        self.visits.shutdown().await;
        let worked_on = self.jobs.values().filter(|active| !active.rests);
        let jobs: Vec<JobRow> = worked_on.map(|a| a.row.clone()).collect();
        let own = self.member.is_some().then(|| self.shared.tenure.counted());
        let fetched: u64 = jobs.iter().map(|r| r.counters.fetched).sum();
        let bytes: u64 = jobs.iter().map(|r| r.counters.bytes).sum();
        Summary {
            ended: Ended::Stopped,
            jobs,
            elapsed: self.now().since(self.begun),
            // The jobs' counters tell what all have done.
            fetched: own.map_or(fetched - self.fetched_before.min(fetched), |own| own.0),
            bytes: own.map_or(bytes - self.bytes_before.min(bytes), |own| own.1),
            peak_memory: disk::peak_memory(),
            again: self.again.tally,
            capped_sites: self.caps.reached(),
            news: self.news.tally,
            put_off: self.news.put_off,
        }
    }
}
