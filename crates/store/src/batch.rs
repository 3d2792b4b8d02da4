//! What goes into a commit and what comes out of it.

use crate::row::{JobCounters, JobProgress, SegmentKind, UrlState};
use argiope_frontier::revisit::PageState;
use argiope_frontier::{
    Entry, Errand, HostNote, HostWindow, Named, Place, Refill, Release, RobotsFile, Score,
    SkipReason, Trap,
};
use argiope_model::{
    CanonicalUrl, Capture, HostKey, Job, JobId, JobState, PayloadDigest, Role, SiteKey, Time,
    UrlKey,
};
use std::time::Duration;

/// Everything a group of pages changes.
#[derive(Debug, Default)]
pub struct Batch {
    /// The time of the commit.
    pub now: Time,
    /// Results of URLs that were handed out.
    pub pages: Vec<PageResult>,
    /// Captures that were made elsewhere. Nothing was handed out for them and nothing is queued:
    /// of their entries only URL, key and job count.
    pub imports: Vec<PageResult>,
    /// URLs found.
    pub discoveries: Vec<Discovery>,
    /// URLs to be visited again: those that were asked for and wait in no queue are queued for the job
    /// that has them. Pages stay what they are until there is a result.
    pub again: Vec<(UrlKey, Place)>,
    /// Queued URLs that are worth more, or less, than was known: after discoveries of the same batch. A
    /// row that is out must not be among them. Those of loaded hosts are told as queued, at the places
    /// they have then.
    pub moves: Vec<Move>,
    /// What is remembered of visits and when the next should be, where no visit tells it.
    pub plans: Vec<(UrlKey, PageState)>,
    /// Segment lengths that are on disk and synced.
    pub segments: Vec<(SegmentKind, u32, u64)>,
    /// New jobs and changed ones.
    pub jobs: Vec<JobChange>,
    /// The running number for the next page read; 0 leaves it.
    pub next_page: u64,
    /// Robots files, as they were answered.
    pub robots: Vec<(HostKey, RobotsFile)>,
    /// What must be known of claimed hosts should the run end here. On a host that is not
    /// claimed a note says nothing: who gave it back has said more.
    pub notes: Vec<HostNote>,
    /// Hosts to be given back.
    pub releases: Vec<Release>,
    /// Hosts whose bad behaviour is forgotten; before when they must not be asked is not.
    pub forgive: Vec<HostKey>,
    /// Hosts that are excluded from now on: what waits on the calendar for them is ready at once, to
    /// be refused.
    pub exclude: Vec<HostKey>,
    /// Names that are excluded from now on, or no longer; the last word on each counts.
    pub exclusions: Vec<(Box<str>, bool)>,
    /// Patterns that are traps, or no longer; the last word on each counts.
    pub traps: Vec<(Box<str>, Option<Trap>)>,
    /// Delays in milliseconds that names have from now on, or no longer; the last word on each counts.
    pub delays: Vec<(Box<str>, Option<u64>)>,
    /// What is forgotten: after results, imports and discoveries of the same batch.
    pub forget: Forget,
    /// Robots files that lie with hosts of other owners: these are asked for them.
    pub errands: Vec<Errand>,
    /// What came of such errands, for the owners of the hosts whose files they are.
    pub robots_told: Vec<RobotsTold>,
    /// Rows to be read after the commit.
    pub refills: Vec<Refill>,
    /// Hosts to be claimed, by name and from the schedule.
    pub claims: Claims,
}

/// A robots.txt that was read for another owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RobotsTold {
    /// The host whose robots.txt it is.
    pub of: HostKey,
    /// Where it lies.
    pub url: CanonicalUrl,
    /// The job that wanted to know.
    pub job: JobId,
    /// What came of it.
    pub file: RobotsFile,
}

/// A wish for hosts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// These, whatever the schedule says, known or not, unless they are claimed already.
    pub named: Vec<Named>,
    /// Beside them, of those that are due, at most so many.
    pub hosts: usize,
    /// Rows to read of each.
    pub window: usize,
}

/// URLs and captures of which nothing is to be kept, and what goes with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// Their captures and forward links go, their rows leave the queue and say that they are
    /// forgotten. They keep their numbers, and the change log tells those who follow it.
    pub urls: Vec<UrlKey>,
    /// Single captures that go, by their times; one that is not there is gone already. Their URLs
    /// keep everything else, what was counted for them too, and the change log tells of them as of a
    /// visit that found nothing new.
    pub captures: Vec<(UrlKey, Time)>,
    /// Hosts of which nothing is left: their robots files go.
    pub hosts: Vec<HostKey>,
    /// Payloads that are stored no more.
    pub payloads: Vec<Payload>,
    /// Captures of other URLs whose records lie elsewhere now.
    pub moved: Vec<Moved>,
}

/// A capture that was given a new record; its URL and its time are what they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its URL.
    pub key: UrlKey,
    /// The capture as it is now.
    pub capture: Capture,
    /// The payload, where that record is the one others refer to from now on.
    pub payload: Option<Payload>,
}

/// What becomes of a URL after a visit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Its row leaves the queue.
    Done(UrlState),
    /// It is put on the calendar.
    Retry(Time),
    /// Nothing was requested: it is queued at another place.
    Later(Place),
    /// Its stored links were looked at again; nothing was requested.
    Expanded,
}

/// A payload stored for the first time within its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// The site.
    pub site: SiteKey,
    /// The digest of what is stored.
    pub digest: PayloadDigest,
}

/// The result of one URL that was handed out.
#[derive(Debug)]
pub struct PageResult {
    /// The URL, as it was handed out.
    pub entry: Entry,
    /// What becomes of it.
    pub next: Next,
    /// The answer; `None` when nothing was requested.
    pub capture: Option<Capture>,
    /// The payload, when its record is the first of its kind.
    pub payload: Option<Payload>,
    /// The page's forward links when they are to be written.
    pub links: Option<Vec<u8>>,
    /// Whether the text differs from the last visit's.
    pub changed: bool,
    /// Words and links on the page.
    pub words: u64,
    /// Links on the page.
    pub link_count: u64,
    /// What is remembered of its visits from now on; `None` leaves it.
    pub plan: Option<PageState>,
}

/// A URL found on a page or given as a start.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The URL.
    pub url: CanonicalUrl,
    /// Its key.
    pub key: UrlKey,
    /// The job whose rules admitted it.
    pub job: JobId,
    /// Links from a start URL.
    pub depth: u16,
    /// Its place, should it be queued.
    pub place: Place,
    /// Not to be fetched, for this reason.
    pub skip: Option<SkipReason>,
    /// What it is asked for. A known URL keeps its role unless this discovery has it requested
    /// anew.
    pub role: Role,
    /// Redirects that led here, one after the other.
    pub hops: u8,
    /// Ask again, even if the job has given it up or left it alone on its host's account.
    pub again: bool,
}

/// A queued URL of a job that goes best-first gets another score. Whatever waits on the calendar, is held
/// back, was visited before, or belongs to another job stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The URL.
    pub key: UrlKey,
    /// The job that has it queued.
    pub job: JobId,
    /// What it is worth.
    pub score: Score,
    /// Whether it may go down, too.
    pub may_fall: bool,
}

/// A change to a job.
#[derive(Clone, Debug)]
pub enum JobChange {
    /// A new job.
    New(Box<Job>),
    /// A job goes on under changed limits.
    Renew(Box<Job>),
    /// A new state.
    State(JobId, JobState),
    /// Time spent.
    Ran(JobId, Duration),
}

/// What a commit answers.
#[derive(Debug, Default)]
pub struct Committed {
    /// Rows added to the ready queues of claimed hosts.
    pub queued: Vec<Entry>,
    /// Rows read as asked.
    pub refills: Vec<HostWindow>,
    /// Hosts claimed as asked.
    pub claimed: Vec<HostWindow>,
    /// How many pages were queued to be visited again; what was never had is queued and not counted.
    pub again: u64,
    /// Jobs that came further, and how far.
    pub jobs: Vec<JobProgress>,
    /// When the next scheduled host or calendar row is due.
    pub next_due: Option<Time>,
    /// Robots files that other owners want to know of.
    pub errands: Vec<Errand>,
    /// Robots files that other owners have read for hosts of ours.
    pub robots_told: Vec<RobotsTold>,
}

impl Committed {
    /// The counters of a job, if it changed.
    pub fn counters(&self, job: JobId) -> Option<&JobCounters> {
        self.jobs.iter().find(|row| row.id == job).map(|row| &row.counters)
    }
}
