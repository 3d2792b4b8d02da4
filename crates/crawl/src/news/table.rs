//! The articles in memory: what ordering and filtering need of each, and ways to find one.
//!
//! * Lean: about a hundred bytes an article. Names of sites, hosts, subjects and languages are numbers here; what is
//!   shown is read from the file.
//! * Invariants: `order` is by time, newest first; a story of one article has no entry in `many`; every page of an
//!   article leads to it.
//! * What is not here: the file (`log`), and what an article is (`judge`).

use super::log::At;
use super::row::{Head, Page};
use std::collections::HashMap;

/// An article.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub doc: u64,
    pub time: i64,
    /// When it was first seen.
    pub seen: i64,
    /// In milliseconds; `i64::MIN` where it never changed.
    pub updated: i64,
    pub story: u64,
    pub title: u64,
    pub at: At,
    pub site: u32,
    pub host: u32,
    /// 0: none.
    pub subject: u32,
    pub language: u32,
    pub is_gone: bool,
}

/// Names, each with a number; 0 is none.
#[derive(Default)]
pub(super) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    pub fn number(&mut self, name: Option<&str>) -> u32 {
        let Some(name) = name else { return 0 };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get((number as usize).checked_sub(1)?).map(String::as_str)
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }
}

/// All articles.
#[derive(Default)]
pub(super) struct Table {
    pub rows: Vec<Row>,
    pub sites: Names,
    pub hosts: Names,
    pub subjects: Names,
    pub languages: Names,
    /// Pages: the article each shows, and the last capture looked at.
    pages: HashMap<u64, (u32, i64)>,
    addresses: HashMap<u64, u32>,
    /// By site and title: the last such article.
    titles: HashMap<(u32, u64), u32>,
    /// Stories of several articles.
    many: HashMap<u64, Vec<u32>>,
    /// Stories of one article that does not have their number: the one that began them is gone.
    strays: HashMap<u64, u32>,
    /// Stories that turned out to be others.
    joined: HashMap<u64, u64>,
    /// Rules that fit, of the articles that have any.
    pub rules: HashMap<u32, Vec<u32>>,
    /// Pages of articles that are no more, and since when.
    pub lost: HashMap<u64, i64>,
    /// Articles by time, newest first; those that came since it was sorted stand at its end.
    order: Vec<u32>,
    is_sorted: bool,
    /// Articles that are there.
    pub live: usize,
}

impl Table {
    /// The article that a page shows.
    pub fn of_doc(&self, doc: u64) -> Option<u32> {
        self.pages.get(&doc).map(|page| page.0).filter(|n| self.is_there(*n))
    }

    /// What led to an article that is no more leads nowhere.
    fn is_there(&self, n: u32) -> bool {
        !self.rows[n as usize].is_gone
    }

    /// The article that has this number itself.
    fn own(&self, doc: u64) -> Option<u32> {
        self.of_doc(doc).filter(|n| self.rows[*n as usize].doc == doc)
    }

    /// The last capture of a page that was looked at.
    pub fn looked_at(&self, doc: u64) -> Option<i64> {
        self.pages.get(&doc).filter(|page| self.is_there(page.0)).map(|page| page.1)
    }

    /// One more page shows an article. It stands in no row: whoever opens the file finds that out again.
    pub fn shows_too(&mut self, doc: u64, last: i64, n: u32) {
        self.pages.insert(doc, (n, last));
    }

    /// A page was looked at again and is as it was.
    pub fn touch(&mut self, doc: u64, last: i64) {
        if let Some(page) = self.pages.get_mut(&doc) {
            page.1 = last;
        }
    }

    pub fn of_address(&self, address: u64) -> Option<u32> {
        self.addresses.get(&address).copied().filter(|n| self.is_there(*n))
    }

    /// The last article of a site with a title.
    pub fn of_title(&self, site: &str, title: u64) -> Option<u32> {
        let found = self.titles.get(&(self.sites.find(site)?, title)).copied();
        found.filter(|n| self.is_there(*n))
    }

    /// The number that a story has now.
    pub fn story_now(&self, mut story: u64) -> u64 {
        while let Some(next) = self.joined.get(&story) {
            story = *next;
        }
        story
    }

    /// The articles of a story.
    pub fn members(&self, n: u32) -> Vec<u32> {
        let story = self.rows[n as usize].story;
        self.many.get(&story).cloned().unwrap_or_else(|| vec![n])
    }

    /// The articles of a story that has more than this one, this one among them.
    pub fn others(&self, n: u32) -> &[u32] {
        self.many.get(&self.rows[n as usize].story).map_or(&[], Vec::as_slice)
    }

    /// The articles of a story by its number; none where there is no such story.
    pub fn of_story(&self, story: u64) -> Vec<u32> {
        let story = self.story_now(story);
        if let Some(many) = self.many.get(&story) {
            return many.clone();
        }
        self.only(story).into_iter().collect()
    }

    /// Takes in an article, new or again; says the bytes of the file that are of no more use.
    pub fn put(&mut self, head: &Head, at: At) -> u64 {
        let before = self.own(head.doc);
        let row = Row {
            doc: head.doc,
            time: head.time,
            seen: head.seen,
            updated: head.updated.unwrap_or(i64::MIN),
            story: self.story_now(head.story),
            title: head.title,
            at,
            site: self.sites.number(Some(&head.site)),
            host: self.hosts.number(Some(&head.host)),
            subject: self.subjects.number(head.subject.as_deref()),
            language: self.languages.number(head.language.as_deref()),
            is_gone: false,
        };
        let (site, title, story, time) = (row.site, row.title, row.story, row.time);
        let (n, dead) = match before {
            Some(n) => {
                self.leave_story(n);
                let old = std::mem::replace(&mut self.rows[n as usize], row);
                self.is_sorted &= old.time == time;
                (n, old.at.bytes())
            }
            None => {
                let n = self.rows.len() as u32;
                self.rows.push(row);
                self.order.push(n);
                self.is_sorted = false;
                self.live += 1;
                (n, 0)
            }
        };
        for Page { doc, last, .. } in &head.pages {
            self.pages.insert(*doc, (n, *last));
        }
        for address in &head.addresses {
            self.addresses.insert(*address, n);
        }
        self.titles.insert((site, title), n);
        self.enter_story(n, story);
        match head.rules.is_empty() {
            true => self.rules.remove(&n),
            false => self.rules.insert(n, head.rules.clone()),
        };
        dead
    }

    fn enter_story(&mut self, n: u32, story: u64) {
        if let Some(many) = self.many.get_mut(&story) {
            many.push(n);
            return;
        }
        // The one that began it may come after others that were joined to it.
        let stray = self.strays.get(&story).copied().filter(|other| *other != n);
        match stray.or_else(|| self.only(story).filter(|other| *other != n)) {
            Some(other) => {
                self.strays.remove(&story);
                self.many.insert(story, vec![other, n]);
            }
            None if self.rows[n as usize].doc != story => {
                self.strays.insert(story, n);
            }
            None => {}
        }
    }

    /// The only article of a story that has one.
    fn only(&self, story: u64) -> Option<u32> {
        let own = self.own(story).filter(|n| self.rows[*n as usize].story == story);
        own.or_else(|| self.strays.get(&story).copied())
    }

    fn leave_story(&mut self, n: u32) {
        let story = self.rows[n as usize].story;
        let Some(many) = self.many.get_mut(&story) else {
            self.strays.remove(&story);
            return;
        };
        many.retain(|other| *other != n);
        if let [last] = many[..] {
            self.many.remove(&story);
            if self.rows[last as usize].doc != story {
                self.strays.insert(story, last);
            }
        }
    }

    /// Since when an article is no more: none of its pages is left.
    pub fn gone(&self, head: &Head) -> Option<i64> {
        let pages = head.pages.iter().map(|page| self.lost.get(&page.doc).copied());
        pages.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// One story turned out to be another.
    pub fn join(&mut self, from: u64, to: u64) {
        let (from, to) = (self.story_now(from), self.story_now(to));
        if from == to {
            return;
        }
        let moved = self.of_story(from);
        self.many.remove(&from);
        self.strays.remove(&from);
        self.joined.insert(from, to);
        for n in moved {
            self.rows[n as usize].story = to;
            self.enter_story(n, to);
        }
    }

    /// An article belongs to a story, whose number answers for itself from now on.
    pub fn place(&mut self, doc: u64, story: u64) {
        self.joined.remove(&story);
        let Some(n) = self.own(doc) else { return };
        self.leave_story(n);
        self.rows[n as usize].story = story;
        self.enter_story(n, story);
    }

    /// The story of an article as it is now; of one that is not there, as its head has it.
    pub fn story_of(&self, head: &Head) -> u64 {
        match self.own(head.doc) {
            Some(n) => self.rows[n as usize].story,
            None => self.story_now(head.story),
        }
    }

    pub fn joins(&self) -> impl Iterator<Item = (u64, u64)> {
        self.joined.iter().map(|(from, to)| (*from, *to))
    }

    /// An article is no more; says the bytes of the file that are of no more use.
    pub fn remove(&mut self, doc: u64) -> u64 {
        let Some(n) = self.own(doc) else { return 0 };
        self.lost.remove(&doc);
        self.leave_story(n);
        self.rules.remove(&n);
        self.rows[n as usize].is_gone = true;
        self.is_sorted = false;
        self.live -= 1;
        self.rows[n as usize].at.bytes()
    }

    /// A page of an article is no more, or is there again; says whether that is news.
    pub fn lose(&mut self, doc: u64, since: Option<i64>) -> bool {
        match since {
            Some(since) if self.of_doc(doc).is_some() && !self.lost.contains_key(&doc) => {
                self.lost.insert(doc, since);
                true
            }
            Some(_) => false,
            None => self.lost.remove(&doc).is_some(),
        }
    }

    /// A rule fits these articles, and of those that were there no others.
    pub fn rule(&mut self, id: u32, docs: &[u64]) {
        for doc in docs {
            let Some(n) = self.of_doc(*doc) else { continue };
            let fitting = self.rules.entry(n).or_default();
            if !fitting.contains(&id) {
                fitting.push(id);
            }
        }
    }

    /// The same, as it was sorted last.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Articles by time, newest first, then by number.
    pub fn newest_first(&mut self) -> &[u32] {
        if !self.is_sorted {
            let rows = &self.rows;
            self.order.retain(|n| !rows[*n as usize].is_gone);
            self.order.sort_by_key(|n| {
                let row = &rows[*n as usize];
                std::cmp::Reverse((row.time, row.doc))
            });
            self.is_sorted = true;
        }
        &self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(doc: u64, time: i64, story: u64) -> Head {
        Head {
            doc,
            pages: vec![
                Page { doc, last: time, print: doc },
                Page { doc: doc + 1000, last: time, print: doc },
            ],
            site: "n.test".to_owned(),
            host: "www.n.test".to_owned(),
            time,
            seen: time,
            updated: None,
            versions: 1,
            subject: None,
            language: Some("en".to_owned()),
            story,
            words: 100,
            addresses: vec![doc],
            title: doc,
            rules: Vec::new(),
        }
    }

    fn docs(table: &Table, members: Vec<u32>) -> Vec<u64> {
        let mut docs: Vec<u64> = members.iter().map(|n| table.rows[*n as usize].doc).collect();
        docs.sort_unstable();
        docs
    }

    #[test]
    fn stories_grow_join_and_lose_articles() {
        let mut table = Table::default();
        for (doc, story) in [(1, 1), (2, 1), (3, 3), (4, 3), (5, 5)] {
            table.put(&head(doc, doc as i64, story), At::default());
        }
        assert_eq!(docs(&table, table.of_story(1)), [1, 2]);
        assert_eq!(docs(&table, table.of_story(5)), [5]);
        table.join(3, 1);
        table.join(5, 3);
        // A number that was joined answers for the other.
        for story in [1, 3, 5] {
            assert_eq!(docs(&table, table.of_story(story)), [1, 2, 3, 4, 5]);
        }
        // The one that began it may go.
        for gone in [1, 2, 3, 4] {
            table.remove(gone);
        }
        assert_eq!(docs(&table, table.of_story(3)), [5]);
        assert_eq!((table.of_doc(1004), table.live), (None, 1));
        table.put(&head(6, 6, 1), At::default());
        assert_eq!(docs(&table, table.of_story(5)), [5, 6]);
        table.remove(5);
        table.remove(6);
        assert!(table.of_story(1).is_empty() && table.newest_first().is_empty());
    }

    /// Articles, joins and partings in any order: a story has all its articles, each stands in one.
    #[test]
    fn no_article_is_lost_from_its_story_whatever_comes_first() {
        let mut seed = 7_u64;
        let mut roll = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % most
        };
        for _ in 0..400 {
            let mut table = Table::default();
            let mut there: Vec<u64> = Vec::new();
            for _ in 0..24 {
                match roll(8) {
                    0..5 => {
                        let doc = 1 + roll(9);
                        let story = 1 + roll(9);
                        table.put(&head(doc, 5, story), At::default());
                        there.retain(|known| *known != doc);
                        there.push(doc);
                    }
                    5 => {
                        let (a, b) = (1 + roll(9), 1 + roll(9));
                        table.join(a, b);
                    }
                    6 => table.place(1 + roll(9), 1 + roll(9)),
                    _ => {
                        let doc = 1 + roll(9);
                        table.remove(doc);
                        there.retain(|known| *known != doc);
                    }
                }
                for doc in &there {
                    let n = table.of_doc(*doc).unwrap();
                    let story = table.rows[n as usize].story;
                    let mut all: Vec<u64> = (there.iter().copied())
                        .filter(|other| {
                            let other = table.of_doc(*other).unwrap() as usize;
                            table.rows[other].story == story
                        })
                        .collect();
                    all.sort_unstable();
                    assert_eq!(docs(&table, table.of_story(story)), all);
                    assert_eq!(docs(&table, table.members(n)), all);
                }
            }
        }
    }

    #[test]
    fn an_article_that_changed_keeps_its_place_in_everything() {
        let mut table = Table::default();
        for doc in 1..=3 {
            table.put(&head(doc, 10 * doc as i64, 1), At::default());
        }
        assert_eq!(table.newest_first(), [2, 1, 0]);
        let at = At { offset: 0, head: 10, body: 20 };
        assert_eq!(table.put(&head(1, 99, 1), at), At::default().bytes());
        assert_eq!(table.newest_first(), [0, 2, 1]);
        assert_eq!(docs(&table, table.of_story(1)), [1, 2, 3]);
        assert_eq!((table.of_doc(1001), table.rows.len()), (Some(0), 3));
        // It leaves for another story, and comes back.
        table.put(&head(1, 99, 7), at);
        assert_eq!(
            (docs(&table, table.of_story(1)), docs(&table, table.of_story(7))),
            (vec![2, 3], vec![1])
        );
        table.put(&head(1, 99, 1), at);
        assert_eq!((docs(&table, table.of_story(1)), table.of_story(7).len()), (vec![1, 2, 3], 0));
    }
}
