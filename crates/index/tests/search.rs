//! What is found, in which order, and how it is shown.

#![allow(clippy::unwrap_used)]

mod scene;

use argiope_archive::TextBlob;
use argiope_index::{SearchError, SearchOptions, Sort, View};
use argiope_model::{Directives, DocId, OutcomeKind, Time};
use argiope_store::Ended;
use proptest::prelude::*;
use scene::{Scene, key, paths};
use std::collections::BTreeMap;
use std::path::Path;

fn view(scene: &Scene, dir: &Path) -> View {
    scene.indexed(dir).view()
}

/// A small web about spiders.
fn spiders(dir: &Path) -> Scene {
    let mut scene = Scene::new(dir);
    scene.page("http://a.test/garden", "Garden spider", "The garden spider builds a web in summer");
    scene.page("http://a.test/house", "House spider", "A house spider waits. Its web is old");
    scene.page("http://docs.a.test/web", "Web", "The world wide web has pages and no legs");
    scene.page("http://b.test/moth", "Moth", "A moth flies around the house in summer");
    scene
}

#[test]
fn the_language_finds_what_it_says() {
    let dir = tempfile::tempdir().unwrap();
    let scene = spiders(dir.path());
    let view = view(&scene, dir.path());
    let total = |query| {
        let answer = scene.search(&view, query);
        let mut found: Vec<String> = answer
            .hits
            .iter()
            .filter(|h| !h.partial)
            .map(|h| h.url.rsplit('/').next().unwrap().to_owned())
            .collect();
        assert_eq!(answer.total, found.len() as u64, "{query}");
        found.sort();
        found.join(" ")
    };
    assert_eq!(total("spider"), "garden house");
    assert_eq!(total("SPÍDER"), "garden house");
    assert_eq!(total("spiders"), "garden house", "another form");
    assert_eq!(total("\"spiders\""), "", "in quotation marks, only this form");
    assert_eq!(total("spider web"), "garden house");
    assert_eq!(total("spider summer"), "garden");
    assert_eq!(total("spider OR moth"), "garden house moth");
    assert_eq!(total("spider -summer"), "house");
    assert_eq!(total("web -spider"), "web");
    assert_eq!(total("(spider OR moth) summer"), "garden moth");
    assert_eq!(total("\"web in summer\""), "garden", "over a stop word");
    assert_eq!(total("\"web summer\""), "", "not over a place");
    assert_eq!(total("\"web summer\"~3"), "garden");
    assert_eq!(total("\"house spider\""), "house");
    assert_eq!(total("\"spider house\""), "");
    assert_eq!(total("web site:a.test"), "garden house web");
    assert_eq!(total("web site:docs.a.test"), "web");
    assert_eq!(total("site:test"), "garden house moth web");
    assert_eq!(total("intitle:spider"), "garden house");
    assert_eq!(total("intitle:house"), "house");
    assert_eq!(total("intitle:\"garden spider\""), "garden");
    assert_eq!(total("inurl:moth"), "moth");
    assert_eq!(total("inurl:docs"), "web");
    assert_eq!(total("lang:en spider"), "garden house");
    assert_eq!(total("lang:de spider"), "");
    assert_eq!(total("type:html moth"), "moth");
    assert_eq!(total("type:pdf moth"), "");
    assert_eq!(total("spi*"), "garden house");
    assert_eq!(total("sipder~"), "garden house");
    assert_eq!(total("spdr~2"), "garden house");
    assert_eq!(total("spdr~1"), "");
    assert_eq!(total("before:1971 moth"), "moth");
    assert_eq!(total("after:1971 moth"), "");
    assert_eq!(total("the"), "", "a stop word is in no body");
    assert_eq!(total("the spider"), "garden house");
}

#[test]
fn pages_with_some_of_the_words_follow_where_few_have_all() {
    let dir = tempfile::tempdir().unwrap();
    let scene = spiders(dir.path());
    let view = view(&scene, dir.path());
    let answer = scene.search(&view, "house summer");
    assert_eq!(paths(&answer).split_once('|').unwrap().0, "moth ");
    assert_eq!((answer.total, answer.partial), (1, 2));
    let must = scene.search(&view, "house +summer");
    assert_eq!((must.total, must.partial), (1, 1), "a word with + is in all of them");
    let none = scene.search(&view, "spider \"old moth\"");
    assert_eq!((none.total, none.partial), (0, 0), "a phrase is never loosened");
}

#[test]
fn pages_that_link_to_a_page_are_found_by_link() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = spiders(dir.path());
    let docs = vec![scene.doc("http://a.test/house"), scene.doc("http://b.test/moth")];
    scene.told.linking.insert("http://a.test/garden".into(), docs);
    let view = view(&scene, dir.path());
    assert_eq!(scene.search(&view, "link:http://a.test/garden").total, 2);
    assert_eq!(scene.found(&view, "link:http://a.test/garden moth"), "moth");
}

#[test]
fn a_mistake_is_a_sentence_and_a_misspelling_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let scene = spiders(dir.path());
    let view = view(&scene, dir.path());
    let options = SearchOptions::default();
    let wrong = view.search("spider (web", &scene.texts, &scene.told, &options).unwrap_err();
    assert_eq!(wrong.to_string(), "This bracket is not closed: add ) (character 8)");
    let asked = |query| scene.search(&view, query).did_you_mean;
    assert_eq!(asked("Spidre web").as_deref(), Some("spider web"));
    let quiet = SearchOptions { suggest: false, ..SearchOptions::default() };
    assert_eq!(scene.search_with(&view, "Spidre", &quiet).did_you_mean, None);
    assert_eq!(asked("gardn summr").as_deref(), Some("garden summer"));
    assert_eq!(asked("spider web"), None);
    assert_eq!(asked("spiders"), None, "another form of a known word");
    assert_eq!(asked("xylophone"), None);
}

#[test]
fn titles_phrases_and_early_words_come_first() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let filler = "lorem ipsum dolor sit amet ".repeat(30);
    scene.page("http://a.test/apart", "x", &format!("wide {filler} net {filler}"));
    scene.page("http://a.test/beside", "x", &format!("{filler} wide net {filler}"));
    scene.page("http://a.test/reverse", "x", &format!("{filler} net wide {filler}"));
    scene.page("http://a.test/titled", "Wide net", &format!("{filler} wide {filler} net"));
    let view = view(&scene, dir.path());
    assert_eq!(scene.found(&view, "wide net"), "titled beside reverse apart");
}

#[test]
fn a_heading_that_is_the_query_counts_more_than_its_words() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let page = |headings: &[&str], text: &str| TextBlob {
        headings: headings.iter().map(|h| (*h).to_owned()).collect(),
        text: text.into(),
        language: Some("en".into()),
        ..TextBlob::default()
    };
    scene.page_blob(
        "http://a.test/many",
        &page(&["If"], "if then with statement with If more text"),
    );
    scene.page_blob(
        "http://a.test/statement",
        &page(&["The with statement"], "The with statement is text here"),
    );
    scene.page_blob("http://a.test/whole", &page(&["Other", "With"], "text With and other things"));
    let view = view(&scene, dir.path());
    assert_eq!(scene.found(&view, "with").split(' ').next(), Some("whole"));
    assert_eq!(scene.found(&view, "the with statement").split(' ').next(), Some("statement"));
    let hit = &scene
        .search_with(&view, "with", &SearchOptions { explain: true, ..SearchOptions::default() })
        .hits[0];
    assert!(hit.parts.iter().any(|(name, _)| name == "a heading is the query"), "{:?}", hit.parts);
    let sum: f32 = hit.parts.iter().map(|(_, amount)| amount).sum();
    assert!((sum - hit.score).abs() < 0.01 * hit.score, "{sum} {hit:?}");
}

#[test]
fn links_and_freshness_decide_between_equals() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 0..100 {
        let page = format!("http://b.test/{n}");
        scene.page(&page, "", "other words");
        scene.told.links.insert(key(&page), vec![(key("http://a.test/linked"), String::new())]);
    }
    for name in ["plain", "linked", "late"] {
        scene.now = if name == "late" { 90 * 86_400_000 } else { 0 };
        scene.page(&format!("http://a.test/{name}"), name, "the same words of a spider");
    }
    let view = view(&scene, dir.path());
    assert_eq!(scene.found(&view, "spider").split(' ').next(), Some("linked"));
    let fresh = SearchOptions { fresh: true, now: Time(scene.now), ..SearchOptions::default() };
    assert_eq!(paths(&scene.search_with(&view, "spider", &fresh)).split(' ').next(), Some("late"));
    assert_eq!(scene.found(&view, "spider after:1970").split(' ').next(), Some("late"));
    let by_date = SearchOptions { sort: Sort::Date, ..SearchOptions::default() };
    let dated = scene.search_with(&view, "spider", &by_date);
    assert_eq!(dated.hits[0].changed_at, Time(scene.now));
    assert!(dated.hits.windows(2).all(|two| two[0].changed_at >= two[1].changed_at));
}

#[test]
fn rank_decides_between_equals_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for name in ["low", "high", "middle"] {
        scene.page(&format!("http://a.test/{name}"), name, "the same words of a spider");
    }
    let view = view(&scene, dir.path());
    let found = scene.search_with(&view, "spider", &SearchOptions::default());
    let docs: BTreeMap<String, DocId> =
        found.hits.iter().map(|hit| (hit.title.clone(), hit.doc)).collect();
    for (name, rank) in [("low", 0.2), ("high", 40.0), ("middle", 3.0)] {
        scene.told.ranks.insert(docs[name], rank);
    }
    assert_eq!(scene.found(&view, "spider"), "high middle low");
    let explained = SearchOptions { explain: true, ..SearchOptions::default() };
    let hit = &scene.search_with(&view, "spider", &explained).hits[0];
    assert!(hit.parts.iter().any(|(name, _)| name == "its rank among all pages"), "{hit:?}");
    let sum: f32 = hit.parts.iter().map(|(_, amount)| amount).sum();
    assert!((sum - hit.score).abs() < 0.01 * hit.score, "{sum} {hit:?}");
    let own = SearchOptions { links: false, explain: true, ..SearchOptions::default() };
    let own = scene.search_with(&view, "spider", &own);
    assert!(own.hits.iter().flat_map(|hit| &hit.parts).all(|(name, _)| !name.contains("rank")));
}

#[test]
fn by_own_words_nothing_counts_that_others_say() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    scene.page("http://b.test/", "", "other words");
    let called = vec![(key("http://a.test/called"), "tarantula".to_owned())];
    scene.told.links.insert(key("http://b.test/"), called);
    scene.page("http://a.test/called", "", "a text about something");
    let view = view(&scene, dir.path());
    assert_eq!(scene.found(&view, "tarantula"), "called");
    let explained = SearchOptions { explain: true, ..SearchOptions::default() };
    let hit = &scene.search_with(&view, "Tarantula", &explained).hits[0];
    assert!(hit.parts.iter().any(|(name, _)| name == "others call it so"), "{hit:?}");
    let own = SearchOptions { links: false, ..SearchOptions::default() };
    for query in ["tarantula", "tarant*", "\"tarantula\""] {
        assert_eq!(scene.search_with(&view, query, &own).total, 0, "{query}");
    }
}

#[test]
fn pages_of_results_follow_each_other_and_the_total_is_exact() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    for n in 0..250 {
        let text = format!("spider number{n} {}", "filler ".repeat(n % 7));
        scene.page(&format!("http://s{}.test/{n}", n % 3), &format!("t{n}"), &text);
    }
    let view = view(&scene, dir.path());
    let all = SearchOptions { limit: 300, ..SearchOptions::default() };
    let all = scene.search_with(&view, "spider", &all);
    assert_eq!((all.total, all.hits.len()), (250, 250));
    let mut paged = Vec::new();
    for offset in (0..250).step_by(40) {
        let options = SearchOptions { limit: 40, offset, ..SearchOptions::default() };
        paged.extend(scene.search_with(&view, "spider", &options).hits.into_iter().map(|h| h.doc));
    }
    assert_eq!(paged, all.hits.iter().map(|hit| hit.doc).collect::<Vec<_>>());
    assert!(all.hits.iter().enumerate().all(|(n, hit)| hit.rank == n + 1));
    let facets = SearchOptions { facets: true, limit: 1, ..SearchOptions::default() };
    let facets = scene.search_with(&view, "spider", &facets).facets.unwrap();
    assert_eq!(facets.sites[0], ("s0.test".to_owned(), 84));
    assert_eq!(facets.languages, [("en".to_owned(), 250)]);
    assert_eq!(facets.years, [("1970".to_owned(), 250)]);
}

#[test]
fn pages_that_are_nearly_the_same_stand_under_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let text: String = (0..200).map(|n| format!("word{n} ")).collect();
    scene.page("http://a.test/1", "Spider", &format!("{text} spider"));
    scene.page("http://b.test/2", "Spider", &format!("{text} spider"));
    scene.page("http://b.test/3", "Another", "Other words than those two have, and a spider");
    let view = view(&scene, dir.path());
    let answer = scene.search(&view, "spider");
    assert_eq!((answer.total, answer.hits.len()), (3, 2), "all are counted");
    let folded = answer.hits.iter().find(|hit| hit.title == "Spider").unwrap();
    assert_eq!(folded.alike.len(), 1);
    let unfolded = SearchOptions { fold: false, ..SearchOptions::default() };
    assert_eq!(scene.search_with(&view, "spider", &unfolded).hits.len(), 3);
}

#[test]
fn articles_inside_of_one_site_stay_apart_and_a_copy_on_another_is_folded_when_it_comes_later() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let prose = |of: &str, words: u32| -> String {
        let word = |n: u32| format!("{of}{}{}", n * 7 % 31, if n % 40 == 39 { "\n" } else { " " });
        (0..words).map(word).collect()
    };
    // More of the site than of the article.
    let page = |site: &str, article: &str| {
        format!("{}\nspider\n{}", prose(site, 300), prose(article, 120))
    };
    for n in 0..6 {
        let title = format!("Article {}", ["ant", "bee", "cat", "dog", "eel", "fox"][n]);
        scene.page(&format!("http://a.test/{n}"), &title, &page("menu", &title[8..]));
    }
    let mut index = scene.indexed(dir.path());
    let answer = scene.search(&index.view(), "spider");
    assert_eq!(answer.hits.len(), 6);
    assert!(answer.hits.iter().all(|hit| hit.alike.is_empty()), "{:?}", answer.hits);
    let near = |view: &View, url: &str, text: &str| -> Vec<String> {
        view.near(scene.doc(url), text).unwrap().into_iter().map(|near| near.url).collect()
    };
    assert_eq!(near(&index.view(), "http://a.test/1", &page("menu", "bee")), [""; 0]);

    scene.page("http://b.test/copy", "Article bee - B", &page("other", "bee"));
    scene.page("http://b.test/else", "Article gnu - B", &page("other", "gnu"));
    scene.page("http://b.test/more", "Article hen - B", &page("other", "hen"));
    scene.catch_up(&mut index);
    index.commit().unwrap();
    let view = index.view();
    let answer = scene.search(&view, "spider");
    assert_eq!((answer.total, answer.hits.len()), (9, 8));
    let folded = answer.hits.iter().find(|hit| !hit.alike.is_empty()).unwrap();
    let mut both = [&*folded.url, &*folded.alike[0].url];
    both.sort_unstable();
    assert_eq!(both, ["http://a.test/1", "http://b.test/copy"]);
    let near = |url: &str, text: &str| -> Vec<String> {
        view.near(scene.doc(url), text).unwrap().into_iter().map(|near| near.url).collect()
    };
    assert_eq!(near("http://b.test/copy", &page("other", "bee")), ["http://a.test/1"]);
}

#[test]
fn every_script_is_found_marked_and_cut_between_characters() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let long = |begin: &str, text: &str, word: &str| {
        format!("{} {word} {}", begin.repeat(60), text.repeat(60))
    };
    for (name, language, text, query, marked) in [
        ("zh", "zh", long("天地玄黄。", "宇宙洪荒。", "蜘蛛结网"), "蜘蛛", "[蜘蛛]结网"),
        (
            "ja",
            "ja",
            long("いろはに。", "ほへとち。", "蜘蛛の巣です"),
            "蜘蛛の巣",
            "[蜘蛛の巣]です",
        ),
        (
            "kana",
            "ja",
            long("いろはに。", "ほへとち。", "コンピューター"),
            "ピュータ",
            "コン[ピュータ]ー",
        ),
        ("ko", "ko", long("가나다라 ", "마바사아 ", "거미줄을"), "거미", "[거미]줄을"),
        ("ar", "ar", long("كلام آخر ", "نص طويل ", "العَنْكَبُوت"), "العنكبوت", "[العَنْكَبُوت]"),
        ("ru", "ru", long("другое слово ", "ещё текст ", "Паутина"), "паутины", "[Паутина]"),
        ("th", "th", long("ข้อความอื่น ", "ยาวมาก ", "แมงมุมชักใย"), "แมงมุม", "[แมงมุม]ชักใย"),
        (
            "fr",
            "fr",
            long("autre chose ", "du texte ", "L’Araignée tissée"),
            "araignee",
            "[L’Araignée] tissée",
        ),
        ("el", "el", long("άλλο κείμενο ", "πολύ ", "Αράχνη"), "αραχνη", "[Αράχνη]"),
        ("hi", "hi", long("कुछ और ", "लंबा पाठ ", "मकड़ी का"), "मकड़ी", "[मकड़ी] का"),
    ] {
        let language = Some(language.to_owned());
        let blob = TextBlob { text, language, ..TextBlob::default() };
        scene.page_blob(&format!("http://a.test/{name}"), &blob);
        let dir = tempfile::tempdir().unwrap();
        let view = view(&scene, dir.path());
        let answer = scene.search(&view, query);
        assert_eq!(answer.total, 1, "{query}");
        let snippet = &answer.hits[0].snippet;
        let text = snippet.marked("[", "]");
        assert!(text.contains(marked), "{query}: {text}");
        assert!(snippet.cut_before && snippet.cut_after, "{query}: {text}");
        assert!(text.chars().count() < 300, "{query}: {text}");
        assert!(!snippet.text.starts_with(is_mark), "{query}: {text}");
        let whole = &blob_text(&scene, &view, query);
        let at = whole.find(&snippet.text).expect("a piece of the text");
        let after = &whole[at + snippet.text.len()..];
        assert!(!after.starts_with(is_mark), "{query}: cut inside a character: {text}");
    }
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x64b..=0x65f | 0x93a..=0x94f | 0xe31 | 0xe34..=0xe3a | 0xe47..=0xe4e)
}

fn blob_text(scene: &Scene, view: &View, query: &str) -> String {
    let doc = scene.search(view, query).hits[0].doc;
    let location = view.text_of(doc).unwrap().unwrap();
    argiope_archive::read_text(&scene.texts, location).unwrap().text.replace('\n', " ")
}

#[test]
fn a_snippet_shows_the_passage_with_the_words_together() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let filler = "nothing to see here \n".repeat(40);
    let text = format!("A spider alone.\n{filler}Here a spider and a web meet.\n{filler}");
    scene.page("http://a.test/1", "", &text);
    let view = view(&scene, dir.path());
    let hit = &scene.search(&view, "spider webs").hits[0];
    let text = hit.snippet.marked("<b>", "</b>");
    assert!(text.contains("Here a <b>spider</b> and a <b>web</b> meet."), "{text}");
    let stemmed = &scene.search(&view, "meeting").hits[0];
    assert!(stemmed.snippet.marked("<", ">").contains("<meet>"), "{:?}", stemmed.snippet);
    let prefix = &scene.search(&view, "spi*").hits[0];
    assert!(prefix.snippet.marked("<", ">").contains("<spider>"), "{:?}", prefix.snippet);
}

#[test]
fn a_page_that_asks_for_no_snippet_has_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut scene = Scene::new(dir.path());
    let asks = Directives { nosnippet: true, ..Directives::default() };
    let blob = TextBlob { title: "T".into(), text: "spider".into(), ..TextBlob::default() };
    let text = Some(scene.blob(&blob));
    scene.visit("http://a.test/1", Ended::WithPage, OutcomeKind::Fetched, text, true, asks);
    let view = view(&scene, dir.path());
    let hit = &scene.search(&view, "spider").hits[0];
    assert_eq!((&*hit.title, &*hit.snippet.text), ("T", ""));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_query_has_an_answer_or_a_sentence(
        queries in proptest::collection::vec(
            prop_oneof!["\\PC{0,60}", "[a-z中国()\"*~:+ORsite. -]{0,40}", "(spi|web|the|-|\"|OR| ){0,12}"],
            1..20,
        ),
    ) {
        static SHARED: std::sync::OnceLock<(tempfile::TempDir, View, std::path::PathBuf)> =
            std::sync::OnceLock::new();
        let (_, view, texts) = SHARED.get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            let scene = spiders(dir.path());
            let view = view(&scene, dir.path());
            (dir, view, scene.texts.clone())
        });
        for query in queries {
            let options = SearchOptions { explain: true, facets: true, ..SearchOptions::default() };
            match view.search(&query, texts, &scene::Told::default(), &options) {
                Ok(answer) => {
                    prop_assert!(!answer.timed_out);
                    prop_assert!(answer.hits.len() as u64 <= answer.total + answer.partial);
                }
                Err(SearchError::Mistake(mistake)) => prop_assert!(!mistake.message.is_empty()),
                Err(e) => panic!("{query}: {e}"),
            }
        }
    }
}
