//! What was learned about a site as its pages came in.
//!
//! * What this is: for each shape of URL, how many of its pages turned out to be articles and how
//!   many did not.
//! * Its place: the collector tells it of every page it has read ([`page_kind`](crate::page_kind))
//!   and of every URL that a feed or a news sitemap names; `headlines` asks it about links.
//! * Invariants: what was never seen counts for nothing; a few pages count for little; old
//!   pages fade, so that a site may change its URLs.
//! * What is not here: where it is kept. Rows go in and out in any order.

use crate::shape::shape;
use argiope_model::CanonicalUrl;
use std::collections::BTreeMap;

/// Shapes that are kept; a site with more has none worth knowing.
const MAX_SHAPES: usize = 1000;
/// Pages of one shape that are remembered; beyond that all count half.
const MAX_PAGES: u32 = 64;
/// What many pages of a shape say at most.
const MOST: f32 = 3.0;

/// What was learned about the URLs of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    shapes: BTreeMap<String, (u32, u32)>,
}

impl Learned {
    /// What was kept: the shape, articles, other pages.
    pub fn from_rows(rows: impl IntoIterator<Item = (String, u32, u32)>) -> Self {
        let shapes = rows.into_iter().map(|(shape, good, bad)| (shape, (good, bad)));
        Learned { shapes: shapes.take(MAX_SHAPES).collect() }
    }

    /// What is to be kept, in order.
    pub fn rows(&self) -> impl Iterator<Item = (&str, u32, u32)> {
        self.shapes.iter().map(|(shape, (good, bad))| (shape.as_str(), *good, *bad))
    }

    /// The page at `url` was an article, or was not.
    pub fn tell(&mut self, url: &CanonicalUrl, is_article: bool) {
        let shape = shape(url);
        if self.shapes.len() >= MAX_SHAPES && !self.shapes.contains_key(&shape) {
            return;
        }
        let (good, bad) = self.shapes.entry(shape).or_default();
        *(if is_article { &mut *good } else { &mut *bad }) += 1;
        if *good + *bad > MAX_PAGES {
            (*good, *bad) = (*good / 2, *bad / 2);
        }
    }

    /// What that says of another URL: from -3, surely none, to 3, surely an article.
    pub(crate) fn hint(&self, url: &CanonicalUrl) -> f32 {
        if self.shapes.is_empty() {
            return 0.0;
        }
        let (good, bad) = self.shapes.get(&shape(url)).copied().unwrap_or_default();
        // As if one page of each kind had been seen before.
        let all = (good + bad) as f32;
        MOST * (good as f32 - bad as f32) / (all + 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headlines;
    use argiope_model::{Suffixes, Time};
    use argiope_parse::parse_outline;

    fn url(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("https://n.test{path}")).unwrap()
    }

    #[test]
    fn shapes_are_learned_kept_and_fade() {
        let mut learned = Learned::default();
        assert_eq!(learned.hint(&url("/a/b")), 0.0);
        (0..500).for_each(|n| learned.tell(&url(&format!("/story/x{n}y")), true));
        assert!(learned.hint(&url("/story/z")) > 1.5);
        let kept = Learned::from_rows(learned.rows().map(|(s, g, b)| (s.to_owned(), g, b)));
        assert_eq!(kept, learned);
        (0..200).for_each(|n| learned.tell(&url(&format!("/story/x{n}y")), false));
        assert!(learned.hint(&url("/story/z")) < -1.5);
    }

    #[test]
    fn short_titles_behind_plain_urls_become_headlines_once_they_are_known() {
        let words = ["Flood", "Peace talks", "New king", "Oil falls", "Cup final"];
        let links: String = words
            .iter()
            .enumerate()
            .map(|(n, w)| format!("<div><p><a href='/s/i{n}'>{w}</a></p></div>"))
            .collect();
        let page = parse_outline(links.as_bytes(), None);
        let found = |learned: &Learned| {
            headlines(&page, &url("/"), &Suffixes::built_in(), learned, Time(0)).len()
        };
        let mut learned = Learned::default();
        assert_eq!(found(&learned), 0);
        (0..30).for_each(|n| learned.tell(&url(&format!("/s/j{n}")), true));
        // One word alone stays too little.
        assert_eq!(found(&learned), 4);
    }
}
