//! What is known of a page before it is visited again, and what has become of it since.
//!
//! * Its place: a visit to a page that was visited before asks here for the conditions of its request
//!   and, once it has an answer, for the verdict.
//! * What is compared is the text against the last sight of the page itself: an error page, a request
//!   to log in and an answer that nothing has changed are none. What moves by itself on the page is
//!   known from its earlier versions and from other pages of its host ([`Sites`]).
//! * A server is asked without conditions now and then, lest it says for ever that nothing has changed;
//!   one that was found to say so wrongly is asked without conditions from then on.
//! * What is not here: when to visit (`frontier::revisit`), what is stored of it (`committer`).

use crate::gather::Kind;
use crate::settings::RevisitSettings;
use crate::versions::{Shelf, VersionError, Versions};
use crate::visit::{Shared, VisitError};
use argiope_archive::{Commons, Reason, Sight, TextBlob, Watcher, read_text};
use argiope_fetch::Conditions;
use argiope_frontier::Entry;
use argiope_frontier::revisit::{Children, PageState, PolicyName};
use argiope_model::{
    CanonicalUrl, Capture, ChangeReason, Directives, FetchOutcome, HostKey, Job, OutcomeKind, Time,
    UrlKey, Verdict,
};
use argiope_parse as parse;
use argiope_store::{Store, UrlState, decode_links};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// After so many answers that nothing has changed, and up to as many more, one visit is made without
/// conditions.
const BELIEVED: usize = 8;
/// Earlier versions from which it is learned what moves by itself.
const VERSIONS: usize = 8;
/// Pages of a host that are looked at for what they have in common.
const SAMPLE: usize = 160;
/// Hosts of which that is remembered.
const MOST_HOSTS: usize = 64;
/// Second looks at pages of a host before it is decided whether more are worth it.
const LOOKS: u32 = 5;
/// Children of a page that are looked at.
const MOST_CHILDREN: usize = 2_000;

/// What visits share to see what has changed.
pub(crate) struct Sites {
    pub warc: PathBuf,
    pub text: PathBuf,
    /// Whether requests are made under conditions at all.
    pub conditional: bool,
    /// Whether unchanged pages are judged by their children.
    pub selective: bool,
    /// Whether visits that found the same bytes are written to the archive.
    pub keep_unchanged: bool,
    commons: Mutex<HashMap<HostKey, Arc<Mutex<Commons>>>>,
    liars: Mutex<HashSet<HostKey>>,
    /// Second looks at pages of hosts, and how many of them found no change.
    looks: Mutex<HashMap<HostKey, (u32, u32)>>,
}

impl Sites {
    pub(crate) fn new(warc: PathBuf, text: PathBuf, settings: &RevisitSettings) -> Self {
        let selective = PolicyName::Selective;
        Sites {
            warc,
            text,
            conditional: settings.conditional,
            selective: settings.policy == selective
                || settings.rules.iter().any(|rule| rule.policy() == Some(selective)),
            keep_unchanged: settings.keep_unchanged,
            commons: Mutex::default(),
            liars: Mutex::default(),
            looks: Mutex::default(),
        }
    }

    /// Whether a small change of a page of this host is worth a second look: not where such looks have
    /// shown that what changes there is meant.
    pub(crate) fn is_worth_a_look(&self, host: HostKey) -> bool {
        let (looks, vain) = lock(&self.looks).get(&host).copied().unwrap_or_default();
        looks < LOOKS || vain * 20 >= looks
    }

    /// Whether most of what looked like changes on this host turned out to be none.
    pub(crate) fn is_restless(&self, host: HostKey) -> bool {
        let (looks, vain) = lock(&self.looks).get(&host).copied().unwrap_or_default();
        looks >= 2 && vain * 2 >= looks
    }

    /// What the pages of a host have in common, looked up on a part of them.
    fn commons(&self, store: &dyn Store, host: HostKey) -> Result<Arc<Mutex<Commons>>, VisitError> {
        let known = |all: &HashMap<HostKey, Arc<Mutex<Commons>>>| all.get(&host).cloned();
        if let Some(found) = known(&lock(&self.commons)) {
            return Ok(found);
        }
        let mut commons = Commons::default();
        let rows = store.host_urls(host, None, SAMPLE)?;
        let fetched: Vec<UrlKey> = rows
            .iter()
            .filter(|(_, row)| row.state == UrlState::Fetched)
            .map(|(key, _)| *key)
            .collect();
        for (key, captures) in fetched.iter().zip(store.captures_many(&fetched)?) {
            let last = captures.iter().rev().find(|c| is_sight(c)).and_then(|c| c.text);
            // What cannot be read is told by `verify`.
            if let Some(text) = last.and_then(|at| read_text(&self.text, at).ok()) {
                commons.see(key.url, &text.text);
            }
        }
        let mut all = lock(&self.commons);
        if all.len() >= MOST_HOSTS {
            all.clear();
        }
        Ok(all.entry(host).or_insert_with(|| Arc::new(Mutex::new(commons))).clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a capture is a sight of the page itself, with bytes of its own.
pub(crate) fn is_sight(capture: &Capture) -> bool {
    let error = |v: &Verdict| v.reason == ChangeReason::ErrorPage;
    capture.outcome.kind == OutcomeKind::Fetched && !capture.verdict.as_ref().is_some_and(error)
}

/// A text as it is compared.
#[derive(Debug)]
pub(crate) struct Compared {
    pub text: TextBlob,
    /// Advertisements are left out of it.
    pub bare: bool,
}

/// What a visit says of a page.
pub(crate) struct Judged {
    pub verdict: Verdict,
    /// What changed may be a box that turns: a second look would tell.
    pub unsure: bool,
}

/// A page as it is known.
pub(crate) struct Before {
    page: Versions,
    /// The last sight of the page itself.
    last: Option<usize>,
    pub plan: PageState,
    /// When it was found.
    pub first_seen: Option<Time>,
    /// It could not be had at the last visit.
    away: bool,
    /// Asked under these conditions.
    pub conditions: Conditions,
}

impl Before {
    /// Looks a page up.
    pub(crate) fn load(shared: &Shared, job: &Job, entry: &Entry) -> Result<Self, VisitError> {
        let row = shared.store.urls(&[entry.key])?.pop().flatten();
        let captures = shared.store.captures(entry.key)?;
        let last = captures.iter().rposition(is_sight);
        let plan = row.as_ref().and_then(|row| row.plan).unwrap_or_default();
        let away = row.as_ref().is_some_and(|row| row.state != UrlState::Fetched);
        let first_seen = row.as_ref().map(|row| row.first_seen);
        // Who answered that nothing has changed, or not at all, was not read.
        let same = |c: &Capture| c.outcome.kind == OutcomeKind::NotModified;
        let read = |c: &&Capture| (is_sight(c) || same(c)) && c.outcome.status != 304;
        let read = captures.iter().rfind(read).map(|c| c.time);
        let page = Versions { url: entry.url.clone(), captures };
        let conditions = Conditions::default();
        let mut before = Before { page, last, plan, first_seen, away, conditions };
        let leads_on = job.news && Kind::of(entry.role, entry.depth) != Kind::Article;
        let anew = leads_on && shared.gather.is_wanted_anew(&entry.url, read);
        let conditional = shared.sites.conditional && !anew;
        if conditional && before.is_believed(shared, entry.key.host) {
            let said_so = |c: &&Capture| c.outcome.status == 304;
            let said = before.page.captures.iter().rev().take_while(said_so).count();
            // Not all pages of a site at the same visit.
            let check = said >= BELIEVED + entry.key.url as usize % BELIEVED;
            if let Some(last) = before.last().filter(|_| !check) {
                before.conditions =
                    Conditions { etag: last.etag.clone(), modified: last.last_modified };
            }
        }
        Ok(before)
    }

    pub(crate) fn last(&self) -> Option<&Capture> {
        self.last.map(|n| &self.page.captures[n])
    }

    /// Whether what the server says of the page's age may be believed.
    fn is_believed(&self, shared: &Shared, host: HostKey) -> bool {
        let lied = self.page.captures.iter().any(|c| c.verdict.is_some_and(|v| v.lied));
        !lied && !lock(&shared.sites.liars).contains(&host)
    }

    /// An answer that nothing has changed: the capture that says so. `None` where that was not asked.
    pub(crate) fn not_modified(&self, capture: &Capture) -> Option<Capture> {
        self.last().filter(|_| !self.conditions.is_empty())?;
        let verdict = Some(Verdict::of(self.as_it_was()));
        Some(Capture { verdict, ..same(capture) })
    }

    fn as_it_was(&self) -> ChangeReason {
        if self.away { ChangeReason::Back } else { ChangeReason::Identical }
    }

    /// The last sight, where an answer has the same bytes.
    pub(crate) fn identical(&self, capture: &Capture) -> Option<&Capture> {
        let known = |c: &&Capture| c.body_digest != [0; 32] && c.body_digest == capture.body_digest;
        self.last().filter(known)
    }

    /// What has become of the page. The text is that of the new answer.
    pub(crate) fn judge(
        &self,
        shared: &Shared,
        entry: &Entry,
        capture: &Capture,
        text: Option<&Compared>,
    ) -> Result<Judged, VisitError> {
        let sure = |reason| Ok(Judged { verdict: Verdict::of(reason), unsure: false });
        if self.identical(capture).is_some() {
            return sure(self.as_it_was());
        }
        let Some(last) = self.last() else { return sure(ChangeReason::New) };
        let mut judged = match text {
            _ if parse::type_group(&capture.mime) != parse::type_group(&last.mime) => {
                return sure(ChangeReason::Type);
            }
            None => return sure(ChangeReason::Bytes),
            Some(text) => self.compare(shared, entry, capture.time, text, &[])?,
        };
        judged.unsure &= shared.sites.is_worth_a_look(entry.key.host);
        if !judged.unsure {
            self.notice_lies(shared, entry, capture, &mut judged.verdict);
        }
        Ok(judged)
    }

    /// What has become of the page, now that it was looked at more than once; `last` says that it will
    /// not be looked at again.
    pub(crate) fn judge_again(
        &self,
        shared: &Shared,
        entry: &Entry,
        capture: &Capture,
        (first, others): (&Compared, &[Compared]),
        last: bool,
    ) -> Result<Verdict, VisitError> {
        let judged = self.compare(shared, entry, capture.time, first, others)?;
        let mut verdict = judged.verdict;
        if last || !verdict.reason.counts() {
            let mut looks = lock(&shared.sites.looks);
            let (all, vain) = looks.entry(entry.key.host).or_default();
            (*all, *vain) = (*all + 1, *vain + u32::from(!verdict.reason.counts()));
        }
        self.notice_lies(shared, entry, capture, &mut verdict);
        Ok(verdict)
    }

    fn notice_lies(
        &self,
        shared: &Shared,
        entry: &Entry,
        capture: &Capture,
        verdict: &mut Verdict,
    ) {
        verdict.lied = verdict.reason.counts() && self.was_untrue(capture);
        if verdict.lied {
            lock(&shared.sites.liars).insert(entry.key.host);
        }
    }

    /// Whether the server gives another page for the same version, or said that nothing had changed
    /// when it had.
    fn was_untrue(&self, capture: &Capture) -> bool {
        let Some(last) = self.last() else { return false };
        if let (Some(old), Some(new)) = (&last.etag, &capture.etag) {
            // A weak one promises no more than that it means about the same.
            if old == new && !old.starts_with("W/") {
                return true;
            }
        }
        let said_so = |c: &&Capture| c.outcome.status == 304;
        let said = self.page.captures.iter().rev().take_while(said_so).next().map(|c| c.time);
        match (last.last_modified, capture.last_modified, said) {
            // It was there already when the server said that nothing had changed.
            (_, Some(new), Some(said)) if capture.etag.is_none() || last.etag.is_none() => {
                Time(new.0 + 1000) < said
            }
            (Some(old), Some(new), None) => {
                // Two changes in a second are no lie.
                old == new && Time(old.0 + 2000) < last.time && last.etag.is_none()
            }
            _ => false,
        }
    }

    fn compare(
        &self,
        shared: &Shared,
        entry: &Entry,
        time: Time,
        new: &Compared,
        others: &[Compared],
    ) -> Result<Judged, VisitError> {
        let sure = |reason| Ok(Judged { verdict: Verdict::of(reason), unsure: false });
        let text = &new.text;
        let store = &*shared.store;
        let captures_of = |url: &str| {
            let url = CanonicalUrl::parse(url)?;
            Ok(store.captures(url.key(&shared.pinned))?)
        };
        let shelf = Shelf {
            warc: shared.sites.warc.clone(),
            text: shared.sites.text.clone(),
            captures_of: &captures_of,
        };
        let differs = |c: &Capture| {
            let same = |v: &Verdict| {
                matches!(
                    v.reason,
                    ChangeReason::Identical | ChangeReason::Back | ChangeReason::Same
                )
            };
            is_sight(c) && !c.verdict.as_ref().is_some_and(same)
        };
        let last = self.last.unwrap_or(0);
        let captures = self.page.captures.iter().enumerate();
        let seen = captures.filter(|(n, c)| *n == last || differs(c)).map(|(n, _)| n);
        let seen: Vec<usize> = seen.collect();
        let seen = &seen[seen.len().saturating_sub(VERSIONS)..];
        let mut watcher = Watcher::default();
        let mut readable = false;
        for n in seen {
            let old = match shelf.text(&self.page, *n) {
                Ok(Some(old)) => old,
                Ok(None) => continue,
                // What was removed, or is damaged, cannot be compared.
                Err(VersionError::NotKept(_) | VersionError::NoOriginal(_)) => continue,
                Err(e) => {
                    tracing::debug!(url = entry.url.as_str(), "an earlier text: {e}");
                    continue;
                }
            };
            if old.parser_version != text.parser_version {
                continue;
            }
            // Advertisements are left out of both, or of none.
            let bare = new.bare.then(|| shelf.bare_text(&self.page, *n)).flatten();
            let old = bare.unwrap_or(old);
            let Capture { time, verdict, .. } = &self.page.captures[*n];
            let sight = Sight { title: &old.title, text: &old.text, time: Some(*time) };
            match verdict.map(|verdict| verdict.reason) {
                Some(ChangeReason::Noise) => watcher.see_noise(&sight),
                _ => {
                    watcher.see(&sight);
                }
            }
            readable |= *n == last;
        }
        if !readable {
            let known = self.last().is_some_and(|last| last.text.is_some());
            return sure(if known { ChangeReason::Parser } else { ChangeReason::Text });
        }
        let commons = shared.sites.commons(store, entry.key.host)?;
        let new = Sight { title: &text.title, text: &text.text, time: Some(time) };
        for Compared { text: TextBlob { title, text, .. }, .. } in others {
            watcher.see_twice(&new, &Sight { title, text, time: Some(time) });
        }
        let change = {
            let mut commons = lock(&commons);
            let change = watcher.see_on_site(&new, &|line| commons.has(line));
            commons.see(entry.key.url, &text.text);
            change
        };
        let Some(change) = change else { return sure(ChangeReason::Text) };
        let reason = match change.reason {
            Reason::Same => ChangeReason::Same,
            Reason::Text => ChangeReason::Text,
            Reason::Title => ChangeReason::Title,
            Reason::Noise => ChangeReason::Noise,
            Reason::Order => ChangeReason::Order,
            Reason::ErrorPage => ChangeReason::ErrorPage,
        };
        let share = (change.share * 10_000.0).round().clamp(0.0, 10_000.0) as u16;
        let share = if change.counts { share.max(1) } else { 0 };
        let unsure = change.counts && change.small && others.is_empty();
        Ok(Judged { verdict: Verdict { reason, share, lied: false }, unsure })
    }

    /// The direct children of an unchanged page on its site: their keys, and what they did since its
    /// last turn.
    pub(crate) fn children(
        &self,
        shared: &Shared,
        entry: &Entry,
    ) -> Result<(Vec<UrlKey>, Children), VisitError> {
        let keys = children_of(shared, entry)?;
        let mut seen = Children::default();
        for row in shared.store.urls(&keys)?.into_iter().flatten() {
            if let Some(plan) = &row.plan {
                seen.count(plan, self.plan.last);
            }
        }
        Ok((keys, seen))
    }
}

/// A capture that found the bytes of the last sight: what these are is said there, and not again.
pub(crate) fn same(capture: &Capture) -> Capture {
    Capture {
        revisit: true,
        record: None,
        text: None,
        outcome: FetchOutcome::new(OutcomeKind::NotModified, capture.outcome.status),
        mime: "".into(),
        payload_digest: [0; 20],
        body_digest: [0; 32],
        last_modified: None,
        etag: None,
        directives: Directives::default(),
        ..capture.clone()
    }
}

/// The pages of its own site that a page links to.
pub(crate) fn children_of(shared: &Shared, entry: &Entry) -> Result<Vec<UrlKey>, VisitError> {
    let blob = shared.store.links(&[entry.key])?.pop().flatten();
    let links = blob.map(|b| decode_links(&b)).transpose()?.unwrap_or_default();
    let site = shared.pinned.site_key(entry.url.host());
    let inside = links.iter().filter(|link| shared.pinned.site_key(link.url.host()) == site);
    let keys: Vec<UrlKey> = inside.map(|link| link.url.key(&shared.pinned)).collect();
    let mut met = HashSet::new();
    let fresh = |key: &UrlKey| *key != entry.key && met.insert(*key);
    Ok(keys.into_iter().filter(fresh).take(MOST_CHILDREN).collect())
}
