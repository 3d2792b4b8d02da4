//! Private networks stay private, however an address is written or a name is served.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_model::{CanonicalUrl, OutcomeKind};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use support::nameserver::{NameServer, Say};
use support::{Kit, Server, failure};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn no_spelling_of_a_private_address_gets_through() {
    let names = NameServer::start(|name| {
        assert!(name.ends_with(".test"), "{name} is no question for a name server");
        let private: Vec<IpAddr> = match name {
            "v6.test" => vec!["::1".parse().unwrap(), "fd00::1".parse().unwrap()],
            "mapped.test" => vec!["::ffff:127.0.0.1".parse().unwrap()],
            _ => vec!["127.0.0.1".parse().unwrap()],
        };
        Say::Addresses(private, 300)
    })
    .await;
    let server = Server::keep_alive(OK).await;
    let kit = Kit::with(|s| {
        s.allow_private = false;
        s.dns_servers = vec![names.address];
        s.resolve_overrides = vec![("given.test".into(), [127, 0, 0, 1].into())];
    });
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "017700000001",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "0.0.0.0",
        "0",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "169.254.169.254",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "www.localhost",
        "given.test",
        "given.test.",
        "GIVEN.test",
        "served.test",
        "served.test.",
        "v6.test",
        "mapped.test",
    ] {
        let url = CanonicalUrl::parse(&format!("http://{host}:{}/", server.port)).unwrap();
        let (kind, words) = failure(&kit.get(&url).await);
        assert_eq!(kind, OutcomeKind::ForbiddenAddress, "{host}: {words}");
        let located = kit.fetcher.locate(&url).await;
        assert_eq!(located.unwrap_err().kind, OutcomeKind::ForbiddenAddress, "{host}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_an_answer_and_its_target_refused() {
    // A redirect is not followed here; its target is a request of its own, checked like any.
    let secret = Server::keep_alive(OK).await;
    let target = format!("http://127.0.0.1:{}/", secret.port);
    let public = Server::keep_alive(format!(
        "HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
    ))
    .await;
    let answer = Kit::new().get(&public.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert_eq!(answer.head.unwrap().location().as_deref(), Some(target.as_str()));
    let kit = Kit::with(|s| s.allow_private = false);
    let (kind, _) = failure(&kit.get(&CanonicalUrl::parse(&target).unwrap()).await);
    assert_eq!((kind, secret.accepted()), (OutcomeKind::ForbiddenAddress, 0));
}

#[tokio::test]
async fn a_waiting_connection_keeps_the_address_that_was_checked() {
    let moved = Arc::new(AtomicBool::new(false));
    let seen = moved.clone();
    let names = NameServer::start(move |_| {
        let last = if seen.load(SeqCst) { 2 } else { 1 };
        Say::Addresses(vec![[127, 0, 0, last].into()], 0)
    })
    .await;
    let server = Server::keep_alive(OK).await;
    let kit = Kit::with(|s| s.dns_servers = vec![names.address]);
    let url = CanonicalUrl::parse(&format!("http://a.test:{}/", server.port)).unwrap();
    for _ in 0..3 {
        let answer = kit.get(&url).await;
        assert_eq!((answer.outcome, answer.ip), (None, Some([127, 0, 0, 1].into())));
        moved.store(true, SeqCst);
    }
    assert_eq!(server.accepted(), 1);
}
