//! The hosts of a data directory as people see them, and what excluding and forgiving them means.

use crate::data_dir::DataDir;
use crate::director::budgets::{budget_row, judged_budgets};
use crate::run::SiteChange;
use crate::settings::EngineSettings;
use crate::traps::trap_words;
use argiope_frontier::{
    Delays, Exclusions, Robots, RobotsFile, SiteBudget, SkipReason, Trap, place_of_link, site_name,
};
use argiope_model::{CanonicalUrl, HostKey, JobId, JobState, Order, Suffixes, Time};
use argiope_store::{Batch, Discovery, HostRow, JobChange, Store, StoreError, UrlState};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Rows read at a time.
const PIECE: usize = 1000;

/// What a host's robots.txt says, in a few words, and the delay it names.
pub(crate) fn robots_words(file: Option<&RobotsFile>, agent: &str) -> (String, Option<Duration>) {
    let Some(file) = file else { return ("not asked yet".to_owned(), None) };
    match file.outcome.status {
        200..300 => {
            let robots = Robots::parse(&file.body, agent);
            (format!("read {}", file.asked), robots.crawl_delay())
        }
        status => (format!("none ({status})"), None),
    }
}

/// How a host stands, in a word; whether its site is excluded is said by the names that are.
pub(crate) fn state(host: &HostRow, excluded: bool, now: Time) -> &'static str {
    let temper = &host.temper;
    if excluded {
        "excluded"
    } else if temper.is_given_up(now) {
        "given up"
    } else if temper.failing_since.is_some() {
        "failing"
    } else if temper.pause_ms > 0 {
        "slowed"
    } else {
        "ok"
    }
}

/// The delay that holds for a host.
pub(crate) fn delay(
    host: &HostRow,
    by_hand: Option<Duration>,
    named: Option<Duration>,
    settings: &EngineSettings,
) -> Duration {
    let pause = Duration::from_millis(host.temper.pause_ms);
    by_hand.unwrap_or(settings.delay).max(named.unwrap_or_default()).max(pause)
}

/// What is excluded in a data directory.
pub(crate) fn exclusions(
    store: &dyn Store,
    pinned: &Arc<Suffixes>,
) -> Result<Exclusions, StoreError> {
    Ok(Exclusions::new(store.exclusions()?, pinned.clone()))
}

/// The delays that were set by hand in a data directory.
pub(crate) fn delays(store: &dyn Store, pinned: &Arc<Suffixes>) -> Result<Delays, StoreError> {
    Ok(Delays::new(store.delays()?, pinned.clone()))
}

/// A delay longer than this is as good as an exclusion.
const LONGEST_DELAY_MS: u64 = 86_400_000;

/// The name whose delay is set, and the row that says so; or why it cannot be.
pub(crate) fn to_delay(
    pinned: &Arc<Suffixes>,
    store: &dyn Store,
    name: &str,
    delay_ms: Option<u64>,
) -> Result<(Box<str>, Value), String> {
    let name = site_name(name).map_err(|e| e.to_string())?;
    if delay_ms.is_some_and(|ms| ms > LONGEST_DELAY_MS) {
        return Err(format!(
            "a delay is a day at most; `argiope sites exclude {name}` leaves it alone altogether"
        ));
    }
    let hosts = named(store, pinned, &name).map_err(|e| e.to_string())?.len();
    let seconds = delay_ms.map(|ms| ms as f64 / 1000.0);
    let row = json!({ "site": &*name, "delay_by_hand_s": seconds, "hosts": hosts });
    Ok((name, row))
}

/// A row per host, those first that have something to say for themselves, and one for each name
/// that is excluded and that no host has yet.
pub(crate) fn rows(
    store: &dyn Store,
    settings: &EngineSettings,
    dir: &DataDir,
    filter: Option<&str>,
    suspects: &[(Box<str>, Trap)],
    now: Time,
) -> Result<Vec<Value>, StoreError> {
    let paused = store.traps()?;
    let traps_of = |url: &CanonicalUrl, site: &str| {
        let all = paused.iter().map(|t| (t, true)).chain(suspects.iter().map(|t| (t, false)));
        let here = all.filter(|((pattern, _), _)| concerns(pattern, url, site));
        here.map(|((pattern, trap), paused)| trap_row(pattern, trap, paused)).collect::<Vec<_>>()
    };
    let pinned = dir.suffixes();
    let budgets = judged_budgets(dir.path(), now);
    let delays = delays(store, pinned)?;
    let exclusions = exclusions(store, pinned)?;
    let mut nowhere: BTreeSet<&str> = exclusions.names().map(|(name, _)| name).collect();
    let mut out: Vec<(u8, u64, Value)> = Vec::new();
    let mut after = None;
    loop {
        let hosts = store.scan_hosts(after, PIECE)?;
        let Some((last, _)) = hosts.last() else { break };
        after = Some(*last);
        for (key, host) in &hosts {
            let Ok(url) = CanonicalUrl::parse(&host.origin) else { continue };
            let site = pinned.site_of(url.host()).to_owned();
            if filter.is_some_and(|name| !is_named(name, &url, &site)) {
                continue;
            }
            let file = store.robots(&[*key])?.pop().flatten();
            let (mut robots, named) = robots_words(file.as_ref(), settings.agent());
            let excluded = exclusions.covering(&url);
            if let Some((name, _)) = excluded {
                nowhere.remove(name);
            }
            let state = state(host, excluded.is_some(), now);
            let disk = host.disk.map_or_else(|| store.host_disk(*key), Ok)?;
            if file.is_none() && host.temper.failing_since.is_some() {
                robots = "cannot be read".to_owned();
            }
            let traps = traps_of(&url, &site);
            let held = traps.iter().any(|trap| trap["state"] == "paused");
            let state = if state == "ok" && held { "trap" } else { state };
            let live = traps.iter().filter(|trap| trap["state"] != "forgiven");
            let suspicion = live.filter_map(|trap| trap["suspicion"].as_u64()).max().unwrap_or(0);
            let rank = ["given up", "failing", "trap", "slowed", "excluded", "ok"]
                .iter()
                .position(|s| *s == state);
            let budget = budgets.as_ref().and_then(|all| all.of(pinned.site_key(url.host())));
            let by_hand = delays.of(&url).map(|(_, delay)| delay);
            let waits = host.ready > 0 && host.not_before > now;
            let row = json!({
                "site": site,
                "host": &*host.origin,
                "state": state,
                "pages": host.fetched,
                "queued": host.ready,
                "known": host.known,
                "errors": host.failed,
                "bytes": host.bytes,
                "disk": disk,
                "delay_s": delay(host, by_hand, named, settings).as_secs_f64(),
                "delay_by_hand_s": by_hand.map(|d| d.as_secs_f64()),
                "next": waits.then(|| host.not_before.to_string()),
                "robots": robots,
                "since": since(host, excluded).map(|t| t.to_string()),
                "note": note(host, excluded, now).or_else(|| over_words(budget.as_ref())),
                "budget": budget.as_ref().map(budget_row),
                "suspicion": suspicion,
                "traps": traps,
            });
            out.push((rank.unwrap_or(9) as u8, u64::MAX - host.fetched, row));
        }
    }
    for (name, since) in exclusions.names().filter(|(name, _)| nowhere.contains(name)) {
        if filter.is_none_or(|filter| exclusions.within(filter).iter().any(|n| **n == *name)) {
            out.push((3, u64::MAX, unmet_row(name, since)));
        }
    }
    out.sort_by_key(|(rank, pages, _)| (*rank, *pages));
    Ok(out.into_iter().map(|(_, _, row)| row).collect())
}

/// That a site takes more than its share, and why that may be.
pub(crate) fn over_words(budget: Option<&SiteBudget>) -> Option<String> {
    let budget = budget?;
    let since = budget.over_since?;
    let waits = if budget.held { "waits until others are done" } else { "comes behind others" };
    Some(format!("over its budget since {since}; {waits}"))
}

pub(crate) fn is_named(name: &str, url: &CanonicalUrl, site: &str) -> bool {
    let name = name.trim_end_matches('/');
    name == site || name == url.host() || name == url.authority() || name == url.origin()
}

fn since(host: &HostRow, excluded: Option<(&str, Time)>) -> Option<Time> {
    excluded.map(|(_, t)| t).or(host.temper.failing_since).or(host.temper.given_up)
}

/// The row of a name that is excluded and that no host has yet.
fn unmet_row(name: &str, since: Time) -> Value {
    json!({
        "site": name,
        "host": null,
        "state": "excluded",
        "pages": 0,
        "queued": 0,
        "known": 0,
        "errors": 0,
        "bytes": 0,
        "disk": 0,
        "delay_s": null,
        "next": null,
        "robots": null,
        "since": since.to_string(),
        "note": format!("no host of it is known; {}", excluded_words(name, since)),
        "suspicion": 0,
        "traps": [],
    })
}

/// That a name is excluded, and what to do about it.
pub(crate) fn excluded_words(name: &str, since: Time) -> String {
    format!("excluded by hand on {since}; `argiope sites forgive {name}` undoes that")
}

fn note(host: &HostRow, excluded: Option<(&str, Time)>, now: Time) -> Option<String> {
    if let Some((name, since)) = excluded {
        return Some(excluded_words(name, since));
    }
    let temper = &host.temper;
    let since = temper.failing_since?;
    let failures = requests(temper.failures);
    Some(match temper.is_given_up(now) {
        true => format!(
            "no good answer to {failures} since {since}; \
             `argiope sites forgive {}` tries it again",
            host.origin
        ),
        false => format!("no good answer to {failures} since {since}"),
    })
}

/// A number of requests, in words.
pub(crate) fn requests(number: u32) -> String {
    if number == 1 { "1 request".to_owned() } else { format!("{number} requests") }
}

/// The hosts that a name means: a host, an origin, or all hosts of a site.
pub(crate) fn named(
    store: &dyn Store,
    pinned: &Suffixes,
    name: &str,
) -> Result<Vec<HostKey>, StoreError> {
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let hosts = store.scan_hosts(after, PIECE)?;
        let Some((last, _)) = hosts.last() else { return Ok(out) };
        after = Some(*last);
        for (key, host) in hosts {
            if let Ok(url) = CanonicalUrl::parse(&host.origin)
                && is_named(name, &url, pinned.site_of(url.host()))
            {
                out.push(key);
            }
        }
    }
}

/// What is to be done to leave the hosts of a name alone, and how many URLs that concerns; or why
/// that cannot be.
pub(crate) fn to_exclude(
    store: &dyn Store,
    pinned: &Arc<Suffixes>,
    name: &str,
) -> Result<(SiteChange, u64), String> {
    let name = site_name(name).map_err(|e| e.to_string())?;
    let said = |e: StoreError| e.to_string();
    let hosts = named(store, pinned, &name).map_err(said)?;
    let rows = store.hosts(&hosts).map_err(said)?;
    let queued = rows.into_iter().flatten().map(|host| host.ready).sum();
    Ok((
        SiteChange { exclude: true, names: vec![name], hosts, traps: Vec::new(), done: None },
        queued,
    ))
}

/// What is to be done to ask the hosts of a name again, or why that cannot be.
pub(crate) fn to_forgive(
    store: &dyn Store,
    pinned: &Arc<Suffixes>,
    name: &str,
) -> Result<SiteChange, String> {
    let said = |e: StoreError| e.to_string();
    let known = store.traps().map_err(said)?;
    let known: Vec<_> = known.into_iter().filter(|(_, t)| t.forgiven.is_none()).collect();
    if let Some(named) = known.iter().find(|(pattern, _)| means_pattern(name, pattern)) {
        let of = host_of(&named.0).unwrap_or_else(|| named.0.clone());
        let hosts = self::named(store, pinned, &of).map_err(said)?;
        let (names, traps) = (Vec::new(), vec![named.clone()]);
        return Ok(SiteChange { exclude: false, names, hosts, traps, done: None });
    }
    let wanted = site_name(name).map_err(|e| e.to_string())?;
    let exclusions = exclusions(store, pinned).map_err(said)?;
    if let Some(by) = exclusions.beyond(&wanted) {
        return Err(format!(
            "{wanted} is excluded together with {by}; `argiope sites forgive {by}` undoes that"
        ));
    }
    let names = exclusions.within(&wanted);
    let hosts = named(store, pinned, &wanted).map_err(said)?;
    if names.is_empty() && hosts.is_empty() {
        return Err(crate::ask::unknown_site(name));
    }
    let origins: Vec<Option<HostRow>> = store.hosts(&hosts).map_err(said)?;
    let concerned = |pattern: &str| {
        let urls = origins.iter().flatten().filter_map(|h| CanonicalUrl::parse(&h.origin).ok());
        urls.into_iter().any(|url| concerns(pattern, &url, pinned.site_of(url.host())))
    };
    let traps = known.into_iter().filter(|(pattern, _)| concerned(pattern)).collect();
    Ok(SiteChange { exclude: false, names, hosts, traps, done: None })
}

/// Whether somebody means this pattern; the dots at its end need not be typed.
fn means_pattern(name: &str, pattern: &str) -> bool {
    let bare = |text: &str| text.trim().trim_end_matches(['…', '.']).to_owned();
    bare(name) == bare(pattern) && name.contains('/')
}

/// The host, or the site, that a pattern lies with.
fn host_of(pattern: &str) -> Option<Box<str>> {
    match pattern.contains("://") {
        true => CanonicalUrl::parse(pattern).ok().map(|url| url.origin().into()),
        false => pattern.split('/').next().map(Into::into),
    }
}

/// Whether a pattern lies with a host, or with its site.
fn concerns(pattern: &str, host: &CanonicalUrl, site: &str) -> bool {
    host_of(pattern).is_some_and(|of| *of == *host.origin() || *of == *site)
}

/// What is known of a pattern, as a row; `paused`: nothing more of it is asked for.
fn trap_row(pattern: &str, trap: &Trap, paused: bool) -> Value {
    let state = match trap.forgiven {
        Some(_) => "forgiven",
        None if paused => "paused",
        None => "suspected",
    };
    json!({
        "pattern": pattern,
        "state": state,
        "suspicion": trap.suspicion(),
        "pages": trap.pages,
        "repeated": trap.repeated,
        "made_up": trap.made_up,
        "shuffled": trap.shuffled,
        "line": trap.deepest,
        "since": paused.then(|| trap.since.to_string()),
        "evidence": trap_words(trap),
        "examples": trap.examples,
    })
}

/// The row that says what excluding or forgiving came to.
pub(crate) fn changed_row(name: &str, change: &SiteChange) -> Value {
    let state = if change.exclude { "excluded" } else { "forgiven" };
    json!({ "site": name, "state": state, "hosts": change.hosts.len() })
}

/// Asks the hosts of a name again that no crawl is asking now; says what that came to, or why it
/// cannot be.
pub fn forgive_site(
    dir: &DataDir,
    store: &dyn Store,
    name: &str,
    now: Time,
) -> Result<Value, String> {
    let change = to_forgive(store, dir.suffixes(), name)?;
    let forgiven = store.next_page().and_then(|page| {
        let batch = forgiving(store, &change.hosts, page, now)?;
        let mut row = changed_row(name, &change);
        row["urls"] = json!(batch.discoveries.len());
        let exclusions = change.names.into_iter().map(|name| (name, false)).collect();
        let forgiven = |(name, trap)| (name, Some(Trap { forgiven: Some(now), ..trap }));
        let traps = change.traps.into_iter().map(forgiven).collect();
        store.commit(Batch { exclusions, traps, ..batch }).map(|_| row)
    });
    forgiven.map_err(|e| e.to_string())
}

/// The start URLs that lie with sites excluded in a directory, and by which name.
pub fn excluded_starts(
    dir: &DataDir,
    store: &dyn Store,
    starts: &[CanonicalUrl],
) -> Result<Vec<(CanonicalUrl, String)>, StoreError> {
    let exclusions = exclusions(store, dir.suffixes())?;
    let by = |url: &CanonicalUrl| Some((url.clone(), exclusions.covering(url)?.0.to_owned()));
    Ok(starts.iter().filter_map(by).collect())
}

/// The URLs that were left alone because their host was given up or excluded, to be asked for
/// again.
fn given_up(store: &dyn Store, host: HostKey, page: u64) -> Result<Vec<Discovery>, StoreError> {
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let rows = store.host_urls(host, after, PIECE)?;
        let Some((last, _)) = rows.last() else { return Ok(out) };
        after = Some(last.url);
        for (key, row) in rows {
            let left = matches!(
                row.state,
                UrlState::Failed
                    | UrlState::Skipped(
                        SkipReason::GivenUp | SkipReason::Excluded | SkipReason::Trap
                    )
            );
            if left {
                out.push(Discovery {
                    key,
                    job: row.job(),
                    depth: row.depth,
                    place: place_of_link(Order::Breadth, row.depth, page, out.len()),
                    skip: None,
                    role: row.role,
                    hops: row.hops,
                    again: true,
                    url: row.url,
                });
            }
        }
    }
}

/// Everything that trying these hosts again changes. Their URLs are queued as if found on the
/// `page`-th page read, a number not used so far.
pub(crate) fn forgiving(
    store: &dyn Store,
    hosts: &[HostKey],
    page: u64,
    now: Time,
) -> Result<Batch, StoreError> {
    let mut batch = Batch { now, forgive: hosts.to_vec(), ..Batch::default() };
    for host in hosts {
        batch.discoveries.extend(given_up(store, *host, page)?);
    }
    batch.next_page = page + 1;
    let wanted: BTreeSet<JobId> = batch.discoveries.iter().map(|d| d.job).collect();
    // A job that was done has something to do again.
    for row in store.jobs()? {
        if wanted.contains(&row.job.id) && row.state == JobState::Done {
            batch.jobs.push(JobChange::State(row.job.id, JobState::Open));
        }
    }
    Ok(batch)
}
