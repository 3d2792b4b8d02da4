//! Made-up sites in folders, the same from the same seed, and the order in which a crawl sees them.

use anyhow::{Context, Result};
use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

/// A small generator of numbers (xorshift), good enough for made-up data.
pub struct Dice(u64);

impl Dice {
    /// The same numbers from the same seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.roll() >> 11) % end.max(1)
    }

    /// Bytes that do not compress.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend_from_slice(&self.roll().to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}

/// Pages by number, each with the pages it links to, in the order they stand on it.
pub struct Graph(pub Vec<Vec<usize>>);

impl Graph {
    /// `pages` pages, all reachable from page 0: a deep tree with some cross links, so that most
    /// pages have one link leading to them and every stage of a crawl has links to lose.
    pub fn made_up(pages: usize, seed: u64) -> Graph {
        let mut dice = Dice::new(seed);
        let mut links: Vec<Vec<usize>> = vec![Vec::new(); pages];
        for page in 1..pages {
            let parent = page - 1 - dice.below(page.min(40) as u64) as usize;
            links[parent].push(page);
        }
        for (page, out) in links.iter_mut().enumerate() {
            for _ in 0..dice.below(8).saturating_sub(5) {
                let at = dice.below(out.len() as u64 + 1) as usize;
                out.insert(at, dice.below(pages as u64) as usize);
            }
            if page % 7 == 0 {
                out.push(page); // a page may link to itself
            }
        }
        Graph(links)
    }

    /// The path of a page on its server.
    pub fn uri(page: usize) -> String {
        match page {
            0 => "/index.html".into(),
            n => format!("/p/{}/{n}.html", n % 10),
        }
    }

    /// Writes the pages as files; `weight` bytes of text in each.
    pub fn write(&self, dir: &Path, weight: usize) -> Result<()> {
        for (page, links) in self.0.iter().enumerate() {
            let path = dir.join(&Graph::uri(page)[1..]);
            std::fs::create_dir_all(path.parent().context("a page lies in a folder")?)?;
            let mut text = format!("<!doctype html><title>Page {page}</title><h1>{page}</h1>\n");
            for link in links {
                text.push_str(&format!("<p><a href=\"{}\">to {link}</a>\n", Graph::uri(*link)));
            }
            let words = ["orb ", "web ", "silk ", "spider ", "thread ", "garden "];
            let mut dice = Dice::new(page as u64 + 1);
            while text.len() < weight {
                text.push_str(words[dice.below(words.len() as u64) as usize]);
            }
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        }
        Ok(())
    }

    /// The order of a crawl on one connection: a URL enters the queue once, at its first place.
    /// Breadth: at the end. Depth: at the front, the links of one page in their own order.
    pub fn order(&self, depth_first: bool) -> Vec<usize> {
        let (mut seen, mut queue) = (BTreeSet::from([0]), VecDeque::from([0]));
        let mut order = Vec::new();
        while let Some(page) = queue.pop_front() {
            order.push(page);
            let new = self.0[page].iter().copied().filter(|link| seen.insert(*link));
            let new: Vec<usize> = new.collect();
            if depth_first {
                new.into_iter().rev().for_each(|link| queue.push_front(link));
            } else {
                queue.extend(new);
            }
        }
        order
    }

    /// Pages at most `depth` links away from page 0.
    pub fn within(&self, depth: usize) -> BTreeSet<usize> {
        let mut all = BTreeSet::from([0]);
        let mut level = vec![0];
        for _ in 0..depth {
            let next = level.iter().flat_map(|page| self.0[*page].iter().copied());
            let next: Vec<usize> = next.filter(|link| all.insert(*link)).collect();
            level = next;
        }
        all
    }
}

#[test]
fn the_model_of_order_agrees_with_a_case_worked_by_hand() {
    let graph = Graph(vec![vec![1, 2], vec![3, 2, 4], vec![4, 5], vec![], vec![0], vec![]]);
    assert_eq!(graph.order(false), [0, 1, 2, 3, 4, 5]);
    assert_eq!(graph.order(true), [0, 1, 3, 4, 2, 5]);
    assert_eq!(graph.within(1).len(), 3);
    let large = Graph::made_up(500, 3);
    assert_eq!(large.order(true).len(), 500);
    assert_ne!(large.order(true), large.order(false));
}
