//! The director: hands out URLs, collects groups, decides when a crawl is done.
//!
//! One task owns the frontier and hears of everything through one bounded channel. It never
//! touches the disk: the committer does, one group at a time.

use crate::committer::{Committer, earliest};
use crate::data_dir::DataDir;
use crate::group::{Event, Group, PageDone, Settled};
use crate::live::{Live, Meter, Snapshot, summed};
use crate::order::Picked;
use crate::settings::EngineSettings;
use crate::visit::{Shared, seen_fingerprint, visit};
use crate::{clock, disk};
use argiope_archive::{SegmentKind as ArchiveKind, Segments, WarcInfo};
use argiope_fetch::Fetcher;
use argiope_frontier::{
    Answered, Entry, Frontier, Place, Politeness, Refill, Release, SeenCache, place_of_link,
    place_of_redirect, place_of_seed,
};
use argiope_model::{CanonicalUrl, HostKey, Job, JobId, JobState, Order, Suffixes, Time};
use argiope_store::{
    Batch, Claims, Discovery, JobChange, JobRow, Next, SegmentKind, Store, UrlState,
};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, mpsc as blocking};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

/// A group closes at this many pages …
const GROUP_PAGES: usize = 64;
/// … or bytes …
const GROUP_BYTES: u64 = 4 << 20;
/// … or after this long.
const GROUP_MS: i64 = 200;
/// How often the calendar is looked at for nothing but itself.
const DUE_MS: i64 = 50;
/// How long the disk is left alone before free room is asked for again.
const DISK_MS: i64 = 20;
/// Room a group needs beyond its own bytes: the store's journal and tables.
const COMMIT_ROOM: u64 = 16 << 20;
/// How long requests under way may take to end after a stop.
const GRACE: Duration = Duration::from_secs(5);

/// A failure of our own; what the web does is never one.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The committer or a visit failed.
    #[error(
        "the crawl cannot go on; nothing that was acknowledged is lost, and the same command goes on later"
    )]
    Failed(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The archive or the spool cannot be opened.
    #[error("the crawl cannot start")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Rows are queued and none can be reached: a bug of ours, told rather than hung on.
    #[error("{0} URLs are queued and none of them can be reached; please report this")]
    Stuck(u64),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Nothing is left.
    Done,
    /// A limit was reached.
    Limit,
    /// It was asked to stop.
    Stopped,
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Why it ended.
    pub ended: Ended,
    /// The jobs worked on, as they are now.
    pub jobs: Vec<JobRow>,
    /// How long it took.
    pub elapsed: Duration,
    /// Pages fetched in this run.
    pub fetched: u64,
    /// Body bytes received in this run.
    pub bytes: u64,
    /// The most memory held, in bytes.
    pub peak_memory: u64,
}

/// Everything a run needs.
pub struct Run {
    /// The directory, owned.
    pub dir: Arc<DataDir>,
    /// Its store.
    pub store: Arc<dyn Store>,
    /// How to crawl.
    pub settings: EngineSettings,
    /// The job given; `None` goes on with all open ones.
    pub picked: Option<Picked>,
    /// Where the status is shown.
    pub live: Arc<Live>,
    /// Becomes true when the run is to end.
    pub stop: watch::Receiver<bool>,
    /// Changes of jobs asked for from outside.
    pub orders: mpsc::Receiver<(JobId, JobState)>,
}

/// A job being worked on.
struct Active {
    job: Arc<Job>,
    row: JobRow,
    /// Handed out and not yet back.
    out: u64,
    /// Pages back and not yet committed.
    pages: u64,
    /// Their bytes.
    bytes: u64,
    /// A limit is reached: nothing more is handed out.
    limited: bool,
}

impl Active {
    fn new(row: JobRow) -> Self {
        Active { job: Arc::new(row.job.clone()), row, out: 0, pages: 0, bytes: 0, limited: false }
    }

    /// Pages that are or may be fetched when everything handed out comes back well.
    fn pages_at_most(&self) -> u64 {
        let counters = &self.row.counters;
        counters.fetched + counters.unchanged + self.pages + self.out
    }

    /// Whether it stays full, whatever becomes of what is handed out.
    fn at_limit(&self) -> bool {
        let done = self.row.counters.fetched + self.row.counters.unchanged;
        self.limited || self.job.limits.pages.is_some_and(|limit| done >= limit)
    }

    /// When its time is up, in a run begun then.
    fn time_end(&self, begun: Time) -> Option<Time> {
        self.job.limits.time_ms.map(|ms| begun.plus(Duration::from_millis(ms)))
    }

    fn full(&self) -> bool {
        self.limited || self.job.limits.pages.is_some_and(|limit| self.pages_at_most() >= limit)
    }
}

/// Crawls until nothing is left, a limit is reached or a stop is asked for.
pub async fn run(run: Run) -> Result<Summary, EngineError> {
    let Run { dir, store, settings, picked, live, mut stop, mut orders } = run;
    let begun = clock();
    let (events, mut inbox) = mpsc::channel::<Event>(1024);
    let (to_committer, groups) = blocking::sync_channel::<Group>(1);
    let shared = Arc::new(open_shared(&dir, store.clone(), &settings, events.clone())?);
    let committer = open_committer(&dir, store.clone(), &settings)?;
    let committing = std::thread::Builder::new()
        .name("committer".to_owned())
        .spawn(move || committer.run(groups, events))
        .map_err(|e| EngineError::Start(e.into()))?;

    let start = |e: argiope_store::StoreError| EngineError::Start(e.into());
    let rows = store.jobs().map_err(start)?;
    let open = rows.iter().filter(|row| row.state == JobState::Open);
    let mut director = Director {
        frontier: Frontier::new(Politeness {
            delay: settings.delay,
            per_host: settings.per_host,
            connections: settings.connections,
            max_hosts: (settings.window_rows() / 16).max(2 * settings.connections),
            rows: settings.window_rows(),
        }),
        visits: JoinSet::new(),
        jobs: open.map(|row| (row.job.id, Active::new(row.clone()))).collect(),
        under_way: BTreeMap::new(),
        in_work: 0,
        held: BTreeMap::new(),
        pending: VecDeque::new(),
        pending_bytes: 0,
        oldest: None,
        committing: 0,
        busy: false,
        committed_at: Time(0),
        to_committer: Some(to_committer),
        batch: Batch::default(),
        next_page: store.next_page().map_err(start)?,
        next_due: Some(Time(0)),
        read_anew: false,
        stopping: false,
        no_room: None,
        full_disk: false,
        disk_asked: Time(0),
        meter: Meter::default(),
        newest: None,
        begun,
        bytes_before: 0,
        fetched_before: 0,
        shared,
        dir,
        live,
        settings,
    };
    director.begin(picked, store.claims().map_err(start)?);
    let outcome = director.direct(&mut inbox, &mut stop, &mut orders).await;
    // Hanging up ends the committer, whatever it was about to say; its thread is joined so that
    // its files are closed. Nothing of this run touches the directory afterwards.
    director.to_committer = None;
    drop(inbox);
    director.visits.shutdown().await;
    let _ = tokio::task::spawn_blocking(move || committing.join()).await;
    Ok(director.summary(outcome?))
}

/// A visit that panicked has told nobody of its end: the run fails rather than waits for it.
fn unless_panicked(ended: Result<(), tokio::task::JoinError>) -> Result<(), EngineError> {
    match ended {
        Err(e) if e.is_panic() => Err(EngineError::Failed(Arc::new(e))),
        _ => Ok(()),
    }
}

fn open_shared(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    events: mpsc::Sender<Event>,
) -> Result<Shared, EngineError> {
    let spool = dir.spool();
    let records = spool.join("records");
    let mut fetch = settings.fetch.clone();
    fetch.spool_dir = spool.join("bodies");
    fetch.body_memory = settings.body_memory();
    fetch.idle_connections = settings.connections;
    let fetcher = Fetcher::new(fetch).map_err(|e| EngineError::Start(e.into()))?;
    // What a crash left of records being made is of no use.
    let _ = std::fs::remove_dir_all(&records);
    std::fs::create_dir_all(&records).map_err(|e| EngineError::Start(e.into()))?;
    Ok(Shared {
        fetcher,
        store,
        pinned: dir.suffixes().clone(),
        suffixes: Suffixes::built_in(),
        seen: SeenCache::with_bytes(settings.seen_memory()),
        spool: records,
        archive: settings.archive,
        retries: settings.retries,
        retry_delay: settings.retry_delay,
        large: Semaphore::new(1),
        events,
    })
}

fn open_committer(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
) -> Result<Committer, EngineError> {
    let start = |e: argiope_archive::ArchiveError| EngineError::Start(e.into());
    let lengths = |kind| store.segments(kind).map_err(|e| EngineError::Start(e.into()));
    let info = WarcInfo {
        software: settings.software.clone(),
        time: clock(),
        fields: vec![("http-header-user-agent".to_owned(), settings.fetch.user_agent.clone())],
    };
    let max = settings.segment_bytes;
    let warc = match settings.archive {
        true => {
            let kind = ArchiveKind::Warc { info };
            let committed = lengths(SegmentKind::Warc)?;
            Some(Segments::open(&dir.warc(), kind, &committed, max).map_err(start)?)
        }
        false => None,
    };
    let committed = lengths(SegmentKind::Text)?;
    let text = Segments::open(&dir.text(), ArchiveKind::Text, &committed, max).map_err(start)?;
    Ok(Committer { store, warc, text })
}

struct Director {
    frontier: Frontier,
    visits: JoinSet<()>,
    jobs: BTreeMap<JobId, Active>,
    /// Visits under way, by number, with their hosts and the bodies they are working on.
    under_way: BTreeMap<u64, (HostKey, u64)>,
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
    to_committer: Option<blocking::SyncSender<Group>>,
    /// What the next group carries besides its pages.
    batch: Batch,
    next_page: u64,
    /// When the store has a host or a calendar row that is due.
    next_due: Option<Time>,
    /// Jobs were opened or closed: the hosts' rows are to be read anew.
    read_anew: bool,
    stopping: bool,
    /// Why nothing new is asked for.
    no_room: Option<String>,
    /// Not even what is under way can be kept.
    full_disk: bool,
    disk_asked: Time,
    meter: Meter,
    newest: Option<CanonicalUrl>,
    begun: Time,
    fetched_before: u64,
    bytes_before: u64,
    shared: Arc<Shared>,
    dir: Arc<DataDir>,
    live: Arc<Live>,
    settings: EngineSettings,
}

impl Director {
    /// Puts the order into the first batch: the job, its start URLs, and the hosts that an
    /// earlier run had loaded, which wait a full delay.
    fn begin(&mut self, picked: Option<Picked>, claims: Vec<HostKey>) {
        let now = self.begun;
        if let Some(change) = picked.as_ref().and_then(Picked::change) {
            if let JobChange::New(job) | JobChange::Renew(job) = &change {
                if matches!(change, JobChange::New(_)) {
                    let page = self.next_page;
                    self.next_page += 1;
                    let found = job.seeds.iter().enumerate().map(|(index, url)| {
                        let url = job.query.apply(url.clone());
                        Discovery {
                            key: url.key(&self.shared.pinned),
                            url,
                            job: job.id,
                            depth: 0,
                            place: place_of_seed(job.order, page, index),
                            skip: None,
                        }
                    });
                    self.batch.discoveries.extend(found);
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
        for active in self.jobs.values() {
            self.fetched_before += active.row.counters.fetched;
            self.bytes_before += active.row.counters.bytes;
        }
        self.regate(now);
        let limit = 64;
        self.batch.refills =
            claims.into_iter().map(|host| Refill { host, after: None, limit }).collect();
    }

    fn stored_job(&self, id: JobId) -> Option<JobRow> {
        let rows = self.shared.store.jobs().ok()?;
        rows.into_iter().find(|row| row.job.id == id)
    }

    async fn direct(
        &mut self,
        inbox: &mut mpsc::Receiver<Event>,
        stop: &mut watch::Receiver<bool>,
        orders: &mut mpsc::Receiver<(JobId, JobState)>,
    ) -> Result<Ended, EngineError> {
        let mut orders_open = true;
        // The first commit must be made before anything is asked.
        self.commit(clock(), true);
        loop {
            let now = clock();
            self.watch_disk(now);
            let late = self.watch_time(now);
            if !self.stopping && !late && self.no_room.is_none() {
                self.hand_out(now);
            }
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
            tokio::select! {
                event = inbox.recv() => {
                    let Some(event) = event else { continue };
                    self.hear(event)?;
                    while let Ok(event) = inbox.try_recv() {
                        self.hear(event)?;
                    }
                }
                () = tokio::time::sleep(wait) => {}
                changed = stop.changed(), if !self.stopping => {
                    self.stopping = changed.is_err() || *stop.borrow();
                }
                order = orders.recv(), if orders_open => match order {
                    Some((id, state)) => self.reorder(id, state),
                    None => orders_open = false,
                },
            }
            while let Some(ended) = self.visits.try_join_next() {
                unless_panicked(ended)?;
            }
        }
    }

    /// Stops the jobs whose time is up; says whether that is all that are worked on.
    fn watch_time(&mut self, now: Time) -> bool {
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

    /// Nothing is under way and nothing waits to be committed.
    fn idle(&self) -> bool {
        self.visits.is_empty() && self.pending.is_empty() && self.held.is_empty() && !self.busy
    }

    fn hand_out(&mut self, now: Time) {
        // Answers wait to be parsed, pages to be committed: both are bounded.
        let answered = self.under_way.len() - self.frontier.out().min(self.under_way.len());
        let mut room = (2 * GROUP_PAGES)
            .saturating_sub(answered + self.held.len() + self.pending.len() + self.committing);
        while room > 0 && self.pending_bytes + self.in_work < 4 * GROUP_BYTES {
            room -= 1;
            let (number, jobs) = (self.next_page, &self.jobs);
            let leads_to = |entry: &Entry| {
                let order = jobs.get(&entry.job).map_or(Order::Breadth, |a| a.job.order);
                place_of_link(order, entry.depth.saturating_add(1), number, 0)
            };
            let Some(entry) = self.frontier.next(now, leads_to) else { return };
            let Some(active) = self.jobs.get_mut(&entry.job) else {
                // A job that was paused meanwhile: its rows stay in the store.
                let host = entry.key.host;
                self.frontier.answered(host, entry.place, Answered::default(), now);
                self.frontier.settled(host, entry.place, now);
                continue;
            };
            active.out += 1;
            let full = active.full();
            let (id, job) = (entry.job, active.job.clone());
            self.next_page += 1;
            self.under_way.insert(number, (entry.key.host, 0));
            self.visits.spawn(visit(self.shared.clone(), job, entry, number));
            if full {
                self.frontier.gate(id, true, now);
            }
        }
    }

    fn hear(&mut self, event: Event) -> Result<(), EngineError> {
        let now = clock();
        match event {
            Event::Answered(number, host, place, answer, bytes) => {
                if let Some((_, body)) = self.under_way.get_mut(&number) {
                    *body = bytes;
                    self.in_work += bytes;
                }
                self.frontier.answered(host, place, answer, now);
            }
            Event::Done(page) => self.done(*page, now),
            Event::NoRoom(entry, number, why) => {
                self.came_back(number, now);
                tracing::warn!(url = %entry.url, why, "a body could not be kept");
                self.no_room = Some(why);
                self.disk_asked = now;
                self.back(entry.job, now);
                self.frontier.give_back(*entry, now);
            }
            Event::Settled(settled) => self.settled(*settled, now),
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

    fn done(&mut self, page: PageDone, now: Time) {
        let (id, number) = (page.entry.job, page.number);
        if let Some(active) = self.jobs.get_mut(&id) {
            let bytes = page.bytes();
            let total = active.row.counters.bytes + active.bytes + bytes;
            if active.job.limits.bytes.is_some_and(|limit| total > limit) {
                // It would exceed the limit: it is not taken in and its URL stays queued.
                active.limited = true;
                self.back(id, now);
                self.frontier.give_back(page.entry, now);
                self.came_back(number, now);
                return;
            }
            active.bytes += bytes;
            active.pages += u64::from(page.next == Next::Done(UrlState::Fetched));
        }
        self.back(id, now);
        if page.next == Next::Done(UrlState::Fetched) {
            self.newest = Some(page.entry.url.clone());
        }
        self.held.insert(number, page);
        self.came_back(number, now);
    }

    /// A visit is over: pages that waited for it may go on.
    ///
    /// On one connection (to a host, or at all) pages are committed in the order of their
    /// visits, whichever is parsed first: a URL found on two of them belongs to the earlier.
    fn came_back(&mut self, number: u64, now: Time) {
        if let Some((_, bytes)) = self.under_way.remove(&number) {
            self.in_work -= bytes;
        }
        let one_at_all = self.settings.connections == 1;
        let one_a_host = self.settings.per_host == 1;
        let earlier = &self.under_way;
        let is_free = |number: u64, page: &PageDone| {
            let host = page.entry.key.host;
            let mut before = earlier.range(..number);
            !(one_at_all && before.next().is_some()
                || one_a_host && before.any(|(_, (h, _))| *h == host))
        };
        let free: Vec<u64> =
            self.held.iter().filter(|(n, page)| is_free(**n, page)).map(|(n, _)| *n).collect();
        for page in free.iter().filter_map(|number| self.held.remove(number)) {
            self.pending_bytes += page.weight();
            self.oldest.get_or_insert(now);
            self.pending.push_back(page);
        }
    }

    fn settled(&mut self, settled: Settled, now: Time) {
        self.busy = false;
        self.committing = 0;
        let committed = settled.committed;
        for row in committed.jobs {
            if let Some(active) = self.jobs.get_mut(&row.job.id) {
                active.row = row;
            }
        }
        self.count_pending();
        // What a page led to is offered before the page is settled: nothing overtakes it.
        for entry in committed.queued {
            self.frontier.offer(entry, now);
        }
        for (host, place) in settled.rows {
            self.frontier.settled(host, place, now);
        }
        for mut window in committed.refills {
            if !self.frontier.is_loaded(window.host) {
                // Claimed by a run that did not end well: when it was last asked is unknown.
                window.not_before = self.begun.plus(self.settings.delay);
            }
            self.frontier.load(window, now);
        }
        for window in committed.claimed {
            self.frontier.load(window, now);
        }
        self.next_due = committed.next_due;
        self.set_limited_aside();
        self.regate(now);
    }

    /// What is back and not yet committed, counted anew after a commit.
    fn count_pending(&mut self) {
        self.jobs.values_mut().for_each(|a| (a.pages, a.bytes) = (0, 0));
        for page in self.pending.iter().chain(self.held.values()) {
            if let Some(active) = self.jobs.get_mut(&page.entry.job) {
                active.pages += u64::from(page.next == Next::Done(UrlState::Fetched));
                active.bytes += page.bytes();
            }
        }
    }

    fn regate(&mut self, now: Time) {
        for (id, active) in &self.jobs {
            self.frontier.gate(*id, active.full(), now);
        }
    }

    /// Gives the committer a group when one is due and it is free.
    fn commit(&mut self, now: Time, first: bool) {
        if self.busy || (self.full_disk && !first) {
            return;
        }
        let aged = self.oldest.is_some_and(|oldest| now.0 - oldest.0 >= GROUP_MS);
        let last = !self.pending.is_empty() && self.visits_out() == 0;
        let full = self.pending.len() >= GROUP_PAGES || self.pending_bytes >= GROUP_BYTES;
        let starved = !self.stopping
            && self.frontier.out() < self.settings.connections
            && !self.frontier.has_ready(now);
        let orders = !self.batch.jobs.is_empty() || !self.batch.releases.is_empty();
        if !(first || aged || last || full || starved || orders) {
            return;
        }
        // Windows hold rows by which jobs were open when they were read; nothing is being read
        // now, so what is given back here is read under the states this batch brings.
        let mut given_back = Vec::new();
        if std::mem::take(&mut self.read_anew) {
            given_back = self.frontier.release_all();
            self.next_due = Some(Time(0));
        }
        let wants = if self.stopping { Default::default() } else { self.frontier.wants(now) };
        let due = self.next_due.is_some_and(|due| due <= now);
        let hosts = if due { wants.hosts } else { 0 };
        // A calendar row may be due without a host being wanted; asking has its own pace.
        let turn = due && !self.stopping && now.0 - self.committed_at.0 >= DUE_MS;
        let something =
            wants.refills.len() + wants.releases.len() + hosts > 0 || turn || orders || first;
        if !(something || aged || last || full) {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        batch.now = now;
        batch.releases.extend(given_back);
        batch.refills.extend(wants.refills);
        batch.releases.extend(wants.releases);
        batch.claims = Claims { hosts, window: self.frontier.window() };
        let mut pages = Vec::new();
        let mut weight = 0;
        while pages.len() < GROUP_PAGES && weight < GROUP_BYTES {
            let Some(mut page) = self.pending.pop_front() else { break };
            weight += page.weight();
            self.discoveries(&mut page, &mut batch.discoveries);
            pages.push(page);
        }
        self.pending_bytes = self.pending.iter().map(PageDone::weight).sum();
        self.oldest = (!self.pending.is_empty()).then_some(now);
        batch.next_page = self.next_page;
        self.committing = pages.len();
        self.busy = true;
        self.committed_at = now;
        if let Some(committer) = &self.to_committer {
            // It is free, and the channel holds one: this does not wait.
            let _ = committer.send(Group { pages, batch });
        }
    }

    /// What the next group needs on the disk.
    fn room_needed(&self) -> u64 {
        let largest = self.pending.front().map_or(0, PageDone::weight);
        largest.max(self.pending_bytes.min(2 * GROUP_BYTES)) + COMMIT_ROOM
    }

    /// Visits whose result has not come yet.
    fn visits_out(&self) -> u64 {
        self.jobs.values().map(|a| a.out).sum()
    }

    fn discoveries(&self, page: &mut PageDone, out: &mut Vec<Discovery>) {
        if page.found.is_empty() {
            return;
        }
        let Some(active) = self.jobs.get(&page.entry.job) else { return };
        let job = active.job.clone();
        let number = page.number;
        for found in page.found.drain(..) {
            self.shared.seen.remember(seen_fingerprint(&job, &found.url), found.depth);
            let place: Place = match found.index {
                Some(index) => place_of_link(job.order, found.depth, number, index),
                None => place_of_redirect(page.entry.place),
            };
            out.push(Discovery {
                url: found.url,
                key: found.key,
                job: job.id,
                depth: found.depth,
                place,
                skip: found.skip,
            });
        }
    }

    /// A change of a job asked for from outside.
    fn reorder(&mut self, id: JobId, state: JobState) {
        let Some(row) = self.stored_job(id) else {
            tracing::warn!(job = id.0, "a change was asked for of a job that is not there");
            return;
        };
        self.batch.jobs.push(JobChange::State(id, state));
        if state == JobState::Open {
            if !self.jobs.contains_key(&id) {
                self.fetched_before += row.counters.fetched;
                self.bytes_before += row.counters.bytes;
            }
            let active = self.jobs.entry(id).or_insert_with(|| Active::new(row));
            (active.limited, active.row.state) = (false, state);
            self.shared.seen.clear();
        } else if let Some(active) = self.jobs.get_mut(&id) {
            active.limited = true;
            active.row.state = state;
        }
        self.read_anew = true;
        self.regate(clock());
    }

    /// A job at its limit, beside others that go on, is no longer open: its rows must not fill
    /// the windows that the others' rows are behind.
    fn set_limited_aside(&mut self) {
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
    fn over(&mut self, now: Time) -> Result<Option<Ended>, EngineError> {
        if self.stopping {
            return Ok(Some(Ended::Stopped));
        }
        if !self.batch.jobs.is_empty() {
            return Ok(None);
        }
        let waiting = |a: &Active| a.row.state == JobState::Open && !a.full();
        let left: u64 =
            self.jobs.values().filter(|a| waiting(a)).map(|a| a.row.counters.queued).sum();
        if left == 0 {
            let rows = self.jobs.values().map(|a| &a.row).filter(|r| r.counters.queued > 0);
            let any = |state| rows.clone().any(|row| row.state == state);
            return Ok(Some(if any(JobState::Open) || any(JobState::Limited) {
                Ended::Limit
            } else if any(JobState::Paused) {
                Ended::Stopped
            } else {
                Ended::Done
            }));
        }
        // Something is queued: it waits for room, for a delay, for its hour, or to be loaded.
        let waits = self.no_room.is_some()
            || self.frontier.has_ready(now)
            || self.frontier.next_wake().is_some()
            || self.next_due.is_some();
        if waits { Ok(None) } else { Err(EngineError::Stuck(left)) }
    }

    /// The last commit: states of the jobs, time spent, hosts given back.
    async fn close(
        &mut self,
        inbox: &mut mpsc::Receiver<Event>,
        ended: Ended,
    ) -> Result<Ended, EngineError> {
        let now = clock();
        self.stopping = true;
        let ran = now.since(self.begun);
        for (id, active) in &self.jobs {
            let counters = &active.row.counters;
            let state = match active.row.state {
                JobState::Open if counters.queued == 0 => JobState::Done,
                JobState::Open if active.full() => JobState::Limited,
                state => state,
            };
            if state != active.row.state {
                self.batch.jobs.push(JobChange::State(*id, state));
            }
            self.batch.jobs.push(JobChange::Ran(*id, ran));
        }
        let releases: Vec<Release> = self.frontier.release_all();
        self.batch.releases.extend(releases);
        self.commit(now, true);
        while self.busy {
            let Some(event) = inbox.recv().await else { break };
            self.hear(event)?;
        }
        self.show(clock());
        Ok(ended)
    }

    /// Lets requests under way end, within a limit, when nothing more is to be handed out.
    async fn drain(
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
            let now = clock();
            self.commit(now, false);
            self.show(now);
        }
        // What has not ended by now is asked for again by the next run.
        self.visits.shutdown().await;
        while let Ok(event) = inbox.try_recv() {
            self.hear(event)?;
        }
        self.jobs.values_mut().for_each(|a| a.out = 0);
        let left: Vec<u64> = self.under_way.keys().copied().collect();
        left.into_iter().for_each(|number| self.came_back(number, clock()));
        Ok(())
    }

    fn watch_disk(&mut self, now: Time) {
        if now.0 - self.disk_asked.0 < DISK_MS {
            return;
        }
        self.disk_asked = now;
        let Ok(free) = disk::free_bytes(self.dir.path()) else { return };
        // Below the first line nothing new is asked for; what is under way is still committed.
        // Below the second it waits, in memory and in the spool.
        let needed = self.room_needed();
        self.full_disk = free < needed;
        let least = self.settings.min_free_disk.max(needed);
        // A little more is asked for before going on, so that it does not stutter.
        let enough = if self.no_room.is_some() { least + least / 10 } else { least };
        self.no_room = (free < enough).then(|| {
            format!(
                "the disk has {} MB left and {} MB are kept free (archive.min_free_disk); waiting for room",
                free / 1_000_000,
                least / 1_000_000
            )
        });
    }

    fn until_next(&self, now: Time) -> Duration {
        let committable = !self.busy && !self.full_disk;
        let group = self.oldest.map(|oldest| Time(oldest.0 + GROUP_MS)).filter(|_| committable);
        let tick = Some(Time(now.0 + 250));
        let can = !self.stopping && self.no_room.is_none();
        // What was due before now has been looked at: only an event can change it.
        let host = self.frontier.next_wake().filter(|wake| can && *wake > now);
        let due = self.next_due.filter(|due| can && !self.busy && *due > now);
        let ends = self.jobs.values().filter_map(|a| a.time_end(self.begun));
        let end = ends.filter(|end| *end > now).min();
        let next = earliest([group, tick, host, due, end]);
        next.map_or(Duration::from_millis(250), |t| t.since(now)).max(Duration::from_millis(1))
    }

    fn show(&mut self, now: Time) {
        let counts = self.frontier.counts();
        let rows = self.jobs.values().map(|a| &a.row);
        let mut out: Snapshot = summed(rows, counts);
        self.meter.note(now, out.fetched, out.bytes, out.queued);
        let limits = self.jobs.values().map(|a| {
            let done = a.row.counters.fetched + a.row.counters.unchanged;
            a.job.limits.pages.map(|limit| limit.saturating_sub(done))
        });
        let to_come = limits.sum::<Option<u64>>();
        self.meter.fill(&mut out, to_come);
        out.state = match (self.stopping, &self.no_room) {
            (true, _) => "stopping",
            (false, Some(_)) => "paused",
            (false, None) => "crawling",
        }
        .to_owned();
        out.note = self.no_room.clone();
        out.requests = self.frontier.out();
        out.connections = self.shared.fetcher.open_connections();
        out.elapsed_s = now.since(self.begun).as_secs_f64();
        out.newest = self.newest.as_ref().map(|u| u.as_str().to_owned());
        let wake = self.frontier.next_wake().or(self.next_due);
        out.next_host_ms = wake.map(|t| t.since(now).as_millis() as u64);
        self.live.set(out);
    }

    fn summary(&self, ended: Ended) -> Summary {
        let jobs: Vec<JobRow> = self.jobs.values().map(|a| a.row.clone()).collect();
        let fetched: u64 = jobs.iter().map(|r| r.counters.fetched).sum();
        let bytes: u64 = jobs.iter().map(|r| r.counters.bytes).sum();
        Summary {
            ended,
            jobs,
            elapsed: clock().since(self.begun),
            fetched: fetched - self.fetched_before.min(fetched),
            bytes: bytes - self.bytes_before.min(bytes),
            peak_memory: disk::peak_memory(),
        }
    }
}
