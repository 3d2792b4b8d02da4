//! The store of a simulated crawl: the embedded one, watched, and forgetful where it is told to.
//!
//! A crash may come right before a batch is applied, when the archive already holds its pages,
//! or right after, when nobody has heard of it yet.

use crate::pages::{Target, host_of, target_of};
use crate::scenario::Broken;
use crate::watch::Watch;
use argiope_frontier::{Place, Release, RobotsFile};
use argiope_model::{Capture, DocId, HostKey, PayloadDigest, Role, SiteKey, Time, UrlKey};
use argiope_store::{
    Batch, Change, Committed, EmbeddedStore, HostRow, JobRow, Next, PayloadRow, SegmentKind, Store,
    StoreError, UrlRow, UrlState,
};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A commit at which a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrashAt {
    /// Never.
    None,
    /// Before this commit is applied.
    Before(u64),
    /// When it is durable, and not yet told.
    After(u64),
}

/// A store that is watched.
pub(crate) struct WatchedStore {
    pub(crate) inner: EmbeddedStore,
    pub(crate) watch: Arc<Watch>,
    pub(crate) hosts: Arc<HashMap<HostKey, usize>>,
    pub(crate) crash_at: CrashAt,
    pub(crate) broken: Broken,
    pub(crate) commits: AtomicU64,
}

type Answer<T> = Result<T, StoreError>;

/// The page that a result is of, where it was fetched.
pub(crate) fn page_of(url: &argiope_model::CanonicalUrl) -> Option<(usize, u32)> {
    match (host_of(url.host())?, target_of(url.path_and_query())?) {
        (host, Target::Page(n)) => Some((host, n)),
        _ => None,
    }
}

impl WatchedStore {
    fn numbers(&self, keys: impl Iterator<Item = HostKey>) -> Vec<usize> {
        keys.filter_map(|key| self.hosts.get(&key).copied()).collect()
    }

    /// Gives back the hosts that were being asked when the last run ended, as if nothing were.
    pub(crate) fn forget_claims(&self, now: Time) -> Answer<()> {
        let release =
            |host| Release { host, not_before: Time(0), temper: Default::default(), asleep: false };
        let releases = self.inner.claims()?.into_iter().map(release).collect();
        self.inner.commit(Batch { now, releases, ..Batch::default() })?;
        Ok(())
    }

    /// Forgets what it was told to forget.
    fn forget(&self, batch: &mut Batch) {
        match self.broken {
            Broken::ForgottenNotes => {
                batch.notes.clear();
                for release in &mut batch.releases {
                    (release.not_before, release.temper) = (Time(0), Default::default());
                }
            }
            Broken::ForgottenPages if self.commits.load(Relaxed).is_multiple_of(5) => {
                batch.pages.clear();
            }
            _ => {}
        }
    }
}

impl Store for WatchedStore {
    fn commit(&self, mut batch: Batch) -> Answer<Committed> {
        let number = self.commits.fetch_add(1, Relaxed) + 1;
        if let CrashAt::Before(at) = self.crash_at
            && number >= at
        {
            self.watch.crash();
            return Err(StoreError::Damaged { what: "a run", why: "it crashed".to_owned() });
        }
        let fetched = batch.pages.iter().filter(|page| {
            page.next == Next::Done(UrlState::Fetched) && page.entry.role == Role::Page
        });
        let kept: Vec<_> = fetched.filter_map(|page| page_of(&page.entry.url)).collect();
        let released = self.numbers(batch.releases.iter().map(|release| release.host));
        let named = batch.claims.named.len();
        self.forget(&mut batch);
        let mut committed = self.inner.commit(batch)?;
        // In an order that repeats itself.
        committed.claimed.sort_by_key(|window| window.host);
        let claimed = self.numbers(committed.claimed.iter().map(|window| window.host));
        self.watch.committed(&kept, &released, &claimed, named);
        if let CrashAt::After(at) = self.crash_at
            && number >= at
        {
            self.watch.crash();
        }
        Ok(committed)
    }

    fn exclusions(&self) -> Answer<Vec<(Box<str>, Time)>> {
        self.inner.exclusions()
    }

    fn delays(&self) -> Result<Vec<(Box<str>, u64)>, StoreError> {
        self.inner.delays()
    }

    fn traps(&self) -> Result<Vec<(Box<str>, argiope_frontier::Trap)>, StoreError> {
        self.inner.traps()
    }

    fn claims(&self) -> Answer<Vec<HostKey>> {
        self.inner.claims()
    }

    fn urls(&self, keys: &[UrlKey]) -> Answer<Vec<Option<UrlRow>>> {
        self.inner.urls(keys)
    }

    fn scan_urls(&self, after: Option<UrlKey>, limit: usize) -> Answer<Vec<(UrlKey, UrlRow)>> {
        self.inner.scan_urls(after, limit)
    }

    fn docs(&self, docs: &[DocId]) -> Answer<Vec<Option<UrlKey>>> {
        self.inner.docs(docs)
    }

    fn captures(&self, key: UrlKey) -> Answer<Vec<Capture>> {
        self.inner.captures(key)
    }

    fn links(&self, keys: &[UrlKey]) -> Answer<Vec<Option<Vec<u8>>>> {
        self.inner.links(keys)
    }

    fn payloads(&self, keys: &[(SiteKey, PayloadDigest)]) -> Answer<Vec<Option<PayloadRow>>> {
        self.inner.payloads(keys)
    }

    fn hosts(&self, keys: &[HostKey]) -> Answer<Vec<Option<HostRow>>> {
        self.inner.hosts(keys)
    }

    fn scan_hosts(&self, after: Option<HostKey>, limit: usize) -> Answer<Vec<(HostKey, HostRow)>> {
        self.inner.scan_hosts(after, limit)
    }

    fn ready_before(&self, host: HostKey, place: Place, limit: usize) -> Answer<usize> {
        self.inner.ready_before(host, place, limit)
    }

    fn host_urls(
        &self,
        host: HostKey,
        after: Option<u64>,
        limit: usize,
    ) -> Answer<Vec<(UrlKey, UrlRow)>> {
        self.inner.host_urls(host, after, limit)
    }

    fn robots(&self, keys: &[HostKey]) -> Answer<Vec<Option<RobotsFile>>> {
        self.inner.robots(keys)
    }

    fn jobs(&self) -> Answer<Vec<JobRow>> {
        self.inner.jobs()
    }

    fn segments(&self, kind: SegmentKind) -> Answer<Vec<(u32, u64)>> {
        self.inner.segments(kind)
    }

    fn log_heads(&self) -> Answer<Vec<(u16, u64)>> {
        self.inner.log_heads()
    }

    fn changes(&self, part: u16, after: u64, limit: usize) -> Answer<Vec<Change>> {
        self.inner.changes(part, after, limit)
    }

    fn next_page(&self) -> Answer<u64> {
        self.inner.next_page()
    }
}
