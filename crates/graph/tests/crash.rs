//! `kill -9` at any moment: a child follows a store again and again and is killed; what it left
//! is opened, catches up, and must know what a slow count finds.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_graph::Graph;
use argiope_model::Link;
use argiope_store::Ended;
use scene::{SUFFIXES, Scene, Slow, a};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const MEMORY: u64 = 1 << 20;
const CHILD: &str = "ARGIOPE_GRAPH_CHILD";
const PAGES: u32 = 700;

/// The same history in parent and child, up to a visit.
fn history(visits: u32) -> Scene {
    let mut scene = Scene::default();
    for n in 0..visits {
        let page = (n * 37) % PAGES;
        let name = |p: u32| format!("http://s{}.test/{p}", p % 11);
        let links: Vec<Link> = (0..12).map(|i| a(&name((page * i + n) % PAGES), "w")).collect();
        match n % 17 {
            5 => scene.visit(&name(page), Ended::Broken, None),
            9 => scene.visit(&name(page), Ended::Open, None),
            _ => scene.page(&name(page), &links),
        }
    }
    scene
}

const VISITS: u32 = 3_000;

/// The child: writes a run for every few rows, so that it is always writing or merging.
#[test]
fn a_child_that_follows_until_it_is_killed() {
    let Some(dir) = std::env::var_os(CHILD) else { return };
    let scene = history(VISITS);
    let mut graph = Graph::open(Path::new(&dir), MEMORY).unwrap();
    while graph.catch_up(&scene, &SUFFIXES, 7).unwrap().rows > 0 {
        graph.flush().unwrap();
    }
    std::fs::write(Path::new(&dir).join("done"), "").unwrap();
}

#[test]
fn counts_are_exact_after_a_kill_at_any_moment() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let scene = history(VISITS);
    let slow = Slow::of(&scene);
    let keys: Vec<_> = scene.urls.keys().copied().collect();
    let want: Vec<_> =
        keys.iter().map(|k| slow.counts.get(k).copied().unwrap_or_default()).collect();
    let dir = tempfile::tempdir().unwrap();
    let (mut kills, mut wait) = (0, 40);
    while kills < 25 && !dir.path().join("done").exists() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_child_that_follows_until_it_is_killed"])
            .env(CHILD, dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        wait += 13;
        // As the next start would find it, without writing anything that is not its own.
        let copy = tempfile::tempdir().unwrap();
        for entry in std::fs::read_dir(dir.path()).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
        let mut graph = Graph::open(copy.path(), MEMORY).unwrap();
        graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
        let view = graph.view().unwrap();
        assert_eq!(view.counts(&keys).unwrap(), want, "after kill {kills}");
        let mut edges = std::collections::BTreeSet::new();
        view.edges::<argiope_graph::GraphError>(|e| {
            assert!(edges.insert((e.target, e.source, e.counts, e.nofollow)));
            Ok(())
        })
        .unwrap();
        assert_eq!(edges, slow.edges, "after kill {kills}");
    }
    assert!(kills >= 5, "it was killed in the middle of its work, {kills} times");
}
