//! Budgets of sites: which jobs have them, what pages say of other sites, and the file they are kept in.
//!
//! * Its place: [`argiope_frontier::Budgets`] decides, the frontier obeys; here it is told what it needs to
//!   know. Jobs whose scope is `any` have budgets: with any other the user has named the sites.
//! * The file is a cache. Whoever cannot read it begins anew: sites known so far then count as strays until
//!   pages that link to them are read. Nothing is lost but order.
//! * On a fleet each worker counts what it reads itself.

use super::Director;
use crate::group::PageDone;
use argiope_frontier::{Budgets, SiteBudget};
use argiope_model::{HostKey, Job, ScopeRule, SiteKey, Time};
use serde_json::{Value, json};
use std::path::Path;
use std::{fs, io};

/// The file in the data directory.
const FILE: &str = "budgets.bin";
/// Memory of whoever only looks; what is kept is read whatever its size.
const READ_MEMORY: usize = 1 << 20;
/// It is written this often, where something has changed; less often where it is large.
const KEEP_MS: i64 = 1_000;
/// No more is written in a millisecond, on the whole. Not by how long writing took: on a busy machine it would be
/// put off until a crawl that is killed has forgotten the farm.
const KEEP_BYTES_PER_MS: usize = 2_048;

/// Whether a job's sites have budgets. One that is about something goes by that.
pub(crate) fn has_budgets(job: &Job) -> bool {
    job.scope.rule == ScopeRule::Any && job.aim.is_none()
}

/// What is kept of the budgets of a data directory.
pub(crate) fn kept_budgets(data: &Path, memory: usize) -> Option<Budgets> {
    let path = data.join(FILE);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
        Err(e) => {
            tracing::warn!("cannot read {}, budgets begin anew: {e}", path.display());
            return None;
        }
    };
    Budgets::from_bytes(&bytes, memory)
        .map_err(|e| tracing::warn!("cannot use {}, budgets begin anew: {e}", path.display()))
        .ok()
}

/// The same, for whoever wants to know how sites stand.
pub(crate) fn judged_budgets(data: &Path, now: Time) -> Option<Budgets> {
    let mut budgets = kept_budgets(data, READ_MEMORY)?;
    budgets.judge(now);
    Some(budgets)
}

/// What a site may take, as `sites` and `explain` tell it.
pub(crate) fn budget_row(budget: &SiteBudget) -> Value {
    json!({
        "share": budget.share,
        "requests": budget.requests,
        "linking_sites": budget.linking,
        "sites_behind": budget.branch - 1,
        "over_since": budget.over_since.map(|t| t.to_string()),
        "held": budget.held,
    })
}

impl Director {
    fn budget_memory(&self) -> usize {
        (self.settings.memory / 32) as usize
    }

    /// Gives budgets to the jobs that have them and were not known before.
    pub(super) fn cover_jobs(&mut self) {
        let choosy = self.jobs.values().filter(|active| active.job.aim.is_some());
        choosy.for_each(|active| self.frontier.choose(active.job.id));
        if !self.settings.budgets {
            return;
        }
        let new = |job: &Job| {
            has_budgets(job) && !self.frontier.budgets().is_some_and(|all| all.cover(job.id))
        };
        let new: Vec<_> =
            self.jobs.values().filter(|a| new(&a.job)).map(|a| a.job.clone()).collect();
        for job in new {
            if self.frontier.budgets().is_none() {
                let (data, memory) = (self.dir.path(), self.budget_memory());
                let kept = self.shared.blocking(|| kept_budgets(data, memory));
                self.frontier.set_budgets(kept.unwrap_or_else(|| Budgets::with_bytes(memory)));
            }
            let pinned = self.shared.pinned.clone();
            let starts = job.seeds.iter().map(|seed| pinned.site_key(seed.host()));
            if let Some(budgets) = self.frontier.budgets_mut() {
                budgets.begin(job.id, starts);
            }
        }
    }

    /// A host of a site is loaded.
    pub(super) fn budget_host(&mut self, host: HostKey, site: SiteKey, now: Time) {
        self.frontier.belongs(host, site, now);
    }

    /// A page is back: the sites it links to are told.
    pub(super) fn tell_links(&mut self, page: &mut PageDone) {
        let sites = std::mem::take(&mut page.sites);
        if let Some(budgets) = self.frontier.budgets_mut().filter(|_| !sites.is_empty()) {
            budgets.link(self.shared.pinned.site_key(page.entry.url.host()), &sites);
        }
    }

    /// Writes down what is known, now and then; `last`: whenever anything has changed.
    pub(super) fn keep_budgets(&mut self, now: Time, last: bool) {
        let Some(budgets) = self.frontier.budgets_mut() else { return };
        // New sites are written down with the rows that were found of them, or soon after.
        let least = if budgets.known() == self.budgets_known { KEEP_MS } else { 0 };
        if now.0 - self.budgets_kept.0 < least.max(self.budgets_pause) && !last {
            return;
        }
        self.budgets_known = budgets.known();
        if !budgets.take_changed() {
            self.budgets_kept = now;
            return;
        }
        let bytes = budgets.to_bytes();
        self.budgets_pause = (bytes.len() / KEEP_BYTES_PER_MS) as i64;
        let (path, new) = (self.dir.path().join(FILE), self.dir.path().join("budgets.new"));
        let written =
            self.shared.blocking(|| fs::write(&new, bytes).and_then(|()| fs::rename(&new, &path)));
        if let Err(e) = written {
            tracing::warn!("cannot write {}: {e}", path.display());
        }
        self.budgets_kept = now;
    }

    /// Why hosts that could be asked are not, where that is because of their budgets.
    pub(super) fn held_words(&self) -> Option<String> {
        let held = self.frontier.held_back();
        let idle = self.frontier.out() * 2 < self.settings.connections;
        let hosts = match held {
            1 => "1 host is".to_owned(),
            n => format!("{n} hosts are"),
        };
        (held > 0 && idle && !self.stopping)
            .then(|| format!("{hosts} over their budget and wait behind others"))
    }
}
