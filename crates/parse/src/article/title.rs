//! The title of the article.
//!
//! * What this is: the heading, when the page's own titles agree with it; else what the page tells
//!   others; never with the name of the site behind it.
//! * Its place: `article` asks once and leaves the heading out of the text.

use crate::article::blocks::size;
use crate::article::facts::Facts;
use crate::article::linked::unescaped;
use crate::article::tree::{Id, Tree, fold};

/// The title, and the heading that shows it.
pub(crate) fn title(tree: &Tree, facts: &Facts<'_>, site: Option<&str>) -> String {
    let tag = tree.first("title").map(|id| tree.line(id)).unwrap_or_default();
    let told = facts.linked.text("headline").map(|t| unescaped(&t));
    let shared = facts
        .meta(&[
            "og:title",
            "twitter:title",
            "parsely-title",
            "sailthru.title",
            "dc.title",
            "citation_title",
            "title",
        ])
        .map(fold);
    let styled = if tree.first("h1").is_none() { styled(tree) } else { None };
    let headings: Vec<String> = headings(tree)
        .into_iter()
        .chain(styled)
        .map(|id| shown(tree, id))
        .filter(|t| t.len() > 2 && t.len() < 300)
        .collect();
    let whole = [told.as_deref(), shared.as_deref(), Some(tag.as_str())];
    // A heading that the titles repeat is the title as it is shown.
    let agreed = headings.iter().filter(|h| {
        let h = plain(h);
        h.len() >= 8
            && whole.iter().flatten().any(|w| {
                let w = plain(w);
                w.starts_with(&h) || (w.contains(&h) && h.len() * 2 > w.len())
            })
    });
    if let Some(best) =
        agreed.filter(|h| site.is_none_or(|s| plain(s) != plain(h))).max_by_key(|h| h.len())
    {
        return best.clone();
    }
    // The only large heading, when it is about the same: the others are written for search engines.
    let large: Vec<String> = of(tree, "h1").into_iter().map(|id| shown(tree, id)).collect();
    if let [only] = &large[..] {
        let known: Vec<String> =
            whole.iter().flatten().flat_map(|w| w.split_whitespace().map(plain)).collect();
        let words: Vec<String> =
            only.split_whitespace().map(plain).filter(|w| w.chars().count() > 3).collect();
        let shared = words.iter().filter(|w| known.contains(w)).count();
        if words.len() >= 2
            && shared * 3 >= words.len()
            && only.len() < 200
            && site.is_none_or(|s| plain(s) != plain(only))
        {
            return only.clone();
        }
    }
    let out = told.or(shared).filter(|t| !t.is_empty()).unwrap_or_else(|| tag.clone());
    let cut = without_site(&out, site, facts.url.map_or("", |url| url.host()));
    if cut.is_empty() { headings.into_iter().next().unwrap_or_default() } else { cut }
}

/// The first headings of a level.
fn of(tree: &Tree, name: &str) -> Vec<Id> {
    (0..tree.len()).filter(|&id| tree.name(id) == name).take(10).collect()
}

/// Large headings first.
fn headings(tree: &Tree) -> Vec<Id> {
    ["h1", "h2", "h3"].iter().flat_map(|name| of(tree, name)).collect()
}

/// A heading without the sign that links to it.
fn shown(tree: &Tree, id: Id) -> String {
    tree.line(id).trim_end_matches(['¶', '#', ' ']).to_owned()
}

/// The heading that shows the title, else the first `h1`.
pub(crate) fn heading(tree: &Tree) -> Option<Id> {
    let tag = tree.first("title").map(|id| plain(&tree.line(id))).unwrap_or_default();
    let all = headings(tree);
    all.iter()
        .copied()
        .find(|&id| {
            let h = plain(&tree.line(id));
            h.len() >= 8 && tag.contains(&h)
        })
        .or_else(|| of(tree, "h1").first().copied())
        .or_else(|| styled(tree))
        .or_else(|| all.first().copied())
}

/// What looks like a heading and is none: large or bold words that the title repeats.
fn styled(tree: &Tree) -> Option<Id> {
    let tag = tree.first("title").map(|id| plain(&tree.line(id))).unwrap_or_default();
    let start = tree.first("body").unwrap_or(0);
    let looks = |id: Id| match tree.name(id) {
        "b" | "strong" | "big" => true,
        "font" => tree.attr(id, "size").trim_start_matches('+').parse().is_ok_and(|s: u8| s > 0),
        _ => false,
    };
    let shown = |&id: &Id| {
        let words = plain(&tree.line(id));
        words.len() >= 12 && words.len() < 300 && tag.starts_with(&words)
    };
    tree.subtree(start).filter(|&id| looks(id)).take(200).find(shown)
}

/// Without ` | Site`, `｜Site`, `_Site` and `Site: `.
fn without_site(title: &str, site: Option<&str>, host: &str) -> String {
    let mut best = title;
    let host: Vec<String> = host.split('.').map(plain).collect();
    let is_house = |tail: &str| {
        let tail = plain(tail);
        site.is_some_and(|s| plain(s) == tail)
            || tail.len() >= 3 && (host.contains(&tail) || host.concat() == tail)
    };
    // Bars that need no spaces around them. In a title without spaces what is short behind one is
    // the site or its section.
    for bar in ['｜', '|', '_', '–', '—', '·', '»'] {
        while let Some((head, tail)) = best.rsplit_once(bar) {
            let (long, short) = (size(head), size(tail));
            let eastern = matches!(bar, '｜' | '_')
                && head.chars().filter(|c| *c >= '\u{2e80}').count() >= 8
                && short <= 24
                && short * 2 <= long;
            if head.trim().is_empty() || !(eastern || is_house(tail)) {
                break;
            }
            best = head.trim_end();
        }
    }
    for bar in [" | ", " - ", " – ", " — ", " · ", " » ", " :: ", " • ", " / ", " ~ "] {
        if let Some(at) = best.rfind(bar) {
            let (head, tail) = (&best[..at], &best[at + bar.len()..]);
            let is_site = site.is_some_and(|s| {
                let (s, t) = (plain(s), plain(tail));
                !t.is_empty() && (s.contains(&t) || t.contains(&s))
            });
            if is_site
                || (tail.split(' ').count() <= 4
                    && head.split(' ').count() >= 3
                    && head.len() > tail.len())
            {
                best = head;
            } else if site.is_some_and(|s| plain(s) == plain(head)) {
                best = tail;
            }
        }
    }
    fold(best)
}

/// Letters and digits in lower case.
pub(crate) fn plain(s: &str) -> String {
    s.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_site_goes_behind_any_bar() {
        let host = "www.hinode.example";
        for title in [
            "川の橋が冬の前に直される｜Hinode",
            "川の橋が冬の前に直される | Hinode",
            "川の橋が冬の前に直される – Hinode",
            "川の橋が冬の前に直される_谷日报网",
            "川の橋が冬の前に直される_国内_谷日报网",
        ] {
            assert_eq!(without_site(title, None, host), "川の橋が冬の前に直される", "{title}");
        }
        let kept = "A bridge|two towns and what they paid for it";
        assert_eq!(without_site(kept, None, host), kept);
        assert_eq!(without_site("A bridge :: Hinode", Some("Hinode"), host), "A bridge");
        assert_eq!(without_site("A snake_case word", None, host), "A snake_case word");
    }
}
