//! Rows of a job that goes best-first, moved as their scores change.

use crate::scene::*;
use argiope_frontier::{Place, Refill, Score, place_of_score};
use argiope_model::{Job, JobId, JobState, Order};
use argiope_store::{Batch, Move, Next, Store};

const A: &str = "http://a.test/a";
const B: &str = "http://a.test/b";
const C: &str = "http://a.test/c";

fn at_level(level: u16, page: u64, index: usize) -> Place {
    place_of_score(Score::at_level(level), page, index)
}

fn to(url: &str, level: u16) -> Move {
    let score = Score::at_level(level);
    Move { key: key(url), job: JobId(1), score, may_fall: false }
}

fn moved(store: &dyn Store, moves: Vec<Move>) -> argiope_store::Committed {
    store.commit(Batch { moves, ..at(5) }).unwrap()
}

fn begin(store: &dyn Store) {
    let job = Job { order: Order::Best, ..job(1) };
    let urls = [A, B, C].into_iter().enumerate();
    let urls = urls.map(|(n, u)| found(u, 1, 1, at_level(10 + n as u16, 7, n)));
    give(store, 0, vec![new_job(job)], urls.collect());
}

fn paths(store: &dyn Store) -> Vec<String> {
    let rows = window(store, host(A), 2);
    rows.iter().map(|e| e.url.path().to_owned()).collect()
}

pub fn a_row_rises_to_where_its_score_belongs_and_stays_there(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    let told = moved(store, vec![to(C, 3)]);
    assert!(told.queued.is_empty(), "its host is not loaded");
    assert_eq!(row(store, C).place, Some(at_level(3, 7, 2)));
    assert_eq!(paths(store), ["/c", "/a", "/b"]);
    check(store);
    home.reopen();
    let store = home.store();
    assert_eq!(paths(store), ["/c", "/a", "/b"]);
    assert_eq!(counters(store, 1).queued, 3);
    check(store);
}

pub fn a_row_falls_only_where_it_may(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    moved(store, vec![to(A, 30)]);
    assert_eq!(paths(store), ["/a", "/b", "/c"]);
    moved(store, vec![Move { may_fall: true, ..to(A, 30) }]);
    assert_eq!(paths(store), ["/b", "/c", "/a"]);
    check(store);
}

pub fn moved_rows_of_loaded_hosts_are_told_where_they_are(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    let rows = claim_rows(store, 0);
    assert_eq!(rows.len(), 3);
    let told = moved(store, vec![to(B, 2), to(C, 99)]);
    let mut told: Vec<(Place, &str)> =
        told.queued.iter().map(|e| (e.place, e.url.path())).collect();
    told.sort();
    // What stays where it is is told too: whoever asked may have put it aside.
    assert_eq!(told, [(at_level(2, 7, 1), "/b"), (at_level(12, 7, 2), "/c")]);
    // Its result is that of the row at its new place.
    let after = window(store, host(A), 9).remove(0);
    finish(store, 6, vec![fetched(after, 6)]);
    assert_eq!(paths(store), ["/a", "/c"]);
    check(store);
}

pub fn a_row_found_and_moved_in_one_batch_is_told_once(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    claim(store, 0);
    let new = "http://a.test/new";
    let batch = Batch {
        discoveries: vec![found(new, 1, 2, at_level(50, 8, 0))],
        moves: vec![to(new, 20), to(new, 1), to(new, 5)],
        refills: vec![Refill { host: host(A), after: None, limit: 1 }],
        ..at(5)
    };
    let told = store.commit(batch).unwrap();
    assert!(!told.queued.is_empty());
    assert!(told.queued.iter().all(|e| e.place == at_level(1, 8, 0)));
    assert_eq!(told.refills[0].entries[0].url.path(), "/new");
    check(store);
}

pub fn what_does_not_wait_for_its_first_visit_is_not_moved(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    let rows = claim_rows(store, 0);
    let of = |url: &str| rows.iter().find(|e| e.key == key(url)).unwrap().clone();
    let back = of(B).place.with_line(3).held_back(Order::Best);
    let later = result(of(B), Next::Later(back), None);
    finish(store, 1, vec![fetched(of(A), 1), later, retried(of(C), 1, 60_000)]);
    let unknown = "http://a.test/unknown";
    moved(store, vec![to(A, 0), to(B, 0), to(C, 0), to(unknown, 0)]);
    assert_eq!(row(store, A).place, None);
    assert_eq!(row(store, B).place, Some(back));
    assert_eq!(row(store, C).place, Some(of(C).place));
    check(store);
    // It is there again at the place it had.
    give(store, 60_000, vec![], vec![]);
    moved(store, vec![to(C, 4)]);
    assert_eq!(row(store, C).place, Some(at_level(4, 7, 2)));
    check(store);
}

pub fn rows_of_other_jobs_are_not_moved(home: &mut dyn Home) {
    let store = home.store();
    begin(store);
    give(store, 1, vec![new_job(job(2))], vec![found(A, 2, 0, place(9))]);
    let theirs = Move { job: JobId(2), ..to(A, 0) };
    moved(store, vec![theirs]);
    assert_eq!(row(store, A).place, Some(at_level(10, 7, 0)));
    moved(store, vec![to(A, 1)]);
    assert_eq!(row(store, A).place, Some(at_level(1, 7, 0)));
    assert_eq!(row(store, A).wishes[0].place, place(9), "who waits, waits as before");
    // The same while nobody works on its job.
    give(store, 2, vec![set(1, JobState::Paused)], vec![]);
    moved(store, vec![to(B, 1)]);
    assert_eq!(row(store, B).place, Some(at_level(1, 7, 1)));
    check(store);
}
