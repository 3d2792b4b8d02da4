//! Drives a simulation: runs, crashes, runs again, until the crawl is done.
//!
//! A run lives in a runtime of its own, with a paused clock: time passes when everybody waits.
//! A crash ends the runtime and with it every task, in the middle of whatever it was doing; the
//! data directory is then opened anew, as after the death of a process.

use crate::draw::{About, Draw};
use crate::pages::origin;
use crate::scenario::{BEGAN, Broken, Report, Rule, Scenario};
use crate::store::{CrashAt, WatchedStore};
use crate::truth::{Truth, check_end, check_kept};
use crate::watch::{BACKOFF, Watch};
use crate::web::{SimWeb, TIMEOUT};
use crate::world::{Place, World};
use anyhow::{Context, Result, bail};
use argiope_crawl::{
    Access, Clock, DataDir, Ended, EngineError, EngineSettings, Instruction, Live, MadeUp, NewJob,
    Picked, Return, Run, SiteChange, Summary, forgive_site, pick_job, run, verify,
};
use argiope_fetch::FetchSettings;
use argiope_frontier::Patience;
use argiope_model::{
    CanonicalUrl, HostKey, JobId, JobState, Limits, Order, QueryPolicy, ScopeRule, Suffixes, Time,
    Wanted,
};
use argiope_store::{EmbeddedStore, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// Tries of a page after the first, and until the second: all of them take longer than a brief
/// trouble.
const RETRIES: u8 = 5;
const RETRY_DELAY: Duration = Duration::from_secs(60);

/// In so many first runs hosts are excluded for a while.
const EXCLUDING: usize = 4;

/// How a run is to end.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// By itself.
    Itself,
    /// At a time.
    Time(Duration),
    /// With a request.
    Request(u64),
    /// With a commit.
    Commit(CrashAt),
    /// Asked to, at a time.
    Stop(Duration),
}

/// How it did.
enum Came {
    ByItself(Box<Result<Summary, EngineError>>),
    Crashed,
    TooLong,
}

/// What a run is started with.
struct Start {
    dir: Arc<DataDir>,
    store: Arc<WatchedStore>,
    picked: Option<Picked>,
    ending: Ending,
    orders: Vec<(Duration, Wish)>,
}

/// What is asked of a run.
enum Wish {
    /// Something that is not watched.
    Plain(Instruction),
    /// A host is excluded.
    Exclude(usize),
    /// It is asked again.
    Include(usize),
}

/// Simulates a scenario. An error is one of our own disk; what the crawl does wrong is in the
/// report.
pub fn simulate(scenario: &Scenario) -> Result<Report> {
    simulate_shown(scenario, |_| {})
}

/// The same, telling now and then how far it is.
pub fn simulate_shown(scenario: &Scenario, mut show: impl FnMut(&str)) -> Result<Report> {
    let begun = Instant::now();
    let world = Arc::new(World::new(scenario));
    let watch = Arc::new(Watch::new(scenario, &world));
    let suffixes = Suffixes::built_in();
    let mut simulation = Simulation {
        scenario,
        hosts: Arc::new(keys(&world, &suffixes)?),
        world,
        watch: watch.clone(),
        suffixes,
        now: BEGAN,
        crashes: 0,
    };
    let place = scratch(scenario)?;
    let data = place.path().join("data");
    let mut turn = 0;
    while simulation.turn(&data, turn, &mut show)? {
        turn += 1;
    }
    let truth = Truth::of(&simulation.world);
    simulation.check_end(&data, &truth)?;
    let counts = watch.counts();
    let (violations, log) = watch.take();
    Ok(Report {
        seed: scenario.seed,
        passed: simulation.now.since(BEGAN),
        spent: begun.elapsed(),
        requests: counts.requests,
        robots: counts.robots,
        pages: counts.pages,
        hosts: watch.hosts_asked(),
        expected: truth.must.len(),
        commits: counts.commits,
        crashes: simulation.crashes,
        digest: counts.digest,
        violations,
        violated: counts.violated,
        log,
    })
}

fn keys(world: &World, suffixes: &Suffixes) -> Result<HashMap<HostKey, usize>> {
    let key = |n: usize| Ok((CanonicalUrl::parse(&origin(n))?.host_key(suffixes), n));
    (0..world.hosts.len()).map(key).collect()
}

/// A directory that vanishes; in memory where there is such a place, since every commit syncs.
fn scratch(scenario: &Scenario) -> Result<tempfile::TempDir> {
    let memory = Path::new("/dev/shm");
    let place = match &scenario.place {
        Some(place) => tempfile::tempdir_in(place),
        None if memory.is_dir() => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
        None => tempfile::tempdir(),
    };
    place.context("no place for the data directory")
}

struct Simulation<'a> {
    scenario: &'a Scenario,
    world: Arc<World>,
    watch: Arc<Watch>,
    hosts: Arc<HashMap<HostKey, usize>>,
    suffixes: Suffixes,
    now: Time,
    crashes: usize,
}

impl Simulation<'_> {
    fn open(&self, data: &Path, crash_at: CrashAt) -> Result<(DataDir, WatchedStore)> {
        let dir = DataDir::open(data, Access::Own, self.now)?;
        let begun = Instant::now();
        // The store's own threads may need a moment to let go.
        let inner = loop {
            match EmbeddedStore::open(&dir.store(), 64 << 20) {
                Err(StoreError::Locked(_)) if begun.elapsed() < Duration::from_secs(20) => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                opened => break opened?,
            }
        };
        let store = WatchedStore {
            inner,
            watch: self.watch.clone(),
            hosts: self.hosts.clone(),
            crash_at,
            broken: self.scenario.broken,
            commits: 0.into(),
        };
        if self.scenario.broken == Broken::ForgottenClaims {
            store.forget_claims(self.now)?;
        }
        Ok((dir, store))
    }

    /// One run; whether there is to be another.
    fn turn(&mut self, data: &Path, turn: usize, show: &mut impl FnMut(&str)) -> Result<bool> {
        let mut draw = Draw::new(self.scenario.seed, About::Ending, turn as u64);
        let ending = match turn < self.scenario.crashes {
            true => self.ending(&mut draw),
            false => Ending::Itself,
        };
        let crash_at = if let Ending::Commit(at) = ending { at } else { CrashAt::None };
        let (dir, store) = self.open(data, crash_at)?;
        check_kept(&store, &self.watch, self.now)?;
        // Who was excluded when the last run ended is asked again.
        for (name, _) in store.exclusions()? {
            forgive_site(&dir, &store.inner, &name, self.now).map_err(anyhow::Error::msg)?;
        }
        let jobs = store.jobs()?;
        // Going on with what is open, or giving the same order again.
        let open = jobs.iter().any(|job| job.state == JobState::Open);
        let picked = match !open || self.scenario.limited || draw.percent(30) {
            true => Some(pick_job(self.order(turn)?, &jobs, &self.suffixes, self.now)),
            false => None,
        };
        if let Some(Picked::Finished(_)) = picked {
            return Ok(false);
        }
        let (dir, store) = (Arc::new(dir), Arc::new(store));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .context("no runtime")?;
        let orders = self.orders(&mut draw, turn);
        let start = Start { dir: dir.clone(), store: store.clone(), picked, ending, orders };
        let came = runtime.block_on(self.run(start, show));
        // With the runtime every task ends, wherever it was.
        drop(runtime);
        let excluded = !store.exclusions()?.is_empty();
        if Arc::into_inner(store).is_none() || Arc::into_inner(dir).is_none() {
            bail!("something of the run outlives it");
        }
        let again = match came? {
            Came::Crashed => {
                self.crashes += 1;
                // Sometimes it is started again at once, sometimes a day later.
                self.now = self.now.plus(Duration::from_millis(draw.spread(86_400_000)));
                true
            }
            Came::TooLong => {
                let text = "it does not end".to_owned();
                self.watch.violated(Rule::Ends, self.now, text);
                false
            }
            Came::ByItself(ended) => match *ended {
                Ok(summary) if summary.ended == Ended::Stopped => {
                    self.crashes += 1;
                    self.now = self.now.plus(Duration::from_millis(draw.spread(86_400_000)));
                    true
                }
                Ok(summary) => {
                    let limit = self.scenario.limit(turn);
                    let pages: u64 = summary.jobs.iter().map(|job| job.counters.fetched).sum();
                    if limit.is_some_and(|limit| pages > limit) {
                        let text = format!("{pages} pages were fetched, {limit:?} at most");
                        self.watch.violated(Rule::Bounded, self.now, text);
                    }
                    if summary.ended == Ended::Limit && limit.is_none() {
                        let text = "it ended at a limit, and there is none".to_owned();
                        self.watch.violated(Rule::Ends, self.now, text);
                    }
                    excluded || (summary.ended == Ended::Limit && limit.is_some())
                }
                Err(e) => {
                    let text = format!("it failed: {:#}", anyhow::Error::from(e));
                    self.watch.violated(Rule::Ends, self.now, text);
                    false
                }
            },
        };
        Ok(again)
    }

    async fn run(&mut self, start: Start, show: &mut impl FnMut(&str)) -> Result<Came> {
        let Start { dir, store, picked, ending, mut orders } = start;
        let began = tokio::time::Instant::now();
        let clock = Clock::Virtual { began: self.now, origin: began };
        let live = Arc::new(Live::default());
        let claims = store.claims()?;
        let claimed: Vec<usize> =
            claims.iter().filter_map(|key| self.hosts.get(key).copied()).collect();
        self.watch.begins(clock, live.clone(), &claimed);
        if let Ending::Request(n) = ending {
            self.watch.crash_in(n.max(1));
        }
        let (stop, stopped) = watch::channel(false);
        let (to_run, ordered) = mpsc::channel(16);
        let web = SimWeb { world: self.world.clone(), watch: self.watch.clone() };
        let crawl = run(Run {
            dir,
            store,
            settings: self.settings(),
            picked,
            live: live.clone(),
            stop: stopped,
            orders: ordered,
            fleet: None,
            keep: Return::Never,
            made_up: Some(MadeUp {
                web: Arc::new(web),
                clock,
                commit_time: self.scenario.commit_time,
            }),
        });
        tokio::pin!(crawl);
        let longest = Duration::from_secs_f64(86_400.0 * (30.0 + 10.0 * self.scenario.days));
        let at = match ending {
            Ending::Time(at) => at,
            _ => longest,
        };
        let (crash_time, too_long) = (tokio::time::sleep(at), tokio::time::sleep(longest));
        tokio::pin!(crash_time, too_long);
        let stop_time =
            tokio::time::sleep(if let Ending::Stop(at) = ending { at } else { longest });
        tokio::pin!(stop_time);
        let mut told = Instant::now();
        let came = loop {
            let hour = tokio::time::sleep(Duration::from_secs(3600));
            let next = orders.last().map_or(longest, |(at, _)| *at);
            let order = tokio::time::sleep_until(began + next);
            tokio::select! {
                biased;
                () = self.watch.crashes() => break Came::Crashed,
                () = &mut too_long => break Came::TooLong,
                () = &mut crash_time => break Came::Crashed,
                () = &mut stop_time, if !*stop.borrow() => {
                    let _ = stop.send(true);
                }
                () = order, if !orders.is_empty() => {
                    let _ = orders.pop().map(|(_, wish)| to_run.try_send(self.instruction(wish)));
                }
                ended = &mut crawl => break Came::ByItself(Box::new(ended)),
                () = hour => {
                    if told.elapsed() > Duration::from_secs(5) {
                        told = Instant::now();
                        show(&self.progress(clock.now(), &live));
                    }
                }
            }
        };
        self.now = clock.now();
        let well = matches!(&came, Came::ByItself(ended) if ended.is_ok());
        self.watch.ends(self.now, !well);
        Ok(came)
    }

    fn progress(&self, now: Time, live: &Live) -> String {
        let (counts, shown) = (self.watch.counts(), live.snapshot());
        format!(
            "day {:.2}: {} requests, {} pages, {} queued, {} hosts loaded, {} violations",
            now.since(BEGAN).as_secs_f64() / 86_400.0,
            counts.requests,
            counts.pages,
            shown.queued,
            shown.hosts,
            counts.violated,
        )
    }

    fn ending(&self, draw: &mut Draw) -> Ending {
        let all = (self.scenario.hosts * self.scenario.pages_per_host) as u64;
        // Most happens in the first minutes, and something for days.
        let time = Duration::from_millis(draw.spread((self.scenario.days * 86_400_000.0) as u64));
        match draw.below(6) {
            0 => Ending::Time(time),
            1 => Ending::Time(Duration::from_millis(draw.below(300_000))),
            2 => Ending::Request(draw.spread(all)),
            3 => Ending::Commit(CrashAt::Before(1 + draw.spread(all / 4))),
            4 => Ending::Commit(CrashAt::After(1 + draw.spread(all / 4))),
            _ => Ending::Stop(time),
        }
    }

    /// What is asked of a run while it goes on, the last first.
    fn orders(&self, draw: &mut Draw, turn: usize) -> Vec<(Duration, Wish)> {
        let all = (self.scenario.days * 86_400_000.0) as u64;
        let hosts: BTreeMap<usize, HostKey> = self.hosts.iter().map(|(k, n)| (*n, *k)).collect();
        let mut orders = Vec::new();
        for _ in 0..self.scenario.orders {
            let at = Duration::from_millis(draw.spread(all));
            if draw.percent(50) {
                let host = hosts[&(draw.below(hosts.len() as u64) as usize)];
                orders.push((at, Wish::Plain(Instruction::Forgive(host))));
                continue;
            }
            let later = at + Duration::from_millis(draw.spread(600_000));
            orders.push((at, Wish::Plain(Instruction::Job(JobId(1), JobState::Paused, None))));
            orders.push((later, Wish::Plain(Instruction::Job(JobId(1), JobState::Open, None))));
        }
        // Whose rules lie with an excluded host is not crawled: that is another story.
        let behind = self.world.hosts.iter().flat_map(|host| match &host.place {
            Place::Behind(over) => over.clone(),
            _ => Vec::new(),
        });
        let behind: BTreeSet<usize> = behind.collect();
        for _ in 0..if turn < EXCLUDING { self.scenario.exclusions } else { 0 } {
            let host = draw.below(hosts.len() as u64) as usize;
            let at = Duration::from_millis(draw.spread(all));
            let later = at + Duration::from_millis(draw.spread(all / 4));
            if !behind.contains(&host) {
                orders.push((at, Wish::Exclude(host)));
                orders.push((later, Wish::Include(host)));
            }
        }
        orders.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        orders
    }

    /// A wish as the run hears it; who watches hears it, too.
    fn instruction(&self, wish: Wish) -> Instruction {
        let change = |exclude, n: usize| SiteChange {
            exclude,
            names: vec![origin(n).into()],
            hosts: self.hosts.iter().filter(|(_, m)| **m == n).map(|(key, _)| *key).collect(),
            traps: Vec::new(),
            done: None,
        };
        match wish {
            Wish::Plain(instruction) => instruction,
            Wish::Exclude(n) => {
                let (done, told) = std::sync::mpsc::sync_channel(1);
                self.watch.excludes(n, told);
                let mut change = SiteChange { done: Some(done), ..change(true, n) };
                if self.scenario.broken == Broken::DeafToExclusions {
                    (change.names, change.hosts) = (vec!["none.test".into()], Vec::new());
                }
                Instruction::Sites(change)
            }
            Wish::Include(n) => {
                self.watch.forgives(n);
                Instruction::Sites(change(false, n))
            }
        }
    }

    fn order(&self, turn: usize) -> Result<NewJob> {
        let starts = self.world.hosts.iter().enumerate().filter(|(_, host)| host.start);
        let seeds = starts.map(|(n, _)| CanonicalUrl::parse(&origin(n)));
        let types = ["html".to_owned(), "text".to_owned()];
        Ok(NewJob {
            seeds: seeds.collect::<Result<_, _>>()?,
            rule: ScopeRule::Any,
            domains: Vec::new(),
            order: match self.scenario.seed % 4 {
                1 => Order::Best,
                3 => Order::Depth,
                _ => Order::Breadth,
            },
            limits: Limits { pages: self.scenario.limit(turn), ..Limits::default() },
            wanted: Wanted { types: types.into(), skip_extensions: Default::default() },
            query: QueryPolicy::Keep,
            filter: None,
            aim: None,
        })
    }

    fn settings(&self) -> EngineSettings {
        let scenario = self.scenario;
        let mut settings = EngineSettings {
            news: Default::default(),
            software: "argiope/sim".to_owned(),
            delay: scenario.delay,
            connections: scenario.connections,
            per_host: scenario.per_host,
            robots: true,
            sitemaps: true,
            traps: true,
            address_gap: Some(scenario.address_gap),
            address_exempt: vec!["198.19.0.0/16".parse().expect("a network")],
            patience: Patience { backoff: BACKOFF, ..Patience::default() },
            max_redirects: 10,
            retries: RETRIES,
            retry_delay: RETRY_DELAY,
            memory: scenario.memory,
            archive: scenario.archive,
            segment_bytes: 1 << 20,
            min_free_disk: 0,
            links: true,
            index: Default::default(),
            hold: Default::default(),
            budgets: true,
            revisit: Default::default(),
            fetch: FetchSettings { total_timeout: TIMEOUT, ..FetchSettings::default() },
        };
        match scenario.broken {
            Broken::ShorterDelay(by) => settings.delay = settings.delay.saturating_sub(by),
            Broken::MoreConnections => settings.per_host += 1,
            Broken::NoRobots => settings.robots = false,
            Broken::NoAddressGap => settings.address_gap = Some(Duration::ZERO),
            _ => {}
        }
        settings
    }

    fn check_end(&self, data: &Path, truth: &Truth) -> Result<()> {
        let (dir, store) = self.open(data, CrashAt::None)?;
        check_kept(&store, &self.watch, self.now)?;
        check_end(self.scenario, &self.world, truth, &store, &self.watch, self.now)?;
        if self.scenario.archive {
            for problem in verify(&dir, &store, &Default::default(), |_| {})?.problems {
                self.watch.violated(Rule::Archive, self.now, format!("{problem:?}"));
            }
        }
        Ok(())
    }
}
