//! The news job of a run: made and renewed as sites are followed, its cadence, and what came of it.
//!
//! * A watch, and a run for news alone, take care that there is a job for the sites that are followed. A
//!   watch looks every few seconds whether others are followed now: their front pages are queued, and those
//!   of sites that are not followed any more are left alone.
//! * What was left alone because its site was not followed, or had been given up, is asked for when all rows
//!   are looked at: as a run begins, when sites are followed again, and a day after a host was given up.
//! * In a run for news alone all other jobs rest: nothing of theirs is asked for, counted or changed.
//! * Which links are followed and how often is `gather`'s; coming back is `again`'s.

use super::active::Active;
use super::put_off::PutOff;
use super::{Director, Return};
use crate::fronts::feeds;
use crate::gather::{Cadence, FRONT, Kind, SECTION, SLOW, is_gone};
use crate::group::PageDone;
use crate::order::{Picked, pick_news};
use argiope_frontier::{Entry, Manner, Place, SkipReason, place_of_link, place_of_seed};
use argiope_model::{CanonicalUrl, HostKey, Job, JobId, JobState, OutcomeKind, Role, Time, UrlKey};
use argiope_store::{Discovery, JobRow, Next, UrlHead, UrlRow, UrlState};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How often it is looked whether other sites are followed.
const LOOK_MS: i64 = 2_000;

/// What came of looking for the news of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewsTally {
    /// Front pages, and fronts of sections, that were read.
    pub fronts: u64,
    /// Feeds and sitemaps that were read.
    pub feeds: u64,
    /// Articles that were not known before.
    pub new: u64,
    /// Articles that have changed.
    pub changed: u64,
    /// Articles that are as they were.
    pub unchanged: u64,
    /// Articles that lead elsewhere on their site now.
    pub moved: u64,
    /// Articles that are no more.
    pub gone: u64,
    /// Articles that could not be had.
    pub failed: u64,
    /// Front pages and feeds that could not be had.
    pub unread: u64,
}

/// What a run knows of its news.
#[derive(Default)]
pub(super) struct NewsWatch {
    /// Whether it is looked again which sites are followed, and when that was.
    looks: bool,
    looked: Time,
    pub(super) tally: BTreeMap<String, NewsTally>,
    /// When somebody last answered well.
    pub(super) worked: Time,
    /// What a round has left to the next one, by site, and when it looked for that.
    pub(super) put_off: BTreeMap<String, PutOff>,
    pub(super) put_off_looked: Time,
    /// Fronts that were guessed, by site, and that nobody has answered at.
    pub(super) silent: BTreeMap<String, BTreeMap<CanonicalUrl, OutcomeKind>>,
    /// Of a run for news alone: the hosts that have some.
    pub(super) hosts: BTreeSet<HostKey>,
    /// When hosts that were given up may be tried again, where something was to be asked of them.
    reconsider: Option<Time>,
}

impl Director {
    /// Finds or makes the news job, where this run is one that collects news.
    pub(super) fn begin_news(&mut self, keep: Return, jobs: &[JobRow]) {
        let only = self.settings.news.only;
        if self.member.is_some() || !(only || keep == Return::Watch) {
            return;
        }
        (self.news.looks, self.news.looked) = (keep == Return::Watch, self.begun);
        self.news.worked = self.begun;
        self.renew_news(jobs);
    }

    /// In a run for news alone other jobs rest.
    pub(super) fn rest_others(&mut self) {
        if self.settings.news.only {
            let others = self.jobs.values_mut().filter(|active| !active.job.news);
            others.for_each(|active| active.rests = true);
        }
    }

    /// The job for the sites that are followed now, with their front pages and the feeds they name.
    fn renew_news(&mut self, jobs: &[JobRow]) {
        let (sites, now) = (self.shared.gather.sites(), self.now());
        let Some(picked) = pick_news(&sites, jobs, &self.shared.suffixes, now) else { return };
        let Some(change) = picked.change() else { return };
        let (Picked::New(job) | Picked::Resumed(job)) = picked else { return };
        let earlier = jobs.iter().find(|row| row.job.id == job.id);
        // Who has set it aside wants no news, unless they are asked for.
        let aside = earlier.is_some_and(|row| row.state == JobState::Paused);
        if aside && !self.settings.news.only {
            return;
        }
        if let Err(e) = self.shared.filters.hold(&job) {
            tracing::error!(job = job.id.0, "{e}");
            return;
        }
        let page = self.next_page;
        self.next_page += 1;
        let mut starts: Vec<(CanonicalUrl, Role)> = Vec::new();
        for recipe in sites.recipes().iter().filter(|recipe| self.shared.gather.means(recipe)) {
            self.news.tally.entry(recipe.site.clone()).or_default();
            let fronts = self.choose_fronts(recipe);
            starts.extend(fronts.into_iter().map(|url| (url, Role::Page)));
            starts.extend(feeds(recipe).into_iter().map(|url| (url, Role::Sitemap)));
        }
        for (index, (url, role)) in starts.into_iter().enumerate() {
            self.start_at(&job, url, role, place_of_seed(job.order, page, index));
        }
        self.batch.jobs.push(change);
        self.take_on(*job, earlier);
    }

    /// Queues a front page or a feed.
    pub(super) fn start_at(&mut self, job: &Job, url: CanonicalUrl, role: Role, place: Place) {
        let key = url.key(&self.shared.pinned);
        let skip = self.is_excluded(&url).then_some(SkipReason::Excluded);
        // Who was given up is tried again; what a host has asked for is kept.
        let known = self.shared.blocking(|| self.shared.store.hosts(&[key.host])).ok();
        let known = known.and_then(|mut rows| rows.pop().flatten());
        if skip.is_none() && known.is_some_and(|host| host.temper.given_up.is_some()) {
            self.batch.forgive.push(key.host);
        }
        let depth = if role == Role::Page { FRONT } else { SECTION };
        let (job, hops, again) = (job.id, 0, true);
        self.batch.discoveries.push(Discovery {
            key,
            url,
            job,
            depth,
            place,
            skip,
            role,
            hops,
            again,
        });
    }

    fn take_on(&mut self, job: Job, earlier: Option<&JobRow>) {
        if let Some(active) = self.jobs.get_mut(&job.id) {
            active.job = Arc::new(job.clone());
            active.row.job = job;
            return;
        }
        let counters = earlier.map(|row| row.counters.clone()).unwrap_or_default();
        let row = JobRow { job, state: JobState::Open, counters };
        self.jobs.insert(row.job.id, Active::new(row));
        self.read_anew = true;
    }

    /// Of a watch: other sites may be followed now.
    pub(super) fn watch_news(&mut self, now: Time) {
        if self.news.reconsider.is_some_and(|at| at <= now) {
            self.news.reconsider = None;
            self.again.look_anew();
        }
        // What is being committed may leave alone what is to be asked for again.
        let soon = now.0 - self.news.looked.0 < LOOK_MS || self.busy;
        if !self.news.looks || soon || self.stopping {
            return;
        }
        self.news.looked = now;
        let gather = &self.shared.gather;
        if !self.shared.blocking(|| gather.look_again(now)) {
            return;
        }
        let Ok(jobs) = self.shared.blocking(|| self.shared.store.jobs()) else { return };
        let before = self.jobs.len();
        self.renew_news(&jobs);
        if self.jobs.len() > before {
            self.cover_jobs();
            let active = self.jobs.values().filter(|active| active.job.news);
            let (fetched, bytes) = active.fold((0, 0), |(pages, bytes), active| {
                let counters = &active.row.counters;
                (pages + counters.fetched, bytes + counters.bytes)
            });
            (self.fetched_before, self.bytes_before) =
                (self.fetched_before + fetched, self.bytes_before + bytes);
        }
        self.shared.seen.clear();
        let refused = Next::Done(UrlState::Skipped(SkipReason::Excluded));
        self.take_back(now, |director, page| {
            let entry = &page.entry;
            page.next == refused
                && director.is_for_news(entry.job)
                && director.shared.gather.site_of(&entry.url).is_some()
                && !director.is_excluded(&entry.url)
        });
        self.again.look_anew();
        self.regate(now);
    }

    fn is_for_news(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|active| active.job.news)
    }

    /// Remembers where a run for news alone has some.
    pub(super) fn note_news(&mut self, key: UrlKey, job: JobId) {
        if self.settings.news.only && self.is_for_news(job) {
            self.news.hosts.insert(key.host);
        }
    }

    /// Something is not asked for: where its host was given up, that is not for ever.
    pub(super) fn note_refused(&mut self, entry: &Entry, reason: SkipReason, now: Time) {
        let given_up = reason == SkipReason::GivenUp && !entry.again;
        if given_up && self.is_for_news(entry.job) {
            self.news.reconsider.get_or_insert(now.plus(SLOW));
        }
    }

    /// Whether news were left alone because of their site, which is followed in this run.
    pub(super) fn is_left_behind(&self, head: &UrlHead, url: &CanonicalUrl) -> bool {
        matches!(head.state, UrlState::Skipped(SkipReason::Excluded | SkipReason::GivenUp))
            && self.is_for_news(head.job())
            && self.is_wanted(head, url)
    }

    /// Queues them as if they had just been found.
    pub(super) fn ask_after_all(&mut self, key: UrlKey, row: UrlRow) {
        let (job, depth, role, hops) = (row.job(), row.depth, row.role, row.hops);
        let Some(active) = self.jobs.get(&job) else { return };
        let place = place_of_link(active.job.order, depth, self.next_page, 0);
        self.next_page += 1;
        let (url, skip, again) = (row.url, None, true);
        let found = Discovery { url, key, job, depth, place, skip, role, hops, again };
        self.batch.discoveries.push(found);
    }

    /// How often a row of a job is looked at for its news; `None` where the job is another.
    pub(super) fn cadence(&self, head: &UrlHead, url: &CanonicalUrl, now: Time) -> Option<Cadence> {
        let failures = head.plan.map_or(0, |plan| plan.failures);
        let kind = Kind::of(head.role, head.depth);
        let moved = head.state == UrlState::Redirected;
        self.cadence_of(head.job(), url, (kind, moved), head.first_seen, failures, now)
    }

    pub(super) fn cadence_of(
        &self,
        job: JobId,
        url: &CanonicalUrl,
        (kind, moved): (Kind, bool),
        first_seen: Time,
        failures: u8,
        now: Time,
    ) -> Option<Cadence> {
        let active = self.jobs.get(&job).filter(|active| active.job.news)?;
        // Where an article leads elsewhere, it is there that changes are found.
        let first_seen = if moved && kind == Kind::Article { Time(0) } else { first_seen };
        let is_seed = active.job.seeds.contains(url);
        Some(self.shared.gather.cadence(url, kind, is_seed, first_seen, failures, now))
    }

    /// Whether an answer in place of an article says that there is none any more.
    pub(super) fn is_gone(&self, page: &PageDone) -> bool {
        let is_article = Kind::of(page.entry.role, page.entry.depth) == Kind::Article;
        let (Some(capture), true) = (&page.capture, is_article) else { return false };
        let sites = self.shared.gather.sites();
        is_gone(sites.of(&page.entry.url), &capture.outcome)
    }

    /// A round for news goes on while hosts answer.
    pub(super) fn note_work(&mut self, page: &PageDone, now: Time) {
        let outcome = page.capture.as_ref().map(|capture| &capture.outcome);
        if outcome.is_some_and(|outcome| Manner::of(outcome) == Manner::Good) {
            self.news.worked = now;
        }
    }

    /// Counts a visit for the site it was made for.
    pub(super) fn count_news(&mut self, page: &PageDone, changed: bool, stands_in: bool) {
        let is_news = self.jobs.get(&page.entry.job).is_some_and(|active| active.job.news);
        let kind = Kind::of(page.entry.role, page.entry.depth);
        // An article that was not asked for says nothing; a front page that is not shows nothing.
        if !is_news || (page.capture.is_none() && kind == Kind::Article) {
            return;
        }
        let Some(site) = self.shared.gather.site_of(&page.entry.url) else { return };
        let gone = kind == Kind::Article && self.is_gone(page);
        let guess = self.news.silent.get(&site);
        if guess.is_some_and(|silent| silent.contains_key(&page.entry.url)) {
            return;
        }
        let tally = self.news.tally.entry(site).or_default();
        let fetched = match page.next {
            _ if gone => {
                tally.gone += 1;
                return;
            }
            // What it leads to is counted there too.
            Next::Done(UrlState::Redirected) if kind == Kind::Article && page.entry.again => {
                tally.moved += 1;
                return;
            }
            Next::Done(UrlState::Fetched) => !stands_in,
            // Where it leads is counted there.
            Next::Done(UrlState::Redirected) => return,
            _ => false,
        };
        *match (kind, fetched) {
            (Kind::Front, true) => &mut tally.fronts,
            (Kind::Feed, true) => &mut tally.feeds,
            (Kind::Front | Kind::Feed, false) => &mut tally.unread,
            (Kind::Article, false) => &mut tally.failed,
            (Kind::Article, true) if !page.entry.again => &mut tally.new,
            (Kind::Article, true) if changed => &mut tally.changed,
            (Kind::Article, true) => &mut tally.unchanged,
        } += 1;
    }
}
