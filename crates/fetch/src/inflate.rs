//! Readers for gzip and deflate as servers really send them.
//!
//! Beyond the standard: several gzip members count as one body, and bytes after the last member
//! that start no new one are passed over, as browsers do; `deflate` may be a zlib stream, as it
//! should be, or the raw stream some servers send. A stream that stops early is an error.

use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;
use std::io::{self, BufRead, Read};

/// How every gzip member begins: the magic number and the only compression method there is.
const MEMBER_START: &[u8] = b"\x1f\x8b\x08";

/// How large a gzip body in memory says it will be. Only its word: the last four bytes.
pub(crate) fn announced_size(gzip: &[u8]) -> Option<usize> {
    let size = u32::from_le_bytes(*gzip.last_chunk()?) as usize;
    // Deflate cannot shrink further than 1032 to 1; anything beyond is not a size.
    (size > 0 && size / 1032 <= gzip.len()).then_some(size)
}

/// Decodes a gzip body that is wholly in memory and consists of one member of the given size,
/// as nearly all do, in about half the time. `None`: it is not such a body, or it is broken,
/// and the reader below must say which.
pub(crate) fn gunzip_whole(gzip: &[u8], size: usize) -> Option<Vec<u8>> {
    // The fast decoder does not tell where a member ends, so nothing may look like another one.
    if memmem::find(gzip.get(18..)?, MEMBER_START).is_some() {
        return None;
    }
    let mut out = vec![0; size];
    let written = libdeflater::Decompressor::new().gzip_decompress(gzip, &mut out).ok()?;
    (written == size).then_some(out)
}

/// Reads gzip, one member after the other.
pub(crate) struct Gunzip<R> {
    /// `None` after the last member.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gunzip<R> {
    pub(crate) fn new(source: R) -> Self {
        Gunzip { member: Some(GzDecoder::new(source)) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let n = member.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            let Some(mut source) = self.member.take().map(GzDecoder::into_inner) else { break };
            let next = source.fill_buf()?;
            let looked_at = next.len().min(MEMBER_START.len());
            if looked_at > 0 && next[..looked_at] == MEMBER_START[..looked_at] {
                self.member = Some(GzDecoder::new(source));
            }
        }
        Ok(0)
    }
}

/// Reads deflate, with or without the zlib wrapping.
pub(crate) struct Inflate<R> {
    source: R,
    /// Made when the first bytes have shown what they are.
    state: Option<Decompress>,
    done: bool,
}

impl<R: BufRead> Inflate<R> {
    pub(crate) fn new(source: R) -> Self {
        Inflate { source, state: None, done: false }
    }
}

/// Whether these are the first two bytes of a zlib stream.
fn is_zlib(start: &[u8]) -> bool {
    match *start {
        [a, b, ..] => a & 0x0f == 8 && u16::from_be_bytes([a, b]) % 31 == 0,
        // One byte at the edge of a buffer: nearly all zlib streams start so.
        [a] => a == 0x78,
        [] => false,
    }
}

impl<R: BufRead> Read for Inflate<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !self.done && !buf.is_empty() {
            let input = self.source.fill_buf()?;
            let ended = input.is_empty();
            let state = self.state.get_or_insert_with(|| Decompress::new(is_zlib(input)));
            let (old_in, old_out) = (state.total_in(), state.total_out());
            let flush = if ended { FlushDecompress::Finish } else { FlushDecompress::None };
            let status = state
                .decompress(input, buf, flush)
                .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "corrupt deflate stream"));
            let used = (state.total_in() - old_in) as usize;
            let made = (state.total_out() - old_out) as usize;
            self.source.consume(used);
            self.done = status? == Status::StreamEnd;
            if made > 0 {
                return Ok(made);
            }
            if ended && !self.done {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}
