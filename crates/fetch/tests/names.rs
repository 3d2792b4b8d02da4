//! Names: the servers the settings name are asked, once, and believed as long as they say.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::Located;
use argiope_model::{CanonicalUrl, OutcomeKind, Time};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, SystemTime};
use support::nameserver::{Datagrams, NameServer, Say};
use support::{Kit, Server, failure};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn loopback(ttl: u32) -> Say {
    Say::Addresses(vec![ip("127.0.0.1")], ttl)
}

fn kit(names: &NameServer) -> Kit {
    Kit::with(|s| s.dns_servers = vec![names.address])
}

#[tokio::test]
async fn an_answer_is_kept_as_long_as_it_is_good() {
    let names = NameServer::start(|_| loopback(300)).await;
    let (server, kit) = (Server::one_shot(OK).await, kit(&names));
    for _ in 0..3 {
        let answer = kit.get(&url(&format!("http://a.test:{}/", server.port))).await;
        assert_eq!((answer.outcome, answer.ip), (None, Some(ip("127.0.0.1"))));
    }
    assert_eq!((names.asked(), server.accepted()), (2, 3), "one question for each family");
}

#[tokio::test]
async fn many_requests_for_one_name_ask_once() {
    let names = NameServer::start(|_| loopback(300)).await;
    let (server, kit) = (Server::keep_alive(OK).await, Arc::new(kit(&names)));
    let tasks: Vec<_> = (0..50)
        .map(|n| {
            let (kit, url) = (kit.clone(), url(&format!("http://a.test:{}/{n}", server.port)));
            tokio::spawn(async move { kit.page(&url).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), b"ok");
    }
    assert_eq!(names.asked(), 2);
}

#[tokio::test]
async fn a_request_given_up_leaves_the_question_to_the_next() {
    let names = NameServer::start(|_| Say::Silence).await;
    let kit = Arc::new(kit(&names));
    let asking = {
        let kit = kit.clone();
        tokio::spawn(async move { kit.get(&url("http://a.test/")).await })
    };
    while names.asked() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let waiting = {
        let kit = kit.clone();
        tokio::spawn(async move { kit.get(&url("http://a.test/")).await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(names.asked(), 2, "the second request waits for the first one's answer");
    asking.abort();
    while names.asked() < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waiting.abort();
}

#[tokio::test]
async fn an_alias_is_followed_to_its_end() {
    let names = NameServer::start(|name| match name {
        "a.test" => Say::Alias("b.test", 40),
        "b.test" => Say::Alias("c.test", 500),
        "c.test" => loopback(600),
        _ => Say::Alias("loop.test", 60),
    })
    .await;
    let (server, kit) = (Server::keep_alive(OK).await, kit(&names));
    assert_eq!(kit.page(&url(&format!("http://a.test:{}/", server.port))).await, b"ok");
    let until = kit.fetcher.locate(&url("http://a.test/")).await.unwrap().until;
    let left = until.since(Time::from_system(SystemTime::now()));
    assert!(left <= Duration::from_secs(40), "the shortest time of the chain: {left:?}");
    let (kind, words) = failure(&kit.get(&url("http://loop.test/")).await);
    assert_eq!((kind, words.as_str()), (OutcomeKind::NoAddress, "no address: the name has none"));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_comes_over_a_stream() {
    let names = NameServer::with(Datagrams::Cut, |_| loopback(300)).await;
    let (server, kit) = (Server::keep_alive(OK).await, kit(&names));
    assert_eq!(kit.page(&url(&format!("http://a.test:{}/", server.port))).await, b"ok");
    assert_eq!(names.streams.load(SeqCst), 2);
}

#[tokio::test]
async fn a_forged_answer_is_not_believed() {
    let names = NameServer::with(Datagrams::Forged, |_| loopback(300)).await;
    let located = kit(&names).fetcher.locate(&url("http://a.test/")).await.unwrap();
    assert_eq!(located.ip, Some(ip("127.0.0.1")));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_remembered_too() {
    let names = NameServer::start(|_| Say::Unknown).await;
    let kit = kit(&names);
    for _ in 0..3 {
        let got = failure(&kit.get(&url("http://a.test/")).await);
        assert_eq!(got, (OutcomeKind::NoAddress, "no address: name not known".into()));
    }
    assert_eq!(names.asked(), 2);
}

#[tokio::test]
async fn a_server_in_trouble_is_replaced_by_the_next() {
    let bad = NameServer::start(|_| Say::Broken).await;
    let good = NameServer::start(|_| loopback(300)).await;
    let kit = Kit::with(|s| s.dns_servers = vec![bad.address, good.address]);
    assert!(kit.fetcher.locate(&url("http://a.test/")).await.is_ok());
    let asked = bad.asked();
    assert!(kit.fetcher.locate(&url("http://b.test/")).await.is_ok());
    assert_eq!(bad.asked(), asked, "the one that answered is asked first from then on");
    let kit = Kit::with(|s| s.dns_servers = vec![bad.address]);
    let outcome = kit.fetcher.locate(&url("http://a.test/")).await.unwrap_err();
    assert_eq!(outcome.detail.as_deref(), Some("no address: the name service does not answer"));
}

#[tokio::test]
async fn times_to_live_are_taken_within_reason() {
    let names = NameServer::start(|name| match name {
        "short.test" => loopback(0),
        "fair.test" => loopback(1000),
        _ => loopback(u32::MAX >> 1),
    })
    .await;
    let kit = kit(&names);
    for (name, seconds) in [("short", 30), ("fair", 1000), ("long", 86_400)] {
        let before = Time::from_system(SystemTime::now());
        let located = kit.fetcher.locate(&url(&format!("http://{name}.test/"))).await.unwrap();
        let good_for = located.until.since(before);
        let due = Duration::from_secs(seconds);
        assert!(good_for.abs_diff(due) < Duration::from_secs(2), "{name}: {good_for:?}");
    }
}

#[tokio::test]
async fn the_address_that_answered_is_asked_first_from_then_on() {
    // Nobody listens on the first two.
    let all = vec![ip("127.0.0.2"), ip("::1"), ip("127.0.0.1")];
    let names = NameServer::start(move |_| Say::Addresses(all.clone(), 300)).await;
    let (server, kit) = (Server::one_shot(OK).await, kit(&names));
    let a = url(&format!("http://a.test:{}/", server.port));
    assert_eq!(kit.fetcher.locate(&a).await.unwrap().ip, Some(ip("127.0.0.2")));
    assert_eq!(kit.page(&a).await, b"ok");
    assert_eq!(kit.fetcher.locate(&a).await.unwrap().ip, Some(ip("127.0.0.1")));
}

#[tokio::test]
async fn what_never_changes_is_located_for_good() {
    let kit = Kit::with(|s| s.resolve_overrides = vec![("Given.test".into(), ip("127.0.0.7"))]);
    for (host, at) in [
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("given.test", "127.0.0.7"),
        ("given.test.", "127.0.0.7"),
    ] {
        let located = kit.fetcher.locate(&url(&format!("http://{host}/"))).await.unwrap();
        assert_eq!(located, Located { ip: Some(ip(at)), until: Time(i64::MAX) });
    }
}

#[tokio::test]
async fn locating_refuses_what_a_request_would_refuse() {
    let names = NameServer::start(|name| match name {
        "private.test" => Say::Addresses(vec![ip("10.0.0.1"), ip("192.168.0.1")], 300),
        "mixed.test" => Say::Addresses(vec![ip("10.0.0.1"), ip("8.8.8.8")], 300),
        _ => Say::Unknown,
    })
    .await;
    let kit = Kit::with(|s| {
        s.dns_servers = vec![names.address];
        s.allow_private = false;
    });
    let kind = |host: &str| {
        let url = url(&format!("http://{host}/"));
        let fetcher = kit.fetcher.clone();
        async move { fetcher.locate(&url).await.map_err(|o| o.kind).map(|l| l.ip) }
    };
    assert_eq!(kind("private.test").await, Err(OutcomeKind::ForbiddenAddress));
    assert_eq!(kind("127.0.0.1").await, Err(OutcomeKind::ForbiddenAddress));
    assert_eq!(kind("none.test").await, Err(OutcomeKind::NoAddress));
    assert_eq!(kind("mixed.test").await, Ok(Some(ip("8.8.8.8"))), "the private one is left out");
}
