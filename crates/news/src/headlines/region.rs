//! Which parts of a page surround the news: menus, footers, advertisements, lists of what others
//! read.
//!
//! * What this is: every node of a page, judged by what it stands in.
//! * Its place: `headlines` drops links in what is `Around` and trusts those `Beside` less.
//! * Invariants: whatever holds half of the long links of a page is not judged by its name.
//! * What is not here: the links themselves.

use super::block::is_wide;
use argiope_parse::Outline;

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

/// How many links of some length there are before each node.
struct Long(Vec<u32>);

impl Long {
    fn new(page: &Outline) -> Self {
        let mut count = 0;
        let mut before = Vec::with_capacity(page.nodes.len() + 1);
        for node in 0..page.nodes.len() {
            before.push(count);
            if page.nodes[node].name == "a" {
                let text = page.line(node, 200, |_| false);
                let wide = text.chars().filter(|c| is_wide(*c)).count();
                count += u32::from(wide >= 8 || text.split_whitespace().count() >= 4);
            }
        }
        before.push(count);
        Long(before)
    }

    /// The share of a node in all of them.
    fn share(&self, page: &Outline, node: usize) -> f32 {
        let inside = self.0[page.nodes[node].end] - self.0[node];
        inside as f32 / self.0.last().map_or(1, |all| (*all).max(1)) as f32
    }
}

/// The words that mark what is paid for. They stand alone.
const PAID: &[&str] = &[
    "ad",
    "advertisement",
    "advertorial",
    "anzeige",
    "sponsored",
    "sponsored content",
    "promoted",
    "paid content",
    "paid post",
    "werbung",
    "publicité",
    "publicidad",
    "publicidade",
    "pubblicità",
    "contenu sponsorisé",
    "patrocinado",
    "реклама",
    "广告",
    "広告",
    "광고",
    "إعلان",
];

/// The region of every node.
pub(super) fn regions(page: &Outline) -> Vec<Region> {
    let all = page.nodes.len();
    let long = Long::new(page);
    let mut out = vec![Region::Main; all];
    for node in 1..all {
        let inherited = out[page.nodes[node].parent];
        out[node] = if page.nodes[node].name.is_empty() || inherited == Region::Around {
            inherited
        } else {
            inherited.max(own(page, node, &long))
        };
    }
    mark_popular_lists(page, &long, &mut out);
    mark_paid(page, &long, &mut out);
    out
}

fn own(page: &Outline, node: usize, long: &Long) -> Region {
    let n = &page.nodes[node];
    if matches!(&*n.name, "html" | "body" | "main" | "article" | "a") {
        return Region::Main;
    }
    let in_article = || {
        page.ancestors(node)
            .any(|a| matches!(&*page.nodes[a].name, "article" | "main" | "li" | "section"))
    };
    match &*n.name {
        "nav" | "menu" => return Region::Around,
        // Some pages stand in a form as a whole.
        "form" if page.inside(node, &["a"]).take(10).count() < 10 => return Region::Around,
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
        return Region::Around;
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
            let is = |list: &[&str]| list.contains(&word.as_str()) || list.contains(&both.as_str());
            // A name with more words says something else: `menu-open`, `no-ads`, `nav-wrapper-page`.
            let is_negated =
                at > 0 && matches!(words[at - 1].as_str(), "no" | "has" | "with" | "is");
            if is_negated {
                continue;
            }
            found = found.max(match () {
                () if is(AROUND) => Region::Around,
                () if is(POPULAR) => Region::Popular,
                () if is(BESIDE) => Region::Beside,
                () => Region::Main,
            });
        }
    }
    // Names deceive: what has headings with links of some length is no menu.
    if found == Region::Around && has_headlines(page, node) { Region::Main } else { found }
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
fn words(value: &str) -> Vec<String> {
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

/// Lists under a heading that says that they are what others read.
fn mark_popular_lists(page: &Outline, long: &Long, regions: &mut [Region]) {
    let all = page.nodes.len();
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
        let text = page.line(heading, 80, |_| false).to_lowercase();
        let is_it = text.chars().count() <= 32 && POPULAR_HEADINGS.iter().any(|h| text.contains(h));
        if !is_it {
            continue;
        }
        // The nearest part that has links besides the heading, unless that is half of the page.
        let with_links = page.ancestors(heading).find(|&a| {
            let before =
                (heading..page.nodes[heading].end).filter(|&n| page.nodes[n].name == "a").count();
            page.inside(a, &["a"]).take(before + 3).count() > before + 2
        });
        let Some(list) = with_links else { continue };
        let links = page.inside(list, &["a"]).count();
        if long.share(page, list) < 0.4 && links <= 60 {
            let from = heading.max(list);
            for region in &mut regions[from..page.nodes[list].end] {
                *region = (*region).max(Region::Popular);
            }
        }
    }
}

/// The smallest part with a link around a mark that says it is paid for.
fn mark_paid(page: &Outline, long: &Long, regions: &mut [Region]) {
    for mark in 1..page.nodes.len() {
        let text = page.nodes[mark].text.trim().trim_matches(['(', ')', '[', ']', ':', '*']);
        if text.is_empty() || text.len() > 24 || !PAID.contains(&text.to_lowercase().as_str()) {
            continue;
        }
        let with_link = std::iter::once(mark)
            .chain(page.ancestors(mark))
            .find(|&a| page.nodes[a].name == "a" || page.inside(a, &["a"]).next().is_some());
        if let Some(part) = with_link.filter(|&part| long.share(page, part) < 0.3) {
            regions[part..page.nodes[part].end].fill(Region::Around);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    fn of(html: &str, marker: &str) -> Region {
        let filler = "<p><a>one two three four</a></p>".repeat(9);
        let page = parse_outline(format!("<body>{filler}{html}").as_bytes(), None);
        let at = page.nodes.iter().position(|n| n.text == marker).unwrap();
        regions(&page)[at]
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
            ("<div><small>Anzeigen-Markt</small><p><a>m</a></p></div>", Region::Main),
            ("<div><h3>Meistgelesen</h3><a>1</a><a>2</a><a>m</a></div>", Region::Popular),
            ("<div class=menuboard><a>m</a></div>", Region::Main),
        ] {
            assert_eq!(of(html, "m"), want, "{html}");
        }
    }
}
