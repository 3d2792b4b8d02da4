//! The page cut into blocks of words.
//!
//! * What this is: a walk over the tree that gathers the words between two block boundaries,
//!   counts how many of them are links, and says which element holds them.
//! * Its place: `body` weighs the blocks and `article` writes those it kept.
//! * Invariants: words of two blocks never meet in one text; white space is folded.
//! * What is not here: which blocks matter.

use crate::article::tree::{Id, Tree, fold, is_inline};

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `h1` to `h6`.
    Heading(u8),
    /// In a list.
    Item,
    /// In a table.
    Cell,
    /// Preformatted.
    Pre,
    /// Everything else.
    Plain,
}

/// Words between two boundaries.
#[derive(Debug)]
pub(crate) struct Block {
    /// The block element that holds the words.
    pub(crate) holder: Id,
    pub(crate) kind: Kind,
    /// One or more lines.
    pub(crate) text: String,
    /// How long it is; an ideograph counts like two letters.
    pub(crate) size: usize,
    /// How much of that is in links.
    pub(crate) linked: usize,
}

/// The blocks of a subtree in order, without what is left out.
pub(crate) fn blocks(tree: &Tree, root: Id, out: &[bool]) -> Vec<Block> {
    let mut found = Vec::new();
    // The block elements around the place, and where each ends.
    let mut open: Vec<Id> = vec![root];
    let mut link_end = 0;
    let mut raw = Raw::default();
    let mut at = root;
    while at < tree.end(root) {
        while open.len() > 1 && tree.end(open[open.len() - 1]) <= at {
            raw.flush(tree, open[open.len() - 1], &mut found);
            open.pop();
        }
        let name = tree.name(at);
        let holder = open[open.len() - 1];
        if out[at] {
            if !is_inline(name) {
                raw.flush(tree, holder, &mut found);
            } else if !matches!(name, "rp" | "rt") {
                raw.text.push(' ');
            }
            at = tree.end(at);
            continue;
        }
        if tree.is_text(at) {
            raw.push(tree.words(at), at < link_end);
        } else if name == "br" {
            raw.text.push('\n');
        } else if name == "a"
            && tree.has(at, "href")
            && at >= link_end
            && !tree.attr(at, "href").starts_with('#')
        {
            link_end = tree.end(at);
        } else if !is_inline(name) && at != root {
            raw.flush(tree, holder, &mut found);
            open.push(at);
        }
        at += 1;
    }
    while let Some(holder) = open.pop() {
        raw.flush(tree, holder, &mut found);
    }
    found
}

/// The words of the block that is being read.
#[derive(Default)]
struct Raw {
    text: String,
    linked: usize,
}

impl Raw {
    fn push(&mut self, words: &str, link: bool) {
        // Only `br` breaks a line, save in `pre`, where `flush` cannot tell: there lines are lost.
        let from = self.text.len();
        self.text.extend(words.chars().map(|c| if c == '\n' { '\u{1}' } else { c }));
        if link {
            self.linked += size(&self.text[from..]);
        }
    }

    fn flush(&mut self, tree: &Tree, holder: Id, found: &mut Vec<Block>) {
        let text = std::mem::take(&mut self.text);
        let linked = std::mem::take(&mut self.linked);
        let kind = kind(tree, holder);
        let text = if kind == Kind::Pre {
            text.replace('\u{1}', "\n")
        } else {
            text.replace('\u{1}', " ")
        };
        // Two `br` part paragraphs; the parts share the links by their length.
        let all = size(&text).max(1);
        let mut part = String::new();
        let mut empty = 0;
        for line in text.split('\n') {
            let line = fold(line);
            if line.is_empty() {
                empty += 1;
                continue;
            }
            if empty > 0 && kind != Kind::Pre {
                put(&mut part, kind, holder, linked, all, found);
            }
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(&line);
            empty = 0;
        }
        put(&mut part, kind, holder, linked, all, found);
    }
}

fn put(
    part: &mut String,
    kind: Kind,
    holder: Id,
    linked: usize,
    all: usize,
    found: &mut Vec<Block>,
) {
    if part.is_empty() {
        return;
    }
    let text = std::mem::take(part);
    let size = size(&text);
    found.push(Block { holder, kind, size, linked: (linked * size / all).min(size), text });
}

fn kind(tree: &Tree, holder: Id) -> Kind {
    for id in std::iter::once(holder).chain(tree.ancestors(holder)) {
        return match tree.name(id) {
            "h1" => Kind::Heading(1),
            "h2" => Kind::Heading(2),
            "h3" => Kind::Heading(3),
            "h4" => Kind::Heading(4),
            "h5" => Kind::Heading(5),
            "h6" => Kind::Heading(6),
            "li" | "dd" | "dt" => Kind::Item,
            "td" | "th" => Kind::Cell,
            "pre" => Kind::Pre,
            "p" | "div" | "figcaption" | "blockquote" => {
                if id == holder {
                    continue;
                } else {
                    Kind::Plain
                }
            }
            "section" | "article" | "main" | "body" | "html" => Kind::Plain,
            _ => continue,
        };
    }
    Kind::Plain
}

/// How many letters, and ideographs twice; spaces are free.
pub(crate) fn size(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            c if c.is_whitespace() || c < ' ' => 0,
            '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{ffef}' => 2,
            _ => 1,
        })
        .sum()
}
