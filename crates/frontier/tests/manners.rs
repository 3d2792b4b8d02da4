//! What hosts ask of us, in virtual time: robots.txt, delays of their own, patience, addresses.

mod world;

use argiope_frontier::{
    Answered, Brake, Delays, Errand, Frontier, Heard, HostWindow, Manner, Patience, Politeness,
    RobotsFile, RobotsUse, SkipReason, Task, Temper, Turn,
};
use argiope_model::{CanonicalUrl, FetchOutcome, JobId, OutcomeKind, Suffixes, Time};
use std::sync::Arc;
use std::time::Duration;
use world::*;

fn obeying(per_host: usize) -> Frontier {
    Frontier::new(Politeness { robots: Some("argiope".to_owned()), ..rules(per_host) })
}

fn next(frontier: &mut Frontier, now: i64) -> Option<Task> {
    frontier.next(Time(now), leads_last, |_| None)
}

fn heard(manner: Manner) -> Heard {
    Heard { manner, ..Heard::default() }
}

fn answered(frontier: &mut Frontier, n: u8, order: u64, end: i64, heard: Heard) {
    let answer = Answered { end: Some(Time(end)), redirect: false, heard };
    frontier.answered(host(n), Some(place(order)), answer, Time(end));
}

fn file(status: u16, body: &str, at: i64) -> RobotsFile {
    let kind = match status {
        200 => OutcomeKind::Fetched,
        500.. => OutcomeKind::ServerError,
        _ => OutcomeKind::ClientError,
    };
    RobotsFile {
        asked: Time(at),
        until: Time(at + 86_400_000),
        outcome: FetchOutcome::new(kind, status),
        body: body.as_bytes().to_vec(),
    }
}

/// Answers the robots.txt that was just handed out for a host's row.
fn robots(frontier: &mut Frontier, n: u8, order: u64, end: i64, file: &RobotsFile) -> RobotsUse {
    answered(frontier, n, order, end, Heard::default());
    let used = frontier.robots_answered(host(n), file, false, Time(end));
    frontier.give_back(entry(n, order, 1), Time(end));
    used
}

#[test]
fn robots_txt_is_asked_for_before_the_first_page_and_counts_as_a_request() {
    let mut frontier = obeying(3);
    frontier.load(window(1, 1..4), Time(0));
    assert_eq!(next(&mut frontier, 0), Some(Task::Robots(entry(1, 1, 1))));
    assert_eq!(next(&mut frontier, 0), None, "no page while the rules are not known");
    let used = robots(&mut frontier, 1, 1, 50, &file(404, "", 0));
    assert_eq!(used, RobotsUse::Taken);
    // The other connections have not been used; this one keeps its delay.
    assert_eq!(next(&mut frontier, 50), Some(Task::Visit(entry(1, 1, 1))));
    assert_eq!(next(&mut frontier, 50), Some(Task::Visit(entry(1, 2, 1))));
    assert_eq!(next(&mut frontier, 1_049), None);
    assert_eq!(next(&mut frontier, 1_050), Some(Task::Visit(entry(1, 3, 1))));
}

#[test]
fn what_is_forbidden_is_refused_and_costs_no_delay() {
    let mut frontier = obeying(1);
    frontier.load(window(1, 1..4), Time(0));
    next(&mut frontier, 0);
    robots(&mut frontier, 1, 1, 0, &file(200, "User-agent: *\nDisallow: /1\nDisallow: /2", 0));
    let refused = |n| Some(Task::Refuse(entry(1, n, 1), SkipReason::Robots));
    assert_eq!(next(&mut frontier, 1_000), refused(1));
    assert_eq!(next(&mut frontier, 1_000), refused(2));
    assert_eq!(next(&mut frontier, 1_000), Some(Task::Visit(entry(1, 3, 1))));
}

#[test]
fn a_delay_named_in_robots_txt_holds_from_the_robots_txt_on_and_on_one_connection() {
    let mut frontier = obeying(3);
    frontier.load(window(1, 1..5), Time(0));
    next(&mut frontier, 0);
    robots(&mut frontier, 1, 1, 100, &file(200, "User-agent: *\nCrawl-delay: 7", 0));
    assert_eq!(next(&mut frontier, 7_099), None);
    assert_eq!(next(&mut frontier, 7_100), Some(Task::Visit(entry(1, 1, 1))));
    assert_eq!(next(&mut frontier, 60_000), None, "one at a time");
    answered(&mut frontier, 1, 1, 60_000, Heard::default());
    assert_eq!(next(&mut frontier, 66_999), None);
    assert_eq!(next(&mut frontier, 67_000), Some(Task::Visit(entry(1, 2, 1))));
}

#[test]
fn a_delay_of_years_is_a_no() {
    let mut frontier = obeying(1);
    frontier.load(window(1, 1..3), Time(0));
    next(&mut frontier, 0);
    robots(&mut frontier, 1, 1, 100, &file(200, "User-agent: *\nCrawl-delay: 1000000", 0));
    assert_eq!(next(&mut frontier, 100), Some(Task::Refuse(entry(1, 1, 1), SkipReason::GivenUp)));
}

#[test]
fn rules_that_cannot_be_had_are_asked_for_again_and_older_ones_go_on_to_hold() {
    let mut frontier = obeying(1);
    frontier.load(window(1, 1..4), Time(0));
    next(&mut frontier, 0);
    let busy = Answered { end: Some(Time(10)), redirect: false, heard: heard(Manner::Busy) };
    frontier.answered(host(1), Some(place(1)), busy, Time(10));
    let unavailable = file(503, "", 0);
    let used = frontier.robots_answered(host(1), &unavailable, false, Time(10));
    assert_eq!(used, RobotsUse::None);
    frontier.settled(host(1), place(1), Time(10));
    // Ten seconds of patience, then the file again, never a page.
    assert_eq!(next(&mut frontier, 10_009), None);
    assert_eq!(next(&mut frontier, 10_010), Some(Task::Robots(entry(1, 2, 1))));
    robots(&mut frontier, 1, 2, 10_020, &file(200, "User-agent: *\nDisallow: /3", 10_010));
    let day = 86_400_000;
    assert_eq!(next(&mut frontier, 10_010 + day), Some(Task::Robots(entry(1, 2, 1))), "a day old");
    let used = robots(&mut frontier, 1, 2, 10_020 + day, &unavailable);
    assert_eq!(used, RobotsUse::OlderHolds);
    assert_eq!(next(&mut frontier, 20_020 + day), Some(Task::Visit(entry(1, 2, 1))));
    answered(&mut frontier, 1, 2, 20_030 + day, Heard::default());
    let refused = Task::Refuse(entry(1, 3, 1), SkipReason::Robots);
    assert_eq!(next(&mut frontier, 30_030 + day), Some(refused));
}

#[test]
fn a_robots_txt_that_lies_elsewhere_waits_its_turn_there() {
    let mut frontier = obeying(1);
    frontier.load(window(1, 1..3), Time(0));
    frontier.load(window(2, 1..3), Time(0));
    assert_eq!(next(&mut frontier, 0), Some(Task::Robots(entry(1, 1, 1))));
    assert_eq!(next(&mut frontier, 0), Some(Task::Robots(entry(2, 1, 1))));
    robots(&mut frontier, 2, 1, 100, &file(404, "", 0));
    // The first host's rules lie with the second, which was asked at 100.
    answered(&mut frontier, 1, 1, 200, Heard::default());
    frontier.give_back(entry(1, 1, 1), Time(200));
    let url = CanonicalUrl::parse("http://h2.test/rules").unwrap();
    let job = entry(1, 1, 1).job;
    let errand = Errand { robots_of: host(1), at: host(2), url, hops: 1, job };
    frontier.robots_elsewhere(errand.clone(), Time(200));
    assert_eq!(next(&mut frontier, 1_099), None);
    assert_eq!(next(&mut frontier, 1_100), Some(Task::Errand(errand)), "before its own pages");
    let ok = Answered { end: Some(Time(1_150)), ..Answered::default() };
    frontier.answered(host(2), None, ok, Time(1_150));
    let rules = file(200, "User-agent: *\nDisallow: /1", 1_100);
    frontier.robots_answered(host(1), &rules, true, Time(1_150));
    assert_eq!(next(&mut frontier, 1_200), Some(Task::Refuse(entry(1, 1, 1), SkipReason::Robots)));
    assert_eq!(next(&mut frontier, 1_200), Some(Task::Visit(entry(1, 2, 1))));
    assert_eq!(next(&mut frontier, 2_149), None);
    assert_eq!(next(&mut frontier, 2_150), Some(Task::Visit(entry(2, 1, 1))));
}

#[test]
fn an_errand_to_a_stranger_has_it_loaded_by_name() {
    let mut frontier = obeying(1);
    frontier.load(window(1, 1..3), Time(0));
    next(&mut frontier, 0);
    answered(&mut frontier, 1, 1, 10, Heard::default());
    frontier.give_back(entry(1, 1, 1), Time(10));
    let url = CanonicalUrl::parse("https://h9.test/robots.txt").unwrap();
    let job = entry(1, 1, 1).job;
    let errand = Errand { robots_of: host(1), at: host(9), url, hops: 1, job };
    frontier.robots_elsewhere(errand.clone(), Time(10));
    assert!(frontier.awaits_hosts());
    let wants = frontier.wants(Time(10));
    assert_eq!(wants.named.len(), 1);
    assert_eq!(&*wants.named[0].origin, "https://h9.test");
    assert!(frontier.wants(Time(10)).named.is_empty(), "asked for once");
    frontier.load(HostWindow { not_before: Time(500), ..window(9, 0..0) }, Time(20));
    assert!(!frontier.awaits_hosts());
    assert_eq!(next(&mut frontier, 499), None);
    assert_eq!(next(&mut frontier, 500), Some(Task::Errand(errand)));
    assert!(frontier.wants(Time(500)).releases.is_empty(), "it is being asked");
    let ok = Answered { end: Some(Time(600)), ..Answered::default() };
    frontier.answered(host(9), None, ok, Time(600));
    let releases = frontier.wants(Time(600)).releases;
    assert_eq!((releases.len(), releases[0].not_before), (1, Time(1_600)));
}

#[test]
fn what_a_busy_host_asked_is_noted_at_once() {
    let mut frontier = Frontier::new(rules(2));
    frontier.load(window(1, 1..9), Time(0));
    next(&mut frontier, 0);
    next(&mut frontier, 0);
    let later = Heard { retry_after: Some(Time(90_000)), ..heard(Manner::Busy) };
    answered(&mut frontier, 1, 1, 100, later);
    let notes = frontier.take_notes();
    assert_eq!((notes.len(), notes[0].not_before), (1, Time(90_000)));
    // The answer that was still under way was a good one; the promise holds.
    answered(&mut frontier, 1, 2, 200, Heard::default());
    assert_eq!(next(&mut frontier, 89_999), None);
    assert!(matches!(next(&mut frontier, 90_000), Some(Task::Visit(_))));
    assert_eq!(next(&mut frontier, 90_000), None, "one at a time until it is well again");
}

#[test]
fn a_host_that_stays_silent_is_given_up_and_its_rows_are_refused_at_once() {
    let patience = Patience { give_up_after: Duration::from_secs(15), ..Patience::default() };
    let mut frontier = Frontier::new(Politeness { patience, ..rules(1) });
    frontier.load(window(1, 1..9), Time(0));
    let mut now = 0;
    for order in 1.. {
        match next(&mut frontier, now) {
            Some(Task::Visit(_)) => answered(&mut frontier, 1, order, now, heard(Manner::Silent)),
            Some(Task::Refuse(_, reason)) => {
                assert_eq!((reason, order), (SkipReason::GivenUp, 4));
                break;
            }
            other => panic!("{other:?}"),
        }
        // Not one that waits: the next row is refused or the pause is over.
        now = frontier.next_wake().map_or(now, |t| t.0);
    }
    assert!(matches!(next(&mut frontier, now), Some(Task::Refuse(..))));
    frontier.forgive(host(1), Time(now));
    assert_eq!(next(&mut frontier, now), None, "the pause it was promised holds");
    let wake = frontier.next_wake().unwrap();
    assert!(matches!(next(&mut frontier, wake.0), Some(Task::Visit(_))));
}

#[test]
fn an_excluded_host_is_asked_for_nothing_and_its_rows_are_refused_at_once() {
    let mut frontier = obeying(1);
    frontier.load(HostWindow { not_before: Time(9_000), ..window(1, 1..4) }, Time(0));
    frontier.load(window(2, 1..2), Time(0));
    // The robots.txt of the second is to be asked for at the first, and at one not loaded.
    let url = CanonicalUrl::parse("http://a.test/r").unwrap();
    let errand = |at| Errand { robots_of: host(2), at, url: url.clone(), hops: 1, job: JobId(1) };
    frontier.robots_elsewhere(errand(host(1)), Time(0));
    frontier.robots_elsewhere(errand(host(3)), Time(0));
    assert_eq!(frontier.exclude(host(1), Time(0)), [errand(host(1))]);
    assert_eq!(frontier.exclude(host(3), Time(0)), [errand(host(3))]);
    assert!(!frontier.awaits_hosts());
    let refused = |n| Some(Task::Refuse(entry(1, n, 1), SkipReason::Excluded));
    assert_eq!(next(&mut frontier, 0), refused(1), "neither its delay nor robots.txt matters");
    assert_eq!(next(&mut frontier, 0), Some(Task::Robots(entry(2, 1, 1))), "others go on");
    frontier.forgive(host(1), Time(0));
    assert_eq!(next(&mut frontier, 0), refused(2), "nothing it did is to blame");
    frontier.readmit(host(1), Time(0));
    assert_eq!(next(&mut frontier, 8_999), None, "what it was promised holds");
    assert_eq!(next(&mut frontier, 9_000), Some(Task::Robots(entry(1, 3, 1))));
}

#[test]
fn who_is_waited_for_is_told_soonest_first_and_why() {
    let mut frontier = obeying(1);
    let named = file(200, "User-agent: *\nCrawl-delay: 20", 0);
    for (n, at) in [(1, 3_000), (2, 2_000), (3, 1_000)] {
        let robots = (n == 2).then(|| named.clone());
        let read = HostWindow { not_before: Time(at), robots, ..window(n, 1..3) };
        frontier.load(read, Time(0));
    }
    let told = frontier.waiting_hosts(2);
    let told: Vec<_> = told.iter().map(|w| (w.host, w.at, w.gap.as_secs(), w.brake)).collect();
    let (delay, robots) = ((host(3), Time(1_000), 1, Brake::Delay), Brake::Robots);
    assert_eq!(told, [delay, (host(2), Time(2_000), 20, robots)]);
}

/// Delays by hand, of the sites of these hosts.
fn by_hand(hosts: &[(u8, u64)]) -> Delays {
    let name = |n: u8| entry(n, 1, 1).url.origin().into();
    let names = hosts.iter().map(|(n, ms)| (name(*n), *ms));
    Delays::new(names, Arc::new(Suffixes::built_in()))
}

#[test]
fn a_delay_set_by_hand_holds_from_the_last_answer_on_and_never_undercuts_what_a_host_asks() {
    let mut frontier = Frontier::new(rules(1));
    frontier.set_delays(by_hand(&[(1, 5_000)]), Time(0));
    for n in 1..3 {
        frontier.load(window(n, 1..9), Time(0));
        assert!(matches!(next(&mut frontier, 0), Some(Task::Visit(_))));
    }
    let well = Heard::default;
    answered(&mut frontier, 1, 1, 100, well());
    answered(&mut frontier, 2, 1, 100, well());
    frontier.settled(host(1), place(1), Time(100));
    frontier.settled(host(2), place(1), Time(100));
    assert_eq!(frontier.waiting_hosts(2)[0].at, Time(1_100), "the other keeps the common delay");
    let first = frontier.waiting_hosts(2).remove(1);
    assert_eq!((first.at, first.brake), (Time(5_100), Brake::Hand));
    // Longer and shorter while it waits, and taken back: from the last answer on.
    for (ms, at) in [(9_000, 9_100), (200, 300), (0, 100)] {
        frontier.set_delays(by_hand(&[(1, ms)]), Time(100));
        let spot = frontier.waiting_hosts(9).into_iter().find(|w| w.host == host(1));
        assert_eq!(spot.map_or(100, |w| w.at.0), at, "{ms} ms");
    }
    frontier.set_delays(by_hand(&[]), Time(100));
    assert_eq!(frontier.waiting_hosts(9).iter().filter(|w| w.at == Time(1_100)).count(), 2);
    // A server that asks to wait is obeyed, and so is a robots.txt.
    frontier.set_delays(by_hand(&[(2, 10)]), Time(110));
    let Some(Task::Visit(second)) = next(&mut frontier, 110) else { panic!("it may be asked") };
    assert_eq!(second.key.host, host(2));
    let wait = Some(Time(60_120));
    let busy = Heard { manner: Manner::Busy, retry_after: wait, ..Heard::default() };
    answered(&mut frontier, 2, 2, 120, busy);
    frontier.settled(host(2), place(2), Time(120));
    frontier.set_delays(by_hand(&[(2, 0)]), Time(120));
    let spot = frontier.waiting_hosts(9).into_iter().find(|w| w.host == host(2)).unwrap();
    assert!(spot.at >= Time(60_120), "{spot:?}");
    let mut frontier = obeying(1);
    frontier.set_delays(by_hand(&[(1, 10)]), Time(0));
    let named = file(200, "User-agent: *\nCrawl-delay: 20", 0);
    frontier.load(HostWindow { robots: Some(named), ..window(1, 1..9) }, Time(0));
    assert!(matches!(next(&mut frontier, 0), Some(Task::Visit(_))));
    answered(&mut frontier, 1, 1, 100, well());
    frontier.settled(host(1), place(1), Time(100));
    frontier.set_delays(by_hand(&[(1, 0)]), Time(100));
    let spot = frontier.waiting_hosts(9).remove(0);
    assert_eq!((spot.at, spot.brake), (Time(20_100), Brake::Robots));
    // After a crash it waits as long as was set.
    let mut frontier = Frontier::new(rules(1));
    frontier.set_delays(by_hand(&[(1, 7_000)]), Time(0));
    frontier.load_unclean(window(1, 1..3), Time(5_000), Time(5_000));
    assert_eq!(frontier.next_wake(), Some(Time(12_000)));
}

#[test]
fn after_a_crash_a_host_waits_as_long_as_it_ever_has_to() {
    let wait = |read: HostWindow| {
        let mut frontier = obeying(1);
        frontier.load_unclean(read, Time(5_000), Time(5_000));
        frontier.next_wake().map(|t| t.0)
    };
    assert_eq!(wait(window(1, 1..3)), Some(6_000));
    let named = file(200, "User-agent: *\nCrawl-delay: 20", 0);
    assert_eq!(wait(HostWindow { robots: Some(named), ..window(1, 1..3) }), Some(25_000));
    let tired = Temper { pause_ms: 40_000, ..Temper::default() };
    assert_eq!(wait(HostWindow { temper: tired, ..window(1, 1..3) }), Some(45_000));
    let promised = HostWindow { not_before: Time(99_000), ..window(1, 1..3) };
    assert_eq!(wait(promised), Some(99_000));
}

#[test]
fn hosts_of_one_address_are_asked_one_after_the_other() {
    let gap = Duration::from_millis(300);
    let mut frontier = Frontier::new(Politeness { address_gap: gap, ..rules(1) });
    let ip = Some("192.0.2.1".parse().unwrap());
    for n in 1..4 {
        frontier.load(window(n, 1..3), Time(0));
    }
    for n in 1..4 {
        assert!(matches!(next(&mut frontier, 0), Some(Task::Locate(h, _)) if h == host(n)));
    }
    assert_eq!(next(&mut frontier, 0), None, "nothing is asked of a host that is nowhere");
    (1..4).for_each(|n| frontier.located(host(n), ip, Time(86_400_000), Time(0)));
    for (time, n) in [(0, 1), (300, 2), (600, 3)] {
        assert_eq!(next(&mut frontier, time - 1), None);
        assert_eq!(next(&mut frontier, time), Some(Task::Visit(entry(n, 1, 1))));
    }
}

#[test]
fn where_others_ask_too_an_address_is_asked_in_turns_and_one_held_alone_is_not_asked_for_again() {
    let gap = Duration::from_millis(300);
    let turns = Politeness { address_gap: gap, address_turns: true, ..rules(1) };
    let exempt = vec!["198.51.100.0/24".parse().unwrap()];
    let mut frontier = Frontier::new(Politeness { address_exempt: exempt, ..turns });
    let [ip, other, free] =
        ["192.0.2.1", "192.0.2.2", "198.51.100.1"].map(|ip| ip.parse().unwrap());
    (1..5).for_each(|n| frontier.load(window(n, 1..9), Time(0)));
    for n in 1..5 {
        assert!(matches!(next(&mut frontier, 0), Some(Task::Locate(h, _)) if h == host(n)));
    }
    for (n, ip) in [(1, ip), (2, ip), (3, other), (4, free)] {
        frontier.located(host(n), Some(ip), Time(86_400_000), Time(0));
    }
    // One question for an address, whoever lives there; none where there is no gap.
    assert_eq!(next(&mut frontier, 0), Some(Task::Turn(ip)));
    assert_eq!(next(&mut frontier, 0), Some(Task::Turn(other)));
    assert_eq!(next(&mut frontier, 0), Some(Task::Visit(entry(4, 1, 1))));
    assert_eq!(next(&mut frontier, 0), None);
    frontier.turn(ip, Turn::Later(Time(40)), Time(10));
    assert_eq!(next(&mut frontier, 39), None);
    assert_eq!(next(&mut frontier, 40), Some(Task::Turn(ip)));
    assert!(!frontier.share_address(ip), "it may turn out to be ours alone");
    frontier.turn(ip, Turn::Alone(Time(60)), Time(50));
    assert_eq!(next(&mut frontier, 59), None);
    assert_eq!(next(&mut frontier, 60), Some(Task::Visit(entry(1, 1, 1))));
    assert_eq!(next(&mut frontier, 359), None, "alone there is a gap too");
    assert_eq!(next(&mut frontier, 360), Some(Task::Visit(entry(2, 1, 1))));
    // Shared, every request needs its turn, and one that was missed is none.
    assert!(frontier.share_address(ip));
    answered(&mut frontier, 1, 1, 400, Heard::default());
    frontier.settled(host(1), place(1), Time(400));
    assert_eq!(next(&mut frontier, 1_400), Some(Task::Turn(ip)));
    frontier.turn(ip, Turn::Slot(Time(1_500), Time(1_550)), Time(1_410));
    assert_eq!(next(&mut frontier, 1_499), None);
    assert_eq!(next(&mut frontier, 1_551), Some(Task::Turn(ip)));
    frontier.turn(ip, Turn::Slot(Time(1_600), Time(1_650)), Time(1_560));
    assert_eq!(next(&mut frontier, 1_650), Some(Task::Visit(entry(1, 2, 1))));
    answered(&mut frontier, 2, 1, 1_650, Heard::default());
    frontier.settled(host(2), place(1), Time(1_650));
    assert_eq!(next(&mut frontier, 2_650), Some(Task::Turn(ip)));
}

#[test]
fn long_rules_take_the_room_of_several_hosts() {
    let robots = "User-agent: *\n".to_owned() + &"Disallow: /a/rather/long/path\n".repeat(2_000);
    let loaded = |bytes: usize| {
        let rules = Politeness { max_hosts: 200, rule_bytes: bytes, rows: 4096, ..rules(1) };
        let agent = Some("argiope".to_owned());
        let mut frontier = Frontier::new(Politeness { robots: agent, ..rules });
        for n in 1..100 {
            let robots = Some(file(200, &robots, 0));
            let waiting = Time(i64::from(n) * 1_000_000);
            let read = HostWindow { robots, not_before: waiting, ..window(n, 1..3) };
            frontier.load(read, Time(0));
        }
        frontier.wants(Time(0));
        frontier.counts().loaded
    };
    assert_eq!(loaded(1 << 30), 99);
    let few = loaded(200_000);
    assert!(few < 50, "{few} hosts are still loaded");
}
