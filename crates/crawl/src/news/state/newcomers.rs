//! Which sites are followed, which were, and what they had before.
//!
//! * A site that is new brings its earlier captures; one that is no longer followed keeps its articles and is remembered,
//!   so that they are made again with the file; one that comes back brings what came meanwhile.

use super::Open;
use crate::gather::ARTICLE;
use crate::news::NewsError;
use argiope_model::{CanonicalUrl, HostKey, JobId, OutcomeKind, Role, Time, UrlKey};
use argiope_news::{Recipe, Sites, place};
use argiope_store::{Store, UrlRow};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Hosts whose sites are remembered.
const HOSTS: usize = 100_000;

impl Open {
    /// Which site a host is of, if it is followed.
    pub(super) fn site_of(
        &mut self,
        key: HostKey,
        store: &dyn Store,
    ) -> Result<Option<Recipe>, NewsError> {
        if !self.hosts.contains_key(&key) {
            if self.hosts.len() >= HOSTS {
                self.hosts.clear();
            }
            let row = store.hosts(&[key])?.pop().flatten();
            let host = row.and_then(|row| CanonicalUrl::parse(&format!("{}/", row.origin)).ok());
            let site = host.and_then(|url| {
                let followed = self.sites.of(&url).map(|recipe| recipe.site.clone());
                let has_feed = |feed: &String| {
                    CanonicalUrl::parse(feed).is_ok_and(|feed| place(&feed) == place(&url))
                };
                let by_feed = || {
                    let mut recipes = self.sites.recipes().iter();
                    recipes.find(|r| r.feeds.iter().any(has_feed)).map(|r| r.site.clone())
                };
                let mut former = self.former.iter().map(|site| nameless(site));
                let former = || former.find(|r| r.is_for(&url)).map(|r| r.site);
                followed.or_else(former).or_else(by_feed)
            });
            self.hosts.insert(key, site);
        }
        let Some(Some(site)) = self.hosts.get(&key) else { return Ok(None) };
        let recipe = self.sites.recipes().iter().find(|recipe| recipe.site == *site);
        Ok(Some(recipe.cloned().unwrap_or_else(|| nameless(site))))
    }

    /// Writes down which sites are no longer followed: what was collected of them stays, also where the file of articles is
    /// made again. One that is followed again is taken in again, with what came meanwhile.
    pub(super) fn part_with(&mut self, sites: &Sites) -> Result<(), NewsError> {
        if sites.is_unknown() {
            return Ok(());
        }
        let followed: BTreeSet<&String> = sites.recipes().iter().map(|r| &r.site).collect();
        let former = self.reader.former();
        let (back, stay): (BTreeSet<_>, BTreeSet<_>) =
            former.iter().cloned().partition(|site| followed.contains(site));
        let gone = self.taken.iter().filter(|site| !followed.contains(site)).cloned();
        let now: BTreeSet<String> = stay.into_iter().chain(gone).collect();
        for site in &back {
            self.is_changed |= self.taken.remove(site);
        }
        // Nobody may know that they are back before they are to be taken in.
        self.mark()?;
        if now == *self.reader.former() {
            return Ok(());
        }
        self.reader.part_with(now)
    }

    /// Looks whether sites are new, and finds their earlier captures.
    pub(super) fn newcomers(
        &mut self,
        sites: &Arc<Sites>,
        store: &dyn Store,
    ) -> Result<(), NewsError> {
        if Arc::ptr_eq(&self.sites, sites) {
            return Ok(());
        }
        // What they have is known but for what came meanwhile.
        let former = self.reader.former();
        let is_back = |site: &&String| self.taken.contains(*site) && former.contains(*site);
        let followed = sites.recipes().iter().map(|recipe| &recipe.site);
        let back: BTreeSet<String> = followed.filter(is_back).cloned().collect();
        self.part_with(sites)?;
        self.sites = sites.clone();
        self.hosts.clear();
        let is_new =
            |site: &&String| !self.taken.contains(*site) && !self.newcomers.contains(*site);
        let followed = sites.recipes().iter().map(|recipe| &recipe.site);
        let mut new: BTreeSet<String> = followed.filter(is_new).cloned().collect();
        let former: Vec<String> = self.reader.former().iter().filter(is_new).cloned().collect();
        new.extend(former.iter().cloned());
        self.former.retain(|site| self.reader.former().contains(site));
        self.former.extend(former);
        if new.is_empty() {
            return Ok(());
        }
        if self.taken.is_empty() && self.read.is_empty() {
            let heads = store.log_heads()?.into_iter().collect();
            self.begun.get_or_insert(heads);
        }
        let jobs = store.jobs()?.into_iter().filter(|row| row.job.news);
        let jobs: BTreeSet<JobId> = jobs.map(|row| row.job.id).collect();
        let (mut after, mut found) = (None, Vec::new());
        loop {
            let hosts = store.scan_hosts(after, 512)?;
            let Some((last, _)) = hosts.last() else { break };
            after = Some(*last);
            for (key, _) in hosts {
                let site = self.site_of(key, store)?.map(|recipe| recipe.site);
                let Some(site) = site.filter(|site| new.contains(site)) else { continue };
                let is_back = back.contains(&site);
                let wanted = |row: &UrlRow| match self.table.looked_at(row.doc.0) {
                    Some(last) => Wanted::After(last),
                    None if is_back && is_list(row, &jobs) => Wanted::Newest,
                    None => Wanted::All,
                };
                captures_of_host(store, key, wanted, &mut found)?;
            }
        }
        self.before.extend(found);
        self.before.make_contiguous().sort_unstable();
        self.newcomers.extend(new);
        Ok(())
    }
}

/// The recipe of a site of which nothing is said.
pub(in crate::news) fn nameless(site: &str) -> Recipe {
    Recipe { site: site.to_owned(), ..Recipe::default() }
}

/// Which captures of a page are looked at.
enum Wanted {
    All,
    After(i64),
    Newest,
}

/// Whether a page or a file tells of others, whatever it shows: of a feed or a front page of a site that comes back only
/// the newest capture says what is not known.
fn is_list(row: &UrlRow, news: &BTreeSet<JobId>) -> bool {
    row.role == Role::Sitemap || news.contains(&row.job()) && row.depth < ARTICLE
}

/// The captures of a host's pages that may be articles, or tell of them.
fn captures_of_host(
    store: &dyn Store,
    host: HostKey,
    wanted: impl Fn(&UrlRow) -> Wanted,
    found: &mut Vec<(Time, UrlKey)>,
) -> Result<(), NewsError> {
    let mut after = None;
    loop {
        let rows = store.host_urls(host, after, 512)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.url);
        for (key, row) in rows {
            if row.visits == 0 {
                continue;
            }
            let mut before = None;
            let wanted = wanted(&row);
            let captures = store.captures(key)?;
            let first = found.len();
            // What has become of it in the end.
            let last = captures.last().filter(|last| {
                last.outcome.kind == OutcomeKind::Redirect
                    || matches!(last.outcome.status, 404 | 410)
            });
            let last = last.map(|last| (last.time, key));
            for capture in captures {
                let same = before == Some(capture.body_digest);
                if capture.outcome.kind == OutcomeKind::Fetched && !same {
                    before = Some(capture.body_digest);
                    found.push((capture.time, key));
                }
            }
            match wanted {
                Wanted::All => {}
                Wanted::After(time) => {
                    let new = found.split_off(first).into_iter().filter(|(at, _)| at.0 > time);
                    found.extend(new);
                }
                Wanted::Newest => {
                    drop(found.drain(first..found.len().saturating_sub(1).max(first)))
                }
            }
            found.extend(last.filter(|_| before.is_some()));
        }
    }
}
