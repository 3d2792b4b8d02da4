//! What would go: the URLs that an order means, their places in the files, and who else needs
//! what lies there. Nothing is changed here.

use super::ForgetError;
use super::receipt::FileBefore;
use crate::data_dir::DataDir;
use crate::sites::named;
use argiope_archive::open_record;
use argiope_model::{
    CanonicalUrl, Capture, HostKey, Location, PayloadDigest, SiteKey, Time, UrlKey,
};
use argiope_store::{Payload, Store, UrlRow, UrlState};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Rows read at a time.
const PIECE: usize = 1000;

/// What is to be forgotten: URLs and places, none of their words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetPlan {
    pub(super) version: u32,
    /// When it was asked for, in milliseconds.
    pub(super) time_ms: i64,
    /// What was asked for.
    pub asked: Vec<String>,
    /// The URLs.
    pub urls: Vec<String>,
    /// Hosts of which nothing is left.
    pub hosts: Vec<String>,
    /// Captures of them.
    pub captures: u64,
    /// Their records.
    pub records: Vec<Location>,
    /// Their texts, those that other pages have too left out.
    pub texts: Vec<Location>,
    /// Pages that stay and need a copy of what goes.
    pub moves: Vec<Move>,
    /// The files as they were.
    pub(super) files: Vec<FileBefore>,
    pub(super) store_bytes: u64,
}

/// A payload that goes with its record and that others have too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// The record that goes.
    pub from: Location,
    /// Captures that refer to it, oldest first: the first is given the payload, the others refer
    /// to that from now on.
    pub to: Vec<Survivor>,
}

/// A capture that stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Survivor {
    pub(super) time_ms: i64,
    /// Its URL.
    pub url: String,
    /// Its record, which refers to the one that goes.
    pub record: Location,
}

impl ForgetPlan {
    pub(super) const VERSION: u32 = 1;

    /// Every record that is blanked: those of the pages, and the references that are replaced.
    pub(super) fn all_records(&self) -> Vec<Location> {
        let replaced = self.moves.iter().flat_map(|m| &m.to).map(|survivor| survivor.record);
        self.records.iter().copied().chain(replaced).collect()
    }

    /// Bytes that are blanked.
    pub fn bytes(&self) -> u64 {
        self.all_records().iter().chain(&self.texts).map(|at| at.length).sum()
    }

    /// Captures of other pages that are given a new record.
    pub fn moved(&self) -> u64 {
        self.moves.iter().map(|m| m.to.len() as u64).sum()
    }
}

/// Looks for what an order means: URLs, or names of sites and hosts as `sites` takes them.
pub fn look(
    dir: &DataDir,
    store: &dyn Store,
    asked: &[String],
    now: Time,
) -> Result<ForgetPlan, ForgetError> {
    let mut urls: BTreeMap<UrlKey, UrlRow> = BTreeMap::new();
    let mut whole: BTreeMap<HostKey, String> = BTreeMap::new();
    for target in asked {
        let before = urls.len();
        let left = |row: &UrlRow| row.state != UrlState::Forgotten;
        if let Some(url) = as_url(target) {
            let key = url.key(dir.suffixes());
            let row = store.urls(&[key])?.pop().flatten();
            let row = row.ok_or_else(|| ForgetError::UnknownUrl(target.clone()))?;
            if urls.contains_key(&key) {
                continue;
            }
            urls.extend(left(&row).then_some((key, row)));
        } else {
            let hosts = named(store, dir.suffixes(), target)?;
            if hosts.is_empty() {
                return Err(ForgetError::UnknownSite(target.clone()));
            }
            for host in hosts {
                let origin = store.hosts(&[host])?.pop().flatten().map(|row| row.origin);
                let mut after = None;
                loop {
                    let rows = store.host_urls(host, after, PIECE)?;
                    let Some((last, _)) = rows.last() else { break };
                    after = Some(last.url);
                    urls.extend(rows.into_iter().filter(|(_, row)| left(row)));
                }
                whole.extend(origin.map(|origin| (host, origin.into())));
            }
        }
        if urls.len() == before {
            return Err(ForgetError::NothingLeft(target.clone()));
        }
    }
    let mut plan = ForgetPlan {
        version: ForgetPlan::VERSION,
        time_ms: now.0,
        asked: asked.to_vec(),
        urls: urls.values().map(|row| row.url.as_str().to_owned()).collect(),
        hosts: whole.into_values().collect(),
        captures: 0,
        records: Vec::new(),
        texts: Vec::new(),
        moves: Vec::new(),
        files: Vec::new(),
        store_bytes: 0,
    };
    let mut going = Going::default();
    for (key, row) in &urls {
        let site = dir.suffixes().site_key(row.url.host());
        for capture in store.captures(*key)? {
            plan.captures += 1;
            plan.records.extend(capture.record);
            going.texts.extend(capture.text);
            if let Some(at) = capture.record.filter(|_| !capture.revisit) {
                going.payloads.entry((site, capture.payload_digest)).or_insert(at);
            }
        }
        going.parts.insert(key.host.part);
    }
    plan.moves = survivors(dir, store, &urls, &mut going)?;
    plan.texts = going.texts.into_iter().collect();
    plan.texts.sort_unstable();
    Ok(plan)
}

/// A URL, where one is meant: what has a scheme. Everything else is a name.
fn as_url(target: &str) -> Option<CanonicalUrl> {
    target.contains("://").then(|| CanonicalUrl::parse(target).ok()).flatten()
}

/// What goes, as far as others may need it.
#[derive(Default)]
struct Going {
    payloads: HashMap<(SiteKey, PayloadDigest), Location>,
    texts: HashSet<Location>,
    parts: BTreeSet<u16>,
}

/// Looks through the pages that stay, once: payloads and texts are shared within a site, and a
/// site lies in one partition. Takes the texts that they have out of what goes.
fn survivors(
    dir: &DataDir,
    store: &dyn Store,
    urls: &BTreeMap<UrlKey, UrlRow>,
    going: &mut Going,
) -> Result<Vec<Move>, ForgetError> {
    let mut found: BTreeMap<Location, Vec<Survivor>> = BTreeMap::new();
    if going.payloads.is_empty() && going.texts.is_empty() {
        return Ok(Vec::new());
    }
    for part in std::mem::take(&mut going.parts) {
        let mut after = UrlKey { host: HostKey { part, host: [0; 6] }, url: 0 };
        loop {
            let rows = store.scan_urls(Some(after), PIECE)?;
            let Some((last, _)) = rows.last() else { break };
            after = *last;
            for (key, row) in rows.iter().filter(|(key, _)| key.host.part == part) {
                if row.fetched_at.is_none() || urls.contains_key(key) {
                    continue;
                }
                let site = dir.suffixes().site_key(row.url.host());
                for capture in store.captures(*key)? {
                    if let Some(at) = capture.text {
                        going.texts.remove(&at);
                    }
                    let from = going.payloads.get(&(site, capture.payload_digest));
                    if let (Some(from), Some(record)) = (from, refers(dir, &capture, urls)) {
                        found.entry(*from).or_default().push(Survivor {
                            time_ms: capture.time.0,
                            url: row.url.as_str().to_owned(),
                            record,
                        });
                    }
                }
            }
            if after.host.part != part {
                break;
            }
        }
    }
    let oldest_first = |(from, mut to): (Location, Vec<Survivor>)| {
        to.sort();
        Move { from, to }
    };
    Ok(found.into_iter().map(oldest_first).collect())
}

/// The record of a capture, if it refers to one that goes.
fn refers(dir: &DataDir, capture: &Capture, urls: &BTreeMap<UrlKey, UrlRow>) -> Option<Location> {
    let at = capture.record.filter(|_| capture.revisit)?;
    // What cannot be read refers to nothing.
    let record = open_record(&dir.warc(), at).ok()?;
    let to = record.headers().get("WARC-Refers-To-Target-URI").unwrap_or_default();
    let goes = CanonicalUrl::parse(to).is_ok_and(|url| urls.contains_key(&url.key(dir.suffixes())));
    goes.then_some(at)
}

/// The payloads that are known as those of these URLs.
pub(super) fn payload_rows(
    dir: &DataDir,
    store: &dyn Store,
    urls: &[UrlKey],
) -> Result<Vec<Payload>, ForgetError> {
    let going: HashSet<UrlKey> = urls.iter().copied().collect();
    let mut keys: BTreeSet<(SiteKey, PayloadDigest)> = BTreeSet::new();
    for (key, row) in urls.iter().zip(store.urls(urls)?) {
        let Some(row) = row else { continue };
        let site = dir.suffixes().site_key(row.url.host());
        keys.extend(store.captures(*key)?.iter().map(|c| (site, c.payload_digest)));
    }
    let keys: Vec<(SiteKey, PayloadDigest)> = keys.into_iter().collect();
    let rows = store.payloads(&keys)?;
    let theirs = keys.into_iter().zip(rows).filter(|(_, row)| {
        row.as_ref().is_some_and(|row| going.contains(&row.url.key(dir.suffixes())))
    });
    Ok(theirs.map(|((site, digest), _)| Payload { site, digest }).collect())
}
