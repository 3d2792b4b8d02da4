//! The title that a link shows.
//!
//! * What this is: of all that stands in a link or in the heading around it, the words that are
//!   its title: without ranks, times, counts, kickers, and without words that only listeners hear.
//! * Its place: `headlines` asks for the title of each link, and for that of a card.
//! * Invariants: where leaving something out leaves hardly a word, nothing is left out.
//! * What is not here: whether the link is a headline.

use super::block::is_wide;
use super::labels::{is_by_somebody, is_full_name, is_label, is_length, is_set_off, separator};
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
/// Lines of a title.
const MAX_LINES: usize = 8;
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
    "columnist",
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
    "firma",
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
    "signature",
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

/// The title a link shows.
pub(super) struct Shown {
    pub text: String,
    /// Whether it has to do with a heading.
    pub heading: bool,
    /// Whether it is what a picture shows.
    pub pictured: bool,
}

/// The title a link shows. A link that shows only a time or a number has none.
pub(super) fn title(page: &Outline, link: usize) -> Shown {
    let (mut text, heading) = shown(page, link);
    let pictured = text.is_empty();
    if pictured {
        text = pictured_title(page, link);
    }
    if is_time(&text) || !text.chars().any(char::is_alphabetic) {
        text.clear();
    }
    Shown { text, heading, pictured }
}

/// Whether a text is a time and no more.
fn is_time(text: &str) -> bool {
    text.len() <= 30 && read_time(text, Time(0)).is_some()
}

/// Whether a part of a card is not its title: a time, a label, a name, or what leads to the title.
fn is_beside(text: &str) -> bool {
    is_time(text)
        || is_by_somebody(text)
        || is_full_name(text)
        || is_label(text)
        || is_length(text)
        || text.ends_with(':')
}

/// A picture says what it shows, or who: that is rarely a title.
fn pictured_title(page: &Outline, link: usize) -> String {
    let alt = page.inside(link, &["img"]).find_map(|image| page.attribute(image, "alt"));
    alt.filter(|alt| word_count(alt) >= 4.0).map(one_line).unwrap_or_default()
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
    if let Some(lead) = lead(page, link) {
        return (said(page, link, lead), in_heading);
    }
    let parts = parts(page, link);
    if parts.len() > 1 {
        let first =
            parts.iter().map(|&p| text(page, p)).find(|t| word_count(t) >= 3.0 && !is_beside(t));
        if let Some(first) = first {
            return (said(page, link, first), in_heading);
        }
    }
    let whole = text(page, link);
    if !whole.is_empty() {
        return (said(page, link, whole), in_heading);
    }
    let label = page.attribute(link, "aria-label").or_else(|| page.attribute(link, "title"));
    (label.map(one_line).unwrap_or_default(), in_heading)
}

/// The words of an element, without what only stands beside them.
pub(super) fn text(page: &Outline, node: usize) -> String {
    let seen = page.line(node, MAX_TITLE_BYTES, |n| page.is_unseen(n));
    if seen.is_empty() {
        return page.line(node, MAX_TITLE_BYTES, |_| false);
    }
    // Behind a mark may stand another.
    let (mut left, mut marks) = (seen, Vec::new());
    for _ in 0..2 {
        let known = marks.len();
        marks.extend(inside(page, node).filter(|&n| is_mark(page, n, &left)));
        marks.sort_unstable();
        let is_out = |n: usize| page.is_unseen(n) || marks.binary_search(&n).is_ok();
        let bare = page.line(node, MAX_TITLE_BYTES, is_out);
        if marks.len() == known || word_count(&bare) < 2.0 {
            break;
        }
        left = bare;
    }
    let is_bullet = |c: char| c.is_whitespace() || "•·▪■●▶►›|".contains(c);
    let left = left.trim_matches(is_bullet);
    // An arrow, not the end of what somebody said.
    let bare = left.strip_suffix(" »").filter(|bare| !bare.contains('«'));
    bare.unwrap_or(left).to_owned()
}

/// Whether an element stands beside a title rather than in it.
fn is_mark(page: &Outline, node: usize, whole: &str) -> bool {
    let n = &page.nodes[node];
    if n.name.is_empty() || n.end - node > MAX_MARK_NODES || HEADINGS.contains(&&*n.name) {
        return false;
    }
    let text = page.line(node, 90, |_| false);
    let count = word_count(&text);
    if text.is_empty() || 2.0 * count > word_count(whole) + 1.0 {
        return false;
    }
    if whole.ends_with(&text) && is_by_somebody(&text) {
        return true;
    }
    if text.chars().count() > 40 {
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
    let is_time = || is_time(bare);
    let is_own = matches!(&*n.name, "span" | "small" | "div" | "p" | "sup" | "label");
    let is_edge = whole.starts_with(&text) || whole.ends_with(&text);
    // "Live is short": a sentence, not a label.
    let goes_on = || {
        let rest = whole.strip_prefix(text.as_str()).unwrap_or_default();
        rest.trim_start().starts_with(char::is_lowercase)
    };
    n.name == "time"
        || is_rank()
        || count <= 4.0 && is_called()
        || count <= 2.0 && page.attribute(node, "aria-hidden") == Some("true")
        || is_own && is_edge && (!text.chars().any(char::is_alphabetic) || is_time())
        || is_edge && is_label(&text) && !goes_on()
        || count <= 4.0 && is_set_off(page, node, whole)
}

/// The words of a heading, or of the link in it, without the kicker before them: the longest of
/// several elements that stand side by side with nothing between.
pub(super) fn without_kicker(page: &Outline, node: usize) -> String {
    // A box that is all there is in it.
    let only = |&n: &usize| match &*said_in(page, n) {
        [only] if page.nodes[*only].name == "div" && page.nodes[n].text.trim().is_empty() => {
            Some(*only)
        }
        _ => None,
    };
    let node = std::iter::successors(Some(node), only).take(MAX_NAMED).last().unwrap_or(node);
    let whole = text(page, node);
    if let Some(end) = separator(page, node) {
        let behind = page.line(node, MAX_TITLE_BYTES, |n| page.nodes[n].end <= end);
        if !behind.is_empty() {
            return behind;
        }
    }
    let children = said_in(page, node);
    if let Some(lines) = lines(page, node, &children) {
        return lines;
    }
    // What is called a title and says less than the rest is a part of one.
    let named = named(page, node).map(|named| text(page, named));
    if let Some(named) = named.filter(|named| 2.0 * word_count(named) >= word_count(&whole)) {
        return named;
    }
    // Side by side; or a kicker on a line of its own before the title, or who wrote it behind that.
    let parts: Vec<String> = children.iter().map(|&n| text(page, n)).collect();
    let is = |n: usize, name: &str| page.nodes[n].name == name;
    let may_be_line = || match &*parts {
        [first, last] => is(children[0], "div") && (word_count(first) <= 2.0 || is_who(last)),
        _ => false,
    };
    let Some((&first, rest)) = children.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return whole;
    };
    if !(is(first, "span") || may_be_line()) || rest.iter().any(|&n| !is(n, "span")) {
        return whole;
    }
    // One that begins small goes on with the one before it; not a name such as "iPhone".
    let is_small = |part: &String| {
        let first = part.split(' ').next().unwrap_or_default();
        first.starts_with(char::is_lowercase) && !first.contains(char::is_uppercase)
    };
    if parts.iter().skip(1).any(|part| is_small(part) && !is_beside(part)) {
        return joined(parts.iter().filter(|part| !is_beside(part)).map(String::as_str));
    }
    let is_title = |text: &&String| word_count(text) >= 3.0 && !is_beside(text);
    // The kicker comes first, however long it is; behind the title may stand who wrote it.
    let is_phrase = |text: &str| {
        let small = text.split(' ').filter(|word| word.starts_with(char::is_lowercase)).count();
        word_count(text) >= 4.0 && 2 * small >= text.split(' ').count()
    };
    if let [first, last] = &*parts
        && word_count(first) >= 1.0
        && is_title(&last)
        && !(is_who(last) && is_phrase(first))
    {
        return last.clone();
    }
    let longest = parts.into_iter().max_by_key(|text| text.chars().count());
    longest.filter(|longest| is_title(&longest)).unwrap_or(whole)
}

/// Whether a text may be the name of a person: a few words with capitals.
fn is_who(text: &str) -> bool {
    word_count(text) <= 3.0 && text.split(' ').all(|word| word.starts_with(char::is_uppercase))
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
                    || text.starts_with(label.as_str()) && 2 * label.len() > text.len()
                    || text.contains(label.as_str()) && 4 * label.len() > text.len())
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

/// The children of an element that say something.
fn said_in(page: &Outline, node: usize) -> Vec<usize> {
    let says = |n: usize| !page.line(n, 20, |_| false).is_empty();
    page.children(node).filter(|&n| !page.is_unseen(n) && says(n)).collect()
}

/// Several texts as one, no longer than a title is.
fn joined<'t>(parts: impl Iterator<Item = &'t str>) -> String {
    let mut out = String::new();
    for part in parts {
        if out.len() + part.len() > MAX_TITLE_BYTES {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}

/// The lines of a title, each in a child that is called one.
fn lines(page: &Outline, node: usize, children: &[usize]) -> Option<String> {
    let class = |n: usize| page.attribute(n, "class")?.split_whitespace().next();
    let first = class(*children.first()?)?;
    let is_line = |n: &usize| {
        class(*n) == Some(first) && is_called_title(page, *n) && !is_called_mark(page, *n)
    };
    let is_all = children.len() > 1 && page.nodes[node].text.trim().is_empty();
    (is_all && children.iter().all(is_line)).then(|| {
        let texts: Vec<String> = children.iter().take(MAX_LINES).map(|&n| text(page, n)).collect();
        joined(texts.iter().map(String::as_str))
    })
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
pub(super) fn is_called_mark(page: &Outline, node: usize) -> bool {
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

/// The bold words that a card begins with, where what follows is a sentence about them.
fn lead(page: &Outline, link: usize) -> Option<String> {
    let mut bold = page.inside(link, &["strong", "b"]);
    let first = bold.next().filter(|_| bold.next().is_none())?;
    let whole = text(page, link);
    let lead = text(page, first);
    let rest = whole.strip_prefix(lead.as_str())?.trim_start();
    let begins = rest.chars().next().is_some_and(|c| !c.is_lowercase() && !",;.:-–".contains(c))
        && !lead.ends_with([':', '–', '-', ',']);
    let (said, more) = (word_count(&lead), word_count(rest));
    (begins && (said >= 4.0 && more >= 4.0 || said >= 3.0 && more >= 8.0)).then_some(lead)
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
        title(&page, link).text
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
            "<a><h3 class=f><span class='a b'>c’t up</span><span class='c d'><span>Trains stop at noon</span></span></h3></a>",
            "<a><h3><span>A long row over the railways</span> <span>Trains stop at noon</span></h3></a>",
            "<a><h3><span>Trains stop at noon</span> <span>By Ann Smith</span></h3></a>",
            "<a><h3><div><div><span>A long row over the railways</span><span class=sr-only>: </span></div></div>\
             <div>Trains stop at noon</div></h3></a>",
            "<h3><a><span class=k>Plan D</span><span>:</span> <span>A row</span><span class=visually-hidden>: </span>\
             <span>Trains stop at noon</span></a></h3>",
            "<h2><a><i>LIVE</i> Trains stop at noon</a></h2>",
            "<a><span>Exclusive</span> Trains stop at noon</a>",
            "<a><span>meinung</span><span>•</span>Trains stop at noon <span>Eine Kolumne von Ann Smith</span></a>",
            "<h3><a>Trains stop at noon <span>Par Anne Marie Petit</span></a></h3>",
            "<h3><a><span class=firma>Ann Smith</span> Trains stop at noon</a></h3>",
            "<h2><a title='Trains stop at noon'><span>A row</span> Trains stop at noon <small>Seen from town</small></a></h2>",
            "<a><span>RAIL / ROWS</span><br>Trains stop<br>at noon</a>",
            "<a><em class=photo>Fotos: </em><strong>From town</strong>Trains stop at noon</a>",
            "<a><strong>From our town</strong> Trains stop at noon</a>",
            "<a>Trains stop at noon »</a>",
            "<a><span><i></i> <strong>Trains stop at noon</strong> Hundreds of people have to walk home</span></a>",
            "<h2><a><em class=lead>Politics.</em> Trains stop at noon</a></h2>",
            "<a><b>From our town.</b> Trains stop at noon</a>",
            "<a><div class=tag>Rail</div><div>Nov 18, 2026</div><div class=x>Trains stop at noon</div><div>Read more</div></a>",
            "<a><div>5 hours ago</div><div>Trains stop at noon</div></a>",
            "<a><p>vor 5 Stunden</p><p>Trains stop at noon</p></a>",
            "<a><div>19. November 2026</div><div>Trains stop at noon</div></a>",
            "<a><div>2 min read</div><div>Trains stop at noon</div></a>",
            "<a><div><span>Thomas L. Friedman</span></div><div><p>Trains stop at noon</p></div></a>",
            "<a><span>1</span><span>A row in the house:</span> <span>Trains stop at noon</span></a>",
            "<a><span>The long read</span><span>Trains stop at noon</span></a>",
            "<h2><a><span>Trains stop</span><span>at noon</span></a></h2>",
            "<h2><a><span>Trains</span> <span>stop at noon</span></a></h2>",
            "<h2><a>Trains <span>stop at noon</span></a></h2>",
            "<a><h2 class=headline><span class='title-line a'>Trains stop</span><span class='title-line b'>at noon</span></h2></a>",
            "<h2><a><span>Trains stop </span><em>at noon</em></a></h2>",
            "<a><h3><div><div>Rail</div> <span>Trains stop at noon</span></div></h3></a>",
            "<a><h3><div><span>Trains stop at noon</span></div><span>Maya Feldstein</span></h3></a>",
            "<a><h3><span>Trains stop at noon</span><span>Anne Marie Petit</span></h3></a>",
            "<a><h3><span>Trains stop at noon</span><span>von Ann Smith</span></h3></a>",
            "<a><h3><span>Trains stop at noon</span><span>vor 5 Stunden</span></h3></a>",
            "<a><h3><span class='headline headline--kicker'>Berlin</span><span class='headline headline--main'>Trains stop at noon</span></h3></a>",
            "<a><h3><span>The War in Town</span><span>Trains stop at noon</span></h3></a>",
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
            ("<a>« Trains stop »</a>", "« Trains stop »"),
            (
                "<h2><a><b>NATO</b> says trains stop at noon</a></h2>",
                "NATO says trains stop at noon",
            ),
            ("<a><b>Ann Smith</b> Wins Race At Noon</a>", "Ann Smith Wins Race At Noon"),
            ("<a><b>m</b>Trains stop at noon</a>", "mTrains stop at noon"),
            (
                "<a><b>Trains will stop again</b> at noon in all towns</a>",
                "Trains will stop again at noon in all towns",
            ),
            ("<a>Trains stop <span>by the sea</span></a>", "Trains stop by the sea"),
            ("<a><b>Live</b> is short</a>", "Live is short"),
            ("<a><em>U.S.</em> Trains stop at noon</a>", "U.S. Trains stop at noon"),
            ("<a><em>Dr.</em> Smith stops at noon</a>", "Dr. Smith stops at noon"),
            ("<a><em>Enough.</em> says a man of trains</a>", "Enough. says a man of trains"),
            (
                "<a><strong>One day before noon:</strong> Trains will stop again in all towns</a>",
                "One day before noon: Trains will stop again in all towns",
            ),
        ] {
            assert_eq!(of(html), want, "{html}");
        }
    }

    #[test]
    fn words_in_a_title_are_not_what_stands_beside_it() {
        for (html, title) in [
            ("<h2><a>Learn to swim in <em>15 minutes</em></a></h2>", "Learn to swim in 15 minutes"),
            (
                "<h3><a>Book review: <em>Ulysses S. Grant</em></a></h3>",
                "Book review: Ulysses S. Grant",
            ),
            (
                "<h2><a><span>Technik</span><span>iPhone bekommt neuen Chip</span></a></h2>",
                "iPhone bekommt neuen Chip",
            ),
        ] {
            assert_eq!(of(html), title);
        }
    }

    #[test]
    fn deep_and_long_headings_end_soon() {
        let deep = format!(
            "<a href=/x><h3>{}Trains stop at noon{}",
            "<div class=title>".repeat(390),
            "<i></i>".repeat(200_000)
        );
        assert_eq!(of(&deep), "Trains stop at noon");
        let long =
            format!("<h2><a href=/x>{}", "<span class=title>two words</span>".repeat(50_000));
        assert!(of(&long).len() <= MAX_TITLE_BYTES);
    }
}
