//! What a page says that is no article: lists, shops, forums, services.
//!
//! * What this is: the blocks of the page without what frames it (menus, banners, filters, what is said again and
//!   again), and whether they are its text rather than the one piece of prose that `body` finds. A page that does not call
//!   itself an article, and of which that piece is little, has more to say.
//! * Its place: `article` asks after `body`.
//! * Invariants: time is linear in the page.
//! * What is not here: which words name a frame, see `signs`.

use crate::article::blocks::{Block, Kind, blocks};
use crate::article::body::{self, sums};
use crate::article::signs;
use crate::article::tree::{Id, Tree};
use std::collections::HashMap;

/// How much of the page an article is at least, in percent of its letters.
const SMALL: usize = 30;
/// The same for a page that says it is one.
const NEXT_TO_NOTHING: usize = 8;
/// The same for a page that says it is a list.
const OF_LIST: usize = 50;
/// The same for a page that says nothing of itself.
const OF_NOTHING: usize = 75;
/// How much of the page's prose an article is at least, in percent, where the rest is not a list of links.
const PROSE: i64 = 60;
/// How much of the letters of a list are links, in percent.
const LINKED: usize = 30;
/// How many letters a page has at least that says something.
const SOME: usize = 160;
/// How long what is said again and again is at most: `Add to cart`.
const LABEL: usize = 60;
/// How often it is said.
const OFTEN: usize = 3;
/// Letters of an item of a menu, on average.
const ITEM: i64 = 22;

/// What a page says of its own kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// An article.
    Article,
    /// A list.
    List,
    /// People talk here.
    Talk,
    /// When it was written, or by whom.
    Dated,
    /// Nothing.
    Nothing,
}

/// The blocks of the whole page, if they are its text rather than `found`. A page that is `known` to be an article has
/// to say nothing of the kind itself.
pub(crate) fn instead(tree: &Tree, found: &[Block], says: Says, known: bool) -> Option<Vec<Block>> {
    if known && matches!(says, Says::Article | Says::Dated) {
        return None;
    }
    let all = whole(tree, says == Says::Talk);
    let (part, size) = (body::size(found), body::size(&all));
    let (prose, of) = (body::prose(found), body::prose(&all));
    let linked: usize = all.iter().map(|b| b.linked).sum();
    let at_most = |percent: usize| part * 100 <= size * percent;
    let little = prose * 100 <= of * PROSE || linked * 100 >= size * LINKED;
    let is_all = match says {
        Says::Article => at_most(NEXT_TO_NOTHING) && little,
        Says::Dated | Says::Talk => at_most(SMALL) && little,
        Says::List => at_most(OF_LIST),
        Says::Nothing => at_most(OF_NOTHING),
    };
    (size >= SOME && is_all).then_some(all)
}

/// The blocks of a page without its frame; with comments where people `talk`.
pub(crate) fn whole(tree: &Tree, talk: bool) -> Vec<Block> {
    let start = tree.first("body").unwrap_or(0);
    let mut out = vec![false; tree.len()];
    signs::leave_out_by_tag(tree, start, &vec![false; tree.len()], &mut out);
    signs::leave_out_consent(tree, start, &mut out);
    let sizes = sums(tree, &blocks(tree, start, &out), |b| b.size as i64);
    signs::leave_out_frame(tree, start, &sizes, talk, &mut out);
    let all = blocks(tree, start, &out);
    let sizes = sums(tree, &all, |b| b.size as i64);
    let main = tree.subtree(start).filter(|&id| !out[id] && is_main(tree, id));
    let main = main.max_by_key(|&id| sizes[id]);
    let root = main.filter(|&id| sizes[id] * 100 >= sizes[start] * 40).unwrap_or(start);
    leave_out_menus(tree, root, &all, &sizes, &mut out);
    without_labels(blocks(tree, root, &out))
}

fn is_main(tree: &Tree, id: Id) -> bool {
    tree.name(id) == "main"
        || tree.attr(id, "role") == "main"
        || matches!(tree.attr(id, "id"), "main" | "content" | "main-content" | "maincontent")
}

/// Leaves out lists of short links.
fn leave_out_menus(tree: &Tree, root: Id, all: &[Block], sizes: &[i64], out: &mut [bool]) {
    let linked = sums(tree, all, |b| b.linked as i64);
    let count = sums(tree, all, |_| 1);
    for id in tree.subtree(root).skip(1) {
        if matches!(tree.name(id), "ul" | "ol")
            && count[id] >= 3
            && linked[id] * 100 >= sizes[id] * 95
            && sizes[id] < count[id] * ITEM
            && sizes[id] * 100 < sizes[root] * 25
        {
            out[id] = true;
        }
    }
}

/// Without what stands beside each of many things.
fn without_labels(mut found: Vec<Block>) -> Vec<Block> {
    let may = |b: &Block| b.size <= LABEL && !matches!(b.kind, Kind::Heading(_) | Kind::Cell);
    let mut times: HashMap<&str, usize> = HashMap::new();
    for block in found.iter().filter(|b| may(b)) {
        *times.entry(&block.text).or_default() += 1;
    }
    let keep: Vec<bool> = found.iter().map(|b| !may(b) || times[b.text.as_str()] < OFTEN).collect();
    let mut keep = keep.into_iter();
    found.retain(|_| keep.next().unwrap_or(true));
    while found.len() > 1 && found.last().is_some_and(|b| matches!(b.kind, Kind::Heading(_))) {
        found.pop();
    }
    found
}
