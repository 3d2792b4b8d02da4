//! Behaviours of the graph, one by one.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_graph::{By, Counts, Graph, GraphError, outgoing};
use argiope_model::{Link, LinkKind, Time};
use argiope_store::Ended;
use scene::*;
use std::path::{Path, PathBuf};

const MEMORY: u64 = 1 << 20;

fn followed(scene: &Scene, dir: &Path) -> Graph {
    let mut graph = Graph::open(dir, MEMORY).unwrap();
    graph.catch_up(scene, &SUFFIXES, usize::MAX).unwrap();
    graph
}

fn count(graph: &mut Graph, text: &str) -> (u64, u64) {
    let counts = graph.view().unwrap().counts(&[key(text)]).unwrap()[0];
    (counts.backlinks, counts.sites)
}

fn runs(dir: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    files.filter(|f| f.extension().is_some_and(|e| e == "run")).collect()
}

const X: &str = "http://x.test/";

#[test]
fn a_page_counts_once_however_often_it_links() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.meet(X);
    let area = link(X, "map", LinkKind::Area, true);
    scene.page("http://a.test/1", &[a(X, "one"), area]);
    scene.page("http://www.a.test/2", &[a(X, "one")]);
    scene.page(X, &[a(X, "self")]);
    scene.page("http://b.test/", &[link(X, "", LinkKind::Canonical, false)]);
    let mut graph = followed(&scene, dir.path());
    assert_eq!(count(&mut graph, X), (3, 2), "two sites, one of them its own");
    assert_eq!(count(&mut graph, "http://a.test/1"), (0, 0), "a start URL begins at 0");
    let incoming = graph.view().unwrap().incoming(&scene, &SUFFIXES, key(X), None, 99).unwrap();
    assert_eq!((incoming.others, incoming.rows.len()), (1, 5), "each kind is listed");
    let words: Vec<(&str, u64)> = incoming.words.iter().map(|(w, n)| (&w[..], *n)).collect();
    assert_eq!(words, [("one", 2), ("map", 1), ("self", 1)]);
    check(&graph.view().unwrap(), &scene, &[]);
}

#[test]
fn a_page_parsed_again_replaces_its_links() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.page("http://a.test/", &[a(X, "x"), a("http://y.test/", "y")]);
    let mut graph = followed(&scene, dir.path());
    graph.flush().unwrap();
    assert_eq!(count(&mut graph, X), (1, 1));
    scene.page("http://a.test/", &[a("http://y.test/", "y")]);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!(count(&mut graph, X), (0, 0));
    assert_eq!(count(&mut graph, "http://y.test/"), (1, 1));
    // A try that decides nothing leaves it as it was; giving up does not.
    scene.visit("http://a.test/", Ended::Open, None);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!(count(&mut graph, "http://y.test/"), (1, 1));
    scene.visit("http://a.test/", Ended::Broken, None);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!(count(&mut graph, "http://y.test/"), (0, 0));
    graph.settle().unwrap();
    check(&graph.view().unwrap(), &scene, &[X]);
}

#[test]
fn a_view_stays_as_it_was_while_the_graph_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.page("http://a.test/", &[a(X, "x")]);
    let mut graph = followed(&scene, dir.path());
    graph.flush().unwrap();
    let before = graph.view().unwrap();
    scene.page("http://b.test/", &[a(X, "x")]);
    scene.page("http://a.test/", &[]);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    graph.settle().unwrap();
    assert_eq!(before.counts(&[key(X)]).unwrap(), [Counts { backlinks: 1, sites: 1 }]);
    assert_eq!(before.top(By::Sites, 9).unwrap().len(), 1, "its files are gone and still read");
    assert_eq!(count(&mut graph, X), (1, 1));
}

#[test]
fn first_and_last_seen_are_those_of_the_same_content() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    let (old, new) = ([a(X, "old words that differ")], [a(X, "new")]);
    for links in [&old, &new, &new] {
        scene.page("http://a.test/", links);
    }
    scene.visit("http://a.test/", Ended::Open, None);
    let mut graph = followed(&scene, dir.path());
    let rows = graph.view().unwrap().incoming(&scene, &SUFFIXES, key(X), None, 9).unwrap().rows;
    assert_eq!((rows[0].first_seen, rows[0].last_seen), (Time(2_000), Time(3_000)));
    assert_eq!((&*rows[0].words, rows[0].source.as_str()), ("new", "http://a.test/"));
    assert_eq!(outgoing(&scene, key("http://a.test/")).unwrap().links, new);
}

#[test]
fn the_words_most_pages_use_describe_a_url() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    for (n, words) in ["", "", "", "B", "A", "B"].iter().enumerate() {
        scene.page(&format!("http://a.test/{n}"), &[a(X, words)]);
    }
    scene.page("http://b.test/", &[link(X, "canonical", LinkKind::Canonical, false)]);
    let view = followed(&scene, dir.path()).view().unwrap();
    let of = |text: &str| view.description(&scene, &SUFFIXES, key(text)).unwrap();
    assert_eq!(of(X).as_deref(), Some("B"));
    assert_eq!(of("http://a.test/1"), None);
}

#[test]
fn broken_and_malformed_links_are_told_with_their_pages() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.visit(X, Ended::Broken, None);
    let page = ([a(X, "lost"), a("http://a.test/", "self")], [malformed("http://[")]);
    scene.visit("http://a.test/", Ended::WithPage, Some((&page.0, &page.1)));
    let mut graph = followed(&scene, dir.path());
    let view = graph.view().unwrap();
    let rows = view.broken(&scene, &SUFFIXES, None, 99).unwrap().rows;
    let got = broken_rows(rows);
    let source = || Some("http://a.test/".to_owned());
    let want = [
        ("http://[".into(), "not a URL: no host".into(), source(), "bad".into()),
        (X.into(), "client-error 404".into(), source(), "lost".into()),
    ];
    assert_eq!(got, want.into());
    // Repaired.
    scene.page(X, &[]);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    let rows = graph.view().unwrap().broken(&scene, &SUFFIXES, None, 99).unwrap().rows;
    assert_eq!(rows.len(), 1, "only the malformed one is left");
}

#[test]
fn a_link_that_is_redirected_to_a_broken_url_is_broken_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    let redirect = |to: &str| [link(to, "", LinkKind::Redirect, false)];
    scene.visit(X, Ended::Broken, None);
    scene.page("http://a.test/moved", &redirect(X));
    scene.page("http://a.test/old", &redirect("http://a.test/moved"));
    scene.page("http://a.test/", &[a("http://a.test/old", "the old page")]);
    let view = followed(&scene, dir.path()).view().unwrap();
    let rows = broken_rows(view.broken(&scene, &SUFFIXES, None, 99).unwrap().rows);
    let told = format!("client-error 404 (redirects to {X})");
    let (old, home) = ("http://a.test/old".to_owned(), "http://a.test/".to_owned());
    assert!(rows.contains(&(old, told, Some(home), "the old page".to_owned())), "{rows:?}");
    assert_eq!(rows.len(), 3);
}

/// Many pages in many runs, some read again: popular targets, targets in several pieces.
#[test]
fn what_many_pages_say_is_counted_as_the_slow_count_does() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let page = |n: u32| format!("http://h{}.s{}.test/{n}", n % 3, n % 40);
    let links = |n: u32, version: u32| -> Vec<Link> {
        let mut to: Vec<u32> =
            (0..20).map(|i| (n * 31 + i * i * 7 + version) % (1 + 3 * n)).collect();
        to.extend((0..60).filter(|i| (n + version).is_multiple_of(i + 1)));
        to.sort_unstable();
        to.dedup();
        to.into_iter().map(|t| a(&page(t), &format!("w{}", t % 5))).collect()
    };
    for n in 0..6_000 {
        scene.page(&page(n), &links(n, 0));
        if n % 13 == 12 {
            scene.page(&page(n / 2), &links(n / 2, n));
        }
        if n % 500 == 499 {
            graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
            if n % 1000 == 999 {
                graph.flush().unwrap();
            }
        }
    }
    let slow = Slow::of(&scene);
    for settled in [false, true] {
        if settled {
            graph.settle().unwrap();
        }
        let view = graph.view().unwrap();
        let keys: Vec<_> = slow.counts.keys().copied().collect();
        let want: Vec<Counts> = slow.counts.values().copied().collect();
        assert_eq!(view.counts(&keys).unwrap(), want);
        for limit in [1, 10, 60, 500, 99_999] {
            let (pages, sites) = (
                slow.top(|c| (c.backlinks, c.sites), limit),
                slow.top(|c| (c.sites, c.backlinks), limit),
            );
            assert_eq!(view.top(By::Backlinks, limit).unwrap(), pages, "{limit} by pages");
            assert_eq!(view.top(By::Sites, limit).unwrap(), sites, "{limit} by sites");
            let most = slow.counts.values().map(|c| c.sites).max().unwrap();
            assert_eq!(view.top_at_most(By::Sites, limit, most).unwrap(), sites, "at most {most}");
        }
        assert!(
            slow.top(|c| (c.backlinks, c.sites), 1)[0].1.backlinks > 5_000,
            "one has several pieces"
        );
        let mut edges = std::collections::BTreeSet::new();
        let each = |e: argiope_graph::Edge| {
            assert!(edges.insert((e.target, e.source, e.counts, e.nofollow)));
            Ok::<(), GraphError>(())
        };
        view.edges(each).unwrap();
        assert_eq!(edges, slow.edges);
    }
}

#[test]
fn a_full_buffer_is_written_out_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    for n in 0..3_000 {
        let to: Vec<Link> = (0..30).map(|i| a(&format!("http://t.test/{}", n * i), "")).collect();
        scene.page(&format!("http://a.test/{n}"), &to);
    }
    let graph = followed(&scene, dir.path());
    let size = graph.size();
    assert!(size.runs >= 2 && size.pages > 1_000, "{size:?}");
    assert!(size.memory <= MEMORY, "{size:?}");
}

#[test]
fn pages_that_link_nowhere_any_more_leave_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    for ended in [Ended::WithPage, Ended::LeftAlone, Ended::Forgotten, Ended::LeftAlone] {
        scene.visit("http://a.test/", ended, Some((&[a(X, "x")], &[])));
        graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
        graph.flush().unwrap();
    }
    let size = graph.size();
    assert_eq!((size.runs, size.links, size.pages), (1, 0, 0), "{size:?}");
    check(&graph.view().unwrap(), &scene, &[X]);
    scene.page("http://a.test/", &[a(X, "x")]);
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!(count(&mut graph, X), (1, 1));
}

#[test]
fn a_store_that_knows_less_than_was_read_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.page("http://a.test/", &[a(X, "x")]);
    let backup = scene.clone();
    scene.page("http://a.test/", &[]);
    scene.page("http://b.test/", &[a(X, "x")]);
    let mut graph = followed(&scene, dir.path());
    graph.flush().unwrap();
    let progress = graph.catch_up(&backup, &SUFFIXES, usize::MAX).unwrap();
    assert!(progress.rebuilt && progress.rows == 1);
    check(&graph.view().unwrap(), &backup, &[X]);
}

#[test]
fn a_damaged_run_is_told_and_can_be_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    for n in 0..200 {
        scene.page(&format!("http://a.test/{n}"), &[a(X, "x"), a("http://y.test/", "y")]);
    }
    followed(&scene, dir.path()).flush().unwrap();
    let file = runs(dir.path()).pop().unwrap();
    let whole = std::fs::read(&file).unwrap();
    for at in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x41;
        std::fs::write(&file, &bytes).unwrap();
        let found = Graph::open(dir.path(), MEMORY).and_then(|mut graph| {
            let view = graph.view()?;
            view.edges::<GraphError>(|_| Ok(()))?;
            view.top(By::Sites, 5)?;
            view.broken(&scene, &SUFFIXES, None, 5)
        });
        let text = found.expect_err("damage is found").to_string();
        assert!(text.contains("made again from the store"), "byte {at}: {text}");
    }
    for length in [0, 5, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..length]).unwrap();
        let found = Graph::open(dir.path(), MEMORY).err().expect("a cut run is found");
        assert!(matches!(found, GraphError::Damaged { .. }), "{found}");
    }
    std::fs::remove_file(&file).unwrap();
    assert!(Graph::open(dir.path(), MEMORY).is_err_and(|e| e.to_string().contains("missing")));
    let mut graph = Graph::rebuild(dir.path(), MEMORY).unwrap();
    graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    check(&graph.view().unwrap(), &scene, &[]);
}

#[test]
fn newer_files_are_refused_with_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::default();
    scene.page("http://a.test/", &[a(X, "x")]);
    followed(&scene, dir.path()).flush().unwrap();
    let file = runs(dir.path()).pop().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[8] = 9;
    std::fs::write(&file, bytes).unwrap();
    let refused = Graph::open(dir.path(), MEMORY).err().unwrap().to_string();
    assert!(refused.contains("newer Argiope (format 9"), "{refused}");
    std::fs::write(dir.path().join("manifest.json"), "{\"format\":7,\"new\":[]}").unwrap();
    let refused = Graph::open(dir.path(), MEMORY).err().unwrap().to_string();
    assert!(refused.contains("newer Argiope (format 7"), "{refused}");
    std::fs::write(dir.path().join("manifest.json"), "{").unwrap();
    let damaged = Graph::open(dir.path(), MEMORY).err().unwrap().to_string();
    assert!(damaged.contains("not a manifest"), "{damaged}");
}

/// What `tests/frozen` holds was written once and must be read the same for ever. To make it
/// anew for another format: `GRAPH_FREEZE=DIR`.
#[test]
fn the_form_on_disk_is_as_it_was() {
    let mut scene = Scene::default();
    for n in 0..40 {
        let links = [
            a(X, "x"),
            link("https://y.test/?q=1", "y", LinkKind::Iframe, true),
            link(&format!("http://a.test/{}", n / 3), "", LinkKind::Canonical, false),
        ];
        scene.page(&format!("http://s{}.test/{n}", n % 7), &links[..(n % 4).min(3)]);
    }
    scene.visit("http://s1.test/1", Ended::Broken, None);
    scene.visit("http://b.test/", Ended::WithPage, Some((&[], &[malformed("http://[")])));
    if let Some(dir) = std::env::var_os("GRAPH_FREEZE") {
        followed(&scene, Path::new(&dir)).flush().unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let frozen = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/frozen/graph-1");
    for name in ["manifest.json", "00000001.run"] {
        std::fs::copy(frozen.join(name), dir.path().join(name)).unwrap();
    }
    let mut graph = Graph::open(dir.path(), MEMORY).unwrap();
    let progress = graph.catch_up(&scene, &SUFFIXES, usize::MAX).unwrap();
    assert_eq!((progress.rows, progress.rebuilt), (0, false), "all of it is in the frozen run");
    check(&graph.view().unwrap(), &scene, &[]);
}
