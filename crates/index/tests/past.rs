//! Pages as they were: what is found at a time, against what was there then, whatever the pages did and
//! however the follower came by it.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_archive::TextBlob;
use argiope_index::{Index, IndexError, SearchOptions, Settings, Sort, View};
use argiope_model::{Directives, OutcomeKind, Time};
use argiope_store::Ended;
use proptest::prelude::*;
use scene::{SUFFIXES, Scene, paths};
use std::collections::{BTreeMap, BTreeSet};

fn at(time: i64) -> SearchOptions {
    SearchOptions { at: Some(Time(time)), limit: 1000, fold: false, ..SearchOptions::default() }
}

fn then(scene: &Scene, view: &View, query: &str, time: i64) -> String {
    paths(&scene.search_with(view, query, &at(time)))
}

const PLAIN: Directives =
    Directives { noindex: false, nofollow: false, noarchive: false, nosnippet: false };

#[test]
fn a_page_is_found_by_the_words_it_had_at_that_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "Web", "common evening");
    let mut index = scene.indexed(dir.path());
    assert_eq!(index.view().past_size().unwrap().documents, 0);
    assert!(!dir.path().join("index/past").exists(), "nothing has ended yet");
    scene.page("http://a.test/1", "Web", "common morning");
    scene.page("http://a.test/2", "", "common later");
    scene.visit("http://a.test/2", Ended::Broken, OutcomeKind::ClientError, None, false, PLAIN);
    scene.page("http://a.test/1", "Web", "common noon");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    let view = index.view();
    // 1 at 1000, 2000 and 5000; 2 from 3000 to 4000.
    assert_eq!(scene.found(&view, "common"), "1");
    assert_eq!(scene.found(&view, "evening"), "");
    for (query, time, found) in [
        ("common", 999, ""),
        ("evening", 1000, "1"),
        ("evening", 1999, "1"),
        ("evening", 2000, ""),
        ("morning", 1999, ""),
        ("morning", 2000, "1"),
        ("morning", 4999, "1"),
        ("noon", 4999, ""),
        ("noon", 5000, "1"),
        ("noon", i64::MAX, "1"),
        ("later", 2999, ""),
        ("later", 3000, "2"),
        ("later", 4000, ""),
        ("web -morning", 3000, ""),
        ("web -noon", 3000, "1"),
        ("\"common morning\"", 3000, "1"),
        ("site:a.test", 3000, "1 2"),
        ("the", 3000, ""),
    ] {
        assert_eq!(then(&scene, &view, query, time), found, "{query} at {time}");
    }
    let answer = scene.search_with(&view, "morning", &at(3000));
    let hit = &answer.hits[0];
    assert_eq!((hit.from, hit.until), (Time(2000), Some(Time(5000))));
    assert_eq!((hit.rank, answer.total, &*hit.title), (1, 1, "Web"));
    assert_eq!(hit.snippet.marked("[", "]"), "common [morning]");
    let today = &scene.search(&view, "noon").hits[0];
    assert_eq!((today.from, today.until), (Time(5000), None));

    // Numbers, words and suggestions are those of today.
    assert_eq!(view.size().unwrap().documents, 1);
    let words: Vec<String> =
        view.words("", None, 10).unwrap().into_iter().map(|word| word.word).collect();
    assert_eq!(words, ["common", "noon"]);
    assert_eq!(scene.search(&view, "mornings").did_you_mean, None);
    assert_eq!(view.past_size().unwrap().documents, 3);
    let visitor = View::open(&dir.path().join("index")).unwrap();
    assert_eq!(then(&scene, &visitor, "evening", 1500), "1");
}

#[test]
fn pages_of_today_and_of_then_come_in_one_order_and_are_counted_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 0..30 {
        scene.page(&format!("http://a.test/{n}"), "", &"spider ".repeat(1 + n));
    }
    let before = scene.now;
    for n in (0..30).step_by(2) {
        scene.page(&format!("http://a.test/{n}"), "", "fly");
    }
    let view = scene.indexed(dir.path()).view();
    let options = SearchOptions { limit: 10, facets: true, ..at(before) };
    let mut pages = Vec::new();
    for offset in [0, 10, 20, 30] {
        let options = SearchOptions { offset, ..options.clone() };
        let answer = scene.search_with(&view, "spider", &options);
        assert_eq!((answer.total, answer.partial), (30, 0));
        assert_eq!(answer.facets.as_ref().unwrap().sites, [("a.test".to_owned(), 30)]);
        assert!(answer.hits.iter().enumerate().all(|(n, hit)| hit.rank == offset + n + 1));
        pages.extend(answer.hits.into_iter().map(|hit| (hit.doc, hit.score)));
    }
    assert_eq!(pages.len(), 30);
    assert!(pages.windows(2).all(|pair| pair[0].1 >= pair[1].1));
    assert_eq!(pages.iter().map(|(doc, _)| doc).collect::<BTreeSet<_>>().len(), 30);
    let by_date = SearchOptions { sort: Sort::Date, ..options };
    let dates = scene.search_with(&view, "spider", &by_date).hits;
    let dates: Vec<i64> = dates.iter().map(|hit| hit.from.0).collect();
    assert_eq!(dates, (21..=30).rev().map(|n| n * 1000).collect::<Vec<i64>>());
}

#[test]
fn when_pages_changed_and_were_first_seen_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let day = 86_400_000;
    for (url, day_seen) in [("http://a.test/1", 1), ("http://a.test/2", 2), ("http://a.test/3", 3)]
    {
        scene.now = day_seen * day;
        scene.page(url, "", "common");
    }
    scene.now = 10 * day;
    scene.page("http://a.test/1", "", "common again");
    let view = scene.indexed(dir.path()).view();
    for (query, found) in [
        ("common first-seen:1970-01-03", "2 3"),
        ("common first-seen:1970-01-02..1970-01-03", "1 2"),
        ("common first-seen-before:1970-01-04", "1 2"),
        ("common -first-seen:1970-01-04", "1 2"),
        ("common changed-after:1970-01-04", "3 1"),
        ("common changed-before:1970-01-04", "2"),
        ("common changed-after:\"1 hour ago\"", "1"),
        ("first-seen:1970-01-04", "3"),
    ] {
        let mut seen: Vec<String> =
            scene.found(&view, query).split(' ').map(str::to_owned).collect();
        let mut wanted: Vec<&str> = found.split(' ').collect();
        seen.sort();
        wanted.sort_unstable();
        assert_eq!(seen, wanted, "{query}");
    }
}

#[test]
fn what_an_archive_brings_later_takes_its_place_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.now = 9_000;
    scene.page("http://a.test/1", "", "common ten");
    let text = scene.blob(&TextBlob { text: "common ten clock".into(), ..TextBlob::default() });
    scene.now = 19_000;
    let kind = OutcomeKind::Fetched;
    scene.visit("http://a.test/1", Ended::WithPage, kind, Some(text), false, PLAIN);
    let mut index = scene.indexed(dir.path());
    assert_eq!(then(&scene, &index.view(), "common", 9_999), "");
    scene.late("http://a.test/1", 5_000, "common five");
    scene.late("http://a.test/1", 15_000, "common fifteen");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    scene.late("http://a.test/1", 7_000, "");
    scene.catch_up(&mut index);
    index.commit().unwrap();
    let check = |view: &View| {
        for (word, from, until) in
            [("five", 5_000, 7_000), ("fifteen", 15_000, 20_000), ("clock", 20_000, 90_000)]
        {
            assert_eq!(then(&scene, view, word, from - 1), "", "{word}");
            assert_eq!(then(&scene, view, word, from), "1", "{word}");
            assert_eq!(then(&scene, view, word, until - 1), "1", "{word}");
            assert_eq!(then(&scene, view, "common", until - 1), "1", "{word}");
        }
        assert_eq!(then(&scene, view, "common", 9_999), "", "it was gone");
        assert_eq!(then(&scene, view, "ten", 14_999), "1");
        assert_eq!(then(&scene, view, "ten", 15_000), "");
        assert_eq!(scene.found(view, "ten"), "1");
        assert_eq!(scene.found(view, "fifteen"), "");
        assert_eq!(view.past_size().unwrap().documents, 3);
    };
    check(&index.view());
    drop(index);
    let mut index = Index::rebuild(&dir.path().join("index"), &Settings::default()).unwrap();
    scene.catch_up(&mut index);
    index.commit().unwrap();
    check(&index.view());
}

#[test]
fn an_index_whose_past_is_lost_is_told_to_be_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://a.test/1", "", "old");
    scene.page("http://a.test/1", "", "new");
    drop(scene.indexed(dir.path()).finish().unwrap());
    let path = dir.path().join("index");
    std::fs::remove_dir_all(path.join("past")).unwrap();
    let error = Index::open(&path, &Settings::default()).err().unwrap();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    assert!(matches!(View::open(&path).err().unwrap(), IndexError::Damaged { .. }));
    let mut index = Index::rebuild(&path, &Settings::default()).unwrap();
    scene.catch_up(&mut index);
    index.commit().unwrap();
    assert_eq!(then(&scene, &index.view(), "old", 1000), "1");
}

#[test]
fn a_forgotten_page_leaves_the_past_and_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for edition in ["firstwordofall", "secondwordofall"] {
        scene.page("http://a.test/1", "", edition);
        scene.page("http://a.test/2", "", "stays");
    }
    let mut index = scene.indexed(dir.path());
    assert_eq!(then(&scene, &index.view(), "firstwordofall", 1000), "1");
    scene.forget("http://a.test/1");
    scene.catch_up(&mut index);
    index.settle().unwrap();
    let view = index.view();
    assert_eq!(then(&scene, &view, "firstwordofall", 1000), "");
    assert_eq!(then(&scene, &view, "secondwordofall", 3000), "");
    assert_eq!(then(&scene, &view, "stays", 2000), "2");
    assert_eq!(view.past_size().unwrap().documents, 1);
    drop(view);
    index.settle().unwrap();
    drop(index.finish().unwrap());
    for entry in std::fs::read_dir(dir.path().join("index/past")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let holds = |word: &[u8]| bytes.windows(word.len()).any(|piece| piece == word);
        assert!(!holds(b"firstwordofall") && !holds(b"wordofall"));
    }
}

/// What a page does at a visit.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Another text, which counts.
    Changes,
    /// Another text, which does not: the words are those of the version.
    Flickers,
    Stays,
    Goes,
    Fails,
    IsGivenUp,
    Moves,
    Hides,
}

fn doings() -> impl Strategy<Value = Vec<(u8, Does)>> {
    let does = prop_oneof![
        3 => Just(Does::Changes),
        2 => Just(Does::Flickers),
        1 => Just(Does::Stays),
        1 => Just(Does::Goes),
        1 => Just(Does::Fails),
        1 => Just(Does::IsGivenUp),
        1 => Just(Does::Moves),
        1 => Just(Does::Hides),
    ];
    prop::collection::vec((0..4u8, does), 1..40)
}

/// What is to be found of a page from a time on: the word of its version, or nothing.
type Life = Vec<(i64, Option<String>)>;

struct Model {
    lives: BTreeMap<String, Life>,
}

/// A visit, and what it found.
struct Visit {
    page: u8,
    time: i64,
    does: Does,
    /// The word that the page has then.
    word: Option<String>,
}

/// What pages do one after the other, and what is to be found then, by nothing but what they do.
fn lived(doings: &[(u8, Does)]) -> (Model, Vec<Visit>) {
    let mut model = Model { lives: BTreeMap::new() };
    let mut visits = Vec::new();
    for (n, (page, does)) in doings.iter().enumerate() {
        let life = model.lives.entry(page.to_string()).or_default();
        let is = life.last().and_then(|(_, word)| word.clone());
        let (does, word) = match (does, is) {
            (Does::Changes, _) | (Does::Flickers | Does::Stays, None) => {
                (Does::Changes, Some(format!("word{n}")))
            }
            (Does::Flickers | Does::Stays | Does::Fails, is) => (*does, is),
            (Does::Goes | Does::IsGivenUp | Does::Moves | Does::Hides, _) => (*does, None),
        };
        let time = (n as i64 + 1) * 1000;
        life.push((time, word.clone()));
        visits.push(Visit { page: *page, time, does, word });
    }
    (model, visits)
}

/// Brings visits into the store, in their order or not: what is older than the last one of its page
/// decides nothing, as with archives that are imported. `last` is the last one of each page.
fn bring<'v>(scene: &mut Scene, last: &mut BTreeMap<u8, &'v Visit>, visits: &[&'v Visit]) {
    for visit in visits {
        let n = visit.time;
        let url = format!("http://s{}.test/{}", visit.page % 2, visit.page);
        let before = last.get(&visit.page).copied();
        let late = before.is_some_and(|before| before.time > visit.time);
        if !late {
            last.insert(visit.page, visit);
        }
        let mut words = |word: &str| {
            let text = format!("all {word} clock{n}");
            Some(scene.blob(&TextBlob { text, ..TextBlob::default() }))
        };
        let mut directives = PLAIN;
        let (mut ended, kind, text) = match (visit.does, &visit.word) {
            (Does::Changes | Does::Flickers, word) => {
                let word = word.as_deref().unwrap_or_default();
                (Ended::WithPage, OutcomeKind::Fetched, words(word))
            }
            (Does::Stays, _) => (Ended::WithPage, OutcomeKind::NotModified, None),
            (Does::Goes, _) => (Ended::Broken, OutcomeKind::ClientError, None),
            (Does::Fails, _) => (Ended::Open, OutcomeKind::TimedOut, None),
            (Does::IsGivenUp, _) => (Ended::Broken, OutcomeKind::TimedOut, None),
            (Does::Moves, _) => (Ended::WithPage, OutcomeKind::Redirect, None),
            (Does::Hides, _) => {
                directives.noindex = true;
                (Ended::WithPage, OutcomeKind::Fetched, words("hidden"))
            }
        };
        if late {
            ended = Ended::Open;
        }
        let same = before.is_some_and(|before| before.word == visit.word);
        let changed = text.is_some() && (late || !same);
        scene.now = visit.time - 1000;
        scene.visit(&url, ended, kind, text, changed, directives);
    }
}

impl Model {
    /// The pages that hold a word at a time.
    fn holders(&self, word: &str, time: i64) -> BTreeSet<String> {
        let holds = |life: &Life| {
            let last = life.iter().rev().find(|(from, _)| *from <= time);
            last.is_some_and(|(_, is)| is.as_ref().is_some_and(|is| word == "all" || is == word))
        };
        self.lives.iter().filter(|(_, life)| holds(life)).map(|(path, _)| path.clone()).collect()
    }
}

fn agree(scene: &Scene, view: &View, model: &Model, doings: usize) {
    for time in 0..=doings as i64 {
        for time in [time * 1000, time * 1000 + 999] {
            let words = (0..doings).map(|n| format!("word{n}")).chain(["all".to_owned()]);
            for word in words.chain(["hidden".to_owned()]) {
                let answer = scene.search_with(view, &word, &at(time));
                let found: Vec<String> = paths(&answer)
                    .split(' ')
                    .filter(|p| !p.is_empty())
                    .map(str::to_owned)
                    .collect();
                assert_eq!(answer.total, found.len() as u64);
                let found = found.into_iter().collect::<BTreeSet<_>>();
                assert_eq!(found, model.holders(&word, time), "{word} at {time}");
            }
        }
    }
    let mut past = BTreeSet::new();
    view.each_past(|doc, held| assert!(past.insert((doc, held.from)))).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn at_any_time_what_was_there_then_is_found(doings in doings(), piece in 1..20usize) {
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::new(dir.path());
        let (model, visits) = lived(&doings);
        bring(&mut scene, &mut BTreeMap::new(), &visits.iter().collect::<Vec<_>>());
        let path = dir.path().join("index");
        // Read in pieces: some committed, some lost with the process.
        let mut index = Index::open(&path, &Settings::default()).unwrap();
        for n in 0.. {
            let progress =
                index.catch_up(&scene, &scene.texts, &SUFFIXES, &scene.told, piece).unwrap();
            if n % 3 != 1 || progress.rows == 0 {
                index.commit().unwrap();
            }
            if n % 4 == 2 {
                drop(index);
                index = Index::open(&path, &Settings::default()).unwrap();
            }
            if progress.rows == 0 && !progress.more && n % 4 != 2 {
                break;
            }
        }
        let check = |index: &Index| {
            agree(&scene, &index.view(), &model, doings.len());
            // A version is one document.
            let ended = model.lives.values().flat_map(|life| life.windows(2));
            let ended = ended.filter(|pair| pair[0].1.is_some() && pair[0].1 != pair[1].1).count();
            assert_eq!(index.view().past_size().unwrap().documents, ended as u64);
        };
        check(&index);
        drop(index);
        let mut index = Index::rebuild(&path, &Settings::default()).unwrap();
        scene.catch_up(&mut index);
        index.commit().unwrap();
        check(&index);
    }

    #[test]
    fn what_archives_bring_in_any_order_is_found_at_its_time(
        doings in doings(),
        delays in prop::collection::vec(0..30usize, 40),
        piece in 1..20usize,
    ) {
        // Archives hold answers.
        let doings: Vec<_> =
            doings.into_iter().filter(|(_, does)| !matches!(does, Does::IsGivenUp | Does::Fails)).collect();
        let dir = tempfile::tempdir().unwrap();
        let mut scene = Scene::new(dir.path());
        let (model, visits) = lived(&doings);
        let mut order: Vec<(usize, &Visit)> =
            visits.iter().enumerate().map(|(n, visit)| (n + delays[n], visit)).collect();
        order.sort_by_key(|(at, _)| *at);
        let path = dir.path().join("index");
        // Taken in as they come, after every few; then all at once.
        let mut index = Index::open(&path, &Settings::default()).unwrap();
        let order: Vec<&Visit> = order.into_iter().map(|(_, visit)| visit).collect();
        let mut last = BTreeMap::new();
        for visits in order.chunks(piece) {
            bring(&mut scene, &mut last, visits);
            scene.catch_up(&mut index);
            index.commit().unwrap();
        }
        agree(&scene, &index.view(), &model, doings.len());
        drop(index);
        let mut index = Index::rebuild(&path, &Settings::default()).unwrap();
        while index.catch_up(&scene, &scene.texts, &SUFFIXES, &scene.told, piece).unwrap().rows > 0 {
            index.commit().unwrap();
        }
        agree(&scene, &index.view(), &model, doings.len());
    }
}
