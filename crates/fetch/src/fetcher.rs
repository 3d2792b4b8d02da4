//! One request from URL to answer.
//!
//! * Its place: the front of this crate. It joins `names`, `address`, `connection`, `idle`,
//!   `spool`; the engine calls it from as many tasks as it has connections to use.
//! * Invariants: an [`Answer`] is filled in while the request goes on, so that a request that
//!   runs out of time still tells how far it came. A connection goes back to the idle ones only
//!   after a complete answer.
//! * What is not here: following redirects. They are answers too.

use crate::answer::{Answer, Take};
use crate::body::Body;
use crate::connection::{Client, Connection};
use crate::failure::{Ending, Failure};
use crate::head::Head;
use crate::idle::Idle;
use crate::proxy;
use crate::request::{Conditions, Requests};
use crate::route::{Blocked, Located, Routes};
use crate::settings::{FetchError, FetchSettings};
use crate::spool::{Gathering, Spool};
use crate::throttle::Patience;
use crate::wire::Language;
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind, Time};
use hyper::Response;
use hyper::body::{Body as _, Incoming};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// An unwanted body up to this size is read to its end: cheaper than a new connection.
const DRAIN_BYTES: u64 = 16 << 10;
/// What the framing of a body may always cost.
const FRAMING_BYTES: u64 = 1 << 20;
/// The client insists on a buffer of this size.
const MIN_HEADER_BYTES: usize = 8 << 10;

/// Asks the web. Clones share connections, caches and budgets.
#[derive(Clone)]
pub struct Fetcher(Arc<Shared>);

struct Shared {
    settings: FetchSettings,
    requests: Requests,
    client: Client,
    routes: Routes,
    idle: Idle,
    spool: Arc<Spool>,
}

impl Fetcher {
    /// A fetcher with its own connections and spool directory, which is made and cleared.
    pub fn new(mut settings: FetchSettings) -> Result<Self, FetchError> {
        settings.max_header_bytes = settings.max_header_bytes.max(MIN_HEADER_BYTES);
        Ok(Fetcher(Arc::new(Shared {
            requests: Requests::new(&settings)?,
            client: Client::new(&settings),
            routes: Routes::new(&settings)?,
            idle: Idle::new(settings.idle_connections, settings.idle_timeout),
            spool: Arc::new(Spool::open(&settings)?),
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
        self.get_if(url, &Conditions::default(), judge).await
    }

    /// As [`Fetcher::get`]; under conditions the server may answer that nothing has changed.
    pub async fn get_if(
        &self,
        url: &CanonicalUrl,
        conditions: &Conditions,
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
            waited: Duration::ZERO,
        };
        let limit = self.0.settings.total_timeout;
        let patience = Patience::default();
        let exchange = self.0.exchange(Asked { url, conditions }, judge, &mut answer, &patience);
        let ended = patience.within(limit, exchange).await;
        let status = answer.head.as_ref().map_or(0, |h| h.status);
        match ended {
            Some(Ok(())) => {}
            Some(Err(Ending::Ours(error))) => return Err(error),
            // A verdict stands, even if the rest of the body could not be drained.
            _ if answer.outcome.is_some() => {}
            Some(Err(Ending::Web(failure))) => answer.outcome = Some(failure.outcome(status)),
            None => {
                let what = if status == 0 { "no answer" } else { "no complete answer" };
                let detail = format!("{what} within {limit:?}");
                answer.outcome =
                    Some(FetchOutcome::with_detail(OutcomeKind::TimedOut, status, detail));
            }
        }
        answer.elapsed = clock.elapsed();
        Ok(answer)
    }

    /// The address that a request for this URL would be sent to first, and when to ask again.
    /// An address that must not be connected to is an outcome, as is a name without one.
    pub async fn locate(&self, url: &CanonicalUrl) -> Result<Located, FetchOutcome> {
        self.0.routes.locate(url).await.map_err(|failure| failure.outcome(0))
    }

    /// How many connections are open now, waiting ones included.
    pub fn open_connections(&self) -> usize {
        self.0.client.open_connections()
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

/// What is asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    url: &'a CanonicalUrl,
    conditions: &'a Conditions,
}

impl Shared {
    async fn exchange(
        &self,
        asked: Asked<'_>,
        judge: impl FnOnce(&Head) -> Take,
        answer: &mut Answer,
        patience: &Patience,
    ) -> Result<(), Ending> {
        let (mut connection, response) = self.ask(asked, answer, patience).await?;
        let (parts, mut body) = response.into_parts();
        let status = parts.status.as_u16();
        if status == 407 && self.requests.go_to_proxy(asked.url) {
            // Only a proxy says so: it is not the page's answer.
            answer.wire_bytes = connection.tap().received;
            return Err(proxy::failed(proxy::WRONG_CREDENTIALS.into()).into());
        }
        let length = body.size_hint().exact();
        let raw = connection.tap().take_head();
        let head = answer.head.insert(match connection.language() {
            Language::Http1 => Head { status, raw, length, http2: false },
            Language::Http2 => Head::from_http2(&parts, length),
        });
        // The parsed headers hold on to the read buffer.
        drop(parts);
        connection.tap().got_on();
        answer.wire_bytes = connection.tap().received;

        if status == 101 {
            let detail = "the server changed to another protocol, unasked";
            return Err(Failure::new(OutcomeKind::BadResponse, detail).into());
        }
        let taken = match judge(head) {
            Take::Body => self.take_body(&mut connection, body, None, answer).await,
            Take::First(most) => self.take_body(&mut connection, body, Some(most), answer).await,
            Take::Nothing(outcome) => {
                let small = head.length.is_some_and(|n| n <= DRAIN_BYTES);
                answer.outcome = Some(outcome);
                if !small {
                    return Ok(());
                }
                drain(&mut connection, &mut body).await.map(|()| true)
            }
        };
        answer.wire_bytes = connection.tap().received;
        if taken? && connection.is_usable() {
            self.idle.put(connection);
        }
        Ok(())
    }

    /// Sends the request and waits for the head, on a waiting connection or a new one.
    async fn ask(
        &self,
        asked: Asked<'_>,
        answer: &mut Answer,
        patience: &Patience,
    ) -> Result<(Box<Connection>, Response<Incoming>), Failure> {
        if let Some(mut connection) = self.idle.take(asked.url.origin()) {
            answer.ip = connection.ip;
            match self.ask_on(&mut connection, asked, answer, patience).await {
                Ok(response) => return Ok((connection, response)),
                // The server may close a waiting connection just as the request leaves. If it
                // has not said a word, it is asked again, once, on a new connection.
                Err(_) if self.settings.ask_again && connection.tap().received == 0 => {}
                Err(failure) => return Err(failure),
            }
        }
        let language = self.routes.language(asked.url.origin());
        let other = match language {
            Language::Http1 => Language::Http2,
            Language::Http2 => Language::Http1,
        };
        let blocked = match self.ask_anew(asked, language, answer, patience).await {
            Ok(got) => return Ok(got),
            Err(blocked) if blocked.wants_another_language => blocked,
            Err(blocked) => return Err(blocked.failure),
        };
        // The server refused the language: once more in the other one. If that fails as well,
        // its first refusal was not about the language alone and is what we tell.
        match self.ask_anew(asked, other, answer, patience).await {
            Ok(got) => {
                self.routes.learn_language(asked.url.origin(), other);
                Ok(got)
            }
            Err(again) if again.wants_another_language => Err(blocked.failure),
            Err(again) => Err(again.failure),
        }
    }

    /// Sends the request on a new connection.
    async fn ask_anew(
        &self,
        asked: Asked<'_>,
        language: Language,
        answer: &mut Answer,
        patience: &Patience,
    ) -> Result<(Box<Connection>, Response<Incoming>), Blocked> {
        let way = self.routes.open(asked.url, language, &mut answer.ip).await?;
        let mut connection = match self.client.start(way, language, asked.url.origin()).await {
            Ok(connection) => Box::new(connection),
            Err(error) => return Err(Failure::before_head(&error).into()),
        };
        match self.ask_on(&mut connection, asked, answer, patience).await {
            Ok(response) => Ok((connection, response)),
            Err(failure) => {
                let spoke = (language, connection.tap().spoken());
                let wants_another_language = matches!(
                    spoke,
                    (Language::Http1, Some(Language::Http2))
                        | (Language::Http2, Some(Language::Http1))
                );
                Err(Blocked { failure, wants_another_language })
            }
        }
    }

    async fn ask_on(
        &self,
        connection: &mut Connection,
        asked: Asked<'_>,
        answer: &mut Answer,
        patience: &Patience,
    ) -> Result<Response<Incoming>, Failure> {
        let request = self.requests.get(asked.url, asked.conditions, connection.language());
        if !self.settings.gate.is_open() {
            let detail = "it was not sent: this worker's lease had run out";
            return Err(Failure::new(OutcomeKind::ConnectionLost, detail));
        }
        let (sent, granted) = (Instant::now(), patience.granted());
        match connection.ask(request, patience).await {
            Ok(response) => {
                // What our own cap held up is not the server's delay.
                let held = patience.granted() - granted;
                answer.waited = sent.elapsed().saturating_sub(held);
                Ok(response)
            }
            Err(error) => {
                answer.wire_bytes = connection.tap().received;
                Err(Failure::before_head(&error))
            }
        }
    }

    /// Reads the body, or its first bytes; says whether that was all of it.
    async fn take_body(
        &self,
        connection: &mut Connection,
        mut body: Incoming,
        first: Option<u64>,
        answer: &mut Answer,
    ) -> Result<bool, Ending> {
        let promised = body.size_hint().exact();
        let limit = self.settings.max_body_bytes;
        if let Some(promised) = promised.filter(|&n| n > limit && first.is_none()) {
            let detail = format!("{promised} bytes announced, {limit} allowed");
            return Err(Failure::new(OutcomeKind::TooLarge, detail).into());
        }
        if promised == Some(0) {
            return Ok(true);
        }
        let mut whole = true;
        // Framing that costs more than the body is meant to cost.
        let most_on_wire = limit.saturating_mul(2).saturating_add(FRAMING_BYTES);
        let mut gathering = Gathering::new(&self.spool, promised.min(first.or(promised)));
        while let Some(piece) = connection.next_piece(&mut body).await {
            let mut piece = piece.map_err(|e| Failure::in_body(&e, gathering.len(), promised))?;
            let room = first.map(|most| most.saturating_sub(gathering.len()));
            let cut = room.is_some_and(|room| piece.len() as u64 > room);
            if let Some(room) = room.filter(|_| cut) {
                piece.truncate(room as usize);
            }
            if gathering.len() + piece.len() as u64 > limit {
                let detail = format!("more than {}", argiope_model::figures::bytes(limit));
                return Err(Failure::new(OutcomeKind::TooLarge, detail).into());
            }
            answer.wire_bytes = connection.tap().received;
            if answer.wire_bytes > most_on_wire {
                let detail = format!(
                    "more than {} on the wire",
                    argiope_model::figures::bytes(most_on_wire)
                );
                return Err(Failure::new(OutcomeKind::TooLarge, detail).into());
            }
            if gathering.push(&piece) {
                gathering = flush(gathering).await?;
            }
            if cut {
                whole = false;
                break;
            }
        }
        if gathering.must_flush() {
            gathering = flush(gathering).await?;
        }
        answer.body = gathering.finish();
        Ok(whole)
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
