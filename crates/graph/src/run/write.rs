//! Writing a run: targets in order with their sources in order, then pages in order.

use super::{
    BLOCK, Footer, GOES_ON, HEADER, MAGIC, PIECE, POPULAR, Place, SAME_HOST, Totals, VERSION,
};
use crate::source::Source;
use crate::varint;
use argiope_model::{HostKey, UrlKey};
use std::io::{self, Write};
use xxhash_rust::xxh3::xxh3_64;

pub(crate) struct RunWriter<W: Write> {
    out: W,
    offset: u64,
    footer: Footer,
    block: Vec<u8>,
    /// The first key of the block being filled.
    first: [u8; 16],
    host: Option<HostKey>,
    target: Option<UrlKey>,
    /// The sources of the piece being filled.
    list: Vec<u8>,
    piece: Piece,
    /// Back-links and sites of the target, as far as its pieces are written.
    whole: (u64, u64),
    popular: Vec<u8>,
    /// The source before, in the target or in its piece.
    site: u64,
    site_counted: bool,
    group: Group,
    pages_begun: bool,
    first_page: u64,
    last_page: u64,
}

/// What stands before the sources of a piece.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    count: u64,
    sites: u64,
    links: u64,
    goes_on: bool,
}

/// The sources of one site, not yet in the piece: their number stands before them.
#[derive(Debug, Default)]
struct Group {
    number: u64,
    running: u64,
    bytes: Vec<u8>,
    /// Partition of the group before it in the piece.
    part: u64,
}

impl<W: Write> RunWriter<W> {
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        Ok(RunWriter {
            out,
            offset: HEADER as u64,
            footer: Footer::default(),
            block: Vec::with_capacity(BLOCK + PIECE + 64),
            first: [0; 16],
            host: None,
            target: None,
            list: Vec::new(),
            piece: Piece::default(),
            whole: (0, 0),
            popular: Vec::new(),
            site: u64::MAX,
            site_counted: false,
            group: Group::default(),
            pages_begun: false,
            first_page: 0,
            last_page: 0,
        })
    }

    /// Begins a target; they come in order, each once.
    pub fn target(&mut self, key: UrlKey) -> io::Result<()> {
        self.end_target()?;
        self.target = Some(key);
        self.site = u64::MAX;
        self.piece = Piece::default();
        Ok(())
    }

    /// Adds a source of the target; they come in order, each once.
    pub fn source(&mut self, source: Source) -> io::Result<()> {
        if self.list.len() + self.group.bytes.len() >= PIECE {
            self.end_piece()?;
            self.piece.goes_on = true;
        }
        if source.site != self.site {
            self.end_group();
            self.site = source.site;
            self.site_counted = false;
        }
        if source.counts() {
            self.piece.count += 1;
            if !self.site_counted {
                self.site_counted = true;
                self.piece.sites += 1;
            }
        }
        self.piece.links += 1;
        self.group.number += 1;
        let step = source.running() - self.group.running;
        self.group.running = source.running();
        varint::put(&mut self.group.bytes, step << 2 | u64::from(source.flags()));
        Ok(())
    }

    /// Takes over a piece as another run has it.
    pub fn copy(&mut self, key: UrlKey, piece: &super::read::Piece, list: &[u8]) -> io::Result<()> {
        if !piece.goes_on {
            self.end_target()?;
            self.target = Some(key);
        }
        let (count, sites, links) = (piece.count, piece.sites, piece.links);
        self.piece = Piece { count, sites, links, goes_on: piece.goes_on };
        self.list.extend_from_slice(list);
        self.put_piece()
    }

    fn end_target(&mut self) -> io::Result<()> {
        self.end_piece()?;
        let (count, sites) = std::mem::take(&mut self.whole);
        if let Some(key) = self.target.take().filter(|_| count >= POPULAR) {
            self.popular.extend_from_slice(&key.to_bytes());
            varint::put(&mut self.popular, count);
            varint::put(&mut self.popular, sites);
            if self.popular.len() >= BLOCK {
                self.put_popular()?;
            }
        }
        Ok(())
    }

    fn put_popular(&mut self) -> io::Result<()> {
        std::mem::swap(&mut self.popular, &mut self.block);
        let place = self.put_block()?;
        self.footer.popular.push(place);
        std::mem::swap(&mut self.popular, &mut self.block);
        Ok(())
    }

    fn end_group(&mut self) {
        if self.group.number == 0 {
            return;
        }
        let part = self.site >> 32;
        varint::put(&mut self.list, part - self.group.part);
        self.list.extend_from_slice(&(self.site as u32).to_le_bytes());
        varint::put(&mut self.list, self.group.number);
        self.list.append(&mut self.group.bytes);
        self.group.part = part;
        (self.group.number, self.group.running) = (0, 0);
    }

    fn end_piece(&mut self) -> io::Result<()> {
        self.end_group();
        self.group.part = 0;
        if self.list.is_empty() { Ok(()) } else { self.put_piece() }
    }

    fn put_piece(&mut self) -> io::Result<()> {
        let Some(key) = self.target else { return Ok(()) };
        if self.block.is_empty() {
            self.first = key.to_bytes();
            self.host = None;
        }
        let Piece { count, sites, links, goes_on } = std::mem::take(&mut self.piece);
        let same_host = self.host == Some(key.host);
        let tag = (u8::from(same_host) * SAME_HOST) | (u8::from(goes_on) * GOES_ON);
        self.block.push(tag);
        if !same_host {
            self.block.extend_from_slice(&key.host.to_bytes());
            self.host = Some(key.host);
        }
        self.block.extend_from_slice(&key.url.to_be_bytes());
        for n in [self.list.len() as u64, links, count, sites] {
            varint::put(&mut self.block, n);
        }
        self.block.append(&mut self.list);
        self.whole.0 += count;
        self.whole.1 += sites;
        self.footer.totals.links += links;
        self.footer.totals.targets += u64::from(!goes_on);
        if self.block.len() >= BLOCK {
            let place = self.put_block()?;
            self.footer.targets.push((self.first, place));
        }
        Ok(())
    }

    fn put_block(&mut self) -> io::Result<Place> {
        let sum = xxh3_64(&self.block).to_le_bytes();
        self.block.extend_from_slice(&sum);
        self.out.write_all(&self.block)?;
        let place = Place { offset: self.offset, length: self.block.len() as u32 };
        self.offset += self.block.len() as u64;
        self.block.clear();
        Ok(place)
    }

    fn end_targets(&mut self) -> io::Result<()> {
        self.end_target()?;
        if !self.block.is_empty() {
            let place = self.put_block()?;
            self.footer.targets.push((self.first, place));
        }
        if !self.popular.is_empty() {
            self.put_popular()?;
        }
        self.pages_begun = true;
        Ok(())
    }

    /// Adds a page by its place in the order of sources; after all targets.
    pub fn page(&mut self, order: u64, flags: u8) -> io::Result<()> {
        if !self.pages_begun {
            self.end_targets()?;
        }
        if self.block.len() >= BLOCK {
            let place = self.put_block()?;
            self.footer.pages.push((self.first_page, place));
        }
        if self.block.is_empty() {
            (self.first_page, self.last_page) = (order, 0);
        }
        varint::put(&mut self.block, (order - self.last_page) << 3 | u64::from(flags));
        self.last_page = order;
        self.footer.totals.pages += 1;
        Ok(())
    }

    /// Writes what is left and the footer.
    pub fn finish(mut self) -> io::Result<(W, Totals)> {
        if !self.pages_begun {
            self.end_targets()?;
        }
        if !self.block.is_empty() {
            let place = self.put_block()?;
            self.footer.pages.push((self.first_page, place));
        }
        let footer = postcard::to_stdvec(&self.footer).map_err(io::Error::other)?;
        self.out.write_all(&footer)?;
        self.out.write_all(&(footer.len() as u64).to_le_bytes())?;
        self.out.write_all(&xxh3_64(&footer).to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        Ok((self.out, self.footer.totals))
    }
}
