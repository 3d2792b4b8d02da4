//! Behaviours of sites that are excluded by hand, and of what hosts take up on disk.

use crate::scene::*;
use argiope_frontier::{Entry, SkipReason, Trap};
use argiope_model::{Capture, Location, OutcomeKind, Time};
use argiope_store::{Batch, Discovery, Next, PageResult, UrlState};

const A: &str = "http://a.test/1";
const B: &str = "http://b.test/1";
const EXCLUDED: UrlState = UrlState::Skipped(SkipReason::Excluded);

fn exclude(now: i64, name: &str, hosts: &[&str]) -> Batch {
    Batch {
        exclusions: vec![(name.into(), true)],
        exclude: hosts.iter().map(|text| host(text)).collect(),
        ..at(now)
    }
}

pub fn names_are_kept_until_they_are_taken_back(home: &mut dyn Home) {
    home.store().commit(exclude(5, "b.test", &["http://none.test/"])).unwrap();
    home.store().commit(exclude(6, "a.test", &[])).unwrap();
    // Said twice, it holds since the first time.
    home.store().commit(exclude(7, "b.test", &[])).unwrap();
    home.reopen();
    let kept = home.store().exclusions().unwrap();
    assert_eq!(kept, [("a.test".into(), Time(6)), ("b.test".into(), Time(5))]);
    assert!(home.store().scan_hosts(None, 9).unwrap().is_empty(), "a name makes no host");
    let exclusions =
        vec![("b.test".into(), false), ("c.test".into(), true), ("c.test".into(), false)];
    home.store().commit(Batch { exclusions, ..at(8) }).unwrap();
    home.reopen();
    assert_eq!(home.store().exclusions().unwrap(), [("a.test".into(), Time(6))]);
}

pub fn an_excluded_host_is_loaded_at_once_to_be_refused(home: &mut dyn Home) {
    begun(home.store(), job(1), &[A, B]);
    let releases = vec![release(host(A), 900_000), release(host(B), 900_000)];
    home.store().commit(Batch { releases, ..at(1) }).unwrap();
    home.store().commit(exclude(2, "a.test", &[A])).unwrap();
    home.reopen();
    let windows = claim(home.store(), 1_000);
    assert_eq!(windows.len(), 1);
    assert_eq!((windows[0].host, windows[0].temper.excluded), (host(A), true));
    assert_eq!(windows[0].not_before, Time(900_000), "what it was promised stays");
    let left = left_alone(windows[0].entries[0].clone(), SkipReason::Excluded);
    let releases = vec![argiope_frontier::Release {
        temper: windows[0].temper.clone(),
        ..release(host(A), 900_000)
    }];
    home.store().commit(Batch { pages: vec![left], releases, ..at(3) }).unwrap();
    let c = counters(home.store(), 1);
    assert_eq!((c.skipped_excluded, c.queued), (1, 1));
    assert!(host_row(home.store(), A).temper.excluded);
}

pub fn what_waits_for_an_excluded_host_is_ready_at_once(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[A, B]);
    let (a, b) = match rows[0].key == key(A) {
        true => (rows[0].clone(), rows[1].clone()),
        false => (rows[1].clone(), rows[0].clone()),
    };
    let pages = vec![retried(a, 1, 500_000), retried(b, 1, 500_000)];
    home.store().commit(Batch { pages, ..at(1) }).unwrap();
    let told = home.store().commit(exclude(2, "a.test", &[A])).unwrap();
    let ready: Vec<_> = told.queued.iter().map(|e| e.url.as_str()).collect();
    assert_eq!(ready, [A], "its host is loaded");
    assert_eq!(told.next_due, Some(Time(500_000)), "the other waits");
    let row = row(home.store(), A);
    assert_eq!((row.due, row.attempts), (None, 1));
}

pub fn a_url_first_met_on_an_excluded_site_is_skipped_and_a_known_one_is_queued(
    home: &mut dyn Home,
) {
    let store = home.store();
    let rows = begun(store, job(1), &[A]);
    store.commit(Batch { pages: vec![fetched(rows[0].clone(), 1)], ..at(1) }).unwrap();
    store.commit(exclude(2, "a.test", &[A])).unwrap();
    let met = |text, n: u32| Discovery {
        place: place(u64::from(n)),
        ..skipped(text, n, 1, SkipReason::Excluded)
    };
    give(
        store,
        3,
        vec![new_job(job(2))],
        vec![met("http://a.test/2", 1), Discovery { place: place(9), ..met(A, 2) }],
    );
    assert_eq!(
        (row(store, "http://a.test/2").state, row(store, "http://a.test/2").place),
        (EXCLUDED, None)
    );
    assert_eq!((counters(store, 1).skipped_excluded, counters(store, 1).queued), (1, 0));
    let known = row(store, A);
    assert!(known.expand && known.in_queue(), "its links are the second job's, without a request");
    // The second job has met the skipped one, and its row comes up to be refused.
    give(store, 4, Vec::new(), vec![met("http://a.test/2", 2)]);
    assert_eq!(counters(store, 2).queued, 2);
    give(store, 5, Vec::new(), vec![met("http://a.test/2", 2)]);
    assert_eq!(counters(store, 2).queued, 2, "once");
    let ready = window(store, host(A), 9).into_iter().filter(|e| !e.expand);
    let pages: Vec<PageResult> = ready.map(|e| left_alone(e, SkipReason::Excluded)).collect();
    assert_eq!(pages.len(), 1);
    store.commit(Batch { pages, ..at(7) }).unwrap();
    assert_eq!((counters(store, 2).skipped_excluded, counters(store, 2).queued), (1, 1));
}

pub fn a_forgiven_site_is_asked_for_what_was_left_alone(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[A, "http://a.test/2"]);
    home.store().commit(exclude(1, "a.test", &[A])).unwrap();
    let pages = rows.into_iter().map(|e| left_alone(e, SkipReason::Excluded)).collect();
    let releases = vec![release(host(A), 5_000)];
    home.store().commit(Batch { pages, releases, ..at(2) }).unwrap();
    home.reopen();
    let discoveries =
        vec![asked_again(A, 1, place(7)), asked_again("http://a.test/2", 1, place(8))];
    let forgiven = Batch {
        exclusions: vec![("a.test".into(), false)],
        forgive: vec![host(A)],
        discoveries,
        ..at(3)
    };
    home.store().commit(forgiven).unwrap();
    let c = counters(home.store(), 1);
    assert_eq!((c.skipped_excluded, c.queued), (0, 2));
    assert!(!host_row(home.store(), A).temper.excluded);
    assert!(claim(home.store(), 4_000).is_empty(), "it keeps the time it was promised");
    assert_eq!(claim_rows(home.store(), 5_000).len(), 2);
}

pub fn what_captures_take_up_is_counted_for_their_host(home: &mut dyn Home) {
    let rows = begun(home.store(), job(1), &[A, "http://a.test/2", "http://a.test/3", B]);
    let at_length = |length| Some(Location { segment: 1, offset: 9, length });
    let page = |entry: &argiope_frontier::Entry, record, text, revisit| {
        let kept = Capture {
            record,
            text,
            revisit,
            ..capture(entry, Time(entry.place.order as i64 + 10), OutcomeKind::Fetched)
        };
        result(entry.clone(), Next::Done(UrlState::Fetched), Some(kept))
    };
    let of_a: Vec<_> = rows.iter().filter(|e| e.key.host == host(A)).collect();
    let pages = vec![
        page(of_a[0], at_length(700), at_length(50), false),
        // Another's text is not its own; without an archive there is text alone.
        page(of_a[1], at_length(90), at_length(50), true),
        page(of_a[2], None, at_length(4), false),
    ];
    home.store().commit(Batch { pages, ..at(9) }).unwrap();
    home.reopen();
    assert_eq!(host_row(home.store(), A).disk, Some(844));
    assert_eq!(home.store().host_disk(host(A)).unwrap(), 844);
    assert_eq!(
        (host_row(home.store(), B).disk, home.store().host_disk(host(B)).unwrap()),
        (Some(0), 0)
    );
    let import = page(of_a[0], at_length(1_000), None, false);
    home.store().commit(Batch { imports: vec![import], ..at(99) }).unwrap();
    assert_eq!(host_row(home.store(), A).disk, Some(1_844));
}

pub fn patterns_are_kept_beside_the_names(home: &mut dyn Home) {
    let trap = Trap { pages: 7, deepest: 12, examples: vec!["x".into()], ..Trap::default() };
    let traps = vec![("http://a.test/c/…".into(), Some(trap.clone())), ("b".into(), None)];
    home.store().commit(Batch { traps, ..exclude(5, "a.test", &[]) }).unwrap();
    home.reopen();
    assert_eq!(home.store().traps().unwrap(), [("http://a.test/c/…".into(), trap.clone())]);
    assert_eq!(home.store().exclusions().unwrap(), [("a.test".into(), Time(5))]);
    // The last word counts.
    let forgiven = Trap { forgiven: Some(Time(9)), ..trap };
    let traps = vec![("http://a.test/c/…".into(), Some(forgiven.clone()))];
    home.store().commit(Batch { traps, ..at(9) }).unwrap();
    assert_eq!(home.store().traps().unwrap()[0].1, forgiven);
    let traps = vec![("http://a.test/c/…".into(), None)];
    home.store().commit(Batch { traps, ..at(10) }).unwrap();
    home.reopen();
    assert!(home.store().traps().unwrap().is_empty());
    assert_eq!(home.store().exclusions().unwrap().len(), 1);
}

pub fn delays_are_kept_beside_the_names(home: &mut dyn Home) {
    let delays = vec![("b.test".into(), Some(2_500)), ("a.test".into(), Some(0))];
    home.store().commit(Batch { delays, ..exclude(5, "a.test", &[]) }).unwrap();
    home.reopen();
    let kept = home.store().delays().unwrap();
    assert_eq!(kept, [("a.test".into(), 0), ("b.test".into(), 2_500)]);
    assert_eq!(home.store().exclusions().unwrap(), [("a.test".into(), Time(5))]);
    assert!(home.store().traps().unwrap().is_empty());
    // The last word counts.
    let delays =
        vec![("b.test".into(), Some(7)), ("b.test".into(), Some(9_000)), ("a.test".into(), None)];
    home.store().commit(Batch { delays, ..at(6) }).unwrap();
    home.reopen();
    assert_eq!(home.store().delays().unwrap(), [("b.test".into(), 9_000)]);
    assert_eq!(home.store().exclusions().unwrap().len(), 1);
}

pub fn a_row_may_be_put_at_another_place(home: &mut dyn Home) {
    const C: &str = "http://a.test/2";
    let rows = begun(home.store(), job(1), &[A, C]);
    let (first, second) = (rows[0].clone(), rows[1].clone());
    let back = first.place.with_line(3).held_back(argiope_model::Order::Breadth, false);
    let later =
        PageResult { words: 0, link_count: 0, ..result(first.clone(), Next::Later(back), None) };
    let told = home.store().commit(Batch { pages: vec![later], ..at(3) }).unwrap();
    let moved = Entry { place: back, ..first.clone() };
    assert_eq!(told.queued, std::slice::from_ref(&moved), "who has the host loaded is told");
    let c = counters(home.store(), 1);
    assert_eq!((c.queued, c.fetched, c.failed), (2, 0, 0));
    check(home.store());
    home.store().commit(Batch { releases: vec![release(host(A), 0)], ..at(4) }).unwrap();
    home.reopen();
    let windows = claim(home.store(), 5_000);
    assert_eq!(windows[0].entries, [second, moved.clone()], "it stands behind the other");
    home.store().commit(Batch { pages: vec![fetched(moved, 6_000)], ..at(6_000) }).unwrap();
    assert_eq!(counters(home.store(), 1).fetched, 1);
    check(home.store());
}
