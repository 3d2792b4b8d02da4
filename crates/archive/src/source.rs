//! Input that remembers: a buffered reader that counts its bytes and can step back a little.
//!
//! Its place: `reader` steps back after a damaged record, to look for the next one inside the
//! bytes that were already taken. Invariant: memory stays below three times [`HISTORY_BYTES`].

use memchr::memmem;
use std::io::{self, BufRead, Read};

/// How far back one can surely step.
const HISTORY_BYTES: usize = 1 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// The first bytes of a gzip member with the only compression method there is.
pub(crate) const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b, 8];
pub(crate) const WARC_MAGIC: &[u8] = b"WARC/";

pub(crate) struct Source<R> {
    inner: R,
    /// History, then what is still to be read.
    bytes: Vec<u8>,
    /// Next byte to be read in `bytes`.
    at: usize,
    /// Offset of `bytes[0]` in the input.
    base: u64,
    ended: bool,
    /// Why the input ended, if it was not its end.
    failure: Option<io::Error>,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(inner: R) -> Self {
        Source { inner, bytes: Vec::new(), at: 0, base: 0, ended: false, failure: None }
    }

    /// Offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The error that ended the input, once.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Goes to `offset`, back as far as is remembered, on as far as was looked.
    pub(crate) fn go_to(&mut self, offset: u64) {
        let at = usize::try_from(offset.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.at = at.min(self.bytes.len());
    }

    /// At least `n` of the next bytes, fewer only at the end.
    pub(crate) fn peek(&mut self, n: usize) -> &[u8] {
        while self.bytes.len() - self.at < n && self.more() {}
        &self.bytes[self.at..]
    }

    /// Passes over line ends.
    pub(crate) fn skip_newlines(&mut self) {
        while let Some(b'\r' | b'\n') = self.peek(1).first() {
            self.at += 1;
        }
    }

    /// Goes to where the next record may begin: a gzip member, or a line beginning with `WARC/`,
    /// in an ARC file with `http`. `false` at the end of input.
    pub(crate) fn seek_candidate(&mut self, arc: bool) -> bool {
        let gzip = memmem::Finder::new(GZIP_MAGIC);
        let warc = memmem::Finder::new(if arc { &b"\nhttp"[..] } else { b"\nWARC/" });
        loop {
            let rest = &self.bytes[self.at..];
            let found = [gzip.find(rest), warc.find(rest).map(|at| at + 1)];
            if let Some(at) = found.into_iter().flatten().min() {
                self.at += at;
                return true;
            }
            // The beginning of a candidate may stand at the end of what is there.
            self.at += rest.len().saturating_sub(WARC_MAGIC.len());
            if !self.more() {
                self.at = self.bytes.len();
                return false;
            }
        }
    }

    /// Gets more bytes; `false` when there are none.
    fn more(&mut self) -> bool {
        if self.ended {
            return false;
        }
        if self.at > 2 * HISTORY_BYTES {
            let forgotten = self.at - HISTORY_BYTES;
            self.bytes.drain(..forgotten);
            self.at -= forgotten;
            self.base += forgotten as u64;
        }
        let old = self.bytes.len();
        self.bytes.resize(old + CHUNK_BYTES, 0);
        let got = loop {
            match self.inner.read(&mut self.bytes[old..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.failure = Some(e);
                    break 0;
                }
                Ok(n) => break n,
            }
        };
        self.bytes.truncate(old + got);
        self.ended = got == 0;
        got > 0
    }
}

impl<R: Read> BufRead for Source<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.peek(1))
    }

    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.bytes.len());
    }
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ready = self.peek(1);
        let n = ready.len().min(out.len());
        out[..n].copy_from_slice(&ready[..n]);
        self.consume(n);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_steps_back_and_forgets_only_far_history() {
        let input: Vec<u8> = (0..5 << 20).map(|i: u32| (i % 251) as u8).collect();
        let mut source = Source::new(&input[..]);
        let mut seen = vec![0; 4 << 20];
        source.read_exact(&mut seen).unwrap();
        assert_eq!(seen, input[..4 << 20]);
        source.go_to((4 << 20) - 1000);
        assert_eq!(source.offset(), (4 << 20) - 1000);
        source.go_to(0);
        assert!(source.offset() > 0 && source.offset() < 3 << 20);
        let here = source.offset() as usize;
        assert_eq!(source.peek(1)[0], input[here]);
        assert!(source.bytes.len() < 3 << 20);
    }

    #[test]
    fn candidates_are_found_across_chunk_borders() {
        let mut input = vec![b'x'; CHUNK_BYTES - 2];
        input.extend_from_slice(b"\nWARC/1.0");
        let mut source = Source::new(&input[..]);
        assert!(source.seek_candidate(false));
        assert_eq!(source.offset(), CHUNK_BYTES as u64 - 1);
    }
}
