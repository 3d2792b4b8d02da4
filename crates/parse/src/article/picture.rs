//! The picture that a page shows with its article.
//!
//! * What this is: the first large picture between the headline and the first part of the text,
//!   for pages that name none in their data.
//! * Its place: `facts` asks after `og:image` and its like.
//! * Invariants: signs, portraits, advertisements and pictures below 200 pixels are none; a size
//!   that is not given is enough.

use crate::article::facts::{Facts, has_token};
use crate::article::tree::Id;

/// How wide and high a picture is at least.
const LEAST: u32 = 200;

/// Names of what is no picture of an article.
const SIGNS: &str = "logo logos icon icons avatar avatars gravatar sprite sprites pixel spacer blank tracking \
    emoji badge ad ads advert adserver advertisement banner banners sponsor sponsored promo button social share author byline \
    portrait related teaser placeholder counter";

impl Facts<'_> {
    /// The first fitting picture before a node that ends the first part of the text.
    pub(crate) fn shown_picture(&self, end: Id) -> Option<String> {
        let from = self.heading.unwrap_or(0);
        (from..end.min(self.tree.len()))
            .filter(|&id| self.tree.name(id) == "img" && !self.of_others[id] && self.fits(id))
            .find_map(|id| self.sources(id).iter().find_map(|source| self.fitting(source)))
    }

    fn fits(&self, id: Id) -> bool {
        let tree = self.tree;
        let large = |key: &str| {
            let digits: String =
                tree.attr(id, key).trim().chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().map_or(true, |size| size >= LEAST)
                || tree.attr(id, key).ends_with('%')
        };
        let other_site = |href: &str| {
            let own = self.url.map_or("", |url| url.host());
            self.absolute(href).is_some_and(|to| {
                argiope_model::CanonicalUrl::parse(&to).is_ok_and(|to| {
                    let site = own.trim_start_matches("www.");
                    !own.is_empty() && !to.host().ends_with(site) && !is_picture(to.path())
                })
            })
        };
        large("width")
            && large("height")
            && !has_token(tree, id, SIGNS)
            && !tree.ancestors(id).take(4).any(|up| match tree.name(up) {
                "html" | "body" | "main" | "article" => false,
                "a" if other_site(tree.attr(up, "href")) => true,
                _ => has_token(tree, up, SIGNS),
            })
    }

    /// Where a picture may be, the surest first.
    fn sources(&self, id: Id) -> Vec<String> {
        let tree = self.tree;
        let mut found: Vec<String> = ["data-src", "data-original", "data-lazy-src", "src"]
            .iter()
            .map(|key| tree.attr(id, key).to_owned())
            .collect();
        let holder = tree.parent(id);
        // Of a few only: where nothing is closed all pictures have one parent.
        let beside = (holder.max(id.saturating_sub(60))..id)
            .filter(|&other| tree.name(holder) == "picture" && tree.name(other) == "source");
        for set in std::iter::once(id).chain(beside) {
            for key in ["srcset", "data-srcset"] {
                // The last is the largest as most write it.
                let last = tree.attr(set, key).rsplit(", ").next().unwrap_or("").trim();
                found.extend(last.split_whitespace().next().map(str::to_owned));
            }
        }
        found
    }

    fn fitting(&self, source: &str) -> Option<String> {
        let source = source.trim();
        if source.is_empty() || source.starts_with("data:") {
            return None;
        }
        let path = source.split(['?', '#']).next().unwrap_or("").to_ascii_lowercase();
        let words =
            super::signs::tokens(path.rsplit('/').take(2).collect::<Vec<_>>().join("/").as_str());
        let sign = words.iter().any(|w| SIGNS.split(' ').any(|s| s == w));
        if path.ends_with(".svg") || sign || path.contains("1x1") {
            return None;
        }
        self.absolute(source)
    }
}

/// Whether a path is that of a picture.
fn is_picture(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif"].iter().any(|end| lower.ends_with(end))
}
