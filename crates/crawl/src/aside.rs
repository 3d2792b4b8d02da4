//! What a worker of a fleet asks of the others beside its work: turns at addresses, and news.
//!
//! * What this is: a thread that asks the store for turns at addresses ([`argiope_store::Turn`]), many in one
//!   statement, and for pages of jobs with a limit, and looks around twice a second: which of our addresses others want, and whether the names
//!   that are excluded have changed.
//! * Its place: between the director, which never waits, and the store. It is wished for things through
//!   [`Aside`] and answers through the director's one channel.
//! * Invariants: an address is shared in the store only after the director has said that it takes turns there.
//!   A turn begins no earlier than the store says, counted from when the answer was there, and lasts a
//!   grace; the store was asked to keep it for that much longer, and for as long as its answer may take.
//! * What is not here: who waits for which address (`frontier`), what a turn is worth (`store`).

use crate::fleet::{Order, PartsNews};
use crate::group::Event;
use crate::settings::gap;
use argiope_frontier::Turn;
use argiope_model::{JobId, Time};
use argiope_store::{PostgresStore, Share, Store, StoreError, Turn as Given};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::mpsc;

/// How often it is looked around.
const LOOK: Duration = Duration::from_millis(500);
/// After this long an address is asked for again that another has not shared yet.
const AGAIN: Duration = Duration::from_millis(200);
/// Turns asked for in one statement, at most.
const AT_ONCE: usize = 1_000;
/// How long the store's answer may take for a turn to be worth anything, at first and at most.
const SLACK: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// Addresses that nobody has asked for so long are forgotten, looked for as often as the second says.
const UNUSED: (Duration, Duration) = (Duration::from_secs(86_400), Duration::from_secs(3_600));

/// What the thread is asked for.
pub(crate) enum Wish {
    /// A turn at an address.
    Turn(IpAddr),
    /// To tell that these are asked in turns from now on.
    Share(Vec<IpAddr>),
    /// So many pages of a job with this limit.
    Quota(JobId, u64, u64),
    /// Bytes of a job with this limit, beside those that are kept.
    Bytes(JobId, u64, u64, u64),
    /// To give back what is left of a job.
    NoQuota(JobId),
}

/// Where wishes go.
#[derive(Clone)]
pub(crate) struct Aside(Sender<Wish>);

impl Aside {
    /// Wishes for something; the answer comes as an event.
    pub fn wish(&self, wish: Wish) {
        let _ = self.0.send(wish);
    }
}

struct Asking {
    store: Arc<PostgresStore>,
    events: mpsc::Sender<Event>,
    gap: Duration,
    slack: Duration,
    /// How often the names that are excluded had changed when they were last read.
    exclusions: Option<u64>,
    /// The same of the orders of jobs.
    orders: Option<u64>,
    /// How often the fleet had changed when that was last looked at, and who is told.
    moves: Option<u64>,
    keeper: Sender<Order>,
    /// The gap that somebody has set, and the delay that all keep, as it was last heard.
    set: Option<Duration>,
    delay: Duration,
    cleared: Instant,
    /// What is to be given back and could not be.
    owed: BTreeSet<JobId>,
}

/// Starts the thread; it ends when nobody can wish for anything any more.
pub(crate) fn start(
    store: Arc<PostgresStore>,
    (set, delay): (Option<Duration>, Duration),
    events: mpsc::Sender<Event>,
    keeper: Sender<Order>,
) -> std::io::Result<(Aside, JoinHandle<()>)> {
    let (wishes, wished) = channel();
    let (slack, exclusions, orders, cleared) = (SLACK.0, None, None, Instant::now());
    let owed = BTreeSet::new();
    let (moves, gap) = (None, gap(set, delay));
    let asking = Asking {
        store,
        events,
        gap,
        slack,
        exclusions,
        orders,
        moves,
        keeper,
        set,
        delay,
        cleared,
        owed,
    };
    let thread = std::thread::Builder::new().name("aside".to_owned());
    Ok((Aside(wishes), thread.spawn(move || asking.run(&wished))?))
}

/// The time now; a turn that is counted from it is never early.
fn now() -> Time {
    Time::from_system(SystemTime::now() + Duration::from_nanos(999_999))
}

impl Asking {
    fn run(mut self, wished: &Receiver<Wish>) {
        let mut due = Instant::now();
        loop {
            let (mut turns, mut shared) = (BTreeSet::new(), BTreeSet::new());
            let (mut quotas, mut bytes) = (Vec::new(), Vec::new());
            let mut sort = |wish| match wish {
                Wish::Quota(job, limit, want) => quotas.push((job, Some((limit, want)))),
                Wish::Bytes(job, limit, keep, need) => bytes.push((job, limit, keep, need)),
                Wish::NoQuota(job) => quotas.push((job, None)),
                Wish::Turn(ip) => drop(turns.insert(ip)),
                Wish::Share(ips) => shared.extend(ips),
            };
            match wished.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(wish) => sort(wish),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            wished.try_iter().take(AT_ONCE).for_each(sort);
            let mut done = self.share(&shared).and_then(|()| self.ask(&turns));
            let owed: Vec<_> = self.owed.iter().map(|job| (*job, None)).collect();
            for (job, wish) in owed.into_iter().chain(quotas) {
                done = done.and_then(|()| self.quota(job, wish));
                // Heard in any case: whoever got nothing asks again.
                self.say(PartsNews::Quota(job));
            }
            for (job, limit, keep, need) in bytes {
                let asked = done.and_then(|()| self.store.take_bytes(job, limit, keep, need));
                self.say(PartsNews::Bytes(job, *asked.as_ref().unwrap_or(&Share::Later)));
                done = asked.map(|_| ());
            }
            if done.is_ok() && Instant::now() >= due {
                due = Instant::now() + LOOK;
                done = self.look();
            }
            match done {
                Ok(()) => {}
                Err(e) if e.is_passing() => {
                    due = Instant::now() + LOOK;
                    // Who was not shared is still wanted, and is told of again.
                    self.later(&turns, LOOK);
                }
                Err(e) => {
                    let _ = self.events.blocking_send(Event::Failed(Arc::new(e)));
                    return;
                }
            }
        }
    }

    /// The director drains its channel as long as it lives; afterwards nobody listens.
    fn say(&self, news: PartsNews) {
        let _ = self.events.blocking_send(Event::Parts(news));
    }

    fn later(&self, ips: &BTreeSet<IpAddr>, after: Duration) {
        if !ips.is_empty() {
            let at = now().plus(after);
            self.say(PartsNews::Turns(ips.iter().map(|ip| (*ip, Turn::Later(at))).collect()));
        }
    }

    /// How long after its beginning a turn may be taken.
    fn grace(&self) -> Duration {
        (self.gap / 5).clamp(Duration::from_millis(25), Duration::from_millis(250))
    }

    fn ask(&mut self, ips: &BTreeSet<IpAddr>) -> Result<(), StoreError> {
        if ips.is_empty() {
            return Ok(());
        }
        let kept = self.gap + self.grace() + self.slack;
        let wanted: Vec<(IpAddr, Duration)> = ips.iter().map(|ip| (*ip, kept)).collect();
        let sent = Instant::now();
        let given = self.store.reserve(&wanted)?;
        let took = sent.elapsed();
        let (now, late) = (now(), took > self.slack);
        let turn = |given: &Given| match given {
            Given::Alone(wait) => Turn::Alone(now.plus(*wait)),
            // Somebody else may begin before we would have ended.
            Given::Slot(_) if late => Turn::Later(now),
            Given::Slot(wait) => {
                let from = now.plus(*wait);
                Turn::Slot(from, from.plus(self.grace()))
            }
            Given::Theirs => Turn::Later(now.plus(AGAIN)),
        };
        let turns = ips.iter().zip(&given).map(|(ip, given)| (*ip, turn(given))).collect();
        // What was too short grows at once; what was too long shrinks slowly.
        let wished = (took * 2).max(self.slack - self.slack / 16);
        self.slack = wished.clamp(SLACK.0, SLACK.1);
        self.say(PartsNews::Turns(turns));
        Ok(())
    }

    fn quota(&mut self, job: JobId, wish: Option<(u64, u64)>) -> Result<(), StoreError> {
        match wish {
            Some((limit, want)) => self.store.take_quota(job, limit, want).map(|_| ()),
            None => {
                self.owed.insert(job);
                self.store.return_quota(job)?;
                self.owed.remove(&job);
                Ok(())
            }
        }
    }

    fn share(&self, ips: &BTreeSet<IpAddr>) -> Result<(), StoreError> {
        if ips.is_empty() {
            return Ok(());
        }
        let kept = self.gap + self.grace();
        self.store.share(&ips.iter().map(|ip| (*ip, kept)).collect::<Vec<_>>())
    }

    fn look(&mut self) -> Result<(), StoreError> {
        let around = self.store.looks_around()?;
        if !around.wanted.is_empty() {
            self.say(PartsNews::Wanted(around.wanted));
        }
        if self.exclusions != Some(around.exclusions) {
            let (names, traps) = (self.store.exclusions()?, self.store.traps()?);
            self.say(PartsNews::Excluded(names, traps, self.store.delays()?));
            self.exclusions = Some(around.exclusions);
        }
        if self.orders != Some(around.orders) {
            let jobs = self.store.jobs()?.into_iter();
            self.say(PartsNews::Filters(jobs.map(|row| (row.job.id, row.job.filter)).collect()));
            self.orders = Some(around.orders);
        }
        if self.moves.replace(around.moves).is_some_and(|before| before != around.moves) {
            let _ = self.keeper.send(Order::Look);
        }
        if let Some(delay) = around.delay.filter(|delay| *delay != self.delay) {
            self.delay = delay;
            self.gap = gap(self.set, delay);
            self.say(PartsNews::Delay(delay));
        }
        if self.cleared.elapsed() > UNUSED.1 {
            self.cleared = Instant::now();
            self.store.clear_addresses(UNUSED.0)?;
        }
        Ok(())
    }
}
