//! Which parts of a page surround the news: menus, footers, advertisements, lists of what others
//! read.
//!
//! * What this is: every node of a page, judged by what it stands in.
//! * Its place: `headlines` drops links in what is `Around` and trusts those `Beside` less.
//! * Invariants: whatever holds half of the long links of a page is not judged by its name.
//! * What is not here: the links themselves.

use super::block::is_wide;
use argiope_parse::Outline;
use std::collections::{HashMap, HashSet};

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Region {
    /// Among the news, as far as one can tell.
    Main,
    /// Beside them: a sidebar, what is related.
    Beside,
    /// The head of the page: a menu, but for a line of the latest news.
    Head,
    /// What others read: mostly the same again.
    Popular,
    /// Surely no news.
    Around,
}

/// Names of classes and identities that only menus and the like have.
const AROUND: &[&str] = &[
    "nav",
    "navbar",
    "navi",
    "navigation",
    "navlinks",
    "subnav",
    "topnav",
    "mainnav",
    "menu",
    "menus",
    "submenu",
    "megamenu",
    "dropdown",
    "footer",
    "foot",
    "bottombar",
    "breadcrumb",
    "breadcrumbs",
    "pagination",
    "pager",
    "paging",
    "paginator",
    "social",
    "share",
    "sharing",
    "sharebar",
    "cookie",
    "cookies",
    "consent",
    "login",
    "signin",
    "subscribe",
    "sitemap",
    "skip",
    "skiplinks",
    "toolbar",
    "topbar",
    "copyright",
    "legal",
    "tags",
    "tagcloud",
    "taglist",
    "byline",
    "author",
    "authors",
    "advert",
    "ads",
    "ad",
    "adv",
    "advertisement",
    "advertising",
    "anzeige",
    "sponsored",
    "sponsor",
    "sponsors",
    "werbung",
    "comments",
    "langs",
    "language",
    "languages",
    "weather",
    "wetter",
    "calendar",
    "archives",
    "partner",
    "partners",
    "outbrain",
    "taboola",
    "dianomi",
    "friendlink",
    "friendlinks",
    "youqing",
    "accessibility",
    "offcanvas",
    "hamburger",
    "modal",
    "popup",
    "overlay",
    "paywall",
    "newsletter",
    "kicker",
    "hashtag",
    "hashtags",
    "topics",
    "quicklinks",
    "masthead",
    "sidenav",
    "utility",
];

/// Those of them that stand around articles, too: around what a columnist wrote, or the topics of the day.
const OF_ARTICLES: &[&str] = &["topics", "author", "authors", "byline", "comments", "kicker"];

/// Names that say what others read.
const POPULAR: &[&str] = &[
    "mostread",
    "mostpopular",
    "mostviewed",
    "mostshared",
    "popular",
    "meistgelesen",
    "topread",
    "ranking",
    "rankings",
    "hotlist",
    "trending",
    "toplist",
    "bestof",
    "mostwatched",
    "mostcommented",
];

/// Names of what stands beside.
const BESIDE: &[&str] = &[
    "sidebar",
    "side",
    "aside",
    "related",
    "recommended",
    "recommend",
    "promo",
    "promos",
    "promotion",
    "widget",
    "widgets",
    "banner",
    "services",
    "deals",
    "shop",
    "shopping",
    "coupons",
    "events",
    "jobs",
];

/// The words of the headings of such lists.
const POPULAR_HEADINGS: &[&str] = &[
    "most read",
    "most popular",
    "most viewed",
    "most watched",
    "most shared",
    "trending",
    "meistgelesen",
    "am meisten gelesen",
    "les plus lus",
    "le plus lu",
    "lo más leído",
    "lo mas leido",
    "más leídas",
    "más leídos",
    "mais lidas",
    "più letti",
    "i più letti",
    "meest gelezen",
    "mest lest",
    "mest lästa",
    "najczęściej czytane",
    "самое читаемое",
    "популярное",
    "排行",
    "热门",
    "热点排行",
    "点击排行",
    "人気",
    "ランキング",
    "アクセス",
    "많이 본",
    "الأكثر قراءة",
];

/// How many links there are before each node: of some length, of these such with the URL of an
/// article, all with a text, and all.
struct Long {
    long: Vec<u32>,
    articles: Vec<u32>,
    all: Vec<u32>,
    links: Vec<u32>,
}

impl Long {
    fn new(page: &Outline, is_article: impl Fn(usize) -> bool) -> Self {
        let (mut long, mut articles, mut all, mut links) = (0, 0, 0, 0);
        let mut out =
            Long { long: Vec::new(), articles: Vec::new(), all: Vec::new(), links: Vec::new() };
        for node in 0..page.nodes.len() {
            out.long.push(long);
            out.articles.push(articles);
            out.all.push(all);
            out.links.push(links);
            if page.nodes[node].name == "a" {
                let text = page.line(node, 200, |_| false);
                let wide = text.chars().filter(|c| is_wide(*c)).count();
                let is_long = wide >= 8 || text.split_whitespace().count() >= 4;
                long += u32::from(is_long);
                articles += u32::from(is_long && is_article(node));
                all += u32::from(!text.is_empty());
                links += 1;
            }
        }
        out.long.push(long);
        out.articles.push(articles);
        out.all.push(all);
        out.links.push(links);
        out
    }

    /// The links inside of a node, without the node itself.
    fn links(&self, page: &Outline, node: usize) -> u32 {
        self.links[page.nodes[node].end].saturating_sub(self.links[node + 1])
    }

    /// Whether a part, whatever it is called, holds a list of articles: three or more, and hardly
    /// anything else.
    fn is_list(&self, page: &Outline, node: usize) -> bool {
        let inside = |counts: &[u32]| counts[page.nodes[node].end] - counts[node];
        let articles = inside(&self.articles);
        articles >= 3 && 3 * articles >= 2 * inside(&self.all)
    }

    /// Whether a part, whatever it is called, holds many articles with what belongs to each: authors,
    /// comments, buttons.
    fn is_stream(&self, page: &Outline, node: usize) -> bool {
        let inside = |counts: &[u32]| counts[page.nodes[node].end] - counts[node];
        let articles = inside(&self.articles);
        articles >= 6 && 5 * articles >= inside(&self.all)
    }

    /// The links of some length in a node, and all of them.
    fn counts(&self, page: &Outline, node: usize) -> (u32, u32) {
        let all = self.all[page.nodes[node].end] - self.all[node];
        (self.inside(page, node), all)
    }

    fn inside(&self, page: &Outline, node: usize) -> u32 {
        self.long[page.nodes[node].end] - self.long[node]
    }

    /// The share of a node in all of them.
    fn share(&self, page: &Outline, node: usize) -> f32 {
        self.inside(page, node) as f32 / self.long.last().map_or(1, |all| (*all).max(1)) as f32
    }
}

/// Names that only parts of cards have on this page, not parts of the page: words that are in the
/// names of many elements which hold most of the long links, and footers and overlays of which
/// there are many.
struct CardNames(HashSet<String>);

impl CardNames {
    fn new(page: &Outline, long: &Long) -> Self {
        // For each word: how many elements, what they hold, where the last one ends.
        let mut known: HashMap<String, (usize, u32, usize)> = HashMap::new();
        for node in 1..page.nodes.len() {
            for value in ["class", "id"].iter().filter_map(|name| page.attribute(node, name)) {
                for word in words(value).into_iter().filter(|w| AROUND.contains(&w.as_str())) {
                    let (count, links, end) = known.entry(word).or_default();
                    if node >= *end {
                        *count += 1;
                        *links += long.inside(page, node);
                        *end = page.nodes[node].end;
                    }
                }
            }
        }
        let all = long.long.last().copied().unwrap_or(0);
        let is_card = |word: &str, count: usize, links: u32| {
            count >= 6
                && (links * 2 > all || matches!(word, "foot" | "footer" | "overlay") && links > 0)
        };
        let cards =
            known.into_iter().filter(|(word, (count, links, _))| is_card(word, *count, *links));
        CardNames(cards.map(|(word, _)| word).collect())
    }
}

/// The words that mark what is paid for. They stand alone.
const PAID: &[&str] = &[
    "ad",
    "advertisement",
    "advertiser content",
    "advertorial",
    "annonce",
    "anzeige",
    "brand content",
    "branded content",
    "brandvoice",
    "contenido patrocinado",
    "contenu partenaire",
    "contenu sponsorisé",
    "contenuto sponsorizzato",
    "conteúdo patrocinado",
    "especial publicitário",
    "mainos",
    "oglas",
    "oglasno sporočilo",
    "paid content",
    "paid partner content",
    "paid post",
    "partner content",
    "patrocinado",
    "pr",
    "promoted",
    "promoted content",
    "pubblicità",
    "publicidad",
    "publicidade",
    "publicité",
    "publirreportage",
    "publirreportaje",
    "reklama",
    "reklame",
    "sponsored",
    "sponsored content",
    "sponsored post",
    "sponsorisé",
    "werbung",
    "на правах рекламы",
    "партнерский материал",
    "партнёрский материал",
    "реклама",
    "إعلان",
    "محتوى مدفوع",
    "广告",
    "推广",
    "広告",
    "提供",
    "광고",
];

/// What such a mark begins with where it says who pays.
const PAID_BY: &[&str] = &[
    "a message from ",
    "ad by ",
    "advertising by ",
    "brought to you by ",
    "conçu et proposé par",
    "content from ",
    "contenido ofrecido por",
    "oferecimento",
    "paid for by ",
    "paid post by ",
    "promoted by ",
    "proposé par",
    "sponsored by ",
    "sponsorisé par",
    "präsentiert von ",
    "werbung von ",
];

/// Whether a text says that something is paid for.
fn is_paid(text: &str) -> bool {
    let text = text.trim().trim_matches(['(', ')', '[', ']', ':', '：', '*', '【', '】']);
    if text.is_empty() || text.len() > 80 {
        return false;
    }
    let text = text.to_lowercase();
    PAID.contains(&text.as_str())
        || PAID_BY.iter().any(|by| text.starts_with(by) || text == by.trim_end())
}

/// The region of every node.
/// `is_article` says of a link whether its URL is that of an article of the site.
pub(super) fn regions(page: &Outline, is_article: impl Fn(usize) -> bool) -> Vec<Region> {
    let all = page.nodes.len();
    let long = Long::new(page, is_article);
    let cards = CardNames::new(page, &long);
    let mut out = vec![Region::Main; all];
    for node in 1..all {
        let inherited = out[page.nodes[node].parent];
        out[node] = if page.nodes[node].name.is_empty() || inherited == Region::Around {
            inherited
        } else {
            inherited.max(own(page, node, &long, &cards))
        };
    }
    mark_popular_lists(page, &long, &mut out);
    mark_paid(page, &long, &mut out);
    out
}

fn own(page: &Outline, node: usize, long: &Long, cards: &CardNames) -> Region {
    let n = &page.nodes[node];
    if matches!(&*n.name, "html" | "body" | "main" | "article" | "a") {
        return Region::Main;
    }
    let in_article = || {
        page.ancestors(node)
            .any(|a| matches!(&*page.nodes[a].name, "article" | "main" | "li" | "section"))
    };
    match &*n.name {
        "nav" | "menu" | "form" if long.is_list(page, node) => return Region::Beside,
        "nav" | "menu" if has_headlines(page, node) => return Region::Head,
        "nav" | "menu" => return Region::Around,
        // Some pages stand in a form as a whole.
        "form" if page.inside(node, &["a"]).take(10).count() < 10 => return Region::Around,
        "footer" if !in_article() && has_long_titles(page, node) => return Region::Beside,
        "footer" if !in_article() => return Region::Around,
        "header" if !in_article() => return Region::Head,
        "aside" => return Region::Beside,
        _ => {}
    }
    match page.attribute(node, "role").unwrap_or_default() {
        "navigation" | "contentinfo" | "search" | "menu" | "menubar" | "dialog" => {
            return Region::Around;
        }
        "complementary" => return Region::Beside,
        _ => {}
    }
    if page.attribute(node, "aria-hidden") == Some("true") && page.inside(node, &["a"]).count() > 5
    {
        // A closed drawer of a list of articles, or another menu.
        let is_news = has_headlines(page, node) || long.is_list(page, node);
        return if is_news { Region::Beside } else { Region::Around };
    }
    if long.share(page, node) > 0.5 {
        return Region::Main;
    }
    let mut found = Region::Main;
    for name in ["class", "id"] {
        let Some(value) = page.attribute(node, name) else { continue };
        let words = words(value);
        for (at, word) in words.iter().enumerate() {
            let both = words.get(at + 1).map(|next| format!("{word}{next}")).unwrap_or_default();
            let is = |list: &[&str]| {
                list.contains(&word.as_str()) && !cards.0.contains(word)
                    || list.contains(&both.as_str())
            };
            // A name with more words says something else: `menu-open`, `no-ads`, `nav-wrapper-page`.
            let is_negated =
                at > 0 && matches!(words[at - 1].as_str(), "no" | "has" | "with" | "is");
            if is_negated {
                continue;
            }
            let is_of_article = || {
                let (said, all) = long.counts(page, node);
                let articles = long.articles[page.nodes[node].end] - long.articles[node];
                OF_ARTICLES.contains(&word.as_str())
                    && (said > 0 && 2 * said >= all || articles >= 3 && 5 * articles >= 2 * all)
            };
            found = found.max(match () {
                () if is(AROUND) && is_of_article() => Region::Main,
                () if is(AROUND) => Region::Around,
                () if is(POPULAR) => Region::Popular,
                () if is(BESIDE) => Region::Beside,
                () => Region::Main,
            });
        }
    }
    // Names deceive: what has headings with links of some length is no menu, nor is what leads to
    // articles only.
    match found {
        Region::Around if has_headlines(page, node) => Region::Main,
        Region::Around if long.is_list(page, node) || long.is_stream(page, node) => Region::Beside,
        found => found,
    }
}

/// Whether there are links that say more than names of pages do.
fn has_long_titles(page: &Outline, node: usize) -> bool {
    let long = page.inside(node, &["a"]).filter(|&link| {
        let text = page.line(link, 200, |_| false);
        text.split_whitespace().count() >= 6 || text.chars().filter(|c| is_wide(*c)).count() >= 12
    });
    long.take(3).count() == 3
}

fn has_headlines(page: &Outline, node: usize) -> bool {
    let long = page.inside(node, &["h2", "h3", "h4"]).filter(|&heading| {
        let in_link = || page.nodes[page.nodes[heading].parent].name == "a";
        (page.inside(heading, &["a"]).next().is_some() || in_link())
            && page.line(heading, 200, |_| false).split_whitespace().count() >= 4
    });
    long.take(2).count() == 2
}

/// The words of a class or an identity: parted by signs and by capitals.
pub(super) fn words(value: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for token in value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|t| !t.is_empty()) {
        let mut word = String::new();
        let mut was_small = false;
        for c in token.chars() {
            if c.is_ascii_uppercase() && was_small {
                out.push(std::mem::take(&mut word));
            }
            was_small = c.is_ascii_lowercase();
            if c.is_ascii_digit() {
                continue;
            }
            word.push(c.to_ascii_lowercase());
        }
        if !word.is_empty() {
            out.push(word);
        }
    }
    out
}

/// Whether a heading says that what stands under it is what others read.
pub fn is_popular_heading(text: &str) -> bool {
    let text = text.to_lowercase();
    text.chars().count() <= 32 && POPULAR_HEADINGS.iter().any(|heading| text.contains(heading))
}

/// Lists under a heading that says that they are what others read.
fn mark_popular_lists(page: &Outline, long: &Long, regions: &mut [Region]) {
    let all = page.nodes.len();
    let mut parts = Vec::new();
    for heading in 1..all {
        let name = &*page.nodes[heading].name;
        let is_heading = matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        let is_title = || {
            matches!(name, "div" | "span" | "p" | "strong" | "b" | "dt" | "a")
                && page.nodes[heading].end - heading <= 6
        };
        if !is_heading && !is_title() {
            continue;
        }
        let text = page.line(heading, 80, |_| false);
        if !is_popular_heading(&text) {
            continue;
        }
        // The nearest part that has links besides the heading, unless that is half of the page.
        let own = long.links(page, heading) + u32::from(name == "a");
        let with_links = page.ancestors(heading).find(|&a| long.links(page, a) > own + 2);
        let Some(list) = with_links else { continue };
        if long.share(page, list) < 0.4 && long.links(page, list) <= 60 {
            parts.push((heading.max(list), page.nodes[list].end));
        }
    }
    mark(parts, Region::Popular, regions);
}

/// Marks parts of a page, each node once however many parts it stands in.
fn mark(mut parts: Vec<(usize, usize)>, as_what: Region, regions: &mut [Region]) {
    parts.sort_unstable();
    let mut done = 0;
    for (from, end) in parts {
        for region in regions.get_mut(from.max(done)..end).into_iter().flatten() {
            *region = (*region).max(as_what);
        }
        done = done.max(end);
    }
}

/// The smallest part with a link around a mark that says it is paid for, and what calls itself so.
fn mark_paid(page: &Outline, long: &Long, regions: &mut [Region]) {
    // The first node with a text from each on.
    let mut first_text = vec![usize::MAX; page.nodes.len() + 1];
    for node in (0..page.nodes.len()).rev() {
        let is_text = !page.nodes[node].text.trim().is_empty();
        first_text[node] = if is_text { node } else { first_text[node + 1] };
    }
    let mut parts = Vec::new();
    for mark in 1..page.nodes.len() {
        let is_labelled = page.attribute(mark, "aria-label").is_some_and(is_paid);
        if !is_labelled && !is_paid(&page.nodes[mark].text) {
            continue;
        }
        let with_link = std::iter::once(mark)
            .chain(page.ancestors(mark))
            .find(|&a| page.nodes[a].name == "a" || long.links(page, a) > 0);
        // Among cards, and not above them, it marks a place that a script fills.
        let is_its = |part: usize| {
            let is_first = first_text[part] == mark || part == mark;
            long.share(page, part) < 0.3 && (long.inside(page, part) <= 2 || is_first)
        };
        if let Some(part) = with_link.filter(|&part| is_its(part)) {
            parts.push((part, page.nodes[part].end));
        }
    }
    mark(parts, Region::Around, regions);
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    fn of(html: &str, marker: &str) -> Region {
        let filler = "<p><a>one two three four</a></p>".repeat(9);
        let page = parse_outline(format!("<body>{filler}{html}").as_bytes(), None);
        let at = page.nodes.iter().position(|n| n.text == marker).unwrap();
        regions(&page, |_| false)[at]
    }

    #[test]
    fn parts_are_known_by_their_element_role_and_name() {
        for (html, want) in [
            ("<nav><a>m</a></nav>", Region::Around),
            ("<div class='mainNav'><a>m</a></div>", Region::Around),
            ("<div class=\"no-ads\"><a>m</a></div>", Region::Main),
            ("<article><header><a>m</a></header></article>", Region::Main),
            ("<header><ul><a>m</a></ul></header>", Region::Head),
            (
                "<div class=menu><h3><a>one two three four</a></h3><a>m</a><h3><a>a b c d</a></h3></div>",
                Region::Main,
            ),
            ("<div role=contentinfo><a>m</a></div>", Region::Around),
            ("<div id=most-read><a>m</a></div>", Region::Popular),
            ("<aside><a>m</a></aside>", Region::Beside),
            ("<div><small>Anzeige</small><p><a>m</a></p></div>", Region::Around),
            ("<div><small>Content from Acme</small><p><a>m</a></p></div>", Region::Around),
            ("<div><p>Conçu et proposé par <i>Acme</i></p><p><a>m</a></p></div>", Region::Around),
            ("<div aria-label=Anzeige><p><a>m</a></p></div>", Region::Around),
            ("<div><i>【PR】</i><p><a>m</a></p></div>", Region::Around),
            ("<div><small>Content of today</small><p><a>m</a></p></div>", Region::Main),
            ("<div><small>Anzeigen-Markt</small><p><a>m</a></p></div>", Region::Main),
            ("<div><h3>Meistgelesen</h3><a>1</a><a>2</a><a>m</a></div>", Region::Popular),
            ("<div class=menuboard><a>m</a></div>", Region::Main),
            // A place for an advertisement among cards.
            (
                "<div><p><a>one two three four</a></p><p><a>one two three five</a></p><small>Anzeige</small><p><a>m</a></p><p><a>one two three six</a></p></div>",
                Region::Main,
            ),
            ("<footer><a>m</a><a>Imprint</a></footer>", Region::Around),
        ] {
            assert_eq!(of(html, "m"), want, "{html}");
        }
    }

    #[test]
    fn a_list_of_articles_is_one_whatever_it_is_called() {
        let filler = "<p><a>one two three four</a></p>".repeat(9);
        let list = "<li><a href=/x>one two three four</a>".repeat(4);
        for part in ["div class=b-t-ad", "div class=partner", "nav", "form", "div class=share"] {
            let page = format!("<body>{filler}<{part}><ol>{list}</ol>");
            let page = parse_outline(page.as_bytes(), None);
            let all = regions(&page, |n| page.attribute(n, "href").is_some());
            assert_eq!(all.last(), Some(&Region::Beside), "{part}");
            assert_eq!(regions(&page, |_| false).last(), Some(&Region::Around), "{part}");
        }
    }

    #[test]
    fn articles_with_what_belongs_to_each_are_no_menu() {
        let filler = "<p><a>one two three four</a></p>".repeat(19);
        let post = "<li><a href=/x>one two three four</a> <a>Ann</a> <a>7</a> <a>More</a>";
        let drawer = "<p><a href=/x>one two three four</a> <a>7</a>";
        for (part, inside, want) in [
            ("div id=social-list", post.repeat(6), Region::Beside),
            ("div id=social-list", post.repeat(3), Region::Around),
            ("div class=comments", post.repeat(3), Region::Around),
            ("div class=comments", drawer.repeat(3), Region::Main),
            (
                "div aria-hidden=true",
                "<p><a href=/x>one two three four</a>".repeat(6),
                Region::Beside,
            ),
            ("div aria-hidden=true", "<p><a>Sport</a>".repeat(6), Region::Around),
        ] {
            let page = format!("<body>{filler}<{part}>{inside}");
            let page = parse_outline(page.as_bytes(), None);
            let all = regions(&page, |n| page.attribute(n, "href").is_some());
            assert_eq!(all.last(), Some(&want), "{part} {inside}");
        }
    }

    #[test]
    fn a_name_that_cards_have_is_not_that_of_a_part_of_the_page() {
        let card = "<div class=link-overlay><a>one two three four</a></div>";
        let page = format!("<body>{}<div class=overlay><a>m</a></div>", card.repeat(9));
        let page = parse_outline(page.as_bytes(), None);
        assert!(regions(&page, |_| false).iter().all(|region| *region == Region::Main));
        let page = parse_outline(format!("<body>{card}<p><a>a b c d</a></p>").as_bytes(), None);
        assert!(regions(&page, |_| false).contains(&Region::Around));
    }
}
