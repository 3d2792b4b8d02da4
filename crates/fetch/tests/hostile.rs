//! Servers that lie, never end, or speak something odd: each ends as an outcome, soon, with
//! little memory, and with its connection closed.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{Answer, Take};
use argiope_model::{FetchOutcome, OutcomeKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::{Kit, Server, bytes, failure, noise, request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

/// A server that sends `start` once and then `more` until nobody listens, and what it notices.
struct Endless {
    server: Server,
    sent: Arc<AtomicU64>,
    closed: Arc<Notify>,
}

impl Endless {
    async fn start(start: &'static [u8], more: impl Into<Vec<u8>>, pause: Duration) -> Self {
        let (sent, closed) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let (count, tell, more) = (sent.clone(), closed.clone(), Arc::new(more.into()));
        let server = Server::start(move |mut stream, _| {
            let (count, tell, more) = (count.clone(), tell.clone(), more.clone());
            async move {
                request(&mut stream).await;
                let mut going = stream.write_all(start).await;
                while going.is_ok() {
                    going = stream.write_all(&more).await;
                    count.fetch_add(more.len() as u64, SeqCst);
                    if !pause.is_zero() {
                        tokio::time::sleep(pause).await;
                    }
                }
                tell.notify_one();
            }
        })
        .await;
        Endless { server, sent, closed }
    }

    /// Asks, and sees that the connection is closed and not much was taken in.
    async fn ask(&self, kit: &Kit) -> Answer {
        let clock = Instant::now();
        let answer = kit.get(&self.server.url("/")).await;
        let gone = tokio::time::timeout(Duration::from_secs(5), self.closed.notified()).await;
        assert!(gone.is_ok(), "the server still has its connection");
        assert!(clock.elapsed() < Duration::from_secs(9), "{:?}", clock.elapsed());
        assert_eq!((kit.fetcher.open_connections(), kit.fetcher.body_memory_used()), (0, 0));
        // What the system's buffers took in does not count.
        assert!(self.sent.load(SeqCst) < 40 << 20, "{} bytes sent", self.sent.load(SeqCst));
        answer
    }
}

/// Heads and chunk framing of all kinds that never come to an end.
#[tokio::test]
async fn what_never_ends_is_given_up_long_before_the_time_is_over() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bad = OutcomeKind::BadResponse;
    let cases: [(&'static [u8], Vec<u8>, OutcomeKind); 9] = [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100), bad),
        (b"", b"HTTP/1.1 103 Hints\r\nLink: </>\r\n\r\n".repeat(100), bad),
        (b"HTTP/1.1 200 ", b"very fine ".repeat(100), bad),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n".repeat(100), bad),
        (chunked, b"0".repeat(1000), bad),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", b"x=y;".repeat(100), bad),
        (chunked, [&b"1;"[..], &b"e".repeat(1000), b"\r\nx\r\n"].concat(), bad),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
            b"T: railer\r\n".repeat(100),
            bad,
        ),
        (chunked, [&b"8000\r\n"[..], &noise(0x8000), b"\r\n"].concat(), OutcomeKind::TooLarge),
    ];
    for (n, (start, more, kind)) in cases.into_iter().enumerate() {
        let endless = Endless::start(start, more, Duration::ZERO).await;
        let kit = Kit::with(|s| s.max_body_bytes = 1 << 20);
        let (got, words) = failure(&endless.ask(&kit).await);
        assert_eq!(got, kind, "case {n}: {words}");
    }
}

#[tokio::test]
async fn framing_that_costs_more_than_the_page_is_too_large() {
    // Every byte comes with a long row of zeros.
    let piece = [b"0".repeat(3000), b"1\r\nx\r\n".to_vec()].concat();
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let endless = Endless::start(head, piece, Duration::ZERO).await;
    let kit = Kit::with(|s| s.max_body_bytes = 100_000);
    let (kind, words) = failure(&endless.ask(&kit).await);
    assert_eq!((kind, words.as_str()), (OutcomeKind::TooLarge, "more than 1.2 MB on the wire"));
}

#[tokio::test]
async fn bodies_nobody_waits_for_close_their_connection() {
    let length = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
    let until_close = b"HTTP/1.1 200 OK\r\n\r\n";
    // Too large by its own account, too large as it comes, too slow.
    let kit = Kit::with(|s| s.max_body_bytes = 1 << 20);
    let hasty = Kit::with(|s| s.total_timeout = Duration::from_millis(500));
    for (start, pause, kind) in [
        (&length[..], Duration::ZERO, OutcomeKind::TooLarge),
        (&until_close[..], Duration::ZERO, OutcomeKind::TooLarge),
        (&until_close[..], Duration::from_millis(20), OutcomeKind::TimedOut),
    ] {
        let (kit, more) =
            if pause.is_zero() { (&kit, noise(10_000)) } else { (&hasty, b"x".to_vec()) };
        let endless = Endless::start(start, more, pause).await;
        assert_eq!(failure(&endless.ask(kit).await).0, kind);
    }
    // Unwanted, and cut on purpose.
    for start in [&length[..], &until_close[..]] {
        for most in [None, Some(1000)] {
            let endless = Endless::start(start, noise(10_000), Duration::ZERO).await;
            let verdict = FetchOutcome::new(OutcomeKind::UnwantedType, 200);
            let judge = |_: &_| match most {
                None => Take::Nothing(verdict.clone()),
                Some(most) => Take::First(most),
            };
            let answer = kit.fetcher.get(&endless.server.url("/"), judge).await.unwrap();
            assert_eq!(answer.body.len(), most.unwrap_or(0));
            let gone = tokio::time::timeout(Duration::from_secs(5), endless.closed.notified());
            assert!(gone.await.is_ok(), "the server still has its connection");
        }
    }
}

/// How an answer ends: its status and body, or the kind of failure.
async fn ends(reply: &str) -> Result<(u16, String), OutcomeKind> {
    let server = Server::one_shot(reply).await;
    let kit = Kit::with(|s| s.total_timeout = Duration::from_secs(3));
    let answer = kit.get(&server.url("/")).await;
    match answer.outcome {
        Some(outcome) => Err(outcome.kind),
        None => {
            let body = String::from_utf8(bytes(&answer.body)).unwrap();
            Ok((answer.head.unwrap().status, body))
        }
    }
}

#[tokio::test]
async fn lengths_that_lie_or_make_no_sense() {
    let reply = |lengths: &str| format!("HTTP/1.1 200 OK\r\n{lengths}\r\nhello");
    let ok = |body: &str| Ok((200, body.to_owned()));
    for (lengths, end) in [
        ("Content-Length: 5\r\n", ok("hello")),
        ("Content-Length: 3\r\n", ok("hel")),
        ("Content-Length: 9\r\n", Err(OutcomeKind::ConnectionLost)),
        ("Content-Length: -5\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: +5\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: 5 bytes\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: 99999999999999999999\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: 18446744073709551615\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", ok("hello")),
        ("Content-Length: 5, 5\r\n", ok("hello")),
        ("Content-Length: 5\r\nContent-Length: 4\r\n", Err(OutcomeKind::BadResponse)),
        ("Content-Length: 5, 4\r\n", Err(OutcomeKind::BadResponse)),
    ] {
        assert_eq!(ends(&reply(lengths)).await, end, "{lengths:?}");
    }
}

#[tokio::test]
async fn odd_heads() {
    let ok = |status: u16, body: &str| Ok((status, body.to_owned()));
    let bad = || Err(OutcomeKind::BadResponse);
    for (reply, end) in [
        ("HTTP/1.1 999 What\r\nContent-Length: 2\r\n\r\nok", ok(999, "ok")),
        ("HTTP/1.1 0 What\r\n\r\n", bad()),
        ("HTTP/1.1 1 What\r\n\r\n", bad()),
        ("HTTP/1.1 20 What\r\n\r\n", bad()),
        ("HTTP/1.1 2000 What\r\n\r\n", bad()),
        ("HTTP/1.1 099 What\r\n\r\n", bad()),
        ("HTTP/1.1 200 OK\r\nno colon here\r\nContent-Length: 2\r\n\r\nok", ok(200, "ok")),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ok(200, "ok")),
        ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", ok(200, "ok")),
        ("HTTP/0.9 200 OK\r\n\r\nok", bad()),
        ("HTTP/3.0 200 OK\r\n\r\nok", bad()),
        ("<!doctype html><title>HTTP/0.9</title>", bad()),
        ("ICY 200 OK\r\n\r\nmusic", bad()),
        ("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nxyz", bad()),
        ("", Err(OutcomeKind::ConnectionLost)),
    ] {
        assert_eq!(ends(reply).await, end, "{reply:?}");
    }
}

#[tokio::test]
async fn an_old_server_may_keep_its_connection() {
    let reply = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";
    let server = Server::keep_alive(reply).await;
    let kit = Kit::new();
    for _ in 0..3 {
        assert_eq!(kit.page(&server.url("/")).await, b"ok");
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn an_answer_that_comes_before_the_question_does_no_harm() {
    let server = Server::start(|mut stream, _| async move {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno").await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let kit = Kit::new();
    for n in 1..=3 {
        let answer = kit.get(&server.url("/")).await;
        assert!(answer.outcome.is_some() || bytes(&answer.body) == b"ok");
        assert_eq!((server.accepted(), kit.fetcher.open_connections()), (n, 0));
    }
}
