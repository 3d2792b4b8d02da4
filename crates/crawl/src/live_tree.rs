//! The directory store kept while a crawl runs: what `export tree` writes, page by page as they come.
//!
//! * Its place: a follower of the change log in a thread of its own (`follow`). It knows how far it has
//!   read from a file beside the pages, `following.json`, so that a crawl that goes on goes on there.
//! * Invariants: a file is whole or not there; what was read again after a kill is written to the same
//!   path again. Pages that ask not to be shown are left out.
//! * What is not here: names of files, and all at once (`export_tree`).

use crate::data_dir::DataDir;
use crate::export_pages::may_be_shown;
use crate::export_tree::{Stop, apart, crawl_name, line_of, tree_path, write};
use crate::follow::{Failure, Follower};
use crate::versions::{Shelf, Versions};
use argiope_model::{CanonicalUrl, Capture, JobId, OutcomeKind, Role, Suffixes};
use argiope_store::{Change, Store};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of the change log read at once.
const PIECE: usize = 128;

/// Pages as files, kept up to date.
pub struct LiveTree {
    out: PathBuf,
    warc: PathBuf,
    text: PathBuf,
    pinned: Arc<Suffixes>,
    store: Arc<dyn Store>,
    /// How far each partition's log is read; `None` before it was looked up.
    read: Mutex<Option<BTreeMap<u16, u64>>>,
}

impl LiveTree {
    /// The pages of a directory as files below another.
    pub fn new(dir: &DataDir, store: Arc<dyn Store>, out: PathBuf) -> Self {
        LiveTree {
            out,
            warc: dir.warc(),
            text: dir.text(),
            pinned: dir.suffixes().clone(),
            store,
            read: Mutex::new(None),
        }
    }

    fn begun(&self) -> Result<BTreeMap<u16, u64>, Failure> {
        fs::create_dir_all(&self.out)?;
        match fs::read(self.out.join("following.json")) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(e) => Err(e.into()),
        }
    }

    fn note(&self, read: &BTreeMap<u16, u64>) -> Result<(), Failure> {
        let (new, at) = (self.out.join("following.new"), self.out.join("following.json"));
        fs::write(&new, serde_json::to_vec(read)?)?;
        fs::rename(new, at)?;
        Ok(())
    }

    fn follow(&self) -> Result<bool, Failure> {
        let mut slot = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            *slot = Some(self.begun()?);
        }
        let Some(read) = slot.as_mut() else { return Ok(false) };
        let mut behind = self.store.log_heads()?.into_iter();
        let behind = behind.find(|(part, head)| read.get(part).copied().unwrap_or(0) < *head);
        let Some((part, _)) = behind else { return Ok(false) };
        let changes = self.store.changes(part, read.get(&part).copied().unwrap_or(0), PIECE)?;
        let Some(last) = changes.last().map(|change| change.n) else { return Ok(false) };
        let crawls = self.store.jobs()?;
        let crawls = crawls.iter().map(|row| (row.job.id, crawl_name(row.job.created))).collect();
        let crawls = apart(crawls);
        let mut lines = Vec::new();
        for change in &changes {
            self.page(change, &crawls, &mut lines)?;
        }
        let mut index =
            OpenOptions::new().create(true).append(true).open(self.out.join("index.jsonl"))?;
        index.write_all(&lines)?;
        read.insert(part, last);
        self.note(read)?;
        Ok(true)
    }

    fn page(
        &self,
        change: &Change,
        crawls: &HashMap<JobId, String>,
        lines: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let Some(row) = self.store.urls(&[change.key])?.pop().flatten() else { return Ok(()) };
        if row.role != Role::Page {
            return Ok(());
        }
        let page = Versions { url: row.url.clone(), captures: self.store.captures(change.key)? };
        let seen = |c: &Capture| c.outcome.kind == OutcomeKind::Fetched && c.record.is_some();
        let Some(n) = page.captures.iter().position(|c| c.time == change.time && seen(c)) else {
            return Ok(());
        };
        let capture = &page.captures[n];
        if !may_be_shown(capture) {
            return Ok(());
        }
        // Only the first version of a crawl has the plain name.
        let again = page.captures[..n].iter().any(|c| c.job == capture.job && seen(c));
        let crawl = crawls.get(&capture.job).map_or("crawl", String::as_str);
        let version = again.then_some(capture.time);
        let path = format!("{crawl}/{}", tree_path(&page.url, &capture.mime, version));
        let captures_of = |url: &str| -> Result<Vec<Capture>, Failure> {
            Ok(self.store.captures(CanonicalUrl::parse(url)?.key(&self.pinned))?)
        };
        let shelf =
            Shelf { warc: self.warc.clone(), text: self.text.clone(), captures_of: &captures_of };
        match write(&shelf, &page, n, &self.out.join(&path)) {
            Ok(bytes) => writeln!(lines, "{}", line_of(&page.url, capture, &path, bytes))?,
            Err(Stop::Version(e)) => tracing::warn!("{} is not in the tree: {e}", page.url),
            Err(Stop::Disk(e)) => return Err(format!("cannot write {path}: {e}").into()),
        }
        Ok(())
    }
}

impl Follower for LiveTree {
    fn name(&self) -> &'static str {
        "files of pages"
    }

    fn step(&self) -> Result<bool, Failure> {
        self.follow()
    }

    fn finish(&self, all: bool) -> Result<(), Failure> {
        while all && self.follow()? {}
        Ok(())
    }
}
