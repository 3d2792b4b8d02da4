//! Keys of URLs whose texts are known to be canonical, without parsing them again.
//!
//! Origins are few: the key of each is computed once and kept while there is room.

use argiope_model::{HostKey, Suffixes, UrlKey};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes an origin takes, about.
pub(crate) const ORIGIN: usize = 128;

/// Makes keys; remembers those of origins.
#[derive(Debug)]
pub(crate) struct Keys {
    origins: HashMap<Box<str>, HostKey>,
    /// Origins kept.
    room: usize,
    last: String,
    last_key: HostKey,
}

impl Keys {
    /// Remembers so many origins.
    pub fn new(room: usize) -> Self {
        let last_key = HostKey { part: 0, host: [0; 6] };
        Keys { origins: HashMap::new(), room, last: String::new(), last_key }
    }

    /// The key of a canonical URL's text; the same as `CanonicalUrl::key`.
    #[inline]
    pub fn of(&mut self, text: &str, pinned: &Suffixes) -> UrlKey {
        let split = split(text);
        let url = xxh3_64(&text.as_bytes()[split..]);
        let origin = &text[..split];
        let host = if self.last == origin { self.last_key } else { self.host(origin, pinned) };
        UrlKey { host, url }
    }

    fn host(&mut self, origin: &str, pinned: &Suffixes) -> HostKey {
        let key = match self.origins.get(origin) {
            Some(key) => *key,
            None => {
                let part = Suffixes::partition_of_site(pinned.site_of(host_of(origin)));
                let [_, _, host @ ..] = xxh3_64(origin.as_bytes()).to_be_bytes();
                let key = HostKey { part, host };
                if self.origins.len() >= self.room {
                    self.origins.clear();
                }
                self.origins.insert(origin.into(), key);
                key
            }
        };
        self.last.clear();
        self.last.push_str(origin);
        self.last_key = key;
        key
    }
}

/// Where the path of a canonical URL begins.
fn split(text: &str) -> usize {
    let bytes = text.as_bytes();
    let start = if bytes.get(4) == Some(&b's') { 8 } else { 7 };
    let path = bytes.get(start..).and_then(|rest| rest.iter().position(|b| *b == b'/'));
    path.map_or(bytes.len(), |at| start + at)
}

/// The host of an origin: without scheme and port.
pub fn host_of(origin: &str) -> &str {
    let authority = origin.split_once("://").map_or(origin, |(_, rest)| rest);
    match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => &authority[..colon],
        _ => authority,
    }
}

/// The site of an origin among those of its partition.
pub fn site_of(origin: &str, pinned: &Suffixes) -> u32 {
    // The low bits are the partition's.
    (xxh3_64(pinned.site_of(host_of(origin)).as_bytes()) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::CanonicalUrl;

    #[test]
    fn keys_are_those_of_the_model() {
        let pinned = Suffixes::built_in();
        let mut keys = Keys::new(2);
        for text in [
            "http://a.test/",
            "https://a.test/x?y=/z",
            "https://www.example.co.uk:8443/a/b",
            "http://[::1]:8080/x",
            "http://[::1]/",
            "http://127.0.0.1:1/",
            "https://localhost/?q",
            "http://a.test/again",
            "http://b.example.org./x",
        ] {
            let url = CanonicalUrl::parse(text).unwrap();
            assert_eq!(keys.of(url.as_str(), &pinned), url.key(&pinned), "{text}");
            assert_eq!(host_of(url.origin()), url.host());
        }
    }

    #[test]
    fn hosts_of_a_site_share_it() {
        let pinned = Suffixes::built_in();
        let site = |origin| site_of(origin, &pinned);
        assert_eq!(site("http://a.example.org"), site("https://b.example.org:81"));
        assert_ne!(site("http://example.org"), site("http://example.com"));
    }
}
