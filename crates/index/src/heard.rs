//! What pages were called by others before they were read themselves.
//!
//! Pages are found by links, so whoever takes pages in one after the other has met most of what a
//! page is called before the page comes. It is kept here until then, in bounded memory: what was
//! not heard of for long is forgotten, and comes with the next round over the links.

use crate::links::{LINK_PHRASES, LinkedAs};
use argiope_model::UrlKey;
use std::collections::HashMap;

/// Bytes of a phrase that is kept; a longer one comes with the round.
const LONGEST: usize = 200;
/// Bytes of a page in the table, about, without its phrases.
const ENTRY: usize = 96;
/// Bytes of a phrase, without its text.
const PHRASE: usize = 32;

#[derive(Default)]
struct Called {
    backlinks: u64,
    /// The page that was last heard.
    by: u64,
    phrases: Vec<(Box<str>, u64)>,
}

/// What was heard of pages that were not read yet.
pub(crate) struct Heard {
    young: HashMap<UrlKey, Called>,
    old: HashMap<UrlKey, Called>,
    /// Bytes of the young.
    bytes: usize,
    /// Bytes that each of both may take.
    room: usize,
    page: u64,
}

impl Heard {
    pub fn new(room: usize) -> Self {
        let (young, old) = (HashMap::new(), HashMap::new());
        Heard { young, old, bytes: 0, room: room / 2, page: 0 }
    }

    /// The links that follow are those of another page.
    pub fn next_page(&mut self) {
        self.page += 1;
    }

    /// A page links to another.
    pub fn add(&mut self, target: UrlKey, words: &str) {
        let called = match self.young.entry(target) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                self.bytes += ENTRY;
                free.insert(self.old.remove(&target).unwrap_or_default())
            }
        };
        called.backlinks += u64::from(called.by != self.page);
        called.by = self.page;
        let known = called.phrases.iter_mut().find(|(phrase, _)| &**phrase == words);
        if let Some((_, count)) = known {
            *count += 1;
        } else if called.phrases.len() < LINK_PHRASES && (1..=LONGEST).contains(&words.len()) {
            self.bytes += PHRASE + words.len();
            called.phrases.push((words.into(), 1));
        }
        if self.bytes > self.room {
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
    }

    /// What was heard of a page, which is read now.
    pub fn take(&mut self, page: UrlKey) -> LinkedAs {
        let found = self.young.remove(&page).or_else(|| self.old.remove(&page));
        let Some(Called { backlinks, mut phrases, .. }) = found else {
            return LinkedAs::default();
        };
        phrases.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let phrases = phrases.into_iter().map(|(phrase, count)| (phrase.into(), count));
        LinkedAs { backlinks, phrases: phrases.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_model::HostKey;

    fn key(n: u64) -> UrlKey {
        UrlKey { host: HostKey { part: 0, host: [0; 6] }, url: n }
    }

    #[test]
    fn what_a_page_is_called_is_told_when_it_comes() {
        let mut heard = Heard::new(1 << 20);
        heard.next_page();
        heard.add(key(1), "home");
        heard.add(key(1), "home");
        heard.add(key(1), "start");
        heard.next_page();
        heard.add(key(1), "start");
        heard.add(key(1), "start");
        heard.add(key(2), "");
        let called = heard.take(key(1));
        assert_eq!(called.backlinks, 2);
        assert_eq!(called.phrases, [("start".to_owned(), 3), ("home".to_owned(), 2)]);
        assert_eq!(heard.take(key(1)), LinkedAs::default());
        assert_eq!(heard.take(key(2)), LinkedAs { backlinks: 1, phrases: Vec::new() });
    }

    #[test]
    fn memory_is_bounded_and_the_latest_is_kept() {
        let mut heard = Heard::new(20_000);
        for n in 0..10_000 {
            heard.next_page();
            heard.add(key(n), "a page");
            assert!(heard.young.len() + heard.old.len() < 200);
        }
        assert_eq!(heard.take(key(9_999)).backlinks, 1);
        assert_eq!(heard.take(key(1)).backlinks, 0);
    }
}
