//! One record of an import: from what a file holds to a page that is ready to be committed.

use super::{ImportError, failed};
use crate::group::PageDone;
use crate::visit::{Shared, Work};
use argiope_archive::{
    Dechunked, DigestCheck, PayloadHasher, SpoolFile, WarcEntry, WarcHeaders, dechunk, http_status,
    warc_date,
};
use argiope_fetch::{Answer, Body, Fetcher, Head};
use argiope_frontier::{Entry, Place};
use argiope_model::{CanonicalUrl, Capture, DocId, Job, PayloadDigest, Role, Time, UrlKey};
use argiope_store::{Next, UrlState};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Threads that work on a group, at most.
const MOST_WORKERS: usize = 8;

/// What the workers share.
pub(super) struct Taker {
    pub shared: Shared,
    pub fetcher: Arc<Fetcher>,
    /// Our own archive, where the originals of revisits lie.
    pub warc: PathBuf,
    pub scratch: PathBuf,
    pub job: Job,
}

/// A record that may become a capture.
pub(super) struct Candidate {
    pub file: Arc<Path>,
    pub offset: u64,
    pub url: CanonicalUrl,
    pub key: UrlKey,
    pub time: Time,
    pub http_head: Vec<u8>,
    pub headers: WarcHeaders,
    pub digest: DigestCheck,
    payload: Payload,
}

/// Where the payload is.
enum Payload {
    /// In another record: this is a revisit.
    Elsewhere,
    Memory(Vec<u8>),
    File(Arc<SpoolFile>, u64),
}

/// What became of a record.
pub(super) enum Taken {
    /// It was here already.
    Known,
    /// Its URL was forgotten on request.
    Forgotten,
    /// It comes in (nothing is made ready in a dry run), and what there is to say about it.
    New(Option<Box<PageDone>>, Option<String>),
    /// It stays out, for this reason.
    Not(String),
    /// A revisit whose original is not here.
    NoOriginal,
}

/// An answer as a record holds it.
pub(super) struct Held {
    pub status: u16,
    pub head: Vec<u8>,
    pub body: Body,
    pub note: Option<String>,
    pub truncated: Option<Box<str>>,
}

impl Candidate {
    pub fn is_revisit(&self) -> bool {
        matches!(self.payload, Payload::Elsewhere)
    }

    /// Two captures of one URL and one second are looked at one after the other.
    pub fn mark(&self) -> (UrlKey, i64) {
        (self.key, second(self.time))
    }

    /// Bytes that it holds in memory or, for a large one, on the disk.
    pub fn weight(&self) -> u64 {
        let payload = match &self.payload {
            Payload::Elsewhere => 0,
            Payload::Memory(bytes) => bytes.len() as u64,
            Payload::File(_, len) => *len,
        };
        payload + self.http_head.len() as u64
    }
}

pub(super) fn second(time: Time) -> i64 {
    time.0.div_euclid(1000)
}

impl Taker {
    /// What can be said of a record at first sight; a sentence says why it stays out.
    pub fn candidate(&self, file: Arc<Path>, entry: WarcEntry) -> Result<Candidate, String> {
        let headers = entry.headers;
        let target = headers.target_uri().ok_or("it names no URL")?;
        let url = CanonicalUrl::parse(target).map_err(|e| format!("its URL: {e}"))?;
        let date = headers.get("WARC-Date").ok_or("it has no date")?;
        let time = warc_date(date).ok_or_else(|| format!("{date:?} is no date"))?;
        let payload = match (headers.record_type(), entry.payload, entry.spooled) {
            ("revisit", ..) => Payload::Elsewhere,
            (_, Some(bytes), _) => Payload::Memory(bytes),
            (_, None, Some(file)) => Payload::File(file, entry.payload_len),
            (_, None, None) => return Err("its payload was not kept".to_owned()),
        };
        if !matches!(payload, Payload::Elsewhere) {
            match http_status(&entry.http_head) {
                None => return Err("it holds no answer of HTTP".to_owned()),
                Some(status @ (100..200 | 304)) => {
                    return Err(format!("an answer {status} holds no page"));
                }
                Some(_) => {}
            }
        }
        Ok(Candidate {
            file,
            offset: entry.offset,
            key: url.key(&self.shared.pinned),
            url,
            time,
            http_head: entry.http_head,
            digest: entry.digest,
            headers,
            payload,
        })
    }

    /// Works on a group, beside one another, and gives the results in their order.
    pub fn take_all(
        &self,
        group: Vec<Candidate>,
        dry_run: bool,
    ) -> Result<Vec<(Candidate, Taken)>, ImportError> {
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
        let share = group.len().div_ceil(threads.min(MOST_WORKERS)).max(8);
        let mut shares: Vec<Vec<Candidate>> = Vec::new();
        let mut group = group.into_iter().peekable();
        while group.peek().is_some() {
            shares.push(group.by_ref().take(share).collect());
        }
        type Results = Result<Vec<(Candidate, Taken)>, ImportError>;
        let work = |share: Vec<Candidate>| -> Results {
            let each = share.into_iter().map(|c| self.take(&c, dry_run).map(|taken| (c, taken)));
            each.collect()
        };
        let done: Vec<Results> = std::thread::scope(|scope| {
            let last = shares.pop();
            let threads: Vec<_> =
                shares.into_iter().map(|share| scope.spawn(|| work(share))).collect();
            let last = last.map(work);
            let gone = || failed(io::Error::other("a worker panicked"));
            let mut done: Vec<Results> =
                threads.into_iter().map(|t| t.join().unwrap_or_else(|_| Err(gone()))).collect();
            done.extend(last);
            done
        });
        let mut out = Vec::new();
        for results in done {
            out.extend(results?);
        }
        Ok(out)
    }

    fn take(&self, candidate: &Candidate, dry_run: bool) -> Result<Taken, ImportError> {
        let captures = self.shared.store.captures(candidate.key)?;
        // Of what is forgotten there are no captures.
        if captures.is_empty() && self.is_forgotten(candidate.key)? {
            return Ok(Taken::Forgotten);
        }
        let same = |c: &&Capture| second(c.time) == second(candidate.time);
        let twins: Vec<&Capture> = captures.iter().filter(same).collect();
        if dry_run && candidate.is_revisit() {
            let stated = stated_digest(&candidate.headers);
            let known = twins.iter().any(|t| Some(t.payload_digest) == stated);
            return Ok(if known { Taken::Known } else { Taken::New(None, None) });
        }
        let held = match &candidate.payload {
            Payload::Elsewhere => match self.original(candidate)? {
                Some(held) => held,
                None => return Ok(Taken::NoOriginal),
            },
            Payload::Memory(bytes) => self.held(candidate, || Ok(&bytes[..]))?,
            Payload::File(file, _) => self.held(candidate, || File::open(file.path()))?,
        };
        let is_known = |digest: PayloadDigest, status: u16| {
            twins.iter().any(|t| t.payload_digest == digest && t.outcome.status == status)
        };
        if !twins.is_empty() && is_known(digest_of(&held.body)?, held.status) {
            return Ok(Taken::Known);
        }
        if dry_run {
            return Ok(Taken::New(None, held.note));
        }
        let mut time = candidate.time;
        while captures.iter().any(|c| c.time == time) {
            time = time.plus(Duration::from_millis(1));
        }
        let Held { status, head, body, note, truncated } = held;
        let answer = Answer {
            outcome: None,
            head: Some(Head::archived(status, head)),
            body,
            ip: address(&candidate.headers),
            wire_bytes: 0,
            started: time,
            elapsed: Duration::ZERO,
            waited: Duration::ZERO,
        };
        let work =
            Work { shared: &self.shared, job: &self.job, number: 0, truncated, before: None };
        let mut page = work.page(self.entry(candidate), answer)?;
        page.found.clear();
        // Nobody tries it again: it is what it was.
        if !matches!(page.next, Next::Done(_)) {
            page.next = Next::Done(UrlState::Failed);
        }
        let stored = page.capture.as_ref().map(|c| c.payload_digest).unwrap_or_default();
        if is_known(stored, status) {
            return Ok(Taken::Known);
        }
        if page.recorded.is_none() {
            return Ok(Taken::Not("nothing of it is to be kept".to_owned()));
        }
        Ok(Taken::New(Some(Box::new(page)), note))
    }

    fn is_forgotten(&self, key: UrlKey) -> Result<bool, ImportError> {
        let row = self.shared.store.urls(&[key])?.pop().flatten();
        Ok(row.is_some_and(|row| row.state == UrlState::Forgotten))
    }

    /// What only an import has in place of a queue row.
    fn entry(&self, candidate: &Candidate) -> Entry {
        Entry {
            key: candidate.key,
            place: Place::FIRST,
            url: candidate.url.clone(),
            doc: DocId(0),
            job: self.job.id,
            depth: 0,
            attempts: 0,
            expand: false,
            role: Role::Page,
            hops: 0,
            again: false,
        }
    }

    /// The answer in a response record, without the chunks that others leave in theirs.
    fn held<R: Read>(
        &self,
        candidate: &Candidate,
        payload: impl Fn() -> io::Result<R>,
    ) -> Result<Held, ImportError> {
        let status = http_status(&candidate.http_head).unwrap_or(0);
        let head = candidate.http_head.clone();
        let mut truncated: Option<Box<str>> =
            candidate.headers.get("WARC-Truncated").map(Into::into);
        let mut note = match &candidate.digest {
            DigestCheck::Wrong { stated, found } => Some(format!(
                "its bytes do not give its digest ({stated} stated, {found} found); taken in as it is"
            )),
            _ => None,
        };
        if Head::archived(status, head.clone()).is_chunked() {
            let mut plain = Plain::new(&self.scratch);
            let mut input = BufReader::new(payload().map_err(failed)?);
            let became = dechunk(&mut input, &mut plain).map_err(failed)?;
            if became != Dechunked::Not {
                let body = self.fetcher.gather(&mut plain.rewound().map_err(failed)?);
                let body = body.map_err(failed)?;
                if stated_digest(&candidate.headers) == Some(digest_of(&body)?) {
                    // The digest was taken without the chunks.
                    note = None;
                }
                if became == Dechunked::Part {
                    truncated.get_or_insert_with(|| "unspecified".into());
                    note = Some("its chunks break off; taken in as far as they go".to_owned());
                }
                return Ok(Held { status, head, body, note, truncated });
            }
        }
        let body = self.fetcher.gather(&mut payload().map_err(failed)?).map_err(failed)?;
        Ok(Held { status, head, body, note, truncated })
    }
}

/// Where a body without its chunks is written: memory, then a file.
struct Plain {
    memory: Vec<u8>,
    file: Option<File>,
    path: PathBuf,
}

const PLAIN_IN_MEMORY: usize = 1 << 20;

/// Tells such files apart.
static MADE: AtomicU64 = AtomicU64::new(0);

impl Plain {
    fn new(scratch: &Path) -> Self {
        let path = scratch.join(format!("plain-{}", MADE.fetch_add(1, Ordering::Relaxed)));
        Plain { memory: Vec::new(), file: None, path }
    }

    /// Reads from the beginning.
    fn rewound(&mut self) -> io::Result<Box<dyn Read + '_>> {
        match &mut self.file {
            None => Ok(Box::new(&self.memory[..])),
            Some(file) => {
                io::Write::write_all(file, &self.memory)?;
                file.rewind()?;
                Ok(Box::new(file))
            }
        }
    }
}

impl io::Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > PLAIN_IN_MEMORY {
            if self.file.is_none() {
                let mut how = File::options();
                how.read(true).write(true).create(true).truncate(true);
                self.file = Some(how.open(&self.path)?);
            }
            if let Some(file) = &mut self.file {
                io::Write::write_all(file, &self.memory)?;
            }
            self.memory.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn address(headers: &WarcHeaders) -> Option<IpAddr> {
    headers.get("WARC-IP-Address")?.parse().ok()
}

/// The payload digest a record states, where it is a SHA-1.
pub(super) fn stated_digest(headers: &WarcHeaders) -> Option<PayloadDigest> {
    let (name, value) = headers.get("WARC-Payload-Digest")?.split_once(':')?;
    if !name.trim().eq_ignore_ascii_case("sha1") && !name.trim().eq_ignore_ascii_case("sha-1") {
        return None;
    }
    argiope_archive::payload_digest_from_text(value.trim())
}

pub(super) fn digest_of(body: &Body) -> Result<PayloadDigest, ImportError> {
    let mut hasher = PayloadHasher::new();
    if let Some(bytes) = body.bytes() {
        hasher.update(bytes);
        return Ok(hasher.finish());
    }
    let mut reader = body.reader()?;
    let mut piece = vec![0; 128 << 10];
    loop {
        match reader.read(&mut piece).map_err(failed)? {
            0 => return Ok(hasher.finish()),
            n => hasher.update(&piece[..n]),
        }
    }
}
