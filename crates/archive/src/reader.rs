//! Walking through any WARC file, sound or not.
//!
//! * What this is: an iterator over the records of a `.warc` or `.warc.gz` (or `.arc`, `.arc.gz`),
//!   each with its place, its headers, its digests checked, and what could not be read in between.
//! * Its place: `verify`, `import warc` and the tests read files with it.
//! * States: between records, or inside a gzip member (a wrong but common way of packing puts
//!   several records into one).
//! * Invariants: every byte of the file belongs to a record or is named by a [`Damage`]; no
//!   input makes it panic or loop; memory is bounded by the payload limit and a look-back of
//!   some megabytes.
//! * What is not here: what a record of ARC says (`arc`), what a record means (`crawl`).

use crate::arc::{ARC_MAGIC, read_arc_headers};
use crate::digest::Digester;
use crate::headers::{damage, early_end, http_status, read_http_head};
use crate::prepared::COPY_BYTES;
use crate::source::{GZIP_MAGIC, Source, WARC_MAGIC};
use crate::{DigestCheck, SpoolFile, WarcHeaders};
use argiope_model::PayloadDigest;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A record as found in a file.
#[derive(Clone, Debug)]
pub struct WarcEntry {
    /// Where it begins: its gzip member, or its version line in a plain file.
    pub offset: u64,
    /// Its length as stored: the whole gzip member, or, in a plain file, up to the end of its
    /// block. `None` if it shares its gzip member with others and cannot be read alone.
    pub length: Option<u64>,
    /// The WARC headers.
    pub headers: WarcHeaders,
    /// The HTTP head with its empty line; empty if the record holds none.
    pub http_head: Vec<u8>,
    /// Length of what follows it.
    pub payload_len: u64,
    /// What follows it, unless longer than the limit set with [`WarcReader::keep_payloads`].
    pub payload: Option<Vec<u8>>,
    /// Where it is when it is longer and a place was given with [`WarcReader::spool_payloads`].
    pub spooled: Option<Arc<SpoolFile>>,
    /// SHA-1 of the payload in this record (so, in a revisit, of nothing).
    pub payload_digest: PayloadDigest,
    /// How the digests in the headers compare with the bytes.
    pub digest: DigestCheck,
}

impl WarcEntry {
    /// The HTTP status, if this is a response.
    pub fn status(&self) -> Option<u16> {
        http_status(&self.http_head)
    }
}

/// A part of a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged at byte {offset}: {reason} ({length} bytes skipped)")]
pub struct Damage {
    /// Where it begins.
    pub offset: u64,
    /// How many bytes were passed over until something readable came.
    pub length: u64,
    /// What is wrong with the first of them.
    pub reason: String,
}

/// Iterates over the records of a WARC file, gzipped or not.
pub struct WarcReader<R> {
    state: State<R>,
    keep: Keep,
    /// The file began as an ARC file does.
    arc: bool,
    /// Our own disk failed.
    failure: Option<io::Error>,
    /// A damage whose end is not known yet.
    open_damage: Option<Damage>,
    /// A record that was read behind a damage, which is reported first.
    waiting: Option<WarcEntry>,
}

/// What is kept of payloads.
#[derive(Default)]
struct Keep {
    /// In memory up to so many bytes.
    in_memory: u64,
    /// Longer ones in files here.
    spool: Option<PathBuf>,
}

/// Tells spooled payloads of one process apart.
static SPOOLED: AtomicU64 = AtomicU64::new(0);

/// Marks a failure of our own disk on its way out of the reading.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}")]
struct OurDisk {
    path: String,
    source: io::Error,
}

/// The records in a gzip member; boxed, since the inflater's state is large.
type Member<R> = Box<BufReader<GzDecoder<Source<R>>>>;

enum State<R> {
    Between(Source<R>),
    Member { input: Member<R>, offset: u64, shared: bool },
    Over,
}

impl<R: Read> WarcReader<R> {
    /// Begins at the first byte of `input`. Payloads are checked but not kept.
    pub fn new(input: R) -> Self {
        let state = State::Between(Source::new(input));
        let keep = Keep::default();
        WarcReader { state, keep, arc: false, failure: None, open_damage: None, waiting: None }
    }

    /// Keeps payloads of up to `max_bytes` in the entries.
    pub fn keep_payloads(mut self, max_bytes: u64) -> Self {
        self.keep.in_memory = max_bytes;
        self
    }

    /// Keeps longer payloads of responses in files in this directory, which must exist.
    pub fn spool_payloads(mut self, dir: impl Into<PathBuf>) -> Self {
        self.keep.spool = Some(dir.into());
        self
    }

    /// Why the walk ended early, if our own disk was full or failed.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// One step: a record, or a reason to look further, or the end.
    fn step(&mut self) -> Step {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Over => Step::End(0),
            State::Between(source) => self.between(source),
            State::Member { input, offset, shared } => self.in_member(input, offset, shared),
        }
    }

    fn between(&mut self, mut source: Source<R>) -> Step {
        source.skip_newlines();
        let offset = source.offset();
        let next = source.peek(ARC_MAGIC.len());
        if next.is_empty() {
            if let Some(e) = source.take_failure() {
                return Step::Failed { offset, reason: format!("cannot read on: {e}") };
            }
            return Step::End(offset);
        }
        if next.starts_with(GZIP_MAGIC) {
            let input = Box::new(BufReader::with_capacity(32 << 10, GzDecoder::new(source)));
            self.state = State::Member { input, offset, shared: false };
            return Step::Again;
        }
        self.arc |= next.starts_with(ARC_MAGIC);
        let read = if next.starts_with(WARC_MAGIC) || self.arc {
            read_entry(&mut source, &self.keep)
        } else {
            Err(damage("neither a gzip member nor a WARC record begins here"))
        };
        match read {
            Ok(mut entry) => {
                entry.offset = offset;
                entry.length = Some(source.offset() - offset);
                self.state = State::Between(source);
                Step::Found(entry)
            }
            Err(e) => self.look_further(source, offset, &e),
        }
    }

    fn in_member(&mut self, mut input: Member<R>, offset: u64, shared: bool) -> Step {
        let (arc, keep) = (&mut self.arc, &self.keep);
        let read = follows(&mut *input, arc).and_then(|next| {
            if let Follows::End = next {
                return Ok(None);
            }
            let entry = read_entry(&mut *input, keep)?;
            Ok(Some((entry, follows(&mut *input, arc)?)))
        });
        let (mut entry, next) = match read {
            Ok(Some(found)) => found,
            Ok(None) => {
                self.state = State::Between(input.into_inner().into_inner());
                return Step::Again;
            }
            Err(e) => return self.look_further(input.into_inner().into_inner(), offset, &e),
        };
        entry.offset = offset;
        if let Follows::Record = next {
            self.state = State::Member { input, offset, shared: true };
            return Step::Found(entry);
        }
        if let Follows::Other = next {
            // If the member is sound to its end, so is the record; only its length is a lie.
            match io::copy(&mut *input, &mut io::sink()) {
                Ok(n) => {
                    let reason = format!("{n} bytes follow the record in its gzip member");
                    self.open_damage.get_or_insert(Damage { offset, length: 0, reason });
                }
                Err(e) => return self.look_further(input.into_inner().into_inner(), offset, &e),
            }
        }
        let source = input.into_inner().into_inner();
        entry.length = (!shared).then(|| source.offset() - offset);
        self.state = State::Between(source);
        Step::Found(entry)
    }

    /// Goes back to just behind the beginning of what could not be read, then on to what might
    /// be the next record.
    fn look_further(&mut self, mut source: Source<R>, offset: u64, error: &io::Error) -> Step {
        if error.get_ref().is_some_and(|e| e.is::<OurDisk>()) {
            self.failure = Some(io::Error::new(error.kind(), error.to_string()));
            return Step::End(offset);
        }
        source.go_to(offset + 1);
        source.seek_candidate(self.arc);
        self.state = State::Between(source);
        Step::Failed { offset, reason: error.to_string() }
    }

    fn close_damage(&mut self, end: u64) -> Option<Damage> {
        let mut open = self.open_damage.take()?;
        open.length = end.saturating_sub(open.offset);
        Some(open)
    }
}

enum Step {
    Found(WarcEntry),
    Failed {
        offset: u64,
        reason: String,
    },
    Again,
    /// The offset of the end.
    End(u64),
}

impl<R: Read> Iterator for WarcReader<R> {
    type Item = Result<WarcEntry, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(entry) = self.waiting.take() {
            return Some(Ok(entry));
        }
        loop {
            match self.step() {
                Step::Again => {}
                Step::Failed { offset, reason } => {
                    // Candidates that turn out wrong belong to the damage they were found in.
                    self.open_damage.get_or_insert(Damage { offset, length: 0, reason });
                }
                Step::Found(entry) => match self.close_damage(entry.offset) {
                    None => return Some(Ok(entry)),
                    Some(damage) => {
                        self.waiting = Some(entry);
                        return Some(Err(damage));
                    }
                },
                Step::End(offset) => return self.close_damage(offset).map(Err),
            }
        }
    }
}

/// What comes next in a gzip member, line ends aside.
enum Follows {
    /// Its end; the checksum was right.
    End,
    /// A record.
    Record,
    /// Something else.
    Other,
}

fn follows(input: &mut impl BufRead, arc: &mut bool) -> io::Result<Follows> {
    loop {
        let ready = input.fill_buf()?;
        if ready.is_empty() {
            return Ok(Follows::End);
        }
        let newlines = ready.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let next = &ready[newlines..];
        if !next.is_empty() {
            let begins = |magic: &[u8]| {
                let looked = next.len().min(magic.len());
                next[..looked] == magic[..looked]
            };
            *arc |= begins(ARC_MAGIC);
            let record = *arc || begins(WARC_MAGIC);
            input.consume(newlines);
            return Ok(if record { Follows::Record } else { Follows::Other });
        }
        input.consume(newlines);
    }
}

/// Reads a record up to the end of its block; its place is filled in by the caller.
fn read_entry(input: &mut impl BufRead, keep: &Keep) -> io::Result<WarcEntry> {
    let headers = match input.fill_buf()?.first() {
        Some(b'W') => WarcHeaders::read(input)?,
        _ => read_arc_headers(input)?,
    };
    let block_len = headers.content_length()?;
    let http_head = if headers.holds_http() {
        read_http_head(input, block_len, headers.record_type() != "request")?
    } else {
        Vec::new()
    };
    let payload_len = block_len - http_head.len() as u64;
    // The payload digest of a revisit is that of another record's payload.
    let stated = headers.get("WARC-Payload-Digest").filter(|_| headers.record_type() != "revisit");
    let mut payload_digest = Digester::new(stated);
    let mut block_digest = headers.get("WARC-Block-Digest").map(|d| Digester::new(Some(d)));
    if let Some(digest) = &mut block_digest {
        digest.update(&http_head);
    }
    let mut kept = keep.begin(payload_len, headers.record_type())?;
    let mut remaining = payload_len;
    while remaining > 0 {
        let ready = input.fill_buf()?;
        if ready.is_empty() {
            return Err(early_end("a record"));
        }
        let n = usize::try_from(remaining).unwrap_or(usize::MAX).min(ready.len());
        payload_digest.update(&ready[..n]);
        if let Some(digest) = &mut block_digest {
            digest.update(&ready[..n]);
        }
        kept.add(&ready[..n])?;
        input.consume(n);
        remaining -= n as u64;
    }
    let (payload_digest, mut digest) = payload_digest.finish();
    if let Some(block) = block_digest {
        digest = digest.and(block.finish().1);
    }
    let (payload, spooled) = kept.finish()?;
    Ok(WarcEntry {
        offset: 0,
        length: None,
        headers,
        http_head,
        payload_len,
        payload,
        spooled,
        payload_digest,
        digest,
    })
}

/// A payload in memory, or in a file, or neither.
type InMemoryOrFile = (Option<Vec<u8>>, Option<Arc<SpoolFile>>);

/// A payload on its way to where it is kept.
enum Kept {
    Nowhere,
    Memory(Vec<u8>),
    File(SpoolFile, BufWriter<File>),
}

impl Keep {
    fn begin(&self, len: u64, record_type: &str) -> io::Result<Kept> {
        if len <= self.in_memory {
            return Ok(Kept::Memory(Vec::new()));
        }
        let Some(dir) = self.spool.as_ref().filter(|_| record_type == "response") else {
            return Ok(Kept::Nowhere);
        };
        let number = SPOOLED.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("payload-{number}"));
        let file = File::create(&path).map_err(ours(&path))?;
        Ok(Kept::File(SpoolFile::new(path, len), BufWriter::with_capacity(COPY_BYTES, file)))
    }
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Kept::Nowhere => Ok(()),
            Kept::Memory(payload) => {
                payload.extend_from_slice(bytes);
                Ok(())
            }
            Kept::File(place, file) => file.write_all(bytes).map_err(ours(place.path())),
        }
    }

    fn finish(self) -> io::Result<InMemoryOrFile> {
        Ok(match self {
            Kept::Nowhere => (None, None),
            Kept::Memory(payload) => (Some(payload), None),
            Kept::File(place, mut file) => {
                file.flush().map_err(ours(place.path()))?;
                (None, Some(Arc::new(place)))
            }
        })
    }
}

fn ours(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    let path = path.display().to_string();
    move |source| io::Error::new(source.kind(), OurDisk { path, source })
}
