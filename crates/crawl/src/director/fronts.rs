//! Which front pages are asked of a site that is followed by its name alone.
//!
//! * As browsers do it: with TLS first, `www.` and the bare name; without it where nobody answers there. What has answered
//!   is what later runs ask: a site that has no TLS is not asked for it in each round, one that has is never asked without.
//! * A front that was guessed and at which nobody has ever answered is not tried again within a round.
//! * Its place: `news` asks as a run begins, every page that comes back is told here.

use super::Director;
use crate::fronts::{Guessed, fronts, guessed};
use crate::gather::FRONT;
use crate::group::PageDone;
use argiope_frontier::{Manner, place_of_seed};
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind, Role};
use argiope_news::Recipe;
use argiope_store::{Next, UrlState};

impl Director {
    /// The front pages that a run asks of a site.
    pub(super) fn choose_fronts(&self, recipe: &Recipe) -> Vec<CanonicalUrl> {
        let Some(guessed) = guessed(recipe) else { return fronts(recipe) };
        let has_answered = |url: &&CanonicalUrl| {
            matches!(self.state_of(url), Some(UrlState::Fetched | UrlState::Redirected))
        };
        let mut plain: Vec<CanonicalUrl> = Vec::new();
        if !guessed.https.iter().any(|url| has_answered(&url)) {
            plain.extend(guessed.plain.iter().filter(has_answered).cloned());
        }
        if !plain.iter().any(|url| self.shows_itself(url, &guessed)) {
            plain.clear();
        }
        self.shared.gather.ask_plainly(&recipe.site, plain.clone());
        if plain.is_empty() { guessed.https } else { plain }
    }

    fn state_of(&self, url: &CanonicalUrl) -> Option<UrlState> {
        let key = url.key(&self.shared.pinned);
        let rows = self.shared.blocking(|| self.shared.store.urls(&[key])).ok()?;
        rows.into_iter().flatten().next().map(|row| row.state)
    }

    fn outcomes(&self, url: &CanonicalUrl) -> Vec<FetchOutcome> {
        let key = url.key(&self.shared.pinned);
        let captures = self.shared.blocking(|| self.shared.store.captures(key));
        captures.unwrap_or_default().into_iter().map(|capture| capture.outcome).collect()
    }

    /// Whether a page is there, and does not only lead to one of the others.
    fn shows_itself(&self, url: &CanonicalUrl, guessed: &Guessed) -> bool {
        if self.state_of(url) == Some(UrlState::Fetched) {
            return true;
        }
        let last = self.outcomes(url).pop().and_then(|outcome| outcome.detail);
        let to = last.and_then(|to| CanonicalUrl::parse(&to).ok());
        to.is_some_and(|to| !guessed.https.contains(&to) && !guessed.plain.contains(&to))
    }

    /// A page has come back: where it is a front that was guessed and nobody was there, others are tried.
    pub(super) fn note_front(&mut self, page: &mut PageDone) {
        let Some(outcome) = page.capture.as_ref().map(|capture| capture.outcome.clone()) else {
            return;
        };
        let (entry, role) = (&page.entry, Role::Page);
        let is_front = entry.depth == FRONT && entry.role == role && entry.url.path() == "/";
        let job = self.jobs.get(&entry.job).map(|active| active.job.clone());
        let Some(job) = job.filter(|job| job.news && is_front) else { return };
        let sites = self.shared.gather.sites();
        let Some(recipe) = sites.of(&entry.url) else { return };
        let Some(guessed) = guessed(recipe) else { return };
        let url = entry.url.clone();
        if Manner::of(&outcome) != Manner::Silent {
            if let Some(silent) = self.news.silent.get_mut(&recipe.site) {
                silent.remove(&url);
                let all = guessed.https.iter().all(|url| silent.contains_key(url));
                if all && guessed.plain.contains(&url) && outcome.is_success() {
                    self.shared.gather.ask_plainly(&recipe.site, guessed.plain);
                }
            }
            return;
        }
        let has_answered =
            |url: &CanonicalUrl| self.outcomes(url).iter().any(|outcome| outcome.status != 0);
        if !guessed.https.contains(&url) || has_answered(&url) {
            return;
        }
        if let Next::Retry(_) = page.next {
            page.next = Next::Done(UrlState::Failed);
        }
        let silent = self.news.silent.entry(recipe.site.clone()).or_default();
        silent.insert(url, outcome.kind);
        if !guessed.https.iter().all(|url| silent.contains_key(url)) {
            return;
        }
        // A name that has no address has none without TLS.
        let is_there = |(url, _): &(&CanonicalUrl, _)| {
            silent.get(*url).is_some_and(|kind| *kind != OutcomeKind::NoAddress)
        };
        let pairs = guessed.https.iter().zip(&guessed.plain).filter(is_there);
        let plain: Vec<CanonicalUrl> = pairs.map(|(_, plain)| plain.clone()).collect();
        if plain.is_empty() {
            let tally = self.news.tally.entry(recipe.site.clone()).or_default();
            tally.unread += guessed.https.len() as u64;
        }
        let number = self.next_page;
        self.next_page += 1;
        for (index, url) in plain.into_iter().enumerate() {
            self.start_at(&job, url, role, place_of_seed(job.order, number, index));
        }
    }
}
