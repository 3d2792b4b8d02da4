//! Series of pages without end, as the engine meets them.
//!
//! * What this is: the one watch over all sites ([`Traps`]), asked by visits for what they have read and
//!   by the director for what it is about to hand out.
//! * Invariant: what is paused is written down with the page that was one too many; from the moment that
//!   page was read, nothing more of it is handed out.
//! * What is not here: what makes a page suspicious (`frontier`), keeping what is paused (`store`).

use crate::group::Found;
use argiope_frontier::{Entry, Gist, Held, Lead, Read, SkipReason, Trap, Traps, months_ahead};
use argiope_model::{CanonicalUrl, Link, Order, Role, Suffixes, Time};
use argiope_store::UrlState;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A pattern and what speaks against it.
pub(crate) type Named = (Box<str>, Trap);

/// The watch over all sites.
pub(crate) struct Watching {
    /// `None`: nobody wants it.
    traps: Option<Mutex<Traps>>,
    pinned: Arc<Suffixes>,
}

impl Watching {
    pub(crate) fn new(on: bool, room: usize, known: Vec<Named>, pinned: Arc<Suffixes>) -> Self {
        Watching { traps: on.then(|| Mutex::new(Traps::new(room, known))), pinned }
    }

    fn traps(&self) -> Option<MutexGuard<'_, Traps>> {
        // A visit that panicked ends the run; until then what it left is as good as before.
        Some(self.traps.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in what a first visit came to; says what is paused from now on.
    pub(crate) fn met(
        &self,
        entry: &Entry,
        state: UrlState,
        text: Option<&str>,
        links: &[Link],
        found: &mut [Found],
        now: Time,
    ) -> Vec<Named> {
        match (state, text) {
            (UrlState::Fetched, Some(text)) => self.read(entry, text, links, found, now),
            (UrlState::Redirected, _) => self.redirected(entry, found),
            (UrlState::Failed, _) => self.not_there(entry),
            _ => Vec::new(),
        }
    }

    /// Judges a page that was read for the first time, and what it leads to.
    fn read(
        &self,
        entry: &Entry,
        text: &str,
        links: &[Link],
        found: &mut [Found],
        now: Time,
    ) -> Vec<Named> {
        if self.traps.is_none() {
            return Vec::new();
        }
        let gist = Gist::of(text, &entry.url, links.iter().map(|link| &link.url));
        let Some(mut traps) = self.traps() else { return Vec::new() };
        if entry.depth == 0 {
            traps.asked_for(&entry.url);
        }
        let group = traps.group(&entry.url, &self.pinned).to_owned();
        let mut seen: HashMap<u32, Lead> = HashMap::new();
        let unknown = found.iter().filter(|f| f.skip.is_none() && f.role == Role::Page);
        let unknown = unknown.map(|f| (&f.url, true));
        for (url, new) in links.iter().map(|link| (&link.url, false)).chain(unknown) {
            if traps.group(url, &self.pinned) == group && !leads_back(url, &entry.url) {
                // A link is known by the URL that would be asked for.
                let lead = Lead::of(&entry.url, url, new);
                seen.entry(lead.id).or_insert(lead).new |= new;
            }
        }
        let seen: Vec<Lead> = seen.into_values().collect();
        let line = entry.place.line();
        let ahead = months_ahead(&entry.url, now);
        let read = Read { url: &entry.url, line, gist: &gist, ahead, links: &seen };
        let judged = traps.read(&read, &group);
        for found in found.iter_mut().filter(|f| f.role == Role::Page) {
            // Elsewhere nothing is known against it.
            let group_of = traps.group(&found.url, &self.pinned);
            found.line = if group_of == group { judged.line } else { 0 };
            match traps.holds(&found.url, group_of, found.line) {
                Some(Held::Paused) => found.skip = found.skip.or(Some(SkipReason::Trap)),
                held => found.back = held,
            }
        }
        judged.paused
    }

    /// A URL leads elsewhere.
    fn redirected(&self, entry: &Entry, found: &mut [Found]) -> Vec<Named> {
        let Some(mut traps) = self.traps() else { return Vec::new() };
        let group = traps.group(&entry.url, &self.pinned).to_owned();
        let line = entry.place.line();
        for found in found.iter_mut() {
            let to = traps.group(&found.url, &self.pinned);
            if to == group && traps.holds(&found.url, to, line) == Some(Held::Paused) {
                found.skip = found.skip.or(Some(SkipReason::Trap));
            }
        }
        traps.redirected(&entry.url, &group, line, entry.hops)
    }

    /// There is nothing at a URL; nothing is paused for that.
    fn not_there(&self, entry: &Entry) -> Vec<Named> {
        if let Some(mut traps) = self.traps() {
            let group = traps.group(&entry.url, &self.pinned).to_owned();
            traps.not_there(&entry.url, &group, entry.place.line());
        }
        Vec::new()
    }

    /// Whether a row is to be held back. Start URLs and pages that are there already never are; an order
    /// that knows what is best is not mixed up for a suspicion.
    pub(crate) fn holds(&self, entry: &Entry, order: Order) -> Option<Held> {
        if entry.again || entry.depth == 0 || entry.role != Role::Page {
            return None;
        }
        let traps = self.traps()?;
        let group = traps.group(&entry.url, &self.pinned);
        let held = traps.holds(&entry.url, group, entry.place.line());
        let late = entry.place.is_held_back() || order == Order::Best;
        held.filter(|held| *held == Held::Paused || !late)
    }

    /// Takes over what is paused, or forgiven, or no longer either.
    pub(crate) fn know(&self, name: &str, trap: Option<Trap>) {
        if let Some(mut traps) = self.traps() {
            traps.know(name, trap);
        }
    }

    /// What is paused or forgiven.
    pub(crate) fn known(&self) -> Vec<Named> {
        let known = |traps: MutexGuard<'_, Traps>| {
            traps.known().map(|(name, trap)| (name.into(), trap.clone())).collect()
        };
        self.traps().map(known).unwrap_or_default()
    }

    /// What is suspected and not paused.
    pub(crate) fn suspects(&self) -> Vec<Named> {
        self.traps().map(|traps| traps.suspects()).unwrap_or_default()
    }
}

/// Whether a link leads to a folder that the page lies in, or to the page itself.
fn leads_back(link: &CanonicalUrl, page: &CanonicalUrl) -> bool {
    let to = link.path_and_query();
    let folder = to.ends_with('/') && page.path().starts_with(to);
    link.origin() == page.origin() && (folder || to == page.path_and_query())
}

/// What speaks against a pattern, in words.
pub(crate) fn trap_words(trap: &Trap) -> String {
    let Trap { pages, repeated, made_up, shuffled, deepest, .. } = trap;
    let mut said = Vec::new();
    if *repeated > 0 {
        said.push(format!("{repeated} repeat what was read before and lead on"));
    }
    if *made_up > 0 {
        said.push(format!("{made_up} look made up"));
    }
    if *shuffled > 0 {
        said.push(format!("{shuffled} have the words of another's URL in another order"));
    }
    if said.is_empty() {
        return format!("{pages} pages said nothing and led nowhere; they hang on what is paused");
    }
    let said = said.join(", ");
    format!("of {pages} pages {said}; up to {deepest} of them were found one on the other")
}
