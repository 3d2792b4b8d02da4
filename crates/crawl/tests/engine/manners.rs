//! What sites ask of us, and what they get: robots.txt, robots tags, sitemaps, patience.

use crate::raw::{Asked, Raw, http, missing, page, redirect};
use crate::support::{Opened, Place, order, settings, wanted};
use argiope_crawl::{Asked as Reply, Ended, EngineSettings, Question, answer};
use argiope_frontier::{Patience, SkipReason};
use argiope_model::{OutcomeKind, Role};
use argiope_store::UrlState;
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn robots(text: &str) -> Vec<u8> {
    http("200 OK", &[("Content-Type", "text/plain")], text)
}

fn ask(opened: &Opened, question: Question) -> Vec<Value> {
    match answer(&question, &opened.dir, &*opened.store, &opened.followers(), &settings(), None) {
        Reply::Rows(rows) | Reply::Piece(rows, _) => rows,
        Reply::Sorry(why) | Reply::Wrong(why) | Reply::Unknown(why) => panic!("{why}"),
    }
}

/// The verdict and the words of a rule.
fn said(rows: &[Value], rule: &str) -> (String, String) {
    let is = |row: &&Value| row["rule"].as_str().is_some_and(|r| r.starts_with(rule));
    let row = rows.iter().find(is).unwrap_or_else(|| panic!("nothing about {rule}: {rows:?}"));
    let text = |name: &str| row[name].as_str().expect("text").to_owned();
    (text("verdict"), text("detail"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_robots_txt_forbids_is_kept_as_forbidden_and_never_asked_for() {
    let server = Raw::with_robots(|asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => robots("User-agent: *\n# quiet\nDisallow: /secret\nAllow: /secret/door\n"),
        "/" => page(&["/secret/a", "/secret/door", "/open"]),
        _ => page(&["/secret/b"]),
    })
    .await;
    let place = Place::new();
    let seeds = [server.url("/"), server.url("/secret/seed")];
    let summary = place.crawl(settings(), order(&seeds)).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 3));
    let mut paths = server.paths();
    paths.sort();
    assert_eq!(paths, ["/", "/open", "/secret/door"]);
    assert_eq!(summary.jobs[0].counters.skipped_robots, 3);
    let opened = place.open();
    let forbidden = UrlState::Skipped(SkipReason::Robots);
    for path in ["/secret/a", "/secret/b", "/secret/seed"] {
        assert_eq!(opened.rows()[&server.url(path)].state, forbidden, "{path}");
    }
    let rows = ask(&opened, Question::Explain { url: server.url("/secret/a") });
    let (verdict, words) = said(&rows, "robots");
    assert_eq!(verdict, "no");
    assert!(words.starts_with("line 3: Disallow: /secret"), "{words}");
    // A URL that nobody has met has rules as well.
    let rows = ask(&opened, Question::Explain { url: server.url("/secret/never-seen") });
    assert_eq!(said(&rows, "robots").0, "no");
    assert_eq!(said(&rows, "scope").0, "yes");
    assert!(rows.last().unwrap()["state"].as_str().unwrap().starts_with("never met"));
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_robots_txt_cannot_be_had_nothing_else_is_asked_for() {
    let server = Raw::with_robots(|asked: &Asked| match (asked.path.as_str(), asked.before) {
        ("/robots.txt", 0) => http("503 Service Unavailable", &[], "later"),
        ("/robots.txt", 1) => Vec::new(),
        ("/robots.txt", _) => robots("User-agent: *\nDisallow: /b\n"),
        _ => page(&["/a", "/b"]),
    })
    .await;
    let place = Place::new();
    let patient = EngineSettings { retries: 5, ..settings() };
    let summary = place.crawl(patient, order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 2));
    assert_eq!(server.paths(), ["/", "/a"]);
    let opened = place.open();
    let captures = opened.captures(&server.url("/"));
    let kinds: Vec<OutcomeKind> = captures.iter().map(|c| c.outcome.kind).collect();
    use OutcomeKind::{ConnectionLost, Fetched, ServerError};
    assert_eq!(kinds, [ServerError, ConnectionLost, Fetched]);
    let why = captures[0].outcome.detail.as_deref().unwrap();
    assert!(why.starts_with("robots.txt"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robots_txt_that_lies_elsewhere_is_followed_there() {
    let other = Raw::with_robots(|asked: &Asked| match asked.path.as_str() {
        "/rules" => redirect("/rules/2"),
        "/rules/2" => robots("User-agent: *\nDisallow: /b\n"),
        _ => missing(),
    })
    .await;
    let there = other.url("/rules");
    let server = Raw::with_robots(move |asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => redirect(&there),
        _ => page(&["/a", "/b"]),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 2));
    assert_eq!(server.paths(), ["/", "/a"]);
    assert_eq!(other.paths(), ["/rules", "/rules/2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_robots_txt_that_leads_in_circles_is_none() {
    let server = Raw::with_robots(|asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => redirect("/robots.txt"),
        _ => page(&["/a"]),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_beginning_of_an_endless_robots_txt_counts() {
    let server = Raw::with_robots(|asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => {
            let rules = "User-agent: *\nDisallow: /b\n".to_owned();
            robots(&(rules + "# nothing\n".repeat(300_000).as_str()))
        }
        _ => page(&["/a", "/b"]),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 2));
    assert_eq!(server.paths(), ["/", "/a"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ignoring_robots_asks_for_no_robots_txt_and_follows_everything() {
    let server = Raw::with_robots(|asked: &Asked| match asked.path.as_str() {
        "/robots.txt" => robots("User-agent: *\nDisallow: /\n"),
        "/" => http(
            "200 OK",
            &[("Content-Type", "text/html"), ("X-Robots-Tag", "nofollow")],
            "<a href=/a rel=nofollow>a</a>",
        ),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let own = EngineSettings { robots: false, ..settings() };
    let summary = place.crawl(own, order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 2));
    assert!(!server.counts().contains_key("/robots.txt"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_that_ask_not_to_be_followed_are_kept_and_not_followed() {
    let html = |headers: &[(&str, &str)], body: &str| {
        let headers = [&[("Content-Type", "text/html")], headers].concat();
        http("200 OK", &headers, body)
    };
    let server = Raw::start(move |asked: &Asked| match asked.path.as_str() {
        "/" => html(
            &[],
            "<a href=/meta>m</a><a href=/header>h</a><a rel='ugc nofollow' href=/no1>n</a>\
             <a href=/other>o</a>",
        ),
        "/meta" => html(&[], "<meta name=robots content='noindex, NoFollow'><a href=/no2>n</a>"),
        "/header" => html(
            &[("X-Robots-Tag", "argiope: noarchive"), ("X-Robots-Tag", "none")],
            "<a href=/no3>n</a>",
        ),
        "/other" => html(&[("X-Robots-Tag", "otherbot: nofollow")], "<a href=/yes>y</a>"),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!(summary.ended, Ended::Done);
    let mut paths = server.paths();
    paths.sort();
    assert_eq!(paths, ["/", "/header", "/meta", "/other", "/yes"]);
    let opened = place.open();
    let meta = opened.capture(&server.url("/meta")).directives;
    assert!(meta.noindex && meta.nofollow && !meta.noarchive);
    let header = opened.capture(&server.url("/header")).directives;
    assert!(header.noindex && header.nofollow && header.noarchive);
    assert_eq!(opened.capture(&server.url("/other")).directives, Default::default());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sitemaps_named_in_robots_txt_lead_to_pages_that_nothing_links_to() {
    let server = Raw::with_robots(|asked: &Asked| {
        let xml = |body: &str| http("200 OK", &[("Content-Type", "application/xml")], body);
        match asked.path.as_str() {
            "/robots.txt" => robots("Sitemap: /index.xml\nsitemap: /list.txt\n"),
            "/index.xml" => xml("<sitemapindex><sitemap><loc>/deep.xml.gz</loc></sitemap>\
                 <sitemap><loc>/index.xml</loc></sitemap></sitemapindex>"),
            "/deep.xml.gz" => {
                let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                gz.write_all(
                    b"<urlset><url><loc>/hidden/1</loc></url>\
                    <url><loc>http://elsewhere.test/</loc></url></urlset>",
                )
                .unwrap();
                let body = gz.finish().unwrap();
                http("200 OK", &[("Content-Type", "application/x-gzip")], body)
            }
            "/list.txt" => {
                let host = "http://127.0.0.1";
                http(
                    "200 OK",
                    &[("Content-Type", "text/plain")],
                    format!("{host}:1/no\n/hidden/2\n"),
                )
            }
            _ => page(&[]),
        }
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!(summary.ended, Ended::Done);
    let opened = place.open();
    let rows = opened.rows();
    assert_eq!(rows[&server.url("/hidden/1")].state, UrlState::Fetched);
    assert_eq!(rows[&server.url("/hidden/1")].depth, 1);
    assert_eq!(rows[&server.url("/index.xml")].role, Role::Sitemap);
    let counters = &summary.jobs[0].counters;
    assert_eq!((counters.sitemaps, counters.queued), (3, 0));
    // Start page and what is listed: no sitemap counts as a page.
    assert_eq!(counters.fetched, summary.fetched);
    assert_eq!(opened.in_state(UrlState::Fetched).len() as u64, counters.fetched + 3);
    assert!(!rows.contains_key("http://elsewhere.test/"));
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_of_redirects_ends() {
    let server = Raw::start(|asked: &Asked| {
        let n: u32 = asked.path[1..].parse().unwrap_or(0);
        redirect(&format!("/{}", n + 1))
    })
    .await;
    let place = Place::new();
    let few = EngineSettings { max_redirects: 4, ..settings() };
    let summary = place.crawl(few, order(&[server.url("/0")])).await;
    assert_eq!(summary.ended, Ended::Done);
    assert_eq!(server.paths(), ["/0", "/1", "/2", "/3", "/4"]);
    let last = place.open().capture(&server.url("/4")).outcome;
    assert_eq!(last.kind, OutcomeKind::BadRedirect);
    assert_eq!(last.detail.as_deref(), Some("more than 4 redirects"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_stays_down_is_given_up_and_can_be_tried_again() {
    let up = Arc::new(AtomicBool::new(false));
    let is_up = up.clone();
    let server = Raw::with_robots(move |asked: &Asked| match asked.path.as_str() {
        _ if !is_up.load(Ordering::SeqCst) => Vec::new(),
        "/robots.txt" => missing(),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let seeds: Vec<String> = (0..40).map(|n| server.url(&format!("/{n}"))).collect();
    let hasty = EngineSettings {
        patience: Patience { give_up_after: Duration::from_millis(300), ..settings().patience },
        ..settings()
    };
    let summary = place.crawl(hasty.clone(), order(&seeds)).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 0));
    let counters = &summary.jobs[0].counters;
    assert!(counters.skipped_given_up >= 20, "{counters:?}");
    assert!(server.counts()["/robots.txt"] < 30, "{:?}", server.counts());
    let opened = place.open();
    let host = ask(&opened, Question::Sites { filter: Some("127.0.0.1".to_owned()) });
    assert_eq!(host[0]["state"], "given up");
    let skipped = opened.in_state(UrlState::Skipped(SkipReason::GivenUp));
    let why = ask(&opened, Question::Explain { url: skipped.first().unwrap().clone() });
    assert_eq!(said(&why, "host").0, "no");

    up.store(true, Ordering::SeqCst);
    let forgiven = ask(&opened, Question::Forgive { name: "127.0.0.1".to_owned() });
    assert_eq!((&forgiven[0]["hosts"], &forgiven[0]["urls"]), (&1.into(), &40.into()));
    drop(opened);
    let summary = place.start(hasty, None).end().await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 40));
    let counters = &summary.jobs[0].counters;
    assert_eq!((counters.skipped_given_up, counters.failed, counters.queued), (0, 0, 0));
    place.open().assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_host_is_left_alone_as_long_as_it_asked_even_across_a_crash() {
    let began = std::time::Instant::now();
    let server = Raw::start(move |asked: &Asked| match asked.path.as_str() {
        "/busy" if began.elapsed() < Duration::from_secs(2) => {
            http("429 Too Many Requests", &[("Retry-After", "3")], "")
        }
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    let seeds = [server.url("/busy"), server.url("/other")];
    let running = place.start(settings(), Some(order(&seeds)));
    while !server.counts().contains_key("/busy") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let told = std::time::Instant::now();
    // Committed at once; then it ends without a word.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = server.paths().len();
    running.abandon();
    let running = place.start(settings(), None);
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(server.paths().len(), before, "asked again {:?} after it said 3 s", told.elapsed());
    let summary = running.end().await;
    assert!(told.elapsed() >= Duration::from_millis(2_900), "{:?}", told.elapsed());
    assert_eq!(summary.jobs[0].counters.fetched, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_crawl_log_has_one_line_per_attempt() {
    let server = Raw::with_robots(|asked: &Asked| match (asked.path.as_str(), asked.before) {
        ("/robots.txt", _) => robots("User-agent: *\nDisallow: /no\n"),
        ("/flaky", 0) => Vec::new(),
        ("/", _) => page(&["/flaky", "/no", "/gone", "/away"]),
        ("/gone", _) => missing(),
        ("/away", _) => redirect("/flaky"),
        _ => page(&[]),
    })
    .await;
    let place = Place::new();
    // What is forbidden when it is found is no attempt; a start URL is.
    place.crawl(settings(), order(&[server.url("/"), server.url("/no/start")])).await;
    let log = std::fs::read_to_string(place.path.join("log").join("crawl.log")).unwrap();
    let requested = |line: &&str| !line.contains(" skipped-");
    let lines: Vec<&str> = log.lines().filter(requested).collect();
    let asked: usize = server.counts().values().sum();
    assert_eq!(lines.len(), asked, "{log}");
    let refused = log.lines().find(|line| line.contains(" skipped-robots ")).unwrap();
    assert!(refused.contains("/no/start"), "{refused}");
    let gone = log.lines().find(|line| line.ends_with("/gone")).unwrap();
    let fields: Vec<&str> = gone.split(' ').collect();
    assert_eq!(&fields[1..3], ["client-error", "404"]);
    assert_eq!(fields[7], "127.0.0.1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hosts_of_one_address_keep_its_gap() {
    let one = Raw::start(|_| page(&[])).await;
    let two = Raw::start(|_| page(&[])).await;
    let place = Place::new();
    let gap = EngineSettings { address_gap: Some(Duration::from_millis(200)), ..settings() };
    let mut both = order(&[one.url("/a"), two.url("/b"), one.url("/c"), two.url("/d")]);
    both.wanted = wanted(&["html"]);
    let summary = place.crawl(gap, both).await;
    assert_eq!(summary.fetched, 4);
    // Two robots files and four pages: five gaps.
    assert!(summary.elapsed >= Duration::from_millis(1000), "{:?}", summary.elapsed);
}
