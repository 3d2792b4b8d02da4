//! What stands around a headline: its block, with summary, picture, time and section.
//!
//! * What this is: for each link that was taken as a headline, the largest part of the page that
//!   belongs to it alone, and what that part shows.
//! * Its place: `headlines` calls it at the end.
//! * Invariants: nothing is taken from the block of another headline.
//! * What is not here: which links are headlines.

use super::labels::is_by_somebody;
use super::prose::opens;
use crate::ago::read_time;
use argiope_model::{CanonicalUrl, Time};
use argiope_parse::Outline;

/// Steps up from a link that a block may have.
const MAX_STEPS: usize = 9;
/// Headings before a block that are looked at in each part around it.
const MAX_HEADINGS: usize = 8;
/// Bytes of a summary, without the sign that it goes on.
const MAX_SUMMARY_BYTES: usize = 600;
/// Bytes of a text of which it is known whether it is longer than a summary.
const MAX_TEXT_BYTES: usize = MAX_SUMMARY_BYTES + 60;
/// Bytes of a link that is read like a title.
const MAX_LINKED_BYTES: usize = 300;
/// Bytes of a word that a summary may lose at its end.
const MAX_WORD_BYTES: usize = 60;

/// The largest part around `link` that holds no other headline. `taken` has the places of all
/// headlines, in order.
pub(super) fn block(page: &Outline, link: usize, own: &[usize], taken: &[usize]) -> usize {
    let mut best = link;
    for part in page.ancestors(link).take(MAX_STEPS) {
        let end = page.nodes[part].end;
        let from = taken.partition_point(|&t| t <= part);
        let inside = &taken[from..taken.partition_point(|&t| t < end)];
        let is_whole = matches!(&*page.nodes[part].name, "body" | "html" | "main" | "");
        if is_whole || inside.iter().any(|t| own.binary_search(t).is_err()) {
            break;
        }
        best = part;
    }
    best
}

/// The summary in a block: the first text of some length that is neither the title nor made of
/// links to something else; `own` has the links of the headline, in order.
pub(super) fn summary(page: &Outline, block: usize, own: &[usize], title: &str) -> String {
    let mut fallback = String::new();
    for node in block..page.nodes[block].end {
        let name = &*page.nodes[node].name;
        let class = page.attribute(node, "class").unwrap_or_default().to_ascii_lowercase();
        let named = [
            "summary",
            "dek",
            "excerpt",
            "standfirst",
            "teaser",
            "description",
            "lead",
            "intro",
            "abstract",
            "snippet",
            "deck",
            "subtitle",
        ]
        .iter()
        .any(|word| class.contains(word));
        if !(name == "p" || named && matches!(name, "div" | "span" | "td" | "dd")) {
            continue;
        }
        let holds_heading = page.inside(node, &["h1", "h2", "h3", "h4", "p"]).next().is_some();
        if holds_heading || is_by(page, node, block) {
            continue;
        }
        let text = said(page, node, own, title);
        let long =
            text.chars().count() >= 30 || text.chars().any(is_wide) && text.chars().count() >= 12;
        if is_title(&text, title) || is_led_away(page, node, own, &text) {
            continue;
        }
        if long {
            return text;
        }
        if fallback.is_empty() && named && super::word_count(&text) >= 4.0 {
            fallback = text;
        }
    }
    if !fallback.is_empty() {
        return fallback;
    }
    let linked = own.iter().filter(|&&link| block < link && link < page.nodes[block].end);
    let mut is_behind = false;
    let linked = linked.map(|&link| whole(page, link)).find(|text| {
        // What follows the title may be shorter.
        let least = if is_behind { 5.0 } else { 8.0 };
        is_behind |= text == title;
        super::word_count(text) >= least && !is_title(text, title)
    });
    let found = linked.map_or_else(|| prose(page, block, own, title), |text| shortened(&text));
    if !found.is_empty() {
        return found;
    }
    own.iter()
        .map(|&link| rest(page, link, title))
        .find(|rest| !rest.is_empty())
        .unwrap_or_default()
}

/// What a link says: as a title does, unless it is longer than one.
fn whole(page: &Outline, link: usize) -> String {
    let all = page.line(link, MAX_TEXT_BYTES, |n| page.is_unseen(n));
    if all.len() > MAX_LINKED_BYTES { all } else { super::title::text(page, link) }
}

/// Whether a text is the title, or the title with hardly more.
fn is_title(text: &str, title: &str) -> bool {
    title.contains(text) || text.contains(title) && text.len() < title.len() + 60
}

/// What a part says, without the words that only lead on ("read more") and what is not seen; if it opens with the
/// title, what follows that.
fn said(page: &Outline, node: usize, own: &[usize], title: &str) -> String {
    let end = title_end(page, node, own, title);
    let text = page.line(node, MAX_TEXT_BYTES, |n| {
        let leads_on = || super::word_count(&page.line(n, 60, |_| false)) <= 3.0;
        page.is_unseen(n)
            || page.nodes[n].end <= end
            || end > 0 && is_aside(page, n)
            || own.binary_search(&n).is_ok() && leads_on()
    });
    let text = text.trim_end_matches(['[', ']', '|', '»', ' ']);
    shortened(if end == 0 { text } else { without_sign(text) })
}

/// A summary that is not too long: it ends with a word.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= MAX_SUMMARY_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_SUMMARY_BYTES).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let is_gap = |c: char| c.is_whitespace() || is_wide(c);
    // The last gap between words, be it right behind the cut.
    let cut = match text[end..].chars().next() {
        Some(next) if is_gap(next) => end,
        _ => {
            let last = text[..end].char_indices().rev().find(|(_, c)| is_gap(*c));
            let last = last.map(|(at, c)| if is_wide(c) { at + c.len_utf8() } else { at });
            last.filter(|last| last + MAX_WORD_BYTES >= end).unwrap_or(end)
        }
    };
    format!(
        "{}…",
        text[..cut].trim_end_matches(|c: char| !c.is_alphanumeric() && !")]\"”»".contains(c))
    )
}

/// The end of the title of a part that opens with it, and with what stands before it; else 0.
fn title_end(page: &Outline, node: usize, own: &[usize], title: &str) -> usize {
    let from = own.partition_point(|&link| link <= node);
    let mut inside = own[from..].iter().take_while(|&&link| link < page.nodes[node].end);
    let is_it = |link: &&usize| {
        let text = page.line(**link, MAX_SUMMARY_BYTES, |_| false);
        !text.is_empty() && text.contains(title) && text.len() < title.len() + 60
    };
    let link = inside.find(is_it).filter(|&&link| opens(page, node, link));
    link.map_or(0, |&link| page.nodes[link].end)
}

/// Whether an element of a line is a time and nothing else, or says by whom something is.
fn is_aside(page: &Outline, node: usize) -> bool {
    let is_short = page.nodes[node].end - node < 12;
    let is_line = !page.nodes[node].name.is_empty() && !page.is_block(node);
    if !is_short || !is_line {
        return false;
    }
    let text = page.line(node, 60, |_| false);
    if text.len() <= 50 && is_by_somebody(&text) {
        return true;
    }
    let text = text.trim_matches(|c: char| c.is_whitespace() || "()[]|·•-–,".contains(c));
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let is_clock =
        || text.starts_with(|c: char| c.is_ascii_digit()) && digits >= 3 && letters <= digits;
    matches!(&*page.nodes[node].name, "time" | "small" | "span")
        && text.len() <= 30
        && (is_clock() || read_time(text, Time(0)).is_some())
}

/// What a link says behind its title, where it is a card of its own.
fn rest(page: &Outline, link: usize, title: &str) -> String {
    let all = page.line(link, MAX_TEXT_BYTES, |n| page.is_unseen(n) || is_aside(page, n));
    let rest = all.find(title).map(|at| without_sign(&all[at + title.len()..])).unwrap_or_default();
    let count = super::word_count(rest);
    let is_sentence = rest.ends_with(['.', '!', '?', '…', '。']) && count >= 5.0;
    let is_text = (is_sentence || count >= 8.0) && !rest.starts_with(char::is_lowercase);
    if is_text { shortened(rest) } else { String::new() }
}

/// A text without the sign that parted it from its title.
fn without_sign(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || "|·•–—-:;,.»>)]".contains(c))
}

/// Whether half of a text and more is links to something else.
fn is_led_away(page: &Outline, node: usize, own: &[usize], text: &str) -> bool {
    let is_other = |n: usize| page.nodes[n].name == "a" && own.binary_search(&n).is_err();
    2 * page.line(node, MAX_SUMMARY_BYTES, is_other).len() < text.len()
}

/// Whether a part says by whom something is.
fn is_by(page: &Outline, node: usize, block: usize) -> bool {
    let near = std::iter::once(node).chain(page.ancestors(node).take(4).take_while(|&a| a > block));
    near.into_iter().any(|n| {
        page.attribute(n, "itemprop") == Some("author")
            || page.attribute(n, "class").is_some_and(|class| {
                let words = super::region::words(class);
                words
                    .iter()
                    .any(|w| matches!(w.as_str(), "byline" | "bylines" | "author" | "credit"))
            })
    })
}

/// The text that follows a block, where a headline and its summary stand side by side.
pub(super) fn summary_behind(
    page: &Outline,
    block: usize,
    own: &[usize],
    taken: &[usize],
) -> String {
    let mut next = page.nodes[block].end;
    let end = page.nodes[page.nodes[block].parent].end;
    for _ in 0..4 {
        let Some(node) = page.nodes.get(next).filter(|_| next < end) else { break };
        let from = taken.partition_point(|&t| t < next);
        let others = taken[from..taken.partition_point(|&t| t < node.end)].iter();
        if others.clone().any(|t| own.binary_search(t).is_err())
            || matches!(&*node.name, "dt" | "h2" | "h3" | "h4")
        {
            break;
        }
        if matches!(&*node.name, "p" | "dd" | "div") {
            let text = page.line(next, MAX_TEXT_BYTES, |n| page.nodes[n].name == "a");
            let least = if node.name == "dd" { 4.0 } else { 8.0 };
            if super::word_count(&text) >= least {
                return shortened(&text);
            }
        }
        next = node.end.max(next + 1);
    }
    String::new()
}

/// The longest text of a block that is not called anything, if it is long enough.
fn prose(page: &Outline, block: usize, own: &[usize], title: &str) -> String {
    let mut longest = String::new();
    for node in block..page.nodes[block].end {
        let is_leaf = page.is_block(node)
            && !page.is_hidden(node)
            && !matches!(&*page.nodes[node].name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "br")
            && !(node + 1..page.nodes[node].end)
                .any(|n| page.is_block(n) && page.nodes[n].name != "br");
        if !is_leaf {
            continue;
        }
        let end = title_end(page, node, own, title);
        let text = page.line(node, MAX_TEXT_BYTES, |n| {
            // Links beside the text, and the title before it with its time.
            matches!(&*page.nodes[n].name, "a" | "time" | "small")
                || page.is_unseen(n)
                || page.nodes[n].end <= end
                || end > 0 && is_aside(page, n)
        });
        let text = if end == 0 { text } else { without_sign(&text).to_owned() };
        let count = super::word_count(&text);
        // What stands right behind its title may be short, if it does not end that.
        let is_short = end > 0 && count >= 5.0 && !text.starts_with(char::is_lowercase);
        if (is_short || count >= 8.0)
            && text.len() > longest.len()
            && !text.contains(title)
            && !is_by(page, node, block)
        {
            longest = text;
        }
    }
    shortened(&longest)
}

/// A letter of a script that writes without spaces.
pub(super) fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x2FFFF | 0x0E00..=0x0E7F)
}

/// The picture of a block.
pub(super) fn picture(page: &Outline, block: usize, base: &CanonicalUrl) -> Option<CanonicalUrl> {
    page.inside(block, &["img", "source"]).find_map(|image| {
        let said = |name| page.attribute(image, name).map(str::trim).filter(|v| !v.is_empty());
        let first = |set: &str| set.split_whitespace().next().map(str::to_owned);
        let own = ["data-src", "data-original", "src"]
            .iter()
            .find_map(|name| said(name).filter(|v| !v.starts_with("data:")).map(str::to_owned));
        let set = || said("data-srcset").or_else(|| said("srcset")).and_then(first);
        let found = own.or_else(set)?;
        let file = found.to_ascii_lowercase();
        let is_sign = ["logo", "icon", "spacer", "blank", "pixel", "avatar", "1x1", ".svg"];
        if is_sign.iter().any(|sign| file.contains(sign)) {
            return None;
        }
        base.join(&found).ok()
    })
}

/// The time a block shows, as it shows it and as a point in time.
pub(super) fn time(page: &Outline, block: usize, now: Time) -> (String, Option<Time>) {
    let mut shown = String::new();
    // What lies ahead is when something opens, or a number that is none.
    let is_past = |time: &Time| time.0 <= now.0 + 36 * 3_600_000;
    for node in block..page.nodes[block].end {
        let name = &*page.nodes[node].name;
        let class = page.attribute(node, "class").unwrap_or_default().to_ascii_lowercase();
        let is_named =
            ["date", "time", "ago", "published", "stamp"].iter().any(|word| class.contains(word));
        if name != "time" && !(is_named && page.nodes[node].end - node < 12) {
            continue;
        }
        let text = page.line(node, 60, |_| false);
        let said = page.attribute(node, "datetime").and_then(|t| read_time(t, now)).filter(is_past);
        let found = said.or_else(|| read_time(&text, now).filter(is_past));
        if found.is_some() {
            return (text, found);
        }
        if shown.is_empty() && text.chars().any(|c| c.is_ascii_digit()) {
            shown = text;
        }
    }
    // Short texts that are a time and nothing else.
    for node in block..page.nodes[block].end {
        let text = page.nodes[node].text.trim().trim_matches(['|', '·', '•', '-', ' ']);
        let is_short = (2..=30).contains(&text.chars().count());
        if is_short
            && text.chars().any(char::is_numeric)
            && !text.bytes().all(|b| b.is_ascii_digit())
        {
            let found = read_time(text, now).filter(is_past);
            if found.is_some() {
                return (text.to_owned(), found);
            }
        }
    }
    (shown, None)
}

/// The heading that stands over the block: short, before it, and no headline itself.
pub(super) fn section(page: &Outline, block: usize, headings: &[usize]) -> String {
    for part in page.ancestors(block).take(MAX_STEPS) {
        if matches!(&*page.nodes[part].name, "body" | "html" | "") {
            break;
        }
        let label = page.attribute(part, "aria-label").map(str::trim).filter(|l| !l.is_empty());
        // The last one before the block, among those that the part holds.
        let end = headings.partition_point(|&h| h < block);
        let over = headings[..end].iter().rev().take(MAX_HEADINGS).take_while(|&&h| h > part);
        for &heading in over {
            let text = page.line(heading, 80, |_| false);
            let words = text.split_whitespace().count();
            if words > 0 && words <= 5 && text.chars().count() <= 40 {
                return text;
            }
        }
        if let Some(label) =
            label.filter(|l| l.chars().count() <= 40 && page.nodes[part].name == "section")
        {
            return label.to_owned();
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use argiope_parse::parse_outline;

    #[test]
    fn a_summary_is_neither_the_title_nor_another_nor_a_name() {
        let long = "It was built in a year by people of the town";
        for (rest, want) in [
            ("<p>It was built in a year by people of the town <a>[more]</a></p>", long),
            (
                "<section><a><span>It was built in a year by people of the town</span></a><i>By <b>Ann</b></i></section>",
                long,
            ),
            (
                "<p><b class=sr-only>For you:</b> It was built in a year by people of the town</p>",
                long,
            ),
            ("<p>The town blog: A bridge is opened today</p>", ""),
            ("<p class=byline>Ann Margaret Smith and Benjamin Charles Miller</p>", ""),
            (
                "<p><i href=x></i><a href=/else>Another story of the day that is told elsewhere</a></p>",
                "",
            ),
            ("<div class=teaser>The Big Interview</div>", ""),
        ] {
            let html = format!("<div><h2><a>A bridge is opened today</a></h2>{rest}</div>");
            let page = parse_outline(html.as_bytes(), Some("utf-8"));
            let own: Vec<usize> =
                page.inside(0, &["a"]).filter(|&n| page.attribute(n, "href").is_none()).collect();
            assert_eq!(summary(&page, 1, &own, "A bridge is opened today"), want, "{rest}");
        }
    }

    #[test]
    fn a_summary_that_is_too_long_ends_with_a_word() {
        let ends = |text: &str| {
            for html in [
                format!("<div><h2><a>A bridge is open</a></h2><p>{text}</p></div>"),
                format!("<div><h2><a>A bridge is open</a></h2><div>{text}</div></div>"),
                format!("<div><h2><a>A bridge is open</a></h2><a>{text}</a></div>"),
            ] {
                let page = parse_outline(html.as_bytes(), Some("utf-8"));
                let own: Vec<usize> = page.inside(0, &["a"]).collect();
                let said = summary(&page, 1, &own, "A bridge is open");
                let left = said.strip_suffix('…').unwrap_or_default();
                assert!(left.len() <= 600 && left.len() > 540, "{html}: {said}");
                let rest = text.strip_prefix(left).unwrap();
                assert!(rest.starts_with([' ', '.', '橋']), "{html}: {said}");
            }
        };
        for shift in 0..9 {
            ends(&format!("{} {}", "x".repeat(shift + 1), "bridges are long. ".repeat(60)));
            ends(&format!("{} {}", "x".repeat(shift + 1), "橋".repeat(600)));
        }
        assert_eq!(shortened("A bridge"), "A bridge");
        assert_eq!(shortened(&"x".repeat(700)).len(), 603);
    }
}
