//! The cap on what all connections together receive.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_model::OutcomeKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{Kit, Server, failure, noise, request};
use tokio::io::AsyncWriteExt;

async fn pages_of(len: usize) -> (Server, Vec<u8>) {
    let page = noise(len);
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {len}\r\n\r\n");
    (Server::keep_alive([head.as_bytes(), &page].concat()).await, page)
}

#[tokio::test]
async fn all_connections_together_stay_under_the_cap() {
    let (server, page) = pages_of(50_000).await;
    let kit = Arc::new(Kit::with(|s| s.max_bytes_per_second = Some(400_000)));
    let clock = Instant::now();
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let (kit, url) = (kit.clone(), server.url("/"));
            tokio::spawn(async move { kit.page(&url).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), page);
    }
    // 8 times 50 KB at 400 KB a second.
    let took = clock.elapsed();
    assert!((Duration::from_millis(950)..Duration::from_secs(5)).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_page_does_not_fail_for_our_own_cap() {
    let (server, page) = pages_of(50_000).await;
    let kit = Kit::with(|s| {
        s.max_bytes_per_second = Some(25_000);
        s.total_timeout = Duration::from_secs(1);
    });
    let answer = kit.get(&server.url("/")).await;
    assert_eq!(answer.outcome, None);
    assert_eq!(support::bytes(&answer.body), page);
    assert!(answer.elapsed >= Duration::from_millis(1900), "{:?}", answer.elapsed);
    assert!(answer.waited < Duration::from_secs(1), "not the server's: {:?}", answer.waited);
}

#[tokio::test]
async fn a_slow_server_still_runs_out_of_time_under_a_cap() {
    let server = Server::start(|mut stream, _| async move {
        request(&mut stream).await;
        let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n").await;
        while sent.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            sent = stream.write_all(b"x").await;
        }
    })
    .await;
    let kit = Kit::with(|s| {
        s.max_bytes_per_second = Some(1000);
        s.total_timeout = Duration::from_millis(300);
    });
    let clock = Instant::now();
    let (kind, _) = failure(&kit.get(&server.url("/")).await);
    assert_eq!(kind, OutcomeKind::TimedOut);
    assert!(clock.elapsed() < Duration::from_secs(2), "{:?}", clock.elapsed());
}
