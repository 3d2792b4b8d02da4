//! What the names of elements, classes and ids say.
//!
//! * What this is: which elements are beside an article: by their tag, because they are hidden,
//!   or by the words of their class, id or role (`sidebar`, `related-posts`, `comments`).
//! * Its place: `body` leaves out what is named here, `facts` reads no date or author there.
//! * Invariants: a name alone never takes much of a page's prose away; how much it may take
//!   depends on how sure the name is.

use crate::article::body::is_heading;
use crate::article::tree::{Id, Tree};

/// Leaves out elements that never hold prose.
pub(crate) fn leave_out_by_tag(tree: &Tree, start: Id, out: &mut [bool]) {
    let headings = counts(tree, is_heading);
    let titles = counts(tree, |name| name == "h1");
    for id in tree.subtree(start).skip(1) {
        out[id] = match tree.name(id) {
            "script" | "style" | "noscript" | "template" | "svg" | "iframe" | "object"
            | "embed" | "canvas" | "video" | "audio" | "figcaption" | "nav" | "menu" | "dialog"
            | "select" | "textarea" | "input" | "map" | "head" | "title" | "link" | "meta"
            | "datalist" | "progress" | "rp" | "rt" => true,
            // Some put the whole page into one.
            "aside" | "footer" => !holds(tree, id, &titles),
            "button" => !heads(tree, id, &headings),
            "" => false,
            _ => is_hidden(tree, id),
        };
    }
}

/// How many elements with such names come before each node.
fn counts(tree: &Tree, is: impl Fn(&str) -> bool) -> Vec<u32> {
    let mut count = 0;
    let mut counts = vec![0];
    for id in 0..tree.len() {
        count += u32::from(is(tree.name(id)));
        counts.push(count);
    }
    counts
}

/// Whether there is one in a subtree.
fn holds(tree: &Tree, id: Id, counts: &[u32]) -> bool {
    counts[tree.end(id)] > counts[id]
}

/// Whether a button is part of a heading or holds one, as in lists that unfold.
fn heads(tree: &Tree, id: Id, headings: &[u32]) -> bool {
    holds(tree, id, headings) || is_heading(tree.name(tree.parent(id)))
}

fn is_hidden(tree: &Tree, id: Id) -> bool {
    // What a server sends late is hidden until a script has moved it (`S:0`).
    if (tree.has(id, "hidden") && !tree.attr(id, "id").starts_with("S:"))
        || tree.attr(id, "aria-hidden") == "true"
    {
        return true;
    }
    let style = tree.attr(id, "style");
    if style.is_empty() {
        return false;
    }
    let style: String =
        style.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    style.contains("display:none") || style.contains("visibility:hidden")
}

/// Leaves out elements whose class, id or role says that they are beside the article, unless
/// they hold much of the page's prose.
pub(crate) fn leave_out_by_name(tree: &Tree, start: Id, prose: &[i64], out: &mut [bool]) {
    // Comments first: they may be longer than the article.
    let comments = each(tree, start, out, |id| {
        (beside(tree, id) == Beside::Comments && prose[id] * 100 <= prose[start] * 95)
            .then_some(prose[id])
    });
    let all = (prose[start] - comments).max(1);
    let titles = counts(tree, |name| matches!(name, "h1" | "article" | "main"));
    each(tree, start, out, |id| {
        let limit = match if matches!(tree.name(id), "form" | "fieldset") {
            Beside::Maybe
        } else {
            beside(tree, id)
        } {
            Beside::No => return None,
            Beside::Maybe => 12,
            _ if holds(tree, id, &titles) => 10,
            _ => 45,
        };
        (prose[id] * 100 <= all * limit).then_some(0)
    });
}

/// Leaves out the elements the closure says, and adds up what it gives.
fn each(tree: &Tree, start: Id, out: &mut [bool], leave: impl Fn(Id) -> Option<i64>) -> i64 {
    let mut sum = 0;
    let mut at = start + 1;
    while at < tree.end(start) {
        if !out[at]
            && !matches!(tree.name(at), "" | "html" | "body" | "main" | "article")
            && let Some(part) = leave(at)
        {
            out[at] = true;
            sum += part;
        }
        at = if out[at] { tree.end(at) } else { at + 1 };
    }
    sum
}

/// What a name says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Beside {
    /// Nothing.
    No,
    /// Often beside the article, if it is small.
    Maybe,
    /// Beside the article, if it is not most of the page.
    Yes,
    /// What readers wrote, however long.
    Comments,
}

fn beside(tree: &Tree, id: Id) -> Beside {
    let role = tree.attr(id, "role");
    if matches!(
        role,
        "navigation"
            | "complementary"
            | "contentinfo"
            | "banner"
            | "search"
            | "menu"
            | "menubar"
            | "dialog"
            | "alertdialog"
            | "alert"
            | "toolbar"
            | "tablist"
            | "form"
    ) {
        return Beside::Yes;
    }
    let mut worst = Beside::No;
    for key in ["class", "id"] {
        for name in tree.attr(id, key).split_ascii_whitespace() {
            worst = worst.max(judge(name));
        }
    }
    worst
}

/// Whether an element holds comments.
pub(crate) fn is_comment(tree: &Tree, id: Id) -> bool {
    beside(tree, id) == Beside::Comments
        && !matches!(tree.name(id), "html" | "body" | "main" | "article")
}

fn judge(name: &str) -> Beside {
    let lower = name.to_ascii_lowercase();
    if matches!(
        lower.as_str(),
        "hidden"
            | "hide"
            | "d-none"
            | "visually-hidden"
            | "visuallyhidden"
            | "sr-only"
            | "screen-reader-text"
            | "w-condition-invisible"
            | "element-invisible"
            | "invisible"
    ) {
        return Beside::Yes;
    }
    if lower == "widget" || lower.starts_with("widget_") {
        return Beside::Maybe;
    }
    let mut worst = Beside::No;
    let words = tokens(name);
    // A long one is a sentence: the anchor of a heading; `has-sidebar` is about another.
    if words.len() > 4
        || words
            .first()
            .is_some_and(|w| matches!(w.as_str(), "has" | "no" | "with" | "is" | "not" | "without"))
    {
        return Beside::No;
    }
    for token in words {
        let verdict = match token.as_str() {
            "comment" | "comments" | "disqus" | "commentlist" | "respond" | "commentform"
            | "replies" => Beside::Comments,
            "nav" | "navbar" | "navigation" | "subnav" | "menu" | "submenu" | "footer"
            | "sidebar" | "related" | "share" | "sharing" | "sharebar" | "social" | "sociable"
            | "newsletter" | "subscribe" | "cookie" | "cookies" | "consent" | "gdpr"
            | "breadcrumb" | "breadcrumbs" | "promo" | "advert" | "advertisement" | "ads"
            | "ad" | "adsbygoogle" | "sponsor" | "sponsored" | "outbrain" | "taboola" | "popup"
            | "modal" | "overlay" | "pagination" | "pager" | "recommended" | "recommendations"
            | "recommendation" | "byline" | "paywall" | "login" | "signup" | "signin"
            | "popular" | "trending" | "toolbar" | "sharedaddy" | "jp" | "addtoany" | "banner"
            | "skip" | "noprint" | "tagcloud" | "syndication" | "criteo" | "shoutbox"
            | "masthead" | "timestamp" | "printfriendly" | "tags" | "taglist" => Beside::Yes,
            "author" | "authors" | "bio" | "meta" | "metadata" | "rating" | "ratings"
            | "teaser" | "teasers" | "button" | "btn" | "cta" | "next" | "prev" | "previous"
            | "rail" | "credit" | "credits" | "copyright" | "infobox" | "tool" | "tools"
            | "print" | "toc" | "search" | "form" | "slider" | "carousel" | "caption"
            | "dateline" | "date" | "time" | "tag" | "category" | "categories" | "topics"
            | "donate" | "stories" | "bar" | "icon" | "icons" | "links" => Beside::Maybe,
            _ => Beside::No,
        };
        worst = worst.max(verdict);
    }
    if worst == Beside::No
        && (lower.contains("sidebar")
            || lower.contains("breadcrumb")
            || lower.contains("relatedpost")
            || lower.contains("newsletter"))
    {
        worst = Beside::Yes;
    }
    worst
}

/// The words of a class or an id: parted by signs and by capitals.
pub(crate) fn tokens(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut small = false;
    for c in name.chars() {
        if (!c.is_ascii_alphabetic() || (c.is_ascii_uppercase() && small)) && !word.is_empty() {
            out.push(std::mem::take(&mut word));
        }
        small = c.is_ascii_lowercase();
        if c.is_ascii_alphabetic() {
            word.push(c.to_ascii_lowercase());
        }
    }
    if !word.is_empty() {
        out.push(word);
    }
    out
}
