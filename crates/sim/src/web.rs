//! The web of a world: what answers the engine's requests, in virtual time.
//!
//! Every request is told to the [`Watch`] when it begins and when it ends, a request that is
//! not waited for included.

use crate::pages::{Page, Target, host_of, origin, path_of, target_of};
use crate::scenario::{BEGAN, Rule};
use crate::watch::{Heard, Watch};
use crate::world::{Kind, Later, Place, World};
use argiope_crawl::{Coming, Web};
use argiope_fetch::{
    Answer, Body, Conditions, DecodeError, Decoded, FetchError, Head, Located, Take,
    head_from_bytes,
};
use argiope_model::{CanonicalUrl, FetchOutcome, OutcomeKind, Time};
use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// How long a request may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// A name without an address is looked for again after this long.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The web of a world.
pub(crate) struct SimWeb {
    pub(crate) world: Arc<World>,
    pub(crate) watch: Arc<Watch>,
}

/// What comes of a request.
enum Reply {
    /// Nothing, for this reason, after so long.
    Nothing(OutcomeKind, Duration),
    /// An answer.
    Answer { status: u16, fields: String, body: String },
}

impl Reply {
    fn found(kind: &str, body: String) -> Self {
        Reply::Answer { status: 200, fields: format!("Content-Type: {kind}\r\n"), body }
    }

    fn to(location: &str) -> Self {
        let fields = format!("Location: {location}\r\n");
        Reply::Answer { status: 302, fields, body: String::new() }
    }

    fn missing() -> Self {
        Reply::Answer { status: 404, fields: String::new(), body: String::new() }
    }
}

/// A request under way; if it is dropped, nobody waits for its answer any more.
struct UnderWay<'a> {
    watch: &'a Watch,
    host: usize,
    target: Target,
    asked: Time,
    heard: Option<Heard>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.watch.answered(self.host, self.target, self.asked, self.heard.take());
    }
}

impl SimWeb {
    fn since_began(now: Time) -> i64 {
        now.0 - BEGAN.0
    }

    fn has_no_name(&self, host: usize, at: i64) -> bool {
        let none = Some(Kind::Silent(OutcomeKind::NoAddress));
        let host = &self.world.hosts[host];
        host.trouble(at, false) == none
    }

    /// What is answered to a request that begins then.
    fn reply(&self, host: usize, target: Target, now: Time) -> Reply {
        let world = &self.world;
        let at = Self::since_began(now);
        let robots = matches!(target, Target::Robots | Target::RobotsOf(..));
        match world.hosts[host].trouble(at, robots) {
            Some(Kind::Silent(kind)) => {
                let after = match kind {
                    OutcomeKind::TimedOut => TIMEOUT,
                    _ => Duration::from_millis(world.latency(host, at) / 4),
                };
                return Reply::Nothing(kind, after);
            }
            Some(Kind::Status(status, later)) => {
                let mut fields = String::new();
                match later {
                    Some(Later::Seconds(s)) => {
                        let _ = write!(fields, "Retry-After: {s}\r\n");
                    }
                    Some(Later::Date(s)) => {
                        let then = UNIX_EPOCH + Duration::from_millis(now.0 as u64 + 1000 * s);
                        let date = httpdate::fmt_http_date(then);
                        let _ = write!(fields, "Retry-After: {date}\r\n");
                    }
                    None => {}
                }
                return Reply::Answer { status, fields, body: String::new() };
            }
            None => {}
        }
        match target {
            Target::Robots => self.robots(host, 0),
            Target::RobotsOf(of, hop) if of < world.hosts.len() => self.robots(of, hop),
            Target::Page(n) if n < world.hosts[host].pages => match world.page(host, n) {
                Page::Redirect(to) => Reply::to(&path_of(to)),
                Page::Links(links) => Reply::found("text/html", world.html(host, n, &links)),
            },
            Target::Sitemap if world.hosts[host].sitemap => {
                Reply::found("application/xml", world.sitemap(host))
            }
            _ => Reply::missing(),
        }
    }

    /// The rules of a host, so many redirects on.
    fn robots(&self, of: usize, hop: usize) -> Reply {
        let next = |at: usize| Reply::to(&format!("{}/rules/{of}/{}", origin(at), hop + 1));
        let host = &self.world.hosts[of];
        match &host.place {
            Place::Nowhere => Reply::missing(),
            Place::Here => Reply::found("text/plain", host.text.clone()),
            Place::Loop => next(of),
            Place::Behind(over) => match over.get(hop) {
                Some(at) => next(*at),
                None => Reply::found("text/plain", host.text.clone()),
            },
        }
    }

    async fn asked(
        &self,
        url: &CanonicalUrl,
        judge: &(dyn Fn(&Head) -> Take + Send + Sync),
    ) -> Answer {
        let now = self.watch.now();
        let known = host_of(url.host()).filter(|host| *host < self.world.hosts.len());
        let target = target_of(url.path_and_query());
        let (Some(host), Some(target)) = (known, target) else {
            let text = format!("{url} was asked for, which is linked from nowhere");
            self.watch.violated(Rule::Drained, now, text);
            return nothing(OutcomeKind::NoAddress, None, now, Duration::ZERO);
        };
        let at = Self::since_began(now);
        let told = self.watch.goes_to(host);
        let ip: Option<IpAddr> = told.unwrap_or_else(|| Some(self.world.address(host, at).0));
        self.watch.asks(host, target, ip, url.as_str());
        let mut under_way = UnderWay { watch: &self.watch, host, target, asked: now, heard: None };
        let reply = match ip {
            Some(_) => self.reply(host, target, now),
            None => Reply::Nothing(OutcomeKind::NoAddress, Duration::from_millis(5)),
        };
        let (status, fields, body) = match reply {
            Reply::Nothing(kind, after) => {
                tokio::time::sleep(after).await;
                under_way.heard = Some(Heard::default());
                return nothing(kind, ip, now, after);
            }
            Reply::Answer { status, fields, body } => (status, fields, body),
        };
        let takes = Duration::from_millis(self.world.latency(host, at));
        tokio::time::sleep(takes).await;
        let raw = format!("HTTP/1.1 {status} -\r\n{fields}Content-Length: {}\r\n\r\n", body.len());
        let head = head_from_bytes(raw.as_bytes()).expect("a head of our own making");
        under_way.heard = Some(Heard {
            status,
            retry_after: head.retry_after(self.watch.now()),
            rules: matches!(target, Target::Robots | Target::RobotsOf(..)).then(|| body.clone()),
        });
        let (outcome, body) = match judge(&head) {
            Take::Body => (None, body.into_bytes()),
            Take::First(most) => {
                let mut bytes = body.into_bytes();
                bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
                (None, bytes)
            }
            Take::Nothing(outcome) => (Some(outcome), Vec::new()),
        };
        Answer {
            outcome,
            wire_bytes: (raw.len() + body.len()) as u64,
            head: Some(head),
            body: Body::from_vec(body),
            ip,
            started: now,
            elapsed: takes,
            waited: takes,
        }
    }
}

fn nothing(kind: OutcomeKind, ip: Option<IpAddr>, started: Time, elapsed: Duration) -> Answer {
    Answer {
        outcome: Some(FetchOutcome::new(kind, 0)),
        head: None,
        body: Body::Empty,
        ip,
        wire_bytes: 0,
        started,
        elapsed,
        waited: Duration::ZERO,
    }
}

impl Web for SimWeb {
    fn get<'a>(
        &'a self,
        url: &'a CanonicalUrl,
        _conditions: &'a Conditions,
        judge: &'a (dyn Fn(&Head) -> Take + Send + Sync),
    ) -> Coming<'a, Result<Answer, FetchError>> {
        Box::pin(async move { Ok(self.asked(url, judge).await) })
    }

    fn locate<'a>(&'a self, url: &'a CanonicalUrl) -> Coming<'a, Result<Located, FetchOutcome>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(3)).await;
            let now = self.watch.now();
            let at = Self::since_began(now);
            let no_name = FetchOutcome::new(OutcomeKind::NoAddress, 0);
            let host = host_of(url.host()).filter(|host| *host < self.world.hosts.len());
            let Some(host) = host else { return Err(no_name) };
            if self.has_no_name(host, at) {
                self.watch.located(host, None, now.plus(LOOK_AGAIN));
                return Err(no_name);
            }
            let (ip, until) = self.world.address(host, at);
            let until = Time(BEGAN.0.saturating_add(until));
            self.watch.located(host, Some(ip), until);
            Ok(Located { ip: Some(ip), until })
        })
    }

    fn decode<'a>(&self, body: &'a Body, _coding: &str) -> Result<Decoded<'a>, DecodeError> {
        Ok(Decoded::Same(body))
    }
}
