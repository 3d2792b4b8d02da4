//! The graph against a slow count: random histories of pages that appear, change, break, are
//! forgotten; runs written, merged, thrown away at any moment; everything that can be asked
//! compared.
//!
//! Small alphabets, so that everything collides with everything: four hosts of three sites, three
//! pages each. `PROPTEST_CASES=2000 cargo test -p argiope-graph --test model` looks longer.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_graph::Graph;
use argiope_model::{Link, LinkKind};
use argiope_store::{Ended, MalformedLink};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scene::{SUFFIXES, Scene, check, link, malformed};

const MEMORY: u64 = 1 << 20;

fn config() -> ProptestConfig {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if asked { ProptestConfig::default().cases } else { 96 };
    let failure_persistence =
        Some(Box::new(FileFailurePersistence::WithSource("regressions")) as Box<_>);
    ProptestConfig { cases, failure_persistence, ..ProptestConfig::default() }
}

#[derive(Clone, Debug)]
enum Step {
    Visit(usize, Ended, Option<(Vec<Link>, Vec<MalformedLink>)>),
    CatchUp(usize),
    Flush,
    Settle,
    /// Everything that is only in memory is lost.
    Crash,
    Rebuild,
    Ask,
}

fn name(n: usize) -> String {
    let hosts = ["http://a.test", "http://www.a.test", "https://b.test", "http://c.test:81"];
    format!("{}/{}", hosts[n % 4], n / 4)
}

const OUTSIDE: &str = "http://outside.test/x";

fn any_link() -> impl Strategy<Value = Link> {
    let kinds = [
        LinkKind::Anchor,
        LinkKind::Anchor,
        LinkKind::Anchor,
        LinkKind::Area,
        LinkKind::Iframe,
        LinkKind::Canonical,
        LinkKind::Redirect,
    ];
    let words = ["", "here", "more"];
    (0..13usize, 0..kinds.len(), 0..words.len(), prop::bool::weighted(0.3)).prop_map(
        move |(to, kind, say, nofollow)| {
            let to = if to == 12 { OUTSIDE.to_owned() } else { name(to) };
            link(&to, words[say], kinds[kind], nofollow)
        },
    )
}

/// One link for each URL and kind, as parsing leaves them.
fn distinct(links: Vec<Link>) -> Vec<Link> {
    let mut out: Vec<Link> = Vec::new();
    for link in links {
        if !out.iter().any(|l| l.url == link.url && l.kind == link.kind) {
            out.push(link);
        }
    }
    out
}

fn step() -> impl Strategy<Value = Step> {
    let bad = prop_oneof![4 => Just(vec![]), 1 => Just(vec![malformed("http://[")])];
    let page = (prop::collection::vec(any_link(), 0..6).prop_map(distinct), bad);
    prop_oneof![
        12 => (0..12usize, page).prop_map(|(n, page)| Step::Visit(n, Ended::WithPage, Some(page))),
        1 => (0..12usize).prop_map(|n| Step::Visit(n, Ended::WithPage, None)),
        2 => (0..12usize).prop_map(|n| Step::Visit(n, Ended::Broken, None)),
        1 => (0..12usize).prop_map(|n| Step::Visit(n, Ended::LeftAlone, None)),
        1 => (0..12usize).prop_map(|n| Step::Visit(n, Ended::Open, None)),
        1 => (0..12usize).prop_map(|n| Step::Visit(n, Ended::Forgotten, None)),
        4 => (1..9usize).prop_map(Step::CatchUp),
        6 => Just(Step::Flush),
        1 => Just(Step::Settle),
        2 => Just(Step::Crash),
        1 => Just(Step::Rebuild),
        1 => Just(Step::Ask),
    ]
}

fn run(steps: &[Step]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("graph");
    let mut scene = Scene::default();
    let mut graph = Graph::open(&dir, MEMORY).unwrap();
    for step in steps {
        match step {
            Step::Visit(n, ended, page) => {
                let page = page.as_ref().map(|(links, bad)| (&links[..], &bad[..]));
                scene.visit(&name(*n), *ended, page);
            }
            Step::CatchUp(limit) => {
                graph.catch_up(&scene, &SUFFIXES, *limit).unwrap();
            }
            Step::Flush => graph.flush().unwrap(),
            Step::Settle => graph.settle().unwrap(),
            Step::Crash => graph = Graph::open(&dir, MEMORY).unwrap(),
            Step::Rebuild => graph = Graph::rebuild(&dir, MEMORY).unwrap(),
            Step::Ask => ask(&mut graph, &scene),
        }
    }
    ask(&mut graph, &scene);
    graph.flush().unwrap();
    ask(&mut graph, &scene);
    let mut again = Graph::open(&dir, MEMORY).unwrap();
    let progress = again.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!(progress.rows, 0, "what was flushed is not read again");
    ask(&mut again, &scene);
    let mut anew = Graph::rebuild(&dir, MEMORY).unwrap();
    ask(&mut anew, &scene);
    anew.settle().unwrap();
    ask(&mut anew, &scene);
    assert!(anew.size().runs <= 1);
}

fn ask(graph: &mut Graph, scene: &Scene) {
    let progress = graph.catch_up(scene, &SUFFIXES, usize::MAX).unwrap();
    assert!(!progress.more && !progress.rebuilt);
    check(&graph.view().unwrap(), scene, &[OUTSIDE]);
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_graph_knows_what_a_slow_count_finds(steps in prop::collection::vec(step(), 1..80)) {
        run(&steps);
    }
}
