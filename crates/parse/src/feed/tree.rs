//! An XML document as a tree, whatever its state.
//!
//! * What this is: elements with their names, their own text and their place in the source.
//!   Prefixes are looked up where they are declared and become one of a few vocabularies.
//! * Its place: `feed::read` looks for the parts of a feed in it. Tags come from `xml`.
//! * How broken documents are read: an end tag closes the nearest element of its name with all
//!   that is open inside, or nothing; a field that was not closed ends where the next begins;
//!   what is open at the end of the text ends there.
//! * Invariants: no text makes it fail; elements are in document order, so the descendants of
//!   one stand right behind it; depth is bounded.
//! * What is not here: what the elements mean.

use crate::feed::text;
use crate::xml::{self, Element, Piece};
use std::borrow::Cow;
use std::ops::Range;

/// Elements inside of elements; deeper ones are siblings.
const MAX_DEPTH: usize = 200;
/// Entities that a document defines for itself, and the bytes of each.
const MAX_ENTITIES: usize = 256;
const MAX_ENTITY_BYTES: usize = 512;

/// The vocabularies that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Of the feed itself: RSS of all versions, Atom, or none at all.
    Core,
    Atom,
    Rdf,
    Dublin,
    DublinTerms,
    Content,
    Media,
    Itunes,
    Xhtml,
    Other,
}

impl Space {
    /// By its address. Addresses are written in many ways; the telling part is not.
    fn of_address(address: &str) -> Self {
        let address = address.trim().to_ascii_lowercase();
        let is = |part: &str| address.contains(part);
        match () {
            () if address.is_empty() => Space::Core,
            () if is("/2005/atom") || is("purl.org/atom/ns") => Space::Atom,
            () if is("22-rdf-syntax-ns") => Space::Rdf,
            () if is("purl.org/dc/terms") => Space::DublinTerms,
            () if is("purl.org/dc/") => Space::Dublin,
            () if is("modules/content") => Space::Content,
            () if is("search.yahoo.com/mrss") || is("media-rss") => Space::Media,
            () if is("podcast-1.0.dtd") => Space::Itunes,
            () if is("1999/xhtml") => Space::Xhtml,
            () if is("purl.org/rss/1.0/modules") || is("purl.org/syndication") => Space::Other,
            () if is("purl.org/rss/") || is("purl.org/net/rss") => Space::Core,
            () if is("backend.userland.com/") || is("/tech/rss") => Space::Core,
            () if is("netscape.com/rdf") || is("channel.netscape.com") => Space::Core,
            () => Space::Other,
        }
    }

    /// By the prefix that is usual, where nobody declared it.
    fn of_prefix(prefix: &str) -> Self {
        match prefix.to_ascii_lowercase().as_str() {
            "" | "rss" => Space::Core,
            "atom" | "atom10" | "a" | "a10" => Space::Atom,
            "rdf" => Space::Rdf,
            "dc" => Space::Dublin,
            "dcterms" => Space::DublinTerms,
            "content" => Space::Content,
            "media" => Space::Media,
            "itunes" => Space::Itunes,
            "xhtml" => Space::Xhtml,
            _ => Space::Other,
        }
    }
}

/// An element.
#[derive(Debug)]
pub(super) struct Node<'t> {
    /// Without its prefix, in lower case.
    pub(super) name: Cow<'t, str>,
    pub(super) space: Space,
    pub(super) element: Option<Element<'t>>,
    pub(super) parent: usize,
    /// Behind the last of its descendants.
    pub(super) end: usize,
    /// What stands between its tags.
    pub(super) inner: Range<usize>,
    /// Its own text, without that of elements inside.
    pub(super) text: String,
}

/// A document. The first node is the document itself.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    pub(super) source: &'t str,
    pub(super) nodes: Vec<Node<'t>>,
    /// Whether something is against the rules of XML.
    pub(super) ill_formed: bool,
}

/// What is under way while a document is read.
struct Building<'t> {
    tree: Tree<'t>,
    open: Vec<usize>,
    /// Prefixes with what they stand for, and the depth they were declared at.
    prefixes: Vec<(usize, &'t str, Space)>,
    entities: Vec<(&'t str, String)>,
}

/// Reads a document.
pub(super) fn tree(source: &str) -> Tree<'_> {
    let document = Node {
        name: Cow::Borrowed(""),
        space: Space::Core,
        element: None,
        parent: 0,
        end: 0,
        inner: 0..source.len(),
        text: String::new(),
    };
    let mut building = Building {
        tree: Tree { source, nodes: vec![document], ill_formed: false },
        open: vec![0],
        prefixes: Vec::new(),
        entities: entities(source),
    };
    let mut pieces = xml::pieces(source);
    loop {
        let at = source.len() - pieces.ahead();
        let Some(piece) = pieces.next() else { break };
        let after = source.len() - pieces.ahead();
        match piece {
            Piece::Open(element) => building.open(element, after),
            Piece::Close(name) => building.close(name, at),
            Piece::Text(text) => building.text(text),
            Piece::Verbatim(text) => building.push(text),
        }
    }
    let mut tree = building.tree;
    // What is open now has no end tag, or only a part of one.
    tree.ill_formed |= building.open.len() > 1 || !source.trim_end().ends_with('>');
    let all = tree.nodes.len();
    for node in building.open {
        tree.nodes[node].end = all;
        tree.nodes[node].inner.end = source.len();
    }
    tree
}

/// The entities a document defines before it begins.
fn entities(source: &str) -> Vec<(&str, String)> {
    let Some(at) = source.find("<!DOCTYPE") else { return Vec::new() };
    let mut out = Vec::new();
    for part in source[at..].split("<!ENTITY").skip(1).take(MAX_ENTITIES) {
        let part = part.trim_start();
        let Some((name, rest)) = part.split_once(char::is_whitespace) else { continue };
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|q| matches!(q, '"' | '\'')) else { continue };
        let Some((value, _)) = rest[1..].split_once(quote) else { continue };
        if value.len() <= MAX_ENTITY_BYTES {
            out.push((name, text::unescaped(value).into_owned()));
        }
    }
    out
}

impl<'t> Building<'t> {
    fn open(&mut self, element: Element<'t>, after: usize) {
        let declared: Vec<(&str, Space)> = element
            .declared()
            .map(|(prefix, address)| (prefix, Space::of_address(&address)))
            .collect();
        let (name, prefix) = xml::local_name(element.name);
        let is_root = self.open.len() == 1;
        let here = declared.iter().rev().find(|(p, _)| *p == prefix);
        let known = here.map(|(_, space)| (is_root, *space)).or_else(|| {
            let outer = self.prefixes.iter().rev().find(|(_, p, _)| *p == prefix);
            outer.map(|(at, _, space)| (*at == 1, *space))
        });
        let mut space = known.map_or_else(|| Space::of_prefix(prefix), |(_, space)| space);
        // A feed in a vocabulary nobody knows is a feed all the same.
        if space == Space::Other && prefix.is_empty() && known.is_some_and(|(own, _)| own) {
            space = Space::Core;
        }
        self.end_what_was_left_open(&name, space);
        let depth = self.open.len();
        let parent = self.open.last().copied().unwrap_or(0);
        let id = self.tree.nodes.len();
        self.tree.nodes.push(Node {
            name,
            space,
            element: Some(element),
            parent,
            end: id + 1,
            inner: after..after,
            text: String::new(),
        });
        if !element.is_empty && depth < MAX_DEPTH {
            self.open.push(id);
            self.prefixes
                .extend(declared.into_iter().map(|(prefix, space)| (depth, prefix, space)));
        }
    }

    /// Closes fields and entries that this element cannot stand in.
    fn end_what_was_left_open(&mut self, name: &str, space: Space) {
        if !matches!(space, Space::Core | Space::Atom | Space::Dublin | Space::Content) {
            return;
        }
        let Some(&top) = self.open.last() else { return };
        let inside = &self.tree.nodes[top];
        let core = matches!(inside.space, Space::Core | Space::Atom | Space::Dublin);
        let is_entry = matches!(name, "item" | "entry");
        let ends = match &*inside.name {
            _ if !core => false,
            "title" | "link" | "guid" | "id" | "pubdate" | "updated" | "published" | "modified"
            | "issued" | "category" | "comments" | "language" | "date" | "creator" => {
                is_entry || is_field(name) || matches!(name, "title" | "link" | "summary")
            }
            "description" | "summary" | "content" | "encoded" | "subtitle" => {
                is_entry || is_field(name)
            }
            _ => false,
        };
        if ends {
            self.pop_to(self.open.len() - 1, None);
            self.tree.ill_formed = true;
        }
        if is_entry
            && let Some(at) = self.open.iter().rposition(|&n| {
                matches!(&*self.tree.nodes[n].name, "item" | "entry")
                    && self.tree.nodes[n].space == space
            })
        {
            self.pop_to(at, None);
            self.tree.ill_formed = true;
        }
    }

    fn close(&mut self, name: &str, at: usize) {
        let is_it = |&n: &usize| {
            let open = self.tree.nodes[n].element.map(|e| e.name);
            open.is_some_and(|open| open.eq_ignore_ascii_case(name))
        };
        match self.open.iter().rposition(is_it) {
            Some(place) => {
                self.tree.ill_formed |= place + 1 != self.open.len();
                self.pop_to(place, Some(at));
            }
            None => self.tree.ill_formed = true,
        }
    }

    /// Closes everything that is open from this place of the stack on.
    fn pop_to(&mut self, place: usize, at: Option<usize>) {
        let all = self.tree.nodes.len();
        let at = at.unwrap_or_else(|| {
            let last = &self.tree.nodes[all - 1];
            last.inner.end.max(self.tree.nodes[self.open[place]].inner.start)
        });
        for node in self.open.drain(place..) {
            self.tree.nodes[node].end = all;
            self.tree.nodes[node].inner.end = at.max(self.tree.nodes[node].inner.start);
        }
        let depth = self.open.len();
        self.prefixes.retain(|(declared, ..)| *declared < depth);
    }

    fn text(&mut self, text: &str) {
        if !text.contains('&') {
            return self.push(text);
        }
        let entities = &self.entities;
        let text = text::unescaped_with(text, |name| {
            entities.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
        });
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        let top = self.open.last().copied().unwrap_or(0);
        if top > 0 {
            self.tree.nodes[top].text.push_str(text);
        }
    }
}

/// Fields that are no elements of HTML too, which may stand in a text.
fn is_field(name: &str) -> bool {
    matches!(
        name,
        "guid"
            | "id"
            | "pubdate"
            | "updated"
            | "published"
            | "modified"
            | "issued"
            | "category"
            | "comments"
            | "description"
            | "author"
            | "enclosure"
            | "creator"
            | "date"
            | "encoded"
            | "content"
            | "language"
    )
}

impl<'t> Tree<'t> {
    /// The children of an element, in order.
    pub(super) fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[of].end;
        let mut next = of + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let this = next;
                next = self.nodes[this].end.max(this + 1);
                this
            })
        })
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, of: usize, name: &str) -> Option<Cow<'t, str>> {
        self.nodes[of].element.and_then(|element| element.attribute(name))
    }

    /// What stands between the tags of an element, as written.
    pub(super) fn inner(&self, of: usize) -> &'t str {
        self.source.get(self.nodes[of].inner.clone()).unwrap_or_default()
    }
}
