//! The title that a link shows.
//!
//! * What this is: of all that stands in a link or in the heading around it, the words that are
//!   its title: without ranks, times, counts, kickers, and without words that only listeners hear.
//! * Its place: `headlines` asks for the title of each link, and for that of a card.
//! * Invariants: where leaving something out leaves hardly a word, nothing is left out.
//! * What is not here: whether the link is a headline.

use super::block::is_wide;
use super::region::words;
use crate::ago::read_time;
use argiope_model::Time;
use argiope_parse::Outline;

/// Bytes of a title.
const MAX_TITLE_BYTES: usize = 400;
/// Nodes of a link that are looked at one by one.
const MAX_TITLE_NODES: usize = 400;
/// Elements called a title, the one in the other.
const MAX_NAMED: usize = 4;
/// How far above a link its card may say its title.
const MAX_LABEL_STEPS: usize = 6;
/// The elements of a mark beside a title.
const MAX_MARK_NODES: usize = 8;
pub(super) const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];

/// Names of what stands beside a title: its rank, its time, how many answered, what it is about.
const MARKS: &[&str] = &[
    "antetitulo",
    "author",
    "badge",
    "byline",
    "catchline",
    "category",
    "chapeu",
    "cintillo",
    "comment",
    "comments",
    "count",
    "counter",
    "dachzeile",
    "date",
    "duration",
    "eyebrow",
    "flag",
    "heure",
    "hour",
    "ico",
    "icon",
    "kicker",
    "label",
    "nb",
    "num",
    "number",
    "occhiello",
    "overline",
    "premium",
    "pretitle",
    "rank",
    "ranking",
    "reactions",
    "roofline",
    "rubric",
    "rubrik",
    "separator",
    "spitzmarke",
    "stamp",
    "strapline",
    "surtitle",
    "tag",
    "time",
    "timestamp",
    "topline",
    "topper",
    "toptitle",
    "type",
    "volanta",
];

/// How many words a text has; a letter of a script without spaces is half of one.
pub(super) fn word_count(text: &str) -> f32 {
    let wide = text.chars().filter(|c| is_wide(*c)).count() as f32;
    let words = text.split(|c: char| c.is_whitespace() || is_wide(c));
    let words = words.filter(|w| w.chars().any(char::is_alphanumeric)).count() as f32;
    words + wide / 2.0
}

/// The title a link shows, and whether it has to do with a heading. A link that shows only a time
/// or a number has none.
pub(super) fn title(page: &Outline, link: usize) -> (String, bool) {
    let (mut text, heading) = shown(page, link);
    let is_time = text.len() <= 30 && read_time(&text, Time(0)).is_some();
    if is_time || !text.chars().any(char::is_alphabetic) {
        text.clear();
    }
    (text, heading)
}

fn shown(page: &Outline, link: usize) -> (String, bool) {
    // Of several the one of the highest rank; what is called a kicker only where it stands alone.
    let headings = page.inside(link, HEADINGS).take(MAX_NAMED);
    let headings =
        headings.map(|h| (h, without_kicker(page, h))).filter(|(_, text)| !text.is_empty());
    let rank = |(heading, _): &(usize, String)| {
        (is_called_mark(page, *heading), page.nodes[*heading].name.clone())
    };
    if let Some((heading, words)) = headings.min_by_key(rank) {
        let other = Some(heading).filter(|h| is_called_mark(page, *h));
        let other = other.and_then(|_| named(page, link)).map(|named| text(page, named));
        return (said(page, link, other.unwrap_or(words)), true);
    }
    let in_heading = page.ancestors(link).take(4).any(|a| HEADINGS.contains(&&*page.nodes[a].name));
    if in_heading {
        let text = without_kicker(page, link);
        if !text.is_empty() {
            return (said(page, link, text), true);
        }
    }
    // A card that is one link: its title is the part that is called so, else its first lines.
    if let Some(named) = named(page, link) {
        return (said(page, link, text(page, named)), in_heading);
    }
    let parts = parts(page, link);
    if parts.len() > 1 {
        let first = parts.iter().map(|&p| text(page, p)).find(|t| word_count(t) >= 3.0);
        if let Some(first) = first {
            return (said(page, link, first), in_heading);
        }
    }
    let whole = text(page, link);
    if !whole.is_empty() {
        return (said(page, link, whole), in_heading);
    }
    let label = page.attribute(link, "aria-label").or_else(|| page.attribute(link, "title"));
    // A picture says what it shows, or who: that is rarely a title.
    let picture = || {
        let alt = page.inside(link, &["img"]).find_map(|image| page.attribute(image, "alt"));
        alt.filter(|alt| word_count(alt) >= 4.0)
    };
    (label.or_else(picture).map(one_line).unwrap_or_default(), in_heading)
}

/// The words of an element, without what only stands beside them.
pub(super) fn text(page: &Outline, node: usize) -> String {
    let seen = page.line(node, MAX_TITLE_BYTES, |n| page.is_unseen(n));
    if seen.is_empty() {
        return page.line(node, MAX_TITLE_BYTES, |_| false);
    }
    let marks: Vec<usize> = inside(page, node).filter(|&n| is_mark(page, n, &seen)).collect();
    let is_out = |n: usize| page.is_unseen(n) || marks.binary_search(&n).is_ok();
    let bare = page.line(node, MAX_TITLE_BYTES, is_out);
    let left = if word_count(&bare) >= 2.0 { bare } else { seen };
    let is_bullet = |c: char| c.is_whitespace() || "•·▪■●▶►›|".contains(c);
    left.trim_matches(is_bullet).to_owned()
}

/// Whether an element stands beside a title rather than in it.
fn is_mark(page: &Outline, node: usize, whole: &str) -> bool {
    let n = &page.nodes[node];
    if n.name.is_empty() || n.end - node > MAX_MARK_NODES || HEADINGS.contains(&&*n.name) {
        return false;
    }
    let text = page.line(node, 60, |_| false);
    let count = word_count(&text);
    if text.is_empty() || text.chars().count() > 40 || 2.0 * count > word_count(whole) + 1.0 {
        return false;
    }
    let is_called = || {
        let class = page.attribute(node, "class").unwrap_or_default();
        words(class).iter().any(|word| MARKS.contains(&word.as_str()))
    };
    let is_rank = || {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        let name = &*n.name;
        digits
            && text.len() <= 2
            && whole.starts_with(&text)
            && matches!(name, "em" | "i" | "b" | "strong")
    };
    let bare = text.trim_matches(|c: char| c.is_whitespace() || "()[]|·•-–".contains(c));
    let is_time = || bare.len() <= 30 && read_time(bare, Time(0)).is_some();
    let is_own = matches!(&*n.name, "span" | "small" | "div" | "p" | "sup" | "label");
    let is_edge = whole.starts_with(&text) || whole.ends_with(&text);
    n.name == "time"
        || is_rank()
        || count <= 4.0 && is_called()
        || count <= 2.0 && page.attribute(node, "aria-hidden") == Some("true")
        || is_own && is_edge && (!text.chars().any(char::is_alphabetic) || is_time())
}

/// The words of a heading, or of the link in it, without the kicker before them: the longest of
/// several elements that stand side by side with nothing between.
fn without_kicker(page: &Outline, node: usize) -> String {
    let whole = text(page, node);
    // What is called a title and says less than the rest is a part of one.
    let named = named(page, node).map(|named| text(page, named));
    if let Some(named) = named.filter(|named| 2.0 * word_count(named) >= word_count(&whole)) {
        return named;
    }
    let children: Vec<usize> = page.children(node).filter(|&n| !page.is_unseen(n)).collect();
    if children.len() < 2 || children.iter().any(|&n| page.nodes[n].name != "span") {
        return whole;
    }
    let parts = children.iter().map(|&n| text(page, n));
    match parts.max_by_key(|text| text.chars().count()) {
        Some(longest) if word_count(&longest) >= 3.0 => longest,
        _ => whole,
    }
}

/// What the link or its card says about itself, where that is the text or the end of it: then the
/// rest is a kicker or a mark.
fn said(page: &Outline, link: usize, text: String) -> String {
    let cards = page
        .ancestors(link)
        .take(MAX_LABEL_STEPS)
        .filter(|&a| matches!(&*page.nodes[a].name, "article" | "li"));
    let labels = ["title", "aria-label"].iter().filter_map(|name| page.attribute(link, name));
    let labels = labels.chain(cards.filter_map(|card| page.attribute(card, "aria-label")));
    labels
        .map(one_line)
        .find(|label| {
            word_count(label) >= 3.0
                && (text.ends_with(label.as_str())
                    || text.starts_with(label.as_str()) && 2 * label.len() > text.len())
        })
        .unwrap_or(text)
}

/// What is inside of a node, as far as a title may reach.
fn inside(page: &Outline, node: usize) -> std::ops::Range<usize> {
    node + 1..page.nodes[node].end.min(node + 1 + MAX_TITLE_NODES)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The innermost element that is called a title.
fn named(page: &Outline, node: usize) -> Option<usize> {
    let inside = |of: usize| {
        inside(page, of).find(|&n| {
            is_called_title(page, n) && !page.is_unseen(n) && word_count(&text(page, n)) >= 2.0
        })
    };
    std::iter::successors(inside(node), |&n| inside(n)).take(MAX_NAMED).last()
}

fn is_called_title(page: &Outline, node: usize) -> bool {
    let is_word = |word: &String| {
        matches!(word.as_str(), "hed" | "titulo" | "titre" | "titolo" | "tit")
            || (word.ends_with("title") || word.ends_with("headline"))
                && !matches!(word.as_str(), "subtitle" | "pretitle" | "surtitle")
    };
    // The last word says what it is: `title__kicker`.
    let is_title = |name: &str| {
        let words = words(name);
        let last = words.last().is_some_and(|last| MARKS.contains(&last.as_str()));
        !last && words.iter().any(is_word)
    };
    page.attribute(node, "itemprop") == Some("headline")
        || page.attribute(node, "class").is_some_and(|class| class.split_whitespace().any(is_title))
}

/// Whether its own name says that an element stands beside a title.
fn is_called_mark(page: &Outline, node: usize) -> bool {
    let is_mark =
        |name: &str| words(name).last().is_some_and(|last| MARKS.contains(&last.as_str()));
    page.attribute(node, "class").is_some_and(|class| class.split_whitespace().any(is_mark))
}

/// The first heading of a card, else what is called its title.
pub(super) fn of_card(page: &Outline, card: usize) -> Option<usize> {
    let says = |n: &usize| word_count(&text(page, *n)) >= 2.0;
    page.inside(card, HEADINGS)
        .find(says)
        .or_else(|| inside(page, card).filter(|&n| is_called_title(page, n)).find(says))
}

/// Whether the page declares the link or what is right around it an article.
pub(super) fn is_declared(page: &Outline, link: usize) -> bool {
    std::iter::once(link).chain(page.ancestors(link).take(3)).any(|n| {
        let kind = page.attribute(n, "itemtype").unwrap_or_default();
        let kind = kind.rsplit('/').next().unwrap_or_default();
        let is_titled = || {
            page.inside(link, &["span", "div", "p"])
                .any(|inner| page.attribute(inner, "itemprop") == Some("headline"))
                || page.attribute(link, "itemprop") == Some("headline")
        };
        (kind.ends_with("Article") || kind == "BlogPosting") && is_titled()
    })
}

/// Whether the class of the link or what is right around it calls it a title.
pub(super) fn is_named_title(page: &Outline, link: usize) -> bool {
    let near = std::iter::once(link)
        .chain(page.ancestors(link).take(2))
        .chain(page.children(link).take(3));
    near.filter_map(|n| page.attribute(n, "class")).any(|class| {
        let class = class.to_ascii_lowercase();
        ["title", "headline", "heading", "hed", "titulo", "titre"]
            .iter()
            .any(|word| class.contains(word))
    })
}

/// The blocks inside of a link that hold no other blocks and say something.
fn parts(page: &Outline, link: usize) -> Vec<usize> {
    let is_block = |n: usize| {
        page.is_block(n) && !page.is_hidden(n)
            || page.nodes[n].name == "span" && page.nodes[n].parent == link
    };
    inside(page, link)
        .filter(|&n| {
            is_block(n)
                && !page.is_unseen(n)
                && !(n + 1..page.nodes[n].end).any(|inner| page.is_block(inner))
                && !page.line(n, 20, |_| false).is_empty()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    /// The title of the last link.
    fn of(html: &str) -> String {
        let page = parse_outline(html.as_bytes(), Some("utf-8"));
        let link = page.inside(0, &["a"]).last().unwrap();
        title(&page, link).0
    }

    #[test]
    fn a_title_is_without_what_stands_beside_it() {
        for html in [
            "<a><p><span class=sr-only>For subscribers</span>Trains stop at noon</p></a>",
            "<a><h3><span>Trains stop at noon</span><span style='clip:rect(0 0 0 0)'>, with image</span></h3></a>",
            "<a><h1>Trains stop at noon <span class=nb_reactions><i></i>70</span></h1></a>",
            "<a>Trains stop at noon <span class=type_element>Post of a blog</span></a>",
            "<a><span class=rank>2</span>Trains stop at noon</a>",
            "<a><span>2</span> <strong>Trains stop at noon</strong></a>",
            "<a><span class=t>Trains stop at noon<span>(10:36)</span></span></a>",
            "<a>Trains stop at noon <time>10:30</time></a>",
            "<a><span>10:30</span>Trains stop at noon</a>",
            "<a><span aria-hidden=true>›</span> • Trains stop at noon</a>",
            "<h2><a><span>Rail</span><span>Trains stop at noon</span></a></h2>",
            "<h2><a title='Trains stop at noon'><span>A row in the house</span> <b>Trains stop at noon</b></a></h2>",
            "<article aria-label='Trains stop at noon'><p><a>A row in town: Trains stop at noon</a></p></article>",
            "<a><div class='lead-plus-headlines'><div>Analysis</div><div class=headline><i>Trains stop at noon</i></div></div></a>",
            "<a><h4 class=x-catchline>Row over the railways</h4><div><h3>Trains stop at noon</h3></div></a>",
            "<a><h4>Row over the railways</h4><h3>Trains stop at noon</h3></a>",
            "<a><h4 class='a overline'>Row over trains</h4><p class=x__title>Trains stop at noon</p></a>",
            "<a><h3 class=t__title><span class=t__title__kicker>Row over the railways</span><span class=t__title__separator>: </span>\
             <span class=t__title__headline>Trains stop at noon</span></h3></a>",
            "<a><h2><span class=HeadlineEmphasis><span class=HeadlineEmphasisText>The row</span></span>\
             <span class=HeadlineText>Trains stop at noon</span></h2></a>",
            "<a><em>1</em>Trains stop at noon</a>",
            "<a><div class=box-title><b>Analysis</b><div class=headline><i>Trains stop at noon</i></div></div></a>",
        ] {
            assert_eq!(of(html), "Trains stop at noon", "{html}");
        }
    }

    #[test]
    fn what_is_part_of_a_title_stays() {
        for (html, want) in [
            ("<h2><a>Five <em>ways</em> to 2026</a></h2>", "Five ways to 2026"),
            ("<a><span class=sr-only>Trains stop at noon</span></a>", "Trains stop at noon"),
            ("<a><span class=label>Trains stop</span> soon</a>", "Trains stop soon"),
            ("<a title='Trains stop'>Trains stop at noon</a>", "Trains stop at noon"),
            ("<a><img alt='Ann Smith'></a>", ""),
            ("<a><img alt='A train stands still'></a>", "A train stands still"),
            ("<a>10:30</a>", ""),
            ("<a>»Trains«</a>", "»Trains«"),
        ] {
            assert_eq!(of(html), want, "{html}");
        }
    }
}
