//! Politeness, order and memory of the loaded hosts, in virtual time.

mod world;

use argiope_frontier::{Answered, Entry, Frontier, Heard, HostWindow, Place, Politeness, Task};
use argiope_model::{JobId, Time, UrlKey};
use std::time::Duration;
use world::*;

/// The next visit; nothing else is due in these tests.
fn visit(frontier: &mut Frontier, now: i64, leads: impl FnOnce(&Entry) -> Place) -> Option<Entry> {
    match frontier.next(Time(now), leads, |_| None)? {
        Task::Visit(entry) => Some(entry),
        other => panic!("{other:?}"),
    }
}

fn next(frontier: &mut Frontier, now: i64) -> Option<(u8, u64)> {
    let entry = visit(frontier, now, leads_last)?;
    Some((entry.key.host.host[0], entry.place.order))
}

fn answered(frontier: &mut Frontier, n: u8, order: u64, now: i64) {
    let answer = Answered { end: Some(Time(now)), redirect: false, heard: Heard::default() };
    frontier.answered(host(n), Some(place(order)), answer, Time(now));
}

#[test]
fn the_delay_runs_from_the_end_of_one_answer_to_the_start_of_the_next_request() {
    let mut frontier = Frontier::new(rules(1));
    frontier.load(window(1, 1..3), Time(0));
    assert_eq!(next(&mut frontier, 0), Some((1, 1)));
    assert_eq!(next(&mut frontier, 5_000), None, "its connection is out");
    answered(&mut frontier, 1, 1, 5_000);
    assert_eq!(frontier.next_wake(), Some(Time(6_000)));
    assert_eq!(next(&mut frontier, 5_999), None);
    assert_eq!(next(&mut frontier, 6_000), Some((1, 2)));
}

#[test]
fn a_row_that_was_not_requested_costs_no_delay() {
    let mut frontier = Frontier::new(rules(1));
    frontier.load(window(1, 1..3), Time(0));
    assert_eq!(next(&mut frontier, 10), Some((1, 1)));
    frontier.answered(host(1), Some(place(1)), Answered::default(), Time(11));
    assert_eq!(next(&mut frontier, 11), Some((1, 2)));
}

#[test]
fn a_claimed_host_waits_as_long_as_it_was_told() {
    let mut frontier = Frontier::new(rules(2));
    let read = HostWindow { not_before: Time(700), ..window(1, 1..3) };
    frontier.load(read, Time(0));
    assert_eq!(next(&mut frontier, 699), None);
    assert!(next(&mut frontier, 700).is_some() && next(&mut frontier, 700).is_some());
}

#[test]
fn among_ready_hosts_the_first_place_comes_first() {
    let mut frontier = Frontier::new(rules(1));
    frontier.load(window(1, 30..32), Time(0));
    frontier.load(window(2, 10..12), Time(0));
    frontier.load(window(3, 20..22), Time(0));
    assert_eq!(next(&mut frontier, 0), Some((2, 10)));
    assert_eq!(next(&mut frontier, 0), Some((3, 20)));
    frontier.offer(entry(1, 5, 1), Time(0));
    assert_eq!(next(&mut frontier, 0), Some((1, 5)));
}

#[test]
fn nothing_overtakes_what_an_open_row_may_lead_to_on_one_connection() {
    let mut frontier = Frontier::new(Politeness { delay: Duration::ZERO, ..rules(1) });
    frontier.load(window(1, 10..13), Time(0));
    // Depth-first: what row 10 leads to comes before row 11.
    let first = visit(&mut frontier, 0, |_| place(3)).expect("ready");
    frontier.answered(host(1), Some(first.place), Answered::default(), Time(1));
    assert_eq!(next(&mut frontier, 1), None);
    frontier.offer(entry(1, 3, 1), Time(2));
    frontier.settled(host(1), first.place, Time(2));
    assert_eq!(next(&mut frontier, 2), Some((1, 3)));
    // Breadth-first: a redirect alone leads before the next row.
    frontier.answered(host(1), Some(place(3)), Answered::default(), Time(3));
    let second = visit(&mut frontier, 3, |_| place(99)).expect("links come last");
    let redirect = Answered { end: None, redirect: true, heard: Heard::default() };
    frontier.answered(host(1), Some(second.place), redirect, Time(4));
    assert_eq!(next(&mut frontier, 4), None);
    let target = Place { seq: 1, ..second.place };
    let mut found = entry(1, 11, 1);
    found.place = target;
    frontier.offer(found, Time(5));
    frontier.settled(host(1), second.place, Time(5));
    assert_eq!(visit(&mut frontier, 5, leads_last).expect("the target").place, target);
}

#[test]
fn rows_that_are_moved_wait_until_it_is_told_where_they_are_and_what_is_out_is_said() {
    let mut frontier = Frontier::new(Politeness { delay: Duration::ZERO, ..rules(2) });
    frontier.load(window(1, 10..13), Time(0));
    assert_eq!(next(&mut frontier, 0), Some((1, 10)));
    let rows: Vec<UrlKey> = [10, 11, 12, 99].map(|n| entry(1, n, 1).key).to_vec();
    let elsewhere = entry(2, 10, 1).key;
    let out = frontier.put_aside(&[rows, vec![elsewhere]].concat(), Time(1));
    assert_eq!(out.into_iter().collect::<Vec<_>>(), [entry(1, 10, 1).key]);
    assert_eq!((next(&mut frontier, 1), frontier.rows()), (None, 0));
    // The last of them comes first now, the other stayed.
    let moved = Entry { place: place(3), ..entry(1, 12, 1) };
    frontier.offer(moved, Time(2));
    frontier.offer(entry(1, 11, 1), Time(2));
    assert_eq!(next(&mut frontier, 2), Some((1, 3)));
    answered(&mut frontier, 1, 10, 3);
    frontier.settled(host(1), place(10), Time(3));
    assert_eq!(next(&mut frontier, 3), Some((1, 11)));
    assert_eq!(frontier.rows(), 0);
}

#[test]
fn rows_of_a_gated_job_wait_and_others_pass_them() {
    let mut frontier = Frontier::new(Politeness { delay: Duration::ZERO, ..rules(2) });
    frontier.load(window(1, 1..3), Time(0));
    frontier.offer(entry(1, 5, 2), Time(0));
    frontier.gate(JobId(1), true, Time(0));
    assert_eq!(next(&mut frontier, 0), Some((1, 5)));
    assert_eq!(next(&mut frontier, 0), None);
    assert!(!frontier.has_ready(Time(0)) && frontier.next_wake().is_none());
    frontier.gate(JobId(1), false, Time(1));
    assert_eq!(next(&mut frontier, 1), Some((1, 1)));
}

#[test]
fn rows_behind_a_window_full_of_gated_ones_are_reached_and_the_gated_come_back() {
    let mut world = World::new(Politeness { delay: Duration::ZERO, ..rules(1) });
    world.store((0..300).map(|o| entry(1, o, if o < 250 { 1 } else { 2 })));
    world.frontier.gate(JobId(1), true, Time(1));
    for _ in 0..200 {
        world.commit();
        world.deliver();
        while world.hand_out().is_some() {}
        world.now += DELAY_MS;
        world.answer(0);
    }
    assert_eq!(world.disk.len(), 250, "all of job 2 was handed out, none of job 1");
    assert!(world.frontier.rows() <= 64);
    world.frontier.gate(JobId(1), false, Time(world.now));
    world.drain();
}

#[test]
fn refills_are_asked_for_before_a_host_starves() {
    let mut world = World::new(Politeness { delay: Duration::ZERO, ..rules(1) });
    world.store((0..500).map(|o| entry(1, o, 1)));
    world.commit();
    world.deliver();
    for n in 0..500 {
        world.now += 1;
        assert!(world.hand_out().is_some(), "row {n}: nothing to hand out");
        world.answer(0);
        // The answer of each commit comes a row later.
        world.deliver();
        world.commit();
    }
    assert!(world.refills >= 500 / 32, "it was read in windows");
}

#[test]
fn a_flood_of_early_rows_during_a_refill_loses_none_of_those_it_pushes_out() {
    let mut world = World::new(Politeness { delay: Duration::ZERO, ..rules(1) });
    world.store((1_000..1_100).map(|o| entry(1, o, 1)));
    world.commit();
    world.deliver();
    while world.refills == 0 {
        world.now += 1;
        world.hand_out();
        world.answer(0);
        if world.frontier.rows() <= 8 {
            (0..100).for_each(|o| world.find(entry(1, o, 1)));
        }
        world.commit();
        world.deliver();
    }
    world.drain();
    assert_eq!(world.handed.len(), 200);
}

#[test]
fn a_host_under_way_is_not_given_back() {
    let mut frontier = Frontier::new(rules(1));
    frontier.load(window(1, 1..2), Time(0));
    let out = visit(&mut frontier, 0, leads_last).expect("ready");
    assert!(frontier.wants(Time(0)).releases.is_empty());
    frontier.settled(host(1), out.place, Time(1));
    assert!(frontier.wants(Time(1)).releases.is_empty(), "when its answer ends is unknown");
    answered(&mut frontier, 1, 1, 40);
    let releases = frontier.wants(Time(50)).releases;
    assert_eq!((releases.len(), releases[0].not_before), (1, Time(1_040)));
    assert!(releases[0].asleep && !frontier.is_loaded(host(1)));
}

#[test]
fn release_all_gives_back_idle_hosts_and_reads_the_others_again() {
    let mut world = World::new(Politeness { delay: Duration::ZERO, ..rules(1) });
    world.store((0..40).flat_map(|o| [entry(1, 2 * o, 1), entry(2, 2 * o, 1)]));
    world.commit();
    world.deliver();
    assert!(world.hand_out().is_some(), "of host 1");
    // A row that was passed over when the windows were read, as one of a paused job is.
    world.store([entry(1, 7, 2), entry(2, 7, 2)]);
    world.release_all();
    assert!(world.frontier.is_loaded(host(1)) && !world.frontier.is_loaded(host(2)));
    world.drain();
    assert_eq!(world.handed.len(), 82);
}

#[test]
fn a_row_that_is_out_and_told_again_is_handed_out_once() {
    let mut frontier = Frontier::new(Politeness { delay: Duration::ZERO, ..rules(2) });
    frontier.load(window(1, 1..2), Time(0));
    let out = visit(&mut frontier, 0, leads_last).expect("ready");
    // Taken over by another job while it is out.
    let taken = entry(1, 1, 2);
    frontier.offer(taken.clone(), Time(1));
    assert_eq!(next(&mut frontier, 1), None);
    frontier.answered(host(1), Some(out.place), Answered::default(), Time(2));
    // Given back, it is handed out as it is now.
    frontier.give_back(out, Time(2));
    let again = visit(&mut frontier, 2, leads_last).expect("given back");
    assert_eq!(again, taken);
    // After its result it is there again only to be expanded.
    frontier.offer(entry(1, 1, 3), Time(3));
    frontier.answered(host(1), Some(again.place), Answered::default(), Time(3));
    frontier.settled(host(1), again.place, Time(3));
    assert_eq!(next(&mut frontier, 3), None);
    frontier.load(window(1, 9..10), Time(4));
    let out = visit(&mut frontier, 4, leads_last).expect("loaded");
    let mut expand = entry(1, 9, 2);
    expand.expand = true;
    frontier.offer(expand.clone(), Time(5));
    frontier.answered(host(1), Some(out.place), Answered::default(), Time(5));
    frontier.settled(host(1), out.place, Time(5));
    assert_eq!(visit(&mut frontier, 5, leads_last), Some(expand));
}

#[test]
fn rows_held_stay_within_their_bound_as_hosts_are_loaded() {
    let rules = Politeness { max_hosts: 200, rows: 3_200, connections: 1_000, ..rules(1) };
    let mut world = World::new(rules);
    world.store((1..=200).flat_map(|n| (0..600).map(move |o| entry(n, o, 1))));
    let mut most = 0;
    for round in 0..200 {
        world.commit();
        world.deliver();
        world.frontier.wants(Time(world.now));
        most = most.max(world.frontier.rows());
        assert!(world.frontier.counts().loaded <= 200, "round {round}");
    }
    assert!(world.frontier.counts().loaded == 200 && most <= 3_200, "{most} rows");
}

#[test]
fn counts_tell_where_the_hosts_are() {
    let mut frontier = Frontier::new(rules(1));
    (1..=3).for_each(|n| frontier.load(window(n, 1..3), Time(0)));
    next(&mut frontier, 0);
    next(&mut frontier, 0);
    answered(&mut frontier, 1, 1, 10);
    let counts = frontier.counts();
    assert_eq!((counts.loaded, counts.waiting, counts.ready, counts.asked), (3, 1, 1, 1));
}

#[test]
fn a_partition_that_leaves_hands_out_nothing_more_and_is_given_back_when_nothing_is_under_way() {
    let mut frontier = Frontier::new(rules(1));
    for n in [1, 2, 3] {
        frontier.load(window(n, 1..4), Time(0));
    }
    assert_eq!(next(&mut frontier, 0), Some((1, 1)));
    assert!(frontier.leave(&[1, 2].into(), Time(1)).is_empty());
    assert_eq!(next(&mut frontier, 1), Some((3, 1)), "the third stays");
    assert_eq!(next(&mut frontier, 1), None);
    // The second is idle and goes at once, the first when its visit is committed.
    let wants = frontier.wants(Time(2));
    assert_eq!(wants.releases.iter().map(|r| r.host).collect::<Vec<_>>(), [host(2)]);
    assert_eq!(wants.hosts, 0, "a new host could be one of those that leave");
    assert!(frontier.holds_leaving());
    answered(&mut frontier, 1, 1, 5);
    assert!(frontier.wants(Time(6)).releases.is_empty(), "its result is not in the store");
    frontier.settled(host(1), place(1), Time(7));
    let wants = frontier.wants(Time(8));
    let released: Vec<_> = wants.releases.iter().map(|r| (r.host, r.not_before)).collect();
    assert_eq!(released, [(host(1), Time(5 + DELAY_MS))], "the pause goes with it");
    assert!(!frontier.holds_leaving());
    frontier.left();
    assert!(frontier.wants(Time(9)).hosts > 0);
}
