//! The hosts of a data directory as people see them, and what forgiving one means.

use crate::settings::EngineSettings;
use argiope_frontier::{Robots, RobotsFile, SkipReason, place_of_link};
use argiope_model::{CanonicalUrl, HostKey, JobId, JobState, Order, Suffixes, Time};
use argiope_store::{Batch, Discovery, HostRow, JobChange, Store, StoreError, UrlState};
use serde_json::{Value, json};
use std::collections::BTreeSet;
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

/// How a host stands, in a word.
pub(crate) fn state(host: &HostRow, now: Time) -> &'static str {
    let temper = &host.temper;
    if temper.is_given_up(now) {
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
    named: Option<Duration>,
    settings: &EngineSettings,
) -> Duration {
    let pause = Duration::from_millis(host.temper.pause_ms);
    settings.delay.max(named.unwrap_or_default()).max(pause)
}

/// A row per host, those first that have something to say for themselves.
pub(crate) fn rows(
    store: &dyn Store,
    settings: &EngineSettings,
    pinned: &Suffixes,
    filter: Option<&str>,
    now: Time,
) -> Result<Vec<Value>, StoreError> {
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
            let state = state(host, now);
            if file.is_none() && host.temper.failing_since.is_some() {
                robots = "cannot be read".to_owned();
            }
            let rank = ["given up", "failing", "slowed", "ok"].iter().position(|s| *s == state);
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
                "delay_s": delay(host, named, settings).as_secs_f64(),
                "next": waits.then(|| host.not_before.to_string()),
                "robots": robots,
                "since": host.temper.failing_since.or(host.temper.given_up).map(|t| t.to_string()),
                "note": note(host, now),
            });
            out.push((rank.unwrap_or(9) as u8, u64::MAX - host.fetched, row));
        }
    }
    out.sort_by_key(|(rank, pages, _)| (*rank, *pages));
    Ok(out.into_iter().map(|(_, _, row)| row).collect())
}

fn is_named(name: &str, url: &CanonicalUrl, site: &str) -> bool {
    let name = name.trim_end_matches('/');
    name == site || name == url.host() || name == url.authority() || name == url.origin()
}

fn note(host: &HostRow, now: Time) -> Option<String> {
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

/// The URLs that were left alone because their host was given up, to be asked for again.
fn given_up(store: &dyn Store, host: HostKey, page: u64) -> Result<Vec<Discovery>, StoreError> {
    let mut out = Vec::new();
    let mut after = None;
    loop {
        let rows = store.host_urls(host, after, PIECE)?;
        let Some((last, _)) = rows.last() else { return Ok(out) };
        after = Some(last.url);
        for (key, row) in rows {
            let left = matches!(row.state, UrlState::Skipped(SkipReason::GivenUp))
                || row.state == UrlState::Failed;
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
