//! Forgetting: pages of which nothing is to be kept, out of everything at once. Pruning: versions
//! of pages that nobody asks for any more, the same way.
//!
//! ```text
//!  look ──▶ plan on disk ──▶ copies moved ──▶ one store batch ──▶ records and ──▶ store ──▶ receipt,
//!           (URLs, places,   (appended,       (the point of no    texts blanked   written   plan gone
//!            no words)        synced)          return)            in place        anew
//! ```
//!
//! * What this is: `forget`. [`look`] finds what would go, [`forget`] does it, [`finish_forgetting`]
//!   goes on with what a crash has cut short. It is called before anything else by whoever opens a
//!   directory, so that nobody ever sees half of it.
//! * States: before the batch nothing has changed and a crash means that it is begun anew; behind
//!   the batch every step may be done twice. Whether the batch was committed is seen from the rows.
//! * Invariants: other pages keep what is theirs. A page with the same bytes as a forgotten one may
//!   have nothing but a reference to that one's record: it is given a record of its own first
//!   (`moving`). A text that another page has too is that page's, and stays.
//! * Pruning ([`look_prune`]) is about room, not about secrets: of its pages the rows stay, other
//!   captures of the same page are among those that keep what is theirs, and neither the store's
//!   files nor logs and words are written anew.
//! * What is not here: which versions go (`retention`), what lies in the places afterwards (`archive`), what is left of a row and how
//!   the store's files lose what was deleted (`store`), talking to people (`cli`).

mod look;
mod moving;
mod prune;
mod receipt;

pub use look::{ForgetPlan, Move, Survivor, Thinned, look};
pub(crate) use prune::PrunedPages;
pub use prune::{PruneOrder, look_prune, pruned_between};
pub use receipt::{FileReceipt, Pruned, Receipt};

use crate::backlinks::{Backlinks, chain};
use crate::data_dir::{DataDir, log_dir, receipts_dir};
use crate::disk;
use crate::log::forget_details;
use crate::news::{NewsError, forget_news};
use crate::words::{Hold, Words};
use argiope_archive::{
    ArchiveError, SegmentKind as ArchiveKind, Segments, WarcInfo, blank_records, blank_texts,
    is_tombstone, merge_places, open_record,
};
use argiope_index::{IndexError, IndexSettings, made_with};
use argiope_model::{CanonicalUrl, HostKey, Location, Time, UrlKey};
use argiope_store::{Batch, Forget, SegmentKind, Store, StoreError, UrlState};
use receipt::FileBefore;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A segment that is begun while copies are moved closes at so many bytes.
const SEGMENT_BYTES: u64 = 1 << 30;

/// Why something was not forgotten.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// There is no such page.
    #[error("{0} is not known here; no job has met it")]
    UnknownUrl(String),
    /// There is no such site.
    #[error("no host of {0} is known here; `argiope sites` lists those that are")]
    UnknownSite(String),
    /// Nothing of it is left.
    #[error("nothing of {0} is left to be forgotten; it was forgotten before, or never met")]
    NothingLeft(String),
    /// The store cannot be written anew.
    #[error(
        "there is not enough room where {} lies: what is removed has first to be written anew, which \
         needs {needed} bytes, and {free} are free; nothing was changed",
        path.display()
    )]
    NoRoom {
        /// The data directory.
        path: PathBuf,
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// What a page that stays has in common with a forgotten one cannot be read.
    #[error(
        "{url} has the same bytes as a page that goes, and its copy cannot be made: {why}; forget it too, or restore the file from a backup"
    )]
    NoCopy {
        /// The page that stays.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// After all, something is still there.
    #[error("{} at {offset} was to be removed and still holds a record", path.display())]
    StillThere {
        /// The file.
        path: PathBuf,
        /// The place.
        offset: u64,
    },
    /// The plan of an interrupted forgetting cannot be read.
    #[error("{} is damaged or of a newer Argiope: {why}", path.display())]
    Plan {
        /// The plan.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The news could not be written anew.
    #[error(transparent)]
    News(#[from] NewsError),
    /// The archive failed.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ForgetError {
    let path = path.to_owned();
    move |source| ForgetError::Io { action, path, source }
}

/// Opens the store in a directory.
pub type OpenStore<'a> = dyn Fn(&Path) -> Result<Arc<dyn Store>, StoreError> + 'a;

/// What only the one who chose the store can do.
pub struct StoreFiles<'a> {
    /// Opens the store in a directory.
    pub open: &'a OpenStore<'a>,
    /// Writes the closed store in a directory anew, so that its files hold nothing but its rows.
    pub rewrite: &'a dyn Fn(&Path) -> Result<(), StoreError>,
}

/// Forgets what a plan says, in a directory that the caller owns. The store is closed for it:
/// `store` must be the only handle.
pub fn forget(
    dir: &DataDir,
    store: Arc<dyn Store>,
    mut plan: ForgetPlan,
    files: &StoreFiles<'_>,
) -> Result<Receipt, ForgetError> {
    if let Err(e) = prepare(dir, &*store, &mut plan).and_then(|()| commit(dir, &*store, &plan)) {
        // Nothing has changed; whoever asks again begins anew.
        remove(&plan_path(dir))?;
        return Err(e);
    }
    behind_the_commit(dir, store, &plan, files)
}

/// Looks whether there is room and writes the plan down.
fn prepare(dir: &DataDir, store: &dyn Store, plan: &mut ForgetPlan) -> Result<(), ForgetError> {
    // The new store beside the old one, and something for the copies.
    let size = disk::dir_bytes(&dir.store());
    let needed = (16 << 20)
        + match plan.prune {
            None => size + size / 4 + plan.bytes(),
            Some(_) => plan.copied_bytes(),
        };
    let free = disk::free_bytes(dir.path()).unwrap_or(u64::MAX);
    if free < needed {
        return Err(ForgetError::NoRoom { path: dir.path().to_owned(), free, needed });
    }
    plan.store_bytes = size;
    plan.files = FileBefore::of(dir, store, plan)?;
    let text = serde_json::to_vec(plan).expect("strings and numbers are JSON");
    write_whole(&plan_path(dir), &text)
}

/// Goes on with a forgetting that was cut short, if there is one; nobody has the store open.
pub fn finish_forgetting(
    dir: &DataDir,
    files: &StoreFiles<'_>,
) -> Result<Option<Receipt>, ForgetError> {
    let at = plan_path(dir);
    let text = match fs::read(&at) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io_error("read", &at)(e)),
    };
    let broken = |why: String| ForgetError::Plan { path: at.clone(), why };
    let plan: ForgetPlan = serde_json::from_slice(&text).map_err(|e| broken(e.to_string()))?;
    if plan.version > ForgetPlan::VERSION {
        return Err(broken(format!("version {}", plan.version)));
    }
    let store = (files.open)(&dir.store())?;
    if is_committed(dir, &*store, &plan).map_err(broken)?? {
        return behind_the_commit(dir, store, &plan, files).map(Some);
    }
    // Nothing has changed yet. What is wrong with the order is said once, not to everybody who
    // comes by.
    let again = match &plan.prune {
        Some(order) => look_prune(dir, &*store, order, Time(plan.time_ms)),
        None => look(dir, &*store, &plan.asked, Time(plan.time_ms)),
    };
    match again {
        Ok(again) if again.prune.is_some() && again.captures == 0 => remove(&at).map(|()| None),
        Ok(again) => forget(dir, store, again, files).map(Some),
        Err(e) => remove(&at).and(Err(e)),
    }
}

/// Whether the batch of a plan is in the store: all of it is or nothing.
fn is_committed(
    dir: &DataDir,
    store: &dyn Store,
    plan: &ForgetPlan,
) -> Result<Result<bool, StoreError>, String> {
    if plan.prune.is_some() {
        let (key, time) = *plan.going_captures(dir).first().ok_or("it names no version")?;
        let left = store.captures(key);
        return Ok(left.map(|left| left.iter().all(|capture| capture.time != time)));
    }
    let first = plan.urls.first().ok_or("it names no URL")?;
    let key = CanonicalUrl::parse(first).map_err(|e| e.to_string())?.key(dir.suffixes());
    let row = store.urls(&[key]).map(|mut rows| rows.pop().flatten());
    Ok(row.map(|row| row.is_some_and(|row| row.state == UrlState::Forgotten)))
}

/// Moves copies and commits: up to here nothing is changed, from here on all of it will be.
fn commit(dir: &DataDir, store: &dyn Store, plan: &ForgetPlan) -> Result<(), ForgetError> {
    clear_spool(dir)?;
    // What a killed crawl left behind the committed ends may hold the same pages: it is cut.
    let info = WarcInfo {
        software: concat!("argiope/", env!("CARGO_PKG_VERSION")).to_owned(),
        time: Time(plan.time_ms),
        fields: Vec::new(),
    };
    let kind = ArchiveKind::Warc { info };
    let committed = store.segments(SegmentKind::Warc)?;
    let mut warc = Segments::open(&dir.warc(), kind, &committed, SEGMENT_BYTES)?;
    let committed = store.segments(SegmentKind::Text)?;
    drop(Segments::open(&dir.text(), ArchiveKind::Text, &committed, SEGMENT_BYTES)?);
    let moved = moving::move_copies(dir, store, plan, &mut warc)?;
    warc.sync()?;
    let segments = warc.lengths().into_iter().map(|(n, len)| (SegmentKind::Warc, n, len));
    let key = |text: &String| Some(CanonicalUrl::parse(text).ok()?.key(dir.suffixes()));
    let urls: Vec<UrlKey> = plan.urls.iter().filter_map(key).collect();
    let hosts: Vec<HostKey> = plan.hosts.iter().filter_map(|o| Some(key(o)?.host)).collect();
    let captures = plan.going_captures(dir);
    let payloads = look::payload_rows(dir, store, &urls, &captures)?;
    let forget = Forget { urls, captures, hosts, payloads, moved };
    let now = Time(plan.time_ms);
    store.commit(Batch { now, forget, segments: segments.collect(), ..Batch::default() })?;
    Ok(())
}

/// Everything that may be done twice.
fn behind_the_commit(
    dir: &DataDir,
    store: Arc<dyn Store>,
    plan: &ForgetPlan,
    files: &StoreFiles<'_>,
) -> Result<Receipt, ForgetError> {
    // What goes for the sake of room goes in as few pieces as possible.
    let pieces = |places: Vec<Location>| match plan.prune {
        Some(_) => merge_places(&places),
        None => places,
    };
    let records = pieces(plan.all_records());
    blank_records(&dir.warc(), &records, Time(plan.time_ms))?;
    blank_texts(&dir.text(), &pieces(plan.texts.clone()))?;
    for at in &records {
        if !is_tombstone(open_record(&dir.warc(), *at)?.headers()) {
            let path = dir.warc().join(argiope_archive::warc_segment_name(at.segment));
            return Err(ForgetError::StillThere { path, offset: at.offset });
        }
    }
    if plan.prune.is_none() {
        let logs = log_dir(dir.path());
        forget_details(&logs, &plan.urls.iter().map(String::as_str).collect())
            .map_err(io_error("rewrite", &logs))?;
        forget_words(dir, &store)?;
        forget_news(dir, &*store, &plan.urls)?;
    }
    let after = FileBefore::of(dir, &*store, plan)?;
    drop(store);
    if plan.prune.is_none() {
        (files.rewrite)(&dir.store())?;
    }
    clear_spool(dir)?;
    let receipt = Receipt::new(plan, after, disk::dir_bytes(&dir.store()));
    let receipts = receipts_dir(dir.path());
    fs::create_dir_all(&receipts).map_err(io_error("make the directory", &receipts))?;
    let kept = receipts.join(&receipt.id).with_extension("json");
    write_whole(&kept, &serde_json::to_vec_pretty(&receipt).expect("it is JSON"))?;
    remove(&plan_path(dir))?;
    Ok(receipt)
}

/// Takes the forgotten pages out of the word index, and their words out of its files. An index
/// that cannot be written is made again when somebody searches.
fn forget_words(dir: &DataDir, store: &Arc<dyn Store>) -> Result<(), ForgetError> {
    let at = dir.index();
    if !at.exists() {
        return Ok(());
    }
    let memory = IndexSettings::MIN_MEMORY;
    let without = || -> Result<(), IndexError> {
        let settings = made_with(&at, memory)?.unwrap_or_default();
        let links = Arc::new(Backlinks::new(dir, store.clone(), memory));
        Words::new(dir, store.clone(), Some(links), settings, Hold::default()).purge()
    };
    if let Err(e) = without() {
        tracing::warn!("{}; the word index is made again later", chain(&e));
        fs::remove_dir_all(&at).map_err(io_error("remove", &at))?;
    }
    Ok(())
}

fn plan_path(dir: &DataDir) -> PathBuf {
    dir.path().join("forgetting.json")
}

/// Bodies and records that a killed crawl left on their way.
fn clear_spool(dir: &DataDir) -> Result<(), ForgetError> {
    match fs::remove_dir_all(dir.spool()) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(io_error("clear", &dir.spool())(e)),
        _ => Ok(()),
    }
}

/// Writes a file whole or not at all, and durably.
fn write_whole(path: &Path, content: &[u8]) -> Result<(), ForgetError> {
    let part = path.with_extension("json.part");
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&part, path)?;
        sync_dir_of(path)
    };
    write().map_err(io_error("write", path))
}

fn remove(path: &Path) -> Result<(), ForgetError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.and_then(|()| sync_dir_of(path)).map_err(io_error("remove", path)),
    }
}

fn sync_dir_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}
