//! Asking through a proxy: what it is told, what it is not, and what is refused all the same.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{FetchSettings, Located};
use argiope_model::{CanonicalUrl, OutcomeKind, Time};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::certificate::Wish;
use support::nameserver::{NameServer, Say};
use support::secure::Secure;
use support::{Kit, Server, failure, request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

/// A kit that asks through this proxy and may ask for anything.
fn kit(proxy: &str) -> Kit {
    Kit::with(|s| s.proxy = Some(proxy.parse().unwrap()))
}

/// A proxy that remembers what it is asked, answers plain requests itself and opens a tunnel to
/// one port for all others.
async fn proxy(port: u16, refusal: Option<&'static str>) -> (Server, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = heard.clone();
    let server = Server::start(move |mut stream, _| {
        let list = list.clone();
        async move {
            while let Some(head) = request(&mut stream).await {
                let is_connect = head.starts_with("CONNECT ");
                list.lock().unwrap().push(head);
                if let Some(refusal) = refusal {
                    let _ = stream.write_all(refusal.as_bytes()).await;
                } else if is_connect {
                    let _ = stream.write_all(b"HTTP/1.1 200 Here you are\r\nVia: x\r\n\r\n").await;
                    let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
                    return;
                } else {
                    let _ = stream.write_all(OK.as_bytes()).await;
                }
            }
        }
    })
    .await;
    (server, heard)
}

#[tokio::test]
async fn plain_requests_go_to_the_proxy_with_the_whole_url() {
    let (server, heard) = proxy(0, None).await;
    let kit = kit(&format!("http://someone:secret@127.0.0.1:{}", server.port));
    for _ in 0..2 {
        // Only the proxy knows this name.
        let answer = kit.get(&url("http://known-there.invalid:81/a?b=\"c\"")).await;
        assert_eq!((answer.outcome, answer.ip), (None, None));
    }
    assert_eq!(server.accepted(), 1, "the connection is kept");
    let heard = heard.lock().unwrap();
    let line = "GET http://known-there.invalid:81/a?b=%22c%22 HTTP/1.1\r\n";
    assert!(heard[1].starts_with(line), "{}", heard[1]);
    assert!(heard[1].contains("host: known-there.invalid:81\r\n"));
    assert!(heard[1].contains("proxy-authorization: Basic c29tZW9uZTpzZWNyZXQ=\r\n"));
}

#[tokio::test]
async fn secure_requests_go_through_a_tunnel_that_hears_no_password() {
    let wish = Wish { names: &["good.test"], ..Wish::default() };
    let inside = Arc::new(Mutex::new(String::new()));
    let note = inside.clone();
    let secure = Secure::start(&wish, &[], move |mut stream| {
        let note = note.clone();
        async move {
            let mut buffer = [0; 4096];
            let len = stream.read(&mut buffer).await.unwrap();
            *note.lock().unwrap() = String::from_utf8(buffer[..len].to_vec()).unwrap();
            let _ = stream.write_all(OK.as_bytes()).await;
            let _ = stream.flush().await;
        }
    })
    .await;
    let (server, heard) = proxy(secure.server.port, None).await;
    let kit = secure.kit_with(|s| {
        let text = format!("http://someone:secret@127.0.0.1:{}", server.port);
        s.proxy = Some(text.parse().unwrap());
    });
    assert_eq!(kit.page(&secure.url("/")).await, b"ok");
    let port = secure.server.port;
    assert_eq!(
        heard.lock().unwrap()[0],
        format!(
            "CONNECT good.test:{port} HTTP/1.1\r\nHost: good.test:{port}\r\n\
             Proxy-Authorization: Basic c29tZW9uZTpzZWNyZXQ=\r\n\r\n"
        )
    );
    let inside = inside.lock().unwrap();
    assert!(inside.starts_with("GET / HTTP/1.1\r\n"), "{inside}");
    assert!(!inside.to_ascii_lowercase().contains("proxy"), "{inside}");
}

/// A SOCKS 5 proxy that wants a password and leads everywhere to one port.
async fn socks(port: u16, verdict: u8) -> (Server, Arc<Mutex<Vec<u8>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let list = heard.clone();
    let server = Server::start(move |mut stream, _| {
        let list = list.clone();
        async move {
            let mut hello = [0; 4];
            stream.read_exact(&mut hello).await.unwrap();
            assert_eq!(hello, [5, 2, 0, 2]);
            stream.write_all(&[5, 2]).await.unwrap();
            let mut secret = [0; 9];
            stream.read_exact(&mut secret).await.unwrap();
            let welcome = &secret == b"\x01\x02me\x04word";
            stream.write_all(&[1, u8::from(!welcome)]).await.unwrap();
            let mut head = [0; 5];
            if stream.read_exact(&mut head).await.is_err() {
                return;
            }
            let mut rest = vec![0; usize::from(head[4]) + 2];
            stream.read_exact(&mut rest).await.unwrap();
            list.lock().unwrap().extend([&head[..], &rest].concat());
            stream.write_all(&[5, verdict, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
            if verdict == 0 {
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
            }
        }
    })
    .await;
    (server, heard)
}

#[tokio::test]
async fn a_socks_proxy_is_asked_by_name() {
    let page = Server::keep_alive(OK).await;
    let (server, heard) = socks(page.port, 0).await;
    let kit = kit(&format!("socks5://me:word@127.0.0.1:{}", server.port));
    for _ in 0..2 {
        assert_eq!(kit.page(&url("http://far.invalid:8080/")).await, b"ok");
    }
    assert_eq!(*heard.lock().unwrap(), b"\x05\x01\x00\x03\x0bfar.invalid\x1f\x90");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_told_without_its_password() {
    let (server, _) = socks(0, 5).await;
    let at = format!("127.0.0.1:{}", server.port);
    let cases = [
        (format!("socks5://me:word@{at}"), "the proxy opens no way: connection refused"),
        (
            format!("socks5://me:wrod@{at}"),
            "the proxy opens no way: it wants another user name or password",
        ),
    ];
    for (text, words) in cases {
        let got = failure(&kit(&text).get(&url("https://far.invalid/")).await);
        assert_eq!(got, (OutcomeKind::ConnectFailed, words.into()));
    }
    for (refusal, words) in [
        (
            "HTTP/1.1 407 Who are you\r\n\r\n",
            "the proxy opens no way: it wants another user name or password (407)",
        ),
        ("HTTP/1.1 503 No\r\n\r\n", "the proxy opens no way: it answers 503"),
        ("nonsense\r\n\r\n", "the proxy opens no way: its answer is not HTTP"),
    ] {
        let (server, _) = proxy(0, Some(refusal)).await;
        let kit = kit(&format!("http://me:word@127.0.0.1:{}", server.port));
        let got = failure(&kit.get(&url("https://far.invalid/")).await);
        assert_eq!(got, (OutcomeKind::ConnectFailed, words.into()));
    }
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let kit = kit(&format!("http://me:word@127.0.0.1:{port}"));
    let (kind, words) = failure(&kit.get(&url("http://far.invalid/")).await);
    assert_eq!(kind, OutcomeKind::ConnectFailed);
    let due = format!("the proxy cannot be reached: connection refused (127.0.0.1:{port})");
    assert_eq!(words, due);
}

#[tokio::test]
async fn a_proxy_asking_for_a_password_is_no_page() {
    let ask = "HTTP/1.1 407 Who are you\r\nContent-Length: 3\r\n\r\nwho";
    let (server, _) = proxy(0, Some(ask)).await;
    let got = failure(
        &kit(&format!("http://127.0.0.1:{}", server.port)).get(&url("http://far.invalid/")).await,
    );
    let words = "the proxy wants another user name or password (407)";
    assert_eq!(got, (OutcomeKind::ConnectFailed, words.into()));
}

#[tokio::test]
async fn a_silent_proxy_is_given_up() {
    let server = Server::start(|mut stream, _| async move {
        request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let kit = Kit::with(|s| {
        s.proxy = Some(format!("http://127.0.0.1:{}", server.port).parse().unwrap());
        s.connect_timeout = Duration::from_millis(200);
    });
    let got = failure(&kit.get(&url("https://far.invalid/")).await);
    assert_eq!(got, (OutcomeKind::ConnectFailed, "the proxy opens no way within 200ms".into()));
}

#[tokio::test]
async fn private_targets_are_refused_behind_a_proxy_too() {
    let names = NameServer::start(|name| match name {
        "inside.test" => Say::Addresses(vec![[10, 0, 0, 1].into()], 300),
        "mixed.test" => Say::Addresses(vec![[8, 8, 8, 8].into(), [10, 0, 0, 1].into()], 300),
        "outside.test" => Say::Addresses(vec![[8, 8, 8, 8].into()], 300),
        _ => Say::Unknown,
    })
    .await;
    let (server, heard) = proxy(0, None).await;
    // The proxy's own address is private, which is allowed.
    let strict = |s: &mut FetchSettings| {
        s.allow_private = false;
        s.dns_servers = vec![names.address];
        s.proxy = Some(format!("http://127.0.0.1:{}", server.port).parse().unwrap());
    };
    let kit = Kit::with(strict);
    for host in [
        "127.0.0.1",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "2130706433",
        "0x7f.1",
        "localhost",
        "localhost.",
        "inside.test",
        "mixed.test",
    ] {
        for scheme in ["http", "https"] {
            let url = url(&format!("{scheme}://{host}/"));
            let (kind, words) = failure(&kit.get(&url).await);
            assert_eq!(kind, OutcomeKind::ForbiddenAddress, "{host}: {words}");
            let located = kit.fetcher.locate(&url).await;
            assert_eq!(located.unwrap_err().kind, OutcomeKind::ForbiddenAddress);
        }
    }
    assert!(heard.lock().unwrap().is_empty(), "the proxy was asked for none of them");
    for host in ["outside.test", "known-there.test", "8.8.8.8"] {
        let url = url(&format!("http://{host}/"));
        assert_eq!(kit.page(&url).await, b"ok");
        let nowhere = Located { ip: None, until: Time(i64::MAX) };
        assert_eq!(kit.fetcher.locate(&url).await, Ok(nowhere));
    }
}
