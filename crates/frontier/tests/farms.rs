//! A farm takes a small part of a crawl, however it is entered, however the others link to each other, and
//! however the machine keeps up; when the others are done it goes on at full speed.

mod crawl;

use crawl::*;

/// A hundred sites of very different size, where each links to so many others drawn by lot, and all can be
/// reached from the first; so many of them lead to the farm, or it is a start itself.
fn web(others: u64, entrances: u64, farm_links: u64) -> Web {
    let pages = (0..100).map(|n| 10 + mixed(n) % 60 + if n % 10 == 0 { 300 } else { 0 });
    let links = (0..100).map(|n| {
        let drawn = (0..others).map(|k| mixed(n * 31 + k) % 100);
        let tree = (n * 4 + 1..n * 4 + 5).filter(|to| *to < 100);
        drawn.chain(tree).collect()
    });
    let starts = if entrances == 0 { vec![0, FARM] } else { vec![0] };
    let mut web = Web { pages: pages.collect(), links: links.collect(), starts, farm_links };
    for n in 0..entrances {
        web.links[(n * 17 + 2) as usize % 100].push(FARM + n);
    }
    web
}

const CALM: Pace = Pace { delay: 0, answer: (1, 10), parse: 1, commit: 5 };
const LADEN: Pace = Pace { delay: 0, answer: (10, 300), parse: 6, commit: 150 };

fn takes_a_twentieth_at_most(web: Web, pace: Pace) {
    let all = web.pages.iter().sum();
    let seen = Crawl::new(web, pace).until(all, 20_000);
    assert_eq!(seen.pages, all, "{seen:?}");
    assert!(seen.farm * 20 <= seen.farm + seen.honest, "{seen:?}");
}

#[test]
fn with_five_entrances() {
    takes_a_twentieth_at_most(web(4, 5, 20), CALM);
}

#[test]
fn with_five_entrances_while_answers_pages_and_commits_lag() {
    takes_a_twentieth_at_most(web(4, 5, 20), LADEN);
}

#[test]
fn with_five_entrances_and_few_links_on_its_pages() {
    takes_a_twentieth_at_most(web(4, 5, 5), CALM);
}

#[test]
fn when_all_the_others_of_the_branch_it_hangs_in_are_done() {
    takes_a_twentieth_at_most(web(20, 1, 20), CALM);
}

#[test]
fn when_the_others_hang_by_one_link_each() {
    takes_a_twentieth_at_most(web(0, 1, 100), CALM);
}

#[test]
fn as_a_start_beside_others_that_hang_by_one_link_each() {
    takes_a_twentieth_at_most(web(0, 0, 100), LADEN);
}

#[test]
fn it_goes_on_at_full_speed_when_the_others_are_done() {
    let web = web(4, 5, 20);
    let all: u64 = web.pages.iter().sum();
    let mut crawl = Crawl::new(web, CALM);
    let seen = crawl.until(all, 20_000);
    let then = crawl.until(u64::MAX, seen.farm + seen.honest + 3_000);
    assert_eq!(then.honest, seen.honest);
    // Two cores parse a page each in a millisecond: nothing slower holds it up for long.
    assert!(then.ms - seen.ms < 4_000, "{seen:?}, {then:?}");
}
