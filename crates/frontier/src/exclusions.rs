//! What was excluded by hand: names of sites, hosts and origins that are not to be asked.
//!
//! * What this is: a set of names and whether one of them means a URL. A name is the site
//!   (`example.org`: all its hosts), a host (`www.example.org`), a host with its port or an origin
//!   (`http://example.org:8080`).
//! * Its place: the store keeps the names; the engine asks here for start URLs, for links, and
//!   for every host it loads, so that hosts nobody has met yet are covered as well.
//! * What is not here: what becomes of the rows of such a host ([`crate::Temper::refuses`]).

use argiope_model::{CanonicalUrl, Suffixes, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The names that are excluded, and since when.
#[derive(Clone, Debug)]
pub struct Exclusions {
    names: BTreeMap<Box<str>, Time>,
    suffixes: Arc<Suffixes>,
}

/// A text that means neither a site nor a host nor an origin.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} is no site, host or origin; give example.org, www.example.org or https://www.example.org"
)]
pub struct NotAName(String);

/// The name of a site, a host or an origin in the one form it is kept in.
pub fn site_name(text: &str) -> Result<Box<str>, NotAName> {
    let no = || NotAName(text.to_owned());
    let trimmed = text.trim();
    let is_origin = trimmed.contains("://");
    let whole = if is_origin { trimmed.to_owned() } else { format!("http://{trimmed}") };
    let url = CanonicalUrl::parse(&whole).map_err(|_| no())?;
    if url.path_and_query() != "/" || whole.contains(['#', '?', '@']) {
        return Err(no());
    }
    // A port that goes without saying says that one scheme is meant.
    let with_port = trimmed.trim_end_matches('/').ends_with(":80");
    Ok(if is_origin || with_port { url.origin() } else { url.authority() }.into())
}

impl Exclusions {
    /// These names, read with a list of suffixes.
    pub fn new(names: impl IntoIterator<Item = (Box<str>, Time)>, suffixes: Arc<Suffixes>) -> Self {
        Exclusions { names: names.into_iter().collect(), suffixes }
    }

    /// Whether nothing is excluded.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name that excludes a URL, the widest first, and since when.
    pub fn covering(&self, url: &CanonicalUrl) -> Option<(&str, Time)> {
        if self.names.is_empty() {
            return None;
        }
        let names = names_of(url, &self.suffixes);
        names.iter().find_map(|name| self.names.get_key_value(*name)).map(|(k, t)| (&**k, *t))
    }

    /// All names, and since when.
    pub fn names(&self) -> impl Iterator<Item = (&str, Time)> {
        self.names.iter().map(|(name, since)| (&**name, *since))
    }

    /// The names that forgiving this one takes back: itself, and those of hosts that it means.
    pub fn within(&self, name: &str) -> Vec<Box<str>> {
        let inside = |known: &str| {
            let url = url_of(known);
            known == name || url.is_some_and(|url| names_of(&url, &self.suffixes).contains(&name))
        };
        self.names.keys().filter(|known| inside(known)).cloned().collect()
    }

    /// The wider name with which this one is excluded: forgiving this one alone would not do.
    pub fn beyond(&self, name: &str) -> Option<&str> {
        let (by, _) = self.covering(&url_of(name)?)?;
        let own = self.within(name);
        (!own.iter().any(|n| **n == *by)).then_some(by)
    }

    /// Excludes a name.
    pub fn add(&mut self, name: &str, since: Time) {
        self.names.entry(name.into()).or_insert(since);
    }

    /// Takes a name back.
    pub fn remove(&mut self, name: &str) {
        self.names.remove(name);
    }
}

/// A URL of which a name speaks.
fn url_of(name: &str) -> Option<CanonicalUrl> {
    let whole = if name.contains("://") { name.to_owned() } else { format!("http://{name}") };
    CanonicalUrl::parse(&whole).ok()
}

/// The names that mean a URL, the widest first.
pub(crate) fn names_of<'a>(url: &'a CanonicalUrl, suffixes: &Suffixes) -> [&'a str; 4] {
    [suffixes.site_of(url.host()), url.host(), url.authority(), url.origin()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluding(names: &[&str]) -> Exclusions {
        let names = names.iter().map(|name| (site_name(name).unwrap(), Time(7)));
        Exclusions::new(names, Arc::new(Suffixes::built_in()))
    }

    #[test]
    fn a_name_means_a_site_a_host_or_an_origin() {
        let covers = |name: &str, url: &str| {
            excluding(&[name]).covering(&CanonicalUrl::parse(url).unwrap()).is_some()
        };
        for url in ["http://example.org/x", "https://a.b.example.org:81/"] {
            assert!(covers("EXAMPLE.org", url), "{url}");
        }
        assert!(covers("www.example.org", "https://www.example.org/x"));
        assert!(!covers("www.example.org", "https://example.org/x"));
        assert!(covers("http://example.org/", "http://example.org/x"));
        assert!(!covers("http://example.org", "https://example.org/x"));
        assert!(covers("127.0.0.1:81", "http://127.0.0.1:81/x"));
        assert!(!covers("127.0.0.1:81", "http://127.0.0.1/x"));
        assert!(!covers("example.org:80", "https://example.org/"));
        assert!(!covers("example.org", "http://example.org.test/"));
    }

    #[test]
    fn what_is_no_name_is_told() {
        for text in
            ["", " ", "example.org/x", "http://example.org/?q", "ftp://a.test", "a b", "u@a.test"]
        {
            assert!(site_name(text).is_err(), "{text}");
        }
        assert_eq!(&*site_name("bücher.example").unwrap(), "xn--bcher-kva.example");
        assert_eq!(&*site_name(" https://A.test:443/ ").unwrap(), "https://a.test");
    }

    #[test]
    fn forgiving_a_site_takes_back_its_hosts_and_not_the_other_way_round() {
        let all = excluding(&["example.org", "https://www.example.org", "other.test"]);
        assert_eq!(all.within("example.org").len(), 2);
        assert_eq!(all.within("www.example.org").len(), 1);
        assert!(all.within("none.test").is_empty());
        assert_eq!(all.beyond("www.example.org"), Some("example.org"));
        assert_eq!((all.beyond("example.org"), all.beyond("none.test")), (None, None));
    }
}
