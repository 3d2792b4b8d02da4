//! The index as a follower: what is in it after the pages of a store changed, vanished, came
//! back; what is in it for visitors; and that words and places are exactly those of the texts.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_archive::TextBlob;
use argiope_index::{Index, IndexError, LinkedAs, RoundOf, Settings, View};
use argiope_model::{Directives, OutcomeKind, WordId};
use argiope_store::Ended;
use proptest::prelude::*;
use scene::{SUFFIXES, Scene, key};

fn shown(view: &View, word: &str) -> String {
    let postings = view.postings(word).unwrap();
    let path = |url: &str| url.rsplit('/').next().unwrap().to_owned();
    let one = |p: argiope_index::Posting| {
        let places: Vec<String> = p.positions.iter().map(u32::to_string).collect();
        format!("{}:{}", path(&p.url), places.join(","))
    };
    postings.into_iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_word_is_told_with_its_documents_and_places() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "The spider sits in the web. Spider!");
    scene.page(
        "http://a.test/2",
        "Spider",
        "An e-mail from node.js about web-spiders, 1,000 of them",
    );
    scene.page("http://a.test/3", "", "中国人民 and 한국어 ภาษาไทย");
    let view = scene.indexed(dir.path()).view();
    assert_eq!(shown(&view, "spider"), "1:2,7", "the title is a field of its own");
    assert_eq!(shown(&view, "SPÏDER"), "1:2,7");
    assert_eq!(shown(&view, "web"), "1:6 2:8");
    assert_eq!(shown(&view, "the"), "", "a stop word");
    assert_eq!(shown(&view, "e-mail"), "2:2");
    assert_eq!(shown(&view, "email"), "2:2");
    assert_eq!(shown(&view, "mail"), "2:3");
    assert_eq!(shown(&view, "js"), "2:6");
    assert_eq!(shown(&view, "node.js"), "2:5");
    assert_eq!(shown(&view, "1000"), "2:10");
    assert_eq!(shown(&view, "1,000"), "2:10");
    assert_eq!(shown(&view, "国"), "3:2");
    assert_eq!(shown(&view, "国人"), "3:2");
    assert_eq!(shown(&view, "国人民"), "3:2");
    assert_eq!(shown(&view, "中国人民"), "3:1");
    assert_eq!(shown(&view, "国民"), "");
    assert_eq!(shown(&view, "국어"), "3:7");
    assert_eq!(shown(&view, "ไทย"), "3:13");
    assert_eq!(shown(&view, "sits in the web"), "1:3");
    assert_eq!(view.word_id("The"), WordId::STOP);
    assert_eq!(view.word_id("Spider"), WordId::of("spider"));
}

#[test]
fn the_pages_that_hold_a_word_most_often_come_first_and_all_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 1..=5_usize {
        scene.page(&format!("http://a.test/{n}"), "", &"spider ".repeat(n % 4));
    }
    let view = scene.indexed(dir.path()).view();
    let found = view.most_places("Spider", 2).unwrap();
    assert_eq!((found.documents, found.occurrences), (4, 7));
    let told: Vec<(&str, usize)> =
        found.pages.iter().map(|p| (&p.url[14..], p.positions.len())).collect();
    assert_eq!(told, [("3", 3), ("2", 2)]);
    assert_eq!(view.most_places("the", 2).unwrap(), argiope_index::Places::default());
}

#[test]
fn changed_pages_replace_and_vanished_pages_leave() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 1..=6 {
        scene.page(&format!("http://a.test/{n}"), "", &format!("common old{n}"));
    }
    let mut index = scene.indexed(dir.path());
    let before = index.view();
    scene.page("http://a.test/1", "", "common new1");
    let plain = Directives::default();
    scene.visit("http://a.test/2", Ended::Broken, OutcomeKind::ClientError, None, false, plain);
    scene.visit("http://a.test/3", Ended::Open, OutcomeKind::TimedOut, None, false, plain);
    scene.visit("http://a.test/4", Ended::WithPage, OutcomeKind::Redirect, None, false, plain);
    scene.visit("http://a.test/5", Ended::WithPage, OutcomeKind::NotModified, None, false, plain);
    let hidden = Directives { noindex: true, ..plain };
    let text = scene.blob(&TextBlob { text: "common".into(), ..TextBlob::default() });
    scene.visit("http://a.test/6", Ended::WithPage, OutcomeKind::Fetched, Some(text), true, hidden);
    let progress = scene.catch_up(&mut index);
    assert_eq!((progress.rows, progress.indexed, progress.removed), (6, 1, 3));
    assert_eq!(shown(&index.view(), "common").split(' ').count(), 6, "not before a commit");
    index.commit().unwrap();
    let view = index.view();
    assert_eq!(shown(&view, "common"), "1:1 3:1 5:1");
    assert_eq!(shown(&view, "old1"), "");
    assert_eq!(shown(&view, "new1"), "1:2");
    assert_eq!(shown(&before, "old1"), "1:2", "a view stays as it is");
    let words = view.words("", None, 100).unwrap();
    let told: Vec<_> = words.iter().map(|w| (&*w.word, w.documents, w.occurrences)).collect();
    assert_eq!(told, [("common", 3, 3), ("new1", 1, 1), ("old3", 1, 1), ("old5", 1, 1)]);
    // Words that nobody holds any more leave no hole in a piece.
    let two = view.words("", Some("common"), 2).unwrap();
    assert_eq!(two.iter().map(|w| &*w.word).collect::<Vec<_>>(), ["new1", "old3"]);
    scene.page("http://a.test/2", "", "common back");
    scene.catch_up(&mut index);
    index.settle().unwrap();
    assert_eq!(shown(&index.view(), "common"), "1:1 2:1 3:1 5:1");
    assert_eq!(index.view().size().unwrap().segments, 1);
}

#[test]
fn what_was_committed_is_there_at_the_next_start_and_the_rest_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 0..20 {
        scene.page(&format!("http://s{}.test/{n}", n % 3), "", &format!("word{n} all"));
    }
    let path = dir.path().join("index");
    {
        let mut index = Index::open(&path, &Settings::default()).unwrap();
        let links = &scene.told;
        let first = index.catch_up(&scene, &scene.texts, &SUFFIXES, links, 7).unwrap();
        assert_eq!((first.rows, first.more), (7, true));
        index.commit().unwrap();
        index.catch_up(&scene, &scene.texts, &SUFFIXES, links, 7).unwrap();
        // Dropped without a commit, as by a crash.
    }
    let view = View::open(&path).unwrap();
    assert_eq!(view.size().unwrap().documents, 7);
    let read: u64 = view.watermarks().unwrap().iter().map(|(_, n)| n).sum();
    assert_eq!(read, 7);
    let mut index = Index::open(&path, &Settings::default()).unwrap();
    assert!(matches!(Index::open(&path, &Settings::default()), Err(IndexError::Locked(_))));
    assert_eq!(scene.catch_up(&mut index).rows, 13);
    index.commit().unwrap();
    assert_eq!(view.size().unwrap().documents, 7, "a visitor's view stays as it is");
    assert_eq!(View::open(&path).unwrap().size().unwrap().documents, 20);
    assert_eq!(scene.catch_up(&mut index).rows, 0);
}

#[test]
fn a_store_that_knows_less_is_read_anew_and_a_rebuilt_index_is_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "one");
    scene.page("http://a.test/2", "", "two");
    let mut index = scene.indexed(dir.path());
    let last = *scene.log.keys().last().unwrap();
    scene.log.remove(&last);
    let progress = scene.catch_up(&mut index);
    assert!(progress.rebuilt && progress.rows == 1);
    index.commit().unwrap();
    assert_eq!(
        (shown(&index.view(), "one"), shown(&index.view(), "two")),
        ("1:1".into(), "".into())
    );
    drop(index);
    let mut index = Index::rebuild(&dir.path().join("index"), &Settings::default()).unwrap();
    assert_eq!(index.view().size().unwrap().documents, 0);
    scene.catch_up(&mut index);
    index.commit().unwrap();
    assert_eq!(shown(&index.view(), "one"), "1:1");
}

#[test]
fn other_settings_and_newer_formats_are_refused_with_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { stop_words: vec!["Über".into()], ..Settings::default() };
    drop(Index::open(dir.path(), &settings).unwrap());
    drop(Index::open(dir.path(), &settings).unwrap());
    let error = Index::open(dir.path(), &Settings::default()).err().unwrap().to_string();
    assert!(error.contains("stop list") && error.contains("reindex"), "{error}");
    let meta = dir.path().join("meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    std::fs::write(&meta, text.replace("\\\"format\\\":3", "\\\"format\\\":9")).unwrap();
    let error = Index::open(dir.path(), &settings).err().unwrap().to_string();
    assert!(error.contains("newer Argiope"), "{error}");
    let error = View::open(&dir.path().join("none")).err().unwrap().to_string();
    assert!(error.contains("no word index"), "{error}");
}

#[test]
fn a_damaged_text_does_not_keep_the_others_out() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "one common");
    let mut wrong = scene.blob(&TextBlob::default());
    wrong.offset += 3;
    wrong.length -= 3;
    let plain = Directives::default();
    scene.visit("http://a.test/2", Ended::WithPage, OutcomeKind::Fetched, Some(wrong), true, plain);
    scene.page("http://a.test/3", "", "three common");
    let mut index = Index::open(&dir.path().join("index"), &Settings::default()).unwrap();
    let progress = scene.catch_up(&mut index);
    assert_eq!((progress.indexed, progress.unreadable), (2, 1));
    index.commit().unwrap();
    assert_eq!(shown(&index.view(), "common"), "1:2 3:2");
}

/// A round to its end; pages looked at and pages indexed again.
fn round(index: &mut Index, scene: &Scene, of: RoundOf) -> (u64, u64) {
    let (mut of, mut checked, mut indexed) = (Some(of), 0, 0);
    while let Some(piece) = of {
        let (texts, told) = (&scene.texts, &scene.told);
        let round = index.links_round(scene, texts, &SUFFIXES, told, piece, 2).unwrap();
        (checked, indexed, of) = (checked + round.checked, indexed + round.indexed, round.next);
    }
    index.commit().unwrap();
    (checked, indexed)
}

fn linked(words: &str) -> LinkedAs {
    LinkedAs { backlinks: 3, phrases: vec![(words.into(), 3)] }
}

#[test]
fn a_page_is_indexed_again_when_it_is_linked_to_in_other_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 1..=5 {
        scene.page(&format!("http://a.test/{n}"), "", "text");
    }
    let mut index = scene.indexed(dir.path());
    assert_eq!(round(&mut index, &scene, RoundOf::News), (0, 0));
    let two = key("http://a.test/2");
    scene.told.called.insert(two, linked("the web of spiders"));
    assert_eq!(round(&mut index, &scene, RoundOf::News), (0, 0), "nobody was read who says so");
    scene.told.links.insert(key("http://a.test/6"), vec![(two, "the web of spiders".into())]);
    scene.page("http://a.test/6", "", "text");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    assert_eq!(round(&mut index, &scene, RoundOf::News), (1, 1));
    let view = index.view();
    assert_eq!(scene.found(&view, "spiders web"), "2");
    assert_eq!(scene.found(&view, "\"web of spiders\""), "2");
    assert_eq!(shown(&view, "spiders"), "", "link words are not the page's own");
    assert_eq!(round(&mut index, &scene, RoundOf::News), (0, 0));
    // The links may have gone without anybody being read.
    scene.told.called.clear();
    assert_eq!(round(&mut index, &scene, RoundOf::All(None)), (6, 1));
    assert_eq!(scene.found(&index.view(), "spiders"), "");
}

#[test]
fn what_pages_were_called_before_they_came_is_indexed_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let words = "where silk is spun";
    scene.told.links.insert(key("http://a.test/1"), vec![(key("http://a.test/2"), words.into())]);
    scene.told.called.insert(key("http://a.test/2"), linked(words));
    scene.page("http://a.test/1", "", "text");
    scene.page("http://a.test/2", "", "text");
    let mut index = scene.indexed(dir.path());
    assert_eq!(scene.found(&index.view(), "spun"), "2");
    assert_eq!(round(&mut index, &scene, RoundOf::News), (1, 0));
}

#[test]
fn words_that_a_page_says_itself_are_no_news() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/silk", "Spinning", "text");
    let mut index = scene.indexed(dir.path());
    let silk = key("http://a.test/silk");
    scene.told.called.insert(silk, linked("Spinning SILK"));
    scene.told.links.insert(key("http://a.test/2"), vec![(silk, "Spinning SILK".into())]);
    scene.page("http://a.test/2", "", "text");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    assert_eq!(round(&mut index, &scene, RoundOf::News), (1, 0));
    let many = LinkedAs { backlinks: 90, ..linked("Spinning SILK") };
    scene.told.called.insert(silk, many);
    assert_eq!(round(&mut index, &scene, RoundOf::All(None)), (2, 1), "an order of magnitude");
}

#[test]
fn the_dictionary_is_told_by_prefix_and_by_count() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "web webs web");
    scene.page("http://a.test/2", "", "web spider");
    let mut index = scene.indexed(dir.path());
    scene.page("http://a.test/3", "", "Web weaver");
    scene.page("http://a.test/1", "", "webs weaver");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    let view = index.view();
    let told = |words: Vec<argiope_index::Word>| {
        let one = |w: argiope_index::Word| {
            assert_eq!(w.id, WordId::of(&w.word));
            format!("{} {}/{}", w.word, w.documents, w.occurrences)
        };
        words.into_iter().map(one).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told(view.words("we", None, 10).unwrap()), "weaver 2/2, web 2/2, webs 1/1");
    assert_eq!(told(view.words("", Some("weaver"), 1).unwrap()), "web 2/2");
    assert_eq!(told(view.words("x", None, 10).unwrap()), "");
    assert_eq!(told(view.top_words("", 2).unwrap()), "weaver 2/2, web 2/2");
    assert_eq!(told(view.top_words("s", 9).unwrap()), "spider 1/1");
    assert_eq!(view.complete("WE", 2).unwrap(), ["web", "weaver"], "a deleted page counts here");
    assert_eq!(view.complete("x", 2).unwrap(), Vec::<String>::new());
}

#[test]
fn the_places_of_a_word_are_told_in_pieces_whatever_the_segments() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let mut index = scene.indexed(dir.path());
    for round in 0..3 {
        for n in (0..4).rev() {
            scene.page(&format!("http://a.test/{}", 3 * n + round), "", "an old web");
        }
        scene.catch_up(&mut index);
        index.commit().unwrap();
    }
    let view = index.view();
    let (whole, mut pieces) = (view.postings("web").unwrap(), Vec::new());
    loop {
        let last = pieces.last().map(|posting: &argiope_index::Posting| posting.doc);
        let piece = view.postings_after("web", last, 5).unwrap();
        if piece.is_empty() {
            break;
        }
        pieces.extend(piece);
    }
    assert_eq!((whole.len(), &pieces), (12, &whole));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever happens to the pages, words and places in the index are those of the texts.
    #[test]
    fn words_and_places_are_those_of_the_texts(
        visits in proptest::collection::vec((0u8..6, "[abc.中国 -]{0,14}", 0u8..8), 1..30),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::new(dir.path());
        let mut index = Index::open(&dir.path().join("index"), &Settings::default()).unwrap();
        let mut texts = std::collections::BTreeMap::new();
        for (page, text, what) in visits {
            let url = format!("http://a.test/{page}");
            if what == 0 {
                let (broken, plain) = (OutcomeKind::ClientError, Directives::default());
                scene.visit(&url, Ended::Broken, broken, None, false, plain);
                texts.remove(&page);
            } else {
                scene.page(&url, "title", &text);
                texts.insert(page, text);
            }
            if what == 1 {
                scene.catch_up(&mut index);
                index.commit().unwrap();
            }
        }
        scene.catch_up(&mut index);
        index.commit().unwrap();
        let view = index.view();
        let mut slow: std::collections::BTreeMap<String, Vec<String>> = Default::default();
        for (page, text) in &texts {
            let text = TextBlob { text: text.clone(), ..TextBlob::default() };
            for (word, places) in view.words_of(&text) {
                let places: Vec<String> = places.iter().map(u32::to_string).collect();
                slow.entry(word.word).or_default().push(format!("{page}:{}", places.join(",")));
            }
        }
        let words = view.words("", None, 10_000).unwrap();
        let told: Vec<String> = words.iter().map(|w| w.word.clone()).collect();
        prop_assert_eq!(&told, &slow.keys().cloned().collect::<Vec<_>>());
        for (word, places) in slow {
            // Documents are numbered as they were met, not as they are named.
            let told = shown(&view, &word);
            let mut told: Vec<&str> = told.split(' ').collect();
            told.sort_unstable();
            prop_assert_eq!(told, places, "{}", word);
        }
    }
}

#[test]
fn a_row_that_is_told_twice_does_not_put_its_page_in_twice() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "spider");
    scene.page("http://a.test/2", "", "web");
    let mut index = scene.indexed(dir.path());
    // The text was taken from the archive again: a row without a visit.
    let mut row = scene.log.values().next().unwrap().clone();
    for committed in [true, false] {
        row.n = scene.log.keys().last().unwrap().1 + 1;
        scene.log.insert((row.key.host.part, row.n), row.clone());
        scene.catch_up(&mut index);
        if committed {
            index.commit().unwrap();
        }
    }
    index.commit().unwrap();
    assert_eq!(shown(&index.view(), "spider"), "1:1");
    assert_eq!(index.view().size().unwrap().documents, 2);
}
