//! Walking through any WARC file, sound or not.
//!
//! * What this is: an iterator over the records of a `.warc` or `.warc.gz`, each with its place,
//!   its headers, its digests checked, and what could not be read in between.
//! * Its place: `verify`, `import warc` and the tests read files with it.
//! * States: between records, or inside a gzip member (a wrong but common way of packing puts
//!   several records into one).
//! * Invariants: every byte of the file belongs to a record or is named by a [`Damage`]; no
//!   input makes it panic or loop; memory is bounded by the payload limit and a look-back of
//!   some megabytes.
//! * What is not here: ARC files, the format before WARC; they come out as one damage.

use crate::digest::Digester;
use crate::headers::{damage, early_end, http_status, read_http_head};
use crate::source::{GZIP_MAGIC, Source, WARC_MAGIC};
use crate::{DigestCheck, WarcHeaders};
use argiope_model::PayloadDigest;
use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

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
    keep: u64,
    /// A damage whose end is not known yet.
    open_damage: Option<Damage>,
    /// A record that was read behind a damage, which is reported first.
    waiting: Option<WarcEntry>,
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
        WarcReader { state, keep: 0, open_damage: None, waiting: None }
    }

    /// Keeps payloads of up to `max_bytes` in the entries.
    pub fn keep_payloads(mut self, max_bytes: u64) -> Self {
        self.keep = max_bytes;
        self
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
        let next = source.peek(WARC_MAGIC.len());
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
        let read = if next.starts_with(WARC_MAGIC) {
            read_entry(&mut source, self.keep)
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
        let read = follows(&mut *input).and_then(|next| {
            if let Follows::End = next {
                return Ok(None);
            }
            let entry = read_entry(&mut *input, self.keep)?;
            Ok(Some((entry, follows(&mut *input)?)))
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
        source.go_to(offset + 1);
        source.seek_candidate();
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

fn follows(input: &mut impl BufRead) -> io::Result<Follows> {
    loop {
        let ready = input.fill_buf()?;
        if ready.is_empty() {
            return Ok(Follows::End);
        }
        let newlines = ready.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        let next = &ready[newlines..];
        if !next.is_empty() {
            let looked = next.len().min(WARC_MAGIC.len());
            let record = next[..looked] == WARC_MAGIC[..looked];
            input.consume(newlines);
            return Ok(if record { Follows::Record } else { Follows::Other });
        }
        input.consume(newlines);
    }
}

/// Reads a record up to the end of its block; its place is filled in by the caller.
fn read_entry(input: &mut impl BufRead, keep: u64) -> io::Result<WarcEntry> {
    let headers = WarcHeaders::read(input)?;
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
    let mut payload = (payload_len <= keep).then(Vec::new);
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
        if let Some(payload) = &mut payload {
            payload.extend_from_slice(&ready[..n]);
        }
        input.consume(n);
        remaining -= n as u64;
    }
    let (payload_digest, mut digest) = payload_digest.finish();
    if let Some(block) = block_digest {
        digest = digest.and(block.finish().1);
    }
    Ok(WarcEntry {
        offset: 0,
        length: None,
        headers,
        http_head,
        payload_len,
        payload,
        payload_digest,
        digest,
    })
}
