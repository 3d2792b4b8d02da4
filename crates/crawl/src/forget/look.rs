//! What would go: the URLs that an order means, their places in the files, and who else needs
//! what lies there. Nothing is changed here.

use super::ForgetError;
use super::prune::PruneOrder;
use super::receipt::FileBefore;
use crate::data_dir::DataDir;
use crate::sites::named;
use argiope_archive::{open_record, warc_date};
use argiope_model::{
    CanonicalUrl, Capture, HostKey, Location, OutcomeKind, PayloadDigest, SiteKey, Time, UrlKey,
};
use argiope_store::{Payload, Store, UrlRow, UrlState};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Rows read at a time.
pub(super) const PIECE: usize = 1000;

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
    /// What was asked for, where versions go and not pages.
    #[serde(default)]
    pub prune: Option<PruneOrder>,
    /// Pages that stay, and which versions of them go.
    #[serde(default)]
    pub versions: Vec<Thinned>,
    /// Captures that go.
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

/// A page some of whose versions go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thinned {
    /// Its URL.
    pub url: String,
    /// When the captures that go were made, in milliseconds.
    pub times_ms: Vec<i64>,
    /// Those at which the page was otherwise than what is shown for them from now on.
    pub lost_ms: Vec<i64>,
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
    pub(super) const VERSION: u32 = 2;

    /// A plan in which nothing goes.
    pub(super) fn new(asked: &[String], now: Time) -> Self {
        ForgetPlan {
            version: ForgetPlan::VERSION,
            time_ms: now.0,
            asked: asked.to_vec(),
            urls: Vec::new(),
            hosts: Vec::new(),
            prune: None,
            versions: Vec::new(),
            captures: 0,
            records: Vec::new(),
            texts: Vec::new(),
            moves: Vec::new(),
            files: Vec::new(),
            store_bytes: 0,
        }
    }

    /// The captures that go of pages that stay.
    pub(super) fn going_captures(&self, dir: &DataDir) -> Vec<(UrlKey, Time)> {
        let key = |url: &str| Some(CanonicalUrl::parse(url).ok()?.key(dir.suffixes()));
        let of = |page: &Thinned| {
            let key = key(&page.url);
            let times: Vec<Time> = page.times_ms.iter().map(|ms| Time(*ms)).collect();
            key.into_iter().flat_map(move |key| times.clone().into_iter().map(move |t| (key, t)))
        };
        self.versions.iter().flat_map(of).collect::<Vec<_>>()
    }

    /// Every record that is blanked: those of the pages, and the references that are replaced.
    pub(super) fn all_records(&self) -> Vec<Location> {
        let replaced = self.moves.iter().flat_map(|m| &m.to).map(|survivor| survivor.record);
        self.records.iter().copied().chain(replaced).collect()
    }

    /// Bytes that are blanked.
    pub fn bytes(&self) -> u64 {
        self.all_records().iter().chain(&self.texts).map(|at| at.length).sum()
    }

    /// Bytes of payloads that are copied.
    pub(super) fn copied_bytes(&self) -> u64 {
        let heads = self.moves.iter().flat_map(|m| &m.to).map(|survivor| survivor.record.length);
        self.moves.iter().map(|m| m.from.length).chain(heads).sum()
    }

    /// Captures that stay and are given a new record.
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
    let mut plan = ForgetPlan::new(asked, now);
    plan.urls = urls.values().map(|row| row.url.as_str().to_owned()).collect();
    plan.hosts = whole.into_values().collect();
    let mut going = Going::default();
    for (key, row) in &urls {
        let site = dir.suffixes().site_key(row.url.host());
        going.urls.insert(*key, None);
        for capture in store.captures(*key)? {
            going.add(&mut plan, *key, site, &capture);
        }
    }
    going.finish(dir, store, &mut plan)?;
    Ok(plan)
}

/// A URL, where one is meant: what has a scheme. Everything else is a name.
pub(super) fn as_url(target: &str) -> Option<CanonicalUrl> {
    target.contains("://").then(|| CanonicalUrl::parse(target).ok()).flatten()
}

/// What goes, as far as others may need it.
#[derive(Default)]
pub(super) struct Going {
    /// The URLs; where not everything of one goes, the times of the captures that do.
    pub urls: BTreeMap<UrlKey, Option<BTreeSet<Time>>>,
    originals: HashMap<(SiteKey, PayloadDigest), Vec<Original>>,
    texts: HashSet<Location>,
}

/// A record that goes with its payload.
struct Original {
    key: UrlKey,
    time: Time,
    at: Location,
}

impl Going {
    /// A capture goes.
    pub fn add(&mut self, plan: &mut ForgetPlan, key: UrlKey, site: SiteKey, capture: &Capture) {
        plan.captures += 1;
        plan.records.extend(capture.record);
        self.texts.extend(capture.text);
        if let Some(at) = capture.record.filter(|_| !capture.revisit) {
            let same = self.originals.entry((site, capture.payload_digest)).or_default();
            same.push(Original { key, time: capture.time, at });
        }
    }

    fn goes(&self, key: UrlKey, time: Time) -> bool {
        self.urls.get(&key).is_some_and(|times| times.as_ref().is_none_or(|t| t.contains(&time)))
    }

    /// Looks who else needs what goes.
    pub fn finish(
        mut self,
        dir: &DataDir,
        store: &dyn Store,
        plan: &mut ForgetPlan,
    ) -> Result<(), ForgetError> {
        plan.moves = self.survivors(dir, store)?;
        plan.texts = self.texts.into_iter().collect();
        plan.texts.sort_unstable();
        Ok(())
    }

    /// Looks through the captures that stay, once: payloads and texts are shared within a site, and a
    /// site lies in one partition. Takes the texts that they have out of what goes.
    fn survivors(&mut self, dir: &DataDir, store: &dyn Store) -> Result<Vec<Move>, ForgetError> {
        let mut found: BTreeMap<Location, Vec<(bool, Survivor)>> = BTreeMap::new();
        if self.originals.is_empty() && self.texts.is_empty() {
            return Ok(Vec::new());
        }
        let parts: BTreeSet<u16> = self.urls.keys().map(|key| key.host.part).collect();
        for part in parts {
            let mut after = UrlKey { host: HostKey { part, host: [0; 6] }, url: 0 };
            loop {
                let rows = store.scan_urls(Some(after), PIECE)?;
                let Some((last, _)) = rows.last() else { break };
                after = *last;
                for (key, row) in rows.iter().filter(|(key, _)| key.host.part == part) {
                    if row.fetched_at.is_none() || matches!(self.urls.get(key), Some(None)) {
                        continue;
                    }
                    let site = dir.suffixes().site_key(row.url.host());
                    let captures = store.captures(*key)?;
                    for capture in &captures {
                        if self.goes(*key, capture.time) {
                            continue;
                        }
                        if let Some(at) = capture.text {
                            self.texts.remove(&at);
                        }
                        if let Some((from, record)) = self.refers(dir, store, site, capture)? {
                            // What is only told to be as it was has no head for a payload.
                            let bare = capture.outcome.kind == OutcomeKind::NotModified;
                            let url = row.url.as_str().to_owned();
                            let survivor = Survivor { time_ms: capture.time.0, url, record };
                            found.entry(from).or_default().push((bare, survivor));
                        }
                    }
                }
                if after.host.part != part {
                    break;
                }
            }
        }
        let oldest_first = |(from, mut to): (Location, Vec<(bool, Survivor)>)| {
            to.sort();
            Move { from, to: to.into_iter().map(|(_, survivor)| survivor).collect() }
        };
        Ok(found.into_iter().map(oldest_first).collect())
    }

    /// The record of a capture that stays and the one it needs, if it refers to one that goes.
    fn refers(
        &self,
        dir: &DataDir,
        store: &dyn Store,
        site: SiteKey,
        capture: &Capture,
    ) -> Result<Option<(Location, Location)>, ForgetError> {
        let Some(at) = capture.record.filter(|_| capture.revisit) else { return Ok(None) };
        let same = self.originals.get(&(site, capture.payload_digest));
        let Some(first) = same.and_then(|same| same.first()) else { return Ok(None) };
        // What cannot be read refers to nothing.
        let Ok(record) = open_record(&dir.warc(), at) else { return Ok(None) };
        let said = |name: &str| record.headers().get(name).unwrap_or_default();
        let Ok(url) = CanonicalUrl::parse(said("WARC-Refers-To-Target-URI")) else {
            return Ok(None);
        };
        let (key, date) = (url.key(dir.suffixes()), warc_date(said("WARC-Refers-To-Date")));
        // Records tell times in seconds.
        let is_meant = |time: Time| date.is_some_and(|d| d.0 / 1000 == time.0 / 1000);
        let goes = match self.urls.get(&key) {
            None => false,
            Some(None) => true,
            Some(Some(_)) => {
                let all = store.captures(key)?;
                let holds = |c: &&Capture| {
                    !c.revisit && c.record.is_some() && c.payload_digest == capture.payload_digest
                };
                let mut stays = all.iter().filter(holds).filter(|c| !self.goes(key, c.time));
                let mut going = same.into_iter().flatten().filter(|o| o.key == key);
                match going.any(|o| is_meant(o.time)) {
                    true => !stays.any(|c| is_meant(c.time)),
                    false => stays.next().is_none(),
                }
            }
        };
        Ok(goes.then_some((first.at, at)))
    }
}

/// The payloads that are known as those of what goes.
pub(super) fn payload_rows(
    dir: &DataDir,
    store: &dyn Store,
    urls: &[UrlKey],
    captures: &[(UrlKey, Time)],
) -> Result<Vec<Payload>, ForgetError> {
    let mut going: BTreeMap<UrlKey, Option<BTreeSet<Time>>> = BTreeMap::new();
    for (key, time) in captures {
        going.entry(*key).or_insert_with(|| Some(BTreeSet::new())).iter_mut().for_each(|times| {
            times.insert(*time);
        });
    }
    going.extend(urls.iter().map(|key| (*key, None)));
    let goes = |key: &UrlKey, time: &Time| {
        going.get(key).is_some_and(|times| times.as_ref().is_none_or(|t| t.contains(time)))
    };
    let all: Vec<UrlKey> = going.keys().copied().collect();
    let mut keys: BTreeSet<(SiteKey, PayloadDigest)> = BTreeSet::new();
    for (key, row) in all.iter().zip(store.urls(&all)?) {
        let Some(row) = row else { continue };
        let site = dir.suffixes().site_key(row.url.host());
        let captures = store.captures(*key)?;
        let theirs = captures.iter().filter(|c| goes(key, &c.time));
        keys.extend(theirs.map(|c| (site, c.payload_digest)));
    }
    let keys: Vec<(SiteKey, PayloadDigest)> = keys.into_iter().collect();
    let rows = store.payloads(&keys)?;
    let theirs = keys.into_iter().zip(rows).filter(|(_, row)| {
        row.as_ref().is_some_and(|row| goes(&row.url.key(dir.suffixes()), &row.time))
    });
    Ok(theirs.map(|((site, digest), _)| Payload { site, digest }).collect())
}
