//! Behaviours of several jobs over the same URLs, and of depth.

use crate::scene::*;
use argiope_frontier::SkipReason;
use argiope_model::{JobId, JobState, Limits};
use argiope_store::{Batch, JobChange, UrlState};
use std::time::Duration;

const X: &str = "http://a.test/x";

pub fn a_shorter_way_lowers_the_depth(home: &mut dyn Home) {
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![found(X, 1, 5, place(1))]);
    let told = give(store, 0, vec![], vec![found(X, 1, 7, place(2))]);
    assert!(told.queued.is_empty() && row(store, X).depth == 5);
    give(store, 0, vec![], vec![found(X, 1, 2, place(3))]);
    let rows = claim_rows(store, 0);
    assert_eq!((rows[0].depth, rows[0].place, row(store, X).depth), (2, place(1), 2));
    finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
    give(store, 2, vec![], vec![found(X, 1, 1, place(4))]);
    assert_eq!((row(store, X).depth, counters(store, 1).queued), (1, 0));
}

pub fn a_shorter_way_under_a_depth_limit_expands_a_fetched_page_again(home: &mut dyn Home) {
    let store = home.store();
    give(store, 0, vec![new_job(shallow_job(1, 3))], vec![found(X, 1, 3, place(1))]);
    let rows = claim_rows(store, 0);
    finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
    let told = give(store, 2, vec![], vec![found(X, 1, 2, place(7))]);
    let again = &told.queued[0];
    assert!(again.expand);
    assert_eq!((again.depth, again.place, counters(store, 1).queued), (2, place(7), 1));
    assert_eq!(row(store, X).state, UrlState::Fetched, "it stays what it is");
    finish(store, 3, vec![expanded(again.clone())]);
    let after = row(store, X);
    assert_eq!((after.in_queue(), after.visits, after.depth), (false, 1, 2));
    assert!(give(store, 4, vec![], vec![found(X, 1, 2, place(8))]).queued.is_empty());
}

pub fn a_shorter_way_met_while_the_page_is_out_expands_it_under_a_depth_limit_only(
    home: &mut dyn Home,
) {
    for (id, job) in [(1, shallow_job(1, 3)), (2, job(2))] {
        let store = home.store();
        let u = format!("http://h{id}.test/");
        give(store, 0, vec![new_job(job)], vec![found(&u, id, 3, place(1))]);
        let rows = claim_rows(store, 0);
        give(store, 0, vec![], vec![found(&u, id, 1, place(2))]);
        let told = finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
        if id == 1 {
            // The links were judged by the longer way.
            let again = told.queued[0].clone();
            assert!(again.expand && again.place == place(1) && again.depth == 1);
            assert_eq!(counters(store, id).queued, 1);
            finish(store, 2, vec![expanded(again)]);
        }
        assert_eq!(row(store, &u).depth, 1);
        assert_eq!(counters(store, id).queued, 0);
    }
}

pub fn another_jobs_shorter_way_does_not_change_the_depth_of_a_queued_row(home: &mut dyn Home) {
    let store = home.store();
    let jobs = vec![new_job(shallow_job(1, 3)), new_job(job(2))];
    give(store, 0, jobs, vec![found(X, 1, 3, place(1))]);
    give(store, 0, vec![], vec![found(X, 2, 0, place(2))]);
    assert_eq!(claim_rows(store, 0)[0].depth, 3, "or job 1 would go deeper than it may");
}

pub fn a_page_behind_the_depth_limit_is_queued_when_a_shorter_way_is_found(home: &mut dyn Home) {
    let store = home.store();
    let far = skipped(X, 1, 4, SkipReason::Depth);
    give(store, 0, vec![new_job(shallow_job(1, 3))], vec![far]);
    assert_eq!(counters(store, 1).skipped_depth, 1);
    give(store, 0, vec![], vec![found(X, 1, 3, place(1))]);
    let c = counters(store, 1);
    assert_eq!((c.skipped_depth, c.queued, c.known), (0, 1, 1));
    let rows = claim_rows(store, 0);
    assert_eq!((rows[0].depth, rows[0].expand), (3, false));
}

pub fn a_second_job_expands_fetched_pages_without_a_request(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X, "http://a.test/r"]);
    let pages = vec![fetched(rows[0].clone(), 1), ended(rows[1].clone(), 1, UrlState::Redirected)];
    finish(store, 1, pages);
    let seeds = vec![found(X, 2, 0, place(3)), found("http://a.test/r", 2, 0, place(4))];
    let told = give(store, 2, vec![new_job(job(2))], seeds);
    assert_eq!(told.queued.len(), 2);
    assert!(told.queued.iter().all(|e| e.expand && e.job == JobId(2)));
    assert_eq!(counters(store, 2).queued, 2);
    finish(store, 3, told.queued.into_iter().map(expanded).collect());
    let c = counters(store, 2);
    assert_eq!((c.queued, c.fetched, c.bytes, c.known), (0, 0, 0, 0));
    assert_eq!(row(store, X).jobs, [JobId(1), JobId(2)]);
    assert_eq!(row(store, X).visits, 1);
    assert!(give(store, 4, vec![], vec![found(X, 2, 0, place(5))]).queued.is_empty());
}

pub fn a_job_for_news_takes_back_what_another_has_taken_and_no_other_job_does(home: &mut dyn Home) {
    for (id, news) in [(1, true), (3, false)] {
        let store = home.store();
        let (u, other) = (format!("http://h{id}.test/"), id + 1);
        let of = argiope_model::Job { news, ..job(id) };
        give(store, 0, vec![new_job(of)], vec![found(&u, id, 2, place(1))]);
        let rows = claim_rows(store, 0);
        finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
        let told = give(store, 2, vec![new_job(job(other))], vec![found(&u, other, 1, place(2))]);
        finish(store, 3, vec![expanded(told.queued[0].clone())]);
        assert_eq!((row(store, &u).job(), row(store, &u).depth), (JobId(other), 1));
        let told = give(store, 4, vec![], vec![found(&u, id, 2, place(3))]);
        if news {
            assert!(told.queued[0].expand && told.queued[0].job == JobId(id));
            finish(store, 5, vec![expanded(told.queued[0].clone())]);
            let told = give(store, 6, vec![], vec![found(&u, id, 2, place(4))]);
            assert!(told.queued.is_empty(), "it has it");
        } else {
            assert!(told.queued.is_empty());
        }
        let known = row(store, &u);
        assert_eq!((known.job() == JobId(id), known.depth == 2), (news, news));
        assert_eq!((counters(store, id).queued, counters(store, other).queued), (0, 0));
    }
}

pub fn a_shorter_way_leaves_the_depth_of_a_page_that_another_job_has(home: &mut dyn Home) {
    let store = home.store();
    give(store, 0, vec![new_job(job(1))], vec![found(X, 1, 5, place(1))]);
    let rows = claim_rows(store, 0);
    finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
    let told = give(store, 2, vec![new_job(job(2))], vec![found(X, 2, 4, place(2))]);
    finish(store, 3, vec![expanded(told.queued[0].clone())]);
    give(store, 4, vec![], vec![found(X, 1, 0, place(3))]);
    assert_eq!((row(store, X).job(), row(store, X).depth), (JobId(2), 4));
    give(store, 5, vec![], vec![found(X, 2, 3, place(4))]);
    assert_eq!(row(store, X).depth, 3);
}

pub fn failed_pages_are_tried_again_by_a_new_job_and_not_by_the_same(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    let told = finish(store, 1, vec![retried(rows[0].clone(), 1, 50)]);
    assert!(told.queued.is_empty());
    let back = store.commit(at(50)).unwrap().queued.remove(0);
    finish(store, 51, vec![ended(back, 51, UrlState::Failed)]);
    assert!(give(store, 52, vec![], vec![found(X, 1, 0, place(2))]).queued.is_empty());
    let told = give(store, 53, vec![new_job(job(2))], vec![found(X, 2, 0, place(3))]);
    let entry = &told.queued[0];
    assert_eq!((entry.expand, entry.attempts, entry.job), (false, 0, JobId(2)));
    assert_eq!(row(store, X).state, UrlState::Queued);
}

pub fn what_one_job_left_alone_another_may_fetch(home: &mut dyn Home) {
    let store = home.store();
    let png = |n| format!("http://a.test/{n}.png");
    let skip = |n, job| skipped(&png(n), job, 1, SkipReason::Extension);
    give(store, 0, vec![new_job(job(1))], vec![skip(1, 1), skip(2, 1)]);
    give(store, 0, vec![new_job(job(2))], vec![skip(3, 2), skip(1, 2)]);
    assert!(give(store, 1, vec![], vec![found(&png(1), 1, 0, place(1))]).queued.is_empty());
    assert!(!row(store, &png(1)).in_queue());
    give(store, 1, vec![], vec![found(&png(1), 2, 0, place(1))]);
    assert_eq!(claim_rows(store, 1).len(), 1);
    assert_eq!(counters(store, 1).skipped_extension, 2, "the first job did leave it alone");
    assert_eq!(counters(store, 2).skipped_extension, 1, "and the second had another");
}

pub fn rows_of_a_paused_or_dropped_job_are_taken_over(home: &mut dyn Home) {
    let states = [JobState::Paused, JobState::Dropped, JobState::Limited, JobState::Done];
    for (n, state) in (0u32..).zip(states) {
        let (first, second) = (2 * n + 1, 2 * n + 2);
        let store = home.store();
        let queued = || (counters(store, first).queued, counters(store, second).queued);
        let u = format!("http://h{n}.test/");
        let jobs = vec![new_job(job(first)), new_job(job(second))];
        give(store, 0, jobs, vec![found(&u, first, 4, place(5))]);
        give(store, 0, vec![set(first, state)], vec![found(&u, second, 1, place(9))]);
        let comes_back = matches!(state, JobState::Paused | JobState::Limited);
        assert_eq!(queued(), (u64::from(comes_back), 1));
        let rows = claim_rows(store, 0);
        assert_eq!((rows[0].job, rows[0].depth), (JobId(second), 1));
        assert_eq!(rows[0].place, place(5), "it keeps its place");
        finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
        assert_eq!(queued(), (u64::from(comes_back), 0));
        if comes_back {
            // Opened again, the first looks at the page under its own rules.
            give(store, 2, vec![set(first, JobState::Open)], vec![]);
            let again = window(store, host(&u), 9).remove(0);
            assert_eq!((again.job, again.depth, again.expand), (JobId(first), 4, true));
            finish(store, 3, vec![expanded(again)]);
        }
        assert_eq!(queued(), (0, 0));
    }
}

pub fn a_job_that_meets_a_queued_url_gets_its_turn_after_the_owner(home: &mut dyn Home) {
    let jobs = vec![new_job(job(1)), new_job(shallow_job(2, 3))];
    give(home.store(), 0, jobs, vec![found(X, 1, 4, place(5))]);
    let told = give(home.store(), 0, vec![], vec![found(X, 2, 3, place(9))]);
    assert!(told.queued.is_empty());
    give(home.store(), 0, vec![], vec![found(X, 2, 2, place(10)), found(X, 2, 3, place(11))]);
    home.reopen();
    let store = home.store();
    let queued = || (counters(store, 1).queued, counters(store, 2).queued);
    assert_eq!(queued(), (1, 1), "neither is done");
    let rows = claim_rows(store, 0);
    assert_eq!((rows.len(), rows[0].job, rows[0].depth), (1, JobId(1), 4), "one row");
    let told = finish(store, 1, vec![fetched(rows[0].clone(), 1)]);
    let turn = told.queued[0].clone();
    assert_eq!((turn.job, turn.depth, turn.expand), (JobId(2), 2, true));
    assert_eq!((turn.place, queued()), (place(9), (0, 1)));
    finish(store, 2, vec![expanded(turn)]);
    assert_eq!((queued(), row(store, X).visits), ((0, 0), 1));
}

pub fn what_failed_for_the_owner_is_tried_for_the_job_that_waits(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    give(store, 0, vec![new_job(job(2))], vec![found(X, 2, 1, place(9))]);
    finish(store, 1, vec![retried(rows[0].clone(), 1, 50)]);
    let back = store.commit(at(50)).unwrap().queued.remove(0);
    assert_eq!(back.job, JobId(1), "the owner tries again first");
    let told = finish(store, 51, vec![ended(back, 51, UrlState::Failed)]);
    let turn = told.queued[0].clone();
    assert_eq!((turn.job, turn.expand, turn.attempts), (JobId(2), false, 0));
    assert_eq!((counters(store, 1).failed, counters(store, 1).queued), (1, 0));
    finish(store, 52, vec![fetched(turn, 52)]);
    assert_eq!((counters(store, 2).fetched, counters(store, 2).queued), (1, 0));
}

pub fn what_failed_for_another_job_stays_queued_for_its_owner(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    // Taken over while it is out.
    let jobs = vec![set(1, JobState::Paused), new_job(job(2))];
    give(store, 1, jobs, vec![found(X, 2, 2, place(8))]);
    let told = finish(store, 2, vec![ended(rows[0].clone(), 2, UrlState::Failed)]);
    let mine = told.queued[0].clone();
    assert_eq!((mine.job, mine.expand, mine.place), (JobId(2), false, place(8)));
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (0, 1));
    finish(store, 3, vec![fetched(mine, 3)]);
    assert_eq!((row(store, X).state, counters(store, 2).queued), (UrlState::Fetched, 0));
}

pub fn rows_whose_owner_is_set_aside_are_handed_out_for_the_job_that_waits(home: &mut dyn Home) {
    let store = home.store();
    let jobs = vec![new_job(job(1)), new_job(job(2))];
    give(store, 0, jobs, vec![found(X, 1, 4, place(5))]);
    give(store, 0, vec![], vec![found(X, 2, 1, place(9))]);
    give(store, 0, vec![set(1, JobState::Limited)], vec![]);
    let rows = claim_rows(store, 0);
    assert_eq!((rows[0].job, rows[0].depth, rows[0].place), (JobId(2), 1, place(5)));
    finish(store, 1, vec![retried(rows[0].clone(), 1, 50)]);
    let back = store.commit(at(50)).unwrap().queued.remove(0);
    assert_eq!((back.job, back.attempts), (JobId(2), 1));
    finish(store, 51, vec![fetched(back, 51)]);
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (1, 0));
    assert!(window(store, host(X), 9).is_empty());
    give(store, 52, vec![JobChange::Renew(Box::new(job(1)))], vec![]);
    let again = window(store, host(X), 9).remove(0);
    assert_eq!((again.job, again.depth, again.expand), (JobId(1), 4, true));
}

pub fn a_row_on_the_calendar_is_taken_over_with_its_due_time_and_attempts(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X]);
    finish(home.store(), 1, vec![retried(rows[0].clone(), 1, 5_000)]);
    let jobs = vec![set(1, JobState::Dropped), new_job(job(2))];
    let told = give(home.store(), 2, jobs, vec![found(X, 2, 0, place(8))]);
    assert!(told.queued.is_empty(), "it is not due");
    assert_eq!((counters(home.store(), 1).queued, counters(home.store(), 2).queued), (0, 1));
    home.reopen();
    let back = home.store().commit(at(5_000)).unwrap().queued.remove(0);
    assert_eq!((back.job, back.attempts, back.place), (JobId(2), 1, place(1)));
    // Due and taken over in one batch.
    finish(home.store(), 5_001, vec![retried(back, 5_001, 9_000)]);
    let jobs = vec![set(2, JobState::Paused), new_job(job(3))];
    let told = give(home.store(), 9_000, jobs, vec![found(X, 3, 0, place(9))]);
    let last = told.queued.last().expect("it is due");
    assert_eq!((last.job, last.attempts, last.place), (JobId(3), 2, place(1)));
    assert_eq!(window(home.store(), host(X), 9), std::slice::from_ref(last));
}

pub fn a_row_taken_over_while_it_is_out_is_expanded_for_its_new_owner(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    let jobs = vec![set(1, JobState::Paused), new_job(job(2))];
    give(store, 1, jobs, vec![found(X, 2, 2, place(8))]);
    let told = finish(store, 2, vec![fetched(rows[0].clone(), 2)]);
    let again = &told.queued[0];
    assert_eq!((again.job, again.depth, again.expand), (JobId(2), 2, true));
    assert_eq!(counters(store, 1).fetched, 1, "who asked counts it");
    assert_eq!((counters(store, 1).queued, counters(store, 2).queued), (0, 1));
    finish(store, 3, vec![expanded(again.clone())]);
    assert_eq!(counters(store, 2).queued, 0);
}

pub fn rows_of_paused_jobs_are_passed_over_and_reappear_when_the_job_opens(home: &mut dyn Home) {
    let store = home.store();
    let h = host("http://a.test/");
    let all = (1..=6).map(|n| {
        let u = format!("http://a.test/{n}");
        found(&u, 1 + n as u32 % 2, 0, place(n))
    });
    give(store, 0, vec![new_job(job(1)), new_job(job(2))], all.collect());
    let places = || window(store, h, 2).iter().map(|e| e.place.order).collect::<Vec<_>>();
    assert_eq!(places(), [1, 2, 3, 4, 5, 6]);
    give(store, 0, vec![set(1, JobState::Paused)], vec![]);
    assert_eq!(places(), [1, 3, 5]);
    give(store, 0, vec![set(2, JobState::Limited)], vec![]);
    assert!(places().is_empty());
    give(store, 0, vec![JobChange::Renew(Box::new(job(1)))], vec![]);
    assert_eq!(places(), [2, 4, 6]);
    give(store, 0, vec![set(2, JobState::Open)], vec![]);
    assert_eq!(places(), [1, 2, 3, 4, 5, 6]);
}

pub fn job_rows_tell_state_limits_and_time_spent(home: &mut dyn Home) {
    give(home.store(), 0, vec![new_job(job(2)), new_job(job(1))], vec![]);
    let limits = Limits { pages: Some(7), ..Limits::default() };
    let renewed = argiope_model::Job { limits, ..job(1) };
    let spent = JobChange::Ran(JobId(1), Duration::from_millis(1_500));
    let jobs = vec![set(1, JobState::Limited), spent.clone(), spent];
    let told = home.store().commit(Batch { jobs, ..at(0) }).unwrap();
    assert_eq!(told.jobs.len(), 1, "only what changed is told");
    give(home.store(), 0, vec![JobChange::Renew(Box::new(renewed.clone()))], vec![]);
    home.reopen();
    let ids: Vec<u32> = home.store().jobs().unwrap().iter().map(|r| r.job.id.0).collect();
    assert_eq!(ids, [1, 2]);
    let one = job_row(home.store(), 1);
    assert_eq!((one.job, one.state, one.counters.run_ms), (renewed, JobState::Open, 3_000));
    assert!(home.store().commit(Batch { jobs: vec![set(9, JobState::Open)], ..at(0) }).is_err());
}
