//! Complete answers: every way a server may mark the end of a body, and the head as it came.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{Body, Take};
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Kit, Server, bytes, failure, noise, request};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

#[tokio::test]
async fn a_body_of_known_length_arrives_whole() {
    let server = Server::keep_alive("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await;
    let answer = Kit::new().get(&server.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert_eq!(bytes(&answer.body), b"hello");
    assert_eq!(answer.head.as_ref().unwrap().content_length(), Some(5));
    assert_eq!(answer.wire_bytes, 43);
    assert_eq!(answer.ip.unwrap().to_string(), "127.0.0.1");
    assert!(answer.started.0 > 1_700_000_000_000 && !answer.elapsed.is_zero());
}

#[tokio::test]
async fn chunks_are_put_together() {
    let reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                 5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n";
    let server = Server::keep_alive(reply).await;
    let kit = Kit::new();
    for _ in 0..2 {
        let answer = kit.get(&server.url("/")).await;
        assert_eq!(answer.outcome, None);
        assert_eq!(bytes(&answer.body), b"hello world");
        let head = answer.head.unwrap();
        assert!(head.is_chunked());
        assert_eq!(head.content_length(), None);
        assert_eq!(answer.wire_bytes, reply.len() as u64);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn an_old_server_ends_the_body_by_closing() {
    let server = Server::one_shot("HTTP/1.0 200 OK\r\nServer: old\r\n\r\nall of it").await;
    let kit = Kit::new();
    for n in 1..=2 {
        assert_eq!(kit.page(&server.url("/")).await, b"all of it");
        assert_eq!(server.accepted(), n);
        assert_eq!(kit.fetcher.open_connections(), 0);
    }
}

#[tokio::test]
async fn answers_without_a_body_keep_the_connection() {
    for status in ["204 No Content", "304 Not Modified"] {
        // The length of a 304 is that of the page it speaks of.
        let server = Server::keep_alive(format!(
            "HTTP/1.1 {status}\r\nETag: \"x\"\r\nContent-Length: 500\r\n\r\n"
        ))
        .await;
        let kit = Kit::new();
        for _ in 0..2 {
            let answer = kit.get(&server.url("/")).await;
            assert_eq!(answer.outcome, None);
            assert!(matches!(answer.body, Body::Empty));
            assert_eq!(answer.head.unwrap().etag().as_deref(), Some("\"x\""));
        }
        assert_eq!(server.accepted(), 1);
    }
}

#[tokio::test]
async fn interim_heads_are_passed_over() {
    let last = "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\n";
    let server = Server::keep_alive(format!(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n{last}ok"
    ))
    .await;
    let kit = Kit::new();
    for _ in 0..2 {
        let answer = kit.get(&server.url("/")).await;
        assert_eq!(answer.outcome, None);
        assert_eq!(bytes(&answer.body), b"ok");
        assert_eq!(String::from_utf8(answer.head.unwrap().raw).unwrap(), last);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn the_head_is_kept_byte_for_byte() {
    let heads: [&[u8]; 4] = [
        b"HTTP/1.1 200 Sehr sch\xf6n\r\nsErVeR:  odd \r\nX-Empty:\r\nContent-Length:2\r\n\r\n",
        b"HTTP/1.1 200\nContent-Length: 2\nX-Fold: a\n  b\n\n",
        b"HTTP/1.1 404 Not Found\r\nX Bad Name: 1\r\nSpace : 2\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX-Raw: \xff\xfe\r\nContent-Length: 2\r\nSet-Cookie: a\r\nset-cookie: b\r\n\r\n",
    ];
    for head in heads {
        let server = Server::keep_alive([head, b"ok"].concat()).await;
        let kit = Kit::new();
        for _ in 0..2 {
            let answer = kit.get(&server.url("/")).await;
            assert_eq!(answer.outcome, None, "{}", String::from_utf8_lossy(head));
            assert_eq!(bytes(&answer.body), b"ok");
            assert_eq!(answer.head.unwrap().raw, head);
        }
    }
}

#[tokio::test]
async fn the_request_says_what_a_crawler_should_say() {
    let seen = Arc::new(Mutex::new(String::new()));
    let (writer, kit) =
        (seen.clone(), Kit::with(|s| s.accept_language = Some("de, en;q=0.5".into())));
    let server = Server::start(move |mut stream, _| {
        let writer = writer.clone();
        async move {
            *writer.lock().unwrap() = request(&mut stream).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    assert_eq!(kit.page(&server.url("/a/b?c=d|e&f=%20\"{g}")).await, b"");
    let port = server.port;
    assert_eq!(
        *seen.lock().unwrap(),
        format!(
            "GET /a/b?c=d|e&f=%20%22{{g}} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\
             user-agent: argiope-test/1\r\naccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\
             accept-language: de, en;q=0.5\r\naccept-encoding: gzip, br, deflate, zstd\r\n\r\n"
        )
    );
}

#[tokio::test]
async fn every_path_a_url_may_have_can_be_asked_for() {
    let server = Server::start(|mut stream, _| async move {
        while let Some(head) = request(&mut stream).await {
            let target = head.split(' ').nth(1).unwrap();
            let reply =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{target}", target.len());
            stream.write_all(reply.as_bytes()).await.unwrap();
        }
    })
    .await;
    let kit = Kit::new();
    let odd: String = (0x20..0x7f_u8).map(char::from).filter(|c| !"#?/\\".contains(*c)).collect();
    for path in [format!("/{odd}?{odd}"), "/ü?ü".into(), "/%zz%".into(), "//x//".into()] {
        let url = server.url(&path);
        let asked = String::from_utf8(kit.page(&url).await).unwrap();
        let same =
            CanonicalUrl::parse(&format!("http://127.0.0.1:{}{asked}", server.port)).unwrap();
        assert_eq!(same, url);
    }
}

#[tokio::test]
async fn the_judge_may_leave_the_body() {
    let verdict = || FetchOutcome::with_detail(OutcomeKind::UnwantedType, 200, "image/png");
    let kit = Kit::new();
    for (len, connections) in [(100, 1), (16 << 10, 1), (20_000, 2)] {
        let mut reply =
            format!("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: {len}\r\n\r\n")
                .into_bytes();
        reply.extend(noise(len));
        let server = Server::keep_alive(reply).await;
        for _ in 0..2 {
            let answer = kit
                .fetcher
                .get(&server.url("/"), |head| {
                    assert_eq!(head.content_type().as_deref(), Some("image/png"));
                    Take::Nothing(verdict())
                })
                .await
                .unwrap();
            assert_eq!(answer.outcome, Some(verdict()));
            assert!(answer.body.is_empty() && answer.head.is_some());
        }
        assert_eq!(server.accepted(), connections, "{len} bytes unwanted");
    }
}

#[tokio::test]
async fn an_ipv6_address_and_a_name_given_by_hand_are_reached() {
    let kit =
        Kit::with(|s| s.resolve_overrides = vec![("made-up.test".into(), [127, 0, 0, 1].into())]);
    let server = Server::keep_alive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for host in ["made-up.test", "localhost", "[::ffff:127.0.0.1]"] {
        let url = CanonicalUrl::parse(&format!("http://{host}:{}/", server.port)).unwrap();
        assert_eq!(kit.page(&url).await, b"ok", "{host}");
    }
    assert_eq!(server.accepted(), 3, "each origin has its own connection");
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_a_tls_failure() {
    let server = Server::keep_alive("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let url = CanonicalUrl::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    let kit = Kit::with(|s| s.connect_timeout = Duration::from_millis(300));
    let (kind, detail) = failure(&kit.get(&url).await);
    assert_eq!(kind, OutcomeKind::TlsFailed, "{detail}");
}

#[tokio::test]
async fn the_wait_for_the_head_is_told_apart_from_the_rest() {
    let seen = Arc::new(Notify::new());
    let head_seen = seen.clone();
    let server = Server::start(move |mut stream, _| {
        let head_seen = head_seen.clone();
        async move {
            while request(&mut stream).await.is_some() {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no").await;
                head_seen.notified().await;
                tokio::time::sleep(Duration::from_millis(200)).await;
                let _ = stream.write_all(b"k").await;
            }
        }
    })
    .await;
    let kit = Kit::new();
    for _ in 0..2 {
        let judge = |_: &_| {
            seen.notify_one();
            Take::Body
        };
        let answer = kit.fetcher.get(&server.url("/"), judge).await.unwrap();
        let (waited, elapsed) = (answer.waited, answer.elapsed);
        assert!(waited >= Duration::from_millis(100), "{waited:?}");
        assert!(elapsed >= waited + Duration::from_millis(200), "{waited:?} of {elapsed:?}");
    }
    assert_eq!(server.accepted(), 1);
}
