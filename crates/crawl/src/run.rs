//! A run: opens what it needs, lets the director work, closes everything again.

use crate::committer::Committer;
use crate::data_dir::{DataDir, log_dir};
use crate::director::{Committing, Director};
use crate::disk;
use crate::group::{Event, Group};
use crate::live::{Live, Look};
use crate::log::CrawlLog;
use crate::order::Picked;
use crate::settings::EngineSettings;
use crate::visit::Shared;
use crate::world::{Clock, MadeUp, Web};
use argiope_archive::{SegmentKind as ArchiveKind, Segments, WarcInfo};
use argiope_fetch::Fetcher;
use argiope_frontier::{Exclusions, SeenCache};
use argiope_model::{HostKey, JobId, JobState, Suffixes};
use argiope_store::{JobRow, SegmentKind, Store, StoreError};
use serde::Serialize;
use std::sync::{Arc, mpsc as blocking};
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
    /// What is met instead of the world, in a simulation.
    pub made_up: Option<MadeUp>,
}

/// A change asked for from outside while a crawl runs.
#[derive(Clone, Debug)]
pub enum Instruction {
    /// A job is to be in this state.
    Job(JobId, JobState),
    /// A host is to be tried again, whatever it has done.
    Forgive(HostKey),
    /// Sites are excluded, or forgiven.
    Sites(SiteChange),
    /// Somebody would like to see what is being done right now.
    Look(blocking::SyncSender<Look>),
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
    /// Told when it holds and is written down.
    pub done: Option<blocking::SyncSender<()>>,
}

/// Crawls until nothing is left, a limit is reached or a stop is asked for.
pub async fn run(run: Run) -> Result<Summary, EngineError> {
    let Run { dir, store, mut settings, picked, live, mut stop, mut orders, made_up } = run;
    // The store and the archive need files too, and as many connections again may be idle.
    let files = usize::try_from(disk::open_files()).unwrap_or(usize::MAX);
    let most = (files.saturating_sub(OTHER_FILES) / 2).max(1);
    if settings.connections > most {
        tracing::warn!(
            "only {most} connections at once: this process may open {files} files (ulimit -n)"
        );
        settings.connections = most;
    }
    settings.leave_word(dir.path());
    let (events, mut inbox) = mpsc::channel::<Event>(1024);
    let clock = made_up.as_ref().map_or(Clock::System, |m| m.clock);
    let shared = open_shared(&dir, store.clone(), &settings, made_up.clone(), events.clone())?;
    let committer = open_committer(&dir, store.clone(), &settings, clock)?;
    let start = |e: StoreError| EngineError::Start(e.into());
    let (jobs, claims) = (store.jobs().map_err(start)?, store.claims().map_err(start)?);
    let next_page = store.next_page().map_err(start)?;
    let exclusions = Exclusions::new(store.exclusions().map_err(start)?, dir.suffixes().clone());
    let (committing, thread) = match made_up {
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

    let mut director = Director::new(Arc::new(shared), dir, live, settings, committing, next_page);
    director.begin(&jobs, picked, claims, exclusions);
    let outcome = director.direct(&mut inbox, &mut stop, &mut orders).await;
    // Hanging up ends the committer, whatever it was about to say; its thread is joined so that
    // its files are closed. Nothing of this run touches the directory afterwards.
    drop(inbox);
    let summary = director.end().await;
    if let Some(thread) = thread {
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
    outcome.map(|ended| Summary { ended, ..summary })
}

pub(crate) fn open_shared(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    made_up: Option<MadeUp>,
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
            fetch.idle_timeout = fetch.idle_timeout.min(CONNECTION_KEPT);
            fetch.idle_connections = settings.connections;
            let fetcher = Fetcher::new(fetch).map_err(|e| EngineError::Start(e.into()))?;
            (Arc::new(fetcher), Clock::System)
        }
    };
    // What a crash left of records being made is of no use.
    let _ = std::fs::remove_dir_all(&records);
    std::fs::create_dir_all(&records).map_err(|e| EngineError::Start(e.into()))?;
    Ok(Shared {
        web,
        clock,
        threads,
        max_redirects: settings.max_redirects,
        agent: settings.robots.then(|| settings.agent().to_owned()),
        rules: Default::default(),
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

pub(crate) fn open_committer(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    clock: Clock,
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
            Some(Segments::open(&dir.warc(), kind, &committed, max).map_err(start)?)
        }
        false => None,
    };
    let committed = lengths(SegmentKind::Text)?;
    let text = Segments::open(&dir.text(), ArchiveKind::Text, &committed, max).map_err(start)?;
    let log = CrawlLog::open(&log_dir(dir.path()));
    Ok(Committer { store, warc, text, log })
}
