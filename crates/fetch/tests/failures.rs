//! What the web does wrong, and the words for it.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_model::{CanonicalUrl, OutcomeKind};
use std::time::{Duration, Instant};
use support::{Kit, Server, failure, noise, request};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

#[tokio::test]
async fn a_body_shorter_than_promised_is_lost() {
    let server = Server::one_shot("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\nonly this").await;
    let kit = Kit::new();
    let answer = kit.get(&server.url("/")).await;
    assert_eq!(answer.outcome.as_ref().unwrap().status, 200);
    let got = failure(&answer);
    assert_eq!(got, (OutcomeKind::ConnectionLost, "the body ended after 9 of 2000 bytes".into()));
    assert_eq!((kit.fetcher.open_connections(), kit.fetcher.body_memory_used()), (0, 0));
}

#[tokio::test]
async fn chunks_that_break_off_or_make_no_sense_are_failures() {
    for (chunks, kind, words) in [
        ("5\r\nhello\r\n", OutcomeKind::ConnectionLost, "the body broke off after 5 bytes"),
        ("5\r\nhel", OutcomeKind::ConnectionLost, "the body broke off after 3 bytes"),
        ("xyz\r\nhello\r\n0\r\n\r\n", OutcomeKind::BadResponse, "bad framing: "),
        ("5\r\nhelloworld\r\n0\r\n\r\n", OutcomeKind::BadResponse, "bad framing: "),
        ("ffffffffffffffffff\r\nhello", OutcomeKind::BadResponse, "bad framing: "),
    ] {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let server = Server::one_shot(format!("{head}{chunks}")).await;
        let got = failure(&Kit::new().get(&server.url("/")).await);
        assert!(got.0 == kind && got.1.starts_with(words), "{chunks:?}: {got:?}");
    }
}

#[tokio::test]
async fn what_is_not_http_is_a_bad_response() {
    for reply in
        ["SSH-2.0-OpenSSH_9.2\r\n", "<html>hello</html>\n\n", "HTTP/1.1 abc OK\r\n\r\n", "\0\0\0\0"]
    {
        let server = Server::one_shot(reply).await;
        let (kind, words) = failure(&Kit::new().get(&server.url("/")).await);
        assert_eq!(kind, OutcomeKind::BadResponse, "{reply:?}: {words}");
        assert!(words.starts_with("the answer is not good HTTP: "), "{words}");
    }
}

#[tokio::test]
async fn a_head_that_breaks_off_is_lost() {
    let server = Server::one_shot("HTTP/1.1 200 OK\r\nContent-").await;
    let answer = Kit::new().get(&server.url("/")).await;
    assert!(answer.head.is_none());
    assert_eq!(failure(&answer).0, OutcomeKind::ConnectionLost);
    assert_eq!(answer.wire_bytes, 25);
}

#[tokio::test]
async fn endless_headers_are_given_up() {
    for more in ["X: y\r\n", "X: y\r\n continued\r\n", "endless", "\r\n"] {
        let server = Server::start(move |mut stream, _| async move {
            request(&mut stream).await;
            if more != "\r\n" {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").await;
            }
            let more = more.repeat(1000);
            while stream.write_all(more.as_bytes()).await.is_ok() {}
        })
        .await;
        let (kind, words) = failure(&Kit::new().get(&server.url("/")).await);
        assert_eq!(kind, OutcomeKind::BadResponse, "{more:?}: {words}");
    }
}

#[tokio::test]
async fn many_headers_are_fine_inside_the_limit() {
    let mut reply = String::from("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n");
    for n in 0..200 {
        reply.push_str(&format!("X-{n}: {}\r\n", "v".repeat(200)));
    }
    let server = Server::keep_alive(reply + "\r\nok").await;
    assert_eq!(Kit::new().page(&server.url("/")).await, b"ok");
}

#[tokio::test]
async fn a_page_that_drips_runs_out_of_time() {
    for head in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"] {
        let server = Server::start(move |mut stream, _| async move {
            request(&mut stream).await;
            let mut sent = stream.write_all(head.as_bytes()).await;
            while sent.is_ok() {
                tokio::time::sleep(Duration::from_millis(10)).await;
                sent = stream.write_all(b"x").await;
            }
        })
        .await;
        let kit = Kit::with(|s| s.total_timeout = Duration::from_millis(200));
        let clock = Instant::now();
        let answer = kit.get(&server.url("/")).await;
        let (kind, words) = failure(&answer);
        assert_eq!(kind, OutcomeKind::TimedOut);
        assert_eq!(answer.head.is_some(), words == "no complete answer within 200ms", "{words}");
        assert!(clock.elapsed() < Duration::from_secs(5));
        assert!(answer.elapsed >= Duration::from_millis(200));
        assert_eq!((kit.fetcher.open_connections(), kit.fetcher.body_memory_used()), (0, 0));
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_not_taken() {
    let kit = Kit::with(|s| s.max_body_bytes = 1000);
    let body = String::from_utf8(vec![b'x'; 1001]).unwrap();
    for (framing, words) in [
        ("Content-Length: 1001\r\n\r\n", "1001 bytes announced, 1000 allowed"),
        ("Connection: close\r\n\r\n", "more than 1.0 kB"),
    ] {
        let server = Server::one_shot(format!("HTTP/1.1 200 OK\r\n{framing}{body}")).await;
        let got = failure(&kit.get(&server.url("/")).await);
        assert_eq!(got, (OutcomeKind::TooLarge, words.into()));
        assert_eq!(kit.fetcher.open_connections(), 0);
    }
    let server = Server::one_shot(format!("HTTP/1.1 200 OK\r\n\r\n{}", &body[1..])).await;
    assert_eq!(kit.page(&server.url("/")).await.len(), 1000);
}

#[tokio::test]
async fn nobody_listening_is_a_refused_connection() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let answer = Kit::new().get(&url(&format!("http://127.0.0.1:{port}/"))).await;
    let got = failure(&answer);
    assert_eq!(got, (OutcomeKind::ConnectFailed, format!("connection refused (127.0.0.1:{port})")));
    assert_eq!((answer.outcome.unwrap().status, answer.wire_bytes), (0, 0));
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let server = Server::keep_alive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let kit = Kit::with(|s| {
        s.resolve_overrides = vec![
            ("two.test".into(), [127, 0, 0, 2].into()),
            ("two.test".into(), [127, 0, 0, 1].into()),
        ];
    });
    let answer = kit.get(&url(&format!("http://two.test:{}/", server.port))).await;
    assert_eq!(answer.outcome, None);
    assert_eq!(answer.ip.unwrap().to_string(), "127.0.0.1");
}

#[tokio::test]
async fn a_name_without_an_address_is_no_address() {
    let kit = Kit::new();
    for _ in 0..2 {
        let (kind, words) = failure(&kit.get(&url("http://no-such-name.invalid/")).await);
        assert_eq!(kind, OutcomeKind::NoAddress);
        assert!(words.starts_with("no address: "), "{words}");
    }
}

#[tokio::test]
async fn private_addresses_are_refused_unless_allowed() {
    let server = Server::keep_alive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    let kit = Kit::with(|s| {
        s.allow_private = false;
        s.resolve_overrides = vec![("rebound.test".into(), [127, 0, 0, 1].into())];
    });
    for (host, ip) in [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("rebound.test", "127.0.0.1"),
    ] {
        let got = failure(&kit.get(&url(&format!("http://{host}:{}/", server.port))).await);
        assert_eq!(got, (OutcomeKind::ForbiddenAddress, format!("{ip} is not a public address")));
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn a_reset_in_the_middle_is_lost() {
    let server = Server::start(|mut stream, _| async move {
        // The request stays unread, so the close turns into a reset.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n").await;
        let _ = stream.write_all(&noise(1000)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    })
    .await;
    let (kind, words) = failure(&Kit::new().get(&server.url("/")).await);
    assert_eq!(kind, OutcomeKind::ConnectionLost, "{words}");
}
