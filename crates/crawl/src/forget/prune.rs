//! What would go by the rules of retention: versions, not pages. Nothing is changed here.
//!
//! The plan it makes is carried out as a forgetting is: captures that stay and refer to bytes that
//! go are given records of their own first, and a text that any capture has is kept.

use super::ForgetError;
use super::look::{ForgetPlan, Going, PIECE, Thinned, as_url};
use crate::data_dir::{DataDir, receipts_dir};
use crate::retention::{Keep, going, lost};
use crate::sites::{is_named, named};
use argiope_archive::warc_date;
use argiope_model::{CanonicalUrl, Time, UrlKey};
use argiope_store::{Store, UrlRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Which versions of which pages are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PruneOrder {
    /// URLs, or names of sites and hosts; none is everything.
    pub targets: Vec<String>,
    /// What holds where nothing else is said.
    pub keep: Keep,
    /// What holds for sites and hosts of these names; the last that fits counts.
    pub sites: Vec<(String, Keep)>,
    /// Nothing since this time goes, in milliseconds.
    pub before_ms: i64,
}

impl PruneOrder {
    fn keep(&self, dir: &DataDir, url: &CanonicalUrl) -> Keep {
        let site = dir.suffixes().site_of(url.host());
        let fits = |(name, _): &&(String, Keep)| is_named(name, url, site);
        self.sites.iter().rev().find(fits).map_or(self.keep, |(_, keep)| *keep)
    }
}

/// Looks for the versions that go by an order.
pub fn look_prune(
    dir: &DataDir,
    store: &dyn Store,
    order: &PruneOrder,
    now: Time,
) -> Result<ForgetPlan, ForgetError> {
    let mut found =
        Found { dir, order, plan: ForgetPlan::new(&order.targets, now), going: Going::default() };
    found.plan.prune = Some(order.clone());
    for target in &order.targets {
        if let Some(url) = as_url(target) {
            let key = url.key(dir.suffixes());
            let row = store.urls(&[key])?.pop().flatten();
            let row = row.ok_or_else(|| ForgetError::UnknownUrl(target.clone()))?;
            found.take(store, &[(key, row)])?;
            continue;
        }
        let hosts = named(store, dir.suffixes(), target)?;
        if hosts.is_empty() {
            return Err(ForgetError::UnknownSite(target.clone()));
        }
        for host in hosts {
            let mut after = None;
            loop {
                let rows = store.host_urls(host, after, PIECE)?;
                let Some((last, _)) = rows.last() else { break };
                after = Some(last.url);
                found.take(store, &rows)?;
            }
        }
    }
    if order.targets.is_empty() {
        let mut after = None;
        loop {
            let rows = store.scan_urls(after, PIECE)?;
            let Some((last, _)) = rows.last() else { break };
            after = Some(*last);
            found.take(store, &rows)?;
        }
    }
    let Found { mut plan, going, .. } = found;
    going.finish(dir, store, &mut plan)?;
    Ok(plan)
}

struct Found<'a> {
    dir: &'a DataDir,
    order: &'a PruneOrder,
    plan: ForgetPlan,
    going: Going,
}

impl Found<'_> {
    fn take(&mut self, store: &dyn Store, rows: &[(UrlKey, UrlRow)]) -> Result<(), ForgetError> {
        let before = Time(self.order.before_ms);
        // One version is never too many.
        let some = |(key, row): &&(UrlKey, UrlRow)| {
            row.fetched_at.is_some()
                && !self.going.urls.contains_key(key)
                && self.order.keep(self.dir, &row.url) != Keep::All
        };
        let rows: Vec<&(UrlKey, UrlRow)> = rows.iter().filter(some).collect();
        let keys: Vec<UrlKey> = rows.iter().map(|(key, _)| *key).collect();
        for ((key, row), captures) in rows.into_iter().zip(store.captures_many(&keys)?) {
            let goes = going(&captures, self.order.keep(self.dir, &row.url), before);
            if !goes.contains(&true) {
                continue;
            }
            let site = self.dir.suffixes().site_key(row.url.host());
            let away = || captures.iter().zip(&goes).filter(|(_, goes)| **goes).map(|(c, _)| c);
            self.going.urls.insert(*key, Some(away().map(|c| c.time).collect()));
            for capture in away() {
                self.going.add(&mut self.plan, *key, site, capture);
            }
            self.plan.versions.push(Thinned {
                url: row.url.as_str().to_owned(),
                times_ms: away().map(|c| c.time.0).collect(),
                lost_ms: lost(&captures, &goes).iter().map(|time| time.0).collect(),
            });
        }
        Ok(())
    }
}

/// The texts of the receipts of prunings. What cannot be read says nothing.
fn receipts(data: &Path) -> impl Iterator<Item = String> {
    let found = fs::read_dir(receipts_dir(data)).into_iter().flatten().flatten();
    let is_prune = |path: &Path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("prune-") && name.ends_with(".json")
    };
    let paths = found.map(|entry| entry.path()).filter(move |path| is_prune(path));
    paths.filter_map(|path| fs::read_to_string(path).ok())
}

/// Pages that have lost versions by pruning, as the receipts say.
pub(crate) struct PrunedPages(Vec<String>);

impl PrunedPages {
    /// Those of a directory.
    pub fn of(data: &Path) -> Self {
        PrunedPages(receipts(data).collect())
    }

    /// Whether a page is one of them.
    pub fn contains(&self, url: &str) -> bool {
        let quoted = Value::from(url).to_string();
        self.0.iter().any(|text| text.contains(&quoted))
    }
}

/// The last version of a page that was pruned in a span of time (its beginning not included), and
/// when it was pruned: what the receipts say.
pub fn pruned_between(
    data: &Path,
    url: &str,
    after: Option<Time>,
    until: Time,
) -> Option<(Time, Time)> {
    let quoted = Value::from(url).to_string();
    let mut last = None;
    // Receipts may be long, and few name the page.
    for text in receipts(data).filter(|text| text.contains(&quoted)) {
        let Ok(receipt) = serde_json::from_str::<Value>(&text) else { continue };
        let Some(when) = receipt["time"].as_str().and_then(warc_date) else { continue };
        let pages = receipt["versions"].as_array().into_iter().flatten();
        let lost = pages.filter(|page| page["url"] == url).flat_map(|page| page["lost"].as_array());
        let times = lost.flatten().filter_map(|time| warc_date(time.as_str()?));
        let within = times.filter(|time| after.is_none_or(|a| *time > a) && *time <= until);
        last = within.map(|time| (time, when)).chain(last).max();
    }
    last
}
