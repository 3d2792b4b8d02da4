//! The one table of settings.
//!
//! Everything else in this module reads it: the file is checked against it, flags are values
//! for its keys, `config init` prints it, `config show` walks it, and suggestions come from it.
//! To add a setting, add its row here and its field in `settings`. Invariants (tested): names
//! are `table.key` and unique, rows of one table stand together, every default is valid.
//! Not here: how text becomes a value (`values`) and how values depend on each other
//! (`settings`).

/// A setting.
pub(super) struct Key {
    /// Table and key: `crawl.delay`.
    pub name: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// What holds when nothing is written.
    pub preset: Preset,
    /// One line for people, a full sentence.
    pub help: &'static str,
}

impl Key {
    /// The table the key stands in.
    pub fn table(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(table, _)| table)
    }

    /// The name inside its table.
    pub fn leaf(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(_, leaf)| leaf)
    }
}

/// What holds for a setting nobody wrote.
pub(super) enum Preset {
    /// This value, as it would stand in the file.
    Is(&'static str),
    /// Nothing; `without` says what that means, the example how a value is written.
    Unset { example: &'static str, without: &'static str },
}

/// What may be written for a setting.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of words.
    Words { of: Word, auto: bool, may_be_empty: bool },
    /// A duration within bounds, in milliseconds; with `auto`, also the word "auto".
    Duration { min_ms: u64, max_ms: u64, auto: bool },
    /// A size of at least so many bytes.
    Size { min: u64 },
    /// A whole number within bounds.
    Count { min: u64, max: u64 },
    /// Text that may stand in a request header.
    Text { may_be_empty: bool },
    /// Which versions of a page are kept.
    Keep,
    /// The name of a filter, or its file; `none`, or nothing.
    Filter,
    /// The URL of a proxy; its password is never shown.
    Proxy,
    /// True or false.
    Flag,
}

/// What the words of a list are.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// `example.com`, or an IP address.
    Domain,
    /// `html`, or `application/json`.
    Type,
    /// `jpg`.
    Extension,
    /// `192.0.2.0/24`, a single address, or `cdn` for the large content delivery networks.
    Network,
    /// `192.0.2.53` or `[2001:db8::53]:5353`.
    Server,
    /// `name=address`.
    Host,
    /// `name=rule`.
    Keep,
    /// Any word.
    Any,
    /// `example.org/news/* every 1h`: what is said of some pages.
    Rule,
    /// The path of a file that is there; relative ones begin at the configuration file.
    File,
}

const SECOND: u64 = 1_000;
const DAY: u64 = 86_400 * SECOND;
const YEAR: u64 = 365 * DAY;
const WAIT: Kind = Kind::Duration { min_ms: 0, max_ms: YEAR, auto: false };
const TIMEOUT: Kind = Kind::Duration { min_ms: 100, max_ms: DAY, auto: false };
const NO_LIMIT: &str = "there is no limit";
const ANY: u64 = u64::MAX;

const fn key(name: &'static str, kind: Kind, preset: &'static str, help: &'static str) -> Key {
    Key { name, kind, preset: Preset::Is(preset), help }
}

const fn limit(name: &'static str, kind: Kind, example: &'static str, help: &'static str) -> Key {
    Key { name, kind, preset: Preset::Unset { example, without: NO_LIMIT }, help }
}

const fn words(of: Word) -> Kind {
    Kind::Words { of, auto: false, may_be_empty: true }
}

/// Every setting, in the order of the template.
#[rustfmt::skip]
pub(super) const KEYS: &[Key] = &[
    key("crawl.scope", Kind::Choice(&["host", "domain", "prefix", "list", "any"]), r#""domain""#,
        "Which links belong to a crawl, seen from its start URLs."),
    key("crawl.domains", words(Word::Domain), "[]",
        "More domains that belong to every crawl of scope host or domain."),
    key("crawl.order", Kind::Choice(&["breadth", "depth", "best"]), r#""breadth""#,
        "Whether pages are visited level by level, newest links first, or most promising first."),
    key("crawl.delay", WAIT, r#""10s""#,
        "Pause between the end of one answer of a host and the next request to it."),
    key("crawl.robots", Kind::Choice(&["obey", "ignore"]), r#""obey""#,
        "Whether robots.txt, robots tags and nofollow are obeyed; ignore for your own site only."),
    key("crawl.sitemaps", Kind::Flag, "true",
        "Whether the sitemaps that robots.txt names are read."),
    key("crawl.traps", Kind::Flag, "true",
        "Whether series of pages without end are recognised, held back and paused."),
    key("crawl.links", Kind::Flag, "true",
        "Whether back-links are counted while the crawl runs; else when they are asked for."),
    key("crawl.index", Kind::Flag, "true",
        "Whether words are indexed while the crawl runs; else when somebody searches."),
    key("crawl.address_gap", Kind::Duration { min_ms: 0, max_ms: YEAR, auto: true }, r#""auto""#,
        "Pause between requests to one IP address; auto is a tenth of crawl.delay, at most 1s."),
    key("crawl.address_exempt", words(Word::Network), r#"["cdn"]"#,
        "Networks without that pause; cdn stands for large content delivery networks."),
    key("crawl.connections", Kind::Count { min: 1, max: 65_535 }, "300",
        "Connections open at once."),
    key("crawl.connections_per_host", Kind::Count { min: 1, max: 1_000 }, "1",
        "Connections open at once to one host; more than 1 only for a site of your own."),
    key("crawl.workers", Kind::Count { min: 0, max: 1_024 }, "0",
        "Worker threads; 0 is one per core."),
    limit("crawl.max_pages", Kind::Count { min: 1, max: ANY }, "10000",
        "Stop after this many pages."),
    limit("crawl.max_pages_per_site", Kind::Count { min: 1, max: ANY }, "500",
        "Take this many pages of one site (registrable domain), all its hosts together."),
    limit("crawl.max_depth", Kind::Count { min: 0, max: 65_535 }, "5",
        "Follow links this far from a start URL."),
    limit("crawl.max_time", Kind::Duration { min_ms: SECOND, max_ms: 100 * YEAR, auto: false }, r#""8h""#,
        "Stop after this time."),
    limit("crawl.max_bytes", Kind::Size { min: 1 }, r#""50GB""#,
        "Stop after this much has been received."),
    key("crawl.types", Kind::Words { of: Word::Type, auto: false, may_be_empty: false },
        r#"["html", "text"]"#,
        "Kinds of content that are taken: groups (html, text, pdf, image) or full media types."),
    key("crawl.skip_extensions", Kind::Words { of: Word::Extension, auto: true, may_be_empty: true },
        r#""auto""#,
        "File-name endings that are not requested; auto follows from crawl.types."),
    key("crawl.query", Kind::Choice(&["keep", "drop", "sort"]), r#""keep""#,
        "What happens to the query string of a discovered URL."),
    key("crawl.filter", Kind::Filter, r#""""#,
        "The filter that new jobs obey; see docs/filters.md."),
    key("crawl.preset", Kind::Choice(super::presets::NAMES), r#""none""#,
        "Ready-made settings for a kind of site, where no others are set; see docs/filters.md."),
    key("crawl.budgets", Kind::Choice(&["on", "off"]), r#""on""#,
        "With scope any: whether sites beyond their share come last; see docs/budgets.md."),
    key("crawl.retries", Kind::Count { min: 0, max: 100 }, "2",
        "Tries after the first one failed for a passing reason."),
    key("crawl.retry_delay", WAIT, r#""10s""#,
        "Pause before a page is tried again."),
    key("crawl.backoff", WAIT, r#""10s""#,
        "Further pause for a host that is busy or does not answer; doubled each time."),
    key("crawl.backoff_max", WAIT, r#""1h""#,
        "Longest such pause."),
    key("crawl.slow_answer", TIMEOUT, r#""2s""#,
        "A host whose answers take longer than this to begin is asked less often."),
    key("crawl.give_up_after", WAIT, r#""30m""#,
        "A host that has not answered for so long is given up for a day."),
    key("crawl.max_redirects", Kind::Count { min: 0, max: 50 }, "10",
        "Redirects followed one after the other."),

    key("revisit.policy", Kind::Choice(&["fresh", "fr", "selective", "fixed"]), r#""fresh""#,
        "Who decides when a page is visited again; see docs/freshness.md."),
    key("revisit.round", Kind::Duration { min_ms: SECOND, max_ms: YEAR, auto: false }, r#""1d""#,
        "How often a page is visited where nothing is known of it; the round of fr."),
    Key { name: "revisit.per_day", kind: Kind::Count { min: 1, max: 1_000_000_000 },
        preset: Preset::Unset {
            example: "20000",
            without: "there are as many as pages, in a round",
        },
        help: "Most pages that watch asks for in a day." },
    limit("revisit.per_site_day", Kind::Count { min: 1, max: 1_000_000_000 }, "1000",
        "Most pages that watch asks each site for in a day."),
    key("revisit.rules", words(Word::Rule), "[]",
        "What holds for some pages, the last that fits; see docs/freshness.md."),
    key("revisit.conditional", Kind::Flag, "true",
        "Whether servers may answer that a page has not changed."),

    key("news.cycle", Kind::Duration { min_ms: SECOND, max_ms: YEAR, auto: false }, r#""15m""#,
        "How often a followed site is looked at for news, unless its recipe says otherwise."),
    key("news.recent", Kind::Duration { min_ms: SECOND, max_ms: YEAR, auto: false }, r#""2d""#,
        "Articles younger than this are asked for changes in each cycle."),

    key("fetch.user_agent", Kind::Text { may_be_empty: false },
        r#""Argiope/{version}""#,
        "The name the crawler gives to web servers; {version} stands for its own version."),
    key("fetch.contact", Kind::Text { may_be_empty: true }, r#""""#,
        "Address of a page or mailbox for webmasters; appended to the user agent as (+...)."),
    key("fetch.accept_language", Kind::Text { may_be_empty: true }, r#""""#,
        "Languages asked for, such as \"de, en;q=0.5\"; empty asks for none."),
    key("fetch.connect_timeout", TIMEOUT, r#""10s""#,
        "Longest wait for a connection."),
    key("fetch.page_timeout", TIMEOUT, r#""60s""#,
        "Longest time for one page, from the connection to the last byte."),
    key("fetch.max_body", Kind::Size { min: 1_000 }, r#""200MB""#,
        "Largest answer taken, as sent by the server."),
    key("fetch.max_decoded", Kind::Size { min: 1_000 }, r#""500MB""#,
        "Largest answer taken after decompression."),
    key("fetch.max_headers", Kind::Size { min: 8_000 }, r#""64KB""#,
        "Largest head of an answer taken."),
    limit("fetch.max_bandwidth", Kind::Size { min: 1_000 }, r#""2MB""#,
        "Most that is received in a second, over all connections."),
    key("fetch.allow_private", Kind::Flag, "false",
        "Whether private, loopback and link-local addresses may be fetched."),
    key("fetch.dns_servers", words(Word::Server), "[]",
        "Name servers to ask, in this order; without any, the system is asked."),
    key("fetch.hosts", words(Word::Host), "[]",
        "Names with their addresses, which no name server is asked for."),
    Key { name: "fetch.proxy", kind: Kind::Proxy,
        preset: Preset::Unset {
            example: r#""http://proxy.example:3128""#,
            without: "servers are asked directly",
        },
        help: "A proxy that all requests go through: http:// or socks5://." },
    key("fetch.extra_ca", words(Word::File), "[]",
        "PEM files with certificates to trust beside those of the system."),

    key("store.memory", Kind::Size { min: 128_000_000 }, r#""256MB""#,
        "Memory for caches, queues and buffers; what does not fit is kept on disk."),
    key("store.lease", Kind::Duration { min_ms: 1_000, max_ms: DAY, auto: false }, r#""15s""#,
        "How long a worker of a fleet counts as alive after it was last heard."),

    key("archive.enabled", Kind::Flag, "true",
        "Whether answers are kept in WARC files."),
    key("archive.segment_size", Kind::Size { min: 1_000_000 }, r#""1GB""#,
        "Size at which a new WARC file is begun."),
    key("archive.min_free_disk", Kind::Size { min: 0 }, r#""32MB""#,
        "Free disk space below which a crawl pauses."),
    key("archive.tree", Kind::Text { may_be_empty: true }, r#""""#,
        "A directory where pages are kept as files too, while a crawl runs; empty for none."),
    key("archive.unchanged", Kind::Flag, "false",
        "Whether a visit that found the same bytes is written to the WARC files too."),

    key("retention.keep", Kind::Keep, r#""all""#,
        "Which versions of a page stay when `argiope prune` is called."),
    key("retention.sites", words(Word::Keep), "[]",
        "Other rules for sites and hosts of these names; the last that fits counts."),
    key("retention.older_than", Kind::Duration { min_ms: 0, max_ms: 100 * YEAR, auto: false }, r#""0s""#,
        "Versions that are younger than this stay in any case."),

    key("index.stop_words", Kind::Words { of: Word::Any, auto: true, may_be_empty: true }, r#""auto""#,
        "Words left out of the text of pages; a new list holds after `argiope reindex`."),
    key("index.language", Kind::Text { may_be_empty: true }, r#""en""#,
        "Whose rules find the stems of words on pages whose language is not known."),

    key("metrics.listen", Kind::Text { may_be_empty: true }, "\"\"",
        "Address and port where Prometheus may ask how a crawl stands, such as 127.0.0.1:9464."),
];

/// The tables of the file, in order, each with its line in the template.
pub(super) const TABLES: &[(&str, &str)] = &[
    ("crawl", "What is visited, in which order, and how politely."),
    ("revisit", "When pages are visited again."),
    ("news", "How news are collected."),
    ("fetch", "How pages are requested."),
    ("store", "What the crawler keeps about URLs."),
    ("archive", "What is kept of the answers."),
    ("retention", "Which versions of pages stay when old ones are pruned."),
    ("index", "How pages are found by their words."),
    ("metrics", "How a crawl is watched from outside."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_tables_stand_together() {
        let names: BTreeSet<_> = KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names.len(), KEYS.len());
        let mut tables: Vec<_> = KEYS.iter().map(Key::table).collect();
        tables.dedup();
        assert_eq!(tables, TABLES.iter().map(|(table, _)| *table).collect::<Vec<_>>());
    }

    #[test]
    fn every_help_is_one_sentence_on_one_line() {
        for key in KEYS {
            assert!(key.help.ends_with('.') && !key.help.contains('\n'), "{}", key.name);
            assert!(key.help.len() <= 90, "{} is explained at length", key.name);
        }
    }
}
