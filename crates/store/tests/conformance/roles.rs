//! Behaviours of what a URL is asked for, and of URLs that are asked for again.

use crate::scene::*;
use argiope_frontier::SkipReason;
use argiope_model::{JobId, JobState, OutcomeKind, Role};
use argiope_store::{Batch, Discovery, UrlState};

const X: &str = "http://a.test/x";
const MAP: &str = "http://a.test/sitemap.xml";

pub fn role_and_hops_go_with_the_row_wherever_it_goes(home: &mut dyn Home) {
    give(home.store(), 0, vec![new_job(job(1))], vec![found(X, 1, 0, place(1))]);
    let led_to = |n| Discovery { hops: 3, ..sitemap(&format!("{MAP}?{n}"), 1, place(n)) };
    give(home.store(), 0, vec![], vec![led_to(2)]);
    let what = |entry: &argiope_frontier::Entry| (entry.role, entry.hops);
    let rows = claim_rows(home.store(), 0);
    assert_eq!((what(&rows[0]), what(&rows[1])), ((Role::Page, 0), (Role::Sitemap, 3)));
    // Told as it is found, read again, and back from the calendar.
    let told = give(home.store(), 0, vec![], vec![led_to(3)]).queued;
    assert_eq!(what(&told[0]), (Role::Sitemap, 3));
    finish(home.store(), 1, vec![retried(rows[1].clone(), 1, 50)]);
    home.reopen();
    let back = home.store().commit(at(50)).unwrap().queued.remove(0);
    assert_eq!((what(&back), back.attempts), ((Role::Sitemap, 3), 1));
    assert_eq!(window(home.store(), host(X), 9)[1], back);
    let row = row(home.store(), back.url.as_str());
    assert_eq!((row.role, row.hops), (Role::Sitemap, 3));
}

pub fn a_known_url_keeps_its_role_until_it_is_requested_anew(home: &mut dyn Home) {
    let store = home.store();
    let role = |text| (row(store, text).role, row(store, text).hops);
    let as_map = |text, job| Discovery { hops: 2, ..sitemap(text, job, place(6 + u64::from(job))) };
    let rows = begun(store, job(1), &[X, "http://a.test/failed"]);
    give(store, 0, vec![new_job(job(2))], vec![as_map(X, 1), as_map(X, 2)]);
    assert_eq!(role(X), (Role::Page, 0), "it is queued, and another waits");
    let failed = ended(rows[1].clone(), 1, UrlState::Failed);
    let told = finish(store, 1, vec![fetched(rows[0].clone(), 1), failed]);
    assert_eq!((told.queued[0].expand, told.queued[0].role), (true, Role::Page));
    finish(store, 2, vec![expanded(told.queued[0].clone())]);
    assert!(give(store, 3, vec![], vec![as_map(X, 1)]).queued.is_empty());
    let told = give(store, 4, vec![new_job(job(3))], vec![as_map(X, 3)]);
    assert!(told.queued[0].expand && told.queued[0].role == Role::Page, "nothing is requested");
    let told = give(store, 5, vec![], vec![as_map("http://a.test/failed", 2)]);
    assert_eq!((told.queued[0].role, told.queued[0].hops), (Role::Sitemap, 2));
    assert_eq!(role("http://a.test/failed"), (Role::Sitemap, 2));
    assert_eq!(role(X), (Role::Page, 0));
}

pub fn sitemaps_are_counted_as_such_and_as_nothing_else(home: &mut dyn Home) {
    let store = home.store();
    let maps = (0..5).map(|n| sitemap(&format!("{MAP}?{n}"), 1, place(n))).collect();
    give(store, 0, vec![new_job(job(1))], maps);
    let mut rows = claim_rows(store, 0).into_iter();
    let mut next = || rows.next().expect("five rows");
    let mut unchanged = fetched(next(), 1);
    unchanged.capture.as_mut().unwrap().outcome.kind = OutcomeKind::NotModified;
    let pages = vec![
        unchanged,
        fetched(next(), 1),
        ended(next(), 1, UrlState::Failed),
        ended(next(), 1, UrlState::Redirected),
        left_alone(next(), SkipReason::Robots),
    ];
    finish(store, 1, pages);
    let c = counters(store, 1);
    assert_eq!((c.sitemaps, c.fetched, c.unchanged), (2, 0, 0));
    assert_eq!((c.words, c.links, c.bytes), (0, 0, 400));
    assert_eq!((c.failed, c.errors, c.redirects, c.skipped_robots), (1, 1, 1, 1));
    let h = host_row(store, MAP);
    assert_eq!((h.fetched, h.failed, h.bytes, h.known), (0, 1, 400, 5));
}

pub fn what_is_left_alone_without_a_request_is_counted_by_its_reason(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X, "http://a.test/y"]);
    let pages = vec![
        left_alone(rows[0].clone(), SkipReason::Robots),
        left_alone(rows[1].clone(), SkipReason::GivenUp),
    ];
    finish(store, 1, pages);
    let found = vec![skipped("http://a.test/z", 1, 1, SkipReason::Robots)];
    give(store, 2, vec![], found);
    let c = counters(store, 1);
    assert_eq!((c.skipped_robots, c.skipped_given_up, c.queued, c.bytes), (2, 1, 0, 0));
    let x = row(store, X);
    assert_eq!((x.state, x.fetched_at), (UrlState::Skipped(SkipReason::Robots), None));
    assert!(store.captures(key(X)).unwrap().is_empty());
    assert!(store.changes(key(X).host.part, 0, 9).unwrap().is_empty());
}

pub fn what_the_job_gave_up_is_asked_again_when_it_is_told_to(home: &mut dyn Home) {
    let store = home.store();
    let states = [
        UrlState::Failed,
        UrlState::Skipped(SkipReason::Robots),
        UrlState::Skipped(SkipReason::GivenUp),
    ];
    let names = ["http://a.test/0", "http://a.test/1", "http://a.test/2"];
    let rows = begun(store, job(1), &names);
    let pages = rows.iter().zip(states).map(|(row, state)| match state {
        UrlState::Skipped(reason) => left_alone(row.clone(), reason),
        state => ended(row.clone(), 1, state),
    });
    finish(store, 1, pages.collect());
    let of = |n| match n {
        0 => counters(store, 1).failed,
        1 => counters(store, 1).skipped_robots,
        _ => counters(store, 1).skipped_given_up,
    };
    for (n, name) in names.iter().enumerate() {
        assert_eq!(of(n), 1);
        assert!(give(store, 2, vec![], vec![found(name, 1, 0, place(8))]).queued.is_empty());
        let skip = Discovery { again: true, ..skipped(name, 1, 0, SkipReason::Robots) };
        assert!(give(store, 2, vec![], vec![skip]).queued.is_empty(), "not if it is to be skipped");
        assert_eq!(of(n), 1);
        let again = Discovery { hops: 1, ..asked_again(name, 1, place(20 + n as u64)) };
        let told = give(store, 3, vec![], vec![again]).queued;
        assert_eq!((told.len(), told[0].expand, told[0].attempts, told[0].hops), (1, false, 0, 1));
        assert_eq!((of(n), counters(store, 1).queued), (0, 1));
        assert_eq!(row(store, name).state, UrlState::Queued);
        finish(store, 4 + n as i64, vec![fetched(told[0].clone(), 4)]);
    }
    let c = counters(store, 1);
    assert_eq!((c.fetched, c.errors, c.queued, c.known), (3, 1, 0, 3));
}

pub fn other_ends_stand_also_when_a_job_is_told_to_ask_again(home: &mut dyn Home) {
    let store = home.store();
    let names = ["http://a.test/0", "http://a.test/1", "http://a.test/2", "http://a.test/3"];
    let rows = begun(store, job(1), &names);
    let pages = vec![
        fetched(rows[0].clone(), 1),
        ended(rows[1].clone(), 1, UrlState::Redirected),
        ended(rows[2].clone(), 1, UrlState::Skipped(SkipReason::Type)),
    ];
    finish(store, 1, pages);
    let all = names.iter().map(|u| asked_again(u, 1, place(9))).collect();
    assert!(give(store, 2, vec![], all).queued.is_empty());
    assert_eq!(counters(store, 1).queued, 1, "and what is queued is queued once");
}

pub fn asking_again_takes_back_only_what_the_same_job_counted(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    finish(store, 1, vec![left_alone(rows[0].clone(), SkipReason::GivenUp)]);
    let told = give(store, 2, vec![new_job(job(2))], vec![asked_again(X, 2, place(2))]);
    let failed = |id| (counters(store, id).skipped_given_up, counters(store, id).failed);
    assert_eq!((failed(1), failed(2)), ((1, 0), (0, 0)));
    finish(store, 3, vec![ended(told.queued[0].clone(), 3, UrlState::Failed)]);
    assert_eq!((failed(1), failed(2)), ((1, 0), (0, 1)));
    let told = give(store, 4, vec![], vec![asked_again(X, 1, place(3))]);
    assert_eq!((failed(1), failed(2)), ((1, 0), (0, 1)), "job 2 did fail");
    assert_eq!(told.queued[0].job, JobId(1));
    finish(store, 5, vec![ended(told.queued[0].clone(), 5, UrlState::Failed)]);
    assert_eq!((failed(1), failed(2)), ((1, 1), (0, 1)));
    give(store, 6, vec![], vec![asked_again(X, 1, place(4))]);
    assert_eq!((failed(1), failed(2)), ((1, 0), (0, 1)));
}

pub fn a_row_taken_over_while_out_is_counted_and_taken_back_by_who_asked(home: &mut dyn Home) {
    let store = home.store();
    let rows = begun(store, job(1), &[X]);
    let jobs = vec![set(1, JobState::Dropped), new_job(job(2))];
    give(store, 1, jobs, vec![found(X, 2, 4, place(2))]);
    let failed = || (counters(store, 1).failed, counters(store, 2).failed);
    finish(store, 2, vec![ended(rows[0].clone(), 2, UrlState::Failed)]);
    assert_eq!(failed(), (1, 0));
    assert_eq!(row(store, X).jobs, [JobId(2), JobId(1)], "the last is the one that asked");
    let told = give(store, 3, vec![], vec![asked_again(X, 2, place(3))]);
    assert_eq!((told.queued.len(), failed()), (1, (1, 0)));
}

pub fn a_forgiven_host_is_asked_for_what_it_had_lost(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[X, "http://a.test/y"]);
    let pages = rows.into_iter().map(|e| left_alone(e, SkipReason::GivenUp)).collect();
    let releases = vec![argiope_frontier::Release { temper: temper(9), ..release(host(X), 0) }];
    home.store().commit(Batch { pages, releases, ..at(1) }).unwrap();
    home.reopen();
    let lost = home.store().host_urls(host(X), None, 99).unwrap();
    let again: Vec<Discovery> = lost
        .iter()
        .filter(|(_, row)| row.state == UrlState::Skipped(SkipReason::GivenUp))
        .zip(10..)
        .map(|((_, row), n)| asked_again(row.url.as_str(), row.job().0, place(n)))
        .collect();
    let batch = Batch { forgive: vec![host(X)], discoveries: again, ..at(2) };
    home.store().commit(batch).unwrap();
    let windows = claim(home.store(), 1_000);
    assert_eq!((windows[0].entries.len(), &windows[0].temper), (2, &temper(0)));
    let c = counters(home.store(), 1);
    assert_eq!((c.skipped_given_up, c.queued), (0, 2));
}
