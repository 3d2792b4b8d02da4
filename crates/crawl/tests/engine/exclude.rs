//! Sites excluded by hand: while a crawl runs and when none does, until they are forgiven.

use crate::raw::{Asked, Raw, http, missing, page, redirect};
use crate::support::{Opened, Place, Running, order, settings, within};
use argiope_crawl::{
    Asked as Reply, Ended, EngineSettings, Listening, Owner, Question, answer, ask_owner, listen,
};
use argiope_frontier::SkipReason;
use argiope_store::UrlState;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const EXCLUDED: UrlState = UrlState::Skipped(SkipReason::Excluded);

/// A site of so many pages, each of which links to two more and elsewhere.
async fn site(pages: usize, elsewhere: Vec<String>) -> Raw {
    Raw::start(move |asked: &Asked| {
        std::thread::sleep(Duration::from_millis(3));
        let n: usize = asked.path[1..].parse().unwrap_or(0);
        let next = [2 * n + 1, 2 * n + 2].into_iter().filter(|n| *n < pages);
        let mut links: Vec<String> = next.map(|n| format!("/{n}")).collect();
        links.extend(elsewhere.iter().map(|to| format!("{to}/{n}")));
        page(&links.iter().map(String::as_str).collect::<Vec<_>>())
    })
    .await
}

fn name(server: &Raw) -> String {
    format!("127.0.0.1:{}", server.port)
}

fn idle(opened: &Opened, question: &Question) -> Reply {
    answer(question, &opened.dir, &*opened.store, &opened.followers(), &settings(), None)
}

fn rows(reply: Reply) -> Vec<Value> {
    match reply {
        Reply::Rows(rows) | Reply::Piece(rows, _) => rows,
        Reply::Sorry(why) | Reply::Wrong(why) | Reply::Unknown(why) => panic!("{why}"),
    }
}

async fn ask(data: &Path, question: Question) -> Vec<Value> {
    let data = data.to_owned();
    let asked = tokio::task::spawn_blocking(move || ask_owner(&data, &question));
    rows(within(30, asked).await.unwrap().expect("the owner answers").expect("there is an owner"))
}

/// Starts a crawl that can be asked.
fn start(place: &Place, settings: EngineSettings, seeds: &[String]) -> (Running, Listening) {
    let opened = place.open();
    let (dir, store) = (opened.dir.clone(), opened.store.clone());
    let followers = opened.followers();
    let running = Running::start(opened, settings.clone(), Some(order(seeds)));
    let (live, orders) = (running.live.clone(), running.orders.clone());
    (
        running,
        listen(Owner { dir, store, followers, live, settings, orders: Some(orders), leave: None })
            .expect("a control socket"),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_site_excluded_while_it_is_crawled_is_asked_for_nothing_more() {
    // Its pages never end.
    let trap = site(usize::MAX / 4, Vec::new()).await;
    let good = site(120, vec![format!("http://{}/from", name(&trap))]).await;
    let place = Place::new();
    let (running, listening) = start(&place, settings(), &[trap.url("/0"), good.url("/0")]);
    running.until_fetched(40).await;
    let told = ask(&place.path, Question::Exclude { name: name(&trap) }).await;
    assert_eq!((&told[0]["hosts"], &told[0]["state"]), (&1.into(), &"excluded".into()));
    let asked = trap.paths().len();
    let summary = running.end().await;
    drop(listening);
    assert_eq!(summary.ended, Ended::Done, "it ends, though the trap does not");
    let more = trap.paths().len() - asked;
    assert!(more <= settings().per_host, "{more} requests after it was excluded");
    let counters = &summary.jobs[0].counters;
    assert_eq!(counters.queued, 0);
    let opened = place.open();
    let left = opened.in_state(EXCLUDED);
    assert_eq!(counters.skipped_excluded, left.len() as u64);
    assert!(left.contains(&trap.url("/from/119")), "links to it are kept and left alone");
    let fetched = opened.in_state(UrlState::Fetched);
    assert_eq!(fetched.iter().filter(|url| url.starts_with(&good.url("/"))).count(), 120);
    // It is told.
    let why = rows(idle(&opened, &Question::Explain { url: trap.url("/from/119") }));
    let rule = why.iter().find(|row| row["rule"] == "exclusion").expect("a rule of its own");
    assert_eq!(rule["verdict"], "no");
    assert!(rule["detail"].as_str().unwrap().contains("sites forgive"), "{rule}");
    let never = rows(idle(&opened, &Question::Explain { url: trap.url("/never") }));
    assert_eq!(never.last().unwrap()["state"], "never met; its site is excluded");
    let sites = rows(idle(&opened, &Question::Sites { filter: None }));
    let states: Vec<&str> = sites.iter().map(|row| row["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["excluded", "ok"]);
    opened.assert_verified();
    drop(opened);

    // It holds for other jobs in this directory.
    let asked = trap.paths().len();
    let summary = place.crawl(settings(), order(&[good.url("/from"), trap.url("/start")])).await;
    assert_eq!((summary.ended, trap.paths().len()), (Ended::Done, asked));
    let counters = &summary.jobs.last().unwrap().counters;
    assert!(counters.skipped_excluded > 0 && counters.queued == 0, "{counters:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_forgiven_site_gives_all_its_pages() {
    let there = site(150, Vec::new()).await;
    let good = site(40, Vec::new()).await;
    let place = Place::new();
    let (running, listening) = start(&place, settings(), &[there.url("/0"), good.url("/0")]);
    running.until_fetched(30).await;
    ask(&place.path, Question::Exclude { name: name(&there) }).await;
    let summary = running.end().await;
    drop(listening);
    assert!(summary.fetched < 190, "it was excluded in time");
    let opened = place.open();
    let told = rows(idle(&opened, &Question::Forgive { name: name(&there) }));
    assert!(told[0]["urls"].as_u64() > Some(0), "{told:?}");
    assert!(opened.store.exclusions().unwrap().is_empty());
    drop(opened);
    let summary = place.start(settings(), None).end().await;
    let counters = &summary.jobs[0].counters;
    assert_eq!((summary.ended, counters.fetched, counters.skipped_excluded), (Ended::Done, 190, 0));
    assert_eq!(there.counts().values().filter(|n| **n > 1).count(), 0, "none is fetched twice");
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn excluded_and_forgiven_again_and_again_while_it_is_crawled_nothing_is_lost() {
    let there = site(200, Vec::new()).await;
    let good = site(300, vec![format!("http://{}", name(&there))]).await;
    let place = Place::new();
    let polite = EngineSettings { per_host: 1, ..settings() };
    let (running, listening) = start(&place, polite, &[there.url("/0"), good.url("/0")]);
    for n in 1..6 {
        running.until_fetched(20 * n).await;
        ask(&place.path, Question::Exclude { name: name(&there) }).await;
        let asked = there.paths().len();
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert!(there.paths().len() <= asked + 1, "one under way may end");
        ask(&place.path, Question::Forgive { name: name(&there) }).await;
    }
    let summary = running.end().await;
    drop(listening);
    let counters = &summary.jobs[0].counters;
    assert_eq!((summary.ended, counters.skipped_excluded, counters.queued), (Ended::Done, 0, 0));
    let fetched = place.open().in_state(UrlState::Fetched);
    let of = |server: &Raw| fetched.iter().filter(|u| u.starts_with(&server.url("/"))).count();
    assert_eq!((of(&there), of(&good)), (300, 300));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_excluded_before_anything_is_known_of_it_is_never_asked_not_even_for_robots_txt() {
    let never = Raw::with_robots(|_| missing()).await;
    let good = site(5, vec![format!("http://{}", name(&never))]).await;
    let place = Place::new();
    let opened = place.open();
    let told =
        rows(idle(&opened, &Question::Exclude { name: format!("http://{}/", name(&never)) }));
    assert_eq!(told[0]["hosts"], 0);
    let shown = rows(idle(&opened, &Question::Sites { filter: None }));
    assert_eq!(shown[0]["site"], format!("http://{}", name(&never)));
    assert_eq!((&shown[0]["host"], &shown[0]["state"]), (&Value::Null, &"excluded".into()));
    drop(opened);
    let mut both = order(&[good.url("/0"), never.url("/start")]);
    both.domains = vec!["127.0.0.1".to_owned()];
    let summary = place.crawl(settings(), both).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 5));
    assert!(never.counts().is_empty(), "{:?}", never.counts());
    assert_eq!(summary.jobs[0].counters.skipped_excluded, 6);
    assert_eq!(place.open().in_state(EXCLUDED).len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_to_be_tried_again_does_not_keep_the_crawl_when_its_site_is_excluded() {
    let tired = Raw::start(|_| http("500 Internal Server Error", &[], "")).await;
    let good = site(3, Vec::new()).await;
    let place = Place::new();
    let patient = EngineSettings { retry_delay: Duration::from_secs(3600), ..settings() };
    let (running, listening) = start(&place, patient, &[tired.url("/a"), good.url("/0")]);
    running.until_fetched(3).await;
    within(10, async {
        while running.live.snapshot().errors == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    ask(&place.path, Question::Exclude { name: name(&tired) }).await;
    let summary = running.end().await;
    drop(listening);
    assert_eq!((summary.ended, summary.jobs[0].counters.skipped_excluded), (Ended::Done, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_excluded_is_so_after_a_crash() {
    let trap = site(usize::MAX / 4, Vec::new()).await;
    let place = Place::new();
    let (running, listening) = start(&place, settings(), &[trap.url("/0")]);
    running.until_fetched(5).await;
    ask(&place.path, Question::Exclude { name: "127.0.0.1".to_owned() }).await;
    running.abandon();
    drop(listening);
    let opened = place.open();
    let names: Vec<String> =
        opened.store.exclusions().unwrap().into_iter().map(|(name, _)| name.into()).collect();
    assert_eq!(names, ["127.0.0.1"]);
    drop(opened);
    let asked = trap.paths().len();
    let summary = place.start(settings(), None).end().await;
    assert_eq!((summary.ended, trap.paths().len()), (Ended::Done, asked));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robots_txt_that_lies_with_an_excluded_site_is_not_asked_for() {
    let away = Raw::with_robots(|_| http("200 OK", &[("Content-Type", "text/plain")], "")).await;
    let to = format!("http://{}/rules", name(&away));
    let here = Raw::with_robots(move |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => redirect(&to),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    rows(idle(&place.open(), &Question::Exclude { name: name(&away) }));
    let summary = place.crawl(settings(), order(&[here.url("/a")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 0));
    assert!(away.counts().is_empty(), "{:?}", away.counts());
    assert!(here.paths().is_empty(), "its rules are not known: no page of it is asked for");
    let opened = place.open();
    let why = opened.capture(&here.url("/a")).outcome.to_string();
    assert!(why.contains("that site is excluded"), "{why}");
    for name in [name(&away), name(&here)] {
        rows(idle(&opened, &Question::Forgive { name }));
    }
    drop(opened);
    let summary = place.start(settings(), None).end().await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 1));
    assert_eq!(away.counts()["/rules"], 1);
}

#[test]
fn names_are_understood_or_refused_with_a_sentence() {
    let place = Place::new();
    let opened = place.open();
    let sorry = |question: Question| match idle(&opened, &question) {
        Reply::Sorry(why) => why,
        other => panic!("{other:?}"),
    };
    let refused = sorry(Question::Exclude { name: "example.org/path".to_owned() });
    assert!(refused.contains("no site, host or origin"), "{refused}");
    rows(idle(&opened, &Question::Exclude { name: "Example.ORG".to_owned() }));
    let part = sorry(Question::Forgive { name: "www.example.org".to_owned() });
    assert!(part.contains("`argiope sites forgive example.org`"), "{part}");
    let unknown = sorry(Question::Forgive { name: "other.org".to_owned() });
    assert!(unknown.contains("no host of other.org is known"), "{unknown}");
    rows(idle(&opened, &Question::Forgive { name: "example.org".to_owned() }));
    assert!(opened.store.exclusions().unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_sites_take_up_on_disk_is_what_lies_there() {
    let same = |_: &Asked| http("200 OK", &[("Content-Type", "text/html")], "<p>the same page");
    let (one, two) = (Raw::start(same).await, site(20, Vec::new()).await);
    let place = Place::new();
    let seeds = [one.url("/a"), one.url("/b"), one.url("/c"), two.url("/0")];
    let summary = place.crawl(settings(), order(&seeds)).await;
    assert_eq!(summary.fetched, 23);
    let opened = place.open();
    let disk = |server: &Raw| {
        let shown = rows(idle(&opened, &Question::Sites { filter: Some(name(server)) }));
        shown[0]["disk"].as_u64().expect("bytes")
    };
    let bytes = |dir: &str| -> u64 {
        let files = std::fs::read_dir(place.path.join(dir)).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    // Each segment begins with a head of its own.
    let (counted, there) = (disk(&one) + disk(&two), bytes("warc") + bytes("text"));
    assert!(counted <= there && there - counted < 1000, "{counted} of {there}");
    let records = opened.all().into_iter().flat_map(|(key, _)| opened.store.captures(key).unwrap());
    let revisits: Vec<_> = records.filter(|capture| capture.revisit).collect();
    assert_eq!(revisits.len(), 11, "all but the first of the same, and of the pages without links");
    let texts = |c: &argiope_model::Capture| c.text.map_or(0, |at| at.length);
    assert!(revisits.iter().all(|c| texts(c) > 0), "they have the first one's text");
}
