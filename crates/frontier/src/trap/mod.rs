//! Series of pages without end, recognised by what they do and not by what they are called.
//!
//! A calendar that knows every year, relative links that make the path longer with every page, session
//! numbers, parameters in any combination, mirrors under ever new names, mazes of made-up text: what
//! they share is that pages which say nothing new lead to ever more such pages. So every page is asked
//! two questions as it is read: does it say anything new on its site ([`Gist`]), and does it lead to
//! anything unknown?
//!
//! * A page is *barren* when it says nothing new and leads on. Pages are compared with what was read of
//!   their site lately. Where the text is new, but its words are not, or where every link but those of
//!   the site's navigation is unknown, it counts as barren too: that is how made-up text looks.
//! * The *line* of a URL is how many barren pages, one found on the other, led to it. A page that says
//!   something ends the line: what it links to has line 0. The line is kept in the row's place.
//! * URLs with the same words in another order that say the same are held back by themselves, once there
//!   are many of them: such series are wide and not deep.
//! * Barren pages add to the *score* of the patterns of their URL ([`pattern`]). A page at the end of a
//!   line that says something takes away from it: lists lead to what they list, through lists.
//! * Nothing is suspected that will end, as far as can be told: a tree, in which many pages lead nowhere; pages
//!   that are numbered ([`numbered`]); pages that refer to each other.
//! * From a score on a pattern is *suspected*: what is found there in a line sinks behind everything
//!   else of its host, longest line first. Where the web is finite, that soon comes to an end: to
//!   pages that lead nowhere, or say something. Where it is not, the line grows.
//! * With a higher score and a long line the pattern is *paused*: what belongs to it is not asked for,
//!   remembered as such, and comes back when somebody forgives it. Pages that say nothing, lead nowhere and
//!   hang on it are paused with it; before that they are left for last.
//!
//! Invariants: whatever is paused has a line of [`LONG`] barren pages one behind the other, but for words in
//! another order, and for sites with ever more hosts that say the same, which are walked side by side. Memory is
//! bounded: the sites longest not read are forgotten, and begin anew.
//! What is not here: keeping what was paused (the store), showing it (`crawl`).

mod far;
mod gist;
mod numbered;
mod pattern;
mod watch;

use far::FAR;
pub use far::months_ahead;
pub use gist::Gist;

use argiope_model::{CanonicalUrl, Suffixes, Time};
use pattern::{PatternId, TOP, id_of, patterns};
use serde::{Deserialize, Serialize};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use watch::{Kind, Tally, Watch};

/// From this score on a pattern is suspected.
const SUSPECTED: u32 = 207;
/// Where there is one series there are more: from this score on the next one is paused.
const AGAIN: u32 = 150;
/// From this score on it is paused, where a line is long …
const PAUSED: u32 = 270;
/// … that is, has so many barren pages one behind the other.
const LONG: u8 = 20;
/// Where a whole site is paused, only URLs at the end of such a line are held back.
const LINE: u8 = 2;
/// With so many parts paused, the next one is the whole site.
const MANY: u32 = 2;
/// Redirects one after the other that nobody needs.
const HOPS: u8 = 5;
/// Hardly anything else is in a pattern where at most one of so many pages of it said something.
const CLEAN: u32 = 10;

/// What speaks against a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trap {
    /// Pages read of it.
    pub pages: u32,
    /// Of these, pages that repeat what was read before and lead on.
    pub repeated: u32,
    /// Pages of text that looks made up, or that lead to nothing but unknown pages.
    pub made_up: u32,
    /// The longest line of such pages, one found on the other.
    pub deepest: u8,
    /// The score, of which 270 is enough.
    pub score: u32,
    /// What is held back: what was found at the end of a line of so many such pages; 0 is everything.
    pub from: u8,
    /// Pages that say what another says whose URL has the same words in another order.
    pub shuffled: u32,
    /// Only such URLs are held back.
    pub orders: bool,
    /// When it was paused.
    pub since: Time,
    /// Somebody looked at it and wants it: since when.
    pub forgiven: Option<Time>,
    /// Some of these pages.
    pub examples: Vec<Box<str>>,
}

impl Trap {
    /// The score as a part of a hundred.
    pub fn suspicion(&self) -> u32 {
        match self.since == Time::default() {
            true => (self.score * 100 / PAUSED).min(99),
            // It is paused: for its score, or for the order of words.
            false => 100,
        }
    }
}

/// Why a URL is not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It is to wait until everything else of its host is done.
    Back,
    /// It is to wait behind those, too: pages like it lead nowhere.
    Last,
    /// It is not to be asked for.
    Paused,
}

/// A page as it was read.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// Its URL.
    pub url: &'a CanonicalUrl,
    /// How many barren pages, one found on the other, led to it.
    pub line: u8,
    /// What it says.
    pub gist: &'a Gist,
    /// How many months ahead lies what its URL names.
    pub ahead: Option<i64>,
    /// Its links within the group, each once.
    pub links: &'a [Lead],
}

/// A link of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// The number of its URL.
    pub id: u32,
    /// Nobody knew it.
    pub new: bool,
    /// Its URL looks like that of the page.
    pub alike: bool,
}

impl Lead {
    /// A link of a page.
    pub fn of(page: &CanonicalUrl, link: &CanonicalUrl, new: bool) -> Self {
        let (here, there) = (page.path().split('/').nth(1), link.path().split('/').nth(1));
        let alike = here == there && page.query().is_some() == link.query().is_some();
        Lead { id: link.fingerprint() as u32, new, alike }
    }
}

/// What reading a page came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The line of what it links to.
    pub line: u8,
    /// Patterns that are paused from now on, and why.
    pub paused: Vec<(Box<str>, Trap)>,
}

/// What is watched, over all sites.
#[derive(Debug)]
pub struct Traps {
    watches: HashMap<Box<str>, Watch>,
    /// Bytes all watches may take, about.
    room: usize,
    reads: u64,
    /// Hosts that were asked for by name: each is watched by itself.
    own: HashSet<Box<str>>,
    /// What is paused or forgiven.
    known: BTreeMap<PatternId, (Box<str>, Trap)>,
}

/// Hosts watched by themselves because they were asked for by name, at most.
const MAX_OWN: usize = 1 << 16;

impl Traps {
    /// Nothing watched so far; what is paused or forgiven is known.
    pub fn new(room: usize, known: impl IntoIterator<Item = (Box<str>, Trap)>) -> Self {
        let known = known.into_iter().map(|(name, trap)| (id_of(&name), (name, trap)));
        Traps {
            watches: HashMap::new(),
            room,
            reads: 0,
            own: HashSet::new(),
            known: known.collect(),
        }
    }

    /// What is watched together with a URL: its site; its host where that is an address, or was asked
    /// for by name.
    pub fn group<'a>(&self, url: &'a CanonicalUrl, suffixes: &'a Suffixes) -> &'a str {
        let site = suffixes.site_of(url.host());
        let address =
            site.starts_with('[') || site.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        match address || self.own.contains(url.origin()) {
            true => url.origin(),
            false => site,
        }
    }

    /// A URL was asked for by name.
    pub fn asked_for(&mut self, url: &CanonicalUrl) {
        if self.own.len() < MAX_OWN && !self.own.contains(url.origin()) {
            self.own.insert(url.origin().into());
        }
    }

    /// Judges a page of a group.
    pub fn read(&mut self, page: &Read<'_>, group: &str) -> Judged {
        self.reads += 1;
        if self.reads.is_multiple_of(64) {
            self.make_room();
        }
        let names = patterns(page.url, group);
        if names.iter().any(|name| self.is_forgiven(name)) {
            return Judged::default();
        }
        if !self.watches.contains_key(group) {
            self.watches.insert(group.into(), Watch::default());
        }
        let watch = self.watches.get_mut(group).expect("put there above");
        watch.used = self.reads;
        let new = page.links.iter().filter(|link| link.new).count();
        let kind = watch.judge(page, new);
        watch.count(page, &names, kind, new);
        let line = match kind {
            _ if new == 0 => 0,
            Kind::Novel => 0,
            Kind::Mute => page.line,
            _ => page.line.saturating_add(1),
        };
        Judged { line, paused: self.verdict(group, &names) }
    }

    /// A URL at the end of a line, or of a chain of redirects, leads elsewhere: that is a request more.
    pub fn redirected(
        &mut self,
        url: &CanonicalUrl,
        group: &str,
        line: u8,
        hops: u8,
    ) -> Vec<(Box<str>, Trap)> {
        // As many as that are a series of their own.
        let line = if hops >= HOPS { line.max(LONG) } else { line };
        let names = patterns(url, group);
        let forgiven = names.iter().any(|name| self.is_forgiven(name));
        let Some(watch) = self.watches.get_mut(group).filter(|_| line > 0 && !forgiven) else {
            return Vec::new();
        };
        watch.redirected(url, &names, line);
        self.verdict(group, &names)
    }

    /// There is nothing at a URL at the end of a line: what led to it leads to an end.
    pub fn not_there(&mut self, url: &CanonicalUrl, group: &str, line: u8) {
        if let Some(watch) = self.watches.get_mut(group).filter(|_| line > 0) {
            watch.not_there(url);
        }
    }

    /// What is to be paused after a page with these patterns was read: a series, and what hangs on it.
    fn verdict(&mut self, group: &str, names: &[String]) -> Vec<(Box<str>, Trap)> {
        let Some((name, trap)) = self.series(group, names) else { return Vec::new() };
        let behind = self.watches.get(group).filter(|_| !trap.orders);
        let behind = behind.map_or(Vec::new(), |watch| watch.idle_behind(&name, &trap));
        let mut all = vec![(name, trap)];
        for (name, trap) in behind {
            if let Entry::Vacant(free) = self.known.entry(id_of(&name)) {
                free.insert((name.clone(), trap.clone()));
                all.push((name, trap));
            }
        }
        all
    }

    /// The pattern that is to be paused after a page with these patterns was read.
    fn series(&mut self, group: &str, names: &[String]) -> Option<(Box<str>, Trap)> {
        let watch = self.watches.get(group)?;
        let new = |name: &&String| !self.known.contains_key(&id_of(name));
        // What is held back by the order of its words may yet be held back whole.
        let held =
            |name: &&String| self.known.get(&id_of(name)).is_none_or(|(_, trap)| trap.orders);
        // Where there is one there are more.
        let most = if watch.paused > 0 { AGAIN } else { PAUSED };
        let turned = |name: &&String| self.known.contains_key(&id_of(name));
        let enough = |name: &&String| {
            let bad = watch.tally(name).filter(|tally| tally.score >= most);
            bad.is_some_and(|t| t.is_endless() || turned(name) && t.is_clean()) && held(name)
        };
        let all_over = watch.is_all_over(names.last()?);
        let orders =
            |name: &&String| watch.tally(name).is_some_and(Tally::is_shuffled) && new(name);
        let (whole_group, narrow) = names.split_last()?;
        // The widest pattern that holds hardly anything else.
        let clean = |name: &&String| watch.tally(name).is_some_and(Tally::is_clean);
        let bad = |name: &&String| watch.tally(name).is_some_and(|tally| tally.score >= most);
        let from = narrow.iter().position(|name| enough(&name)).unwrap_or(narrow.len());
        let around = narrow[from..].iter().rev().filter(|name| held(name) && bad(name));
        let whole = { around }.find(clean);
        let part = narrow.iter().rev().find(enough);
        // One part after the other: it is all of it.
        let many = watch.paused >= MANY && whole.or(part).is_some();
        let (whole, part) = if many { (None, None) } else { (whole, part) };
        let bad_all = |name: &&String| enough(name) || watch.shuffled && bad(name) && clean(name);
        let all =
            Some(whole_group).filter(|name| held(name) && (many || all_over && bad_all(name)));
        let mirrored = Some(whole_group).filter(|name| new(name) && watch.is_mirrored());
        let by_order = names.iter().rev().find(orders);
        let name = whole.or(part).or(all).or(mirrored).or(by_order)?;
        let mut trap = watch.tally(name)?.trap();
        trap.orders = whole.or(part).or(all).or(mirrored).is_none();
        trap.from = match name {
            name if trap.orders || whole.is_some() && !name.ends_with(TOP) => 0,
            _ if whole.is_some() => 1,
            name if part.is_none() && (clean(&name) || mirrored.is_some()) => 1,
            _ => LINE,
        };
        self.known.insert(id_of(name), (name.as_str().into(), trap.clone()));
        // What is paused speaks no longer against what it is a part of.
        if let Some(watch) = self.watches.get_mut(group) {
            watch.paused += u32::from(!trap.orders);
            watch.shuffled |= trap.orders;
            names.iter().for_each(|name| watch.settle(name, trap.score));
        }
        Some((name.as_str().into(), trap))
    }

    /// Whether a URL found at the end of a line is to be held back.
    pub fn holds(&self, url: &CanonicalUrl, group: &str, line: u8) -> Option<Held> {
        let watch = self.watches.get(group);
        if self.known.is_empty() && watch.is_none_or(|watch| watch.is_calm()) {
            return None;
        }
        let names = patterns(url, group);
        if names.iter().any(|name| self.is_forgiven(name)) {
            return None;
        }
        let known = |name: &String| self.known.get(&id_of(name)).map(|(_, trap)| trap);
        let again = watch.is_some_and(|watch| watch.knows_order(url));
        if names.iter().filter_map(known).any(|t| line >= t.from && (again || !t.orders)) {
            return Some(Held::Paused);
        }
        let (whole_group, narrow) = names.split_last()?;
        let tally = |name: &String| watch?.tally(name);
        if line >= 1 && narrow.first().and_then(tally).is_some_and(Tally::is_idle) {
            return Some(Held::Last);
        }
        let suspected = |name| tally(name).filter(|tally| tally.is_suspected());
        let narrow = narrow.iter().filter_map(suspected).any(|tally| line >= 1 || tally.is_clean());
        let all_over = || watch.is_some_and(|watch| watch.is_all_over(whole_group));
        let back = narrow || line >= 1 && suspected(whole_group).is_some() && all_over();
        back.then_some(Held::Back)
    }

    /// What a URL at the end of a line is paused by, whether it is watched with its site or with its host.
    pub fn paused_by(
        &self,
        url: &CanonicalUrl,
        suffixes: &Suffixes,
        line: u8,
    ) -> Option<(&str, &Trap)> {
        let groups = [url.origin(), suffixes.site_of(url.host())];
        let names = groups.into_iter().flat_map(|group| patterns(url, group));
        let known: Vec<&(Box<str>, Trap)> =
            names.filter_map(|name| self.known.get(&id_of(&name))).collect();
        if known.iter().any(|(_, trap)| trap.forgiven.is_some()) {
            return None;
        }
        let paused = known.into_iter().find(|(_, trap)| line >= trap.from && !trap.orders);
        paused.map(|(name, trap)| (&**name, trap))
    }

    fn is_forgiven(&self, name: &str) -> bool {
        let known = self.known.get(&id_of(name));
        known.is_some_and(|(_, trap)| trap.forgiven.is_some())
    }

    /// What is paused or forgiven, by name.
    pub fn known(&self) -> impl Iterator<Item = (&str, &Trap)> {
        self.known.values().map(|(name, trap)| (&**name, trap))
    }

    /// Puts what is known in the place of what was.
    pub fn know(&mut self, name: &str, trap: Option<Trap>) {
        match trap {
            Some(trap) => self.known.insert(id_of(name), (name.into(), trap)),
            None => self.known.remove(&id_of(name)),
        };
    }

    /// Patterns under suspicion and not paused, the most suspicious first.
    pub fn suspects(&self) -> Vec<(Box<str>, Trap)> {
        let all = self.watches.values().flat_map(Watch::suspects);
        let mut all: Vec<_> = all.filter(|(n, _)| !self.known.contains_key(&id_of(n))).collect();
        all.sort_by(|a, b| b.1.score.cmp(&a.1.score).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// Forgets the sites longest not read, but for those under suspicion, where they take too much.
    fn make_room(&mut self) {
        let all: usize = self.watches.values().map(Watch::bytes).sum();
        if all <= self.room {
            return;
        }
        let mut by_age: Vec<(bool, u64, Box<str>)> =
            self.watches.iter().map(|(k, w)| (!w.is_calm(), w.used, k.clone())).collect();
        by_age.sort_unstable();
        let mut left = all;
        for (_, _, group) in by_age {
            if left <= self.room / 4 * 3 {
                break;
            }
            left -= self.watches.remove(&group).map_or(0, |watch| watch.bytes());
        }
    }
}

#[cfg(test)]
mod tests;
