//! What queued URLs are worth to jobs that go best-first, as far as is known now.
//!
//! * What this is: on-line importance after the manner of OPIC. Start URLs have a cash of 1. A page that
//!   was read hands its cash to what it links to, in equal shares; a queued URL collects what it is given.
//!   It is worth its cash times the links that lead to it, where a link from another site counts as
//!   [`OTHER_SITE`]: such a link nobody gives for the sake of a menu. Of a host that answers most requests
//!   with no page, that is halved as often as the part that are pages has to be doubled to one in two.
//! * Its place: the engine tells what was read, and has rows moved whose [`Score`] has risen. As a step is
//!   a halving, a row moves a few times in its life.
//! * Invariant: what is remembered is bounded. Where there is no more room, the half that is worth least is
//!   forgotten: those rows stay where they are in the queue and collect anew. A row that is read from the
//!   queue brings its score with it ([`Merits::learn`]), so that a run goes on where another stopped.
//! * What is not here: places ([`crate::Place`]), the queue (`store`), what a page is about.

use crate::order::{Place, Score};
use argiope_model::{HostKey, JobId, UrlKey};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};

/// How much more a link from another site counts.
pub const OTHER_SITE: f32 = 4.0;
/// What a remembered URL takes, about, while the table grows.
const ROW_BYTES: usize = 64;

/// What is known of a queued URL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merit {
    /// What it was given by pages that link to it.
    pub cash: f32,
    /// Links that lead to it.
    pub links: f32,
    /// The score it has in the queue.
    pub score: Score,
}

impl Merit {
    /// What it is worth on a host like this.
    fn worth(&self, halvings: u16) -> Score {
        let here = Score::of_worth(f64::from(self.cash) * f64::from(self.links.max(1.0)));
        Score::at_level(here.level().saturating_add(halvings))
    }
}

/// What queued URLs are worth.
#[derive(Debug, Default)]
pub struct Merits {
    most: usize,
    /// The same for the same keys in every run, so that a simulation repeats itself.
    rows: HashMap<u64, Merit, Steady>,
    /// Of hosts: requests, and how many of them brought a page.
    hosts: HashMap<HostKey, (u32, u32), Steady>,
}

type Steady = BuildHasherDefault<DefaultHasher>;

/// Requests after which a host can be judged.
const ENOUGH: u32 = 8;

impl Merits {
    /// What fits into so many bytes.
    pub fn with_bytes(bytes: usize) -> Self {
        let most = (bytes / ROW_BYTES).max(16);
        Merits { most, rows: HashMap::default(), hosts: HashMap::default() }
    }

    /// How many URLs are remembered.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What is known of a queued URL.
    pub fn of(&self, job: JobId, key: UrlKey) -> Option<Merit> {
        self.rows.get(&slot(job, key)).copied()
    }

    /// A URL leaves the queue: the cash it hands on. Where its place says that it is worth more than is
    /// remembered of it, it has that too.
    pub fn spend(&mut self, job: JobId, key: UrlKey, place: Place) -> f64 {
        let Some(merit) = self.rows.remove(&slot(job, key)) else {
            return place.score().map_or(0.0, Score::worth);
        };
        let more = place.score().filter(|score| *score > merit.score);
        f64::from(merit.cash) + more.map_or(0.0, Score::worth)
    }

    /// A URL stands at a place that says nothing of its worth: that of a redirect is its source's.
    pub fn stands_at(&mut self, job: JobId, key: UrlKey, place: Place) {
        if let (Some(merit), Some(score)) = (self.rows.get_mut(&slot(job, key)), place.score()) {
            merit.score = merit.score.max(score);
        }
    }

    /// A URL that may be new is given a share by a page of its site or of another. Says what it is worth
    /// now, and whether it was known to be worth less.
    pub fn give(&mut self, job: JobId, key: UrlKey, share: f64, other: bool) -> (Score, bool) {
        let known = self.rows.contains_key(&slot(job, key));
        if !known {
            self.make_room();
            let none = Merit { cash: 0.0, links: 0.0, score: Score::WORST };
            self.rows.insert(slot(job, key), none);
        }
        let risen = self.raise(job, key, share, other);
        (risen.unwrap_or_else(|| self.rows[&slot(job, key)].score), known && risen.is_some())
    }

    /// A URL that is known already is given a share: what it is worth now, where that is more than before.
    /// One that is not remembered was read, most often, and gets nothing.
    pub fn raise(&mut self, job: JobId, key: UrlKey, share: f64, other: bool) -> Option<Score> {
        let halvings = self.halvings(key.host);
        let merit = self.rows.get_mut(&slot(job, key))?;
        merit.cash += share as f32;
        merit.links += if other { OTHER_SITE } else { 1.0 };
        let score = merit.worth(halvings);
        (score > merit.score).then(|| {
            merit.score = score;
            score
        })
    }

    /// A row was read from the queue: it is worth what its place says, at least.
    pub fn learn(&mut self, job: JobId, key: UrlKey, place: Place) {
        let Some(score) = place.score() else { return };
        let slot = slot(job, key);
        if !self.rows.contains_key(&slot) {
            self.make_room();
            self.rows.insert(slot, Merit { cash: score.worth() as f32, links: 1.0, score });
        } else if let Some(merit) = self.rows.get_mut(&slot).filter(|merit| merit.score < score) {
            // It was given something by an earlier run.
            merit.cash += score.worth() as f32;
            merit.score = score;
        }
    }

    /// A request to a host brought a page, or none.
    pub fn answered(&mut self, host: HostKey, page: bool) {
        if self.hosts.len() >= self.most && !self.hosts.contains_key(&host) {
            // Whoever fails goes on failing and is soon known again.
            self.hosts.clear();
        }
        let (asked, pages) = self.hosts.entry(host).or_default();
        (*asked, *pages) = (asked.saturating_add(1), pages.saturating_add(u32::from(page)));
    }

    /// How often the worth of a host's URLs is halved for requests that bring no page.
    pub fn halvings(&self, host: HostKey) -> u16 {
        let (asked, pages) = self.hosts.get(&host).copied().unwrap_or_default();
        let most = if asked < ENOUGH { 0 } else { asked / 2 / pages.max(1) };
        most.checked_ilog2().unwrap_or(0) as u16
    }

    fn make_room(&mut self) {
        if self.rows.len() < self.most {
            return;
        }
        let mut scores: BTreeMap<Score, usize> = BTreeMap::new();
        self.rows.values().for_each(|merit| *scores.entry(merit.score).or_default() += 1);
        let mut gone = 0;
        let least = scores.into_iter().find(|(_, number)| {
            gone += number;
            gone >= self.most / 2
        });
        if let Some((least, _)) = least {
            self.rows.retain(|_, merit| merit.score > least);
        }
    }
}

fn slot(job: JobId, key: UrlKey) -> u64 {
    let host = u64::from_be_bytes(key.host.to_bytes());
    let job = u64::from(job.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    key.url ^ host.rotate_left(29) ^ job
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::place_of_score;
    const JOB: JobId = JobId(1);

    fn key(url: u64) -> UrlKey {
        UrlKey { host: HostKey { part: 3, host: [7; 6] }, url }
    }

    fn small() -> Merits {
        Merits::with_bytes(1 << 16)
    }

    #[test]
    fn a_url_collects_what_it_is_given_and_hands_it_on() {
        let mut merits = small();
        assert_eq!(merits.give(JOB, key(1), 0.25, false), (Score::of_worth(0.25), false));
        assert_eq!(merits.give(JOB, key(1), 0.25, false), (Score::of_worth(1.0), true));
        let merit = merits.of(JOB, key(1)).expect("it is queued");
        assert_eq!((merit.cash, merit.links), (0.5, 2.0));
        assert_eq!(merits.spend(JOB, key(1), place_of_score(Score::WORST, 1, 0)), 0.5);
        assert_eq!(merits.raise(JOB, key(1), 0.5, false), None, "it was read");
        assert!(merits.is_empty());
    }

    #[test]
    fn a_link_from_another_site_counts_for_more() {
        let mut merits = small();
        let (near, _) = merits.give(JOB, key(1), 0.01, false);
        let (far, _) = merits.give(JOB, key(2), 0.01, true);
        assert_eq!(far.level() + 2, near.level());
    }

    #[test]
    fn urls_of_a_host_that_seldom_has_a_page_are_worth_less() {
        let mut merits = small();
        let host = key(1).host;
        assert_eq!(merits.halvings(host), 0);
        (0..100).for_each(|n| merits.answered(host, n % 2 == 0));
        assert_eq!(merits.halvings(host), 0, "every second one");
        (0..300).for_each(|_| merits.answered(host, false));
        assert_eq!(merits.halvings(host), 2, "one in eight");
        let (score, _) = merits.give(JOB, key(1), 0.5, false);
        assert_eq!(score, Score::of_worth(0.125));
        let other = UrlKey { host: HostKey { part: 4, host: [7; 6] }, url: 1 };
        assert_eq!(merits.give(JOB, other, 0.5, false).0, Score::of_worth(0.5));
        (0..7).for_each(|_| merits.answered(other.host, false));
        assert_eq!(merits.halvings(other.host), 0, "too early to tell");
        merits.answered(other.host, false);
        assert_eq!(merits.halvings(other.host), 2);
    }

    #[test]
    fn a_row_moves_only_when_its_worth_has_doubled() {
        let mut merits = small();
        merits.give(JOB, key(1), 0.001, false);
        let rises = (0..1000).filter(|_| merits.raise(JOB, key(1), 1e-6, false).is_some());
        assert!((5..=11).contains(&rises.count()));
    }

    #[test]
    fn what_another_run_placed_is_worth_what_its_place_says() {
        let mut merits = small();
        let place = place_of_score(Score::of_worth(0.125), 9, 1);
        assert_eq!(merits.spend(JOB, key(1), place), 0.125);
        merits.give(JOB, key(1), 0.5, false);
        merits.give(JOB, key(1), 0.25, false);
        assert_eq!(merits.spend(JOB, key(1), place), 0.75, "it had risen since");
        // A start URL has its own, whatever links to it.
        merits.give(JOB, key(1), 0.125, false);
        assert_eq!(merits.spend(JOB, key(1), place_of_score(Score::BEST, 1, 0)), 1.125);
        merits.give(JOB, key(1), 0.125, false);
        merits.stands_at(JOB, key(1), place_of_score(Score::BEST, 1, 0));
        assert_eq!(merits.spend(JOB, key(1), place_of_score(Score::BEST, 1, 0)), 0.125);
        merits.learn(JOB, key(1), place);
        assert_eq!(merits.raise(JOB, key(1), 0.125, false), Some(Score::of_worth(0.5)));
        // Met before its row was read.
        merits.give(JOB, key(2), 0.001, false);
        merits.learn(JOB, key(2), place);
        merits.learn(JOB, key(2), place);
        let merit = merits.of(JOB, key(2)).expect("it is queued");
        assert!((merit.cash - 0.126).abs() < 1e-6 && merit.score == Score::of_worth(0.125));
        merits.learn(JOB, key(3), place.held_back(argiope_model::Order::Best, false));
        assert_eq!(merits.of(JOB, key(3)), None);
        assert_eq!(merits.of(JobId(2), key(2)), None, "another job's");
    }

    #[test]
    fn the_least_are_forgotten_where_there_is_no_room() {
        let mut merits = Merits::with_bytes(64 * ROW_BYTES);
        for n in 0..10_000u64 {
            merits.give(JOB, key(n), 1.0 / (2 + n % 500) as f64, false);
            assert!(merits.len() <= 64);
        }
        assert!(merits.of(JOB, key(0)).is_some(), "the best of the first");
        let mut alike = Merits::with_bytes(64 * ROW_BYTES);
        (0..1000).for_each(|n| _ = alike.give(JOB, key(n), 0.5, false));
        assert!(alike.len() <= 64);
    }
}
