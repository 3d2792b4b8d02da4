//! Who wrote an article.
//!
//! * What this is: the sources of names in the order of their trust, down to a line that begins
//!   with `By`.
//! * Its place: `article` asks for the authors; `people` reads names, `facts` knows the page.
//! * Invariants: a person goes before the house, whatever source names the house.

use crate::article::facts::{Facts, has_exact, has_token};
use crate::article::tree::{Id, fold, is_inline};
use crate::article::{Sure, people, title};

/// Names of `<meta>` that hold authors, the surest first.
const AUTHORS: &str = "article:author og:article:author dc.creator dcterms.creator dc:creator author byl parsely-author sailthru.author \
    citation_author creator rbauthors authors article.author \
    article:author_name cxenseparse:author twitter:data1 dable:author \
    shareaholic:article_author_name book:author";

/// Classes that say that an element holds the author.
const BYLINES: &str = "author byline author-name authorname byline-name article-author post-author \
    entry-author fn autor auteur writer by-author c-byline article__author contributor \
    reporter journalist periodista author__name author_name article-byline byline__name meta-author post_author postauthor";

impl Facts<'_> {
    /// Who wrote it. A person before the house: many pages call the site their author and name
    /// the person in the byline.
    pub(crate) fn authors(&self) -> Vec<String> {
        let site = title::plain(&self.site().unwrap_or_default());
        let host = title::plain(self.url.map_or("", |u| u.host().trim_start_matches("www.")));
        // `LTO` for the Legal Tribune Online, `Deutsche Welle` on dw.com, `n-tv NACHRICHTEN` on n-tv.de.
        let initials = |name: &str| {
            title::plain(&name.split(' ').filter_map(|w| w.chars().next()).collect::<String>())
        };
        let short = initials(&self.site().unwrap_or_default());
        let labels: Vec<String> = self
            .url
            .map_or("", |u| u.host())
            .split('.')
            .map(title::plain)
            .filter(|label| label.len() >= 2 && label != "www" && label != "com")
            .collect();
        let is_short = |name: &str| {
            let first = title::plain(name.split(' ').next().unwrap_or_default());
            let own = initials(name);
            labels.iter().any(|label| *label == first || *label == own)
                || short.len() >= 2 && title::plain(name) == short
        };
        let houses: Vec<String> = self.linked.houses().iter().map(|h| title::plain(h)).collect();
        let is_house = |whole: &String| {
            let name = title::plain(whole);
            let like = |other: &str| {
                !other.is_empty()
                    && (name == other
                        || (name.len() >= 5
                            && (other.contains(&name)
                                || (other.len() >= 5 && name.contains(other)))))
            };
            houses.contains(&name)
                || like(&site)
                || like(&host)
                || is_short(whole)
                || matches!(
                    name.as_str(),
                    "redaktion"
                        | "staff"
                        | "editorial"
                        | "editorialteam"
                        | "newsdesk"
                        | "team"
                        | "dieredaktion"
                        | "larédaction"
                        | "onlineredaktion"
                )
        };
        let mut house = Vec::new();
        let section = title::plain(&self.section().unwrap_or_default());
        let mut take = |raws: Vec<String>| {
            let mut out: Vec<String> = Vec::new();
            for name in raws.iter().flat_map(|raw| people::names(raw)) {
                if !out.contains(&name) && (section.is_empty() || title::plain(&name) != section) {
                    out.push(name);
                }
            }
            // Two letters may stand for a person, or for a picture of one.
            let is_sign = |name: &String| {
                name.chars().filter(|c| c.is_alphabetic()).count() <= 2 && name.is_ascii()
            };
            if !out.is_empty() && out.iter().all(|name| is_house(name) || is_sign(name)) {
                if house.is_empty() {
                    house = out;
                }
                return None;
            }
            out.retain(|name| !is_house(name));
            (!out.is_empty()).then_some(out)
        };
        let metas = |name: &str| {
            self.metas
                .iter()
                .filter(|(n, _)| n == name)
                .map(|(_, c)| (*c).to_owned())
                .collect::<Vec<_>>()
        };
        let found = take(self.linked.names("author"))
            .or_else(|| AUTHORS.split(' ').find_map(|name| take(metas(name))))
            .or_else(|| take(self.linked.names("creator")))
            .or_else(|| {
                take(self.people_elements(|f, id| {
                    f.tree
                        .attr(id, "itemprop")
                        .split_ascii_whitespace()
                        .any(|p| p == "author" || p == "creator")
                }))
            })
            .or_else(|| {
                take(self.people_elements(|f, id| {
                    f.tree.attr(id, "rel").split_ascii_whitespace().any(|p| p == "author")
                }))
            })
            .or_else(|| take(self.people_elements(|f, id| has_exact(f.tree, id, BYLINES))))
            .or_else(|| {
                let named = self.people_elements(|f, id| {
                    has_token(
                        f.tree,
                        id,
                        "author byline autor auteur writer autorin verfasser authors reporter journalist",
                    )
                });
                // A box with such a word in its name may hold anything.
                let is = |raw: &String| {
                    let words = |n: &String| n.split(' ').count();
                    people::names(raw)
                        .first()
                        .is_some_and(|n| words(n) == 1 || words(n) <= 5 && people::is_cased(n))
                };
                take(named.into_iter().filter(is).collect())
            })
            .or_else(|| take(self.bylines()))
            .or_else(|| take(self.beside_date()))
            .or_else(|| take(self.beside_sign()));
        found.unwrap_or(house)
    }

    /// The names in the elements near the title that are said to hold the author.
    fn people_elements(&self, is: impl Fn(&Self, Id) -> bool) -> Vec<String> {
        let mut found: Vec<Id> = self
            .elements()
            .filter(|&id| {
                is(self, id)
                    && !matches!(
                        self.tree.name(id),
                        "meta" | "link" | "body" | "html" | "article" | "img"
                    )
                    && !self.beside(id)
            })
            .collect();
        found.sort_by_key(|&id| self.distance(id));
        let first = found.iter().take(12).find_map(|&id| Some((id, self.people_in(id)?)));
        let Some((id, mut people)) = first else { return Vec::new() };
        // Each of several may have an element.
        let beside = found
            .iter()
            .filter(|&&other| other != id && self.tree.parent(other) == self.tree.parent(id));
        let names = |raw: &String| people::names(raw).iter().all(|name| is_name(name));
        let mut more: Vec<Id> = beside.copied().take(12).collect();
        more.sort_unstable();
        for raw in more.into_iter().filter_map(|other| self.people_in(other)).flatten() {
            if names(&raw) && !people.iter().any(|known| raw.contains(known.as_str())) {
                people.push(raw);
            }
        }
        people
    }

    /// The names in an element that is said to hold the author.
    fn people_in(&self, id: Id) -> Option<Vec<String>> {
        let tree = self.tree;
        let is_inner = |&i: &Id| {
            tree.attr(i, "itemprop") == "name" || has_exact(tree, i, "fn author-name name")
        };
        let inner = tree.subtree(id).find(is_inner);
        let leads = |&i: &Id| {
            let href = tree.attr(i, "href");
            tree.name(i) == "a"
                && (tree.attr(i, "rel").contains("author")
                    || href.contains("author")
                    || href.contains("autor"))
        };
        let several = match inner {
            Some(_) => self.several(tree.subtree(id).filter(is_inner)),
            None => self.several(tree.subtree(id).filter(leads)),
        };
        if several.is_some() {
            return several;
        }
        let holder = inner.or_else(|| tree.subtree(id).find(leads)).unwrap_or(id);
        let words = match tree.attr(holder, "content") {
            "" => self.apart(holder),
            content => content.to_owned(),
        };
        if words.chars().count() <= 120 && !people::names(&words).is_empty() {
            return Some(vec![words]);
        }
        let whole = self.apart(id);
        if holder != id && whole.chars().count() <= 120 && !people::names(&whole).is_empty() {
            return Some(vec![whole]);
        }
        // A name over what is said of the person.
        let first = whole.split(" | ").next().unwrap_or_default();
        let names = people::names(first);
        (holder == id
            && first.len() <= 60
            && !names.is_empty()
            && names.iter().all(|name| is_name(name)))
        .then(|| vec![first.to_owned()])
    }

    /// The names of several people, each in an element of its own.
    fn several(&self, elements: impl Iterator<Item = Id>) -> Option<Vec<String>> {
        let mut people: Vec<(&str, String)> = Vec::new();
        for id in elements.take(20) {
            let (to, name) = (self.tree.attr(id, "href"), self.tree.line(id));
            let words = name.split(' ').count();
            // `More by Jane Doe` is nobody else, nor is what leads to the same person.
            let is_new = !people.iter().any(|(known, other)| {
                name.contains(other.as_str()) || !to.is_empty() && to == *known
            });
            if (2..=5).contains(&words) && people::is_cased(&name) && is_new {
                people.push((to, name));
            }
        }
        (people.len() > 1).then(|| people.into_iter().map(|(_, name)| name).collect())
    }

    /// The texts below an element with bars between them, since a style sheet may part them.
    fn apart(&self, id: Id) -> String {
        let texts: Vec<String> = self
            .tree
            .subtree(id)
            .filter(|&i| self.tree.is_text(i))
            .map(|i| fold(self.tree.words(i)))
            .filter(|t| !t.is_empty())
            .collect();
        let mut line = texts.join(" | ");
        for joint in ["and", "und", "et", "&", "y", ",", "with"] {
            line = line.replace(
                &format!(" | {joint} | "),
                &if joint == "," { ", ".to_owned() } else { format!(" {joint} ") },
            );
        }
        line
    }

    /// A name behind the sign of a person.
    fn beside_sign(&self) -> Vec<String> {
        let mut signs: Vec<Id> = self
            .elements()
            .filter(|&id| {
                matches!(self.tree.name(id), "i" | "svg" | "span" | "img")
                    && self.tree.line(id).is_empty()
                    && has_token(self.tree, id, "person user author")
                    && !self.beside(id)
            })
            .collect();
        signs.sort_by_key(|&id| self.distance(id));
        let lines = signs.into_iter().take(5).map(|id| self.tree.line(self.tree.parent(id)));
        lines
            .filter(|line| line.len() <= 60)
            .find(|line| people::names(line).iter().any(|name| is_name(name)))
            .into_iter()
            .collect()
    }

    /// A name that shares a short line below the title with a date.
    fn beside_date(&self) -> Vec<String> {
        let Some(heading) = self.heading else { return Vec::new() };
        let from = self.tree.end(heading);
        for id in (from..(from + 40).min(self.tree.len()))
            .filter(|&id| !is_inline(self.tree.name(id)) || self.tree.name(id) == "font")
        {
            let line = self.apart(id);
            if line.chars().count() > 80 || self.shows_no_date(&line) {
                continue;
            }
            // What leads to a list is the name of the list.
            let lists: Vec<String> = self
                .tree
                .subtree(id)
                .filter(|&i| {
                    let href = self.tree.attr(i, "href");
                    ["/category/", "/tag/", "/topic/", "/section/"].iter().any(|l| href.contains(l))
                })
                .map(|i| self.tree.line(i))
                .collect();
            let line = lists.iter().fold(line, |line, list| line.replace(list.as_str(), ""));
            let names = people::names(&line);
            if !names.is_empty() && names.iter().all(|name| is_name(name)) {
                return names;
            }
        }
        Vec::new()
    }

    fn shows_no_date(&self, line: &str) -> bool {
        self.read(line, Sure::Guessed).or_else(|| self.passed(line, Sure::Guessed)).is_none()
    }

    /// Whether an element is part of a link that holds more than a name: that of another article.
    pub(super) fn is_in_teaser(&self, id: Id) -> bool {
        let link = self.tree.ancestors(id).take(4).find(|&up| self.tree.name(up) == "a");
        link.is_some_and(|up| self.tree.line(up).chars().count() > 90)
    }

    /// `By Jane Doe` in a short line near the title, or anywhere.
    fn bylines(&self) -> Vec<String> {
        let lead = |line: &str| {
            let lower = line.to_lowercase();
            [
                "by ",
                "by: ",
                "von: ",
                "par: ",
                "por: ",
                "von ",
                "par ",
                "por ",
                "written by ",
                "words by ",
                "written by: ",
                "beitrag von ",
                "blog beitrag von ",
                "gastbeitrag von ",
                "ein gastbeitrag von ",
                "redaktion: ",
                "redacción: ",
                "texto: ",
                "testo di ",
                "tekst: ",
                "текст: ",
                "автор: ",
                "文：",
                "文:",
                "記者：",
                "筆者：",
                "글: ",
                "记者：",
                "记者 ",
                "撰文：",
                "posted by ",
                "geschrieben von ",
                "text: ",
                "autor: ",
                "author: ",
                "veröffentlicht von ",
                "eingestellt von ",
                "publié par ",
                "作者：",
                "作者:",
                "文/",
            ]
            .iter()
            .any(|l| lower.starts_with(l))
        };
        let mut found: Vec<(usize, String, Id)> = Vec::new();
        for id in self.elements() {
            if is_inline(self.tree.name(id))
                && !matches!(self.tree.name(id), "span" | "em" | "i" | "small" | "strong" | "font")
                || self.tree.end(id) - id > 25
            {
                continue;
            }
            let starts = self
                .tree
                .subtree(id)
                .find(|&i| self.tree.is_text(i) && !self.tree.words(i).trim().is_empty());
            if !starts.is_some_and(|i| lead(&format!("{} ", self.tree.words(i).trim())))
                || self.beside(id)
            {
                continue;
            }
            let line = self.apart(id);
            if line.chars().count() <= 90 {
                found.push((self.distance(id), line, id));
            }
        }
        found.sort();
        found
            .into_iter()
            .take(100)
            .filter(|(_, _, id)| !self.is_in_teaser(*id))
            .take(5)
            .map(|(_, line, _)| line)
            .find(|line| {
                let names = people::names(line);
                names.first().is_some_and(|n| n.split(' ').count() <= 5 && people::is_cased(n))
            })
            .into_iter()
            .collect()
    }
}

/// Whether a text is written as the name of a person: two to four words with capitals.
fn is_name(name: &str) -> bool {
    let words: Vec<&str> = name.split(' ').collect();
    (2..=4).contains(&words.len())
        && words.iter().all(|w| w.chars().next().is_some_and(char::is_uppercase) && w.len() > 1)
}
