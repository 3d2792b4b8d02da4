//! The policies, told events as the engine would tell them.

use super::*;
use std::time::Duration;

const DAY: i64 = 86_400_000;

fn noon(day: i64) -> Time {
    Time(day * DAY + DAY / 2)
}

fn visited(changed: bool) -> Event {
    Event::Visited(Visit { changed, ..Visit::default() })
}

/// A page through visits at noon of the given days.
fn through(policy: &mut dyn Revisit, mut state: PageState, visits: &[(i64, bool)]) -> PageState {
    for (day, changed) in visits {
        state = policy.step(&Page::new(7), state, visited(*changed), noon(*day)).state;
    }
    state
}

#[test]
fn fr_begins_with_every_round_and_learns_from_the_second_record_on() {
    let mut fr = Fr::default();
    let found = fr.step(&Page::new(7), PageState::default(), Event::Found, noon(0)).state;
    assert_eq!((found.due, fr.fr_at(&found, noon(0))), (noon(0), 0));
    let once = through(&mut fr, found, &[(0, true)]);
    assert_eq!((once.fr, once.fr_max, once.records), (1, 1, 1));
    // Two records, unchanged: x = 2, b = 2, floor((1 + 2) / 2) = 1.
    let twice = through(&mut fr, once, &[(1, false)]);
    assert_eq!((twice.fr_max, twice.records), (1, 2));
    // Three: floor((1 + 3) / 2) = 2. Four: floor((2 + 4) / 2) = 3.
    let more = through(&mut fr, twice, &[(2, false), (4, false)]);
    assert_eq!((more.fr, more.fr_max), (3, 3));
}

#[test]
fn the_worked_example_goes_through_the_policy() {
    let mut fr = Fr::default();
    // 44 records, then the 45th: 10 of the last 20 differ from the one before.
    let state = PageState {
        records: 44,
        changes: 0b01_0101_0101_0101_0101,
        fr_max: 3,
        last: Some(noon(10)),
        ..PageState::default()
    };
    let next = through(&mut fr, state, &[(13, true)]);
    assert_eq!((next.records, next.differing(20)), (45, (10, 20)));
    assert_eq!((next.fr_max, next.fr), (2, 2));
}

#[test]
fn unchanged_pages_with_twenty_records_go_the_known_way() {
    let mut fr = Fr::default();
    let mut state =
        PageState { records: 30, fr_max: 3, last: Some(noon(0)), ..PageState::default() };
    let mut seen = Vec::new();
    for day in 1..=6 {
        state = through(&mut fr, state, &[(day * 20, false)]);
        seen.push(state.fr_max);
    }
    assert_eq!(seen, [11, 15, 17, 18, 19, 19]);
}

#[test]
fn fr_counts_down_by_rounds_and_the_page_is_due_at_zero() {
    let mut fr = Fr::default();
    let state = PageState { records: 20, fr_max: 5, ..PageState::default() };
    let state = through(&mut fr, state, &[(100, false)]); // floor((5 + 20) / 2) = 12
    let counted: Vec<u8> = (100..115).map(|day| fr.fr_at(&state, noon(day))).collect();
    assert_eq!(counted, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
    assert_eq!(state.due.0.div_euclid(DAY), 112);
    // A round may be of any length.
    let mut weekly = Fr { round: Duration::from_secs(7 * 86_400), ..Fr::default() };
    let state = through(&mut weekly, PageState::default(), &[(70, false), (77, false)]);
    assert_eq!(state.due.0.div_euclid(7 * DAY), 12);
}

#[test]
fn a_round_that_could_not_fetch_leaves_fr_at_zero_and_adds_no_record() {
    let mut fr = Fr::default();
    let before = through(&mut fr, PageState::default(), &[(0, false), (1, true)]);
    let mut state = before;
    for day in 2..5 {
        state = fr.step(&Page::new(7), state, Event::Failed, noon(day)).state;
        assert_eq!(fr.fr_at(&state, noon(day)), 0);
        assert_eq!(state.due.0.div_euclid(DAY), day + 1, "tried again in the next round");
    }
    let kept = |state: &PageState| (state.records, state.changes, state.fr_max, state.last);
    assert_eq!(kept(&state), kept(&before));
    assert_eq!((state.failures, through(&mut fr, state, &[(5, true)]).failures), (3, 0));
}

#[test]
fn selective_expands_an_unchanged_page_when_enough_children_changed() {
    let mut policy = Fr::selective();
    let state = through(&mut policy, PageState::default(), &[(0, false), (1, false)]);
    let turn = |changed, counted, news| {
        let children = Children { counted, changed };
        Event::Visited(Visit { changed: news, children, ..Visit::default() })
    };
    let page = Page::new(7);
    let expanded = policy.step(&page, state, turn(4, 10, false), noon(2));
    assert_eq!((expanded.expand, expanded.state.threshold), (true, 3_800));
    let not = policy.step(&page, state, turn(3, 10, false), noon(2));
    assert_eq!((not.expand, not.state.threshold), (false, 3_600));
    let childless = policy.step(&page, state, turn(0, 0, false), noon(2));
    assert_eq!((childless.expand, childless.state.threshold), (false, 4_000));
    // A changed page is taken in; its children are not asked.
    let changed = policy.step(&page, state, turn(10, 10, true), noon(2));
    assert_eq!((changed.expand, changed.state.threshold), (false, 4_000));
    // All are completed visits.
    for step in [expanded, not, childless, changed] {
        assert_eq!(step.state.records, 3);
    }
    // Without the gate nothing is expanded.
    assert!(!Fr::default().step(&page, state, turn(10, 10, false), noon(2)).expand);
}

#[test]
fn the_children_of_an_expanded_page_are_due_in_this_round() {
    let mut policy = Fr::selective();
    let child = PageState { records: 20, fr_max: 19, ..PageState::default() };
    let child = through(&mut policy, child, &[(0, false)]);
    assert!(policy.fr_at(&child, noon(3)) > 0);
    let made = policy.step(&Page::new(9), child, Event::MadeDue, noon(3)).state;
    assert_eq!((policy.fr_at(&made, noon(3)), made.due), (0, noon(3)));
    assert_eq!((made.fr_max, made.records), (child.fr_max, child.records));
}

#[test]
fn fixed_keeps_its_interval_and_moves_through_the_day() {
    let mut fixed = Fixed::default();
    let (mut state, mut now) = (PageState::default(), noon(0));
    let mut hours = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        state = fixed.step(&Page::new(3), state, visited(false), now).state;
        let days = (state.due.0 - now.0) as f64 / DAY as f64;
        assert!((0.93..1.07).contains(&days), "{days}");
        now = state.due;
        hours.insert(now.0 % DAY / 3_600_000);
    }
    assert_eq!(hours.len(), 24);
}

#[test]
fn a_cycle_set_by_hand_holds_under_every_policy() {
    let mut fresh = Fresh::new(FreshSettings::new(10.0));
    let policies: [&mut dyn Revisit; 3] = [&mut Fixed::default(), &mut Fr::default(), &mut fresh];
    for policy in policies {
        let by_hand = PageState { cycle: 96 * 3, ..PageState::default() }; // Three days.
        let state = through(policy, by_hand, &[(0, true), (3, true)]);
        let days = (state.due.0 - noon(3).0) as f64 / DAY as f64;
        assert!((2.8..3.2).contains(&days), "{}: {days}", policy.name());
        assert!(policy.step(&Page::new(7), state, Event::Turn, state.due).visit);
    }
}

/// `fresh` with a crowd of pages, each visited every day for so long.
fn taught(per_day: f64, pages: u64, days: i64) -> (Fresh, Vec<PageState>) {
    let mut fresh = Fresh::new(FreshSettings::new(per_day));
    let mut states = vec![PageState::default(); pages as usize];
    for day in 0..days {
        for key in 0..pages {
            // Kinds: never, about every tenth visit, every other, always.
            let changed = match key % 4 {
                0 => false,
                1 => (day + key as i64) % 10 == 0,
                2 => (day + key as i64) % 2 == 0,
                _ => true,
            };
            let state = &mut states[key as usize];
            *state = fresh.step(&Page::new(key), *state, visited(changed), noon(day)).state;
        }
    }
    (fresh, states)
}

#[test]
fn fresh_learns_how_often_pages_change() {
    let (fresh, states) = taught(100.0, 200, 30);
    let means: Vec<f64> = (4..8).map(|n| fresh.change_rate(&states[n]).mean).collect();
    assert!(means[0] < 0.03, "{means:?}");
    assert!((0.06..0.16).contains(&means[1]), "{means:?}");
    assert!((0.4..1.0).contains(&means[2]), "{means:?}");
    assert!(means[3] > 3.0, "{means:?}");
}

#[test]
fn fresh_gives_a_scarce_budget_to_pages_that_repay_it() {
    let (mut fresh, states) = taught(20.0, 200, 30);
    let mut waits = [0.0; 4];
    for (key, state) in states.iter().enumerate() {
        let next =
            fresh.step(&Page::new(key as u64), *state, visited(key % 4 == 3), noon(30)).state;
        waits[key % 4] += (next.due.0 - noon(30).0) as f64 / DAY as f64 / 50.0;
    }
    // What changes at every look is not worth looking; what never changes hardly is.
    assert!(waits[1] < waits[0] && waits[2] < waits[3], "{waits:?}");
}

#[test]
fn what_fresh_has_learned_can_be_written_down_and_taken_up() {
    let (fresh, states) = taught(100.0, 200, 30);
    let text = serde_json::to_string(&fresh.knowledge()).unwrap();
    let known: Knowledge = serde_json::from_str(&text).unwrap();
    let again = Fresh::with_knowledge(FreshSettings::new(100.0), &known);
    // To the last digit but one: that is what JSON keeps.
    assert!((again.price() / fresh.price() - 1.0).abs() < 1e-12);
    let mean = |fresh: &Fresh| fresh.change_rate(&states[1]).mean;
    assert!((mean(&again) / mean(&fresh) - 1.0).abs() < 1e-5);
    // What is not understood is learned anew.
    let strange = Knowledge { version: 9, ..known };
    let new = Fresh::with_knowledge(FreshSettings::new(100.0), &strange);
    assert_eq!(new.price(), Fresh::new(FreshSettings::new(100.0)).price());
}

#[test]
fn a_server_that_tells_the_truth_about_last_modified_is_believed_and_a_liar_is_not() {
    let mut fresh = Fresh::new(FreshSettings::new(1.0));
    let page = Page::new(1);
    let told = |changed, modified| {
        Event::Visited(Visit { changed, modified: Some(modified), ..Visit::default() })
    };
    let mut honest = PageState::default();
    for day in 0..8 {
        // Each day it changed two hours before the visit.
        let modified = Time(noon(day).0 - DAY / 12);
        honest = fresh.step(&page, honest, told(day > 0, modified), noon(day)).state;
    }
    assert!(honest.trust.believed() && honest.evidence.exact >= 4, "{honest:?}");
    let mut liar = honest;
    // It changed, and its server says it did not.
    for day in 8..11 {
        liar = fresh.step(&page, liar, told(true, noon(0)), noon(day)).state;
    }
    assert!(!liar.trust.believed(), "{liar:?}");
    let exact = liar.evidence.exact;
    liar = fresh.step(&page, liar, told(true, Time(noon(11).0 - DAY / 2)), noon(11)).state;
    assert_eq!(liar.evidence.exact, exact);
    // One that says "now" to everybody is not believed either.
    let mut clock = PageState::default();
    for day in 0..8 {
        clock = fresh.step(&page, clock, told(true, noon(day)), noon(day)).state;
    }
    assert!(!clock.trust.believed() && clock.evidence.exact == 0, "{clock:?}");
}

#[test]
fn hints_make_a_page_due_sooner_unless_they_are_old_or_it_was_just_visited() {
    let mut fresh = Fresh::new(FreshSettings::new(0.1));
    let state = through(&mut fresh, PageState::default(), &[(0, false), (1, false)]);
    let page = Page::new(7);
    assert!(state.due > noon(4), "{}", state.due);
    let mut after = |event, now| fresh.step(&page, state, event, now).state.due;
    let news = Event::Hint(Hint::Modified(noon(2)));
    assert_eq!(after(news, noon(3)).0 / 1000, noon(3).0 / 1000 + 1);
    assert_eq!(after(Event::Hint(Hint::Modified(noon(1))), noon(3)), state.due);
    let mentioned = after(Event::Hint(Hint::Mentioned), noon(3));
    assert!(mentioned > noon(3) && mentioned < state.due);
    // Not within ten minutes of the last visit.
    let at_once = Time(noon(1).0 + 60_000);
    assert_eq!(after(Event::Hint(Hint::Modified(at_once)), at_once), Time(noon(1).0 + 600_000));
}

#[test]
fn hints_that_led_nowhere_are_believed_less_until_one_bears_out() {
    let mut fresh = Fresh::new(FreshSettings::new(0.1));
    let page = Page::new(7);
    let mut state = through(&mut fresh, PageState::default(), &[(0, false), (1, false)]);
    let mut waits = Vec::new();
    for day in [10, 20, 30] {
        let hint = Event::Hint(Hint::Modified(noon(day)));
        let hinted = fresh.step(&page, state, hint, noon(day)).state;
        waits.push((hinted.due.0 - noon(day).0) as f64 / (state.due.0 - noon(day).0) as f64);
        state = fresh.step(&page, hinted, visited(false), noon(day + 1)).state;
    }
    // At once, after half of what was left, after three quarters.
    assert!(waits[0] < 0.01, "{waits:?}");
    assert!((waits[1] - 0.5).abs() < 0.01 && (waits[2] - 0.75).abs() < 0.01, "{waits:?}");
    let borne_out = fresh.step(&page, state, visited(true), noon(40)).state;
    assert_eq!(borne_out.trust.idle_hints, 0);
}

#[test]
fn failed_visits_are_tried_again_ever_later_and_change_nothing_else() {
    let mut fresh = Fresh::new(FreshSettings::new(0.1));
    let state = through(&mut fresh, PageState::default(), &[(0, false), (1, false), (9, true)]);
    let mut failing = state;
    let (mut now, mut waits) = (noon(20), Vec::new());
    for _ in 0..6 {
        failing = fresh.step(&Page::new(7), failing, Event::Failed, now).state;
        waits.push((failing.due.0 - now.0) as f64 / 3_600_000.0);
        now = failing.due;
    }
    assert!(waits[0] < 1.1 && waits.windows(2).all(|pair| pair[1] > 1.5 * pair[0]), "{waits:?}");
    assert_eq!((failing.evidence, failing.records), (state.evidence, state.records));
}

#[test]
fn equal_histories_give_equal_plans() {
    let run = || taught(30.0, 50, 12).1;
    assert_eq!(run(), run());
}
