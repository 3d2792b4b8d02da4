//! Behaviours of what is kept about hosts themselves: robots files, how they behaved, notes on
//! loaded hosts, hosts claimed by name.

use crate::scene::*;
use argiope_frontier::{HostNote, HostWindow, Refill, Release};
use argiope_model::{HostKey, JobState, Time};
use argiope_store::{Batch, Claims};

const A: &str = "http://a.test/1";
const B: &str = "http://b.test/1";

/// Claims these by name, and nothing from the schedule.
fn claim_named(home: &dyn Home, now: i64, names: &[&str]) -> Vec<HostWindow> {
    let named = names.iter().map(|text| named(text)).collect();
    let claims = Claims { named, hosts: 0, window: 9 };
    home.store().commit(Batch { claims, ..at(now) }).unwrap().claimed
}

fn read(home: &dyn Home, host: HostKey, after: Option<argiope_frontier::Place>) -> HostWindow {
    let refills = vec![Refill { host, after, limit: 9 }];
    home.store().commit(Batch { refills, ..at(0) }).unwrap().refills.remove(0)
}

fn note(text: &str, not_before: i64, failures: u32) -> HostNote {
    HostNote { host: host(text), not_before: Time(not_before), temper: temper(failures) }
}

pub fn robots_files_are_kept_whole_and_the_last_one_counts(home: &mut dyn Home) {
    let lengths = [0, 10, 256, 257, 5_000, 500_000];
    let hosts: Vec<HostKey> =
        (0..lengths.len()).map(|n| host(&format!("http://h{n}.test/"))).collect();
    let all = |asked| hosts.iter().copied().zip(lengths.map(|n| robots(asked, n))).collect();
    // No URL of these hosts is known.
    home.store().commit(Batch { robots: all(1), ..at(1) }).unwrap();
    home.store().commit(Batch { robots: all(2), ..at(2) }).unwrap();
    home.reopen();
    let kept = home.store().robots(&hosts).unwrap();
    assert_eq!(kept, lengths.map(|n| Some(robots(2, n))));
    assert_eq!(home.store().robots(&[host("http://none.test/")]).unwrap(), [None]);
    assert!(home.store().scan_hosts(None, 9).unwrap().is_empty(), "a file makes no host");
}

pub fn a_claimed_host_comes_with_its_robots_file_and_a_page_of_rows_does_not(home: &mut dyn Home) {
    let h = host(A);
    let batch = Batch {
        jobs: vec![new_job(job(1))],
        discoveries: vec![found(A, 1, 0, place(1)), found("http://a.test/2", 1, 0, place(2))],
        robots: vec![(h, robots(5, 300))],
        claims: ALL,
        ..at(5)
    };
    let told = home.store().commit(batch).unwrap();
    assert_eq!(told.claimed[0].robots, Some(robots(5, 300)), "kept by the same commit");
    home.reopen();
    assert_eq!(read(home, h, None).robots, Some(robots(5, 300)));
    let further = read(home, h, Some(place(1)));
    assert_eq!((further.robots, further.entries.len()), (None, 1));
}

pub fn a_release_keeps_how_the_host_behaved(home: &mut dyn Home) {
    begun(home.store(), job(1), &[A, B]);
    let releases = vec![Release { temper: temper(3), ..release(host(A), 500) }];
    home.store().commit(Batch { releases, ..at(1) }).unwrap();
    home.reopen();
    assert_eq!(host_row(home.store(), A).temper, temper(3));
    assert_eq!(host_row(home.store(), B).temper, temper(0));
    let windows = claim(home.store(), 1_000);
    assert_eq!((windows.len(), &windows[0].temper), (1, &temper(3)));
    assert_eq!(windows[0].not_before, Time(500));
}

pub fn a_note_survives_a_crash_and_the_host_stays_claimed(home: &mut dyn Home) {
    begun(home.store(), job(1), &[A, B]);
    home.store().commit(Batch { notes: vec![note(A, 70_000, 2)], ..at(1) }).unwrap();
    home.reopen();
    assert_eq!(home.store().claims().unwrap().len(), 2);
    let again = read(home, host(A), None);
    assert_eq!((again.not_before, &again.temper), (Time(70_000), &temper(2)));
    assert_eq!(again.entries.len(), 1);
    let other = read(home, host(B), None);
    assert_eq!((other.not_before, &other.temper), (Time(0), &temper(0)));
    assert_eq!(read(home, host(A), Some(place(0))).not_before, Time(0), "told once");
}

pub fn a_release_has_the_last_word_and_a_note_after_it_none(home: &mut dyn Home) {
    begun(home.store(), job(1), &[A]);
    let releases = vec![Release { temper: temper(1), ..release(host(A), 3_000) }];
    let notes = vec![note(A, 90_000, 9)];
    home.store().commit(Batch { releases, notes: notes.clone(), ..at(1) }).unwrap();
    // It is not loaded any more; neither is a host nobody knows.
    let notes = notes.into_iter().chain([note("http://none.test/", 5, 5)]).collect();
    home.store().commit(Batch { notes, ..at(2) }).unwrap();
    let kept = host_row(home.store(), A);
    assert_eq!((kept.not_before, kept.temper), (Time(3_000), temper(1)));
    assert_eq!(home.store().scan_hosts(None, 9).unwrap().len(), 1);
    assert_eq!(claim(home.store(), 3_000).len(), 1);
}

pub fn forgiving_forgets_the_temper_and_not_the_time(home: &mut dyn Home) {
    begun(home.store(), job(1), &[A, B]);
    let releases = vec![
        Release { temper: temper(4), ..release(host(A), 5_000) },
        Release { temper: temper(5), ..release(host(B), 5_000) },
    ];
    home.store().commit(Batch { releases, ..at(1) }).unwrap();
    let forgive = vec![host(A), host("http://none.test/")];
    home.store().commit(Batch { forgive, ..at(2) }).unwrap();
    home.reopen();
    let (a, b) = (host_row(home.store(), A), host_row(home.store(), B));
    assert_eq!((a.temper, a.not_before, b.temper), (temper(0), Time(5_000), temper(5)));
    assert!(claim(home.store(), 4_000).is_empty());
    assert_eq!(claim(home.store(), 5_000).len(), 2);
}

pub fn a_named_host_is_claimed_whatever_the_schedule_says(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[A, B, "http://c.test/1", "http://d.test/1"]);
    let (jobs, pages) = (vec![set(1, JobState::Paused)], vec![fetched(rows[2].clone(), 1)]);
    let releases = vec![
        release(host(A), 900_000),
        Release { asleep: true, ..release(host(B), 0) },
        release(host("http://c.test/"), 0),
    ];
    home.store().commit(Batch { jobs, pages, releases, ..at(1) }).unwrap();
    home.reopen();
    // Not due, asleep, without rows, loaded by us, never met, and one named twice.
    let names = [A, B, "http://c.test/", "http://d.test/", "http://new.test:81/", A];
    let told = claim_named(home, 2, &names);
    let hosts: Vec<HostKey> = told.iter().map(|w| w.host).collect();
    assert_eq!(hosts, [A, B, "http://c.test/", "http://new.test:81/"].map(host));
    assert_eq!(told[0].not_before, Time(900_000), "it is claimed, not asked");
    assert!(told.iter().all(|w| w.entries.is_empty()), "the job is paused");
    assert_eq!(home.store().claims().unwrap().len(), 5);
    home.reopen();
    let met = host_row(home.store(), "http://new.test:81/");
    assert_eq!((&*met.origin, met.known, met.claimed), ("http://new.test:81", 0, true));
    let told = home.store().commit(Batch { jobs: vec![set(1, JobState::Open)], ..at(3) }).unwrap();
    assert_eq!(told.next_due, None, "all of them are off the schedule");
    assert!(claim(home.store(), 999_000).is_empty());
}

pub fn a_named_host_comes_with_its_rows_and_beside_those_that_are_due(home: &mut dyn Home) {
    let store = home.store();
    let all = [A, B, "http://c.test/1"].map(|u| found(u, 1, 0, place(1)));
    give(store, 0, vec![new_job(job(1))], all.into());
    let claims = Claims { named: vec![named(A)], hosts: 1, window: 9 };
    let told = store.commit(Batch { claims, ..at(0) }).unwrap();
    assert_eq!(told.claimed.len(), 2);
    assert_eq!((told.claimed[0].host, told.claimed[0].entries.len()), (host(A), 1));
    assert_ne!(told.claimed[1].host, host(A));
}

pub fn a_named_host_without_rows_goes_unscheduled_when_it_is_given_back(home: &mut dyn Home) {
    assert_eq!(claim_named(home, 1, &[A]).len(), 1);
    let releases = vec![release(host(A), 0)];
    let told = home.store().commit(Batch { releases, ..at(2) }).unwrap();
    assert_eq!(told.next_due, None);
    assert!(claim(home.store(), 99_000).is_empty() && home.store().claims().unwrap().is_empty());
    home.reopen();
    // The job that finds its first URL is the one that has met it.
    give(home.store(), 99_000, vec![new_job(job(1))], vec![found(A, 1, 0, place(1))]);
    assert_eq!((counters(home.store(), 1).hosts, host_row(home.store(), A).known), (1, 1));
    assert_eq!(claim_rows(home.store(), 99_000).len(), 1);
}

pub fn the_urls_of_a_host_are_listed_page_by_page(home: &mut dyn Home) {
    let names: Vec<String> = (0..7).map(|n| format!("http://a.test/{n}")).collect();
    let all = names.iter().map(String::as_str).chain([B, "http://a.test:81/"]);
    let all: Vec<&str> = all.collect();
    begun(home.store(), job(1), &all);
    for limit in [1, 3, 7, 8] {
        let (mut after, mut urls) = (None, Vec::new());
        loop {
            let page = home.store().host_urls(host(A), after, limit).unwrap();
            assert!(page.len() <= limit);
            let Some((last, _)) = page.last() else { break };
            after = Some(last.url);
            urls.extend(page.into_iter().map(|(k, row)| {
                assert_eq!(k, key(row.url.as_str()));
                k
            }));
        }
        assert!(urls.is_sorted() && urls.len() == 7, "in pages of {limit}: {urls:?}");
        assert!(urls.iter().all(|k| k.host == host(A)));
    }
    assert!(home.store().host_urls(host("http://none.test/"), None, 9).unwrap().is_empty());
}
