//! A page as a tree: what stands inside of what.
//!
//! * What this is: the elements of a page with the attributes that tell something about its
//!   structure, and its texts between them.
//! * Its place: `news` looks for headlines in it. Pages that are only searched never become a
//!   tree, since `page` gets by without one.
//! * How it is built: elements without content end at once, `li`, `p`, `td` and the like end where
//!   the next of their kind begins, an end tag closes the nearest element of its name, and one
//!   that closes nothing is passed over.
//! * Invariants: no bytes make it fail; nodes are in document order, so the descendants of one
//!   stand right behind it; depth and number of nodes are bounded.
//! * What is not here: what a browser does to misplaced elements, and styles.

use crate::charset;
use crate::fold::one_line;
use crate::fold::without_controls;
use crate::tag::is_void;
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use std::borrow::Cow;

/// Elements inside of elements; deeper ones are siblings.
const MAX_DEPTH: usize = 400;
/// Nodes that are kept.
const MAX_NODES: usize = 400_000;

/// A page as a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// All nodes in document order. The first is the page itself.
    pub nodes: Vec<OutlineNode>,
}

/// An element or a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineNode {
    /// The name of the element; empty for a text and for the page itself.
    pub name: Cow<'static, str>,
    /// What it stands in, by number.
    pub parent: usize,
    /// The number behind that of its last descendant.
    pub end: usize,
    /// The characters of a text, as written; of an element, nothing.
    pub text: String,
    attributes: Vec<(&'static str, String)>,
    /// Whether its class or its style keeps it from the eye.
    is_unseen: bool,
}

/// The attributes that are kept.
const ATTRIBUTES: [&str; 24] = [
    "alt",
    "aria-hidden",
    "aria-label",
    "class",
    "content",
    "data-original",
    "data-src",
    "data-srcset",
    "datetime",
    "hidden",
    "href",
    "hreflang",
    "id",
    "itemprop",
    "itemtype",
    "lang",
    "name",
    "property",
    "rel",
    "role",
    "src",
    "srcset",
    "title",
    "type",
];

/// The elements that are known by a name that is not kept anew each time.
const NAMES: [&str; 54] = [
    "a", "article", "aside", "b", "base", "body", "br", "button", "dd", "div", "dl", "dt", "em",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html",
    "i", "iframe", "img", "input", "li", "link", "main", "meta", "nav", "noscript", "ol", "p",
    "picture", "script", "section", "source", "span", "strong", "style", "svg", "table", "tbody",
    "td", "time", "title", "tr", "ul", "video",
];

impl Outline {
    /// The value of an attribute.
    pub fn attribute(&self, node: usize, name: &str) -> Option<&str> {
        let attributes = &self.nodes[node].attributes;
        attributes.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }

    /// What stands directly in a node, in order.
    pub fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
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

    /// The elements of some names inside of a node, in order.
    pub fn inside<'o>(
        &'o self,
        of: usize,
        names: &'o [&'o str],
    ) -> impl Iterator<Item = usize> + 'o {
        (of + 1..self.nodes[of].end).filter(move |&n| names.contains(&&*self.nodes[n].name))
    }

    /// What a node stands in, from the nearest to the page itself.
    pub fn ancestors(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors((of > 0).then(|| self.nodes[of].parent), |&n| {
            (n > 0).then(|| self.nodes[n].parent)
        })
    }

    /// Whether a node is an element that begins and ends a line.
    pub fn is_block(&self, node: usize) -> bool {
        !matches!(
            &*self.nodes[node].name,
            "" | "a"
                | "abbr"
                | "b"
                | "bdi"
                | "cite"
                | "em"
                | "font"
                | "i"
                | "img"
                | "mark"
                | "small"
                | "span"
                | "strong"
                | "sub"
                | "sup"
                | "time"
                | "u"
        )
    }

    /// Whether the text inside of an element is not shown.
    pub fn is_hidden(&self, node: usize) -> bool {
        matches!(
            &*self.nodes[node].name,
            "script"
                | "style"
                | "noscript"
                | "iframe"
                | "template"
                | "svg"
                | "select"
                | "textarea"
                | "head"
                | "object"
                | "button"
        )
    }

    /// Whether an element is there for those who listen only, or for nobody: `sr-only`, a clip of
    /// no size, `display: none`. Its text is no part of what stands around it.
    pub fn is_unseen(&self, node: usize) -> bool {
        self.nodes[node].is_unseen
    }

    /// The shown text inside of a node, in one line of at most `cap` bytes, apart from what
    /// `skip` says is to be left out.
    pub fn line(&self, of: usize, cap: usize, skip: impl Fn(usize) -> bool) -> String {
        let mut text = String::new();
        let mut at = of;
        let end = self.nodes[of].end.max(of + 1);
        let mut blocks: Vec<usize> = Vec::new();
        let mut before = None;
        while at < end && text.len() <= 2 * cap {
            let node = &self.nodes[at];
            while blocks.last().is_some_and(|&e| at >= e) {
                blocks.pop();
                text.push(' ');
            }
            if self.is_hidden(at) || at != of && skip(at) {
                at = node.end.max(at + 1);
                text.push(' ');
                continue;
            }
            if self.is_block(at) {
                text.push(' ');
                blocks.push(node.end);
            }
            if node.name.is_empty() {
                if before.is_some_and(|before| self.is_apart(before, at)) {
                    text.push(' ');
                }
                before = Some(at);
            }
            text.push_str(&node.text);
            at += 1;
        }
        one_line(text.as_bytes(), cap)
    }

    /// Whether two texts, the one right behind the other, are in elements of their own, which
    /// styles keep apart: `<span>Rail</span><span>Trains stop</span>`. What only looks different
    /// in the middle of a word does not part it.
    fn is_apart(&self, before: usize, next: usize) -> bool {
        let (a, b) = (self.nodes[before].parent, self.nodes[next].parent);
        let is_look = |n: usize| {
            matches!(&*self.nodes[n].name, "b" | "i" | "em" | "u" | "sub" | "sup" | "font" | "mark")
        };
        if a == b || is_look(a) || is_look(b) {
            return false;
        }
        let is_in = |inner: usize, outer: usize| outer < inner && inner < self.nodes[outer].end;
        let last = self.nodes[before].text.chars().next_back();
        let first = self.nodes[next].text.chars().next();
        let meets = last.is_some_and(char::is_lowercase) && first.is_some_and(char::is_uppercase);
        let begins = first.is_some_and(|c| c.is_alphanumeric() || "«„“‘\"'(¿¡".contains(c));
        !is_in(a, b) && !is_in(b, a) && begins || meets
    }
}

/// Whether a class or a style keeps an element from the eye.
fn is_unseen(name: &[u8], value: &str) -> bool {
    const CLASSES: [&str; 14] = [
        "a11y-hidden",
        "assistive",
        "assistive-text",
        "element-invisible",
        "hidden-visually",
        "screen-reader",
        "screen-reader-only",
        "screen-reader-text",
        "screenreader",
        "screenreader-only",
        "sr-only",
        "u-vh",
        "visually-hidden",
        "visuallyhidden",
    ];
    let value = value.to_ascii_lowercase().replace('_', "-");
    match name {
        b"class" => value.split_ascii_whitespace().any(|class| {
            // Made names carry what they were made of: `ssrcss-1f-VisuallyHidden`.
            CLASSES.contains(&class)
                || class.ends_with("visuallyhidden")
                || class.ends_with("visually-hidden")
        }),
        b"style" => {
            let style: String = value.chars().filter(|c| !c.is_whitespace()).collect();
            ["display:none", "visibility:hidden", "clip:rect(0", "clip:rect(1px"]
                .iter()
                .any(|hides| style.contains(hides))
                || style.contains("clip-path:inset(50%")
                || style.contains("clip-path:inset(100%")
        }
        _ => false,
    }
}

/// Reads a page as a tree. `header_charset` is the `charset` of its `Content-Type`, if any.
pub fn parse_outline(bytes: &[u8], header_charset: Option<&str>) -> Outline {
    let (encoding, mark) = charset::decide(bytes, header_charset, true);
    let text = without_controls(charset::decode(&bytes[mark..], encoding));
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut building = Building { nodes: vec![OutlineNode::default()], open: vec![0] };
    for token in Tokenizer::new_with_emitter(&*text, emitter) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => building.start(tag),
            Token::EndTag(tag) => building.end(&tag.name),
            Token::String(text) => building.text(&text.value),
            _ => {}
        }
        if building.nodes.len() >= MAX_NODES {
            break;
        }
    }
    building.close_to(0);
    Outline { nodes: building.nodes }
}

struct Building {
    nodes: Vec<OutlineNode>,
    open: Vec<usize>,
}

impl Building {
    fn top(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn start(&mut self, tag: StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        self.end_before(&name);
        let attributes = tag.attributes.iter().filter_map(|(name, value)| {
            let known = ATTRIBUTES.iter().find(|known| *known.as_bytes() == **name)?;
            Some((*known, String::from_utf8_lossy(&value.value).into_owned()))
        });
        let attributes: Vec<_> = attributes.collect();
        let is_unseen = tag.attributes.iter().any(|(name, value)| {
            matches!(&***name, b"class" | b"style")
                && is_unseen(name, &String::from_utf8_lossy(&value.value))
        });
        let name = match NAMES.binary_search(&&*name) {
            Ok(at) => Cow::Borrowed(NAMES[at]),
            Err(_) => Cow::Owned(name.into_owned()),
        };
        let is_empty = is_void(name.as_bytes());
        let (parent, id) = (self.top(), self.nodes.len());
        let text = String::new();
        self.nodes.push(OutlineNode { name, parent, end: id + 1, text, attributes, is_unseen });
        let is_ended = is_empty || tag.self_closing && self.is_in_picture();
        if !is_ended && self.open.len() < MAX_DEPTH {
            self.open.push(id);
        }
    }

    /// Inside of SVG an element may be its own end.
    fn is_in_picture(&self) -> bool {
        self.open.iter().rev().any(|&n| self.nodes[n].name == "svg")
    }

    /// Ends what cannot go on when this element begins.
    fn end_before(&mut self, name: &str) {
        let (ends, fence): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => (&["dt", "dd"], &["dl"]),
            "tr" => (&["tr"], &["table"]),
            "td" | "th" => (&["td", "th"], &["table", "tr"]),
            "option" => (&["option"], &["select"]),
            "a" => (&["a"], &["td", "table", "li", "div", "article", "section"]),
            "p" | "div" | "ul" | "ol" | "table" | "section" | "article" | "h1" | "h2" | "h3"
            | "h4" | "h5" | "h6" => {
                (&["p"], &["div", "li", "td", "article", "section", "button", "a"])
            }
            "body" => (&["head"], &[]),
            _ => return,
        };
        for place in (1..self.open.len()).rev() {
            let open = &*self.nodes[self.open[place]].name;
            if ends.contains(&open) {
                return self.close_to(place);
            }
            if fence.contains(&open) {
                return;
            }
        }
    }

    fn end(&mut self, name: &[u8]) {
        let is_it = |&n: &usize| self.nodes[n].name.as_bytes() == name;
        let Some(place) = self.open.iter().rposition(is_it).filter(|place| *place > 0) else {
            return;
        };
        // The end of a small element does not end the cell or the list it stands in.
        let is_small = !self.is_container(self.open[place]);
        let crosses = self.open[place + 1..].iter().any(|&n| self.is_container(n));
        if !(is_small && crosses) {
            self.close_to(place);
        }
    }

    fn is_container(&self, node: usize) -> bool {
        matches!(
            &*self.nodes[node].name,
            "div"
                | "section"
                | "article"
                | "main"
                | "ul"
                | "ol"
                | "li"
                | "table"
                | "tr"
                | "td"
                | "body"
                | "html"
                | "nav"
                | "header"
                | "footer"
                | "aside"
        )
    }

    fn close_to(&mut self, place: usize) {
        let all = self.nodes.len();
        for node in self.open.drain(place..) {
            self.nodes[node].end = all;
        }
    }

    fn text(&mut self, text: &[u8]) {
        let top = self.top();
        let of_data = |n: &OutlineNode| {
            n.attributes.iter().any(|(name, value)| *name == "type" && value.contains("json"))
        };
        let node = &self.nodes[top];
        if node.name == "style" || node.name == "script" && !of_data(node) {
            return;
        }
        let id = self.nodes.len();
        // The tokenizer may hand over a text in pieces.
        if let Some(last) = self.nodes.last_mut()
            && last.name.is_empty()
            && last.parent == top
            && id > 1
        {
            last.text.push_str(&String::from_utf8_lossy(text));
            return;
        }
        let text = String::from_utf8_lossy(text).into_owned();
        self.nodes.push(OutlineNode { parent: top, end: id + 1, text, ..OutlineNode::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(html: &str) -> String {
        fn show(outline: &Outline, node: usize, out: &mut String) {
            let n = &outline.nodes[node];
            out.push_str(if n.name.is_empty() { n.text.trim() } else { &n.name });
            let mut children = outline.children(node).peekable();
            if children.peek().is_some() {
                out.push('(');
                children.for_each(|c| {
                    show(outline, c, out);
                    out.push(' ');
                });
                out.pop();
                out.push(')');
            }
        }
        let mut out = String::new();
        show(&parse_outline(html.as_bytes(), None), 0, &mut out);
        out
    }

    #[test]
    fn elements_stand_inside_of_elements_whatever_is_left_out() {
        assert_eq!(shown("<ul><li>a<li><b>b</ul><p>c<p>d"), "(ul(li(a) li(b(b))) p(c) p(d))");
        assert_eq!(shown("<a href=1><img>x<a>y</div></a>z"), "(a(img x) a(y) z)");
        assert_eq!(
            shown("<table><tr><td>1<td>2<tr><td>3</table>"),
            "(table(tr(td(1) td(2)) tr(td(3))))"
        );
        assert_eq!(shown("<span><div></span>x</div>"), "(span(div(x)))");
        assert_eq!(shown("<script>if (a<b) x</script><title>t</title>"), "(script title(t))");
    }

    #[test]
    fn a_line_keeps_blocks_apart_and_words_together() {
        let outline = parse_outline(
            b"<div><h2>Big <i>ne</i>ws</h2><p>more</p><script>x</script>!</div>",
            None,
        );
        assert_eq!(outline.line(0, 99, |_| false), "Big news more !");
        let heading = outline.inside(0, &["h2"]).next().unwrap();
        assert_eq!(outline.line(0, 99, |n| n == heading), "more !");
        assert_eq!(outline.ancestors(heading).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn texts_of_neighbours_are_not_glued() {
        for (html, want) in [
            ("<a><span>Rail</span><span>Trains stop</span></a>", "Rail Trains stop"),
            ("<h2><span>G. Will</span><a>Trains</a></h2>", "G. Will Trains"),
            ("<a><span>Rail</span>Trains</a>", "Rail Trains"),
            ("<a><span class=drop>T</span>rains</a>", "Trains"),
            ("<p>Trains<span>, again</span>.</p>", "Trains, again."),
            ("<p><span>Rail</span><span>, again</span></p>", "Rail, again"),
            ("<p>Mac<b>Book</b></p>", "MacBook"),
        ] {
            assert_eq!(parse_outline(html.as_bytes(), None).line(0, 99, |_| false), want);
        }
    }

    #[test]
    fn what_the_eye_does_not_see_is_known() {
        for (html, want) in [
            ("<i class='x sr-only'>", true),
            ("<i class=Visually_Hidden>", true),
            ("<i class=ssrcss-1-VisuallyHidden>", true),
            ("<i style='border:0;clip: rect(0 0 0 0)'>", true),
            ("<i style='Display : None'>", true),
            ("<i class=hidden-sm style='clip:auto'>", false),
        ] {
            assert_eq!(parse_outline(html.as_bytes(), None).is_unseen(1), want, "{html}");
        }
    }

    #[test]
    fn names_are_in_order() {
        assert!(NAMES.is_sorted() && ATTRIBUTES.is_sorted());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "<div>".repeat(100_000);
        let outline = parse_outline(deep.as_bytes(), None);
        assert_eq!(outline.nodes.len(), 100_001);
        assert!(outline.ancestors(100_000).count() <= MAX_DEPTH);
    }
}
