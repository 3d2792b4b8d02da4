//! The made-up web over sockets, asked by a client that is nothing but bytes.

use argiope_testweb::{Bind, ServeOptions, Served, Web, WebSpec, serve};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn demo(options: ServeOptions) -> Served {
    let web = Web::new(WebSpec { sites: 5, ..WebSpec::demo() });
    serve(Arc::new(web), options).await.expect("loopback can be bound")
}

/// Sends bytes and reads all that comes back until the server closes.
async fn exchange(address: SocketAddr, request: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("a listener");
    stream.write_all(request.as_bytes()).await.expect("an open connection");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer");
    answer
}

fn get(host: &str, path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

/// Head and body of an answer.
fn split(answer: &[u8]) -> (String, &[u8]) {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("an empty line");
    (String::from_utf8(answer[..end].to_vec()).expect("a head of ASCII"), &answer[end + 4..])
}

#[tokio::test]
async fn served_bytes_are_those_of_respond() {
    let served = demo(ServeOptions::default()).await;
    for site in 0..5 {
        for url in served.web().expected_urls(site) {
            let response = served.web().respond(site, &url.path);
            let answer = exchange(served.address(site), &get("x", &url.path)).await;
            let (head, body) = split(&answer);
            assert!(head.starts_with(&format!("HTTP/1.1 {} ", response.status)), "{head}");
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
            for (name, value) in &response.headers {
                assert!(head.contains(&format!("\r\n{name}: {value}\r\n")), "{head}");
            }
            assert_eq!(body, &response.body[..], "{}", url.path);
        }
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests_even_at_once() {
    let served = demo(ServeOptions::default()).await;
    let keep = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = exchange(served.address(1), &format!("{keep}{keep}{}", get("x", "/"))).await;
    let text = String::from_utf8_lossy(&answer);
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3);
    assert_eq!(text.matches("<!DOCTYPE").count(), 1, "HEAD has no body");
    let hits = served.hits();
    assert_eq!(hits.len(), 3);
    assert_eq!((served.requests(), served.connections()), (3, 1));
    for hit in hits {
        assert_eq!((hit.site, hit.path.as_str(), hit.status), (Some(1), "/", 200));
        assert!(hit.connection == 0 && hit.began <= hit.ended);
    }
}

#[tokio::test]
async fn without_keep_alive_every_answer_closes() {
    let served = demo(ServeOptions { keep_alive: false, ..ServeOptions::default() }).await;
    let answer = exchange(served.address(0), "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(split(&answer).0.contains("\r\nConnection: close"));
}

#[tokio::test]
async fn garbage_and_other_methods_are_refused() {
    let served = demo(ServeOptions::default()).await;
    for (request, status) in [
        ("\x16\x03\x01 hello\r\n\r\n", "400"),
        ("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n", "405"),
        (&format!("GET / HTTP/1.1\r\nHost: {}", "x".repeat(16 * 1024 - 22)), "431"),
    ] {
        let answer = exchange(served.address(0), request).await;
        assert_eq!(&split(&answer).0[9..12], status);
    }
}

#[tokio::test]
async fn an_unchanged_page_is_answered_with_304() {
    let served = demo(ServeOptions::default()).await;
    let tag = served.web().respond(0, "/").header("etag").unwrap().to_owned();
    let request =
        format!("GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: {tag}\r\nConnection: close\r\n\r\n");
    let answer = exchange(served.address(0), &request).await;
    let (head, body) = split(&answer);
    assert!(head.starts_with("HTTP/1.1 304 ") && body.is_empty());
}

#[tokio::test]
async fn the_host_header_names_the_site_where_one_listener_serves_all() {
    let served = demo(ServeOptions { bind: Bind::ByHost, ..ServeOptions::default() }).await;
    for site in 0..5 {
        let host = served.web().host(site);
        assert_eq!(served.base(site), format!("http://{host}:{}/", served.address(0).port()));
        for host in [format!("{host}:80"), host.to_uppercase()] {
            let answer = exchange(served.address(site), &get(&host, "/")).await;
            assert_eq!(split(&answer).1, &served.web().respond(site, "/").body[..]);
        }
    }
    let answer = exchange(served.address(0), &get("nobody.test", "/")).await;
    assert!(answer.starts_with(b"HTTP/1.1 421 "));
}

#[tokio::test]
async fn three_hundred_connections_wait_side_by_side() {
    let latency = Duration::from_millis(200);
    let served = demo(ServeOptions { latency, ..ServeOptions::default() }).await;
    let begin = Instant::now();
    let mut visitors = tokio::task::JoinSet::new();
    for nth in 0..300 {
        let address = served.address(nth % 5);
        visitors.spawn(async move { exchange(address, &get("x", "/")).await });
    }
    for answer in visitors.join_all().await {
        assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
    }
    let elapsed = begin.elapsed();
    assert!(elapsed >= latency, "{elapsed:?}");
    assert!(elapsed < latency * 50, "one after another would take a minute: {elapsed:?}");
    assert_eq!(served.connections(), 300);
    assert!(served.hits().iter().all(|hit| hit.ended - hit.began >= latency));
}

#[tokio::test]
async fn dropping_the_handle_ends_listeners_and_connections() {
    let served = demo(ServeOptions::default()).await;
    let address = served.address(0);
    let mut open = TcpStream::connect(address).await.unwrap();
    open.write_all(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(open.read(&mut [0; 4096]).await.unwrap() > 0);
    drop(served);
    assert!(matches!(open.read(&mut [0; 4096]).await, Ok(0) | Err(_)));
    assert!(TcpStream::connect(address).await.is_err());
}
