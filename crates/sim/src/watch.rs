//! Watches every request and every commit, and says which rule does not hold.
//!
//! * What this is: the rules of [`Rule`] as an outsider sees them, from what was asked and
//!   answered and when. It knows nothing of the engine's state.
//! * Its place: [`crate::web`] tells of requests and answers, [`crate::store`] of commits,
//!   [`crate::drive`] of crashes and starts.
//! * States of what was heard: until it can be relied on to be committed, a crash may make the
//!   crawl forget it; afterwards it must not.
//! * What is not here: what is there at the end ([`crate::truth`]).

use crate::pages::Target;
use crate::scenario::{BEGAN, Rule, Scenario, Violation};
use crate::world::{AGENT, World};
use argiope_crawl::{Clock, Live};
use argiope_frontier::Robots;
use argiope_model::Time;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// A robots.txt is relied on this long (RFC 9309, 2.4).
const ROBOTS_KEPT: Duration = Duration::from_secs(24 * 3600);
/// Where it was known and cannot be had again, the known one is relied on this much longer.
const ROBOTS_AGAIN: Duration = Duration::from_secs(3600);
/// Redirects of a robots.txt that are followed.
const ROBOTS_HOPS: usize = 5;
/// After an answer that says "not now", or none, nothing is asked for at least this long.
pub(crate) const BACKOFF: Duration = Duration::from_secs(10);
/// Pages of a group; two groups may wait for their commit.
const GROUP: usize = 64;
/// So many commits in a row that no request follows are a loop.
const IDLE_COMMITS: u64 = 3_000;
/// So many violations are written down.
const WRITTEN: usize = 40;

/// What an answer says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// 0: nothing was answered.
    pub status: u16,
    pub retry_after: Option<Time>,
    /// The rules in it, if it is a robots.txt.
    pub rules: Option<String>,
}

impl Heard {
    /// Whether the host asks for rest, or needs it.
    fn is_bad(&self, robots: bool) -> bool {
        matches!(self.status, 0 | 429 | 503) || (robots && self.status >= 500)
    }
}

/// What is known of a page, as bits.
mod page {
    /// It is being asked for.
    pub(super) const OUT: u8 = 1;
    /// It was answered well in this run.
    pub(super) const ANSWERED: u8 = 2;
    /// Its answer was committed.
    pub(super) const KEPT: u8 = 4;
}

#[derive(Default)]
struct HostWatch {
    out: usize,
    /// When the last answers ended, at most as many as connections are allowed.
    ends: Vec<Time>,
    last_end: Option<Time>,
    /// Not to be asked before, and since when that is known.
    hold: Option<(Time, Time)>,
    /// A crash interrupted it, or found its claim open: not to be asked before.
    reopened: Option<Time>,
    robots: Option<Known>,
    /// When a robots.txt could last not be had.
    robots_failed: Option<Time>,
    claimed: bool,
    /// It was being asked when the last run ended.
    interrupted: bool,
    pages: Vec<u8>,
    /// It is excluded as soon as this was told.
    excluded: Option<(Receiver<()>, bool)>,
    /// The address last told, and until when it was said to hold.
    located: Option<(Option<IpAddr>, Time)>,
}

struct Known {
    robots: Robots,
    asked: Time,
    /// The delay it names, and since when that is known.
    delay: Option<(Duration, Time)>,
}

struct State {
    clock: Clock,
    live: Arc<Live>,
    hosts: Vec<HostWatch>,
    addresses: HashMap<IpAddr, Time>,
    out: usize,
    /// Pages answered well and not yet committed.
    unkept: usize,
    /// Hosts named for a claim in this run.
    named: usize,
    /// Commits since the last request or answer, and when the first of them was.
    idle_commits: u64,
    idle_since: Time,
    /// Requests until a crash.
    crash_in: Option<u64>,
    /// The run is to crash now.
    crashing: bool,
    /// The run is over: what is still out ended then.
    over: Option<Time>,
    violations: Vec<Violation>,
    counts: Counts,
    log: Vec<String>,
}

/// What was counted.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub requests: u64,
    pub robots: u64,
    pub pages: u64,
    pub commits: u64,
    pub digest: u64,
    pub violated: usize,
}

/// The watcher.
pub(crate) struct Watch {
    state: Mutex<State>,
    scenario: Scenario,
    /// Told when a request or a commit is the last one before a crash.
    crash: Notify,
}

impl Watch {
    pub(crate) fn new(scenario: &Scenario, world: &World) -> Self {
        let watch = |host: &crate::world::Host| HostWatch {
            pages: vec![0; host.pages as usize],
            ..HostWatch::default()
        };
        Watch {
            state: Mutex::new(State {
                clock: Clock::System,
                live: Arc::default(),
                hosts: world.hosts.iter().map(watch).collect(),
                addresses: HashMap::new(),
                out: 0,
                unkept: 0,
                named: 0,
                idle_commits: 0,
                idle_since: BEGAN,
                crash_in: None,
                crashing: false,
                over: None,
                violations: Vec::new(),
                counts: Counts::default(),
                log: Vec::new(),
            }),
            scenario: scenario.clone(),
            crash: Notify::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Time {
        self.state().clock.now()
    }

    pub(crate) fn violated(&self, rule: Rule, at: Time, text: String) {
        self.state().violated(self.scenario.seed, rule, at, text);
    }

    /// A run begins; these hosts were being asked when the last one ended.
    pub(crate) fn begins(&self, clock: Clock, live: Arc<Live>, claimed: &[usize]) {
        let mut state = self.state();
        let now = clock.now();
        (state.clock, state.live, state.over) = (clock, live, None);
        (state.unkept, state.named, state.crashing) = (0, 0, false);
        state.idle_commits = 0;
        state.addresses.clear();
        let mut forgotten = Vec::new();
        for (n, host) in state.hosts.iter_mut().enumerate() {
            host.claimed = false;
            host.excluded = None;
            host.located = None;
            host.pages.iter_mut().for_each(|bits| *bits &= page::KEPT);
            if std::mem::take(&mut host.interrupted) && !claimed.contains(&n) {
                forgotten.push(n);
            }
        }
        for n in forgotten {
            let text = format!("host {n} was being asked at the crash and is not claimed");
            state.violated(self.scenario.seed, Rule::Claimed, now, text);
        }
        for host in claimed {
            let host = &mut state.hosts[*host];
            host.claimed = true;
            let named = host.robots.as_ref().and_then(|r| r.delay).map(|(delay, _)| delay);
            let wait = self.scenario.delay.max(named.unwrap_or_default());
            host.reopened = Some(now.plus(wait));
        }
    }

    /// The run is over, by a crash or by itself.
    pub(crate) fn ends(&self, now: Time, crashed: bool) {
        let mut state = self.state();
        (state.over, state.crash_in) = (Some(now), None);
        state.hosts.iter_mut().for_each(|host| host.interrupted = host.out > 0);
        if !crashed {
            return;
        }
        // What was heard just now need not have been committed.
        let margin = self.scenario.commit_margin();
        let lost = |told: Time| told.plus(margin) > now;
        for host in &mut state.hosts {
            host.hold = host.hold.filter(|(_, told)| !lost(*told));
            if let Some(known) = &mut host.robots {
                known.delay = known.delay.filter(|(_, told)| !lost(*told));
            }
        }
    }

    /// The run crashes with so many requests more.
    pub(crate) fn crash_in(&self, requests: u64) {
        self.state().crash_in = Some(requests);
    }

    /// The run crashes now.
    pub(crate) fn crash(&self) {
        self.state().crashing = true;
        self.crash.notify_one();
    }

    /// A host is excluded from the moment that this is told.
    pub(crate) fn excludes(&self, host: usize, told: Receiver<()>) {
        self.state().hosts[host].excluded = Some((told, false));
    }

    /// A host may be asked again.
    pub(crate) fn forgives(&self, host: usize) {
        self.state().hosts[host].excluded = None;
    }

    /// Waits until the run is to crash.
    pub(crate) async fn crashes(&self) {
        while !self.state().crashing {
            self.crash.notified().await;
        }
    }

    /// A request begins.
    pub(crate) fn asks(&self, host: usize, target: Target, ip: Option<IpAddr>, url: &str) {
        let mut state = self.state();
        let now = state.clock.now();
        let state = &mut *state;
        state.note(host, now, url, self.scenario.log);
        state.idle_commits = 0;
        if let Target::Robots | Target::RobotsOf(..) = target {
            state.counts.robots += 1;
        }
        if let Some((told, holds)) = &mut state.hosts[host].excluded {
            *holds |= told.try_recv().is_ok();
            if *holds {
                let text = format!("{url}: its host is excluded");
                state.violated(self.scenario.seed, Rule::Excluded, now, text);
            }
        }
        for (rule, text) in self.wrong(state, host, target, ip, now) {
            state.violated(self.scenario.seed, rule, now, format!("{url}: {text}"));
        }
        let watch = &mut state.hosts[host];
        watch.out += 1;
        if let Target::Page(n) = target {
            watch.pages[n as usize] |= page::OUT;
        }
        state.out += 1;
        if let Some(ip) = ip {
            state.addresses.insert(ip, now);
        }
        if let Some(left) = &mut state.crash_in {
            *left = left.saturating_sub(1);
            if *left == 0 {
                state.crashing = true;
                self.crash.notify_one();
            }
        }
    }

    /// What is wrong with a request that begins now.
    fn wrong(
        &self,
        state: &State,
        key: usize,
        target: Target,
        ip: Option<IpAddr>,
        now: Time,
    ) -> Vec<(Rule, String)> {
        let mut wrong = Vec::new();
        let host = &state.hosts[key];
        let Scenario { delay, per_host, connections, .. } = self.scenario;
        let named = host.robots.as_ref().and_then(|r| r.delay).map(|(d, _)| d).unwrap_or_default();
        if !host.claimed {
            wrong.push((Rule::Claimed, "its host is not claimed".to_owned()));
        }
        if host.out >= per_host || (!named.is_zero() && host.out > 0) {
            wrong.push((Rule::AtOnce, format!("{} requests to its host are out", host.out)));
        }
        let since = host.last_end.map(|end| now.since(end));
        let resting = host.ends.iter().filter(|end| end.plus(delay) > now).count();
        if host.out + resting >= per_host && resting > 0 {
            let text = format!("the last answer ended {since:?} ago, the delay is {delay:?}");
            wrong.push((Rule::Spacing, text));
        } else if since.is_some_and(|since| since < named) {
            let text = format!("the last answer ended {since:?} ago, Crawl-delay is {named:?}");
            wrong.push((Rule::Spacing, text));
        }
        if let Some((until, told)) = host.hold.filter(|(until, _)| *until > now) {
            let (left, ago) = (until.since(now), now.since(told));
            let text = format!("{ago:?} ago it was heard to wait {left:?} longer");
            wrong.push((Rule::Patience, text));
        }
        if let Some(until) = host.reopened.filter(|until| *until > now) {
            let text =
                format!("it was being asked at the crash, and waits {:?} more", until.since(now));
            wrong.push((Rule::Reopened, text));
        }
        if state.out >= connections {
            wrong.push((Rule::Bounded, format!("{} requests are out already", state.out)));
        }
        if state.unkept > 2 * GROUP + connections {
            wrong.push((Rule::Bounded, format!("{} pages wait for a commit", state.unkept)));
        }
        if state.counts.requests.is_multiple_of(16) {
            let shown = state.live.snapshot();
            let most = (self.scenario.memory as usize >> 16).max(2 * connections) + state.named;
            if shown.hosts > most || shown.requests > connections {
                let text = format!("{} hosts are loaded, {} at most", shown.hosts, most);
                wrong.push((Rule::Bounded, text));
            }
        }
        let gap = self.scenario.address_gap;
        let exempt = |ip: &IpAddr| matches!(ip, IpAddr::V4(v4) if v4.octets()[..2] == [198, 19]);
        let ip = ip.filter(|ip| !exempt(ip));
        if let Some(last) =
            ip.and_then(|ip| state.addresses.get(&ip)).filter(|t| now.since(**t) < gap)
        {
            let text = format!("its address was asked {:?} ago", now.since(*last));
            wrong.push((Rule::Address, text));
        }
        if let Target::Robots | Target::RobotsOf(..) = target {
            return wrong;
        }
        wrong.extend(host.forbids(target, now).map(|text| (Rule::Robots, text)));
        if let Target::Page(n) = target {
            let again = match host.pages[n as usize] {
                bits if bits & page::KEPT != 0 => "it was fetched and that was committed",
                bits if bits & page::OUT != 0 => "it is being asked for already",
                bits if bits & page::ANSWERED != 0 => "it was fetched in this run",
                _ => return wrong,
            };
            wrong.push((Rule::Once, again.to_owned()));
        }
        wrong
    }

    /// An answer ended, or was not waited for.
    pub(crate) fn answered(&self, host: usize, target: Target, asked: Time, heard: Option<Heard>) {
        let mut state = self.state();
        let now = state.over.unwrap_or_else(|| state.clock.now());
        let per_host = self.scenario.per_host;
        state.out -= 1;
        state.idle_commits = 0;
        let watch = &mut state.hosts[host];
        watch.out -= 1;
        watch.last_end = Some(now);
        watch.ends.push(now);
        if watch.ends.len() > per_host {
            watch.ends.remove(0);
        }
        let Some(heard) = heard else {
            if let Target::Page(n) = target {
                watch.pages[n as usize] &= !page::OUT;
            }
            return;
        };
        let robots = matches!(target, Target::Robots | Target::RobotsOf(..));
        let rest = heard.is_bad(robots).then(|| now.plus(BACKOFF));
        if let Some(until) = rest.max(heard.retry_after) {
            let until = watch.hold.map_or(until, |(old, _)| old.max(until));
            watch.hold = Some((until, now));
        }
        match target {
            Target::Page(n) => {
                watch.pages[n as usize] &= !page::OUT;
                if heard.status == 200 {
                    watch.pages[n as usize] |= page::ANSWERED;
                    state.unkept += 1;
                }
            }
            Target::Robots => state.hosts[host].learns(0, asked, now, heard),
            Target::RobotsOf(of, hop) => state.hosts[of].learns(hop, asked, now, heard),
            Target::Sitemap | Target::Gone | Target::Never => {}
        }
    }

    /// Where a host is was asked: tells what to answer, and remembers it.
    pub(crate) fn located(&self, host: usize, ip: Option<IpAddr>, until: Time) {
        let mut state = self.state();
        let until = until.max(state.clock.now().plus(Duration::from_secs(1)));
        state.hosts[host].located = Some((ip, until));
    }

    /// Where a request for a host goes, if that was told before and still holds.
    pub(crate) fn goes_to(&self, host: usize) -> Option<Option<IpAddr>> {
        let state = self.state();
        let now = state.clock.now();
        state.hosts[host].located.filter(|(_, until)| now < *until).map(|(ip, _)| ip)
    }

    /// A commit is durable: these pages are kept, these hosts are given back, these claimed.
    pub(crate) fn committed(
        &self,
        kept: &[(usize, u32)],
        released: &[usize],
        claimed: &[usize],
        named: usize,
    ) {
        let mut state = self.state();
        state.counts.commits += 1;
        state.named += named;
        state.idle_commits += 1;
        let now = state.clock.now();
        if state.idle_commits == 1 {
            state.idle_since = now;
        }
        if state.idle_commits == IDLE_COMMITS {
            let time = now.since(state.idle_since);
            let text = format!("{IDLE_COMMITS} commits within {time:?} and not one request");
            state.violated(self.scenario.seed, Rule::Bounded, now, text);
            state.crashing = true;
            self.crash.notify_one();
        }
        for (host, n) in kept {
            let bits = &mut state.hosts[*host].pages[*n as usize];
            let answered = *bits & page::ANSWERED != 0;
            *bits = (*bits | page::KEPT) & !page::ANSWERED;
            state.counts.pages += 1;
            state.unkept -= usize::from(answered);
        }
        released.iter().for_each(|host| state.hosts[*host].claimed = false);
        claimed.iter().for_each(|host| state.hosts[*host].claimed = true);
    }

    /// The pages that were acknowledged.
    pub(crate) fn kept(&self) -> Vec<(usize, u32)> {
        let state = self.state();
        let hosts = state.hosts.iter().enumerate();
        let pages = hosts.flat_map(|(host, watch)| {
            let kept = watch.pages.iter().enumerate().filter(|(_, bits)| **bits & page::KEPT != 0);
            kept.map(move |(n, _)| (host, n as u32))
        });
        pages.collect()
    }

    /// Hosts that were asked at all.
    pub(crate) fn hosts_asked(&self) -> usize {
        self.state().hosts.iter().filter(|host| host.last_end.is_some()).count()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.state().counts
    }

    pub(crate) fn take(&self) -> (Vec<Violation>, Vec<String>) {
        let mut state = self.state();
        (std::mem::take(&mut state.violations), std::mem::take(&mut state.log))
    }
}

impl HostWatch {
    /// A robots.txt of this host was answered, so many redirects on.
    fn learns(&mut self, hop: usize, asked: Time, now: Time, heard: Heard) {
        let robots = match heard.status {
            200..300 => Robots::parse(heard.rules.unwrap_or_default().as_bytes(), AGENT),
            // The next answer will tell.
            300..400 if hop < ROBOTS_HOPS => return,
            300..500 if heard.status != 429 => Robots::allow_all(),
            _ => {
                self.robots_failed = Some(now);
                return;
            }
        };
        let delay = robots.crawl_delay().map(|delay| (delay, now));
        self.robots = Some(Known { robots, asked, delay });
        self.robots_failed = None;
    }

    /// Why a request that is not for a robots.txt must not be made now.
    fn forbids(&self, target: Target, now: Time) -> Option<String> {
        let Some(known) = &self.robots else {
            return Some("no robots.txt of its host was answered".to_owned());
        };
        let again = self.robots_failed.filter(|failed| now < failed.plus(ROBOTS_AGAIN));
        // A host that may be asked but once in that time has it relied on for one page more.
        let pause = known.robots.crawl_delay().unwrap_or_default();
        let until = known.asked.plus(ROBOTS_KEPT.max(2 * pause));
        if now >= until && again.is_none() {
            let age = now.since(known.asked);
            return Some(format!("the robots.txt of its host is {age:?} old"));
        }
        let path = match target {
            Target::Page(n) => crate::pages::path_of(n),
            Target::Sitemap => "/sitemap.xml".to_owned(),
            Target::Gone => "/gone/0".to_owned(),
            Target::Never => return Some("every link to it says nofollow".to_owned()),
            Target::Robots | Target::RobotsOf(..) => return None,
        };
        let verdict = known.robots.verdict(&path);
        (!verdict.allowed).then(|| format!("robots.txt forbids it: {:?}", verdict.rule))
    }
}

impl State {
    fn note(&mut self, host: usize, now: Time, url: &str, log: bool) {
        self.counts.requests += 1;
        let mut mix = |value: u64| {
            let mixed = (self.counts.digest ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            self.counts.digest = mixed ^ (mixed >> 29);
        };
        mix(now.0 as u64);
        mix(host as u64);
        url.bytes().for_each(|b| mix(b.into()));
        if log {
            self.log.push(format!("{:>12.3} {url}", now.since(BEGAN).as_secs_f64()));
        }
    }

    fn violated(&mut self, seed: u64, rule: Rule, at: Time, text: String) {
        self.counts.violated += 1;
        if self.violations.len() < WRITTEN {
            let seconds = at.since(BEGAN).as_secs_f64();
            let text = format!("seed {seed}, {seconds:.3} s: {text}");
            self.violations.push(Violation { rule, text });
        }
    }
}
