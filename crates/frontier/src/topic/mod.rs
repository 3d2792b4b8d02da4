//! Topic-driven order: which link leads to a page about what is wanted.
//!
//! WIP

/// Temporary knobs.
pub(crate) fn knob(name: &'static str, usual: f32) -> f32 {
    static K: std::sync::OnceLock<HashMap<String, f32>> = std::sync::OnceLock::new();
    let all = K.get_or_init(|| std::env::vars().filter_map(|(k, v)| Some((k, v.parse().ok()?))).collect());
    all.get(name).copied().unwrap_or(usual)
}

mod aim;
mod guess;
mod page;
mod record;

use aim::Aim;
use guess::{Guess, Numbers, chance};
pub use guess::{PARTS, Part};
use record::Record;
use std::collections::{HashMap, VecDeque};

/// A word, as a number: the caller says which words are the same.
pub type Word = u32;

/// Links to one URL that are remembered.
const MOST_LINKS: usize = 4;

/// After how many pages everything that waits is scored again.
const EVERY: u32 = 8;

/// Scores within a level are the same: the earlier found comes first.
fn level_of(sum: f32) -> i32 {
    (sum * LEVELS).round() as i32
}
const LEVELS: f32 = 12.0;

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
    since: u64,
    level: Option<i32>,
}

const SITE: usize = 0;
const FOLDER: usize = 1;
const SIBLINGS: usize = 2;
const LED: usize = 3;
const LINK_WORD: u64 = 1 << 32;
const URL_WORD: u64 = 2 << 32;

impl Waiting {
    fn bare(site: u64, folder: u64) -> Self {
        Waiting { site, folder, url: Box::default(), links: Vec::new(), count: 0, since: 0, level: None }
    }
}

/// The records that a page counts in.
fn each_record(waiting: &Waiting, mut each: impl FnMut(usize, u64)) {
    each(SITE, waiting.site);
    each(FOLDER, waiting.folder);
    for link in &waiting.links {
        each(SIBLINGS, link.parent);
        link.words.iter().for_each(|word| each(LED, u64::from(*word) ^ LINK_WORD));
    }
    waiting.url.iter().for_each(|word| each(LED, u64::from(*word) ^ URL_WORD));
}

#[derive(Clone, Copy, Debug, Default)]
struct Parent {
    relevance: f32,
    /// How near the last page that was about it lies, before this page.
    way: f32,
}

/// A link that was followed, and what was found.
#[derive(Clone, Debug)]
struct Followed {
    page: u64,
    numbers: Numbers,
    waiting: Waiting,
    relevance: f32,
}

pub struct Topic {
    followed: VecDeque<Followed>,
    clock: u64,
    fresh: Vec<u64>,
    settled_at: u32,
    unsettled: u32,
    aim: Aim,
    guess: Guess,
    waiting: HashMap<u64, Waiting>,
    parents: HashMap<u64, Parent>,
    /// By site, by folder, by linking page, by word.
    records: [Record; 4],
    /// Sum and number of what was read.
    worth: f32,
    reads: f32,
}

impl Topic {
    pub fn about(words: &[Word]) -> Self {
        Topic {
            followed: VecDeque::new(),
            clock: 0,
            fresh: Vec::new(),
            settled_at: 0,
            unsettled: 0,
            aim: Aim::about(words),
            guess: Guess::default(),
            waiting: HashMap::new(),
            parents: HashMap::new(),
            records: Default::default(),
            worth: 0.5,
            reads: 2.0,
        }
    }

    pub fn like(&mut self, id: u64, text: &[Word]) {
        self.aim.like(id, text);
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
            words.iter().map(|w| self.records[LED].lean(u64::from(*w) ^ salt, usual, 3.0)).sum()
        };
        let many = waiting.links.len().max(1) as f32;
        let mut out = [0.0; PARTS];
        out[0] = 1.0;
        let mut led_sum = 0.0;
        for link in &waiting.links {
            let parent = self.parents.get(&link.parent).copied().unwrap_or_default();
            out[1] += tell(&link.words) / many;
            out[2] += tell(&link.around) / many;
            led_sum += led(&link.words, LINK_WORD) / many;
            out[5] += parent.relevance / many;
            out[6] = f32::max(out[6], parent.way);
            out[9] += self.records[SIBLINGS].lean(link.parent, usual, 3.0) / many;
        }
        out[3] = tell(&waiting.url);
        out[4] = ((led_sum + led(&waiting.url, URL_WORD)) / 2.5).tanh();
        out[7] = self.records[SITE].lean(waiting.site, usual, 6.0);
        out[8] = self.records[FOLDER].lean(waiting.folder, usual, 4.0);
        out[10] = (waiting.count.max(1) as f32).ln();
        out
    }

    /// A page was read: how much it is about the topic.
    pub fn read(&mut self, id: u64, site: u64, folder: u64, text: &[Word]) -> f32 {
        let before = self.aim.learned_at();
        let relevance = self.aim.read(id, text);
        if self.aim.learned_at() != before {
            self.revise();
        }
        let waiting = self.waiting.remove(&id).unwrap_or_else(|| Waiting::bare(site, folder));
        let numbers = self.numbers(&waiting);
        let mut way: f32 = 0.0;
        if !waiting.links.is_empty() {
            self.guess.learn(&numbers, relevance);
        }
        for link in &waiting.links {
            let parent = self.parents.get(&link.parent).copied().unwrap_or_default();
            way = way.max(0.6 * parent.relevance.max(parent.way));
        }
        each_record(&waiting, |kind, id| self.records[kind].add(id, relevance));
        self.worth += relevance;
        self.reads += 1.0;
        self.unsettled += 1;
        self.parents.insert(id, Parent { relevance, way: way.max(relevance) });
        self.followed.push_back(Followed { page: id, numbers, waiting, relevance });
        if self.followed.len() > aim::MOST_PAGES {
            self.followed.pop_front();
        }
        relevance
    }

    /// What was read is judged otherwise now: the records and the weights follow.
    fn revise(&mut self) {
        let now: HashMap<u64, f32> = self.aim.kept().map(|k| (k.id, k.relevance)).collect();
        self.guess = Guess::default();
        for followed in &mut self.followed {
            let relevance = now.get(&followed.page).copied().unwrap_or(followed.relevance);
            let by = relevance - std::mem::replace(&mut followed.relevance, relevance);
            each_record(&followed.waiting, |kind, id| self.records[kind].revise(id, by));
            self.worth += by;
            if let Some(parent) = self.parents.get_mut(&followed.page) {
                parent.way = parent.way.max(relevance);
                parent.relevance = relevance;
            }
        }
        for _ in 0..2 {
            for followed in &self.followed {
                if !followed.waiting.links.is_empty() {
                    self.guess.learn(&followed.numbers, followed.relevance);
                }
            }
        }
    }

    /// A link of a page that was read, to a URL that was not.
    pub fn link(&mut self, parent: u64, link: LinkWords<'_>) {
        self.clock += 1;
        self.fresh.push(link.target);
        let waiting = self.waiting.entry(link.target).or_insert_with(|| Waiting {
            site: link.site,
            folder: link.folder,
            url: link.url.into(),
            links: Vec::new(),
            count: 0,
            since: self.clock,
            level: None,
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

    /// Scores what may have changed; tells each URL that waits at another level than before.
    pub fn settle(&mut self) -> Vec<(u64, i32)> {
        let fresh = std::mem::take(&mut self.fresh);
        let due = EVERY + self.waiting.len() as u32 / 500;
        let all = self.aim.learned_at() > self.settled_at || self.unsettled >= due;
        let ids: Vec<u64> = match all {
            true => {
                (self.settled_at, self.unsettled) = (self.aim.learned_at(), 0);
                self.waiting.keys().copied().collect()
            }
            false => fresh,
        };
        let mut out = Vec::new();
        for id in ids {
            let Some(level) = self.waiting.get(&id).map(|w| level_of(self.guess.sum(&self.numbers(w))))
            else {
                continue;
            };
            if let Some(waiting) = self.waiting.get_mut(&id)
                && waiting.level != Some(level)
            {
                waiting.level = Some(level);
                out.push((id, level));
            }
        }
        out
    }

    /// The best.
    pub fn best(&mut self) -> Option<u64> {
        self.settle();
        self.waiting.iter().max_by_key(|(_, w)| (w.level, std::cmp::Reverse(w.since))).map(|b| *b.0)
    }

    pub fn truth(&mut self, id: u64, r: f32) {
        self.aim.truth.insert(id, r);
    }

    pub fn look(&self) -> (Vec<(u64, f32, f32, f32)>, f32, f32) {
        self.aim.look()
    }

    pub fn debug(&self) -> String {
        format!("{:?}", self.guess)
    }
}
