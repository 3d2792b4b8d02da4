//! Where bodies gather: in memory while there is room, else in a spool file.
//!
//! * Its place: `fetcher` and `decode` push bytes into a [`Gathering`] and get a [`Body`].
//! * States of a gathering: *in memory*, then, for good, *in a file* once the body outgrows
//!   `spool_above` or the budget has no room for more. In a file, bytes still collect in a
//!   buffer of 64 to 256 KB so that writes are large.
//! * Invariants: every byte of capacity is counted in the [`Budget`]; only the first 64 KB of a
//!   body may overdraw it, so small pages never wait for the disk.
//! * What is not here: async. [`Gathering::push`] never blocks, [`Gathering::flush`] does; an
//!   async caller moves the latter to a blocking thread.

use crate::body::{Body, BodyBytes, SpoolFile};
use crate::settings::{FetchError, FetchSettings};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// What any body may hold in memory, however tight the budget is.
const ALWAYS_IN_MEMORY: usize = 64 << 10;
/// The largest piece that collects before it is written to a file.
const PIECE: usize = 256 << 10;
/// A promised length is believed this far when memory is set aside.
const RESERVE_AT_MOST: usize = 256 << 10;
const ENDING: &str = "body";

/// The spool directory and the memory budget.
#[derive(Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
    next_file: AtomicU64,
    spool_above: usize,
    budget: Arc<Budget>,
}

impl Spool {
    /// Makes the directory and clears what an earlier run left in it.
    pub(crate) fn open(settings: &FetchSettings) -> Result<Self, FetchError> {
        let dir = settings.spool_dir.clone();
        clear(&dir).map_err(|source| FetchError::SpoolDir { path: dir.clone(), source })?;
        Ok(Spool {
            dir,
            next_file: AtomicU64::new(1),
            spool_above: settings.spool_above,
            budget: Arc::new(Budget { limit: settings.body_memory, used: AtomicUsize::new(0) }),
        })
    }

    /// Bytes of bodies now in memory.
    pub(crate) fn memory_used(&self) -> usize {
        self.budget.used.load(Relaxed)
    }

    /// Room for a body in memory whose size is known; `None` if it belongs in a file.
    pub(crate) fn room_for(&self, bytes: usize) -> Option<Share> {
        let mut share = Share { budget: self.budget.clone(), held: 0 };
        let fits = bytes <= self.spool_above && share.resize(bytes, bytes <= ALWAYS_IN_MEMORY);
        fits.then_some(share)
    }

    fn create(&self) -> Result<(File, SpoolFile), FetchError> {
        let n = self.next_file.fetch_add(1, Relaxed);
        let path = self.dir.join(format!("{n}.{ENDING}"));
        match File::create_new(&path) {
            Ok(file) => Ok((file, SpoolFile { path, len: 0 })),
            Err(e) => Err(failed(&path, e)),
        }
    }
}

fn clear(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == ENDING) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

pub(crate) fn failed(path: &Path, source: io::Error) -> FetchError {
    FetchError::SpoolFile { path: path.to_owned(), source }
}

#[derive(Debug)]
struct Budget {
    limit: usize,
    used: AtomicUsize,
}

/// A part of the budget, given back on drop.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    held: usize,
}

impl Share {
    /// A share of nothing.
    pub(crate) fn uncounted() -> Self {
        let budget = Budget { limit: 0, used: AtomicUsize::new(0) };
        Share { budget: Arc::new(budget), held: 0 }
    }

    /// Holds exactly `bytes` from now on; growth beyond the budget only if `overdraw`.
    fn resize(&mut self, bytes: usize, overdraw: bool) -> bool {
        if bytes > self.held {
            let more = bytes - self.held;
            let used = self.budget.used.fetch_add(more, Relaxed);
            if used.saturating_add(more) > self.budget.limit && !overdraw {
                self.budget.used.fetch_sub(more, Relaxed);
                return false;
            }
        } else {
            self.budget.used.fetch_sub(self.held - bytes, Relaxed);
        }
        self.held = bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.held, Relaxed);
    }
}

/// A body under way.
pub(crate) struct Gathering {
    spool: Arc<Spool>,
    buffer: Vec<u8>,
    share: Share,
    file: Option<(File, SpoolFile)>,
    len: u64,
    /// How much may collect in memory before the body moves to a file.
    most_in_memory: usize,
    /// Set when the buffer must be written before more is pushed.
    due: bool,
}

impl Gathering {
    /// Starts a body that is expected to have `promised` bytes.
    pub(crate) fn new(spool: &Arc<Spool>, promised: Option<u64>) -> Self {
        let share = Share { budget: spool.budget.clone(), held: 0 };
        let mut gathering = Gathering {
            spool: spool.clone(),
            buffer: Vec::new(),
            share,
            file: None,
            len: 0,
            most_in_memory: spool.spool_above,
            due: false,
        };
        // A body that will end in a file need not fill the memory first.
        if promised.is_some_and(|n| n > spool.spool_above as u64) {
            gathering.most_in_memory = spool.spool_above.min(PIECE);
        }
        if let Some(promised) = promised.and_then(|n| usize::try_from(n).ok()) {
            let room = promised.min(RESERVE_AT_MOST).min(spool.spool_above);
            let room = if gathering.share.resize(room, room <= ALWAYS_IN_MEMORY) {
                room
            } else {
                gathering.share.resize(ALWAYS_IN_MEMORY, true);
                ALWAYS_IN_MEMORY
            };
            gathering.buffer.reserve_exact(room);
        }
        gathering
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Takes bytes in. If it says true, `flush` must come before the next push.
    #[must_use]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        self.len += bytes.len() as u64;
        let need = self.buffer.len() + bytes.len();
        if self.file.is_none() && need > self.most_in_memory {
            self.due = true;
        }
        if need > self.buffer.capacity() {
            let wish = if self.file.is_some() || self.due {
                need
            } else {
                need.max(self.buffer.capacity() * 2).min(self.most_in_memory.max(need))
            };
            if !self.share.resize(wish, wish <= ALWAYS_IN_MEMORY) {
                self.due = true;
                self.share.resize(need, true);
                self.buffer.reserve_exact(bytes.len());
            } else {
                self.buffer.reserve_exact(wish - self.buffer.len());
            }
        }
        self.buffer.extend_from_slice(bytes);
        if self.file.is_some() && self.buffer.len() >= ALWAYS_IN_MEMORY {
            let full = self.buffer.len() + ALWAYS_IN_MEMORY > self.buffer.capacity();
            self.due |= full || self.buffer.len() >= PIECE;
        }
        self.due
    }

    /// Writes what has collected to the file, which is made now if there is none. Blocks.
    pub(crate) fn flush(&mut self) -> Result<(), FetchError> {
        if self.file.is_none() {
            self.file = Some(self.spool.create()?);
        }
        let (file, place) = self.file.as_mut().expect("it was just made");
        file.write_all(&self.buffer).map_err(|e| failed(&place.path, e))?;
        place.len += self.buffer.len() as u64;
        self.buffer.clear();
        self.buffer.shrink_to(PIECE);
        self.share.resize(self.buffer.capacity(), true);
        self.due = false;
        Ok(())
    }

    /// Whether `finish` would write to a file.
    pub(crate) fn must_flush(&self) -> bool {
        self.file.is_some() && !self.buffer.is_empty()
    }

    /// The body; the last piece must have been flushed if there is a file.
    pub(crate) fn finish(mut self) -> Body {
        if let Some((_, place)) = self.file.take() {
            debug_assert!(self.buffer.is_empty() && place.len == self.len);
            return Body::Spooled(place);
        }
        if self.buffer.is_empty() {
            return Body::Empty;
        }
        // A buffer that doubled just before the end would hold twice its share for long.
        if self.buffer.capacity() > self.buffer.len() + self.buffer.len() / 4 + 1024 {
            self.buffer.shrink_to_fit();
        }
        self.share.resize(self.buffer.capacity(), true);
        Body::Memory(BodyBytes { bytes: self.buffer, _share: self.share })
    }
}
