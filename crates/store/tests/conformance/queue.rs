//! Behaviours of the ready queue and the calendar.

use crate::scene::*;
use argiope_frontier::{Place, SkipReason, place_of_link};
use argiope_model::{Order, Time};
use argiope_store::{Batch, Claims, UrlState};

pub fn a_url_gets_one_doc_id_and_enters_the_queue_once(home: &mut dyn Home) {
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![found("http://a.test/x", 1, 0, place(1))]);
    let doc = row(store, "http://a.test/x").doc;
    give(store, 0, vec![], vec![found("http://a.test/x", 1, 0, place(2))]);
    let after = row(store, "http://a.test/x");
    assert_eq!((after.doc, after.place), (doc, Some(place(1))));
    assert_eq!(counters(store, 1).queued, 1);
    assert_eq!(counters(store, 1).known, 1);
    assert_eq!(claim_rows(store, 0).len(), 1);
    home.reopen();
    assert_eq!(row(home.store(), "http://a.test/x").doc, doc);
}

pub fn a_url_found_twice_in_one_batch_is_one_url(home: &mut dyn Home) {
    let store = home.store();
    let twice = vec![
        found("http://a.test/x", 1, 3, place(2)),
        found("http://a.test/y", 1, 3, place(3)),
        found("http://a.test/x", 1, 1, place(5)),
    ];
    give(store, 0, vec![new_job(job(1))], twice);
    assert_eq!(counters(store, 1).queued, 2);
    assert_eq!(row(store, "http://a.test/x").depth, 1);
    let rows = claim_rows(store, 0);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].url, url("http://a.test/x"));
    assert_eq!((rows[0].depth, rows[0].place), (1, place(2)));
}

pub fn doc_ids_are_running_numbers_of_their_partition(home: &mut dyn Home) {
    let urls = ["http://a.test/1", "http://b.test/1", "http://www.a.test/2", "http://a.test/3"];
    let store = home.store();
    begun(store, job(1), &urls);
    home.reopen();
    give(home.store(), 0, vec![], vec![found("http://a.test/4", 1, 0, place(9))]);
    let mut numbers: Vec<u64> = Vec::new();
    for u in ["http://a.test/1", "http://www.a.test/2", "http://a.test/3", "http://a.test/4"] {
        let doc = row(home.store(), u).doc;
        assert_eq!(doc.part(), key(u).host.part);
        numbers.push(doc.running());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(row(home.store(), "http://b.test/1").doc.running(), 0);
}

pub fn a_claimed_url_stays_in_the_queue_until_its_result(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &["http://a.test/1", "http://a.test/2"]);
    assert_eq!(host_row(home.store(), "http://a.test/").ready, 2);
    // A crash: nothing was given back.
    home.reopen();
    let again = window(home.store(), host("http://a.test/"), 9);
    assert_eq!(again, rows);
    finish(home.store(), 1, vec![fetched(rows[0].clone(), 1)]);
    assert_eq!(window(home.store(), host("http://a.test/"), 9), rows[1..]);
    assert_eq!(host_row(home.store(), "http://a.test/").ready, 1);
}

pub fn results_delete_rows_and_counters_agree(home: &mut dyn Home) {
    let store = home.store();
    let urls = ["http://a.test/1", "http://a.test/2", "http://a.test/3", "http://a.test/4"];
    let mut rows = begun(store, job(1), &urls).into_iter();
    let mut next = || rows.next().expect("four rows");
    let states = [
        ended(next(), 1, UrlState::Fetched),
        ended(next(), 1, UrlState::Redirected),
        ended(next(), 1, UrlState::Failed),
        ended(next(), 1, UrlState::Skipped(SkipReason::Type)),
    ];
    let told = finish(store, 1, states.into());
    let c = counters(store, 1);
    assert_eq!(told.counters(argiope_model::JobId(1)), Some(&c));
    assert_eq!((c.queued, c.fetched, c.redirects, c.failed), (0, 1, 1, 1));
    assert_eq!((c.skipped_type, c.errors, c.bytes), (1, 1, 400));
    assert_eq!((c.words, c.links, c.known, c.hosts), (40, 8, 4, 1));
    let h = host_row(store, "http://a.test/");
    assert_eq!((h.ready, h.known, h.fetched, h.failed, h.bytes), (0, 4, 1, 1, 400));
    assert_eq!(row(store, urls[1]).state, UrlState::Redirected);
    assert_eq!(row(store, urls[0]).fetched_at, Some(Time(1)));
}

pub fn a_retry_goes_to_the_calendar_and_comes_back_with_its_place_and_attempts(
    home: &mut dyn Home,
) {
    let rows = begun(home.store(), job(1), &["http://a.test/1", "http://a.test/2"]);
    let told = finish(home.store(), 100, vec![retried(rows[0].clone(), 100, 5_000)]);
    assert_eq!(told.next_due, Some(Time(5_000)));
    let waiting = row(home.store(), "http://a.test/1");
    assert_eq!((waiting.attempts, waiting.due), (1, Some(Time(5_000))));
    assert!(waiting.in_queue() && waiting.state == UrlState::Queued);
    assert_eq!(counters(home.store(), 1).queued, 2);
    assert_eq!(host_row(home.store(), "http://a.test/").ready, 1);
    home.reopen();
    assert!(home.store().commit(at(4_999)).unwrap().queued.is_empty());
    let told = home.store().commit(at(5_000)).unwrap();
    assert_eq!(told.queued.len(), 1, "its host is claimed, so it is told");
    let back = &told.queued[0];
    assert_eq!((back.place, back.attempts, &back.url), (rows[0].place, 1, &rows[0].url));
    assert_eq!(window(home.store(), host("http://a.test/"), 9)[0], *back);
    finish(home.store(), 5_001, vec![retried(back.clone(), 5_001, 9_000)]);
    assert_eq!(row(home.store(), "http://a.test/1").attempts, 2);
    let back = home.store().commit(at(9_000)).unwrap().queued.remove(0);
    assert_eq!(back.attempts, 2);
    finish(home.store(), 9_001, vec![fetched(back, 9_001)]);
    assert_eq!(row(home.store(), "http://a.test/1").attempts, 0);
    assert_eq!(counters(home.store(), 1).errors, 2);
}

pub fn a_retry_of_a_host_given_back_schedules_it_when_due(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &["http://a.test/1"]);
    let pages = vec![retried(rows[0].clone(), 100, 60_000)];
    let releases = vec![release(host("http://a.test/"), 200)];
    store.commit(Batch { pages, releases, ..at(100) }).unwrap();
    assert!(claim(store, 59_000).is_empty());
    let back = claim_rows(store, 60_000);
    assert_eq!((back.len(), back[0].attempts), (1, 1));
}

pub fn refills_page_through_in_order_without_skipping_or_repeating(home: &mut dyn Home) {
    let store = home.store();
    let names: Vec<String> = (0..25).map(|n| format!("http://a.test/{n}")).collect();
    // Found in an order that is neither that of their places nor that of their keys.
    let all = names.iter().zip(0u64..).map(|(u, n)| found(u, 1, 0, place(n * 7 % 25))).collect();
    give(store, 0, vec![new_job(job(1))], all);
    let claims = Claims { named: Vec::new(), hosts: 1, window: 4 };
    let first = store.commit(Batch { claims, ..at(0) }).unwrap().claimed.remove(0);
    assert_eq!((first.entries.len(), first.cursor, first.more), (4, Some(place(3)), true));
    for limit in [1, 4, 5, 25, 26] {
        let rows = window(store, host("http://a.test/"), limit);
        let places: Vec<Place> = rows.iter().map(|e| e.place).collect();
        assert_eq!(places, (0..25).map(place).collect::<Vec<_>>(), "in pages of {limit}");
    }
}

pub fn rows_found_beyond_a_cursor_come_with_the_next_refill(home: &mut dyn Home) {
    let store = home.store();
    let h = host("http://a.test/");
    begun(store, job(1), &["http://a.test/1", "http://a.test/2"]);
    let found = vec![found("http://a.test/3", 1, 0, place(3))];
    let refill = argiope_frontier::Refill { host: h, after: Some(place(2)), limit: 9 };
    let batch = Batch { discoveries: found, refills: vec![refill], ..at(1) };
    let told = store.commit(batch).unwrap();
    let read = &told.refills[0];
    assert_eq!((read.entries.len(), read.more), (1, false), "read after the commit");
    assert_eq!((read.entries[0].place, read.cursor), (place(3), Some(place(3))));
    assert_eq!(told.queued, read.entries);
}

pub fn depth_first_places_sort_the_newest_page_first(home: &mut dyn Home) {
    let store = home.store();
    let link = |page, index| place_of_link(Order::Depth, 1, page, index);
    let found = vec![
        found("http://a.test/old1", 1, 1, link(1, 0)),
        found("http://a.test/old2", 1, 1, link(1, 1)),
        found("http://a.test/new1", 1, 9, link(2, 0)),
        found("http://a.test/new2", 1, 9, link(2, 1)),
    ];
    give(store, 0, vec![new_job(job(1))], found);
    let rows = window(store, host("http://a.test/"), 3);
    let names: Vec<&str> = rows.iter().map(|e| e.url.path()).collect();
    assert_eq!(names, ["/new1", "/new2", "/old1", "/old2"]);
}

pub fn a_skipped_url_is_known_and_never_queued(home: &mut dyn Home) {
    let store = home.store();
    let skip = || skipped("http://a.test/x.png", 1, 2, SkipReason::Extension);
    give(store, 0, vec![new_job(job(1))], vec![skip(), skip()]);
    give(store, 0, vec![], vec![skip()]);
    let known = row(store, "http://a.test/x.png");
    assert_eq!(known.state, UrlState::Skipped(SkipReason::Extension));
    assert!(!known.in_queue());
    let c = counters(store, 1);
    assert_eq!((c.known, c.queued, c.skipped_extension), (1, 0, 1));
    assert!(claim(store, 10_000).is_empty());
}

pub fn a_result_without_its_row_is_refused_and_changes_nothing(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &["http://a.test/1", "http://a.test/2"]);
    finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
    let before = (store.jobs().unwrap(), all_urls(store));
    let found = vec![found("http://a.test/new", 1, 1, place(9))];
    let pages = vec![fetched(rows[1].clone(), 2), fetched(rows[0].clone(), 2)];
    assert!(store.commit(Batch { pages, discoveries: found, ..at(2) }).is_err());
    assert_eq!((store.jobs().unwrap(), all_urls(store)), before);
    home.reopen();
    assert_eq!((home.store().jobs().unwrap(), all_urls(home.store())), before);
    let doc = |store| row(store, "http://a.test/new").doc.running();
    give(home.store(), 3, vec![], vec![super::scene::found("http://a.test/new", 1, 1, place(9))]);
    assert_eq!(doc(home.store()), 2, "no number was lost");
}

pub fn ready_rows_before_a_place_are_counted_up_to_a_limit(home: &mut dyn Home) {
    let store = home.store();
    let names: Vec<String> = (1..=5).map(|n| format!("http://a.test/{n}")).collect();
    let all = names.iter().map(String::as_str).chain(["http://b.test/1"]);
    let rows = begun(store, job(1), &all.collect::<Vec<_>>());
    let before = |n, limit| store.ready_before(host("http://a.test/"), place(n), limit).unwrap();
    assert_eq!((before(1, 99), before(4, 99), before(99, 99)), (0, 3, 5));
    assert_eq!((before(4, 2), before(4, 0)), (2, 0));
    finish(store, 1, vec![retried(rows[1].clone(), 1, 50_000)]);
    assert_eq!(before(4, 99), 2, "what is on the calendar is not ready");
}
