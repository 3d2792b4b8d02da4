//! The link graph in forms that graph tools read.
//!
//! * What this is: writers of three forms, fed by a [`LinkSource`]: an edge list (tab-separated),
//!   GraphML (NetworkX, Gephi, yEd …), and the text form of WebGraph (`BASE.graph-txt`: the number
//!   of nodes, then the successors of each; `BASE.urls`: the URL of each node).
//! * Its place: `export graph`. [`StoredLinks`] reads the forward links of the store, which are
//!   those of the latest captures.
//! * What counts as an edge: what a reader follows, as for back-links; once for each pair, with a
//!   count and the words. GraphML and WebGraph hold the URLs known here; the edge list also those
//!   that links lead to and nobody has asked for.
//! * Invariant: memory grows by twelve bytes a node at most; all else streams.

use crate::data_dir::DataDir;
use crate::export::{Failure, each_url};
use argiope_archive::read_text;
use argiope_model::{CanonicalUrl, LinkKind, OutcomeKind, Suffixes, UrlKey};
use argiope_store::{Store, UrlState, decode_links};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A URL of the graph.
#[derive(Clone, Copy, Debug)]
pub struct GraphNode<'a> {
    /// Its document number.
    pub doc: u64,
    /// The URL.
    pub url: &'a str,
    /// Its title, where it is known and was asked for.
    pub title: Option<&'a str>,
}

/// All links of one page to one URL.
#[derive(Clone, Copy, Debug)]
pub struct GraphEdge<'a> {
    /// The page that links.
    pub source: u64,
    /// Its URL.
    pub source_url: &'a str,
    /// The document number of the target; `None` where only its URL is known.
    pub target: Option<u64>,
    /// The URL of the target.
    pub target_url: &'a str,
    /// The words of the links, each once.
    pub words: &'a [Box<str>],
    /// How many links there are.
    pub count: u64,
}

/// Takes nodes as they come.
pub type TakeNode<'a> = &'a mut dyn FnMut(GraphNode<'_>) -> Result<(), Failure>;
/// Takes edges as they come.
pub type TakeEdge<'a> = &'a mut dyn FnMut(GraphEdge<'_>) -> Result<(), Failure>;

/// Where nodes and edges come from; both may be asked for several times.
pub trait LinkSource {
    /// Every node once, in an order that stays; with titles if told so.
    fn nodes(&self, titles: bool, take: TakeNode<'_>) -> Result<(), Failure>;
    /// Every edge once, those of one page together, pages in the order of the nodes.
    fn edges(&self, take: TakeEdge<'_>) -> Result<(), Failure>;
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphExported {
    /// Nodes written.
    pub nodes: u64,
    /// Edges written.
    pub edges: u64,
}

/// The forms that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphForm {
    /// Lines of source, target, count and words, separated by tabs.
    Edges,
    /// GraphML.
    GraphMl,
    /// The text form of WebGraph: two files.
    WebGraph,
}

/// Writes the graph; `out` is the file, or the beginning of the names of two.
pub fn export_graph(
    source: &dyn LinkSource,
    form: GraphForm,
    out: &Path,
) -> Result<GraphExported, Failure> {
    let create = |path: &Path| {
        let file = File::create(path).map_err(|e| format!("cannot write {}: {e}", path.display()));
        file.map(|file| BufWriter::with_capacity(128 << 10, file))
    };
    let mut file;
    let done = match form {
        GraphForm::Edges => {
            file = create(out)?;
            write_edges(source, &mut file)?
        }
        GraphForm::GraphMl => {
            file = create(out)?;
            write_graphml(source, &mut file)?
        }
        GraphForm::WebGraph => {
            file = create(&with_ending(out, "graph-txt"))?;
            let mut urls = create(&with_ending(out, "urls"))?;
            let done = write_webgraph(source, &mut file, &mut urls)?;
            urls.flush()?;
            done
        }
    };
    file.flush()?;
    Ok(done)
}

/// `BASE.ending`, whatever dots the base has.
fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Writes a line for each edge: source URL, target URL, number of links, words.
pub fn write_edges(source: &dyn LinkSource, out: &mut dyn Write) -> Result<GraphExported, Failure> {
    let mut done = GraphExported::default();
    writeln!(out, "source\ttarget\tcount\twords")?;
    let mut last = None;
    source.edges(&mut |edge| {
        done.edges += 1;
        done.nodes += u64::from(last.replace(edge.source) != Some(edge.source));
        write!(out, "{}\t{}\t{}\t", edge.source_url, edge.target_url, edge.count)?;
        for (n, words) in edge.words.iter().enumerate() {
            let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
            write!(out, "{}{line}", if n == 0 { "" } else { " | " })?;
        }
        Ok(out.write_all(b"\n")?)
    })?;
    Ok(done)
}

/// Writes GraphML: nodes with `url` and `label`, directed edges with `weight` and `words`.
pub fn write_graphml(
    source: &dyn LinkSource,
    out: &mut dyn Write,
) -> Result<GraphExported, Failure> {
    let mut done = GraphExported::default();
    let mut known: Vec<u64> = Vec::new();
    out.write_all(GRAPHML_HEAD.as_bytes())?;
    source.nodes(true, &mut |node| {
        done.nodes += 1;
        known.push(node.doc);
        write!(out, "<node id=\"n{}\"><data key=\"url\">", node.doc)?;
        escape(out, node.url)?;
        out.write_all(b"</data>")?;
        if let Some(title) = node.title.filter(|t| !t.is_empty()) {
            out.write_all(b"<data key=\"label\">")?;
            escape(out, title)?;
            out.write_all(b"</data>")?;
        }
        Ok(out.write_all(b"</node>\n")?)
    })?;
    known.sort_unstable();
    source.edges(&mut |edge| {
        let Some(target) = edge.target.filter(|doc| known.binary_search(doc).is_ok()) else {
            return Ok(());
        };
        done.edges += 1;
        write!(out, "<edge source=\"n{}\" target=\"n{target}\">", edge.source)?;
        write!(out, "<data key=\"weight\">{}</data>", edge.count)?;
        if edge.words.iter().any(|words| !words.is_empty()) {
            out.write_all(b"<data key=\"words\">")?;
            escape(out, &edge.words.join(" | "))?;
            out.write_all(b"</data>")?;
        }
        Ok(out.write_all(b"</edge>\n")?)
    })?;
    out.write_all(b"</graph>\n</graphml>\n")?;
    Ok(done)
}

const GRAPHML_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<key id="label" for="node" attr.name="label" attr.type="string"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<key id="words" for="edge" attr.name="words" attr.type="string"/>
<graph id="links" edgedefault="directed">
"#;

/// Text as XML takes it; characters that XML 1.0 cannot hold become U+FFFD.
fn escape(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => clean.push_str("&amp;"),
            '<' => clean.push_str("&lt;"),
            '>' => clean.push_str("&gt;"),
            '\t' | '\n' | '\r' => clean.push(' '),
            '\0'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => clean.push('\u{fffd}'),
            c => clean.push(c),
        }
    }
    Ok(out.write_all(clean.as_bytes())?)
}

/// Writes the text form of WebGraph: the number of nodes, then for each a line with the numbers
/// of its successors, rising; and the URL of each node on a line of its own.
pub fn write_webgraph(
    source: &dyn LinkSource,
    out: &mut dyn Write,
    urls: &mut dyn Write,
) -> Result<GraphExported, Failure> {
    let mut done = GraphExported::default();
    let mut numbers: Vec<(u64, u32)> = Vec::new();
    source.nodes(false, &mut |node| {
        let number = u32::try_from(numbers.len()).map_err(|_| "more nodes than WebGraph takes")?;
        numbers.push((node.doc, number));
        Ok(writeln!(urls, "{}", node.url)?)
    })?;
    numbers.sort_unstable();
    let number_of = |doc: u64| {
        let found = numbers.binary_search_by_key(&doc, |(doc, _)| *doc);
        found.ok().map(|at| numbers[at].1)
    };
    done.nodes = numbers.len() as u64;
    writeln!(out, "{}", numbers.len())?;
    let mut at: u32 = 0;
    let mut successors: Vec<u32> = Vec::new();
    let mut line = |successors: &mut Vec<u32>| -> Result<(), Failure> {
        successors.sort_unstable();
        successors.dedup();
        done.edges += successors.len() as u64;
        for (n, successor) in successors.drain(..).enumerate() {
            write!(out, "{}{successor}", if n == 0 { "" } else { " " })?;
        }
        Ok(out.write_all(b"\n")?)
    };
    source.edges(&mut |edge| {
        let Some(number) = number_of(edge.source) else { return Ok(()) };
        if number < at {
            return Err("the links changed while they were read; try again".into());
        }
        while at < number {
            line(&mut successors)?;
            at += 1;
        }
        successors.extend(edge.target.and_then(number_of));
        Ok(())
    })?;
    while u64::from(at) < numbers.len() as u64 {
        line(&mut successors)?;
        at += 1;
    }
    Ok(done)
}

/// The forward links of a store.
pub struct StoredLinks<'a> {
    dir: &'a DataDir,
    store: &'a dyn Store,
    pinned: Arc<Suffixes>,
}

impl<'a> StoredLinks<'a> {
    /// The links of everything in a directory.
    pub fn new(dir: &'a DataDir, store: &'a dyn Store) -> Self {
        StoredLinks { dir, store, pinned: dir.suffixes().clone() }
    }

    fn title(&self, key: UrlKey) -> Result<Option<String>, Failure> {
        let captures = self.store.captures(key)?;
        let document = captures.iter().rev().find(|c| c.outcome.kind == OutcomeKind::Fetched);
        let Some(at) = document.and_then(|c| c.text) else { return Ok(None) };
        Ok(Some(read_text(&self.dir.text(), at)?.title))
    }
}

impl LinkSource for StoredLinks<'_> {
    fn nodes(&self, titles: bool, take: TakeNode<'_>) -> Result<(), Failure> {
        each_url(self.store, |key, row| {
            let wanted = titles && row.fetched_at.is_some();
            let title = if wanted { self.title(key)? } else { None };
            take(GraphNode { doc: row.doc.0, url: row.url.as_str(), title: title.as_deref() })
        })
    }

    fn edges(&self, take: TakeEdge<'_>) -> Result<(), Failure> {
        each_url(self.store, |key, row| {
            // A page that was given up, or not taken, links nowhere now.
            let gone = matches!(row.state, UrlState::Failed | UrlState::Skipped(_));
            if gone || row.fetched_at.is_none() {
                return Ok(());
            }
            let Some(blob) = self.store.links(&[key])?.pop().flatten() else { return Ok(()) };
            let mut targets: BTreeMap<UrlKey, (CanonicalUrl, Vec<Box<str>>, u64)> = BTreeMap::new();
            for link in decode_links(&blob)? {
                use LinkKind::{Anchor, Area, Frame, Iframe};
                if !matches!(link.kind, Anchor | Area | Frame | Iframe) {
                    continue;
                }
                let target = targets
                    .entry(link.url.key(&self.pinned))
                    .or_insert_with(|| (link.url.clone(), Vec::new(), 0));
                target.2 += u64::from(link.count);
                if !link.words.is_empty() && !target.1.contains(&link.words) {
                    target.1.push(link.words);
                }
            }
            let keys: Vec<UrlKey> = targets.keys().copied().collect();
            let rows = self.store.urls(&keys)?;
            for ((url, words, count), known) in targets.values().zip(rows) {
                take(GraphEdge {
                    source: row.doc.0,
                    source_url: row.url.as_str(),
                    target: known.map(|known| known.doc.0),
                    target_url: url.as_str(),
                    words,
                    count: *count,
                })?;
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three pages; the second has no links, the third links outside.
    struct Three;

    impl LinkSource for Three {
        fn nodes(&self, titles: bool, take: TakeNode<'_>) -> Result<(), Failure> {
            let rows = [
                (40, "http://a/?x&y", "A <b> & \u{1}"),
                (7, "http://b/", ""),
                (9, "http://c/", "C"),
            ];
            for (doc, url, title) in rows {
                take(GraphNode { doc, url, title: titles.then_some(title) })?;
            }
            Ok(())
        }

        fn edges(&self, take: TakeEdge<'_>) -> Result<(), Failure> {
            let words: [Box<str>; 2] = ["to\tC".into(), "<again>".into()];
            let edge = GraphEdge {
                source: 40,
                source_url: "http://a/?x&y",
                target: Some(9),
                target_url: "http://c/",
                words: &words,
                count: 3,
            };
            take(edge)?;
            take(GraphEdge { target: Some(7), target_url: "http://b/", words: &[], ..edge })?;
            let (source, source_url) = (9, "http://c/");
            take(GraphEdge { source, source_url, target: None, target_url: "http://d/", ..edge })
        }
    }

    fn text(
        write: impl FnOnce(&mut Vec<u8>) -> Result<GraphExported, Failure>,
    ) -> (String, u64, u64) {
        let mut out = Vec::new();
        let done = write(&mut out).expect("memory takes all");
        (String::from_utf8(out).expect("text"), done.nodes, done.edges)
    }

    #[test]
    fn an_edge_list_has_a_line_for_each_pair() {
        let (list, _, edges) = text(|out| write_edges(&Three, out));
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!((edges, lines.len()), (3, 4));
        assert_eq!(lines[1], "http://a/?x&y\thttp://c/\t3\tto C | <again>");
        assert_eq!(lines[2], "http://a/?x&y\thttp://b/\t3\t");
        assert_eq!(lines[3], "http://c/\thttp://d/\t3\tto C | <again>");
    }

    #[test]
    fn graphml_holds_what_xml_can_and_edges_between_known_nodes() {
        let (xml, nodes, edges) = text(|out| write_graphml(&Three, out));
        assert_eq!((nodes, edges), (3, 2));
        assert!(xml.contains("<data key=\"label\">A &lt;b&gt; &amp; \u{fffd}</data>"), "{xml}");
        assert!(xml.contains("<edge source=\"n40\" target=\"n9\">"), "{xml}");
        assert!(xml.contains("<data key=\"words\">to C | &lt;again&gt;</data>"), "{xml}");
        assert!(!xml.contains("n7\"><data key=\"label\""), "no title, no label");
    }

    #[test]
    fn webgraph_numbers_nodes_in_order_and_successors_rise() {
        let mut urls = Vec::new();
        let (list, nodes, edges) = text(|out| write_webgraph(&Three, out, &mut urls));
        assert_eq!((nodes, edges), (3, 2));
        assert_eq!(list, "3\n1 2\n\n\n");
        assert_eq!(String::from_utf8(urls).expect("text"), "http://a/?x&y\nhttp://b/\nhttp://c/\n");
    }
}
