//! Collecting pages into groups, giving them to the committer, and taking in what it says.

use super::active::Active;
use super::{Director, GROUP_BYTES, GROUP_MS, GROUP_PAGES};
use crate::group::{Group, PageDone, Settled};
use crate::links::seen_fingerprint;
use argiope_frontier::{Held, Place, SkipReason, place_of_link, place_of_redirect, place_of_score};
use argiope_model::{JobState, Order, Time};
use argiope_store::{Batch, Claims, Discovery};

/// How often the calendar is looked at for nothing but itself.
const DUE_MS: i64 = 50;

impl Director {
    /// A visit is over: pages that waited for it may go on.
    ///
    /// On one connection (to a host, or at all) pages are committed in the order of their
    /// visits, whichever is parsed first: a URL found on two of them belongs to the earlier.
    pub(super) fn came_back(&mut self, number: u64, now: Time) {
        if let Some(doing) = self.under_way.remove(&number) {
            self.in_work -= doing.bytes;
        }
        let one_at_all = self.settings.connections == 1;
        let one_a_host = self.settings.per_host == 1;
        let earlier = &self.under_way;
        let is_free = |number: u64, page: &PageDone| {
            let host = page.entry.key.host;
            let mut before = earlier.range(..number);
            !(one_at_all && before.next().is_some()
                || one_a_host && before.any(|(_, doing)| doing.host == host))
        };
        let free: Vec<u64> =
            self.held.iter().filter(|(n, page)| is_free(**n, page)).map(|(n, _)| *n).collect();
        for page in free.iter().filter_map(|number| self.held.remove(number)) {
            self.pending_bytes += page.weight();
            self.oldest.get_or_insert(now);
            self.pending.push_back(page);
        }
    }

    pub(super) fn settled(&mut self, settled: Settled, now: Time) {
        self.busy = false;
        self.committing = 0;
        self.commit_took = now.since(self.committed_at);
        self.tell_done();
        self.given = true;
        self.count_own(&settled);
        let committed = settled.committed;
        for progress in committed.jobs {
            self.job_came_further(progress);
        }
        self.count_pending();
        self.count_quotas();
        self.cap_committed(now);
        // What a page led to is offered before the page is settled: nothing overtakes it.
        for entry in committed.queued {
            if self.is_excluded(&entry.url) {
                self.leave_alone(entry.key.host, now);
            }
            self.frontier.offer(entry, now);
        }
        for (host, place) in settled.rows {
            self.frontier.settled(host, place, now);
        }
        committed
            .refills
            .iter()
            .chain(&committed.claimed)
            .for_each(|window| self.learn_scores(window));
        for window in committed.refills {
            // A host that is not loaded was claimed by a run that did not end well.
            match self.frontier.is_loaded(window.host) {
                true => self.frontier.load(window, now),
                false => self.load(window, true, now),
            }
        }
        for window in committed.claimed {
            self.load(window, false, now);
        }
        self.again.queued(committed.again);
        self.run_errands(committed.errands, now);
        self.take_robots(committed.robots_told, now);
        let again = std::mem::take(&mut self.look_again).then_some(Time(0));
        self.next_due = again.or(committed.next_due);
        self.set_limited_aside();
        self.regate(now);
    }

    /// What is back and not yet committed, counted anew after a commit.
    pub(super) fn count_pending(&mut self) {
        self.jobs.values_mut().for_each(|a| (a.pages, a.bytes) = (0, 0));
        for page in self.pending.iter().chain(self.held.values()) {
            if let Some(active) = self.jobs.get_mut(&page.entry.job) {
                active.pages += u64::from(page.is_new_page());
                active.bytes += page.bytes();
            }
        }
    }

    pub(super) fn regate(&mut self, now: Time) {
        for (id, active) in &self.jobs {
            self.frontier.gate(*id, active.full(), now);
        }
    }

    /// Gives the committer a group when one is due and it is free.
    pub(super) fn commit(&mut self, now: Time, first: bool) {
        if self.busy || (self.full_disk && !first) {
            return;
        }
        let aged = self.oldest.is_some_and(|oldest| now.0 - oldest.0 >= GROUP_MS);
        let last = !self.pending.is_empty() && self.visits_out() == 0;
        let full = self.pending.len() >= GROUP_PAGES || self.pending_bytes >= GROUP_BYTES;
        // Where every job is full, other hosts would not help: what is out decides.
        let fed = |a: &Active| a.row.state == JobState::Open && (!a.full() || a.awaits_quota());
        let starved = !self.stopping
            && self.jobs.values().any(fed)
            && self.frontier.out() < self.settings.connections
            && !self.frontier.has_ready(now);
        // What a host asked of us is written down at once.
        let sites = !self.batch.exclusions.is_empty() || !self.batch.exclude.is_empty();
        let sites = sites || !self.batch.traps.is_empty() || !self.batch.delays.is_empty();
        let notes = self.frontier.has_notes() || !self.batch.forgive.is_empty() || sites;
        let notes = notes || !self.batch.again.is_empty() || !self.batch.plans.is_empty();
        let notes = notes || !self.batch.errands.is_empty() || !self.batch.robots_told.is_empty();
        let notes = notes || !self.batch.discoveries.is_empty();
        let orders = notes || !self.batch.jobs.is_empty() || !self.batch.releases.is_empty();
        if !(first || aged || last || full || starved || orders || self.looks_at_others(now)) {
            return;
        }
        // Windows hold rows by which jobs were open when they were read; nothing is being read
        // now, so what is given back here is read under the states this batch brings.
        let mut given_back = Vec::new();
        if std::mem::take(&mut self.read_anew) {
            given_back = self.frontier.release_all();
            self.forget(&given_back);
            self.caps.unload(&given_back);
            self.next_due = Some(Time(0));
        }
        let mut wants = if self.stopping { Default::default() } else { self.frontier.wants(now) };
        // Hosts that an earlier run left claimed come with the first batch and need room too.
        wants.hosts = wants.hosts.saturating_sub(self.batch.refills.len());
        let due = self.next_due.is_some_and(|due| due <= now);
        let hosts = if due { wants.hosts } else { 0 };
        // A calendar row may be due without a host being wanted; asking has its own pace.
        let turn = due && !self.stopping && now.0 - self.committed_at.0 >= DUE_MS;
        let something = wants.refills.len() + wants.releases.len() + wants.named.len() + hosts > 0;
        let something = something || turn || orders || first;
        if !(something || aged || last || full) {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.now = now;
        batch.releases.extend(given_back);
        batch.notes.extend(self.frontier.take_notes());
        batch.refills.extend(wants.refills);
        self.forget(&wants.releases);
        self.caps.unload(&wants.releases);
        batch.releases.extend(wants.releases);
        let mut pages = Vec::new();
        let mut weight = 0;
        while pages.len() < GROUP_PAGES && weight < GROUP_BYTES {
            let Some(mut page) = self.pending.pop_front() else { break };
            weight += page.weight();
            self.discoveries(&mut page, &mut batch);
            self.cap_committing(&page);
            pages.push(page);
        }
        self.put_moved_aside(&mut batch.moves, now);
        batch.discoveries.iter().for_each(|found| self.note_news(found.key, found.job));
        // Hosts found by this very group are claimed with it.
        let found = !batch.discoveries.is_empty();
        let hosts = if found { wants.hosts } else { hosts };
        batch.claims = Claims { hosts, window: self.frontier.window(), named: wants.named };
        self.pending_bytes = self.pending.iter().map(PageDone::weight).sum();
        self.oldest = (!self.pending.is_empty()).then_some(now);
        batch.next_page = self.next_page;
        self.committing = pages.len();
        self.busy = true;
        self.told_now = std::mem::take(&mut self.told_next);
        self.keep_budgets(now, false);
        self.keep_topics(now, false);
        self.committed_at = now;
        let log = std::mem::take(&mut self.log);
        if let Some(committer) = &self.committer {
            committer.give(Group { pages, batch, log });
        }
    }

    /// Visits whose result has not come yet.
    pub(super) fn visits_out(&self) -> u64 {
        self.jobs.values().map(|a| a.out).sum()
    }

    pub(super) fn discoveries(&mut self, page: &mut PageDone, batch: &mut Batch) {
        let Some(active) = self.jobs.get(&page.entry.job) else { return };
        let best = active.job.order == Order::Best;
        if page.found.is_empty() && !best {
            return;
        }
        let job = active.job.clone();
        let number = page.number;
        self.tell_topic(&job, page, &mut batch.moves);
        let share = if best && job.aim.is_none() { self.share_of(page) } else { 0.0 };
        for found in page.found.drain(..) {
            // What was found at the end of a series may be found elsewhere yet.
            if found.skip != Some(SkipReason::Trap) {
                self.shared.seen.remember(seen_fingerprint(&job, &found.url), found.depth);
            }
            let score = best.then(|| self.score(&job, &found, share, &mut batch.moves));
            let place: Place = match (found.index, score) {
                (Some(index), Some(score)) => place_of_score(score, number, index),
                (Some(index), None) => place_of_link(job.order, found.depth, number, index),
                (None, _) => place_of_redirect(page.entry.place),
            };
            if best && found.index.is_none() {
                self.live.merits().stands_at(job.id, found.key, place);
            }
            let place = match found.index {
                Some(_) => place.with_line(found.line),
                None => place,
            };
            let back = |held| place.held_back(job.order, held == Held::Last);
            let held = found.back.filter(|_| job.order != Order::Best);
            let place = held.map_or(place, back);
            let excluded = self.is_excluded(&found.url).then_some(SkipReason::Excluded);
            let skip = self.still_skipped(&job, &found).or(excluded);
            batch.discoveries.push(Discovery {
                url: found.url,
                key: found.key,
                job: job.id,
                depth: found.depth,
                place,
                skip,
                role: found.role,
                hops: found.hops,
                again: false,
            });
        }
        self.raise_known(&job, page, share, &mut batch.moves);
    }
}
