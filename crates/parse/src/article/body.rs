//! Which blocks are the article.
//!
//! * What this is: three steps. What is beside the article by its name is left out (`signs`), and
//!   groups of teasers are. Then the element is found that holds the prose: every block has a
//!   weight, positive for sentences and negative for links, and the deepest element wins that has
//!   nearly all of the best sum. In it, what is mostly links is left out.
//! * Its place: `article` hands in the tree and writes the blocks it gets back.
//! * Invariants: time is linear in the page, apart from the depth of the tree, which is limited.
//! * What is not here: how blocks are cut, see `blocks`.

use crate::article::ago;
use crate::article::blocks::{Block, Kind, blocks};
use crate::article::signs;
use crate::article::title::plain;
use crate::article::tree::{Id, Tree};
use crate::article::when;
use std::cmp::Reverse;

/// How much of the best sum an element holds that may stand for all, in percent.
const NEARLY_ALL: i64 = 85;
/// Prose below this is so little that the page's own word for its main part counts more.
const LITTLE: i64 = 700;
/// How much prose is left when groups of teasers may go.
const ENOUGH: i64 = 800;
/// With fewer letters an article is thought to have lost its text to names that misled,
const SHORT: usize = 250;
/// where the page has more prose than this.
const MORE: i64 = 300;
/// How many letters of sentences stand behind the title then in a page that is known to be an article.
const FEW: usize = 40;
/// How much of the prose a paywall is in front of, in percent, when it is in front of the text.
const WALLED: i64 = 25;
/// How long a paragraph between title and body is that belongs to the body.
const LEAD: usize = 140;
/// How much may stand beside a date in the line under the title.
const DATELINE: usize = 60;
/// How long a line is at most that says where in its site an article stands.
const PATH: usize = 100;
/// How long it is if more speaks for it.
const SHORT_LEAD: usize = 30;
/// How many lines above the text may be its title again, or its date.
const OPENING: usize = 8;
/// How many letters of a sentence are not linked.
const PLAIN: usize = 15;
/// How many letters the shortest sentence has.
const SAID: usize = 8;
/// How far up from the prose names are asked.
const UP: usize = 4;
/// How long the line is at most that tells who else made an article.
const SIGNATURE: usize = 200;
/// Among how many lines at the end is the one that tells whose page it is.
const BEHIND: usize = 3;
/// How many letters stand beside the names of authors: `By`, `and`, `Correspondent`.
const BY: usize = 16;
/// How many letters stand for an agency: `EFE`.
const AGENCY: usize = 3;
/// How many words the name of a house has.
const HOUSE: usize = 3;
/// How many names of holders of paragraphs are kept.
const HOLDERS: usize = 8;
/// How many blocks may stand between title and body.
const BETWEEN: usize = 12;

/// The blocks of the article, without its title. `walls` are the classes (`.a`) and ids (`#a`) of what
/// the page says readers pay for, `told` what it says it is about; `known` is whether it is an article for certain.
pub(crate) fn body(
    tree: &Tree,
    title: &str,
    told: &[String],
    walls: &[String],
    known: bool,
) -> Vec<Block> {
    let start = tree.first("body").unwrap_or(0);
    let read = |walled: &[bool]| {
        let mut by_tag = vec![false; tree.len()];
        signs::leave_out_by_tag(tree, start, walled, &mut by_tag);
        signs::leave_out_consent(tree, start, &mut by_tag);
        let all = blocks(tree, start, &by_tag);
        let prose = sums(tree, &all, |b| weight(b).max(0));
        (by_tag, prose, all)
    };
    // What is marked as paid for may be hidden, and is the text; a name that marks little is that of
    // a box that asks for money.
    let names = signs::walls(tree, start, walls);
    let mark = |walled: &mut [bool], ids: &[Id]| ids.iter().for_each(|&id| walled[id] = true);
    let mut walled = vec![false; tree.len()];
    names.iter().for_each(|(_, ids)| mark(&mut walled, ids));
    let (mut by_tag, mut prose, mut all) = read(&walled);
    if walled.contains(&true) {
        walled.fill(false);
        for (_, ids) in &names {
            let (mut behind, mut end) = (0, 0);
            for &id in ids {
                if id >= end {
                    (behind, end) = (behind + prose[id], tree.end(id));
                }
            }
            if behind * 100 >= prose[start] * WALLED {
                mark(&mut walled, ids);
            }
        }
        (by_tag, prose, all) = read(&walled);
    }
    // What the page says it is about is not beside it, whatever it is called.
    let told: Vec<String> = told.iter().map(|t| plain(t)).collect();
    if let Some(block) = all.iter().find(|b| b.linked == 0 && is_told(&b.text, &told)) {
        walled[block.holder] = true;
    }
    let mut by_name = by_tag.clone();
    signs::leave_out_by_name(tree, start, &prose, &walled, &mut by_name);
    let found = inside(tree, start, title, &told, known, by_name);
    let none = |found: &[Block]| found.iter().all(|b| weight(b) <= 0);
    if (none(&found) || size(&found) < SHORT) && prose[start] > MORE {
        // The names misled, save those that are sure.
        let mut sure = by_tag.clone();
        let others = signs::leave_out_others(tree, start, &prose, &walled, &mut sure);
        let again = inside(tree, start, title, &told, known, sure);
        return match none(&again) {
            true => inside(tree, start, title, &told, known, by_tag),
            false if prose[start] - others <= MORE && !none(&found) => found,
            false => again,
        };
    }
    found
}

/// The article among what is not left out.
fn inside(
    tree: &Tree,
    start: Id,
    title: &str,
    told: &[String],
    known: bool,
    mut out: Vec<bool>,
) -> Vec<Block> {
    let mut all = blocks(tree, start, &out);
    let mut weights = sums(tree, &all, weight);
    let mut without = out.clone();
    if leave_out_teasers(tree, start, &all, &mut without) {
        let rest = blocks(tree, start, &without);
        let light = sums(tree, &rest, weight);
        // Of a short article its own title tells that it is one, and no list.
        let own = plain(title);
        let is_titled = |b: &Block| matches!(b.kind, Kind::Heading(_)) && plain(&b.text) == own;
        let behind = || rest.iter().skip_while(|b| !is_titled(b)).filter(|b| is_said(b));
        let is_short =
            || known && !own.is_empty() && behind().map(|b| b.size).sum::<usize>() >= FEW;
        if light.iter().any(|&w| w >= ENOUGH) || is_short() {
            (out, all, weights) = (without, rest, light);
        }
    }
    let mut root = root(tree, start, &weights);
    // A page without prose: its links are what it says.
    let lists = weights[root] <= 0;
    if weights[root] < LITTLE {
        let sizes = sums(tree, &all, |b| b.size as i64);
        root = main_element(tree, start, &sizes)
            .filter(|&main| lists || sizes[root] * 3 < sizes[main])
            .unwrap_or(root);
    }
    if !lists {
        leave_out_links(tree, root, &all, &mut out);
    }
    let inner = blocks(tree, root, &out);
    let parts = Parts::of(tree, root, &inner);
    let (before, after) = around(tree, all, root);
    let mut found = lead(tree, before, root, title, told, &parts);
    found.extend(inner);
    found.extend(after.into_iter().filter(|block| parts.has(tree, block)));
    trim(&mut found, title);
    found
}

/// The blocks before an element and those behind it.
fn around(tree: &Tree, mut all: Vec<Block>, root: Id) -> (Vec<Block>, Vec<Block>) {
    let is_inner = |b: &Block| (root..tree.end(root)).contains(&b.holder);
    let from = all.iter().position(is_inner).unwrap_or(all.len());
    let to = all.iter().rposition(is_inner).map_or(all.len(), |at| at + 1);
    let after = all.split_off(to);
    all.truncate(from);
    (all, after)
}

/// Where parts of the article may stand outside of the element that holds nearly all of it.
struct Parts {
    /// What the page calls the body of the article.
    body: Option<Id>,
    /// Elements beside which such stand as are called the same.
    twins: Vec<Id>,
    /// Some that hold paragraphs.
    holders: Vec<Id>,
}

impl Parts {
    /// Where other parts of an article may stand whose `inner` blocks are those of `root`.
    fn of(tree: &Tree, root: Id, inner: &[Block]) -> Parts {
        let is_body = |id: &Id| {
            let mut names = tree.attr(*id, "itemprop").split_ascii_whitespace();
            names.any(|name| name.eq_ignore_ascii_case("articleBody"))
        };
        let around = std::iter::once(root).chain(tree.ancestors(root)).take(UP);
        let mut holders: Vec<Id> = Vec::new();
        for block in inner.iter().filter(|b| weight(b) > 0) {
            let is_new = !holders.iter().any(|&id| called(tree, id) == called(tree, block.holder));
            if is_new && holders.len() < HOLDERS {
                holders.push(block.holder);
            }
        }
        Parts {
            body: tree.ancestors(root).take(UP).find(is_body),
            twins: around.filter(|&up| !called(tree, up).1.is_empty()).collect(),
            holders,
        }
    }

    /// Whether a block outside is a sentence of the article.
    fn has(&self, tree: &Tree, block: &Block) -> bool {
        let holder = block.holder;
        if !is_said(block) {
            return false;
        }
        if self.body.is_some_and(|body| (body..tree.end(body)).contains(&holder)) {
            return true;
        }
        let is_twin = |up: Id| {
            self.twins.iter().any(|&twin| {
                twin != up
                    && tree.parent(twin) == tree.parent(up)
                    && called(tree, twin) == called(tree, up)
            })
        };
        self.holders.iter().any(|&id| called(tree, id) == called(tree, holder))
            && std::iter::once(holder).chain(tree.ancestors(holder)).take(UP).any(is_twin)
    }
}

/// The tag and the classes of an element.
fn called(tree: &Tree, id: Id) -> (&str, &str) {
    (tree.name(id), tree.attr(id, "class").trim())
}

/// Whether a block, however short, is a sentence that tells of no one's part in the making.
fn is_said(block: &Block) -> bool {
    block.kind == Kind::Plain
        && block.linked * 2 <= block.size
        && block.size >= SAID
        && ends_as_sentence(&block.text)
        && !is_credit(&block.text)
}

/// Whether a line tells who else made the article, or whose it is.
fn is_credit(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "photo by ",
        "photos by ",
        "copyright",
        "all rights reserved",
        "todos los derechos",
        "alle rechte",
        "tous droits",
    ];
    let lower = line.to_lowercase();
    line.contains('©') || is_report(line) || WORDS.iter().any(|word| lower.starts_with(word))
}

/// Whether a line names the reporters and editors of an agency.
fn is_report(line: &str) -> bool {
    const WORDS: &[&str] = &[
        "reporting by ",
        "additional reporting by ",
        "editing by ",
        "writing by ",
        "compiled by ",
    ];
    let lower = line.trim_start_matches(['(', '[', '*', ' ']).to_lowercase();
    WORDS.iter().any(|word| lower.starts_with(word))
}

/// Whether a line at the end is the name of who sent the news (`LA VOZ`), or tells who else made it.
fn is_signature(block: &Block) -> bool {
    let line = block.text.as_str();
    let is_letter = |c: char| c.is_uppercase() || matches!(c, ' ' | '/' | '-' | '(' | ')');
    let is_house = || {
        let letters = line.chars().filter(|c| c.is_uppercase()).count();
        // A word alone may be any.
        let is_sign = line.contains(' ') || line.starts_with('(') || letters <= AGENCY;
        letters >= 2 && is_sign && line.chars().all(is_letter) && line.split(' ').count() <= HOUSE
    };
    let is_signed = block.kind == Kind::Plain && block.linked == 0;
    is_signed && (is_house() || block.size <= SIGNATURE && is_report(line))
}

/// How many letters some blocks have.
pub(crate) fn size(blocks: &[Block]) -> usize {
    blocks.iter().map(|b| b.size).sum()
}

/// How much prose some blocks have.
pub(crate) fn prose(blocks: &[Block]) -> i64 {
    blocks.iter().map(|b| weight(b).max(0)).sum()
}

/// What speaks for a block's being prose.
fn weight(block: &Block) -> i64 {
    let (size, linked) = (block.size as i64, block.linked as i64);
    let plain = size - linked;
    if let Kind::Heading(_) = block.kind {
        return -linked / 2;
    }
    if linked * 2 > size {
        return -linked;
    }
    let sentence =
        block.text.contains(['.', ',', '!', '?', ';', ':', '。', '，', '、', '！', '؟', '،', '।']);
    if plain >= 100 || (plain >= 30 && sentence) { plain - linked } else { 0 }
}

/// Sums over subtrees.
pub(crate) fn sums(tree: &Tree, blocks: &[Block], value: impl Fn(&Block) -> i64) -> Vec<i64> {
    let mut sums = vec![0; tree.len()];
    for block in blocks {
        sums[block.holder] += value(block);
    }
    for id in (1..tree.len()).rev() {
        let sum = sums[id];
        sums[tree.parent(id)] += sum;
    }
    sums
}

/// The deepest element that holds nearly all of the best sum.
fn root(tree: &Tree, start: Id, sums: &[i64]) -> Id {
    let best = tree.subtree(start).max_by_key(|&id| (sums[id], Reverse(id))).unwrap_or(start);
    if sums[best] <= 0 {
        return start;
    }
    let enough = sums[best] * NEARLY_ALL;
    let mut root = best;
    while root > start && !is_container(tree.name(root)) {
        root = tree.parent(root);
    }
    let deeper = |root: Id| {
        let goes = |name: &str| is_container(name) || is_part(name);
        tree.children(root).find(|&c| sums[c] > 0 && sums[c] * 100 >= enough && goes(tree.name(c)))
    };
    while let Some(child) = deeper(root) {
        root = child;
    }
    // Not a row of a table.
    while root > start && is_part(tree.name(root)) {
        root = tree.parent(root);
    }
    root
}

/// Whether an element may hold an article.
fn is_container(name: &str) -> bool {
    matches!(
        name,
        "div"
            | "article"
            | "main"
            | "section"
            | "td"
            | "body"
            | "center"
            | "form"
            | "blockquote"
            | "dd"
            | "header"
            | "pre"
            | "fieldset"
    )
}

/// Whether an element leads down to one that may.
fn is_part(name: &str) -> bool {
    matches!(name, "table" | "tbody" | "tr" | "span" | "font" | "dl")
}

/// The element the page itself calls its main one.
fn main_element(tree: &Tree, start: Id, sizes: &[i64]) -> Option<Id> {
    let is_body = |id: Id| tree.attr(id, "itemprop") == "articleBody";
    let is_article = |id: Id| tree.name(id) == "article";
    let is_main = |id: Id| tree.name(id) == "main" || tree.attr(id, "role") == "main";
    let kinds: [&dyn Fn(Id) -> bool; 3] = [&is_body, &is_article, &is_main];
    kinds.iter().find_map(|is| {
        let largest = tree.subtree(start).filter(|&id| is(id)).max_by_key(|&id| sizes[id])?;
        (sizes[largest] > 300).then_some(largest)
    })
}

/// Leaves out groups of at least three teasers: a linked heading with a few words each.
fn leave_out_teasers(tree: &Tree, start: Id, all: &[Block], out: &mut [bool]) -> bool {
    let sizes = sums(tree, all, |b| b.size as i64);
    let heads = sums(tree, all, |b| {
        i64::from(matches!(b.kind, Kind::Heading(_)) && b.linked * 10 >= b.size * 8)
    });
    let mut any = false;
    for id in tree.subtree(start) {
        if out[id] || heads[id] < 1 {
            continue;
        }
        let (mut teasers, mut held, mut whole, mut first) = (0, 0, 0, None);
        for child in tree.children(id).filter(|&c| !out[c]) {
            whole += sizes[child];
            if heads[child] == 1 && sizes[child] < 600 && !is_heading(tree.name(child)) {
                teasers += 1;
                held += sizes[child];
                first = first.or(Some(child));
            }
        }
        // Some of them may have gone by their names.
        let is_like =
            |c: &Id| out[*c] && first.is_some_and(|f| called(tree, f) == called(tree, *c));
        if teasers > 0 && teasers < 3 {
            teasers += tree.children(id).filter(is_like).count();
        }
        if teasers >= 3 && held * 10 >= whole * 7 {
            out[id] = true;
            any = true;
        }
    }
    any
}

/// Whether a name is `h1` to `h6`.
pub(crate) fn is_heading(name: &str) -> bool {
    matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6")
}

/// Leaves out lists, tables and boxes that are mostly links.
fn leave_out_links(tree: &Tree, root: Id, all: &[Block], out: &mut [bool]) {
    let sizes = sums(tree, all, |b| b.size as i64);
    let linked = sums(tree, all, |b| b.linked as i64);
    let prose = sums(tree, all, |b| {
        if tree.name(b.holder) == "p" && is_sentence(b) { b.size as i64 } else { weight(b).max(0) }
    });
    for id in tree.subtree(root).skip(1) {
        let box_like = matches!(
            tree.name(id),
            "ul" | "ol" | "dl" | "table" | "div" | "section" | "header" | "p" | "tr"
        );
        if box_like
            && sizes[id] > 0
            && linked[id] * 100 > sizes[id] * 55
            && prose[id] * 4 < sizes[id]
        {
            out[id] = true;
        }
    }
}

/// Whether a block is a sentence some words of which are linked: it ends as sentences do, and what is not
/// linked is more than what leads to a link (`Read also:`).
fn is_sentence(block: &Block) -> bool {
    ends_as_sentence(&block.text) && block.size - block.linked >= PLAIN
}

/// Whether a text ends as sentences do.
fn ends_as_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', '…', '”', '"', '»', '。', '！', '？', '؟', '।'])
}

/// The lead: what stands between the title and the body, is outside of the body, and is long, or what
/// the page says it is about, or called a lead.
fn lead(
    tree: &Tree,
    before: Vec<Block>,
    root: Id,
    title: &str,
    told: &[String],
    parts: &Parts,
) -> Vec<Block> {
    let heading = before
        .iter()
        .rposition(|b| matches!(b.kind, Kind::Heading(_)) && plain(&b.text) == plain(title));
    let heading = heading.filter(|at| before.len() - at <= BETWEEN);
    let top = heading.map_or(0, |at| before[at].holder);
    // The body may be cut in two that are called the same.
    let is_twin = |holder: Id| {
        let near = std::iter::once(holder).chain(tree.ancestors(holder).take(6));
        near.take_while(|&id| id != tree.parent(root)).any(|id| {
            let mut names = tree.attr(id, "class").split_ascii_whitespace();
            tree.parent(id) == tree.parent(root)
                && names.next().is_some_and(|name| {
                    tree.attr(root, "class").split_ascii_whitespace().next() == Some(name)
                })
        })
    };
    let is_lead = |b: &Block| {
        b.linked == 0
            && (b.size >= LEAD
                || b.size >= SHORT_LEAD
                    && (is_told(&b.text, told) || signs::is_lead(tree, b.holder, top))
                || weight(b) > 0 && is_twin(b.holder))
    };
    let mut leads = 0;
    let mut at = 0;
    let is_of_it = |b: &Block| {
        at += 1;
        let lead = heading.is_some_and(|h| at > h + 1) && leads < 3 && is_lead(b);
        leads += usize::from(lead);
        lead || parts.has(tree, b)
    };
    before.into_iter().filter(is_of_it).collect()
}

/// Whether a text is what the page says it is about, or nearly so.
fn is_told(text: &str, told: &[String]) -> bool {
    let text = plain(text);
    let near = |a: &str, b: &str| a.starts_with(b) && b.len() * 10 >= a.len() * 7;
    told.iter().any(|told| near(&text, told) || near(told, &text))
}

/// Whether a block says where in its site an article stands: `Home › Science`.
fn is_path(block: &Block) -> bool {
    let steps = block.text.matches(['›', '»', '>', '/', '→', '|']).count();
    block.kind == Kind::Plain
        && steps > 0
        && block.size <= PATH
        && (block.linked + 2 * steps) * 2 > block.size
}

/// Whether a block is the line under a title: `By Jane Doe - Published 18 November 2026, 14:05`.
fn is_dateline(block: &Block) -> bool {
    let text = block.text.as_str();
    let short = |from: usize, to: usize| text.len() < to - from + DATELINE;
    let is_written = || when::first(text, true).is_some_and(|date| short(date.start, date.end));
    let is_counted = || ago::first(text).is_some_and(|d| d.alone && short(d.start, d.end));
    block.kind != Kind::Pre
        && !matches!(block.kind, Kind::Heading(_))
        && !text.ends_with(['.', '!', '?', '…', ':', '。', '！', '？', '؟', '।'])
        && text.len() < 3 * DATELINE
        && (is_written() || is_counted())
}

/// Takes away the title with the short lines above it, lines above the text that are little more than a date, and what
/// at the end heads nothing or signs.
pub(crate) fn trim(all: &mut Vec<Block>, title: &str) {
    let is_closed = ends_as_sentence(title);
    let title = plain(title);
    // With a full stop it is a sentence of the text.
    let is_title = |b: &Block| {
        let is_sentence = b.kind == Kind::Plain && b.text.ends_with('.') && !is_closed;
        !title.is_empty() && !is_sentence && plain(&b.text) == title
    };
    if let Some(at) = all.iter().take(5).position(is_title) {
        all.remove(at);
        // What stands above it is above the article.
        if all[..at].iter().all(|b| weight(b) <= 0 && b.size < SHORT_LEAD)
            && all[at..].iter().any(|b| weight(b) > 0)
        {
            all.drain(..at);
        }
    }
    let is_prose = |b: &Block| weight(b) > 0 && !is_title(b) && !is_dateline(b);
    if let Some(prose) = all.iter().position(is_prose) {
        let mut at = 0;
        all.retain(|b| {
            at += 1;
            at > prose.min(OPENING) || !(is_title(b) || is_dateline(b) || is_path(b))
        });
    }
    leave_out_owner(all);
    while all.len() > 1 && all.last().is_some_and(|b| matches!(b.kind, Kind::Heading(_))) {
        all.pop();
    }
    if all.len() > 1 && all.last().is_some_and(is_signature) {
        all.pop();
    }
}

/// Takes away the line at the end that tells whose page it is, with a line or two behind it.
fn leave_out_owner(all: &mut Vec<Block>) {
    let is_owner = |b: &Block| b.size <= SIGNATURE && b.text.starts_with(['©', 'Ⓒ']);
    let from = all.len().saturating_sub(BEHIND);
    if let Some(at) = all[from..].iter().position(is_owner)
        && all[from + at..].iter().all(|b| b.size <= SIGNATURE && (is_owner(b) || !is_said(b)))
        && from + at > 0
    {
        all.truncate(from + at);
    }
}

/// Whether a text has a name, not as a part of a word.
fn has_name(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(char::is_alphanumeric)
            && !text[at + name.len()..].starts_with(char::is_alphanumeric)
    })
}

/// Takes away the lines above the text that are no more than who wrote it.
pub(crate) fn leave_out_authors(all: &mut Vec<Block>, authors: &[String]) {
    let is_byline = |b: &Block| {
        if b.kind != Kind::Plain || b.size > SIGNATURE || ends_as_sentence(&b.text) {
            return false;
        }
        let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
        let named = authors.iter().filter(|name| has_name(&b.text, name));
        let named: usize = named.map(|name| letters(name)).sum();
        named > 0 && letters(&b.text) <= named + BY
    };
    let prose = all.iter().position(|b| weight(b) > 0).unwrap_or(0).min(OPENING);
    let mut at = 0;
    all.retain(|b| {
        at += 1;
        at > prose || !is_byline(b)
    });
}
