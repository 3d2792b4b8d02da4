//! How fast a crawl is copied between the embedded store and PostgreSQL.
//!
//! * What is measured: rows and bytes a second, into PostgreSQL and out of it, all tables; how much
//!   memory it takes meanwhile.
//! * Corpus: URLs on hosts of 100 each, a third of them fetched, with a capture, a payload and 300
//!   bytes of links; made from a counter.
//! * How to run: `cargo run --release -p argiope-store --example copy_rate -- URLS`, for instance
//!   `100000`. One line per way.
//! * What would falsify the design (tables in bulk): a rate within ten times of what commits reach.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/support/cluster.rs"]
mod cluster;
#[path = "../tests/conformance/scene.rs"]
mod scene;

use argiope_model::{SiteKey, Time};
use argiope_store::{
    Batch, Claims, Copied, CopyInto, EmbeddedStore, Payload, PostgresOptions, PostgresStore, Store,
};
use cluster::Cluster;
use scene::*;
use std::time::{Duration, Instant};

const ROOM: u64 = 48 << 20;
const LEASE: Duration = Duration::from_secs(60);

fn fill(store: &dyn Store, urls: u64) {
    give(store, 0, vec![new_job(job(1))], vec![]);
    let found =
        |n: u64| found(&format!("http://host{}.test/page/{n}.html", n / 100), 1, 0, place(n));
    for first in (0..urls).step_by(5_000) {
        give(store, 0, vec![], (first..(first + 5_000).min(urls)).map(found).collect());
    }
    let claims = Claims { named: Vec::new(), hosts: urls as usize, window: 34 };
    let hosts = store.commit(Batch { claims, ..at(1) }).unwrap().claimed;
    let rows: Vec<_> = hosts.into_iter().flat_map(|window| window.entries).collect();
    for (n, some) in rows.chunks(500).enumerate() {
        let pages = some.iter().map(|row| {
            let mut page = fetched(row.clone(), n as i64 + 2);
            let seed = row.key.url.to_be_bytes();
            page.links = Some(seed.iter().copied().cycle().take(300).collect());
            let site = SiteKey { part: row.key.host.part, site: row.key.host.host };
            let digest: Vec<u8> = seed.iter().copied().cycle().take(20).collect();
            page.payload = Some(Payload { site, digest: digest.try_into().unwrap() });
            page
        });
        finish(store, n as i64 + 2, pages.collect());
    }
}

/// Kilobytes of memory, by the line of `/proc/self/status` that tells them.
fn memory(line: &str) -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let told = status.lines().find_map(|l| l.strip_prefix(line)).unwrap_or("");
    told.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn measure(way: &str, copy: impl FnOnce() -> Copied) {
    // From here on the largest is counted anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let (begun, before) = (Instant::now(), memory("VmRSS:"));
    let copied = copy();
    let (time, rows) = (begun.elapsed().as_secs_f64(), copied.total());
    println!(
        "{way}: {rows} rows ({} URLs), {:.1} MB in {time:.2} s: {:.0} rows/s, {:.1} MB/s; {} kB of memory more",
        copied.of("urls"),
        copied.bytes as f64 / 1e6,
        rows as f64 / time,
        copied.bytes as f64 / 1e6 / time,
        memory("VmHWM:") - before,
    );
}

fn main() {
    let urls = std::env::args().nth(1).map_or(100_000, |text| text.parse().unwrap());
    let Some(cluster) = Cluster::start("max_wal_size = 4GB\n") else { return };
    let (url, dir) = (cluster.database(), tempfile::tempdir().unwrap());
    let begun = Instant::now();
    let first = EmbeddedStore::open(&dir.path().join("first"), ROOM).unwrap();
    fill(&first, urls);
    println!("filled in {:.1} s", begun.elapsed().as_secs_f64());
    let store = PostgresStore::open(&url, PostgresOptions::default()).unwrap();
    let into = CopyInto { archive: "there".into(), id: 1 };
    measure("into PostgreSQL", || {
        store.holding("copy", LEASE, || store.copy_in(&first, &into, &mut |_, _| {})).unwrap()
    });
    let to = dir.path().join("second");
    measure("out of PostgreSQL", || {
        store.holding("copy", LEASE, || store.copy_out(&to, Time(0), &mut |_, _| {})).unwrap()
    });
}
