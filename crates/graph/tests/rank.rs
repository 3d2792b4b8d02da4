//! Ranks of a followed store against figures computed the slow way from the same store.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_graph::rank::{Measure, Of, RankOrder, Ranks, make};
use argiope_graph::{Graph, GraphError};
use argiope_model::{DocId, LinkKind};
use argiope_store::Ended;
use scene::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const MEMORY: u64 = 1 << 20;

fn ranked(graph: &mut Graph, scene: &Scene, dir: &Path, measure: Measure, of: Of) -> Ranks {
    graph.catch_up(scene, &SUFFIXES, usize::MAX).unwrap();
    let order = RankOrder { dir, measure, of, now_ms: 5, calm: true };
    make(&graph.view().unwrap(), scene, &SUFFIXES, &order).unwrap()
}

/// PageRank by its definition: nodes by name, edges between them.
fn slow<T: Ord + Clone>(nodes: &[T], edges: &BTreeSet<(T, T)>) -> BTreeMap<T, f64> {
    let n = nodes.len() as f64;
    let out = |node: &T| edges.iter().filter(|(from, _)| from == node).count() as f64;
    let mut x: BTreeMap<T, f64> = nodes.iter().map(|node| (node.clone(), 1.0 / n)).collect();
    for _ in 0..300 {
        let lost: f64 = nodes.iter().filter(|node| out(node) == 0.0).map(|node| x[node]).sum();
        let begin = (0.15 + 0.85 * lost) / n;
        let mut next: BTreeMap<T, f64> = nodes.iter().map(|node| (node.clone(), begin)).collect();
        for (from, to) in edges {
            *next.get_mut(to).unwrap() += 0.85 * x[from] / out(from);
        }
        x = next;
    }
    x
}

/// Every known URL by its document, and who links to whom of them.
fn pages(scene: &Scene) -> (Vec<DocId>, BTreeSet<(DocId, DocId)>) {
    let known: BTreeMap<_, DocId> = scene.urls.iter().map(|(key, row)| (*key, row.doc)).collect();
    let counted = Slow::of(scene).edges.into_iter().filter(|(_, _, counts, _)| *counts);
    let edges = counted.filter_map(|(to, from, ..)| Some((from, *known.get(&to)?))).collect();
    (known.into_values().collect(), edges)
}

fn check(ranks: &Ranks, scene: &Scene) {
    let (nodes, edges) = pages(scene);
    let wanted = slow(&nodes, &edges);
    assert_eq!(
        (ranks.about().nodes, ranks.about().edges),
        (nodes.len() as u64, edges.len() as u64)
    );
    let found = ranks.of_docs(&nodes).unwrap();
    for (node, found) in nodes.iter().zip(found) {
        assert!((found.unwrap() - wanted[node]).abs() < 1e-9, "{node}: {found:?} {}", wanted[node]);
    }
    let top = ranks.top_docs(nodes.len() + 5).unwrap();
    assert_eq!(top.len(), nodes.len());
    assert!(top.windows(2).all(|two| two[0].1 >= two[1].1));
}

fn small() -> Scene {
    let mut scene = Scene::default();
    let (a1, a2, b, c) = ("http://a.test/1", "http://a.test/2", "http://b.test/", "http://c.test/");
    let nofollow = link(b, "not followed", LinkKind::Area, true);
    scene.page(a1, &[a(a2, "two"), a(a2, "again"), nofollow, a("http://away.test/", "unknown")]);
    scene.page(a2, &[a(a1, "one"), a(a2, "itself"), link(c, "", LinkKind::Canonical, false)]);
    scene.page(b, &[a(c, "c"), a(a1, "one")]);
    // Known and never fetched; gone; asked for no more.
    scene.meet("http://d.test/queued");
    scene.visit(c, Ended::Broken, None);
    scene.visit("http://www.b.test/gone", Ended::Forgotten, None);
    scene
}

#[test]
fn every_known_url_is_ranked_as_the_definition_says() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = small();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let ranks = ranked(&mut graph, &scene, dir.path(), Measure::PageRank, Of::Pages);
    check(&ranks, &scene);
    assert_eq!((ranks.about().made_ms, ranks.about().read.is_empty()), (5, false));
    // What is on disk, replaced and new counts alike.
    graph.flush().unwrap();
    scene.page("http://a.test/1", &[a("http://c.test/", "now c")]);
    scene.page("http://c.test/", &[a("http://d.test/queued", "d")]);
    let newer = ranked(&mut graph, &scene, dir.path(), Measure::PageRank, Of::Pages);
    check(&newer, &scene);
    assert_ne!(newer.about().read, ranks.about().read);
    // What was open stays as it was; what is opened is new.
    let opened = Ranks::open(dir.path(), Measure::PageRank, Of::Pages).unwrap().unwrap();
    assert_eq!(opened.about(), newer.about());
    drop(graph);
    Graph::open(dir.path(), MEMORY).unwrap();
    assert!(Ranks::open(dir.path(), Measure::PageRank, Of::Pages).unwrap().is_some());
}

#[test]
fn harmonic_centrality_is_that_of_the_definition() {
    let dir = tempfile::tempdir().unwrap();
    let scene = small();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let ranks = ranked(&mut graph, &scene, dir.path(), Measure::Harmonic, Of::Pages);
    assert_eq!(ranks.about().error, 0.0, "a small graph is told exactly");
    let doc = |text: &str| scene.urls[&key(text)].doc;
    // c is linked to by b, b by a1, a1 by a2 (and b): one, a half, a third.
    let found = ranks.of_docs(&[doc("http://c.test/"), doc("http://d.test/queued")]).unwrap();
    assert!((found[0].unwrap() - (1.0 + 0.5 + 1.0 / 3.0)).abs() < 1e-12, "{found:?}");
    assert_eq!(found[1], Some(0.0));
}

#[test]
fn sites_are_ranked_by_links_between_them() {
    let dir = tempfile::tempdir().unwrap();
    let scene = small();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let ranks = ranked(&mut graph, &scene, dir.path(), Measure::PageRank, Of::Sites);
    let nodes = ["a.test", "b.test", "c.test", "d.test"];
    let edges = [("a.test", "b.test"), ("b.test", "c.test"), ("b.test", "a.test")];
    let wanted = slow(&nodes, &edges.into_iter().collect());
    for name in nodes {
        let origin = format!("http://{name}");
        let host = key(&format!("{origin}/")).host;
        let found = ranks.of_site(host, &origin, &SUFFIXES).unwrap();
        // The site of a host that was met: hosts of a site share one value.
        let found = found.unwrap_or_else(|| panic!("{name} has none"));
        assert!((found - wanted[name]).abs() < 1e-9, "{name}: {found} {}", wanted[name]);
    }
    assert_eq!(ranks.about().nodes, 4);
}

#[test]
fn an_empty_store_has_an_empty_rank_and_a_damaged_one_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let scene = Scene::default();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let ranks = ranked(&mut graph, &scene, dir.path(), Measure::PageRank, Of::Pages);
    assert!(ranks.top_docs(3).unwrap().is_empty());
    std::fs::write(ranks.path(), b"ArgioRnk\x01\0\0\0and then nothing of the kind").unwrap();
    let told = Ranks::open(dir.path(), Measure::PageRank, Of::Pages);
    assert!(matches!(told, Err(GraphError::Damaged { .. })));
}
