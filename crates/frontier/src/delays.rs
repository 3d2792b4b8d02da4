//! Delays that were set by hand for sites, hosts and origins.
//!
//! * What this is: names, in the form of [`crate::site_name`], and how long to wait between requests to the hosts
//!   they mean. The narrowest name counts: an origin before its host, a host before its site.
//! * Its place: the store keeps the names; the frontier asks here for every host it loads.
//! * What is not here: what a robots.txt or a server asks for. That comes on top, whatever is set here.

use crate::exclusions::names_of;
use crate::heap::Frontier;
use argiope_model::{CanonicalUrl, HostKey, Suffixes, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Delays by name.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    names: BTreeMap<Box<str>, Duration>,
    suffixes: Option<Arc<Suffixes>>,
}

impl Delays {
    /// These delays in milliseconds, read with a list of suffixes.
    pub fn new(names: impl IntoIterator<Item = (Box<str>, u64)>, suffixes: Arc<Suffixes>) -> Self {
        let names = names.into_iter().map(|(name, ms)| (name, Duration::from_millis(ms)));
        Delays { names: names.collect(), suffixes: Some(suffixes) }
    }

    /// The delay of a URL's host, where one was set, and the name it was set for.
    pub fn of(&self, url: &CanonicalUrl) -> Option<(&str, Duration)> {
        if self.names.is_empty() {
            return None;
        }
        let names = names_of(url, self.suffixes.as_ref()?);
        let found = names.iter().rev().find_map(|name| self.names.get_key_value(*name));
        found.map(|(name, delay)| (&**name, *delay))
    }

    /// Sets a delay, or takes it back.
    pub fn set(&mut self, name: &str, delay: Option<Duration>) {
        match delay {
            Some(delay) => self.names.insert(name.into(), delay),
            None => self.names.remove(name),
        };
    }

    /// All names and their delays.
    pub fn names(&self) -> impl Iterator<Item = (&str, Duration)> {
        self.names.iter().map(|(name, delay)| (&**name, *delay))
    }
}

impl Frontier {
    /// The delays that are set by hand from now on. Who waits already waits as if they had been set before its last
    /// answer, but never shorter than its robots.txt or its server asked for.
    pub fn set_delays(&mut self, delays: Delays, now: Time) {
        self.delays = delays;
        let keys: Vec<HostKey> = self.hosts.keys().copied().collect();
        for key in keys {
            let Some(host) = self.hosts.get(&key) else { continue };
            let before = host.delay.unwrap_or(self.rules.delay);
            let Some(url) = host.any_url() else {
                // It is looked up when the host has a row again.
                self.change(key, now, |host, _| host.named = false);
                continue;
            };
            let delay = self.delays.of(url).map(|(_, delay)| delay);
            let after = delay.unwrap_or(self.rules.delay);
            let shift = after.as_millis() as i64 - before.as_millis() as i64;
            self.change(key, now, |host, _| {
                (host.delay, host.named) = (delay, true);
                host.free.iter_mut().for_each(|free| free.0 = free.0.saturating_add(shift));
            });
        }
    }

    /// Looks up the delay of a host that has got its first row.
    pub(crate) fn name_host(&mut self, key: HostKey) {
        let Some(host) = self.hosts.get_mut(&key).filter(|host| !host.named) else { return };
        let Some(url) = host.any_url() else { return };
        host.delay = self.delays.of(url).map(|(_, delay)| delay);
        host.named = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_name_counts() {
        let names = [
            ("example.org", 1_000),
            ("www.example.org", 2_000),
            ("https://www.example.org", 3_000),
            ("127.0.0.1:81", 4_000),
        ];
        let names = names.map(|(name, ms)| (name.into(), ms));
        let mut delays = Delays::new(names, Arc::new(Suffixes::built_in()));
        let of = |delays: &Delays, url: &str| {
            delays.of(&CanonicalUrl::parse(url).unwrap()).map(|(_, d)| d.as_millis())
        };
        assert_eq!(of(&delays, "http://example.org/x"), Some(1_000));
        assert_eq!(of(&delays, "http://a.example.org/x"), Some(1_000));
        assert_eq!(of(&delays, "http://www.example.org/"), Some(2_000));
        assert_eq!(of(&delays, "https://www.example.org/"), Some(3_000));
        assert_eq!(of(&delays, "http://127.0.0.1:81/"), Some(4_000));
        assert_eq!(of(&delays, "http://127.0.0.1/"), None);
        delays.set("www.example.org", None);
        assert_eq!(of(&delays, "http://www.example.org/"), Some(1_000));
        assert_eq!(of(&Delays::default(), "http://example.org/"), None);
    }
}
