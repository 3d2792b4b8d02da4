//! What a crawl is about, and how much a page is.
//!
//! The aim is given as a few words or as example pages. Few words are not enough to know a topic by,
//! so the pages that hold them teach the others that go with them. All remembered pages are judged
//! again whenever that is learned anew: an early mistake does not stay, and the given words
//! always keep their say.

use super::Word;
use super::page::{Bag, Direction, Known};
use argiope_model::UrlKey;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet, VecDeque};

/// Pages that are remembered to learn from.
pub(super) const MOST_PAGES: usize = 1500;
/// Words that the learned half of the aim has.
const LEARNED_WORDS: usize = 120;
/// Most words that example pages give.
const EXAMPLE_WORDS: usize = 120;
/// How often good pages and the words they share are worked out from each other.
const ROUNDS: usize = 2;
/// Likeness counts by this power: a page that is twice as much alike is not twice as much about it.
const BEND: f32 = 0.7;
/// As how many pages an example counts.
const EXAMPLE: f32 = 2.0;

/// A page that is remembered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub key: UrlKey,
    pub bag: Bag,
    pub relevance: f32,
}

/// What is wanted, and what was learned of it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Aim {
    /// Each given word in its forms.
    given: Vec<Vec<Word>>,
    examples: Vec<Bag>,
    /// The example pages, where they lie in the web that is read.
    same: HashSet<UrlKey>,
    pub known: Known,
    pages: VecDeque<Kept>,
    /// Pages read when it was last learned.
    learned_at: u32,
    wanted: Direction,
    learned: Direction,
    /// What good pages reach.
    wanted_good: f32,
    learned_good: f32,
    /// How much of the say what was learned has.
    trust: f32,
    /// Where pages that are about it part from others, and how sharply.
    border: f32,
    slope: f32,
    /// For words met on pages: whether they speak for or against.
    telling: HashMap<Word, f32>,
}

impl Aim {
    pub fn about(words: Vec<Vec<Word>>) -> Self {
        let mut aim = Aim { given: words, border: 0.5, slope: 0.1, ..Aim::default() };
        aim.point();
        aim
    }

    /// An example page was read.
    pub fn like(&mut self, key: UrlKey, text: &[Word]) {
        let bag = Bag::of(text);
        self.examples.push(bag);
        self.same.insert(key);
        self.point();
        self.learn();
    }

    /// Where the given words and the examples point.
    fn point(&mut self) {
        let mut weights: HashMap<Word, f32> = HashMap::new();
        for bag in &self.examples {
            let mut own: Vec<(Word, f32)> = Vec::new();
            own.extend(bag.words.iter().map(|(w, n)| (*w, n * self.known.rarity(*w))));
            let length = own.iter().map(|(_, w)| w * w).sum::<f32>().sqrt().max(1e-9);
            for (word, weight) in own {
                *weights.entry(word).or_default() += weight / length / self.examples.len() as f32;
            }
        }
        // Of the forms of a word those count that pages have.
        let mut given: Vec<Word> = Vec::new();
        for forms in &self.given {
            let met = forms.iter().copied().filter(|form| self.known.has(*form));
            let before = given.len();
            given.extend(met);
            if given.len() == before {
                given.extend(forms.first());
            }
        }
        given.sort_unstable();
        given.dedup();
        let lots = given.iter().map(|w| self.known.rarity(*w).powi(2)).sum::<f32>().sqrt();
        for word in &given {
            *weights.entry(*word).or_default() += self.known.rarity(*word) / lots.max(1e-9);
        }
        self.wanted = Direction::of(weights, EXAMPLE_WORDS.max(self.given.len()));
    }

    /// How much a page is about it: the part of the given words, and of the learned ones.
    fn parts(&self, bag: &Bag) -> (f32, f32) {
        let wanted = self.wanted.likeness(bag, &self.known) / self.wanted_good.max(1e-3);
        let learned = match self.trust > 0.0 {
            true => self.learned.likeness(bag, &self.known) / self.learned_good.max(1e-3),
            false => 0.0,
        };
        (wanted.powf(BEND).min(1.5), learned.powf(BEND).min(1.5))
    }

    fn mixed(&self, (wanted, learned): (f32, f32)) -> f32 {
        (1.0 - self.trust) * wanted + self.trust * learned
    }

    fn relevance_of(&self, mixed: f32) -> f32 {
        1.0 / (1.0 + (-(mixed - self.border) / self.slope).exp())
    }

    /// A page was read: how much it is about it, 0 to 1.
    pub fn read(&mut self, key: UrlKey, text: &[Word]) -> f32 {
        let bag = Bag::of(text);
        self.known.add(&bag);
        self.wanted_good = self.wanted_good.max(0.5 * self.wanted.likeness(&bag, &self.known));
        let relevance = self.relevance_of(self.mixed(self.parts(&bag)));
        self.pages.push_back(Kept { key, bag, relevance });
        if self.pages.len() > MOST_PAGES {
            self.pages.pop_front();
        }
        let since = self.known.pages - self.learned_at;
        if since >= (self.known.pages / 5).clamp(1, 150) {
            self.learn();
        }
        self.pages.back().map_or(0.0, |kept| kept.relevance)
    }

    /// Judges all remembered pages again and learns from them which words go with the given ones.
    pub fn learn(&mut self) {
        self.learned_at = self.known.pages;
        if self.pages.is_empty() {
            return;
        }
        self.point();
        self.trust = 0.0;
        self.wanted_good = 1.0;
        let plain: Vec<f32> =
            self.others().map(|kept| self.wanted.likeness(&kept.bag, &self.known)).collect();
        self.wanted_good = best_of(&plain);
        self.judge(true);
        for _ in 0..ROUNDS {
            let good: f32 = self.pages.iter().map(|kept| kept.relevance).sum();
            let good = good + EXAMPLE * self.examples.len() as f32;
            self.trust = 0.8 * (good / (good + 3.0));
            self.relearn();
            self.judge(true);
        }
        self.judge(false);
        self.tell();
    }

    /// The remembered pages that are not examples: these are too much alike themselves.
    fn others(&self) -> impl Iterator<Item = &Kept> {
        self.pages.iter().filter(|kept| !self.same.contains(&kept.key))
    }

    /// The relevance of all remembered pages. To learn from, only those count that are surely about
    /// it; in the end those too that stand out from the rest.
    fn judge(&mut self, surely: bool) {
        let mixed: Vec<f32> =
            self.pages.iter().map(|kept| self.mixed(self.parts(&kept.bag))).collect();
        let others: Vec<f32> =
            self.others().map(|kept| self.mixed(self.parts(&kept.bag))).collect();
        let (low, spread, high) = halves(&others);
        let way = high - low;
        self.border =
            low + if surely { 0.5 * way } else { (2.5 * spread).clamp(0.35 * way, 0.5 * way) };
        self.slope = ((self.border - low) / 4.0).max(0.02);
        for (n, mixed) in mixed.into_iter().enumerate() {
            self.pages[n].relevance = self.relevance_of(mixed);
        }
    }

    /// The direction of the good pages, away from the others.
    fn relearn(&mut self) {
        let mut weights: HashMap<Word, f32> = HashMap::new();
        let sure = EXAMPLE * self.examples.len() as f32;
        let good: f32 = self.pages.iter().map(|kept| kept.relevance).sum();
        let bad = self.pages.len() as f32 - good;
        for kept in &self.pages {
            let length = kept.bag.words.iter().map(|(w, n)| (n * self.known.rarity(*w)).powi(2));
            let length = length.sum::<f32>().sqrt().max(1e-9);
            let share = kept.relevance / (good + 0.5 + sure) - (1.0 - kept.relevance) / (bad + 0.5);
            for (word, count) in &kept.bag.words {
                *weights.entry(*word).or_default() +=
                    share * count * self.known.rarity(*word) / length;
            }
        }
        for bag in &self.examples {
            let length = bag.words.iter().map(|(w, n)| (n * self.known.rarity(*w)).powi(2));
            let length = length.sum::<f32>().sqrt().max(1e-9);
            for (word, count) in &bag.words {
                *weights.entry(*word).or_default() +=
                    EXAMPLE / (good + 0.5 + sure) * count * self.known.rarity(*word) / length;
            }
        }
        self.learned = Direction::of(weights, LEARNED_WORDS);
        let likeness: Vec<f32> =
            self.others().map(|kept| self.learned.likeness(&kept.bag, &self.known)).collect();
        self.learned_good = best_of(&likeness);
    }

    /// Which words speak for and against, for links.
    fn tell(&mut self) {
        let mut counts: HashMap<Word, (f32, f32)> = HashMap::new();
        let good: f32 = self.pages.iter().map(|kept| kept.relevance).sum();
        let sure = EXAMPLE * self.examples.len() as f32;
        let (good, all) = (good + sure, self.pages.len() as f32 + sure);
        for bag in &self.examples {
            for (word, _) in &bag.words {
                counts.entry(*word).or_default().0 += EXAMPLE;
            }
        }
        for kept in &self.pages {
            for (word, _) in &kept.bag.words {
                let (on, off) = counts.entry(*word).or_default();
                *on += kept.relevance;
                *off += 1.0 - kept.relevance;
            }
        }
        self.telling = counts
            .into_iter()
            .filter(|(_, (on, off))| on + off >= 2.0)
            .map(|(word, (on, off))| {
                let usual = (on + off) / all;
                let doubt = 2.0;
                let for_it = (on + doubt * usual) / (good + doubt);
                let against = (off + doubt * usual) / (all - good + doubt);
                (word, (for_it / against).ln().clamp(-3.0, 3.0))
            })
            .collect();
    }

    /// Whether a word of a link speaks for (above 0) or against what is wanted.
    pub fn telling(&self, word: Word) -> f32 {
        let own = if self.given.iter().any(|forms| forms.contains(&word)) { 2.0 } else { 0.0 };
        let learned = self.telling.get(&word).copied().unwrap_or(0.0);
        let example = match self.wanted.weight(word) {
            weight if weight > 0.0 && own == 0.0 && learned == 0.0 => 4.0 * weight,
            _ => 0.0,
        };
        if own > 0.0 { learned.max(0.0).max(own) } else { learned + example }
    }

    /// How many pages had been read when it was last learned.
    pub fn learned_at(&self) -> u32 {
        self.learned_at
    }

    pub fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.pages.iter()
    }
}

/// What good ones reach: the mean of the best twentieth, three at least.
fn best_of(values: &[f32]) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let most = (sorted.len() / 100).max(3).min(sorted.len()).max(1);
    sorted.iter().take(most).sum::<f32>() / most as f32
}

/// Parts values into low and high ones: the mean of the low ones, how far they spread, and the mean
/// of the high ones.
fn halves(values: &[f32]) -> (f32, f32, f32) {
    let top = best_of(values).max(0.1);
    let (mut low, mut spread, mut high) = (0.0, 0.0, top);
    for _ in 0..12 {
        let border = 0.5 * (low + high);
        let (mut sums, mut squares, mut counts) = ([0.0f32; 2], 0.0, [0.0f32; 2]);
        for value in values {
            let side = usize::from(*value > border);
            sums[side] += value;
            counts[side] += 1.0;
            squares += if side == 0 { value * value } else { 0.0 };
        }
        low = if counts[0] > 0.0 { sums[0] / counts[0] } else { 0.0 };
        high = if counts[1] > 0.0 { sums[1] / counts[1] } else { top };
        spread =
            if counts[0] > 0.0 { (squares / counts[0] - low * low).max(0.0).sqrt() } else { 0.0 };
    }
    (low, spread, high)
}
