//! Articles of a watch that are to be asked for changes: a line for each host and each rule that gives
//! articles a budget of their own; of a line a few are queued at a time.
//!
//! * What this is: a host may have more recent articles than its pauses leave room for in a cycle. Those
//!   that are due wait here; whoever was looked at longest ago comes first, and of two the younger article.
//! * A line whose budget is used up is held until it allows a visit again: its articles keep their turns.
//! * Its place: `again` puts articles in as they are due, and queues what [`Rechecks::next`] gives. Front
//!   pages and feeds never wait here, so they keep their cycle whatever else there is.
//! * Invariants: nobody waits for ever, for a turn depends on nothing but the article's last visit and its
//!   age then, and later ones come behind it. What waits is bounded.

use argiope_model::{HostKey, Time, UrlKey};
use std::collections::{BTreeSet, HashMap};

/// Articles of a host that are queued at once.
const AT_ONCE: usize = 8;
/// Articles that wait, over all hosts.
const MOST: usize = 200_000;
/// An article so many times as old as another is looked at so many times more rarely, where not all can be:
/// its turn comes later by this part of its age.
const AGE_PART: i64 = 8;
/// Where nothing has come back for so long, what was queued is no more.
const LOST_MS: i64 = 3_600_000;

/// Whose line: a host, and the number of the rule by which these articles have a budget with others.
type Of = (HostKey, Option<usize>);

#[derive(Default)]
struct Line {
    /// Queued and not yet back.
    out: usize,
    /// When the last was queued or came back.
    moved: Time,
    /// There is no budget before.
    held: Time,
    /// The others, by their turns.
    waiting: BTreeSet<(Time, u64)>,
}

/// The lines of all hosts, and what is out of the news.
#[derive(Default)]
pub(super) struct Rechecks {
    lines: HashMap<Of, Line>,
    /// Lines that may have something to give.
    open: BTreeSet<Of>,
    /// Lines that are held, by when they are no more.
    held: BTreeSet<(Time, Of)>,
    waiting: usize,
    /// Pages of the news that are queued to be visited again; of which line, and their turns there.
    out: HashMap<UrlKey, Option<(Of, Time)>>,
}

/// When it is an article's turn among others that are due.
fn turn(last: Time, first_seen: Time) -> Time {
    Time(last.0 + (last.0 - first_seen.0).max(0) / AGE_PART)
}

impl Rechecks {
    /// An article is due; `false` where there is no room in the line.
    pub(super) fn wait(
        &mut self,
        key: UrlKey,
        rule: Option<usize>,
        last: Time,
        first_seen: Time,
    ) -> bool {
        if self.waiting >= MOST {
            return false;
        }
        self.line_up((key.host, rule), turn(last, first_seen), key.url);
        true
    }

    fn line_up(&mut self, of: Of, turn: Time, url: u64) {
        let line = self.lines.entry(of).or_default();
        self.waiting += usize::from(line.waiting.insert((turn, url)));
        self.open.insert(of);
    }

    /// Whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// When the next line is no longer held.
    pub(super) fn wake(&self) -> Option<Time> {
        self.held.first().map(|(until, _)| *until)
    }

    /// The next article that may be queued; it counts as out.
    pub(super) fn next(&mut self, now: Time) -> Option<UrlKey> {
        while let Some((_, of)) = self.held.first().copied().filter(|(until, _)| *until <= now) {
            self.held.pop_first();
            self.open.insert(of);
        }
        while let Some(of) = self.open.first().copied() {
            let line = self.lines.entry(of).or_default();
            if line.out >= AT_ONCE && now.0 - line.moved.0 >= LOST_MS {
                line.out = 0;
            }
            let free = line.out < AT_ONCE && line.held <= now;
            let Some((turn, url)) = free.then(|| line.waiting.pop_first()).flatten() else {
                self.open.remove(&of);
                if line.out == 0 && line.waiting.is_empty() {
                    self.lines.remove(&of);
                }
                continue;
            };
            self.waiting -= 1;
            let key = UrlKey { host: of.0, url };
            if self.out.insert(key, Some((of, turn))).flatten().is_none() {
                (line.out, line.moved) = (line.out + 1, now);
            }
            return Some(key);
        }
        None
    }

    /// There is no budget for it before then: it waits on, and its line with it.
    pub(super) fn hold(&mut self, key: UrlKey, until: Time) {
        let Some(Some((of, turn))) = self.out.remove(&key) else { return };
        self.line_up(of, turn, key.url);
        if let Some(line) = self.lines.get_mut(&of) {
            (line.out, line.held) = (line.out.saturating_sub(1), until);
            self.held.insert((until, of));
        }
    }

    /// Another page of the news is queued.
    pub(super) fn queued(&mut self, key: UrlKey) {
        self.out.entry(key).or_insert(None);
    }

    /// It has come back, or was not queued after all.
    pub(super) fn back(&mut self, key: UrlKey, now: Time) {
        let Some(Some((of, _))) = self.out.remove(&key) else { return };
        if let Some(line) = self.lines.get_mut(&of) {
            (line.out, line.moved) = (line.out.saturating_sub(1), now);
            self.open.insert(of);
        }
    }

    /// Pages of the news that are out.
    pub(super) fn out(&self) -> u64 {
        self.out.len() as u64
    }

    /// All rows are looked at anew: who waits is found again.
    pub(super) fn look_anew(&mut self) {
        self.waiting = 0;
        self.lines.values_mut().for_each(|line| line.waiting.clear());
        self.lines.retain(|_, line| line.out > 0);
        self.open.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: u64) -> UrlKey {
        UrlKey { host: HostKey { part: 1, host: [7; 6] }, url }
    }

    #[test]
    fn a_few_are_out_at_once_and_each_that_comes_back_makes_room() {
        let mut lines = Rechecks::default();
        for n in 0..20 {
            assert!(lines.wait(key(n), None, Time(1_000 + n as i64), Time(1_000)));
        }
        let first: Vec<u64> =
            std::iter::from_fn(|| lines.next(Time(5_000))).map(|k| k.url).collect();
        assert_eq!(first, (0..AT_ONCE as u64).collect::<Vec<_>>(), "the oldest sight first");
        lines.queued(key(100));
        assert_eq!(lines.out(), AT_ONCE as u64 + 1);
        lines.back(key(100), Time(6_000));
        assert_eq!(lines.next(Time(6_000)), None);
        lines.back(key(3), Time(6_000));
        assert_eq!(lines.next(Time(6_000)), Some(key(8)));
        assert_eq!(lines.next(Time(6_000)), None);
        // What never comes back does not stop the line for ever.
        assert_eq!(lines.next(Time(6_000 + LOST_MS)), None, "nothing has called");
        lines.wait(key(50), None, Time(9_000), Time(9_000));
        assert_eq!(lines.next(Time(6_000 + LOST_MS)), Some(key(9)));
    }

    #[test]
    fn a_line_without_budget_is_held_and_its_articles_keep_their_turns() {
        let mut lines = Rechecks::default();
        for n in 0..20 {
            lines.wait(key(n), Some((n % 2) as usize), Time(1_000 - n as i64), Time(1_000));
        }
        // The oldest sight of the line of even numbers, which is the first.
        assert_eq!(lines.next(Time(5_000)), Some(key(18)));
        assert_eq!(lines.wake(), None);
        lines.hold(key(18), Time(9_000));
        assert_eq!((lines.wake(), lines.out()), (Some(Time(9_000)), 0));
        let all = |lines: &mut Rechecks, now| -> Vec<u64> {
            std::iter::from_fn(|| lines.next(Time(now))).map(|key| key.url).collect()
        };
        let others = all(&mut lines, 6_000);
        assert_eq!(others, [19, 17, 15, 13, 11, 9, 7, 5], "other budgets are others");
        assert!(all(&mut lines, 8_999).is_empty());
        assert_eq!(all(&mut lines, 9_000), [18, 16, 14, 12, 10, 8, 6, 4]);
        assert_eq!(lines.wake(), None);
    }

    #[test]
    fn where_not_all_can_be_seen_younger_articles_are_seen_oftener_and_none_is_forgotten() {
        let minute = 60_000;
        let mut lines = Rechecks::default();
        // A hundred articles, found an hour apart; one visit a minute, each due at once again.
        let found: Vec<Time> = (0..100).map(|n| Time(n * 60 * minute)).collect();
        let mut visits = vec![0; found.len()];
        let mut now = found[99];
        for (n, first_seen) in found.iter().enumerate() {
            lines.wait(key(n as u64), None, now, *first_seen);
        }
        for _ in 0..4_000 {
            now = Time(now.0 + minute);
            let next = lines.next(now).unwrap();
            visits[next.url as usize] += 1;
            lines.back(next, now);
            lines.wait(next, None, now, found[next.url as usize]);
        }
        assert!(visits.iter().all(|visits| *visits > 3), "{visits:?}");
        let sum = |range: std::ops::Range<usize>| visits[range].iter().sum::<i32>();
        assert!(sum(90..100) > 3 * sum(0..10), "{visits:?}");
    }
}
