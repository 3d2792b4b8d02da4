//! The pages of the world: their URLs, and what they link to.
//!
//! A host has a tree of pages, some links across it and some to other hosts. A few pages
//! redirect, a few links lead nowhere, a few must not be followed; the last pages of a host with
//! a sitemap are found there alone.

use crate::draw::{About, Draw};
use crate::world::{World, first_late};

/// What a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The host's own robots.txt.
    Robots,
    /// The robots.txt of a host, so many redirects on.
    RobotsOf(usize, usize),
    /// A page.
    Page(u32),
    /// The list of pages.
    Sitemap,
    /// Something that is not there.
    Gone,
    /// Something that nobody may ask for: all links to it say `nofollow`.
    Never,
}

/// A page.
pub(crate) enum Page {
    /// It leads to another page of its host.
    Redirect(u32),
    /// It has links.
    Links(Vec<Href>),
}

/// A link.
pub(crate) enum Href {
    Page(usize, u32),
    Gone(u32),
    Never(u32),
}

pub(crate) fn origin(host: usize) -> String {
    format!("http://h{host}.test")
}

pub(crate) fn path_of(page: u32) -> String {
    match page {
        0 => "/".to_owned(),
        n => format!("/d{}/p{n}", n % 5),
    }
}

/// The number of a host by its name.
pub(crate) fn host_of(name: &str) -> Option<usize> {
    name.strip_prefix('h')?.strip_suffix(".test")?.parse().ok()
}

/// What a path stands for.
pub(crate) fn target_of(path: &str) -> Option<Target> {
    let mut parts = path.strip_prefix('/')?.split('/');
    Some(match (parts.next()?, parts.next(), parts.next()) {
        ("", None, _) => Target::Page(0),
        ("robots.txt", None, _) => Target::Robots,
        ("sitemap.xml", None, _) => Target::Sitemap,
        ("gone", Some(_), None) => Target::Gone,
        ("never", Some(_), None) => Target::Never,
        ("rules", Some(of), Some(hop)) => Target::RobotsOf(of.parse().ok()?, hop.parse().ok()?),
        (_, Some(page), None) => Target::Page(page.strip_prefix('p')?.parse().ok()?),
        _ => return None,
    })
}

impl World {
    /// Pages from this one on are found in the sitemap alone, or by chance.
    pub(crate) fn first_listed(&self, host: usize) -> u32 {
        let host = &self.hosts[host];
        if host.sitemap { (host.pages * 3 / 4).max(1) } else { host.pages }
    }

    fn redirects(&self, host: usize, page: u32) -> Option<u32> {
        let mut draw = self.page_draw(host, page, 1);
        (page > 0 && draw.percent(6)).then(|| draw.below(self.hosts[host].pages.into()) as u32)
    }

    fn page_draw(&self, host: usize, page: u32, question: u64) -> Draw {
        Draw::new(self.seed, About::Page, ((host as u64) << 34) + (u64::from(page) << 2) + question)
    }

    pub(crate) fn page(&self, host: usize, page: u32) -> Page {
        if let Some(to) = self.redirects(host, page) {
            // One redirect never leads to another.
            return Page::Redirect(if self.redirects(host, to).is_some() { 0 } else { to });
        }
        let own = &self.hosts[host];
        let mut draw = self.page_draw(host, page, 2);
        let mut links = Vec::new();
        let listed = self.first_listed(host);
        let children = (page * 4 + 1..=page * 4 + 4).filter(|child| *child < listed);
        links.extend(children.map(|child| Href::Page(host, child)));
        for _ in 0..2 {
            links.push(Href::Page(host, draw.below(own.pages.into()) as u32));
        }
        let all = self.hosts.len();
        let early = first_late(all) as u64;
        if draw.percent(25) {
            let late = own.patient && early < all as u64;
            let (first, last) = if late { (early, all as u64 - 1) } else { (0, early - 1) };
            let to = draw.between(first, last) as usize;
            let deep = draw.percent(20);
            let pages = if deep { self.hosts[to].pages } else { 1 };
            links.push(Href::Page(to, draw.below(pages.into()) as u32));
        }
        if draw.percent(5) {
            links.push(Href::Gone(draw.below(3) as u32));
        }
        if draw.percent(5) {
            links.push(Href::Never(draw.below(3) as u32));
        }
        Page::Links(links)
    }

    /// A page as it is sent.
    pub(crate) fn html(&self, host: usize, page: u32, links: &[Href]) -> String {
        let mut out = format!("<!doctype html><title>Page {page}</title><p>Page {page} of {host}.");
        for link in links {
            out += &match link {
                Href::Page(to, page) if *to == host => {
                    format!("<a href='{}'>x</a> ", path_of(*page))
                }
                Href::Page(to, page) => {
                    format!("<a href='{}{}'>y</a> ", origin(*to), path_of(*page))
                }
                Href::Gone(n) => format!("<a href='/gone/{n}'>z</a> "),
                Href::Never(n) => format!("<a rel=nofollow href='/never/{n}'>n</a> "),
            };
        }
        out
    }

    /// The sitemap of a host.
    pub(crate) fn sitemap(&self, host: usize) -> String {
        let mut out = String::from("<?xml version='1.0'?><urlset>");
        for page in self.first_listed(host)..self.hosts[host].pages {
            out += &format!("<url><loc>{}{}</loc></url>", origin(host), path_of(page));
        }
        out + "</urlset>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_targets_belong_together() {
        for page in [0, 1, 7, 100] {
            assert_eq!(target_of(&path_of(page)), Some(Target::Page(page)));
        }
        assert_eq!(target_of("/rules/12/3"), Some(Target::RobotsOf(12, 3)));
        assert_eq!(target_of("/robots.txt"), Some(Target::Robots));
        assert_eq!(target_of("/gone/1"), Some(Target::Gone));
        assert_eq!(target_of("/else"), None);
        assert_eq!(host_of("h12.test"), Some(12));
    }
}
