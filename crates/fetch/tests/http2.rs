//! HTTP/2, for servers that speak nothing else.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::Take;
use argiope_model::{FetchOutcome, OutcomeKind};
use bytes::Bytes;
use h2::server::SendResponse;
use hyper::{Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use support::certificate::Wish;
use support::secure::Secure;
use support::{Kit, Server, bytes, failure, noise};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

const GOOD: Wish =
    Wish { names: &["good.test"], from: "20200101000000Z", to: "20990101000000Z", is_ca: false };

/// Speaks HTTP/2 on a stream, answering each request with `answer`.
async fn speak<S, F>(stream: S, answer: F)
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Fn(Request<h2::RecvStream>, SendResponse<Bytes>),
{
    let Ok(mut connection) = h2::server::handshake(stream).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        answer(request, respond);
    }
}

/// Answers with what was asked for.
fn echo(request: Request<h2::RecvStream>, mut respond: SendResponse<Bytes>) {
    let agent = request.headers()["user-agent"].to_str().unwrap();
    assert!(!request.headers().contains_key("host"));
    let body = format!("{} {agent}", request.uri());
    let head = Response::builder()
        .status(404)
        .header("content-type", "text/plain")
        .header("x-twice", "1")
        .header("x-twice", "2");
    let mut sent = respond.send_response(head.body(()).unwrap(), false).unwrap();
    sent.send_data(body.into(), true).unwrap();
}

#[tokio::test]
async fn a_server_that_offers_http2_alone_is_understood() {
    let secure = Secure::start(&GOOD, &["h2"], |s| speak(s, echo)).await;
    let kit = secure.kit();
    for n in 0..3 {
        let answer = kit.get(&secure.url("/a?b=c")).await;
        assert_eq!(answer.outcome, None);
        let asked = String::from_utf8(bytes(&answer.body)).unwrap();
        assert_eq!(asked, format!("{} argiope-test/1", secure.url("/a?b=c").as_str()));
        let head = answer.head.unwrap();
        assert!(head.is_http2() && head.status == 404);
        assert_eq!(
            String::from_utf8(head.raw).unwrap(),
            "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\nx-twice: 1\r\nx-twice: 2\r\n\r\n"
        );
        assert_eq!(answer.ip.unwrap().to_string(), "127.0.0.1");
        assert!(answer.wire_bytes > 20, "{n}: {}", answer.wire_bytes);
    }
    assert_eq!(secure.server.accepted(), 2, "one refusal, then one connection for all");
}

#[tokio::test]
async fn a_server_that_can_do_both_is_spoken_to_in_the_older_language() {
    let secure = Secure::start(&GOOD, &["h2", "http/1.1"], |mut stream| async move {
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        let _ = stream.flush().await;
    })
    .await;
    let answer = secure.kit().get(&secure.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert!(!answer.head.unwrap().is_http2());
    assert_eq!(secure.server.accepted(), 1);
}

#[tokio::test]
async fn a_server_that_just_talks_http2_is_understood_too() {
    // It ignores what was offered, over TLS or without.
    let secure = Secure::start(&GOOD, &[], |s| speak(s, echo)).await;
    let answer = secure.kit().get(&secure.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert!(answer.head.unwrap().is_http2());
    let plain = Server::start(|s, _| speak(s, echo)).await;
    let answer = Kit::new().get(&plain.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert_eq!(answer.head.unwrap().status, 404);
}

#[tokio::test]
async fn a_server_that_wants_neither_is_a_failure() {
    let secure = Secure::start(&GOOD, &["gopher"], |_| async {}).await;
    let got = failure(&secure.kit().get(&secure.url("/")).await);
    let words = "the server speaks neither HTTP/1.1 nor HTTP/2 here";
    assert_eq!(got, (OutcomeKind::TlsFailed, words.into()));
    assert_eq!(secure.server.accepted(), 2);
}

#[tokio::test]
async fn large_bodies_come_whole() {
    let page = Bytes::from(noise(3_000_000));
    let sent = page.clone();
    let secure = Secure::start(&GOOD, &["h2"], move |s| {
        let page = sent.clone();
        speak(s, move |_, mut respond| {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            stream.send_data(page.clone(), true).unwrap();
        })
    })
    .await;
    let kit = secure.kit();
    assert_eq!(kit.page(&secure.url("/")).await, page);
}

/// A server whose body never ends, and what it notices when the client leaves.
async fn endless(piece: usize, pause: Duration) -> (Secure, Arc<Notify>, Arc<AtomicUsize>) {
    let (gone, sent) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (tell, count) = (gone.clone(), sent.clone());
    let secure = Secure::start(&GOOD, &["h2"], move |s| {
        let (tell, count) = (tell.clone(), count.clone());
        async move {
            let inner = count.clone();
            speak(s, move |_, mut respond| {
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                let count = inner.clone();
                tokio::spawn(async move {
                    loop {
                        stream.reserve_capacity(piece);
                        let room = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await;
                        let Some(Ok(room)) = room else { return };
                        count.fetch_add(room, SeqCst);
                        if stream.send_data(vec![b'x'; room].into(), false).is_err() {
                            return;
                        }
                        tokio::time::sleep(pause).await;
                    }
                });
            })
            .await;
            // The connection is over.
            tell.notify_one();
        }
    })
    .await;
    (secure, gone, sent)
}

#[tokio::test]
async fn limits_hold_and_the_connection_is_closed() {
    let (secure, gone, sent) = endless(16 << 10, Duration::ZERO).await;
    let kit = secure.kit_with(|s| s.max_body_bytes = 100_000);
    let got = failure(&kit.get(&secure.url("/")).await);
    assert_eq!(got, (OutcomeKind::TooLarge, "more than 100.0 kB".into()));
    tokio::time::timeout(Duration::from_secs(5), gone.notified()).await.unwrap();
    assert!(sent.load(SeqCst) < 2_000_000, "{}", sent.load(SeqCst));
    assert_eq!((kit.fetcher.open_connections(), kit.fetcher.body_memory_used()), (0, 0));
}

#[tokio::test]
async fn a_page_that_drips_runs_out_of_time() {
    let (secure, gone, _) = endless(1, Duration::from_millis(10)).await;
    let kit = secure.kit_with(|s| s.total_timeout = Duration::from_millis(400));
    let (kind, words) = failure(&kit.get(&secure.url("/")).await);
    assert_eq!((kind, words.as_str()), (OutcomeKind::TimedOut, "no complete answer within 400ms"));
    tokio::time::timeout(Duration::from_secs(5), gone.notified()).await.unwrap();
}

#[tokio::test]
async fn an_unwanted_body_is_left() {
    let (secure, gone, _) = endless(16 << 10, Duration::ZERO).await;
    let kit = secure.kit();
    let verdict = FetchOutcome::new(OutcomeKind::UnwantedType, 200);
    let leave = |_: &_| Take::Nothing(FetchOutcome::new(OutcomeKind::UnwantedType, 200));
    let answer = kit.fetcher.get(&secure.url("/"), leave).await.unwrap();
    assert_eq!(answer.outcome, Some(verdict));
    tokio::time::timeout(Duration::from_secs(5), gone.notified()).await.unwrap();
    let answer = kit.fetcher.get(&secure.url("/"), |_| Take::First(1000)).await.unwrap();
    assert_eq!((answer.outcome, answer.body.len()), (None, 1000));
    tokio::time::timeout(Duration::from_secs(5), gone.notified()).await.unwrap();
}

#[tokio::test]
async fn broken_streams_are_failures() {
    let secure = Secure::start(&GOOD, &["h2"], |s| {
        speak(s, |request, mut respond| match request.uri().path() {
            "/refuse" => respond.send_reset(h2::Reason::REFUSED_STREAM),
            "/reset" => {
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                stream.send_data("some".into(), false).unwrap();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    stream.send_reset(h2::Reason::INTERNAL_ERROR);
                });
            }
            _ => {
                let head = Response::builder().header("content-length", "100");
                let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
                stream.send_data("short".into(), true).unwrap();
            }
        })
    })
    .await;
    let kit = secure.kit();
    for (path, words) in [
        ("/refuse", "before answering"),
        ("/reset", "the body broke off after 4 bytes"),
        ("/short", "the body ended after"),
    ] {
        let (kind, got) = failure(&kit.get(&secure.url(path)).await);
        assert_eq!(kind, OutcomeKind::ConnectionLost, "{path}: {got}");
        assert!(got.contains(words), "{path}: {got}");
    }
}

#[tokio::test]
async fn what_a_server_insists_on_is_remembered() {
    let secure = Secure::start(&GOOD, &["h2"], |s| speak(s, echo)).await;
    let kit = secure.kit_with(|s| s.idle_connections = 0);
    for _ in 0..3 {
        assert_eq!(kit.get(&secure.url("/")).await.outcome, None);
    }
    assert_eq!(secure.server.accepted(), 4, "one refusal, then one connection each");
}
