//! Random histories of a crawl in virtual time, against a disk of rows.
//!
//! What must hold: no host is asked too soon or too often; every row is handed out exactly
//! once, whatever the interleaving of discoveries, answers, refills and releases; on one
//! connection in order.

mod world;

use argiope_frontier::Politeness;
use argiope_model::{JobId, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use world::*;

#[derive(Clone, Debug)]
enum Event {
    /// So many rows of a host, before or behind those known.
    Found {
        host: u8,
        rows: u8,
        job: u32,
        before: bool,
    },
    HandOut,
    Answer(usize),
    GiveBack(usize),
    Commit,
    Deliver,
    Gate(u32, bool),
    ReleaseAll,
    Later(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => (1..=6u8, 1..40u8, 1..=2u32, any::<bool>())
            .prop_map(|(host, rows, job, before)| Event::Found { host, rows, job, before }),
        10 => Just(Event::HandOut),
        6 => (0..4usize).prop_map(Event::Answer),
        1 => (0..4usize).prop_map(Event::GiveBack),
        6 => Just(Event::Commit),
        6 => Just(Event::Deliver),
        1 => (1..=2u32, any::<bool>()).prop_map(|(job, shut)| Event::Gate(job, shut)),
        1 => Just(Event::ReleaseAll),
        6 => prop_oneof![0..300i64, 800..1_500i64].prop_map(Event::Later),
    ]
}

/// Plays a history, then works off what is left.
fn play(events: &[Event], rules: Politeness) -> World {
    let mut world = World::new(rules);
    // Places grow in both directions from the middle, so that none is used twice.
    let (mut low, mut high) = (1 << 20, 1 << 20);
    let mut all = BTreeSet::new();
    for event in events {
        match event {
            Event::Found { host: n, rows, job, before } => {
                for _ in 0..*rows {
                    let order = if *before { &mut low } else { &mut high };
                    *order = if *before { *order - 1 } else { *order + 1 };
                    all.insert((host(*n), place(*order)));
                    world.find(entry(*n, *order, *job));
                }
            }
            Event::HandOut => drop(world.hand_out()),
            Event::Answer(pick) => world.answer(*pick),
            Event::GiveBack(pick) => world.give_back(*pick),
            Event::Commit => world.commit(),
            Event::Deliver => world.deliver(),
            Event::Gate(job, shut) => {
                let known = |e: &argiope_frontier::Entry| e.job == JobId(*job);
                world.frontier.gate(JobId(*job), *shut, Time(world.now));
                if *shut {
                    let out = world.out.len();
                    let next = world.hand_out();
                    assert!(!next.is_some_and(|e| known(&e)), "a gated row was handed out");
                    assert!(world.out.len() <= out + 1);
                }
            }
            // As the engine: not while rows are being read for a commit under way.
            Event::ReleaseAll => {
                world.deliver();
                world.release_all();
            }
            Event::Later(ms) => world.now += ms,
        }
    }
    (1..=2).for_each(|job| world.frontier.gate(JobId(job), false, Time(world.now)));
    world.drain();
    let handed: BTreeSet<_> = world.handed.iter().copied().collect();
    assert_eq!(handed.len(), world.handed.len(), "no row is handed out twice");
    assert_eq!(handed, all, "every row is handed out");
    assert_eq!((world.frontier.rows(), world.frontier.out()), (0, 0));
    world
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_row_is_handed_out_once_and_politely(
        events in prop::collection::vec(event(), 1..300),
        per_host in 1..=3usize,
        rows in prop_oneof![Just(16usize), Just(64), Just(4_096)],
    ) {
        let world = play(&events, Politeness { rows, ..rules(per_host) });
        polite(&world.log, DELAY_MS, per_host).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn rows_known_from_the_start_come_in_order_on_one_connection(
        hosts in prop::collection::btree_map(1..=5u8, 1..120u64, 1..4),
        events in prop::collection::vec(event(), 1..200),
    ) {
        let mut world = World::new(rules(1));
        for (n, rows) in &hosts {
            world.store((0..*rows).map(|o| entry(*n, o, 1)));
        }
        for event in &events {
            match event {
                Event::HandOut => drop(world.hand_out()),
                Event::Answer(pick) => world.answer(*pick),
                Event::Commit => world.commit(),
                Event::Deliver => world.deliver(),
                Event::Later(ms) => world.now += ms,
                _ => {}
            }
        }
        world.drain();
        let mut last = BTreeMap::new();
        for (host, place) in &world.handed {
            prop_assert!(last.insert(*host, *place).is_none_or(|before| before < *place));
        }
        polite(&world.log, DELAY_MS, 1).map_err(TestCaseError::fail)?;
    }
}

/// The check itself is checked: a frontier without a delay must not pass it.
#[test]
fn a_frontier_without_a_delay_is_caught() {
    let events = [Event::Commit, Event::Deliver];
    let mut found = vec![Event::Found { host: 1, rows: 5, job: 1, before: false }];
    found.extend(events);
    for _ in 0..5 {
        found.extend([Event::HandOut, Event::Later(10), Event::Answer(0), Event::Later(10)]);
    }
    let kept = play(&found, rules(1));
    assert_eq!(polite(&kept.log, DELAY_MS, 1), Ok(()));
    let broken = play(&found, Politeness { delay: Duration::ZERO, ..rules(1) });
    assert!(polite(&broken.log, DELAY_MS, 1).is_err(), "the spacing check sees nothing");
    let two_at_once = [
        Request { host: host(1), start: 0, end: 50 },
        Request { host: host(1), start: 20, end: 60 },
    ];
    assert!(polite(&two_at_once, 0, 1).is_err() && polite(&two_at_once, 0, 2).is_ok());
}
