//! Budgets: how much of a crawl without borders each site may take before it sinks behind others.
//!
//! * What this is: the sites met so far as a tree. A site hangs below the site that first led to it, the
//!   sites of start URLs below the root; a site that links to many of another branch is hung there
//!   ([`join`]). What a branch may take of its parent's requests falls with the third power of the
//!   number of sites in it and grows with the links that lead into it from elsewhere, so whoever makes up a
//!   thousand sites that link to each other has made one small branch of them ([`judge`]).
//! * Its place: [`crate::Frontier`] owns one and asks it for the tier of each host; the engine tells it
//!   which sites a page links to, and keeps its bytes ([`Budgets::to_bytes`]).
//! * Invariants: nothing is forbidden here, only put behind; shares count only branches that have rows, so what is
//!   alone goes on at full speed. Every site's parent is another site, and following parents ends at the root.
//! * What is not here: hosts, rows, delays; a site's cap on pages.

mod bytes;
mod join;
mod judge;

pub use bytes::BadBudgets;

use argiope_model::{JobId, SiteKey, Time};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

type Steady = BuildHasherDefault<DefaultHasher>;

/// Above all sites.
pub(crate) const ROOT: u32 = 0;
/// Above the sites of which nobody remembers who led there.
const STRAYS: u32 = 1;
/// Memory of a site with its key, about.
const SITE_BYTES: usize = 160;
/// Links kept of one site to others.
const MAX_OUT: usize = 256;
/// One request of so many goes to what is held.
const PROBES: u64 = 128;
/// Tiers of hosts that are held begin here.
pub(crate) const HELD: u8 = 64;

/// The tree of sites, and how each of them stands.
#[derive(Debug)]
pub struct Budgets {
    sites: Vec<Site>,
    known: HashMap<SiteKey, u32, Steady>,
    /// Jobs that have budgets.
    jobs: BTreeSet<JobId>,
    edges: usize,
    max_sites: usize,
    max_edges: usize,
    /// Requests made of all sites.
    requests: u64,
    /// Those made of sites that were held.
    of_held: u64,
    /// What `requests` and the number of sites were when all were judged last.
    judged: (u64, usize),
    /// Sites whose links have changed since.
    linked: BTreeSet<u32>,
    changed: bool,
}

/// A site, or one of the two nodes above sites.
#[derive(Clone, Debug, Default, PartialEq)]
struct Site {
    key: Option<SiteKey>,
    parent: u32,
    /// Requests made of it.
    requests: u64,
    /// Distinct sites that link to it.
    linking: u32,
    /// Sites it links to, each once.
    out: Vec<u32>,
    /// Whether it has rows, as far as anybody knows.
    rows: bool,
    /// How many of its hosts are loaded.
    hosts: u32,
    standing: Standing,
}

/// How a site stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Standing {
    /// How often its branch's requests would have to be halved to be within budget.
    level: u8,
    /// More than 0: it gets nothing while others with less have rows, even if those have to wait.
    held: u8,
    /// Since when it is over its budget.
    since: Option<Time>,
    /// Its part of all requests.
    share: f32,
    /// Sites in its branch, itself included.
    branch: u32,
}

/// What a site may take, and has taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteBudget {
    /// Its part of all requests, while those that have rows now have some.
    pub share: f64,
    /// Requests made of it, for robots.txt too.
    pub requests: u64,
    /// Distinct sites that link to it, as far as they were read.
    pub linking: u32,
    /// Sites that are known only through it, itself included.
    pub branch: u32,
    /// Since when it is over its budget.
    pub over_since: Option<Time>,
    /// Whether it waits while others have rows, even where these wait for a delay.
    pub held: bool,
}

impl Budgets {
    /// No site yet; memory for so many bytes.
    pub fn with_bytes(bytes: usize) -> Self {
        let above = |parent| Site { parent, ..Site::default() };
        Budgets {
            sites: vec![above(ROOT), above(ROOT)],
            known: HashMap::default(),
            jobs: BTreeSet::new(),
            edges: 0,
            max_sites: (bytes / 2 / SITE_BYTES).max(64),
            max_edges: (bytes / 2 / size_of::<u32>()).max(256),
            requests: 0,
            of_held: 0,
            judged: (0, 0),
            linked: BTreeSet::new(),
            changed: false,
        }
    }

    /// A job has budgets from now on, and these are the sites of its start URLs.
    pub fn begin(&mut self, job: JobId, starts: impl IntoIterator<Item = SiteKey>) {
        self.jobs.insert(job);
        for start in starts {
            let site = self.find_or_add(start, ROOT);
            if self.sites[site as usize].parent == STRAYS {
                self.sites[site as usize].parent = ROOT;
            }
        }
    }

    /// Whether the rows of a job have budgets.
    pub fn cover(&self, job: JobId) -> bool {
        self.jobs.contains(&job)
    }

    /// A page of a site links to these others; with each, whether a row of it was found.
    pub fn link(&mut self, from: SiteKey, to: &[(SiteKey, bool)]) {
        if to.is_empty() {
            return;
        }
        let from = self.find_or_add(from, STRAYS);
        for (key, queued) in to {
            let site = self.find_or_add(*key, from);
            if site == from || site == STRAYS {
                continue;
            }
            self.sites[site as usize].rows |= *queued;
            let (edges, most) = (self.edges, self.max_edges);
            let out = &mut self.sites[from as usize].out;
            if from != STRAYS && out.len() < MAX_OUT && edges < most && !out.contains(&site) {
                out.push(site);
                self.edges += 1;
                self.sites[site as usize].linking += 1;
                self.linked.insert(from);
                self.changed = true;
            }
        }
    }

    /// The number of a site whose host is loaded: it has rows.
    pub(crate) fn loaded(&mut self, key: SiteKey) -> u32 {
        let site = self.find_or_add(key, STRAYS);
        let loaded = &mut self.sites[site as usize];
        (loaded.rows, loaded.hosts) = (true, loaded.hosts + 1);
        site
    }

    /// A host of a site is no longer loaded; `empty`: it has no rows.
    pub(crate) fn unloaded(&mut self, site: u32, empty: bool) {
        let site = &mut self.sites[site as usize];
        site.hosts = site.hosts.saturating_sub(1);
        site.rows &= !empty || site.hosts > 0;
    }

    /// A request is made of a site.
    pub(crate) fn asked(&mut self, site: u32) {
        let site = &mut self.sites[site as usize];
        site.requests += 1;
        self.of_held += u64::from(site.standing.held > 0);
        self.requests += 1;
        self.changed = true;
    }

    /// Whether so much has happened that all should be judged again.
    pub(crate) fn are_due(&self) -> bool {
        let (requests, sites) = self.judged;
        let made = self.requests - requests;
        made >= 8.max(sites as u64 / 64) || self.sites.len() - sites >= 8 + sites / 16
    }

    /// Where a site's hosts stand among those that are ready: 0 within budget, more the more it is over,
    /// most where it is held.
    pub(crate) fn tier(&self, site: u32) -> u8 {
        let Standing { level, held, .. } = self.sites[site as usize].standing;
        if held > 0 { HELD + held } else { level }
    }

    /// Whether what is held may be asked all the same: rarely, so that it can show what it is.
    pub(crate) fn may_probe(&self) -> bool {
        self.of_held * PROBES < self.requests
    }

    /// What is known of a site.
    pub fn of(&self, key: SiteKey) -> Option<SiteBudget> {
        let site = &self.sites[*self.known.get(&key)? as usize];
        Some(SiteBudget {
            share: f64::from(site.standing.share),
            requests: site.requests,
            linking: site.linking,
            branch: site.standing.branch.max(1),
            over_since: site.standing.since,
            held: site.standing.held > 0,
        })
    }

    /// How many sites with rows are over their budget.
    pub fn over(&self) -> usize {
        self.sites.iter().filter(|site| site.rows && site.standing.since.is_some()).count()
    }

    /// How many sites are known.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// Whether anything has changed since this was asked last.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn find_or_add(&mut self, key: SiteKey, parent: u32) -> u32 {
        if let Some(site) = self.known.get(&key) {
            return *site;
        }
        // What does not fit counts as one with everything else that does not.
        if self.sites.len() >= self.max_sites {
            return STRAYS;
        }
        let Ok(number) = u32::try_from(self.sites.len()) else { return STRAYS };
        // It stands as who led there, until all are judged again.
        let standing = self.sites[parent as usize].standing;
        let standing = Standing { share: 0.0, branch: 1, ..standing };
        self.sites.push(Site { key: Some(key), parent, standing, ..Site::default() });
        self.known.insert(key, number);
        self.changed = true;
        number
    }

    /// The sites above one, itself first, without the root.
    fn chain(&self, mut site: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || {
            let at = site;
            site = self.sites[at as usize].parent;
            (at != ROOT).then_some(at)
        })
    }
}

#[cfg(test)]
mod tests;
