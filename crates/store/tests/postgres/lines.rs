//! Lost connections: every failure is typed, the next call works, and a commit is applied once.

use crate::cluster::{self, CARELESS, Cluster, name_in};
use crate::proxy::Proxy;
use crate::scene::*;
use argiope_store::{Batch, PostgresOptions, PostgresStore, Store, StoreError, WorkerReport};
use std::time::{Duration, Instant};

const A: &str = "http://a.test/1";
const B: &str = "http://b.test/1";

/// A worker that holds everything and gives up after so long.
fn worker(url: &str, patience: Duration) -> PostgresStore {
    let options = PostgresOptions { patience, ..PostgresOptions::default() };
    let store = PostgresStore::open(url, options).unwrap();
    let held = store.join("test", "", Duration::from_secs(600), Instant::now()).unwrap();
    store.acquire(&held.free).unwrap();
    store
}

#[test]
fn a_commit_whose_end_nobody_heard_is_applied_once() {
    let Some(cluster) = cluster::shared() else { return };
    let direct = cluster.database();
    let proxy = Proxy::before(cluster.dir());
    let store = worker(&proxy.url(name_in(&direct)), Duration::from_secs(20));
    let rows = begun(&store, job(1), &[A, B]);
    // The server has committed; its answer is lost.
    proxy.cut_after(b"COMMIT\0");
    let pages = rows.into_iter().map(|entry| fetched(entry, 5)).collect();
    let links = vec![found("http://a.test/2", 1, 1, place(10))];
    let told = store.commit(Batch { pages, discoveries: links, ..at(5) }).unwrap();
    assert_eq!(proxy.cuts(), 1, "it was cut where it was to be");
    assert_eq!(told.queued.len(), 1);
    let counted = counters(&store, 1);
    assert_eq!((counted.queued, counted.fetched, counted.known), (1, 2, 3));
    assert_eq!(store.changes(host(A).part, 0, 9).unwrap().len(), 1);
    assert_eq!(row(&store, A).visits, 1);
    check(&store);
    // And it goes on.
    finish(&store, 6, vec![fetched(told.queued[0].clone(), 6)]);
    assert_eq!(store.changes(host(A).part, 0, 9).unwrap().len(), 2);
    check(&store);
}

#[test]
fn a_commit_that_was_cut_before_its_end_is_sent_again() {
    let Some(cluster) = cluster::shared() else { return };
    let direct = cluster.database();
    let proxy = Proxy::before(cluster.dir());
    let store = worker(&proxy.url(name_in(&direct)), Duration::from_secs(20));
    let rows = begun(&store, job(1), &[A]);
    proxy.cut_after(b"INSERT 0 ");
    finish(&store, 5, vec![fetched(rows[0].clone(), 5)]);
    assert_eq!(proxy.cuts(), 1);
    assert_eq!(counters(&store, 1).fetched, 1);
    check(&store);
}

#[test]
fn what_cannot_be_reached_is_told_as_such_and_the_next_call_works() {
    let Some(cluster) = cluster::shared() else { return };
    let direct = cluster.database();
    let proxy = Proxy::before(cluster.dir());
    let store = worker(&proxy.url(name_in(&direct)), Duration::from_millis(300));
    let rows = begun(&store, job(1), &[A]);
    proxy.set_down(true);
    let read = store.urls(&[key(A)]).unwrap_err();
    assert!(read.is_passing(), "{read}");
    let text = read.to_string();
    assert!(text.contains("could not be reached") && text.contains("next call"), "{text}");
    let pages = vec![fetched(rows[0].clone(), 5)];
    let failed = store.commit(Batch { pages, ..at(5) }).unwrap_err();
    assert!(failed.is_passing(), "{failed}");
    let renewed = store.renew(&Default::default(), Instant::now()).unwrap_err();
    assert!(renewed.is_passing(), "{renewed}");
    proxy.set_down(false);
    assert!(store.urls(&[key(A)]).unwrap()[0].is_some());
    store.renew(&Default::default(), Instant::now()).unwrap();
    assert_eq!(row(&store, A).visits, 0, "nothing of it was written");
    finish(&store, 6, vec![fetched(rows[0].clone(), 6)]);
    check(&store);
    // A line that broke while nobody used it is no failure for who reads.
    proxy.cut();
    assert_eq!(row(&store, A).visits, 1);
}

#[test]
fn a_restarted_server_is_gone_on_with_and_nothing_committed_is_lost() {
    let Some(mut cluster) = Cluster::start(CARELESS) else { return };
    let store = worker(&cluster.database(), Duration::from_secs(20));
    let mut rows = begun(&store, job(1), &[A, B, "http://c.test/1"]);
    finish(&store, 5, vec![fetched(rows.remove(0), 5)]);
    cluster.restart();
    // The commit itself finds the line gone, and makes a new one.
    finish(&store, 6, vec![fetched(rows.remove(0), 6)]);
    store.renew(&Default::default(), Instant::now()).unwrap();
    assert_eq!(counters(&store, 1).fetched, 2);
    check(&store);
}

#[test]
fn a_statement_the_server_refuses_is_another_kind_of_failure() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let store = worker(&url, Duration::from_secs(20));
    begun(&store, job(1), &[A]);
    cluster.sql(name_in(&url), "ALTER TABLE argiope.links RENAME TO elsewhere");
    let failed = store.links(&[key(A)]).unwrap_err();
    assert!(matches!(failed, StoreError::Server { .. }) && !failed.is_passing(), "{failed}");
}

#[test]
fn a_renewal_on_a_silent_line_ends_in_time_for_another() {
    let Some(cluster) = cluster::shared() else { return };
    let direct = cluster.database();
    let proxy = Proxy::before(cluster.dir());
    let lease = Duration::from_secs(8);
    let store = PostgresStore::open(&proxy.url(name_in(&direct)), PostgresOptions::default());
    let store = store.unwrap();
    let held = store.join("test", "", lease, Instant::now()).unwrap();
    store.acquire(&held.free).unwrap();
    let report = WorkerReport::default();
    let before = store.renew(&report, Instant::now()).unwrap().deadline;
    proxy.fall_silent();
    let begun = Instant::now();
    let failed = store.renew(&report, begun).unwrap_err();
    assert!(failed.is_passing() && failed.to_string().contains("no answer for 2.0 s"), "{failed}");
    assert!(begun.elapsed() < lease / 2, "it took {:?}", begun.elapsed());
    let held = store.renew(&report, Instant::now()).unwrap();
    assert!(Instant::now() < before && held.deadline > before, "it never stopped");
    assert_eq!((held.parts.len(), held.lost.len()), (4096, 0));
}

#[test]
fn who_lives_is_renewed_while_a_dead_workers_commit_still_hangs() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let open = || PostgresStore::open(&url, PostgresOptions::default()).unwrap();
    let (dead, living) = (open(), open());
    let held = dead.join("dead", "", Duration::from_millis(200), Instant::now()).unwrap();
    dead.acquire(&held.free[..1]).unwrap();
    living.join("living", "", Duration::from_secs(600), Instant::now()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    // Its last commit holds the row of its partition, and nobody ends it.
    let name = name_in(&url);
    let holding = std::thread::scope(|scope| {
        let hold = "BEGIN; UPDATE argiope.parts SET log = log WHERE part = 0;
            SELECT pg_advisory_xact_lock(77); SELECT pg_sleep(4)";
        let commit = scope.spawn(move || cluster.sql(name, hold));
        let holds = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 77";
        while cluster.sql(name, holds).trim() == "0" {
            std::thread::sleep(Duration::from_millis(20));
        }
        let report = WorkerReport::default();
        let begun = Instant::now();
        let held = living.renew(&report, begun).unwrap();
        let took = begun.elapsed();
        commit.join().unwrap();
        (held.free.len(), took)
    });
    assert_eq!(holding.0, 4095, "what the dead one holds is not free yet");
    assert!(holding.1 < Duration::from_secs(3), "it took {:?}", holding.1);
    let held = living.renew(&WorkerReport::default(), Instant::now()).unwrap();
    assert_eq!((held.free.len(), held.workers), (4096, 1), "the next one buries it");
}
