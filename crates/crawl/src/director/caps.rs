//! The cap on the pages of one site: exact, over connections, hosts, runs and kills.
//!
//! * What counts: pages of the site that the directory has, as `fetched` counts them, and beside them what is back and
//!   not yet committed, and what is out. A row is handed out only while all of that stays below the cap.
//!   Once so many pages are committed, further rows of the site are refused.
//! * Where the number comes from: the rows of the site's hosts, which lie in one partition and so have one writer.
//! * A raised cap: [`beyond_the_cap`] finds what was refused for the lower one.

use super::Director;
use super::active::Active;
use crate::group::PageDone;
use argiope_frontier::{Entry, Release, SkipReason, place_of_link};
use argiope_model::{CanonicalUrl, HostKey, Job, JobId, Limits, Role, SiteKey, Suffixes, Time};
use argiope_store::{Discovery, Store, StoreError, UrlState};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rows read at a time.
const PIECE: usize = 1000;

/// The sites that are loaded, or of which something is out.
#[derive(Default)]
pub(super) struct Caps {
    sites: HashMap<SiteKey, Site>,
    of: HashMap<HostKey, SiteKey>,
    /// Hosts of the new pages that are being committed.
    committing: Vec<HostKey>,
    /// Sites of which something was refused in this run.
    reached: BTreeSet<SiteKey>,
}

#[derive(Default)]
struct Site {
    /// Pages committed.
    done: u64,
    /// Back and not yet committed.
    back: u64,
    out: u64,
    hosts: BTreeSet<HostKey>,
}

/// Whether a row may become a page that counts.
fn counts(entry: &Entry) -> bool {
    !entry.again && !entry.expand && entry.role == Role::Page
}

impl Caps {
    /// Why a row is not to be asked for.
    pub(super) fn refuses(
        &self,
        jobs: &BTreeMap<JobId, Active>,
        entry: &Entry,
    ) -> Option<SkipReason> {
        let cap = jobs.get(&entry.job)?.job.limits.site_pages?;
        let site = self.sites.get(self.of.get(&entry.key.host)?)?;
        (counts(entry) && site.done >= cap).then_some(SkipReason::SitePages)
    }

    fn site(&mut self, host: HostKey) -> Option<(SiteKey, &mut Site)> {
        let key = *self.of.get(&host)?;
        Some((key, self.sites.get_mut(&key)?))
    }

    /// What was out will not come back.
    pub(super) fn nothing_is_out(&mut self) {
        self.sites.values_mut().for_each(|site| site.out = 0);
    }

    /// Hosts are given back. What is known of a site is dropped with its last host.
    pub(super) fn unload(&mut self, released: &[Release]) {
        for Release { host, .. } in released {
            let Some((key, site)) = self.site(*host) else { continue };
            site.hosts.remove(host);
            // What waits to be committed still needs its site.
            if site.hosts.is_empty() && site.back + site.out == 0 {
                self.sites.remove(&key);
                self.of.retain(|_, of| *of != key);
            }
        }
    }

    /// Sites that have reached the cap, as far as this run has noticed.
    pub(super) fn reached(&self) -> usize {
        self.reached.len()
    }
}

impl Director {
    fn has_caps(&self) -> bool {
        self.jobs.values().any(|a| a.job.limits.site_pages.is_some())
    }

    /// A host is loaded: how many pages of its site there are is looked up.
    pub(super) fn cap_host(&mut self, host: HostKey, url: &CanonicalUrl, now: Time) {
        if !self.has_caps() {
            return;
        }
        let key = self.shared.pinned.site_key(url.host());
        if !self.caps.sites.contains_key(&key) {
            let (store, pinned) = (&self.shared.store, &self.shared.pinned);
            match self.shared.blocking(|| pages_of_site(&**store, pinned, host.part, key)) {
                Ok(done) => drop(self.caps.sites.insert(key, Site { done, ..Site::default() })),
                Err(e) => self.cap_problem = Some(e),
            }
        }
        self.caps.of.insert(host, key);
        if let Some(site) = self.caps.sites.get_mut(&key) {
            site.hosts.insert(host);
        }
        self.recap(host, now);
    }

    /// A row is handed out.
    pub(super) fn cap_out(&mut self, entry: &Entry, now: Time) {
        if let Some((_, site)) = self.caps.site(entry.key.host).filter(|_| counts(entry)) {
            site.out += 1;
            self.recap(entry.key.host, now);
        }
    }

    /// A row is back, as a new page or not.
    pub(super) fn cap_back(&mut self, entry: &Entry, page: bool, now: Time) {
        if let Some((_, site)) = self.caps.site(entry.key.host).filter(|_| counts(entry)) {
            site.out = site.out.saturating_sub(1);
            site.back += u64::from(page);
            self.recap(entry.key.host, now);
        }
    }

    /// A row is refused.
    pub(super) fn cap_refused(&mut self, entry: &Entry, reason: SkipReason) {
        if reason == SkipReason::SitePages
            && let Some((key, _)) = self.caps.site(entry.key.host)
        {
            self.caps.reached.insert(key);
        }
    }

    /// A page is being committed.
    pub(super) fn cap_committing(&mut self, page: &PageDone) {
        if page.is_new_page() && self.caps.of.contains_key(&page.entry.key.host) {
            self.caps.committing.push(page.entry.key.host);
        }
    }

    /// What was being committed is.
    pub(super) fn cap_committed(&mut self, now: Time) {
        for host in std::mem::take(&mut self.caps.committing) {
            if let Some((_, site)) = self.caps.site(host) {
                site.back = site.back.saturating_sub(1);
                site.done += 1;
                self.recap(host, now);
            }
        }
    }

    /// Shuts the hosts of a host's site while what is out may fill the cap, and opens them otherwise.
    fn recap(&mut self, host: HostKey, now: Time) {
        let Some((_, site)) = self.caps.site(host) else { return };
        let (done, most) = (site.done, site.done + site.back + site.out);
        let hosts: Vec<HostKey> = site.hosts.iter().copied().collect();
        for (id, active) in &self.jobs {
            let Some(cap) = active.job.limits.site_pages else { continue };
            let shut = done < cap && most >= cap;
            for host in &hosts {
                self.frontier.shut(*host, *id, shut, now);
            }
        }
    }
}

/// Pages that a directory has of a site, whose hosts all lie in one partition.
fn pages_of_site(
    store: &dyn Store,
    pinned: &Suffixes,
    part: u16,
    site: SiteKey,
) -> Result<u64, StoreError> {
    let mut after = Some(HostKey { part, host: [0; 6] });
    let mut pages = 0;
    loop {
        let hosts = store.scan_hosts(after, PIECE)?;
        for (key, row) in &hosts {
            if key.part != part {
                return Ok(pages);
            }
            let url = CanonicalUrl::parse(&row.origin).ok();
            if url.is_some_and(|url| pinned.site_key(url.host()) == site) {
                pages += row.fetched;
            }
        }
        match hosts.last() {
            Some((last, _)) => after = Some(*last),
            None => return Ok(pages),
        }
    }
}

/// Whether a job with these limits may take what it was refused under the earlier ones.
pub(crate) fn is_raised(earlier: &Limits, now: &Limits) -> bool {
    let most = |limits: &Limits| limits.site_pages.unwrap_or(u64::MAX);
    most(now) > most(earlier)
}

/// What a job left alone because its site had reached the cap, to be asked for again, as if found on the
/// `page`-th page read.
pub(super) fn beyond_the_cap(
    store: &dyn Store,
    job: &Job,
    page: u64,
) -> Result<Vec<Discovery>, StoreError> {
    let mut out = Vec::new();
    let mut host_after = None;
    loop {
        let hosts = store.scan_hosts(host_after, PIECE)?;
        let Some((last, _)) = hosts.last() else { return Ok(out) };
        host_after = Some(*last);
        for (host, _) in hosts {
            let mut after = None;
            loop {
                let rows = store.host_urls(host, after, PIECE)?;
                let Some((last, _)) = rows.last() else { break };
                after = Some(last.url);
                for (key, row) in rows {
                    let left = row.state == UrlState::Skipped(SkipReason::SitePages);
                    if left && row.job() == job.id {
                        out.push(Discovery {
                            key,
                            job: job.id,
                            depth: row.depth,
                            place: place_of_link(job.order, row.depth, page, out.len()),
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
    }
}
