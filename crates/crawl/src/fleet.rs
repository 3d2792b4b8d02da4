//! A worker of a fleet: joins, renews its lease, takes and gives partitions.
//!
//! * What this is: the side of a run that talks about partitions. A *term* begins with joining and
//!   ends when the worker leaves or has lost its lease; then a new one begins, from what the store
//!   holds ([`crate::run()`]). Whoever crawls alone has one term, for ever.
//! * Its place: a thread of its own, so that a renewal never waits for the crawl. The director hears of
//!   partitions through its one channel ([`PartsNews`]) and answers with those it has let go of.
//! * Invariants: the deadline counts from before the renewal was sent; a partition is given back only
//!   after the director has given back every host of it; the claims left open in a partition are read
//!   while nobody owns it.
//! * What is not here: what a lease is worth (`store`), stopping in time (`tenure`).

use crate::aside::{self, Aside, Wish};
use crate::group::Event;
use crate::run::EngineError;
use crate::tenure::{Speed, Tenure};
use crate::visit::VisitError;
use argiope_frontier::Trap;
use argiope_frontier::Turn;
use argiope_model::{HostKey, JobId, Time};
use argiope_store::{
    Held, PostgresStore, Rebalance, Share, StoreError, WorkerReport, fair_share, rebalance,
};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Numbers of pages set aside at a time.
const BLOCK: u64 = 100_000;
/// With fewer left, the next block is begun.
const FEW: u64 = 1_000;
/// How often it is tried again what did not work.
const AGAIN: Duration = Duration::from_millis(500);
/// How long whoever joins waits for its whole share, once it has some of it.
const WHOLE_SHARE: Duration = Duration::from_secs(3);

/// What a run needs to be one of many.
#[derive(Clone)]
pub struct Fleet {
    /// The store that all share.
    pub store: Arc<PostgresStore>,
    /// The worker's name.
    pub name: String,
    /// Where its metrics are, if anywhere.
    pub metrics: String,
    /// How long it counts as alive without a renewal.
    pub lease: Duration,
    /// Whether it goes on when nothing is left to do.
    pub stays: bool,
    /// The delay that it was told to keep; the whole fleet keeps it then. `None`: that of the others.
    pub delay: Option<Duration>,
}

/// What the director hears of partitions.
pub(crate) enum PartsNews {
    /// Some were taken; these hosts in them were claimed by somebody who did not give them back.
    Taken(Vec<HostKey>),
    /// These are to be given to somebody else.
    Leave(BTreeSet<u16>),
    /// They are gone.
    Left,
    /// All keep this delay from now on.
    Delay(Duration),
    /// Somebody has excluded or forgiven sites, or met series without end: these names are excluded now,
    /// these patterns are known, these delays are set by hand.
    Excluded(Vec<(Box<str>, Time)>, Vec<(Box<str>, Trap)>, Vec<(Box<str>, u64)>),
    /// Somebody has changed orders; these are the filters of all jobs.
    Filters(Vec<(JobId, Option<String>)>),
    /// How it stands with addresses that turns were asked for.
    Turns(Vec<(IpAddr, Turn)>),
    /// Others want to ask these addresses too.
    Wanted(Vec<IpAddr>),
    /// It was asked for more pages of a job, or its share was given back.
    Quota(JobId),
    /// It was asked for more bytes of a job; nothing came of it where the store could not be reached.
    Bytes(JobId, Share),
}

/// What the thread that keeps the lease is to do.
pub(crate) enum Order {
    /// Partitions of which nothing is left here are given back.
    LetGo(BTreeSet<u16>),
    /// The fleet has changed: who holds what is looked at now, not with the next renewal.
    Look,
}

/// The numbers of pages that are this worker's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub next: u64,
    pub end: u64,
}

impl Block {
    fn take(store: &PostgresStore) -> Result<Self, StoreError> {
        let next = store.take_pages(BLOCK)?;
        Ok(Block { next, end: next + BLOCK })
    }
}

/// What the director knows of the fleet it works in.
pub(crate) struct Membership {
    pub store: Arc<PostgresStore>,
    pub stays: bool,
    /// The job that this run was given; with it a run that does not stay ends.
    pub job: Option<JobId>,
    spare: Arc<Mutex<Option<Block>>>,
    orders: Sender<Order>,
    aside: Aside,
}

impl Membership {
    /// Partitions of which nothing is left here are given back.
    pub fn release(&self, parts: BTreeSet<u16>) {
        let _ = self.orders.send(Order::LetGo(parts));
    }

    /// Asks for a turn at an address.
    pub fn turn(&self, ip: IpAddr) {
        self.aside.wish(Wish::Turn(ip));
    }

    /// Tells that turns are taken at these addresses from now on.
    pub fn share(&self, ips: Vec<IpAddr>) {
        self.aside.wish(Wish::Share(ips));
    }

    /// Asks for so many pages of a job with this limit.
    pub fn ask_quota(&self, job: JobId, limit: u64, want: u64) {
        self.aside.wish(Wish::Quota(job, limit, want));
    }

    /// Asks for bytes of a job with this limit: so many beside those that are kept.
    pub fn ask_bytes(&self, job: JobId, limit: u64, keep: u64, need: u64) {
        self.aside.wish(Wish::Bytes(job, limit, keep, need));
    }

    /// Gives back what is left of a job.
    pub fn return_quota(&self, job: JobId) {
        self.aside.wish(Wish::NoQuota(job));
    }

    /// Makes sure that there are numbers; says whether there are.
    pub fn refill(&self, next: &mut u64, end: &mut u64) -> bool {
        if end.saturating_sub(*next) < FEW {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(block) = spare.take() else { return false };
            (*next, *end) = (block.next, block.end);
        }
        true
    }
}

/// A term that has begun.
pub(crate) struct Term {
    pub claims: Vec<HostKey>,
    pub block: Block,
    /// The delay that all keep, where somebody has said one.
    pub delay: Option<Duration>,
}

/// The threads that keep the lease and ask for turns; they end when the membership is dropped.
pub(crate) struct Keeping([JoinHandle<()>; 2]);

impl Keeping {
    pub fn end(self) {
        self.0.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Joins and waits until some partition is held. `None`: a stop was asked for first.
pub(crate) fn join(
    fleet: &Fleet,
    tenure: &Tenure,
    stop: &watch::Receiver<bool>,
) -> Result<Option<Term>, StoreError> {
    let mut told = false;
    while !*stop.borrow() {
        match try_join(fleet, tenure, stop) {
            Err(e) if e.is_passing() || matches!(e, StoreError::LeaseEnded) => {
                if !std::mem::replace(&mut told, true) {
                    tracing::warn!("{e}; waiting for it");
                }
                std::thread::sleep(AGAIN);
            }
            done => return done,
        }
    }
    Ok(None)
}

fn try_join(
    fleet: &Fleet,
    tenure: &Tenure,
    stop: &watch::Receiver<bool>,
) -> Result<Option<Term>, StoreError> {
    let store = &fleet.store;
    let block = Block::take(store)?;
    let delay = store.delay(fleet.delay)?;
    let mut sent = Instant::now();
    let mut held = store.join(&fleet.name, &fleet.metrics, fleet.lease, sent)?;
    let begun = Instant::now();
    let mut claims = Vec::new();
    loop {
        if let Some(part) = held.lost.first() {
            return Err(StoreError::LeaseLost { part: *part });
        }
        let share = fair_share(held.workers, held.rank);
        let take = share.saturating_sub(held.parts.len()).min(held.free.len());
        let taken = acquire(store, &held, take)?;
        let ours = held.parts.len() + taken.as_ref().map_or(0, |(taken, _)| *taken);
        claims.extend(taken.into_iter().flat_map(|(_, left_open)| left_open));
        // The others give back one after the other; for whoever begins with a part of its share, the
        // rest would arrive in the middle of its work.
        if ours >= share.max(1) || (ours > 0 && begun.elapsed() > WHOLE_SHARE) {
            tenure.renew(sent + fleet.lease);
            return Ok(Some(Term { claims, block, delay }));
        }
        if *stop.borrow() {
            let _ = store.leave();
            return Ok(None);
        }
        std::thread::sleep(AGAIN.min(fleet.lease / 6));
        sent = Instant::now();
        held = store.renew(&WorkerReport::default(), sent)?;
    }
}

/// Takes so many of the partitions that are free. `None`: none was got; else how many, and the claims
/// left in them.
fn acquire(
    store: &PostgresStore,
    held: &Held,
    take: usize,
) -> Result<Option<(usize, Vec<HostKey>)>, StoreError> {
    if take == 0 {
        return Ok(None);
    }
    // Everybody begins elsewhere, so that workers who join at once do not want the same.
    let begin = held.free.len() * held.rank / held.workers.max(1);
    let (before, after) = held.free.split_at(begin);
    let wanted: Vec<u16> = after.iter().chain(before).take(take).copied().collect();
    let claims = store.claims_in(&wanted)?;
    let taken = store.acquire(&wanted)?;
    let ours = |host: &HostKey| taken.binary_search(&host.part).is_ok();
    let claims = claims.into_iter().filter(ours).collect();
    Ok((!taken.is_empty()).then_some((taken.len(), claims)))
}

/// Starts the thread that keeps the lease.
pub(crate) fn keep(
    fleet: &Fleet,
    job: Option<JobId>,
    (set, delay): (Option<Duration>, Duration),
    tenure: Arc<Tenure>,
    events: mpsc::Sender<Event>,
) -> std::io::Result<(Membership, Keeping)> {
    let (orders, heard) = blocking::channel();
    let spare = Arc::new(Mutex::new(None));
    let (aside, asking) =
        aside::start(fleet.store.clone(), (set, delay), events.clone(), orders.clone())?;
    let keeper = Keeper {
        store: fleet.store.clone(),
        lease: fleet.lease,
        tenure,
        events,
        spare: spare.clone(),
        speed: Speed::new(),
        giving: false,
    };
    let thread = std::thread::Builder::new().name("lease".to_owned());
    let thread = thread.spawn(move || keeper.run(heard))?;
    let (store, stays) = (fleet.store.clone(), fleet.stays);
    Ok((Membership { store, stays, job, spare, orders, aside }, Keeping([thread, asking])))
}

struct Keeper {
    store: Arc<PostgresStore>,
    lease: Duration,
    tenure: Arc<Tenure>,
    events: mpsc::Sender<Event>,
    spare: Arc<Mutex<Option<Block>>>,
    speed: Speed,
    /// The director was asked to let go of partitions and has not said so.
    giving: bool,
}

impl Keeper {
    fn run(mut self, orders: Receiver<Order>) {
        let mut due = Instant::now();
        let mut silent = false;
        loop {
            let done = match orders.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Order::LetGo(parts)) => self.let_go(parts),
                Ok(Order::Look) | Err(RecvTimeoutError::Timeout) => {
                    due = Instant::now() + self.lease / 3;
                    self.renew()
                }
                Err(RecvTimeoutError::Disconnected) => return,
            };
            match done {
                Ok(()) => silent = false,
                Err(e) if e.is_passing() => {
                    if !std::mem::replace(&mut silent, true) {
                        tracing::warn!("the lease could not be renewed: {e}");
                    }
                    due = Instant::now() + AGAIN.min(self.lease / 3);
                }
                Err(e) => {
                    self.say(Event::Failed(Arc::new(e)));
                    return;
                }
            }
        }
    }

    /// The director drains its channel as long as it lives; afterwards nobody listens.
    fn say(&self, event: Event) {
        let _ = self.events.blocking_send(event);
    }

    fn let_go(&mut self, parts: BTreeSet<u16>) -> Result<(), StoreError> {
        let parts: Vec<u16> = parts.into_iter().collect();
        let released = self.store.release(&parts);
        // What could not be told to the database is still ours, by the next renewal.
        self.giving = false;
        self.say(Event::Parts(PartsNews::Left));
        released
    }

    fn renew(&mut self) -> Result<(), StoreError> {
        let (pages, _) = self.tenure.counted();
        let report = WorkerReport { pages, speed: self.speed.look(pages) };
        let sent = Instant::now();
        let held = self.store.renew(&report, sent)?;
        if let Some(part) = held.lost.first() {
            return Err(StoreError::LeaseLost { part: *part });
        }
        self.tenure.renew(held.deadline);
        let Rebalance { take, give } =
            rebalance(held.workers, held.rank, held.parts.len(), held.free.len());
        if let Some((_, claims)) = acquire(&self.store, &held, take)? {
            self.say(Event::Parts(PartsNews::Taken(claims)));
        }
        if give > 0 && !self.giving {
            // The last: which they are says nothing about how much there is to do in them.
            let parts = held.parts.iter().rev().take(give).copied().collect();
            self.giving = true;
            self.say(Event::Parts(PartsNews::Leave(parts)));
        }
        let lacks = self.spare.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        if lacks {
            let block = Block::take(&self.store)?;
            *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(block);
        }
        Ok(())
    }
}

/// Whether a failure is the end of a term and not of the run: a new one begins from the store.
pub(crate) fn ends_term(error: &EngineError) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = match error {
        EngineError::Failed(e) => Some(&**e),
        EngineError::Start(e) => Some(&**e),
        EngineError::Stuck(_) => None,
    };
    while let Some(e) = cause {
        let of_visit = match e.downcast_ref::<VisitError>() {
            Some(VisitError::Store(e)) => Some(e),
            _ => None,
        };
        if let Some(e) = e.downcast_ref::<StoreError>().or(of_visit) {
            let lost = matches!(e, StoreError::LeaseLost { .. } | StoreError::LeaseEnded);
            return lost || e.is_passing();
        }
        cause = e.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_lease_ends_a_term_however_deep_it_lies_and_a_full_disk_ends_the_run() {
        let lost = || StoreError::LeaseLost { part: 7 };
        let number = argiope_archive::ArchiveError::Number(Box::new(lost()));
        assert!(ends_term(&EngineError::Failed(Arc::new(lost()))));
        assert!(ends_term(&EngineError::Failed(Arc::new(number))));
        assert!(ends_term(&EngineError::Failed(Arc::new(VisitError::Store(lost())))));
        assert!(ends_term(&EngineError::Start(Box::new(StoreError::LeaseEnded))));
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(!ends_term(&EngineError::Failed(Arc::new(full))));
        assert!(!ends_term(&EngineError::Stuck(1)));
    }
}
