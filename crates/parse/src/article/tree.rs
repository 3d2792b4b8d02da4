//! The page as a small tree.
//!
//! * What this is: an arena of elements and texts, built from the tokens of html5gum with the
//!   implied end tags that real pages rely on (`p`, `li`, cells).
//! * Its place: `article` builds one tree per page; all of its other modules only read it.
//! * Invariants: children come after their parent and before its `end`, so a subtree is a range
//!   of numbers; no node is deeper than [`MAX_DEPTH`] and there are at most [`MAX_NODES`]: what
//!   is deeper lies flat, what is more is left out. Nothing here recurses.
//! * What is not here: the tree of the standard, with foster parents and formatting elements
//!   that are opened again. Texts stay in order, and that is all that is needed.

use crate::tag::is_void;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use std::ops::Range;

/// How deep elements nest; pages of people stay below a hundred.
pub(crate) const MAX_DEPTH: usize = 250;
/// How many elements and texts a tree holds.
pub(crate) const MAX_NODES: usize = 200_000;
/// How long the value of an attribute may be.
const MAX_VALUE: usize = 4096;

/// The attributes that are kept.
const ATTRIBUTES: &[&str] = &[
    "alt",
    "aria-hidden",
    "aria-label",
    "class",
    "content",
    "data-lazy-src",
    "data-original",
    "data-src",
    "data-srcset",
    "data-testid",
    "datetime",
    "hidden",
    "href",
    "id",
    "itemid",
    "itemprop",
    "itemscope",
    "itemtype",
    "lang",
    "name",
    "property",
    "pubdate",
    "rel",
    "role",
    "size",
    "src",
    "srcset",
    "style",
    "title",
    "type",
    "http-equiv",
    "width",
    "height",
    "data-component",
];

/// The number of a node.
pub(crate) type Id = usize;

/// An element or a text.
struct Node {
    parent: Id,
    /// One past the last node of its subtree.
    end: Id,
    /// The name of the element; empty for a text.
    name: Range<u32>,
    /// Of an element its attributes, of a text its bytes.
    holds: Range<u32>,
}

/// The tree. Node 0 is above everything.
pub(crate) struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<(&'static str, Range<u32>)>,
    text: String,
}

impl Tree {
    /// Builds the tree of a page.
    pub(crate) fn of(html: &str) -> Tree {
        let mut tree = Tree { nodes: Vec::new(), attributes: Vec::new(), text: String::new() };
        tree.push(0, 0..0, 0..0);
        let mut open: Vec<Id> = vec![0];
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        for token in Tokenizer::new_with_emitter(html, emitter) {
            let Ok(token) = token;
            if tree.nodes.len() >= MAX_NODES {
                break;
            }
            match token {
                Token::StartTag(tag) => {
                    let Ok(name) = std::str::from_utf8(&tag.name) else { continue };
                    tree.close_implied(&mut open, name);
                    let from = tree.attributes.len() as u32;
                    for (key, value) in &tag.attributes {
                        let Some(key) = ATTRIBUTES.iter().find(|k| k.as_bytes() == &***key) else {
                            continue;
                        };
                        let value = String::from_utf8_lossy(value);
                        if value.len() <= MAX_VALUE {
                            let range = tree.store(&value);
                            tree.attributes.push((key, range));
                        }
                    }
                    let holds = from..tree.attributes.len() as u32;
                    let name_at = tree.store(name);
                    let id = tree.push(open[open.len() - 1], name_at, holds);
                    let closed = is_void(name.as_bytes()) || (tag.self_closing && is_foreign(name));
                    if !closed && open.len() < MAX_DEPTH {
                        open.push(id);
                    }
                }
                Token::EndTag(tag) => {
                    let Ok(name) = std::str::from_utf8(&tag.name) else { continue };
                    tree.close(&mut open, name);
                }
                Token::String(s) => {
                    let top = open[open.len() - 1];
                    let quiet = match tree.name(top) {
                        "script" => !tree.attr(top, "type").contains("json"),
                        "style" => true,
                        _ => false,
                    };
                    if quiet {
                        continue;
                    }
                    let text = String::from_utf8_lossy(&s);
                    let range = tree.store(&text);
                    tree.push(open[open.len() - 1], 0..0, range);
                }
                _ => {}
            }
        }
        let len = tree.nodes.len();
        for id in open {
            tree.nodes[id].end = len;
        }
        tree
    }

    fn store(&mut self, s: &str) -> Range<u32> {
        let from = self.text.len() as u32;
        self.text.push_str(s);
        from..self.text.len() as u32
    }

    fn push(&mut self, parent: Id, name: Range<u32>, holds: Range<u32>) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node { parent, end: id + 1, name, holds });
        id
    }

    fn pop_to(&mut self, open: &mut Vec<Id>, keep: usize) {
        let end = self.nodes.len();
        for id in open.drain(keep..) {
            self.nodes[id].end = end;
        }
    }

    /// Closes what a start tag ends by itself.
    fn close_implied(&mut self, open: &mut Vec<Id>, name: &str) {
        let (ends, walls): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "td" | "th" => (&["td", "th"], &["table", "tr"]),
            "tr" => (&["tr"], &["table"]),
            "tbody" | "thead" | "tfoot" => (&["tbody", "thead", "tfoot"], &["table"]),
            "option" => (&["option"], &["select"]),
            // What the head left open ends here; a second body is nothing.
            "body" => {
                if open.iter().any(|&id| self.name(id) == "body") {
                    return;
                }
                let keep = if open.len() > 1 && self.name(open[1]) == "html" { 2 } else { 1 };
                return self.pop_to(open, keep.min(open.len()));
            }
            "a" => (&["a"], &["td", "th", "table", "li", "div", "p"]),
            _ if ends_paragraph(name) => (&["p"], &["table", "td", "th", "button", "object"]),
            _ => return,
        };
        for at in (1..open.len()).rev() {
            let there = self.name(open[at]);
            if ends.contains(&there) {
                return self.pop_to(open, at);
            }
            if walls.contains(&there) {
                return;
            }
        }
    }

    /// Closes what an end tag names, if it is open.
    fn close(&mut self, open: &mut Vec<Id>, name: &str) {
        let inline = is_inline(name);
        for at in (1..open.len()).rev() {
            let there = self.name(open[at]);
            if there == name {
                return self.pop_to(open, at);
            }
            // A stray `</b>` does not close blocks, a stray `</div>` does not leave its cell.
            let wall = matches!(there, "td" | "th" | "table" | "body" | "html")
                && !matches!(
                    name,
                    "table" | "tr" | "tbody" | "thead" | "tfoot" | "body" | "html" | "td" | "th"
                );
            if wall || (inline && !is_inline(there)) {
                return;
            }
        }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the page has more than is kept.
    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES
    }

    /// The name of an element; empty for a text.
    pub(crate) fn name(&self, id: Id) -> &str {
        let n = &self.nodes[id].name;
        &self.text[n.start as usize..n.end as usize]
    }

    /// The words of a text; empty for an element.
    pub(crate) fn words(&self, id: Id) -> &str {
        let node = &self.nodes[id];
        if id == 0 || !node.name.is_empty() {
            return "";
        }
        &self.text[node.holds.start as usize..node.holds.end as usize]
    }

    /// Whether a node is a text.
    pub(crate) fn is_text(&self, id: Id) -> bool {
        id != 0 && self.nodes[id].name.is_empty()
    }

    /// The value of an attribute, entities decoded; empty when there is none.
    pub(crate) fn attr(&self, id: Id, key: &str) -> &str {
        self.find_attr(id, key).unwrap_or("")
    }

    /// Whether the attribute is there at all.
    pub(crate) fn has(&self, id: Id, key: &str) -> bool {
        self.find_attr(id, key).is_some()
    }

    fn find_attr(&self, id: Id, key: &str) -> Option<&str> {
        let node = &self.nodes[id];
        if node.name.is_empty() {
            return None;
        }
        let list = &self.attributes[node.holds.start as usize..node.holds.end as usize];
        let (_, at) = list.iter().find(|(k, _)| *k == key)?;
        Some(&self.text[at.start as usize..at.end as usize])
    }

    /// The element around a node; the root is around itself.
    pub(crate) fn parent(&self, id: Id) -> Id {
        self.nodes[id].parent
    }

    /// One past the last node of a subtree.
    pub(crate) fn end(&self, id: Id) -> Id {
        self.nodes[id].end
    }

    /// The subtree, the node itself first.
    pub(crate) fn subtree(&self, id: Id) -> Range<Id> {
        id..self.nodes[id].end
    }

    /// The children of an element.
    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let end = self.nodes[id].end;
        let mut next = id + 1;
        std::iter::from_fn(move || {
            let child = next;
            (child < end).then(|| {
                next = self.nodes[child].end;
                child
            })
        })
    }

    /// The elements from a node up to the root, itself left out.
    pub(crate) fn ancestors(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        let mut at = id;
        std::iter::from_fn(move || {
            (at != 0).then(|| {
                at = self.nodes[at].parent;
                at
            })
        })
    }

    /// The text below a node in one line, cut when it is no line any more, with a space wherever a block begins or ends.
    pub(crate) fn line(&self, id: Id) -> String {
        let mut raw = String::new();
        let mut at = id;
        while at < self.end(id) && raw.len() < MAX_VALUE {
            let name = self.name(at);
            if matches!(name, "script" | "style" | "template" | "svg") {
                at = self.end(at);
                continue;
            }
            if !name.is_empty() && !is_inline(name) {
                raw.push(' ');
            }
            raw.push_str(self.words(at));
            at += 1;
        }
        fold(&raw)
    }

    /// The first element of a name.
    pub(crate) fn first(&self, name: &str) -> Option<Id> {
        (0..self.len()).find(|&id| self.name(id) == name)
    }
}

/// White space folded, ends trimmed.
pub(crate) fn fold(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for word in
        s.split(|c: char| c.is_whitespace() || c == '\0' || c == '\u{feff}' || c == '\u{200b}')
    {
        if word.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        // A soft hyphen is no letter.
        out.extend(word.chars().filter(|&c| c != '\u{ad}'));
    }
    out
}

fn is_foreign(name: &str) -> bool {
    matches!(name, "path" | "g" | "use" | "circle" | "rect" | "line" | "polygon" | "svg" | "math")
}

fn ends_paragraph(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "ul"
    )
}

/// Whether words on both sides of the tag belong to one line.
pub(crate) fn is_inline(name: &str) -> bool {
    matches!(
        name,
        "" | "a"
            | "abbr"
            | "acronym"
            | "b"
            | "bdi"
            | "bdo"
            | "big"
            | "cite"
            | "code"
            | "data"
            | "del"
            | "dfn"
            | "em"
            | "font"
            | "i"
            | "ins"
            | "kbd"
            | "label"
            | "mark"
            | "q"
            | "s"
            | "samp"
            | "small"
            | "span"
            | "strike"
            | "strong"
            | "sub"
            | "sup"
            | "time"
            | "tt"
            | "u"
            | "var"
            | "wbr"
            | "nobr"
            | "ruby"
            | "rb"
            | "rp"
            | "rt"
            | "rtc"
            | "img"
            | "input"
            | "button"
            | "svg"
            | "picture"
            | "source"
    )
}
