//! From host name to addresses, through the system's resolver, with a cache in front.
//!
//! Addresses are kept for five minutes and failures for half a minute: the system does not say
//! for how long an answer is good, and a crawl asks for the same name again and again.

use crate::failure::Failure;
use argiope_model::OutcomeKind;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const KEEP_ADDRESSES: Duration = Duration::from_secs(300);
const KEEP_FAILURES: Duration = Duration::from_secs(30);
const MAX_NAMES: usize = 8192;

type Lookup = Result<Arc<[IpAddr]>, &'static str>;

pub(crate) struct Names {
    fixed: HashMap<String, Arc<[IpAddr]>>,
    cache: Mutex<HashMap<Box<str>, (Instant, Lookup)>>,
}

impl Names {
    /// A resolver that takes the addresses of these names as given.
    pub(crate) fn new(overrides: &[(String, IpAddr)]) -> Self {
        let mut fixed: HashMap<String, Arc<[IpAddr]>> = HashMap::new();
        for (name, ip) in overrides {
            let all = fixed.entry(name.to_ascii_lowercase()).or_default();
            *all = all.iter().copied().chain([*ip]).collect();
        }
        Names { fixed, cache: Mutex::default() }
    }

    /// All addresses of a host as a URL writes it, in the order they should be tried.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Arc<[IpAddr]>, Failure> {
        let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
        if let Ok(ip) = bare.parse() {
            return Ok([ip].into());
        }
        if let Some(fixed) = self.fixed.get(host) {
            return Ok(fixed.clone());
        }
        let lookup = match self.cached(host) {
            Some(lookup) => lookup,
            None => {
                let lookup = ask_system(host).await;
                self.remember(host, lookup.clone());
                lookup
            }
        };
        lookup.map_err(|why| Failure::new(OutcomeKind::NoAddress, why))
    }

    /// Puts the address that answered first, so that a dead one is not waited for again.
    pub(crate) fn prefer(&self, host: &str, ip: IpAddr) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, Ok(all))) = cache.get_mut(host) {
            let mut order: Vec<_> = all.to_vec();
            order.sort_by_key(|a| *a != ip);
            *all = order.into();
        }
    }

    fn cached(&self, host: &str) -> Option<Lookup> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.get(host).filter(|entry| is_fresh(entry)).map(|(_, lookup)| lookup.clone())
    }

    fn remember(&self, host: &str, lookup: Lookup) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_NAMES {
            cache.retain(|_, entry| is_fresh(entry));
            // Still full of fresh names: half of them go, whichever.
            let mut keep = false;
            if cache.len() >= MAX_NAMES {
                cache.retain(|_, _| {
                    keep = !keep;
                    keep
                });
            }
        }
        cache.insert(host.into(), (Instant::now(), lookup));
    }
}

fn is_fresh((at, lookup): &(Instant, Lookup)) -> bool {
    at.elapsed() < if lookup.is_ok() { KEEP_ADDRESSES } else { KEEP_FAILURES }
}

async fn ask_system(host: &str) -> Lookup {
    match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => {
            let mut all: Vec<IpAddr> = Vec::new();
            for ip in found.map(|a| a.ip()) {
                if !all.contains(&ip) {
                    all.push(ip);
                }
            }
            if all.is_empty() { Err("no address: the name has none") } else { Ok(all.into()) }
        }
        // The system's words are the only thing that tells these apart.
        Err(e) if e.to_string().contains("emporary failure") => {
            Err("no address: the name service does not answer")
        }
        Err(_) => Err("no address: name not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_stays_small() {
        let names = Names::new(&[]);
        for n in 0..3 * MAX_NAMES {
            names.remember(&format!("h{n}.test"), Err("no"));
        }
        assert!(names.cache.lock().unwrap().len() <= MAX_NAMES);
    }

    #[test]
    fn an_address_that_answered_is_tried_first() {
        let names = Names::new(&[]);
        let [a, b] = ["192.0.2.1", "192.0.2.2"].map(|ip| ip.parse::<IpAddr>().unwrap());
        names.remember("h.test", Ok([a, b].into()));
        names.prefer("h.test", b);
        assert_eq!(&names.cached("h.test").unwrap().unwrap()[..], [b, a]);
    }
}
