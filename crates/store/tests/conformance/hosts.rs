//! Behaviours of hosts: claims, releases, the schedule.

use crate::scene::*;
use argiope_frontier::Release;
use argiope_model::{HostKey, JobState, Time};
use argiope_store::{Batch, Claims, UrlState};

fn hosts_of(windows: &[argiope_frontier::HostWindow]) -> Vec<HostKey> {
    let mut all: Vec<HostKey> = windows.iter().map(|w| w.host).collect();
    all.sort();
    all
}

fn asleep(host: HostKey) -> Release {
    Release { asleep: true, ..release(host, 0) }
}

pub fn claims_are_durable_and_listed(home: &mut dyn Home) {
    begun(home.store(), job(1), &["http://a.test/", "http://b.test/", "http://b.test:81/"]);
    let mut want = vec![host("http://a.test/"), host("http://b.test/"), host("http://b.test:81/")];
    want.sort();
    assert_eq!(home.store().claims().unwrap(), want);
    home.reopen();
    assert_eq!(home.store().claims().unwrap(), want);
    assert!(claim(home.store(), 99_000).is_empty(), "claimed is claimed, also after a crash");
    let releases = vec![release(host("http://a.test/"), 0)];
    home.store().commit(Batch { releases, ..at(99_000) }).unwrap();
    home.reopen();
    assert_eq!(home.store().claims().unwrap().len(), 2);
    assert_eq!(hosts_of(&claim(home.store(), 99_000)), [host("http://a.test/")]);
}

pub fn claims_keep_to_their_limit_and_claim_nothing_twice(home: &mut dyn Home) {
    let store = home.store();
    let names: Vec<String> = (0..7).map(|n| format!("http://h{n}.test/")).collect();
    let found = names.iter().map(|u| found(u, 1, 0, place(1))).collect();
    give(store, 0, vec![new_job(job(1))], found);
    let claims = Claims { named: Vec::new(), hosts: 3, window: 4 };
    let mut seen = Vec::new();
    for want in [3, 3, 1, 0] {
        let told = store.commit(Batch { claims: claims.clone(), ..at(0) }).unwrap();
        assert_eq!(told.claimed.len(), want);
        assert!(told.claimed.iter().all(|w| w.entries.len() == 1 && !w.more));
        seen.extend(hosts_of(&told.claimed));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 7);
}

pub fn released_hosts_wake_no_earlier_than_told(home: &mut dyn Home) {
    let h = host("http://a.test/");
    begun(home.store(), job(1), &["http://a.test/1"]);
    let releases = vec![release(h, 61_500)];
    home.store().commit(Batch { releases, ..at(1_000) }).unwrap();
    assert!(claim(home.store(), 60_000).is_empty());
    home.reopen();
    // A row found meanwhile does not wake it either.
    give(home.store(), 60_000, vec![], vec![found("http://a.test/2", 1, 0, place(2))]);
    assert!(claim(home.store(), 60_000).is_empty());
    assert_eq!(host_row(home.store(), "http://a.test/").not_before, Time(61_500));
    let windows = claim(home.store(), 62_000);
    assert_eq!((windows.len(), windows[0].entries.len()), (1, 2));
    assert_eq!(windows[0].not_before, Time(61_500), "to the millisecond");
}

pub fn a_host_without_rows_is_not_claimed_again(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &["http://a.test/1"]);
    let pages = vec![fetched(rows[0].clone(), 1)];
    let releases = vec![asleep(host("http://a.test/"))];
    let told = store.commit(Batch { pages, releases, ..at(1) }).unwrap();
    assert_eq!(told.next_due, None);
    assert!(claim(store, 99_000).is_empty());
    assert!(store.claims().unwrap().is_empty());
}

pub fn a_host_released_and_found_again_in_the_same_batch_is_scheduled(home: &mut dyn Home) {
    for is_asleep in [false, true] {
        let store = home.store();
        let base = format!("http://{is_asleep}.test");
        let h = host(&base);
        let jobs = if is_asleep { vec![] } else { vec![new_job(job(1))] };
        give(store, 0, jobs, vec![found(&format!("{base}/1"), 1, 0, place(1))]);
        let rows = claim_rows(store, 0);
        let batch = Batch {
            pages: vec![fetched(rows[0].clone(), 1)],
            releases: vec![Release { asleep: is_asleep, ..release(h, 500) }],
            discoveries: vec![found(&format!("{base}/2"), 1, 1, place(2))],
            ..at(1)
        };
        let told = store.commit(batch).unwrap();
        assert!(told.queued.is_empty(), "nobody has it loaded");
        assert!(told.next_due.is_some_and(|due| due <= Time(1_000)));
        let windows = claim(store, 1_000);
        assert_eq!(hosts_of(&windows), [h]);
        assert_eq!((windows[0].entries.len(), windows[0].not_before), (1, Time(500)));
    }
}

pub fn a_host_claimed_in_the_batch_that_found_it_tells_its_rows_once(home: &mut dyn Home) {
    let store = home.store();
    let batch = Batch {
        jobs: vec![new_job(job(1))],
        discoveries: vec![found("http://a.test/1", 1, 0, place(1))],
        claims: ALL,
        ..at(1_234)
    };
    let told = store.commit(batch).unwrap();
    assert_eq!((told.claimed.len(), told.queued.len()), (1, 0));
    assert_eq!(told.claimed[0].entries.len(), 1);
}

pub fn rows_of_claimed_hosts_are_told_and_of_others_not(home: &mut dyn Home) {
    let store = home.store();
    begun(store, job(1), &["http://a.test/1"]);
    let both =
        vec![found("http://a.test/2", 1, 3, place(2)), found("http://b.test/2", 1, 3, place(3))];
    let told = give(store, 1, vec![], both);
    assert_eq!(told.queued.len(), 1);
    let entry = &told.queued[0];
    assert_eq!((entry.url.as_str(), entry.depth, entry.attempts), ("http://a.test/2", 3, 0));
    assert_eq!(entry.doc, row(store, "http://a.test/2").doc);
    assert_eq!(*entry, window(store, host("http://a.test/"), 9)[1]);
}

pub fn hosts_of_paused_jobs_sleep_and_wake_when_a_job_opens(home: &mut dyn Home) {
    let h = host("http://a.test/");
    begun(home.store(), job(1), &["http://a.test/1"]);
    let jobs = vec![set(1, JobState::Paused)];
    home.store().commit(Batch { jobs, releases: vec![release(h, 0)], ..at(1) }).unwrap();
    let windows = claim(home.store(), 1_000);
    assert_eq!((hosts_of(&windows), windows[0].entries.len()), (vec![h], 0));
    assert!(!windows[0].more);
    let releases = vec![asleep(h)];
    let told = home.store().commit(Batch { releases, ..at(2_000) }).unwrap();
    assert_eq!(told.next_due, None);
    assert!(claim(home.store(), 99_000).is_empty());
    home.reopen();
    assert!(claim(home.store(), 99_000).is_empty(), "asleep is asleep, also after a crash");
    give(home.store(), 99_000, vec![set(1, JobState::Open)], vec![]);
    assert_eq!(claim_rows(home.store(), 99_000).len(), 1);
}

pub fn a_sleeping_host_wakes_when_a_row_is_found_or_taken_over(home: &mut dyn Home) {
    let store = home.store();
    let (a, b) = (host("http://a.test/"), host("http://b.test/"));
    begun(store, job(1), &["http://a.test/1", "http://b.test/1"]);
    let jobs = vec![set(1, JobState::Paused), new_job(job(2))];
    store.commit(Batch { jobs, releases: vec![asleep(a), asleep(b)], ..at(1) }).unwrap();
    assert!(claim(store, 1_000).is_empty());
    give(store, 1_000, vec![], vec![found("http://a.test/2", 2, 0, place(2))]);
    assert_eq!(hosts_of(&claim(store, 1_000)), [a]);
    give(store, 1_000, vec![], vec![found("http://b.test/1", 2, 0, place(3))]);
    let windows = claim(store, 1_000);
    assert_eq!(hosts_of(&windows), [b]);
    assert_eq!(windows[0].entries[0].job.0, 2);
}

pub fn the_next_due_time_is_that_of_the_earliest_host_or_calendar_row(home: &mut dyn Home) {
    let store = home.store();
    let urls = ["http://a.test/1", "http://a.test/2", "http://b.test/1"];
    let rows = begun(store, job(1), &urls);
    assert_eq!(store.commit(at(10)).unwrap().next_due, None, "all is claimed");
    let pages = vec![retried(rows[0].clone(), 10, 30_000), fetched(rows[2].clone(), 10)];
    let told = store.commit(Batch { pages, ..at(10) }).unwrap();
    assert_eq!(told.next_due, Some(Time(30_000)));
    let releases = vec![release(host("http://a.test/"), 20_000)];
    let told = store.commit(Batch { releases, ..at(20) }).unwrap();
    assert_eq!(told.next_due, Some(Time(20_000)));
    assert_eq!(row(store, urls[2]).state, UrlState::Fetched);
}
