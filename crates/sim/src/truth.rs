//! What a crawl must and may have fetched at its end: a walk over the world, breadth first.
//!
//! Independent of the engine: it knows the world, not what was asked. Pages that can be reached
//! over hosts that always answer, or whose trouble is short, must have been fetched; pages that
//! can be reached at all may have been.

use crate::pages::{Href, Page};
use crate::scenario::{Rule, Scenario};
use crate::store::page_of;
use crate::watch::Watch;
use crate::world::{Fate, World};
use argiope_frontier::{Robots, SkipReason};
use argiope_model::{Role, Time};
use argiope_store::{Store, StoreError, UrlRow, UrlState};
use std::collections::{BTreeSet, VecDeque};

pub(crate) struct Truth {
    pub must: BTreeSet<(usize, u32)>,
    pub may: BTreeSet<(usize, u32)>,
}

impl Truth {
    pub(crate) fn of(world: &World) -> Self {
        let rules: Vec<Robots> = (0..world.hosts.len()).map(|n| world.rules(n)).collect();
        let reliable = |host: usize| matches!(world.hosts[host].fate, Fate::Steady | Fate::Brief);
        let alive = |host: usize| world.hosts[host].fate != Fate::Dead;
        Truth { must: walk(world, &rules, reliable), may: walk(world, &rules, alive) }
    }
}

/// The pages that are fetched when these hosts answer.
fn walk(
    world: &World,
    rules: &[Robots],
    answers: impl Fn(usize) -> bool,
) -> BTreeSet<(usize, u32)> {
    let mut fetched = BTreeSet::new();
    let (mut seen, mut met) = (BTreeSet::new(), BTreeSet::new());
    let mut next: VecDeque<(usize, u32)> =
        (0..world.hosts.len()).filter(|n| world.hosts[*n].start).map(|n| (n, 0)).collect();
    while let Some((host, page)) = next.pop_front() {
        if !answers(host) || !seen.insert((host, page)) {
            continue;
        }
        let allows = |path: &str| rules[host].verdict(path).allowed;
        if met.insert(host) && world.hosts[host].sitemap && allows("/sitemap.xml") {
            let listed = world.first_listed(host)..world.hosts[host].pages;
            next.extend(listed.map(|page| (host, page)));
        }
        if !allows(&crate::pages::path_of(page)) {
            continue;
        }
        match world.page(host, page) {
            Page::Redirect(to) => next.push_back((host, to)),
            Page::Links(links) => {
                fetched.insert((host, page));
                next.extend(links.iter().filter_map(|link| match link {
                    Href::Page(host, page) => Some((*host, *page)),
                    Href::Gone(_) | Href::Never(_) => None,
                }));
            }
        }
    }
    fetched
}

/// Every row of the store.
pub(crate) fn all_rows(store: &dyn Store, mut take: impl FnMut(UrlRow)) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let rows = store.scan_urls(after, 4096)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(*last);
        rows.into_iter().for_each(|(_, row)| take(row));
    }
}

/// Says which acknowledged pages are not there.
pub(crate) fn check_kept(store: &dyn Store, watch: &Watch, now: Time) -> Result<(), StoreError> {
    let mut lost: BTreeSet<(usize, u32)> = watch.kept().into_iter().collect();
    all_rows(store, |row| {
        if row.state == UrlState::Fetched
            && let Some(page) = page_of(&row.url)
        {
            lost.remove(&page);
        }
    })?;
    for (host, page) in lost {
        let text = format!("page {page} of h{host}.test was acknowledged and is not there");
        watch.violated(Rule::Kept, now, text);
    }
    Ok(())
}

/// Compares what is there at the end with what must and may be.
pub(crate) fn check_end(
    scenario: &Scenario,
    world: &World,
    truth: &Truth,
    store: &dyn Store,
    watch: &Watch,
    now: Time,
) -> Result<(), StoreError> {
    let mut missing = truth.must.clone();
    let mut wrong = Vec::new();
    all_rows(store, |row| {
        let (url, state) = (&row.url, row.state);
        if row.in_queue() {
            wrong.push(format!("{url} is still queued"));
        }
        let Some(page) = page_of(url) else { return };
        let dead = world.hosts.get(page.0).is_none_or(|host| host.fate == Fate::Dead);
        if dead && !matches!(state, UrlState::Failed | UrlState::Skipped(SkipReason::GivenUp)) {
            wrong.push(format!("{url} is {state:?} and its host never answered"));
        }
        if state == UrlState::Fetched && row.role == Role::Page && !missing.remove(&page) {
            if !truth.may.contains(&page) {
                wrong.push(format!("{url} was fetched and cannot be reached"));
            }
        } else if missing.remove(&page) {
            let detail = (row.attempts, row.fetched_at);
            wrong.push(format!("{url} is {state:?} and must have been fetched; {detail:?}"));
        }
    })?;
    for (host, page) in missing {
        wrong.push(format!("page {page} of h{host}.test was never met"));
    }
    for job in store.jobs()? {
        if job.counters.queued != 0 {
            wrong.push(format!("{} URLs are counted as queued", job.counters.queued));
        }
    }
    for text in wrong {
        watch.violated(Rule::Drained, now, format!("{text} ({} hosts)", scenario.hosts));
    }
    Ok(())
}
