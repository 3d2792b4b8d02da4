//! What a page says about its article.
//!
//! * What this is: the sources in the order of their trust: JSON-LD, `<meta>`, microdata, `<time>`,
//!   the URL, what stands in boxes named for it, what stands near the title.
//! * Its place: `article` asks for each fact once; `linked`, `when` and `people` do the reading.
//! * Invariants: the first source that has an answer that makes sense wins; a date after `now`
//!   is none.
//! * What is not here: dates (`dates`), authors (`bylines`) and the title (`title`).

use crate::article::linked::{Blocks, Linked};
use crate::article::signs::{self, is_comment};
use crate::article::tree::{Id, Tree, fold};
use crate::article::whole::Says;
use crate::article::{Sure, When, when, zones};
use argiope_model::{CanonicalUrl, Time};

/// How many `<meta>` are looked at.
const MAX_METAS: usize = 4000;

/// What JSON-LD calls an article.
const ARTICLES: &[&str] = &[
    "Article",
    "NewsArticle",
    "ReportageNewsArticle",
    "OpinionNewsArticle",
    "BlogPosting",
    "LiveBlogPosting",
    "TechArticle",
    "ScholarlyArticle",
    "Report",
    "Recipe",
    "HowTo",
];

/// Words of a step on the way to an article.
const CRUMB: usize = 4;

/// A page, with what is asked of it often.
pub(crate) struct Facts<'p> {
    pub(super) tree: &'p Tree,
    pub(crate) linked: Linked<'p>,
    /// `<meta>` in order: name in lower case, content.
    pub(super) metas: Vec<(String, &'p str)>,
    pub(super) url: Option<&'p CanonicalUrl>,
    pub(super) now: Time,
    /// The page as it came, for what scripts say.
    pub(super) html: &'p str,
    pub(super) day_first: bool,
    /// Minutes east of Greenwich where it is most likely read.
    pub(super) east: Option<i16>,
    /// The heading that is the title.
    pub(super) heading: Option<Id>,
    /// Which nodes are in comments, in a sidebar, below the page, or say something of a picture.
    pub(super) beside: Vec<bool>,
    /// Those of them that are not of a picture.
    pub(super) of_others: Vec<bool>,
}

/// Whether a URL is that of a place where people talk: `forum.example.org`, `/viewtopic.php`, `/r/`.
fn is_of_talk(url: &CanonicalUrl) -> bool {
    let host = url.host().split('.').rev().skip(1);
    let path = url.path().split(['/', '.']).take(4);
    host.chain(path).any(|part| {
        part.contains("forum")
            || matches!(
                part,
                "board"
                    | "boards"
                    | "community"
                    | "discuss"
                    | "discussion"
                    | "discussions"
                    | "thread"
                    | "threads"
                    | "topic"
                    | "showthread"
                    | "viewtopic"
                    | "questions"
                    | "reddit"
                    | "bbs"
            )
    })
}

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
        // Who writes the month first: English, save some countries; and who does not say, on
        // a domain of no country.
        let host = url.map_or("", CanonicalUrl::host);
        let ends = |list: &str| list.split(' ').any(|end| host.ends_with(end));
        let day_first = match language {
            Some("en") => ends(".uk .au .nz .ie .in .za"),
            Some(_) => true,
            None => !ends(".com .org .net .gov .edu .us .io .dev"),
        };
        let mut beside = vec![false; tree.len()];
        let mut of_others = vec![false; tree.len()];
        let mut pictured = vec![false; tree.len()];
        let mut in_article = vec![false; tree.len()];
        for id in 1..tree.len() {
            let up = tree.parent(id);
            let name = tree.name(id);
            pictured[id] = pictured[up] || signs::is_picture(tree, id);
            in_article[id] = in_article[up] || name == "article";
            let is_around = |is: &dyn Fn(&Tree, Id) -> bool| {
                heading.is_none_or(|h| h < id || h >= tree.end(id)) && is(tree, id)
            };
            let is_beside = (matches!(name, "aside" | "footer" | "nav") && !in_article[up])
                || !name.is_empty() && (is_comment(tree, id) || is_around(&signs::is_of_others));
            of_others[id] = of_others[up] || is_beside;
            beside[id] =
                beside[up] || is_beside || !name.is_empty() && is_around(&signs::is_picture);
        }
        let mut metas = Vec::new();
        for id in (0..tree.len()).filter(|&id| !pictured[id]) {
            if tree.name(id) != "meta" || metas.len() >= MAX_METAS {
                continue;
            }
            let content = tree.attr(id, "content").trim();
            if content.is_empty() {
                continue;
            }
            for key in ["property", "name", "itemprop", "http-equiv"] {
                let names = tree.attr(id, key).to_lowercase();
                metas.extend(names.split_ascii_whitespace().map(|n| (n.to_owned(), content)));
            }
        }
        Facts {
            tree,
            beside,
            of_others,
            linked: Linked::of(objects),
            metas,
            url,
            now,
            html,
            day_first,
            east: zones::likely(language, host, now),
            heading,
        }
    }

    /// The content of the first `<meta>` that has one of the names; earlier names first.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&'p str> {
        names.iter().find_map(|name| self.metas.iter().find(|(n, _)| n == name).map(|(_, c)| *c))
    }

    /// What kind of page it calls itself; `dated` when it tells who wrote it, or when.
    pub(crate) fn says(&self, dated: bool) -> Says {
        let is = |kinds: &[&str]| self.linked.has_kind(kinds);
        if is(&["DiscussionForumPosting", "QAPage"]) || self.url.is_some_and(is_of_talk) {
            return Says::Talk;
        }
        let list = is(&["ItemList", "CollectionPage", "OfferCatalog", "SearchResultsPage"]);
        if list && !is(ARTICLES) && self.meta(&["article:published_time"]).is_none() {
            return Says::List;
        }
        let kind = self.meta(&["og:type"]).unwrap_or("").to_ascii_lowercase();
        if matches!(kind.as_str(), "article" | "news")
            || is(ARTICLES)
            || self.meta(&["article:published_time"]).is_some()
        {
            return Says::Article;
        }
        if dated { Says::Dated } else { Says::Nothing }
    }

    pub(super) fn read(&self, text: &str, sure: Sure) -> Option<When> {
        let cut: String = text.chars().take(300).collect();
        let read = when::first(&cut, self.day_first)?;
        // A day ahead is another zone; more is a mistake. Nothing on the web is older than the web.
        let ahead = read.time.0 - self.now.0;
        (ahead < 36 * 3_600_000).then_some(When {
            time: read.time,
            offset_minutes: read.zone,
            has_clock: read.clock,
            has_zone: read.zone.is_some(),
            sure,
        })
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Id> + '_ {
        (0..self.tree.len()).filter(|&id| !self.tree.name(id).is_empty())
    }

    /// Whether an element is in comments, a sidebar, a list of other articles.
    pub(super) fn beside(&self, id: Id) -> bool {
        self.beside[id]
    }

    /// How far an element is from the title.
    pub(super) fn distance(&self, id: Id) -> usize {
        self.heading.map_or(id, |h| id.abs_diff(h))
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
        .or_else(|| self.named_section())
        .or_else(|| self.last_crumb())
        .filter(|s| !s.is_empty() && s.len() < 100)
    }

    /// Where the way from the front page to the article ends.
    fn last_crumb(&self) -> Option<String> {
        let tree = self.tree;
        let is_way = |id: &Id| has_token(tree, *id, "breadcrumb breadcrumbs");
        let way = self.elements().find(is_way)?;
        let host = self.url.map_or("", |url| url.host());
        let is_step = |id: &Id| {
            let to = self.absolute(tree.attr(*id, "href"));
            let to = to.and_then(|to| CanonicalUrl::parse(&to).ok());
            to.is_some_and(|to| to.path() != "/" && Some(&to) != self.url && !host.is_empty())
        };
        let mut steps = tree.subtree(way).filter(|id| tree.name(*id) == "a").filter(is_step);
        let said = tree.line(steps.next_back()?);
        (1..=CRUMB).contains(&said.split_whitespace().count()).then_some(said)
    }

    /// The section that microdata names.
    fn named_section(&self) -> Option<String> {
        let tree = self.tree;
        let is_it = |id: &Id| tree.attr(*id, "itemprop").split(' ').any(|p| p == "articleSection");
        let id = self.elements().find(is_it)?;
        let said = tree.attr(id, "content");
        Some(if said.is_empty() { tree.line(id) } else { fold(said) })
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

    pub(super) fn absolute(&self, reference: &str) -> Option<String> {
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
        self.descriptions().into_iter().next()
    }

    /// All that the page says it is about, the surest first.
    pub(crate) fn descriptions(&self) -> Vec<String> {
        let metas = [
            "og:description",
            "description",
            "twitter:description",
            "dc.description",
            "dcterms.description",
        ];
        let metas = metas.iter().filter_map(|name| self.meta(&[name])).map(fold);
        metas.chain(self.linked.text("description")).filter(|s| s.len() >= 20).collect()
    }
}

/// Whether a class or the id has one of the words.
pub(super) fn has_token(tree: &Tree, id: Id, wanted: &str) -> bool {
    ["class", "id"].iter().any(|key| {
        let value = tree.attr(id, key);
        !value.is_empty()
            && value.len() < 200
            && signs::tokens(value).iter().any(|t| wanted.split(' ').any(|w| w == t))
    })
}

/// Whether a class or the id is one of the names.
pub(super) fn has_exact(tree: &Tree, id: Id, wanted: &str) -> bool {
    ["class", "id"].iter().any(|key| {
        tree.attr(id, key)
            .split_ascii_whitespace()
            .any(|c| wanted.split(' ').any(|w| c.eq_ignore_ascii_case(w)))
    })
}

#[cfg(test)]
mod tests {
    use crate::parse_article;
    use argiope_model::{CanonicalUrl, Time};

    #[test]
    fn a_picture_in_a_figure_is_one_of_the_article() {
        let url = CanonicalUrl::parse("http://www.n.test/a/7").unwrap();
        let words = "<p>Some words of a text that goes on, and on, for long enough to be one.</p>";
        let figure = "<figure><img src=/media/7.jpg width=800 height=450><figcaption>At noon</figcaption></figure>";
        let related = "<div class=related><figure><img src=/media/8.jpg></figure></div>";
        let page = |figure: &str| {
            let page =
                format!("<div><h1>A title of it</h1>{figure}<div>{}</div></div>", words.repeat(6));
            parse_article(page.as_bytes(), None, Some(&url), Time(1_800_000_000_000))
        };
        assert_eq!(page(figure).picture.as_deref(), Some("http://www.n.test/media/7.jpg"));
        assert_eq!(page(related).picture, None);
    }

    #[test]
    fn a_section_is_named_by_data_or_by_the_way_that_leads_there() {
        let url = CanonicalUrl::parse("http://www.n.test/a/7").unwrap();
        let of = |html: &str| {
            let page = format!("<h1>A title</h1>{html}<p>Some words of a text.</p>");
            parse_article(page.as_bytes(), None, Some(&url), Time(1_800_000_000_000)).section
        };
        for (html, section) in [
            ("<meta itemprop=articleSection content=' World  news '>", Some("World news")),
            ("<b itemprop='x articleSection'>World</b>", Some("World")),
            (
                "<div class=breadcrumb><a href=/>Home</a> › <a href=/world/>World</a></div>",
                Some("World"),
            ),
            (
                "<ol class='c-breadcrumbs'><li><a href=/>Home</a><li><a href=/a/7>A title</a></ol>",
                None,
            ),
            ("<nav><a href=/world/>World</a></nav>", None),
        ] {
            assert_eq!(of(html).as_deref(), section, "{html}");
        }
    }
}
