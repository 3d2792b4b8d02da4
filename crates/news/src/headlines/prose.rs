//! Links in running text, and links that open a paragraph of their own.
//!
//! * What this is: of a link in a block of text, whether it is the title before a teaser, or a part of a
//!   sentence.
//! * Its place: `headlines` asks for each link before it judges it; `block` takes summaries from behind
//!   such titles.
//! * States: a block opens with a link if nothing but a time, a number, a picture, a mark or a kicker stands before
//!   it, and a sentence of its own behind it. Only a series of such blocks counts.
//! * Invariants: a block is looked at once; all is linear in the page.
//! * What is not here: whether the link is a headline.

use super::block::is_wide;
use super::labels::{is_by_somebody, is_label};
use super::place;
use super::title::{is_called_mark, word_count};
use crate::ago::read_time;
use argiope_model::Time;
use argiope_parse::Outline;
use std::collections::HashMap;

/// Nodes that may stand before a link that opens its block.
const MAX_BEFORE: usize = 40;
/// Bytes that are looked at before and behind a link.
const MAX_BYTES: usize = 200;
/// Letters of a teaser, and of a text that tells against a series.
const MIN_TEASER: usize = 30;
const MIN_TEXT: usize = 60;
/// How many blocks make a series.
const MIN_SERIES: usize = 3;
/// Words of a kicker that stands in an element of its own or has a sign behind it.
const MAX_KICKER_WORDS: f32 = 3.0;
/// Words of an unfinished sentence before a link.
const MIN_WORDS: f32 = 5.0;

/// How a link stands in the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// There is hardly any text around it.
    Apart,
    /// It opens its block, as others do.
    Opens,
    /// Its block says much more than the link does.
    Among,
    /// So it does, and the link is in the midst of a sentence.
    Midst,
}

impl Stand {
    /// What this says for a headline.
    pub(super) fn worth(self) -> f32 {
        match self {
            Stand::Apart => 0.0,
            Stand::Opens => 1.0,
            Stand::Among => -3.0,
            Stand::Midst => -6.0,
        }
    }
}

/// How many blocks at one place open with a link, and how many have a text.
#[derive(Default)]
struct Series {
    opened: usize,
    texts: usize,
}

/// The blocks of a page that hold its text.
pub(super) struct Paragraphs<'p> {
    page: &'p Outline,
    /// For each block that opens with a link: the link and the place of the block.
    opened: HashMap<usize, (usize, u64)>,
    series: HashMap<u64, Series>,
    talkative: HashMap<usize, bool>,
}

impl<'p> Paragraphs<'p> {
    pub(super) fn new(page: &'p Outline) -> Self {
        let mut is_leaf = vec![true; page.nodes.len()];
        for node in (1..page.nodes.len()).filter(|&n| page.is_block(n)) {
            if page.nodes[node].name != "br" {
                is_leaf[page.nodes[node].parent] = false;
            }
        }
        // What stands in an element of a line stands in its block.
        for node in (1..page.nodes.len()).rev() {
            if !is_leaf[node] && !page.is_block(node) {
                is_leaf[page.nodes[node].parent] = false;
            }
        }
        let mut opened: HashMap<usize, (usize, u64)> = HashMap::new();
        let mut series: HashMap<u64, Series> = HashMap::new();
        for block in page.inside(0, &["p", "div", "li", "td", "dd"]).filter(|&n| is_leaf[n]) {
            let text = page.line(block, MIN_TEXT * 4, |_| false);
            if text.chars().map(width).sum::<usize>() < MIN_TEXT {
                continue;
            }
            let at = place(page, block);
            let known = series.entry(at).or_default();
            known.texts += 1;
            if let Some(link) = opening(page, block) {
                known.opened += 1;
                opened.insert(block, (link, at));
            }
        }
        Paragraphs { page, opened, series, talkative: HashMap::new() }
    }

    /// How a link stands in its block.
    pub(super) fn stand(&mut self, link: usize) -> Stand {
        let page = self.page;
        let Some(block) = page.ancestors(link).find(|&a| page.is_block(a)) else {
            return Stand::Apart;
        };
        if let Some((_, at)) = self.opened.get(&block).filter(|(first, _)| *first == link)
            && let Some(series) = self.series.get(at)
            && series.opened >= MIN_SERIES
            && 2 * series.opened >= series.texts
        {
            return Stand::Opens;
        }
        if !matches!(&*page.nodes[block].name, "p" | "blockquote") {
            return Stand::Apart;
        }
        let is_talkative = *self.talkative.entry(block).or_insert_with(|| {
            let all = page.line(block, 800, |_| false);
            let others = page.line(block, 800, |n| page.nodes[n].name == "a");
            others.len() > 40 && 2 * others.len() > all.len()
        });
        match () {
            () if !is_talkative => Stand::Apart,
            () if is_in_sentence(page, block, link) => Stand::Midst,
            () => Stand::Among,
        }
    }
}

/// The link that opens a block: the first that says something, if a sentence of its own follows.
fn opening(page: &Outline, block: usize) -> Option<usize> {
    let end = page.nodes[block].end;
    let until = end.min(block + MAX_BEFORE);
    let is_title = |n: &usize| {
        page.nodes[*n].name == "a"
            && page.attribute(*n, "href").is_some()
            && word_count(&page.line(*n, MAX_BYTES, |_| false)) >= 1.0
    };
    let link = (block + 1..until).find(is_title)?;
    let is_behind =
        |n: usize| page.nodes[n].end > page.nodes[link].end && page.nodes[n].name != "a";
    let behind = page.line(block, MAX_BYTES * 2, |n| !is_behind(n));
    let letters = behind.chars().filter(|c| c.is_alphabetic()).map(width).sum::<usize>();
    (letters >= MIN_TEASER && opens(page, block, link) && !goes_on(page, block, link))
        .then_some(link)
}

/// A letter of a script without spaces says as much as two others.
fn width(c: char) -> usize {
    1 + usize::from(is_wide(c))
}

/// Whether nothing but marks stands in a block before a link: a time, a number, a bullet, a label, a kicker.
pub(super) fn opens(page: &Outline, block: usize, link: usize) -> bool {
    if link <= block || link - block > MAX_BEFORE {
        return false;
    }
    let is_set_off = |n: usize| {
        let is_own =
            matches!(&*page.nodes[n].name, "b" | "strong" | "em" | "i" | "span" | "font" | "small");
        is_own
            && page.nodes[n].end <= link
            && word_count(&page.line(n, 60, |_| false)) <= MAX_KICKER_WORDS
    };
    let before = page.line(block, MAX_BYTES, |n| {
        n >= link
            || is_set_off(n)
            || page.nodes[n].name != "a" && page.nodes[n].end <= link && is_called_mark(page, n)
    });
    let is_edge = |c: char| c.is_whitespace() || "|·•–—-:,()[]/▪■●►▶›»".contains(c);
    let is_kicker = before.trim_end().ends_with([':', '|', '–', '—', '：'])
        && !before.contains(['.', '?', '!'])
        && word_count(&before) <= MAX_KICKER_WORDS;
    let before = before.trim_matches(is_edge);
    is_kicker
        || !before.chars().any(char::is_alphabetic)
        || is_label(before)
        || before.len() <= 50 && read_time(before, Time(0)).is_some()
}

/// Whether a sentence goes on behind a link, with nothing between.
fn goes_on(page: &Outline, block: usize, link: usize) -> bool {
    let end = page.nodes[block].end;
    let next = (page.nodes[link].end..end.min(page.nodes[link].end + MAX_BEFORE))
        .take_while(|&n| !page.is_block(n))
        .find(|&n| !page.nodes[n].text.trim().is_empty());
    // What stands in an element of its own is something else.
    let is_bare = |n: &usize| page.ancestors(link).any(|a| a == page.nodes[*n].parent);
    let Some(next) = next.filter(is_bare) else { return false };
    let text = page.nodes[next].text.trim_start();
    let beginning: Vec<&str> = text.split_whitespace().take(4).collect();
    let is_other = || {
        let time = text.trim_matches(|c: char| c.is_whitespace() || "|·•,".contains(c));
        is_by_somebody(&beginning.join(" "))
            || time.len() <= 30 && read_time(time, Time(0)).is_some()
    };
    text.starts_with(|c: char| c.is_lowercase() || ",;)".contains(c)) && !is_other()
}

/// Whether a link is in the midst of a sentence: it goes on behind it, or has begun long before.
fn is_in_sentence(page: &Outline, block: usize, link: usize) -> bool {
    let from = link.saturating_sub(MAX_BEFORE).max(block + 1);
    let mut before: Vec<&str> = Vec::new();
    for node in
        (from..link).filter(|&n| !page.nodes[n].name.is_empty() || !page.nodes[n].text.is_empty())
    {
        // A new line, or what is not part of the text.
        if page.is_block(node) {
            before.clear();
        }
        before.push(&page.nodes[node].text);
    }
    let before = before.concat();
    let before = before.trim_end();
    let is_end = |c: char| ".!?:…。！？：»”\"|•·–—-".contains(c);
    let begun = before.rsplit(is_end).next().unwrap_or_default();
    word_count(begun) >= MIN_WORDS || goes_on(page, block, link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headlines::{Headline, headlines};
    use crate::learned::Learned;
    use argiope_model::{CanonicalUrl, Suffixes};
    use argiope_parse::parse_outline;

    const STORIES: [(&str, &str); 8] = [
        ("Council agrees on new bridge over the river", "After years of debate the members voted."),
        ("Trains stop at noon in all towns", "A broken signal box keeps thousands waiting."),
        ("Doctors warn of a long winter", "Hospitals expect twice as many as last year."),
        ("Farmers count their losses after the storm", "Hail and wind destroyed whole fields."),
        ("Museum opens a wing for young painters", "The rooms show works of those under thirty."),
        ("Minister resigns after row over the budget", "The opposition had asked for this step."),
        ("Scientists find water under the desert", "Measurements show a reservoir of great size."),
        ("Port city votes for a free bus network", "Nearly two thirds said yes on Sunday."),
    ];

    /// The headlines of a page with one item for each story; marks stand for what it is made of.
    fn found(item: &str) -> Vec<Headline> {
        let item = |(n, (title, teaser)): (usize, &(&str, &str))| {
            let path = format!("/news/{n}.html");
            let item = item.replace("{u}", &path).replace("{h}", title);
            item.replace("{t}", teaser).replace("{n}", &n.to_string())
        };
        let items: String = STORIES.iter().enumerate().map(item).collect();
        let url = CanonicalUrl::parse("https://n.test/").unwrap();
        let page = parse_outline(format!("<body>{items}").as_bytes(), Some("utf-8"));
        headlines(&page, &url, &Suffixes::built_in(), &Learned::default(), Time(1_795_100_000_000))
    }

    #[test]
    fn a_headline_may_share_a_paragraph_with_its_teaser() {
        for item in [
            "<p><b><a href='{u}'>{h}</a></b><br>{t}</p>",
            "<div><b><a href='{u}'>{h}</a></b><br>{t}</div>",
            "<p class=item><span>1{n}.11.2026</span> <a href='{u}'>{h}</a> <span>{t}</span></p>",
            "<p><a href='{u}'>{h}</a> {t}</p>",
            "<p>1{n}.11.2026 | <a href='{u}'>{h}</a> – {t} <a href='{u}'>more</a></p>",
            "<p><a href='{u}'><img src=/{n}.jpg></a> <a href='{u}'>{h}</a>: {t}</p>",
            "<p><font color=red>Region</font> <b><a href='{u}'>{h}</a></b><br><i>By Ann Smith</i><br>{t}</p>",
            "<p>BERLIN: <a href='{u}'>{h}</a><br>{t}</p>",
            "<p><a href='{u}'>{h}</a> <small>(11月1{n}日 10:20)</small> {t}</p>",
            "<a href='/news/4711{n}.html'><b>{h}</b><span>{t}</span><small>vor 3 Stunden</small></a>",
            "<dt><a href='/news/4711{n}.html'>{h}</a> <small>8h30</small></dt><dd>{t}</dd>",
            "<p>• <a href='{u}'>{h}</a> by Ann Smith<br>{t}</p>",
            "<table><tr><td><img src=/{n}.jpg><td><p><a href='{u}'>{h}</a><br>{t}</p></table>",
        ] {
            let all = found(item);
            assert_eq!(all.len(), 8, "{item}: {all:?}");
            for (headline, (title, teaser)) in all.iter().zip(STORIES) {
                assert_eq!(headline.title, title, "{item}");
                let summary = headline.summary.replace("by Ann Smith ", "");
                assert_eq!(summary, teaser, "{item}");
            }
        }
    }

    #[test]
    fn links_in_prose_are_no_headlines() {
        let long = "{t} All of it was told in the paper of the week before, at some length.";
        for item in [
            "<p>{t} In this we go by <a href='/2026/11/1{n}/a-long-story-of-the-day'>{h}</a> as ever.</p>",
            "<p><a href='/2026/11/1{n}/a-long-story-of-the-day'>{h}</a> is what I wrote. LONG</p>",
            "<p><a href='/2026/11/1{n}/a-long-story-of-the-day'>As {h}</a>, so it came. LONG</p>",
            "<p>See <a href='/about/rules-{n}'>{h}</a>. LONG</p><p>LONG</p>",
            "<p><a href='/about/rules-{n}'>{h}</a>? LONG</p><p>LONG</p><p>LONG</p>",
        ] {
            let all = found(&item.replace("LONG", long));
            assert!(all.is_empty(), "{item}: {all:?}");
        }
    }
}
