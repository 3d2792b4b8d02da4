//! From flags and configuration to what the engine needs.
//!
//! `crawl` and `demo` call it. Nothing is decided here: every flag is a setting, every setting
//! has one place where the engine finds it.

use crate::args::Crawl;
use crate::config::{Override, Settings, SkipExtensions};
use argiope_crawl::{EngineSettings, IndexSettings, NewJob, NewsSettings, RevisitSettings};
use argiope_fetch::FetchSettings;
use argiope_frontier::Patience;
use argiope_model::Wanted;
use argiope_parse::default_skip_extensions;

/// The flags that stand for a setting.
pub fn overrides(args: &Crawl) -> Vec<Override> {
    let mut out: Vec<Override> = Vec::new();
    let mut given = |key, value: &Option<String>, flag| {
        out.extend(value.clone().map(|value| (key, value, flag)));
    };
    given("crawl.scope", &args.scope, "--scope");
    given("crawl.order", &args.order, "--order");
    given("crawl.delay", &args.delay, "--delay");
    given("crawl.robots", &args.robots, "--robots");
    given("crawl.connections", &args.connections, "--connections");
    given("crawl.connections_per_host", &args.connections_per_host, "--connections-per-host");
    given("crawl.workers", &args.workers, "--workers");
    given("crawl.max_pages", &args.max_pages, "--max-pages");
    given("crawl.max_pages_per_site", &args.max_pages_per_site, "--max-pages-per-site");
    given("crawl.max_depth", &args.max_depth, "--max-depth");
    given("crawl.max_time", &args.max_time, "--max-time");
    given("crawl.max_bytes", &args.max_bytes, "--max-bytes");
    given("crawl.types", &args.types, "--types");
    given("crawl.query", &args.query, "--query");
    given("crawl.filter", &args.filter, "--filter");
    given("crawl.preset", &args.preset, "--preset");
    given("archive.tree", &args.tree, "--tree");
    given("metrics.listen", &args.metrics, "--metrics");
    if !args.domain.is_empty() {
        out.push(("crawl.domains", args.domain.join(","), "--domain"));
    }
    if args.allow_private {
        out.push(("fetch.allow_private", "true".to_owned(), "--allow-private"));
    }
    if args.no_links {
        out.push(("crawl.links", "false".to_owned(), "--no-links"));
    }
    if args.no_index {
        out.push(("crawl.index", "false".to_owned(), "--no-index"));
    }
    if args.no_archive {
        out.push(("archive.enabled", "false".to_owned(), "--no-archive"));
    }
    out
}

/// What the engine gets to see of the settings.
pub fn engine_settings(settings: &Settings) -> EngineSettings {
    let (crawl, fetch) = (&settings.crawl, &settings.fetch);
    EngineSettings {
        software: format!("argiope/{}", env!("CARGO_PKG_VERSION")),
        delay: crawl.delay,
        connections: crawl.connections,
        per_host: crawl.connections_per_host,
        robots: crawl.robots,
        sitemaps: crawl.sitemaps,
        traps: crawl.traps,
        address_gap: crawl.address_gap,
        address_exempt: crawl.address_exempt.clone(),
        patience: Patience {
            backoff: crawl.backoff,
            backoff_max: crawl.backoff_max,
            slow_answer: crawl.slow_answer,
            give_up_after: crawl.give_up_after,
        },
        max_redirects: crawl.max_redirects,
        retries: u8::try_from(crawl.retries).unwrap_or(u8::MAX),
        retry_delay: crawl.retry_delay,
        memory: settings.store.memory,
        archive: settings.archive.enabled,
        segment_bytes: settings.archive.segment_size,
        min_free_disk: settings.archive.min_free_disk,
        links: crawl.links,
        index: index_settings(settings),
        revisit: RevisitSettings {
            policy: settings.revisit.policy,
            round: settings.revisit.round,
            per_day: settings.revisit.per_day.map(|n| n as f64),
            per_site_day: settings.revisit.per_site_day.map(|n| n as f64),
            rules: settings.revisit.rules.iter().filter_map(|rule| rule.parse().ok()).collect(),
            only: Vec::new(),
            conditional: settings.revisit.conditional,
            keep_unchanged: settings.archive.unchanged,
        },
        budgets: crawl.budgets,
        news: NewsSettings {
            source: super::news::source(&settings.news.sites),
            cycle: settings.news.cycle,
            recent: settings.news.recent,
            ..NewsSettings::default()
        },
        hold: Default::default(),
        fetch: FetchSettings {
            user_agent: fetch.user_agent.clone(),
            accept_language: fetch.accept_language.clone(),
            connect_timeout: fetch.connect_timeout,
            total_timeout: fetch.page_timeout,
            max_body_bytes: fetch.max_body,
            max_decoded_bytes: fetch.max_decoded,
            max_header_bytes: fetch.max_headers,
            max_bytes_per_second: fetch.max_bandwidth,
            allow_private: fetch.allow_private,
            dns_servers: fetch.dns_servers.clone(),
            resolve_overrides: fetch.hosts.clone(),
            proxy: fetch.proxy.clone(),
            extra_ca: fetch.extra_ca.clone(),
            ..FetchSettings::default()
        },
    }
}

/// How the word index is made.
fn index_settings(settings: &Settings) -> IndexSettings {
    let mut out = IndexSettings::default();
    if let Some(words) = &settings.index.stop_words {
        out.stop_words.clone_from(words);
    }
    out.language.clone_from(&settings.index.language);
    out
}

/// The job an order asks for.
pub fn new_job(settings: &Settings, urls: Vec<argiope_model::CanonicalUrl>) -> NewJob {
    let crawl = &settings.crawl;
    NewJob {
        seeds: urls,
        rule: crawl.scope,
        domains: crawl.domains.clone(),
        order: crawl.order,
        limits: crawl.limits,
        wanted: Wanted {
            types: crawl.types.clone(),
            skip_extensions: match &crawl.skip_extensions {
                SkipExtensions::Auto => default_skip_extensions(&crawl.types),
                SkipExtensions::These(list) => list.clone(),
            },
        },
        query: crawl.query,
        filter: None,
        aim: None,
    }
}

/// What is said before a crawl begins; `advise` says whether advice is welcome.
pub fn opening(settings: &Settings, advise: bool) -> Vec<&'static str> {
    let mut said = Vec::new();
    if !settings.crawl.robots {
        said.push("robots.txt is ignored; only do this with sites of your own.");
    }
    if advise && settings.fetch.contact.is_none() && !settings.fetch.allow_private {
        said.push(
            "Webmasters cannot reach you: name a page or mailbox with --set fetch.contact=…, or in the configuration file.",
        );
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Flags, load};
    use std::time::Duration;

    fn settings(set: &[&str]) -> Settings {
        let nowhere = tempfile::tempdir().unwrap();
        let file = nowhere.path().join("empty.toml");
        std::fs::write(&file, "").unwrap();
        let set: Vec<String> = set.iter().map(|word| (*word).to_owned()).collect();
        let flags = Flags { own: &[], set: &set };
        load(Some(&file), nowhere.path(), flags).unwrap().settings
    }

    #[test]
    fn settings_of_politeness_and_of_the_network_reach_the_engine() {
        let engine = engine_settings(&settings(&[
            "crawl.robots=ignore",
            "crawl.sitemaps=false",
            "crawl.address_gap=3s",
            "crawl.address_exempt=192.0.2.0/24",
            "crawl.backoff=4s",
            "crawl.backoff_max=5m",
            "crawl.slow_answer=6s",
            "crawl.give_up_after=7h",
            "crawl.max_redirects=8",
            "fetch.max_headers=9KB",
            "fetch.max_bandwidth=10MB",
            "fetch.dns_servers=192.0.2.53",
            "fetch.hosts=a.test=192.0.2.1",
            "fetch.proxy=socks5://proxy.test",
        ]));
        assert!(!engine.robots && !engine.sitemaps);
        assert_eq!(engine.address_gap, Some(Duration::from_secs(3)));
        assert_eq!(engine.address_exempt, ["192.0.2.0/24".parse().unwrap()]);
        let patience = &engine.patience;
        assert_eq!(patience.backoff, Duration::from_secs(4));
        assert_eq!(patience.backoff_max, Duration::from_secs(300));
        assert_eq!(patience.slow_answer, Duration::from_secs(6));
        assert_eq!(patience.give_up_after, Duration::from_secs(7 * 3_600));
        assert_eq!(engine.max_redirects, 8);
        assert_eq!(engine.fetch.max_header_bytes, 9_000);
        assert_eq!(engine.fetch.max_bytes_per_second, Some(10_000_000));
        assert_eq!(engine.fetch.dns_servers, ["192.0.2.53:53".parse().unwrap()]);
        let hosts = vec![("a.test".to_owned(), "192.0.2.1".parse().unwrap())];
        assert_eq!(engine.fetch.resolve_overrides, hosts);
        assert_eq!(engine.fetch.proxy, Some("socks5://proxy.test".parse().unwrap()));
    }

    #[test]
    fn what_is_said_first_is_said_only_where_it_helps() {
        assert!(opening(&settings(&[]), false).is_empty());
        assert!(opening(&settings(&[]), true)[0].contains("fetch.contact"));
        assert!(opening(&settings(&["fetch.contact=me@example.org"]), true).is_empty());
        assert!(opening(&settings(&["fetch.allow_private=true"]), true).is_empty());
        let ignored = opening(&settings(&["crawl.robots=ignore"]), false);
        assert_eq!(ignored, ["robots.txt is ignored; only do this with sites of your own."]);
    }
}
