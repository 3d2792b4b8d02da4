//! Titles of links that have none of their own.
//!
//! * What this is: words that say nothing are taken from their links, and links without words get
//!   the title of the card they lie over, or of the post they end.
//! * Its place: a step of `headlines`, before links are judged by their company.
//! * Invariants: a heading that leads to one article names no other.
//! * What is not here: the title that a link shows, see `title`.

use super::block::shortened;
use super::region::Region;
use super::title::{self, word_count};
use super::{Reading, by_words};
use argiope_parse::Outline;
use std::collections::{HashMap, HashSet};

/// How far a card reaches around its link.
const MAX_CARD_STEPS: usize = 5;
const MAX_CARD_NODES: usize = 150;
/// How far the post may reach that ends with its own link, what it says at least, and how often
/// that must be so.
const MAX_POST_NODES: usize = 600;
const MIN_POST_WORDS: f32 = 8.0;
const MIN_POSTS: usize = 3;
/// Words that the heading of a card has which another outdoes only by its length.
const MIN_RANKED_WORDS: f32 = 3.0;
/// Bytes of what a post says.
const MAX_PROSE_BYTES: usize = 600;

impl Reading<'_> {
    /// Words that lead to several articles say nothing about any of them: "read more".
    pub(super) fn drop_common_titles(&mut self) {
        let mut targets: HashMap<&str, Vec<usize>> = HashMap::new();
        for link in self.links.iter().filter(|l| !l.title.is_empty()) {
            let known = targets.entry(&link.title).or_default();
            if known.len() < 3 && !known.contains(&link.target) {
                known.push(link.target);
            }
        }
        let common: HashSet<String> = targets
            .into_iter()
            .filter(|(_, t)| t.len() >= 3)
            .map(|(title, _)| title.to_owned())
            .collect();
        for link in self.links.iter_mut().filter(|l| common.contains(&l.title)) {
            link.title.clear();
        }
    }

    /// A link without words may lie over its card: then the card's heading is its title. The card
    /// is the largest part near it that leads to no other article.
    pub(super) fn name_by_card(&mut self) {
        let nodes: Vec<usize> = self.links.iter().map(|l| l.node).collect();
        for at in 0..self.links.len() {
            let link = &self.links[at];
            if !link.title.is_empty()
                || link.region == Region::Around
                || self.targets[link.target].by_url < 0.5
            {
                continue;
            }
            let is_alone = |part: usize| {
                let end = self.page.nodes[part].end;
                let inside =
                    nodes.partition_point(|&n| n < part)..nodes.partition_point(|&n| n < end);
                self.links[inside]
                    .iter()
                    .all(|l| l.target == link.target || self.targets[l.target].by_url < 0.5)
            };
            let near = self.page.ancestors(link.node).take(MAX_CARD_STEPS);
            let card = near
                .take_while(|&part| {
                    self.page.nodes[part].end - part <= MAX_CARD_NODES && is_alone(part)
                })
                .last();
            let named = card.and_then(|card| title::of_card(self.page, card));
            let Some(title) = named.and_then(|named| self.title_in(named, link.target)) else {
                continue;
            };
            let own = by_words(&title) + self.targets[link.target].by_url + 2.0;
            let link = &mut self.links[at];
            (link.title, link.own, link.heading) = (title, own, true);
        }
    }

    /// Posts that stand one behind the other with nothing around them: the first link without words
    /// of its own ("permalink", a time) behind a heading without a link has that for its title.
    pub(super) fn name_by_post(&mut self) {
        let page = self.page;
        let headings: Vec<usize> = page.inside(0, title::HEADINGS).collect();
        let mut named: Vec<(usize, String, String)> = Vec::new();
        let mut last = None;
        for (at, link) in self.links.iter().enumerate() {
            let target = &self.targets[link.target];
            let is_it = link.title.is_empty()
                && !link.foreign
                && link.region != Region::Around
                && target.by_url >= 1.5
                && page.inside(link.node, &["img"]).next().is_none();
            let before = headings.partition_point(|&h| h < link.node);
            let Some(&heading) = headings[..before].last().filter(|_| is_it) else { continue };
            let is_linked = || {
                page.inside(heading, &["a"]).any(|a| page.attribute(a, "href").is_some())
                    || page.ancestors(heading).take(3).any(|a| page.nodes[a].name == "a")
            };
            let is_over = link.node - heading <= MAX_POST_NODES
                && link.node < page.nodes[page.nodes[heading].parent].end;
            if last == Some(heading) || !is_over || is_linked() {
                continue;
            }
            let title = title::text(page, heading);
            // Over a list stand its name and a link to more of it.
            let begin = page.nodes[heading].end;
            let unlinked = self.prose(begin, link.node, false);
            if word_count(&title) >= 1.0 && word_count(&unlinked) >= MIN_POST_WORDS {
                last = Some(heading);
                // The line with the link says who wrote it and when.
                let line = page.ancestors(link.node).find(|&a| page.is_block(a));
                let end = line.filter(|&line| line > begin).unwrap_or(link.node);
                named.push((at, title, shortened(&self.prose(begin, end, true))));
            }
        }
        if named.len() < MIN_POSTS {
            return;
        }
        for (at, title, post) in named {
            let own = by_words(&title).max(0.0) + self.targets[self.links[at].target].by_url + 2.0;
            let link = &mut self.links[at];
            (link.title, link.own, link.heading, link.post) = (title, own, true, post);
        }
    }

    /// Where several headings of a card lead to one article, the first of the highest rank is its title and the
    /// others say more about it, however long they are.
    pub(super) fn name_by_rank(&mut self) {
        for target in self.targets.iter_mut().filter(|t| t.links.len() > 1) {
            let Some(best) = self.links.get(target.best).and_then(|l| rank(self.page, l.node))
            else {
                continue;
            };
            let others = target.links.iter().filter_map(|&at| {
                let link = &self.links[at];
                let is_title = link.heading
                    && link.region != Region::Around
                    && word_count(&link.title) >= MIN_RANKED_WORDS;
                let (level, heading) = rank(self.page, link.node).filter(|_| is_title)?;
                is_beside(self.page, heading, best.1).then_some((level, link.node, at))
            });
            if let Some((level, _, at)) = others.min()
                && (level, self.links[at].node) < (best.0, self.links[target.best].node)
            {
                target.best = at;
            }
        }
    }

    /// What is said between two nodes, in links or outside of them, as far as a summary goes.
    fn prose(&self, from: usize, to: usize, with_links: bool) -> String {
        let page = self.page;
        let (mut at, mut out) = (from, String::new());
        while at < to && out.len() < MAX_PROSE_BYTES {
            let node = &page.nodes[at];
            if page.is_hidden(at) || page.is_unseen(at) || !with_links && node.name == "a" {
                at = node.end.max(at + 1);
                continue;
            }
            if page.is_block(at) {
                out.push(' ');
            }
            out.push_str(&node.text);
            at += 1;
        }
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What a heading says about one of the targets: what its link in there says; all, if none of
    /// its links says more than the half; else it is the heading of another.
    fn title_in(&self, heading: usize, target: usize) -> Option<String> {
        let end = self.page.nodes[heading].end;
        let from = self.links.partition_point(|l| l.node < heading);
        let inside = self.links[from..].iter().take_while(|l| l.node < end);
        let mut said = inside.filter(|l| !l.title.is_empty());
        if let Some(own) = said.clone().find(|l| l.target == target) {
            return Some(own.title.clone());
        }
        let all = title::without_kicker(self.page, heading);
        let is_other = said.any(|l| 2.0 * word_count(&l.title) > word_count(&all));
        (!is_other).then_some(all)
    }
}

/// The heading a link stands in or holds, and its level. What is called a kicker has none.
fn rank(page: &Outline, link: usize) -> Option<(u8, usize)> {
    let is_heading = |n: &usize| title::HEADINGS.contains(&&*page.nodes[*n].name);
    let around = page.ancestors(link).take(MAX_CARD_STEPS).find(is_heading);
    let heading = around.or_else(|| page.inside(link, title::HEADINGS).next())?;
    let level = page.nodes[heading].name.bytes().last()?;
    (!title::is_called_mark(page, heading)).then_some((level, heading))
}

/// Whether two headings stand in one card: in the same part, or the one in a part beside the other.
fn is_beside(page: &Outline, a: usize, b: usize) -> bool {
    let near = |of: usize| page.ancestors(of).take(2);
    near(a).any(|part| near(b).any(|other| other == part))
}

#[cfg(test)]
mod tests {
    use crate::headlines::{Headline, headlines};
    use crate::learned::Learned;
    use argiope_model::{CanonicalUrl, Suffixes, Time};
    use argiope_parse::parse_outline;

    fn found(html: &str) -> Vec<Headline> {
        let url = CanonicalUrl::parse("https://n.test/").unwrap();
        let page = parse_outline(html.as_bytes(), Some("utf-8"));
        headlines(&page, &url, &Suffixes::built_in(), &Learned::default(), Time(0))
    }

    #[test]
    fn of_the_headings_of_a_card_the_highest_is_the_title() {
        const TITLES: [&str; 5] = [
            "Council agrees on a new bridge",
            "Trains stop at noon in all towns",
            "Doctors warn of a long winter",
            "Farmers count losses after the storm",
            "Buckwheat harvest breaks records",
        ];
        for (card, is_told) in [
            ("<article><h2><a href=U>{h}</a></h2><h3><a href=U>{t}</a></h3></article>", true),
            ("<h2><a href=U>{h}</a></h2><h3><a href=U>{t}</a></h3>", false),
            ("<div><h3><a href=U>{h}</a></h3><h3><a href=U>{t}</a></h3></div>", true),
            ("<div><a href=U><h2>{h}</h2></a><a href=U><h4>{t}</h4></a></div>", true),
            ("<li><h4><a href=U>{t}</a></h4><h3><a href=U>{h}</a></h3></li>", false),
            (
                "<div><h2 class=kicker><a href=U>Row here</a></h2><h3><a href=U>{h}</a></h3></div>",
                false,
            ),
        ] {
            let item = |(n, title): (usize, &&str)| {
                let card = card.replace('U', &format!("'/news/{n}2345.html'"));
                let teaser = format!("In town {n} people have been waiting for this");
                card.replace("{h}", title).replace("{t}", &teaser)
            };
            let all = found(&TITLES.iter().enumerate().map(item).collect::<String>());
            let titles: Vec<&str> = all.iter().map(|h| h.title.as_str()).collect();
            assert_eq!(titles, TITLES, "{card}");
            assert!(!is_told || all[4].summary.starts_with("In town 4"), "{card} {all:?}");
        }
    }
}
