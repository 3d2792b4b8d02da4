//! Verification: the archive against the store, every digest, every pointer.
//!
//! Two passes meet in the middle. The first walks the segments: every record must be readable,
//! its payload must match its digest. The second walks the store: every capture's pointer must
//! lead to the start of a record for that very URL, with that digest, and every text pointer
//! to a readable text; every record of a response must belong to a capture. What is queued,
//! claimed and counted must agree as well.

use crate::data_dir::DataDir;
use crate::words::Words;
use argiope_archive::{
    DigestCheck, WarcReader, digest_base32, open_segment, read_text, warc_segment_name,
};
use argiope_index::{Held, IndexError, indexed_text, versions_of};
use argiope_model::{Capture, DocId, HostKey, JobId, Location, Time, UrlKey};
use argiope_store::{SegmentKind, Store, StoreError, UrlRow, UrlState, decode_links};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufReader, Read};

/// What helps against a lost text.
const AGAIN: &str = "`argiope reindex --from-archive` makes it again";

/// Something that does not agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: a file, a URL, a host.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// Records read.
    pub records: u64,
    /// Captures compared.
    pub captures: u64,
    /// URLs known.
    pub urls: u64,
    /// Texts read.
    pub texts: u64,
    /// Documents of the word index compared.
    pub documents: u64,
    /// Versions of the past that it holds, compared.
    pub past: u64,
    /// Articles of the news compared.
    pub articles: u64,
    /// What does not agree, at most a thousand rows.
    pub problems: Vec<Problem>,
    /// How many problems there are.
    pub problem_count: u64,
}

impl Verified {
    pub(crate) fn problem(&mut self, place: impl Into<String>, problem: impl Into<String>) {
        self.problem_count += 1;
        if self.problems.len() < 1000 {
            self.problems.push(Problem { place: place.into(), problem: problem.into() });
        }
    }
}

/// What the first pass keeps of a record: enough to be recognised by its capture.
struct Seen {
    length: u64,
    url: u64,
    digest: u64,
    revisit: bool,
}

/// What the first pass finds.
#[derive(Default)]
struct Found {
    /// Every record, by where it begins.
    records: HashMap<(u32, u64), Seen>,
    /// Every response, by URL, time and digest: what a revisit may refer to.
    responses: HashSet<u64>,
    /// Every revisit, and what it refers to.
    referring: Vec<((u32, u64), u64)>,
}

/// Segments of a fleet that are kept where nobody looks from here.
pub type Absent = HashSet<(SegmentKind, u32)>;

/// Checks a directory, but for what is kept elsewhere; `progress` hears of every segment and every
/// thousand URLs.
pub fn verify(
    dir: &DataDir,
    store: &dyn Store,
    absent: &Absent,
    mut progress: impl FnMut(&str),
) -> Result<Verified, StoreError> {
    let mut out = Verified::default();
    let mut found = Found::default();
    for (segment, length) in store.segments(SegmentKind::Warc)? {
        if absent.contains(&(SegmentKind::Warc, segment)) {
            continue;
        }
        progress(&warc_segment_name(segment));
        walk_segment(dir, segment, length, &mut found, &mut out);
    }
    let Found { mut records, responses, referring } = found;
    for ((segment, offset), first) in referring {
        // It may lie where nobody looks.
        if !responses.contains(&first) && absent.is_empty() {
            let place = format!("{} at {offset}", warc_segment_name(segment));
            out.problem(place, "a revisit of a record that is not there");
        }
    }
    drop(responses);
    let lengths: HashMap<u32, u64> = store.segments(SegmentKind::Text)?.into_iter().collect();
    let mut queued: BTreeMap<JobId, u64> = BTreeMap::new();
    let mut ready: HashMap<HostKey, u64> = HashMap::new();
    let mut docs: HashMap<u64, UrlKey> = HashMap::new();
    let mut after = None;
    loop {
        let page = store.scan_urls(after, 512)?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        progress(&format!("{} URLs", out.urls));
        let numbers: Vec<DocId> = page.iter().map(|(_, row)| row.doc).collect();
        for ((key, row), of_number) in page.into_iter().zip(store.docs(&numbers)?) {
            if of_number != Some(key) {
                let problem = format!("document number {} does not lead to it", row.doc);
                out.problem(row.url.as_str(), problem);
            }
            out.urls += 1;
            if row.url.key(dir.suffixes()) != key {
                out.problem(row.url.as_str(), "its key is not the key of its text");
            }
            if docs.insert(row.doc.0, key).is_some() {
                out.problem(
                    row.url.as_str(),
                    format!("document number {} is given twice", row.doc),
                );
            }
            row.queued_for().for_each(|job| *queued.entry(job).or_default() += 1);
            if row.in_queue() {
                *ready.entry(key.host).or_default() += u64::from(row.due.is_none());
            } else if row.state == UrlState::Queued {
                out.problem(row.url.as_str(), "it is queued and has no place in a queue");
            }
            let here = Here { dir, absent, texts: &lengths };
            check_url(&here, store, key, &row, &mut records, &mut out)?;
        }
    }
    for ((segment, offset), seen) in records {
        if seen.url != 0 {
            let place = format!("{} at {offset}", warc_segment_name(segment));
            out.problem(place, "a record that belongs to no capture");
        }
    }
    for row in store.jobs()? {
        let found = queued.get(&row.job.id).copied().unwrap_or(0);
        if found != row.counters.queued {
            let counted = row.counters.queued;
            out.problem(
                format!("job {}", row.job.id),
                format!("{found} URLs are queued, {counted} are counted"),
            );
        }
    }
    check_hosts(store, &ready, &mut out)?;
    Ok(out)
}

/// Checks the word index against the store, document by document.
pub fn verify_words(
    store: &dyn Store,
    words: &Words,
    out: &mut Verified,
) -> Result<(), IndexError> {
    // What was committed and not yet read is no disagreement.
    words.catch_up(false, |_| {})?;
    let view = words.view()?;
    let mut held: HashMap<DocId, Location> = HashMap::new();
    let mut twice = Vec::new();
    view.each_document(|doc, at| {
        if held.insert(doc, at).is_some() {
            twice.push(doc);
        }
    })?;
    for doc in twice {
        out.problem(format!("document {doc}"), "it stands in the word index twice");
    }
    out.documents = held.len() as u64;
    let mut past = Versions::default();
    view.each_past(|doc, version| {
        past.ended.entry(doc).or_default().push(version);
        out.past += 1;
    })?;
    view.each_version(&mut |doc, version| {
        past.today.insert(doc, version);
    })?;
    let mut after = None;
    loop {
        let page = store.scan_urls(after, 512)?;
        let Some((last, _)) = page.last() else { break };
        after = Some(*last);
        for (key, row) in page {
            let found = held.remove(&row.doc);
            past.check(store, key, &row, out)?;
            // A page that is asked for again is as it was until that is over.
            if row.state == UrlState::Queued && row.visits > 0 {
                continue;
            }
            let wanted = match row.state {
                UrlState::Fetched => indexed_text(&store.captures(key)?),
                _ => None,
            };
            let problem = match (found, wanted) {
                (Some(found), Some(wanted)) if found == wanted => continue,
                (None, None) => continue,
                (Some(_), Some(_)) => "the word index holds another text of it",
                (None, Some(_)) => "it is not in the word index",
                (Some(_), None) => "it is in the word index and should not be",
            };
            out.problem(row.url.as_str(), problem);
        }
    }
    for doc in held.into_keys().chain(past.ended.into_keys()) {
        out.problem(format!("document {doc}"), "it is in the word index and nowhere else");
    }
    Ok(())
}

/// The versions of pages that the word index holds.
#[derive(Default)]
struct Versions {
    ended: HashMap<DocId, Vec<Held>>,
    today: HashMap<DocId, Held>,
}

impl Versions {
    /// Whether what is held of a page's past is what its captures tell.
    fn check(
        &mut self,
        store: &dyn Store,
        key: UrlKey,
        row: &UrlRow,
        out: &mut Verified,
    ) -> Result<(), StoreError> {
        let mut ended = self.ended.remove(&row.doc).unwrap_or_default();
        // A page that is asked for again is as it was until that is over.
        if (ended.is_empty() && row.fetched_at.is_none()) || row.state == UrlState::Queued {
            return Ok(());
        }
        ended.sort_unstable();
        let all = ended.iter().chain(self.today.get(&row.doc)).copied().collect();
        let (wanted, open): (Vec<Held>, Vec<Held>) =
            versions_of(&store.captures(key)?, all, row.state)
                .into_iter()
                .partition(|version| version.until.is_some());
        if let (Some(today), [open]) = (self.today.get(&row.doc), &open[..])
            && today.from != open.from
        {
            let what = format!("it is as it is since {}, not {}", open.from, today.from);
            out.problem(row.url.as_str(), what);
        }
        let begin = |versions: &[Held]| versions.iter().map(|held| held.from).collect();
        let (here, told): (HashSet<Time>, HashSet<Time>) = (begin(&ended), begin(&wanted));
        for from in told.difference(&here) {
            let what =
                format!("its version of {from} is not among the past ones in the word index");
            out.problem(row.url.as_str(), what);
        }
        for from in here.difference(&told) {
            let what = format!("the word index holds a past version of {from} that it never had");
            out.problem(row.url.as_str(), what);
        }
        if here == told && (ended != wanted || here.len() != ended.len()) {
            out.problem(row.url.as_str(), "the word index holds other past versions of it");
        }
        Ok(())
    }
}

fn check_hosts(
    store: &dyn Store,
    ready: &HashMap<HostKey, u64>,
    out: &mut Verified,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let page = store.scan_hosts(after, 512)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = Some(*last);
        for (key, host) in page {
            let found = ready.get(&key).copied().unwrap_or(0);
            if found != host.ready {
                let counted = host.ready;
                out.problem(
                    &*host.origin,
                    format!("{found} URLs are ready, {counted} are counted"),
                );
            }
        }
    }
}

fn walk_segment(dir: &DataDir, segment: u32, length: u64, found: &mut Found, out: &mut Verified) {
    let name = warc_segment_name(segment);
    let file = match open_segment(&dir.warc(), &name) {
        Ok(file) => file,
        Err(e) => return out.problem(name, format!("cannot be opened: {e}")),
    };
    match file.metadata() {
        Ok(meta) if meta.len() < length => {
            let found = meta.len();
            out.problem(&*name, format!("{found} of {length} committed bytes are there"));
        }
        _ => {}
    }
    // What lies beyond is a torn tail that the next crawl cuts.
    let committed = file.take(length);
    for entry in WarcReader::new(BufReader::with_capacity(256 << 10, committed)) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(damage) => {
                out.problem(format!("{name} at {}", damage.offset), damage.reason);
                continue;
            }
        };
        out.records += 1;
        let place = || format!("{name} at {}", entry.offset);
        if let DigestCheck::Wrong { stated, found } = &entry.digest {
            out.problem(
                place(),
                format!("the payload is not the one written: {found}, not {stated}"),
            );
        }
        let kind = entry.headers.get("WARC-Type").unwrap_or_default();
        let (response, revisit) = (kind == "response", kind == "revisit");
        let url = entry.headers.get("WARC-Target-URI").unwrap_or_default();
        let stated = entry.headers.get("WARC-Payload-Digest").unwrap_or_default();
        let said = |name: &str| entry.headers.get(name).unwrap_or_default();
        if response {
            found.responses.insert(hash(&format!("{url} {} {stated}", said("WARC-Date"))));
        } else if revisit {
            let (first, date) = ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date");
            let first = hash(&format!("{} {} {stated}", said(first), said(date)));
            found.referring.push(((segment, entry.offset), first));
        }
        let seen = Seen {
            length: entry.length.unwrap_or(0),
            url: if response || revisit { hash(url) } else { 0 },
            digest: hash(stated),
            revisit,
        };
        found.records.insert((segment, entry.offset), seen);
    }
}

/// What lies in the directory that is checked.
struct Here<'a> {
    dir: &'a DataDir,
    absent: &'a Absent,
    texts: &'a HashMap<u32, u64>,
}

fn check_url(
    here: &Here<'_>,
    store: &dyn Store,
    key: UrlKey,
    row: &UrlRow,
    records: &mut HashMap<(u32, u64), Seen>,
    out: &mut Verified,
) -> Result<(), StoreError> {
    let captures = store.captures(key)?;
    if row.state == UrlState::Fetched && !captures.iter().any(|c| c.outcome.is_success()) {
        out.problem(row.url.as_str(), "it counts as fetched and has no capture");
    }
    let links = store.links(&[key])?.pop().flatten();
    if row.state == UrlState::Forgotten && (!captures.is_empty() || links.is_some()) {
        out.problem(row.url.as_str(), "it is forgotten and something of it is still here");
    }
    for capture in &captures {
        out.captures += 1;
        if capture.doc != row.doc {
            out.problem(row.url.as_str(), "a capture carries another document number");
        }
        let is_here = |kind, at: &Location| !here.absent.contains(&(kind, at.segment));
        if let Some(at) = capture.record.filter(|at| is_here(SegmentKind::Warc, at)) {
            check_record(row, capture, at, records, out);
        }
        if let Some(at) = capture.text.filter(|at| is_here(SegmentKind::Text, at)) {
            out.texts += 1;
            let end = at.offset + at.length;
            if here.texts.get(&at.segment).is_none_or(|committed| end > *committed) {
                let problem = format!("its text lies beyond what was committed; {AGAIN}");
                out.problem(row.url.as_str(), problem);
            } else if let Err(e) = read_text(&here.dir.text(), at) {
                out.problem(row.url.as_str(), format!("its text cannot be read: {e}; {AGAIN}"));
            }
        }
    }
    if let Some(blob) = links
        && let Err(e) = decode_links(&blob)
    {
        out.problem(row.url.as_str(), e.to_string());
    }
    Ok(())
}

fn check_record(
    row: &UrlRow,
    capture: &Capture,
    at: Location,
    records: &mut HashMap<(u32, u64), Seen>,
    out: &mut Verified,
) {
    let url = row.url.as_str();
    let Some(seen) = records.remove(&(at.segment, at.offset)) else {
        let file = warc_segment_name(at.segment);
        return out.problem(url, format!("its pointer {file} at {} leads to no record", at.offset));
    };
    if seen.url != hash(url) {
        out.problem(url, "its pointer leads to the record of another URL");
    }
    let digest = format!("sha1:{}", digest_base32(&capture.payload_digest));
    if seen.digest != hash(&digest) {
        out.problem(url, "the record's digest is not the capture's");
    }
    if seen.length != at.length || seen.revisit != capture.revisit {
        out.problem(url, "the record has another length or kind than the capture says");
    }
}

/// 64 bits of a text, never 0, so that millions of records fit into memory.
fn hash(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish() | 1
}
