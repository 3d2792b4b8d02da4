//! What a site's pages have been through, and how much time a data directory spans.
//!
//! * What this is: the answers to [`Question::Site`](crate::Question::Site) and [`Question::Span`](crate::Question::Span),
//!   made for those who look at a site or go back in time.
//! * How it reads: the rows of a site's URLs with their captures, host by host, at most [`MOST_URLS`] and
//!   [`MOST_CAPTURES`]; of the change log the first and the last rows of some partitions.
//! * Invariants: bounded in work and in size; what was cut short says so. Nothing is changed.

use crate::backlinks::Backlinks;
use crate::data_dir::DataDir;
use crate::settings::EngineSettings;
use crate::sites::{named, robots_words};
use argiope_frontier::{Robots, RobotsFile};
use argiope_graph::rank::Measure;
use argiope_model::{Capture, DocId, HostKey, Time, UrlKey};
use argiope_store::{HostRow, Store, StoreError, UrlRow, UrlState};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

/// URLs of a site that are looked at.
const MOST_URLS: usize = 20_000;
/// Captures of them that are looked at.
const MOST_CAPTURES: usize = 100_000;
/// Rows read at a time.
const PIECE: usize = 500;
/// Hosts whose robots.txt is shown.
const HOSTS: usize = 20;
/// Characters of a robots.txt that are shown.
const ROBOTS: usize = 8_000;
/// Pages named as the first of a site.
const TOP: usize = 10;
/// Kinds of errors and of content that are told apart.
const KINDS: usize = 20;
/// Points of a plot: where days would be more, they are put together.
const POINTS: i64 = 60;
/// Rows of the change log read at each end of a partition.
const ENDS: u64 = 16;
/// Partitions whose change log is looked at.
const PARTS: usize = 64;

/// A length of time that captures are counted by, and its name.
const STEPS: [(i64, &str); 8] = [
    (60_000, "minute"),
    (600_000, "10 minutes"),
    (3_600_000, "hour"),
    (6 * 3_600_000, "6 hours"),
    (86_400_000, "day"),
    (7 * 86_400_000, "week"),
    (30 * 86_400_000, "30 days"),
    (365 * 86_400_000, "365 days"),
];

/// What was counted in one step of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    visits: u64,
    new: u64,
    /// Visits that found a page that was known, changed or not.
    again: u64,
    changes: u64,
    errors: u64,
}

/// What a site is made of, as far as it was looked at.
#[derive(Default)]
struct Seen {
    urls: usize,
    captures: usize,
    cut: bool,
    states: BTreeMap<String, u64>,
    errors: BTreeMap<(&'static str, u16), (u64, String)>,
    types: BTreeMap<Box<str>, u64>,
    /// By minute: put together when it is known how long it all took.
    times: BTreeMap<i64, Counted>,
    pages: Vec<(UrlKey, DocId)>,
}

impl Seen {
    fn take(&mut self, key: UrlKey, row: &UrlRow, captures: &[Capture]) {
        self.urls += 1;
        self.captures += captures.len();
        let state = match row.state {
            UrlState::Skipped(reason) => format!("skipped: {}", reason.name()),
            state => state.name().to_owned(),
        };
        *self.states.entry(state).or_default() += 1;
        if row.state == UrlState::Fetched {
            self.pages.push((key, row.doc));
        }
        let mut known = false;
        for capture in captures {
            let counted = self.times.entry(capture.time.0.div_euclid(60_000)).or_default();
            counted.visits += 1;
            if capture.outcome.is_success() {
                let first = !std::mem::replace(&mut known, true);
                counted.new += u64::from(first);
                counted.again += u64::from(!first);
                let changed = capture.verdict.is_some_and(|verdict| verdict.reason.counts());
                counted.changes += u64::from(changed);
            } else if !capture.outcome.is_skip() {
                counted.errors += 1;
            }
        }
        let Some(last) = captures.last() else { return };
        if !last.outcome.is_success() && !last.outcome.is_skip() {
            let kind = (last.outcome.kind.name(), last.outcome.status);
            let known = self.errors.len() < 10 * KINDS || self.errors.contains_key(&kind);
            if known {
                let told = self.errors.entry(kind).or_insert_with(|| (0, row.url.to_string()));
                told.0 += 1;
            }
        }
        let seen = captures.iter().rev().find(|c| !c.mime.is_empty() && c.outcome.is_success());
        if let Some(seen) = seen
            && (self.types.len() < 10 * KINDS || self.types.contains_key(&seen.mime))
        {
            *self.types.entry(seen.mime.clone()).or_default() += 1;
        }
    }
}

/// Looks at a site, or at a host; `None` where no host has the name.
pub(crate) fn site(
    name: &str,
    dir: &DataDir,
    store: &dyn Store,
    links: &Backlinks,
    settings: &EngineSettings,
) -> Result<Option<Value>, StoreError> {
    let hosts = named(store, dir.suffixes(), name)?;
    if hosts.is_empty() {
        return Ok(None);
    }
    let mut seen = Seen::default();
    for host in &hosts {
        look(&mut seen, store, *host)?;
    }
    let (step, times) = by_step(&seen.times);
    let mut robots = Vec::new();
    let first = &hosts[..hosts.len().min(HOSTS)];
    for (row, file) in store.hosts(first)?.into_iter().zip(store.robots(first)?) {
        robots.extend(row.map(|row| robots_row(&row, file.as_ref(), settings)));
    }
    let by_count = |rows: Vec<Value>| -> Vec<Value> {
        let mut rows = rows;
        rows.sort_by_key(|row| Reverse(row["urls"].as_u64()));
        rows.truncate(KINDS);
        rows
    };
    let errors = seen.errors.iter().map(|((kind, status), (urls, example))| {
        let status = Some(*status).filter(|status| *status != 0);
        json!({ "kind": kind, "status": status, "urls": urls, "example": example })
    });
    let types = seen.types.iter().map(|(mime, urls)| json!({ "type": mime, "urls": urls }));
    Ok(Some(json!({
        "name": name,
        "hosts": hosts.len(),
        "urls": seen.urls,
        "captures": seen.captures,
        "cut": seen.cut,
        "states": seen.states,
        "step_s": step / 1000,
        "step": STEPS.iter().find(|(length, _)| *length == step).map(|(_, name)| name),
        "times": times,
        "errors": by_count(errors.collect()),
        "types": by_count(types.collect()),
        "robots": robots,
        "top": top(&seen.pages, store, links)?,
    })))
}

fn look(seen: &mut Seen, store: &dyn Store, host: HostKey) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let rows = store.host_urls(host, after, PIECE)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.url);
        let keys: Vec<UrlKey> = rows.iter().map(|(key, _)| *key).collect();
        for ((key, row), captures) in rows.iter().zip(store.captures_many(&keys)?) {
            if seen.urls >= MOST_URLS || seen.captures >= MOST_CAPTURES {
                seen.cut = true;
                return Ok(());
            }
            seen.take(*key, row, &captures);
        }
    }
}

/// What was counted by minute, put together so that it is [`POINTS`] steps at most.
fn by_step(minutes: &BTreeMap<i64, Counted>) -> (i64, Vec<Value>) {
    let (Some((first, _)), Some((last, _))) = (minutes.first_key_value(), minutes.last_key_value())
    else {
        return (STEPS[4].0, Vec::new());
    };
    let (first, last) = (first * 60_000, last * 60_000);
    let fits = |(step, _): &&(i64, &str)| last.div_euclid(*step) - first.div_euclid(*step) < POINTS;
    let step = STEPS.iter().find(fits).unwrap_or(&STEPS[STEPS.len() - 1]).0;
    let mut steps: BTreeMap<i64, Counted> = BTreeMap::new();
    for (minute, counted) in minutes {
        let at = steps.entry((minute * 60_000).div_euclid(step)).or_default();
        at.visits += counted.visits;
        at.new += counted.new;
        at.again += counted.again;
        at.changes += counted.changes;
        at.errors += counted.errors;
    }
    let row = |(at, counted): (&i64, &Counted)| {
        json!({ "time": Time(at * step).to_string(), "visits": counted.visits,
            "new": counted.new, "again": counted.again, "changes": counted.changes, "errors": counted.errors })
    };
    (step, steps.iter().map(row).collect())
}

/// What robots.txt says, and which delay holds for the host and why.
fn robots_row(host: &HostRow, file: Option<&RobotsFile>, settings: &EngineSettings) -> Value {
    let (told, asked_for) = robots_words(file, settings.agent());
    let pause = Duration::from_millis(host.temper.pause_ms);
    let asked_for = asked_for.unwrap_or_default();
    let delay = settings.delay.max(asked_for).max(pause);
    let why = if delay.is_zero() {
        "no delay is set"
    } else if delay == pause {
        "the host was slow or in trouble, and is given more time"
    } else if delay == asked_for {
        "its robots.txt asks for it (Crawl-delay)"
    } else {
        "the ordinary delay between two requests (crawl.delay)"
    };
    let read = file.filter(|file| (200..300).contains(&file.outcome.status));
    let text = read.map(|file| String::from_utf8_lossy(&file.body).into_owned());
    let is_cut = text.as_ref().is_some_and(|text| text.chars().count() > ROBOTS);
    let sitemaps = read.map(|file| {
        let robots = Robots::parse(&file.body, settings.agent());
        robots.sitemaps().iter().take(TOP).cloned().collect::<Vec<_>>()
    });
    json!({
        "host": &*host.origin,
        "told": told,
        "obeyed": settings.robots,
        "asked": file.map(|file| file.asked.to_string()),
        "again": file.map(|file| file.until.to_string()),
        "status": file.map(|file| file.outcome.status),
        "text": text.map(|text| text.chars().take(ROBOTS).collect::<String>()),
        "cut": is_cut,
        "sitemaps": sitemaps,
        "delay_s": delay.as_secs_f64(),
        "delay_why": why,
    })
}

/// The pages that rank highest, or are linked most where nobody has ranked them.
fn top(
    pages: &[(UrlKey, DocId)],
    store: &dyn Store,
    links: &Backlinks,
) -> Result<Vec<Value>, StoreError> {
    let docs: Vec<DocId> = pages.iter().map(|(_, doc)| *doc).collect();
    let keys: Vec<UrlKey> = pages.iter().map(|(key, _)| *key).collect();
    let ranks = links.ranks_of(Measure::PageRank, &docs);
    // A graph that cannot be read keeps nobody from the rest.
    let counts = links.view().and_then(|view| view.counts(&keys)).unwrap_or_default();
    let mut best: Vec<(f64, u64, UrlKey)> = keys
        .iter()
        .enumerate()
        .map(|(n, key)| (ranks[n].unwrap_or(0.0), counts.get(n).map_or(0, |c| c.backlinks), *key))
        .collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
    best.truncate(TOP);
    let keys: Vec<UrlKey> = best.iter().map(|(_, _, key)| *key).collect();
    let rows = store.urls(&keys)?;
    let told = best.into_iter().zip(rows).filter_map(|((rank, backlinks, _), row)| {
        let row = row?;
        let rank = Some(rank).filter(|rank| *rank > 0.0);
        Some(json!({ "doc": row.doc.0, "url": row.url.as_str(), "rank": rank,
            "backlinks": backlinks }))
    });
    Ok(told.collect())
}

/// The first and the last visit, as the jobs and the ends of the change log tell. Where hosts are many only some
/// partitions are looked at: what was imported may be older than what is told.
pub(crate) fn span(store: &dyn Store) -> Result<Value, StoreError> {
    let heads = store.log_heads()?;
    let mut times: Vec<Time> = Vec::new();
    if !heads.is_empty() {
        times.extend(store.jobs()?.iter().map(|row| row.job.created));
    }
    for (part, head) in heads.into_iter().take(PARTS) {
        for after in [0, head.saturating_sub(ENDS)] {
            times.extend(store.changes(part, after, ENDS as usize)?.iter().map(|row| row.time));
        }
    }
    let told = |time: Option<&Time>| time.map(ToString::to_string);
    Ok(json!({ "first": told(times.iter().min()), "last": told(times.iter().max()) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_time_are_few_and_nothing_is_lost() {
        let counted = |visits| Counted { visits, changes: 1, ..Counted::default() };
        let minutes: BTreeMap<i64, Counted> = (0..50_000).map(|n| (n, counted(2))).collect();
        let (step, rows) = by_step(&minutes);
        assert_eq!(step, 86_400_000);
        assert!(rows.len() as i64 <= POINTS && !rows.is_empty());
        let sum = |name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
        assert_eq!((sum("visits"), sum("changes")), (100_000, 50_000));
        let one: BTreeMap<i64, Counted> = [(7, counted(3))].into_iter().collect();
        assert_eq!(by_step(&one).0, 60_000);
        assert!(by_step(&BTreeMap::new()).1.is_empty());
    }
}
