//! The text of documents as a browser's tree has it.
//!
//! The tree of every case is reduced to what this crate extracts: the characters of its visible
//! text, in any order (misplaced content moves in a tree; here it stays where it is written),
//! and the references of its links.

use crate::{assert_none, cases};
use argiope_model::LinkKind;
use argiope_parse::parse_html;
use serde_json::Value;

/// Where the extraction differs from the tree, and why.
const ON_PURPOSE: [(&str, &str); 17] = [
    ("wpt-misc/html5test-com.dat/2#3", "CDATA directly in foreignObject: no tree, no memory of it"),
    ("wpt-misc/noscript01.dat/1#4", "noframes is markup here"),
    ("wpt-misc/plain-text-unsafe.dat/1#5", "NUL in SVG is dropped, as in HTML"),
    ("wpt-misc/plain-text-unsafe.dat/5#4", "NUL in MathML is dropped, as in HTML"),
    ("wpt-misc/plain-text-unsafe.dat/5#5", "NUL in MathML is dropped, as in HTML"),
    ("wpt-misc/plain-text-unsafe.dat/5#6", "NUL in MathML is dropped, as in HTML"),
    ("wpt-misc/tests15.dat/2", "noframes is markup here"),
    ("wpt-misc/tests16.dat/15", "noframes is markup here"),
    ("wpt-misc/tests16.dat/31", "noframes is markup here"),
    ("wpt-misc/tests16.dat/31#2", "noframes is markup here"),
    ("wpt-misc/tests19.dat/6#5", "text beside a frameset is kept"),
    ("wpt-misc/tests2.dat/1", "text beside a frameset is kept"),
    ("wpt-misc/tests2.dat/1#2", "text beside a frameset is kept"),
    ("wpt-misc/webkit02.dat/7#3", "the chosen option is not shown twice"),
    ("wpt-misc/webkit02.dat/7#4", "the chosen option is not shown twice"),
    ("wpt-misc/webkit02.dat/7#5", "the chosen option is not shown twice"),
    ("wpt-misc/webkit02.dat/7#6", "the chosen option is not shown twice"),
];

/// Visible characters and link references of a tree in the notation of the suite.
fn reduce(tree: &str) -> (Vec<char>, Vec<String>) {
    let (mut chars, mut links) = (Vec::new(), Vec::new());
    let mut path: Vec<String> = Vec::new();
    let mut in_text = false;
    for line in tree.lines() {
        let item =
            line.strip_prefix("| ").map(|l| (l.len() - l.trim_start().len(), l.trim_start()));
        let hidden = |path: &[String]| {
            path.iter().any(|p| {
                matches!(
                    p.as_str(),
                    "script" | "style" | "title" | "template" | "iframe" | "noembed"
                ) || p.ends_with(" title")
            })
        };
        match item {
            Some((indent, node)) if !in_text => {
                path.truncate(indent / 2);
                if let Some(name) = node.strip_prefix('<') {
                    if !node.starts_with("<!") && !node.starts_with("<?") {
                        path.push(name.trim_end_matches('>').to_owned());
                    }
                } else if let Some(text) = node.strip_prefix('"') {
                    in_text = !text.ends_with('"');
                    if !hidden(&path) {
                        chars.extend(text.strip_suffix('"').unwrap_or(text).chars());
                    }
                } else if let Some(href) = node.strip_prefix("href=\"")
                    && path.last().is_some_and(|p| p == "a")
                    && !href.starts_with('#')
                {
                    links.push(href.trim_end_matches('"').to_owned());
                }
            }
            _ if in_text => {
                in_text = !line.ends_with('"');
                if !hidden(&path) {
                    chars.extend(line.strip_suffix('"').unwrap_or(line).chars());
                }
            }
            _ => {}
        }
    }
    chars.retain(|c| !c.is_whitespace() && !c.is_control());
    chars.sort_unstable();
    (chars, links)
}

#[test]
fn text_and_links_are_those_of_the_tree() {
    let Some(cases) = cases("wpt-misc", "html-tree") else { return };
    let mut documents = 0;
    let mut wrong = Vec::new();
    for case in &cases {
        let input = &case["input"];
        // Parts of documents, and documents whose tree depends on running scripts.
        if input["fragment"] != Value::Null || input["scripting"] == Value::Bool(true) {
            continue;
        }
        documents += 1;
        let (chars, links) = reduce(case["expected"]["tree"].as_str().unwrap());
        let page = parse_html(input["html"].as_str().unwrap().as_bytes(), Some("utf-8"));
        let mut got: Vec<char> =
            page.text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
        got.sort_unstable();
        let anchors = page.links.iter().filter(|l| l.kind == LinkKind::Anchor);
        let mut hrefs: Vec<&str> = anchors.map(|l| l.href.as_str()).collect();
        // The tree repeats a link whose element was closed and opened again.
        let mut links: Vec<&str> = links.iter().map(String::as_str).collect();
        for list in [&mut hrefs, &mut links] {
            list.sort_unstable();
            list.dedup();
        }
        let id = case["id"].as_str().unwrap();
        let is_same = got == chars && hrefs == links;
        if is_same == ON_PURPOSE.iter().any(|(known, _)| *known == id) {
            wrong.push(format!(
                "{id} {}: {got:?} {hrefs:?}, not {chars:?} {links:?}",
                input["html"]
            ));
        }
    }
    println!("{documents} documents, {} differ on purpose", ON_PURPOSE.len());
    assert_none(&wrong, documents);
}
