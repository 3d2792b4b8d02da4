//! A crawl that breaks a rule is caught, and by the right rule.
//!
//! Each world is crawled twice: as it should be, when everything holds, and with one thing
//! broken on purpose while what is demanded stays the same.

use argiope_sim::{Broken, Report, Rule, Scenario, simulate};
use std::time::Duration;

/// A world in which crashes come and hosts share addresses.
fn world(seed: u64) -> Scenario {
    Scenario {
        hosts: 40,
        pages_per_host: 8,
        crashes: 4,
        per_host: 1,
        connections: 16,
        delay: Duration::from_secs(10),
        address_gap: Duration::from_millis(500),
        commit_time: Duration::from_millis(2),
        archive: false,
        memory: 64 << 20,
        exclusions: 10,
        ..Scenario::small(seed)
    }
}

fn report(scenario: &Scenario) -> Report {
    simulate(scenario).expect("a place for the data directory")
}

/// Whether one of a few worlds shows it: not in each is there a crash at the right moment.
#[track_caller]
fn is_caught(seed: u64, broken: Broken, by: Rule) -> Report {
    let mut reports = String::new();
    for seed in seed..seed + 4 {
        let whole = report(&world(seed));
        assert_eq!(whole.violated, 0, "{whole}");
        let report = report(&Scenario { broken, ..world(seed) });
        if report.violates(by) {
            return report;
        }
        reports += &format!("{report}\n");
    }
    panic!("{broken:?} is not caught by {by:?}:\n{reports}");
}

#[test]
fn a_delay_that_is_a_millisecond_short_is_caught() {
    let report = is_caught(1, Broken::ShorterDelay(Duration::from_millis(1)), Rule::Spacing);
    let said = report.violations.iter().find(|v| v.rule == Rule::Spacing).expect("just seen");
    assert!(said.text.contains("seed ") && said.text.contains(".test/"), "{said}");
}

#[test]
fn half_a_delay_is_caught() {
    is_caught(2, Broken::ShorterDelay(Duration::from_secs(5)), Rule::Spacing);
}

#[test]
fn a_request_to_an_excluded_host_is_caught() {
    is_caught(21, Broken::DeafToExclusions, Rule::Excluded);
}

#[test]
fn a_second_connection_to_a_host_is_caught() {
    is_caught(3, Broken::MoreConnections, Rule::AtOnce);
}

#[test]
fn ignoring_robots_txt_is_caught() {
    is_caught(4, Broken::NoRobots, Rule::Robots);
}

#[test]
fn ignoring_the_gap_between_requests_to_an_address_is_caught() {
    is_caught(5, Broken::NoAddressGap, Rule::Address);
}

#[test]
fn forgetting_what_a_host_asked_for_is_caught() {
    is_caught(6, Broken::ForgottenNotes, Rule::Patience);
}

#[test]
fn forgetting_which_hosts_were_being_asked_is_caught() {
    let report = is_caught(7, Broken::ForgottenClaims, Rule::Claimed);
    assert!(report.violates(Rule::Spacing) || report.violates(Rule::Reopened), "{report}");
}

#[test]
fn losing_an_acknowledged_page_is_caught() {
    is_caught(8, Broken::ForgottenPages, Rule::Kept);
}
