//! The networks of large content delivery networks, as these publish them.
//!
//! What `cdn` stands for in `crawl.address_exempt`. Thousands of sites of different owners share
//! each of these addresses, and the machines behind one are many: a pause per address would only
//! make the sites wait for each other. A range that has been given back since only loses its
//! pause; the delay of every host stays.
//! Not here: networks of hosting, where one address is one machine.

/// The ranges, by who publishes them.
#[rustfmt::skip]
pub(super) const NETWORKS: &[&str] = &[
    // Cloudflare
    "103.21.244.0/22", "103.22.200.0/22", "103.31.4.0/22", "104.16.0.0/13", "104.24.0.0/14",
    "108.162.192.0/18", "131.0.72.0/22", "141.101.64.0/18", "162.158.0.0/15", "172.64.0.0/13",
    "173.245.48.0/20", "188.114.96.0/20", "190.93.240.0/20", "197.234.240.0/22",
    "198.41.128.0/17", "2400:cb00::/32", "2405:8100::/32", "2405:b500::/32", "2606:4700::/32",
    "2803:f800::/32", "2a06:98c0::/29", "2c0f:f248::/32",
    // Fastly
    "23.235.32.0/20", "43.249.72.0/22", "103.244.50.0/24", "103.245.222.0/23",
    "103.245.224.0/24", "104.156.80.0/20", "140.248.64.0/18", "140.248.128.0/17",
    "146.75.0.0/17", "151.101.0.0/16", "157.52.64.0/18", "167.82.0.0/17", "167.82.128.0/20",
    "167.82.160.0/20", "167.82.224.0/20", "172.111.64.0/18", "185.31.16.0/22", "199.27.72.0/21",
    "199.232.0.0/16", "2a04:4e40::/32", "2a04:4e42::/32",
];
