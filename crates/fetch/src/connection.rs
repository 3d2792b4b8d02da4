//! One connection to a server, and one exchange on it.
//!
//! * Its place: `fetcher` opens connections and asks on them; `idle` keeps them in between.
//! * States: *asking* (request sent, head awaited), *answering* (body read), *idle*, *over*.
//! * Invariants: nothing drives a connection but the request that uses it. The HTTP machinery is
//!   polled inside the request's own task, which saves a task and its wake-ups per connection;
//!   an idle connection is not polled until it is taken up again, when [`Connection::is_usable`]
//!   finds out whether the server closed it meanwhile.

use crate::wire::{Stream, Tap, Wire};
use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

pub(crate) struct Connection {
    /// Scheme, host and port it leads to.
    pub(crate) origin: Arc<str>,
    /// The address it leads to.
    pub(crate) ip: IpAddr,
    sender: SendRequest<Empty<Bytes>>,
    machine: Machine,
    tap: Arc<Mutex<Tap>>,
    _counted: Counted,
}

/// The HTTP machinery, until it has ended.
struct Machine(Option<http1::Connection<Wire, Empty<Bytes>>>);

impl Machine {
    fn poll(&mut self, cx: &mut Context<'_>) {
        if let Some(running) = &mut self.0
            // How it ended is told to the request itself.
            && Pin::new(running).poll(cx).is_ready()
        {
            self.0 = None;
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

impl Connection {
    /// Gets ready to speak HTTP/1.1 over a stream.
    pub(crate) async fn start(
        builder: &http1::Builder,
        stream: Stream,
        origin: &str,
        ip: IpAddr,
        max_header_bytes: usize,
        open: &Arc<AtomicUsize>,
    ) -> Result<Self, hyper::Error> {
        let tap = Arc::new(Mutex::new(Tap::new(max_header_bytes)));
        let (sender, machine) = builder.handshake(Wire::new(stream, tap.clone())).await?;
        Ok(Connection {
            origin: origin.into(),
            ip,
            sender,
            machine: Machine(Some(machine)),
            tap,
            _counted: Counted::new(open),
        })
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn ask(
        &mut self,
        request: Request<Empty<Bytes>>,
    ) -> Result<Response<Incoming>, hyper::Error> {
        self.tap().next_answer();
        let answer = self.sender.send_request(request);
        self.machine.drive(answer).await
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
        self.machine.0.is_some() && self.sender.is_ready()
    }

    /// The tap on the incoming bytes.
    pub(crate) fn tap(&self) -> MutexGuard<'_, Tap> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner)
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
