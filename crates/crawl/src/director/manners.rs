//! What hosts ask of us: robots.txt, sitemaps named there, patience, forgiveness.

use super::Director;
use super::sites::out_of_reach;
use crate::gather::sitemaps_worth_reading;
use crate::group::{PageDone, RobotsDone, RobotsResult};
use crate::links::seen_fingerprint;
use crate::log::robots_line;
use crate::robots::Asker;
use crate::run::EngineError;
use crate::sites::forgiving;
use crate::visit::tries;
use argiope_frontier::{
    Admission, Brake, Entry, Errand, HostWindow, Release, Robots, RobotsUse, SkipReason, admit,
    place_of_seed,
};
use argiope_model::{CanonicalUrl, Capture, Directives, FetchOutcome, HostKey, JobId, Role, Time};
use argiope_store::{Discovery, JobChange, Next, RobotsTold, UrlState};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// So many sitemaps of one robots.txt are read.
const MAX_SITEMAPS: usize = 100;
/// Hosts that wait shorter than this are not worth a word.
const NOTICED: Duration = Duration::from_millis(500);

impl Director {
    /// A robots.txt was asked for.
    pub(super) fn robots_done(&mut self, mut done: RobotsDone, now: Time) {
        self.came_back(done.number, now);
        self.log.push(robots_line(&done));
        let mut elsewhere = matches!(done.asker, Asker::Errand(_));
        if let RobotsResult::Elsewhere(url) = &done.result
            && self.is_excluded(url)
        {
            elsewhere = true;
            done.result = RobotsResult::File(out_of_reach(url, now));
        }
        if let RobotsResult::Elsewhere(url) = &done.result
            && !self.is_ours(url.host_key(&self.shared.pinned))
            && let Some(known) = self.anothers_robots(url, now)
        {
            elsewhere = true;
            done.result = RobotsResult::File(known);
        }
        let outcome = done.outcome();
        let (at, host) = (done.asker.at(), done.asker.robots_of());
        let place = match &done.asker {
            Asker::Entry(entry) => Some(entry.place),
            Asker::Errand(_) => None,
        };
        self.frontier.answered(at, place, done.answered, now);
        let (entry, hops, job) = match done.asker {
            Asker::Entry(entry) => {
                let job = entry.job;
                (Some(*entry), 0, job)
            }
            Asker::Errand(errand) => (None, errand.hops, errand.job),
        };
        if let Some(entry) = &entry {
            self.back(entry.job, now);
            self.cap_back(entry, false, now);
        }
        let used = match done.result {
            RobotsResult::Elsewhere(url) => {
                let at = url.host_key(&self.shared.pinned);
                let errand = Errand { robots_of: host, at, url, hops: hops + 1, job };
                match self.is_ours(at) {
                    true => self.frontier.robots_elsewhere(errand, now),
                    false => self.ask_owner(errand, now),
                }
                RobotsUse::Taken
            }
            RobotsResult::File(file) if !self.answers_for(host) => {
                let told = RobotsTold { of: host, url: done.url.clone(), job, file };
                self.batch.robots_told.push(told);
                RobotsUse::Taken
            }
            RobotsResult::File(file) => {
                let used = self.frontier.robots_answered(host, &file, elsewhere, now);
                if used == RobotsUse::Taken {
                    self.learn(host, &done.url, [job].into(), now);
                    self.batch.robots.push((host, file));
                    self.oldest.get_or_insert(now);
                }
                used
            }
        };
        let Some(entry) = entry else { return };
        if used == RobotsUse::None && !self.is_excluded(&entry.url) {
            self.not_now(entry, done.number, &outcome, done.started, now);
        } else {
            self.frontier.give_back(entry, now);
        }
    }

    /// The rules of a page's host cannot be had: the page was not asked for, and that is an
    /// outcome of its own, tried again like any other.
    fn not_now(
        &mut self,
        entry: Entry,
        number: u64,
        outcome: &FetchOutcome,
        time: Time,
        now: Time,
    ) {
        let why = match (&outcome.detail, outcome.status) {
            (Some(detail), _) => format!("robots.txt: {detail}"),
            (None, status) => format!("robots.txt answered {status}; not now"),
        };
        let outcome = FetchOutcome::with_detail(outcome.kind, outcome.status, why);
        let next =
            if outcome.is_transient() && entry.attempts < tries(&outcome, self.settings.retries) {
                let wait = self.settings.retry_delay * (1 << entry.attempts.min(10));
                Next::Retry(now.plus(wait))
            } else {
                Next::Done(UrlState::Failed)
            };
        let capture = Capture {
            doc: entry.doc,
            job: entry.job,
            time,
            outcome,
            record: None,
            revisit: false,
            text: None,
            mime: "".into(),
            bytes: 0,
            payload_digest: [0; 20],
            body_digest: [0; 32],
            last_modified: None,
            etag: None,
            elapsed_ms: u32::try_from(now.since(time).as_millis()).unwrap_or(u32::MAX),
            directives: Directives::default(),
            verdict: None,
        };
        self.live.trail().visited(entry.url.as_str(), &capture);
        let mut page = PageDone { capture: Some(capture), ..PageDone::bare(entry, number, next) };
        self.note_front(&mut page);
        self.plan(&mut page, now);
        self.pending_bytes += page.weight();
        self.oldest.get_or_insert(now);
        self.pending.push_back(page);
    }

    /// Loads a host, with what is known of its rules; `unclean` where an earlier run left its
    /// claim open.
    pub(super) fn load(&mut self, mut window: HostWindow, unclean: bool, now: Time) {
        let host = window.host;
        // It may have been excluded, or forgiven, while it was being read.
        if let Some(first) = window.entries.first() {
            window.temper.excluded = self.is_excluded(&first.url);
        }
        let first = window.entries.first().filter(|_| window.robots.is_some());
        let known = first.map(|entry| entry.url.robots_txt());
        let jobs = window.entries.iter().map(|e| e.job).collect();
        let of_site = window.entries.first().map(|entry| entry.url.clone());
        if unclean {
            self.frontier.load_unclean(window, self.unclean_since, now);
        } else {
            self.frontier.load(window, now);
        }
        if let Some(url) = of_site {
            self.budget_host(host, self.shared.pinned.site_key(url.host()), now);
            self.cap_host(host, &url, now);
        }
        if let Some(robots_txt) = known {
            self.learn(host, &robots_txt, jobs, now);
        }
    }

    /// The rules of a host are known: visits judge links by them, and its sitemaps are asked for.
    pub(super) fn learn(
        &mut self,
        host: HostKey,
        robots_txt: &CanonicalUrl,
        jobs: BTreeSet<JobId>,
        now: Time,
    ) {
        let Some(robots) = self.frontier.robots(host) else { return };
        let mut rules = self.shared.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules.insert(host, robots.clone());
        drop(rules);
        if !self.settings.sitemaps || robots.sitemaps().is_empty() {
            return;
        }
        let number = self.next_page;
        self.next_page += 1;
        for job in jobs {
            self.sitemaps(host, &robots, robots_txt, job, number);
        }
        if !self.batch.discoveries.is_empty() {
            self.oldest.get_or_insert(now);
        }
    }

    fn sitemaps(
        &mut self,
        host: HostKey,
        robots: &Arc<Robots>,
        robots_txt: &CanonicalUrl,
        job: JobId,
        number: u64,
    ) {
        let Some(active) = self.jobs.get(&job) else { return };
        let job = active.job.clone();
        let named = robots.sitemaps().iter().filter_map(|to| robots_txt.join(to).ok());
        let named: Vec<CanonicalUrl> = match job.news {
            true => sitemaps_worth_reading(named.map(|url| (url, None)).collect(), self.now()),
            false => named.take(MAX_SITEMAPS).collect(),
        };
        for (index, url) in named.into_iter().enumerate() {
            let key = url.key(&self.shared.pinned);
            let fingerprint = seen_fingerprint(&job, &url);
            if self.shared.seen.knows(fingerprint, 0) || self.is_excluded(&url) {
                continue;
            }
            let admitted = key.host == host
                || matches!(
                    admit(&job, &self.shared.suffixes, &url, 0),
                    Admission::Queue | Admission::Skip(SkipReason::Extension)
                );
            if admitted {
                self.shared.seen.remember(fingerprint, 0);
                self.batch.discoveries.push(Discovery {
                    key,
                    url,
                    job: job.id,
                    depth: 0,
                    place: place_of_seed(job.order, number, index),
                    skip: None,
                    role: Role::Sitemap,
                    hops: 0,
                    again: false,
                });
            }
        }
    }

    /// Hosts that are given back: their rules are not needed any more.
    pub(super) fn forget(&self, released: &[Release]) {
        if !released.is_empty() {
            let mut rules = self.shared.rules.write().unwrap_or_else(PoisonError::into_inner);
            for release in released {
                rules.remove(&release.host);
            }
        }
    }

    /// A host is to be tried again, whatever it has done.
    pub(super) fn forgive(&mut self, host: HostKey) -> Result<(), EngineError> {
        let now = self.now();
        self.frontier.forgive(host, now);
        let page = self.next_page;
        self.next_page += 1;
        let batch = forgiving(&*self.shared.store, &[host], page, now)
            .map_err(|e| EngineError::Failed(Arc::new(e)))?;
        self.batch.forgive.extend(batch.forgive);
        self.batch.discoveries.extend(batch.discoveries);
        for change in batch.jobs {
            if let JobChange::State(id, state) = change {
                self.reorder(id, state);
            }
        }
        Ok(())
    }

    /// Why politeness is what holds the crawl back, where it is.
    pub(super) fn brake(&self, now: Time) -> Option<String> {
        if let Some(held) = self.held_words() {
            return Some(held);
        }
        let counts = self.frontier.counts();
        let held = counts.waiting > 0 && counts.ready == 0 && !self.stopping;
        let room = self.frontier.out() * 2 < self.settings.connections;
        let wake = self.frontier.next_wake()?;
        if !(held && room) || (wake.since(now) < NOTICED && self.settings.delay < NOTICED) {
            return None;
        }
        let (gap, brake) = self.frontier.next_gap()?;
        // Our own delay holds for all of them, anything else for the one that comes next.
        let hosts = match (counts.loaded, brake) {
            (1, _) => "the host is".to_owned(),
            (n, Brake::Delay) => format!("each of {n} hosts is"),
            (_, _) => "the host that comes next is".to_owned(),
        };
        let why = match brake {
            Brake::Delay => "",
            Brake::Hand => " (that was set by hand)",
            Brake::Robots => " (its robots.txt asks for that)",
            Brake::Temper => " (it answers slowly or badly)",
        };
        Some(format!("{hosts} asked every {} s at most{why}", gap.as_secs_f64()))
    }
}
