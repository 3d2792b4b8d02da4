//! Which addresses are nobody's business: the rule that keeps a crawl out of private networks.
//!
//! Checked on each address that is really connected to, so that neither a redirect nor a name
//! that changes its address gets around it. Addresses that carry an IPv4 address inside (mapped,
//! compatible, 6to4, NAT64, Teredo) are judged by the one inside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the address is outside the public internet.
pub fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => is_private_v4(v4),
        IpAddr::V6(v6) => is_private_v6(v6),
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    matches!(
        (a, b, c),
        (0 | 10 | 127, _, _) // this network, private, loopback
            | (100, 64..=127, _) // carrier-grade NAT
            | (169, 254, _) // link-local
            | (172, 16..=31, _) // private
            | (192, 0, 0 | 2) // protocol assignments, documentation
            | (192, 88, 99) // 6to4 relays
            | (192, 168, _) // private
            | (198, 18 | 19, _) // benchmarking
            | (198, 51, 100) | (203, 0, 113) // documentation
            | (224..=255, _, _) // multicast, reserved, broadcast
    )
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let s = ip.segments();
    let inside = |hi: u16, lo: u16| {
        let ([a, b], [c, d]) = (hi.to_be_bytes(), lo.to_be_bytes());
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match s {
        // ::/96 holds the unspecified and loopback addresses and the compatible form;
        // 0.0.0.0/8 covers the first two.
        [0, 0, 0, 0, 0, 0, hi, lo] => inside(hi, lo),
        [0, 0, 0, 0, 0, 0xffff, hi, lo] => inside(hi, lo), // mapped
        [0, 0, 0, 0, 0xffff, 0, hi, lo] => inside(hi, lo), // translated (SIIT)
        [0x64, 0xff9b, 0, 0, 0, 0, hi, lo] => inside(hi, lo), // NAT64
        [0x64, 0xff9b, 1, ..] => true,                     // local-use NAT64
        [0x100, 0, 0, _, ..] => true,                      // discard only
        [0x2001, 0, .., hi, lo] => inside(!hi, !lo),       // Teredo, inverted
        [0x2001, 2, 0, ..] => true,                        // benchmarking
        [0x2001, 0x10..=0x2f, ..] => true,                 // ORCHID
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => true, // documentation
        [0x2002, hi, lo, ..] => inside(hi, lo),            // 6to4
        // Unique local fc00::/7, link-local fe80::/10, site-local fec0::/10, multicast ff00::/8.
        [first, ..] => first >= 0xfc00,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_disguise() {
        for ip in [
            "0.0.0.0",
            "10.1.2.3",
            "127.0.0.1",
            "127.255.0.9",
            "100.64.0.1",
            "100.127.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::192.168.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001:0:1:2:3:4:f5ff:fffe",
            "2001:db8::1",
            "3fff:1::1",
            "100::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(is_private(ip.parse().unwrap()), "{ip} is private");
        }
    }

    #[test]
    fn public_addresses_stay_public_in_every_disguise() {
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.20.0.1",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(!is_private(ip.parse().unwrap()), "{ip} is public");
        }
    }
}
