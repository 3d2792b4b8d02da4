//! An article out of a page.
//!
//! * What this is: [`parse_article`], which reads of a page what a reader came for, and what the
//!   page says about it: title, text, authors, dates, picture, section.
//! * Its place: called for pages that look like articles, with bytes, URL and time; it costs a few
//!   times what `parse_html` costs. The steps: `tree` builds the page, `linked` reads its
//!   JSON-LD, `facts` and `title` ask the sources in the order of their trust, `body` finds the
//!   blocks of the text.
//! * Invariants: no input makes it fail or panic; depth and number of nodes are limited; equal
//!   bytes, URL and time give an equal [`Article`]; words of neighbouring blocks never meet.
//! * What is not here: whether a page is an article, and scripts that build one.

mod ago;
mod blocks;
mod body;
mod bylines;
mod dates;
mod facts;
mod linked;
mod people;
mod picture;
mod signs;
mod title;
mod tree;
mod when;
mod whole;
mod zones;

use crate::fold::{floor_boundary, without_controls};
use crate::{charset, language};
use argiope_model::{CanonicalUrl, Time};
use blocks::Block;
use facts::Facts;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use tree::{Id, Tree};
use whole::Says;

/// Letters of a text that may be all that scripts left.
const LITTLE: usize = 400;
/// Letters of a block that nobody writes twice.
const AGAIN: usize = 80;
/// How many different blocks stand in a page again, if it is one for two screens.
const TWICE: usize = 4;

/// How much of a page is read; articles are a hundredth of it.
const MAX_BYTES: usize = 8 << 20;

/// An article: what a reader would call its text, and what the page says about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Article {
    /// The title, without the name of the site.
    pub title: String,
    /// The text, a line per paragraph, heading, item or row. White space is folded.
    pub text: String,
    /// The names of those who wrote it.
    pub authors: Vec<String>,
    /// When it appeared.
    pub published: Option<When>,
    /// When it was changed, if the page says so.
    pub modified: Option<When>,
    /// The URL of the picture that leads it.
    pub picture: Option<String>,
    /// The part of the site it belongs to, as the site names it.
    pub section: Option<String>,
    /// The language as a primary tag (`en`): declared, unless the text is plainly in another; else guessed when that
    /// is reliable.
    pub language: Option<String>,
    /// The URL the page calls its own.
    pub canonical: Option<String>,
    /// What the site calls itself.
    pub site: Option<String>,
    /// One sentence that says what it is about; empty when there is none.
    pub summary: String,
    /// Whether the page was beyond all limits and something was left out.
    pub truncated: bool,
}

/// A date with what the page said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct When {
    /// The point in time; without any zone as if in UTC, without a clock midnight.
    pub time: Time,
    /// Minutes east of Greenwich, when a zone was written, or language or country tell it.
    pub offset_minutes: Option<i16>,
    /// Whether a time of day was written.
    pub has_clock: bool,
    /// Whether its zone was.
    pub has_zone: bool,
    /// How sure it is.
    pub sure: Sure,
}

/// How a date was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// A date near the title or elsewhere in the page.
    Guessed,
    /// A `<time>`, a box named for it, or the URL.
    Likely,
    /// The page says so in structured data.
    Stated,
}

/// Reads what an HTML page has to say: its article, or, of a page that is none, all of it without its frame.
/// `header_charset` is the `charset` of its `Content-Type`, `url`
/// where it was fetched from; dates after `now` are not believed.
pub fn parse_article(
    bytes: &[u8],
    header_charset: Option<&str>,
    url: Option<&CanonicalUrl>,
    now: Time,
) -> Article {
    parse(bytes, header_charset, url, now, false)
}

/// Reads the article of an HTML page that is known to have one.
pub fn parse_known_article(
    bytes: &[u8],
    header_charset: Option<&str>,
    url: Option<&CanonicalUrl>,
    now: Time,
) -> Article {
    parse(bytes, header_charset, url, now, true)
}

fn parse(
    bytes: &[u8],
    header_charset: Option<&str>,
    url: Option<&CanonicalUrl>,
    now: Time,
    known: bool,
) -> Article {
    let (encoding, mark) = charset::decide(bytes, header_charset, true);
    let all = without_controls(charset::decode(&bytes[mark..], encoding));
    let html = &all[..floor_boundary(all.as_bytes(), MAX_BYTES)];
    let tree = Tree::of(html);
    let heading = title::heading(&tree);
    let declared =
        tree.first("html").and_then(|id| language::primary_tag(tree.attr(id, "lang").as_bytes()));
    let objects = linked::Blocks::of(&tree);
    let facts = Facts::new(&tree, html, &objects, url, now, heading, declared.as_deref());
    let site = facts.site();
    let title = title::title(&tree, &facts, site.as_deref());
    let (authors, published) = (facts.authors(), facts.published());
    let says = facts.says(published.is_some() || !authors.is_empty());
    let mut blocks = text(&tree, html, &facts, &title, says, known);
    body::leave_out_authors(&mut blocks, &authors);
    let text = blocks.iter().map(|b| b.text.as_str()).collect::<Vec<_>>().join("\n");
    let summary = summary(facts.description().as_deref(), &title, &text);
    let language = language::settled(facts.language(), &text);
    let host = url.map_or("", CanonicalUrl::host);
    let placed = |when: When| zones::placed(when, language.as_deref(), host, now);
    Article {
        authors,
        published: published.map(placed),
        modified: facts.modified().map(placed),
        picture: facts.picture().or_else(|| facts.shown_picture(first_part(&tree, &blocks))),
        section: facts.section(),
        language,
        canonical: facts.canonical(),
        site,
        summary,
        title,
        text,
        truncated: tree.is_full() || html.len() < all.len(),
    }
}

/// What the page says.
fn text(
    tree: &Tree,
    html: &str,
    facts: &Facts<'_>,
    title: &str,
    says: Says,
    known: bool,
) -> Vec<Block> {
    let mut found = body::body(tree, title, &facts.descriptions(), &facts.linked.walls(), known);
    let instead =
        without_scripts(tree, html, &found).or_else(|| whole::instead(tree, &found, says, known));
    if let Some(all) = instead {
        found = all;
        if known {
            body::trim(&mut found, title);
        }
    }
    once(&mut found);
    found
}

/// What the page says to who runs no scripts, where that is what it has to say.
fn without_scripts(tree: &Tree, html: &str, found: &[Block]) -> Option<Vec<Block>> {
    if body::size(found) >= LITTLE || !html.contains("<noscript") {
        return None;
    }
    let plain = html.replace("<noscript", "<div").replace("</noscript", "</div");
    let mut all = whole::whole(&Tree::of(&plain), true);
    // They are of another tree.
    all.iter_mut().for_each(|block| block.holder = 0);
    let more = body::size(&all);
    (more >= LITTLE && more * 2 > body::size(&whole::whole(tree, true)) * 5).then_some(all)
}

/// Takes away what stands in the page again, for other screens: there the same blocks follow each
/// other in the same order, or each its own. A text may well repeat its parts here and there.
fn once(found: &mut Vec<Block>) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let long = found.iter().filter(|block| block.size >= AGAIN).map(|block| block.text.as_str());
    // For each long block, which of them it repeats.
    let repeats: Vec<Option<usize>> = long
        .enumerate()
        .map(|(at, text)| match seen.entry(text) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(new) => {
                new.insert(at);
                None
            }
        })
        .collect();
    let again: BTreeSet<usize> = repeats.iter().flatten().copied().collect();
    let in_step = |at: usize| {
        repeats[at].is_some_and(|first| {
            let before = repeats[at - 1];
            first + 1 == at || before == Some(first) || first > 0 && before == Some(first - 1)
        })
    };
    let steps = (0..repeats.len()).filter(|&at| in_step(at)).count();
    if again.len() >= TWICE && steps * 3 >= repeats.iter().flatten().count() * 2 {
        let mut repeats = repeats.iter();
        found.retain(|block| {
            block.size < AGAIN || repeats.next().is_none_or(|first| first.is_none())
        });
    }
}

/// Where the first part of the text ends: with a third of it.
fn first_part(tree: &Tree, blocks: &[Block]) -> Id {
    let whole: usize = blocks.iter().map(|b| b.size).sum();
    let mut before = 0;
    let last = blocks.iter().find(|block| {
        before += block.size;
        before * 3 >= whole
    });
    last.map_or(0, |block| tree.end(block.holder))
}

/// The first sentence of the description, else of the text; never the title again.
fn summary(description: Option<&str>, title: &str, text: &str) -> String {
    let title = title::plain(title);
    let is_new = |line: &&str| title::plain(line) != title;
    // A line that is little more than a date or ends like no sentence is none of the text.
    let is_prose = |line: &&str| {
        let dated =
            when::first(line, true).is_some_and(|date| line.len() < date.end - date.start + 60);
        !dated
            && (line.len() >= 150
                || line.ends_with([
                    '.', '!', '?', '…', '。', '！', '？', '»', '”', '"', '」', '؟', '।',
                ]))
    };
    let lines = || text.lines().filter(|line| line.len() >= 60).filter(is_new);
    let from = description
        .filter(is_new)
        .or_else(|| lines().find(is_prose))
        .or_else(|| lines().next())
        .unwrap_or("");
    let from = tree::fold(from);
    let mut end = from.len();
    let mut chars = from.char_indices().peekable();
    let mut count = 0;
    while let Some((at, c)) = chars.next() {
        count += 1;
        let next = chars.peek().map(|(_, c)| *c);
        let stops = matches!(c, '。' | '！' | '？')
            || (matches!(c, '.' | '!' | '?' | '…')
                && count >= 40
                && next.is_none_or(char::is_whitespace));
        if stops && count >= 15 {
            end = at + c.len_utf8();
            break;
        }
        if count >= 300 {
            end = from[..at].rfind(' ').unwrap_or(at);
            return format!("{}…", from[..end].trim_end());
        }
    }
    from[..end].trim().to_owned()
}
