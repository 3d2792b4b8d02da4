//! Asking for a robots.txt, and for the address of a host.
//!
//! Each is a task of its own, like a visit. A robots.txt that lies elsewhere is not followed
//! here: the next request is a request of that host and waits its turn there.

use crate::group::{Event, RobotsDone, RobotsResult};
use crate::visit::Shared;
use argiope_fetch::{Answer, Body, Conditions, FetchError, Head, Take, decoded_reader};
use argiope_frontier::{Answered, Entry, Errand, Heard, MAX_ROBOTS_BYTES, Manner, RobotsFile};
use argiope_model::{CanonicalUrl, FetchOutcome, HostKey, OutcomeKind, Time};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

/// A robots.txt is asked for again after this long (RFC 9309, 2.4: at most 24 hours).
const KEEP: Duration = Duration::from_secs(24 * 3600);
/// Redirects followed for a robots.txt (RFC 9309, 2.3.1.2: at least five).
const MAX_HOPS: u8 = 5;
/// An address that could not be found is looked for again after this long.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// For whom a robots.txt is asked for.
pub(crate) enum Asker {
    /// A URL of the host, handed out meanwhile.
    Entry(Box<Entry>),
    /// Another host, whose robots.txt lies here.
    Errand(Errand),
}

impl Asker {
    fn url(&self) -> CanonicalUrl {
        match self {
            Asker::Entry(entry) => entry.url.robots_txt(),
            Asker::Errand(errand) => errand.url.clone(),
        }
    }

    /// The host that is asked.
    pub(crate) fn at(&self) -> HostKey {
        match self {
            Asker::Entry(entry) => entry.key.host,
            Asker::Errand(errand) => errand.at,
        }
    }

    /// The host whose robots.txt it is.
    pub(crate) fn robots_of(&self) -> HostKey {
        match self {
            Asker::Entry(entry) => entry.key.host,
            Asker::Errand(errand) => errand.robots_of,
        }
    }

    fn hops(&self) -> u8 {
        match self {
            Asker::Entry(_) => 0,
            Asker::Errand(errand) => errand.hops,
        }
    }
}

/// Finds the address of a host and reports.
pub(crate) async fn locate(shared: Arc<Shared>, number: u64, host: HostKey, url: CanonicalUrl) {
    let found = shared.web.locate(&url).await;
    let (ip, until) = match found {
        Ok(found) => (found.ip, found.until),
        // The request itself will fail the same way, and say so.
        Err(_) => (None, shared.clock.now().plus(LOOK_AGAIN)),
    };
    let _ = shared.events.send(Event::Located(number, host, ip, until)).await;
}

/// Asks for a robots.txt and reports.
pub(crate) async fn ask_robots(shared: Arc<Shared>, asker: Asker, number: u64) {
    let url = asker.url();
    let judge = |head: &Head| match head.status {
        200..300 => Take::First(MAX_ROBOTS_BYTES as u64 + 1),
        status => Take::Nothing(FetchOutcome::new(OutcomeKind::ClientError, status)),
    };
    shared.tenure.until_held().await;
    let began = shared.clock.now();
    let answer = shared
        .web
        .get(&url, &Conditions::default(), &judge)
        .await
        .unwrap_or_else(|e| ours(&e, began));
    let done = read(&shared, &url, asker, number, answer);
    let _ = shared.events.send(Event::Robots(Box::new(done))).await;
}

/// Our own disk had no room for the file: nothing is known of it, and it is asked for again.
fn ours(error: &FetchError, began: Time) -> Answer {
    let why = format!("it could not be kept: {error}");
    Answer {
        outcome: Some(FetchOutcome::with_detail(OutcomeKind::ConnectionLost, 0, why)),
        head: None,
        body: Body::Empty,
        ip: None,
        wire_bytes: 0,
        started: began,
        elapsed: Duration::ZERO,
        waited: Duration::ZERO,
    }
}

fn read(
    shared: &Shared,
    url: &CanonicalUrl,
    asker: Asker,
    number: u64,
    answer: Answer,
) -> RobotsDone {
    let now = shared.clock.now_rounded_up();
    let status = answer.head.as_ref().map_or(0, |head| head.status);
    let location = answer.head.as_ref().and_then(|head| head.location());
    let target = location.and_then(|to| url.join(to.trim()).ok());
    let mut body = Vec::new();
    let outcome = match (status, answer.outcome) {
        (200..300, None) => {
            body = text_of(&answer.body, answer.head.as_ref());
            FetchOutcome::new(OutcomeKind::Fetched, status)
        }
        (300..400, _) => FetchOutcome::new(OutcomeKind::Redirect, status),
        (500.., Some(o)) if o.kind == OutcomeKind::ClientError => {
            FetchOutcome::new(OutcomeKind::ServerError, status)
        }
        (_, Some(outcome)) => outcome,
        (_, None) => FetchOutcome::new(OutcomeKind::BadResponse, status),
    };
    // What never left our side does not count as a request.
    let asked = outcome.kind != OutcomeKind::ForbiddenAddress;
    let target = target.filter(|_| (300..400).contains(&status) && asker.hops() < MAX_HOPS);
    let manner = match Manner::of(&outcome) {
        // A server that cannot give its rules is left alone for a while.
        Manner::Troubled => Manner::Busy,
        // Whether its rules can be had, what it leads to will tell: to be sent there once more
        // heals nothing.
        Manner::Good if target.is_some() && asker.at() == asker.robots_of() => Manner::Troubled,
        manner => manner,
    };
    let retry_after = answer.head.as_ref().and_then(|head| head.retry_after(now));
    let answered = Answered {
        end: asked.then_some(now),
        redirect: false,
        heard: Heard { manner, waited: answer.waited, retry_after },
    };
    let result = match target {
        Some(url) => RobotsResult::Elsewhere(url),
        None => RobotsResult::File(RobotsFile {
            asked: answer.started,
            until: answer.started.plus(KEEP),
            outcome,
            body,
        }),
    };
    RobotsDone {
        number,
        url: url.clone(),
        ip: answer.ip,
        started: answer.started,
        elapsed: answer.elapsed,
        status,
        bytes: answer.body.len(),
        asker,
        answered,
        result,
    }
}

/// The file without content codings, cut at the length that is read. A file that was cut, or is
/// damaged towards its end, counts as far as it can be read.
fn text_of(body: &Body, head: Option<&Head>) -> Vec<u8> {
    let coding = head.and_then(|head| head.content_encoding()).unwrap_or_default();
    let mut out = Vec::new();
    let plain = body.reader().ok().and_then(|reader| decoded_reader(reader, &coding).ok());
    if let Some(mut reader) = plain {
        let mut piece = [0; 8192];
        while out.len() <= MAX_ROBOTS_BYTES
            && let Ok(n @ 1..) = reader.read(&mut piece)
        {
            out.extend_from_slice(&piece[..n]);
        }
    }
    out.truncate(MAX_ROBOTS_BYTES + 1);
    out
}
