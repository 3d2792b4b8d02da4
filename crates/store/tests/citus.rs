//! The store on Citus, where it is installed: a coordinator and two workers of our own.
//!
//! That everything behaves as on one server is shown by running the other tests on it:
//! `ARGIOPE_TEST_CITUS=8 cargo test -p argiope-store`. Here is what is true of Citus alone.

#![allow(clippy::unwrap_used)]

#[path = "support/cluster.rs"]
mod cluster;
#[path = "conformance/scene.rs"]
mod scene;

use argiope_store::{Batch, PostgresOptions, PostgresStore, Store};
use cluster::{CARELESS, Cluster, name_in};
use scene::*;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

fn citus() -> Option<&'static Cluster> {
    static SHARED: LazyLock<Option<Cluster>> = LazyLock::new(|| Cluster::citus(CARELESS));
    SHARED.as_ref()
}

const A: &str = "http://a.test/1";

#[test]
fn a_new_database_is_distributed_by_partition_and_a_crawl_goes_on_in_it() {
    let Some(cluster) = citus() else { return };
    let url = cluster.database();
    let store = sole_worker(&url);
    let rows = begun(&store, job(1), &[A, "http://b.test/1", "http://c.test/1"]);
    let links = vec![found("http://d.test/1", 1, 1, place(10))];
    let pages = rows.into_iter().map(|entry| fetched(entry, 5)).collect();
    store.commit(Batch { pages, discoveries: links, ..at(5) }).unwrap();
    check(&store);

    let tables = "SELECT string_agg(logicalrelid::text, ' ' ORDER BY logicalrelid::text)
        FROM pg_dist_partition WHERE partmethod = 'h'";
    let tables = cluster.sql(name_in(&url), tables);
    let expected = "argiope.calendar argiope.captures argiope.claims argiope.hosts argiope.inbox \
        argiope.links argiope.log argiope.log_0 argiope.parts argiope.payloads argiope.ready \
        argiope.robots argiope.schedule argiope.urls";
    assert_eq!(tables.trim(), expected);
    let together = "SELECT count(DISTINCT colocationid) FROM pg_dist_partition
        WHERE partmethod = 'h'";
    assert_eq!(cluster.sql(name_in(&url), together).trim(), "1", "a partition lies on one node");
    let spread = "SELECT count(DISTINCT nodename) FROM citus_shards
        WHERE table_name = 'argiope.urls'::regclass";
    assert_eq!(cluster.sql(name_in(&url), spread).trim(), "2");
    // Nothing is left where the programs connect.
    let local = "SELECT pg_relation_size('argiope.parts') + pg_relation_size('argiope.urls')";
    assert_eq!(cluster.sql(name_in(&url), local).trim(), "0");
}

#[test]
fn a_database_with_rows_is_distributed_when_that_is_said() {
    let Some(cluster) = citus() else { return };
    let url = cluster.database();
    let name = name_in(&url);
    // As if Citus had come later.
    PostgresStore::open_at(&url, PostgresOptions::default(), 3).unwrap();
    let taken = "UPDATE argiope.parts SET epoch = 2 WHERE part = 7";
    cluster.sql(name, taken);
    let store = sole_worker(&url);
    let rows = begun(&store, job(1), &[A]);
    let count = "SELECT count(*) FROM pg_dist_partition WHERE partmethod = 'h'";
    assert_eq!(cluster.sql(name, count).trim(), "0", "nobody moves rows unasked");
    store.leave().unwrap();
    let told = cluster.sql(name, "SELECT argiope.distribute()");
    assert_eq!(told.trim(), "the tables are distributed");
    let store = sole_worker(&url);
    finish(&store, 5, vec![fetched(rows[0].clone(), 5)]);
    check(&store);
    assert_eq!(cluster.sql(name, "SELECT count(*) FROM argiope.captures").trim(), "1");
    let told = cluster.sql(name, "SELECT argiope.distribute()");
    assert_eq!(told.trim(), "the tables are distributed", "once is enough");
}

#[test]
fn what_a_node_does_not_show_yet_is_waited_for_before_anything_is_read() {
    let Some(cluster) = citus() else { return };
    let url = cluster.database();
    let store = sole_worker(&url);
    let rows = begun(&store, job(1), &[A]);
    // As on a node that broke down before it heard of the end, and is back.
    let part = host(A).part;
    let set = |by: &str| {
        let sql = format!("UPDATE argiope.parts SET grp = grp {by} WHERE part = {part}");
        cluster.sql(name_in(&url), &sql)
    };
    set("- 1");
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            set("+ 1");
        });
        finish(&store, 5, vec![fetched(rows[0].clone(), 5)]);
    });
    assert!(begun.elapsed() > Duration::from_millis(700), "it was waited for");
    check(&store);
}

/// Says so when it goes, however that comes.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn nodes_that_break_down_in_the_middle_cost_nothing_but_time() {
    let Some(mut cluster) = Cluster::citus(CARELESS) else { return };
    let url = cluster.database();
    let options = PostgresOptions { patience: Duration::from_secs(60), ..Default::default() };
    let store = PostgresStore::open(&url, options).unwrap();
    let held = store.join("test", "", Duration::from_secs(600), Instant::now()).unwrap();
    store.acquire(&held.free).unwrap();
    // Forty hosts, in partitions on both nodes; each group fetches a page of each and finds the next.
    const HOSTS: usize = 40;
    const ROUNDS: usize = 60;
    let page = |host: usize, round: usize| format!("http://h{host}.test/{round}");
    let first: Vec<String> = (0..HOSTS).map(|host| page(host, 0)).collect();
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let mut rows = begun(&store, job(1), &first);
    let (done, mut restarts) = (AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        let done = &done;
        let breaking = scope.spawn(move || {
            while !done.load(Relaxed) {
                std::thread::sleep(Duration::from_millis(400));
                cluster.workers()[restarts % 2].crash();
                restarts += 1;
            }
            (cluster, restarts)
        });
        let at_end = AtEnd(done);
        for round in 1..=ROUNDS {
            assert_eq!(rows.len(), HOSTS, "round {round}");
            let now = round as i64 * 10;
            let links = (0..HOSTS).map(|host| {
                found(&page(host, round), 1, 1, place((round * HOSTS + host) as u64 + 100))
            });
            let discoveries = links.collect();
            let pages = rows.drain(..).map(|entry| fetched(entry, now)).collect();
            rows = store.commit(Batch { pages, discoveries, ..at(now) }).unwrap().queued;
        }
        drop(at_end);
        let (cluster, restarts) = breaking.join().unwrap();
        assert!(restarts > 2, "they broke down {restarts} times");
        let counted = counters(&store, 1);
        assert_eq!(counted.fetched, (HOSTS * ROUNDS) as u64);
        assert_eq!(counted.known, (HOSTS * (ROUNDS + 1)) as u64);
        for (part, head) in store.log_heads().unwrap() {
            let log = store.changes(part, 0, 9_999).unwrap();
            assert!(log.iter().map(|change| change.n).eq(1..=head), "partition {part} has holes");
        }
        check(&store);
        drop(cluster);
    });
}
