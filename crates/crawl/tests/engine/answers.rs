//! What servers do, and what is made of it: retries, redirects, types, revisits.

use crate::raw::{Raw, http, missing, page, redirect};
use crate::support::{Place, order, served, settings, single_file, wanted};
use argiope_crawl::Ended;
use argiope_frontier::SkipReason;
use argiope_model::{OutcomeKind, ScopeRule};
use argiope_store::UrlState;
use std::net::TcpListener;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_twice_is_fetched_at_the_third_try_and_what_is_missing_is_not_asked_again() {
    let server = Raw::start(|asked| match (asked.path.as_str(), asked.before) {
        ("/", _) => page(&["/busy", "/torn", "/lost", "/broken"]),
        ("/busy", 0 | 1) => http("503 Service Unavailable", &[], "later"),
        // Hangs up: once without a word, once in the middle of one.
        ("/torn", 0) => Vec::new(),
        ("/torn", 1) => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".to_vec(),
        ("/busy" | "/torn", _) => page(&[]),
        ("/broken", _) => http("500 Internal Server Error", &[], "always"),
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!(summary.ended, Ended::Done);
    let counts = server.counts();
    for (path, tries) in [("/", 1), ("/busy", 3), ("/torn", 3), ("/lost", 1), ("/broken", 3)] {
        assert_eq!(counts[path], tries, "{path}");
    }
    let counters = &summary.jobs[0].counters;
    assert_eq!((counters.fetched, counters.failed, counters.errors), (3, 2, 8));
    let opened = place.open();
    let rows = opened.rows();
    for path in ["/busy", "/torn"] {
        assert_eq!(rows[&server.url(path)].state, UrlState::Fetched);
        assert_eq!(opened.captures(&server.url(path)).len(), 3, "every try is history");
    }
    assert_eq!(rows[&server.url("/broken")].state, UrlState::Failed);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_down_is_tried_and_given_up_while_others_go_on() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let down = format!("http://127.0.0.1:{port}/");
    let up = Raw::start(|_| page(&[])).await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[down.clone(), up.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 1));
    let opened = place.open();
    assert_eq!(opened.rows()[&down].state, UrlState::Failed);
    let captures = opened.captures(&down);
    assert_eq!(captures.len(), 3);
    assert!(captures.iter().all(|c| c.outcome.kind == OutcomeKind::ConnectFailed));
    assert!(summary.elapsed < Duration::from_secs(5), "{:?}", summary.elapsed);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redirects_are_followed_to_their_end_and_loops_end() {
    let other = Raw::at("127.0.0.2", |_| page(&[])).await;
    let there = format!("http://127.0.0.2:{}/there", other.port);
    let away = there.clone();
    let server = Raw::start(move |asked| match asked.path.as_str() {
        "/" => page(&["/one", "/loop", "/away", "/self", "/nowhere", "/silent", "/mail", "/up/x"]),
        "/one" => redirect("/two"),
        "/two" => redirect("three?x=1"),
        "/three?x=1" => redirect("/end#part"),
        "/end" => page(&[]),
        "/loop" => redirect("/pool"),
        "/pool" => redirect("/loop"),
        "/self" => redirect("/self"),
        "/away" => redirect(&away),
        "/nowhere" => redirect("http://[::1/"),
        "/silent" => http("301 Moved Permanently", &[], ""),
        "/mail" => redirect("mailto:someone@example.test"),
        "/up/x" => redirect(" ../end "),
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let mut wide = order(&[server.url("/")]);
    wide.rule = ScopeRule::Any;
    let summary = place.crawl(settings(), wide).await;
    assert_eq!(summary.ended, Ended::Done);
    assert!(server.counts().values().all(|n| *n == 1), "{:?}", server.counts());
    let opened = place.open();
    let rows = opened.rows();
    let state = |path: &str| rows[&server.url(path)].state;
    for path in ["/one", "/two", "/three?x=1", "/loop", "/pool", "/self", "/away", "/up/x"] {
        assert_eq!(state(path), UrlState::Redirected, "{path}");
    }
    assert_eq!(state("/end"), UrlState::Fetched);
    assert_eq!(rows[&server.url("/end")].depth, 1, "a redirect is the same visit");
    assert_eq!(rows[&there].state, UrlState::Fetched);
    for path in ["/nowhere", "/silent", "/mail"] {
        assert_eq!(state(path), UrlState::Failed, "{path}");
        let capture = opened.capture(&server.url(path));
        assert_eq!(capture.outcome.kind, OutcomeKind::BadRedirect, "{path}");
    }
    assert_eq!(summary.jobs[0].counters.redirects, 8);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_out_of_the_scope_is_noted_and_not_followed() {
    let other = Raw::at("127.0.0.2", |_| page(&[])).await;
    let there = format!("http://127.0.0.2:{}/", other.port);
    let away = there.clone();
    let server = Raw::start(move |_| redirect(&away)).await;
    let place = Place::new();
    let summary = place.crawl(settings(), order(&[server.url("/")])).await;
    assert_eq!((summary.ended, summary.fetched), (Ended::Done, 0));
    assert!(other.paths().is_empty());
    let detail = place.open().capture(&server.url("/")).outcome.detail;
    assert_eq!(detail.as_deref(), Some(there.as_str()));
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_header_decides_what_is_wanted_and_without_one_the_bytes_do() {
    let server = Raw::start(|asked| match asked.path.as_str() {
        "/" => page(&["/named", "/unnamed", "/page", "/lies", "/skipped.png", "/plain"]),
        "/named" => http("200 OK", &[("Content-Type", "image/png")], PNG),
        "/unnamed" => http("200 OK", &[], PNG),
        "/page" => http("200 OK", &[], "<!doctype html><a href=/deep>deep</a>"),
        "/lies" => http("200 OK", &[("Content-Type", "application/pdf")], "<p>no PDF at all"),
        "/plain" => http("200 OK", &[("Content-Type", "text/plain; charset=utf-8")], "words"),
        "/deep" => page(&[]),
        _ => missing(),
    })
    .await;
    let place = Place::new();
    let summary = place.crawl(single_file(), order(&[server.url("/")])).await;
    assert_eq!(summary.ended, Ended::Done);
    let opened = place.open();
    let rows = opened.rows();
    let state = |path: &str| rows[&server.url(path)].state;
    for path in ["/named", "/unnamed", "/lies"] {
        assert_eq!(state(path), UrlState::Skipped(SkipReason::Type), "{path}");
        assert_eq!(opened.capture(&server.url(path)).record, None, "it is not kept");
    }
    for path in ["/", "/page", "/deep", "/plain"] {
        assert_eq!(state(path), UrlState::Fetched, "{path}");
    }
    assert_eq!(state("/skipped.png"), UrlState::Skipped(SkipReason::Extension));
    assert!(!server.paths().contains(&"/skipped.png".to_owned()), "not even asked for");
    let counters = &summary.jobs[0].counters;
    assert_eq!((counters.skipped_type, counters.skipped_extension), (3, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wanted_picture_is_stored_byte_by_byte() {
    let server = Raw::start(|asked| match asked.path.as_str() {
        "/" => page(&["/a.png"]),
        _ => http("200 OK", &[("Content-Type", "image/png")], PNG),
    })
    .await;
    let place = Place::new();
    let mut pictures = order(&[server.url("/")]);
    pictures.wanted = wanted(&["html", "image"]);
    assert_eq!(place.crawl(settings(), pictures).await.fetched, 2);
    let opened = place.open();
    assert_eq!(opened.record(&server.url("/a.png")).payload, PNG);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_payload_is_kept_once_a_site_and_referred_to() {
    let reply = |asked: &crate::raw::Asked| match asked.path.as_str() {
        "/" => page(&["/a", "/b", "/empty1", "/empty2", "/c"]),
        "/empty1" | "/empty2" => http("200 OK", &[("Content-Type", "text/html")], ""),
        _ => http("200 OK", &[("Content-Type", "text/html")], "<title>one</title><p>the same"),
    };
    let (here, there) = (Raw::start(reply).await, Raw::at("127.0.0.2", reply).await);
    let other = format!("http://127.0.0.2:{}/", there.port);
    let place = Place::new();
    place.crawl(single_file(), order(&[here.url("/"), other.clone()])).await;
    let opened = place.open();
    let first = opened.capture(&here.url("/a"));
    assert!(!first.revisit);
    for path in ["/b", "/c"] {
        let capture = opened.capture(&here.url(path));
        assert!(capture.revisit, "{path}");
        assert_eq!(capture.text, first.text, "one text for both");
        let record = opened.record(&here.url(path));
        assert_eq!(record.headers.get("WARC-Type"), Some("revisit"));
        assert!(record.payload.is_empty());
        let refers = record.headers.get("WARC-Refers-To-Target-URI");
        assert_eq!(refers, Some(here.url("/a").as_str()));
        let original = opened.record(&here.url("/a"));
        let dates = (record.headers.get("WARC-Refers-To-Date"), original.headers.get("WARC-Date"));
        assert_eq!(dates.0, dates.1);
    }
    // Nothing is no payload to refer to, and another site is another site.
    assert!(!opened.capture(&here.url("/empty1")).revisit);
    assert!(!opened.capture(&here.url("/empty2")).revisit);
    assert!(!opened.capture(&format!("{other}a")).revisit);
    assert!(opened.capture(&format!("{other}b")).revisit);
    opened.assert_verified();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_an_archive_pages_are_read_and_not_kept() {
    let served = served(crate::support::plain(1, 30)).await;
    let place = Place::new();
    let mut bare = settings();
    bare.archive = false;
    assert_eq!(place.crawl(bare, order(&served.bases())).await.fetched, 30);
    let opened = place.open();
    assert!(!opened.dir.warc().exists());
    assert_eq!(opened.capture(&served.base(0)).record, None);
    assert!(opened.capture(&served.base(0)).text.is_some());
    opened.assert_verified();
}
