//! One connection to a server, and one exchange on it.
//!
//! * Its place: `fetcher` opens connections and asks on them; `idle` keeps them in between.
//! * States: *asking* (request sent, head awaited), *answering* (body read), *idle*, *over*.
//! * Invariants: nothing drives a connection but the request that uses it. The HTTP machinery is
//!   polled inside the request's own task, which saves a task and its wake-ups per connection;
//!   an idle connection is not polled until it is taken up again, when [`Connection::is_usable`]
//!   finds out whether the server closed it meanwhile. Dropping a connection closes it at once.
//! * HTTP/2 is spoken only with servers that insist, one request at a time.

use crate::throttle::{Patience, Throttle};
use crate::wire::{Language, Tap, Wire};
use crate::{route::Way, settings::FetchSettings};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Enough for any real head; the client refuses heads with more.
const MAX_HEADERS: usize = 256;
/// How far an HTTP/2 server may send ahead of our reading.
const HTTP2_WINDOW_BYTES: u32 = 256 << 10;

pub(crate) struct Connection {
    /// Scheme, host and port it leads to.
    pub(crate) origin: Arc<str>,
    /// The address it leads to, unless a proxy hides it. It was checked when the connection was
    /// made and cannot change.
    pub(crate) ip: Option<IpAddr>,
    sender: Sender,
    machine: Machine,
    tap: Arc<Mutex<Tap>>,
    _counted: Counted,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

/// The HTTP machinery, until it has ended.
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and boxed with the rest"
)]
enum Machine {
    Http1(http1::Connection<Wire, Empty<Bytes>>),
    Http2(Box<http2::Connection<Wire, Empty<Bytes>, Tasks>>, Tasks),
    Over,
}

impl Machine {
    fn poll(&mut self, cx: &mut Context<'_>) {
        let over = match self {
            // How it ended is told to the request itself.
            Machine::Http1(running) => Pin::new(running).poll(cx).is_ready(),
            Machine::Http2(running, tasks) => {
                let over = Pin::new(&mut **running).poll(cx).is_ready();
                tasks.poll(cx);
                over
            }
            Machine::Over => false,
        };
        if over {
            *self = Machine::Over;
        }
    }

    /// Waits for `work`, keeping the machinery going.
    async fn drive<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            // Work may tell the machine that it wants more, the machine may bring it at once.
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            self.poll(cx);
            work.as_mut().poll(cx)
        })
        .await
    }
}

/// How connections are made.
pub(crate) struct Client {
    http1: http1::Builder,
    max_header_bytes: usize,
    throttle: Option<Arc<Throttle>>,
    open: Arc<AtomicUsize>,
}

impl Client {
    pub(crate) fn new(settings: &FetchSettings) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(MAX_HEADERS)
            .max_buf_size(settings.max_header_bytes);
        Client {
            http1,
            max_header_bytes: settings.max_header_bytes,
            throttle: settings.max_bytes_per_second.map(|n| Arc::new(Throttle::new(n))),
            open: Arc::default(),
        }
    }

    /// How many connections are open now.
    pub(crate) fn open_connections(&self) -> usize {
        self.open.load(Relaxed)
    }

    /// Gets ready to speak over a new way.
    pub(crate) async fn start(
        &self,
        way: Way,
        language: Language,
        origin: &str,
    ) -> Result<Connection, hyper::Error> {
        let counted = Counted::new(&self.open);
        let tap = Arc::new(Mutex::new(Tap::new(language, self.max_header_bytes)));
        let wire = Wire::new(way.stream, tap.clone(), self.throttle.clone());
        let (sender, machine) = match language {
            Language::Http1 => {
                let (sender, machine) = self.http1.handshake(wire).await?;
                (Sender::Http1(sender), Machine::Http1(machine))
            }
            Language::Http2 => {
                let tasks = Tasks::default();
                let (sender, machine) = http2::Builder::new(tasks.clone())
                    .initial_stream_window_size(HTTP2_WINDOW_BYTES)
                    .initial_connection_window_size(HTTP2_WINDOW_BYTES)
                    .max_header_list_size(u32::try_from(self.max_header_bytes).unwrap_or(u32::MAX))
                    .handshake(wire)
                    .await?;
                (Sender::Http2(sender), Machine::Http2(Box::new(machine), tasks))
            }
        };
        let origin = origin.into();
        Ok(Connection { origin, ip: way.ip, sender, machine, tap, _counted: counted })
    }
}

impl Connection {
    /// What is spoken on it.
    pub(crate) fn language(&self) -> Language {
        match self.sender {
            Sender::Http1(_) => Language::Http1,
            Sender::Http2(_) => Language::Http2,
        }
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn ask(
        &mut self,
        request: Request<Empty<Bytes>>,
        patience: &Patience,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.tap().next_answer(patience);
        match &mut self.sender {
            Sender::Http1(sender) => self.machine.drive(sender.send_request(request)).await,
            Sender::Http2(sender) => self.machine.drive(sender.send_request(request)).await,
        }
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn next_piece(
        &mut self,
        body: &mut Incoming,
    ) -> Option<Result<Bytes, hyper::Error>> {
        loop {
            let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
            match self.machine.drive(frame).await? {
                Ok(frame) => {
                    // Trailers are not part of the body.
                    if let Ok(data) = frame.into_data() {
                        self.tap().got_on();
                        return Some(Ok(data));
                    }
                }
                Err(e) => return Some(Err(e)),
            }
        }
    }

    /// Whether another request may be sent: the last answer is complete, the server left the
    /// connection open and has sent nothing it was not asked for.
    pub(crate) fn is_usable(&mut self) -> bool {
        self.machine.poll(&mut Context::from_waker(Waker::noop()));
        let ready = match &self.sender {
            Sender::Http1(sender) => sender.is_ready(),
            Sender::Http2(sender) => sender.is_ready(),
        };
        ready && !matches!(self.machine, Machine::Over)
    }

    /// The tap on the incoming bytes.
    pub(crate) fn tap(&self) -> MutexGuard<'_, Tap> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the HTTP/2 machinery wants to do on the side, polled with the rest of it.
#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<Vec<Task>>>);

impl Tasks {
    fn poll(&self, cx: &mut Context<'_>) {
        // A task may start others while it runs.
        let mut waiting = Vec::new();
        loop {
            let mut running = std::mem::take(&mut *self.lock());
            if running.is_empty() {
                break;
            }
            running.retain_mut(|task| task.as_mut().poll(cx).is_pending());
            waiting.append(&mut running);
        }
        self.lock().append(&mut waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Future<Output = ()> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        self.lock().push(Box::pin(task));
    }
}

/// Counts itself among the open connections while it lives.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Relaxed);
        Counted(open.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}
