//! The door: connections, and those who are slow.
//!
//! * Invariants: at most [`CONNECTIONS`] at once, more wait outside; a request's head is there within [`HEAD`] and not
//!   longer than [`HEAD_BYTES`]; whoever does not take its answer for [`TAKING`] is hung up on.

use crate::app::{App, Desk};
use crate::guard::{self, Guard};
use crate::{api, assets, view};
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
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Instant, Sleep, sleep};

/// Connections at once.
const CONNECTIONS: usize = 256;
/// The head of a request is there after this long.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a request's head, about.
const HEAD_BYTES: usize = 64 << 10;
/// Bytes of a request's body.
const BODY_BYTES: usize = 1 << 20;
/// An answer moves on at least this often.
const TAKING: Duration = Duration::from_secs(20);

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
    let mut end = std::pin::pin!(end);
    loop {
        let permit = room.clone().acquire_owned();
        let (permit, stream) = tokio::select! {
            () = &mut end => return Ok(()),
            accepted = async { (permit.await, listener.accept().await) } => match accepted {
                (Ok(permit), Ok((stream, _))) => (permit, stream),
                // Out of descriptors, most likely.
                _ => {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
            },
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let open = app.meter.open();
        tokio::spawn(async move {
            let (_permit, _open) = (permit, open);
            let mut builder = Builder::new(TokioExecutor::new());
            let mut http = builder.http1();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
            let served = http.serve_connection(TokioIo::new(Patient::new(stream)), service).await;
            if let Err(e) = served {
                tracing::debug!(error = %e, "a connection failed");
            }
        });
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(view::routes())
        .merge(api::routes())
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
}

impl Patient {
    fn new(stream: TcpStream) -> Self {
        Patient { stream, until: Box::pin(sleep(TAKING)), waiting: false }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waiting = false;
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
