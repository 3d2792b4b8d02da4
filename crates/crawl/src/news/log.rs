//! The file of articles: `news/articles.log` of a data directory.
//!
//! ```text
//!  "argiope news 4\n" │ frame frame … mark │ frame … mark │ torn
//!  frame = lengths of head and body, digest of head, digest of body, head, body
//! ```
//!
//! * What this is: records appended in batches, each ending with a mark that says how far the change log was read. A
//!   record has a head, which is read when the file is opened, and a body, which is read when an article is shown.
//! * Invariants: what stands behind the last mark before a torn or damaged place is cut when the file is opened; the
//!   change log is read again from there, so nothing is lost. A body is checked when it is read.
//! * What is not here: what the records mean (`table`).

use super::NewsError;
use super::row::{Body, Head, Record};
use argiope_archive::payload_digest;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The first line, but for the version and the line's end.
const NAME: &str = "argiope news ";
/// The form of the file; what a newer program wrote is refused.
const VERSION: u32 = 7;
/// Lengths and digests before a head.
const FRAME: usize = 16;
/// Longer records are not written; one that claims to be longer is damaged.
const MAX_PART: u32 = 64 << 20;
/// Bytes that a file may have before anybody thinks of writing it anew.
const SMALL: u64 = 1 << 20;

/// Where a record lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct At {
    pub offset: u64,
    pub head: u32,
    pub body: u32,
}

impl At {
    pub fn bytes(self) -> u64 {
        FRAME as u64 + u64::from(self.head) + u64::from(self.body)
    }
}

/// The file, open for appending.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Bytes of the file.
    end: u64,
    /// What is not written yet.
    waiting: Vec<u8>,
}

fn digest(parts: &[&[u8]]) -> [u8; 4] {
    let whole = payload_digest(&parts.concat());
    [whole[0], whole[1], whole[2], whole[3]]
}

fn frame(record: &Record, body: Option<&Body>) -> Result<(Vec<u8>, At), NewsError> {
    let packed = |e: postcard::Error| NewsError::Row(e.to_string());
    let head = postcard::to_stdvec(record).map_err(packed)?;
    let body = body.map(postcard::to_stdvec).transpose().map_err(packed)?.unwrap_or_default();
    if head.len().max(body.len()) > MAX_PART as usize {
        return Err(NewsError::Row("a record is too long".to_owned()));
    }
    let at = At { offset: 0, head: head.len() as u32, body: body.len() as u32 };
    let lengths = [at.head.to_le_bytes(), at.body.to_le_bytes()].concat();
    let mut out = Vec::with_capacity(FRAME + head.len() + body.len());
    out.extend_from_slice(&lengths);
    out.extend_from_slice(&digest(&[&lengths, &head]));
    out.extend_from_slice(&digest(&[&body]));
    out.extend_from_slice(&head);
    out.extend_from_slice(&body);
    Ok((out, at))
}

impl Log {
    /// Opens the file and tells of every record up to the last mark. `None` where there is none yet.
    pub fn open(
        path: &Path,
        mut each: impl FnMut(Record, At) -> Result<(), NewsError>,
    ) -> Result<Option<Self>, NewsError> {
        let fail = |source| NewsError::Io { action: "read", path: path.to_owned(), source };
        let file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(fail(e)),
        };
        let length = file.metadata().map_err(fail)?.len();
        let mut reader = BufReader::with_capacity(1 << 18, file);
        let Some(start) = head_line(&mut reader).map_err(|e| e.into_error(path))? else {
            return Err(NewsError::Damaged(path.to_owned()));
        };
        let mut good = start;
        let mut at = start;
        let mut batch = Vec::new();
        while let Some((record, place)) = match next_frame(&mut reader, at, length) {
            // Somebody cut it meanwhile.
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => None,
            // What cannot be read just now is not torn.
            read => read.map_err(fail)?,
        } {
            at += place.bytes();
            let is_mark = matches!(record, Record::Mark { .. });
            batch.push((record, place));
            if is_mark {
                good = at;
                for (record, place) in batch.drain(..) {
                    each(record, place)?;
                }
            }
        }
        let mut file = reader.into_inner();
        if good < length {
            tracing::debug!("{} bytes behind the last mark of the news are cut", length - good);
            file.set_len(good).map_err(fail)?;
        }
        file.seek(SeekFrom::Start(good)).map_err(fail)?;
        Ok(Some(Log { path: path.to_owned(), file, end: good, waiting: Vec::new() }))
    }

    /// Begins a file; what was there is no more.
    pub fn create(path: &Path) -> Result<Self, NewsError> {
        let fail = |source| NewsError::Io { action: "write", path: path.to_owned(), source };
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).map_err(fail)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(path)
            .map_err(fail)?;
        let line = format!("{NAME}{VERSION}\n");
        file.write_all(line.as_bytes()).map_err(fail)?;
        let end = line.len() as u64;
        Ok(Log { path: path.to_owned(), file, end, waiting: Vec::new() })
    }

    /// Adds a record to the batch; it is read back once the batch is written.
    pub fn append(&mut self, record: &Record, body: Option<&Body>) -> Result<At, NewsError> {
        let (bytes, at) = frame(record, body)?;
        let offset = self.end + self.waiting.len() as u64;
        self.waiting.extend_from_slice(&bytes);
        Ok(At { offset, ..at })
    }

    /// Ends the batch with a mark and writes it; says how long the mark is.
    pub fn mark(&mut self, mark: &Record) -> Result<u64, NewsError> {
        let at = self.append(mark, None)?;
        self.spill()?;
        Ok(at.bytes())
    }

    /// Makes what was written durable.
    pub fn sync(&self) -> Result<(), NewsError> {
        let fail = |source| NewsError::Io { action: "write", path: self.path.clone(), source };
        self.file.sync_data().map_err(fail)
    }

    /// Whether more than half of the file is of no use, where so many bytes of it are.
    pub fn is_wasteful(&self, dead: u64) -> bool {
        self.end > SMALL && dead > self.end / 2
    }

    /// The article whose record lies at a place.
    pub fn head(&mut self, at: At) -> Result<Head, NewsError> {
        let frame = self.raw(at)?;
        match postcard::from_bytes(&frame[FRAME..FRAME + at.head as usize]) {
            Ok(Record::Article(head)) => Ok(*head),
            _ => Err(NewsError::Damaged(self.path.clone())),
        }
    }

    /// The body of a record.
    pub fn body(&mut self, at: At) -> Result<Body, NewsError> {
        let frame = self.raw(at)?;
        let body = &frame[FRAME + at.head as usize..];
        let damaged = || NewsError::Damaged(self.path.clone());
        if digest(&[body])[..] != frame[12..16] {
            return Err(damaged());
        }
        postcard::from_bytes(body).map_err(|_| damaged())
    }

    fn raw(&mut self, at: At) -> Result<Vec<u8>, NewsError> {
        let length = at.bytes() as usize;
        if at.offset >= self.end {
            let from = (at.offset - self.end) as usize;
            let bytes = self.waiting.get(from..from + length);
            return bytes.map(<[u8]>::to_vec).ok_or(NewsError::Damaged(self.path.clone()));
        }
        let mut bytes = vec![0; length];
        let read = self.file.seek(SeekFrom::Start(at.offset));
        match read.and_then(|_| self.file.read_exact(&mut bytes)) {
            Ok(()) => Ok(bytes),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                Err(NewsError::Damaged(self.path.clone()))
            }
            Err(source) => Err(NewsError::Io { action: "read", path: self.path.clone(), source }),
        }
    }

    /// Writes the file anew: what is to be known before the articles, these articles, each with the body at its place, and
    /// what is said of them. The new file takes the place of the old one whole.
    pub fn rewritten(
        &mut self,
        before: &[Record],
        articles: &[At],
        mut change: impl FnMut(Head) -> Head,
        after: &[Record],
        mark: &Record,
    ) -> Result<(), NewsError> {
        let part = self.path.with_extension("log.part");
        let mut new = Log::create(&part)?;
        for record in before {
            new.append(record, None)?;
        }
        for at in articles {
            let (head, body) = (change(self.head(*at)?), self.body(*at)?);
            new.append(&Record::Article(Box::new(head)), Some(&body))?;
            if new.waiting.len() > 8 << 20 {
                new.spill()?;
            }
        }
        for record in after {
            new.append(record, None)?;
        }
        new.mark(mark)?;
        new.sync()?;
        let fail = |source| NewsError::Io { action: "write", path: self.path.clone(), source };
        fs::rename(&part, &self.path).map_err(fail)?;
        if let Some(dir) = self.path.parent() {
            File::open(dir).and_then(|dir| dir.sync_all()).map_err(fail)?;
        }
        Ok(())
    }

    /// Writes what waits. Without a mark behind it, it counts only in a file that is not in its place yet.
    fn spill(&mut self) -> Result<(), NewsError> {
        let end = self.file.seek(SeekFrom::Start(self.end));
        let written = end.and_then(|_| self.file.write_all(&self.waiting));
        written.map_err(|source| NewsError::Io {
            action: "write",
            path: self.path.clone(),
            source,
        })?;
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// Why the first line does not do.
enum NoHead {
    Io(io::Error),
    Newer(u32),
}

impl NoHead {
    fn into_error(self, path: &Path) -> NewsError {
        match self {
            NoHead::Io(source) => NewsError::Io { action: "read", path: path.to_owned(), source },
            NoHead::Newer(found) => NewsError::Newer { path: path.to_owned(), found },
        }
    }
}

/// Reads the first line; its length, or `None` where it is none of ours.
fn head_line(reader: &mut impl BufRead) -> Result<Option<u64>, NoHead> {
    let mut line = Vec::new();
    let most = (NAME.len() + 12) as u64;
    for byte in reader.by_ref().take(most).bytes() {
        match byte.map_err(NoHead::Io)? {
            b'\n' => {
                let text = String::from_utf8_lossy(&line).into_owned();
                let version = text.strip_prefix(NAME).and_then(|v| v.parse::<u32>().ok());
                return match version {
                    Some(VERSION) => Ok(Some(line.len() as u64 + 1)),
                    Some(newer) if newer > VERSION => Err(NoHead::Newer(newer)),
                    _ => Ok(None),
                };
            }
            byte => line.push(byte),
        }
    }
    Ok(None)
}

/// Reads the head of the next record and passes its body over; `None` at the end, or where it goes no further.
fn next_frame(
    reader: &mut BufReader<File>,
    offset: u64,
    length: u64,
) -> io::Result<Option<(Record, At)>> {
    if length.saturating_sub(offset) < FRAME as u64 {
        return Ok(None);
    }
    let mut fixed = [0; FRAME];
    reader.read_exact(&mut fixed)?;
    let number =
        |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let at = At { offset, head: number(0), body: number(4) };
    if at.head > MAX_PART || at.body > MAX_PART || offset + at.bytes() > length {
        return Ok(None);
    }
    let mut head = vec![0; at.head as usize];
    reader.read_exact(&mut head)?;
    if digest(&[&fixed[..8], &head])[..] != fixed[8..12] {
        return Ok(None);
    }
    let Ok(record) = postcard::from_bytes(&head) else { return Ok(None) };
    reader.seek_relative(i64::from(at.body))?;
    Ok(Some((record, at)))
}
