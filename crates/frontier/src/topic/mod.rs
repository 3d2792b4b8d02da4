//! Topic-driven order: which link leads to a page about what is wanted.
//!
//! WIP

mod aim;
mod guess;
mod page;
mod record;

use aim::Aim;
use guess::{Guess, Numbers, chance};
pub use guess::{PARTS, Part};
use record::Record;
use std::collections::HashMap;

/// A word, as a number: the caller says which words are the same.
pub type Word = u32;

/// Links to one URL that are remembered.
const MOST_LINKS: usize = 4;

/// What is told of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkWords<'a> {
    /// The URL behind it.
    pub target: u64,
    pub site: u64,
    pub folder: u64,
    pub words: &'a [Word],
    pub around: &'a [Word],
    pub url: &'a [Word],
}

#[derive(Clone, Debug)]
struct InLink {
    parent: u64,
    words: Box<[Word]>,
    around: Box<[Word]>,
}

#[derive(Clone, Debug)]
struct Waiting {
    site: u64,
    folder: u64,
    url: Box<[Word]>,
    links: Vec<InLink>,
    count: u32,
    score: f32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Parent {
    relevance: f32,
    /// How near the last page that was about it lies, before this page.
    way: f32,
}

pub struct Topic {
    aim: Aim,
    guess: Guess,
    waiting: HashMap<u64, Waiting>,
    parents: HashMap<u64, Parent>,
    sites: Record,
    folders: Record,
    siblings: Record,
    led: Record,
    /// Sum and number of what was read.
    worth: f32,
    reads: f32,
}

impl Topic {
    pub fn about(words: &[Word]) -> Self {
        Topic {
            aim: Aim::about(words),
            guess: Guess::default(),
            waiting: HashMap::new(),
            parents: HashMap::new(),
            sites: Record::default(),
            folders: Record::default(),
            siblings: Record::default(),
            led: Record::default(),
            worth: 0.5,
            reads: 2.0,
        }
    }

    pub fn like(&mut self, text: &[Word]) {
        self.aim.like(text);
    }

    fn usual(&self) -> f32 {
        self.worth / self.reads
    }

    fn numbers(&self, waiting: &Waiting) -> Numbers {
        let usual = self.usual();
        let tell = |words: &[Word]| {
            let sum: f32 = words.iter().map(|word| self.aim.telling(*word)).sum();
            (sum / 2.5).tanh()
        };
        let led = |words: &[Word], salt: u64| -> f32 {
            words.iter().map(|w| self.led.lean(u64::from(*w) ^ salt, usual, 3.0)).sum()
        };
        let many = waiting.links.len().max(1) as f32;
        let mut out = [0.0; PARTS];
        out[0] = 1.0;
        let mut led_sum = 0.0;
        for link in &waiting.links {
            let parent = self.parents.get(&link.parent).copied().unwrap_or_default();
            out[1] += tell(&link.words) / many;
            out[2] += tell(&link.around) / many;
            led_sum += led(&link.words, 1 << 32) / many;
            out[5] += parent.relevance / many;
            out[6] = f32::max(out[6], parent.way);
            out[9] += self.siblings.lean(link.parent, usual, 3.0) / many;
        }
        out[3] = tell(&waiting.url);
        out[4] = ((led_sum + led(&waiting.url, 2 << 32)) / 2.5).tanh();
        out[7] = self.sites.lean(waiting.site, usual, 6.0);
        out[8] = self.folders.lean(waiting.folder, usual, 4.0);
        out[10] = (waiting.count.max(1) as f32).ln();
        out
    }

    /// A page was read: how much it is about the topic.
    pub fn read(&mut self, id: u64, site: u64, folder: u64, text: &[Word]) -> f32 {
        let before = self.aim.learned_at();
        let relevance = self.aim.read(id, text);
        let waiting = self.waiting.remove(&id);
        let mut way: f32 = 0.0;
        if let Some(waiting) = &waiting {
            let numbers = self.numbers(waiting);
            self.guess.learn(&numbers, relevance);
            for link in &waiting.links {
                self.siblings.add(link.parent, relevance);
                for word in &link.words {
                    self.led.add(u64::from(*word) ^ 1 << 32, relevance);
                }
                let parent = self.parents.get(&link.parent).copied().unwrap_or_default();
                way = way.max(0.6 * parent.relevance.max(parent.way));
            }
            for word in &waiting.url {
                self.led.add(u64::from(*word) ^ 2 << 32, relevance);
            }
        }
        self.sites.add(site, relevance);
        self.folders.add(folder, relevance);
        self.worth += relevance;
        self.reads += 1.0;
        self.parents.insert(id, Parent { relevance, way: way.max(relevance) });
        if self.aim.learned_at() != before {
            for kept in self.aim.kept() {
                if let Some(parent) = self.parents.get_mut(&kept.id) {
                    parent.way = parent.way.max(kept.relevance);
                    parent.relevance = kept.relevance;
                }
            }
        }
        relevance
    }

    /// A link of a page that was read, to a URL that was not.
    pub fn link(&mut self, parent: u64, link: LinkWords<'_>) {
        let waiting = self.waiting.entry(link.target).or_insert_with(|| Waiting {
            site: link.site,
            folder: link.folder,
            url: link.url.into(),
            links: Vec::new(),
            count: 0,
            score: 0.0,
        });
        waiting.count += 1;
        if waiting.links.len() < MOST_LINKS {
            let (words, around) = (link.words.into(), link.around.into());
            waiting.links.push(InLink { parent, words, around });
        }
    }

    /// The chance that a URL that waits is about it.
    pub fn score(&self, id: u64) -> Option<f32> {
        let waiting = self.waiting.get(&id)?;
        Some(chance(self.guess.sum(&self.numbers(waiting))))
    }

    /// Scores everything that waits; the best.
    pub fn best(&mut self) -> Option<u64> {
        let scored: Vec<(u64, f32)> =
            self.waiting.keys().map(|id| (*id, self.score(*id).unwrap_or(0.0))).collect();
        scored.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))).map(|b| b.0)
    }

    pub fn debug(&self) -> String {
        format!("{:?}", self.guess)
    }
}
