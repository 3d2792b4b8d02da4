//! The director: hands out URLs, collects groups, decides when a crawl is done.
//!
//! One task owns the frontier and hears of everything through one bounded channel. It never
//! touches the disk: the committer does, one group at a time. This file is the loop and what it
//! hears; [`grouping`] collects pages and commits them, [`ending`] watches limits, room and the
//! end, [`showing`] tells how it stands, [`looking`] what is being done, [`sites`] excludes and
//! forgives, [`refusing`] and [`filtering`] say what is not asked for, [`parts`] works as one of many.

mod active;
mod again;
mod best;
pub(crate) mod budgets;
pub(crate) mod caps;
mod committing;
mod ending;
mod errands;
mod filtering;
mod fronts;
mod grouping;
mod looking;
mod manners;
mod news;
mod parts;
mod put_off;
mod quotas;
mod rechecks;
mod refusing;
mod showing;
mod sites;
pub(crate) mod topic;
mod traps;

use crate::data_dir::DataDir;
use crate::fleet::{Block, Membership};
use crate::group::{Event, PageDone};
use crate::live::{Live, Meter};
use crate::order::Picked;
use crate::robots::{Asker, ask_robots, locate};
use crate::run::{Ended, EngineError, Instruction, SiteChange};
use crate::settings::{EngineSettings, gap};
use crate::traps::Named;
use crate::visit::{Shared, visit};
use active::Active;
use again::Again;
pub use again::{Return, Tally};
use argiope_frontier::{
    Answered, Delays, Entry, Exclusions, Frontier, Merits, Politeness, Refill, SkipReason, Task,
    first_place_of_links, place_of_seed,
};
use argiope_model::{CanonicalUrl, HostKey, Job, JobId, JobState, Order, Role, Time, UrlKey};
use argiope_store::{Batch, Discovery, JobChange, JobRow, Next, StoreError};
use caps::{Caps, beyond_the_cap, is_raised};
pub(crate) use committing::Committing;
use looking::Doing;
pub(crate) use looking::Stage;
pub use news::NewsTally;
use news::NewsWatch;
pub use put_off::PutOff;
use quotas::Fit;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::{Arc, Weak, mpsc as blocking};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// A group closes at this many pages …
const GROUP_PAGES: usize = 64;
/// … or bytes …
const GROUP_BYTES: u64 = 4 << 20;
/// … or after this long.
const GROUP_MS: i64 = 200;
/// How long requests under way may take to end after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// A visit that panicked has told nobody of its end: the run fails rather than waits for it.
fn unless_panicked(ended: Result<(), tokio::task::JoinError>) -> Result<(), EngineError> {
    match ended {
        Err(e) if e.is_panic() => Err(EngineError::Failed(Arc::new(e))),
        _ => Ok(()),
    }
}

pub(crate) struct Director {
    frontier: Frontier,
    visits: JoinSet<()>,
    jobs: BTreeMap<JobId, Active>,
    /// Visits under way, by number.
    under_way: BTreeMap<u64, Doing>,
    /// Bytes of those bodies.
    in_work: u64,
    /// Pages back before an earlier visit that they must not overtake.
    held: BTreeMap<u64, PageDone>,
    /// Pages back and not yet given to the committer.
    pending: VecDeque<PageDone>,
    pending_bytes: u64,
    /// When the oldest of them came.
    oldest: Option<Time>,
    /// Pages the committer has.
    committing: usize,
    busy: bool,
    committed_at: Time,
    /// How long the last commit took.
    commit_took: Duration,
    committer: Option<Committing>,
    /// What the next group carries besides its pages.
    batch: Batch,
    /// Lines for the crawl log besides those of the pages.
    log: Vec<String>,
    next_page: u64,
    /// Where the numbers end that are ours.
    pages_end: u64,
    /// The fleet that this is one of; `None` for whoever crawls alone.
    member: Option<Membership>,
    /// Partitions to be given to somebody else.
    leaving: Option<BTreeSet<u16>>,
    /// The names that are excluded by the word of the store, where that is news.
    excluded_by_others: Option<Vec<(Box<str>, Time)>>,
    /// Hosts whose robots.txt others were asked for: until when it is waited for, and where it lies.
    asked_elsewhere: BTreeMap<HostKey, (Time, CanonicalUrl)>,
    /// Pages that wait for this worker's share of their job's bytes; they count as under way.
    short: Vec<PageDone>,
    /// Hosts that somebody left claimed may have been asked until then.
    unclean_since: Time,
    /// The first commit is made: the order is in the store.
    given: bool,
    /// When the store has a host or a calendar row that is due.
    next_due: Option<Time>,
    /// That is to be looked for again after the commit under way.
    look_again: bool,
    /// Jobs were opened or closed: the hosts' rows are to be read anew.
    read_anew: bool,
    stopping: bool,
    /// The last commit is being made.
    closing: bool,
    /// Why nothing new is asked for.
    no_room: Option<String>,
    /// Not even what is under way can be kept.
    full_disk: bool,
    disk_asked: Time,
    /// Room the store wants to keep, and when it was asked for.
    store_room: u64,
    store_asked: Time,
    shown: Time,
    /// When traps were looked through, how many are paused, which are suspected.
    traps_shown: (Time, usize, Vec<Named>),
    /// When what has changed since is to be shown.
    show_due: Option<Time>,
    meter: Meter,
    newest: Option<CanonicalUrl>,
    begun: Time,
    fetched_before: u64,
    bytes_before: u64,
    /// What is come back to.
    again: Again,
    /// The sites whose news are followed.
    news: NewsWatch,
    /// What was excluded by hand.
    exclusions: Exclusions,
    /// Delays that were set by hand.
    delays: Delays,
    /// Pages of sites, where a job takes only so many.
    caps: Caps,
    /// Why that cannot be known.
    cap_problem: Option<StoreError>,
    /// When budgets were written down, and for how many milliseconds they are not again.
    budgets_kept: Time,
    budgets_pause: i64,
    /// What example pages redirect to.
    examples: HashSet<UrlKey>,
    /// Whether topics have learned something since they were written down, when that was, and how long it took.
    topics_changed: bool,
    topics_kept: Time,
    topics_took: i64,
    /// Sites that were known then.
    budgets_known: usize,
    /// Sites to be forgiven, once nothing is being committed.
    to_forgive: Vec<SiteChange>,
    /// Those who look for what comes back under a changed filter.
    looked_for: Vec<Weak<()>>,
    /// Who wants to hear of the next commit, and who of the one being made.
    told_next: Vec<blocking::SyncSender<()>>,
    told_now: Vec<blocking::SyncSender<()>>,
    shared: Arc<Shared>,
    dir: Arc<DataDir>,
    live: Arc<Live>,
    settings: EngineSettings,
}

impl Director {
    pub(crate) fn new(
        shared: Arc<Shared>,
        dir: Arc<DataDir>,
        live: Arc<Live>,
        settings: EngineSettings,
        committer: Committing,
        pages: Block,
        member: Option<Membership>,
    ) -> Self {
        *live.merits() = Merits::with_bytes(settings.merit_memory());
        Director {
            frontier: Frontier::new(Politeness {
                delay: settings.delay,
                per_host: settings.per_host,
                connections: settings.connections,
                max_hosts: (settings.window_rows() / 16).max(2 * settings.connections),
                rows: settings.window_rows(),
                rule_bytes: settings.rule_memory(),
                address_gap: gap(settings.address_gap, settings.delay),
                address_exempt: settings.address_exempt.clone(),
                address_turns: member.is_some(),
                robots: settings.robots.then(|| settings.agent().to_owned()),
                patience: settings.patience.clone(),
            }),
            visits: JoinSet::new(),
            jobs: BTreeMap::new(),
            under_way: BTreeMap::new(),
            in_work: 0,
            held: BTreeMap::new(),
            pending: VecDeque::new(),
            pending_bytes: 0,
            oldest: None,
            committing: 0,
            busy: false,
            committed_at: Time(0),
            commit_took: Duration::ZERO,
            committer: Some(committer),
            batch: Batch::default(),
            log: Vec::new(),
            next_page: pages.next,
            pages_end: pages.end,
            member,
            leaving: None,
            excluded_by_others: None,
            asked_elsewhere: BTreeMap::new(),
            short: Vec::new(),
            unclean_since: shared.clock.now(),
            given: false,
            next_due: Some(Time(0)),
            look_again: false,
            read_anew: false,
            stopping: false,
            closing: false,
            no_room: None,
            full_disk: false,
            disk_asked: Time(0),
            store_room: 0,
            store_asked: Time(0),
            shown: Time(0),
            traps_shown: (Time(0), 0, Vec::new()),
            show_due: None,
            meter: Meter::default(),
            newest: None,
            begun: shared.clock.now(),
            bytes_before: 0,
            fetched_before: 0,
            again: Again::new(&settings.revisit, dir.path(), pages.next),
            news: NewsWatch::default(),
            exclusions: Exclusions::new([], shared.pinned.clone()),
            delays: Delays::default(),
            caps: Caps::default(),
            cap_problem: None,
            budgets_kept: shared.clock.now(),
            budgets_pause: 0,
            examples: HashSet::new(),
            topics_changed: false,
            topics_kept: shared.clock.now(),
            topics_took: 0,
            budgets_known: 0,
            to_forgive: Vec::new(),
            looked_for: Vec::new(),
            told_next: Vec::new(),
            told_now: Vec::new(),
            shared,
            dir,
            live,
            settings,
        }
    }

    /// Puts the order into the first batch: the job, its start URLs, and the hosts that an
    /// earlier run had loaded, which wait a full delay.
    pub(crate) fn begin(
        &mut self,
        jobs: &[JobRow],
        picked: Option<Picked>,
        claims: Vec<HostKey>,
        by_hand: (Exclusions, Delays),
        keep: Return,
    ) {
        (self.exclusions, self.delays) = by_hand;
        self.frontier.set_delays(self.delays.clone(), self.begun);
        let open = jobs.iter().filter(|row| row.state == JobState::Open);
        self.jobs = open.map(|row| (row.job.id, Active::new(row.clone()))).collect();
        if let Some(change) = picked.as_ref().and_then(Picked::change) {
            if let JobChange::New(job) | JobChange::Renew(job) = &change {
                // Start URLs are asked for again where they were given up: somebody wants to know.
                let page = self.next_page;
                self.next_page += 1;
                // Examples come first: the order goes by them.
                let like = job.aim.iter().flat_map(|aim| &aim.like);
                let starts = like.filter(|url| !job.seeds.contains(url)).chain(&job.seeds);
                let found = starts.enumerate().map(|(index, url)| {
                    let url = job.query.apply(url.clone());
                    Discovery {
                        key: url.key(&self.shared.pinned),
                        skip: self.is_excluded(&url).then_some(SkipReason::Excluded),
                        url,
                        job: job.id,
                        depth: 0,
                        place: place_of_seed(job.order, page, index),
                        role: Role::Page,
                        hops: 0,
                        again: true,
                    }
                });
                let found: Vec<Discovery> = found.collect();
                let asked = found.iter().filter(|d| d.skip.is_none());
                self.batch.forgive.extend(asked.map(|d| d.key.host));
                self.batch.discoveries.extend(found);
                let earlier = jobs.iter().find(|row| row.job.id == job.id);
                let refused = |row: &&JobRow| {
                    row.counters.skipped_site_pages > 0 && is_raised(&row.job.limits, &job.limits)
                };
                if earlier.is_some_and(|row| refused(&row)) {
                    match beyond_the_cap(&*self.shared.store, job, page) {
                        Ok(back) => self.batch.discoveries.extend(back),
                        Err(e) => self.cap_problem = Some(e),
                    }
                }
                if matches!(change, JobChange::New(_)) {
                    let row = JobRow {
                        job: (**job).clone(),
                        state: JobState::Open,
                        counters: Default::default(),
                    };
                    self.jobs.insert(job.id, Active::new(row));
                } else if let Some(active) = self.jobs.get_mut(&job.id) {
                    active.job = Arc::new((**job).clone());
                    active.row.job = (**job).clone();
                } else if let Some(row) = self.stored_job(job.id) {
                    let row = JobRow { job: (**job).clone(), state: JobState::Open, ..row };
                    self.jobs.insert(job.id, Active::new(row));
                }
            }
            self.batch.jobs.push(change);
        }
        self.begin_news(keep, jobs);
        self.keep(keep, jobs);
        self.rest_others();
        self.cover_jobs();
        for active in self.jobs.values().filter(|active| !active.rests) {
            self.fetched_before += active.row.counters.fetched;
            self.bytes_before += active.row.counters.bytes;
        }
        self.regate(self.begun);
        let limit = parts::FIRST_ROWS;
        self.batch.refills =
            claims.into_iter().map(|host| Refill { host, after: None, limit }).collect();
    }

    fn stored_job(&self, id: JobId) -> Option<JobRow> {
        let rows = self.shared.store.jobs().ok()?;
        rows.into_iter().find(|row| row.job.id == id)
    }

    pub(crate) async fn direct(
        &mut self,
        inbox: &mut mpsc::Receiver<Event>,
        stop: &mut watch::Receiver<bool>,
        orders: &mut mpsc::Receiver<Instruction>,
    ) -> Result<Ended, EngineError> {
        let mut orders_open = true;
        // The first commit must be made before anything is asked.
        self.commit(self.now(), true);
        loop {
            let now = self.now();
            if let Some(e) = self.cap_problem.take() {
                return Err(EngineError::Failed(Arc::new(e)));
            }
            self.forgive_sites()?;
            self.let_go();
            self.exclude_as_others(now);
            self.watch_errands(now);
            self.watch_quotas(now);
            self.watch_disk(now);
            self.watch_news(now);
            let late = self.watch_time(now);
            let free = self.no_room.is_none() && !self.settings.hold.is_on();
            if !self.stopping && !late && free && self.may_hand_out() {
                self.hand_out(now);
            }
            self.come_back(now)?;
            self.commit(now, false);
            self.show(now);
            if (self.stopping || late) && !self.visits.is_empty() {
                self.drain(inbox, if late { Duration::ZERO } else { GRACE }).await?;
                continue;
            }
            if self.stopping && self.full_disk && self.visits.is_empty() {
                // They cannot be kept; the next run fetches them again.
                self.pending.clear();
                self.held.clear();
            }
            if self.idle()
                && let Some(ended) = self.over(now)?
            {
                return self.close(inbox, ended).await;
            }
            let wait = self.until_next(now);
            // In this order and not by lot, so that a simulation repeats itself; what is rare and
            // must not starve comes first.
            tokio::select! {
                biased;
                changed = stop.changed(), if !self.stopping => {
                    self.stopping = changed.is_err() || *stop.borrow();
                }
                order = orders.recv(), if orders_open => match order {
                    Some(Instruction::Job(id, state, done)) => {
                        self.reorder(id, state);
                        self.told_next.extend(done);
                    }
                    Some(Instruction::Forgive(host)) => self.forgive(host)?,
                    Some(Instruction::Sites(change)) => self.change_sites(change),
                    Some(Instruction::Delay(name, ms, done)) => self.set_delay(name, ms, done),
                    Some(Instruction::Cycle(key, every, done)) => {
                        self.set_cycle(key, every)?;
                        self.told_next.push(done);
                    }
                    Some(Instruction::Filter(change, done)) => self.change_filter(change, done),
                    Some(Instruction::Again(job, found)) => self.queue_again(job, found),
                    Some(Instruction::Look(to)) => {
                        let _ = to.try_send(self.look(self.now()));
                    }
                    Some(Instruction::Stop) => self.stopping = true,
                    None => orders_open = false,
                },
                event = inbox.recv() => {
                    let Some(event) = event else { continue };
                    self.hear(event)?;
                    while let Ok(event) = inbox.try_recv() {
                        self.hear(event)?;
                    }
                }
                () = tokio::time::sleep(wait) => {}
            }
            while let Some(ended) = self.visits.try_join_next() {
                unless_panicked(ended)?;
            }
        }
    }

    /// Nothing is under way and nothing waits to be committed.
    fn idle(&self) -> bool {
        // A visit's task may have ended while its last word still waits to be heard: what counts
        // is what was heard.
        let told = self.batch.discoveries.is_empty() && self.batch.robots.is_empty();
        let told = told && self.batch.again.is_empty() && self.batch.plans.is_empty();
        let told = told && self.batch.errands.is_empty() && self.batch.robots_told.is_empty();
        let over = self.under_way.is_empty() && self.pending.is_empty() && self.held.is_empty();
        over && told && !self.busy && !self.is_looked_for()
    }

    fn now(&self) -> Time {
        self.shared.clock.now()
    }

    /// Whether the lease holds and there are numbers left; whoever crawls alone has both.
    fn may_hand_out(&mut self) -> bool {
        let Some(member) = &self.member else { return true };
        self.shared.tenure.holds() && member.refill(&mut self.next_page, &mut self.pages_end)
    }

    fn hand_out(&mut self, now: Time) {
        loop {
            // Answers wait to be parsed, pages to be committed: both are bounded.
            let answered = self.under_way.len() - self.frontier.out().min(self.under_way.len());
            let waiting = answered + self.held.len() + self.pending.len() + self.committing;
            if waiting >= GROUP_PAGES || self.pending_bytes + self.in_work >= 4 * GROUP_BYTES {
                return;
            }
            let (number, jobs) = (self.next_page, &self.jobs);
            let leads_to = |entry: &Entry| {
                let order = jobs.get(&entry.job).map_or(Order::Breadth, |a| a.job.order);
                first_place_of_links(order, entry.depth.saturating_add(1), number)
            };
            let caps = &self.caps;
            let refuses = |entry: &Entry| refusing::refusal(&self.shared, jobs, caps, entry);
            let Some(task) = self.frontier.next(now, leads_to, refuses) else { return };
            self.next_page += 1;
            let shared = self.shared.clone();
            match task {
                Task::Locate(host, url) => {
                    self.under_way.insert(number, Doing::locating(host, &url, now));
                    self.visits.spawn(locate(shared, number, host, url));
                }
                Task::Turn(ip) => {
                    if let Some(member) = &self.member {
                        member.turn(ip);
                    }
                }
                Task::Errand(errand) => {
                    self.under_way.insert(number, Doing::robots(errand.at, &errand.url, now));
                    self.visits.spawn(ask_robots(shared, Asker::Errand(errand), number));
                }
                Task::Robots(entry) => {
                    let doing = Doing::robots(entry.key.host, &entry.url.robots_txt(), now);
                    if let Some((entry, _)) = self.take_out(entry, number, doing, now) {
                        let asker = Asker::Entry(Box::new(entry));
                        self.visits.spawn(ask_robots(shared, asker, number));
                    }
                }
                Task::Visit(entry) => {
                    let doing = Doing::visiting(&entry, now);
                    let stage = doing.stage();
                    if let Some((entry, job)) = self.take_out(entry, number, doing, now) {
                        self.visits.spawn(visit(shared, job, entry, number, stage));
                    }
                }
                Task::Refuse(entry, _) if !self.jobs.contains_key(&entry.job) => {
                    self.frontier.settled(entry.key.host, entry.place, now);
                }
                Task::Refuse(entry, reason) => {
                    self.oldest.get_or_insert(now);
                    self.cap_refused(&entry, reason);
                    self.note_refused(&entry, reason, now);
                    let mut page = match self.later(&entry, reason) {
                        Some(place) => PageDone::bare(entry, number, Next::Later(place)),
                        None => PageDone::refused(entry, number, reason),
                    };
                    self.plan(&mut page, now);
                    self.pending.push_back(page);
                }
            }
        }
    }

    /// Counts a URL among those that are out. `None`: its job was paused meanwhile, and its row
    /// stays in the store.
    fn take_out(
        &mut self,
        entry: Entry,
        number: u64,
        doing: Doing,
        now: Time,
    ) -> Option<(Entry, Arc<Job>)> {
        let (host, id) = (entry.key.host, entry.job);
        let Some(active) = self.jobs.get_mut(&id) else {
            self.frontier.answered(host, Some(entry.place), Answered::default(), now);
            self.frontier.settled(host, entry.place, now);
            return None;
        };
        active.out += 1;
        let (full, job) = (active.full(), active.job.clone());
        self.under_way.insert(number, doing);
        if full {
            self.frontier.gate(id, true, now);
        }
        self.cap_out(&entry, now);
        Some((entry, job))
    }

    fn hear(&mut self, event: Event) -> Result<(), EngineError> {
        let now = self.now();
        match event {
            Event::Answered(number, host, place, answer, bytes) => {
                if let Some(doing) = self.under_way.get_mut(&number) {
                    doing.answered(bytes);
                    self.in_work += bytes;
                }
                self.frontier.answered(host, Some(place), answer, now);
            }
            Event::Done(page) => self.done(*page, now),
            Event::NoRoom(entry, number, why) => {
                self.came_back(number, now);
                tracing::warn!(url = %entry.url, why, "a body could not be kept");
                self.no_room = Some(why);
                self.disk_asked = now;
                self.back(entry.job, now);
                self.cap_back(&entry, false, now);
                self.frontier.give_back(*entry, now);
            }
            Event::Robots(done) => self.robots_done(*done, now),
            Event::Located(number, host, ip, until) => {
                self.came_back(number, now);
                self.frontier.located(host, ip, until, now);
            }
            Event::Settled(settled) => self.settled(*settled, now),
            Event::Parts(news) => self.parts_changed(news, now),
            Event::Failed(e) => return Err(EngineError::Failed(e)),
        }
        Ok(())
    }

    /// A visit of a job has come back.
    fn back(&mut self, job: JobId, now: Time) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.out -= 1;
            let full = active.full();
            self.frontier.gate(job, full, now);
        }
    }

    fn done(&mut self, mut page: PageDone, now: Time) {
        self.no_more_tries(&mut page);
        self.pause_trap(&mut page, now);
        let (id, number) = (page.entry.job, page.number);
        match self.fits(&page) {
            Fit::Yes => {}
            Fit::Wait => return self.short.push(page),
            Fit::No => return self.not_taken(page, now),
        }
        if let Some(active) = self.jobs.get_mut(&id).filter(|_| !page.entry.again) {
            let bytes = page.bytes();
            let total = active.row.counters.bytes + active.bytes + bytes;
            let limit = active.job.limits.bytes.filter(|_| active.bytes_quota.is_none());
            if limit.is_some_and(|limit| total > limit) {
                // It would exceed the limit: it is not taken in and its URL stays queued.
                active.limited = true;
                self.not_taken(page, now);
                return;
            }
            active.bytes += bytes;
            active.pages += u64::from(page.is_new_page());
        }
        self.note_work(&page, now);
        self.note_front(&mut page);
        self.tell_links(&mut page);
        self.plan(&mut page, now);
        self.back(id, now);
        self.cap_back(&page.entry, page.is_new_page(), now);
        if let Some(capture) = &page.capture {
            self.live.trail().visited(page.entry.url.as_str(), capture);
        }
        if page.is_page() {
            self.newest = Some(page.entry.url.clone());
        }
        self.held.insert(number, page);
        self.came_back(number, now);
    }

    /// A page came back and does not count: its URL stays queued.
    fn not_taken(&mut self, page: PageDone, now: Time) {
        self.back(page.entry.job, now);
        self.cap_back(&page.entry, false, now);
        self.frontier.give_back(page.entry, now);
        self.came_back(page.number, now);
    }

    fn until_next(&self, now: Time) -> Duration {
        let committable = !self.busy && !self.full_disk;
        let group = self.oldest.map(|oldest| Time(oldest.0 + GROUP_MS)).filter(|_| committable);
        let tick = self.shared.threads.then(|| Time(now.0 + 250));
        let can = !self.stopping && self.no_room.is_none() && !self.settings.hold.is_on();
        // What was due before now has been looked at: only an event can change it.
        let host = self.frontier.next_wake().filter(|wake| can && *wake > now);
        let due = self.next_due.filter(|due| can && !self.busy && *due > now);
        let ends = self.jobs.values().filter_map(|a| a.time_end(self.begun));
        let end = ends.filter(|end| *end > now).min();
        let again = self.again.next(now).filter(|_| can && !self.busy);
        let next = [group, tick, host, due, end, again, self.show_due].into_iter().flatten().min();
        let most = Duration::from_secs(3600);
        next.map_or(most, |t| t.since(now)).clamp(Duration::from_millis(1), most)
    }

    /// A change of a job asked for from outside.
    fn reorder(&mut self, id: JobId, state: JobState) {
        let Some(row) = self.stored_job(id) else {
            tracing::warn!(job = id.0, "a change was asked for of a job that is not there");
            return;
        };
        if let Err(e) = self.shared.filters.hold(&row.job) {
            tracing::error!(job = id.0, "{e}");
            return;
        }
        self.batch.jobs.push(JobChange::State(id, state));
        if state == JobState::Open {
            if !self.jobs.contains_key(&id) {
                self.fetched_before += row.counters.fetched;
                self.bytes_before += row.counters.bytes;
            }
            let active = self.jobs.entry(id).or_insert_with(|| Active::new(row));
            (active.limited, active.row.state) = (false, state);
            self.again.look_anew();
            self.shared.seen.clear();
            self.cover_jobs();
        } else if let Some(active) = self.jobs.get_mut(&id) {
            active.limited = true;
            active.row.state = state;
        }
        self.read_anew = true;
        self.regate(self.now());
    }
}
