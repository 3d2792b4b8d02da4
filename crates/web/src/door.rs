//! The door: connections, and those who are slow.
//!
//! * Invariants: at most [`CONNECTIONS`] at once; up to [`REFUSED`] more are told so, all others are hung up on. A request's
//!   head is there within [`HEAD`] and not longer than [`HEAD_BYTES`]; whoever takes less than [`PACE`] bytes of its answer
//!   in [`TAKING`] is hung up on.

use crate::app::{App, Desk};
use crate::guard::{self, BODY_BYTES, Guard};
use crate::{api, assets, live, news, view};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep, timeout};

/// Connections at once.
const CONNECTIONS: usize = 256;
/// Connections beyond that are told to come back, at once so many.
const REFUSED: usize = 64;
/// What they are told.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 48\r\nRetry-After: 5\r\nConnection: close\r\n\r\ntoo many connections at once; try again shortly\n";
/// The head of a request is there after this long.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a request's head, about.
const HEAD_BYTES: usize = 64 << 10;
/// So many bytes of an answer are taken …
const PACE: usize = 4 << 10;
/// … in this time, where so many are there.
const TAKING: Duration = Duration::from_secs(20);
/// Telling somebody that there is no room takes no longer.
const TELLING: Duration = Duration::from_secs(1);

/// How the pages are served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens.
    pub address: SocketAddr,
    /// Names of this machine that browsers may use, beside its addresses and `localhost`.
    pub names: Vec<String>,
    /// What operators must know; readers too where it listens for other machines.
    pub token: String,
}

/// Serves until the future is there.
pub async fn serve(
    listener: TcpListener,
    desk: Arc<dyn Desk>,
    options: Options,
    end: impl Future<Output = ()>,
) -> io::Result<()> {
    let guard = Guard::new(options.address, options.names, options.token);
    let app = Arc::new(App::new(desk, guard));
    let router = router(app.clone());
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    let outside = Arc::new(Semaphore::new(REFUSED));
    let mut end = std::pin::pin!(end);
    loop {
        let stream = tokio::select! {
            () = &mut end => return Ok(()),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of descriptors, most likely.
                Err(_) => {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let Ok(permit) = room.clone().try_acquire_owned() else {
            if let Ok(place) = outside.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _place = place;
                    let _ = timeout(TELLING, refuse(stream)).await;
                });
            }
            continue;
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let open = app.meter.open();
        tokio::spawn(async move {
            let (_permit, _open) = (permit, open);
            // Only this protocol: to find out which one is spoken has no time limit.
            let mut builder = Builder::new(TokioExecutor::new()).http1_only();
            let mut http = builder.http1();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
            let served = http.serve_connection(TokioIo::new(Patient::new(stream)), service).await;
            if let Err(e) = served {
                tracing::debug!(error = %e, "a connection failed");
            }
        });
    }
}

/// Tells a connection that there is no room for it; what it asks is read first, so that it hears the answer.
async fn refuse(mut stream: TcpStream) -> io::Result<()> {
    let mut asked = [0; 4 << 10];
    let _ = stream.read(&mut asked).await?;
    stream.write_all(FULL).await?;
    stream.shutdown().await
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(view::routes())
        .merge(api::routes())
        .merge(live::routes())
        .merge(news::routes())
        .route("/assets/style.css", get(assets::style))
        .route("/assets/script.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
        .layer(middleware::from_fn_with_state(app.clone(), guard::watch))
        .layer(middleware::from_fn_with_state(app.clone(), api::measure))
        .with_state(app)
}

/// A connection whose other end must take what is written.
struct Patient {
    stream: TcpStream,
    until: Pin<Box<Sleep>>,
    waiting: bool,
    /// Bytes taken since it waits.
    taken: usize,
}

impl Patient {
    fn new(stream: TcpStream) -> Self {
        Patient { stream, until: Box::pin(sleep(TAKING)), waiting: false, taken: 0 }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            (self.waiting, self.taken) = (false, 0);
            return done;
        }
        if !std::mem::replace(&mut self.waiting, true) {
            self.until.as_mut().reset(Instant::now() + TAKING);
        }
        match self.until.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, into)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(cx, bytes);
        // A few bytes now and then are no progress; when all are taken, a flush says so.
        if let Poll::Ready(Ok(n)) = &done
            && self.waiting
        {
            self.taken += n;
            if self.taken < PACE {
                return done;
            }
        }
        self.judge(cx, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(cx);
        self.judge(cx, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.judge(cx, done)
    }
}
