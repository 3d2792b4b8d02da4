//! What is remembered of one site: what it said lately, which links its navigation has, and how its
//! patterns stand.

use super::gist::{AsIs, Numbers, mix};
use super::numbered::Numbered;
use super::pattern::{PatternId, id_of, last_part, shuffled};
use super::{Read, Trap};
use argiope_model::{CanonicalUrl, Time};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// How a page is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It says something new.
    Novel,
    /// It says what was said before.
    Repeated,
    /// It says next to nothing, and refers to pages that are known.
    Mute,
    /// Its text is new, and looks made up.
    MadeUp,
    /// Its text and its words are new, and all it links to is unknown.
    Wild,
}

/// So many new phrases are something new, whatever else is on the page.
const NEW_PHRASES: usize = 12;
/// So many new words are, too.
const NEW_WORDS: usize = 3;
/// A page with fewer phrases says too little to be judged by what it says.
const SILENT: usize = 8;
/// Phrases, words and links remembered, at least; twice as many at most.
const PHRASES: usize = 4096;
const WORDS: usize = 8192;
const LINKS: usize = 2048;
/// What a page at the end of a line that says something takes from a score.
const REDEEMED: u32 = 2;
/// So many pages that differ from another only in the order of the words of their URLs are enough, where
/// they are a third of all.
const SHUFFLED: u32 = 36;
/// So many pages of a pattern that say nothing and lead nowhere are enough to leave others of it for later.
const IDLE: u32 = 12;
/// So many pages in a row a pattern is under suspicion before anything is held back.
const DOUBT: u32 = 6;
/// A chain must be longer: it costs a request a page, and may be a book.
const CHAIN: u32 = 160;
/// A part of a site with this score counts as one of several that make up a series.
const PART: u32 = 18;
/// So many parts are several.
const PARTS: usize = 3;
/// Patterns of a site, at most.
const PATTERNS: usize = 256;
/// So many hosts of a site that repeat what others said are enough, where most do.
const MIRRORS: u32 = 8;
/// Hosts of a site, at most.
const HOSTS: usize = 4096;

/// A set that forgets what was not put in lately.
#[derive(Debug)]
struct Lately {
    young: Numbers,
    old: Numbers,
    most: usize,
}

impl Lately {
    fn new(most: usize) -> Self {
        Lately { young: Numbers::default(), old: Numbers::default(), most }
    }

    fn has(&self, n: u32) -> bool {
        self.young.contains(&n) || self.old.contains(&n)
    }

    fn put(&mut self, numbers: &[u32]) {
        self.young.extend(numbers);
        if self.young.len() > self.most {
            self.old = std::mem::take(&mut self.young);
        }
    }

    fn bytes(&self) -> usize {
        (self.young.capacity() + self.old.capacity()) * 5
    }
}

/// How a pattern stands.
#[derive(Debug, Default)]
pub(super) struct Tally {
    name: Box<str>,
    /// The patterns that this one is a part of.
    wider: Vec<PatternId>,
    pub pages: u32,
    pub novel: u32,
    /// Pages that say something, found on pages of it in a line.
    redeemed: u32,
    repeated: u32,
    made_up: u32,
    /// How many pages in a row it has been under suspicion for.
    doubt: u32,
    /// What pages that say nothing led to that was new.
    led: u32,
    /// Pages in a line, how many of these lead nowhere, and how many of those say just what another says.
    in_line: u32,
    ends: u32,
    again: u32,
    /// The narrowest pattern of the pages on which most of them were found, and by how many.
    found_on: Option<PatternId>,
    majority: u32,
    /// The numbers in their URLs.
    numbers: Numbered,
    pub shuffled: u32,
    /// The same with other words: against that the order does not matter.
    told_apart: u32,
    /// Pages found on pages of it in a line, and how many of these were wild.
    children: u32,
    wild_children: u32,
    pub score: u32,
    pub deepest: u8,
    examples: Vec<Box<str>>,
}

impl Tally {
    /// Whether hardly a page of it says anything or leads to one that does.
    pub fn is_clean(&self) -> bool {
        (self.novel + self.redeemed) * super::CLEAN <= self.pages
    }

    /// Whether it has no end in sight. Where pages do say something, and all that speaks against them is that
    /// they lead only on, most of what they lead to must be of that kind. Whatever they say: where one of
    /// eight leads nowhere it is a tree, and will end.
    pub fn grows(&self) -> bool {
        let weak = self.made_up > self.repeated;
        let wild = !weak || self.wild_children * 10 >= self.children * 8;
        wild && (self.ends - self.again) * 8 <= self.in_line && !self.numbers.are_bounded()
    }

    /// Whether its pages say nothing and lead nowhere, and hang on pages of another kind.
    pub fn is_idle(&self) -> bool {
        let ends = self.in_line >= IDLE && self.ends * 4 >= self.in_line * 3 && self.is_clean();
        ends && self.found_on.is_some_and(|parent| parent != id_of(&self.name))
    }

    /// A page of it was read: whether it is still under suspicion.
    fn doubt(&mut self) {
        let doubtful = self.score >= super::SUSPECTED && self.grows();
        self.doubt = if doubtful { self.doubt + 1 } else { 0 };
    }

    /// Whether it has been under suspicion for a while: what is held back for it stays there.
    pub fn is_suspected(&self) -> bool {
        self.doubt >= DOUBT
    }

    /// Whether there is no end to it: a long line that goes on, or the same words in any order, and hardly a
    /// page says anything.
    pub fn is_endless(&self) -> bool {
        let line = self.deepest >= super::LONG && self.grows() && self.is_barren();
        line && self.is_long() || self.is_shuffled() && self.is_clean()
    }

    /// Whether it is wider than a chain, or a long one.
    fn is_long(&self) -> bool {
        let barren = self.repeated + self.made_up;
        self.led * 4 > barren * 5 || barren >= CHAIN
    }

    /// Whether a third of what does not say anything leads on; the others refer to what is known, or end.
    fn is_barren(&self) -> bool {
        (self.repeated + self.made_up) * 3 >= self.pages - self.novel - self.again
    }

    /// Whether the order of the words of a URL does not matter.
    pub fn is_shuffled(&self) -> bool {
        let many = self.shuffled >= SHUFFLED && self.shuffled * 3 >= self.pages;
        many && self.told_apart * 10 <= self.shuffled
    }

    /// The pattern of the page on which one was found, where that is the same for most.
    fn count_parent(&mut self, parent: Option<PatternId>) {
        let Some(parent) = parent else { return };
        match self.majority {
            0 => (self.found_on, self.majority) = (Some(parent), 1),
            _ if self.found_on == Some(parent) => self.majority += 1,
            _ => self.majority -= 1,
        }
    }

    /// The first two, and the last.
    fn exemplify(&mut self, url: &CanonicalUrl) {
        self.examples.truncate(2);
        self.examples.push(url.as_str().into());
    }

    pub fn trap(&self) -> Trap {
        Trap {
            pages: self.pages,
            repeated: self.repeated,
            made_up: self.made_up,
            deepest: self.deepest,
            score: self.score,
            shuffled: self.shuffled,
            orders: false,
            from: 0,
            since: Time::default(),
            forgiven: None,
            examples: self.examples.clone(),
        }
    }
}

/// Whether it lies where nobody has plans.
fn is_far(page: &Read<'_>) -> bool {
    page.ahead.is_some_and(|months| months >= super::FAR)
}

/// Whether its URL speaks neither of a time to come nor of a choice of several things.
fn is_plain(page: &Read<'_>) -> bool {
    let choices = page.url.query().is_some_and(|query| query.contains(['&', ';']));
    !choices && page.ahead.is_none_or(|months| months < 1)
}

type Found = HashMap<u32, PatternId, BuildHasherDefault<AsIs>>;
type Counts = HashMap<u32, u32, BuildHasherDefault<AsIs>>;

#[derive(Debug)]
pub(super) struct Watch {
    /// The number of the read that it was last used for.
    pub used: u64,
    words: Lately,
    phrases: Lately,
    /// Whole pages, as far as they say enough to be told apart.
    pages: Lately,
    /// The words of URLs, in no order.
    orders: Lately,
    /// On how many pages a link stood, lately and before that.
    links: Counts,
    links_before: Counts,
    /// The narrowest pattern of the page on which a URL at the end of a line was found.
    found_on: Found,
    found_before: Found,
    /// Pages since those before were begun with.
    pages_lately: u32,
    hosts: Numbers,
    /// Of these, hosts that repeat what others said, and lead on.
    mirrors: u32,
    /// Patterns of it that are paused.
    pub paused: u32,
    /// The order of words does not matter somewhere.
    pub shuffled: bool,
    tallies: HashMap<PatternId, Tally>,
}

impl Default for Watch {
    fn default() -> Self {
        Watch {
            used: 0,
            words: Lately::new(WORDS),
            phrases: Lately::new(PHRASES),
            pages: Lately::new(PHRASES),
            orders: Lately::new(PHRASES),
            links: Counts::default(),
            links_before: Counts::default(),
            found_on: Found::default(),
            found_before: Found::default(),
            pages_lately: 0,
            hosts: Numbers::default(),
            mirrors: 0,
            paused: 0,
            shuffled: false,
            tallies: HashMap::new(),
        }
    }
}

impl Watch {
    /// Whether nothing speaks against it.
    pub fn is_calm(&self) -> bool {
        let calm = |tally: &Tally| tally.score < super::SUSPECTED / 2 && !tally.is_idle();
        self.tallies.values().all(calm)
    }

    pub fn tally(&self, name: &str) -> Option<&Tally> {
        self.tallies.get(&id_of(name))
    }

    /// Whether ever more hosts say the same.
    pub fn is_mirrored(&self) -> bool {
        self.mirrors >= MIRRORS && self.mirrors as usize * 10 >= self.hosts.len() * 7
    }

    /// Whether a URL with the same words, in some order, was read.
    pub fn knows_order(&self, url: &CanonicalUrl) -> bool {
        self.orders.has(shuffled(url))
    }

    /// Whether what speaks against the whole site comes from several parts of it, or from no part.
    pub fn is_all_over(&self, group: &str) -> bool {
        let whole = id_of(group);
        let part = |tally: &&Tally| *tally.wider == [whole];
        let bad = self.tallies.values().filter(part).filter(|tally| tally.score >= PART);
        let (many, score) = bad.fold((0, 0), |(n, all), tally| (n + 1, all + tally.score));
        let all = self.tallies.get(&whole).map_or(0, |tally| tally.score);
        many >= PARTS || score * 4 <= all
    }

    /// What was counted for a pattern is dealt with.
    pub fn settle(&mut self, name: &str, score: u32) {
        if let Some(tally) = self.tallies.get_mut(&id_of(name)) {
            tally.score = tally.score.saturating_sub(score);
            tally.deepest = 0;
        }
    }

    pub fn bytes(&self) -> usize {
        let links = (self.links.capacity() + self.links_before.capacity()) * 9;
        let found = (self.found_on.capacity() + self.found_before.capacity()) * 17;
        let hosts = self.hosts.capacity() * 5 + found;
        self.words.bytes()
            + self.phrases.bytes()
            + self.pages.bytes()
            + self.orders.bytes()
            + links
            + hosts
            + self.tallies.len() * 512
            + 256
    }

    pub fn suspects(&self) -> impl Iterator<Item = (Box<str>, Trap)> + '_ {
        let bad = self.tallies.values().filter(|tally| tally.score >= super::SUSPECTED / 2);
        bad.map(|tally| (tally.name.clone(), tally.trap()))
    }

    /// What a page that leads to so many unknown ones is, and remembers what it says.
    pub fn judge(&mut self, page: &Read<'_>, new: usize) -> Kind {
        let gist = page.gist;
        let words = gist.words.iter().filter(|word| !self.words.has(**word)).count();
        let phrases = gist.phrases.iter().filter(|phrase| !self.phrases.has(**phrase)).count();
        let short = phrases >= 3 && phrases * 5 >= gist.phrases.len() * 2;
        let says = phrases >= NEW_PHRASES || words >= NEW_WORDS || short;
        let silent = gist.phrases.len() < SILENT && !says;
        let (wild, known) = self.leads_only_on(page, new, silent);
        self.words.put(&gist.words);
        self.phrases.put(&gist.phrases);
        match says {
            // It belongs to pages that refer to each other.
            false if silent && !wild && known >= new && is_plain(page) => Kind::Mute,
            false => Kind::Repeated,
            true if is_far(page) || wild && words == 0 => Kind::MadeUp,
            true if wild && new >= 2 => Kind::Wild,
            true => Kind::Novel,
        }
    }

    /// Whether all links are unknown, but for those that stand everywhere and one that leads back; and how
    /// many others like the page are known.
    fn leads_only_on(&mut self, page: &Read<'_>, new: usize, silent: bool) -> (bool, usize) {
        let often = 3 + self.pages_lately / 8;
        let on = |link: u32| {
            let count = |counts: &Counts| counts.get(&link).copied().unwrap_or(0);
            count(&self.links) + count(&self.links_before)
        };
        let known = page.links.iter().filter(|link| !link.new && on(link.id) < often);
        let (alike, known) = (known.clone().filter(|link| link.alike).count(), known.count());
        let back = if new >= 2 || silent { (new / 20).max(1) } else { 0 };
        let wild = new > 0 && known <= back;
        for link in page.links {
            *self.links.entry(link.id).or_default() += 1;
        }
        self.pages_lately += 1;
        if self.links.len() > LINKS {
            self.links_before = std::mem::take(&mut self.links);
            self.pages_lately = self.pages_lately.min(64);
        }
        (wild, alike)
    }

    /// Counts a page for the patterns of its URL.
    pub fn count(&mut self, page: &Read<'_>, names: &[String], kind: Kind, new: usize) {
        let host = id_of(page.url.origin()).0 as u32;
        let more = !self.hosts.is_empty() && self.hosts.len() < HOSTS && self.hosts.insert(host);
        if self.hosts.is_empty() {
            self.hosts.insert(host);
        }
        let ids: Vec<PatternId> = names.iter().map(|name| id_of(name)).collect();
        let barren = !matches!(kind, Kind::Novel | Kind::Mute) && new > 0;
        let order = shuffled(page.url);
        let known = self.orders.has(order);
        // One that says just what another said is that page again, and no end of anything.
        let whole = page.gist.phrases.iter().fold(0, |all, phrase| mix(all, *phrase));
        let silent = page.gist.phrases.len() < SILENT;
        let named = mix(whole, id_of(last_part(page.url)).0 as u32);
        let again = self.pages.has(if silent { named } else { whole });
        self.pages.put(&[whole, named]);
        let turned = barren && !silent && kind == Kind::Repeated && known;
        let parent = (page.line > 0).then(|| self.parent(page.url)).flatten();
        if let Some(parent) = parent {
            self.tell_parent(parent, matches!(kind, Kind::Wild | Kind::MadeUp));
        }
        self.orders.put(&[order]);
        self.mirrors += u32::from(more && barren && kind == Kind::Repeated);
        if barren {
            let unknown = page.links.iter().filter(|link| link.new);
            self.found_on.extend(unknown.map(|link| (link.id, ids[0])));
            if self.found_on.len() > LINKS {
                self.found_before = std::mem::take(&mut self.found_on);
            }
        } else if kind == Kind::Novel && page.line > 0 {
            self.redeem(page, &ids);
        }
        for at in 0..names.len() {
            let Some(tally) = self.tally_of(names, &ids, at) else { continue };
            tally.pages += 1;
            tally.in_line += u32::from(page.line > 0);
            tally.ends += u32::from(page.line > 0 && new == 0);
            tally.again += u32::from(page.line > 0 && new == 0 && again);
            tally.count_parent(parent);
            // The numbers of a calendar are few, and it goes on for all that.
            match page.ahead.is_some_and(|months| months >= 1) {
                true => tally.numbers.give_up(),
                false => tally.numbers.count(page.url),
            }
            tally.doubt();
            let score = match kind {
                Kind::Novel => {
                    tally.novel += 1;
                    tally.told_apart += u32::from(known);
                    continue;
                }
                // It leads nowhere. Behind others of its kind that speaks against them, and for nothing.
                Kind::Repeated if new == 0 && page.line >= 2 => 1,
                _ if new == 0 => 0,
                Kind::Repeated => {
                    tally.repeated += 1;
                    3
                }
                Kind::MadeUp => {
                    tally.made_up += 1;
                    if is_far(page) { 4 } else { 2 }
                }
                // At the beginning everything is unknown.
                Kind::Wild => {
                    tally.made_up += 1;
                    2 * u32::from(page.line >= 1)
                }
                Kind::Mute => 0,
            };
            tally.score += score;
            if barren || page.line > 0 && new == 0 {
                tally.exemplify(page.url);
            }
            if !barren {
                continue;
            }
            tally.led += new as u32;
            tally.shuffled += u32::from(turned);
            // Each new host was asked for its robots.txt as well.
            tally.score += if more { 3 } else { 0 };
            tally.deepest = tally.deepest.max(page.line.saturating_add(1));
        }
    }

    /// The narrowest pattern of the page on which a page at the end of a line was found.
    fn parent(&self, url: &CanonicalUrl) -> Option<PatternId> {
        let id = url.fingerprint() as u32;
        self.found_on.get(&id).or_else(|| self.found_before.get(&id)).copied()
    }

    /// A pattern and those it is a part of.
    fn with_wider(&self, narrow: PatternId) -> Vec<PatternId> {
        let wider = self.tallies.get(&narrow).map(|tally| &tally.wider);
        std::iter::once(narrow).chain(wider.into_iter().flatten().copied()).collect()
    }

    /// Patterns whose pages say nothing, lead nowhere, and were found on pages of one that is paused.
    pub fn idle_behind(&self, name: &str, trap: &Trap) -> Vec<(Box<str>, Trap)> {
        let led = id_of(name);
        let behind = |tally: &&Tally| {
            let part = tally.wider.is_empty() || tally.wider.contains(&led);
            let parent = tally.found_on.filter(|_| tally.is_idle() && !part);
            parent.is_some_and(|parent| self.with_wider(parent).contains(&led))
        };
        let all = self.tallies.values().filter(behind);
        let Trap { score, deepest, .. } = *trap;
        let trap = |tally: &Tally| Trap { from: 1, score, deepest, ..tally.trap() };
        all.map(|tally| (tally.name.clone(), trap(tally))).collect()
    }

    /// Nothing is at a URL at the end of a line.
    pub fn not_there(&mut self, url: &CanonicalUrl) {
        if let Some(parent) = self.parent(url) {
            self.tell_parent(parent, false);
        }
    }

    /// Counts a page at the end of a line with those that led to it.
    fn tell_parent(&mut self, parent: PatternId, wild: bool) {
        for id in self.with_wider(parent) {
            if let Some(tally) = self.tallies.get_mut(&id) {
                tally.children += 1;
                tally.wild_children += u32::from(wild);
            }
        }
    }

    /// A page at the end of a line says something: that speaks for the patterns of the page it was found
    /// on, and for its own.
    fn redeem(&mut self, page: &Read<'_>, own: &[PatternId]) {
        let parents = self.parent(page.url).map(|parent| self.with_wider(parent));
        let mut all: Vec<PatternId> =
            own.iter().copied().chain(parents.into_iter().flatten()).collect();
        all.sort_unstable();
        all.dedup();
        for id in all {
            if let Some(tally) = self.tallies.get_mut(&id) {
                tally.score = tally.score.saturating_sub(REDEEMED);
                tally.redeemed += u32::from(!own.contains(&id));
            }
        }
    }

    /// The tally of the pattern at a place in a list; `None` where there are too many.
    fn tally_of(&mut self, names: &[String], ids: &[PatternId], at: usize) -> Option<&mut Tally> {
        let id = ids[at];
        if self.tallies.len() >= PATTERNS && !self.tallies.contains_key(&id) {
            return None;
        }
        let fresh = || Tally {
            name: names[at].as_str().into(),
            wider: ids[at + 1..].to_vec(),
            ..Tally::default()
        };
        Some(self.tallies.entry(id).or_insert_with(fresh))
    }

    /// Counts a URL at the end of a line that leads elsewhere.
    pub fn redirected(&mut self, url: &CanonicalUrl, names: &[String], line: u8) {
        let ids: Vec<PatternId> = names.iter().map(|name| id_of(name)).collect();
        for at in 0..names.len() {
            let Some(tally) = self.tally_of(names, &ids, at) else { continue };
            tally.pages += 1;
            tally.repeated += 1;
            tally.led += 2;
            tally.doubt();
            tally.score += 3;
            tally.deepest = tally.deepest.max(line);
            tally.exemplify(url);
        }
    }
}
