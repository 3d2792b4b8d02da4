//! What a page says about its article: dates, authors, section, picture, addresses.
//!
//! * What this is: the sources in the order of their trust: JSON-LD, `<meta>`, microdata, `<time>`,
//!   the URL, what stands in boxes named for it, what stands near the title.
//! * Its place: `article` asks for each fact once; `linked`, `when` and `people` do the reading.
//! * Invariants: the first source that has an answer that makes sense wins; a date after `now`
//!   is none.
//! * What is not here: the title, see `title`.

use crate::article::linked::{Blocks, Linked};
use crate::article::signs::{self, is_comment};
use crate::article::tree::{Id, Tree, fold, is_inline};
use crate::article::{Sure, When, people, title, when};
use argiope_model::{CanonicalUrl, Time};

/// A page, with what is asked of it often.
pub(crate) struct Facts<'p> {
    tree: &'p Tree,
    pub(crate) linked: Linked<'p>,
    /// `<meta>` in order: name in lower case, content.
    metas: Vec<(String, &'p str)>,
    url: Option<&'p CanonicalUrl>,
    now: Time,
    /// The page as it came, for what scripts say.
    html: &'p str,
    day_first: bool,
    /// The heading that is the title.
    heading: Option<Id>,
    /// Which nodes are in comments, in a sidebar, below the page.
    beside: Vec<bool>,
}

const PUBLISHED: &[&str] = &[
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "datepublished",
    "parsely-pub-date",
    "sailthru.date",
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "dc.date.issued",
    "dcterms.issued",
    "dcterms.created",
    "dc.date.created",
    "dc.date",
    "dcterms.date",
    "dcterms.available",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "publication-date",
    "published_date",
    "published-date",
    "date_published",
    "article.published",
    "article:published",
    "cxenseparse:recs:publishtime",
    "cxenseparse:publishtime",
    "bt:pubdate",
    "rnews:datepublished",
    "displaydate",
    "originalpublicationdate",
    "ptime",
    "date",
    "article:post_date",
    "article_date_original",
    "sdate",
    "created",
    "article:create_at",
    "og:pubdate",
    "shareaholic:article_published_time",
    "dc.date.publication",
    "publicationdate",
    "vr:published_time",
    "weibo: article:create_at",
    "dc:created",
    "dc:date",
    "datecreated",
    "date.created",
    "date.release",
    "eprints.date",
    "release_date",
    "releasedate",
    "article.created",
    "video:release_date",
    "og:release_date",
    "blogger-date",
    "timestamp",
    "searchdate",
    "time",
];

const MODIFIED: &[&str] = &[
    "article:modified_time",
    "og:updated_time",
    "og:modified_time",
    "datemodified",
    "last-modified",
    "lastmod",
    "revised",
    "dcterms.modified",
    "dc.date.modified",
    "article.updated",
    "updated_time",
    "date_modified",
    "modified",
    "lastmodified",
    "article:modified",
];

const AUTHORS: &[&str] = &[
    "author",
    "article:author",
    "og:article:author",
    "byl",
    "parsely-author",
    "sailthru.author",
    "dc.creator",
    "dcterms.creator",
    "dc:creator",
    "citation_author",
    "creator",
    "rbauthors",
    "authors",
    "article.author",
    "article:author_name",
    "cxenseparse:author",
    "twitter:data1",
    "dable:author",
    "shareaholic:article_author_name",
    "book:author",
];

/// Classes that say that an element holds the author.
const BYLINES: &[&str] = &[
    "author",
    "byline",
    "author-name",
    "authorname",
    "byline-name",
    "article-author",
    "post-author",
    "entry-author",
    "fn",
    "autor",
    "auteur",
    "writer",
    "by-author",
    "c-byline",
    "article__author",
    "contributor",
    "author__name",
    "author_name",
    "article-byline",
    "byline__name",
    "meta-author",
    "post_author",
    "postauthor",
];

impl<'p> Facts<'p> {
    pub(crate) fn new(
        tree: &'p Tree,
        html: &'p str,
        objects: &'p Blocks,
        url: Option<&'p CanonicalUrl>,
        now: Time,
        heading: Option<Id>,
        language: Option<&str>,
    ) -> Self {
        let mut metas = Vec::new();
        for id in 0..tree.len() {
            if tree.name(id) != "meta" {
                continue;
            }
            let content = tree.attr(id, "content").trim();
            if content.is_empty() {
                continue;
            }
            for key in ["property", "name", "itemprop", "http-equiv"] {
                let name = tree.attr(id, key).trim().to_lowercase();
                if !name.is_empty() {
                    metas.push((name, content));
                }
            }
        }
        let english = language == Some("en");
        let host = url.map_or("", CanonicalUrl::host);
        let british =
            [".uk", ".au", ".nz", ".ie", ".in", ".za"].iter().any(|end| host.ends_with(end));
        let mut beside = vec![false; tree.len()];
        let mut in_article = vec![false; tree.len()];
        for id in 1..tree.len() {
            let up = tree.parent(id);
            let name = tree.name(id);
            in_article[id] = in_article[up] || name == "article";
            beside[id] = beside[up]
                || (matches!(name, "aside" | "footer" | "nav") && !in_article[up])
                || (!name.is_empty() && is_comment(tree, id));
        }
        Facts {
            tree,
            beside,
            linked: Linked::of(objects),
            metas,
            url,
            now,
            html,
            day_first: !english || british,
            heading,
        }
    }

    /// The content of the first `<meta>` that has one of the names; earlier names first.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'p str> {
        names.iter().find_map(|name| self.metas.iter().find(|(n, _)| n == name).map(|(_, c)| *c))
    }

    fn read(&self, text: &str, sure: Sure) -> Option<When> {
        let cut: String = text.chars().take(300).collect();
        let read = when::first(&cut, self.day_first)?;
        // A day ahead is another zone; more is a mistake. Nothing on the web is older than the web.
        let ahead = read.time.0 - self.now.0;
        (ahead < 36 * 3_600_000).then_some(When {
            time: read.time,
            offset_minutes: read.zone,
            has_clock: read.clock,
            sure,
        })
    }

    /// When the article appeared.
    pub(crate) fn published(&self) -> Option<When> {
        let stated = |text: Option<String>| text.and_then(|t| self.read(&t, Sure::Stated));
        stated(self.linked.text("datePublished"))
            .or_else(|| self.dated_metas(PUBLISHED))
            .or_else(|| self.microdata(&["datePublished", "dateCreated"]))
            .or_else(|| stated(self.linked.text("dateCreated")))
            .or_else(|| stated(self.linked.any_text("datePublished")))
            .or_else(|| self.time_element())
            .or_else(|| self.url_date())
            .or_else(|| self.named_box())
            .or_else(|| self.near_title())
            .or_else(|| stated(self.linked.any_text("uploadDate")))
            .or_else(|| self.scripts())
            .or_else(|| self.description().and_then(|d| self.read(&d, Sure::Guessed)))
            .or_else(|| self.any_box())
            .or_else(|| self.modified().map(|m| When { sure: Sure::Guessed, ..m }))
    }

    /// When it was changed, if it says so.
    pub(crate) fn modified(&self) -> Option<When> {
        let stated = |text: Option<String>| text.and_then(|t| self.read(&t, Sure::Stated));
        stated(self.linked.text("dateModified"))
            .or_else(|| self.dated_metas(MODIFIED))
            .or_else(|| self.microdata(&["dateModified"]))
            .or_else(|| stated(self.linked.any_text("dateModified")))
    }

    fn dated_metas(&self, names: &[&str]) -> Option<When> {
        names.iter().find_map(|name| {
            self.metas
                .iter()
                .filter(|(n, _)| n == name)
                .find_map(|(_, c)| self.read(c, Sure::Stated))
        })
    }

    fn microdata(&self, names: &[&str]) -> Option<When> {
        names.iter().find_map(|name| {
            self.elements().find_map(|id| {
                if self
                    .tree
                    .attr(id, "itemprop")
                    .split_ascii_whitespace()
                    .all(|p| !p.eq_ignore_ascii_case(name))
                    || self.beside(id)
                {
                    return None;
                }
                self.element_date(id, Sure::Stated)
            })
        })
    }

    /// The date of an element: its attributes, else its words.
    fn element_date(&self, id: Id, sure: Sure) -> Option<When> {
        ["datetime", "content", "title"]
            .iter()
            .find_map(|key| self.read(self.tree.attr(id, key), sure))
            .or_else(|| {
                let words = self.tree.line(id);
                (words.len() < 120).then(|| self.read(&words, sure)).flatten()
            })
    }

    fn elements(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.tree.len()).filter(|&id| !self.tree.name(id).is_empty())
    }

    /// Whether an element is in comments, a sidebar, a list of other articles.
    fn beside(&self, id: Id) -> bool {
        self.beside[id]
    }

    /// How far an element is from the title.
    fn distance(&self, id: Id) -> usize {
        self.heading.map_or(id, |h| id.abs_diff(h))
    }

    fn time_element(&self) -> Option<When> {
        let times: Vec<Id> = self
            .elements()
            .filter(|&id| {
                let tree = self.tree;
                (tree.name(id) == "time"
                    || (tree.name(id) == "abbr" && has_token(tree, id, &["published", "date"])))
                    && !self.beside(id)
            })
            .collect();
        let marked = times
            .iter()
            .copied()
            .find(|&id| self.tree.has(id, "pubdate") || has_token(self.tree, id, &["published"]));
        let near = || {
            times
                .iter()
                .copied()
                .filter(|&id| !has_token(self.tree, id, &["updated", "modified"]))
                .min_by_key(|&id| self.distance(id))
        };
        let any = || times.iter().copied().min_by_key(|&id| self.distance(id));
        marked
            .and_then(|id| self.element_date(id, Sure::Likely))
            .or_else(|| near().and_then(|id| self.element_date(id, Sure::Likely)))
            .or_else(|| any().and_then(|id| self.element_date(id, Sure::Likely)))
    }

    /// `/2026/01/31/`, `/2026-01-31-`, `/20260131/`.
    fn url_date(&self) -> Option<When> {
        let url = self.url?;
        let path = url.path();
        let bytes = path.as_bytes();
        for at in 0..bytes.len() {
            if at > 0 && bytes[at - 1].is_ascii_digit() {
                continue;
            }
            let digits = |from: usize, count: usize| {
                path.get(from..from + count)
                    .filter(|s| s.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|s| s.parse::<i64>().ok())
            };
            let sep = |i: usize| bytes.get(i).filter(|b| matches!(b, b'/' | b'-' | b'_')).copied();
            let Some(year) = digits(at, 4).filter(|y| (1995..=2100).contains(y)) else { continue };
            let found = match sep(at + 4) {
                Some(s) if sep(at + 7) == Some(s) => digits(at + 5, 2).zip(
                    digits(at + 8, 2)
                        .filter(|_| !bytes.get(at + 10).is_some_and(u8::is_ascii_digit)),
                ),
                None => digits(at + 4, 2)
                    .zip(digits(at + 6, 2))
                    .filter(|_| !bytes.get(at + 8).is_some_and(u8::is_ascii_digit)),
                _ => None,
            };
            if let Some((month, day)) = found {
                if let Some(when) = self.read(&format!("{year}-{month:02}-{day:02}"), Sure::Likely)
                {
                    return Some(when);
                }
            }
        }
        None
    }

    /// An element whose class says that it holds a date.
    fn named_box(&self) -> Option<When> {
        const NAMES: &[&str] = &[
            "date",
            "published",
            "pubdate",
            "datetime",
            "dateline",
            "timestamp",
            "time",
            "postdate",
            "entrydate",
            "datum",
            "posted",
            "byline",
            "postmeta",
            "meta",
            "fecha",
            "postinfo",
            "info",
            "created",
            "submitted",
            "publish",
            "publication",
            "artikeldatum",
        ];
        let mut boxes: Vec<Id> = self
            .elements()
            .filter(|&id| {
                has_token(self.tree, id, NAMES) && !self.beside(id) && self.tree.end(id) - id < 80
            })
            .collect();
        boxes.sort_by_key(|&id| self.distance(id));
        boxes.into_iter().take(40).find_map(|id| {
            let words = self.tree.line(id);
            (words.len() < 250).then(|| self.read(&words, Sure::Likely)).flatten()
        })
    }

    /// Short lines around the title.
    fn near_title(&self) -> Option<When> {
        let heading = self.heading?;
        let lines = |range: std::ops::Range<Id>| {
            range
                .filter(|&id| self.tree.is_text(id))
                .map(|id| fold(self.tree.words(id)))
                .filter(|l| (8..160).contains(&l.len()))
                .take(30)
                .collect::<Vec<_>>()
        };
        let after =
            lines(self.tree.end(heading)..(self.tree.end(heading) + 150).min(self.tree.len()));
        let before = lines(heading.saturating_sub(40)..heading);
        after.iter().chain(before.iter().rev()).find_map(|l| self.read(l, Sure::Guessed))
    }

    /// What scripts call the date.
    fn scripts(&self) -> Option<When> {
        const KEYS: &[&str] = &[
            "datePublished",
            "publishDate",
            "publishedAt",
            "published_at",
            "publish_date",
            "date_published",
            "publishedDate",
            "firstPublished",
            "pubDate",
            "publicationDate",
        ];
        KEYS.iter().find_map(|key| {
            let at = self.html.find(&format!("\"{key}\""))? + key.len() + 2;
            let rest: String = self.html[at..].chars().take(60).collect();
            let value = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            self.read(&value[..value.find('"')?], Sure::Likely)
        })
    }

    /// Short lines anywhere that hold nothing but a date.
    fn any_box(&self) -> Option<When> {
        (0..self.tree.len()).filter(|&id| self.tree.is_text(id)).find_map(|id| {
            let line = self.tree.words(id).trim();
            if line.len() < 8 || line.len() > 90 || !line.bytes().any(|b| b.is_ascii_digit()) {
                return None;
            }
            if self.beside(id) || line.contains('©') || line.to_lowercase().contains("copyright") {
                return None;
            }
            self.read(&fold(line), Sure::Guessed)
        })
    }

    /// Who wrote it. A person before the house: many pages call the site their author and name
    /// the person in the byline.
    pub(crate) fn authors(&self) -> Vec<String> {
        let site = title::plain(&self.site().unwrap_or_default());
        let host = title::plain(self.url.map_or("", |u| u.host().trim_start_matches("www.")));
        let is_house = |name: &String| {
            let name = title::plain(name);
            let like = |other: &str| {
                !other.is_empty()
                    && (name == other
                        || (name.len() >= 5
                            && (other.contains(&name)
                                || (other.len() >= 5 && name.contains(other)))))
            };
            like(&site)
                || like(&host)
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
        let mut take = |raws: Vec<String>| {
            let mut out: Vec<String> = Vec::new();
            for name in raws.iter().flat_map(|raw| people::names(raw)) {
                if !out.contains(&name) {
                    out.push(name);
                }
            }
            if !out.is_empty() && out.iter().all(is_house) {
                if house.is_empty() {
                    house = out;
                }
                return None;
            }
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
            .or_else(|| AUTHORS.iter().find_map(|name| take(metas(name))))
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
                take(self.people_elements(|f, id| {
                    has_token(
                        f.tree,
                        id,
                        &[
                            "author",
                            "byline",
                            "autor",
                            "auteur",
                            "writer",
                            "autorin",
                            "verfasser",
                            "authors",
                        ],
                    )
                }))
            })
            .or_else(|| take(self.bylines()));
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
        for id in found.into_iter().take(12) {
            let tree = self.tree;
            let inner = tree.subtree(id).find(|&i| {
                tree.attr(i, "itemprop") == "name"
                    || has_exact(tree, i, &["fn", "author-name", "name", "url fn n"])
            });
            let link = || {
                tree.subtree(id).find(|&i| {
                    tree.name(i) == "a"
                        && (tree.attr(i, "rel").contains("author")
                            || tree.attr(i, "href").contains("author")
                            || tree.attr(i, "href").contains("autor"))
                })
            };
            let holder = inner.or_else(link).unwrap_or(id);
            let words = match tree.attr(holder, "content") {
                "" => self.apart(holder),
                content => content.to_owned(),
            };
            if words.chars().count() <= 120 && !people::names(&words).is_empty() {
                return vec![words];
            }
            let whole = self.apart(id);
            if holder != id && whole.chars().count() <= 120 && !people::names(&whole).is_empty() {
                return vec![whole];
            }
        }
        Vec::new()
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

    /// `By Jane Doe` in a short line near the title, or anywhere.
    fn bylines(&self) -> Vec<String> {
        let lead = |line: &str| {
            let lower = line.to_lowercase();
            [
                "by ",
                "von ",
                "par ",
                "por ",
                "written by ",
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
        let mut found: Vec<(usize, String)> = Vec::new();
        for id in self.elements() {
            if is_inline(self.tree.name(id)) && self.tree.name(id) != "span"
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
                found.push((self.distance(id), line));
            }
        }
        found.sort();
        found
            .into_iter()
            .take(5)
            .map(|(_, line)| line)
            .find(|line| {
                let names = people::names(line);
                names.first().is_some_and(|n| {
                    n.chars().next().is_some_and(|c| c.is_uppercase() || !c.is_ascii())
                        && n.split(' ').count() <= 5
                })
            })
            .into_iter()
            .collect()
    }

    /// The part of the site it is in.
    pub(crate) fn section(&self) -> Option<String> {
        self.meta(&[
            "article:section",
            "og:article:section",
            "parsely-section",
            "sailthru.section",
            "cxenseparse:section",
            "section",
        ])
        .map(fold)
        .or_else(|| self.linked.text("articleSection"))
        .filter(|s| !s.is_empty() && s.len() < 100)
    }

    /// The picture that leads it.
    pub(crate) fn picture(&self) -> Option<String> {
        let tree = self.tree;
        self.meta(&[
            "og:image",
            "og:image:url",
            "og:image:secure_url",
            "twitter:image",
            "twitter:image:src",
            "image",
            "parsely-image-url",
            "sailthru.image.full",
        ])
        .map(str::to_owned)
        .or_else(|| self.linked.picture())
        .or_else(|| {
            self.elements()
                .find(|&id| tree.name(id) == "link" && tree.attr(id, "rel") == "image_src")
                .map(|id| tree.attr(id, "href").to_owned())
        })
        .or_else(|| {
            self.elements()
                .find(|&id| tree.attr(id, "itemprop") == "image" && tree.has(id, "src"))
                .map(|id| tree.attr(id, "src").to_owned())
        })
        .and_then(|reference| self.absolute(&reference))
    }

    /// The address the page calls its own.
    pub(crate) fn canonical(&self) -> Option<String> {
        let tree = self.tree;
        let link = self.elements().find(|&id| {
            tree.name(id) == "link"
                && tree
                    .attr(id, "rel")
                    .split_ascii_whitespace()
                    .any(|r| r.eq_ignore_ascii_case("canonical"))
        });
        link.map(|id| tree.attr(id, "href"))
            .or_else(|| self.meta(&["og:url"]))
            .filter(|r| !r.trim().is_empty())
            .and_then(|r| self.absolute(r))
    }

    fn absolute(&self, reference: &str) -> Option<String> {
        let reference = reference.trim();
        match self.url {
            Some(url) => url.join(reference).ok(),
            None => CanonicalUrl::parse(reference).ok(),
        }
        .map(|url| url.as_str().to_owned())
    }

    /// What the site calls itself.
    pub(crate) fn site(&self) -> Option<String> {
        self.meta(&[
            "og:site_name",
            "application-name",
            "dc.publisher",
            "dcterms.publisher",
            "citation_journal_title",
            "apple-mobile-web-app-title",
        ])
        .map(fold)
        .or_else(|| self.linked.names("publisher").into_iter().next())
        .filter(|s| !s.is_empty() && s.len() < 120)
    }

    /// The language as declared.
    pub(crate) fn language(&self) -> Option<String> {
        let tree = self.tree;
        let html = tree.first("html").map(|id| tree.attr(id, "lang")).unwrap_or("");
        [
            html,
            self.meta(&["content-language", "og:locale", "language", "dc.language"]).unwrap_or(""),
        ]
        .iter()
        .find_map(|v| crate::language::primary_tag(v.as_bytes()))
        .or_else(|| {
            self.linked.text("inLanguage").and_then(|v| crate::language::primary_tag(v.as_bytes()))
        })
    }

    /// What the page says it is about.
    pub(crate) fn description(&self) -> Option<String> {
        self.meta(&[
            "og:description",
            "description",
            "twitter:description",
            "dc.description",
            "dcterms.description",
        ])
        .map(fold)
        .or_else(|| self.linked.text("description"))
        .filter(|s| s.len() >= 20)
    }
}

/// Whether a class or the id has one of the words.
fn has_token(tree: &Tree, id: Id, wanted: &[&str]) -> bool {
    ["class", "id"].iter().any(|key| {
        let value = tree.attr(id, key);
        !value.is_empty()
            && value.len() < 200
            && signs::tokens(value).iter().any(|t| wanted.contains(&t.as_str()))
    })
}

/// Whether a class or the id is one of the names.
fn has_exact(tree: &Tree, id: Id, wanted: &[&str]) -> bool {
    ["class", "id"].iter().any(|key| {
        tree.attr(id, key)
            .split_ascii_whitespace()
            .any(|c| wanted.contains(&c.to_ascii_lowercase().as_str()))
    })
}
