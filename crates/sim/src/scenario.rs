//! What is simulated, and what came of it.

use crate::draw::{About, Draw};
use argiope_model::Time;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The moment at which every simulated world begins.
pub const BEGAN: Time = Time(1_767_225_600_000);

/// A world and a crawl of it; the same scenario is the same down to the millisecond.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What everything is drawn from.
    pub seed: u64,
    /// Hosts of the world.
    pub hosts: usize,
    /// Pages of a host, about.
    pub pages_per_host: usize,
    /// Virtual days that the slowest hosts take, about.
    pub days: f64,
    /// Crashes and stops, each followed by a new start.
    pub crashes: usize,
    /// Orders given from outside during each run: the job is paused and opened again, hosts are
    /// forgiven.
    pub orders: usize,
    /// Hosts that are excluded for a while during each of the first runs.
    pub exclusions: usize,
    /// Whether the first runs have a limit on pages, each a higher one.
    pub limited: bool,
    /// From the end of an answer to the next request.
    pub delay: Duration,
    /// Requests to one host at once.
    pub per_host: usize,
    /// Requests at once.
    pub connections: usize,
    /// From the start of a request to an address to the start of the next.
    pub address_gap: Duration,
    /// How long a commit takes before, and again after, it is durable.
    pub commit_time: Duration,
    /// Whether responses are archived; the archive is then verified at the end.
    pub archive: bool,
    /// The memory given to the crawl: it bounds the hosts and rows that are loaded.
    pub memory: u64,
    /// Where the data directory is made; else in memory where there is such a place.
    pub place: Option<PathBuf>,
    /// What is wrong with the crawl, on purpose: the rules stay as they are.
    pub broken: Broken,
    /// Whether every request is written down in the report.
    pub log: bool,
}

/// A rule that the crawl breaks on purpose, so that it can be seen whether anybody notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// None.
    Nothing,
    /// It waits this much less than it should.
    ShorterDelay(Duration),
    /// It asks a host on one more connection than it should.
    MoreConnections,
    /// It does not look at robots.txt.
    NoRobots,
    /// It knows no gap between requests to one address.
    NoAddressGap,
    /// Its store forgets what hosts asked for.
    ForgottenNotes,
    /// Its store forgets which hosts were being asked.
    ForgottenClaims,
    /// Its store forgets pages it has acknowledged.
    ForgottenPages,
    /// It does not hear that hosts are excluded.
    DeafToExclusions,
}

impl Scenario {
    /// A small world with crashes, everything about it drawn from the seed.
    pub fn small(seed: u64) -> Self {
        let mut draw = Draw::new(seed, About::Scenario, 0);
        let connections = draw.pick(&[1, 2, 4, 8, 32, 64]);
        Scenario {
            seed,
            hosts: draw.between(20, 60) as usize,
            pages_per_host: draw.between(4, 14) as usize,
            days: draw.pick(&[0.2, 0.5, 1.5, 3.0]),
            crashes: draw.below(7) as usize,
            orders: draw.pick(&[0, 0, 0, 2, 5]),
            limited: draw.percent(15),
            delay: Duration::from_millis(draw.pick(&[10_000, 10_000, 1_000, 2_500, 60_000])),
            per_host: draw.pick(&[1, 1, 1, 3]),
            connections,
            address_gap: Duration::from_millis(draw.pick(&[0, 500, 500, 2_000])),
            commit_time: Duration::from_millis(draw.pick(&[1, 2, 20, 150])),
            archive: draw.percent(40),
            // The smallest lets no more than 16 hosts be loaded, or twice the connections.
            memory: draw.pick(&[1 << 20, 4 << 20, 64 << 20]),
            exclusions: draw.pick(&[0, 0, 3, 10]),
            place: None,
            broken: Broken::Nothing,
            log: false,
        }
    }

    /// A large world that takes about so many days.
    pub fn large(seed: u64, hosts: usize, days: f64) -> Self {
        Scenario {
            seed,
            hosts,
            pages_per_host: 20,
            days,
            crashes: 4,
            orders: 0,
            exclusions: 0,
            limited: false,
            delay: Duration::from_secs(10),
            per_host: 1,
            connections: 256,
            address_gap: Duration::from_millis(500),
            commit_time: Duration::from_millis(5),
            archive: false,
            memory: 512 << 20,
            place: None,
            broken: Broken::Nothing,
            log: false,
        }
    }

    /// The limit on pages of a run.
    pub(crate) fn limit(&self, turn: usize) -> Option<u64> {
        (self.limited && turn < 5).then(|| 25 * (turn as u64 + 1))
    }

    /// After this long everything that was answered is committed.
    pub(crate) fn commit_margin(&self) -> Duration {
        // A group is collected for 200 ms; the one before it may just have begun.
        Duration::from_millis(205) + self.commit_time * 4
    }
}

/// What must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// From the end of an answer of a host to the next request there is a delay: ours, or the
    /// one its robots.txt names.
    Spacing,
    /// No host is asked more at once than the settings say.
    AtOnce,
    /// Nobody is asked before the time that a `Retry-After` names, nor right after an answer
    /// that says "not now" or none at all.
    Patience,
    /// After a crash a host that was being asked waits a full delay.
    Reopened,
    /// A host is claimed durably before its first request.
    Claimed,
    /// Between two requests to one address there is a gap.
    Address,
    /// No page is asked for without a robots.txt that allows it.
    Robots,
    /// Queues stay within their bounds.
    Bounded,
    /// What was acknowledged is there after a crash.
    Kept,
    /// A page that was fetched is not asked for again.
    Once,
    /// At the end everything that can be reached is fetched, and nothing else.
    Drained,
    /// The archive holds what the store says.
    Archive,
    /// A host that was excluded is asked for nothing.
    Excluded,
    /// The crawl ends by itself, and well.
    Ends,
}

/// A rule that did not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// When, who, what.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}

/// What a simulation came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Virtual time passed.
    pub passed: Duration,
    /// Real time spent.
    pub spent: Duration,
    /// Requests made.
    pub requests: u64,
    /// Of these, for a robots.txt.
    pub robots: u64,
    /// Pages whose fetch was acknowledged.
    pub pages: u64,
    /// Hosts that were asked.
    pub hosts: usize,
    /// Pages that had to be fetched.
    pub expected: usize,
    /// Groups committed.
    pub commits: u64,
    /// Crashes and stops.
    pub crashes: usize,
    /// A number made of every request and its time: equal for equal histories.
    pub digest: u64,
    /// What did not hold; the first of them.
    pub violations: Vec<Violation>,
    /// How much did not hold.
    pub violated: usize,
    /// Every request, where it was asked for.
    pub log: Vec<String>,
}

impl Report {
    /// Whether a rule was violated.
    pub fn violates(&self, rule: Rule) -> bool {
        self.violations.iter().any(|v| v.rule == rule)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}: {:.2} virtual days in {:.1} s; {} requests to {} hosts ({} for robots.txt), \
             {} pages ({} expected), {} commits, {} crashes and stops, history {:016x}",
            self.seed,
            self.passed.as_secs_f64() / 86_400.0,
            self.spent.as_secs_f64(),
            self.requests,
            self.hosts,
            self.robots,
            self.pages,
            self.expected,
            self.commits,
            self.crashes,
            self.digest,
        )?;
        for violation in &self.violations {
            writeln!(f, "  {violation}")?;
        }
        match self.violated {
            0 => write!(f, "  everything held"),
            n => write!(f, "  {n} violations"),
        }
    }
}
