//! The sites whose news are followed.
//!
//! * What this is: what tells the site of a URL ([`place`]); the recipes of sites, asked by a URL, or by the feeds that
//!   they name.
//! * Its place: the command line reads them from a file; engine and reader ask.
//! * Invariants: the most specific recipe that is for a URL counts.

use crate::recipe::Recipe;
use argiope_model::CanonicalUrl;
use std::collections::HashMap;

/// What tells the site of a URL: its host, and with it the port where that is of a server at home, an address or a name
/// without a dot: there each port may have a site of its own.
pub fn place(url: &CanonicalUrl) -> &str {
    if is_home(url.host()) { url.authority() } else { url.host() }
}

/// Whether a place is a server at home: an address, or a name without a dot.
pub fn is_home(place: &str) -> bool {
    let host = host_of(place).trim_end_matches('.');
    !host.contains('.') || host.starts_with('[') || host.parse::<std::net::IpAddr>().is_ok()
}

/// The host of a place or a site.
pub fn host_of(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => place,
    }
}

/// The sites whose news are followed, each with its recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    recipes: Vec<Recipe>,
    /// Feeds that are named, and by which recipe.
    feeds: HashMap<CanonicalUrl, usize>,
    is_unknown: bool,
}

impl Sites {
    /// Those of these recipes.
    pub fn new(recipes: Vec<Recipe>) -> Self {
        let mut feeds = HashMap::new();
        for (at, recipe) in recipes.iter().enumerate() {
            for feed in recipe.feeds.iter().filter_map(|feed| CanonicalUrl::parse(feed).ok()) {
                // Of several that name one, whose host it is.
                let is_own = |at: usize| recipes[at].is_for(&feed);
                match feeds.get(&feed) {
                    Some(known) if is_own(*known) || !is_own(at) => {}
                    _ => drop(feeds.insert(feed, at)),
                }
            }
        }
        Sites { recipes, feeds, is_unknown: false }
    }

    /// Not yet known: who asks has nothing to take in, and parts with none that were followed.
    pub fn unknown() -> Self {
        Sites { is_unknown: true, ..Sites::default() }
    }

    /// Whether they are not known yet.
    pub fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// All of them, as given.
    pub fn recipes(&self) -> &[Recipe] {
        &self.recipes
    }

    /// Whether none is followed.
    pub fn is_empty(&self) -> bool {
        self.recipes.is_empty()
    }

    /// The recipe for a URL, if it is of a site that is followed.
    pub fn of(&self, url: &CanonicalUrl) -> Option<&Recipe> {
        let place = place(url);
        let fitting = self.recipes.iter().filter(|recipe| recipe.is_at(place));
        fitting.max_by_key(|recipe| recipe.site.len())
    }

    /// The recipe that names a URL as a feed, whosever host that is.
    pub fn naming(&self, feed: &CanonicalUrl) -> Option<&Recipe> {
        self.feeds.get(feed).and_then(|at| self.recipes.get(*at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feed_is_of_the_site_that_names_it_and_of_its_own_first() {
        let site = |site: &str, feeds: &[&str]| Recipe {
            site: site.to_owned(),
            feeds: feeds.iter().map(|feed| (*feed).to_owned()).collect(),
            ..Recipe::default()
        };
        let sites = Sites::new(vec![
            site("x.test", &["https://Many.test/feed/x", "https://many.test/feed/all"]),
            site("many.test", &["https://many.test/feed/all"]),
        ]);
        let naming = |url: &str| {
            let found = sites.naming(&CanonicalUrl::parse(url).unwrap());
            found.map(|recipe| recipe.site.as_str())
        };
        assert_eq!(naming("https://many.test/feed/x"), Some("x.test"));
        assert_eq!(naming("https://many.test/feed/all"), Some("many.test"));
        assert_eq!(naming("https://many.test/feed/y"), None);
    }
}
