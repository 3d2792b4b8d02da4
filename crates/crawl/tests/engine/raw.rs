//! A server that answers as the test tells it, and remembers what it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One request as the raw server saw it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    /// How often this path was asked for before.
    pub before: usize,
    /// Whether it is asked under conditions.
    pub conditional: bool,
}

type Reply = dyn Fn(&Asked) -> Vec<u8> + Send + Sync;

/// A server that says whatever the test wants it to say.
pub struct Raw {
    pub port: u16,
    log: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Raw {
    /// Has no robots.txt; everything else is the test's.
    pub async fn start(reply: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Raw::at("127.0.0.1", reply).await
    }

    /// Answers robots.txt, too, as the test tells it.
    pub async fn with_robots(reply: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Raw::listen("127.0.0.1", Arc::new(reply)).await
    }

    pub async fn at(
        address: &str,
        reply: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static,
    ) -> Self {
        let reply = move |asked: &Asked| match asked.path.as_str() {
            "/robots.txt" => missing(),
            _ => reply(asked),
        };
        Raw::listen(address, Arc::new(reply)).await
    }

    /// At the port that a URL without one means; `None` where that may not be had.
    pub async fn at_home(
        address: &str,
        reply: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static,
    ) -> Option<Self> {
        let listener = TcpListener::bind((address, 80)).await.ok()?;
        Some(Raw::begin(listener, Arc::new(reply)))
    }

    async fn listen(address: &str, reply: Arc<Reply>) -> Self {
        let listener = TcpListener::bind((address, 0)).await.expect("a loopback port");
        Raw::begin(listener, reply)
    }

    fn begin(listener: TcpListener, reply: Arc<Reply>) -> Self {
        let port = listener.local_addr().expect("its port").port();
        let log = Arc::new(Mutex::new(Vec::new()));
        let kept = log.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(talk(stream, kept.clone(), reply.clone()));
            }
        });
        Raw { port, log, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Paths in the order in which they were asked for, but for robots.txt.
    pub fn paths(&self) -> Vec<String> {
        let log = self.log.lock().expect("the log");
        log.iter().filter(|path| *path != "/robots.txt").cloned().collect()
    }

    /// How often each path was asked for, robots.txt too.
    pub fn counts(&self) -> HashMap<String, usize> {
        let log = self.log.lock().expect("the log").clone();
        log.into_iter().fold(HashMap::new(), |mut counts, path| {
            *counts.entry(path).or_default() += 1;
            counts
        })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One request a connection: an empty reply just hangs up.
async fn talk(mut stream: TcpStream, log: Arc<Mutex<Vec<String>>>, reply: Arc<Reply>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let before = {
        let mut log = log.lock().expect("the log");
        let before = log.iter().filter(|p| **p == path).count();
        log.push(path.clone());
        before
    };
    let conditional = head.to_ascii_lowercase().contains("\r\nif-");
    let answer = reply(&Asked { path, before, conditional });
    let _ = stream.write_all(&answer).await;
    let _ = stream.shutdown().await;
}

/// A whole answer.
pub fn http(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut out = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        out.push_str(&format!("{name}: {value}\r\n"));
    }
    out.push_str("Connection: close\r\n\r\n");
    [out.as_bytes(), body].concat()
}

/// A page that links to some paths.
pub fn page(links: &[&str]) -> Vec<u8> {
    let links: String = links.iter().map(|l| format!("<a href=\"{l}\">{l}</a>\n")).collect();
    http("200 OK", &[("Content-Type", "text/html")], format!("<!doctype html><p>{links}"))
}

pub fn redirect(to: &str) -> Vec<u8> {
    http("302 Found", &[("Location", to)], "")
}

pub fn missing() -> Vec<u8> {
    http("404 Not Found", &[("Content-Type", "text/html")], "<p>nothing")
}
