//! Importing: WARC files, ours or others', become captures.
//!
//! ```text
//!  reader (one thread)        workers (a few threads)             this thread
//!  ───────────────────        ───────────────────────             ───────────
//!  records, gunzipped,  ────▶ chunks undone, parsed, digests, ──▶ one group: archive, texts,
//!  digests checked            packed: as a visit would            store batch, as a crawl would
//! ```
//!
//! * What this is: `import warc`. Each response becomes a capture of its URL, at its time, in a job
//!   of its own that queues nothing. Links and texts are kept as if we had asked.
//! * Invariants: a group is committed as a crawl commits it, so a kill loses only the open group;
//!   what is known (URL, second, digest) is not taken in twice, so the same command goes on; every
//!   byte of a file is taken in, counted, or reported with its place and a reason.
//! * Revisits are resolved when the group after theirs is worked on, and once more at the end: the
//!   payload is read from our own archive, so that ours never lead nowhere.
//! * What is not here: what an answer means (`visit`), what a record looks like (`archive`).

mod resolve;
mod take;

use crate::data_dir::DataDir;
use crate::disk;
use crate::group::{Group, PageDone};
use crate::live::{Live, Snapshot};
use crate::run::{EngineError, open_committer, open_shared};
use crate::settings::EngineSettings;
use crate::visit::VisitError;
use crate::world::{Clock, MadeUp};
use argiope_archive::{Damage, WarcEntry, WarcReader};
use argiope_fetch::{FetchError, Fetcher};
use argiope_model::{
    Job, JobId, JobState, Limits, Order, QueryPolicy, Scope, ScopeRule, UrlKey, Wanted,
};
use argiope_store::{Batch, JobChange, Store, StoreError};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use take::{Candidate, Taken, Taker};

/// Payloads up to this length travel in memory.
const IN_MEMORY: u64 = 256 << 10;
/// Records that wait between the reader and the workers.
const WAITING: usize = 32;
/// A group closes at so many captures.
const GROUP: usize = 512;
/// Heads of revisits whose original was not met yet, in bytes.
const MAX_UNRESOLVED: usize = 32 << 20;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOrder {
    /// The files, in the order in which they are read.
    pub files: Vec<PathBuf>,
    /// Look, count and report; change nothing.
    pub dry_run: bool,
}

/// Something in a file that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportProblem {
    /// The file.
    pub file: PathBuf,
    /// Where the record, or what should be one, begins.
    pub offset: u64,
    /// The URL it speaks of, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// Whether it stays out.
    pub skipped: bool,
}

/// What an import came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// The job the captures belong to; none where nothing came in.
    pub job: Option<u32>,
    /// Files read.
    pub files: u64,
    /// Bytes of them.
    pub file_bytes: u64,
    /// Records met.
    pub records: u64,
    /// Captures taken in, or in a dry run those that would be.
    pub captures: u64,
    /// Those of them that came from revisit records.
    pub revisits: u64,
    /// Body bytes of them.
    pub bytes: u64,
    /// Captures that were here already.
    pub known: u64,
    /// Records that are no captures, by their type.
    pub others: BTreeMap<String, u64>,
    /// Captures that stay out.
    pub skipped: u64,
    /// Captures that stay out because their URLs were forgotten on request.
    pub forgotten: u64,
    /// Parts of files that cannot be read.
    pub damages: u64,
}

/// A failure of our own, or of a file that cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be opened.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The directory cannot be worked in.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A capture could not be made ready or committed.
    #[error("the import cannot go on; what came in stays, and the same command goes on later")]
    Failed(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// There is too little room.
    #[error("only {free} bytes are free where {} lies, {wanted} are to be left; what came in stays, and the same command goes on later", path.display())]
    Full {
        /// The data directory.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes to be left.
        wanted: u64,
    },
}

impl From<StoreError> for ImportError {
    fn from(e: StoreError) -> Self {
        ImportError::Failed(Arc::new(e))
    }
}

impl From<VisitError> for ImportError {
    fn from(e: VisitError) -> Self {
        ImportError::Failed(Arc::new(e))
    }
}

impl From<FetchError> for ImportError {
    fn from(e: FetchError) -> Self {
        ImportError::Failed(Arc::new(e))
    }
}

fn failed(e: impl std::error::Error + Send + Sync + 'static) -> ImportError {
    ImportError::Failed(Arc::new(e))
}

/// Where an import reports to while it goes on.
pub trait ImportWatch {
    /// Something is not as it should be.
    fn problem(&mut self, problem: ImportProblem);
    /// A group is committed.
    fn progress(&mut self, so_far: &ImportSummary);
}

impl Live {
    /// Shows how far an import is, to those who ask meanwhile.
    pub fn importing(&self, so_far: &ImportSummary) {
        let (fetched, bytes) = (so_far.captures, so_far.bytes);
        self.set(Snapshot { state: "importing".to_owned(), fetched, bytes, ..Snapshot::default() });
    }
}

/// Imports files into a directory that the caller owns.
pub fn import_warc(
    dir: &DataDir,
    store: Arc<dyn Store>,
    settings: &EngineSettings,
    order: &ImportOrder,
    watch: &mut dyn ImportWatch,
) -> Result<ImportSummary, ImportError> {
    let settings = EngineSettings { archive: true, ..settings.clone() };
    let mut fetch = settings.fetch.clone();
    fetch.spool_dir = dir.spool().join("bodies");
    fetch.body_memory = settings.body_memory();
    let fetcher = Arc::new(Fetcher::new(fetch)?);
    let (events, _inbox) = tokio::sync::mpsc::channel(1);
    let world = MadeUp { web: fetcher.clone(), clock: Clock::System, commit_time: Duration::ZERO };
    let shared =
        open_shared(dir, store.clone(), &settings, Some(world), Default::default(), events)?;
    let scratch = dir.spool().join("import");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch)
        .map_err(|source| ImportError::File { path: scratch.clone(), source })?;
    let committer = match order.dry_run {
        true => None,
        false => Some(open_committer(dir, store.clone(), &settings, Clock::System, None)?),
    };
    let job = new_job(&*store, order)?;
    let taker = Taker { shared, fetcher, warc: dir.warc(), scratch: scratch.clone(), job };
    let group_bytes = (settings.memory / 32).clamp(1 << 20, 16 << 20);
    let mut import = Import {
        dir,
        settings: &settings,
        taker,
        committer,
        watch,
        dry_run: order.dry_run,
        group_bytes,
        job_made: false,
        begun: Instant::now(),
        group: Vec::new(),
        weight: 0,
        in_group: HashSet::new(),
        revisits: Vec::new(),
        unresolved: Vec::new(),
        unresolved_bytes: 0,
        out: ImportSummary::default(),
    };
    let done = import.all(&order.files, &scratch);
    let out = std::mem::take(&mut import.out);
    drop(import);
    let _ = fs::remove_dir_all(&scratch);
    done.map(|()| out)
}

/// An import's job: it has no seeds and queues nothing; its scope names the files.
fn new_job(store: &dyn Store, order: &ImportOrder) -> Result<Job, StoreError> {
    let last = store.jobs()?.iter().map(|row| row.job.id.0).max().unwrap_or(0);
    let name = |path: &PathBuf| path.file_name().map(|n| n.to_string_lossy().into_owned());
    Ok(Job {
        id: JobId(last + 1),
        created: Clock::System.now(),
        seeds: Vec::new(),
        scope: Scope {
            rule: ScopeRule::List,
            names: order.files.iter().filter_map(name).collect(),
        },
        order: Order::Breadth,
        limits: Limits::default(),
        wanted: Wanted { types: ["all".to_owned()].into(), skip_extensions: Default::default() },
        query: QueryPolicy::Keep,
        filter: None,
        aim: None,
        news: false,
    })
}

/// Whether a job is an import: a crawl has start URLs.
pub(crate) fn is_import(job: &Job) -> bool {
    job.seeds.is_empty() && job.scope.rule == ScopeRule::List
}

struct Import<'a> {
    dir: &'a DataDir,
    settings: &'a EngineSettings,
    taker: Taker,
    committer: Option<crate::committer::Committer>,
    watch: &'a mut dyn ImportWatch,
    dry_run: bool,
    group_bytes: u64,
    job_made: bool,
    begun: Instant,
    /// What will be worked on and committed together.
    group: Vec<Candidate>,
    weight: u64,
    /// URL and second of each: two captures of one second are told apart by what is stored.
    in_group: HashSet<(UrlKey, i64)>,
    /// Revisits met since the last group: their originals may be in it.
    revisits: Vec<Candidate>,
    /// Revisits whose original was not found.
    unresolved: Vec<Candidate>,
    unresolved_bytes: usize,
    out: ImportSummary,
}

/// A step of the reader.
enum Read {
    Record(Box<WarcEntry>),
    Damage(Damage),
    Ended,
    Failed(io::Error),
}

impl Import<'_> {
    fn all(&mut self, files: &[PathBuf], scratch: &Path) -> Result<(), ImportError> {
        // A file that is not there is a mistake to be told before anything is done.
        for path in files {
            let open = File::open(path).and_then(|file| file.metadata());
            let meta = open.map_err(|source| ImportError::File { path: path.clone(), source })?;
            if meta.is_dir() {
                let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a directory");
                return Err(ImportError::File { path: path.clone(), source });
            }
            self.out.file_bytes += meta.len();
        }
        for path in files {
            let file = File::open(path)
                .map_err(|source| ImportError::File { path: path.clone(), source })?;
            let path: Arc<Path> = path.as_path().into();
            std::thread::scope(|scope| {
                let (sender, records) = sync_channel::<Read>(WAITING);
                let spool = scratch.to_owned();
                scope.spawn(move || read_file(file, spool, &sender));
                self.file(&path, &records)
            })?;
            self.out.files += 1;
        }
        self.close_group()?;
        self.close_group()?; // revisits of the last group
        // Originals may have come behind them: one more look.
        let unresolved = std::mem::take(&mut self.unresolved);
        self.unresolved_bytes = usize::MAX;
        for revisit in unresolved {
            self.add(revisit)?;
        }
        self.close_group()?;
        if self.job_made
            && let Some(committer) = &mut self.committer
        {
            let ran = JobChange::Ran(self.taker.job.id, self.begun.elapsed());
            let batch = Batch { now: Clock::System.now(), jobs: vec![ran], ..Batch::default() };
            committer.store.commit(batch)?;
        }
        Ok(())
    }

    fn file(&mut self, path: &Arc<Path>, records: &Receiver<Read>) -> Result<(), ImportError> {
        for read in records {
            match read {
                Read::Ended => break,
                Read::Failed(e) => return Err(failed(e)),
                Read::Damage(damage) => {
                    self.out.damages += 1;
                    let Damage { offset, length, reason } = damage;
                    let problem = format!("{reason} ({length} bytes passed over)");
                    self.report(path, offset, None, problem, true);
                }
                Read::Record(entry) => self.record(path, *entry)?,
            }
        }
        Ok(())
    }

    fn record(&mut self, path: &Arc<Path>, entry: WarcEntry) -> Result<(), ImportError> {
        self.out.records += 1;
        let kind = entry.headers.record_type();
        if !matches!(kind, "response" | "revisit") {
            let kind = if kind.is_empty() { "untyped" } else { kind };
            *self.out.others.entry(kind.to_owned()).or_default() += 1;
            return Ok(());
        }
        let offset = entry.offset;
        let url = entry.headers.target_uri().map(str::to_owned);
        match self.taker.candidate(path.clone(), entry) {
            Ok(candidate) if candidate.is_revisit() => {
                self.revisits.push(candidate);
                if self.revisits.len() >= GROUP { self.close_group() } else { Ok(()) }
            }
            Ok(candidate) => self.add(candidate),
            Err(why) => {
                self.out.skipped += 1;
                self.report(path, offset, url, why, true);
                Ok(())
            }
        }
    }

    fn add(&mut self, candidate: Candidate) -> Result<(), ImportError> {
        let mark = candidate.mark();
        if self.in_group.contains(&mark) {
            self.close_group()?;
        }
        self.in_group.insert(mark);
        self.weight += candidate.weight();
        self.group.push(candidate);
        if self.group.len() >= GROUP || self.weight >= self.group_bytes {
            self.close_group()?;
        }
        Ok(())
    }

    /// Works on the group and commits it; the revisits met meanwhile are the beginning of the
    /// next.
    fn close_group(&mut self) -> Result<(), ImportError> {
        let group = std::mem::take(&mut self.group);
        self.in_group.clear();
        self.weight = 0;
        let taken = self.taker.take_all(group, self.dry_run)?;
        let mut pages: Vec<PageDone> = Vec::new();
        for (candidate, taken) in taken {
            let Candidate { file, offset, url, .. } = &candidate;
            let url = Some(url.as_str().to_owned());
            match taken {
                Taken::Known => self.out.known += 1,
                Taken::Forgotten => self.out.forgotten += 1,
                Taken::New(page, note) => {
                    self.out.captures += 1;
                    self.out.revisits += u64::from(candidate.is_revisit());
                    self.out.bytes += page.as_ref().map_or(candidate.weight(), |p| p.bytes());
                    pages.extend(page.map(|page| *page));
                    if let Some(note) = note {
                        self.report(file, *offset, url, note, false);
                    }
                }
                Taken::Not(why) => {
                    self.out.skipped += 1;
                    self.report(file, *offset, url, why, true);
                }
                Taken::NoOriginal => self.set_aside(candidate),
            }
        }
        self.commit(pages)?;
        for revisit in std::mem::take(&mut self.revisits) {
            self.add(revisit)?;
        }
        Ok(())
    }

    /// Keeps a revisit until all files are read; beyond a bound, and then, it stays out.
    fn set_aside(&mut self, revisit: Candidate) {
        let weight = revisit.weight() as usize + 256;
        if self.unresolved_bytes.saturating_add(weight) <= MAX_UNRESOLVED {
            self.unresolved_bytes += weight;
            self.unresolved.push(revisit);
            return;
        }
        self.out.skipped += 1;
        let url = Some(revisit.url.as_str().to_owned());
        let why = "a revisit of a record that is not here".to_owned();
        self.report(&revisit.file, revisit.offset, url, why, true);
    }

    fn commit(&mut self, pages: Vec<PageDone>) -> Result<(), ImportError> {
        let (Some(committer), false) = (&mut self.committer, pages.is_empty()) else {
            self.watch.progress(&self.out);
            return Ok(());
        };
        let (path, wanted) = (self.dir.path(), self.settings.min_free_disk);
        let free = disk::free_bytes(path).unwrap_or(u64::MAX);
        if free < wanted {
            return Err(ImportError::Full { path: path.to_owned(), free, wanted });
        }
        let job = &self.taker.job;
        let mut batch = Batch { now: Clock::System.now(), ..Batch::default() };
        if !self.job_made {
            // Done from the start: nothing of it is ever queued, whatever becomes of this run.
            batch.jobs.push(JobChange::New(Box::new(job.clone())));
            batch.jobs.push(JobChange::State(job.id, JobState::Done));
        }
        let group = Group { pages, batch, log: Vec::new() };
        committer.commit_import(group).map_err(|e| ImportError::Failed(e.into()))?;
        self.job_made = true;
        self.out.job = Some(job.id.0);
        self.watch.progress(&self.out);
        Ok(())
    }

    fn report(
        &mut self,
        file: &Path,
        offset: u64,
        url: Option<String>,
        problem: String,
        skipped: bool,
    ) {
        let file = file.to_owned();
        self.watch.problem(ImportProblem { file, offset, url, problem, skipped });
    }
}

/// Reads a file to its end, or until nobody listens.
fn read_file(file: File, scratch: PathBuf, to: &SyncSender<Read>) {
    let mut reader = WarcReader::new(file).keep_payloads(IN_MEMORY).spool_payloads(scratch);
    for item in &mut reader {
        let read = match item {
            Ok(entry) => Read::Record(Box::new(entry)),
            Err(damage) => Read::Damage(damage),
        };
        if to.send(read).is_err() {
            return;
        }
    }
    let last = reader.take_failure().map_or(Read::Ended, Read::Failed);
    let _ = to.send(last);
}
