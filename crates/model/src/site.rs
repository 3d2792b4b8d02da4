//! Sites: the registrable domain of a host, by the public-suffix list.
//!
//! A data directory keeps the list it was made with and computes keys with that one for ever;
//! a newer list in a newer program changes scope, never keys.
//!
//! Invariant: the built-in list is in ASCII, as host names are: the published list writes
//! international suffixes in their own script, and no host would ever end in one.

use crate::SiteKey;
use publicsuffix::{List, Psl};
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_64;

/// The list as it is published.
const PUBLISHED: &str = include_str!("../data/public_suffix_list.dat");

/// The list as we use it.
static BUILT_IN: LazyLock<String> = LazyLock::new(|| in_ascii(PUBLISHED));

/// The version of the list inside this program.
pub const PUBLIC_SUFFIX_VERSION: &str = "2026-10-22";

/// A public-suffix list, ready to answer.
#[derive(Debug)]
pub struct Suffixes {
    list: List,
}

/// A text that is not a public-suffix list.
#[derive(Debug, thiserror::Error)]
#[error("this is not a public-suffix list")]
pub struct SuffixError;

impl Suffixes {
    /// The list inside this program.
    pub fn built_in() -> Self {
        Self::from_text(&BUILT_IN).expect("the built-in list parses; a test says so")
    }

    /// The text of the built-in list, to be kept with a new data directory.
    pub fn built_in_text() -> &'static str {
        &BUILT_IN
    }

    /// Reads a list from its text.
    pub fn from_text(text: &str) -> Result<Self, SuffixError> {
        let list: List = text.parse().map_err(|_| SuffixError)?;
        if list.is_empty() {
            return Err(SuffixError);
        }
        Ok(Suffixes { list })
    }

    /// The registrable domain of a host name as a canonical URL writes it.
    ///
    /// An IP address and a name without a registrable domain (`localhost`) are their own site.
    pub fn site_of<'a>(&self, host: &'a str) -> &'a str {
        if host.starts_with('[') || host.ends_with(|c: char| c.is_ascii_digit()) {
            return host;
        }
        let bare = host.strip_suffix('.').unwrap_or(host);
        match self.list.domain(bare.as_bytes()) {
            Some(domain) => {
                let len = domain.trim().as_bytes().len();
                &bare[bare.len() - len..]
            }
            None => bare,
        }
    }

    /// Whether a name is an ending under which others have their sites: `co.uk`, `github.io`. A name that the
    /// list does not know (`localhost`) is none.
    pub fn is_suffix(&self, name: &str) -> bool {
        let bare = name.strip_suffix('.').unwrap_or(name).as_bytes();
        let suffix = self.list.suffix(bare).filter(|suffix| suffix.is_known());
        suffix.is_some_and(|suffix| suffix.trim().as_bytes().len() == bare.len())
    }

    /// The partition a site belongs to.
    pub fn partition_of_site(site: &str) -> u16 {
        (xxh3_64(site.as_bytes()) & 0xfff) as u16
    }

    /// The key of a host's site.
    pub fn site_key(&self, host: &str) -> SiteKey {
        let hash = xxh3_64(self.site_of(host).as_bytes());
        let [site @ .., _, _] = hash.to_be_bytes();
        SiteKey { part: (hash & 0xfff) as u16, site }
    }
}

/// A list with the names in its rules as canonical URLs write them.
fn in_ascii(list: &str) -> String {
    let mut out = String::with_capacity(list.len());
    for line in list.lines() {
        match url::Host::parse(line) {
            Ok(url::Host::Domain(rule)) if !line.is_ascii() => out.push_str(&rule),
            _ => out.push_str(line), // ASCII, or not a rule.
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrable_domains_follow_the_list() {
        let s = Suffixes::built_in();
        for (host, site) in [
            ("www.example.com", "example.com"),
            ("a.b.example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("user.github.io", "user.github.io"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("localhost", "localhost"),
            ("site17.test", "site17.test"),
            ("www.site17.test", "site17.test"),
            ("www.example.com.", "example.com"),
            ("a.shishi.xn--55qx5d.cn", "shishi.xn--55qx5d.cn"),
            ("xn--55qx5d.cn", "xn--55qx5d.cn"),
            ("a.xn--a.example.com", "example.com"),
        ] {
            assert_eq!(s.site_of(host), site, "{host}");
        }
        for name in ["com", "co.uk", "github.io", "co.uk."] {
            assert!(s.is_suffix(name), "{name}");
        }
        for name in ["localhost", "example.com", "a.test", "test", "127.0.0.1", "[::1]"] {
            assert!(!s.is_suffix(name), "{name}");
        }
    }

    #[test]
    fn the_version_named_is_the_version_inside() {
        assert!(BUILT_IN.contains(&format!("VERSION: {PUBLIC_SUFFIX_VERSION}")));
        assert!(Suffixes::from_text("").is_err());
    }

    #[test]
    fn every_rule_of_the_built_in_list_is_in_ascii() {
        let rules = |list: &'static str| {
            list.lines().filter(|line| !line.is_empty() && !line.starts_with("//"))
        };
        assert_eq!(rules(PUBLISHED).filter(|rule| !rule.is_ascii()).count(), 459);
        assert_eq!(rules(&BUILT_IN).filter(|rule| !rule.is_ascii()).count(), 0);
        assert_eq!(rules(PUBLISHED).count(), rules(&BUILT_IN).count());
    }

    #[test]
    fn a_list_from_an_old_directory_is_read_as_it_was_written() {
        let old = Suffixes::from_text(PUBLISHED).unwrap();
        assert_eq!(old.site_of("a.shishi.xn--55qx5d.cn"), "xn--55qx5d.cn");
    }
}
