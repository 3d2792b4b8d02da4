//! The follower: reads the change log, fills the buffer, writes and merges runs.
//!
//! Life of a page's links: its row in the change log → its stored links, read as fingerprints
//! → buffer → a run of its own age → merged with its neighbours into ever larger runs. A run is
//! merged with all newer ones when these have become [`FAN`] times as heavy as it: a link is
//! rewritten each time its run grows so much, and there are never many runs.
//!
//! Invariants: the manifest names only runs that are on the disk, and how far the change log is
//! in them; what is in the buffer is read again after a crash. Runs stand in the order of their
//! age, and only neighbours are merged.

use crate::buffer::Buffer;
use crate::error::{GraphError, io_error};
use crate::keys::{Keys, ORIGIN, site_of};
use crate::manifest::{Manifest, run_path};
use crate::merge::{Failure, Layer, bury, merge};
use crate::run::{Run, RunWriter};
use crate::source::{BROKEN, COUNTS, DocSet, LINKS, MALFORMED, NOFOLLOW};
use crate::view::View;
use argiope_model::{HostKey, LinkKind, Suffixes};
use argiope_store::{Change, Ended, Store, scan_links};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// By how much runs grow when they are merged.
const FAN: u64 = 8;
/// Rows of the change log taken at once.
const BATCH: usize = 256;
/// The least memory that makes sense.
const MIN_MEMORY: u64 = 1 << 20;

/// Reverse links, following the change log of a store.
pub struct Graph {
    dir: PathBuf,
    /// Bytes the buffer may take.
    room: usize,
    /// Hosts whose sites are remembered.
    hosts: usize,
    manifest: Manifest,
    layers: Vec<Layer>,
    buffer: Buffer,
    /// How far each partition's change log was read, the buffer included.
    read: BTreeMap<u16, u64>,
    keys: Keys,
    sites: HashMap<HostKey, u32>,
    plain: Vec<u8>,
    /// The view of now, until something is read.
    view: Option<View>,
}

/// What came of following the change log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows of the change log read.
    pub rows: u64,
    /// Whether there were more than were wanted.
    pub more: bool,
    /// The store knows less than was read from it (a backup came back): all was read anew.
    pub rebuilt: bool,
}

/// How large the graph is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphSize {
    /// Runs on disk.
    pub runs: usize,
    /// Links in them, those no longer valid included.
    pub links: u64,
    /// Pages in them.
    pub pages: u64,
    /// Bytes on disk.
    pub disk: u64,
    /// Bytes in memory.
    pub memory: u64,
}

impl Graph {
    /// Opens the graph in a directory, making it where there is none; `memory` bounds what it
    /// holds in memory.
    pub fn open(dir: &Path, memory: u64) -> Result<Self, GraphError> {
        fs::create_dir_all(dir).map_err(io_error("make", dir))?;
        let manifest = Manifest::read(dir)?;
        manifest.tidy(dir)?;
        let mut layers: Vec<Layer> = Vec::new();
        for number in &manifest.runs {
            let run = Arc::new(Run::open(&run_path(dir, *number))?);
            bury(&mut layers, &run)?;
            layers.push(Layer { run, dead: Arc::new(DocSet::default()) });
        }
        // Half for the buffer: while somebody asks, it is there a second time, as a run.
        let memory = usize::try_from(memory.max(MIN_MEMORY)).unwrap_or(usize::MAX);
        Ok(Graph {
            dir: dir.to_owned(),
            room: memory / 2,
            hosts: memory / 16 / ORIGIN,
            read: manifest.read.clone(),
            manifest,
            layers,
            buffer: Buffer::default(),
            keys: Keys::new(memory / 16 / ORIGIN),
            sites: HashMap::new(),
            plain: Vec::new(),
            view: None,
        })
    }

    /// Throws away what there is, damaged or not, and begins anew: the next call of
    /// [`Graph::catch_up`] reads the change log from its start.
    pub fn rebuild(dir: &Path, memory: u64) -> Result<Self, GraphError> {
        if dir.exists() {
            // Without a manifest every run is a stale one.
            Manifest::default().write(dir)?;
        }
        Self::open(dir, memory)
    }

    /// Reads at most about `limit` rows of the change log; `pinned` is the list that the
    /// store's keys are made with.
    pub fn catch_up(
        &mut self,
        store: &dyn Store,
        pinned: &Suffixes,
        limit: usize,
    ) -> Result<Progress, GraphError> {
        let followed = self.follow(store, pinned, limit);
        if followed.is_err() {
            // What was under way is read again.
            self.buffer.clear();
            self.read.clone_from(&self.manifest.read);
            self.view = None;
        }
        followed
    }

    fn follow(
        &mut self,
        store: &dyn Store,
        pinned: &Suffixes,
        limit: usize,
    ) -> Result<Progress, GraphError> {
        let mut progress = Progress::default();
        let heads: BTreeMap<u16, u64> = store.log_heads()?.into_iter().collect();
        let behind = |(part, n): (&u16, &u64)| heads.get(part).is_none_or(|head| head < n);
        if self.read.iter().any(behind) {
            tracing::warn!("the link graph is ahead of the store and is made again");
            self.begin_anew()?;
            progress.rebuilt = true;
        }
        let mut batch: Vec<Change> = Vec::with_capacity(BATCH);
        for (part, head) in heads {
            loop {
                let after = self.read.get(&part).copied().unwrap_or(0);
                if after >= head {
                    break;
                }
                let room = limit.saturating_sub(progress.rows as usize);
                if room == 0 {
                    progress.more = true;
                    break;
                }
                let rows = store.changes(part, after, room.min(BATCH - batch.len()))?;
                let Some(last) = rows.last() else { break };
                self.read.insert(part, last.n);
                progress.rows += rows.len() as u64;
                batch.extend(rows);
                if batch.len() >= BATCH {
                    self.take(store, pinned, &mut batch)?;
                }
            }
        }
        self.take(store, pinned, &mut batch)?;
        Ok(progress)
    }

    /// Takes rows of the change log in: all whose numbers were noted, since a run may be
    /// written then.
    fn take(
        &mut self,
        store: &dyn Store,
        pinned: &Suffixes,
        batch: &mut Vec<Change>,
    ) -> Result<(), GraphError> {
        batch.retain(|change| change.ended != Ended::Open);
        if batch.is_empty() {
            return Ok(());
        }
        self.view = None;
        self.find_sites(store, pinned, batch)?;
        let linking = |change: &&Change| change.ended == Ended::WithPage;
        let keys: Vec<_> = batch.iter().filter(linking).map(|change| change.key).collect();
        let mut blobs = store.links(&keys)?.into_iter();
        for change in batch.drain(..) {
            let blob = match change.ended {
                Ended::WithPage => blobs.next().flatten(),
                _ => None,
            };
            let flags = if change.ended == Ended::Broken { BROKEN } else { 0 };
            let site = self.sites.get(&change.key.host).copied().unwrap_or(0);
            self.buffer.page(change.doc, site, flags);
            let Some(blob) = blob else { continue };
            let (keys, buffer) = (&mut self.keys, &mut self.buffer);
            let mut any = 0;
            // Most URLs are linked to in several ways, which stand together and say the same.
            let mut said = (std::ptr::null(), 0);
            let malformed = scan_links(&blob, &mut self.plain, |link| {
                any = LINKS;
                let nofollow = if link.nofollow { NOFOLLOW } else { 0 };
                let counts = if is_backlink(link.kind) { COUNTS } else { 0 };
                let says = (link.url.as_ptr(), counts | nofollow);
                if std::mem::replace(&mut said, says) != says {
                    buffer.link(keys.of(link.url, pinned), says.1);
                }
            })?;
            buffer.mark(any | if malformed > 0 { MALFORMED } else { 0 });
        }
        if self.buffer.bytes() >= self.room { self.flush() } else { Ok(()) }
    }

    /// Remembers the sites of the hosts that these rows are of.
    fn find_sites(
        &mut self,
        store: &dyn Store,
        pinned: &Suffixes,
        batch: &[Change],
    ) -> Result<(), GraphError> {
        if self.sites.len() > self.hosts {
            self.sites.clear();
        }
        let mut unknown: Vec<HostKey> = batch.iter().map(|change| change.key.host).collect();
        unknown.retain(|host| !self.sites.contains_key(host));
        unknown.sort_unstable();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(());
        }
        let rows = store.hosts(&unknown)?;
        for (host, row) in unknown.into_iter().zip(rows) {
            if let Some(row) = row {
                self.sites.insert(host, site_of(&row.origin, pinned));
            }
        }
        Ok(())
    }

    /// Writes the buffer out as a run and notes how far the change log is on disk; merges what
    /// has become too many.
    pub fn flush(&mut self) -> Result<(), GraphError> {
        if self.buffer.is_empty() {
            if self.manifest.read != self.read {
                let next = Manifest { read: self.read.clone(), ..self.manifest.clone() };
                next.write(&self.dir)?;
                self.manifest = next;
            }
            return Ok(());
        }
        self.view = None;
        let buffer = &mut self.buffer;
        let (number, run) = new_run(&self.dir, &mut self.manifest, |out| {
            buffer.write(out).map(|(out, _)| out).map_err(Failure::Write)
        })?;
        let mut layers = self.layers.clone();
        bury(&mut layers, &run)?;
        layers.push(Layer { run, dead: Arc::new(DocSet::default()) });
        let mut next = Manifest { read: self.read.clone(), ..self.manifest.clone() };
        next.runs.push(number);
        next.write(&self.dir)?;
        (self.manifest, self.layers) = (next, layers);
        self.buffer.clear();
        while let Some(from) = self.crowded() {
            self.merge_from(from)?;
        }
        Ok(())
    }

    /// Merges all runs into one.
    pub fn settle(&mut self) -> Result<(), GraphError> {
        self.flush()?;
        if self.layers.len() > 1 || self.layers.iter().any(|layer| !layer.dead.is_empty()) {
            self.merge_from(0)?;
        }
        Ok(())
    }

    /// Pages in the buffer: what would be read again after a crash.
    pub fn buffered(&self) -> usize {
        self.buffer.pages()
    }

    /// From which run on merging pays: those after it have become as heavy as [`FAN`] of its
    /// kind, or most of what it says was replaced.
    fn crowded(&self) -> Option<usize> {
        let weight = |layer: &Layer| layer.run.totals().weight();
        let mut newer: u64 = self.layers.iter().map(weight).sum();
        // The newest has none to be merged with.
        let (_, older) = self.layers.split_last()?;
        older.iter().position(|layer| {
            newer -= weight(layer);
            let replaced = layer.dead.len() * 2 > layer.run.totals().pages;
            replaced || newer >= weight(layer).saturating_mul(FAN - 1)
        })
    }

    fn merge_from(&mut self, from: usize) -> Result<(), GraphError> {
        self.view = None;
        let layers = &self.layers[from..];
        let (number, run) = new_run(&self.dir, &mut self.manifest, |out| {
            let mut out = RunWriter::new(out).map_err(Failure::Write)?;
            merge(layers, from == 0, &mut out)?;
            out.finish().map(|(out, _)| out).map_err(Failure::Write)
        })?;
        let mut next = self.manifest.clone();
        let old = next.runs.split_off(from);
        next.runs.push(number);
        next.write(&self.dir)?;
        self.manifest = next;
        self.layers.truncate(from);
        self.layers.push(Layer { run, dead: Arc::new(DocSet::default()) });
        for number in old {
            let path = run_path(&self.dir, number);
            fs::remove_file(&path).map_err(io_error("delete", &path))?;
        }
        Ok(())
    }

    fn begin_anew(&mut self) -> Result<(), GraphError> {
        self.manifest = Manifest { next: self.manifest.next, ..Manifest::default() };
        self.manifest.write(&self.dir)?;
        self.layers.clear();
        self.manifest.tidy(&self.dir)?;
        self.buffer.clear();
        self.read.clear();
        self.view = None;
        Ok(())
    }

    /// Everything read so far, to be asked; it stays as it is while the graph goes on.
    pub fn view(&mut self) -> Result<View, GraphError> {
        if let Some(view) = &self.view {
            return Ok(view.clone());
        }
        let mut layers = self.layers.clone();
        if !self.buffer.is_empty() {
            let written = self.buffer.write(Vec::new());
            let (bytes, _) = written.map_err(io_error("read", Path::new("the buffer")))?;
            let run = Arc::new(Run::in_memory(bytes)?);
            bury(&mut layers, &run)?;
            layers.push(Layer { run, dead: Arc::new(DocSet::default()) });
        }
        let view = View::new(layers, self.read.clone());
        self.view = Some(view.clone());
        Ok(view)
    }

    /// How large it is.
    pub fn size(&self) -> GraphSize {
        let mut size = GraphSize { runs: self.layers.len(), ..GraphSize::default() };
        size.memory = self.buffer.bytes() as u64;
        for (layer, number) in self.layers.iter().zip(&self.manifest.runs) {
            let totals = layer.run.totals();
            size.links += totals.links;
            size.pages += totals.pages;
            size.memory += layer.run.memory();
            size.disk += fs::metadata(run_path(&self.dir, *number)).map_or(0, |m| m.len());
        }
        size
    }
}

/// Whether a link of this kind is one a reader follows.
pub fn is_backlink(kind: LinkKind) -> bool {
    use LinkKind::{Anchor, Area, Frame, Iframe};
    matches!(kind, Anchor | Area | Frame | Iframe)
}

/// Writes a new run and syncs it.
fn new_run(
    dir: &Path,
    manifest: &mut Manifest,
    write: impl FnOnce(BufWriter<File>) -> Result<BufWriter<File>, Failure>,
) -> Result<(u64, Arc<Run>), GraphError> {
    let number = manifest.next;
    manifest.next += 1;
    let path = run_path(dir, number);
    let file = File::create(&path).map_err(io_error("make", &path))?;
    let out = write(BufWriter::with_capacity(256 << 10, file));
    let mut out = out.map_err(|e| match e {
        Failure::Read(e) => e,
        Failure::Write(e) => io_error("write", &path)(e),
    })?;
    out.flush().and_then(|()| out.get_ref().sync_all()).map_err(io_error("write", &path))?;
    Ok((number, Arc::new(Run::open(&path)?)))
}
