//! A run: opens what it needs, lets the director work, closes everything again.

use crate::before::Sites;
use crate::committer::Committer;
use crate::data_dir::{DataDir, log_dir};
use crate::director::{Committing, Director, NewsTally, PutOff, Return, Tally};
use crate::disk;
use crate::filters::FilterChange;
use crate::fleet::{Block, Fleet, Keeping, Term, ends_term, join, keep};
use crate::gather::Gather;
use crate::group::{Event, Group};
use crate::live::{Live, Look};
use crate::log::CrawlLog;
use crate::order::Picked;
use crate::settings::EngineSettings;
use crate::tenure::Tenure;
use crate::traps::Watching;
use crate::visit::Shared;
use crate::world::{Clock, MadeUp, Web};
use argiope_archive::{SegmentKind as ArchiveKind, Segments, WarcInfo};
use argiope_fetch::{Fetcher, Gate};
use argiope_frontier::{Delays, Exclusions, SeenCache, Trap};
use argiope_model::{HostKey, JobId, JobState, Suffixes, UrlKey};
use argiope_store::{Discovery, JobRow, PostgresStore, SegmentKind, Store, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, mpsc as blocking};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, watch};

/// Files that are open besides connections: the store's tables, segments, bodies being spooled.
const OTHER_FILES: usize = 400;
/// A connection that waited longer is not taken up again: servers begin to close them after five
/// seconds.
const CONNECTION_KEPT: Duration = Duration::from_secs(3);

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
    /// What visits to known pages came to.
    pub again: Tally,
    /// Sites that have reached the cap on their pages.
    pub capped_sites: usize,
    /// What came of looking for news, by site.
    pub news: BTreeMap<String, NewsTally>,
    /// Sites of which a round for news has left something to the next one.
    pub put_off: BTreeMap<String, PutOff>,
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
    /// Changes asked for from outside.
    pub orders: mpsc::Receiver<Instruction>,
    /// The fleet that this is one of; `None` for whoever crawls alone.
    pub fleet: Option<Fleet>,
    /// What it comes back to.
    pub keep: Return,
    /// What is met instead of the world, in a simulation.
    pub made_up: Option<MadeUp>,
}

/// A change asked for from outside while a crawl runs.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// A job is to be in this state; told when that is written down.
    Job(JobId, JobState, Option<blocking::SyncSender<()>>),
    /// A host is to be tried again, whatever it has done.
    Forgive(HostKey),
    /// Sites are excluded, or forgiven.
    Sites(SiteChange),
    /// A name has this delay by hand, in milliseconds, or none; told when that is written down.
    Delay(Box<str>, Option<u64>, blocking::SyncSender<()>),
    /// A page is to be visited every so many seconds, or as its policy has it; told when that is written
    /// down.
    Cycle(UrlKey, Option<u64>, blocking::SyncSender<()>),
    /// A job obeys another filter; told when that is written down.
    Filter(FilterChange, blocking::SyncSender<()>),
    /// URLs that a job wants again: only a filter that it no longer has kept it from them.
    Again(JobId, Vec<Discovery>),
    /// Somebody would like to see what is being done right now.
    Look(blocking::SyncSender<Look>),
    /// The crawl is to end in order, as after a first signal.
    Stop,
}

/// Sites to be left alone from now on, or to be asked again.
#[derive(Clone, Debug)]
pub struct SiteChange {
    /// Whether they are excluded; otherwise they are forgiven.
    pub exclude: bool,
    /// The names that are excluded, or no longer.
    pub names: Vec<Box<str>>,
    /// The hosts known that they mean.
    pub hosts: Vec<HostKey>,
    /// Patterns of series without end that are wanted after all.
    pub traps: Vec<(Box<str>, Trap)>,
    /// Told when it holds and is written down.
    pub done: Option<blocking::SyncSender<()>>,
}

/// Crawls until nothing is left, a limit is reached or a stop is asked for.
///
/// A worker of a fleet that has lost its lease, or its server for too long, begins again from what
/// the store holds; that is no end.
pub async fn run(mut run: Run) -> Result<Summary, EngineError> {
    // The store and the archive need files too, and as many connections again may be idle.
    let files = usize::try_from(disk::open_files()).unwrap_or(usize::MAX);
    let most = (files.saturating_sub(OTHER_FILES) / 2).max(1);
    if run.settings.connections > most {
        tracing::warn!(
            "only {most} connections at once: this process may open {files} files (ulimit -n)"
        );
        run.settings.connections = most;
    }
    let clock = run.made_up.as_ref().map_or(Clock::System, |made_up| made_up.clock);
    run.settings.news.since = run.settings.leave_word(run.dir.path(), clock.now());
    let job = match &run.picked {
        Some(Picked::New(job) | Picked::Resumed(job)) => Some(job.id),
        Some(Picked::Finished(row)) => Some(row.job.id),
        None => None,
    };
    let Some(fleet) = run.fleet.clone() else {
        return term(&mut run, None, Arc::default()).await.1;
    };
    let tenure = Arc::new(Tenure::run_out());
    run.live.is_placed(tenure.clone(), fleet.store.clone());
    loop {
        let joining = (fleet.clone(), tenure.clone(), run.stop.clone());
        let joined = tokio::task::spawn_blocking(move || join(&joining.0, &joining.1, &joining.2));
        let joined = joined.await.map_err(|e| EngineError::Failed(Arc::new(e)))?;
        let Some(begun) = joined.map_err(|e| EngineError::Start(e.into()))? else {
            return Ok(nothing_done(&tenure));
        };
        let (given, outcome) = term(&mut run, Some((&fleet, job, begun)), tenure.clone()).await;
        if given {
            run.picked = None;
        }
        // Whoever ends in order frees its partitions at once; of others the lease runs out.
        let store = fleet.store.clone();
        let left = tokio::task::spawn_blocking(move || store.leave()).await;
        match outcome {
            Err(e) if ends_term(&e) && !*run.stop.borrow() => {
                let why = std::error::Error::source(&e).map_or(String::new(), |w| format!(": {w}"));
                tracing::warn!("begins again from what the store holds{why}");
            }
            // What was not committed is fetched again by somebody else.
            Err(e) if ends_term(&e) => return Ok(nothing_done(&tenure)),
            outcome => {
                if let Ok(Err(e)) = left {
                    tracing::debug!("the fleet could not be told of the end: {e}");
                }
                return outcome;
            }
        }
    }
}

/// A worker was stopped before it had a part in anything, or after it had lost it.
fn nothing_done(tenure: &Tenure) -> Summary {
    let (fetched, bytes) = tenure.counted();
    Summary {
        ended: Ended::Stopped,
        jobs: Vec::new(),
        elapsed: Duration::ZERO,
        fetched,
        bytes,
        peak_memory: disk::peak_memory(),
        again: Tally::default(),
        capped_sites: 0,
        news: BTreeMap::new(),
        put_off: BTreeMap::new(),
    }
}

/// From what the store holds to an end; says whether the order is in the store by then.
async fn term(
    run: &mut Run,
    joined: Option<(&Fleet, Option<JobId>, Term)>,
    tenure: Arc<Tenure>,
) -> (bool, Result<Summary, EngineError>) {
    match open_term(run, joined, tenure) {
        Ok(open) => open.work(run).await,
        Err(e) => (false, Err(e)),
    }
}

/// Everything that is open during a term.
struct Open {
    director: Director,
    inbox: mpsc::Receiver<Event>,
    committer: Option<JoinHandle<()>>,
    keeping: Option<Keeping>,
}

fn open_term(
    run: &Run,
    joined: Option<(&Fleet, Option<JobId>, Term)>,
    tenure: Arc<Tenure>,
) -> Result<Open, EngineError> {
    let Run { dir, store, settings, picked, live, made_up, .. } = run;
    live.counted().term();
    let said = joined.as_ref().and_then(|(.., term)| term.delay);
    let settings = &EngineSettings { delay: said.unwrap_or(settings.delay), ..settings.clone() };
    let (events, inbox) = mpsc::channel::<Event>(1024);
    let clock = made_up.as_ref().map_or(Clock::System, |m| m.clock);
    let world = made_up.clone();
    let shared = open_shared(dir, store.clone(), settings, world, tenure.clone(), events.clone())?;
    let numbers = joined.as_ref().map(|(fleet, ..)| fleet.store.clone());
    let committer = open_committer(dir, store.clone(), settings, clock, numbers)?;
    let start = |e: StoreError| EngineError::Start(e.into());
    let jobs = store.jobs().map_err(start)?;
    let given = match picked {
        Some(Picked::New(job) | Picked::Resumed(job)) => Some(&**job),
        _ => None,
    };
    for job in jobs.iter().map(|row| &row.job).chain(given) {
        shared.filters.hold(job).map_err(|e| EngineError::Start(e.into()))?;
    }
    let exclusions = Exclusions::new(store.exclusions().map_err(start)?, dir.suffixes().clone());
    let delays = Delays::new(store.delays().map_err(start)?, dir.suffixes().clone());
    let (member, keeping, claims, pages) = match joined {
        None => {
            let pages = Block { next: store.next_page().map_err(start)?, end: u64::MAX };
            (None, None, store.claims().map_err(start)?, pages)
        }
        Some((fleet, job, Term { claims, block, .. })) => {
            let kept =
                keep(fleet, job, (settings.address_gap, settings.delay), tenure, events.clone());
            let (member, keeping) = kept.map_err(|e| EngineError::Start(e.into()))?;
            (Some(member), Some(keeping), claims, block)
        }
    };
    let (committing, committer) = match made_up {
        Some(made_up) => (Committing::here(committer, made_up.commit_time, events), None),
        None => {
            let (to_committer, groups) = blocking::sync_channel::<Group>(1);
            let thread = std::thread::Builder::new()
                .name("committer".to_owned())
                .spawn(move || committer.run(groups, events))
                .map_err(|e| EngineError::Start(e.into()))?;
            (Committing::Thread(to_committer), Some(thread))
        }
    };
    let (dir, live, settings) = (dir.clone(), live.clone(), settings.clone());
    let mut director =
        Director::new(Arc::new(shared), dir, live, settings, committing, pages, member);
    director.begin(&jobs, picked.clone(), claims, (exclusions, delays), run.keep);
    Ok(Open { director, inbox, committer, keeping })
}

impl Open {
    async fn work(self, run: &mut Run) -> (bool, Result<Summary, EngineError>) {
        let Open { mut director, mut inbox, committer, keeping } = self;
        let outcome = director.direct(&mut inbox, &mut run.stop, &mut run.orders).await;
        // Hanging up ends the committer, whatever it was about to say; its thread is joined so that
        // its files are closed. Nothing of this run touches the directory afterwards.
        drop(inbox);
        let given = director.is_given();
        let summary = director.end().await;
        let threads = move || {
            committer.into_iter().for_each(|thread| drop(thread.join()));
            keeping.into_iter().for_each(Keeping::end);
        };
        let _ = tokio::task::spawn_blocking(threads).await;
        (given, outcome.map(|ended| Summary { ended, ..summary }))
    }
}

pub(crate) fn open_shared(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    made_up: Option<MadeUp>,
    tenure: Arc<Tenure>,
    events: mpsc::Sender<Event>,
) -> Result<Shared, EngineError> {
    let spool = dir.spool();
    let records = spool.join("records");
    let threads = made_up.is_none();
    let (web, clock): (Arc<dyn Web>, Clock) = match made_up {
        Some(made_up) => (made_up.web, made_up.clock),
        None => {
            let mut fetch = settings.fetch.clone();
            fetch.spool_dir = spool.join("bodies");
            fetch.body_memory = settings.body_memory();
            // No host sees two requests without its pause between them, and none is asked on a
            // connection that it may be closing at that moment.
            fetch.ask_again = false;
            let held = tenure.clone();
            fetch.gate = Gate::new(move || held.holds());
            fetch.idle_timeout = fetch.idle_timeout.min(CONNECTION_KEPT);
            fetch.idle_connections = settings.connections;
            let fetcher = Fetcher::new(fetch).map_err(|e| EngineError::Start(e.into()))?;
            (Arc::new(fetcher), Clock::System)
        }
    };
    // What a crash left of records being made is of no use.
    let _ = std::fs::remove_dir_all(&records);
    std::fs::create_dir_all(&records).map_err(|e| EngineError::Start(e.into()))?;
    let known = store.traps().map_err(|e| EngineError::Start(e.into()))?;
    Ok(Shared {
        web,
        clock,
        tenure,
        threads,
        max_redirects: settings.max_redirects,
        delay: settings.delay,
        agent: settings.robots.then(|| settings.agent().to_owned()),
        rules: Default::default(),
        filters: Default::default(),
        store,
        pinned: dir.suffixes().clone(),
        suffixes: Suffixes::built_in(),
        seen: SeenCache::with_bytes(settings.seen_memory()),
        spool: records,
        archive: settings.archive,
        retries: settings.retries,
        retry_delay: settings.retry_delay,
        sites: Sites::new(dir.warc(), dir.text(), &settings.revisit),
        traps: Watching::new(settings.traps, settings.trap_memory(), known, dir.suffixes().clone()),
        large: Semaphore::new(1),
        budgets: settings.budgets,
        gather: Gather::new(&settings.news),
        events,
    })
}

pub(crate) fn open_committer(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    clock: Clock,
    fleet: Option<Arc<PostgresStore>>,
) -> Result<Committer, EngineError> {
    let start = |e: argiope_archive::ArchiveError| EngineError::Start(e.into());
    let lengths = |kind| store.segments(kind).map_err(|e| EngineError::Start(e.into()));
    let info = WarcInfo {
        software: settings.software.clone(),
        time: clock.now(),
        fields: vec![("http-header-user-agent".to_owned(), settings.fetch.user_agent.clone())],
    };
    let max = settings.segment_bytes;
    let warc = match settings.archive {
        true => {
            let kind = ArchiveKind::Warc { info };
            let committed = lengths(SegmentKind::Warc)?;
            let opened = Segments::open(&dir.warc(), kind, &committed, max).map_err(start)?;
            Some(numbered(opened, &fleet))
        }
        false => None,
    };
    let committed = lengths(SegmentKind::Text)?;
    let text = Segments::open(&dir.text(), ArchiveKind::Text, &committed, max).map_err(start)?;
    let text = numbered(text, &fleet);
    let log = CrawlLog::open(&log_dir(dir.path()));
    Ok(Committer { store, warc, text, log })
}

/// In a fleet a segment's number says where a capture lies, whoever wrote it.
fn numbered(segments: Segments, fleet: &Option<Arc<PostgresStore>>) -> Segments {
    match fleet.clone() {
        Some(store) => segments.numbered_by(Box::new(move || Ok(store.take_segments(1)?))),
        None => segments,
    }
}
