//! Visits to what was visited before.

use crate::scene::*;
use argiope_frontier::Entry;
use argiope_frontier::revisit::PageState;
use argiope_model::{JobId, Time};
use argiope_store::{Batch, Forget, Next, PageResult, Store, UrlState};

const A: &str = "http://a.test/1";
const B: &str = "http://a.test/2";
const UNKNOWN: &str = "http://a.test/unknown";

fn plan(due: i64) -> PageState {
    PageState { due: Time(due), records: 2, ..PageState::default() }
}

/// A and B are known, A is fetched.
fn one_fetched(store: &dyn Store) {
    let rows = begun(store, job(1), &[A, B]);
    assert!(!rows[0].again);
    let page =
        PageResult { changed: true, plan: Some(plan(5_000)), ..fetched(rows[0].clone(), 1_000) };
    finish(store, 1_000, vec![page]);
}

/// Asks for visits again; says what is handed out.
fn again(store: &dyn Store, now: i64, urls: &[&str]) -> Vec<Entry> {
    let places = (0..).map(|n| place(100 + now as u64 * 10 + n));
    let again = urls.iter().map(|text| key(text)).zip(places).collect();
    store.commit(Batch { again, ..at(now) }).unwrap().queued
}

fn log_of(store: &dyn Store, text: &str) -> usize {
    let log = store.changes(key(text).host.part, 0, 99).unwrap();
    log.iter().filter(|change| change.key == key(text)).count()
}

pub fn what_was_visited_is_queued_again_and_stays_what_it_is_until_its_result(home: &mut dyn Home) {
    one_fetched(home.store());
    let queued = counters(home.store(), 1).queued;
    let entry = again(home.store(), 2_000, &[A]).remove(0);
    assert!(entry.again && !entry.expand && entry.job == JobId(1) && entry.key == key(A));
    home.reopen();
    let store = home.store();
    let known = row(store, A);
    assert_eq!((known.state, known.visits), (UrlState::Fetched, 1));
    assert!(known.is_again() && known.plan == Some(plan(5_000)));
    assert_eq!(counters(store, 1).queued, queued + 1);
    let page = PageResult { plan: Some(plan(9_000)), ..fetched(entry, 3_000) };
    finish(store, 3_000, vec![page]);
    let known = row(store, A);
    assert_eq!((known.visits, known.changes, known.in_queue()), (2, 0, false));
    assert_eq!((known.fetched_at, known.plan), (Some(Time(3_000)), Some(plan(9_000))));
    let counted = counters(store, 1);
    assert_eq!((counted.fetched, counted.unchanged, counted.queued), (1, 1, queued));
    assert_eq!(host_row(store, A).fetched, 1, "a page counts once");
}

pub fn what_is_queued_or_was_never_visited_is_not_queued_again(home: &mut dyn Home) {
    let store = home.store();
    one_fetched(store);
    let before = counters(store, 1).queued;
    assert_eq!(again(store, 2_000, &[B, UNKNOWN]), []);
    assert_eq!(counters(store, 1).queued, before);
    let first = again(store, 3_000, &[A]);
    assert_eq!(again(store, 4_000, &[A, A]), []);
    assert_eq!(counters(store, 1).queued, before + 1);
    assert_eq!(row(store, A).place, Some(first[0].place));
}

pub fn a_visit_that_finds_nothing_new_is_kept_and_not_told(home: &mut dyn Home) {
    let store = home.store();
    one_fetched(store);
    assert_eq!(log_of(store, A), 1);
    for (now, changed) in [(2_000, false), (3_000, true), (4_000, false)] {
        let entry = again(store, now, &[A]).remove(0);
        finish(store, now + 500, vec![PageResult { changed, ..fetched(entry, now + 500) }]);
    }
    assert_eq!((log_of(store, A), store.captures(key(A)).unwrap().len()), (2, 4));
    let known = row(store, A);
    assert_eq!((known.visits, known.changes, known.changed_at), (4, 1, Some(Time(3_500))));
}

pub fn a_page_that_is_gone_and_comes_back_is_told_each_time(home: &mut dyn Home) {
    let store = home.store();
    one_fetched(store);
    for (now, state) in
        [(2_000, UrlState::Failed), (3_000, UrlState::Failed), (4_000, UrlState::Fetched)]
    {
        let entry = again(store, now, &[A]).remove(0);
        finish(store, now + 500, vec![ended(entry, now + 500, state)]);
        assert_eq!(row(store, A).state, state);
        assert_eq!(counters(store, 1).failed, u64::from(state == UrlState::Failed));
    }
    assert_eq!(log_of(store, A), 4, "here, gone, still gone, back");
    assert_eq!(counters(store, 1).fetched, 1);
}

pub fn a_try_that_failed_is_made_again_as_a_visit_again(home: &mut dyn Home) {
    let store = home.store();
    one_fetched(store);
    let entry = again(store, 2_000, &[A]).remove(0);
    finish(store, 2_500, vec![retried(entry, 2_500, 4_000)]);
    assert_eq!(row(store, A).state, UrlState::Fetched);
    let entry = store.commit(at(4_500)).unwrap().queued.remove(0);
    assert!(entry.again && entry.attempts == 1);
    finish(store, 5_000, vec![result(entry, Next::Done(UrlState::Failed), None)]);
    assert_eq!(row(store, A).state, UrlState::Failed);
}

pub fn plans_are_kept_and_of_a_forgotten_url_there_is_none(home: &mut dyn Home) {
    let store = home.store();
    one_fetched(store);
    let plans = vec![(key(A), plan(7_000)), (key(UNKNOWN), plan(1_000))];
    store.commit(Batch { plans, ..at(2_000) }).unwrap();
    assert_eq!(row(store, A).plan, Some(plan(7_000)));
    let forget = Forget { urls: vec![key(A)], ..Forget::default() };
    store.commit(Batch { forget, ..at(3_000) }).unwrap();
    assert_eq!(row(store, A).plan, None);
    assert_eq!(again(store, 4_000, &[A]), []);
    let plans = vec![(key(A), plan(7_000))];
    store.commit(Batch { plans, ..at(4_000) }).unwrap();
    let known = row(store, A);
    assert!(known.plan.is_none() && !known.in_queue() && known.state == UrlState::Forgotten);
}
