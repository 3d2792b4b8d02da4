//! Hosts that a round for news leaves to the next one.
//!
//! * What this is: a host that does not answer, or asks to be left alone, must not keep a round alive. While
//!   others have work it is tried as ever; then the round waits for it a little, and ends.
//! * What it was promised is kept: rows stay queued, and the store knows before when the host is not asked. A
//!   round that begins earlier leaves it at once.
//! * Only hosts that have news are looked at: those of rows that the round has read or queued.
//! * What is not here: a watch and a crawl, which wait.

use super::{Director, Return};
use crate::gather::Kind;
use crate::run::EngineError;
use argiope_model::{CanonicalUrl, FetchOutcome, HostKey, Time, UrlKey};
use argiope_store::{StoreError, UrlRow};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a round waits, after the last work there was, for hosts that are not well.
const PATIENCE: Duration = Duration::from_secs(30);
/// A host of which nothing bad is known is waited for so long, though it is not loaded.
const ORDINARY: Duration = Duration::from_secs(60);
/// So long what was found out of those that are not loaded holds.
const LOOKED_MS: i64 = 5_000;
/// Rows looked at in one step.
const ROWS: usize = 1_024;

/// A site of which something is left to the next round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOff {
    /// The pages that were to be asked for.
    pub pages: u64,
    /// Nothing is asked of it before.
    pub until: Time,
    /// How the last request there ended.
    pub outcome: Option<FetchOutcome>,
}

/// What waits, by site: how many fronts and feeds, how many articles.
#[derive(Default)]
struct Left {
    fronts: u64,
    articles: u64,
    until: Time,
    outcome: Option<FetchOutcome>,
}

fn failed(e: StoreError) -> EngineError {
    EngineError::Failed(Arc::new(e))
}

impl Director {
    /// Whether a round for news has nothing left but hosts that are not well, and has waited enough for them;
    /// called when nothing is under way.
    pub(super) fn puts_off_rest(&mut self, now: Time) -> Result<bool, EngineError> {
        let round = self.settings.news.only && self.again.keep == Return::Due;
        let waits_for_us = self.no_room.is_some() || self.settings.hold.is_on();
        if !round || waits_for_us || !self.again.is_read() || self.frontier.awaits_hosts() {
            return Ok(false);
        }
        let next = self.frontier.next_wake().into_iter().chain(self.next_due).min();
        let soon = |next: Time| next <= self.news.worked.plus(PATIENCE);
        if self.frontier.has_ready(now) || next.is_none_or(soon) {
            return Ok(false);
        }
        let looked = now.0 - self.news.put_off_looked.0 < LOOKED_MS;
        if self.frontier.has_well(now) || looked {
            return Ok(false);
        }
        self.news.put_off_looked = now;
        let Some(left) = self.what_is_left(now)? else { return Ok(false) };
        for (site, left) in left {
            let tally = self.news.tally.entry(site.clone()).or_default();
            tally.unread += left.fronts;
            tally.failed += left.articles;
            let pages = left.fronts + left.articles;
            let put_off = PutOff { pages, until: left.until, outcome: left.outcome };
            self.news.put_off.insert(site, put_off);
        }
        Ok(true)
    }

    /// What is queued of the news, by site; `None` where a host has some that only waits for its ordinary pause.
    fn what_is_left(&self, now: Time) -> Result<Option<BTreeMap<String, Left>>, EngineError> {
        let store = &self.shared.store;
        let hosts: Vec<HostKey> = self.news.hosts.iter().copied().collect();
        let known = self.shared.blocking(|| store.hosts(&hosts)).map_err(failed)?;
        let pause = self.settings.delay.saturating_mul(2).max(ORDINARY);
        let mut left: BTreeMap<String, Left> = BTreeMap::new();
        for (host, known) in hosts.into_iter().zip(known) {
            let until = known.as_ref().map_or(Time(0), |host| host.not_before);
            let well = known.is_some_and(|host| host.temper.failures == 0);
            let soon = well && until <= now.plus(pause);
            let mut after = None;
            loop {
                let rows = self.shared.blocking(|| store.host_urls(host, after, ROWS));
                let rows = rows.map_err(failed)?;
                let Some((last, _)) = rows.last() else { break };
                after = Some(last.url);
                for (key, row) in rows.iter().filter(|(_, row)| row.in_queue()) {
                    if !self.jobs.get(&row.job()).is_some_and(|active| active.job.news) {
                        continue;
                    }
                    if soon && row.due.is_none() {
                        return Ok(None);
                    }
                    self.count_left(&mut left, *key, row, until)?;
                }
            }
        }
        Ok(Some(left))
    }

    fn count_left(
        &self,
        left: &mut BTreeMap<String, Left>,
        key: UrlKey,
        row: &UrlRow,
        until: Time,
    ) -> Result<(), EngineError> {
        let Some(site) = self.meant_site(&row.url) else { return Ok(()) };
        let left = left.entry(site).or_default();
        match Kind::of(row.role, row.depth) {
            Kind::Article => left.articles += 1,
            Kind::Front | Kind::Feed => left.fronts += 1,
        }
        left.until = left.until.max(until).max(row.due.unwrap_or_default());
        if left.outcome.is_none() {
            let last = self.shared.store.captures(key).map_err(failed)?.pop();
            let bad = |outcome: &FetchOutcome| !outcome.is_success();
            left.outcome = last.map(|capture| capture.outcome).filter(bad);
        }
        Ok(())
    }

    /// The site that a URL is read for, where it is meant in this run.
    fn meant_site(&self, url: &CanonicalUrl) -> Option<String> {
        let (gather, site) = (&self.shared.gather, self.shared.gather.site_of(url)?);
        let sites = gather.sites();
        let recipe = sites.recipes().iter().find(|recipe| recipe.site == site)?;
        gather.means(recipe).then_some(site)
    }
}
