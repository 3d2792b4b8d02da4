//! Coming back: what a round visits, and what it leaves alone.

use crate::raw::{Raw, http, missing};
use crate::support::{Place, now, order, settings, url};
use argiope_crawl::{EngineSettings, Return, RevisitSettings};
use argiope_frontier::revisit::{PageState, Pattern, PolicyName};
use argiope_model::{ChangeReason, Limits, OutcomeKind, Time};
use argiope_store::{Batch, UrlState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const HOUR: i64 = 3_600_000;

fn html(body: &str) -> Vec<u8> {
    http("200 OK", &[("Content-Type", "text/html")], body)
}

fn with(revisit: RevisitSettings) -> EngineSettings {
    EngineSettings { revisit, ..settings() }
}

/// A page with ten children that say another thing in every round.
async fn family(round: Arc<AtomicUsize>) -> Raw {
    Raw::start(move |asked| {
        let n = round.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/" => {
                let links: String = (0..10).map(|n| format!("<a href=/c{n}>child</a> ")).collect();
                html(&format!("<title>parent</title><p>Always the same. {links}"))
            }
            path if path.starts_with("/c") => {
                let word = ["first", "second", "third"][n % 3];
                html(&format!("<title>child</title><p>What {path} says for the {word} time."))
            }
            _ => missing(),
        }
    })
    .await
}

/// Says of pages what visits would have: when they are due, and whether the last found a change.
fn planned(place: &Place, plan: impl Fn(&str) -> Option<PageState>) {
    let opened = place.open();
    let plans =
        opened.all().into_iter().filter_map(|(key, row)| Some((key, plan(row.url.path())?)));
    let plans = plans.collect();
    opened.store.commit(Batch { now: now(), plans, ..Batch::default() }).expect("plans");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_page_is_expanded_when_enough_of_its_children_have_changed() {
    for (changed, expanded) in [(4, true), (3, false)] {
        let round = Arc::new(AtomicUsize::new(0));
        let site = family(round.clone()).await;
        let place = Place::new();
        place.crawl(settings(), order(&[site.url("/")])).await;
        let time = now();
        // The parent is due; its children are not, and some of them had changed when last seen.
        planned(&place, |path| {
            let records = PageState { records: 2, ..PageState::default() };
            Some(match path.strip_prefix("/c").and_then(|n| n.parse::<usize>().ok()) {
                None => PageState { last: Some(Time(time.0 - 2 * HOUR)), due: time, ..records },
                Some(n) => PageState {
                    last: Some(Time(time.0 - HOUR)),
                    due: Time(time.0 + 24 * HOUR),
                    changes: u64::from(n < changed),
                    ..records
                },
            })
        });
        let revisit =
            RevisitSettings { policy: PolicyName::Selective, ..RevisitSettings::default() };
        let told = place.come_back(with(revisit), Return::Due).await.again;
        let visited = if expanded { 11 } else { 1 };
        assert_eq!(told.visited, visited, "{changed} of 10 children had changed");
        let opened = place.open();
        let parent = opened.store.urls(&[url(&site.url("/")).key(opened.dir.suffixes())]);
        let parent = parent.expect("rows").remove(0).expect("the parent").plan.expect("a plan");
        assert_eq!(parent.threshold, if expanded { 3_800 } else { 3_600 });
        opened.assert_verified();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_visits_what_is_due_or_named_and_a_limit_of_pages_stays() {
    let round = Arc::new(AtomicUsize::new(0));
    let site = family(round.clone()).await;
    let place = Place::new();
    let limits = Limits { pages: Some(5), ..Limits::default() };
    let crawled =
        place.crawl(settings(), argiope_crawl::NewJob { limits, ..order(&[site.url("/")]) }).await;
    assert_eq!(crawled.fetched, 5);
    round.store(1, Ordering::SeqCst);
    let none = place.come_back(settings(), Return::Due).await;
    assert_eq!((none.again.visited, none.fetched), (0, 0), "nothing is due yet");
    let only = vec![Pattern::new(&site.url("/c*"))];
    let some = RevisitSettings { only, ..RevisitSettings::default() };
    let some = place.come_back(with(some), Return::All).await;
    assert_eq!((some.again.visited, some.again.changed, some.fetched), (4, 4, 0));
    let all = place.come_back(settings(), Return::All).await;
    assert_eq!((all.again.visited, all.again.unchanged, all.fetched), (5, 5, 0));
    let opened = place.open();
    assert_eq!(opened.in_state(UrlState::Fetched).len(), 5);
    assert_eq!(opened.store.jobs().expect("jobs")[0].counters.fetched, 5);
    let child = opened.captures(&site.url("/c0"));
    let reasons: Vec<ChangeReason> =
        child.iter().filter_map(|c| c.verdict).map(|verdict| verdict.reason).collect();
    assert_eq!(reasons, [ChangeReason::New, ChangeReason::Text, ChangeReason::Identical]);
    assert_eq!(child[2].outcome.kind, OutcomeKind::NotModified);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_that_names_a_newer_date_makes_a_page_due() {
    let round = Arc::new(AtomicUsize::new(0));
    let (later, port) = (round.clone(), Arc::new(OnceLock::new()));
    let own: Arc<OnceLock<u16>> = port.clone();
    let site = Raw::with_robots(move |asked| {
        let port = own.get().copied().unwrap_or_default();
        let n = later.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/robots.txt" => {
                http("200 OK", &[], format!("Sitemap: http://127.0.0.1:{port}/map.xml"))
            }
            "/map.xml" => {
                let date = ["2020-01-01", "2999-01-01"][n];
                let listed = |path: &str, date: &str| {
                    format!("<url><loc>{path}</loc><lastmod>{date}</lastmod></url>")
                };
                let both = listed("/a", date) + listed("/b", "2020-01-01").as_str();
                let map = format!("<urlset>{both}</urlset>");
                http("200 OK", &[("Content-Type", "application/xml")], &map)
            }
            "/" => html("<a href=/a>a</a> <a href=/b>b</a>"),
            path => html(&format!("<p>{path} says {n}")),
        }
    })
    .await;
    port.set(site.port).expect("set once");
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    round.store(1, Ordering::SeqCst);
    // The sitemap alone is due.
    let time = now();
    planned(&place, |path| {
        let due = if path == "/map.xml" { time } else { Time(time.0 + 48 * HOUR) };
        let last = Some(Time(time.0 - HOUR));
        Some(PageState { last, due, records: 2, ..PageState::default() })
    });
    place.come_back(settings(), Return::Due).await;
    let rows = place.rows();
    let due = |path: &str| rows[&site.url(path)].plan.expect("a plan").due;
    assert!(due("/a") < Time(time.0 + HOUR), "it was named: {}", due("/a"));
    assert!(due("/b") > Time(time.0 + 24 * HOUR), "nothing is said of it: {}", due("/b"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_comes_back_and_what_is_refused_stays_what_it_was() {
    let round = Arc::new(AtomicUsize::new(0));
    let later = round.clone();
    let site =
        Raw::with_robots(move |asked| match (asked.path.as_str(), later.load(Ordering::SeqCst)) {
            ("/robots.txt", 2) => http("200 OK", &[], "User-agent: *\nDisallow: /kept"),
            ("/robots.txt", _) => missing(),
            ("/", _) => html("<a href=/away>away</a> <a href=/kept>kept</a>"),
            ("/away", 1) => missing(),
            (path, _) => html(&format!("<p>{path} as it always was")),
        })
        .await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    round.store(1, Ordering::SeqCst);
    let gone = place.come_back(settings(), Return::All).await.again;
    assert_eq!((gone.visited, gone.unchanged, gone.gone), (3, 2, 1));
    assert_eq!(place.rows()[&site.url("/away")].state, UrlState::Failed);
    round.store(0, Ordering::SeqCst);
    let back = place.come_back(settings(), Return::All).await.again;
    assert_eq!((back.unchanged, back.gone), (3, 0));
    let opened = place.open();
    let last = opened.captures(&site.url("/away")).pop().and_then(|c| c.verdict);
    assert_eq!(last.map(|verdict| verdict.reason), Some(ChangeReason::Back));
    assert_eq!(opened.store.jobs().expect("jobs")[0].counters.failed, 0);
    // Robots files are asked for again after a day; here one says otherwise at once.
    let hosts: Vec<_> = opened.store.scan_hosts(None, 9).expect("hosts");
    let keys: Vec<_> = hosts.iter().map(|(key, _)| *key).collect();
    let known = opened.store.robots(&keys).expect("robots files");
    let stale = keys.into_iter().zip(known).filter_map(|(key, file)| {
        let mut file = file?;
        file.until = Time(0);
        Some((key, file))
    });
    let robots = stale.collect();
    opened.store.commit(Batch { now: now(), robots, ..Batch::default() }).expect("robots files");
    drop(opened);
    round.store(2, Ordering::SeqCst);
    let refused = place.come_back(settings(), Return::All).await.again;
    assert_eq!(refused.visited, 2, "what is forbidden is not asked for");
    let kept = &place.rows()[&site.url("/kept")];
    assert_eq!((kept.state, kept.in_queue()), (UrlState::Fetched, false));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_are_down_cost_a_page_nothing_but_a_later_visit() {
    let down = Arc::new(AtomicUsize::new(0));
    let later = down.clone();
    let site = Raw::start(move |asked| match (asked.path.as_str(), later.load(Ordering::SeqCst)) {
        ("/robots.txt", _) => missing(),
        (_, 1) => http("503 Busy", &[], "later"),
        (path, _) => html(&format!("<p>{path} is here")),
    })
    .await;
    let place = Place::new();
    place.crawl(settings(), order(&[site.url("/")])).await;
    down.store(1, Ordering::SeqCst);
    let quick = EngineSettings { retries: 0, retry_delay: Duration::from_millis(1), ..settings() };
    let told = place.come_back(quick, Return::All).await.again;
    assert_eq!((told.visited, told.failed), (1, 1));
    let plan = place.rows()[&site.url("/")].plan.expect("a plan");
    assert_eq!((plan.records, plan.failures), (1, 1), "an error is no record");
    assert!(plan.due < Time(now().0 + 3 * HOUR), "it is tried again soon: {}", plan.due);
}
