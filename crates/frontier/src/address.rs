//! The gap between requests to one address: many hosts may live on one machine.
//!
//! The gap runs from the start of one request to the start of the next, whichever hosts of the
//! address they are for. Networks that are known to carry thousands of sites (content delivery)
//! can be exempted.

use argiope_model::Time;
use std::collections::HashMap;
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

/// When each address may be asked again.
#[derive(Debug)]
pub(crate) struct Addresses {
    gap: Duration,
    exempt: Vec<Network>,
    free: HashMap<IpAddr, Time>,
}

/// Addresses remembered before those that are free again are forgotten.
const REMEMBERED: usize = 4096;

impl Addresses {
    pub fn new(gap: Duration, exempt: Vec<Network>) -> Self {
        Addresses { gap, exempt, free: HashMap::new() }
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
        let mut addresses = Addresses::new(Duration::from_millis(500), exempt);
        let [shared, cdn] = ["198.51.100.1", "192.0.2.9"].map(|ip| Some(ip.parse().unwrap()));
        addresses.taken(shared, Time(100));
        addresses.taken(cdn, Time(100));
        assert_eq!(addresses.free_at(shared), Time(600));
        assert_eq!(addresses.free_at(cdn), Time(0));
        assert_eq!(addresses.free_at(None), Time(0));
    }
}
