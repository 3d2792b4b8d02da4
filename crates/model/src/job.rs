//! Jobs: one crawl order each.

use crate::{CanonicalUrl, JobId, Suffixes, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a URL is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Its content.
    #[default]
    Page,
    /// The URLs it lists: a sitemap. It is no page and does not count as one.
    Sitemap,
}

/// Which URLs belong to a job, as the user chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeRule {
    /// The very hosts of the start URLs (and of `--domain`).
    Host,
    /// The sites (registrable domains) of the start URLs (and of `--domain`).
    Domain,
    /// URLs beginning with a start URL up to its last slash.
    Prefix,
    /// The start URLs alone; nothing is followed.
    List,
    /// Anything.
    Any,
}

/// Which URLs belong to a job, ready to answer in constant time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// The rule.
    pub rule: ScopeRule,
    /// Host names (rule `Host`), sites (rule `Domain`), URL prefixes (rule `Prefix`).
    pub names: BTreeSet<String>,
}

impl Scope {
    /// Widens the scope by a start URL.
    pub fn admit_seed(&mut self, seed: &CanonicalUrl, suffixes: &Suffixes) {
        match self.rule {
            ScopeRule::Host => {
                self.names.insert(seed.host().to_owned());
            }
            ScopeRule::Domain => {
                self.names.insert(suffixes.site_of(seed.host()).to_owned());
            }
            ScopeRule::Prefix => {
                let path = seed.path();
                let keep = path.rfind('/').map_or(path.len(), |slash| slash + 1);
                self.names.insert(format!("{}{}", seed.origin(), &path[..keep]));
            }
            ScopeRule::List | ScopeRule::Any => {}
        }
    }

    /// Widens the scope by a domain the user named; hosts below it belong to it.
    pub fn admit_domain(&mut self, domain: &str) {
        if matches!(self.rule, ScopeRule::Host | ScopeRule::Domain) {
            self.names.insert(domain.trim_start_matches("*.").to_ascii_lowercase());
        }
    }

    /// Whether a discovered URL is inside. Start URLs are inside without asking.
    pub fn contains(&self, url: &CanonicalUrl, suffixes: &Suffixes) -> bool {
        match self.rule {
            ScopeRule::Any => true,
            ScopeRule::List => false,
            ScopeRule::Host => self.names.contains(url.host()),
            ScopeRule::Domain => {
                // A named domain may lie below its site (`docs.example.com`), so each
                // parent of the host is asked: as many look-ups as the name has dots.
                let site = suffixes.site_of(url.host());
                let mut name = url.host();
                loop {
                    if self.names.contains(name) {
                        return true;
                    }
                    match name.split_once('.') {
                        Some((_, parent)) if name != site && parent.len() >= site.len() => {
                            name = parent;
                        }
                        _ => return false,
                    }
                }
            }
            ScopeRule::Prefix => {
                // Only prefixes ending at a slash exist, so each directory of the URL is asked.
                let text = url.as_str();
                let start = url.origin().len();
                text.match_indices('/')
                    .filter(|(at, _)| *at >= start)
                    .any(|(at, _)| self.names.contains(&text[..=at]))
            }
        }
    }
}

/// The order in which a job visits what it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Level by level, within a level in the order of discovery.
    Breadth,
    /// The links of the newest page first, in the order they stand on it.
    Depth,
    /// What promises most first, by what is known of it so far.
    Best,
}

/// Where a job stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Pages fetched.
    pub pages: Option<u64>,
    /// Links from a start URL.
    pub depth: Option<u16>,
    /// Milliseconds of one run.
    pub time_ms: Option<u64>,
    /// Body bytes received.
    pub bytes: Option<u64>,
    /// Pages fetched of one site.
    pub site_pages: Option<u64>,
}

/// What happens to the query string of a discovered URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueryPolicy {
    /// Kept as written.
    Keep,
    /// Dropped.
    Drop,
    /// Parameters sorted by name.
    Sort,
}

impl QueryPolicy {
    /// Applies the policy.
    pub fn apply(self, url: CanonicalUrl) -> CanonicalUrl {
        match self {
            QueryPolicy::Drop if url.query().is_some() => url.without_query(),
            QueryPolicy::Sort => url.with_sorted_query(),
            _ => url,
        }
    }
}

/// Which kinds of content a job takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Groups (`html`, `text`, `pdf`, `image`, …) and full types (`application/json`), sorted.
    pub types: BTreeSet<String>,
    /// File-name endings that are not requested, lower case, sorted.
    pub skip_extensions: BTreeSet<String>,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobState {
    /// Being worked on, or interrupted.
    Open,
    /// Set aside by the user.
    Paused,
    /// Nothing is left.
    Done,
    /// A limit was reached; raising it goes on.
    Limited,
    /// Given up by the user.
    Dropped,
}

impl JobState {
    /// The name in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Limited => "limited",
            Self::Dropped => "dropped",
        }
    }
}

/// What a crawl is about: words, or pages like those that are wanted, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    /// The words as they were given.
    pub about: String,
    /// The example pages.
    pub like: Vec<CanonicalUrl>,
}

/// One crawl order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number in the data directory.
    pub id: JobId,
    /// When it was given.
    pub created: Time,
    /// Start URLs as given.
    pub seeds: Vec<CanonicalUrl>,
    /// What belongs to it.
    pub scope: Scope,
    /// The order of visits.
    pub order: Order,
    /// Where it stops.
    pub limits: Limits,
    /// What it takes.
    pub wanted: Wanted,
    /// What happens to query strings.
    pub query: QueryPolicy,
    /// The rules of its filter as they were written; `None`: everything inside the scope is taken.
    pub filter: Option<String>,
    /// What it is about; `None`: its order does not ask what pages say. A row of the store keeps it
    /// at its end, for the sake of older rows.
    #[serde(skip)]
    pub aim: Option<Aim>,
    /// Whether it collects the news of the sites that are followed: of front pages only what leads to
    /// articles, feeds and sections is asked for, and of articles nothing. There is one such job in a
    /// directory at most. A row of the store keeps it at its end, too.
    #[serde(skip)]
    pub news: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(rule: ScopeRule, seed: &str) -> (Scope, Suffixes) {
        let suffixes = Suffixes::built_in();
        let mut s = Scope { rule, names: BTreeSet::new() };
        s.admit_seed(&CanonicalUrl::parse(seed).unwrap(), &suffixes);
        (s, suffixes)
    }

    fn inside((s, suffixes): &(Scope, Suffixes), url: &str) -> bool {
        s.contains(&CanonicalUrl::parse(url).unwrap(), suffixes)
    }

    #[test]
    fn each_rule_draws_its_own_line() {
        let host = scope(ScopeRule::Host, "http://www.example.com/a/b");
        assert!(inside(&host, "https://www.example.com/z"));
        assert!(!inside(&host, "http://example.com/"));
        let domain = scope(ScopeRule::Domain, "http://www.example.co.uk/");
        assert!(inside(&domain, "http://deep.sub.example.co.uk/"));
        assert!(!inside(&domain, "http://other.co.uk/"));
        let prefix = scope(ScopeRule::Prefix, "http://h.test/docs/index.html");
        assert!(inside(&prefix, "http://h.test/docs/x/y"));
        assert!(!inside(&prefix, "http://h.test/doc"));
        assert!(!inside(&prefix, "http://h.test.evil.test/docs/"));
        let ip = scope(ScopeRule::Domain, "http://127.0.0.1:8080/");
        assert!(inside(&ip, "http://127.0.0.1/"));
        assert!(!inside(&ip, "http://127.0.0.2/"));
    }

    #[test]
    fn a_named_domain_may_lie_below_its_site() {
        let (mut s, suffixes) = scope(ScopeRule::Domain, "http://a.test/");
        s.admit_domain("docs.example.com");
        let both = (s, suffixes);
        assert!(inside(&both, "http://x.docs.example.com/"));
        assert!(!inside(&both, "http://www.example.com/"));
    }
}
