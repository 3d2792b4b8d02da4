//! One request from URL to answer.
//!
//! * Its place: the front of this crate. It joins `names`, `address`, `connection`, `idle`,
//!   `spool`; the engine calls it from as many tasks as it has connections to use.
//! * Invariants: an [`Answer`] is filled in while the request goes on, so that a request that
//!   runs out of time still tells how far it came. A connection goes back to the idle ones only
//!   after a complete answer.
//! * What is not here: following redirects. They are answers too.

use crate::address::is_private;
use crate::answer::{Answer, Take};
use crate::body::Body;
use crate::connection::Connection;
use crate::failure::{Ending, Failure, io_words};
use crate::head::Head;
use crate::idle::Idle;
use crate::names::Names;
use crate::request::Requests;
use crate::settings::{FetchError, FetchSettings};
use crate::spool::{Gathering, Spool};
use crate::tls::Tls;
use crate::wire::Stream;
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind, Time};
use hyper::Response;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// An unwanted body up to this size is read to its end: cheaper than a new connection.
const DRAIN_BYTES: u64 = 16 << 10;
/// More addresses than this are not tried for one request.
const MAX_ADDRESSES: usize = 6;
/// The client insists on a buffer of this size.
const MIN_HEADER_BYTES: usize = 8 << 10;
/// Enough for any real head; the client refuses heads with more.
const MAX_HEADERS: usize = 256;

/// Asks the web. Clones share connections, caches and budgets.
#[derive(Clone)]
pub struct Fetcher(Arc<Shared>);

struct Shared {
    settings: FetchSettings,
    requests: Requests,
    client: http1::Builder,
    tls: Tls,
    names: Names,
    idle: Idle,
    spool: Arc<Spool>,
    open: Arc<AtomicUsize>,
}

impl Fetcher {
    /// A fetcher with its own connections and spool directory, which is made and cleared.
    pub fn new(mut settings: FetchSettings) -> Result<Self, FetchError> {
        settings.max_header_bytes = settings.max_header_bytes.max(MIN_HEADER_BYTES);
        let mut client = http1::Builder::new();
        client
            .allow_spaces_after_header_name_in_responses(true)
            .allow_obsolete_multiline_headers_in_responses(true)
            .ignore_invalid_headers_in_responses(true)
            .max_headers(MAX_HEADERS)
            .max_buf_size(settings.max_header_bytes);
        Ok(Fetcher(Arc::new(Shared {
            requests: Requests::new(&settings)?,
            client,
            tls: Tls::default(),
            names: Names::new(&settings.resolve_overrides),
            idle: Idle::new(settings.idle_connections, settings.idle_timeout),
            spool: Arc::new(Spool::open(&settings)?),
            open: Arc::default(),
            settings,
        })))
    }

    /// Asks for one URL. `judge` sees the head before the body is read. Redirects are not
    /// followed: they are answers too. An error is our own disk's, never the web's.
    pub async fn get(
        &self,
        url: &CanonicalUrl,
        judge: impl FnOnce(&Head) -> Take,
    ) -> Result<Answer, FetchError> {
        let clock = Instant::now();
        let mut answer = Answer {
            outcome: None,
            head: None,
            body: Body::Empty,
            ip: None,
            wire_bytes: 0,
            started: Time::from_system(SystemTime::now()),
            elapsed: Duration::ZERO,
        };
        let limit = self.0.settings.total_timeout;
        let ended = timeout(limit, self.0.exchange(url, judge, &mut answer)).await;
        let status = answer.head.as_ref().map_or(0, |h| h.status);
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(Ending::Ours(error))) => return Err(error),
            // A verdict stands, even if the rest of the body could not be drained.
            _ if answer.outcome.is_some() => {}
            Ok(Err(Ending::Web(failure))) => answer.outcome = Some(failure.outcome(status)),
            Err(_) => {
                let what = if status == 0 { "no answer" } else { "no complete answer" };
                let detail = format!("{what} within {limit:?}");
                answer.outcome =
                    Some(FetchOutcome::with_detail(OutcomeKind::TimedOut, status, detail));
            }
        }
        answer.elapsed = clock.elapsed();
        Ok(answer)
    }

    /// How many connections are open now, waiting ones included.
    pub fn open_connections(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    /// How many bytes of bodies are in memory now.
    pub fn body_memory_used(&self) -> usize {
        self.0.spool.memory_used()
    }

    pub(crate) fn settings(&self) -> &FetchSettings {
        &self.0.settings
    }

    pub(crate) fn spool(&self) -> &Arc<Spool> {
        &self.0.spool
    }
}

impl Shared {
    async fn exchange(
        &self,
        url: &CanonicalUrl,
        judge: impl FnOnce(&Head) -> Take,
        answer: &mut Answer,
    ) -> Result<(), Ending> {
        let (mut connection, response) = self.ask(url, answer).await?;
        let (parts, mut body) = response.into_parts();
        let head = answer.head.insert(Head {
            status: parts.status.as_u16(),
            raw: connection.tap().take_head(),
            length: body.size_hint().exact(),
        });
        // The parsed headers hold on to the read buffer.
        drop(parts);
        answer.wire_bytes = connection.tap().received;

        let taken = match judge(head) {
            Take::Body => self.take_body(&mut connection, body, answer).await,
            Take::Nothing(outcome) => {
                let small = head.length.is_some_and(|n| n <= DRAIN_BYTES);
                answer.outcome = Some(outcome);
                if !small {
                    return Ok(());
                }
                drain(&mut connection, &mut body).await
            }
        };
        answer.wire_bytes = connection.tap().received;
        taken?;
        if connection.is_usable() {
            self.idle.put(connection);
        }
        Ok(())
    }

    /// Sends the request and waits for the head, on a waiting connection or a new one.
    async fn ask(
        &self,
        url: &CanonicalUrl,
        answer: &mut Answer,
    ) -> Result<(Box<Connection>, Response<Incoming>), Failure> {
        if let Some(mut connection) = self.idle.take(url.origin()) {
            answer.ip = Some(connection.ip);
            match connection.ask(self.requests.get(url)).await {
                Ok(response) => return Ok((connection, response)),
                // The server may close a waiting connection just as the request leaves. If it
                // has not said a word, it is asked again, once, on a new connection.
                Err(_) if connection.tap().received == 0 => {}
                Err(error) => {
                    answer.wire_bytes = connection.tap().received;
                    return Err(Failure::before_head(&error));
                }
            }
        }
        let mut connection = self.connect(url, answer).await?;
        match connection.ask(self.requests.get(url)).await {
            Ok(response) => Ok((connection, response)),
            Err(error) => {
                answer.wire_bytes = connection.tap().received;
                Err(Failure::before_head(&error))
            }
        }
    }

    async fn connect(
        &self,
        url: &CanonicalUrl,
        answer: &mut Answer,
    ) -> Result<Box<Connection>, Failure> {
        let addresses = self.names.addresses(url.host()).await?;
        let mut failure = None;
        for (n, &ip) in addresses.iter().take(MAX_ADDRESSES).enumerate() {
            if !self.settings.allow_private && is_private(ip) {
                failure.get_or_insert_with(|| {
                    let detail = format!("{ip} is not a public address");
                    Failure::new(OutcomeKind::ForbiddenAddress, detail)
                });
                continue;
            }
            answer.ip = Some(ip);
            match self.dial(SocketAddr::new(ip, url.port())).await {
                Ok(tcp) => {
                    if n > 0 {
                        self.names.prefer(url.host(), ip);
                    }
                    let stream = match url.is_https() {
                        true => {
                            let limit = self.settings.connect_timeout;
                            let secured = timeout(limit, self.tls.secure(url.host(), tcp)).await;
                            Stream::Tls(secured.unwrap_or_else(|_| {
                                let detail = format!("no handshake within {limit:?}");
                                Err(Failure::new(OutcomeKind::TlsFailed, detail))
                            })?)
                        }
                        false => Stream::Plain(tcp),
                    };
                    let limit = self.settings.max_header_bytes;
                    let started = Connection::start(
                        &self.client,
                        stream,
                        url.origin(),
                        ip,
                        limit,
                        &self.open,
                    );
                    return started
                        .await
                        .map(Box::new)
                        .map_err(|e| Failure::new(OutcomeKind::ConnectFailed, e.to_string()));
                }
                Err(f) => failure = Some(f),
            }
        }
        Err(failure.unwrap_or_else(|| Failure::new(OutcomeKind::NoAddress, "no address")))
    }

    async fn dial(&self, address: SocketAddr) -> Result<TcpStream, Failure> {
        let limit = self.settings.connect_timeout;
        let detail = match timeout(limit, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => {
                // Without it small requests may wait for an acknowledgement; not fatal.
                let _ = tcp.set_nodelay(true);
                return Ok(tcp);
            }
            Ok(Err(error)) => format!("{} ({address})", io_words(&error)),
            Err(_) => format!("no connection to {address} within {limit:?}"),
        };
        Err(Failure::new(OutcomeKind::ConnectFailed, detail))
    }

    async fn take_body(
        &self,
        connection: &mut Connection,
        mut body: Incoming,
        answer: &mut Answer,
    ) -> Result<(), Ending> {
        let promised = body.size_hint().exact();
        let limit = self.settings.max_body_bytes;
        if let Some(promised) = promised.filter(|&n| n > limit) {
            let detail = format!("{promised} bytes announced, {limit} allowed");
            return Err(Failure::new(OutcomeKind::TooLarge, detail).into());
        }
        if promised == Some(0) {
            return Ok(());
        }
        let mut gathering = Gathering::new(&self.spool, promised);
        while let Some(piece) = connection.next_piece(&mut body).await {
            let piece = piece.map_err(|e| Failure::in_body(&e, gathering.len(), promised))?;
            if gathering.len() + piece.len() as u64 > limit {
                let detail = format!("more than {limit} bytes");
                return Err(Failure::new(OutcomeKind::TooLarge, detail).into());
            }
            answer.wire_bytes += piece.len() as u64;
            if gathering.push(&piece) {
                gathering = flush(gathering).await?;
            }
        }
        if gathering.must_flush() {
            gathering = flush(gathering).await?;
        }
        answer.body = gathering.finish();
        Ok(())
    }
}

/// Writes to the spool file where blocking is allowed.
async fn flush(mut gathering: Gathering) -> Result<Gathering, FetchError> {
    let written = tokio::task::spawn_blocking(move || gathering.flush().map(|()| gathering));
    // It only fails to run when the program is shutting down.
    written.await.unwrap_or_else(|e| Err(FetchError::Stopped(e.to_string())))
}

async fn drain(connection: &mut Connection, body: &mut Incoming) -> Result<(), Ending> {
    while let Some(piece) = connection.next_piece(body).await {
        piece.map_err(|e| Failure::in_body(&e, 0, None))?;
    }
    Ok(())
}
