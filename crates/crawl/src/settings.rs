//! What the engine needs to know, validated by the caller.

use crate::news::NewsSource;
use crate::words::Hold;
use argiope_fetch::FetchSettings;
use argiope_frontier::revisit::{Pattern, PolicyName, Rule};
use argiope_frontier::{Network, Patience};
use argiope_index::IndexSettings;
use argiope_model::Time;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

/// How the last run in a directory asked.
#[derive(Serialize, Deserialize)]
struct LastRun {
    delay_ms: u64,
    robots: bool,
    user_agent: String,
    /// Which news it wanted, and since when these are wanted.
    #[serde(default)]
    news: u64,
    #[serde(default)]
    news_since: Option<Time>,
}

const LAST_RUN: &str = "last-run.json";

fn last_run(data: &Path) -> Option<LastRun> {
    serde_json::from_slice(&fs::read(data.join(LAST_RUN)).ok()?).ok()
}

/// How a crawl is run.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// Name and version of the program, for the archive.
    pub software: String,
    /// From the end of one answer of a host to the start of the next request.
    pub delay: Duration,
    /// Requests at once.
    pub connections: usize,
    /// Requests to one host at once.
    pub per_host: usize,
    /// Whether robots.txt, robots tags and `nofollow` are obeyed.
    pub robots: bool,
    /// Whether sitemaps that robots.txt names are read.
    pub sitemaps: bool,
    /// Whether series of pages without end are recognised and paused.
    pub traps: bool,
    /// From the start of one request to an address to the start of the next; `None` goes with the delay
    /// ([`gap`]).
    pub address_gap: Option<Duration>,
    /// Addresses without such a gap.
    pub address_exempt: Vec<Network>,
    /// How patient the crawl is with hosts that do not answer well.
    pub patience: Patience,
    /// Redirects followed one after the other.
    pub max_redirects: u8,
    /// Tries after the first.
    pub retries: u8,
    /// Until the second try; doubled for each further one.
    pub retry_delay: Duration,
    /// Bound of anonymous memory, in bytes.
    pub memory: u64,
    /// Whether responses are archived.
    pub archive: bool,
    /// When a segment is full.
    pub segment_bytes: u64,
    /// The crawl pauses while less than this is free on the disk.
    pub min_free_disk: u64,
    /// Whether back-links are kept while the crawl runs.
    pub links: bool,
    /// How the word index is made; its memory is set by the engine.
    pub index: IndexSettings,
    /// When pages are visited again.
    pub revisit: RevisitSettings,
    /// Whether sites have budgets in jobs without borders.
    pub budgets: bool,
    /// How news are collected.
    pub news: NewsSettings,
    /// What makes the crawl wait: followers that cannot keep up.
    pub hold: Hold,
    /// What the fetcher needs; `spool_dir` and `body_memory` are set by the engine.
    pub fetch: FetchSettings,
}

/// How news are collected.
#[derive(Clone, Debug)]
pub struct NewsSettings {
    /// The sites that are followed.
    pub source: NewsSource,
    /// How often news are looked for where a recipe does not say.
    pub cycle: Duration,
    /// Articles younger than this are asked for changes in each cycle.
    pub recent: Duration,
    /// Only articles on this subject are fetched.
    pub subject: Option<String>,
    /// Only these of the sites that are followed are looked at; all where none is named.
    pub sites: Vec<String>,
    /// Only news are worked on: other jobs rest, and a round looks at front pages, feeds and recent articles
    /// whatever their plans are.
    pub only: bool,
    /// Since when these news are wanted and no others; the engine finds that out.
    pub since: Option<Time>,
}

impl Default for NewsSettings {
    fn default() -> Self {
        NewsSettings {
            source: NewsSource::default(),
            cycle: Duration::from_secs(900),
            recent: Duration::from_secs(2 * 86_400),
            subject: None,
            sites: Vec::new(),
            only: false,
            since: None,
        }
    }
}

/// When pages are visited again.
#[derive(Clone, Debug)]
pub struct RevisitSettings {
    /// Who decides.
    pub policy: PolicyName,
    /// The length of a round: how often a page is visited where nothing is known of it.
    pub round: Duration,
    /// Visits a day for everything; `None`: as many as there are pages, in a round.
    pub per_day: Option<f64>,
    /// Visits a day for each site.
    pub per_site_day: Option<f64>,
    /// What is said by hand of some pages.
    pub rules: Vec<Rule>,
    /// Of a round: only these pages; all where there is none.
    pub only: Vec<Pattern>,
    /// Whether servers may answer that nothing has changed.
    pub conditional: bool,
    /// Whether visits that found the same bytes are written to the archive.
    pub keep_unchanged: bool,
}

impl Default for RevisitSettings {
    fn default() -> Self {
        RevisitSettings {
            policy: PolicyName::default(),
            round: Duration::from_secs(86_400),
            per_day: None,
            per_site_day: None,
            rules: Vec::new(),
            only: Vec::new(),
            conditional: true,
            keep_unchanged: false,
        }
    }
}

/// The longest pause between requests to one address that nobody asked for.
const AUTO_GAP_MAX: Duration = Duration::from_secs(1);

/// The pause between requests to one address. Unless somebody set it: long enough to spread the hosts
/// of one machine, too short to be felt by a crawl of one host.
pub fn gap(set: Option<Duration>, delay: Duration) -> Duration {
    set.unwrap_or((delay / 10).min(AUTO_GAP_MAX))
}

impl EngineSettings {
    /// Leaves word of how this run asks, for those who want to know after it; says since when the news that
    /// it wants are wanted: its beginning, where the run before wanted others.
    pub(crate) fn leave_word(&self, data: &Path, now: Time) -> Option<Time> {
        let mut hash = DefaultHasher::new();
        format!("{:?} {:?}", self.news.subject, self.news.source.sites()).hash(&mut hash);
        let news = hash.finish();
        let before = last_run(data).filter(|last| last.news == news);
        let word = LastRun {
            delay_ms: u64::try_from(self.delay.as_millis()).unwrap_or(u64::MAX),
            robots: self.robots,
            user_agent: self.fetch.user_agent.clone(),
            news,
            news_since: before.map_or(Some(now), |last| last.news_since),
        };
        let written = serde_json::to_vec(&word).map_err(io::Error::from);
        if let Err(e) = written.and_then(|bytes| fs::write(data.join(LAST_RUN), bytes)) {
            tracing::debug!("no word of this run could be left: {e}");
        }
        word.news_since
    }

    /// These settings, but asking as the last run in a directory did.
    pub(crate) fn as_in_last_run(&self, data: &Path) -> EngineSettings {
        let mut out = self.clone();
        if let Some(last) = last_run(data) {
            (out.delay, out.robots) = (Duration::from_millis(last.delay_ms), last.robots);
            out.fetch.user_agent = last.user_agent;
        }
        out
    }

    /// The name by which robots.txt knows us: the first word of the user agent.
    pub fn agent(&self) -> &str {
        let name = |c: char| !(c.is_ascii_alphabetic() || c == '-' || c == '_');
        let agent = self.fetch.user_agent.trim_start();
        agent.split(name).next().filter(|token| !token.is_empty()).unwrap_or("argiope")
    }

    /// The store's share of the memory: memtables and block cache.
    pub fn store_memory(&self) -> u64 {
        self.memory * 3 / 8
    }

    /// The share of bodies on their way.
    pub(crate) fn body_memory(&self) -> usize {
        (self.memory / 6) as usize
    }

    /// The share of the cache of seen URLs.
    pub(crate) fn seen_memory(&self) -> usize {
        (self.memory / 16) as usize
    }

    /// The share of robots rules.
    pub(crate) fn rule_memory(&self) -> usize {
        (self.memory / 16) as usize
    }

    /// The share of what is watched for series without end.
    pub(crate) fn trap_memory(&self) -> usize {
        (self.memory / 64) as usize
    }

    /// The share of what queued URLs are worth, where a job goes best-first.
    pub(crate) fn merit_memory(&self) -> usize {
        (self.memory / 32) as usize
    }

    /// The share of the link graph.
    pub fn link_memory(&self) -> u64 {
        self.memory / 16
    }

    /// The share of the word index.
    pub fn index_memory(&self) -> u64 {
        (self.memory / 5).max(IndexSettings::MIN_MEMORY)
    }

    /// Rows of ready queues held, at about 256 bytes each.
    pub(crate) fn window_rows(&self) -> usize {
        (self.memory / 16 / 256) as usize
    }
}
