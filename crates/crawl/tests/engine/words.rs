//! The word index beside a crawl and after it.

use crate::raw::{Raw, http, missing};
use crate::support::{Opened, Place, order, settings};
use argiope_crawl::{
    Asked, Following, Question, SearchOrder, Verified, WordOrder, answer, verify_words,
};
use serde_json::{Value, json};

fn html(title: &str, text: &str) -> Vec<u8> {
    let body = format!("<!doctype html><title>{title}</title><p>{text}");
    http("200 OK", &[("Content-Type", "text/html; charset=utf-8")], body)
}

async fn site() -> Raw {
    Raw::start(|asked| match asked.path.as_str() {
        "/" => {
            html("Start", "spiders weave <a href=/web>orb webs</a> and <a href=/silk>thread</a>")
        }
        "/web" => html("Web", "the orb of a spider, the orb again"),
        "/silk" => html("Silk", "蜘蛛の糸 and Straße"),
        _ => missing(),
    })
    .await
}

fn ask(opened: &Opened, question: Question) -> Vec<Value> {
    let followers = opened.followers();
    followers.words.catch_up(true, |_| {}).expect("an index");
    match answer(&question, &opened.dir, &*opened.store, &followers, &settings(), None) {
        Asked::Rows(rows) | Asked::Piece(rows, _) => rows,
        Asked::Sorry(why) | Asked::Wrong(why) | Asked::Unknown(why) => panic!("{why}"),
    }
}

fn found(opened: &Opened, query: &str) -> Vec<String> {
    let order = SearchOrder { query: query.to_owned(), limit: 10, ..SearchOrder::default() };
    let rows = ask(opened, Question::Search(order));
    let last = rows.last().expect("a last row");
    assert!(last["took_ms"].is_number(), "{last}");
    let hits = rows[..rows.len() - 1].iter().filter(|row| row["partial"] == false);
    hits.map(|row| row["url"].as_str().expect("a URL").to_owned()).collect()
}

fn verified(opened: &Opened) -> Verified {
    let mut out = Verified::default();
    verify_words(&*opened.store, &opened.followers().words, &mut out).expect("an index");
    out
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_crawled_is_found_by_its_words_and_by_what_others_call_it() {
    let (site, place) = (site().await, Place::new());
    let opened = place.open();
    let followers = opened.followers();
    let following = Following::start(followers.words.clone()).expect("a thread");
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let running = crate::support::Running::start(opened, settings(), Some(order(&[site.url("/")])));
    running.end().await;
    following.finish(true);
    drop(followers);
    let opened = Opened { dir, store };
    let both = [site.url("/web"), site.url("/")];
    assert_eq!(found(&opened, "orb spider"), both, "the exact form before spiders");
    assert_eq!(found(&opened, "\"spider the orb\""), [site.url("/web")]);
    assert_eq!(found(&opened, "thread silk"), [site.url("/silk")], "its link says thread");
    assert_eq!(found(&opened, "蜘蛛"), [site.url("/silk")]);
    assert_eq!(found(&opened, "strasse"), [site.url("/silk")]);
    assert_eq!(found(&opened, "link:127.0.0.1:1/none"), Vec::<String>::new());
    let linking = found(&opened, &format!("link:{}", site.url("/web")));
    assert_eq!(linking, [site.url("/")]);
    let places = ask(&opened, Question::Word { word: "Orb".to_owned() });
    let on = |path: &str| places.iter().find(|row| row["url"] == json!(site.url(path)));
    assert_eq!(on("/web").expect("it is there")["positions"], json!([2, 7]));
    assert_eq!(on("/").expect("it is there")["positions"], json!([3]));
    assert_eq!(places.len(), 2);
    let order = WordOrder { prefix: "spi".to_owned(), limit: 9, ..WordOrder::default() };
    let words = ask(&opened, Question::Words(order));
    let all: Vec<&str> = words.iter().filter_map(|row| row["word"].as_str()).collect();
    assert_eq!(all, ["spider", "spiders"]);
    assert!(words[0]["word_id"].is_string(), "{words:?}");
    let of_page = ask(&opened, Question::DocWords(site.url("/web")));
    let orb = of_page.iter().find(|row| row["word"] == "orb").expect("its word");
    assert_eq!(orb["positions"], json!([2, 7]));
    let verified = verified(&opened);
    assert_eq!((verified.documents, verified.problems), (3, vec![]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_indexed_while_it_was_crawled_is_indexed_when_it_is_asked_for() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    assert!(!opened.dir.index().exists());
    assert_eq!(found(&opened, "intitle:web orb"), [site.url("/web")]);
    // A damaged index is made again.
    std::fs::write(opened.dir.index().join("meta.json"), "{}").expect("a file");
    assert_eq!(found(&opened, "intitle:web orb"), [site.url("/web")]);
    assert_eq!(verified(&opened).problems, vec![]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistake_in_a_query_is_told_with_its_place() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    let order = SearchOrder { query: "orb (spider".to_owned(), limit: 1, ..Default::default() };
    let followers = opened.followers();
    let question = Question::Search(order);
    let said = answer(&question, &opened.dir, &*opened.store, &followers, &settings(), None);
    assert!(matches!(&said, Asked::Wrong(why) if why.contains("character 5")), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_the_index_lost_is_found_by_verify() {
    let (site, place) = (site().await, Place::new());
    place.crawl(settings(), order(&[site.url("/")])).await;
    let opened = place.open();
    let followers = opened.followers();
    followers.words.catch_up(false, |_| {}).expect("an index");
    drop(followers);
    let doc = opened.rows()[&site.url("/web")].doc;
    let made = argiope_index::made_with(&opened.dir.index(), 16 << 20).unwrap().expect("an index");
    let mut index = argiope_index::Index::open(&opened.dir.index(), &made).expect("an index");
    index.remove(doc).expect("taken out");
    index.commit().expect("kept");
    drop(index);
    let problems = verified(&opened).problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].problem, "it is not in the word index");
}
