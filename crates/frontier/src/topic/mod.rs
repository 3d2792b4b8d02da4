//! Topic-driven order: which links lead to pages about what is wanted.
//!
//! * What this is: [`Topic`] holds what a crawl is about, judges every page that is read, and says of every
//!   URL that waits how likely a page about it lies behind it.
//!
//! ```text
//!  given words, example pages ──▶ aim: how much is a page about it? ◀── pages read
//!                                        │ which words speak for it
//!                                        ▼
//!  links: words, text around, URL ──▶ numbers ──▶ guess ──▶ score of a queued URL
//!  linking pages, sites, folders         ▲          ▲
//!                                        └──────────┴── what was behind the links followed so far
//! ```
//!
//! * Its place: the engine tells it of pages in the order in which they are committed, takes the scores
//!   from [`Topic::settle`] and has rows moved. `explain` asks for the [`Part`]s of a score.
//! * What is learned: words that go with the given ones (`aim`); whether words, sites, folders and the links
//!   of a page led anywhere so far (`record`); how much each of these is worth (`guess`). When pages are judged
//!   otherwise than before, everything that was learned from them follows.
//! * Invariants: what is remembered is bounded; a URL that is forgotten stays where it is in the queue.
//!   The same calls in the same order give the same scores.
//! * What is not here: what a word is (the caller gives numbers), places, the queue.

mod aim;
mod guess;
mod page;
mod record;
#[cfg(test)]
mod tests;

use crate::order::Score;
use aim::Aim;
use argiope_model::UrlKey;
use guess::{Guess, Numbers};
pub use guess::{PARTS, Part};
use record::Record;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A word, as a number: the caller says which words are the same.
pub type Word = u32;

/// Links to one URL that are remembered.
const MOST_LINKS: usize = 4;
/// Words of a link, of the text around it and of a URL that are remembered.
const MOST_WORDS: usize = 24;
/// URLs that are remembered while they wait.
const MOST_WAITING: usize = 20_000;
/// Pages that were read and of which something is remembered.
const MOST_READ: usize = 200_000;
/// After how many pages everything that waits is scored again; more where much waits.
const EVERY: u32 = 8;
/// A score is told anew when it has changed by this much.
const NEWS: f32 = 0.25;
/// Sums beyond this are as good or as bad as any.
const WIDEST: f32 = 6.0;
/// What is left of the nearness of a page about it, link by link.
const FADING: f32 = 0.6;

/// What is told of a link.
#[derive(Clone, Copy, Debug)]
pub struct LinkWords<'a> {
    /// The URL behind it.
    pub target: UrlKey,
    /// The folder that lies in.
    pub folder: u64,
    /// The words of the link.
    pub words: &'a [Word],
    /// The text around it.
    pub around: &'a [Word],
    /// The words of the URL.
    pub url: &'a [Word],
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct InLink {
    page: UrlKey,
    words: Box<[Word]>,
    around: Box<[Word]>,
}

/// A URL that waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Waiting {
    folder: u64,
    url: Box<[Word]>,
    links: Vec<InLink>,
    /// Links that lead to it.
    count: u32,
    /// The sum that was told last.
    told: Option<f32>,
}

/// A page that was read.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Read {
    relevance: f32,
    /// How near a page about it lies on the way here, this one included.
    way: f32,
}

/// A link that was followed, and what was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Followed {
    page: UrlKey,
    numbers: Numbers,
    waiting: Waiting,
    relevance: f32,
}

/// What a crawl is about, and what it has learned of that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Topic {
    aim: Aim,
    guess: Guess,
    /// In the order of their keys, so that the same calls do the same.
    waiting: BTreeMap<UrlKey, Waiting>,
    read: HashMap<UrlKey, Read>,
    followed: VecDeque<Followed>,
    /// By site, by folder, by linking page, by word.
    records: [Record; 4],
    /// How good pages were together, and how many they are.
    worth: f32,
    pages: f32,
    /// URLs to be scored again.
    fresh: Vec<UrlKey>,
    /// Pages since everything was scored again.
    unsettled: u32,
}

const SITE: usize = 0;
const FOLDER: usize = 1;
const SIBLINGS: usize = 2;
const LED: usize = 3;
const LINK_WORD: u64 = 1 << 32;
const URL_WORD: u64 = 2 << 32;

/// The records that a page counts in.
fn each_record(page: UrlKey, waiting: &Waiting, mut each: impl FnMut(usize, u64)) {
    each(SITE, host_of(page));
    each(FOLDER, waiting.folder);
    for link in &waiting.links {
        each(SIBLINGS, number_of(link.page));
        link.words.iter().for_each(|word| each(LED, u64::from(*word) | LINK_WORD));
    }
    waiting.url.iter().for_each(|word| each(LED, u64::from(*word) | URL_WORD));
}

fn host_of(key: UrlKey) -> u64 {
    u64::from_be_bytes(key.host.to_bytes())
}

fn number_of(key: UrlKey) -> u64 {
    key.url ^ host_of(key).rotate_left(29)
}

impl Topic {
    /// About words, each given in its forms; there may be none where examples follow.
    pub fn about(words: Vec<Vec<Word>>) -> Self {
        Topic {
            aim: Aim::about(words),
            guess: Guess::default(),
            waiting: BTreeMap::new(),
            read: HashMap::new(),
            followed: VecDeque::new(),
            records: Default::default(),
            worth: 0.5,
            pages: 2.0,
            fresh: Vec::new(),
            unsettled: 0,
        }
    }

    /// An example was read.
    pub fn like(&mut self, page: UrlKey, text: &[Word]) {
        self.aim.like(page, text);
        self.revise();
    }

    /// A page was read: how much it is about the topic, 0 to 1.
    pub fn read(&mut self, page: UrlKey, folder: u64, text: &[Word]) -> f32 {
        let before = self.aim.learned_at();
        let relevance = self.aim.read(page, text);
        if self.aim.learned_at() != before {
            self.revise();
        }
        let bare = || Waiting { folder, ..Waiting::default() };
        let waiting = self.waiting.remove(&page).unwrap_or_else(bare);
        let numbers = self.numbers(page, &waiting);
        if !waiting.links.is_empty() {
            self.guess.learn(&numbers, relevance);
        }
        let nearness = |link: &InLink| self.read_of(link.page).way;
        let way = FADING * waiting.links.iter().map(nearness).fold(0.0, f32::max);
        each_record(page, &waiting, |kind, id| self.records[kind].add(id, relevance));
        self.worth += relevance;
        self.pages += 1.0;
        self.unsettled += 1;
        self.remember(page, Read { relevance, way: way.max(relevance) });
        self.followed.push_back(Followed { page, numbers, waiting, relevance });
        if self.followed.len() > aim::MOST_PAGES {
            self.followed.pop_front();
        }
        relevance
    }

    /// A URL will not be read: it failed, leads elsewhere, or is no text.
    pub fn gone(&mut self, page: UrlKey) {
        self.waiting.remove(&page);
        self.remember(page, Read::default());
    }

    /// A link of a page that was read.
    pub fn link(&mut self, page: UrlKey, link: LinkWords<'_>) {
        if self.read.contains_key(&link.target) {
            return;
        }
        if self.waiting.len() >= MOST_WAITING && !self.waiting.contains_key(&link.target) {
            self.forget_the_worst();
        }
        let most = |words: &[Word]| words.iter().copied().take(MOST_WORDS).collect();
        let waiting = self.waiting.entry(link.target).or_insert_with(|| Waiting {
            folder: link.folder,
            url: most(link.url),
            ..Waiting::default()
        });
        waiting.count += 1;
        if waiting.links.len() < MOST_LINKS {
            let (words, around) = (most(link.words), most(link.around));
            waiting.links.push(InLink { page, words, around });
        }
        self.fresh.push(link.target);
    }

    /// Scores what may have changed, and tells what is news.
    pub fn settle(&mut self) -> Vec<(UrlKey, Score)> {
        let due = EVERY + self.waiting.len() as u32 / 500;
        let mut keys = std::mem::take(&mut self.fresh);
        if self.unsettled >= due {
            self.unsettled = 0;
            keys = self.waiting.keys().copied().collect();
        }
        let mut out = Vec::new();
        for key in keys {
            let Some(waiting) = self.waiting.get(&key) else { continue };
            let sum = self.guess.sum(&self.numbers(key, waiting));
            let news = |told: f32| (told - sum).abs() >= NEWS;
            if let Some(waiting) = self.waiting.get_mut(&key).filter(|w| w.told.is_none_or(news)) {
                waiting.told = Some(sum);
                out.push((key, score_of(sum)));
            }
        }
        out
    }

    /// The score that was told last of a URL that waits.
    pub fn score(&self, key: UrlKey) -> Option<Score> {
        self.waiting.get(&key)?.told.map(score_of)
    }

    /// What the score of a URL that waits is made of: each part adds to a sum, and from
    /// that comes the chance.
    pub fn parts(&self, key: UrlKey) -> Option<Vec<(Part, f32)>> {
        let waiting = self.waiting.get(&key)?;
        let parts = self.guess.parts(&self.numbers(key, waiting));
        Some(Part::ALL.into_iter().zip(parts).collect())
    }

    /// How much a page that was read is about it, as far as is remembered.
    pub fn relevance(&self, key: UrlKey) -> Option<f32> {
        self.read.get(&key).map(|read| read.relevance)
    }

    fn read_of(&self, key: UrlKey) -> Read {
        self.read.get(&key).copied().unwrap_or_default()
    }

    fn remember(&mut self, page: UrlKey, read: Read) {
        if self.read.len() >= MOST_READ {
            self.read.retain(|_, read| read.way > 0.3);
            if self.read.len() >= MOST_READ {
                self.read.clear();
            }
        }
        self.read.insert(page, read);
    }

    /// What was read is judged otherwise now: the records and the weights follow.
    fn revise(&mut self) {
        let now: HashMap<UrlKey, f32> = self.aim.kept().map(|k| (k.key, k.relevance)).collect();
        self.guess = Guess::default();
        for followed in &mut self.followed {
            let relevance = now.get(&followed.page).copied().unwrap_or(followed.relevance);
            let by = relevance - std::mem::replace(&mut followed.relevance, relevance);
            let revise = |kind: usize, id| self.records[kind].revise(id, by);
            each_record(followed.page, &followed.waiting, revise);
            self.worth += by;
            if let Some(read) = self.read.get_mut(&followed.page) {
                read.way = read.way.max(relevance);
                read.relevance = relevance;
            }
        }
        for _ in 0..2 {
            for followed in self.followed.iter().filter(|f| !f.waiting.links.is_empty()) {
                self.guess.learn(&followed.numbers, followed.relevance);
            }
        }
        self.unsettled = u32::MAX / 2;
    }

    /// What is known of a URL that waits, in numbers.
    fn numbers(&self, key: UrlKey, waiting: &Waiting) -> Numbers {
        let usual = self.worth / self.pages;
        let tell = |words: &[Word]| {
            (words.iter().map(|word| self.aim.telling(*word)).sum::<f32>() / 2.5).tanh()
        };
        let lean = |kind: usize, id: u64, doubt: f32| self.records[kind].lean(id, usual, doubt);
        let led = |words: &[Word], kind: u64| -> f32 {
            words.iter().map(|word| lean(LED, u64::from(*word) | kind, 3.0)).sum()
        };
        let (mut words, mut around, mut parent) = (0.0, 0.0, 0.0);
        let (mut way, mut siblings, mut such) = (0.0f32, 0.0, 0.0);
        let each = 1.0 / waiting.links.len().max(1) as f32;
        for link in &waiting.links {
            let read = self.read_of(link.page);
            words += each * tell(&link.words);
            around += each * tell(&link.around);
            parent += each * read.relevance;
            way = way.max(read.way);
            siblings += each * lean(SIBLINGS, number_of(link.page), 3.0);
            such += each * led(&link.words, LINK_WORD);
        }
        Part::ALL.map(|part| match part {
            Part::Base => 1.0,
            Part::Words => words,
            Part::Around => around,
            Part::Url => tell(&waiting.url),
            Part::Led => ((such + led(&waiting.url, URL_WORD)) / 2.5).tanh(),
            Part::Parent => parent,
            Part::Way => way,
            Part::Site => lean(SITE, host_of(key), 6.0),
            Part::Folder => lean(FOLDER, waiting.folder, 4.0),
            Part::Siblings => siblings,
            Part::Links => (waiting.count.max(1) as f32).ln(),
        })
    }

    /// Half of what waits is forgotten: those with the lowest scores.
    fn forget_the_worst(&mut self) {
        let mut told: Vec<f32> = self.waiting.values().filter_map(|w| w.told).collect();
        told.sort_unstable_by(f32::total_cmp);
        let middle = told.get(told.len() / 2).copied().unwrap_or(0.0);
        self.waiting.retain(|_, waiting| waiting.told.is_none_or(|told| told > middle));
        if self.waiting.len() >= MOST_WAITING {
            self.waiting.clear();
        }
    }
}

/// The place of a sum among all scores.
fn score_of(sum: f32) -> Score {
    Score::of_share(f64::from((sum + WIDEST) / (2.0 * WIDEST)))
}
