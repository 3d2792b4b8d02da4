//! Flags of `watch`, `refresh` and `cycle`.

use crate::args::Crawl;
use clap::Args;

/// When pages are visited again.
#[derive(Debug, Args)]
pub struct Budget {
    /// Who decides when: fresh (learned change rates), fr, selective, fixed
    #[arg(long, value_name = "POLICY")]
    pub policy: Option<String>,
    /// How often a page is visited where nothing is known of it; the round of fr
    #[arg(long, value_name = "TIME")]
    pub round: Option<String>,
    /// Most pages asked for in a day (default: as many as there are, in a round)
    #[arg(long, value_name = "N")]
    pub per_day: Option<String>,
    /// Most pages asked of each site in a day
    #[arg(long, value_name = "N")]
    pub per_site_day: Option<String>,
    /// Most that is received in a second
    #[arg(long, value_name = "SIZE")]
    pub max_bandwidth: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope watch                                  keep everything that was crawled fresh
  argiope watch https://example.org/             crawl a site first, then keep it fresh
  argiope watch --per-day 20000 --per-site-day 1000
  argiope watch --set 'revisit.rules=example.org/news/* every 1h,*.pdf never'

The news of the sites that are followed (`argiope news sites`) are collected as well, each site in its own
short cycle; a site that is added or removed meanwhile is noticed within seconds.

It goes on until it is stopped; nothing is lost however it ends, and the same command goes on. Pages
that change often are visited often, as far as the budget allows; new links are followed as in the
crawl. Servers are asked whether a page has changed before it is sent again. Meanwhile everything can
be searched; `argiope status` tells how it stands, `argiope history URL` what became of a page.")]
pub struct Watch {
    #[command(flatten)]
    pub budget: Budget,
    #[command(flatten)]
    pub crawl: Crawl,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope refresh                                visit once what is due by now
  argiope refresh --all                          visit everything once
  argiope refresh example.org                    all pages of a site
  argiope refresh https://example.org/news       one page
  argiope refresh 'example.org/news/*'           pages whose address fits

New links on changed pages are followed as in the crawl that found them; a crawl that stopped at a
limit of pages stays there. Stopped in the middle, the same command goes on.")]
pub struct Refresh {
    /// Only these, due or not: a site, a URL, or an address with `*`
    #[arg(value_name = "SITE|URL")]
    pub only: Vec<String>,
    /// Visit everything, due or not
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub budget: Budget,
    /// From the end of an answer to the next request to the same host
    #[arg(long, value_name = "TIME")]
    pub delay: Option<String>,
    /// Requests at once
    #[arg(long, value_name = "N")]
    pub connections: Option<String>,
    /// Requests to one host at once; more than 1 only for your own sites
    #[arg(long, value_name = "N")]
    pub connections_per_host: Option<String>,
    /// robots.txt, robots tags and nofollow: obey, ignore (only for your own sites)
    #[arg(long, value_name = "POLICY")]
    pub robots: Option<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long)]
    pub allow_private: bool,
    /// Count back-links later, when they are asked for
    #[arg(long)]
    pub no_links: bool,
    /// Index words later, when somebody searches
    #[arg(long)]
    pub no_index: bool,
    /// Let Prometheus ask how it stands, at this address and port, under /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<String>,
    /// Any setting, as it is named in the configuration file; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  argiope cycle https://example.org/             how often it is visited, and when next
  argiope cycle https://example.org/ 6h          visit it every six hours
  argiope cycle https://example.org/ auto        leave it to the policy again

It holds at once, also while `watch` runs. Cycles are kept in quarters of an hour. For many pages at
once there are rules: `revisit.rules` in the configuration.")]
pub struct Cycle {
    /// A URL or a document number
    #[arg(value_name = "URL|ID")]
    pub target: String,
    /// From one visit to the next (15m, 6h, 2d, 1w), or auto
    #[arg(value_name = "TIME|auto")]
    pub every: Option<String>,
}
