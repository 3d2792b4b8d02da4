//! What a run meets: a web, a clock, and a place to commit.
//!
//! * What this is: the three things a simulation replaces. The real ones are the fetcher, the
//!   system's clock and a committer on its own thread; a simulated run has a made-up web, tokio's
//!   paused clock, and commits on the one thread there is, so that a seed repeats itself.
//! * Its place: `run` gets one and gives it to the director and the visits.
//! * Invariant: nothing else in this crate asks for the time or for the network.

use argiope_fetch::{
    Answer, Body, Conditions, DecodeError, Decoded, FetchError, Fetcher, Head, Located, Take,
};
use argiope_model::{CanonicalUrl, FetchOutcome, Time};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// An answer that is on its way.
pub type Coming<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What answers requests.
pub trait Web: Send + Sync {
    /// Asks for one URL; `judge` sees the head before the body is read.
    fn get<'a>(
        &'a self,
        url: &'a CanonicalUrl,
        conditions: &'a Conditions,
        judge: &'a (dyn Fn(&Head) -> Take + Send + Sync),
    ) -> Coming<'a, Result<Answer, FetchError>>;

    /// Where a request for the URL would be sent.
    fn locate<'a>(&'a self, url: &'a CanonicalUrl) -> Coming<'a, Result<Located, FetchOutcome>>;

    /// Undoes the content codings of a body.
    fn decode<'a>(&self, body: &'a Body, coding: &str) -> Result<Decoded<'a>, DecodeError>;

    /// Connections open now.
    fn open_connections(&self) -> usize {
        0
    }
}

impl Web for Fetcher {
    fn get<'a>(
        &'a self,
        url: &'a CanonicalUrl,
        conditions: &'a Conditions,
        judge: &'a (dyn Fn(&Head) -> Take + Send + Sync),
    ) -> Coming<'a, Result<Answer, FetchError>> {
        Box::pin(Fetcher::get_if(self, url, conditions, judge))
    }

    fn locate<'a>(&'a self, url: &'a CanonicalUrl) -> Coming<'a, Result<Located, FetchOutcome>> {
        Box::pin(Fetcher::locate(self, url))
    }

    fn decode<'a>(&self, body: &'a Body, coding: &str) -> Result<Decoded<'a>, DecodeError> {
        Fetcher::decode(self, body, coding)
    }

    fn open_connections(&self) -> usize {
        Fetcher::open_connections(self)
    }
}

/// What tells the time.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The system's clock.
    System,
    /// Tokio's clock, which may be paused; `began` is what it showed at `origin`.
    Virtual {
        /// The time at the origin.
        began: Time,
        /// The origin.
        origin: Instant,
    },
}

impl Clock {
    /// The time now.
    pub fn now(&self) -> Time {
        match self {
            Clock::System => Time::from_system(SystemTime::now()),
            Clock::Virtual { began, origin } => began.plus(origin.elapsed()),
        }
    }

    /// The time now, rounded up to the next full millisecond: a pause that is counted from it is
    /// never short.
    pub fn now_rounded_up(&self) -> Time {
        match self {
            Clock::System => Time::from_system(SystemTime::now() + Duration::from_nanos(999_999)),
            Clock::Virtual { .. } => self.now(),
        }
    }
}

/// What a simulated run meets instead of the world.
#[derive(Clone)]
pub struct MadeUp {
    /// The web.
    pub web: Arc<dyn Web>,
    /// The clock.
    pub clock: Clock,
    /// How long a commit takes.
    pub commit_time: Duration,
}
