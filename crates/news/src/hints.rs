//! What a page says about itself: its feeds, and whether it is an article or a front page.
//!
//! * What this is: links to feeds in the head and in the body of a page; and the signs of
//!   schema.org, Open Graph and the form of the URL, weighed into one word.
//! * Its place: the collector asks it about the first page of a site, and about each page that a
//!   headline led to.
//! * Invariants: feeds that are named come before those that are only linked, those of comments
//!   last; each once.
//! * What is not here: reading the feeds (`parse`), and title, author and text of an article.

use crate::shape::article_score;
use argiope_model::CanonicalUrl;
use argiope_parse::Outline;

/// Feeds of a page that are told.
const MAX_FEEDS: usize = 32;

/// Types that a page may give itself.
const MAX_TYPES: usize = 64;

/// A link to a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLink {
    /// Where it is.
    pub url: CanonicalUrl,
    /// What it is called; may be empty.
    pub title: String,
    /// Whether the page names it as its feed; else it is a link that looks like one.
    pub named: bool,
}

impl FeedLink {
    /// Whether it is of what readers say, by its address or its name.
    pub fn is_of_comments(&self) -> bool {
        let title = self.title.to_lowercase();
        self.url.path().contains("/comments/")
            || ["comment", "kommentar", "commentaire", "comentario", "commenti"]
                .iter()
                .any(|word| title.contains(word))
    }
}

/// What kind of page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// One article.
    Article,
    /// A page that leads to articles.
    Front,
    /// Nothing tells.
    Unknown,
}

/// The feeds of a page at `url`.
pub fn feed_links(page: &Outline, url: &CanonicalUrl) -> Vec<FeedLink> {
    let base = page.inside(0, &["base"]).find_map(|n| url.join(page.attribute(n, "href")?).ok());
    let base = base.as_ref().unwrap_or(url);
    let mut out: Vec<FeedLink> = Vec::new();
    for node in page.inside(0, &["link", "a"]) {
        let said = |name| page.attribute(node, name).unwrap_or_default().trim();
        let Ok(to) = base.join(said("href")) else { continue };
        if said("href").is_empty() {
            continue;
        }
        let kind = said("type").to_ascii_lowercase();
        let is_alternate =
            said("rel").split_whitespace().any(|r| r.eq_ignore_ascii_case("alternate"));
        let named = page.nodes[node].name == "link" && is_alternate && is_feed_type(&kind, &to);
        let text = page.line(node, 80, |_| false);
        let linked = page.nodes[node].name == "a"
            && (is_feed_type(&kind, &to) || looks_like_feed(&to, &text));
        if (named || linked) && out.iter().all(|feed| feed.url != to) {
            let title = if said("title").is_empty() { text } else { said("title").to_owned() };
            out.push(FeedLink { url: to, title, named });
        }
        if out.len() == 10 * MAX_FEEDS {
            break;
        }
    }
    out.sort_by_key(|feed| (feed.is_of_comments(), !feed.named));
    out.truncate(MAX_FEEDS);
    out
}

fn is_feed_type(kind: &str, url: &CanonicalUrl) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind {
        "application/rss+xml"
        | "application/atom+xml"
        | "application/feed+json"
        | "application/rdf+xml"
        | "text/rss+xml"
        | "application/x.atom+xml"
        | "application/x-atom+xml" => true,
        "application/json" | "text/xml" | "application/xml" => looks_like_feed(url, ""),
        _ => false,
    }
}

/// Whether a URL looks like that of a feed.
pub fn is_feed_url(url: &CanonicalUrl) -> bool {
    looks_like_feed(url, "")
}

/// By the end of its path, or by words that mean nothing else.
fn looks_like_feed(url: &CanonicalUrl, text: &str) -> bool {
    let path = url.path().to_ascii_lowercase();
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let by_path = matches!(
        last,
        "feed"
            | "rss"
            | "atom"
            | "feeds"
            | "rss2"
            | "feed.xml"
            | "rss.xml"
            | "atom.xml"
            | "feed.json"
            | "index.rdf"
            | "rss.php"
            | "index.rss"
            | "rss2.xml"
            | "feed.rss"
            | "feed.atom"
    ) || last.ends_with(".rss")
        || last.ends_with(".atom")
        || last.ends_with(".rdf");
    let query = url.query().unwrap_or_default();
    let by_query =
        ["feed=rss", "feed=atom", "format=rss", "format=feed", "type=rss", "alt=rss", "output=rss"]
            .iter()
            .any(|part| query.contains(part));
    let by_text = matches!(
        text.trim().to_ascii_lowercase().as_str(),
        "rss" | "atom" | "rss feed" | "rss-feed" | "atom feed"
    );
    by_path
        || by_query
        || by_text && (path.ends_with(".xml") || path.contains("rss") || path.contains("feed"))
}

/// What kind of page one at `url` is.
pub fn page_kind(page: &Outline, url: &CanonicalUrl) -> PageKind {
    let mut score = article_score(url).clamp(-1.5, 2.0) / 2.0;
    if url.path() == "/" {
        score -= 3.0;
    }
    for node in page.inside(0, &["meta"]) {
        let said =
            |name| page.attribute(node, name).unwrap_or_default().trim().to_ascii_lowercase();
        let name = if said("property").is_empty() { said("name") } else { said("property") };
        score += match (name.as_str(), said("content").as_str()) {
            ("og:type", "article" | "news" | "newsarticle" | "blog") => 2.0,
            ("og:type", "website" | "homepage") => -1.0,
            // A film with a sentence to it.
            ("og:type", kind) if kind.starts_with("video") => -2.0,
            ("article:published_time" | "article:modified_time", when) if !when.is_empty() => 1.5,
            _ => 0.0,
        };
    }
    for kind in schema_types(page) {
        score += match kind.as_str() {
            "newsarticle"
            | "article"
            | "reportagenewsarticle"
            | "blogposting"
            | "liveblogposting"
            | "analysisnewsarticle"
            | "opinionnewsarticle"
            | "reviewnewsarticle" => 3.0,
            "collectionpage" | "itemlist" | "blog" | "searchresultspage" => -2.0,
            _ => 0.0,
        };
    }
    // Many articles that are marked as such are a list of them.
    let marked = page.inside(0, &["article"]).take(8).count();
    if marked >= 6 {
        score -= 1.5;
    }
    match score {
        s if s >= 1.0 => PageKind::Article,
        s if s <= -1.0 => PageKind::Front,
        _ => PageKind::Unknown,
    }
}

/// The types of schema.org that a page gives itself, each once, in lower case: as data for
/// programs, and on the element that holds its text.
fn schema_types(page: &Outline) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or_default().trim().to_ascii_lowercase();
        if out.len() < MAX_TYPES && !out.contains(&name) {
            out.push(name);
        }
    };
    for node in page.inside(0, &["script"]) {
        if !page.attribute(node, "type").is_some_and(|t| t.contains("ld+json")) {
            continue;
        }
        for text in page.children(node).map(|n| &page.nodes[n].text) {
            // Only the outermost matter; a list names its articles inside.
            let mut depth = 0_usize;
            for (at, c) in text.char_indices() {
                match c {
                    '{' | '[' => depth += 1,
                    '}' | ']' => depth = depth.saturating_sub(1),
                    '"' if depth <= 3 => {
                        if let Some(rest) = text[at..].strip_prefix("\"@type\"") {
                            rest.split('"').skip(1).step_by(2).take(1).for_each(&mut add);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    let bodies = page.inside(0, &["html", "body", "main", "article", "div"]);
    let marked: Vec<&str> = bodies.filter_map(|n| page.attribute(n, "itemtype")).collect();
    if marked.len() <= 4 {
        marked.iter().for_each(|name| add(name));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    fn at(path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("https://n.test{path}")).unwrap()
    }

    #[test]
    fn feeds_are_found_in_head_and_body() {
        let html = "<head><link rel='alternate' type='application/rss+xml' title='Comments' href='/comments/feed/'>
            <link rel=ALTERNATE type='application/atom+xml; charset=utf-8' title=All href=/all.atom>
            <link rel=alternate hreflang=de href=/de/><link rel=stylesheet type='text/css' href=/feed>
            <link rel=alternate type=application/json href=/wp-json/wp/v2/posts/1></head>
            <a href='/sport/rss.xml'>Sport</a><a href=/all.atom>again</a><a href='/feeding-birds'>RSS of birds</a>";
        let found = feed_links(&parse_outline(html.as_bytes(), None), &at("/"));
        let found: Vec<_> =
            found.iter().map(|f| (f.url.path(), f.title.as_str(), f.named)).collect();
        assert_eq!(
            found,
            [
                ("/all.atom", "All", true),
                ("/sport/rss.xml", "Sport", false),
                ("/comments/feed/", "Comments", true)
            ]
        );
    }

    #[test]
    fn a_page_of_as_many_types_as_it_has_room_for_comes_to_an_end() {
        let types = (0..400_000).map(|n| format!("{{\"@type\":\"T{n:x}\"}},"));
        let html =
            format!("<script type='application/ld+json'>[{}]</script>", types.collect::<String>());
        let page = parse_outline(html.as_bytes(), None);
        assert_eq!(schema_types(&page).len(), MAX_TYPES);
        assert_eq!(page_kind(&page, &at("/some/page-3")), PageKind::Unknown);
    }

    #[test]
    fn articles_and_front_pages_are_told_apart() {
        let kind =
            |html: &str, path: &str| page_kind(&parse_outline(html.as_bytes(), None), &at(path));
        let data = "<script type='application/ld+json'>{\"@context\":\"https://schema.org\",\"@type\":\"NewsArticle\"}</script>";
        assert_eq!(kind(data, "/x"), PageKind::Article);
        assert_eq!(
            kind("<meta property=og:type content=article>", "/2026/11/16/a-b-c-d"),
            PageKind::Article
        );
        assert_eq!(kind("<p>hello", "/2026/11/16/a-b-c-d-e"), PageKind::Article);
        assert_eq!(kind("<meta property=og:type content=website>", "/"), PageKind::Front);
        let list = "<script type='application/ld+json'>{\"@type\":\"CollectionPage\"}</script>"
            .to_owned()
            + &"<article></article>".repeat(9);
        assert_eq!(kind(&list, "/world/"), PageKind::Front);
        assert_eq!(kind("<p>hello", "/some/page-3"), PageKind::Unknown);
    }
}
