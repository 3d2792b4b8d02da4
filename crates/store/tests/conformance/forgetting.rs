//! Behaviours of URLs of which nothing is to be kept.

use crate::scene::*;
use argiope_frontier::SkipReason;
use argiope_model::{JobState, Location, SiteKey, Time, UrlKey};
use argiope_store::{Batch, Ended, Forget, Moved, Payload, Store, StoreError, UrlState};

const X: &str = "http://a.test/x";
const Y: &str = "http://a.test/y";

fn forget(store: &dyn Store, now: i64, urls: &[&str]) {
    let urls = urls.iter().map(|text| key(text)).collect();
    store.commit(Batch { forget: Forget { urls, ..Forget::default() }, ..at(now) }).unwrap();
}

fn site() -> SiteKey {
    SiteKey { part: key(X).host.part, site: [1; 6] }
}

pub fn of_a_forgotten_url_only_its_row_is_left(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, Y]);
    let mut pages = vec![fetched(rows[0].clone(), 1), fetched(rows[1].clone(), 2)];
    for page in &mut pages {
        page.changed = true;
        page.links = Some(vec![7; 2_000]);
        let record = Some(Location { segment: 1, offset: 0, length: 500 });
        page.capture.as_mut().unwrap().record = record;
        page.payload = Some(Payload { site: site(), digest: [page.entry.key.url as u8; 20] });
    }
    finish(home.store(), 3, pages);
    let robots = vec![(host(X), robots(1, 100))];
    home.store().commit(Batch { robots, ..at(4) }).unwrap();
    let digest = [key(X).url as u8; 20];
    let payloads = vec![Payload { site: site(), digest }];
    let (urls, hosts) = (vec![key(X)], vec![host(X)]);
    let forget = Forget { urls, hosts, payloads, ..Forget::default() };
    home.store().commit(Batch { forget, ..at(5) }).unwrap();
    home.reopen();
    let store = home.store();
    assert_eq!(host_row(store, X).disk, Some(500), "what the other takes up");
    assert_eq!(store.host_disk(host(X)).unwrap(), 500);
    let left = row(store, X);
    assert_eq!(left.state, UrlState::Forgotten);
    assert_eq!((left.fetched_at, left.changed_at, left.visits), (None, None, 0));
    assert!(store.captures(key(X)).unwrap().is_empty());
    assert_eq!(store.links(&[key(X)]).unwrap(), [None]);
    assert_eq!(store.payloads(&[(site(), digest)]).unwrap(), [None]);
    assert_eq!(store.robots(&[host(X)]).unwrap(), [None]);
    let other = [key(Y).url as u8; 20];
    assert_eq!(row(store, Y).state, UrlState::Fetched);
    assert_eq!(store.captures(key(Y)).unwrap().len(), 1);
    assert_eq!(store.links(&[key(Y)]).unwrap(), [Some(vec![7; 2_000])]);
    assert!(store.payloads(&[(site(), other)]).unwrap()[0].is_some());
}

pub fn a_forgotten_url_keeps_its_number_and_its_host_knows_it(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, Y]);
    let doc = rows[0].doc;
    finish(home.store(), 3, rows.into_iter().map(|row| fetched(row, 1)).collect());
    assert_eq!(host_row(home.store(), X).fetched, 2);
    forget(home.store(), 5, &[X]);
    home.reopen();
    let store = home.store();
    assert_eq!(row(store, X).doc, doc);
    assert_eq!(store.docs(&[doc]).unwrap(), [Some(key(X))]);
    let host = host_row(store, X);
    assert_eq!((host.known, host.fetched), (2, 1), "pages that are here");
    assert_eq!(counters(store, 1).fetched, 2, "what the job has done it has done");
}

pub fn a_forgotten_url_leaves_the_queue_and_the_counts_agree(home: &mut dyn Home) {
    let store = home.store();
    give(store, 0, vec![new_job(job(1)), new_job(job(2))], vec![found(X, 1, 0, place(1))]);
    give(store, 0, vec![], vec![found(X, 2, 1, place(2))]);
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (1, 1), "the second waits");
    forget(store, 5, &[X]);
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (0, 0));
    home.reopen();
    assert_eq!(host_row(home.store(), X).ready, 0);
    let told = home.store().commit(at(60_000)).unwrap();
    assert_eq!(told.next_due, None, "its host is off the schedule");
    assert!(claim(home.store(), 60_000).is_empty());
}

pub fn a_forgotten_url_leaves_the_calendar_also_when_it_is_due(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, Y]);
    let again = rows.into_iter().map(|row| retried(row, 1, 9_000)).collect();
    finish(home.store(), 2, again);
    forget(home.store(), 5, &[X]);
    home.reopen();
    assert_eq!(counters(home.store(), 1).queued, 1);
    // In the batch that would have made it ready.
    forget(home.store(), 20_000, &[Y]);
    let told = home.store().commit(at(30_000)).unwrap();
    assert_eq!((counters(home.store(), 1).queued, told.next_due), (0, None));
    assert_eq!(row(home.store(), Y).state, UrlState::Forgotten);
}

pub fn what_a_job_had_given_up_no_longer_counts_when_it_is_forgotten(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, Y]);
    let pages = vec![
        ended(rows[0].clone(), 1, UrlState::Failed),
        left_alone(rows[1].clone(), SkipReason::Robots),
    ];
    finish(home.store(), 2, pages);
    forget(home.store(), 5, &[X, Y]);
    home.reopen();
    let counted = counters(home.store(), 1);
    assert_eq!((counted.failed, counted.skipped_robots), (0, 0));
}

pub fn no_link_leads_to_a_forgotten_url_and_a_new_start_url_does(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X]);
    finish(home.store(), 2, vec![fetched(rows[0].clone(), 1)]);
    forget(home.store(), 5, &[X]);
    home.reopen();
    let store = home.store();
    // A link, of this job and of another; the start URL of the job that fetched it.
    give(store, 6, vec![new_job(job(2))], vec![found(X, 1, 0, place(2))]);
    give(store, 6, vec![], vec![found(X, 2, 0, place(3)), asked_again(X, 1, place(4))]);
    assert_eq!(row(store, X).state, UrlState::Forgotten);
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (0, 0));
    give(store, 7, vec![], vec![asked_again(X, 2, place(5))]);
    assert_eq!(row(store, X).state, UrlState::Queued);
    assert_eq!(counters(store, 2).queued, 1);
    let releases = vec![release(host(X), 0)];
    store.commit(Batch { releases, jobs: vec![set(1, JobState::Done)], ..at(8) }).unwrap();
    let again = claim_rows(store, 9_000);
    finish(store, 9_000, again.into_iter().map(|row| fetched(row, 9_000)).collect());
    assert_eq!((row(store, X).state, row(store, X).visits), (UrlState::Fetched, 1));
}

pub fn a_capture_that_is_moved_takes_the_payload_with_it(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, Y]);
    let mut pages: Vec<_> = rows.into_iter().zip(1..).map(|(row, n)| fetched(row, n)).collect();
    let payload = Payload { site: site(), digest: [9; 20] };
    pages[0].payload = Some(payload.clone());
    if let Some(c) = &mut pages[1].capture {
        c.revisit = true;
    }
    finish(home.store(), 3, pages);
    let mut capture = home.store().captures(key(Y)).unwrap().remove(0);
    capture.revisit = false;
    capture.record = Some(Location { segment: 4, offset: 5, length: 6 });
    let moved = Moved { key: key(Y), capture: capture.clone(), payload: Some(payload.clone()) };
    let (urls, payloads) = (vec![key(X)], vec![payload]);
    let forget = Forget { urls, payloads, moved: vec![moved], ..Forget::default() };
    home.store().commit(Batch { forget, ..at(5) }).unwrap();
    home.reopen();
    assert_eq!(home.store().captures(key(Y)).unwrap(), [capture]);
    let first = home.store().payloads(&[(site(), [9; 20])]).unwrap().remove(0).unwrap();
    assert_eq!((first.url, first.time), (url(Y), Time(2)));
}

pub fn those_who_follow_the_change_log_hear_of_it(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X]);
    let doc = rows[0].doc;
    finish(home.store(), 2, vec![fetched(rows[0].clone(), 1)]);
    forget(home.store(), 5, &[X]);
    home.reopen();
    let all = home.store().changes(key(X).host.part, 1, 9).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].n, all[0].key, all[0].doc), (2, key(X), doc));
    assert_eq!((all[0].ended, all[0].time), (Ended::Forgotten, Time(5)));
}

pub fn what_is_unknown_cannot_be_forgotten_and_nothing_changes(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X]);
    finish(home.store(), 2, vec![fetched(rows[0].clone(), 1)]);
    let forget = Forget { urls: vec![key(X), key(Y)], ..Forget::default() };
    assert!(home.store().commit(Batch { forget, ..at(5) }).is_err());
    home.reopen();
    assert_eq!(row(home.store(), X).state, UrlState::Fetched);
    assert_eq!(home.store().captures(key(X)).unwrap().len(), 1);
}

/// A URL with a capture at 1,000 and one at 20,000, each with a record of 500 bytes.
fn seen_twice(home: &mut dyn Home) {
    let record = |n| Some(Location { segment: n, offset: 0, length: 500 });
    let mut rows = begun(home.store(), job(1), &[X]);
    let mut first = retried(rows.remove(0), 1_000, 9_000);
    first.capture.as_mut().unwrap().record = record(1);
    let releases = vec![release(host(X), 0)];
    home.store().commit(Batch { pages: vec![first], releases, ..at(1_000) }).unwrap();
    let row = claim_rows(home.store(), 20_000).remove(0);
    let mut second = fetched(row, 20_000);
    second.capture.as_mut().unwrap().record = record(2);
    second.payload = Some(Payload { site: site(), digest: [9; 20] });
    second.links = Some(vec![7]);
    finish(home.store(), 20_000, vec![second]);
}

fn thin(store: &dyn Store, now: i64, captures: Vec<(UrlKey, Time)>) -> Result<(), StoreError> {
    let forget = Forget { captures, ..Forget::default() };
    store.commit(Batch { forget, ..at(now) }).map(|_| ())
}

pub fn a_capture_that_goes_takes_nothing_else_with_it(home: &mut dyn Home) {
    seen_twice(home);
    let before = row(home.store(), X);
    let (counted, host_before) = (counters(home.store(), 1), host_row(home.store(), X));
    assert_eq!(host_before.disk, Some(1_000));
    // Twice, and one that was never there.
    let captures = [1_000, 1_000, 5].map(|time| (key(X), Time(time)));
    thin(home.store(), 30_000, captures.to_vec()).unwrap();
    home.reopen();
    let store = home.store();
    let left = store.captures(key(X)).unwrap();
    assert_eq!(left.iter().map(|c| c.time.0).collect::<Vec<_>>(), [20_000]);
    assert_eq!(row(store, X), before, "visits, changes, state and number are what they were");
    assert_eq!(counters(store, 1), counted);
    assert_eq!(store.links(&[key(X)]).unwrap(), [Some(vec![7])]);
    assert!(store.payloads(&[(site(), [9; 20])]).unwrap()[0].is_some());
    let host = host_row(store, X);
    assert_eq!((host.disk, host.fetched), (Some(500), host_before.fetched));
    assert_eq!(store.host_disk(key(X).host).unwrap(), 500);
}

pub fn followers_are_told_to_look_again_at_a_url_that_lost_a_capture(home: &mut dyn Home) {
    seen_twice(home);
    let last = home.store().changes(key(X).host.part, 0, 9).unwrap().len() as u64;
    let both = vec![(key(X), Time(1_000)), (key(X), Time(20_000))];
    thin(home.store(), 30_000, both).unwrap();
    home.reopen();
    let told = home.store().changes(key(X).host.part, last, 9).unwrap();
    assert_eq!(told.len(), 1, "once for a URL");
    assert_eq!((told[0].n, told[0].key, told[0].doc), (last + 1, key(X), row(home.store(), X).doc));
    assert_eq!((told[0].ended, told[0].changed), (Ended::WithPage, false));
    assert_eq!(told[0].time, Time(20_000), "when it was last asked for");
}

pub fn a_capture_goes_and_another_of_its_url_is_moved_in_one_batch(home: &mut dyn Home) {
    seen_twice(home);
    let mut capture = home.store().captures(key(X)).unwrap().remove(1);
    capture.record = Some(Location { segment: 3, offset: 0, length: 700 });
    let payload = Payload { site: site(), digest: [9; 20] };
    let moved = Moved { key: key(X), capture: capture.clone(), payload: Some(payload.clone()) };
    let (captures, payloads) = (vec![(key(X), Time(1_000))], vec![payload]);
    let forget = Forget { captures, payloads, moved: vec![moved], ..Forget::default() };
    home.store().commit(Batch { forget, ..at(30_000) }).unwrap();
    home.reopen();
    assert_eq!(home.store().captures(key(X)).unwrap(), [capture]);
    assert_eq!(host_row(home.store(), X).disk, Some(700));
    assert!(home.store().payloads(&[(site(), [9; 20])]).unwrap()[0].is_some());
}

pub fn a_capture_of_a_url_that_goes_whole_is_counted_once(home: &mut dyn Home) {
    seen_twice(home);
    let (urls, captures) = (vec![key(X)], vec![(key(X), Time(1_000))]);
    let forget = Forget { urls, captures, ..Forget::default() };
    home.store().commit(Batch { forget, ..at(30_000) }).unwrap();
    assert_eq!(host_row(home.store(), X).disk, Some(0));
    assert!(home.store().captures(key(X)).unwrap().is_empty());
    // Of a URL that nobody knows there is none.
    assert!(thin(home.store(), 40_000, vec![(key(Y), Time(1_000))]).is_err());
}
