//! Hand-written servers on loopback ports, and a fetcher that may talk to them.
#![allow(dead_code)]

pub mod certificate;
pub mod nameserver;
pub mod secure;

use argiope_fetch::{Answer, Body, FetchSettings, Fetcher, Take};
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind};
use std::future::Future;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server and how many connections it has accepted.
pub struct Server {
    pub port: u16,
    pub connections: Arc<AtomicUsize>,
}

impl Server {
    /// Runs `talk` for every connection; the number says which one it is, from 1.
    pub async fn start<F, W>(talk: F) -> Server
    where
        F: Fn(TcpStream, usize) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Another program's test may knock at a port that was its own a moment ago;
                // only who says something counts.
                if matches!(stream.peek(&mut [0]).await, Ok(1)) {
                    let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
                    tokio::spawn(talk(stream, number));
                }
            }
        });
        Server { port, connections }
    }

    /// Sends these bytes as the answer to every request, on one connection as on many.
    pub async fn keep_alive(reply: impl Into<Vec<u8>>) -> Server {
        let reply: Arc<[u8]> = reply.into().into();
        Server::start(move |mut stream, _| {
            let reply = reply.clone();
            async move {
                while request(&mut stream).await.is_some() {
                    stream.write_all(&reply).await.unwrap_or_default();
                }
            }
        })
        .await
    }

    /// Sends these bytes as the answer to one request, then closes.
    pub async fn one_shot(reply: impl Into<Vec<u8>>) -> Server {
        let reply: Arc<[u8]> = reply.into().into();
        Server::start(move |mut stream, _| {
            let reply = reply.clone();
            async move {
                request(&mut stream).await;
                stream.write_all(&reply).await.unwrap_or_default();
                stream.shutdown().await.unwrap_or_default();
                // What the client may still send is read, so that the close is not a reset.
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
        })
        .await
    }

    pub fn url(&self, path: &str) -> CanonicalUrl {
        CanonicalUrl::parse(&format!("http://127.0.0.1:{}{path}", self.port)).unwrap()
    }

    pub fn accepted(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads one request head; `None` when the client is gone.
pub async fn request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

/// A fetcher with its own spool directory, which goes when this does.
pub struct Kit {
    pub fetcher: Fetcher,
    pub spool: tempfile::TempDir,
}

impl Kit {
    pub fn new() -> Kit {
        Kit::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut FetchSettings)) -> Kit {
        let spool = tempfile::tempdir().unwrap();
        let mut settings = FetchSettings {
            user_agent: "argiope-test/1".into(),
            allow_private: true,
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(10),
            spool_dir: spool.path().join("spool"),
            ..FetchSettings::default()
        };
        change(&mut settings);
        Kit { fetcher: Fetcher::new(settings).unwrap(), spool }
    }

    pub async fn get(&self, url: &CanonicalUrl) -> Answer {
        self.fetcher.get(url, |_| Take::Body).await.unwrap()
    }

    /// Gets a page that must come whole.
    pub async fn page(&self, url: &CanonicalUrl) -> Vec<u8> {
        let answer = self.get(url).await;
        assert_eq!(answer.outcome, None);
        bytes(&answer.body)
    }

    pub fn spooled_files(&self) -> usize {
        std::fs::read_dir(self.spool.path().join("spool")).unwrap().count()
    }
}

pub fn bytes(body: &Body) -> Vec<u8> {
    let mut all = Vec::new();
    body.reader().unwrap().read_to_end(&mut all).unwrap();
    assert_eq!(all.len() as u64, body.len());
    all
}

/// The kind and the words of a failed fetch.
pub fn failure(answer: &Answer) -> (OutcomeKind, String) {
    assert!(answer.body.is_empty(), "a failed fetch has no body");
    let FetchOutcome { kind, detail, .. } = answer.outcome.clone().expect("it failed");
    (kind, detail.expect("with words").into())
}

/// Deterministic bytes that no coding shortens much.
pub fn noise(len: usize) -> Vec<u8> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x as u8
        })
        .collect()
}
