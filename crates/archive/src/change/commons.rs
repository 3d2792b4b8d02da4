//! Lines that several pages of a site have in common: menus, notices, advertisements.
//!
//! One of them in place of another is a box of the site that turns, not a change of the page. What is
//! remembered is bounded: where there is no more room, lines of a single page are let go.

use super::judge::line_hash;
use std::collections::HashMap;

/// Pages that must have a line before it is the site's.
const PAGES: usize = 3;
/// Lines remembered of a site.
const MAX_LINES: usize = 20_000;
/// Lines looked at on a page.
const MAX_OF_PAGE: usize = 2_000;

/// What the pages of a site have in common. One per site; it is made anew from the texts that come
/// by and needs no keeping.
#[derive(Clone, Debug, Default)]
pub struct Commons {
    /// The first pages that had a line.
    lines: HashMap<u64, Vec<u64>>,
}

impl Commons {
    /// Looks at a page, named by a number of its own.
    pub fn see(&mut self, page: u64, text: &str) {
        for line in text.lines().filter(|l| !l.trim().is_empty()).take(MAX_OF_PAGE) {
            let known = self.lines.len();
            let pages = match self.lines.entry(line_hash(line)) {
                std::collections::hash_map::Entry::Vacant(_) if known >= MAX_LINES => continue,
                entry => entry.or_default(),
            };
            if pages.len() < PAGES && !pages.contains(&page) {
                pages.push(page);
            }
        }
        if self.lines.len() >= MAX_LINES {
            self.lines.retain(|_, pages| pages.len() > 1);
        }
    }

    /// Whether a line, by its [`line_hash`], is the site's.
    pub fn has(&self, line: u64) -> bool {
        self.lines.get(&line).is_some_and(|pages| pages.len() >= PAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_sites_when_three_pages_have_it_and_memory_is_bounded() {
        let mut site = Commons::default();
        for page in 0..3 {
            assert!(!site.has(line_hash("Home")));
            site.see(page, "Home\nHome\nHome");
            site.see(page, &format!("Home\nOnly here {page}"));
        }
        assert!(site.has(line_hash("Home")) && !site.has(line_hash("Only here 1")));
        for page in 3..40 {
            let lines: Vec<String> = (0..1500).map(|n| format!("line {n} of {page}")).collect();
            site.see(page, &lines.join("\n"));
            assert!(site.lines.len() <= MAX_LINES);
        }
        assert!(site.has(line_hash("Home")));
    }
}
