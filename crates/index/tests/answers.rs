//! Queries as people write them: names of pages, addresses, words with hyphens; and as nobody should.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_index::{SearchError, SearchOptions, View};
use proptest::prelude::*;
use scene::{Scene, paths};
use std::path::Path;
use std::time::{Duration, Instant};

fn view(scene: &Scene, dir: &Path) -> View {
    scene.indexed(dir).view()
}

#[test]
fn a_page_whose_title_is_the_query_comes_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    // More pages than are looked at closely say more of the words.
    for n in 0..150 {
        let title = format!("Uses of List in package {n} (Java SE 17 & JDK 17)");
        let text = "List List Java SE 17 JDK 17 and AND OR Guide - The \"List\" guide ".repeat(3);
        scene.page(&format!("http://a.test/use{n}"), &title, &text);
    }
    let filler = "words that are not of the query ".repeat(200);
    for (path, title) in [
        ("list", "List (Java SE 17 & JDK 17)"),
        ("guide", "The \"List\" guide"),
        ("or", "List AND guide OR Java"),
    ] {
        scene.page(&format!("http://a.test/{path}"), title, &format!("{title} {filler}"));
    }
    let view = view(&scene, dir.path());
    let first = |query: &str| {
        let answer = scene.search(&view, query);
        paths(&answer).split(' ').next().unwrap().to_owned()
    };
    assert_eq!(first("List (Java SE 17 & JDK 17)"), "list");
    assert_eq!(first("list java se 17 jdk 17 site:a.test"), "list");
    assert_eq!(first("The \"List\" guide"), "guide");
    assert_eq!(first("List AND guide OR Java"), "or");
}

#[test]
fn addresses_are_asked_for_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for path in ["png_metadata/index.html", "metadata/png", "doc/png/x", "png/doc"] {
        scene.page(&format!("http://www.a.test/{path}"), "", "a page");
    }
    let view = view(&scene, dir.path());
    let found = |query: &str| {
        let answer = scene.search(&view, query);
        let mut found: Vec<&str> =
            answer.hits.iter().map(|hit| hit.url.split_once(".test/").unwrap().1).collect();
        found.sort_unstable();
        found.join(" ")
    };
    assert_eq!(found("inurl:png_metadata"), "png_metadata/index.html");
    assert_eq!(found("inurl:/png_metadata/"), "png_metadata/index.html");
    assert_eq!(found("inurl:index.html"), "png_metadata/index.html");
    assert_eq!(found("inurl:metadata/index.html"), "png_metadata/index.html");
    assert_eq!(found("inurl:doc/png"), "doc/png/x");
    assert_eq!(found("inurl:\"png/doc\""), "png/doc");
    assert_eq!(found("inurl:metadata"), "metadata/png png_metadata/index.html");
    assert_eq!(found("inurl:a.test/doc"), "doc/png/x");
    assert_eq!(found("inurl:http://a.test/doc/png"), "doc/png/x");
    assert_eq!(found("inurl:png inurl:x"), "doc/png/x");
    assert_eq!(found("page -inurl:png_metadata"), "doc/png/x metadata/png png/doc");
}

#[test]
fn what_is_written_with_a_hyphen_is_marked_however_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "An e-mail, some Email, the E mail and node.js or nodejs");
    let view = view(&scene, dir.path());
    let marked = |query: &str| {
        let hits = scene.search(&view, query).hits;
        hits[0].snippet.marked("[", "]")
    };
    let text = "An [e-mail], some [Email], the [E] [mail] and node.js or nodejs";
    assert_eq!(marked("e-mail"), text);
    assert_eq!(marked("E-Mail and"), text);
    let text = "An e-mail, some Email, the E mail and [node.js] or [nodejs]";
    assert_eq!(marked("node.js"), text);
    assert_eq!(marked("nodejs"), text);
}

#[test]
fn a_phrase_is_shown_where_it_stands_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let filler = "a web and a spider, a spider and a web; spider. ".repeat(60);
    scene.page("http://a.test/1", "", &format!("{filler} Here is the spider web. {filler}"));
    let view = view(&scene, dir.path());
    let hits = scene.search(&view, "\"spider web\"").hits;
    let text = hits[0].snippet.marked("<", ">");
    assert!(text.contains("Here is the <spider> <web>."), "{text}");
}

/// Texts that no one should type.
fn hostile() -> impl Strategy<Value = String> {
    let repeated = |words: &'static [&'static str], most: usize| {
        (proptest::sample::select(words), 1..most).prop_map(|(word, n)| word.repeat(n))
    };
    let pieces: &'static [&'static str] = &[
        "(", ")", "((", "\"", "\"a", "-", "+", "*", "~", "~2", ":", "a*", "b*", "a~2", "OR", "AND",
        " ", "site:", "inurl:", "intitle:", "before:", "link:", "\0", "\u{FFFD}", "\u{200D}",
        "\u{301}", "\u{E000}", "\u{E001}", "web", "spider", "中国", "ก็", "a.b.c", "x-y", "1,000",
        "'", "’", "\u{202E}",
    ];
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(pieces), 0..60).prop_map(|p| p.concat()),
        repeated(
            &[
                "a* ",
                "b~2 ",
                "web ",
                "\"spider web\" ",
                "(web ",
                "web OR ",
                "-a ",
                "中",
                "e\u{301}"
            ],
            10_000
        ),
        proptest::collection::vec(any::<u8>(), 0..200)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        proptest::collection::vec(any::<char>(), 0..100).prop_map(String::from_iter),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_typed_is_answered_in_time(queries in proptest::collection::vec(hostile(), 1..12)) {
        static SHARED: std::sync::OnceLock<(tempfile::TempDir, View, std::path::PathBuf)> =
            std::sync::OnceLock::new();
        let (_, view, texts) = SHARED.get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            let mut scene = Scene::new(dir.path());
            for n in 0..60 {
                let text = format!("a spider{n} and a web 中国人 bee{n} a.b.c e\u{301}t x-y{n} ").repeat(20);
                scene.page(&format!("http://a.test/{n}"), "Spider \"web\"", &text);
            }
            let view = view(&scene, dir.path());
            (dir, view, scene.texts.clone())
        });
        for query in queries {
            let options = SearchOptions { explain: true, facets: true, ..SearchOptions::default() };
            let began = Instant::now();
            match view.search(&query, texts, &scene::Told::default(), &options) {
                Ok(answer) => prop_assert!(answer.hits.len() <= 10),
                Err(SearchError::Mistake(mistake)) => {
                    prop_assert!(!mistake.message.is_empty() && mistake.at >= 1);
                }
                Err(e) => panic!("{query:?}: {e}"),
            }
            prop_assert!(began.elapsed() < Duration::from_secs(10), "{query:?}");
        }
    }
}
