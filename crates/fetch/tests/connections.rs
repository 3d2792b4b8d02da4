//! How connections are shared: kept, reused, replaced, closed.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_model::OutcomeKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use support::{Kit, Server, failure, request};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::keep_alive(OK).await;
    let kit = Kit::new();
    for n in 0..20 {
        assert_eq!(kit.page(&server.url(&format!("/{n}"))).await, b"ok");
    }
    assert_eq!((server.accepted(), kit.fetcher.open_connections()), (1, 1));
}

#[tokio::test]
async fn parallel_requests_have_a_connection_each() {
    let server = Server::keep_alive(OK).await;
    let kit = Arc::new(Kit::new());
    for _ in 0..3 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (kit, url) = (kit.clone(), server.url("/"));
                tokio::spawn(async move { kit.page(&url).await })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), b"ok");
        }
    }
    assert!(server.accepted() <= 8, "{} connections", server.accepted());
}

#[tokio::test]
async fn a_connection_the_server_closed_meanwhile_is_replaced() {
    let closed = Arc::new(Notify::new());
    let tell = closed.clone();
    let server = Server::start(move |mut stream, _| {
        let tell = tell.clone();
        async move {
            request(&mut stream).await;
            stream.write_all(OK).await.unwrap();
            drop(stream);
            tell.notify_one();
        }
    })
    .await;
    let kit = Kit::new();
    for n in 1..=3 {
        assert_eq!(kit.page(&server.url("/")).await, b"ok");
        closed.notified().await;
        assert_eq!(server.accepted(), n);
    }
}

#[tokio::test]
async fn a_connection_closed_as_the_request_arrives_is_asked_again_once() {
    // The second request on each connection is read and met with silence.
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    let server = Server::start(move |mut stream, _| {
        let counter = counter.clone();
        async move {
            request(&mut stream).await;
            counter.fetch_add(1, SeqCst);
            stream.write_all(OK).await.unwrap();
            if request(&mut stream).await.is_some() {
                counter.fetch_add(1, SeqCst);
            }
        }
    })
    .await;
    let kit = Kit::new();
    assert_eq!(kit.page(&server.url("/")).await, b"ok");
    assert_eq!(kit.page(&server.url("/")).await, b"ok");
    assert_eq!((server.accepted(), requests.load(SeqCst)), (2, 3));
}

#[tokio::test]
async fn nothing_is_sent_twice_where_that_was_ruled_out() {
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = requests.clone();
    let server = Server::start(move |mut stream, _| {
        let counter = counter.clone();
        async move {
            request(&mut stream).await;
            counter.fetch_add(1, SeqCst);
            stream.write_all(OK).await.unwrap();
            if request(&mut stream).await.is_some() {
                counter.fetch_add(1, SeqCst);
            }
        }
    })
    .await;
    let kit = Kit::with(|s| s.ask_again = false);
    assert_eq!(kit.page(&server.url("/")).await, b"ok");
    let (kind, words) = failure(&kit.get(&server.url("/")).await);
    assert_eq!(kind, OutcomeKind::ConnectionLost);
    assert_eq!(words, "the server closed the connection before answering");
    assert_eq!((server.accepted(), requests.load(SeqCst)), (1, 2));
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_asked_twice() {
    let server = Server::start(|mut stream, _| async move {
        request(&mut stream).await;
    })
    .await;
    let (kind, words) = failure(&Kit::new().get(&server.url("/")).await);
    assert_eq!(kind, OutcomeKind::ConnectionLost);
    assert_eq!(words, "the server closed the connection before answering");
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_half_answer_on_a_reused_connection_is_a_failure() {
    let server = Server::start(|mut stream, _| async move {
        request(&mut stream).await;
        stream.write_all(OK).await.unwrap();
        request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 20").await.unwrap();
    })
    .await;
    let kit = Kit::new();
    assert_eq!(kit.page(&server.url("/")).await, b"ok");
    let (kind, _) = failure(&kit.get(&server.url("/")).await);
    assert_eq!((kind, server.accepted()), (OutcomeKind::ConnectionLost, 1));
}

#[tokio::test]
async fn a_server_that_says_close_is_believed() {
    let server =
        Server::keep_alive("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
            .await;
    let kit = Kit::new();
    for n in 1..=2 {
        assert_eq!(kit.page(&server.url("/")).await, b"ok");
        assert_eq!((server.accepted(), kit.fetcher.open_connections()), (n, 0));
    }
}

#[tokio::test]
async fn bytes_nobody_asked_for_end_the_connection() {
    let server =
        Server::keep_alive([OK, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"].concat())
            .await;
    let kit = Kit::new();
    for n in 1..=3 {
        assert_eq!(kit.page(&server.url("/")).await, b"ok");
        assert_eq!(server.accepted(), n);
    }
}

#[tokio::test]
async fn only_so_many_connections_wait_and_the_oldest_goes_first() {
    let kit = Kit::with(|s| s.idle_connections = 2);
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Server::keep_alive(OK).await);
    }
    for server in &servers {
        kit.page(&server.url("/")).await;
    }
    assert_eq!(kit.fetcher.open_connections(), 2);
    for server in servers.iter().rev() {
        kit.page(&server.url("/")).await;
    }
    let accepted: Vec<_> = servers.iter().map(Server::accepted).collect();
    assert_eq!(accepted, [2, 1, 1]);
}

#[tokio::test]
async fn connections_do_not_wait_longer_than_they_may() {
    let kit = Kit::with(|s| s.idle_timeout = Duration::from_millis(20));
    let server = Server::keep_alive(OK).await;
    kit.page(&server.url("/")).await;
    tokio::time::sleep(Duration::from_millis(60)).await;
    kit.page(&server.url("/")).await;
    assert_eq!((server.accepted(), kit.fetcher.open_connections()), (2, 1));
}

#[tokio::test]
async fn a_request_that_is_given_up_closes_its_connection() {
    let server = Server::start(|mut stream, _| async move {
        request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let kit = Kit::new();
    let url = server.url("/");
    let given_up = tokio::time::timeout(Duration::from_millis(100), kit.get(&url)).await;
    assert!(given_up.is_err());
    assert_eq!((server.accepted(), kit.fetcher.open_connections()), (1, 0));
}
