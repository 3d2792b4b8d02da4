//! Reading the past: the captures of a page as versions, with their bytes, their texts and what
//! changed from one to the next.
//!
//! * Its place: `history`, `show --at`, `diff` and `export tree`; whoever asks brings the captures
//!   of the page, and a way to those of other pages, which a revisit may refer to.
//! * Invariants: what is opened is the payload as it was stored; two texts are compared only when the
//!   same parser made them, so that a better parser is no change.
//! * What is not here: which of two texts differ and whether that counts (`archive`).

use crate::before::is_sight;
use crate::content::{content_of, first_bytes};
use crate::look::bare_text;
use argiope_archive::{
    ArchiveError, Reason, RecordReader, Sight, TextBlob, Watcher, decode_text, digest_base32,
    open_record, read_text,
};
use argiope_fetch::{Body, Head, decoded_reader};
use argiope_model::{CanonicalUrl, Capture, OutcomeKind, Time};
use argiope_parse as parse;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::path::PathBuf;

/// A body that is longer is not parsed again.
const MAX_AGAIN: u64 = 64 << 20;

/// Why a version cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// There is no record of it.
    #[error("the bytes of that version are not in the archive ({0})")]
    NotKept(String),
    /// Its payload stands in another record, which is gone.
    #[error("the original of the revisit, {0}, is not here")]
    NoOriginal(String),
    /// The archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It cannot be unpacked.
    #[error("the body does not follow its content-encoding; --raw shows it as it is")]
    Encoding(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Who knows the captures failed.
    #[error(transparent)]
    Asking(Box<dyn std::error::Error + Send + Sync>),
}

/// Finds the captures of another URL.
pub type CapturesOf<'a> =
    dyn Fn(&str) -> Result<Vec<Capture>, Box<dyn std::error::Error + Send + Sync>> + 'a;

/// Where versions lie.
pub struct Shelf<'a> {
    /// The directory of the archive.
    pub warc: PathBuf,
    /// The directory of the texts.
    pub text: PathBuf,
    /// The captures of other URLs.
    pub captures_of: &'a CapturesOf<'a>,
}

/// A page: its URL and its captures, oldest first.
#[derive(Clone, Debug)]
pub struct Versions {
    /// The URL.
    pub url: CanonicalUrl,
    /// The captures.
    pub captures: Vec<Capture>,
}

/// A version that was opened.
pub struct Opened {
    /// The head of its own answer.
    pub head: Vec<u8>,
    /// The content-encoding of the payload.
    pub coding: String,
    /// The payload as it was stored.
    pub payload: RecordReader,
}

impl Opened {
    /// The body without its content-encoding.
    pub fn plain(self) -> Result<Box<dyn Read>, VersionError> {
        let decoded = decoded_reader(self.payload, &self.coding);
        Ok(Box::new(decoded.map_err(|e| VersionError::Encoding(e.into()))?))
    }
}

fn coding_of(head: &[u8]) -> String {
    let head = Head::archived(0, head.to_vec());
    head.content_encoding().unwrap_or_default().into_owned()
}

/// Whether a capture says that the page is as it was, and no more.
fn is_as_before(capture: &Capture) -> bool {
    capture.outcome.kind == OutcomeKind::NotModified
}

/// Whether a capture is a document, seen or known to be as it was.
fn is_document(capture: &Capture) -> bool {
    capture.outcome.is_success()
}

/// The capture that tells how a page was at a time: the last until then that is an answer of the
/// page; failures in between tell nothing.
pub fn version_at(captures: &[Capture], at: Time) -> Option<usize> {
    let tells =
        |c: &Capture| !(c.outcome.is_transient() || c.outcome.status == 0) || is_document(c);
    captures.iter().rposition(|c| c.time <= at && tells(c))
}

impl Shelf<'_> {
    /// Opens a version.
    pub fn open(&self, page: &Versions, n: usize) -> Result<Opened, VersionError> {
        let capture = &page.captures[n];
        let not_kept = || VersionError::NotKept(capture.outcome.to_string());
        if is_as_before(capture) {
            let head = match capture.record {
                Some(at) => Some(open_record(&self.warc, at)?.http_head().to_vec()),
                None => None,
            };
            let before = page.captures[..n].iter().rposition(is_sight).ok_or_else(not_kept)?;
            let opened = self.open(page, before)?;
            // Records of such visits may be kept without a head, for those who replay them.
            let head = head.filter(|head| !head.is_empty());
            return Ok(Opened { head: head.unwrap_or(opened.head), ..opened });
        }
        let record = open_record(&self.warc, capture.record.ok_or_else(not_kept)?)?;
        let head = record.http_head().to_vec();
        let coding = coding_of(&head);
        if !capture.revisit {
            return Ok(Opened { head, coding, payload: record });
        }
        let url = record.headers().get("WARC-Refers-To-Target-URI").unwrap_or_default().to_owned();
        let earlier = match url == page.url.as_str() {
            true => page.captures.clone(),
            false => (self.captures_of)(&url).map_err(VersionError::Asking)?,
        };
        let holds = |c: &&Capture| !c.revisit && c.payload_digest == capture.payload_digest;
        let at = earlier.iter().filter(holds).find_map(|c| c.record);
        let payload = open_record(&self.warc, at.ok_or(VersionError::NoOriginal(url))?)?;
        Ok(Opened { head, coding, payload })
    }

    /// The text of a version, by the parser of today where it can be made again.
    pub fn text(&self, page: &Versions, n: usize) -> Result<Option<TextBlob>, VersionError> {
        let capture = &page.captures[n];
        if is_as_before(capture) && capture.text.is_none() {
            let before = page.captures[..n].iter().rposition(is_sight);
            return before.map_or(Ok(None), |before| self.text(page, before));
        }
        let Some(at) = capture.text else { return Ok(None) };
        let kept = read_text(&self.text, at)?;
        if kept.parser_version == parse::PARSER_VERSION {
            return Ok(Some(kept));
        }
        Ok(Some(self.text_again(page, n).unwrap_or(kept)))
    }

    fn text_again(&self, page: &Versions, n: usize) -> Option<TextBlob> {
        let (media, body) = self.body(page, n)?;
        let packed = content_of(&page.url, &media, &body, None).ok()?.text?;
        decode_text(&packed).ok()
    }

    /// The text of a version without advertisements; `None` where its markup names none, or its bytes
    /// cannot be had.
    pub(crate) fn bare_text(&self, page: &Versions, n: usize) -> Option<TextBlob> {
        let (media, body) = self.body(page, n)?;
        bare_text(&page.url, &media, &body).ok()?
    }

    fn body(&self, page: &Versions, n: usize) -> Option<(parse::MediaType, Body)> {
        let opened = self.open(page, n).ok()?;
        let head = Head::archived(0, opened.head.clone());
        let mut bytes = Vec::new();
        opened.plain().ok()?.take(MAX_AGAIN).read_to_end(&mut bytes).ok()?;
        let body = Body::from_vec(bytes);
        let (declared, ending) = (head.content_type(), page.url.extension());
        let first = first_bytes(&body).ok()?;
        Some((parse::media_type(declared.as_deref(), &first, ending.as_deref()), body))
    }
}

/// What became of a page with a version.
struct Verdict {
    changed: bool,
    share: f64,
    reason: &'static str,
}

impl Verdict {
    /// What was seen at the visit itself, with what was known of the site then.
    fn stored(stored: argiope_model::Verdict) -> Self {
        Verdict {
            changed: stored.reason.counts(),
            share: f64::from(stored.share) / 10_000.0,
            reason: stored.reason.name(),
        }
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::Same => "same",
        Reason::Text => "text",
        Reason::Title => "title",
        Reason::Noise => "noise",
        Reason::Order => "order",
        Reason::ErrorPage => "error-page",
    }
}

/// What is known while versions are walked through.
#[derive(Default)]
struct Walk {
    watcher: Watcher,
    /// The last document: its number.
    document: Option<usize>,
    /// The parser of the last text.
    parser: Option<u16>,
    /// It was gone, or moved, at the last visit.
    away: bool,
}

impl Walk {
    fn step(&mut self, page: &Versions, n: usize, text: Option<&TextBlob>) -> Verdict {
        let capture = &page.captures[n];
        let still = |reason| Verdict { changed: false, share: 0.0, reason };
        if !is_document(capture) {
            return match (capture.outcome.kind, capture.outcome.status) {
                (OutcomeKind::ClientError, 404 | 410) => {
                    self.away = true;
                    still("gone")
                }
                (OutcomeKind::Redirect, _) => {
                    self.away = true;
                    still("moved")
                }
                (OutcomeKind::ClientError | OutcomeKind::ServerError, _) => still("error"),
                _ => still("failed"),
            };
        }
        let back = std::mem::take(&mut self.away);
        let last = self.document.map(|last| &page.captures[last]);
        // What is as it was may carry no digest of its own.
        if last.is_none() || !is_as_before(capture) {
            self.document = Some(n);
        }
        let seen = text.map(|text| Sight {
            title: &text.title,
            text: &text.text,
            time: Some(capture.time),
        });
        let same_parser = match (text, self.parser) {
            (Some(text), Some(parser)) => text.parser_version == parser,
            _ => true,
        };
        self.parser = text.map(|text| text.parser_version).or(self.parser);
        let Some(last) = last else {
            seen.map(|seen| self.watcher.see(&seen));
            return still("new");
        };
        let is_identical = is_as_before(capture) || capture.body_digest == last.body_digest;
        if is_identical {
            // Behind an error page it is the page itself that is compared.
            let seen = seen.and_then(|seen| self.watcher.see(&seen));
            return match seen.filter(|change| change.counts && same_parser) {
                Some(change) => counted(change),
                None => still(if back { "back" } else { "identical" }),
            };
        }
        if parse::type_group(&capture.mime) != parse::type_group(&last.mime) {
            seen.map(|seen| self.watcher.see(&seen));
            return Verdict { changed: true, share: 1.0, reason: "type" };
        }
        let Some(seen) = seen else {
            return Verdict { changed: true, share: 1.0, reason: "bytes" };
        };
        match self.watcher.see(&seen) {
            Some(_) if !same_parser => still("parser"),
            Some(change) if change.counts => counted(change),
            Some(_) if back => still("back"),
            Some(change) => still(reason_name(change.reason)),
            None => Verdict { changed: true, share: 1.0, reason: "text" },
        }
    }
}

fn counted(change: argiope_archive::Change) -> Verdict {
    Verdict { changed: true, share: change.share, reason: reason_name(change.reason) }
}

/// The versions of a page, oldest first, as rows: when, what it was, whether and how much it had
/// changed against the one before, and why.
///
/// Where nobody has compared them at the visit itself, what turns on the page is known from all of its
/// versions: they are gone through twice.
pub fn history(shelf: &Shelf<'_>, page: &Versions) -> Result<Vec<Value>, VersionError> {
    let judged = page.captures.iter().all(|c| !is_document(c) || c.verdict.is_some());
    let mut walk = Walk::default();
    let mut rows = Vec::new();
    for last in [false, true].into_iter().filter(|last| *last || !judged) {
        walk = Walk { watcher: walk.watcher.again(), ..Walk::default() };
        for n in 0..page.captures.len() {
            let capture = &page.captures[n];
            let text = if is_document(capture) { shelf.text(page, n)? } else { None };
            let walked = walk.step(page, n, text.as_ref().filter(|_| !judged));
            let verdict = capture.verdict.map_or(walked, Verdict::stored);
            if last {
                rows.push(row(capture, text.as_ref(), &verdict));
            }
        }
    }
    Ok(rows)
}

fn row(capture: &Capture, text: Option<&TextBlob>, verdict: &Verdict) -> Value {
    let digest = Some(&capture.payload_digest).filter(|digest| **digest != [0; 20]);
    json!({
        "time": capture.time.to_string(),
        "status": Some(capture.outcome.status).filter(|status| *status != 0),
        "bytes": capture.bytes,
        "digest": digest.map(|digest| format!("sha1:{}", digest_base32(digest))),
        "last_modified": capture.last_modified.map(|t| t.to_string()),
        "changed": verdict.changed,
        "change": (verdict.share * 10_000.0).round() / 10_000.0,
        "reason": verdict.reason,
        "outcome": capture.outcome.kind.name(),
        "detail": capture.outcome.detail,
        "type": Some(&*capture.mime).filter(|mime| !mime.is_empty()),
        "revisit": capture.revisit,
        "etag": capture.etag,
        "title": text.map(|text| &text.title),
        "language": text.and_then(|text| text.language.as_ref()),
        "words": text.map(|text| text.text.split_whitespace().count()),
        "noarchive": capture.directives.noarchive,
        "lied": capture.verdict.map(|verdict| verdict.lied),
        "job": capture.job.0,
    })
}

impl Shelf<'_> {
    /// The two versions that a difference is asked of: the last document until `to`, and the last
    /// until `from`, or the last before it with another text.
    pub fn pair(
        &self,
        page: &Versions,
        from: Option<Time>,
        to: Option<Time>,
    ) -> Result<Result<(usize, usize), String>, VersionError> {
        let last = |until: Time| {
            page.captures
                .iter()
                .rposition(|c| c.time <= until && is_document(c) && !is_as_before(c))
        };
        let Some(new) = last(to.unwrap_or(Time(i64::MAX))) else {
            return Ok(Err(match page.captures.first() {
                Some(first) => format!(
                    "there was no version of {} until then; the first visit was {}",
                    page.url,
                    first.time.iso_seconds()
                ),
                None => format!("{} was not fetched yet; `argiope doc` says more", page.url),
            }));
        };
        if let Some(from) = from {
            return Ok(match last(from) {
                Some(old) => Ok((old, new)),
                None => Err(format!(
                    "there was no version of {} at the time of --from; `argiope history` lists those there are",
                    page.url
                )),
            });
        }
        let latest = self.text(page, new)?;
        for old in (0..new).rev().filter(|n| page.captures[*n].outcome.kind == OutcomeKind::Fetched)
        {
            if page.captures[old].body_digest == page.captures[new].body_digest {
                continue;
            }
            let text = self.text(page, old)?;
            let words =
                |text: &Option<TextBlob>| text.as_ref().map(|t| (t.title.clone(), t.text.clone()));
            if words(&text) != words(&latest) {
                return Ok(Ok((old, new)));
            }
        }
        Ok(Err(format!("no earlier version of {} has another text", page.url)))
    }
}

impl From<io::Error> for VersionError {
    fn from(e: io::Error) -> Self {
        VersionError::Encoding(e.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_archive::{
        Compression, Payload, Prepared, RecordHead, SegmentKind, Segments, WarcInfo, body_digest,
        encode_text, payload_digest, response_record,
    };
    use argiope_model::{Directives, DocId, FetchOutcome, JobId};

    struct Kept {
        dir: tempfile::TempDir,
        warc: Segments,
        text: Segments,
        page: Versions,
    }

    impl Kept {
        fn new() -> Self {
            let dir = tempfile::tempdir().expect("a directory");
            let kind = SegmentKind::Warc { info: WarcInfo::default() };
            let warc = Segments::open(&dir.path().join("warc"), kind, &[], 1 << 20);
            let text = Segments::open(&dir.path().join("text"), SegmentKind::Text, &[], 1 << 20);
            let url = CanonicalUrl::parse("http://a.test/").expect("a URL");
            let page = Versions { url, captures: Vec::new() };
            Kept { warc: warc.expect("opens"), text: text.expect("opens"), dir, page }
        }

        /// A visit that gave this body, whose text a parser of this version made.
        fn visit(&mut self, body: &str, text: &str, parser_version: u16, archived: bool) {
            let time = Time(self.page.captures.len() as i64 * 86_400_000);
            let http_head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
            let head = RecordHead {
                url: self.page.url.as_str(),
                time,
                ip: None,
                http_head,
                payload_digest: payload_digest(body.as_bytes()),
                truncated: None,
            };
            let bytes = Payload::Memory(body.as_bytes());
            let record = response_record(&head, bytes, Compression::Level1, self.dir.path());
            let record = self.warc.append(record.expect("a record")).expect("appends");
            let blob = TextBlob { parser_version, text: text.into(), ..TextBlob::default() };
            let text = self.text.append(Prepared::Bytes(encode_text(&blob))).expect("appends");
            self.page.captures.push(Capture {
                doc: DocId(1),
                job: JobId(1),
                time,
                outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
                record: archived.then_some(record),
                revisit: false,
                text: Some(text),
                mime: "text/html".into(),
                bytes: body.len() as u64,
                payload_digest: head.payload_digest,
                body_digest: body_digest(body.as_bytes()),
                last_modified: None,
                etag: None,
                elapsed_ms: 0,
                directives: Directives::default(),
                verdict: None,
            });
        }

        fn answered(&mut self, outcome: FetchOutcome) {
            let last = self.page.captures.last().expect("a visit").clone();
            let time = last.time.plus(std::time::Duration::from_secs(3600));
            let (record, text) = (None, None);
            let body_digest = [0; 32];
            self.page.captures.push(Capture { time, outcome, record, text, body_digest, ..last });
        }

        fn reasons(&mut self) -> Vec<String> {
            self.warc.sync().expect("syncs");
            self.text.sync().expect("syncs");
            let captures_of = |_: &str| Ok(Vec::new());
            let shelf = Shelf {
                warc: self.dir.path().join("warc"),
                text: self.dir.path().join("text"),
                captures_of: &captures_of,
            };
            let rows = history(&shelf, &self.page).expect("a history");
            let told = |row: &Value| {
                let mark = if row["changed"] == true { "*" } else { "" };
                format!("{}{mark}", row["reason"].as_str().unwrap_or_default())
            };
            rows.iter().map(told).collect()
        }
    }

    #[test]
    fn a_newer_parser_is_no_change_and_texts_are_read_again_where_they_can_be() {
        let now = parse::PARSER_VERSION;
        let mut kept = Kept::new();
        kept.visit("<p>one two three", "one-two-three as it was read once", now + 1, true);
        kept.visit("<p>one <b>two</b> three", "one two three", now, true);
        kept.visit("<p>one two four", "one two something old", now + 1, true);
        assert_eq!(kept.reasons(), ["new", "same", "text*"]);
        // Where the bytes are not kept, nobody can tell.
        let mut kept = Kept::new();
        kept.visit("<p>one two three", "one-two-three as it was read once", now + 1, false);
        kept.visit("<p>one two four", "one two four", now, true);
        kept.visit("<p>one two five", "one two five", now, true);
        assert_eq!(kept.reasons(), ["new", "parser", "text*"]);
    }

    #[test]
    fn answers_without_a_page_are_no_changes_and_the_page_behind_them_is_compared() {
        let now = parse::PARSER_VERSION;
        let mut kept = Kept::new();
        kept.visit("<p>one two three", "one two three", now, true);
        kept.answered(FetchOutcome::new(OutcomeKind::TimedOut, 0));
        kept.answered(FetchOutcome::new(OutcomeKind::NotModified, 304));
        kept.answered(FetchOutcome::new(OutcomeKind::ServerError, 503));
        kept.answered(FetchOutcome::new(OutcomeKind::ClientError, 410));
        kept.visit("<p>one two three", "one two three", now, true);
        kept.visit("<p>other words", "other words", now, true);
        let expected = ["new", "failed", "identical", "error", "gone", "back", "text*"];
        assert_eq!(kept.reasons(), expected);
        let at = |ms: i64| version_at(&kept.page.captures, Time(ms));
        assert_eq!(at(-1), None);
        assert_eq!(at(0), Some(0));
        assert_eq!(at(2 * 3_600_000 - 1), Some(0), "what timed out tells nothing");
        assert_eq!(at(4 * 3_600_000), Some(4), "it was gone");
    }
}
