//! Reading a run: from a file or, for what is still in the buffer, from memory.

use super::{
    Footer, GOES_ON, HEADER, MAGIC, PIECE, Place, SAME_HOST, SUM, TRAILER, Totals, VERSION,
};
use crate::error::{GraphError, io_error};
use crate::source::{Source, order_of};
use crate::varint;
use argiope_model::{DocId, HostKey, UrlKey};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// A run, open.
#[derive(Debug)]
pub(crate) struct Run {
    path: PathBuf,
    bytes: Bytes,
    footer: Footer,
}

#[derive(Debug)]
enum Bytes {
    File(File),
    Memory(Vec<u8>),
}

/// What stands before the sources of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub count: u64,
    pub sites: u64,
    pub links: u64,
    pub goes_on: bool,
}

impl Run {
    pub fn open(path: &Path) -> Result<Self, GraphError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(GraphError::Damaged { path: path.to_owned(), why: "it is missing" });
            }
            Err(e) => return Err(io_error("open", path)(e)),
        };
        let length = file.metadata().map_err(io_error("open", path))?.len();
        Self::read(path.to_owned(), Bytes::File(file), length)
    }

    pub fn in_memory(bytes: Vec<u8>) -> Result<Self, GraphError> {
        let length = bytes.len() as u64;
        Self::read(PathBuf::from("memory"), Bytes::Memory(bytes), length)
    }

    fn read(path: PathBuf, bytes: Bytes, length: u64) -> Result<Self, GraphError> {
        let mut run = Run { path, bytes, footer: Footer::default() };
        let Some(trailer) = length.checked_sub(TRAILER as u64).filter(|at| *at >= HEADER as u64)
        else {
            return Err(run.damaged("it is too short"));
        };
        let mut head = [0; HEADER];
        run.fill(0, &mut head)?;
        let (magic, version) = head.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(run.damaged("it is not a run"));
        }
        let version = u32::from_le_bytes(version.try_into().unwrap_or_default());
        if version > VERSION {
            return Err(GraphError::Newer { found: version, known: VERSION });
        }
        let mut tail = [0; TRAILER];
        run.fill(trailer, &mut tail)?;
        let (size, rest) = tail.split_at(8);
        let (sum, magic) = rest.split_at(SUM);
        let size = u64::from_le_bytes(size.try_into().unwrap_or_default());
        let start = trailer.checked_sub(size).filter(|at| *at >= HEADER as u64);
        let Some(start) = start.filter(|_| magic == MAGIC) else {
            return Err(run.damaged("its end is missing"));
        };
        let mut footer = vec![0; (trailer - start) as usize];
        run.fill(start, &mut footer)?;
        if xxh3_64(&footer).to_le_bytes() != sum {
            return Err(run.damaged("the checksum of its footer is wrong"));
        }
        run.footer =
            postcard::from_bytes(&footer).map_err(|_| run.damaged("its footer is unreadable"))?;
        Ok(run)
    }

    pub fn totals(&self) -> Totals {
        self.footer.totals
    }

    /// Bytes its footer takes in memory.
    pub fn memory(&self) -> u64 {
        let held = match &self.bytes {
            Bytes::File(_) => 0,
            Bytes::Memory(bytes) => bytes.len(),
        };
        (held
            + self.footer.targets.len() * 32
            + self.footer.pages.len() * 24
            + self.footer.popular.len() * 16) as u64
    }

    fn damaged(&self, why: &'static str) -> GraphError {
        GraphError::Damaged { path: self.path.clone(), why }
    }

    fn fill(&self, offset: u64, into: &mut [u8]) -> Result<(), GraphError> {
        match &self.bytes {
            Bytes::File(file) => {
                file.read_exact_at(into, offset).map_err(io_error("read", &self.path))
            }
            Bytes::Memory(bytes) => {
                let start = offset as usize;
                let found = bytes.get(start..start + into.len());
                into.copy_from_slice(found.ok_or_else(|| self.damaged("it is too short"))?);
                Ok(())
            }
        }
    }

    /// Reads a block and takes its checksum off.
    fn block(&self, place: Place, into: &mut Vec<u8>) -> Result<(), GraphError> {
        into.resize(place.length as usize, 0);
        self.fill(place.offset, into)?;
        let Some(end) = into.len().checked_sub(SUM) else {
            return Err(self.damaged("a block is too short"));
        };
        if xxh3_64(&into[..end]).to_le_bytes() != into[end..] {
            return Err(self.damaged("the checksum of a block is wrong"));
        }
        into.truncate(end);
        Ok(())
    }
}

/// Walks over the targets of a run and their sources.
pub(crate) struct Cursor {
    run: Arc<Run>,
    next_block: usize,
    block: Vec<u8>,
    /// Behind the piece the cursor stands on.
    at: usize,
    key: Option<UrlKey>,
    piece: Piece,
    list: std::ops::Range<usize>,
    /// Where it stands among the sources of the piece.
    site: u64,
    running: u64,
    left: u64,
}

impl Cursor {
    /// Stands on the first target.
    pub fn first(run: Arc<Run>) -> Result<Self, GraphError> {
        Self::at_block(run, 0)
    }

    fn at_block(run: Arc<Run>, next_block: usize) -> Result<Self, GraphError> {
        let mut cursor = Cursor {
            run,
            next_block,
            block: Vec::new(),
            at: 0,
            key: None,
            piece: Piece { count: 0, sites: 0, links: 0, goes_on: false },
            list: 0..0,
            site: 0,
            running: 0,
            left: 0,
        };
        cursor.next_piece()?;
        Ok(cursor)
    }

    /// Stands on a target, or on the first after it.
    pub fn seek(run: Arc<Run>, key: UrlKey) -> Result<Self, GraphError> {
        let bytes = key.to_bytes();
        // The target may have begun in a block before the last that begins below it, and a
        // block may begin in the middle of it.
        let blocks = &run.footer.targets;
        let mut block = blocks.partition_point(|(first, _)| *first < bytes);
        block = block.saturating_sub(1);
        let mut cursor = Self::at_block(run, block)?;
        while cursor.key.is_some_and(|k| k < key) {
            cursor.next_piece()?;
        }
        Ok(cursor)
    }

    /// The target it stands on; `None` behind the last.
    #[inline]
    pub fn target(&self) -> Option<UrlKey> {
        self.key
    }

    /// The next piece, of this target or of the next.
    fn next_piece(&mut self) -> Result<(), GraphError> {
        if self.at >= self.block.len() {
            let Some(&(_, place)) = self.run.footer.targets.get(self.next_block) else {
                self.key = None;
                return Ok(());
            };
            self.run.block(place, &mut self.block)?;
            self.next_block += 1;
            self.at = 0;
        }
        match self.read_piece() {
            Some(()) => Ok(()),
            None => Err(self.run.damaged("a piece is unreadable")),
        }
    }

    fn read_piece(&mut self) -> Option<()> {
        let block = &self.block;
        let mut at = self.at;
        let tag = *block.get(at)?;
        at += 1;
        let host = if tag & SAME_HOST != 0 {
            self.key?.host
        } else {
            let bytes: [u8; 8] = block.get(at..at + 8)?.try_into().ok()?;
            at += 8;
            HostKey::from_bytes(bytes)
        };
        let url = u64::from_be_bytes(block.get(at..at + 8)?.try_into().ok()?);
        at += 8;
        let length = varint::get(block, &mut at)? as usize;
        let links = varint::get(block, &mut at)?;
        let count = varint::get(block, &mut at)?;
        let sites = varint::get(block, &mut at)?;
        let end = at.checked_add(length).filter(|end| *end <= block.len())?;
        self.key = Some(UrlKey { host, url });
        self.piece = Piece { count, sites, links, goes_on: tag & GOES_ON != 0 };
        self.list = at..end;
        self.at = end;
        (self.site, self.running, self.left) = (0, 0, 0);
        Some(())
    }

    /// The next source of the target it stood on; `None` when there are no more: then it stands
    /// on the next target.
    #[inline]
    pub fn next_source(&mut self) -> Result<Option<Source>, GraphError> {
        if self.list.is_empty() {
            let before = self.key;
            self.next_piece()?;
            if self.key != before || self.key.is_none() {
                return Ok(None);
            }
        }
        match self.read_source() {
            Some(source) => Ok(Some(source)),
            None => Err(self.run.damaged("a source is unreadable")),
        }
    }

    #[inline]
    fn read_source(&mut self) -> Option<Source> {
        let block = &self.block[..self.list.end];
        let mut at = self.list.start;
        if self.left == 0 {
            let part = (self.site >> 32) + varint::get(block, &mut at)?;
            let site = u32::from_le_bytes(block.get(at..at + 4)?.try_into().ok()?);
            at += 4;
            self.site = part << 32 | u64::from(site);
            self.left = varint::get(block, &mut at)?;
            self.running = 0;
        }
        let step = varint::get(block, &mut at)?;
        self.running += step >> 2;
        self.left = self.left.checked_sub(1)?;
        self.list.start = at;
        Some(Source::new(self.site, self.running, (step & 3) as u8))
    }

    /// How many back-links from how many sites the target has, if all of it is in one piece.
    #[inline]
    pub fn bound(&self) -> Option<(u64, u64)> {
        let whole = self.list.len() < PIECE && !self.piece.goes_on;
        whole.then_some((self.piece.count, self.piece.sites))
    }

    /// Moves to the next target; says how many back-links from how many sites it passed. Must
    /// not be asked between sources.
    pub fn pass(&mut self) -> Result<(u64, u64), GraphError> {
        let before = self.key;
        let (mut count, mut sites) = (0, 0);
        while self.key.is_some() && self.key == before {
            count += self.piece.count;
            sites += self.piece.sites;
            self.next_piece()?;
        }
        Ok((count, sites))
    }

    /// Moves to the next target and shows every piece it passed, as it lies there.
    pub fn pass_pieces<E: From<GraphError>>(
        &mut self,
        mut each: impl FnMut(UrlKey, &Piece, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let before = self.key;
        while let Some(key) = self.key.filter(|_| self.key == before) {
            each(key, &self.piece, &self.block[self.list.clone()])?;
            self.next_piece()?;
        }
        Ok(())
    }
}

/// Walks over the pages of a run, in order.
pub(crate) struct Pages {
    run: Arc<Run>,
    next_block: usize,
    block: Vec<u8>,
    at: usize,
    order: u64,
}

impl Pages {
    pub fn first(run: Arc<Run>) -> Self {
        Pages { run, next_block: 0, block: Vec::new(), at: 0, order: 0 }
    }

    /// From a document on.
    pub fn from(run: Arc<Run>, doc: DocId) -> Self {
        let blocks = &run.footer.pages;
        let block = blocks.partition_point(|(first, _)| *first <= order_of(doc));
        let next_block = block.saturating_sub(1);
        Pages { next_block, ..Pages::first(run) }
    }

    fn read(&mut self) -> Result<Option<(u64, u8)>, GraphError> {
        if self.at >= self.block.len() {
            let Some(&(_, place)) = self.run.footer.pages.get(self.next_block) else {
                return Ok(None);
            };
            self.run.block(place, &mut self.block)?;
            self.next_block += 1;
            (self.at, self.order) = (0, 0);
        }
        let step = varint::get(&self.block, &mut self.at);
        let step = step.ok_or_else(|| self.run.damaged("a page is unreadable"))?;
        self.order += step >> 3;
        Ok(Some((self.order, (step & 7) as u8)))
    }
}

impl Iterator for Pages {
    type Item = Result<(u64, u8), GraphError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Walks over the popular targets of a run, in order.
pub(crate) struct Popular {
    run: Arc<Run>,
    next_block: usize,
    block: Vec<u8>,
    at: usize,
}

impl Popular {
    pub fn first(run: Arc<Run>) -> Self {
        Popular { run, next_block: 0, block: Vec::new(), at: 0 }
    }

    /// The next one, its back-links and their sites.
    pub fn read(&mut self) -> Result<Option<(UrlKey, u64, u64)>, GraphError> {
        if self.at >= self.block.len() {
            let Some(&place) = self.run.footer.popular.get(self.next_block) else {
                return Ok(None);
            };
            self.run.block(place, &mut self.block)?;
            self.next_block += 1;
            self.at = 0;
        }
        let (block, mut at) = (&self.block, self.at);
        let key = block.get(at..at + UrlKey::LEN).and_then(|bytes| bytes.try_into().ok());
        at += UrlKey::LEN;
        let (count, sites) = (varint::get(block, &mut at), varint::get(block, &mut at));
        self.at = at;
        match (key, count, sites) {
            (Some(key), Some(count), Some(sites)) => {
                Ok(Some((UrlKey::from_bytes(key), count, sites)))
            }
            _ => Err(self.run.damaged("a popular target is unreadable")),
        }
    }
}
