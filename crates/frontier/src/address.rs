//! The gap between requests to one address: many hosts may live on one machine.
//!
//! The gap runs from the start of one request to the start of the next, whichever hosts of the
//! address they are for. Networks that are known to carry thousands of sites (content delivery)
//! can be exempted.
//!
//! Workers of a fleet keep it together: an address is asked for nothing before somebody outside says that it
//! is this worker's alone, or when its turn there is ([`Turn`]). Which is asked for when a host could be
//! asked, once for an address that is not shared.

use argiope_model::{HostKey, Time};
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// A range of addresses: `104.16.0.0/13`, `2606:4700::/32`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    bits: u128,
    mask: u128,
    v4: bool,
}

fn bits(ip: IpAddr) -> (u128, bool) {
    match ip.to_canonical() {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()) << 96, true),
        IpAddr::V6(v6) => (v6.to_bits(), false),
    }
}

impl Network {
    /// Whether the address lies in it.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let (bits, v4) = bits(ip);
        v4 == self.v4 && bits & self.mask == self.bits
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text} is no network; write it like 192.0.2.0/24 or 2001:db8::/32");
        let (ip, prefix) = text.split_once('/').map_or((text, None), |(ip, p)| (ip, Some(p)));
        let ip: IpAddr = ip.trim().parse().map_err(|_| wrong())?;
        let most = if ip.is_ipv4() { 32 } else { 128 };
        let prefix: u32 = match prefix {
            Some(p) => p.trim().parse().ok().filter(|p| *p <= most).ok_or_else(wrong)?,
            None => most,
        };
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        let (ip, v4) = bits(ip);
        Ok(Network { bits: ip & mask, mask, v4 })
    }
}

/// How a worker of a fleet stands with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Nobody else asks there, from this time on, until that is taken back.
    Alone(Time),
    /// One request, between these times.
    Slot(Time, Time),
    /// Not known yet: to be asked for again at this time.
    Later(Time),
}

/// What is known of an address that others may ask too.
#[derive(Debug)]
enum Standing {
    Alone,
    /// Until then one request may be sent.
    Slot(Time),
    /// It is being asked for; these wait.
    Asked(BTreeSet<HostKey>),
}

/// When each address may be asked again.
#[derive(Debug)]
pub(crate) struct Addresses {
    gap: Duration,
    exempt: Vec<Network>,
    free: HashMap<IpAddr, Time>,
    /// Whether turns are asked for.
    turns: bool,
    standing: HashMap<IpAddr, Standing>,
}

/// Addresses remembered before those that are free again are forgotten.
const REMEMBERED: usize = 4096;
/// Addresses held alone before all but the newest are forgotten, to be asked for again.
const HELD: usize = 1 << 16;

impl Addresses {
    pub fn set_gap(&mut self, gap: Duration) {
        self.gap = gap;
    }

    pub fn new(gap: Duration, exempt: Vec<Network>, turns: bool) -> Self {
        Addresses { gap, exempt, free: HashMap::new(), turns, standing: HashMap::new() }
    }

    /// Whether a turn has to be asked for before the address may be asked; it is then being asked for.
    pub fn wants_turn(&mut self, ip: Option<IpAddr>, now: Time) -> Option<IpAddr> {
        let ip = ip.filter(|_| self.turns && self.matter())?;
        match self.standing.get(&ip) {
            Some(Standing::Alone) => return None,
            Some(Standing::Slot(until)) if *until >= now => return None,
            _ if self.is_exempt(ip) => return None,
            _ => {}
        }
        self.standing.insert(ip, Standing::Asked(BTreeSet::new()));
        Some(ip)
    }

    /// Notes that a host waits for a turn at its address, where that is being asked for.
    pub fn waits(&mut self, ip: Option<IpAddr>, host: HostKey) {
        if let Some(Standing::Asked(hosts)) = ip.and_then(|ip| self.standing.get_mut(&ip)) {
            hosts.insert(host);
        }
    }

    /// Whether a turn is being asked for.
    pub fn is_asked(&self, ip: Option<IpAddr>) -> bool {
        self.turns
            && ip.is_some_and(|ip| matches!(self.standing.get(&ip), Some(Standing::Asked(_))))
    }

    /// A turn has come; says who waited for it.
    pub fn turn(&mut self, ip: IpAddr, turn: Turn) -> BTreeSet<HostKey> {
        if self.standing.len() >= HELD {
            self.standing.retain(|_, standing| !matches!(standing, Standing::Alone));
        }
        let (from, standing) = match turn {
            Turn::Alone(from) => (from, Some(Standing::Alone)),
            Turn::Slot(from, until) => (from, Some(Standing::Slot(until))),
            Turn::Later(at) => (at, None),
        };
        let free = self.free.entry(ip).or_default();
        *free = from.max(*free);
        let before = match standing {
            Some(standing) => self.standing.insert(ip, standing),
            None => self.standing.remove(&ip),
        };
        match before {
            Some(Standing::Asked(hosts)) => hosts,
            _ => BTreeSet::new(),
        }
    }

    /// An address is no longer this worker's alone; says whether that holds. While a turn is being asked for it
    /// does not: the answer may be that it is.
    pub fn share(&mut self, ip: IpAddr) -> bool {
        match self.standing.get(&ip) {
            Some(Standing::Asked(_)) => return false,
            Some(Standing::Alone) => drop(self.standing.remove(&ip)),
            Some(Standing::Slot(_)) | None => {}
        }
        true
    }

    /// Whether addresses matter at all.
    pub fn matter(&self) -> bool {
        !self.gap.is_zero()
    }

    /// From when on the address may be asked.
    pub fn free_at(&self, ip: Option<IpAddr>) -> Time {
        ip.and_then(|ip| self.free.get(&ip)).copied().unwrap_or_default()
    }

    /// A request is sent to it now.
    pub fn taken(&mut self, ip: Option<IpAddr>, now: Time) {
        let Some(ip) = ip.filter(|ip| self.matter() && !self.is_exempt(*ip)) else { return };
        if self.free.len() >= REMEMBERED {
            self.free.retain(|_, free| *free > now);
        }
        self.free.insert(ip, now.plus(self.gap));
        // A slot is for one request.
        if self.turns && matches!(self.standing.get(&ip), Some(Standing::Slot(_))) {
            self.standing.remove(&ip);
        }
    }

    fn is_exempt(&self, ip: IpAddr) -> bool {
        self.exempt.iter().any(|network| network.contains(ip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let net: Network = "104.16.0.0/13".parse().unwrap();
        let has = |text: &str| net.contains(text.parse().unwrap());
        assert!(has("104.16.0.1") && has("104.23.255.255") && has("::ffff:104.16.0.1"));
        assert!(!has("104.24.0.0") && !has("6810::"));
        let net: Network = "2606:4700::/32".parse().unwrap();
        assert!(net.contains("2606:4700:1::1".parse().unwrap()));
        assert!(!net.contains("2606:4701::1".parse().unwrap()));
        let one: Network = "192.0.2.7".parse().unwrap();
        assert!(one.contains("192.0.2.7".parse().unwrap()));
        assert!(!one.contains("192.0.2.8".parse().unwrap()));
        let all: Network = "0.0.0.0/0".parse().unwrap();
        assert!(all.contains("8.8.8.8".parse().unwrap()) && !all.contains("::1".parse().unwrap()));
        for wrong in ["", "x/3", "192.0.2.0/33", "::/129", "192.0.2.0/-1"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_gap_runs_from_start_to_start_but_not_where_it_is_exempt() {
        let exempt = vec!["192.0.2.0/24".parse().unwrap()];
        let mut addresses = Addresses::new(Duration::from_millis(500), exempt, false);
        let [shared, cdn] = ["198.51.100.1", "192.0.2.9"].map(|ip| Some(ip.parse().unwrap()));
        addresses.taken(shared, Time(100));
        addresses.taken(cdn, Time(100));
        assert_eq!(addresses.free_at(shared), Time(600));
        assert_eq!(addresses.free_at(cdn), Time(0));
        assert_eq!(addresses.free_at(None), Time(0));
    }
}
