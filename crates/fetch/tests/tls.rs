//! TLS: who is trusted, and the words for everyone else.

// Helpers of tests are tests too.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use argiope_fetch::{FetchSettings, Fetcher};
use argiope_model::{CanonicalUrl, OutcomeKind};
use std::sync::Arc;
use std::time::Duration;
use support::certificate::{Identity, Wish, pem};
use support::secure::Secure;
use support::{Kit, Server, failure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

const GOOD: Wish = Wish {
    names: &["good.test", "127.0.0.1"],
    from: "20200101000000Z",
    to: "20990101000000Z",
    is_ca: false,
};

async fn say_ok(mut stream: TlsStream<TcpStream>) {
    let mut head = Vec::new();
    loop {
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(b) => head.push(b),
                Err(_) => return,
            }
        }
        head.clear();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        let _ = stream.flush().await;
    }
}

/// The words for a server that presents such a certificate.
async fn words(wish: &Wish<'_>) -> String {
    let secure = Secure::start(wish, &[], say_ok).await;
    let answer = secure.kit().get(&secure.url("/")).await;
    let (kind, words) = failure(&answer);
    assert_eq!(kind, OutcomeKind::TlsFailed);
    assert_eq!(answer.ip.unwrap().to_string(), "127.0.0.1");
    words
}

#[tokio::test]
async fn an_issuer_given_by_the_settings_is_trusted() {
    let secure = Secure::start(&GOOD, &[], say_ok).await;
    let kit = secure.kit();
    for _ in 0..3 {
        assert_eq!(kit.page(&secure.url("/")).await, b"ok");
    }
    assert_eq!(secure.server.accepted(), 1, "the connection is kept");
    let dotted = format!("https://good.test.:{}/", secure.server.port);
    assert_eq!(kit.page(&CanonicalUrl::parse(&dotted).unwrap()).await, b"ok");
    let address = format!("https://127.0.0.1:{}/", secure.server.port);
    assert_eq!(kit.page(&CanonicalUrl::parse(&address).unwrap()).await, b"ok");
}

#[tokio::test]
async fn a_certificate_that_does_not_hold_is_told_with_its_reason() {
    let expired = words(&Wish { to: "20200301000000Z", ..GOOD }).await;
    assert_eq!(expired, "the certificate expired on 2020-03-01");
    let early = words(&Wish { from: "20980301000000Z", ..GOOD }).await;
    assert_eq!(early, "the certificate is not valid before 2098-03-01");
    let other = words(&Wish { names: &["bad.test", "*.bad.test", "127.0.0.9"], ..GOOD }).await;
    assert_eq!(
        other,
        "the certificate is not for good.test but for bad.test, *.bad.test, 127.0.0.9"
    );
    let many = words(&Wish { names: &["a.t", "b.t", "c.t", "d.t", "e.t", "f.t", "g.t"], ..GOOD });
    assert_eq!(
        many.await,
        "the certificate is not for good.test but for a.t, b.t, c.t, d.t, e.t and 2 more"
    );
}

#[tokio::test]
async fn an_unknown_issuer_is_told_apart_from_none() {
    let (stranger, own) = (Identity::new("a stranger"), Identity::new("a server"));
    let config = own.server(stranger.certify(&own, &GOOD), &[]);
    let secure = Secure::with(stranger, config, say_ok).await;
    // A kit that does not trust the stranger, but someone else.
    let other = Secure::start(&GOOD, &[], say_ok).await;
    let got = failure(&other.kit().get(&secure.url("/")).await);
    assert_eq!(got, (OutcomeKind::TlsFailed, "the certificate's issuer is not known".to_owned()));
    for is_ca in [false, true] {
        let own = Identity::new("alone");
        let config = own.server(own.certify(&own, &Wish { is_ca, ..GOOD }), &[]);
        let alone = Secure::with(Identity::new("nobody"), config, say_ok).await;
        let got = failure(&alone.kit().get(&alone.url("/")).await);
        assert_eq!(got, (OutcomeKind::TlsFailed, "the certificate is self-signed".to_owned()));
    }
}

#[tokio::test]
async fn a_servers_own_certificate_may_be_given_by_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.pem");
    for is_ca in [false, true] {
        for (wish, words) in [
            (Wish { is_ca, ..GOOD }, None),
            (Wish { is_ca, names: &["bad.test"], ..GOOD }, Some("but for bad.test")),
            (Wish { is_ca, to: "20200301000000Z", ..GOOD }, Some("expired")),
            (Wish { is_ca, from: "20980301000000Z", ..GOOD }, Some("not valid")),
        ] {
            let own = Identity::new("alone");
            let certificate = own.certify(&own, &wish);
            std::fs::write(&file, pem(&certificate)).unwrap();
            let server = own.server(certificate, &[]);
            let alone = Secure::with(Identity::new("nobody"), server, say_ok).await;
            let kit = alone.kit_with(|s| s.extra_ca = vec![file.clone()]);
            let answer = kit.get(&alone.url("/")).await;
            match words {
                None => assert_eq!(answer.outcome, None),
                Some(words) => assert!(failure(&answer).1.contains(words), "{answer:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_has_nothing_in_common_with_us_is_told() {
    let issuer = Identity::new("issuer");
    let own = Identity::new("a server");
    // The server takes only a cipher of TLS 1.2 for another kind of key.
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites.retain(|s| format!("{:?}", s.suite()).contains("ECDHE_RSA"));
    let mut config = own.server(issuer.certify(&own, &GOOD), &[]);
    config = rustls::ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(config.cert_resolver);
    let secure = Secure::with(issuer, config, say_ok).await;
    let got = failure(&secure.kit().get(&secure.url("/")).await);
    assert_eq!(
        got,
        (OutcomeKind::TlsFailed, "the server and we have no cipher in common".to_owned())
    );
}

/// The words for a server that answers a handshake with these bytes and closes.
async fn answered(bytes: &'static [u8]) -> String {
    let server = Server::start(move |mut stream, _| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(bytes).await;
    })
    .await;
    let kit = Kit::new();
    let url = format!("https://127.0.0.1:{}/", server.port);
    let (kind, words) = failure(&kit.get(&CanonicalUrl::parse(&url).unwrap()).await);
    assert_eq!(kind, OutcomeKind::TlsFailed, "{words}");
    words
}

#[tokio::test]
async fn what_is_not_tls_is_told() {
    let not_tls = "the server does not speak TLS here";
    assert_eq!(answered(b"HTTP/1.1 400 Bad Request\r\n\r\n").await, not_tls);
    assert_eq!(answered(b"SSH-2.0-OpenSSH_9.2\r\n").await, not_tls);
    assert_eq!(answered(b"\xff\xff\xff\xff\xff\xff\xff\xff").await, not_tls);
    let closed = "the server closed the connection during the handshake";
    assert_eq!(answered(b"").await, closed);
    assert_eq!(answered(b"\x16\x03\x03").await, closed);
    let old = "the server speaks only versions of TLS before 1.2";
    assert_eq!(answered(b"\x15\x03\x01\x00\x02\x02\x46").await, old);
    assert_eq!(
        answered(b"\x15\x03\x03\x00\x02\x02\x28").await,
        "the server and we have no cipher in common"
    );
    assert_eq!(
        answered(b"\x15\x03\x03\x00\x02\x02\x70").await,
        "the server does not know the name it was asked for"
    );
    assert_eq!(
        answered(b"\x15\x03\x03\x00\x02\x02\x50").await,
        "the server broke off the handshake: InternalError"
    );
    // A hello of TLS 1.0 with a session of no length and the first cipher there ever was.
    let hello = b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
        0123456789abcdef0123456789abcdef\x00\x00\x2f\x00";
    assert_eq!(answered(hello).await, old);
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_given_up() {
    let server = Server::start(|stream, _| async move {
        let _open = stream;
        std::future::pending::<()>().await;
    })
    .await;
    let kit = Kit::with(|s| s.connect_timeout = Duration::from_millis(200));
    let url = CanonicalUrl::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    let got = failure(&kit.get(&url).await);
    assert_eq!(got, (OutcomeKind::TlsFailed, "no handshake within 200ms".into()));
    assert_eq!(kit.fetcher.open_connections(), 0);
}

/// A server whose page ends where the connection does, which it may say or not.
async fn ends_by_closing(says_so: bool) -> Secure {
    Secure::start(&GOOD, &[], move |mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it").await;
        let _ = stream.flush().await;
        let (mut tcp, _) = match says_so {
            true => {
                let _ = stream.shutdown().await;
                return;
            }
            false => stream.into_inner(),
        };
        let _ = tcp.shutdown().await;
    })
    .await
}

#[tokio::test]
async fn a_page_that_ends_by_closing_is_whole_only_if_the_server_says_so() {
    // RFC 9112 9.8: otherwise anyone on the way could have cut it.
    let secure = ends_by_closing(true).await;
    assert_eq!(secure.kit().page(&secure.url("/")).await, b"all of it");
    let secure = ends_by_closing(false).await;
    let (kind, words) = failure(&secure.kit().get(&secure.url("/")).await);
    assert_eq!(
        (kind, words.as_str()),
        (OutcomeKind::ConnectionLost, "the body broke off after 9 bytes")
    );
}

#[test]
fn a_file_without_good_certificates_is_refused_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for (name, text, words) in [
        ("missing.pem", None, "No such file or directory"),
        ("empty.pem", Some(""), "there is none in it (PEM is expected)"),
        ("text.pem", Some("hello"), "there is none in it (PEM is expected)"),
        ("damaged.pem", Some(damaged), "one of them is damaged"),
        ("half.pem", Some("-----BEGIN CERTIFICATE-----\nAAAA\n"), "it is not PEM"),
    ] {
        let path = dir.path().join(name);
        if let Some(text) = text {
            std::fs::write(&path, text).unwrap();
        }
        let settings = FetchSettings {
            extra_ca: vec![path.clone()],
            spool_dir: dir.path().join("spool"),
            ..FetchSettings::default()
        };
        let error = Fetcher::new(settings).err().unwrap().to_string();
        let place = format!("cannot trust the certificates in {}: ", path.display());
        assert!(error.starts_with(&place) && error.contains(words), "{error}");
    }
}
