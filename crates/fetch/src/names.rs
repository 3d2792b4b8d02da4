//! From host name to addresses, with a cache in front.
//!
//! * Its place: `fetcher` asks for every new connection and for every host it locates. Addresses
//!   come, in this order, from the name itself (it may be an address), from the settings, from
//!   the cache, from the servers the settings name (`dns`) or, without any, from the system.
//! * States of a cached name: *asked* (one request asks, the others wait for what it learns),
//!   *known* until its time is over.
//! * Invariants: a name is asked for once at a time, however many requests want it, and a
//!   request that is given up leaves the question to the next one. At most [`MAX_NAMES`] are kept.
//! * What is not here: whether an address may be connected to. That is checked on each address
//!   at each connect (`fetcher`), so a name that changes its address gains nothing.

use crate::dns::{Dns, Known, interleave};
use crate::failure::Failure;
use argiope_model::OutcomeKind;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// The system does not say for how long an answer is good.
const KEEP_SYSTEM: Duration = Duration::from_secs(300);
const KEEP_SYSTEM_FAILURES: Duration = Duration::from_secs(30);
const MAX_NAMES: usize = 16 << 10;

/// The addresses of a name in the order they should be tried.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    pub(crate) list: Arc<[IpAddr]>,
    /// When to ask again; `None` where the answer never changes.
    pub(crate) until: Option<Instant>,
}

/// A finished lookup.
#[derive(Clone, Debug)]
struct Lookup {
    found: Result<Arc<[IpAddr]>, &'static str>,
    until: Instant,
}

/// The place of a name in the cache; empty while the first request is asking.
type Slot = Arc<OnceCell<Lookup>>;

pub(crate) struct Names {
    fixed: HashMap<String, Arc<[IpAddr]>>,
    dns: Option<Dns>,
    cache: Mutex<HashMap<Box<str>, Slot>>,
}

impl Names {
    /// A resolver that takes the addresses of these names as given and asks these servers for
    /// the others, or the system if there are none.
    pub(crate) fn new(overrides: &[(String, IpAddr)], servers: &[SocketAddr]) -> Self {
        let mut fixed: HashMap<String, Arc<[IpAddr]>> = HashMap::new();
        for (name, ip) in overrides {
            let all = fixed.entry(without_dot(name).to_ascii_lowercase()).or_default();
            *all = all.iter().copied().chain([*ip]).collect();
        }
        let dns = (!servers.is_empty()).then(|| Dns::new(servers));
        Names { fixed, dns, cache: Mutex::default() }
    }

    /// All addresses of a host as a URL writes it, in the order they should be tried.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Addresses, Failure> {
        if let Some(ip) = literal(host) {
            return Ok(Addresses { list: [ip].into(), until: None });
        }
        let host = without_dot(host);
        if let Some(fixed) = self.fixed.get(host) {
            return Ok(Addresses { list: fixed.clone(), until: None });
        }
        if is_localhost(host) {
            // Never the business of a name server (RFC 6761).
            let list = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Ok(Addresses { list: list.into(), until: None });
        }
        let slot = self.slot(host);
        let lookup = slot.get_or_init(|| self.ask(host)).await;
        match &lookup.found {
            Ok(list) => Ok(Addresses { list: list.clone(), until: Some(lookup.until) }),
            Err(why) => Err(Failure::new(OutcomeKind::NoAddress, *why)),
        }
    }

    /// Puts the address that answered first, so that a dead one is not waited for again.
    pub(crate) fn prefer(&self, host: &str, ip: IpAddr) {
        let mut cache = self.lock();
        let Some(slot) = cache.get_mut(without_dot(host)) else { return };
        if let Some(Lookup { found: Ok(list), until }) = slot.get() {
            let mut order: Vec<_> = list.to_vec();
            order.sort_by_key(|a| *a != ip);
            let lookup = Lookup { found: Ok(order.into()), until: *until };
            *slot = Arc::new(OnceCell::new_with(Some(lookup)));
        }
    }

    /// Empties the cache, as time would.
    #[cfg(test)]
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    async fn ask(&self, host: &str) -> Lookup {
        let Known { addresses, good_for } = match &self.dns {
            Some(dns) => dns.lookup(host).await,
            None => ask_system(host).await,
        };
        Lookup { found: addresses.map(Into::into), until: Instant::now() + good_for }
    }

    /// The slot of a name; a new one if there is none or its time is over.
    fn slot(&self, host: &str) -> Slot {
        let mut cache = self.lock();
        if let Some(slot) = cache.get(host).filter(|slot| is_fresh(slot)) {
            return slot.clone();
        }
        if cache.len() >= MAX_NAMES {
            cache.retain(|_, slot| is_fresh(slot));
            // Still full of fresh names: half of them go, whichever.
            let mut keep = false;
            if cache.len() >= MAX_NAMES {
                cache.retain(|_, _| {
                    keep = !keep;
                    keep
                });
            }
        }
        let slot = Slot::default();
        cache.insert(host.into(), slot.clone());
        slot
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Slot>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The address that a host as a URL writes it is, if it is one.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// Whether a name always means this machine.
fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

/// A dot at the end says that a name is complete, which every name here is.
pub(crate) fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn is_fresh(slot: &Slot) -> bool {
    slot.get().is_none_or(|lookup| Instant::now() < lookup.until)
}

async fn ask_system(host: &str) -> Known {
    let addresses = match tokio::net::lookup_host((host, 0)).await {
        Ok(found) => {
            let mut all: Vec<IpAddr> = Vec::new();
            for ip in found.map(|a| a.ip()) {
                if !all.contains(&ip) {
                    all.push(ip);
                }
            }
            let v6_first = all.first().is_some_and(IpAddr::is_ipv6);
            // The system knows which family works better; within that, they take turns.
            let (first, second): (Vec<_>, Vec<_>) =
                all.into_iter().partition(|ip| ip.is_ipv6() == v6_first);
            match first.is_empty() {
                true => Err("no address: the name has none"),
                false => Ok(interleave(&first, &second)),
            }
        }
        // The system's words are the only thing that tells these apart.
        Err(e) if e.to_string().contains("emporary failure") => {
            Err("no address: the name service does not answer")
        }
        Err(_) => Err("no address: name not known"),
    };
    let good_for = if addresses.is_ok() { KEEP_SYSTEM } else { KEEP_SYSTEM_FAILURES };
    Known { addresses, good_for }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &Names, host: &str, found: Result<Arc<[IpAddr]>, &'static str>) {
        let until = Instant::now() + KEEP_SYSTEM;
        names.slot(host).set(Lookup { found, until }).unwrap();
    }

    #[test]
    fn the_cache_stays_small() {
        let names = Names::new(&[], &[]);
        for n in 0..3 * MAX_NAMES {
            known(&names, &format!("h{n}.test"), Err("no"));
        }
        assert!(names.lock().len() <= MAX_NAMES);
    }

    #[tokio::test]
    async fn an_address_that_answered_is_tried_first() {
        let names = Names::new(&[], &[]);
        let [a, b] = ["192.0.2.1", "192.0.2.2"].map(|ip| ip.parse::<IpAddr>().unwrap());
        known(&names, "h.test", Ok([a, b].into()));
        names.prefer("h.test", b);
        assert_eq!(&names.addresses("h.test.").await.unwrap().list[..], [b, a]);
    }

    #[tokio::test]
    async fn localhost_is_this_machine_whoever_serves_names() {
        // Nobody listens on the port; asking would end without an address.
        let names = Names::new(&[], &["127.0.0.1:9".parse().unwrap()]);
        for host in ["localhost", "localhost.", "www.localhost"] {
            let found = names.addresses(host).await.unwrap();
            assert!(found.list.iter().all(IpAddr::is_loopback) && found.until.is_none());
        }
    }
}
