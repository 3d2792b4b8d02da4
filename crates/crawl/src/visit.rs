//! One visit: from a claim to a page that is ready to be committed.
//!
//! Runs as a task of its own; everything that costs processor time and needs no order is done
//! here, beside other visits: decoding, parsing, resolving, judging links, digests,
//! compression.

use crate::before::{Before, Judged, Sites, children_of, same};
use crate::content::{Content, content_of, first_bytes, listing, sitemap};
use crate::digests::digests;
use crate::director::Stage;
use crate::filters::Filters;
use crate::gather::{Gather, Gathered, Kind};
use crate::group::{Event, PageDone, Recorded, Revisited};
use crate::judge::{judge, note_only, refused_by_filter, skip_of};
use crate::links::{judge_gathered, judge_links, sites_of};
use crate::look::{bare_text, compared};
use crate::tenure::Tenure;
use crate::topic::{Said, is_only_example, words_of};
use crate::traps::Watching;
use crate::world::{Clock, Web};
use argiope_archive::{
    Compression, Payload, RecordHead, http_head_for_archive, not_modified_record, response_record,
};
use argiope_fetch::{Answer, Body, Conditions, FetchError, Head};
use argiope_filter::Known;
use argiope_frontier::revisit::Hint;
use argiope_frontier::{Answered, Entry, Heard, Manner, Robots, SeenCache, SkipReason};
use argiope_model::{
    CanonicalUrl, Capture, ChangeReason, Directives, FetchOutcome, HostKey, Job, Link, LinkKind,
    OutcomeKind, Role, Suffixes, Time, UrlKey,
};
use argiope_parse as parse;
use argiope_store::{Next, Store, StoreError, UrlState, decode_links, encode_page_links};
use std::collections::HashMap;
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// Bodies larger than this are worked on one at a time, off the other visits' way.
const LARGE: u64 = 256 << 10;
/// Links to news are looked for in so much of a page.
const MAX_FRONT: u64 = 8 << 20;
/// A page of a busy host is tried again this often, at least.
const BUSY_TRIES: u8 = 8;

/// What all visits share.
pub(crate) struct Shared {
    pub web: Arc<dyn Web>,
    pub clock: Clock,
    /// Until when something may be asked.
    pub tenure: Arc<Tenure>,
    /// Whether there are other threads to go on with while one blocks.
    pub threads: bool,
    pub store: Arc<dyn Store>,
    /// The list keys are made with.
    pub pinned: Arc<Suffixes>,
    /// The list scopes are judged with.
    pub suffixes: Suffixes,
    pub seen: SeenCache,
    pub spool: PathBuf,
    pub archive: bool,
    pub retries: u8,
    pub retry_delay: Duration,
    pub max_redirects: u8,
    /// From the end of an answer to the next request to the same host.
    pub delay: Duration,
    /// The name by which robots tags know us; `None`: nobody's wishes are obeyed.
    pub agent: Option<String>,
    /// The rules of the loaded hosts.
    pub rules: RwLock<HashMap<HostKey, Arc<Robots>>>,
    /// The filters of the jobs.
    pub filters: Filters,
    /// What pages were before, and what those of a site have in common.
    pub sites: Sites,
    /// What is watched for series without end.
    pub traps: Watching,
    /// Lets one large body be worked on at a time.
    pub large: Semaphore,
    /// Whether the sites that pages link to are told.
    pub budgets: bool,
    /// Which links of news pages are followed.
    pub gather: Gather,
    pub events: mpsc::Sender<Event>,
}

impl Shared {
    /// Whether the robots.txt of its host, where that is known, forbids a URL.
    pub(crate) fn is_forbidden(&self, host: HostKey, url: &CanonicalUrl) -> bool {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.get(&host).is_some_and(|robots| !robots.verdict(url.path_and_query()).allowed)
    }

    /// From the end of an answer of a host to the next request, at least.
    pub(crate) fn pause_of(&self, host: HostKey) -> Duration {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        let asked = rules.get(&host).and_then(|robots| robots.crawl_delay());
        self.delay.max(asked.unwrap_or_default())
    }

    /// Does work that may block, while others go on where they can.
    pub(crate) fn blocking<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.threads { tokio::task::block_in_place(work) } else { work() }
    }
}

/// A failure of our own while a visit was worked on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VisitError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Archive(#[from] argiope_archive::ArchiveError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot read a body on its way")]
    Spool(#[from] io::Error),
}

impl VisitError {
    /// Bodies are spooled to disk: where that failed for want of room, the visit can be
    /// repeated. Any other failure would only repeat itself.
    fn is_room(&self) -> bool {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let mut cause: Option<&(dyn std::error::Error + 'static)> = match self {
            VisitError::Spool(e) => Some(e),
            VisitError::Fetch(e) => Some(e),
            VisitError::Archive(e) => Some(e),
            VisitError::Store(_) => None,
        };
        while let Some(e) = cause {
            if let Some(e) = e.downcast_ref::<io::Error>() {
                return matches!(e.kind(), StorageFull | QuotaExceeded | FileTooLarge);
            }
            cause = e.source();
        }
        false
    }
}

/// Visits a URL and reports; the director hears of every visit exactly one answer and one end.
pub(crate) async fn visit(
    shared: Arc<Shared>,
    job: Arc<Job>,
    entry: Entry,
    number: u64,
    stage: Stage,
) {
    let (host, place, kept) = (entry.key.host, entry.place, entry.clone());
    let before = match entry.again && !entry.expand {
        true => shared.blocking(|| Before::load(&shared, &job, &entry)).map(Some),
        false => Ok(None),
    };
    let before = match before {
        Ok(before) => before,
        Err(e) => {
            let _ = shared.events.send(Event::Failed(Arc::new(e))).await;
            return;
        }
    };
    let before = before.as_ref();
    let work = Work { shared: &shared, job: &job, number, truncated: None, before };
    if entry.expand {
        let answered = Answered::default();
        let _ = shared.events.send(Event::Answered(number, host, place, answered, 0)).await;
        let done = shared.blocking(|| work.expand(entry));
        let _ = shared.events.send(ended(done, kept, number)).await;
        return;
    }
    let conditions = before.map(|before| before.conditions.clone()).unwrap_or_default();
    let asked = work.ask(&entry, &conditions, &stage).await;
    let end = shared.clock.now_rounded_up();
    let mut told = match &asked {
        Ok(answer) => answered(answer, end),
        Err(_) => Answered { end: Some(end), ..Answered::default() },
    };
    let bytes = asked.as_ref().map_or(0, |answer| answer.body.len());
    if before.is_none() {
        // The connection is free from here on: what follows costs the host's time nothing.
        let _ = shared.events.send(Event::Answered(number, host, place, told, bytes)).await;
    }
    let mut done = match asked {
        Ok(answer) if answer.body.len() > LARGE || is_packed_text(&answer) => {
            let _alone = shared.large.acquire().await;
            shared.blocking(|| work.page(entry, answer))
        }
        // What was there before is read from the disk.
        Ok(answer) if entry.again => shared.blocking(|| work.page(entry, answer)),
        Ok(answer) => work.page(entry, answer),
        Err(e) => Err(e.into()),
    };
    if let Some(before) = before {
        if let Ok(page) = &mut done
            && page.unsure.is_some()
        {
            let looked = work.second_look(before, page, end, &stage).await;
            match looked {
                Ok(second) => told = second.unwrap_or(told),
                Err(e) => done = Err(e),
            }
        }
        let _ = shared.events.send(Event::Answered(number, host, place, told, bytes)).await;
    }
    let _ = shared.events.send(ended(done, kept, number)).await;
}

/// What the director hears of the end of a visit.
fn ended(done: Result<PageDone, VisitError>, entry: Entry, number: u64) -> Event {
    match done {
        Ok(page) => Event::Done(Box::new(page)),
        Err(e) if e.is_room() => {
            let why = std::error::Error::source(&e).map_or(String::new(), |s| format!(": {s}"));
            Event::NoRoom(Box::new(entry), number, format!("{e}{why}"))
        }
        Err(e) => Event::Failed(Arc::new(e)),
    }
}

/// Whether a short body may be much work: what a PDF holds is packed. Where nobody says what it is,
/// it may be one.
fn is_packed_text(answer: &Answer) -> bool {
    answer.head.as_ref().is_some_and(|head| {
        let declared = head.content_type();
        let declared = declared.as_deref().and_then(parse::MediaType::parse);
        declared.is_none_or(|declared| parse::type_group(&declared.essence) == "pdf")
    })
}

/// What an answer that ended now means for its host.
pub(crate) fn answered(answer: &Answer, now: Time) -> Answered {
    let status = answer.head.as_ref().map_or(0, |head| head.status);
    // What never left our side does not count as a request.
    let kind = answer.outcome.as_ref().map(|o| o.kind);
    let asked = kind != Some(OutcomeKind::ForbiddenAddress);
    let retry_after = answer.head.as_ref().and_then(|head| head.retry_after(now));
    let manner = match &answer.outcome {
        Some(outcome) => Manner::of(outcome),
        None => Manner::of_status(status),
    };
    Answered {
        end: asked.then_some(now),
        redirect: (300..400).contains(&status) && status != 304,
        heard: Heard { manner, waited: answer.waited, retry_after },
    }
}

pub(crate) struct Work<'a> {
    pub shared: &'a Shared,
    pub job: &'a Job,
    pub number: u64,
    /// Why the body is not whole, where an imported record says so.
    pub truncated: Option<Box<str>>,
    /// What is known of the page, where it was visited before.
    pub before: Option<&'a Before>,
}

impl Work<'_> {
    pub(crate) async fn ask(
        &self,
        entry: &Entry,
        conditions: &Conditions,
        stage: &Stage,
    ) -> Result<Answer, FetchError> {
        let judge = |head: &Head| {
            stage.is_reading();
            judge(self.shared, self.job, entry, head)
        };
        self.shared.tenure.until_held().await;
        self.shared.web.get(&entry.url, conditions, &judge).await
    }

    /// Looks at the stored links of a page again, under the rules that hold now.
    fn expand(&self, entry: Entry) -> Result<PageDone, VisitError> {
        let blob = self.shared.store.links(&[entry.key])?.pop().flatten();
        // Which links lead to news is told by the page, not by its links alone.
        let blob = blob.filter(|_| !self.job.news);
        let links = blob.map(|b| decode_links(&b)).transpose()?.unwrap_or_default();
        let (found, known) = judge_links(self.shared, self.job, &entry, &links, false);
        let sites = sites_of(self.shared, self.job, &entry, &links, &found);
        Ok(PageDone { found, known, sites, ..PageDone::bare(entry, self.number, Next::Expanded) })
    }

    /// What an answer means for its URL, ready to be committed.
    pub(crate) fn page(&self, entry: Entry, answer: Answer) -> Result<PageDone, VisitError> {
        let Answer { outcome, head, body, ip, started, elapsed, .. } = answer;
        let mut capture = Capture {
            doc: entry.doc,
            job: entry.job,
            time: started,
            outcome: FetchOutcome::new(OutcomeKind::Fetched, 0),
            record: None,
            revisit: false,
            text: None,
            mime: "".into(),
            bytes: body.len(),
            payload_digest: [0; 20],
            body_digest: [0; 32],
            last_modified: None,
            etag: None,
            elapsed_ms: u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX),
            directives: Directives::default(),
            verdict: None,
        };
        if let Some(head) = &head {
            let declared = head.content_type();
            if let Some(declared) = declared.as_deref().and_then(parse::MediaType::parse) {
                capture.mime = declared.essence.into();
            }
            capture.last_modified = head.last_modified().and_then(|t| Time::from_http_date(&t));
            capture.etag = head.etag().map(|e| e.into_owned().into());
        }
        let head = match (head, outcome) {
            (Some(head), None) => head,
            // A redirect's target counts even where its body was too long to be kept.
            (Some(head), Some(outcome)) if outcome.kind == OutcomeKind::Redirect => {
                let (outcome, links) = self.no_document(&entry, &head);
                capture.outcome = outcome;
                let content = Content { links, ..Content::default() };
                return self.finish(entry, capture, None, content, ip);
            }
            (_, outcome) => {
                let none = FetchOutcome::new(OutcomeKind::BadResponse, 0);
                capture.outcome = outcome.unwrap_or(none);
                return self.finish(entry, capture, None, Content::default(), ip);
            }
        };
        if head.status == 304
            && let Some(before) = self.before
            && let Some(done) = self.not_modified(&entry, &capture, &head, ip)
        {
            let around = self.around(before, &entry, done.capture.as_ref(), &[])?;
            return Ok(PageDone { again: Some(Box::new(around)), ..done });
        }
        let encoding = head.content_encoding().unwrap_or_default().into_owned();
        let good = (200..300).contains(&head.status);
        let decoded = self.shared.web.decode(&body, &encoding);
        let (decoded, mut outcome) = match decoded {
            Ok(decoded) => (Some(decoded), FetchOutcome::new(OutcomeKind::Fetched, head.status)),
            Err(e) => (None, e.into_outcome(head.status)?),
        };
        let mut content = Content::default();
        if !good {
            (outcome, content.links) = self.no_document(&entry, &head);
        } else if entry.role == Role::Sitemap {
            if let Some(decoded) = &decoded {
                content = match self.job.news {
                    true => self.listed(&entry, &head, decoded)?,
                    false => sitemap(&entry.url, decoded)?,
                };
            }
        } else if let Some(decoded) = &decoded {
            let plain: &Body = decoded;
            let declared = head.content_type();
            let first = first_bytes(plain)?;
            let ending = entry.url.extension();
            let media = parse::media_type(declared.as_deref(), &first, ending.as_deref());
            if parse::is_wanted(&media.essence, &self.job.wanted.types) {
                content = content_of(&entry.url, &media, plain, self.shared.agent.as_deref())?;
                if self.job.news && parse::type_group(&media.essence) == "html" {
                    content.gathered = self.gathered(&entry, &media, plain, &content.links)?;
                }
                if self.before.is_some() {
                    content.bare = bare_text(&entry.url, &media, plain)?;
                }
                if let Some(why) = content.no_text.take() {
                    tracing::debug!(url = entry.url.as_str(), "no text: {why}");
                    let why = format!("no text: {why}");
                    outcome = FetchOutcome::with_detail(OutcomeKind::Fetched, head.status, why);
                }
                if let Some(agent) = &self.shared.agent {
                    let tags: Vec<_> = head.x_robots_tags().collect();
                    let tags = parse::header_directives(tags.iter().map(|t| &**t), agent);
                    content.directives = content.directives.and(tags);
                }
                capture.directives = content.directives;
                if let Some(why) = self.refused(&entry.url, &media, &body, &content) {
                    content = Content::default();
                    outcome = refused_by_filter(head.status, &why);
                }
            } else {
                outcome = FetchOutcome::with_detail(
                    OutcomeKind::UnwantedType,
                    head.status,
                    media.essence.as_str(),
                );
            }
            capture.mime = media.essence.into();
        }
        let kept = outcome.kind != OutcomeKind::UnwantedType;
        capture.outcome = outcome;
        let mut recorded = if kept && (self.shared.archive || self.before.is_some()) {
            let site = self.shared.pinned.site_key(entry.url.host());
            // zstd is undone before storing, since readers of archives lack it.
            let undone = encoding.to_ascii_lowercase().contains("zstd");
            let stored = match &decoded {
                Some(plain) if undone => plain,
                _ => &body,
            };
            let undone = undone && decoded.is_some();
            (capture.payload_digest, capture.body_digest) = digests(stored, decoded.as_deref())?;
            let http_head =
                http_head_for_archive(&head.raw, stored.len(), head.is_chunked(), undone);
            let record_head = RecordHead {
                url: entry.url.as_str(),
                time: capture.time,
                ip,
                http_head: &http_head,
                payload_digest: capture.payload_digest,
                truncated: self.truncated.as_deref(),
            };
            let packed = (!encoding.is_empty() && !undone)
                || matches!(
                    parse::type_group(&capture.mime),
                    "image" | "audio" | "video" | "archive" | "font"
                );
            let compression = if packed { Compression::Stored } else { Compression::Level1 };
            let payload = match stored {
                Body::Spooled(file) => Payload::File { path: file.path(), len: stored.len() },
                in_memory => Payload::Memory(in_memory.bytes().unwrap_or_default()),
            };
            let record = response_record(&record_head, payload, compression, &self.shared.spool)?;
            let payload = (!stored.is_empty()).then_some((site, capture.payload_digest));
            let truncated = self.truncated.clone();
            Some(Recorded { record, http_head, ip, payload, truncated })
        } else {
            None
        };
        if capture.outcome.kind == OutcomeKind::Fetched {
            self.compare(&entry, &mut capture, &mut recorded, &mut content)?;
        }
        self.finish(entry, capture, recorded, content, ip)
    }

    /// What is to be asked for next by a page of a news job.
    fn gathered(
        &self,
        entry: &Entry,
        media: &parse::MediaType,
        body: &Body,
        links: &[Link],
    ) -> Result<Vec<Gathered>, VisitError> {
        let mut read = Vec::new();
        let html = match body.bytes() {
            Some(bytes) => bytes,
            None => {
                body.reader()?.take(MAX_FRONT).read_to_end(&mut read)?;
                &read
            }
        };
        let Shared { gather, suffixes, clock, .. } = self.shared;
        let charset = media.charset.as_deref();
        Ok(gather.page(entry, html, charset, links, suffixes, clock.now()))
    }

    /// The same by a feed or a sitemap.
    fn listed(&self, entry: &Entry, head: &Head, body: &Body) -> Result<Content, VisitError> {
        let (bytes, declared) = (listing(body)?, head.content_type());
        let now = self.shared.clock.now();
        let (gathered, modified) =
            self.shared.gather.listed(entry, &bytes, declared.as_deref(), now);
        Ok(Content { gathered, modified, ..Content::default() })
    }

    /// Why the job's filter refuses a page, now that all of it is known.
    fn refused(
        &self,
        url: &CanonicalUrl,
        media: &parse::MediaType,
        body: &Body,
        content: &Content,
    ) -> Option<String> {
        let known = Known {
            kind: Some((&media.essence, parse::type_group(&media.essence))),
            size: Some(body.len()),
            language: Some(content.language.as_deref()),
        };
        let Shared { filters, suffixes, .. } = self.shared;
        filters.refuses_answer(self.job, url, suffixes, known)
    }

    /// The server says that nothing has changed; `None` where it was not asked that.
    fn not_modified(
        &self,
        entry: &Entry,
        capture: &Capture,
        head: &Head,
        ip: Option<IpAddr>,
    ) -> Option<PageDone> {
        let before = self.before?;
        let outcome = FetchOutcome::new(OutcomeKind::NotModified, head.status);
        let mut capture = before.not_modified(&Capture { outcome, ..capture.clone() })?;
        let keep = self.shared.archive && self.shared.sites.keep_unchanged;
        let recorded = before.last().filter(|_| keep).map(|last| {
            // A capture with a record says what that stands for.
            capture.payload_digest = last.payload_digest;
            let head = RecordHead {
                url: entry.url.as_str(),
                time: capture.time,
                ip,
                http_head: &[],
                payload_digest: last.payload_digest,
                truncated: None,
            };
            let record = not_modified_record(&head, entry.url.as_str(), last.time);
            Recorded { record, http_head: Vec::new(), ip, payload: None, truncated: None }
        });
        let next = Next::Done(UrlState::Fetched);
        let bare = PageDone::bare(entry.clone(), self.number, next);
        Some(PageDone { capture: Some(capture), recorded, ip, ..bare })
    }

    /// What has become of a page that was visited before; what is as it was is not stored again.
    fn compare(
        &self,
        entry: &Entry,
        capture: &mut Capture,
        recorded: &mut Option<Recorded>,
        content: &mut Content,
    ) -> Result<(), VisitError> {
        let Some(before) = self.before else { return Ok(()) };
        let compared = compared(content)?;
        let Judged { verdict, unsure } =
            before.judge(self.shared, entry, capture, compared.as_ref())?;
        // Of a front page of news it does not matter which of its boxes turn.
        let leads_on = self.job.news && Kind::of(entry.role, entry.depth) != Kind::Article;
        content.unsure = compared.filter(|_| unsure && !leads_on);
        if let Some(last) = before.identical(capture) {
            // The same page in another coding is kept as it was sent.
            let as_sent = last.payload_digest == capture.payload_digest;
            let keep = self.shared.archive && (self.shared.sites.keep_unchanged || !as_sent);
            if keep {
                capture.text = last.text;
            } else {
                *recorded = None;
                *capture = same(capture);
            }
            // What a page leads to may be wanted now, where it was not before.
            let gathered = std::mem::take(&mut content.gathered);
            let directives = content.directives;
            *content = Content { directives, gathered, ..Content::default() };
        } else if verdict.reason == ChangeReason::ErrorPage {
            // What stands in for the page leads nowhere.
            (content.links, content.malformed) = (Vec::new(), Vec::new());
            content.gathered.clear();
        }
        if !self.shared.archive {
            *recorded = None;
        }
        capture.verdict = Some(verdict);
        Ok(())
    }

    /// What a visit to a page that was visited before says of those around it.
    fn around(
        &self,
        before: &Before,
        entry: &Entry,
        capture: Option<&Capture>,
        modified: &[(CanonicalUrl, Time)],
    ) -> Result<Revisited, VisitError> {
        let (plan, first_seen) = (before.plan, before.first_seen);
        let mut out = Revisited { plan, first_seen, ..Revisited::default() };
        let changed = capture.and_then(|c| c.verdict).is_some_and(|v| v.reason.counts());
        let store = &self.shared.store;
        if entry.role == Role::Sitemap {
            let keys: Vec<UrlKey> =
                modified.iter().map(|(url, _)| url.key(&self.shared.pinned)).collect();
            for ((key, row), (_, at)) in keys.iter().zip(store.urls(&keys)?).zip(modified) {
                let plan = row.and_then(|row| row.plan);
                if let Some(plan) = plan.filter(|plan| plan.last.is_some_and(|last| last < *at)) {
                    out.hints.push((*key, plan, Hint::Modified(*at)));
                }
            }
        } else if changed && entry.depth == 0 {
            let keys = children_of(self.shared, entry)?;
            for (key, row) in keys.iter().zip(store.urls(&keys)?) {
                let plan = row.and_then(|row| row.plan);
                out.hints.extend(plan.map(|plan| (*key, plan, Hint::Mentioned)));
            }
        } else if !changed && self.shared.sites.selective {
            (out.children, out.seen) = before.children(self.shared, entry)?;
        }
        Ok(out)
    }

    /// A redirect's target or an error's kind.
    fn no_document(&self, entry: &Entry, head: &Head) -> (FetchOutcome, Vec<Link>) {
        let bad =
            |why: String| FetchOutcome::with_detail(OutcomeKind::BadRedirect, head.status, why);
        if !(300..400).contains(&head.status) {
            return (note_only(head), Vec::new());
        }
        let Some(location) = head.location() else {
            return (bad("it names no target".to_owned()), Vec::new());
        };
        match entry.url.join(location.trim()) {
            Ok(_) if entry.hops >= self.shared.max_redirects => {
                (bad(format!("more than {} redirects", self.shared.max_redirects)), Vec::new())
            }
            Ok(url) => {
                let to = url.as_str().to_owned();
                let link = Link {
                    url,
                    words: "".into(),
                    kind: LinkKind::Redirect,
                    nofollow: false,
                    count: 1,
                };
                let outcome = FetchOutcome::with_detail(OutcomeKind::Redirect, head.status, to);
                (outcome, vec![link])
            }
            Err(e) => (bad(format!("its target is {e}: {location}")), Vec::new()),
        }
    }

    fn finish(
        &self,
        entry: Entry,
        capture: Capture,
        recorded: Option<Recorded>,
        content: Content,
        ip: Option<IpAddr>,
    ) -> Result<PageDone, VisitError> {
        let outcome = &capture.outcome;
        let next = match outcome.kind {
            OutcomeKind::Fetched | OutcomeKind::NotModified => Next::Done(UrlState::Fetched),
            OutcomeKind::Redirect => Next::Done(UrlState::Redirected),
            OutcomeKind::UnwantedType => Next::Done(UrlState::Skipped(skip_of(outcome))),
            OutcomeKind::TooLarge => Next::Done(UrlState::Skipped(SkipReason::Size)),
            _ if outcome.is_transient() && entry.attempts < tries(outcome, self.shared.retries) => {
                let wait = self.shared.retry_delay * (1 << entry.attempts.min(10));
                Next::Retry(self.shared.clock.now().plus(wait))
            }
            _ => Next::Done(UrlState::Failed),
        };
        // A page that asks for it has its links kept, not followed.
        let (mut found, known) =
            match content.directives.nofollow || is_only_example(self.shared, self.job, &entry) {
                true => Default::default(),
                false if self.job.news => {
                    let to = judge_gathered(self.shared, self.job, &entry, &content);
                    (to, Vec::new())
                }
                false => judge_links(self.shared, self.job, &entry, &content.links, content.index),
            };
        let traps = match next {
            Next::Done(state) if !entry.again => {
                let (plain, now) = (content.plain.as_deref(), self.shared.clock.now());
                self.shared.traps.met(&entry, state, plain, &content.links, &mut found, now)
            }
            _ => Vec::new(),
        };
        let topic = self.job.aim.as_ref().map(|_| {
            let said = Said {
                text: content.plain.as_deref().filter(|_| next == Next::Done(UrlState::Fetched)),
                language: content.language.as_deref(),
                links: &content.links,
                at: &content.at,
                found: &found,
                known: &known,
            };
            words_of(self.shared, self.job, &said)
        });
        let sites = match content.directives.nofollow {
            true => Vec::new(),
            false => sites_of(self.shared, self.job, &entry, &content.links, &found),
        };
        // The URLs of a sitemap are no links of a page.
        let parsed = content.text.is_some();
        let keep = entry.role == Role::Page && (parsed || !content.links.is_empty());
        let stands_in =
            capture.verdict.is_some_and(|verdict| verdict.reason == ChangeReason::ErrorPage);
        let mut links =
            (keep && !stands_in).then(|| encode_page_links(&content.links, &content.malformed));
        let mut again = None;
        if let Some(before) = self.before {
            let stored = self.shared.store.links(&[entry.key])?.pop().flatten();
            // What moves on an article may be that it is as it was before an edit: those who follow look at it,
            // for its links are written once more.
            let noise =
                capture.verdict.is_some_and(|verdict| verdict.reason == ChangeReason::Noise);
            let turned = noise || content.unsure.is_some();
            let is_article = self.job.news && Kind::of(entry.role, entry.depth) == Kind::Article;
            links = links.filter(|links| turned && is_article || stored.as_ref() != Some(links));
            let around = self.around(before, &entry, Some(&capture), &content.modified)?;
            again = Some(Box::new(around));
        }
        Ok(PageDone {
            next,
            recorded,
            text: content.text,
            links,
            found,
            known,
            topic,
            sites,
            words: content.words,
            link_count: content.links.iter().map(|link| u64::from(link.count)).sum(),
            capture: Some(capture),
            number: self.number,
            entry,
            ip,
            again,
            plan: None,
            unsure: content.unsure.map(Box::new),
            looks: Vec::new(),
            traps,
        })
    }
}

/// How often a page is tried again. A host that asks us to slow down means "later", not "no": the
/// pauses of its host are what keeps the tries apart, and in the end it is given up.
pub(crate) fn tries(outcome: &FetchOutcome, retries: u8) -> u8 {
    match Manner::of(outcome) {
        Manner::Busy if retries > 0 => retries.max(BUSY_TRIES),
        _ => retries,
    }
}
