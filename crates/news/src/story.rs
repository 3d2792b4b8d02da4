//! Stories: articles about the same event, from whatever sources, together.
//!
//! * What this is: a [`Gist`] is what is kept of an article to compare it by; [`Stories`] holds those
//!   of the last days and says of each article which story it belongs to.
//! * A story has the number of the document that began it. Two that turn out to be one are joined:
//!   the older number stays.
//! * Within a language words and facts tell; stories in different languages are joined whole, by facts
//!   and by what any language has words for. No story in another language brings two of one language together.
//! * Its place: what follows the change log calls it with one article after another.
//! * Invariants: an article that changed keeps its story; stories are joined, never parted.

mod gist;
mod held;
mod stop;
mod tongues;

pub use gist::{Gist, gist};

use argiope_model::Time;
use held::Held;
use std::collections::BTreeMap;

/// Where an article belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// The number of its story.
    pub story: u64,
    /// Stories that turned out to be this one.
    pub joined: Vec<u64>,
}

/// The stories of the last days.
#[derive(Default)]
pub struct Stories {
    held: Held,
}

/// How likely an article and the closest articles of its story must be of one event, on average.
const ENOUGH: f32 = 0.46;
/// How likely that must be for the articles of two stories that are one.
const ENOUGH_TO_JOIN: f32 = 0.7;
/// How likely that must be for stories in different languages.
const ENOUGH_ABROAD: f32 = 0.45;
/// Articles of a story that an article is compared with: those that are most like it.
const CLOSEST: usize = 3;
/// Articles of each of two stories that are compared.
const SAMPLE: usize = 6;

impl Stories {
    /// Takes in an article, new or changed; `time` is when it was published.
    ///
    /// A changed article keeps its story. If it may be older than what is held, it is to be
    /// given back by [`Stories::restore`] first.
    pub fn put(&mut self, doc: u64, site: &str, time: Time, gist: Gist) -> Placed {
        let own = self.held.slot_of(doc);
        let mut known = own.and_then(|slot| self.held.article(slot)).map(|article| article.story);
        // One that comes back returns to the story that it began.
        if known.is_none() && self.held.has_story(doc) {
            known = Some(doc);
        }
        // Rare is what few have, this one among them: it is compared when it is held.
        let slot = self.held.add(doc, site, time, gist, known.unwrap_or(doc));
        let near = self.fitting(&self.held.like(slot), self.held.tongue(slot));
        let story = known.or(near.first().copied()).unwrap_or(doc);
        self.held.assign(slot, story);
        let mut placed = Placed { story, joined: Vec::new() };
        for other in near {
            if other != placed.story && self.are_one(placed.story, other) {
                self.join(&mut placed, other);
            }
        }
        for other in self.abroad(slot, placed.story) {
            if self.kinship(placed.story, other) >= ENOUGH_ABROAD {
                self.join(&mut placed, other);
            }
        }
        placed
    }

    /// Takes in an article whose story is known, from what was written down before.
    pub fn restore(&mut self, doc: u64, site: &str, time: Time, gist: Gist, story: u64) {
        self.held.add(doc, site, time, gist, story);
    }

    /// An article is no longer there.
    pub fn forget(&mut self, doc: u64) {
        self.held.remove(doc);
    }

    /// The stories that fit an article, by the articles that are like it, best first.
    fn fitting(&self, like: &[(u32, f32)], language: u16) -> Vec<u64> {
        // The best come first, so the first of a story are its closest.
        let mut found: Vec<(u64, f32, usize)> = Vec::new();
        for (slot, likeness) in like {
            let Some(story) = self.held.article(*slot).map(|article| article.story) else {
                continue;
            };
            match found.iter_mut().find(|(known, ..)| *known == story) {
                Some((_, sum, count)) if *count < CLOSEST => {
                    *sum += likeness;
                    *count += 1;
                }
                Some(_) => {}
                None => found.push((story, *likeness, 1)),
            }
        }
        let mut fit: Vec<(u64, f32)> = found
            .into_iter()
            .map(|(story, sum, _)| {
                let members = self.held.members(story).iter();
                let count = members.filter(|slot| self.held.tongue(**slot) == language).count();
                (story, sum / count.clamp(1, CLOSEST) as f32)
            })
            .filter(|(_, fit)| *fit >= ENOUGH)
            .collect();
        fit.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        fit.into_iter().map(|(story, _)| story).collect()
    }

    fn join(&mut self, placed: &mut Placed, other: u64) {
        let (kept, gone) = (placed.story.min(other), placed.story.max(other));
        self.held.join(gone, kept);
        placed.story = kept;
        placed.joined.push(gone);
    }

    /// Whether two stories are one: in each language that both have, their newest articles are
    /// alike on average.
    fn are_one(&self, one: u64, other: u64) -> bool {
        let (a, b) = (self.by_language(one), self.by_language(other));
        let mut shared =
            a.iter().filter_map(|(language, x)| Some((x, b.get(language)?))).peekable();
        shared.peek().is_some()
            && shared.all(|(x, y)| mean(x, y, |x, y| self.held.alike(x, y)) >= ENOUGH_TO_JOIN)
    }

    /// The stories in other languages that may be the one of an article, best first.
    fn abroad(&self, slot: u32, story: u64) -> Vec<u64> {
        let found = self.held.abroad(slot).into_iter();
        let mut found: Vec<u64> =
            found.filter_map(|slot| Some(self.held.article(slot)?.story)).collect();
        found.sort_unstable();
        found.dedup();
        let mut found: Vec<(u64, f32)> =
            found.into_iter().map(|other| (other, self.kinship(story, other))).collect();
        found.retain(|(_, kinship)| *kinship > 0.0);
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found.into_iter().map(|(story, _)| story).collect()
    }

    /// How alike two stories are that have no language in common: no story in another language
    /// brings two of one language together.
    fn kinship(&self, one: u64, other: u64) -> f32 {
        let (a, b) = (self.by_language(one), self.by_language(other));
        if a.keys().any(|language| b.contains_key(language)) {
            return 0.0;
        }
        let pairs = a.values().flat_map(|x| b.values().map(move |y| (x, y)));
        let each = pairs.map(|(x, y)| mean(x, y, |x, y| self.held.kinship(x, y)));
        each.sum::<f32>() / (a.len() * b.len()).max(1) as f32
    }

    /// The newest articles of a story in each language.
    fn by_language(&self, story: u64) -> BTreeMap<u16, Vec<u32>> {
        let mut out: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        for slot in self.held.members(story).iter().rev() {
            let some = out.entry(self.held.tongue(*slot)).or_default();
            if some.len() < SAMPLE {
                some.push(*slot);
            }
        }
        out
    }
}

/// The mean over all pairs.
fn mean(one: &[u32], other: &[u32], alike: impl Fn(u32, u32) -> f32) -> f32 {
    let pairs = one.iter().flat_map(|x| other.iter().map(|y| (*x, *y)));
    pairs.map(|(x, y)| alike(x, y)).sum::<f32>() / (one.len() * other.len()) as f32
}

#[cfg(test)]
mod tests;
