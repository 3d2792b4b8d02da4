//! The news web over one socket: the `Host` header names the site.
//!
//! Clients must be told that the names live on loopback. Besides the sites there is a desk for
//! whoever runs the tests, `desk.test`: `/truth.json` is the truth about the present edition, `/next`
//! goes on to the next one, `/hosts` lists the names.

use super::{NewsSpec, NewsWeb};
use crate::connection::{not_modified, write_answer};
use crate::request::{self, Parsed};
use crate::web::Response;
use bytes::{Buf, BytesMut};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const IDLE: Duration = Duration::from_secs(60);
const DESK: &str = "desk.test";

/// A request that was answered. Times count from the start of serving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewsHit {
    /// When the whole request head had arrived.
    pub began: Duration,
    /// When the answer was about to be written.
    pub ended: Duration,
    /// The host that was asked, without its port.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// The status of the answer; 0 where there was none.
    pub status: u16,
    /// The edition that answered.
    pub edition: u32,
}

struct Shared {
    web: NewsWeb,
    started: Instant,
    hits: Mutex<Vec<NewsHit>>,
}

/// A news web that is being served; dropping it stops serving.
pub struct NewsServed {
    shared: Arc<Shared>,
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl NewsServed {
    /// The web as it is served, with the port in its links.
    pub fn web(&self) -> &NewsWeb {
        &self.shared.web
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// When serving began: the nought of every [`NewsHit`].
    pub fn started(&self) -> Instant {
        self.shared.started
    }

    /// Every request so far, in the order of arrival.
    pub fn hits(&self) -> Vec<NewsHit> {
        let mut hits = self.shared.hits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        hits.sort_by_key(|hit| hit.began);
        hits
    }
}

/// Serves a news web on 127.0.0.1 until the handle is dropped. Port 0 is chosen by the system.
pub async fn serve_news(spec: NewsSpec) -> io::Result<NewsServed> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, spec.port)).await?;
    let address = listener.local_addr()?;
    let web = NewsWeb::new(NewsSpec { port: address.port(), ..spec });
    let shared = Arc::new(Shared { web, started: Instant::now(), hits: Mutex::default() });
    let mut tasks = JoinSet::new();
    tasks.spawn(accept(listener, Arc::clone(&shared)));
    Ok(NewsServed { shared, address, _tasks: tasks })
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut conversations = JoinSet::new();
    loop {
        while conversations.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        conversations.spawn(async move { converse(stream, &shared).await });
    }
}

async fn converse(mut stream: TcpStream, shared: &Shared) {
    let mut input = BytesMut::with_capacity(2048);
    let mut output = BytesMut::new();
    loop {
        let request = match request::parse(&input) {
            Parsed::Incomplete => match timeout(IDLE, stream.read_buf(&mut input)).await {
                Ok(Ok(1..)) => continue,
                _ => return,
            },
            Parsed::Refused(_) => return,
            Parsed::Request(request, used) => {
                input.advance(used);
                request
            }
        };
        let began = shared.started.elapsed();
        let host = request.host.as_deref().unwrap_or_default();
        let host = host.split_once(':').map_or(host, |(name, _)| name).to_owned();
        if host == DESK {
            write_answer(
                &mut output,
                &desk(&shared.web, &request.target),
                request.head_only,
                false,
            );
            let _ = timeout(IDLE, stream.write_all(&output)).await;
            return;
        }
        let pause = shared.web.latency(&host);
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let edition = shared.web.edition();
        let mut response = shared.web.respond(&host, &request.target);
        if let Some(response) = &mut response {
            not_modified(response, &request);
        }
        let hit = NewsHit {
            began,
            ended: shared.started.elapsed(),
            host,
            path: request.target,
            status: response.as_ref().map_or(0, |response| response.status),
            edition,
        };
        shared.hits.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
        let Some(response) = response else { return };
        write_answer(&mut output, &response, request.head_only, request.keep_alive);
        let sent = timeout(IDLE, stream.write_all(&output)).await;
        output.clear();
        if !request.keep_alive || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

fn desk(web: &NewsWeb, target: &str) -> Response {
    let text = match target {
        "/truth.json" => web.truth().to_string(),
        "/hosts" => web.hosts().join("\n"),
        "/next" => {
            web.next_edition();
            web.edition().to_string()
        }
        _ => "/truth.json, /hosts, /next\n".to_owned(),
    };
    super::answer(200, "text/plain; charset=utf-8", text.into_bytes())
}
