//! Whether a page is an article, and what it is known by.
//!
//! * What this is: pure rules over a page that was read: is it an article, on what subject, what are its address, title
//!   and text once everything is folded that does not tell articles apart.
//! * Invariants: equal pages give equal answers. Front pages, sections, feeds, lists by tag or author and results of
//!   searches are no articles.

use argiope_archive::{payload_digest, steady};
use argiope_model::CanonicalUrl;
use argiope_news::{
    PageKind, Recipe, dates_in_url, is_article_url, is_section_url, subject_of, without_tracking,
};
use argiope_parse::{Article, Sure};

/// Words that a text must have where the page alone says that it is an article.
const ENOUGH: usize = 60;
/// The same where a recipe says so, or the page in a form made for it.
const FEW: usize = 25;
/// The same where somebody led there as to an article: a headline, a feed, a news sitemap.
const LED_TO: usize = 20;
/// And where the page also says that it is an article, and of when: a flash is one, however short.
const FLASH: usize = 5;
/// The same in characters, where words are not apart.
const LED_TO_WIDE: usize = 30;
/// What titles of pages say that are not there, or not for everybody.
const NO_PAGE: [&str; 12] = [
    "404",
    "403",
    "error",
    "not found",
    "access denied",
    "forbidden",
    "nicht gefunden",
    "fehler",
    "introuvable",
    "no encontrada",
    "页面不存在",
    "找不到",
];
/// First labels of hosts that show the same site in another form.
const FORMS_OF_HOST: [&str; 6] = ["www.", "m.", "mobile.", "amp.", "wap.", "print."];
/// Parts of paths that stand for lists of articles.
const LISTS: [&str; 18] = [
    "tag",
    "tags",
    "topic",
    "topics",
    "author",
    "authors",
    "search",
    "suche",
    "category",
    "categories",
    "thema",
    "themen",
    "autor",
    "autoren",
    "archive",
    "page",
    "label",
    "feed",
];

/// Words of a text. Where words are not apart, two characters are one.
pub(super) fn word_count(text: &str) -> usize {
    let wide = text.chars().filter(|c| is_wide(*c)).count();
    let apart = text.split_whitespace().filter(|word| !word.chars().any(is_wide)).count();
    apart + wide / 2
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}' | '\u{e00}'..='\u{e7f}')
}

/// Whether a page of a site is an article. `led_to` says whether a front page or a feed of the site led there as to one.
pub(super) fn is_article(
    url: &CanonicalUrl,
    recipe: &Recipe,
    kind: PageKind,
    article: &Article,
    led_to: bool,
) -> bool {
    let is_front = recipe.front.iter().any(|front| front == url.as_str());
    let words = word_count(&article.text);
    if is_front || url.path() == "/" || article.title.trim().is_empty() {
        return false;
    }
    let dated = !dates_in_url(url).is_empty();
    let is_flash = || {
        let of_when = dated || article.published.is_some_and(|when| when.sure >= Sure::Likely);
        words >= FLASH && kind == PageKind::Article && of_when
    };
    let wide = || article.text.chars().filter(|c| is_wide(*c)).count() >= LED_TO_WIDE;
    let led_to = led_to
        && (words >= LED_TO || wide() || is_flash())
        && !(words < ENOUGH && says_no_page(&article.title));
    if words < FEW && !led_to {
        return false;
    }
    match recipe.parts(url) {
        Some(_) if recipe.is_article(url) => return true,
        // A recipe that knows the form of a URL and does not call it an article is believed.
        Some(_) => return false,
        None => {}
    }
    if !dated && (is_section_url(url) || is_list(url)) {
        return false;
    }
    let shaped = is_article_url(url);
    let said = article.published.is_some_and(|when| when.sure >= Sure::Likely || shaped);
    match kind {
        PageKind::Front => false,
        _ if led_to => true,
        PageKind::Article => words >= ENOUGH || said,
        PageKind::Unknown => words >= ENOUGH && (said || dated),
    }
}

fn says_no_page(title: &str) -> bool {
    let title = title.to_lowercase();
    NO_PAGE.iter().any(|words| {
        let ascii = words.is_ascii();
        let is_apart = |c: Option<char>| !ascii || c.is_none_or(|c| !c.is_alphanumeric());
        title.match_indices(words).any(|(at, _)| {
            is_apart(title[..at].chars().next_back())
                && is_apart(title[at + words.len()..].chars().next())
        })
    })
}

/// Whether a URL is that of a list: by tag, by author, of what was searched.
fn is_list(url: &CanonicalUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    path.split('/').any(|part| LISTS.contains(&part))
        || url.query().is_some_and(|query| {
            query.split('&').any(|pair| {
                matches!(pair.split('=').next(), Some("q" | "s" | "query" | "search" | "page"))
            })
        })
}

/// Whether a list is made of what is said of articles, and not by those who put them in sections: by tag, by author,
/// of what was searched.
pub(super) fn is_loose_list(url: &CanonicalUrl) -> bool {
    let path = url.path().to_ascii_lowercase();
    let loose = |part: &str| LISTS.contains(&part) && !matches!(part, "category" | "categories");
    path.split('/').any(|part| loose(part) && part != "page")
}

/// The subject of an article: by the recipe, else by the section that the page names, else by its URL.
pub(super) fn subject(
    url: &CanonicalUrl,
    recipe: &Recipe,
    section: Option<&str>,
) -> Option<String> {
    let parts = recipe.parts(url);
    if let Some(parts) = &parts
        && let Some(subject) = recipe.subject(parts)
    {
        return Some(subject.to_lowercase());
    }
    let by_url = || {
        // Days stand before sections, too.
        let is_word = |part: &&str| part.bytes().any(|b| !b.is_ascii_digit() && b != b'-');
        let mut steps = url.path().split('/').filter(is_word);
        let first = steps.by_ref().take(3).find_map(|step| known(recipe, step));
        first.or_else(|| known(recipe, url.host().split('.').next()?))
    };
    section.and_then(|section| said(recipe, section)).or_else(by_url)
}

/// The subject that a section, a category or a heading names: as a whole, else by one of its words.
pub(super) fn said(recipe: &Recipe, name: &str) -> Option<String> {
    let name = name.trim().to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    known(recipe, &name).or_else(|| words.find_map(|word| known(recipe, word)))
}

fn known(recipe: &Recipe, name: &str) -> Option<String> {
    let mut own = recipe.subjects.iter().filter(|(section, _)| section.eq_ignore_ascii_case(name));
    let own = own.next().map(|(_, subject)| subject.to_lowercase());
    own.or_else(|| subject_of(name).map(str::to_owned))
}

/// The first eight bytes of a digest, as a number.
fn number(text: &str) -> u64 {
    let digest = payload_digest(text.as_bytes());
    digest[..8].iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

/// The address of an article without what does not tell articles apart.
pub(super) fn address(url: &CanonicalUrl) -> u64 {
    number(&folded_address(url))
}

fn folded_address(url: &CanonicalUrl) -> String {
    let mut host = url.host();
    while let Some(rest) = FORMS_OF_HOST.iter().find_map(|form| host.strip_prefix(form)) {
        if !rest.contains('.') {
            break;
        }
        host = rest;
    }
    let path = url.path().to_owned();
    let parts = path.split('/').filter(|part| !part.is_empty());
    let mut parts: Vec<&str> =
        parts.filter(|part| !matches!(*part, "amp" | "print" | "mobile")).collect();
    if parts.last().is_some_and(|last| matches!(*last, "index.html" | "index.htm" | "index.php")) {
        parts.pop();
    }
    let path = parts.join("/").replace(".amp.", ".");
    let path = path.strip_suffix(".amp").unwrap_or(&path);
    let bare = without_tracking(url);
    let mut query: Vec<&str> = bare.query().unwrap_or_default().split('&').collect();
    query.retain(|pair| {
        let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
        let layout = matches!(*pair, "view=amp" | "view=print" | "format=amp" | "format=print");
        !(pair.is_empty() || layout || matches!(&*name, "amp" | "print" | "outputtype"))
    });
    query.sort_unstable();
    let port = url
        .as_str()
        .split('/')
        .nth(2)
        .and_then(|o| o.rsplit_once(':'))
        .map_or("", |(_, port)| port);
    format!("{host}:{port}/{path}?{}", query.join("&"))
}

/// The address that a page calls its own, where it can be believed: of the same site, and no front page.
pub(super) fn canonical(
    url: &CanonicalUrl,
    article: &Article,
    recipe: &Recipe,
) -> Option<CanonicalUrl> {
    let named = CanonicalUrl::parse(article.canonical.as_deref()?).ok()?;
    let own = named.path() != "/" && recipe.is_for(&named);
    let fits = own && (!is_section_url(&named) || is_section_url(url));
    fits.then_some(named)
}

/// A title without case, space and punctuation.
pub(super) fn folded_title(title: &str) -> u64 {
    number(
        &title
            .chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>(),
    )
}

/// What title and text are, but for space and what moves by itself: counters, clocks. Short lines that are no
/// sentences tell nothing: how long ago it was, how many have commented.
pub(super) fn print(title: &str, text: &str) -> u64 {
    let tells = |line: &&str| {
        let ends = line.trim_end().ends_with(['.', '!', '?', '。', '！', '？', '"', '”', ':']);
        ends || line.split_whitespace().count() >= 5
            || line.chars().filter(|c| is_wide(*c)).count() >= 8
    };
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines = text.lines().filter(tells).filter_map(steady).map(|line| words(&line));
    number(&[words(title)].into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn forms_of_one_address_are_one() {
        let own = folded_address(&url("https://www.n.test/world/2026/11/16/a-b"));
        for same in [
            "http://n.test/world/2026/11/16/a-b/",
            "https://m.n.test/world/2026/11/16/a-b?utm_source=x&fbclid=1",
            "https://amp.n.test/world/2026/11/16/a-b",
            "https://www.n.test/amp/world/2026/11/16/a-b",
            "https://www.n.test/world/2026/11/16/a-b/amp/",
            "https://www.n.test/world/2026/11/16/a-b/print",
        ] {
            assert_eq!(folded_address(&url(same)), own, "{same}");
        }
        assert_ne!(folded_address(&url("https://www.n.test/world/2026/11/16/a-c")), own);
        let shown =
            |n: u8| folded_address(&url(&format!("https://www.n.test/show?id={n}&utm_medium=x")));
        assert_ne!(shown(2), shown(3));
        assert_eq!(shown(2), folded_address(&url("http://n.test/show?id=2")));
    }

    #[test]
    fn prints_are_of_title_and_sentences() {
        let text =
            "The council voted on the new bridge after hours of talk.\nNobody was surprised.";
        let edited = text.replace("hours of talk", "a while");
        assert_ne!(print("A", text), print("A", &edited));
        assert_ne!(print("A", text), print("B", text));
        assert_eq!(print("A", text), print("A ", &format!("2 hours ago\n{text}\n")));
        // Neither does what counts, whether it is there or not; a toll in a sentence does.
        let counted = |n: u32| format!("{n} people are reading this right now\n{text}");
        assert_eq!(print("A", &counted(432)), print("A", &counted(511)));
        assert_eq!(print("A", text), print("A", &counted(511)));
        let toll = |n: u32| format!("{text}\nThe quake has killed {n} people, officials said.");
        assert_ne!(print("A", &toll(14)), print("A", &toll(15)));
    }

    #[test]
    fn subjects_come_from_recipe_section_and_url() {
        let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
        let of = |u: &str, section: Option<&str>| subject(&url(u), &recipe, section);
        assert_eq!(of("https://n.test/politik/a", None).as_deref(), Some("politics"));
        assert_eq!(of("https://sports.n.test/a", None).as_deref(), Some("sport"));
        assert_eq!(of("https://n.test/x/a", Some("Sports News")).as_deref(), Some("sport"));
        assert_eq!(of("https://n.test/x/a", Some("Gardening")), None);
    }

    #[test]
    fn words_are_counted_where_they_are_not_apart() {
        assert_eq!(word_count("three small words"), 3);
        assert_eq!(word_count("新闻报道 two"), 3);
    }

    #[test]
    fn lists_and_fronts_are_no_articles() {
        let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
        let long = "A sentence with quite a few words in it. ".repeat(20);
        let article = Article { title: "A title".to_owned(), text: long, ..Article::default() };
        let is = |u: &str, kind| is_article(&url(u), &recipe, kind, &article, false);
        assert!(is("https://n.test/world/the-bridge-is-open-again", PageKind::Article));
        assert!(is("https://n.test/2026/11/16/the-bridge", PageKind::Unknown));
        assert!(!is("https://n.test/about-us-and-others", PageKind::Unknown));
        assert!(!is("https://n.test/", PageKind::Article));
        assert!(!is("https://n.test/tag/bridges-of-the-world", PageKind::Article));
        assert!(!is("https://n.test/2026/11/16/the-bridge", PageKind::Front));
        let none = Article { text: "Short.".to_owned(), ..article.clone() };
        assert!(!is_article(
            &url("https://n.test/2026/11/16/x"),
            &recipe,
            PageKind::Article,
            &none,
            true
        ));
    }

    #[test]
    fn where_a_headline_leads_a_title_and_few_words_are_enough() {
        let recipe = Recipe { site: "n.test".to_owned(), ..Recipe::default() };
        let of = |title: &str, text: &str| Article {
            title: title.to_owned(),
            text: text.to_owned(),
            ..Article::default()
        };
        let short = "The old bridge over the river was opened again on Monday after two years. The mayor \
                     thanked all who had waited.";
        let is = |u: &str, article: &Article, kind, led_to| {
            is_article(&url(u), &recipe, kind, article, led_to)
        };
        let (page, unknown) = ("https://n.test/n/4711", PageKind::Unknown);
        let bridge = of("Bridge open", short);
        assert!(is(page, &bridge, unknown, true) && !is(page, &bridge, unknown, false));
        assert!(!is(page, &bridge, PageKind::Front, true));
        assert!(!is("https://n.test/tag/bridge", &bridge, unknown, true));
        assert!(!is("https://n.test/search?q=bridge", &bridge, unknown, true));
        assert!(!is(page, &of("Error 404: page not found", short), unknown, true));
        assert!(is(page, &of("A terrorist trial begins", short), unknown, true));
        assert!(!is(page, &of("Bridge open", "The bridge is open."), unknown, true));
        // A flash that the page calls an article of a day is one.
        let flash = of("Bridge open", "The bridge is open again, the mayor said.");
        let of_day = "https://n.test/2026/11/16/4711";
        assert!(is(of_day, &flash, PageKind::Article, true));
        assert!(!is(of_day, &flash, unknown, true) && !is(page, &flash, PageKind::Article, true));
        assert!(!is(of_day, &flash, PageKind::Article, false));
        let wide = of(
            "大桥重新开放",
            "经过两年的修缮，河上的老桥于周一重新开放，市长感谢所有等待的人们，并宣布将举行庆祝活动。",
        );
        assert!(is(page, &wide, unknown, true) && !is(page, &wide, unknown, false));
    }
}
