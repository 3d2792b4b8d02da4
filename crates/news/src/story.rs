//! Stories: articles about the same event, from whatever sources, together.
//!
//! * What this is: a [`Gist`] is what is kept of an article to compare it by; [`Stories`] holds those
//!   of the last days and says of each article which story it belongs to.
//! * With each article the stories that may be its own are looked at anew, with all of their articles: the two groups
//!   that are most alike on average become one, as long as they are alike enough. So what was known when an article came
//!   decides nothing for good, and what came late may part what was taken for one.
//! * Within a language words and facts tell, across languages facts and what any language has words for; a report in one
//!   language speaks for those in others.
//! * A story has the number of an article that began it. The number goes with that article; of two stories that turn out
//!   to be one the older number stays, and the other leads there.
//! * Its place: what follows the change log calls it with one article after another.
//! * Invariants: each article is in one story; a number that was told answers for a story as long as it has articles.

mod gist;
mod held;
mod stop;
mod tongues;

pub use gist::{Gist, gist};

use argiope_model::Time;
use held::Held;
use std::collections::BTreeMap;

/// Where an article belongs, and what became of others by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The number of its story.
    pub story: u64,
    /// Stories that turned out to be others: all their articles, for a start, and their numbers.
    pub joined: Vec<(u64, u64)>,
    /// Other articles that turned out to belong to another story, after that.
    pub moved: Vec<(u64, u64)>,
}

/// The stories of the last days.
#[derive(Default)]
pub struct Stories {
    held: Held,
}

/// How likely the articles of a story must be of one event, on average over all pairs.
const ENOUGH: f32 = 0.38;
/// The stories of articles that are at least so likely of one event with a new one are looked at anew.
const NEAR: f32 = 0.15;
/// Articles that are looked at anew at once.
const AT_ONCE: usize = 60;
/// A story of more articles is never parted.
const LARGE: usize = 30;
/// Articles of such a story that are compared, of each language.
const SAMPLE: usize = 6;

/// What stays together: an article, or a large story, which stands for more articles than are compared.
struct Unit {
    slots: Vec<u32>,
    whole: Option<u64>,
}

impl Stories {
    /// Takes in an article, new or changed; `time` is when it was published.
    ///
    /// If it may be older than what is held, it is to be given back by [`Stories::restore`] first.
    pub fn put(&mut self, doc: u64, site: &str, time: Time, gist: Gist) -> Placed {
        let known = self.held.slot_of(doc).and_then(|slot| self.held.article(slot));
        // One that comes back returns to the story that it began.
        let (is_new, story) = (known.is_none(), known.map_or(doc, |article| article.story));
        // Rare is what few have, this one among them: it is compared when it is held.
        let slot = self.held.add(doc, site, time, gist, story);
        let units = self.near(slot);
        let groups = self.grouped(&units);
        self.settle(slot, is_new, &units, &groups)
    }

    /// The articles of all stories that may be that of an article.
    fn near(&self, slot: u32) -> Vec<Unit> {
        let mut near = self.held.like(slot);
        near.extend(self.held.abroad(slot).into_iter().map(|o| (o, self.held.kinship(slot, o))));
        near.retain(|(_, likely)| *likely >= NEAR);
        near.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (mut known, mut units, mut left) = (Vec::new(), Vec::new(), AT_ONCE);
        for story in std::iter::once(slot).chain(near.into_iter().map(|(other, _)| other)) {
            let Some(story) = self.held.article(story).map(|article| article.story) else {
                continue;
            };
            if known.contains(&story) {
                continue;
            }
            known.push(story);
            let members = self.held.members(story);
            let (slots, is_large) = match members.len() > LARGE {
                true => (self.sample(story), true),
                false => (members.to_vec(), false),
            };
            if slots.len() > left {
                continue;
            }
            left -= slots.len();
            match is_large {
                true => units.push(Unit { slots, whole: Some(story) }),
                false => {
                    units.extend(slots.into_iter().map(|s| Unit { slots: vec![s], whole: None }))
                }
            }
        }
        units
    }

    /// Those that are one: the two groups whose articles are most alike on average are joined, as long as they are alike
    /// enough.
    fn grouped(&self, units: &[Unit]) -> Vec<Vec<usize>> {
        let mut sums = vec![vec![0.0_f32; units.len()]; units.len()];
        for (n, one) in units.iter().enumerate() {
            for (m, other) in units.iter().enumerate().skip(n + 1) {
                let pairs = one.slots.iter().flat_map(|a| other.slots.iter().map(|b| (*a, *b)));
                sums[n][m] = pairs.map(|(a, b)| self.likely(a, b) - ENOUGH).sum();
                sums[m][n] = sums[n][m];
            }
        }
        let mut sizes: Vec<usize> = units.iter().map(|unit| unit.slots.len()).collect();
        let mut groups: Vec<Vec<usize>> = (0..units.len()).map(|n| vec![n]).collect();
        loop {
            let mut best = (0.0, 0, 0);
            for n in 0..units.len() {
                for m in n + 1..units.len() {
                    if groups[n].is_empty() || groups[m].is_empty() {
                        continue;
                    }
                    let mean = sums[n][m] / (sizes[n] * sizes[m]) as f32;
                    if mean > best.0 {
                        best = (mean, n, m);
                    }
                }
            }
            let (mean, kept, gone) = best;
            if mean <= 0.0 {
                groups.retain(|group| !group.is_empty());
                return groups;
            }
            let moved = std::mem::take(&mut groups[gone]);
            groups[kept].extend(moved);
            sizes[kept] += sizes[gone];
            let more = sums[gone].clone();
            for (n, more) in more.into_iter().enumerate() {
                sums[kept][n] += more;
                sums[n][kept] += more;
            }
        }
    }

    /// How likely it is that two articles tell of one event, in whatever languages.
    fn likely(&self, a: u32, b: u32) -> f32 {
        match self.held.tongue(a) == self.held.tongue(b) {
            true => self.held.alike(a, b),
            false => self.held.kinship(a, b),
        }
    }

    /// Gives each group its number, and says what has become of its articles.
    fn settle(&mut self, slot: u32, is_new: bool, units: &[Unit], groups: &[Vec<usize>]) -> Placed {
        // Before: each article's story; now: its group.
        let mut all: Vec<(u32, u64, usize)> = Vec::new();
        for (group, members) in groups.iter().enumerate() {
            for unit in members.iter().map(|n| &units[*n]) {
                let slots = match unit.whole {
                    Some(story) => self.held.members(story),
                    None => &unit.slots,
                };
                let of = |s: &u32| Some((*s, self.held.article(*s)?.story, group));
                all.extend(slots.iter().filter_map(of));
            }
        }
        // A new article has no story yet.
        let is_told = |story: u64| !is_new || self.held.members(story) != [slot];
        let mut before: Vec<u64> = all.iter().map(|a| a.1).filter(|s| is_told(*s)).collect();
        before.sort_unstable();
        before.dedup();
        // A number goes with the article that began it, else with most of its articles; of several the oldest stays.
        let mut numbers: Vec<Vec<u64>> = vec![Vec::new(); groups.len()];
        for story in &before {
            let began = self.held.slot_of(*story);
            let began = all.iter().find(|(slot, ..)| Some(*slot) == began).map(|a| a.2);
            let most = || {
                let count = |group| all.iter().filter(|a| a.1 == *story && a.2 == group).count();
                (0..groups.len()).rev().max_by_key(|group| count(*group))
            };
            if let Some(group) = began.or_else(most) {
                numbers[group].push(*story);
            }
        }
        let number = |group: usize| {
            let docs = all.iter().filter(|a| a.2 == group);
            let first = docs.filter_map(|a| Some(self.held.article(a.0)?.doc)).min();
            numbers[group].first().copied().or(first).unwrap_or(0)
        };
        let named: Vec<u64> = (0..groups.len()).map(number).collect();
        let mut placed = Placed::default();
        for (group, numbers) in numbers.iter().enumerate() {
            placed.joined.extend(numbers.iter().skip(1).map(|from| (*from, named[group])));
        }
        for (other, story, group) in all {
            let now = named[group];
            let then = placed.joined.iter().find(|(from, _)| *from == story).map_or(story, |j| j.1);
            if other == slot {
                placed.story = now;
            } else if let Some(article) = self.held.article(other).filter(|_| then != now) {
                placed.moved.push((article.doc, now));
            }
            self.held.assign(other, now);
        }
        placed
    }

    /// The newest articles of a story in each language.
    fn sample(&self, story: u64) -> Vec<u32> {
        let mut some: BTreeMap<u16, usize> = BTreeMap::new();
        let newest = self.held.members(story).iter().rev();
        let is_wanted = |slot: &&u32| {
            let count = some.entry(self.held.tongue(**slot)).or_default();
            *count += 1;
            *count <= SAMPLE
        };
        newest.filter(is_wanted).copied().collect()
    }

    /// Takes in an article whose story is known, from what was written down before.
    pub fn restore(&mut self, doc: u64, site: &str, time: Time, gist: Gist, story: u64) {
        self.held.add(doc, site, time, gist, story);
    }

    /// An article is no longer there.
    pub fn forget(&mut self, doc: u64) {
        self.held.remove(doc);
    }
}

#[cfg(test)]
mod tests;
