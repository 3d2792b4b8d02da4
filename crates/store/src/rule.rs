//! What discoveries and results mean for a URL that several jobs may want: shared by all
//! stores, so that they cannot disagree on it.
//!
//! A URL has one queue row, owned by the job that queued it. Another job that meets it
//! meanwhile waits: it leaves a wish, and when the owner's row is done its turn comes. Where
//! the owner is not being worked on, the other takes the row over and the owner waits.
//!
//! A URL that ended badly, or was left alone, is counted so by the last of its jobs: should
//! that job ask again, it is the one to take it back.
//!
//! A job for news comes back to what it finds: it takes back what another job has taken since, and what it
//! says of depth holds for its own rows.

use crate::batch::{Discovery, Move, Next, PageResult};
use crate::row::{JobCounters, UrlHead, UrlState, Wish};
use argiope_frontier::{Entry, Place, SkipReason};
use argiope_model::{DocId, JobId, JobState, Role, Time};

/// What becomes of a known URL that was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// Nothing changes.
    Nothing,
    /// Only its row: depth.
    Row,
    /// It is requested; as what this job had counted it, it no longer counts.
    Queue(Option<UrlState>),
    /// Its stored links are looked at under the job's rules.
    Expand,
    /// The job waits for its turn.
    Wait,
    /// The queue row changes owner: the job that owned it is not being worked on.
    TakeOver {
        /// The job that owned it waits now; otherwise it is done with it.
        owner_waits: bool,
        /// The job that takes it has waited.
        waited: bool,
    },
}

/// The row of a URL that was never met before.
pub(crate) fn first_met(found: &Discovery, doc: DocId, now: Time) -> UrlHead {
    UrlHead {
        doc,
        state: found.skip.map_or(UrlState::Queued, UrlState::Skipped),
        depth: found.depth,
        jobs: vec![found.job],
        first_seen: now,
        fetched_at: None,
        visits: 0,
        changes: 0,
        changed_at: None,
        attempts: 0,
        place: found.skip.is_none().then_some(found.place),
        due: None,
        expand: false,
        wishes: Vec::new(),
        role: found.role,
        hops: found.hops,
        plan: None,
    }
}

/// Makes a row one to be visited again, at a place; `None` where it cannot be: nobody has asked for it
/// yet, or somebody waits for it. What it was counted as is said: it no longer is where that is changed.
///
/// A page that is there stays what it is until there is a result; one that was given up is queued like
/// any other.
pub(crate) fn visited_again(row: &mut UrlHead, place: Place) -> Option<UrlState> {
    let known = matches!(row.state, UrlState::Fetched | UrlState::Redirected | UrlState::Failed);
    if !known || row.in_queue() || !row.wishes.is_empty() {
        return None;
    }
    let counted = row.state;
    if counted == UrlState::Failed {
        row.state = UrlState::Queued;
    }
    (row.place, row.attempts) = (Some(place), 0);
    Some(counted)
}

/// Gives a queued row the score it is worth now; says where it was, if that is elsewhere.
pub(crate) fn moved(row: &mut UrlHead, to: &Move) -> Option<Place> {
    let waits = row.state == UrlState::Queued && row.visits == 0 && row.due.is_none();
    if !waits || row.expand || row.job() != to.job {
        return None;
    }
    let place = row.place?;
    row.place = Some(place.moved(to.score, to.may_fall)?);
    Some(place)
}

/// Whether those who follow the change log have anything to learn from a visit.
pub(crate) fn is_news(before: UrlState, next: &Next, changed: bool, links: bool) -> bool {
    let as_before = before != UrlState::Queued && *next == Next::Done(before);
    changed || links || !as_before
}

/// Counts a result for its job. A page is counted as fetched once, however often it is visited;
/// later visits count where they found it unchanged.
pub(crate) fn count_result(
    counters: &mut JobCounters,
    before: UrlState,
    first: bool,
    page: &PageResult,
) {
    let is_page = page.entry.role == Role::Page;
    if is_page && first {
        counters.words += page.words;
        counters.links += page.link_count;
    }
    // It may be left alone, or given up, without being asked for.
    match page.next {
        Next::Done(UrlState::Skipped(reason)) => *counters.skipped_mut(reason) += 1,
        Next::Done(UrlState::Failed) => counters.failed += 1,
        _ => {}
    }
    let Some(capture) = &page.capture else { return };
    counters.bytes += capture.bytes;
    match page.next {
        Next::Done(UrlState::Fetched) if !is_page && first => counters.sitemaps += 1,
        Next::Done(UrlState::Fetched) if !is_page => {}
        Next::Done(UrlState::Fetched) if first => counters.fetched += 1,
        Next::Done(UrlState::Fetched) if !page.changed => counters.unchanged += 1,
        Next::Done(UrlState::Redirected) if before != UrlState::Redirected => {
            counters.redirects += 1;
        }
        Next::Done(UrlState::Failed) | Next::Retry(_) => counters.errors += 1,
        _ => {}
    }
}

/// Decides, and writes depth, jobs and wishes into the row; where it is requested, what for.
pub(crate) fn found_again(
    row: &mut UrlHead,
    found: &Discovery,
    owner: JobState,
    depth_matters: bool,
    for_news: bool,
) -> Again {
    // What a site that is excluded now would be met for otherwise is met, and refused as its row
    // comes up: should it be forgiven, every job has what it wanted.
    if found.skip.is_some_and(|reason| reason != SkipReason::Excluded) {
        return Again::Nothing;
    }
    if row.in_queue() {
        return found_queued(row, found, owner);
    }
    let new_job = !row.jobs.contains(&found.job);
    let is_own = row.job() == found.job;
    let as_new = new_job || for_news && !is_own;
    let nearer = found.depth < row.depth;
    match row.state {
        UrlState::Queued | UrlState::Failed | UrlState::Skipped(_)
            if as_new || may_end_otherwise(row.state, found.again) =>
        {
            // Another job's count stays: that job did fail, or left it alone.
            let counted = is_own.then_some(row.state);
            own(row, found.job, found.depth);
            (row.role, row.hops) = (found.role, found.hops);
            Again::Queue(counted)
        }
        // Who gives it as a start URL of a new job wants it back; a link to it does not.
        UrlState::Forgotten if new_job && found.again => {
            own(row, found.job, found.depth);
            (row.role, row.hops) = (found.role, found.hops);
            Again::Queue(None)
        }
        UrlState::Forgotten => Again::Nothing,
        UrlState::Queued | UrlState::Failed | UrlState::Skipped(_) => Again::Nothing,
        UrlState::Fetched | UrlState::Redirected if as_new || (nearer && depth_matters) => {
            own(row, found.job, found.depth);
            Again::Expand
        }
        // Who gives it as a start URL has it from then on.
        UrlState::Fetched | UrlState::Redirected if found.again && !is_own => {
            own(row, found.job, found.depth);
            Again::Row
        }
        // What another job has, it has by its own way.
        UrlState::Fetched | UrlState::Redirected if nearer && is_own => {
            row.depth = found.depth;
            Again::Row
        }
        UrlState::Fetched | UrlState::Redirected => Again::Nothing,
    }
}

/// Whether a URL that ended so may end otherwise for the same job.
fn may_end_otherwise(state: UrlState, again: bool) -> bool {
    match state {
        // This is a shorter way.
        UrlState::Skipped(SkipReason::Depth) => true,
        // It was found elsewhere than at the end of a series.
        UrlState::Skipped(SkipReason::Trap) => true,
        UrlState::Failed
        | UrlState::Skipped(
            SkipReason::Robots
            | SkipReason::GivenUp
            | SkipReason::Excluded
            | SkipReason::Filter
            | SkipReason::SitePages,
        ) => again,
        _ => false,
    }
}

fn found_queued(row: &mut UrlHead, found: &Discovery, owner: JobState) -> Again {
    let Discovery { job, depth, place, .. } = *found;
    let nearer = |known: &mut u16| {
        let lower = depth < *known;
        *known = depth.min(*known);
        if lower { Again::Row } else { Again::Nothing }
    };
    if row.job() == job {
        return nearer(&mut row.depth);
    }
    let waits = row.wishes.iter().position(|wish| wish.job == job);
    if owner == JobState::Open {
        if let Some(at) = waits {
            return nearer(&mut row.wishes[at].depth);
        }
        row.wishes.push(Wish { job, depth, place });
        return Again::Wait;
    }
    row.wishes.retain(|wish| wish.job != job);
    // The row keeps its place; the one just found is free for the other.
    let owner_waits = matches!(owner, JobState::Paused | JobState::Limited);
    if owner_waits {
        row.wishes.push(Wish { job: row.job(), depth: row.depth, place });
    }
    own(row, job, depth);
    Again::TakeOver { owner_waits, waited: waits.is_some() }
}

fn own(row: &mut UrlHead, job: JobId, depth: u16) {
    row.jobs.retain(|j| *j != job);
    row.jobs.push(job);
    row.depth = depth;
}

/// Whether a result is that of a row which stands in the ready queue.
pub(crate) fn was_handed_out(row: &UrlHead, entry: &Entry) -> bool {
    row.place == Some(entry.place) && row.due.is_none()
}

/// For whom a queued URL is handed out, and how deep it lies for that job: for its owner, or
/// where that is not being worked on, for the first that waits and is.
pub(crate) fn handed_to(row: &UrlHead, is_open: impl Fn(JobId) -> bool) -> Option<(JobId, u16)> {
    let owner = (row.job(), row.depth);
    let all = std::iter::once(owner).chain(row.wishes.iter().map(|wish| (wish.job, wish.depth)));
    all.into_iter().find(|(job, _)| is_open(*job))
}

/// Decides who has a URL next, now that its state is that of a result; writes it into the row
/// and says which jobs are done with it. It stays queued where the row has a place.
pub(crate) fn after_result(
    row: &mut UrlHead,
    entry: &Entry,
    state_of: impl Fn(JobId) -> JobState,
    depth_matters: impl Fn(JobId) -> bool,
) -> Vec<JobId> {
    let followed = matches!(row.state, UrlState::Fetched | UrlState::Redirected);
    // Who asked has what it wished for; who was given up wishes for nothing.
    let asked = row.wishes.iter().find(|wish| wish.job == entry.job).copied();
    let over = |job: JobId| job == entry.job || state_of(job) == JobState::Dropped;
    let mut done: Vec<JobId> = row.wishes.iter().map(|w| w.job).filter(|job| over(*job)).collect();
    row.wishes.retain(|wish| !over(wish.job));
    let owner = row.job();
    (row.place, row.due, row.expand) = (None, None, false);
    // The links just followed were judged by rules that are not the owner's, or no longer: it
    // was taken over while it was out, or met on a shorter way where depth is limited.
    let outdated = if owner == entry.job {
        row.depth < entry.depth && depth_matters(owner)
    } else {
        state_of(owner) != JobState::Dropped
    };
    if followed && outdated {
        (row.place, row.expand) = (Some(entry.place), true);
        return done;
    }
    // It failed for another: the owner has yet to try, at the place the other waited for.
    if let Some(wish) = asked.filter(|_| outdated) {
        (row.place, row.state) = (Some(wish.place), UrlState::Queued);
        return done;
    }
    done.push(owner);
    // The result is that of a job that no longer owns the row: the row is as that job left it.
    if owner != entry.job {
        own(row, entry.job, entry.depth);
    }
    let open = row.wishes.iter().position(|wish| state_of(wish.job) == JobState::Open);
    if !row.wishes.is_empty() {
        let wish = row.wishes.remove(open.unwrap_or(0));
        own(row, wish.job, wish.depth);
        (row.place, row.expand) = (Some(wish.place), followed);
        if !followed {
            row.state = UrlState::Queued;
        }
    }
    done
}
