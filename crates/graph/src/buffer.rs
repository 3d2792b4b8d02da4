//! What was read from the change log and is not yet in a run.
//!
//! A link takes 16 bytes: number of the target's host, fingerprint of the rest, number of the
//! page, flags. A page read twice counts as read last.

use crate::run::{RunWriter, Totals};
use crate::source::{COUNTS, NOFOLLOW, Source, order_of};
use argiope_model::{DocId, HostKey, UrlKey};
use std::collections::HashMap;
use std::io::{self, Write};

/// Bytes a page takes, about: its row and its place in the map.
const PAGE: usize = 72;
/// Bytes a host takes, about.
const HOST: usize = 40;
/// Bytes a link takes.
const LINK: usize = size_of::<u128>();

#[derive(Debug, Default)]
pub(crate) struct Buffer {
    hosts: Vec<HostKey>,
    host_numbers: HashMap<HostKey, u32>,
    last_host: Option<(HostKey, u32)>,
    pages: Vec<Page>,
    latest: HashMap<DocId, u32>,
    /// `host(32) · url(64) · page(30) · flags(2)`
    links: Vec<u128>,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    doc: DocId,
    site: u64,
    flags: u8,
    live: bool,
}

impl Buffer {
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.links.len() * LINK + self.pages.len() * PAGE + self.hosts.len() * HOST
    }

    /// Begins a page; its links follow.
    pub fn page(&mut self, doc: DocId, site: u32, flags: u8) {
        let number = self.pages.len() as u32;
        if let Some(before) = self.latest.insert(doc, number) {
            self.pages[before as usize].live = false;
        }
        let site = u64::from(doc.part()) << 32 | u64::from(site);
        self.pages.push(Page { doc, site, flags, live: true });
    }

    /// Adds a link to the page begun last.
    #[inline]
    pub fn link(&mut self, target: UrlKey, flags: u8) {
        let host = match self.last_host {
            Some((host, number)) if host == target.host => number,
            _ => self.host(target.host),
        };
        let page = self.pages.len() as u32 - 1;
        let rest = page << 2 | u32::from(flags);
        let link = u128::from(host) << 96 | u128::from(target.url) << 32 | u128::from(rest);
        self.links.push(link);
    }

    /// Adds to what is known of the page begun last.
    pub fn mark(&mut self, flags: u8) {
        if let Some(page) = self.pages.last_mut() {
            page.flags |= flags;
        }
    }

    fn host(&mut self, host: HostKey) -> u32 {
        let next = self.hosts.len() as u32;
        let number = *self.host_numbers.entry(host).or_insert(next);
        if number == next {
            self.hosts.push(host);
        }
        self.last_host = Some((host, number));
        number
    }

    /// Writes everything as a run; the buffer keeps it, in another order.
    pub fn write<W: Write>(&mut self, out: W) -> io::Result<(W, Totals)> {
        self.sort();
        let mut out = RunWriter::new(out)?;
        let mut target = None;
        let mut at = 0;
        while let Some(&link) = self.links.get(at) {
            let mut flags = (link & 3) as u8;
            at += 1;
            // A page may link to a target in several ways.
            while let Some(&next) = self.links.get(at).filter(|next| **next >> 2 == link >> 2) {
                flags = both(flags, (next & 3) as u8);
                at += 1;
            }
            let page = self.pages[(link as u32 >> 2) as usize];
            if !page.live {
                continue;
            }
            if target != Some(link >> 32) {
                target = Some(link >> 32);
                let host = self.hosts[(link >> 96) as usize];
                out.target(UrlKey { host, url: (link >> 32) as u64 })?;
            }
            out.source(Source::new(page.site, page.doc.running(), flags))?;
        }
        let mut pages: Vec<(u64, u8)> =
            self.pages.iter().filter(|p| p.live).map(|p| (order_of(p.doc), p.flags)).collect();
        pages.sort_unstable();
        for (order, flags) in pages {
            out.page(order, flags)?;
        }
        out.finish()
    }

    /// Numbers hosts and pages in their order and sorts the links.
    fn sort(&mut self) {
        let hosts = ranks(&self.hosts, |host| *host);
        // A page read twice stands before the one that replaced it.
        let pages = ranks(&self.pages, |page| (page.site, page.doc.running()));
        for link in &mut self.links {
            let (host, rest) = ((*link >> 96) as u32, *link as u32);
            let page = pages[(rest >> 2) as usize] << 2 | rest & 3;
            let url = *link & (u128::from(u64::MAX) << 32);
            *link = u128::from(hosts[host as usize]) << 96 | url | u128::from(page);
        }
        self.links.sort_unstable();
        self.hosts.sort_unstable();
        self.pages.sort_by_key(|page| (page.site, page.doc.running()));
        self.last_host = None;
        for (number, host) in (0..).zip(&self.hosts) {
            self.host_numbers.insert(*host, number);
        }
        for (number, page) in (0..).zip(&self.pages) {
            if page.live {
                self.latest.insert(page.doc, number);
            }
        }
    }

    pub fn clear(&mut self) {
        self.hosts.clear();
        self.host_numbers.clear();
        self.last_host = None;
        self.pages.clear();
        self.latest.clear();
        self.links.clear();
    }
}

/// The flags of two links of one page to one target: it counts if either does, and asks not to
/// be followed if all that count do.
fn both(a: u8, b: u8) -> u8 {
    match (a & COUNTS, b & COUNTS) {
        (0, COUNTS) => b,
        (COUNTS, 0) => a,
        (counts, _) => counts | (a & b & NOFOLLOW),
    }
}

/// The place of each item in order; equal items keep theirs.
fn ranks<T, K: Ord>(items: &[T], key: impl Fn(&T) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = (0..items.len() as u32).collect();
    order.sort_by_key(|n| key(&items[*n as usize]));
    let mut ranks = vec![0; items.len()];
    for (rank, n) in (0..).zip(order) {
        ranks[n as usize] = rank;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_counts_if_any_of_its_kinds_does() {
        assert_eq!(both(COUNTS, 0), COUNTS);
        assert_eq!(both(NOFOLLOW, COUNTS), COUNTS);
        assert_eq!(both(COUNTS | NOFOLLOW, COUNTS), COUNTS);
        assert_eq!(both(COUNTS | NOFOLLOW, COUNTS | NOFOLLOW), COUNTS | NOFOLLOW);
        assert_eq!(both(COUNTS | NOFOLLOW, 0), COUNTS | NOFOLLOW);
        assert_eq!(both(NOFOLLOW, 0), 0);
    }
}
