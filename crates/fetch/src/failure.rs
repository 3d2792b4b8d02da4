//! How a request ended early, in plain words.

use crate::settings::FetchError;
use argiope_model::{FetchOutcome, OutcomeKind};
use std::borrow::Cow;
use std::error::Error;
use std::io;

/// What ended a request: the web (an outcome) or our own disk (an error).
pub(crate) enum Ending {
    Web(Failure),
    Ours(FetchError),
}

/// A failure of the web: its kind and what there is to say.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: OutcomeKind,
    pub(crate) detail: Cow<'static, str>,
}

impl Failure {
    pub(crate) fn new(kind: OutcomeKind, detail: impl Into<Cow<'static, str>>) -> Self {
        Failure { kind, detail: detail.into() }
    }

    pub(crate) fn outcome(self, status: u16) -> FetchOutcome {
        FetchOutcome::with_detail(self.kind, status, self.detail)
    }

    /// Reads an error that came instead of a head.
    pub(crate) fn before_head(error: &hyper::Error) -> Self {
        if error.is_parse() {
            let detail = format!("the answer is not good HTTP: {error}");
            return Failure::new(OutcomeKind::BadResponse, detail);
        }
        let detail = match io_cause(error) {
            Some(e) if e.kind() == io::ErrorKind::InvalidData => {
                let detail = format!("the answer is not good HTTP: {e}");
                return Failure::new(OutcomeKind::BadResponse, detail);
            }
            Some(e) => format!("{} before answering", io_words(e)).into(),
            None => Cow::Borrowed("the server closed the connection before answering"),
        };
        Failure::new(OutcomeKind::ConnectionLost, detail)
    }

    /// Reads an error that came in the middle of a body.
    pub(crate) fn in_body(error: &hyper::Error, got: u64, promised: Option<u64>) -> Self {
        if let Some(e) = io_cause(error)
            && matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData)
        {
            return Failure::new(OutcomeKind::BadResponse, format!("bad framing: {e}"));
        }
        let detail = match promised {
            Some(promised) => format!("the body ended after {got} of {promised} bytes"),
            None => format!("the body broke off after {got} bytes"),
        };
        Failure::new(OutcomeKind::ConnectionLost, detail)
    }
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        Ending::Web(failure)
    }
}

impl From<FetchError> for Ending {
    fn from(error: FetchError) -> Self {
        Ending::Ours(error)
    }
}

fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    error.source()?.downcast_ref::<io::Error>()
}

/// A system error in the words of a person.
pub(crate) fn io_words(error: &io::Error) -> Cow<'static, str> {
    use io::ErrorKind as K;
    Cow::Borrowed(match error.kind() {
        K::ConnectionRefused => "connection refused",
        K::ConnectionReset => "the server reset the connection",
        K::ConnectionAborted | K::BrokenPipe => "the server closed the connection",
        K::UnexpectedEof => "the server closed the connection",
        K::TimedOut => "the connection timed out",
        K::HostUnreachable => "the host cannot be reached",
        K::NetworkUnreachable => "the network cannot be reached",
        K::PermissionDenied => "the system does not permit the connection",
        _ => return Cow::Owned(error.to_string()),
    })
}
