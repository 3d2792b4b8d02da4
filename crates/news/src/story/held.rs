//! The articles of the last days, and which marks they have.
//!
//! * What this is: articles in slots, for each mark the slots that have it, for each story its
//!   slots; how alike two articles are.
//! * Its place: [`super::Stories`] decides by it.
//! * Across languages: which share of their rare facts two articles have in common.
//! * How alike: what speaks for one event and what against it is summed up (the cosine of facts, each mark with its weight
//!   and how rare it is; what the titles say; shared numbers; names that only one has; forms; time) and made a likelihood.
//! * Invariants: what is in a slot is in all three; memory is bounded by [`MOST`].

use super::gist::{Gist, Sort};
use argiope_model::Time;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Articles that are held whatever their age.
const FEW: usize = 4_000;
/// Articles that are held at most.
const MOST: usize = 40_000;
/// How long a story is held after its newest article.
const WINDOW: i64 = 4 * DAY;
pub(super) const DAY: i64 = 86_400_000;

/// Stories that are thought to be there before the first, so that the first are not taken for all.
const BEFORE: f32 = 30.0;
/// What a name and a number count more than a word.
const NAME: f32 = 1.0;
const NUMBER: f32 = 2.0;
/// What speaks for two articles telling of one event, each between 0 and 1: how alike names and numbers are; how much of
/// the names in one's title the other says too, and of its other words and numbers; which part of the numbers of the
/// one that has fewer the other has.
const BY_FACTS: f32 = 11.6;
const BY_NAMED: f32 = 3.95;
const BY_SAID: f32 = 1.6;
const BY_NUMBERS: f32 = 1.97;
/// What such a share is taken for where there is nothing to share.
const NOTHING: f32 = 0.5;
/// What speaks against it: that the words are more alike than names and numbers (a form that is filled in anew, as in
/// weather reports), by more than a margin.
const SERIES: f32 = 11.15;
const MARGIN: f32 = 0.12;
/// That one has a name that it is about and the other lacks, or each has one, which counts against those that both
/// have; a day between them; one site, which has few reasons to tell a thing twice.
const ODD_NAME: f32 = 1.23;
const OTHER_NAMES: f32 = 1.18;
const DAYS: f32 = 1.54;
const SAME_SITE: f32 = 1.3;
/// What must be spoken for.
const DOUBT: f32 = 6.39;
/// The weight of a name that an article is about: in the title and more than once in the text,
/// or said often.
const PROMINENT: f32 = 2.3;
/// Articles that are compared with one that is new.
const CANDIDATES: usize = 32;

/// What articles of two languages must share to be compared: names, and names and numbers.
const NAMES_ABROAD: i32 = 2;
const FACTS_ABROAD: i32 = 3;
/// What it takes away there when each has a name that it is about and the other lacks.
const OTHER_NAMES_ABROAD: f32 = 0.3;
const OTHER_NUMBERS_ABROAD: f32 = 0.5;
const ODD_ABROAD: f32 = 0.5;
const PROMINENT_ABROAD: f32 = 2.0;
/// Articles of other languages that are compared with one that is new.
const ABROAD: usize = 12;
/// Articles that have a mark that is looked up in other languages, at most.
const RARE: usize = 200;
/// An article.
pub(super) struct Article {
    pub doc: u64,
    pub story: u64,
    pub time: i64,
    site: u32,
    gist: Gist,
}

/// Marks are hashes already.
#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u32(&mut self, mark: u32) {
        self.0 = u64::from(mark).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// What two articles have in common, and what each has.
#[derive(Default)]
struct Sums {
    both: f32,
    one: f32,
    other: f32,
}

impl Sums {
    fn cosine(&self) -> f32 {
        self.both / (self.one * self.other).sqrt().max(f32::MIN_POSITIVE)
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Held {
    slots: Vec<Option<Article>>,
    /// The language of each slot.
    tongues: Vec<u16>,
    free: Vec<u32>,
    by_doc: HashMap<u64, u32>,
    postings: HashMap<u32, Vec<u32>, BuildHasherDefault<AsIs>>,
    stories: HashMap<u64, Vec<u32>>,
    languages: HashMap<u16, u32>,
    /// The newest three times: the third is now. One wrong date moves nothing.
    newest: [i64; 3],
    pruned: i64,
}

impl Held {
    pub fn article(&self, slot: u32) -> Option<&Article> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub fn slot_of(&self, doc: u64) -> Option<u32> {
        self.by_doc.get(&doc).copied()
    }

    pub fn has_story(&self, story: u64) -> bool {
        self.stories.contains_key(&story)
    }

    /// The articles of a story, in the order they came in.
    pub fn members(&self, story: u64) -> &[u32] {
        self.stories.get(&story).map_or(&[], |slots| slots)
    }

    /// The language of an article.
    pub fn tongue(&self, slot: u32) -> u16 {
        self.tongues[slot as usize]
    }

    /// Takes in an article of a story.
    pub fn add(&mut self, doc: u64, site: &str, time: Time, gist: Gist, story: u64) -> u32 {
        self.remove(doc);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.tongues.push(0);
            (self.slots.len() - 1) as u32
        });
        for (mark, ..) in gist.marks() {
            self.postings.entry(mark).or_default().push(slot);
        }
        *self.languages.entry(gist.language()).or_default() += 1;
        self.by_doc.insert(doc, slot);
        self.stories.entry(story).or_default().push(slot);
        let site = site.bytes().fold(7_u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
        self.tongues[slot as usize] = gist.language();
        self.slots[slot as usize] = Some(Article { doc, story, time: time.0, site, gist });
        if let Some(at) = self.newest.iter().position(|known| time.0 > *known) {
            self.newest[at..].rotate_right(1);
            self.newest[at] = time.0;
        }
        self.prune();
        slot
    }

    /// An article is no longer there.
    pub fn remove(&mut self, doc: u64) {
        let Some(slot) = self.by_doc.remove(&doc) else { return };
        let Some(article) = self.slots[slot as usize].take() else { return };
        for (mark, ..) in article.gist.marks() {
            if let Some(posting) = self.postings.get_mut(&mark) {
                if let Some(at) = posting.iter().position(|s| *s == slot) {
                    posting.swap_remove(at);
                }
                if posting.is_empty() {
                    self.postings.remove(&mark);
                }
            }
        }
        if let Some(count) = self.languages.get_mut(&article.gist.language()) {
            *count -= 1;
        }
        if let Some(slots) = self.stories.get_mut(&article.story) {
            slots.retain(|s| *s != slot);
            if slots.is_empty() {
                self.stories.remove(&article.story);
            }
        }
        self.free.push(slot);
    }

    /// All articles of one story belong to another.
    pub fn join(&mut self, from: u64, to: u64) {
        let Some(moved) = self.stories.remove(&from) else { return };
        let kept = self.stories.entry(to).or_default();
        kept.extend(&moved);
        kept.sort_unstable();
        for slot in moved {
            if let Some(article) = &mut self.slots[slot as usize] {
                article.story = to;
            }
        }
    }

    /// Drops stories that nobody adds to any more.
    fn prune(&mut self) {
        let now = self.newest[2];
        if self.by_doc.len() <= FEW || now < self.pruned + DAY / 24 && self.by_doc.len() <= MOST {
            return;
        }
        self.pruned = now;
        let newest = |slots: &Vec<u32>| {
            slots.iter().filter_map(|s| self.article(*s)).map(|a| a.time).max().unwrap_or(0)
        };
        let mut by_age: Vec<(i64, u64)> =
            self.stories.iter().map(|(story, slots)| (newest(slots), *story)).collect();
        by_age.sort_unstable();
        let mut left = self.by_doc.len();
        for (time, story) in by_age {
            if time >= now - WINDOW && left <= MOST - MOST / 10 || left <= FEW {
                break;
            }
            let docs: Vec<u64> =
                self.members(story).iter().filter_map(|s| Some(self.article(*s)?.doc)).collect();
            left -= docs.len();
            docs.into_iter().for_each(|doc| self.remove(doc));
        }
    }

    /// How many articles there are of a language.
    fn count_of(&self, language: u16) -> f32 {
        self.languages.get(&language).copied().unwrap_or(0) as f32
    }

    /// How rare a mark is among that many articles.
    fn rarity(&self, mark: u32, count: f32) -> f32 {
        let with = self.postings.get(&mark).map_or(0, Vec::len) as f32;
        (1.0 + (count + BEFORE) / (with + 0.5)).ln()
    }

    /// The articles of its language most like one, each with its likeness, best first.
    pub fn like(&self, gist: &Gist, site: &str, time: Time, but: Option<u32>) -> Vec<(u32, f32)> {
        let site = site.bytes().fold(7_u32, |h, b| h.wrapping_mul(31).wrapping_add(u32::from(b)));
        let count = self.count_of(gist.language());
        let common = (self.by_doc.len() / 20).max(200);
        let mut sums = vec![0.0_f32; self.slots.len()];
        for (mark, weight, _) in gist.marks() {
            let Some(posting) = self.postings.get(&mark).filter(|p| p.len() <= common) else {
                continue;
            };
            let rarity = self.rarity(mark, count);
            for slot in posting {
                sums[*slot as usize] += weight * rarity * rarity;
            }
        }
        let found = sums.into_iter().enumerate().filter(|(_, sum)| *sum > 0.0);
        let mut best: Vec<(u32, f32)> = found
            .map(|(slot, sum)| (slot as u32, sum))
            .filter(|(slot, _)| Some(*slot) != but && self.tongue(*slot) == gist.language())
            .collect();
        let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if best.len() > CANDIDATES {
            best.select_nth_unstable_by(CANDIDATES, order);
        }
        best.truncate(CANDIDATES);
        for (slot, likeness) in &mut best {
            *likeness = self
                .article(*slot)
                .map_or(0.0, |other| self.likeness((gist, site, time.0), other, count));
        }
        best.sort_unstable_by(order);
        best
    }

    /// How alike two articles are that are held.
    pub fn alike(&self, a: u32, b: u32) -> f32 {
        match (self.article(a), self.article(b)) {
            (Some(a), Some(b)) => {
                let count = self.count_of(a.gist.language());
                self.likeness((&a.gist, a.site, a.time), b, count)
            }
            _ => 0.0,
        }
    }

    /// The articles of other languages that share most rare facts with one that is held.
    pub fn abroad(&self, slot: u32) -> Vec<u32> {
        let Some(article) = self.article(slot) else { return Vec::new() };
        let mut sums: HashMap<u32, f32> = HashMap::new();
        for (mark, weight, sort) in article.gist.marks() {
            let posting = self.postings.get(&mark).map_or(&[][..], |posting| posting);
            if sort == Sort::Word || posting.len() > RARE {
                continue;
            }
            for other in posting.iter().filter(|o| self.tongue(**o) != self.tongue(slot)) {
                *sums.entry(*other).or_default() += weight;
            }
        }
        let mut best: Vec<(u32, f32)> = sums.into_iter().collect();
        best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.into_iter().take(ABROAD).map(|(slot, _)| slot).collect()
    }

    /// How much of their facts two articles of different languages share: of those of the one that
    /// has fewer, since some languages write all nouns like names.
    pub fn kinship(&self, a: u32, b: u32) -> f32 {
        let (Some(a), Some(b)) = (self.article(a), self.article(b)) else { return 0.0 };
        if (a.time - b.time).abs() > 2 * DAY {
            return 0.0;
        }
        let count = self.count_of(a.gist.language()) + self.count_of(b.gist.language());
        let common = (count as usize / 20).max(40);
        let facts = |article: &Article| -> Vec<(u32, f32, Sort, f32)> {
            let facts = article.gist.marks().filter(|(_, _, sort)| *sort != Sort::Word);
            facts.map(|(m, w, sort)| (m, w * self.rarity(m, count), sort, w)).collect()
        };
        let (a, b) = (facts(a), facts(b));
        let norm = |facts: &[(u32, f32, Sort, f32)]| facts.iter().map(|f| f.1 * f.1).sum::<f32>();
        let (mut both, mut names, mut numbers) = (0.0, 0, 0);
        let mut tops = [0.0_f32; 3];
        let mut is_shared = vec![false; b.len()];
        for x in &a {
            match b.binary_search_by_key(&x.0, |y| y.0) {
                Ok(at) => {
                    let y = &b[at];
                    is_shared[at] = true;
                    both += x.1 * y.1;
                    match x.2 {
                        _ if self.postings.get(&x.0).is_some_and(|p| p.len() > common) => {}
                        Sort::Number => numbers += 1,
                        // The parts of a pair count each, so the pair takes one away.
                        Sort::Pair => names -= 1,
                        _ => names += 1,
                    }
                    if x.2.is_name() {
                        tops[2] = tops[2].max(x.1.max(y.1));
                    }
                }
                Err(_) if x.2.is_name() && x.3 >= PROMINENT_ABROAD => tops[0] = tops[0].max(x.1),
                Err(_) => {}
            }
        }
        for (y, _) in b.iter().zip(&is_shared).filter(|(y, shared)| !**shared && y.2.is_name()) {
            if y.3 >= PROMINENT_ABROAD {
                tops[1] = tops[1].max(y.1);
            }
        }
        if names < NAMES_ABROAD
            || names + numbers < FACTS_ABROAD.max(a.len().min(b.len()) as i32 / 4)
        {
            return 0.0;
        }
        let odd = tops[0].min(tops[1]) / tops[2].max(0.1);
        let some = |facts: &[(u32, f32, Sort, f32)]| {
            facts.iter().filter(|fact| fact.2 == Sort::Number).count() >= 3
        };
        let same = if numbers == 0 && some(&a) && some(&b) { OTHER_NUMBERS_ABROAD } else { 1.0 };
        same * both / norm(&a).min(norm(&b)).max(1.0)
            - OTHER_NAMES_ABROAD * (odd - ODD_ABROAD).clamp(0.0, 1.0)
    }

    /// How likely it is that two articles tell of one event.
    fn likeness(&self, (gist, site, time): (&Gist, u32, i64), other: &Article, count: f32) -> f32 {
        let days = (time - other.time).abs() as f32 / DAY as f32;
        if days > 4.0 || gist.language() != other.gist.language() {
            return 0.0;
        }
        let weigh = |(mark, weight, sort): (u32, f32, Sort)| {
            let factor = match sort {
                Sort::Word => 1.0,
                Sort::Name | Sort::Pair => NAME,
                Sort::Number => NUMBER,
            };
            (mark, weight * factor * self.rarity(mark, count), sort, weight)
        };
        let mut a = gist.marks().map(weigh).peekable();
        let mut b = other.gist.marks().map(weigh).peekable();
        // Of words, and of names and numbers: what both have, and what each has.
        let mut words = Sums::default();
        let mut facts = Sums::default();
        // The names that count most: of each what the other lacks, and of those that both have.
        let mut tops = [0.0_f32; 3];
        // How many numbers each has, and both.
        let mut numbers = [0_u32; 3];
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            let x = if order.is_le() { a.next() } else { None };
            let y = if order.is_ge() { b.next() } else { None };
            let is_fact = [x, y].iter().flatten().any(|(_, _, sort, _)| *sort != Sort::Word);
            let sums = if is_fact { &mut facts } else { &mut words };
            if let Some((_, weight, ..)) = x {
                sums.one += weight * weight;
            }
            if let Some((_, weight, ..)) = y {
                sums.other += weight * weight;
            }
            match (x, y) {
                (Some(x), Some(y)) if is_fact && x.2 != Sort::Number => {
                    tops[2] = tops[2].max(x.1.max(y.1))
                }
                (Some(x), None) if x.2.is_name() && x.3 >= PROMINENT => tops[0] = tops[0].max(x.1),
                (None, Some(y)) if y.2.is_name() && y.3 >= PROMINENT => tops[1] = tops[1].max(y.1),
                _ => {}
            }
            if let (Some(x), Some(y)) = (x, y) {
                sums.both += x.1 * y.1;
            }
            for (has, count) in [(x, 0), (y, 1), (x.and(y), 2)] {
                numbers[count] += u32::from(has.is_some_and(|mark| mark.2 == Sort::Number));
            }
        }
        let (by_words, by_facts) = (words.cosine(), facts.cosine());
        let odd = |top: f32| (top / tops[2].max(0.1)).min(2.0);
        let fewer = numbers[0].min(numbers[1]);
        let by_numbers = if fewer > 0 { numbers[2] as f32 / fewer as f32 } else { NOTHING };
        let (named, said) = self.told(gist, &other.gist, count);
        let mut sum = BY_FACTS * by_facts + BY_NUMBERS * by_numbers - DOUBT;
        sum += BY_NAMED * named + BY_SAID * said;
        sum -= SERIES * (by_words - by_facts - MARGIN).max(0.0);
        sum -= ODD_NAME * odd(tops[0].max(tops[1])) + OTHER_NAMES * odd(tops[0].min(tops[1]));
        sum -= DAYS * days;
        if site == other.site {
            sum -= SAME_SITE;
        }
        1.0 / (1.0 + (-sum).exp())
    }

    /// How much of the names in the titles of two articles stands in the other, and how much of the rest.
    fn told(&self, one: &Gist, other: &Gist, count: f32) -> (f32, f32) {
        let shares = |one: &Gist, other: &Gist| {
            let mut sums = [[0.0_f32; 2]; 2];
            for (mark, sort) in one.title() {
                let rarity = self.rarity(mark, count);
                let sums = &mut sums[usize::from(sort.is_name())];
                sums[0] += rarity * rarity;
                sums[1] += if other.has(mark) { rarity * rarity } else { 0.0 };
            }
            sums.map(|[all, both]| if all > 0.0 { both / all } else { NOTHING })
        };
        let ([said, named], [said_there, named_there]) = (shares(one, other), shares(other, one));
        ((named + named_there) / 2.0, (said + said_there) / 2.0)
    }
}
