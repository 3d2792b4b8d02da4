//! Hosts of sites over their budget come behind others, are never forgotten, and leave other jobs alone.

mod world;

use argiope_frontier::{Answered, Budgets, Entry, Frontier, HostWindow, Politeness, Task};
use argiope_model::{JobId, SiteKey, Time};
use std::time::Duration;
use world::*;

/// The site of a host; those above 200 exist as names only.
fn site(n: u32) -> SiteKey {
    let [a, b, c, d] = n.to_be_bytes();
    SiteKey { part: 0, site: [a, b, c, d, 0, 0] }
}

/// Job 1 has budgets: host 1 is honest, host 2 the door of a farm of 500 sites, host 3 one of those.
fn beside_a_farm(rules: Politeness) -> Frontier {
    let mut frontier = Frontier::new(rules);
    let mut budgets = Budgets::with_bytes(1 << 20);
    budgets.begin(JobId(1), [site(1), site(2)]);
    let farm: Vec<_> = (300..700).chain([3]).map(|n| (site(n), true)).collect();
    budgets.link(site(2), &farm);
    budgets.link(site(3), &farm);
    frontier.set_budgets(budgets);
    frontier
}

fn load(frontier: &mut Frontier, read: HostWindow, n: u8) {
    let key = read.host;
    frontier.load(read, Time(0));
    frontier.belongs(key, site(n.into()), Time(0));
}

fn take(frontier: &mut Frontier, now: i64) -> Option<Entry> {
    match frontier.next(Time(now), leads_last, |_| None)? {
        Task::Visit(entry) => Some(entry),
        other => panic!("{other:?}"),
    }
}

fn done(frontier: &mut Frontier, entry: &Entry, now: i64) {
    let answer = Answered { end: Some(Time(now)), ..Answered::default() };
    frontier.answered(entry.key.host, Some(entry.place), answer, Time(now));
    frontier.settled(entry.key.host, entry.place, Time(now));
}

fn quick() -> Politeness {
    Politeness {
        delay: Duration::from_millis(10),
        connections: 8,
        max_hosts: 8,
        rows: 1 << 16,
        ..rules(1)
    }
}

/// The hosts in the order in which they were asked.
fn all(frontier: &mut Frontier) -> Vec<u8> {
    let (mut now, mut out) = (0, Vec::new());
    for _ in 0..10_000 {
        let mut taken = Vec::new();
        while let Some(entry) = take(frontier, now) {
            out.push(entry.key.host.host[0]);
            taken.push(entry);
        }
        now += 5;
        taken.iter().for_each(|entry| done(frontier, entry, now));
        frontier.wants(Time(now));
        match frontier.next_wake() {
            Some(wake) => now = now.max(wake.0),
            None if frontier.counts().loaded == 0 => return out,
            None => {}
        }
    }
    panic!("it never ends: {:?}, {out:?}", frontier.counts());
}

#[test]
fn a_farm_waits_until_the_others_are_done_even_while_these_wait_for_their_delay() {
    let mut frontier = beside_a_farm(quick());
    load(&mut frontier, window(1, 100..160), 1);
    load(&mut frontier, window(2, 1..40), 2);
    load(&mut frontier, window(3, 1..40), 3);
    let order = all(&mut frontier);
    assert_eq!(order.len(), 60 + 39 + 39, "nothing is dropped");
    let last_honest = order.iter().rposition(|n| *n == 1).unwrap();
    let early = order[..last_honest].iter().filter(|n| **n != 1).count();
    assert!(early <= 3, "{early} requests of the farm came before: {order:?}");
}

#[test]
fn without_budgets_the_place_alone_decides() {
    let mut frontier = Frontier::new(quick());
    frontier.load(window(1, 100..103), Time(0));
    frontier.load(window(2, 1..3), Time(0));
    assert_eq!(take(&mut frontier, 0).unwrap().key.host, host(2));
}

#[test]
fn rows_of_a_job_without_budgets_do_not_sink() {
    let mut frontier = beside_a_farm(quick());
    load(&mut frontier, window(1, 100..160), 1);
    let mut read = window(3, 1..5);
    read.entries.push(entry(3, 7, 2));
    read.cursor = Some(place(7));
    load(&mut frontier, read, 3);
    let first = take(&mut frontier, 0).unwrap();
    assert_eq!((first.key.host, first.job), (host(3), JobId(2)));
    done(&mut frontier, &first, 5);
    assert_eq!(take(&mut frontier, 100).unwrap().key.host, host(1));
}

#[test]
fn hosts_that_are_held_give_way_to_hosts_on_disk() {
    let mut frontier = beside_a_farm(Politeness { max_hosts: 3, ..quick() });
    load(&mut frontier, window(1, 100..160), 1);
    load(&mut frontier, window(2, 1..40), 2);
    load(&mut frontier, window(3, 1..40), 3);
    let out = take(&mut frontier, 0).unwrap();
    assert_eq!(out.key.host, host(1));
    let wants = frontier.wants(Time(2_000));
    assert!(!wants.releases.is_empty(), "there is no room for others");
    for release in &wants.releases {
        assert_ne!(release.host, host(1));
        assert!(release.not_before > Time(2_000), "it stands aside for a while");
    }
    assert!(frontier.wants(Time(2_001)).releases.is_empty(), "not again at once");
}

#[test]
fn a_shut_host_hands_out_nothing_of_that_job_until_it_is_opened() {
    let mut frontier = Frontier::new(quick());
    frontier.load(window(1, 1..3), Time(0));
    frontier.shut(host(1), JobId(1), true, Time(0));
    assert_eq!(take(&mut frontier, 0), None);
    frontier.shut(host(1), JobId(1), false, Time(0));
    assert!(take(&mut frontier, 0).is_some());
}
