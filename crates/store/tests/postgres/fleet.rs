//! Leases, shares, and what workers tell each other.

use crate::cluster::{self, name_in};
use crate::scene::*;
use argiope_frontier::{Errand, Release, RobotsFile};
use argiope_model::{FetchOutcome, Job, JobId, JobState, Limits, OutcomeKind, Time};
use argiope_store::{
    Batch, FleetRows, Held, JobChange, PostgresOptions, PostgresStore, RobotsTold, SegmentKind,
    Share, Store, StoreError, Turn, Waiting, WorkerReport, rebalance,
};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(600);
const SHORT: Duration = Duration::from_millis(1_200);

fn open(url: &str) -> PostgresStore {
    PostgresStore::open(url, PostgresOptions::default()).unwrap()
}

fn joined(url: &str, name: &str, length: Duration) -> (PostgresStore, Held) {
    let store = open(url);
    let held = store.join(name, "127.0.0.1:9", length, Instant::now()).unwrap();
    (store, held)
}

fn renew(store: &PostgresStore) -> Held {
    store.renew(&WorkerReport::default(), Instant::now()).unwrap()
}

/// What a worker does at each renewal.
fn balance(store: &PostgresStore) -> Held {
    let held = renew(store);
    let todo = rebalance(held.workers, held.rank, held.parts.len(), held.free.len());
    store.acquire(&held.free[..todo.take]).unwrap();
    store.release(&held.parts[held.parts.len() - todo.give..]).unwrap();
    renew(store)
}

/// Two URLs of different partitions.
const A: &str = "http://a.test/1";
const B: &str = "http://b.test/1";

/// Two workers: the first holds the partition of A alone, the second all others.
fn two(url: &str) -> (PostgresStore, PostgresStore) {
    let (first, _) = joined(url, "first", LONG);
    first.acquire(&[host(A).part]).unwrap();
    let (second, held) = joined(url, "second", LONG);
    second.acquire(&held.free).unwrap();
    assert_ne!(host(A).part, host(B).part);
    (first, second)
}

/// They leave; one that holds everything can check everything.
fn one_for_all(url: &str, workers: &[PostgresStore]) -> PostgresStore {
    workers.iter().for_each(|store| store.leave().unwrap());
    sole_worker(url)
}

#[test]
fn workers_that_join_and_leave_share_all_partitions_fairly() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, held) = joined(&url, "first", LONG);
    assert_eq!((held.workers, held.rank, held.free.len()), (1, 0, 4096));
    assert_eq!(balance(&first).parts.len(), 4096);
    let (second, held) = joined(&url, "second", LONG);
    assert_eq!((held.workers, held.rank, held.free.len()), (2, 1, 0));
    let (third, _) = joined(&url, "third", LONG);
    let workers = [&first, &second, &third];
    for _ in 0..2 {
        workers.iter().for_each(|store| drop(balance(store)));
    }
    let held: Vec<BTreeSet<u16>> =
        workers.iter().map(|store| renew(store).parts.into_iter().collect()).collect();
    assert_eq!(held.iter().map(BTreeSet::len).collect::<Vec<_>>(), [1366, 1365, 1365]);
    let all: BTreeSet<u16> = held.iter().flatten().copied().collect();
    assert_eq!(all.len(), 4096, "each is held by one");
    second.leave().unwrap();
    assert_eq!(renew(&first).free.len(), 1365, "who leaves gives back at once");
    assert_eq!(balance(&first).parts.len(), 2048);
    assert_eq!(balance(&third).parts.len(), 2048);
    let FleetRows { workers: rows, free, .. } = first.fleet().unwrap();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.name.as_str(), row.parts)).collect();
    assert_eq!((rows, free), (vec![("first", 2048), ("third", 2048)], 0));
}

#[test]
fn who_does_not_renew_is_dead_for_everybody_and_writes_nothing() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let sent = Instant::now();
    let (slow, held) = joined(&url, "slow", SHORT);
    assert_eq!(held.deadline, sent.max(held.deadline - SHORT) + SHORT);
    assert!(held.deadline <= Instant::now() + SHORT, "it counts from when it was asked");
    slow.acquire(&held.free).unwrap();
    let rows = begun(&slow, job(1), &[A]);
    let (other, held) = joined(&url, "other", LONG);
    assert_eq!((held.workers, held.free.len()), (2, 0));
    std::thread::sleep(SHORT + Duration::from_millis(100));
    let held = renew(&other);
    assert_eq!((held.workers, held.free.len()), (1, 4096), "its partitions are free");
    // It has not heard of it yet and goes on.
    let late = slow.commit(Batch { pages: vec![fetched(rows[0].clone(), 5)], ..at(5) });
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })));
    assert!(row(&other, A).fetched_at.is_none() && other.captures(key(A)).unwrap().is_empty());
    other.acquire(&held.free).unwrap();
    let late = slow.renew(&WorkerReport::default(), Instant::now());
    assert!(matches!(late, Err(StoreError::LeaseEnded)));
    assert!(slow.held().is_empty());
    // Who takes over finds the claim that was left open.
    assert_eq!(other.claims_in(&held.free).unwrap(), [host(A)]);
    let refills = vec![argiope_frontier::Refill { host: host(A), after: None, limit: 9 }];
    let told = other.commit(Batch { refills, ..at(9) }).unwrap();
    assert_eq!(told.refills[0].entries, rows);
    finish(&other, 10, vec![fetched(rows[0].clone(), 10)]);
    check(&other);
}

#[test]
fn a_partition_that_was_taken_and_given_back_is_another_lease() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let store = sole_worker(&url);
    let rows = begun(&store, job(1), &[A, B]);
    // As if it had been lost and won again between two renewals.
    let again = format!("UPDATE argiope.parts SET epoch = epoch + 2 WHERE part = {}", host(A).part);
    cluster.sql(name_in(&url), &again);
    let pages = rows.into_iter().map(|entry| fetched(entry, 5)).collect();
    let late = store.commit(Batch { pages, ..at(5) });
    assert!(matches!(late, Err(StoreError::LeaseLost { part }) if part == host(A).part));
    assert!(row(&store, B).fetched_at.is_none(), "whole or not at all");
    assert_eq!(store.captures(key(B)).unwrap(), []);
    check(&store);
    // The next renewal tells; what is held anew can be written again.
    let held = renew(&store);
    assert_eq!(held.lost, [host(A).part]);
    let released = Release { asleep: false, ..release(host(A), 0) };
    store.commit(Batch { releases: vec![released], ..at(6) }).unwrap();
}

#[test]
fn what_is_found_of_anothers_partition_reaches_its_owner_once() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = two(&url);
    let rows = begun(&first, job(1), &[A]);
    assert_eq!(rows.len(), 1);
    let links = vec![found(B, 1, 1, place(10)), found("http://a.test/2", 1, 1, place(11))];
    let page = fetched(rows[0].clone(), 2_000);
    let pages = vec![page];
    let told = first.commit(Batch { pages, discoveries: links, ..at(2_000) }).unwrap();
    assert_eq!(told.queued.len(), 1, "its own is told at once");
    assert_eq!(first.urls(&[key(B)]).unwrap(), [None], "the other is on its way");
    std::thread::sleep(Duration::from_millis(20));
    let fleet = first.fleet().unwrap();
    let [one, two] = &fleet.workers[..] else { panic!("{fleet:?}") };
    assert_eq!((one.waiting, two.waiting.messages), (Waiting::default(), 1));
    assert!(two.waiting.lag >= Duration::from_millis(20), "{fleet:?}");
    assert_eq!(fleet.waiting, two.waiting);
    assert_eq!(counters(&first, 1).queued, 2, "and counts as queued");
    assert_eq!(told.counters(argiope_model::JobId(1)).unwrap().queued, 2);
    let claimed = claim_rows(&second, 4_000);
    assert_eq!(claimed.iter().map(|e| e.url.as_str()).collect::<Vec<_>>(), [B]);
    assert_eq!(first.fleet().unwrap().waiting, Waiting::default());
    assert_eq!(claimed[0].doc.part(), host(B).part);
    assert_eq!(counters(&second, 1).queued, 2);
    // Found again, it is known.
    let links = vec![found(B, 1, 1, place(12))];
    first.commit(Batch { discoveries: links, ..at(5_000) }).unwrap();
    second.commit(at(7_000)).unwrap();
    assert_eq!(counters(&second, 1).queued, 2);
    finish(&second, 8_000, vec![fetched(claimed[0].clone(), 8_000)]);
    let left = claim_rows(&first, 9_000);
    assert!(left.is_empty(), "a.test is loaded already");
    assert_eq!(counters(&first, 1).queued, 1);
    assert_eq!(cluster.sql(name_in(&url), "SELECT count(*) FROM argiope.inbox").trim(), "0");
    check(&one_for_all(&url, &[first, second]));
}

#[test]
fn messages_are_looked_for_soon_while_some_come_and_less_often_where_none_do() {
    let Some(cluster) = cluster::shared() else { return };
    let (first, second) = two(&cluster.database());
    begun(&first, job(1), &[A]);
    let mut now = 10_000;
    let look = |now: &mut i64| {
        let due = second.commit(at(*now)).unwrap().next_due.unwrap().0;
        let pause = due - *now;
        *now = due;
        pause
    };
    let pauses: Vec<i64> = (0..6).map(|_| look(&mut now)).collect();
    assert!(pauses.is_sorted() && pauses[0] <= 200 && pauses[5] == 500, "{pauses:?}");
    give(&first, now, Vec::new(), vec![found(B, 1, 1, place(10))]);
    assert_eq!(claim_rows(&second, now).len(), 1);
    assert!(look(&mut now) <= 200, "more may be on its way");
    // Where no job is open nothing is to be expected.
    give(&first, now, vec![JobChange::State(JobId(1), JobState::Paused)], Vec::new());
    let pauses: Vec<i64> = (0..6).map(|_| look(&mut now)).collect();
    assert_eq!(pauses[5], 1_000, "{pauses:?}");
}

#[test]
fn whoever_ends_a_job_is_told_what_all_have_done_by_then() {
    let Some(cluster) = cluster::shared() else { return };
    let (first, second) = two(&cluster.database());
    let rows = begun(&first, job(1), &[A, "http://a.test/2"]);
    let visit = |n: usize, now: i64| {
        let pages = vec![fetched(rows[n].clone(), now)];
        let discoveries = vec![found(B, 1, 1, place(10))];
        first.commit(Batch { pages, discoveries, ..at(now) }).unwrap();
    };
    visit(0, 2_000);
    let claimed = claim_rows(&second, 4_000);
    finish(&second, 5_000, vec![fetched(claimed[0].clone(), 5_000)]);
    second.commit(at(6_000)).unwrap();
    // The last page leads to one that is known; its message comes sooner than what it was counted as.
    visit(1, 6_100);
    let told = second.commit(at(6_450)).unwrap();
    let told = told.counters(JobId(1)).unwrap();
    assert_eq!((told.fetched, told.queued), (2, 0), "the others' are looked at less often");
    let stored = counters(&second, 1);
    assert_eq!((stored.fetched, stored.queued), (3, 0));
    let told = second.commit(Batch { jobs: vec![set(1, JobState::Done)], ..at(6_460) }).unwrap();
    assert_eq!(told.counters(JobId(1)).unwrap(), &stored);
    let jobs = vec![JobChange::Ran(JobId(1), Duration::from_secs(1))];
    let told = second.commit(Batch { jobs, ..at(6_470) }).unwrap();
    assert_eq!(told.counters(JobId(1)).unwrap().fetched, 3);
}

#[test]
fn a_robots_txt_is_asked_for_of_its_owner_and_told_to_who_wanted_it() {
    let Some(cluster) = cluster::shared() else { return };
    let (first, second) = two(&cluster.database());
    begun(&first, job(1), &[A]);
    let errand = Errand {
        robots_of: host(A),
        at: host(B),
        url: url("http://b.test/rules.txt"),
        hops: 1,
        job: JobId(1),
    };
    let sent = Batch { errands: vec![errand.clone()], ..at(2_000) };
    assert!(first.commit(sent).unwrap().errands.is_empty(), "it is not for its sender");
    let came = second.commit(at(4_000)).unwrap().errands;
    assert_eq!(came, std::slice::from_ref(&errand));
    assert!(second.commit(at(6_000)).unwrap().errands.is_empty(), "once");
    let file = RobotsFile {
        asked: Time(5_000),
        until: Time(9_000),
        outcome: FetchOutcome::new(OutcomeKind::Fetched, 200),
        body: b"User-agent: *".to_vec(),
    };
    let told = RobotsTold { of: host(A), url: errand.url, job: errand.job, file };
    let sent = Batch { robots_told: vec![told.clone()], ..at(7_000) };
    assert!(second.commit(sent).unwrap().robots_told.is_empty());
    assert_eq!(first.commit(at(9_000)).unwrap().robots_told, [told]);
}

#[test]
fn rows_of_anothers_partition_are_not_written() {
    let Some(cluster) = cluster::shared() else { return };
    let (first, second) = two(&cluster.database());
    let rows = begun(&first, job(1), &[A]);
    let stolen = second.commit(Batch { pages: vec![fetched(rows[0].clone(), 5)], ..at(5) });
    assert!(matches!(stolen, Err(StoreError::LeaseLost { part }) if part == host(A).part));
    let stolen = second.commit(Batch { releases: vec![release(host(A), 0)], ..at(6) });
    assert!(matches!(stolen, Err(StoreError::LeaseLost { .. })));
    finish(&first, 7, vec![fetched(rows[0].clone(), 7)]);
    check(&first);
}

#[test]
fn hosts_are_claimed_by_who_holds_them_and_the_jobs_of_all_are_seen_by_all() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = two(&url);
    give(
        &first,
        0,
        vec![new_job(job(1))],
        vec![found(A, 1, 0, place(1)), found(B, 1, 0, place(2))],
    );
    second.commit(at(2_000)).unwrap();
    assert_eq!(claim_rows(&first, 3_000).len(), 1);
    assert_eq!(claim_rows(&second, 3_000).len(), 1);
    assert_eq!((first.claims().unwrap(), second.claims().unwrap()), (vec![host(A)], vec![host(B)]));
    // Paused by one, passed over by the other; opened again, its hosts wake.
    second.commit(Batch { jobs: vec![set(1, JobState::Paused)], ..at(4_000) }).unwrap();
    let asleep = Release { asleep: true, ..release(host(A), 0) };
    first.commit(Batch { releases: vec![asleep], ..at(6_000) }).unwrap();
    assert!(claim_rows(&first, 7_000).is_empty());
    second.commit(Batch { jobs: vec![set(1, JobState::Open)], ..at(8_000) }).unwrap();
    let woken = first.commit(Batch { claims: ALL, ..at(10_000) }).unwrap();
    assert_eq!(woken.claimed.len(), 1);
    check(&one_for_all(&url, &[first, second]));
}

#[test]
fn a_visitor_without_partitions_gives_jobs_and_start_urls_to_the_owners() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = two(&url);
    let visitor = open(&url);
    let found = vec![found(A, 1, 0, place(1)), found(B, 1, 0, place(2))];
    give(&visitor, 1_000, vec![new_job(job(1))], found);
    assert_eq!(counters(&visitor, 1).queued, 2);
    assert_eq!(claim_rows(&first, 3_000).len(), 1);
    assert_eq!(claim_rows(&second, 3_000).len(), 1);
    visitor.commit(Batch { exclude: vec![host(A)], ..at(4_000) }).unwrap();
    first.commit(at(6_000)).unwrap();
    assert!(host_row(&visitor, A).temper.excluded);
    check(&one_for_all(&url, &[first, second]));
}

#[test]
fn page_numbers_are_nobody_elses() {
    let Some(cluster) = cluster::shared() else { return };
    let (first, second) = two(&cluster.database());
    let (a, b, c) = (
        first.take_pages(1_000).unwrap(),
        second.take_pages(1_000).unwrap(),
        first.take_pages(10).unwrap(),
    );
    assert_eq!((a, b, c), (1, 1_001, 2_001));
    // Within what was set aside nothing is written that others would wait for.
    first.commit(Batch { next_page: 500, ..at(0) }).unwrap();
    assert_eq!(second.next_page().unwrap(), 2_011);
}

#[test]
fn segments_are_numbered_once_and_told_to_who_wrote_them() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let archive = |name: &str| {
        let options = PostgresOptions { archive: name.into(), ..PostgresOptions::default() };
        PostgresStore::open(&url, options).unwrap()
    };
    let (first, second) = (archive("one"), archive("two"));
    let (a, b) = (first.take_segments(2).unwrap(), second.take_segments(1).unwrap());
    assert_eq!((a, b, first.take_segments(1).unwrap()), (1, 3, 4));
    let warc = SegmentKind::Warc;
    first.commit(Batch { segments: vec![(warc, 1, 10), (warc, 2, 20)], ..at(0) }).unwrap();
    second.commit(Batch { segments: vec![(warc, 3, 30)], ..at(0) }).unwrap();
    first.commit(Batch { segments: vec![(warc, 2, 25)], ..at(1) }).unwrap();
    assert_eq!(first.segments(warc).unwrap(), [(1, 10), (2, 25)]);
    assert_eq!(second.segments(warc).unwrap(), [(3, 30)]);
    let all = first.all_segments().unwrap();
    let held = |number| all.iter().find(|one| (one.kind, one.number) == (warc, number));
    assert_eq!(held(3).map(|one| one.archive.as_str()), Some("two"));
    assert_eq!(held(9), None);
}

#[test]
fn slots_of_an_address_follow_each_other_whoever_asks() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = two(&url);
    let ip: IpAddr = "192.0.2.1".parse().unwrap();
    let other: IpAddr = "2001:db8::1".parse().unwrap();
    let gap = Duration::from_secs(10);
    let reserve = |store: &PostgresStore| store.reserve(&[(ip, gap)]).unwrap()[0];
    let wanted = |store: &PostgresStore| store.looks_around().unwrap().wanted;
    let nothing: [IpAddr; 0] = [];
    // Who comes first has it alone, as long as nobody else wants it.
    assert_eq!(reserve(&first), Turn::Alone(Duration::ZERO));
    assert_eq!(wanted(&first), nothing);
    assert_eq!([reserve(&second), reserve(&second)], [Turn::Theirs; 2]);
    assert_eq!(wanted(&first), [ip]);
    assert_eq!(wanted(&second), nothing);
    // Shared, it is asked in turns, the first a gap after it was shared.
    let begun = Instant::now();
    first.share(&[(ip, gap)]).unwrap();
    assert_eq!(wanted(&first), nothing);
    let turns: Vec<Turn> = [&second, &first, &second].map(reserve).to_vec();
    let spent = begun.elapsed() + Duration::from_millis(5);
    for (n, turn) in (1..).zip(&turns) {
        let Turn::Slot(wait) = turn else { panic!("{turns:?}") };
        assert!(*wait <= gap * n + spent && *wait + spent >= gap * n, "{turns:?}");
    }
    let both = second.reserve(&[(other, gap), (ip, gap)]).unwrap();
    assert_eq!(both[0], Turn::Alone(Duration::ZERO));
    assert!(matches!(both[1], Turn::Slot(wait) if wait > gap * 3), "{both:?}");
    first.clear_addresses(Duration::ZERO).unwrap();
    assert!(matches!(reserve(&second), Turn::Slot(wait) if wait > gap * 4), "booked stays booked");
    // Who has been the only one for a while has it alone again, once all slots are over.
    let later = "UPDATE argiope.addresses SET shared = now() - interval '1 second'";
    cluster.sql(name_in(&url), later);
    assert!(matches!(reserve(&second), Turn::Alone(wait) if wait > gap * 5));
    assert_eq!(reserve(&first), Turn::Theirs);
}

#[test]
fn shares_of_a_limit_are_never_more_than_it_and_come_back_from_the_dead() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = two(&url);
    let limits = Limits { pages: Some(10), bytes: Some(1_000), ..Limits::default() };
    let rows = begun(&first, Job { limits, ..job(1) }, &[A, "http://a.test/2"]);
    let id = JobId(1);
    // Half of what a fair part would be, so that something is left for who comes later.
    assert_eq!(first.take_quota(id, 10, 100).unwrap(), 2);
    assert_eq!(second.take_quota(id, 10, 1).unwrap(), 1);
    let mut given = 3;
    while second.take_quota(id, 10, 100).unwrap() + 2 > given {
        given = second.quota_left(id) + 2;
    }
    assert_eq!((first.quota_left(id), second.quota_left(id)), (2, 8), "all is given out");
    // What is committed is used up.
    let mut page = fetched(rows[0].clone(), 2_000);
    page.capture.as_mut().unwrap().bytes = 300;
    assert_eq!(first.take_bytes(id, 1_000, 0, 300).unwrap(), Share::Given);
    assert!(first.bytes_left(id) >= 300);
    finish(&first, 2_000, vec![page]);
    assert_eq!(first.quota_left(id), 1);
    // Bytes that others have are not there now; more than there are never will be.
    assert_eq!(second.take_bytes(id, 1_000, 0, 700).unwrap(), Share::Later);
    assert_eq!(second.take_bytes(id, 1_000, 0, 701).unwrap(), Share::Never);
    assert_eq!(first.take_bytes(id, 1_000, 0, 701).unwrap(), Share::Never);
    assert_eq!(first.bytes_left(id), 0, "what is not enough goes back");
    assert_eq!(second.take_bytes(id, 1_000, 0, 700).unwrap(), Share::Given);
    assert_eq!(second.bytes_left(id), 700);
    // Whoever is gone has used what it has committed, and no more.
    assert_eq!(first.take_quota(id, 10, 100).unwrap(), 1);
    second.leave().unwrap();
    let mut left = 1;
    while first.take_quota(id, 10, 100).unwrap() > left {
        left = first.quota_left(id);
    }
    assert_eq!(left, 9, "one of ten is fetched");
    first.return_quota(id).unwrap();
    assert_eq!((first.quota_left(id), first.bytes_left(id)), (0, 0));
    assert!(matches!(second.take_quota(id, 10, 1), Err(StoreError::LeaseEnded)));
}

#[test]
fn an_address_whose_holder_is_dead_is_asked_a_gap_later() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (dying, _) = joined(&url, "dying", SHORT);
    let (living, _) = joined(&url, "living", LONG);
    let ip: IpAddr = "192.0.2.7".parse().unwrap();
    let gap = Duration::from_secs(10);
    assert_eq!(dying.reserve(&[(ip, gap)]).unwrap(), [Turn::Alone(Duration::ZERO)]);
    assert_eq!(living.reserve(&[(ip, gap)]).unwrap(), [Turn::Theirs]);
    std::thread::sleep(SHORT + Duration::from_millis(50));
    let turn = living.reserve(&[(ip, gap)]).unwrap()[0];
    assert!(
        matches!(turn, Turn::Alone(wait) if wait >= gap - Duration::from_millis(5)),
        "{turn:?}"
    );
    // Nobody's but the living's is kept.
    living.clear_addresses(Duration::ZERO).unwrap();
    let held = "SELECT count(*) FROM argiope.addresses";
    assert_eq!(cluster.sql(name_in(&url), held).trim(), "1");
    living.leave().unwrap();
    let (third, _) = joined(&url, "third", LONG);
    cluster.sql(name_in(&url), "UPDATE argiope.addresses SET next = now() - interval '1 hour'");
    third.clear_addresses(Duration::ZERO).unwrap();
    assert_eq!(cluster.sql(name_in(&url), held).trim(), "0");
}

#[test]
fn whoever_comes_back_to_its_archive_takes_its_own_place_at_once() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let open = || {
        let options = PostgresOptions { archive: "mine".to_owned(), ..PostgresOptions::default() };
        PostgresStore::open(&url, options).unwrap()
    };
    let killed = open();
    let held = killed.join("mine", "", LONG, Instant::now()).unwrap();
    killed.acquire(&held.free).unwrap();
    let (other, _) = joined(&url, "other", LONG);
    let again = open();
    let held = again.join("mine", "", LONG, Instant::now()).unwrap();
    assert_eq!((held.workers, held.free.len()), (2, 4096), "nobody waits for the lease to run out");
    let ended = killed.renew(&WorkerReport::default(), Instant::now()).unwrap_err();
    assert!(matches!(ended, StoreError::LeaseEnded), "{ended}");
    let batch = Batch { releases: vec![release(host(A), 0)], ..at(6) };
    assert!(killed.commit(batch).is_err(), "what it still sends is not written");
    assert_eq!(renew(&other).workers, 2, "others stay");
}

#[test]
fn a_fleet_goes_by_what_was_said_first_and_numbers_a_job_once() {
    let Some(cluster) = cluster::shared() else { return };
    let url = cluster.database();
    let (first, second) = (open(&url), open(&url));
    assert_eq!(first.agree("fleet", 7).unwrap(), 7);
    assert_eq!(second.agree("fleet", 8).unwrap(), 7);
    assert_eq!(second.agree("suffixes", 8).unwrap(), 8);
    assert_eq!((first.take_job(0).unwrap(), second.take_job(0).unwrap()), (1, 2));
    assert_eq!(first.take_job(9).unwrap(), 10);
    assert_eq!(second.take_job(9).unwrap(), 11);
}
