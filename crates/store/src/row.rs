//! Rows, and their byte forms.
//!
//! Each value begins with a version byte. An older version is read and written back in the
//! newest form when its row is next written; a newer one is refused with a sentence. What
//! older versions looked like is in [`v1`] to [`v4`].

mod robots;
mod v1;
mod v2;
mod v3;
mod v4;

pub(crate) use robots::{decode_robots, encode_robots};

use crate::StoreError;
use crate::batch::Next;
use argiope_frontier::revisit::PageState;
use argiope_frontier::{Place, SkipReason, Temper, Trap};
use argiope_model::{
    Aim, CanonicalUrl, Capture, DocId, FetchOutcome, Job, JobId, JobState, Location, OutcomeKind,
    Role, Time, UrlKey,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use v1::{CaptureV1, HostRowV1, JobRowV1, UrlHeadV1};
use v2::{HostRowV2, JobProgressV2, JobRowV2};
use v3::{CaptureV3, UrlHeadV3};
use v4::{JobProgressV4, JobRowV4};

/// The version written today.
pub(crate) const VERSION: u8 = 5;

/// Where a URL stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UrlState {
    /// In the ready queue, or on the calendar to be tried again.
    Queued,
    /// Fetched well at least once.
    Fetched,
    /// It leads elsewhere.
    Redirected,
    /// Given up after its tries.
    Failed,
    /// Known, inside the scope, and left alone.
    Skipped(SkipReason),
    /// Removed on request: nothing of it is kept but the row that says so, and no link leads a
    /// crawl there again.
    Forgotten,
}

impl UrlState {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Fetched => "fetched",
            Self::Redirected => "redirected",
            Self::Failed => "failed",
            Self::Skipped(_) => "skipped",
            Self::Forgotten => "forgotten",
        }
    }
}

/// What we know of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlRow {
    /// Everything of fixed size.
    pub head: UrlHead,
    /// The URL.
    pub url: CanonicalUrl,
}

/// The fixed part of a URL's row; read alone where the text does not matter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlHead {
    /// Its number for life.
    pub doc: DocId,
    /// Where it stands.
    pub state: UrlState,
    /// Links from a start URL of the last job that met it.
    pub depth: u16,
    /// Jobs that have met it; the last owns its queue row.
    pub jobs: Vec<JobId>,
    /// When it was first seen.
    pub first_seen: Time,
    /// When it was last asked for.
    pub fetched_at: Option<Time>,
    /// Completed visits.
    pub visits: u32,
    /// Visits that found other text than the one before.
    pub changes: u32,
    /// When its text last changed.
    pub changed_at: Option<Time>,
    /// Tries since the last success.
    pub attempts: u8,
    /// Its place in the queue while it is queued.
    pub place: Option<Place>,
    /// When it is tried again, while it is on the calendar.
    pub due: Option<Time>,
    /// The queue row is there to look at the stored links again, not to request the page.
    pub expand: bool,
    /// Other jobs that want it while its row is the owner's: each gets its turn after that.
    pub wishes: Vec<Wish>,
    /// What it is asked for: as the discovery said that queued it last, or met it first.
    pub role: Role,
    /// Redirects that led to it, one after the other, when it was queued last.
    pub hops: u8,
    /// What is remembered of its visits, and when it should be looked at again; `None` before the
    /// first.
    pub plan: Option<PageState>,
}

/// A job that met a URL while another job's row of it was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The job.
    pub job: JobId,
    /// Links from one of its start URLs.
    pub depth: u16,
    /// The place of its row, when its turn comes.
    pub place: Place,
}

impl std::ops::Deref for UrlRow {
    type Target = UrlHead;
    fn deref(&self) -> &UrlHead {
        &self.head
    }
}

impl UrlHead {
    /// The job that owns the queue row.
    pub fn job(&self) -> JobId {
        self.jobs.last().copied().unwrap_or(JobId(0))
    }

    /// The jobs it is queued for: the owner of the queue row, and those that wait for it.
    pub fn queued_for(&self) -> impl Iterator<Item = JobId> + '_ {
        let owner = self.in_queue().then(|| self.job());
        owner.into_iter().chain(self.wishes.iter().map(|wish| wish.job))
    }

    /// Whether a queue row exists for it (also one for looking at its links again).
    pub fn in_queue(&self) -> bool {
        self.place.is_some()
    }

    /// Whether its queue row is there to visit again what was visited before.
    pub fn is_again(&self) -> bool {
        self.in_queue() && !self.expand && (self.state != UrlState::Queued || self.visits > 0)
    }

    pub(crate) fn encode(&self, url: &str) -> Vec<u8> {
        let mut out = Vec::with_capacity(48 + url.len());
        out.push(VERSION);
        let mut out = postcard::to_extend(self, out).expect("writing to memory cannot fail");
        out.extend_from_slice(url.as_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<(Self, &[u8]), StoreError> {
        let head = match versioned("URLs", bytes)? {
            (1, body) => {
                postcard::take_from_bytes::<UrlHeadV1>(body).map(|(old, url)| (old.into(), url))
            }
            (2 | 3, body) => {
                postcard::take_from_bytes::<UrlHeadV3>(body).map(|(old, url)| (old.into(), url))
            }
            (_, body) => postcard::take_from_bytes(body),
        };
        head.map_err(|e| damaged("URLs", e))
    }
}

impl UrlRow {
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        let (head, rest) = UrlHead::decode(bytes)?;
        let text = std::str::from_utf8(rest).map_err(|e| damaged("URLs", e))?;
        let url = CanonicalUrl::parse(text).map_err(|e| damaged("URLs", e))?;
        Ok(UrlRow { head, url })
    }
}

/// What we know of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// Scheme, host name and port.
    pub origin: Box<str>,
    /// Rows in its ready queue.
    pub ready: u64,
    /// Whether a run has it loaded.
    pub claimed: bool,
    /// Its row in the schedule, in seconds; `None` while claimed or without rows.
    pub wake: Option<u32>,
    /// No request before this time.
    pub not_before: Time,
    /// URLs known.
    pub known: u64,
    /// Pages fetched.
    pub fetched: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Body bytes received.
    pub bytes: u64,
    /// How it has behaved.
    pub temper: Temper,
    /// Bytes that its captures take up in the archive and among the texts; `None` where that was
    /// not counted yet ([`crate::Store::host_disk`] looks).
    pub disk: Option<u64>,
}

impl HostRow {
    /// A host of which nothing is known but its name.
    pub(crate) fn new(origin: &str) -> Self {
        HostRow {
            origin: origin.into(),
            ready: 0,
            claimed: false,
            wake: None,
            not_before: Time(0),
            known: 0,
            fetched: 0,
            failed: 0,
            bytes: 0,
            temper: Temper::default(),
            disk: Some(0),
        }
    }
}

impl HostRow {
    /// From when on it is worth loading. What is left of a host that was given up or excluded is
    /// refused, and that need not wait until it could be asked.
    pub fn wakes_at(&self) -> Time {
        let left_alone = self.temper.given_up.is_some() || self.temper.excluded;
        if left_alone { Time(0) } else { self.not_before }
    }
}

/// Bytes that a capture takes up on disk: its record, and its text unless it is that of another.
pub fn disk_of(capture: &Capture) -> u64 {
    let length = |at: Option<Location>| at.map_or(0, |at| at.length);
    length(capture.record) + length(capture.text.filter(|_| !capture.revisit))
}

/// What a job has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobCounters {
    /// URLs in ready queues and on the calendar, those it waits for included.
    pub queued: u64,
    /// Pages fetched.
    pub fetched: u64,
    /// Pages found as they were.
    pub unchanged: u64,
    /// URLs given up.
    pub failed: u64,
    /// URLs left alone, by reason.
    pub skipped_extension: u64,
    /// Deeper than the limit.
    pub skipped_depth: u64,
    /// Not of a wanted type.
    pub skipped_type: u64,
    /// Larger than the limit.
    pub skipped_size: u64,
    /// Redirects met.
    pub redirects: u64,
    /// Tries that ended badly, those tried again included.
    pub errors: u64,
    /// Body bytes received.
    pub bytes: u64,
    /// Hosts first met by this job.
    pub hosts: u64,
    /// URLs first met by this job.
    pub known: u64,
    /// Words on the pages fetched.
    pub words: u64,
    /// Links on the pages fetched.
    pub links: u64,
    /// Time spent in runs.
    pub run_ms: u64,
    /// Forbidden by the robots.txt of their hosts.
    pub skipped_robots: u64,
    /// Of hosts that were given up.
    pub skipped_given_up: u64,
    /// Sitemaps read: they are no pages and count as nothing else.
    pub sitemaps: u64,
    /// Of sites that were excluded by hand.
    pub skipped_excluded: u64,
    /// Not let through by the job's filter.
    pub skipped_filter: u64,
    /// Of series of pages without end.
    pub skipped_trap: u64,
    /// Beyond what the job takes of one site.
    pub skipped_site_pages: u64,
}

impl JobCounters {
    pub(crate) fn skipped_mut(&mut self, reason: SkipReason) -> &mut u64 {
        match reason {
            SkipReason::Extension => &mut self.skipped_extension,
            SkipReason::Depth => &mut self.skipped_depth,
            SkipReason::Type => &mut self.skipped_type,
            SkipReason::Size => &mut self.skipped_size,
            SkipReason::Robots => &mut self.skipped_robots,
            SkipReason::GivenUp => &mut self.skipped_given_up,
            SkipReason::Excluded => &mut self.skipped_excluded,
            SkipReason::Filter => &mut self.skipped_filter,
            SkipReason::Trap => &mut self.skipped_trap,
            SkipReason::SitePages => &mut self.skipped_site_pages,
        }
    }

    /// Adds what another job left alone.
    pub fn add_skipped(&mut self, other: &JobCounters) {
        self.skipped_extension += other.skipped_extension;
        self.skipped_type += other.skipped_type;
        self.skipped_size += other.skipped_size;
        self.skipped_depth += other.skipped_depth;
        self.skipped_robots += other.skipped_robots;
        self.skipped_given_up += other.skipped_given_up;
        self.skipped_excluded += other.skipped_excluded;
        self.skipped_filter += other.skipped_filter;
        self.skipped_trap += other.skipped_trap;
        self.skipped_site_pages += other.skipped_site_pages;
    }

    /// URLs left alone, by the names of the reasons.
    pub fn skipped(&self) -> [(&'static str, u64); 10] {
        [
            (SkipReason::Extension.name(), self.skipped_extension),
            (SkipReason::Type.name(), self.skipped_type),
            (SkipReason::Size.name(), self.skipped_size),
            (SkipReason::Depth.name(), self.skipped_depth),
            (SkipReason::Robots.name(), self.skipped_robots),
            (SkipReason::GivenUp.name(), self.skipped_given_up),
            (SkipReason::Excluded.name(), self.skipped_excluded),
            (SkipReason::Filter.name(), self.skipped_filter),
            (SkipReason::Trap.name(), self.skipped_trap),
            (SkipReason::SitePages.name(), self.skipped_site_pages),
        ]
    }

    /// A URL counted for how it ended is asked for again.
    pub(crate) fn take_back(&mut self, ended: UrlState) {
        let counter = match ended {
            UrlState::Skipped(reason) => self.skipped_mut(reason),
            UrlState::Failed => &mut self.failed,
            UrlState::Queued | UrlState::Fetched | UrlState::Redirected | UrlState::Forgotten => {
                return;
            }
        };
        *counter = counter.saturating_sub(1);
    }
}

/// A job and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "JobForm", into = "JobForm")]
pub struct JobRow {
    /// The order given.
    pub job: Job,
    /// Where it stands.
    pub state: JobState,
    /// What it has done.
    pub counters: JobCounters,
}

/// A job as it is written. What it is about, and that it collects news, came later than the version: where
/// it does neither, nothing is written of that, and older rows end before it.
#[derive(Serialize, Deserialize)]
struct JobForm {
    job: Job,
    state: JobState,
    counters: JobCounters,
    /// Written where there is one, or where something stands behind it.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_inner",
        deserialize_with = "at_the_end"
    )]
    aim: Option<Option<Aim>>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_inner",
        deserialize_with = "at_the_end"
    )]
    news: Option<bool>,
}

impl From<JobForm> for JobRow {
    fn from(form: JobForm) -> Self {
        let news = form.news.unwrap_or_default();
        let job = Job { aim: form.aim.flatten(), news, ..form.job };
        JobRow { job, state: form.state, counters: form.counters }
    }
}

impl From<JobRow> for JobForm {
    fn from(row: JobRow) -> Self {
        let (news, aim) = (row.job.news.then_some(true), row.job.aim.clone());
        let aim = (aim.is_some() || news.is_some()).then_some(aim);
        JobForm { job: row.job, state: row.state, counters: row.counters, aim, news }
    }
}

/// A value that may be missing because the row ends.
fn at_the_end<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(deserializer).ok())
}

/// The same value as it is written: what is missing is not written at all.
fn as_inner<S: Serializer, T: Serialize>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => value.serialize(to),
        None => to.serialize_unit(),
    }
}

/// How far a job has come, without the order itself: an order may have a million start URLs, and
/// every commit changes this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProgress {
    /// The job.
    pub id: JobId,
    /// Where it stands.
    pub state: JobState,
    /// What it has done.
    pub counters: JobCounters,
}

impl JobRow {
    /// How far it has come.
    pub fn progress(&self) -> JobProgress {
        let JobRow { job, state, counters } = self;
        JobProgress { id: job.id, state: *state, counters: counters.clone() }
    }

    /// Takes over how far it has come.
    pub fn advance(&mut self, progress: JobProgress) {
        (self.state, self.counters) = (progress.state, progress.counters);
    }
}

/// Where a payload was stored first within its site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRow {
    /// The page it was stored for.
    pub url: CanonicalUrl,
    /// When.
    pub time: Time,
    /// The text extracted from it.
    pub text: Option<Location>,
}

/// One row of the change log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number in the partition, from 1.
    pub n: u64,
    /// The URL that was visited.
    pub key: UrlKey,
    /// The capture's time.
    pub time: Time,
    /// Whether the text changed.
    pub changed: bool,
    /// The URL's number.
    pub doc: DocId,
    /// What the visit left behind.
    pub ended: Ended,
}

/// What a visit left behind, for those who follow the change log: what it means for the page's
/// forward links, and whether links to it are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ended {
    /// A document or a redirect: the page's links are those stored.
    WithPage,
    /// Given up after its tries: whatever was stored before, it links nowhere now.
    Broken,
    /// Answered and not taken (its type, its size): it links nowhere.
    LeftAlone,
    /// Nothing is decided: it is tried again.
    Open,
    /// Nothing of it is kept any more.
    Forgotten,
}

impl Ended {
    /// What a result leaves behind.
    pub(crate) fn of(next: &Next) -> Self {
        match next {
            Next::Done(UrlState::Fetched | UrlState::Redirected) => Self::WithPage,
            Next::Done(UrlState::Failed) => Self::Broken,
            Next::Done(UrlState::Skipped(_)) => Self::LeftAlone,
            Next::Done(UrlState::Forgotten) => Self::Forgotten,
            Next::Done(UrlState::Queued) | Next::Retry(_) => Self::Open,
            Next::Expanded | Next::Later(_) => Self::Open,
        }
    }

    /// What a row written before this was noted has left behind: as its capture ended.
    pub(crate) fn of_capture(outcome: &FetchOutcome, queued: bool) -> Self {
        match outcome.kind {
            _ if outcome.is_success() => Self::WithPage,
            OutcomeKind::Redirect => Self::WithPage,
            _ if outcome.is_skip() => Self::LeftAlone,
            _ if queued && outcome.is_transient() => Self::Open,
            _ => Self::Broken,
        }
    }
}

/// Writes a row of the change log: what version 2 had from the start, then what came later.
pub(crate) fn encode_change(
    key: UrlKey,
    time: Time,
    changed: bool,
    doc: DocId,
    ended: Ended,
) -> Vec<u8> {
    let first = encode(&(key, time, changed));
    postcard::to_extend(&(doc, ended), first).expect("writing to memory cannot fail")
}

/// A row of the change log; the end is not in rows written before it was noted.
pub(crate) type ChangeRow = ((UrlKey, Time, bool), Option<(DocId, Ended)>);

/// Reads a row of the change log.
pub(crate) fn decode_change(bytes: &[u8]) -> Result<ChangeRow, StoreError> {
    let (_, body) = versioned("the change log", bytes)?;
    let bad = |e| damaged("the change log", e);
    let (first, rest) = postcard::take_from_bytes(body).map_err(bad)?;
    let later = match rest {
        [] => None,
        rest => Some(postcard::from_bytes(rest).map_err(bad)?),
    };
    Ok((first, later))
}

/// What a segment file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SegmentKind {
    /// WARC records.
    Warc,
    /// Extracted texts.
    Text,
}

pub(crate) fn damaged(what: &'static str, why: impl std::fmt::Display) -> StoreError {
    StoreError::Damaged { what, why: why.to_string() }
}

/// The version of a value, and what follows it.
pub(crate) fn versioned<'a>(
    what: &'static str,
    bytes: &'a [u8],
) -> Result<(u8, &'a [u8]), StoreError> {
    match bytes.split_first() {
        Some((&version @ 1..=VERSION, body)) => Ok((version, body)),
        Some((&found, _)) if found > VERSION => Err(StoreError::Newer { found, known: VERSION }),
        _ => Err(damaged(what, "no version")),
    }
}

/// A row that is its version and its fields, nothing more.
pub(crate) trait Row: Serialize + DeserializeOwned {
    /// Its fields in version 1.
    type First: DeserializeOwned + Into<Self>;
    /// Its fields in version 2.
    type Second: DeserializeOwned + Into<Self>;
    /// Its fields in version 3.
    type Third: DeserializeOwned + Into<Self>;
    /// Its fields in version 4.
    type Fourth: DeserializeOwned + Into<Self>;
}

impl Row for HostRow {
    type First = HostRowV1;
    type Second = HostRowV2;
    type Third = Self;
    type Fourth = Self;
}
impl Row for JobRow {
    type First = JobRowV1;
    type Second = JobRowV2;
    type Third = JobRowV4;
    type Fourth = JobRowV4;
}
impl Row for Capture {
    type First = CaptureV1;
    type Second = CaptureV3;
    type Third = CaptureV3;
    type Fourth = Self;
}
impl Row for JobProgress {
    type First = JobProgressV2;
    type Second = JobProgressV2;
    type Third = JobProgressV4;
    type Fourth = JobProgressV4;
}
impl Row for PayloadRow {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}
/// A row of the calendar.
impl Row for (Place, JobId) {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}
/// A row of the change log.
impl Row for (UrlKey, Time, bool) {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}
/// When a name was excluded.
impl Row for Time {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}
/// A pattern that is a trap, beside the names that are excluded.
impl Row for Trap {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}
/// A counter or a length.
impl Row for u64 {
    type First = Self;
    type Second = Self;
    type Third = Self;
    type Fourth = Self;
}

/// Writes a row with its version.
pub(crate) fn encode<T: Row>(row: &T) -> Vec<u8> {
    postcard::to_extend(row, vec![VERSION]).expect("writing to memory cannot fail")
}

/// Reads a row of any version.
pub(crate) fn decode<T: Row>(what: &'static str, bytes: &[u8]) -> Result<T, StoreError> {
    let row = match versioned(what, bytes)? {
        (1, body) => postcard::from_bytes::<T::First>(body).map(Into::into),
        (2, body) => postcard::from_bytes::<T::Second>(body).map(Into::into),
        (3, body) => postcard::from_bytes::<T::Third>(body).map(Into::into),
        (4, body) => postcard::from_bytes::<T::Fourth>(body).map(Into::into),
        (_, body) => postcard::from_bytes(body),
    };
    row.map_err(|e| damaged(what, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::{Limits, Order, QueryPolicy, Scope, ScopeRule, Wanted};

    #[test]
    fn what_a_job_is_about_and_that_it_collects_news_is_kept_and_missing_in_older_rows() {
        let job = Job {
            id: JobId(1),
            created: Time(5),
            seeds: Vec::new(),
            scope: Scope { rule: ScopeRule::Any, names: Default::default() },
            order: Order::Best,
            limits: Limits::default(),
            wanted: Wanted { types: Default::default(), skip_extensions: Default::default() },
            query: QueryPolicy::Keep,
            filter: None,
            aim: None,
            news: false,
        };
        let like = vec![CanonicalUrl::parse("http://a.test/orb").unwrap()];
        let aim = Some(Aim { about: "orb weavers".to_owned(), like });
        let counters = JobCounters { known: 7, ..JobCounters::default() };
        let plain = JobRow { job: job.clone(), state: JobState::Open, counters };
        let with = JobRow { job: Job { aim: aim.clone(), ..job.clone() }, ..plain.clone() };
        let news = JobRow { job: Job { news: true, ..job.clone() }, ..plain.clone() };
        let both = JobRow { job: Job { news: true, aim, ..job }, ..plain.clone() };
        for row in [&plain, &with, &news, &both] {
            assert_eq!(&decode::<JobRow>("jobs", &encode(row)).unwrap(), row);
            assert!(encode(row).starts_with(&encode(&plain)), "it stands at the end");
        }
        assert!(encode(&both).starts_with(&encode(&with)));
    }

    #[test]
    fn a_newer_row_is_refused_with_a_sentence_and_a_short_one_is_damage() {
        let newer = decode::<HostRow>("hosts", &[VERSION + 1, 0]).unwrap_err();
        assert!(newer.to_string().contains("newer Argiope"), "{newer}");
        let short = decode::<HostRow>("hosts", &[VERSION]).unwrap_err();
        assert!(short.to_string().contains("damaged"), "{short}");
        assert!(
            decode::<HostRow>("hosts", &[]).is_err()
                && decode::<HostRow>("hosts", &[0, 0]).is_err()
        );
    }
}
