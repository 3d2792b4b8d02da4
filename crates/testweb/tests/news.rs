//! The news web: what it promises about itself.

use argiope_testweb::{NewsSpec, NewsWeb, serve_news};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

const BASE: i64 = 1_794_830_000_000;

fn web(seed: u64) -> NewsWeb {
    NewsWeb::new(NewsSpec { seed, base_ms: BASE, port: 80 })
}

fn rows(truth: &Value, key: &str) -> Vec<Value> {
    truth[key].as_array().expect("rows of the truth").clone()
}

fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("a URL of the web");
    rest.split_at(rest.find('/').expect("a path"))
}

/// What a URL answers, as text.
fn get(web: &NewsWeb, url: &str) -> Option<(u16, String)> {
    let (host, path) = parts(url);
    let mut response = web.respond(host, path)?;
    if response.status == 503 {
        response = web.respond(host, path)?;
    }
    let kind = response.header("Content-Type").expect("a type").to_owned();
    let encoding = match kind.split_once("charset=").map(|(_, name)| name) {
        Some("gb18030") => encoding_rs::GB18030,
        Some("windows-1252") => encoding_rs::WINDOWS_1252,
        _ => encoding_rs::UTF_8,
    };
    let (text, _, wrong) = encoding.decode(&response.body);
    assert!(!wrong, "{url} is not what its charset says");
    Some((response.status, text.into_owned()))
}

fn unescape(html: &str) -> String {
    html.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

#[test]
fn the_same_seed_gives_the_same_web_and_another_one_another() {
    let (one, same, other) = (web(1), web(1), web(2));
    assert_eq!(one.truth(), same.truth());
    assert_ne!(one.truth(), other.truth());
    for front in one.fronts() {
        let (host, path) = parts(&front);
        assert_eq!(one.respond(host, path), same.respond(host, path));
    }
}

#[test]
fn every_article_stands_at_its_address_with_its_title_and_its_text() {
    let web = web(3);
    for edition in 0..4 {
        let truth = web.truth();
        assert_eq!(truth["edition"], edition);
        let down: BTreeSet<String> = rows(&truth, "sites")
            .iter()
            .filter(|site| site["answers"] == false)
            .map(|site| site["site"].to_string())
            .collect();
        for article in rows(&truth, "articles") {
            let url = article["url"].as_str().unwrap();
            if down.contains(&article["site"].to_string()) {
                assert!(get(&web, url).is_none());
                continue;
            }
            let urls = rows(&article, "urls");
            for url in urls.iter().filter_map(Value::as_str).chain([url]) {
                let (status, html) = get(&web, url).unwrap();
                let html = unescape(&html);
                assert_eq!(status, 200, "{url}");
                let title = article["title"].as_str().unwrap();
                assert!(html.contains(title), "{url} lacks {title}");
                for paragraph in article["text"].as_str().unwrap().lines() {
                    assert!(html.contains(paragraph), "{url} lacks {paragraph}");
                }
            }
        }
        web.next_edition();
    }
}

#[test]
fn what_is_said_to_be_linked_is_linked() {
    let web = web(4);
    let truth = web.truth();
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    for site in rows(&truth, "sites") {
        let Some((_, front)) = get(&web, site["front"].as_str().unwrap()) else { continue };
        let mut all = front.clone();
        for other in rows(&site, "no_articles") {
            let url = other.as_str().unwrap();
            let (status, html) = get(&web, url).unwrap();
            assert_eq!(status, 200, "{url}");
            if !url.contains("/tag/") && !url.contains("/author/") {
                all.push_str(&html);
            }
        }
        for path in ["/feed/rss.xml", "/feed/atom.xml", "/feed.json"] {
            let host = parts(site["front"].as_str().unwrap()).0;
            if let Some((200, text)) = get(&web, &format!("http://{host}{path}")) {
                all.push_str(&text);
            }
        }
        for headline in rows(&site, "front_headlines") {
            assert!(unescape(&front).contains(headline.as_str().unwrap()), "{headline}");
        }
        pages.insert(site["site"].as_str().unwrap().to_owned(), unescape(&all));
    }
    for article in rows(&truth, "articles") {
        let Some(html) = pages.get(article["site"].as_str().unwrap()) else { continue };
        let url = article["url"].as_str().unwrap();
        let is_linked = !rows(&article, "linked").is_empty();
        assert_eq!(
            is_linked,
            article["role"] != "old" && article["forbidden"] == false,
            "{article}"
        );
        assert!(html.contains(url) || !is_linked, "{url} is linked nowhere");
    }
}

#[test]
fn stories_have_the_variety_that_measuring_needs() {
    for seed in 1..4 {
        let web = web(seed);
        (0..3).for_each(|_| web.next_edition());
        let truth = web.truth();
        let mut sources: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut roles: BTreeMap<String, usize> = BTreeMap::new();
        let mut urls = BTreeSet::new();
        for article in rows(&truth, "articles") {
            assert!(urls.insert(article["url"].to_string()), "twice: {}", article["url"]);
            *roles.entry(article["role"].as_str().unwrap().to_owned()).or_default() += 1;
            let words = match article["language"].as_str() {
                Some("zh") => article["text"].as_str().unwrap().chars().count() / 2,
                _ => article["text"].as_str().unwrap().split_whitespace().count(),
            };
            assert!((70..600).contains(&words), "{words} words: {}", article["text"]);
            assert!(article["published"].as_str() <= Some("2026-11-16T12:00:00Z"), "{article}");
            if !["old", "series"].contains(&article["role"].as_str().unwrap()) {
                let story = article["story"].as_str().unwrap().to_owned();
                sources.entry(story).or_default().insert(article["site"].to_string());
            }
        }
        for language in ["en", "de", "zh"] {
            for subject in ["politics", "business", "sport", "panorama", "science"] {
                let of = |article: &&Value| {
                    article["language"] == language
                        && article["subject"] == subject
                        && article["role"] == "own"
                };
                let count = rows(&truth, "articles").iter().filter(of).count();
                assert!(count >= 1, "{count} articles on {subject} in {language}");
            }
        }
        assert!((55..75).contains(&sources.len()), "{} stories", sources.len());
        assert!(sources.values().any(|sites| sites.len() >= 6));
        assert!(sources.values().filter(|sites| sites.len() == 1).count() >= 5);
        for (role, least) in
            [("own", 90), ("agency", 30), ("follow-up", 10), ("series", 36), ("again", 6)]
        {
            assert!(roles[role] >= least, "{roles:?}");
        }
    }
}

#[test]
fn articles_are_edited_in_later_editions_and_no_others_change() {
    let web = web(5);
    let of = |web: &NewsWeb| -> BTreeMap<u64, Value> {
        rows(&web.truth(), "articles")
            .into_iter()
            .map(|row| (row["id"].as_u64().unwrap(), row))
            .collect()
    };
    let mut before = of(&web);
    for edition in 1..4 {
        web.next_edition();
        let after = of(&web);
        let edited: Vec<&Value> = after
            .iter()
            .filter(|(id, row)| before.get(id).is_some_and(|old| old["version"] != row["version"]))
            .map(|(_, row)| row)
            .collect();
        assert!(edited.len() >= 6, "{} edits", edited.len());
        for change in ["headline", "number", "paragraph"] {
            assert!(edited.iter().any(|row| row["change"] == change), "no {change} in {edition}");
        }
        for (id, row) in &after {
            let Some(old) = before.get(id) else { continue };
            let same = old["text"] == row["text"] && old["title"] == row["title"];
            assert_eq!(same, old["version"] == row["version"], "{row}");
        }
        assert!(after.len() > before.len(), "nothing new in {edition}");
        before = after;
    }
}

#[test]
fn one_socket_serves_all_names_and_says_what_was_asked() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let spec = NewsSpec { seed: 1, base_ms: BASE, port: 0 };
    let served = runtime.block_on(serve_news(spec)).unwrap();
    let ask = |address: SocketAddr, host: &str, path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let address = served.address();
    let port = address.port();
    let front = ask(address, &format!("www.harbour-courier.test:{port}"), "/");
    assert!(front.starts_with("HTTP/1.1 200") && front.contains("The Harbour Courier"));
    assert!(front.contains(&format!("http://www.harbour-courier.test:{port}/")));
    assert_eq!(ask(address, "www.stadtanzeiger-auental.test", "/"), "");
    assert!(ask(address, "elsewhere.test", "/").starts_with("HTTP/1.1 421"));
    assert!(ask(address, "desk.test", "/next").ends_with("\r\n\r\n1"));
    let truth = ask(address, "desk.test", "/truth.json");
    let truth: Value = serde_json::from_str(truth.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(truth["edition"], 1);
    let hits = served.hits();
    assert_eq!(hits.len(), 3);
    assert_eq!((hits[0].host.as_str(), hits[0].status), ("www.harbour-courier.test", 200));
}
