//! Reading one record of our own archive, found by its location.
//!
//! Its place: `web` and the command line show captures with this, followers rebuild from it; no
//! lock is needed, since committed bytes change only where a record is forgotten. What is not here: walking through whole
//! files, foreign ones too (`reader`).

use crate::elsewhere::open_segment;
use crate::headers::{damage, early_end, read_http_head};
use crate::prepared::COPY_BYTES;
use crate::segment_files::warc_segment_name;
use crate::{ArchiveError, WarcHeaders};
use argiope_model::Location;
use flate2::bufread::GzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A record, whole.
#[derive(Clone, Debug)]
pub struct Record {
    /// The WARC headers.
    pub headers: WarcHeaders,
    /// The HTTP head with its empty line; empty if the record holds none.
    pub http_head: Vec<u8>,
    /// What follows it; empty for a revisit.
    pub payload: Vec<u8>,
}

/// A record whose payload is read as it is needed: reading this gives the payload.
///
/// A record that is cut short or fails its checksum gives an error instead of the end.
pub struct RecordReader {
    headers: WarcHeaders,
    http_head: Vec<u8>,
    payload_len: u64,
    remaining: u64,
    input: Box<dyn BufRead + Send>,
}

impl RecordReader {
    /// The WARC headers.
    pub fn headers(&self) -> &WarcHeaders {
        &self.headers
    }

    /// The HTTP head with its empty line; empty if the record holds none.
    pub fn http_head(&self) -> &[u8] {
        &self.http_head
    }

    /// Length of the payload in bytes.
    pub fn payload_len(&self) -> u64 {
        self.payload_len
    }

    /// Reads to the end of the gzip member, where its checksum is.
    fn finish(&mut self) -> io::Result<()> {
        let mut after = [0; 8];
        let mut length = 0;
        loop {
            match self.input.read(&mut after)? {
                0 => return Ok(()),
                n => length += n,
            }
            if length > 4 {
                return Err(damage("the record is longer than it says"));
            }
        }
    }
}

impl Read for RecordReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.remaining == 0 || out.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(out.len());
        let n = self.input.read(&mut out[..most])?;
        if n == 0 {
            return Err(early_end("a payload"));
        }
        self.remaining -= n as u64;
        if self.remaining == 0 {
            self.finish()?;
        }
        Ok(n)
    }
}

/// Opens the record at `location` of the archive in `dir` for reading its payload piece by piece.
pub fn open_record(dir: &Path, location: Location) -> Result<RecordReader, ArchiveError> {
    let name = warc_segment_name(location.segment);
    let path = dir.join(&name);
    let mut file = open_segment(dir, &name).map_err(ArchiveError::io("open", &path))?;
    file.seek(SeekFrom::Start(location.offset)).map_err(ArchiveError::io("read", &path))?;
    let capacity = usize::try_from(location.length).unwrap_or(COPY_BYTES).min(COPY_BYTES);
    let stored = BufReader::with_capacity(capacity.max(1), file.take(location.length));
    open_stored(stored).map_err(ArchiveError::reading(&path, location.offset))
}

fn open_stored(mut stored: BufReader<io::Take<File>>) -> io::Result<RecordReader> {
    let mut input: Box<dyn BufRead + Send> = if stored.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        Box::new(BufReader::with_capacity(32 << 10, GzDecoder::new(stored)))
    } else {
        Box::new(stored)
    };
    let headers = WarcHeaders::read(&mut input)?;
    let block_len = headers.content_length()?;
    let http_head = if headers.holds_http() {
        read_http_head(&mut input, block_len, headers.record_type() != "request")?
    } else {
        Vec::new()
    };
    let payload_len = block_len - http_head.len() as u64;
    let mut record =
        RecordReader { headers, http_head, payload_len, remaining: payload_len, input };
    if payload_len == 0 {
        record.finish()?;
    }
    Ok(record)
}

/// Reads the record at `location` of the archive in `dir` into memory.
pub fn read_record(dir: &Path, location: Location) -> Result<Record, ArchiveError> {
    let mut reader = open_record(dir, location)?;
    // The length is the file's word; a lie must not take memory before the bytes are there.
    let capacity = usize::try_from(reader.payload_len).unwrap_or(0).min(16 << 20);
    let mut payload = Vec::with_capacity(capacity);
    reader.read_to_end(&mut payload).map_err(|e| {
        let path = dir.join(warc_segment_name(location.segment));
        ArchiveError::reading(&path, location.offset)(e)
    })?;
    Ok(Record { headers: reader.headers, http_head: reader.http_head, payload })
}
