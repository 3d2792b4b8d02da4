//! What the names of elements, classes and ids say.
//!
//! * What this is: which elements are beside an article: by their tag, because they are hidden,
//!   or by the words of their class, id or role (`sidebar`, `related-posts`, `comments`).
//! * Its place: `body` leaves out what is named here, `facts` reads no date or author there.
//! * Invariants: a name alone never takes much of a page's prose away; how much it may take
//!   depends on how sure the name is.

use crate::article::blocks::size;
use crate::article::body::is_heading;
use crate::article::tree::{Id, Tree, is_inline};

/// How many letters beside an inline element make a running sentence.
const SENTENCE: usize = 30;
/// How large a box around a form is at most that only asks to fill it in: in letters, and in nodes.
const MAX_ASKING: usize = 300;
const MAX_ASKING_NODES: usize = 60;
/// How many links a header has that holds the menus of a site.
const MENU: u32 = 25;
/// How many names of paywalls are looked at.
const MAX_WALLS: usize = 20;

/// Names of classes (`.a`) and ids (`#a`) that may mark what readers pay for, with the elements that
/// have them: those the page tells (`walls`), and those that say so.
pub(crate) fn walls(tree: &Tree, start: Id, walls: &[String]) -> Vec<(String, Vec<Id>)> {
    let mut found: Vec<(String, Vec<Id>)> =
        walls.iter().map(|wall| (wall.clone(), Vec::new())).collect();
    for id in tree.subtree(start).skip(1) {
        for (key, sign) in [("class", '.'), ("id", '#')] {
            for name in tree.attr(id, key).split_ascii_whitespace() {
                let is = |wall: &str| wall.strip_prefix(sign) == Some(name);
                if let Some((_, ids)) = found.iter_mut().find(|(wall, _)| is(wall)) {
                    ids.push(id);
                } else if found.len() < MAX_WALLS && judge(name) == Beside::Wall {
                    found.push((format!("{sign}{name}"), vec![id]));
                }
            }
        }
    }
    found
}

/// Leaves out elements that never hold prose. What is `walled` is not hidden.
pub(crate) fn leave_out_by_tag(tree: &Tree, start: Id, walled: &[bool], out: &mut [bool]) {
    let headings = counts(tree, is_heading);
    let links = counts(tree, |name| name == "a");
    let title = tree.first("h1").unwrap_or(0);
    for id in tree.subtree(start).skip(1) {
        out[id] = match tree.name(id) {
            "script" | "style" | "noscript" | "template" | "svg" | "iframe" | "object"
            | "embed" | "canvas" | "video" | "audio" | "figcaption" | "nav" | "menu" | "dialog"
            | "select" | "textarea" | "input" | "map" | "head" | "title" | "link" | "meta"
            | "datalist" | "progress" | "rp" | "rt" => true,
            // Some put the whole page into one.
            "aside" | "footer" => !tree.subtree(id).contains(&title),
            "header" => {
                links[tree.end(id)] - links[id] >= MENU
                    && !tree.subtree(id).contains(&title)
                    && !is_in_part(tree, id)
            }
            "button" => !heads(tree, id, &headings),
            "" => false,
            _ => !walled[id] && is_hidden(tree, id),
        };
    }
}

/// Whether an element belongs to a part of the page, not to the page.
fn is_in_part(tree: &Tree, id: Id) -> bool {
    tree.ancestors(id).any(|up| matches!(tree.name(up), "main" | "article" | "section"))
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
pub(crate) fn leave_out_by_name(
    tree: &Tree,
    start: Id,
    prose: &[i64],
    walled: &[bool],
    out: &mut [bool],
) {
    let mut names = verdicts(tree, start, out);
    for id in tree.subtree(start) {
        if walled[id] {
            names[id] = Beside::No;
        } else if names[id] == Beside::Wall {
            names[id] = Beside::Yes;
        }
    }
    let beside = leave_out(tree, start, prose, &names, out);
    let all = (prose[start] - beside).max(1);
    let titles = counts(tree, |name| matches!(name, "h1" | "article" | "main"));
    let pictures = counts(tree, |name| matches!(name, "img" | "picture"));
    each(tree, start, out, |id| {
        let limit = match if matches!(tree.name(id), "form" | "fieldset") {
            Beside::Maybe
        } else {
            names[id]
        } {
            Beside::No if holds(tree, id, &pictures) && is_called_picture(tree, id) => 5,
            Beside::No | Beside::Wall => return None,
            Beside::Maybe => 12,
            _ if holds(tree, id, &titles) => 10,
            _ => 45,
        };
        (prose[id] * 100 <= all * limit).then_some(0)
    });
}

/// Leaves out what is sure to be beside the article, however much it says: comments, lists of other articles, and boxes
/// that ask to fill in a form. Returns how much prose that is.
pub(crate) fn leave_out_others(
    tree: &Tree,
    start: Id,
    prose: &[i64],
    walled: &[bool],
    out: &mut [bool],
) -> i64 {
    let mut names = verdicts(tree, start, out);
    for id in tree.subtree(start).filter(|&id| walled[id]) {
        names[id] = Beside::No;
    }
    leave_out(tree, start, prose, &names, out)
}

/// The same by the names of all elements.
fn leave_out(tree: &Tree, start: Id, prose: &[i64], names: &[Beside], out: &mut [bool]) -> i64 {
    let is_little = |id: Id| prose[id] * 100 <= prose[start] * 95;
    let comments = each(tree, start, out, |id| {
        (names[id] == Beside::Comments && is_little(id)).then_some(prose[id])
    });
    // What stands around a form is the word that asks to fill it in.
    let forms: Vec<Id> =
        tree.subtree(start).filter(|&id| tree.name(id) == "form" && !out[id]).collect();
    let mut asks = vec![false; tree.len()];
    for up in forms.into_iter().map(|id| tree.parent(id)) {
        asks[up] = matches!(tree.name(up), "div" | "section" | "aside")
            && tree.end(up) - up <= MAX_ASKING_NODES
            && size(&tree.line(up)) <= MAX_ASKING;
    }
    each(tree, start, out, |id| (asks[id] && is_little(id)).then_some(0));
    let titles = counts(tree, |name| matches!(name, "h1" | "main"));
    let articles = counts(tree, |name| name == "article");
    let all = articles[tree.end(start)] - articles[start];
    // The only article of a page is not another.
    let is_own = |id: Id| {
        holds(tree, id, &titles)
            || all == 1 && holds(tree, id, &articles)
            || tree.subtree(id).any(|i| tree.attr(i, "itemprop") == "articleBody")
    };
    let others = each(tree, start, out, |id| {
        let is = names[id] >= Beside::Yes && is_of_others(tree, id);
        (is && is_little(id) && !is_own(id)).then_some(prose[id])
    });
    comments + others
}

/// Leaves out what asks for consent to cookies, which may say more than the page.
pub(crate) fn leave_out_consent(tree: &Tree, start: Id, out: &mut [bool]) {
    let is = |id: Id| {
        ["class", "id"].iter().any(|key| {
            tree.attr(id, key).split_ascii_whitespace().any(|name| is_consent(&tokens(name)))
        })
    };
    let titles = counts(tree, |name| matches!(name, "h1" | "article" | "main"));
    let mut before = vec![0; tree.len() + 1];
    let mut hidden = 0;
    for id in 0..tree.len() {
        if out[id] {
            hidden = hidden.max(tree.end(id));
        }
        before[id + 1] = before[id] + if id < hidden { 0 } else { tree.words(id).trim().len() };
    }
    let letters = |id: Id| before[tree.end(id)] - before[id];
    each(tree, start, out, |id| {
        let named = !holds(tree, id, &titles) && is(id);
        (named && letters(id) * 100 <= letters(start) * 97).then_some(0)
    });
}

/// Leaves out what frames a page, by its names: menus, banners, what filters and sorts. `sizes` are the letters in
/// each element; where people `talk`, what is called a comment is no frame.
pub(crate) fn leave_out_frame(tree: &Tree, start: Id, sizes: &[i64], talk: bool, out: &mut [bool]) {
    let names = verdicts(tree, start, out);
    let titles = counts(tree, |name| matches!(name, "h1" | "main"));
    let all = sizes[start].max(1);
    each(tree, start, out, |id| {
        let title = holds(tree, id, &titles);
        if tree.name(id) == "header" && !title && !is_in_part(tree, id) {
            return Some(0);
        }
        let limit = match names[id] {
            Beside::Hidden => 60,
            Beside::Yes if title => 8,
            Beside::Yes => 35,
            Beside::Comments if !talk => 95,
            _ if !title && is_control(tree, id) => 25,
            _ => return None,
        };
        (sizes[id] * 100 <= all * limit).then_some(0)
    });
}

/// Whether an element narrows or sorts what a page shows, waits beside it, or signs what somebody wrote.
fn is_control(tree: &Tree, id: Id) -> bool {
    let is = |word: &String| {
        matches!(
            word.as_str(),
            "filter"
                | "filters"
                | "facet"
                | "facets"
                | "refine"
                | "refinement"
                | "refinements"
                | "sort"
                | "sorting"
                | "swatch"
                | "swatches"
                | "quickview"
                | "minicart"
                | "drawer"
                | "megamenu"
                | "announcement"
                | "announcements"
                | "searchform"
                | "tooltip"
                | "snackbar"
                | "toast"
                | "loading"
                | "signature"
                | "userinfo"
                | "postprofile"
        )
    };
    ["class", "id"].iter().any(|key| {
        tree.attr(id, key).split_ascii_whitespace().any(|name| {
            let words = tokens(name);
            words.len() <= 5 && words.iter().any(is)
        })
    })
}

/// What the names of all elements say. Within a running sentence they say nothing of inline elements,
/// save that they are hidden: there they are about a link, a word, a day, and a word that goes leaves
/// a sentence that says something else.
fn verdicts(tree: &Tree, start: Id, out: &[bool]) -> Vec<Beside> {
    let mut names = vec![Beside::No; tree.len()];
    // How many letters without such a name stand between two boundaries of blocks, and between
    // which of them an element begins.
    let mut free = vec![0];
    let mut place = vec![0; tree.len()];
    let mut open: Vec<Id> = Vec::new();
    let mut named_to = 0;
    let mut at = start;
    while at < tree.end(start) {
        while open.last().is_some_and(|&id| tree.end(id) <= at) {
            open.pop();
            free.push(0);
        }
        let name = tree.name(at);
        let inline = is_inline(name);
        if out[at] {
            if !inline {
                free.push(0);
            }
            at = tree.end(at);
            continue;
        }
        place[at] = free.len() - 1;
        if tree.is_text(at) {
            if at >= named_to {
                free[place[at]] += size(tree.words(at));
            }
        } else {
            names[at] = beside(tree, at);
            if !inline {
                free.push(0);
                if name != "br" {
                    open.push(at);
                }
            } else if names[at] != Beside::No {
                named_to = named_to.max(tree.end(at));
            }
        }
        at += 1;
    }
    for id in tree.subtree(start) {
        if is_inline(tree.name(id)) && names[id] != Beside::Hidden && free[place[id]] >= SENTENCE {
            names[id] = Beside::No;
        }
    }
    names
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
    /// What readers pay for, or what asks them to.
    Wall,
    /// Often beside the article, if it is small.
    Maybe,
    /// Beside the article, if it is not most of the page.
    Yes,
    /// Not to be seen.
    Hidden,
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
    // The id of a heading is an anchor.
    let keys: &[&str] = if is_heading(tree.name(id)) { &["class"] } else { &["class", "id"] };
    for key in keys {
        for name in tree.attr(id, key).split_ascii_whitespace() {
            worst = worst.max(judge(name));
        }
    }
    // What heads or leads is named for its look; a teaser of another article is more than a paragraph.
    let own = || is_heading(tree.name(id)) || tree.name(id) == "p" && is_called_lead(tree, id);
    if worst == Beside::Maybe && own() { Beside::No } else { worst }
}

/// Whether an element holds comments.
pub(crate) fn is_comment(tree: &Tree, id: Id) -> bool {
    beside(tree, id) == Beside::Comments
        && !matches!(tree.name(id), "html" | "body" | "main" | "article")
}

/// Whether an element is a picture with what is said of it, or what somebody posted elsewhere.
pub(crate) fn is_picture(tree: &Tree, id: Id) -> bool {
    match tree.name(id) {
        "figure" | "figcaption" => true,
        "blockquote" => ["instagram-media", "twitter-tweet", "tiktok-embed", "bluesky-embed"]
            .iter()
            .any(|name| tree.attr(id, "class").contains(name)),
        _ => tree.attr(id, "itemtype").ends_with("/ImageObject"),
    }
}

/// Whether a box is called a picture: beside it are its caption and who took it.
fn is_called_picture(tree: &Tree, id: Id) -> bool {
    !matches!(tree.name(id), "p" | "section" | "table" | "td" | "tr" | "ul" | "ol")
        && tree.attr(id, "class").split_ascii_whitespace().any(|name| {
            let words = tokens(name);
            words.len() <= 4
                && words.iter().any(|word| {
                    matches!(
                        word.as_str(),
                        "img"
                            | "image"
                            | "images"
                            | "photo"
                            | "picture"
                            | "pic"
                            | "bild"
                            | "foto"
                            | "thumb"
                            | "thumbnail"
                    )
                })
        })
}

/// Whether an element lists other articles, by its name.
pub(crate) fn is_of_others(tree: &Tree, id: Id) -> bool {
    !matches!(tree.name(id), "html" | "body" | "main" | "article" | "time" | "a")
        && ["class", "id"].iter().any(|key| {
            tree.attr(id, key).split_ascii_whitespace().any(|name| {
                let words = tokens(name);
                // What an article is filed under: `category-trending`.
                let is_filed =
                    matches!(words.first().map(String::as_str), Some("category" | "tag"));
                words.len() <= 4
                    && !is_filed
                    && words.iter().any(|word| {
                        matches!(
                            word.as_str(),
                            "related"
                                | "recommended"
                                | "recirc"
                                | "trending"
                                | "outbrain"
                                | "taboola"
                        )
                    })
            })
        })
}

/// Whether an element is called a lead, or one around it that does not hold the title.
pub(crate) fn is_lead(tree: &Tree, id: Id, title: Id) -> bool {
    let around = std::iter::once(id).chain(tree.ancestors(id));
    let own = around.take_while(|&up| !tree.subtree(up).contains(&title));
    own.take(4).any(|up| is_called_lead(tree, up))
}

fn is_called_lead(tree: &Tree, id: Id) -> bool {
    let is = |word: &String| {
        matches!(
            word.as_str(),
            "lead"
                | "lede"
                | "leadin"
                | "subtitle"
                | "subtitles"
                | "subhead"
                | "subheading"
                | "subheadline"
                | "subline"
                | "standfirst"
                | "dek"
                | "deck"
                | "excerpt"
                | "summary"
                | "intro"
                | "introduction"
                | "abstract"
                | "description"
                | "teaser"
                | "strapline"
                | "chapo"
                | "chapeau"
                | "entradilla"
                | "bajada"
                | "vorspann"
                | "ingress"
                | "sapo"
                | "spot"
                | "synopsis"
        )
    };
    tree.attr(id, "itemprop") == "description"
        || ["class", "id", "data-testid"].iter().any(|key| {
            let mut names = tree.attr(id, key).split_ascii_whitespace().take(20);
            names.any(|name| name.len() < 60 && tokens(name).iter().any(is))
        })
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
        return Beside::Hidden;
    }
    if lower == "paywall" {
        return Beside::Wall;
    }
    if lower == "widget" || lower.starts_with("widget_") {
        return Beside::Maybe;
    }
    let mut worst = Beside::No;
    let words = tokens(name);
    // What somebody posted elsewhere is part of what is said here.
    let embedded =
        words.iter().any(|word| matches!(word.as_str(), "embed" | "embedded" | "oembed"));
    // A long one is a sentence: the anchor of a heading; `has-sidebar` is about another.
    if words.len() > 4
        || words
            .first()
            .is_some_and(|w| matches!(w.as_str(), "has" | "no" | "with" | "is" | "not" | "without"))
    {
        return Beside::No;
    }
    if is_shown_on_hover(&words) {
        return Beside::Hidden;
    }
    for token in words {
        let verdict = match token.as_str() {
            "social" if embedded => Beside::No,
            "comment" | "comments" | "commentaires" | "comentarios" | "commenti" | "kommentare"
            | "kommentarer" | "reacties" | "yorumlar" | "disqus" | "commentlist" | "respond"
            | "commentform" | "replies" => Beside::Comments,
            "nav" | "navbar" | "navigation" | "subnav" | "menu" | "submenu" | "footer"
            | "sidebar" | "related" | "share" | "sharing" | "sharebar" | "social" | "sociable"
            | "newsletter" | "subscribe" | "cookie" | "cookies" | "consent" | "gdpr"
            | "breadcrumb" | "breadcrumbs" | "promo" | "advert" | "advertisement" | "ads"
            | "ad" | "adsbygoogle" | "sponsor" | "sponsored" | "outbrain" | "taboola" | "popup"
            | "modal" | "overlay" | "pagination" | "pager" | "recommended" | "recommendations"
            | "recommendation" | "byline" | "paywall" | "login" | "signup" | "signin"
            | "regist" | "register" | "popular" | "trending" | "toolbar" | "sharedaddy" | "jp"
            | "addtoany" | "banner" | "skip" | "noprint" | "tagcloud" | "syndication"
            | "criteo" | "poll" | "polls" | "shoutbox" | "masthead" | "timestamp"
            | "printfriendly" | "tags" | "taglist" => Beside::Yes,
            "author" | "authors" | "bio" | "meta" | "metadata" | "rating" | "ratings"
            | "teaser" | "teasers" | "button" | "btn" | "cta" | "next" | "prev" | "previous"
            | "rail" | "credit" | "credits" | "copyright" | "infobox" | "tool" | "tools"
            | "print" | "toc" | "search" | "form" | "slider" | "carousel" | "caption"
            | "dateline" | "date" | "time" | "tag" | "category" | "categories" | "topics"
            | "donate" | "count" | "counter" | "counts" | "votes" | "stories" | "bar" | "icon"
            | "icons" | "links" => Beside::Maybe,
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

/// Whether a name is that of what shows when the mouse is over a word, not of the word: `tooltip-content`.
fn is_shown_on_hover(words: &[String]) -> bool {
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    any(&["tooltiptext"])
        || any(&["hovercard", "popover", "tooltip", "rollover"])
            && any(&["block", "content", "text", "box", "body", "inner", "panel", "card"])
}

/// Whether a name is that of a box that asks for consent: of those who make them, or `cookie-banner`.
fn is_consent(words: &[String]) -> bool {
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    any(&[
        "onetrust",
        "didomi",
        "usercentrics",
        "cybot",
        "cybotcookiebotdialog",
        "cmplz",
        "cky",
        "osano",
        "iubenda",
        "truste",
        "klaro",
        "termly",
        "borlabs",
        "cookiebanner",
        "cookiebar",
        "cookieconsent",
        "cookielaw",
    ]) || any(&["cookie", "cookies", "gdpr", "consent"])
        && any(&[
            "banner", "bar", "notice", "popup", "modal", "dialog", "overlay", "consent", "message",
            "alert", "box", "sdk", "manager",
        ])
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
