//! What the configuration means: the second of the two steps, and all the engine gets.
//!
//! Built by `load` from what was written. Invariants: every field is valid by itself and with
//! the others (connections per host fit into all connections, a page has longer than its
//! connection, pauses grow up to the longest); limits that nobody set are `None`.
//! Not here: where a value came from (`written`), and what a value may be (`keys`).

use super::problem::Problem;
use super::values::{Value, interpret};
use super::words;
use super::written::{Entry, Origin, Written};
use argiope_crawl::Keep;
use argiope_fetch::ProxyUrl;
use argiope_frontier::Network;
use argiope_frontier::revisit::PolicyName;
use argiope_model::{Limits, Order, QueryPolicy, ScopeRule};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Everything that can be set, valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is visited, in which order, and how politely.
    pub crawl: Crawl,
    /// When pages are visited again.
    pub revisit: Revisit,
    /// How news are collected.
    pub news: News,
    /// How pages are requested.
    pub fetch: Fetch,
    /// What the crawler keeps about URLs.
    pub store: Store,
    /// What is kept of the answers.
    pub archive: Archive,
    /// Which versions stay when old ones are pruned.
    pub retention: Retention,
    /// How pages are found by their words.
    pub index: Index,
    /// Where it is told how a crawl stands.
    pub metrics: Metrics,
}

/// What is visited, in which order, and how politely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crawl {
    /// Which links belong to a crawl.
    pub scope: ScopeRule,
    /// More domains that belong to it, lower case.
    pub domains: Vec<String>,
    /// The order of visits.
    pub order: Order,
    /// Pause of a host between an answer and the next request.
    pub delay: Duration,
    /// Whether robots.txt, robots tags and `nofollow` are obeyed.
    pub robots: bool,
    /// Whether sitemaps that robots.txt names are read.
    pub sitemaps: bool,
    /// Whether series of pages without end are recognised and paused.
    pub traps: bool,
    /// Whether back-links are counted while the crawl runs.
    pub links: bool,
    /// Whether words are indexed while the crawl runs.
    pub index: bool,
    /// Whether sites have budgets in crawls without borders.
    pub budgets: bool,
    /// Pause between requests to one address; `None` goes with the delay.
    pub address_gap: Option<Duration>,
    /// Networks without such a pause.
    pub address_exempt: Vec<Network>,
    /// Connections open at once, at least 1.
    pub connections: usize,
    /// Connections open at once to one host, at least 1.
    pub connections_per_host: usize,
    /// Worker threads; `None` is one per core.
    pub workers: Option<usize>,
    /// Where a crawl stops.
    pub limits: Limits,
    /// Kinds of content that are taken, lower case, at least one.
    pub types: BTreeSet<String>,
    /// File-name endings that are not requested.
    pub skip_extensions: SkipExtensions,
    /// What happens to query strings.
    pub query: QueryPolicy,
    /// The filter of new jobs, by its name or its file; `None`: nothing is said of one.
    pub filter: Option<String>,
    /// The preset, where there is one.
    pub preset: Option<String>,
    /// Tries after the first.
    pub retries: u32,
    /// Pause before a page is tried again.
    pub retry_delay: Duration,
    /// The first further pause for a host that is busy or silent.
    pub backoff: Duration,
    /// The longest such pause, at least the first.
    pub backoff_max: Duration,
    /// Answers that take longer than this to begin are slow.
    pub slow_answer: Duration,
    /// When a host that does not answer is given up.
    pub give_up_after: Duration,
    /// Redirects followed one after the other.
    pub max_redirects: u8,
}

/// File-name endings that are not requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipExtensions {
    /// Those that do not go with the kinds of content taken.
    Auto,
    /// These, lower case, without dots in front.
    These(BTreeSet<String>),
}

/// When pages are visited again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revisit {
    /// Who decides.
    pub policy: PolicyName,
    /// How often where nothing is known.
    pub round: Duration,
    /// Pages a day.
    pub per_day: Option<u64>,
    /// Pages a day for each site.
    pub per_site_day: Option<u64>,
    /// What holds for some pages, each a rule that can be read.
    pub rules: Vec<String>,
    /// Whether servers may answer that nothing has changed.
    pub conditional: bool,
}

/// How news are collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// How often, where a recipe does not say.
    pub cycle: Duration,
    /// Until when an article is asked for changes in each cycle.
    pub recent: Duration,
    /// The file of the sites that are followed; empty where there is no data directory.
    pub sites: PathBuf,
}

/// How pages are requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The whole header value, the contact included.
    pub user_agent: String,
    /// Where webmasters can reach whoever crawls, where that was said.
    pub contact: Option<String>,
    /// The header value; `None` sends none.
    pub accept_language: Option<String>,
    /// Longest wait for a connection.
    pub connect_timeout: Duration,
    /// Longest time for one page.
    pub page_timeout: Duration,
    /// Largest answer as sent, in bytes.
    pub max_body: u64,
    /// Largest answer after decompression, in bytes.
    pub max_decoded: u64,
    /// Largest head of an answer, in bytes.
    pub max_headers: usize,
    /// Most that is received in a second, in bytes.
    pub max_bandwidth: Option<u64>,
    /// Whether private addresses may be fetched.
    pub allow_private: bool,
    /// Name servers to ask; without any, the system.
    pub dns_servers: Vec<SocketAddr>,
    /// Names whose addresses are given; a name may stand more than once.
    pub hosts: Vec<(String, IpAddr)>,
    /// The proxy that all requests go through.
    pub proxy: Option<ProxyUrl>,
    /// Files with further certificates to trust.
    pub extra_ca: Vec<PathBuf>,
}

/// How pages are found by their words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Words left out of the text of pages; `None` is the list that comes with the program.
    pub stop_words: Option<Vec<String>>,
    /// The language of pages of which it is not known.
    pub language: String,
}

/// What the crawler keeps about URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Memory in bytes.
    pub memory: u64,
    /// How long a worker counts as alive without a word.
    pub lease: Duration,
}

/// Which versions of pages stay when old ones are pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The rule.
    pub keep: Keep,
    /// Other rules for sites and hosts of these names.
    pub sites: Vec<(String, Keep)>,
    /// What is younger stays in any case.
    pub older_than: Duration,
}

/// Where it is told how a crawl stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metrics {
    /// Address and port, as they were written.
    pub listen: Option<String>,
}

/// What is kept of the answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archive {
    /// Whether answers are kept.
    pub enabled: bool,
    /// Size in bytes at which a new WARC file is begun.
    pub segment_size: u64,
    /// Free bytes on disk below which a crawl pauses.
    pub min_free_disk: u64,
    /// Where pages are kept as files too.
    pub tree: Option<PathBuf>,
    /// Whether visits that found the same bytes are kept there too.
    pub unchanged: bool,
}

/// The value that holds for each key, and the entry it came from.
pub(super) struct Holding<'a>(BTreeMap<&'static str, (&'a Entry, Value)>);

impl<'a> Holding<'a> {
    /// Interprets everything written; later entries replace earlier ones.
    pub fn of(written: &'a Written, problems: &mut Vec<Problem>) -> Self {
        let mut holding = BTreeMap::new();
        for entry in &written.entries {
            match interpret(entry.key(), entry.raw.as_ref(), entry.folder()) {
                Ok(value) => {
                    holding.insert(entry.key().name, (entry, value));
                }
                Err(fault) => {
                    // What is wrong must not be compared with what is right.
                    holding.remove(entry.key().name);
                    problems.push(Problem { line: entry.line(), text: entry.complain(&fault) });
                }
            }
        }
        Self(holding)
    }

    /// Checks what holds between keys.
    pub fn check(&self, problems: &mut Vec<Problem>) {
        for (larger, smaller) in [
            ("crawl.connections", "crawl.connections_per_host"),
            ("crawl.backoff_max", "crawl.backoff"),
            ("fetch.page_timeout", "fetch.connect_timeout"),
        ] {
            let (Some((more, more_value)), Some((less, less_value))) =
                (self.0.get(larger), self.0.get(smaller))
            else {
                continue;
            };
            let in_order = match (more_value, less_value) {
                (Value::Count(more), Value::Count(less)) => more >= less,
                (Value::Duration(more), Value::Duration(less)) => more >= less,
                _ => true,
            };
            if in_order {
                continue;
            }
            // Whoever spoke last caused the clash; nobody blames a default.
            let rank = |entry: &Entry| match entry.origin {
                Origin::Default | Origin::Preset(_) => 0,
                Origin::File { .. } => 1,
                Origin::Flag(_) | Origin::Set => 2,
            };
            let (blamed, other, relation) =
                if rank(more) >= rank(less) { (more, less, "less") } else { (less, more, "more") };
            let other_place = match &other.origin {
                Origin::Flag(_) | Origin::Set => other.named(),
                origin => format!("{} ({origin})", other.named()),
            };
            let text = blamed.complain(&format!("is {relation} than {other_place}"));
            problems.push(Problem { line: blamed.line(), text });
        }
    }

    /// The value and its entry; every key has one once no problem was found.
    pub fn get(&self, name: &str) -> (&'a Entry, &Value) {
        let (entry, value) = self.0.get(name).expect("every key of the table has a default");
        (entry, value)
    }

    /// The settings; call it only when no problem was found.
    pub fn settings(&self) -> Settings {
        Settings {
            crawl: Crawl {
                scope: match self.word("crawl.scope") {
                    "host" => ScopeRule::Host,
                    "domain" => ScopeRule::Domain,
                    "prefix" => ScopeRule::Prefix,
                    "list" => ScopeRule::List,
                    _ => ScopeRule::Any,
                },
                domains: self.list("crawl.domains").to_vec(),
                order: match self.word("crawl.order") {
                    "depth" => Order::Depth,
                    "best" => Order::Best,
                    _ => Order::Breadth,
                },
                delay: self.duration("crawl.delay"),
                robots: self.word("crawl.robots") == "obey",
                sitemaps: self.flag("crawl.sitemaps"),
                traps: self.flag("crawl.traps"),
                links: self.flag("crawl.links"),
                index: self.flag("crawl.index"),
                budgets: self.word("crawl.budgets") == "on",
                address_gap: self.address_gap(),
                address_exempt: words::networks(self.list("crawl.address_exempt")),
                connections: self.count("crawl.connections"),
                connections_per_host: self.count("crawl.connections_per_host"),
                workers: Some(self.count("crawl.workers")).filter(|workers| *workers > 0),
                limits: Limits {
                    pages: self.number("crawl.max_pages"),
                    depth: self.number("crawl.max_depth").and_then(|n| u16::try_from(n).ok()),
                    time_ms: self.number("crawl.max_time"),
                    bytes: self.number("crawl.max_bytes"),
                    site_pages: self.number("crawl.max_pages_per_site"),
                },
                types: self.list("crawl.types").iter().cloned().collect(),
                skip_extensions: match self.words("crawl.skip_extensions") {
                    Some(words) => SkipExtensions::These(words.iter().cloned().collect()),
                    None => SkipExtensions::Auto,
                },
                query: match self.word("crawl.query") {
                    "drop" => QueryPolicy::Drop,
                    "sort" => QueryPolicy::Sort,
                    _ => QueryPolicy::Keep,
                },
                filter: self.said("crawl.filter"),
                preset: self.said("crawl.preset").filter(|preset| preset != "none"),
                retries: u32::try_from(self.count("crawl.retries")).unwrap_or(u32::MAX),
                retry_delay: self.duration("crawl.retry_delay"),
                backoff: self.duration("crawl.backoff"),
                backoff_max: self.duration("crawl.backoff_max"),
                slow_answer: self.duration("crawl.slow_answer"),
                give_up_after: self.duration("crawl.give_up_after"),
                max_redirects: u8::try_from(self.count("crawl.max_redirects")).unwrap_or(u8::MAX),
            },
            revisit: Revisit {
                policy: PolicyName::named(self.word("revisit.policy")).unwrap_or_default(),
                round: self.duration("revisit.round"),
                per_day: self.number("revisit.per_day"),
                per_site_day: self.number("revisit.per_site_day"),
                rules: self.list("revisit.rules").to_vec(),
                conditional: self.flag("revisit.conditional"),
            },
            news: News {
                cycle: self.duration("news.cycle"),
                recent: self.duration("news.recent"),
                sites: PathBuf::new(),
            },
            fetch: Fetch {
                user_agent: self.user_agent(),
                contact: self.said("fetch.contact"),
                accept_language: self.said("fetch.accept_language"),
                connect_timeout: self.duration("fetch.connect_timeout"),
                page_timeout: self.duration("fetch.page_timeout"),
                max_body: self.size("fetch.max_body"),
                max_decoded: self.size("fetch.max_decoded"),
                max_headers: self.count("fetch.max_headers"),
                max_bandwidth: self.number("fetch.max_bandwidth"),
                allow_private: self.flag("fetch.allow_private"),
                dns_servers: words::servers(self.list("fetch.dns_servers")),
                hosts: words::hosts(self.list("fetch.hosts")),
                proxy: match self.get("fetch.proxy").1 {
                    Value::Proxy(proxy) => Some(proxy.clone()),
                    _ => None,
                },
                extra_ca: self.list("fetch.extra_ca").iter().map(PathBuf::from).collect(),
            },
            store: Store { memory: self.size("store.memory"), lease: self.duration("store.lease") },
            archive: Archive {
                enabled: self.flag("archive.enabled"),
                segment_size: self.size("archive.segment_size"),
                min_free_disk: self.size("archive.min_free_disk"),
                tree: self.said("archive.tree").map(PathBuf::from),
                unchanged: self.flag("archive.unchanged"),
            },
            retention: Retention {
                keep: self.word("retention.keep").parse().unwrap_or_default(),
                sites: words::rules(self.list("retention.sites")),
                older_than: self.duration("retention.older_than"),
            },
            index: Index {
                stop_words: self.words("index.stop_words").map(<[String]>::to_vec),
                language: self.word("index.language").to_owned(),
            },
            metrics: Metrics { listen: self.said("metrics.listen") },
        }
    }

    /// The version is filled in here, so that a file from `config init` does not freeze it.
    fn user_agent(&self) -> String {
        let name = self.word("fetch.user_agent").replace("{version}", env!("CARGO_PKG_VERSION"));
        match self.word("fetch.contact") {
            "" => name,
            contact => format!("{name} (+{contact})"),
        }
    }

    fn address_gap(&self) -> Option<Duration> {
        match self.get("crawl.address_gap").1 {
            Value::Duration(gap) => Some(*gap),
            _ => None,
        }
    }

    fn word(&self, name: &str) -> &str {
        match self.get(name).1 {
            Value::Choice(word) => word,
            Value::Text(text) => text,
            other => unreachable!("{name} is a word in the table of keys, not {other:?}"),
        }
    }

    /// A text; `None` where it is empty.
    fn said(&self, name: &str) -> Option<String> {
        Some(self.word(name).to_owned()).filter(|text| !text.is_empty())
    }

    /// The words of a list that is always written out.
    fn list(&self, name: &str) -> &[String] {
        self.words(name).unwrap_or_default()
    }

    /// The words of a list; `None` where they follow from other settings.
    fn words(&self, name: &str) -> Option<&[String]> {
        if let Value::Words(words) = self.get(name).1 { Some(words) } else { None }
    }

    /// A limit as a plain number: a count, bytes, or milliseconds.
    fn number(&self, name: &str) -> Option<u64> {
        match self.get(name).1 {
            Value::Count(number) | Value::Size(number) => Some(*number),
            Value::Duration(duration) => u64::try_from(duration.as_millis()).ok(),
            _ => None,
        }
    }

    fn count(&self, name: &str) -> usize {
        usize::try_from(self.size(name)).unwrap_or(usize::MAX)
    }

    fn size(&self, name: &str) -> u64 {
        self.number(name).expect("the table of keys says a number with a default")
    }

    fn duration(&self, name: &str) -> Duration {
        Duration::from_millis(self.size(name))
    }

    fn flag(&self, name: &str) -> bool {
        *self.get(name).1 == Value::Flag(true)
    }
}
