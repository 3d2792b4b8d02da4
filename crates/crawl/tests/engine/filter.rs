//! Filters: what they keep from being asked for, by URLs and by answers, and how they are changed.

use crate::raw::{Asked, Raw, http, page};
use crate::support::{Opened, Place, Running, order, settings, within};
use argiope_crawl::{
    Asked as Reply, Ended, Listening, NewJob, Owner, Question, answer, ask_owner, listen,
    set_filter,
};
use argiope_filter::{Rule, Saved};
use argiope_frontier::SkipReason;
use argiope_store::UrlState;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const FILTERED: UrlState = UrlState::Skipped(SkipReason::Filter);

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn text(rule: Rule) -> String {
    Saved { name: "mine".to_owned(), rule }.to_text()
}

fn not(rule: Rule) -> Rule {
    Rule::Not(Box::new(rule))
}

fn under(seeds: &[String], rule: Rule) -> NewJob {
    NewJob { filter: Some(Some(text(rule))), ..order(seeds) }
}

fn rows(reply: Reply) -> Vec<Value> {
    match reply {
        Reply::Rows(rows) | Reply::Piece(rows, _) => rows,
        Reply::Sorry(why) | Reply::Wrong(why) | Reply::Unknown(why) => panic!("{why}"),
    }
}

fn idle(opened: &Opened, question: &Question) -> Vec<Value> {
    let followers = opened.followers();
    rows(answer(question, &opened.dir, &*opened.store, &followers, &settings(), None))
}

async fn ask(data: &Path, question: Question) -> Value {
    let data = data.to_owned();
    let asked = tokio::task::spawn_blocking(move || ask_owner(&data, &question));
    let asked = within(30, asked).await.unwrap().expect("the owner answers");
    rows(asked.expect("there is an owner")).remove(0)
}

fn start(place: &Place, order: NewJob) -> (Running, Listening) {
    let opened = place.open();
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let followers = opened.followers();
    let running = Running::start(opened, settings(), Some(order));
    let (live, orders) = (running.live.clone(), Some(running.orders.clone()));
    let settings = settings();
    (
        running,
        listen(Owner { dir, store, followers, live, settings, orders, leave: None })
            .expect("a socket"),
    )
}

fn paths(server: &Raw) -> BTreeSet<String> {
    server.paths().into_iter().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn links_that_a_filter_refuses_are_remembered_and_not_asked_for() {
    let site = Raw::start(|_| page(&["/a", "/a/b", "/print/a", "/a?sort=up", "/x.html"])).await;
    let place = Place::new();
    let rule = Rule::All(vec![
        not(Rule::Param(words(&["sort"]))),
        not(Rule::Prefix(words(&["/print/"]))),
        Rule::MinPathDepth(1),
    ]);
    let summary = place.crawl(settings(), under(&[site.url("/")], rule)).await;
    assert_eq!(summary.ended, Ended::Done);
    assert_eq!(paths(&site), words(&["/", "/a", "/a/b", "/x.html"]).into_iter().collect());
    let opened = place.open();
    let left = BTreeSet::from([site.url("/print/a"), site.url("/a?sort=up")]);
    assert_eq!(opened.in_state(FILTERED), left);
    assert_eq!(summary.jobs[0].counters.skipped_filter, 2);
    let told = idle(&opened, &Question::Explain { url: site.url("/a?sort=up") });
    let rule = told.iter().find(|row| row["rule"] == "filter (job 1)").expect("a row of its own");
    assert_eq!(rule["verdict"], "no");
    assert!(rule["detail"].as_str().unwrap().contains("the parameter sort"), "{rule}");
    assert_eq!(told.last().unwrap()["state"], "skipped: filter");
    // The start URL has no segment: it is asked for, and that is said.
    let told = idle(&opened, &Question::Explain { url: site.url("/") });
    let rule = told.iter().find(|row| row["rule"] == "filter (job 1)").unwrap();
    assert!(rule["detail"].as_str().unwrap().contains("in spite of that"), "{rule}");
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_is_refused_as_soon_as_its_head_or_its_body_tells() {
    let html = [("Content-Type", "text/html")];
    let site = Raw::start(move |asked: &Asked| match asked.path.as_str() {
        "/" => page(&["/long", "/plain", "/de", "/en", "/odd"]),
        // More is promised than is ever sent: who wants the body waits for it in vain.
        "/long" => {
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999999\r\n\r\n<p>"
                .to_vec()
        }
        "/plain" => http("200 OK", &[("Content-Type", "text/plain")], "just words"),
        "/de" => http("200 OK", &html, "<html lang=de><p>Eine Spinne <a href=/from-de>x</a>"),
        "/en" => http("200 OK", &html, "<html lang=en><p>A spider <a href=/from-en>x</a>"),
        _ => http("200 OK", &html, "<html lang=en><p>another"),
    })
    .await;
    let place = Place::new();
    let rule = Rule::All(vec![
        Rule::MaxSize(100_000),
        Rule::Type(words(&["html"])),
        Rule::Any(vec![Rule::Language(words(&["en"])), Rule::Suffix(words(&["/odd"]))]),
    ]);
    let summary = place.crawl(settings(), under(&[site.url("/")], rule)).await;
    assert_eq!(summary.ended, Ended::Done);
    let opened = place.open();
    let left = ["/long", "/plain", "/de"].map(|path| site.url(path));
    assert_eq!(opened.in_state(FILTERED), BTreeSet::from(left.clone()));
    let fetched = ["/", "/en", "/odd", "/from-en"].map(|path| site.url(path));
    assert_eq!(opened.in_state(UrlState::Fetched), BTreeSet::from(fetched));
    for (url, why) in left.iter().zip(["9999999 bytes", "text/plain", "language is de"]) {
        let capture = opened.capture(url);
        assert!(capture.record.is_none() && capture.text.is_none(), "nothing of it is kept");
        let outcome = capture.outcome.to_string();
        assert!(outcome.contains("by the filter") && outcome.contains(why), "{outcome}");
    }
    assert!(!paths(&site).contains("/from-de"), "what is refused leads nowhere");
    assert_eq!(site.counts()["/long"], 1, "it is not tried again");
    opened.assert_verified();
}

/// A site of so many pages, each of which links to two more, a little slow.
async fn site(pages: usize) -> Raw {
    Raw::start(move |asked: &Asked| {
        std::thread::sleep(Duration::from_millis(3));
        let n: usize = asked.path.rsplit('/').next().unwrap().parse().unwrap_or(0);
        let next = [2 * n + 1, 2 * n + 2].into_iter().filter(|n| *n < pages);
        let path = |n: usize| if n % 4 == 3 { format!("/odd/{n}") } else { format!("/{n}") };
        let links: Vec<String> = next.map(path).collect();
        page(&links.iter().map(String::as_str).collect::<Vec<_>>())
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_filter_set_while_a_crawl_runs_is_obeyed_by_the_next_request_and_can_be_taken_back() {
    let endless = site(usize::MAX / 4).await;
    let place = Place::new();
    let (running, listening) = start(&place, order(&[endless.url("/0")]));
    running.until_fetched(40).await;
    let small = text(Rule::Regex(words(&["/[0-9]{1,2}$"])));
    let told = ask(&place.path, Question::SetFilter { job: None, text: Some(small) }).await;
    assert_eq!((&told["filter"], &told["former"]), (&"mine".into(), &Value::Null));
    let asked = endless.paths();
    let summary = running.end().await;
    drop(listening);
    assert_eq!(summary.ended, Ended::Done, "it ends, though the site does not");
    let more = endless.paths().split_off(asked.len());
    let against: Vec<_> =
        more.iter().filter(|path| path.rsplit('/').next().unwrap().len() > 2).collect();
    assert!(against.len() <= settings().per_host, "asked for after it was refused: {against:?}");
    let opened = place.open();
    let left = opened.in_state(FILTERED).len();
    assert!(left > 0);
    assert_eq!(opened.store.jobs().unwrap()[0].counters.skipped_filter, left as u64);
    assert_eq!(idle(&opened, &Question::Filter { job: Some(1) })[0]["filter"], "mine");
    // Without it everything comes back, though nobody crawls.
    let told = idle(&opened, &Question::SetFilter { job: Some(1), text: None });
    assert_eq!((&told[0]["urls"], &told[0]["former"]), (&left.into(), &"mine".into()));
    assert_eq!(opened.in_state(FILTERED).len(), 0);
    let job = opened.store.jobs().unwrap().remove(0);
    assert_eq!((job.state.name(), job.counters.skipped_filter), ("open", 0));
    assert_eq!(job.counters.queued, left as u64);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_former_filter_refused_comes_back_while_the_crawl_runs() {
    let pages = 300;
    let served = site(pages).await;
    let place = Place::new();
    let rule = not(Rule::Prefix(words(&["/odd/"])));
    let (running, listening) = start(&place, under(&[served.url("/0")], rule));
    running.until_fetched(30).await;
    let told = ask(&place.path, Question::SetFilter { job: Some(1), text: None }).await;
    assert!(told["urls"].as_u64() > Some(0), "{told}");
    let summary = running.end().await;
    drop(listening);
    assert_eq!((summary.ended, summary.jobs[0].counters.fetched), (Ended::Done, pages as u64));
    assert_eq!(summary.jobs[0].counters.skipped_filter, 0);
    assert_eq!(served.counts().values().filter(|n| **n > 1).count(), 0, "none is fetched twice");
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_order_under_another_filter_goes_on_with_the_same_job() {
    let served = site(60).await;
    let seeds = [served.url("/0")];
    let place = Place::new();
    let odd = || not(Rule::Prefix(words(&["/odd/"])));
    let first = place.crawl(settings(), under(&seeds, odd())).await;
    let few = first.jobs[0].counters.fetched;
    assert!(few < 60);
    // Nothing is said of a filter: the job keeps it, and nothing is left to do.
    let opened = place.open();
    let jobs = opened.store.jobs().unwrap();
    let pick = |order| {
        argiope_crawl::pick_job(
            order,
            &jobs,
            &argiope_model::Suffixes::built_in(),
            crate::support::now(),
        )
    };
    assert!(matches!(pick(order(&seeds)), argiope_crawl::Picked::Finished(_)));
    assert!(matches!(pick(under(&seeds, odd())), argiope_crawl::Picked::Finished(_)));
    let none = NewJob { filter: Some(None), ..order(&seeds) };
    let argiope_crawl::Picked::Resumed(job) = pick(none.clone()) else { panic!("it goes on") };
    assert_eq!((job.id.0, job.filter), (1, None));
    let told = set_filter(&*opened.store, Some(1), None, crate::support::now()).unwrap();
    assert!(told["urls"].as_u64() > Some(0), "{told}");
    drop(opened);
    let second = place.crawl(settings(), none).await;
    assert_eq!((second.jobs[0].counters.fetched, second.jobs.len()), (60, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_script_that_never_ends_refuses_its_urls_and_the_crawl_goes_on() {
    let served = site(40).await;
    let place = Place::new();
    let rule = Rule::Script {
        name: "mine.rhai".to_owned(),
        text: "fn crawl(url) { if url.path.starts_with(\"/odd/\") { loop {} } true }".to_owned(),
    };
    let summary = place.crawl(settings(), under(&[served.url("/0")], rule)).await;
    assert_eq!(summary.ended, Ended::Done);
    assert!(summary.jobs[0].counters.skipped_filter > 0 && summary.fetched > 3);
    assert!(paths(&served).iter().all(|path| !path.starts_with("/odd/")));
}
